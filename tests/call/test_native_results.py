"""Results that machine code makes: views, containers, what paths choose, and containers that a call changes."""

from __future__ import annotations

import copy
import gc
import sys
import types
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest

from tests.support.agreement import program
from tests.support.params import one_in
from tests.support.references import steady
from tracebuf import api, bufferize
from tracebuf.backend.runtime.entries import ProgramEntry
from tracebuf.testing.entries import parts, same


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Programs have their entries after one call."""
    monkeypatch.setattr(api, "NATIVE_AFTER", 1)
    monkeypatch.setattr(api, "WORTH", 0)


class Pair(NamedTuple):
    """A named tuple."""

    x: Any
    y: Any


@dataclass
class Box:
    """A dataclass."""

    x: Any
    y: Any


class Slots:
    """An object without a dict."""

    __slots__ = ("x", "y")


def slotted(x: Any, y: Any) -> Any:
    """A new object with slots."""
    s = Slots()
    s.x, s.y = x, y
    return s


def wholly(monkeypatch: pytest.MonkeyPatch, f: Any, *args: Any) -> Any:
    """The result of a call that machine code takes, results and all."""
    before = sum(entry.calls for entry in f._native.entries)

    def finish(self: Any, *rest: Any) -> Any:
        raise AssertionError("Python made the results")

    with monkeypatch.context() as patch:
        patch.setattr(ProgramEntry, "finish", finish)
        result = f(*args)
    assert sum(entry.calls for entry in f._native.entries) == before + 1
    return result


def seen(x: Any, given: list[Any]) -> Any:
    """What can be told of a result: which parts are one object, which are arguments or views of them."""
    every = [p for p in parts(x) if isinstance(p, (np.ndarray, list, dict, Box))]
    ids = [id(p) for p in every]
    arrays = [p for p in every if isinstance(p, np.ndarray)]
    roots = [p if p.base is None else p.base for p in arrays]
    of = [next((k for k, g in enumerate(given) if isinstance(g, np.ndarray) and r is g), -1) for r in roots]
    return [ids.index(i) for i in ids], of, [next((k for k, g in enumerate(given) if p is g), -1) for p in every]


RESULTS = [
    "a[1:]", "a[::-1]", "a.reshape(2, 2)", "a.view()", "a[:]", "m.T", "m[1]", "m[:, 1:]", "(a + b)[1:]", "(m + 1).T",
    "(a + b).reshape(2, 2)", "z.real", "z.imag", "np.broadcast_to(a, (3, 4))", "np.broadcast_to(a + b, (3, 4))",
    "np.transpose(t, (1, 0, 2)) + 1", "np.swapaxes(t, 0, 2)", "a[:0]", "m[:, :0].T",
    "np.zeros((2, 0, 3)).transpose(1, 2, 0)", "((s := a + b), s[1:])", "((s := a + b)[1:], s)", "((s := a + b), s)",
    "((s := a + b)[:], s[:], s)", "(a[:2], a[2:], a)", "{'sum': a + b, 'least': a.min(), 3: a}", "{}", "[]", "()",
    "[a, [b, (a[1:],)], {'x': [a]}]", "Pair(a + b, a[0])", "Box(a + b, a.min())", "Box(a, None)",
    "((s := [a + b]), s)", "{'p': (s := Box(a, 1)), 'q': s}", "types.SimpleNamespace(x=a, y=b * 2)",
    "(a if a[0] > b[0] else a + b)", "(a[1:] if a[0] > b[0] else b)", "(a[1:] if a[0] < b[0] else b[1:])",
    "slotted(a, b + 1)", "((a + b)[1:] if a[0] > b[0] else (a - b)[1:])",
    "[a[0], b[1], 1.5, 2, True, None, 'x', a[0] > b[0]]", "(a[1:], a[1:])", "p", "(p, p['x'], p['x'][1:])",
    "{**p, 'y': a}", "np.asfortranarray(m + 1)", "G[1:]", "(G, G[::-1])", "(x if a[0] > 0 else 2.5)",
    "(a[0] if a[0] > 100 else x)", "np.array(a[0])", "a[1, ...]", "t[0, 1, ...]", "(a * 1)[0:4]", "a[2:2]",
    "np.squeeze(m[:1])", "a[None]", "np.atleast_2d(a)", "np.ravel(m)", "m.T.ravel()",
]  # fmt: skip
G = np.arange(4.0)


@pytest.mark.parametrize("expression", one_in(12, RESULTS))
def test_results_are_eagers(expression: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Values, classes, flags, strides, which parts are one object, whose memory views are of."""
    function = program(f"def f(a, b, m, t, z, p, x):\n    return {expression}")
    own = {"Pair": Pair, "Box": Box, "Slots": Slots, "slotted": slotted, "G": G, "types": types}
    function.__globals__.update(own)
    f = bufferize(function)
    t = np.arange(24.0).reshape(2, 3, 4)
    args: list[Any] = [np.arange(4.0), np.ones(4), np.arange(6.0).reshape(2, 3).copy(), t.copy(), np.ones(3) * 1j]
    args += [{"x": np.ones(3)}, 7.5]
    first = f(*args)
    got, wanted = wholly(monkeypatch, f, *args), function(*args)
    same(got, wanted, expression)
    same(got, first, expression)
    given = [*args, args[5]["x"], G]
    assert seen(got, given) == seen(wanted, given)
    watched = [*given, *(x.dtype for x in given if isinstance(x, np.ndarray)), None, np.ndarray, Pair, Box, "x", "sum"]
    del got, wanted, first
    assert steady(lambda: f(*args), watched, 200)


