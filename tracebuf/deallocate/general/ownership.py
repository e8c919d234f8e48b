"""Ownership-based deallocation as MLIR has it: a `bufferization.dealloc` before every terminator.

Every memref has an ownership in a block: none yet, one i1 value, or unknown where two are joined. It goes along with
memrefs to blocks, regions, results of ops with regions, and (with `private_function_dynamic_ownership`) out of private
functions, as one i1 more for each. A dealloc takes the base buffers of all that a block may own, the ownerships as
conditions, and retains what lives on; its results are the new ownerships. A function owns no argument and owns what it
returns, for which it clones what it does not. Which ops take part is told by what they state: `flows` (regions),
branches, effects (allocation, free), calls. MLIR counterpart: OwnershipBasedBufferDeallocation.cpp.

Beyond MLIR: loops of branches; and where ways meet on which a memref that lives on has got different ownerships, the
block gets an argument for it (MLIR takes that of the block which defines it, and may leak).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tracebuf.analysis.flow.blocks import Liveness, blocks_of, predecessors
from tracebuf.analysis.flow.views import Views, allocated, forwarded, freed
from tracebuf.errors import UnsupportedError
from tracebuf.ir.attributes import Attr
from tracebuf.ir.core import Block, Op, Region, Use, Value, is_buffer
from tracebuf.ir.func import Func, Module
from tracebuf.ir.types import I1, UnrankedMemRefType
from tracebuf.location import Location
from tracebuf.ops.arrays.bufferization import Clone, Dealloc
from tracebuf.ops.control import scf
from tracebuf.ops.control.cf import Assert, BranchOp, CondBranch
from tracebuf.ops.control.func import Call, Return
from tracebuf.ops.memory.memref import Alloca
from tracebuf.ops.memory.metadata import ExtractStridedMetadata, ReinterpretCast
from tracebuf.ops.scalars import arith

MANUAL = "bufferization.manual_deallocation"


def ownership_based_buffer_deallocation(module: Module, dynamic: bool = False) -> None:
    """Inserts deallocs into every function with a body; UnsupportedError, before anything is changed, for what MLIR
    does not take either. `dynamic`: private functions return ownership (MLIR: private-function-dynamic-ownership)."""
    funcs = [f for f in module.funcs if not f.external]
    for func in funcs:
        check(func)
    giving = {f.name for f in funcs if dynamic and is_private(f)}
    for func in funcs:
        _Deallocation(func, giving).run()


def is_private(func: Func) -> bool:
    found = func.attrs.get("sym_visibility")
    return isinstance(found, Attr) and found.value == "private"


# -- what is taken


def check(func: Func) -> None:
    """UnsupportedError, with MLIR's reason, for the first op that stands in the way."""
    for op in func.walk():
        if inside_structured(op):
            continue
        if reason := why_not(op):
            raise UnsupportedError(reason, location=op.loc)


def inside_structured(op: Op) -> bool:
    """Whether the op is part of the body of an op on elements (linalg), in which no buffer is made."""
    parent = op.parent_op
    return parent is not None and parent.flows() is None


def why_not(op: Op) -> str:
    """Why ownership cannot be followed through an op, in MLIR's words; the empty string where it can."""
    if freed(op) and MANUAL not in op.attrs and not isinstance(op, Dealloc):
        return "memory free side-effect on MemRef value not supported!"
    if isinstance(op, Dealloc):
        return "No deallocation operations must be present when running this pass!"
    if op.effects() is None and not isinstance(op, Call):
        return "ops with unknown memory side effects are not supported"
    if op.regions and op.flows() is None:
        if op.results and any(map(is_buffer, op.results)):
            return "All operations with attached regions need to implement the RegionBranchOpInterface."
        if any(inner.effects() is None or allocated(inner) for inner in op.walk()):
            return "ops with unknown memory side effects are not supported"
    if len(op.successors) > 1 and not isinstance(op, CondBranch):
        return "Terminators with more than one successor are not supported!"
    return ""


