"""Whether two traced programs compute the same: the values that they return and store, and what they do besides, in
order, each as a number by which equal expressions are one (value numbering).

Tensors are values, so a statement that moved, or a copy left out, gives the same numbers if and only if what it reads
is the same. A copy of a whole array is the array itself, of which a program of values knows nothing else; so who shares
memory with whom is to be compared besides (`trials`). Where the numbers differ the programs may still be equal.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Hashable, Iterator, MutableMapping, Sequence

from tracebuf.explain.memory import number
from tracebuf.frozen import frozen
from tracebuf.ir.core import Block, Op, Region, Value
from tracebuf.ir.dims import Dim, Expr
from tracebuf.ir.func import Func
from tracebuf.ir.types import INDEX
from tracebuf.ops.arrays import linalg, tensor
from tracebuf.ops.arrays.bufferization import MaterializeInDestination
from tracebuf.ops.arrays.host import HostCall
from tracebuf.ops.control import scf
from tracebuf.ops.control.checks import Check, may_stop
from tracebuf.ops.memory.indexing import constant_index
from tracebuf.ops.scalars.arith import CmpI
from tracebuf.stories.parts import Mixed, Part, Parts, Stored

MOST_STEPS = 200_000
"""After so many ops looked at there is no answer."""
_SILENT = ("reason", "conflict", "conflicts")
"""Attributes that say nothing of what is computed."""


_TRUE = ("true",)


class TooLong(Exception):
    """The program is too long to be compared."""


Numbers = dict[Hashable, int]
"""By what a value is its number; one table for all programs that are compared."""


@frozen()
class Meaning:
    """What a program gives back, what it leaves in its arguments, what it does besides."""

    returns: tuple[int, ...]
    stores: frozenset[tuple[int, int]]
    effects: tuple[int, ...]


def meaning(
    func: Func, numbers: Numbers, peeled: bool = False, equal: Sequence[tuple[str, str]] = ()
) -> Meaning | None:
    """Of a traced program; None where that takes too long, or it calls traced functions. `peeled`: where its own loops
    from 0 run at least once, of which the first iteration is taken out, as tracing does to see what a name is.
    `equal`: where sizes of these names are equal."""
    if func.callees:
        return None
    try:
        return _Numbering(numbers, peeled).of(func, equal)
    except (TooLong, RecursionError):
        return None


def is_pure_call(op: HostCall) -> bool:
    """Whether the called function is one of NumPy's or SciPy's that gives equal results for equal arguments."""
    name = str(op.callee)
    return name.startswith(("numpy.", "scipy.")) and ".random" not in name and not op.may_keep


class _Numbering:
    def __init__(self, numbers: Numbers, peeled: bool = False) -> None:
        self.numbers = numbers
        self.peeled = peeled
        self.known: MutableMapping[Value, int] = {}
        self.depth = 0
        self.steps = [0]
        """How many ops were looked at; shared by all that is within."""
        self.parts = Parts(self.number)
        self.same: dict[Value, Value] = {}
        """Sizes that are equal to others: those have their numbers."""
        self.blocks: dict[Hashable, tuple[_Numbering, list[int], bool]] = {}
        """What was numbered within, what it does besides, and whether arrays are stored over there: once for all
        results of a loop or a branch."""

    def of(self, func: Func, equal: Sequence[tuple[str, str]]) -> Meaning:
        sizes = {s.name: v for s, v in func.symbols.items()}
        self.same.update((sizes[b], sizes[a]) for a, b in equal if a in sizes and b in sizes)
        for k, arg in enumerate(func.args):
            self.known[arg] = self.number(("argument", k, str(arg.type)))
        for s, v in func.symbols.items():
            if v in self.known:
                self.parts.dims.setdefault(self.known[v], s.expr)
            else:
                self.parts.named.setdefault(v, s.expr)
        stores, effects = set[tuple[int, int]](), list[int]()
        for op in func.block.ops:
            if isinstance(op, MaterializeInDestination):
                stored = self.known[op.operand(0)], self.known[op.operand(1)]
                stores.add(stored)
                self.known.update((r, self.number(("stored", stored))) for r in op.results)
            else:
                effects += self.met(op)
        return Meaning(self.passed(func.block), frozenset(stores), tuple(effects))

    def number(self, key: Hashable) -> int:
        return self.numbers.setdefault(key, len(self.numbers))

    def passed(self, block: Block) -> tuple[int, ...]:
        """The numbers of what a block ends with."""
        return tuple(self.known[v] for v in block.terminator.operands)

    def all_met(self, block: Block) -> list[int]:
        """Numbers all that a block computes; the numbers of what it does besides."""
        return [effect for op in block.ops for effect in self.met(op)]

    def met(self, op: Op) -> Iterator[int]:
        """Numbers the results of an op; its own number if it does more than give them."""
        self.steps[0] += 1
        if self.steps[0] > MOST_STEPS:
            raise TooLong
        if op.terminator:
            return
        if (acting := acts(op)) and not is_open(op) and not self.always_holds(op):
            whole = self.number((self.key(op), tuple(map(self.region, op.regions))))
            for result in op.results:
                self.known[result] = self.number((whole, result.index))
            yield whole
            return
        for result in op.results:
            same = self.known.get(self.same[result]) if result in self.same else None
            self.known[result] = self.value(op, result.index) if same is None else same
            if result.type is INDEX and (dim := self.dim(op)) is not None:
                self.parts.dims.setdefault(self.known[result], dim)
        if acting and is_open(op) and (found := self.effect(op)) is not None:
            yield found

    def always_holds(self, op: Op) -> bool:
        """Whether it is a check of what is always so."""
        return isinstance(op, Check) and self.known[op.operand(0)] == self.number(_TRUE)

    def value(self, op: Op, index: int) -> int:
        """The number of a result of an op, whatever the op does besides."""
        if (same := passes_on(op)) is not None:
            return self.known[same]
        if isinstance(op, tensor.ExtractSlice):
            kind = str(op.result.type)
            if kind == str(op.source.type) and op.slice.covers(op.source.tensor_type, op.result.tensor_type):
                return self.known[op.source]
            return self.parts.taken(self.known[op.source], self.part(op), kind)
        if isinstance(op, tensor.InsertSlice):
            new = Stored(self.known[op.source], self.known[op.dest], self.part(op), str(op.source.type))
            return self.parts.put(new, op.dest.tensor_type.shape, str(op.result.type))
        if isinstance(op, tensor.Extract):
            return self.parts.taken(self.known[op.operand(0)], self.element(op, 1), "element")
        if isinstance(op, tensor.Insert):
            one = Stored(self.known[op.operand(0)], self.known[op.operand(1)], self.element(op, 2), "element")
            return self.parts.put(one, op.result.tensor_type.shape, str(op.result.type))
        if isinstance(op, scf.For):
            numbers, inner, _ = self.loop(op, [op.args[index], op.passed[index].value])
            return self.number(("for", *numbers, inner.known[op.passed[index].value]))
        if isinstance(op, scf.While):
            numbers, inner, _ = self.loop(op, [op.passed[index].value])
            return self.number(("while", *numbers, inner.known[op.passed[index].value]))
        if isinstance(op, CmpI) and op.attrs["predicate"] == "eq" and len({self.known[v] for v in op.operands}) == 1:
            return self.number(_TRUE)
        if isinstance(op, scf.If):
            found = [self.branch(block)[0].known[block.terminator.operand(index)] for block in op.branches]
            return self.number(("if", self.known[op.operand(0)], *found))
        return self.number((self.key(op), index, tuple(map(self.region, op.regions))))

    def effect(self, op: Op) -> int | None:
        """The number of what a loop or a branch does besides computing values; None where that is nothing."""
        if isinstance(op, scf.If):
            ways = [tuple(self.branch(block)[1]) for block in op.branches]
            return self.number(("if does", self.known[op.operand(0)], *ways)) if any(ways) else None
        assert isinstance(op, scf.Loop)
        numbers, inner, done = self.loop(op, list(asked_by_effects(op)))
        if not done and not op.may_not_end:
            return None
        return self.number(("loop does", op.name, *numbers, tuple(done)))

    def part(self, op: tensor.SliceOp) -> Part:
        s = op.slice
        offsets, sizes, strides = (tuple(map(self.mixed, xs)) for xs in (s.offsets, s.sizes, s.strides))
        return Part(offsets, sizes, strides, s.dims)

    def element(self, op: Op, leading: int) -> Part:
        """The part that one element is."""
        place = tuple(map(self.mixed, op.operands[leading:]))
        return Part(place, (1,) * len(place), (1,) * len(place), ())

    def mixed(self, x: int | Value) -> Mixed:
        found = x if isinstance(x, int) else constant_index(x)
        return found if found is not None else ("value", self.known[x])  # type: ignore[index]

    def dim(self, op: Op) -> Dim | None:
        """An integer as an expression of sizes."""
        if len(op.results) > 1 or op.result in self.parts.named:
            return self.parts.named.get(op.results[0])
        if (n := constant_index(op.result)) is not None:
            return n
        if isinstance(op, tensor.Dim):
            axis = constant_index(op.operand(1)) if op.attrs["dim"] is None else op.attrs["dim"]
            return None if axis is None else op.operand(0).tensor_type.shape[axis]
        parts = [self.parts.dims.get(self.known[v]) for v in op.operands]
        found = None if None in parts or op.regions else number(op, parts)
        return found if isinstance(found, int | Expr) else None

    def key(self, op: Op) -> Hashable:
        """An op without its regions and places."""
        attrs = tuple((k, type(v).__name__, repr(v)) for k, v in sorted(op.attrs.items()) if k not in _SILENT)
        types = tuple(str(r.type) for r in op.results)
        return op.name, attrs, types, tuple(self.known[v] for v in op.operands)

    def region(self, region: Region) -> int:
        """All that a region does, and ends with."""
        (block,) = region.blocks
        with_labels = self.inside({a: ("of a region", self.depth + 1, a.index, str(a.type)) for a in block.args})
        return with_labels.number((tuple(with_labels.all_met(block)), with_labels.end(block)))

    def end(self, block: Block) -> Hashable:
        return block.terminator.name, self.passed(block)

    def branch(self, block: Block) -> tuple[_Numbering, list[int]]:
        """The numbering of a branch, and the numbers of what it does besides."""
        if block not in self.blocks:
            inner = self.inside({})
            self.blocks[block] = inner, inner.all_met(block), False
        return self.blocks[block][:2]

    def loop(self, op: scf.Loop, asked: Sequence[Value]) -> tuple[tuple[Hashable, ...], _Numbering, list[int]]:
        """How a loop goes on, as far as what is asked for depends on it: by those of the carried values alone that it
        comes from, in the order in which they are met. With the numbering of one iteration, and the numbers of what
        that does besides."""
        asked = [*asked, op.before.terminator.operand(0)] if isinstance(op, scf.While) else asked
        order = [k for k in carried_for(op, asked) if k not in self.kept(op)]
        covered = self.parts.covered
        inner, done = self.iteration(op, order)
        if self.parts.covered > covered and (fewer := self.needed(op, asked, order)) != order:
            order = fewer
            inner, done = self.iteration(op, order)
        if isinstance(op, scf.While):
            rules: tuple[int, ...] = (inner.known[op.before.terminator.operand(0)],)
        else:
            rules = tuple(self.known[v] for v in op.operands[:3])
        inits = tuple(self.known[op.inits[k].value] for k in order)
        if self.peeled and isinstance(op, scf.For) and [constant_index(v) for v in op.operands[:3:2]] == [0, 1]:
            first = self.inside({})
            first.depth = self.depth
            first.known.update((a, self.known[v]) for a, v in zip(op.body.args, [op.operand(0), *op.operands[3:]]))
            if not first.all_met(op.body):
                inits = tuple(first.known[handed_on(op, k)] for k in order)
                rules = self.known[op.operand(2)], *rules[1:]
        return (rules, inits, tuple(inner.known[handed_on(op, k)] for k in order)), inner, done

    def kept(self, op: scf.Loop) -> dict[int, int]:
        """The numbers of the carried values that stay what they begin as, a value from before the loop."""
        if not isinstance(op, scf.For):
            return {}
        begin = {k: self.known[u.value] for k, u in enumerate(op.inits)}
        return {k: n for k, n in begin.items() if self.known.get(handed_on(op, k)) == n}

    def needed(self, op: scf.Loop, asked: Sequence[Value], order: Sequence[int]) -> list[int]:
        """Of carried values those that what is asked for depends on: with other ones it has other numbers."""
        known = self.iteration(op, order)[0].known
        others = {k: self.iteration(op, order, k)[0].known for k in order}
        found, pending = set[int](), list(asked)
        while pending:
            value = pending.pop()
            new = {k for k in order if k not in found and known[value] != others[k][value]}
            found |= new
            pending += [handed_on(op, k) for k in new]
        return [k for k in order if k in found]

    def iteration(self, op: scf.Loop, order: Sequence[int], other: int | None = None) -> tuple[_Numbering, list[int]]:
        """The numbering of one iteration; with another value for the carried one of number `other`. Made once."""
        key = op, *order, ("other", other)
        if key not in self.blocks:
            self.blocks[key] = self.numbered(op, order, other)
        elif self.blocks[key][2]:
            self.parts.covered += 1
        return self.blocks[key][:2]

    def numbered(self, op: scf.Loop, order: Sequence[int], other: int | None) -> tuple[_Numbering, list[int], bool]:
        covered = self.parts.covered
        labels: dict[Value, Hashable] = {a: ("not asked for", id(a)) for a in op.regions[0].block.args}
        if isinstance(op, scf.For):
            labels[op.body.args[0]] = ("counts", self.depth + 1)
        kept = self.kept(op)
        for place, k in enumerate(order):
            labels[op.args[k]] = ("other" if k == other else "carried", self.depth + 1, place, str(op.args[k].type))
        inner = self.inside(labels)
        inner.known.update((op.args[k], n) for k, n in kept.items())
        if isinstance(op, scf.For) and (count := self.parts.named.get(op.body.args[0])) is not None:
            self.parts.dims.setdefault(inner.known[op.body.args[0]], count)
        effects = inner.all_met(op.regions[0].block)
        if isinstance(op, scf.While):
            inner.known.update((a, inner.known[u.value]) for a, u in zip(op.after.args, op.passed))
            effects += inner.all_met(op.after)
        return inner, effects, self.parts.covered > covered

    def inside(self, labels: dict[Value, Hashable]) -> _Numbering:
        """The numbering within a region, of whose arguments are these labels."""
        made = _Numbering(self.numbers)
        made.known = ChainMap({v: self.number(label) for v, label in labels.items()}, self.known)
        made.depth, made.steps, made.parts, made.same = self.depth + 1, self.steps, self.parts, self.same
        return made


def is_open(op: Op) -> bool:
    """Whether it is a loop or a branch that can be looked into: each of its results, and what it does, by itself."""
    if not isinstance(op, scf.For | scf.While | scf.If):
        return False
    return not any(isinstance(o, HostCall) and not is_pure_call(o) or o.effects() is None
                   for o in op.walk() if not o.terminator)  # fmt: skip


def acts(op: Op) -> bool:
    """Whether an op, or one in it, does more than give results: it may raise, call, or not end."""
    return _acts(op) or any(_acts(inner) for inner in op.walk())


def _acts(op: Op) -> bool:
    if isinstance(op, HostCall):
        return not is_pure_call(op)
    if isinstance(op, linalg.DestinationOp):
        return op.may_raise
    return not op.terminator and (may_stop(op) or op.may_not_end or op.effects() is None)


def passes_on(op: Op) -> Value | None:
    """The operand that a result is equal to, element for element."""
    if isinstance(op, linalg.Generic):
        return op.operand(0) if is_copy(op) else None
    if isinstance(op, tensor.InsertSlice):
        return op.source if op.overwrites_all() and str(op.source.type) == str(op.result.type) else None
    return None


def is_copy(op: linalg.Generic) -> bool:
    """Whether an op copies an array as it is."""
    if op.n_ins != 1 or len(op.uses) != 2 or not op.all_parallel or not all(m.is_identity for m in op.maps):
        return False
    (end,) = op.body.ops if len(op.body.ops) == 1 else (None,)
    same = str(op.operand(0).type) == str(op.result.type) if op.results else False
    return end is not None and end.operand(0) is op.body.args[0] and same


def handed_on(op: scf.Loop, k: int) -> Value:
    """What the next iteration gets as its value number k."""
    return (op.yielded if isinstance(op, scf.While) else op.passed)[k].value


def carried_for(op: scf.Loop, asked: Sequence[Value]) -> list[int]:
    """The carried values of a loop that values of its iterations, and how long it runs, depend on, in the order in
    which they are met."""
    places = {a: k for k, a in enumerate(op.args)}
    order, looked, seen = list[int](), 0, set[Value]()
    condition = [op.before.terminator.operand(0)] if isinstance(op, scf.While) else []
    pending = [*reversed([*condition, *asked])]
    while True:
        while pending:
            value = pending.pop()
            if value in seen:
                continue
            seen.add(value)
            if value in places:
                order.append(places[value])
            else:
                pending += reversed(sources(value))
        if looked == len(order):
            return order
        pending.append(handed_on(op, order[looked]))
        looked += 1


def sources(value: Value) -> Sequence[Value]:
    """What a value comes from."""
    maker = value.defining_op
    if maker is None:
        return handed_in(value)
    if (same := passes_on(maker)) is not None:
        return [same]
    if isinstance(maker, scf.If):
        return [maker.operand(0), *(b.terminator.operand(value.index) for b in maker.branches)]
    if isinstance(maker, scf.For):
        return [*maker.operands[:3], maker.inits[value.index].value, maker.passed[value.index].value]
    if isinstance(maker, scf.While):
        return [maker.before.terminator.operand(0), maker.passed[value.index].value]
    return [*maker.operands, *(v for o in maker.walk() for v in o.operands)]


def handed_in(value: Value) -> Sequence[Value]:
    """What an argument of a loop's block comes from."""
    block = value.owner
    loop = block.parent_op if isinstance(block, Block) else None
    if isinstance(loop, scf.For):
        k = value.index - 1
        return loop.operands[:3] if k < 0 else [loop.inits[k].value, loop.passed[k].value]
    if isinstance(loop, scf.While):
        k = value.index
        return [loop.passed[k].value] if block is loop.after else [loop.inits[k].value, loop.yielded[k].value]
    return []


def asked_by_effects(op: Op) -> Iterator[Value]:
    """The values that decide what a loop does besides computing values."""
    for inner in op.walk():
        if inner is not op and acts(inner):
            if isinstance(inner, scf.For):
                yield from inner.operands[:3]
            elif isinstance(inner, scf.While):
                yield inner.before.terminator.operand(0)
            elif isinstance(inner, scf.If):
                yield inner.operand(0)
            else:
                yield from inner.operands
                yield from (v for o in inner.walk() for v in o.operands)
