"""Python's operators on traced numbers (rules N1-N3), and truth.

`binary` is the door for `a + b`; arrays go on to `ufuncs.elementwise`. Ints are expressions over sizes; floats are f64;
where Python raises (a division by zero), a check is recorded. NumPy scalars compute as NumPy's ufuncs do.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from tracebuf.frontends.numpy.numbers import ratios
from tracebuf.frontends.numpy.numbers.bodies import Body
from tracebuf.frontends.numpy.numbers.operands import scalar_value
from tracebuf.frontends.numpy.numbers.powers import power_form as power_form
from tracebuf.frontends.numpy.numbers.powers import python_power, scalar_power
from tracebuf.frontends.numpy.numbers.python_complex import (
    compare_complex,
    complex_arithmetic,
    is_python_complex,
    scalar_order,
    scalar_product,
)
from tracebuf.frontends.numpy.numbers.python_ints import (
    BITS,
    EXACT,
    bitwise,
    bool_as_int,
    combine,
    compare_with_float,
    divide,
    int_expr,
    is_small,
    minus,
    shift,
)
from tracebuf.frontends.numpy.numbers.python_ints import as_int_value as as_int_value
from tracebuf.frontends.numpy.numbers.ufuncs import elementwise
from tracebuf.frontends.numpy.record import refusals
from tracebuf.frontends.numpy.record.conditions import both, negation
from tracebuf.frontends.numpy.record.heap import Record, without_methods
from tracebuf.frontends.numpy.record.raises import BY_ZERO, ask, is_tracers
from tracebuf.frontends.numpy.record.recorder import Recorder
from tracebuf.frontends.numpy.record.scalar_checks import (
    as_reached,
    check_origin,
    choose,
    compare_floats,
    require_nonzero,
)
from tracebuf.frontends.numpy.record.sizes import INT_MAX, INT_MIN
from tracebuf.frontends.numpy.record.values import (
    NUMBERS,
    ArrayRef,
    NpScalar,
    PyBool,
    PyComplex,
    PyFloat,
    PyInt,
    Scalar,
    is_traced,
    stand_in,
)
from tracebuf.ir.core import Value
from tracebuf.ir.dims import Dim, product, sub
from tracebuf.ir.types import F64, I1
from tracebuf.ops.scalars import arith
from tracebuf.ops.scalars import complex as complex_op
from tracebuf.ops.scalars.libm import Libm

BINARY: dict[str, tuple[Callable[[Any, Any], Any], np.ufunc]] = {
    "Add": (operator.add, np.add),
    "Sub": (operator.sub, np.subtract),
    "Mult": (operator.mul, np.multiply),
    "Div": (operator.truediv, np.true_divide),
    "FloorDiv": (operator.floordiv, np.floor_divide),
    "Mod": (operator.mod, np.remainder),
    "Pow": (operator.pow, np.power),
    "BitAnd": (operator.and_, np.bitwise_and),
    "BitOr": (operator.or_, np.bitwise_or),
    "BitXor": (operator.xor, np.bitwise_xor),
    "LShift": (operator.lshift, np.left_shift),
    "RShift": (operator.rshift, np.right_shift),
    "MatMult": (operator.matmul, np.matmul),
}
"""By operator of the syntax tree: Python's function and the ufunc."""
COMPARE: dict[str, tuple[Callable[[Any, Any], Any], np.ufunc, str]] = {
    "Eq": (operator.eq, np.equal, "eq"),
    "NotEq": (operator.ne, np.not_equal, "ne"),
    "Lt": (operator.lt, np.less, "lt"),
    "LtE": (operator.le, np.less_equal, "le"),
    "Gt": (operator.gt, np.greater, "gt"),
    "GtE": (operator.ge, np.greater_equal, "ge"),
}
"""By comparison of the syntax tree: Python's function, the ufunc, and the predicate of an op."""
UNARY: dict[str, Callable[[Any], Any]] = {"USub": operator.neg, "UAdd": operator.pos, "Invert": operator.invert}
"""By unary operator of the syntax tree: Python's function."""
SPECIAL = {
    **{name: function.__name__.rstrip("_") for name, (function, _) in BINARY.items()},
    **{name: special for name, (_, _, special) in COMPARE.items()},
    **{name: function.__name__ for name, function in UNARY.items()},
}
"""By operator of the syntax tree: Python's special method, without underscores."""
NAMES = {predicate: name for name, (_, _, predicate) in COMPARE.items()}
"""By predicate: the comparison of the syntax tree."""
SWAPPED = {"lt": "gt", "gt": "lt", "le": "ge", "ge": "le"}
"""By predicate: the one with its operands exchanged."""


