"""Interpreters: the tensor program on values, the memref program on memory that notices every misuse.

What both share is here: `Runner` walks blocks, binds values, and checks after every op that each result has the dtype,
the rank and the sizes that its type declares (rule N5). Why: a wrong type is found at the op that made it, not later.
Limitations: only as fast as fuzzing needs. MLIR has no counterpart; nearest are its integration tests with ASan. May
import: ir, ops and below.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from tracebuf.errors import InternalError, UnsupportedError
from tracebuf.ir.core import Block, Op, Value
from tracebuf.ir.dims import Dim, Expr, Sym, evaluate, symbols
from tracebuf.ir.func import Func
from tracebuf.ir.types import I1, INDEX, ScalarType, ShapedType, is_unnamed
from tracebuf.ir.verifier import where
from tracebuf.ops.control.cf import BranchOp
from tracebuf.ops.control.func import Call
from tracebuf.ops.scalars import arith, casts

__all__ = ["Known", "Runner", "Watch"]

Known = Mapping[str, "Func | Callable[..., Any]"]
"""What a run may call, by name: functions of the module, and Python callables for functions that are only declared and
for ops that nobody knows."""
Watch = Callable[[Op, Sequence[Any], Sequence[Any]], None]
"""Is told of an op that was run, with the values of its operands and of its results."""


class Runner:
    """Runs one function once, with what it calls of `known`. Subclasses say what an op does (`run_op`) and what a
    shaped value is (`check_shaped`)."""

    __slots__ = ("depth", "ended", "env", "func", "held", "known", "sizes", "watch")

    def __init__(self, func: Func, known: Known | None = None) -> None:
        self.known, self.depth = known or {f.name: f for f in func.callees}, 0
        self.ended: Op | None = None
        """What ended the block that was left last."""
        self.watch: Watch | None = None
        self._enter(func)

    def _enter(self, func: Func) -> None:
        """Begins a frame: nothing has a value yet."""
        self.func = func
        self.env: dict[Value, Any] = {}
        self.sizes: dict[Sym, int] = {}
        self.held: dict[Value, list[Sym]] = {}
        for symbol, value in func.symbols.items():
            self.held.setdefault(value, []).append(symbol)
            if (start := converted(value)) is not value and start in func.args:  # other arguments' sizes may need it
                self.held.setdefault(start, []).append(symbol)

    def call(self, op: Call, args: Sequence[Any]) -> list[Any]:
        """Runs a function of the module in a frame of its own; recursion is no different. UnsupportedError where the
        name stands for none."""
        callee = self.known.get(op.callee)
        if not isinstance(callee, Func):
            raise UnsupportedError(f"@{op.callee} is only declared, and no callable is given for it", location=op.loc)
        outer = self.func, self.env, self.sizes, self.held
        self._enter(callee)
        self.depth += 1
        try:
            self.bind_sizes([getattr(getattr(a, "array", a), "shape", None) for a in args])
            return self.run_block(callee.block, args)
        finally:
            self.depth -= 1
            self.func, self.env, self.sizes, self.held = outer

    def run_op(self, op: Op, args: list[Any]) -> Sequence[Any]:
        raise NotImplementedError

    def check_shaped(self, value: Value, type: ShapedType, data: Any) -> str:
        """What is wrong with a tensor or buffer, or the empty string."""
        raise NotImplementedError

    def run_block(self, block: Block, args: Sequence[Any]) -> list[Any]:
        """Runs the block with these argument values, and those it branches to; the operand values of the terminator
        that leaves the region."""
        while True:
            self.bind(block.args, args, block.parent_op)
            ops = block.ops
            for i in range(len(ops) - 1):
                op = ops[i]
                operands = self.operands(op)
                made = self.run_op(op, operands)
                self.bind(op.results, made, op)
                if self.watch is not None:
                    self.watch(op, operands, made)
            end, values = ops[-1], self.operands(ops[-1])
            if not isinstance(end, BranchOp):
                self.ended = end
                return values
            block, args = end.taken(values)

    def operands(self, op: Op) -> list[Any]:
        env = self.env
        try:
            return [env[u.value] for u in op.uses]
        except KeyError as e:
            raise InternalError(f"{where(op)}: an operand has no value yet ({e.args[0]!r})") from None

    def bind(self, values: Sequence[Value], data: Sequence[Any], op: Op | None) -> None:
        """Gives values their data, size symbols theirs, and checks each against its type."""
        if len(values) != len(data):
            raise InternalError(f"{where(op)}: {len(data)} values for {len(values)} results")
        for value, item in zip(values, data, strict=True):
            self.env[value] = item
            for symbol in self.held.get(value, ()):
                self.set_size(symbol, int(item), op)
        for value, item in zip(values, data, strict=True):
            wrong = self.wrong(value, item)
            if wrong:
                raise InternalError(f"{where(op)}: {value!r} {wrong}")

    def set_size(self, symbol: Sym, size: int, op: Op | None) -> None:
        known = self.sizes.get(symbol)
        if symbol.kind == "dim" and known not in (None, size):
            raise InternalError(f"{where(op)}: size {symbol} is {known} and {size}")
        if (symbol.lo is not None and size < symbol.lo) or (symbol.hi is not None and size > symbol.hi):
            if symbol.kind != "opaque":  # an index that MLIR text takes as a size: what does says what it may be
                raise InternalError(f"{where(op)}: {symbol} is {size}, declared within [{symbol.lo}, {symbol.hi}]")
        self.sizes[symbol] = size

    def bind_sizes(self, shapes: Sequence[tuple[int, ...] | None]) -> None:
        """Gives the symbols of argument sizes their values, from the arguments' shapes (None for scalars)."""
        for value, shape in zip(self.func.args, shapes, strict=True):
            if isinstance(value.type, ShapedType) and shape is not None:
                for declared, size in zip(value.type.shape, shape):
                    for symbol in symbols(declared):
                        if declared == symbol.expr:
                            self.set_size(symbol, size, None)

    def wrong(self, value: Value, data: Any) -> str:
        type_ = value.type
        if isinstance(type_, ScalarType):
            expected = int if type_ is INDEX else type_.dtype.type
            return "" if type(data) is expected else f"holds {data!r} of {type(data).__name__}"
        return self.check_shaped(value, type_, data) if isinstance(type_, ShapedType) else ""

    def wrong_shape(self, type: ShapedType, array: np.ndarray) -> str:
        """What is wrong with dtype, rank or sizes, or the empty string."""
        if array.dtype != type.element.dtype:
            return f"has dtype {array.dtype}"
        if array.ndim != type.rank:
            return f"has rank {array.ndim}"
        for d, n in zip(type.shape, array.shape):
            if d != n and not is_unnamed(d) and self.size(d) != n:
                declared = tuple("?" if is_unnamed(n) else self.size(n) for n in type.shape)
                return f"has shape {array.shape}, declared {declared}"
        return ""

    def size(self, d: Dim) -> int:
        """The value of a size expression; InternalError where one of its symbols has none."""
        if not isinstance(d, Expr):
            return d
        try:
            return evaluate(d, self.sizes)
        except KeyError as e:
            raise InternalError(f"the size {d} is not known here: {e.args[0]} has no value") from None


def converted(value: Value) -> Value:
    """The integer or truth that an integer is a conversion of: of the same number."""
    while isinstance(op := value.defining_op, arith.IndexCast | casts.ExtUI):
        if isinstance(op, arith.IndexCast) and op.operand(0).type is I1:  # a set bit becomes -1
            break
        value = op.operand(0)
    return value
