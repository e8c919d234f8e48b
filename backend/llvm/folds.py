"""The state of a reduction whose loop is innermost: what is carried through rows and blocks, and how it ends in the
out.

Float sums are pairwise: a block of 512 is summed by vector lanes (the one place with `reassoc`), and block sums are
combined like the carries of a binary counter, so the error grows with the logarithm of the count and a running float32
sum cannot stagnate (rule C2). Level k of the counter holds a sum of 2**k blocks. Everything else is carried as it is.
"""

from __future__ import annotations

from tracebuf.backend.llvm.code import Access, Code
from tracebuf.backend.llvm.scalars import Scalars, memory_type
from tracebuf.ir.core import Op
from tracebuf.ir.emitter import components, join_components, llvm_type, value_types
from tracebuf.ir.types import ScalarType
from tracebuf.lower.plan import PAIRWISE, Fold
from tracebuf.ops.scalars import arith

_LEVELS = 64
_EXTREMES: dict[type[Op], str] = {
    arith.MaximumF: "maximum", arith.MinimumF: "minimum", arith.MaxNumF: "maximumnum", arith.MinNumF: "minimumnum",
}  # fmt: skip
"""LLVM's intrinsics that it vectorises as reductions; of `maxnum` it does so for numbers only, never NaN."""


