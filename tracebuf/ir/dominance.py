"""Whether each value is defined before its uses, in regions of several blocks.

MLIR counterpart: mlir/lib/IR/Dominance.cpp."""

from __future__ import annotations

from tracebuf.ir.core import Block, Op, Region


def first_not_dominated(region: Region) -> Op | None:
    """The first op that uses a value whose definition does not dominate it."""
    dominators: dict[Block, set[Block]] = {}
    for op in region.walk():
        for use in op.uses:
            if not _dominates(use.value.block, use.value.defining_op, op, dominators):
                return op
    return None


def _dominates(home: Block, definition: Op | None, op: Op, known: dict[Block, set[Block]]) -> bool:
    at: Op | None = op
    while at is not None and at.block is not None and at.block.region is not home.region:
        at = at.parent_op
    if at is None or at.block is None:
        return False
    if at.block is home:
        return definition is None or home.op_index(definition) < home.op_index(at)
    if home not in known:
        known.update(dominators_of(home.region))
    return home in known[at.block]


def dominators_of(region: Region) -> dict[Block, set[Block]]:
    """The dominators of each block of a region. An unreachable block is dominated by all."""
    every = set(region.blocks)
    before: dict[Block, list[Block]] = {block: [] for block in region.blocks}
    for block in region.blocks:
        for next_ in block.ops[-1].successors if block.ops else ():
            before[next_].append(block)
    found = dict.fromkeys(region.blocks, every)
    found[region.block] = {region.block}
    changed = True
    while changed:
        changed = False
        for block in region.blocks[1:]:
            new = every.intersection(*(found[b] for b in before[block])) | {block}
            if new != found[block]:
                found[block], changed = new, True
    return found
