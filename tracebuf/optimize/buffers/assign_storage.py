"""Decides where each buffer lives: on the stack, in the arena, or as a NumPy array from birth (rule B6).

Stack (memref.alloca): small, of static size, freed unconditionally in the block that allocates it. Array (kind
"array"): what may be returned, and what called functions give (take_results.py); of that what is absent is nowhere
(kind "nowhere"). Arena (kind "arena"): everything else, at an offset (attrs "slot", "offset") of a phase, which is as
long as some of its buffers are alive (lifetimes.py); those that are never alive together share bytes (pack.py).

- A buffer that may be alive where the next one of its kind is made (a loop that replaces what it carries) takes turns
  between places: the next one is in a place that no value is in that is alive then.
- A buffer whose size is not known where a phase begins floats (`Phase.floats`): when the size is known, it gets the
  lowest gap in the first block that nobody is in as long as it is alive, or leaves that to the next one that floats.
  While it is alive no phase of that block may begin, else it is in another block, whose phases begin later.
- What a loop carries, of a size that is not known before the loop, roams (`Roaming`): its place is looked for when it
  is made; it is an array where the block has no room for it. What is alive with it roams too, and what is alive with
  that; so no phase of the first block goes on then, and they roam in that one.
- What a called function may keep has a slot of its own, which is given up to it.

MLIR counterparts: promote-buffers-to-stack; the arena has none. Runs after deallocs are lowered and moved up.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field

from tracebuf.deallocate.facts import FRESH_OPS, GIVING_OPS, sources
from tracebuf.frozen import plain
from tracebuf.ir.core import Block, Op, Value, dominates
from tracebuf.ir.dims import Dim, Sym, substitute, symbols
from tracebuf.ir.func import Func
from tracebuf.ir.types import MemRefType, is_unnamed
from tracebuf.ops.arrays.host import HostCall
from tracebuf.ops.control import scf
from tracebuf.ops.control.func import TracedCall
from tracebuf.ops.memory import memref
from tracebuf.ops.memory.arena import Extent, Next, Phase, Place, Plan, Range, Roaming
from tracebuf.ops.memory.indexing import constant_index
from tracebuf.optimize.buffers.lifetimes import Lifetimes, Span
from tracebuf.optimize.buffers.pack import Item, Later, packed
from tracebuf.optimize.buffers.shorten_liveness import users
from tracebuf.running.lines import ON_STACK

STACK = 64 * 1024
"""Bytes of stack that one function may use for buffers."""
STACK_OF_CALLED = 64
"""Bytes of stack that a function which another one calls may use for buffers: it may call itself a thousand times."""


def assign_storage(func: Func) -> None:
    """Sets `kind` (and `slot`, `offset`, `turns`) of each memref.alloc, or makes it a memref.alloca; sets
    func.attrs["arena"], the Plan."""
    if any(isinstance(op, FRESH_OPS) for op in func.walk()):
        to_stack(func.block, STACK)
    func.attrs["arena"] = _Storage(func).plan()


def assign_called_storage(func: Func) -> None:
    """The same for a function that another one calls, without an arena: its buffers are arrays, but for small ones."""
    to_stack(func.block, STACK_OF_CALLED)
    for op in func.walk():
        if type(op) is memref.Alloc and "absent" in op.attrs:
            op.attrs["kind"] = "nowhere"
    func.attrs["arena"] = Plan(nowhere=True)


# -- the stack
def to_stack(block: Block, room: int) -> int:
    """Moves small buffers of a block to the stack; the room that is left on it."""
    freed = {op.operand(0).owner: op for op in block.ops if isinstance(op, memref.Dealloc)}
    dropped: set[Op] = set()
    ops: list[Op] = []
    for op in block.ops:
        if type(op) is memref.Alloc and op in freed and fits_stack(op, room):
            room -= int(str(op.result.memref_type.byte_size))
            dropped.add(freed[op])
            op = on_stack(op)
        elif isinstance(op, (scf.Loop, scf.If)):
            for region in op.regions:
                room = to_stack(region.block, room)
        if op in dropped:
            op.drop_uses()
        else:
            ops.append(op)
    block.replace_ops(ops)
    return room


def fits_stack(op: memref.Alloc, room: int) -> bool:
    size = op.result.memref_type.byte_size
    if not isinstance(size, int) or size > ON_STACK or size > room:
        return False
    return not any(isinstance(user, HostCall) and may_keep(user, op.result) for user in users(op.result))


def may_keep(call: HostCall, value: Value) -> bool:
    """Whether a called function, or the frames of what it raises, may keep a buffer, which must be memory that can be
    kept then. Nobody but us has the buffer of a number that a library's function gives."""
    given = [use for use in value.uses if use.op is call]
    is_number = value.memref_type.rank == 0 and given and not any(map(call.reads, given))
    return call.loop is None and (call.may_keep or not is_number)


