"""Chunks and their windows: which places of each array a chunk of a stage is, and which it needs.

Axes whose size is one symbol, but for a constant, are cut together: `n` places in chunks, `c0` to `c1`. An array of
size `n + d` along such an axis lies at `begin`: its place `p` is at `p + begin`. A window is a chunk with its halo,
from `w0` to `w1`; of each array it has the places `w0` to `w1 + d`, so that sizes differ within a window as they do
outside, and the program of a stage, which is written for `n`, runs on `w1 - w0`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field

from tracebuf.dask.flow import Flow, shape_of
from tracebuf.dask.program import Program
from tracebuf.dask.reach import Margin, Reach, State, Why, hull, join_margin, join_reaches, margins_through, through
from tracebuf.dask.rules import iteration_of
from tracebuf.dask.split import Stage, Uncut, delta_of, is_cheap, symbol_of
from tracebuf.frozen import cached_property, frozen, plain
from tracebuf.ir.core import Op, Value
from tracebuf.ir.dims import Dim, Sym, sub, symbols
from tracebuf.location import UNKNOWN
from tracebuf.ops.arrays import tensor
from tracebuf.ops.control import scf

Begins = dict[Value, tuple[int, ...]]


@frozen(slots=False)
class Halo:
    """What a window needs beside its chunk, and whether it is counted around the end."""

    low: int = 0
    high: int = 0
    around: bool = False


@plain()
class Needs:
    """What a stage needs: for each symbol the halo of its windows; where its outputs, and the iterations of its folds,
    begin."""

    halos: dict[Sym, Halo] = field(default_factory=dict)
    begins: Begins = field(default_factory=dict)
    folds: dict[tuple[Op, int], tuple[int, int]] = field(default_factory=dict)
    """Of each fold and loop: where its places begin, and by how much there are more than the symbol says."""


@frozen(slots=False)
class Target:
    """What a stage computes: the state of a value, or of a fold's iterations, its sizes, and where it is to begin."""

    state: State
    shape: tuple[Dim, ...]
    value: Value | None = None
    op: Op | None = None


@frozen(slots=False)
class Piece:
    """The reach into an input, which begins at `begin` and is by `delta` longer than its symbol says."""

    low: int
    high: int
    begin: int
    delta: int
    around: bool


def needs_of(program: Program, stage: Stage, cut: frozenset[Sym], begins: Begins, count: int | None = None) -> Needs:
    """The analysis of one stage by itself; `count`: how many iterations of its loop. Raises Uncut for axes along which
    it cannot be cut."""
    flow = Flow(program.func, stage.inputs, cut=cut)
    flow.sizes = {v: d for v, d in program.flow.sizes.items() if all(s.kind != "iv" for s in symbols(d))}
    if stage.loop is not None and count is not None:
        flow.counts[stage.loop] = count
    mine = set(stage.ops)
    for op in program.func.block.ops:
        if op in mine or is_cheap(op, program.flow):
            flow.step(op)
    check_constants(flow, stage, cut)
    targets = [Target(flow.state(v), shape_of(v), v) for v in stage.outputs]
    folded = {f.op for f in stage.folds}
    targets = [t for t in targets if t.value is None or t.value.defining_op not in folded]
    targets += [folds_target(flow, op) for op in folded]
    targets += [Target(flow.state(r), shape_of(r), r) for op in folded for r in op.results if shape_of(r)]
    found = Needs()
    shapes = {n: shape_of(v) for n, v in enumerate(stage.inputs)} | {n: (d,) for d, (_, n) in flow.counting.items()}
    for t in targets:
        one_target(found, t, stage, cut, begins, shapes)
    for s, halo in found.halos.items():
        if halo.around:
            check_around(s, targets, stage)
            if any(s in symbols(d) and d != s.expr for d in flow.counting):
                raise Uncut({s}, UNKNOWN, "the value depends on the place, and it is read around the end")
    return found


