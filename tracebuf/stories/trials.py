"""Edits that are tried: the edited function is traced and bufferized again, what it computes is compared, and what it
takes; then both run on copies of the arguments, and the counters of compiled code say what is saved.
"""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import FunctionType
from typing import Any

import numpy as np

from tracebuf import stages
from tracebuf.backend.runtime.memory_hook import counting
from tracebuf.explain.memory import MemoryUse, memory_of
from tracebuf.explain.report import Entry, all_entries
from tracebuf.frontends.numpy.call.conditions import Guard
from tracebuf.frontends.numpy.interpreter.trace import Traced
from tracebuf.frozen import frozen
from tracebuf.ir.clone import clone_func
from tracebuf.ir.core import Op
from tracebuf.ir.dims import Dim, Expr, Sym, constant_part, sub, substitute, symbols, terms_of
from tracebuf.ir.func import Func
from tracebuf.ir.types import MemRefType
from tracebuf.measure import clone_arguments, kept_in_place, restored
from tracebuf.ops.arrays.host import HostCall
from tracebuf.options import Options
from tracebuf.stories.edits import Edit, edited
from tracebuf.stories.meaning import Meaning, Numbers, is_pure_call, meaning

Arguments = tuple[tuple[Any, ...], dict[str, Any]]
SHORTEST, LONGEST = 1e-3, 1.0
"""In seconds: shorter calls of NumPy are not told apart, longer ones not repeated."""


@frozen(slots=False)
class Variant:
    """A program, edited or not: what it computes, its programs of tensors and of memrefs, the entries with their ops,
    and its memory."""

    make: Callable[[FunctionType, Options], Any]
    """The class of bufferized functions."""
    function: Any
    options: Options
    meaning: Meaning | None
    traced: Func
    """The tensor program as recorded, where it was kept."""
    program: Func
    sizes: Mapping[Sym, int]
    entries: tuple[tuple[Op, Entry], ...]
    impure: str
    """The function that it calls and a trial must not."""
    arrays: tuple[str, ...]
    """The parameters that are arrays in this call."""
    guards: tuple[Guard, ...] = ()
    """What the program assumes of sizes and counts."""
    axes: tuple[str, ...] = ()
    """The sizes of arguments; of those of one element, or of none, there are other programs."""

    def memory(self) -> MemoryUse:
        """What it takes, as formulas; made when it is asked for."""
        if (found := vars(self).get("_memory")) is None:
            found = vars(self)["_memory"] = memory_of(self.program)
        assert isinstance(found, MemoryUse)
        return found

    def count(self, kind: str) -> int:
        return sum(e.kind == kind for _, e in self.entries)


@frozen(slots=False)
class Reading:
    """A traced program, edited or not: what it computes, and the function that it calls and a trial must not."""

    options: Options
    traced: Traced
    sizes: Mapping[Sym, int]
    meaning: Meaning | None
    impure: str
    arrays: tuple[str, ...]


Make = Callable[[FunctionType, Options], Any]


def read(
    make: Make, function: FunctionType, options: Options, given: Arguments, numbers: Numbers | None,
    peeled: bool = False,
) -> Reading:  # fmt: skip
    """`numbers`: None where its meaning is not asked for. Raises what tracing raises."""
    plain = bare(options)
    f = make(function, plain)
    call, traced = f.trace(*given[0], **given[1])
    sizes = {s: b.value(call.values) for s, b in traced.bindings.items()}
    calls = [op for op in traced.func.walk() if isinstance(op, HostCall) and not is_pure_call(op)]
    impure = str(calls[0].callee) if calls else ""
    named = zip(call.names, call.values)
    arrays = tuple(n for n, v in named if n.isidentifier() and isinstance(v, np.ndarray) and v.ndim)
    means = None if numbers is None else meaning(traced.func, numbers, peeled)
    return Reading(plain, traced, sizes, means, impure, arrays)


