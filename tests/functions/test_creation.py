"""Arrays made of rules, numbers, grids and places, against eager NumPy (rules C1, N1, S3, S6, Z1)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.support.agreement import agree, program, refused
from tests.support.arrays import floats
from tests.support.forms import UNUSUAL, VALUES, check_forms, expression, judge
from tests.support.params import one_in, slow_but
from tracebuf import UnsupportedError, bufferize
from tracebuf.testing.ladder import climb

RNG = np.random.default_rng(0)
FORMS = {
    "arange": """
np.arange(n)|np.arange(neg)|np.arange(z)|np.arange(one)|np.arange(m, n)|np.arange(n, m)|np.arange(n, m, -1)
np.arange(m, n, 2)|np.arange(neg, n, m)|np.arange(0, n, 0)|np.arange(len(v))|np.arange(len(v)-1)*2
np.arange(n, dtype=np.float64)|np.arange(n, dtype=np.float32)|np.arange(n, dtype=np.int32)|np.arange(10)
np.arange(10.)|np.arange(0., 1., 0.1)|np.arange(0, 1, x)|np.arange(x, y, 0.1)|np.arange(x)|np.arange(y)
np.arange(y, x)|np.arange(y, x, -0.25)|np.arange(x, y, x, dtype=np.float32)|np.arange(x, n)|np.arange(x, y, z)
np.arange(s)|np.arange(s4)|np.arange(start=2, stop=n)|np.arange(start=n)|np.arange(2, n, step=2)|np.arange(stop=n)
np.arange(n)[None, :]*np.arange(m)[:, None]|np.exp(np.arange(n)*x)|np.arange(n)**2|np.arange(n)+v[:1]
np.arange(0.5, n, dtype=np.int64)|np.sum(np.arange(n))
""",
    "linspace of numbers": """
np.linspace(0, 1, n)|np.linspace(x, y, n)|np.linspace(x, y)|np.linspace(0, 1, one)|np.linspace(0, 1, z)
np.linspace(0, 1, neg)|np.linspace(x, x, n)|np.linspace(x, y, n, endpoint=False)|np.linspace(x, y, n, retstep=True)
np.linspace(x, y, one, retstep=True)|np.linspace(0, n, n+1)|np.linspace(0, s, m)|np.linspace(v[0], v[1], m)
np.linspace(0, 5e-324, n)
""",
    "triangles and diagonals": """
np.eye(n)|np.eye(n, m)|np.eye(n, m, 1)|np.eye(n, k=neg)|np.eye(n, dtype=bool)|np.eye(n, dtype=np.int64)|np.eye(z)
np.identity(m)|np.tri(n)|np.tri(n, m, -1)|np.tri(n, dtype=np.int64)|np.tril(a)|np.triu(a)|np.tril(a, 1)|np.triu(a, -1)
np.triu(T)|np.tril(a.T)|np.tril(sq, m)|np.tril(i)|np.triu(bb)|np.tril(sq.transpose(2, 0, 1))
""",
    "written out in numbers": """
np.array([v[0], v[1]])|np.array([x, y, 1])|np.array([n, m])|np.array([n, x])|np.array([[x, y], [n, 1]])|np.array([])
np.array([[]])|np.array([1.5, 2.5])|np.array([True, False])|np.array([bb[0, 0], True])|np.array([iv[0], x])
np.array([f[0, 0], 1])|np.array([f[0, 0], 1.5])|np.array([f[0, 0]])|np.array((1, 2, n), dtype=np.float32)
np.array([x, y], dtype=np.int64)|np.array([[1, 2], [3]])|np.array([n, m])+v[:2]|np.array([s4, s])|np.array([s4])
np.asarray([x, y])|np.array(v)|np.asarray(v)|np.array([v.sum(), v.mean()])|np.array([n>3, True])
np.array([300, n], dtype=np.int8)|np.array([1, 2.5, 3])|np.array([[1, 0], [0, 1]])@v[:2]
np.array([v[0]*0+np.nan], dtype=np.int64)
""",
    "linspace": """
