"""Functions that only move what they get, or ask Python or NumPy: the original function makes their calls."""

from __future__ import annotations

import cmath
import math
from typing import Any

import numpy as np
import pytest

from tests.support.agreement import program
from tracebuf import api, bufferize

A, B = np.arange(4.0), np.ones(3)


class Held:
    def __init__(self) -> None:
        self.x, self.y, self.T = A, 2.5, B

    def __repr__(self) -> str:
        return repr(vars(self))


class Slots:
    __slots__ = ("x",)

    def __init__(self) -> None:
        self.x = A


class Computed(Held):
    @property
    def double(self) -> Any:
        return self.x * 2

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self.x + len(name)


MOVES: dict[str, tuple[Any, ...]] = {
    "def f(d): return d['a']": ({"a": A, "b": B},),
    "def f(d): return d['a'], 'c' in d, len(d)": ({"a": A, "b": 2.5},),
    "def f(d): return len(d)": ({"a": A},),
    "def f(l): return l[-1]": ([1.5, 2.0],),
    "def f(l, x):\n    l.append(x)": ([A], B),
    "def f(l): l[0] = 2.5": ([A, 1.0],),
    "def f(l): return l[::-1]": ([A, 2.0, B],),
    "def f(l): return l[1:]": ([1.5, 2.0],),
    "def f(l): return l[1:-1], l[0]": ([A, 2.0, B],),
    "def f(d): return {**d, 'c': 1}": ({"a": A, "b": 2.5},),
    "def f(p):\n    a, b = p\n    return b": ((A, B),),
    "def f(l, x): return [*l, x]": ([A], B),
    "def f(d): return d.get('a')": ({"a": A, "b": B},),
    "def f(d): return d.get('a'), d.get('c', 2)": ({"a": A, "b": B},),
    "def f(o): return o.x": (Held(),),
    "def f(o): return o.y, o.x": (Held(),),
    "def f(o): return o.x, 2": (Slots(),),
    "def f(o, x):\n    o.y = x\n    return o": (Held(), 3.5),
    "def f(a): return TABLE": (A,),
    "def f(): return TABLE, 1": (),
    "def f(a, b): return b, a": (A, 1.0),
    "def f(a): return np.unique(a)": (A,),
    "def f(a): return np.unique(a, return_counts=True)": (A,),
    "def f(a): return np.linalg.qr(a)": (A[None],),
    "def f(a, b): return np.lexsort((a, b))": (A, -A),
    "def f(a): return a.argpartition(1)": (A,),
    "def f(d): return np.unique(d['a'])": ({"a": A},),
    "def f(a, b): return math.hypot(a, b)": (3.0, 4.0),
    "def f(x): return cmath.exp(1j * x)": (0.5,),
    "def f(x): return round(x, 1)": (0.55,),
}
COMPUTES: dict[str, tuple[Any, ...]] = {
    "def f(a): return a[1:]": (A,),
    "def f(a): return a[::-1]": (A,),
    "def f(d): return d['a'][1:]": ({"a": A},),
    "def f(o): return o.x[1:]": (Held(),),
    "def f(o): return o.y + 1": (Held(),),
    "def f(o, a): return o.x, a.T": (Held(), np.eye(2)),
    "def f(o): return o.T": (Held(),),
    "def f(o): return o.double": (Computed(),),
    "def f(a): return TABLE[1:]": (A,),
    "def f(a): return TABLE + 1": (A,),
    "def f(l, x): return x[::2], l": ([A], B),
    "def f(a): return len(a)": (A,),
    "def f(d): return d['a'] + 1": ({"a": A},),
    "def f(a): return math.hypot(a[0], a[1])": (A,),
    "def f(x): return math.sqrt(x)": (2.0,),
    "def f(d): return d['a'].sum()": ({"a": A},),
    "def f(d): return sum(d['a'])": ({"a": A},),
    "def f(a): return -a, a": (A,),
    "def f(d): return d.get('a'), d.get('b'), d.get('c')": ({"a": A},),
    "def f(a): return np.sort(a)": (A,),
    "def f(a): return np.median(a)": (A,),
    "def f(d): return np.percentile(d['a'], [20, 60])": ({"a": A},),
    "def f(a): return np.unique(a).size": (A,),
    "def f(a): return np.argpartition(a, 1)": (A,),
    "def f(a): return np.unique(a + 1)": (A,),
    "def f(a): return np.linalg.inv(a)": (np.eye(2),),
}


@pytest.fixture(autouse=True)
def forwarding(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(api, "FORWARD", True)
    monkeypatch.setattr(api, "NATIVE_AFTER", 1)
    monkeypatch.setattr(api, "WORTH", 0)


def forwarded(source: str, args: tuple[Any, ...]) -> tuple[Any, int]:
    """The function after some calls, and how many of them were the original's."""
    f = bufferize(program(source, math=math, cmath=cmath, TABLE=A))
    for _ in range(4):
        given = [list(x) if type(x) is list else x for x in args]
        mine, its = f(*given), f.__wrapped__(*[list(x) if type(x) is list else x for x in args])
        assert repr(mine) == repr(its) and type(mine) is type(its)
    assert f._native is not None
    return f, f._native.forwarded


@pytest.mark.parametrize("source", MOVES)
def test_the_original_function_moves(source: str) -> None:
    f, calls = forwarded(source, MOVES[source])
    assert calls == 3
    text = "ran the original function 3 times: it only moves what it gets, or asks Python or NumPy"
    assert text in str(f.specializations())


@pytest.mark.parametrize("source", COMPUTES)
def test_compiled_code_computes(source: str) -> None:
    assert forwarded(source, COMPUTES[source])[1] == 0


def test_other_arguments_keywords_and_out() -> None:
    f, _ = forwarded("def f(a, b): return b, a", (A, 1.0))
    assert f("x", None) == (None, "x")
    assert f(a=1, b=2) == (2, 1) and f(1, b=3) == (3, 1)
    with pytest.raises(TypeError, match="missing 1 required positional argument"):
        f(1)
    into = np.zeros(4)
    assert f(A, B, out=(None, into))[1] is into and into.tolist() == A.tolist()


def test_names_that_are_something_else() -> None:
    """A property may compute; so may what is called `len` here."""

    class Sized:
        def __init__(self) -> None:
            self.values = A

        @property
        def total(self) -> Any:
            return self.values.sum()

        def get(self, name: str) -> Any:
            return self.values + len(name)

    for source in ("def f(o): return o.total", "def f(o): return o.get('a')", "def f(l): return len(l)"):
        f = bufferize(program(source, len=lambda x: np.ones(3).sum()))
        for _ in range(3):
            f(Sized() if "(o)" in source else [A])
        assert f._native is None or f._native.forwarded == 0


def test_what_raises_at_each_call() -> None:
    f = bufferize(program("def f(d): return d['c']"))
    for _ in range(6):
        with pytest.raises(KeyError):
            f({"a": A})
    assert f._native is not None and f._native.forwarded > 1
    assert f({"c": 2}) == 2
