"""Do an op's declared facts hold? `check_op` runs the op on real memory and tries to refute each of them.

The op stands alone in a function that returns its results; its operands are the arguments, each in a memory of its own
between guard bytes, and all are used in place. Then, on the memref interpreter and natively:

- reads: an operand's contents are changed before the run and, unless the op writes it, restored after it. Where that
  shows in a result or in another operand, the op has read them.
- writes: an operand that is not declared written keeps its bytes, and guards and gaps between elements do.
- aliases: a result shares memory only with operands that say so; a definite alias does, an equivalent one has the same
  elements of memory, in equal order (its shape may differ); a result declared new shares memory with none.
- defined contents: no element of the result is left unwritten, unless it is declared undefined.
- element-wise access: both operands in one buffer give what they give in two.
- out of place, on copies, the op gives the same, and so does its memref form as its NumPy reference.

A fact that is declared for caution (read, written) and that no example shows is "not seen", which is no error.
Limitations: rules of the op's own about conflicts (`is_not_conflicting`) speak of other ops too, and are not tested.
The idea of running an op to test its declared views and destroyed inputs is PyTensor's (DebugMode); MLIR has no
counterpart.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.lib.array_utils import byte_bounds

from tracebuf.analysis.one_shot.base import Decisions
from tracebuf.analysis.one_shot.chosen import trusted
from tracebuf.analysis.one_shot.copy_before_write import copy_before_write
from tracebuf.analysis.one_shot.dataflow import Dataflow
from tracebuf.analysis.one_shot.derived import Analysis
from tracebuf.analysis.one_shot.one_shot import one_shot
from tracebuf.analysis.one_shot.storages import Storages
from tracebuf.backend.runtime.compiled import kernel_of
from tracebuf.bufferize.rewrite import bufferize
from tracebuf.frozen import frozen
from tracebuf.interpret import memref as memref_interpreter
from tracebuf.interpret import tensor as tensor_interpreter
from tracebuf.interpret.memory import MemoryFault, address
from tracebuf.ir.clone import clone_op
from tracebuf.ir.core import Op, Relation, Use, Value
from tracebuf.ir.func import Func
from tracebuf.ir.ndarray import recast
from tracebuf.ir.types import F64, I1, INDEX, TensorType, Type, scalar_type
from tracebuf.ir.verifier import verify
from tracebuf.location import UNKNOWN
from tracebuf.module_pipeline import lower_to_machine
from tracebuf.ops.control.func import Return
from tracebuf.ops.control.scf import Loop
from tracebuf.testing.ladder import different

__all__ = ["FactError", "Finding", "Report", "check_op"]

Array = np.ndarray[Any, np.dtype[Any]]
Build = Callable[..., Op]
Verdict = Literal["refuted", "held", "not seen"]
Run = Callable[[Sequence[Any]], tuple[list[Any], list[int]]]
"""From arguments to results, and which of these have undefined elements."""

GUARD, PATTERN = 64, 0xA5
TOLERANCE = 1e-5


class FactError(AssertionError):
    """Declared facts that are wrong. Attribute `report`: a `Report` with all findings."""

    def __init__(self, report: Report) -> None:
        self.report = report
        super().__init__(f"{report.op}: declared facts are wrong\n" + "\n".join(map(str, report.refuted)))


@frozen()
class Finding:
    """One declared `fact` with its `verdict`: "refuted", "held", or "not seen" to matter; `detail`: the example and
    what was seen."""

    fact: str
    verdict: Verdict
    detail: str = ""

    def __str__(self) -> str:
        return f"  {self.fact}: {self.verdict}" + (f": {self.detail}" if self.detail else "")


@frozen()
class Report:
    """The findings for one op class over all examples, `refuted` those that are wrong."""

    op: str
    findings: tuple[Finding, ...]

    @property
    def refuted(self) -> tuple[Finding, ...]:
        return tuple(f for f in self.findings if f.verdict == "refuted")

    def verdict(self, fact: str) -> Verdict:
        """The verdict on a fact, by its text in `findings`; KeyError where no example tests it."""
        return {f.fact: f.verdict for f in self.findings}[fact]

    def __str__(self) -> str:
        return "\n".join([self.op, *map(str, self.findings)])


def check_op(op: type[Op] | Op | Build, examples: Iterable[Sequence[Any]], *, native: bool = True) -> Report:
    """Tests the declared facts of an op (see the module) by running it on examples.

    Args:
        op: a class (made with `of(*operands, location)`), an op, whose operands are replaced, or a function from
            operand values to an op.
        examples: the operands' data in order: arrays, NumPy scalars, bools, floats, and ints for index.
        native: whether native code is tested besides the interpreter.

    Returns a `Report`. Raises FactError where a fact is refuted.

    >>> from tracebuf.ops.arrays.tensor import Insert
    >>> report = check_op(lambda x, a, i: Insert.of(x, a, [i], UNKNOWN), [(np.float64(2.0), np.arange(3.0), 1)])
    >>> report.verdict("writes operand 1")
    'held'
    """
    build, claims, name = _builder(op), _Claims(), ""
    machines: dict[str, Callable[[Func], Run]] = {"interpreter": _interpreted}
    if native:
        machines["native"] = _native
    for number, data in enumerate(examples):
        trial = _Trial.of(build, list(data))
        name = trial.op.name
        claims.example = f"example {number}"
        _check_out_of_place(trial, claims)
        for machine, compiled in machines.items():
            claims.example = f"example {number}, {machine}"
            _Examination(trial, claims, compiled).check()
    report = Report(name, tuple(claims.findings()))
    if report.refuted:
        raise FactError(report)
    return report


def _builder(op: type[Op] | Op | Build) -> Build:
    if isinstance(op, Op):
        return lambda *values: clone_op(op, dict(zip(op.operands, values, strict=True)), lambda new: new)
    if isinstance(op, type):
        return lambda *values: op.of(*values, UNKNOWN)  # type: ignore[attr-defined]
    return op


# -- what is claimed


class _Claims:
    """Findings, gathered over examples: a refutation stands, a witness counts for more than none."""

    def __init__(self) -> None:
        self.example = ""
        self._found: dict[str, Finding] = {}

    def add(self, fact: str, wrong: str | bool, *, seen: bool = True) -> None:
        """One observation of a fact: `wrong` says how it is refuted; `seen` is False where it did not show."""
        before = self._found.get(fact)
        if wrong:
            if before is None or before.verdict != "refuted":
                text = f"{self.example}: {wrong}" if isinstance(wrong, str) else self.example
                self._found[fact] = Finding(fact, "refuted", text)
        elif before is None or (seen and before.verdict == "not seen"):
            self._found[fact] = Finding(fact, "held" if seen else "not seen")

    def findings(self) -> Iterator[Finding]:
        yield from self._found.values()


# -- a function with the op alone


@dataclass
class _Trial:
    """The op in a function of its own, with data for the arguments."""

    build: Build
    data: list[Any]
    func: Func
    op: Op
    flow: Dataflow
    storages: Storages
    expected: list[Any] = field(default_factory=list)

    @staticmethod
    def of(build: Build, data: list[Any], picked: Sequence[int] | None = None) -> _Trial:
        """`picked`: which argument is which operand, where that is not one to one."""
        func = Func("example", [_type_of(d) for d in data])
        for k, (arg, attrs, d) in enumerate(zip(func.args, func.arg_attrs, data, strict=True)):
            arg.name = f"operand{k}"
            if isinstance(d, np.ndarray):
                attrs["strides"] = tuple(s // d.itemsize for s in d.strides)
                attrs["bufferization.writable"] = True
        op = build(*(func.args[k] for k in (range(len(data)) if picked is None else picked)))
        func.block.append(op)
        func.block.append(Return.of(op.results, UNKNOWN))
        func.forget_lost_uses([*func.values()])
        verify(func, "tensor")
        flow = Dataflow(func)
        trial = _Trial(build, data, func, op, flow, Storages(flow))
        trial.expected = tensor_interpreter.run(func, data).results
        return trial

    @property
    def defined(self) -> list[int]:
        """The results with defined contents."""
        return [k for k, r in enumerate(self.op.results) if not r.is_tensor or self.op.defines_contents(r)]

    def arrays(self) -> list[int]:
        return [k for k, d in enumerate(self.data) if isinstance(d, np.ndarray)]

    def sole_uses(self) -> Iterator[tuple[int, Use]]:
        """(argument, operand) where an argument is used once."""
        for use in self.op.tensor_uses():
            if use.value.owner is self.func.block and len([u for u in use.value.uses if u.op.name != Return.name]) == 1:
                yield use.value.index, use

    def written(self, argument: int) -> bool:
        """Whether some op is declared to write the argument, or what may alias it."""
        value = self.func.args[argument]
        uses = (u for op in self.func.walk() for u in op.tensor_uses())
        return any(self.flow.writes(u) and value in self.sources(u.value) for u in uses)

    def sources(self, value: Value) -> set[Value]:
        """The values whose buffer this one may share, as declared, itself included."""
        work, seen = [value], {value}
        while work:
            current = work.pop()
            near = [use.value for use, _, _ in self.flow.aliasing_uses(current)]
            if isinstance(current.owner, Loop):  # which may rotate its buffers
                inits = current.owner.inits
                near += [inits[k].value for k in self.storages.reached(current.owner)[current.index]]
            work += [v for v in near if v not in seen]
            seen.update(near)
        return seen

    def in_place(self) -> Func:
        """The memref program with all of the op's operands in place."""
        return _program(self.func, trusted(self.func, _InPlace(self.op, one_shot(self.func))))


