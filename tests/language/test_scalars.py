"""Python's and NumPy's scalars (rules N1-N5, C1): ints exact or OverflowError, powers, shifts, division, rounding,
comparisons, conversions, judged by eager."""

from __future__ import annotations

import itertools
import math
import operator
import random
from typing import Any

import numpy as np
import pytest

from tests.support.agreement import agree, outcome, program, refused, same
from tests.support.forms import UNUSUAL, expression
from tests.support.params import one_in
from tracebuf import UnsupportedError, bufferize
from tracebuf.testing.ladder import climb

INTS = [0, 1, -1, 2, -2, 3, 7, -13, 10**6, -(2**30), 2**31 - 1, -(2**31) + 1]
BIG = [0, 1, -1, 5, -7, 2**31, 2**53, 2**53 + 1, -(2**53) - 1, 2**62, 2**62 + 1, 2**63 - 1, -(2**63), -(2**62), 3**39]
FLOATS = [0.0, -0.0, 1.0, -1.5, 2.5, 0.1, 2.0**53, 2.0**62, -(2.0**63), 2.0**63, 1e300, math.inf, -math.inf, math.nan]


def exact_or_overflow(f: Any, *args: Any) -> None:
    """Agrees with eager, or raises OverflowError where an int of eager's does not fit 64 bits."""
    want, expected = outcome(f.__wrapped__, args, {})
    got, raised = outcome(f, args, {})
    if isinstance(raised, OverflowError) and not isinstance(expected, OverflowError):
        assert any(type(w) is int and not -(2**63) <= w < 2**63 for w in (want if isinstance(want, tuple) else (want,)))
        return
    assert type(raised) is type(expected), (args, raised, expected, got, want)
    if expected is None:
        same(got, want, 0, str(args))


def data(text: str, **names: Any) -> Any:
    """A function of Python ints that only the run time knows, out of arrays."""
    return bufferize(verify=True)(
        program(f"def f(a, b):\n    x, y = int(a[0]), int(b[0])\n    return {text}", math=math, **names)
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    ["x + y", "x - y", "x * y", "x // y", "x % y", "x & y", "x | y", "x ^ y", "x << (y & 63)", "x >> (y & 127)", "-x",
     "~x", "abs(x)", "x + 1", "x - 1", "min(x, y)", "max(x, y)", "x / y", "x ** 2", "x ** 3", "divmod(x, y)",
     "x << 3", "x >> 3", "x << 70", "x >> 70", "x // 10", "x % 10", "x // -10", "x % -10", "x & 0xFFFFFFFFFFFFFFFF",
     "x & 255", "float(x)", "x + 0.5", "x * 2.0", "round(x, -2)", "bool(x)", "+x", "x * 0", "x - x", "5 // y", "5 % y",
     "2 ** (x & 63)", "x ** (y & 7)", "(x & 3) ** (y & 63)", "(-2) ** (y & 63)", "round(x)", "x / 3", "1 / y"],
)  # fmt: skip
def test_n1_ints_known_at_run_time_are_exact_or_overflow(text: str) -> None:
    f = data(text)
    for x, y in itertools.product(BIG, BIG):
        exact_or_overflow(f, np.array([x]), np.array([y]))


@pytest.mark.slow
@pytest.mark.parametrize("op", ["<", "<=", ">", ">=", "==", "!="])
def test_n1_comparisons_of_ints_and_floats_are_exact(op: str) -> None:
    f = bufferize(
        program(f"def f(a, x): i = int(a[0]); return i {op} x, x {op} i, i {op} i + 0, i {op} 2**64, -2**70 {op} i")
    )
    for i, x in itertools.product(BIG, [*FLOATS, 2.0**53 + 2, -(2.0**53), 0.5, -0.5, 9.2e18]):
        agree(f, np.array([i]), x)
    g = bufferize(program(f"def g(n, x, b): return n {op} x, b {op} x, b {op} n, x {op} b, n {op} n, True {op} n"))
    for n, x, b in itertools.product(INTS, FLOATS, (True, False)):
        agree(g, n, x, b)


