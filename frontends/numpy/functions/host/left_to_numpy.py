"""What formulas and loops leave to NumPy itself, and functions of known numbers: np.interp of complex values, np.isin
of a kind, np.i0, np.arange of complex numbers, np.einsum_path, numbers as texts."""

from __future__ import annotations

from typing import Any

import numpy as np

from tracebuf.frontends.numpy.arrays import creation
from tracebuf.frontends.numpy.functions.host.calls import HostEntry, like, static
from tracebuf.frontends.numpy.record.raises import ask
from tracebuf.frontends.numpy.record.recorder import Recorder
from tracebuf.frontends.numpy.record.registry import primitive, traces
from tracebuf.frontends.numpy.record.values import ArrayRef, is_traced

INTERP = HostEntry(np.interp, ("x", "xp", "fp"), like("x"), values=("left", "right", "period"))
ISIN = HostEntry(np.isin, ("element", "test_elements"), like("element"))
traces(np.i0)(HostEntry(np.i0, ("x",), like("x")))


@primitive
def interp_by_numpy(r: Recorder, x: Any, xp: Any, fp: Any, left: Any, right: Any, period: Any) -> Any:
    """np.interp, called."""
    return INTERP(r, x, xp, fp, left, right, period)


@primitive
def isin_by_numpy(r: Recorder, element: Any, items: Any, assume_unique: Any, invert: Any, kind: Any) -> Any:
    """np.isin, called."""
    return ISIN(r, element, items, assume_unique, invert, kind=kind)


@traces(np.arange)
def arange(r: Recorder, *args: Any, **kwargs: Any) -> Any:
    """np.arange; of complex numbers, which are known, NumPy's own array."""
    given = (*args, *kwargs.values())
    if not any(type(x) is complex for x in given) or any(map(is_traced, given)):
        return creation.arange(r, *args, **kwargs)
    found = ask(np.arange, *args, **kwargs)
    return creation.asarray(r, found.tolist(), found.dtype)


@traces(np.binary_repr, of=np.binary_repr)
@traces(np.base_repr, of=np.base_repr)
def as_text(function: Any, r: Recorder, *args: Any, **kwargs: Any) -> Any:
    """A number as a text; an int of the caller's becomes part of the key."""
    name = f"an argument of np.{function.__name__}"
    return ask(function, *[static(r, x, name) for x in args], **{k: static(r, x, name) for k, x in kwargs.items()})


@traces(np.einsum_path)
def einsum_path(r: Recorder, *operands: Any, optimize: Any = "greedy", einsum_call: Any = False) -> Any:
    """np.einsum_path, by the sizes of the operands, which become part of the key."""

    def known(x: Any) -> Any:
        if not isinstance(x, ArrayRef):
            return static(r, x, "an argument of np.einsum_path")
        shape = [r.static_int(n, "a size of an operand of np.einsum_path") for n in x.shape]
        return np.broadcast_to(np.empty((), x.dtype), shape)

    return ask(np.einsum_path, *map(known, operands), optimize=optimize, einsum_call=einsum_call)
