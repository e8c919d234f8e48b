"""Arguments of which NumPy makes arrays: buffers, objects with `__array__`, `__array_interface__` or `__dlpack__`."""

from __future__ import annotations

import array
import ctypes
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tracebuf
from tests.support.agreement import agree, outcome, program, refused, same
from tests.support.params import one_in


class Kept:
    """With `__array__`, which gives its own array."""

    def __init__(self, data: np.ndarray) -> None:
        self.kept = data

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        made = self.kept if dtype is None else self.kept.astype(dtype, copy=False)
        return made.copy() if copy else made


class Reflected(Kept):
    """With an operator of its own, which an array on the left does not ask."""

    def __add__(self, other: Any) -> Any:
        return self.kept * 100 + other

    def __radd__(self, other: Any) -> Any:
        return self.kept * 1000 + other


class Interface:
    """With `__array_interface__`."""

    def __init__(self, data: np.ndarray) -> None:
        self.kept = data

    @property
    def __array_interface__(self) -> dict[str, Any]:
        return self.kept.__array_interface__


class Capsule(Kept):
    """With `__dlpack__` too."""

    def __dlpack__(self, **kwargs: Any) -> Any:
        return self.kept.__dlpack__(**kwargs)

    def __dlpack_device__(self) -> Any:
        return self.kept.__dlpack_device__()


MAKE: dict[str, Callable[[], Any]] = {
    "bytearray": lambda: bytearray(b"abcdefgh"), "bytes": lambda: b"abcdefgh" * 2,
    "array": lambda: array.array("d", [1, 2, 3]), "memoryview": lambda: memoryview(np.arange(6, dtype="i4"))[::2],
    "longs": lambda: array.array("q", [3, 4]), "ctypes": lambda: (ctypes.c_double * 3)(1, 2, 3),
    "array_": lambda: Kept(np.arange(3.0)), "interface": lambda: Interface(np.arange(3.0)),
    "reflected": lambda: Reflected(np.arange(3.0)), "dlpack": lambda: Capsule(np.arange(3.0)),
}  # fmt: skip
READ = (
    "np.asarray(x) + 1", "np.sin(x)", "np.asarray(x) * x", "x + np.asarray(x)", "np.asarray(x, float)", "np.array(x)",
    "np.array(x, np.float32)", "(np.asarray(x), np.asarray(x))", "np.sum(x)", "np.concatenate([x, x])", "np.mean(x)",
    "np.stack([x, np.asarray(x)])", "isinstance(x, bytearray)", "type(x) is bytes", "np.from_dlpack(x)", "np.dot(x, x)",
    "np.frombuffer(x, np.uint8)", "np.frombuffer(x)", "np.frombuffer(x, 'i2', count=3, offset=2)", "len(x)",
    "np.frombuffer(x, dtype=np.float64, offset=3)", "hasattr(x, 'shape')", "x is None", "np.ascontiguousarray(x)",
    "np.asarray(x) == x", "np.asarray(x)[1:]", "np.where(np.asarray(x) > 1, x, 0)", "np.full(3, 2.0).__iadd__(x)",
)  # fmt: skip


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", one_in(9, MAKE))
@pytest.mark.cases(2)
def test_what_eager_makes_of_them(name: str) -> None:
    """Each is eager's answer or a refusal, and of each kind much is answered."""
    answered = 0
    for text in READ:
        f = program(f"def f(x): return {text}")
        wanted, raised = outcome(f, [MAKE[name]()], {})
        g = tracebuf.bufferize(verify=True)(f)
        for _ in range(2):
            got, error = outcome(g, [MAKE[name]()], {})
            if isinstance(error, tracebuf.UnsupportedError):
                continue
            assert type(error) is type(raised), (name, text, error, raised)
            if raised is None:
                same(got, wanted, 0, f"{name}: {text}")
                answered += 1
    assert answered >= (12 if name == "bytes" else 36), answered


@pytest.mark.slow
def test_stores_reach_the_memory_of_buffers() -> None:
    f = program("""
        def f(buffer, more):
            a = np.asarray(buffer)
            a[1:] += a[:-1]
            more[:] = a[0]
            return a, np.frombuffer(buffer, np.uint8)
        """)
    g = tracebuf.bufferize(verify=True)(f)
    for make in (lambda: bytearray(b"abcdefgh"), lambda: array.array("i", [1, 2, 3]), lambda: (ctypes.c_int * 3)(4, 5)):
        for n in (4, 7):
            x, y = make(), make()
            same(g(x, u := np.zeros(n)), f(y, v := np.zeros(n)), 0, "result")
            assert list(x) == list(y) and u.tolist() == v.tolist()
            assert np.shares_memory(g(x, u)[0], np.asarray(x)), "a result is a view of the buffer"
    x = bytearray(b"abcd")
    g(x, u)
    x.append(1)  # no array is on its memory any more
    x, y = (bytearray(b"abcdefgh") for _ in "12")
    g(x, np.asarray(x)[2:4]), f(y, np.asarray(y)[2:4])  # arrays that overlap
    assert x == y


