"""Boolean masks: a[mask], a[mask] = v, np.nonzero.

The True elements of a mask are counted first; the count is a size that depends on data, one symbol for each mask value
(rule Z1b), so that `z[m] + c[m]` is known to fit. A store of a value that does not depend on the count is a select in
place.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from tracebuf.frontends.numpy.arrays.indexing import check_number, drop_leading_ones
from tracebuf.frontends.numpy.arrays.new_arrays import as_array
from tracebuf.frontends.numpy.functions.indices.gathers import Loops, Stored, gathered, scattered
from tracebuf.frontends.numpy.functions.indices.index_arrays import Advanced
from tracebuf.frontends.numpy.functions.reductions.reduce import Fold, reduce
from tracebuf.frontends.numpy.numbers.generics import build
from tracebuf.frontends.numpy.numbers.operands import Operand
from tracebuf.frontends.numpy.numbers.ufuncs import elementwise
from tracebuf.frontends.numpy.record.broadcasting import shape_text
from tracebuf.frontends.numpy.record.conditions import either
from tracebuf.frontends.numpy.record.recorder import Recorder
from tracebuf.frontends.numpy.record.sizes import USUAL
from tracebuf.frontends.numpy.record.values import ArrayRef, NpScalar, View
from tracebuf.ir.core import Value
from tracebuf.ir.dims import Dim, add, neg, product, sub
from tracebuf.ir.types import I1, I64, INDEX
from tracebuf.ops.arrays import gather
from tracebuf.ops.scalars import arith


def count_of(r: Recorder, mask: ArrayRef) -> Dim:
    """How many elements are True: one symbol for each value of the mask."""
    value = r.read(mask)
    made = r.cached(("count", value))
    if made is None:
        found = reduce(r, np.add, mask, Fold(dtype=np.intp))
        assert isinstance(found, NpScalar)
        made = r.remember(("count", value), r.emit(arith.IndexCast.of(found.value, INDEX)))
        r.index_symbols[made] = r.symbol(made, f"n{len(r.func.symbols)}", 0, USUAL)
        r.facts.assume_nonneg(add(product(mask.shape), neg(r.index_symbols[made])))
    return r.index_symbols[made]


def truth(r: Recorder, a: ArrayRef) -> ArrayRef:
    """An array as bools: where it is not zero."""
    if a.element is I1:
        return a
    return as_array(r, elementwise(r, np.not_equal, [a, 0]))


def mask_of_numbers(r: Recorder, a: ArrayRef) -> ArrayRef:
    """`truth` of an array that is read several times: a byte for each element, which takes half of the time that to
    read numbers twice takes (the exception of rule S2)."""
    if a.element is not I1:
        r.masks.add(r.loc)
    return truth(r, a)


def nonzero(r: Recorder, a: ArrayRef) -> tuple[ArrayRef, ...]:
    """np.nonzero: the indices along each axis of the elements that are not zero."""
    mask = mask_of_numbers(r, a)
    n = count_of(r, mask)

    def along(axis: int) -> ArrayRef:
        loops = Loops(r, mask.shape)
        here = loops.along(mask, range(mask.ndim))
        place = loops.body.index(axis)
        dest = r.empty(I64, (n,))
        value = loops.scatter(dest, lambda held, step: (here, here, place, [step]))
        return ArrayRef(r.new_storage(I64, (n,), (0,), value))

    return tuple(along(axis) for axis in range(mask.ndim))


def without_masks(r: Recorder, at: Advanced) -> Advanced:
    """The index with the indices of each mask's True elements in its place."""
    arrays: list[ArrayRef] = []
    axes: list[int] = []
    for ref, axis in zip(at.arrays, at.axes):
        found = nonzero(r, ref) if ref.element is I1 else (ref,)
        arrays += found
        axes += range(axis, axis + len(found))
    return replace(at, arrays=tuple(arrays), axes=tuple(axes))


def is_one_mask(at: Advanced) -> bool:
    """Whether an index is one mask."""
    return len(at.arrays) == 1 and at.arrays[0].element is I1


