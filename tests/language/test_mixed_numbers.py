"""Numbers that are Python's or NumPy's, or of two types, by the path (rules C1, N1, S8). Found by fuzzing and by
programs in the style of numerical code."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest

from tests.support.agreement import agree, program, refused
from tests.support.arrays import floats
from tests.support.params import one_in, slow_but
from tracebuf import UnsupportedError, bufferize
from tracebuf.testing.ladder import climb


@pytest.mark.parametrize("dtype", [np.uint64, np.uint8])
def test_an_int_that_only_a_numpy_number_does_not_take(dtype: type) -> None:
    """Rule N1: where the number may be Python's, nothing is out of bounds for sure."""

    def program(a):
        return -1 - min(a[0], 3)

    for x in (5, 2):
        agree(program, np.array([x], dtype))


def test_counting_what_is_true() -> None:
    """A count that begins as a Python int and adds NumPy bools was refused, though int64 comes out either way."""

    def program(a, n):
        count, bad = 0, 0
        for i in range(n):
            count += a[i] > 0
            bad += ~(a[i] > 0)
        return a * count, count + a[0] > 1.0, bad / a[1]

    f = bufferize(program)
    for n in (3, 0, 4):
        for got, wanted in zip(f(floats(5), n), program(floats(5), n), strict=True):
            assert type(got) is type(wanted) and np.array_equal(got, wanted)


def test_the_larger_of_a_python_number_and_numpys() -> None:
    """`worst = max(worst, x[i])`, the test of convergence in many programs, was refused."""

    def program(a, c):
        worst, least, most = 0.0, c, 0
        for i in range(a.shape[0]):
            worst = max(worst, abs(a[i]))
            least = min(c, worst, least)
            most = max(most, int(a[i] > 0) * i, 1)
        if worst > 2:
            a /= worst
        a[0] = max(0, a[1]) + least * most
        return max(a[0], a[1]), min(c, 2.5), max(c, 3.0)

    f = bufferize(program)
    for given in (floats(7), floats(2), np.array([np.nan, -1.0, 0.5])):
        eager = given.copy()
        wanted, got = program(eager, 1.5), f(given, 1.5)
        assert np.array_equal(given, eager, equal_nan=True)
        assert [type(x) for x in got] == [type(x) for x in wanted] and np.array_equal(got, wanted, equal_nan=True)


def test_a_ufunc_that_is_called_by_its_name_gives_numpys_numbers() -> None:
    """Rule C1: np.sqrt of a number that is Python's or NumPy's, depending on the path, was refused, and np.add gave a
    Python float on the one path."""

    def program(a, b):
        t = a[0] + b if a[0] > 0 else 1.0
        return np.sqrt(t), np.add(t, 1), np.multiply(t, t, out=None), np.maximum(t, a), t

    f = bufferize(program)
    for given in (floats(3) + 5, floats(3)):
        for got, wanted in zip(f(given, 0.5), program(given, 0.5), strict=True):
            assert type(got) is type(wanted) and np.array_equal(got, wanted)


def test_a_value_of_two_types_is_an_operand_path_by_path() -> None:
    """A call with a value of two types fell through to NumPy, which raised its TypeError (rule S8)."""

    def program(a):
        t = a[0] if a[0] > 0 else 1.0
        return np.add(t, 1)

    agree(program, np.arange(3))
    agree(program, np.arange(3) + 1)


def test_ints_that_are_pythons_or_numpys_are_compared() -> None:
    """Rule N1: roots of a union-find, each `i * m + j` or an element, were refused as operands of `!=`; beside a float,
    above 2**53, it makes a difference."""

    def program(parent, i, j):
        x, y = i, j
        while parent[x] != x:
            x = parent[x]
        while parent[y] != y:
            y = parent[y]
        if x != y:
            parent[y] = x
        return x == y, x < 3, y >= x, x

    f = bufferize(program)
    for i, j in ((0, 5), (3, 3), (0, 1)):
        given = np.array([0, 0, 1, 3, 3, 4])
        eager = given.copy()
        wanted, got = program(eager, i, j), f(given, i, j)
        assert [*map(type, got)] == [*map(type, wanted)] and got == wanted and np.array_equal(given, eager)

    def beside(parent, i):
        x = i
        while parent[x] != x:
            x = parent[x]
        return x == 0.5

    for i in (2, 0):
        agree(beside, np.array([0, 0, 1]), i)


