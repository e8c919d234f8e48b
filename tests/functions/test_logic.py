"""Comparisons of arrays, choices, replaced values and polynomials, against eager NumPy (rule C1)."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.agreement import agree, program
from tests.support.forms import UNUSUAL, VALUES, check_forms, expression
from tests.support.params import slow_but
from tracebuf import bufferize
from tracebuf.testing.ladder import climb

FORMS = {
    "isclose": """
np.isclose(a, b)|np.isclose(a, a + 1e-9)|np.isclose(a, b, rtol=0.1)|np.isclose(N, N)|np.isclose(N, N, equal_nan=True)
np.isclose(x, y)|np.isclose(x, x)|np.isclose(iv, iv)|np.isclose(a, 0.0, atol=0.1)|np.isclose(f, a)|np.isclose(v, 1)
np.isclose(v, w, 0.1, 0.1)|np.isclose(s, 2.5)|np.isclose([1, 2], [1, 2])|np.isclose(h, h)|np.isclose(u8, u8)
np.isclose(bb, bb)|np.isclose(a, v)|np.isclose(f, f)|np.isclose(i, 1.0)|np.isclose(iv, n)|np.isclose(a, np.inf)
np.isclose(N,np.inf)|np.isclose(f, 0.1)
""",
    "allclose": """
np.allclose(a, b)|np.allclose(a, a)|np.allclose(N, N)|np.allclose(N, N, equal_nan=True)|np.allclose(x, x)
np.allclose(v, 1.0, rtol=10)|np.allclose(e, e)|np.allclose(a, v)|np.allclose(iv, iv)
np.allclose(a, a + 1e-12, 0, 1e-10)
""",
    "array_equal": """
np.array_equal(a, b)|np.array_equal(a, a)|np.array_equal(a, v)|np.array_equal(v, w[:3])|np.array_equal(N, N)
np.array_equal(N, N, equal_nan=True)|np.array_equal(iv, iv)|np.array_equal(iv, iv, equal_nan=True)
np.array_equal(e, e)|np.array_equal([1, 2], [1, 2])|np.array_equal(x, x)|np.array_equal(v, [1,2])
np.array_equal(a, a.T)|np.array_equal(N, a, True)|np.array_equal(iv, f[0])
""",
    "array_equiv": """
np.array_equiv(a, a)|np.array_equiv(a, v[:5])|np.array_equiv(a, v)|np.array_equiv(a, 1.0)|np.array_equiv(v, [1])
np.array_equiv(np.ones((2,3)), 1)|np.array_equiv(v[:5], a)
""",
    "isin": """
np.isin(iv, [1, 3])|np.isin(iv, [1, 3], invert=True)|np.isin(i, (0, 2, 4))|np.isin(iv, 3)|np.isin(v, [x, y])
np.isin(iv, iv)|np.isin(iv, [])|np.isin(v, v)|np.isin(x, [1, 0.3])|np.isin(i, i)
np.isin(nv, [np.nan, 1])|np.isin(iv, [2.5, 3])|np.in1d(iv, [1])|np.isin(iv, iv[:1])
""",
    "logical": """
np.logical_and(a, b)|np.logical_or(a > 0, b > 0)|np.logical_xor(i, 1)|np.logical_not(a)
np.logical_and(a > 0, b > 0, where=bb, out=np.zeros((4, 5), bool))|np.logical_and.reduce(bb)|np.any(a > 0, axis=0)
np.all(bb, axis=1, keepdims=True)|np.any(bb, where=a > 1)|np.all(x)|np.any([x > 0, y > 0])
""",
    "nan_to_num": """
np.nan_to_num(N)|np.nan_to_num(N, nan=1.5)|np.nan_to_num(N, posinf=9.0, neginf=-9.0)|np.nan_to_num(fn)
np.nan_to_num(iv)|np.nan_to_num(x)|np.nan_to_num(N, copy=False)|np.nan_to_num(nv[0])|np.nan_to_num(h)
np.nan_to_num(N, nan=v[:5])|np.nan_to_num([1.0, np.nan])|np.nan_to_num(N.T)|np.nan_to_num(bb)
""",
    "isposinf": """
np.isneginf(N)|np.isposinf(N)|np.isneginf(x)|np.isposinf(iv)|np.isneginf(-N)|np.isposinf(N, np.empty((4,5),bool))
""",
    "sign and sinc": """
