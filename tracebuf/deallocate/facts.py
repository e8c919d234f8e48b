"""What deallocation may assume: where a buffer can come from, which buffers can share memory, what an i1 flag can be.

Origins are found backwards through views and structured control flow: the allocations and function arguments that a
memref may be. Not a general points-to analysis: memrefs are never stored in memory here, so SSA shows every flow.
MLIR counterpart: BufferOriginAnalysis, LocalAliasAnalysis and BufferViewFlowAnalysis.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from typing import NamedTuple

from tracebuf.ir.core import Block, Op, Use, Value, dominates
from tracebuf.ir.func import Func
from tracebuf.ir.types import I1
from tracebuf.location import UNKNOWN, Location
from tracebuf.ops.arrays import bufferization
from tracebuf.ops.arrays.pick import Pick
from tracebuf.ops.control import scf
from tracebuf.ops.control.func import TracedCall
from tracebuf.ops.memory import memref
from tracebuf.ops.scalars import arith
from tracebuf.ops.scalars.arith import constant_flag, negated

FRESH_OPS = (memref.Alloc, bufferization.Clone)
"""Ops (memref.alloca among them) whose result is a buffer that nothing else knows yet."""
GIVING_OPS = (*FRESH_OPS, TracedCall)
"""These, and those that give buffers which nothing else knows."""
CHOICES = (arith.Select, Pick)
"""Ops whose result is one of their operands but the first."""


class Sharing(Enum):
    """Whether two memrefs have the same base pointer."""

    NO = "no"
    MAY = "may"
    MUST = "must"


def sources(value: Value) -> list[Value] | None:
    """The values that `value` may be (or be a view of); None where it is born here."""
    op = value.defining_op
    if op is None:
        return entering(value)
    if isinstance(op, memref.VIEW_OPS):
        return [op.operand(0)]
    if isinstance(op, (scf.Loop, scf.If)):
        return leaving(op, value.index)
    if isinstance(op, CHOICES):
        return op.operands[1:]
    return None


def entering(arg: Value) -> list[Value] | None:
    """What flows into an argument of a loop's region; None where no SSA value does."""
    loop = arg.block.parent_op
    if isinstance(loop, scf.While):
        if arg.block is loop.after:
            return [loop.passed[arg.index].value]
        return [loop.operand(arg.index), loop.yielded[arg.index].value]
    if not isinstance(loop, scf.For) or arg.index == 0:
        return None
    return [loop.operand(arg.index + 2), loop.body.terminator.operand(arg.index - 1)]


def leaving(op: scf.Loop | scf.If, index: int) -> list[Value]:
    """What flows into a result of control flow."""
    if isinstance(op, scf.If):
        return [b.terminator.operand(index) for b in op.branches]
    passed = [op.passed[index].value]
    return [op.inits[index].value, *passed] if isinstance(op, scf.For) else passed


def targets(use: Use) -> list[Value]:
    """The values that may be (a view of) the used memref because of this use; `sources` goes backwards."""
    op = use.op
    if isinstance(op, memref.VIEW_OPS) and use.index == 0:
        return [op.result]
    if isinstance(op, CHOICES) and use.index > 0:
        return [op.result]
    if isinstance(op, scf.For) and use.index >= 3:
        return [op.results[use.index - 3], op.body.args[use.index - 2]]
    if isinstance(op, scf.While):
        return [op.before.args[use.index]]
    parent = op.parent_op
    if isinstance(op, scf.Condition) and use.index > 0 and isinstance(parent, scf.While):
        return [parent.results[use.index - 1], parent.after.args[use.index - 1]]
    if isinstance(op, scf.Yield):
        if isinstance(parent, scf.While):
            return [parent.before.args[use.index]]
        if isinstance(parent, scf.For):
            return [parent.results[use.index], parent.body.args[use.index + 1]]
        return [parent.results[use.index]] if parent is not None else []
    return []


def flow_blocks(func: Func) -> Iterator[Block]:
    """The blocks that run as control flow, outer before inner: the function's and scf ops', not linalg's bodies."""
    work = [func.block]
    while work:
        block = work.pop()
        yield block
        inner = [r.block for op in block.ops if op.regions and isinstance(op, (scf.Loop, scf.If)) for r in op.regions]
        work += reversed(inner)


class _Claim(NamedTuple):
    """That two values differ each time, which holds if some pairs do."""

    of: tuple[Value, Value]
    pairs: list[tuple[Value, Value]]


