"""The Python expression of each scalar op: of NumPy's numbers, with the same bits in plain Python and under Numba.

Numba's integers of fewer than 64 bits become int64 in sums, so results are made of their type; Python's own numbers
(`soft`) may stand beside one of NumPy's, but two of them not alone where they have rules of their own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from operator import eq, ge, gt, le, lt, ne
from typing import Any

from tracebuf.backend.numba import expressions
from tracebuf.backend.numba.expressions import (
    AND,
    ATOM,
    COMPARE,
    OR,
    PRODUCT,
    SHIFT,
    SIGN,
    SUM,
    Expr,
    binary,
    call,
    chosen,
    negation,
    number,
    total,
)
from tracebuf.backend.numba.helpers import EXTREMES, OF_HALVES
from tracebuf.errors import UnsupportedError
from tracebuf.ir.types import F16, F64, I1, I64, INDEX, UI64, ScalarType
from tracebuf.ops.arrays import gather
from tracebuf.ops.scalars import arith, casts, complex, division, functions, integers, libm
from tracebuf.running.ufuncs import is_made_name

Scalar = arith.ScalarOp

_ARITHMETIC: dict[type[Scalar], tuple[str, int]] = {
    arith.AddF: ("+", SUM), arith.SubF: ("-", SUM), arith.MulF: ("*", PRODUCT), arith.DivF: ("/", PRODUCT),
    arith.AddI: ("+", SUM), arith.SubI: ("-", SUM), arith.MulI: ("*", PRODUCT), arith.AndI: ("&", expressions.BIT_AND),
    arith.OrI: ("|", expressions.BIT_OR), arith.XorI: ("^", expressions.BIT_XOR),
    integers.ShLI: ("<<", SHIFT), integers.ShRSI: (">>", SHIFT),
    division.ShRUI: (">>", SHIFT), complex.Add: ("+", SUM), complex.Sub: ("-", SUM),
}  # fmt: skip
_LOGIC: dict[type[Scalar], tuple[str, int]] = {
    arith.AndI: ("and", AND), arith.OrI: ("or", OR), arith.MulI: ("and", AND),
    arith.XorI: ("!=", COMPARE), arith.AddI: ("!=", COMPARE), arith.SubI: ("!=", COMPARE),
}  # fmt: skip
"""On truths."""
_FUNCTIONS: dict[type[Scalar], str] = {
    arith.MaximumF: "maximum", arith.MinimumF: "minimum", arith.MaxNumF: "fmax", arith.MinNumF: "fmin",
    arith.MaxSI: "max", arith.MinSI: "min", arith.MaxUI: "max", arith.MinUI: "min",
    arith.Sqrt: "np.sqrt", arith.Floor: "np.floor", arith.Ceil: "np.ceil", arith.Trunc: "np.trunc",
    arith.RoundEven: "np.rint", arith.CopySign: "np.copysign", division.RemF: "np.fmod",
    functions.IsNan: "np.isnan", functions.IsInf: "np.isinf", functions.IsFinite: "np.isfinite",
    complex.Mul: "np.multiply", complex.Div: "np.divide", complex.Conj: "np.conj",
    division.DivSI: "divide", division.RemSI: "remainder", integers.BitLength: "bit_length",
}  # fmt: skip
"""Functions of the operands."""
_COMPARE = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
_CONSTANT = {"eq": eq, "ne": ne, "lt": lt, "le": le, "gt": gt, "ge": ge}
_OPPOSITE = {"lt": "ge", "le": "gt", "gt": "le", "ge": "lt", "eq": "ne", "ne": "eq"}


def dtype_name(element: ScalarType) -> str:
    """`np.float64`"""
    return "np.int64" if element is INDEX else f"np.{element.dtype.type.__name__.rstrip('_')}" + "_" * (element is I1)


def hard(x: Expr, element: ScalarType) -> Expr:
    """One of NumPy's numbers, surely."""
    return call(dtype_name(element), x) if x.soft and element is not I1 and element is not INDEX else x