np.linspace(v, 1, n)|np.linspace(v, w, 5)|np.linspace(v, w, 5, axis=1)|np.linspace(v, w, 5, axis=-1)
np.linspace(a, 1.0, 5, endpoint=False)|np.linspace(f[0], 1, 5)|np.linspace(v, w, 5, retstep=True)
np.linspace(0, 1, n, dtype=int)|np.linspace(0, 10, n, dtype=np.int32)|np.linspace(s4, 1, 4)|np.linspace(z0, 1, 4)
np.linspace(0, 1, n, axis=0)|np.linspace(v, v, 1)|np.linspace(v,w,0)|np.linspace(v,w,-1)|np.linspace(0,1,5,axis=-1)
""",
    "linspace of others": """
np.linspace(0, 1, 2.5)|np.linspace(iv, 3, 4)|np.linspace(0,1,n,dtype=np.float32)|np.linspace(v,a,4)
np.linspace(n, m, n)
""",
    "geomspace": """
np.geomspace(1, 1000, 4)|np.geomspace(1, x, n)|np.geomspace(x, y, n, endpoint=False)|np.geomspace(-1, -x, n)
np.geomspace(0, 1, 4)|np.geomspace(1.0, 0.0, 4)|np.geomspace(-1, 2, 3)|np.geomspace(1, 256, num=9, dtype=int)
""",
    "logspace": """
np.logspace(0, 2, n)|np.logspace(x, y, n)|np.logspace(x, y, n, base=2.0)|np.logspace(2, 3, num=4, endpoint=False)
np.logspace(0, 2, n, dtype=int)|np.logspace(v, w, 4)
""",
    "meshgrid": """
np.meshgrid(v, w, sparse=True)|np.meshgrid(v, w, copy=False)|np.meshgrid(v, w, copy=False, sparse=True)|np.meshgrid(v)
np.meshgrid()|np.meshgrid(v, 2.0)|np.meshgrid(a, v)|np.meshgrid(range(n), range(1, m, 2))
np.meshgrid(v, w, indexing='xx')
np.meshgrid(v, w, iv, indexing='ij', sparse=True)|np.meshgrid(e, v)|np.meshgrid(*[v, w])
""",
    "mgrid": """
np.mgrid[0:5]|np.mgrid[0:5, 0:3]|np.mgrid[0:n, 0:m]|np.mgrid[0:1:5j]|np.mgrid[-1:1:5j, 0:2:3j]|np.mgrid[0:1:0.25]
np.mgrid[:n, :m]|np.mgrid[0:n:2, 1:m]|np.mgrid[x:y:5j]|np.mgrid[x:y:0.5]|np.mgrid[0:n, 0:1:3j]|np.mgrid[0:5.0]
np.mgrid[0:2, 0:2, 0:3]
""",
    "ogrid": """
np.ogrid[0:5]|np.ogrid[0:5, 0:3]|np.ogrid[0:n, 0:m]|np.ogrid[-1:1:5j, 0:2:3j]|np.ogrid[0:1:0.25, 0:n]|np.ogrid[:n, :m]
np.ogrid[0:n, 0:1:3j]|np.ogrid[x:y:4j, :n]|np.ogrid[-2:1:n*1j, 0:m:1j*m]
""",
    "indices": """
np.indices((3, 4))|np.indices((n, m))|np.indices((n,))|np.indices((n, m), dtype=float)|np.indices((n, m), sparse=True)
np.indices(a.shape)|np.indices(())|np.indices((n, m), dtype=np.int32)
""",
    "eye": """
np.eye(n, m, k=2, dtype=np.float32)|np.eye(n, order='F')|np.identity(n, dtype=int)|np.identity(n, dtype=np.float32)
""",
    "diag": """
