"""What formulas allocate and copy: as much as the result needs, and what NumPy's algorithm keeps."""

from __future__ import annotations

import numpy as np
import pytest

import tracebuf
from tests.support.agreement import agree, program
from tests.support.params import one_in
from tracebuf import bufferize

R = np.random.default_rng(0)
M, P, Q, T = (R.standard_normal(shape) for shape in ((4, 6), (5, 3), (5, 3), (5, 2)))
GIVEN = {"m": M, "z": M + 1j * M, "p": P, "q": Q, "t": T, "v": M[0], "w": P[0], "g": np.abs(M[0]) + 0.1}
COUNTS = {
    "np.cov(m)": 3, "np.cov(m, v)": 3, "np.cov(m.T, rowvar=False)": 3, "np.cov(v)": 2, "np.cov(z)": 4,
    "np.cov(m, aweights=g)": 4, "np.corrcoef(m)": 4, "np.corrcoef(v, v)": 2, "np.corrcoef(z)": 5,
    "np.cross(p, q)": 1, "np.cross(p, t)": 1, "np.cross(t, t)": 1, "np.cross(p, w)": 1, "np.cross(w, w)": 1,
    "np.cross(p.T, q.T, axis=0)": 1, "np.cross(p, q, axisc=0)": 1, "np.linalg.cross(p, q)": 1, "np.kron(m, p)": 1,
    "np.kron(m, v)": 1, "np.kron(v, 2)": 1, "np.kron(m.T, p.T)": 1, "np.fft.fftshift(m)": 1,
    "np.fft.ifftshift(p, axes=(0, 1))": 1, "np.polyadd(v, w)": 1, "np.polysub(w, v)": 1,
}  # fmt: skip
"""By expression: how many arrays a call of it allocates; it copies none."""


@pytest.mark.filterwarnings("ignore:Arrays of 2-dimensional vectors:DeprecationWarning")
@pytest.mark.parametrize("text", one_in(8, COUNTS))
def test_formulas_allocate_no_more(text: str) -> None:
    f = bufferize(program(f"def f({', '.join(GIVEN)}):\n    return {text}"))
    f(**GIVEN)
    assert len(f.specializations()) == 1
    native = tracebuf.measure(f, **GIVEN, repeat=1).native
    assert (native.allocations, native.copies) == (COUNTS[text], 0)


def test_a_covariance_of_float32_with_weights_is_one_of_float32() -> None:
    agree(lambda f, g: np.cov(f, dtype=np.float32, aweights=g), M.astype(np.float32), GIVEN["g"], ulp=8)
