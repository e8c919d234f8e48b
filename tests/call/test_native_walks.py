"""Ways of several steps that machine code goes: to attributes of objects within containers and within objects, of
captured ones, to defaults of fields and of parameters, to what a partial holds; and what changes on such a way."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import dataclass, field, fields
from functools import partial, partialmethod
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pytest

from tests.support.native_calls import by_original, by_python, natively, taken
from tests.support.params import one_in
from tracebuf import UnsupportedError, api, bufferize
from tracebuf.testing.entries import same


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Programs have their entries after one call."""
    monkeypatch.setattr(api, "NATIVE_AFTER", 1)
    monkeypatch.setattr(api, "WORTH", 0)


class Layer:
    """An object with arrays."""

    def __init__(self, k: float = 1.0, n: int = 4) -> None:
        self.w, self.b = np.arange(float(n)) + k, np.full(n, k)


class Slots:
    """An object without a dict."""

    __slots__ = ("b", "w")

    def __init__(self, k: float = 1.0) -> None:
        self.w, self.b = np.arange(4.0) * k, k


class Net:
    """An object that holds objects."""

    def __init__(self, count: int = 2) -> None:
        self.layers, self.head, self.rate = [Layer(k + 1) for k in range(count)], Layer(5.0), 0.5


class Both(NamedTuple):
    """A named tuple of objects."""

    first: Any
    second: Any


@dataclass
class Field:
    """A dataclass with defaults."""

    x: Any
    scale: float = 2.0
    names: list[str] = field(default_factory=list)


def forward(layers: Any, x: Any) -> Any:
    """Attributes of what a list or a tuple holds."""
    for layer in layers:
        x = x * layer.w + layer.b
    return x


def headed(net: Any, x: Any) -> Any:
    """Attributes of attributes."""
    for layer in net.layers:
        x = x * layer.w
    return x * net.head.w + net.head.b * net.rate


def named(p: Any, x: Any) -> Any:
    """Attributes of what dicts and named tuples hold."""
    return x * p["a"].w + p["b"][1].second.b


def stepped(layers: Any, x: Any) -> Any:
    """Objects within a list that are changed."""
    for layer in layers:
        layer.w = layer.w * 0.5 + x
        layer.b += 1
    layers.append(1.0)
    return layers[0]


FORMS: list[tuple[Any, Callable[[], Any]]] = [
    (forward, lambda: [Layer(), Layer(2.0)]), (forward, lambda: (Layer(), Layer(2.0), Layer(3.0))),
    (forward, lambda: [Slots(), Layer(2.0)]), (forward, lambda: [SimpleNamespace(w=np.ones(4), b=3.0)]),
    (headed, Net), (named, lambda: {"a": Layer(), "b": [1.0, Both(Layer(2.0), Slots(3.0))]}),
    (stepped, lambda: [Layer(), Layer(2.0)]),
]  # fmt: skip


@pytest.mark.parametrize(("function", "make"), FORMS)
def test_attributes_of_objects_that_others_hold(function: Any, make: Any) -> None:
    f, x = bufferize(function), np.linspace(0, 1, 4)
    for _ in range(2):
        f(make(), x)
    mine, its = make(), make()
    same(natively(f, mine, x), function(its, x), "result")
    same(mine, its, "argument")


def changes(net: Any) -> Iterator[tuple[str, Callable[[], Any]]]:
    """What may be changed on the way to `net.layers[1].w` and `net.head`; whether machine code still takes it."""
    layers = net.layers
    yield "native", lambda: setattr(net, "head", Layer(7.0))
    yield "native", lambda: setattr(layers[0], "w", np.full(4, 9.0))
    yield "native", lambda: layers.__setitem__(1, Layer(3.0))
    yield "native", lambda: layers.reverse()
    yield "native", lambda: setattr(net, "layers", [Layer(2.0), Layer(4.0)])
    yield "native", lambda: setattr(layers[1], "unread", 1)
    yield "python", lambda: setattr(layers[1], "w", np.arange(4))
    yield "python", lambda: setattr(net, "head", Slots(2.0))
    yield "python", lambda: setattr(net, "layers", (Layer(), Layer()))
    yield "python", lambda: setattr(net, "layers", [Layer()])
    yield "python", lambda: layers.append(Layer(2.0))
    yield "python", lambda: layers.pop()
    yield "python", lambda: layers.__setitem__(0, layers[1])
    yield "python", lambda: setattr(net, "head", layers[0])
    yield "python", lambda: setattr(layers[0], "w", layers[1].w)
    yield "error", lambda: delattr(net, "head")
    yield "error", lambda: delattr(layers[1], "w")
    yield "error", lambda: layers.__setitem__(0, 1.0)


