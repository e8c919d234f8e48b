"""Whole programs in the cache on disk: loaded where nothing that tracing looked at has changed, and only there."""

from __future__ import annotations

import functools
import itertools
import linecache
import math
import os
import sys
import threading
import types
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from numpy._core.overrides import array_function_dispatch

import tracebuf
from tests.support.agreement import agree
from tests.support.params import one_in, slow_but
from tracebuf import BufferizedFunction, backend, cache, frontends
from tracebuf.backend.runtime import tiers
from tracebuf.backend.runtime.memory_hook import counting
from tracebuf.frontends.numpy.call import provenance
from tracebuf.persist import programs

pytestmark = pytest.mark.fast_tier

_modules = itertools.count()


@pytest.fixture(autouse=True)
def in_a_cache_of_its_own(tmp_path: Path) -> Iterator[None]:
    before = cache.info()
    cache.use(tmp_path / "cache", programs=True)
    yield
    cache.use(before.directory, limit=before.limit)


HEAD = """
import enum
import functools
from dataclasses import dataclass
from typing import NamedTuple
import numpy as np
from tracebuf import bufferize
X = np.arange(6.0)
"""


def module_of(text: str, k: int = 1) -> types.ModuleType:
    """A module of this text, made anew, under one name and in one file, as in another process; `K` in it is `k`."""
    made = types.ModuleType("kept_example")
    made.__file__ = file = "<kept example>"
    made.K = k  # type: ignore[attr-defined]
    full = HEAD + text
    linecache.cache[file] = (len(full), None, full.splitlines(True), file)
    sys.modules["kept_example"] = made
    exec(compile(full, file, "exec"), made.__dict__)
    return made


def run(text: str, k: int = 1) -> bool:
    """Whether `f` of the module was loaded, for the call `args`; its answer is eager's."""
    module = module_of(text, k)
    f: BufferizedFunction = module.f
    args = module.args() if hasattr(module, "args") else (module.X.copy(),)
    agree(f, *args)
    (spec,) = f.specializations()
    assert isinstance(spec, tracebuf.api.Specialization)
    return spec.loaded


def test_an_image_of_the_files_is_the_same_library(monkeypatch: pytest.MonkeyPatch) -> None:
    """Layers of container images keep whole seconds of the times of files, and copies have other places."""

    def state(seconds: float, size: int = 10) -> str:
        status = os.stat_result((0o644, 0, 0, 1, 0, 0, size, 0, int(seconds), 0, 0.0, seconds, 0.0))
        monkeypatch.setattr(programs, "own_files", lambda: iter([("tracebuf/api.py", "", status)]))
        return programs.environment.__wrapped__()[-1]

    assert state(1e9 + 0.25) == state(1e9) != state(1e9 + 1)
    assert state(1e9) != state(1e9, 11)


