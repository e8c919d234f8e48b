"""One call's tensor program as the analysis looks at it: the function after the tensor passes, its arguments by name,
what it returns and stores to, and the states of these."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from tracebuf import pipeline
from tracebuf.dask.flow import Flow
from tracebuf.dask.reach import State, join
from tracebuf.errors import UnsupportedError
from tracebuf.frontends.numpy.call.results import ChosenResult, NewContainer, ResultLeaf
from tracebuf.frozen import cached_property, frozen
from tracebuf.ir.clone import clone_op
from tracebuf.ir.core import Block, Op, Use, Value, happens_in
from tracebuf.ir.dims import Dim, Sym, add, evaluate, neg, sub, substitute, symbols
from tracebuf.ir.func import Func
from tracebuf.ir.types import TensorType
from tracebuf.ops.arrays import bufferization, tensor
from tracebuf.ops.control import scf
from tracebuf.ops.control.checks import may_stop

if TYPE_CHECKING:
    from tracebuf.frontends.numpy.call.call import Call
    from tracebuf.frontends.numpy.call.conditions import Guard
    from tracebuf.frontends.numpy.interpreter.trace import Traced


@frozen(slots=False)
class Program:
    """The tensor program of one call."""

    name: str
    call: Call
    traced: Traced
    func: Func
    same: Mapping[Sym, Dim]
    """Sizes in terms of those that they equal, but for a constant."""
    known: Mapping[Sym, int] = field(default_factory=dict)
    """The sizes of the call, where these say how often loops run along no axis of what they make."""
    cut: frozenset[Sym] = frozenset()
    """The sizes of axes along which parts know where they begin."""

    @cached_property
    def flow(self) -> Flow:
        flow = Flow(self.func, same=self.same, bound=self.traced.bindings, known=self.known, cut=self.cut)
        flow.run(self.func.block)
        return flow

    @cached_property
    def env(self) -> Mapping[Sym, int]:
        """What the sizes and ints are in the call."""
        return {s: b.value(self.call.values) for s, b in self.traced.bindings.items()}

    @property
    def names(self) -> list[str]:
        """The names of the program's arguments."""
        return [v.name or f"argument {k}" for k, v in enumerate(self.func.args)]

    @property
    def stored(self) -> dict[int, Value]:
        """What is stored back to an argument, by its number: the value that it has in the end."""
        found: dict[int, Value] = {}
        for op in self.func.block.ops:
            if isinstance(op, bufferization.MaterializeInDestination):
                found[self.func.args.index(op.operand(1))] = op.operand(0)
        return found

    @property
    def returned(self) -> list[Value]:
        return list(self.func.block.terminator.operands)

    def results(self) -> list[list[Value]]:
        """Of each array and number that the function returns, in order: what it may be; of a constant, nothing."""
        found: list[list[Value]] = []
        stored = self.stored

        def walk(plan: Any, into: list[Value] | None) -> None:
            if isinstance(plan, NewContainer):
                for p in plan.items:
                    walk(p, None)
                return
            if into is None and isinstance(plan, ResultLeaf) and plan.kind == "const" and plan.value is None:
                return
            if into is None:
                found.append(into := [])
            if isinstance(plan, ChosenResult):
                walk(plan.then, into)
                walk(plan.orelse, into)
            elif plan.kind == "argument":
                into += [stored.get(n, v) for n, v in enumerate(self.func.args) if self.leaf(n) == plan.index]
            elif plan.kind != "const":
                into.append(self.returned[plan.index])

        walk(self.traced.plan, None)
        return found

    def leaf(self, n: int) -> int:
        """Which leaf of the call an argument of the program is."""
        return self.traced.arguments[n]

    def outputs(self) -> list[tuple[str, list[Value], bool]]:
        """What a call gives: results, then what it stores to arguments, each by its name; what it may be; whether it is
        stored."""
        results = self.results()
        names = ["result"] if len(results) == 1 else [f"result {k}" for k in range(len(results))]
        found = [(name, values, False) for name, values in zip(names, results)]
        return found + [(self.names[n], [v], True) for n, v in self.stored.items()]

    def lengths(self) -> frozenset[Sym]:
        """The sizes of all axes of the arguments."""
        shapes = [v.type.shape for v in self.func.args if isinstance(v.type, TensorType)]
        return frozenset(s for shape in shapes for n in shape for s in symbols(n))

    def fits(self, env: Mapping[Sym, int], s: Sym, size: int) -> bool:
        """Whether what tracing assumed of sizes is so where one of them is another, and parts of arrays are in them
        (sizes are taken to be two at least, so that no guard says it of `x[2:]`)."""
        env = {**env, s: size}
        env |= {other: evaluate(d, env) for other, d in self.same.items()}
        return guards_hold(self.traced.guards, env) and all(
            holds(*(evaluate(d, env) for d in part)) for part in self.parts
            if all(symbols(d) <= env.keys() for d in part)
        )  # fmt: skip

    @cached_property
    def parts(self) -> list[tuple[Dim, Dim, Dim, Dim]]:
        """Of each part of an axis that is taken or stored to, its first place, how many it has and how far these are
        from one another; and the axis's length."""
        found: dict[tuple[Dim, Dim, Dim, Dim], None] = {}
        for op in self.func.walk():
            if isinstance(op, (tensor.ExtractSlice, tensor.InsertSlice)):
                view = op.result if isinstance(op, tensor.ExtractSlice) else op.operand(0)
                for d, n in enumerate(op.operand(op.leading - 1).tensor_type.shape):
                    first, step = self.flow.size(op.slice.offsets[d]), op.slice.strides[d]
                    many = view.tensor_type.shape[op.slice.dims.index(d)] if d in op.slice.dims else 1
                    if first is not None and isinstance(step, int):
                        found[first, many, step, n] = None
        return list(found)

    def state(self, *values: Value) -> State:
        """What is known of a value, or of what is one of several."""
        return functools.reduce(join, map(self.flow.state, values))


