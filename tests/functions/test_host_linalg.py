"""np.linalg as host calls: values, dtypes, layouts, stacks, sizes 0 and 1, errors, in loops and branches, in place."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tracebuf
from tests.support.agreement import agree, program
from tests.support.params import one_in, slow_but
from tracebuf.running.host import ByLoop
from tracebuf.testing.ladder import climb


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


@pytest.mark.parametrize("f", one_in(8, PROGRAMS), ids=lambda f: f.__name__)
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
@pytest.mark.parametrize("f", one_in(4, [stacks, stacks_of_one_vector]))
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


@pytest.mark.parametrize("case", one_in(8, range(len(ERRORS))))
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


@pytest.mark.slow
@pytest.mark.parametrize("strategy", ["one-shot", *slow_but((), ["copy-before-write", "optimal"])])
def test_in_place(strategy: Any) -> None:
    for layout in LAYOUTS[:3]:
        agree(tracebuf.bufferize(verify=True, strategy=strategy)(in_place), layout(matrix(4)), layout(matrix(4)))


def eigen_of_any(a):
    return np.linalg.eigvals(a), np.linalg.eig(a)


def eigen_used(a):
    w, v = np.linalg.eig(a)
    r = np.linalg.eigvals(a)
    k = np.argmax(np.abs(w))
    v[0] = 0
    return np.abs(w).max(), w.real, v[:, k] * 2, v, w.dtype, np.iscomplexobj(r), r[0], np.abs(r) < 1


def eigen_in_expressions(a):
    radius, total = np.abs(np.linalg.eigvals(a)).max(), np.linalg.eigvals(a).max()
    first = np.linalg.eig(a)[0][0] == total
    return radius, total, first, 1 - np.sort(np.linalg.eigvals(a)) * 2, -np.linalg.eig(a).eigenvectors[:, 0]


def eigen_in_loop(a):
    found = 0.0
    for k in range(3):
        if np.isrealobj(np.linalg.eigvals(a - k)):
            found = found + np.linalg.eigvals(a * k).real.sum()
    return found


def eigen_walked(a):
    w, v = np.linalg.eig(a)
    n, out = 0, np.abs(w).max()
    for x in w:
        if abs(x) > 0.5:
            n += 1
    for k, x in enumerate(w):
        if k > 1:
            break
        out = out + abs(x) + abs(v[k, 0])
    else:
        out = -out
    for x, y in zip(w, v.T):
        if abs(x) > 9:
            return y
    return n, out, max([abs(x) for x in w])


EIGEN = [eigen_of_any, eigen_used, eigen_in_expressions, eigen_in_loop, eigen_walked]
TURN, SWAP = np.array([[0.0, -1], [1, 0]]), np.array([[0.0, 1], [1, 0]])
MATRICES = (
    TURN, SWAP, matrix(4), matrix(4)[::-1].T, np.asfortranarray(np.vander(np.arange(4.0))), np.ones((1, 1)),
    np.stack([TURN, np.eye(2)]), np.stack([SWAP, np.eye(2)]), np.zeros((0, 0)), np.zeros((0, 2, 2)), np.ones((2, 3)),
    np.full((2, 2), np.nan), np.ones(3),
)  # fmt: skip
"""With real eigenvalues and with complex ones, and what has none."""


@pytest.mark.parametrize("dtype", ["d", *slow_but((), list("fi?FDe"))])
@pytest.mark.parametrize("f", one_in(6, EIGEN))
@pytest.mark.slow
def test_eigenvalues_of_real_matrices_are_real_or_complex(f: Callable[..., Any], dtype: str) -> None:
    for a in MATRICES:
        if (f is eigen_of_any or a.ndim == 2) and (dtype not in "i?" or np.isfinite(a).all()):
            agree(f, a.astype(dtype))


@pytest.mark.slow
@pytest.mark.parametrize("f", EIGEN)
def test_eigenvalues_on_the_ladder(f: Callable[..., Any]) -> None:
    for a in (TURN, SWAP, TURN.astype(np.float32), SWAP.astype(np.float32)):
        climb(f, a)


# -- NumPy's loops, called without the functions


def by_loop(f: Callable[..., Any], *args: Any) -> bool:
    """Whether the native code of a program has the loop of a generalised ufunc."""
    return "@numpy_" in tracebuf.bufferize(f).lower(*args).as_text("llvm")


def solve_both(a, b):
    return np.linalg.solve(a, b)


def svd_of(a):
    return np.linalg.svd(a), np.linalg.svd(a, False), np.linalg.svd(a, compute_uv=False)


@pytest.mark.slow
@pytest.mark.parametrize("f", [inverse, numbers, cholesky, eigen, svd_of])
def test_native_code_calls_the_loops(f: Callable[..., Any]) -> None:
    assert by_loop(f, matrix()) and by_loop(f, matrix(3, np.complex64))


def test_solve_is_a_loop() -> None:
    assert by_loop(solve_both, matrix(), np.ones(4)) and by_loop(solve_both, matrix(), np.ones((4, 2), np.complex64))
    assert not by_loop(lambda a: np.linalg.svd(a, hermitian=True)[1], matrix())


KINDS = (np.float32, np.float64, np.complex64, np.complex128, np.int32, np.bool_)


@pytest.mark.slow
@pytest.mark.parametrize("one", KINDS)
def test_mixed_dtypes_are_solved_in_numpys_types(one: Any) -> None:
    for other in KINDS:
        agree(solve_both, matrix(3).astype(one), np.arange(3.0).astype(other))
        agree(solve_both, matrix(3).astype(one), np.arange(12.0).reshape(2, 3, 2).astype(other))


@pytest.mark.parametrize("f", one_in(6, [solve, inverse, numbers, cholesky, eigen, svd_of]), ids=lambda f: f.__name__)
def test_complex_matrices_and_sizes(f: Callable[..., Any]) -> None:
    g = tracebuf.bufferize(f)
    for n in (0, 1, 3, 50):
        skew = np.triu(np.ones((n, n)), 1) * 0.1j
        agree(g, matrix(n).astype(np.complex128) + skew - skew.T)
    agree(g, np.full((3, 3), 1e-200) + np.eye(3))


def of_stacks(a, b):
    u, s, vh = np.linalg.svd(a, full_matrices=False)
    sign, log = np.linalg.slogdet(a)
    return np.linalg.solve(a, b), np.linalg.det(a), np.linalg.eigvalsh(a), u, s, vh, sign, log, np.linalg.inv(b)


@pytest.mark.slow
def test_outer_axes_repeat_and_are_strided() -> None:
    a = np.stack([matrix(3, seed=k) for k in range(6)])
    for x, y in (
        (a.reshape(2, 3, 3, 3), a[:3]), (a[0], a.reshape(3, 2, 3, 3)), (a[:2, None], a[None, ::-2]),
        (a[::-1, ::-1, ::-1], a.transpose(0, 2, 1)), (np.broadcast_to(a[0], (4, 3, 3)), a[:4]), (a[:1], a[:0]),
    ):  # fmt: skip
        agree(of_stacks, x, y)


@pytest.mark.slow
def test_the_loops_at_every_stage() -> None:
    text = """
    def loops(a, b):
        u, s, vh = np.linalg.svd(a, full_matrices=False)
        b[:] = np.linalg.solve(a, b)[0]
        for _ in range(2):
            b = np.linalg.inv(b.astype(np.float32))
        return u, s, vh, np.linalg.slogdet(a)[1], b
    """
    climb(program(text), [np.stack([matrix(2), matrix(2, seed=1)]), matrix(2)])


@pytest.mark.parametrize("text, number", [
    ("np.linalg.inv(a)", 0.0), ("np.linalg.solve(a, b)", 1.0), ("np.linalg.solve(a, b[0])", 0.0),
    ("np.linalg.cholesky(a)", -1.0), ("np.linalg.cholesky(a, upper=True)", -1.0), ("np.linalg.svd(a)", np.nan),
    ("np.linalg.svd(a, full_matrices=False)", np.nan), ("np.linalg.svdvals(a)", np.nan),
    ("np.linalg.svd(a, compute_uv=False)", np.nan),
])  # fmt: skip
def test_a_check_raises_what_the_function_raises_of_its_loop(
    text: str, number: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The loop runs once, and the function not at all."""
    f = tracebuf.bufferize(program(f"def f(a, b): return {text}"))
    for _ in range(3):
        error = agree(f, np.full((3, 3), number), np.ones((3, 3)))
        assert isinstance(error, np.linalg.LinAlgError)
    agree(f, matrix(3), np.ones((3, 3)))
    monkeypatch.setattr(ByLoop, "__call__", None)
    for _ in range(3):
        with pytest.raises(np.linalg.LinAlgError, match=str(error)):
            f(np.full((3, 3), number), np.ones((3, 3)))


