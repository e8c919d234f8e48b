"""reshape, ravel, flatten, `.flat`, and the functions that give the same array, another array object or a copy.

A result is a view exactly where NumPy's is (rule S5), else a copy. Whether it can be a view is decided on symbolic
strides as `_attempt_nocopy_reshape` does on numbers (numpy/_core/src/multiarray/shape.c); where a size or an argument's
stride decides, a guard makes the answer part of the specialisation (rule S7).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from itertools import combinations
from operator import methodcaller
from typing import Any

import numpy as np

from tracebuf.errors import UnsupportedError
from tracebuf.frontends.numpy.arrays.axes import refuse_unread
from tracebuf.frontends.numpy.arrays.indexing import as_int, as_strict_int, normalise, read_item
from tracebuf.frontends.numpy.arrays.new_arrays import as_array, copy_of, element_of, k_order, one_or_more
from tracebuf.frontends.numpy.numbers.longlongs import check_dtype
from tracebuf.frontends.numpy.record.conditions import either
from tracebuf.frontends.numpy.record.raises import Raises, call_handler
from tracebuf.frontends.numpy.record.recorder import Recorder
from tracebuf.frontends.numpy.record.refusals import name_of
from tracebuf.frontends.numpy.record.registry import HandlerT, traces
from tracebuf.frontends.numpy.record.values import (
    ArrayRef,
    Groups,
    GuardedRef,
    NpScalar,
    Scalar,
    View,
    in_turn,
    stand_in,
)
from tracebuf.frozen import frozen
from tracebuf.ir.dims import Dim, dim_max, floordiv, mod, mul, product, sub
from tracebuf.ops.scalars import arith


@frozen()
class Axis:
    """An axis for the decision between view and copy: its size, its stride in memory, and how far it reaches there."""

    size: Dim
    stride: Dim
    span: Dim


MOST_AXES = 64
"""NPY_MAXDIMS."""
Steps = list[Callable[[View], View]]
Grouping = Callable[[Recorder, Sequence[Axis], Sequence[Dim]], tuple[Groups, Groups] | None]


# -- reshape: which shape


def traces_numbers_too(function: Any) -> Callable[[HandlerT], HandlerT]:
    """As `traces`, for a function that calls the method of that name: a NumPy number stays one."""

    def register(handler: HandlerT) -> HandlerT:
        @traces(function)
        @wraps(handler)
        def run(r: Recorder, a: Any, *args: Any, **kwargs: Any) -> Any:
            made = call_handler(handler, r, a, *args, **kwargs)
            return a if isinstance(a, (NpScalar, np.generic)) and isinstance(made, ArrayRef) and not made.ndim else made

        return handler

    return register


@traces_numbers_too(np.reshape)
def reshape(r: Recorder, a: Any, shape: Any, order: str = "C", *, copy: bool | None = None) -> ArrayRef:
    """np.reshape: a view where NumPy gives one, else a copy."""
    ref = as_array(r, a)
    return reshaped(r, ref, target_shape(r, ref, shape), order, copy)


@traces(method="reshape")
def reshape_method(r: Recorder, a: ArrayRef, *shape: Any, order: str = "C", copy: bool | None = None) -> ArrayRef:
    """a.reshape(n, m) or a.reshape((n, m))."""
    if not shape:
        raise Raises(TypeError("reshape() takes exactly 1 argument (0 given)"))
    return reshape(r, a, shape[0] if len(shape) == 1 else shape, order, copy=copy)


def target_shape(r: Recorder, a: ArrayRef, shape: Any) -> tuple[Dim, ...]:
    """The requested shape, with the one negative size filled in; ValueError where the number of elements differs."""
    items = shape if isinstance(shape, (tuple, list)) else (shape,)
    sizes: list[Dim] = []
    for item in items:
        if (e := as_strict_int(r, item)) is None:
            refuse_unread(r, item, "a shape")
            got = type(stand_in(item)).__name__ if isinstance(item, Scalar) else repr(item)
            raise Raises(TypeError(f"expected a sequence of integers or a single integer, got '{got}'"))
        sizes.append(r.facts.canon(e))
    signs = [r.ask_nonneg(n) for n in sizes]
    total = r.facts.canon(product(a.shape))
    message, values = size_message(total, ["newaxis" if s is False else n for n, s in zip(sizes, signs)])
    if signs.count(False) > 1:
        r.fail("ValueError", "can only specify one unknown dimension")
    if False in signs:
        for k, sign in enumerate(signs):
            if sign is None:  # NumPy takes any negative size for one that is to be found
                sizes[k], signs[k] = not_negative(r, sizes[k]), True
    unsure = [n for n, sign in zip(sizes, signs) if sign is None]
    for m, n in combinations(unsure, 2):
        one = either(r, r.compare("sge", m, 0), r.compare("sge", n, 0))
        r.check(one, "ValueError", "can only specify one unknown dimension")
    given = list(sizes)
    for k, sign in enumerate(signs):
        if sign is not True:
            left_over = product(n for i, n in enumerate(given) if i != k)
            if sign is False:
                r.require_nonneg(sub(left_over, 1), "ValueError", message, values)
            else:
                possible = either(r, r.compare("sge", given[k], 0), r.compare("sge", left_over, 1))
                r.check(possible, "ValueError", message, [r.index(n) for n in values])
            filled = floordiv(total, r.facts.simplify(dim_max(left_over, 1)))
            sizes[k] = filled if sign is False else unless_negative(r, sizes[k], filled)
    r.require_equal(product(sizes), total, "ValueError", message, values)
    return tuple(one_or_more(r, n) for n in sizes)


def size_message(total: Dim, shape: Sequence[Dim | str]) -> tuple[str, list[Dim]]:
    """NumPy's message for a shape of a different number of elements, and the sizes in it; a first one that is to be
    found is not shown."""
    alone, shape = len(shape) == 1, shape[shape[0] == "newaxis" :] if shape else shape
    inside = ",".join(str(n) if isinstance(n, (int, str)) else "{}" for n in shape) + ("," if alone else "")
    named = [n for n in shape if not isinstance(n, (int, str))]
    return f"cannot reshape array of size {{}} into shape ({inside})", [total, *named]


def not_negative(r: Recorder, n: Dim) -> Dim:
    """A size beside one that is to be found, checked at run time."""
    r.check(r.compare("sge", n, 0), "ValueError", "can only specify one unknown dimension")
    return r.symbol(r.index(n), f"i{len(r.func.symbols)}", lo=0)


def unless_negative(r: Recorder, n: Dim, otherwise: Dim) -> Dim:
    """n, or another size where it turns out to be negative."""
    negative = r.compare("slt", n, 0)
    size = r.emit(arith.Select.of(negative, r.index(otherwise), r.index(n)))
    return r.symbol(size, f"i{len(r.func.symbols)}", lo=0)


# -- reshape: view or copy


def reshaped(r: Recorder, a: ArrayRef, shape: tuple[Dim, ...], order: str = "C", copy: bool | None = None) -> ArrayRef:
    """The elements of `a`, in C or Fortran order, under a shape with as many elements."""
    if order_of(order, "CFA") == "A":
        order = "F" if is_fortran(r, a) else "C"
    if order in "Ff":
        return reversed_axes(reshaped(r, reversed_axes(a), shape[::-1], "C", copy))
    found = None if copy else as_view(r, a, shape)
    if found is not None:
        return found
    if copy is False:
        r.fail("ValueError", "Unable to avoid creating a copy while reshaping.")
    made = as_view(r, copy_of(r, a, a.element, range(a.ndim)), shape)
    assert made is not None, "a dense array has every shape"
    return made


def order_of(order: Any, allowed: str) -> str:
    """The value of `order`; ValueError as NumPy's."""
    if isinstance(order, str) and len(order) == 1 and order.upper() in allowed:
        return order.upper()
    raise Raises(ValueError(f"order must be one of 'C', 'F', 'A', or 'K' (got {order!r})"))


