"""Every object where an array belongs gives NumPy's answer or a clear error, before and after a good call (rules B2,
B4, Z4); what could crash runs in a process of its own."""

from __future__ import annotations

import fractions
import subprocess
import sys
import textwrap
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tracebuf
from tests.support.agreement import agree
from tests.support.params import one_in
from tracebuf import bufferize

pytestmark = pytest.mark.filterwarnings("ignore:the matrix subclass:PendingDeprecationWarning")
as_strided = np.lib.stride_tricks.as_strided


def plus(a):
    return a + 1


def stored(a):
    a += 1
    return a.sum()


def first(a):
    return a[0]


def filled(a):
    for i in range(len(a)):
        a[i] = i
    return a


def reduced(a):
    return a.max(), a.T


FUNCTIONS = (plus, stored, first, filled, reduced)


class Sub(np.ndarray):
    """A subclass."""


class Arrayish:
    def __array__(self, *args: Any, **kwargs: Any) -> np.ndarray:
        return np.ones(3)


class MyInt(int):
    pass


def with_more(x: MyInt) -> MyInt:
    x.unit = "m"  # type: ignore[attr-defined]
    return x


def misaligned() -> np.ndarray:
    return np.zeros(81, np.uint8)[1:].view(np.float64)


def read_only() -> np.ndarray:
    a = np.arange(4.0)
    a.flags.writeable = False
    return a


LINE = np.arange(12.0)
COMPILED: dict[str, Callable[[], Any]] = {
    "vector": lambda: np.arange(5.0), "0-d": lambda: np.array(3.0), "empty": lambda: np.zeros(0),
    "empty matrix": lambda: np.zeros((0, 3)), "no columns": lambda: np.zeros((3, 0)), "one": lambda: np.ones(1),
    "reversed": lambda: LINE[::-1], "steps": lambda: LINE[::5],
    "huge strides": lambda: as_strided(LINE, (2, 2), (48, 8)),
    "inner": lambda: np.zeros((3, 4))[:, 1:3], "columns": lambda: np.asfortranarray(np.ones((3, 4))),
    "rank 3": lambda: np.arange(24.0).reshape(2, 3, 4),
    "rank 3, mixed": lambda: np.arange(24.0).reshape(2, 3, 4).swapaxes(0, 1),
    "many axes": lambda: np.zeros((1,) * 20), "read-only": read_only, "float32": lambda: np.arange(4, dtype="f4"),
    "int64": lambda: np.arange(4), "bool": lambda: np.array([True, False]),
    "float16": lambda: np.arange(4, dtype="f2"), "int32": lambda: np.arange(4, dtype="i4"),
    "uint64": lambda: np.array([1, 2**64 - 1], "u8"), "np.int8": lambda: np.int8(3),
    "np.uint64": lambda: np.uint64(2**63),
    "scalar": lambda: 2.5, "int": lambda: 3, "True": lambda: True, "nan": lambda: float("nan"), "-0.0": lambda: -0.0,
    "np.float64": lambda: np.float64(3), "np.bool": lambda: np.True_, "np.int64": lambda: np.int64(-3),
    "huge int": lambda: 2**70, "int of 32 bits": lambda: 2**31, "least int64": lambda: -(2**63), "None": lambda: None,
    "string": lambda: "abc", "tuple": lambda: (1.0, 2.0), "tuple of zero": lambda: (0.0,),
    "tuple of -0": lambda: (-0.0,),
    "tuple of nan": lambda: (float("nan"), 1), "dtype": lambda: np.dtype("f8"), "type": lambda: float, "object": object,
    "ufunc": lambda: np.sin,
    "function": lambda: plus, "np.sum": lambda: np.sum, "bufferized": lambda: bufferize(plus),
    "frozen buffer": lambda: np.frombuffer(b"abcdefgh" * 3),
    "longlong": lambda: np.array([1, 2], np.longlong), "complex": lambda: np.arange(3) - 1j,
    "complex64": lambda: np.ones(4, np.complex64)[::2],
    "np.complex128": lambda: np.complex128(1j), "1j": lambda: 1j, "tuple of complex": lambda: (1j, -0j),
}  # fmt: skip
ORIGINAL: dict[str, Callable[[], Any]] = {
    "misaligned": misaligned, "repeated": lambda: np.broadcast_to(np.arange(3.0), (4, 3)),
    "one value": lambda: np.broadcast_to(1.0, (5,)),
    "repeated, writable": lambda: as_strided(np.arange(12.0), (4, 3), (0, 8)),
    "overlapping itself": lambda: as_strided(np.arange(12.0), (4, 3), (8, 8)),
    "np.ulonglong": lambda: np.ulonglong(3),
    "odd strides": lambda: np.zeros(64, np.uint8)[:60].view([("a", "f8"), ("b", "i4")])["a"],
    "odd strides, empty": lambda: np.zeros((4, 3), [("a", "i1"), ("b", "f8")])["b"][:0],
}  # fmt: skip
CONTAINERS: dict[str, Callable[[], Any]] = {
    "list": lambda: [1.0, 2.0], "ragged list": lambda: [[1, 2], [3]], "empty list": list,
    "nested tuple": lambda: ((1, 2), (3.0, np.ones(2))), "tuple of arrays": lambda: (np.ones(2),), "dict": dict,
    "dict of arrays": lambda: {0: np.ones(2), "a": 2}, "Fraction": lambda: fractions.Fraction(1, 2),
    "text": lambda: np.array(["a"]), "__array__": Arrayish, "namespace": lambda: types.SimpleNamespace(shape=(3,)),
}  # fmt: skip
REFUSED: dict[str, Callable[[], Any]] = {
    "object array": lambda: np.array([1, None], object), "structured": lambda: np.zeros(3, [("a", "f8")]),
    "datetime": lambda: np.zeros(3, "M8[s]"), "timedelta": lambda: np.zeros(3, "m8[ns]"),
    "long double": lambda: np.zeros(3, np.longdouble), "byte-swapped": lambda: np.zeros(3, ">f8"),
    "string array": lambda: np.array(["a", "bc"], np.dtypes.StringDType()), "subclass": lambda: np.zeros(3).view(Sub),
    "matrix": lambda: np.matrix([[1.0, 2.0]]), "masked": lambda: np.ma.array([1.0, 2.0], mask=[0, 1]),
    "record": lambda: np.rec.array([(1, 2.0)]), "void": lambda: np.void(b"ab"),
    "set": set,
    "generator": lambda: (i for i in range(3)), "iterator": lambda: iter([1]), "module": lambda: np,
    "flatiter": lambda: np.zeros(3).flat,
    "int subclass with more": lambda: with_more(MyInt(3)), "bytes_": lambda: np.bytes_(b"a"),
    "metadata": lambda: np.zeros(3, np.dtype("f8", metadata={"unit": "m"})),
    "exception": lambda: ValueError("x"), "NotImplemented": lambda: NotImplemented,
}  # fmt: skip


