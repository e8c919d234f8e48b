"""What a call costs, kind by kind: the table of docs/calling.md.

    python benchmarks/calls.py [ROUNDS]

Arrays of 8, in one process: np.add(a, b), each function eagerly and bufferized take turns; medians of CPU time. The
last column says what takes the calls: machine code from the arguments to the results, machine code up to results that
Python makes, or Python.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

import numpy as np

import tracebuf
from tracebuf import api
from tracebuf.backend.runtime.entries import ProgramEntry

ROUNDS, CALLS = 15, 400
TABLE = np.ones(8)


class Pair(NamedTuple):
    """A named tuple of two."""

    x: Any
    y: Any


@dataclass
class Box:
    """A dataclass of two."""

    x: Any
    y: Any


class Layer:
    """An object with arrays and a number."""

    def __init__(self) -> None:
        self.w, self.b, self.k = np.ones(8), np.zeros(8), 2

    def apply(self, x: Any) -> Any:
        """A method that reads attributes."""
        return self.w * x * self.k + self.b

    def step(self, x: Any) -> None:
        """A method that sets an attribute."""
        self.w = self.w + x


LAYERS = [Layer(), Layer()]
SCALED = partial(lambda by, x: x * by + 1, 3.0)


@dataclass
class Scaled:
    """A dataclass with a default."""

    x: Any
    by: float = 3.0

    def double(self) -> Any:
        """A method."""
        return self.x * self.by


def through(layers: Any, x: Any) -> Any:
    """Attributes of objects in a list."""
    for layer in layers:
        x = x * layer.w + layer.b
    return x


def of_list(p: Any) -> None:
    """In place, in a list."""
    p[0][:] += p[1] * 0.5


def by_four(a: Any, b: Any, c: Any, d: Any) -> None:
    """In place."""
    a += b * c + d


def by_keyword(a: Any, b: Any, *, k: Any = 2.0) -> Any:
    """A keyword with a default."""
    return a * k + b


def powered(a: Any, n: Any) -> Any:
    """A static argument."""
    for _ in range(n):
        a = a * 2
    return a


def increment(p: Any) -> None:
    """A dict whose item is changed."""
    p["a"] = p["a"] + p["b"]


def push(s: Any, x: Any) -> None:
    """A list whose item is changed."""
    s[0] = s[0] + x


def move(p: Any) -> None:
    """An object whose attribute is changed."""
    p.x = p.x + p.y


def total(*arrays: Any) -> Any:
    """Arrays by `*args`."""
    s = arrays[0]
    for a in arrays[1:]:
        s = s + a
    return s


def named(a: Any, **kw: Any) -> Any:
    """Arrays by `**kwargs`."""
    return a + kw["b"] * kw["c"]


def two_rows(a: Any) -> Any:
    """Guards that divide."""
    return a.reshape(2, -1).sum(axis=0)


def every(a: Any, n: Any) -> Any:
    """A slice with an int's step."""
    return a[::n] + 1


def refused(a: Any, b: Any) -> Any:
    """Outside the language."""
    return eval("a + b")


@dataclass
class Row:
    """One kind of call."""

    group: str
    name: str
    function: Any
    args: tuple[Any, ...]
    kwargs: dict[str, Any] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)
    eager: Any = None


