"""The rules by which a read and a write of one buffer do not conflict, one function each.

A conflict needs a definition, then the write, then the read, on one buffer. A pair is first compared with every
definition; what is left may still be saved by the order of the ops (unless a loop runs them again), or by the elements
that the two operands access. MLIR counterpart: `hasReadAfterWriteInterference` in OneShotAnalysis.cpp. Its behaviours
are cited by their numbers in docs/mlir-behaviours.md.
"""

from __future__ import annotations

from collections.abc import Callable

from tracebuf.analysis.one_shot.aliases import Read, loop_between
from tracebuf.analysis.one_shot.base import Conflict
from tracebuf.analysis.one_shot.dataflow import Dataflow
from tracebuf.analysis.one_shot.indices import Indices
from tracebuf.analysis.one_shot.order import within
from tracebuf.analysis.one_shot.parts import Parts
from tracebuf.analysis.one_shot.storages import Storages
from tracebuf.frozen import frozen
from tracebuf.ir.core import Block, Op, Use, Value, happens_in
from tracebuf.ops.arrays.linalg import Generic
from tracebuf.ops.arrays.tensor import ExtractSlice, InsertSlice, SliceOp
from tracebuf.ops.control import scf
from tracebuf.options import Improvement


@frozen()
class Rules:
    """The rules over one function. `parts` is None to decide as MLIR 22 does; else `improved` says beyond what."""

    flow: Dataflow
    parts: Parts | None
    storages: Storages
    indices: Indices
    improved: frozenset[Improvement]

    def conflict(self, read: Read, write: Use) -> Conflict | None:
        """The conflict between a read and a write of one buffer, or None."""
        if self.parts is not None and "disjoint-slices" in self.improved and self.parts.boxes_disjoint(read.use, write):
            if order_counts(self, read, write):
                return None
        definition = next((d for d in read.definitions if not self.harmless(read.use, write, d)), None)
        if definition is None:
            return None
        if order_counts(self, read, write) and any(rule(self, read.use, write) for rule in ORDER_RULES):
            return None
        if any(rule(self, read, write) for rule in SUBSET_RULES):
            return None
        if any(op.is_not_conflicting(read.use, write, self.flow) for op in {read.use.op: None, write.op: None}):
            return None
        return Conflict("read after write", write, read.use, definition)

    def harmless(self, read: Use, write: Use, definition: Value) -> bool:
        """Whether what the definition makes is not overwritten by the write before the read."""
        if self.outside(write, definition):
            return True
        return self.parts is not None and defined_anew_before(self.flow, read, write, definition)

    def outside(self, write: Use, definition: Value) -> bool:
        """Whether the write is outside of the definition. Beyond MLIR 22 also where write and definition have no
        storage in common; a result of the writing loop itself counts as its initial value there, because a loop makes
        all its results at once. Tests: test_s9_rotating_buffers_are_handed_on,
        test_s9_a_counting_loop_hands_on_through_branches, test_final_stores_of_arrays_that_the_path_tells_apart."""
        op = write.op
        if self.parts is not None:
            at_once = definition.owner is op and isinstance(op, scf.Loop) and definition.index < len(op.inits)
            start = op.inits[definition.index].value if at_once and isinstance(op, scf.Loop) else definition
            if self.storages.disjoint(start, write.value):
                return True
        return write_is_outside_definition(self.flow, write, definition, compat=self.parts is None)

    def exclusive(self, a: Op, b: Op) -> bool:
        """Whether only one of two ops is met."""
        order = self.flow.order
        return order.mutually_exclusive(a, b) or (self.parts is not None and order.of_other_conditions(a, b))

    def same(self, a: Value, b: Value) -> bool:
        """Whether two values are one buffer, element for element, or do not overlap. In MLIR: one SSA value
        (MLIR behaviour 6)."""
        if a is b or self.parts is None or "early-equivalence" not in self.improved:
            return a is b
        return self.parts.same(a, b)

    def leads_to(self, use: Use, value: Value) -> bool:
        """Whether the operand's value, followed back through equal buffers, is `value`.

        MLIR asks for one chain that leads there; here both branches of an scf.if must lead there, or to storage that is
        certainly another. Test: test_branches_that_yield_different_parts.
        """
        if self.parts is None:
            found = self.flow.chain(use, lambda v: v is value, leaves=False, equivalent=True, same_type=True)
            return next(found, None) is not None
        ends = list(self.flow.chain(use, lambda v: self.same(v, value), leaves=True, equivalent=True, same_type=True))
        return all(self.same(v, value) or self.parts.unrelated(v, value) for v in ends)

    def comes_from_subset(self, use: Use, insert: Op, dest: Value) -> bool:
        """Whether all that the operand's value can come from is the part of `dest` that `insert` overwrites."""

        def is_part(value: Value) -> bool:
            op = value.defining_op
            return (
                isinstance(op, ExtractSlice)
                and isinstance(insert, InsertSlice)
                and self.indices.same_subset(op, insert, as_mlir=self.parts is None)
                and self.same(op.source, dest)
            )

        def is_all(value: Value) -> bool:
            return value.defining_op is not None and self.same(value, dest)

        partly = isinstance(insert, InsertSlice)
        matches = is_part if partly else is_all
        whole = not partly and self.parts is not None
        return all(matches(v) for v in self.flow.chain(use, matches, leaves=True, equivalent=whole))


