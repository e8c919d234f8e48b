"""The loops of np.interp (arr_interp in numpy/_core/src/multiarray/compiled_base.c)."""

from __future__ import annotations

from typing import Any

from tracebuf.frontends.numpy.arrays.new_arrays import as_array
from tracebuf.frontends.numpy.functions.indices.gathers import Loops
from tracebuf.frontends.numpy.numbers.operands import scalar_value
from tracebuf.frontends.numpy.record.recorder import Recorder
from tracebuf.frontends.numpy.record.values import ArrayRef, NpScalar
from tracebuf.ir.core import Value
from tracebuf.ir.dims import sub
from tracebuf.ir.types import F64, I64, INDEX
from tracebuf.ops.arrays import gather
from tracebuf.ops.scalars import arith


def interpolated(r: Recorder, x: Any, xp: ArrayRef, fp: ArrayRef, left: Any, right: Any) -> Any:
    """The values at x of the lines through points (xp, fp), two or more; `left` and `right` of them, those beside.
    A place is mostly near the one before."""
    alone = not isinstance(x, ArrayRef) or not x.ndim
    if alone:
        x = as_array(r, x).derive(lambda view: view.new_axis(0))
    loops = Loops(r, x.shape)
    body = loops.body

    def choose(holds: Value, a: Value, b: Value) -> Value:
        return body.add(arith.Select.of(holds, a, b))

    def compare(how: str, a: Value, b: Value) -> Value:
        return body.add(arith.CmpF.of(how, a, b))

    def line(slope: Value, x0: Value, y0: Value) -> Value:
        return body.add(arith.AddF.of(body.add(arith.MulF.of(slope, body.add(arith.SubF.of(at, x0)))), y0))

    at, xs, ys = loops.read(x, 0, x.shape), loops.whole(xp), loops.whole(fp)
    low, high = (loops.scalar(scalar_value(r, v, F64)) for v in (left, right))
    place = body.add(arith.IndexCast.of(body.add(gather.SortedPlace.of(xs, at, right=True, rising=True)), I64))
    last, one = body.add(arith.IndexCast.of(loops.size(sub(xp.shape[0], 1)), I64)), body.constant(1, I64)
    after = body.add(arith.MinSI.of(body.add(arith.MaxSI.of(place, one)), last))
    before = body.add(arith.SubI.of(after, one))
    ends = [body.add(arith.IndexCast.of(i, INDEX)) for i in (before, after, last)]
    (x0, y0), (x1, y1), (x2, y2) = ([body.add(gather.Element.of(v, [i])) for v in (xs, ys)] for i in ends)
    slope = body.add(arith.DivF.of(body.add(arith.SubF.of(y1, y0)), body.add(arith.SubF.of(x1, x0))))
    value = line(slope, x0, y0)
    value = choose(compare("uno", value, value), line(slope, x1, y1), value)
    same = body.add(arith.AndI.of(compare("uno", value, value), compare("oeq", y0, y1)))
    value = choose(compare("oeq", at, x0), y0, choose(same, y0, value))
    value = choose(compare("oge", at, x2), choose(compare("oeq", at, x2), y2, high), value)
    first = body.add(arith.CmpI.of("slt", place, one))
    value = choose(body.add(arith.AndI.of(first, compare("olt", at, x0))), low, value)  # a point may be at NaN
    value = choose(compare("uno", at, at), at, value)
    found = loops.generic(r.empty(F64, loops.shape), value)
    made = ArrayRef(r.new_storage(F64, loops.shape, range(len(loops.shape)), found))
    return NpScalar(r.load(made, (0,)), F64) if alone else made
