"""Functions of SciPy that cannot be traced, called as they are: results, their classes and sizes, effects, errors."""

from __future__ import annotations

import functools
import threading
import time
import types
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.integrate as si
import scipy.interpolate as sp
import scipy.linalg as sl
import scipy.ndimage as nd
import scipy.optimize as so
import scipy.signal as sg
import scipy.spatial.distance as sd
import scipy.stats as st
from numpy.polynomial import Polynomial
from scipy.spatial import KDTree

import tracebuf
from tests.support.agreement import agree, refused
from tests.support.params import one_in
from tracebuf.frontends.numpy.functions.host import untraced
from tracebuf.running import kept
from tracebuf.testing.ladder import different, leaves

RNG = np.random.default_rng(0)
X = RNG.normal(size=200)
Y = 2 * X + RNG.normal(size=200)
M = RNG.normal(size=(6, 6))

CALLS: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "results with names": (lambda x, y: (st.ttest_ind(x, y), st.ttest_ind(x, y).df * 2, st.linregress(x, y)), (X, Y)),
    "numbers of results": (lambda x, y: st.linregress(x, y).slope * x + st.linregress(x, y).intercept_stderr, (X, Y)),
    "objects": (lambda x, y: (st.pearsonr(x, y), st.pearsonr(x, y).statistic, st.pearsonr(x, y)[1]), (X, Y)),
    "ranks": (lambda x, y: (st.spearmanr(x, y).statistic, st.kendalltau(x, y), st.wilcoxon(x, y)), (X, Y)),
    "tests": (lambda x, y: (st.f_oneway(x, y, x + 1), st.mannwhitneyu(x, y), st.kstest(x, "norm")), (X, Y)),
    "named tuples": (lambda x: (st.mode(np.round(x)), st.describe(x), st.trimboth(x, 0.1)), (X,)),
    "found": (lambda x: x[sg.find_peaks(x)[0]].mean() + len(sg.argrelmax(x)[0]), (X,)),
    "a dict": (lambda x: sg.find_peaks(x, height=0)[1]["peak_heights"] * 2, (X,)),
    "spectra": (lambda x: (*sg.spectrogram(x, nperseg=64), *sg.stft(x, nperseg=64)), (X,)),
    "cross spectra": (lambda x, y: sg.csd(x, y, nperseg=99), (X, Y)),
    "coherence": (lambda x, y: sg.coherence(x, y, nperseg=32), (X, Y)),
    "resampled": (lambda x: (sg.decimate(x, 4), sg.upfirdn([1, 1, 1], x, 2)), (X,)),
    "images": (lambda x: (nd.zoom(x, 2), nd.center_of_mass(np.abs(x))), (X,)),
    "solved": (lambda m: (sl.lstsq(m[:, :3], m[0]), so.nnls(np.abs(m), np.abs(m[0]))), (M,)),
    "decomposed": (lambda m: (sl.schur(m), sl.polar(m)), (M,)),
    "assigned": (lambda m: so.linear_sum_assignment(m), (M,)),
    "distances": (lambda x, y: sd.directed_hausdorff(np.stack([x, y], 1), np.stack([y, x], 1)), (X, Y)),
    "interpolated": (lambda x, p: sp.pchip_interpolate(np.arange(200.0), x, p), (X, np.linspace(1, 100, 7))),
    "integrated": (lambda x: si.simpson(x, dx=0.5), (X,)),
}  # fmt: skip


def same(wanted: Any, found: Any, tolerance: float) -> None:
    """Structure, types and values, within a tolerance."""
    eager, mine = list(leaves(wanted)), list(leaves(found))
    assert [path for path, _ in eager] == [path for path, _ in mine]
    assert not [text for (_, a), (_, b) in zip(eager, mine, strict=True) if (text := different(a, b, tolerance))]
    assert [type(x) for _, x in eager] == [type(x) for _, x in mine]


