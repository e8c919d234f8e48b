"""What is wrong with an op of MLIR text beyond what its class verifies, which programs of the tracer need not keep.
MLIR counterpart: the traits and verifiers of ODS."""

from __future__ import annotations

from tracebuf.frontends.mlir import memory_rules, number_rules
from tracebuf.ir.core import Op
from tracebuf.ir.types import ShapedType
from tracebuf.ops.arrays.linalg import Generic
from tracebuf.ops.arrays.named import NamedOp

LOOPS = ("parallel", "reduction", "window")


def structured(op: Op) -> str:
    """linalg.generic and its like: constant sizes along one loop are equal."""
    try:
        known = op.indexing() if isinstance(op, NamedOp) else None
    except (AssertionError, AttributeError, IndexError, KeyError, TypeError, ValueError):
        return "its attributes do not say which loops its operands are along"
    found = (op.maps, op.iterators) if isinstance(op, Generic) else known
    if found is None:
        return ""
    for kind in found[1]:
        if kind not in LOOPS:
            return f"`{kind}` is no kind of loop"
    sizes: dict[int, int] = {}
    for use, map_ in zip(op.uses, found[0]):
        if not isinstance(use.value.type, ShapedType) or map_.whole:
            continue
        for loop, size in zip(map_.results, use.value.type.shape):
            if loop is not None and isinstance(size, int) and sizes.setdefault(loop, size) != size:
                return f"the operands have the sizes {sizes[loop]} and {size} along loop {loop}"
    return ""


RULES = memory_rules.RULES | number_rules.RULES


def problem(op: Op) -> str:
    """What is wrong, or the empty string."""
    if op.name not in Op.registry:
        return ""
    rule = RULES.get(op.name)
    return rule(op) if rule is not None else structured(op) if op.name.startswith("linalg.") else ""