def _program(func: Func, analysis: Analysis) -> Func:
    program = bufferize(func, analysis)
    lower_to_machine(program)
    return program


@dataclass
class _InPlace:
    op: Op
    others: Decisions

    def is_in_place(self, use: Use) -> bool:
        return use.op is self.op or use.op.must_bufferize_in_place(use) or self.others.is_in_place(use)


def _type_of(data: Any) -> Type:
    if isinstance(data, np.ndarray):
        return TensorType(data.shape, scalar_type(data.dtype))
    if isinstance(data, np.generic):
        return scalar_type(data.dtype)
    return I1 if isinstance(data, bool) else INDEX if isinstance(data, int) else F64


# -- running it


@dataclass
class _Outcome:
    """What a run left: the results where they lie, and copies; the operands' memory; what went wrong."""

    results: list[Any]
    copies: list[Any]
    operands: dict[int, Array]
    undefined: list[int]
    broken: list[int]


def _interpreted(program: Func) -> Run:
    def run(args: Sequence[Any]) -> tuple[list[Any], list[int]]:
        found = memref_interpreter.run(program, args, may_leak=True)
        return found.results, [k for k, w in enumerate(found.written) if w is not None and not w.all()]

    return run


def _native(program: Func) -> Run:
    kernel = kernel_of(program, "example")
    return lambda args: (kernel.run(args), [])


