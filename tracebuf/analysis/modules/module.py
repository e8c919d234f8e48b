"""One-Shot analysis of a module: callees before callers, each function's summary at the calls of it.

What a caller must know of a function (which arguments it reads and writes, which results share or are an argument's
buffer) follows from the function's own decisions. A declared function may do anything; functions that call one another
in a circle are analysed last, without summaries. MLIR counterpart: OneShotModuleBufferize.cpp (behaviours 40 to 44).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import field

from tracebuf.analysis.cost import choose
from tracebuf.analysis.one_shot.base import AnalysisError, Decisions
from tracebuf.analysis.one_shot.chosen import analysis_of
from tracebuf.analysis.one_shot.copy_before_write import copy_before_write
from tracebuf.analysis.one_shot.dataflow import Dataflow
from tracebuf.analysis.one_shot.derived import Analysis
from tracebuf.errors import InternalError
from tracebuf.frozen import plain
from tracebuf.ir.attributes import Attr
from tracebuf.ir.core import Op, Use, Value
from tracebuf.ir.func import Func, Module
from tracebuf.ir.types import TensorType
from tracebuf.ops.control import func as func_ops
from tracebuf.ops.control import scf
from tracebuf.ops.control.func import Call, Return, Summary
from tracebuf.options import OneShotOptions

ACCESS = {(False, False): "none", (True, False): "read", (False, True): "write", (True, True): "read-write"}


@plain(eq=True)
class ModuleAnalysis:
    """The decisions for each function, by name, and what they mean at its boundary.

    `access` has a word for each tensor argument ("none", "read", "write", "read-write"; None for other arguments);
    `equivalent` has, for each operand of a func.return, the index of the argument that it certainly is, or -1.
    """

    funcs: dict[str, Analysis] = field(default_factory=dict)
    access: dict[str, list[str | None]] = field(default_factory=dict)
    equivalent: dict[Op, list[int]] = field(default_factory=dict)


def analyze_module(
    module: Module, options: OneShotOptions, decide: Callable[[Func], Decisions] | None = None
) -> ModuleAnalysis:
    """Decides for every function of the module: One-Shot, or `decide`, the user's own.

    Raises AnalysisError where a loop yields what is not its own buffer and `allow_return_allocs_from_loops` is off, and
    ValueError for an unknown heuristic.
    """
    decided = ModuleAnalysis()
    calls: dict[str, list[Call]] = {}
    for caller, op in ((f, op) for f in module.funcs for op in f.walk() if isinstance(op, Call)):
        op.attrs.pop("summary", None)
        if not _is_skipped(caller, options):  # without an analysis, nothing is known of a callee
            calls.setdefault(op.callee, []).append(op)
    ordered, circular = order_by_calls(module)
    unsummarised = set(circular)
    for f in (*ordered, *circular):
        boundary = options.bufferize_function_boundaries
        if f.external:
            if boundary:
                decided.access[f.name] = _access(f, *_declared(f))
                _tell(calls.get(f.name, ()), _summary_of_declaration(f))
            continue
        analysis = decided.funcs[f.name] = _analyze(f, options, decide)
        if not options.allow_return_allocs_from_loops and not _is_skipped(f, options):
            refuse_returned_allocs(f, analysis)
        if boundary and f in unsummarised:
            continue
        if boundary:
            _annotate_equivalent(f, analysis, decided)
            reads, writes = _reads_and_writes(f, analysis)
            decided.access[f.name] = _access(f, reads, writes)
            if not _is_skipped(f, options):
                _tell(calls.get(f.name, ()), _summary(f, analysis, reads, writes, decided))
    return decided


def _is_skipped(f: Func, options: OneShotOptions) -> bool:
    return options.copy_before_write or f.name in options.no_analysis_func_filter


def _analyze(f: Func, options: OneShotOptions, decide: Callable[[Func], Decisions] | None) -> Analysis:
    boundary = options.bufferize_function_boundaries
    flow = Dataflow(f, _filter(options), owns_arguments=boundary, as_mlir=options.compat is not None)
    if _is_skipped(f, options):
        return copy_before_write(f, flow)
    refuse_shared_buffers(f)
    if decide is not None:
        return analysis_of(f, decide(f), flow)
    try:
        return choose.analyze(
            f,
            heuristic=options.analysis_heuristic,
            seed=options.analysis_fuzzer_seed,
            compat=options.compat,
            improvements=options.improvements,
            flow=flow,
            check_parallel=options.check_parallel_regions,
        )
    except InternalError as e:  # what must be in place, but cannot be
        raise AnalysisError(f"{f.name}: {e}", f.loc) from e


def _filter(options: OneShotOptions) -> Callable[[Op], bool]:
    """Ops whose facts count: the dialects of the filter; those of `func` only with function boundaries."""
    boundary = options.bufferize_function_boundaries

    def allowed(op: Op) -> bool:
        return (boundary or not isinstance(op, Call | Return)) and options.allows(op.name)

    return allowed


# -- the order of functions


def order_by_calls(module: Module) -> tuple[list[Func], list[Func]]:
    """(functions, each after those it calls; those that are part of a circle or call one)."""
    by_name = {f.name: f for f in module.funcs}
    callees = {
        f: {by_name[op.callee] for op in f.walk() if isinstance(op, Call) and op.callee in by_name}
        for f in module.funcs
    }
    callers: dict[Func, list[Func]] = {}
    for f, near in callees.items():
        for g in near:
            callers.setdefault(g, []).append(f)
    waits, place = {f: len(near) for f, near in callees.items()}, {f: k for k, f in enumerate(module.funcs)}
    ordered, ready = list[Func](), [f for f in module.funcs if not waits[f]]
    while ready:
        ordered += ready
        freed = list[Func]()
        for f in (f for g in ready for f in callers.get(g, ())):
            waits[f] -= 1
            if not waits[f]:
                freed.append(f)
        ready = sorted(freed, key=place.__getitem__)
    return ordered, [f for f in module.funcs if waits[f]]


def _tell(calls: Iterable[Call], summary: Summary) -> None:
    for op in calls:
        op.attrs["summary"] = summary


# -- what the decisions mean at the boundary


def returns(f: Func) -> list[Return]:
    """Every func.return of a function."""
    return [op for block in f.body.blocks for op in block.ops if isinstance(op, func_ops.Return)]


def _marked_access(f: Func, index: int) -> str | None:
    """`bufferization.access` that the program itself gives."""
    attrs = f.arg_attrs[index] if index < len(f.arg_attrs) else {}
    marked = attrs.get("bufferization.access")
    return marked.value if isinstance(marked, Attr) else marked


def _reads_and_writes(f: Func, analysis: Analysis) -> tuple[set[int], set[int]]:
    """The tensor arguments that are read, and those into whose buffer something is written."""
    reads, writes = _declared(f, known=False)
    aliases = _Aliases(f, analysis)
    for k, arg in enumerate(f.args):
        if arg.is_tensor and _marked_access(f, k) is None:
            if analysis.flow.is_value_read(arg):
                reads.add(k)
            if any(analysis.is_in_place(u) and analysis.writes(u) for v in aliases.of(arg) for u in v.uses):
                writes.add(k)
    return reads, writes


def _declared(f: Func, *, known: bool = True) -> tuple[set[int], set[int]]:
    """The tensor arguments that are read and that are written, as `bufferization.access` says; one without this
    attribute is both if `known`, else neither."""
    reads, writes = set(), set()
    for k, arg in enumerate(f.args):
        word = _marked_access(f, k)
        if arg.is_tensor and (word is not None or known):
            if word in (None, "read", "read-write"):
                reads.add(k)
            if word in (None, "write", "read-write"):
                writes.add(k)
    return reads, writes


def _access(f: Func, reads: set[int], writes: set[int]) -> list[str | None]:
    return [ACCESS[k in reads, k in writes] if arg.is_tensor else None for k, arg in enumerate(f.args)]


class _Aliases:
    """Values that may share memory, as the decisions say (MLIR: applyOnAliases)."""

    def __init__(self, f: Func, analysis: Analysis) -> None:
        self._parents: dict[Value, Value] = {}
        self._members: dict[Value, list[Value]] | None = None
        for op in f.walk():
            for use in op.tensor_uses():
                if analysis.is_in_place(use):
                    for alias in analysis.flow.aliasing_values(use):
                        self._parents[self.find(alias.value)] = self.find(use.value)

    def find(self, value: Value) -> Value:
        while (parent := self._parents.setdefault(value, value)) is not value:
            value = parent
        return value

    def of(self, value: Value) -> list[Value]:
        if self._members is None:
            self._members = {}
            for v in list(self._parents):
                self._members.setdefault(self.find(v), []).append(v)
        return self._members.get(self.find(value), [value])


def _annotate_equivalent(f: Func, analysis: Analysis, found: ModuleAnalysis) -> None:
    """As MLIR 22 does: it looks among the ranked arguments, and for each result stops at the first return where it is
    no argument, or another one than at the first return."""
    ranked = [(k, a) for k, a in enumerate(f.args) if isinstance(a.type, TensorType)]

    def argument(v: Value) -> int:
        return next((k for k, a in ranked if v.is_tensor and analysis.equivalent(v, a)), -1)

    ends = returns(f)
    found.equivalent.update((op, [-1] * len(op.uses)) for op in ends)
    for i in range(len(ends[0].uses) if ends else 0):
        for op in ends:
            found.equivalent[op][i] = k = argument(op.operand(i))
            if k < 0 or k != found.equivalent[ends[0]][i]:
                break


def _summary(
    f: Func, analysis: Analysis, reads: set[int], writes: set[int], found: ModuleAnalysis
) -> Summary:
    aliases, ends = _Aliases(f, analysis), returns(f)
    near = {
        k: tuple(sorted({
            u.index for op in ends for u in op.tensor_uses() if aliases.find(u.value) is aliases.find(arg)
        }))
        for k, arg in enumerate(f.args) if arg.is_tensor
    }  # fmt: skip
    tables = [found.equivalent[op] for op in ends]
    same = {
        k: arg for k, arg in enumerate(tables[0] if tables else [])
        if arg >= 0 and all(table[k] == arg for table in tables)
    }  # fmt: skip
    return Summary(
        frozenset(reads), frozenset(writes), near, same, analysis.flow.as_mlir, _read_only_results(f, analysis, aliases)
    )


def _read_only_results(f: Func, analysis: Analysis, aliases: _Aliases) -> frozenset[int]:
    """The results that may be a buffer that is neither an argument's nor to be stored to. Test:
    test_a_constant_that_a_callee_returns_is_not_stored_to."""
    values = (v for v in f.values() if v.is_tensor and v not in f.args)
    own = [v for v in values if not analysis.flow.is_writable(v)]
    return frozenset(
        use.index
        for op in returns(f)
        for use in op.tensor_uses()
        if any(aliases.find(v) is aliases.find(use.value) for v in own)
    )


def _summary_of_declaration(f: Func) -> Summary:
    """Every result may be a part of every argument (behaviour 42)."""
    reads, writes = _declared(f)
    results = tuple(k for k, t in enumerate(f.result_types) if str(t).startswith("tensor<"))
    return Summary(
        frozenset(reads), frozenset(writes), {k: results for k, a in enumerate(f.args) if a.is_tensor}, {}
    )


# -- what One-Shot asks of a program


def refuse_returned_allocs(f: Func, analysis: Analysis) -> None:
    """AnalysisError where a loop yields a tensor that is not the buffer it carries (behaviours 36, 37)."""
    for op in f.walk():
        if isinstance(op, scf.For):
            _refuse_moved("Yield", op.passed, op.args, analysis)
        elif isinstance(op, scf.While):
            _refuse_moved("Condition", op.passed, op.args, analysis)
            _refuse_moved("Yield", op.yielded, op.after.args, analysis)


def refuse_shared_buffers(f: Func) -> None:
    """AnalysisError for a buffer taken as a tensor that other tensors may share: no rule sees them."""
    for op in f.walk():
        if op.name == "bufferization.to_tensor" and "restrict" not in op.attrs:
            raise AnalysisError("to_tensor ops without `restrict` are not supported by One-Shot Analysis", op.loc)


def _refuse_moved(what: str, passed: list[Use], args: list[Value], analysis: Analysis) -> None:
    for k, use in enumerate(passed):
        if use.value.is_tensor and (k >= len(args) or not analysis.equivalent(use.value, args[k])):
            words = "operand" if what == "Yield" else "arg"
            raise AnalysisError(
                f"{what} {words} #{k} is not equivalent to the corresponding iter bbArg "
                "(allow-return-allocs-from-loops lets it be copied)",
                use.op.loc,
            )
