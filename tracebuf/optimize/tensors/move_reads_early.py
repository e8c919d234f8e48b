"""A read is moved before the write that would cost a copy, where dependences permit.

`w = insert v into a; x = extract a[0]` needs a copy of `a`, for the read comes after the write; in the opposite order
it needs none. Only where the analysis finds such a conflict, only within one block, and only if the program is cheaper
afterwards: the order stays as it was where it is not. The read moves with the ops it is computed from, and with those
that read these contents through it. An op that writes to a buffer which others see does not move, nor does one that may
fail move before one that may stop the program. MLIR has no counterpart: its analysis takes the order as given (its
issues 122869, 113600), so does eager NumPy.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tracebuf.analysis.one_shot.derived import Analysis
from tracebuf.ir.core import Block, Op, Use, Value, happens_in
from tracebuf.ir.effects import is_effect_free
from tracebuf.ir.func import Func
from tracebuf.ops.arrays import linalg, tensor
from tracebuf.ops.arrays.bufferization import MaterializeInDestination
from tracebuf.ops.scalars import arith
from tracebuf.optimize.tensors.trial import tried
from tracebuf.optimize.tensors.versions import Versions, destinations

ROUNDS = 8
"""How many moves are tried for one function at the most; each asks the analysis once."""


def move_reads_early(func: Func) -> None:
    """Moves one group of reads after the other, as long as that reduces the cost."""
    if not may_conflict(func):
        return
    now, refused = tried(func), set[Pair]()
    for _ in range(ROUNDS):
        found = None if now is None else next(_moves(func, now.analysis, refused), None)
        if found is None or now is None:
            return
        pair, block, ops = found
        old_order = list(block.ops)
        block.replace_ops(ops)
        moved = tried(func)
        if moved is not None and moved.is_cheaper(now):
            now = moved
        else:
            block.replace_ops(old_order)
            refused.add(pair)


def may_conflict(func: Func) -> bool:
    """Whether something is read after a new version of its storage was made."""
    if not any(value.is_tensor and len(value.uses) > 1 for value in func.values()):
        return False
    versions = Versions(func)
    uses = (use for op in func.walk() for use in op.tensor_uses())
    return any(is_read_late(versions, use) and not puts_back(versions, use) for use in uses)


def puts_back(versions: Versions, use: Use) -> bool:
    """Whether what was made of a storage is put back into it here, which is no read that could come first."""
    kind = isinstance(use.op, tensor.InsertSlice | MaterializeInDestination)
    return kind and use.index == 1 and versions.same_storage(use.op.operand(0), use.value)


def is_read_late(versions: Versions, use: Use) -> bool:
    """Whether the storage of an operand gets a new version between its definition and this use, in some block around
    the use."""
    value = use.value
    op: Op | None = use.op
    while op is not None and op.block is not None:
        here = op.block is value.block
        defined = versions.place(value.owner) if here and isinstance(value.owner, Op) else -1
        if versions.written_between(value, op.block, defined, versions.place(op)):
            return True
        if here:
            return False
        op = op.parent_op
    return False


Pair = tuple[Use, Use]


def _moves(func: Func, analysis: Analysis, refused: set[Pair]) -> Iterator[tuple[Pair, Block, list[Op]]]:
    """Conflicts (write and read) with the block around both, and its ops in the order in which the reads come first."""
    for op in func.walk():
        for use in op.tensor_uses():
            conflict = analysis.conflict(use)
            if conflict is None or conflict.read is None or (conflict.write, conflict.read) in refused:
                continue
            pair = conflict.write, conflict.read
            places = common_block(conflict.write.op, conflict.read.op)
            if places is not None:
                block, write, read = places
                group = _group(block, write, read, readers(analysis, conflict.read))
                if group:
                    yield pair, block, before(block, write, group)
            refused.add(pair)


def common_block(write: Op, read: Op) -> tuple[Block, Op, Op] | None:
    """The innermost block around both, with the op in it that is, or holds, the write, and that of the read; None where
    the read does not come later."""
    anchor: Op | None = read
    while anchor is not None and anchor.block is not None:
        other = happens_in(write, anchor.block)
        if other is not None:
            block = anchor.block
            later = other is not anchor and block.op_index(other) < block.op_index(anchor)
            return (block, other, anchor) if later else None
        anchor = anchor.parent_op
    return None


def readers(analysis: Analysis, read: Use) -> list[Op]:
    """The ops that use the contents that `read` does, through any alias."""
    flow, work, seen = analysis.flow, [read.value], {read.value}
    found: dict[Op, None] = {}
    while work:
        value = work.pop()
        aliases = [use.value for use, _, _ in flow.aliasing_uses(value) if not flow.writes(use)]
        for use in value.uses:
            found[use.op] = None
            aliases += [] if flow.writes(use) else [a.value for a in flow.aliasing_values(use)]
        work += [v for v in aliases if v not in seen]
        seen.update(aliases)
    return list(found)


def _group(block: Block, write: Op, read: Op, others: list[Op]) -> list[Op]:
    """The ops that are to stand before `write`, so that `read` does: none where it cannot. Other ops that read these
    contents come with it where they can."""
    group = needed(block, write, read)
    if group is None:
        return []
    for op in others:
        anchor = happens_in(op, block)
        if anchor is not None and anchor not in group and block.op_index(anchor) > block.op_index(write):
            group |= needed(block, write, anchor) or {}
    ordered = sorted(group, key=block.op_index)
    return ordered if may_move(block, write, ordered) else []


def moved_before(block: Block, write: Op, readers: Sequence[Op]) -> list[Op] | None:
    """The block's ops with the readers, and what they are computed from, before `write`; None where one must stay."""
    group: dict[Op, None] = {}
    for op in readers:
        more = needed(block, write, op)
        if more is None:
            return None
        group |= more
    ordered = sorted(group, key=block.op_index)
    return before(block, write, ordered) if may_move(block, write, ordered) else None


