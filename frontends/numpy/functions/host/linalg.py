"""np.linalg as host calls: LAPACK's functions. Shapes are those that `numpy/linalg/_linalg.py` documents."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import nan

import numpy as np

from tracebuf.frontends.numpy.arrays.axes import axis_of
from tracebuf.frontends.numpy.arrays.indexing import as_int
from tracebuf.frontends.numpy.functions.host.calls import Given, HostEntry, Shape, Shapes, UpTo, dims, reduced
from tracebuf.frontends.numpy.record.broadcasting import broadcast
from tracebuf.frontends.numpy.record.raises import Raises
from tracebuf.frontends.numpy.record.recorder import Recorder
from tracebuf.frontends.numpy.record.registry import traces
from tracebuf.frontends.numpy.record.values import ArrayRef
from tracebuf.ir.dims import Dim, add, dim_min
from tracebuf.running.host import CoreLoop
from tracebuf.running.ufuncs import generalised

la = np.linalg


def check_equal(r: Recorder, m: Dim, n: Dim) -> None:
    """Asks whether two sizes are equal, by a guard; LinAlgError, or what NumPy has in its place, where they are not."""
    if r.ask_equal(m, n) is False:
        raise Raises(la.LinAlgError("sizes differ"))


def of_square(*axes: int) -> Shapes:
    """Shapes with so many axes of the matrix's size after the leading axes, for each result. A guard makes the matrix
    square, or not; where only the run time knows, the function raises what it raises."""

    def shapes(r: Recorder, given: Given) -> Sequence[Shape]:
        *batch, m, n = given["a"].shape
        check_equal(r, m, n)
        return [(*batch, *(r.facts.canon(m), r.facts.canon(n))[2 - k :]) for k in axes]

    return shapes


def transposed(r: Recorder, given: Given) -> Sequence[Shape]:
    """The shape of a pseudo-inverse: the last two axes exchanged."""
    *batch, m, n = given["a"].shape
    return [(*batch, n, m)]


def solve_shapes(r: Recorder, given: Given) -> Sequence[Shape]:
    """`b` is a vector if it has one axis, else a stack of matrices."""
    a, b = given["a"].shape, given["b"].shape
    check_equal(r, a[-2], a[-1])
    check_equal(r, a[-1], b[0] if len(b) == 1 else b[-2])
    if len(b) == 1:
        return [a[:-1]]
    return [(*broadcast(r, [a[:-2], b[:-2]]), a[-1], b[-1])]


def qr_shapes(r: Recorder, given: Given) -> Sequence[Shape]:
    mode = given.get("mode", "reduced")
    *batch, m, n = given["a"].shape
    k = r.facts.simplify(dim_min(m, n))
    found: dict[str, list[list[Dim]]] = {
        "reduced": [[m, k], [k, n]], "complete": [[m, m], [m, n]], "r": [[k, n]], "raw": [[n, m], [k]]
    }  # fmt: skip
    if mode not in found:
        raise r.refuse(f"np.linalg.qr with mode={mode!r}", 'mode="reduced"')
    return [(*batch, *core) for core in found[mode]]


def svd_shapes(r: Recorder, given: Given) -> Sequence[Shape]:
    *batch, m, n = given["a"].shape
    k = r.facts.simplify(dim_min(m, n))
    if not given.get("compute_uv", True):
        return [(*batch, k)]
    full = given.get("full_matrices", True)
    u, vh = ((m, m), (n, n)) if full else ((m, k), (k, n))
    return [(*batch, *u), (*batch, k), (*batch, *vh)]


def svdvals_shapes(r: Recorder, given: Given) -> Sequence[Shape]:
    *batch, m, n = given["x"].shape
    return [(*batch, r.facts.simplify(dim_min(m, n)))]


def leading(r: Recorder, given: Given) -> Sequence[Shape]:
    """The leading axes: a number for each matrix."""
    return [given["x"].shape[:-2]]


def rank_shapes(r: Recorder, given: Given) -> Sequence[Shape]:
    shape: Sequence[Dim] = dims(given["A"])
    return [shape[:-2] if len(shape) > 1 else ()]


def dots_shapes(r: Recorder, given: Given) -> Sequence[Shape]:
    """The shape of multi_dot: the rows of the first array, if it is a matrix, and the columns of the last."""
    first, last = (dims(given["arrays"][k]) for k in (0, -1))
    return [(*first[:-1][:1], *last[1:])]


def lstsq_shapes(r: Recorder, given: Given) -> Sequence[Sequence[Dim | UpTo]]:
    """Shapes of the solution, the residuals (none where the rank is not full), the rank, the singular values."""
    a, b = given["a"].shape, given["b"].shape
    columns = b[1:]
    return [(a[1], *columns), (UpTo(columns[0] if columns else 1),), (), (r.facts.simplify(dim_min(*a)),)]


def norm_shapes(r: Recorder, given: Given) -> Sequence[Shape]:
    return [reduced(r, given["x"], given.get("axis"), given.get("keepdims", False))]


def tensorinv_shapes(r: Recorder, given: Given) -> Sequence[Shape]:
    shape, n = given["a"].shape, given.get("ind", 2)
    return [(*shape[n:], *shape[:n])]


def tensorsolve_shapes(r: Recorder, given: Given) -> Sequence[Shape]:
    """The axes of `a` that `b` does not have, after those in `axes` are moved to the end."""
    shape: Shape = given["a"].shape
    moved = [axis_of(r, axis, len(shape), bools=True) for axis in given.get("axes") or ()]
    order = [n for axis, n in enumerate(shape) if axis not in moved] + [shape[axis] for axis in moved]
    return [order[len(dims(given["b"])) - len(order) :]]


def matrix_norm_shapes(r: Recorder, given: Given) -> Sequence[Shape]:
    return [reduced(r, given["x"], (-2, -1), given.get("keepdims", False))]


def polyfit_shapes(r: Recorder, given: Given) -> Sequence[Shape]:
    degree = as_int(r, given["deg"])
    if degree is None:
        raise Raises(TypeError("the degree of a polynomial is an int"))
    return [(add(degree, 1), *given["y"].shape[1:])]


UMATH = "numpy.linalg._umath_linalg"


def by_loop(
    name: Callable[[Given], str | None], *letters: str, quiet: bool = True
) -> Callable[[Given], CoreLoop | None]:
    """The loop of the ufunc that `name` gives for a call, as the function calls it: on doubles, or complex numbers of
    doubles where an array is complex; `letters`: the types of real numbers among the results, d or the operands' (t).
    """

    def loop(given: Given) -> CoreLoop | None:
        arrays = [x for x in given.values() if isinstance(x, ArrayRef)]
        found = name(given)
        ufunc = None if found is None else generalised(UMATH, found)
        if found is None or ufunc is None or len(letters) != ufunc.nout:
            return None
        t = "D" if any(x.dtype.kind == "c" for x in arrays) else "d"
        types = t * ufunc.nin + "->" + "".join(t if letter == "t" else letter for letter in letters)
        return CoreLoop(UMATH, found, types, str(ufunc.signature), quiet) if types in ufunc.types else None

    return loop


def always(name: str) -> Callable[[Given], str]:
    return lambda given: name


def solving(given: Given) -> str:
    return "solve1" if given["b"].ndim == 1 else "solve"


def triangle(name: str) -> Callable[[Given], str | None]:
    """The ufunc for the triangle that UPLO names."""

    def chosen(given: Given) -> str | None:
        return {"L": f"{name}_lo", "U": f"{name}_up"}.get(str(given.get("UPLO", "L")).upper())

    return chosen


def decomposing(vectors: bool) -> Callable[[Given], str | None]:
    """The ufunc of np.linalg.svd with singular vectors, or without."""

    def chosen(given: Given) -> str | None:
        if given.get("hermitian", False) or bool(given.get("compute_uv", vectors)) is not vectors:
            return None
        return "svd" if not vectors else "svd_f" if given.get("full_matrices", True) else "svd_s"

    return chosen


def either(*rules: Callable[[Given], CoreLoop | None]) -> Callable[[Given], CoreLoop | None]:
    """The loop of the first rule that gives one."""
    return lambda given: next((loop for rule in rules if (loop := rule(given)) is not None), None)


SINGULAR_VALUES = HostEntry(la.svdvals, ("x",), svdvals_shapes, loop=by_loop(always("svd"), "d"), breaks=nan)
ENTRIES: tuple[HostEntry, ...] = (
    HostEntry(la.solve, ("a", "b"), solve_shapes, loop=by_loop(solving, "t"), breaks=0.0),
    HostEntry(la.inv, ("a",), of_square(2), loop=by_loop(always("inv"), "t"), breaks=0.0),
    HostEntry(la.pinv, ("a", "rcond", "rtol"), transposed),
    HostEntry(la.det, ("a",), of_square(0), loop=by_loop(always("det"), "t", quiet=False)),
    HostEntry(la.slogdet, ("a",), of_square(0, 0), loop=by_loop(always("slogdet"), "t", "d", quiet=False)),
    HostEntry(
        la.cholesky, ("a",), of_square(2),
        loop=by_loop(lambda given: "cholesky_up" if given.get("upper", False) else "cholesky_lo", "t"),
        breaks=-1.0,
    ),
    HostEntry(la.qr, ("a",), qr_shapes),
    HostEntry(
        la.svd, ("a",), svd_shapes,
        loop=either(by_loop(decomposing(True), "t", "d", "t"), by_loop(decomposing(False), "d")),
        breaks=nan,
    ),
    SINGULAR_VALUES,
    HostEntry(la.eigh, ("a",), of_square(1, 2), loop=by_loop(triangle("eigh"), "d", "t")),
    HostEntry(la.eigvalsh, ("a",), of_square(1), loop=by_loop(triangle("eigvalsh"), "d")),
    HostEntry(la.matrix_rank, ("A", "tol", "rtol"), rank_shapes),
    HostEntry(la.cond, ("x",), leading, values=("p",)),
    HostEntry(la.lstsq, ("a", "b"), lstsq_shapes, values=("rcond",), counts=True),
    HostEntry(la.tensorinv, ("a",), tensorinv_shapes),
    HostEntry(la.tensorsolve, ("a", "b"), tensorsolve_shapes),
    HostEntry(la.vector_norm, ("x",), norm_shapes, values=("ord",)),
    HostEntry(la.matrix_norm, ("x",), matrix_norm_shapes, values=("ord",)),
    HostEntry(np.polyfit, ("x", "y", "w"), polyfit_shapes, values=("deg", "rcond"),
              only={"full": False, "cov": False}),
)  # fmt: skip
"""The functions that run on the host."""
NORM = HostEntry(la.norm, ("x",), norm_shapes, values=("ord",))
"""The norms that functions/products/matmul.norm does not record as loops, or by singular values."""
MATRIX_POWER = HostEntry(la.matrix_power, ("a",), of_square(2))
"""What the formula of np.linalg.matrix_power leaves to NumPy."""
EIG = HostEntry(la.eig, ("a",), of_square(1, 2), complex_results=True)
EIGVALS = HostEntry(la.eigvals, ("a",), of_square(1), complex_results=True)
"""Eigenvalues as complex numbers, which formulas make real where they are."""
MULTI_DOT = HostEntry(la.multi_dot, (), dots_shapes, values=("arrays",))
"""What the formula of np.linalg.multi_dot leaves to NumPy."""
for entry in ENTRIES:
    traces(entry.function)(entry)