def rows() -> Iterator[Row]:
    """All kinds."""
    a, b, c, d = (np.arange(8.0) + k for k in range(4))
    m, o = np.ones((4, 2)), np.empty(8)

    def arguments(name: str, f: Any, *args: Any, **kwargs: Any) -> Row:
        return Row("arguments", name, f, args, kwargs)

    def result(name: str, f: Any, *args: Any) -> Row:
        return Row("results", name, f, args or (a, b))

    plus = lambda x, y: x * 2 + y  # noqa: E731
    yield arguments("four arrays, in place", by_four, a, b, c, d)
    yield arguments("two arrays", plus, a, b)
    yield arguments("floats", plus, 1.5, 2.5)
    yield arguments("an array, a float", plus, a, 2.5)
    yield arguments("an array, an int", plus, a, 3)
    yield arguments("an array, a NumPy scalar", plus, a, np.float64(2.5))
    yield arguments("NumPy scalars", plus, np.float64(1.5), np.float64(2.5))
    yield arguments("0-d array", plus, a, np.array(2.5))
    yield arguments("two 0-d arrays", plus, np.array(2.0), np.array(2.5))
    yield arguments("keyword", by_keyword, a, b, k=3.0)
    yield arguments("default", by_keyword, a, b)
    yield Row("arguments", "static", powered, (a, 2), {}, {"static_argnames": "n"})
    yield arguments("a large int", plus, a, 2**40)
    yield arguments("captured array", lambda x: x * TABLE, a)
    yield arguments("strided view", plus, np.ones(16)[::2], b)
    yield arguments("reversed view", plus, a[::-1], b)
    yield arguments("repeated axis (broadcast_to)", plus, np.broadcast_to(2.0, (8,)), b)
    yield arguments("repeated rows (broadcast_to)", plus, np.broadcast_to(np.arange(2.0), (4, 2)), m)
    yield arguments("the same array twice", plus, a, a)
    yield arguments("two objects, one view", plus, a, a[:])
    yield arguments("overlapping arrays, read", plus, (w := np.ones(9))[1:], w[:-1])
    yield arguments("overlapping arrays, stored to", by_four, (w := np.ones(9))[1:], w[:-1], c, d)
    yield arguments("interleaved columns", plus, (w := np.ones((8, 2)))[:, 0], w[:, 1])
    yield Row("arguments", "out=", plus, (a, b), {"out": o}, eager=lambda x, y, out: np.add(x * 2, y, out=out))
    yield arguments("*args", total, a, b, c)
    yield arguments("**kwargs", named, a, b=b, c=c)
    yield Row("arguments", "donate=", plus, (a, b), {}, {"donate": "x"})
    yield arguments("guards that divide", two_rows, a)
    yield arguments("a step that is an int", every, a, 2)
    yield arguments("tuple of two", lambda p: p[0] + p[1], (a, b))
    yield arguments("list of two", lambda p: p[0] + p[1], [a, b])
    yield arguments("named tuple", lambda p: p.x + p.y, Pair(a, b))
    yield arguments("dataclass", lambda p: p.x + p.y, Box(a, b))
    yield arguments("dict of four", lambda p: p["a"] * p["b"] + p["c"] - p["d"], dict(zip("abcd", (a, b, c, d))))
    yield arguments("dict with ints as keys", lambda p: p[0] + p[1], {0: a, 1: b})
    yield arguments("one list in two places", lambda p, q: p[0] + q[1], (w := [a, b]), w)
    layer = Layer()
    yield Row("arguments", "method", Layer.apply, (layer, a))
    yield arguments("list of objects", through, [Layer(), Layer()], a)
    yield arguments("object in an object", lambda o, x: x * o.x.w + o.x.b, Box(layer, b), a)
    yield Row("arguments", "captured objects", lambda x: through(LAYERS, x), (a,))
    yield arguments("default of a dataclass", lambda x: Scaled(x * 2).double(), a)
    yield Row("arguments", "captured partial", lambda x: SCALED(x), (a,))
    yield arguments("overlapping arrays in a list, stored to", of_list, [(w := np.ones(9))[1:], w[:-1]])
    yield arguments("string", lambda x, how: x + 1 if how == "up" else x - 1, a, "up")
    yield arguments("tuple of ints", lambda x, s: x.reshape(s) * 2, a, (4, 2))
    yield arguments("None", lambda x, y=None: x + 1 if y is None else x + y, a, None)
    yield arguments("dtype", lambda x, t: x.astype(t), a, np.float32)
    yield Row("arguments", "refused, with a fallback", refused, (a, b), {}, {"fallback": "numpy"})
    yield arguments("range", lambda x, r: x * len(r), a, range(3))

    yield result("None", lambda x, y: None)
    yield result("a NumPy scalar", lambda x, y: (x * y).sum())
    yield result("a float", lambda x, y: float(x[0]))
    yield result("an int", lambda x, y: len(x))
    yield result("a bool", lambda x, y: bool(x[0] > y[0]))
    yield result("the argument", lambda x, y: x)
    yield result("a view of an argument", lambda x, y: x[1:])
    yield result("an argument reversed", lambda x, y: x[::-1])
    yield result("an argument's reshape", lambda x, y: x.reshape(2, 4))
    yield result("an argument's transpose", lambda x: x.T, m)
    yield result("an argument's row", lambda x: x[1], m)
    yield result("an argument's view()", lambda x, y: x.view())
    yield result("an argument's real part", lambda x: x.real, a * 1j)
    yield result("broadcast_to (read-only)", lambda x, y: np.broadcast_to(x, (2, 8)))
    yield result("a view of a new array", lambda x, y: (x + y)[1:])
    yield result("a new array's reshape", lambda x, y: (x + y).reshape(2, 4))
    yield result("a new array's transpose", lambda x: (x + 1).T, m)
    yield result("a new array in Fortran order", lambda x: np.asfortranarray(x + 1), m)
    yield result("a new array of axes in odd order", lambda x: np.transpose(x, (1, 0, 2)) + 1, np.ones((2, 2, 2)))
    yield result("a new array and its view", lambda x, y: ((s := x + y), s[1:]))
    yield result("tuple of two new arrays", lambda x, y: (x + y, x - y))
    yield result("list of floats", lambda x, y: [x[0], y[0], 1.0])
    yield result("tuple of views", lambda x, y: (x[:4], x[4:]))
    yield result("dict", lambda x, y: {"sum": x + y, "least": x.min()})
    yield result("named tuple", lambda x, y: Pair(x + y, x.min()))
    yield result("dataclass", lambda x, y: Box(x + y, x.min()))
    yield result("one array twice", lambda x, y: ((s := x + y), s))
    yield result("one list twice", lambda x, y: ((s := [x + y]), s))
    yield result("chosen: array or argument", lambda x, y: x if x[0] > y[0] else x + y)
    yield result("chosen: view or argument", lambda x, y: x[1:] if x[0] > y[0] else y)
    yield result("the container", lambda p: p, [a, b])
    yield result("a dict that is changed", increment, {"a": a.copy(), "b": b})
    yield result("a list that is changed", push, [a.copy(), b], b)
    yield result("an object that is changed", move, Box(a.copy(), b))
    yield result("a method that sets an attribute", Layer.step, Layer(), b)


