"""The older deallocation: every buffer has one static place where it is freed, and copies make that possible.

An alias of a buffer is *critical* where the block that defines the buffer does not dominate it: it may be one buffer
or another, as a block's argument, a loop's or a result of branches. By a fixed point all of these are found; each way
there passes on a copy, and the critical alias is a buffer of its own. Then each buffer is freed after the last use of
its aliases in the block that post-dominates them all; one that is used by the end of that block escapes. An allocation
that is freed already has its free moved there.

Beyond the document: what a function returns is copied where it may be one buffer or another. Limitations, as in the
document: no loops of branches; and refused, a buffer for which no block is after all uses and sees it. MLIR
counterpart: -buffer-deallocation, gone from MLIR 22.
"""

from __future__ import annotations

from collections.abc import Iterator

from tracebuf.analysis.flow.blocks import (
    Dominance,
    Liveness,
    ancestor,
    blocks_of,
    in_order,
    op_in,
    predecessors,
    successors,
)
from tracebuf.analysis.flow.views import Views, allocated, frees, reached
from tracebuf.errors import UnsupportedError
from tracebuf.ir.core import Block, Effect, Op, Use, Value, is_buffer
from tracebuf.ir.func import Func
from tracebuf.ir.types import MemRefType
from tracebuf.ops.arrays.bufferization import Clone
from tracebuf.ops.control.cf import Branch, BranchOp, CondBranch
from tracebuf.ops.control.func import Return
from tracebuf.ops.memory.memref import Alloc, Alloca, Copy, Dealloc, Dim


def buffer_deallocation(func: Func) -> None:
    """Inserts copies and frees; UnsupportedError, before anything is changed, for what cannot be taken."""
    check(func)
    _Older(func).run()


def check(func: Func) -> None:
    for region in dict.fromkeys(block.region for block in blocks_of(func)):
        order = {block: k for k, block in enumerate(in_order(region))}
        for block, before in predecessors(region).items():
            if block in order and any(order[p] >= order[block] for p in before if p in order):
                raise UnsupportedError("Only structured control-flow loops are supported.", location=func.loc)
    for op in func.walk():
        if op.regions and op.flows() is None and any(is_buffer(v) for v in op.results):
            text = "All operations with attached regions need to implement the RegionBranchOpInterface."
            raise UnsupportedError(text, location=op.loc)
    ends = [b.terminator for b in func.body.blocks if isinstance(b.terminator, Return)]
    if len(ends) > 1 and any(is_buffer(v) for end in ends for v in end.operands):
        raise UnsupportedError("buffers are returned in several places", location=ends[1].loc)


Place = tuple[Block, Op | None]
WRITTEN = "a buffer is written after it was copied for those that it may be"