np.diag(v, k=2)|np.diag(a, k=1)|np.diag(a, -2)|np.diag(a, 10)|np.diag(sq)|np.diagflat(v)|np.diagflat(a)
np.diagflat(v, 1)|np.diagflat([[1,2],[3,4]])|np.diag([1,2,3])|np.diag([x,y])|np.diagonal(a)|np.diagonal(sq, 1, 1, 2)
np.diagonal(a, -1)|a.diagonal()|a.diagonal(1)|a.diagonal(axis1=1, axis2=0)|np.diagonal(v)
""",
    "triangles": """
np.tri(n, k=-1)|np.tril(v)|np.triu(v)|np.tril(sq, -1)|np.triu(sq, 1)|np.tril(u8)|np.triu(h, 2)|np.tril([[1,2],[3,4]])
np.tril(np.ones((n, n)))|np.triu(np.ones((n, n)), 1)|np.triu(e2)
""",
    "vander": """
np.vander(v)|np.vander(v, 3)|np.vander(v, 3, increasing=True)|np.vander(iv, n)|np.vander(a)|np.vander(v, 0)
np.vander([1,2,3])|np.vander(f[0], 3)|np.vander(v, N=3)
""",
    "filled": """
np.zeros((n, m), order='F')|np.ones((n, m), order='F')|np.full((n, m), x, order='F')|np.empty((n, m), order='F').shape
np.zeros((n,), np.int8)|np.zeros(n, dtype='float32')|np.zeros((n, m), 'i4')|np.zeros_like(a.T)
np.zeros_like(a.T, order='C')|np.ones_like(a, order='F')|np.full_like(a, 3)|np.full_like(i, 2.7)
np.full((2, 3), v[:3])|np.full((n, 3), [1, 2, 3])|np.full(n, n)|np.full_like(a, [1,2,3,4,5])|np.full_like(a, v[:5])
np.empty_like(a).shape|np.zeros_like([1,2,3])|np.zeros_like(x)|np.full(3, True)|np.zeros(())
np.zeros_like(a, shape=(n,m))|np.ones_like(a, dtype=int)|np.full((2,2), np.inf)
np.full((2,2), np.nan, dtype=np.float32)|np.zeros((n,m), order='K')|np.zeros_like(a.T, order='A')
""",
    "written out": """
np.array([[x, y], [n, m]])|np.array([v, w])|np.array([v, [1,2,3,4,5,6]])|np.array([v, w], dtype=np.float32)
np.array([[v, w], [w, v]])|np.array([v[0], 1, x])|np.array((v, w)).T|np.asarray([v, w])
np.asarray((x, y), dtype=np.float32)|np.ascontiguousarray([x, y])|np.asfortranarray([[x, y], [1, 2]])
np.atleast_1d([x, y])|np.atleast_2d([x, y])|np.atleast_3d([x, y])|np.atleast_1d(x)|np.atleast_2d(v)|np.atleast_3d(a)
np.atleast_1d(x, v)|np.array([x, y], ndmin=2)|np.array(a, ndmin=3)|np.array([[1, 2], [3, 4]], order='F')
np.array(a, order='F')|np.array(a, dtype=np.float32, order='F')|np.asarray(a, order='F')|np.asarray(a.T, order='C')
np.asfortranarray(a)|np.ascontiguousarray(a.T)|np.asanyarray([x,y])|np.array([1,2,3], dtype=float)
np.array([[1.5, 2], [x, 3]], copy=True)|np.array([])|np.array(5)|np.array(x)|np.asarray(3)|np.array([z0, 1.0])
np.array([True, x])|np.asarray([[1, 2, 3]]*3)|np.array([[0]*5]*4)+a|np.array([(1,2),(3,4)])|np.array([v, 1])
np.array([a[0], a[1]])@v[:5]|np.array([[v.sum(), 1], [2, v.max()]])
""",
    "fromfunction": """
np.fromfunction(lambda i, j: i + j, (3, 4))|np.fromfunction(lambda i, j: i == j, (3, 3), dtype=int)
np.fromfunction(lambda i: i*x, (n,))|np.fromfunction(lambda i, j: np.sin(i)*j, (n, m), dtype=float)
""",
    "r_": """