def on_stack(op: memref.Alloc) -> memref.Alloca:
    new = memref.Alloca(op.operands, [op.result.type], op.loc, dict(op.attrs))
    new.result.name = op.result.name
    op.result.replace_all_uses(new.result)
    op.drop_uses()
    return new


# -- the arena
@plain()
class Group:
    """Buffers that take turns between places of one size; mostly one buffer, in one place."""

    allocs: list[memref.Alloc]
    size: Dim | None
    """Its bytes; None where they are known only when it is made."""
    alone: bool
    """Whether its memory may be given up to a called function."""
    turns: int = 1
    span: Span = Span(0, 0)
    beside: dict[memref.Alloc, list[Value]] = field(default_factory=dict)
    """By buffer the values that are alive when it is made and may be in one of the places."""


class _Storage:
    def __init__(self, func: Func) -> None:
        self.func, self.lives = func, Lifetimes(func)
        self.allocs = [op for op in func.walk() if type(op) is memref.Alloc]
        held: dict[memref.Alloc, list[Value]] = {op: [] for op in self.allocs}
        for value in self.lives.alive:
            for leaf in self.lives.origins.of(value):
                if isinstance(leaf.owner, memref.Alloc) and leaf.owner in held:
                    held[leaf.owner].append(value)
        shapes = [a.type.shape for a in func.args if isinstance(a.type, MemRefType)]
        self.shapes = {s for shape in shapes for d in shape for s in symbols(d) if d == s.expr}
        """The symbols that are sizes of the function's arguments."""
        self._sizes: dict[memref.Alloc, Dim] = {}
        self._ends: dict[Group, Extent] = {}
        self._found: dict[Value, frozenset[memref.Alloc]] = {}
        self.held = held
        """By buffer the values that may be it."""
        keeping = any(isinstance(op, HostCall) and op.may_keep for f in func.callees for op in f.walk())
        calls = [
            op for op in func.walk()
            if isinstance(op, HostCall) and op.may_keep or isinstance(op, TracedCall) and keeping
        ]  # fmt: skip
        handed = [v for op in calls for v in op.operands if isinstance(v.type, MemRefType)]
        self.given_away = frozenset[memref.Alloc]().union(*map(self._origins, handed))
        """Those that a called function may keep."""

    def plan(self) -> Plan:
        arrays = kept = self._arrays()
        while True:
            groups = self._groups([op for op in self.allocs if op not in arrays])
            late = [op for g in groups if not self._is_planned(g) for op in g.allocs]
            if not late:
                break
            arrays = self._freed_alike(arrays.union(late))
        roaming = self._roaming(arrays - kept)
        wider = self._with_those_beside(roaming, arrays) if roaming else roaming
        if wider is not None:
            arrays, roaming = arrays | wider, wider
        if roaming:
            groups = self._groups([op for op in self.allocs if op not in arrays])
        for op in self.allocs:
            op.attrs["kind"] = "arena" if op not in arrays else "nowhere" if "absent" in op.attrs else "array"
        plan = self._placed(groups, 1 if roaming and wider else 0)
        plan.frees.update(self._frees(arrays))
        plan.nowhere = any(op.attrs["kind"] == "nowhere" for op in arrays) or any(map(gives_buffers, self.func.walk()))
        self._note_spares(plan, arrays - roaming)
        if roaming:
            plan.roaming = self._plan_roaming(plan, roaming, kept, wider is not None)
        return plan

    # -- arrays
    def _arrays(self) -> set[memref.Alloc]:
        """What may be returned; what is freed as a part of it, as nobody knows then how much is freed."""
        end = self.func.block.terminator
        found = set[memref.Alloc]().union(*map(self._origins, end.operands))
        for op in self.func.walk():
            if isinstance(op, memref.Dealloc) and may_be_part(op.operand(0)):
                found |= self._may_free(op)[0]
        found = self._freed_alike(found)
        for op in self.allocs:
            if "given" in op.attrs:
                with_it = self._freed_alike(found | {op})
                if with_it == found | {op}:
                    found = with_it
                else:
                    not_given(op)
        return found

    def _freed_alike(self, arrays: set[memref.Alloc]) -> set[memref.Alloc]:
        """With all that one free may free: it frees arrays, or buffers of the arena."""
        together = [self._may_free(op) for op in self.func.walk() if isinstance(op, memref.Dealloc)]
        clones = [bool(others) for _, others in together]
        changed = True
        while changed:
            changed = False
            for (allocs, _), cloned in zip(together, clones, strict=True):
                if (cloned or not arrays.isdisjoint(allocs)) and not arrays.issuperset(allocs):
                    arrays = arrays.union(allocs)
                    changed = True
        return arrays

    def _may_free(self, op: memref.Dealloc) -> tuple[set[memref.Alloc], bool]:
        """The allocations that a free may free, and whether there may be a clone, or what a called function made."""
        leaves = [v.owner for v in self.lives.origins.of(op.operand(0))]
        return {o for o in leaves if type(o) is memref.Alloc}, any(
            isinstance(o, GIVING_OPS) and not isinstance(o, memref.Alloc) for o in leaves
        )

    def _frees(self, arrays: set[memref.Alloc]) -> Iterable[Op]:
        for op in self.func.walk():
            if isinstance(op, memref.Dealloc):
                allocs, cloned = self._may_free(op)
                if allocs and not cloned and arrays.isdisjoint(allocs):
                    yield op

    def _roaming(self, varying: set[memref.Alloc]) -> set[memref.Alloc]:
        """Those of some buffers that can roam: those that are freed whole, and that no function may keep."""
        varying = varying - self.given_away
        freed = [self._may_free(op)[0] for op in self.func.walk() if isinstance(op, memref.Dealloc)] if varying else []
        while True:
            mixed = [o for allocs in freed if not allocs <= varying for o in allocs & varying]
            if not mixed:
                break
            varying = varying.difference(mixed)
        if any(may_be_part(v) for values in self._across_of(varying).values() for v in values):
            return set()
        return varying

    def _across_of(self, allocs: set[memref.Alloc]) -> dict[memref.Alloc, list[Value]]:
        """By buffer the values that are alive when it is made and may be one of them."""
        return {op: [v for v in self.lives.across(op) if self._may_be(v, allocs)] for op in self.allocs if op in allocs}

    def _with_those_beside(self, roaming: set[memref.Alloc], arrays: set[memref.Alloc]) -> set[memref.Alloc] | None:
        """Those that roam and those that are alive with one of them, or with those: the others may have their phases in
        the same block, as nothing roams then. None where one of them cannot roam."""
        while True:
            hull = self._hull_of(roaming)
            groups = [g for g in self._groups([op for op in self.allocs if op not in arrays]) if not g.alone]
            known = [g for g in groups if self._is_known(g.size, self.lives.home(g.span))]
            phases = [[g] for g in groups] + self._phases(known)[0]
            met = {op for phase in phases if meet(self._whole(phase), hull) for g in phase for op in g.allocs}
            if not met:
                return roaming
            wider = self._freed_alike(arrays | met)
            roaming, arrays = roaming | (wider - arrays), wider
            if self._roaming(roaming) != roaming:
                return None

    def _hull_of(self, allocs: set[memref.Alloc]) -> Span:
        """From where the first of some buffers is made to where the last one is freed."""
        hull = self.lives.hull(v for op in allocs for v in self.held[op])
        for op in self.func.walk():
            if isinstance(op, memref.Dealloc) and not allocs.isdisjoint(self._may_free(op)[0]):
                hull = hull.around(self.lives.span[op])
        return hull

    def _plan_roaming(self, plan: Plan, roaming: set[memref.Alloc], kept: set[memref.Alloc], first: bool) -> Roaming:
        """`first`: whether they roam in the first block."""
        across = self._across_of(roaming)
        turns = 1 + max(map(len, across.values()))
        met = {(op, o) for op, values in across.items() for v in values for o in self._origins(v)}
        near, others = dict[Op, frozenset[Op]](), dict[Op, tuple[Value, ...]]()
        for op in across:
            near[op] = frozenset(o for o in roaming if (op, o) not in met and (o, op) not in met)
            others[op] = tuple(v for v in self.lives.across(op) if v.owner in kept)
            op.attrs["roams"] = True
        frees = [op for op in self.func.walk() if isinstance(op, memref.Dealloc)]
        mine = frozenset(op for op in frees if (allocs := self._may_free(op)[0]) and allocs <= roaming)
        over = frozenset(p.slot for p in plan.places.values() if p.phase is not None) if first else frozenset()
        block = 0 if first else plan.slots
        table = plan.slots if first else plan.slots + 1
        plan.slots = table + 1 + turns
        return Roaming(block, table, turns, others, near, over, mine)

    def _note_spares(self, plan: Plan, arrays: set[memref.Alloc]) -> None:
        """Numbers the arrays that may be freed, those alike that one free may free. Not those that are no rows of rows,
        for which NumPy's constructor is told their strides; nor what roams, which would be kept beside larger ones."""
        frees = [op for op in self.func.walk() if isinstance(op, memref.Dealloc) and op not in plan.frees]
        classes: list[tuple[set[memref.Alloc], list[Op]]] = []
        for free in frees:
            allocs, cloned = self._may_free(free)
            mine = set(allocs)
            same: list[Op] = [free]
            if cloned or not allocs:
                continue
            for one in [c for c in classes if not mine.isdisjoint(c[0])]:
                classes.remove(one)
                mine |= one[0]
                same += one[1]
            classes.append((mine, same))
        for number, (allocs, same) in enumerate(classes, 1):
            if all(a in arrays and "given" not in a.attrs and in_order(a) for a in allocs):
                plan.spares.update(dict.fromkeys([*allocs, *same], number))

    # -- groups
    def _groups(self, allocs: list[memref.Alloc]) -> list[Group]:
        """The buffers, those together that take turns."""
        inside = set(allocs)
        self.across = {op: self.lives.across(op) for op in allocs}
        leader = {op: op for op in allocs}

        def find(op: memref.Alloc) -> memref.Alloc:
            while leader[op] is not op:
                op = leader[op]
            return op

        for op in allocs:
            if any(op in self._origins(v) for v in self.across[op]):
                for other in set[memref.Alloc]().union(*map(self._origins, self.held[op])) & inside:
                    if self._size(other) == self._size(op):
                        leader[find(other)] = find(op)
        members: dict[memref.Alloc, list[memref.Alloc]] = {}
        for op in allocs:
            members.setdefault(find(op), []).append(op)
        return [self._group(m) for m in members.values()]

    def _group(self, allocs: list[memref.Alloc]) -> Group:
        inside = set(allocs)
        size = self._size(allocs[0])
        named = not any(is_unnamed(d) for op in allocs for d in op.result.memref_type.shape)
        alone = not self.given_away.isdisjoint(allocs)
        group = Group(allocs, size if named else None, alone)
        group.span = self.lives.hull(v for op in allocs for v in self.held[op])
        group.beside = {op: [v for v in self.across[op] if self._may_be(v, inside)] for op in allocs}
        group.turns = 1 + max(map(len, group.beside.values()))
        return group

    def _size(self, op: memref.Alloc) -> Dim:
        """The bytes of a buffer; a symbol that is a constant is that."""
        if op not in self._sizes:
            self._sizes[op] = self._size_of(op)
        return self._sizes[op]

    def _size_of(self, op: memref.Alloc) -> Dim:
        size, known = op.result.memref_type.byte_size, dict[Sym, Dim]()
        for s in symbols(size):
            n = constant_index(self.func.symbols[s]) if s in self.func.symbols else None
            if n is not None:
                known[s] = n
        return substitute(size, known)

    def _origins(self, value: Value) -> frozenset[memref.Alloc]:
        if value not in self._found:
            leaves = (v.owner for v in self.lives.origins.of(value))
            self._found[value] = frozenset(o for o in leaves if type(o) is memref.Alloc)
        return self._found[value]

    def _may_be(self, value: Value, allocs: set[memref.Alloc]) -> bool:
        return not allocs.isdisjoint(self._origins(value))

    def _is_straight(self, group: Group) -> bool:
        """Whether it is one buffer that is made where its span begins."""
        (op, *others) = group.allocs
        return not others and self.lives.home(group.span) is op

    def _is_planned(self, group: Group) -> bool:
        """Whether its memory can be asked for where its span begins."""
        if self._is_straight(group):
            return True
        return not group.alone and self._is_known(group.size, self.lives.home(group.span))

    def _is_known(self, size: Dim | None, op: Op) -> bool:
        """Whether a number of bytes can be computed before an op."""
        return size is not None and all(self._has_value(s, op) for s in symbols(size))

    def _has_value(self, s: Sym, op: Op) -> bool:
        found = self.func.symbols.get(s)
        return s in self.shapes or (found is not None and dominates(found, op))

    # -- places
    def _placed(self, groups: list[Group], least: int) -> Plan:
        """`least`: so many blocks there are at least."""
        items = {g: Item(0 if g.size is None else g.size, g.turns, *g.span, set()) for g in groups}
        of = {op: g for g in groups for op in g.allocs}
        for g in groups:
            for op in g.allocs:
                for other in {of[o] for v in self.across[op] for o in self._origins(v) if o in of}:
                    if other is not g:
                        items[g].beside.add(items[other])
                        items[other].beside.add(items[g])
        rest = [g for g in groups if not g.alone and self._is_known(g.size, self.lives.home(g.span))]
        own = [g for g in groups if g not in set(rest)]
        first, rest = self._phases(rest)
        floating = [g for g in rest if not any(self._meets_begin([g], phase) for phase in first)]
        rest = [g for g in rest if g not in floating]
        blocks: list[list[list[Group]]] = [first] if first or least else []
        for g in sorted(floating, key=lambda g: self._whole([g])):
            self._put_in([g], blocks, 1)
        idle = tuple(range(1, len(blocks)))
        while rest:
            phases, late = self._phases(rest)
            own += [] if phases else late
            rest = late if phases else []
            for phase in phases:
                self._put_in(phase, blocks, 1 + len(idle))
        plan = Plan(blocks=len(blocks), slots=len(blocks), idle=idle)
        begun: list[tuple[Span, list[Group], Phase]] = []
        on_top = [(items[g], self._together(g, floating)) for g in floating]
        for number, phases in enumerate(blocks):
            for phase in sorted(phases, key=self._whole):
                inside = {items[g] for g in phase}
                later = [Later(inside & late.beside, total) for late, total in on_top] if number == 0 else []
                offsets, total = packed([items[g] for g in phase], [late for late in later if late.beside])
                if number not in idle:
                    self._begin_phase(plan, phase, Phase(number, total, sizes_of(phase)), begun)
                for g in phase:
                    self._place(plan, g, begun[-1][2], offsets[items[g]]) if number not in idle else None
        for g in sorted(floating, key=lambda g: self._whole([g])):
            number = next(k for k in idle if [g] in blocks[k])
            total = Extent().plus(items[g].size, g.turns)
            beside, above = self._in_use(g, begun, plan, items)
            coming = self._next(g, floating, begun, plan, items)
            above = above if coming is None else Extent.greatest([above, coming.above])
            floats = Phase(number, total, sizes_of([g]), True, beside, above, coming)
            self._begin_phase(plan, [g], floats, begun)
            self._place(plan, g, begun[-1][2], Extent())
        for g in own:
            self._place(plan, g, None, Extent())
        self._note_sharing(plan, begun, items)
        return plan

    def _meets_begin(self, phase: list[Group], other: list[Group]) -> bool:
        """Whether another phase begins while one goes on."""
        whole, begin = self._whole(phase), self._whole(other).first
        return whole.first < begin <= whole.last

    def _put_in(self, phase: list[Group], blocks: list[list[list[Group]]], start: int) -> None:
        """Puts a phase into the first block, from one on, of which no phase meets it."""
        for block in blocks[start:]:
            if not any(meet(self._whole(phase), self._whole(other)) for other in block):
                block.append(phase)
                return
        blocks.append([phase])

    def _begin_phase(
        self, plan: Plan, groups: list[Group], phase: Phase, begun: list[tuple[Span, list[Group], Phase]]
    ) -> None:
        begun.append((self._whole(groups), groups, phase))
        plan.phases.setdefault(self._begin(groups), []).append(phase)

    def _together(self, group: Group, floating: list[Group]) -> Extent:
        """A floating buffer and those that are alive where it is made."""
        first = group.span.first
        return Extent.sum(
            (g.size, g.turns) for g in floating if g.size is not None and g.span.first <= first <= g.span.last
        )

    def _in_use(
        self,
        group: Group,
        begun: list[tuple[Span, list[Group], Phase]],
        plan: Plan,
        items: dict[Group, Item],
    ) -> tuple[tuple[Range, ...], Extent]:
        """Of the first block what is in use that is alive with a buffer that floats; what it is below."""
        beside, ends = list[Range](), list[Extent]()
        for _, groups, phase in begun:
            near = [g for g in groups if items[g] in items[group].beside]
            if phase.floats and near:
                beside.append(Range(phase))
                ends.append(self._end(near[0], phase.above))
            elif phase.block == 0 and near:
                offsets = [plan.places[g.allocs[0]].offset for g in near]
                ranges = [(offset, self._end(g, offset)) for g, offset in zip(near, offsets)]
                beside += [Range(phase, *r) for r in joined(ranges)]
                ends += [end for _, end in ranges]
        return tuple(beside), Extent.greatest(ends)

    def _end(self, group: Group, offset: Extent) -> Extent:
        """Where a group ends that is placed, or floats above what ends there."""
        if group not in self._ends:
            self._ends[group] = offset.plus(*sized(group))
        return self._ends[group]

    def _next(
        self,
        group: Group,
        floating: list[Group],
        begun: list[tuple[Span, list[Group], Phase]],
        plan: Plan,
        items: dict[Group, Item],
    ) -> Next | None:
        """The first one to float while a buffer does that is made whenever that is, and of a size that is known."""
        begin = self._begin([group])
        for g in sorted(floating, key=lambda g: self._whole([g])):
            home = self._begin([g])
            later = home.block is begin.block and self.lives.span[home].first > self.lives.span[begin].first
            if later and items[g] in items[group].beside and self._is_known(g.size, begin):
                beside, above = self._in_use(g, begun, plan, items)
                total = Extent().plus(*sized(g))
                return Next(total, beside, above.plus(*sized(g)))
        return None

    def _place(self, plan: Plan, group: Group, phase: Phase | None, offset: Extent) -> None:
        number, size = plan.slots, 0 if group.size is None else group.size
        plan.slots += group.turns
        for op in group.allocs:
            beside = tuple(group.beside[op]) if group.turns > 1 else ()
            plan.places[op] = Place(number, phase, offset, size, group.turns, beside)
            op.attrs["slot"] = number if phase is None else phase.block
            if phase is not None:
                op.attrs["offset"] = str(offset)
            if group.turns > 1:
                op.attrs["turns"] = group.turns

    def _phases(self, groups: list[Group]) -> tuple[list[list[Group]], list[Group]]:
        """Groups whose spans meet, together; and those whose size is not known yet where one of these begins."""
        late: list[Group] = []
        while True:
            phases: list[list[Group]] = []
            for g in sorted((g for g in groups if g not in late), key=lambda g: g.span):
                phases.append([g])
                while len(phases) > 1 and meet(self._whole(phases[-2]), self._whole(phases[-1])):
                    phases[-2:] = [phases[-2] + phases[-1]]
            found = [g for phase in phases for g in phase if not self._is_known(g.size, self._begin(phase))]
            if not found:
                return phases, late
            late += found

    def _begin(self, phase: list[Group]) -> Op:
        """The op before which the memory of a phase is asked for."""
        first, last = min(g.span.first for g in phase), max(g.span.last for g in phase)
        return self.lives.home(Span(first, last))

    def _whole(self, phase: list[Group]) -> Span:
        """From where the memory of a phase is asked for to where its last buffer dies."""
        return Span(self.lives.span[self._begin(phase)].first, max(g.span.last for g in phase))

    def _note_sharing(self, plan: Plan, begun: list[tuple[Span, list[Group], Phase]], items: dict[Group, Item]) -> None:
        """Two buffers of a block may share bytes, unless they are apart in one phase; so may one that floats and one of
        the first block, or another one that floats, unless they are alive at once."""
        inside = [(phase, g) for _, groups, phase in begun for g in groups]

        def may_share(p: Phase, g: Group, q: Phase, o: Group) -> bool:
            in_first = all(phase.floats or phase.block == 0 for phase in (p, q))
            return (p is q or in_first or p.block == q.block) and items[o] not in items[g].beside

        for phase, g in inside:
            near = [o for other, o in inside if o is not g and may_share(phase, g, other, o)]
            plan.sharing[plan.places[g.allocs[0]].slot] = frozenset(plan.places[o.allocs[0]].slot for o in near)


