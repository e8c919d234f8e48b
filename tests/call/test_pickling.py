"""Bufferized functions in other processes: pickled as their functions are, by reference or by value."""

from __future__ import annotations

import copy
import multiprocessing
import pickle
import subprocess
import sys
import types
from pathlib import Path

import numpy as np
import pytest

from tracebuf import BufferizedFunction, UnsupportedError, bufferize
from tracebuf.frontends.numpy.call.pickling import from_anchor

X = np.arange(3.0)


def plain(a):
    return a * 2


named_otherwise = bufferize(donate_optional="a", strategy="copy-before-write")(plain)


@bufferize(strategy=lambda *_: None)
def chosen(a):
    return a


@bufferize(static_argnames="k")
def by_name(a, k=2):
    return a * k


class Holder:
    def __init__(self) -> None:
        self.k = 4.0

    @bufferize
    def method(self, a):
        return a * self.k

    @staticmethod
    @bufferize
    def static(a):
        return a + 1


class Made:
    k = 2.0

    def __init__(self, k: float) -> None:
        self.k = k

    @classmethod
    @bufferize
    def scaled(cls, a):
        return a * cls.k

    class Inner:
        k = 5.0

        @classmethod
        @bufferize(donate_optional="a")
        def scaled(cls, a):
            return a * cls.k


class MadeOtherwise(Made):
    k = 3.0

    @classmethod
    @bufferize
    def scaled(cls, a):
        return a * cls.k + 1


class MadeLater(Made):
    k = 4.0


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_methods_of_classes(protocol: int) -> None:
    """By reference, as Python's own: of the class, of one that inherits it, of one that has another, and of the base
    of that; of an object."""
    for f in (Made.scaled, Made.Inner.scaled, MadeLater.scaled, MadeOtherwise.scaled, Made(7.0).scaled):
        text = pickle.dumps(f, protocol)
        assert pickle.loads(text) == f and len(text) < 350
        np.testing.assert_array_equal(pickle.loads(text)(X), f(X))
        assert copy.deepcopy(f) == f
    of_base = super(MadeOtherwise, MadeOtherwise).scaled
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(of_base, protocol))(X), X * 3)


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_by_reference(protocol: int) -> None:
    """A name that leads to the object is all that is pickled: neither options nor programs."""
    for f in (by_name, chosen, Holder.method, Holder.static):
        text = pickle.dumps(f, protocol)
        assert pickle.loads(text) is f and len(text) < 250
        assert copy.copy(f) is f and copy.deepcopy(f) is f
    method = pickle.loads(pickle.dumps(Holder().method, max(protocol, 2)))
    np.testing.assert_array_equal(method(X), X * 4)
    np.testing.assert_array_equal(copy.deepcopy(Holder().method)(X), X * 4)


def test_a_function_that_is_named_otherwise() -> None:
    f = pickle.loads(pickle.dumps(named_otherwise))
    assert f.__wrapped__ is plain and f.options == named_otherwise.options
    np.testing.assert_array_equal(f(X), X * 2)


def test_what_functions_do_not() -> None:
    """A closure has no name that leads to it: pickle refuses it as it refuses the function."""
    with pytest.raises((AttributeError, pickle.PicklingError)):
        pickle.dumps(bufferize(lambda a: a))


@pytest.mark.parametrize("k", [2, 5])
def test_by_value(k: int) -> None:
    """cloudpickle takes closures, and what `__main__` holds, with their options and what they capture."""
    cloudpickle = pytest.importorskip("cloudpickle")
    table = np.arange(3.0) + k

    @bufferize
    def inner(a):
        return a + table

    @bufferize(donate_optional="a", static_argnames="n")
    def outer(a, n=1):
        return inner(a) * k * n

    text = cloudpickle.dumps(outer)
    f = cloudpickle.loads(text)
    assert type(f) is BufferizedFunction and f is not outer and f.options == outer.options
    np.testing.assert_array_equal(f(X, n=2), outer(X, n=2))
    assert f.__wrapped__.__qualname__ == outer.__wrapped__.__qualname__


