"""Which loop of a nest threads may share: `split_of`.

A nest is split along one loop whose iterations are independent of one another: a parallel one, in which every out
varies, so that no two threads write one element. Each iteration takes the same steps whoever runs it, so the bits are
the same for any number of threads.

Or a nest folds all of its elements into one: then it is split into pieces each of which is folded by itself, and what
they come to is folded at the end. The sum of a piece of 2**k blocks is a node of the tree that sums are anyway
(backend/llvm/folds.py), so the bits are the same here too; a minimum's may differ in the sign of a zero. Folds in order
are not split, nor those of bools, which end when they are decided.

Not split are scatters, nests whose order counts (`ordered`), and those that call what is not known to run in any
thread: Python's own functions, and loops of ufuncs that are not NumPy's, or of integer powers, which may raise.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import prod

from tracebuf.frozen import frozen
from tracebuf.ir.core import Op
from tracebuf.ir.types import I1
from tracebuf.lower.plan import BLOCK, IN_ORDER, Nest
from tracebuf.ops.arrays.gather import Element, SortedPlace
from tracebuf.ops.scalars import arith
from tracebuf.ops.scalars.libm import Libm
from tracebuf.running.python_functions import HOSTED

FLOATS, INTEGERS = frozenset("efdFD->"), frozenset("?bBhHiIlLqQ")
"""Characters of the types of NumPy's loops."""
FEW = 16
"""A loop that is known to have fewer iterations is not split where one inside of it can be."""
LEAST = 2**20
"""Bytes that a nest of known size has to touch to be split."""


@frozen()
class Split:
    """The loop, by its depth; of how many of its iterations a piece is a multiple (`powers`: a power of two); what one
    iteration of the innermost loop costs, in bytes touched, or what takes as long; whether pieces are folded."""

    depth: int
    grain: int
    cost: int
    folds: bool = False
    powers: bool = False
    wide: bool = False
    """Whether pieces are as wide as can be, one for each thread: of each row that is folded into the out they read a
    part, and many short ones take longer."""


def split_of(nest: Nest) -> Split | None:
    """Where a nest may be split; None where it may not."""
    if nest.spec.scatters or nest.spec.ordered or not nest.loops[-1].dims or not runs_anywhere(nest.spec.body.ops):
        return None
    cost = _cost(nest)
    if all(isinstance(lp.size, int) for lp in nest.loops):
        if prod(lp.size for lp in nest.loops if isinstance(lp.size, int)) * cost < LEAST:
            return None
    outs = [o for o in nest.operands if o.written]
    if nest.folds and nest.fold_loops == len(nest.loops):
        one_loop = len(nest.loops) == 1
        grain = BLOCK if nest.blocked and one_loop else 1
        return Split(0, grain, cost, True, nest.blocked) if _folds_apart(nest) else None
    may = [
        d
        for d, loop in enumerate(nest.loops)
        if not loop.reduction and all(o.strides[d] != 0 for o in outs)
    ]  # fmt: skip
    if not may or not outs:
        return None
    depth = next((d for d in may if not isinstance(n := nest.loops[d].size, int) or n >= FEW), may[0])
    innermost = depth == len(nest.loops) - 1
    grain = BLOCK if nest.blocked and innermost else 1
    return Split(depth, grain, cost, wide=innermost and any(lp.reduction for lp in nest.loops[:depth]))


def _folds_apart(nest: Nest) -> bool:
    """Whether pieces may be folded by themselves."""
    if len(nest.folds) < sum(o.written for o in nest.operands) or any(f.how == IN_ORDER for f in nest.folds):
        return False
    written = {o.index: o.element for o in nest.operands if o.written}
    return all(written[f.out] is not I1 for f in nest.folds)


def runs_anywhere(ops: Iterable[Op]) -> bool:
    """Whether all that the ops call may run in any thread."""
    for op in ops:
        if isinstance(op, Libm) and op.attrs["function"] in HOSTED:
            return False
        if isinstance(op, arith.Ufunc):
            name, types = op.attrs["ufunc"], set(op.attrs["types"])
            if "." in name or not types <= FLOATS | INTEGERS or name == "power" and not types <= FLOATS:
                return False
    return True


def _cost(nest: Nest) -> int:
    touched = sum(o.element.itemsize * (1 + (o.read and o.written)) for o in nest.operands if o.inner != 0)
    return max(touched + sum(map(cost_of, nest.spec.body.ops)), 1)


def cost_of(op: Op) -> int:
    """What an op on one element takes, in bytes touched in the cache, of which there are a hundred in a nanosecond."""
    if isinstance(op, arith.Ufunc | Libm | SortedPlace):
        return 400
    return 64 if isinstance(op, Element) else 1
