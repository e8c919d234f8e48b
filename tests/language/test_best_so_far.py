"""Arrays that the names of a loop hold in turn (rule S11): the best one so far, the last two, refused ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tracebuf
from tests.support.agreement import agree
from tracebuf.testing.ladder import climb

Program = Callable[..., Any]


def best_of(a, n):
    x = a.copy()
    best, least = x, x.sum()
    for i in range(n):
        x = x * 0.5 + i
        if abs(x.sum() - 7) < least:
            best, least = x, abs(x.sum() - 7)
    return best


def best_of_an_argument(a, n):
    x = a
    best, least = x, x.sum()
    for i in range(n):
        x = x * 0.5 + i
        if abs(x.sum() - 7) < least:
            best, least = x, abs(x.sum() - 7)
    return best, x, best is x, best is a


def best_two(a, n):
    x = a + 1
    best, second, least = x, x, 1e9
    for i in range(n):
        x = np.sin(x * (i + 2)) * 3
        if abs(x.sum()) < least:
            second = best
            best, least = x, abs(x.sum())
    second[0] = 5
    return best, second, best is second, x is second, x


def stored_through_the_best(a, n):
    x = a + 1
    best, least = a, 1e9
    for i in range(n):
        x = np.sin(x * (i + 2)) * 3
        if abs(x.sum()) < least:
            best, least = x, abs(x.sum())
        best[0] += 1
        x[1] -= 1
    best[-1] = 9
    return best, x


def accepted_or_refused(a, n):
    x, best, last = a, a, 1e9
    for i in range(n):
        candidate = np.cos(x + i) * 2
        value = candidate.sum()
        if value < last + 0.5:
            x = candidate
            if value < last:
                best, last = x, value
    return x, best, x is best


def until_small(a, n):
    x = a + 1
    best, steps = x, 0
    while steps < n and best[0] < 40:
        x = x * 1.5 - steps
        steps += 1
        if x[1] > best[0]:
            best = x
    return best, steps


def left_early(a, n):
    x = a + 1
    best = x
    for i in range(n):
        x = x * 1.5 - i
        if x[1] > best[0]:
            best = x
        if x[0] > 30:
            break
    return best, x


def restarted(a, n):
    best = a
    for k in range(n):
        x = best
        for i in range(3):
            x = np.sin(x * (i + 2 + k)) * 3
            if x.sum() < best.sum():
                best = x
    return best, x is best


def in_a_dict(a, n):
    x = a + 1
    best = {"x": x, "value": x.sum()}
    for i in range(n):
        x = np.sin(x * (i + 2)) * 3
        if x.sum() < best["value"]:
            best["x"], best["value"] = x, x.sum()
    return best, best["x"] is x


def two_shapes(a, n):
    x, y = a + 1, np.outer(a, a)
    best_x, best_y, least = x, y, 1e9
    for i in range(n):
        x, y = np.sin(x * (i + 2)), np.cos(y * (i + 1))
        if x.sum() + y.sum() < least:
            best_x, best_y, least = x, y, x.sum() + y.sum()
    return best_x, best_y


def a_view_of_the_best(a, n):
    x = a + 1
    best = x
    for i in range(n):
        x = np.sin(x * (i + 2)) * 3
        if x.sum() < best[1:].sum():
            best = x
    return best[1:], best.shape


def the_one_before(a, n):
    x = a + 1
    best = before = x
    for i in range(n):
        x = np.sin(x * (i + 2)) * 3
        if x.sum() < best.sum():
            best = before
        before = x
    return best, before, x is before, best is before


def another_one_of_before(a, b, n):
    x = a + b  # so the two are known to be of one shape
    best = x
    for i in range(n):
        x = np.sin(x * (i + 2)) * 3
        if x.sum() < best.sum():
            best = x
        elif x[0] > 2:
            best = b
    return best


def of_constant_size(a, n):
    x = np.zeros(5)
    best = x
    for i in range(n):
        x = np.sin(x * (i + 2) + a[0]) * 3
        if x.sum() < best.sum():
            best = x
    return best


def given_up_twice(a, n):
    x = a + 1
    best = x
    for i in range(n):
        x = np.sin(x * (i + 2)) * 3
        if x.sum() < best.sum():
            best = x
    y = x
    for i in range(n):
        y = np.cos(y * (i + 2)) * 3
        if y.sum() < best.sum():
            best = y
    return best, best is x, best is y


def one_array_or_another_at_first(a, n):
    x = a
    if n > 4:
        x = x - x
    for _ in range(3):
        for _ in range(2):
            x = x - a
    return x


def a_view_is_held(a, n):
    x = a + 1
    best = x[:]
    for i in range(n):
        x = np.sin(x * (i + 2)) * 3
        if x.sum() < best.sum():
            best = x[:]
    return best, best is x, x


PROGRAMS: list[Program] = [
    best_of, best_of_an_argument, best_two, stored_through_the_best, accepted_or_refused, until_small, left_early,
    restarted, in_a_dict, two_shapes, a_view_of_the_best, the_one_before, of_constant_size, given_up_twice,
]  # fmt: skip


def one_by_one(programs: list[Program]) -> list[Any]:
    """The programs as parameters; the first is fast."""
    return [pytest.param(f, id=f.__name__, marks=pytest.mark.slow if k else ()) for k, f in enumerate(programs)]


@pytest.mark.parametrize("f", one_by_one(PROGRAMS))
def test_s11_arrays_held_in_turn(f):
    """They were refused, or the loop was unrolled, and each iteration's array kept until the end."""
    bufferized = tracebuf.bufferize(verify=True)(f)
    for seed in range(4):
        a = np.random.default_rng(seed).random(4)
        for n in (6, 0, 1, 2, 40):
            agree(bufferized, a, n, ulp=8)