@pytest.mark.parametrize("number", one_in(3, range(18)))
def test_changes_on_the_way(number: int) -> None:
    f, x, net = bufferize(headed), np.linspace(0, 1, 4), Net()
    for _ in range(2):
        f(net, x)
    how, change = list(changes(net))[number]
    change()
    if how == "error":
        for _ in range(2):
            with pytest.raises((AttributeError, UnsupportedError)):
                by_python(f, net, x)
    else:
        same(natively(f, net, x) if how == "native" else f(net, x), headed(net, x), "result")
        same(natively(f, net, x), headed(net, x), "result")
    f(Net(), x)
    same(natively(f, Net(), x), headed(Net(), x), "result")


def test_dicts_on_the_way_lose_and_gain_keys() -> None:
    f, x = bufferize(named), np.linspace(0, 1, 4)
    p: dict[str, Any] = {"a": Layer(), "b": [1.0, Both(Layer(2.0), Slots(3.0))]}
    for _ in range(2):
        f(p, x)
    p["a"] = Layer(4.0)
    same(natively(f, p, x), named(p, x), "result")
    same(by_python(f, {"b": p["b"], "a": p["a"]}, x), named(p, x), "result")
    same(by_python(f, {**p, "c": 1}, x), named(p, x), "result")
    a = p.pop("a")
    with pytest.raises((KeyError, UnsupportedError)):
        by_python(f, p, x)
    p = {"a": a, **p}
    same(natively(f, p, x), named(p, x), "result")


@pytest.mark.slow
def test_attributes_that_are_missing() -> None:
    def sized(layers: Any, x: Any) -> Any:
        return x * sum(layer.k if hasattr(layer, "k") else 2.0 for layer in layers)

    f, x = bufferize(sized), np.ones(3)
    for k in range(1, 4):  # the attributes of the third are looked for in lists of one, too
        f([Layer()] * 1 + [Layer() for _ in range(k - 1)], x)
    for layers in ([Layer()], [Layer(), Layer()], [Layer(), Layer(), Layer()]):
        f(layers, x)
        same(natively(f, layers, x), sized(layers, x), "result")
        layers[-1].k = 5.0  # type: ignore[attr-defined]
        same(f(layers, x), sized(layers, x), "result")
        same(natively(f, layers, x), sized(layers, x), "result")
        for one in (3.0, np.ones(3), None, "text", Slots()):  # without attributes, or of another class
            layers[-1] = one  # type: ignore[call-overload]
            for _ in range(2):
                same(f(layers, x), sized(layers, x), repr(one))


CAPTURED = Net()
LIST = [Layer(), Layer(2.0)]
ARRAYS: tuple[Any, Any] = (np.ones(4), [np.arange(4.0)])
OTHERS = Both(Layer(3.0), 2.0)


@pytest.mark.slow
def test_captured_objects(monkeypatch: pytest.MonkeyPatch) -> None:
    def weigh(x: Any) -> Any:
        for layer in LIST:
            x = x * layer.w + layer.b
        return headed(CAPTURED, x) + OTHERS.first.w

    f, x, here = bufferize(weigh), np.linspace(0, 1, 4), sys.modules[__name__]
    for _ in range(2):
        f(x)
    same(natively(f, x), weigh(x), "result")
    for name, make in (("CAPTURED", Net), ("LIST", lambda: [Layer(4.0), Layer(5.0)])):
        with monkeypatch.context() as patch:
            patch.setattr(here, name, make())
            same(natively(f, x), weigh(x), "result")
    with monkeypatch.context() as patch:
        patch.setattr(CAPTURED, "head", Layer(9.0))
        patch.setattr(LIST[1], "w", np.ones(4))
        same(natively(f, x), weigh(x), "result")
        for other in ([Slots(), Layer()], [Layer()]):
            patch.setattr(here, "LIST", other)
            same(f(x), weigh(x), "result")
            same(natively(f, x), weigh(x), "result")
        patch.setattr(here, "LIST", None)
        with pytest.raises((TypeError, UnsupportedError)):
            by_python(f, x)
    f(x)
    same(natively(f, x), weigh(x), "result")


def test_captured_tuples_of_arrays(monkeypatch: pytest.MonkeyPatch) -> None:
    def weigh(x: Any) -> Any:
        return x * ARRAYS[0] + ARRAYS[1][0]

    f, x = bufferize(weigh), np.linspace(0, 1, 4)
    for _ in range(2):
        f(x)
    same(natively(f, x), weigh(x), "result")
    ARRAYS[1][0] = np.full(4, 3.0)
    same(natively(f, x), weigh(x), "result")
    monkeypatch.setattr(sys.modules[__name__], "ARRAYS", (np.zeros(4), [np.ones(4)]))
    same(f(x), weigh(x), "result")
    same(natively(f, x), weigh(x), "result")


