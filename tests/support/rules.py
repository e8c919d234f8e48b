"""Smallest functions for the rules of the analysis, and what it decides on them."""

from __future__ import annotations

from tests.support.ir_programs import Maker
from tracebuf.analysis.one_shot.one_shot import one_shot
from tracebuf.ir.core import Value
from tracebuf.ir.func import Func
from tracebuf.ops.control import func
from tracebuf.ops.scalars import arith


def out_of_place(f: Func, **options: object) -> list[str]:
    """The operands that are not in place, as "op#operand", in program order."""
    analysis = one_shot(f, **options)  # type: ignore[arg-type]
    return [
        f"{op.name.split('.')[1]}#{u.index}" for op in f.walk() for u in op.tensor_uses() if not analysis.is_in_place(u)
    ]


def maker(*, writable: bool = True, **args: object) -> Maker:
    m = Maker("f", **args)  # type: ignore[arg-type]
    for attrs in m.func.arg_attrs:
        attrs["bufferization.writable"] = writable
    return m


def finish(m: Maker, *results: Value) -> Func:
    m.builder.add(func.Return.of(results, m.loc()))
    return m.func


def double(m: Maker, a: Value, out: Value) -> Value:
    return m.ew(arith.AddF, a, a, out=out)
