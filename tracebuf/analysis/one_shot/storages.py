"""Which storages a value may live in, whatever is decided; and which carried buffers a loop may hand on.

A storage is an argument, a new array, a loop-carried value (one storage for each iteration), or a loop's result. Values
without a common storage never share an element; alias sets, which are flow-insensitive, are coarser. A loop-carried
buffer is private to the loop as long as every iteration yields buffers that are new, or that it carries, each once:
then `p, q = q, p + q` needs no copies (rule S9). Beyond MLIR 22, which copies what it does not carry in place
(behaviours 36, 37).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import combinations, product

from tracebuf.analysis.one_shot.dataflow import Dataflow
from tracebuf.ir.core import Block, Op, Relation, Use, Value, dominates, happens_in
from tracebuf.ops.control import scf

DEPTH = 50
"""How far storages are followed back through branches and loops to see that they are disjoint, or not as new."""


class Storages:
    """Storages of the values of one function, each computed once."""

    __slots__ = ("_disjoint", "_flow", "_handed", "_memory", "_origins", "_reached", "_roots", "_within")

    def __init__(self, flow: Dataflow) -> None:
        self._flow = flow
        self._roots: dict[Value, frozenset[Value]] = {}
        self._disjoint: dict[tuple[Value, Value], bool] = {}
        self._origins: dict[Value, Value] = {}
        self._reached: dict[scf.Loop, list[set[int]]] = {}
        self._handed: dict[scf.Loop, list[set[int]]] = {}
        self._memory: dict[Value, frozenset[Value]] = {}
        self._within: dict[Value, list[Value]] = {}

    def disjoint(self, a: Value, b: Value) -> bool:
        """Whether no storage is common to both, where both exist at once."""
        return self.of(a).isdisjoint(self.of(b)) or (not self._flow.order.branches and self._disjoint_now(a, b))

    def _disjoint_now(self, a: Value, b: Value, depth: int = DEPTH) -> bool:
        """Whether what branches and loops made at once is disjoint on each path: a loop hands on each of its storages
        to one result at most. Test: test_s11_a_store_to_one_of_the_arrays_that_a_loop_has_exchanged."""
        a, b = self._made(a), self._made(b)
        if a is b or self.of(a).isdisjoint(self.of(b)):
            return a is not b
        if (a, b) not in self._disjoint:
            self._disjoint[a, b] = depth > 0 and all(self._disjoint_now(x, y, depth - 1) for x, y in self._pairs(a, b))
        return self._disjoint[a, b]

    def _pairs(self, a: Value, b: Value) -> Iterable[tuple[Value, Value]]:
        """Pairs of values that must be disjoint so that two others are, which have a storage in common."""
        op = a.owner
        if op is b.owner and isinstance(op, scf.If):
            ends = (block.terminator for block in op.branches)
            return [(end.operand(a.index), end.operand(b.index)) for end in ends]
        if op is b.owner and isinstance(op, scf.Loop):
            reached = self.left(op)
            return combinations([op.inits[k].value for k in reached[a.index] | reached[b.index]], 2)
        sources = self._sources(a)
        return product(sources, [b]) if sources else product([a], self._sources(b) or [a])

    def _made(self, value: Value) -> Value:
        """What a value is, or is a part of: an argument, a new array, or what a branch or a loop makes."""
        seen = []
        while value not in self._origins and not isinstance(value.owner, scf.If | scf.Loop):
            if len(sources := self._sources(value)) != 1:
                break
            seen.append(value)
            value = sources[0]
        origin = self._origins.get(value, value)
        self._origins.update(dict.fromkeys(seen, origin))
        return origin

    def apart(self, a: Value, b: Value) -> bool:
        """Whether the two are never in the same memory, in whichever iterations of loops around them: all that either
        may come from are arguments and new arrays, and others than the other's."""
        return bool(self.memory(a)) and bool(self.memory(b)) and self.memory(a).isdisjoint(self.memory(b))

    def is_newer(self, b: Value, a: Value) -> bool:
        """Whether `b` is in an array that this iteration of the loops around it has made, and `a` in other arrays, or
        in what was there before that: what a loop carries may be the array that its last iteration made there."""
        if len(made := self.memory(b)) != 1:
            return False
        (new,) = made
        owner = b.owner.parent_op if isinstance(b.owner, Block) else b.owner
        if new.defining_op is None or owner is None or not (b is new or dominates(new, owner)):
            return False
        ends = self._ends_since(a, new)
        return bool(ends) and new not in ends and self._ends_since(b, new) == {new}

    def _ends_since(self, value: Value, new: Value) -> set[Value]:
        """Where a value comes from, followed back no further than to what was there before the array `new` was made;
        none where `DEPTH` steps do not show it."""
        assert isinstance(new.owner, Op)
        work, seen, ends = [value], {value}, set[Value]()
        while work:
            current = work.pop()
            if current is new or dominates(current, new.owner):
                ends.add(current)
                continue
            near = self._sources_in_any_iteration(current)
            if len(seen) > DEPTH or (not near and not self._is_made(current)):
                return set()
            ends |= set() if near else {current}
            work += [v for v in near if v not in seen]
            seen.update(near)
        return ends

    def memory(self, value: Value) -> frozenset[Value]:
        """The arguments and new arrays in whose memory a value may be, those that loops rotate to it included; none
        where it may also come from elsewhere."""
        versions = {value: None}
        while value not in self._memory and len(near := self._sources_in_any_iteration(value)) == 1:
            value = near[0]
            if value in versions:
                break
            versions[value] = None
        found = self._memory[value] if value in self._memory else self._made_from(value)
        for version in versions:
            if version not in self._memory:
                self._memory[version] = found
                for made in found:
                    self._within.setdefault(made, []).append(version)
        return found

    def replaced(self, made: Value) -> None:
        """What was in the memory of a new array is in other memory from here on."""
        for value in self._within.pop(made, ()):
            self._memory.pop(value, None)

    def _made_from(self, value: Value) -> frozenset[Value]:
        work, seen, ends = [value], {value}, set[Value]()
        while work:
            current = work.pop()
            near = self._sources_in_any_iteration(current)
            if not near and not self._is_made(current):
                return frozenset()
            ends |= set() if near else {current}
            work += [v for v in near if v not in seen]
            seen.update(near)
        return frozenset(ends)

    def _sources_in_any_iteration(self, value: Value) -> list[Value]:
        loop = value.owner.parent_op if isinstance(value.owner, Block) else value.owner
        if not isinstance(loop, scf.Loop):
            return [use.value for use, _, _ in self._flow.aliasing_uses(value)]
        if not value.is_tensor:
            return []
        carried = [*loop.inits, *loop.passed, *(loop.yielded if isinstance(loop, scf.While) else ())]
        place = loop.args.index(value) if value in loop.args else value.index
        if loop.straight and place < len(loop.inits) and (value in loop.args or value.owner is loop):
            return [loop.inits[place].value, loop.passed[place].value]
        return [use.value for use in carried if use.value.is_tensor]

    def _is_made(self, value: Value) -> bool:
        op = value.defining_op
        return value.owner is self._flow.func.block if op is None else op.bufferizes_to_allocation(value)

    def of(self, value: Value) -> frozenset[Value]:
        """The values that stand for the storages."""
        if value not in self._roots and self._flow.order.branches:
            self._roots[value] = self._reachable(value)
        work = [] if value in self._roots else [value]
        while work:
            current = work[-1]
            sources = self._sources(current)
            missing = [v for v in sources if v not in self._roots]
            if current not in self._roots and missing:
                work += missing
                continue
            work.pop()
            own = [current] if not sources or isinstance(current.owner, scf.Loop) else []
            self._roots.setdefault(current, frozenset(own).union(*(self._roots[v] for v in sources)))
        return self._roots[value]

    def _reachable(self, value: Value) -> frozenset[Value]:
        """The storages of a value in branching blocks, whose branches may form a loop."""
        work, seen = [value], {value}
        while work:
            near = [v for v in self._sources(work.pop()) if v not in seen]
            work += near
            seen.update(near)
        return frozenset(v for v in seen if not self._sources(v) or isinstance(v.owner, scf.Loop))

    def _sources(self, value: Value) -> list[Value]:
        if isinstance(value.owner, scf.Loop):
            return [value.owner.inits[k].value for k in self.left(value.owner)[value.index]]
        return [use.value for use, _, _ in self._flow.aliasing_uses(value)]

    def left(self, loop: scf.Loop) -> list[set[int]]:
        """For each result the initial values whose buffer it may have: where the loop certainly runs, those that an
        iteration hands on to it. Test: test_s11_a_loop_that_runs_leaves_the_buffer_that_it_begins_with."""
        reached = self.reached(loop)
        if not (isinstance(loop, scf.For) and loop.surely_runs):
            return reached
        return [{j for i in steps for j in reached[i]} for steps in self._all_steps(loop)]

    def _all_steps(self, loop: scf.Loop) -> list[set[int]]:
        """For each result the loop-carried values whose whole buffer one iteration may yield there."""
        if loop not in self._handed:
            self._handed[loop] = [self._steps(loop, k) if loop.straight else set() for k in range(len(loop.results))]
        return self._handed[loop]

    def reached(self, loop: scf.Loop) -> list[set[int]]:
        """For each carried value, in any iteration, the initial values whose buffer it may have: its own, and those
        that get there."""
        if loop not in self._reached:
            steps = self._all_steps(loop)
            own = [k < len(loop.inits) and bool(loop.aliasing_values(loop.inits[k])) for k in range(len(steps))]
            found = [{k} if own[k] else set() for k in range(len(steps))]
            sizes: list[int] = []
            while sizes != (sizes := [len(s) for s in found]):
                for k, near in enumerate(steps):
                    found[k] |= {j for i in near for j in found[i]}
            self._reached[loop] = found
        return self._reached[loop]

    def _steps(self, loop: scf.Loop, index: int) -> set[int]:
        """The loop-carried values whose whole buffer one iteration may yield at this index."""
        use = loop.passed[index]
        seen, work, found = {use.value}, [use.value], set[int]()
        while work:
            value = work.pop()
            if value in loop.args:
                found.add(loop.args.index(value))
            near = self._sources(value) if isinstance(value.owner, scf.Loop) else whole_sources(self._flow, value)
            work += [v for v in near if v not in seen]
            seen.update(near)
        return found


