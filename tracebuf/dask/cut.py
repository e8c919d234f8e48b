"""`f.cut(...)`: how a call may be cut, by argument, result and axis, with the access that decides.

An output (a result, or an argument that is stored to) is looked at beside each argument that it is computed from
(`Pair`); what holds of an argument's axis in all pairs is its `AxisCut`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

from tracebuf import stages
from tracebuf.dask.flow import is_along_nothing
from tracebuf.dask.program import Program, program_of, with_constants
from tracebuf.dask.reach import Margin, Reach, State, Why, greater, hull
from tracebuf.dask.rewrites.apart import staged
from tracebuf.dask.rewrites.extremes import reduced_apart
from tracebuf.dask.rewrites.masks import selected_apart
from tracebuf.dask.split import COUNTS, loops_that_count, symbol_of
from tracebuf.errors import UnsupportedError
from tracebuf.frozen import frozen
from tracebuf.ir.core import Value
from tracebuf.ir.dims import Dim, Sym, constant_part, dim_max, evaluate, sub, symbols, to_python
from tracebuf.ir.types import ShapedType
from tracebuf.location import UNKNOWN, Location
from tracebuf.ops.control import scf
from tracebuf.process.display import aligned, displayed

Kind = Literal["independent", "halo", "reduced", "whole"]


@frozen(slots=False)
class AxisCut:
    """How one axis may be cut.

    `kind` "independent": place by place; "halo": an element is computed from `low` places before it to `high` behind it
    (numbers, or formulas of integer arguments as text); "reduced": parts are combined `by` a ufunc (with `low` and
    `high` where other outputs have a halo); "whole": not.
    `around`: places are counted around the end. `margin`: how many places at either end the function itself treats in
    another way. `by_place`: elements also depend on how far along the axis they are (`np.arange`, `np.tril`), so that a
    part has to be told where it begins. `line` and `access` say what decides.
    """

    kind: Kind
    low: int | str = 0
    high: int | str = 0
    by: str = ""
    around: bool = False
    margin: tuple[int | str, int | str] = (0, 0)
    line: int = 0
    access: str = ""
    bounds: tuple[Dim, Dim] = (0, 0)
    """`low` and `high` as symbolic sizes."""
    by_place: bool = False

    def __str__(self) -> str:
        return f"{self.read()}, by place" if self.by_place else self.read()

    def read(self) -> str:
        """What is read along the axis, in words."""
        halo = f"halo ({self.low}, {self.high}){' around the end' if self.around else ''}"
        if self.kind == "reduced":
            return f"{halo}, reduced by {self.by}" if (self.low, self.high) != (0, 0) else f"reduced by {self.by}"
        return halo if self.kind == "halo" else self.kind

    def to_dict(self) -> dict[str, Any]:
        found: dict[str, Any] = {"kind": self.kind, "line": self.line, "access": self.access}
        if self.kind == "halo" or (self.low, self.high) != (0, 0):
            found |= {"low": self.low, "high": self.high, "around": self.around}
        if self.kind == "reduced":
            found["by"] = self.by
        if self.by_place:
            found["by_place"] = True
        if self.margin != (0, 0):
            found["margin"] = list(self.margin)
        return found


@frozen(slots=False)
class Pair:
    """What one output reads of one argument: for each axis of the argument, how, and the output's axis along which it
    lies (None: along none)."""

    output: str
    argument: str
    axes: tuple[AxisCut, ...]
    along: tuple[int | None, ...]
    begins: tuple[int, ...] = ()
    """The place of the argument's axis at which the output's first element lies."""


@frozen(slots=False)
@displayed
class Cut:
    """How a call may be cut: `arguments`, `results` and `stored` by name, each the cuts of its axes; `pairs`: what each
    output reads of each argument."""

    name: str
    arguments: Mapping[str, tuple[AxisCut, ...]]
    results: Mapping[str, tuple[AxisCut, ...]]
    stored: Mapping[str, tuple[AxisCut, ...]]
    pairs: tuple[Pair, ...]

    def pair(self, output: str, argument: str) -> Pair | None:
        """What an output reads of an argument; None where it reads nothing."""
        return next((p for p in self.pairs if (p.output, p.argument) == (output, argument)), None)

    def rows(self) -> list[tuple[str, ...]]:
        rows: list[tuple[str, ...]] = [("", "axis", "cut", "line", "by")]
        groups = ((self.arguments, ""), (self.results, ""), (self.stored, " (stored to)"))
        for group, note in groups:
            for name, axes in group.items():
                for k, axis in enumerate(axes):
                    line = str(axis.line) if axis.line else ""
                    rows.append((f"{name}{note}", str(k), str(axis), line, axis.access))
        return rows

    def __str__(self) -> str:
        return f"{self.name}\n{aligned(self.rows())}"

    def __repr__(self) -> str:
        return str(self)

    def to_dict(self) -> dict[str, Any]:
        """The same as data: lists, dicts, texts and numbers."""

        def of(group: Mapping[str, tuple[AxisCut, ...]]) -> dict[str, Any]:
            return {name: [a.to_dict() for a in axes] for name, axes in group.items()}

        pairs = [
            {"output": p.output, "argument": p.argument, "axes": [a.to_dict() for a in p.axes], "along": list(p.along)}
            for p in self.pairs
        ]
        return {
            "name": self.name, "arguments": of(self.arguments), "results": of(self.results), "stored": of(self.stored),
            "pairs": pairs,
        }  # fmt: skip


def cut(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Cut:
    """The cut of a call; UnsupportedError where no axis of any argument may be cut."""
    found, program = read(f, args, kwargs)
    found = as_distributed(found, program)
    axes = [a for group in (found.arguments, found.results) for cuts in group.values() for a in cuts]
    if axes and all(a.kind == "whole" for a in axes):
        first = next((a for cuts in found.arguments.values() for a in cuts), axes[0])
        raise UnsupportedError(
            f"{program.name} cannot be cut along any axis: {first.access}",
            instead="call it on whole arrays, or take what needs them out of it",
            location=line_of(program, first),
        )
    return found


def read(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Cut, Program]:
    """What a call reads, each axis by itself, and the program anew, to be taken apart."""
    program = traced(f, args, kwargs)
    found = cut_of(program)
    constant = with_constants(f, args, kwargs) if has_ints(program) else None
    exact = program if constant is None else traced(constant, args, kwargs)
    if has_counts(program) and not has_specs(args, kwargs):
        exact = replace(exact, known=exact.env)
    if exact is not program:
        found = sharpened(found, cut_of(exact), program)
    return found, traced(f if constant is None else constant, args, kwargs)


def traced(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Program:
    """The program of a call, of whose parts each knows where it begins."""
    program = program_of(f, args, kwargs)
    lengths = program.lengths()
    program = reduced_apart(program, lengths) or program
    return replace(selected_apart(program, lengths) or program, cut=lengths)


def as_distributed(found: Cut, program: Program) -> Cut:
    """A cut that says of an axis whether calls on dask arrays are cut along it. `program` is rewritten for that: what
    it then reads of axes that are whole otherwise is what is said of these."""
    parts = staged(program, program.env, frozenset(filter(None, map(symbol_of, lengths_of(program)))), few=2)
    shapes = dict(zip(program.names, map(sizes, program.func.args)))
    ways = {name: sizes(values[0]) for name, values, _ in program.outputs() if values}
    whole = [a for cuts in found.arguments.values() for a in cuts if a.kind == "whole"]
    other = cut_of(replace(parts.program, cut=program.cut)) if whole and parts.cut else found

    def axis(mine: AxisCut, others: Sequence[AxisCut] | None, k: int, size: Dim) -> AxisCut:
        s = symbol_of(size)
        if mine.kind == "whole":
            told = others is not None and s in parts.cut and others[k].kind != "whole"
            return replace(others[k], line=mine.line, access=mine.access) if told and others is not None else mine
        reason = parts.reasons.get(s) if s is not None else None
        if s in parts.cut or reason is None or not reason.reason or mine.access == "not read":
            return mine
        return AxisCut("whole", line=reason.loc.line, access=reason.reason)

    def axes(mine: Sequence[AxisCut], others: Sequence[AxisCut] | None, shape: Sequence[Dim]) -> tuple[AxisCut, ...]:
        return tuple(axis(a, others, k, n) for k, (a, n) in enumerate(zip(mine, shape)))

    def group(mine: Mapping[str, tuple[AxisCut, ...]], others: Mapping[str, Any], of: Mapping[str, Any]) -> Any:
        return {name: axes(cuts, others.get(name), of.get(name, ())) for name, cuts in mine.items()}

    pairs = []
    for p in found.pairs:
        also = other.pair(p.output, p.argument)
        cuts = axes(p.axes, None if also is None else also.axes, shapes[p.argument])
        near = [c.kind in ("independent", "halo") for c in cuts]
        taken = [also if also is not None and c.kind != "whole" and old.kind == "whole" else p
                 for c, old in zip(cuts, p.axes)]  # fmt: skip
        along = tuple(t.along[k] if near[k] else None for k, t in enumerate(taken))
        pairs.append(Pair(p.output, p.argument, cuts, along, tuple(t.begins[k] for k, t in enumerate(taken))))
    return Cut(
        found.name, group(found.arguments, other.arguments, shapes), group(found.results, other.results, ways),
        group(found.stored, other.stored, ways), tuple(pairs),
    )  # fmt: skip


def lengths_of(program: Program) -> list[Dim]:
    """The sizes of all axes of the arguments."""
    return [n for v in program.func.args for n in sizes(v)]


def has_ints(program: Program) -> bool:
    """Whether an int that the call is given is a symbol of the program."""
    return any(s.kind == "arg" for s in program.func.symbols)


def has_specs(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether specs stand for arguments, whose sizes are examples."""
    with stages.examples(args, kwargs) as (_, _, sizes):
        return sizes is not None