def reversed_axes(a: ArrayRef) -> ArrayRef:
    """The transposed array: a view with the axes reversed."""
    return a.derive(methodcaller("transpose", range(a.ndim)[::-1]))


def as_view(r: Recorder, a: ArrayRef, shape: tuple[Dim, ...], sizes: Sequence[Dim] | None = None) -> ArrayRef | None:
    """`a` under another shape, in C order, where NumPy gives a view; None where it copies. `sizes` are the sizes of
    `a`, in the form that `shape` uses."""
    sizes = [r.facts.canon(n) for n in sizes or a.shape]
    if isinstance(a, GuardedRef):
        first, second = (as_view(r, arm, shape, sizes) for arm in a.arms)
        sure(r, (first is None) == (second is None) or None)
        return GuardedRef(a.condition, (first, second), shape, a.leaving) if first and second else None
    steps = view_steps(r, a, sizes, shape, proven_groups)
    if steps is None:
        steps = view_steps(r, a, [small_size(r, n) for n in sizes], shape, asked_groups)
    return None if steps is None else a.derive(in_turn(steps))


def view_steps(
    r: Recorder, a: ArrayRef, sizes: Sequence[Dim], shape: tuple[Dim, ...], grouping: Grouping
) -> Steps | None:
    """The steps that make a view of another shape. Axes of size 1 are added and dropped freely; the others are matched
    in groups of equal numbers of elements."""
    steps: Steps = [methodcaller("drop", k) for k in reversed(range(a.ndim)) if sizes[k] == 1]
    old = [Axis(n, s, mul(s, own)) for n, s, own in zip(sizes, a.strides, a.shape) if n != 1]
    new = [n for n in shape if n != 1]
    if not old:  # one element: all the new sizes are 1
        shape = (1,) * len(shape)
    elif not new:
        steps += [methodcaller("narrow", 0, 0, 1, 1), methodcaller("drop", 0)] * len(old)
    elif len(old) != len(new) or not all(r.facts.equal(axis.size, n) for axis, n in zip(old, new)):
        groups = grouping(r, old, new)
        if groups is None:
            return None
        steps.append(methodcaller("regrouped", tuple(new), *groups))
    return steps + [methodcaller("new_axis", k) for k, n in enumerate(shape) if n == 1]


