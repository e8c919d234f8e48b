"""The parts of the search for the cheapest decisions: which operands may not all be in place, what decisions cost, and
a lower bound of it. One problem for each set of values that may share buffers (a component)."""

from __future__ import annotations

from collections.abc import Iterable
from math import inf

from tracebuf.analysis.cost.cost import CostModel, Item
from tracebuf.analysis.one_shot.aliases import Classes
from tracebuf.analysis.one_shot.base import Conflict
from tracebuf.analysis.one_shot.dataflow import Dataflow
from tracebuf.analysis.one_shot.derived import Analysis
from tracebuf.analysis.one_shot.one_shot import OneShot, ordered
from tracebuf.analysis.one_shot.order import post_order
from tracebuf.errors import InternalError
from tracebuf.frozen import cached_property, plain
from tracebuf.ir.core import Block, Op, Use, Value
from tracebuf.ops.control import scf

Uses = frozenset[Use]


class Assigned(Analysis):
    """Fixed decisions: all operands are in place but these. For some ops only, if given, inner ones first."""

    __slots__ = ("_ops", "_out")

    def __init__(self, start: OneShot, out: Uses, ops: list[Op] | None = None) -> None:
        super().__init__(start.flow, start.storages, rotates=start.rotates)
        self._out, self._ops = out, ops

    def ops(self) -> Iterable[Op]:
        return super().ops() if self._ops is None else self._ops

    def is_in_place(self, use: Use) -> bool:
        return use not in self._out


def components(start: OneShot) -> list[list[Use]]:
    """The tensor operands, bottom-up, grouped by values that might share a buffer if all were in place."""
    classes, uses = Classes(), [u for op in ordered(start.flow.func, "bottom-up") for u in op.tensor_uses()]
    for use in uses:
        for alias in start.flow.aliasing_values(use):
            classes.union(use.value, alias.value)
    for loop in start.flow.func.walk():
        if isinstance(loop, scf.Loop):
            for result, near in zip(loop.results, start.storages.reached(loop), strict=True):
                for k in near:
                    classes.union(result, loop.inits[k].value)
    groups: dict[Value, list[Use]] = {}
    for use in uses:
        groups.setdefault(classes.find(use.value), []).append(use)
    return list(groups.values())


@plain(eq=True, slots=True)
class Effort:
    """How many operands the analysis has tried to put in place, of how many it may; the cost of a program takes as long
    as half as many tries as it has ops."""

    most: float = inf
    tried: int = 0

    @property
    def is_spent(self) -> bool:
        return self.tried >= self.most


