"""Named linalg ops become linalg.generic, and what a body takes from outside becomes an input of its op.

Why: everything that runs a program (loops, fusion, interpreters, native code) knows one structured op, whose body sees
its own arguments only; MLIR text has a hundred names, and bodies that use what stands around them. An op whose body
looks into tensors, or whose maps are more than that (convolutions, pooling), becomes loops. Not for ops without a
region. MLIR counterpart: LinalgGeneralizeNamedOps.
"""

from __future__ import annotations

from tracebuf.errors import UnsupportedError
from tracebuf.ir.core import Use, Value
from tracebuf.ir.func import Func
from tracebuf.ir.types import ScalarType, ShapedType
from tracebuf.ops.arrays.linalg import AffineMap, Generic
from tracebuf.ops.arrays.named import NamedOp
from tracebuf.optimize.mlir.generic_loops import to_loops


def generalize(func: Func) -> None:
    """Rewrites every linalg op with a region whose maps `AffineMap` can express. Raises UnsupportedError for a body
    that captures something else than scalars and tensors."""
    for op in list(func.walk()):
        if isinstance(op, NamedOp) and op.indexing() is not None:
            general = op.generalized()
            assert op.block is not None
            op.block.insert_before(op, general)
            for old, new in zip(op.results, general.results, strict=True):
                new.name = old.name
                old.replace_all_uses(new)
            op.erase()
            op = general
        if isinstance(op, Generic):
            captured = captures(op)
            if any(isinstance(v.type, ShapedType) for v in captured) or not all(m.runs for m in op.maps):
                to_loops(op)
            elif captured:
                take_captures(op, captured)


def captures(op: Generic) -> dict[Value, list[Use]]:
    """The values from outside that the body uses, and where."""
    inside = set(op.body.args) | {r for inner in op.walk() for r in inner.results}
    captured: dict[Value, list[Use]] = {}
    for inner in op.walk():
        for use in inner.uses:
            if use.value not in inside:
                captured.setdefault(use.value, []).append(use)
    return captured


def take_captures(op: Generic, captured: dict[Value, list[Use]]) -> None:
    """Adds an input for each scalar from outside."""
    n, operands, args = op.n_ins, op.operands, op.body.args
    for value, uses in captured.items():
        if not isinstance(value.type, ScalarType):
            raise UnsupportedError(f"the body of {op.name} uses a {value.type} from outside of it", location=op.loc)
        arg = op.body.add_arg(value.type)
        for use in uses:
            use.set(arg)
    op.set_operands([*operands[:n], *captured, *operands[n:]])
    taken = len(captured)
    op.body.args = [*args[:n], *args[-taken:], *args[n:-taken]]
    for i, arg in enumerate(op.body.args):
        arg.index = i
    scalar = AffineMap(len(op.iterators), ())
    op.attrs |= {"n_ins": n + taken, "maps": (*op.maps[:n], *(scalar,) * taken, *op.maps[n:])}
