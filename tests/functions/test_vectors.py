"""np.cross, np.kron, np.vecdot, np.matvec, np.vecmat and np.linalg's names for products (rules C1, S6, Z4)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.support.forms import expression, split
from tests.support.params import slow_but
from tracebuf.testing.ladder import climb

RNG = np.random.default_rng(2)


def random(*shape: int) -> np.ndarray:
    return RNG.uniform(0.5, 1, shape)


VALUES: dict[str, Any] = {
    "a": random(4, 3), "b": random(4, 3), "v": random(3), "w": random(3), "p": random(2), "q": random(5, 2),
    "t": random(2, 4, 3), "i": RNG.integers(-3, 4, (4, 3)), "f": random(4, 3).astype(np.float32), "c": random(3, 4),
    "m": random(4, 3) > 0.7, "n": np.zeros((0, 3)), "k": random(2, 3, 4).transpose(1, 2, 0), "s": random(4, 4),
    "z": random(4, 3) + 1j * random(4, 3), "h": random(4, 3).astype(np.float16), "o": np.zeros(4), "x": np.array(2.0),
}  # fmt: skip
FORMS = """
np.cross(a, b)|np.cross(v, w)|np.cross(a, v)|np.cross(v, t)|np.cross(p, v)|np.cross(q, q)|np.cross(p, p)
np.cross(v, q[:1])|np.cross(i, a)|np.cross(i, i)|np.cross(f, f)|np.cross(m, m)|np.cross(n, n)|np.cross(h, h)
np.cross(z, a)|np.cross(a, a.T[:, :3])|np.cross(c, c, axis=0)|np.cross(c, a, axisa=0, axisb=1)|np.cross(a, b, axisc=0)
np.cross(t, b, axisc=1)|np.cross(a, s)|np.cross(v, 2.0)|np.cross(a, b, axisa=5)|np.cross(a, q)|np.linalg.cross(a, b)
np.linalg.cross(p, v)|np.linalg.cross(c, c, axis=0)|np.kron(a, b)|np.kron(v, w)|np.kron(a, v)|np.kron(v, t)
np.kron(2, a)|np.kron(a, 2.5)|np.kron(i, f)|np.kron(m, m)|np.kron(k, a)|np.kron(n, a)|np.kron(x, x)
np.kron(a[::2], b.T)|np.kron(s[:, ::-1], p)|np.kron(z, i)|np.kron(x, v)|np.kron(2, 3)|np.vecdot(a, b)|np.vecdot(a, v)
np.vecdot(a, b, axis=0)|np.vecdot(z, a, axis=-2)|np.vecdot(a, b, axis=5)
np.vecdot(v, w)|np.vecdot(t, a)|np.vecdot(i, i)|np.vecdot(m, m)|np.vecdot(f, a)|np.vecdot(n, n)|np.vecdot(z, z)
np.vecdot(z, a)|np.vecdot(h, h)|np.vecdot(a, p)|np.vecdot(2.0, v)|np.vecdot(a, b, out=o)|np.vecdot(k, t[0, :2, 0])
np.matvec(a, v)|np.matvec(t, v)|np.matvec(t, t[0])|np.matvec(a, b)|np.matvec(i, i[0])|np.matvec(z, v)|np.matvec(v, v)
np.matvec(a, o)|np.vecmat(v, c)|np.vecmat(a, t.transpose(0, 2, 1))|np.vecmat(o, s)|np.vecmat(z, c)|np.vecmat(v, a)
np.vecmat(m[0], c > 0.7)|np.linalg.vecdot(a, b)|np.linalg.vecdot(a, b, axis=0)|np.linalg.outer(v, w)
np.linalg.outer(a, v)|np.linalg.matmul(a, c)|np.linalg.trace(t)|np.linalg.trace(s, offset=1)
np.linalg.trace(i, dtype=np.float32)|np.linalg.diagonal(t)|np.linalg.matrix_transpose(t)|np.trace(s, 1)
np.trace(t, axis1=1, axis2=2)|np.trace(i, dtype=float)|np.trace(t, out=np.zeros(3))|np.trace(v)|s.trace(-1)
np.vdot(z, z)|np.vdot(z, a)|np.vdot(a, z)|np.inner(z, z)|np.outer(z, v)|np.dot(z, c)|np.tensordot(z, z, 2)
np.einsum("ij,ij->i", z, z)
"""
TEXTS = split(FORMS)


@pytest.mark.parametrize("text", slow_but(TEXTS[::24], TEXTS))
def test_c1_products_of_vectors(text: str) -> None:
    expression(text, VALUES, ulp=500)


@pytest.mark.slow
def test_on_every_rung() -> None:
    """Rule S2: nothing but results is allocated."""

    def program(a, b, s, v):
        return np.cross(a, b), np.vecdot(a, b), np.kron(s, v), np.matvec(s, a.T[0])

    again = (random(7, 3), random(7, 3), random(7, 7), random(5))
    climb(program, (VALUES["a"], VALUES["b"], VALUES["s"], VALUES["v"]), again=[again], tolerance=1e-13)
