"""SciPy's functions as host calls: the compiled ones of linalg, fft, signal, ndimage and spatial.distance, and those
written in Python, of stats above all, that cannot be traced yet.

A row is found by the module and the name of the function, and made when it is first called: SciPy is imported by the
user's module, or not at all. Shapes are those that SciPy's reference documents. `overwrite_*` flags are left out of a
call, for they say what a function may do: the arguments keep their elements.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np

from tracebuf.frontends.numpy.arrays.axes import axis_of
from tracebuf.frontends.numpy.arrays.indexing import as_int
from tracebuf.frontends.numpy.functions.host import fft as numpys_fft
from tracebuf.frontends.numpy.functions.host import linalg as numpys_linalg
from tracebuf.frontends.numpy.functions.host.calls import (
    Given,
    HostEntry,
    Shape,
    Shapes,
    UpTo,
    dims,
    like,
    reduced,
    static,
)
from tracebuf.frontends.numpy.functions.host.fft import double, half, whole
from tracebuf.frontends.numpy.functions.host.linalg import check_equal
from tracebuf.frontends.numpy.record.raises import ask
from tracebuf.frontends.numpy.record.recorder import Recorder
from tracebuf.frontends.numpy.record.registry import traces_late
from tracebuf.frontends.numpy.record.values import ArrayRef, PyInt
from tracebuf.ir.dims import Dim, add, dim_max, dim_min, floordiv, mul, product, sub

Check = Callable[[Recorder, Given], None]


ROWS: dict[str, list[str]] = {}
"""The functions of the table, by public module."""


def row(
    module: str, names: str, arrays: str, shapes: Shapes, values: str = "", check: Check | None = None,
    by: Callable[..., Any] | None = None, **fields: Any,
) -> None:  # fmt: skip
    """Adds functions of a module to the table; `names`, `arrays` and `values` are words. `by`: what is called in the
    function's place."""

    def refuses(r: Recorder, given: dict[str, Any]) -> None:
        for name in [name for name in given if name.startswith("overwrite_")]:
            del given[name]
        if "kwargs" in given:
            raise r.refuse(f"{', '.join(given['kwargs'])}= of {module}'s function", "call it outside")
        if check is not None:
            check(r, given)

    ROWS.setdefault(module.partition("._")[0], []).extend(names.split())
    for name in names.split():

        @cache
        def entry(name: str = name) -> HostEntry:
            function = by or getattr(sys.modules[module], name)
            more: dict[str, Any] = {"refuses": refuses, "of_sizes": True, **fields}
            return HostEntry(function, tuple(arrays.split()), shapes, values=tuple(values.split()), **more)

        def handler(r: Recorder, *args: Any, entry: Any = entry, **kwargs: Any) -> Any:
            return entry()(r, *args, **kwargs)

        traces_late(module, name)(handler)


def named(shapes: Shapes, **names: str) -> Shapes:
    """A rule of NumPy's function for one of SciPy's that has the parameters under these names."""
    return lambda r, given: shapes(r, {**given, **{k: given[v] for k, v in names.items() if v in given}})


# -- scipy.linalg


def square(name: str, *axes: int) -> Shapes:
    """Shapes with so many axes of the size of a square matrix, for each result."""
    return named(numpys_linalg.of_square(*axes), a=name)


def solution(a: str, b: str) -> Shapes:
    """The shape of the right-hand side, whose first axis is as long as the matrix."""

    def shapes(r: Recorder, given: Given) -> Sequence[Shape]:
        m, n = given[a].shape[-2:]
        check_equal(r, m, n)
        right = given[b].shape
        check_equal(r, n, right[0] if len(right) == 1 else right[-2])
        return [right]

    return shapes


def lu_shapes(r: Recorder, given: Given) -> Sequence[Shape]:
    m, n = given["a"].shape
    k = r.facts.simplify(dim_min(m, n))
    p: Shape = (m,) if given.get("p_indices", False) else (m, m)
    return [(m, k), (k, n)] if given.get("permute_l", False) else [p, (m, k), (k, n)]


