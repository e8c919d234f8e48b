"""Calls that machine code takes: the class of bufferized functions, and that both ways into a program agree."""

from __future__ import annotations

import builtins
import copy
import ctypes
import functools
import gc
import inspect
import itertools
import json
import operator
import pickle
import signal
import sys
import threading
import time
import tracemalloc
import types
import weakref
from typing import Any, NamedTuple

import numpy as np
import pytest

from tests.support.agreement import program
from tests.support.native_calls import by_python, natively, taken
from tests.support.params import one_in
from tracebuf import TracebufError, TracebufWarning, UnsupportedError, api, bufferize, host_call, stages
from tracebuf.api import BufferizedFunction
from tracebuf.backend.layout.entry_words import MAX_SIZE, SMALL_INT, WORDS, Entry, Result
from tracebuf.backend.runtime.callable import NATIVE, NativeCallable, by_vectorcall, point_at
from tracebuf.backend.runtime.entries import LONG, LONG_PRODUCTS, PATIENCE, ProgramEntry
from tracebuf.backend.runtime.memory_hook import counting
from tracebuf.frontends.numpy.call import arguments


@by_vectorcall
class Plain(NativeCallable):
    """A class of Python's over the native one."""

    __slots__ = ("__dict__", "__weakref__")

    def __call__(self, *args: object, **kwargs: object) -> object:
        return args, kwargs


Vectorcall = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.py_object, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p)


@pytest.mark.skipif(not NATIVE, reason="objects are not called by machine code here")
def test_an_object_calls_the_function_it_points_at() -> None:
    x, seen = Plain(), []

    @Vectorcall
    def function(self: object, args: int, count: int, names: int) -> object:
        seen.append((self, count & (2**63 - 1)))
        return "native"

    assert x(1, a=2) == ((1,), {"a": 2})
    point_at(x, ctypes.cast(function, ctypes.c_void_p).value or 0, 0)
    assert [x(1, 2) for _ in range(20)] == ["native"] * 20
    assert seen == [(x, 2)] * 20
    assert x.__call__(3) == ((3,), {})
    point_at(x, 0, 0)
    assert x(4) == ((4,), {})


@pytest.mark.skipif(not NATIVE, reason="objects are not called by machine code here")
def test_a_subclass_may_have_a_call_of_its_own() -> None:
    class Own(Plain):
        def __call__(self, *args: object, **kwargs: object) -> object:
            return "own"

    assert Own()() == "own"


def test_objects_of_the_class_are_freed_also_in_cycles() -> None:
    x = Plain()
    x.me = x  # type: ignore[attr-defined]
    gone = weakref.ref(x)
    del x
    gc.collect()
    assert gone() is None
    for _ in range(1000):
        Plain()


@bufferize
def double(a: np.ndarray, *, k: float = 2.0) -> np.ndarray:
    """Twice."""
    return a * k


def test_a_bufferized_function_is_a_function_to_inspection() -> None:
    assert isinstance(double, BufferizedFunction) and callable(double)
    assert list(inspect.signature(double).parameters) == ["a", "k"]
    assert double.__doc__ == "Twice." and double.__name__ == "double"
    assert weakref.ref(double)() is double
    assert copy.copy(double) is copy.deepcopy(double) is pickle.loads(pickle.dumps(double)) is double
    assert functools.wraps(double)(lambda: None).__wrapped__ is double
    double.note = 1  # type: ignore[attr-defined]
    assert vars(double).pop("note") == 1


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Programs have their entries after one call."""
    monkeypatch.setattr(api, "NATIVE_AFTER", 1)
    monkeypatch.setattr(api, "WORTH", 0)


def add_into(a: Any, b: Any) -> None:
    a += 2 * b


@pytest.mark.slow
def test_what_an_entry_does_not_take_goes_to_python_with_the_same_answer() -> None:
    f = bufferize(add_into)
    f(np.ones(5), np.ones(5))
    a, b = np.ones(7), np.arange(7.0)
    assert natively(f, a, b) is None
    assert a.tolist() == (1 + 2 * b).tolist()
    read_only = np.ones(5)
    read_only.flags.writeable = False
    others: list[tuple[Any, Any]] = [
        (np.ones(5, np.float32), np.ones(5, np.float32)), (np.ones((5, 5)), np.ones(5)), (np.ones(10)[::2], np.ones(5)),
        (np.ones(5), np.ones(5)[::-1]), (np.ones(1), np.ones(1)), (np.ones(0), np.ones(0)), (np.ones(5), 2.0),
        (np.ones(5), np.float64(2)), (np.ones(()), np.ones(())), (np.ones(5), np.ones(1)),
        (np.ones(5), read_only), (np.ones(5), np.ones(5, np.longlong)),
    ]  # fmt: skip
    for x, y in others:
        wanted = x.copy()
        add_into(wanted, y)
        got = x if x.base is None else x.base.copy()[::2]
        by_python(f, got, y)
        assert got.tolist() == wanted.tolist() and got.dtype == wanted.dtype
    memory = np.arange(12.0)
    for x, y in ((memory[:6], memory[6:]), (memory[:6], memory[5:11]), (memory[:6], memory[:6])):
        whole = memory.copy()
        at = (y.ctypes.data - memory.ctypes.data) // 8
        add_into(whole[:6], whole[at : at + 6])
        f(x, y)
        assert memory.tolist() == whole.tolist()
    by_python(f, memory[:6], memory[5:11])
    x = np.ones(5)
    f(x, x)
    assert natively(f, x, x) is None and x.tolist() == [9.0] * 5
    assert natively(f, np.ones(3), np.ones(3)) is None
    for bad in ((), (x,), (x, x, x), (None, x), (x, None), ("a", x), (object(), x), (x, [1, 2]), (int, x)):
        with pytest.raises((TypeError, ValueError, UnsupportedError)):
            by_python(f, *bad)
    for names in ({"a": x}, {"c": x}, {"b": x, "c": x}):
        with pytest.raises(TypeError):
            by_python(f, x, **names)


class Sub(np.ndarray):
    """A subclass of ndarray."""


def test_a_subclass_and_an_object_with_a_bad_class_go_to_python() -> None:
    f = bufferize(add_into)
    f(np.ones(5), np.ones(5))
    for bad in (np.ones(5).view(Sub), np.ones(5, ">f8")):
        with pytest.raises(UnsupportedError):
            by_python(f, np.ones(5), bad)
    aligned = np.frombuffer(bytearray(41), np.uint8)[1:].view(np.float64)
    by_python(f, np.ones(5), aligned)


def plane(*shape: int) -> np.ndarray:
    return np.arange(float(np.prod(shape))).reshape(shape)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("make", "index"),
    one_in(6, [
        (lambda: plane(4, 6), np.s_[:, ::2]), (lambda: plane(4, 6), np.s_[::-1, 1:]), (lambda: plane(9), np.s_[::-1]),
        (lambda: plane(4, 6), np.s_[1:, :3]), (lambda: plane(4, 6).T, np.s_[1:, 1:]), (lambda: plane(2, 3, 4).T, ...),
        (lambda: plane(2, 3, 4), np.s_[:, 1:, ::-1]), (lambda: plane(2, 3, 4).transpose(1, 0, 2), ...),
        (lambda: plane(6, 1), ...), (lambda: plane(1, 6)[:, ::2], ...),
    ], rows=True),
)  # fmt: skip
def test_arrays_of_any_layout(make: Any, index: Any) -> None:
    """Layouts are part of the key; each program's entry takes its own and no other."""

    def scale(a: Any, k: Any) -> Any:
        a *= k
        return a.sum()

    f = bufferize(scale)
    for _ in range(2):
        f(make()[index], 3.0)
    mine, its = make(), make()
    assert natively(f, mine[index], 3.0) == scale(its[index], 3.0)
    assert mine.tolist() == its.tolist()
    whole = np.ones((6, 8))
    strided = whole[::2, ::2], whole[::2, :4], np.ones((8, 6)).T[::2, ::2], plane(6, 8)[::-2, ::-2]
    layouts = [plane(3, 4), plane(4, 3).T, *strided]
    for x in layouts * 3:
        wanted = x.copy()
        assert f(x, 2.0) == scale(wanted, 2.0)
        assert x.tolist() == wanted.tolist()


