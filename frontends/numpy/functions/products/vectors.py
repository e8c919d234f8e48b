"""Products of vectors in arrays: np.vecdot, np.matvec, np.vecmat; np.linalg.vecdot."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy._core import _exceptions

from tracebuf.frontends.numpy.arrays.axes import axis_of
from tracebuf.frontends.numpy.arrays.new_arrays import as_array, as_operand, copy_of, k_order
from tracebuf.frontends.numpy.arrays.shapes import moveaxis
from tracebuf.frontends.numpy.functions.products.contractions import (
    Labelled,
    contract_pair,
    fitted,
    label_sizes,
    sum_of_products,
)
from tracebuf.frontends.numpy.functions.products.matmul import matmul, put
from tracebuf.frontends.numpy.functions.reductions.reduce import deliver
from tracebuf.frontends.numpy.numbers.operands import Casting, supported, weak_type
from tracebuf.frontends.numpy.numbers.ufuncs import elementwise
from tracebuf.frontends.numpy.numbers.weak_ints import check_weak_int
from tracebuf.frontends.numpy.record.raises import Raises
from tracebuf.frontends.numpy.record.recorder import Recorder
from tracebuf.frontends.numpy.record.registry import traces
from tracebuf.frontends.numpy.record.values import ArrayRef, Scalar, axis_order

# -- generalised ufuncs of vectors

CORES: dict[np.ufunc, tuple[str, str, str]] = {
    np.vecdot: ("n", "n", ""), np.matvec: ("mn", "n", "m"), np.vecmat: ("n", "nm", "m")
}  # fmt: skip
"""By ufunc: the core axes (the last ones) of both operands and of the result."""


def check_cores(ufunc: np.ufunc, refs: Sequence[ArrayRef]) -> None:
    """Raises ValueError unless the operands have their core axes."""
    for k, (x, core) in enumerate(zip(refs, CORES[ufunc])):
        if x.ndim < len(core):
            text = f"Input operand {k} does not have enough dimensions (has {x.ndim}, "
            text += f"gufunc core with signature {ufunc.signature} requires {len(core)})"
            raise Raises(ValueError(f"{ufunc.__name__}: {text}"))


def by_cores(r: Recorder, ufunc: np.ufunc, a: Any, b: Any, into: ArrayRef | None = None) -> ArrayRef | Scalar:
    """A product over the core axes; the axes in front of them broadcast, and keep their K-order."""
    refs, cores = [as_array(r, a), as_array(r, b)], CORES[ufunc]
    check_cores(ufunc, refs)
    element = supported(np.result_type(refs[0].dtype, refs[1].dtype), f"np.{ufunc.__name__}", r.loc)
    if refs[0].element.is_complex and ufunc is not np.matvec:
        refs[0] = as_array(r, elementwise(r, np.conjugate, [refs[0]]))
    n = [x.shape[len(x.shape) - len(core) + core.index("n")] for x, core in zip(refs, cores)]
    mismatch = f"{ufunc.__name__}: Input operand 1 has a mismatch in its core dimension 0 (size {{}} is not {{}})"
    r.require_equal(n[1], n[0], "ValueError", mismatch, [n[1], n[0]])
    front = [x.ndim - len(core) for x, core in zip(refs, cores)]
    batch = [chr(ord("0") + k) for k in range(max(front))]
    parts = [Labelled(x, (*batch[len(batch) - f :], *core)) for x, core, f in zip(refs, cores, front)]
    sizes = label_sizes(r, parts)
    axes = [(x, [None] * (len(batch) - f) + list(range(f))) for x, f in zip(refs, front)]
    order = (*axis_order(axes, len(batch)), *range(len(batch), len(batch) + len(cores[2])))
    first, second = (fitted(r, x, sizes) for x in parts)
    out = [*batch, *cores[2]]
    made = contract_pair(r, first, second, out, sizes, element, order)
    made = made or sum_of_products(r, [first, second], out, sizes, element, order)
    return deliver(r, made, None, ufunc.__name__) if into is None else put(r, made, into, "matmul")


GENERALISED = (np.matmul, *CORES)
"""The generalised ufuncs that are traced."""


def generalised(
    r: Recorder, ufunc: np.ufunc, operands: Sequence[Any], into: ArrayRef | None = None,
    wanted: np.dtype | None = None, casting: Casting = "same_kind",
) -> ArrayRef | Scalar:  # fmt: skip
    """A call of a generalised ufunc; `into` is its `out=`, `wanted` its `dtype=`."""
    check_weak_ints(r, operands)
    a, b = (converted(r, ufunc, x, k, wanted, casting) for k, x in enumerate(operands))
    return matmul(r, a, b, "matmul", into) if ufunc is np.matmul else by_cores(r, ufunc, a, b, into)


def check_weak_ints(r: Recorder, operands: Sequence[Any]) -> None:
    """Raises OverflowError for a Python int that does not fit the dtype of the other operand, though it has too few
    axes."""
    for x, other in zip(operands, [weak_type(x) for x in reversed(operands)]):
        if isinstance(other, np.dtype):
            check_weak_int(r, x, other)


def converted(r: Recorder, ufunc: np.ufunc, x: Any, k: int, wanted: np.dtype | None, casting: Casting) -> Any:
    """Operand k in the dtype of the loop; TypeError as NumPy's where it may not be cast."""
    if wanted is None or not isinstance(x, ArrayRef) or x.dtype == wanted:
        return x
    if not np.can_cast(x.dtype, wanted, casting):
        raise Raises(_exceptions._UFuncInputCastingError(ufunc, casting, x.dtype, wanted, k))
    return copy_of(r, x, supported(wanted, f"np.{ufunc.__name__}", r.loc), k_order(x))


# -- np.linalg's names


@traces(np.linalg.vecdot)
def vecdot_along(r: Recorder, x1: Any, x2: Any, *, axis: Any = -1) -> ArrayRef | Scalar:
    """np.linalg.vecdot."""
    return by_cores(r, np.vecdot, *moved_last(r, [as_operand(r, x) for x in (x1, x2)], axis))


def moved_last(r: Recorder, operands: Sequence[Any], axis: Any) -> list[ArrayRef]:
    """The operands of np.vecdot, with the axis along which they are multiplied as the last one."""
    check_weak_ints(r, operands)
    refs = [as_array(r, x) for x in operands]
    check_cores(np.vecdot, refs)
    return [moveaxis(r, x, axis_of(r, axis, x.ndim), -1) for x in refs]