def needed(block: Block, write: Op, op: Op) -> dict[Op, None] | None:
    """`op` and what it is computed from, as far as that stands behind `write`; None where one of them must stay."""
    found: dict[Op, None] = {}
    work = [op]
    while work:
        current = work.pop()
        if current in found:
            continue
        if current is write or not is_pure(current):
            return None
        found[current] = None
        for inner in (current, *current.walk()):
            makers = (v.defining_op for v in inner.operands)
            anchors = (happens_in(maker, block) for maker in makers if maker is not None)
            work += [a for a in anchors if a is not None and block.op_index(a) >= block.op_index(write)]
    return found


def is_pure(op: Op) -> bool:
    """Whether the op and what is in it only compute results."""
    return is_effect_free(op)


def may_move(block: Block, write: Op, group: list[Op]) -> bool:
    """Not if an op writes to what anybody outside the group uses; nor if one may fail that passes one that may stop the
    program."""
    inside = set(group)
    for op in group:
        for inner in (op, *op.walk()):
            if any(not belongs(use.value, op, inside) for use in destinations(inner)):
                return False
    passed = block.ops[block.op_index(write) : block.op_index(group[-1])]
    if all(may_be_passed(op) for op in passed if op not in inside):
        return True
    return all(cannot_fail(inner) for op in group for inner in (op, *op.walk()))


def belongs(value: Value, op: Op, inside: set[Op]) -> bool:
    """Whether a destination is private to the group, or begins within the op itself: a new one, an argument of the
    function, or what an op before the group has made of such a one for the group alone."""
    maker = value.owner if isinstance(value.owner, Op) else value.owner.parent_op
    if maker is not None and (maker is op or any(maker is inner for inner in op.walk())):
        return True
    if any(_top(use.op, inside) is None for use in value.uses):
        return False
    if maker is None or maker in inside or isinstance(maker, tensor.Empty):
        return True
    if not isinstance(maker, linalg.DestinationOp) or value.owner is not maker:
        return False
    start = maker.out_uses[value.index].value
    return belongs(start, op, inside | {maker})


def _top(op: Op, inside: set[Op]) -> Op | None:
    """The op of the group that is, or holds, `op`."""
    current: Op | None = op
    while current is not None and current not in inside:
        current = current.parent_op
    return current


def may_be_passed(op: Op) -> bool:
    """Whether the op, once started, always ends normally."""
    return is_pure(op) or isinstance(op, MaterializeInDestination)


def cannot_fail(op: Op) -> bool:
    """Whether the op is defined wherever its operands are available: constants, and constant indices within bounds."""
    if isinstance(op, tensor.Extract):
        indices = [v.defining_op for v in op.operands[1:]]
        known = [int(i.attrs["value"]) if isinstance(i, arith.Constant) else -1 for i in indices]
        shape = op.operand(0).tensor_type.shape
        return all(isinstance(n, int) and 0 <= i < n for i, n in zip(known, shape, strict=True))
    if isinstance(op, tensor.ExtractSlice):
        return len(op.operands) == 1
    return isinstance(op, arith.Constant | tensor.Empty | tensor.Cast)


def before(block: Block, write: Op, group: list[Op]) -> list[Op]:
    """The block's ops with the group, in its order, before `write`."""
    inside, place = set(group), block.op_index(write)
    rest = [op for op in block.ops[place:] if op not in inside]
    return [*block.ops[:place], *group, *rest]
