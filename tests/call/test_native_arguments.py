"""Arguments that machine code takes: `*args`, `**kwargs`, `out=`, donations, arrays that share memory or repeat
elements, guards that divide, constants by their values, attributes of classes."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from enum import Enum
from typing import Any

import numpy as np
import pytest

from tests.support.agreement import program
from tests.support.native_calls import by_original, by_python, natively, taken
from tests.support.references import steady
from tracebuf import DonationError, UnsupportedError, api, bufferize
from tracebuf.testing.entries import same


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Programs have their entries after one call."""
    monkeypatch.setattr(api, "NATIVE_AFTER", 1)
    monkeypatch.setattr(api, "WORTH", 0)


def check_steady(call: Callable[[], Any], *watched: Any) -> None:
    """Calls keep and lose no references."""
    for _ in range(3):
        call()
    assert steady(call, watched)


@pytest.mark.slow
def test_arguments_by_star() -> None:
    def total(first: Any, *rest: Any, scale: Any = 1.0) -> Any:
        for x in rest:
            first = first + x
        return first * scale

    f = bufferize(total)
    a, b, c = (np.arange(4.0) + k for k in range(3))
    for args, kwargs in itertools.product(((a,), (a, b), (a, b, c), (a, 2.0), (a, b, 3)), ({}, {"scale": 2.0})):
        f(*args, **kwargs)
        same(natively(f, *args, **kwargs), total(*args, **kwargs), "result")
    check_steady(lambda: f(a, b, c, scale=3.0), a, b, c, total)
    with pytest.raises(TypeError):
        by_python(f)
    with pytest.raises(TypeError):
        by_python(f, a, b, out_=c)
    many = [1.0] * 80
    f(a, *many)
    assert by_python(f, a, *many, scale=1.0).tolist() == total(a, *many).tolist()
    out = np.empty(4)
    assert f(a, b, out=out) is out and natively(f, a, b, out=out) is out and out.tolist() == (a + b).tolist()
    f(a, b, c)
    assert natively(f, a, b, c) is not out and natively(f, a, b, out=c) is c


@pytest.mark.slow
def test_arguments_by_two_stars() -> None:
    def weighed(a: Any, /, b: Any = 1.0, **more: Any) -> Any:
        names = 0.0
        for k, v in more.items():
            a = a + v
            names = names + len(k)
        return a * b, names

    f = bufferize(weighed)
    a, x, y = (np.arange(4.0) + k for k in range(3))
    forms: list[dict[str, Any]] = [
        {}, {"x": x}, {"y": y, "x": x}, {"x": x, "y": y}, {"x": x, "b": 2.0}, {"xx": x}, {"a": x}, {"b": 3.0, "a": x,
        "out": y},
    ]  # fmt: skip
    for _ in range(2):
        for kwargs in forms:
            f(a, **kwargs)
    for kwargs in forms:
        same(natively(f, a, **kwargs), weighed(a, **kwargs), "result")
    own = "".join(["b"])  # a name that is another object is the parameter's all the same
    same(f(a, **{own: 5.0}), weighed(a, b=5.0), "result")
    same(f(a, **{"x": x, "".join(["", "b"]): 5.0}), weighed(a, x=x, b=5.0), "result")
    check_steady(lambda: f(a, x=x, y=y), a, x, y, "x", "y")
    with pytest.raises(TypeError, match="multiple values"):
        by_python(f, a, 2.0, b=3.0)
    with pytest.raises(TypeError):
        by_python(f, x=a)