def has_counts(program: Program) -> bool:
    """Whether a loop runs as often as a size says that none of what it makes has."""
    for op in program.func.walk():
        if isinstance(op, scf.For) and (last := program.flow.given(op.operand(1))) is not None and symbols(last):
            if is_along_nothing(op, last):
                return True
    return False


def sharpened(found: Cut, exact: Cut, program: Program) -> Cut:
    """A cut whose formulas hold for any ints, or where they say more than is read with those of the call, what that
    one says for these alone."""

    def axes(mine: Sequence[AxisCut], others: Sequence[AxisCut] | None) -> tuple[AxisCut, ...]:
        return tuple(sharper(a, b, program) for a, b in zip(mine, others)) if others is not None else tuple(mine)

    def group(mine: Mapping[str, tuple[AxisCut, ...]], others: Mapping[str, tuple[AxisCut, ...]]) -> Any:
        return {name: axes(cuts, others.get(name)) for name, cuts in mine.items()}

    if (found.results.keys(), found.stored.keys()) != (exact.results.keys(), exact.stored.keys()):
        return found  # a result is a constant there
    pairs = []
    for p in found.pairs:
        if (other := exact.pair(p.output, p.argument)) is not None:
            cuts = axes(p.axes, other.axes)
            taken = [new is not old for new, old in zip(cuts, p.axes)]
            along = tuple(b if t else a for t, a, b in zip(taken, p.along, other.along))
            begins = tuple(b if t else a for t, a, b in zip(taken, p.begins, other.begins))
            pairs.append(Pair(p.output, p.argument, cuts, along, begins))
    return Cut(
        found.name, group(found.arguments, exact.arguments), group(found.results, exact.results),
        group(found.stored, exact.stored), tuple(pairs),
    )  # fmt: skip