def cost(f: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> float:
    """Nanoseconds of a call."""
    if kwargs:
        begin = time.process_time()
        for _ in range(CALLS):
            f(*args, **kwargs)
    else:
        begin = time.process_time()
        for _ in range(CALLS):
            f(*args)
    return (time.process_time() - begin) / CALLS * 1e9


finished = 0
"""How many calls had results made by Python."""


def count_finished() -> None:
    """From now on `finished` counts."""
    finish = ProgramEntry.finish

    def counted(self: ProgramEntry, *rest: Any) -> Any:
        global finished
        finished += 1
        return finish(self, *rest)

    ProgramEntry.finish = counted  # type: ignore[method-assign]


def way(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
    """What takes a call."""

    def taken() -> int:
        return 0 if f._native is None else sum(entry.calls for entry in f._native.entries)

    before, made = taken(), finished
    f(*args, **kwargs)
    return "Python" if taken() == before else "machine code" if finished == made else "results by Python"


def main() -> None:
    """The table."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS
    api.NATIVE_AFTER, api.WORTH, api.MANY_REFUSED = 1, 0, 2
    every_row = list(rows())
    functions: list[Any] = []
    ways = []
    for row in every_row:
        functions.append(f := tracebuf.bufferize(row.function, tier="fast", **row.options))
        for _ in range(3):
            f(*row.args, **row.kwargs)
    count_finished()
    for row, f in zip(every_row, functions):
        ways.append(way(f, row.args, row.kwargs))
    a, b = np.ones(8), np.ones(8)
    base: list[float] = []
    times: list[tuple[list[float], list[float]]] = [([], []) for _ in every_row]
    for _ in range(rounds):
        for row, f, (native, eager) in zip(every_row, functions, times):
            base.append(cost(np.add, (a, b), {}))
            native.append(cost(f, row.args, row.kwargs))
            eager.append(cost(row.eager or row.function, row.args, row.kwargs))
    unit = statistics.median(base)
    print(f"np.add(a, b): {unit:.0f} ns\n")
    print("| call | ns | of np.add | eager, ns | eager / call | taken by |\n|---|---|---|---|---|---|")
    group = ""
    for row, how, (native, eager) in zip(every_row, ways, times):
        if row.group != group:
            group = row.group
            print(f"| **{group}** | | | | | |")
        mine, its = statistics.median(native), statistics.median(eager)
        print(f"| {row.name} | {mine:.0f} | {mine / unit:.2f} | {its:.0f} | {its / mine:.2f} | {how} |")


if __name__ == "__main__":
    main()
