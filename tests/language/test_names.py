"""What names hold after branches and loops, and which object it is (rules S8-S11, B2, C1, F1, F3). Found by fuzzing."""

from __future__ import annotations

import ast
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tracebuf
from tests.support.agreement import agree
from tests.support.arrays import floats, vector
from tests.support.params import one_in
from tests.support.syntax import tree_of
from tracebuf.frontends.numpy.source import liveness
from tracebuf.testing.ladder import climb

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
    a = vector(n)
    return [a, a[::-1] * 2 - 1]


@pytest.mark.parametrize("f", one_in(20, PROGRAMS), ids=lambda f: f.__name__)
@pytest.mark.slow
def test_names_by_the_path(f: Program) -> None:
    compiled = tracebuf.bufferize(verify=True)(f)
    for size, n in ((5, 3), (4, 0), (6, 1), (1, 2), (0, 2)):
        a, c = arguments(size)
        agree(compiled, a, c, n)
        agree(compiled, -a, c, n)


@pytest.mark.slow
def test_a_loop_that_first_binds_an_array_begins_with_none() -> None:
    """Rules F1, S2: the array of the last iteration, of no elements before the first; nothing of no bytes counts."""

    def program(a):
        for _i in range(1):
            h = a + a
        for _i in range(len(a)):
            t = np.rint(a)
        return h, t, h + t

    climb(program, (floats(3),), again=[(floats(5),)])


def test_a_name_that_an_earlier_iteration_than_the_last_bound() -> None:
    """Rule F1."""

    def program(a):
        for i in range(len(a)):
            if a[i] < 3:
                k, row = i, a[i:]
        return k, row

    climb(program, (np.array([1.0, 2, 3, 4]),), again=[(np.array([3.0, 1, 7]),), (np.array([9.0]),)])


def test_an_array_named_in_a_loop_is_that_array() -> None:
    """Rule C1: identity."""

    def program(a):
        for _x in a:
            v = a
        return v

    climb(program, (floats(3),))


def c1_the_argument_itself_or_a_view_of_all_of_it(a, b):
    if b[0] <= 1:
        a = a[:]
    return a


def test_identity_depends_on_the_path() -> None:
    """Rules C1, S8: found by fuzzing; the view of everything was taken for the argument."""
    for first in (0.0, 5.0):
        agree(c1_the_argument_itself_or_a_view_of_all_of_it, np.ones(3), np.array([first]))


@pytest.mark.slow
def kept_or_replaced(a, n):
    x = a
    for i in range(n):
        r = a[i]
        x = x if a[0, 0] > 0 and i == 1 else r
    return x, r, x is r


@pytest.mark.parametrize("n", [1, 2, 3, 4])
@pytest.mark.slow
def test_a_name_that_may_hold_what_another_holds_before_a_loop_without_iterations(n: int) -> None:
    """Found by fuzzing: before the loop behind two peeled iterations `x` may be `r`'s object; where that loop did not
    run, the results were taken for one object."""
    for first in (1.0, -1.0):
        a = np.arange(8.0).reshape(4, 2)
        a[0, 0] = first
        agree(kept_or_replaced, a, n)


@pytest.mark.slow
def test_a_part_of_an_array_that_another_path_does_not_make_is_not_read_there() -> None:
    """Rule S8: an element of what one path made, as a result, beside a number on the other."""

    def program(b):
        v = b[1]
        if v[0] > 1:
            t = np.zeros_like(v)
        else:
            return 1
        return t[1, ...]

    def both(b):
        if b[0, 0] > 1:
            t = b + 1
        else:
            return 1, None
        return t[1], t[2, ..., 1]

    climb(program, (floats(4, 2),), again=[(floats(3, 2) + 5,)])
    climb(both, (floats(4, 2),), again=[(floats(3, 2) + 5,)])


@pytest.mark.slow
def test_one_array_that_is_a_result_on_one_path_and_on_every_path() -> None:
    """Rules S8, C1: it is read on every path, and is one object where it is two results."""

    def program(a, c):
        b = c * a
        x = a if c[0] > 0 else b
        y = b if c[0] > 0 else a
        return x, b, y

    climb(program, (floats(4), floats(4)), again=[(floats(5) + 7, floats(5) + 7)])


@pytest.mark.slow
def test_a_store_from_one_of_several_arrays_of_which_one_is_only_read() -> None:
    """Rules S8, B1: the array that is stored to is not the one that is read, whichever the name holds."""

    def program(a, b, c):
        x = a if b[0] > 0 else c
        c[:] = x
        c[1:] += x[1:]

    for n, sign in ((4, 1), (5, -1)):
        agree(program, floats(n), np.array([sign]), floats(n) * 2)


def f1_last_array_of_a_loop_of_known_length(a):
    for i in range(a.shape[0]):
        t = np.zeros_like(a) + i
    a[4:] += t[-1:] / a[:-i]


