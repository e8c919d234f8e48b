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
    "np.average(m, axis=1)": 1, "np.average(m, axis=0, weights=g[:4])": 1, "np.gradient(v)": 1,
    "np.gradient(m, 0.5, axis=1)": 1, "np.gradient(v, g)": 2, "np.nanstd(m, axis=0)": 3,
    "np.geomspace(1, g[0], 5)": 1, "np.logspace(0, 1, 6)": 1, "np.meshgrid(v, w)[0]": 1,
    "np.linalg.matrix_power(m @ m.T, 5)": 4, "np.linalg.multi_dot([m, m.T, p[:4]])": 2, "np.append(v, w)": 1,
    "np.column_stack((v, g))": 1, "np.hstack((m, m))": 1, "np.vstack((v, g))": 1, "np.dstack((p, q))": 1,
    "np.take_along_axis(m, np.argsort(m, 1), 1)": 3, "np.flatnonzero(v > 0)": 2, "np.array_split(v, 4)[1] + 1": 1,
    "np.select([v > 0, v < -1], [v, g])": 1, "np.angle(z)": 1, "np.iscomplex(z)": 1, "np.array_equiv(m, v)": 0,
    "np.block([[p, q], [q, p]])": 1, "np.apply_along_axis(np.sort, 0, m)": 2, "np.ediff1d(v)": 1,
    "np.ediff1d(v, 0.0, 1.0)": 1, "np.tril(m)": 1, "np.triu(p, 1)": 1, "np.ptp(m, axis=0)": 2,
    "np.rollaxis(m, 1) + 1": 3, "np.linalg.outer(v, w)": 1, "np.linalg.trace(m)": 0, "np.fft.rfftfreq(8)": 1,
    "np.identity(4)": 1,
}  # fmt: skip
"""By expression: how many arrays a call of it allocates; it copies none."""


@pytest.mark.filterwarnings("ignore:Arrays of 2-dimensional vectors:DeprecationWarning")
@pytest.mark.parametrize("text", one_in(8, COUNTS))
@pytest.mark.cases(12)
def test_formulas_allocate_no_more(text: str) -> None:
    f = bufferize(program(f"def f({', '.join(GIVEN)}):\n    return {text}"))
    f(**GIVEN)
    assert len(f.specializations()) == 1
    native = tracebuf.measure(f, **GIVEN, repeat=1).native
    assert (native.allocations, native.copies) == (COUNTS[text], 0)


def test_a_covariance_of_float32_with_weights_is_one_of_float32() -> None:
    agree(lambda f, g: np.cov(f, dtype=np.float32, aweights=g), M.astype(np.float32), GIVEN["g"], ulp=8)
