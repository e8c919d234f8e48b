"""`ufunc.accumulate`, np.cumsum and np.cumprod: each element is folded, in order, into those before it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from operator import methodcaller
from typing import Any

import numpy as np

from tracebuf.frontends.numpy.arrays.new_arrays import copy_of, filled
from tracebuf.frontends.numpy.functions.reductions.reduce import NEUTRAL, deliver, reduction_dtypes
from tracebuf.frontends.numpy.numbers.bodies import Body
from tracebuf.frontends.numpy.numbers.complexes import rounded_product
from tracebuf.frontends.numpy.numbers.exponents import check_exponents
from tracebuf.frontends.numpy.numbers.generics import build, convert_to, result_order
from tracebuf.frontends.numpy.numbers.operands import supported
from tracebuf.frontends.numpy.numbers.rules import apply_rule, rule_of
from tracebuf.frontends.numpy.record.raises import ask
from tracebuf.frontends.numpy.record.recorder import Recorder
from tracebuf.frontends.numpy.record.values import ArrayRef
from tracebuf.ir.core import Block, Value
from tracebuf.ir.dims import Dim, dim_max, sub
from tracebuf.ir.types import I64, ScalarType
from tracebuf.ops.arrays import linalg
from tracebuf.ops.scalars import arith

WRONG_SIZE = "provided out is the wrong size for the accumulation."
NO_AXES = "Iterator input op_axes[0][0] (==0) is not a valid axis of op[0], which has 0 dimensions "


def accumulate(
    r: Recorder, ufunc: np.ufunc, ref: ArrayRef, axis: int, dtype: Any = None, out: ArrayRef | None = None
) -> ArrayRef:
    """`ufunc.accumulate` along an axis: row by row where rows are contiguous in memory, else in each vector along the
    axis, so that nothing but the result is allocated. In each vector, too, where the loop is NumPy's own, which may
    give other bits where it computes several elements at once."""
    wanted = None if dtype is None else ask(np.dtype, dtype)
    if out is not None:
        r.check_writable(out, "output array")
    if out is not None and ref.ndim == 1:
        if out.ndim != 1:
            r.fail("ValueError", WRONG_SIZE if out.ndim else NO_AXES)
        r.require_equal(out.shape[0], ref.shape[0], "ValueError", WRONG_SIZE)
    if ufunc in NEUTRAL:
        loop, _ = reduction_dtypes(ufunc, ref.dtype, wanted, None if out is None else out.dtype)
    else:
        loop = running_dtype(ufunc, ref.dtype, wanted, None if out is None else out.dtype)
        if out is not None and out.dtype != loop:
            reason = f"np.{ufunc.__name__}.accumulate into another dtype than it folds in"
            raise r.refuse(reason, f"out[...] = np.{ufunc.__name__}.accumulate(a)")
    element = supported(loop, f"the {ufunc.__name__} of this array", r.loc)
    if ufunc is np.power and loop.kind == "i" and r.ask_nonneg(sub(ref.shape[axis], 1)) is not False:
        behind = ref.derive(methodcaller("narrow", axis, 1, 1, r.facts.simplify(dim_max(sub(ref.shape[axis], 1), 0))))
        check_exponents(r, behind if behind.element is element else copy_of(r, behind, element, range(ref.ndim)))
    if ref.ndim == 1:
        value = totals(r, ufunc, ref, element)
        result = ArrayRef(r.new_storage(element, ref.shape, (0,), value))
    else:
        order = result_order(r, [ref], ref.ndim)
        if out is not None and out.element is element and out.same(ref):
            result = out  # as NumPy does, which reads an element before it writes it
        else:
            result = filled(r, ref.shape, element, None, order)
        own = rule_of(ufunc, (element.dtype,) * 2) is not None
        if own and order[-1] != axis and r.ask_nonneg(sub(ref.shape[axis], 1)):
            by_rows(r, ufunc, ref, axis, result)
        else:
            by_vectors(r, ufunc, ref, axis, result, order)
    return result if out is None or result is out else deliver(r, result, out, ufunc.__name__)  # type: ignore[return-value]


@lru_cache(maxsize=1024)
def running_dtype(ufunc: np.ufunc, dtype: np.dtype, wanted: np.dtype | None, out: np.dtype | None) -> np.dtype:
    """The dtype of the accumulator, from NumPy itself (rule N5); NumPy's TypeErrors."""
    ask(ufunc.accumulate, np.ones(2, dtype), dtype=wanted, out=None if out is None else np.ones(2, out))
    forced: dict[str, Any] = {} if wanted is None else {"signature": (wanted, None, wanted)}
    return ask(ufunc.resolve_dtypes, (out or dtype, dtype, None), casting="unsafe", **forced)[-1]