@pytest.mark.parametrize("name", one_in(4, CALLS))
@pytest.mark.cases(6)
def test_results_are_eagers(name: str) -> None:
    f, args = CALLS[name]
    g = tracebuf.bufferize(f)
    for n in (200, 150):
        given = [x[:n] if len(x) == 200 and not (name == "interpolated" and n != 200) else x for x in args]
        same(f(*given), g(*given), 1e-12)


def test_the_whole_ladder() -> None:
    def f(x: np.ndarray, y: np.ndarray) -> Any:
        r = st.linregress(x, y)
        peaks, found = sg.find_peaks(x, height=0.5)
        return x * r.slope + r.intercept, peaks, found["peak_heights"].sum()

    agree(f, X, Y)


@pytest.mark.slow
def test_results_keep_their_class() -> None:
    f = tracebuf.bufferize(lambda x, y: (st.ttest_ind(x, y), st.pearsonr(x, y)))
    ttest, pearson = f(X, Y)
    eager = st.ttest_ind(X, Y)
    assert type(ttest) is type(eager) and vars(ttest).keys() == vars(eager).keys()
    assert ttest.confidence_interval() == eager.confidence_interval()
    assert pearson.confidence_interval() == st.pearsonr(X, Y).confidence_interval()


@pytest.mark.slow
def test_in_loops_and_branches() -> None:
    def f(x: np.ndarray) -> Any:
        total, last = 0.0, st.ansari(x, x * 2)
        for k in range(3):
            if x[k] > 0:
                last = st.ansari(x, x * 2 + k)
            total += last.pvalue + len(sg.find_peaks(x[k:])[0])
        return total, last

    agree(f, X)
    agree(f, -X)


def test_errors_are_the_functions_own() -> None:
    f = tracebuf.bufferize(lambda x, y: st.pearsonr(x, y)[0])
    assert f(X, Y) == st.pearsonr(X, Y)[0]
    g = tracebuf.bufferize(lambda x, c: sg.find_peaks(x, distance=c)[0])
    assert np.array_equal(g(X, 5.0), sg.find_peaks(X, distance=5.0)[0])
    with pytest.raises(ValueError, match="`distance` must be greater or equal to 1"):
        g(X, 0.5)


def test_random_numbers_are_the_programs() -> None:
    def f(x: np.ndarray) -> Any:
        first = np.random.normal()
        return first, st.ansari(x, x + 1).pvalue, sg.find_peaks(x)[0], np.random.normal()

    np.random.seed(1)
    eager = f(X)
    np.random.seed(1)
    mine = tracebuf.bufferize(f)(X)
    assert mine[0] == eager[0] and mine[3] == eager[3]


RATE = 0.5


def decay(t: Any, a: Any, b: Any) -> Any:
    return a * np.exp(-b * t) + RATE


def rosenbrock(p: np.ndarray) -> Any:
    return (1 - p[0]) ** 2 + 100 * (p[1] - p[0] ** 2) ** 2


T = np.linspace(0, 3, 40)
D = 2 * np.exp(-T) + 0.1 * RNG.normal(size=40)
CALLBACKS: dict[str, Callable[..., Any]] = {
    "minimize": lambda t, d: so.minimize(lambda p: np.sum((d - p[0] * np.exp(-p[1] * t)) ** 2), [1.0, 1.0]).x,
    "attributes": lambda t, d: [(r.x, r.fun * 2, r.success, r.nit) for r in (so.minimize(rosenbrock, d[:2]),)],
    "by name": lambda t, d: so.minimize(rosenbrock, [1.2, 1.0], method="Nelder-Mead").x + t[0],
    "constraints": lambda t, d: so.minimize(
        lambda p: (p**2).sum(), d[:3], method="SLSQP", constraints=[{"type": "ineq", "fun": lambda p: p.sum() - d[0]}]
    ).x,
    "curve_fit": lambda t, d: decay(t, *so.curve_fit(decay, t, d, p0=[1.0, 1.0])[0]),
    "least_squares": lambda t, d: so.least_squares(lambda p: d - decay(t, *p), [1.0, 1.0]).x,
    "quad": lambda t, d: (si.quad(lambda u: np.exp(-u * d[0]), 0, np.inf), si.dblquad(lambda a, b: a * b, 0, 1, 0, 2)),
    "roots": lambda t, d: (so.brentq(lambda u: u**3 - d[0], 0, 5), so.newton(lambda u: u**2 - d[0], 1.0)),
    "systems": lambda t, d: so.fsolve(lambda p: p**2 - d[:2] ** 2, [1.0, 1.0]),
    "solve_ivp": lambda t, d: (lambda r: (r.t, r.y))(si.solve_ivp(lambda u, s: [-s[0] * d[0]], (0, 3), [1.0])),
    "odeint": lambda t, d: si.odeint(lambda s, u, k=d[1]: -s * k, [1.0], t),
    "resampling": lambda t, d: st.bootstrap((d,), np.mean, n_resamples=20, random_state=0).standard_error,
}  # fmt: skip


