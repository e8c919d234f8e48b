"""Operands of elementwise functions: how dtype resolution sees them, their scalar values, and `where=` and `out=`.

Dtypes come from NumPy itself (rule N5).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import product
from typing import Any, Literal, TypeVar

import numpy as np

from tracebuf.errors import UnsupportedError
from tracebuf.frontends.numpy.numbers.bodies import Body
from tracebuf.frontends.numpy.record.raises import Raises, ask
from tracebuf.frontends.numpy.record.recorder import Recorder
from tracebuf.frontends.numpy.record.refusals import name_of
from tracebuf.frontends.numpy.record.scalar_checks import unknown_origin
from tracebuf.frontends.numpy.record.values import (
    NUMBERS,
    PYTHON_TYPES,
    UNSURE_TYPES,
    ArrayRef,
    NpScalar,
    PyBool,
    PyComplex,
    PyFloat,
    PyInt,
    Scalar,
    is_traced,
)
from tracebuf.ir.core import Value
from tracebuf.ir.types import C128, ELEMENTS, F64, I64, SUPPORTED, ScalarType
from tracebuf.location import Location

Operand = ArrayRef | Scalar | bool | int | float | complex | np.generic
"""What an elementwise function takes."""
Casting = Literal["no", "equiv", "safe", "same_kind", "unsafe"]
BOOL, INT = np.dtype(np.bool_), np.dtype(np.int64)
WEAK = {kind: tuple(BOOL if t is bool else t for t in types) for kind, types in UNSURE_TYPES.items()}
"""By the `kind` of `Unsure`: the weak types."""
T = TypeVar("T")


def is_operand(x: object) -> bool:
    """Whether a value is an array or a number, traced or not."""
    return is_traced(x) or isinstance(x, NUMBERS)


def weak_type(value: object) -> Any:
    """An operand as dtype resolution sees it: a dtype, or one of the weak Python types int, float, complex (NEP 50)."""
    kind = PYTHON_TYPES.get(type(value))
    if kind is not None:
        return BOOL if kind is bool else kind
    return getattr(value, "dtype", None) or (int if isinstance(value, int) else float)


MOST_EXACT = 2**53
"""Up to it each int is a float."""


def as_number(r: Recorder, x: Any) -> Any:
    """A number, or the element of an array without axes, which converts as one."""
    return r.number(x) if isinstance(x, ArrayRef) and x.ndim == 0 else x


def common_dtype(*kinds: Any) -> np.dtype:
    """The dtype that NumPy gives to operands of these weak types together."""
    strong = any(not isinstance(k, type) for k in kinds)
    return np.result_type(*(k() if strong and isinstance(k, type) else k for k in kinds))


@lru_cache(maxsize=4096)
def loop_dtypes(
    ufunc: np.ufunc, kinds: tuple[Any, ...], wanted: np.dtype | None = None, casting: Casting = "same_kind"
) -> tuple[np.dtype, ...]:
    """The dtypes of the loop NumPy would run (`wanted`: its `dtype=`), inputs then outputs; TypeError as NumPy's."""
    if all(isinstance(k, type) for k in kinds):
        kinds = tuple(np.dtype(k) for k in kinds)
    forced: dict[str, Any] = {} if wanted is None else {"signature": (*(None,) * ufunc.nin, *(wanted,) * ufunc.nout)}
    dtypes: tuple[np.dtype, ...] = ask(ufunc.resolve_dtypes, (*kinds, *(None,) * ufunc.nout), **forced, casting=casting)
    return dtypes


def supported(dtype: np.dtype, what: str, loc: Location) -> ScalarType:
    """The element type of a dtype; UnsupportedError where there is none."""
    if (found := ELEMENTS.get(dtype)) is None:
        raise UnsupportedError(
            f"{what} has dtype {dtype}; supported are {SUPPORTED}", location=loc,
            instead="use one of these, for example np.float64, or .astype(np.float64) of an operand",
        )  # fmt: skip
    return found


def scalar_value(r: Recorder, operand: Operand, element: ScalarType) -> Value:
    """A scalar operand as an SSA value of an element type, converted as NumPy converts it."""
    body = Body(r.frame.block, r.loc)
    if isinstance(operand, PyInt):  # to a float as Python does it: as float64
        value = r.i64(operand.expr)
        return body.cast(body.cast(value, F64) if element.component.is_float else value, element)
    if isinstance(operand, (PyFloat, PyComplex, PyBool, NpScalar)):
        return body.cast(operand.value, element)
    if not isinstance(operand, NUMBERS):
        reason = f"a {name_of(operand)} where a number or an array is expected"
        raise r.refuse(reason, "use a number: np.nan")
    if type(operand) is float and element is F64:
        return r.constant(operand, element)
    if type(operand) is int and element.is_integer and element.bounds[0] <= operand <= element.bounds[1]:
        return r.constant(operand, element)
    if type(operand) is int and element is F64 and abs(operand) <= MOST_EXACT:
        return r.constant(float(operand), element)
    with np.errstate(all="ignore"):
        fixed = (
            np.asarray(operand).astype(element.dtype).item()
            if isinstance(operand, np.generic)
            else ask(element.dtype.type, operand).item()
        )
    return r.constant(fixed, element)