def test_n1_int_arguments() -> None:
    f = bufferize(program("""
        def f(n, m):
            return n + m, n * m, n * m * 3 + 1, n * n - m * m, ~n, -n, n & m, n | m, n ^ 5, n << 5, n >> 2, abs(n)
        """))  # fmt: skip
    g = bufferize(program("def g(n, m): return n // m, n % m, divmod(n, m), n / m, m // 3, m % -3"))
    for n, m in itertools.product(INTS, INTS):
        exact_or_overflow(f, n, m)
        agree(g, n, m)


def test_n1_checksums_run_without_a_false_overflow() -> None:
    f = bufferize(
        program("""
        def f(a, n):
            h, s, c = 7, 0, 1
            for i in range(n):
                h = (h * 31 + int(a[i])) % 1000003
                s = s + i * i * i - h
                c = c * 48271 % 2147483647
            return h, s, c
        """)
    )
    a = np.arange(200) * 7919 % 255
    agree(f, a, 200)
    agree(f, a, 0)
    assert f(a, 200) == f.__wrapped__(a, 200)


def test_n1_xorshift_is_exact_or_overflows() -> None:
    body = """
        def f(seed, n):
            x = int(seed[0])
            for i in range(n):
                x = (x ^ (x << {0})) & 0x{1}
                x = x ^ (x >> {2})
                x = (x ^ (x << {3})) & 0x{1}
            return x
        """
    f = bufferize(program(body.format(13, "FFFFFFFF", 17, 5)))
    agree(f, np.array([2463534242]), 100)
    g = bufferize(program(body.format(13, "FFFFFFFFFFFFFFFF", 7, 17)))
    with pytest.raises(OverflowError):
        g(np.array([88172645463325252]), 50)
    agree(g, np.array([5]), 1)


def test_n1_sums_and_products_in_loops_overflow_loudly() -> None:
    f = bufferize(program("""
        def f(n, k):
            p, q = 1, 0
            for i in range(n):
                p = p * k
                q = q + p
            return p, q
        """))  # fmt: skip
    agree(f, 61, 2)
    agree(f, 39, 3)
    agree(f, 62, -2)
    for n, k in ((64, 2), (41, 3), (3000, 7)):
        with pytest.raises(OverflowError):
            f(n, k)
    g = bufferize(program("def g(a): return len(a) ** 3 * len(a), len(a) * 2**40 * 2**10"))
    agree(g, np.zeros(7))
    with pytest.raises(OverflowError):
        g(np.broadcast_to(np.zeros(1), (2**20,)).copy())


def test_n1_numpy_ints_wrap() -> None:
    f = bufferize(program("""
        def f(a, i):
            h = a[0]
            for k in range(len(a)):
                h = h * 6364136223846793005 + a[k]
                h ^= h >> 7
            return h, h << i, h >> i, -h, ~h, h // 3, h % 7, h ** 3
        """))  # fmt: skip
    agree(f, np.arange(1, 50), np.int64(3))
    agree(f, np.arange(1, 50), 70)
    agree(f, np.arange(1, 50), np.int64(-1))


SHIFTS = ("1 << k", "x << k", "x >> k", "(-x) >> k", "(-x) << k", "-1 >> k", "0 << k")


@pytest.mark.parametrize("text", one_in(8, SHIFTS))
def test_n1_f3_shifts_by_counts_known_at_run_time(text: str) -> None:
    f = bufferize(program(f"def f(a, x, j): k = int(a[j]); return {text}"))
    g = bufferize(program(f"def g(x, k): return {text}"))
    counts = [0, 1, 5, 31, 32, 61, 62, 63, 64, 100, 2**40, -1, -(2**62)]
    for (j, k), x in itertools.product(enumerate(counts), (0, 1, 3, 12345)):
        if k < 2**30 or (text.startswith(("x >>", "(-x) >>", "-1"))):  # what eager cannot hold
            exact_or_overflow(f, np.array(counts), x, j)
            if abs(k) < 2**31:
                exact_or_overflow(g, x, k)


