"""Sparse matrices of SciPy's as arguments: products are host calls on the matrix of the call."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import tracebuf
from tests.support.agreement import agree, refused
from tests.support.native_calls import natively
from tracebuf import api

X = np.arange(5.0) + 1


def matrix(seed: int = 0, kind: str = "csr", shape: tuple[int, int] = (6, 5), dtype: Any = float) -> Any:
    made = sp.random(*shape, 0.5, format=kind, random_state=seed)
    return (made * 10).astype(dtype)


def product(a, x):
    return a @ x


def normal_equations(a, x):
    y = a.T @ (a @ x) + a.shape[0]
    return y / np.linalg.norm(y)


def by_dot(a, x):
    return a.dot(x) * 2 + a.dot(x)[0]


def conjugate_gradient(a, x):
    u = np.zeros(a.shape[1])
    r = a.T @ np.ones(a.shape[0]) - a.T @ (a @ u)
    p, rs = r.copy(), r @ r
    for _ in range(8):
        ap = a.T @ (a @ p)
        alpha = rs / (p @ ap)
        u += alpha * p
        r -= alpha * ap
        new = r @ r
        if new < 1e-20:
            break
        p = r + (new / rs) * p
        rs = new
    return u


def by_rows(a, x):
    out = np.zeros(a.shape[0])
    for i in range(a.shape[0]):
        for j in range(a.indptr[i], a.indptr[i + 1]):
            out[i] += a.data[j] * x[a.indices[j]]
    return out, a.nnz, a.data.sum()


@pytest.mark.parametrize("f", [product, normal_equations, by_dot, conjugate_gradient, by_rows])
def test_a_csr_matrix(f: Callable[..., Any]) -> None:
    """The argument was refused. Other elements and another number of them are the same specialisation."""
    bufferized = tracebuf.bufferize(f)
    for seed in (0, 1):
        agree(bufferized, matrix(seed), X)
    assert len(bufferized.specializations()) == 1


def test_machine_code_asks_for_the_shape_and_the_dtype(monkeypatch: pytest.MonkeyPatch) -> None:
    """Once calls were many, machine code took them by the class of the matrix: the number of rows was another's."""
    monkeypatch.setattr(api, "NATIVE_AFTER", 1)
    monkeypatch.setattr(api, "WORTH", 0)
    f = tracebuf.bufferize(lambda a, x: (x * a.shape[0], a @ x))
    f(matrix(), X)
    assert natively(f, matrix(1), X)
    large = matrix(2, shape=(600, 5))
    for other in (large, matrix(3, dtype=complex), matrix(4, dtype=np.int64), matrix(kind="csc"), X):
        agree(f, other, X)
    assert natively(f, matrix(6, shape=(600, 5)), X)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["csc", "coo", "bsr", "lil", "dia"])
@pytest.mark.parametrize("dtype", [np.float32, complex, np.int64])
def test_formats_and_dtypes(kind: str, dtype: Any) -> None:
    made = matrix(0, "csr", dtype=dtype).asformat(kind)
    agree(product, made, X)
    agree(product, sp.csr_array(made), X.astype(np.float32))
    agree(lambda x, a: x @ a, np.ones((2, 6)), made)


def test_other_shapes_and_classes_are_traced_anew() -> None:
    f = tracebuf.bufferize(product)
    agree(f, matrix(), X)
    agree(f, matrix(shape=(4, 5)), X)
    agree(f, matrix(kind="csc"), X)
    agree(f, np.ones((6, 5)), X)
    with pytest.raises(ValueError, match="dimension mismatch"):
        f(matrix(), np.ones(4))


def test_each_thread_has_its_own() -> None:
    f, found = tracebuf.bufferize(product), {}
    f(matrix(), X)

    def run(k: int) -> None:
        found[k] = [np.array_equal(f(m, X), m @ X) for m in [matrix(k)] * 50]

    threads = [threading.Thread(target=run, args=(k,)) for k in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert all(all(v) for v in found.values())
    assert len(found) == 4


def test_linear_operators_are_taken_from_outside_only() -> None:
    operator = sp.linalg.aslinearoperator(matrix())
    refused(product, operator, X)
    agree(lambda x: operator @ x, X)


def stores_to_its_elements(a, x):
    a.data[0] = 100.0
    return a @ x


def asks_for_its_sum(a, x):
    return a.sum() * x


def multiplies_by_its_operator(a, x):
    return a * x


@pytest.mark.parametrize("f", [stores_to_its_elements, asks_for_its_sum, multiplies_by_its_operator])
def test_what_else_is_done_with_it_is_refused(f: Callable[..., Any]) -> None:
    refused(f, matrix(), X)
