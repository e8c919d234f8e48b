"""Programs as C functions: `f.ctypes` and `f.low_level_callable`."""

from __future__ import annotations

import ctypes
import gc
import math
import sys
import threading
from typing import Any

import numpy as np
import pytest

from tests.support.agreement import program
from tests.support.references import steady
from tracebuf import UnsupportedError, bufferize
from tracebuf.backend.runtime.callable import NATIVE

pytestmark = pytest.mark.skipif(not NATIVE, reason="Python makes all calls here")
TABLE = np.arange(4.0)


@pytest.mark.slow
def test_numbers_by_value() -> None:
    f = bufferize(lambda x, y: x * y + 1).ctypes(1.0, 1.0)
    assert (f.restype, f.argtypes) == (ctypes.c_double, (ctypes.c_double,) * 2) and f(3.0, 4.0) == 13.0
    g = bufferize(lambda n, k: n // k).ctypes(7, 2)
    assert g.restype is ctypes.c_int64 and [g(n, 2) for n in (7, -7, 8)] == [3, -4, 4]
    assert g(2**40, 3) == 2**40 // 3, "Python takes what is part of a key"
    assert bufferize(lambda a, b: a and not b).ctypes(True, False)(True, True) is False
    h = bufferize(lambda x: x * np.float32(2)).ctypes(np.float32(1))
    assert h.restype is ctypes.c_float and h(1.25) == 2.5
    assert bufferize(lambda x: 1.5).ctypes(1.0)(7.0) == 1.5
    assert bufferize(lambda x, y: x - y).ctypes(np.int8(1), np.int8(2))(100, 3) == 97


@pytest.mark.slow
def test_arrays_as_pointers_and_sizes() -> None:
    f = bufferize(lambda a, k: (a * k).sum()).ctypes(np.ones((3, 4)), 2.0)
    x = np.arange(24.0).reshape(4, 6)
    assert f.argtypes == (ctypes.c_void_p, ctypes.c_ssize_t, ctypes.c_ssize_t, ctypes.c_double)
    for rows, columns in ((4, 6), (6, 4), (2, 12), (1, 24), (24, 1), (0, 3), (3, 0), (1, 1)):
        wanted = (x.ravel()[: rows * columns].reshape(rows, columns) * 3.0).sum()
        assert f(x.ctypes.data, rows, columns, 3.0) == pytest.approx(wanted)

    def step(a: Any, b: Any) -> None:
        a += b[::-1]

    g = bufferize(step).ctypes(np.ones(3), np.ones(3))
    a, b = np.ones(5), np.arange(5.0)
    assert (
        g.restype is None and g(a.ctypes.data, 5, b.ctypes.data, 5) is None and a.tolist() == [5.0, 4.0, 3.0, 2.0, 1.0]
    )
    with pytest.raises(ValueError, match="broadcast"):
        g(a.ctypes.data, 5, b.ctypes.data, 4)
    raw = np.zeros(8 * 3 + 1, np.uint8)
    raw[1:].view(np.float64)[:] = 2.0
    assert f(raw.ctypes.data + 1, 1, 3, 1.0) == 6.0, "what is not aligned is copied"
    with pytest.raises(ValueError):
        f(x.ctypes.data, -1, 3, 1.0)
    h = bufferize(lambda i: TABLE[i] * len(TABLE)).ctypes(1)
    assert [h(i) for i in range(-4, 4)] == [float(TABLE[i] * 4) for i in range(-4, 4)]
    with pytest.raises(IndexError):
        h(4)


@pytest.mark.slow
def test_errors_are_not_a_number_and_pending() -> None:
    def root(x: Any) -> Any:
        if x < 0:
            raise ValueError("negative")
        return np.sqrt(x)

    f = bufferize(root).ctypes(1.0)
    with pytest.raises(ValueError, match="negative") as error:
        f(-1.0)
    assert any("test_c_callers.py" in note for note in error.value.__notes__)
    assert f(4.0) == 2.0
    seen: list[Any] = []
    before, sys.unraisablehook = sys.unraisablehook, lambda e: seen.append(e.exc_value)
    try:  # a caller without the GIL does not look
        without = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)(ctypes.cast(f, ctypes.c_void_p).value)
        assert math.isnan(without(-1.0)) and without(9.0) == 3.0
        results: list[float] = []
        other = threading.Thread(target=lambda: results.append(without(-1.0)))
        other.start()
        other.join()
    finally:
        sys.unraisablehook = before
    assert [str(e) for e in seen] == ["negative"] * 2 and math.isnan(results[0])