PLAIN = """
@bufferize
def f(x):
    return x * 2 + 1
"""
HELPED = """
def inner(x, k=2):
    return x * k

def helper(x):
    return inner(x) + 1

@bufferize
def f(x):
    return helper(x) - 1
"""
CLOSED = """
def make(k):
    def f(x):
        return x * k
    return f

f = bufferize(make(2))
"""
CLASSES = """
class Base:
    scale = 2
    def value(self, x):
        return x + 1

class Model(Base):
    def __init__(self, w):
        self.w = w
    @property
    def twice(self):
        return self.w * 2
    def apply(self, x):
        return self.value(x) * self.scale + self.twice

@bufferize
def f(m, x):
    return m.apply(x)

def args():
    return Model(np.ones(6)), X.copy()
"""
RECORDS = """
@dataclass
class Point:
    x: np.ndarray
    k: int = 3

class Pair(NamedTuple):
    a: np.ndarray
    b: np.ndarray

class Mode(enum.Enum):
    ADD = 1
    SUB = 2

@bufferize
def f(p, q, mode):
    if mode is Mode.ADD:
        return p.x + q.a, Point(q.b, p.k)
    return p.x - q.b, Point(q.a, p.k)

def args():
    return Point(X.copy()), Pair(X + 1, X + 2), Mode.ADD
"""
GLOBALS = """
N = 3
Z = 0.0
NAME = "mean"
SHAPE = (2, 3)
TABLE = np.arange(6.0)
LIST = [np.arange(6.0)]
PICK = functools.partial(np.add, 1.0)

@bufferize
def f(x):
    y = x + TABLE + LIST[0] if NAME == "mean" else x - TABLE
    return PICK(y.reshape(SHAPE)) + N, np.copysign(1.0, Z)
"""
ARGUMENTS = """
@bufferize(static_argnames=("mode",))
def f(a, b, d, mode):
    a += d["k"]
    return a[: len(b)] + b + (1 if mode == "one" else 2)

def args():
    return X.copy(), X[:4].copy(), {"k": 2.0}, "one"
"""
SAME = """
ONE = (2, 3)
TWO = tuple([2, 3])

def differs():
    return False

class Kind(enum.Enum):
    A = 1
    __hash__ = enum.Enum.__hash__
    def __eq__(self, other):
        return differs()

@bufferize
def f(x):
    x = x * 2 if ONE is TWO else x + 1
    return x - 1 if Kind.A == 5 else x
"""
OPTIONAL = """
class Settings:
    pass

@bufferize
def f(x):
    scale = getattr(Settings, "scale", 2)
    try:
        return x * scale + OFFSET
    except NameError:
        return x * scale
"""
SIZES = """
@bufferize
def f(a, b):
    if len(b) < len(a):
        return a[: len(b)] - b
    return a + b

def args():
    return X.copy(), X[:4].copy()
"""
ERRORS = """
@bufferize
def f(x):
    if x[0] > 10:
        raise ValueError("large", 3)
    return x[1:] + x[:-1]
"""
CHANGES = {
    "the code": (PLAIN, "* 2", "* 3"),
    "an operation": (PLAIN, "x * 2", "x / 2"),
    "a line above": (PLAIN, "@bufferize", "\n@bufferize"),
    "a comment in the file": (PLAIN, "return", "# more\n    return"),
    "an option": (PLAIN, "@bufferize", "@bufferize(fallback='numpy')"),
    "the strategy": (PLAIN, "@bufferize", "@bufferize(strategy='copy-before-write')"),
    "the parameter's name": (PLAIN, "x", "y"),
    "a function that is called": (HELPED, "+ 1", "+ 2"),
    "one that this calls": (HELPED, "x * k", "x * k * k"),
    "a default": (HELPED, "k=2", "k=5"),
    "a default that is a name's": (HELPED, "x, k=2", "x, *, k=3"),
    "what a closure holds": (CLOSED, "make(2)", "make(3)"),
    "the type of that": (CLOSED, "make(2)", "make(2.0)"),
    "an array in it": (CLOSED, "make(2)", "make(np.ones(6))"),
    "a method": (CLASSES, "x + 1", "x + 2"),
    "a method's name": (CLASSES, "value", "worth"),
    "an attribute of a class": (CLASSES, "scale = 2", "scale = 3"),
    "a property": (CLASSES, "self.w * 2", "self.w * 4"),
    "a base class": (CLASSES, "class Model(Base)", "class Other(Base):\n    scale = 7\n\nclass Model(Other)"),
    "the class of an attribute": (CLASSES, "np.ones(6)", "np.ones(6, int)"),
    "a field's default": (RECORDS, "k: int = 3", "k: int = 4"),
    "a field": (RECORDS, "k: int = 3", "k: int = 3\n    more: float = 0.5"),
    "a named tuple's fields": (RECORDS, "    a: np.ndarray\n    b: np", "    b: np.ndarray\n    a: np"),
    "a member": (RECORDS, "X + 2), Mode.ADD", "X + 2), Mode.SUB"),
    "a global int": (GLOBALS, "N = 3", "N = 4"),
    "its type": (GLOBALS, "N = 3", "N = 3.0"),
    "NumPy's type": (GLOBALS, "N = 3", "N = np.int32(3)"),
    "a bool for an int": (GLOBALS, "N = 3", "N = True"),
    "a zero's sign": (GLOBALS, "Z = 0.0", "Z = -0.0"),
    "a text": (GLOBALS, '"mean"', '"sum"'),
    "a tuple": (GLOBALS, "(2, 3)", "(3, 2)"),
    "the dtype of a captured array": (GLOBALS, "TABLE = np.arange(6.0)", "TABLE = np.arange(6)"),
    "its layout": (GLOBALS, "TABLE = np.arange(6.0)", "TABLE = np.arange(12.0)[::2]"),
    "its rank": (GLOBALS, "TABLE = np.arange(6.0)", "TABLE = np.float64(3.0)"),
    "whether it may be written": (GLOBALS, "LIST = ", "TABLE.flags.writeable = False\nLIST = "),
    "a captured list": (GLOBALS, "[np.arange(6.0)]", "[np.arange(6.0), 1]"),
    "a partial": (GLOBALS, "np.add, 1.0", "np.add, 2.0"),
    "the function in it": (GLOBALS, "np.add, 1.0", "np.subtract, 1.0"),
    "NumPy itself": (PLAIN, "@bufferize", "np = np.linalg\n@bufferize"),
    "a dtype": (ARGUMENTS, "return X.copy()", "return X.astype('f4')"),
    "a number's type": (ARGUMENTS, '"k": 2.0', '"k": 2'),
    "a dict's key": (ARGUMENTS, '["k"]', '["key"]'),
    "a static argument": (ARGUMENTS, ', "one"\n', ', "two"\n'),
    "a size that is 1": (ARGUMENTS, "X[:4].copy()", "X[:1].copy()"),
    "one array twice": (ARGUMENTS, "return X.copy(), X[:4].copy()", "y = X[:4].copy()\n    return y, y"),
    "a guard": (SIZES, "X[:4].copy()", "X.copy()"),
    "an attribute that was missing": (OPTIONAL, "    pass", "    scale = 3"),
    "a name that was missing": (OPTIONAL, "@bufferize", "OFFSET = 3\n\n@bufferize"),
    "which names are one object": (SAME, "tuple([2, 3])", "ONE"),
    "what Python calls to compare": (SAME, "return False", "return True"),
    "a message": (ERRORS, '"large"', '"huge"'),
}