@pytest.mark.parametrize("text", [
    "np.linalg.inv(a[:2])", "np.linalg.det(a[:2]) + 1", "np.linalg.eigh(a[:, 1:])", "np.linalg.solve(a, b[1:])",
    "np.linalg.solve(a, a[1:])", "np.percentile(b, 200) + 1",
])  # fmt: skip
def test_what_does_not_fit_is_found_while_tracing(text: str) -> None:
    """No program calls the function each time: the original function raises."""
    f = tracebuf.bufferize(program(f"def f(a, b): return {text}"))
    for n in (3, 3, 4):
        assert isinstance(agree(f, matrix(n), np.ones(n)), ValueError | np.linalg.LinAlgError)
    assert not any(f._compiled.values()) and "it raises" in str(f.specializations())


def test_one_singular_matrix_of_a_stack() -> None:
    a = np.stack([matrix(3), np.zeros((3, 3)), matrix(3)])
    for x in (a, a[::-1], a.reshape(3, 1, 3, 3)):
        assert isinstance(agree(inverse, x), np.linalg.LinAlgError)
    assert isinstance(agree(inverse, np.full((2, 2), np.nan)), np.ndarray)


def test_sizes_that_only_the_run_tells_apart() -> None:
    def program(a, k):
        b = a[: k[0]]
        return np.linalg.inv(b)

    f = tracebuf.bufferize(program)
    for k in (3, 2, 4, 0):
        agree(f, matrix(3), np.array([k]))


