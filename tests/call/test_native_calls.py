"""Calls that machine code takes: the class of bufferized functions, and that both ways into a program agree."""

from __future__ import annotations

import copy
import ctypes
import functools
import gc
import inspect
import pickle
import weakref

import numpy as np
import pytest

from tracebuf import bufferize
from tracebuf.api import BufferizedFunction
from tracebuf.backend.runtime.callable import NATIVE, NativeCallable, by_vectorcall, point_at


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
