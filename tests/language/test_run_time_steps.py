"""Steps of slices and ranges that only the run time knows (rules S1, S5, Z1, F1)."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.agreement import agree, refused
from tests.support.arrays import floats
from tests.support.params import one_in
from tracebuf import UnsupportedError, bufferize
from tracebuf.testing.ladder import climb


@pytest.mark.slow
def test_s1_store_and_update_with_the_step_of_a_loop() -> None:
    def program(a, b):
        for i in range(1, a.shape[0]):
            a[i * i :: i] = i
            a[:-i:i] += 1
            b[i, ::i] = a[::i]
            b[::i, 1::i] *= 2
        return a, b

    for n in (1, 2, 7):
        agree(program, floats(n), floats(n, n))
    climb(program, (floats(5), floats(5, 5)), again=[(floats(9), floats(9, 9))])


@pytest.mark.slow
def test_s1_read_with_the_step_of_a_loop() -> None:
    def program(a):
        s = 0.0
        for i in range(1, a.shape[0]):
            part = a[::i]
            s += part.sum() + a[1::i, -1].max(initial=0) + (part * a[0]).sum()
            part[0, ::i] = s
            a[-1] = part[-1]
        return s, a

    climb(program, (floats(5, 4),), again=[(floats(8, 3),), (floats(1, 1),)], tolerance=1e-12)


@pytest.mark.slow
def test_s1_falling_steps() -> None:
    def program(a):
        for i in range(-1, -a.shape[0], -1):
            a[::i] += a[::-i].sum()
            a[-2:0:i] *= -1
        return a

    climb(program, (floats(5),), again=[(floats(8),), (floats(1),)], tolerance=1e-12)


@pytest.mark.slow
def test_z1_steps_that_rise_in_a_while() -> None:
    def program(a, n):
        p = 2
        while p * p <= n:
            if a[p]:
                a[p * p :: p] = False
            p += 1
        return a

    climb(program, (np.ones(21, bool), 20), again=[(np.ones(31, bool), 30)])


def test_s1_a_step_does_not_leave_its_iteration() -> None:
    """A view made with a step of the body is read where it was made; behind the loop it is refused, not guessed."""

    def program(a, n):
        v = a
        for i in range(1, n):
            v = a[::i]
            v[0] += i
        return v.sum()

    refused(program, floats(9), 9)

    def branch(a, k):
        v = a[1:]
        if k[0] > 1:
            for i in range(2, len(a)):
                v = a[::i]
                if v[0] > 1:
                    break
        v += 1
        return a

    refused(branch, floats(9), np.array([2]))

    def peeled(a):
        v = a[::1]
        for i in range(1, 4):
            v = a[::i]
            v[0] += i
        return v.sum()

    agree(peeled, floats(9))


@pytest.mark.slow
@pytest.mark.parametrize("step", [1, 2, -3, 0])
def test_f1_a_range_whose_step_is_an_element(step: int) -> None:
    def program(a, k):
        n = 0
        for i in range(a[0], a[1], k[0]):
            n = 10 * n + i
            a[2] = i
        return n, a

    for low, high in ((0, 5), (5, 0), (3, 3)):
        agree(program, np.array([low, high, 7]), np.array([step]))


@pytest.mark.slow
def test_f1_a_step_that_doubles() -> None:
    def program(a):
        n, width = len(a), 1
        while width < n:
            for lo in range(0, n, 2 * width):
                a[lo] += a[min(lo + width, n - 1)]
            width *= 2
        return a

    climb(program, (floats(5),), again=[(floats(12),)])


def test_s1_a_step_of_unknown_sign_is_forward_or_refused_where_it_runs() -> None:
    def program(a, k):
        a[:: k[0]] = 0

    agree(program, floats(9), np.array([2]))
    with pytest.raises(UnsupportedError):
        bufferize(program)(floats(9), np.array([-2]))


@pytest.mark.parametrize(
    "part", one_in(10, [slice(None, None, -1), slice(1, None), slice(-3, None, 2), slice(5, 1, -2), slice(9, 3)])
)
def test_f1_a_slice_of_a_range(part: slice) -> None:
    def program(a, n):
        found = 0
        for i in range(n)[part]:
            found = 10 * found + i
        for i in range(n, -2, -2)[part]:
            found = 10 * found + i
            a[0] = i
        return found, range(n)[-1], range(2, n)[n - 3], range(len(a))[::2][::-1][0]

    for n in (3, 4, 8):
        agree(program, floats(5), n)


def test_f1_an_index_beyond_a_range() -> None:
    def program(a, n):
        return a[range(n)[a.shape[0]]]

    assert isinstance(agree(program, floats(5), 5), IndexError)


@pytest.mark.slow
def test_s9_a_short_loop_whose_iterations_differ_in_kind() -> None:
    """`for axis in range(2)`: what needs the number itself (an axis, one order of axes or another) has it."""

    def sweeps(u, r):
        for axis in range(2):
            v = u if axis == 0 else u.T
            for j in range(1, v.shape[0] - 1):
                v[j, 1:-1] += r * v[j - 1, 1:-1]
        return u

    def axes(a, steps):
        total = 0.0
        for _ in range(steps):
            for axis in range(a.ndim):
                if a[0, 0] > 1:
                    total += a.sum(axis=axis).max()
                a += np.flip(a, axis) / 2
        return total, a

    climb(sweeps, (floats(5, 5), 0.5), again=[(floats(8, 8), 0.5)], tolerance=1e-12)
    climb(axes, (floats(4, 5), 3), again=[(floats(6, 3), 2)], tolerance=1e-12)


def test_s9_a_loop_of_many_iterations_that_differ_in_kind_is_refused() -> None:
    def program(a, n):
        for axis in range(n):
            a += a.sum(axis=axis).max()

    refused(program, floats(2, 2, 2, 2, 2), 5)


@pytest.mark.slow
def test_a_range_whose_step_is_a_loop_variable() -> None:
    """The sieve of Eratosthenes was refused: the step of its inner range is the outer loop's variable."""

    def sieve(n):
        s = np.ones(n + 1, dtype=bool)
        s[:2] = False
        for i in range(2, n + 1):
            if s[i] and i * i <= n:
                for j in range(i * i, n + 1, i):
                    s[j] = False
        return s

    def down(a):
        total = 0
        for i in range(1, a.shape[0]):
            for j in range(a.shape[0] - 1, i - 2, -i):
                a[j] += i
                total += j
            for j in range(3, i, 2 * i):
                total -= j
        return total

    f, g = bufferize(verify=True)(sieve), bufferize(verify=True)(down)
    for n in (50, 7, 1, 121):
        assert np.array_equal(f(n), sieve(n))
    for n in (9, 1, 14, 0):
        eager, native = floats(n), floats(n)
        assert g(native) == down(eager) and np.array_equal(native, eager)


def stepped(a, lo, hi, step):
    total = 0
    for k in range(lo, hi, step):
        total += k % 7
        a[k % 2] += 1
    return total, a


LAST = 2**63 - 1


@pytest.mark.parametrize(
    "bounds",
    [(LAST - 10, LAST, 1), (LAST - 10, LAST, 3), (LAST - 1, LAST, 2**62), (-LAST - 1, 8 - LAST, 5),
     (8 - LAST, -LAST - 1, -3), (5, 5, 3), (5, 4, 3), (0, 7, LAST), (2, 9, 7), (2, 10, 7)],
)  # fmt: skip
def test_ranges_that_end_near_the_largest_integer(bounds: tuple[int, int, int]) -> None:
    """The index after the last one was no 64-bit integer: the loop had no end."""
    agree(stepped, np.zeros(2), *bounds)