def read_advanced(r: Recorder, at: Advanced) -> ArrayRef:
    """`a[index]` as a fresh array."""
    if is_one_mask(at):
        return compressed(r, at)
    return gathered(r, without_masks(r, at))


def store_advanced(r: Recorder, at: Advanced, value: Operand) -> None:
    """`a[index] = value`."""
    r.check_writable(at.base)
    if is_one_mask(at):
        store_masked(r, at, value)
    else:
        scattered(r, without_masks(r, at), value)


def masked_loops(r: Recorder, at: Advanced) -> tuple[Loops, list[int]]:
    """Loops over the mask, then over the other axes of the base; and the loop of each axis of the base."""
    mask, kept, taken = at.arrays[0], at.kept, at.taken
    loops = Loops(r, [*(at.base.shape[a] for a in taken), *(at.base.shape[a] for a in kept)])
    return loops, [taken.index(a) if a in taken else mask.ndim + kept.index(a) for a in range(at.base.ndim)]


def counts(loops: Loops, here: Value, at: Advanced) -> Value:
    """Whether a step is the last one for a True element of the mask."""
    first = at.arrays[0].ndim
    for k, axis in enumerate(at.kept):
        last = loops.body.add(arith.SubI.of(loops.size(at.base.shape[axis]), loops.constant(1)))
        end = loops.body.add(arith.CmpI.of("eq", loops.loop(first + k), last))
        here = loops.body.add(arith.AndI.of(here, end))
    return here


def counted_place(loops: Loops, step: Value, at: Advanced) -> list[Value]:
    """The indices in the result, one axis of which is compressed by the mask."""
    rest = [loops.loop(at.arrays[0].ndim + k) for k in range(len(at.kept))]
    return [*rest[: at.place], step, *rest[at.place :]]


def compressed(r: Recorder, at: Advanced) -> ArrayRef:
    """`a[mask]` as a fresh array."""
    mask = at.arrays[0]
    n = count_of(r, mask)
    shape, order = at.shape([n]), at.order(1)
    loops, axes = masked_loops(r, at)
    here = loops.along(mask, range(mask.ndim))
    element = loops.along(at.base, axes)
    counted = counts(loops, here, at)
    dest = r.empty(at.base.element, shape, order)
    value = loops.scatter(dest, lambda held, step: (here, counted, element, counted_place(loops, step, at)))
    return ArrayRef(r.new_storage(at.base.element, shape, order, value))


def store_masked(r: Recorder, at: Advanced, value: Operand) -> None:
    """`a[mask] = v`: a select in place if v is the same for all True elements."""
    after = len(at.kept) - at.place
    if not isinstance(value, ArrayRef):
        check_number(r, value, at.base, as_array=True)
        return select(r, at, value)
    given = value.shape
    if not is_whole(r, at):
        value = drop_leading_ones(r, value, len(at.kept) + 1, lambda: at.shape([count_of(r, at.arrays[0])]))
    if value.ndim <= after:
        return select(r, at, value)
    if value.ndim <= len(at.kept) + 1 and value.shape[value.ndim - after - 1] == 1:
        if is_to_itself(r, at, value):
            return
        one = value.derive(lambda view: view.drop(value.ndim - after - 1))
        if one.ndim == 0 and one.element == at.base.element:  # as a number it is read before the store: no copy
            return select(r, at, r.number(one))
        return select(r, at, one, value.ndim - 1 - after)
    expand(r, at, value, given)


def is_to_itself(r: Recorder, at: Advanced, value: ArrayRef) -> bool:
    """Whether a vector is stored to itself by a mask of its length: where that fits, each element to its own place."""
    return at.base.ndim == 1 and is_whole(r, at) and value.same(at.base)


def is_whole(r: Recorder, at: Advanced) -> bool:
    """Whether the index is nothing but a mask of all axes, for which NumPy has a rule of its own; not where an axis of
    the mask is empty, and that of the array is not (`check_mask`)."""
    if len(at.parts) != 1 or at.kept:
        return False
    return all(r.ask_equal(n, size) is not False for n, size in zip(at.arrays[0].shape, at.source.shape))