@pytest.mark.slow
def test_an_index_that_an_iteration_makes_a_float() -> None:
    """Rules N1, F3: an int on one path is an index there; on the other the float raises what it raises in eager."""

    def program(a):
        k = a.shape[0]
        while a[-k] <= 0:
            k = np.floor(0.5)
        return k

    def part(a):
        k = 1
        if a[0] > 5:
            k = a.sum()
        return a[:k]

    for a in (np.ones(2), np.zeros(2), np.array([7.0, 0])):
        agree(program, a)
        agree(part, a)


INTS: dict[str, Callable[[Any, Any], Any]] = {
    "a[k]": lambda a, k: a[k],
    "a[k,]": lambda a, k: a[k,],
    "a[1:k]": lambda a, k: a[1:k],
    "a.item": lambda a, k: a.item(k),
    "range": lambda a, k: range(k)[1],
    "arange": lambda a, k: np.arange(5)[k],
    "linspace": lambda a, k: np.linspace(0, 1, k),
    "bincount": lambda a, k: np.bincount([1, 2], minlength=k),
    "[1] * k": lambda a, k: [1] * k,
}
PERHAPS: dict[str, Callable[[Any, Any], Any]] = {
    "roll": lambda a, k: np.roll(a, k),
    "repeat": lambda a, k: np.repeat(a, k),
}


@pytest.mark.parametrize(("name", "dtype"), one_in(3, product(INTS, [float, complex]), rows=True))
def test_the_larger_of_an_int_and_a_float_as_an_int(name: str, dtype: type) -> None:
    """Beside complex numbers it raised what a complex number raises."""
    use = INTS[name]

    def program(a, b):
        return use(a, max(2, b[0]))

    for b in (np.zeros(2, dtype), np.full(2, 4, dtype)):
        agree(program, np.arange(5.0), b)


@pytest.mark.parametrize("dtype", [float, complex])
@pytest.mark.parametrize("use", PERHAPS.values(), ids=PERHAPS)
def test_where_a_float_is_taken_too(use: Callable[[Any, Any], Any], dtype: type) -> None:
    """np.roll and np.repeat take some floats, and raised."""
    refused(lambda a, b: use(a, max(2, b[0])), np.arange(5.0), np.zeros(2, dtype))


@pytest.mark.slow
def test_a_numpy_number_that_a_loop_replaces_by_pythons() -> None:
    """Rule C1: the type of the last value, where the loop is sure to run too."""

    def program(a, c):
        t = u = np.sum(c)
        for i in range(a.shape[0]):
            t = i
            u = 2.5
        return t, u

    for n in (2, 1, 0):
        agree(program, floats(n), np.ones(2))


@pytest.mark.slow
def test_the_truth_of_operands_of_different_types() -> None:
    """`while len(x) and x[0] < n` was refused: an int or a NumPy bool, though only the truth of it mattered."""

    def program(a, limit):
        x, total, seen = a[a > 1], 0, 0
        while len(x) and not (x[0] ** 2 > limit or x.size):
            total += 1
        while len(x) and x[0] ** 2 < limit:
            total += x[0]
            x = x[x % x[0] != 0]
            seen += 1 if x.size and (x[0] > 5 or not seen) else 2
        if not (x.size or total):
            raise ValueError("nothing")
        return total, seen, "more" if len(x) and x[-1] else "none"

    f = bufferize(program)
    for n in (20, 3, 40):
        agree(f, np.arange(n), 17)
    agree(f, np.arange(2), 17)
    climb(program, (np.arange(20), 17))


TYPED_BY = {
    "floor": lambda x, b: np.floor(x),
    "absolute": lambda x, b: np.abs(x),
    "power": lambda x, b: np.power(x, 2),
    "add": lambda x, b: np.add(x, 1),
    "fmod": lambda x, b: np.fmod(x, 2),
    "divmod": lambda x, b: np.divmod(x, 2),
    "reciprocal": lambda x, b: np.reciprocal(x),
    "where": lambda x, b: np.where(b > 0, x, 1),
    "select": lambda x, b: np.select([b > 0], [x], 0),
    "full": lambda x, b: np.full(3, x),
    "arange": lambda x, b: np.arange(x),
    "result_type": lambda x, b: np.result_type(x, 1),
}
ALIKE = {
    "sqrt": lambda x, b: np.sqrt(x),
    "add a float": lambda x, b: np.add(x, 1.5),
    "isfinite": lambda x, b: np.isfinite(x),
    "compare": lambda x, b: (np.equal(x, 7), np.less(x, b)),
    "imag": lambda x, b: (x.imag, np.imag(x)),
    "product": lambda x, b: x * x + 3,
    "full of a dtype": lambda x, b: np.full(2, x, float),
}