def sharper(general: AxisCut, exact: AxisCut, program: Program) -> AxisCut:
    """What is said for any ints, unless more can be said for those of the call."""
    if exact.kind == "whole" or general == exact:
        return general
    if general.kind == "whole":
        return exact
    widths = [sum(evaluate(d, program.env) for d in cut.bounds) for cut in (general, exact)]
    return general if widths[0] == widths[1] and general.kind == exact.kind else exact


def line_of(program: Program, axis: AxisCut) -> Location:
    loc = program.func.loc
    return Location(loc.file, axis.line or loc.line, function=loc.function) if loc.file else UNKNOWN


def cut_of(program: Program) -> Cut:
    """What the analysis of a program says."""
    names, args = program.names, program.func.args
    counts = {
        s: Why(COUNTS, loc) for op in program.func.block.ops
        for syms, loc in loops_that_count(op, program.flow, program.lengths()) for s in syms
    }  # fmt: skip
    pairs: list[Pair] = []
    results: dict[str, tuple[AxisCut, ...]] = {}
    stored: dict[str, tuple[AxisCut, ...]] = {}
    for name, values, is_stored in program.outputs():
        if not values:  # a constant
            results[name] = ()
            continue
        shape = sizes(values[0])
        state, placed = without_places(program, program.state(*values), shape)
        margins = [replace(m, whole=m.whole or reason_of(n, counts)) for m, n in zip(state.margins, shape)]
        state = State(state.reaches, tuple(margins))
        begins = [begin_of(program, state, shape, axis) for axis in range(len(shape))]
        for n, reaches in state.reaches.items():
            if n < len(args) and sizes(args[n]):
                cuts = [
                    told_places(axis_cut(with_reason(r, size, counts), m, begins), r, symbols(size) & placed)
                    for r, m, size in zip(reaches, margins_of(state, reaches), sizes(args[n]))
                ]
                along = tuple(r.near[0].axis if r.near and c.kind in ("independent", "halo") else None
                              for r, c in zip(reaches, cuts))  # fmt: skip
                places = tuple(0 if a is None else begins[a] for a in along)
                pairs.append(Pair(name, names[n], tuple(cuts), along, places))
        axes = tuple(output_axis(program, state, shape, axis, pairs, name) for axis in range(len(shape)))
        axes = tuple(replace(a, by_place=a.kind != "whole" and bool(symbols(n) & placed)) for a, n in zip(axes, shape))
        (stored if is_stored else results)[name] = axes
    arguments = {}
    for n, v in enumerate(args):
        if shape := sizes(v):
            mine = [p for p in pairs if p.argument == names[n]]
            arguments[names[n]] = tuple(merged([p.axes[k] for p in mine]) for k in range(len(shape)))
    return Cut(program.name, arguments, results, stored, tuple(pairs))


