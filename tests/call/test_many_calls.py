"""Many calls from four threads: arguments of changing kinds, sizes and overlap get the Python path's answers, memory
stays flat, no reference is lost or kept. `make calls` makes a million of them (`TRACEBUF_CALLS` says how many)."""

from __future__ import annotations

import gc
import os
import random
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from tracebuf import api, bufferize
from tracebuf.backend.runtime.callable import NATIVE
from tracebuf.testing.entries import parts, same

CALLS = int(os.environ.get("TRACEBUF_CALLS", "4000"))
THREADS = 4
TABLE = np.arange(64.0)


class Pair(NamedTuple):
    """A named tuple."""

    x: Any
    y: Any


class Layer:
    """An object with arrays and numbers, and a class with a constant."""

    rate = 0.5

    def __init__(self, n: int, k: Any = 2) -> None:
        self.w, self.k = np.arange(float(n)), k

    def apply(self, x: Any) -> Any:
        """A method that sets and reads attributes."""
        self.w = self.w + x * self.rate
        return self.w * self.k


def plus(a: Any, b: Any = 3.0, *, k: Any = None) -> Any:
    """Numbers, arrays, keywords, defaults."""
    return (a * 2 + b, a) if k is None else (a + b * k, b)


def store(a: Any, b: Any) -> Any:
    """In place, with overlap."""
    a += b * 0.5
    return a[1:], b


def table(a: Any) -> Any:
    """A captured array, and errors."""
    if a[0] > 90:
        raise ValueError("large")
    return a * TABLE[: len(a)], a.sum(), [a, 1, {"s": a.max()}]


def chosen(a: Any, b: Any) -> Any:
    """What paths choose."""
    return (a if a[0] > b[0] else b[::-1]), [a[:2], b[0]]


def changes(p: Any, x: Any) -> Any:
    """Containers that change."""
    p["n"] = p["a"] + x
    p["a"] = x
    p["l"][0] = p["n"][1:]
    return Pair(p["l"], x * 2)


def total(*arrays: Any, **named: Any) -> Any:
    """`*args` and `**kwargs`."""
    s = 0.0
    for a in arrays:
        s = s + a
    for a in named.values():
        s = s * a
    return s