np.sign(a)|np.sign(N)|np.heaviside(a, 0.5)|np.heaviside(a, v[:5])|np.heaviside(iv, 1)|np.sinc(v)|np.sinc(a)
np.sinc(0.0)|np.sinc(x)|np.sinc(iv)|np.sinc(f)|np.sinc(h)|np.sinc(z0)
""",
    "select": """
np.select([v > 0, v < -1], [v, w], default=5)|np.select([a > 0], [b])|np.select([v > 0, v > 1], [1.0, v])
np.select([bb[0], a[0] > 1], [iv[:5], v[:5]])|np.select([v>0], [x], y)|np.select((v>0, v<0), (v, -v), 0)
""",
    "piecewise": """
np.piecewise(v, [v < 0, v >= 0], [-1, 1])|np.piecewise(v, [v < 0], [0, 1])|np.piecewise(v, v < 0, [5, 6])
np.piecewise(v, [v<0, v>0], [1])|np.piecewise(iv, [iv < 2], [0.5, 1.7])|np.piecewise(x, [x < 0], [1, 2])
np.piecewise(a, [a < 0, a > 1], [x, y])
""",
    "where": """
np.where(a > 0, a, 0)|np.where(bb, 1, 2)|np.where(bb, f, 1)|np.where(bb, f, i)|np.where(x > 0, a, b)
np.where(a, 1.0, -1.0)|np.where(iv > 2, v, [1, 2, 3, 4, 5, 6])|np.where([True, False], [1, 2], [3, 4])
np.where(bb, v[:5], x)|np.where(x>0, 1, 2)|np.where(True, v, w)|np.where(bb[0], (1,2,3,4,5), 0)
""",
    "polynomials": """
np.polyval([1, 2, 3], v)|np.polyval(v, x)|np.polyval(v, w)|np.polyval([1.0, x], a)|np.polyval(iv, 2)|np.polyval(e, v)
np.polyder([3, 2, 1])|np.polyder(v)|np.polyder(v, 2)|np.polyder(iv)|np.polyint(v)|np.polyadd(v, w)
np.polyadd(v, [1, 2])|np.polysub(v, w[:3])|np.polyder(v, 0)|np.polyder(o)|np.polyint(v, 2)|np.polyint(v, k=3)
""",
    "rounding": """
np.fix(a)|np.fix(x)|np.fix(iv)|np.fix(f)|np.fix(a, out=np.empty((4, 5)))|np.around(a, 2)|np.round(x, 1)
np.round(i, -1)|a.round(1)|np.round([1.5,2.5])|np.trunc(a)|np.rad2deg(v)|np.deg2rad(v)|np.degrees(v)|np.hypot(v, w)
np.cbrt(v)|np.exp2(v)|np.log1p(v)|np.expm1(v)|np.float_power(iv, 2)|np.gcd(iv, 2)|np.lcm(iv, 3)|np.signbit(v)
np.nextafter(v, w)|np.spacing(v)|np.ldexp(v, 2)|np.logaddexp(v, w)|np.left_shift(iv, 1)|np.bitwise_count(iv)
np.sign(iv)
""",
    "select and sign": """
np.select([v>0, v>-1], [v, w])|np.select([v>0, v>-1], [v, w], x)|np.select([v>0, v>-1], [1, 2], 3)
np.select([v>0], [iv], 2.5)|np.select([v], [iv])|np.select([a>0, a>1], [a, T.T], -1)|np.select([v>0], [iv, v])
np.sign(v)|np.sign(iv)
""",
}
ULP = {"sign and sinc": 4}


@pytest.mark.parametrize("group", slow_but(["select"], FORMS))
def test_c1_forms(group: str) -> None:
    check_forms(FORMS[group], ULP.get(group, 0))


@pytest.mark.slow
def test_c1_lists_are_arrays_beside_arrays() -> None:
    check_forms("""
