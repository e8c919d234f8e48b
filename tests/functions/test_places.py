"""np.insert at arrays, masks and slices; np.ravel_multi_index by modes; np.logspace of several bases;
np.fill_diagonal of tall matrices; np.roots and np.poly, whose dtype depends on the elements."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from tests.support.agreement import agree, program
from tests.support.params import one_in, some
from tracebuf.testing.ladder import climb

X, M = np.arange(8.0), np.arange(12.0).reshape(3, 4)
ROOTS = [
    "np.roots(x)", "np.roots(np.array([1.0, 0, 1]))", "np.roots(np.array([0.0, 1, -3, 2, 0, 0]))",
    "np.roots([1, 2, 1])", "np.roots(np.zeros(3))", "np.roots(x[:0])", "np.roots(x[:1])", "np.roots(m)",
    "np.roots(x.astype(np.float32))", "np.roots(np.array([1, 3, 2], np.float32))",
    "np.roots(np.array([0, 3, 0], np.float32))", "np.roots(x + 1j)", "np.roots((x + 1j).astype(np.complex64))",
    "np.abs(np.roots(x)).max()", "np.roots(x.astype(int))", "np.roots(np.array([1, 3j]))",
    "np.roots(np.array([1.0, np.nan]))", "np.roots(np.ones(3, np.float16))",
]  # fmt: skip
POLY = [
    "np.poly(x)", "np.poly(x[:3].astype(int))", "np.poly(m[:, :3])", "np.poly(np.array([1j, -1j]))",
    "np.poly(np.array([1j, 1]))", "np.poly(x[:0])", "np.poly(x.astype(np.float32))", "np.poly(m)",
    "np.poly([1, 2.5])", "np.poly(np.array([1j, -1j], np.complex64))", "np.poly(np.array([[0.0, 1], [-1, 0]]))",
    "np.poly(x[2])", "np.poly(np.roots(x + 1))",
]  # fmt: skip
INSERTED = [
    "np.insert(x, np.array([1, 3, 3]), 9)", "np.insert(x, np.array([1, -3]), [5, 6])",
    "np.insert(m, np.array([0, 2]), 7, axis=1)", "np.insert(m, np.array([2]), [[1, 2, 3]], axis=1)",
    "np.insert(m, np.array([2]), [1, 2, 3], axis=1)", "np.insert(x, slice(1, 4), 0.5)",
    "np.insert(x, slice(None, None, 3), [1, 2, 3])", "np.insert(x, x > 5, 1)", "np.insert(x, np.array([1, 99]), 1)",
    "np.insert(x, [-1, 2], 4)", "np.insert(x, np.array([], int), 4)", "np.insert(x, np.array([1.5, 2]), 4)",
    "np.insert(x, np.zeros((2, 2), int), 4)", "np.insert(x, np.array([True, False] * 4), 1)",
    "np.insert(x, np.array([5, 1, 3]), [1, 2, 3])", "np.insert(m.T, np.array([0, 1]), m[:2].T[:, :2] * 0, 1)",
    "np.insert(x, slice(7, 8), [3.0, 4.0])", "np.insert(x, np.array([3, 1], np.int8), np.array([1.7, 2]))",
    "np.insert(x.astype(int), np.array([3, 1]), 1.7)", "np.insert(m, np.array([1, 1]), m[0], axis=0)",
    "np.insert(x, np.array([1, 2]), [1, 2, 3])", "np.insert(x, x < -1, 1)", "np.insert(x, x == 3, 1)",
    "np.insert(m, np.array([1, 4]), 1)", "np.insert(x, np.array([1, 3], np.uint8), 1)",
]  # fmt: skip
RAVELLED = [
    'np.ravel_multi_index((i, j), (3, 4), mode="wrap")', 'np.ravel_multi_index((i, j), (3, 4), mode="clip")',
    'np.ravel_multi_index((i, j), (3, 4), mode=("clip", "wrap"), order="F")',
    'np.ravel_multi_index((i, j), (3, 4), mode=("clip",))', 'np.ravel_multi_index((i, j), (3, 4), mode="x")',
    'np.ravel_multi_index((i, j), (3, 0), mode="clip")',
    'np.ravel_multi_index((i, j), (9, 14), mode=("raise", "wrap"))',
    'np.ravel_multi_index((i[0], 7), (3, 4), mode="wrap")', 'np.ravel_multi_index((i, j), (k, k), "clip")',
]  # fmt: skip
SPACED = [
    "np.logspace(0, 2, 5, base=np.array([2.0, 3.0]))",
    "np.logspace(x[:2], 3.0, 4, base=np.array([2.0, 3.0]), axis=-1)", "np.logspace(0, 2, 5, base=m, axis=1)",
    "np.logspace(0, 2, 5, base=[2, 3])", "np.logspace(x[:3], 1, 5, base=np.array([2.0, 3.0]))",
    "np.logspace(0, 2, base=np.array([[2.0], [3.0]]))", "np.logspace(0, 1, 3, base=x[2])",
    "np.logspace(0, 3, 4, base=np.array([1.0, 2]), dtype=int)",
]  # fmt: skip
DIAGONALS = [
    "np.fill_diagonal(m, 5, wrap=True)", "np.fill_diagonal(m.T, [5, 6], wrap=True)",
    "np.fill_diagonal(m[:, :2], x[:3], True)",
    "c = np.zeros((10, 3), int); np.fill_diagonal(c, [1.5, 2], wrap=True); return c",
    "c = np.zeros((3, 3, 3)); np.fill_diagonal(c, 2, wrap=True); return c",
]  # fmt: skip
ALL = ["return " + text for some in (ROOTS, POLY, INSERTED, RAVELLED, SPACED) for text in some] + DIAGONALS


@pytest.mark.parametrize("body", one_in(12, ALL))
@pytest.mark.cases(3)
def test_values(body: str) -> None:
    f = program(f"def f(x, m, i, j, k):\n    {body}")
    agree(f, X, M, np.array([2, -1, 7]), np.array([1, 9, -3]), 5)


@pytest.mark.slow
@pytest.mark.parametrize("text", ["abs(np.roots(x)).max()", "np.insert(x, np.array([3, 1]), 2) * 2", "np.poly(x) + 1"])
def test_ladder(text: str) -> None:
    climb(program(f"def f(x):\n    return {text}"), X)


@pytest.mark.slow
def test_chosen_elements_are_in_c_order() -> None:
    """The result of np.choose was in the order of the choices."""
    f = program("def f(a, m): return np.choose(m, [a, 0]), np.choose(m, (a, a + 1), mode='wrap')")
    agree(f, np.arange(16).reshape(4, 4).T, np.array([True, False, True, True]))
    agree(f, np.arange(6.0).reshape(2, 3).T, np.array([0, 1]))


@pytest.mark.parametrize("taken", one_in(2, ["np.take(a, i, axis=1)", "np.compress(np.atleast_1d(i) > 0, a, axis=1)"]))
@pytest.mark.slow
def test_nothing_is_taken_of_arrays_without_elements(taken: str) -> None:
    """An index is looked at where there is something before it, and an empty axis where the result has elements."""
    f = program(f"def f(a, i): return {taken}")
    for shape in some(4, itertools.product((0, 1, 2), repeat=3)):
        for i in (0, 5, np.array([0]), np.array([9]), np.array([], int)):
            agree(f, np.ones(shape), i)
            agree(f, np.ones((4, 4, 4))[tuple(map(slice, shape))], i)
