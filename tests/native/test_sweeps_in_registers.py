"""Loops of sweeps over a vector that read columns take a few elements at a time (lower/registers.py)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.support.agreement import agree, program
from tests.support.params import one_in
from tracebuf import bufferize
from tracebuf.lower.registers import WIDTH
from tracebuf.testing.ladder import climb

SWEPT = {
    "a product": "for k in range(a.shape[1]): y += h[k] * a[:, k]",
    "a map": "for k in range(3): y[:] = y * a[:, k] + c",
    "a triangle": "for i in range(len(y)):\n        for k in range(3): y[: i + 1] += c[i] * a[: i + 1, k]",
    "backwards": "for k in range(3): y[::-1] -= a[:, k] / 3",
    "backwards in turn": "for k in range(3, 0, -1): y += a[:, k]",
    "a condition": "for k in range(3): y[:] = np.where(a[:, k] > c, y - c, a[:, k])",
    "another type": "for k in range(3): y += a[:, k].astype(np.float32)",
    "from a number": "for k in range(2, 5): y += a[:, k]",
    "two columns": "for k in range(3): y += a[:, k] * a[:, 6 - k]", "none": "for k in range(0): y += a[:, k]",
}  # fmt: skip
KEPT = {
    "rows": "for k in range(3): y += a[k, 0] * c", "its own column": "for k in range(6): a[:, k] += a[:, k + 1]",
    "its own elements": "for k in range(3): y += a[:, k] * y[k]",
    "a function": "for k in range(3): y += np.exp(a[:, k])",
    "two sweeps": "for k in range(3):\n        y += a[:, k]\n        c -= a[:, k]",
    "a function of a number": "for k in range(3): y += np.sin(h[k]) * a[:, k]",
    "a check in each step": "for k in range(3): y[::2] *= a[::2, k]",
}  # fmt: skip


def arrays(n: int, dtype: Any = np.float64) -> tuple[Any, ...]:
    r = np.random.default_rng(n)
    return tuple((r.normal(size=shape) * 9).astype(dtype) for shape in ((n, 7), n, n, 7))


@pytest.mark.parametrize("name", one_in(3, [*SWEPT, *KEPT]))
@pytest.mark.cases(3)
def test_each_element_takes_the_same_steps(name: str) -> None:
    f = bufferize(program(f"def f(a, y, c, h):\n    {(SWEPT | KEPT)[name]}"))
    for n in (*range(WIDTH + 2), 2 * WIDTH, 3 * WIDTH + 5):
        if n > 3 or "rows" not in name and "its own" not in name:
            agree(f, *arrays(n))
    agree(f, *arrays(5000))
    agree(f, *(x[::-1] for x in arrays(20)))
    assert ("phi double" in f.lower(*arrays(9)).as_text("llvm")) == (name in SWEPT and name != "none")


@pytest.mark.parametrize("dtype", ["f", "l", "B", "D"])
def test_other_types(dtype: str) -> None:
    f = bufferize(program("def f(a, y, h):\n    for k in range(7): y += h[k] * a[:, k]"))
    for n in (3, 8, 21):
        a, y, _, h = arrays(n, dtype)
        agree(f, a, y, h)


def test_an_argument_that_is_the_array_itself() -> None:
    f = bufferize(program("def f(a, y):\n    for k in range(3): y += a[:, k]"))
    for column in (0, 2, 6):
        a = arrays(20)[0]
        b = a.copy()
        f(a, a[:, column])
        f.__wrapped__(b, b[:, column])
        np.testing.assert_array_equal(a, b)


def test_on_every_rung() -> None:
    climb(program(f"def f(a, y, c, h):\n    {SWEPT['a product']}\n    return y.sum()"), arrays(19), tolerance=1e-12)