a[0] * [0.0, 2.0, 1, 3, 4]|[1, 2, 3, 4, 5] - a[0]|a @ [1.0, 2.0, 3, 4, 5]|np.maximum(a[0], [0.0, 2.0, 1, 2, 3])
np.sqrt((x, y))|np.sum([x, y, v[0]])|np.add(v[:2], (1, 2))|v[:2] < [0, 1]|[0, 1] == iv[:2]|iv[:2] + [0.5, n]|[] + e
np.sqrt(divmod(n, m))|tuple(range(3))|a + [1, 2]
""")
    f = program("def f(a):\n    a += [1, 2]\n    b = [a[0]]\n    b += a\n    return a, b[0], b")
    agree(f, VALUES["v"][:2].copy())


@pytest.mark.parametrize(
    "text",
    [
        "np.nan_to_num(v, posinf=1j)",
    ],
)
def test_c1_calls_that_once_differed(text: str) -> None:
    """Found by calls that `tracebuf.testing.functions` drew."""
    expression(text, UNUSUAL)


def test_isin_by_a_table() -> None:
    """NumPy raises RuntimeError where the numbers are too far apart for one; it was not raised."""

    def f(x, among):
        return np.isin(x, among, kind="table")

    agree(f, np.arange(3), np.arange(5))
    agree(f, np.arange(3), np.array([2**62, -(2**62)]))


INTEGERS = "?bBhHiIqQ"


def integers_of(kind: str, n: int, whole: bool, seed: int) -> np.ndarray:
    """Numbers that are near to each other; `whole`: and the least and the greatest of the dtype."""
    dtype, r = np.dtype(kind), np.random.default_rng(seed)
    if kind == "?":
        return r.random(n) > 0.5
    info = np.iinfo(dtype)
    x = r.integers(max(int(info.min), -20), min(int(info.max), 90), n).astype(dtype)
    if whole and n:
        x[0], x[-1] = info.min, info.max
    return x


@pytest.mark.parametrize("kind", slow_but("Q", INTEGERS))
@pytest.mark.slow
def test_isin_of_integers_by_a_table_or_sorted(kind: str) -> None:
    """Which it is depends on the test elements; they and the others may be as far apart as the dtype allows."""
    others = INTEGERS if kind == "h" else "q" + kind
    for other in others:
        g = bufferize(lambda x, y: (np.isin(x, y), np.isin(x, y, invert=True)))
        for n, k in (40, 30), (0, 20), (5, 17), (400, 100):
            for apart in range(4):
                x, y = integers_of(kind, n, apart % 2 > 0, n), integers_of(other, k, apart > 1, k)
                found, without = g(x, y)
                np.testing.assert_array_equal(found, np.isin(x, y), f"{kind} {other} {n} {k} {apart}")
                np.testing.assert_array_equal(without, ~np.isin(x, y), f"{kind} {other} {n} {k} {apart}")


@pytest.mark.parametrize("code", slow_but("d", "defFDlB?"))
@pytest.mark.slow
def test_isin_among_a_few(code: str) -> None:
    """One by one, as many as are known while tracing or as an argument has; more are sorted."""
    x = (np.arange(60) % 19).astype(code)
    if code in "def":
        x[3], x[8] = np.nan, -0.0
    f = program("def f(a, b):\n    return np.isin(a, b), np.isin(a, b, invert=True), np.isin(b, a, kind='sort')")
    few = "np.isin(a, [3, 7.5, 1]), np.isin(a[1:, None], (), invert=True), np.isin(a, 5)"
    fixed = program(f"def f(a):\n    return {few}")
    for n in (0, 1, 60):
        agree(fixed, x[:n])
        agree(fixed, x[:n].reshape(-1, 1)[::-2])
        for k in (0, 3, 16, 17):
            agree(f, x[:n], x[::-1][:k])
    agree(f, x, x.repeat(3)[::2])
    agree(f, x[2], x[:3])


def test_isin_of_integers_that_are_near_sorts_nothing() -> None:
    """Sorting was all that it did for more than a few test elements, six times as slow as NumPy's table."""
    x, y = np.arange(1000) % 37, np.arange(300) % 29
    text = bufferize(lambda x, y: np.isin(x, y)).lower(x, y).as_text("memref")
    assert text.index("scf.if") < text.index("numpy.ndarray.sort") and "} else {" in text
    before, after = text.split("} else {", 1)
    assert "sort" not in before and "sort" in after


def test_a_number_where_no_piece_is_has_to_fit() -> None:
    f = program("def f(x): return np.piecewise(x, [x > 9], [-3, 7])")
    climb(f, (np.zeros((), np.uint8),))
    climb(f, (np.zeros((), np.int8),))