def test_an_array_that_overlaps_itself_or_repeats_goes_to_python() -> None:
    f = bufferize(lambda a, b: a + b)
    x = np.ones((4, 4))[:, ::2]
    f(x, np.ones((4, 2)))
    natively(f, x, np.ones((4, 2)))
    windows = np.lib.stride_tricks.as_strided(np.arange(8.0), (4, 2), (8, 16))
    repeated = np.broadcast_to(np.ones((4, 1)), (4, 2))
    for y in (windows, repeated):
        assert by_python(f, y, np.ones((4, 2))).tolist() == (y + 1).tolist()


@pytest.mark.parametrize(
    "value",
    one_in(8, [
        1.5, -0.0, float("nan"), 2 + 3j, True, False, 0, -1, 7, 2**30, -(2**30), np.float32(1.5), np.float16(0.5),
        np.int8(-3),
        np.uint8(200), np.int16(-300), np.uint16(65535), np.int32(-5), np.uint32(2**32 - 1), np.int64(-(2**40)),
        np.uint64(2**60), np.complex64(1 - 2j), np.complex128(1 + 2j), np.bool(True), np.bool(False), np.float64(0.1),
    ]),
)  # fmt: skip
def test_numbers_arrive_as_they_are(value: Any) -> None:
    given = bufferize(lambda x: x)
    plus = bufferize(lambda a, x: a + x)
    a = np.arange(3)
    for _ in range(2):
        given(value), plus(a, value)
    back = natively(given, value)
    assert type(back) is type(value) and repr(back) == repr(value)
    wanted = a + value
    got = natively(plus, a, value)
    np.testing.assert_array_equal(got, wanted, strict=True)


def test_a_number_of_another_kind_goes_to_python() -> None:
    f = bufferize(lambda x: x + x)
    numpys = np.float64(1.5), np.int64(3), np.bool(True), np.float32(1.5)
    kinds = (1.5, 3, True, 2j, *numpys, 2**31 - 1, 2**31, -(2**31), 2**61)
    for _ in range(3):
        for x in kinds:
            wanted = x + x
            got = f(x)
            assert type(got) is type(wanted) and got == wanted
    assert taken(f) >= 2 * 8


def test_what_is_given_back() -> None:
    def several(a: Any, x: Any) -> Any:
        fresh = a + x
        return fresh, (a, fresh, None, "text"), [x * 2, len(a)], a.sum(), x > 1, fresh * 1j

    f = bufferize(several)
    a = np.arange(4.0)
    f(a, 2.5)
    got = natively(f, a, 2.5)
    wanted = several(a, 2.5)
    assert got[1][0] is a and got[1][1] is got[0] and got[1][2:] == (None, "text")
    assert got[2] == [5.0, 4] and [type(x) for x in got[2]] == [float, int] and type(got[2]) is list
    assert type(got[3]) is np.float64 and got[3] == wanted[3] and got[4] is True
    for mine, its in ((got[0], wanted[0]), (got[5], wanted[5])):
        np.testing.assert_array_equal(mine, its, strict=True)
        assert mine.flags == its.flags and mine.base is None and mine.flags.owndata
    assert f(a, 2.5)[2] is not got[2] and f(a, 2.5)[0] is not got[0]


@pytest.mark.parametrize(
    "expression",
    one_in(8, [
        "(a + b)[1:]", "a[1:]", "(a + b).T", "np.asfortranarray(a + b)", "(a[::-1], a)", "{'x': a + b, 'y': b}",
        "np.zeros((len(a), 2, 3)).transpose(1, 0, 2)", "(a + b).reshape(2, 2)", "a if b[0] > 0 else a + b",
        "np.broadcast_to(a + b, (2, 4))", "((a + b),) * 2", "np.zeros((2, 0))", "a.view()", "(a + b).real",
        "np.outer(a, b).T", "np.add.outer(a, b).copy('F')", "(a[:2], a[2:], a)", "[a + 1, [a, b], ()]", "(a + b)[:0]",
        "(a + 1, (a + 1)[1:])",
    ]),
)  # fmt: skip
def test_results_that_python_makes_are_the_same(expression: str) -> None:
    """Views and whatever else native code does not make: the kernel's results go to the Python code for them."""
    function = program(f"def f(a, b):\n    return {expression}")
    f = bufferize(function)
    a, b = np.arange(4.0), np.ones(4)
    first = f(a, b)
    second, eager = natively(f, a, b), function(a, b)

    def parts(x: Any) -> list[Any]:
        return list(x.values()) if isinstance(x, dict) else list(x) if isinstance(x, (tuple, list)) else [x]

    for one, two, three in zip(parts(first), parts(second), parts(eager), strict=True):
        if isinstance(two, (list, tuple)):
            assert str(two) == str(three)
        else:
            np.testing.assert_array_equal(two, three, strict=True)
        if not isinstance(one, np.ndarray):
            continue
        assert one.flags == two.flags or two.flags == three.flags
        assert one.strides == two.strides == three.strides
        assert (one is a) == (two is a) == (three is a)
        assert np.may_share_memory(two, a) == np.may_share_memory(three, a)
    assert (len({*map(id, parts(second))})) == len({*map(id, parts(eager))})


def references(*objects: Any) -> list[int]:
    return [sys.getrefcount(x) for x in objects]


@pytest.mark.slow
def test_no_reference_is_lost_or_kept() -> None:
    """Of arguments, dtypes, classes, None, numbers and results; on every way through, failing ones too."""

    def work(a: Any, b: Any, x: Any, k: Any = None) -> Any:
        a += b * x
        if x < 0:
            raise ValueError("negative")
        return a, None, (b + 1, b.sum()), x

    f = bufferize(work)
    g = bufferize(lambda a: a[1:])
    a, b, x, k = np.ones(4), np.ones(4), 1000.5, 12345.5
    watched = (a, b, x, k, a.dtype, None, True, np.ndarray, float, np.float64, f, work, "a", "k")

    def negative() -> None:
        with pytest.raises(ValueError, match="negative"):
            f(a, b, -1.0)

    calls: list[Any] = [
        lambda: f(a, b, x), lambda: f(a, b, x=x), lambda: f(a, b, k=None, x=x), negative, lambda: g(a),
        lambda: f(a, b, 2), lambda: f(a, b, np.float64(2)),
    ]  # fmt: skip
    for call in calls:
        for _ in range(3):
            call()
        gc.collect()
        before = references(*watched)
        for _ in range(300):
            call()
        gc.collect()
        after = references(*watched)
        assert all(abs(m - n) <= 2 for m, n in zip(before, after)), call
        results = f(a, b, x)
        counts = sys.getrefcount(results[2][0]), sys.getrefcount(results[2])
        del results
        assert counts == (2, 2)
    f(a, b, x)
    before = references(*watched)
    for _ in range(100_000):
        f(a, b, x)
    assert all(abs(m - n) <= 2 for m, n in zip(before, references(*watched)))


def test_memory_stays_flat() -> None:
    f = bufferize(lambda a, b: (a + b, np.cumsum(a)[::-1] * b))
    a = np.ones(1000)
    for _ in range(10):
        f(a, a.copy())
    b = a.copy()
    tracemalloc.start()
    try:
        natively(f, a, b)
        start = tracemalloc.get_traced_memory()[0]
        for _ in range(2000):
            f(a, b)
        assert tracemalloc.get_traced_memory()[0] - start < 10_000
    finally:
        tracemalloc.stop()


