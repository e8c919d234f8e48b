"""Why no rule saved a read after write: a phrase for each rule, and the most helpful one.

Asked for only where conflicts are to be shown. MLIR's print-conflicts shows the pair and its definition, and nothing of
the rules.
"""

from __future__ import annotations

from dataclasses import replace

from tracebuf.analysis.one_shot.aliases import Read, loop_between, read_of
from tracebuf.analysis.one_shot.base import Conflict, describe
from tracebuf.analysis.one_shot.rules import (
    ORDER_RULES,
    SUBSET_RULES,
    Rules,
    by_way_of_another_branch,
    disjoint_parts,
    elementwise,
    exclusive_branches,
    order_counts,
    read_happens_before,
    same_use,
)
from tracebuf.ir.core import Op, Use
from tracebuf.ops.arrays.tensor import ExtractSlice, InsertSlice


def explained(rules: Rules, conflict: Conflict) -> list[Conflict]:
    """The conflict with `unsaved` and `because`, once for each definition involved."""
    read = None if conflict.read is None else read_of(rules.flow, conflict.read)
    if read is None:
        return [conflict]
    write = conflict.write
    unsaved = tuple((rule.__name__, _missed(rules, rule, read, write)) for rule in (*ORDER_RULES, *SUBSET_RULES))
    because = _telling(rules, read, write)
    definitions = (d for d in read.definitions if not rules.harmless(read.use, write, d))
    return [replace(conflict, definition=d, unsaved=unsaved, because=because) for d in definitions]


def _missed(rules: Rules, rule: object, read: Read, write: Use) -> str:
    """Why one rule did not hold."""
    if rule in SUBSET_RULES:
        return "no part is put back where it was taken from"
    if not order_counts(rules, read, write):
        return f"the order says nothing, {_again(rules, read, write)}"
    if rule is read_happens_before:
        return "the write comes first"
    if rule is same_use:
        return "they are two operands"
    if rule is exclusive_branches:
        return "one run may come to both"
    if rule is elementwise:
        return _not_elementwise(read.use, write)
    if rule is disjoint_parts:
        return _not_disjoint(rules, read.use, write)
    assert rule is by_way_of_another_branch, rule
    return "what is overwritten gets to the read on a path with the write" if rules.parts else "MLIR does not look"


def _telling(rules: Rules, read: Read, write: Use) -> str:
    """The reason that a user would think of first, if there is one."""
    if not order_counts(rules, read, write):
        return _again(rules, read, write)
    if isinstance(write.op, InsertSlice) and (read.use.op is write.op or part_of(read.use) is not None):
        return _not_disjoint(rules, read.use, write)
    if read.use.op is write.op and read.use is not write:
        return _not_elementwise(read.use, write)
    return ""


def _again(rules: Rules, read: Read, write: Use) -> str:
    definitions = (d for d in read.definitions if not rules.harmless(read.use, write, d))
    regions = (loop_between(rules.flow, read.use.op, d) for d in definitions)
    loops = (region.op for region in regions if region is not None and region.op is not None)
    around = next((op for op in loops if rules.flow.order.contains(op, write.op)), None)
    if around is None or not around.loc.line:
        return "for a loop comes back to the read"
    return f"for the loop in line {around.loc.line} comes back to the read"


def _not_elementwise(read: Use, write: Use) -> str:
    if read.op is not write.op:
        return "they are two operations"
    if not read.op.elementwise_access(read, write):
        return "it reads other elements than the one that it is about to write"
    return "what it reads and what it writes are not known to be one array"


def _not_disjoint(rules: Rules, read: Use, write: Use) -> str:
    if rules.parts is None:
        return "MLIR does not compare parts"
    if "disjoint-slices" not in rules.improved:
        return "parts are not compared (improvements=)"
    near, far = part_of(read), part_of(write)
    if near is None or far is None:
        return "one of them is the whole array"
    parts = dict.fromkeys((describe(near.loc), describe(far.loc)))
    return f"{' and '.join(parts) if len(parts) == 2 else 'the two parts'} may have an element in common"


def part_of(use: Use) -> Op | None:
    """The op that says which part of a buffer the operand is, if it is a slice or goes into one."""
    if isinstance(use.op, InsertSlice) and use.index == 1:
        return use.op
    op = use.value.defining_op
    return op if isinstance(op, ExtractSlice) else None
