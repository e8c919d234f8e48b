"""The older deallocation: every buffer has one static place where it is freed, and copies make that possible.

An alias of a buffer is *critical* where the block that defines the buffer does not dominate it: it may be one buffer
or another, as a block's argument, a loop's or a result of branches. By a fixed point all of these are found; each way
there passes on a copy, and the critical alias is a buffer of its own. Then each buffer is freed after the last use of
its aliases in the block that post-dominates them all; one that is used by the end of that block escapes. An allocation
that is freed already has its free moved there.

Beyond the document: loops of branches, and buffers that no block sees after all their uses: these are freed on each way
where they die. What a function returns is copied where it may be one buffer or another; one that is called and returns
a buffer of its own returns nothing else, and its caller frees it. Refused is what copies would change, in the function
or in those that call it, for the document takes buffers for immutable. MLIR counterpart: -buffer-deallocation, gone
from MLIR 22.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from tracebuf.analysis.flow.blocks import (
    Dominance,
    Liveness,
    ancestor,
    blocks_of,
    op_in,
    predecessors,
    repeats,
)
from tracebuf.analysis.flow.views import Views, allocated, freed, frees, reached
from tracebuf.analysis.modules.module import order_by_calls
from tracebuf.errors import UnsupportedError
from tracebuf.frozen import frozen
from tracebuf.ir.core import Block, Effect, Op, Use, Value, is_buffer
from tracebuf.ir.func import Func, Module
from tracebuf.ir.types import MemRefType, Type, UnrankedMemRefType
from tracebuf.ops.arrays.bufferization import Clone
from tracebuf.ops.control.cf import Branch, BranchOp, CondBranch
from tracebuf.ops.control.func import Call, Return
from tracebuf.ops.memory.memref import Alloc, Alloca, Copy, Dealloc, Dim


def buffer_deallocation(module: Module) -> None:
    """Inserts copies and frees into every function with a body; UnsupportedError for what cannot be taken."""
    ordered, circular = order_by_calls(module)
    called = {op.callee for f in module.funcs for op in f.walk() if isinstance(op, Call)}
    giving = {f.name for f in circular if not f.external and any(map(is_buffer_type, f.result_types))}
    unknown = {f.name for f in module.funcs if f.external and any(map(is_buffer_type, f.result_types))}
    stores: dict[str, set[int]] = {}
    passed = {f.name: _anything(f) for f in circular}
    for func in (*ordered, *circular):
        if not func.external:
            check(func, unknown)
            found = _Older(func, giving, func.name in called, stores, passed)
            passed[func.name] = found.passed_on()
            stores[func.name] = found.stored_arguments()
            found.run()
            if found.gives:
                giving.add(func.name)


Passed = Mapping[int, tuple[set[int], set[int]]]
"""For each result that is a buffer, the arguments that it may be before anything is copied, and the other results."""


def _anything(func: Func) -> Passed:
    results = {k for k, t in enumerate(func.result_types) if is_buffer_type(t)}
    args = {k for k, a in enumerate(func.args) if is_buffer(a)}
    return {k: (args, results - {k}) for k in results}


def is_buffer_type(type_: Type) -> bool:
    return isinstance(type_, MemRefType | UnrankedMemRefType)


def check(func: Func, unknown: Collection[str]) -> None:
    """UnsupportedError where it cannot be told what flows where, or whose a buffer is, and for memref.realloc, which
    -expand-realloc takes apart. `unknown`: the functions of which only the declaration is known."""
    for op in func.walk():
        if op.regions and op.flows() is None and any(is_buffer(v) for v in op.results):
            text = "All operations with attached regions need to implement the RegionBranchOpInterface."
            raise UnsupportedError(text, location=op.loc)
        if op.results and freed(op):
            raise UnsupportedError(f"{op.name} frees a buffer and gives one: it cannot be moved", location=op.loc)
        if isinstance(op, Call) and op.callee in unknown:
            raise UnsupportedError(f"whose the buffers are that @{op.callee} returns is not known", location=op.loc)


@frozen()
class Place:
    """Where a buffer is freed: in a block after an op (None: at its beginning), or on the way to another block."""

    block: Block
    after: Op | None = None
    to: Block | None = None


WRITTEN = "a buffer is written after it was copied for those that it may be"


class _Older:
    """`giving`: the functions whose results are their caller's to free; `called`: whether this one has callers;
    `stores`: which arguments the functions that are known store to; `passed`: what their results may be."""

    def __init__(
        self,
        func: Func,
        giving: Collection[str],
        called: bool,
        stores: Mapping[str, set[int]],
        passed: Mapping[str, Passed],
    ) -> None:
        self.func, self.dominance, self.after = func, Dominance(), Dominance(post=True)
        self.giving, self.called, self.stores, self.passed = giving, called, stores, passed
        self.views = Views(func, self.is_giving)
        self.copies: set[Value] = set()
        self.buffers: list[Value] = []
        self.ways: dict[tuple[Block, Block], list[Block]] = {}
        for block in blocks_of(func):
            for op in block.ops:
                made = [v for v in op.results if is_buffer(v)] if self.is_giving(op) else allocated(op)
                self.buffers += [v for v in made if not isinstance(op, Alloca) and len(self.frees_of(v)) <= 1]
        self.gives = func.name in giving

    def is_giving(self, op: Op) -> bool:
        return isinstance(op, Call) and op.callee in self.giving

    def stored_arguments(self) -> set[int]:
        """The numbers of the arguments that may be stored to."""
        args = enumerate(self.func.args)
        return {k for k, a in args if any(self.writes(u) for alias in self.views.resolve(a) for u in alias.uses)}

    def passed_on(self) -> Passed:
        """What the results may be, of this function's arguments and of one another."""
        ends = [b.terminator for b in self.func.body.blocks if isinstance(b.terminator, Return)]
        origins: dict[int, set[Value]] = {}
        for use in (u for end in ends for u in end.uses if is_buffer(u.value)):
            origins.setdefault(use.index, set()).update(self.sources(use.value))
        args = {a: k for k, a in enumerate(self.func.args)}
        return {
            k: ({args[v] for v in mine if v in args}, {j for j in origins if j != k and origins[j] & mine})
            for k, mine in origins.items()
        }

    def sources(self, value: Value) -> set[Value]:
        """What a buffer may be, also through calls that will give copies."""
        found, work = set[Value](), [value]
        while work:
            for origin in self.views.origins(work.pop()) - found:
                found.add(origin)
                op = origin.defining_op
                if isinstance(op, Call) and self.is_giving(op):
                    work += [op.operand(k) for k in self.copied_by(op).get(origin.index, (set(), set()))[0]]
        return found

    def copied_by(self, op: Call) -> Passed:
        """What the results of a call are copies of, where the callee gives buffers of its own."""
        return self.passed.get(op.callee, {})

    def writes(self, use: Use) -> bool:
        """Whether an op may change what an operand holds."""
        if isinstance(use.op, Call) and use.op.callee in self.stores:
            return use.index in self.stores[use.op.callee]
        found = use.op.effects()
        if found is None:
            return True
        return any(effect is Effect.WRITE and value is use.value for effect, value in found)

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
        edges = Views(self.func, self.is_giving).forward
        edges = {v: [t for t in targets if t not in critical] for v, targets in edges.items()}
        live, self.freed = Liveness(self.func), {b: frees(b) for b in [*self.buffers, *critical]}
        places = [(b, self.places(b, reached([b], edges), live)) for b in [*self.buffers, *critical]]
        for buffer, found in places:
            for place in found:
                self.free(buffer, place)

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
        given: dict[Value, tuple[list[Use], set[Value]]] = {}
        for op in self.func.walk():
            if isinstance(op, Call) and self.is_giving(op):
                for k, (args, others) in self.copied_by(op).items():
                    given[op.results[k]] = [op.uses[i] for i in sorted(args)], {op.results[j] for j in others}
        for value in dict.fromkeys([*critical, *given]):
            ways, twins = given.get(value, (ways_to(value), set()))
            mine = reached([value], forward)
            written = [u for alias in mine for u in alias.uses if self.writes(u)]
            if written and value in critical:
                twins = {v for v in critical if v is not value and self.may_be_one(v, value)}
            twins = twins if written else set()
            if any(not frees_only(u) for v in twins for alias in reached([v], forward) for u in alias.uses):
                raise UnsupportedError(WRITTEN, location=written[0].op.loc)
            for use in ways:
                origins, used = {v for v in reached([use.value], back) if not back.get(v)}, False
                for origin in origins:
                    theirs = reached([origin], forward)
                    later = {*use.op.walk(), *after(use.op, origin)}
                    outside = isinstance(origin.owner, Block) and origin.owner is self.func.block
                    used |= outside or any(u.op in later and not frees_only(u) for v in theirs for u in v.uses)
                    changed = [u for v in theirs for u in v.uses if self.writes(u) and u.op in later]
                    if changed:
                        raise UnsupportedError(WRITTEN, location=changed[0].op.loc)
                if used and written:
                    raise UnsupportedError(WRITTEN, location=written[0].op.loc)

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
        """A function returns one certain buffer, or a copy; and each result is the caller's to free, or none is."""
        edges = {v: sources for v, sources in self.views.back.items() if v not in critical}
        mine = {*self.buffers, *critical}
        ends = [b.terminator for b in self.func.body.blocks if isinstance(b.terminator, Return)]
        columns: dict[int, list[tuple[Use, set[Value]]]] = {}
        for use in (u for end in ends for u in end.uses if is_buffer(u.value)):
            origins = {v for v in reached([use.value], edges) if not edges.get(v)}
            columns.setdefault(use.index, []).append((use, origins))
        own = {k for k, rows in columns.items() if any(not origins.isdisjoint(mine) for _, origins in rows)}
        if self.called:
            self.gives = self.gives or bool(own)
            own = set(columns) if self.gives else own
        taken: set[tuple[Op, Value]] = set()
        for k in own:
            for use, origins in columns[k]:
                (origin, *others) = origins
                if others or origin not in mine or (self.called and (use.op, origin) in taken):
                    use.set(copied(use.value, use.op))
                else:
                    taken.add((use.op, origin))

    # -- frees
    def places(self, buffer: Value, aliases: set[Value], live: Liveness) -> list[Place]:
        """Where a buffer is freed; nowhere where it escapes. UnsupportedError where one that is freed already would
        have to be freed in several places."""
        home = buffer.block
        homes = [u.op.block for v in aliases for u in v.uses if u.op.block is not None]
        homes += [home, *(v.block for v in aliases)]
        block = self.after.common(homes)
        sees = block is not None and self.dominance.dominates(home, block)
        alone = all(ancestor(b, home.region) is home for b in homes)
        if block is None or not sees or (not alone and (repeats(home) or repeats(block))):
            if frees(buffer):
                loc = self.func.loc if buffer.defining_op is None else buffer.defining_op.loc
                raise UnsupportedError("no block is after all uses of the buffer and sees it", location=loc)
            return self.where_it_dies(buffer, aliases, live)
        place = self.last_use(block, buffer, aliases)
        return [] if place.after is block.terminator else [place]

    def where_it_dies(self, buffer: Value, aliases: set[Value], live: Liveness) -> list[Place]:
        """Where ways part, or go back, a buffer is freed on each: in the last block that needs it, or on the way to one
        that does not."""
        home, region = buffer.block, buffer.block.region
        before = predecessors(region)
        seen = [b for b in region.blocks if self.dominance.dominates(home, b)]

        def needs(block: Block) -> bool:
            return not aliases.isdisjoint(live.into(block)) or any(v in aliases for v in block.args)

        alive = {b for b in seen if b is not home and needs(b)}
        work = list(alive)
        while work:  # what comes before a block that needs it must not have freed it
            for block in before[work.pop()]:
                if block is not home and block in seen and block not in alive:
                    alive.add(block)
                    work.append(block)
        found = list[Place]()
        for block in seen:
            if block not in alive and block is not home:
                continue
            after = block.following
            if not any(b in alive for b in after):
                place = self.last_use(block, buffer, aliases)
                found += [place] if place.after is not block.terminator or after else []
            else:
                found += [Place(block, to=b) for b in after if b not in alive]
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
        return Place(block, last)

    def free(self, buffer: Value, place: Place) -> None:
        block, last = place.block, place.after
        if place.to is not None:
            for between in self.way(block, place.to):
                between.insert(0, Dealloc.of(buffer, block.terminator.loc))
            return
        old = self.freed[buffer]
        op = old[0] if old else Dealloc.of(buffer, block.terminator.loc)
        if old and op.block is not None:
            if op is last:
                return
            op.block.remove(op)
        block.insert(0 if last is None else block.op_index(last) + 1, op)

    def way(self, block: Block, to: Block) -> list[Block]:
        """The blocks that are run only on the ways from one block to another."""
        if (block, to) not in self.ways:
            alone = predecessors(block.region)[to] == [block] and to is not block.region.block
            self.ways[block, to] = [to] if alone else split(block, to)
        return self.ways[block, to]


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
    target = value.owner
    if not isinstance(target, Block):
        return False
    parting = [b for b in predecessors(target.region)[target] if len(b.terminator.successors) > 1]
    return bool([split(b, target) for b in parting])