def literal(value: Any, element: ScalarType) -> Expr:
    """A constant."""
    if element is I1:
        return Expr(str(bool(value)), soft=True)
    if element.is_complex:
        made = element.dtype.type(value)
        return call(dtype_name(element), _complex_literal(made.real.item(), made.imag.item()))
    if element.is_float:
        return _float_literal(float(element.dtype.type(value)), element)
    found = number(int(value))
    return found if element in (I64, INDEX) else call(dtype_name(element), found)


def _float_literal(value: float, element: ScalarType) -> Expr:
    if value != value:
        return Expr("np.nan", soft=True) if element is F64 else call(dtype_name(element), "np.nan")
    text = repr(value).replace("e+", "e")
    if "inf" in text:
        text = text.replace("inf", "np.inf")
    found = Expr(text, SIGN if text.startswith("-") else ATOM, soft=True)
    return found if element is F64 else call(dtype_name(element), found)


def _complex_literal(re: float, im: float) -> str:
    parts = [_float_literal(p, F64).text for p in (re, im)]
    return f"complex({parts[0]}, {parts[1]})"


def truth(op: Scalar, args: Sequence[Expr]) -> Expr:
    """Arithmetic of truths."""
    a, b = args
    word, level = _LOGIC[type(op)]
    if word in ("and", "or") and (known := [x.text for x in args if x.text in ("True", "False")]):
        decides = str(word == "or")
        return Expr(decides, soft=True) if decides in known else b if a.text == known[0] else a
    if word == "!=" and "True" in (a.text, b.text):
        return negation(b if a.text == "True" else a)
    if word == "!=":
        return binary("!=", COMPARE, call("bool", a), call("bool", b))
    return binary(word, level, a, b)


def arithmetic(op: Scalar, element: ScalarType, args: Sequence[Expr]) -> Expr:
    if element is I1:
        return truth(op, args)
    operator, level = _ARITHMETIC[_kind(op, _ARITHMETIC)]
    a, b = args
    if element is INDEX:
        return total(a, b) if operator == "+" else binary(operator, level, a, b)
    if a.soft and b.soft:
        a = hard(a, element)
    found = binary(operator, level, a, b)
    return found if element in (I64, UI64) or not element.is_integer else call(dtype_name(element), found)


def by_function(op: Scalar, element: ScalarType, args: Sequence[Expr]) -> Expr:
    kind = _kind(op, _FUNCTIONS)
    name = _FUNCTIONS[kind]
    if element is F16 and name in EXTREMES:
        name += OF_HALVES
    if kind in (arith.MaxUI, arith.MinUI) and not element.is_unsigned:
        a, b = (as_unsigned(x, element) for x in args)
        return chosen(binary(">=" if name == "max" else "<=", COMPARE, a, b), *args)
    python = name in ("max", "min") or (name[:3] != "np." and name not in ("divide", "remainder", "bit_length"))
    if name.startswith("np."):
        operand = op.operand(0).type
        assert isinstance(operand, ScalarType)
        args = [hard(args[0], operand), *args[1:]]
    found = call(name, *args, soft=python and any(a.soft for a in args))
    return call(dtype_name(element), found) if element.is_integer and element is not I64 else found


def comparison(op: arith.CmpI | arith.CmpF, args: Sequence[Expr]) -> Expr:
    predicate: str = op.attrs["predicate"]
    a, b = args
    if a.is_number and b.is_number and predicate[-2:] in _CONSTANT:
        return Expr(str(_CONSTANT[predicate[-2:]](float(a.text), float(b.text))), soft=True)
    operand = op.operand(0).type
    assert isinstance(operand, ScalarType)
    if a.text == b.text and (found := _with_itself(op, a, operand)) is not None:
        return found
    if predicate in _COMPARE:
        return binary(_COMPARE[predicate], COMPARE, a, b)
    if predicate in ("true", "false"):
        return Expr(predicate.capitalize())
    if isinstance(op, arith.CmpI):
        if predicate[0] == "u":
            a, b = (as_unsigned(x, operand) for x in (a, b))
        if predicate[0] == "s" and operand is I1:
            a, b = b, a
        return binary(_COMPARE[predicate[1:]], COMPARE, a, b)
    return _float_comparison(predicate, a, b)


