"""Element-wise ops compute into an operand that is not used afterwards, instead of into a new array.

Where `e / e.sum()` is the last use of `e`, and `e` is an array that the function made itself, the quotient takes its
buffer. Eager NumPy cannot, unless the operand has no name. Not for arrays of the caller (rule B1), operands that are
read at other elements than the one written, or of another size, dtype or axis order. So it never costs a copy: the
analysis finds the operand in place. A loop-carried array is such an array too, if it begins as one and nobody else sees
it: `x = x + 1` then stays in its buffer, and `p, q = q, p + q` need two (rules S9, S11). No MLIR counterpart; One-Shot
only follows destinations that are given. It runs after eliminate-empty-tensors, for a store's own destination is the
better place.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import inf

from tracebuf.analysis.one_shot.dataflow import Dataflow
from tracebuf.analysis.one_shot.order import Order
from tracebuf.analysis.one_shot.storages import Storages
from tracebuf.frozen import cached_property
from tracebuf.ir.core import Block, Op, Use, Value
from tracebuf.ir.func import Func
from tracebuf.ops.arrays.linalg import DestinationOp
from tracebuf.ops.arrays.tensor import Empty, Regrouping
from tracebuf.ops.control import scf
from tracebuf.optimize.tensors.eliminate_empty_tensors import continued
from tracebuf.optimize.tensors.versions import Versions


def reuse_dying_inputs(func: Func) -> None:
    """Rewrites every such op, in program order, so that a chain of them needs one buffer."""
    candidates = [op for op in func.walk() if isinstance(op, DestinationOp) and fresh_destination(op) is not None]
    if not candidates:
        return
    versions: Versions | None = None
    carried = Carried(func)
    for op in candidates:
        out, empty = op.out_uses[0], fresh_destination(op)
        if empty is None:
            continue
        tensors = [u for u in op.in_uses if u.value.is_tensor]
        dying = None
        if alike := [u for u in tensors if is_alike(u.value, empty)]:
            versions = versions or Versions(func)
            dying = next((u for u in alike if may_become(u, out, versions)), None)
        dying = dying or next((u for u in tensors if carried.may_become(u, out, empty)), None)
        if dying is not None:
            if versions is not None:
                versions.join(dying.value, empty.result)
            out.set(dying.value)
            empty.erase()
            carried.forget()


def fresh_destination(op: DestinationOp) -> Empty | None:
    """The new array that an op computes into and nothing else uses, if it has one destination."""
    if not op.on_tensors or len(op.out_uses) != 1:
        return None
    empty = op.out_uses[0].value.defining_op
    return empty if isinstance(empty, Empty) and len(empty.result.uses) == 1 else None


def may_become(operand: Use, out: Use, versions: Versions) -> bool:
    """The rules for an operand that is like the result, whose buffer that would take."""
    return is_unused_afterwards(operand, versions) and is_read_where_it_is_written(operand, out, versions)


def is_alike(value: Value, empty: Empty) -> bool:
    """Whether the operand has the size, dtype and axis order of the result, and begins as a new array in the same
    block; under another shape, as far as both lie in C order."""
    start, maker, reshaped = value, value.defining_op, False
    while maker is not None and maker.block is empty.block:
        if isinstance(maker, Regrouping):
            start, reshaped = maker.source, True
        elif (link := continued(start)) is not None:
            start = link.value
        else:
            break
        maker = start.defining_op
    if not isinstance(maker, Empty) or maker.block is not empty.block or value.type != empty.result.type:
        return False
    if reshaped:
        return in_c_order(maker) and in_c_order(empty)
    return maker.result.type == empty.result.type and maker.attrs["order"] == empty.attrs["order"]


def in_c_order(empty: Empty) -> bool:
    """Whether the elements of a new array lie in C order."""
    return tuple(empty.attrs["order"]) == tuple(range(empty.result.tensor_type.rank))


def is_unused_afterwards(operand: Use, versions: Versions) -> bool:
    """Not if a version of the operand's storage, or a view of one, is used after the op: it would see the result."""
    op, value = operand.op, operand.value
    assert op.block is not None
    return op.block is value.block and not versions.used_between(value, op.block, versions.place(op), inf)