def is_python_number(x: object) -> bool:
    """A Python bool, int, float or complex, traced or not (weak in promotion, bool aside)."""
    return isinstance(x, (PyInt, PyFloat, PyComplex, PyBool)) or (
        isinstance(x, (bool, int, float, complex)) and not isinstance(x, np.generic)
    )


def is_real_number(x: object) -> bool:
    """Whether a value is a number, traced or not, and not complex."""
    if isinstance(x, NpScalar):
        return not x.element.is_complex
    numbers = (PyInt, PyFloat, PyBool, bool, int, float, np.generic)
    return isinstance(x, numbers) and not isinstance(x, np.complexfloating)


@as_reached
def binary(r: Recorder, name: str, a: Any, b: Any) -> Any:
    """a OP b for any two values, traced or plain."""
    function, ufunc = BINARY[name]
    if not is_traced(a) and not is_traced(b):
        if any(isinstance(x, np.generic) for x in (a, b)) and any(isinstance(x, (tuple, list, range)) for x in (a, b)):
            return unsupported_operand(r, function, a, b)  # NumPy takes a tuple for an array
        a, b = without_methods(a), without_methods(b)
        if is_odd(a) or is_odd(b):
            return unsupported_operand(r, function, a, b)
        return ask(function, a, b)
    for x in (a, b):
        if not isinstance(x, (ArrayRef, Scalar, *NUMBERS)):
            return unsupported_operand(r, function, a, b)
    if name in OF_COMPLEX:
        b = beside_complex(a, b)
    elif name in ("FloorDiv", "Mod") and not any(isinstance(x, ArrayRef) for x in (a, b)):
        if not all(map(is_real_number, (a, b))):
            ask(function, concrete(a), concrete(b))  # raises what Python or NumPy raises of numbers
    if is_python_number(a) and is_python_number(b):
        return python_arithmetic(r, name, a, b)
    if name == "Pow" and not isinstance(a, ArrayRef) and not isinstance(b, ArrayRef):
        return scalar_power(r, a, b)
    if name == "Pow" and isinstance(a, ArrayRef):
        return elementwise(r, *power_form(r, a, b))
    made = scalar_product(r, a, b) if name == "Mult" else None
    return elementwise(r, ufunc, [a, b]) if made is None else made


AMBIGUOUS = (
    "The truth value of an empty array is ambiguous. Use `array.size > 0` to check that an array is not empty.",
    "The truth value of an array with more than one element is ambiguous. Use a.any() or a.all()",
)
OF_COMPLEX = ("Add", "Sub", "Mult", "Div", "Pow")
OF_REAL = (*OF_COMPLEX, "FloorDiv", "Mod")
"""The operators that all real numbers have, and all complex numbers."""


def beside_complex(a: Any, b: Any) -> Any:
    """The right operand of Python's complex number, which computes with np.float64 as with the Python float that it is,
    before NumPy is asked."""
    if not isinstance(a, (PyComplex, complex)) or isinstance(a, np.generic):
        return b
    if isinstance(b, NpScalar) and b.element is F64:
        return PyFloat(b.value)
    return float(b) if isinstance(b, np.float64) else b


def is_odd(x: object) -> bool:
    """Whether an object of the tracer's stands for something that is neither array nor number."""
    return is_tracers(x) and not is_traced(x)


def unsupported_operand(r: Recorder, function: Callable[[Any, Any], Any], a: Any, b: Any) -> Any:
    """Raises, for an operand that is neither array nor number, what Python raises, else UnsupportedError."""
    if not any(isinstance(x, np.ndarray) or is_odd(x) for x in (a, b)):
        with np.errstate(all="ignore"):
            ask(function, concrete(a), concrete(b))
    odd = a if not isinstance(a, (ArrayRef, Scalar, *NUMBERS)) else b
    reason = f"a {refusals.name_of(odd)} as an operand"
    raise r.refuse(reason, "use numbers and arrays: np.array(x)")