def write_is_outside_definition(flow: Dataflow, write: Use, definition: Value, *, compat: bool) -> bool:
    """No conflict if the write happens before the definition, or makes it (MLIR behaviour 31).

    The definition overrides whatever was written before. A write inside the defining op is part of the definition. A
    block's argument is defined whenever the block is entered, so a write outside of the block does not matter (beyond
    MLIR 22: nor if it stands in another block of the same region, which branches may have led to). And a write whose
    only result is the definition is the definition. Tests: test_raw_old_version_is_copied, test_loop_insert.
    """
    owner = definition.owner
    if isinstance(owner, Op):
        if flow.order.happens_before(write.op, owner):
            return True
        if owner is not write.op and flow.order.contains(owner, write.op):
            return True
    elif (happens_in(write.op, owner) if compat else within(write.op, owner.region)) is None:
        return True
    made = flow.aliasing_values(write)
    return len(made) == 1 and made[0].value is definition


def defined_anew_before(flow: Dataflow, read: Use, write: Use, definition: Value) -> bool:
    """No conflict if every path from the write to the read enters the block whose argument is read: it is another value
    then. MLIR 22 only asks that the write stands in another block. Tests: test_blocks_in_a_circle_are_analysed,
    test_branches_that_loop."""
    home = definition.owner
    if not isinstance(home, Block) or len(home.region.blocks) == 1:
        return False
    reader, writer = within(read.op, home.region), within(write.op, home.region)
    if reader is None or writer is None or reader.block is None or writer.block in (None, home, reader.block):
        return False
    assert writer.block is not None
    return not flow.order.reaches(writer.block, reader.block, home)


def order_counts(rules: Rules, read: Read, write: Use) -> bool:
    """Whether the order of ops says anything: not if a loop around the read, inside which the read's value is not
    defined, holds the write as well (MLIR behaviour 27): the next iteration reads what this one wrote. Beyond MLIR 22,
    definitions that the write does not overwrite are left out: of `c = b if x else a`, a store to b concerns b alone.

    Tests: test_cross_iteration_slice, test_elementwise_in_loop_on_outer_value,
    test_a_store_in_a_loop_to_one_of_two_arrays_that_the_path_tells_apart.
    """
    for definition in read.definitions:
        if comes_back(rules.flow, read.use.op, write.op, definition):
            if rules.parts is None or not rules.harmless(read.use, write, definition):
                return False
    return True


def comes_back(flow: Dataflow, read: Op, write: Op, definition: Value) -> bool:
    """Whether a loop inside which the definition is not made leads from the write back to the read."""
    region = loop_between(flow, read, definition)
    if region is not None and region.op is not None and flow.order.contains(region.op, write):
        return True
    return blocks_form_a_loop(flow, read, write, definition)


def blocks_form_a_loop(flow: Dataflow, read: Op, write: Op, definition: Value) -> bool:
    """Whether branches lead from the read to the write and back without passing the definition's block
    (MLIR behaviour 28). Test: test_branches_that_loop."""
    home = definition.block
    if len(home.region.blocks) == 1:
        return False
    reader, writer = within(read, home.region), within(write, home.region)
    if reader is None or writer is None:
        return False
    assert reader.block is not None and writer.block is not None
    if flow.as_mlir and not (reader is read and writer is write):
        return False  # MLIR 22 looks no further than the blocks of the two ops
    there = flow.order.reaches(reader.block, writer.block, home)
    return there and flow.order.reaches(writer.block, reader.block, home)


def read_happens_before(rules: Rules, read: Use, write: Use) -> bool:
    """No conflict if the read happens before the write (MLIR behaviour 23). Test: test_read_before_write."""
    return rules.flow.order.happens_before(read.op, write.op)


def same_use(rules: Rules, read: Use, write: Use) -> bool:
    """No conflict if both are one operand: an op reads its destination before writing (MLIR behaviour 24). Test:
    test_accumulate."""
    return read is write