def variant(
    make: Make, function: FunctionType, options: Options, given: Arguments, numbers: Numbers | None,
    reading: Reading | None = None, observe: Callable[[str, Func], None] | None = None, keep: bool = False,
) -> Variant:  # fmt: skip
    """The program for these options, of a reading where there is one; the passes take that over, but for those that
    `keep` it. Raises what tracing raises."""
    r = read(make, function, options, given, numbers) if reading is None else reading
    plain, taken = bare(options), r.traced
    if keep:
        taken = replace(r.traced, func=clone_func(r.traced.func)[0])
    func = stages.bufferized(taken, plain, observe).func
    found, traced = tuple(entries_of(func, r.sizes)), r.traced
    axes = tuple(s.name for s, b in traced.bindings.items() if b.axis is not None and not b.stride)
    return Variant(
        make, function, plain, r.meaning, traced.func, func, r.sizes, found, r.impure, r.arrays, traced.guards, axes
    )


def entries_of(func: Func, sizes: Mapping[Sym, int]) -> Iterator[tuple[Op, Entry]]:
    """The allocations and copies of a memref program."""
    return (pair for pair in all_entries(func, sizes) if pair[1].bytes != 0 and pair[1].kind != "host call")


def bare(options: Options) -> Options:
    """Options without contracts, without falling back, and without blocks of rows, which no line asks for."""
    free = replace(options, max_allocations=None, max_copies=None, max_bytes=None, in_place=())
    return replace(free, fallback="error", tile=False)


def with_options(options: Options, edit: Edit) -> Options:
    """With those that an edit adds."""
    added: dict[str, Any] = {n: (*getattr(options, n), *more) for n, more in edit.options.items()}
    return replace(options, **added)


def kept_by(base: Variant, given: Arguments) -> list[Any]:
    """The arrays that cannot be cloned for a call: captured ones, and arguments on them. Found once: it compiles."""
    found: list[Any] | None = vars(base).get("_kept")
    if found is None:
        f = base.make(base.function, replace(base.options, tier="quick", backend="llvm"))
        found = vars(base)["_kept"] = kept_in_place(given, f.captured(*given[0], **given[1]))
    return found


def tried(base: Variant, edit: Edit, given: Arguments, numbers: Numbers) -> Variant | None:
    """The variant that an edit gives, if it can be traced and computes the same."""
    with edited(base.function, edit) as function:
        if function is None:
            return None
        options = with_options(base.options, edit)
        try:
            found = read(base.make, function, options, given, numbers, edit.runs_once)
            if found.impure != base.impure or not same_meaning(base, found, numbers, edit.runs_once):
                return None
            return variant(base.make, function, options, given, numbers, found)
        except Exception:  # what the edit made of the function is no program, or raises
            return None


def same_meaning(base: Variant, found: Reading, numbers: Numbers, peeled: bool) -> bool:
    """Whether a program computes the same; where it is only for equal sizes, the other one for those."""
    if found.meaning is None or found.meaning == base.meaning:
        return found.meaning is not None
    equal = new_equal(base.guards, found.traced.guards)
    if not equal:
        return False
    one = meaning(base.traced, numbers, False, equal)
    return one is not None and one == meaning(found.traced.func, numbers, peeled, equal)


def new_equal(before: Sequence[Guard], after: Sequence[Guard]) -> list[tuple[str, str]]:
    """The names of sizes that a program wants to be equal, and another does not."""
    known, found = {str(g.expr) for g in before if g.kind == "zero"}, []
    for g in after:
        if g.kind == "zero" and str(g.expr) not in known and sorted(terms_of(g.expr).values()) == [-1, 1]:
            names = sorted(s.name for s in symbols(g.expr))
            if len(names) == 2 and len(terms_of(g.expr)) == 2 and all(len(atoms) == 1 for atoms in terms_of(g.expr)):
                found.append((names[0], names[1]))
    return found


def shown_size(name: str) -> str:
    """The name of a size as Python has it: `u.shape[1]`."""
    return re.sub(r"(\w+)\.(\d+)$", r"\1.shape[\2]", name)


