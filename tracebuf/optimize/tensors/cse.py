"""Common subexpressions: of equal pure ops the first stays, where it dominates the other.

Value numbering, scoped by dominance, of scalars, sizes, views and single elements. What reads memory is merged within a
block, and where nothing may write between the two. Ops that begin or change a storage
are not merged (`tensor.empty`, destination-style ops, inserts), because identity is not value (rule S3): `return
np.zeros(3), np.zeros(3)` must return two arrays. MLIR counterpart: -cse, which does merge them (behaviour 49).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

from tracebuf.analysis.flow.blocks import Dominance
from tracebuf.ir.attributes import Attr
from tracebuf.ir.core import Block, Op, Region, Value
from tracebuf.ir.effects import is_effect_free, may_write, only_reads
from tracebuf.ir.func import Func
from tracebuf.ops.arrays import linalg, tensor
from tracebuf.ops.scalars import arith

_Seen = dict[Hashable, Op]
"""The first of equal ops, by what they are: those before, in the block and around it."""
_VALUES = (
    arith.ScalarOp, linalg.Index, tensor.Dim, tensor.ExtractSlice, tensor.Cast, tensor.Regrouping, tensor.Extract,
)  # fmt: skip


def cse(func: Func, merges: Callable[[Op], bool] | None = None) -> None:
    """Merges equal ops, of those that `merges` names (`may_merge`, else); blocks inside others see what stands before
    them, a scalar body sees itself alone, and of blocks that branch to one another each sees those that dominate it."""
    renamed: dict[Value, Value] = {}
    _merge_blocks(func.body, {}, renamed, merges or may_merge)
    for symbol, value in func.symbols.items():
        func.symbols[symbol] = renamed.get(value, value)


def merge_in_body(body: Block) -> None:
    """Merges equal ops in the body of one linalg.generic (fusion often brings equal ops together)."""
    _merge(body, {}, {}, may_merge)


def may_merge(op: Op) -> bool:
    """Only what neither begins a storage nor makes a version of one may be merged (rule S3).

    Two fills, two sums of the same operands, two copies with the same store are equal values and different arrays: each
    may be returned, or stored through later.
    """
    return isinstance(op, _VALUES)


def merged_by_mlir(op: Op) -> bool:
    """What MLIR merges: whatever at most reads memory, `tensor.empty` too (behaviour 49). It knows values only, so that
    two results may become one buffer. Ops with regions are not merged here."""
    return not op.regions and not op.terminator and only_reads(op) and not op.may_raise


def _key(op: Op) -> Hashable:
    attrs = tuple([(k, _exact(v)) for k, v in sorted(op.attrs.items())]) if op.attrs else ()
    return type(op), tuple([id(u.value) for u in op.uses]), attrs, tuple([r.type for r in op.results])


def _exact(value: Any) -> Hashable:
    """Tells 0.0 from -0.0, and True from 1 from 1.0; NaNs are equal. MLIR's attributes are their text."""
    if isinstance(value, Attr):
        return value.text
    return (type(value), repr(value)) if isinstance(value, bool | int | float | complex) else value


def _merge_blocks(region: Region, seen: _Seen, renamed: dict[Value, Value], merges: Callable[[Op], bool]) -> None:
    if not region.blocks:
        return
    if len(region.blocks) == 1:
        around = len(seen)
        _merge(region.block, seen, renamed, merges)
        while len(seen) > around:  # what was added last
            seen.popitem()
        return
    dominance, inside = Dominance(), dict[Block, _Seen]()
    for block in region.in_order():
        above = dominance.immediate(block)
        inside[block] = dict(seen if above is None else inside[above])
        _merge(block, inside[block], renamed, merges)


def _merge(block: Block, seen: _Seen, renamed: dict[Value, Value], merges: Callable[[Op], bool]) -> None:
    kept: list[Op] = []
    writes = looked_at = 0
    for op in block.ops:
        if merges(op):
            memory = None
            if not is_effect_free(op):
                writes += sum(map(may_write, kept[looked_at:]))
                looked_at, memory = len(kept), (block, writes)
            first = seen.setdefault((_key(op), memory), op)
            if first is not op:
                for old, new in zip(op.results, first.results, strict=True):
                    old.replace_all_uses(new)
                    renamed[old] = new
                op.drop_uses()
                op.block = None
                continue
        kept.append(op)
        for region in op.regions:
            _merge_blocks(region, {} if isinstance(op, linalg.Generic) else seen, renamed, merges)
    if len(kept) != len(block.ops):
        block.replace_ops(kept)