def test_errors_have_their_line() -> None:
    def checked(a: Any, i: Any) -> Any:
        a[0] = 5
        return a[i[0]]

    f = bufferize(checked)
    a = np.arange(4.0)
    for _ in range(2):
        f(a, np.array([1]))
    before = taken(f)
    with pytest.raises(IndexError, match="index 9 is out of bounds for axis 0 with size 4") as error:
        f(a, np.array([9]))
    assert taken(f) == before + 1
    assert any("test_native_calls.py" in note for note in error.value.__notes__)
    assert natively(f, a, np.array([2])) == 2.0
    g = bufferize(lambda n: np.ones(n))
    for _ in range(2):
        g(3)
    before = taken(g)
    with pytest.raises(ValueError, match="negative dimensions"):
        g(-3)
    with pytest.raises(MemoryError):
        bufferize(lambda n: np.ones((n, n)))(2**29)
    assert natively(g, 4).tolist() == [1.0] * 4


def raises_in_all_ways(a: Any, i: Any, n: Any, t: Any) -> Any:
    which = i[0]
    if which == 0:
        raise ValueError
    if which == 1:
        raise KeyError("a", 2)
    if which == 2:
        raise ValueError(f"{which} of {n}, {{t}} is {t} and a has {len(a)}")
    if which == 3:
        raise RuntimeError(t, n)
    if which == 4:
        return a[i[0] + n]
    if which == 5:
        raise NotImplementedError("plain", (1, "x"))
    if which == 6:
        raise OverflowError(t > 0, t, n)
    if which == 7:
        return n // int(which - 7)
    if which == 8:
        raise ValueError(f"{t!r} {t:.3f}")
    if which == 9:
        raise ValueError(f"{a[0] > t}{a[0]}{a.sum() / 7}")
    if which == 10:
        raise ValueError(f"{n:05d} of {a[0]:.2e}", f"{t:+.1f}", f"{n!r}")
    return a.sum()


def test_errors_are_made_by_machine_code_from_the_second_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """Class, arguments, notes and context are those that Python gives the first one."""
    f, a = bufferize(raises_in_all_ways), np.arange(4.0)

    def error_of(n: int) -> tuple[Any, ...]:
        try:
            raise LookupError
        except LookupError as before:
            with pytest.raises(Exception) as caught:
                f(a, np.array([n]), 30, 0.1)
            error = caught.value
            assert error.__context__ is before
        assert not [e for e in (error, *error.args) if isinstance(e, np.generic)]
        return type(error), error.args, [type(x) for x in error.args], str(error), error.__notes__

    for n in (20, 21, 22):
        assert f(a, np.array([n]), 30, 0.1) == 6.0
    by_python = {n: error_of(n) for n in range(11)}
    for n in range(11):
        with pytest.raises(by_python[n][0]) as eager:
            raises_in_all_ways(a, np.array([n]), 30, 0.1)
        assert (type(eager.value), eager.value.args) == by_python[n][:2]
    before = taken(f)
    finish, finished = ProgramEntry.finish, list[int]()

    def counted(self: ProgramEntry, status: int, given: Any) -> Any:
        finished.append(status)
        return finish(self, status, given)

    monkeypatch.setattr(ProgramEntry, "finish", counted)
    for n in range(11):
        assert error_of(n) == by_python[n], n
    assert taken(f) == before + 11
    assert not finished
    gc.collect()
    held = references(a)
    for _ in range(20):
        for n in (1, 2, 3, 5, 8, 10):
            error_of(n)
    gc.collect()
    assert references(a) == held


def test_calls_that_raise_while_they_are_traced_are_traced_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Then the original function raises, which machine code calls for arguments of these sizes."""

    def picked(a: Any, n: Any) -> Any:
        return a[n] + a[:2]

    def keyed(d: Any) -> Any:
        return d["a"] + d["missing"]

    f, g, a = bufferize(picked), bufferize(keyed), np.arange(4.0)
    traced, trace = list[int](), stages.trace
    monkeypatch.setattr(stages, "trace", lambda *args: (traced.append(1), trace(*args))[1])
    for call in (lambda: f(a, 200), lambda: g({"a": a}), lambda: f(np.ones((3, 3, 3)).T[0, 0], 3)):
        traced.clear()
        with pytest.raises((KeyError, IndexError)) as first:
            call()
        for _ in range(12):
            with pytest.raises(type(first.value)) as error:
                call()
            assert error.value.args == first.value.args
        assert len(traced) == 1
        assert error.traceback[-1].name in ("picked", "keyed")  # the line is the original's
    assert taken(f) > 10 and taken(g) > 10
    assert f(a, 2).tolist() == [2.0, 3.0]
    assert natively(f, a, 3).tolist() == [3.0, 4.0]
    with pytest.raises(IndexError, match="size 4"):
        f(a, 4)
    assert "ran the original function 12 times: it raises KeyError" in str(g.specializations())


def test_a_read_only_result_owns_its_memory_where_it_is_the_only_one() -> None:
    """The zeros of a real array's imaginary part are made read-only themselves, as NumPy does: no view of them."""

    def two(a: Any) -> Any:
        x = a + 1
        return np.broadcast_to(x, x.shape), x

    f, g, a = bufferize(lambda a: a.imag), bufferize(two), np.ones(4)
    for _ in range(4):
        f(a), g(a)
    zeros = natively(f, a)
    assert zeros.base is None and str(zeros.flags) == str(a.imag.flags) and zeros.tolist() == [0] * 4
    shown, x = natively(g, a)
    assert x.flags.writeable and not shown.flags.writeable and np.shares_memory(x, shown)
    assert natively(f, a) is not zeros and natively(f, np.ones(4)).flags.writeable is False


def checked_pair(pair: Any, x: Any = 1.0) -> Any:
    pair[0][0] += 1
    if len(pair) != 2:
        raise ValueError(f"{len(pair)} arrays")
    if pair[0].size < 3:
        raise IndexError("few")
    return pair[0] * x, pair[1]


def test_after_many_calls_that_raise_the_next_is_not_looked_at() -> None:
    """The original function makes it, whatever it is given: what it gives or raises is right. One that does not raise
    has the next ones looked at again."""
    f = bufferize(checked_pair)

    def fails(n: int, pair: Any, kind: type[Exception], text: str) -> None:
        for _ in range(n):
            before = pair[0][0]
            with pytest.raises(kind, match=text) as error:
                f(pair)
            assert pair[0][0] == before + 1  # as the original function leaves it
            assert error.traceback[-1].name == "checked_pair"

    a, b = np.ones(4), np.ones(4)
    f([a, b]), f([a, b])
    fails(10, [a, b, b], ValueError, "3 arrays")
    fails(10, [a[:2], b], IndexError, "few")
    patience = [e for e in f._native.entries if not isinstance(e, ProgramEntry)] if f._native is not None else []
    assert [e.memory[Entry.PATIENCE] for e in patience] == [PATIENCE] * 2
    fails(2 * PATIENCE, [a, b, b], ValueError, "3 arrays")
    fails(5, [a, b, b, b, b], ValueError, "5 arrays")
    fails(5, (a[:2], b), IndexError, "few")
    with pytest.raises(TypeError, match="missing 1 required"):
        f()
    before, runs = a[0], taken(f)
    scaled, given = f([a, b])
    assert given is b and not np.shares_memory(scaled, a) and scaled.tolist() == a.tolist() and a[0] == before + 1
    assert sorted(e.memory[Entry.PATIENCE] for e in patience) == [PATIENCE, 2 * PATIENCE]
    program_runs = f.specializations()[0].calls
    natively(f, [a, b])
    assert f.specializations()[0].calls == program_runs + 1 and taken(f) == runs + 2
    fails(3 * PATIENCE, [a, b, b], ValueError, "3 arrays")
    assert f([a, b], x=3.0)[0].tolist() == (a * 3).tolist()