@pytest.mark.slow
def test_n3_powers_of_python_ints() -> None:
    f = bufferize(program("def f(k, n): return k ** n"))
    for k, n in itertools.product(
        [0, 1, -1, 2, -2, 3, -7, 10, 46341, 2**31 - 1], [0, 1, 2, 3, 5, 19, 39, 62, 63, 64, -1, -2]
    ):
        exact_or_overflow(f, k, n)
    g = bufferize(program("def g(n): return 2 ** n, 10 ** n, 3 ** n + 1, (-1) ** n, 2.0 ** n, 0.5 ** n, True ** n"))
    for n in (0, 1, 2, 15, 18, 39, 62, 63, 64, 1000, -1, -3):
        exact_or_overflow(g, n)
    h = bufferize(program("""
        def h(a):
            s = 0
            for i in range(len(a)):
                s += (-1) ** i * 2 ** i + i ** 2 - i ** 3
            return s
        """))  # fmt: skip
    agree(h, np.zeros(20))
    for n in (2, 0, -2):  # an int, or a float, by the data
        agree(program("def f(a): return 3 ** int(a[0])"), np.array([n]))


@pytest.mark.slow
def size(v, n):
    return np.zeros(2 ** int(np.ceil(v[0]))), n ** int(v[0])


def summed(v, n):
    total = 0
    for k in range(len(v)):
        total += n ** int(v[k])
    return total, [pow(n, int(x)) for x in v]


def in_place(v, n):
    n **= int(v[-1])
    return n, operator.pow(2, int(v[-1]))


@pytest.mark.parametrize("f", [size, summed, in_place])
@pytest.mark.cases(3)
def test_n3_ints_to_a_power_whose_sign_only_the_run_time_knows(f: Any) -> None:
    for v in ([2.0, 1.0, 0.0, 1.0], [-2.0, 1.0], [0.2, -1.0]):
        agree(f, np.array(v), 3)
    agree(f, np.array([1.0, -1.0]), 0)


def test_n3_powers_of_python_floats() -> None:
    f = bufferize(program("def f(x, n): return x ** n, x ** 3, x ** -2, x ** 2.0, x ** 0, pow(x, n)"))
    for x, n in itertools.product(FLOATS, [0, 1, 2, -1, -3, 64, 1023, -1074]):
        agree(f, x, n)
    g = bufferize(program("def g(x, y): return abs(x) ** y, (x * x + y * y) ** 1.5, 2 ** y, 2.5 ** x, 3 ** 0.5"))
    for x, y in itertools.product(FLOATS, FLOATS):
        agree(g, x, y)
    root = bufferize(program("def f(x): return x ** 0.5"))
    agree(root, 2.0)
    assert "complex" in refused(root, -2.0).reason
    h = bufferize(program("def h(a, x): return len(a) ** 0.5, len(a) ** -x, len(a) ** -1"))
    agree(h, np.zeros(3), 1.5)


@pytest.mark.slow
def test_n3_powers_of_numpy_scalars() -> None:
    f = bufferize(program("def f(x, y): return x ** y, y ** x"))
    some = [
        2.0,
        -1.5,
        0.0,
        3,
        -2,
        0,
        True,
        np.float64(2.5),
        np.float64(-2.0),
        np.float32(0.7),
        np.int64(3),
        np.int64(-2),
    ]
    for x, y in itertools.product(some, some):
        if isinstance(x, np.generic) or isinstance(y, np.generic):
            agree(f, x, y)


