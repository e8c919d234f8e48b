"""Element-wise ops compute into an operand that nobody needs afterwards, instead of into a new array.

What: where `e / e.sum()` is the last use of `e`, and `e` is an array that the function made itself, the quotient takes
its buffer. Eager NumPy cannot, unless the operand has no name. What not: nothing that came from the caller (rule B1),
no operand that is read at other elements than the one written, none of another size, dtype or axis order. So it never
costs a copy: the analysis finds the operand in place. No MLIR counterpart; One-Shot only follows destinations that are
given. It runs after eliminate-empty-tensors, for a store's own destination is the better place.
"""

from __future__ import annotations

from math import inf

from tracebuf.ir.core import Func, Use, Value
from tracebuf.ops.linalg import Generic
from tracebuf.ops.tensor import Empty
from tracebuf.optimize.empty_tensors import continued
from tracebuf.optimize.versions import Versions


def reuse_dying_inputs(func: Func) -> None:
    """Rewrites every such op, in program order, so that a chain of them needs one buffer."""
    candidates = [op for op in func.walk() if isinstance(op, Generic) and fresh_destination(op) is not None]
    if not candidates:
        return
    versions = Versions(func)
    for op in candidates:
        out, empty = op.out_uses[0], fresh_destination(op)
        dying = next((u for u in op.in_uses if empty is not None and may_become(u, out, empty, versions)), None)
        if dying is not None and empty is not None:
            versions.join(dying.value, empty.result)
            out.set(dying.value)
            empty.erase()


def fresh_destination(op: Generic) -> Empty | None:
    """The new array that an element-wise op computes into and nothing else uses, if it has one destination."""
    if not op.on_tensors or not op.all_parallel or len(op.out_uses) != 1:
        return None
    empty = op.out_uses[0].value.defining_op
    return empty if isinstance(empty, Empty) and len(empty.result.uses) == 1 else None


def may_become(operand: Use, out: Use, empty: Empty, versions: Versions) -> bool:
    """All the rules for an operand whose buffer the result would take."""
    return (
        operand.value.is_tensor
        and is_alike(operand.value, empty)
        and is_unused_afterwards(operand, versions)
        and is_read_where_it_is_written(operand, out, versions)
    )


def is_alike(value: Value, empty: Empty) -> bool:
    """Of the same size, dtype and axis order, and begun as a new array in the same block."""
    maker = value.defining_op
    while maker is not None and not isinstance(maker, Empty) and maker.block is empty.block:
        link = continued(maker.results[0]) if len(maker.results) == 1 else None
        maker = None if link is None else link.value.defining_op
    return (
        isinstance(maker, Empty)
        and maker.block is empty.block
        and value.type == maker.result.type == empty.result.type
        and maker.attrs["order"] == empty.attrs["order"]
    )


def is_unused_afterwards(operand: Use, versions: Versions) -> bool:
    """Not if a version of the operand's storage, or a view of one, is used after the op: it would see the result."""
    op, value = operand.op, operand.value
    assert op.block is not None
    return op.block is value.block and not versions.used_between(value, op.block, versions.place(op), inf)


def is_read_where_it_is_written(operand: Use, out: Use, versions: Versions) -> bool:
    """Not if the op reads the storage in any other way than this: element i, before it writes element i."""
    op = operand.op
    others = (u for u in op.tensor_uses() if u is not out and versions.same_storage(u.value, operand.value))
    return all(u.value is operand.value and op.elementwise_access(u, out) for u in others)
