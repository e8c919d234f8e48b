"""Arrays of every dtype, size and memory layout, and pairs of views of one buffer.

Values, shapes and dtypes are those of hypothesis.extra.numpy; here they are laid out (tracebuf/testing/arrays.py). What
is drawn shrinks towards C order, writable, few elements, zeros. Not drawn: other byte orders, arrays of objects, arrays
that are not aligned, subclasses.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as extra

from tracebuf.testing.arrays import LAYOUTS, Layout, laid_out
from tracebuf.testing.drawn import NUMBERS

__all__ = ["LAYOUTS", "arrays", "elements", "layouts", "overlapping"]

Array = np.ndarray[Any, np.dtype[Any]]
Shape = int | tuple[int, ...]
Drawer = Any
"""What `st.composite` hands over."""
MOST = 6
"""The largest size of an axis, unless shapes are given."""
LIMIT = 1e6
"""Magnitudes of floats are below it where no special values are wanted."""


def elements(dtype: Any, special: bool = True) -> st.SearchStrategy[Any]:
    """Elements of a dtype: small whole numbers, and with `special` all that it has, with NaN, infinities, -0.0,
    subnormal numbers and the ends of its range among them."""
    kind = np.dtype(dtype)
    if kind.kind == "b":
        return extra.from_dtype(kind)
    low = 0 if kind.kind == "u" else -9
    small = st.integers(low, 9).map(kind.type)
    if special:
        return small | extra.from_dtype(kind)
    if kind.kind in "fc":
        bounds: dict[str, Any] = {"allow_nan": False, "allow_infinity": False, "allow_subnormal": False}
        limit = min(LIMIT, float(np.finfo(kind).max) / 4)
        bounds |= {"max_magnitude": limit} if kind.kind == "c" else {"min_value": -limit, "max_value": limit}
        return small | extra.from_dtype(kind, **bounds)
    return small


def layouts(shape: Shape) -> st.SearchStrategy[Layout]:
    """The names of the memory layouts that arrays of a shape have (see `tracebuf.testing.arrays.array`): "C" alone of
    rank 0."""
    return st.sampled_from(LAYOUTS if as_shape(shape) else LAYOUTS[:1])


@st.composite
def arrays(
    draw: Drawer,
    dtype: Any = None,
    shape: Shape | st.SearchStrategy[tuple[int, ...]] | None = None,
    *,
    dims: int | tuple[int, int] = (0, 3),
    layouts: Sequence[Layout] = LAYOUTS,
    elements: st.SearchStrategy[Any] | None = None,
    special: bool = True,
    read_only: bool | None = None,
) -> Array:
    """Arrays in any memory layout.

    Args:
        dtype: a dtype or a strategy of such; None: any that tracebuf supports.
        shape: a shape, a size, or a strategy of shapes; None: sizes from 0 to 6, with the rank that `dims` says.
        dims: the rank, or the least and the largest.
        layouts: the layouts that may be drawn, the plainest first: "C"; "F"; "reversed" (every axis); "stepped" and
            "rows" (every second element of the last axis, of the first); "inner" (a block inside a larger array);
            "rotated" (the last axis outermost); "repeated" (broadcast along the first axis: stride 0, read-only).
        elements: what the elements are; by default `elements(dtype, special)` of this module.
        special: whether NaN, infinities, -0.0 and the ends of the range are among them.
        read_only: whether arrays are read-only; None: some are. Repeated ones always are.

    Raises ValueError for a layout that there is not.

    >>> from tracebuf.testing.strategies import arrays
    >>> arrays("float64", dims=2, layouts=("F",)).example().flags.f_contiguous    # doctest: +SKIP
    True
    """
    if unknown := [name for name in layouts if name not in LAYOUTS]:
        raise ValueError(f"no layout {unknown[0]!r}: there are {', '.join(LAYOUTS)}")
    chosen = np.dtype(draw(a_strategy(st.sampled_from(NUMBERS) if dtype is None else dtype)))
    size = as_shape(draw(shapes(dims) if shape is None else a_strategy(shape)))
    layout: Layout = draw(st.sampled_from([*layouts])) if size else "C"
    locked = draw(st.booleans()) if read_only is None else read_only
    made = draw(extra.arrays(chosen, size, elements=elements_of(chosen, special) if elements is None else elements))
    made = laid_out(made, layout) if size else made
    made.flags.writeable = not locked and layout != "repeated"
    return made


@st.composite
def overlapping(
    draw: Drawer,
    dtype: Any = "float64",
    shape: Shape | st.SearchStrategy[tuple[int, ...]] | None = None,
    *,
    dims: int | tuple[int, int] = (1, 2),
    elements: st.SearchStrategy[Any] | None = None,
    special: bool = True,
) -> tuple[Array, Array]:
    """Pairs of writable arrays of one shape, which are views of one buffer: the same part of it, one a step behind the
    other, one reversed, one of every second element among the first one's, or all of that by axis.

    Args: those of `arrays`. Pairs with elements share memory, or lie between one another.
    """
    chosen = np.dtype(draw(a_strategy(dtype)))
    size = as_shape(draw(shapes(dims) if shape is None else a_strategy(shape)))
    element = elements_of(chosen, special) if elements is None else elements
    buffer = draw(extra.arrays(chosen, tuple(2 * n + 1 for n in size), elements=element))
    pairs = [draw(st.sampled_from(FORMS)) for _ in size]
    first, second = (tuple(slice_of(pair[k], n) for pair, n in zip(pairs, size)) for k in (0, 1))
    return buffer[first], buffer[second]


FORMS = (("plain", "plain"), ("plain", "behind"), ("behind", "plain"), ("plain", "reversed"), ("reversed", "plain"),
         ("plain", "second"), ("second", "between"))  # fmt: skip
"""The two parts of an axis of the buffer that a pair's arrays are."""


def slice_of(form: str, n: int) -> slice:
    """A part of n elements of an axis of 2n + 1."""
    if n == 1:
        return slice(1)
    if form == "reversed":
        return slice(n - 1, None, -1) if n else slice(0)
    if form in ("second", "between"):
        return slice(form == "between", 2 * n + (form == "between"), 2)
    return slice(form == "behind", n + (form == "behind"))


def elements_of(dtype: Any, special: bool) -> st.SearchStrategy[Any]:
    return elements(dtype, special)


def shapes(dims: int | tuple[int, int]) -> st.SearchStrategy[tuple[int, ...]]:
    least, most = (dims, dims) if isinstance(dims, int) else dims
    return extra.array_shapes(min_dims=least, max_dims=most, min_side=0, max_side=MOST)


def a_strategy(value: Any) -> st.SearchStrategy[Any]:
    return value if isinstance(value, st.SearchStrategy) else st.just(value)


def as_shape(shape: Shape) -> tuple[int, ...]:
    return (shape,) if isinstance(shape, int) else tuple(shape)
