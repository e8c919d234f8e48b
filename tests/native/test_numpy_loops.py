"""NumPy's inner loops by pointer: found by dtype, bit-identical with the ufunc at any length and in blocks."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from collections.abc import Iterator
from copy import copy
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.linalg import cython_blas

from tests.support.params import one_in
from tracebuf import bufferize, cache
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


def test_blas_by_pointer() -> None:
    """C += A @ B into a strided view: Fortran sees row-major arrays as transposes, so the operands are swapped."""
    rng = np.random.default_rng(1)
    a, b, big = rng.random((5, 3)), rng.random((3, 4)), rng.random((7, 9))
    c = big[1:6, 2:6]
    expected = c + a @ b
    outside = big.copy()
    outside[1:6, 2:6] = expected
    scalars = [np.intc(v) for v in (4, 5, 3)] + [np.float64(1)]
    n, m, k, one = (np.asarray(v) for v in scalars)
    ldc = np.asarray(np.intc(9))
    dgemm = ctypes.CFUNCTYPE(None, *[ctypes.c_char_p] * 2, *[ctypes.c_void_p] * 11)(blas_address("dgemm"))
    dgemm(b"N", b"N", *(x.ctypes.data for x in (n, m, k, one, b, n, a, k, one, c, ldc)))
    np.testing.assert_allclose(big, outside, rtol=1e-14)
    with pytest.raises(LookupError, match="nosuch"):
        blas_address("nosuch")


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Path, ModuleSpec]]:
    """A cache with the places of the routines in the file of the module."""
    before = cache.info()
    cache.use(tmp_path / "cache")
    spec = blas._spec()
    assert spec is not None and blas._kept(spec) is None
    blas._keep(spec, blas._addresses(cython_blas))
    yield tmp_path, spec
    cache.use(before.directory, limit=before.limit)


@pytest.mark.skipif(sys.platform != "linux", reason="places are kept on Linux alone")
def test_the_places_of_blas_routines_are_kept(
    places: tuple[Path, ModuleSpec], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, spec = places
    assert blas._kept(spec) == blas._addresses(cython_blas)
    state = blas._state
    for k in range(4):
        monkeypatch.setattr(blas, "_state", lambda file, k=k: (*state(file)[:k], -1, *state(file)[k + 1 :]))
        assert blas._kept(spec) is None, "another file lies there"
    monkeypatch.setattr(blas, "_state", state)
    other = copy(spec)
    other.origin = str(folder / "another")
    assert blas._kept(other) is None
    (entry,) = [path for path in (folder / "cache").rglob("*") if path.is_file()]
    whole = entry.read_bytes()
    entry.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    assert blas._kept(spec) is None, "the entry is damaged"


def test_places_are_kept_only_where_all_routines_are_in_the_file(
    places: tuple[Path, ModuleSpec], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, spec = places
    cache.clear()
    blas._keep(spec, {"dgemm": blas_address("dgemm"), "another": inner_loop(np.add, "dd->d")[0]})
    assert blas._kept(spec) is None


@pytest.mark.slow
def test_a_later_process_imports_nothing_of_scipy_for_products(tmp_path: Path) -> None:
    code = """
import sys, numpy as np, tracebuf
f = tracebuf.bufferize(tier="fast")(lambda a, b: a @ b)
a = np.arange(12.0).reshape(3, 4)
print(f(a, a.T).tobytes().hex(), "scipy" in sys.modules, f.specializations()[0].loaded)
import scipy.linalg
assert scipy.linalg.solve([[2.0]], [1.0]) == 0.5 and f(a, a.T).tobytes() == (a @ a.T).tobytes()
"""
    (tmp_path / "products.py").write_text(code)
    env = os.environ | {"TRACEBUF_CACHE_DIR": str(tmp_path / "cache"), "TRACEBUF_CACHE_PROGRAMS": "1"}
    found = [
        subprocess.run([sys.executable, "products.py"], cwd=tmp_path, env=env, capture_output=True, text=True)
        for _ in range(2)
    ]
    (first, *how), (second, *later) = (run.stdout.split() for run in found)
    assert how == ["True", "False"] and later == ["False", "True"] and first == second, found[1].stderr


@pytest.mark.slow
def test_blas_is_found_without_the_package_around_it() -> None:
    code = """
import sys
from tracebuf import cache
cache.use(None)
from tracebuf.backend.runtime import blas
found = blas.blas_address("dgemm")
assert "scipy.linalg" not in sys.modules and "scipy.linalg.cython_blas" not in sys.modules
import scipy.linalg.cython_blas
assert scipy.linalg.cython_blas.__pyx_capi__ is not None and scipy.linalg.solve([[2.0]], [1.0]) == 0.5
blas._table.cache_clear()
blas.blas_address.cache_clear()
assert blas.blas_address("dgemm") == found
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