@pytest.mark.slow
@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_s11_arrays_held_in_turn_on_every_rung(f):
    first, *others = ((np.random.default_rng(seed).random(4), 5) for seed in range(2))
    climb(f, first, alike=others, tolerance=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("size", [1, 3])
def test_s11_a_loop_within_another_begins_with_another_order_of_axes(size):
    """What the first trace of the inner loop taught did not fit the arrays of the second: an InternalError."""
    for n in (4, 5):
        climb(one_array_or_another_at_first, (np.arange(1.0, 1 + size), n), again=[(np.ones(4), n)])


@pytest.mark.slow
def test_s11_one_of_before_the_loop_may_be_held_too():
    bufferized = tracebuf.bufferize(verify=True)(another_one_of_before)
    for seed in range(4):
        a, b = np.random.default_rng(seed).random((2, 4))
        for n in (6, 0, 1, 2, 40):
            agree(bufferized, a, b, n, ulp=8)


@pytest.mark.slow
def test_s11_a_short_loop_with_a_view_of_what_is_held():
    for n in (0, 1, 5):
        agree(tracebuf.bufferize(static_argnames="n")(a_view_is_held), np.random.default_rng(n).random(4), n, ulp=8)


@pytest.mark.parametrize("f", one_by_one([best_of, best_of_an_argument, in_a_dict, of_constant_size, until_small]))
def test_s11_what_no_name_holds_any_more_is_freed(f):
    """The peak grew with the number of iterations: 4.8 MB for eager's 1.6 after 12."""
    seen = tracebuf.measure(tracebuf.bufferize(f), np.random.default_rng(1).random(20_000), 25, repeat=1)
    assert seen.native.peak_bytes <= seen.eager.peak_bytes
    assert seen.native.copies == 0


@pytest.mark.slow
def test_s11_names_that_begin_as_one_array_own_theirs_after_the_first_iteration():
    """They were carried as names that hold arrays in turn, and so was `r`, which needed a new array each time."""

    def f(a, b, n):
        p = v = np.zeros_like(b)
        r = b * 2
        while n > 0:
            p = r + 0.5 * (p - v)
            v = a @ p
            r = (r - v) * 0.1
            n -= 1
        return r

    g, a = tracebuf.bufferize(f), np.random.default_rng(0).random((6, 6))
    few, many = (tracebuf.measure(g, a, np.ones(6), n, repeat=1).native.allocations for n in (3, 13))
    assert many - few <= 10
    np.testing.assert_allclose(g(a, np.ones(6), 4), f(a, np.ones(6), 4))


def test_s11_a_view_of_fewer_axes_is_held_first():
    """The name's own array had the axes of what the view was of."""

    def f(a, b):
        both = [a, b, None, None]
        both[2] = both[1]
        for both[3] in range(both[0].shape[0]):  # noqa: B020
            for _ in enumerate(both[2]):
                if 1 > 2:
                    pass
                else:
                    t = np.zeros(1)
                t += 1
            t = both[2][1]
        return t

    climb(f, (np.ones(3), np.arange(2.0).reshape(2, 1)))


@pytest.mark.slow
def test_s11_a_view_with_axes_of_size_1_is_held_first():
    """The order of axes of the name's own array was asked of strides that do not matter, and have no rank."""

    def f(c):
        v = c[2].reshape(1, 1)
        for k in range(4):
            v = v + k
        return v

    climb(f, (np.arange(4.0),))


def in_a_while(p, b):
    w = 0
    while w < 4:
        p[0], p[1] = p[1], p[0]
        p[1] = p[1] + b
        w += 1
    p[1][0] = 3
    return p[0]


def in_a_loop_in_a_while(p, b):
    w = 0
    while w < 2:
        for _ in range(2):
            p[0], p[1] = p[1], p[0]
            p[1] = p[1][::-1] + b
        w += 1
    p[1][0] = 3
    return p[0]


@pytest.mark.parametrize("f", [in_a_while, pytest.param(in_a_loop_in_a_while, marks=pytest.mark.slow)])
@pytest.mark.slow
def test_s11_a_store_to_one_of_the_arrays_that_a_loop_has_exchanged(f):
    """The arrays were taken to share memory, as each may be in either buffer, and were copied: 16 allocations and 12
    copies for eager's 4 allocations."""
    g, args = tracebuf.bufferize(f), ([np.ones(4), np.zeros(4)], np.arange(4.0))
    agree(g, *args)
    seen = tracebuf.measure(g, *args, repeat=1)
    assert (seen.native.allocations, seen.native.copies) == (4, 0)


def parts_in_a_while(u, n):
    a, b, c, k = u * 1, u * 2, u * 3, 0
    while k < n:
        c[1:-1] = 0.5 * (a[:-2] + b[2:])
        a, b, c = b, c, a
        k += 1
    return a + 2 * b + 3 * c


def test_s11_parts_of_arrays_that_a_while_has_exchanged():
    """What is stored to a part of one was computed into an array of its own in each iteration."""
    g = tracebuf.bufferize(parts_in_a_while)
    for n in range(5):
        agree(g, np.random.default_rng(0).random(6), n)
    assert not any(e.in_loop for e in g.explain(np.ones(6), 3).entries)


@pytest.mark.slow
def test_s11_parts_of_arrays_that_a_while_has_exchanged_on_every_rung():
    climb(parts_in_a_while, (np.random.default_rng(0).random(6), 4), again=[(np.random.default_rng(1).random(3), 2)])


@pytest.mark.slow
def test_s11_arrays_that_a_loop_has_exchanged_on_every_rung():
    climb(in_a_while, ([np.ones(4), np.zeros(4)], np.arange(4.0)), again=[([np.ones(3), np.zeros(3)], np.ones(3))])


@pytest.mark.slow
def test_s11_a_loop_that_only_exchanges_arrays_in_a_loop_that_makes_one():
    """The inner loop was taken to write the arrays that it hands on: a copy in each iteration of the outer one."""

    def f(k, b):
        j = k.copy()
        k *= j
        for _ in range(3):
            k, j = j, k
            j = b + j
            for _ in range(3):
                j, k = k, j
                k = b
        return k, j

    climb(f, (np.ones(4), np.arange(4.0)), again=[(np.ones(3), np.arange(3.0))])


def exchanged_on_many_paths(a, b, c, n):
    d, e = a + 1.0, b + 2.0
    w = 0
    while w < n and a[-1] < 1.5:
        if w == 1:
            a, b, c = b, c, a
        elif w == 3:
            d, e = e, d
            c = c * 0.5
        else:
            a = a + b
            b, a = a, b
            e = d + e
        w += 1
    return a, b, c, d, e


def arrays_to_exchange(seed: int) -> list[Any]:
    return [*np.random.default_rng(seed).random((3, 4))]


def test_s11_the_program_grows_with_the_names_and_not_with_the_paths():
    """Each way in which five names share out their arrays was a path of its own: tracing had no end."""
    _, traced = tracebuf.bufferize(exchanged_on_many_paths).trace(*arrays_to_exchange(0), 6)
    assert sum(op.name == "scf.if" for op in traced.func.walk()) < 500


@pytest.mark.slow
def test_s11_names_that_exchange_their_arrays_on_many_paths():
    bufferized = tracebuf.bufferize(exchanged_on_many_paths)
    for n in (6, 0, 1, 3, 9):
        agree(bufferized, *arrays_to_exchange(n), n)


@pytest.mark.parametrize("shape", [(3, 0), (0, 3), (0, 0), (2, 3, 0)])
def test_arrays_without_elements_take_turns(shape: tuple[int, ...]) -> None:
    """All of their strides are 0, so that one made like another has its axes in the same order."""

    def f(a: Any, n: int) -> Any:
        u, other = a.copy(), np.empty_like(a)
        for _ in range(n):
            other[...] = u * 2
            u, other = other, u
        return u

    for n in (0, 1, 4):
        assert tracebuf.bufferize(f)(np.ones(shape), n).shape == shape


def negated_where_it_raises(n, a, b):
    for _ in range(3):
        try:
            if a[0] > 1:
                break
            t = a[7]  # noqa: F841
        except IndexError:
            for _ in range(3):
                b = -b
        b[n] = 1


def started_anew(u, n):
    """The inner loop leaves a new array in any case: what is stored into that is not read of the old one."""
    a = u * 2
    old = a
    for k in range(n):
        old = a
        for _ in range(2):
            a = a + k
        a[0] = old[1]
    return a, old


@pytest.mark.slow
def test_s11_a_loop_that_runs_leaves_the_buffer_that_it_begins_with():
    """Its result was taken to share memory with its initial value, and copied before a store: 12 allocations for 9."""
    args = 1, np.array([-1, 1, 5]), np.arange(3.0)
    climb(negated_where_it_raises, args, again=[(4, np.zeros(9, int), np.ones(9)), (1, np.full(9, 7), np.ones(9))])
    f, g = tracebuf.bufferize(negated_where_it_raises), tracebuf.bufferize(started_anew)
    seen = tracebuf.measure(f, *args, repeat=1)
    assert (seen.native.allocations, seen.native.copies) == (7, 0)
    climb(started_anew, (np.arange(4.0), 3), again=[(np.arange(5.0), 0), (np.arange(5.0), 1)])
    assert tracebuf.measure(g, np.arange(4.0), 3, repeat=1).native.copies == 0
