"""`with` of the user's own contexts: classes with `__enter__` and `__exit__`, and contextlib.contextmanager."""

from __future__ import annotations

import contextlib
import time
import warnings
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

from tests.support.agreement import agree, program, refused
from tracebuf.testing.ladder import climb


@contextmanager
def restored(a):
    old = a.copy()
    try:
        yield old
    finally:
        a[:] = old


@contextmanager
def logged(log, name):
    log.append("in " + name)
    yield
    log.append("out " + name)


@contextmanager
def quiet():
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


class Count:
    def __init__(self, log):
        self.log, self.n = log, 0

    def __enter__(self):
        self.n += 1
        return self

    def __exit__(self, exc_type, exc, tb):
        self.log.append(self.n)


class Asks:
    def __init__(self):
        self.failed = False

    def __enter__(self):
        return self

    def __exit__(self, t, v, tb):
        self.failed = t is not None
        return False


def returns(a, s):
    with restored(a) as old:
        a *= 2
        return a.sum() + old[0]


def returns_on_a_path(a, s):
    with restored(a):
        a *= 2
        if a.sum() > s:
            return a.max()
        a += 1
    return a.sum()


def raises(a, s):
    with restored(a):
        a *= 2
        if a.sum() > s:
            raise ValueError("large")
        a += 1
    return a.sum()


def raises_and_catches(a, s):
    try:
        with restored(a):
            a *= 2
            if a.sum() > s:
                raise ValueError("large")
            a += 1
    except ValueError:
        return -a.sum()
    return a.sum()


def nested(a, s):
    log = []
    with logged(log, "x"):
        with logged(log, "y"):
            t = a.sum()
    return log, t


def two_at_once(a, s):
    log = []
    with logged(log, "x"), logged(log, "y"):
        t = a.sum()
    return log, t


def skips_what_follows(a, s):
    log = []
    try:
        with logged(log, "x"):
            if a.sum() > s:
                raise ValueError("x")
    except ValueError:
        log.append("caught")
    return log


def without_warnings(a, s):
    with quiet():
        r = np.log(a) / a
    return r


def in_a_loop(a, s):
    log = []
    c = Count(log)
    for k in range(3):
        with c:
            if k == 1:
                continue
            a[k] += 1
    return log, c.n


def left_by_break(a, s):
    log = []
    for k in range(len(a)):
        with Count(log):
            if a[k] > 3:
                break
    return k


def asks_nothing_raised(a, s):
    with Asks() as c:
        t = a.sum()
    return t, c.failed


def looks_at_what_is_raised(a, s):
    with Asks() as c:
        t = a[int(s)]
    return t, c.failed


def in_a_loop_over_data(a, s):
    t = 0.0
    for x in a:
        with restored(a):
            a += x
            t += a.sum()
    return t


def suppressed_around(a, s):
    log = []
    with contextlib.suppress(ValueError), Count(log):
        if a.sum() > s:
            raise ValueError("x")
        a[0] = 5
    return log, a


class Timer:
    def __enter__(self):
        self.start = time.perf_counter()
        return self

    def __exit__(self, *args):
        self.elapsed = time.perf_counter() - self.start


def timed(a, s):
    with Timer() as t:
        r = a.sum()
    return r, t.elapsed >= 0


@contextmanager
def seeded(seed):
    rng = np.random.default_rng(seed)
    yield rng


def seeded_numbers(a, s):
    with seeded(5) as rng:
        return a + rng.random(len(a))


@contextmanager
def handles(log):
    try:
        yield
    except ValueError:
        log.append(1)


def catches_what_is_raised(a, s):
    log = []
    with handles(log):
        if a.sum() > s:
            raise ValueError("x")
    return log


def raises_on_entry(a, s):
    log = []
    try:
        with Count(log), restored(a[int(s):][:0] if s < 3 else a.reshape(5, 7)):
            pass
    except ValueError:
        log.append(-1)
    return log


def changed_inside(a, s):
    log = []
    with Count(log) as c:
        if a.sum() > s:
            c.n += 10
    return log, c.n


CONTEXTS = (returns, returns_on_a_path, raises, raises_and_catches, nested, two_at_once, skips_what_follows,
            without_warnings, in_a_loop, left_by_break, asks_nothing_raised, in_a_loop_over_data,
            suppressed_around, timed, seeded_numbers, raises_on_entry, changed_inside)  # fmt: skip


@pytest.mark.parametrize("f", CONTEXTS)
@pytest.mark.parametrize("args", [(np.arange(12.0), 13.0), (np.arange(6.0), 2.0), (np.arange(6.0), 100.0)])
def test_contexts(f: Any, args: Any) -> None:
    agree(f, *args)


@pytest.mark.slow
@pytest.mark.parametrize("f", [returns_on_a_path, nested, in_a_loop_over_data])
def test_on_every_rung(f: Any) -> None:
    climb(f, (np.arange(6.0), 100.0), tolerance=1e-12)


@pytest.mark.parametrize("f", [looks_at_what_is_raised, catches_what_is_raised])
def test_refused(f: Any) -> None:
    assert "`with`" in refused(f, np.arange(6.0), 2.0).reason


def test_a_context_that_is_made_where_no_module_is() -> None:
    source = """
@contextmanager
def noted(items, x):
    items.append(x)
    yield items
    items.append(-x)

def f(a):
    out = []
    with noted(out, a[0]) as o:
        o.append(a[1])
    return out
"""
    f = program(source, contextmanager=contextmanager)
    assert f.__module__ is None
    agree(f, np.arange(3.0) + 1)