@pytest.mark.parametrize("what", one_in(3, CHANGES))
def test_what_was_changed_is_traced_anew(what: str) -> None:
    text, old, new = CHANGES[what]
    assert old in text
    changed = text.replace(old, new)
    if what == "a dict's key":
        changed = changed.replace('{"k"', '{"key"')
    if what == "NumPy itself":  # the name is looked up, and bound to something else
        text, changed = text.replace("x * 2", "np.negative(x)"), changed.replace("x * 2", "np.norm(x)")
    assert not run(text), "the cache is empty"
    assert run(text), "nothing has changed"
    assert not run(changed)
    assert run(changed) and run(text), "both are kept"


LAYERS = """
class Layer:
    def __init__(self, k):
        self.w = X + k

class Net:
    def __init__(self, n):
        self.layers = [Layer(k) for k in range(n)]

@bufferize
def f(net, x):
    for layer in net.layers:
        x = x * layer.w
    return x

def args():
    return Net(K), X.copy()
"""


def test_programs_of_one_entry_that_capture_more_and_less() -> None:
    """The last one kept was asked first: what it captures stayed part of the key, and the program that serves the call
    was not found. No program captures what another one needs."""
    assert [run(LAYERS, k) for k in (2, 3, 2, 3)] == [False, False, True, True]
    module = module_of(LAYERS, 1)
    agree(module.f, *module.args())
    assert [h.label for h in module.f._hidden] == ["net.layers", "net.layers[0].w"]


def test_all_files_that_programs_are_made_by_are_looked_at() -> None:
    names = [Path(name).name for name, _, _ in programs.own_files()]
    folders = [Path(tracebuf.__file__).parent, *(Path(p) for m in (backend, frontends) for p in m.__path__)]
    for folder in folders:
        there = [p.name for p in folder.rglob("*.py") if "testing" not in p.parts]
        assert len(there) > 20 and not Counter(there) - Counter(names)


