"""Whether two traced programs compute the same: the values that they return and store, and what they do besides, in
order, each as a number by which equal expressions are one (value numbering).

Tensors are values, so a statement that moved, or a copy left out, gives the same numbers if and only if what it reads
is the same. A copy of a whole array is the array itself, of which a program of values knows nothing else; so who shares
memory with whom is to be compared besides (`trials`). Where the numbers differ the programs may still be equal.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Hashable, Iterator, MutableMapping
from typing import Any

from tracebuf.frozen import frozen
from tracebuf.ir.core import Block, Op, Region, Value
from tracebuf.ir.func import Func
from tracebuf.ops.arrays import linalg, tensor
from tracebuf.ops.arrays.bufferization import MaterializeInDestination
from tracebuf.ops.arrays.host import HostCall
from tracebuf.ops.control import scf
from tracebuf.ops.control.checks import may_stop

MOST_STEPS = 200_000
"""After so many ops looked at there is no answer."""
_SILENT = ("reason", "conflict", "conflicts")
"""Attributes that say nothing of what is computed."""


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


def meaning(func: Func, numbers: Numbers) -> Meaning | None:
    """Of a traced program; None where that takes too long, or it calls traced functions."""
    if func.callees:
        return None
    try:
        return _Numbering(numbers).of(func)
    except (TooLong, RecursionError):
        return None


def is_pure_call(op: HostCall) -> bool:
    """Whether the called function is one of NumPy's or SciPy's that gives equal results for equal arguments."""
    name = str(op.callee)
    return name.startswith(("numpy.", "scipy.")) and ".random" not in name and not op.may_keep


class _Numbering:
    def __init__(self, numbers: Numbers) -> None:
        self.numbers = numbers
        self.known: MutableMapping[Value, int] = {}
        self.steps = 0
        self.depth = 0

    def of(self, func: Func) -> Meaning:
        for k, arg in enumerate(func.args):
            self.known[arg] = self.number(("argument", k, str(arg.type)))
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

    def met(self, op: Op) -> Iterator[int]:
        """Numbers the results of an op; its own number if it does more than give them."""
        self.steps += 1
        if self.steps > MOST_STEPS:
            raise TooLong
        if op.terminator:
            return
        if not acts(op):
            for result in op.results:
                self.known[result] = self.value(op, result.index)
            return
        whole = self.number((self.key(op), tuple(map(self.region, op.regions))))
        for result in op.results:
            self.known[result] = self.number((whole, result.index))
        yield whole

    def value(self, op: Op, index: int) -> int:
        """The number of a result of an op that only gives results."""
        if (same := passes_on(op)) is not None:
            return self.known[same]
        if isinstance(op, scf.For):
            return self.loop(op, index)
        if isinstance(op, scf.If):
            ways = [self.branch(block, index) for block in op.branches]
            return self.number(("if", self.known[op.operand(0)], *ways))
        return self.number((self.key(op), index, tuple(map(self.region, op.regions))))

    def key(self, op: Op) -> Hashable:
        """An op without its regions and places."""
        attrs = tuple((k, type(v).__name__, repr(v)) for k, v in sorted(op.attrs.items()) if k not in _SILENT)
        types = tuple(str(r.type) for r in op.results)
        return op.name, attrs, types, tuple(self.known[v] for v in op.operands)

    def region(self, region: Region) -> int:
        """All that a region does, and ends with."""
        (block,) = region.blocks
        with_labels = self.inside({a: ("of a region", self.depth + 1, a.index, str(a.type)) for a in block.args})
        return with_labels.number((tuple(e for op in block.ops for e in with_labels.met(op)), with_labels.end(block)))

    def end(self, block: Block) -> Hashable:
        return block.terminator.name, self.passed(block)

    def branch(self, block: Block, index: int) -> int:
        inner = self.inside({})
        for op in block.ops:
            for _ in inner.met(op):
                raise TooLong  # an op that acts in one that does not
        return inner.known[block.terminator.operand(index)]

    def loop(self, op: scf.For, index: int) -> int:
        """One result of a loop: by those of the carried values alone that it comes from, in the order in which they are
        met."""
        order = carried_for(op, index)
        labels: dict[Value, Hashable] = {a: ("not asked for", id(a)) for a in op.body.args}
        labels[op.body.args[0]] = ("counts", self.depth + 1)
        for place, k in enumerate(order):
            labels[op.args[k]] = ("carried", self.depth + 1, place, str(op.args[k].type))
        inner = self.inside(labels)
        for o in op.body.ops:
            for _ in inner.met(o):
                raise TooLong
        bounds = tuple(self.known[v] for v in op.operands[:3])
        inits = tuple(self.known[op.inits[k].value] for k in order)
        yields = tuple(inner.known[op.passed[k].value] for k in order)
        return self.number(("for", bounds, inits, yields))

    def inside(self, labels: dict[Value, Hashable]) -> _Numbering:
        """The numbering within a region, of whose arguments are these labels."""
        made = _Numbering(self.numbers)
        made.known = ChainMap({v: self.number(label) for v, label in labels.items()}, self.known)
        made.depth, made.steps = self.depth + 1, self.steps + 1
        self.steps += 1
        return made


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


def carried_for(op: scf.For, index: int) -> list[int]:
    """The carried values that a result of a loop depends on, itself first."""
    places: dict[Any, int] = {a: k for k, a in enumerate(op.args)}
    order, looked = [index], 0
    while looked < len(order):
        pending, seen = [op.passed[order[looked]].value], set[Value]()
        looked += 1
        while pending:
            value = pending.pop()
            if value in seen:
                continue
            seen.add(value)
            if value in places:
                if places[value] not in order:
                    order.append(places[value])
            elif (maker := value.defining_op) is not None:
                if (same := passes_on(maker)) is not None:
                    pending.append(same)
                else:
                    inner = [v for o in maker.walk() for v in o.operands]
                    pending += [*inner[::-1], *maker.operands[::-1]]
    return order