@pytest.mark.parametrize("name", one_in(3, CALLBACKS))
@pytest.mark.cases(4)
def test_functions_of_the_users_are_called(name: str) -> None:
    f = CALLBACKS[name]
    g = tracebuf.bufferize(f)
    for scale in (1.0, 1.1):
        same(f(T, D * scale), g(T, D * scale), 1e-9)


def test_what_a_callback_reads_is_of_now(monkeypatch: pytest.MonkeyPatch) -> None:
    def f(t: np.ndarray, d: np.ndarray) -> Any:
        d[0] += 1.0
        first = si.quad(lambda u: u * d[0], 0, 1)[0]
        d[0] += 1.0
        return first, si.quad(lambda u: u * d[0] + RATE, 0, 1)[0]

    g = tracebuf.bufferize(f)
    assert g(T, D.copy()) == f(T, D.copy())
    monkeypatch.setitem(globals(), "RATE", 2.0)
    assert g(T, D.copy()) == f(T, D.copy())


def abs(x: Any) -> Any:
    """No absolute value: names of Python's functions may be others'."""
    return x - 0.5


def callback(u: Any) -> Any:
    return 3 * u


def test_names_of_a_callback_are_the_programs() -> None:
    def f(x: np.ndarray) -> Any:
        pow = lambda a, b: a * b  # noqa: E731
        return si.quad(lambda u: abs(u) + pow(u, 3) + callback(u), 0, x[0]), so.brentq(lambda u: abs(u), 0, x[0])

    agree(f, np.array([1.2, 2.0]))

    def needing(t: Any, a: Any, *, b: Any) -> Any:
        return a * t

    g = tracebuf.bufferize(lambda t, c: si.quad(decay, 0, t[0], args=(1.0, 1.0) if c else (1.0, 1.0, 1.0))[0])
    assert g(T[1:], 1) == si.quad(decay, 0, T[1], args=(1.0, 1.0))[0]
    assert "decay() takes 3 positional arguments but 4 were given" in str(refused(lambda t: g(t, 0), T[1:]))
    assert "needing() missing 1" in str(refused(lambda t: si.quad(needing, 0, t[0], args=(1.0,)), T[1:]))


def test_callbacks_that_write_to_what_they_are_given_are_refused() -> None:
    def adds(p: np.ndarray, a: np.ndarray) -> Any:
        a += 1
        return (p**2).sum()

    def stores(p: np.ndarray, a: np.ndarray) -> Any:
        a[0] = 7
        return (p**2).sum()

    def appends(p: np.ndarray, seen: Any) -> Any:
        seen.append(1.0)
        return (p**2).sum()

    def fills(x: np.ndarray) -> Any:
        def late(u: Any) -> Any:
            if u > 0.5 and d[0] > 5:
                d.fill(0.0)
            return u

        d = x * 2
        return si.quad(late, 0, 1)[0], d

    x = X[:2]
    for f in (
        lambda x: so.minimize(adds, x, args=(x * 2,)).x,
        lambda x: so.minimize(stores, x, args=(x * 2,)).x,
        lambda x: so.minimize(appends, x, args=([],)).x,
    ):
        assert "or a function that it calls, writes to its arguments" in refused(f, x).reason
    agree(fills, np.ones(2))
    assert "writes to an array, list or dict from outside" in refused(fills, np.ones(2) * 9).reason
    agree(lambda x: si.odeint(own_writes, x, T), np.ones(2))


