"""What is stored under a mask is computed there (optimize/tensors/compute_under_masks.py)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.support.agreement import agree, program
from tests.support.params import one_in
from tracebuf import bufferize
from tracebuf.testing.ladder import climb

A, B = np.random.default_rng(0).normal(size=(2, 40))
COMPUTED = {
    "a function of the elements": "a[m] = a[m] * a[m] + b[m]",
    "a copy": "a[m] = b[m]",
    "numbers": "a[m] = 2 * b[m] - b.max()",
    "another type": "a[m] = k[m] ^ (k[m] + 1)",
    "to another type": "k[m] = (k[m] + 2) * k[m]",
    "complex": "z[m] = z[m] * z[m] + c[m]",
    "axes": "w = x > 0; x[w] = x[w] * y[w]",
    "axes in another order": "w = y.T > 0; x.T[w] = -y.T[w]",
    "parts": "a[1:-1][m[1:-1]] = a[1:-1][m[1:-1]] + b[2:][m[1:-1]]",
    "strides": "a[::-2][m[::-2]] = a[::-2][m[::-2]] * b[1::2][m[::-2]]",
    "a mask that is stored to": "m[m] = n[m] ^ m[m]",
    "names": "t = b[m] + 1; u = t * t; a[m] = u - t",
    "a loop": "for i in range(3):\n        w = a < i\n        a[w] = a[w] + b[w] * i",
    "a path": "if b[0] < 9:\n        a[m] = a[m] * 3",
    "one dead array": "a[m] = np.cumsum(b)[m] * 2",
    "zeros that the mask leaves out": "a[m] = 1 / np.where(m, a, 0)[m]",
    "three dimensions": "w = a.reshape(2, 4, 5) > 0; a.reshape(2, 4, 5)[w] = b.reshape(2, 4, 5)[w] - 1",
    "no elements": "a[:0][m[:0]] = b[:0][m[:0]] + 1",
    "twice stored": "t = b[m] * 2; a[m] = t + 1; c[n] = c[n] + 1j; z[m] = b[m] + 1j",
}
"""What makes no array for what is compressed."""
KEPT = {
    "stored to in between": "t = b[m]; b[:] = 0; a[m] = t * 2",
    "read after the store": "t = b[m] * 2; a[m] = t; b[: len(t)] += t",
    "other elements": "a[1:][m[1:]] = a[:-1][m[1:]] * 2",
    "other elements, overwritten": "a[m] = a[::-1][m] + a[m]",
    "another mask": "a[m] = b[::-1][m[::-1]][::-1] * 2",
    "what was stored to": "w = a > 0; a[:] = b; a[w] = a[w] * 2",
    "a division where it is defined": "k[m] = 100 // k[m]",
    "dear": "a[m] = np.exp(a[m])",
    "in its order": "a[m] = np.cumsum(b[m])",
    "reversed": "a[m] = b[m][::-1] * 2",
    "rows": "w = x[:, 0] > 0; x[w] = x[w] * 2 + y[w]",
    "a compressed mask": "a[m] = b[m] * 2; m[:] = b > 1; a[m] = b[m]",
    "dead arrays": "a[m] = np.cumsum(a)[m] - np.cumsum(b)[m]",
    "an exchange": "a[m], b[m] = b[m], a[m]",
    "sorted in between": "t = b[m]; b.sort(); a[m] = t * 2",
    "a mask that changes in between": "t = b[m]; m[3] = not m[3]; m[4] = not m[4]; a[m] = t",
    "shorter than the mask by then": "t = b[m]; m[3] = True\n    try: a[m] = t\n    except ValueError: a[0] = 7",
    "what is left of an exception": "try: t = b[m]; a[m] = t * 2; b[99] = 1\n    except IndexError: a[m] = a[m] + 1",
    "returned too": "t = a[m]; a[m] = t + 1; k = t",
    "masks of masks": "t = a[m]; u = t > 0; t[u] = t[u] * 2; a[m] = t",
    "carried by a loop": "u = a\n    for i in range(3): u = u.copy(); u[m] = u[m] + b[m]; a[0] = u[0]\n    k = u",
    "out of a loop": "t = b[m]\n    for i in range(2):\n        a[m] = t * i",
}


def args() -> tuple[Any, ...]:
    k = np.arange(40) % 7
    return A.copy(), B.copy(), k, k > 2, B > 0, A + 1j * B, B - 2j * A, A.reshape(5, 8).copy(), B.reshape(5, 8).copy()


def function(body: str) -> Any:
    return program(f"def f(a, b, k, m, n, z, c, x, y):\n    {body}\n    return a, b, k, m, z, x, y")


@pytest.mark.parametrize("name", one_in(6, [*COMPUTED, *KEPT]))
@pytest.mark.cases(9)
def test_s4_stores_of_what_the_mask_selects(name: str) -> None:
    f = function((COMPUTED | KEPT)[name])
    agree(f, *args())
    climb(f, args())


@pytest.mark.parametrize("name", one_in(6, COMPUTED))
def test_s2_no_array_is_compressed(name: str) -> None:
    text = bufferize(function(COMPUTED[name])).lower(*args()).as_text()
    assert "fills = true" not in text


def test_s2_a_loop_over_the_mask_is_all_there_is() -> None:
    def step(z: Any, c: Any, m: Any) -> None:
        z[m] = z[m] * z[m] + c[m]

    text = bufferize(step).lower(A + 1j * B, A + 1j * B, A > 0).as_text()
    assert "alloc" not in text and text.count("ins(") == 0 and text.count("tracebuf.scatter") == 1
