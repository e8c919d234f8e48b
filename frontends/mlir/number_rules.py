"""Which types MLIR's ops on numbers take and give: of one type, integers or floats, wider or narrower.

They hold for text only; ops of the tracer's have types of NumPy's, as of bools and unsigned integers, which the text
does not show. A tensor or a vector is of the kind that its elements are. MLIR counterpart: ArithOps.td, MathOps.td,
IndexOps.td.
"""

from __future__ import annotations

import re

from tracebuf.frontends.mlir.memory_rules import Rule, element, sizes_fit
from tracebuf.ir.core import Op
from tracebuf.ir.types import I1, MemRefType, ScalarType, Type, UnrankedMemRefType, VectorType

_INTEGER = re.compile(r"i(\d+)")
_FLOAT = re.compile(r"b?f(\d+)|tf(32)|f(\d)E\d+M\d+\w*")


def kind_of(type: Type) -> str:
    """Of a scalar, or the elements of a tensor or vector: "integer", "index", "float", or neither."""
    if isinstance(type, (MemRefType, UnrankedMemRefType)):
        return "memref"
    name = str(element(type))
    return "index" if name == "index" else "integer" if _INTEGER.fullmatch(name) else "float" if _float(name) else name


def _float(name: str) -> bool:
    return _FLOAT.fullmatch(name) is not None


def width(type: Type) -> int:
    """The bits of an integer or a float."""
    name = str(element(type))
    found = _INTEGER.fullmatch(name) or _FLOAT.fullmatch(name)
    assert found is not None, name
    return int(next(g for g in found.groups() if g))


def alike(types: list[Type]) -> bool:
    """Whether all are scalars, or all of one shape."""
    first = types[0]
    plain = isinstance(first, ScalarType)
    return all(isinstance(t, ScalarType) == plain and _same_sizes(first, t) for t in types[1:])


def _same_sizes(a: Type, b: Type) -> bool:
    if isinstance(a, VectorType) or isinstance(b, VectorType):
        return getattr(a, "shape", None) == getattr(b, "shape", None)
    return sizes_fit(a, b)


def of_one_type(*kinds: str) -> Rule:
    """Operands and result are of one type of these kinds."""

    def rule(op: Op) -> str:
        types = [v.type for v in (*op.operands, *op.results)]
        for type_ in types:
            if kind_of(type_) not in kinds:
                return f"its types are of the kind {' or '.join(kinds)}, which {type_} is not"
        one = len({str(element(t)) for t in types}) == 1 and alike(types)
        return "" if one else f"its operands and results are of one type, not of {', '.join(map(str, types))}"

    return rule


def compared(*kinds: str) -> Rule:
    """The operands are of one type of these kinds, the result of their shape with elements of i1."""

    def rule(op: Op) -> str:
        inputs = [v.type for v in op.operands]
        if problem := of_operands(op, kinds):
            return problem
        fit = element(op.result.type) == I1 and alike([*inputs, op.result.type])
        return "" if fit else f"of {inputs[0]} it gives i1 of that shape, not {op.result.type}"

    return rule


def of_operands(op: Op, kinds: tuple[str, ...]) -> str:
    inputs = [v.type for v in op.operands]
    for type_ in inputs:
        if kind_of(type_) not in kinds:
            return f"its operands are of the kind {' or '.join(kinds)}, which {type_} is not"
    one = len({str(element(t)) for t in inputs}) == 1
    return "" if one else f"its operands are of one type, not of {', '.join(map(str, inputs))}"


def converted(source: str, target: str, order: str = "") -> Rule:
    """From one kind to another, of the same shape; `order`: the result is "wider" or "narrower"."""

    def rule(op: Op) -> str:
        a, b = op.operand(0).type, op.result.type
        if kind_of(a) != source or kind_of(b) != target or not alike([a, b]):
            return f"it makes {target} of {source}, not {b} of {a}"
        wrong = (order == "wider" and width(a) >= width(b)) or (order == "narrower" and width(a) <= width(b))
        return f"its result is {order} than its operand: not {b} of {a}" if wrong else ""

    return rule


def index_cast(op: Op) -> str:
    a, b = op.operand(0).type, op.result.type
    same = isinstance(a, (MemRefType, UnrankedMemRefType)) == isinstance(b, (MemRefType, UnrankedMemRefType))
    names = [str(element(t)) for t in (a, b)]
    fit = names.count("index") == 1 and any(map(_INTEGER.fullmatch, names)) and same and alike([a, b])
    return "" if fit else f"it goes between index and integers, not from {a} to {b}"


def bitcast(op: Op) -> str:
    a, b = op.operand(0).type, op.result.type
    if isinstance(a, (MemRefType, UnrankedMemRefType)):
        return ""
    fit = {kind_of(a), kind_of(b)} <= {"integer", "float"} and alike([a, b]) and width(a) == width(b)
    return "" if fit else f"it keeps the bits of integers and floats: {a} gives no {b}"


def select(op: Op) -> str:
    condition, *rest = (v.type for v in (*op.operands, *op.results))
    one = len({str(t) for t in rest}) == 1
    if not one:
        return f"it chooses between values of one type, not of {', '.join(map(str, rest))}"
    each = element(condition) == I1 and kind_of(condition) != "memref" and alike([condition, rest[0]])
    fit = condition == I1 or each
    return "" if fit else f"its condition is i1, not {condition}"


WHOLE, REAL, INDICES = of_one_type("integer", "index"), of_one_type("float"), of_one_type("index")
OF_INTEGERS = (
    "addi subi muli andi ori xori maxsi minsi maxui minui shli shrsi shrui divsi divui remsi remui ceildivsi "
    "ceildivui floordivsi"
).split()
OF_FLOATS = "addf subf mulf divf remf negf maximumf minimumf maxnumf minnumf".split()
MATH = (
    "absf acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh erf erfc exp exp2 expm1 floor fma log "
    "log10 log1p log2 powf round roundeven rsqrt sin sinh sqrt tan tanh trunc"
).split()
INDEX_OPS = (
    "add sub mul divs divu ceildivs ceildivu floordivs rems remu maxs maxu mins minu and or xor shl shrs shru"
).split()
RULES: dict[str, Rule] = {
    **{f"arith.{name}": WHOLE for name in OF_INTEGERS}, "math.absi": WHOLE,
    **{f"arith.{name}": REAL for name in OF_FLOATS}, **{f"math.{name}": REAL for name in MATH},
    **{f"index.{name}": INDICES for name in INDEX_OPS},
    **{f"math.{name}": compared("float") for name in ("isfinite", "isinf", "isnan")},
    "arith.cmpi": compared("integer", "index"), "arith.cmpf": compared("float"), "index.cmp": compared("index"),
    "arith.extsi": converted("integer", "integer", "wider"), "arith.extui": converted("integer", "integer", "wider"),
    "arith.trunci": converted("integer", "integer", "narrower"),
    "arith.extf": converted("float", "float", "wider"), "arith.truncf": converted("float", "float", "narrower"),
    "arith.sitofp": converted("integer", "float"), "arith.uitofp": converted("integer", "float"),
    "arith.fptosi": converted("float", "integer"), "arith.fptoui": converted("float", "integer"),
    "arith.index_cast": index_cast, "arith.index_castui": index_cast,
    "index.casts": index_cast, "index.castu": index_cast,
    "arith.bitcast": bitcast, "arith.select": select,
}  # fmt: skip