@pytest.mark.parametrize("whole", [np.int64(10), np.uint8(10), np.int16(-3), np.int32(15)])
@pytest.mark.parametrize("other", [2.5, -0.5, 0.1, np.float32(2.5), np.float64(2.5)])
def test_n3_powers_of_numpys_ints_and_floats(whole: Any, other: Any) -> None:
    """By the ufunc, unless a NumPy scalar is of the result's type: their last bits are others."""
    f = bufferize(program("def f(x, y): return x ** y, y ** x"))
    agree(f, whole, other)
    agree(program("def f(x, y): return np.array([x])[0] ** y"), whole, other)


@pytest.mark.parametrize("n", [-1, 0, 1, 2, 3])
def test_n3_short_cuts_of_an_exponent_that_is_an_argument(n: int) -> None:
    f = bufferize(program("def f(a, n): return a ** n"))
    for a in (np.array([1 + 0j, 1j, -1, complex(0, -0.0)]), np.array([2.5 + 1j], np.complex64)):
        agree(f, a, n)
    if n >= 0:
        agree(f, np.array([True, False]), n)


@pytest.mark.slow
def test_n3_int_arrays_to_the_powers_in_arrays() -> None:
    f = bufferize(program("def f(a, b): return a ** b"))
    g = bufferize(program("def g(a, b):\n    a **= b\n    return a"))
    for a, b in (
        (np.arange(5), np.arange(5)), (np.arange(5), np.array([1, 2, -1, 0, 3])), (np.arange(0), np.arange(0)),
        (np.arange(4), np.array([2])), (np.arange(4), np.array([-2])), (np.zeros((0, 3), int), np.array([1, -1, 2])),
        (np.arange(6).reshape(2, 3), np.array([1, 2, 0])), (np.arange(4), np.array(3)), (np.arange(4), np.array(-3)),
        (np.arange(4), np.array([True, False, True, True])), (np.array([2, -3]), np.array([62, 41])),
    ):  # fmt: skip
        agree(f, a, b)
        agree(g, a, b)
    agree(bufferize(program("def f(b): return 2 ** b")), np.arange(5))
    agree(bufferize(program("def f(b): return 2 ** b")), np.arange(-2, 5))


def test_bit_lengths() -> None:
    f = bufferize(program("def f(n, a): return n.bit_length(), int(a[0]).bit_length(), (n > 3).bit_length()"))
    for n in (0, 1, -1, 2, 7, 8, -8, 2**31, -(2**31), 2**62, 2**63 - 1, -(2**63) + 1):
        agree(f, n, np.array([n]))
    agree(f, 5, np.array([-(2**63)]))
    g = bufferize(program("""
        def g(n):
            total = 0
            for k in range(n):
                total += k.bit_length() + (1000).bit_length()
            return total
    """))
    agree(g, 50)


@pytest.mark.slow
def test_c1_rounding() -> None:
    f = bufferize(program("def f(x): return round(x), round(x, 2), round(x, -1), round(x, 0), x.is_integer()"))
    for x in (0.5, 1.5, 2.675, -2.5, 1e15 + 0.5, 123.456, 5e-324, math.nan, math.inf, 0.15, 1e22 / 1e5, -0.0):
        agree(f, x)
        agree(f, np.float64(x))
        agree(f, np.float32(x))
    g = bufferize(program("def g(x, n): return round(x, n), round(x * 1.7e308, n)"))
    for x, n in itertools.product((0.12345, -1.0, 0.99), (0, 3, -2, -308, 400, 17)):
        agree(g, x, n)
    h = bufferize(
        program("def h(n, a): return round(n), round(n, 1), round(n, -1), round(n, -3), round(a[0], -1) + a[0]")
    )
    for n in (0, 5, 15, 25, -15, 1500, 2500, 1501, 1499, -1500):
        agree(h, n, np.array([2.5]))