class Problem:
    """One component. `rest`: the operands of other components that are out of place, whatever is decided here."""

    def __init__(
        self, start: OneShot, model: CostModel, uses: list[Use], rest: Uses, effort: Effort | None = None
    ) -> None:
        self.start, self.model, self.uses, self.rest = start, model, uses, rest
        self.effort = Effort() if effort is None else effort
        self.forced = frozenset(u for u in uses if start.must_be_in_place(u, branches=False))
        self.cores: list[Uses] = []
        self._values = {u.value for u in uses}
        self._alone: dict[Use, float] = {}
        self._decisive: dict[Use, set[Use]] = {}
        self._costs: dict[Uses, tuple[float, float, list[tuple[float, Uses]]]] = {}

    @cached_property
    def _walked(self) -> frozenset[Op]:
        return frozenset(self._ops)

    @cached_property
    def _ops(self) -> list[Op]:
        """The ops with values of the component, and those around them, from inner ones to outer ones."""
        near: set[Op] = set()
        for op in self.start.flow.func.walk():
            values = [*op.operands, *op.results, *(a for r in op.regions for b in r.blocks for a in b.args)]
            current: Op | None = op if any(v in self._values for v in values) else None
            while current is not None and current not in near:
                near.add(current)
                current = current.parent_op
        return [op for op in post_order(self.start.flow.func) if op in near]

    # -- what is legal
    def _begin(self) -> OneShot:
        """What must be in place is."""
        begun = self.start.again()
        for use in reversed(self.uses):
            if use in self.forced:
                begun.force(use)
        return begun

    def must_be_out(self, use: Use) -> bool:
        """Whether an operand is copied because the op reads it that must overwrite it."""
        return self._begin().conflict(use) is not None

    def conflict(self, out: Iterable[Use]) -> tuple[Uses, Conflict] | None:
        """A core that is in place as a whole where all but `out` is, and its conflict; None for legal decisions."""
        done, excluded, tried = self._begin(), set(out), list(self.forced)
        for use in self.uses:
            if use in self.forced or use in excluded:
                continue
            tried.append(use)
            if (found := self._attempt(done, use)) is not None:
                return self._core(tried, found), found
        return None

    def is_core(self, uses: Iterable[Use]) -> bool:
        """Whether the operands (with those that must be) cannot all be in place."""
        done = self._begin()
        return any(self._attempt(done, use) is not None for use in dict.fromkeys(uses) if use not in self.forced)

    def _attempt(self, done: OneShot, use: Use) -> Conflict | None:
        self.effort.tried += 1
        return done.attempt(use)

    def _core(self, tried: list[Use], found: Conflict) -> Uses:
        """Those of `tried`, which meet a conflict, that lead from its one end to its other; fewer if that is not it."""
        likely = self._path(tried, found)
        core = likely if self.is_core(likely) else tried
        if core is tried:
            for use in list(tried):
                if self.effort.is_spent:
                    break
                fewer = [u for u in core if u is not use]
                core = fewer if self.is_core(fewer) else core
        if not (found_core := frozenset(core) - self.forced):
            raise InternalError(f"what must be in place conflicts: {found}")
        return found_core

    def _path(self, tried: list[Use], conflict: Conflict) -> list[Use]:
        """The fewest operands in place through which the read's buffer becomes the written one."""
        begin = conflict.read.value if conflict.read is not None else conflict.read_only
        neighbours: dict[Value, list[tuple[Use, Value]]] = {}
        for use in tried:
            for alias in self.start.flow.aliasing_values(use):
                neighbours.setdefault(use.value, []).append((use, alias.value))
                neighbours.setdefault(alias.value, []).append((use, use.value))
        came_by: dict[Value, tuple[Use, Value] | None] = {} if begin is None else {begin: None}
        for value in (work := list(came_by)):
            for use, next_value in neighbours.get(value, ()):
                if next_value not in came_by:
                    came_by[next_value] = (use, value)
                    work.append(next_value)
        path, step = [conflict.write], came_by.get(conflict.write.value)
        while step is not None:
            path.append(step[0])
            step = came_by[step[1]]
        return list(dict.fromkeys(path))

    # -- what it costs
    def costs(self, out: Uses) -> tuple[float, float, list[tuple[float, Uses]]]:
        """(the cost of all but `out` in place; what of it stays whatever else goes out of place; the rest, part by
        part, each with the operands that could save it)."""
        if out not in self._costs:
            self.effort.tried += len(self._ops) // 2
            analysis = Assigned(self.start, out | self.rest, self._ops)
            cost = self.model.cost(analysis, self._walked)
            parts = [(self.model.weighed(item), self._savers(item, analysis)) for item in cost.items]
            sure = sum((amount for amount, savers in parts if not savers), 0.0)
            self._costs[out] = cost.bytes, sure, [part for part in parts if part[1]]
        return self._costs[out]

    def _savers(self, item: Item, analysis: Assigned) -> Uses:
        """The operands in place that, out of place, might save an item: what a loop copies at its end, or a new array
        where all who use it would make less."""
        use = item.because
        if (item.made if use is None else use.value) not in self._values:
            return frozenset()
        if use is not None and use.op.terminator and analysis.is_in_place(use) and use.op.parent_op is not None:
            found = self._behind(use)
        elif item.made is not None and sum(map(self.alone, item.made.uses)) < self.model.weighed(item):
            found = set(item.made.uses)
        else:
            return frozenset()
        return frozenset(u for u in found if u.value in self._values and analysis.is_in_place(u)) - self.forced

    def _behind(self, use: Use) -> set[Use]:
        """The operands inside a loop that decide in which buffers its carried values are yielded; none where `use`,
        which it yields, is copied even if all of them are out of place (the more are, the more buffers are new ones).
        """
        if use not in self._decisive:
            assert use.op.parent_op is not None
            found = behind(self.start.flow, use.op.parent_op)
            fresh = Assigned(self.start, frozenset(found) - self.forced | self.rest, self._ops)
            self._decisive[use] = found if fresh.hands_on(use) else set()
        return self._decisive[use]

    def alone(self, use: Use) -> float:
        """What it costs at the least that this operand goes out of place."""
        if use not in self._alone:
            self._alone[use] = self.model.alone(use, self.start.needs_contents(use))
        return self._alone[use]

    # -- what it costs at the least
    def violated(self, out: Uses) -> list[Uses]:
        """The known cores that are in place as a whole."""
        return [core for core in self.cores if core.isdisjoint(out)]

    def packing(self, out: Uses, kept: Uses) -> tuple[Uses, ...]:
        """The known cores in place, those with the least to choose from first; one that is kept as a whole alone."""
        found = sorted(self.violated(out), key=lambda core: len(core - kept))
        return tuple(found[:1] if found and found[0] <= kept else found)

    def least(self, out: Uses, kept: Uses, packed: tuple[Uses, ...]) -> tuple[float, dict[Use, float]]:
        """The least cost of decisions with `out` out of place and `kept` in place; and how much more it is at the
        least, for some operands, if they are out of place as well.

        Of each core in `packed` an operand goes out of place, and what may be saved is paid, or an operand that saves
        it goes out of place: each in turn takes as much from the costs of its operands as all of them have left, so
        that no operand contributes more than it costs (a dual solution of the covering problem).
        """
        _, total, parts = self.costs(out)
        left: dict[Use, float] = {}
        for free, price in [*((core - kept, inf) for core in packed), *((s - kept, amount) for amount, s in parts)]:
            for use in free:
                if use not in left:
                    left[use] = self._besides(use, out)
            amount = min((price, *(left[use] for use in free)))
            total += amount
            for use in free if amount else ():
                left[use] -= amount
        return total, left

    def _besides(self, use: Use, out: Uses) -> float:
        """The cost besides the counted items: if every user of a new array allocates its own, the array itself goes, so
        one of them is not counted (and none, where one may allocate less)."""
        value, op = use.value, use.value.defining_op
        if op is None or not op.bufferizes_to_allocation(value):
            return self.alone(use)
        uses = [u for u in value.uses if u not in out]
        least = self.model.runs[value.block] * self.model.nbytes(value)
        counted = use is not uses[0] and all(self.alone(u) >= least for u in uses)
        return self.alone(use) if counted else 0.0


def behind(flow: Dataflow, loop: Op) -> set[Use]:
    """The operands inside a loop through which its yielded values come."""
    found: set[Use] = set()
    work = [u.value for op in loop.walk() if op.terminator and op.parent_op is loop for u in op.tensor_uses()]
    seen = set(work)
    while work:
        owner = (value := work.pop()).owner
        if isinstance(owner, Block) or not flow.order.contains(loop, owner) or owner is loop:
            continue
        sources = [use for use, _, _ in flow.aliasing_uses(value)]
        if isinstance(owner, scf.Loop):
            sources += [u for u in (*owner.inits, *owner.passed) if u.value.is_tensor]
        found.update(sources)
        fresh = [u.value for u in sources if u.value not in seen]
        seen.update(fresh)
        work += fresh
    return found