def concrete(x: Any) -> Any:
    """A concrete value like x, to try an operation on: arrays have axes of one element, or of none."""
    if isinstance(x, ArrayRef):
        return np.ones([0 if n == 0 else 1 for n in x.shape], x.dtype)
    if type(x) is tuple or type(x) is list:
        return type(x)(map(concrete, x))
    if isinstance(x, Record):
        return without_methods(x)
    return stand_in(x) if isinstance(x, Scalar) else x


def one(x: Any) -> Any:
    """A nonzero number of the type of a Python number."""
    return type(concrete(x))(1)


def python_arithmetic(r: Recorder, name: str, a: Any, b: Any) -> Any:
    """a OP b of two Python numbers, at least one of them traced."""
    if name in BITS and isinstance(a, (PyBool, bool)) and isinstance(b, (PyBool, bool)):
        return PyBool(r.emit(BITS[name].of(scalar_value(r, a, I1), scalar_value(r, b, I1))))
    a, b = (bool_as_int(r, x) for x in (a, b))
    ia, ib = int_expr(a), int_expr(b)
    if is_python_complex(a) or is_python_complex(b):
        ask(BINARY[name][0], one(a), one(b))  # raises what Python raises
        return complex_arithmetic(r, name, a, b)
    if name == "Pow":
        return python_power(r, a, b)
    if ia is not None and ib is not None:
        if name != "Div":
            return int_arithmetic(r, name, ia, ib)
        quotient = int_quotient(r, ia, ib)
        ratios.note(r, name, a, b, quotient)
        return quotient
    if name in BITS or name in ("LShift", "RShift"):
        ask(BINARY[name][0], concrete(a), concrete(b))  # raises what Python raises
    if name in ("FloorDiv", "Mod"):
        fa, fb = float_value(r, a), float_value(r, b)
        require_nonzero(r, fb, BY_ZERO[name, float])
        found = elementwise(r, BINARY[name][1], [NpScalar(fa, F64), NpScalar(fb, F64)])
        assert isinstance(found, NpScalar)  # NumPy's loops compute these as Python does
        return PyFloat(found.value)
    fa, fb = float_value(r, a), float_value(r, b)
    if name == "Div":
        require_nonzero(r, fb, BY_ZERO[name, float])
    op = {"Add": arith.AddF, "Sub": arith.SubF, "Mult": arith.MulF, "Div": arith.DivF}[name]
    result = PyFloat(r.emit(op.of(fa, fb)))
    ratios.note(r, name, a, b, result)
    return result


def int_arithmetic(r: Recorder, name: str, a: Dim, b: Dim) -> PyInt | int:
    """a OP b of two ints where the result is an int."""
    if name in ("LShift", "RShift"):
        return as_int_value(shift(r, name, a, b))
    how = combine if name in ("Add", "Sub", "Mult") else bitwise if name in BITS else divide
    return as_int_value(how(r, name, a, b))


def int_quotient(r: Recorder, a: Dim, b: Dim) -> PyFloat:
    """a / b of ints, rounded once: by Python itself where an int may not convert to a float exactly."""
    x, y = r.i64(a), r.i64(b)
    fa, fb = float_value(r, as_int_value(a)), float_value(r, as_int_value(b))
    require_nonzero(r, fb, "division by zero")
    plain: Callable[[], Value] = lambda: r.emit(arith.DivF.of(fa, fb))  # noqa: E731
    if is_small(r, a) and is_small(r, b):
        return PyFloat(plain())
    exact: Callable[[], Value] = lambda: r.emit(Libm.of("true_divide", [x, y], F64))  # noqa: E731
    small = [compare_floats(r, "ole", r.emit(arith.AbsF.of(v)), float(EXACT - 1)) for v in (fa, fb)]
    return PyFloat(choose(r, both(r, *small), plain, exact))


def float_value(r: Recorder, x: Any) -> Value:
    """A Python number as f64."""
    return scalar_value(r, x, F64)