@pytest.mark.slow
def test_c1_rounding_of_arrays() -> None:
    f = bufferize(
        program("def f(a): return np.round(a, 2), np.around(a), a.round(1), np.rint(a), np.round(a, -1), a.round()")
    )
    rng = np.random.default_rng(0)
    for a in (rng.normal(size=20) * 100, rng.normal(size=(3, 4)).astype(np.float32), np.array(2.675), np.zeros(0)):
        agree(f, a)
    g = bufferize(program("def g(a): return np.round(a, 2) + 1, a.round(), a.round(-1), np.round(a[0], -1)"))
    for dtype in (np.int8, np.uint8, np.int64, np.uint64, np.float32):
        agree(g, np.array([5, 15, 25, 126, 77]).astype(dtype))
    h = bufferize(program("def h(a): return a.round(1), a.round(), a.T.round(1), (a.T + 1).round(1), a[1:].round(1)"))
    b = rng.normal(size=(6, 8))
    for a in (b, b.T, b[::2, ::2].T, np.asfortranarray(b), b[:, :3], b[::-1], b[:, :1], b[:1].T):
        agree(h, a)
    agree(bufferize(program("def f(x): return np.round(x), np.round(x, 1), x.round(2)")), np.float64(2.55))


@pytest.mark.slow
def test_c1_divmod_abs_min_max_sum() -> None:
    f = bufferize(program("def f(x, y): return divmod(x, y), abs(x)"))
    some = [
        1.5,
        -2.5,
        0.0,
        3,
        -4,
        0,
        True,
        math.inf,
        math.nan,
        np.float64(2.5),
        np.int64(-3),
        np.float32(0.5),
        np.int64(0),
    ]
    for x, y in itertools.product(some, some):
        agree(f, x, y)
    agree(
        bufferize(program("def f(a, b): return divmod(a, b), np.divmod(a, 2.5), divmod(7, a)")),
        np.arange(1.0, 5),
        np.ones(4),
    )
    g = bufferize(
        program("def g(x, y, n): return min(x, y), max(x, y, 0.5), max(n, 3), min((n, 2, n * n)), sum((n, 2, n))")
    )
    for x, y, n in itertools.product((1.5, -0.0, 0.0, math.nan), (0.0, 2.0, math.nan), (0, 5, -7)):
        agree(g, x, y, n)
    agree(
        bufferize(program("def f(a): return sum([a[0], a[1], 3]), sum((a, a)), min(a[0], a[1]), max([a[1], a[2]])")),
        np.arange(3.0),
    )
    for dtype in (np.float64, np.float32, np.int64, np.uint8):
        k = bufferize(
            program("def k(a, b):\n    b[0] = max(a[0], 1)\n    b[1] = min(2, a[1], 3)\n    return max(a[0], a[1])")
        )
        agree(k, np.array([0, 5]).astype(dtype), np.zeros(2, dtype))
        agree(k, np.array([7, 1]).astype(dtype), np.zeros(2))
    agree(program("def f(n): return max(n, 2, key=abs)"), 5)
    agree(program("def f(n): return np.sqrt(divmod(n, 3))"), 5)


def test_f3_a_path_dependent_type_is_not_divided_by_silently() -> None:
    f = bufferize(program("def f(x): return np.float64(1) + max(x, 0) * 2.0"))
    for x in (1.5, -1.0):
        agree(f, x)
    g = bufferize(program("def g(x): return float(1 / max(x, 0))"))
    agree(g, 4.0)
    agree(g, -1.0)  # ZeroDivisionError


