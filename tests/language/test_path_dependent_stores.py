"""Stores through path-dependent arrays, and of what they hold: in place wherever eager NumPy is (rules S2, S8).

Of each program the results, and the allocations and copies, on both paths. Each operand was joined before the operation
and its result stored afterwards, through a temporary.
"""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from tests.support.agreement import agree
from tests.support.params import one_in
from tracebuf import bufferize
from tracebuf.measure import clone_arguments
from tracebuf.testing.ladder import climb, eager_allocations


def pick(a, b, c):
    return a if c[0] > 1 else b


def add_self(a, b, c):
    x = pick(a, b, c)
    a += x


def add_to(a, b, c):
    x = pick(a, b, c)
    x += a


def add_third(a, b, c):
    x = pick(a, b, c)
    x += c


def by_add_num(a, b, c):
    x = pick(a, b, c)
    x += 1


def two(a, b, c):
    x = pick(a, b, c)
    y = pick(a, b, c[1:])
    x += y


def by_out(a, b, c):
    x = pick(a, b, c)
    np.add(x, a, out=a)


def out2(a, b, c):
    x = pick(a, b, c)
    np.multiply(a, b, out=x)


def by_where(a, b, c):
    x = pick(a, b, c)
    np.multiply(a, b, out=x, where=c > 3)


def pair(a, b, c):
    x = pick(a, b, c)
    np.divmod(a, b, out=(x, c))


def by_store(a, b, c):
    x = pick(a, b, c)
    a[:] = x


def store_to(a, b, c):
    x = pick(a, b, c)
    x[:] = a


def store_third(a, b, c):
    x = pick(a, b, c)
    x[:] = c


def store_fresh(a, b, c):
    x = pick(a, b, c)
    x[:] = c * 2


def store_copy(a, b, c):
    x = pick(a, b, c)
    x[...] = b.copy()


def store_num(a, b, c):
    x = pick(a, b, c)
    x[1:] = 2


def by_part(a, b, c):
    x = pick(a, b, c)
    a[:3] += x[:3]


def part_to(a, b, c):
    x = pick(a, b, c)
    x[:3] += a[:3]


def store_part(a, b, c):
    x = pick(a, b, c)
    a[:3] = x[3:]


def by_mask(a, b, c):
    x = pick(a, b, c)
    x[x > 2] = 0


def mask2(a, b, c):
    x = pick(a, b, c)
    x[a > 2] += 1


def idx(a, b, c):
    x = pick(a, b, c)
    x[[0, 1]] = a[2]


def elem(a, b, c):
    x = pick(a, b, c)
    x[0] += a[1]


def by_fill(a, b, c):
    x = pick(a, b, c)
    x.fill(2)


def by_copyto(a, b, c):
    x = pick(a, b, c)
    np.copyto(x, a)


def by_cumsum(a, b, c):
    x = pick(a, b, c)
    np.cumsum(x, out=a)


def cumsum_to(a, b, c):
    x = pick(a, b, c)
    np.cumsum(c, out=x)


def by_total(a, b, c):
    x = pick(a, b, c)
    x[0] = x.sum()


def by_sort(a, b, c):
    x = pick(a, b, c)
    x.sort()


def by_partition(a, b, c):
    x = pick(a, b, c)
    x.partition(2)


def by_place(a, b, c):
    x = pick(a, b, c)
    np.place(x, a > 2, c)


def by_put(a, b, c):
    x = pick(a, b, c)
    x.put([0, 1], a)


def by_at(a, b, c):
    x = pick(a, b, c)
    np.add.at(x, [0, 1], a[:2])


def partial(a, b, c):
    x = pick(a[:4], b[2:], c)
    a[1:5] += x


def loop_copy(a, b, c):
    x = pick(a, b, c)
    for _ in range(2):
        x[...] = b.copy()


def loop_add(a, b, c):
    x = pick(a, b, c)
    for _ in range(3):
        x += a


def loop_choice(a, b, c):
    for k in range(3):
        x = pick(a, b, c[k:])
        a *= x


def loop_carried(a, b, c):
    x = a
    for _ in range(3):
        a *= x
        x = b


def loop_carried_to(a, b, c):
    x = a
    for _ in range(3):
        x *= a
        x = b


def loop_swap(a, b, c):
    for _ in range(3):
        a += b
        a, b = b, a


def loop_after_swap(a, b, c):
    if c[0] > 1:
        a, b = b, a
    for _ in range(3):
        a += b


def loop_after_while_swap(a, b, c):
    if c[0] > 1:
        w = 0
        while w < 2 and a.sum() > b.sum():
            w += 1
        else:
            a, b = b, a
    else:
        b += a
    for _ in range(len(a)):
        a += b


def by_found(a, b, c):
    p = [a, b]
    for _, x in enumerate(p):
        if x[0] > 1:
            break
    p[1] *= x


def searched(a, b, c):
    p = [a, b]

    def search(items, k):
        for i, x in enumerate(items):
            if x[0] > 1:
                return (i, x)

    b = search(p, 2)
    p[1] *= b[1]


def object_item(a, b, c):
    p = [a, b]
    if c[0] > 1:
        p[0], p[1] = p[1], p[0]
    p[0] += p[1]


def reversed_(a, b, c):
    x = pick(a, b[::-1], c)
    a += x


