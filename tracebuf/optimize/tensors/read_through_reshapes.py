"""One element of a reshaped array is read from the array itself.

An `extract` at constant indices of a `collapse_shape` becomes one at constant indices of the source. Why: where the
source's strides do not allow the view, as those of a part of a matrix do not, all of it would be copied for one
element. Not for indices known at run time only, where dividing by sizes may cost more than the copy. MLIR copies
(behaviour 12).
"""

from __future__ import annotations

from tracebuf.ir.core import Value
from tracebuf.ir.dims import Dim
from tracebuf.ir.func import Func
from tracebuf.ir.types import INDEX
from tracebuf.ops.arrays import tensor
from tracebuf.ops.scalars import arith


def read_through_reshapes(func: Func) -> None:
    """Rewrites every such read, and drops the reshapes that are unused then."""
    for op in list(func.walk()):
        if not isinstance(op, tensor.Extract) or op.block is None:
            continue
        while isinstance(made := op.operand(0).defining_op, tensor.CollapseShape):
            places = places_in_source(made, op.operands[1:])
            if places is None:
                break
            indices = [arith.Constant.of(place, INDEX, op.loc) for place in places]
            for index in indices:
                op.block.insert_before(op, index)
            op.set_operands([made.source, *(index.result for index in indices)])
            if not made.result.uses:
                made.erase()


def places_in_source(op: tensor.CollapseShape, indices: list[Value]) -> list[int] | None:
    """The indices in the source of the element at `indices` of the result; None where they are not constant."""
    shape, places = op.source.tensor_type.shape, list[int]()
    for group, index in zip(op.attrs["groups"], indices, strict=True):
        maker = index.defining_op
        if not isinstance(maker, arith.Constant):
            return None
        found = divided(int(maker.attrs["value"]), [shape[axis] for axis in group])
        if found is None:
            return None
        places += found
    return places


def divided(place: int, sizes: list[Dim]) -> list[int] | None:
    """The index along each of the axes that one axis stands for; the first size need not be known."""
    places: list[int] = []
    for size in reversed(sizes[1:]):
        if not isinstance(size, int) or size == 0:
            return None
        place, rest = divmod(place, size)
        places.append(rest)
    return [place, *reversed(places)]