def sizes_of(groups: Iterable[Group]) -> tuple[Dim, ...]:
    return tuple(dict.fromkeys(0 if g.size is None else g.size for g in groups))


def sized(group: Group) -> tuple[Dim, int]:
    return 0 if group.size is None else group.size, group.turns


MOST_RANGES = 6
"""Between which the gap for a buffer that floats is looked for."""


def joined(ranges: Iterable[tuple[Extent, Extent]]) -> list[tuple[Extent, Extent]]:
    """Ranges, those that follow on one another as one; all that are below the last one as one where they are many."""
    found = list(dict.fromkeys(ranges))
    k = 0
    while k < len(found):
        first, end = found[k]
        following = next((r for r in found if r[0] == end and r != found[k]), None)
        if following is None or first == end:
            k += 1
        else:
            found.remove(following)
            found[found.index((first, end))] = (first, following[1])
            k = 0
    if len(found) > MOST_RANGES:
        return [(Extent(), Extent.greatest(end for _, end in found))]
    return found


def meet(a: Span, b: Span) -> bool:
    return a.first <= b.last and b.first <= a.last


def gives_buffers(op: Op) -> bool:
    """Whether it is a call of a function that gives buffers, of which some may be absent."""
    return isinstance(op, TracedCall) and any(isinstance(v.type, MemRefType) for v in op.results)


def in_order(op: memref.Alloc) -> bool:
    """Whether the axes are in C's order."""
    order: tuple[int, ...] = op.attrs["order"]
    return order == tuple(range(len(order)))


def not_given(op: memref.Alloc) -> None:
    """Its memory is not what a called function gives."""
    del op.attrs["given"]
    for use in op.result.uses:
        if isinstance(use.op, HostCall) and use.op.given_outs:
            use.op.attrs["gives"] = tuple(k for k in use.op.given_outs if k != use.index - use.op.n_ins)


def may_be_part(buffer: Value) -> bool:
    """Whether a value that is freed may have become one as a part of a buffer."""
    seen, work = {memref.base_of(buffer)}, [memref.base_of(buffer)]
    while work:
        for source in sources(work.pop()) or ():
            while isinstance(view := source.defining_op, memref.VIEW_OPS):
                if not isinstance(view, WHOLE):
                    return True
                source = view.operand(0)
            if source not in seen:
                seen.add(source)
                work.append(source)
    return False


WHOLE = (memref.Cast, memref.CollapseShape, memref.ExpandShape)
"""Views that have all of the buffer."""
