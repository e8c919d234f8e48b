"""Which array object a name holds after a loop, and in it (rules S3, C1)."""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np
import pytest

import tracebuf
from tests.support.agreement import agree, refused
from tests.support.params import one_in, slow_but
from tracebuf.testing.ladder import STRATEGIES, climb


def bound_inside_and_path_dependent(b, a):
    if a[0] > 0:
        a = a.reshape(-1)
    for _x in b:
        t = a
    return t


def an_argument_or_a_view_of_it(b, a):
    for x in b:
        if x[0] > 0:
            t = a
        else:
            t = a.view()
    return t, t is a


def one_of_two_arguments(b, a, c):
    for x in b:
        t = a if x[0] > 0 else c
    return t, t is a, t is c


def bound_before_a_break(b, a):
    if a[0] > 0:
        a2 = a.reshape(-1)
    else:
        a2 = a
    for x in b:
        t = a2
        if x[0] > 5:
            break
    return t, a2, a


def kept_or_viewed(b, a):
    u = a
    for x in b:
        if x[0] > 0:
            u = a[:]
        t = u
    return t, u, t is u, t is a, u is a


def two_names_of_one(b, a):
    for x in b:
        if x[0] > 0:
            t = a
        else:
            t = a[:]
        s = t
    return t, s, s is t, s is a


def attributes_swapped_unrolled(b, p, a):
    for _i in range(3):
        p.items = a[:]
        p.items, p.a = p.a, p.items
    return p.items is a


def attributes_swapped(b, p, a):
    for _x in b:
        p.items = a[:]
        p.items, p.a = p.a, p.items
    return p.items is a, p


def names_swapped(a, n):
    u, v = a, a
    for _i in range(n):
        u = a[:]
        u, v = v, u
    return u, v, u is a, v is a


def names_swapped_in_a_while(a, n):
    u = v = a
    while n > 0:
        u = a[:]
        u, v = v, u
        n -= 1
    return u, v, u is a, v is a, u is v


def three_names_passed_on(a, n):
    u = v = w = a
    for _i in range(n):
        w, v, u = v, u, a[:]
    return u, v, w, u is a, v is a, w is a


def asked_in_the_loop(a, n):
    count, v = 0, a
    for _i in range(n):
        if v is a:
            count += 1
        v = a[:]
    return count, v


def slow(f):
    return pytest.param(f, marks=pytest.mark.slow)


@pytest.mark.parametrize(
    "f", [
        bound_inside_and_path_dependent,
        *(slow(f) for f in (an_argument_or_a_view_of_it, bound_before_a_break, kept_or_viewed, two_names_of_one)),
    ],
)  # fmt: skip
def test_c1_a_name_bound_in_a_loop_by_the_path(f):
    """It was a view of the argument where eager has the argument itself."""
    bufferized = tracebuf.bufferize(verify=True)(f)
    for sign in (1, -1):
        agree(bufferized, np.array([[1.0, 2], [3, sign]]), np.array([sign * 1.0, 2]))


@pytest.mark.slow
def test_c1_one_of_two_arguments_bound_in_a_loop():
    for sign in (1, -1):
        agree(one_of_two_arguments, np.array([[1.0, 2], [sign, 3]]), np.ones(2), np.zeros(2))


@pytest.mark.parametrize(
    "f", [names_swapped, slow(names_swapped_in_a_while), slow(three_names_passed_on), slow(asked_in_the_loop)]
)
def test_c1_names_of_one_argument_exchange_its_views(f):
    """A name that took another's view of the iteration before counted as the argument."""
    bufferized = tracebuf.bufferize(verify=True)(f)
    for n in (3, 0, 1, 2, 4):
        agree(bufferized, np.ones(3), n)


@pytest.mark.slow
@pytest.mark.parametrize("f", [attributes_swapped_unrolled, attributes_swapped])
@pytest.mark.parametrize("begin", [lambda a: a, lambda a: a[:], lambda a: np.zeros(3)])
def test_c1_attributes_exchange_views(f, begin):
    bufferized = tracebuf.bufferize(verify=True)(f)
    for n in (3, 0, 1, 2, 5):
        a = np.ones(3)
        agree(bufferized, np.ones(n), SimpleNamespace(a=a, items=begin(a)), a)


def items_of_one_view(a, p):
    k = 0
    while k < len(p):
        p[0] = a[:]
        p[1] = p[0]
        k += 1
    return p


