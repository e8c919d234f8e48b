"""Random numbers: eager's numbers, and eager's state of the generator afterwards."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tracebuf
from tests.support.agreement import agree, program, same
from tests.support.params import one_in
from tracebuf import bufferize

MAKERS: dict[str, Callable[[], Any]] = {
    "Generator": lambda: np.random.default_rng(7), "MT19937": lambda: np.random.Generator(np.random.MT19937(7)),
    "RandomState": lambda: np.random.RandomState(7),
}  # fmt: skip
BOTH = (
    "rng.normal()", "rng.normal(size=n)", "rng.normal(x, 2.0)", "rng.normal(a, 1.0)", "rng.normal(a, np.ones((2, n)))",
    "rng.uniform(-1, x, (n, 2))", "rng.random(n)", "rng.random()", "rng.standard_normal((2, n))", "rng.exponential(x)",
    "rng.poisson(3.0)", "rng.poisson(a + 1)", "rng.poisson(lam=a, size=(2, n))", "rng.binomial(n, 0.5, size=4)",
    "rng.gamma(2.0, size=())", "rng.beta(1.0, 2.0, n)", "rng.choice(n)", "rng.choice(n, size=2, replace=False)",
    "rng.choice(a)", "rng.choice(range(len(a)))", "rng.choice(range(3), 2)",
    "rng.choice(a, (2, 3))", "rng.choice(a, p=np.ones(n) / n)", "rng.choice([1, 2, 3], 2)",
    "rng.permutation(n)", "rng.permutation(a)", "rng.permutation(np.outer(a, a))", "rng.shuffle(a)",
    "rng.shuffle(a[::-1])", "rng.multivariate_normal(a[:2], np.eye(2), n)", "rng.dirichlet(a[:3] + 1)",
    "rng.multinomial(n, [0.5, 0.5], size=2)", "rng.hypergeometric(3, 4, 5)", "rng.triangular(0.0, 0.5, 1.0, n)",
    "rng.normal([0.0, x], 1.0)", "rng.geometric(0.5)", "rng.normal(loc=x, scale=np.float32(2), size=None)",
    "rng.uniform(a[0], a[1] + 1)", "rng.lognormal(size=a.shape)", "[rng.normal() for _ in range(3)]",
    "rng.normal() + rng.uniform()", "rng.normal(size=[n, 2])", "rng.vonmises(0.0, x)",
)  # fmt: skip
NEW = (
    "rng.integers(n)", "rng.integers(0, n, size=3)", "rng.integers(5, size=(n,), dtype=np.int8, endpoint=True)",
    "rng.integers(a.astype(int), 9)", "rng.random(n, dtype=np.float32)", "rng.standard_normal(dtype=np.float32)",
    "rng.permuted(np.outer(a, a), axis=1)", "rng.shuffle(a, axis=0)", "rng.integers(2, dtype=bool)",
    "rng.choice(a, 2, False, shuffle=False)", "rng.standard_exponential(n, method='inv')",
)  # fmt: skip
OLD = ("rng.rand()", "rng.rand(2, n)", "rng.randn(n)", "rng.randint(n)", "rng.randint(0, 9, n)", "rng.random_sample(n)")


def state(rng: Any) -> str:
    return str(rng.bit_generator.state if isinstance(rng, np.random.Generator) else rng.get_state(legacy=False))


def agrees(f: Any, make: Callable[[], Any], *rest: Any, times: int = 2) -> None:
    """Calls of `f(rng, ...)` give what eager gives, and leave the generator where eager leaves it."""
    g, mine, theirs = bufferize(verify=True)(f), make(), make()
    for _ in range(times):
        ours, eager = copy.deepcopy(rest), copy.deepcopy(rest)
        same(g(mine, *ours), f(theirs, *eager), 0, "result")
        same(ours, eager, 0, "arguments")
        assert state(mine) == state(theirs)


@pytest.mark.parametrize("kind", MAKERS)
@pytest.mark.cases(3)
def test_draws_are_eagers(kind: str) -> None:
    codes = [*BOTH, *(OLD if kind == "RandomState" else NEW)]
    for k in range(0, len(codes), 6):
        lines = "".join(f"    found.append({code})\n" for code in codes[k : k + 6])
        f = program(f"def f(rng, a, x, n):\n    found = []\n{lines}    return found")
        agrees(f, MAKERS[kind], np.arange(4.0), 1.5, 4)


@pytest.mark.parametrize("kind", ["Generator", "RandomState"])
def test_one_program_serves_all_generators(kind: str) -> None:
    f = program("""
        def f(rng, n):
            total = np.zeros(n)
            for k in range(n):
                step = rng.normal()
                while step < 0:
                    step = rng.normal()
                total[k] = step
                if total[k] > 1:
                    total[k] -= rng.uniform(0, 1)
            return total
    """)
    g = bufferize(f)
    for seed in range(5):
        for n in (3, 50):
            mine, theirs = (getattr(np.random, "default_rng" if kind == "Generator" else kind)(seed) for _ in range(2))
            same(g(mine, n), f(theirs, n), 0, "result")
            assert state(mine) == state(theirs)
    assert len(g.specializations()) <= 2


def test_generators_from_outside_and_of_objects() -> None:
    class Walk:
        def __init__(self) -> None:
            self.rng, self.scale = np.random.default_rng(3), 2.0

        def step(self, a: np.ndarray) -> np.ndarray:
            a += self.scale * self.rng.normal(size=a.shape)
            return a * self.rng.random()

    mine, theirs = Walk(), Walk()
    step = bufferize(Walk.step)
    for _ in range(5):
        same(step(mine, np.ones(4)), Walk.step(theirs, np.ones(4)), 0, "result")
        mine.rng, theirs.rng = np.random.default_rng(4), np.random.default_rng(4)
    assert len(step.specializations()) == 1

    found = []
    for run in (bufferize, lambda f: f):
        rng = np.random.default_rng(5)
        f = run(program("def f(a):\n    return a + rng.normal(size=len(a)), rng.integers(5)", rng=rng))
        found.append([f(np.ones(3)) for _ in range(500)])
    same(*found, 0, "results")


def test_the_functions_of_numpys_module() -> None:
    f = program("""
        def f(a, seed):
            np.random.seed(seed)
            b = np.random.normal(size=a.shape), np.random.rand(2, len(a)), np.random.randint(5), np.random.uniform()
            np.random.shuffle(a)
            return b, np.random.permutation(len(a)), np.random.choice(a), np.random.randn()
    """)
    before = np.random.get_state()
    try:
        for seed in (1, 2):
            same(bufferize(f)(np.arange(4.0), seed), f(np.arange(4.0), seed), 0, "result")
    finally:
        np.random.set_state(before)


def test_generators_that_are_made_inside() -> None:
    f = program("""
        def f(a, seed, rng=None):
            if rng is None:
                rng = np.random.default_rng(seed)
            rng = rng or np.random.default_rng()
            noise = rng.normal(size=len(a))
            again = np.random.RandomState(seed)
            if isinstance(rng, np.random.Generator) and np.random.default_rng(rng) is rng:
                noise += again.rand()
            return a + noise, [np.random.default_rng(k).random() for k in range(2)]
    """)
    g = bufferize(f)
    for seed in (1, 2, 3):
        same(g(np.ones(3), seed), f(np.ones(3), seed), 0, "result")
        same(*(h(np.ones(3), 1, np.random.default_rng(seed)) for h in (g, f)), 0, "result")
    h = bufferize(program("def f(n):\n    return np.random.default_rng().random(n)"))
    assert h(3).shape == (3,) and not np.array_equal(h(3), h(3))


def test_generators_of_bit_generators() -> None:
    f = program("""
        def f(a, seed):
            bits = np.random.PCG64(seed)
            rng, other = np.random.Generator(bits), np.random.Generator(np.random.PCG64(seed=[seed, 1]))
            return rng.normal(size=len(a)) + other.random(), rng.integers(0, 9, 2)
    """)
    for seed in (1, 2):
        same(bufferize(f)(np.ones(3), seed), f(np.ones(3), seed), 0, "result")
    for code, reason in (
        ("b = np.random.PCG64(1)\n    r = np.random.Generator(b)\n    return r, np.random.Generator(b)", "of one bit"),
        ("b = np.random.PCG64(1)\n    for k in range(n):\n        np.random.Generator(b).random()", "of one bit"),
        ("return np.random.PCG64(n).state", "`.state` of a PCG64"),
        ("return np.random.PCG64(0.5)", "of what is no int"),
    ):  # fmt: skip
        with pytest.raises(tracebuf.UnsupportedError, match=reason):
            bufferize(program(f"def f(n):\n    {code}"))(3)


def test_what_numpy_raises_is_raised_with_eagers_state() -> None:
    f = program("def f(rng, x):\n    a = rng.random(3)\n    return a, rng.normal(0.0, x), rng.random()")
    for make in MAKERS.values():
        mine, theirs = make(), make()
        for run, rng in ((bufferize(f), mine), (f, theirs)):
            with pytest.raises(ValueError, match="scale < 0"):
                run(rng, -1.0)
        assert state(mine) == state(theirs)
    with pytest.raises(TypeError):
        bufferize(program("def f(rng):\n    return rng.normal(colour=1)"))(np.random.default_rng(0))
    with pytest.raises(AttributeError):
        bufferize(program("def f(rng):\n    return rng.gauss()"))(np.random.default_rng(0))


def test_what_is_refused() -> None:
    for code, reason in (
        ("rng.bit_generator", "`.bit_generator` of a Generator"), ("rng.bytes(3)", "`.bytes` of a Generator"),
        ("rng.random(out=a)", "`out` of random"), ("rng", "cannot be returned"),
        ("rng.choice(np.ones((2, 2)))", "no vector"), ("rng is other", "two random generators"),
        ("rng.shuffle(((1, 2), 3))", "shuffle of a tuple"), ("np.random.SeedSequence(3)", "SeedSequence"),
        ("rng.permutation(np.ones((2, 3)).T)", "permutation of a"),
    ):  # fmt: skip
        with pytest.raises(tracebuf.UnsupportedError, match=reason):
            bufferize(program(f"def f(rng, a, other):\n    return {code}"))(
                np.random.default_rng(0), np.ones(3), np.random.default_rng(0)
            )


def test_functions_without_source_draw_too() -> None:
    space: dict[str, Any] = {"np": np}
    body = "return a + np.random.normal(), np.random.rand(len(a)), np.random.randint(9)"
    exec(f"def f(a):\n    np.random.seed(3)\n    {body}", space)
    before = np.random.get_state()
    try:
        f = bufferize(space["f"])
        for n in (2, 3, 2):
            same(f(np.ones(n)), space["f"](np.ones(n)), 0, "result")
    finally:
        np.random.set_state(before)


@pytest.mark.parametrize("kind", one_in(3, MAKERS))
@pytest.mark.slow
def test_lists_are_shuffled(kind: str) -> None:
    f = program("""
        def f(a, given, rng):
            found = [(k, k + 1) for k in range(len(a)) if a[k] > 0.5]
            same, rows = found, [a, a * 2, a + 1]
            rng.shuffle(found)
            rng.shuffle(rows)
            rng.shuffle(given)
            return same, rows[0] - rows[1], rng.random()
    """)
    g = bufferize(f)
    for a in (np.linspace(0, 1, 9), np.zeros(2)):
        mine, theirs = [1.0, 2.0, 3.0, 5.0], [1.0, 2.0, 3.0, 5.0]
        same(g(a, mine, MAKERS[kind]()), f(a, theirs, MAKERS[kind]()), 0, "result")
        assert mine == theirs


def one_of_the_best(v):
    np.random.seed(1)
    return np.random.choice([a for a, x in enumerate(v) if x == np.max(v)])


def draws_of_a_growing_list(v):
    rng, best = np.random.default_rng(0), []
    for a in range(len(v)):
        if v[a] > 0:
            best.append(a)
    k = rng.choice(best)
    return k, v[k], rng.choice(a=best, size=3), rng.permutation(best)


def by_weights(v):
    np.random.seed(0)
    w = [x for x in v if x > 0]
    total = sum(w)
    return np.random.choice(len(w), p=[x / total for x in w])


@pytest.mark.parametrize("f", [one_of_the_best, draws_of_a_growing_list, by_weights])
def test_choice_of_a_list_of_run_time_length(f: Callable[..., Any]) -> None:
    """It is NumPy's choice of the list's array."""
    for v in ([1.0, 3, -2, 3, 0.5], [2.0, 1]):
        agree(f, np.array(v))