class Origins:
    """Origins and sharing of memrefs; valid while allocations, views and yields stay as they are."""

    __slots__ = ("_apart", "_found", "_sharers", "_sharing")

    def __init__(self) -> None:
        self._found: dict[Value, frozenset[Value]] = {}
        self._sharing: dict[tuple[Value, Value], Sharing] = {}
        self._sharers: dict[Value, tuple[Value, ...]] = {}
        self._apart: dict[tuple[Value, Value], bool] = {}

    def of(self, buffer: Value) -> frozenset[Value]:
        """The allocations, function arguments and values of unknown making that `buffer` may be."""
        base = memref.base_of(buffer)
        if base not in self._found:
            self._find(base)
        return self._found[base]

    def _find(self, start: Value) -> None:
        """Finds the origins of a value and of all that it may come from, each once: those that loops pass round to one
        another have the same (Tarjan's strongly connected components)."""
        number: dict[Value, int] = {}
        low: dict[Value, int] = {}
        leaves: dict[Value, set[Value]] = {}
        path: list[Value] = []
        work: list[tuple[Value, Iterator[Value]]] = []

        def enter(value: Value) -> None:
            back = sources(value)
            number[value] = low[value] = len(number)
            leaves[value] = {value} if back is None else set()
            path.append(value)
            work.append((value, iter(back or ())))

        enter(start)
        while work:
            value, rest = work[-1]
            for source in rest:
                if (known := self._found.get(source)) is not None:
                    leaves[value] |= known
                elif source in number:
                    low[value] = min(low[value], number[source])
                else:
                    enter(source)
                    break
            else:
                work.pop()
                if low[value] == number[value]:
                    circle = path[path.index(value) :] if path[-1] is not value else [value]
                    del path[-len(circle) :]
                    together = frozenset[Value]().union(*(leaves[v] for v in circle))
                    self._found.update(dict.fromkeys(circle, together))
                    if work:
                        leaves[work[-1][0]] |= together
                else:
                    outer = work[-1][0]
                    low[outer] = min(low[outer], low[value])

    def sharing(self, a: Value, b: Value) -> Sharing:
        """MUST: views of one value. NO: one is allocated after the other was there, or they have no origin in common.

        Nor do two values that one loop carries, or one op gives, where they begin as two buffers and each iteration, or
        branch, passes on two: `p, q = q, p + q`; or a value and what control flow after it gives, if that is neither.

        "Was there" is sound because buffers are freed at the end of the block that owns them: a value that is in scope
        is never dangling. Two function arguments may be the same array (rule B4).
        """
        a, b = memref.base_of(a), memref.base_of(b)
        known = self._sharing.get((a, b))
        if known is None:
            found = self._sharing_or_claim(a, b)
            known = found if isinstance(found, Sharing) else Sharing.NO if self._holds(found) else Sharing.MAY
            self._sharing[a, b] = self._sharing[b, a] = known
        return known

    def sharers(self, buffer: Value) -> tuple[Value, ...]:
        """Every value that may be the buffer or a view of it, wherever it is in scope, if the buffer is owned and so
        none of the function's arguments."""
        base = memref.base_of(buffer)
        if base not in self._sharers:
            self._sharers[base] = tuple(self._find_sharers(base))
        return self._sharers[base]

    def _find_sharers(self, base: Value) -> Iterator[Value]:
        fresh = {v for v in self.of(base) if isinstance(v.defining_op, GIVING_OPS)}
        work = [base, *fresh]
        found = dict.fromkeys(work)
        while work:
            for use in work.pop().uses:
                new = [v for v in targets(use) if v not in found]
                found.update(dict.fromkeys(new))
                work += new
        return (v for v in found if not fresh.isdisjoint(self.of(v)) and self.sharing(v, base) is not Sharing.NO)

    def _sharing_or_claim(self, a: Value, b: Value) -> Sharing | _Claim:
        """What is known of two values; or what has to hold for them to differ each time."""
        a, b = memref.base_of(a), memref.base_of(b)
        if a is b:
            return Sharing.MUST
        for fresh, other in ((a, b), (b, a)):
            op = fresh.defining_op
            if isinstance(op, GIVING_OPS) and dominates(other, op):
                return Sharing.NO
        mine, theirs = self.of(a), self.of(b)
        if not mine.isdisjoint(theirs):
            return self._claim(a, b) or Sharing.MAY
        fresh_only = any(all(isinstance(v.defining_op, GIVING_OPS) for v in side) for side in (mine, theirs))
        return Sharing.NO if fresh_only else Sharing.MAY

    def _claim(self, a: Value, b: Value) -> _Claim | None:
        """That two values of joint origin differ each time: siblings in all iterations, or one of them and all that the
        other may be, which comes after it. None where that cannot be."""
        if a.owner is b.owner:
            pairs = list(zip(sources(a) or (), sources(b) or (), strict=True))
            return _Claim((a, b), pairs) if pairs else None
        for old, new in ((a, b), (b, a)):
            op = new.defining_op or new.block.parent_op
            if isinstance(op, (scf.Loop, scf.If, *CHOICES)) and dominates(old, op):
                pairs = [(old, v) for v in sources(new) or ()]
                return _Claim((old, new), pairs) if pairs else None
        return None

    def _holds(self, claim: _Claim) -> bool:
        """Whether all pairs of a claim differ, by induction: a claim holds while it is looked into, and what was found
        by it falls with it."""
        claims, met = self._apart, list[tuple[Value, Value]]()
        work: list[tuple[_Claim, Iterator[tuple[Value, Value]]]] = []

        def holds_so_far(claim: _Claim) -> bool:
            """Whether a claim is not known to be wrong; one that is new is looked into."""
            if claim.of not in claims:
                claims[claim.of] = True
                met.append(claim.of)
                work.append((claim, iter(claim.pairs)))
            return claims[claim.of]

        if not holds_so_far(claim):
            return False
        while work:
            one, rest = work[-1]
            for a, b in rest:
                found = self._sharing_or_claim(a, b)
                if found is Sharing.NO:
                    continue
                if isinstance(found, Sharing) or not holds_so_far(found):
                    for known in met:
                        if claims.get(known):
                            del claims[known]
                    claims.update(dict.fromkeys((c.of for c, _ in work), False))
                    return False
                if work[-1][0] is not one:
                    break
            else:
                work.pop()
        return True


