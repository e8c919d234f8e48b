"""The analysis: a tensor program run on what is known of its values instead of arrays (`Flow`).

Values inside of loops: what an iteration reads of the loop-carried values is composed with itself until it does not
grow; what grows by the same offsets each time has grown by as many of them as the loop has iterations. MLIR has no
counterpart; the affine maps are those that fusion uses.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

import numpy as np

from tracebuf.dask.reach import (
    Margin,
    Near,
    Reach,
    Reaches,
    State,
    Why,
    hull,
    join,
    join_margin,
    join_reach,
    join_reaches,
    later,
    margins_through,
    through,
    whole_of,
)
from tracebuf.dask.rules import Reads, rank_of, reads_of, why
from tracebuf.frozen import plain
from tracebuf.ir.core import Block, Mixed, Op, Value
from tracebuf.ir.dims import Dim, Sym, add, dim_max, dim_min, evaluate, floordiv, mul, sub, substitute, symbols
from tracebuf.ir.func import Func
from tracebuf.ir.types import I64, INDEX, ShapedType, TensorType
from tracebuf.ops.arrays import tensor
from tracebuf.ops.control import scf
from tracebuf.ops.scalars import arith, division

ROUNDS = 4
"""How many iterations of a loop are composed to see what grows."""

MOST_OPS = 3000
"""How many ops are looked at to follow a loop iteration by iteration."""


@plain()
class Trips:
    """A loop: its counter, where that begins and ends, how often it runs (None: unknown)."""

    counter: Sym
    first: Dim | None
    last: Dim | None
    count: Dim | None
    op: scf.For
    number: int
    """Of the counter, as if it were an argument."""


def shape_of(v: Value) -> tuple[Dim, ...]:
    return v.type.shape if isinstance(v.type, ShapedType) else ()


def is_along_nothing(op: scf.For, count: Dim) -> bool:
    """Whether how often a loop runs is no size of what it carries."""
    return not {s for a in op.args for n in shape_of(a) for s in symbols(n)} & symbols(count)


def start(number: int, v: Value) -> State:
    """The state of an argument."""
    because = Why("as it is")
    axes = tuple(Reach((Near(k, 0, 0, 0, n, because, because),)) for k, n in enumerate(shape_of(v)))
    return State({number: axes}, (Margin(),) * rank_of(v))


class Flow:
    """The states of a program's values. `inputs` are the values that are arguments, by number."""

    def __init__(
        self, func: Func, inputs: Sequence[Value] | None = None, same: Mapping[Sym, Dim] = MappingProxyType({}),
        bound: Iterable[Sym] = (), known: Mapping[Sym, int] = MappingProxyType({}), cut: frozenset[Sym] = frozenset(),
    ) -> None:  # fmt: skip
        """`same`: sizes in terms of others that they equal; `bound`: the symbols that a call is given; `known`: sizes
        of the call, which are used to say how often loops run along no axis of what they make; `cut`: the symbols of
        axes along which chunks know where they begin."""
        self.known, self.cut = known, cut
        self.states: dict[Value, State] = {}
        named = {v: s for s, v in func.symbols.items() if not isinstance(v.defining_op, arith.Constant)}
        self.sizes: dict[Value, Dim] = {v: substitute(s.expr, same) for v, s in named.items()}
        self.bound = frozenset(bound)
        self.trips: list[Trips] = []
        self.turns = 1
        """How many iterations there are of the loops around that are followed one by one."""
        self.conditions: list[Reaches] = []
        """What conditions around read, and how often loops around run."""
        self.once: dict[Op, tuple[list[int], list[State]]] = {}
        """Of each loop: the numbers of its carried values, as if they were arguments, and what one iteration makes."""
        self.walked: dict[Op, set[Dim]] = {}
        """Of each loop: the sizes of the axes along which its counter says places."""
        self.counts: dict[Op, int] = {}
        """How often loops run, where that is said from outside."""
        self.shapes: dict[int, tuple[Dim, ...]] = {}
        """Of arguments by number."""
        self.counting: dict[Dim, tuple[Value, int]] = {}
        """Of sizes of axes that are cut: what stands for the places along these, as if it were an argument, and the
        number of that."""
        self.next = 0
        for v in func.args if inputs is None else inputs:
            self.enter(v)

    def enter(self, v: Value) -> int:
        """Makes a value an argument; its number."""
        self.states[v], self.shapes[self.next] = start(self.next, v), shape_of(v)
        self.next += 1
        return self.next - 1

    # -- sizes
    def __call__(self, value: Mixed) -> Dim | None:
        return self.size(value)

    def ends(self, begin: Dim, end: Dim) -> tuple[Dim, Dim]:
        """Where the places from `begin` to `end` begin and end that all iterations of the loops around have."""
        for trips in self.trips:
            if trips.counter in symbols(begin) | symbols(end) and trips.first is not None and trips.last is not None:
                last = {trips.counter: sub(trips.last, 1)}
                begin, end = substitute(begin, {trips.counter: trips.first}), substitute(end, last)
        return begin, end

    def moves(self, source: Value, places: Sequence[Dim | None]) -> bool:
        """Whether a value, or whether it is stored, depends as a number on the counter of a loop that decides about
        these places."""
        counters = {s for p in places if p is not None for s in symbols(p)}
        read = {n for reaches in (self.state(source).reaches, *self.conditions) for n in reaches}
        several = {s for s in counters if sum(p is not None and s in symbols(p) for p in places) > 1}
        return any(t.counter in several or t.number in read for t in self.trips if t.counter in counters)

    def numbered(self, size: Dim) -> Value | None:
        """What stands for the places 0, 1... of an axis of a size, where chunks know theirs."""
        if not symbols(size) & self.cut:
            return None
        if size not in self.counting:
            (v,) = Block([TensorType((size,), I64)]).args
            self.counting[size] = v, self.enter(v)
        return self.counting[size][0]

    def size(self, value: Mixed) -> Dim | None:
        """The symbolic size that an index is."""
        if isinstance(value, int):
            return value
        if value in self.sizes:
            return self.sizes[value]
        found = self._computed(value)
        if found is not None:
            self.sizes[value] = found
        return found

    def given(self, value: Mixed) -> Dim | None:
        """The symbolic size that an index is, where the sizes and numbers that a call is given say it."""
        size = self.size(value)
        return size if size is not None and symbols(size) <= self.bound else None

    def _computed(self, value: Value) -> Dim | None:
        op = value.defining_op
        if isinstance(op, arith.Constant):
            n = op.attrs["value"]
            return n if isinstance(n, int) and not isinstance(n, bool) else None
        if isinstance(op, tensor.Dim) and isinstance(op.attrs.get("dim"), int):
            t = op.operand(0).type
            return t.shape[op.attrs["dim"]] if isinstance(t, TensorType) else None
        if isinstance(op, arith.IndexCast):
            return self.size(op.operand(0))
        if isinstance(op, arith.Select) and (holds := self.decided(op.operand(0))) is not None:
            return self.size(op.operand(1 if holds else 2))
        if op is not None and len(op.uses) == 2:
            a, b = self.size(op.operand(0)), self.size(op.operand(1))
            if a is None or b is None:
                return None
            if isinstance(op, arith.AddI):
                return add(a, b)
            if isinstance(op, arith.SubI):
                return sub(a, b)
            if isinstance(op, arith.MulI):
                return mul(a, b)
            if isinstance(op, arith.MaxSI):
                return dim_max(a, b)
            if isinstance(op, arith.MinSI):
                return dim_min(a, b)
            if isinstance(op, division.FloorDivIndex) and isinstance(b, int) and b > 0:
                return floordiv(a, b)
        return None

    # -- ops
    def state(self, v: Value) -> State:
        return self.states.get(v) or State({}, (Margin(),) * rank_of(v))

    def run(self, block: Block) -> None:
        for op in block.ops:
            self.step(op)

    def step(self, op: Op) -> None:
        if self.trips:
            self.note_places(op)
        if isinstance(op, scf.For):
            self.loop(op)
        elif isinstance(op, scf.If):
            self.branches(op)
        elif op.regions and any(r.tensor_type.rank for r in op.results if r.is_tensor) and not is_structured(op):
            self.opaque(op)
        elif op.regions and not is_structured(op):
            self.opaque(op)
        elif op.results:
            for result, reads in zip(op.results, reads_of(op, self)):
                self.states[result] = self.after(op, result, reads)

    def note_places(self, op: Op) -> None:
        """Notes the axes along which counters of loops say places."""
        places: list[Mixed] = []
        if isinstance(op, tensor.SliceOp):
            places, base = list(op.slice.offsets), op.operand(op.leading - 1)
        elif isinstance(op, (tensor.Extract, tensor.Insert)):
            first = 1 if isinstance(op, tensor.Extract) else 2
            places, base = list(op.operands[first:]), op.operand(first - 1)
        for place, size in zip(places, shape_of(base) if places else ()):
            d = self.size(place)
            for t in self.trips:
                if d is not None and t.counter in symbols(d):
                    self.walked.setdefault(t.op, set()).add(size)

    def after(self, op: Op, result: Value, reads: Reads) -> State:
        """The state of a result: what it reads of operands, of which is known what they read of arguments."""
        shape = shape_of(result)
        reaches: Reaches = {}
        margins = list(reads.margins or (Margin(),) * len(shape))
        for k, outer in reads.of:
            operand = op.operand(k) if isinstance(k, int) else k
            inner = self.state(operand)
            composed = self.turned(through(outer, inner.reaches), outer, inner.reaches, shape_of(operand), op)
            here = [(axis, place, many) for n, axis, place, many in reads.stored if n == k]
            if here:
                composed = self.aligned(composed, here, op)
            reaches = join_reaches(reaches, composed)
            for axis, m in enumerate(margins_through(outer, inner.margins, shape, shape_of(operand))):
                margins[axis] = join_margin(margins[axis], m)
        for t in self.trips:
            if any(t.counter in symbols(n) for n in shape):  # how long it is says the number
                reaches = join_reaches(reaches, {t.number: ()})
        return State(reaches, tuple(margins))

    def turned(self, found: Reaches, outer: Sequence[Reach], inner: Reaches, sizes: Sequence[Dim], op: Op) -> Reaches:
        """Reads around the end of a value: those of arguments of another size are of anywhere."""
        around = {k for k, r in enumerate(outer) if any(n.around for n in r.near)}
        if not around:
            return found
        reason = why(op, "parts of an array are read around their end")
        made = {}
        for arg, axes in found.items():
            lies = [{n.axis for n in r.near} & around for r in inner.get(arg, ())]
            made[arg] = tuple(
                whole_of(reason) if any(sizes[a] != self.argument_size(arg, k) for a in lies[k]) else r
                for k, r in enumerate(axes)
            )
        return made

    def aligned(self, reaches: Reaches, places: Sequence[tuple[int, Dim, int]], op: Op) -> Reaches:
        """Reads of fixed places, by what is stored to fixed places: as offsets from these. Of several axes the one
        that is as long as the one that is read is taken, then the one of its number."""
        result = op.results[0].tensor_type
        found = {}
        for arg, axes in reaches.items():
            made = []
            for n, reach in enumerate(axes):
                size = self.argument_size(arg, n)
                fitting = [] if size is None else [
                    (a, p, many) for a, p, many in places if isinstance(sub(result.shape[a], size), int)
                ]  # fmt: skip
                fitting = [x for x in fitting if not isinstance(result.shape[x[0]], int)] or fitting
                best = next((x for x in fitting if x[0] == n), fitting[0] if len(fitting) == 1 else None)
                if reach.at is not None and best is not None:
                    axis, place, many = best
                    reason = reach.at_why or why(op, "a store")
                    near = tuple(
                        Near(axis, sub(reach.at[0], p), sub(reach.at[1], p), p, add(p, 1), reason, reason)
                        for p in (add(place, k) for k in range(many))
                    )
                    reach = join_reach(Reach(reach.near, None, None, reach.reduced, reach.whole), Reach(near))
                made.append(reach)
            found[arg] = tuple(made)
        return found

    def argument_size(self, number: int, axis: int) -> Dim | None:
        shape = self.shapes.get(number, ())
        return shape[axis] if axis < len(shape) else None

    def opaque(self, op: Op) -> None:
        """An op with regions of which nothing is known: all that it and its regions use, as a whole."""
        loop = "how often a loop runs is known only while it does (while, break)"
        reason = why(op, loop if isinstance(op, scf.While) else f"{op.name} is not followed")
        inside = {v for o in op.walk() for v in o.operands} | set(op.operands)
        reaches: Reaches = {}
        for v in inside:
            if v in self.states:
                reaches = join_reaches(reaches, all_whole(self.states[v].reaches, reason))
        for r in op.results:
            self.states[r] = State(reaches, (Margin(whole=reason),) * rank_of(r))

    def branches(self, op: scf.If) -> None:
        condition = self.state(op.operand(0))
        taken = self.decided(op.operand(0))
        ends = []
        self.conditions.append({} if taken is not None else condition.reaches)
        for region in op.regions if taken is None else op.regions[1 - taken : 2 - taken]:
            if region.blocks:
                self.run(region.block)
                ends.append([self.state(v) for v in region.block.terminator.operands])
        self.conditions.pop()
        for k, result in enumerate(op.results):
            found = State(condition.reaches, (Margin(),) * rank_of(result))
            for end in ends:
                found = join(found, end[k])
            self.states[result] = found

    def decided(self, condition: Value) -> bool | None:
        """Whether a condition holds, where it compares indices that are known."""
        op = condition.defining_op
        if not isinstance(op, arith.CmpI) or op.operand(0).type is not INDEX:
            return None
        a, b = (self.size(v) for v in op.operands)
        if not isinstance(a, int) or not isinstance(b, int):
            return None
        return bool(op.compute([np.int64(a), np.int64(b)]))

    # -- loops
    def loop(self, op: scf.For) -> None:
        """Composes iterations until nothing grows, or what grows does so evenly."""
        counter = Sym("i", "iv", lo=0)
        first, last, step = (self.size(v) for v in op.operands[:3])
        count = None
        if first is not None and last is not None and isinstance(step, int) and step > 0:
            count = sub(last, first) if step == 1 else floordiv(add(sub(last, first), step - 1), step)
        count = self.counts.get(op, count)
        if count is not None and is_along_nothing(op, count) and symbols(count) <= self.known.keys():
            count = evaluate(count, self.known)
        trips = Trips(counter, first, last, count, op, self.enter(op.body.args[0]))
        inits = [self.state(u.value) for u in op.inits]
        sizes = dict(self.sizes)
        numbers = [self.enter(arg) for arg in op.args]
        bounds: Reaches = {}
        for v in op.operands[:3]:
            bounds = join_reaches(bounds, self.state(v).reaches)
        self.sizes[op.body.args[0]] = counter.expr
        self.trips.append(trips)
        self.conditions.append(bounds)
        held = self.held(op, trips, step)
        for k, whole in held.items():
            old = self.states[op.args[k]]
            self.states[op.args[k]] = State(join_reaches(old.reaches, whole), old.margins)
        self.run(op.body)
        once = [self.out_of_loop(self.state(u.value), trips) for u in op.passed]
        self.trips.pop()
        self.conditions.pop()
        self.once[op] = numbers, once
        shapes = [shape_of(a) for a in op.args]

        def again(states: list[State]) -> list[State]:
            return [self.composed(o, dict(zip(numbers, states)), dict(zip(numbers, shapes)), s)
                    for o, s in zip(once, shapes)]  # fmt: skip

        if op not in self.counts and (places := self.places(op, trips, step)) is not None:
            for result, end in zip(op.results, self.by_turns(op, places, inits, sizes)):
                self.states[result] = State(join_reaches(end.reaches, bounds), end.margins)
            return
        rounds = [inits]
        for _ in range(ROUNDS):
            rounds.append(again(rounds[-1]))
        if isinstance(count, int) and 0 <= count <= 32:
            while len(rounds) <= count:
                rounds.append(again(rounds[-1]))
            ends = rounds[count]
            if count == 0:
                ends = inits
        else:
            ends = [self.grown([r[k] for r in rounds], count, op) for k in range(len(op.args))]
        for k, result in enumerate(op.results):
            end = ends[k] if isinstance(count, int) and count > 0 else joined_start(ends[k], inits[k])
            reaches = join_reaches(end.reaches, bounds)
            self.states[result] = State(join_reaches(reaches, held.get(k, {})), end.margins)

    def held(self, op: scf.For, trips: Trips, step: Dim | None) -> dict[int, Reaches]:
        """Of what a loop along an axis that is cut carries, by number, what changes elsewhere than at the places that
        the counter says: a chunk has other iterations, so that it depends on the whole axis."""
        along = {s for d in (trips.first, trips.last) if d is not None for s in symbols(d)} & self.cut
        reason = why(op, "what the loop carries along the axis")
        whole: dict[int, tuple[Reach, ...]] = {}
        for s in sorted(along, key=lambda s: s.serial):
            self.numbered(s.expr)
            whole[self.counting[s.expr][1]] = (whole_of(reason),)
        return {
            k: whole for k, (arg, use) in enumerate(zip(op.args, op.passed))
            if along and use.value is not arg and (step != 1 or not self.by_place(use.value, arg, trips.counter))
        }  # fmt: skip

    def by_place(self, v: Value, arg: Value, counter: Sym) -> bool:
        """Whether a value is what a loop carries but for elements at places that its counter says."""
        made = v.defining_op
        if v is arg or made is None:
            return v is arg
        if isinstance(made, (tensor.InsertSlice, tensor.Insert)):
            at: Sequence[Mixed] = made.slice.offsets if isinstance(made, tensor.InsertSlice) else made.operands[2:]
            moved = any((d := self.size(o)) is not None and counter in symbols(d) for o in at)
            return moved and self.by_place(made.operand(1), arg, counter)
        if isinstance(made, scf.If):
            ends = [region.block.terminator.operand(v.index) for region in made.regions]
            return all(self.by_place(end, arg, counter) for end in ends)
        if isinstance(made, scf.For):
            inner = self.by_place(made.passed[v.index].value, made.args[v.index], counter)
            return inner and self.by_place(made.inits[v.index].value, arg, counter)
        return False

    def places(self, op: scf.For, trips: Trips, step: Dim | None) -> range | None:
        """The values of a loop's counter, where they are known and few, and no size in it depends on it."""
        if self.trips or not isinstance(trips.count, int) or not isinstance(trips.first, int):
            return None
        if trips.count * self.turns * sum(1 for _ in op.walk()) > MOST_OPS or not isinstance(step, int):
            return None
        if any(s.kind == "iv" for o in op.walk() for r in o.results for n in shape_of(r) for s in symbols(n)):
            return None
        return range(trips.first, trips.first + trips.count * step, step)

    def by_turns(self, op: scf.For, places: range, states: list[State], sizes: Mapping[Value, Dim]) -> list[State]:
        """The end of a loop, one iteration after another; `sizes`: what is known before it."""
        after, around = self.sizes, self.turns
        self.turns = around * max(len(places), 1)
        indices = {k for k, a in enumerate(op.args) if a.type is INDEX}
        numbers = {op.args[k]: n for k in indices if (n := self.size(op.inits[k].value)) is not None}
        for place in places:
            self.sizes = {**sizes, **numbers, op.body.args[0]: place}
            self.states.update(zip(op.args, states))
            self.run(op.body)
            states = [self.state(u.value) for u in op.passed]
            numbers = {op.args[k]: n for k in indices if (n := self.size(op.passed[k].value)) is not None}
        self.sizes, self.turns = after, around
        return states

    def composed(
        self, once: State, states: Mapping[int, State], shapes: Mapping[int, tuple[Dim, ...]], shape: tuple[Dim, ...]
    ) -> State:
        """An iteration's end, where the loop-carried values at its beginning have these states."""
        reaches: Reaches = {n: r for n, r in once.reaches.items() if n not in states}
        margins = list(once.margins)
        for n, outer in once.reaches.items():
            if n in states:
                inner = states[n]
                reaches = join_reaches(reaches, through(outer, inner.reaches))
                for axis, m in enumerate(margins_through(outer, inner.margins, shape, shapes[n])):
                    margins[axis] = join_margin(margins[axis], m)
        return State(reaches, tuple(margins))

    def grown(self, rounds: Sequence[State], count: Dim | None, op: scf.For) -> State:
        """The end of a loop that runs `count` times: the states after 0, 1, 2... iterations."""
        last = rounds[-1]
        reaches = {}
        reason = why(op, "what an iteration reads does not grow evenly")
        for arg, axes in last.reaches.items():
            history = [r.reaches[arg] for r in rounds[1:] if arg in r.reaches]
            made = []
            for k, reach in enumerate(axes):
                old = [h[k] for h in history]
                made.append(even_reach(old, count, op) if len(old) == len(rounds) - 1 else reach)
                if len(old) != len(rounds) - 1 and not all(o == reach for o in old):
                    made[-1] = whole_of(reason)
            reaches[arg] = tuple(made)
        for arg, axes in rounds[1].reaches.items():
            reaches.setdefault(arg, axes)
        margins = [even_margin([r.margins[k] for r in rounds[1:]], count, op) for k in range(len(last.margins))]
        return State(reaches, tuple(margins))

    def out_of_loop(self, state: State, trips: Trips) -> State:
        """What an iteration reads, whichever it is: places that depend on the counter are a range."""
        reaches = {
            arg: tuple(self.any_iteration(r, trips) for r in axes)
            for arg, axes in state.reaches.items() if arg != trips.number
        }  # fmt: skip
        return State(reaches, state.margins)

    def any_iteration(self, reach: Reach, trips: Trips) -> Reach:
        near_, whole, at = reach.near, reach.whole, reach.at
        counter = trips.counter
        for n in near_:
            if counter in symbols(n.low) | symbols(n.high):
                text = f"{n.low_why.text}, which moves with the loop at line {trips.op.loc.line}"
                whole = whole or Why(text, n.low_why.loc)
        near_ = () if whole is not None else tuple(
            n if counter not in symbols(n.begin) | symbols(n.end) else replace(n, begin=ends[0], end=ends[1])
            for n in near_ if (ends := self.ends(n.begin, n.end))
        )  # fmt: skip
        if at is not None and counter in symbols(at[0]) | symbols(at[1]):
            at = None
            whole = whole or reach.at_why or why(trips.op, "a loop")
        return Reach(near_, at, None if at is None else reach.at_why, reach.reduced, whole)