def lu_factor_shapes(r: Recorder, given: Given) -> Sequence[Shape]:
    m, n = given["a"].shape
    return [(m, n), (r.facts.simplify(dim_min(m, n)),)]


def cho_factor_shapes(r: Recorder, given: Given) -> Sequence[Shape]:
    m, n = given["a"].shape
    check_equal(r, m, n)
    return [(m, n), ()]


def qr_shapes(r: Recorder, given: Given) -> Sequence[Shape]:
    m, n = given["a"].shape
    k = r.facts.simplify(dim_min(m, n))
    mode = given.get("mode", "full")
    found: dict[str, list[Shape]] = {"full": [(m, m), (m, n)], "r": [(m, n)], "economic": [(m, k), (k, n)]}
    if mode not in found:
        raise r.refuse(f"scipy.linalg.qr with mode={mode!r}", 'mode="economic"')
    return [*found[mode], (n,)] if given.get("pivoting", False) else found[mode]


def eigh_shapes(r: Recorder, given: Given) -> Sequence[Shape]:
    m, n = given["a"].shape
    check_equal(r, m, n)
    n = r.facts.canon(n)
    count: Dim = n
    if (chosen := given.get("subset_by_index")) is not None:
        first, last = (as_int(r, i) for i in chosen)
        if first is None or last is None:
            raise r.refuse("subset_by_index of what is no pair of ints", "subset_by_index=[0, 2]")
        count = add(sub(last, first), 1)
    values_only = given.get("eigvals_only", "v" not in given)
    return [(count,)] if values_only else [(count,), (n, count)]


def eigvalsh_shapes(r: Recorder, given: Given) -> Sequence[Shape]:
    return eigh_shapes(r, {**given, "eigvals_only": True})


def matrix(*names: str) -> Check:
    """Refuses stacks of matrices, and what is no array."""

    def check(r: Recorder, given: Given) -> None:
        for name in names:
            if not isinstance(given.get(name), ArrayRef) or given[name].ndim != 2:
                raise r.refuse(f"`{name}` that is no matrix", "call it for one matrix")

    return check


def both(*checks: Check) -> Check:
    def check(r: Recorder, given: Given) -> None:
        for each in checks:
            each(r, given)

    return check


A = matrix("a")
row("scipy.linalg._basic", "solve", "a b", solution("a", "b"), check=A)
row("scipy.linalg._basic", "solve_triangular", "a b", solution("a", "b"), check=A)
row("scipy.linalg._basic", "inv", "a", square("a", 2), check=A)
row("scipy.linalg._basic", "det", "a", square("a", 0), check=A)
row("scipy.linalg._basic", "pinv", "a", numpys_linalg.transposed, "rtol atol", A, only={"return_rank": False})
row("scipy.linalg._basic", "solve_banded", "ab b", like("b"), "l_and_u", stand_ins={"ab": 1.0})
row("scipy.linalg._decomp_cholesky", "cholesky", "a", square("a", 2), check=A)
row("scipy.linalg._decomp_cholesky", "cho_factor", "a", cho_factor_shapes, check=A)
row("scipy.linalg._decomp_cholesky", "cho_solve", "b", like("b"), "c_and_lower")
row("scipy.linalg._decomp_lu", "lu", "a", lu_shapes, check=A)
row("scipy.linalg._decomp_lu", "lu_factor", "a", lu_factor_shapes, check=A)
row("scipy.linalg._decomp_lu", "lu_solve", "b", like("b"), "lu_and_piv")
row("scipy.linalg._decomp_qr", "qr", "a", qr_shapes, check=A)
row("scipy.linalg._decomp_svd", "svd", "a", numpys_linalg.svd_shapes, check=A)
row("scipy.linalg._decomp_svd", "svdvals", "a", named(numpys_linalg.svdvals_shapes, x="a"), check=A)
row("scipy.linalg._decomp", "eigvals", "a", square("a", 1), check=A, only={"b": None})
NO_RANGE = {"subset_by_value": None}
row("scipy.linalg._decomp", "eigvalsh", "a b", eigvalsh_shapes, check=A, only=NO_RANGE)
row("scipy.linalg._decomp", "eigh", "a b", lambda r, given: eigh_shapes(r, {"eigvals_only": False, **given}),
    check=A, only=NO_RANGE)  # fmt: skip