def check_constants(flow: Flow, stage: Stage, cut: frozenset[Sym]) -> None:
    """Uncut where something is taken out of an array that no argument says anything of (`np.cumsum(np.ones(n))[-1]`):
    that of a chunk is another one."""
    folded = {f.op for f in stage.folds}
    for outer in stage.ops:
        for op in (outer, *outer.walk()) if outer not in folded else ():
            for v in () if isinstance(op, (scf.For, scf.If, tensor.Dim)) or not op.results else op.operands:
                taken = set[Sym]().union(*(symbols(n) for n in shape_of(v))) & cut
                left = [n for r in op.results for n in shape_of(r)]
                lost = taken - {symbol_of(n) for n in left}
                if lost and v in flow.states and not flow.state(v).reaches and not is_alike(op, flow.state(v)):
                    odd = next((n for n in [*left, *shape_of(v)] if symbols(n) & lost and symbol_of(n) is None), None)
                    other = f"an array of {odd} places: only lengths that differ by a number alone are cut alike"
                    text = "a part of an array that the function makes itself" if odd is None else other
                    raise Uncut(lost, op.loc, text)


def is_alike(op: Op, state: State) -> bool:
    """Whether what is taken out of an array of the function's own is what a chunk takes: a part of one whose borders
    alone are other than the rest."""
    return isinstance(op, (tensor.ExtractSlice, tensor.Extract)) and all(m.whole is None for m in state.margins)


def folds_target(flow: Flow, op: Op) -> Target:
    """The iterations of a reduction as if they were a value."""
    reads, shape = iteration_of(op, flow)
    reaches: Mapping[int, tuple[Reach, ...]] = {}
    margins = list(reads.margins)
    for k, outer in reads.of:
        operand = op.operand(k) if isinstance(k, int) else k
        inner = flow.state(operand)
        reaches = join_reaches(reaches, through(outer, inner.reaches))
        more = margins_through(outer, inner.margins, shape, shape_of(operand))
        margins = [join_margin(a, b) for a, b in zip(margins, more)]
    return Target(State(reaches, tuple(margins)), shape, None, op)


def one_target(
    found: Needs, t: Target, stage: Stage, cut: frozenset[Sym], begins: Begins, shapes: Mapping[int, tuple[Dim, ...]]
) -> None:
    """Adds what one thing that a stage computes needs; `shapes`: of what it may read, by number."""
    state, places = t.state, []
    folded = t.op is None and t.value is not None and t.value.defining_op in {f.op for f in stage.folds}
    pieces: dict[int, list[Piece]] = {k: [] for k in range(len(t.shape))}
    for n, reaches in state.reaches.items():
        if n not in shapes:
            continue
        v = stage.inputs[n] if n < len(stage.inputs) else None
        for k, (reach, size) in enumerate(zip(reaches, shapes[n])):
            s = symbol_of(size)
            if s not in cut:
                if syms := set(symbols(size) & cut):
                    raise Uncut(syms, UNKNOWN, "a size is no symbol and a constant")
                check_places(reach, size, t, cut)
                continue
            assert s is not None
            here = (begins.get(v) or (0,) * len(reaches))[k] if v is not None else 0
            if reach.whole is not None:
                raise Uncut({s}, reach.whole.loc, reach.whole.text)
            if reach.at is not None and not folded:
                because = reach.at_why or Why("it is read at one place")
                raise Uncut({s}, because.loc, because.text)
            if reach.reduced and not folded:
                because = reach.reduced[0][1]
                raise Uncut({s}, because.loc, f"{because.text}: of a part, or in a loop or branch")
            near = hull(reach.near)
            if isinstance(near, Why):
                raise Uncut({s}, near.loc, near.text)
            if near is None:
                continue
            if symbol_of(t.shape[near.axis]) is not s:
                raise Uncut({s}, near.low_why.loc, f"{near.low_why.text}: along an axis of another size")
            if not isinstance(near.low, int) or not isinstance(near.high, int):
                raise Uncut({s}, near.low_why.loc, f"{near.low_why.text}: how far away it is hangs on an argument")
            pieces[near.axis].append(Piece(near.low, near.high, here, delta_of(size), near.around))
    for axis, size in enumerate(t.shape):
        margin = state.margins[axis] if state.margins else Margin()
        if (s := symbol_of(size)) not in cut:
            if syms := set(symbols(size) & cut):
                raise Uncut(syms, UNKNOWN, "a size is no symbol and a constant")
            places.append(0)
            continue
        assert s is not None
        if margin.whole is not None:
            raise Uncut({s}, margin.whole.loc, margin.whole.text)
        if not isinstance(margin.low, int) or not isinstance(margin.high, int):
            raise Uncut({s}, UNKNOWN, "its border hangs on an argument")
        delta = delta_of(size)
        mine = pieces[axis]
        begin = (min(p.low + p.begin for p in mine) + max(p.high + p.begin for p in mine)) // 2 if mine else 0
        begin = min(max(begin, min(0, -delta)), max(0, -delta))
        if stage.loop is not None and t.value is not None:
            init = stage.loop.inits[t.value.index].value
            begin = (begins.get(init) or (0,) * len(t.shape))[axis]
        places.append(begin)
        if t.op is not None:
            found.folds[t.op, axis] = (begin, delta)
        low, high = margin.low + begin if margin.low else 0, margin.high - delta - begin if margin.high else 0
        around = False
        for p in mine:
            low, high = max(low, begin - p.low), max(high, p.high - begin - p.delta)
            around = around or p.around
        low, high = max(low, begin, 0), max(high, -delta - begin, 0)  # its own places are in the window
        old = found.halos.get(s, Halo())
        found.halos[s] = Halo(max(old.low, low), max(old.high, high), old.around or around)
    if t.value is not None:
        found.begins[t.value] = tuple(places)


