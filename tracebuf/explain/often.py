"""How often a call comes to an op of a memref program, as a formula of the sizes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from tracebuf.explain.memory import number
from tracebuf.ir.core import Op, Value
from tracebuf.ir.dims import Dim, Expr, Sym, add, dim_max, floordiv, mul, sub
from tracebuf.ir.func import Func
from tracebuf.ir.types import INDEX
from tracebuf.ops.control import scf
from tracebuf.ops.memory.indexing import constant_index


def how_often(op: Op, func: Func, sizes: Iterable[Sym]) -> Dim | None:
    """How many times a call makes it; None where no formula of the sizes says it, or it depends on a branch."""
    names: dict[Value, Sym] = {}
    for s, v in func.symbols.items():
        names.setdefault(v, s)
    by_name = {s.name: s for s in sizes}
    for arg in func.args:
        if arg.type is INDEX and arg.name in by_name:
            names.setdefault(arg, by_name[arg.name])
    total: Dim = 1
    parent = op.parent_op
    while parent is not None:
        if isinstance(parent, scf.For):
            first, end, step = (size_of(v, names) for v in parent.operands[:3])
            if first is None or end is None or not isinstance(step, int) or step < 1:
                return None
            total = mul(total, dim_max(floordiv(add(sub(end, first), step - 1), step), 0))
        elif parent.repetitive or isinstance(parent, scf.If):
            return None
        parent = parent.parent_op
    return total


def size_of(value: Value, names: Mapping[Value, Sym]) -> Dim | None:
    """A number as an expression of the sizes of arguments."""
    if (n := constant_index(value)) is not None:
        return n
    if value in names:
        s = names[value]
        return s.expr if s.name.isidentifier() or s.name.startswith("len(") or "." in s.name else None
    op = value.defining_op
    if op is None or op.regions:
        return None
    parts = [size_of(v, names) for v in op.operands]
    found = None if None in parts else number(op, parts)
    return found if isinstance(found, int | Expr) else None