np.r_[v, w]|np.r_[v, 0, w]|np.r_[1, 2, 3]|np.r_[0:5]|np.r_[0:n]|np.r_[0:1:5j]|np.r_[x, v, 3]|np.r_[a, b]
np.r_[v[0], v[-1]]|np.r_[0.0, v, 1.0]|np.r_[0, v]|np.r_[0:5, v, 3:1:-1]|np.r_[True, bb[0]]|np.r_[f[0], 1.0]
np.r_[iv, 2.5]|np.r_[iv.astype(np.int8), 300]
""",
    "c_": """
np.c_[v, w]|np.c_[v, w, iv]|np.c_[a, a]|np.c_[a, a[:, 0]]|np.c_[1:4, 5:8]|np.c_[np.ones(6), v]|np.c_[x, y]
np.c_[np.array([[1,2,3]]), 0, 0, np.array([[4,5,6]])]
""",
    "copies": """
v[np.s_[0:3]]|a[np.s_[1:, ::2]]|np.copy(a.T)|np.copy(a, order='F')|a.copy('F')|a.copy(order='K')|a.T.copy(order='A')
np.full(n, 3, dtype=np.int8)|np.array([a, a], order='F')
""",
    "windows": """
np.hanning(6)|np.hanning(n)|np.hamming(n)|np.bartlett(n)|np.blackman(n)|np.hanning(1)|np.hanning(0)
""",
    "places": """
