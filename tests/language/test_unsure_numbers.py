"""Numbers that are Python's on one path and NumPy's on another: what is asked of them depends on the path (rule C1)."""

import numpy as np
import pytest

from tests.support.agreement import agree, outcome, program, refused
from tests.support.params import one_in
from tracebuf import UnsupportedError, bufferize
from tracebuf.testing.ladder import climb

ANSWERED = [
    "isinstance(n, int)", "isinstance(n, float)", "isinstance(n, (int, np.integer))", "isinstance(n, np.generic)",
    "hasattr(n, 'dtype'), hasattr(n, 'real')", "getattr(n, 'ndim', 'no')", "n.dtype", "n.shape", "n.item()", "n.real",
    "n.nothing",
]  # fmt: skip
OR_REFUSED = [
    "np.common_type(n, a)(1)", "np.result_type(n, np.float32)", "np.dot(n, a)", "np.dot(n, a.astype('f4'))",
    "n.numerator", "f'{n:d}'", "n.astype(np.float64)", "n / 0", "n // 0", "n % 0",
]  # fmt: skip
PAIRS = [("k", "a[0]"), ("k", "a.astype('f4')[0]"), ("k", "np.int64(3)"), ("2.5", "a[0]")]


@pytest.mark.parametrize("python, numpys", PAIRS)
@pytest.mark.parametrize("text", one_in(3, ANSWERED + OR_REFUSED))
def test_what_depends_on_whose_number_it_is(text, python, numpys):
    """`isinstance`, attributes and dtypes were those of NumPy's number on Python's path too."""
    f = program(f"def f(a, k):\n    n = {python}\n    if a[1] > 9:\n        n = {numpys}\n    return {text}")
    g = bufferize(verify=True)(f)
    for last in (10.0, 1.0):
        try:
            agree(g, np.array([1.0, last]), 3)
        except AssertionError as error:
            if text in ANSWERED or not isinstance(error.__cause__, UnsupportedError):
                raise


def test_a_branch_on_the_type_goes_the_way_of_the_path():
    def f(a, k):
        n = a[0]
        if a[1] > 9:
            n = k
        if isinstance(n, int):
            raise ValueError("an int")
        return n * 2

    for last in (1.0, 10.0):
        agree(f, np.array([1.0, last]), 3)


SAYING = ["max(i for i in range(k))", "min(v for v in a if v > k)", "max(a[:0])", "1.5 % (k - 3)", "k % (k - 3)"]


@pytest.mark.parametrize("text", SAYING)
def test_messages_are_of_this_python(text):
    """Python's words of an empty sequence, and of a division by zero, differ from version to version."""
    f = program(f"def f(a, k):\n    return {text}")
    for k in (0, 3):
        want, got = (outcome(g, (np.ones(2), k), {})[1] for g in (f, bufferize(f)))
        assert str(want) == str(got)


def test_the_type_itself_is_that_of_the_path():
    for x in (1.0, -1.0):
        agree(program("def f(a, k):\n    n = k if a[0] > 0 else a[0]\n    return type(n)"), np.full(2, x), 3)


SUMS = [
    "s, [s], f'{s}', float(s)", "s > 0.5, 1 - s, -s, s * 2, s + w[0], abs(s)", "w * s, np.sqrt(s)", "1 / s", "s // 2",
    "1 if s else 2", "min(s, 9.0) < 1", "s.dtype", "sum(w[m], 0.5)", "sum(w[m], 2)", "np.array([1.0, 2.0])[s:]",
]  # fmt: skip


@pytest.mark.parametrize("text", SUMS)
@pytest.mark.parametrize("dtype", ["f8", "i8", "?"])
def test_a_sum_of_what_may_be_empty_is_pythons_start_there(text, dtype):
    g = program(f"def f(w, m):\n    s = sum(w[m])\n    return {text}")
    for m in ([True, False, True], [False] * 3):
        w = np.array([1, 0, 3]).astype(dtype)
        try:
            agree(g, w, np.array(m))
        except AssertionError as error:
            if dtype == "f8" or text == SUMS[0] or not isinstance(error.__cause__, UnsupportedError):
                raise


@pytest.mark.parametrize("start", ["2**53 + 1", "True", "1j"])
def test_a_start_that_the_sum_cannot_hold_is_refused(start):
    g = program(f"def f(w, m):\n    return sum(w[m], {start})")
    assert "sum()" in refused(g, np.ones(3), np.zeros(3, bool)).reason


def test_the_error_of_a_stump_is_a_sum_of_what_is_wrong():
    def f(x, y, w):
        least = float("inf")
        for t in np.unique(x):
            guess = np.ones(len(x))
            guess[x < t] = -1
            error, p = sum(w[y != guess]), 1
            if error > 0.5:
                error, p = 1 - error, -1
            if error < least:
                least, best, sign = error, t, p
        return 0.5 * np.log((1.0 - least + 1e-10) / (least + 1e-10)), best, sign

    x = np.array([1.0, 2.0, 3.0, 4.0])
    for y in ([-1.0, -1, 1, 1], [1.0, -1, 1, -1], [1.0, 1, 1, 1]):
        agree(f, x, np.array(y), np.full(4, 0.25))