SCRIPT = '''
import functools, sys
import numpy as np
from tracebuf import bufferize

TABLE = np.arange(3.0)

def shown(f):
    @functools.wraps(f)
    def wrapper(*args, **kwds):
        return f(*args, **kwds)
    return wrapper

@bufferize
def helper(a):
    return a + TABLE

@bufferize(strategy="copy-before-write")
@shown
def step(a, k=2):
    return helper(a) * k

def plain(a):
    return a * 3

other = bufferize(plain)

class Model:
    def __init__(self):
        self.scale = 2.0

    @bufferize
    def apply(self, a):
        return a * self.scale

    @classmethod
    @bufferize
    def of_class(cls, a):
        return a * len(cls.__name__)

def jobs():
    x = np.ones(3)
    model = Model()
    return [(step, x), (other, x), (model.apply, x), (Model.of_class, x), (functools.partial(step, k=5), x)]

def check(found):
    for (f, x), got in zip(jobs(), found, strict=True):
        np.testing.assert_array_equal(got, f(x))
    print("all right")

if __name__ == "__main__":
'''
LOKY = """
    import joblib
    check(joblib.Parallel(n_jobs=2)(joblib.delayed(f)(x) for f, x in jobs()))
"""
DASK = """
    import dask.distributed
    with dask.distributed.Client(n_workers=1, threads_per_worker=1, processes=True, dashboard_address=None) as client:
        check([client.submit(f, x, pure=False).result(timeout=60) for f, x in jobs()])
"""
SPAWN = """
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        check([pool.submit(f, x).result(60) for f, x in jobs()])
"""


@pytest.mark.slow
@pytest.mark.parametrize("needs, text", [("", SPAWN), ("joblib", LOKY), ("distributed", DASK)])
def test_functions_of_a_script(needs: str, text: str, tmp_path: Path) -> None:
    """In processes of their own: `multiprocessing` (pickle), joblib's loky and dask.distributed (cloudpickle)."""
    if needs:
        pytest.importorskip(needs)
    file = tmp_path / "script.py"
    file.write_text(SCRIPT + text)
    done = subprocess.run([sys.executable, file], capture_output=True, text=True, timeout=300, cwd=tmp_path)
    assert done.stdout == "all right\n", done.stderr


@pytest.mark.slow
def test_functions_of_a_module() -> None:
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        for f in (by_name, named_otherwise, Holder.static, Holder().method, Made.scaled, MadeLater.scaled):
            np.testing.assert_array_equal(pool.apply_async(f, (X,)).get(60), f(X))




def test_a_refusal_is_pickled_without_what_tracing_had_assumed() -> None:
    """Its size symbols could not be read back: the pool of processes in which it was raised broke."""

    def refused(a):
        b = a + 1 if len(a) > 2 else a
        return np.asarray(b, order="F").tolist(), id(b)

    with pytest.raises(UnsupportedError) as met:
        bufferize(refused)(np.ones(3))
    assert met.value._under is not None
    again = pickle.loads(pickle.dumps(met.value))
    assert type(again) is UnsupportedError and str(again) == str(met.value)
    assert (again.reason, again.instead, again.location) == (met.value.reason, met.value.instead, met.value.location)
    assert again._under is None


def test_functions_by_value_keep_their_file() -> None:
    """cloudpickle 3.1.3 gives every function that it takes by value one file name: nothing could be read there."""

    def double(a):
        return a * 2

    anchor = bufferize(double)._anchor
    file, lost = double.__code__.co_filename, types.FunctionType(double.__code__.replace(co_filename="<lost>"), {})
    lost.__dict__.update(anchor.__dict__)
    made, _ = from_anchor(lost)
    assert made.__code__.co_filename == file
