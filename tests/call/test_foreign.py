"""Objects from outside of classes that are not plain Python: what they hold is read while tracing, and looked at again
at each call (rule B5)."""

from __future__ import annotations

import array
import collections
import datetime
import enum
import io
import sys
import threading
import types
from typing import Any

import numpy as np
import pytest

import tracebuf
from tests.support.agreement import agree, program
from tests.support.params import one_in, some
from tracebuf import bufferize


class Color(enum.Enum):
    RED = 1
    BLUE = 2


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


class Odd(enum.Enum):
    ONE = 1

    @classmethod
    def _missing_(cls, value: object) -> Odd:
        return cls.ONE


class Tolerances(threading.local):
    least = 0.25


class Late:
    """Attributes that it finds when they are asked for."""

    def __init__(self, **known: Any) -> None:
        self.known = known

    def __getattr__(self, name: str) -> Any:
        if name in self.known:
            return self.known[name]
        raise AttributeError(name)


class Half:
    def __get__(self, of: object, kind: type | None = None) -> float:
        return 0.5


class WithDescriptor:
    half = Half()


def test_thread_locals_are_read_in_the_thread_that_calls() -> None:
    here = Tolerances()
    here.scale, here.table = 2.0, np.arange(3.0)
    f = bufferize(program("def f(a):\n    return a * here.scale + here.table + here.least", here=here))
    agree(f, np.ones(3))
    here.scale, here.least = 3.0, 1.0
    here.table = np.ones(3)
    agree(f, np.ones(3))
    there: list[Any] = []

    def other() -> None:
        here.scale, here.table = -1.0, np.zeros(3)
        there.append(f(np.ones(3)))

    thread = threading.Thread(target=other)
    thread.start()
    thread.join()
    assert there[0].tolist() == [-0.75] * 3
    del here.scale
    agree(f, np.ones(3))
    g = program("def f(a):\n    return hasattr(here, 'nothing'), getattr(here, 'least', 0.0) * a", here=here)
    agree(g, np.ones(3))


def test_many_calls_look_at_what_was_read() -> None:
    here = threading.local()
    here.scale = 2.0
    f = bufferize(program("def f(a):\n    return a * here.scale", here=here))
    for n in range(1000):
        if n % 250 == 0:
            here.scale = n + 0.5
        assert f(np.ones(2))[0] == here.scale
    assert len(f.specializations()) == 4


def test_what_python_itself_holds() -> None:
    f = program(
        """
        def f(a):
            if sys.version_info >= (3, 8):
                a = a * day.year + sys.float_info.epsilon
            return a, sys.maxsize, sys.version_info.major, sys.byteorder
        """,
        sys=sys, day=datetime.date(2020, 1, 1),
    )  # fmt: skip
    agree(f, np.ones(3))


def test_members_of_an_enum() -> None:
    names = {"Color": Color, "Level": Level}
    f = program(
        """
        def f(a, n):
            kind = Color(n)
            if kind is Color.BLUE:
                a = -a
            weights = {Color.RED: 3.0, Color.BLUE: 4.0}
            found = [c.name for c in Color], [m.value for m in Level], len(Color), Color["RED"] is Color(1)
            return a * weights[kind] * Level(2), found, Color(Color.RED) == Color.RED, Level["LOW"] + n
        """,
        **names,
    )
    for n in (1, 2, 3):
        agree(f, np.ones(3), n)
    agree(program("def f(a):\n    return Color['GREEN']", **names), np.ones(3))
    for code, reason in (("Color(a[0])", "only the run time knows"), ("Odd(7)", "metaclass of its own")):
        refused(program(f"def f(a):\n    return {code} is None", Odd=Odd, **names), reason)


def test_attributes_that_a_class_finds_itself() -> None:
    options = Late(scale=2.0, table=np.arange(3.0))
    f = bufferize(program("def f(a):\n    return a * options.scale + options.table", options=options))
    agree(f, np.ones(3))
    options.known["scale"] = 3.0
    options.known["table"] = np.ones(3)
    agree(f, np.ones(3))
    agree(program("def f(a, x):\n    return a * x.scale"), np.ones(3), Late(scale=0.5))
    agree(program("def f(a, x):\n    return a * x.nothing"), np.ones(3), Late(scale=0.5))
    refused(program("def f(a):\n    return hasattr(options, 'scale')", options=options), "`__getattr__` of its own")
    refused(program("def f(a):\n    return a * x.half", x=WithDescriptor()), "a descriptor of type Half")


@pytest.mark.parametrize(
    "make",
    [
        lambda: collections.deque([1.0]), lambda: array.array("d", [1.0]), lambda: memoryview(bytearray(2)),
        lambda: io.StringIO("a"), lambda: types.MappingProxyType({1: 2.0}), lambda: {1: 2.0}.keys(),
        lambda: iter([1.0]), lambda: (i for i in (1.0,)), lambda: collections.OrderedDict(a=1.0),
    ],
)  # fmt: skip
def test_what_has_items_that_may_change_is_refused(make: Any) -> None:
    for code in ("len(x)", "1.0 if x else 2.0", "list(x)", "tuple(x)", "sum(x)", "[i for i in x]", "x == x", "str(x)"):
        refused(program(f"def f(a):\n    return {code}", x=make()), "is a mutable")