def sizes(v: Value) -> tuple[Dim, ...]:
    return v.type.shape if isinstance(v.type, ShapedType) else ()


def without_places(program: Program, state: State, shape: Sequence[Dim]) -> tuple[State, frozenset[Sym]]:
    """A state without what is read of places, and the lengths of the axes along which elements depend on theirs."""
    margins, placed = list(state.margins), set[Sym]()
    numbers = {n: size for size, (_, n) in program.flow.counting.items()}
    for n, size in numbers.items():
        for reach in state.reaches.get(n, ()):
            if reach.whole is not None:
                margins = [replace(m, whole=m.whole or reach.whole) if symbols(d) & symbols(size) else m
                           for m, d in zip(margins, shape)]  # fmt: skip
            elif reach.near or reach.reduced:
                placed |= symbols(size)
    reaches = {n: axes for n, axes in state.reaches.items() if n not in numbers}
    return State(reaches, tuple(margins)), frozenset(placed)


def reason_of(size: Dim, reasons: Mapping[Sym, Why]) -> Why | None:
    """Why axes of a size are not cut, whatever is read of them."""
    return next((reasons[s] for s in symbols(size) if s in reasons), None)


def with_reason(reach: Reach, size: Dim, reasons: Mapping[Sym, Why]) -> Reach:
    """A reach into an axis of a size that is not cut."""
    return replace(reach, whole=reach.whole or reason_of(size, reasons)) if not reach.is_nothing else reach


def told_places(axis: AxisCut, reach: Reach, placed: frozenset[Sym]) -> AxisCut:
    """What is said of an axis that is read, with whether it is by place."""
    return replace(axis, by_place=axis.kind != "whole" and not reach.is_nothing and bool(placed))


def margins_of(state: State, reaches: Sequence[Reach]) -> list[Margin]:
    """For each axis of an argument, the margin of the output's axis along which it lies."""
    return [state.margins[r.near[0].axis] if r.near and state.margins else Margin() for r in reaches]


