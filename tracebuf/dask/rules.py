"""What one op reads: for each result, of each operand, the reach into each axis, and margins of the op's own.

An op that has no rule here reads all of its operands (`whole`), with its line: right before clever.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from tracebuf.dask.reach import Margin, Near, Reach, Why, whole_of
from tracebuf.frozen import frozen
from tracebuf.ir.core import Block, Mixed, Op, Use, Value
from tracebuf.ir.dims import Dim, add, neg, sub
from tracebuf.ir.slices import Slice
from tracebuf.ir.types import ShapedType
from tracebuf.ops.arrays import bufferization, linalg, tensor, windows
from tracebuf.ops.arrays.gather import Element
from tracebuf.ops.arrays.host import HostCall
from tracebuf.ops.arrays.recast import Recast
from tracebuf.ops.arrays.scatter import Scatter
from tracebuf.ops.control.structure import Index, Spec
from tracebuf.ops.scalars import arith, complex
from tracebuf.running.host import CoreLoop, ExtremeLoop, MedianLoop, QuantileLoop, SortLoop

NAMES: dict[type[Op], str] = {
    arith.AddF: "add", arith.AddI: "add", complex.Add: "add", arith.MulI: "multiply", arith.MulF: "multiply",
    complex.Mul: "multiply", arith.AndI: "bitwise_and", arith.OrI: "bitwise_or", arith.XorI: "bitwise_xor",
    arith.MaxSI: "maximum", arith.MaxUI: "maximum", arith.MaximumF: "maximum", arith.MinSI: "minimum",
    arith.MinUI: "minimum", arith.MinimumF: "minimum", arith.MaxNumF: "fmax", arith.MinNumF: "fmin",
}  # fmt: skip
"""The ufunc that combines parts of a reduction by an op."""


FEW = 16
"""Up to how many places at fixed ends of an axis are told apart."""


@frozen(slots=False)
class Reads:
    """One result: of each operand (by number) or other value that is read, the reaches into its axes, of scalars none;
    the margins; `stored`: the places of the axes at which a store to a fixed number of places puts what it stores."""

    of: tuple[tuple[int | Value, tuple[Reach, ...]], ...]
    margins: tuple[Margin, ...] = ()
    stored: tuple[tuple[int, int, Dim, int], ...] = ()
    """(operand, axis of the result, the first place, how many)."""


class Offsets(Protocol):
    """What an analysis knows of indices."""

    def __call__(self, value: Mixed) -> Dim | None:
        """The symbolic size that an index is, where it is one."""
        ...

    def ends(self, begin: Dim, end: Dim) -> tuple[Dim, Dim]:
        """Where the places from `begin` to `end` begin and end that all iterations of the loops around have."""
        ...

    def moves(self, source: Value, places: Sequence[Dim | None]) -> bool:
        """Whether a value, or whether it is stored, depends as a number on the counter of a loop that decides about
        these places."""
        ...

    def numbered(self, size: Dim) -> Value | None:
        """What stands for the places 0, 1... of an axis of a size, where chunks know theirs."""
        ...


def why(op: Op, text: str) -> Why:
    return Why(text, op.loc)


def near(axis: int, by: Dim, reason: Why, size: Dim, begin: Dim = 0, end: Dim | None = None) -> Reach:
    """Place `p` reads `p + by` along an axis of a size, for places from `begin` to `end`."""
    return Reach((Near(axis, by, by, begin, size if end is None else end, reason, reason),))


def reads_of(op: Op, offsets: Offsets) -> list[Reads]:
    """What each result of an op without control flow reads."""
    if isinstance(op, HostCall) and isinstance(op.loop, ROWS) and len(op.results) == 1:
        return by_row(op)
    if isinstance(op, HostCall) and isinstance(op.loop, CoreLoop):
        return by_core(op, op.loop)
    if isinstance(op, linalg.DestinationOp) and op.results:
        spec = op.spec([v.type for v in op.operands])
        if spec is not None and not isinstance(op, linalg.Generic) or isinstance(op, linalg.Generic):
            if spec is None or spec.scatters:
                return whole(op)
            return structured(op, spec, offsets)
        return whole(op)
    if isinstance(op, tensor.ExtractSlice):
        return extracted(op, offsets)
    if isinstance(op, tensor.InsertSlice) and op.results:
        if (turned := rolled(op, offsets)) is not None:
            return turned
        return inserted(op, op.slice, offsets)
    if isinstance(op, tensor.Extract):
        reaches = tuple(placed(op, offsets(v), k) for k, v in enumerate(op.operands[1:]))
        unknown = [(k, ()) for k, v in enumerate(op.operands) if k and offsets(v) is None]
        return [Reads(((0, reaches), *unknown))]
    if isinstance(op, tensor.Insert):
        rank = op.result.tensor_type.rank
        one = Slice(tuple(op.operands[2:]), (1,) * rank, (1,) * rank, ())
        return inserted(op, one, offsets)
    if isinstance(op, tensor.Cast):
        return [Reads(((0, same(op)),), (Margin(),) * op.result.tensor_type.rank)]
    if isinstance(op, Recast):
        rank = min(rank_of(op.source), rank_of(op.result))
        shared = [near(k, 0, why(op, "other elements"), op.result.tensor_type.shape[k]) for k in range(rank)]
        pair = [Reach(at=(0, 0), at_why=why(op, "real and imaginary parts"))] * (rank_of(op.source) - rank)
        return [Reads(((0, (*shared, *pair)),), (Margin(),) * rank_of(op.result))]
    if isinstance(op, tensor.Regrouping) and "groups" in op.attrs:
        return regrouped(op)
    if isinstance(op, windows.ExtractWindows):
        return windowed(op)
    if isinstance(op, bufferization.MaterializeInDestination) and op.results:
        return [Reads(((0, same(op)),), (Margin(),) * op.result.tensor_type.rank)]
    if isinstance(op, (tensor.Empty, tensor.Dim, tensor.Rank)):
        return [Reads((), (Margin(),) * rank_of(r)) for r in op.results]
    if isinstance(op, arith.ScalarOp) and not any(isinstance(v.type, ShapedType) for v in op.operands):
        return [Reads(tuple(scalars(op, 0)))]
    return whole(op)


ROWS = (SortLoop, MedianLoop, QuantileLoop, ExtremeLoop)


def by_row(op: HostCall) -> list[Reads]:
    """A sort, a median, quantiles, the place of an extreme: along the last axis, of each row by itself."""
    source, rank = sizes_of(op.operand(0)), rank_of(op.result)
    reason = why(op, f"{getattr(op.callee, 'name', op.callee)} takes whole rows")
    first = 1 if isinstance(op.loop, QuantileLoop) and op.loop.several else 0
    row = [near(d + first, 0, why(op, "row by row"), n) for d, n in enumerate(source[:-1])]
    margins = [Margin(whole=reason) if d == len(row) + first else Margin() for d in range(rank)]
    return [Reads(((0, (*row, whole_of(reason))),), tuple(margins))]


def by_core(op: HostCall, loop: CoreLoop) -> list[Reads]:
    """A generalised ufunc (np.linalg.solve, np.fft.fft): along the axes before those that its signature names, each
    matrix or row by itself."""
    reason = why(op, f"{getattr(op.callee, 'name', op.callee)} takes whole matrices and rows")
    found = []
    n_ins = len(op.uses) - len(op.results)
    for number, result in enumerate(op.results):
        rank = rank_of(result)
        outer = sizes_of(result)[: rank - len(loop.cores[n_ins + number])]
        of = []
        for k in range(n_ins):
            sizes, reaches = sizes_of(op.operand(k)), []
            before = len(sizes) - len(loop.cores[k])
            for d, n in enumerate(sizes):
                axis = len(outer) - before + d
                if d >= before:
                    reaches.append(whole_of(reason))
                elif n == 1 != outer[axis]:
                    reaches.append(Reach(at=(0, 0), at_why=why(op, f"axis {d} has one element")))
                else:
                    reaches.append(near(axis, 0, why(op, "one by one"), n))
            of.append((k, tuple(reaches)))
        margins = tuple(Margin() if d < len(outer) else Margin(whole=reason) for d in range(rank))
        found.append(Reads(tuple(of), margins))
    return found


def rank_of(v: Value) -> int:
    return v.type.rank if isinstance(v.type, ShapedType) else 0


def sizes_of(v: Value) -> tuple[Dim, ...]:
    return v.type.shape if isinstance(v.type, ShapedType) else ()


def scalars(op: Op, first: int) -> list[tuple[int, tuple[Reach, ...]]]:
    return [(k, ()) for k in range(first, len(op.uses))]


def same(op: Op) -> tuple[Reach, ...]:
    return tuple(near(k, 0, why(op, "element by element"), n) for k, n in enumerate(sizes_of(op.operand(0))))


def whole(op: Op) -> list[Reads]:
    """All of each operand is read, and places of the result are not alike."""
    reason = why(op, described(op))
    of = tuple((u.index, (whole_of(reason),) * rank_of(u.value)) for u in op.uses)
    return [Reads(of, (Margin(whole=reason),) * rank_of(r)) for r in op.results]


def described(op: Op) -> str:
    """What an op is to a user, who takes whole arrays by it."""
    if isinstance(op, Scatter):
        return "what indices or a mask select takes whole arrays"
    callee = op.attrs.get("callee", "")
    return f"{callee or op.name} takes whole arrays"


def placed(op: Op, place: Dim | None, axis: int) -> Reach:
    if place is None:
        return whole_of(why(op, f"axis {axis} is read at an index that the data decide"))
    return Reach(at=(place, place), at_why=why(op, f"axis {axis} is read at {place}"))


def counted(op: linalg.DestinationOp, spec: Spec, offsets: Offsets) -> dict[int, tuple[Value, Dim]]:
    """The loops whose index a body takes as a number alone, and what stands for the places along them, where chunks
    know theirs; their sizes."""
    found: dict[int, tuple[Value, Dim]] = {}
    sizes = op.loop_dims() if isinstance(op, linalg.Generic) and spec.indexed else ()
    for d, size in enumerate(sizes):
        reads = [o for o in spec.body.ops if isinstance(o, Index) and o.dim == d]
        if reads and all(isinstance(u.op, arith.IndexCast) for o in reads for u in o.result.uses):
            if (places := offsets.numbered(size)) is not None:
                found[d] = places, size
    return found


def fixed(op: linalg.DestinationOp, spec: Spec) -> set[int]:
    """The loops of a known number of iterations, whose index says nothing of where a chunk is."""
    sizes = op.loop_dims() if isinstance(op, linalg.Generic) and spec.indexed else ()
    return {d for d, size in enumerate(sizes) if isinstance(size, int)}


def structured(op: linalg.DestinationOp, spec: Spec, offsets: Offsets) -> list[Reads]:
    """An op that is loops: what the yielded value needs of each operand, by its map."""
    found = []
    known = counted(op, spec, offsets)
    for out in op.out_uses:
        out_map, out_sizes = spec.maps[out.index], sizes_of(out.value)
        axes = {d: k for k, d in enumerate(out_map.results) if d is not None}
        yielded = spec.body.terminator.operand(out.index - spec.n_ins)
        by, folded = combiner(op, spec, out.index)
        needed, indexed, elements = needs(spec.body, yielded)
        numbers = indexed & known.keys()
        indexed -= numbers | fixed(op, spec)
        loops = {
            d: Why(f"reduced by {by}", op.loc) if kind == "reduction" and d not in axes else None
            for d, kind in enumerate(spec.iterators)
        }
        of: list[tuple[int | Value, tuple[Reach, ...]]] = []
        for d in sorted(numbers):
            if d in axes:
                along = near(axes[d], 0, why(op, "the value depends on the place"), known[d][1])
            else:
                along = Reach(reduced=((by, loops[d] or why(op, by)),)) if folded else whole_of(why(op, "places"))
            of.append((known[d][0], (along,)))
        for use in op.uses:
            reaches = []
            if use.index not in needed and use.index != out.index:
                continue
            if use.index == out.index and use.index not in needed:
                continue
            map_ = spec.maps[use.index]
            for k in range(rank_of(use.value)):
                if map_.whole or use.index in elements:
                    reaches.append(whole_of(why(op, "elements are read at indices that the data decide")))
                    continue
                loop = map_.results[k]
                if loop is None:
                    reaches.append(Reach(at=(0, 0), at_why=why(op, f"axis {k} has one element")))
                elif loop in axes and spec.iterators[loop] == "parallel":
                    reaches.append(near(axes[loop], 0, why(op, "element by element"), out_sizes[axes[loop]]))
                elif loop in axes:
                    reaches.append(whole_of(why(op, "each element needs those before it")))
                elif folded:
                    reaches.append(Reach(reduced=((by, loops[loop] or why(op, by)),)))
                else:
                    reaches.append(whole_of(why(op, f"it is reduced over axis {k} by no operation that parts combine")))
            of.append((use.index, tuple(reaches)))
        margins = []
        for loop in out_map.results:
            if loop is not None and (loop in indexed or spec.iterators[loop] == "reduction"):
                text = "the value depends on the place" if loop in indexed else "each element needs those before it"
                margins.append(Margin(whole=why(op, text)))
            else:
                margins.append(Margin())
        if any(d not in axes for d in indexed):  # a reduction of places
            of = [(k, tuple(as_whole(r, why(op, "places are reduced")) for r in rs)) for k, rs in of]
        found.append(Reads(tuple(of), tuple(margins)))
    return found


def iteration_of(op: Op, offsets: Offsets) -> tuple[Reads, tuple[Dim, ...]]:
    """What the iterations of a structured op read of its inputs, as if each made an element: its loops are axes; and
    the sizes of these."""
    assert isinstance(op, linalg.DestinationOp)
    spec = op.spec([v.type for v in op.operands])
    assert spec is not None
    sizes: dict[int, Dim] = {}
    for use in op.uses:
        for d, size in zip(spec.maps[use.index].results, sizes_of(use.value)):
            if d is not None:
                sizes.setdefault(d, size)
    found: list[tuple[int | Value, tuple[Reach, ...]]] = []
    known = counted(op, spec, offsets)
    reason = why(op, "the value depends on the place")
    found += [(places, (near(d, 0, reason, size),)) for d, (places, size) in known.items()]
    for use in op.in_uses:
        map_, reaches = spec.maps[use.index], []
        for k, size in enumerate(sizes_of(use.value)):
            d = None if map_.whole else map_.results[k]
            if map_.whole:
                reaches.append(whole_of(why(op, "elements are read at indices that the data decide")))
            elif d is None:
                reaches.append(Reach(at=(0, 0), at_why=why(op, f"axis {k} has one element")))
            else:
                reaches.append(near(d, 0, why(op, "element by element"), size))
        found.append((use.index, tuple(reaches)))
    unknown = spec.indexed - known.keys() - fixed(op, spec)
    margins = tuple(Margin(whole=reason if d in unknown else None) for d in range(len(spec.iterators)))
    return Reads(tuple(found), margins), tuple(sizes[d] for d in range(len(spec.iterators)))


def as_whole(reach: Reach, reason: Why) -> Reach:
    return whole_of(reason) if reach.reduced else reach


def folding(op: linalg.Generic, out: Use) -> tuple[Op, Value] | None:
    """(the op that folds a new element into an out, the new element), where parts can be combined by it."""
    return op.combiner(out, (arith.MulF, complex.Mul))


def combiner(op: linalg.DestinationOp, spec: Spec, out: int) -> tuple[str, bool]:
    """(the ufunc that folds parts, whether parts may be folded by it) of an out."""
    if spec.all_parallel:
        return "", True
    if isinstance(op, linalg.Generic):
        found = folding(op, op.uses[out])
        name = NAMES.get(type(found[0])) if found is not None else None
        return name or "", name is not None and not spec.ordered
    return "add", isinstance(op, linalg.Contraction)


def needs(body: Block, value: Value) -> tuple[set[int], set[int], set[int]]:
    """The arguments of a body that a value is computed from, the loops whose index is read, and the arguments of which
    elements are read at indices."""
    args, indexed, elements, todo, seen = set[int](), set[int](), set[int](), [value], set[Value]()
    while todo:
        v = todo.pop()
        if v in seen:
            continue
        seen.add(v)
        op = v.defining_op
        if op is None:
            if v.owner is body:
                args.add(v.index)
            continue
        if isinstance(op, Index):
            indexed.add(op.dim)
        if isinstance(op, Element) or any(o.is_tensor for o in op.operands):
            elements |= {o.index for o in op.operands if o.owner is body and isinstance(o.type, ShapedType)}
        todo += op.operands
        for inner in op.walk():
            todo += inner.operands
            if isinstance(inner, Index):
                indexed.add(inner.dim)
    return args, indexed, elements


def extracted(op: tensor.ExtractSlice, offsets: Offsets) -> list[Reads]:
    s, base, view = op.slice, op.source.tensor_type, op.result.tensor_type
    reaches = []
    for d in range(base.rank):
        offset, step = offsets(s.offsets[d]), s.strides[d]
        if offset is None:
            reaches.append(whole_of(why(op, f"a slice of axis {d} begins where the data say")))
        elif d not in s.dims or step == 0:
            reaches.append(placed(op, offset, d))
        elif step != 1 and (places := few(s, d, view.shape, base.shape)):
            reason = why(op, f"a slice of axis {d} that begins at {offset}")
            k = s.dims.index(d)
            by = [(i, add(offset, place - i)) for i, place in enumerate(places)]
            reaches.append(Reach(tuple(Near(k, b, b, i, i + 1, reason, reason) for i, b in by)))
        elif step != 1:
            reaches.append(whole_of(why(op, f"a step of {step if isinstance(step, int) else 'the data'} on axis {d}")))
        else:
            k = s.dims.index(d)
            reaches.append(near(k, offset, why(op, f"a slice of axis {d} that begins at {offset}"), view.shape[k]))
    unknown = [(k, ()) for k, v in enumerate(op.operands) if k and offsets(v) is None]
    return [Reads(((0, tuple(reaches)), *unknown), (Margin(),) * view.rank)]


def few(s: Slice, d: int, shape: Sequence[Dim], of: Sequence[Dim]) -> range:
    """The places of an axis that a slice with a step has, from its first, where these are as many, and few, in
    whatever array; else none."""
    n, step = shape[s.dims.index(d)], s.strides[d]
    fixed = isinstance(n, int) and n <= FEW and isinstance(step, int) and not isinstance(of[d], int)
    return range(0, n * step, step) if fixed else range(0)  # type: ignore[operator, arg-type]


def inserted(op: Op, s: Slice, offsets: Offsets) -> list[Reads]:
    """A store to a slice, or to one place (`dims` is empty)."""
    source, dest = op.operand(0), op.operand(1).tensor_type
    places = [offsets(o) for o in s.offsets]
    lengths = [
        (source.tensor_type.shape[s.dims.index(d)] if d in s.dims else 1) for d in range(dest.rank)
    ]  # fmt: skip
    margins, covers = [], True
    for d in range(dest.rank):
        place, step = places[d], s.strides[d]
        if place is None or (step != 1 and lengths[d] != 1):
            text = f"a store to axis {d} at places that the data decide" if place is None else f"a store of step {step}"
            margins.append(Margin(whole=why(op, text)))
            covers = False
            continue
        begin, end = offsets.ends(place, add(place, lengths[d]))
        margins.append(border(op, begin, end, dest.shape[d], d))
        covers = covers and place == 0 and lengths[d] == dest.shape[d]
    reaches = []
    for axis in s.dims:
        if axis is None:
            reaches.append(Reach(at=(0, 0), at_why=why(op, "a new axis")))
        elif places[axis] is None:
            reaches.append(whole_of(why(op, f"a store to axis {axis} at a place that the data decide")))
        elif s.strides[axis] != 1 and lengths[axis] != 1:
            reaches.append(whole_of(why(op, f"a store of a step to axis {axis}")))
        else:
            place = places[axis]
            assert place is not None
            reason = why(op, f"a store that begins at {place} of axis {axis}")
            reaches.append(near(axis, neg(place), reason, dest.shape[axis], place, add(place, lengths[axis])))
    of: list[tuple[int, tuple[Reach, ...]]] = [(0, tuple(reaches))]
    if not covers:
        of.append((1, kept(op, dest.shape, places, lengths, s)))
    of += [(k, ()) for k in range(2, len(op.uses)) if offsets(op.operand(k)) is None]
    if offsets.moves(source, places):
        reason = why(op, "what is stored depends on the counter of the loop")
        margins = [Margin(whole=reason) for _ in margins]
    stored = tuple(
        (0, d, p, n) for d, (p, n) in enumerate(zip(places, lengths))
        if p is not None and isinstance(n, int) and 0 < n <= FEW and (n == 1 or s.strides[d] == 1)
    )  # fmt: skip
    return [Reads(tuple(of), tuple(margins), stored)]


def kept(
    op: Op, shape: Sequence[Dim], places: Sequence[Dim | None], lengths: Sequence[Dim], s: Slice
) -> tuple[Reach, ...]:
    """What a store leaves of its destination: where it leaves out parts of one axis alone, these."""
    reason = why(op, "what is not stored to")
    found = [near(k, 0, reason, n) for k, n in enumerate(shape)]
    parts = [d for d, n in enumerate(shape) if places[d] != 0 or lengths[d] != n]
    if len(parts) != 1 or (place := places[parts[0]]) is None or (s.strides[parts[0]] != 1 and lengths[parts[0]] != 1):
        return tuple(found)
    d = parts[0]
    pieces = []
    if place != 0:
        pieces.append(Near(d, 0, 0, 0, place, reason, reason))
    if (end := add(place, lengths[d])) != shape[d]:
        pieces.append(Near(d, 0, 0, end, shape[d], reason, reason))
    found[d] = Reach(tuple(pieces))
    return tuple(found)


def rolled(op: tensor.InsertSlice, offsets: Offsets) -> list[Reads] | None:
    """np.roll: stores that fill a new array with the parts of another one, two along each axis that is rolled, in
    exchanged order; places are counted around the end."""
    source, shape, pieces = None, op.result.tensor_type.shape, set[tuple[tuple[Dim, Dim, Dim], ...]]()
    store: Op | None = op
    while isinstance(store, tensor.InsertSlice):
        part = store.source.defining_op
        if not isinstance(part, tensor.ExtractSlice) or (source is not None and part.source is not source):
            return None
        source, piece = part.source, []
        for s in (store.slice, part.slice):
            if s.dims != tuple(range(len(shape))) or any(step != 1 for step in s.strides):
                return None
        for d in range(len(shape)):
            to, of = offsets(store.slice.offsets[d]), offsets(part.slice.offsets[d])
            if to is None or of is None:
                return None
            piece.append((to, add(to, part.result.tensor_type.shape[d]), sub(of, to)))
        if 0 not in part.result.tensor_type.shape:  # by no places
            pieces.add(tuple(piece))
        store = store.dest.defining_op
    if source is None or not isinstance(store, tensor.Empty) or source.tensor_type.shape != shape:
        return None
    shifts = [shift({p[d] for p in pieces}, n) for d, n in enumerate(shape)]
    if len(pieces) == 1 or len(pieces) != 2 ** sum(by != 0 for by in shifts) or None in shifts:
        return None
    by = [n for n in shifts if n is not None]
    reason = why(op, "rolled by " + " and ".join(f"{-n} along axis {d}" for d, n in enumerate(by) if n))
    reaches = tuple(
        Reach((Near(d, n, n, 0, size, reason, reason, True),)) if n else near(d, 0, reason, size)
        for d, (n, size) in enumerate(zip(by, shape))
    )
    return [Reads(((source, reaches),), (Margin(),) * len(shape))]


def shift(parts: set[tuple[Dim, Dim, Dim]], n: Dim) -> int | None:
    """How far behind are the places that are read along an axis of size `n`, by parts (begin, end, how far behind) that
    fill it: the whole axis, or two parts that are exchanged."""
    if parts == {(0, n, 0)}:
        return 0
    if len(parts) != 2:
        return None
    (a0, a1, a), (b0, b1, b) = parts
    covered = (a0, a1, b1) == (0, b0, n) or (b0, b1, a1) == (0, a0, n)
    by = a if isinstance(a, int) else b
    return by if covered and sub(a, b) in (n, neg(n)) and isinstance(by, int) else None


def border(op: Op, begin: Dim, end: Dim, size: Dim, axis: int) -> Margin:
    """The margin of a store to begin..end of an axis."""
    made = Margin()
    reason = why(op, f"a store to {begin} : {end} of axis {axis}")
    low: Dim = 0
    high: Dim = 0
    for at in (begin, end):
        if at in (0, size):
            continue
        if isinstance(at, int):
            low = max(low, at) if isinstance(low, int) else low
        elif isinstance(rest := sub(size, at), int):
            high = max(high, rest) if isinstance(high, int) else high
        else:
            return Margin(whole=reason)
    if low != 0 or high != 0:
        made = Margin(low, high, reason, reason)
    return made


def regrouped(op: tensor.Regrouping) -> list[Reads]:
    """Axes of one element are dropped or added; others that are joined or split are read as a whole."""
    before, after = op.source.tensor_type, op.result.tensor_type
    few, many = (after, before) if before.rank >= after.rank else (before, after)
    pairs: dict[int, int | None] = {}
    margins = [Margin()] * after.rank
    reason = why(op, "axes are joined or split")
    for k, group in enumerate(op.attrs["groups"]):
        long = [a for a in group if many.shape[a] != 1]
        if len(long) <= 1:
            a = long[0] if long else group[0]
            pairs.update({(a if before is many else k): (k if before is many else a)})
        elif before is many:
            margins[k] = Margin(whole=reason)
        else:
            for a in long:
                margins[a] = Margin(whole=reason)
    del few
    reaches = []
    for d in range(before.rank):
        if d in pairs:
            reaches.append(near(pairs[d] or 0, 0, why(op, "a new shape"), after.shape[pairs[d] or 0]))
        elif before.shape[d] == 1:
            reaches.append(Reach(at=(0, 0), at_why=why(op, f"axis {d} has one element")))
        else:
            reaches.append(whole_of(reason))
    return [Reads(((0, tuple(reaches)), *scalars(op, 1)), tuple(margins))]


def windowed(op: windows.ExtractWindows) -> list[Reads]:
    """sliding_window_view: along the axis the places that its windows hold."""
    axis, result = op.attrs["axis"], op.result.tensor_type
    width = result.shape[-1]
    reaches = list(same(op))
    reason = why(op, f"windows of {width} along axis {axis}")
    if isinstance(width, int):
        reaches[axis] = Reach((Near(axis, 0, width - 1, 0, result.shape[axis], reason, reason),))
    else:
        reaches[axis] = whole_of(reason)
    margins = [Margin()] * result.rank
    margins[-1] = Margin(whole=reason)
    return [Reads(((0, tuple(reaches)),), tuple(margins))]
