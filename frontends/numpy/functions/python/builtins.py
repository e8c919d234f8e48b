"""Python's builtin functions of numbers on traced values: conversions, rounding, abs, divmod, pow, min, max, sum.

Conversions raise what Python raises, by checks in place; an int has 64 bits (rule N1, a stated limit).
"""

from __future__ import annotations

import builtins
import sys
from collections.abc import Sequence
from functools import reduce
from typing import Any

import numpy as np

from tracebuf.frontends.numpy.arrays.complex_views import on_parts
from tracebuf.frontends.numpy.arrays.indexing import as_int, check_float_fits, int_of, normalise, read_item
from tracebuf.frontends.numpy.arrays.new_arrays import copy_of, k_order
from tracebuf.frontends.numpy.arrays.reshape import FlatIterator, c_or_fortran, whole_number
from tracebuf.frontends.numpy.functions.python.folds import extreme_of_array, sum_of_array
from tracebuf.frontends.numpy.numbers import ratios
from tracebuf.frontends.numpy.numbers.lattice import python_flag
from tracebuf.frontends.numpy.numbers.operands import BOOL, as_number, scalar_value, weak_type
from tracebuf.frontends.numpy.numbers.python_complex import magnitude
from tracebuf.frontends.numpy.numbers.python_ints import (
    as_int_value,
    bool_as_int,
    combine,
    divide,
    int_expr,
    int_of_value,
    is_exactly,
    minus,
    opaque,
)
from tracebuf.frontends.numpy.numbers.scalars import binary, compare, concrete, float_value, holds_traced, truth
from tracebuf.frontends.numpy.numbers.ufuncs import elementwise
from tracebuf.frontends.numpy.record.conditions import both, either, negation
from tracebuf.frontends.numpy.record.raises import BY_ZERO, Raises, ask
from tracebuf.frontends.numpy.record.recorder import Recorder
from tracebuf.frontends.numpy.record.registry import traces
from tracebuf.frontends.numpy.record.scalar_checks import is_finite, is_infinite, require_nonzero
from tracebuf.frontends.numpy.record.values import (
    NUMBERS,
    ArrayRef,
    NpScalar,
    PyBool,
    PyComplex,
    PyFloat,
    PyInt,
    Scalar,
    Unsure,
    is_traced,
    kind_of,
)
from tracebuf.ir.core import Value
from tracebuf.ir.dims import Dim, add, dim_max, dim_min, mul, neg, symbols
from tracebuf.ir.types import C128, F64, I1, I64, ScalarType, scalar_type
from tracebuf.ops.scalars import arith, casts, integers
from tracebuf.ops.scalars.libm import Libm


# -- conversions
@traces(float)
def to_float(r: Recorder, *args: Any) -> Any:
    """float(x)."""
    if not any(map(is_traced, args)):
        return ask(float, *args)
    ask(float, *map(concrete, args))  # raises what Python raises
    return PyFloat(float_value(r, as_number(r, args[0])))


@traces(int)
def to_int(r: Recorder, *args: Any, **kwargs: Any) -> Any:
    """int(x)."""
    if not any(map(is_traced, [*args, *kwargs.values()])):
        return ask(int, *args, **kwargs)
    ask(int, *map(concrete, args), **{k: concrete(v) for k, v in kwargs.items()})
    if len(args) != 1:
        raise r.refuse("int() of text to a base that is not known", "use a constant")
    x = bool_as_int(r, as_number(r, args[0]))
    if (e := int_expr(x)) is not None:
        return as_int_value(e)
    if isinstance(x, NpScalar) and not x.element.component.is_float:
        return PyInt(int_of(r, x.value))
    value = float_value(r, x)
    if isinstance(x, PyFloat) and (exact := ratios.as_int(r, value)) is not None:
        return exact
    return float_to_int(r, value)


def float_to_int(r: Recorder, value: Value) -> PyInt:
    """int(x) of a float, rounded towards zero; raises for NaN, infinities and what does not fit 64 bits."""
    check_float_fits(r, value, I64)
    return int_of_value(r, r.emit(casts.FPToSI.of(value, I64)))


