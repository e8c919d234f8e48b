"""scf.for of integers, or that compares its bounds as unsigned, becomes scf.for of indices that compare as signed,
which is all that native code knows. MLIR has no counterpart: -convert-scf-to-cf takes the integers as they are."""

from __future__ import annotations

from tracebuf.errors import UnsupportedError
from tracebuf.ir.core import Op, Value
from tracebuf.ir.func import Func
from tracebuf.ir.types import INDEX, ScalarType
from tracebuf.ops.control import scf
from tracebuf.ops.scalars import arith
from tracebuf.ops.scalars.casts import IndexCastUI


def lower_loops(func: Func) -> None:
    """Rewrites each such loop in place."""
    for op in [o for o in func.walk() if isinstance(o, scf.For)]:
        unsigned, type_ = op.attrs.pop("unsignedCmp", None) is not None, op.body.args[0].type
        assert isinstance(type_, ScalarType)
        if type_ is not INDEX:
            _count_in_indices(op, type_, IndexCastUI if unsigned else arith.IndexCast)
        if unsigned and (type_ is INDEX or type_.dtype.itemsize == INDEX.dtype.itemsize):
            raise UnsupportedError("scf.for that compares whole words as unsigned is not run", location=op.loc)


def _count_in_indices(op: scf.For, type_: ScalarType, cast: type[arith.CastOp]) -> None:
    """The bounds, extended, are indices; the body cuts its own."""
    for use in op.uses[:3]:
        use.set(_before(op, cast.of(use.value, INDEX, op.loc)))
    counter = op.body.args[0]
    counter.type = INDEX
    _replace_in_body(op, [arith.IndexCast.of(counter, type_, op.loc)])


def _before(op: scf.For, new: Op) -> Value:
    assert op.block is not None
    op.block.insert_before(op, new)
    return new.result


def _replace_in_body(op: scf.For, ops: list[Op]) -> None:
    """Where the body uses its index it takes the last op's result, which is made of that."""
    made = {use for new in ops for use in new.uses}
    for use in list(op.body.args[0].uses):
        if use not in made:
            use.set(ops[-1].result)
    op.body.replace_ops([*ops, *op.body.ops])