def removes(base: Variant, made: Variant, edit: Edit, lines: set[int], entry: Entry) -> bool:
    """Whether an edit removes an allocation or a copy of these lines, such as this one, and adds none."""
    before, after, kind = by_line(base, None, False), by_line(made, edit, False), entry.kind
    fewer = any(after[kind, n, amount(entry)] < before[kind, n, amount(entry)] for n in lines)
    cheaper = [made.count(k) <= base.count(k) for k in ("allocation", "copy")]
    return fewer and all(cheaper) and made.count(kind) < base.count(kind)


def once_is_less(base: Variant, made: Variant, edit: Edit, lines: set[int], entry: Entry) -> bool:
    """Whether an array that each iteration made in these lines is made once, and none more is."""
    before, after, kind = by_line(base, None, True), by_line(made, edit, True), entry.kind
    fewer = any(after[kind, n, amount(entry)] < before[kind, n, amount(entry)] for n in lines)
    return fewer and after.total() < before.total()


def by_line(v: Variant, edit: Edit | None, in_loop: bool) -> Counter[tuple[str, int, int | str]]:
    """How many entries there are by kind, line and amount, the line before an edit; `in_loop`: of those in loops."""
    origins = edit.origins() if edit is not None and edit.changes else {}
    found = [e for _, e in v.entries if e.in_loop or not in_loop]
    return Counter((e.kind, origins.get(e.location.line, e.location.line), amount(e)) for e in found)


def amount(entry: Entry) -> int | str:
    return entry.size if entry.bytes is None else entry.bytes


def difference(base: Variant, made: Variant) -> str:
    """What is saved, as a formula of the sizes; "" where it is not known."""
    before, after = base.memory(), made.memory()
    told = symbols(before.allocated.size) | symbols(before.copied.size)  # an int argument has a symbol of its own there
    names = {s.name: s.expr for s in (*base.sizes, *told)}
    total: Dim = 0
    for a, b in ((before.allocated, after.allocated), (before.copied, after.copied)):
        if a.unknown or b.unknown or not (a.exact and b.exact):
            return ""
        both = symbols(a.size) | symbols(b.size)  # of one name and yet two, for each program has its own
        if not all(s.name in names for s in both):
            return ""
        one = {s: names[s.name] for s in both}
        total = _plus(total, sub(substitute(a.size, one), substitute(b.size, one)))
    return str(total)


def condition(base: Variant, made: Variant) -> str:
    """Where the formulas hold: what both programs assume, but that sizes are equal."""
    words: dict[str, str] = {}
    guards = [g for v in (base, made) for g in v.guards if g.kind != "zero"]
    for g in sorted(guards, key=lambda g: constant_part(g.expr), reverse=True):
        rest = sub(g.expr, constant_part(g.expr))
        words[f"{g.kind} {rest}" if g.kind == "nonneg" else str(g)] = words_of(g.kind, g.expr)  # the strictest last
    return " and ".join(sorted(words.values()))


def words_of(kind: str, expr: Expr) -> str:
    """A condition on sizes as a reader has it: `n >= 1`."""
    known = constant_part(expr)
    rest, sign = sub(expr, known), {"nonneg": ">=", "nonzero": "!="}[kind]
    if str(rest).startswith("-"):
        return f"{sub(0, rest)} {sign.replace('>', '<')} {known}"
    return f"{rest} {sign} {-known}"


def _plus(a: Dim, b: Dim) -> Dim:
    return sub(a, sub(0, b))


@frozen(slots=False)
class Outcome:
    """A call on copies of the arguments: its result, what the arguments hold, and what was counted."""

    result: Any
    arguments: Arguments
    counters: Any = None
    seconds: float = 0.0
    """Of CPU time."""


def run(call: Callable[..., Any], given: Arguments, kept: Sequence[Any], counted: bool = False) -> Outcome:
    args, kwargs = clone_arguments(*given, kept)
    with restored(kept), np.errstate(all="ignore"):
        began = time.process_time()
        result = call(*args, **kwargs)
        seconds = time.process_time() - began
    if counted:
        return Outcome(result[0], (args, kwargs), result[1], seconds)
    return Outcome(result, (args, kwargs), seconds=seconds)