def four(self: Any, *name: str) -> float:
    """What a property gives, or a `__getattr__`."""
    return 4.0


@pytest.mark.parametrize(
    ("name", "value"), [("w", property(four)), ("w", 1.5), ("k", 3.0), ("k", property(four)), ("__getattr__", four)]
)
def test_classes_get_what_comes_before_an_attribute(monkeypatch: pytest.MonkeyPatch, name: str, value: Any) -> None:
    """A property that hides what the object has; a default, or a `__getattr__`, for what it has not."""

    class Unit:
        def __init__(self) -> None:
            self.w = np.arange(3.0)

    def read(units: Any, x: Any) -> Any:
        return x * units[0].w + (units[0].k if hasattr(units[0], "k") else 1.0)

    f, g, x = bufferize(read), bufferize(lambda u, x: read([u], x)), np.ones(3)
    for _ in range(2):
        f([Unit()], x), g(Unit(), x)
    same(natively(f, [Unit()], x), read([Unit()], x), "result")
    with monkeypatch.context() as patch:
        unit = Unit()
        patch.setattr(Unit, name, value, raising=False)
        wanted = read([unit], x)
        for call in (lambda: f([unit], x), lambda: g(unit, x)):
            for _ in range(2):
                try:
                    same(call(), wanted, name)
                except UnsupportedError:
                    assert name == "__getattr__"
    f([Unit()], x), g(Unit(), x)  # programs that capture less are dropped
    same(natively(f, [Unit()], x), read([Unit()], x), "result")
    same(natively(g, Unit(), x), read([Unit()], x), "result")


@pytest.mark.slow
def test_classes_get_other_methods_and_operators(monkeypatch: pytest.MonkeyPatch) -> None:
    class Value:
        def __init__(self, a: Any) -> None:
            self.a = a

        def __add__(self, other: Any) -> Any:
            return Value(self.a + other.a)

    def total(x: Any) -> Any:
        v = Value(x) + Value(2.0)
        v.a = v.a * 2
        return v.a * (3 if v == Value(x) else 1)

    def subtract(self: Any, other: Any) -> Any:
        return Value(self.a - other.a)

    def equal(self: Any, other: Any) -> bool:
        return True

    def put(self: Any, value: Any) -> None:
        self.b = value

    f, x = bufferize(total), np.ones(3)
    for _ in range(2):
        f(x)
    same(natively(f, x), total(x), "result")
    for name, value in (("__add__", subtract), ("__eq__", equal), ("a", property(four, put))):
        with monkeypatch.context() as patch:
            patch.setattr(Value, name, value, raising=False)
            for _ in range(2):
                same(f(x), total(x), name)
    same(natively(f, x), total(x), "result")


def test_defaults_of_fields(monkeypatch: pytest.MonkeyPatch) -> None:
    def made(x: Any) -> Any:
        return Field(x * 2)

    def inside(x: Any) -> Any:
        d = Field(x * 2)
        return d.x * d.scale

    x = np.ones(3)
    for function in (made, inside):
        f = bufferize(function)
        for _ in range(2):
            f(x)
        same(natively(f, x), function(x), "result")
    f = bufferize(inside)
    f(x)
    scale = next(one for one in fields(Field) if one.name == "scale")
    monkeypatch.setattr(scale, "default", 5.0)  # what the class holds for a constructor that is made anew
    assert by_python(f, x).tolist() == [10.0] * 3


def test_what_a_partial_holds() -> None:
    part = partial(lambda t, v, s: v * s + t, 1.0, s=3.0)

    def called(x: Any) -> Any:
        return part(x)

    f, x = bufferize(called), np.ones(3)
    for _ in range(2):
        f(x)
    same(natively(f, x), called(x), "result")
    part.keywords["s"] = 4.0
    same(by_python(f, x), called(x), "result")
    same(natively(f, x), called(x), "result")
    part.__setstate__((part.func, (2.0,), part.keywords, {}))
    same(by_python(f, x), called(x), "result")
    same(natively(f, x), called(x), "result")
    part = partial(part.func, 5.0, s=6.0)
    same(by_python(f, x), called(x), "result")
    same(natively(f, x), called(x), "result")


