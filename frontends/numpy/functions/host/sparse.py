"""Products of SciPy's sparse matrices with arrays, as host calls on the matrix itself.

The matrix is an argument, by whose class, shape and dtype the call has its key, or comes from outside and is guarded by
its identity. It holds its elements when the call runs. Its shape and dtype are those of the trace: a call that finds
others raises. Source: `scipy.sparse`, `_matmul_dispatch`.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

from tracebuf.frontends.numpy.call.arguments import is_matrix, is_of_scipy
from tracebuf.frontends.numpy.functions.host.calls import Given, HostEntry, Shape
from tracebuf.frontends.numpy.record.callees import Buffer, Partial
from tracebuf.frontends.numpy.record.recorder import Recorder
from tracebuf.frontends.numpy.record.values import ArrayRef
from tracebuf.frozen import frozen
from tracebuf.ir.dims import Dim


@frozen(eq=False)
class Transposed:
    """`M.T` of a sparse matrix, whose elements are those of M when it is used."""

    of: Any


def is_sparse(x: Any) -> bool:
    """Whether a value is a sparse matrix or array of SciPy's own classes, of two axes: an argument, or from outside; or
    a linear operator from outside."""
    if isinstance(x, Buffer):
        return is_matrix(x.of)
    return is_of_scipy(type(x), "scipy.sparse.") and getattr(x, "ndim", 0) == 2


def in_this_call(x: Any) -> Any:
    """The matrix of the call that is traced."""
    return x.of if isinstance(x, Buffer) else x


KNOWN = ("shape", "ndim", "dtype", "format")
"""The attributes of arguments that are the same in each call of their key."""


def attribute(x: Any, name: str) -> Any:
    """`M.T` and `M.dot`, of an argument what its key says too; NotImplemented for other attributes."""
    if name in KNOWN and isinstance(x, Buffer) and is_sparse(x):
        return getattr(x.of, name)
    if name == "T" and is_sparse(x):
        return Transposed(x)
    if name == "dot" and (is_sparse(x) or isinstance(x, Transposed)):
        return Partial(operator.matmul, (x,), {})
    return x.of if name == "T" and isinstance(x, Transposed) else NotImplemented


def product_of_transposed(a: Any, b: Any) -> Any:
    """M.T @ b."""
    return a.T @ b


def product_with_transposed(a: Any, b: Any) -> Any:
    """a @ M.T."""
    return a @ b.T


def matmul(r: Recorder, a: Any, b: Any) -> Any:
    """`a @ b` of an array and a sparse matrix; NotImplemented for others."""
    matrix, x = (b, a) if isinstance(a, ArrayRef) else (a, b)
    flipped = isinstance(matrix, Transposed)
    matrix = matrix.of if isinstance(matrix, Transposed) else matrix
    if not isinstance(x, ArrayRef) or not is_sparse(matrix):
        return NotImplemented
    first = matrix is not b and not (isinstance(b, Transposed) and matrix is b.of)
    shape: Sequence[int] = in_this_call(matrix).shape
    shape = shape[::-1] if flipped else shape
    rows, inner = shape if first else shape[::-1]
    if x.ndim not in (1, 2):
        raise r.refuse("a sparse matrix beside an array of more than two axes", "a vector or a matrix")

    def shapes(r: Recorder, given: Given) -> Sequence[Shape]:
        rest: Sequence[Dim] = x.shape[1:] if first else x.shape[:-1]
        return [(rows, *rest) if first else (*rest, rows)]

    function: Callable[..., Any] = operator.matmul
    if flipped:
        function = product_of_transposed if first else product_with_transposed
    names = ("b",) if first else ("a",)
    entry = HostEntry(function, names, shapes, size=inner, of_sizes=True, label="a sparse product")
    return entry(r, *((matrix, x) if first else (x, matrix)))
