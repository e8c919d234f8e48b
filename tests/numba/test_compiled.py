"""Programs whose loops Numba compiles: the same bits as in plain Python, the same exceptions, and what stays Python."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tracebuf
from tests.support.corpus import PROGRAMS
from tests.support.params import slow_but
from tracebuf.backend.numba.module import module_of

pytest.importorskip("numba")


def both(f: Any, *args: Any) -> tuple[list[Any], list[Any]]:
    """The results, with the arguments, of plain Python and of Numba."""
    program = tracebuf.bufferize(f).lower(*args).program
    assert program is not None
    found = []
    for compiled in (False, True):
        given = [np.copy(x) if isinstance(x, np.ndarray) else x for x in args]
        found.append([*module_of(program, compiled=compiled).run(given), *given])
    return found[0], found[1]


@pytest.mark.parametrize("name", slow_but(["gemver"], ["seidel", "gemver", "life", "bubble_sort"]))
@pytest.mark.slow
def test_programs_have_the_same_bits(name: str) -> None:
    function, arguments = PROGRAMS[name]
    random = np.random.default_rng(1)
    plain, compiled = both(function, *arguments(lambda *shape: random.random(shape), 6))
    np.testing.assert_array_equal(len(plain), len(compiled))
    for x, y in zip(plain, compiled):
        np.testing.assert_array_equal(x, y)
        assert type(x) is type(y)


def mixed(a: np.ndarray, b: np.ndarray, n: int) -> Any:
    small = a + b
    wide = (small.astype(np.int64) * n) // 3
    for k in range(n):
        small[k] += small[k - 1] * b[k]
    return small, wide % 5, np.exp(a * 0.5).sum(), np.maximum(a, b).max(), (a > b).any()


@pytest.mark.slow
def test_numbers_wrap_and_what_numba_computes_otherwise_stays_numpys() -> None:
    a, b = np.array([100, -7, 3, 120], np.int8), np.array([50, 9, -3, 100], np.int8)
    plain, compiled = both(mixed, a, b, 4)
    for x, y in zip(plain, compiled):
        np.testing.assert_array_equal(x, y)
        assert type(x) is type(y) and getattr(x, "dtype", None) == getattr(y, "dtype", None)
    program = tracebuf.bufferize(mixed).lower(a, b, 4).program
    assert program is not None
    text = module_of(program, compiled=True).text
    assert "@njit" in text and "np.exp" in text.rpartition("\ndef mixed(")[2]


def stored(a: np.ndarray, c: np.ndarray) -> Any:
    c[:, 0] = a[0]
    return c


def test_a_negative_number_becomes_a_narrow_unsigned_one() -> None:
    plain, compiled = both(stored, np.array([-4.0]), np.zeros((2, 3), np.uint32))
    np.testing.assert_array_equal(plain[-1], np.array([[2**32 - 4, 0, 0]] * 2, np.uint32))
    np.testing.assert_array_equal(plain[-1], compiled[-1])


def picked(a: np.ndarray, where: np.ndarray) -> Any:
    return a[where] * 2


@pytest.mark.slow
def test_exceptions_are_the_same() -> None:
    a, where = np.arange(4.0), np.array([0, -1, 7])
    program = tracebuf.bufferize(picked).lower(a, where).program
    assert program is not None
    for compiled in (False, True):
        with pytest.raises(IndexError, match="out of bounds for axis 0 with size 4"):
            module_of(program, compiled=compiled).run([a, where])


def shifted_by_a_result(a: np.ndarray) -> np.ndarray:
    return np.left_shift(a.astype(np.int64), np.argmin(a))


def test_counts_of_shifts_that_a_call_gives() -> None:
    """Numba asks for a number that the line itself makes where its bits are looked at."""
    (plain, _), (compiled, _) = both(shifted_by_a_result, np.array([3.0, 1.0, 2.0]))
    np.testing.assert_array_equal(plain, compiled)


def checked_energies(a: np.ndarray) -> float:
    total = 0.0
    for k in range(len(a)):
        if a[k] < 0:
            raise ValueError(f"energy {a[k]:.3f} of cell {k:d}")
        total += a[k]
    return total


def test_loops_that_write_numbers_out_stay_pythons() -> None:
    """Numba has no format specifications."""
    (plain, _), (compiled, _) = both(checked_energies, np.arange(4.0))
    assert plain == compiled
    with pytest.raises(ValueError, match=r"energy -1\.500 of cell 1"):
        both(checked_energies, np.array([1.0, -1.5]))


@pytest.mark.slow
def test_loops_over_halves_stay_pythons() -> None:
    """Numba has no float16: a loop that moved elements of one array said nothing of its type."""

    def shifted(c: np.ndarray, n: int) -> np.ndarray:
        c[n] = c[-1]
        for k in range(n):
            c[k] = c[k + 1]
        return c

    plain, compiled = both(shifted, np.arange(12, dtype=np.float16).reshape(4, 3), 2)
    for x, y in zip(plain, compiled):
        np.testing.assert_array_equal(x, y)


def elements(a: np.ndarray, b: np.ndarray, k: int) -> Any:
    x, z = b[k, ...], a[2, 1, ...]
    x[...] = a[0, 1] + z
    for i in range(3):
        b[b != 2] = b[:1]
        x += a[i, 1, ...]
        z[...] = x[()] + z
    x[()] = z
    return x + 1, np.add(x, z, out=x)


@pytest.mark.parametrize("step", [1, 2])
@pytest.mark.cases(2)
def test_elements_as_arrays(step: int) -> None:
    """`b[k, ...]` is a number in Numba: indexing it, and storing into it, had no type."""
    a, b = np.arange(12.0 * step).reshape(-1, 3)[::step], np.arange(4.0 * step)[::step]
    plain, compiled = both(elements, a, b, 2)
    for x, y in zip(plain, compiled):
        np.testing.assert_array_equal(x, y)


def halves(h: np.ndarray, w: np.ndarray) -> Any:
    a, b = h[0], w[1]
    mixed = a + b, a * 2, a // b, a % b, a**2, abs(a), -a, np.sqrt(b), np.floor(a), np.sign(a), np.hypot(a, b)
    extreme = np.maximum(a, b), np.minimum(a, b), np.fmax(a, b), np.fmin(a, b), max(a, b), min(a, b), np.clip(a, 0, 1)
    cast = int(a), float(a), a.astype(np.int32), a.astype(np.uint8), np.int64(a), np.float32(a), bool(a), round(a, 1)
    return *mixed, *extreme, *cast, a < b, a == b, np.isnan(a), h.max(), h.sum(), np.maximum(h, w), divmod(a, b)


@pytest.mark.slow
def test_numbers_that_are_halves() -> None:
    """Numba has no float16: the functions beside the loops were compiled for it."""
    h, w = np.array([1.5, -2.25, 0.5], np.float16), np.array([-0.5, 0.75, 3], np.float16)
    with np.errstate(all="ignore"):
        plain, compiled = both(halves, h, w)
    for x, y in zip(plain, compiled):
        np.testing.assert_array_equal(x, y)
        assert type(x) is type(y)


def narrow(a: np.ndarray) -> Any:
    return np.uint8(a[0]), np.uint16(a[0]), np.int8(a[1]), np.int16(a[1]), np.uint32(a[0])


@pytest.mark.slow
def test_floats_that_do_not_fit_a_narrow_integer() -> None:
    """What a compiled helper gives is Python's int, which NumPy does not cut to 8 bits: OverflowError."""
    a = np.array([-1.2, 300.0])
    with np.errstate(all="ignore"):
        want, got = narrow(a), tracebuf.bufferize(narrow, backend="numba")(a)
    assert want == got
    assert [type(x) for x in want] == [type(x) for x in got]