# -- the pass


class _Unknown:
    """The ownership where two different ones are joined."""


UNKNOWN_OWNERSHIP = _Unknown()
Ownership = Value | _Unknown


class _Deallocation:
    def __init__(self, func: Func, giving: set[str]) -> None:
        self.func, self.giving = func, giving
        self.views, self.liveness = Views(func, self.gives_its_own), Liveness(func)
        self.owns: dict[tuple[Value, Block], Ownership] = {}
        self.listed: dict[Block, list[Value]] = {}
        self.entered: dict[tuple[Value, Block], Ownership] = {}
        self.changed: set[tuple[Value, Block]] = set()
        self.sure: set[Value] = set()
        self.joins: list[tuple[Block, Value]] = []
        self.dynamic = func.name in giving

    def run(self) -> None:
        regions = list(dict.fromkeys(block.region for block in blocks_of(self.func)))
        for region in reversed(regions):
            parent = region.op
            if region.blocks and (parent is None or (parent.flows() is not None)) and not _in_structured(parent):
                self.region(region)
        self.close_joins()
        returned = [b.terminator for b in self.func.body.blocks if isinstance(b.terminator, Return)]
        if returned:
            types = list(self.func.result_types)[: len(returned[0].operands)]
            self.func.results = (*types, *(v.type for v in returned[0].operands[len(types) :]))
            if self.func.result_attrs:
                self.func.result_attrs += [{} for _ in range(len(self.func.results) - len(self.func.result_attrs))]

    def region(self, region: Region) -> None:
        before = predecessors(region)
        order = region.in_order()
        place = {block: k for k, block in enumerate(order)}
        for block in order:
            back = any(place[p] >= place[block] for p in before[block] if p in place)
            self.block(block, [p for p in before[block] if p in place], back)

    def block(self, block: Block, before: Sequence[Block], loop: bool) -> None:
        self.listed[block] = []
        start: list[Op] = []
        for arg in [a for a in block.args if is_buffer(a)]:
            entry = block is self.func.block
            flag = _constant(False, self.func.loc, start) if entry else block.add_arg(I1)
            self.owns[arg, block] = flag
            self.listed[block].append(arg)
        for value in sorted((v for v in self.liveness.into(block) if is_buffer(v)), key=_rank):
            if value.block.region is block.region:
                self.owns[value, block] = self.entered[value, block] = self.entering(value, block, before, loop)
                self.listed[block].append(value)
            else:
                self.owns[value, block] = _constant(False, self.func.loc, start)
        for k, op in enumerate(start):
            block.insert(k, op)
        for op in list(block.ops):
            self.op(op, block)

    def entering(self, value: Value, block: Block, before: Sequence[Block], loop: bool) -> Ownership:
        """The ownership that a value which lives on has at the beginning of a block. What was owned from birth is so as
        long as it lives: then what the block that makes it says of it holds everywhere, as in MLIR."""
        if value in self.sure:
            return self.owns[value, value.block]
        found = {} if loop else {id(o): o for o in (self.leaving(value, p) for p in before)}
        if len(found) == 1:
            return next(iter(found.values()))
        self.joins.append((block, value))
        return block.add_arg(I1)

    def leaving(self, value: Value, block: Block) -> Ownership:
        """The same at the end of a block; where no dealloc can have changed it, what it was at the beginning."""
        if (value, block) in self.changed or (value, block) not in self.entered:
            return self.owns[value, block]
        return self.entered[value, block]

    def close_joins(self) -> None:
        """Gives the branches to blocks that got arguments for values which live on the ownerships of these."""
        for block, value in self.joins:
            for from_ in predecessors(block.region)[block]:
                if from_ not in self.listed:
                    continue
                flag = self.leaving(value, from_)
                assert isinstance(flag, Value)
                _pass_to(from_.terminator, block, [flag])

    # -- ops
    def op(self, op: Op, block: Block) -> None:
        if isinstance(op, CondBranch):
            return self.branch_of_two(op, block)
        if isinstance(op, BranchOp):
            return self.branch(op, block)
        if op.terminator:
            return self.end(op, block)
        if isinstance(op, Call):
            self.call(op, block)
        elif op.flows() is not None:
            self.with_regions(op, block)
        else:
            self.effects(op, block)
        self.remaining(op, block)

    def with_regions(self, op: Op, block: Block) -> None:
        """No ownership goes into regions; what comes out has its own."""
        flag = _at_start(False, op.loc, block)
        entry = next(flow for flow in op.flows() or () if flow.end is None)
        _append_operands(op, [flag for use in entry.passed if is_buffer(use.value)])
        for result in [r for r in op.results if is_buffer(r)]:
            self.take(result, _append_result(op), block)

    def call(self, op: Call, block: Block) -> None:
        """The caller owns what a function returns."""
        given = op.callee in self.giving
        constant = None if given else _at_start(True, op.loc, block, before=op)
        for result in [r for r in op.results if is_buffer(r)]:
            self.take(result, constant if constant is not None else _append_result(op), block)

    def effects(self, op: Op, block: Block) -> None:
        for value in freed(op):
            owned = self.owns.get((value, block))
            if isinstance(owned, Value):
                ops: list[Op] = []
                true = _constant(True, op.loc, ops)
                ops.append(arith.XorI.of(owned, true, op.loc))
                ops.append(Assert.of(ops[-1].result, "expected that the block does not have ownership", op.loc))
                _insert(block, op, ops)
        for result in allocated(op):
            stack, manual = isinstance(op, Alloca), MANUAL in op.attrs
            flag = _at_start(not (stack or manual), op.loc, block)
            if stack or manual:
                self.owns[result, block] = flag
            else:
                self.take(result, flag, block)

    def remaining(self, op: Op, block: Block) -> None:
        """A memref that no other rule gave an ownership may be any of the op's memrefs."""
        for result in op.results:
            if not is_buffer(result) or (result, block) in self.owns:
                continue
            found: Ownership | None = None
            for value in op.operands:
                if is_buffer(value):
                    mine = self.owns.get((value, block), self.owns.get((value, value.block), UNKNOWN_OWNERSHIP))
                    found = mine if found is None or found is mine else UNKNOWN_OWNERSHIP
            if found is None:
                ops: list[Op] = []
                found = _constant(False, op.loc, ops)
                _insert(block, op, ops)
            self.owns[result, block] = found

    def take(self, value: Value, flag: Value, block: Block) -> None:
        if _known(flag) is True:
            self.sure.add(value)
        self.owns[value, block] = flag
        self.listed[block].append(value)

    # -- terminators
    def branch(self, op: BranchOp, block: Block) -> None:
        ops: list[Op] = []
        memrefs, conditions = self.owned(block, op.loc, ops)
        (target,) = op.successors
        dealloc = self.dealloc(op, block, target, op.uses, memrefs, conditions, ops)
        self.update(block, dealloc.retained, dealloc.results)
        _insert(block, op, ops)
        _pass_to(op, target, _flags(op.uses, dealloc))

    def branch_of_two(self, op: CondBranch, block: Block) -> None:
        """One dealloc for each successor, under the condition that it is taken."""
        condition, ops = op.operand(0), list[Op]()
        memrefs, conditions = self.owned(block, op.loc, ops)

        def taken(flag: Value) -> Value:
            ops.append(arith.AndI.of(flag, condition, op.loc))
            return ops[-1].result

        def not_taken(flag: Value) -> Value:
            true = _constant(True, op.loc, ops)
            ops.append(arith.XorI.of(true, condition, op.loc))
            ops.append(arith.AndI.of(flag, ops[-1].result, op.loc))
            return ops[-1].result

        uses = op.uses[1 : 1 + op.n_then], op.uses[1 + op.n_then :]
        made: list[tuple[Dealloc, list[Value]]] = []
        for target, passed, under in zip(op.successors, uses, (taken, not_taken)):
            found = self.dealloc(op, block, target, passed, memrefs, [under(c) for c in conditions], ops)
            made.append((found, _flags(passed, found)))
        first, second = (dict(zip(d.retained, d.results)) for d, _ in made)
        new: dict[Value, Value] = {**first, **second}
        for value in second:
            if value in first:
                ops.append(arith.Select.of(condition, first[value], second[value], op.loc))
                new[value] = ops[-1].result
        self.update(block, list(new), list(new.values()))
        _insert(block, op, ops)
        op.set_operands([condition, *(u.value for u in uses[0]), *made[0][1], *(u.value for u in uses[1]), *made[1][1]])
        op.attrs["n_then"] = len(uses[0]) + len(made[0][1])

    def end(self, op: Op, block: Block) -> None:
        """What leaves a region, or the function, which must own what it returns."""
        leaves = isinstance(op, Return)
        owned = leaves and not self.dynamic
        if owned:
            for use in op.uses:
                if is_buffer(use.value):
                    use.set(self.guaranteed(use.value, op, block))
        passed = forwarded(op) if not leaves else list(op.uses)
        ops: list[Op] = []
        memrefs, conditions = self.owned(block, op.loc, ops)
        if not memrefs and not any(is_buffer(u.value) for u in passed):
            return
        dealloc = self.dealloc(op, block, None, passed, memrefs, conditions, ops)
        _insert(block, op, ops)
        if not owned:
            _append_operands(op, _flags(passed, dealloc))

    def guaranteed(self, value: Value, op: Op, block: Block) -> Value:
        """The memref, or where it is not owned at run time a clone of it."""
        ops: list[Op] = []
        value, flag = self.unique(value, op, block, ops)
        if _known(flag) is not True:
            branches = Block(), Block()
            clone = Clone.of(value, op.loc)
            branches[1].append(clone)
            for branch, given in zip(branches, (value, clone.result)):
                branch.append(scf.Yield.of([given], op.loc))
            ops.append(scf.If.of(flag, [value.type], *branches, op.loc))
            value = ops[-1].result
            self.take(value, _constant(True, op.loc, ops), block)
        _insert(block, op, ops)
        return value

    def unique(self, value: Value, op: Op, block: Block, ops: list[Op]) -> tuple[Value, Value]:
        """The memref with its ownership; where that is unknown, of a select the one chosen, else a clone."""
        flag = self.owns[value, block]
        if isinstance(flag, Value):
            return value, flag
        made = value.defining_op
        if isinstance(made, arith.Select) and made.block is block:
            sides = [self.owns.get((v, block)) for v in made.operands[1:]]
            if all(isinstance(s, Value) for s in sides):
                a, b = (s for s in sides if isinstance(s, Value))
                ops.append(arith.Select.of(made.operand(0), a, b, op.loc))
                return value, ops[-1].result
        clone = Clone.of(value, op.loc)
        ops.append(clone)
        true = _constant(True, op.loc, ops)
        self.take(clone.result, true, block)
        return clone.result, true

    def owned(self, block: Block, loc: Location, ops: list[Op]) -> tuple[list[Value], list[Value]]:
        """The base buffers of all that the block may own, and the ownerships."""
        bases, flags = [], []
        for value in self.listed[block]:
            flag = self.owns[value, block]
            if not isinstance(flag, Value):
                raise UnsupportedError("MemRef value does not have valid ownership", location=loc)
            base = value
            if isinstance(value.type, UnrankedMemRefType):
                ops.append(ReinterpretCast.scalar(value, loc))
                base = ops[-1].result
            ops.append(ExtractStridedMetadata.of(base, loc))
            bases.append(ops[-1].results[0])
            flags.append(flag)
        return bases, flags

    def dealloc(
        self,
        op: Op,
        block: Block,
        target: Block | None,
        passed: Sequence[Use],
        memrefs: Sequence[Value],
        conditions: Sequence[Value],
        ops: list[Op],
    ) -> Dealloc:
        live = set() if target is None else self.liveness.out_of(block) & self.liveness.into(target)
        retained = [u.value for u in passed if is_buffer(u.value)]
        retained += sorted((v for v in live if is_buffer(v)), key=_rank)
        made = Dealloc.of(memrefs, conditions, retained, op.loc)
        ops.append(made)
        return made

    def update(self, block: Block, retained: Sequence[Value], flags: Sequence[Value]) -> None:
        """Ownership after a dealloc is what it gives; noted where that may be another than before."""
        for value in retained:
            for other in self.listed[block]:
                if other is not value and self.may_share(value, other):
                    flag = self.owns[other, block]
                    if not (isinstance(flag, Value) and _known(flag) is False):
                        self.changed.add((value, block))
        for value, flag in zip(retained, flags):
            self.owns[value, block] = flag

    def gives_its_own(self, op: Op) -> bool:
        """Whether an op is a call that returns what its caller then owns."""
        return isinstance(op, Call) and op.callee not in self.giving

    def born(self, value: Value) -> bool:
        op = value.defining_op
        return op is not None and (value in allocated(op) or self.gives_its_own(op))

    def may_share(self, a: Value, b: Value) -> bool:
        """Whether two memrefs may have one base buffer, as far as what they come from tells."""
        mine, theirs = self.views.origins(a), self.views.origins(b)
        fresh = [all(self.born(v) for v in side) for side in (mine, theirs)]
        return not mine.isdisjoint(theirs) or not any(fresh)


