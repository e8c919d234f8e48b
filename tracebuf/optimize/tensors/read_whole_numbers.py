"""Where the parts of complex numbers are stored over the numbers themselves, the numbers are read (`z[:] = z.imag`).

A part is a slice of another tensor, the numbers recast as pairs: which elements of it the result overwrites is not
seen. Read as whole numbers, of which the body takes the part, each element is computed from the one that it replaces,
and needs no buffer. For eliminate-empty-tensors alone: elsewhere a part is half as much to read. MLIR has no such view.
"""

from __future__ import annotations

from tracebuf.ir.core import Use, Value
from tracebuf.ops.arrays import tensor
from tracebuf.ops.arrays.bufferization import MaterializeInDestination
from tracebuf.ops.arrays.linalg import Generic
from tracebuf.ops.arrays.recast import Recast
from tracebuf.ops.scalars import complex

Part = type[complex.Re] | type[complex.Im]


def read_whole_numbers(store: tensor.InsertSlice | MaterializeInDestination) -> None:
    """Rewrites the operands of the op that computes what is stored, where they are parts of what is stored over."""
    op = store.operand(0).defining_op
    if not isinstance(op, Generic):
        return
    for use in op.uses[: op.n_ins]:
        if (found := whole_of(use.value)) is not None and is_stored_over(found[0], store):
            read_from(use, *found)


def whole_of(part: Value) -> tuple[Value, Part] | None:
    """The complex tensor that a value is the real or the imaginary part of, and which."""
    taken = part.defining_op
    pairs = taken.source.defining_op if isinstance(taken, tensor.ExtractSlice) else None
    if not isinstance(taken, tensor.ExtractSlice) or not isinstance(pairs, Recast):
        return None
    whole, cut = pairs.source, taken.slice
    ndim = len(whole.tensor_type.shape)
    if not whole.tensor_type.element.is_complex or pairs.result.tensor_type.element.is_complex:
        return None
    all_of_it = (
        cut.dims == tuple(range(ndim))
        and all(o == 0 for o in cut.offsets[:ndim])
        and all(s == 1 for s in cut.strides[:ndim])
        and isinstance(cut.offsets[ndim], int)
        and part.tensor_type.shape == whole.tensor_type.shape
    )
    if not all_of_it:
        return None
    return whole, complex.Re if cut.offsets[ndim] == 0 else complex.Im


def is_stored_over(whole: Value, store: tensor.InsertSlice | MaterializeInDestination) -> bool:
    """Whether a tensor is what a store replaces."""
    if isinstance(store, MaterializeInDestination) or whole is store.dest:
        return whole is store.operand(1)
    cut = whole.defining_op
    return isinstance(cut, tensor.ExtractSlice) and cut.source is store.dest and cut.slice == store.slice


def read_from(use: Use, whole: Value, part: Part) -> None:
    """Reads an operand from the complex tensor; the body takes the part."""
    assert isinstance(use.op, Generic)
    body, element = use.op.body, whole.tensor_type.element
    arg = body.args[use.index]
    taken = part.of(arg, use.op.loc)
    taken.result.type, arg.type = arg.type, element
    arg.replace_all_uses(taken.result, unless=taken)
    body.insert(0, taken)
    use.set(whole)
