"""Reductions of the same arrays are one sweep (optimize/tensors/merge_reductions.py)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.support.agreement import agree, program
from tests.support.params import one_in
from tracebuf import bufferize
from tracebuf.testing.ladder import climb

A, B = np.random.default_rng(0).normal(size=(2, 30, 41))
MERGED = {
    "extremes": "return a.min(), a.max()",
    "sums": "return (a * b).sum(), (a * a).sum(), (b * b).sum()",
    "a sum and an extreme": "return a.sum(), np.abs(a).max()",
    "a mean of squares": "return a.mean(), (a * a).mean()",
    "a scale": "lo, hi = a.min(), a.max()\n    return (a - lo) / (hi - lo)",
    "a function of a number": "return a.sum(), (a - k).max()",
    "views": "v = a[1:-1, ::2]\n    return v.min(), v.max()",
    "on a path": "if k > 0:\n        return a.min(), a.max()\n    return 0.0, 0.0",
    "in a loop": "t = 0.0\n    for i in range(3): t += a[i].max() - a[i].min()\n    return t",
    "a store behind": "s, t = a.min(), a.max()\n    a[0] = 0\n    return s, t",
}
"""Each with one sweep over `a` less."""
KEPT = {
    "what depends on the first": "m = a.max()\n    return m, (a - m).sum()",
    "a store in between": "s = a.min()\n    a[0] = 9\n    return s, a.max()",
    "other arrays": "return a.min(), b.max()",
    "other axes": "return a.min(0), a.max(0)",
    "decided early": "return (a > 0).any(), (a > 1).any()",
    "one of another type": "return a.max(), np.count_nonzero(a > 0)",
    "first elements": "return a.argmin(), a.max()",
    "NumPy's loops": "return np.exp(a).sum(), np.sin(a).sum()",
}


def function(body: str) -> Any:
    return program(f"def f(a, b, k):\n    {body}")


@pytest.mark.parametrize("name", one_in(6, [*MERGED, *KEPT]))
def test_c2_reductions_side_by_side(name: str) -> None:
    f = function((MERGED | KEPT)[name])
    climb(f, (A.copy(), B.copy(), 2.0), again=[(A[:3, :4].copy(), B[:3, :4].copy(), -1.0)], tolerance=1e-9)
    for dtype in (np.float32, np.float64):
        agree(f, A.astype(dtype), B.astype(dtype), 3, ulp=200)
    special = np.where(A > 2, np.nan, np.where(A < -2, -np.inf, A * 0.0))
    agree(f, special.copy(), B.copy(), 1.5, ulp=100)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_exceptions_come_in_their_order() -> None:
    for body in ("return a.min(), a.max()", "s = a.sum()\n    return s, (a / b[0, 0]).max(), 1 / k"):
        f = function(body)
        for n in (0, 1, 3):
            for k in (0.0, 1.0):
                agree(f, A[:n].copy(), B.copy(), k, ulp=20)


@pytest.mark.parametrize("name", one_in(6, [*MERGED, *KEPT]))
def test_s2_one_sweep_over_the_array(name: str) -> None:
    text = bufferize(function((MERGED | KEPT)[name])).lower(A, B, 2.0).as_text()
    sweeps = [line for line in text.splitlines() if "linalg.generic" in line and '"reduction"' in line]
    merged = [line for line in sweeps if line.partition("outs(")[2].partition(":")[0].count("%") > 1]
    assert bool(merged) == (name in MERGED), text