def test_a_method_of_an_object_is_no_value() -> None:
    refused(program("def f(a):\n    lock.acquire()\n    return a", lock=threading.Lock()), "may change between calls")


def refused(f: Any, reason: str) -> None:
    with pytest.raises(tracebuf.UnsupportedError, match=reason):
        bufferize(f)(np.ones(3))


class Metres(int):
    pass


class Share(float):
    pass


class Odder(int):
    def __add__(self, other: int) -> int:
        return 7


@pytest.mark.parametrize("x", one_in(4, [Metres(3), Level.HIGH, Share(2.5), Share(0.1)]))
@pytest.mark.slow
def test_numbers_of_subclasses_are_strong_in_numpy_and_plain_in_python(x: Any) -> None:
    f = program(
        """
        def f(a, n, y):
            b = a.copy()
            b[0] = x
            c = a.astype(np.float64)
            c *= x
            made = [a * x, x + a, a < x, a == x, np.add(a, x), np.maximum(x, a), np.where(a > 1, a, x), a[0] * x, c, b,
                np.full(2, x), a.clip(0, x), n + x, x + n, x * y, y / x, n < x, x == y, np.hypot(x, y), -x, abs(x) * n,
                n % x, x // y, float(x), int(x) + n, x * x]
            return made
        """,
        x=x,
    )
    for dtype in some(2, (np.float32, np.int8, np.uint8, np.int64, np.complex64)):
        a = np.arange(4).astype(dtype)
        if dtype is np.complex64:
            agree(program("def f(a):\n    return a * x, x + a, a == x, np.add(a, x)", x=x), a)
        else:
            agree(f, a, 5, 1.5)


def test_numbers_of_subclasses_that_tell_themselves_from_their_bases() -> None:
    for code, x, reason in (
        ("x + len(a)", Odder(3), "a `__add__` of its own"), ("a * x", Odder(3), "a `__add__` of its own"),
        ("x * a[0]", Share(2.0), "beside a NumPy number"), ("max(x, len(a))", Metres(3), "beside numbers of the trace"),
    ):  # fmt: skip
        refused(program(f"def f(a):\n    return {code}", x=x), reason)
    agree(program("def f(a):\n    return a[x:], a.reshape(1, x), np.zeros((x, 2))", x=Metres(3)), np.ones(3))
    for x in (Metres(1), Level.HIGH, Share(1.0)):  # they have no dtype, as NumPy's numbers have
        agree(program("def f(a):\n    return np.zeros(3, dtype=x)", x=x), np.ones(3))
    f = program("def f(a):\n    return a.sum(axis=y), np.zeros(y), range(y)[0], a[y], np.arange(y)", y=Level.LOW)
    agree(f, np.ones((3, 2)))


@pytest.mark.slow
def test_arguments_that_are_part_of_the_key_by_value() -> None:
    f = bufferize(max_specializations=100, verify=True)(program("""
        def f(a, x):
            kind = type(x)
            if isinstance(x, str):
                return a if x == "low" else -a, x, kind, x + "er", len(x), x.upper(), x in ("low", "high"), x[0]
            if isinstance(x, slice):
                return a[x], a[x].shape, x.start
            if isinstance(x, frozenset):
                return a * len(x), 1 in x, x == frozenset((1, 2))
            if isinstance(x, int):
                return a * x, a[x], x, kind, x + len(a), a.astype(np.float32) * x, x == 2, np.zeros(x)
            return a, x, kind
    """))
    values = [
        Level.LOW, Level.HIGH, Metres(2), Metres(1), np.str_("low"), np.str_("high"), "low", slice(np.int64(1), None),
        slice(1, None), slice(np.int64(2)), frozenset((1, 2)), frozenset((1, True, "a")), frozenset(),
        Color.RED, Share(0.5), Share(-0.0), Share(0.0), Ellipsis,
    ]  # fmt: skip
    for _ in range(2):
        for x in values:
            if not isinstance(x, (Color, Share, type(Ellipsis))):
                agree(f, np.arange(4.0), x)
            assert f(np.ones(3), x)[0].tolist() == f.eager(np.ones(3), x)[0].tolist()
    assert repr(f(np.ones(3), Share(-0.0))[1]) == "-0.0"
    with pytest.raises(tracebuf.UnsupportedError, match="is of type OfItsOwn"):
        f(np.ones(3), OfItsOwn(2))
    with_more = Metres(3)
    with_more.unit = "m"  # type: ignore[attr-defined]
    with pytest.raises(tracebuf.UnsupportedError, match="is of type Metres"):
        f(np.ones(3), with_more)


class OfItsOwn(int):
    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = int.__hash__
