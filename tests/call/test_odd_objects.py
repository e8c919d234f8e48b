"""Odd objects at the call boundary, as arguments, buffers of `out=`, captured names and indices: eager's answer, its
class of exception, or a clear refusal, and never a crash (rules C1, B2, B4, B5, N1, Z4)."""

from __future__ import annotations

import array
import inspect
import logging
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

import tracebuf
from tests.support.agreement import agree, program
from tests.support.params import one_in, slow_but
from tracebuf import bufferize
from tracebuf.testing.ladder import climb

as_strided = np.lib.stride_tricks.as_strided
pytestmark = pytest.mark.filterwarnings("ignore")


MEMORY = np.ones(3)


class Instance:
    """It has by itself, not by its class, what NumPy asks for."""

    def __init__(self) -> None:
        self.__array_interface__ = MEMORY.__array_interface__


class Lies:
    """It holds floats, not ints, and may not be written."""

    __array_interface__ = {"data": (MEMORY.ctypes.data, False), "shape": (3,), "typestr": "<i8", "version": 3}


class Index:
    def __index__(self) -> int:
        return 1


class Float:
    def __float__(self) -> float:
        return 1.0


class Unhashable(str):
    def __hash__(self) -> int:
        raise RuntimeError("no hash")


class Incomparable(str):
    def __eq__(self, other: object) -> bool:
        raise RuntimeError("no ==")

    __hash__ = str.__hash__


class Meta(type):
    def __hash__(cls) -> int:
        raise RuntimeError("no hash of the class")

    def __eq__(cls, other: object) -> bool:
        raise RuntimeError("no == of the class")


class OfMeta(metaclass=Meta):
    pass


class Ufunc:
    def __array_ufunc__(self, *args: Any, **kwargs: Any) -> str:
        return "mine"


class Function:
    def __array_function__(self, *args: Any) -> str:
        return "mine"


class Disguised:
    @property
    def __class__(self) -> Any:
        return np.ndarray


class Touchy:
    def __getattr__(self, name: str) -> Any:
        raise RuntimeError(f"no {name}")


class Names(str):
    """A subclass of str."""


OBJECTS: dict[str, Callable[[], Any]] = {
    "interface that lies": Lies, "interface of its own": Instance, "__index__": Index, "__float__": Float,
    "__array_ufunc__": Ufunc,
    "__array_function__": Function, "disguised": Disguised, "touchy": Touchy,
    "unhashable": lambda: Unhashable("x"), "incomparable": lambda: Incomparable("x"),
    "class without hash": lambda: OfMeta,
    "object of a class without hash": OfMeta, "str subclass": lambda: Names("abc"),
    "int of 5000 digits": lambda: 10**5000, "2**63": lambda: 2**63, "2**64": lambda: 2**64,
    "-2**63 - 1": lambda: -(2**63) - 1,
    "tuple of a huge int": lambda: (10**5000,), "nested tuple": lambda: ((1, 2), (3,)), "()": lambda: (),
    "''": lambda: "",
    "tuple of NumPy's": lambda: (np.float64(1),), "...": lambda: ..., "builtin": lambda: len,
    "ndarray": lambda: np.ndarray,
    "structured dtype": lambda: np.dtype([("a", "f8")]), "lambda": lambda: lambda x: x,
    "partial": lambda: partial(len),
    "longdouble": lambda: np.longdouble(1), "np.void": lambda: np.void(b"ab"),
    "datetime": lambda: np.datetime64("2020-01-01"),
    "memoryview of floats": lambda: memoryview(np.zeros(3)), "array.array": lambda: array.array("d", [1.0]),
    "0-d object": lambda: np.array(None), "0-d text": lambda: np.array("a"),
    "0-d record": lambda: np.zeros((), [("a", "f8")]),
    "33 axes": lambda: np.zeros((1,) * 33), "64 axes": lambda: np.ones((1,) * 64),
    "40 axes, some longer": lambda: np.ones((2,) * 3 + (1,) * 37),
    "34 axes, turned": lambda: np.ones((2,) + (1,) * 32 + (3,)).T,
    "35 axes, repeated": lambda: np.broadcast_to(1.0, (2,) * 3 + (1,) * 32),
    "repeated 10**12 times": lambda: np.broadcast_to(0.0, (10**9, 10**3)),
    "repeated 2**45 times": lambda: np.broadcast_to(0.0, 2**45),
    "repeated 2**59 times": lambda: np.broadcast_to(0.0, 2**59),
    "repeated rows": lambda: np.broadcast_to(np.zeros(3), (2**50, 3)),
    "no columns in 2**50 rows": lambda: np.zeros((2**50, 0)), "no rows of 2**50": lambda: np.zeros((0, 2**50)),
    "empty, huge strides": lambda: as_strided(np.zeros(4), (0, 5), (2**62, 2**62)),
    "one row, huge stride": lambda: as_strided(np.zeros(4), (2, 2), (2**40, 8))[:1],
    "offset": lambda: np.arange(10.0)[3:][2:], "backwards": lambda: np.arange(24.0).reshape(4, 6)[::-1, 1::-1],
    "one, backwards": lambda: np.ones((1, 1))[::-1, ::-1],
    "field": lambda: np.zeros(10, [("a", "f8"), ("b", "i4")])["a"],
    "misaligned": lambda: np.zeros(41, "u1")[1:].view("f8"), "not owning": lambda: np.frombuffer(bytearray(32)),
    "of bytes": lambda: np.frombuffer(b"12345678"), "imaginary parts": lambda: np.zeros(3, complex).imag,
    "cut to nothing": lambda: np.zeros((3, 4))[3:, 4:], "F, no rows": lambda: np.zeros((0, 3), order="F"),
}  # fmt: skip


