"""Arrays made of indices, of numbers, and of parts of other arrays, against eager NumPy (rules C1, N1, S3, S6, Z1)."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.agreement import agree, program, refused
from tests.support.arrays import floats
from tests.support.forms import UNUSUAL, VALUES, check_forms, expression
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
    "linspace": """
np.linspace(0, 1, n)|np.linspace(x, y, n)|np.linspace(x, y)|np.linspace(0, 1, one)|np.linspace(0, 1, z)
np.linspace(0, 1, neg)|np.linspace(x, x, n)|np.linspace(x, y, n, endpoint=False)|np.linspace(x, y, n, retstep=True)
np.linspace(x, y, one, retstep=True)|np.linspace(0, n, n+1)|np.linspace(0, s, m)|np.linspace(v[0], v[1], m)
np.linspace(0, 5e-324, n)
""",
    "triangles": """
np.eye(n)|np.eye(n, m)|np.eye(n, m, 1)|np.eye(n, k=neg)|np.eye(n, dtype=bool)|np.eye(n, dtype=np.int64)|np.eye(z)
np.identity(m)|np.tri(n)|np.tri(n, m, -1)|np.tri(n, dtype=np.int64)|np.tril(a)|np.triu(a)|np.tril(a, 1)|np.triu(a, -1)
np.triu(T)|np.tril(a.T)|np.tril(sq, m)|np.tril(i)|np.triu(bb)|np.tril(sq.transpose(2, 0, 1))
""",
    "joined": """
np.concatenate((v, w))|np.concatenate([v, w, iv])|np.concatenate((a, a))|np.concatenate((a, i), axis=1)
np.concatenate((a.T, a.T))|np.concatenate((a.T, T))|np.concatenate((a, v))|np.concatenate((a, a[:, :3]))
np.concatenate((a, a[:, :3]), axis=1)|np.concatenate((a, a[:, :3]), axis=-1)|np.concatenate((v, e))
np.concatenate((e2, a))|np.concatenate((v, ))|np.concatenate((v, w), axis=1)|np.concatenate((v, s))
np.concatenate((f, f))|np.concatenate((v[1:], v[:1]))
np.concatenate((sq.transpose(2, 0, 1), sq.transpose(2, 0, 1)), axis=2)
np.concatenate((sq.transpose(2, 0, 1)[:, :, ::-1], sq.transpose(2, 0, 1)), axis=1)|np.stack((v, w))
np.stack((v, w), axis=1)|np.stack((v, w), axis=-1)|np.stack((a, i), axis=1)|np.stack((a.T, a.T), axis=-1)
np.stack((v, a))|np.stack((v, v[:3]))|np.hstack((v, w))|np.hstack((a, a))|np.hstack((v, s))|np.vstack((v, w))
np.vstack((a, v[:5]))|np.vstack((a, v))|np.column_stack((v, w))|np.column_stack((a, a[:, 0]))|np.append(v, w)
np.append(v, 2.5)|np.append(iv, x)|np.append(a, a, axis=0)
""",
    "parts": """
np.diff(v)|np.diff(v, 2)|np.diff(a)|np.diff(a, axis=0)|np.diff(bb)|np.diff(e)|np.diff(v, 0)|np.diff(iv[:one])
np.roll(v, 1)|np.roll(v, -1)|np.roll(v, 2)|np.roll(v, 0)|np.roll(v, 8)|np.roll(v, -9)|np.roll(v, m)|np.roll(v, neg)
np.roll(a, 1, axis=0)|np.roll(a, -2, axis=1)|np.roll(a.T, 1, axis=0)|np.roll(e, 1)|np.repeat(v, 3)|np.repeat(v, m)
np.repeat(a, 2, axis=0)|np.repeat(a.T, 2, axis=1)|np.repeat(v, 0)|np.repeat(v, 1)|np.tile(v, 2)|np.tile(v, m)
np.tile(v, 0)|np.pad(v, 1)|np.pad(v, (1, 2))|np.pad(v, m, constant_values=x)|np.pad(a, 1)|np.pad(a, ((1, 2), (0, 3)))
np.pad(i, 1, constant_values=7)|np.pad(a, 1, mode='constant', constant_values=2)|np.pad(v, neg)|np.meshgrid(v, w)
np.meshgrid(v, iv, indexing='ij')|np.meshgrid(v, w, iv)|np.meshgrid(v, w)[0]*2
""",
    "others": """
