"""A chunk's work in tiles: parts that stay in the cache while all iterations of a stage run on them.

A window of some megabytes goes through memory once with each iteration, and has to be put together first. A tile is a
window of a part of the chunk, along one axis; it is put together out of the chunk itself and the rims of its
neighbours, so that no window of the whole chunk is ever made, and what it gives is stored into the chunk's output.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from tracebuf.dask import worker
from tracebuf.dask.flow import shape_of
from tracebuf.dask.grid import Grid, Halo, Needs
from tracebuf.dask.memory import stage_bytes
from tracebuf.dask.program import Program
from tracebuf.dask.split import Stage, Text, delta_of, symbol_of
from tracebuf.frozen import frozen
from tracebuf.ir.core import Value
from tracebuf.ir.dims import Sym

BYTES = 4 << 20
"""What a tile's arrays take: a part of a cache that all cores of a machine share, or some times one core's own."""
WASTE = 6
"""A tile is at least so many times as long as its halo is wide: what it computes beside its own is lost."""
LEAST = 16


class Graph(Protocol):
    """What of the graph that is built tiles are laid out by."""

    program: Program
    grids: Mapping[Sym, Grid]
    env: Mapping[Sym, int]

    def symbols_of(self, v: Value) -> list[Sym | None]:
        """Of each axis the symbol, where it is cut."""
        ...

    def trim(
        self, stage: Stage, v: Value, needs: Needs, windows: Mapping[Sym, tuple[int, int]], at: Mapping[Sym, int]
    ) -> worker.Bounds | None:
        """What of a stage's output is the chunk's own."""
        ...

    def numbers(
        self, text: Text, stage: Stage, needs: Needs, windows: Mapping[Sym, tuple[int, int]], at: Mapping[Sym, int],
        grids: Mapping[Sym, Grid],
    ) -> tuple[int, ...]:  # fmt: skip
        """The indices that a stage is passed for a window, of a chunk of these grids."""
        ...


@frozen(slots=False)
class Plan:
    """The tiles of a stage: along which symbol, and where all of them end."""

    sym: Sym
    grid: Grid


def plan_of(graph: Graph, stage: Stage, halos: Mapping[Sym, Halo], owned: frozenset[int]) -> Plan | None:
    """How a stage is tiled; None where its windows are blocks as they are, or small, or where what it gives is not in
    parts along any symbol that is cut."""
    if not owned:
        return None
    largest = max(stage.inputs, key=lambda v: len(shape_of(v)))
    order = [s for s in graph.symbols_of(largest) if s is not None]
    for s in [*order, *(s for s in halos if s not in order)]:
        if in_parts(graph, stage, s) and not (halos[s].around and len(graph.grids[s].ends) == 1):
            if (grid := tiled(graph, stage, halos, s)) is not None:
                return Plan(s, grid)
    return None


def in_parts(graph: Graph, stage: Stage, s: Sym) -> bool:
    """Whether each output is in parts along a symbol, or combined from parts."""
    over = {f.op.results[f.number]: [x for _, x in f.loops] for f in stage.folds}
    return all(s in graph.symbols_of(v) or s in over.get(v, ()) for v in stage.outputs)


def tiled(graph: Graph, stage: Stage, halos: Mapping[Sym, Halo], s: Sym) -> Grid | None:
    """The ends of all tiles along a symbol; None where chunks are hardly larger than tiles."""
    grid = graph.grids[s]
    local = dict(graph.env)
    for x, h in halos.items():
        local[x] = max(b - a for a, b in graph.grids[x].chunks) + h.low + h.high
    width = halos[s].low + halos[s].high
    each = (stage_bytes(stage, {**local, s: 2 * local[s]}) - stage_bytes(stage, local)) // local[s]
    rows = max(BYTES // max(each, 1) - width, WASTE * width, LEAST)
    if rows * each > 4 * BYTES:
        return None
    ends: list[int] = []
    for a, b in grid.chunks:
        count = -(-(b - a) // rows) if b - a > 1.5 * rows else 1
        ends += [a + (b - a) * (k + 1) // count for k in range(count)]
    if len(ends) == len(grid.ends):
        return None
    found = Grid(grid.n, tuple(ends))
    sizes = {w1 - w0 for w0, w1 in (found.window(k, halos[s]) for k in range(len(ends)))}
    return found if all(graph.program.fits(graph.env, s, size) for size in sizes) else None


def tiling_of(
    graph: Graph, plan: Plan, stage: Stage, text: Text, needs: Needs, halos: Mapping[Sym, Halo],
    windows: Mapping[Sym, tuple[int, int]], at: Mapping[Sym, int], bounds: tuple[int, ...], owned: frozenset[int],
) -> worker.Tiling | None:  # fmt: skip
    """The tiles of one chunk."""
    s, fine = plan.sym, plan.grid
    c0, c1 = graph.grids[s].chunks[at[s]]
    numbers = [k for k, (a, b) in enumerate(fine.chunks) if c0 <= a and b <= c1]
    if len(numbers) == 1:
        return None
    axes = [axis_of(v, s) for v in stage.inputs]
    whole = [graph.trim(stage, v, needs, windows, at) for v in stage.outputs]
    ways: list[tuple[int, int] | str] = []
    own: list[tuple[int, int, int] | None] = []
    """Of each output in parts where it begins, by how much it is longer, and where its part of the chunk begins."""
    ufuncs = {f.op.results[f.number]: f.ufunc for f in stage.folds}
    for v, trim in zip(stage.outputs, whole):
        axis = axis_of(v, s)
        if axis is None:
            ways.append(ufuncs[v])
            own.append(None)
        elif trim is None:
            return None
        else:
            place, delta = axis
            ways.append((place, trim[place][1] - trim[place][0]))
            begin = needs.begins.get(v, (0,) * len(shape_of(v)))[place]
            own.append((begin, delta, windows[s][0] + trim[place][0]))
    tiles = []
    grids, low = {**graph.grids, s: fine}, windows[s][0]
    args: dict[int, tuple[int, ...]] = {}
    for k in numbers:
        w0, w1 = fine.window(k, halos[s])
        parts: list[tuple[int, int, int] | None] = []
        for one in own:
            if one is None:
                parts.append(None)
                continue
            a, b = fine.own(k, *one[:2])
            parts.append((a - w0, b - w0, a - one[2]))
        if text.trims or text.places or w1 - w0 not in args:  # else they depend on sizes alone
            args[w1 - w0] = graph.numbers(text, stage, needs, {**windows, s: (w0, w1)}, {**at, s: k}, grids) + bounds
        tiles.append(worker.Tile(w0 - low, w1 - low, args[w1 - w0], tuple(parts)))
    mine = tuple(k in owned for k in range(len(stage.inputs)))
    return worker.Tiling(tuple(axes), mine, tuple(ways), tuple(tiles))


def axis_of(v: Value, s: Sym) -> tuple[int, int] | None:
    """The axis of a value along a symbol, and by how much it is longer than that says."""
    for axis, size in enumerate(shape_of(v)):
        if symbol_of(size) is s:
            return axis, delta_of(size)
    return None
