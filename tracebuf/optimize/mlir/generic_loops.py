"""linalg.generic as loops over its elements, on tensors or on buffers: for bodies that read elements of tensors from
outside, and for maps that are not projected permutations (convolutions, pooling).

Why: everything that runs structured ops takes it for granted that there is neither. Limitations: not for loops whose
size is no operand's. MLIR counterpart: -convert-linalg-to-loops.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from tracebuf.errors import UnsupportedError
from tracebuf.ir.clone import clone_op
from tracebuf.ir.core import Block, Builder, Op, Value
from tracebuf.ir.types import INDEX, MemRefType, ShapedType
from tracebuf.ops.arrays import tensor
from tracebuf.ops.arrays.linalg import AffineMap, Generic, Index
from tracebuf.ops.control import scf
from tracebuf.ops.memory import memref
from tracebuf.ops.scalars import arith
from tracebuf.ops.scalars.division import FloorDivIndex


def to_loops(op: Generic) -> None:
    """Replaces the op by nested scf.for; UnsupportedError for a loop of unknown size, and for ceildiv in a map."""
    assert op.block is not None
    results = _Loops(op, Builder(op.block, op.loc, before=op)).level([], op.operands[op.n_ins :])
    for old, new in zip(op.results, results if op.results else [], strict=True):
        old.replace_all_uses(new)
    op.erase()


_OPS: dict[type[ast.operator], type[arith.BinaryOp]] = {
    ast.Add: arith.AddI, ast.Sub: arith.SubI, ast.Mult: arith.MulI, ast.FloorDiv: FloorDivIndex,
}  # fmt: skip


class _Loops:
    def __init__(self, op: Generic, builder: Builder) -> None:
        self.op, self.loc = op, op.loc
        self.zero, self.one = (builder.add(arith.Constant.of(n, INDEX, op.loc)).result for n in (0, 1))
        self.bounds = [self._size(*self._with(d), builder) for d in range(len(op.iterators))]
        self.builder = builder

    def _with(self, loop: int) -> tuple[Value, int]:
        """An operand and its axis that have a loop's size."""
        for value, map_ in zip(self.op.operands, self.op.maps, strict=True):
            if loop in map_.results:
                return value, map_.results.index(loop)
        raise UnsupportedError(f"{self.op.name}: no operand tells the size of d{loop}", location=self.loc)

    def _size(self, value: Value, axis: int, builder: Builder) -> Value:
        assert isinstance(value.type, ShapedType)
        size = value.type.shape[axis]
        if isinstance(size, int):
            return builder.add(arith.Constant.of(size, INDEX, self.loc)).result
        kind = memref.Dim if isinstance(value.type, MemRefType) else tensor.Dim
        made: Op = kind.of(value, axis, self.loc)
        return builder.add(made).result

    def level(self, indices: Sequence[Value], outs: Sequence[Value]) -> list[Value]:
        """The loops inside these ones; on tensors the outs are loop-carried, and their final values are returned."""
        if len(indices) == len(self.bounds):
            return self.element(indices, outs)
        carried = list(outs) if self.op.results else []
        body = Block([INDEX, *(v.type for v in carried)])
        outer, self.builder = self.builder, Builder(body, self.loc)
        inner = self.level([*indices, body.args[0]], body.args[1:] if carried else outs)
        self.builder.add(scf.Yield.of(inner if carried else [], self.loc))
        self.builder = outer
        bounds = [self.zero, self.bounds[len(indices)], self.one]
        return list(outer.add(scf.For.of(bounds, carried, body, self.loc)).results)

    def element(self, indices: Sequence[Value], outs: Sequence[Value]) -> list[Value]:
        op = self.op
        mapping: dict[Value, Value] = {}
        for value, map_, arg in zip([*op.operands[: op.n_ins], *outs], op.maps, op.body.args, strict=True):
            mapping[arg] = self.load(value, self.place(map_, indices))
        for inner in op.body.ops[:-1]:
            if isinstance(inner, Index):
                mapping[inner.result] = indices[inner.dim]
            else:
                clone_op(inner, mapping, self.builder.add)
        yielded = [mapping.get(v, v) for v in op.body.terminator.operands]
        maps = op.maps[op.n_ins :]
        return [self.store(v, out, self.place(m, indices)) for v, out, m in zip(yielded, outs, maps, strict=True)]

    def place(self, map_: AffineMap, indices: Sequence[Value]) -> list[Value]:
        if map_.runs:
            return [self.zero if r is None else indices[r] for r in map_.results]
        inside = map_.text.partition("-> (")[2].rstrip(">").rstrip()[:-1]
        spelled = inside.replace("floordiv", "//").replace(" mod ", " % ")
        try:
            (found,) = ast.parse(f"[{spelled}]").body
        except SyntaxError:
            raise UnsupportedError(f"the map {map_} is not run", location=self.loc) from None
        assert isinstance(found, ast.Expr) and isinstance(found.value, ast.List)
        names = re.findall(r"\w+", map_.text.partition("->")[0])[1:]
        return [self.expression(e, dict(zip(names, indices, strict=True))) for e in found.value.elts]

    def expression(self, e: ast.expr, known: dict[str, Value]) -> Value:
        """The value of an affine expression."""
        if isinstance(e, ast.Name):
            return known[e.id]
        if isinstance(e, ast.Constant) and isinstance(e.value, int):
            return self.builder.add(arith.Constant.of(e.value, INDEX, self.loc)).result
        if isinstance(e, ast.UnaryOp):
            return self.builder.add(arith.SubI.of(self.zero, self.expression(e.operand, known), self.loc)).result
        assert isinstance(e, ast.BinOp), ast.dump(e)
        a, b = self.expression(e.left, known), self.expression(e.right, known)
        if isinstance(e.op, ast.Mod):
            whole = self.builder.add(FloorDivIndex.of(a, b, self.loc)).result
            part = self.builder.add(arith.MulI.of(whole, b, self.loc)).result
            return self.builder.add(arith.SubI.of(a, part, self.loc)).result
        return self.builder.add(_OPS[type(e.op)].of(a, b, self.loc)).result

    def load(self, value: Value, place: Sequence[Value]) -> Value:
        if isinstance(value.type, MemRefType):
            return self.builder.add(memref.Load.of(value, place, self.loc)).result
        return self.builder.add(tensor.Extract.of(value, place, self.loc)).result if value.is_tensor else value

    def store(self, element: Value, out: Value, place: Sequence[Value]) -> Value:
        if isinstance(out.type, MemRefType):
            self.builder.add(memref.Store.of(element, out, place, self.loc))
            return out
        return self.builder.add(tensor.Insert.of(element, out, place, self.loc)).result