row("scipy.linalg._matfuncs", "expm", "A", square("A", 2), check=matrix("A"))


def sure_norm(r: Recorder, given: Given) -> None:
    """Refuses norms of single precision by an order, whose dtype depends on how the array is laid out."""
    a = given["a"]
    whole = given.get("axis") is None and given.get("ord") is not None
    if whole and isinstance(a, ArrayRef) and a.ndim == 2 and a.dtype.char in "fF":
        raise r.refuse("scipy.linalg.norm by `ord` of a matrix in single precision", "np.linalg.norm(a, ord)")


row("scipy.linalg._misc", "norm", "a",
    lambda r, given: [reduced(r, given["a"], given.get("axis"), given.get("keepdims", False))],
    check=sure_norm)  # fmt: skip

def toeplitz_shapes(r: Recorder, given: Given) -> Sequence[Shape]:
    c = dims(given["c"])
    return [(c[0], dims(given["r"])[0] if given.get("r") is not None else c[0])]


def vectors(*names: str) -> Check:
    """Refuses what is no vector: a stack of them makes matrices in some versions of SciPy, and one in others."""

    def check(r: Recorder, given: Given) -> None:
        for name in names:
            if given.get(name) is not None and len(dims(given[name])) != 1:
                raise r.refuse(f"`{name}` that is no vector", "call it for one vector")

    return check


row("scipy.linalg._special_matrices", "toeplitz hankel", "c r", toeplitz_shapes, check=vectors("c", "r"))
row("scipy.linalg._special_matrices", "circulant", "c", toeplitz_shapes, check=vectors("c"))

# -- scipy.fft

BASIC, REAL = "scipy.fft._basic", "scipy.fft._realtransforms"


@traces_late("scipy.fft._helper", "next_fast_len")
def next_fast_len(r: Recorder, target: Any, real: Any = False) -> Any:
    """The size, of a size that becomes part of the key."""
    function = sys.modules["scipy.fft._helper"].next_fast_len
    return ask(function, static(r, target, "`target` of scipy.fft.next_fast_len"), static(r, real, "`real`"))


def of_x(shapes: Shapes) -> Shapes:
    """A rule of NumPy's for SciPy's function, which takes an int as `axes` or `s` too."""

    def rule(r: Recorder, given: Given) -> Sequence[Sequence[Dim | UpTo]]:
        several = {k: (given[k],) for k in ("axes", "s") if isinstance(given.get(k), (int, PyInt))}
        return named(shapes, a="x")(r, {**given, **several})

    return rule


for _names, _points, _terms in (
    ("fft ifft", whole, whole), ("rfft ihfft", whole, half), ("irfft hfft", double, whole),
):  # fmt: skip
    row(BASIC, _names, "x", of_x(numpys_fft.along(_points, _terms)), "n")
for _names, _points, _terms, _axes in (
    ("fft2 ifft2", whole, whole, (-2, -1)), ("fftn ifftn", whole, whole, None),
    ("rfft2", whole, half, (-2, -1)), ("rfftn", whole, half, None),
    ("irfft2", double, whole, (-2, -1)), ("irfftn", double, whole, None),
):  # fmt: skip
    row(BASIC, _names, "x", of_x(numpys_fft.over(_points, _terms, _axes)), "s")
row(REAL, "dct idct dst idst", "x", of_x(numpys_fft.along(whole, whole)), "n")
row(REAL, "dctn idctn dstn idstn", "x", of_x(numpys_fft.over(whole, whole)), "s")

# -- scipy.signal