def measured(base: Variant, edit: Edit, given: Arguments) -> Edit | None:
    """The edit with what it saves, if a call of the function that it gives has the same results and does as much to
    its arguments, and saves something; and what it makes of a call of NumPy's."""
    with edited(base.function, edit) as function:
        if function is None:
            return None
        options = replace(base.options, tier="quick", backend="llvm")
        first = base.make(base.function, options)
        second = base.make(function, with_options(options, edit))
        kept = kept_by(base, given)
        try:
            with counting() as first_takes:
                eager = run(base.function, given, kept)
            with counting() as then_takes:
                again = run(function, given, kept)
        except Exception:  # of the user's function on these arguments
            return None
        lost = edit.options.get("donate_optional", ())
        if not agree(eager, again, exact=True):
            return None
        one, two = (run(f.call_counted, given, kept, True) for f in (first, second))
        if one.counters is None or two.counters is None or not agree(eager, two, exact=False, lost=lost):
            return None
        a, b = one.counters, two.counters  # of a call
        saves = a.allocated_bytes - b.allocated_bytes + a.copied_bytes - b.copied_bytes
        if saves <= 0:
            return None
        several = sum(isinstance(a.type, MemRefType) for a in base.program.args) > 1
        apart = several and bool(edit.changes) and not edit.options
        caveat = "; ".join(filter(None, (edit.caveat, "for arrays that share no memory" if apart else "")))
        fewer = {"allocations": a.allocations - b.allocations, "copies": a.copies - b.copies}
        if edit.options:  # which change nothing of what NumPy does
            return replace(edit, caveat=caveat, saves=saves, **fewer)
        more = then_takes.allocated_bytes - first_takes.allocated_bytes
        ratio = slower((base.function, function), (eager.seconds, again.seconds), given, kept)
        return replace(edit, caveat=caveat, saves=saves, **fewer, eager_bytes=more, eager_ratio=ratio)


def slower(
    functions: Sequence[Callable[..., Any]], first: Sequence[float], given: Arguments, kept: Sequence[Any]
) -> float | None:
    """How much longer the second of two functions takes than the first, whose first calls took so long; None where
    that is too short to be told, or too long to be called again."""
    if not SHORTEST <= min(first) or sum(first) > LONGEST:
        return None
    times = [[s] for s in first]
    for _ in range(2):
        for mine, f in zip(times, functions):
            mine.append(run(f, given, kept).seconds)
    one, two = map(min, times)
    return two / one


def agree(a: Outcome, b: Outcome, exact: bool, lost: Sequence[str] = ()) -> bool:
    """Whether two calls have the same results and leave the same in their arguments, and as much of both is shared
    memory (`lost`: donated arguments have no contents)."""
    x, y = list(arrays(a.result)), list(arrays(b.result))
    p, q = list(arrays(a.arguments)), list(arrays(b.arguments))
    if len(x) != len(y) or type(a.result) is not type(b.result) or len(p) != len(q):
        return False
    if not all(equal(m, n, exact) for m, n in zip(x, y)):
        return False
    if lost:
        return True
    shared = [[np.shares_memory(m, n) for m in [*s, *t] for n in s] for s, t in ((x, p), (y, q))]
    return shared[0] == shared[1] and all(equal(m, n, exact) for m, n in zip(p, q))


def arrays(value: Any) -> Iterator[Any]:
    """The arrays and numbers of a value, as arrays."""
    if isinstance(value, (list, tuple)):
        for item in value:
            yield from arrays(item)
    elif isinstance(value, dict):
        yield from arrays(list(value.values()))
    elif isinstance(value, (np.ndarray, np.generic, int, float, complex)):
        yield np.asarray(value)


def equal(a: Any, b: Any, exact: bool) -> bool:
    if a.dtype != b.dtype or a.shape != b.shape:
        return False
    inexact = a.dtype.kind in "fc"
    if exact or not inexact:
        return bool(np.array_equal(a, b, equal_nan=inexact))
    return bool(np.allclose(a, b, rtol=1e3 * np.finfo(a.dtype).eps, atol=1e3 * np.finfo(a.dtype).eps, equal_nan=True))
