"""Common subexpressions: of equal pure ops the first stays, where it dominates the other.

Value numbering, scoped by dominance, of scalars, sizes, views and single elements. What reads memory is merged within a
block, and where nothing may write between the two. Ops that begin or change a storage
are not merged (`tensor.empty`, destination-style ops, inserts), because identity is not value (rule S3): `return
np.zeros(3), np.zeros(3)` must return two arrays. MLIR counterpart: -cse, which does merge them (behaviour 49).
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Callable, Hashable, MutableMapping
from typing import Any

from tracebuf.analysis.flow.blocks import Dominance
from tracebuf.ir.attributes import Attr
from tracebuf.ir.core import Block, Op, Region, Value
from tracebuf.ir.effects import is_effect_free, may_write, only_reads
from tracebuf.ir.func import Func
from tracebuf.ops.arrays import linalg, tensor
from tracebuf.ops.scalars import arith

_Seen = MutableMapping[Hashable, Op]


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
    views = tensor.ExtractSlice | tensor.Cast | tensor.Regrouping
    return isinstance(op, arith.ScalarOp | linalg.Index | tensor.Dim | views | tensor.Extract)


def merged_by_mlir(op: Op) -> bool:
    """What MLIR merges: whatever at most reads memory, `tensor.empty` too (behaviour 49). It knows values only, so that
    two results may become one buffer. Ops with regions are not merged here."""
    return not op.regions and not op.terminator and only_reads(op) and not op.may_raise


def _key(op: Op) -> Hashable:
    attrs = tuple((k, _exact(v)) for k, v in sorted(op.attrs.items()))
    return type(op), tuple(map(id, op.operands)), attrs, tuple(r.type for r in op.results)


def _exact(value: Any) -> Hashable:
    """Tells 0.0 from -0.0, and True from 1 from 1.0; NaNs are equal. MLIR's attributes are their text."""
    if isinstance(value, Attr):
        return value.text
    return (type(value), repr(value)) if isinstance(value, bool | int | float | complex) else value


def _merge_blocks(region: Region, seen: _Seen, renamed: dict[Value, Value], merges: Callable[[Op], bool]) -> None:
    if not region.blocks:
        return None
    if len(region.blocks) == 1:
        return _merge(region.block, ChainMap({}, seen) if seen else {}, renamed, merges)
    dominance, inside = Dominance(), dict[Block, _Seen]()
    for block in region.in_order():
        above = dominance.immediate(block)
        inside[block] = ChainMap({}, seen if above is None else inside[above])
        _merge(block, inside[block], renamed, merges)


def _merge(block: Block, seen: _Seen, renamed: dict[Value, Value], merges: Callable[[Op], bool]) -> None:
    kept: list[Op] = []
    writes = 0
    for op in block.ops:
        if merges(op):
            memory = None if is_effect_free(op) else (block, writes)
            first = seen.setdefault((_key(op), memory), op)
            if first is not op:
                for old, new in zip(op.results, first.results, strict=True):
                    old.replace_all_uses(new)
                    renamed[old] = new
                op.drop_uses()
                op.block = None
                continue
        kept.append(op)
        writes += may_write(op)
        for region in op.regions:
            _merge_blocks(region, {} if isinstance(op, linalg.Generic) else seen, renamed, merges)
    if len(kept) != len(block.ops):
        block.replace_ops(kept)