SETTINGS = {
    "a property of a member": """
class Mode(enum.Enum):
    A = 1.5
    @property
    def scale(self):
        return self.value * K

@bufferize
def f(x):
    return x * Mode.A.scale
""",
    "the text of a member": """
class Mode(enum.Enum):
    A = 1.5
    def __str__(self):
        return "ab" * K

@bufferize
def f(m, x):
    return x + 1 if f"{m}" == "ab" else x + 2

def args():
    return Mode.A, X.copy()
""",
    "how members compare": """
class Mode(enum.IntEnum):
    A = 1
    def __eq__(self, other):
        return same(K)
    __hash__ = int.__hash__

def same(k):
    return k == 2

M = Mode.A

@bufferize
def f(x):
    return x + (M == 1)
""",
    "what is registered with an abstract class": """
import abc
class Shape(abc.ABC):
    pass

class Model:
    def __init__(self):
        self.w = np.ones(6)

if K == 2:
    Shape.register(Model)

@bufferize
def f(m, x):
    return x + m.w if isinstance(m, Shape) else x - m.w

def args():
    return Model(), X.copy()
""",
    "what an abstract class says": """
import abc
class Shape(abc.ABC):
    @classmethod
    def __subclasshook__(cls, other):
        return K == 2

class Model:
    def __init__(self):
        self.w = np.ones(6)

@bufferize
def f(m, x):
    return x + m.w if isinstance(m, Shape) else x - m.w

def args():
    return Model(), X.copy()
""",
    "what classes are": """
import abc
class Shape(abc.ABC):
    pass

class Plain:
    pass

if K == 2:
    Shape.register(type)

@bufferize
def f(x):
    return x + 1 if isinstance(Plain, Shape) else x - 1
""",
    "whether two functions are one": """
def g(x):
    return x

H = g if K == 1 else types.FunctionType(g.__code__, g.__globals__, "g")

@bufferize
def f(x):
    return x + 1 if g is H else x - 1
""",
    "which function is an argument": """
def g(x):
    return x

H = types.FunctionType(g.__code__, g.__globals__, "g")

@bufferize
def f(q, x):
    return x + 1 if q is H else x - 1

def args():
    return (g if K == 1 else H), X.copy()
""",
    "which of two alike classes an object has": """
def make():
    class Model:
        def __init__(self):
            self.w = np.ones(6)
    return Model

A, B = make(), make()

@bufferize
def f(m, x):
    return x + m.w if isinstance(m, A) else x - m.w

def args():
    return (A if K == 1 else B)(), X.copy()
""",
    "where a function looks names up": """
W = 3.0
def g(x):
    return x * W

H = g if K == 1 else types.FunctionType(g.__code__, {**globals(), "W": 7.0}, "g")

@bufferize
def f(x):
    return H(x) + W
""",
    "where an argument does": """
W = 3.0
def g(x):
    return x * W

H = g if K == 1 else types.FunctionType(g.__code__, {**globals(), "W": 7.0}, "g")

@bufferize
def f(q, x):
    return q(x) + W

def args():
    return H, X.copy()
""",
    "which cell a closure has": """
def make(k):
    def a(x):
        return x * k
    def b(x):
        return x + k
    return a, b

(A, B), (C, D) = make(2.0), make(5.0)
E = B if K == 1 else D

@bufferize
def f(x):
    return A(x) + E(x)
""",
    "a number put into NumPy": """
np._of_the_users = 2.5 * K

@bufferize
def f(x):
    return x * np._of_the_users
""",
    "a function put into NumPy": """
np._of_the_users = np.add if K == 1 else np.subtract

@bufferize
def f(x):
    return np._of_the_users(x, 2)
""",
    "a number put into math": """
import math
math._of_the_users = 2.5 * K

@bufferize
def f(x):
    return x * math._of_the_users
""",
    "a named tuple's default": """
class Pair(NamedTuple):
    a: float = 1.5

Pair.__new__.__defaults__ = (2.5 * K,)

@bufferize
def f(x):
    return Pair().a + x
""",
    "a function's code": """
def g(x):
    return x + 1

def h(x):
    return x + 2

g.__code__ = g.__code__ if K == 1 else h.__code__

@bufferize
def f(x):
    return g(x)
""",
    "a name of Python's": """
if K == 2:
    max = min

@bufferize
def f(x):
    return x + max(1, 2)
""",
    "which class has the name": """
class A:
    def __init__(self, w):
        self.w = w

Q = A
if K == 2:
    class A:
        pass
    A.__init__ = Q.__init__
    A.__module__ = Q.__module__

@bufferize
def f(x):
    return Q(x + 1)
""",
    "the sign of a NaN": """
N = float("nan") if K == 1 else -float("nan")

@bufferize
def f(x):
    return x, np.signbit(N)
""",
    "a slice of NumPy's ints": """
N = slice(1 if K == 1 else np.int64(1), None)

@bufferize
def f(x):
    return x[N], N.start
""",
    "how NumPy's numbers are shown": """
N = np.float64(1.5)
np.set_printoptions(legacy=False if K == 1 else "1.25")

@bufferize
def f(x):
    return x + len(repr(N))
""",
    "which arrays are one": """
A = np.ones(6)
B = A if K == 1 else A[:]

@bufferize
def f(x):
    return x + 1 if A is B else x
""",
    "which function is called by a host call": """
def g(x):
    return x + 1

def h(x):
    return x + 2

CALLED = g if K == 1 else h

@bufferize
def f(x):
    return tracebuf.host_call(CALLED, x, result_shape=x.shape)
""",
    "the code of a function that a host call calls": """
def g(x):
    return x + 1

def h(x):
    return x + 2

g.__code__ = g.__code__ if K == 1 else h.__code__

@bufferize
def f(x):
    return tracebuf.host_call(g, x, result_shape=x.shape)
""",
    "the default of one without a name": """
g = lambda x, k=1.5 * K: x + k

@bufferize
def f(x):
    return tracebuf.host_call(g, x, result_shape=x.shape)
""",
    "the function in a partial that it calls": """
PART = functools.partial(np.add if K == 1 else np.subtract, 1.5)

@bufferize
def f(x):
    return tracebuf.host_call(PART, x, result_shape=x.shape)
""",
    "a function put into NumPy that it calls": """
np._of_the_users = np.add if K == 1 else np.subtract

@bufferize
def f(x):
    return tracebuf.host_call(np._of_the_users, x, 1.5, result_shape=x.shape)
""",
    "a known argument of it": """
WHERE = "a" * K

def g(x, where):
    return x + len(where)

@bufferize
def f(x):
    return tracebuf.host_call(g, x, WHERE, result_shape=x.shape)
""",
    "a known argument of NumPy's function": """
@bufferize
def f(x):
    return np.percentile(x, 25.0 * K)
""",
    "an int of 5000 digits": """
N = 10**5000 + K

@bufferize
def f(x):
    return x + N % 7
""",
    "what a function without text names": """
names = {"W": 3.0 * K}
exec("def g(x): return x * W", names)
G = names["g"]

@bufferize
def f(x):
    return G(x)
""",
}
"""Modules of one text that hold other things, where K is another."""


