"""Which scf.forall can be run one iteration after the other on the shared results themselves.

An iteration sees the results as they were before the loop, whatever other iterations have stored by then. So it may
read only the part that it stores: where that is another iteration's as well, two would store to one element, which MLIR
leaves undefined. Does not copy to make such a program right; MLIR does not see the difference either.
"""

from __future__ import annotations

from tracebuf.errors import UnsupportedError
from tracebuf.ir.core import Mixed, Use, Value
from tracebuf.ir.func import Func
from tracebuf.ops.arrays import tensor
from tracebuf.ops.control.forall import Forall
from tracebuf.ops.scalars.arith import Constant


def refuse_shared_reads(func: Func) -> None:
    """UnsupportedError, with the location, where an iteration reads what another one may have stored."""
    for op in func.walk():
        if isinstance(op, Forall) and not op.runs_once:
            for shared in op.shared:
                _refuse_reads(shared)


def _refuse_reads(shared: Value) -> None:
    stores = [u.op for u in shared.uses if isinstance(u.op, tensor.ParallelInsertSlice) and u.index == 1]
    for use in shared.uses:
        if use.op not in stores and not (isinstance(use.op, tensor.Dim) or _is_own_part(use, stores)):
            reason = f"{use.op.name} looks at a result of scf.forall that other iterations store to"
            raise UnsupportedError(reason, location=use.op.loc)


def _is_own_part(use: Use, stores: list[tensor.ParallelInsertSlice]) -> bool:
    op = use.op
    if isinstance(op, tensor.Extract):  # the first element of what is stored
        return all(_starts_at(store, op.operands[1:]) for store in stores)
    return isinstance(op, tensor.ExtractSlice) and all(op.same_subset(store) for store in stores)


def _starts_at(store: tensor.ParallelInsertSlice, place: list[Value]) -> bool:
    sizes = store.slice.sizes
    return all(isinstance(n, int) and n > 0 for n in sizes) and all(
        a is b or _same_constant(a, b) for a, b in zip(place, store.slice.offsets, strict=True)
    )


def _same_constant(a: Value, b: Mixed) -> bool:
    op = a.defining_op
    return isinstance(b, int) and isinstance(op, Constant) and op.attrs["value"] == b