def split(before: Block, target: Block) -> list[Block]:
    """New blocks on each of the ways from a block that branches in two to another."""
    end, found = before.terminator, list[Block]()
    if not isinstance(end, CondBranch):
        raise UnsupportedError(f"a way that parts at {end.name} cannot have a block of its own", location=end.loc)
    condition, *rest = end.operands
    passed, ways = [rest[: end.n_then], rest[end.n_then :]], list(end.successors)
    for k in range(2):
        if ways[k] is target:
            between = Block()
            between.region = target.region
            between.append(Branch.of(target, passed[k], end.loc))
            target.region.blocks.insert(target.region.blocks.index(before) + 1, between)
            ways[k], passed[k] = between, []
            found.append(between)
    end.successors = tuple(ways)
    end.set_operands([condition, *passed[0], *passed[1]])
    end.attrs["n_then"] = len(passed[0])
    return found


def after(op: Op, origin: Value) -> Iterator[Op]:
    """What may run after an op, before a buffer is made anew."""
    block = op.block
    while block is not None:
        yield from in_blocks_after(block, op, origin)
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
            if ancestor(origin.block, target) is not None:
                continue
            yield from target.walk()
            tails = {b.terminator for b in target.blocks}
            work += [f.target for f in parent.flows() or () if f.end in tails and f.target not in seen]
        op, block = parent, parent.block


def in_blocks_after(block: Block, op: Op, origin: Value) -> Iterator[Op]:
    """The same within a region, loops of its blocks included."""
    home = ancestor(origin.block, block.region)
    maker = home
    if home is not None and (home is not origin.block or origin.defining_op is not None):
        maker = None
    seen, work = set[Block](), [(block, block.op_index(op) + 1)]
    while work:
        current, start = work.pop()
        if current is maker and not start:
            continue
        for later in current.ops[start:]:
            if current is home and makes(later, origin):
                break
            yield from (later, *later.walk())
        else:
            following = [b for b in current.following if b not in seen]
            seen.update(following)
            work += [(b, 0) for b in following]


def makes(op: Op, value: Value) -> bool:
    """Whether a value is made by an op, or inside of it."""
    return value.defining_op is op or any(ancestor(value.block, r) is not None for r in op.regions)


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