@pytest.mark.parametrize("change", [0, -1])
def test_what_paths_choose(change: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def f(a: Any, b: Any) -> Any:
        if a[0] > b[0]:
            made = [a, a[1:]]
        else:
            made = [b + 1, b]
        return made, (a if a[1] > b[1] else b), (a[0] if a[0] > 3 else b[0])

    g = bufferize(f)
    for k in (0, 5, 0):
        args = [np.arange(4.0) + k, np.ones(4)]
        g(*args)
        got, wanted = wholly(monkeypatch, g, *args), f(*args)
        same(got, wanted, "result")
        assert seen(got, args) == seen(wanted, args)


def push(s: Any, x: Any) -> Any:
    s.append(s[0] + x)
    s[0] = x
    return s


def pop(s: Any, x: Any) -> None:
    s[0] = s.pop()


def update(p: Any, x: Any) -> Any:
    p["new"] = p["a"] + x
    p["a"] = x[1:]
    p["list"][0] = p["a"]
    return p["new"], p


def renew(p: Any, x: Any) -> None:
    old = p.pop("a")
    p["a"] = old + x


def move(q: Any, x: Any) -> Any:
    q.x, q.y = q.y, [q.x + x]
    return q


def both(p: Any, q: Any) -> None:
    p["a"], q["a"] = q["a"], p["a"]


@pytest.mark.parametrize(
    ("function", "make"),
    [
        (push, lambda: ([np.ones(3)], np.arange(3.0))), (pop, lambda: ([np.ones(3), np.zeros(3)], np.ones(3))),
        (update, lambda: ({"a": np.ones(3), "list": [1.0, 2]}, np.arange(3.0))),
        (renew, lambda: ({"a": np.ones(3), "b": np.zeros(2)}, np.arange(3.0))),
        (move, lambda: (Box(np.ones(3), np.zeros(3)), np.arange(3.0))),
        (move, lambda: (slotted(np.ones(3), np.zeros(3)), np.arange(3.0))),
        (both, lambda: ({"a": np.ones(3)}, {"a": np.arange(3.0)})),
    ],
)  # fmt: skip
def test_containers_that_are_changed(
    function: Callable[..., Any], make: Callable[[], tuple[Any, ...]], monkeypatch: pytest.MonkeyPatch
) -> None:
    f = bufferize(function)
    for _ in range(2):
        f(*make())
    mine, its = make(), make()
    got = wholly(monkeypatch, f, *mine)
    wanted = function(*its)
    same(parts(got), parts(wanted), "result")
    for x, y in zip(mine, its):
        same(vars(x) if isinstance(x, Box) else x, vars(y) if isinstance(y, Box) else y, "argument")
    assert seen(got, [*mine, *parts(mine[0])]) == seen(wanted, [*its, *parts(its[0])])
    old = make()
    counts = [sys.getrefcount(x) for x in (*old, *parts(old[0]))]
    del x, y
    for _ in range(100):
        f(*copy.copy(make()))
    assert [sys.getrefcount(x) for x in (*old, *parts(old[0]))] == counts


def test_a_finalizer_that_calls_the_function_while_it_changes_a_container() -> None:
    """What is written over may be the last of an object that calls the very function, or empties the container."""
    calls: list[Any] = []

    def replaced(p: Any, x: Any) -> Any:
        p["a"] = x * 2
        p["b"] = x + 1
        return p["b"]

    f = bufferize(replaced)

    class Noisy:
        def __init__(self, p: Any) -> None:
            self.p = p

        def __del__(self) -> None:
            calls.append(f({"a": 1.0, "b": 2.0}, np.arange(3.0)).tolist())
            self.p.clear()

    for _ in range(3):
        f({"a": 1.0, "b": 2.0}, np.arange(3.0))
    owner = np.ones(3).view()
    for _ in range(20):
        p: dict[str, Any] = {"a": 1.0, "b": 2.0}
        memory = type("Memory", (), {"__array_interface__": owner.__array_interface__, "o": owner, "n": Noisy(p)})()
        p["a"] = np.asarray(memory)
        p["b"] = 2.0
        f(p, np.ones(3))  # another program
        del memory
    gc.collect()
    assert calls and all(c == [1.0, 2.0, 3.0] for c in calls)


def test_a_class_whose_setter_raises() -> None:
    class Strict:
        @property
        def x(self) -> Any:
            return 1

        @x.setter
        def x(self, value: Any) -> None:
            raise AttributeError("strict")

    def build(a: Any) -> Any:
        b = Box(a + 1, 2)
        return b

    f = bufferize(build)
    for _ in range(3):
        assert f(np.ones(3)).x.tolist() == [2.0] * 3
    Box.x = Strict.x  # type: ignore[assignment]
    try:
        wanted = gotten = None
        try:
            build(np.ones(3))
        except AttributeError as error:
            wanted = str(error)
        for _ in range(3):
            try:
                f(np.ones(3))
            except AttributeError as error:
                gotten = str(error)
            assert gotten == wanted == "strict"
    finally:
        del Box.x


def test_a_setter_that_keeps_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """What occurs twice in a result lives until both places have it, whatever the first does with it."""

    def build(a: Any) -> Any:
        s = [a + 1]
        return Box(s, 2), s, s[0]

    f = bufferize(build)
    for _ in range(2):
        f(np.ones(3))
    monkeypatch.setattr(Box, "x", property(lambda self: 0, lambda self, value: None), raising=False)
    for _ in range(200):
        got = f(np.ones(300))
        count = sys.getrefcount(got[1])
        assert got[1][0] is got[2] and got[2][0] == 2.0 and count == 2
