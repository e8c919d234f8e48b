"""Loops of element-wise sweeps over vectors run block by block (optimize/buffers/sweep_by_blocks.py)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.support.agreement import agree, program
from tests.support.params import one_in
from tracebuf import bufferize
from tracebuf.testing.ladder import climb

R = np.random.default_rng(0)
BLOCKED = {
    "taps": "for k in range(len(h)): y += h[k] * x[k : k + len(y)]",
    "a new array": "y = np.zeros(len(y))\n    for k in range(len(h)): y += h[k] * x[k : k + len(y)]",
    "two that are stored to": "for k in range(3):\n        y -= c * .1\n        c += y * .1",
    "a map": "for k in range(3): y[:] = y * y + c",
    "a fill, a copy": "for k in range(2):\n        y[:] = k\n        y += c\n        c[:] = y",
    "rows": "for k in range(len(a)): y += a[k, : len(y)]",
    "columns": "for k in range(a.shape[1]): z += a[:, k] * h[1]",
    "backwards": "for k in range(3): y += x[: len(y)][::-1] * k",
    "part of an array": "v = x[3 : 3 + len(y)]\n    for k in range(len(h)): v += h[k] * c",
    "inside": "for k in range(3): y[1:-1] += c[1:-1] * k - x[1 : len(y) - 1]",
    "every other": "for k in range(3): y[::-2] *= k + 0.5",
    "a function": "for k in range(3): y += np.exp(-k * c)",
    "a condition": "for k in range(3): y[:] = np.where(y > c, y - c, y)",
    "another type": "m = np.zeros(len(y), np.float32)\n    for k in range(3): m += c\n    y += m",
    "a check before": "for k in range(3): y += c * (1 / s)",
}
KEPT = {
    "elements further on": "for k in range(3): y[1:] += y[:-1]",
    "itself backwards": "for k in range(3): y += y[::-1]",
    "an element of it": "for k in range(3): y += y[k] * c",
    "taps of it": "for k in range(3): y += c * y[len(h)]",
    "two views": "u, v = x[: len(y)], x[1 : 1 + len(y)]\n    for k in range(2):\n        u += c\n        v += c",
    "a sum": "t = 0.0\n    for k in range(3):\n        y += c\n        t += y.sum()\n    z[0] = t",
    "two lengths": "for k in range(3):\n        y += c\n        z += 1",
    "a check of each step": "for k in range(3): y += c * (1 / (s - k))",
    "a check after a store": "for k in range(3):\n        y += c\n        c += 1 / s",
    "what grows": "for k in range(3): y[k:] += c[k:]",
    "running": "for k in range(3): np.cumsum(y, out=y)",
}


def args(n: int, s: float = 2.0) -> tuple[Any, ...]:
    y, x, h, c, a, z = (R.normal(size=shape) for shape in (n, n + 9, 5, n, (7, n + 2), 7))
    return y, x, h, c, a, z, s


def function(body: str) -> Any:
    return program(f"def f(y, x, h, c, a, z, s):\n    {body}\n    return y, x, c, z")


@pytest.mark.parametrize("name", one_in(6, [*BLOCKED, *KEPT]))
@pytest.mark.cases(6)
def test_each_element_takes_the_same_steps(name: str) -> None:
    f = function((BLOCKED | KEPT)[name])
    climb(f, args(9), again=[args(300), args(9000)], quick=True, tolerance=1e-9)
    agree(f, *args(5000), ulp=100 if name == "a sum" else 0)
    for n in (0, 1, 5000):
        agree(f, *args(n), ulp=100 if name == "a sum" else 0)
    if "check" in name:
        for n in (0, 1, 5000):
            agree(f, *args(n, 0.0))
            agree(f, *args(n, 1.0))


@pytest.mark.parametrize("name", one_in(6, [*BLOCKED, *KEPT]))
def test_a_loop_over_blocks_is_around(name: str) -> None:
    text = bufferize(function((BLOCKED | KEPT)[name]), tile=False).lower(*args(50)).as_text()
    assert ("arith.minsi" in text and text.count("scf.for") == 2) == (name in BLOCKED), text


def test_arguments_that_are_one_array() -> None:
    f = function("for k in range(3):\n        y += c * .5\n        c += 1")
    y, x, h, _, a, z, s = args(3000)
    g = bufferize(f)
    for _ in range(2):
        mine, eager = y.copy(), y.copy()
        g(mine, x, h, mine, a, z, s)
        f(eager, x, h, eager, a, z, s)
        np.testing.assert_array_equal(mine, eager)
        g(mine, x, h, mine[::-1], a, z, s)
        f(eager, x, h, eager[::-1], a, z, s)
        np.testing.assert_array_equal(mine, eager)


def test_a_block_fits_the_cache() -> None:
    """A sweep over all elements for each tap reads memory as often as there are taps."""
    text = bufferize(function(BLOCKED["taps"])).lower(*args(50)).as_text()
    loop = text[text.index("scf.for") :]
    assert loop.index("memref.subview %y[") < loop.index("scf.for", 8) < loop.index("memref.load %h")
    assert "alloc" not in loop and "copy" not in loop


@pytest.mark.slow
def test_views_that_a_check_allows_stay_behind_it() -> None:
    """A loop of no iterations made a view of an array that is shorter."""

    def f(b, c, n):
        at = 0
        while at < 3:
            at += 1
            part = b[:at:-1]
        sums = part + c[:-n:2]
        for _ in range(part.shape[0]):
            b[::-2] = sums

    climb(f, (np.arange(4.0)[::-1], np.arange(4.0), 5))


def test_views_of_a_loop_without_iterations_are_not_made() -> None:
    """Where it has one, `c[-n]` is a row of the array."""

    def f(b, c, n):
        for _ in range(n, 1):
            b *= c[-n]

    climb(f, (np.arange(4), np.arange(16).reshape(4, 4), 9))
    climb(f, (np.arange(5000), np.arange(20000).reshape(4, 5000), -3), again=[(np.arange(3), np.ones((1, 3), int), 0)])
