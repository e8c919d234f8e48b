"""What formulas need beyond NumPy: functions that mean something only in a trace (`HANDLERS` says what)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index, normalize_axis_tuple

from tracebuf.frontends.numpy.arrays.axes import axis_of
from tracebuf.frontends.numpy.arrays.creation import linspace
from tracebuf.frontends.numpy.arrays.new_arrays import element_of, filled, shape_arg
from tracebuf.frontends.numpy.arrays.reshape import is_fortran, whole_number
from tracebuf.frontends.numpy.arrays.shapes import broadcast_to
from tracebuf.frontends.numpy.functions.host import linalg
from tracebuf.frontends.numpy.functions.indices import interpolation
from tracebuf.frontends.numpy.functions.joining import padding
from tracebuf.frontends.numpy.functions.reductions.reduce import divide
from tracebuf.frontends.numpy.numbers.generics import result_order
from tracebuf.frontends.numpy.numbers.operands import common_dtype, on_all_paths
from tracebuf.frontends.numpy.numbers.scalars import as_int_value, concrete
from tracebuf.frontends.numpy.record.broadcasting import broadcast
from tracebuf.frontends.numpy.record.callees import Method, NestedFunction, Partial
from tracebuf.frontends.numpy.record.raises import Raises, ask
from tracebuf.frontends.numpy.record.recorder import Recorder
from tracebuf.frontends.numpy.record.scalar_checks import unknown_origin
from tracebuf.frontends.numpy.record.values import ArrayRef, GuardedRef, NpScalar, Scalar
from tracebuf.ir.types import C128, F64, I1, I64


def divide_by_count(total: Any, count: Any, out: Any = None) -> Any:
    """total / count in the dtype of the total, as `np.divide(total, count, out=total, casting="unsafe")`."""


def linspace_of_numbers(start: Any, stop: Any, num: Any, endpoint: Any, retstep: Any, dtype: Any) -> Any:
    """np.linspace between two numbers."""


def refuse(reason: str, instead: str) -> Any:
    """Raises UnsupportedError at the caller's line."""


def is_array(x: Any) -> Any:
    """Whether a value is an array, not a number."""


def bits_of(x: Any) -> Any:
    """The bits of a positive int that is the same in each call, the lowest first; none for what is not."""


def matrix_power_by_numpy(a: Any, n: Any) -> Any:
    """np.linalg.matrix_power, called."""


def multi_dot_by_numpy(arrays: Any, *, out: Any = None) -> Any:
    """np.linalg.multi_dot, called."""


def argsort_of(x: tuple[int, ...]) -> Any:
    """The indices that sort known numbers."""


def known_ints(x: Any) -> Any:
    """The ints of a list, as part of the key."""


def order_of_memory(a: Any) -> Any:
    """"F" for an array in Fortran order only, else "C"."""


def pad_rows(array: Any, pad_width: Any, mode: Any, constants: Any) -> Any:
    """np.pad with constants, or with rows of the array."""


def pad_pairs(pad_width: Any, ndim: Any) -> Any:
    """The widths before and after each axis."""


def check_writable(a: Any) -> Any:
    """ValueError for an array that is read-only."""


def broadcast_view(a: Any, shape: Any) -> Any:
    """np.broadcast_to, except that the view may be stored to if the array may."""


def _broadcast_view(r: Recorder, a: ArrayRef, shape: Any) -> ArrayRef:
    made = broadcast_to(r, a, shape)
    return made if isinstance(made, GuardedRef) else ArrayRef(made.storage, made.view, a.read_only)


def interpolated(x: Any, xp: Any, fp: Any, left: Any, right: Any, dense: Any) -> Any:
    """np.interp of doubles among two points or more; `dense`: it is worth looking where the one before was."""


def dtype_of(x: Any) -> Any:
    """np.asarray(x).dtype; for a number that is Python's or NumPy's, depending on the path, where both have the
    same."""