def small_size(r: Recorder, n: Dim) -> Dim:
    """A size, made constant where it turns out to be 0 or 1: strides do not matter there, and NumPy gives a view."""
    if r.facts.nonneg(sub(n, 2)):
        return n
    if sure(r, r.ask_equal(n, 1)):
        return 1
    return 0 if r.ask_equal(n, 0) else n


class ViewOrCopy(UnsupportedError):
    """Raised where it is not known whether a reshape gives a view or a copy."""


def sure(r: Recorder, known: bool | None) -> bool:
    """The answer, or a refusal where only the run time knows whether this is a view."""
    if known is None:
        raise ViewOrCopy(
            "whether this is a view or a copy is only known at run time",
            location=r.loc,
            instead="a.flatten() or a.copy() for a copy, or slices whose sizes are known at entry",
        )
    return known


def proven_groups(r: Recorder, old: Sequence[Axis], new: Sequence[Dim]) -> tuple[Groups, Groups] | None:
    """Groups of axes that are contiguous among themselves and become groups of new axes, by proof alone."""
    everything = tuple(range(len(old))), tuple(range(len(new)))
    if any(r.facts.equal(n, 0) for n in (*new, *(axis.size for axis in old))):  # equal products say nothing here
        return (everything[0],), (everything[1],)
    groups = matched([axis.size for axis in old], new, r.facts.equal)
    if any(len(a) == len(b) == 1 and not r.facts.equal(old[a[0]].size, new[b[0]]) for a, b in zip(*groups)):
        groups = (everything[0],), (everything[1],)
    return groups if all(r.facts.equal(*pair) for pair in strides_to_agree(old, groups[0])) else None


def asked_groups(r: Recorder, old: Sequence[Axis], new: Sequence[Dim]) -> tuple[Groups, Groups] | None:
    """Groups of axes that are contiguous among themselves and become groups of new axes, by proof or guard; None where
    the strides forbid it."""
    if (proven := proven_groups(r, old, new)) is not None:
        return proven
    groups = matched([axis.size for axis in old], new, lambda a, b: sure(r, r.ask_equal(a, b)))
    agree = all(sure(r, r.ask_strides(*pair)) for pair in strides_to_agree(old, groups[0]))
    return groups if agree else None


def matched(old: Sequence[Dim], new: Sequence[Dim], equal: Callable[[Dim, Dim], bool]) -> tuple[Groups, Groups]:
    """The finest partition of both lists of axes into groups of equal numbers of elements."""
    points = [(0, 0)]
    for i in range(1, len(old)):
        for j in range(points[-1][1] + 1, len(new)):
            if equal(product(old[:i]), product(new[:j])):
                points.append((i, j))
                break
    points.append((len(old), len(new)))
    first, second = (tuple(tuple(range(a[k], b[k])) for a, b in zip(points, points[1:])) for k in (0, 1))
    return first, second


def strides_to_agree(axes: Sequence[Axis], groups: Groups) -> list[tuple[Dim, Dim]]:
    """The pairs of expressions that must be equal for the axes of each group to be contiguous among themselves."""
    neighbours = [pair for group in groups for pair in zip(group, group[1:])]
    return [(axes[a].stride, axes[b].span) for a, b in neighbours]


