"""The boundary of a function: arguments live to the end, results that are arguments, sizes tied to arguments, and what
an exception leaves (rules B1, B3, Z1b, C3)."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.agreement import agree
from tests.support.arrays import floats
from tracebuf import bufferize
from tracebuf.testing.ladder import climb


def z1b_ints_that_are_sizes(u, n, m):
    s = np.float64(0)
    for i in range(n):
        for j in range(1, m - 1):
            s += u[i, j - 1] + u[i, j + 1]
    return s


def z1b_one_count_is_one_symbol(a, k):
    b = a[:k] * 2
    c = a[:k] + 1
    return b + c


def b1_arguments_are_live_to_the_end(a, b):
    t = a + b
    u = t * 2
    a[0] = u[0]
    return u - a


def b3_results_that_are_arguments(a, b):
    return a, b[1:], a.T, b[::-1]


def c3_a_check_in_a_loop(a, b, limit):
    for i in range(len(a)):
        if a[i] > limit:
            raise ValueError("too large")
        a[i] *= 2
    b[0] = 1


def test_z1b_int_arguments_are_tied_to_sizes() -> None:
    """An int argument that is a size is guarded to be one: no bounds are checked at run time."""
    u = np.arange(20.0).reshape(4, 5)
    f = bufferize(verify=True)(z1b_ints_that_are_sizes)
    agree(f, u, 4, 5)
    agree(f, np.ones((6, 3)), 6, 3)
    (spec,) = f.specializations()
    assert len(spec.guards) <= 4
    assert "tracebuf.check" not in f.lower(u, 4, 5).as_text("tensor")


def test_z1b_sizes_made_alike_are_alike() -> None:
    a = np.arange(7.0)
    f = bufferize(verify=True)(z1b_one_count_is_one_symbol)
    agree(f, a, 4)
    assert "tracebuf.check" not in f.lower(a, 4).as_text("tensor")


def test_b1_a_dying_destination_is_no_argument() -> None:
    """Only what is born inside can die: arguments that are only read stay as they are."""
    agree(b1_arguments_are_live_to_the_end, np.arange(5.0), np.arange(5.0) * 3)
    f = bufferize(b1_arguments_are_live_to_the_end)
    a, b = np.arange(5.0), np.arange(5.0) * 3
    f(a, b)
    assert np.array_equal(b, np.arange(5.0) * 3)


def test_b3_results_that_alias_arguments_are_not_copied() -> None:
    a, b = np.arange(6.0).reshape(2, 3), np.arange(5.0)
    f = bufferize(b3_results_that_are_arguments)
    agree(f, a, b)
    results, counters = f.call_counted(a, b)
    assert counters is not None and counters.allocations == counters.copies == 0
    assert results[0] is a and all(np.shares_memory(r, x) for r, x in zip(results, (a, b, a, b)))


def test_c3_what_is_not_stored_to_is_untouched_by_an_exception() -> None:
    """After an exception only arguments that the function may store to are unspecified; the class is eager's."""
    f = bufferize(c3_a_check_in_a_loop)
    a, b = np.arange(5.0), np.zeros(2)
    for g in (f, f.__wrapped__):
        with pytest.raises(ValueError, match="too large"):
            g(a.copy(), b, 2.5)
        assert b[0] == 0
    agree(f, a, b, 100.0)


def test_strides_of_an_argument_whose_sizes_are_guarded_equal() -> None:
    """The strides kept a symbol that the sizes no longer spelled (found by fuzzing)."""

    def program(a, b):
        return a <= b

    climb(program, (floats(4, 3), floats(3)), again=[(floats(3, 3), floats(3))])