def _dtype_of(r: Recorder, x: Any) -> np.dtype:
    if isinstance(x, NpScalar) and x.python is not None:
        agree = {"float": F64, "int": I64, "bool": I1, "complex": C128}.get(x.python.kind)
        if agree is not x.element:
            raise unknown_origin(r.loc)
        return x.element.dtype
    return x.dtype if isinstance(x, ArrayRef) else ask(np.asarray, concrete(x)).dtype


def fresh_as(arrays: Any, dtype: Any) -> Any:
    """An array of undefined contents, laid out like an elementwise result of arrays of one shape."""


def _fresh_as(r: Recorder, arrays: Sequence[ArrayRef], dtype: Any) -> ArrayRef:
    shape = arrays[0].shape
    return filled(r, shape, element_of(r, dtype), None, result_order(r, arrays, len(shape)))


def _known_ints(r: Recorder, x: Any) -> tuple[int, ...]:
    return tuple(r.static_int(whole_number(r, i), "a place") for i in x)


def _order_of_memory(r: Recorder, a: ArrayRef) -> str:
    return "F" if is_fortran(r, a) else "C"


def _broadcast_shapes(r: Recorder, *shapes: Any) -> tuple[Any, ...]:
    """np.broadcast_shapes."""
    return tuple(as_int_value(n) for n in broadcast(r, [shape_arg(r, s) for s in shapes]))


def _refuse(r: Recorder, reason: str, instead: str) -> None:
    raise r.refuse(reason, instead)


def _axis(r: Recorder, axis: Any, ndim: int, msg_prefix: Any = None) -> int:
    return axis_of(r, axis, ndim, bools=True)


def _axes(r: Recorder, axis: Any, ndim: int, argname: Any = None, allow_duplicate: bool = False) -> tuple[int, ...]:
    several = axis if isinstance(axis, (tuple, list, range)) else (axis,)
    axes = tuple(axis_of(r, a, ndim, bools=True) for a in several)
    if len(set(axes)) < len(axes) and not allow_duplicate:
        raise Raises(ValueError("repeated axis"))
    return axes


def _result_type(r: Recorder, *arrays_and_dtypes: Any) -> np.dtype:
    """np.result_type; Python's numbers are weak."""
    numbers = [x for x in arrays_and_dtypes if isinstance(x, Scalar)]
    arrays = [x.dtype for x in arrays_and_dtypes if isinstance(x, ArrayRef)]
    if numbers:
        on_all_paths(numbers, lambda *kinds: common_dtype(*arrays, *kinds), r.loc)
    kinds = [x.dtype if isinstance(x, ArrayRef) else concrete(x) for x in arrays_and_dtypes]
    return ask(np.result_type, *kinds)


HANDLERS: dict[Any, Callable[..., Any]] = {
    pad_rows: padding.pad_rows,
    pad_pairs: lambda r, w, n: tuple(tuple(map(as_int_value, p)) for p in padding.pad_widths(r, w, n)),
    check_writable: lambda r, a: r.check_writable(a), broadcast_view: _broadcast_view,
    bits_of: lambda r, x: tuple(map(int, f"{x:b}"[::-1])) if type(x) is int and x > 0 else (),
    matrix_power_by_numpy: linalg.MATRIX_POWER, multi_dot_by_numpy: linalg.MULTI_DOT,
    interpolated: interpolation.interpolated, fresh_as: _fresh_as, dtype_of: _dtype_of,
    divide_by_count: divide, refuse: _refuse, is_array: lambda r, x: isinstance(x, ArrayRef),
    linspace_of_numbers: linspace, normalize_axis_index: _axis, normalize_axis_tuple: _axes,
    callable: lambda r, x: callable(x) or isinstance(x, (NestedFunction, Partial, Method)),
    known_ints: _known_ints, order_of_memory: _order_of_memory, np.broadcast_shapes: _broadcast_shapes,
    np.isscalar: lambda r, element: isinstance(element, Scalar) or np.isscalar(element),
    np.iterable: lambda r, y: y.ndim > 0 if isinstance(y, ArrayRef) else np.iterable(concrete(y)),
    np.result_type: _result_type, argsort_of: lambda r, x: tuple(sorted(range(len(x)), key=x.__getitem__)),
}  # fmt: skip
"""By function of this file, and a few of NumPy's that formulas call: its handler."""