class _Guarded:
    """A copy of an array in its own layout, between guard bytes; gaps between its elements are guards too."""

    def __init__(self, source: Array) -> None:
        low, high = byte_bounds(source)
        offset = GUARD + address(source) - low
        self.room = np.full(high - low + 2 * GUARD, PATTERN, np.uint8)
        inside = np.zeros(self.room.size, np.bool_)
        if source.size:
            shape, strides = (*source.shape, source.itemsize), (*source.strides, 1)
            np.ndarray(shape, np.bool_, inside.data, offset, strides)[...] = True
        self.guards = ~inside
        self.array: Array = np.ndarray(source.shape, source.dtype, self.room.data, offset, source.strides)
        self.array[...] = source

    def intact(self) -> bool:
        return bool((self.room[self.guards] == PATTERN).all())


def _outcome(trial: _Trial, run: Run, changed: dict[int, Array]) -> _Outcome:
    """One run with the contents of some operands changed, and restored after it where the op does not write them."""
    placed = {k: _Guarded(trial.data[k]) for k in trial.arrays()}
    for k, contents in changed.items():
        placed[k].array[...] = contents
    results, undefined = run([placed[k].array if k in placed else d for k, d in enumerate(trial.data)])
    for k in changed:
        if not trial.written(k):
            placed[k].array[...] = trial.data[k]
    copies = [np.array(r) if isinstance(r, np.ndarray) else r for r in results]
    arrays = {k: p.array for k, p in placed.items()}
    return _Outcome(results, copies, arrays, undefined, [k for k, p in placed.items() if not p.intact()])


def _contents(original: Array) -> Iterator[Array]:
    """Other contents of the same dtype, none 0 (they may be divisors)."""
    if original.dtype == np.bool_:
        yield ~original
        return
    with np.errstate(all="ignore"):
        moved = np.asarray(original + np.ones(1, original.dtype)[0], original.dtype)
    yield np.where(moved == 0, np.asarray(3, original.dtype), moved)
    yield np.full_like(original, np.nan if original.dtype.kind == "f" else 7)


def _places(array: Array) -> list[int]:
    """The address of each element, in C order; of complex ones that of each part."""
    array = recast(array, array.real.dtype) if array.dtype.kind == "c" else array
    steps = (g * step for g, step in zip(np.indices(array.shape), array.strides, strict=True))
    return [int(a) for a in (address(array) + sum(steps, np.zeros(array.shape, int))).ravel()]


# -- the examination


def _check_out_of_place(trial: _Trial, claims: _Claims) -> None:
    """Checks that on copies of what it writes the op gives equal results, and leaves its operands as they were."""
    program = _program(trial.func, copy_before_write(trial.func))
    outcome = _outcome(trial, _interpreted(program), {})
    claims.add("is the same on copies", _results_differ(trial, outcome.copies, trial.expected))
    forced = {u.value.index for _, u in trial.sole_uses() if u.op.must_bufferize_in_place(u)}
    changed = [k for k in trial.arrays() if k not in forced and different(trial.data[k], outcome.operands[k], 0.0)]
    claims.add("leaves its operands alone on copies", f"operands {changed} change" if changed else "")


