"""Which loop of a nest threads may share: `split_of`.

A nest is split along one loop whose iterations are independent of one another: a parallel one, in which every out
varies, so that no two threads write one element. Each iteration takes the same steps whoever runs it, so the bits are
the same for any number of threads. Where a sum's rows are folded the rows are shared, never a row.

Not split are scatters, nests whose order counts (`ordered`), and those that call what is not known to run in any
thread: Python's own functions, and loops of ufuncs that are not NumPy's, or of integer powers, which may raise.
"""

from __future__ import annotations

from math import prod

from tracebuf.frozen import frozen
from tracebuf.lower.plan import BLOCK, Nest
from tracebuf.ops.scalars import arith
from tracebuf.ops.scalars.libm import Libm
from tracebuf.running.python_functions import HOSTED

FLOATS, INTEGERS = frozenset("efdFD->"), frozenset("?bBhHiIlLqQ")
"""Characters of the types of NumPy's loops."""
FEW = 16
"""A loop that is known to have fewer iterations is not split where one inside of it can be."""
GRAIN = 64
"""Iterations of an innermost loop between two borders: elements of one cache line are one thread's."""
LEAST = 2**14
"""Bytes that a nest of known size has to touch to be split."""


@frozen()
class Split:
    """The loop, by its depth; how many of its iterations, a multiple of which is one piece; what one iteration of the
    innermost loop costs, in bytes touched, or what takes as long."""

    depth: int
    grain: int
    cost: int


def split_of(nest: Nest) -> Split | None:
    """Where a nest may be split; None where it may not."""
    if nest.spec.scatters or nest.spec.ordered or not nest.loops[-1].dims or not _runs_anywhere(nest):
        return None
    cost = _cost(nest)
    if all(isinstance(lp.size, int) for lp in nest.loops):
        if prod(lp.size for lp in nest.loops if isinstance(lp.size, int)) * cost < LEAST:
            return None
    outs = [o for o in nest.operands if o.written]
    may = [
        d
        for d, loop in enumerate(nest.loops)
        if not loop.reduction and all(o.strides[d] != 0 for o in outs)
    ]  # fmt: skip
    if not may or not outs:
        return None
    depth = next((d for d in may if not isinstance(n := nest.loops[d].size, int) or n >= FEW), may[0])
    innermost = depth == len(nest.loops) - 1
    return Split(depth, (BLOCK if nest.blocked or depth else GRAIN) if innermost else 1, cost)


def _runs_anywhere(nest: Nest) -> bool:
    """Whether all that the body calls may run in any thread."""
    for op in nest.spec.body.ops:
        if isinstance(op, Libm) and op.attrs["function"] in HOSTED:
            return False
        if isinstance(op, arith.Ufunc):
            name, types = op.attrs["ufunc"], set(op.attrs["types"])
            if "." in name or not types <= FLOATS | INTEGERS or name == "power" and not types <= FLOATS:
                return False
    return True


def _cost(nest: Nest) -> int:
    touched = sum(o.element.itemsize * (1 + (o.read and o.written)) for o in nest.operands if o.inner != 0)
    calls = sum(isinstance(op, arith.Ufunc | Libm) for op in nest.spec.body.ops)
    return max(touched + len(nest.spec.body.ops) + 32 * calls, 1)