def by_the_path(use: Any) -> Any:
    """A program that uses a float of NumPy's, or an int of Python's."""

    def program(b):
        x = b * 0.1 if b > 3 else 7
        return use(x, b)

    return program


@pytest.mark.parametrize("name", slow_but(("floor", "where", "arange"), TYPED_BY))
def test_n1_an_int_or_a_float_of_numpys_that_gives_a_dtype(name: str) -> None:
    """`np.floor(min(x, -2))` gave a float where eager gives an int: only whether the number is Python's was looked at,
    not whether it is an int there."""
    f = by_the_path(TYPED_BY[name])
    for b in (np.float64(5), np.float64(-50)):
        refused(f, b) if name == "select" else agree(f, b)


@pytest.mark.parametrize("name", slow_but(("sqrt", "imag", "product"), ALIKE))
def test_n1_an_int_or_a_float_of_numpys_that_act_alike(name: str) -> None:
    f = bufferize(by_the_path(ALIKE[name]))
    for b in (np.float64(5), np.float64(-50)):
        got, wanted = f(b), f.__wrapped__(b)
        for a, e in zip(got, wanted, strict=True) if isinstance(wanted, tuple) else [(got, wanted)]:
            assert type(a) is type(e) and np.array_equal(a, e)


def test_n1_roundings_of_ints_of_either_are_numpys() -> None:
    """`np.round` and the comparisons that are called gave Python's numbers on the one path."""

    def program(b):
        x = b + b if b > 3 else 7
        return np.round(x), np.equal(x, 7), np.less(x, 2)

    f = bufferize(program)
    for b in (np.int64(5), np.int64(-50)):
        assert [(type(a), a) for a in f(b)] == [(type(e), e) for e in program(b)]


def test_n1_an_int_that_a_float_does_not_hold() -> None:
    """The product of two ints was computed as a float, and gave an int that is another."""

    def program(b, n):
        x = b * 0.1 if b > 3 else n
        return x * x

    f = bufferize(program)
    assert f(np.float64(5), 94906267) == 0.25 and f(np.float64(0), 94906265) == 94906265**2
    with pytest.raises(UnsupportedError, match="may not hold exactly"):
        f(np.float64(0), 94906267)


@pytest.mark.slow
def test_pythons_complex_number_computes_with_a_float64_as_with_a_float() -> None:
    """The result is Python's: `1j * x[0]` is weak beside an array, `x[0] * 1j` is not."""
    x, z = np.array([3.0, 4.0]), np.array([1, 2], np.float32)
    for text in ("1j * x[0]", "x[0] * 1j", "1j + x[0]", "1j / x[0]", "(2 + 1j) ** x[0]", "1j - x[0]", "1j * z[0]",
                 "(1j * x[0]) * z", "(x[0] * 1j) * z", "(1j * x[0]) * x[1]", "complex(1, 2) * x[1]",
                 "1j / (x[0] * 0)"):  # fmt: skip
        agree(program(f"def f(x, z):\n    return {text}"), x, z)


def stepped(err, tol, y):
    scale = (tol / err) ** 0.25 if err > 0 else 4.0
    return scale, (tol - 1) ** y, err**3.0


def test_a_power_whose_base_may_be_negative() -> None:
    """A step's size by its error, `(tol / err) ** 0.2`, was refused: the base is tested when the program runs."""
    f = bufferize(stepped)
    for given in ((2.0, 3.0, 0.5), (0.0, 1.0, -0.5), (0.5, 0.25, 2.0), (2.0, float("nan"), 0.5)):
        agree(f, *given)
    for given in ((2.0, -3.0, 2.0), (2.0, 0.5, 0.5)):
        with pytest.raises(UnsupportedError, match="is complex"):
            f(*given)


def times(t0, end, h):
    t, found = t0, [t0]
    while t < end:
        t += min(h, end - t)
        found.append(t)
        h = np.clip(h * 1.1, 1e-3, 0.5)
    return np.array(found), np.array([found, found])


def of_some(t0, end, h):
    found = []
    for k in range(int(end * 4)):
        found.append(k if k % 2 else np.float64(h) if k % 3 else h)
    return np.array(found), np.mean(found)


@pytest.mark.parametrize("f", one_in(2, [times, of_some]))
@pytest.mark.slow
def test_the_array_of_floats_of_either_and_of_ints(f: Callable[..., Any]) -> None:
    for arguments in ((0.0, 1.0, 0.3), (0, 1.0, 0.3), (0, 1, 0.25)):
        agree(f, *arguments)