def _in_structured(op: Op | None) -> bool:
    while op is not None:
        if op.flows() is None:
            return True
        op = op.parent_op
    return False


def _rank(value: Value) -> tuple[int, int, int, int]:
    """MLIR's order of live values: arguments of blocks by number, then results in the order of the program."""
    op, block = value.defining_op, value.block
    depth = 0
    outer: Block | None = block
    while outer is not None and outer.parent_op is not None:
        depth, outer = depth + 1, outer.parent_op.block
    at = block.region.blocks.index(block)
    if op is None:
        return 0, value.index, depth, at
    return 1, depth, at, block.op_index(op) * 1000 + value.index


def _flags(uses: Iterable[Use], dealloc: Dealloc) -> list[Value]:
    """The new ownership of each memref among these operands, which the dealloc retains first, in order."""
    n = sum(is_buffer(u.value) for u in uses)
    return dealloc.results[:n]


def _known(flag: Value) -> bool | None:
    op = flag.defining_op
    return bool(op.attrs["value"]) if isinstance(op, arith.Constant) else None


def _constant(value: bool, loc: Location, ops: list[Op]) -> Value:
    ops.append(arith.Constant.of(value, I1, loc))
    return ops[-1].result


def _at_start(value: bool, loc: Location, block: Block, before: Op | None = None) -> Value:
    made = arith.Constant.of(value, I1, loc)
    block.insert(0 if before is None else block.op_index(before), made)
    return made.result


def _insert(block: Block, op: Op, ops: Sequence[Op]) -> None:
    at = block.op_index(op)
    block.replace_ops([*block.ops[:at], *ops, *block.ops[at:]])


def _append_operands(op: Op, values: Sequence[Value]) -> None:
    op.uses += [Use(op, len(op.uses) + k, v) for k, v in enumerate(values)]


def _append_result(op: Op) -> Value:
    value = Value(I1, op, len(op.results))
    op.results.append(value)
    return value


def _pass_to(op: Op, target: Block, values: Sequence[Value]) -> None:
    """Appends operands for more arguments of a successor, each way there."""
    if not isinstance(op, CondBranch):
        return _append_operands(op, values)
    n = op.n_then
    condition, *rest = op.operands
    then, orelse = rest[:n], rest[n:]
    then += values if op.successors[0] is target else []
    orelse += values if op.successors[1] is target else []
    op.set_operands([condition, *then, *orelse])
    op.attrs["n_then"] = len(then)
