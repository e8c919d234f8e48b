"""Gathers and scatters: reads and stores at the indices in integer arrays: a[i], a[:, i, j], a[i] = v, np.take,
np.add.at.

A gather is one `linalg.generic` over the index arrays, with the whole source as an operand: it fuses with what computes
the index and with what uses the result. A scatter is one `tracebuf.scatter`, in NumPy's order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from tracebuf.frontends.numpy.arrays.indexing import check_number, drop_leading_ones
from tracebuf.frontends.numpy.functions.indices.index_arrays import Advanced
from tracebuf.frontends.numpy.numbers.bodies import Body
from tracebuf.frontends.numpy.numbers.generics import any_true, input_of
from tracebuf.frontends.numpy.numbers.operands import Operand, scalar_value, weak_type
from tracebuf.frontends.numpy.numbers.ufuncs import elementwise
from tracebuf.frontends.numpy.record.broadcasting import broadcast, require_same_or_one, shape_text
from tracebuf.frontends.numpy.record.conditions import negation
from tracebuf.frontends.numpy.record.recorder import Recorder
from tracebuf.frontends.numpy.record.scalar_checks import or_empty
from tracebuf.frontends.numpy.record.values import ArrayRef, NpScalar, PyInt
from tracebuf.ir.core import Block, Value
from tracebuf.ir.dims import Dim, sub
from tracebuf.ir.types import I1, I64, INDEX, UI64, scalar_type
from tracebuf.ops.arrays import gather, linalg, scatter, tensor
from tracebuf.ops.memory.indexing import whole_map
from tracebuf.ops.scalars import arith, division

Stored = tuple[Value, Value, Value, Sequence[Value]]
"""Whether to store (i1), whether to count the step (i1), the element, its indices."""
Combine = Callable[[Body, Value, Value], Value]
"""The element to store, from the old element and the new one."""
Bring = Callable[[Body, Value, Value, int], Value]
"""How an index (i64) is brought within an axis: (body, index, size, axis) -> index."""


def checked(body: Body, index: Value, size: Value, axis: int) -> Value:
    """The index, negative ones counted from the end; IndexError where it is out of bounds."""
    return body.add(gather.CheckedIndex.of(index, size, axis))


def from_end(body: Body, index: Value, size: Value, axis: int) -> Value:
    """The index, which has been checked; negative ones counted from the end."""
    n = body.add(arith.IndexCast.of(size, I64))
    negative = body.add(arith.CmpI.of("slt", index, body.constant(0, I64)))
    found = body.add(arith.Select.of(negative, body.add(arith.AddI.of(index, n)), index))
    return body.add(arith.IndexCast.of(found, INDEX))


def wrapped(body: Body, index: Value, size: Value, axis: int) -> Value:
    """The index modulo the size, as np.take with mode="wrap"."""
    n = body.add(arith.IndexCast.of(size, I64))
    rest = body.add(division.RemSI.of(index, n))
    negative = body.add(arith.CmpI.of("slt", rest, body.constant(0, I64)))
    rest = body.add(arith.Select.of(negative, body.add(arith.AddI.of(rest, n)), rest))
    return body.add(arith.IndexCast.of(rest, INDEX))


def clipped(body: Body, index: Value, size: Value, axis: int) -> Value:
    """The nearest index within bounds, as np.take with mode="clip"."""
    n = body.add(arith.IndexCast.of(size, I64))
    last = body.add(arith.SubI.of(n, body.constant(1, I64)))
    low = body.add(arith.MaxSI.of(body.add(arith.MinSI.of(index, last)), body.constant(0, I64)))
    return body.add(arith.IndexCast.of(low, INDEX))


class Loops:
    """The inputs and the body of an op that gathers or scatters, over loops of the sizes `shape`."""

    def __init__(self, r: Recorder, shape: Sequence[Dim]) -> None:
        self.r, self.shape = r, tuple(shape)
        self.block = Block()
        self.body = Body(self.block, r.loc)
        self.values: list[Value] = []
        self.maps: list[linalg.AffineMap] = []
        self._known: dict[object, Value] = {}

    def _input(self, value: Value, map_: linalg.AffineMap) -> Value:
        key = (value, map_)
        if key not in self._known:
            self.values.append(value)
            self.maps.append(map_)
            type_ = value.type if map_.whole else linalg.element_type(value.type)
            self._known[key] = self.block.add_arg(type_)
        return self._known[key]

    def read(self, operand: Operand, first: int, sizes: Sequence[Dim]) -> Value:
        """The element, at the current point, of an array that broadcasts to `sizes`, over the loops from `first` on."""
        element = operand.element if isinstance(operand, ArrayRef) else I64
        value, map_ = input_of(self.r, operand, element, tuple(sizes))
        results = tuple(None if d is None else d + first for d in map_.results)
        return self._input(value, linalg.AffineMap(len(self.shape), results))

    def along(self, ref: ArrayRef, loops: Sequence[int | None]) -> Value:
        """The element, at the current point, of an array whose axes are these loops (None: the array is not read, only
        its sizes matter)."""
        return self._input(self.r.read(ref), linalg.AffineMap(len(self.shape), tuple(loops)))

    def whole(self, ref: ArrayRef) -> Value:
        return self._input(self.r.read(ref), whole_map(len(self.shape)))

    def scalar(self, value: Value) -> Value:
        return self._input(value, linalg.AffineMap(len(self.shape), ()))

    def size(self, n: Dim) -> Value:
        n = self.r.facts.canon(n)
        return self.constant(n) if isinstance(n, int) else self.scalar(self.r.index(n))

    def constant(self, n: int) -> Value:
        key = ("constant", n)
        if key not in self._known:
            self._known[key] = self.body.constant(n, INDEX)
        return self._known[key]

    def loop(self, dim: int) -> Value:
        """The index of a loop, as data."""
        key = ("loop", dim)
        if key not in self._known:
            self._known[key] = self.body.add(linalg.Index.of(dim))
        return self._known[key]

    def generic(self, out: Value, result: Value) -> Value:
        """The linalg.generic that computes `result` at each point, into `out`."""
        self.block.add_arg(linalg.element_type(out.type))
        self.block.append(linalg.Yield.of([result], self.r.loc))
        n = len(self.shape)
        maps = [*self.maps, linalg.identity_map(n)]
        return self.r.emit(linalg.Generic.of(self.values, [out], maps, ["parallel"] * n, self.block))

    def scatter(self, dest: Value, store: Callable[[Value, Value], Stored]) -> Value:
        """The tracebuf.scatter into `dest`, of what `store` returns for the destination and the count of steps; all
        inputs have to be added before."""
        held, step = self.block.add_arg(dest.type), self.block.add_arg(INDEX)
        do, count, value, place = store(held, step)
        self.block.append(linalg.Yield.of([do, count, value, *place], self.r.loc))
        self.copy_first(dest, place)
        made = scatter.Scatter.into(self.values, dest, self.maps, self.block, self.r.loc, do is count and step in place)
        return self.r.emit(made)


    def copy_first(self, dest: Value, place: Sequence[Value]) -> None:
        """Copies the destination where it is an input too, once, as NumPy does: `np.add.at(a, a, a)`. Left to the
        analysis, the destination would be copied, and copied back. Not where each step stores to the element that it
        reads: `b[b] = v`, nor where it reads none, and the input only says how many steps there are."""
        held = [whole_of(self.r, v) for v in self.values]
        read = [v is whole_of(self.r, dest) and bool(arg.uses) for v, arg in zip(held, self.block.args)]
        inputs = [k for k, is_read in enumerate(read) if is_read]
        loops = [self._known.get(("loop", d)) for d in range(len(self.shape))]
        if not inputs or all(self.maps[k].is_identity for k in inputs) and list(place) == loops:
            return
        type_ = dest.tensor_type
        block, maps = Block([type_.element] * 2), [linalg.identity_map(type_.rank)] * 2
        block.append(linalg.Yield.of([block.args[0]], self.r.loc))
        out = self.r.empty(type_.element, type_.shape)
        copy = self.r.emit(linalg.Generic.of([dest], [out], maps, ["parallel"] * type_.rank, block))
        self.values = [copy if of is whole_of(self.r, dest) else v for of, v in zip(held, self.values)]


def whole_of(r: Recorder, value: Value) -> Value:
    """What a value is a slice of that leaves nothing out, by what is known of sizes now; else itself."""
    while isinstance(op := value.defining_op, tensor.ExtractSlice):
        of, is_ = (r.tensor_type(v.tensor_type.shape, v.tensor_type.element) for v in (op.source, value))
        if not op.slice.covers(of, is_):
            break
        value = op.source
    return value


def common_shape(r: Recorder, arrays: Sequence[ArrayRef]) -> tuple[Dim, ...]:
    """The broadcast shape of the index arrays; IndexError where there is none."""
    message = "shape mismatch: indexing arrays could not be broadcast together with shapes {} "
    return broadcast(r, [a.shape for a in arrays], "IndexError", message)


def indices_into_base(loops: Loops, at: Advanced, picked: Sequence[Dim], bring: Bring = checked) -> list[Value]:
    """The index along each axis of the base, at the current point of the loops."""
    axes, n = dict(zip(at.axes, at.arrays)), len(picked)
    found: list[Value] = []
    kept = iter([*range(at.place), *range(at.place + n, at.base.ndim - len(at.taken) + n)])
    for axis in range(at.base.ndim):
        if axis not in axes:
            found.append(loops.loop(next(kept)))
            continue
        size = loops.size(at.base.shape[axis])
        index = loops.body.cast(loops.read(axes[axis], at.place, picked), I64)
        if is_within(loops.r, axes[axis], at.base.shape[axis]):
            found.append(loops.body.add(arith.IndexCast.of(index, INDEX)))
        else:
            found.append(bring(loops.body, index, size, axis))
    return found


def is_within(r: Recorder, numbers: ArrayRef, size: Dim) -> bool:
    """Whether numbers are indices within an axis by their dtype: table[image] of uint8, of a table of 256."""
    dtype = numbers.dtype
    return dtype.kind == "u" and dtype.itemsize < 8 and bool(r.facts.nonneg(sub(size, 2 ** (8 * dtype.itemsize))))


def check_filled(r: Recorder, at: Advanced, picked: Sequence[Dim]) -> Bring:
    """Checks an index without loops over elements, unless there is none (`picked`: the sizes that say so); how the
    loops bring it within bounds.

    IndexError where there is an index but no element, and where a bad index picks only parts without elements: the
    loops do not test it there. Where a `try` catches it, the loops test nothing.
    """
    for axis in at.axes:
        size = at.base.shape[axis]
        if r.facts.nonneg(sub(size, 1)) or any(d == 0 for d in picked):
            continue
        ok = or_empty(r, r.compare("sge", size, 1), picked)
        r.check(ok, "IndexError", f"an index is out of bounds for axis {axis} with size 0")
    caught = r.landing_for("IndexError", None) is not None
    if caught or any(not r.facts.nonneg(sub(at.base.shape[a], 1)) for a in at.kept):
        for array, axis in zip(at.arrays, at.axes):
            check_bounds(r, array, at.base.shape[axis], axis, picked)
    return from_end if caught else checked


def check_bounds(r: Recorder, array: ArrayRef, size: Dim, axis: int, picked: Sequence[Dim]) -> None:
    """Checks indices before the loops: IndexError where one is out of bounds, unless there is none."""
    wraps = array.dtype == np.uint64  # 2**64 - 1 is the last one, as -1 is
    n = NpScalar(scalar_value(r, PyInt(size), UI64), UI64) if wraps else NpScalar(r.i64(size), I64)
    low = elementwise(r, np.less, [array, elementwise(r, np.negative, [n])])
    high = elementwise(r, np.greater_equal, [array, n])
    bad = elementwise(r, np.logical_and if wraps else np.logical_or, [low, high])
    found = any_true(r, bad) if isinstance(bad, ArrayRef) else scalar_value(r, bad, I1)
    ok = or_empty(r, negation(r, found), picked)
    r.check(ok, "IndexError", f"an index is out of bounds for axis {axis} with size {{}}", [r.index(size)])


def tell_sizes(loops: Loops, at: Advanced, picked: int) -> None:
    """Gives the loops over the axes that no index array takes their sizes, from the base, which is not read for it."""
    rest = iter([d for d in range(len(loops.shape)) if not at.place <= d < at.place + picked])
    if at.kept:
        loops.along(at.base, [None if a in at.taken else next(rest) for a in range(at.base.ndim)])


def gathered(
    r: Recorder, at: Advanced, bring: Bring = checked, order: Sequence[int] | None = None, before: Sequence[Dim] = ()
) -> ArrayRef:
    """`a[i]` as a fresh array; `order`: its axes, outermost first, if not those of an index; no index is looked at
    where one of the sizes `before` is 0."""
    picked = common_shape(r, at.arrays)
    if bring is checked:
        bring = check_filled(r, at, (*picked, *before))
    shape, order = at.shape(picked), at.order(len(picked)) if order is None else tuple(order)
    loops = Loops(r, shape)
    tell_sizes(loops, at, len(picked))
    found = indices_into_base(loops, at, picked, bring)
    element = loops.body.add(gather.Element.of(loops.whole(at.base), found))
    value = loops.generic(r.empty(at.base.element, shape, order), element)
    return ArrayRef(r.new_storage(at.base.element, shape, order, value))


def scattered(r: Recorder, at: Advanced, value: Operand | None, combine: Combine | None = None) -> None:
    """`a[i] = v`, or with `v` combined with the old element (if `combine`), one step after another."""
    r.check_writable(at.base)
    picked = common_shape(r, at.arrays)
    shape = at.shape(picked)
    if isinstance(value, ArrayRef):
        if combine is not None and not fits_surely(r, value, shape):  # which ufunc.at looks at after the indices
            for array, axis in zip(at.arrays, at.axes):
                check_bounds(r, array, at.base.shape[axis], axis, picked)
        value = fitting(r, value, shape, of_at=combine is not None)
    elif combine is None and value is not None:
        check_number(r, value, at.base, as_array=True)
    bring = check_filled(r, at, picked)
    loops = Loops(r, shape)
    tell_sizes(loops, at, len(picked))
    given = loops.constant(0) if value is None else stored_element(loops, value, at.base, combine is not None)
    place = indices_into_base(loops, at, picked, bring)

    def store(held: Value, step: Value) -> Stored:
        body = loops.body
        new = given
        if combine is not None:
            new = combine(body, body.add(gather.Element.of(held, place)), given)
        return body.constant(True, I1), body.constant(False, I1), new, place

    r.store(at.base, loops.scatter(r.read(at.base), store))


def stored_element(loops: Loops, value: Operand, base: ArrayRef, as_given: bool = False) -> Value:
    """The element, at the current point, of the stored value, in the array's element type."""
    if isinstance(value, ArrayRef):
        got = loops.read(value, 0, loops.shape)
        return got if as_given else loops.body.cast(got, base.element)
    element = base.element if not as_given else scalar_type(np.dtype(weak_type(value)))
    return loops.scalar(scalar_value(loops.r, value, element))


