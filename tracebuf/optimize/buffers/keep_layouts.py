"""Loop-carried values and results of branches keep the strides and the offset that all their sources are known to have.

Bufferization forgets them, because another iteration may bring another layout; mostly none does, and a stride that is
known to be 1 lets LLVM vectorise. Values that flow into one another have one layout: what is common to the buffers that
enter, taken for granted until one differs. Does not change any buffer's layout. MLIR asks this question while it
bufferizes (`getBufferType` of scf.for), and knows two answers: one layout, or none.
"""

from __future__ import annotations

from dataclasses import replace

from tracebuf.deallocate.facts import sources
from tracebuf.ir.core import Value
from tracebuf.ir.dims import Dim, Sym, symbols
from tracebuf.ir.func import Func
from tracebuf.ir.types import MemRefType
from tracebuf.ops.control import scf
from tracebuf.ops.memory import memref

Layout = tuple[Dim | None, ...]
"""Strides, then the offset."""


def keep_layouts(func: Func) -> None:
    """Gives the values of control flow, and the casts to them, types with what is known."""
    groups = flowing_together(func)
    sizes = {s for a in func.args if isinstance(a.type, MemRefType) for d in a.type.shape for s in symbols(d)}
    known: dict[Value, Layout] = {}
    changed = True
    while changed:
        changed = False
        for value, group in groups.items():
            op = value.defining_op
            carried = op is None and value.owner is not func.block  # a function's argument has the layout of its type
            if isinstance(value.type, MemRefType) and (carried or isinstance(op, (scf.Loop, scf.If))):
                continue
            source = op.operand(0) if isinstance(op, memref.Cast) else value
            new = known.get(groups[source]) if source is not value and source in groups else layout_of(source, sizes)
            old = known.get(group)
            if new is not None and old is not None:
                new = tuple(a if a == b else None for a, b in zip(old, new, strict=True))
            if new is not None and new != old:
                known[group], changed = new, True
    for value, group in groups.items():
        if (layout := known.get(group)) is not None:
            value.type = replace(value.memref_type, strides=layout[:-1], offset=layout[-1])


def layout_of(buffer: Value, sizes: set[Sym]) -> Layout:
    """Strides and offset as far as they are constants or expressions of the arguments' sizes, which are valid
    everywhere."""
    type_ = buffer.memref_type
    return tuple(d if d is not None and sizes.issuperset(symbols(d)) else None for d in (*type_.strides, type_.offset))


def flowing_together(func: Func) -> dict[Value, Value]:
    """Memrefs that control flow passes on, and the casts and other values that enter there; each with one that stands
    for all that flow into one another."""
    parents: dict[Value, Value] = {}

    def find(value: Value) -> Value:
        while (parent := parents.setdefault(value, value)) is not value:
            value = parent
        return value

    for op in func.walk():
        if isinstance(op, (scf.Loop, scf.If)):
            for value in (*op.results, *(a for region in op.regions for a in region.block.args)):
                if isinstance(value.type, MemRefType):
                    for source in sources(value) or ():
                        parents[find(source)] = find(value)
    return {value: find(value) for value in list(parents)}
