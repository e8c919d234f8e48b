"""What computes with a number that is Python's on one path and NumPy's on another is traced once for each (rule C1)."""

import math

import numpy as np
import pytest

from tests.support.agreement import agree, outcome, program, refused
from tests.support.params import slow_but
from tracebuf import bufferize

TEXTS = [
    "x * 0.1 + 1", "x / 3, 1 / (x + 1), x // 2, x % 3", "x > 0.1, 0.1 < x < 2.5, x == 0.1", "abs(x - 0.5), -x",
    "np.sqrt(x), np.hypot(x, 1.5), np.maximum(x, 0.2), np.round(x * 1.234, 2)", "math.sqrt(x)",
    "v * x, v - x, np.full(3, x)", "int(x), float(x), bool(x), str(x), repr(x)", "f'{x:.3f}', f'{x}'", "x ** 2",
    "x ** 0.5, round(x, 2), math.floor(x / 7)",
    "[y * x for y in (1, 2.5, v[0])]", "1 / x", "x or 0.3, x and 2, not x", "type(x), isinstance(x, float)",
    "x / (x + 1), x * x / 3, np.hypot(x, x), (x / 3) / x",
    "max(x, 0.7), min(x, v[0], 2)", "np.exp(-x / 3), np.clip(x, 0.1, 3)",
]  # fmt: skip
NUMBERS = ["0", "0.1", "2.5", "k"]


@pytest.mark.parametrize("number", slow_but(("0.1",), {n: n for n in NUMBERS}))
@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.cases(3)
def test_what_it_gives_is_that_of_the_path(text: str, number: str) -> None:
    f = program(f"def f(v, k):\n    x = v[1] if v[0] > 2 else {number}\n    return {text}", np=np, math=math)
    g = bufferize(f)
    for dtype in (np.float32, np.float64, np.int64):
        for first in (3, 1):
            agree(g, np.array([first, 4, 1], dtype), 7)


def test_the_larger_of_a_number_and_a_float_that_its_type_does_not_hold() -> None:
    def f(v, eps):
        s = max(v[0], 1e-12)
        t = min(v[1], eps)
        return v / s, s, t, t * 2.5, s < t

    for first in (0, 3):
        agree(f, np.array([first, 4, 1], np.float32), 0.3)


def test_it_is_carried_in_loops() -> None:
    def best(v, start):
        found = 0.1
        low = start
        for x in v:
            found = max(found, x)
            low = min(low, x / 3)
        return found, found * 2, low / 3, v + found

    for v in ([], [0.05], [3.0, 7.0]):
        agree(best, np.array(v, np.float32), 0.7)


def test_names_are_augmented() -> None:
    def f(v):
        s = v[1] if v[0] > 2 else 1
        s /= 3
        s -= 0.1
        v *= s
        return s, v

    for first in (3, 1):
        agree(f, np.array([first, 4, 1], np.float32))


def test_a_division_by_pythons_zero_raises() -> None:
    def f(v, catch):
        s = v[1] if v[0] > 2 else 0
        try:
            return 1.0 / s
        except ZeroDivisionError as error:
            if catch:
                return str(error)
            raise

    for first in (3, 1):
        for catch in (True, False):
            agree(f, np.array([first, 4, 1], np.float32), catch)


def test_a_call_is_not_traced_twice() -> None:
    """What a function of the caller's stores and appends happens once, whatever it refuses."""

    def third(x, out, seen):
        seen += 1
        out.append(x)
        return x / 3

    def f(v):
        out, seen = [], np.zeros(1)
        s = v[1] if v[0] > 2 else 0
        return third(s, out, seen), len(out), seen

    for first in (3, 1):
        agree(f, np.array([first, 4, 1], np.float32))

    def unknown(v):
        seen = []
        s = v[1] if v[0] > 2 else 0
        t = (lambda x: (seen.append(x), np.array([x, x])))(s)
        return t, len(seen)

    refused(unknown, np.array([1, 4, 1], np.float32))


def test_arrays_change_in_place_on_each_path() -> None:
    def f(v):
        s = v[1] if v[0] > 2 else 0.1
        a = v * s
        b = a
        a += s
        return a, b, a is b

    for first in (3, 1):
        agree(f, np.array([first, 4, 1], np.float32))
    assert outcome(bufferize(f), (np.ones(3, np.float32),), {})[1] is None


@pytest.mark.parametrize(
    "text",
    ["a * [x, 5], [x, 5] - a", "a ** [x, -2], [[x], [x]] + a", "a > [x, 5], (3, x) != a", "a * 1j + [x, 3]",
     "v[3] + [x, 3]"],
)  # fmt: skip
def test_lists_of_them_beside_floats(text: str) -> None:
    """The array of the list is of one dtype or another; what is computed with floats is of one."""
    f = program(f"def f(v):\n    x, a = v[1] if v[0] > 2 else 3, v[:2]\n    return {text}", np=np)
    g = program("def f(v):\n    s = v[:2].copy()\n    for k in range(4):\n"
                "        s += [v[k] if v[k] > 2 else 0 for _ in range(2)]\n    return s")  # fmt: skip
    for first in (3.0, 1.0):
        agree(f, np.array([first, 2.0, 4.0, 1.0]))
        agree(g, np.array([first, 2.0, 4.0, 1.0]))


def test_lists_of_them_beside_ints_are_of_one_dtype_or_another() -> None:
    f = program("def f(v):\n    return v.astype(int) * [v[1] if v[0] > 2 else 3, 5]")
    assert "is Python's or NumPy's" in refused(f, np.ones(2)).reason


def test_an_array_that_is_changed_by_one() -> None:
    """Where it is NumPy's, there is no such operator; but there the array is none."""
    f = program("""
        def f(v, k, b):
            if v[0] > 2:
                k = np.float64(k)
            else:
                b = np.arange(3)
            b >>= k
            return b
    """)
    for first in (3.0, 1.0):
        agree(f, np.array([first]), 2, True)