np.tril_indices(3)|np.triu_indices(3, 1)|np.diag_indices(3)|np.unravel_index(5, (3, 4))|np.unravel_index(iv, (2, 3))
np.unravel_index(iv, (2, 2))|np.ravel_multi_index((1, 2), (3, 4))|np.ravel_multi_index((iv[:2], iv[1:3]), (3, 4))
np.ravel_multi_index((1, 4), (3, 4))|np.tril_indices(n)|np.triu_indices_from(sq[0])|np.diag_indices_from(sq[0])
np.unravel_index(5, (3, 4), order='F')|np.unravel_index(12, (3, 4))|np.broadcast_shapes((3, 1), (1, 4))|np.isscalar(x)
np.isscalar(a)|np.iterable(v)|np.iterable(x)|np.issubdtype(a.dtype, np.floating)
""",
}


@pytest.mark.slow
def test_z1_sizes_in_loops_and_other_calls() -> None:
    """Rules Z1, S2: sizes are symbols; one compiled function for other sizes, on every rung of the ladder."""
    f = program("""
        def f(a, n):
            i = np.arange(n)
            t = np.linspace(0.0, 1.0, n)
            grid = np.concatenate((a, t, i[1:]))
            m = np.eye(n, k=1) + np.tri(n)
            total = 0.0
            for k in range(2, n):
                total += np.sum(np.arange(k) * t[:k])
            return grid, m, total, np.stack((t, t * 2), axis=1), np.roll(a, 1), np.diff(a)
        """)
    climb(f, (VALUES["v"], 7), again=[(VALUES["a"][0], 4), (VALUES["a"][1], 9)], tolerance=1e-14)


@pytest.mark.slow
def test_s4_indices_move_right_in_fused_bodies() -> None:
    """Rule S4: indices keep their axes when bodies are joined, through broadcasts, blocks and axes of size one."""
    f = program("""
        def f(a, n):
            grid = np.arange(n)[:, None] * 10 + np.arange(5)
            wave = np.sin(grid * 0.1) + np.tri(n, 5)
            return grid, wave, np.exp(np.arange(700.0) / 700)[::7], np.tril(a + 1) * 2, np.eye(1)[0] + np.arange(1)
        """)
    climb(f, (VALUES["a"], 6), tolerance=1e-14)


def test_c1_float_ranges_of_every_length() -> None:
    """Rule C1: lengths and bits of float ranges whose bounds are arguments."""
    f = bufferize(program("def f(x, y, z):\n    return np.arange(x, y, z)"))
    for _ in range(150):
        x, y, z = (float(t) for t in RNG.uniform(-3, 3, 3))
        agree(f, x, y, z)
    for x, y, z in ((0.0, 1.0, 0.1), (1.0, 0.0, -0.1), (0.0, 1.0, 1 / 3), (0.0, 0.0, 1.0), (-0.0, 2.0, 1.0)):
        agree(f, x, y, z)
    agree(f, 0.0, float("nan"), 1.0)
    agree(f, 0.0, float("inf"), 1.0)
    agree(f, 0.0, 1.0, float("inf"))


def test_what_is_refused() -> None:
    for text in ("sum(a)", "any(a)", "np.array([a, {}])"):
        refused(program(f"def f(a):\n    return {text}"), VALUES["a"])


HUGE = {
    "np.zeros(n)[:1] * 2": 2**61, "np.ones((n, n))[:1, :1] * 2": 2**32, "np.arange(n)[:1] * 2": 2**61,
    "np.eye(n)[:1] * 2": 2**32, "np.zeros(n)[n - 3:] + 1": 2**61 + 2, "np.zeros(n // 2, complex)[:1] * 2": 2**61,
    "np.repeat(np.ones(3), n)[:1] * 2": 2**61, "np.broadcast_to(np.ones(1), (n,)) + 1": 2**61,
}  # fmt: skip


@pytest.mark.parametrize("text", HUGE)
def test_more_bytes_than_64_bits_count_are_refused_as_in_numpy(text: str) -> None:
    """Of a temporary too, whose size wrapped around and was written to."""
    assert agree(program(f"def f(n):\n    return {text}"), HUGE[text]) is not None


@pytest.mark.slow
def test_copies_of_a_repeated_array_put_the_repeated_axis_innermost() -> None:
    """astype, np.copy and zeros_like sort axes by stride, ufuncs do not: they differ for strides of 0."""

    def program(a):
        return (
            a.astype(np.float32),
            np.copy(a),
            np.zeros_like(a),
            a.copy(),
            a + 1,
            a[:, None].astype(np.int64),
            np.copy(a.T),
        )

    climb(program, (np.broadcast_to(floats(4), (3, 4)),), again=[(np.broadcast_to(floats(3, 1), (3, 5)),)])
    climb(program, (np.broadcast_to(floats(4, 1, 2), (3, 4, 3, 2)).transpose(0, 2, 1, 3),))


@pytest.mark.parametrize("shape", [(3, 1), (1, 3), (2, 3, 1), (2, 1, 3)])
def test_copies_in_c_order_have_numpys_strides_at_axes_of_size_1(shape: tuple[int, ...]) -> None:
    """A copy of a column was in Fortran order, so that loops took it for an array of another kind than sums are."""

    def program(a):
        return np.copy(a), a.astype(np.float32), np.zeros_like(a)

    a = np.ones(shape)
    for found, expected in zip(bufferize(program)(a), program(a), strict=True):
        assert found.strides == expected.strides


def test_ndarray_is_empty_by_another_name() -> None:
    """Rule C1: np.ndarray(shape, dtype), which is a type, may be called (found by fuzzing)."""

    def program(n):
        a, b = np.ndarray(n), np.ndarray((2, n), dtype=np.int16)
        a[:], b[...] = 1, 2
        return a, b, isinstance(a, np.ndarray)

    climb(program, (3,), again=[(5,)])
    agree(program, -1)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, np.int8, np.bool_])
def test_linspace_of_a_dtype(dtype: type) -> None:
    """Rule C1: ints are rounded down, not towards zero (found by fuzzing)."""

    def program(a, b, n):
        return np.linspace(a, b, n, dtype=dtype), np.linspace(a, b, n, endpoint=False, dtype=dtype)

    climb(program, (-5.5, 7.0, 4), again=[(-1.0, 1.0, 9), (2.0, 2.0, 3)])


@pytest.mark.slow
def test_ranges_whose_parts_are_elements() -> None:
    """np.linspace of a computed number of points and np.arange by a computed step were refused."""

    def program(k, x):
        a = np.linspace(x, 2.5, int(k[0]))
        b = np.linspace(0, k[0], k[0], endpoint=False, dtype=np.float32)
        c = np.linspace(x, x, int(k[0]))
        return a, b, c, np.arange(0, 20, k[1]), np.arange(k[0], k[1] * 2, k[1])

    f = bufferize(program)
    for n in (0, 1, 2, 7):
        for step in (1, 3, 50):
            agree(f, np.array([n, step]), 0.5)
    agree(f, np.array([3, 0]), 0.5)
    agree(f, np.array([-1, 2]), 0.5)
    with pytest.raises(UnsupportedError, match="the step of np.arange that is computed from elements is negative"):
        f(np.array([3, -2]), 0.5)
    climb(program, (np.array([4, 3]), 0.5), again=[(np.array([1, 2]), 0.25)])


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        "np.zeros_like(c, shape=(4, 2)), np.full_like(c, 2, shape=(3, 2)), np.full_like(c, 2, shape=(3,))",
        "np.arange(0, 4.0, -1, dtype=np.uint32), np.arange(3, 4, -5, dtype=np.uint8)",
        "len(np.arange(u, 1)), np.arange(u, 7)",  # NumPy subtracts in the numbers' own type: 1 - 3 is 254
        "(np.fill_diagonal(shorts[:, None] + fixed, 2**40))",
    ],
)
def test_c1_calls_that_once_differed(text: str) -> None:
    """Found by calls that `tracebuf.testing.functions` drew."""
    expression(text, UNUSUAL)


@pytest.mark.parametrize("group", slow_but(["eye", "meshgrid"], FORMS))
@pytest.mark.cases(2)
def test_c1_forms(group: str) -> None:
    check_forms(FORMS[group], {"geomspace": 4, "logspace": 4, "windows": 4}.get(group, 0))


@pytest.mark.slow
def test_z1_grids_of_sizes_that_are_arguments() -> None:
    """Rule Z1: one compiled function for other sizes; the grids are computed where they are used."""
    f = program("""
        def f(a, n, m):
            y, x = np.mgrid[0:n, 0:m]
            i, j = np.ogrid[:n, :m]
            k, l = np.indices((n, m))
            u, v = np.meshgrid(np.linspace(0, 1, m), np.linspace(-1, 1, n))
            return x * y + i * j, (k + l) * a, np.hypot(u, v), np.r_[0.0, a[0], 1:4], np.vander(a[0], 3), np.tril(a[0])
        """)
    climb(f, (VALUES["a"], 4, 5), again=[(VALUES["T"], 5, 4), (VALUES["sq"][0], 5, 5)], tolerance=1e-14)


@pytest.mark.slow
def test_diagonals_are_filled_in_place() -> None:
    f = program("def f(a, x): np.fill_diagonal(a, x); return a")
    for a in (
        np.zeros((3, 3)),
        np.zeros((2, 5)),
        np.zeros((5, 2)),
        np.zeros((3, 3, 3), int),
        np.zeros(3),
        np.zeros((2, 3, 3)),
    ):
        agree(f, a, 2.5)
    agree(program("def f(a, v): np.fill_diagonal(a[:, ::-1], v)"), np.zeros((3, 3)), np.arange(3.0))


def test_what_is_refused_of_grids() -> None:
    refused(program("def f(a):\n    return np.r_['0,2', a, a]"), VALUES["v"])


@pytest.mark.slow
def test_creation() -> None:
    expressions = [
        "np.zeros(n)", "np.zeros((n, 3))", "np.ones((2, n), dtype=np.int64)", "np.zeros(a.shape)",
        "np.zeros(len(a) - 3)",
        "np.zeros_like(a, dtype=bool)", "np.full(n, 2)", "np.full(n, 2.5)", "np.full((n, n), n)", "np.full(3, a[0])",
        "np.full(n, True)", "np.full(3, np.float32(2))", "np.zeros((n, n - 2))", "np.zeros(())", "np.zeros([n, 2])",
        "np.zeros(n, 'f4')", "np.zeros(n, int)", "np.zeros(shape=(n,))", "np.full_like(a, 3)", "np.zeros(2.0)",
        "np.zeros('a')", "np.ones(n, a.dtype)", "np.zeros_like(3.0)", "np.zeros(np.int64(3))",
        "np.ones(n) * np.zeros((n, 1))",
        "np.zeros((n,) + a.shape)", "np.empty(n).shape", "np.zeros(n)[::-1]", "np.full(n, np.nan, dtype=int)",
        "np.full(n, 1e300, np.float32)", "np.full(n, 3.7, int)", "np.ones_like(a.T)", "np.full((2, 7), a)",
    ]  # fmt: skip
    for n in (4, 0, 1, -1, 5):
        judge(expressions, "a, n", np.arange(7.0), n)


CALLS = ("zeros(3, ", "zeros_like(a, ", "arange(3, ", "array([1, 2], ", "asarray([1, 2], ", "exp(a, ", "matmul(a, a, ")


@pytest.mark.parametrize("call", slow_but(CALLS[:1], CALLS))
def test_c3_parameters_that_a_function_does_not_have(call: str) -> None:
    """With None they were taken for parameters that are left out."""
    for name in ("axis", "keepdims", "zzz"):
        error = agree(program(f"def f(a):\n    return np.{call}{name}=None)"), np.ones(3))
        assert isinstance(error, TypeError), (name, error)


REQUIREMENTS = [None, [], "C", "F", ["W"], ["C", "W"], ["FORTRAN", "A"], ["E", "c_contiguous"], ["C", "F"], ["X"], [3]]


@pytest.mark.parametrize("requirements", REQUIREMENTS, ids=str)
@pytest.mark.cases(3)
def test_require(requirements: Any) -> None:
    """The same array object where nothing is to change, else NumPy's copy, in its order; its errors."""
    text = "def f(a, want):\n    b = np.require(a, want, requirements)\n    return b, b is a"
    f = program(text, requirements=requirements)
    for a in (np.arange(6.0).reshape(2, 3), np.arange(6.0).reshape(2, 3).T[::2], np.arange(4), 3.0, [1.0, 2.0]):
        for want in (np.float64, np.int64) if isinstance(a, np.ndarray) else (np.float64,):
            agree(f, a, want)
    protected = np.arange(3.0)
    protected.flags.writeable = False
    agree(f, protected, np.float64)