def by_product(a, b, c):
    x = pick(a, b, c)
    x *= a * b


def product2(a, b, c):
    x = pick(a, b, c)
    a *= x * b


def wherefn(a, b, c):
    x = pick(a, b, c)
    x += np.where(a > 1, a, b)


def rowcol(a, b, c):
    x = pick(a, b, c)
    x -= x.mean()


def minmax(a, b, c):
    x = pick(a, b, c)
    np.clip(x, 1, 2, out=x)


def neg(a, b, c):
    x = pick(a, b, c)
    np.negative(x, out=x)


def neg_from(a, b, c):
    x = pick(a, b, c)
    np.negative(x, out=a)


def returned(a, b, c):
    x = pick(a, b, c)
    x += b
    return x


def swapped_before_a_loop(a, b, c):
    if c[0] > 1:
        b, a = a, b
    else:
        b += a
    for _ in range(2):
        a += b
    return b.sum()


PROGRAMS = [f for name, f in list(globals().items()) if getattr(f, "__module__", "") == __name__ and name != "pick"]


def arguments(first: float) -> tuple[np.ndarray, ...]:
    return np.arange(1.0, 7.0), np.arange(2.0, 14.0, 2.0), np.array([first, 4, 3, 2, 1, 0])


@pytest.mark.parametrize("program", one_in(18, PROGRAMS))
def test_no_more_than_eager(program) -> None:
    f = bufferize(program)
    for first in (0.0, 5.0):
        allowed = eager_allocations(program, arguments(first))
        (eager, native), _ = clone_arguments((arguments(first), arguments(first)), {})
        expected = program(*eager)
        result, counters = f.call_counted(*native)
        assert counters is not None and max(counters.allocations, counters.copies) <= allowed, f.explain(*native)
        assert all(map(np.array_equal, native, eager)) and np.array_equal(result, expected)
        assert [result is x for x in native] == [expected is x for x in eager]


@pytest.mark.parametrize("program", one_in(len(PROGRAMS), PROGRAMS))
def test_on_every_rung(program) -> None:
    climb(program, arguments(0.0), again=[arguments(5.0)])


def test_an_error_of_one_path() -> None:
    """Only on the path where the sizes do not fit."""

    def program(a, b, c):
        x = a if c[0] > 1 else b
        a += x
        return a

    f = bufferize(program)
    a, b, c = arguments(5.0)
    assert np.array_equal(f(a.copy(), b[:4], c), 2 * a)
    with pytest.raises(ValueError, match="broadcast"):
        f(a.copy(), b[:4], arguments(0.0)[2])


@pytest.mark.slow
def test_many_paths_take_a_temporary() -> None:
    """Of more than MOST_PATHS paths the operation is recorded once: the code does not grow without bound."""

    def program(a, b, c):
        x1 = a if c[0] > 1 else b
        x2 = a if c[1] > 1 else b
        x3 = a if c[2] > 1 else b
        x4 = a if c[3] > 1 else b
        x5 = a if c[4] > 1 else b
        x = x1 if c[5] > 1 else x2
        y = x3 if c[5] > 2 else x4
        z = x if c[4] > 3 else y
        z += x5
        return z

    for first in (0.0, 5.0):
        given, other = arguments(first), arguments(first)
        assert np.array_equal(bufferize(program)(*given), program(*other))
        assert all(map(np.array_equal, given, other))


@pytest.mark.parametrize("function", [np.sort, np.partition])
def test_functions_with_the_name_of_a_method_that_stores(function):
    def f(a, b, c):
        x = a if c[0] > 0 else b
        return function(x, 1) if function is np.partition else function(x)

    agree(f, np.array([3.0, 1, 2]), np.array([6.0, 5, 4]), np.ones(1))


def stored_to_reshaped(a, n):
    x = a
    if a[1, n] > 0:
        x = a * 2
    x.reshape((x.shape[1], -1))[:] = a


@pytest.mark.parametrize("sign", [1, -1])
def test_a_store_that_learns_a_size_says_nothing_of_the_other_path(sign: int) -> None:
    """The sizes that the store found on its path were declared of what the other path holds too, where it is empty
    (found by fuzzing; the tensor interpreter's InternalError)."""
    climb(stored_to_reshaped, (np.full((3, 3), sign), 1))


def test_arrays_of_two_element_types_that_names_swap() -> None:
    """An element was read from each array that any of the names holds, of whatever type."""

    def f(a, b, c, n):
        x, y, z = a, b, c
        for k in range(n):
            x[0] = z[1]
            x, y = y, x
            if k % 2:
                z = c
            y[1] += 2
        return x, y, z

    a, b = np.arange(4), np.arange(4.0) * 1.5
    climb(f, (a, a + 1, b, 3), again=[(a, a + 1, b, 4)])
    climb(f, (b, b + 1, a, 3), again=[(b, b + 1, a, 0)])


def test_attributes_of_two_element_types_that_are_swapped() -> None:
    def f(p, a, b):
        p.parts, p.x, p.y = abs(b), b + 2, a + 1
        k = 0
        while k < 3:
            p.y[1:] = p.parts[0]
            p.y = a
            p.x, p.parts = p.parts, p.x
            k += 1

    a, b = np.arange(4), np.arange(4.0) * 1.5
    climb(f, (SimpleNamespace(x=a, y=b * 2, parts=b), a, b))