@as_reached
def compare(r: Recorder, name: str, a: Any, b: Any) -> Any:
    """a OP b as one comparison."""
    function, ufunc, predicate = COMPARE[name]
    if not is_traced(a) and not is_traced(b):
        if holds_traced(a) or holds_traced(b):
            return compare_items(r, name, a, b)
        if is_odd(a) or is_odd(b):
            if name in ("Eq", "NotEq") and any(refusals.is_function(x) for x in (a, b)):
                return (a is b) == (name == "Eq")
            return unsupported_operand(r, function, a, b)
        return ask(function, a, b)
    ia, ib = int_expr(a), int_expr(b)
    if ia is not None and ib is not None:
        return int_compare(r, predicate, ia, ib)
    if name in ("Eq", "NotEq"):
        b = beside_complex(a, b)
    arrays = isinstance(a, ArrayRef) or isinstance(b, ArrayRef)
    for x in (a, b):
        if not isinstance(x, (ArrayRef, Scalar, *NUMBERS)):
            if name in ("Eq", "NotEq") and (isinstance(x, (str, type(None))) or type(x) is object) and not arrays:
                check_origin(r, a, b)
                return ask(function, concrete(a), concrete(b))  # no number equals these
            return unsupported_operand(r, function, a, b)
    if is_python_number(a) and is_python_number(b):
        if isinstance(a, (PyBool, bool)) and isinstance(b, (PyBool, bool)) and predicate in ("eq", "ne"):
            return PyBool(r.emit(arith.CmpI.of(predicate, scalar_value(r, a, I1), scalar_value(r, b, I1))))
        return python_compare(r, predicate, *(bool_as_int(r, x) for x in (a, b)))
    if not arrays and (ordered := scalar_order(r, ufunc, predicate, a, b)) is not None:
        return ordered
    return elementwise(r, ufunc, [a, b])


def holds_traced(x: Any) -> bool:
    """Whether a tuple, list or dict contains items, at any depth, that are only known at run time, or objects of the
    tracer's own, of which Python knows no equality."""
    items = x.values() if isinstance(x, dict) else x if isinstance(x, (tuple, list)) else ()
    return any(is_tracers(i) or holds_traced(i) for i in items)


def compare_items(r: Recorder, name: str, a: Any, b: Any) -> bool | PyBool:
    """== and != of tuples or lists with traced items: item by item, up to the first pair that is known to differ."""
    if name not in ("Eq", "NotEq"):
        r.growth.unordered = True
        raise r.refuse("an order of tuples or lists", "compare their items")
    if isinstance(a, dict) and isinstance(b, dict):
        raise r.refuse("an equality of dicts", "compare their items")
    conditions: list[Value] = []
    kinds = [next((k for k in (tuple, list) if isinstance(x, k)), None) for x in (a, b)]
    equal = None not in kinds and kinds[0] is kinds[1] and len(a) == len(b)
    for x, y in zip(a, b) if equal else ():
        one = same_item(r, x, y)
        if isinstance(one, PyBool):
            conditions.append(one.value)
        elif not one:
            equal = False
            break
    if not equal or not conditions:
        return equal == (name == "Eq")
    found = both(r, *conditions)
    return PyBool(found if name == "Eq" else negation(r, found))


def same_item(r: Recorder, x: Any, y: Any) -> bool | PyBool:
    """x is y or x == y, the equality of items. Refused where a NaN could be an item of both sides, and for what is
    more than a number: arrays, objects, dicts, and what is of one type or another, depending on the path."""
    if x is y:
        return True
    if any((is_tracers(v) and not is_traced(v)) or (isinstance(v, dict) and holds_traced(v)) for v in (x, y)):
        raise r.refuse("an equality of tuples or lists of these", "compare their items")
    known = [v for v in (x, y) if not is_traced(v)]
    floats = any(
        isinstance(v, (PyFloat, PyComplex)) or (isinstance(v, NpScalar) and v.element.component.is_float)
        for v in (x, y)
    )
    if any(isinstance(v, ArrayRef) for v in (x, y)) or (floats and (not known or known[0] != known[0])):
        raise r.refuse("an equality of tuples or lists of these", "compare their items")
    found: bool | PyBool = truth(r, compare(r, "Eq", x, y))
    return found