def test_one_program_serves_all_of_a_class() -> None:
    f = tracebuf.bufferize(verify=True)(program("def f(x): return np.asarray(x) * 2.0"))
    for n in range(2, 6):
        assert f(array.array("d", range(n))).tolist() == [2.0 * k for k in range(n)]
        assert f(Kept(np.arange(float(n)))).tolist() == [2.0 * k for k in range(n)]
    assert len(f.specializations()) == 2 and f.specializations().native_share == 1
    assert f(array.array("i", [1, 2])).dtype == np.float64
    read_only = tracebuf.bufferize(program("""
        def f(x):
            a = np.frombuffer(x, np.uint8)
            a[0] = 1
        """))
    read_only(bytearray(b"abc"))
    with pytest.raises(ValueError, match="read-only"):
        read_only(b"abc")


@pytest.mark.slow
def test_operators_and_stores_with_objects() -> None:
    f = program("""
        def f(a, x):
            b = a + x
            a += x
            a[::2] *= 2
            return b, x.kept, a < x, np.asarray(x) is np.asarray(x), isinstance(x, Kept)
        """, Kept=Kept)  # fmt: skip
    for kind in (Kept, Reflected):
        data = np.arange(4.0)
        agree(f, np.ones(4), kind(data))
        agree(program("def f(a, x): return x + a"), np.ones(4), kind(data))
    f = tracebuf.bufferize(verify=True)(program("def f(x): x.kept[:] = 1; return np.asarray(x)"))
    x = Kept(np.zeros(3))
    assert f(x) is x.kept and x.kept.tolist() == [1, 1, 1]


class Frame(Kept):
    """With rules of its own for NumPy's functions, as pandas' and xarray's."""

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        return Frame(getattr(ufunc, method)(*(x.kept if isinstance(x, Frame) else x for x in inputs), **kwargs))


def test_what_is_refused_of_them() -> None:
    class Summed(Kept):
        def sum(self, **kwargs: Any) -> str:
            return "its own"

    class Delegating(Kept):
        def __getattr__(self, name: str) -> Any:
            return getattr(np.zeros(2), name)

    for text, x, said in (
        ("np.sin(x)", Delegating(np.ones(2)), "which has a `__getattr__`"),
        ("x[0]", bytearray(3), "of a bytearray itself"), ("sum(x)", array.array("d"), "of a array itself"),
        ("x.tolist()", memoryview(b"ab"), "`.tolist` of a memoryview"), ("f'{x}'", bytearray(3), "text of a bytearray"),
        ("np.sum(x)", Summed(np.ones(2)), "attribute `sum`"), ("np.isscalar(x)", bytearray(3), "np.isscalar"),
        ("np.asarray(x)", b"abc", r"dtype \|S3"), ("np.sin(x)", Frame(np.ones(2)), "of a Frame itself"),
        ("x + 1", Frame(np.ones(2)), "of a Frame itself"), ("np.stack([x])", Frame(np.ones(2)), "of a Frame itself"),
        ("np.asarray(x), np.asarray(x)", Frame(np.ones(2)), "made twice"),
        ("np.array(x)", Frame(np.ones((2, 2))), "of several axes"),
        ("np.ones(2) * x", Frame(np.ones(2)), "of a Frame itself"),
        ("np.asarray(x[0])", (bytearray(2), 1), "in a container"),
    ):  # fmt: skip
        with pytest.raises(tracebuf.UnsupportedError, match=said):
            tracebuf.bufferize(program(f"def f(x): return {text}"))(x)
    conversions = ("np.asarray(x) * 2", "np.asarray(x)", "np.asarray(x, np.float32)", "np.array(x)[1:]")
    for text in (*conversions, "isinstance(x, Frame)"):
        g = tracebuf.bufferize(verify=True)(program(f"def f(x): return {text}", Frame=Frame))
        for n in (3, 3, 4):
            agree(g, Frame(np.arange(float(n))))
        assert g.specializations().native_share == 1
    behind = program("""
        def f(x, a):
            a[:] = 2
            return np.asarray(x) + 1
        """)
    assert "behind stores" in refused(behind, Interface(a := np.ones(3)), a).reason
    f = tracebuf.bufferize(fallback="numpy")(program("def f(x): return np.sin(x)"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tracebuf.TracebufWarning)
        assert isinstance(f(Frame(np.ones(2))), Frame)