@pytest.mark.parametrize("order", "CFAK")
@pytest.mark.cases(4)
def test_order_of_a_conversion(order: str) -> None:
    """order="A" is kept where the dtype changes."""
    f = program("def f(a, t):\n    return np.array(a, t, order=order), np.asarray(a, t, order=order)", order=order)
    for a in (np.ones((2, 3)).T[::2], np.ones((2, 3, 4))[:, ::2], np.ones((2, 3)).T):
        agree(f, a, np.float64)
        agree(f, a, np.int64)


COUNTS = [
    "np.pad(a, u)", "np.pad(a, b[0])", "np.eye(3, (2,))", "a.view(None)", "np.pad(a, u[0])", "np.pad(a, (u[0], 1))",
    "np.pad(a, (True, 1))", "np.pad(z, 1.5)", "np.pad(a, 'x')", "np.pad(a, (1.5, 1))", "np.pad(a, np.uint8(1))",
    "np.eye((3,))", "np.eye([2])", "np.eye(b[1], b[0])", "np.pad(a, None)",
]  # fmt: skip


@pytest.mark.parametrize("text", one_in(4, COUNTS))
def test_what_is_no_number_of_elements(text: str) -> None:
    """Unsigned widths are none; a sequence is no size of two; None is float64."""
    f = program(f"def f(a, b, u, z): return {text}")
    climb(f, (np.arange(4.0).reshape(2, 2), np.array([1, 2], np.int32), np.array([1, 2], np.uint8), np.array(3.0)))


def test_require_says_what_it_cannot_know() -> None:
    error = refused(program("def f(a):\n    return np.require(a, requirements='O')"), np.ones(2))
    assert "memory of its own" in str(error) and "np.array(a)" in str(error)
