"""Known numbers of classes derived from Python's: members of an IntEnum, say.

Beside Python's numbers they are Python's own; NumPy, which knows the exact types alone as weak (NEP 50), takes them for
numbers of its own: int64, float64, complex128.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from tracebuf.frontends.numpy.record.raises import ask
from tracebuf.frontends.numpy.record.recorder import Recorder
from tracebuf.frontends.numpy.record.values import ArrayRef, NpScalar, Scalar, stand_in

_BASES = (int, float, complex)
_SPECIAL = frozenset(f"__{name}__" for base in _BASES for name in (
    *(n.strip("_") for n in vars(base) if n.startswith("__")), "array", "array_ufunc", "array_function",
    "array_interface", "array_struct", "array_priority", "ilshift", "iadd", "isub", "imul",
)) - {f"__{name}__" for name in (
    "new", "init", "doc", "repr", "str", "format", "reduce", "reduce_ex", "getnewargs", "hash", "dir", "sizeof",
    "getattribute", "setattr", "delattr", "class", "init_subclass", "subclasshook",
)}  # fmt: skip
"""The special methods by which numbers compute, compare and convert."""


def is_of_subclass(x: object) -> bool:
    """Whether a value is a number of a class derived from Python's int, float or complex."""
    return isinstance(x, _BASES) and type(x) not in (bool, *_BASES) and not isinstance(x, np.generic)


@lru_cache(maxsize=256)
def computes_itself(kind: type) -> str | None:
    """A special method of numbers that a class has of its own; None if it computes as the class it is derived from."""
    mine = kind.__mro__[: kind.__mro__.index(next(b for b in _BASES if issubclass(kind, b)))]
    return next((n for c in mine for n in vars(c) if n in _SPECIAL), None)


def base_number(r: Recorder, x: Any) -> Any:
    """The number as one of the class that its class is derived from."""
    if (method := computes_itself(type(x))) is not None:  # type: ignore[arg-type]
        reason = f"a {type(x).__name__}, which has a `{method}` of its own, beside a number of the trace"
        raise r.refuse(reason, f"convert it: {next(b for b in _BASES if isinstance(x, b)).__name__}(x)")
    return next(b for b in _BASES if isinstance(x, b))(x)


def numpys_number(r: Recorder, x: Any) -> Any:
    """The number as NumPy takes it."""
    found = ask(np.asarray, base_number(r, x))[()]
    if not isinstance(found, np.number):
        raise r.refuse(f"a {type(x).__name__} that no dtype of NumPy's holds", "use a smaller one")
    return found


def operands(r: Recorder, a: Any, b: Any) -> tuple[Any, Any]:
    """The operands of an operator, of which one may be a known number of a subclass, and the other is traced."""
    if not (isinstance(a, _BASES) or isinstance(b, _BASES)):
        return a, b
    for x, y in ((a, b), (b, a)):
        if is_of_subclass(x) and isinstance(y, (ArrayRef, Scalar)):
            alone = isinstance(x, (float, complex))
            if x is a and alone and isinstance(y, NpScalar) and isinstance(stand_in(y), (np.float64, np.complex128)):
                # Python's own operator takes both
                raise r.refuse(f"a {type(x).__name__} beside a NumPy number", "convert it: float(x)")
            if isinstance(y, NpScalar) and y.maybe_python:
                raise r.refuse(f"a {type(x).__name__} beside a number of two types", "convert it: float(x)")
            by_numpy = isinstance(y, (ArrayRef, NpScalar))
            found = numpys_number(r, x) if by_numpy else base_number(r, x)
            return (found, b) if x is a else (a, found)
    return a, b


def arguments(
    r: Recorder, by_numpy: bool, gives_them: bool, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> tuple[list[Any], dict[str, Any]]:
    """The arguments of a call of NumPy's function (`by_numpy`) or Python's, which may return one (`gives_them`)."""

    def taken(x: Any) -> Any:
        if not is_of_subclass(x):
            return x
        if gives_them:
            raise r.refuse(f"a {type(x).__name__} beside numbers of the trace", "convert it: int(x) or float(x)")
        return numpys_number(r, x) if by_numpy else base_number(r, x)

    # NumPy's own number has a dtype, for which it would be taken; this one has none
    return [taken(x) for x in args], {k: x if k == "dtype" and by_numpy else taken(x) for k, x in kwargs.items()}
