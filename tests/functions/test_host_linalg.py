"""np.linalg as host calls: values, dtypes, layouts, stacks, sizes 0 and 1, errors, in loops and branches, in place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tracebuf
from tests.support.agreement import agree
from tests.support.params import one_in, slow_but


def matrix(n: int = 4, dtype: Any = np.float64, seed: int = 0) -> np.ndarray:
    """A symmetric positive matrix."""
    a = np.random.default_rng(seed).random((n, n))
    found: np.ndarray = (a @ a.T + n * np.eye(n)).astype(dtype)
    return found


def solve(a):
    return np.linalg.solve(a, a[:, 0]), np.linalg.solve(a, a[:, 1:])


def inverse(a):
    return np.linalg.inv(a)


def numbers(a):
    sign, log = np.linalg.slogdet(a)
    return np.linalg.det(a), sign, log


def cholesky(a):
    return np.linalg.cholesky(a), np.linalg.cholesky(a, upper=True)


def eigen(a):
    w, v = np.linalg.eigh(a)
    return w, v, np.linalg.eigvalsh(a, UPLO="U"), np.linalg.eigh(a, "U")[1]


def qr(a):
    q, r = np.linalg.qr(a)
    c, s = np.linalg.qr(a[:, 1:], mode="complete")
    h, tau = np.linalg.qr(a[1:], mode="raw")
    return q, r, c, s, np.linalg.qr(a[:2], "r"), h, tau


def svd(a):
    u, s, vh = np.linalg.svd(a[:, 1:])
    x, y, z = np.linalg.svd(a[1:], full_matrices=False)
    return u, s, vh, x, y, z, np.linalg.svd(a, compute_uv=False), np.linalg.svdvals(a)


def ranks(a):
    return np.linalg.matrix_rank(a), np.linalg.matrix_rank(a, tol=1e3), np.linalg.cond(a), np.linalg.cond(a, 1)


def pseudo(a):
    return np.linalg.pinv(a[:, 1:]), np.linalg.pinv(a, rcond=1e-3), np.linalg.pinv(a, hermitian=True)


PROGRAMS = [solve, inverse, numbers, cholesky, eigen, qr, svd, ranks, pseudo]
LAYOUTS: list[Callable[[np.ndarray], np.ndarray]] = [
    lambda a: a, np.asfortranarray, lambda a: np.pad(a, 2)[2:-2, 2:-2], lambda a: a[::-1, ::-1].copy()[::-1, ::-1],
    lambda a: np.repeat(np.repeat(a, 2, 0), 3, 1)[::2, ::3],
]  # fmt: skip


@pytest.mark.parametrize("f", one_in(4, PROGRAMS), ids=lambda f: f.__name__)
def test_values(f: Callable[..., Any]) -> None:
    g = tracebuf.bufferize(verify=True)(f)
    for n in (4, 7):
        agree(g, matrix(n))
    assert len(g.specializations()) == 1
    agree(g, matrix(1))
    agree(f, matrix(0))


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.int64, np.uint8, np.bool_])
@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_dtypes(f: Callable[..., Any], dtype: Any) -> None:
    agree(f, matrix(3, dtype))


@pytest.mark.slow
@pytest.mark.parametrize("layout", range(len(LAYOUTS)))
@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_layouts(f: Callable[..., Any], layout: int) -> None:
    agree(f, LAYOUTS[layout](matrix(5)))


def stacks(a, b):
    w, v = np.linalg.eigh(a)
    q, r = np.linalg.qr(a)
    s = np.linalg.svd(a, compute_uv=False)
    return np.linalg.inv(a), np.linalg.det(a), w, v, q, r, s, np.linalg.solve(a, b), np.linalg.cholesky(a)


def stacks_of_one_vector(a, b):
    return np.linalg.solve(a, b), np.linalg.matrix_rank(a), np.linalg.cond(a), np.linalg.pinv(a)


@pytest.mark.slow
@pytest.mark.parametrize("f", one_in(2, [stacks, stacks_of_one_vector]))
def test_stacks(f: Callable[..., Any]) -> None:
    a = np.stack([matrix(3, seed=k) for k in range(6)])
    b = np.random.default_rng(1).random((6, 3, 2))
    agree(f, a, b[0] if f is stacks else b[0, :, 0])
    agree(f, a.reshape(2, 3, 3, 3), b.reshape(2, 3, 3, 2) if f is stacks else b[0, :, 0])
    agree(f, a.reshape(2, 3, 3, 3).transpose(1, 0, 3, 2), b.reshape(2, 3, 3, 2)[0])
    agree(f, a[:0], b[:0] if f is stacks else b[0, :, 0])


def test_lists_and_numbers_are_arrays() -> None:
    def program(x):
        return np.linalg.det([[x, 1.0], [2, 3]]), np.linalg.inv(((x, 1), (0.0, 2)))

    agree(program, 4.0)


ERRORS: list[tuple[Callable[..., Any], np.ndarray]] = [
    (lambda a: np.linalg.inv(a), np.zeros((3, 3))), (lambda a: np.linalg.inv(a), np.ones((2, 3))),
    (lambda a: np.linalg.inv(a), np.ones(3)), (lambda a: np.linalg.cholesky(a), -np.eye(3)),
    (lambda a: np.linalg.solve(a, a[:, 0]), np.zeros((2, 2))), (lambda a: np.linalg.solve(a, a[:-1]), np.eye(3)),
    (lambda a: np.linalg.eigvalsh(a, "X"), np.eye(3)), (lambda a: np.linalg.svd(a)[1], np.full((3, 3), np.nan)),
    (lambda a: np.linalg.qr(a, mode="odd")[0], np.eye(3)), (lambda a: np.linalg.inv(a, 3), np.eye(3)),
    (lambda a: np.linalg.det(a[0, 0]), np.eye(3)), (lambda a: np.linalg.inv(a), np.eye(3, dtype=np.float16)),
]  # fmt: skip


@pytest.mark.parametrize("case", one_in(4, range(len(ERRORS))))
def test_errors_are_numpys(case: int) -> None:
    f, a = ERRORS[case]
    error = agree(f, a)
    assert isinstance(error, Exception)
    with pytest.raises(type(error)) as raised:
        tracebuf.bufferize(f)(a)
    assert str(raised.value) == str(error)
    assert "in <lambda>" in raised.value.__notes__[0]


def test_an_error_that_nobody_needs_the_result_for() -> None:
    def program(a, b):
        np.linalg.inv(a)
        b += 1
        return b

    agree(program, np.zeros((3, 3)), np.zeros(3))
    agree(program, np.eye(3), np.zeros(3))


def in_a_loop(a, b, n):
    total = 0.0
    for _ in range(n):
        if a[0, 0] > 0:
            b[:] = np.linalg.solve(a, b)
        else:
            b += np.linalg.det(a)
        a[0, 0] -= 1
        total += b.sum()
    return total


def in_a_while(a):
    k = 0
    while np.linalg.det(a) > 0.5:
        a[:] = np.linalg.inv(a) * 0.5
        k += 1
    return a, k


def an_early_error_wins(a, b):
    x = np.linalg.inv(a)
    return x, b[5]


@pytest.mark.slow
def test_loops_and_branches() -> None:
    for n in (0, 1, 4):
        agree(in_a_loop, matrix(3), np.ones(3), n)
    assert isinstance(agree(in_a_loop, np.ones((3, 3)), np.ones(3), 3), np.linalg.LinAlgError)
    agree(in_a_while, 3 * np.eye(3))
    assert isinstance(agree(an_early_error_wins, np.zeros((2, 2)), np.zeros(2)), np.linalg.LinAlgError)
    assert isinstance(agree(an_early_error_wins, np.eye(2), np.zeros(2)), IndexError)


def in_place(a, b):
    a[:] = np.linalg.inv(a)
    b[1:, :-1] = np.linalg.inv(b[:-1, 1:])
    a.T[:] = np.linalg.cholesky(b @ b.T + np.eye(len(b)))
    return a


@pytest.mark.parametrize("strategy", ["one-shot", *slow_but((), ["copy-before-write", "optimal"])])
def test_in_place(strategy: Any) -> None:
    for layout in LAYOUTS[:3]:
        agree(tracebuf.bufferize(verify=True, strategy=strategy)(in_place), layout(matrix(4)), layout(matrix(4)))


@pytest.mark.parametrize("f", [lambda a: np.linalg.eigvals(a), lambda a: np.linalg.eig(a)])
def test_eigenvalues_of_real_matrices_are_refused(f: Callable[..., Any]) -> None:
    with pytest.raises(tracebuf.UnsupportedError, match="depends on its elements"):
        tracebuf.bufferize(f)(matrix(3))
