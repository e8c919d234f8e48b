"""The geometry of indices that are arrays: which axes they take, and where their own axes are in the result (NumPy's
"advanced indexing").

An index is first applied with `:` in place of each array, then the arrays pick along those axes. Their axes replace the
first of these axes if only ints are between the arrays, else they are in front.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import methodcaller
from typing import Any

import numpy as np

from tracebuf.frontends.numpy.arrays.indexing import index_parts, index_steps
from tracebuf.frontends.numpy.record.broadcasting import shape_text
from tracebuf.frontends.numpy.record.conditions import either
from tracebuf.frontends.numpy.record.recorder import Recorder
from tracebuf.frontends.numpy.record.values import ArrayRef, NpScalar, PyBool
from tracebuf.frozen import frozen
from tracebuf.ir.dims import Dim
from tracebuf.ir.types import I1


@frozen(slots=False)
class Advanced:
    """An index with arrays, taken apart.

    `base` is the array with the basic part of the index applied; `arrays` and, in `axes`, the first of the axes of
    `base` that each takes (a mask as many as it has, any other array one); `place`: the position of the arrays' axes in
    the result; `source` and `parts`: the array and the index as they were, for NumPy to determine the order of the
    result's axes.
    """

    base: ArrayRef
    arrays: tuple[ArrayRef, ...]
    axes: tuple[int, ...]
    place: int
    source: ArrayRef
    parts: tuple[tuple[str, Any], ...]

    @property
    def taken(self) -> list[int]:
        """The axes of `base` that arrays pick along."""
        return [a + k for ref, a in zip(self.arrays, self.axes) for k in range(axes_taken(ref))]

    @property
    def kept(self) -> list[int]:
        """The other axes of `base`."""
        taken = self.taken
        return [a for a in range(self.base.ndim) if a not in taken]

    def shape(self, picked: Sequence[Dim]) -> tuple[Dim, ...]:
        """The shape of the result, for arrays that broadcast to `picked`."""
        sizes = [self.base.shape[a] for a in self.kept]
        return (*sizes[: self.place], *picked, *sizes[self.place :])

    def order(self, picked: int) -> tuple[int, ...]:
        """The axes of the result, outermost first, found by indexing small arrays of the same layout in NumPy."""
        source = like(self.source)
        index: list[Any] = []
        for kind, item in self.parts:
            if kind == "slice":
                index.append(slice(None))
            elif kind == "int":
                index.append(0)
            elif kind in ("new", "view"):
                index.append(None if kind == "new" else Ellipsis)
            elif kind == "mask":  # beside other arrays it is as many indices on each of its axes
                alone = sum(kind in ("mask", "places") for kind, _ in self.parts) == 1
                index += [like(item)] if alone else [np.zeros(2, np.intp)] * item.ndim
            else:
                index.append(np.zeros_like(like(item, ones=True), np.intp))
        result = source[tuple(index)]
        return tuple(sorted(range(result.ndim), key=lambda d: -result.strides[d]))


def like(ref: ArrayRef, ones: bool = False) -> np.ndarray:
    """A small array whose axes have the same order in memory, or are repeated; filled with True, so that it can be a
    mask. With `ones`, axes of size 1 keep that size."""
    ranks = [ref.stride_rank(a) or (-1,) for a in range(ref.ndim)]
    order = sorted(range(ref.ndim), key=lambda a: (ranks[a], a))
    sizes = [1 if ones and ref.shape[a] == 1 else 2 for a in range(ref.ndim)]
    held = [1 if ref.is_repeated(a) else sizes[a] for a in order]
    return np.broadcast_to(np.ones(held, bool).transpose(np.argsort(order)), sizes)


def axes_taken(ref: ArrayRef) -> int:
    """How many axes of the base an array takes: a mask as many as it has, any other array one."""
    return ref.ndim if ref.element is I1 else 1


def is_one_bool(index: Any) -> bool:
    """Whether an index is one bool, or an array of bool without axes: a mask of a new first axis of one element."""
    if isinstance(index, (ArrayRef, NpScalar)):
        return index.element is I1 and not (isinstance(index, ArrayRef) and index.ndim)
    return isinstance(index, (bool, np.bool_, PyBool))


def is_advanced(index: Any) -> bool:
    """Whether an index contains arrays or lists, or is a mask of one element."""
    if is_one_bool(index):
        return True
    for i in index if isinstance(index, tuple) else (index,):
        if isinstance(i, (list, np.ndarray, tuple)) or (isinstance(i, ArrayRef) and (i.ndim or i.element is I1)):
            return True
    return False


def advanced_index(r: Recorder, ref: ArrayRef, index: Any) -> Advanced:
    """An index with arrays, taken apart; IndexError for an invalid one."""
    parts = index_parts(r, ref, index)
    arrays: list[ArrayRef] = []
    axes: list[int] = []
    basic: list[tuple[str, Any]] = []
    shorter: dict[int, Dim] = {}  # by axis: the length of an empty mask
    axis = source = 0
    for kind, item in parts:
        if kind in ("mask", "places"):
            arrays.append(item)
            axes.append(axis)
            for k in range(axes_taken(item)):
                if kind == "mask" and not check_mask(r, item, ref, k, source + k):
                    shorter[axis + k] = item.shape[k]
                basic.append(("slice", slice(None)))
            axis, source = axis + axes_taken(item), source + axes_taken(item)
            continue
        basic.append((kind, item))
        axis += kind in ("slice", "new")
        source += kind in ("slice", "int")
    where = [k for k, (kind, _) in enumerate(parts) if kind in ("mask", "places", "int")]
    together = where == list(range(where[0], where[-1] + 1))
    place = sum(kind in ("slice", "new") for kind, _ in parts[: where[0]]) if together else 0
    base = ref.derive(index_steps(r, ref, basic))
    for axis, size in shorter.items():
        base = base.derive(methodcaller("narrow", axis, 0, 1, size))
    return Advanced(base, tuple(arrays), tuple(axes), place, ref, tuple(parts))


def check_mask(r: Recorder, mask: ArrayRef, ref: ArrayRef, axis: int, source: int) -> bool:
    """Whether a mask is as long as the axis that it masks. It may be empty instead, for NumPy does not look at sizes of
    0 (`prepare_index` of its mapping.c); else raises IndexError."""
    length, size = mask.shape[axis], ref.shape[source]
    if alike := r.ask_equal(length, size):
        return True
    if alike is False and r.ask_equal(length, 0):
        return False
    own, own_values = shape_text([(length,)])
    text, values = shape_text([(size,)])
    own, text = own.strip("(,)"), text.strip("(,)")
    message = f"boolean index did not match indexed array along axis {source}; size of axis is {text} but size of "
    message += f"corresponding boolean axis is {own}"
    if alike is False and r.ask_equal(length, 0) is False:
        r.fail("IndexError", message, values + own_values)
    fits = either(r, r.compare("eq", length, size), r.compare("eq", length, 0))
    r.check(fits, "IndexError", message, [r.index(v) for v in values + own_values])
    return False