@traces(bool)
def to_bool(r: Recorder, *args: Any) -> Any:
    """bool(x)."""
    return truth(r, *args) if any(map(is_traced, args)) else ask(bool, *args)


@traces(method="item")
def item(r: Recorder, a: ArrayRef, *args: Any) -> Any:
    """a.item(): an element as a Python number."""
    place = args[0] if len(args) == 1 and isinstance(args[0], tuple) else args
    if not args:
        for d in a.shape:
            r.require_equal(d, 1, "ValueError", "can only convert an array of size 1 to a Python scalar")
        place = (0,) * a.ndim
    elif len(place) != a.ndim:
        if len(place) != 1:
            r.fail("ValueError", "incorrect number of indices for array")
        elements = FlatIterator(r, a)
        return python_number(r, elements.load(normalise(r, item_index(r, place[0]), elements.size, None)))
    found = read_item(r, a, tuple(as_int_value(item_index(r, x)) for x in place))
    return python_number(r, found if isinstance(found, NpScalar) else r.number(a))


def item_index(r: Recorder, x: Any) -> Dim:
    """An index of x.item(), which is no bool."""
    if isinstance(x, (bool, PyBool)) or (isinstance(x, NpScalar) and x.python is not None and x.python.kind == "bool"):
        raise Raises(TypeError("an integer is required"))
    return whole_number(r, x)


@traces(number="tolist")
def python_number(r: Recorder, x: NpScalar) -> PyFloat | PyComplex | PyInt | PyBool:
    """The Python number that x.item() gives."""
    if x.element.is_complex:
        return PyComplex(scalar_value(r, x, C128))
    if x.element.is_float:
        return PyFloat(float_value(r, x))
    return PyBool(x.value) if x.element is I1 else PyInt(int_of(r, x.value))


@traces(number="item")
def number_item(r: Recorder, x: NpScalar, *index: Any) -> PyFloat | PyComplex | PyInt | PyBool:
    """x.item() of a number."""
    place = index[0] if len(index) == 1 and isinstance(index[0], tuple) else index
    if len(place) > 1:
        raise Raises(ValueError("incorrect number of indices for array"))
    for i in place:
        normalise(r, item_index(r, i), 1, None)
    return python_number(r, x)


@traces(number="is_integer")
def is_integer(r: Recorder, x: Any) -> Any:
    """x.is_integer() of a float."""
    value = float_value(r, x)
    whole = r.emit(arith.CmpF.of("oeq", r.emit(arith.Floor.of(value)), value))
    return PyBool(both(r, whole, is_finite(r, value)))


@traces(number="bit_length")
def bit_length(r: Recorder, n: Any) -> PyInt:
    """n.bit_length() of an int."""
    e = int_expr(bool_as_int(r, n))
    assert e is not None
    return int_of_value(r, r.emit(integers.BitLength.of(r.i64(e))), 0, 64)


# -- rounding
@traces(round)
def round_number(r: Recorder, x: Any, ndigits: Any = None) -> Any:
    """round(x) and round(x, n)."""
    if not is_traced(x) and not is_traced(ndigits):
        return ask(round, x, ndigits)
    ask(round, concrete(x), concrete(ndigits))  # raises what Python raises
    if isinstance(x, NpScalar) and ndigits is not None:
        return round_array(r, x, ndigits)
    x = bool_as_int(r, x)
    if (e := int_expr(x)) is not None:
        return as_int_value(e) if ndigits is None else round_int(r, e, static_digits(r, ndigits))
    if isinstance(x, NpScalar) and not x.element.is_float:
        return to_int(r, x)
    value = float_value(r, x)
    if ndigits is None:
        return float_to_int(r, r.emit(arith.RoundEven.of(value)))
    digits = as_int(r, bool_as_int(r, ndigits))
    assert digits is not None
    rounded = r.emit(Libm.of("round", [value, r.i64(digits)], F64))
    fine = either(r, negation(r, is_infinite(r, rounded)), is_infinite(r, value))
    r.check(fine, "OverflowError", "rounded value too large to represent")
    return PyFloat(rounded)


