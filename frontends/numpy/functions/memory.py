"""Whose memory an array is: `.base`, `.flags.owndata`, `.data`.

What the function's own expressions make owns its memory, or is a view of what such an array, or an argument, is. Of
arguments, and of arrays from outside, the call is asked. What NumPy makes of several arrays inside of its functions is
refused.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tracebuf.frontends.numpy.record.raises import Raises
from tracebuf.frontends.numpy.record.recorder import Recorder
from tracebuf.frontends.numpy.record.values import UNTOLD, ArrayRef, PyBool, storages_of
from tracebuf.frozen import frozen

FRESH: frozenset[Any] = frozenset((
    np.zeros, np.ones, np.empty, np.full, np.zeros_like, np.ones_like, np.empty_like, np.full_like, np.arange, np.copy,
    np.array, np.where, np.concatenate, np.sort, np.cumsum,
    np.sum, np.prod, np.max, np.min, np.repeat, np.stack, np.vstack, np.hstack,
))  # fmt: skip
"""Functions whose results own their memory where these are no arguments."""
METHODS = frozenset(("copy", "astype", "cumsum", "sum", "prod", "max", "min", "repeat"))
"""And methods."""
OTHERS: frozenset[Any] = frozenset((
    np.broadcast_to, np.broadcast_arrays, np.frombuffer, np.from_dlpack, np.lib.stride_tricks.as_strided,
    np.lib.stride_tricks.sliding_window_view,
))  # fmt: skip
"""Functions whose results are views of other objects than the array that they are given."""
INSTEAD = "ask outside who owns the memory, and pass the answer in"


@frozen(eq=False)
class Base:
    """`.base` of an array of the caller's (`of`), or of a view of it (`is_view`)."""

    of: ArrayRef
    is_view: bool


def note(function: Any, given: Sequence[Any], results: Sequence[ArrayRef]) -> None:
    """Notes whose memory the results of a call are; `function` is a function, a method's name, or an operator."""
    if callable(function) and function in OTHERS:
        for made in results:
            made.base = made if made.base is made else UNTOLD
    elif function in FRESH or function in METHODS or isinstance(function, (np.ufunc, ast.AST)):
        for made in results:
            own = made.base is UNTOLD and type(made) is ArrayRef and made.is_whole and made.storage.arg is None
            if own and not any(isinstance(x, ArrayRef) and made.storage in storages_of(x) for x in given):
                made.base = None


def base(r: Recorder, a: ArrayRef) -> Any:
    """a.base."""
    if a.base is UNTOLD:
        raise r.refuse("`.base` of an array is not supported here: whose memory it is is not known", INSTEAD)
    owner = a.base
    return owner if owner is None or owner.base is None else Base(owner, a is not owner)


def owns(r: Recorder, a: ArrayRef) -> bool | PyBool:
    """a.flags.owndata."""
    if a.base is UNTOLD:
        raise r.refuse("`.flags.owndata`: who owns an array's memory is not known while tracing", "ask outside")
    return asked(r, a, "flags.owndata") if a.base is a else a.base is None


def asked(r: Recorder, a: ArrayRef, what: str) -> PyBool:
    """What the call is asked about an array of the caller's."""
    if (found := r.asked(a, what)) is None:
        raise r.refuse("`.base` of an array in a container is not supported", INSTEAD)
    return found  # type: ignore[no-any-return]


def same_base(r: Recorder, x: Base, other: Any) -> bool | PyBool:
    """`x is other`."""
    if isinstance(other, Base):
        if x is other or (x.of is other.of and x.is_view == other.is_view):
            return True
        raise r.refuse("`is` of the bases of two arrays of the caller's", INSTEAD)
    if other is None:
        return False if x.is_view else asked(r, x.of, "base is None")
    if not isinstance(other, ArrayRef):
        return False
    if other is x.of:
        return asked(r, x.of, "view().base is itself") if x.is_view else False
    if type(other) is not ArrayRef or other.origin is not None or other.base is other or other.base is UNTOLD:
        raise r.refuse("whether an array of the caller's is a view of this one", INSTEAD)
    return False  # made here


# -- memoryviews
@frozen(eq=False)
class Memory:
    """a.data, a memoryview."""

    of: ArrayRef


def memory_attribute(r: Recorder, x: Memory, name: str, attribute: Callable[[Any, str], Any]) -> Any:
    """An attribute of a memoryview; `attribute` is that of an array."""
    like = np.empty((1,) * x.of.ndim, x.of.dtype).data
    if name in ("shape", "nbytes", "strides", "ndim", "itemsize"):
        return attribute(x.of, name)
    if name in ("c_contiguous", "f_contiguous"):
        return attribute(attribute(x.of, "flags"), name)
    if name == "contiguous":
        return attribute(attribute(x.of, "flags"), "forc")
    if name == "readonly":
        return not attribute(attribute(x.of, "flags"), "writeable")
    if name == "format":
        return like.format
    if name == "obj":
        return x.of
    if name == "tolist" and x.of.dtype.kind in "biuf" and x.of.ndim:
        return attribute(x.of, name)
    if not hasattr(like, name):
        raise Raises(AttributeError(f"'memoryview' object has no attribute '{name}'"))
    raise r.refuse(f"`.{name}` of the memory of an array (`.data`) is not supported", "ask the array")


def compared_memory(r: Recorder, a: Any, b: Any) -> tuple[ArrayRef, ArrayRef]:
    """The arrays whose shapes and elements are compared where two memoryviews are."""
    if isinstance(a, Memory) and isinstance(b, Memory):
        if a.of.dtype == b.of.dtype and a.of.dtype in (np.bool_, np.float64, np.float32, np.int64, np.int32, np.uint8):
            return a.of, b.of
    raise r.refuse("memory (`.data`) compared with something else", "compare the arrays: np.array_equal(a, b)")