@pytest.mark.slow
def test_buffers() -> None:
    f = bufferize(lambda a, b: a * 2 + b)
    a, b, out = np.arange(4.0), np.ones(4), np.zeros(4)
    for _ in range(2):
        f(a, b, out=out), f(a, b), f(a, b, out=a.copy())
    assert natively(f, a, b, out=out) is out and out.tolist() == (a * 2 + b).tolist()
    assert natively(f, a, b) is not out and natively(f, a, b, out=None).tolist() == out.tolist()
    assert natively(f, a, out=out, b=b) is out
    read_only = np.zeros(4)
    read_only.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        by_python(f, a, b, out=read_only)
    for bad in (np.zeros(5), np.zeros((4, 4)), np.zeros(())):
        with pytest.raises(ValueError):
            f(a, b, out=bad)
        with pytest.raises(ValueError):
            f(a, b, out=bad)
    for bad in (1.0, [out], "x"):
        with pytest.raises(TypeError):
            by_python(f, a, b, out=bad)
    assert by_python(f, a, b, out=(out,)) is out
    memory = np.arange(8.0)
    for x, y in (
        (memory[:4], memory[2:6]),
        (memory[:4], memory[:4]),
        (memory[::2], memory[1::2]),
        (memory[:4], memory[1:5]),
    ):
        for k in range(3):
            whole = memory.copy()
            at = (y.ctypes.data - memory.ctypes.data) // 8
            mine = np.lib.stride_tricks.as_strided(whole[at:], y.shape, y.strides)
            theirs = np.lib.stride_tricks.as_strided(whole, x.shape, x.strides)
            wanted = theirs * 2 + b
            mine[:] = wanted
            assert f(x, b, out=y) is y and memory.tolist() == whole.tolist(), k
    check_steady(lambda: f(a, b, out=out), a, b, out, "out", None)
    with pytest.raises(TypeError):
        bufferize(lambda a, **k: a)(a, out=out)(a)


def add_into(a: Any, b: Any) -> None:
    a += 2 * b


@pytest.mark.slow
def test_arrays_that_share_memory_and_are_stored_to() -> None:
    """What shares no element is taken, however it is interleaved; what does is the original function's."""
    f = bufferize(add_into)
    rng = np.random.default_rng(0)
    places: list[Callable[[Any], tuple[Any, Any]]] = [
        lambda w: (w[:, 0], w[:, 1]), lambda w: (w[::2, 0], w[1::2, 0]), lambda w: (w[:, :2], w[:, 2:4]),
        lambda w: (w[::2], w[1::2]), lambda w: (w[:4, ::2], w[:4, 1::2]), lambda w: (w[:, 0], w[::-1, 1]),
        lambda w: (w[:, 1], w[:, 0]), lambda w: (w[::2, ::-1], w[1::2]), lambda w: (w[:4], w[4:]), lambda w: (w[:4,
        :2], w[2:6, 2:4]),
        lambda w: (w.T[:2], w.T[2:4]), lambda w: (w[:, 0], w[0, :][:1]), lambda w: (w[0], w[1]), lambda w: (w[:0],
        w[:0]),
    ]  # fmt: skip
    shared: list[Callable[[Any], tuple[Any, Any]]] = [
        lambda w: (w[:4], w[1:5]), lambda w: (w[:, :2], w[:, 1:3]), lambda w: (w[:, 0], w[::-1, 0]),
        lambda w: (w[1:5], w[:4]), lambda w: (w[:4, :4], w.T[:4, :4]), lambda w: (w[::2, :2], w[:4, :2]),
        lambda w: (w[:, 0], np.broadcast_to(w[0, :1], (8,))),
    ]  # fmt: skip
    for _ in range(3):
        for place in (*places, *shared):
            mine = rng.random((8, 4))
            its = mine.copy()
            add_into(*place(its))
            f(*place(mine))
            assert mine.tolist() == its.tolist()
    count = taken(f)
    for place in places[:10]:
        mine = rng.random((8, 4))
        its = mine.copy()
        add_into(*place(its))
        natively(f, *place(mine))
        assert mine.tolist() == its.tolist()
    assert taken(f) == count + 10
    for place in shared:
        by_original(f, *place(rng.random((8, 4))))


@pytest.mark.slow
def test_random_views_of_one_memory() -> None:
    """As eager, whatever two or three views of one block are passed."""
    rng = np.random.default_rng(1)

    def mix(a: Any, b: Any, c: Any) -> Any:
        a += b[0] * c
        return b[1:], a, c + 1

    f = bufferize(mix)

    def view(w: Any, draw: Any) -> Any:
        kind, start, step = draw
        return [w[start : start + 4], w[start : start + 8 : 2], w[start : start + 4][::-1], w[start + step :: 8][:4]][
            kind
        ]

    for _ in range(400):
        draws = [(rng.integers(4), rng.integers(8), rng.integers(4)) for _ in range(3)]
        mine = rng.random(64)
        its = mine.copy()
        wanted, got = mix(*(view(its, d) for d in draws)), f(*(view(mine, d) for d in draws))
        assert mine.tolist() == its.tolist()
        same(got, wanted, "result")
        for x, y in zip(got, wanted):
            assert np.shares_memory(x, mine) == np.shares_memory(y, its)
    assert taken(f) > 60