@pytest.mark.slow
def test_ints_are_compared_with_ints_of_any_size():
    """Whether an int is Python's or NumPy's was asked where it makes no difference (Otsu's threshold)."""

    def f(a, x, n):
        t = -1
        for i in range(n):
            if x[i] > 0:
                t = x[i]
        return a > t, a == t, (a < t).sum(), t >= a, a[a > t]

    for dtype in ("u1", "i1", "u8", "i2", "?"):
        for x in ([-5, 3, 300], [-5, -3, -3], [2, 0, 1]):
            agree(f, np.array([0, 1, 2, 100, 5]).astype(dtype), np.array(x), 3)


@pytest.mark.slow
def test_sums_and_products_of_ints_wrap_where_they_are_numpys():
    """Where they are Python's they are exact, or raise beyond 64 bits."""

    def f(x, n, k):
        t = 7
        for i in range(n):
            if x[i] > 0:
                t = x[i]
        return t + k, t - 3, 2 * t, (t + 1) * t, min(t + 1, k), max(t, k + 1), t * k

    def doubled(x):
        t = 2**62
        for v in x:
            if v > 0:
                t = v
        return t + t

    for x in ([-5, 3, 300], [-5, -3, -3]):
        climb(f, (np.array(x), 3, 4), again=[(np.array(x), 3, 10**15)])
    agree(doubled, np.array([2**62]))
    with pytest.raises(OverflowError, match="64 bits"):
        bufferize(doubled)(np.array([-1]))


def test_the_distance_of_two_texts():
    def distance(a, b):
        before = list(range(len(b) + 1))
        for i, x in enumerate(a, 1):
            row = [i]
            for j, y in enumerate(b, 1):
                row.append(min(before[j] + 1, row[-1] + 1, before[j - 1] + (x != y)))
            before = row
        return before[-1]

    agree(distance, np.array([3, 1, 4, 1, 5]), np.array([1, 4, 4, 5, 2, 6]))
    agree(distance, np.array([3, 1]), np.array([], int))


@pytest.mark.parametrize("e", ["s ** 2", "(s - 1) ** 3, d ** 2.0", "s ** -1", "(d - 2) ** -2", "s ** 0 + d ** 1"])
def test_whole_powers_of_what_may_be_pythons_float(e: str) -> None:
    """Python's raise where NumPy's are infinite."""
    loop = "s, d = 1e300, 0.0\n    for k in range(n):\n        s, d = s * a[k], d + a[k]"
    text = f"def f(a, n):\n    {loop}\n    return {e}"
    for n in (0, 1, 3):
        agree(program(text), np.arange(1.0, 5.0), n)


@pytest.mark.parametrize("e", ["r + z", "z + r", "r == z", "z == r", "r + [1, ()]", "r == 'text'", "r != None"])
@pytest.mark.parametrize("d", [np.int64(0), np.int64(3), np.float32(0)])
def test_beside_a_list_it_makes_a_difference_whose_number_it_is(e: str, d: object) -> None:
    """NumPy's takes a list for an array, Python's does not: the array was made whoever's it was."""
    f = program(f"def f(a, z, d):\n    r = a\n    if d:\n        r = d\n    return {e}")
    if "=" in e and "z" in e:
        refused(f, 1, [1, 2], d)
    else:
        agree(f, 1, [1, 2], d)


def step_size(a, tolerance, q):
    return 0.9 * (tolerance / max(a[0], tolerance)) ** q, max(a[0], tolerance) ** 0.2


@pytest.mark.parametrize("x", [0.5, 1e-9, np.inf])
@pytest.mark.parametrize("q", [0.2, -0.5, 2.0])
def test_powers_that_are_no_whole_number(x: float, q: float) -> None:
    agree(step_size, np.array([x, 1.0]), 1e-3, q)


def root(a, least, q):
    return max(a[0], least) ** q


def test_powers_that_raise_or_are_complex_where_the_number_is_pythons() -> None:
    for x, least, q in ((-3.0, 0.0, -0.5), (0.0, -1.0, -0.5), (-3.0, -8.0, 0.5), (4.0, -8.0, 0.5)):
        agree(root, np.array([x]), least, q)
    with pytest.raises(UnsupportedError, match="is complex"):
        bufferize(root)(np.array([-8.0]), -3.0, 0.5)


@pytest.mark.slow
def test_arrays_whose_type_other_items_decide() -> None:
    """A float among the items makes the array one of float64, whether others are Python's ints or NumPy's floats."""

    def f(x):
        s = [0.0]
        s += [v if v > 0.5 else 0 for v in x]
        return np.cumsum(s), np.array(s), np.array([[x[2], x[0] if x[1] > 0.3 else 0], [0, 1 if x[0] > 0.1 else x[1]]])

    for x in (np.array([0.2, 0.7, 0.9]), np.array([0.6, 0.1, -1.0])):
        agree(f, x)

    def g(x):
        return np.array([x[0] if x[1] > 0.3 else 0, 1])

    refused(g, np.array([0.2, 0.7]))