def convolved(first: str, second: str) -> Shapes:
    """The shape of a convolution or correlation, by its mode."""

    def shapes(r: Recorder, given: Given) -> Sequence[Shape]:
        a, b = dims(given[first]), dims(given[second])
        mode = given.get("mode", "full")
        if mode == "same":
            return [a]
        if mode == "full":
            return [[full_size(m, n) for m, n in zip(a, b)]]
        if mode != "valid":
            raise r.refuse(f"mode={mode!r}", 'mode="same"')
        if 0 in (*a, *b):
            raise r.refuse("mode='valid' of an empty array", "call it for arrays that have elements")
        return [[add(sub(r.facts.simplify(dim_max(m, n)), r.facts.simplify(dim_min(m, n))), 1) for m, n in zip(a, b)]]

    return shapes


def full_size(m: Dim, n: Dim) -> Dim:
    return 0 if m == 0 or n == 0 else sub(add(m, n), 1)


def known(r: Recorder, given: Given) -> Sequence[Shape]:
    """For functions of known arguments, whose results' shapes are those of a call."""
    raise r.refuse("an array of unknown size", "pass numbers that are known")


def sections(r: Recorder, given: Given) -> None:
    """Makes the number of sections, and of a section's coefficients, part of the key."""
    for n in sos.shape if isinstance(sos := given["sos"], ArrayRef) else ():
        r.static_int(n, "a size of `sos`")


def sosfilt(sos: Any, x: Any, axis: Any = -1, zi: Any = None) -> Any:
    """scipy.signal.sosfilt, which takes no sections that are read-only, as operands are in the interpreter."""
    return sys.modules[TOOLS].sosfilt(np.array(sos), x, axis)


def sosfiltfilt(sos: Any, x: Any, axis: Any = -1, padtype: Any = "odd", padlen: Any = None) -> Any:
    """scipy.signal.sosfiltfilt, likewise."""
    return sys.modules[TOOLS].sosfiltfilt(np.array(sos), x, axis, padtype, padlen)


def spectra(r: Recorder, given: Given) -> Sequence[Shape]:
    """The frequencies, and a spectrum in the place of the signal's axis: of the whole signal, or of segments."""
    shape = list(dims(given["x"]))
    axis = axis_of(r, given.get("axis", -1), len(shape), bools=True)
    segment = given.get("nperseg", shape[axis])
    n = shape[axis] if segment is None else r.facts.simplify(dim_min(segment, shape[axis]))
    one_sided = given.get("return_onesided", True) and given["x"].dtype.kind != "c"
    shape[axis] = half(n) if one_sided else n
    return [(shape[axis],), shape]


def hilbert_shapes(r: Recorder, given: Given) -> Sequence[Shape]:
    shape = list(dims(given["x"]))
    axis = axis_of(r, given.get("axis", -1), len(shape), bools=True)
    if given.get("N") is not None:
        shape[axis] = numpys_fft.size_of(r, given["N"], 0)
    return [shape]


def resampled(r: Recorder, given: Given) -> Sequence[Shape]:
    shape = list(dims(given["x"]))
    axis = axis_of(r, given.get("axis", 0), len(shape), bools=True)
    shape[axis] = numpys_fft.size_of(r, given["num"], 0)
    return [shape]


TOOLS = "scipy.signal._signaltools"
row(TOOLS, "lfilter", "b a x", like("x"), "b a", only={"zi": None})
row(TOOLS, "filtfilt", "b a x", like("x"), "b a", size=64)
row(TOOLS, "sosfilt", "sos x", like("x"), "sos", sections, only={"zi": None}, by=sosfilt, size=6,
    stand_ins={"sos": 1.0})  # fmt: skip
