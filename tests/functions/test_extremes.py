"""Diagonals near 2**63, arrays that no memory holds, and indices that are floats (rules N1, F3)."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from tests.support.agreement import agree, program
from tests.support.params import one_in
from tracebuf import bufferize

FAR = 2**63
DIAGONALS = (FAR - 1, -FAR, FAR - 2, 1 - FAR, FAR - 3, 5 - FAR, 2**62, -(2**62), 2**31, -(2**31) - 1, 2**31 - 1)
MATRICES = (
    "np.tri(3, 4, k)", "np.tril(a, k)", "np.triu(a, k)", "np.eye(3, 4, k)", "np.eye(3, 4, k, order='F')",
    "np.diagonal(a, k)", "np.diag(a, k)", "np.trace(a, k)", "np.tril_indices(3, k)", "np.triu_indices(3, k)",
)  # fmt: skip


@pytest.mark.parametrize(("text", "k"), one_in(37, [(t, k) for k in DIAGONALS for t in MATRICES], rows=True))
def test_diagonals_outside(text: str, k: int) -> None:
    """The row's index was added to k, and wrapped: np.tri(3, 4, 2**63 - 1) had ones in its first row only."""
    agree(program(f"def f(a, k):\n    return {text}"), np.arange(9.0).reshape(3, 3), k)
    agree(program(f"def f(a):\n    return {text.replace('k)', f'{k})').replace(' k,', f' {k},')}"), np.ones((3, 3)))


def test_a_diagonal_from_elements() -> None:
    f = bufferize(program("def f(a, m):\n    return np.tri(3, 4, m[0]), np.triu(a, m[0])"))
    for k in (1, -2, FAR - 1, FAR - 5, 5 - FAR, -(2**62) - 3):
        agree(f, np.ones((3, 3)), np.array([k]))


HUGE = (
    "np.empty(n).shape", "np.zeros(n)[0]", "len(np.ones(n))", "np.full(n, 2.0).shape", "np.arange(n).shape",
    "np.zeros((n, 2)).ndim", "np.zeros((n, n, 0)).shape", "np.zeros(n, np.int8).size", "np.linspace(0, 1, n).shape",
    "np.broadcast_to(1.0, n).copy().shape", "(np.broadcast_to(1.0, n) + 1).shape", "np.broadcast_to(1.0, n).shape",
    "np.repeat(1.0, n).shape", "np.tile(np.ones(1), n).shape", "np.eye(n)[0, 0]", "np.identity(n).shape",
    "np.indices((n,)).shape", "np.tri(n).shape", "np.ones((n, 1)).T.shape", "np.pad(np.ones(3), n).shape",
    "np.zeros_like(np.broadcast_to(1.0, n)).shape", "np.diag(np.ones(2), n).shape",
)  # fmt: skip


@pytest.mark.parametrize(("text", "n"), one_in(18, [(t, 2**k) for t in HUGE for k in (61, 55)], rows=True))
def test_arrays_that_no_memory_holds(text: str, n: int) -> None:
    """They were folded away, and nothing raised; as an argument, as a constant, as an element."""
    f = bufferize(program(f"def f(n):\n    return {text}"))
    agree(f, 3)
    agree(f, n)
    agree(f, 4)
    agree(program(f"def f():\n    return {text.replace('n)', f'{n})').replace('n,', f'{n},')}"))


@pytest.mark.parametrize("text", one_in(6, [t for t in HUGE if not re.search("eye|diag|int8", t)]))
def test_arrays_that_no_memory_holds_by_elements(text: str) -> None:
    f = bufferize(program(f"def f(m):\n    n = int(m[0])\n    return {text}", verify=True))
    for n in (3, 2**61):
        agree(f, np.array([n]))


def test_more_memory_than_there_is_by_elements() -> None:
    f = bufferize(program("def f(m):\n    return np.zeros(m[0], np.int8).size"))
    agree(f, np.array([3]))
    with pytest.raises(MemoryError):
        f(np.array([2**61]))


def test_a_branch_that_is_not_taken_makes_no_array() -> None:
    def f(a, n):
        if a[0] > 0:
            return np.zeros(n).size
        return 0

    agree(f, np.zeros(2), 2**61)
    agree(f, np.ones(2), 2**61)


INDICES: tuple[Any, ...] = (1.5, -1.5, [1.7, 2.2], [[1.5]], np.float32(1.5), [np.float64(1.5), 2], [True, 2.5], 1 + 2j)
INDICES += (float("nan"), float("inf"), 1e30, np.array(1.5), np.array([1.5]), np.array([], float), [], [1j])


@pytest.mark.parametrize("index", one_in(15, INDICES))
@pytest.mark.slow
def test_an_index_that_is_no_int(index: Any) -> None:
    """NumPy converts numbers, alone and in lists, as int() does; arrays it refuses. They were refused alike."""
    a = np.arange(5)
    for text in ("np.put(a, i, 7)", "a.put(i, 7)", "np.take(a, i)", "a.take(i)", "np.put(a, i, 7, mode='wrap')"):
        source = f"def f(a, i):\n    x = {text}\n    return x, a"
        agree(program(source), a, index)
        if isinstance(index, float) and np.isfinite(index):
            agree(program(source.replace("a, i,", f"a, {index},").replace("(i", f"({index}")), a, 0)