def on_all_paths(operands: Sequence[Operand], found: Callable[..., T], loc: Location) -> T:
    """What `found` gives for the operands' weak types; UnsupportedError where it hangs on which of those numbers that
    are Python's or NumPy's, depending on the path, are Python's."""
    first, *others = (found(*kinds) for kinds in product(*map(weak_types, operands)))
    if any(other != first for other in others):
        raise unknown_origin(loc)
    return first


def weak_types(value: Operand) -> tuple[Any, ...]:
    """`weak_type`, then those of the Python numbers that may be in its place."""
    unsure = value.python if isinstance(value, NpScalar) else None
    return (weak_type(value), *(() if unsure is None else WEAK[unsure.kind]))


def check_maybe_python(
    operands: Sequence[Operand], loc: Location, compared: bool = False, wraps: bool = False
) -> bool:
    """Whether the result, too, may be a Python number; UnsupportedError where a NumPy scalar and a Python number would
    give different results. Comparisons (`compared`) of ints with ints differ in the result's type only; where it is
    looked at what `wraps`, so do sums, differences and products."""
    unsure = [o for o in operands if isinstance(o, NpScalar) and o.maybe_python]
    if not unsure:
        return False
    others = [o for o in operands if not (isinstance(o, NpScalar) and o.maybe_python)]
    element = unsure[0].element
    strong = [o for o in others if isinstance(o, (ArrayRef, NpScalar, np.generic))]
    pairs = [(u, weak_type(o)) for u in unsure for o in strong]
    exact = all(acts_alike(u, kind) or compared and are_ints(u, kind) for u, kind in pairs)
    ints = all(weak_type(o) is not float for o in others)
    alike = bool(strong) or element in (F64, C128) or (compared and ints) or (wraps and ints and element is I64)
    if not exact or any(u.element is not element for u in unsure) or not alike:
        raise unknown_origin(loc, f"start it as np.{element.dtype.name}(...)")
    return not strong


def are_ints(x: NpScalar, beside: np.dtype) -> bool:
    """Whether both are ints, which are compared by their values, whosever they are."""
    python = x.python is not None and x.python.kind in ("int", "bool")
    return python and x.element.is_integer and beside.kind in "iub"


def acts_alike(x: NpScalar, beside: np.dtype) -> bool:
    """Whether NumPy computes the same from the scalar and this dtype as from the Python number that may be in its
    place."""
    if x.element is F64 and x.python is not None and x.python.kind == "float":
        return beside == F64.dtype or beside.kind in "iub"  # a Python float beside integers is a float64
    if x.element is C128 and x.python is not None and x.python.kind == "complex":
        return beside in (C128.dtype, F64.dtype) or beside.kind in "iub"
    return beside == x.element.dtype or (x.element is I64 and beside in (F64.dtype, BOOL))


def mask_of(r: Recorder, where: Any) -> Operand | None:
    """The value of `where=`: an array of bools, the truth of a number, or None for everything; TypeError, as NumPy's,
    for an array of any other dtype."""
    if where is True or where is np._NoValue:
        return None
    if not isinstance(where, (ArrayRef, Scalar, *NUMBERS)):
        raise r.refuse(f"a {type(where).__name__} as where=", "use an array of bools")
    if isinstance(where, ArrayRef) and where.dtype != BOOL:
        what = f"{'array data' if where.ndim else 'scalar'} from {where.dtype!r} to dtype('bool')"
        raise Raises(TypeError(f"Cannot cast {what} according to the rule 'safe'"))
    if isinstance(where, Scalar) and weak_type(where) != BOOL:
        raise r.refuse("a number that is no bool as where=", "use x != 0")
    mask: Operand = where if isinstance(where, (ArrayRef, Scalar)) else bool(where)
    return mask


def out_of(r: Recorder, out: Any) -> ArrayRef | None:
    """The array that `out=` names, given by itself or in a tuple of one."""
    if isinstance(out, tuple):
        if len(out) != 1:
            raise Raises(ValueError("The 'out' tuple must have exactly one entry per ufunc output"))
        (out,) = out
    if out is None or isinstance(out, ArrayRef):
        return out
    if isinstance(out, np.ndarray) or out is Ellipsis:
        raise r.refuse("this `out`", "an array that is an argument, or made here")
    raise Raises(TypeError("return arrays must be of ArrayType"))