def _results_differ(trial: _Trial, found: Sequence[Any], expected: Sequence[Any]) -> str:
    for k in trial.defined:
        if wrong := different(expected[k], found[k], TOLERANCE):
            return f"result {k}: {wrong}"
    return ""


class _Examination:
    """One example on one kind of machine, all operands in place."""

    def __init__(self, trial: _Trial, claims: _Claims, compiled: Callable[[Func], Run]) -> None:
        self.trial, self.claims, self.compiled = trial, claims, compiled
        self.run = compiled(trial.in_place())

    def check(self) -> None:
        base = _outcome(self.trial, self.run, {})
        self.values(base)
        self.writes(base)
        for k, use in self.trial.sole_uses():
            self.reads(base, k, use)
        self.aliases(base)
        self.elementwise()

    def values(self, base: _Outcome) -> None:
        trial, add = self.trial, self.claims.add
        add("computes what its reference does", _results_differ(trial, base.copies, trial.expected))
        add("stays within its operands", f"memory around operands {base.broken} changes" if base.broken else "")
        for k in trial.defined:
            if trial.op.results[k].is_tensor:
                add(f"defines the contents of result {k}", k in base.undefined)

    def writes(self, base: _Outcome) -> None:
        for k in self.trial.arrays():
            changes = bool(different(self.trial.data[k], base.operands[k], 0.0))
            if self.trial.written(k):
                self.claims.add(f"writes operand {k}", "", seen=changes)
            else:
                self.claims.add(f"does not write operand {k}", "its elements change" if changes else "")

    def reads(self, base: _Outcome, argument: int, use: Use) -> None:
        fact = "reads" if self.trial.flow.reads(use) else "does not read"
        for contents in _contents(self.trial.data[argument]):
            depends = self._depends(base, argument, contents)
            name = f"{fact} operand {use.index}"
            if fact == "reads":
                self.claims.add(name, "", seen=bool(depends))
            else:
                self.claims.add(name, depends and f"other contents of it change {depends}")

    def _depends(self, base: _Outcome, argument: int, contents: Array) -> str:
        """What changes with an operand's contents."""
        try:
            found = _outcome(self.trial, self.run, {argument: contents})
        except Exception:
            return "whether it runs"
        for k in self.trial.defined:
            if different(base.copies[k], found.copies[k], 0.0):
                return f"result {k}"
        others = (k for k in self.trial.arrays() if k != argument)
        return next((f"operand {k}" for k in others if different(base.operands[k], found.operands[k], 0.0)), "")

    def aliases(self, base: _Outcome) -> None:
        trial, add = self.trial, self.claims.add
        for r in (r for r in trial.op.results if r.is_tensor):
            declared, result = trial.sources(r), base.results[r.index]
            direct = {use.value: (relation, definite) for use, relation, definite in trial.flow.aliasing_uses(r)}
            for k, operand in base.operands.items():
                value = trial.func.args[k]
                shares = result.size > 0 and np.shares_memory(result, operand)
                if value not in declared:
                    add(f"result {r.index} does not alias operand {k}", "they share memory" if shares else "")
                elif value in direct:
                    self._declared_alias(r, k, direct[value], operand, result, shares)
                if trial.op.bufferizes_to_allocation(r):
                    add(f"result {r.index} is new", f"it shares the memory of operand {k}" if shares else "")

    def _declared_alias(
        self, r: Value, k: int, alias: tuple[Relation, bool], operand: Array, result: Array, shares: bool
    ) -> None:
        relation, definite = alias
        if relation is Relation.EQUIVALENT:
            same = _places(result) == _places(operand)
            wrong = (definite or shares) and not same and "they are not the same elements of memory"
            self.claims.add(f"result {r.index} is the buffer of operand {k}", wrong, seen=shares)
        else:
            wrong = definite and result.size > 0 and not shares and "they share no memory"
            self.claims.add(f"result {r.index} is part of operand {k}", wrong, seen=shares)

    def elementwise(self) -> None:
        """Operands with element-wise access, in one buffer: what the second held is what the first holds."""
        trial = self.trial
        for a in trial.op.tensor_uses():
            for b in trial.op.tensor_uses():
                if a is b or not trial.flow.writes(b) or a.value.type != b.value.type:
                    continue
                if not trial.op.elementwise_access(a, b) or {a.value.owner, b.value.owner} != {trial.func.block}:
                    continue
                picked = [a.value.index if k == b.value.index else k for k in range(len(trial.data))]
                one = _Trial.of(trial.build, trial.data, picked)
                name = f"operands {a.index} and {b.index} may be one buffer, element by element"
                try:
                    found = _outcome(one, self.compiled(one.in_place()), {})
                    self.claims.add(name, _results_differ(one, found.copies, one.expected))
                except MemoryFault as e:
                    self.claims.add(name, str(e))