def check_places(reach: Reach, size: Dim, t: Target, cut: frozenset[Sym]) -> None:
    """Uncut where an axis that is not cut is read place by place along one that is: a chunk does not know where in the
    array its places are. What has few places and is stored to as many at a border is in each window's own."""
    if isinstance(size, int) and all(isinstance(sub(n.end, n.begin), int) for n in reach.near):
        return
    near = hull(reach.near)
    if near is None or isinstance(near, Why) or reach.whole is not None:
        return
    if (along := symbol_of(t.shape[near.axis])) in cut and along is not None:
        raise Uncut({along}, near.low_why.loc, f"{near.low_why.text}: along an axis of another size")


def check_around(s: Sym, targets: Sequence[Target], stage: Stage) -> None:
    """Uncut where something of a stage that counts around the end has a border of its own, or another size."""
    for t in targets:
        for axis, size in enumerate(t.shape):
            if symbol_of(size) is s:
                margin = t.state.margins[axis]
                if margin.low != 0 or margin.high != 0 or delta_of(size) != 0:
                    why = margin.low_why or margin.high_why or Why("a part")
                    raise Uncut({s}, why.loc, f"{why.text}, and it is read around the end")
    for v in stage.inputs:
        for size in shape_of(v):
            if symbol_of(size) is s and delta_of(size) != 0:
                raise Uncut({s}, UNKNOWN, "parts of what is read around the end")


# -- windows


@frozen(slots=False)
class Grid:
    """The chunks of one symbol: `n` places, in chunks that end at `ends`."""

    n: int
    ends: tuple[int, ...]

    @cached_property
    def chunks(self) -> tuple[tuple[int, int], ...]:
        """Where each chunk begins and ends."""
        return tuple(zip((0, *self.ends[:-1]), self.ends))

    def own(self, k: int, begin: int, delta: int) -> tuple[int, int]:
        """The places of an array of size n + delta that chunk `k` has."""
        c0, c1 = self.chunks[k]
        return 0 if k == 0 else c0 - begin, self.n + delta if k == len(self.ends) - 1 else c1 - begin

    def window(self, k: int, halo: Halo) -> tuple[int, int]:
        """Where the window of chunk `k` begins and ends; around the end it does so outside."""
        c0, c1 = self.chunks[k]
        w0, w1 = c0 - halo.low, c1 + halo.high
        if halo.around and len(self.ends) > 1:
            return w0, w1
        return max(w0, 0), min(w1, self.n)
