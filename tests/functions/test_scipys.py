"""SciPy's compiled functions as host calls: values, dtypes, layouts, sizes of a second call, errors, in loops and
branches."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.fft as sf
import scipy.integrate as si
import scipy.linalg as sl
import scipy.ndimage as nd
import scipy.signal as sg
import scipy.sparse
import scipy.spatial.distance as sd
import scipy.special as ss
import scipy.stats as st

import tracebuf
from tests.support.agreement import agree, program, refused
from tests.support.params import one_in, some
from tracebuf.testing.ladder import climb

RNG = np.random.default_rng(0)
A = RNG.normal(size=(9, 9)) + 6 * np.eye(9)
S = A @ A.T
R = RNG.normal(size=(9, 12))
V = RNG.normal(size=9)
X = RNG.normal(size=200)
BANDS = np.abs(RNG.normal(size=(3, 9))) + np.array([[0.0], [4.0], [0.0]])

CALLS: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "solve": (lambda a, b: sl.solve(a, b), (A, V)), "solve of several": (lambda a, b: sl.solve(a, b), (A, R)),
    "solve, assumed": (lambda a, b: sl.solve(a, b, assume_a="pos"), (S, V)),
    "inv, det": (lambda a: (sl.inv(a), sl.det(a)), (A,)), "pinv": (lambda a: sl.pinv(a), (R,)),
    "cholesky": (lambda a: (sl.cholesky(a), sl.cholesky(a, lower=True)), (S,)),
    "cho_solve": (lambda a, b: sl.cho_solve(sl.cho_factor(a), b), (S, V)),
    "lu": (lambda a: (*sl.lu(a), *sl.lu(a, permute_l=True), sl.lu(a, p_indices=True)[0]), (R,)),
    "lu_solve": (lambda a, b: (*sl.lu_factor(a), sl.lu_solve(sl.lu_factor(a), b)), (A, V)),
    "qr": (lambda a: (*sl.qr(a), *sl.qr(a, mode="economic"), *sl.qr(a, pivoting=True), sl.qr(a, mode="r")), (R,)),
    "svd": (lambda a: (*sl.svd(a), *sl.svd(a, full_matrices=False), sl.svdvals(a)), (R,)),
    "eigenvalues": (lambda a: (sl.eigvals(a), sl.eigvalsh(a), sl.eigh(a, eigvals_only=True)), (S,)),
    "eigh": (lambda a: (*sl.eigh(a), *sl.eigh(a, subset_by_index=[0, 2]), *sl.eigh(a, a + np.eye(len(a)))), (S,)),
    "expm": (lambda a: sl.expm(a / 10), (A,)), "norms": (lambda a: (sl.norm(a), sl.norm(a, 1, axis=0)), (R,)),
    "solve_triangular": (lambda a, b: sl.solve_triangular(a, b, lower=True), (np.tril(A), V)),
    "solve_banded": (lambda ab, b: sl.solve_banded((1, 1), ab, b), (BANDS, V)),
    "fft": (lambda x: (sf.fft(x), sf.fft(x, 64), sf.fft(x * 1j, norm="ortho"), sf.irfft(sf.rfft(x))), (X,)),
    "fftn": (lambda x: (sf.ifft2(sf.fft2(x)), sf.rfftn(x), sf.fftn(x, axes=(0,))), (R,)),
    "dct": (lambda x: (sf.dct(x, norm="ortho"), sf.dctn(x, type=3), sf.dst(x, axis=0)), (R,)),
    "axes": (lambda x: (sf.fftn(x, axes=-1), sf.rfftn(x, axes=0), sf.dctn(x, s=(3,), axes=-1), sf.fft2(x, s=2, axes=1)),
             (R,)),
    "next_fast_len": (lambda x: sf.fft(x, sf.next_fast_len(len(x) - 1)), (X,)),
    "lfilter": (lambda b, x: (sg.lfilter([1.0, 0.5], [1.0, -0.3], x), sg.lfilter(b, [1.0], x)), (V, X)),
    "convolve": (lambda a, b: (sg.convolve(a, b), sg.convolve(a, b, mode="same"), sg.oaconvolve(a, b)), (X, V)),
    "correlate": (lambda a, b: (sg.correlate(a, b, mode="valid"), sg.fftconvolve(b, a)), (X, V)),
    "convolve2d": (lambda a: sg.convolve2d(a, a[:3, :3], mode="same", boundary="symm"), (R,)),
    "sections": (lambda x: sg.sosfilt(sg.butter(4, 0.2, output="sos"), x), (X,)),
    "smoothing": (lambda x: (sg.medfilt(x, 5), sg.savgol_filter(x, 7, 2), sg.wiener(x)), (X,)),
    "hilbert": (lambda x: (np.abs(sg.hilbert(x)), sg.resample(x, 50)), (X,)),
    "designed": (lambda x: sg.lfilter(*sg.butter(3, 0.2), x) + sg.lfilter(sg.firwin(5, 0.3), 1.0, x), (X,)),
    "gaussian": (lambda a, s: (nd.gaussian_filter(a, s), nd.gaussian_filter1d(a, 1.5, axis=0)), (R, 1.2)),
    "filters": (lambda a: (nd.uniform_filter(a, 3), nd.median_filter(a, size=3), nd.maximum_filter(a, (3, 1))), (R,)),
    "edges": (lambda a: (np.hypot(nd.sobel(a, 0), nd.sobel(a, 1)), nd.laplace(a), nd.gaussian_laplace(a, 1.0)), (R,)),
    "weights": (lambda a, w: (nd.convolve(a, w), nd.correlate1d(a, [1.0, 2.0, 1.0], axis=1)), (R, R[:3, :3])),
    "ranks": (lambda a: (nd.percentile_filter(a, 20, size=3), nd.rank_filter(a, 1, size=3)), (R,)),
    "binary": (lambda a: (nd.binary_erosion(a > 0), nd.binary_dilation(a > 1, iterations=2)), (R,)),
    "grey": (lambda a: (nd.grey_erosion(a, size=(3, 3)), nd.white_tophat(a, size=3)), (R,)),
    "distances": (lambda a: nd.distance_transform_edt(a > 0), (R,)),
    "label": (lambda a: nd.label(a > 0), (R,)),
    "dtype": (lambda a: nd.gaussian_filter(a, 1.5, output=np.float32), (R,)),
    "moved": (lambda a: (nd.shift(a, (1.5, 0.5), order=1), nd.rotate(a, 30, reshape=False)), (R,)),
    "mapped": (lambda a, c: nd.map_coordinates(a, c, order=1), (R, np.abs(RNG.normal(size=(2, 7))))),
    "affine": (lambda a: nd.affine_transform(a, np.eye(2) * 1.1), (R,)),
    "cdist": (lambda a: (sd.cdist(a, a[:3]), sd.cdist(a, a, "cityblock"), sd.pdist(a)), (R,)),
    "statistics": (
        lambda a: (st.gmean(a * a), st.skew(a), st.kurtosis(a, axis=1), st.sem(a, axis=None), st.iqr(a),
                   st.variation(a, keepdims=True), st.trim_mean(a, 0.1), st.tmean(a)), (R,)),
    "scores": (lambda a: (st.zscore(a), st.rankdata(a), st.rankdata(a, axis=1), st.entropy(a * a, base=2)), (R,)),
    "logsumexp": (lambda a: (ss.logsumexp(a), ss.logsumexp(a, axis=1, keepdims=True), ss.log_softmax(a, 0)), (R,)),
    "cumulative": (lambda x: (si.cumulative_trapezoid(x, dx=0.1), si.cumulative_simpson(x, initial=0)), (X,)),
    "toeplitz": (lambda x, y: (sl.toeplitz(x[:7]), sl.hankel(x[:7], y), sl.circulant(y)), (X, V)),
    "cdist into": (lambda a, o: sd.cdist(a, a, out=o), (R, np.zeros((9, 9)))),
}  # fmt: skip

VIEWS: dict[str, Callable[..., Any]] = {
    "forwards and back": lambda x: sg.filtfilt([0.2, 0.3], [1.0, -0.3], x) + sg.filtfilt(*sg.butter(3, 0.2), x),
    "by sections": lambda x: sg.sosfiltfilt(sg.butter(2, [0.1, 0.3], "bandpass", output="sos"), x),
    "spectra": lambda x: (
        *sg.welch(x, 10.0, nperseg=64), *sg.periodogram(x), *sg.welch(x), *sg.welch(x * 1j, nperseg=None)),
}
"""Results that are views in eager, with other strides."""


@pytest.mark.parametrize("name", VIEWS)
def test_of_views(name: str) -> None:
    f, g = VIEWS[name], tracebuf.bufferize(VIEWS[name])
    for n in (300, 260, 400):
        x = np.random.default_rng(n).normal(size=n)
        for a, b in zip(np.atleast_1d(*leaves(f(x))), np.atleast_1d(*leaves(g(x))), strict=True):
            assert a.dtype == b.dtype
            np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12)


def laid_out(x: Any) -> Any:
    """An array of the same elements in another layout."""
    if not isinstance(x, np.ndarray):
        return x
    return np.asfortranarray(x) if x.ndim > 1 else np.repeat(x, 2)[::2]


@pytest.mark.parametrize("name", one_in(6, CALLS))
def test_as_eager(name: str) -> None:
    f, args = CALLS[name]
    agree(f, *args, ulp=64)


@pytest.mark.parametrize("name", one_in(6, CALLS))
def test_of_other_dtypes_and_layouts(name: str) -> None:
    f, args = CALLS[name]
    g = tracebuf.bufferize(f)
    for change in (laid_out, lambda x: x.astype(np.float32), lambda x: np.rint(x * 5).astype(int)):
        given = [change(x) if isinstance(x, np.ndarray) else x for x in args]
        try:
            expected = f(*given)
        except Exception as error:
            with pytest.raises(type(error)):
                g(*given)
            continue
        for a, b in zip(np.atleast_1d(*leaves(expected)), np.atleast_1d(*leaves(g(*given))), strict=True):
            assert a.dtype == b.dtype and a.shape == b.shape
            narrow = a.dtype in (np.float32, np.complex64)
            np.testing.assert_allclose(a, b, rtol=1e-4 if narrow else 1e-9, atol=1e-5 if narrow else 1e-12)


def leaves(x: Any) -> list[Any]:
    found = [y for item in x for y in leaves(item)] if isinstance(x, tuple) else [x]
    return [*found, 0] if len(found) == 1 else found


def test_one_program_for_all_sizes() -> None:
    def f(a, b, x):
        return sl.solve(a, b), sg.convolve(x, b, mode="valid"), nd.gaussian_filter(a, 1.0), sd.cdist(a, a)

    g = tracebuf.bufferize(f)
    for n in (9, 4, 6):
        given = A[:n, :n].copy(), V[:n].copy(), X[: 3 * n].copy()
        for a, b in zip(f(*given), g(*given), strict=True):
            np.testing.assert_allclose(a, b)
    assert len(g.specializations()) == 1


def test_errors_are_scipys_own() -> None:
    for f, given in (
        (lambda a, b: sl.solve(a, b), (np.zeros((4, 4)), np.ones(4))), (lambda a, b: sl.solve(a, b), (A, V[:5])),
        (lambda a, b: sl.cholesky(-a), (S, V)), (lambda a, b: sl.inv(a), (R, V)),
        (lambda a, b: nd.gaussian_filter(a, 1.5, mode="bogus"), (R, V)), (lambda a, b: sf.fft(b), (R, V[:0])),
        (lambda a, b: sg.savgol_filter(b, 7, 2), (R, V[:3])), (lambda a, b: sd.cdist(a, b[:, None]), (R, V)),
    ):  # fmt: skip
        with pytest.raises(Exception) as eager:
            f(*given)
        with pytest.raises(type(eager.value)) as ours:
            tracebuf.bufferize(f)(*given)
        assert str(ours.value).splitlines()[0] == str(eager.value).splitlines()[0]


def test_an_error_of_sizes_is_that_of_these_sizes() -> None:
    f = tracebuf.bufferize(lambda x: sg.savgol_filter(x, 7, 2))
    with pytest.raises(ValueError, match="window_length"):
        f(X[:3])
    np.testing.assert_allclose(f(X), sg.savgol_filter(X, 7, 2))


@pytest.mark.slow
def test_in_loops_and_branches() -> None:
    def f(a, k):
        total = 0.0
        for i in range(3):
            a = nd.uniform_filter(a, 3) if a.sum() > k else a * 2
            total += nd.gaussian_filter(a * i, 1.0).sum()
        return a, total

    agree(f, R, 0.5, ulp=8)
    climb(f, (R, 0.5), tolerance=1e-12)


def test_refused() -> None:
    assert "`output`" in refused(lambda a, o: nd.label(a > 0, output=o), R, R.astype(int)).reason
    assert "may overlap" in refused(lambda a: nd.gaussian_filter(a[1:], 1.5, output=a[:-1]), R).reason
    agree(lambda a, p: np.float32(1) * sl.norm(a, p), np.eye(2), 2)
    assert "a function" in refused(lambda a: sd.cdist(a, a, print), S).reason


def test_what_no_rule_tells_is_called_as_it_is() -> None:
    agree(lambda a: sl.eigh(a, subset_by_value=(0, 30)), S)
    agree(lambda a, p: sl.norm(a, p), S, 2.0)
    agree(lambda a: sg.fftconvolve(a, a, axes=0), S)
    agree(lambda a: st.rankdata(a, "min"), S)


def test_what_may_be_overwritten_is_not() -> None:
    def f(a, b):
        return sl.solve(a, b, overwrite_a=True, overwrite_b=True), sl.inv(a, overwrite_a=True)

    a, b = np.asfortranarray(A), V.copy()
    tracebuf.bufferize(f)(a, b)
    assert (a == A).all() and (b == V).all()


def test_they_are_decorated_themselves() -> None:
    for f, args in (
        (sl.solve, (A, V)), (st.zscore, (R,)), (nd.gaussian_filter, (R, 1.5)), (sg.convolve, (X, V)),
        (st.gmean, (R * R,)), (ss.logsumexp, (R,)),
    ):  # fmt: skip
        np.testing.assert_allclose(tracebuf.bufferize(f)(*args), f(*args))
    with pytest.raises(np.linalg.LinAlgError, match="singular"):
        tracebuf.bufferize(sl.solve)(np.zeros((3, 3)), np.ones(3))


# -- sparse matrices
M = scipy.sparse.random(50, 40, 0.1, format="csr", random_state=0)
C = scipy.sparse.csc_array(M)


def descent(x, b):
    for _ in range(5):
        x -= 0.1 * (M.T @ (M @ x - b))
    return x, C.dot(x), b @ M, x @ C.T


def of_a_matrix(x):
    return M @ x, C.T @ M.dot(x)


def test_products_of_sparse_matrices() -> None:
    agree(descent, np.ones(40), np.arange(50.0), ulp=64)
    climb(descent, (np.ones(40), np.arange(50.0)), tolerance=1e-12)
    for dtype in (np.float32, np.int64, np.complex128):
        agree(of_a_matrix, np.ones((40, 3), dtype), ulp=64)


def test_the_matrix_has_the_elements_that_it_has_then() -> None:
    m = scipy.sparse.csr_array(np.eye(3))

    def f(x):
        return m @ x

    g = tracebuf.bufferize(f)
    assert g(np.ones(3)).tolist() == [1, 1, 1]
    m.data[1] = 5
    assert g(np.ones(3)).tolist() == [1, 5, 1]
    m = scipy.sparse.csr_array(np.ones((2, 3)))
    assert g(np.ones(3)).tolist() == [3, 3]


def test_what_is_computed_of_a_matrix_is_not_kept() -> None:
    """It was computed once, while tracing."""
    for text in (
        "(2 * M) @ x", "-M @ x", "abs(M) @ x", "np.abs(M) @ x", "sum([M, M]) @ x", "M[0] @ x", "x if M != C else M @ x",
        "(M.T * 2) @ x",
    ):  # fmt: skip
        f = program(f"def f(x): return {text}", M=M, C=C)
        assert "may change between calls" in refused(f, np.ones(40)).reason
    assert "nnz" in refused(lambda x: x + hasattr(M.T, "nnz"), np.ones(40)).reason
    agree(lambda x: M @ x if scipy.sparse.issparse(M) else x, np.ones(40), ulp=8)


def test_wrong_products_of_sparse_matrices() -> None:
    for n in (39, 41):
        with pytest.raises(ValueError, match="mismatch") as eager:
            of_a_matrix(np.ones(n))
        with pytest.raises(ValueError, match="mismatch") as ours:
            tracebuf.bufferize(of_a_matrix)(np.ones(n))
        assert str(ours.value).splitlines()[0] == str(eager.value)


INTO = [
    "nd.gaussian_filter(a, 1, output=o)", "nd.gaussian_filter(a, 1, output=a)", "nd.gaussian_filter(a, 1, 0, o[:])",
    "nd.correlate1d(a[0], [1.0, 2, 1], -1, a[0])", "nd.median_filter(a, 3, output=o)", "nd.sobel(a, 0, output=o)",
    "nd.uniform_filter(a.T, 3, output=o.T)", "nd.laplace(a, output=o.astype(np.float32))", "nd.shift(a, 1.0, o)",
    "nd.convolve(a, a[:3, :3], o)", "nd.percentile_filter(a, 30, 3, output=o)", "nd.gaussian_filter(a, 1, output=None)",
    "nd.rotate(a, 30.0, reshape=False, output=o)", "nd.grey_closing(a, 3, output=o)", "nd.spline_filter(a, 3, o)",
    "nd.map_coordinates(a, np.array([[0.5, 1], [1, 2]]), output=o[0, :2])", "nd.white_tophat(a, 3, output=o)",
    "nd.gaussian_filter(a, 1, output=o.astype(int))", "nd.affine_transform(a, np.eye(2) * 0.5, output=o)",
    "nd.gaussian_filter(a + 1j, 1, output=o)", "nd.gaussian_filter(a, 1, output=o[1:])",
]  # fmt: skip


@pytest.mark.parametrize("text", one_in(7, INTO))
def test_filters_write_into_an_array(text: str) -> None:
    f = program(f"def f(a, o):\n    r = {text}\n    return r, r is o, r is a, o", nd=nd)
    agree(f, R, np.zeros(R.shape))
    agree(f, R, np.zeros(R.shape[::-1]).T)


LEAST_SQUARES = {
    "whole": (lambda a, b: sl.lstsq(a, b)),
    "of lists": (lambda a, b: sl.lstsq([[1, 2], [3, 4.5], [5, 6]], [1, 2, 3])),
    "parts": (lambda a, b: (sl.lstsq(a, b, 1e-3)[0] @ np.ones_like(b[: a.shape[1]]), sl.lstsq(a, b)[2])),
    "residuals": (lambda a, b: np.sum(sl.lstsq(a, b, lapack_driver="gelss")[1])),
}


def near(f: Any, g: Any, *args: Any) -> None:
    """The same, up to rounding and strides: solutions are views in eager."""
    try:
        wanted = list(leaves(f(*args)))
    except Exception as error:
        with pytest.raises(type(error)):
            g(*args)
        return
    for a, b in zip(wanted, leaves(g(*args)), strict=True):
        assert type(a) is type(b) and np.shape(a) == np.shape(b) and np.asarray(a).dtype == np.asarray(b).dtype
        single = np.asarray(a).dtype.char in "fF"
        np.testing.assert_allclose(a, b, rtol=1e-3 if single else 1e-9, atol=1e-3 if single else 1e-12)


def windowed(x, before, after):
    size, origin = int(np.ceil(before) + np.ceil(after)), int(np.ceil(0.5 * (before - after)))
    return nd.maximum_filter1d(x, size, mode="constant", origin=origin, cval=x.min()), nd.uniform_filter(x, size + 1)


def test_windows_whose_sizes_are_computed() -> None:
    x = np.sin(np.arange(30.0) ** 2)
    for before, after in ((3.0, 2.5), (1.0, 4.0), (2.0, 2.0)):
        agree(windowed, x, before, after)
    with pytest.raises(ValueError, match="invalid origin"):
        tracebuf.bufferize(lambda x, k: nd.minimum_filter1d(x, int(2 * k) + 1, origin=int(4 * k)))(x, 1.0)


@pytest.mark.parametrize("name", one_in(4, LEAST_SQUARES))
@pytest.mark.slow
def test_least_squares(name: str) -> None:
    """There are residuals of a matrix of full rank with more rows than columns; of a vector they are a number."""
    f, g = LEAST_SQUARES[name], tracebuf.bufferize(LEAST_SQUARES[name])
    tall = R.T[:, :3]
    for a in (tall, tall[:, [0, 0]], tall[:3], tall[:2], tall[:1], tall[:, :0], tall[:0]):
        for b in (X[:12], X[:24].reshape(12, 2), X[:12, None], X[:12] + 1j, X[:24].reshape(12, 2) * 1j, X[:11]):
            near(f, g, a, b[: len(a)] if len(b) == 12 else b)
    for dtype in (np.float32, np.complex64, int):
        near(f, g, tall.astype(dtype), (X[:12] * 9).astype(dtype))


@pytest.mark.slow
def test_least_squares_of_slices() -> None:
    f = program("""
        def f(data, bp):
            bp = np.sort(np.unique(np.concatenate((np.array([0, len(data)]), bp))))
            data = data.copy()
            ranks = []
            for m in range(len(bp) - 1):
                n = bp[m + 1] - bp[m]
                a = np.ones((n, 2))
                a[:, 0] = np.arange(1, n + 1) / n
                sl = slice(bp[m], bp[m + 1])
                coef, resids, rank, s = linalg.lstsq(a, data[sl])
                data[sl] = data[sl] - a @ coef
                ranks.append(rank)
            return data, ranks
    """, linalg=sl)
    for data in some(4, (X, X.reshape(100, 2), X.reshape(50, 4) + 1j, (X * 9).astype(int).astype(float))):
        for bp in some(2, ([20], [], [7, 30], [1, 12, 40])):
            agree(f, data, np.array(bp, int), ulp=1e5)


def test_residuals_by_path() -> None:
    f = program("""
        def f(a, b, k):
            n = int(k[0])
            x, residuals, rank, s = sl.lstsq(a[:n], b[:n])
            error = residuals.sum() if residuals.size else 0.0
            return x, error, np.ndim(residuals), np.size(residuals)
    """, sl=sl)
    g = tracebuf.bufferize(f)
    for n in (12, 4, 3, 2, 0):
        for b in (X[:12], X[:24].reshape(12, 2)):
            near(f, g, R.T[:, :3], b, np.array([n]))