def holds(first: int, many: int, step: int, n: int) -> bool:
    """Whether a part of an axis is in it."""
    last = first + (many - 1) * step
    return many == 0 or (many > 0 and min(first, last) >= 0 and max(first, last) < n)


def program_of(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Program:
    """The program of a call with these arguments; `tracebuf.spec` may stand for arguments. Raises what `f.lower`
    raises."""
    call, traced = f.trace(*args, **kwargs)
    if any(isinstance(a, np.ndarray) and a.dtype.kind not in "biufc" for a in call.values):
        raise UnsupportedError("arrays of text are not cut", instead="use numbers for the texts")
    pipeline.optimize_tensors(traced.func, f.options)
    read_what_is_stored(traced.func)
    read_on_all_paths(traced.func)
    own_slices(traced.func)
    same = equal_sizes(traced.guards)
    same |= sizes_on_paths(traced.func, same)
    if same:
        for v in traced.func.values():
            if isinstance(t := v.type, TensorType):
                v.type = replace(t, shape=tuple(substitute(n, same) for n in t.shape))
    for op in list(traced.func.walk()):
        say_known_sizes(op)
    return Program(getattr(f, "__name__", "f"), call, traced, traced.func, same)


def with_constants(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The function with the ints among these arguments as constants (`static_argnames`); None where there are none."""
    given = inspect.signature(f.__wrapped__).bind(*args, **kwargs).arguments
    names = frozenset(name for name, a in given.items() if type(a) is int) - set(f.options.static_argnames)
    if not names:
        return None
    return type(f)(f.__wrapped__, replace(f.options, static_argnames=(*f.options.static_argnames, *sorted(names))))


def read_what_is_stored(func: Func) -> None:
    """Has what reads an argument after a store to it read what is stored, which is no other value to chunks."""
    for op in func.block.ops:
        if isinstance(op, bufferization.MaterializeInDestination):
            for result in op.results:
                for use in list(result.uses):
                    use.set(op.operand(0))


def read_on_all_paths(func: Func) -> None:
    """Has results that are read on one path only (rule S8), else an array without memory, be read on all: chunks have
    them anyway, and know their sizes."""
    for op in [o for o in func.block.ops if isinstance(o, scf.If) and o.results]:
        then, orelse = (region.block.terminator.operands for region in op.regions)
        for result, a, b in zip(op.results, then, orelse):
            for read, other in ((a, b), (b, a)):
                empty = other.defining_op
                if isinstance(empty, tensor.Empty) and empty.attrs.get("absent") and not is_inside(read, op):
                    result.replace_all_uses(read)
        if not any(r.uses for r in op.results) and not any(may_stop(o) for o in op.walk()):
            func.symbols = {s: v for s, v in func.symbols.items() if v not in op.results}
            op.erase()


def sizes_on_paths(func: Func, same: Mapping[Sym, Dim]) -> dict[Sym, Dim]:
    """The sizes of what is one of several arrays of one size."""
    found: dict[Sym, Dim] = {}
    for op in func.walk():
        for k, result in enumerate(op.results if isinstance(op, scf.If) else ()):
            ends = [region.block.terminator.operand(k).type for region in op.regions]
            if not isinstance(result.type, TensorType) or not all(isinstance(t, TensorType) for t in ends):
                continue
            for n, *parts in zip(result.type.shape, *(t.shape for t in ends)):  # type: ignore[union-attr]
                sizes = {substitute(p, {**same, **found}) for p in parts}
                if len(sizes) == 1 and len(symbols(n)) == 1 and n == (s := next(iter(symbols(n)))).expr:
                    (size,) = sizes
                    if s not in symbols(size) and size != n:
                        found[s] = size
    return found


def is_inside(v: Value, op: Op) -> bool:
    """Whether a value is made in the regions of an op."""
    block: Block | None = v.block
    while block is not None and block.region is not None and block.region.op is not None:
        if block.region.op is op:
            return True
        block = block.region.op.block
    return False


def own_slices(func: Func) -> None:
    """Gives each user of a slice a slice of its own, so that stages take arrays, not slices, of each other."""
    for op in reversed(list(func.block.ops)):
        if not isinstance(op, tensor.ExtractSlice):
            continue
        users: dict[Op, list[Use]] = {}
        for use in op.result.uses:
            if (user := happens_in(use.op, func.block)) is not None:
                users.setdefault(user, []).append(use)
        for user, uses in list(users.items())[1:]:

            def before(new: Op, user: Op = user) -> Op:
                func.block.insert_before(user, new)
                return new

            made = clone_op(op, {}, before)
            for use in uses:
                use.set(made.result)


def say_known_sizes(op: Op) -> None:
    """Has an op that is told sizes as values, which its type knows as numbers, say the numbers, as MLIR's text does."""
    new: Op
    if isinstance(op, tensor.Empty):
        told = [n if isinstance(n, int) else old for n, old in zip(op.result.tensor_type.shape, op.sizes)]
        if told == op.sizes:
            return
        new = tensor.Empty.of(op.result.tensor_type, told, op.loc, op.attrs["order"])
    elif isinstance(op, tensor.ExtractSlice) or (isinstance(op, tensor.InsertSlice) and op.results):
        s = op.slice
        part = op.result if isinstance(op, tensor.ExtractSlice) else op.operand(0)
        sizes = list(s.sizes)
        for d, n in zip(s.dims, part.tensor_type.shape):
            if d is not None and isinstance(n, int):
                sizes[d] = n
        if sizes == list(s.sizes):
            return
        s = replace(s, sizes=tuple(sizes))
        if isinstance(op, tensor.ExtractSlice):
            new = tensor.ExtractSlice.of(op.source, s, op.result.tensor_type, op.loc)
        else:
            new = tensor.InsertSlice.of(op.operand(0), op.operand(1), s, op.loc)
    else:
        return
    new.attrs = {**op.attrs, **new.attrs}
    assert op.block is not None
    op.block.insert_before(op, new)
    op.result.replace_all_uses(new.result)
    op.erase()


def equal_sizes(guards: Iterable[Guard]) -> dict[Sym, Dim]:
    """Sizes in terms of others, as guards say that these are equal, but for a constant."""
    found: dict[Sym, Dim] = {}
    for g in guards:
        if g.kind != "zero":
            continue
        d = substitute(g.expr, found)
        plus = [s for s in symbols(d) if s.kind == "dim" and not symbols(sub(d, s.expr)) & {s}]
        minus = [s for s in symbols(d) if s.kind == "dim" and not symbols(add(d, s.expr)) & {s}]
        if len(symbols(d)) == 2 and len(plus) == len(minus) == 1:
            a, b = plus[0], minus[0]  # a - b + c is 0
            late, early = (a, b) if a.serial > b.serial else (b, a)
            rest = sub(d, late.expr) if late is a else add(d, late.expr)
            made = neg(rest) if late is a else rest
            if symbols(made) == {early}:
                found = {s: substitute(e, {late: made}) for s, e in found.items()} | {late: made}
    return found


def guards_hold(guards: Sequence[Any], env: Mapping[Sym, int]) -> bool:
    """Whether conditions on sizes hold."""
    for g in guards:
        try:
            value = evaluate(g.expr, env)
        except ZeroDivisionError:
            return False
        if not {"nonneg": value >= 0, "zero": value == 0, "nonzero": value != 0}[g.kind]:
            return False
    return True