def told(a: Any, n: Any, x: Any) -> Any:
    a[0] = n
    if n > 2:
        raise ValueError(f"{n} of {a.size}", x)
    return a


def test_errors_with_numbers_that_are_surely_raised_are_the_original_s() -> None:
    """Nothing is compiled for such calls, unless the program is asked for."""
    f, a = bufferize(told), np.zeros(4)
    for n in (3, 4, 5, 3, 4, 5, 6, 6, 6):
        with pytest.raises(ValueError) as error:
            f(a, n, 0.5)
        assert error.value.args == (f"{n} of 4", 0.5) and a[0] == n
    assert [str(s).split(" times")[0] for s in f.specializations()] == ["ran the original function 8"]
    assert f(a, 2, 0.5) is a and natively(f, a, 1, 0.5) is a
    with pytest.raises(ValueError) as error:
        f.call_counted(a, 7, 1.5)
    assert error.value.args == ("7 of 4", 1.5)
    assert "tracebuf.check" in f.lower(a, 7, 1.5).as_text("tensor")


class OwnNew(Exception):
    def __new__(cls, text: str) -> OwnNew:
        return super().__new__(cls, text.upper())


def test_an_exception_that_makes_itself_is_not_made_while_tracing() -> None:
    def own(n: Any) -> Any:
        raise OwnNew(f"n is {n}")

    f = bufferize(own)
    for _ in range(6):
        with pytest.raises(OwnNew) as error:
            f(4)
        with pytest.raises(OwnNew) as eager:
            own(4)
        assert error.value.args == eager.value.args


LIMIT = 3


def limited(n: Any) -> Any:
    if n > LIMIT:
        raise ValueError("too many")
    return n


def test_calls_that_raise_and_share_arrays_or_look_at_names(monkeypatch: pytest.MonkeyPatch) -> None:
    """They were traced each time, and Python's each time: machine code takes them, until a name is something else."""
    traced, trace = list[int](), stages.trace
    monkeypatch.setattr(stages, "trace", lambda *args: (traced.append(1), trace(*args))[1])
    f, g, a = bufferize(lambda d, a: a * d["missing"]), bufferize(limited), np.arange(4.0)
    for function, args, kind in ((f, ({"a": a}, a), KeyError), (g, (7,), ValueError)):
        traced.clear()
        for _ in range(12):
            with pytest.raises(kind):
                function(*args)
        assert len(traced) == 1 and taken(function) > 6
    monkeypatch.setattr(sys.modules[__name__], "LIMIT", 8)
    assert g(7) == 7
    monkeypatch.setattr(sys.modules[__name__], "ValueError", RuntimeError, raising=False)
    for _ in range(4):
        with pytest.raises(RuntimeError):
            g(9)
    with pytest.raises(KeyError):
        f.lower({"a": a}, a)


def solved(a: Any, b: Any) -> Any:
    for _ in range(3):
        b = np.linalg.solve(a, b)
    return b


def test_host_calls_of_numpys() -> None:
    """Programs with calls of NumPy's functions are taken too; what the functions raise comes out."""
    f, g = bufferize(solved), bufferize(lambda a: np.argsort(a)[0])
    a, b = np.eye(3) * 2 + 0.1, np.ones(3)
    for _ in range(2):
        f(a, b)
        g(b)
    assert natively(f, a, b).tobytes() == solved(a, b).tobytes()
    assert natively(g, np.array([3.0, 1, 2])) == 1
    before = references(a, b)
    for _ in range(20):
        with pytest.raises(np.linalg.LinAlgError, match="Singular matrix") as error:
            f(np.ones((3, 3)), b)
    assert any("in solved" in note for note in error.value.__notes__)
    assert natively(f, a, b).tobytes() == solved(a, b).tobytes()
    del error
    gc.collect()
    assert references(a, b) == before


RATE = 2.0
HELD: list[Any] = []


def scaled_by_user(x: Any) -> Any:
    global RATE
    if x[0] == 5:
        raise KeyError("five")
    if x[0] == 6:
        RATE += 1
    if x[0] == 7:
        HELD.append(x)
    if x[0] == 8:
        return halving(x - 4)
    return x * RATE


@bufferize
def halving(a: Any) -> Any:
    b = host_call(scaled_by_user, a + 0.0, result_shape=3)
    return b * (RATE / 4)


def test_functions_of_the_users() -> None:
    """They are called from calls by machine code as from others: errors, what they change or keep, calls in calls."""
    global RATE
    for _ in range(3):
        halving(np.ones(3))
    HELD.clear()
    assert natively(halving, np.full(3, 3.0)).tolist() == [3] * 3
    errors = ((5, KeyError, "five"), (6, TracebufError, "has changed `RATE`"), (7, TracebufError, "keeps an array"))
    for number, error, words in errors:
        for _ in range(2):
            before = taken(halving)
            with pytest.raises(error, match=words) as raised:
                halving(np.full(3, float(number)))
            assert taken(halving) == before + 1 and "in halving" in raised.value.__notes__[0]
            RATE = 2.0
    for _ in range(3):
        assert natively(halving, np.ones(3)).tolist() == [1] * 3
    assert [x.tolist() for x in HELD] == [[7] * 3] * 2
    HELD.clear()
    assert natively(halving, np.full(3, 8.0)).tolist() == [2] * 3
    a = np.ones(3)

    def grow() -> None:
        a.resize(9, refcheck=False)

    def grows(x: Any) -> Any:
        host_call(grow)
        return x + 1

    f = bufferize(grows)
    for _ in range(3):
        f(np.ones(3))
        a.resize(3, refcheck=False)
    before = taken(f)
    with pytest.raises(TracebufError, match="the memory or the shape of `x`"):
        f(a)
    assert taken(f) == before + 1


def test_functions_of_the_users_and_containers_go_to_python() -> None:
    f = bufferize(lambda p: host_call(np.sum, p[0], result_shape=()))
    for _ in range(4):
        assert by_python(f, [np.ones(3)]) == 3