def halves(a: Any, n: Any) -> Any:
    """Guards that divide."""
    return a[: len(a) // n].reshape(-1), a[len(a) % n :]


def grown(a: Any, n: Any) -> Any:
    """Loops, temporaries in the arena, a result in another order."""
    t = np.cumsum(a)[::-1]
    for _ in range(n):
        t = np.cumsum(t) * 0.5
    return np.outer(t, a).T, t.sum()


OUTER = Layer(64)
LAYERS = [Layer(8), Layer(8, 0.5)]


def through(layers: Any, x: Any) -> Any:
    """Attributes of objects within containers, and of captured ones."""
    for layer in layers:
        x = layer.w * x + layer.k * layer.rate
    return x * OUTER.w[: len(x)] + LAYERS[1].k


def nested(net: Any, x: Any) -> Any:
    """Attributes of attributes, which are changed."""
    net.w.w = net.w.w + x
    for layer in net.k:
        layer.k += 1
        x = x * layer.w if hasattr(layer, "w") else x
    return net.w, x


def layers(r: random.Random, n: int) -> list[Any]:
    """Objects, some of another class, with other attributes, or twice the same."""
    k = r.choice([2, 0.5])
    found: list[Any] = [Layer(n, k) for _ in range(r.randrange(3))]
    kind = r.randrange(6)
    if found and kind == 0:
        found.append(found[0])
    elif found and kind == 1:
        found[0].w = np.arange(2.0 * n)[::2]
    elif found and kind == 2:
        del found[-1].w
    elif kind == 3:
        found.append(Pair(r.uniform(-2, 2), n))
    return found


def both(net: Layer, inner: Any, held: Any) -> Layer:
    """An object that holds others."""
    net.w, net.k = inner, held
    return net


def array(r: random.Random) -> Any:
    n = r.choice([0, 1, 2, 3, 5, 8, 40])
    return np.array([r.uniform(-9, 100) for _ in range(n)])


def vector(r: random.Random, n: int | None = None) -> Any:
    """An array of one of some layouts and dtypes."""
    n = r.choice([2, 3, 5, 8, 40]) if n is None else n
    x = np.array([r.uniform(-9, 100) for _ in range(2 * n)])
    kind = r.randrange(6)
    return [x[:n], x[::2], x[n - 1 :: -1][:n], x[:n].copy(), x[:n].astype(np.float32), np.broadcast_to(x[0], (n,))][
        kind
    ]


def two(r: random.Random) -> Any:
    """Two arrays, which may share memory in some way."""
    n = r.choice([2, 3, 5, 8, 40])
    w = np.array([r.uniform(-9, 100) for _ in range(4 * n)])
    kind = r.randrange(9)
    if kind == 0:
        return w[:n], w[1 : n + 1]
    if kind == 1:
        return w[: 2 * n : 2], w[1 : 2 * n : 2]
    if kind == 2:
        return (a := w[:n]), a
    if kind == 3:
        return w[:n], w[:n]
    if kind == 4:
        return w[:n], w[n : 2 * n][::-1]
    if kind == 5:
        return w[1 : n + 1], w[:n]
    if kind == 6:
        m = w.reshape(n, 4)
        return m[:, 1], m[:, 3]
    if kind == 7:
        return w[:n], np.broadcast_to(w[3 * n], (n,))
    return w[:n].copy(), w[n : 2 * n].copy()


def number(r: random.Random) -> Any:
    return r.choice([r.uniform(-2, 2), r.randrange(-5, 5), np.float64(1.5), np.float32(2), np.int8(3), True, 2**40])


Form = Callable[[random.Random], tuple[list[Any], dict[str, Any]]]
FORMS: list[tuple[Any, list[Form]]] = [
    (plus, [
        lambda r: ([vector(r), number(r)], {}), lambda r: ([number(r), number(r)], {}), lambda r: ([*two(r)], {}),
        lambda r: ([vector(r)], {"k": number(r)}), lambda r: ([vector(r, 5), vector(r, 5)], {"k": 2.0}),
        lambda r: ([vector(r, 3), vector(r, 5)], {}), lambda r: ([vector(r)], {"z": 1}),
        lambda r: ([array(r), 1.0], {}),
    ]),
    (store, [
        lambda r: ([*two(r)], {}), lambda r: ([array(r), number(r)], {}), lambda r: ([vector(r, 4), vector(r, 4)], {}),
    ]),
    (table, [lambda r: ([vector(r)], {}), lambda r: ([array(r)], {})]),
    (chosen, [lambda r: ([*two(r)], {}), lambda r: ([vector(r), vector(r)], {})]),
    (changes, [
        lambda r: ([{"a": (t := two(r))[0], "l": [1.0, t[1]]}, t[1]], {}),
        lambda r: ([{"a": 1.0, "l": [0]}, vector(r)], {}),
        lambda r: ([{"l": [2], "a": vector(r, 3)}, vector(r, 3)], {}), lambda r: ([{"a": 1.0}, vector(r)], {}),
    ]),
    (total, [
        lambda r: ([vector(r, 4) for _ in range(r.randrange(4))], {}), lambda r: ([*two(r)], {"x": number(r)}),
        lambda r: ([number(r)], {"y": 2.0, "x": 1.0}), lambda r: ([], {}),
    ]),
    (halves, [lambda r: ([array(r), r.choice([1, 2, 3, -1, -2, 0])], {})]),
    (grown, [lambda r: ([array(r), r.randrange(4)], {}), lambda r: ([vector(r), 2], {})]),
    (lambda a, b: a * 2 - b, [  # and buffers
        lambda r: ([*(t := two(r))], {"out": t[0]}), lambda r: ([*(t := two(r))], {"out": np.full(len(t[0]), 0.0)}),
        lambda r: ([vector(r, 3), vector(r, 3)], {"out": np.full(r.choice([3, 3, 3, 4]), 0.0)}),
    ]),
    (Layer.apply, [
        lambda r: ([Layer(n := r.choice([2, 5, 9])), vector(r, n)], {}),
        lambda r: ([Layer(3, number(r)), number(r)], {}),
    ]),
    (through, [
        lambda r: ([layers(r, n := r.choice([2, 5])), np.arange(float(n))], {}),
        lambda r: ([tuple(layers(r, 8)), LAYERS[r.randrange(2)].w], {}),
    ]),
    (nested, [
        lambda r: ([Layer(0), vector(r, 3)], {}),
        lambda r: ([both(Layer(n := r.choice([2, 5])), Layer(n), layers(r, n)), np.arange(float(n))], {}),
    ]),
]  # fmt: skip


def outcome(f: Any, draw: Form, seed: int) -> tuple[Any, ...]:
    """What a call makes of the arguments of a seed, and of itself."""
    args, kwargs = draw(random.Random(seed))
    try:
        with np.errstate(all="ignore"):
            result = f(*args, **kwargs)
    except Exception as error:
        return type(error), str(error), args, kwargs
    given = [id(x) for x in parts([args, kwargs]) if isinstance(x, np.ndarray)]
    return result, [given.index(id(x)) if id(x) in given else -1 for x in parts(result)], args, kwargs


def resident() -> int:
    """The process's memory in bytes, 0 where that is not told."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * 4096
    except OSError:
        return 0


@pytest.mark.slow
@pytest.mark.skipif(not NATIVE, reason="Python makes all calls here")
def test_many_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(api, "NATIVE_AFTER", 1)
    monkeypatch.setattr(api, "WORTH", 0)
    every: list[tuple[Any, Any, list[Form]]] = []
    for function, draws in FORMS:
        natively, by_python = (bufferize(max_specializations=10**6)(function) for _ in range(2))
        by_python._make_native = lambda spec: None  # type: ignore[method-assign]
        every.append((natively, by_python, draws))
    wrong: list[Any] = []

    def run(first: int, count: int) -> None:
        r = random.Random(first)
        for k in range(count):
            natively, by_python, draws = r.choice(every)
            draw, seed = r.choice(draws), r.randrange(100_000)
            try:
                same(outcome(natively, draw, seed), outcome(by_python, draw, seed), natively.__name__)
            except AssertionError as error:
                wrong.append((seed, draws.index(draw), str(error)))
                return
            if k % 50_000 == 49_999:
                print(first, k + 1, flush=True)

    def at_once(first: int, count: int) -> None:
        threads = [threading.Thread(target=run, args=(first + k, count // THREADS)) for k in range(THREADS)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        gc.collect()

    watched = [None, True, np.ndarray, float, np.float64, Layer, Pair, TABLE, *map(np.dtype, "dfl"), "a", "n", "l"]
    at_once(1, CALLS // 2)
    counts, memory = [sys.getrefcount(x) for x in watched], resident()
    at_once(1, CALLS // 2)  # the same calls: all is compiled
    more = resident() - memory
    changes = [sys.getrefcount(x) - n for x, n in zip(watched, counts)]
    assert not wrong, wrong[:3]
    assert more < 10e6, more
    assert all(abs(n) < 1000 for n in changes), changes  # (np.zeros(n) and np.empty(n) leave one of the dtype's behind)
    calls = [sum(e.calls for e in f._native.entries) if f._native else 0 for f, _, _ in every]
    print(
        f"{CALLS} calls, of which {sum(calls)} by machine code; by function {calls}; {resident() - memory} bytes more"
    )
    assert sum(calls) > CALLS / 4