def is_dense(r: Recorder, a: ArrayRef, order: Sequence[int]) -> bool:
    """Whether the array is contiguous with its axes in this order, outermost first (NumPy's flags)."""
    if isinstance(a, GuardedRef):
        first, second = (is_dense(r, arm, order) for arm in a.arms)
        sure(r, first == second or None)
        return first
    sizes = [r.facts.canon(n) for n in a.shape]
    if 0 in sizes or all(r.facts.equal(*pair) for pair in dense_strides(a, sizes, order)):
        return True
    sizes = [small_size(r, n) for n in sizes]
    return 0 in sizes or all(sure(r, r.ask_strides(*pair)) for pair in reversed(dense_strides(a, sizes, order)))


def is_fortran(r: Recorder, a: ArrayRef) -> bool:
    """Whether the array is contiguous in Fortran order and not in C order (PyArray_ISFORTRAN): what order="A" asks."""
    axes = range(a.ndim)
    return not is_dense(r, a, axes) and is_dense(r, a, axes[::-1])


def c_or_fortran(r: Recorder, a: ArrayRef) -> tuple[int, ...]:
    """The axes, outermost first, of a new array in the order that order="A" means."""
    axes = tuple(range(a.ndim))
    return axes[::-1] if is_fortran(r, a) else axes


def dense_strides(a: ArrayRef, sizes: Sequence[Dim], order: Sequence[int]) -> list[tuple[Dim, Dim]]:
    """The strides of the axes longer than 1, each with its value in a contiguous array."""
    kept = [k for k in order if sizes[k] != 1]
    return [(a.strides[k], product(sizes[i] for i in kept[place + 1 :])) for place, k in enumerate(kept)]


@traces(np.ravel, method="ravel")
def ravel(r: Recorder, a: Any, order: str = "C") -> ArrayRef:
    """np.ravel: a view of a contiguous array, else a copy."""
    ref = as_array(r, a)
    axes = flat_order(r, ref, order)
    if not is_dense(r, ref, axes):
        return flattened(r, ref, axes)
    found = as_view(r, ref.derive(methodcaller("transpose", axes)), (product(ref.shape),))
    assert found is not None, "a contiguous array is one axis"
    return found


def ravelled_values(r: Recorder, a: Any) -> ArrayRef:
    """All elements ravelled, to be read: a vector as it is, whatever its strides, else as np.ravel gives them."""
    ref = as_array(r, a)
    return ref if ref.ndim == 1 else ravel(r, ref)


@traces(method="flatten")
def flatten(r: Recorder, a: ArrayRef, order: str = "C") -> ArrayRef:
    """a.flatten(): always a copy."""
    return flattened(r, a, flat_order(r, a, order))


def flattened(r: Recorder, a: ArrayRef, axes: Sequence[int]) -> ArrayRef:
    """A ravelled copy, with the elements taken in the order of these axes, outermost first."""
    turned = a.derive(methodcaller("transpose", axes))
    found = as_view(r, copy_of(r, turned, a.element, range(a.ndim)), (product(turned.shape),))
    assert found is not None, "a dense array is one axis"
    return found


def flat_order(r: Recorder, a: ArrayRef, order: str) -> tuple[int, ...]:
    """The axes, outermost first, that an `order` of ravel and flatten means."""
    axes = tuple(range(a.ndim))
    order = order_of(order, "CFAK")
    if order == "K":
        if any(a.is_repeated(k) for k in axes):
            raise r.refuse('order="K" of a broadcast array', 'order="C"')
        return k_order(a)
    if order == "A":
        return c_or_fortran(r, a)
    return axes if order == "C" else axes[::-1]


def whole_number(r: Recorder, x: Any) -> Dim:
    """An int as an expression; TypeError, as Python's, for anything else."""
    e = as_int(r, x)
    if e is None:
        raise Raises(TypeError(f"'{name_of(x)}' object cannot be interpreted as an integer"))
    return e


# -- the same array, another object, or a copy


def as_array_function(
    r: Recorder, a: Any, dtype: Any = None, order: str | None = None, *, copy: Any = None
) -> ArrayRef:
    """np.asarray: the same object where nothing has to change."""
    ref = as_array(r, a)
    element = ref.element if dtype is None else element_of(r, dtype)
    order = order_of("K" if order is None else order, "CFAK")
    axes = tuple(range(ref.ndim)) if order == "C" else tuple(range(ref.ndim))[::-1] if order == "F" else None
    change = element is not ref.element or (axes is not None and not is_dense(r, ref, axes))
    if change and copy is False:
        r.fail("ValueError", "Unable to avoid copy while creating an array as requested.")
    if not change and not copy:
        if dtype is not None and ref is a:
            check_dtype(r, element.dtype, "whether an array is the same one")
        return ref
    if order == "A" and element is ref.element:  # a conversion keeps the order
        axes = c_or_fortran(r, ref)
    return copy_of(r, ref, element, k_order(ref) if axes is None else axes)