def _with_itself(op: arith.CmpI | arith.CmpF, a: Expr, operand: ScalarType) -> Expr | None:
    """A number compared with itself: integers are equal, and of floats NaN alone differs."""
    predicate: str = op.attrs["predicate"]
    if isinstance(op, arith.CmpI):
        return Expr(str(predicate[-2:] in ("eq", "le", "ge")), soft=True)
    found = call("np.isnan", hard(a, operand))
    return {"une": found, "ne": found, "oeq": negation(found), "eq": negation(found)}.get(predicate)


def _float_comparison(predicate: str, a: Expr, b: Expr) -> Expr:
    if predicate in ("uno", "ord"):
        found = call("np.isnan", a)
        if a.text != b.text:
            found = binary("or", OR, found, call("np.isnan", b))
        return found if predicate == "uno" else negation(found)
    kind = predicate[1:]
    if predicate in ("one", "ueq"):
        apart = binary("or", OR, binary("<", COMPARE, a, b), binary(">", COMPARE, a, b))
        return apart if predicate == "one" else negation(apart)
    if predicate[0] == "o" or kind == "ne":
        return binary(_COMPARE[kind], COMPARE, a, b)
    return negation(binary(_COMPARE[_OPPOSITE[kind]], COMPARE, a, b))


def as_unsigned(x: Expr, element: ScalarType) -> Expr:
    """The bits of an integer as unsigned."""
    if element.is_unsigned:
        return x
    if element is INDEX:
        return call("unsigned", x)
    made = hard(x, element)
    if not made.text.startswith("np."):  # Numba asks for a number that the line makes
        made = call(dtype_name(element), made)
    return Expr(f"{made.at(ATOM)}.view(np.uint{element.bits})", reads=x.reads)


def conversion(op: arith.CastOp, element: ScalarType, args: Sequence[Expr]) -> Expr:
    source, x = op.operand(0).type, args[0]
    assert isinstance(source, ScalarType)
    if isinstance(op, casts.Bitcast) and source.is_float != element.is_float:
        made = call(dtype_name(source), x)
        return Expr(f"{made.at(ATOM)}.view({dtype_name(element)})", reads=x.reads)
    if isinstance(op, casts.FPToSI):
        return call(f"as_int{element.bits}", x)
    if isinstance(op, casts.FPToUI):
        return narrowed(call("as_uint64", x), element)
    if element is INDEX:
        return call("int", x, soft=True) if not x.is_number else x
    if element.is_unsigned and not source.is_unsigned and source in (INDEX, I64):
        return narrowed(call("unsigned", x), element)
    if isinstance(op, casts.UIToFP | casts.ExtUI):
        x = as_unsigned(x, source)
    if isinstance(op, casts.TruncI):  # of what may be Python's int (see `narrowed`), which NumPy does not cut
        x = x if x.text.startswith(dtype_name(source)) else call(dtype_name(source), x)
    return call(dtype_name(element), x)


def narrowed(x: Expr, element: ScalarType) -> Expr:
    """The last bits of what a helper gives as np.uint64; where Numba compiled that, it gives Python's int."""
    return x if element.bits == 64 else call(dtype_name(element), call("np.uint64", x))


def divided(op: Scalar, element: ScalarType, args: Sequence[Expr]) -> Expr:
    """Python's `//`."""
    a, b = args
    plain = b.is_number and b.text not in ("0", "-1")
    if a.soft and b.soft and element is not INDEX:
        a = hard(a, element)
    found = binary("//", PRODUCT, a, b) if plain else call("floor_divide", a, b, soft=element is INDEX)
    return found if element in (I64, INDEX) else call(dtype_name(element), found)