def large_solve(a, b):
    return np.linalg.solve(a, b), np.linalg.inv(a)


@pytest.mark.slow
def test_large_matrices_go_to_the_function() -> None:
    f = tracebuf.bufferize(large_solve)
    for n in (127, 130):
        agree(f, matrix(n), np.ones(n))
    assert isinstance(agree(f, np.ones((200, 200)), np.ones(200)), np.linalg.LinAlgError)


def test_warnings_are_numpys() -> None:
    """A determinant overflows: the loop sets a flag that the function looks at, so the function says it."""
    f = tracebuf.bufferize(lambda a: np.linalg.det(a))
    big, tiny = np.eye(3) * 1e200, np.eye(3) * 1e-200
    with pytest.warns(RuntimeWarning, match="overflow encountered in det"):
        assert f(big) == np.inf
    with np.errstate(under="raise"), pytest.raises(FloatingPointError, match="underflow encountered in det") as error:
        f(tiny)
    assert "in <lambda>" in error.value.__notes__[0]
    with np.errstate(over="ignore"):
        assert f(big) == np.inf
    assert f(np.eye(3)) == 1 and np.geterr() == np.geterr()


def test_flags_from_before_say_nothing() -> None:
    """Compiled loops leave flags behind."""

    def program(a):
        b = np.sqrt(a - 100)
        return np.linalg.inv(a), np.linalg.det(a), b[0, 0] != b[0, 0]

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with np.errstate(invalid="ignore"):
            f = tracebuf.bufferize(program)
            assert f(matrix())[2]
            assert f(matrix())[2]


def test_frames_of_an_error_keep_no_memory_of_the_call() -> None:
    """What a debugger sees after an error are copies: operands may have been on the stack."""

    def program(a):
        b = np.zeros((2, 2))
        b[0, 0] = b[1, 1] = a[0]
        return np.linalg.det(b)

    with np.errstate(under="raise"), pytest.raises(FloatingPointError) as error:
        tracebuf.bufferize(program)(np.full(3, 1e-200))
    frame, seen = error.value.__traceback__, []
    while frame is not None:
        seen += [v for v in frame.tb_frame.f_locals.values() if isinstance(v, np.ndarray) and v.shape == (2, 2)]
        frame = frame.tb_next
    assert seen and all((v == [[1e-200, 0], [0, 1e-200]]).all() and v.base is None for v in seen)


@pytest.mark.slow
def test_norms_by_singular_values() -> None:
    def norms(a):
        return np.linalg.norm(a, 2), np.linalg.norm(a, -2), np.linalg.norm(a.T, 2.0)

    f = tracebuf.bufferize(norms)
    for a in (matrix(3)[:, 1:], matrix(5), np.ones((1, 1)), np.full((2, 2), np.nan), matrix(3)[:0]):
        agree(f, a)
    for dtype in (np.float32, np.complex64, np.int32):
        agree(norms, matrix(4).astype(dtype))
    assert "@numpy_svd_d_d" in f.lower(matrix()).as_text("llvm")
