"""`.real`, `.imag` and `.view(dtype)`: the same memory as another type, read and stored through (rule S5)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tracebuf
from tests.support.agreement import agree, program, refused
from tests.support.arrays import complexes
from tests.support.params import slow_but
from tracebuf.testing.ladder import climb

TYPES = (np.complex128, np.complex64)

STORES = [
    "z.real = x", "z.imag = 2", "z.imag[1:] += 1", "z.real[::2] *= z.imag[::2]", "z.real += z.imag",
    "z.real, z.imag = z.imag.copy(), z.real.copy()", "z[1:].imag[...] = z[:-1].real", "z[::-1].real[1:] = x[1:]",
    "z.imag[0] = x[0]; z.real[-1] -= 3", "r = z.real; z[0] = 5j; r[1] = 7; z *= 2", "z.real = z.real[::-1]",
    "z.real = z.imag", "z.imag = np.abs(z)", "z += z.real", "z.real -= z.imag; z.imag += z.real",
    "for k in range(len(x)): z.real[k] += x[k] * z[k].imag", "z.real.sort if False else 0", "z.real = z",
    "v = z.real\n    for k in range(3): v += z.imag\n    z.imag = v",
    "w = z.real if x[0] > 0 else z.imag\n    w += 1",
]  # fmt: skip


@pytest.mark.parametrize("store", slow_but(STORES[:1], STORES))
@pytest.mark.slow
def test_stores_through_parts(store: str) -> None:
    f = program(f"def f(z, x):\n    {store}\n    return z.real, z.imag, z.real.sum()")
    args = complexes(7), np.arange(7.0)
    climb(f, args, again=[(complexes(12, seed=3), np.arange(12.0)), (complexes(40)[::3][:7], args[1])], tolerance=1e-12)
    agree(f, complexes(7, np.complex64), np.arange(7, dtype=np.float32), ulp=8)


@pytest.mark.slow
def test_a_part_and_the_other_one_are_apart() -> None:
    """Real and imaginary parts of numbers have no element in common, whichever numbers they are of."""
    f = tracebuf.bufferize(program("""
    def f(z, n, m):
        z[m, :n // 2].imag = z[m, :2].real
        z[:3].real = z[:3].imag
        z[n - 4].real[:2] = z[n - 3].imag[1:]
    """))
    for dtype in TYPES:
        args = complexes((7, 3), dtype), 5, -3
        assert not f.explain(*args).entries
        climb(f.__wrapped__, args, again=[(complexes((5, 3), dtype), 4, 1)], tolerance=1e-9)


@pytest.mark.slow
def test_parts_of_matrices() -> None:
    f = program("""
    def f(z):
        z.real[1:, 1:] = z.imag[:-1, :-1]
        z.T.imag[0] = 1
        z[:, 0].real += z[0].imag[:z.shape[0]]
        return z.real.T, z.imag[:, 1], z.real.reshape(-1), z.real.copy(), z.imag + 1, z.real.mean(axis=0), z.T.real * 2
    """)
    for dtype in TYPES:
        layouts = complexes((4, 5), dtype), complexes((5, 4), dtype).T, complexes((8, 10), dtype)[::2, ::2]
        for z in (*layouts, complexes((4, 4), dtype)):
            agree(f, z, ulp=4)
    climb(f, (complexes((4, 5)),), again=[(complexes((6, 6)),)], tolerance=1e-12)


@pytest.mark.slow
def test_stores_through_parts_copy_nothing() -> None:
    f = tracebuf.bufferize(program("""
    def f(z, x):
        z.real = x
        z.imag[1:] += 2 * z.real[:-1]
        z.imag -= z.real
        z *= 1j
    """))
    z, x = complexes(100), np.arange(100.0)
    explained = f.explain(z, x)
    assert "no allocations, no copies" in str(explained), explained
    source = "def f(x, y):\n z = np.empty(len(x), complex)\n z.real = x\n z.imag = y\n return z"
    new = tracebuf.bufferize(program(source))
    assert "1 allocation, no copies" in str(new.explain(x, x))
    agree(new, x, x + 1)


@pytest.mark.slow
def test_parts_of_real_arrays() -> None:
    f = program("def f(a): return a.real, a.imag, a.real is a, a.conj() is a, a.conjugate(), np.conj(a), np.real(a)")
    for a in (np.arange(4.0), np.arange(6).reshape(2, 3), np.ones((3, 2), np.float32).T, np.array(2), np.zeros(0)):
        agree(f, a)
    assert isinstance(agree(program("def f(a): a.imag = 1"), np.arange(3.0)), TypeError)
    assert isinstance(agree(program("def f(a): a.imag[0] = 1"), np.arange(3.0)), ValueError)
    agree(program("def f(a): a.real = a[::-1] * 2; a.real += 1"), np.arange(3.0))


FUNCTIONS = ["np.real(a)", "np.imag(a)", "np.conj(a)", "a.conj()", "a.conjugate()", "np.conjugate(a)", "np.angle(a)",
             "np.angle(a, deg=True)", "np.isreal(a)", "np.iscomplex(a)", "np.iscomplexobj(a)", "np.isrealobj(a)",
             "np.abs(a)", "abs(a)", "np.isreal(a * 0)", "a.real ** 2 + a.imag ** 2", "np.abs(a.real)",
             "np.real(a) * 2 + np.imag(a)"]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("form", FUNCTIONS)
def test_functions_of_parts(form: str) -> None:
    f = program(f"def f(a): return {form}")
    some_real = complexes(5)
    some_real.imag[::2] = 0
    plain = complexes((3, 4)), complexes(5, np.complex64), complexes(()), complexes(0), complexes(7)[::2]
    for a in (*plain, some_real, np.arange(3.0), np.arange(3)):
        agree(f, a)
    if ".conj" not in form and "abs(" not in form:
        for x in (2.5, 3, 1 + 2j, 2 + 0j, np.float32(1), np.complex64(1j), True):
            agree(f, x)


@pytest.mark.slow
def test_views_as_another_type_of_the_same_size() -> None:
    f = program("""
    def f(a, t):
        v = a.view(t)
        before = v.copy()
        v[1:] = v[:-1]
        w = v.view(a.dtype)
        w[-1] = a[0]
        return before, v, w, a.view(), v[::2]
    """)
    arrays = [np.arange(1.0, 6.0), np.arange(5), np.arange(5, dtype=np.uint8), np.arange(5, dtype=np.float32),
              complexes(5, np.complex64), np.array([True, False, True]), np.arange(12.0)[::3],
              np.arange(4, dtype="f2")]  # fmt: skip
    types = "f8 i8 u8 u1 i1 ? f4 i4 u4 c8 f2 i2 u2".split()
    for a in arrays:
        for t in map(np.dtype, types):
            if t.itemsize == a.itemsize and (t != np.bool_ or a.dtype == np.bool_):
                agree(f, a, t)
    climb(program("def f(a):\n b = a.view(np.int64)\n b += 1\n b[::2] &= -16\n return a * 2, b"), (np.arange(5.0),))
    climb(program("def f(a):\n m = a.view(np.uint8)\n m[1:] |= m[:-1]\n return m.sum()"), (np.arange(5) % 2 > 0,))


@pytest.mark.slow
def test_views_as_another_type_of_another_size() -> None:
    f = program("""
    def f(z, x):
        v = z.view(np.float64)
        v[1::2] *= -1
        v += 1
        w = x.view(np.complex128)
        w *= 1j
        return v, w, z.view(float).sum(), x.reshape(-1, 2).view(complex)
    """)
    agree(f, complexes(4), np.arange(6.0), ulp=4)
    climb(f, (complexes(4), np.arange(6.0)), tolerance=1e-12)
    g = program("def f(z):\n v = z.view(np.float64)\n v[:, 1:] = 0\n return v, v.reshape(*z.shape, 2)")
    agree(g, complexes((3, 4)))
    agree(g, complexes((3, 8))[:, :4])
    h = program("def f(z): return z.view(np.float64)")
    for bad in (complexes(8)[::2], complexes(())):
        assert isinstance(agree(h, bad), ValueError)
    refused(program("def f(a): return a.view(np.int32)"), np.arange(4))
    refused(program("def f(a): return a.view(np.complex128)"), np.arange(5.0))


def test_in_functions_without_source() -> None:
    space: dict[str, Any] = {}
    exec("def f(z, x):\n z.real = x\n z.imag[1:] += 1\n z.imag += z.real\n return abs(z), z.conj()", space)
    agree(space["f"], complexes(5), np.arange(5.0))


PATHS = [
    """
    b = (a * 1j).imag if a[0] > 0 else a + 1
    b[0] = 3
    return b
    """,
    """
    b = a.copy()
    for k in range(3): b = (b * (1 + 1j)).real
    return b
    """,
    """
    z = a * (1 + 0j)
    b = z.real
    for k in range(3):
        if a[k] > 0: b = z.imag
        b += 1
    return z, b
    """,
    """
    z, w = a + 1j, a.copy()
    for k in range(4):
        b = z.real if k % 2 else w
        b += k
    return z, w
    """,
    """
    z, k = a + 1j, 0
    while k < 3:
        v = z.view(np.float64)
        v[k] += 5
        k += 1
    return z, v
    """,
    """
    z = a + 1j
    x, y = z.real, z.imag
    for k in range(3):
        x, y = y, x
        x += 2 * y
    return z, x, y
    """,
    """
    z = a + 0j
    n = z.view(np.int64)
    n[::2] = 0
    m = z.real.view(np.int64)
    m ^= 1
    return z, n
    """,
    """
    z = a[::-1] * 1j
    x = z.imag[::-1].reshape(-1, 1)
    x *= 2
    y = z.reshape(2, -1).imag
    y[1] = 0
    return z, x, y
    """,
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("body", slow_but(PATHS[:2], PATHS))
def test_names_hold_parts(body: str) -> None:
    f = program(f"def f(a):\n{body}")
    for a in (np.arange(1.0, 7.0), -np.arange(1.0, 9.0)):
        agree(f, a)
    climb(f, (np.arange(1.0, 7.0),), tolerance=1e-12)


@pytest.mark.parametrize("text", ["b.real = b", "b.imag = b", "b.imag = b[::-1]", "b.real = b.conj()", "b.imag = c"])
def test_a_part_takes_the_real_part_of_complex_values(text: str) -> None:
    """Rule S2: `b.real = b` converted all of b to an array first."""
    climb(program(f"def f(b, c):\n    {text}"), ((np.arange(5) + 1j)[::-1], np.arange(5) * (2 - 1j)))


def filled_and_compared(a, b):
    b[1:] = a[1]
    b[:].real = b >= b


def test_a_view_of_all_that_a_size_of_the_call_decides_is_stored_back_as_the_array() -> None:
    """The whole array was copied, beside eager's array of bools."""
    a, b = np.arange(25).reshape(5, 5), np.arange(6) + 2j
    climb(filled_and_compared, (a, b))
    seen = tracebuf.measure(tracebuf.bufferize(filled_and_compared), a, b, repeat=1).native
    assert (seen.allocations, seen.copies) == (1, 0)