def items_passed_on(a, p):
    k = 0
    while k < len(p):
        p[1] = p[0]
        p[0] = a[:]
        k += 1
    return p, p[0] is p[1]


@pytest.mark.parametrize("f", [items_of_one_view, slow(items_passed_on)])
def test_c1_items_of_a_list_that_are_one_object(f):
    """Two items that a loop carries of one list were never one object at its head."""
    climb(f, (np.ones(3), [np.zeros(3), np.zeros(3)]))


def one_of_two_outer_arrays(a, p, n):
    b, c = p
    k = 0
    while k < n:
        t = b if a[k] > 1 else c
        k += 1
    return t, t is b


def one_of_two_outer_arrays_before_a_break(a, p, n):
    b, c = p
    for k in range(n):
        t = b if a[k] < 1 else c
        if a[k] > 1:
            break
    return t, t is b


def an_array_or_its_view_in_a_while(a, p, n):
    v = a[:]
    k = 0
    while k < n:
        if a[k] > 1:
            t = v
        elif a[k] > 0:
            t = a[:]
        else:
            t = a
        s = t
        k += 1
    return t, t is a, t is v, v, s, s is t


def another_outer_object(a, p, n):
    v = a[:]
    u = w = a
    k = 0
    while k < n:
        w = u
        if a[k] > 0:
            u = v
        k += 1
    return u, w, v, u is a, u is v, w is a, w is v, w is u


def another_outer_object_by_the_path(a, p, n):
    v, u = a[:], a
    for k in range(n):
        if a[k] > 1:
            u = v
        elif a[k] > 0:
            u = a[:]
    return u, u is a, u is v, v


def items_swapped(a, p, n):
    v = a[:]
    k = 0
    p[0], p[1] = v, a
    while k < n:
        if a[k] > 0:
            p[0], p[1] = p[1], p[0]
        k += 1
    return p, v


LATER = [
    another_outer_object_by_the_path, items_swapped, one_of_two_outer_arrays_before_a_break,
    an_array_or_its_view_in_a_while, one_of_two_outer_arrays, another_outer_object,
]  # fmt: skip


@pytest.mark.parametrize("f", one_in(6, LATER))
def test_c1_an_outer_object_that_a_loop_binds(f):
    """A name that a later iteration bound to an object of before the loop, by the path, counted as a new view of it;
    one of two arrays, of which only an iteration bound one, was refused."""
    bufferized = tracebuf.bufferize(verify=True)(f)
    for n in (2, 0, 1, 3, 4):
        agree(bufferized, np.arange(4.0), [np.ones(3), np.zeros(3)], n)


@pytest.mark.slow
@pytest.mark.parametrize("f", LATER)
def test_c1_an_outer_object_that_a_loop_binds_on_every_rung(f):
    args = [(np.arange(4.0), [np.ones(3), np.zeros(3)], n) for n in (2, 3)]
    climb(f, args[0], again=args[1:])


def two_names_of_a_list(a, n):
    q = r = [a, 1]
    for k in range(n):
        q = r = [a, k]
    return q, r, q is r


def a_list_of_the_last_iteration(a, n):
    q = [a, 1]
    for k in range(n):
        q = [a, k]
        r = q
    return q, {"r": r}, q is r


@pytest.mark.parametrize("f", [two_names_of_a_list, slow(a_list_of_the_last_iteration)])
def test_c1_names_of_one_list_after_a_loop(f):
    """Two names of a list that each iteration makes held two lists after the loop."""
    bufferized = tracebuf.bufferize(verify=True)(f)
    for n in (2, 0, 1, 3):
        agree(bufferized, np.arange(4.0), n)


def list_by_the_path(a, n):
    q = r = [a, 1]
    for k in range(n):
        if a[k] > 1:
            r = [a, k]
    return q, r, q is r


def tuple_bound_before_a_break(a, n):
    q = r = (a, 1)
    for k in range(n):
        if a[k] > 1:
            r = (a, k)
            break
    return q, r, q is r


def dict_by_the_path_in_a_while(a, n):
    q = r = {"x": a}
    k = 0
    while k < n:
        if a[k] > 1:
            r = {"x": a + 1}
        k += 1
    return q, r, q is r


def object_by_the_path(a, n):
    q = r = SimpleNamespace(x=a, y=1)
    for k in range(n):
        if a[k] > 1:
            r = SimpleNamespace(x=a, y=k)
    return q, r, q is r