def is_read_where_it_is_written(operand: Use, out: Use, versions: Versions) -> bool:
    """Not if the op reads the storage in any other way than this: element i, before it writes element i."""
    others = [u for u in reading_uses(operand.op, out) if versions.same_storage(u.value, operand.value)]
    return reads_elements_of(operand, others, out)


def reading_uses(op: Op, out: Use) -> Iterator[Use]:
    """All operands but the destination, and the values from outside that the op's body uses."""
    yield from (u for inner in (op, *op.walk()) for u in inner.tensor_uses() if u is not out)


def reads_elements_of(operand: Use, others: Sequence[Use], out: Use) -> bool:
    """Whether those operands are the same array, and the op is done with an element of it when it writes that of
    `out`."""
    op = operand.op
    return all(u.op is op and u.value is operand.value and op.elementwise_access(u, out) for u in others)


class Carried:
    """The rules for loop-carried operands, whose buffer the result may take. A wrong yes would cost a copy, no more."""

    def __init__(self, func: Func) -> None:
        self._func = func
        self._storages: Storages | None = None

    @cached_property
    def _order(self) -> Order:
        """The ops in order, which the pass does not change."""
        return Order(self._func)

    def forget(self) -> None:
        """The program has changed."""
        self._storages = None

    def may_become(self, operand: Use, out: Use, empty: Empty) -> bool:
        """All the rules for an operand whose buffer the result would take."""
        loop = beginning(operand.value).owner
        if not isinstance(loop, Block) or not isinstance(loop.parent_op, scf.Loop):
            return False
        return (
            operand.value.type == empty.result.type
            and is_private(operand.value, empty, set())
            and self.dies(operand.value, operand.op)
            and self.is_read_where_it_is_written(operand, out)
        )

    def dies(self, value: Value, op: Op) -> bool:
        """Not if something uses the array after `op` on the same path; a loop's initial value dies with the loop."""
        start = beginning(value)
        work, seen = [start], {start}
        while work:
            for use in work.pop().uses:
                if use.op is op or self._order.mutually_exclusive(use.op, op):
                    continue
                if not self._order.happens_before(use.op, op):
                    return False
                new = [a.value for a in use.op.aliasing_values(use) if a.value not in seen]
                work += new
                seen.update(new)
        block, around = op.block, start.block
        while block is not around and block is not None and isinstance(block.parent_op, scf.If):
            block = block.parent_op.block
        if block is not around:
            return False
        loop = around.parent_op
        if not isinstance(start.owner, Block) or not isinstance(loop, scf.Loop):
            return True
        init = loop.inits[loop.args.index(start)]
        return sum(u.op is loop for u in init.value.uses) == 1 and self.dies(init.value, loop)

    def is_read_where_it_is_written(self, operand: Use, out: Use) -> bool:
        """Not if the op reads the storage in any other way than this: element i, before it writes element i."""
        if self._storages is None:
            self._storages = Storages(Dataflow(self._func))
        storages = self._storages
        others = [u for u in reading_uses(operand.op, out) if not storages.disjoint(u.value, operand.value)]
        return reads_elements_of(operand, others, out)


def beginning(value: Value) -> Value:
    """What the value is a later version of."""
    while (link := continued(value)) is not None:
        value = link.value
    return value


def is_private(value: Value, like: Empty, seen: set[Value]) -> bool:
    """Whether all that the value can be began as new arrays of the type and the axis order of `like`."""
    start = beginning(value)
    if start in seen:
        return True
    seen.add(start)
    op = start.owner
    if isinstance(op, Empty):
        return start.type == like.result.type and op.attrs["order"] == like.attrs["order"]
    if isinstance(op, scf.If):
        return all(is_private(b.terminator.operand(start.index), like, seen) for b in op.branches)
    loop = op.parent_op if isinstance(op, Block) else op
    if not isinstance(loop, scf.Loop) or not loop.straight:
        return False
    if isinstance(loop, scf.While) and (op is loop or op is loop.after):
        return is_private(loop.passed[start.index].value, like, seen)
    index = loop.args.index(start) if isinstance(op, Block) else start.index
    return all(is_private(use.value, like, seen) for use in (loop.inits[index], loop.passed[index]))
