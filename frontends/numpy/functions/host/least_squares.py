"""scipy.linalg.lstsq of matrices and vectors that have been read before: what is called gives its residuals in one
form, beside whether there are any, which the elements determine.

There are none where the matrix has not full rank; they are a number of a vector, an array of several; what there is
instead is an empty array of the solution's dtype. Stacks of matrices, and drivers that give no singular values, are
left to `untraced`.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from tracebuf.errors import UnsupportedError
from tracebuf.frontends.numpy.arrays.creation import asarray
from tracebuf.frontends.numpy.arrays.new_arrays import filled
from tracebuf.frontends.numpy.functions.host import untraced
from tracebuf.frontends.numpy.functions.host.calls import Given, HostEntry, Shape
from tracebuf.frontends.numpy.record.cond import Cond
from tracebuf.frontends.numpy.record.recorder import Recorder
from tracebuf.frontends.numpy.record.registry import traces_late
from tracebuf.frontends.numpy.record.values import ArrayRef, PyBool
from tracebuf.ir.dims import dim_min

BASIC = "scipy.linalg._basic"
DRIVERS = (None, "gelsd", "gelss")
"""Those of LAPACK's drivers that give singular values."""


def flat_lstsq(a: Any, b: Any, cond: Any = None, check_finite: Any = True, lapack_driver: Any = None) -> Any:
    """scipy.linalg.lstsq, with as many residuals as there are columns, and whether these are such."""
    x, residuals, rank, s = sys.modules[BASIC].lstsq(
        a, b, cond, check_finite=check_finite, lapack_driver=lapack_driver
    )
    if 0 in np.shape(a) and x.dtype != np.float64:
        raise UnsupportedError("scipy.linalg.lstsq without equations or unknowns, of other numbers than float64")
    columns = np.shape(b)[1:]
    there = np.shape(residuals) == columns and np.asarray(residuals).dtype.kind == "f"
    found = np.empty(columns, s.dtype)
    found[...] = residuals if there else np.nan
    return x, found if columns else found[()], int(there), rank, s


def shapes(r: Recorder, given: Given) -> list[Shape]:
    a, b = given["a"].shape, given["b"].shape
    return [(a[1], *b[1:]), b[1:], (), (), (r.facts.simplify(dim_min(*a)),)]


ENTRY = HostEntry(flat_lstsq, ("a", "b"), shapes, values=("cond",), label="scipy.linalg.lstsq", of_sizes=True)


@traces_late(BASIC, "lstsq")
def lstsq(
    r: Recorder, a: Any, b: Any, cond: Any = None, overwrite_a: Any = False, overwrite_b: Any = False,
    check_finite: Any = True, lapack_driver: Any = None,
) -> Any:  # fmt: skip
    """scipy.linalg.lstsq."""
    if not all(isinstance(x, (ArrayRef, list, tuple)) for x in (a, b)) or lapack_driver not in DRIVERS:
        return as_it_is(r, a, b, cond, False, False, check_finite, lapack_driver)
    first, second = asarray(r, a), asarray(r, b)
    if first.ndim != 2 or second.ndim not in (1, 2):
        return as_it_is(r, a, b, cond, False, False, check_finite, lapack_driver)
    x, residuals, there, rank, s = ENTRY(r, first, second, cond, check_finite, lapack_driver)
    known = PyBool(r.compare("ne", there.expr, 0))
    return x, Cond(known.value, residuals, none_of(r, x)), rank, s


def as_it_is(r: Recorder, *args: Any) -> Any:
    """The call of what is not described here."""
    return untraced.call(r, sys.modules[BASIC].lstsq, args, {})


def none_of(r: Recorder, x: ArrayRef) -> ArrayRef:
    """The residuals that there are not."""
    return filled(r, (0,), x.element, None)
