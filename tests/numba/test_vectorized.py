"""Ufuncs that Numba has made, its C callbacks, and both decorators on one function, in traced code."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tracebuf
from tests.support.agreement import agree, program
from tracebuf.testing.ladder import climb

numba = pytest.importorskip("numba")


@numba.vectorize
def blend(x, y):
    return x * y + 1


@numba.vectorize(["f8(f8,f8)", "f4(f4,f4)"])
def fixed(x, y):
    return x - 2 * y


@numba.guvectorize(["void(f8[:],f8[:],f8[:])"], "(n),(n)->()")
def dot(a, b, o):
    o[0] = 0.0
    for i in range(a.shape[0]):
        o[0] += a[i] * b[i]


@numba.guvectorize(["void(f8[:,:],f8[:],f8[:],f8[:,:])"], "(n,m),()->(n),(n,m)")
def rows(a, s, o, p):
    for i in range(a.shape[0]):
        o[i] = 0.0
        for j in range(a.shape[1]):
            o[i] += a[i, j]
            p[i, j] = a[i, j] * s[0]


@numba.guvectorize("(n)->(n)")
def running(a, o):
    t = a[0] - a[0]
    for i in range(a.shape[0]):
        t += a[i]
        o[i] = t


@numba.cfunc("f8(f8,f8)")
def tripled(x, y):
    return 3 * x + y


A, B = np.arange(6.0), np.arange(6.0)[::-1] + 0.5


def test_vectorize() -> None:
    agree(lambda a, b: blend(a, b) + blend(a, 2.0) * fixed(a[:3, None], b), A, B)
    agree(lambda a, n, x: (blend(a, n), blend(x, x), blend(n, 3), blend(a > 2, True)), A, 3, 1.5)


def test_vectorize_into() -> None:
    def into(a: Any, b: Any) -> Any:
        blend(a, b, out=a)
        blend(a, 1.0, b[::2][:, None][:, 0].repeat(2))
        np.add(a, fixed(a, b), out=b, where=a > 3)
        return blend.outer(a, b)

    agree(into, A.copy(), B.copy())


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["i2", "u1", "f4", "c16", "?"])
def test_vectorize_of_dtypes(dtype: str) -> None:
    fresh = numba.vectorize(lambda x, y: x + y)
    agree(lambda a: fresh(a, a), np.array([1, 0, 2]).astype(dtype))
    agree(lambda a: fixed(a, a[::-1]), np.array([1, 0, 2]).astype(dtype))


@pytest.mark.slow
def test_all_rungs_agree() -> None:
    def f(a: Any, b: Any) -> Any:
        a += blend(a, b) * 2
        return dot(a, b), fixed(a, b).sum()

    climb(f, (A, B))
    with pytest.raises(tracebuf.UnsupportedError, match="that Numba has made"):
        tracebuf.bufferize(f).lower(A, B).as_text("numba")


def test_vectorize_is_fused() -> None:
    f = tracebuf.bufferize(lambda a, b: blend(a, b) * 2 - a)
    f(A, B)
    assert str(f.lower(A, B).as_text("memref")).count("memref.alloc(") == 1


def test_vectorized_functions_that_raise() -> None:
    @numba.vectorize(["f8(f8)"])
    def root(x):
        if x < 0:
            raise ValueError("negative")
        return x**0.5

    def into(a: Any) -> Any:
        o = np.empty_like(a)
        return root(a, out=o).sum(), o

    agree(lambda a: (root(a) + 1, root(a[0]), root(a[:, None] * a).T, root(np.asfortranarray(a[:, None] * a))), A)
    agree(into, A)
    agree(lambda a: root(a - 2) + 1, A)
    with pytest.raises(tracebuf.UnsupportedError, match="that may raise"):
        tracebuf.bufferize(lambda a: root.outer(a))(A)


@pytest.mark.slow
def test_two_of_one_name_are_two() -> None:
    found = []
    for k in (1.0, 2.0):
        one = numba.vectorize(["f8(f8)"])(eval(f"lambda x: x + {k}"))
        found.append(tracebuf.bufferize(program("def f(a):\n    return one(a) * 2", one=one))(A)[0])
    assert found == [2.0, 4.0]


def test_guvectorize() -> None:
    table = np.arange(12.0).reshape(2, 6)
    agree(lambda a, b: dot(a, b) + dot(a[::2], b[:3]), A, B)
    agree(lambda a, t: (dot(a, t) * 2, dot(t[:, None], t), rows(t, 2.0), rows(t, a[:2])), A, table)
    agree(lambda a, n: dot(a, n), A, np.arange(6))
    agree(lambda a, b: dot(a[1:], b), A, B)
    agree(lambda a: rows(a, 1.0), A)
    cube = np.arange(24.0).reshape(2, 3, 4)
    for deep in (cube.transpose(1, 0, 2), np.asfortranarray(cube)):
        agree(lambda x: (dot(x, x), rows(x, 1.0), dot(x, x[0, 0])), deep)
    assert "@numpy_dot" in tracebuf.bufferize(lambda a, b: dot(a, b)).lower(A, B).as_text("llvm")


def test_guvectorize_into() -> None:
    def into(a: Any, t: Any) -> Any:
        o = np.empty_like(a)
        running(a, o)
        running(t.T, out=t.T.copy())
        dot(t, a, out=o[:2])
        return o

    agree(into, A, np.arange(12.0).reshape(2, 6))
    agree(lambda a: running(a), A)


def test_callbacks_of_c() -> None:
    agree(lambda x, y: tripled(x, y) + tripled.ctypes(x, y), 2.0, 3.0)
    f = tracebuf.bufferize(lambda a: sum(tripled.ctypes(x, 1.0) for x in a))
    assert f(A) == 51.0


def test_both_decorators() -> None:
    @numba.njit
    def compiled(x):
        return x + 1

    for f in (compiled, blend):
        with pytest.raises(TypeError, match="which Numba compiles: bufferize the function that it is made of"):
            tracebuf.bufferize(f)
    with pytest.raises(TypeError, match="BufferizedFunction"):
        numba.njit(tracebuf.bufferize(lambda x: x + 1))
    assert tracebuf.bufferize(compiled.py_func)(1) == 2
