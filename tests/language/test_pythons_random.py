"""Python's `random`: the module's own generator gives eager's numbers, and is in eager's state afterwards."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from random import choice, randint
from typing import Any

import numpy as np
import pytest

import tracebuf
from tests.support.agreement import refused, same
from tests.support.params import one_in
from tracebuf.frontends.numpy.functions.formulas import twister


def inside(n):
    count = 0
    for _ in range(n):
        x = random.random()
        y = random.uniform(-1, 1)
        if x * x + y * y <= 1:
            count += 1
    return 4 * count / n


def ints(n):
    total = 0
    for _ in range(n):
        total += randint(1, 6) * random.randrange(10) + random.randrange(3, 90, 7) - random.randrange(n, 9, -n // 9)
    return total, random.getrandbits(7), random.getrandbits(40), random.randint(0, 2**40)


def walk(x, n):
    places = [0]
    for _ in range(n):
        places.append(places[-1] + choice([-1, 1]))
        x[random.choice(range(len(x)))] += 1
    random.shuffle(x)
    listed = list(range(n))
    random.shuffle(listed)
    return places, x, choice(x), listed


def distributions(n):
    total = 0.0
    for _ in range(n):
        total += random.gauss(0, 1) + random.normalvariate(1, 2) + random.expovariate(1.5)
        total += random.triangular(0, 3, 1) + random.triangular()
    return total


def annealed(x, n):
    best, t = x, 10.0
    for _ in range(n):
        y = x + random.uniform(-1, 1)
        if y * y < x * x or random.random() < math.exp(-(y * y - x * x) / t):
            x = y
        if x * x < best * best:
            best = x
        t *= 0.99
    return best


def seeded(n):
    random.seed(n)
    first = random.random()
    random.seed(7)
    return first, random.random(), random.gauss(0.5, 2)


def alone(n):
    return random.randint(0, n), random.choice(np.arange(n))


PROGRAMS = [
    (inside, 700), (ints, 60), (walk, np.arange(20.0), 30), (distributions, 50), (annealed, 3.0, 200), (seeded, 5),
    (alone, 3), (alone, 0), (alone, -3),
]  # fmt: skip


def outcome(f: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    random.seed(11)
    random.gauss(0, 1)  # of two numbers that it makes it keeps the second
    given = [x.copy() if isinstance(x, np.ndarray) else x for x in args]
    try:
        result = f(*given)
    except Exception as error:
        return type(error)  # rule C3: what it stored is not specified
    return result, random.getstate(), given


@pytest.mark.parametrize("f, args", one_in(3, [(f, args) for f, *args in PROGRAMS], rows=True))
def test_numbers_and_states_are_eagers(f: Callable[..., Any], args: list[Any]) -> None:
    for options in ({}, {"strategy": "copy-before-write"}, {"heuristic": "top-down"}):
        same(outcome(tracebuf.bufferize(**options)(f), tuple(args)), outcome(f, tuple(args)), 0, f"{f} {options}")


def test_eager_draws_go_on_where_compiled_ones_end() -> None:
    @tracebuf.bufferize
    def drawn(n):
        total = 0.0
        for _ in range(n):
            total += random.random()
        return total

    random.seed(3)
    expected = sum(random.random() for _ in range(400)), random.random(), sum(random.random() for _ in range(900))
    random.seed(3)
    assert (drawn(400), random.random(), drawn(900)) == expected


def test_functions_of_the_users_may_draw_too() -> None:
    def before(n):
        return tracebuf.host_call(np.ones, 3, result_shape=3), random.random()

    def behind(n):
        return random.random(), tracebuf.host_call(np.ones, 3, result_shape=3)

    for f in (before, behind):
        assert "random" in str(refused(f, 3))


def test_another_layout_has_no_formulas() -> None:
    class Other(random.Random):
        pass

    assert twister.state_of(Other()) is None