@pytest.mark.slow
def test_c1_conversions() -> None:
    f = bufferize(
        program("def f(x): return int(x), float(x), bool(x), complex is complex, type(x), isinstance(x, int)")
    )
    for x in (
        1.5,
        -2.5,
        3,
        True,
        np.float64(7.9),
        np.float32(-0.5),
        np.int64(2**60),
        np.bool_(True),
        0.0,
        math.nan,
        math.inf,
    ):
        agree(f, x)
    g = bufferize(
        program("def g(a): return int(a[0]), float(a[0]), a[0].item(), a[:1].item(), a.item(1), type(a), type(a[0])")
    )
    for dtype in (float, np.float32, int, bool):
        agree(g, np.array([1, 0]).astype(dtype))
    h = bufferize(program("def h(a): return a.item()"))
    for a in (np.array(2.5), np.array([3]), np.array([[True]]), np.zeros(2), np.zeros(0)):
        agree(h, a)
    agree(bufferize(program("def f(a): return float(a)")), np.array(1.5))
    agree(bufferize(program("def f(a): return int(a)")), np.ones(1))
    agree(bufferize(program("def f(x): return x.real, x.imag, x.conjugate()")), 2.5)
    agree(bufferize(program("def f(x): return x.real, x.imag, x.dtype, x.ndim")), np.float64(2.5))
    agree(bufferize(program("def f(x): return x.real + 1, x.imag")), True)


@pytest.mark.slow
def test_n1_bools_count() -> None:
    text = "b + c, True + n, b * n, -b, ~b, b / 2, b // 1, b < c, b == 1, b & c, b & n, b << 3, n ** b"
    f = bufferize(program(f"def f(b, c, n): return {text}"))
    for b, c, n in itertools.product((True, False), (True, False), (0, 3)):
        agree(f, b, c, n)


@pytest.mark.slow
def test_the_whole_ladder() -> None:
    f = program("""
        def f(a, n, x):
            h = 1
            for i in range(len(a)):
                h = (h * n + int(a[i])) % 65521
                h ^= h << (i % 7)
                a[i] = round(x * h, 2) + (h >> i) / 3
            return a, h, h ** 2, -7 // (h + 1), h == x
        """)
    climb(f, [np.arange(5.0), 31, 1.5])


@pytest.mark.parametrize(
    "text",
    ["(n ^ 2.5) if x > 5 else n", "math.sqrt(x) if n > 0 else -'a'", "math.log(x) + (n & 0.5)", "n // (n - 5) + ~2.5",
     "[x, n][0] + (None < x if x > 100 else 1)", "(a + None) if x > 9 else x", "len(x) if x > 9 else 1"],
)  # fmt: skip
def test_f3_what_python_raises_is_raised_where_it_is_reached(text: str) -> None:
    f = bufferize(program(f"def f(a, x, n): return {text}", math=math))
    for x, n in itertools.product((-1.0, 7.5), (1, 5, -2)):
        agree(f, np.ones(3), x, n)


LEAVES = "n m x y b u v w h i0 i1 3 2.5 -1 0.5 True 7 len(a)".split()
OPERATORS = "+ - * / // % ** << >> & | ^ < <= > >= == !=".split()
CALLS = "abs int float round bool math.floor math.sqrt math.exp math.log math.sin np.float64 np.sqrt math.isnan".split()
PAIRS = "min max divmod math.hypot math.pow math.fmod math.atan2".split()