class _Older:
    def __init__(self, func: Func) -> None:
        self.func, self.dominance, self.after = func, Dominance(), Dominance(post=True)
        self.views = Views(func)
        self.copies: set[Value] = set()
        self.buffers: list[Value] = []
        for block in blocks_of(func):
            for op in block.ops:
                self.buffers += [v for v in allocated(op) if not isinstance(op, Alloca) and len(self.frees_of(v)) <= 1]

    def frees_of(self, buffer: Value) -> list[Op]:
        return list(dict.fromkeys(op for alias in self.views.resolve(buffer) for op in frees(alias)))

    def run(self) -> None:
        critical = self.critical()
        self.check_writes(critical)
        if sum(split_edges(value) for value in critical):
            self.dominance, self.after = Dominance(), Dominance(post=True)
        for value in critical:
            self.copy_into(value)
        self.copy_returned(critical)
        edges = Views(self.func).forward
        edges = {v: [t for t in targets if t not in critical] for v, targets in edges.items()}
        live, self.freed = Liveness(self.func), {b: frees(b) for b in [*self.buffers, *critical]}
        places = [(b, self.places(b, reached([b], edges), live)) for b in [*self.buffers, *critical]]
        for buffer, found in places:
            for block, last in found:
                self.free(buffer, block, last)

    # -- critical aliases
    def critical(self) -> list[Value]:
        """The aliases that may be a buffer whose block does not dominate them, in the order in which they are found."""
        found: dict[Value, None] = {}
        seen: set[tuple[Value, Block]] = set()
        work = [(b, b.block) for b in self.buffers][::-1]
        while work:
            source, home = work.pop()
            for value in self.views.forward.get(source, ()):
                if value in found:
                    continue
                block = value.block
                is_argument = isinstance(value.owner, Block)
                if not self.dominance.dominates(home, block) or (home is block and is_argument):
                    found[value] = None
                    work.append((value, block))
                elif (value, home) not in seen:
                    seen.add((value, home))
                    work.append((value, home))
        return list(found)

    def copy_into(self, value: Value) -> None:
        """Every way to a critical alias passes on a copy."""
        for use in ways_to(value):
            self.copy(use, use.op)

    def check_writes(self, critical: list[Value]) -> None:
        """UnsupportedError where a copy could be told from its source: one of them is written afterwards, and the other
        is used (the document takes buffers for immutable)."""
        forward = {v: [t for t in ts if t not in critical] for v, ts in self.views.forward.items()}
        back = {v: ts for v, ts in self.views.back.items() if v not in critical}
        for value in critical:
            mine = reached([value], forward)
            written = [u for alias in mine for u in alias.uses if writes(u)]
            twins = {v for v in critical if v is not value and self.may_be_one(v, value)} if written else set()
            if any(not frees_only(u) for v in twins for alias in reached([v], forward) for u in alias.uses):
                raise UnsupportedError(WRITTEN, location=written[0].op.loc)
            for use in ways_to(value):
                origins = {v for v in reached([use.value], back) if not back.get(v)}
                theirs = reached(origins, forward)
                later = set(after(use.op, origins))
                if any(isinstance(v.owner, Block) and v.owner is self.func.block for v in origins):
                    used = True
                else:
                    used = any(u.op in later and not frees_only(u) for v in theirs for u in v.uses)
                for group, counts in ((theirs, True), (mine, used)):
                    for alias in group if counts else ():
                        for u in alias.uses:
                            if writes(u) and (group is mine or u.op in later):
                                raise UnsupportedError(WRITTEN, location=u.op.loc)

    def may_be_one(self, a: Value, b: Value) -> bool:
        """Whether two values may be one buffer before anything is copied."""
        return not self.views.origins(a).isdisjoint(self.views.origins(b))

    def copy(self, use: Use, before: Op) -> None:
        """The operand is a copy from now on, unless it is one (of what goes to several places)."""
        if use.value in self.copies:
            return
        new = copied(use.value, before)
        self.copies.add(new)
        use.set(new)

    def copy_returned(self, critical: list[Value]) -> None:
        """A function returns one certain buffer, or a copy."""
        edges = {v: sources for v, sources in self.views.back.items() if v not in critical}
        mine = {*self.buffers, *critical}
        for end in [b.terminator for b in self.func.body.blocks if isinstance(b.terminator, Return)]:
            for use in [u for u in end.uses if is_buffer(u.value)]:
                origins = {v for v in reached([use.value], edges) if not edges.get(v)}
                if len(origins) > 1 and not origins.isdisjoint(mine):
                    use.set(copied(use.value, end))

    # -- frees
    def places(self, buffer: Value, aliases: set[Value], live: Liveness) -> list[Place]:
        """The blocks in which a buffer is freed, each with the op after which (None: at its beginning); none where it
        escapes. UnsupportedError where there are no such blocks."""
        homes = [u.op.block for v in aliases for u in v.uses if u.op.block is not None]
        loc = self.func.loc if buffer.defining_op is None else buffer.defining_op.loc
        block = self.after.common([buffer.block, *(v.block for v in aliases), *homes])
        if block is None or not self.dominance.dominates(buffer.block, block):
            found = None if frees(buffer) else self.where_it_dies(buffer, aliases, live)
            if found is None:
                raise UnsupportedError("no block is after all uses of the buffer and sees it", location=loc)
            return found
        place = self.last_use(block, buffer, aliases)
        return [] if place[1] is block.terminator else [place]

    def where_it_dies(self, buffer: Value, aliases: set[Value], live: Liveness) -> list[Place] | None:
        """Where ways part, a buffer is freed on each: in the last block that uses it, or in the first that does not.
        None where a block comes from one that does and one that does not."""
        region, found = buffer.block.region, list[Place]()
        before = predecessors(region)

        def goes_on(block: Block) -> bool:
            end = block.terminator
            passed = isinstance(end, BranchOp) and any(v in aliases for v in end.operands)
            return passed or not aliases.isdisjoint(live.out_of(block))

        for block in region.blocks:
            if not self.dominance.dominates(buffer.block, block):
                continue
            enters = not aliases.isdisjoint(live.into(block)) or any(v in aliases for v in block.args)
            if block is not buffer.block:
                alive = [goes_on(b) for b in before[block]]
                if any(alive) and not all(alive):
                    return None
                if any(alive) and not enters:
                    if len(before[block]) > 1:
                        return None
                    found.append((block, None))
            if (enters or block is buffer.block) and not goes_on(block):
                place = self.last_use(block, buffer, aliases)
                if place[1] is not block.terminator:
                    found.append(place)
        return found

    def last_use(self, block: Block, buffer: Value, aliases: set[Value]) -> Place:
        """The last op of the block that uses the buffer; where none does, its first."""
        last: Op | None = None
        old = frees(buffer)
        for alias in aliases:
            for op in [alias.defining_op, *(u.op for u in alias.uses)]:
                at = None if op is None or op in old else op_in(block, op)
                if at is not None and (last is None or block.op_index(last) < block.op_index(at)):
                    last = at
        if last is None and not block.ops[0].terminator:
            last = block.ops[0]
        return block, last

    def free(self, buffer: Value, block: Block, last: Op | None) -> None:
        old = self.freed[buffer]
        op = old[0] if old else Dealloc.of(buffer, block.terminator.loc)
        if old and op.block is not None:
            if op is last:
                return
            op.block.remove(op)
        block.insert(0 if last is None else block.op_index(last) + 1, op)


