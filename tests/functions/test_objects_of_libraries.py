"""Objects of libraries that a traced function makes: operators, items, stores, Python's questions, paths."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.sparse import coo_array, csr_array, csr_matrix, issparse
from scipy.spatial import KDTree

import tracebuf
from tests.support.agreement import agree, refused
from tests.support.params import one_in

RNG = np.random.default_rng(0)
X = RNG.normal(size=(4, 4)) * (RNG.random((4, 4)) > 0.4)
WIDE = RNG.normal(size=(5, 7)) * (RNG.random((5, 7)) > 0.4)


def operators(x: np.ndarray) -> Any:
    a = csr_array(x)
    both = a @ x.T, x.T @ a, a.T @ x
    return both, (a + a).toarray(), (2 * a).toarray(), (-a).toarray(), (a > 1).toarray(), abs(a).sum()


def of_matrices(x: np.ndarray) -> Any:
    a = csr_matrix(x)
    a *= 2
    return (a * a.T).toarray(), np.float64(len(a.data)), (a - a.multiply(a)).toarray()


def items(x: np.ndarray) -> Any:
    a = csr_array(x)
    return a[1].toarray(), a[0, 2], a[1:3].toarray(), a[:, [0, 2]].toarray(), a[np.arange(2)].sum()


def stores(x: np.ndarray) -> Any:
    a = csr_array(x).tolil()
    a[0, 1] = 5.0
    for k in range(len(x)):
        a[k, k] = k + 1
    return a.toarray()


def stores_to_attributes(x: np.ndarray) -> Any:
    a = csr_array(x)
    a.data[:] = np.exp(a.data)
    a.data *= 2
    a.data[1:3] += 1
    for k in range(3):
        a.data[k] = k
    return a.toarray(), a.data


def questions(x: np.ndarray) -> Any:
    a = csr_array(x)
    return issparse(a), isinstance(a, np.ndarray), isinstance(a, csr_array), type(a) is csr_array, a.shape, a.nnz


def of_indices(x: np.ndarray) -> Any:
    d, n = x[0] * 2, x.shape[1]
    a = csr_array((d, np.arange(n), np.arange(n + 1)), shape=(n, n))
    b = coo_array((d, (np.arange(n), np.arange(n)[::-1])), shape=(n, n))
    e, g = x[1] * 3, np.sin(x[2])
    return a @ x.T, (a + b).toarray(), e, g.sum()


def caught(x: np.ndarray, leaf: int) -> Any:
    try:
        tree = KDTree(x, leafsize=leaf)
    except ValueError:
        tree = KDTree(x)
    return tree.query(x[0])


def by_path(x: np.ndarray, leaf: int) -> Any:
    tree = KDTree(x, leafsize=leaf) if leaf > 3 else KDTree(x)
    return tree.query(x[0])


def powers(x: np.ndarray) -> Any:
    a = csr_array(x)
    for _ in range(4):
        a = csr_array(a @ a * 0.5)
    return a.toarray()


def until_it_is_full(x: np.ndarray) -> Any:
    a, k = csr_array(x), 0
    while k < 60 and a.nnz < 16:
        a, k = csr_array(a @ a * 0.5), k + 1
    return a.toarray(), k


def by_path_in_a_loop(x: np.ndarray) -> Any:
    a = csr_array(x)
    for k in range(len(x)):
        if x[k, k] > 0:
            a = csr_array(a + a.T)
    return a.toarray()


def rows(x: np.ndarray) -> Any:
    a, total = csr_array(x), 0.0
    for k in range(len(x)):
        row = a[[k]]
        total += row.sum()
        for j in row.indices:
            total += j * row.data[0]
    return total


PROGRAMS: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "operators": (operators, (X,)), "of matrices": (of_matrices, (X,)), "items": (items, (X,)),
    "stores": (stores, (X,)), "stores to attributes": (stores_to_attributes, (X,)), "questions": (questions, (X,)),
    "of indices": (of_indices, (X,)), "caught": (caught, (X, 5)),
    "by path": (by_path, (X, 2)), "powers": (powers, (X,)),
    "until it is full": (until_it_is_full, (X,)), "by path in a loop": (by_path_in_a_loop, (X,)), "rows": (rows, (X,)),
}  # fmt: skip


def test_an_object_that_cannot_be_made_is_caught_where_one_could() -> None:
    """What the first call gives has to make one: what its methods give is asked of it."""
    agree(caught, X, 5)
    agree(caught, X, 0)
    f = tracebuf.bufferize(caught)
    assert "raises for stand-ins" in refused(f, X, 0).reason
    agree(f, X, 5)
    agree(f, X, 0)


@pytest.mark.parametrize("name", one_in(4, PROGRAMS))
@pytest.mark.cases(4)
def test_objects_beside_arrays(name: str) -> None:
    f, args = PROGRAMS[name]
    agree(f, *args)


def test_of_other_sizes() -> None:
    f = tracebuf.bufferize(items)
    for x in (X, WIDE):
        agree(f, x)


def test_an_array_of_an_object_that_a_name_holds_is_not_stored_to() -> None:
    def f(x: np.ndarray) -> Any:
        a = csr_array(x)
        d = a.data
        d *= 2
        return a.toarray(), d

    assert "that an object of a library's holds" in refused(f, X).reason