def lists_swapped(a, n):
    p, q = [a, 1], [a, 2]
    s = p
    for k in range(n):
        if a[k] > 0:
            p, q = q, p
    return p is s, q is s, p, q, s


def lists_in_dicts_swapped(a, n):
    q = {"u": [a, 1], "v": [a, 2]}
    u, v = q["u"], q["v"]
    for k in range(n):
        if a[k] > 0:
            q = {"u": q["v"], "v": q["u"]}
    return q, u, v, q["u"] is u, q["u"] is v


def items_of_a_list_replaced(a, n):
    q = [[a, 1], [a, 2]]
    u, v = q
    for k in range(n):
        if a[k] > 0:
            q[0] = [a, k]
        if a[k] > 1:
            q[1] = q[0]
    return q, u, v, q[0] is u, q[0] is q[1], q[1] is v


def an_outer_list(a, n):
    q, v = [a, 1], [a, 2]
    w = q
    k = 0
    while k < n:
        if a[k] > 1:
            q = v
        elif a[k] > 0:
            q = [a, k]
        k += 1
    return q, v, q is v, w is q, w


def asked_of_lists_in_a_while(a, n):
    q = r = [a, 1]
    c = k = 0
    while k < n:
        if q is r:
            c += 1
        if a[k] > 1:
            r = [a, k]
        elif a[k] > 0:
            q = r
        k += 1
    return c, r, q, q is r


def passed_on_in_an_inner_loop(a, n):
    p = q = s = [a, 1]
    c = 0
    for k in range(n):
        j = 0
        while j < k:
            t = [a, j]
            if a[j] > 0:
                p = t
            if a[j] > 1:
                q = t
            j += 1
        c += p is s
        if a[k] > 1:
            s = p
    return p, q, s, p is s, q is s, p is q, c


def one_of_two_lists_first_bound(a, n):
    v, w = [a, 1], [a, 2]
    k = 0
    while k < n:
        t = v if a[k] > 1 else w
        k += 1
    return t, t is v, v, w


def a_list_or_a_new_one_first_bound(a, n):
    v = [a, 1]
    for k in range(n):
        t = v if a[k] > 1 else [a, k]
    return t, t is v, v


def in_a_loop_of_one_branch(a, n):
    q = r = s = [a, 1]
    if a[0] > 0:
        for k in range(n):
            if a[k] > 1:
                r = [a, k]
            elif a[k] > 0:
                q = r
    else:
        q = [a, 2]
        if a[1] > 0:
            r = q
    return q, r, q is r, q is s, s


def stored_through_one_name(a, n):
    q = r = [a + 0, a + 1]
    for k in range(n):
        if a[k] > 1:
            r = [a + 5, a + 3]
        r[1][0] = 7 + k
    return q, r, q is r