row(TOOLS, "sosfiltfilt", "sos x", like("x"), "sos", sections, by=sosfiltfilt, size=64, stand_ins={"sos": 1.0})
row(TOOLS, "lfilter_zi", "b a", known, "b a")
row("scipy.signal._filter_design", "butter cheby1 cheby2 ellip bessel iirfilter iirdesign iirnotch iirpeak", "", known)
row("scipy.signal._fir_filter_design", "firwin firwin2 remez", "", known)
row(TOOLS, "convolve correlate", "in1 in2", convolved("in1", "in2"))
row(TOOLS, "fftconvolve oaconvolve", "in1 in2", convolved("in1", "in2"), only={"axes": None})
row(TOOLS, "convolve2d correlate2d", "in1 in2", convolved("in1", "in2"), "fillvalue")
NO_PADDING = {"nfft": None}
row("scipy.signal._spectral_py", "periodogram", "x", spectra, "fs", only=NO_PADDING)
row("scipy.signal._spectral_py", "welch", "x",
    lambda r, given: spectra(r, {**given, "nperseg": given.get("nperseg") or 256}), "fs", only=NO_PADDING,
    size=300)  # fmt: skip
row(TOOLS, "medfilt", "volume", like("volume"))
row(TOOLS, "medfilt2d", "input", like("input"))
row(TOOLS, "wiener", "im", like("im"), "noise")
row(TOOLS, "hilbert", "x", hilbert_shapes, "N")
row(TOOLS, "resample", "x", resampled, "num", only={"t": None})
row("scipy.signal._savitzky_golay", "savgol_coeffs", "", known)
row("scipy.signal._savitzky_golay", "savgol_filter", "x", like("x"), "delta cval", size=64)

# -- scipy.ndimage


def coordinates_shapes(r: Recorder, given: Given) -> Sequence[Shape]:
    return [dims(given["coordinates"])[1:]]


def labels_shapes(r: Recorder, given: Given) -> Sequence[Shape]:
    return [dims(given["input"]), ()]


FILTERS, MORPHOLOGY, INTERPOLATION = (f"scipy.ndimage._{n}" for n in ("filters", "morphology", "interpolation"))
INPUT = like("input")
row(FILTERS, "gaussian_filter gaussian_filter1d gaussian_laplace gaussian_gradient_magnitude", "input", INPUT,
    "sigma cval truncate", out="output")  # fmt: skip
row(FILTERS, "uniform_filter uniform_filter1d median_filter minimum_filter maximum_filter minimum_filter1d "
    "maximum_filter1d sobel prewitt laplace", "input footprint", INPUT, "cval size origin", out="output",
    stand_ins={"origin": 0})  # fmt: skip
row(FILTERS, "percentile_filter rank_filter", "input footprint", INPUT, "percentile cval", out="output")
row(FILTERS, "convolve convolve1d correlate correlate1d", "input weights", INPUT, "cval", out="output")
row(MORPHOLOGY, "binary_erosion binary_dilation binary_opening binary_closing", "input structure mask", INPUT)
row(MORPHOLOGY, "binary_fill_holes", "input structure", INPUT)
row(MORPHOLOGY, "grey_erosion grey_dilation grey_opening grey_closing morphological_gradient white_tophat "
    "black_tophat", "input footprint structure", INPUT, "cval", out="output")  # fmt: skip
row(MORPHOLOGY, "distance_transform_edt distance_transform_cdt", "input", INPUT,
    only={"return_indices": False, "return_distances": True, "distances": None, "indices": None})  # fmt: skip
row(INTERPOLATION, "shift", "input", INPUT, "shift cval", out="output")
row(INTERPOLATION, "rotate", "input", INPUT, "angle cval", only={"reshape": False}, out="output")
row(INTERPOLATION, "map_coordinates", "input coordinates", coordinates_shapes, "cval",
    size=lambda given: len(dims(given["input"])), out="output")  # fmt: skip
row(INTERPOLATION, "affine_transform", "input matrix", INPUT, "offset cval", only={"output_shape": None},
    out="output")  # fmt: skip
row(INTERPOLATION, "spline_filter spline_filter1d", "input", INPUT, out="output")
row("scipy.ndimage._measurements", "label", "input structure", labels_shapes)

# -- scipy.spatial.distance


