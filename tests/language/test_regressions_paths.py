"""Programs that joins, loops and references once had wrong, against eager NumPy (rules S8-S11, B2, C1, F1, F3)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tracebuf
from tests.support.agreement import agree

pytestmark = pytest.mark.slow

Program = Callable[..., Any]


def s11_part_of_a_fresh_array_shrinks(a, c, n):
    x = a * 1
    for _i in range(n):
        x = (x + 1)[1:]
    return x


def s11_part_of_a_fresh_array_in_a_while(a, c, n):
    x = a * 1
    i = 0
    while i < n:
        x = (x + 1)[:-1]
        i += 1
    return x


def s8_two_names_of_the_last_array(a, c, n):
    for i in range(n):
        t = a * i
        u = t
    u[:1] = 55
    return t, u


def s8_one_of_two_arguments_last(a, c, n):
    for i in range(n):
        t = a if c.sum() > i else c
    t[:1] = 55
    return t


def s8_an_argument_last(a, c, n):
    for _i in range(n):
        t = a
    t[:1] = 4
    return t


def f1_bound_in_an_earlier_iteration(a, c, n):
    for i in range(len(a)):
        if a[i] < 0:
            continue
        last = a[i]
    return last


def c1_one_of_two_types_last(a, c, n):
    s = 0
    x = 1 if c.sum() > 0 else 2.5
    for _i in range(n):
        s = x
    return s


def s8_arrays_in_a_list_change_places(a, c, n):
    l = [a, c]
    for _i in range(n):
        l[0][:1] += 1
        l = [l[1], l[0]]
    return l[0]


def s8_paths_that_left_an_inner_loop(a, c, n):
    x = a
    for _i in range(n):
        for _j in range(3):
            if c.sum() > 0:
                x = c
                break
        x = x + 1
    return x


def b2_read_only_last_view(a, c, n):
    for _i in range(n):
        d = np.broadcast_to(a, (3, len(a)))
    d[...] = 1


def b2_read_only_view_that_moves(a, c, n):
    d = np.diagonal(np.outer(a, a))
    for _i in range(n):
        if len(d) > 1:
            d = d[1:]
    d[...] = 1


def b2_read_only_where_no_iteration_runs(a, c, n):
    x = np.broadcast_to(a * 1, a.shape)
    for _i in range(n):
        x = x + 1
    x[:1] = 3
    return x


def b2_read_only_after_an_iteration(a, c, n):
    x = a.copy()
    for _i in range(n):
        x = np.broadcast_to(x, x.shape)
    x[:1] = 3
    return x


def f1_names_of_a_comprehension_are_its_own(a, c, n):
    x = 1 if a.sum() > 0 else 2
    l = [0 for x in range(3)]
    return x, l


def f1_names_of_an_inner_function_are_its_own(a, c, n):
    if a.sum() > 0:
        t = 1
    else:
        t = 2

    def g(u):
        t = u
        return t

    return t, g(3)


def f1_walrus_that_may_not_be_reached(a, c, n):
    if a.sum() > 0:
        y = 1
    else:
        y = 2
    z = c.sum() > 0 and (y := 5)
    return y, z


def f1_walrus_in_a_comprehension(a, c, n):
    t = [y := k for k in range(2)]
    return y, t


def f1_lambdas_of_a_comprehension_see_the_last_item(a, c, n):
    for f in [lambda x: x + k for k in range(3)]:  # noqa: B023
        a = f(a)
    return a


def f3_earlier_error_of_a_loop_wins(a, c, n):
    for i in range(3):
        a[i % len(a)] += i // len(a)
    return unbound  # noqa: F821


def s3_one_object_on_both_paths(a, c, n):
    if c.sum() > 0:
        x = a * 1
        y = x
    else:
        x = a * 2
        y = x
    return x, y


def s3_one_object_on_one_path(a, c, n):
    if c.sum() > 0:
        t = a * 1
        b = t
    else:
        t = a * 2
        b = c
    return b, t, b


def s3_an_array_changes_places_with_a_view_of_all_of_it(a, c, n):
    v = a[n - 2 :]
    for _i in range(n):
        a, v = v, a
    return v


def s3_reversed_on_one_path(a, c, n):
    if c.sum() > 0:
        t = a * 1
        x, y = t, t
    else:
        t = a * 2
        x, y = t[::-1], t
    y[:1] = 77
    return x, y


def s3_one_object_of_a_loop(a, c, n):
    x = a.copy()
    y = x
    for _i in range(n):
        x = x + 1
        y = x
    return x, y, x is y


def s3_one_object_of_a_while(a, c, n):
    i = 0
    while i < n:
        t = a * i
        u = t
        i += 1
    return t, u


def s3_the_argument_where_no_iteration_runs(a, c, n):
    x = a
    for i in range(n):
        x = x[1:]
        x += i
    return x


def s3_a_view_of_the_argument_all_the_same(a, c, n):
    b = a
    for _i in range(n):
        b = b[:]
    return b, b is a


def s3_is_by_the_path(a, c, n):
    b = a if c.sum() > 0 else c
    if b is a:
        return 1, b
    return 2, b


def s8_name_bound_inside_of_a_carried_array(a, c, n):
    x = a * 1
    for _i in range(n):
        x = x + 1
        t = x
        u = x[:]
    u[:1] = 5
    return x, t, u


def s10_last_value_of_what_does_not_change(a, c, n):
    s = 1.5
    r = 2.5
    for _i in range(n):
        r = s
        if len(c) > 100:
            s = 3.5
        m = s
    return m, r, s


def s8_array_bound_to_itself(a, c, n):
    u = a.copy()
    for k in range(n):
        u = u
        u[1:] = k
    return u, u.sum()


def s10_return_of_an_array_that_an_outer_loop_carries(a, c, n):
    v = a[1:]
    k = 0
    while k < n:
        k += 1
        j = 0
        while j < 3:
            j += 1
            if a[:2].sum() <= 3:
                return v
            a, v = v, a
        v[::2] = n
    return v


def c1_none_or_an_array(a, c, n):
    x = None
    if c.sum() > 0:
        x = a
    if x is not None:
        x[:1] += 5
    else:
        c[:1] = 9
    return x


def c1_int_or_float(a, c, n):
    k = n if a.sum() > 0 else 2.5
    k = k // 2
    k += 1
    if k > 1:
        a[:1] = k
    return k, a * k


def s8_row_or_column(a, c, n):
    m = np.outer(a, c)
    v = m[:1] if c.sum() > 0 else m.T
    v += 1
    return v, m, v * 2


def c1_none_is_no_operand(a, c, n):
    x = a if c.sum() > 0 else None
    return x + 1


def c1_two_sorts_at_once(a, c, n):
    x = None
    y = 3
    if c.sum() > 0:
        x, y = a, 2.5
    if x is None:
        return y
    return x * y


def c1_three_sorts(a, c, n):
    x = a if c.sum() > 0 else (1 if c.sum() > -6 else None)
    if x is None:
        return 7
    return x + 1


def f1_one_of_two_functions(a, c, n):
    f = (lambda x: x + 1) if c.sum() > 0 else (lambda x: x * 2)
    return f(a)


PROGRAMS = [v for k, v in list(globals().items()) if k[0] in "scfnb" and k[1:2].isdigit()]


def arguments(n: int) -> list[np.ndarray]:
    a = np.arange(1.0, n + 1) * np.where(np.arange(n) % 2, -1, 1)
    return [a, a[::-1] * 2 - 1]


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_paths(f: Program) -> None:
    compiled = tracebuf.bufferize(verify=True)(f)
    for size, n in ((5, 3), (4, 0), (6, 1), (1, 2), (0, 2)):
        a, c = arguments(size)
        agree(compiled, a, c, n)
        agree(compiled, -a, c, n)