def python_compare(r: Recorder, predicate: str, a: Any, b: Any) -> bool | PyBool:
    """a OP b of two Python numbers, by their exact values."""
    if is_python_complex(a) or is_python_complex(b):
        ask(COMPARE[NAMES[predicate]][0], concrete(a), concrete(b))  # raises for an order
        return compare_complex(r, predicate, a, b)
    ia, ib = int_expr(a), int_expr(b)
    if ia is not None and ib is not None:
        return int_compare(r, predicate, ia, ib)
    if ia is not None:
        return compare_with_float(r, predicate, ia, float_value(r, b))
    if ib is not None:
        return compare_with_float(r, SWAPPED.get(predicate, predicate), ib, float_value(r, a))
    return PyBool(
        compare_floats(r, ("u" if predicate == "ne" else "o") + predicate, float_value(r, a), float_value(r, b))
    )


def int_compare(r: Recorder, predicate: str, a: Dim, b: Dim) -> bool | PyBool:
    """a OP b of two Python ints: decided by proof or by a guard on entry values, else at run time."""
    if predicate in ("eq", "ne"):
        known = r.ask_equal(a, b)
        if known is not None:
            return known == (predicate == "eq")
        more = next((d for d in (sub(a, b), sub(b, a)) if r.facts.nonneg(d)), None)
        if more is None:
            return PyBool(r.compare(predicate, a, b))
        return PyBool(r.compare(predicate, a, b), sub(more, 1) if predicate == "ne" else sub(0, more))
    for x, y, sign in ((a, b, 1), (b, a, -1)):  # what 64 bits hold beside a constant that they do not
        if isinstance(y, int) and not INT_MIN <= y <= INT_MAX and not isinstance(x, int):
            r.index(x)
            return (predicate in ("lt", "le")) == (y * sign > 0)
    nonneg = {"lt": sub(sub(b, a), 1), "le": sub(b, a), "gt": sub(sub(a, b), 1), "ge": sub(a, b)}[predicate]
    known = r.ask_nonneg(nonneg) if r.entry_only(nonneg) else r.facts.decide_nonneg(nonneg)
    return known if known is not None else PyBool(r.compare("s" + predicate, a, b), nonneg)


@as_reached
def unary(r: Recorder, name: str, a: Any) -> Any:
    """-a, +a, ~a."""
    if type(a) is int or (type(a) is float and name != "Invert"):
        return UNARY[name](a)
    a = without_methods(a)
    if is_odd(a):
        raise r.refuse(f"a {refusals.name_of(a)} as an operand", "use numbers and arrays: np.array(x)")
    if not is_traced(a):
        return ask(UNARY[name], a)
    a = bool_as_int(r, a)
    if (e := int_expr(a)) is not None:
        return as_int_value(e if name == "UAdd" else minus(r, e) if name == "USub" else sub(-1, e))
    if isinstance(a, (PyFloat, PyComplex)):
        ask(UNARY[name], concrete(a))  # raises what Python raises
        if isinstance(a, PyComplex):
            return PyComplex(r.emit(complex_op.Neg.of(a.value))) if name == "USub" else a
        return PyFloat(r.emit(arith.NegF.of(a.value))) if name == "USub" else a
    return elementwise(r, {"USub": np.negative, "UAdd": np.positive, "Invert": np.invert}[name], [a])


@as_reached
def truth(r: Recorder, x: Any) -> bool | PyBool:
    """bool(x): a bool where it is known now, else a condition."""
    if not is_traced(x):
        if isinstance(x, np.ndarray):
            raise r.refuse(
                "the truth of an array from outside", "pass it as an argument"
            )
        if is_odd(x):
            if not refusals.is_function(x):
                raise r.refuse(f"the truth of a {refusals.name_of(x)}", "compare its length")
            return True
        return ask(bool, x)
    if isinstance(x, PyBool):
        return x
    if (e := int_expr(x)) is not None:
        known = int_compare(r, "ne", e, 0)
        return known
    if isinstance(x, PyFloat):
        return PyBool(r.emit(arith.CmpF.of("une", x.value, r.constant(0.0, F64))))
    if isinstance(x, PyComplex):
        return PyBool(scalar_value(r, x, I1))
    if isinstance(x, ArrayRef):
        if x.ndim == 0 or all(d == 1 for d in x.shape):
            x = r.number(x, (0,) * x.ndim)
        else:
            empty, many = AMBIGUOUS
            r.require_nonneg(sub(product(x.shape), 1), "ValueError", empty)
            for d in x.shape:
                r.require_equal(d, 1, "ValueError", many)
            x = r.number(x, (0,) * x.ndim)
    return PyBool(Body(r.frame.block, r.loc).cast(x.value, I1))