def step(ufunc: np.ufunc, body: Body, total: Value, item: Value, element: ScalarType) -> Value:
    """ufunc(total, item), with NumPy's bits where it goes from element to element."""
    if element.is_complex and ufunc is np.multiply:
        return rounded_product(body, total, item)
    return apply_rule(ufunc, body, [total, item], (element.dtype,) * 3)


def by_rows(r: Recorder, ufunc: np.ufunc, ref: ArrayRef, axis: int, result: ArrayRef) -> None:
    """result[0] = ref[0]; result[i] = ufunc(result[i - 1], ref[i]). There is at least one row."""
    element = result.element
    first = result.at({axis: 0})
    r.store(first, convert_to(r, ref.at({axis: 0}), element, first.shape, fresh=True))

    def combine(body: Body, args: list[Value]) -> Value:
        return step(ufunc, body, args[0], body.cast(args[1], element), element)

    def row(i: Dim) -> None:
        operands = [result.at({axis: sub(i, 1)}), ref.at({axis: i})]
        build(r, combine, operands, [element, element], element, result.at({axis: i}))

    r.for_each(1, ref.shape[axis], row)


def by_vectors(
    r: Recorder, ufunc: np.ufunc, ref: ArrayRef, axis: int, result: ArrayRef, order: Sequence[int]
) -> None:
    """Accumulates each vector along the axis by itself, over the other axes in this order."""
    others = [a for a in order if a != axis]

    def vector(places: Sequence[Dim]) -> None:
        where = dict(zip(others, places))
        r.store(result.at(where), totals(r, ufunc, ref.at(where), result.element))

    r.for_all([ref.shape[a] for a in others], vector)


def totals(r: Recorder, ufunc: np.ufunc, vector: ArrayRef, element: ScalarType) -> Value:
    """One linalg.generic with two outs: the running total, which does not vary in the loop, and the result."""
    neutral = NEUTRAL.get(ufunc)
    start = r.constant(element.dtype.type(1).item() if neutral is None else neutral(element.dtype).item(), element)
    total = r.emit(linalg.Fill.of(start, r.empty(element, ())))
    block = Block([vector.element, element, element])
    body = Body(block, r.loc)
    item = body.cast(block.args[0], element)
    new = step(ufunc, body, block.args[1], item, element)
    chosen = new.defining_op
    if element.is_complex and ufunc in (np.fmax, np.fmin) and isinstance(chosen, arith.Select):
        # the first element stands for itself, for no NaN is neutral
        later = body.add(arith.CmpI.of("ne", body.index(0), body.constant(0, I64)))
        keeps, *values = chosen.operands
        new = body.add(arith.Select.of(body.add(arith.AndI.of(later, keeps)), values[0], values[1]))
    elif neutral is None or (element.is_complex and ufunc is np.multiply):  # here too: 1 times infinity has NaN in it
        first = body.add(arith.CmpI.of("eq", body.index(0), body.constant(0, I64)))
        new = body.add(arith.Select.of(first, item, new))
    block.append(linalg.Yield.of([new, new], r.loc))
    maps = [linalg.identity_map(1), linalg.AffineMap(1, ()), linalg.identity_map(1)]
    outs = [total, r.empty(element, vector.shape)]
    return r.add(linalg.Generic.of([r.read(vector)], outs, maps, ["reduction"], block)).results[1]
