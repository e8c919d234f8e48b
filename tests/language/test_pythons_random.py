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
from tests.support.params import one_in, some
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


def sampled(n, k):
    words = ["a", "b", "c", "d"]
    few = random.sample(words, 2), random.sample("abcdef", 3), random.choice(words), random.choice("xyz")
    return random.sample(range(n), k), random.sample(range(3, 3 * n, 3), k), few


def chosen(x, n):
    coins = ["head", "tail"]
    drawn = random.choices(coins, k=n), random.choices(x, k=4)
    heads = 0
    for _ in range(n):
        if random.choice(coins) == "head":
            heads += 1
        heads += random.choices(range(len(x)), weights=x + 1)[0]
    weighted = random.choices([1, 2.5, 3], weights=[5, 1, 1], k=n), random.choices(coins, [0.25, 0.75])[0]
    return drawn, weighted, random.choices(range(10), cum_weights=list(range(1, 11)), k=3), heads


def reversed_tour(n):
    tour = list(range(n))
    random.shuffle(tour)
    i, j = sorted(random.sample(range(n), 2))
    tour[i : j + 1] = tour[i : j + 1][::-1]
    return tour


def too_many(n):
    return random.sample(range(3), n)


def of_array(x):
    return random.sample(x, 1)


def weighted_by(w):
    return random.choices([1, 2], w)


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


def made(n, seed):
    rng, total = random.Random(seed), 0.0
    for _ in range(n):
        total += rng.random() + rng.randint(1, 6) + rng.gauss(0, 1) + rng.uniform(-1, 1)
        if rng.random() < 0.3:
            total += rng.choice([1, 2, 5])
    listed = list(range(n))
    rng.shuffle(listed)
    kept = rng.betavariate(1, 2), rng.lognormvariate(0, 1), isinstance(rng, random.Random)
    return total, listed, rng.sample(range(n), 3), kept, random.paretovariate(2)


def by_path(n):
    first, second, total = random.Random(1), random.Random(2), 0
    for _ in range(n):
        total += (first if total % 2 else second).randrange(10)
    first.seed(5)
    return total, first.random(), random.random(), first.gauss()


class Walker:
    def __init__(self, rng):
        self.rng = rng
        self.step()

    def step(self):
        self.x = self.rng.uniform(0, 1), self.rng.uniform(0, 1)


def walkers(seed):
    rng = random.Random(seed)
    all_of_them = [Walker(rng) for _ in range(4)]
    for each in all_of_them:
        each.step()
    return np.array([each.x for each in all_of_them])


def alone(n):
    return random.randint(0, n), random.choice(np.arange(n))


PROGRAMS = [
    (inside, 700), (ints, 60), (walk, np.arange(20.0), 30), (distributions, 50), (annealed, 3.0, 200), (seeded, 5),
    (alone, 3), (alone, 0), (alone, -3), (sampled, 10, 4), (sampled, 1000, 4), (sampled, 5000, 200), (sampled, 100, 0),
    (chosen, np.arange(5.0), 6), (chosen, np.arange(5.0), 60), (reversed_tour, 10), (too_many, 5), (too_many, -1),
    (made, 20, 7), (made, 5, -(2**70)), (made, 5, "a text"), (made, 5, 1.5), (by_path, 30), (walkers, 3),
    (of_array, np.arange(3)), (weighted_by, [0, 0]), (weighted_by, [1, 2, 3]), (weighted_by, [1, math.inf]),
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


@pytest.mark.parametrize("f, args", one_in(16, [(f, args) for f, *args in PROGRAMS], rows=True))
def test_numbers_and_states_are_eagers(f: Callable[..., Any], args: list[Any]) -> None:
    for options in some(3, ({}, {"strategy": "copy-before-write"}, {"heuristic": "top-down"})):
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


def test_generators_made_inside_stay_there() -> None:
    def returned(n):
        return random.Random(n)

    def unknown(n):
        return random.Random(n).getstate()

    assert "a generator of Python's `random` is returned" in str(refused(returned, 3))
    assert "random.getstate" in str(refused(unknown, 3))


def test_another_layout_has_no_formulas() -> None:
    class Other(random.Random):
        pass

    assert twister.state_of(Other()) is None


OUTER = random.Random(7)


def from_outside(rng, n):
    x = [rng.random() for _ in range(3)]
    for _ in range(n):
        x.append(rng.uniform(-1, 1) + rng.gauss(0, 2))
    y = list(range(n))
    rng.shuffle(y)
    return x, y, rng.choice(y), rng.sample(range(n), 2), rng.randint(3, 9), rng.getrandbits(9)


def seeded_outside(rng, n):
    rng.seed(n)
    return rng.gauss(0, 1), [rng.expovariate(2.0) for _ in range(2)], rng.betavariate(1, 2)


class Drawing:
    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.places = np.zeros(3)

    def step(self):
        k = self.rng.randrange(3)
        self.places[k] += self.rng.random()
        return k


def by_attribute(drawing, n):
    return [drawing.step() for _ in range(n)]


@pytest.mark.parametrize("f", one_in(2, [seeded_outside, from_outside]))
def test_generators_from_outside(f: Callable[..., Any]) -> None:
    """A random.Random that is passed in is drawn from as eager's, call after call."""
    g, ours, theirs = tracebuf.bufferize(f), random.Random(3), random.Random(3)
    for n in (5, 6, 5):
        same(g(ours, n), f(theirs, n), 0, "result")
        assert ours.getstate() == theirs.getstate()


@pytest.mark.slow
def test_generators_that_are_captured() -> None:
    def f(n):
        return [OUTER.gauss(0, 1) for _ in range(n)], OUTER.random()

    g, before = tracebuf.bufferize(f), OUTER.getstate()
    got, after = [g(3), g(3)], OUTER.getstate()
    OUTER.setstate(before)
    same(got, [f(3), f(3)], 0, "results")
    assert OUTER.getstate() == after


@pytest.mark.slow
def test_generators_of_objects() -> None:
    ours, theirs, g = Drawing(1), Drawing(1), tracebuf.bufferize(by_attribute)
    for _ in range(2):
        same(g(ours, 4), by_attribute(theirs, 4), 0, "result")
    assert ours.rng.getstate() == theirs.rng.getstate() and np.array_equal(ours.places, theirs.places)
