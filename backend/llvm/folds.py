"""The state of a reduction whose loop is innermost: what is carried through rows and blocks, and how it ends in the
out.

Float sums are pairwise: a block of 512 is summed by vector lanes (the one place with `reassoc`), and block sums are
combined like the carries of a binary counter, so the error grows with the logarithm of the count and a running float32
sum cannot stagnate (rule C2). Level k of the counter holds a sum of 2**k blocks. Everything else is carried as it is.
"""

from __future__ import annotations

from tracebuf.backend.llvm.code import Access, Code
from tracebuf.backend.llvm.scalars import Scalars
from tracebuf.ir.core import Op
from tracebuf.ir.protocols import llvm_type
from tracebuf.ir.types import ScalarType
from tracebuf.lower.plan import PAIRWISE, Fold
from tracebuf.ops import arith

_LEVELS = 64
_EXTREMES: dict[type[Op], str] = {
    arith.MaximumF: "maximum", arith.MinimumF: "minimum", arith.MaxNumF: "maximumnum", arith.MinNumF: "minimumnum",
}  # fmt: skip
"""LLVM's intrinsics that it vectorises as reductions; of `maxnum` it does so for numbers only, never NaN."""


class FoldState:
    """One out's fold. The accumulator, or the counter's levels, are stack slots that LLVM turns into registers where
    it can.
    """

    def __init__(self, code: Code, fold: Fold, element: ScalarType, key: int) -> None:
        self.code, self.fold, self.element, self.key = code, fold, element, key
        self.type = llvm_type(element)

    @property
    def pairwise(self) -> bool:
        return self.fold.how == PAIRWISE

    @property
    def _total(self) -> str:
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
            self.code.do(f"store {self.type} {self.code.load(self.element, out, access)}, ptr {self._total}")

    def start(self) -> str:
        """What a row (or block) starts from."""
        return "-0.0" if self.pairwise else self.code.inst(f"load {self.type}, ptr {self._total}")

    def combine(self, scalars: Scalars, total: str, new: str) -> str:
        """One step of the fold."""
        op = self.fold.op
        assert isinstance(op, arith.ScalarOp)
        if self.pairwise:
            return self.code.inst(f"fadd reassoc {self.type} {total}, {new}")
        if name := _EXTREMES.get(type(op)):
            # nsz: of two zeros either may be taken, which saves the sign's handling; NaN is treated as ever
            args = [(self.type, total), (self.type, new)]
            return self.code.intrinsic(f"llvm.{name}.{self.element}", self.type, args, "nsz ")
        return op.emit(scalars, [total, new])

    def end_of_row(self, value: str) -> None:
        if self.pairwise:
            self._push(value)
        else:
            self.code.do(f"store {self.type} {value}, ptr {self._total}")

    def finish(self, out: str, access: Access) -> None:
        """After the loops: the out gets its value."""
        if self.pairwise:
            before = self.code.load(self.element, out, access)
            total = self.code.inst(f"fadd {self.type} {before}, {self._sum()}")
        else:
            total = self.code.inst(f"load {self.type}, ptr {self._total}")
        self.code.store(self.element, total, out, access)

    def _push(self, value: str) -> None:
        """Adds one block's sum: as many carries as the count has trailing ones."""
        code, count = self.code, self.code.inst(f"load i64, ptr {self._count}")
        ones = code.intrinsic("llvm.cttz.i64", "i64", [("i64", code.inst(f"xor i64 {count}, -1")), ("i1", "false")])
        with code.loop(ones, carried=[(self.type, value)], metadata=code.loop_metadata(*code.as_it_stands())) as loop:
            level = code.inst(f"load {self.type}, ptr {code.offset(self._levels, self.type, loop.index)}")
            loop.next = [code.inst(f"fadd {self.type} {level}, {loop.carried[0]}")]
        code.do(f"store {self.type} {loop.carried[0]}, ptr {code.offset(self._levels, self.type, ones)}")
        code.do(f"store i64 {code.add(count, '1')}, ptr {self._count}")

    def _sum(self) -> str:
        """The sum of the levels in use, small ones first."""
        code, count = self.code, self.code.inst(f"load i64, ptr {self._count}")
        zeros = code.intrinsic("llvm.ctlz.i64", "i64", [("i64", count), ("i1", "false")])
        with code.loop(
            code.sub("64", zeros), carried=[(self.type, "-0.0")], metadata=code.loop_metadata(*code.as_it_stands())
        ) as loop:
            level = code.inst(f"load {self.type}, ptr {code.offset(self._levels, self.type, loop.index)}")
            used = code.inst(f"trunc i64 {code.inst(f'lshr i64 {count}, {loop.index}')} to i1")
            more = code.inst(f"fadd {self.type} {level}, {loop.carried[0]}")
            loop.next = [code.select(used, self.type, more, loop.carried[0])]
        return loop.carried[0]