def exclusive_branches(rules: Rules, read: Use, write: Use) -> bool:
    """No conflict if they stand in different branches of one scf.if (MLIR behaviour 25); beyond MLIR 22, of two scf.ifs
    of one condition. Tests: test_both_branches_write, test_two_ifs_of_one_condition."""
    return rules.exclusive(read.op, write.op)


def elementwise(rules: Rules, read: Use, write: Use) -> bool:
    """No conflict if both are operands of an op that is done with element i of one before it touches element i of the
    other, and they are one buffer, element for element (MLIR behaviour 26). Tests:
    test_elementwise_in_place, test_transposed_read_conflicts.

    Beyond MLIR 22, the op may carry something from one element to the next. Test: test_running_sum_in_place.
    """
    if read.op is not write.op or read is write or not read.op.elementwise_access(read, write):
        return False
    if rules.parts is None and isinstance(read.op, Generic) and not read.op.all_parallel:
        return False
    return rules.leads_to(read, write.value) or rules.leads_to(write, read.value)


def insert_keeps_the_rest(rules: Rules, read: Read, write: Use) -> bool:
    """No conflict if the read is an insert's destination and the write touches exactly the part that the insert
    overwrites anyway (MLIR behaviour 29a). Test: test_augmented_slice_assignment.

    Beyond MLIR 22, which overlooks it: across iterations the part must be the same one. Test:
    test_part_that_moves_with_a_loop.
    """
    op = read.use.op
    found = op.inserts()
    if found is None or read.use is not found[1] or not rules.comes_from_subset(write, op, found[1].value):
        return False
    if rules.parts is None or order_counts(rules, read, write):
        return True
    return not isinstance(op, SliceOp) or not varies(rules.flow, read, op)


def varies(flow: Dataflow, read: Read, op: SliceOp) -> bool:
    """Whether the slice may change from iteration to iteration of the loops between a definition of the read and the
    read; where blocks branch, any that is not constant may.
    """
    if flow.order.branches:
        return len(op.operands) > op.leading
    regions = (loop_between(flow, read.use.op, d) for d in read.definitions)
    loops = [region.op for region in regions if region is not None and region.op is not None]
    dynamic = [v.owner if isinstance(v.owner, Op) else v.owner.parent_op for v in op.operands[op.leading :]]
    return any(flow.order.contains(loop, owner) for loop in loops for owner in dynamic if owner is not None)


def insert_into_itself(rules: Rules, read: Read, write: Use) -> bool:
    """No conflict if the read is an insert's source, the write its destination, and the source is that very part of the
    destination (MLIR behaviour 29b): the elements are written over themselves. Test:
    test_augmented_slice_assignment."""
    op = read.use.op
    return op.inserts() == (read.use, write) and rules.comes_from_subset(read.use, op, write.value)


def insert_writes_the_same(rules: Rules, read: Read, write: Use) -> bool:
    """No conflict if the write is an insert's destination, the read's value is its source, and the source is that very
    part of the destination (MLIR behaviour 29c): again over themselves. Test: test_read_after_insert_of_itself.
    """
    op = write.op
    found = op.inserts()
    if found is None or write is not found[1] or read.use.value is not found[0].value:
        return False
    return rules.comes_from_subset(found[0], op, write.value)


def disjoint_parts(rules: Rules, read: Use, write: Use) -> bool:
    """No conflict if both touch parts of one buffer that have no element in common (beyond MLIR 22, behaviour 30).

    Only where the order of ops counts: offsets that differ in one iteration may meet across iterations.
    Tests: test_disjoint_halves, test_cross_iteration_slice.
    """
    return rules.parts is not None and "disjoint-slices" in rules.improved and rules.parts.disjoint(read, write)


def by_way_of_another_branch(rules: Rules, read: Use, write: Use) -> bool:
    """No conflict if what is overwritten reaches the read only through branches that exclude the write (beyond MLIR
    22). Test: test_s9_a_swap_needs_no_copy."""
    if rules.parts is None:
        return False
    work, seen = [read.value], {read.value}
    while work:
        value = work.pop()
        if rules.flow.defines(value):
            if not rules.outside(write, value):
                return False
            continue
        for use, _, _ in rules.flow.aliasing_uses(value):
            if use.value not in seen and not rules.exclusive(use.op, write.op):
                seen.add(use.value)
                work.append(use.value)
    return True


OrderRule = Callable[[Rules, Use, Use], bool]
SubsetRule = Callable[[Rules, Read, Use], bool]
ORDER_RULES: tuple[OrderRule, ...] = (
    read_happens_before, same_use, exclusive_branches, elementwise, disjoint_parts, by_way_of_another_branch,
)  # fmt: skip
SUBSET_RULES: tuple[SubsetRule, ...] = (insert_keeps_the_rest, insert_into_itself, insert_writes_the_same)