def own_writes(s: np.ndarray, t: Any) -> Any:
    change = np.zeros(2)
    change[0] = -s[1]
    s = s + 1
    s[1] *= 2
    change += s
    return change


def test_what_other_threads_print_meanwhile_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    with untraced.nothing_said():
        print("dropped")
        other = threading.Thread(target=print, args=("shown",))
        other.start()
        other.join()
    first, second = untraced.nothing_said(), untraced.nothing_said()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    second.__exit__(None, None, None)
    print("after")
    assert capsys.readouterr().out == "shown\nafter\n"


def test_errors_of_a_callback_come_through() -> None:
    def f(d: np.ndarray) -> Any:
        return so.brentq(lambda u: u - d[0], 0, 5) + si.quad(lambda u: [1.0, 2.0][int(u * 0 + d[1])], 0, 1)[0]

    g = tracebuf.bufferize(f)
    assert g(np.array([1.0, 1.0])) == f(np.array([1.0, 1.0]))
    with pytest.raises(ValueError, match="different signs"):
        g(np.array([9.0, 1.0]))
    with pytest.raises(IndexError, match="out of range"):
        g(np.array([1.0, 2.0]))


@pytest.mark.slow
def test_results_of_optimizations_are_returned_and_shown(capsys: pytest.CaptureFixture[str]) -> None:
    def f(x: np.ndarray) -> Any:
        r = so.minimize(rosenbrock, x, method="L-BFGS-B")
        print("done:", r.message, r["nit"])
        return r, r.message, st.page_trend_test(np.outer(T[1:4], T[2:6]) + x[0])

    g = tracebuf.bufferize(f)
    for x in (np.array([1.2, 1.0]), np.array([0.5, 2.0])):
        eager, said = f(x), capsys.readouterr().out
        mine = g(x)
        assert repr(eager) == repr(mine) and capsys.readouterr().out == said
        assert [type(a) for a in eager] == [type(a) for a in mine]


def objects_in_a_loop(t: np.ndarray, d: np.ndarray) -> Any:
    f, total = sp.CubicSpline(t, d), 0.0
    for k in range(len(t)):
        total += float(f(t[k] * 0.3))
    return total, f


OBJECTS: dict[str, Callable[..., Any]] = {
    "calls": lambda t, d: (sp.CubicSpline(t, d)(t * 0.5), sp.interp1d(t, d, kind="cubic")(t[:5] + 0.01)),
    "methods": lambda t, d: (sp.CubicSpline(t, d).derivative()(0.3), sp.CubicSpline(t, d).integrate(0, 1.0)),
    "twice": lambda t, d: (lambda f: f(t) - f(t * 0.5, 1))(sp.CubicSpline(t, d)),
    "attributes": lambda t, d: sp.CubicSpline(t, d).c * 2,
    "of functions": lambda t, d: sp.make_interp_spline(t, d)(t[:3]),
    "fits": lambda t, d: (sp.UnivariateSpline(t, d, s=0.1)(t), st.gaussian_kde(d)(t)),
    "polynomials": lambda t, d: (np.poly1d(np.polyfit(t, d, 2))(t), np.poly1d([1.0, -3.0, d[0]]).roots),
    "fitted polynomials": lambda t, d: Polynomial.fit(t, d, 3)(t),
    "trees": lambda t, d: KDTree(np.stack([t, d], 1)).query(np.array([[0.5, 0.5], [1.0, 1.0]]), k=2),
}  # fmt: skip


@pytest.mark.parametrize("name", one_in(2, OBJECTS))
def test_objects_of_libraries(name: str) -> None:
    f = OBJECTS[name]
    g = tracebuf.bufferize(f)
    for n in (40, 30):
        same(f(T[:n], D[:n]), g(T[:n], D[:n]), 1e-9)


def test_objects_are_handed_on() -> None:
    eager, mine = objects_in_a_loop(T, D), tracebuf.bufferize(objects_in_a_loop)(T, D)
    assert mine[0] == pytest.approx(eager[0], rel=1e-12)
    assert type(mine[1]) is sp.CubicSpline and mine[1](0.5) == eager[1](0.5)