def test_what_a_partialmethod_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    class Unit:
        def plus(self, x: Any, *, by: float) -> Any:
            return x + by

        one = partialmethod(plus, by=1.0)

    def called(u: Any, x: Any) -> Any:
        return u.one(x)

    f, x, u = bufferize(called), np.ones(3), Unit()
    for _ in range(2):
        f(u, x)
    same(natively(f, u, x), called(u, x), "result")
    monkeypatch.setattr(Unit, "one", partialmethod(Unit.plus, by=2.0))
    same(by_python(f, u, x), called(u, x), "result")
    same(natively(f, u, x), called(u, x), "result")


def test_defaults_of_parameters_that_are_containers() -> None:
    def helper(v: Any, k: Any = (2.0, 3.0), *, w: Any = np.ones(3)) -> Any:  # noqa: B008
        return v * k[0] + w

    def called(x: Any) -> Any:
        return helper(x)

    f, x = bufferize(called), np.ones(3)
    for _ in range(2):
        f(x)
    same(natively(f, x), called(x), "result")
    helper.__kwdefaults__["w"] = np.arange(3.0)
    same(natively(f, x), called(x), "result")
    helper.__defaults__ = ((4.0, 5.0),)
    same(by_python(f, x), called(x), "result")
    same(natively(f, x), called(x), "result")


@pytest.mark.slow
def test_both_ways_make_the_same(checked: Any) -> None:
    before = checked.taken
    for function, make in FORMS:
        f, x = bufferize(function), np.linspace(0, 1, 4)
        for _ in range(3):
            f(make(), x)
    assert checked.taken == before + 2 * len(FORMS)


@pytest.mark.slow
@pytest.mark.parametrize(("function", "make"), FORMS)
def test_no_reference_is_lost_or_kept(function: Any, make: Any) -> None:
    f, x = bufferize(function), np.linspace(0, 1, 4)
    args = make()
    watched = [x, Layer, Slots, Both, None, "w", "b", 1.0, *gc.get_referents(args)]
    odd = deepcopy(args)
    (odd if isinstance(odd, list) else [odd])[-1] = 3.0  # not taken, after some steps

    def call() -> None:
        f(make() if function is stepped else args, x)
        try:
            f(odd, x)
        except (AttributeError, UnsupportedError, TypeError):
            pass

    for _ in range(5):
        call()
    gc.collect()
    before, calls = [sys.getrefcount(one) for one in watched], taken(f)
    for _ in range(300):
        call()
    gc.collect()
    assert taken(f) >= calls + 300
    more = [sys.getrefcount(one) - n for one, n in zip(watched, before)]
    assert all(abs(n) <= 30 for n in more), more


def add_halves(p: Any) -> Any:
    """Stores to one of two arrays in a container."""
    p[0][:] += p[1] * 0.5
    return p[0]


def test_arrays_within_containers_that_overlap_and_are_stored_to() -> None:
    f, w = bufferize(add_halves), np.arange(12.0)

    def pair(first: int = 1, second: int = 0, n: int = 6) -> list[Any]:
        w[:] = np.arange(12.0)
        return [w[first : first + n], w[second : second + n]]

    wanted = add_halves(pair()).tolist()
    for _ in range(4):
        assert by_original(f, pair()).tolist() == wanted
    assert natively(f, pair()).tolist() == wanted
    for args in ((2, 0), (0, 1), (6, 0), (6, 0, 5), (1, 0, 5)):
        wanted = add_halves(pair(*args)).tolist()
        for _ in range(3):
            assert f(pair(*args)).tolist() == wanted
        assert natively(f, pair(*args)).tolist() == wanted
    before = str(f.specializations())
    assert natively(f, pair()) is not None and "overlap in memory and are stored to" in before
    p = pair()
    with pytest.raises(TypeError):
        f(tuple(p)[0], p)
    for bad in ([w], [w, None], None, [w, "x"]):
        with pytest.raises((TypeError, IndexError, UnsupportedError)):
            f(bad)
    assert f((p[0], p[1])).tolist() == add_halves(pair()).tolist()


def test_arrays_of_an_object_that_overlap_and_are_stored_to() -> None:
    w = np.arange(12.0)

    def step(u: Any, x: Any) -> Any:
        u.w += x
        return x * u.b

    f, u = bufferize(step), Layer()
    u.w, x = w[:6], w[1:7]
    u.b = np.ones(6)

    def call(how: Any) -> tuple[Any, Any]:
        w[:] = np.arange(12.0)
        return how(u, x).tolist(), w.tolist()

    wanted = call(step)
    for _ in range(4):
        assert call(f) == wanted
    before = taken(f)
    assert call(f) == wanted and taken(f) == before + 1
    u.w = np.arange(6.0)
    f(u, x)
    same(natively(f, u, x), x * u.b, "result")