def by_name(r: Recorder, given: Given) -> None:
    """Refuses a metric that is a function."""
    if not isinstance(given.get("metric", ""), str):
        raise r.refuse("a metric that is a function", "write the loop, or name one of SciPy's")


row("scipy.spatial.distance", "cdist", "XA XB", lambda r, given: [(dims(given["XA"])[0], dims(given["XB"])[0])],
    check=both(matrix("XA", "XB"), by_name))  # fmt: skip


def pairs(r: Recorder, given: Given) -> Sequence[Shape]:
    n = dims(given["X"])[0]
    return [(floordiv(mul(n, sub(n, 1)), 2),)]


row("scipy.spatial.distance", "pdist", "X", pairs, check=both(matrix("X"), by_name))


# -- scipy.stats, scipy.special and scipy.integrate: functions in Python that are not traced yet


def over_axis(name: str, default: int | None = 0) -> Shapes:
    """The shape of a reduction, of which `default` is the axis."""
    return lambda r, given: [reduced(r, given[name], given.get("axis", default), given.get("keepdims", False))]


def keeps_nan(r: Recorder, given: Given) -> None:
    """Refuses to leave out NaN, by which the class of a result may depend on elements."""
    if given.get("nan_policy", "propagate") not in ("propagate", "raise"):
        raise r.refuse("nan_policy='omit'", "x[~np.isnan(x)]")


STATS = "scipy.stats._stats_py"
NO_WEIGHTS = {"weights": None}
row(STATS, "gmean hmean", "a", over_axis("a"), check=keeps_nan, only=NO_WEIGHTS)
row(STATS, "skew kurtosis sem tvar tstd tsem", "a", over_axis("a"), check=keeps_nan)
row(STATS, "tmin", "a", over_axis("a"), "lowerlimit", keeps_nan)
row(STATS, "tmax", "a", over_axis("a"), "upperlimit", keeps_nan)
row(STATS, "pmean", "a", over_axis("a"), "p", keeps_nan, only=NO_WEIGHTS)
row(STATS, "tmean", "a", over_axis("a", None), check=keeps_nan)
row(STATS, "trim_mean", "a", over_axis("a"), "proportiontocut", keeps_nan, stand_ins={"proportiontocut": 0.1})
row(STATS, "iqr", "x", over_axis("x", None), check=keeps_nan)
row(STATS, "median_abs_deviation", "x", over_axis("x"), check=keeps_nan, only={"center": None})
row(STATS, "zscore gzscore", "a", like("a"), check=keeps_nan)


def sure_ranks(r: Recorder, given: Given) -> None:
    """Refuses ranks of floats that are ints unless there is NaN."""
    keeps_nan(r, given)
    if given.get("method", "average") != "average" and given["a"].dtype.kind == "f":
        reason = f"rankdata(method={given['method']!r}) of floats: floats if there is NaN, else ints"
        raise r.refuse(reason, "method='average'")


row(STATS, "rankdata", "a", lambda r, given: [dims(given["a"]) if "axis" in given and given["axis"] is not None
                                              else (product(dims(given["a"])),)], check=sure_ranks)  # fmt: skip
row("scipy.stats._variation", "variation", "a", over_axis("a"), check=keeps_nan)
row("scipy.stats._entropy", "entropy", "pk", over_axis("pk"), check=keeps_nan)
row("scipy.stats._morestats", "circmean circvar circstd", "samples", over_axis("samples", None), "high low", keeps_nan)
row("scipy.special._logsumexp", "logsumexp", "a", over_axis("a", None), check=keeps_nan)
row("scipy.special._logsumexp", "log_softmax", "x", like("x"))


def cumulated(r: Recorder, given: Given) -> Sequence[Shape]:
    shape = list(dims(given["y"]))
    axis = axis_of(r, given.get("axis", -1), len(shape), bools=True)
    shape[axis] = shape[axis] if given.get("initial") is not None else sub(shape[axis], 1)
    return [shape]


row("scipy.integrate._quadrature", "cumulative_trapezoid cumulative_simpson", "y x", cumulated, "dx initial")