def test_what_is_one_or_another_in_a_result_is_handed_on() -> None:
    """The `hess_inv` of BFGS has ints where it makes no iteration; classes of results want arguments of their own."""

    def f(x: np.ndarray) -> Any:
        r = so.minimize(lambda p: ((p - x[0]) ** 2).sum(), [0.0])
        return r, r.x + r.nit, r.hess_inv, so.root_scalar(lambda u: u**3 - 1, bracket=[0, 3])

    g = tracebuf.bufferize(f)
    for x in (X, X * 0):
        assert repr(f(x)) == repr(g(x))
    g = tracebuf.bufferize(lambda w: sg.butter(3, w, output="sos"))
    assert np.array_equal(g(0.2), sg.butter(3, 0.2, output="sos"))


def test_what_is_kept_is_let_go_with_the_call() -> None:
    with kept.keeping():
        number = int(kept.keep(np.zeros(3)))
        with kept.keeping():
            assert kept.kept(number).size == 3
    with pytest.raises(tracebuf.TracebufError, match="is gone"):
        kept.kept(number)


@pytest.mark.slow
def test_what_is_refused() -> None:
    seen: list[Any] = []

    def noting(p: np.ndarray) -> Any:
        seen.append(p)
        return (p**2).sum()

    assert "`seen`, a list, in a function" in refused(lambda x: so.minimize(noting, x).x, X[:2]).reason
    save = np.save
    for callback in (lambda p: print(p), lambda p: np.save("f", p), lambda p: X.__setitem__(0, 1),
                     lambda p: save("f", p), lambda p: X.setflags(write=False)):  # fmt: skip
        refused(lambda x: so.minimize(callback, x).x, X[:2])  # noqa: B023
    renamed = functools.wraps(so.rosen)(lambda p: noting(p))
    assert "`seen`, a list" in refused(lambda x: so.minimize(renamed, x).x, X[:2]).reason
    assert not seen
    refused(lambda x: sp.splev(x, (x, x, 3)), X)
    assert "depend on its arguments" in refused(lambda m: sl.logm(m), M).reason


def test_types_that_depend_on_the_numbers_are_refused_late() -> None:
    def f(x: np.ndarray) -> Any:
        return kind_of_sum(x) * 2

    with tracebuf.options(fallback="numpy"):
        g = tracebuf.bufferize(f)
        assert g(X) == f(X)
        with pytest.warns(tracebuf.TracebufWarning, match="gives int; for stand-ins of these types it gives float"):
            assert g(-np.ones(7)) == f(-np.ones(7)) == -2
        assert g(X) == f(X) and g(-np.ones(7)) == -2
    error = refused(f, -np.ones(7))
    assert "gives int" in error.reason and "fallback" in error.instead


def librarys(body: str, **names: Any) -> Any:
    """A function that says that it is SciPy's, and whose source cannot be read."""
    code = compile(f"def f(x):\n    {body}", "<scipy>", "exec").co_consts[0]
    made = types.FunctionType(code, {"__name__": "scipy.signal.made", **names})
    made.__module__ = "scipy.signal.made"
    return made


kind_of_sum = librarys("return -1 if (x == -1).all() else float(x.sum())")


def test_stand_ins_are_short_where_a_call_takes_long() -> None:
    seen: list[int] = []

    def cubic(n: int) -> int:
        seen.append(n)
        assert n < 1000
        time.sleep(n**3 * 2e-7)
        return n

    f = librarys("return cubic(len(x)) * x.sum()", cubic=cubic)
    assert tracebuf.bufferize(lambda x: f(x))(np.ones(3)) == 9.0
    assert seen


def test_settings_are_no_computations() -> None:
    import scipy.fft as sf

    f = tracebuf.bufferize(lambda x: x + sf.get_workers())
    assert f(1.0) == 2.0
    with sf.set_workers(4):
        assert f(1.0) == 5.0


