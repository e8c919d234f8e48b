"""What formulas and loops leave to NumPy itself, and functions of known numbers: np.interp of complex values, np.isin
of a kind, np.i0, np.roots, np.poly, np.arange of complex numbers, np.einsum_path, numbers as texts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tracebuf.frontends.numpy.arrays import creation
from tracebuf.frontends.numpy.functions.host.calls import Given, HostEntry, UpTo, dims, like, static
from tracebuf.frontends.numpy.record.raises import ask
from tracebuf.frontends.numpy.record.recorder import Recorder
from tracebuf.frontends.numpy.record.registry import primitive, traces
from tracebuf.frontends.numpy.record.values import ArrayRef, is_traced
from tracebuf.ir.dims import Dim, add, dim_max, sub

INTERP = HostEntry(np.interp, ("x", "xp", "fp"), like("x"), values=("left", "right", "period"))
ISIN = HostEntry(np.isin, ("element", "test_elements"), like("element"))
traces(np.i0)(HostEntry(np.i0, ("x",), like("x")))


def complex_roots(p: Any) -> tuple[Any, int]:
    """The roots of a polynomial as complex numbers, and 0 where they are float64, 1 for other floats, else 2."""
    found = np.roots(p)
    return found.astype(complex), 2 if found.dtype.kind == "c" else int(found.dtype != float)


def complex_poly(seq_of_zeros: Any) -> tuple[Any, int]:
    """The coefficients of a polynomial as complex numbers, and 2 where they are such, else 1."""
    found = np.poly(seq_of_zeros)
    return found.astype(complex), 2 if found.dtype.kind == "c" else 1


def roots_shapes(r: Recorder, given: Given) -> Sequence[Sequence[Dim | UpTo]]:
    shape = dims(given["p"])
    return [(UpTo(r.facts.simplify(dim_max(sub(shape[0], 1), 0)) if shape else 0),), ()]


def poly_shapes(r: Recorder, given: Given) -> Sequence[Sequence[Dim | UpTo]]:
    return [(add(dims(given["seq_of_zeros"])[0], 1),), ()]


ROOTS = HostEntry(complex_roots, ("p",), roots_shapes, counts=True, label="numpy.roots")
POLY = HostEntry(complex_poly, ("seq_of_zeros",), poly_shapes, label="numpy.poly")
roots_by_numpy, poly_by_numpy = primitive(ROOTS), primitive(POLY)
interp_by_numpy, isin_by_numpy = primitive(INTERP), primitive(ISIN)


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