def static_digits(r: Recorder, ndigits: Any) -> int:
    e = as_int(r, bool_as_int(r, ndigits))
    if e is None:
        raise Raises(TypeError(f"'{type(concrete(ndigits)).__name__}' object cannot be interpreted as an integer"))
    return r.static_int(e, "the number of digits")


def round_int(r: Recorder, e: Dim, digits: int) -> PyInt | int:
    """An int rounded to tens, hundreds ...: the nearest multiple; of two, the one with an even quotient."""
    if digits >= 0:
        return as_int_value(e)
    unit = 10**-digits
    quotient, rest = divide(r, "FloorDiv", e, unit), divide(r, "Mod", e, unit)
    odd = divide(r, "Mod", quotient, 2)
    up = r.compare("sgt", add(mul(rest, 2), odd), unit)
    one = r.emit(arith.Select.of(up, r.index(1), r.index(0)))
    return as_int_value(combine(r, "Mult", add(quotient, opaque(r, one, 0, 1)), unit))


def round_array(r: Recorder, a: Any, decimals: Any) -> Any:
    """np.round, as PyArray_Round computes it: scaled by 10**decimals, in float64 for ints."""
    digits = static_digits(r, decimals)
    kind = np.dtype(weak_type(a)).kind
    if kind == "c":
        return on_parts(r, a, lambda part: round_array(r, part, decimals))
    if kind in "iu" and digits >= 0:
        return copy_of(r, a, a.element, k_order(a)) if isinstance(a, ArrayRef) and a.ndim else as_number(r, a)
    if digits == 0:
        return elementwise(r, np.rint, [a])
    if kind == "b":
        ask(np.round, np.ones(1, bool), 1)  # raises
    first, second = (np.multiply, np.true_divide) if digits > 0 else (np.true_divide, np.multiply)
    if abs(digits) >= 2**31:
        raise Raises(OverflowError("Python int too large to convert to C int"))
    factor = float(10 ** abs(digits)) if abs(digits) <= 308 else float("inf")
    result = elementwise(r, second, [elementwise(r, np.rint, [elementwise(r, first, [a, factor])]), factor])
    element = scalar_type(np.dtype(weak_type(a)))
    if isinstance(result, NpScalar):
        return NpScalar(scalar_value(r, result, element), element)
    assert isinstance(a, ArrayRef) and isinstance(result, ArrayRef)
    order = c_or_fortran(r, a)
    return result if result.storage.order == order and kind == "f" else copy_of(r, result, element, order)


# -- arithmetic
@traces(abs)
def absolute(r: Recorder, x: Any) -> Any:
    """abs(x)."""
    x = bool_as_int(r, x)
    if (e := int_expr(x)) is not None:
        known = r.ask_nonneg(e)
        return as_int_value(e if known else minus(r, e) if known is False else dim_max(e, neg(e)))
    if isinstance(x, PyComplex) or (isinstance(x, NpScalar) and x.element.is_complex and not x.maybe_python):
        return magnitude(r, x)
    if isinstance(x, PyFloat):
        return PyFloat(r.emit(arith.AbsF.of(x.value)))
    return elementwise(r, np.absolute, [x]) if is_traced(x) else ask(abs, x)


@traces(divmod)
def divmod_of(r: Recorder, a: Any, b: Any) -> Any:
    """divmod(a, b): the pair of `a // b` and `a % b`."""
    if not is_traced(a) and not is_traced(b):
        return ask(divmod, a, b)
    kinds = [weak_type(x) for x in (a, b)]
    if all(isinstance(kind, type) for kind in kinds) and float in kinds and complex not in kinds:
        require_nonzero(r, float_value(r, as_number(r, b)), BY_ZERO["DivMod", float])
    return binary(r, "FloorDiv", a, b), binary(r, "Mod", a, b)