def whole_sources(flow: Dataflow, value: Value) -> list[Value]:
    """The operands whose whole buffer the value may have."""
    return [use.value for use, relation, _ in flow.aliasing_uses(value) if relation is Relation.EQUIVALENT]


class Handing:
    """What each loop may yield without a copy, once it is decided what is in place.

    `rotates`: whether results are known to share the buffers of other initial values than their own.
    """

    def __init__(
        self, flow: Dataflow, in_place: Callable[[Use], bool], same: scf.Same, storages: Storages, *, rotates: bool
    ) -> None:
        self._flow, self._in_place, self._same = flow, in_place, same
        self._storages, self._rotates = storages, rotates
        self._met: dict[tuple[Value, Value], bool] = {}

    def kept(self, ops: Iterable[Op]) -> set[Use]:
        """The operands of the terminators of the loops among `ops` that stay in their buffers."""
        found: set[Use] = set()
        for op in ops:
            if isinstance(op, scf.Loop):
                fixed = scf.fixed_places(op, self._same)
                moving = [(k, a) for k, a in enumerate(op.args) if k not in fixed and op.straight]
                allowed = {a: None if self._rotates else k for k, a in moving}
                found |= self._of_region(op.passed, fixed, allowed)
                if isinstance(op, scf.While):
                    found |= self._of_region(
                        op.yielded, fixed, {a: None for k, a in enumerate(op.after.args) if k not in fixed}
                    )
        return found

    def _of_region(self, passed: Sequence[Use], fixed: set[int], allowed: dict[Value, int | None]) -> set[Use]:
        """Those of one region: `allowed` are the arguments that may be handed on, with the index at which they may be
        yielded."""
        taken = [use.value for k, use in enumerate(passed) if k in fixed]
        found: set[Use] = set()
        for k, use in enumerate(passed):
            if use.value.is_tensor and k not in fixed and self._is_own(use.value, k, use.op, allowed):
                if not any(self._meet(use.value, other) for other in taken):
                    taken.append(use.value)
                    found.add(use)
        return found

    def _leaf(self, value: Value) -> tuple[Value, list[Use]]:
        """Back through ops whose result is their operand's buffer; where that ends, the operands in place there."""
        while True:
            sources = self._flow.aliasing_uses(value)
            near = [use for use, _, _ in sources if self._in_place(use)]
            if isinstance(value.owner, scf.Loop):
                inits = (value.owner.inits[k] for k in self._storages.left(value.owner)[value.index])
                return value, [use for use in inits if self._in_place(use)]
            straight = len(sources) == 1 and sources[0][1] is Relation.EQUIVALENT
            if not straight or not near or isinstance(value.owner, Block):
                return value, near
            value = near[0].value

    def _is_own(self, value: Value, place: int, end: Op, allowed: dict[Value, int | None]) -> bool:
        """Whether the buffer was allocated in this iteration, or is an argument that may go to index `place`."""
        work, seen = [value], {value}
        while work:
            leaf, near = self._leaf(work.pop())
            if not self._may_be_own(leaf, near, place, end, allowed):
                return False
            further = dict.fromkeys(use.value for use in near if use.value not in seen) if leaf.defining_op else ()
            work += further
            seen.update(further)
        return True

    def _may_be_own(
        self, leaf: Value, near: Sequence[Use], place: int, end: Op, allowed: dict[Value, int | None]
    ) -> bool:
        """The same, as far as it is decided where the buffers of the operands `near` come in."""
        op = leaf.defining_op
        if op is None:
            return leaf in allowed and allowed[leaf] in (None, place)
        assert end.block is not None
        if happens_in(op, end.block) is None:
            return False
        if near and not isinstance(op, scf.Loop):
            return all(relation is Relation.EQUIVALENT for _, relation, _ in self._flow.aliasing_uses(leaf))
        if not near and not self._flow.aliasing_uses(leaf):
            return isinstance(op, scf.Loop) or op.bufferizes_to_allocation(leaf)
        return True

    def _meet(self, a: Value, b: Value) -> bool:
        """Whether on some path through the branches both may be one buffer; not where either comes from buffers that
        the other is none of. Test: test_s11_a_store_to_one_of_the_arrays_that_a_loop_has_exchanged."""
        (a, a_uses), (b, b_uses) = self._leaf(a), self._leaf(b)
        if a is b or (a, b) in self._met:
            return a is b or self._met[a, b]
        if a.owner is b.owner and isinstance(a.owner, scf.If):
            meets = any(self._meet(x.value, y.value) for x in a_uses for y in b_uses if x.op is y.op)
        elif a.owner is b.owner and isinstance(a.owner, scf.Loop):
            meets = any(self._meet(x.value, y.value) for x in a_uses for y in b_uses if x is not y)
        else:
            meets = bool(a_uses or b_uses)
            meets = meets and (not a_uses or any(self._meet(x.value, b) for x in a_uses))
            meets = meets and (not b_uses or any(self._meet(a, y.value) for y in b_uses))
        self._met[a, b] = meets
        return meets