np.select([v>0, v>-1], [v, w])|np.select([v>0, v>-1], [v, w], x)|np.select([v>0, v>-1], [1, 2], 3)
np.select([v>0], [iv], 2.5)|np.select([v], [iv])|np.select([a>0, a>1], [a, T.T], -1)|np.select([v>0], [iv, v])
np.sign(v)|np.sign(iv)
""",
    "written out": """
np.array([v[0], v[1]])|np.array([x, y, 1])|np.array([n, m])|np.array([n, x])|np.array([[x, y], [n, 1]])|np.array([])
np.array([[]])|np.array([1.5, 2.5])|np.array([True, False])|np.array([bb[0, 0], True])|np.array([iv[0], x])
np.array([f[0, 0], 1])|np.array([f[0, 0], 1.5])|np.array([f[0, 0]])|np.array((1, 2, n), dtype=np.float32)
np.array([x, y], dtype=np.int64)|np.array([[1, 2], [3]])|np.array([n, m])+v[:2]|np.array([s4, s])|np.array([s4])
np.asarray([x, y])|np.array(v)|np.asarray(v)|np.array([v.sum(), v.mean()])|np.array([n>3, True])
np.array([300, n], dtype=np.int8)|np.array([1, 2.5, 3])|np.array([[1, 0], [0, 1]])@v[:2]
np.array([v[0]*0+np.nan], dtype=np.int64)
""",
    "flat and sequences": """
np.cumsum(a)|np.cumsum(a.T)|np.cumprod(sq)|np.trace(a)|np.trace(a, 1)|np.trace(i, -1)|np.trace(sq)
np.trace(sq, axis1=1, axis2=2)|a.trace()|np.trace(bb)|np.outer(a, v)|np.outer(a.T, a)|np.vdot(a, a)|np.vdot(a.T, a.T)
sum(v)|sum(iv)|sum(bb[0])|sum(v, 2.5)|sum(v, 1)|sum(iv, 0.5)|sum(e)|sum(f[0])|sum(i[0].astype(np.int8))|sum(v>0)
v.sum().std()|v[0].max()|v[0].any()|s.cumsum()|s.argmax()
""",
    "arrays in arrays": """
np.roll(a, 1)|np.roll(a.T, -3)|np.repeat(a, 2)|np.repeat(a.T, 3)|np.append(a, a)|np.append(a, 1.5)
np.concatenate((a, v), axis=None)|np.concatenate((a.T, v), axis=None)|np.array([a, a])|np.array([a.T, a.T])
np.array([v, iv])|np.array([[v, w], [w, v]])|np.array([v, w[:3]])|np.array([v, x])|np.array([v.sum(), iv[0]])
np.diag(v)|np.diag(v, 1)|np.diag(iv, -2)|np.diag(a)|np.diag(e)|np.diag(v[:one])|min(v)|max(v)|min(iv)|max(f[0])|max(e)
max(bb[0])|min(np.array([np.nan, 1.0])+v[:2])|max(np.array([1.0, np.nan])*v[:2])|any(v>0)|all(v>-9)|any(v)|all(iv)
any(e)|all(e)|any([x>1, y>1])|all((x>0, y>9))
""",
}



@pytest.mark.slow
@pytest.mark.parametrize("group", FORMS)
def test_c1_n1_values_shapes_and_order(group: str) -> None:
    """Rules C1, N1, S6: bit for bit eager's; several expressions in one function, those that raise by themselves."""
    check_forms(FORMS[group], ulp=8 if group == "flat and sequences" else 0)


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


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["edge", "wrap", "symmetric", "reflect", "empty"])
def test_margins_that_continue_the_array(mode: str) -> None:
    """np.pad by rows of the array: margins narrower and wider than it, on all axes, of none, in one pass."""
    for width in ("1", "((2, 0), (1, 3))", "(2, 3)", "7", "0", "n", "((0, 0), (n, 1))"):
        read = "[2:-2]" if mode == "empty" else ""
        f = bufferize(program(f"def f(a, n):\n    return np.pad(a, {width}, mode='{mode}'){read}"))
        for shape in ((3, 4), (1, 5), (2, 1), (0, 3), (6, 7)):
            agree(f, np.arange(float(np.prod(shape))).reshape(shape), 2) if mode != "empty" else None
        assert width != "1" or "no copies" in str(f.explain(np.ones((9, 9)), 2))
    f = program(f"def f(a):\n    return np.pad(a.astype(np.int8), 2, '{mode}')")
    if mode != "empty":
        climb(f, (np.arange(12.0).reshape(3, 4),), again=[(np.arange(35.0).reshape(5, 7),)])


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
