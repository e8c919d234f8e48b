"""np.cov and np.corrcoef (rules C1, C2)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.support.agreement import program
from tests.support.forms import expression, split
from tests.support.params import slow_but
from tracebuf import bufferize
from tracebuf.testing.ladder import climb

RNG = np.random.default_rng(8)
M = RNG.uniform(0, 1, (3, 9)) + np.arange(9) / 4
VALUES: dict[str, Any] = {
    "m": M, "v": M[0].copy(), "w": M[1].copy(), "i": RNG.integers(-9, 9, (3, 9)), "f": M.astype(np.float32),
    "k": np.array([1, 2, 1, 0, 3, 1, 1, 2, 1]), "g": RNG.uniform(0.5, 1, 9), "d": 1,
    "one": M[:1], "none": np.zeros((0, 4)), "column": M[:, :1], "bad": np.array([1, -1, 1, 1, 1, 1, 1, 1, 1]),
    "t": np.zeros((2, 2, 2)), "s": np.array(2.0), "b": M > 1,
}  # fmt: skip
FORMS = """
np.cov(m)|np.cov(v)|np.cov(v, w)|np.cov(m, v)|np.cov(m.T, rowvar=False)|np.cov(m, rowvar=0)|np.cov(m, bias=True)
np.cov(i)|np.cov(b)|np.cov(m, ddof=0)|np.cov(m, ddof=3)|np.cov(m, ddof=2.0)|np.cov(m, ddof=1.5)|np.cov(m, ddof=d)
np.cov(f)|np.cov(f, dtype=np.float32)|np.cov(m, fweights=k)|np.cov(m, aweights=g)|np.cov(m, fweights=k, aweights=g)
np.cov(m, fweights=k, ddof=0)|np.cov(v, aweights=g, ddof=2)|np.cov(m, aweights=g, bias=True)|np.cov(one)|np.cov(none)
np.cov(m[:, ::2])|np.cov(np.asfortranarray(m))|np.cov([v, w])|np.cov(m, fweights=g)|np.cov(m, fweights=bad)
np.cov(m, aweights=bad)|np.cov(m, fweights=k[:3])|np.cov(m, fweights=m)|np.cov(t)|np.cov(s)|np.corrcoef(m)
np.corrcoef(v, w)|np.corrcoef(v)|np.corrcoef(m.T, rowvar=False)|np.corrcoef(i)|np.corrcoef(f, dtype=np.float32)
np.corrcoef(m, v)|np.cov(v, w[:5])|np.cov(m, w, rowvar=False)|np.cov(v, w, rowvar=False)|np.corrcoef(one)
np.corrcoef(column, column)
"""
TEXTS = split(FORMS)


@pytest.mark.parametrize("text", slow_but(TEXTS[:1], TEXTS))
def test_c1_covariances(text: str) -> None:
    expression(text, VALUES, ulp=1e5)


@pytest.mark.slow
def test_on_every_rung() -> None:
    def program(m, g):
        return np.cov(m, aweights=g), np.corrcoef(m, rowvar=False)

    climb(program, (M, VALUES["g"]), again=[(RNG.uniform(0, 1, (5, 4)), RNG.uniform(1, 2, 4))], tolerance=1e-10)


@pytest.mark.slow
def test_complex_numbers() -> None:
    """np.cov conjugates; parts of correlations are no further from 0 than 1."""
    z = M * (1 + 0.5j) + 1j * M[::-1] ** 2
    for function in (np.cov, np.corrcoef):
        got = bufferize(program(f"def f(z):\n    return np.{function.__name__}(z)"))(z)
        assert got.dtype == np.complex128 and np.allclose(got, function(z), rtol=1e-12, atol=1e-12)