@pytest.fixture(scope="module", params=FUNCTIONS, ids=lambda f: f.__name__)
def pair(request: pytest.FixtureRequest) -> tuple[tracebuf.BufferizedFunction, tracebuf.BufferizedFunction]:
    """The function bufferized twice: fresh, and after a good call."""
    fresh, used = (bufferize(max_specializations=200)(request.param) for _ in range(2))
    agree(used, np.arange(5.0))
    return fresh, used


def tolerant(g: tracebuf.BufferizedFunction, x: Any) -> None:
    """NumPy's answer, or a refusal that tells what to write."""
    try:
        agree(g, x)
    except AssertionError as failure:
        if not isinstance(failure.__cause__, tracebuf.UnsupportedError):
            raise
        assert failure.__cause__.instead


@pytest.mark.slow
@pytest.mark.parametrize("what", COMPILED)
def test_answers(pair: Any, what: str) -> None:
    for g in pair:
        tolerant(g, COMPILED[what]())
        agree(g, np.arange(5.0))


@pytest.mark.slow
@pytest.mark.parametrize("what", [k for k in COMPILED if isinstance(COMPILED[k](), np.ndarray)])
def test_supported_arrays_are_not_refused(pair: Any, what: str) -> None:
    for g in pair:
        agree(g, COMPILED[what]())


@pytest.mark.parametrize("what", one_in(10, ORIGINAL))
def test_odd_arrays_give_numpys_answer(pair: Any, what: str) -> None:
    for g in pair:
        agree(g, ORIGINAL[what]())
        agree(g, np.arange(5.0))


@pytest.mark.parametrize("what", one_in(8, CONTAINERS))
def test_containers_are_understood_or_refused(pair: Any, what: str) -> None:
    for g in pair:
        tolerant(g, CONTAINERS[what]())
        agree(g, np.arange(5.0))


@pytest.mark.parametrize("what", one_in(8, REFUSED))
def test_refused(pair: Any, what: str) -> None:
    for g in pair:
        with pytest.raises(tracebuf.UnsupportedError, match="argument `a`") as caught:
            g(REFUSED[what]())
        assert caught.value.instead and caught.value.location is not None
        assert caught.value.location.function == g.__name__
        agree(g, np.arange(5.0))