def begin_of(program: Program, state: State, shape: Sequence[Dim], axis: int) -> int:
    """The place of its arguments at which the first element of an output's axis lies: a result that is shorter than
    they are (a stencil without its border) lies in the middle of what it reads."""
    size = shape[axis]
    lows: list[int] = []
    highs: list[int] = []
    shorter = 0
    for n, reaches in state.reaches.items():
        for k, r in enumerate(reaches):
            if not r.near or r.near[0].axis != axis or n >= len(program.func.args):
                continue
            found = hull(r.near)
            of = sizes(program.func.args[n])
            d = sub(of[k], size) if k < len(of) else 0
            if not found or isinstance(found, Why) or not isinstance(d, int):
                return 0
            if not isinstance(found.low, int) or not isinstance(found.high, int):
                return 0
            lows.append(found.low)
            highs.append(found.high)
            shorter = max(shorter, d)
    if not lows or shorter <= 0:
        return 0
    return min(max((min(lows) + max(highs)) // 2, 0), shorter)


def axis_cut(reach: Reach, margin: Margin, begins: Sequence[int]) -> AxisCut:
    """One axis of an argument, as one output reads it."""
    if reach.whole is not None:
        return AxisCut("whole", line=reach.whole.loc.line, access=reach.whole.text)
    near = hull(reach.near)
    if isinstance(near, Why):
        return AxisCut("whole", line=near.loc.line, access=near.text)
    if reach.at is not None:
        reason = reach.at_why or Why("it is read at one place")
        return AxisCut("whole", line=reason.loc.line, access=reason.text)
    if near is not None and margin.whole is not None:
        return AxisCut("whole", line=margin.whole.loc.line, access=margin.whole.text)
    if near is not None and near.around and (margin.low != 0 or margin.high != 0):
        reason = margin.low_why or margin.high_why or near.low_why
        return AxisCut("whole", line=reason.loc.line, access=f"{reason.text}, and it is read around the end")
    if reach.reduced:
        by, reason = " and ".join(dict.fromkeys(o for o, _ in reach.reduced)), reach.reduced[0][1]
        return AxisCut("reduced", by=by, line=reason.loc.line, access=reason.text)
    if near is None:
        return AxisCut("independent", access="not read")
    begin = begins[near.axis]
    low, high = dim_or_0(sub(begin, near.low)), dim_or_0(sub(near.high, begin))
    kind: Kind = "independent" if low == 0 and high == 0 else "halo"
    reason = near.low_why if low != 0 else near.high_why
    ends = shown(margin.low), shown(margin.high)
    return AxisCut(kind, shown(low), shown(high), "", near.around, ends, reason.loc.line, reason.text, (low, high))


def dim_or_0(d: Dim) -> Dim:
    """How far is read; formulas of how often a loop runs that begin below zero (`n - 1`) end there."""
    return max(d, 0) if isinstance(d, int) else dim_max(d, 0) if constant_part(d) < 0 else d


def shown(d: Dim) -> int | str:
    return d if isinstance(d, int) else to_python(d, lambda s: s.name)


def output_axis(
    program: Program, state: State, shape: Sequence[Dim], axis: int, pairs: Sequence[Pair], name: str
) -> AxisCut:
    """One axis of an output: cut as long as no argument's axis along it, or of its length, is whole."""
    margin = state.margins[axis] if state.margins else Margin()
    if margin.whole is not None:
        return AxisCut("whole", line=margin.whole.loc.line, access=margin.whole.text)
    ends = shown(margin.low), shown(margin.high)
    whole: AxisCut | None = None
    for n, reaches in state.reaches.items():
        mine = next((p for p in pairs if p.output == name and p.argument == name_of(program, n)), None)
        for k, r in enumerate(reaches if mine is not None else ()):
            assert mine is not None
            lies = any(x.axis == axis for x in r.near)
            if mine.axes[k].kind == "whole":
                if lies:
                    return mine.axes[k]
                if symbols(shape[axis]) & symbols(sizes(program.func.args[n])[k]):
                    whole = mine.axes[k]  # parts of the one are none of the other
    return whole or AxisCut("independent", margin=ends, access="")


def name_of(program: Program, n: int) -> str:
    names = program.names
    return names[n] if n < len(names) else ""


ORDER: tuple[Kind, ...] = ("independent", "halo", "reduced", "whole")


def merged(cuts: Sequence[AxisCut]) -> AxisCut:
    """What holds of an argument's axis for all outputs."""
    read = [c for c in cuts if c.access != "not read"]
    if not read:
        return AxisCut("independent", access="not read")
    worst = max(read, key=lambda c: ORDER.index(c.kind))
    near = [c for c in read if c.kind in ("independent", "halo")]
    if worst.kind == "whole":
        return worst
    low, high = (dim_or_0(widest([c.bounds[end] for c in near or read])) for end in (0, 1))
    first = max(near or read, key=lambda c: (c.bounds[0] == low) + (c.bounds[1] == high))
    decides = worst if worst.kind == "reduced" else first
    around = any(c.around for c in near)
    ends = shown(low), shown(high)
    by = " and ".join(dict.fromkeys(o for c in read for o in c.by.split(" and ") if o))
    placed = any(c.by_place for c in read)
    return AxisCut(worst.kind, *ends, by, around, first.margin, decides.line, decides.access, (low, high), placed)


def widest(found: Sequence[Dim]) -> Dim:
    """The greatest of numbers and formulas of integer arguments."""
    most = found[0]
    for d in found[1:]:
        most = most if (new := greater(most, d)) is None else new
    return most