def test_a_function_by_itself() -> None:
    correlated = tracebuf.bufferize(st.pearsonr)
    assert correlated(X, Y) == st.pearsonr(X, Y)
    agree(lambda x, y: correlated(x, y * 2).statistic + correlated(x, x).pvalue, (X, Y))


COLOURS = np.array([[11, 4], [3, 9]])


@pytest.mark.parametrize("call", [
    lambda on: on(st.pearsonr)(X, Y, method=st.PermutationMethod(n_resamples=20, rng=np.random.default_rng(1))),
    lambda on: on(sg.bode)(sg.TransferFunction([1.0], [1.0, 1.0]))[1],
    lambda on: on(st.ks_1samp)(X, st.norm.cdf),
    lambda on: on(sd.squareform)(np.arange(3.0)),
    lambda on: on(so.fsolve)(lambda x: x**2 - 2, 1.0),
    lambda on: on(sl.logm)(COLOURS),
])  # fmt: skip
def test_a_refused_function_by_itself_runs_as_it_is(call: Any) -> None:
    """A library's function is nobody's to rewrite: no refusal, no warning, but a row that says why."""
    made = list[tracebuf.BufferizedFunction]()

    def on(f: Any) -> Any:
        made.append(tracebuf.bufferize(f))
        return made[-1]

    with warnings.catch_warnings():
        warnings.simplefilter("error", tracebuf.TracebufWarning)
        same(call(lambda f: f), call(on), 0.0)
    assert "the original function" in str(made[0].specializations())
    with pytest.raises(tracebuf.UnsupportedError):
        call(tracebuf.bufferize(fallback="error"))
    with tracebuf.options(fallback="error"), pytest.raises(tracebuf.UnsupportedError):
        call(tracebuf.bufferize)


def test_ufuncs_of_several_results() -> None:
    def f(a: Any, m: Any) -> Any:
        import scipy.special as ss

        s, c, d, phi = ss.ellipj(a, m)
        return s + c, d, phi, ss.sici(a), ss.fresnel(1.5)

    agree(f, np.linspace(0.1, 2.0, 7), 0.3)
    agree(f, np.linspace(0.1, 2.0, 12).reshape(3, 4), np.linspace(0.1, 0.9, 4))


def of_lapack(a: np.ndarray, b: np.ndarray) -> Any:
    potrf, potrs = sl.get_lapack_funcs(("potrf", "potrs"), (a, b))
    c, info = potrf(a, lower=True)
    if info > 0:
        raise np.linalg.LinAlgError(f"{info}-th leading minor not positive definite")
    return potrs(c, b, lower=True)[0], sl.blas.dgemm(1.0, a, a), sl.blas.dnrm2(b) * 2


def test_lapack_and_blas_by_name() -> None:
    agree(of_lapack, M @ M.T + np.eye(6), M[0])
    agree(of_lapack, -np.eye(2), np.ones(2))
    for f, why in (
        (lambda a: sl.blas.daxpy(a[0], a[1]), "writes to its arguments"),
        (lambda a: sl.lapack.dsbevd(a.T)[0], "writes to its arguments"),
        (lambda a: sl.lapack.dgetrs(*sl.lapack.dgetrf(a)[:2], a[0])[0], "integers that the run time knows"),
        (lambda a: sl.lapack.dgesv(a, a[0], 1)[2], "an integer without a name"),
    ):
        assert why in refused(tracebuf.bufferize(f), M).reason


@pytest.mark.slow
def test_what_libraries_make_of_lapack() -> None:
    def f(ab: np.ndarray, b: np.ndarray) -> Any:
        return sl.cho_solve_banded((sl.cholesky_banded(ab), False), b)

    agree(f, np.array([[0.0, 1, 1, 1], [4, 5, 6, 7]]), np.arange(4.0))
    agree(lambda a: sl.eig_banded(np.asfortranarray(a[:2]), select="a"), M)
    agree(lambda a: (sl.lapack.dsbevd(a.T, overwrite_ab=0)[0], a), M)
    agree(lambda a: sl.schur(a, sort="lhp"), M)  # asks how much memory to work in would be best