def plus(a):
    return a + 1


def first(a):
    return a[0]


def views(a):
    return a[1:], a[..., None], a


def stored(a):
    a[...] = 2
    return a


def sizes(a):
    return a.shape, a.ndim, len(a)


def itself(a):
    return a


FUNCTIONS = (plus, first, views, stored, sizes, itself)


BUFFERIZED = {f: bufferize(max_specializations=500)(f) for f in FUNCTIONS}
"""One for all objects: what came before must not matter."""
BODIES = ("return a + X", "return X", "return a[X]", "a[X] = 1\n    return a", "return a if X is None else a * 2")
TAKING = {b: bufferize(max_specializations=500)(program(f"def f(a, X):\n    {b}")) for b in BODIES}


def is_huge(x: Any) -> bool:
    """Whether computing with each element takes too long."""
    return type(x) is np.ndarray and 10**6 < x.size < 2**44


def is_empty(x: Any) -> bool:
    return type(x) is np.ndarray and not x.size


def outcome(f: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Type, shape and text of the result, or the builtin class of the exception."""
    try:
        result = f(*args, **kwargs)
    except Exception as error:
        return next(c for c in type(error).__mro__ if c.__module__ == "builtins"), error
    if type(result) is not np.ndarray:
        return type(result), None
    few = max(result.shape, default=0) < 1000
    return type(result), result.dtype, result.shape, str(result.tolist()) if few else result.strides


def around(f: Callable[[], Any], g: Callable[[], Any]) -> tuple[Any, Any]:
    """The outcomes of eager f and of g. Where NumPy's answer is of the moment, eager's is the one that g's agrees with,
    before g ran or after: `test_numpys_answer_that_hangs_on_pythons_cache` says for which objects."""
    before, got, after = outcome(f), outcome(g), outcome(f)
    return (after if before[0] is not got[0] is after[0] else before), got


@pytest.mark.parametrize("what", one_in(20, OBJECTS))
def test_c1_odd_objects_are_answered_as_eager_does_or_refused(what: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.CRITICAL, logger="tracebuf")
    for f in FUNCTIONS:
        x = OBJECTS[what]()
        if is_huge(x) and f in (plus, stored) or (f is views and what == "64 axes"):
            continue
        g = BUFFERIZED[f]
        for _ in range(2):
            want, got = around(partial(f, x), partial(g, x))
            if isinstance(got[1], tracebuf.TracebufError):
                assert isinstance(got[1], tracebuf.UnsupportedError) and got[1].instead
                continue
            assert got[0] is want[0], (f.__name__, want, got)
            assert isinstance(got[1], Exception) or got == want
        agree(g, np.arange(5.0))
        assert str(g.specializations())


@pytest.mark.parametrize("what", one_in(20, OBJECTS))
def test_odd_objects_as_buffers_captured_names_and_indices(what: str, caplog: pytest.LogCaptureFixture) -> None:
    """out=x is TypeError where it is for ufuncs; captured and as an index: eager's answer or a refusal."""
    caplog.set_level(logging.CRITICAL, logger="tracebuf")
    x = OBJECTS[what]()
    line = np.arange(5.0)
    g = BUFFERIZED[plus]
    if not any(type(x) is c for c in (Disguised, Ufunc, type(...))) and not is_empty(
        x
    ):  # np.add broadcasts to an empty buffer
        got, want = outcome(g, line, out=x), outcome(np.add, line, 1, out=x)
        refusals = (TypeError, ValueError, tracebuf.UnsupportedError)
        assert got[0] is want[0] or isinstance(got[1], refusals) and want[0] in (TypeError, ValueError)
    for body, taking in TAKING.items():
        if is_huge(x) and body not in ("return X", "return a if X is None else a * 2"):
            continue
        f = program(f"def f(a):\n    {body}", X=x)
        captured = [(f, bufferize(f), ())] if body in BODIES[:3] else []
        for eager, ours, args in (*captured, (taking.__wrapped__, taking, (x,))):
            want, got = around(*(lambda h=h: h(line.copy(), *args) for h in (eager, ours)))  # noqa: B023
            assert isinstance(got[1], tracebuf.UnsupportedError) or got[0] is want[0], (body, want, got)


def test_numpys_answer_that_hangs_on_pythons_cache() -> None:
    """NumPy looks the class of an unknown object up in a dict. If its hash raises, the exception stays set while NumPy
    looks for `__array__` and the like, and CPython's lookup of an attribute drops it, unless its cache of attributes
    has the name: RuntimeError then, else TypeError. What filled the cache, or took the place, is the process's history.
    Ours is NumPy's answer of the moment."""
    x = OfMeta()
    f = program("def f(a):\n    return a + X", X=x)

    def fill() -> None:
        for name in ("__array__", "__array_interface__", "__array_struct__"):
            hasattr(OfMeta, name)

    def forget() -> None:
        OfMeta.changed = True  # a class that changes loses its entries

    for prepare in (forget, fill, forget):
        prepare()
        want, got = around(partial(f, np.arange(5.0)), partial(bufferize(f), np.arange(5.0)))
        assert got[0] is want[0] in (TypeError, RuntimeError)


@pytest.mark.slow
@pytest.mark.parametrize(
    "x", [10**5000, 2**63, 2**64 - 1, -(2**63), 2**31, -(2**31)], ids=lambda x: f"{x.bit_length()} bits"
)
def test_n1_huge_ints_are_exact_or_refused(x: int) -> None:
    for body in ("x + 1", "-x", "x // 3", "x % 7", "x * 1.0", "x > 3", "a + x", "a > x", "x"):
        f = program(f"def f(a, x): return {body}")
        for a in (np.arange(3.0), np.arange(3))[: 1 if ">" in body else 2]:
            want, got = outcome(f, a, x), outcome(bufferize(f), a, x)
            assert isinstance(got[1], tracebuf.UnsupportedError) or got[0] is want[0], (body, want, got)
            if want[0] is np.ndarray and got[0] is np.ndarray:
                assert got == want


@pytest.mark.parametrize("n", slow_but((2**40,), [3, 2**22, 2**33, 2**40, 2**59]))
@pytest.mark.parametrize(
    "body", ["len(a) ** 2", "len(a) ** 3", "len(a) * len(a) * 0.5", "a.size * 3", "len(a) * a.shape[0] - 1"]
)
def test_n1_products_of_sizes_are_exact_or_refused(n: int, body: str, caplog: pytest.LogCaptureFixture) -> None:
    """A Python int has 64 bits at most: OverflowError, where eager goes on."""
    caplog.set_level(logging.CRITICAL, logger="tracebuf")
    f = program(f"def f(a): return {body}")
    for first in (4, n):
        g = bufferize(f)
        for size in (first, n, 4):
            a = np.broadcast_to(0.0, size)
            try:
                assert g(a) == f(a)
            except (OverflowError, tracebuf.UnsupportedError):
                assert size > 2**20


# -- how arguments are given
SIGNATURES = [
    "a, b",
    "a, /, b",
    "a, b=2.0",
    "a, *, b",
    "a, *, b=2.0",
    "a, /, b=2.0",
    "a=1.0, b=2.0",
    "a, b, /",
    "*, a, b",
]
CALLS: list[tuple[tuple[Any, ...], dict[str, Any]]] = [
    ((), {}), ((1.0,), {}), ((1.0, 3.0), {}), ((1.0, 3.0, 4.0), {}), ((1.0,), {"b": 3.0}), ((1.0,), {"a": 3.0}),
    ((), {"a": 1.0, "b": 3.0}), ((1.0, 2.0), {"b": 3.0}), ((1.0,), {"c": 3.0}), ((), {"b": 3.0}),
]  # fmt: skip


@pytest.mark.parametrize("signature", one_in(10, SIGNATURES))
def test_c1_arguments_are_bound_as_python_binds_them(signature: str) -> None:
    g = bufferize(program(f"def f({signature}): return a * 10 + b"))
    assert inspect.signature(g) == inspect.signature(g.__wrapped__)
    for args, kwargs in [*CALLS, *CALLS]:
        agree(g, *args, **kwargs)
        agree(g, *(np.full(3, x) for x in args), **{k: np.full(3, x) for k, x in kwargs.items()})


@pytest.mark.slow
def test_c1_extra_arguments_are_a_tuple() -> None:
    """Each is an argument: stored to, returned as itself, one array under two names; the key has their number."""
    g = bufferize(verify=True)(program("""
        def f(a, *rest, scale=2.0):
            total = a * scale
            for x in rest:
                total = total + x
            if len(rest) > 1:
                rest[1][0] = 9
            return total, rest, a is rest[-1] if rest else None
        """))  # fmt: skip
    a, b = np.arange(4.0), np.ones(4)
    for args in ((a,), (a, b), (a, b, a), (a, 3, b), (a, 3, b[::-1], 2.5), (a, b), ()):
        agree(g, *args)
    agree(g, a, b, a, scale=3)
    x, y = np.zeros(4), np.zeros(4)
    assert g(a, b, out=(x, None, None))[0] is x and (x == a * 2 + 1).all()
    assert "compiled for (float64[n], float, float64[n], float64[n])" in str(g.specializations())
    agree(g, a, [1.0])
    climb(program("def f(*xs):\n    xs[0][:] = xs[1] + C\n    return g(*xs)", C=y,
                  g=program("def g(x, *more): return x * more[0], more")), (x, b))  # fmt: skip


@pytest.mark.parametrize("signature, call", [("**a", "f(b=x)"), ("a, **b", "f(x, out=x)"), ("*a, **b", "f()")])
def test_keyword_arguments_without_a_name(signature: str, call: str) -> None:
    g = bufferize(program(f"def f({signature}): return 1.0"))
    assert eval(call, {"f": g, "x": np.ones(3)}) == 1.0


def test_methods_take_self() -> None:
    class Model:
        scale = 2.0

        @bufferize
        def apply(self, a):
            return a * self.scale

        @classmethod
        @bufferize
        def made(cls, a):
            return a * cls.scale

        @staticmethod
        @bufferize
        def free(a):
            return a * 2

    assert (Model().apply(np.ones(3)) == 2).all()
    assert (Model.free(np.ones(3)) == 2).all() and (Model().free(np.ones(3)) == 2).all()
    assert (Model.made(np.ones(3)) == 2).all()
    Model.scale = 3.0
    assert (Model.made(np.ones(3)) == 3).all()