class FoldState:
    """One out's fold. The accumulator, or the counter's levels, are stack slots that LLVM turns into registers where
    it can. A complex sum is two, of the real and of the imaginary parts.
    """

    def __init__(self, code: Code, fold: Fold, element: ScalarType, key: int, first: str = "") -> None:
        """`first`: of a sum what the out has before, a literal, where it is not there yet."""
        self.code, self.fold, self.element, self.key, self.first = code, fold, element, key, first
        self.parts = value_types(element)
        self.type = memory_type(element)

    @property
    def pairwise(self) -> bool:
        return self.fold.how == PAIRWISE

    @property
    def may_be_conditional(self) -> bool:
        """Whether a step of a maximum or minimum takes a selected element, which LLVM may turn around."""
        element = self.fold.element
        return not self.pairwise and element is not None and isinstance(element.defining_op, arith.Select)

    @property
    def in_chains(self) -> bool:
        """Whether parts of it may be folded side by side, each from the start."""
        return self.pairwise or type(self.fold.op) in _EXTREMES

    @property
    def total(self) -> str:
        return self.code.slot(self.type, 1000 + self.key)

    @property
    def _count(self) -> str:
        return self.code.slot("i64", 1000 + self.key)

    @property
    def _levels(self) -> str:
        return self.code.slot(f"[{_LEVELS} x {self.type}]", self.key)

    def begin(self, out: str, access: Access) -> None:
        """Before the loops that are folded over."""
        if self.pairwise:
            self.code.do(f"store i64 0, ptr {self._count}")
        else:
            self.code.store(self.element, self.code.load(self.element, out, access), self.total)

    def start(self) -> list[tuple[str, str]]:
        """What a row (or block) starts from: LLVM types and values."""
        value = self._zero() if self.pairwise else self.code.load(self.element, self.total)
        return self.typed(value)

    def _zero(self) -> str:
        return join_components(["-0.0"] * len(self.parts))

    def typed(self, value: str) -> list[tuple[str, str]]:
        """A value as LLVM types and values."""
        return [(llvm_type(t), v) for t, v in components(self.element, value)]

    def take(self, carried: list[str]) -> str:
        """The value of the first of the carried LLVM values, which are taken away."""
        mine = carried[: len(self.parts)]
        del carried[: len(self.parts)]
        return join_components(mine)

    def combine(self, scalars: Scalars, total: str, new: str) -> str:
        """One step of the fold."""
        op = self.fold.op
        assert isinstance(op, arith.ScalarOp)
        if self.pairwise:
            return self._sum_of(total, new, "reassoc ")
        if name := _EXTREMES.get(type(op)):
            # nsz: of two zeros either may be taken, which saves the sign's handling; NaN is treated as ever
            type_ = llvm_type(self.element)
            args = [(type_, total), (type_, new)]
            return self.code.intrinsic(f"llvm.{name}.{self.element}", type_, args, "nsz ")
        return op.emit(scalars, [total, new])

    def _sum_of(self, a: str, b: str, flags: str = "") -> str:
        pairs = zip(self.typed(a), self.typed(b), strict=True)
        return join_components([self.code.inst(f"fadd {flags}{t} {x}, {y}") for (t, x), (_, y) in pairs])

    def end_of_row(self, value: str) -> None:
        if self.pairwise:
            self._push(value)
        else:
            self.code.store(self.element, value, self.total)

    def finish(self, out: str, access: Access) -> None:
        """After the loops: the out gets its value."""
        if self.pairwise:
            total = self._sum_of(self.first or self.code.load(self.element, out, access), self._sum())
        else:
            total = self.code.load(self.element, self.total)
        self.code.store(self.element, total, out, access)

    def start_of_few(self, out: str, access: Access) -> list[tuple[str, str]]:
        """What the fold of a row of a few elements starts from: LLVM types and values."""
        return self.typed(self._zero() if self.pairwise else self.code.load(self.element, out, access))

    def finish_few(self, value: str, out: str, access: Access) -> None:
        """The out gets the value of the fold of such a row; a sum is added to what is there (`initial`, in NumPy)."""
        if self.pairwise:
            value = self._sum_of(self.first or self.code.load(self.element, out, access), value)
        self.code.store(self.element, value, out, access)

    def _level(self, index: str) -> str:
        return self.code.offset(self._levels, self.type, index)

    def _push(self, value: str) -> None:
        """Adds one block's sum: as many carries as the count has trailing ones."""
        code, count = self.code, self.code.inst(f"load i64, ptr {self._count}")
        ones = code.intrinsic("llvm.cttz.i64", "i64", [("i64", code.inst(f"xor i64 {count}, -1")), ("i1", "false")])
        with code.loop(ones, carried=self.typed(value), metadata=code.loop_metadata(*code.as_it_stands())) as loop:
            level = code.load(self.element, self._level(loop.index))
            loop.next = [v for _, v in self.typed(self._sum_of(level, join_components(loop.carried)))]
        code.store(self.element, join_components(loop.carried), self._level(ones))
        code.do(f"store i64 {code.add(count, '1')}, ptr {self._count}")

    def identity(self, out: str) -> str:
        """What the fold of a part begins with: what changes nothing, be it folded once or several times."""
        if self.pairwise:
            return self._zero()
        op = type(self.fold.op)
        if op in (arith.AddI, arith.XorI, arith.MulI):
            return "1" if op is arith.MulI else "0"
        return self.code.load(self.element, out)

    def join(self, scalars: Scalars, parts: str, full: str, out: str) -> None:
        """Folds what parts came to into the out: `full` ones of equal size, a power of two of blocks if it is a sum,
        and one more of what was left, or the identity."""
        code = self.code
        if not self.pairwise:
            rounds, as_it_stands = code.add(full, "1"), code.loop_metadata(*code.as_it_stands())
            carried = self.typed(code.load(self.element, out))
            with code.loop(rounds, carried=carried, metadata=as_it_stands) as loop:
                new = self._part(parts, loop.index)
                loop.next = [v for _, v in self.typed(self.combine(scalars, join_components(loop.carried), new))]
            code.store(self.element, join_components(loop.carried), out)
            return
        code.do(f"store i64 0, ptr {self._count}")
        with code.loop(full, metadata=code.loop_metadata(*code.as_it_stands())) as loop:
            self._push(self._part(parts, loop.index))
        total = self._sum(self._part(parts, full))
        code.store(self.element, self._sum_of(code.load(self.element, out), total), out)

    def _part(self, parts: str, index: str) -> str:
        return self.code.load(self.element, self.code.offset(parts, self.type, index))

    def _sum(self, start: str = "") -> str:
        """The sum of the levels in use, small ones first, after what it starts from, if anything."""
        code, count = self.code, self.code.inst(f"load i64, ptr {self._count}")
        zeros = code.intrinsic("llvm.ctlz.i64", "i64", [("i64", count), ("i1", "false")])
        carried = self.typed(start or self._zero())
        with code.loop(
            code.sub("64", zeros), carried=carried, metadata=code.loop_metadata(*code.as_it_stands())
        ) as loop:
            level = code.load(self.element, self._level(loop.index))
            used = code.inst(f"trunc i64 {code.inst(f'lshr i64 {count}, {loop.index}')} to i1")
            more = self.typed(self._sum_of(level, join_components(loop.carried)))
            loop.next = [code.select(used, t, v, old) for (t, v), old in zip(more, loop.carried, strict=True)]
        return join_components(loop.carried)
