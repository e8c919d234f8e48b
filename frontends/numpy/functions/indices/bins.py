"""The loop of np.histogram with bins of equal width (numpy/lib/_histograms_impl.py): the bin of each element, as NumPy
finds it, is counted or gets the weight in place."""

from __future__ import annotations

from typing import Any

import numpy as np

from tracebuf.frontends.numpy.functions.indices.gathers import Loops, Stored
from tracebuf.frontends.numpy.numbers.operands import scalar_value
from tracebuf.frontends.numpy.record.recorder import Recorder
from tracebuf.frontends.numpy.record.values import ArrayRef, NpScalar
from tracebuf.ir.core import Value
from tracebuf.ir.dims import sub
from tracebuf.ir.types import I1, I64, INDEX, scalar_type
from tracebuf.ops.arrays import gather
from tracebuf.ops.scalars import arith


def count_in_bins(
    r: Recorder,
    x: ArrayRef,
    weights: ArrayRef | None,
    counts: ArrayRef,
    edges: ArrayRef,
    ends: Any,
    width: NpScalar | np.floating[Any],
) -> None:
    """Adds 1, or its weight, to the count of the bin of each element between the ends, which are finite and rise.
    Elements are compared in the dtype of the edges; places are computed in that of `width`, the ends' distance."""
    loops = Loops(r, x.shape)
    body, kind = loops.body, edges.element
    first, last = (loops.scalar(scalar_value(r, end, kind)) for end in ends)
    exact = scalar_type(width.dtype)
    distance = loops.scalar(scalar_value(r, width, exact))
    bins = loops.scalar(r.i64(counts.shape[0]))
    last_bin = loops.scalar(r.i64(sub(counts.shape[0], 1)))
    bounds = loops.whole(edges)
    given = loops.read(weights, 0, x.shape) if weights is not None else None
    at = body.cast(loops.read(x, 0, x.shape), kind)
    zero, one = body.constant(0, I64), body.constant(1, I64)
    after, before = body.add(arith.CmpF.of("oge", at, first)), body.add(arith.CmpF.of("ole", at, last))
    inside = body.add(arith.AndI.of(after, before))

    def bound(place: Value) -> Value:
        return body.add(gather.Element.of(bounds, [body.add(arith.IndexCast.of(place, INDEX))]))

    def one_if(holds: Value) -> Value:
        return body.cast(holds, I64)

    def store(held: Value, step: Value) -> Stored:
        share = body.add(arith.DivF.of(body.cast(body.add(arith.SubF.of(at, first)), exact), distance))
        place = body.cast(body.add(arith.MulF.of(share, body.cast(bins, exact))), I64)
        place = body.add(arith.MaxSI.of(body.add(arith.MinSI.of(place, last_bin)), zero))
        below = one_if(body.add(arith.CmpF.of("olt", at, bound(place))))
        place = body.add(arith.MaxSI.of(body.add(arith.SubI.of(place, below)), zero))
        above = body.add(arith.CmpF.of("oge", at, bound(body.add(arith.AddI.of(place, one)))))
        above = body.add(arith.AndI.of(above, body.add(arith.CmpI.of("ne", place, last_bin))))
        where = body.add(arith.IndexCast.of(body.add(arith.AddI.of(place, one_if(above))), INDEX))
        old = body.add(gather.Element.of(held, [where]))
        new = arith.AddI.of(old, one) if given is None else arith.AddF.of(old, body.cast(given, counts.element))
        return inside, body.constant(False, I1), body.add(new), [where]

    r.store(counts, loops.scatter(r.read(counts), store))