@pytest.mark.slow
def test_two_objects_of_one_view() -> None:
    def swap(a: Any, b: Any, c: Any) -> Any:
        a += 1
        return a is b, b is c, b * 2 + c, b, c

    f = bufferize(swap)
    a = np.arange(4.0)
    forms = [
        lambda a: (a, a[:], a),
        lambda a: (a, a[:], a[:]),
        lambda a: (a, a, a[:]),
        lambda a: (a, a, a),
        lambda a: (a, *[a[:]] * 2),
    ]
    for _ in range(2):
        for form in forms:
            f(*form(a))
    for form in forms:
        args, others = form(np.arange(4.0)), form(np.arange(4.0))
        got, wanted = natively(f, *args), swap(*others)
        same(got, wanted, "result")
        assert got[3] is args[1] and got[4] is args[2]
    read_only = a[:]
    read_only.flags.writeable = False
    same(by_python(f, a, read_only, a)[2], a * 3, "result")
    check_steady(lambda: f(a, a[:], a), a)


@pytest.mark.slow
def test_arrays_that_repeat_elements() -> None:
    def f(a: Any, b: Any) -> Any:
        return a * 2 + b, a.sum(), a[..., 1:]

    g = bufferize(f)
    strided = np.lib.stride_tricks.as_strided
    base = np.arange(12.0)
    arrays = [
        np.broadcast_to(2.0, (3, 4)), np.broadcast_to(np.arange(4.0), (3, 4)), np.broadcast_to(np.arange(3.0)[:,
        None], (3, 4)),
        strided(base, (3, 4), (8, 16)), strided(base, (3, 4), (16, 8)), strided(base, (3, 4), (8, 8)), np.ones((3, 4)),
        np.broadcast_to(np.arange(8.0)[::2], (3, 4)), strided(base[6:], (3, 4), (-8, 8)), strided(base[8:], (3, 4),
        (0, -16)),
        np.broadcast_to(np.ones((1, 4)), (3, 4)), np.broadcast_to(2.0, (1, 4)), np.broadcast_to(2.0, (3, 1)),
        strided(base, (3, 4), (16, 16)),
    ]  # fmt: skip
    b = np.ones((3, 4))
    for _ in range(2):
        for a in arrays:
            g(a, b), g(b, a), g(a, a)
    for a in arrays:
        for args in ((a, b), (b, a), (a, a)):
            same(natively(g, *args), f(*args), f"{a.strides}")

    def store(a: Any, b: Any) -> None:
        a += b

    h = bufferize(store)
    for _ in range(3):
        for make in (lambda: strided(np.arange(4.0), (3, 4), (0, 8)), lambda: strided(np.arange(12.0), (3, 4), (8, 8))):
            mine, its = make(), make()
            by_original(h, mine, b)
            store(its, b)
            assert mine.tolist() == its.tolist()


