"""Python ints beside NumPy's integers: which fit the dtype, what raises, and comparisons, which never raise
(rule N1)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tracebuf.frontends.numpy.numbers.operands import Operand
from tracebuf.frontends.numpy.record.recorder import Recorder
from tracebuf.frontends.numpy.record.values import PyInt
from tracebuf.ir.dims import Dim, sub
from tracebuf.ir.types import I1, I64, ScalarType, scalar_type

COMPARISONS = (np.equal, np.not_equal, np.less, np.less_equal, np.greater, np.greater_equal)


def is_weak_int(operand: object) -> bool:
    """Whether an operand is a Python int, traced or not."""
    return isinstance(operand, PyInt) or type(operand) is int


def surely_fits(r: Recorder, number: object, element: ScalarType, guard: bool = True) -> bool:
    """Whether a number is not a Python int, or one in the range of an integer type, by proof or guard (a traced one has
    64 bits)."""
    low, high = element.bounds
    if isinstance(number, PyInt) and element is not I64:
        return bool(r.ask_nonneg(sub(number.expr, low), guard) and r.ask_nonneg(sub(high, number.expr), guard))
    return type(number) is not int or low <= number <= high


def exact_comparison(
    r: Recorder, ufunc: np.ufunc, operands: Sequence[Operand], dtypes: tuple[np.dtype, ...]
) -> tuple[np.ufunc, Sequence[Operand], tuple[np.dtype, ...]]:
    """A comparison with a Python int that may not fit the dtype it meets: by its exact value all the same (rule N1).

    A known int that does not fit gives every element the same answer, as `x == x` or `x != x` does; one that is only
    known at run time is compared as an int64.
    """
    weak = [k for k, o in enumerate(operands) if is_weak_int(o)]
    if len(weak) != 1 or (dtype := dtypes[weak[0]]).kind not in "iu":
        return ufunc, operands, dtypes
    number, other = operands[weak[0]], operands[1 - weak[0]]
    low, high = scalar_type(dtype).bounds
    if isinstance(number, PyInt):
        if surely_fits(r, number, scalar_type(dtype), guard=False):
            return ufunc, operands, dtypes
        pair = [dtype if dtype.name == "uint64" else I64.dtype] * 2
        pair[weak[0]] = I64.dtype
        return ufunc, operands, (*pair, I1.dtype)
    assert isinstance(number, int)
    if low <= number <= high:
        return ufunc, operands, dtypes
    place = 1 if number > high else -1
    always = bool(ufunc(0, place) if weak[0] else ufunc(place, 0))
    return np.equal if always else np.not_equal, [other, other], (dtype, dtype, I1.dtype)


def check_weak_int(r: Recorder, operand: Operand, dtype: np.dtype) -> None:
    """Raises OverflowError unless a Python int fits the integer dtype it meets (rule N1)."""
    if is_weak_int(operand) and dtype.kind in "iu":
        require_fits(r, operand.expr if isinstance(operand, PyInt) else operand, scalar_type(dtype))  # type: ignore[arg-type]


def require_fits(r: Recorder, number: Dim, element: ScalarType) -> None:
    """Raises OverflowError unless an int is in the range of an integer type: by proof, guard or check."""
    low, high = element.bounds
    message = f"Python integer {{}} out of bounds for {element.dtype}"
    if isinstance(number, int):
        if not low <= number <= high:
            large = not -(2**63) <= number < 2**63
            r.fail("OverflowError", "Python int too large to convert to C long" if large else message.format(number))
        return
    if low > -(2**63):
        r.require_nonneg(sub(number, low), "OverflowError", message, [number])
    if high < 2**63 - 1:
        r.require_nonneg(sub(high, number), "OverflowError", message, [number])
