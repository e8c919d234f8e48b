"""Global names that traced functions bind: `global` (rules B5, X1, F2)."""

from __future__ import annotations

import copy
import types
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tracebuf
from tests.support.agreement import program, refused, same
from tests.support.params import one_in
from tracebuf import Options, bufferize
from tracebuf.testing.ladder import STRATEGIES

Function = Callable[..., Any]

MODULE = """
    count, total, table, seen = 0, 0.0, None, []

    def shown():
        return count

    def more():
        global count
        count += 1

    def fib(n):
        global count
        count += 1
        return n if n < 2 else fib(n - 1) + fib(n - 2)

    class Walker:
        def step(self, x):
            global count
            count += 2
            return x.sum()

"""
BODIES = {
    "a counter": """
    global count
    count += 1
    return a * count
    """,
    "an array made once": """
    global table
    if table is None:
        table = a * 2
    return a + table
    """,
    "other functions read it": """
    before = shown()
    more()
    more()
    return a * shown(), before
    """,
    "in a loop, by the path": """
    for x in a:
        if x > 1:
            more()
    return shown()
    """,
    "what raises": """
    global count
    count = 7
    x = a[i]
    count = 9
    return x
    """,
    "not bound": """
    global fresh
    try:
        fresh += 1
    except NameError as error:
        fresh = 1
        return str(error)
    return fresh
    """,
    "not bound at all": """
    global fresh
    fresh += 1
    return fresh
    """,
    "a list": """
    global seen
    seen = seen + [a.sum()]
    return len(seen)
    """,
    "the argument": """
    global table
    table = a
    a += 1
    return table is a
    """,
    "a function inside": """
    def add(x):
        global total
        total = total + x
    for x in a:
        add(x)
    return total
    """,
    "recursion": """
    return fib(i) + a[0], count
    """,
    "a method": """
    return Walker().step(a), shown()
    """,
    "a loop's name, and two at once": """
    global count, total
    for count in range(i):
        pass
    total, seen = a.sum(), 5
    return count, seen
    """,
    "a while loop": """
    global count
    while count < 5:
        count += i
    return count
    """,
    "an array or a number": """
    global count
    if a[0] > 2:
        count = a
    return count
    """,
    "restored": """
    global count
    old, count = count, 100
    try:
        return a[i] * shown()
    finally:
        count = old
    """,
    "a text, then a dict": """
    global count
    count = {"x": a, "of": "abc"}
    return count["of"]
    """,
}
NAMES = ("count", "total", "table", "seen", "fresh")


def two(body: str, **options: Any) -> tuple[Function, Function, dict[str, Any], dict[str, Any]]:
    """A function and, in a module of its own, the same one bufferized; the globals of both."""
    text = f"{MODULE}    def f(a, i):\n        {body.strip().replace(chr(10), chr(10) + ' ' * 4)}\n"
    eager, traced = program(text), program(text)
    return eager, bufferize(**options)(traced), eager.__globals__, traced.__globals__


def outcome(f: Function, *args: Any) -> Any:
    try:
        return f(*args)
    except tracebuf.TracebufError:
        raise
    except Exception as error:
        return type(error), str(error)


def state(names: dict[str, Any]) -> dict[str, Any]:
    return {name: names[name] for name in NAMES if name in names}


CALLS = [(np.array([1.0, 2.0, 3.0]), 2), (np.array([3.0, 1.0]), 2), (np.array([1.0, 2.0, 3.0]), 1)]


def agrees(body: str, **options: Any) -> Function:
    f, g, eager, traced = two(body, **options)
    for a, i in CALLS * 2:
        (x, k), (y, m) = copy.deepcopy(((a, i), (a, i)))
        want, got = outcome(f, x, k), outcome(g, y, m)
        same(got, want, 0, "result")
        same(state(traced), state(eager), 0, "globals")
        same(y, x, 0, "argument")
        assert [traced[n] is y for n in state(traced)] == [eager[n] is x for n in state(eager)]
    return g


@pytest.mark.parametrize("name", BODIES)
def test_globals_are_bound_as_in_python(name: str) -> None:
    agrees(BODIES[name], verify=True)


@pytest.mark.parametrize("options", one_in(8, STRATEGIES), ids=lambda o: f"{o.strategy} {o.heuristic} {o.seed}")
@pytest.mark.parametrize("name", one_in(4, BODIES))
def test_globals_under_every_strategy(name: str, options: Options) -> None:
    agrees(BODIES[name], strategy=options.strategy, heuristic=options.heuristic, seed=options.seed)


def test_a_global_that_changes_at_each_call_is_one_program() -> None:
    for name in ("a counter", "other functions read it", "in a loop, by the path"):
        _, g, _, names = two(BODIES[name])
        for _ in range(4):
            g(np.arange(3.0), 2)
            names["count"] += 1
        assert isinstance(g, tracebuf.BufferizedFunction) and len(g.specializations()) == 1, name


def test_a_global_that_other_code_deletes_or_binds_anew() -> None:
    f, g, eager, traced = two(BODIES["a counter"])
    for value in (0, 5, 2.5, np.arange(3.0), None, True, 1):
        eager["count"], traced["count"] = copy.copy(value), copy.copy(value)
        same(outcome(g, np.ones(3), 1), outcome(f, np.ones(3), 1), 0, str(value))
        same(state(traced), state(eager), 0, repr(value))
    del eager["count"], traced["count"]
    same(outcome(g, np.ones(3), 1), outcome(f, np.ones(3), 1), 0, "deleted")


def test_modules_have_globals_of_their_own() -> None:
    other = types.ModuleType("other")
    vars(other).update(program("count = 10\ndef up():\n    global count\n    count += 1\n    return count").__globals__)
    text = "count = 0\ndef f(a):\n    global count\n    count += 1\n    return a + count, up(), count"
    made = [program(text, up=vars(copied)["up"]) for copied in (other, other)]
    want, got = made[0](np.ones(2)), bufferize(made[1])(np.ones(2))
    same(got[0], want[0], 0, "result")
    assert got[1:] == (want[1] + 1, 1) and made[1].__globals__["count"] == 1


def test_global_forms_that_are_refused() -> None:
    for text in ("(count := 1)", "del count", "import math as count", "from math import pi as count"):
        f = program(f"count = 0\ndef f(a):\n    global count\n    {text}\n    return a")
        error = refused(f, np.ones(3))
        assert "`global` of a name" in error.reason and error.instead