def mask_view(at: Advanced) -> tuple[ArrayRef, ArrayRef]:
    """The base with the mask's axes where they are in the result, and the mask with its axes there."""
    axes, after = list(at.kept), len(at.kept) - at.place
    axes[at.place : at.place] = at.taken

    def widen(view: View) -> View:
        for _ in range(after):
            view = view.new_axis(len(view.dims))
        return view

    return at.base.derive(lambda view: view.transpose(axes)), at.arrays[0].derive(widen)


def select(r: Recorder, at: Advanced, value: Operand, before: int | None = None) -> None:
    """Replaces the elements where the mask is True by `value`, which has `before` axes in front of the mask's."""
    base, mask = mask_view(at)
    if isinstance(value, ArrayRef) and before:
        n = at.arrays[0].ndim

        def widen(view: View) -> View:
            for _ in range(n):
                view = view.new_axis(before)
            return view

        value = value.derive(widen)
    element = value.element if isinstance(value, ArrayRef) else base.element
    build(r, lambda body, args: body.cast(args[0], base.element), [value], [element], base.element, base, mask)


def expand(r: Recorder, at: Advanced, value: ArrayRef, given: Sequence[Dim]) -> None:
    """Stores the elements of `value`, which was given in that shape, in turn where the mask is True."""
    mask = at.arrays[0]
    n = count_of(r, mask)
    shape = at.shape([n])
    if is_whole(r, at):
        message = "NumPy boolean array indexing assignment "
        if value.ndim > 1:
            r.fail("TypeError", f"{message}requires a 0 or 1-dimensional input, input has {value.ndim} dimensions")
        message += "cannot assign {} input values to the {} output values where the mask is true"
        values: list[Dim] = [value.shape[0], n]
    else:
        (own, sizes), (wanted, others) = shape_text([tuple(given)]), shape_text([tuple(shape)])
        message = (
            f"shape mismatch: value array of shape {own} could not be broadcast to indexing result of shape {wanted}"
        )
        values = [*sizes, *others]
    if value.ndim > len(shape):
        r.fail("ValueError", message, values)
    ones: list[Value | None] = []
    for axis, size in zip(reversed(value.shape), reversed(shape)):
        ones.append(repeated(r, axis, size, message, values))
    if is_to_itself(r, at, value):
        return
    loops, axes = masked_loops(r, at)
    here = loops.along(mask, range(mask.ndim))
    counted = counts(loops, here, at)
    held = loops.whole(value)
    loops.along(at.base, axes)
    repeats = [None if one is None else loops.scalar(one) for one in reversed(ones)]

    def store(dest: Value, step: Value) -> Stored:
        body, place = loops.body, counted_place(loops, step, at)[len(shape) - value.ndim :]
        for k, one in enumerate(repeats):
            if value.shape[k] == 1:
                place[k] = loops.constant(0)
            elif one is not None:
                place[k] = body.add(arith.Select.of(one, loops.constant(0), place[k]))
        element = body.cast(body.add(gather.Element.of(held, place)), at.base.element)
        return here, counted, element, [loops.loop(d) for d in axes]

    r.store(at.base, loops.scatter(r.read(at.base), store))


def repeated(r: Recorder, own: Dim, size: Dim, message: str, values: Sequence[Dim]) -> Value | None:
    """Whether a size of a stored array is 1 (an i1), None where it is not or does not matter; ValueError where it is
    neither 1 nor the size."""
    if own == 1 or r.facts.equal(own, size) or (r.entry_only(sub(own, size)) and r.ask_equal(own, size)):
        return None
    equal = r.compare("eq", own, size)
    if r.facts.nonneg(sub(own, 2)):
        r.check(equal, "ValueError", message, [r.index(v) for v in values])
        return None
    one = r.compare("eq", own, 1)
    r.check(either(r, equal, one), "ValueError", message, [r.index(v) for v in values])
    return one
