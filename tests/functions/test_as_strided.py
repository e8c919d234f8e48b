"""np.lib.stride_tricks.as_strided: windows, blocks, diagonals, repeats; where it would leave the array; stores."""

from __future__ import annotations

import numpy as np
import pytest

import tracebuf
from tests.support.agreement import agree, program
from tests.support.params import one_in
from tracebuf.testing.ladder import climb

S = np.lib.stride_tricks.as_strided
A, M = np.arange(24.0), np.arange(24.0).reshape(4, 6)
BLOCKS = "S(m, (2, 3, 2, 2), (2 * m.strides[0], 2 * m.strides[1], m.strides[0], m.strides[1]))"
VIEWS = [
    "S(a)", "S(a, (10, 3), (8, 8))", "S(a, (len(a) - 4, 5), (a.strides[0], a.strides[0]))",
    "S(a, (12,), strides=(16,))",
    "S(a, (3, 24), (0, 8))", "S(a, [5, 4, 3], [8, 16, 24])", "S(m)", "S(m, (6, 4), (8, 48))", BLOCKS,
    "S(m, (24,), (8,))",
    "S(m, (4,), (m.strides[0] + m.strides[1],))", "S(m.T, (6, 4), (8, 48))", "S(m[:, ::2], (2, 3), (m.strides[0], 16))",
    "S(m[1], (5, 2), (8, 8))", "S(a, (2, 2), (8,))", "S(a, writeable=False)", "S(a, (5, 3), (8, 8)).sum(1)",
    "S(a, (10, 3), (8, 8)) @ np.ones(3)", "S(a, (1, 24), (0, 8))", "S(a, strides=(0,))", "S(m, strides=(0, 8))",
    "S(a[:1], (4,), (0,))", "S(m.astype(np.float32), (3, 2), (24, 4))", "S(a.astype(int), (k, 4), (8 * k, 8))",
    "S(a * 2, (10, 3), (8, 8))", "S(a, (2.5,), (8,))", "S(m, (3, 5, 2, 2), m.strides + m.strides)",
    "S(a[:0], strides=(0,))",
    "S(m, (3, 5, 2, 2), m.strides * 2).sum((2, 3))", "S(m, (2, 24), (0, 8))", "S(m[:1], strides=(0, 8))",
    "S(a, (-1,), (8,))", "S(a[9:], (4, 6), (-8, 8))", "S(a[-1:], (5,), (-8,))", "S(a[::-1], (3, 2), (8 - 16, -16))",
    "S((a * 2)[5:], (3, 3), (-16, 8)).copy()", "S(a[2:4], (9, 2), (8, 8))", "S(a[k:], (k + 1, 3), (-8, 16)).sum(1)",
    "S((a * 2)[k:], (k + 1, k + 1), (-8, 8)) @ a[: k + 1]",
]  # fmt: skip
STORED = [
    "b = S(a[9:], (3,), (-16,)); b += 1; a[9] = 4; return b, a", "b = S(a[9:], (4, 6), (-8, 8)); a[8] = 99; return b",
    "b = S(a, (12,), (16,)); b += 1; a[0] = 9; return b, a", "b = S(a, (10, 3), (8, 8)); a[2] = 9; return b.copy(), b",
    "b = S(a, (12,), (16,), writeable=False); b += 1; return b", "b = S(a, (3, 24), (0, 8)); b[1] = 9; return b, a",
    "b = S(a, (3, 24), (0, 8), writeable=False); b += 1; return b", "b = S(a, (4, 6), (0, 8)); b[0, 0] = 3; return a",
    "b = S(m, (6, 4), (8, 48)); b[1] = 7; b.T[0] = 1; return b, m, b.flags.writeable",
]  # fmt: skip
BEYOND = [
    "S(a, (30,), (8,))", "S(a, (23, 3), (8, 8))", "S(a[::-1], (3,), (8,))", "S(a[1:], (3, 2), (-8, 8))",
    "S(a, (5,), (4,))", "S(a, (0, 3), (8, 8))",
]  # fmt: skip
OVERLAPPING = [
    "b = S(a[9:], (4, 6), (-8, 8)); b[0] = 9; return b",
    "b = S(a, (10, 3), (8, 8)); b[0] = 9; return b", "b = S(a, (3, 24), (0, 8)); b += 9; return b",
    "b = S(a, (3, 24), (0, 8)); b.sort(); return a", "b = S(a, (3, 24), (0, 8)); b.fill(2); return a",
    "b = S(a, (10, 3), (8, 8)); b[1, 1] = 0; return a", "b = S(a, (10, 3), (8, 8)); np.add(b, 1, out=b); return a",
]  # fmt: skip


@pytest.mark.parametrize("body", [*one_in(8, ["return " + text for text in VIEWS]), *one_in(4, STORED)])
def test_values(body: str) -> None:
    agree(program(f"def f(a, m, k):\n    {body}", S=S), A, M, 3)


@pytest.mark.parametrize("body", ["return " + text for text in BEYOND])
def test_what_leaves_the_array_is_refused(body: str) -> None:
    with pytest.raises(tracebuf.UnsupportedError, match="as_strided that"):
        tracebuf.bufferize(program(f"def f(a):\n    {body}", S=S))(A.copy())


@pytest.mark.parametrize("body", OVERLAPPING)
def test_stores_to_elements_that_overlap_are_refused(body: str) -> None:
    with pytest.raises(tracebuf.UnsupportedError, match="a store through"):
        tracebuf.bufferize(program(f"def f(a):\n    {body}", S=S))(A.copy())


def moving_average(a, w):
    s = a.strides[0]
    return S(a, (len(a) - w + 1, w), (s, s)).mean(axis=1)


def test_one_program_serves_all_sizes() -> None:
    f = tracebuf.bufferize(verify=True)(moving_average)
    for n, w in ((10, 3), (24, 5), (200, 7)):
        agree(f, np.arange(float(n)) ** 2, w)
    assert len(f.specializations()) == 1
    agree(f, np.arange(30.0)[::3], 4)


@pytest.mark.parametrize("text", ["S(a, (10, 3), (8, 8)) * 2", "S(a, (12,), (16,)) + 1", "S(a, (5, 3), (8, 0)).sum()"])
def test_ladder(text: str) -> None:
    climb(program(f"def f(a):\n    return {text}", S=S), A)