def test_a_misaligned_argument_is_logged_once_and_visible(caplog: pytest.LogCaptureFixture) -> None:
    g = bufferize(plus)
    for _ in range(3):
        g(misaligned())
    assert "not aligned" in str(g.specializations()) and len(caplog.records) == 1


def test_ranks_and_kinds_are_programs_of_their_own() -> None:
    g = bufferize(plus)
    for x in (np.ones(3), np.ones((3, 3)), np.ones(3, "f4"), 1, 1.0, True, np.float64(1), np.True_, np.ones(())):
        agree(g, x)
    assert len(g.specializations()) == 9


@pytest.mark.slow
def test_bools_and_ints_and_their_numpy_kin_are_kept_apart() -> None:
    def f(a, x, y):
        return a + x, x == y, x * 2, -y if y else x

    g = bufferize(f)
    for x in (1, True, 1.0, np.int64(1), np.float64(1), np.float32(1)):
        for y in (1, 1.0, np.int64(1), np.float32(1)):
            try:
                agree(g, np.arange(3, dtype="f4"), x, y)
            except AssertionError as failure:
                assert isinstance(failure.__cause__, tracebuf.UnsupportedError), failure


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:Setting the shape on a NumPy array:DeprecationWarning")
def test_arguments_that_change_between_calls() -> None:
    def f(a, b):
        return a @ b + a.shape[0]

    g = bufferize(f)
    a = np.arange(12.0)
    agree(g, a, a + 1)
    a.resize(5, refcheck=False)
    agree(g, a, a + 1)
    a.shape = (5, 1)
    agree(g, a, a.T)
    agree(g, a[:, 0], a.T[0])


def test_results_keep_the_callers_memory_alive() -> None:
    def f(a):
        return a[1:], a[::-1]

    x, y = bufferize(f)(np.full(100_000, 7.0))
    np.full(100_000, 1.0)
    assert (x == 7).all() and (y == 7).all()


RISKY = """
import sys, numpy as np, tracebuf
from numpy.lib.stride_tricks import as_strided

def f(a, b):
    a[1:] += b[:-1]
    return a.sum() + (a * b).max()

def g(a, n):
    for i in range(n):
        a[i] = a[i - 1] + 1
    return a[n:]

def h(n, m):
    return np.zeros((n, m)) + 1

f, g, h = map(tracebuf.bufferize, (f, g, h))
line = np.arange(40.0)
objects = [None, "x", b"x", [1.0], (1.0,), {}, object(), 1, 2.5, True, 2**80, np.float64(1), np.arange(5.0),
           np.zeros(0),
           np.zeros(1),           np.zeros((3, 3)), np.arange(5), np.arange(5.0).astype(">f8"),
           np.zeros(49, "u1")[1:41].view("f8"), line[::-3],
           as_strided(line, (5,), (0,)), as_strided(line, (5, 5), (8, 8)), np.broadcast_to(1.0, 5),
           np.zeros(5, object), np.matrix([1.0]),
           np.ma.zeros(5), np.zeros(5, "M8[s]"), np.zeros(()), np.zeros((2, 0)), np.zeros(5, complex),
           as_strided(line, (2, 2), (160, 8))]
count = 0
for _ in range(2):
    for x in objects:
        for y in objects:
            for k in (f, g):
                try:
                    k(x, y)
                except Exception as error:
                    assert not isinstance(error, tracebuf.InternalError | SystemError | AssertionError), repr(error)
                    count += 1
    f(line[:5].copy(), line[:5].copy())
    g(line.copy(), 5)
for n, m in [(2**31 - 1, 2**31 - 1), (2**40, 2**40), (-1, 2), (2**62, 2), (10**18, 0), (2**31 - 1, 10**6)]:
    try:
        h(n, m)
    except Exception as error:
        assert isinstance(error, (MemoryError, ValueError, OverflowError, tracebuf.UnsupportedError)), repr(error)
for n in (39, 40, 41, 2**31 - 1, 2**62, -5):
    try:
        g(line.copy(), n)
    except IndexError:
        pass
print("survived", count)
"""


@pytest.mark.slow
def test_nothing_crashes(tmp_path: Path) -> None:
    script = tmp_path / "risky.py"
    script.write_text(textwrap.dedent(RISKY))
    done = subprocess.run([sys.executable, "-W", "ignore", str(script)], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0 and "survived" in done.stdout, done.stderr[-2000:]
