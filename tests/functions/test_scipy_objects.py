"""Objects of SciPy's from outside: distributions and interpolants."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.interpolate as si
import scipy.stats
from scipy.optimize import OptimizeResult
from scipy.stats import multivariate_normal, norm

import tracebuf
from tests.support.agreement import agree, refused
from tracebuf.testing.ladder import climb

X = np.linspace(0.1, 3.0, 9)
STUDENT = scipy.stats.t(5)
ROWS = scipy.stats.norm(np.arange(3.0)[:, None])
PLACES = np.linspace(0.0, 4.0, 12)
LINEAR = si.interp1d(PLACES, np.sin(PLACES))
CUBIC, PCHIP = si.CubicSpline(PLACES, np.cos(PLACES)), si.PchipInterpolator(PLACES, PLACES**2)
SMOOTH, SPLINE = si.UnivariateSpline(PLACES, np.sin(PLACES)), si.make_interp_spline(PLACES, np.sin(PLACES))
OF_ROWS = si.CubicSpline(PLACES, np.stack([PLACES, PLACES], 1))


def black_scholes(spot, strike, rate, volatility, time):
    spread = volatility * np.sqrt(time)
    d = (np.log(spot / strike) + (rate + 0.5 * volatility**2) * time) / spread
    return spot * norm.cdf(d) - strike * np.exp(-rate * time) * norm.cdf(d - spread)


def methods(x):
    return (
        norm.pdf(x, loc=0.5, scale=x.std()), scipy.stats.expon.logpdf(x), STUDENT.ppf(0.3), STUDENT.cdf(x),
        scipy.stats.binom.pmf(3, 10, x / 10), norm.sf(x[:, None], x, 2.0), norm.cdf(x[0]), norm.std(2.0, 3.0),
    )  # fmt: skip


def interpolants(x):
    return LINEAR(x), CUBIC(x), PCHIP(x[0]), SMOOTH(x), SPLINE(x[:, None] * np.ones(2)), LINEAR(2)


@pytest.mark.slow
def test_distributions() -> None:
    agree(black_scholes, X * 50, 100.0, 0.01, 0.2, 1.0, ulp=8)
    climb(black_scholes, (X * 50, 100.0, 0.01, 0.2, 1.0), tolerance=1e-12)
    agree(methods, X, ulp=8)


def test_interpolants() -> None:
    agree(interpolants, X, ulp=8)
    climb(interpolants, (X,), tolerance=1e-12)


def test_errors_are_scipys_own() -> None:
    def outside(x):
        return LINEAR(x * 10)

    def apart(x):
        return norm.pdf(x, x[:3])

    for f, words in ((outside, "interpolation range"), (apart, "broadcast")):
        with pytest.raises(ValueError, match=words):
            tracebuf.bufferize(f)(X)


def test_another_object_is_another_program() -> None:
    chosen: Any = LINEAR

    def f(x):
        return chosen(x)

    g = tracebuf.bufferize(f)
    assert (g(X) == LINEAR(X)).all()
    chosen = CUBIC
    assert (g(X) == CUBIC(X)).all()


def test_refused() -> None:
    assert "values that are arrays" in refused(lambda x: OF_ROWS(x), X).reason
    assert "are arrays" in refused(lambda x: ROWS.pdf(x), X).reason
    assert "raises for stand-ins" in refused(lambda x: x + norm.rvs(0.0, -1.0, size=9), X).reason


def test_distributions_that_the_function_makes() -> None:
    def f(x):
        norm = scipy.stats.norm
        chosen = scipy.stats.t(5) if x[0] > 0 else scipy.stats.t(df=7)
        gamma = scipy.stats.gamma(2.0, scale=x.mean())
        total = sum(norm(x[k], 1 + k).pdf(1.0) for k in range(3))
        moments = gamma.mean(), gamma.std(), gamma.var(), gamma.median()
        return chosen.sf(x), chosen.ppf(0.9), gamma.logpdf(x + 1), moments, scipy.stats.chi2(2 * x + 1).ppf(0.3), total

    agree(f, X)
    agree(f, -0.5 + X)

    def missing(x):
        return scipy.stats.t().pdf(x)

    agree(missing, X)


def test_results_that_the_function_makes() -> None:
    """scipy.optimize.OptimizeResult: a dict whose items are attributes."""

    def f(x, n):
        found = OptimizeResult({"fun": n}, x=x)
        found.nit = 3
        found["success"] = found.nit > n
        if x[0] > 0.5:
            found.x = x * 2
        return found, found.x, found["fun"], found.success

    agree(f, X, 2)
    agree(f, X + 1, 4)
    agree(lambda x: OptimizeResult(x=x).nothing, X)


def of_several_variables(x, mean, cov):
    with_mean = multivariate_normal(mean, cov)
    rows = np.zeros(len(x))
    for i in range(len(x)):
        rows[i] = multivariate_normal(mean=mean, cov=cov).pdf(x[i])
    return with_mean.logpdf(x).sum(), multivariate_normal.pdf(x, mean, cov=cov), rows


def test_distributions_of_several_variables() -> None:
    x, mean, cov = np.arange(8.0).reshape(4, 2) / 8, np.array([0.5, 0.2]), np.array([[1.0, 0.2], [0.2, 2.0]])
    agree(of_several_variables, x, mean, cov, ulp=8)
    agree(of_several_variables, x, mean, -cov)


def draws(x, n):
    of = norm(x[0], scale=x[1])
    total = 0.0
    for _ in range(n):
        total += STUDENT.rvs()
    return of.rvs(n), of.rvs(size=(2, n)), norm.rvs(), norm.rvs(x), total, scipy.stats.poisson.rvs(3.0, size=n)


def walk(x, n):
    mean = 1.0
    for _ in range(n):
        proposal = norm(mean, 0.5).rvs()
        if np.random.rand() < norm(proposal, 1).pdf(x).prod() / norm(mean, 1).pdf(x).prod():
            mean = proposal
    return mean * 2, norm.cdf(mean)


@pytest.mark.parametrize("f", [draws, walk])
def test_draws_of_distributions(f: Any) -> None:
    """Of numbers that are Python's or NumPy's, too, by the path."""
    np.random.seed(3)
    eager = f(X, 3)
    np.random.seed(3)
    mine = tracebuf.bufferize(f)(X, 3)
    assert all(np.array_equal(a, b) and type(a) is type(b) for a, b in zip(eager, mine, strict=True))


def by_distribution(m, c):
    of = multivariate_normal(m, c)
    return of.rvs(size=2), of.rvs(), np.random.random()


def by_kernels(m, c):
    of = scipy.stats.gaussian_kde(m)
    return of.resample(2), of.resample(3), np.random.random()


@pytest.mark.parametrize("f", [by_distribution, by_kernels])
def test_what_objects_draw_is_drawn_in_order(f: Any) -> None:
    """Also while what their methods give is found out on stand-ins: that draws nothing from NumPy's generator."""

    m, c = np.array([0.1, 0.5, 0.2]), np.eye(3)
    np.random.seed(3)
    eager = f(m, c)
    np.random.seed(3)
    mine = tracebuf.bufferize(f)(m, c)
    assert all(np.array_equal(a, b) for a, b in zip(eager, mine, strict=True))