def test_donations() -> None:
    f = bufferize(donate="a")(lambda a, b: (a + b) * 2)
    for _ in range(2):
        f(np.ones(4), np.ones(4))
    a, b = np.ones(4), np.arange(4.0)
    result = natively(f, a, b)
    assert np.shares_memory(result, a) and result is not a and result.tolist() == ((1 + b) * 2).tolist()
    for bad in (np.ones(8)[::2], 1.0):
        with pytest.raises(DonationError):
            by_python(f, bad, b)
    with pytest.raises(DonationError):
        by_python(f, b, b)
    with pytest.raises(DonationError):
        by_python(f, b, b[:])
    w = np.ones(6)
    with pytest.raises(DonationError):
        by_python(f, w[:4], w[2:])
    w.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        by_python(f, w, np.ones(6))
    for _ in range(3):
        assert f(np.ones(0), np.ones(0)).tolist() == []
    check_steady(lambda: f(np.ones(4), b), b)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("source", "values"),
    [
        ("def f(a, n): return a.reshape(n, -1).sum(axis=0)", [(12, n) for n in (1, 2, 3, -1, 5, 4, 0, -2, 6)]),
        ("def f(a, n): return a[len(a) // n :]", [(k, n) for k in (4, 7) for n in (1, 2, 3, -1, -2, -3, 0, 9)]),
        ("def f(a, n): return a[: len(a) % n]", [(k, n) for k in (4, 7, 9) for n in (1, 2, 3, -2, -3, 0, 8)]),
        ("def f(a, n): return a[1::n] * a[: len(a[1::n])]", [(k, n) for k in (5, 8) for n in (1, 2, 3, 4, -1, -2)]),
        ("def f(a, n): return a[n:].reshape(2, -1)", [(k, n) for k in (8, 9) for n in (0, 1, 2, -4, -3, 20)]),
        ("def f(a, n): return a[:n] + a[len(a) - n :]", [(8, n) for n in (1, 3, 8, 9, 12, -1, 0)]),
    ],
)  # fmt: skip
def test_guards_that_divide(source: str, values: list[tuple[int, int]]) -> None:
    """Quotients round down, as Python's do, whatever the signs."""
    function = program(source)
    f = bufferize(function)

    def outcome(g: Any, *args: Any) -> Any:
        try:
            return g(*args).tolist()
        except Exception as error:
            return type(error)

    for _ in range(3):
        for k, n in values:
            a = np.arange(float(k))
            got = outcome(f, a, n)
            assert got is UnsupportedError or got == outcome(function, a, n), (k, n)
    assert taken(f) >= len(values)


@pytest.mark.parametrize("first", (0, 3))
def test_guards_whose_divisor_is_zero(first: int) -> None:
    """In a loop over range(1, n) n is 2 or more: `n * (len(a) // n)` has lost what guards it. ZeroDivisionError came
    from the guard, and from tracing."""

    def rows(a: Any, n: int) -> Any:
        s = 0.0
        for _ in range(1, n):
            s += a.reshape(n, -1).sum() + a.reshape(n, -1).shape[1]
        return s

    f = bufferize(rows)
    for n in (first, 2, 0, 1, -3, 4, 0):
        assert f(np.arange(12.0), n) == rows(np.arange(12.0), n)


class Mode(Enum):
    """Two ways."""

    UP = 1
    DOWN = -1


@pytest.mark.slow
def test_ranges_and_slices() -> None:
    """They are told apart by start, stop and step: ranges without elements are equal."""

    def program(a, r, s):
        return a[s] * len(r)

    f = bufferize(program)
    a, none, some = np.arange(9.0), range(0), slice(1, None, 2)
    for _ in range(2):
        f(a, none, some)
    assert not natively(f, a, range(0), slice(1, None, 2)).any()
    for r, s in ((range(5, 5), some), (range(2), some), (none, slice(1, None)), (none, slice(1, 9, 2))):
        assert np.array_equal(by_python(f, a, r, s), program(a, r, s))


def test_constants_by_their_values() -> None:
    def f(a: Any, k: Any) -> Any:
        if isinstance(k, tuple):
            return a.reshape(k)
        return a * 2 if k is Mode.UP or k == "up" or k == 2**40 or k is None else a + 1

    g = bufferize(f)
    a = np.arange(4.0)
    big = "1099511627776"
    shapes = [(2, 2), (4, 1), (1, 4), (4,), (2, 2, 1)]
    values: list[Any] = [*shapes, Mode.UP, Mode.DOWN, "up", "down", 2**40, None, ...]
    for _ in range(2):
        for k in values:
            g(a, k)
    for k in (*values, tuple(map(int, "22")), "".join(["u", "p"]), int(big)):
        same(natively(g, a, k), f(a, k), repr(k))
    for k in ((True, 4), (1.0, 4), (4, True), 2**40 + 1, "Up", (2, np.int64(2)), (2, 2.0)):
        for _ in range(2):
            try:
                wanted = f(a, k)
            except TypeError:
                with pytest.raises(TypeError):
                    g(a, k)
                continue
            same(g(a, k), wanted, repr(k))

    class Odd(str):
        def __eq__(self, other: object) -> bool:
            raise AssertionError

        __hash__ = str.__hash__

    with pytest.raises((UnsupportedError, AssertionError)):
        by_python(g, a, Odd("up"))
    check_steady(lambda: g(a, tuple(map(int, "22"))), a, 2, *shapes)


