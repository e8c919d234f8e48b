"""Loops in chunks that are run a few iterations at a time: what they carry goes from each exchange to the next,
whatever they began with; and what else a call gives that is no chunk's alone."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tracebuf
from tests.dask.test_distribute import agree, listed
from tests.support.params import one_in, slow_but
from tests.support.perturb import check_cut
from tracebuf import bufferize
from tracebuf.errors import UnsupportedError

da = pytest.importorskip("dask.array")
pytest.importorskip("dask")

from tracebuf.dask import distribute  # noqa: E402

pytestmark = [
    pytest.mark.filterwarnings("ignore::tracebuf.errors.TracebufWarning"), pytest.mark.usefixtures("one_thread"),
]  # fmt: skip


def elapsed(u, n):
    t = 0.0
    for _ in range(n):
        u[1:-1] = 0.5 * (u[2:] + u[:-2])
        t += 0.1
    return t, u * 1


def decay(u, n):
    w = 1.0
    for _ in range(n):
        w *= 0.5
        u[1:-1] += w * (u[2:] - u[:-2])
    return u


def average(u, n):
    total = np.zeros_like(u)
    for _ in range(n):
        u[1:-1] = 0.5 * (u[2:] + u[:-2])
        total += u
    return total / max(n, 1)


def history(u, n):
    h = np.zeros((n, u.shape[0]))
    for k in range(n):
        u[1:-1] = 0.5 * (u[2:] + u[:-2])
        h[k] = u
    return h


def by_turns(u, n):
    odd = False
    for _ in range(n):
        if odd:
            u[1:-1] = 0.5 * (u[2:] + u[:-2])
        else:
            u[1:-1] = u[1:-1] - u[:-2]
        odd = not odd
    return u


def beside_its_start(u, n):
    v = u * 1
    w = v
    for _ in range(n):
        w = w + 0.1 * np.pad(v[2:] - w[:-2], 1)
    return w, v


def twice_the_same(u, n):
    v = w = u * 1
    for _ in range(n):
        v, w = w + np.pad(v[2:], (0, 2)), v - np.pad(w[:-2], (2, 0))
    return v - w


def two_buffers(u, n):
    t = np.zeros_like(u)
    for _ in range(n):
        t[1:-1] = 0.5 * (u[2:] + u[:-2])
        u, t = t, u
    return u


def both_buffers(u, n):
    t = u.copy()
    for _ in range(n):
        t[1:-1] = 0.5 * (u[2:] + u[:-2])
        u, t = t, u
    return u, t


@pytest.mark.parametrize("steps", slow_but([None, 2], [None, 1, 2, 3]))
@pytest.mark.parametrize(
    "f",
    one_in(
        3, [elapsed, decay, average, both_buffers, by_turns, beside_its_start, history, two_buffers, twice_the_same]
    ),
)
@pytest.mark.cases(9)
def test_what_a_loop_carries_goes_on(f: Callable[..., Any], steps: int | None) -> None:
    u = np.random.default_rng(0).standard_normal(40)
    for n in (0, 1, 2, 5) if f is not history else (1, 2, 5):
        for chunks in (10, 40):
            agree(f, [u, n], steps=steps, chunks=chunks)


@pytest.mark.slow
def test_loops_that_are_split_by_the_model_of_costs() -> None:
    u = np.random.default_rng(0).standard_normal((150, 150))
    for f in (elapsed, decay, two_buffers):
        agree(f, [u, 40], chunks=50)


@pytest.mark.slow
def test_what_the_function_raises_is_raised_for_each_result() -> None:
    def checked(a):
        assert a.max() < 0, "positive"
        return a * 2, a.sum(), a[0] * 1, a / a.sum()

    x = np.random.default_rng(0).standard_normal((12, 13))
    for chunks in (5, -1):
        for r in listed(distribute(checked)(da.from_array(x, chunks=chunks))):
            with pytest.raises(AssertionError, match="positive"):
                r.compute()
    agree(checked, [-1 - abs(x)], close=True)


WEIGHTS = np.array([0.25, 0.75])
PROFILE = np.linspace(0, 1, 39)
RATES = {"a": 3.0}


@pytest.mark.slow
def test_arrays_numbers_and_objects_from_outside() -> None:
    class Model:
        rate = 3.0

        def run(self, a):
            return a[1:] * self.rate

    u = np.random.default_rng(0).standard_normal(39)
    for f in (lambda u: u[1:] * WEIGHTS[0] + u[:-1] * WEIGHTS[1], lambda u: u * PROFILE, lambda u: u * RATES["a"]):
        agree(f, [u])
    found = distribute(bufferize(Model().run))(da.from_array(u, chunks=10))
    np.testing.assert_array_equal(found.compute(), u[1:] * 3.0)


@pytest.mark.slow
def test_one_result_or_another_by_path() -> None:
    def larger(a, b):
        return a if a.sum() > b.sum() else b

    def limited(a):
        return min(a.max(), 0.5)

    x, y = np.random.default_rng(0).standard_normal((2, 9, 8))
    agree(larger, [x, y], chunks=4)
    agree(larger, [y, x], chunks=4)
    found = distribute(limited)(da.from_array(x, chunks=4))
    assert float(found.compute()) == 0.5


@pytest.mark.slow
def test_sizes_that_a_condition_makes_known() -> None:
    table = np.array([[1.0, 2, 3], [0, 1, 0], [2, 0, 1]])

    def turned(a):
        return (a - a.mean(axis=0)) @ table

    def real(z):
        return z.real - z.real.mean()

    x = np.random.default_rng(0).standard_normal((9, 3))
    agree(turned, [x], close=True, chunks=(4, 3))
    agree(real, [x + 1j * x[::-1]], close=True, chunks=4)


def test_what_is_refused_of_results() -> None:
    def frames(u, n):
        found = []
        for _ in range(n):
            u = u * 0.5
            found.append(u)
        return found

    def kept(u, seen):
        seen.append(1)
        return u * 2

    u = da.ones(20, chunks=5)
    assert [x.compute()[0] for x in distribute(frames)(u, 3)] == [0.5, 0.25, 0.125]
    with pytest.raises(UnsupportedError, match="or a list that grows"):
        distribute(frames)(u, np.int64(3))
    with pytest.raises(UnsupportedError, match="kept changes a list"):
        distribute(kept)(u, [])
    with pytest.raises(UnsupportedError, match="dtype <U3 in chunks"):
        distribute(lambda s: s == "abc")(da.from_array(np.array(["abc", "def"]), chunks=1))


def test_cuts_of_results_by_their_places() -> None:
    def numbered(u):
        u += 1
        return u, u * 2, u.max(), u * 3

    def swapped(a, b, n):
        t = a + 1
        for _ in range(n):
            b, t = t, b
        return t

    def rolled_part(a):
        return np.roll(a[1:] * 1, 1)

    def steps(u, rates):
        for k in range(len(rates)):
            u[1:-1] += rates[k] * (u[2:] - u[:-2])
        return u

    u, v = np.random.default_rng(0).standard_normal((2, 20))
    assert list(bufferize(numbered).cut(u).results) == [f"result {k}" for k in range(4)]
    found = bufferize(swapped).cut(copy.copy(u), v, 1)
    assert found.pair("result", "b") is not None and list(found.results) == ["result"]
    assert str(bufferize(steps).cut(u, v[:5]).arguments["u"][0]) == "halo (5, 5)"
    with pytest.raises(UnsupportedError, match="hangs on the size"):  # of a spec no size is known
        bufferize(steps).cut(tracebuf.spec("f8[n]"), tracebuf.spec("f8[k]"))
    assert "reduced by maximum" in str(check_cut(bufferize(rolled_part), [u]).arguments["a"][0])  # its first place
    agree(rolled_part, [u], chunks=7)
