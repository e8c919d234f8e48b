"""Offsets and sizes of slices as symbolic sizes, so that `n` and `n + 0` are one.

What MLIR knows of them: `bounds`; here the smaller of two values, and the like, are expressions too. Nothing here
knows of iterations: a value that a loop computes is one symbol.
"""

from __future__ import annotations

from collections.abc import Callable

from tracebuf.analysis.one_shot.bounds import Bounds
from tracebuf.ir.core import Mixed, Value
from tracebuf.ir.dims import Dim, Sym, add, dim_max, dim_min, floordiv, mul, sub
from tracebuf.ir.func import Func
from tracebuf.ops.arrays import tensor
from tracebuf.ops.arrays.tensor import SliceOp
from tracebuf.ops.memory.memref import dimension
from tracebuf.ops.scalars import arith


class Indices:
    """The expressions of one function's index values, each computed once."""

    __slots__ = ("_bounds", "_known", "equal")

    def __init__(self, func: Func) -> None:
        self._known: dict[Value, Dim] = {}
        self._bounds = Bounds(func)
        self.equal: list[tuple[Dim, Dim]] = []
        """Sizes that are one value under two names, as a guard made them."""
        for symbol, value in func.symbols.items():
            known = self._known.setdefault(value, symbol.expr)
            if known is not symbol.expr:
                self.equal.append((known, symbol.expr))

    def of(self, value: Mixed) -> Dim:
        """What is not arithmetic on sizes is a symbol of its own."""
        if isinstance(value, int):
            return value
        if (known := self._known.get(value)) is None:
            known = self._known[value] = self._compute(value)
        return known

    def _compute(self, value: Value) -> Dim:
        op = value.defining_op
        if isinstance(op, arith.Constant) and isinstance(number := op.attrs["value"], int):
            return number
        if isinstance(op, tensor.Dim) and (dim := dimension(op)) is not None:
            size: Dim = op.operand(0).tensor_type.shape[dim]
            return size
        if op is not None and (function := _ARITHMETIC.get(op.name)) is not None and len(op.uses) == 2:
            a, b = (self.of(v) for v in op.operands)
            return function(a, b)
        opaque: Dim = Sym(value.name or "offset", "opaque").expr
        return opaque

    def same_subset(self, a: SliceOp, b: SliceOp, *, as_mlir: bool) -> bool:
        """Whether two slices have the same offsets, sizes, strides and dimensions; `as_mlir`: and MLIR knows it."""
        s, t = a.slice, b.slice
        if s == t and not as_mlir:
            return True
        if len(s.offsets) != len(t.offsets) or s.dims != t.dims:
            return False
        pairs = (*zip(s.offsets, t.offsets), *zip(s.sizes, t.sizes), *zip(s.strides, t.strides))
        return all(self._bounds.equal(x, y) or (not as_mlir and self.of(x) == self.of(y)) for x, y in pairs)


_ARITHMETIC: dict[str, Callable[[Dim, Dim], Dim]] = {
    "arith.addi": add, "arith.subi": sub, "arith.muli": mul, "arith.maxsi": dim_max, "arith.minsi": dim_min,
    "arith.floordivsi": floordiv,
}  # fmt: skip
