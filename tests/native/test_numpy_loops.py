"""NumPy's inner loops by pointer: found by dtype, bit-identical with the ufunc at any length and in blocks."""

from __future__ import annotations

import ctypes
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from tests.support.params import one_in, slow_but
from tracebuf import bufferize
from tracebuf.backend.llvm import numpy_loops
from tracebuf.backend.llvm.numpy_loops import core_loop, inner_loop, sort_loop, status_flags
from tracebuf.backend.runtime import blas
from tracebuf.backend.runtime.blas import blas_address

UFUNCS = sorted(
    {u.__name__: u for u in vars(np).values() if isinstance(u, np.ufunc) and u.signature is None}.values(),
    key=lambda u: str(u.__name__),
)
LOOP = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)
SPECIAL = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 2.5, -2.5, 1e-310, 1e30])


def operand(rng: np.random.Generator, ufunc: np.ufunc, position: int, dtype: np.dtype[Any], n: int) -> Any:
    if dtype.kind == "b":
        return rng.integers(0, 2, n).astype(dtype)
    if dtype.kind in "iu":
        low, high = (0, 12) if ufunc is np.power or position == 1 else (-100, 100)
        return rng.integers(low, high, n).astype(dtype)
    x = rng.standard_normal(n) * np.exp(rng.uniform(-4, 4, n))
    special = rng.integers(0, n, n // 16)
    x[special] = rng.choice(SPECIAL, n // 16)
    return x.astype(dtype)


def run_in_blocks(loop: tuple[int, int], arrays: list[Any], n: int, block: int) -> None:
    steps = (ctypes.c_ssize_t * len(arrays))(*[a.itemsize for a in arrays])
    for start in range(0, n, block):
        pointers = (ctypes.c_void_p * len(arrays))(*[a.ctypes.data + start * a.itemsize for a in arrays])
        LOOP(loop[0])(pointers, (ctypes.c_ssize_t * 1)(min(block, n - start)), steps, loop[1])


@pytest.mark.parametrize("ufunc", one_in(8, UFUNCS), ids=lambda u: str(u.__name__))
def test_loops_are_bit_identical_in_blocks(ufunc: np.ufunc) -> None:
    rng = np.random.default_rng(0)
    for types in dict.fromkeys(t for t in ufunc.types if set(t) <= set("?lfd->")):
        inputs, outputs = types.split("->")
        signature = tuple(np.dtype(c) for c in inputs + outputs)
        for n in (1, 7, 512, 1300):
            ins = [operand(rng, ufunc, i, np.dtype(c), n) for i, c in enumerate(inputs)]
            with np.errstate(all="ignore"):
                expected = ufunc(*ins, signature=signature)
            for block in (256, 512, n):
                outs = [np.empty(n, c) for c in outputs]
                run_in_blocks(inner_loop(ufunc, types), [*ins, *outs], n, block)
                for got, want in zip(outs, expected if isinstance(expected, tuple) else (expected,), strict=True):
                    assert got.tobytes() == want.tobytes(), (types, n, block)


def test_types_are_matched_by_dtype() -> None:
    assert np.dtype("q") == np.dtype("l")
    assert inner_loop(np.add, "qq->q")[0] and inner_loop(np.add, "ll->l")[0]
    assert inner_loop(np.ldexp, "dq->d") == inner_loop(np.ldexp, "dl->d")


@pytest.mark.parametrize(
    ("ufunc", "types"),
    [(np.exp, "l->d"), (np.exp, "O->O"), (np.matmul, "dd->d"), (np.frompyfunc(abs, 1, 1), "O->O"), (np.add, "d->dd")],
)
def test_what_is_not_there_is_a_lookup_error(ufunc: np.ufunc, types: str) -> None:
    with pytest.raises(LookupError):
        inner_loop(ufunc, types)


UMATH = "numpy.linalg._umath_linalg"


def test_loops_of_generalised_ufuncs() -> None:
    for name, types in (("solve1", "dd->d"), ("svd_s", "D->DdD"), ("det", "f->f"), ("eigh_lo", "D->dD")):
        assert core_loop(UMATH, name, types)[0]
    assert core_loop("numpy.fft._pocketfft_umath", "rfft_n_odd", "dd->D")[0]
    assert core_loop("numpy._core.umath", "matmul", "dd->d")[0]


@pytest.mark.parametrize(
    "where",
    [(UMATH, "solve1", "ee->e"), (UMATH, "none", "d->d"), ("numpy.none", "inv", "d->d"), ("numpy", "exp", "d->d")],
)
def test_generalised_ufuncs_that_are_not_there(where: tuple[str, str, str]) -> None:
    with pytest.raises(LookupError):
        core_loop(*where)


def test_a_loop_that_does_something_else_is_not_given_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a NumPy that lays its struct out otherwise: the table of one ufunc is taken for another's."""
    inverse, solve = np.linalg._umath_linalg.inv, np.linalg._umath_linalg.cholesky_lo
    at = numpy_loops._loop_at(solve, "d->d")
    monkeypatch.setattr(numpy_loops, "_loop_at", lambda *args: at)
    with pytest.raises(LookupError, match="does not compute"):
        core_loop.__wrapped__(UMATH, inverse.__name__, "d->d")


@pytest.mark.parametrize("dtype", "?bBhHiIqQefdFD")
def test_sorts(dtype: str) -> None:
    for kind in (0, 2):
        assert sort_loop(dtype, kind, False)[0] and sort_loop(dtype, kind, True)[0]


@pytest.mark.fast_tier
def test_programs_of_calls_alone_are_compiled_soon() -> None:
    """LLVM's passes took most of the time of a first call of a function around np.linalg.solve."""

    def calls(a: Any, b: Any) -> Any:
        for _ in range(3):
            b = np.linalg.solve(a, b)
        return b

    def computes(a: Any, b: Any) -> Any:
        return np.linalg.solve(a, b) + 1

    def counts(a: Any, n: Any) -> Any:
        total = 0
        for k in range(n):
            total += k * k
        return np.sort(a), total

    a = np.eye(3)
    for f, args, glue in ((calls, (a, a[0]), True), (computes, (a, a[0]), False), (counts, (a[0], 3), False)):
        g = bufferize(f)
        g(*args)
        ((spec,),) = g._compiled.values()
        assert (spec.kernel.library.speed_level == 1) is glue


def test_the_status_flags() -> None:
    test, clear, invalid, every = status_flags()
    assert test and clear and invalid and every & invalid


@pytest.mark.parametrize("integer", [np.int64, np.intc])
def test_blas_by_pointer(integer: type[np.integer], monkeypatch: pytest.MonkeyPatch) -> None:
    """C += A @ B into a strided view: Fortran sees row-major arrays as transposes, so the operands are swapped. NumPy's
    own, and SciPy's, which has integers of 32 bits."""
    if integer is np.intc:
        monkeypatch.setattr(blas, "_numpys", lambda: None)
    blas_address.cache_clear()
    rng = np.random.default_rng(1)
    a, b, big = rng.random((5, 3)), rng.random((3, 4)), rng.random((7, 9))
    c = big[1:6, 2:6]
    expected = c + a @ b
    outside = big.copy()
    outside[1:6, 2:6] = expected
    scalars = [np.int64(v) for v in (4, 5, 3)] + [np.float64(1)]
    n, m, k, one = (np.asarray(v) for v in scalars)
    ldc = np.asarray(np.int64(9))
    dgemm = ctypes.CFUNCTYPE(None, *[ctypes.c_char_p] * 2, *[ctypes.c_void_p] * 11)(blas_address("dgemm"))
    dgemm(b"N", b"N", *(x.ctypes.data for x in (n, m, k, one, b, n, a, k, one, c, ldc)))
    np.testing.assert_allclose(big, outside, rtol=1e-14)
    with pytest.raises(LookupError, match="nosuch"):
        blas_address("nosuch")
    blas_address.cache_clear()


@pytest.mark.parametrize("dtype", slow_but(["f8"], ["f4", "f8", "c8", "c16"]))
def test_products_have_numpys_bits(dtype: str) -> None:
    """They are NumPy's own BLAS's."""
    rng = np.random.default_rng(2)
    product, stacked = bufferize(lambda a, b: a @ b), bufferize(lambda a, b: np.matmul(a, b))
    squares = bufferize(lambda a: (a @ a.T, a.T @ a, a[::2, 1:] @ a[::2, 1:].T))
    for m, k, n in ((40, 50, 60), (200, 300, 100), (513, 257, 129), (8, 700, 90)):
        a, b = (rng.normal(size=shape).astype(dtype) for shape in ((m, k), (k, n)))
        vector, fortran = b[:, 0].copy(), np.asfortranarray(b)
        for x, y in ((a, b), (np.asfortranarray(a), b), (a, fortran), (a, vector), (a[0], b), (a[0], vector)):
            if x.ndim + y.ndim > 2 or x.dtype.kind != "c":  # complex dot products are loops
                assert product(x, y).tobytes() == (x @ y).tobytes(), (x.shape, y.shape)
        c = a[::2, 1:]
        assert [s.tobytes() for s in squares(a)] == [s.tobytes() for s in (a @ a.T, a.T @ a, c @ c.T)]
        assert stacked(np.stack([a, a]), b).tobytes() == np.matmul(np.stack([a, a]), b).tobytes()


@pytest.mark.slow
def test_products_import_nothing_of_scipy() -> None:
    code = """
import sys, numpy as np, tracebuf
a = np.arange(12.0).reshape(3, 4)
f = tracebuf.bufferize(lambda a, b: a @ b)
assert f(a, a.T).tobytes() == (a @ a.T.copy()).tobytes() and "scipy" not in sys.modules
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
