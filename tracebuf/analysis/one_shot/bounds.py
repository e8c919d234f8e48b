"""What MLIR 22 knows of index values and of sizes, as affine expressions: which of them are equal.

Known are constants, sums, differences, multiples and quotients by constants, a choice between equals, loop-carried
values that do not change, and the sizes of tensors as far as the ops say them. Anything else, a product or the smaller
of two values among it, is a value of its own. MLIR counterpart: ValueBoundsConstraintSet and its models of arith,
tensor, linalg and scf.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable

from tracebuf.ir.core import Block, Mixed, Value
from tracebuf.ir.dims import Dim, Expr, Sym, add, floordiv, mul, sub, symbols
from tracebuf.ir.func import Func
from tracebuf.ir.types import TensorType
from tracebuf.ops.arrays import bufferization, linalg, made, tensor
from tracebuf.ops.control import scf
from tracebuf.ops.memory.memref import dimension
from tracebuf.ops.scalars import arith

_AFFINE = {"arith.addi": add, "arith.subi": sub, "arith.muli": mul, "arith.floordivsi": floordiv}
_UNKNOWN = (bufferization.AllocTensor, made.Generate, made.Splat)
"""Ops whose sizes MLIR does not ask for."""
Ask = Callable[[Value], Dim]


class Bounds:
    """The values and sizes of one function, each computed once. Test: test_equal_sizes_as_mlir_knows_them."""

    __slots__ = ("_impossible", "_known", "_named", "_own")

    def __init__(self, func: Func) -> None:
        self._named = dict(func.symbols)
        self._known: dict[Hashable, Dim] = {}
        self._own: dict[Hashable, Expr] = {}
        self._impossible: set[Sym] = set()

    def equal(self, a: Mixed, b: Mixed) -> bool:
        """Whether two index values are known to be equal. Nothing is known of the index of a loop that never runs, not
        even that it is itself."""
        first, second = self.value(a), self.value(b)
        return first == second and not (self._impossible and symbols(first) & self._impossible)

    def value(self, value: Mixed) -> Dim:
        """An index value."""
        return value if isinstance(value, int) else self._once(value, value, self._arithmetic, self.value)

    def size(self, value: Value, axis: int) -> Dim:
        """The size of a tensor along an axis."""
        size = value.tensor_type.shape[axis]
        if isinstance(size, int):
            return size
        near = lambda v: self.size(v, axis)  # noqa: E731
        return self._once((value, axis), value, lambda v: self._size(v, axis), near)

    def _once(self, key: Hashable, value: Value, find: Callable[[Value], Dim | None], ask: Ask) -> Dim:
        if (cached := self._known.get(key)) is not None:
            return cached
        symbol = self._known[key] = self._own.setdefault(key, Sym(value.name or "value", "opaque").expr)
        before = set(self._known) if isinstance(value.owner, Block) else set[Hashable]()
        bound = find(value)
        if bound is None:
            bound = joined(value, symbol, ask)
            if self._impossible and any(symbols(ask(v)) & self._impossible for v in arms(value)):
                self._impossible |= symbols(symbol)
        if isinstance(value.owner, Block) and bound != symbol:
            for stale in self._known.keys() - before:  # they may depend on this value as a symbol of its own
                del self._known[stale]
        self._known[key] = bound
        return bound

    # -- what ops say
    def _arithmetic(self, value: Value) -> Dim | None:
        op = value.defining_op
        around = value.block.parent_op
        if op is None and isinstance(around, scf.For) and value is value.block.args[0]:
            lower, upper = (self.value(v) for v in around.operands[:2])
            rounds = sub(upper, lower)
            if (isinstance(rounds, int) and rounds < 1) or (symbols(lower) | symbols(upper)) & self._impossible:
                self._impossible |= symbols(self._known[value])
            return lower if rounds == 1 else None
        if isinstance(op, arith.Constant) and isinstance(number := op.attrs["value"], int):
            return number
        if isinstance(op, tensor.Dim) and (dim := dimension(op)) is not None:
            size = op.operand(0).tensor_type.shape[dim]
            named = None if isinstance(size, int) else self._name_of(size)
            return None if named is value else self.size(op.operand(0), dim)
        if op is None or (function := _AFFINE.get(op.name)) is None:
            return None
        a, b = (self.value(v) for v in op.operands)
        known = [isinstance(v.defining_op, arith.Constant) for v in op.operands]  # what is computed does not count
        if function is floordiv:
            return floordiv(a, b) if known[1] and isinstance(b, int) and b > 0 else None
        return function(a, b) if function is not mul or any(known) else None

    def _size(self, value: Value, axis: int) -> Dim | None:
        op = value.defining_op
        if isinstance(op, linalg.DestinationOp):
            return self.size(op.out_uses[value.index].value, axis)
        if isinstance(op, tensor.Insert | tensor.InsertSlice):
            return self.size(op.operand(1), axis)
        if isinstance(op, tensor.Empty | tensor.ExpandShape):
            return self.value(op.sizes[axis])
        if isinstance(op, tensor.ExtractSlice) and (base := op.slice.dims[axis]) is not None:
            return self.value(op.slice.sizes[base])
        if isinstance(op, tensor.Cast) and isinstance(op.operand(0).type, TensorType):
            return self.size(op.operand(0), axis)
        if isinstance(op, tensor.CollapseShape):
            return self._product([self.size(op.source, k) for k in op.attrs["groups"][axis]])
        if isinstance(op, made.Pad):
            low, high = op.edges(op.operands[1:])
            return add(self.size(op.operand(0), axis), add(self.value(low[axis]), self.value(high[axis])))
        carried = op is None and isinstance(value.block.parent_op, scf.For)
        if carried or isinstance(op, arith.Select | scf.If | scf.For):
            return None
        return None if isinstance(op, _UNKNOWN) else self._of_dim(value.tensor_type.shape[axis])

    @staticmethod
    def _product(sizes: list[Dim]) -> Dim | None:
        found: Dim = 1
        for size in sizes:
            if not isinstance(found, int) and not isinstance(size, int):
                return None
            found = mul(found, size)
        return found

    # -- what types say
    def _name_of(self, size: Dim) -> Value | None:
        """The index value that a size in a type is named after."""
        found = symbols(size) if not isinstance(size, int) else frozenset()
        return next((self._named.get(s) for s in found if size == s.expr), None)

    def _of_dim(self, size: Dim) -> Dim:
        named = self._name_of(size)
        return size if named is None else self.value(named)


def joined(value: Value, own: Dim, ask: Ask) -> Dim:
    """The common value of a choice between equals, or of a loop-carried value that does not change; else `own`."""
    op = value.defining_op or value.block.parent_op
    if choices := arms(value):
        first, second = map(ask, choices)
        return first if first == second else own
    if isinstance(op, scf.For) and value.defining_op is op:
        start = ask(op.inits[value.index].value)
        return start if ask(op.args[value.index]) == start else own
    if isinstance(op, scf.For) and value in op.args:
        k = op.args.index(value)
        return ask(op.inits[k].value) if ask(op.passed[k].value) == own else own
    return own


def arms(value: Value) -> list[Value]:
    """The two values that it may be, if it is a choice."""
    op = value.defining_op
    if isinstance(op, arith.Select):
        return op.operands[1:]
    return [b.terminator.operand(value.index) for b in op.branches] if isinstance(op, scf.If) else []
