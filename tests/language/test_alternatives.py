"""Loops whose names hold None or a number, or numbers of several types, depending on the path (rules S8, S10)."""

import numpy as np
import pytest

from tests.support.agreement import agree
from tracebuf import bufferize
from tracebuf.testing.ladder import climb


def bisection(square, high, rounds):
    low = 0
    for _ in range(rounds):
        middle = (low + high) / 2
        if middle * middle > square:
            high = middle
        else:
            low = middle
    return low, high


def the_last_above(a, n):
    found = None
    for i in range(n):
        if a[i] > 0.5:
            found = i
    return found


def gaps(a, n):
    before = None
    total = 0
    for i in range(n):
        if a[i] > 0.5:
            if before is not None:
                total += i - before
            before = i
        elif a[i] < 0.2:
            before = None
    return total, before


def three_types(a, n):
    x = 1
    for i in range(n):
        if a[i] > 0.7 and x is not None:
            x = x * 1.5
        elif a[i] < 0.3:
            x = None
        elif x is None:
            x = 2
    return x


def without_none(a, n):
    x = 1
    for i in range(n):
        if a[i] < 0.1:
            x = None
        else:
            x = x + i
    return x


def pairs_of_loops(a, n):
    k = None
    for i in range(n):
        for j in range(n):
            if a[i] * a[j] > 0.6:
                k = j
            elif k is not None and a[j] < 0.1:
                k = None
    return k


def in_a_dict(a, n):
    d = {"k": None}
    for i in range(n):
        if a[i] > 0.5:
            d["k"] = i
    return d["k"]


def the_best(a, n):
    i = 0
    best = None
    while i < n:
        if best is None or a[i] > best:
            best = a[i]
        i += 1
        if a[i - 1] > 0.9:
            break
    return best, i


def flag_or_count(a, n):
    flag = False
    for i in range(n):
        if a[i] > 0.8:
            flag = 1
        elif a[i] > 0.5:
            flag = True
    return flag


LOOPS = [the_last_above, gaps, three_types, without_none, pairs_of_loops, in_a_dict, the_best, flag_or_count]


@pytest.mark.parametrize("f", LOOPS, ids=lambda f: f.__name__)
@pytest.mark.cases(3)
def test_a_loop_carries_none_or_a_number(f):
    """It was refused, or its first iterations were traced by themselves."""
    g = bufferize(verify=True)(f)
    for n in (0, 1, 2, 3, 5, 9, 17, 40):
        agree(g, np.random.default_rng(n).random(n), n)


def test_a_loop_carries_an_int_or_a_float():
    """As a bisection does, whose bounds begin as ints; they stay ints where they do not move."""
    g = bufferize(verify=True)(bisection)
    for args in ((2.0, 2, 20), (3.0, 3, 7), (0.5, 1, 0), (2.0, 2.0, 5), (9.0, 3, 4)):
        agree(g, *args)


@pytest.mark.slow
@pytest.mark.parametrize("f", LOOPS, ids=lambda f: f.__name__)
def test_a_loop_carries_none_or_a_number_on_every_rung(f):
    draw = np.random.default_rng(1).random
    climb(f, (draw(9), 9), alike=[(draw(9), 9)], again=[(draw(5), 5), (draw(40), 40)])


def test_what_is_raised_has_the_type_of_the_path():
    """The text of a number of several types was refused, by a name of the tracer's."""

    def f(a, k):
        n = None
        for i in range(k):
            if a[i] > 0.5:
                n = i
        if n is None or a[n] > 0.9:
            raise ValueError(n)
        return a[n]

    g = bufferize(verify=True)(f)
    for values in ([0.0, 0.6], [0.0, 0.95], [0.1, 0.2], [0.7, 0.3]):
        want = agree(g, np.array(values), 2)
        if isinstance(want, ValueError):
            with pytest.raises(ValueError) as found:
                g(np.array(values), 2)
            assert found.value.args == want.args


@pytest.mark.slow
def test_squeezed_where_only_the_run_time_knows_whether_an_axis_has_one_element():
    def f(a, b):
        i = np.where(a.ravel() == b[0, 0])[0].squeeze()
        k = int(b[0, 0])
        x = a[None, : k + 1, :1].squeeze()
        x += 1
        if i.size == 1:
            return a.ravel()[i] + x.ndim, np.squeeze(a[:k]) * 2
        return i, a[:, : k + 1][:1].squeeze(), x

    a = np.arange(12.0).reshape(3, 4)
    climb(f, (a, a + 1), alike=[(a, a + 2), (a, a + 30), (a, a.copy()), (a, a + 9.5)])


@pytest.mark.slow
def test_items_of_a_tuple_that_are_of_one_type_or_another():
    """What takes the tuple is traced once for each."""

    def parts(z):
        m = abs(z.imag) <= 0.5
        zr = z[m].real
        if len(zr) == len(z):
            return np.array([]), zr
        return z[~m], zr

    def f(a, b):
        x = (a[0] if b[0, 0] > 0 else 2, 3 if b[0, 1] > 3 else 2.5)
        z = np.concatenate(parts(a[1] + b[0] * 1j))
        return z, np.multiply(*x), len(x), max((1 if b[0, 0] > 0 else 2.5, 2)), np.stack((x[0] * a[1], a[0]))

    a = np.arange(12.0).reshape(3, 4)
    climb(f, (a, a.copy()), alike=[(a, a + 1), (a, a * 0), (a, a + 5)])