@traces(sum)
def sum_of(r: Recorder, items: Any, start: Any = 0) -> Any:
    """sum() of a tuple or list: one item after another."""
    if isinstance(items, ArrayRef):
        return sum_of_array(r, items, start)
    if not is_traced(items) and not is_traced(start) and not any(map(is_traced, ask(iter, items))):
        return ask(sum, items, start)
    if sys.version_info >= (3, 12) and any(isinstance(x, PyFloat) for x in items):
        raise r.refuse(  # Python carries the rounding errors along
            "sum() of Python floats", "x + y + z"
        )
    total = start
    for x in items:
        total = binary(r, "Add", total, x)
    return total


# -- min and max
@traces(min, of="min")
@traces(max, of="max")
def extreme_of(name: str, r: Recorder, *args: Any, **options: Any) -> Any:
    """min or max of ints; NotImplemented for other numbers, which are compared as Python compares them."""
    if len(args) == 1 and isinstance(args[0], ArrayRef) and not options:
        return extreme_of_array(r, name, args[0])
    items = list(args[0]) if len(args) == 1 and isinstance(args[0], (tuple, list)) else list(args)
    if any(holds_traced(x) for x in items):
        raise r.refuse(f"{name}() of tuples or lists", "compare their items")
    if not any(is_traced(x) for x in items):
        return ask(getattr(builtins, name), *args, **options)
    exprs = [int_expr(x) for x in items]
    if all(e is not None for e in exprs) and exprs:
        if sum(len(symbols(e)) for e in exprs if e is not None) > MOST_SYMBOLS:
            return computed_extreme(r, name, [e for e in exprs if e is not None])
        return as_int_value(r.facts.simplify((dim_min if name == "min" else dim_max)(*exprs)))  # type: ignore[arg-type]
    if all(isinstance(x, NpScalar) and not x.maybe_python and x.element is items[0].element for x in items):
        return numpy_extreme(r, name, items)
    kinds = [weak_type(x) if isinstance(x, (Scalar, *NUMBERS)) else str for x in items]
    numpy = [scalar_type(np.dtype(k)) for k in kinds if not isinstance(k, type) and k is not BOOL]
    for element in dict.fromkeys([*numpy, F64]):
        if all(is_exactly(r, x, element) for x in items):
            return mixed_extreme(r, name, items, element)
    return NotImplemented  # by comparisons


MOST_SYMBOLS = 8
"""The most numbers of a call of which min and max are an expression, which may become a part of the key."""


def computed_extreme(r: Recorder, name: str, exprs: Sequence[Dim]) -> PyInt:
    """min or max of ints as one that the run time computes."""
    op = arith.MinSI if name == "min" else arith.MaxSI
    return int_of_value(r, reduce(lambda a, b: r.emit(op.of(a, b)), map(r.index, exprs)))


def mixed_extreme(r: Recorder, name: str, items: Sequence[Any], element: ScalarType) -> Any:
    """min or max of Python's and NumPy's numbers: the winner's type is only known at run time. NotImplemented for ints
    and floats of Python's, of which it would be one or the other."""
    kinds = {k for k in map(kind_of, items) if k is not None}
    python = {k.python if k.name == "np" else k.name for k in kinds} - {""}
    if len(python) > 1:
        return NotImplemented
    best, flag = NpScalar(scalar_value(r, items[0], element), element), python_flag(r, items[0])
    for x in items[1:]:
        value = NpScalar(scalar_value(r, x, element), element)
        better = compare(r, "Lt" if name == "min" else "Gt", value, best)
        assert isinstance(better, NpScalar)
        best = NpScalar(r.emit(arith.Select.of(better.value, value.value, best.value)), element)
        flag = r.emit(arith.Select.of(better.value, python_flag(r, x), flag))
    if all(isinstance(x, PyFloat) or type(x) is float for x in items):
        return PyFloat(best.value)
    return NpScalar(best.value, element, Unsure(flag, python.pop()) if python else None)


def numpy_extreme(r: Recorder, name: str, items: Sequence[NpScalar]) -> NpScalar:
    """min or max of NumPy scalars of one type: the first that no later one beats."""
    best = items[0]
    for x in items[1:]:
        better = compare(r, "Lt" if name == "min" else "Gt", x, best)
        assert isinstance(better, NpScalar)
        best = NpScalar(r.emit(arith.Select.of(better.value, x.value, best.value)), x.element)
    return best
