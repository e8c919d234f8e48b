"""Python's `math` on traced numbers: bit for bit its values, its exceptions, its types (rules C1, F3, N1)."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.support.agreement import agree, program, refused
from tests.support.params import one_in
from tracebuf import bufferize
from tracebuf.testing.ladder import climb

FLOATS = [
    0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 0.1, 1.5, 2.0, 2.5, -2.0, -3.0, 3.0, 10.0, 171.5, 709.5, 710.5, -745.2, 1e-310,
    1e16, -1e16, 2.0**53, 2.0**62, -(2.0**63), 2.0**63, 1e300, -1e300, math.inf, -math.inf, math.nan, math.pi, 0.7,
    -0.99, 1e-8, 22.0, 1e9 + 0.5, 5e-324, 1.7976931348623157e308,
]  # fmt: skip
ONE = (
    "sqrt exp expm1 exp2 log log2 log10 log1p sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh fabs floor "
    "ceil trunc degrees radians isnan isinf isfinite erf erfc gamma lgamma cbrt ulp modf"
).split()
TWO = "pow atan2 hypot copysign fmod remainder nextafter log isclose".split()


@pytest.mark.parametrize("name", one_in(8, ONE))
def test_c1_f3_functions_of_one_float(name: str) -> None:
    f = bufferize(program(f"def f(x): return math.{name}(x)", math=math))
    rng = np.random.default_rng(5)
    to_int = name in ("floor", "ceil", "trunc")
    for x in [*FLOATS, *rng.normal(size=20), *rng.normal(size=20) * 100]:
        if not (to_int and 2.0**63 <= abs(x) < math.inf and x != -(2.0**63)):
            agree(f, float(x))


@pytest.mark.parametrize("name", one_in(18, TWO))
def test_c1_f3_functions_of_two_floats(name: str) -> None:
    f = bufferize(program(f"def f(x, y): return math.{name}(x, y)", math=math))
    some = FLOATS[:12] + FLOATS[20:31]
    for x in some:
        for y in some:
            agree(f, x, y)


@pytest.mark.slow
def test_c1_arguments_of_every_kind() -> None:
    f = program(
        f"def f(x): return {', '.join(f'math.{n}(x + 0 * x)' for n in ONE if n not in ('trunc', 'ulp'))}", math=math
    )
    g = program(
        "def f(x): return math.trunc(x), math.log(x, 3), math.log(x, 2.5), math.pow(x, x), math.hypot(x, 3, x)",
        math=math,
    )
    for x in (np.float64(0.75), np.float32(0.7), np.int64(1), 1, True, np.bool_(True)):
        agree(bufferize(f), x)
        agree(bufferize(g), x)
    h = bufferize(
        program("def f(a): return math.sqrt(a[1]) + math.sin(a[0]), math.floor(a[1]), math.exp(a[0, ...])", math=math)
    )
    agree(h, np.array([0.3, 7.5]))
    agree(bufferize(program("def f(a): return math.sin(a)", math=math)), np.ones(3))


@pytest.mark.slow
def test_c1_ints_are_converted_as_python_does() -> None:
    f = bufferize(
        program(
            "def f(n): return math.sqrt(n * n * 4194304 // 3), math.log(n), math.floor(n), math.ldexp(0.3, n)",
            math=math,
        )
    )
    for n in (1, 3, 123456, 0, -1, 2000):
        agree(f, n)
    g = bufferize(program("def f(a): return math.floor(a[0]), math.ceil(a[1]), int(a[0])", math=math))
    agree(g, np.array([2**53 + 1, -(2**53) - 1]))


def test_n1_ints_of_floats() -> None:
    f = bufferize(program("def f(x): return math.floor(x), math.ceil(x), int(x), round(x)", math=math))
    for x in (2.0**62, -(2.0**63), 0.5, 1.5, -2.5, 1e15 + 0.5, math.nan, math.inf, -math.inf):
        agree(f, x)
    with pytest.raises(OverflowError):
        f(2.0**63)


def test_ints_by_gcd_and_isqrt() -> None:
    f = bufferize(program("def f(a, b): return math.gcd(a, b, 12), math.isqrt(a), math.isqrt(a * a + 1)", math=math))
    for a, b in ((24, 36), (0, 0), (7, -21), (-4, 2), (2**31 - 1, 2**30)):
        agree(f, a, b)


def test_isqrt_where_the_float_s_root_is_one_too_many() -> None:
    f = bufferize(program("def f(a): return math.isqrt(a[0])", math=math))
    roots = (1, 2**26, 2**26 + 1, 2**27 - 1, 94906266, 2**31, 3037000499)
    for n in (2**63 - 1, *(r * r + e for r in roots for e in (-1, 0, 1))):
        agree(f, np.array([n]))


def test_gcd_of_magnitudes_beyond_an_int64() -> None:
    """A uint64 from 2**63 on raised OverflowError, whatever the result."""
    f = bufferize(program("def f(a, b, k): return math.gcd(a[0], a[1]), math.gcd(k, b, k), math.gcd(b)", math=math))
    for a in ([2**64 - 1, 10], [2**64 - 2, 2**63], [0, 7], [2**64 - 1, 2**64 - 2]):
        for k in (-(2**63), 12):
            agree(f, np.array(a, np.uint64), np.array(a[1] % 2**63 | 1, np.uint64), k)
    with pytest.raises(OverflowError):
        f(np.full(2, 2**64 - 1, np.uint64), np.array(3, np.uint64), 1)


def test_f3_an_untaken_branch_raises_nothing_and_an_earlier_error_wins() -> None:
    f = bufferize(
        program(
            """
        def f(a, i):
            s = 0.0
            for k in range(len(a)):
                if a[k] >= 0:
                    s += math.sqrt(a[k])
            return s + a[i]
        """,
            math=math,
        )
    )
    agree(f, np.array([1.0, -4.0, 2.0]), 1)
    agree(f, np.array([1.0, -4.0, 2.0]), 5)
    agree(bufferize(program("def f(a, i): return a[i] + math.sqrt(a[0])", math=math)), np.array([-1.0]), 3)


def test_keywords_and_wrong_arguments() -> None:
    f = bufferize(
        program("def f(x, y, t): return math.isclose(x, y, rel_tol=t), math.isclose(x, y, abs_tol=t)", math=math)
    )
    for t in (0.0, 0.1, -1.0):
        agree(f, 1.0, 1.05, t)
    for text in ("math.sin(x, x)", "math.sin()", "math.sin(x=x)", "math.isqrt(x)"):
        agree(bufferize(program(f"def f(x): return {text}", math=math)), 1.5)
    for text in ("math.factorial(x)", "math.comb(x, 2)", "math.perm(x)", "math.lcm(x, 4)", "math.prod((x, x, 2.0))"):
        f = bufferize(program(f"def f(x): return {text}", math=math))
        for x in (3, 5, 0, -1):
            agree(f, x)
    agree(bufferize(program("def f(x): return math.fsum((x, x))", math=math)), 3.0)
    agree(bufferize(program("def f(x): return math.comb(int(x), 2)", math=math)), 3.0)
    for text in ("math.frexp(x)", "math.lcm(int(x), 4)"):
        assert refused(program(f"def f(x): return {text}", math=math), 3.0).instead


@pytest.mark.slow
def test_the_whole_ladder() -> None:
    f = program(
        """
        def f(a, x, n):
            for i in range(len(a)):
                a[i] = math.gamma(x + i) * math.sin(a[i]) + math.hypot(x, i) + math.pow(x, i)
            return a, math.erf(x), math.gcd(n, 12)
        """,
        math=math,
    )
    climb(f, [np.arange(5.0), 1.5, 30])


@pytest.mark.parametrize("x", [0.5, 30.0, 400.0, -1.0, 0.0, float("nan"), float("-inf")])
def test_functions_of_pythons_that_raise_in_native_code(x: float) -> None:
    """A ValueError or an OverflowError of the function itself is told apart in native code, and none stays pending."""

    def f(a, x):
        found = np.zeros(3)
        for k in range(len(a)):
            found[k] = math.hypot(a[k], x)
        return found, math.gamma(x)

    agree(f, np.array([3.0, 1e308, -4.0]), x)


def pascal(x):
    total, found = 0.0, []
    for p in range(int(x[0])):
        for i in range(p + 2):
            total += math.comb(p, i) * x[1]
            found.append((math.comb(p, i), math.perm(p, i)))
        found.append((math.factorial(p), math.perm(p)))
    return total, found


def large(x):
    return math.comb(int(x[0]), int(x[1])), math.perm(int(x[0]), 2)


@pytest.mark.slow
def test_combinations_of_ints_that_only_the_run_time_knows() -> None:
    for x in ([5.0, 2.0], [0.0, 1.0]):
        agree(pascal, np.array(x))
    for x in ([60.0, 30.0], [5.0, -1.0], [-1.0, 2.0], [3.0, 5.0]):
        agree(large, np.array(x))
    for n in (5.0, -1.0, 20.0):
        agree(lambda x: math.factorial(int(x[0])), np.array([n]))


RATIOS = """int(n / 2)|int(1 + n / 2)|math.ceil(n / 3)|math.floor(n / 7)|int(n / 2 / 3)|int(n / 5 - 2)
math.trunc(n / 49 + 1)"""


@pytest.mark.parametrize("form", one_in(3, RATIOS.replace("\n", "|").split("|")))
@pytest.mark.cases(9)
def test_ints_of_quotients_are_ints_of_the_call(form: str) -> None:
    """A size by `int(n / 2)` was known at run time only, so that no view could depend on it."""
    f = bufferize(max_specializations=1000)(program(f"def f(n): return {form}", math=math))
    rng = np.random.default_rng(0)
    large = [int(k) * m for k in rng.integers(0, 2**45, 20) for m in (1, 3, 7, 49)]
    for n in (*range(-12, 30), *large, 2**50, 2**50 + 1, 2**53 + 1, -(2**60)):
        agree(f, n)
    g = program(f"""
        def g(n):
            w = np.ones((3, n + 3))
            return np.ascontiguousarray(w[:, :{form}])
    """, math=math)
    for n in (10, 17, 3):
        agree(g, n)