def made_complex(op: Scalar, element: ScalarType, args: Sequence[Expr]) -> Expr:
    return call(dtype_name(element), call("complex", *args))


def component(op: Scalar, element: ScalarType, args: Sequence[Expr]) -> Expr:
    part = "real" if isinstance(op, complex.Re) else "imag"
    return Expr(f"{args[0].at(ATOM)}.{part}", reads=args[0].reads)


def ufunc_text(op: arith.Ufunc) -> str:
    name: str = op.attrs["ufunc"]
    if is_made_name(name):
        raise UnsupportedError(f"no Python for {name}, a ufunc that Numba has made in this process", location=op.loc)
    return name if "." in name else f"np.{name}"


def by_ufunc(op: arith.Ufunc, element: ScalarType, args: Sequence[Expr]) -> Expr:
    given = [hard(a, t) for a, t in zip(args, (v.type for v in op.operands)) if isinstance(t, ScalarType)]
    found = call(ufunc_text(op), *given)
    char = op.attrs["types"].rpartition(">")[2]
    return found if char == element.dtype.char else call(dtype_name(element), found)


def expression(op: Scalar, args: Sequence[Expr]) -> Expr:
    """What the op computes of these operands. UnsupportedError for what has no form here."""
    element = op.element
    match op:
        case arith.Constant():
            return literal(op.attrs["value"], element)
        case arith.Ufunc():
            return by_ufunc(op, element, args)
        case arith.CmpI() | arith.CmpF():
            return comparison(op, args)
        case complex.Eq() | complex.Neq():
            return binary("==" if isinstance(op, complex.Eq) else "!=", COMPARE, *args)
        case arith.Select():
            return chosen(args[0], args[1], args[2])
        case division.FloorDivIndex():
            return divided(op, element, args)
        case arith.CastOp():
            return conversion(op, element, args)
        case arith.NegF() | complex.Neg():
            return replace(args[0], text=f"-{args[0].at(SIGN)}", level=SIGN)
        case arith.AbsF() | arith.AbsI():
            found = call("abs", args[0], soft=args[0].soft)
            return call(dtype_name(element), found) if element.is_integer and element is not I64 else found
        case integers.Overflows():
            words = {"add": "sum", "sub": "difference", "mul": "product"}
            return call(f"{words[op.attrs['operation']]}_overflows", *args)
        case complex.Create():
            return made_complex(op, element, args)
        case complex.Re() | complex.Im():
            return component(op, element, args)
        case gather.Element():
            indices = ", ".join(map(str, args[1:])) or "()"
            return _loaded(Expr(f"{args[0]}[{indices}]", reads=True), element)
        case gather.CheckedIndex():
            return call("checked", *args, str(op.attrs["axis"]), soft=True)
        case gather.SortedPlace():
            side = ', "right"' if op.attrs["right"] else ""
            return Expr(f"int(np.searchsorted({args[0]}, {args[1]}{side}))", soft=True, reads=True)
        case libm.Libm():
            return call(libm_name(op), *args, soft=True)  # one of Python's, where it stands for the C library's
    if _kind(op, _ARITHMETIC) in _ARITHMETIC:
        return arithmetic(op, element, args)
    if _kind(op, _FUNCTIONS) in _FUNCTIONS:
        return by_function(op, element, args)
    raise UnsupportedError(f"no Python for {op.name}", location=op.loc)


def _loaded(x: Expr, element: ScalarType) -> Expr:
    return replace(call("int", x), soft=True, reads=True) if element is INDEX else x


def libm_name(op: libm.Libm) -> str:
    """The name by which an emitted module has a function of the C library's, or of Python's `math`."""
    single = "_f" if op.signature.endswith("f") else ""
    return f"c_{op.attrs['function']}{single}"


def _kind(op: Scalar, table: Mapping[type[Scalar], object]) -> type[Scalar]:
    """The class of an op, or the one it renames."""
    return next((k for k in type(op).__mro__ if k in table), type(op))