def array_function(
    r: Recorder, object: Any, dtype: Any = None, *, copy: Any = True, order: str = "K", ndmin: int = 0
) -> ArrayRef:
    """np.array of an array or a number."""
    made, ndmin = as_array_function(r, object, dtype, order, copy=copy), least_axes(r, ndmin)
    return made.derive(in_turn([methodcaller("new_axis", 0)] * (ndmin - made.ndim))) if ndmin > made.ndim else made


def least_axes(r: Recorder, ndmin: Any) -> int:
    """The parameter `ndmin`."""
    known = r.static_int(whole_number(r, ndmin), "`ndmin`")
    if known > MOST_AXES:
        raise Raises(ValueError(f"ndmin bigger than allowable number of dimensions ({MOST_AXES})"))
    return known


@traces(np.ascontiguousarray, of="C")
@traces(np.asfortranarray, of="F")
def contiguous(order: str, r: Recorder, a: Any, dtype: Any = None) -> ArrayRef:
    return array_function(r, a, dtype, copy=None, order=order, ndmin=1)


def set_shape(r: Recorder, a: ArrayRef, shape: Any) -> None:
    """a.shape = shape: the array object itself changes, for all names bound to it (never the caller's)."""
    if isinstance(a, GuardedRef):
        raise r.refuse("the shape of one of several arrays is changed in place", "b = a.reshape(shape)")
    here = a.storage in r.frame.locals or not r.conditional
    if any(a is g for g in r.given) or not here:
        what = "an argument's shape" if here else "the shape of an array from outside this branch or loop"
        raise r.refuse(f"{what} is changed in place", "b = a.reshape(shape)")
    made = as_view(r, a, target_shape(r, a, shape))
    if made is None:
        instead = "Use `.reshape()` to make a copy with the desired shape."
        raise Raises(AttributeError(f"Incompatible shape for in-place modification. {instead}"))
    a.view = made.view


class FlatIterator:
    """a.flat, which can be indexed and iterated over: the elements in C order. It is not a traced value, so that
    anything else done to it is refused."""

    __slots__ = ("r", "ref")

    def __init__(self, r: Recorder, ref: ArrayRef) -> None:
        self.r, self.ref = r, ref

    @property
    def size(self) -> Dim:
        return product(self.ref.shape)

    def place(self, at: Dim) -> list[Dim]:
        """The indices of element `at`, which is within bounds."""
        found: list[Dim] = []
        for n in reversed(self.ref.shape[1:]):
            place, at = (mod(at, n), floordiv(at, n)) if n != 1 else (0, at)
            found.append(place)
        return [at, *reversed(found)] if self.ref.ndim else []

    def load(self, at: Dim) -> NpScalar:
        """Element `at`, which is within bounds."""
        return NpScalar(self.r.load(self.ref, self.place(at)), self.ref.element)

    def item(self, index: Any) -> Any:
        """a.flat[i] gives a number, a.flat[i:j] a copy."""
        if isinstance(index, slice):
            whole = as_view(self.r, self.ref, (self.size,)) or flatten(self.r, self.ref)
            made = read_item(self.r, whole, index)
            assert isinstance(made, ArrayRef)
            return copy_of(self.r, made, made.element, (0,))
        if (place := as_strict_int(self.r, index)) is None:
            raise self.refusal()
        return self.load(normalise(self.r, place, self.size, 0))

    def refusal(self) -> UnsupportedError:
        return self.r.refuse("`.flat` other than to iterate over it, or to read a.flat[i] and a.flat[i:j]", "a.ravel()")

    def refuse(self, *args: Any, **kwargs: Any) -> Any:
        raise self.refusal()

    def __getattr__(self, name: str) -> Any:
        raise self.refusal()

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = refuse
    __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = __pow__ = __rpow__ = __matmul__ = __rmatmul__ = refuse
    __and__ = __rand__ = __or__ = __ror__ = __xor__ = __rxor__ = __lshift__ = __rlshift__ = refuse
    __rshift__ = __rrshift__ = __neg__ = __pos__ = __abs__ = __invert__ = __lt__ = __le__ = __gt__ = __ge__ = refuse
    __eq__ = __ne__ = __bool__ = __len__ = __iter__ = __contains__ = __array__ = __array_ufunc__ = refuse
    __hash__ = None  # type: ignore[assignment]
