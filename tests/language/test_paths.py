"""Names, jumps and loops where the path decides (rules S8, S9, S11, F1, F3, C1), against eager NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tracebuf
from tests.support.agreement import agree, program, refused
from tests.support.arrays import vector
from tests.support.params import one_in
from tracebuf.testing.ladder import climb

Program = Callable[..., Any]


def s8_two_private_arrays(a, c):
    if c[0] > 0:
        b = np.zeros(len(a))
    else:
        b = np.ones(len(a))
    b[0] = 5
    return b


def s8_guarded_reference(a, c):
    if c[0] > 0:
        b = a
    else:
        b = c
    b[0] = 1
    return b


def s8_an_argument_or_its_copy(a, c):
    b = a
    if c[0] > 0:
        b = a.copy()
    b[1] = 9
    b[2:] += 1
    return b.sum()


def s8_early_return_of_arguments(a, c):
    if c[0] > 0:
        return a
    c[1] = 3
    return c


def s8_early_return_of_views(a, c):
    if c[0] > 0:
        return a[1:]
    c[1] = 3
    return c[:-1]


def c1_int_or_float(a, c):
    if c[0] > 0:
        return 1
    return 2.5


def c1_array_or_none(a, c):
    if c[0] > 0:
        return a * 2


def f1_return_in_nested_branches(a, c):
    if c[0] > 0:
        if c[1] > 0:
            return a * 2
        a[0] = 7
    a[1] = 8
    return a + 1


def f1_bound_and_used_on_one_path(a, c):
    if c[0] > 0:
        t = a * 2
    if c[0] > 0:
        return t
    return a


def f1_unbound_on_one_path(a, c):
    if c[0] > 0:
        t = 3.0
    return t


def s8_one_storage_two_views(a, c):
    if c[0] > 0:
        v = a[1:]
    else:
        v = a[:-1]
    v[0] = 100
    return v + 1


def s8_views_of_two_sizes(a, c):
    if c[0] > 0:
        v = a[1:]
    else:
        v = a[:-2]
    v[0] = 100
    return v + 1, v


def s8_conditional_expression(a, c):
    x = a if c[0] > 0 else c
    x[2] = 4
    return x


def c1_python_or_numpy_number(a, c):
    s = 0.0
    for i in range(len(a)):
        if a[i] < 0:
            continue
        s += a[i]
    return s


def f1_continue_in_nested_branches(a, c):
    for i in range(len(a)):
        if a[i] < 0:
            if a[i] < -3:
                continue
            a[i] = 0
        a[i] += 1


def s9_locals_swapped(a, c):
    u, v = a * 1, c * 1
    for _i in range(5):
        v[1:-1] = 0.5 * (u[2:] + u[:-2])
        u, v = v, u
    return u


def s9_arguments_swapped(u, v):
    for _i in range(5):
        v[1:-1] = 0.5 * (u[2:] + u[:-2])
        u, v = v, u
    return u


def s9_arguments_swapped_n_times(u, v, n=4):
    for _i in range(n):
        v[1:-1] = 0.5 * (u[2:] + u[:-2])
        u, v = v, u
    return u, v


def s9_triple_buffering(u, v, w):
    for _i in range(len(u)):
        w[1:-1] = 0.5 * (u[2:] + v[:-2])
        u, v, w = v, w, u
    return u


def s11_fresh_array_each_iteration(a, c):
    x = a * 1
    for _i in range(4):
        x = x + c
    return x


def s9_peeled_argument(a, c):
    x = a
    for _i in range(len(c)):
        x = x * 0.5 + c
    return x


def s11_shrinking_array(a, c):
    x = a * 1
    for _i in range(3):
        x = x[:-1] + x[1:]
    return x


def s8_view_that_moves(a, c):
    x = a
    for i in range(3):
        x = x[1:]
        x[0] = i
    return x


def s9_int_becomes_float(a, c):
    s = 1
    for _i in range(len(a)):
        s = s * 0.5
    return s


def f1_last_values(a, c):
    for i in range(len(a)):
        t = a * i
    return t, i


def f1_unbound_after_no_iteration(a, c):
    for i in range(len(a) - 7):
        t = a[i]
    return t


def f1_value_of_the_iteration_before(a, c):
    for i in range(len(a)):
        if i > 0:
            c[i] = a[i] - p  # noqa: F821
        p = a[i]  # noqa: F841
    return c


def s8_alias_that_begins_in_an_iteration(a, c):
    b = c
    for i in range(len(a)):
        if a[i] > 2:
            b = a
        b[i] = i
    return b


def s9_alias_of_the_first_iteration(a, c):
    b = a
    x = b
    for i in range(4):
        x[i] = -1
        b = b * 2
    return b, x


def s8_array_of_the_iteration_before(a, c):
    x = a * 1
    old = x
    for _i in range(4):
        old = x
        x = x * 0.5 + c
    return x - old


def f1_enumerate(a, c):
    s = 0.0
    for i, x in enumerate(a):
        s += i * x
    return s


def f1_zip(a, c):
    s = np.float64(0)
    for x, y in zip(a, c):
        s += x * y
    return s


def f1_reversed_range(a, c):
    for i in reversed(range(1, len(a))):
        a[i] -= a[i - 1]


def f1_generator_unrolled(a, c):
    return sum([a[i] * i for i in range(3)])


def f2_list_appended_in_an_unrolled_loop(a, c):
    l = []
    for k in (1, 2, 3):
        l.append(a * k)
    return l


def f3_assert_and_raise(a, c):
    assert c[0] > 0, f"first is {c[0]}"
    if a[1] > 100:
        raise ValueError("too big")
    return a


def s9_none_before_the_first_iteration(a, c):
    best = None
    for i in range(len(a)):
        if best is None or a[i] > best:
            best = a[i]
    return best


def f1_while_counts(a, c):
    i = 0
    while i < len(a):
        a[i] += i
        i += 1
    return i


def f1_while_on_data(a, c):
    x = a[0] + 3.0
    k = 0
    while abs(x * x - 2.0) > 1e-10 and k < 50:
        x = 0.5 * (x + 2.0 / x)
        k += 1
    return x, k


def f1_break(a, c):
    for i in range(len(a)):
        if a[i] > 4:
            break
        a[i] = 0
    return i


def f1_break_and_else(a, c):
    for i in range(len(a)):
        if a[i] > 4.5:
            break
    else:
        a[0] = 77
    return a.sum()


def f1_return_in_a_loop(a, c):
    for i in range(len(a)):
        if a[i] > 4:
            return i
    return -1


def f1_return_of_an_array_in_a_loop(a, c):
    for i in range(len(a)):
        t = a * i
        if t[2] > 4:
            return t
    return a


def f1_while_true(a, c):
    n = 0
    while True:
        n += 1
        a *= 0.5
        if abs(a[0]) < 1e-3:
            break
    return n


def s9_arguments_swapped_while(u, v):
    err = 1.0
    it = 0
    while err > 1e-3 and it < 100:
        v[1:-1] = 0.5 * (u[2:] + u[:-2])
        err = np.abs(v - u).max()
        u, v = v, u
        it += 1
    return u, it


def s9_argument_and_local_swapped_while(u, c):
    new = u.copy()
    it = 0
    while True:
        new[1:-1] = 0.5 * (u[2:] + u[:-2])
        d = np.abs(new - u).max()
        u, new = new, u
        it += 1
        if d < 1e-2 or it > 50:
            break
    return u


def s9_peeled_while(a, c):
    x = a
    k = 0
    while np.abs(x).max() > 0.1:
        x = x * 0.5
        k += 1
    return x, k


def f1_bound_in_a_while(a, c):
    k = 0
    while k < 3:
        y = a * k
        k += 1
    return y


def f1_unbound_after_no_while(a, c):
    k = 0
    while k < a[0] - 10:
        y = a * k
        k += 1
    return y


def n1_collatz(a, c, n=27):
    k = 0
    while n != 1:
        if n % 2 == 0:
            n //= 2
        else:
            n = 3 * n + 1
        k += 1
    return k


def f1_continue_in_a_while(a, c):
    i = -1
    s = 0.0
    while i < len(a) - 1:
        i += 1
        if a[i] < 0:
            continue
        s = s + 1.0
    return s


def f1_insertion_sort(a, c):
    for i in range(len(a)):
        j = i
        while j > 0 and a[j - 1] > a[j]:
            t = a[j - 1] + 0
            a[j - 1] = a[j]
            a[j] = t
            j -= 1
    return a


def f1_breaks_in_nested_loops(a, c):
    n = 0
    for i in range(len(a)):
        for j in range(len(a)):
            if a[i] * a[j] > 10:
                break
            n += 1
        if n > 20:
            break
    return n, i, j


def f1_while_else(a, c):
    i = 0
    while i < 3:
        if a[i] > 100:
            break
        i += 1
    else:
        i = 50
    return i


def f1_bisection(a, c):
    lo, hi = 0.0, 10.0
    while hi - lo > 1e-6:
        mid = (lo + hi) / 2
        if mid * mid > 2:
            hi = mid
        else:
            lo = mid
    return lo


def f1_binary_search(a, c):
    lo, hi = 0, len(a)
    while lo < hi:
        m = (lo + hi) // 2
        if a[m] < 3:
            lo = m + 1
        else:
            hi = m
    return lo


def s11_shrinking_while(a, c):
    x = a
    while len(x) > 2:
        x = x[:-1] + x[1:]
    return x


def s9_swap_left_by_break(u, v):
    for _i in range(10):
        v[:] = u * 0.5 + 1
        if abs(v[0] - u[0]) < 0.1:
            break
        u, v = v, u
    return u


def f1_return_from_nested_loops(a, c):
    for i in range(len(a)):
        for j in range(i):
            if a[i] == a[j] + 2:
                return i, j
    return None


def f1_return_from_an_endless_loop(a, c):
    while True:
        if a[0] > 0:
            return a
        a += 1


def f1_break_of_an_unrolled_loop(a, c):
    for k in (1, 2, 3):
        if a[k] > 2:
            break
        a *= k
    else:
        a += 1
    return a


PROGRAMS = [v for k, v in list(globals().items()) if k[0] in "scfn" and k[1:2].isdigit()]
ARGUMENTS = [
    (vector(), vector()), (vector(9), -vector(9)), (-vector(5), vector(5)), (np.abs(vector(6)), vector(6)),
]  # fmt: skip


@pytest.mark.parametrize("f", one_in(20, PROGRAMS), ids=lambda f: f.__name__)
def test_paths(f: Program) -> None:
    compiled = tracebuf.bufferize(verify=True)(f)
    for a, c in ARGUMENTS:
        extra = () if f is not s9_triple_buffering else (a * 3,)
        agree(compiled, a, c, *extra)


def f1_rows_of_a_matrix(m):
    for row in m:
        row /= row.sum()


def test_rows_are_views() -> None:
    """Rules F1, S1: iterating over an array yields views."""
    agree(f1_rows_of_a_matrix, np.arange(12.0).reshape(3, 4) + 1)


def s8_part_of_one_of_two(a, c):
    b = a if c[0] > 0 else a * 2
    return b[1:3]


def f1_copy_in_one_iteration(a, c):
    for _ in range(1):
        t = np.copy(a)
    else:
        t = t
    return t


def s3_one_object_twice_from_a_loop(a, c):
    for i in range(3):
        t = a * i
        if t[1] < -2:
            return t, t, t[1:]
    return None


def s3_two_names_of_carried_arrays(a, c):
    x = y = a * 1
    for _ in range(3):
        x = y = x * 2
        x += 1
    return x, y


def s3_two_names_from_branches(a, c):
    if c[0] > 0:
        x = y = a * 2
    else:
        x = y = a * 3
    return x, y


@pytest.mark.slow
@pytest.mark.parametrize(
    "f",
    (
        s8_part_of_one_of_two, f1_copy_in_one_iteration, s3_one_object_twice_from_a_loop,
        s3_two_names_of_carried_arrays, s3_two_names_from_branches,
    ),
)  # fmt: skip
def test_objects_and_paths_on_every_rung(f: Program) -> None:
    for a, c in ARGUMENTS:
        agree(f, a, c)
        climb(f, (a, c))


@pytest.mark.slow
def test_each_array_that_a_result_may_be_is_read_once() -> None:
    """It was read on each path on which it was the result, under all conditions of that path: with the number of
    iterations the program grew with its third power, and the time to compile it with the sixth."""

    def f(x, y):
        for i in range(len(x)):
            y = [v + x[i] for v in y]
            if y[0][0] > 8:
                return y
        return y

    arrays = [np.arange(4.0) + k for k in range(4)]
    text = tracebuf.bufferize(f).lower(arrays, arrays).as_text("traced")
    assert text.count("scf.if") < 3 * 4 * 4  # once for each item after each iteration, and those of the loop
    for start in (0.0, 9.0, 4.0):
        agree(f, arrays, [v + start for v in arrays])


@pytest.mark.slow
@pytest.mark.parametrize("first", (-9, 9))
def test_sizes_of_an_array_of_one_path_are_known_on_it(first: int) -> None:
    """They were any numbers: `[1::-2]`, which leaves one row, was taken for many, which gave the sum other strides."""

    def f(a):
        if a[0, 0] < 0:
            b = np.stack([a])
        else:
            b = a
        return b.T[1::-2] + a[:, :1]

    a = np.arange(first, first + 24).reshape(6, 4)
    want, got = f(a.copy()), tracebuf.bufferize(f)(a.copy())
    assert (want.shape, want.strides) == (got.shape, got.strides)
    climb(f, (a,))


@pytest.mark.parametrize("first", (-9, 9))
def test_a_size_of_1_on_one_path_is_not_taken_for_a_side(first: int) -> None:
    """The size that is n or 1, and that of an array made where the condition does not hold, were yielded as one; and a
    store to what is one array or another did not know the sizes there, so that `a *= a` made an array."""

    def f(a):
        b = a
        if a[1, 1] < 0:
            a = a - b
            b = b[-1:]
        a *= b

    climb(f, (np.arange(first, first + 25).reshape(5, 5),))


@pytest.mark.slow
def test_values_that_are_found_by_too_many_paths_are_refused() -> None:
    """Each exchange by the path doubled them: tracing had no end."""
    swaps = "".join(f"    if a[{k}] > {k}:\n        x, y = y, x\n" for k in range(40))
    f = program(f"def f(a, x, y):\n{swaps}    return x, y")
    error = refused(f, np.arange(40.0), np.ones(3), np.zeros(3))
    assert "more than 512 paths" in error.reason and "number of the one that is meant" in error.instead


SWAPPED = {
    "views": ("a[1:], a[:-1]", "x, y, x is y"),
    "copies": ("a.copy(), a + 1", "x, y"),
    "lists": ("[a.copy()], [a + 1]", "x, x is y, y"),
    "an array and its view": ("a, a[:]", "x, y, x is a, y is a"),
}


@pytest.mark.parametrize("form", one_in(4, SWAPPED))
def test_names_that_exchange_objects_by_the_path_often(form: str) -> None:
    """What a name may be was gone through on each way to it, of which an exchange makes twice as many: 14 took seconds,
    or were refused for a million operations."""
    start, end = SWAPPED[form]
    swaps = "".join(f"    if c[{k}] > 0:\n        x, y = y, x\n" for k in range(20))
    f = tracebuf.bufferize(verify=True)(program(f"def f(a, c):\n    x, y = {start}\n{swaps}    return {end}"))
    for seed in (1, 2, 3):
        agree(f, np.arange(5.0), np.random.default_rng(seed).normal(size=20))


@pytest.mark.slow
def test_an_array_where_the_other_path_raises_keeps_its_order() -> None:
    """What stands for it on the path that raises lay in C order: so did a copy of either."""

    def f(a):
        if a[0, 0] > 100:
            raise ValueError
        else:
            a = a + 1
        a += a
        return a

    climb(f, (np.ones((3, 4)).T,))


@pytest.mark.slow
def test_the_size_of_what_is_returned_on_one_path() -> None:
    """Its size was known inside of a branch only, and used outside of it (InternalError)."""

    def program(p, a, b):
        for _ in (1, 2):
            if b[0]:
                continue
            x = p[0]
            for _ in (1, 2):
                if b[1]:
                    return p[1][0]
                x = p[1]
                p[1][0] = a
            x[1] = 1
        return p[1][0]

    def nested(p, a):
        for _ in p:
            if p[0][0]:
                continue
            for x in p:  # noqa: B007
                if p[0].sum():
                    return p[1][0]
                p[1][0] = a
            x[1] = 1

    for b in (np.array([0.0, 0.0]), np.array([0.0, 1.0]), np.array([1.0, 0.0])):
        agree(program, (b, [b, 2]), np.arange(4.0), b)
        agree(nested, (b, [b, 2]), np.arange(4.0))
    climb(program, ((np.zeros(2), [np.zeros(2), 2]), np.arange(4.0), np.zeros(2)))