def ways_to(value: Value) -> list[Use]:
    """The operands that become an argument of a block or region, or a result of an op with regions."""
    owner, found = value.owner, list[Use]()
    if isinstance(owner, Block):
        for before in predecessors(owner.region).get(owner, ()):
            end = before.terminator
            assert isinstance(end, BranchOp)
            found += [u for u in end.uses if end.target(u) is value]
    parent = owner.parent_op if isinstance(owner, Block) else owner
    for flow in (None if parent is None else parent.flows()) or ():
        found += [use for use, received in zip(flow.passed, flow.received) if received is value]
    return found


def split_edges(value: Value) -> bool:
    """Gives each way to a block's argument that is one of two ways a block of its own, in which a copy is made only if
    it is taken; whether there was one."""
    target, found = value.owner, False
    if not isinstance(target, Block):
        return False
    for before in predecessors(target.region)[target]:
        end = before.terminator
        if not isinstance(end, CondBranch):
            continue
        condition, *rest = end.operands
        passed, ways = [rest[: end.n_then], rest[end.n_then :]], list(end.successors)
        for k in range(2):
            if ways[k] is target:
                between = Block()
                between.region = target.region
                between.append(Branch.of(target, passed[k], end.loc))
                target.region.blocks.insert(target.region.blocks.index(before) + 1, between)
                ways[k], passed[k], found = between, [], True
        end.successors = tuple(ways)
        end.set_operands([condition, *passed[0], *passed[1]])
        end.attrs["n_then"] = len(passed[0])
    return found


def after(op: Op, origins: set[Value]) -> Iterator[Op]:
    """What may run after an op, before a buffer of `origins` is made anew."""
    block = op.block
    while block is not None:
        for later in block.ops[block.op_index(op) + 1 :]:
            yield from (later, *later.walk())
        for other in reached([block], {b: list(successors(b)) for b in block.region.blocks}) - {block}:
            for later in other.ops:
                yield from (later, *later.walk())
        parent, region = block.parent_op, block.region
        if parent is None:
            return
        ends = {b.terminator for b in region.blocks}
        seen, work = {region}, [f.target for f in parent.flows() or () if f.end in ends]
        while work:
            target = work.pop()
            if target is None or (target in seen and target is not region):
                continue
            seen.add(target)
            if any(ancestor(v.block, target) is not None for v in origins):
                continue
            yield from target.walk()
            tails = {b.terminator for b in target.blocks}
            work += [f.target for f in parent.flows() or () if f.end in tails and f.target not in seen]
        op, block = parent, parent.block


def writes(use: Use) -> bool:
    """Whether an op may change what an operand holds."""
    found = use.op.effects()
    if found is None:
        return True
    return any(effect is Effect.WRITE and value is use.value for effect, value in found)


def frees_only(use: Use) -> bool:
    found = use.op.effects() or ()
    return bool(found) and all(effect is Effect.FREE for effect, _ in found)


def copied(value: Value, before: Op) -> Value:
    """A copy of a memref, made before an op: an allocation and memref.copy, as in the document, or where the layout
    does not allow one, a bufferization.clone."""
    block, type_ = before.block, value.type
    assert block is not None
    if not isinstance(type_, MemRefType) or not type_.is_identity:
        clone = Clone.of(value, before.loc)
        block.insert_before(before, clone)
        return clone.result
    sizes: list[int | Value] = []
    for d, n in enumerate(type_.shape):
        if isinstance(n, int):
            sizes.append(n)
        else:
            dim = Dim.of(value, d, before.loc)
            block.insert_before(before, dim)
            sizes.append(dim.result)
    alloc = Alloc.of(type_.shape, type_.element, sizes, tuple(range(type_.rank)), "", before.loc)
    block.insert_before(before, alloc)
    block.insert_before(before, Copy([value, alloc.result], [], before.loc))
    return alloc.result