def test_threads_call_functions_of_the_users() -> None:
    def run(seed: int) -> None:
        a = np.random.default_rng(seed).random(3) + 20
        for _ in range(300):
            assert np.array_equal(halving(a), a)

    threads = [threading.Thread(target=run, args=(k,)) for k in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()


def test_named_tuples_are_made_natively() -> None:
    f = bufferize(lambda a: (np.linalg.eigh(a), Point(a.sum(), [a + 1])))
    a = np.eye(3)
    for _ in range(3):
        f(a)
    entries = f._native.entries
    assert not any(Result.PYTHON in step for entry in entries for step in entry.plan.result)
    found, point = natively(f, a)
    assert type(found) is type(np.linalg.eigh(a)) and found.eigenvalues.tolist() == [1] * 3
    assert type(point) is Point and point.x == 3 and (point.y[0] == a + 1).all()
    before = references(type(found), Point)
    for _ in range(100):
        natively(f, a)
    assert all(abs(m - n) <= 3 for m, n in zip(before, references(type(found), Point)))


def seen_by_frames(error: BaseException) -> list[np.ndarray]:
    """The arrays that the frames below the caller's hold."""
    found, place = [], error.__traceback__
    while place is not None and (place := place.tb_next) is not None:
        found += [v for v in place.tb_frame.f_locals.values() if isinstance(v, np.ndarray)]
    return found


def test_frames_of_an_error_keep_what_a_native_call_was_given() -> None:
    """Arrays that a called function sees are the program's memory: the arguments, and what the call has made. After an
    error they live as long as its frames."""

    def program(a: Any) -> Any:
        b = a * 2
        np.quantile(b, 0.5 + (b[0] > 100))
        return b

    f = bufferize(program)
    for _ in range(2):
        f(np.ones(50))
    before = taken(f)
    a = np.full(50, 99.0)
    gone = weakref.ref(a)
    with pytest.raises(ValueError, match="Quantiles") as error:
        f(a)
    assert taken(f) == before + 1
    del a
    f(np.ones(50))
    seen = seen_by_frames(error.value)
    seen = [v for v in seen if v.shape == (50,)]
    assert seen and all((v == 198).all() for v in seen) and gone() is not None
    del seen, error
    gc.collect()
    assert gone() is None


def test_names_and_defaults() -> None:
    def scaled(a: Any, /, b: Any, *, k: float = 2.0, n: int = 3) -> Any:
        return a * k + b * n

    f = bufferize(scaled)
    a, b = np.ones(3), np.arange(3.0)
    for _ in range(2):
        f(a, b)
    assert natively(f, a, b=b, k=5.0, n=1).tolist() == scaled(a, b, k=5.0, n=1).tolist()
    assert natively(f, a, n=7, b=b).tolist() == scaled(a, b, n=7).tolist()
    assert scaled.__kwdefaults__ is not None
    scaled.__kwdefaults__["k"] = 4.0
    assert natively(f, a, b).tolist() == (4 + 3 * b).tolist()
    with pytest.raises(TypeError, match="positional-only"):
        f(a=a, b=b)
    with pytest.raises(TypeError, match="multiple values"):
        f(a, b, b=b)
    with pytest.raises(TypeError, match="positional"):
        f(a, b, 2.0, 3)
    with pytest.raises(TypeError, match="unexpected keyword"):
        f(a, b, c=1)
    out = np.zeros(3)
    assert by_python(f, a, b, out=out) is out
    scaled.__kwdefaults__.clear()
    with pytest.raises(TypeError, match="required keyword-only"):
        f(a, b)


class Name(str):
    """A string of a class of its own."""


def made(**given: Any) -> dict[str, Any]:
    """The same keywords under names made at run time, as of JSON or a file: equal to those in the code, other
    objects."""
    names = json.loads(json.dumps([*given]))
    assert not any(new is old for new, old in zip(names, given))
    return dict(zip(names, given.values()))


def test_keywords_are_names_by_their_value() -> None:
    def scaled(array: Any, /, weight: Any, *, factor: float = 2.0, größe: int = 3) -> Any:
        return array * factor + weight * größe

    f = bufferize(scaled)
    a, b = np.ones(3), np.arange(3.0)
    for _ in range(2):
        f(a, b)
    every: dict[str, Any] = {"weight": b, "factor": 5.0, "größe": 1}
    for count in range(1, 4):
        given = dict([*every.items()][:count])
        assert natively(f, a, **made(**given)).tolist() == scaled(a, **given).tolist()
        assert natively(f, a, **dict(reversed(made(**given).items()))).tolist() == scaled(a, **given).tolist()
    wrong: list[tuple[tuple[Any, ...], dict[str, Any]]] = [
        ((a,), made(weigth=b)), ((a, b), made(faktor=1.0)), ((), made(array=a, weight=b)), ((a, b), made(array=a)),
        ((a, b), made(weight=b)), ((a, b, 2.0), made(factor=2.0)), ((a,), made(factor=2.0)),
        ((a, b), {"factor": 1.0, Name("factors"): 2.0}), ((a, b), {1: 2.0}),  # type: ignore[dict-item]
    ]  # fmt: skip
    for args, kwargs in wrong:
        messages = []
        for call in (scaled, functools.partial(by_python, f)):
            with pytest.raises(TypeError) as error:
                call(*args, **kwargs)
            messages.append(str(error.value).split("() ")[-1])
        assert messages[0] == messages[1]
    with pytest.raises(TypeError, match="return arrays"):
        by_python(f, a, b, **made(out=3))
    with pytest.raises(TypeError, match="multiple values"):
        f(a, weight=b, **made(weight=b))
    assert by_python(f, a, **{Name("weight"): b}).tolist() == scaled(a, b).tolist()
    assert natively(f, a, **made(weight=b)).tolist() == scaled(a, b).tolist()
    buffer = np.empty(3)
    f(a, b, out=buffer)
    assert natively(f, a, **made(out=buffer, weight=b)) is buffer


def test_names_in_kwargs_are_compared_by_value() -> None:
    def mixed(array: Any, scale: float = 1.0, **rest: Any) -> Any:
        for value in rest.values():
            scale += value
        return array * scale - (rest["first"] if "first" in rest else 0.0)

    f, a = bufferize(mixed), np.ones(3)
    for _ in range(2):
        f(a, first=2.0, second=3.0)
        f(a, out=2.0)
    calls: list[dict[str, Any]] = [
        {"first": 4.0, "second": 5.0}, {"first": 1.0, "scale": 7.0, "second": 2.0}, {"out": 5.0},
        {"scale": 7.0, "first": 2.0, "second": 1.0},
    ]  # fmt: skip
    for given in calls:
        assert natively(f, a, **made(**given)).tolist() == mixed(a, **given).tolist()
        one, *others = given
        named = {Name(one): given[one]} | {k: given[k] for k in others}
        assert by_python(f, a, **named).tolist() == mixed(a, **given).tolist()
    with pytest.raises(TypeError, match="multiple values"):
        by_python(f, a, 1.0, **made(scale=2.0, first=1.0, second=1.0))


def test_a_name_of_another_class_in_kwargs_is_pythons() -> None:
    """The first call of a program by such names once failed, in making its entry."""
    f = bufferize(lambda array, **rest: array * rest["first"])
    for _ in range(3):
        assert by_python(f, np.ones(2), **{Name("first"): 2.0}).tolist() == [2.0, 2.0]


def _set_attribute(module: Any, value: Any) -> None:
    module.scale = value


CHANGES: dict[str, Any] = {
    "item": lambda names, value: names.__setitem__("scale", value),
    "update": lambda names, value: names.update(scale=value),
    "union": lambda names, value: operator.ior(names, {"scale": value}),
    "removed": lambda names, value: (names.pop("scale"), names.setdefault("scale", value)),
    "emptied": lambda names, value: (names.clear(), names.update(scale=value)),
    "attribute": lambda names, value: _set_attribute(names["module"], value),
    "statement": lambda names, value: names["change"](value),
    "executed": lambda names, value: exec("global scale; scale = given", names, {"given": value}),
}


@pytest.mark.parametrize(("native", "how"), one_in(3, itertools.product([True, False], CHANGES), rows=True))
def test_names_are_looked_up_again_where_their_dict_has_changed(how: str, native: bool) -> None:
    """Machine code asks dicts for their versions (PEP 509) before it looks names up in them."""
    module = types.ModuleType("module")
    names = vars(module)
    exec("def f(a): return a * scale\ndef change(value):\n    global scale\n    scale = value", names)
    kept = {"module": module, "change": names["change"]}
    names.update(kept, scale=1.0)
    f, a = bufferize(names["f"]), np.arange(3.0)
    call = functools.partial(natively, f) if native else f
    f(a)
    for _ in range(30):  # CPython specializes what it runs often
        for value in (2.0, 3.0, 1.0):
            CHANGES[how](names, value)
            names.update(kept)
            f(a)  # may compile
            assert call(a).tolist() == (a * value).tolist()
            names["unrelated"] = object()
            assert call(a).tolist() == (a * value).tolist()
    del names["scale"]
    for _ in range(2):
        with pytest.raises(NameError, match="scale"):
            f(a)
    names["scale"] = 2.0
    assert call(a).tolist() == (a * 2).tolist()


def test_a_builtin_hidden_and_shown_again() -> None:
    names: dict[str, Any] = {"__builtins__": builtins}
    exec("def f(a): return a * len(a)", names)
    f, a = bufferize(names["f"]), np.arange(3.0)
    for _ in range(3):
        for _ in range(3):
            assert f(a).tolist() == [0, 3, 6]
        assert natively(f, a).tolist() == [0, 3, 6]
        names["len"] = lambda a: 2
        for _ in range(3):
            assert f(a).tolist() == [0, 2, 4]
        del names["len"]


def test_values_from_outside_are_looked_up() -> None:
    def inner(x: Any) -> Any:
        return x * FACTOR

    def outer(a: Any) -> Any:
        return np.sin(a) + inner(a) * cell

    cell = 2.0
    f = bufferize(outer)
    a = np.arange(3.0)
    for _ in range(2):
        f(a)
    assert natively(f, a).tolist() == outer(a).tolist()
    cell = 3.0
    assert by_python(f, a).tolist() == outer(a).tolist()
    globals()["FACTOR"] = 11.0
    try:
        assert by_python(f, a).tolist() == outer(a).tolist()
        assert natively(f, a).tolist() == outer(a).tolist()
    finally:
        globals()["FACTOR"] = 10.0
    f(a)
    assert natively(f, a).tolist() == outer(a).tolist()


FACTOR = 10.0


@pytest.mark.slow
def test_programs_take_turns() -> None:
    """Programs of one function for dtypes, ranks and guards; the one that took the last call is tried first."""

    def plus(a: Any, b: Any) -> Any:
        return a + b

    f = bufferize(plus)
    samples = [np.ones(4), np.ones(4, np.float32), np.ones((3, 4)), np.ones((1, 4)), np.arange(4), np.ones(1), 2.0, 3]
    pairs = [(x, y) for x in samples for y in samples]
    for _ in range(3):
        for x, y in pairs:
            y = y.copy() if isinstance(y, np.ndarray) else y
            got, wanted = f(x, y), x + y
            assert type(got) is type(wanted) and np.shape(got) == np.shape(wanted)
            np.testing.assert_array_equal(got, wanted, strict=True)
    assert taken(f) > len(pairs)
    assert sum(s.calls for s in f.specializations()) == 3 * len(pairs)  # type: ignore[misc]


@pytest.mark.slow
def test_threads_call_one_function_at_once() -> None:
    """The context is one call's; the others go to Python, or wait for the GIL."""

    def work(a: Any, n: Any) -> Any:
        t = np.cumsum(a)[::-1] + n
        return t * 2, t.sum()

    f = bufferize(work)
    f(np.ones(10), 1.0)
    wrong: list[Any] = []

    def run(seed: int) -> None:
        rng = np.random.default_rng(seed)
        for _ in range(300):
            a, n = rng.random(int(rng.choice([5, 50, 40_000]))), float(seed)
            got, wanted = f(a, n), work(a, n)
            if not (np.allclose(got[0], wanted[0]) and np.allclose(got[1], wanted[1])):
                wrong.append((seed, n))

    threads = [threading.Thread(target=run, args=(k,)) for k in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong
    assert sum(s.calls for s in f.specializations()) == 1201  # type: ignore[misc]


@pytest.mark.slow
def test_a_long_call_gives_the_gil_and_hears_signals() -> None:
    """Also one that was expected to be short: it keeps the GIL until it polls first."""

    def count(n: Any) -> Any:
        total = 0.0
        for i in range(n):
            total = total * 0.5 + np.sqrt(i)
        return total

    f = bufferize(count)
    for _ in range(2):
        f(10)
    ticks: list[float] = []
    stop = threading.Event()

    def tick() -> None:
        while not stop.is_set():
            ticks.append(time.monotonic())
            time.sleep(0.001)

    other = threading.Thread(target=tick)
    other.start()
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # the jobs of a shell's background ignore it
    try:
        start = time.monotonic()
        natively(f, 100_000_000)
        seen = [t for t in ticks if t > start]
        assert len(seen) > 5
        with pytest.raises(KeyboardInterrupt):
            threading.Timer(0.1, lambda: signal.raise_signal(signal.SIGINT)).start()
            f(2_000_000_000)
    finally:
        signal.signal(signal.SIGINT, before)
        stop.set()
        other.join()
    assert natively(f, 10) == count(10)


@pytest.mark.slow
def test_products_do_not_keep_the_gil_for_long() -> None:
    """BLAS does not poll: so calls that may be long from fewer elements on, or through an int, give the GIL at once."""
    a = np.ones((4, 4))
    for source, args, long in (
        ("def f(a, b): return a @ b", (a, a.copy()), LONG_PRODUCTS), ("def f(a, b): return a + b", (a, a.copy()), LONG),
        ("def f(n, b): return np.ones((n, 4)) @ b", (5, a), 0),
    ):  # fmt: skip
        f = bufferize(program(source))
        for _ in range(2):
            f(*args)
        assert natively(f, *args).tolist() == f.__wrapped__(*args).tolist()
        assert f._native is not None and f._native.entries[0].memory[Entry.LONG] == long


def test_what_takes_no_time_keeps_the_gil() -> None:
    """Whatever the size of arrays that it does not walk over: to give the GIL away costs half a call."""
    a = np.ones(LONG)
    for source, long in (
        ("def f(a): return a[1:]", sys.maxsize), ("def f(a): return len(a), a[0] + 1", sys.maxsize),
        ("def f(a): return a.max()", LONG), ("def f(a):\n    for i in range(9): a[i] += i\n    return a", LONG),
    ):  # fmt: skip
        f = bufferize(program(source))
        for _ in range(3):
            f(a)
        assert f._native is not None and f._native.entries[0].memory[Entry.LONG] == long


@pytest.mark.slow
def test_memory_is_kept_and_given_back_as_by_python() -> None:
    def shifted(a: Any) -> Any:
        t = np.cumsum(a)[::-1] + a
        a[:] = np.cumsum(t)[::-1]
        return a.sum()

    f = bufferize(shifted)
    large, small = np.ones(100_000), np.ones(10)
    for _ in range(2):
        f(large)
    context = f._native.entries[0].context  # type: ignore[union-attr]
    assert sum(b.nbytes for b in context.blocks if b is not None) >= 8 * 100_000
    with counting() as seen:
        natively(f, large)
    assert seen.allocated_bytes < 1000
    for _ in range(6):
        natively(f, small)
    assert sum(b.nbytes for b in context.blocks if b is not None) < 10_000
    natively(f, large)
    f.release()
    assert all(b is None for b in context.blocks)
    natively(f, large)
    f(a=large, **{"".join(["o", "ut"]): np.zeros(())})  # by Python, in the same context
    assert not f._native.entries[0].kernel._idle  # type: ignore[union-attr]


def test_measure_counts_as_before() -> None:
    f = bufferize(lambda a, b: a + b * 2)
    a, b = np.ones(1000), np.ones(1000)
    for _ in range(2):
        f(a, b)
    _, counters = f.call_counted(a, b)
    assert counters is not None and (counters.allocations, counters.allocated_bytes) == (1, 8000)
    with counting() as seen:
        natively(f, a, b)
    assert (seen.allocations, seen.allocated_bytes) == (1, 8000)


def test_functions_die_with_their_entries() -> None:
    f = bufferize(lambda a: a + 1)
    for _ in range(2):
        f(np.ones(3))
    natively(f, np.ones(3))
    f.me = f  # type: ignore[attr-defined]
    gone = weakref.ref(f)
    del f
    gc.collect()
    assert gone() is None


TABLE = np.arange(4.0)


@pytest.mark.slow
def test_captured_arrays_are_fetched_at_each_call() -> None:
    def weigh(a: Any) -> Any:
        return a * TABLE + cell[0]

    cell = [np.ones(4)]
    f = bufferize(weigh)
    a = np.ones(4)
    for _ in range(2):
        f(a)
    assert natively(f, a).tolist() == weigh(a).tolist()
    globals()["TABLE"], kept = np.arange(4.0) * 3, TABLE
    try:
        assert natively(f, a).tolist() == weigh(a).tolist()
        cell[0] = np.ones(4) * 7
        assert natively(f, a).tolist() == weigh(a).tolist()
        for other in (np.arange(4), np.ones((2, 4)), np.ones(8)[::2]):
            globals()["TABLE"] = other
            assert by_python(f, a).tolist() == weigh(a).tolist()
            assert natively(f, a).tolist() == weigh(a).tolist()
        del globals()["TABLE"]
        with pytest.raises(NameError):
            by_python(f, a)
        globals()["TABLE"] = a
        assert f(a).tolist() == weigh(a).tolist()
    finally:
        globals()["TABLE"] = kept
    assert natively(f, a).tolist() == weigh(a).tolist()


class Point(NamedTuple):
    x: Any
    y: Any


@pytest.mark.slow
def test_containers_of_arrays() -> None:
    def total(p: Any, q: Any, r: Any) -> Any:
        return p["a"] * q[0] + q[1][0] - r.x * r.y

    f = bufferize(total)

    def fresh(n: int = 4, k: float = 1.0) -> list[Any]:
        return [{"a": np.ones(n)}, [np.arange(n * 1.0), (np.ones(n), 3)], Point(np.ones(n) * 3, k)]

    for _ in range(2):
        f(*fresh())
    args = fresh(6, 2.5)
    assert natively(f, *args).tolist() == total(*args).tolist()
    odd: list[list[Any]] = []
    for change in (
        lambda p, q, r: [dict(b=p["a"], **p), q, r], lambda p, q, r: [p, tuple(q), r], lambda p, q, r: [p, [*q, 1], r],
        lambda p, q, r: [p, q, Point(2, r.x)], lambda p, q, r: [{"a": p["a"].astype(np.float32)}, q, r],
        lambda p, q, r: [{"a": q[0]}, q, r], lambda p, q, r: [p, [q[0], (q[1][0],)], r],
    ):  # fmt: skip
        odd.append(change(*fresh()))
    for args in odd:
        assert by_python(f, *args).tolist() == total(*args).tolist()
    for bad in ([{}, *fresh()[1:]], [{"b": 1}, *fresh()[1:]], [None, *fresh()[1:]], [fresh()[0], [], fresh()[2]]):
        with pytest.raises((KeyError, TypeError, IndexError, UnsupportedError)):
            by_python(f, *bad)
    args = fresh()
    watched = [*args, args[0]["a"], args[1][1], args[1][1][0], Point]
    for call in (lambda: f(*args), lambda: f(*odd[1]), lambda: f(*odd[4])):
        for _ in range(5):
            call()
        gc.collect()
        before = references(*watched)
        for _ in range(500):
            call()
        gc.collect()
        assert all(abs(m - n) <= 2 for m, n in zip(before, references(*watched)))


def test_changed_containers_and_one_that_is_two_arguments() -> None:
    def push(p: Any, q: Any) -> Any:
        p["a"] = p["a"] + q["a"]
        q["a"] += 1
        return p

    f = bufferize(push)

    def pair() -> tuple[Any, Any]:
        return {"a": np.ones(3)}, {"a": np.arange(3.0)}

    for _ in range(2):
        f(*pair())
    (p, q), (wanted, other) = pair(), pair()
    assert natively(f, p, q) is p
    push(wanted, other)
    assert p["a"].tolist() == wanted["a"].tolist() and q["a"].tolist() == other["a"].tolist()
    p, wanted = pair()[0], pair()[0]
    assert by_python(f, p, p) is p
    push(wanted, wanted)
    assert p["a"].tolist() == wanted["a"].tolist()


class Model:
    """An object with arrays and numbers."""

    limit = 3.0

    def __init__(self, n: int = 4) -> None:
        self.w, self.k, self.name = np.arange(n * 1.0), 2, "m"

    @bufferize
    def apply(self, x: Any) -> Any:
        self.w += 1
        return self.w * x * self.k


@pytest.mark.slow
def test_methods_and_attributes() -> None:
    m, x = Model(), np.ones(4)
    f = m.apply.__func__
    for _ in range(2):
        m.apply(x)
    wanted = (m.w + 1) * x * 2
    assert natively(f, m, x).tolist() == wanted.tolist()
    before = taken(f)
    assert m.apply(x).tolist() == (wanted + 2).tolist() and taken(f) == before + 1
    bound = m.apply
    assert bound.__self__ is m and bound(x).tolist() == (m.w * x * 2).tolist() and taken(f) == before + 2
    for _ in range(3):
        assert bound(x=x).tolist() == (m.w * x * 2).tolist()
    with pytest.raises(TypeError):
        bound(x, x)
    assert bound == m.apply and hash(bound) == hash(m.apply) and copy.copy(bound)(x).tolist() == (m.w * 2).tolist()
    gone, its = weakref.ref(m), weakref.ref(bound)
    alive = bound
    del m, bound
    gc.collect()
    m = alive.__self__
    assert gone() is m and its() is alive and alive(x).tolist() == (m.w * 2).tolist()
    before_ = references(m, x, f)
    for _ in range(300):
        alive(x)
    assert all(abs(a - b) <= 2 for a, b in zip(before_, references(m, x, f)))
    del alive
    assert its() is None
    vars(m)["apply"] = lambda x: "mine"
    assert m.apply(x) == "mine"
    del vars(m)["apply"]
    assert Model.apply is f and Model.apply(m, x).tolist() == (m.w * x * 2).tolist()
    before = taken(f) - 1
    m.k = 5
    assert m.apply(x).tolist() == (m.w * 5).tolist() and taken(f) == before + 2
    other = Model(7)
    assert natively(f, other, np.ones(7)).tolist() == ((np.arange(7.0) + 1) * 2).tolist()

    class Derived(Model):
        pass

    by_python(f, Derived(), x)
    for change in ({"k": 2.5}, {"w": np.arange(4)}):
        m = Model()
        vars(m).update(change)
        wanted = Model.apply.__wrapped__(copy.deepcopy(m), x.copy())
        assert by_python(f, m, x).tolist() == wanted.tolist()
    m = Model()
    m.w = x
    assert by_python(f, m, x).tolist() == [8.0] * 4
    del m.k
    with pytest.raises(AttributeError):
        by_python(f, m, x)
    m = Model()
    gc.collect()
    before_, count = references(m, m.w, Model, "k"), sys.getrefcount(m.w)
    for _ in range(1000):
        m.apply(x)
    assert all(abs(a - b) <= 2 for a, b in zip(before_, references(m, m.w, Model, "k"))) and count < 10


@pytest.mark.slow
def test_static_arguments() -> None:
    @functools.partial(bufferize, static_argnames=("n", "how"))
    def power(a: Any, n: Any, how: str = "up") -> Any:
        for _ in range(n):
            a = a * 2 if how == "up" else a / 2
        return a

    a = np.ones(3)
    for n, how in ((2, "up"), (3, "up"), (2, "down"), (True, "up")):
        for _ in range(2):
            power(a, n, how)
    for n, how in ((2, "up"), (3, "up"), (2, "down"), (True, "up")):
        assert natively(power, a, n, how=how).tolist() == power.__wrapped__(a, n, how).tolist()
    assert natively(power, a, 2).tolist() == [4.0] * 3
    assert by_python(power, a, 4).tolist() == [16.0] * 3
    with pytest.raises(TypeError):
        by_python(power, a, 2.0)
    scaled = bufferize(static_argnames="k")(lambda a, k: a * k if str(k) != "-0.0" else a + 1)
    for _ in range(2):
        for k in (0.5, 0.0, -0.0, float("nan"), 0, 1j):
            scaled(a, k)
    for k in (float("0.5"), 0.0, -0.0, 0):
        assert natively(scaled, a, k).tolist() == scaled.__wrapped__(a, k).tolist()
    assert by_python(scaled, a, 1j).tolist() == [1j] * 3 and np.isnan(scaled(a, float("nan"))).all()


@pytest.mark.slow
def test_finalizers_may_call_a_function_that_dies() -> None:
    """The collector finalizes a cycle in any order: the entries' own finalizers may come before."""
    seen: list[Any] = []

    class Last:
        def __init__(self) -> None:
            self.f = bufferize(lambda a: (a + 1, a * 2))
            for _ in range(3):
                self.f(np.ones(3))
            natively(self.f, np.ones(3))
            self.f.me = self

        def __del__(self) -> None:
            seen.append(self.f(np.ones(4))[0].tolist())

    for _ in range(3):
        Last()
        gc.collect()
    assert seen == [[2.0] * 4] * 3
    f = bufferize(lambda a: a + 1)
    for _ in range(3):
        f(np.ones(3))
    f.__init__(f.__wrapped__, f.options)  # type: ignore[misc]
    assert f(np.ones(3)).tolist() == [2.0] * 3


def test_calls_are_checked_both_ways(checked: Any) -> None:
    """What the two ways make of a call is compared."""
    entries = checked
    f = bufferize(add_into)
    a, b, before = np.ones(4), np.ones(4), entries.taken
    for _ in range(3):
        f(a, b)
    assert a.tolist() == [7.0] * 4 and entries.taken == before + 2
    assert [s.calls for s in f.specializations()] == [3]  # type: ignore[misc]

    def push(p: Any, q: Any) -> Any:
        p["a"] = p["a"] + q.x * TABLE
        return p, [q.x]

    g = bufferize(push)
    p, before = {"a": np.ones(4)}, entries.taken
    for _ in range(3):
        g(p, Point(np.ones(4), 2))
    assert p["a"].tolist() == [1.0, 4.0, 7.0, 10.0] and entries.taken == before + 2
    entry = g._native.entries[0]  # type: ignore[union-attr]
    result = entry.memory[Entry.RESULT]
    (ctypes.c_int64 * 2).from_address(result + 8 * WORDS)[0:2] = [Result.OBJECT, id(7.5)]
    with pytest.raises(entries.DisagreementError, match="arguments|result"):
        g(p, Point(np.ones(4), 2))
    with pytest.raises(entries.DisagreementError, match="result"):
        entries.same((1, 2.0), (1, 3.0), "result")
    with pytest.raises(entries.DisagreementError, match="argument 0"):
        entries.same(np.ones(2), np.ones(2, np.float32), "argument 0")


def test_a_default_that_a_call_changes_is_changed_once(checked: Any) -> None:
    """Of a call that is made twice. (Found by fuzzing.)"""

    def f(b: Any, a: Any = np.ones(4)) -> Any:  # noqa: B008
        a += b
        return a

    g, default = bufferize(f), f.__defaults__[0]  # type: ignore[index]
    for k in range(2, 9):
        assert g(1.0) is default and default.tolist() == [float(k)] * 4


def test_functions_that_fall_back() -> None:
    """Machine code takes their calls, unless a program may find at run time that it is outside the language."""
    f = bufferize(fallback="numpy")(lambda a: a * 2)
    for _ in range(2):
        f(np.ones(3))
    assert natively(f, np.ones(3)).tolist() == [2.0] * 3
    g = bufferize(fallback="numpy")(program("def g(a, i):\n    return a[:: i[0]] * 2"))
    a = np.arange(4.0)
    for _ in range(3):
        assert by_python(g, a, np.array([2])).tolist() == [0.0, 4.0]
    with pytest.warns(TracebufWarning):
        assert by_python(g, a, np.array([-1])).tolist() == [6.0, 4.0, 2.0, 0.0]


def test_both_ways_have_the_same_limits() -> None:
    assert (MAX_SIZE, SMALL_INT) == (arguments.MAX_SIZE, arguments.SMALL)


def shifted(a: Any, b: Any, k: Any = 2, mode: Any = None) -> Any:
    a += b * k
    if mode == "raise":
        raise KeyError(float(a[0]))
    return a[::2]


def overlaps(n: int) -> tuple[np.ndarray, np.ndarray]:
    z = np.arange(12.0)
    return z[:8], z[n : n + 8]


def test_arguments_that_overlap_and_are_stored_to() -> None:
    """Machine code calls the original function, once Python has found that it runs: for arrays that lie alike, with
    numbers of the same types and equal constants. The calls are counted."""
    f = bufferize(shifted)
    x, y = overlaps(3)
    for _ in range(3):
        f(x, y)
    ran = f.specializations()[-1].calls
    for k in range(3):
        x, y = overlaps(3)
        p, q = overlaps(3)
        found, wanted = natively(f, x, y, k), shifted(p, q, k)
        assert found.base is x.base and found.tolist() == wanted.tolist() and x.tolist() == p.tolist()
    assert f.specializations()[-1].calls == ran + 3


@pytest.mark.parametrize("change", ["distance", "size", "stride", "flags", "dtype", "number", "large", "constant"])
@pytest.mark.slow
def test_other_arguments_than_those_that_overlapped(change: str) -> None:
    """Each goes its own way, with eager's answer."""
    f = bufferize(shifted)
    for _ in range(3):
        f(*overlaps(3))
    z, w = np.arange(12.0), np.arange(12.0)
    natively(f, *overlaps(3))

    def args(z: np.ndarray) -> tuple[Any, ...]:
        x, y = z[:8], z[3:11]
        if change == "flags":
            y.flags.writeable = False
        return {
            "distance": (x, z[4:12]), "size": (z[:7], z[3:10]), "stride": (z[:10:2], z[2:12:2]), "flags": (x, y),
            "dtype": (x.view(np.int64), y.view(np.int64)), "number": (x, y, 2.5), "large": (x, y, 2**40),
            "constant": (x, y, 2, "other"),
        }[change]  # fmt: skip

    assert by_python(f, *args(z)).tobytes() == shifted(*args(w)).tobytes()
    for _ in range(3):
        assert f(*args(z)).tobytes() == shifted(*args(w)).tobytes()
    assert z.tobytes() == w.tobytes()


def test_what_the_original_function_raises() -> None:
    f = bufferize(shifted)
    x, y = overlaps(1)

    def calls() -> None:
        for _ in range(8):
            try:
                f(x, y, 1, "raise")
            except KeyError as error:
                assert error.args == (float(x[0]),)

    calls()
    gc.collect()
    before = references(x, y)
    calls()
    gc.collect()
    assert taken(f) >= 8 and references(x, y) == before


def test_many_ways_of_overlapping() -> None:
    """Only so many have entries; the others are Python's, and answers are the same."""
    f = bufferize(shifted)
    z, w = np.arange(400.0), np.arange(400.0)
    for n in range(30):
        for _ in range(3):
            assert f(z[:50], z[n : n + 50]).tolist() == shifted(w[:50], w[n : n + 50]).tolist()
    assert z.tolist() == w.tolist()
    assert len(f._native.entries) <= api.MAX_ORIGINALS + 1 if f._native else True


def test_what_a_call_that_raises_while_it_is_traced_has_changed() -> None:
    """As in eager NumPy, at the first call too: the original function raises."""

    def f(d: dict[str, Any], a: np.ndarray) -> Any:
        d["k"] = 1
        a[0] = 5
        return a + np.zeros(len(a) + 2)

    g = bufferize(f)
    for _ in range(6):
        held, a = dict[str, Any](), np.ones(3)
        with pytest.raises(ValueError, match="broadcast"):
            g(held, a)
        assert held == {"k": 1} and a[0] == 5