CONTAINERS = [
    list_by_the_path, object_by_the_path, an_outer_list, in_a_loop_of_one_branch, lists_swapped,
    dict_by_the_path_in_a_while, tuple_bound_before_a_break, lists_in_dicts_swapped, stored_through_one_name,
    items_of_a_list_replaced, one_of_two_lists_first_bound, a_list_or_a_new_one_first_bound,
    asked_of_lists_in_a_while, passed_on_in_an_inner_loop,
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("f", one_in(8, CONTAINERS))
def test_c1_containers_that_a_loop_binds_by_the_path(f):
    """A container that a loop carries was another object than any of before the loop, also where no iteration had
    bound the name; two that the loop made were never one."""
    bufferized = tracebuf.bufferize(verify=True)(f)
    for first in ([0.0, 1, 2, 3], [2.0, 0, 1, 0]):
        for n in (3, 0, 1, 2):
            agree(bufferized, np.array(first), n)


def stored_into_one_or_another(a, n):
    q = r = [a, 1]
    for k in range(n):
        if a[k] > 1:
            r = [a, k]
    r[0] = a + 1
    return q, r


def test_s8_a_list_that_a_loop_bound_by_the_path_is_not_changed():
    error = refused(stored_into_one_or_another, np.arange(4.0), 3)
    assert "one or another" in error.reason


def a_tuple_with_what_a_test_decides(a, n):
    c = a[0] > 0
    x = a if c else a * 2
    t = u = (x, 1)
    if c:
        s = t
    else:
        s = (x, 2)
    return s, u, s is u, s is t


def a_tuple_that_holds_a_changed_list(a, n):
    q = [a, 1]
    d = e = (q, 5)
    for k in range(n):
        q[0] = a + k
        e = d
    return d, e, d is e, d[0] is q, q


def items_in_turn(a, n):
    p = [[a, 1], [a, 2], [a, 3]]
    s = p[0]
    k = 0
    while k < n:
        p = [p[1], p[2], p[0]]
        if a[k] > 0:
            s = p[0]
        k += 1
    return s, p, s is p[0], s is p[1], s is p[2]


@pytest.mark.parametrize(
    "f", [a_tuple_that_holds_a_changed_list, slow(a_tuple_with_what_a_test_decides), slow(items_in_turn)]
)
def test_c1_a_copy_with_what_is_known_there_is_the_tuple(f):
    """A tuple of which more was known on a path, or in a loop that changes a list in it, was another object there."""
    bufferized = tracebuf.bufferize(verify=True)(f)
    for first in ([0.0, 1, 2, 3], [1.0, 2, -1, 0]):
        for n in (3, 0, 1, 2):
            agree(bufferized, np.array(first), n)


def the_callers_tuple_by_the_path(a, n, x):
    t = x
    for k in range(n):
        if a[k] > 1:
            t = (a, k)
    return t


def test_c1_the_callers_tuple_after_a_loop():
    """It was a copy of the caller's tuple."""
    bufferized, x = tracebuf.bufferize(the_callers_tuple_by_the_path), (np.ones(4), 1)
    for value in (0.0, 2.0):
        found = bufferized(np.full(4, value), 3, x)
        assert (found is x) == (the_callers_tuple_by_the_path(np.full(4, value), 3, x) is x)


def views_of_an_iteration_passed_on(a, n):
    u, v = a[:], a[:]
    k = 0
    while k < n:
        if a[k] > 1:
            u = a[:]
        else:
            v = u
        k += 1
    return u, v, u is v


def one_view_for_three_names_by_the_path(a, n):
    u, v = a[:], a[:]
    w = a[:]
    k = 0
    while k < n:
        w = a[:]
        if a[k] > 1:
            u = w
        if a[k] > 0:
            v = w
        k += 1
    return u, v, u is v, w is u, w is v


def two_names_of_one_view_or_none(a, n):
    u, v = a[:], a[:]
    for _k in range(n):
        u = v = a[:]
    return u, v, u is v


def three_names_asked_in_a_while(a, n):
    u = v = w = a[:]
    c = k = 0
    while k < n:
        t = a[:]
        c += (u is v) + 10 * (u is w) + 100 * (w is v)
        if a[k] > 1:
            u = t
            w = v
        elif a[k] > 0:
            v = t
        else:
            u = v = t
        k += 1
    return u, v, w, c


def views_exchanged_and_replaced(a, n):
    u, v = a[:], a[:]
    z = u
    k = 0
    while k < n:
        if a[k] > 0:
            u, v = v, u
        if a[k] > 1:
            v = a[:]
        elif a[k] == 0:
            u = v
        k += 1
    return u, v, z, u is v, z is v


def a_view_first_bound_and_taken(a, n):
    u = a[:]
    for k in range(n):
        t = a[:]
        if a[k] > 1:
            u = t
    return u, t, u is t


def in_a_while_of_one_branch(a, n):
    u = v = a[:]
    if a[0] > 0:
        k = 0
        while k < n:
            t = a[:]
            if a[k] > 1:
                u = t
            if a[k] > 0:
                v = t
            k += 1
    for k in range(n):
        if a[k] == 0:
            u = v
        elif a[k] > 1:
            u, v = v, u
    return u, v, u is v, u is a


def items_of_a_list_asked(a, n):
    p = [a[:], a[:]]
    c = 0
    k = 0
    while k < n:
        t = a[:]
        if a[k] > 1:
            p[0] = t
        elif a[k] > 0:
            p[1] = p[0]
        c += p[0] is p[1]
        k += 1
    return p, c, p[0] is p[1]


def in_an_inner_loop(a, n):
    u = v = a[:]
    w = u
    for k in range(n):
        for j in range(n):
            t = a[:]
            if a[j] > 1:
                u = t
            if a[k] > 0:
                v = t
        if a[k] == 0:
            w = v
    return u, v, w, u is v, u is w, v is w


MADE = [
    views_of_an_iteration_passed_on, two_names_of_one_view_or_none, a_view_first_bound_and_taken, items_of_a_list_asked,
    one_view_for_three_names_by_the_path, three_names_asked_in_a_while, views_exchanged_and_replaced,
    in_a_while_of_one_branch, in_an_inner_loop,
]  # fmt: skip


@pytest.mark.parametrize("f", one_in(8, MADE))
@pytest.mark.slow
def test_c1_a_view_that_a_loop_makes_and_names_share_by_the_path(f):
    """Two names that held one view of an iteration held two, where another iteration or path had bound one of them;
    two that became one in each iteration were one also where none ran."""
    bufferized = tracebuf.bufferize(verify=True)(f)
    for first in ([0.0, 1, 2, 3], [2.0, 0, 0, 1], [1.0, 2, -1, 0]):
        for n in (3, 0, 1, 2):
            agree(bufferized, np.array(first), n)


@pytest.mark.slow
def test_s9_a_list_that_only_the_inner_loop_makes():
    """What the first attempt had learnt of the list's items was looked for in what the name held before the loop."""

    def f(n):
        t = np.empty(n + 1)
        t[...] = 1
        k = 0
        while k < 3:
            k += 1
            t = t.T
            m = 0
            while m < 3:
                m += 1
                both = [t for _ in range(2)]
                last = both[-1]
        return last.sum(axis=0)

    bufferized = tracebuf.bufferize(f)
    for n in (4, 0):
        agree(bufferized, n)
    climb(f, (4,), again=[(0,)])


@pytest.mark.parametrize("n", (2, 0, 1))
@pytest.mark.slow
def test_c1_the_last_round_of_a_while_binds_nothing(n):
    """It kept the view of the round before, which then was the array of before the loop."""

    def f(p, a, n):
        k = 0
        while k < n:
            p[1] = p[1].T
            k += 1
        p[0].append(1)
        return a.sum()

    a = np.arange(3.0)
    climb(f, ([[a * 2, a], a], a, n))


@pytest.mark.parametrize("n", (3, 0, 1))
def test_c1_an_array_of_before_passed_from_name_to_name(n):
    """The second name to hold it held another array, as the first did not know it at the head."""

    def f(p, a, n):
        x = p[0]
        p[0] = a[:]
        for _ in range(n):
            p.pop()
            p.insert(0, x)

    a = np.arange(5)
    climb(f, ([a, a], a, n))


@pytest.mark.slow
@pytest.mark.parametrize("n", (2, 1, 0))
def test_c1_a_view_of_one_of_two_arrays_is_not_it(n):
    """A name that held one of two arrays or, by another path, a view of it was taken to hold the array on both; and
    names that exchanged the two held the array or the view, whichever came first."""

    def by_the_path(p, a, n):
        x = p[0] if a[0] > 1 else p[1]
        y = x.T if a[1] > 1 else x
        return x, y, x is y

    def exchanged(p, a, n):
        x = p[0] if a[0] > 1 else p[1]
        y = x.T
        for _ in range(n):
            x, y = y, x
        return x, y

    for f in (by_the_path, exchanged):
        for a in ([0, 0], [5, 0], [0, 5], [5, 5]):
            climb(f, ([np.ones(3), np.zeros(3)], np.array(a), n))


@pytest.mark.slow
@pytest.mark.parametrize("n", slow_but((3,), (3, 2, 1)))
def test_s9_names_that_exchange_views_beside_one_first_bound_in_the_loop(n):
    """The attempt that did not know yet how to carry `t` planned to tell at the head which view a name holds; after the
    loop the names then were what they are in it, where their flags are not in scope."""

    def f(a, b):
        r, w = a.T, 0
        while w < 2:
            for _ in b:
                t = r + a
                a, r = r, a
            r[:1] = t[:1]
            w += 1
        a -= 1
        return a, r, a is r

    strategies = [s for s in STRATEGIES if n > 1 or s.strategy != "optimal"]  # of one element its search takes long
    climb(f, (np.arange(3.0), np.ones(n)), again=[(np.arange(4.0), np.ones(n + 1))], strategies=strategies)


def one_of_three_views(b, g, n):
    t, u = b[1:], b[:2]
    for k in range(n):
        for x in (t, b, u):
            if x[0] > g[k]:
                break
    return x, t, u, x is b


def one_of_two_views_twice(b, g, n):
    t = b[1:]
    for k in range(n):
        x = t
        if g[k] > 1:
            x = b
    for k in range(n):
        y = x
        if g[k] == 1:
            y = t
    return x, y, y is x, y is b, x is t


def a_view_or_its_array_made_in_the_loop(b, g, n):
    for k in range(n):
        v = b + k
        w = v[1:]
        x = v if g[k] > 1 else w
    return x, v, w


def bound_by_an_expression(b, g, n):
    t = b[1:]
    for k in range(n):
        x = t if g[k] > 1 else b
    return x, t


def passed_on_from_inner_loops(b, g, n):
    t = b[1:]
    for k in range(n):
        for j in range(n):
            x = b if g[j] > 1 else t
        y = t if g[k] > 1 else x
    return y, x


def in_one_branch(b, g, n):
    t, x = b[1:], None
    if g[0] > 0:
        for k in range(n):
            x = t if g[k] > 1 else b
    return x, t


def in_a_while(b, g, n):
    t, k = b[1:], 0
    while k < n:
        x = b if g[k] > 1 else t
        k += 1
    return x, x is b


def items_of_a_new_list(b, g, n):
    t = b[1:]
    for k in range(n):
        x = t
        if g[k] > 1:
            x = b
        p = [x, b]
    return p, p[0] is x, p[0] is b


def put_into_a_list(b, g, n):
    t = b[1:]
    p = [t, t]
    for k in range(n):
        p[0] = b if g[k] > 1 else t
    return p, p[0] is t


def stored_through(b, g, n):
    t = b[1:]
    for k in range(n):
        x = b if g[k] > 1 else t
        x[0] += 1
    return x


VIEW_OR_ARRAY = [
    one_of_three_views, one_of_two_views_twice, a_view_or_its_array_made_in_the_loop, bound_by_an_expression,
    passed_on_from_inner_loops, in_one_branch, in_a_while, items_of_a_new_list, put_into_a_list, stored_through,
]  # fmt: skip


def agree_by_each_path(f):
    bufferized = tracebuf.bufferize(f)
    for path in ([0, 2, 1], [2, 0, 0], [1, 2, 2], [2, 1, 0]):
        for n in (2, 0, 1, 3):
            agree(bufferized, np.array([1, 3, 2]), np.array(path), n)


@pytest.mark.parametrize("f", one_in(5, VIEW_OR_ARRAY))
def test_c1_an_array_or_a_view_of_it_that_a_loop_binds(f):
    """The last iteration took one or the other by its path: after the loop it was a view, an object of its own."""
    agree_by_each_path(f)


@pytest.mark.slow
@pytest.mark.parametrize("f", VIEW_OR_ARRAY)
def test_c1_an_array_or_a_view_of_it_that_a_loop_binds_on_every_rung(f):
    climb(f, (np.array([1, 3, 2]), np.array([0, 2, 1]), 2), again=[(np.array([1, 3]), np.array([2, 0]), 2)])


def bound_anew_by_the_path(b, g, n):
    t = b[1:]
    x = t if g[0] > 1 else b
    for k in range(n):
        x = t if g[k] > 0 else b
    return x


def kept_by_a_last_iteration(b, g, n):
    t = b[1:]
    x = t if g[0] > 1 else b
    for k in range(n):
        if g[k] > 0:
            x = b if g[k] > 1 else t
    return x, t


def given_back_what_it_held(b, g, n):
    v = b[:]
    x = v
    for k in range(n):
        x = b[:] if g[k] > 0 else v
    return x, v, x is v


def given_back_or_kept(b, g, n):
    v = b[:]
    x, k = v, 0
    while k < n:
        if g[k] > 1:
            x = b[:]
        elif g[k] > 0:
            x = v
        k += 1
    return x, v, x is v


def kept_where_another_loop_chose(b, g, n):
    t = b[1:]
    x = b
    for k in range(n):
        for j in range(k):
            if g[j] > 0:
                x = t if g[k] > 1 else b
    return x, t, x is b


def skipped_by_continue(b, g, n):
    t = b[1:]
    x = t
    for k in range(n):
        if g[k] == 0:
            continue
        x = b if g[k] > 1 else t
    return x


def bound_first_and_left_by_break(b, g, n):
    t = b[1:]
    for k in range(n):
        if g[k] == 0:
            break
        x = b if g[k] > 1 else t
    return x


def one_of_two_arguments_or_a_view(b, g, n):
    t, c = b[1:], g[:]
    x = c if n > 1 else g
    for k in range(n):
        if b[k] > 1:
            x = g
        elif b[k] == 1:
            x = c
    return x, t


KEPT = [
    kept_by_a_last_iteration, bound_anew_by_the_path, kept_where_another_loop_chose, given_back_or_kept,
    given_back_what_it_held, skipped_by_continue, bound_first_and_left_by_break, one_of_two_arguments_or_a_view,
]  # fmt: skip


@pytest.mark.parametrize("f", one_in(4, KEPT))
def test_c1_which_of_two_objects_of_before_the_loop_a_name_keeps(f):
    """An iteration that kept what one before it had chosen, or gave back the object of before the loop, left an object
    of its own."""
    agree_by_each_path(f)


@pytest.mark.slow
@pytest.mark.parametrize("f", KEPT)
def test_c1_which_of_two_objects_a_name_keeps_on_every_rung(f):
    climb(f, (np.array([1, 3, 2]), np.array([1, 2, 0]), 3), again=[(np.array([1, 3]), np.array([2, 0]), 2)])


@pytest.mark.slow
def test_c1_one_argument_by_two_names_beside_a_view_of_it():
    """After the loop none of the names was the argument."""

    def f(b, c, g, n):
        t = b[1:]
        for k in range(n):
            for x in (t, b, c):
                if g[k] > x[0]:
                    break
        return x, x is b, x is c

    bufferized = tracebuf.bufferize(verify=True)(f)
    b = np.array([1, 3, 2])
    for other in (b, b.copy()):
        for path in ([0, 2], [4, 0], [2, 4]):
            for n in (2, 1):
                agree(bufferized, b, other, np.array(path), n)


@pytest.mark.slow
def test_c1_an_array_in_donated_memory_or_a_view_of_it():
    """The view and the array are made in the memory of an argument that is given up."""

    def f(b, g, n):
        c = b * 2
        t = c[1:]
        for k in range(n):
            x = c if g[k] > 1 else t
        return x, c

    bufferized = tracebuf.bufferize(f, donate=["b"])
    for path in ([0, 2], [2, 0]):
        for n in (1, 2):
            b = np.array([1, 3, 2])
            want, got = f(b, path, n), bufferized(b.copy(), np.array(path), n)
            assert (got[0] is got[1]) == (want[0] is want[1]), (path, n)
            assert np.array_equal(got[0], want[0]) and np.shares_memory(*got)


def a_view_then_the_argument(b, g, n):
    x = b[1:]
    for _k in range(n):
        x = b
    return x


def a_view_in_each_iteration_of_the_outer_loop(b, g, n):
    t = b[1:]
    for _k in range(3):
        x = b[1:]
        for _j in range(n):
            x = t
    return x, t


@pytest.mark.parametrize("f", [a_view_then_the_argument, slow(a_view_in_each_iteration_of_the_outer_loop)])
def test_c1_a_view_of_its_own_that_a_loop_of_no_iterations_keeps(f):
    """Nothing else held the view, so nothing was carried that said whether the name held it still: the result was the
    array that an iteration would have bound, of another shape even."""
    agree_by_each_path(f)
    climb(f, (np.array([1, 3, 2]), np.array([0, 2, 1]), 0), again=[(np.array([1, 3, 2]), np.array([2, 0, 1]), 2)])


@pytest.mark.slow
def test_c1_what_another_name_held_by_the_path_before_the_loop():
    """Of what `z` had held by one path or another, the loop knew the objects that some name held on all paths."""

    def f(b, g, n):
        x, y = b[1:], b
        for k in range(n):
            if g[k] > 0:
                z = y
            y = x[:]
        k = 0
        while k < n:
            x = z
            k += 1
        return x, z, x is z, x is b

    bufferized = tracebuf.bufferize(f)
    for path in ([1, 0, 1], [2, 1, 0], [1, 0, 0]):
        for n in (2, 0, 1, 3):
            agree(bufferized, np.array([1, 3, 2]), np.array(path), n)


def two_arguments_exchanged_then_viewed(a, b, n):
    for _k in range(n):
        for _j in range(n):
            a, b = b, a
        b = b[:]
    return a, b


def a_view_handed_to_the_other_name(a, b, n):
    for _k in range(n):
        a, b = b[:], a
    return a, b


@pytest.mark.parametrize("f", [two_arguments_exchanged_then_viewed, a_view_handed_to_the_other_name])
def test_c1_names_that_exchange_arguments_and_views_of_them(f):
    """After two iterations the arrays are the first ones again, but not their objects: a new view counted as the
    argument that it shows, where the name that took it had begun as a view that nothing else held."""
    bufferized = tracebuf.bufferize(verify=True)(f)
    for n in (3, 0, 1, 2, 5):
        agree(bufferized, np.arange(4.0), np.ones(4), n)


def conditions_through_functions(b, c):
    t = b.max() < 1
    u = np.abs(t)
    for i in range(len(b)):
        if np.abs(math.isnan(b[i])) + (b[i] < 1):
            c = c + 1
        elif np.abs(b[i] < 1) != np.logical_not(t):
            c = c * 2
    return c, u, np.abs(t) != 0, t


@pytest.mark.slow
def test_a_condition_that_a_function_gives_back() -> None:
    """np.abs of a bool is that bool: its comparison was taken for a later one like itself, and removed."""
    for b in ([0.5, 2, np.nan], [0.5, 0.25], [3.0]):
        climb(conditions_through_functions, (np.array(b), np.ones(2)))


def exchanged_as_often_as_the_data_say(b, c, a):
    t = int(a[0])
    for _ in range(3):
        for _ in range(t):
            c[0] += -1
            c = b
            b = -c
    return c


def exchanged_while_the_data_say(b, c, a):
    t = a[0]
    for _ in range(3):
        k = 0
        while k < 3 and t < 3:
            c = b
            b = -c
            k += 1
    c += 1
    return c


def exchanged_and_then_left_by_the_data(b, c, a):
    t = int(a[0])
    for _ in range(3):
        for _ in range(t):
            c = b
            b = -c
    for j in range(3):
        c += b
        if b[0] > 1:
            break
        b = b * j
    return c


@pytest.mark.parametrize(
    ("f", "most"),
    [(exchanged_as_often_as_the_data_say, 6), (exchanged_while_the_data_say, 9),
     (exchanged_and_then_left_by_the_data, 8)],
)  # fmt: skip
@pytest.mark.cases(3)
def test_a_condition_that_is_asked_again_is_known(f, most):
    """Each round of the outer loop asks whether the inner one runs: names were one of more and more arrays for it, and
    were copied (14 allocations for eager's 8)."""
    args = np.array([4.0, 5, 6])[::-1], np.array([1.0, 2, 3]), np.array([2.0])
    counters = tracebuf.bufferize(f).call_counted(*map(np.copy, args))[1]
    assert counters.copies == 0
    assert counters.allocations <= most, "eager's"
    climb(f, args, again=[(*args[:2], np.array([x])) for x in (0.0, 1.0, 4.0)])


def named_in_the_loop_and_returned(x, n):
    old = x
    for _ in range(n):
        if old[0] < 0.3:
            return old
        new = old * 0.5
        old = new
    return new


def named_in_the_loop_and_left(x, n):
    old = x
    for _ in range(n):
        if old[0] < 0.3:
            break
        new = old * 0.5
        old = new
    new[0] = 9
    return new, old, new is old


def named_in_two_loops(x, n):
    total = 0.0
    for k in range(3):
        old = x
        for _ in range(n):
            if old[0] < 0.3 * k:
                break
            new = old * 0.5
            old = new
        total += new.sum() + old[0]
    return total, new is old


def named_in_a_while(x, n):
    old, k = x, 0
    while True:
        if old[0] < 0.3 or k > n:
            break
        new = old - 0.25
        step = new - old
        old = new
        k += 1
    return new, step, old is new


@pytest.mark.slow
@pytest.mark.parametrize(
    "f", [named_in_the_loop_and_returned, named_in_the_loop_and_left, named_in_two_loops, named_in_a_while]
)
def test_a_name_that_is_first_bound_in_a_loop_that_is_left(f):
    """It was refused where it names the array that is carried on: unbound on the path that leaves at once."""
    bufferized = tracebuf.bufferize(verify=True)(f)
    for start in (4.0, 0.5, 1.0):
        for n in (4, 1, 2, 7):
            agree(bufferized, np.array([start, 3.0]), n)
    for start, n in ((0.1, 4), (4.0, 0)):
        agree(bufferized, np.array([start, 3.0]), n)
    climb(f, (np.array([4.0, 3.0]), 5), again=[(np.array([1.0, 3.0]), 5)])
