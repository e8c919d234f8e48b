"""The place of the largest or least element along an axis that is cut (`np.argmax(x)`): NumPy's search takes whole
rows, so two reductions stand for it, the extreme, then the first place at which it is, or at which a NaN is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from tracebuf.dask.flow import shape_of
from tracebuf.dask.program import Program
from tracebuf.dask.split import symbol_of
from tracebuf.ir.core import Block, Op, Value
from tracebuf.ir.dims import Sym
from tracebuf.ir.types import I1, I64, ScalarType, TensorType
from tracebuf.ops.arrays import linalg, tensor
from tracebuf.ops.arrays.host import HostCall
from tracebuf.ops.memory.indexing import identity_map
from tracebuf.ops.scalars import arith
from tracebuf.running.host import ExtremeLoop

FAR = 2**63 - 1


def reduced_apart(program: Program, cut: frozenset[Sym]) -> Program | None:
    """The program whose searches along axes that are cut are reductions; None where there are none."""
    found = False
    for op in list(program.func.walk()):
        if not isinstance(op, HostCall) or not isinstance(loop := op.loop, ExtremeLoop) or len(op.results) != 1:
            continue
        source, empty = op.operand(0), op.operand(1).defining_op
        made = source.defining_op
        axes: tuple[int, ...] = (len(shape_of(source)) - 1,)
        if isinstance(made, tensor.Regrouping) and len(shape_of(source)) == 1:  # of the array as one row
            source, axes = made.source, tuple(range(len(shape_of(made.source))))
        element = source.tensor_type.element
        if element.is_complex or not isinstance(empty, tensor.Empty):
            continue
        if any(symbol_of(shape_of(source)[a]) in cut for a in axes):
            write_out(op, source, axes, empty, loop.name == "argmax")
            found = True
    return replace(program) if found else None


def write_out(op: HostCall, source: Value, axes: tuple[int, ...], empty: tensor.Empty, largest: bool) -> None:
    """Puts two reductions in the place of a search."""
    block, element, rank, loc = op.block, source.tensor_type.element, len(shape_of(source)), op.loc
    assert block is not None

    def add(new: Op) -> Value:
        assert block is not None
        block.insert_before(op, new)
        return new.result

    kept = linalg.AffineMap(rank, tuple(d for d in range(rank) if d not in axes))
    kinds = ["reduction" if d in axes else "parallel" for d in range(rank)]

    def reduce(start: Value, out: tensor.Empty, ins: list[tuple[Value, linalg.AffineMap]], fold: Fold) -> Value:
        types = [linalg.element_type(v.type) for v, _ in ins]
        body = Block([*types, out.result.tensor_type.element])

        def put(new: Op) -> Value:
            body.append(new)
            return new.result

        body.append(linalg.Yield.of([fold(put, body.args)], loc))
        begin = add(linalg.Fill.of(start, out.result, loc))
        maps = [*(m for _, m in ins), kept]
        return add(linalg.Generic.of([v for v, _ in ins], [begin], maps, kinds, body, loc))

    combine, start = extreme(element, largest)
    like = TensorType(empty.result.tensor_type.shape, element)
    first = tensor.Empty.of(like, empty.sizes, loc, empty.attrs["order"])
    add(first)
    row = [(source, identity_map(rank))]
    best = reduce(
        add(arith.Constant.of(start, element, loc)), first, row,
        lambda put, args: put(combine.of(args[1], args[0], loc)),  # type: ignore[attr-defined]
    )  # fmt: skip
    steps = [add(arith.Constant.of(1, I64, loc))]
    for a in reversed(axes[1:]):
        size = add(arith.IndexCast.of(add(tensor.Dim.of(source, a)), I64))
        steps.insert(0, add(arith.MulI.of(steps[0], size, loc)))

    def place(put: Callable[[Op], Value], args: list[Value]) -> Value:
        x, extreme, *by, old = args
        if element.is_float:
            same, nan = arith.CmpF.of("oeq", x, extreme), arith.CmpF.of("une", x, x)
            here = put(arith.OrI.of(put(same), put(nan)))
        else:
            here = put(arith.CmpI.of("eq", x, extreme))
        at = put(arith.Constant.of(0, I64))
        for a, step in zip(axes, by, strict=True):
            index = put(arith.IndexCast.of(put(linalg.Index.of(a)), I64))
            at = put(arith.AddI.of(at, put(arith.MulI.of(index, step))))
        return put(arith.MinSI.of(old, put(arith.Select.of(here, at, put(arith.Constant.of(FAR, I64))))))

    numbers = [(s, linalg.AffineMap(rank, ())) for s in steps]
    found = reduce(add(arith.Constant.of(FAR, I64, loc)), empty, [*row, (best, kept), *numbers], place)
    op.results[0].replace_all_uses(found)
    op.erase()


Fold = Callable[[Callable[[Op], Value], list[Value]], Value]


def extreme(element: ScalarType, largest: bool) -> tuple[type[Op], bool | int | float]:
    """The op that gives the larger or the lesser of two elements, and what it begins with."""
    if element is I1:
        return (arith.OrI, False) if largest else (arith.AndI, True)
    if element.is_float:
        return (arith.MaximumF, -np.inf) if largest else (arith.MinimumF, np.inf)
    limits = np.iinfo(element.dtype)
    if element.is_unsigned:
        return (arith.MaxUI, limits.min) if largest else (arith.MinUI, limits.max)
    return (arith.MaxSI, limits.min) if largest else (arith.MinSI, limits.max)