def parts_of(flag: Value) -> set[Value]:
    """The flags that hold wherever this one does, itself among them."""
    found, work = set[Value](), [flag]
    while work:
        found.add(value := work.pop())
        if isinstance(value.defining_op, arith.AndI):
            work += value.defining_op.operands
    return found


class Flags:
    """Boolean constants of a function (at its entry) and folded boolean ops on a list of ops under construction."""

    __slots__ = ("_constants",)

    def __init__(self, func: Func) -> None:
        self._constants: dict[bool, Value] = {}
        for op in func.block.ops:
            if not isinstance(op, arith.Constant):
                break
            if op.result.type is I1:
                self._constants.setdefault(bool(op.attrs["value"]), op.result)
        for value in (True, False):
            if value not in self._constants:
                func.block.insert(0, arith.Constant.of(value, I1, UNKNOWN))
                self._constants[value] = func.block.ops[0].result

    def constant(self, value: bool) -> Value:
        return self._constants[value]

    def any(self, values: list[Value], ops: list[Op], loc: Location) -> Value:
        """The disjunction; false of nothing."""
        result = self.constant(False)
        for value in dict.fromkeys(values):
            known = constant_flag(value)
            if known:
                return self.constant(True)
            if known is None:
                result = value if constant_flag(result) is False else self._emit(arith.OrI.of(result, value, loc), ops)
        return result

    def both(self, a: Value, b: Value, ops: list[Op], loc: Location) -> Value:
        for one, other in ((a, b), (b, a)):
            known = constant_flag(one)
            if known is not None:
                return other if known else one
        left, right = parts_of(a), parts_of(b)
        if a in right or b in left:
            return b if a in right else a
        if any(negated(x) in right for x in left) or any(negated(x) in left for x in right):
            return self.constant(False)
        return self._emit(arith.AndI.of(a, b, loc), ops)

    def negation(self, a: Value, ops: list[Op], loc: Location) -> Value:
        known = constant_flag(a)
        if known is not None:
            return self.constant(not known)
        if (of := negated(a)) is not None:
            return of
        return self._emit(arith.XorI.of(a, self.constant(True), loc), ops)

    @staticmethod
    def _emit(op: arith.BinaryOp, ops: list[Op]) -> Value:
        ops.append(op)
        return op.result
