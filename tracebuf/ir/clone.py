"""Deep copies of ops, regions and functions. MLIR counterpart: Operation::clone with an IRMapping."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tracebuf.ir.core import Block, Op, Region, Value
from tracebuf.ir.func import Func


def clone_op(
    op: Op, mapping: dict[Value, Value], add: Callable[[Op], Op], blocks: Mapping[Block, Block] | None = None
) -> Op:
    """A deep copy of `op` with its operands mapped; its results are added to the mapping. `blocks` maps successors."""
    regions = [clone_region(r, mapping) for r in op.regions]
    operands, types = [mapping.get(v, v) for v in op.operands], [r.type for r in op.results]
    successors = [(blocks or {}).get(b, b) for b in op.successors]
    new = type(op).rebuilt(operands, types, op.loc, dict(op.attrs), regions, successors)
    for old, fresh in zip(op.results, new.results, strict=True):
        fresh.name = old.name
        mapping[old] = fresh
    add(new)
    return new


def clone_region(region: Region, mapping: dict[Value, Value]) -> Region:
    """A deep copy of a region; values from outside it are mapped where `mapping` names them."""
    blocks = {block: Block([a.type for a in block.args]) for block in region.blocks}
    for block, copy in blocks.items():
        for old, new in zip(block.args, copy.args, strict=True):
            mapping[old], new.name = new, old.name
    for block, copy in blocks.items():
        for op in block.ops:
            clone_op(op, mapping, lambda new, copy=copy: (copy.append(new), new)[1], blocks)  # type: ignore[misc]
    made = Region(*blocks.values())
    if len(blocks) > 1:  # a block may stand before the one that defines what it uses
        for op in made.walk():
            for use in op.uses:
                if use.value in mapping:
                    use.set(mapping[use.value])
    return made


def clone_func(func: Func) -> tuple[Func, dict[Value, Value]]:
    """A deep copy of a function with the mapping from old values to new."""
    new = Func(func.name, [a.type for a in func.args], func.loc, func.results)
    new.result_attrs = [dict(a) for a in func.result_attrs]
    mapping: dict[Value, Value] = {}
    new.body = clone_region(func.body, mapping)
    new.arg_attrs, new.attrs = [dict(a) for a in func.arg_attrs], dict(func.attrs)
    new.symbols = {s: mapping[v] for s, v in func.symbols.items()}
    new.callees = tuple(clone_func(f)[0] for f in func.callees)
    return new, mapping