@pytest.mark.slow
def test_dicts_with_other_keys_and_containers_that_occur_twice() -> None:
    f = bufferize(lambda p: p[0] + p[(1, "x")] - p[None])
    a = np.arange(4.0)
    for _ in range(2):
        f({0: a, (1, "x"): a * 2, None: 1.0})
    assert natively(f, {0: a, (int("1"), "x"): a * 2, None: 1.0}).tolist() == (a * 3 - 1).tolist()
    for odd in (
        {False: a, (1, "x"): a * 2, None: 1.0},
        {0.0: a, (1, "x"): a * 2, None: 1.0},
        {0: a, (True, "x"): a * 2, None: 1.0},
    ):
        assert f(odd).tolist() == (a * 3 - 1).tolist()

    def twice(p: Any, q: Any) -> Any:
        p[0] = p[0] + q[0]
        return p is q

    g = bufferize(twice)
    for _ in range(2):
        g(p := [a, 1.0], p), g([a], [a * 2])
    p, q = [a, 1.0], [a * 3, 1.0]
    assert natively(g, p, p) is True and p[0].tolist() == (a * 2).tolist()
    p = [a, 1.0]
    g(p, q)
    p = [a, 1.0]
    assert natively(g, p, q) is False and p[0].tolist() == (a * 4).tolist()
    check_steady(lambda: g(x := [a, 1.0], x), a, 1.0)


class Layer:
    """An object whose class has constants and methods."""

    limit = 3.0

    def __init__(self) -> None:
        self.w = np.arange(4.0)

    def scaled(self, x: Any) -> Any:
        """A method that another calls."""
        return self.w * x

    @staticmethod
    def plus(x: Any) -> Any:
        """A function of the class."""
        return x + 1

    @property
    def twice(self) -> Any:
        """A property."""
        return self.w * 2

    def apply(self, x: Any) -> Any:
        """Calls the others."""
        return self.plus(self.scaled(x)) * self.limit + self.twice


@pytest.mark.slow
def test_attributes_of_classes(monkeypatch: pytest.MonkeyPatch) -> None:
    f = bufferize(Layer.apply)
    layer, x = Layer(), np.ones(4)
    for _ in range(2):
        f(layer, x)
    same(natively(f, layer, x), layer.apply(x), "result")
    check_steady(lambda: f(layer, x), layer, x, Layer, Layer.scaled, 3.0)
    layer.limit = 5.0
    same(f(layer, x), layer.apply(x), "result")
    layer.scaled = lambda x: x  # type: ignore[method-assign]
    same(f(layer, x), layer.apply(x), "result")
    layer = Layer()
    same(natively(f, layer, x), layer.apply(x), "result")
    for name, value in (
        ("limit", 7.0), ("limit", 2), ("limit", property(lambda self: 4.0)), ("scaled", lambda self, x: x - self.w),
        ("plus", staticmethod(lambda x: x * 3)), ("twice", property(lambda self: self.w)), ("twice", 1.5),
    ):  # fmt: skip
        with monkeypatch.context() as patch:
            patch.setattr(Layer, name, value)
            for _ in range(3):
                same(f(layer, x), layer.apply(x), name)
        for _ in range(2):
            same(f(layer, x), layer.apply(x), name)
    natively(f, layer, x)


def test_an_attribute_whose_getter_ends_the_call() -> None:
    """What machine code asks for may run code of the user's, which may call the very function, or raise."""
    calls: list[Any] = []

    class Noisy:
        rate = 2.0

        def __init__(self) -> None:
            self.w = np.ones(3)

    def scaled(self: Any, x: Any) -> Any:
        return self.w * x * self.rate

    f = bufferize(scaled)
    noisy, x = Noisy(), np.arange(3.0)
    for _ in range(2):
        f(noisy, x)

    def rate(self: Any) -> float:
        calls.append(1)
        if len(calls) % 5 == 0:
            raise ValueError("five")
        if len(calls) < 30:
            f(noisy, x)
        return 3.0

    Noisy.rate = property(rate)  # type: ignore[assignment]
    for _ in range(10):
        try:
            assert f(noisy, x).tolist() == (x * 3).tolist()
        except (ValueError, UnsupportedError):
            pass
    Noisy.rate = 2.0
    assert f(noisy, x).tolist() == (x * 2).tolist()