def fits_surely(r: Recorder, value: ArrayRef, shape: Sequence[Dim]) -> bool:
    """Whether an array broadcasts to a shape: by proof or guard."""

    def fits(a: Dim, b: Dim) -> bool:
        return a == 1 or r.facts.equal(a, b) or r.ask_equal(a, b) is True or r.ask_equal(a, 1) is True

    return value.ndim <= len(shape) and all(fits(a, b) for a, b in zip(reversed(value.shape), reversed(shape)))


def fitting(r: Recorder, value: ArrayRef, shape: Sequence[Dim], of_at: bool = False) -> ArrayRef:
    """An array that is stored: ValueError unless it broadcasts to the shape. It may have more axes, of size 1; not one
    `of_at`, of ufunc.at, which has other words too."""
    value = value if of_at else drop_leading_ones(r, value, len(shape), lambda: shape)
    given, values = shape_text([value.shape])
    wanted, more = shape_text([tuple(shape)])
    message = f"shape mismatch: value array of shape {given} "
    message += f"could not be broadcast to indexing result of shape {wanted}"
    if of_at:
        message, values, more = "array is not broadcastable to correct shape", [], []
    if value.ndim > len(shape):
        r.fail("ValueError", message, values + more)
    for a, b in zip(reversed(value.shape), reversed(shape)):
        if a != 1:
            require_same_or_one(r, a, b, "ValueError", message, values + more)
    return value
