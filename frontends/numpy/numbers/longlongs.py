"""Arrays of longlong and ulonglong, where they have the memory of int64 and uint64 (rule C1).

NumPy's dtypes are equal, so that arrays are traced as those of int64; the classes of numbers are two, and nothing says
which one a number of int64 has in a program that has both. Where that would be seen (a number that is returned,
`type(x)`, `dtype.char`), the original function runs, or the program is refused if it makes them itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tracebuf.errors import UnsupportedError
from tracebuf.frontends.numpy.call.arguments import RunOriginal
from tracebuf.frontends.numpy.record.raises import ask
from tracebuf.frontends.numpy.record.recorder import Recorder
from tracebuf.frontends.numpy.record.values import NpScalar
from tracebuf.ir.types import CHARS, I64, SUPPORTED_DTYPES, UI64, scalar_type

TWINS = {I64: np.dtype(np.longlong), UI64: np.dtype(np.ulonglong)}
"""By element: the dtype that is equal to its own, and has a scalar class of its own."""


def is_longlong(x: Any) -> bool:
    """Whether a value is a dtype, or stands for one, that equals a supported one and is another."""
    if isinstance(x, np.dtype):
        return x.char not in CHARS and x in SUPPORTED_DTYPES
    if isinstance(x, type):
        return issubclass(x, np.integer) and x in (np.longlong, np.ulonglong) and is_longlong(np.dtype(x))
    if isinstance(x, str) and len(x) < 12 and ("q" in x.lower() or "long" in x):
        try:
            return is_longlong(np.dtype(x))
        except TypeError:
            return False
    return False


def note(r: Recorder, function: Any, args: Sequence[Any]) -> None:
    """Notes that a call of a function of NumPy's names longlong; in a program that has it, np.issubdtype may tell which
    of two equal dtypes one is."""
    if not r.longlong and any(map(is_longlong, args)):
        r.longlong = "made"
    if r.longlong and function is np.issubdtype and len(args) == 2:
        check_answer(r, lambda dtype: ask(np.issubdtype, dtype, args[1]), args[0], "np.issubdtype")
        check_answer(r, lambda dtype: ask(np.issubdtype, args[0], dtype), args[1], "np.issubdtype")


def doubt(r: Recorder, what: str) -> RunOriginal | UnsupportedError:
    """What is raised where it would be seen that a number is of int64 or longlong."""
    text = f"{what}, in a program that has arrays of longlong, which NumPy tells apart from int64"
    return RunOriginal(text) if r.longlong == "given" else r.refuse(text, "use np.int64 and np.uint64 alone")


def check_number(r: Recorder, x: NpScalar, what: str) -> None:
    """Raises where a number is of int64 or longlong, and it matters which."""
    if r.longlong and x.element in TWINS:
        raise doubt(r, what)


def check_dtype(r: Recorder, x: Any, what: str) -> None:
    """Raises where a dtype is int64 or longlong, and it matters which."""
    if r.longlong and isinstance(x, np.dtype) and x in SUPPORTED_DTYPES and scalar_type(x) in TWINS:
        raise doubt(r, what)


def check_answer(r: Recorder, question: Callable[[Any], Any], x: Any, what: str) -> None:
    """Raises where a question has two answers, of a dtype or a number of it, and of the one that it equals."""
    if not r.longlong or not isinstance(x, (np.dtype, NpScalar)):
        return
    dtype = x.dtype if isinstance(x, NpScalar) else x
    twin = TWINS.get(scalar_type(dtype)) if dtype in SUPPORTED_DTYPES else None
    if twin is not None:
        both = [scalar_type(dtype).dtype, twin]
        if len({question(d.type(0) if isinstance(x, NpScalar) else d) for d in both}) > 1:
            raise doubt(r, what)