def random_text(rng: random.Random, depth: int) -> str:
    """A random expression of scalars; exponents and counts are kept small for eager's sake."""
    inner, kind = depth - 1, rng.random()
    if depth == 0 or kind < 0.15:
        return rng.choice(LEAVES)
    if kind < 0.7:
        operator = rng.choice(OPERATORS)
        right = {"**": ["j", "3", "-1", "0.5", "x", "b", "u"], "<<": ["j", "3", "(n & 63)", "b", "y", "(v & 31)"]}
        left = random_text(rng, 0 if operator == "**" else inner)
        return f"({left} {operator} {rng.choice(right[operator]) if operator in right else random_text(rng, inner)})"
    if kind < 0.78:
        return f"({rng.choice(['-', '~', '+', 'not '])}{random_text(rng, inner)})"
    if kind < 0.9:
        return f"{rng.choice(CALLS)}({random_text(rng, inner)})"
    if kind < 0.96:
        return f"{rng.choice(PAIRS)}({random_text(rng, inner)}, {random_text(rng, inner)})"
    return f"({random_text(rng, inner)} if {random_text(rng, inner)} else {random_text(rng, inner)})"


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_random_expressions_of_scalars(seed: int) -> None:
    """N1-N3, F3: right, refused, or OverflowError of what 64 bits do not hold; never another answer."""
    rng, answers = random.Random(seed), 0
    for _ in range(40):
        head = "def f(n, m, x, y, b, u, v, w, h, a, j):\n    i0, i1 = int(a[0]), int(a[1])\n    return "
        source = head + random_text(rng, 3)
        f = bufferize(program(source, math=math))
        for _ in range(3):
            small = np.float32(rng.choice([x for x in FLOATS if abs(x) != 1e300]))
            args = [
                rng.choice(INTS), rng.choice(INTS), rng.choice(FLOATS), rng.choice(FLOATS), rng.random() < 0.5,
                np.float64(rng.choice(FLOATS)), np.int64(rng.choice(INTS)), small,
                np.uint8(rng.choice([0, 1, 200])), np.array([rng.choice(BIG), rng.choice(BIG)]),
                rng.choice([0, 1, 2, 5, -1, -3, 40]),
            ]  # fmt: skip
            with np.errstate(all="ignore"):
                want, expected = outcome(f.__wrapped__, args, {})
                got, raised = outcome(f, args, {})
            if isinstance(raised, (UnsupportedError, OverflowError)):
                continue
            assert type(raised) is type(expected), f"{source}\n{args}\n{expected!r} {want!r}\n{raised!r} {got!r}"
            if expected is None:
                same(got, want, 0, f"{source}\n{args}")
            answers += 1
    assert answers > 60


def test_n1_a_python_number_that_numpys_type_does_not_hold_is_not_joined_with_it() -> None:
    f = bufferize(
        program("""
        def f(a, x):
            return (int(a[0]) if a[1] > 0 else np.float64(x)), (x if a[1] > 0 else np.float32(2.5))
        """)
    )
    for a, x in (([7, 1], 0.25), ([2**53 + 1, 0], 0.1), ([2**53, 1], math.nan), ([-3, 1], -math.inf)):
        agree(f, np.array(a), x)
    agree(f, np.array([3, 1]), 0.1)
    with pytest.raises(UnsupportedError, match="may not hold exactly"):
        f(np.array([2**53 + 1, 1]), 0.5)


@pytest.mark.slow
@pytest.mark.parametrize("value", [np.nan, np.inf, 1e30, -2.5])
def test_a_float_scalar_stored_into_ints(value: float) -> None:
    """NumPy's floats raise like Python's where they have no int; a 0-d array does not (found by fuzzing)."""

    def element(a, b):
        b[1] = a[0]

    def slices(a, b):
        b[1:] = a[0]
        b[...] = a[1] * 1

    def array(a, b):
        b[1:] = a[:1].sum()
        b[0] = a[0, ...]

    for store in (element, slices, array):
        climb(store, (np.array([value, 2.0]), np.zeros(3, np.int64)))


def test_powers_of_python_numbers_that_are_floats_for_sure() -> None:
    """`beta ** t` and `2.0 ** -alpha` (Adam, Deriche's filter) were refused as perhaps complex."""

    def program(beta, t, alpha):
        return 1.0 - beta**t, 2.0 ** (-alpha), 10**alpha, beta**-2, beta**2, beta**3.0

    f = bufferize(program)
    inf = float("inf")
    bases = (0.9, -2.5, 0.0, 0.0, 1e200, 2.0, inf, -inf, 1.0, -1.5)
    whole = (5, -3, 2, -1, 3, 1, 2, -1, 4, 10**9 + 1)
    exponents = (0.25, 1.5, 0.0, 1.0, 1.0, 1e5, 0.5, inf, -inf, 0.5)
    for beta, t, alpha in zip(bases, whole, exponents, strict=True):
        try:
            wanted = program(beta, t, alpha)
        except (ZeroDivisionError, OverflowError) as error:
            with pytest.raises(type(error)):
                f(beta, t, alpha)
        else:
            got = f(beta, t, alpha)
            assert got == wanted and [type(x) for x in got] == [type(x) for x in wanted]