@pytest.mark.slow
def test_what_has_no_c_caller_is_refused() -> None:
    for function, args in (
        (lambda a: a * 2, (np.ones(3),)), (lambda x: (x, x), (1.0,)), (lambda p: p[0], ([1.0],)),
        (lambda x: x * 1j, (1.0,)), (lambda a: a.sum(), (np.ones((3, 3)).T,)), (lambda x: x, (1j,)),
        (lambda a: np.linalg.inv(a).sum(), (np.eye(3),)), (lambda a, b: (a + b).sum(), (TABLE, TABLE)),
    ):  # fmt: skip
        with pytest.raises(UnsupportedError):
            bufferize(function).ctypes(*args)
    pytest.importorskip("scipy")
    with pytest.raises(ValueError, match="none of the signatures"):
        bufferize(lambda x: x).low_level_callable("float (float)")
    with pytest.raises(UnsupportedError):
        bufferize(lambda x: None).low_level_callable("double (double)")


@pytest.mark.slow
def test_calls_from_c_take_turns_with_others() -> None:
    """Threads, and the function itself called by Python: they use one context, or go to Python."""

    f = bufferize(program("def f(a, k):\n    t = np.cumsum(a)[::-1] * k\n    return (t * t).sum()"))
    c = f.ctypes(np.ones(3), 1.0)
    unlocked = ctypes.CFUNCTYPE(c.restype, *c.argtypes)(ctypes.cast(c, ctypes.c_void_p).value)
    wrong: list[Any] = []

    def run(seed: int) -> None:
        rng = np.random.default_rng(seed)
        for k in range(300):
            a = rng.random(int(rng.choice([0, 1, 5, 50, 30_000])))
            wanted = f.__wrapped__(a, 2.0)
            got = [unlocked, c][k % 2](a.ctypes.data, len(a), 2.0) if seed % 2 else f(a, 2.0)
            if not np.allclose(got, wanted):
                wrong.append((seed, len(a), got, wanted))

    threads = [threading.Thread(target=run, args=(k,)) for k in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong
    a = np.ones(5)
    watched = (a, f, f.__wrapped__, a.dtype)
    assert steady(lambda: (c(a.ctypes.data, 5, 2.0), c(a.ctypes.data, 1, 2.0)), watched, 1000)


@pytest.mark.slow
def test_the_function_lives_as_long_as_its_c_function() -> None:
    c = bufferize(program("def f(x):\n    return x * 2 if x > 0 else len(np.ones(3)) * 1.0")).ctypes(1.0)
    gc.collect()
    assert c(4.0) == 8.0 and c(-1.0) == 3.0
    for k in range(50):
        assert bufferize(program(f"def f(x):\n    return x + {k}")).ctypes(1.0)(1.0) == k + 1.0


@pytest.mark.slow
def test_scipys_signatures() -> None:
    integrate, ndimage = pytest.importorskip("scipy.integrate"), pytest.importorskip("scipy.ndimage")

    def damped(t: Any, a: Any = 1.0, b: Any = 2.0) -> Any:
        return np.exp(-a * t) * np.cos(b * t)

    def of_array(x: Any) -> Any:
        return np.exp(-x[1] * x[0]) * np.cos(x[2] * x[0])

    f = bufferize(damped)
    wanted = integrate.quad(damped, 0, 3)[0]
    assert integrate.quad(f.low_level_callable("double (double)"), 0, 3)[0] == pytest.approx(wanted)
    assert integrate.quad(f.low_level_callable("double(double, void*)"), 0, 3)[0] == pytest.approx(wanted)
    three = f.low_level_callable("double (int, double *)", 1.0, 1.0, 1.0)
    array = bufferize(of_array).low_level_callable("double (int, double *, void *)", np.ones(3))
    wanted = integrate.quad(damped, 0, 3, args=(2.0, 3.0))[0]
    for g in (three, array):
        assert integrate.quad(g, 0, 3, args=(2.0, 3.0))[0] == pytest.approx(wanted)
    with pytest.raises((TypeError, SystemError)):
        integrate.quad(three, 0, 3, args=(2.0,))
    with pytest.raises((IndexError, SystemError)):
        integrate.quad(array, 0, 3, args=(2.0,))
    nested = integrate.nquad(three, [(0, 1), (0, 2), (0, 1)])[0]
    assert nested == pytest.approx(integrate.nquad(damped, [(0, 1), (0, 2), (0, 1)])[0])

    def spread(b: Any) -> Any:
        if b[0] > 2:
            raise ValueError("too large")
        return b.max() - b.min()

    image = np.random.default_rng(0).random((12, 13))
    g = bufferize(spread).low_level_callable("int (double *, intptr_t, double *, void *)")
    for size in (3, 1, 4):
        assert (ndimage.generic_filter(image, g, size=size) == ndimage.generic_filter(image, spread, size=size)).all()
    with pytest.raises(ValueError, match="too large"):
        ndimage.generic_filter(image + 2, g, size=3)

    def moved(c: Any) -> Any:
        return c[0] * 0.9 + 1, c[1] + 0.5

    h = bufferize(moved).low_level_callable("int (intptr_t *, double *, int, int, void *)")
    got, wanted = (ndimage.geometric_transform(image, one) for one in (h, moved))
    np.testing.assert_allclose(got, wanted)