def joined_start(end: State, start: State) -> State:
    """The end of a loop that may not run at all. Where it reads further with each iteration that is said in formulas
    which hold for one iteration and more; with none only the element itself is read."""
    found = join(end, start)
    reaches = dict(found.reaches)
    for arg, axes in start.reaches.items():
        if (ends := end.reaches.get(arg)) is None:
            continue
        reaches[arg] = tuple(
            e if len(e.near) == 1 and symbols(e.near[0].low) | symbols(e.near[0].high) and own(s) else r
            for r, e, s in zip(found.reaches[arg], ends, axes)
        )
    return State(reaches, end.margins if own_margins(start) else found.margins)


def own(reach: Reach) -> bool:
    """Whether only the element itself is read."""
    return not reach.whole and reach.at is None and not reach.reduced and all(n.low == n.high == 0 for n in reach.near)


def own_margins(state: State) -> bool:
    return all(m == Margin() for m in state.margins)


def even(found: Sequence[Dim], count: Dim | None) -> Dim | None:
    """What a number has become after `count` iterations that it grows evenly in, from 1, 2... of them; None where it
    does not, or nobody knows how often."""
    steps = {sub(b, a) for a, b in zip(found, found[1:])}
    if steps == {0}:
        return found[0]
    numbers = [s for s in steps if isinstance(s, int)]
    if len(numbers) != len(steps) or count is None or len({s >= 0 for s in numbers if s}) != 1:
        return None
    return add(found[0], mul(max(numbers, key=abs), sub(count, 1)))