@pytest.mark.slow
def test_astype_of_a_number() -> None:
    def program(a, out):
        for i in range(len(a)):
            out[a[i].astype(int)] += a[i].astype(np.float32) * 2
        return a[0].astype(bool), a[1].astype("int8"), a.sum().astype(np.int64)

    climb(program, (np.array([2.5, 0.25, 1.75]), np.zeros(4)))


def test_rounding_to_more_digits_than_an_int_of_c() -> None:
    agree(program("def program(a, n):\n    return np.round(a, n)"), np.arange(3), -(2**63))


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        "v[0].item(), v[1].item(0)",
        "v[0].item(-2)",
    ],
)
def test_c1_calls_that_once_differed(text: str) -> None:
    """Found by calls that `tracebuf.testing.functions` drew."""
    expression(text, UNUSUAL)


PARTS = [complex(x, y) for x in (1.0, np.nan, 2.0) for y in (1.0, np.nan)]


@pytest.mark.parametrize("kinds", one_in(8, ["DD", "DF", "FF", "fD", "dF", "Df", "Dd", "DO", "FO", "fO", "dO"]))
@pytest.mark.slow
def test_order_of_complex_numbers_with_nans(kinds: str) -> None:
    """NumPy's scalars compare lexicographically, its ufuncs look for NaNs first; max() and min() of elements compare
    scalars. "O" is a Python number."""

    def element(z: complex, kind: str) -> Any:
        return z if kind == "O" else np.array([z if kind in "DF" else z.real], kind)

    text = "x < y, x <= y, x > y, x >= y, x == y, np.less(x, y), max(x, y), min(x, y)"
    x, y = ("x[0]" if kinds[0] != "O" else "x"), ("y[0]" if kinds[1] != "O" else "y")
    program_ = program(f"def f(x, y):\n    x, y = {x}, {y}\n    return {text}")
    if kinds in ("fO", "dO", "FO"):
        program_ = program(f"def f(x, y):\n    x, y = {x}, {y}\n    return {text.partition(', max')[0]}")
    f = bufferize(program_)
    for a in PARTS:
        for b in PARTS:
            agree(f, element(a, kinds[0]), element(b, kinds[1]))


def test_order_of_two_complex_numbers_with_nans() -> None:
    """Of two elements, as one of the above."""
    f = bufferize(lambda x: (x[0] < x[1], x[0] >= x[1], np.less(x[0], x[1]), max(x[0], x[1])))
    for x in ([complex(1, np.nan), 2], [complex(np.nan, 1), 1]):
        agree(f, np.array(x))


@pytest.mark.slow
@pytest.mark.parametrize("kind", "FD")
def test_extremes_of_complex_arrays_with_nans(kind: str) -> None:
    rng = np.random.default_rng(1)
    f = bufferize(lambda a: (a.max(), a.min(), np.nanmax(a), np.nanmin(a), max(a), min(a), max(a[0], a[-1])))
    for n in (1, 2, 3, 5, 5, 5):
        agree(f, np.array([PARTS[i] for i in rng.integers(0, len(PARTS), n)], kind))


@pytest.mark.parametrize("index", ["()", "...", "None", "..., None", "None, ..., None", "0", "slice(None)", "'a'"])
def test_c1_indices_of_numpys_scalars(index: str) -> None:
    f = program(f"def f(x):\n    a, b = x.sum()[{index}], x[0][{index}]\n    return a, b, a * x[:1], type(b)")
    for dtype in (np.float64, np.int32, np.bool_):
        agree(f, np.arange(4).astype(dtype))
