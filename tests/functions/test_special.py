"""Ufuncs of scipy.special: NumPy's rules of types and shapes, the bits of SciPy's own loops (rules C1, N5)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.support.agreement import agree, program, refused

sp = pytest.importorskip("scipy.special")
RNG = np.random.default_rng(5)


def values(a: Any, f: Any, i: Any, c: Any, m: Any, n: Any, z: Any) -> Any:
    e = sp.erf(a) * 2 + sp.gammaln(a)
    k = (sp.erf(f), sp.erf(i), sp.digamma(a), sp.jn(1, a), sp.jv(0.5, a[:, None] + f), sp.wofz(c), sp.expit(m.T))
    s = (sp.gamma(n), sp.gamma(z), sp.erf(0.5), sp.expn(2, a), sp.eval_legendre(n, a), sp.eval_legendre(i, a))
    o = (sp.xlogy(a, f), sp.betainc(2.0, f, 0.3), sp.logit(m[::-1, ::2]), sp.beta.outer(a, f), sp.entr([0.5, 1.0]))
    return e, k, s, o


def stores(a: Any, f: Any, m: Any) -> Any:
    sp.erfc(a, out=a)
    a[1:] = sp.ndtr(a[:-1]) - sp.i0(a[1:])
    m[:] = np.where(m > 0.5, sp.erf(m), m)
    for k in range(len(f)):
        f[k] = sp.gamma(f[k]) if f[k] > 0.5 else sp.expit(-f[k])
    return sp.kl_div(a, a[::-1]).sum()


@pytest.mark.slow
def test_values_and_stores() -> None:
    a, f, i = RNG.uniform(0.1, 3, 6), RNG.uniform(0.1, 1, 6).astype(np.float32), np.arange(6)
    m, c = RNG.uniform(0.1, 0.9, (3, 4)), RNG.uniform(0, 1, 5) + 1j
    agree(values, a, f, i, c, m, 3, np.float64(0.7))
    agree(stores, a, f, m)
    agree(values, np.array([0.0, -1, np.inf, np.nan, -0.0, 1e308]), f, i, c, m, 2, np.float64(-1))


def test_functions_of_several_results() -> None:
    a = np.linspace(-1, 9, 5)
    agree(program("def f(a):\n    return sp.airy(a), sp.fresnel(a[::2]), sp.sici(a + 2)[1] * 2", sp=sp), a)
    agree(program("def f(a):\n    return sp.ellipj(a[0], 0.5), sp.airy(a + 1j)[3]", sp=sp), a)


def test_what_their_loops_would_tell_python_about_is_refused() -> None:
    a = np.linspace(0.1, 1, 4)

    def why(text: str) -> str:
        return str(refused(program(f"def f(a):\n    return {text}", sp=sp), a))

    assert "cuts to an integer" in why("sp.expn(a, a)")
    assert "reduce" in why("sp.xlogy.reduce(a)")
    assert "where" in why("sp.erf(a, out=a, where=a > 0.5)")  # eager crashes
    with sp.errstate(all="raise"):
        assert "seterr" in why("sp.gamma(a)")


@pytest.mark.slow
def test_ufuncs_that_functions_of_scipys_call() -> None:
    a = np.linspace(0.1, 3, 5)
    text = "def f(a, n):\n    return sp.spherical_in(n, a), sp.spherical_jn(2, a, derivative=True)"
    agree(program(text, sp=sp), a, 2)