def even_reach(found: Sequence[Reach], count: Dim | None, op: scf.For) -> Reach:
    """A reach after so many iterations, from those after 1, 2... of them."""
    last = found[-1]
    if all(r == last for r in found):
        return last
    whole, hulls = last.whole, [hull(r.near) for r in found]
    nears = [h for h in hulls if isinstance(h, Near)]
    near_: tuple[Near, ...] = ()
    if len(nears) == len(hulls):
        low, high = even([n.low for n in nears], count), even([n.high for n in nears], count)
        if low is None or high is None:
            whole = whole or why(op, "each iteration reads further, and nobody knows how many there are")
        else:
            end = max((n.end for n in last.near if isinstance(n.end, int)), default=last.near[0].end)
            ends = [n.end for n in last.near if not isinstance(n.end, int)]
            for e in ends:
                end = e if isinstance(end, int) else later(end, e, e)
            near_ = (replace(nears[-1], low=low, high=high, begin=0, end=end),)
    elif any(h is not None for h in hulls):
        whole = whole or next((h for h in hulls if isinstance(h, Why)), why(op, "iterations read other places"))
    if any(r.at != last.at for r in found):
        whole = whole or why(op, "iterations read other places")
    return Reach(near_, last.at, last.at_why, last.reduced, whole)


def even_margin(found: Sequence[Margin], count: Dim | None, op: scf.For) -> Margin:
    last = found[-1]
    low, high = even([m.low for m in found], count), even([m.high for m in found], count)
    if low is None or high is None:
        return replace(last, whole=last.whole or why(op, "each iteration treats more of the border in another way"))
    return replace(last, low=low, high=high)


def is_structured(op: Op) -> bool:
    return "n_ins" in op.attrs


def all_whole(reaches: Reaches, reason: Why) -> Reaches:
    return {arg: tuple(whole_of(reason) for _ in axes) for arg, axes in reaches.items()}
