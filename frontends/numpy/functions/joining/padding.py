"""np.pad with margins that are a constant or rows of the array: the array in the middle of a larger one.

Modes whose margins are computed are a formula (functions/formulas/padding).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tracebuf.frontends.numpy.arrays.indexing import as_int, check_number, store_view
from tracebuf.frontends.numpy.arrays.new_arrays import filled, strong
from tracebuf.frontends.numpy.arrays.reshape import c_or_fortran
from tracebuf.frontends.numpy.functions.joining.stacking import part
from tracebuf.frontends.numpy.numbers.operands import weak_type
from tracebuf.frontends.numpy.record.raises import Raises
from tracebuf.frontends.numpy.record.recorder import Recorder
from tracebuf.frontends.numpy.record.values import NUMBERS, ArrayRef, Scalar
from tracebuf.frozen import frozen
from tracebuf.ir.dims import Dim, add, dim_max, dim_min, mod, mul, sub


def reflected_index(p: Dim, n: Dim, period: Dim) -> Dim:
    """Where index p falls on n rows that are traversed forwards and backwards with a period."""
    q = mod(p, period)
    return dim_min(q, sub(sub(period, q), 1) if period == mul(n, 2) else sub(period, q))


@frozen(slots=False)
class Mode:
    """How rows are continued. `row(p, n)`: which of n rows is at index p. As long as a margin is at most `reach(n)`
    wide, its rows are rows of the middle in order: `before(n, w)` and `after(n)` are the first ones, `step` apart."""

    row: Callable[[Dim, Dim], Dim]
    reach: Callable[[Dim], Dim]
    before: Callable[[Dim, Dim], Dim]
    after: Callable[[Dim], Dim]
    step: int


MODES = {
    "wrap": Mode(mod, lambda n: n, sub, lambda n: 0, 1),
    "symmetric": Mode(
        lambda p, n: reflected_index(p, n, mul(n, 2)), lambda n: n, lambda n, w: sub(w, 1), lambda n: sub(n, 1), -1
    ),
    "reflect": Mode(
        lambda p, n: reflected_index(p, n, dim_max(sub(mul(n, 2), 2), 1)),
        lambda n: sub(n, 1), lambda n, w: w, lambda n: sub(n, 2), -1,
    ),
}  # fmt: skip
"""By `mode=` of np.pad: how rows are continued."""


def pad_rows(r: Recorder, ref: ArrayRef, pad_width: Any, mode: str, constants: Any = 0) -> ArrayRef:
    """np.pad: the middle is stored, then the margins of one axis after another."""
    if mode not in ("constant", "empty", "edge", *MODES):
        raise Raises(ValueError(f"mode '{mode}' is not supported"))
    widths = pad_widths(r, pad_width, ref.ndim)
    if isinstance(constants, ArrayRef) and constants.ndim:
        raise r.refuse("an array of constants to pad with", "pass a tuple of numbers")
    shape = [add(add(before, n), after) for n, (before, after) in zip(ref.shape, widths)]
    one = mode == "constant" and not isinstance(constants, (list, tuple))
    if one:
        constants = strong(r, constants)  # an array first, as pairs are that are no more than one
        check_number(r, constants, ref)
    result = filled(r, shape, ref.element, constants if one else None, c_or_fortran(r, ref))
    middle = result
    for axis, (before, _) in enumerate(widths):
        middle = part(middle, axis, before, ref.shape[axis])
    store_view(r, middle, ref)
    if mode == "constant" and not one:
        pairs = pairs_of(r, constants, ref.ndim)
        few = not isinstance(constants[0], (list, tuple)) or len(constants) == 1
        for axis, pair in enumerate(pairs):
            for margin, value in zip(margins(result, axis, ref.shape[axis], widths), pair):
                store_view(r, margin, strong(r, value) if few else value)
    elif mode not in ("constant", "empty"):
        for axis in range(ref.ndim):
            continue_rows(r, result, axis, ref.shape[axis], widths, mode)
    return result


def pairs_of(r: Recorder, x: Any, ndim: int) -> list[tuple[Any, Any]]:
    """(before, after) for each axis, from a number, a pair, pairs, or a dict of some axes."""
    if isinstance(x, dict):
        given = [x.get(k, x.get(k - ndim, 0)) for k in range(ndim)]
        x = [p if isinstance(p, (tuple, list)) else (p, p) for p in given]
    pairs = x if isinstance(x, (tuple, list)) else (x,)
    if all(isinstance(p, (tuple, list)) for p in pairs):
        pairs = [tuple(p) * (2 if len(p) == 1 else 1) for p in pairs]
        pairs = pairs * ndim if len(pairs) == 1 else pairs
    else:
        pairs = [tuple(pairs) * (2 if len(pairs) == 1 else 1)] * ndim
    if len(pairs) != ndim or any(len(p) != 2 for p in pairs):
        raise Raises(ValueError(f"operands could not be broadcast together with remapped shapes to ({ndim},2)"))
    return pairs


def middle_along(result: ArrayRef, axis: int, widths: Sequence[tuple[Dim, Dim]]) -> ArrayRef:
    """The view of the whole extent of the axes before one, and of the middle of those after it."""
    for other in range(axis + 1, result.ndim):
        first, last = widths[other]
        result = part(result, other, first, sub(sub(result.shape[other], first), last))
    return result


def margins(result: ArrayRef, axis: int, n: Dim, widths: Sequence[tuple[Dim, Dim]]) -> tuple[ArrayRef, ArrayRef]:
    """The two margins of an axis, as views."""
    inner, (before, after) = middle_along(result, axis, widths), widths[axis]
    return part(inner, axis, 0, before), part(inner, axis, add(before, n), after)


def continue_rows(
    r: Recorder, result: ArrayRef, axis: int, n: Dim, widths: Sequence[tuple[Dim, Dim]], mode: str
) -> None:
    """Stores the margins of one axis, over the whole extent of the axes before it and the middle of those after it."""
    inner, (before, after) = middle_along(result, axis, widths), widths[axis]
    middle = part(inner, axis, before, n)
    message = f"can't extend empty axis {axis} using modes other than 'constant' or 'empty'"
    for w, start in ((before, 0), (after, add(before, n))):
        if r.ask_nonneg(sub(w, 1)) is not False:
            r.require_nonneg(sub(n, 1), "ValueError", message)
            store_margin(r, part(inner, axis, start, w), middle, axis, mode, start == 0)


def store_margin(r: Recorder, margin: ArrayRef, middle: ArrayRef, axis: int, mode: str, left: bool) -> None:
    """Stores one margin: of one row, of rows in order, or (where it is wider than the middle has rows) row by row."""
    n, w = middle.shape[axis], margin.shape[axis]
    if mode == "edge":
        store_view(r, margin, part(middle, axis, 0 if left else sub(n, 1), 1))
        return
    m = MODES[mode]
    if r.ask_nonneg(sub(m.reach(n), w)):
        store_view(r, margin, part(middle, axis, m.before(n, w) if left else m.after(n), w, m.step))
        return

    def one(k: Dim) -> None:
        place = sub(k, w) if left else add(n, k)
        store_view(r, part(margin, axis, k, 1), part(middle, axis, m.row(place, n), 1))

    r.for_each(0, w, one)


def numbers_of(r: Recorder, x: ArrayRef, at: tuple[int, ...] = ()) -> tuple[Any, ...]:
    """The numbers in an array of known sizes, in tuples."""
    count = r.static_int(x.shape[len(at)], "the number of `pad_width`'s items")
    places = [(*at, k) for k in range(count)]
    return tuple([r.number(x, place) if len(place) == x.ndim else numbers_of(r, x, place) for place in places])


def kinds_in(width: Any) -> set[str]:
    """The kinds of the dtypes of numbers, of those of Python what NumPy makes of them."""
    if isinstance(width, (list, tuple)):
        return set[str]().union(*map(kinds_in, width))
    known = isinstance(width, (ArrayRef, Scalar, np.ndarray, *NUMBERS))
    return {np.dtype(weak_type(width)).kind if known else "O"}


def pad_widths(r: Recorder, width: Any, ndim: int) -> list[tuple[Dim, Dim]]:
    """(before, after) for each axis."""
    found = []
    kinds = kinds_in(width)
    if not kinds <= {"b", "i", "u"} or kinds <= {"b"} or kinds <= {"u"}:  # np.asarray(width).dtype.kind != "i"
        raise Raises(TypeError("`pad_width` must be of integral type."))
    if isinstance(width, ArrayRef) and width.ndim:
        width = numbers_of(r, width)
    for pair in pairs_of(r, width, ndim):
        sizes = [as_int(r, n) for n in pair]
        if any(n is None for n in sizes):
            raise Raises(TypeError("`pad_width` must be of integral type."))
        for n in sizes:
            r.require_nonneg(n, "ValueError", "index can't contain negative values")  # type: ignore[arg-type]
        found.append(tuple(sizes))
    return found  # type: ignore[return-value]
