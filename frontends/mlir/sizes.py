"""Which sizes of what is read are the same: a `?` of MLIR text is a size of its own unless the op says whose it is.

A value of type index that is used as a size gives one symbol, which `Func.symbols` then ties to the value. What
`tensor.dim` gives is the size in the tensor's own type. That the value is not negative is taken for granted only where
the op that uses it as a size is `certain` to run; elsewhere it may be negative, and the op not be reached.
"""

from __future__ import annotations

from tracebuf.ir.core import Block, Value
from tracebuf.ir.dims import Expr, Sym, symbols
from tracebuf.ir.types import ShapedType, unnamed


class Later(Block):
    """Its argument stands for a value that the text defines further down."""

    __slots__ = ()


class Sizes:
    """The sizes that the values of one function tell."""

    __slots__ = ("_constants", "_known", "certain", "symbols")

    def __init__(self) -> None:
        self.certain = False
        self._known: dict[Value, Expr] = {}
        self._constants: dict[int, Expr] = {}
        self.symbols: dict[Sym, Value] = {}

    def __call__(self, value: Value) -> Expr:
        found = self._known.get(value)
        if found is None:
            found = self._known[value] = self._new(value)
        if self.certain:
            for symbol in symbols(found):
                symbol.lo = symbol.lo or 0
        return found

    def _new(self, value: Value) -> Expr:
        op = value.defining_op
        if op is not None and op.name == "arith.constant" and isinstance(op.attrs.get("value"), int):
            return self._constant(op.attrs["value"])
        if op is not None and op.name in ("tensor.dim", "memref.dim") and isinstance(op.attrs.get("dim"), int):
            type_ = op.operand(0).type
            if isinstance(type_, ShapedType) and 0 <= op.attrs["dim"] < type_.rank:
                size = type_.shape[op.attrs["dim"]]
                return size if isinstance(size, Expr) else self._constant(size)
        if isinstance(value.owner, Later):
            return unnamed()
        symbol = Sym(value.name or "size", "opaque")
        self.symbols[symbol] = value
        return symbol.expr

    def _constant(self, size: int) -> Expr:
        """A constant where the type says `?`."""
        if size not in self._constants:
            self._constants[size] = Sym(str(size), "unnamed", lo=size, hi=size).expr
        return self._constants[size]
