"""How often an `scf.while` goes round at most: where it goes on only while a number that each iteration makes greater
is below another one, which a `for` over a range that `break` may leave becomes.

What its condition says is looked for through `and`, `or`, `not`, and through a number that an `if` gives and that is
compared with a constant: that of a branch which does not compare so was not gone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from tracebuf.frozen import frozen
from tracebuf.ir.core import Block, Op, Value
from tracebuf.ops.control import scf
from tracebuf.ops.memory.indexing import constant_index
from tracebuf.ops.scalars import arith


@frozen(slots=False)
class Rounds:
    """It goes on while what begins as the initial value `number`, and is `step` greater in each iteration, is below
    `end` (or is that, if `equal`), which is the same in each."""

    number: int
    step: int
    end: Value
    equal: bool


def rounds_of(loop: scf.While) -> Rounds | None:
    """What bounds the number of iterations, if anything is found that does."""
    condition = _Condition(loop)
    for predicate, a, b in list(condition.implied(loop.before.terminator.operand(0), True)):
        if predicate in ("sgt", "sge"):
            predicate, a, b = _SWAPPED[predicate], b, a
        if predicate not in ("slt", "sle") or a not in loop.before.args or not _is_steady(b, loop):
            continue
        step = condition.step(a)
        if step is not None and step > 0:
            return Rounds(a.index, step, b, predicate == "sle")
    return None


def _is_steady(value: Value, loop: Op) -> bool:
    """Whether a number is the same in each iteration."""
    op = value.defining_op
    inside = isinstance(op, arith.Constant | arith.AddI | arith.SubI | arith.MulI)
    return _is_before(value, loop) or (op is not None and inside and all(_is_steady(v, loop) for v in op.operands))


def _is_before(value: Value, loop: Op) -> bool:
    block = value.owner if isinstance(value.owner, Block) else value.owner.block
    while block is not None:
        if block.parent_op is loop:
            return False
        block = block.parent_op.block if block.parent_op is not None else None
    return True


Fact = tuple[str, Value, Value]
"""A predicate of `arith.cmpi` and its operands."""


class _Condition:
    """What is true where a loop goes on."""

    def __init__(self, loop: scf.While) -> None:
        self.loop = loop
        self.ways: dict[Op, int] = {}
        """By `if` the branch that was gone."""

    def implied(self, flag: Value, holds: bool) -> Iterator[Fact]:
        """Comparisons that are true where a flag is this."""
        op = flag.defining_op
        if isinstance(op, arith.CmpI):
            predicate = op.attrs["predicate"] if holds else _OTHERWISE[op.attrs["predicate"]]
            a, b = op.operands
            yield predicate, a, b
            if (n := constant_index(b)) is not None and predicate in _HOLDS:
                yield from self.chosen(a, lambda v: (m := constant_index(v)) is None or _HOLDS[predicate](m, n))
        elif isinstance(op, arith.AndI if holds else arith.OrI):
            for part in op.operands:
                yield from self.implied(part, holds)
        elif isinstance(op, arith.XorI):
            for one, other in (op.operands, op.operands[::-1]):
                if (mask := constant_index(other)) is not None:
                    yield from self.implied(one, holds != bool(mask))
        elif isinstance(op, scf.If):
            yield from self.chosen(flag, lambda v: constant_index(v) in (None, holds))
            if op in self.ways:
                yield from self.implied(self.given(flag), holds)

    def chosen(self, value: Value, fits: Callable[[Value], bool]) -> Iterator[Fact]:
        """What is true where a value, if it is a constant, is one that fits."""
        op = value.defining_op
        if not isinstance(op, scf.If):
            return
        ways = [k for k, block in enumerate(op.branches) if fits(block.terminator.operand(value.index))]
        if len(ways) == 1:
            self.ways[op] = ways[0]
            yield from self.implied(op.operand(0), ways[0] == 0)
            yield from self.chosen(op.branches[ways[0]].terminator.operand(value.index), fits)

    def given(self, value: Value) -> Value:
        """Where a value comes from: through branches that were gone, and out of the first region."""
        while True:
            op = value.defining_op
            if isinstance(op, scf.If) and op in self.ways:
                value = op.branches[self.ways[op]].terminator.operand(value.index)
            elif value.owner is self.loop.after:
                value = self.loop.passed[value.index].value
            else:
                return value

    def step(self, arg: Value) -> int | None:
        """By how much an argument grows in each iteration; None where that differs."""
        op = self.given(self.loop.yielded[arg.index].value).defining_op
        if not isinstance(op, arith.AddI):
            return None
        a, b = map(self.given, op.operands)
        return constant_index(b) if a is arg else constant_index(a) if b is arg else None


_SWAPPED = {"sgt": "slt", "sge": "sle"}
_OTHERWISE = {
    "eq": "ne", "ne": "eq", "slt": "sge", "sle": "sgt", "sgt": "sle", "sge": "slt",
    "ult": "uge", "ule": "ugt", "ugt": "ule", "uge": "ult",
}  # fmt: skip
_HOLDS: dict[str, Callable[[int, int], bool]] = {
    "eq": lambda a, b: a == b, "ne": lambda a, b: a != b, "slt": lambda a, b: a < b, "sle": lambda a, b: a <= b,
    "sgt": lambda a, b: a > b, "sge": lambda a, b: a >= b,
}  # fmt: skip