def s6_pad_of_one_row(b):
    return np.pad(b, 1)


@pytest.mark.slow
def test_last_arrays_and_padded_rows() -> None:
    """Found by fuzzing: a loop's result of a constant size, carried as one of a symbolic size, was taken apart wrongly;
    axes without a place were compared with others."""
    agree(f1_last_array_of_a_loop_of_known_length, np.arange(1, 11, dtype=np.float32)[::2])
    for shape in ((1, 4), (4, 1), (3, 2), (1, 1), (0, 3)):
        agree(s6_pad_of_one_row, np.ones(shape, bool))


def s9_rank_that_grows_in_the_first_iteration(a):
    a = a + 1
    for _ in range(len(a)):
        a = np.vstack((a,))
    return a


def s6_parts_of_one_row_in_columns(b):
    t = b[2:]
    return np.concatenate((t, t))


@pytest.mark.slow
def test_ranks_of_first_iterations_and_axes_of_one() -> None:
    """Found by fuzzing: what a first iteration showed of a vector was taken for a matrix (S9); whether an axis is of
    size 1 decides the order of axes (S6)."""
    for n in (2, 6):
        agree(s9_rank_that_grows_in_the_first_iteration, np.arange(float(n)))
    for shape in ((3, 3, 4), (2, 2, 3)):
        agree(s6_parts_of_one_row_in_columns, np.arange(float(np.prod(shape))).reshape(shape).T)


@pytest.mark.slow
@pytest.mark.parametrize("lengths", [(5, 5, 5), (5, 6, 4), (3, 3, 4)])
def test_arrays_that_take_turns_are_of_any_sort(lengths: tuple[int, ...]) -> None:
    """Rules S8, S9: which one a name holds after the loop decides dtype, rank and sizes."""

    def numbers(a, b, c):
        for _i in range(1):
            for _j in range(len(c)):
                b, c, a = c, a, b
                b[0] = 7
        return a, b.sum()

    def others(a, b, c):
        for _i in range(2):
            for _j in range(len(c)):
                b, c, a = c, a, b
                b[0] = 7
        return a

    for program in (numbers, others):
        for second in (np.float64, np.int64):
            for shape in ((lengths[1],), (lengths[1], 1)):
                agree(program, floats(lengths[0]), np.ones(shape, second), floats(lengths[2]) + 3)


@pytest.mark.slow
def test_a_name_that_only_the_other_side_of_a_choice_reads() -> None:
    """Rule F3: what is not taken raises nothing."""

    def program(a):
        x = 3 if a[0] > 0 else unbound  # noqa: F821
        unbound = x
        return unbound

    agree(program, np.ones(2))
    agree(program, -np.ones(2))


@pytest.mark.slow
@pytest.mark.parametrize("n", [2, 4, 6])
def test_the_offset_of_an_empty_view_that_a_loop_carries(n: int) -> None:
    """Rule S11: of an array backwards that has come to have no elements it is -1."""

    def program(a, n):
        for _i in range(n):
            a = (1 + a[1:])[::-1]
        return a

    climb(program, (floats(4), n), again=[(floats(5), n - 1)])


@pytest.mark.slow
@pytest.mark.parametrize("times", [0.0, 2.0])
def test_an_array_that_no_loop_in_a_loop_replaced_is_that_array(times: float) -> None:
    """Rule C1: identity with the argument, through two loops."""

    def counted(a, c, n):
        for _i in range(n):
            for _j in range(int(c[0])):
                a = a[1:-1]
        return a

    def tested(a, c, n):
        for _i in range(n):
            k = 0
            while k < 3 and c[0] > 1:
                a = a[1:-1]
                k += 1
        return a

    for program in (counted, tested):
        for n in (2, 0, 1):
            agree(program, floats(9), np.array([times]), n)


@pytest.mark.slow
@pytest.mark.parametrize("n", [0, 1, 2])
def test_names_that_exchange_arrays_of_other_ranks(n: int) -> None:
    """Rules S9, S11: what a first iteration showed of a name's array is not taken for that of another rank."""

    def counted(a, n):
        t = -a
        h = t[None]
        a = h
        for _i in range(1):
            for _j in range(n):
                t, h, a = h, a, t
        return a

    def tested(a, n):
        t = -a
        h = t[None]
        a = h
        while n:
            t, h, a = h, a, t
            t[0, ...] = 1
            n -= 1
        return a

    agree(counted, floats(3), n)
    agree(tested, floats(3), n)


def test_a_walk_meets_all_but_contexts_and_operators() -> None:
    """Which names are live is found by walks that leave out these alone."""
    tree = tree_of(Path(tracebuf.__file__).with_name("api.py"))
    skipped = (ast.expr_context, ast.operator, ast.unaryop, ast.boolop, ast.cmpop)
    assert set(liveness.nodes(tree)) == {n for n in ast.walk(tree) if not isinstance(n, skipped)}
