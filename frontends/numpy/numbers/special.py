"""Ufuncs of scipy.special: elementwise functions as NumPy's, whose own inner loops are called by pointer.

Left to eager is what their loops would tell Python about: errors that `scipy.special.seterr` asks for, and the warning
that an order was cut to an integer. Source: `sf_error` and the legacy loops in SciPy's `special`.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

import numpy as np

from tracebuf.frontends.numpy.record.recorder import Recorder
from tracebuf.running.ufuncs import SPECIAL, is_special, name_of_ufunc

OPERANDS = 6
"""How many operands, with the result, native code passes to a loop."""


def is_traceable(ufunc: np.ufunc) -> bool:
    """Whether a ufunc is one of scipy.special that is traced: elementwise, of one result."""
    return ufunc.signature is None and ufunc.nout == 1 and ufunc.nargs <= OPERANDS and is_special(ufunc)


def check_special(r: Recorder, ufunc: np.ufunc, dtypes: Sequence[np.dtype]) -> None:
    """Refuses a call of a ufunc of scipy.special whose loop may warn or raise."""
    if not is_special(ufunc):
        return
    asked = {kind: action for kind, action in sys.modules[SPECIAL].geterr().items() if kind != "memory"}
    if any(action != "ignore" for action in asked.values()):
        raise r.refuse(f"{name_of_ufunc(ufunc)} where scipy.special.seterr asks for errors", "leave it at 'ignore'")
    for k, dtype in enumerate(dtypes[: ufunc.nin]):
        if dtype.kind in "fc" and any(types[k] in "ilqp" for types in ufunc.types):
            reason = f"{name_of_ufunc(ufunc)} of a {dtype} as operand {k}, which it cuts to an integer, with a warning"
            raise r.refuse(reason, "pass an integer, and float64 for the others")


def check_special_mask(r: Recorder, ufunc: np.ufunc, mask: object) -> None:
    """Refuses `where=`: the loops of SciPy's move the pointers that they are given, by which NumPy goes on from one run
    of selected elements to the next, so that eager reads and writes elsewhere (seen in SciPy 1.17)."""
    if mask is not None and is_special(ufunc):
        raise r.refuse(f"{name_of_ufunc(ufunc)} with `where=`, which is undefined", "np.where(c, f(a), b)")