@pytest.mark.parametrize("what", one_in(3, SETTINGS))
def test_what_the_text_does_not_say_is_traced_anew(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(np, "_of_the_users", 0, raising=False)
    monkeypatch.setattr(math, "_of_the_users", 0, raising=False)
    with np.printoptions():
        check_that_it_is_traced_anew(what)


def check_that_it_is_traced_anew(what: str) -> None:
    text = "import types, tracebuf\n" + SETTINGS[what]
    assert not run(text), "the cache is empty"
    assert run(text), "nothing has changed"
    assert not run(text, k=2)
    assert run(text, k=2) or what in NOT_KEPT
    assert run(text), "both are kept"


NOT_KEPT = {"where an argument does", "which class has the name", "which of two alike classes an object has"}
"""What cannot be described where K is 2."""
UNKNOWN = {
    "a module, in what Python calls": """
import kept_example
class Mode(enum.Enum):
    A = 1.5
    @property
    def scale(self):
        return self.value * kept_example.K

@bufferize
def f(x):
    return x * Mode.A.scale
""",
    "a callable object": """
import tracebuf
class Called:
    def __call__(self, x):
        return x * K

CALLED = Called()

@bufferize
def f(x):
    return tracebuf.host_call(CALLED, x, result_shape=x.shape)
""",
    "an object whose attributes are made": """
class Maker:
    def __getattr__(self, name):
        raise KeyError(name)
    def __hash__(self):
        return 3

@bufferize(static_argnames=("m",))
def f(m, x):
    return x + 1

M = Maker()

def args():
    return M, X.copy()
""",
    "an abstract class that fails": """
import abc
class Shape(abc.ABC):
    @classmethod
    def __subclasshook__(cls, other):
        if other is range:
            raise KeyError
        return NotImplemented

class Model:
    def __init__(self):
        self.w = np.ones(6)

@bufferize
def f(m, x):
    return x + m.w if isinstance(m, Shape) else x - m.w

def args():
    return Model(), X.copy()
""",
}


HOSTED = {
    "a pseudo-inverse": "np.linalg.pinv(a), np.linalg.pinv(a, 0.25)",
    "a tuple of a class": "np.linalg.eig(a[:3, :3] + 0j)[0].shape, np.linalg.qr(a).R, np.linalg.slogdet(a[:3, :3])",
    "sizes that the function finds": "np.unique(x, return_counts=True), np.unique_counts(x), np.union1d(x, x[:2])",
    "residuals": "np.linalg.lstsq(a, a[:, 0])",
    "arguments by name": "np.percentile(x, [10.0, x[1]], method='lower'), np.quantile(x, 0.5, weights=x)",
    "several arrays in a list": "np.lexsort((x, x[::-1])), np.linalg.multi_dot([a, a.T, a])",
    "transforms": "np.fft.fft(x), np.fft.rfft2(a), np.fft.irfft(x + 0j, 5), np.fft.ifftn(a), np.fft.fft(x, 4)",
    "sorting": "np.sort(a, axis=0), np.argsort(x), np.partition(x, 2), np.median(a, 0), np.argmax(a * 1j, 0)",
    "loops": "np.linalg.solve(a[:3, :3] + np.eye(3) * 20, x[:3]), np.linalg.cholesky(a.T @ a + np.eye(3))",
    "counts": "np.histogram(x, 4), np.histogram(x, bins=3, range=(0.0, 9.0))",
    "an array that is written": "np.median(a, axis=0, out=x[:3]), x.sort(), x",
    "an error": "np.linalg.eigvals(a[:3, :3] + np.inf * 1j)",
    "an error of numbers": "np.linalg.inv(a[:3, :3] * 0)",
    "a user's": "tracebuf.host_call(user, x, a, 2, result_shape=x.shape)",
    "a user's that writes": "tracebuf.host_call(fill, x, ('a', None, 1.5, (2, 3)), writes=0), x",
    "a user's without a name": "tracebuf.host_call(NAMELESS, x, result_shape=x.shape)",
    "a user's that raises": "tracebuf.host_call(refuse, x), x",
    "a user's in a closure": "tracebuf.host_call(CLOSED, x, result_shape=[(2,), ()], result_dtype=[int, np.float32])",
    "a partial of one": "tracebuf.host_call(PART, x, result_shape=x.shape)",
    "a partial of one without a name": "tracebuf.host_call(NAMELESS_PART, x, result_shape=x.shape)",
    "a method of a class": "tracebuf.host_call(Holder.method, x, result_shape=x.shape)",
    "a builtin": "tracebuf.host_call(max, x[0], x[1], result_shape=())",
    "NumPy's": "tracebuf.host_call(np.linalg.matrix_rank, a, result_shape=(), result_dtype=int)",
    "a method of NumPy's module": "tracebuf.host_call(np.random.normal, x[0], 0.0, result_shape=())",
}
USERS = """
import tracebuf

def user(x, a, k):
    return x * k + a.sum()

def fill(x, what):
    x[...] = len(what) * K

def refuse(x):
    raise KeyError("of the user's", K)

def make(k):
    def inner(x):
        return np.arange(2) * k, np.float32(x[0] + K)
    return inner

CLOSED = make(K)
NAMELESS = lambda x: x + K
PART = functools.partial(user, a=X * K, k=3)
NAMELESS_PART = functools.partial(lambda k, x: x + k, 2.0)

class Holder:
    @staticmethod
    def method(x):
        return x - 1

@bufferize
def f(x, a):
    return EXPRESSION

def args():
    return X[[3, 1, 0, 5, 2, 4]], np.arange(12.0).reshape(4, 3) % 7
"""


@pytest.mark.parametrize("what", HOSTED)
def test_programs_that_call_functions_of_pythons_are_kept(what: str) -> None:
    text = USERS.replace("EXPRESSION", HOSTED[what])
    assert not run(text), "the cache is empty"
    assert run(text)


def test_what_a_function_gives_is_taken_over_by_a_loaded_program_too() -> None:
    """With the same allocations, and freed as eager NumPy's."""
    text = USERS.replace("EXPRESSION", "np.linalg.qr(a)[0] @ np.linalg.qr(a)[1]")
    seen, a = [], np.random.default_rng(0).random((30, 20))
    for loaded in (False, True):
        f = module_of(text).f
        for _ in range(2):
            with counting() as counted:
                result, counters = f.call_counted(a[0], a)
                right = np.array_equal(result, np.linalg.qr(a)[0] @ np.linalg.qr(a)[1])
                del result
        (spec,) = f.specializations()
        assert right and spec.loaded == loaded and counted.allocations == counted.frees
        seen.append(counters)
    assert seen[0] == seen[1] and seen[0].given > 0


@pytest.mark.parametrize("what", ["a user's that writes", "a user's without a name", "a user's in a closure"])
def test_what_a_called_function_looks_up_is_its_own_affair(what: str) -> None:
    """It does so at each call: another value of a name of its own gives another answer, of the same program."""
    text = USERS.replace("EXPRESSION", HOSTED[what])
    assert not run(text) and run(text)
    assert run(text, k=2)


def test_a_function_of_numpys_that_was_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    text = USERS.replace("EXPRESSION", "np.median(x), np.linalg.pinv(a)")

    def other(a: np.ndarray) -> np.ndarray:
        return a + 1

    assert not run(text) and run(text)
    for module, name in ((np, "median"), (np.linalg, "pinv")):
        with monkeypatch.context() as patch:
            patch.setattr(module, name, functools.wraps(getattr(module, name))(other))
            assert not run(text)
    assert run(text)
    with monkeypatch.context() as patch:
        patch.setattr(np, "__version__", "9.0")
        assert not run(text)
    assert run(text)


def test_programs_with_ufuncs_of_scipys_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Unless another stands at its name now, or SciPy is another."""
    special = pytest.importorskip("scipy.special")
    text = """
import scipy.special as sp
from scipy.special import erf

@bufferize
def f(x):
    y = erf(x) * 2
    for i in range(len(x)):
        y[i] += sp.gammaln(x[i] + 1)
    return sp.expit(y, out=y)
"""
    assert not run(text), "the cache is empty"
    assert run(text)
    with monkeypatch.context() as patch:
        patch.setattr(special, "erf", special.erfc)
        assert not run(text)
    with monkeypatch.context() as patch:
        patch.setattr(sys.modules["scipy"], "__version__", "9.0")
        assert not run(text)
    assert run(text)


def test_what_numpy_would_dispatch_is_not_numpys() -> None:
    fake = array_function_dispatch(lambda a: (a,), module="numpy")(lambda a: a + 1)
    assert type(fake) is type(np.median) and provenance.of_library(np.median) is not None
    fake.__qualname__ = "median"
    before, np.median = np.median, fake
    try:
        assert provenance.of_library(fake) is None
    finally:
        np.median = before


@pytest.mark.parametrize("what", UNKNOWN)
def test_what_cannot_be_described_is_not_kept(what: str) -> None:
    assert not run(UNKNOWN[what])
    assert not run(UNKNOWN[what])
    assert not run(UNKNOWN[what], k=2)


@pytest.mark.parametrize("what", ["numpy", "processor", "sources", "settings"])
def test_other_versions_have_other_programs(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not run(PLAIN) and run(PLAIN)
    monkeypatch.setattr(programs, "environment", lambda: ("another", what))
    assert not run(PLAIN)


def test_a_module_of_the_users_with_a_name_of_pythons(monkeypatch: pytest.MonkeyPatch) -> None:
    """`test` and `code` are packages of Python's: what is in a user's file of that name may change."""
    inner = "def helper(x):\n    return x * {k}\n"

    def run_with(k: int) -> bool:
        made = types.ModuleType("code")
        made.__file__ = file = "/home/somebody/code.py"
        text = inner.format(k=k)
        linecache.cache[file] = (len(text), None, text.splitlines(True), file)
        exec(compile(text, file, "exec"), made.__dict__)
        monkeypatch.setitem(sys.modules, "code", made)
        return run("from code import helper\n" + PLAIN.replace("x * 2", "helper(x)"))

    assert not run_with(2) and run_with(2)
    assert not run_with(3) and run_with(3) and run_with(2)


def test_a_keyword_of_another_class_of_texts_is_not_kept() -> None:
    class Name(str):
        __slots__ = ()

    for _ in range(2):
        f = tracebuf.bufferize(lambda x, **rest: x * rest["k"])
        assert f(np.ones(2), **{Name("k"): 2.0}).tolist() == [2.0, 2.0]
        assert str(f.specializations()).startswith("compiled")


def test_a_loaded_program_is_explained_as_one_that_was_compiled() -> None:
    """Its sizes had no values."""
    text = "@bufferize\ndef f(a):\n    a[1:] = np.linalg.inv(a)[1:]\n    return a[np.lexsort((a[0],))]\n"
    x = np.eye(4) + 1
    report = str(module_of(text).f.explain(x))
    f = module_of(text).f
    assert str(f.explain(x)) == report and "128 B" in report
    assert str(f.specializations()).startswith("loaded")


LONG = """
FACTOR = 2.0

def helper(x, k=2.0):
    return x * k

@bufferize(tier="auto")
def f(x):
    for _ in range(3):
        x = np.sqrt(x * x + FACTOR) - x[::-1] + x.mean()
    return helper(x), np.cumsum(x), x.sum()
"""


@pytest.mark.parametrize("changed", slow_but(["FACTOR = 3.0"], ["", "FACTOR = 3.0", "helper.__defaults__ = (3.0,)"]))
@pytest.mark.slow
def test_what_was_looked_at_is_written_down_before_the_fast_code_is_made(
    changed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its objects are known later; what changes meanwhile is not what was traced."""
    monkeypatch.setattr(tiers, "SHORT", 0)
    event, improve = threading.Event(), tiers.MachineCode._improve

    def later(self: tiers.MachineCode) -> None:
        event.wait(60)
        improve(self)

    monkeypatch.setattr(tiers.MachineCode, "_improve", later)
    tracebuf.release()
    module = module_of(LONG)
    agree(module.f, module.X.copy())
    (spec,) = module.f.specializations()
    assert spec.kernel.code.tier == "quick"
    exec(changed, module.__dict__)
    event.set()
    tracebuf.wait()
    assert spec.kernel.code.tier == "fast"
    if changed:
        other = module_of(LONG)
        exec(changed, other.__dict__)
        agree(other.f, other.X.copy())
        tracebuf.wait()
    assert run(LONG)


def test_each_file_of_the_library_counts() -> None:
    names = {name for name, *_ in programs.own_files()}
    assert {
        "tracebuf/passes.py", "persist/programs.py", "scalars/arith.py", "one_shot/rules.py", "tensors/fuse.py",
        "interpreter/records.py", "llvm/emit.py", "runtime/kernel.py",
    } <= names  # fmt: skip
