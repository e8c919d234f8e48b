"""Classes that a function defines."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pytest

import tracebuf
from tests.support.agreement import agree
from tracebuf.errors import UnsupportedError

X = np.random.default_rng(2).random(7)


class Outer:
    rate = 0.5

    def __init__(self, n):
        self.w = np.zeros(n)

    def step(self, x):
        self.w += self.rate * self.slope(x)

    def slope(self, x):
        return x - self.w


def layers(x):
    class Layer:
        """A layer."""

        scale = 2.0
        double: float = scale * 2

        def __init__(self, n):
            self.w, self.calls = np.ones(n), 0

        def forward(self, x):
            self.calls += 1
            return self.w * x * self.scale

        @property
        def total(self):
            return self.w.sum()

        @staticmethod
        def twice(v):
            return 2 * v

        @classmethod
        def of(cls, n):
            return cls(n)

        def __add__(self, other):
            return self.w + other.w

        def __call__(self, x):
            return self.forward(x)

    class Squared(Layer):
        def __init__(self, n, power):
            super().__init__(n)
            self.power = power

        def forward(self, x):
            return super().forward(x) ** self.power

    a, b = Layer(len(x)), Squared.of(len(x)) if len(x) > 100 else Squared(len(x), 2)
    out = a(x) + b(x)
    for _ in range(3):
        out = a.forward(out)
    return out, a.calls, b.total, Layer.twice(3), (a + b).sum(), isinstance(b, Layer), Layer.scale, Layer.of(2).double


def derived(x):
    class Steep(Outer):
        rate = 0.25

        def slope(self, x):
            return 2 * (x - self.w)

    model = Steep(len(x))
    for _ in range(4):
        model.step(x)
    return model.w, model.rate


def stack(x):
    limit = 0.5

    class Stack:
        def __init__(self):
            self.items = []

        def push(self, v):
            if v > limit:
                self.items.append(v)

        def __len__(self):
            return len(self.items)

    held = Stack()
    for v in x:
        held.push(v)
    total = 0.0
    while len(held):
        total += held.items.pop()
    limit = 2.0
    held.push(1.0)
    return total, len(held)


def no_attribute(x):
    class Plain:
        pass

    return Plain.missing + x


def too_many(x):
    class Plain:
        def __init__(self, x):
            self.x = x

    return Plain(x, x).x


@pytest.mark.parametrize("f", [layers, derived, stack, no_attribute, too_many], ids=lambda f: f.__name__)
def test_classes(f: Any) -> None:
    agree(f, X)


def test_a_base_outside_may_change() -> None:
    f = tracebuf.bufferize(derived)
    f(X)
    before = Outer.step
    try:
        Outer.step = lambda self, x: None  # type: ignore[method-assign]
        assert not np.any(f(X)[0])
    finally:
        Outer.step = before  # type: ignore[method-assign]
    assert np.all(f(X)[0] == derived(X)[0])


def returned(x):
    class Plain:
        pass

    made = Plain()
    made.x = x
    return made


def of_a_loop(x):
    class Plain:
        for _k in range(3):
            pass

    return Plain._k


def derived_of_an_error(x):
    class Wrong(ValueError):
        pass

    return x


def attributes_of_classes(x):
    class Node:
        count = 0
        seen = None
        rate = x[0]

        def __init__(self, v):
            Node.count += 1
            self.number = type(self).count
            if v > 0.5:
                raise ValueError("large")
            self.__class__.seen = v

    class Leaf(Node):
        pass

    made = 0
    for v in x:
        try:
            made += Node(v).number
        except ValueError:
            made += 100
    if x[1] > 0.5:
        Node.rate = 3.0
    Leaf.count = 7
    Leaf.size = Leaf.rate + 1
    leaf = Leaf(0.0)
    leaf.count += 1
    return made, Node.count, Leaf.count, leaf.count, Leaf.size, leaf.rate, Leaf.seen


def arrays_of_a_class(x):
    class State:
        u = x
        v = 2 * x

    for _ in range(len(x)):
        State.u, State.v = State.v, State.u
    State.u[0] = 9
    return State.u, State.v, State.u is x


@dataclass
class Point:
    x: float
    k: int = 1
    note: str = field(default="", compare=False)


def dataclasses_inside(x):
    @dataclass
    class Track:
        points: list = field(default_factory=list)
        w: np.ndarray = field(default_factory=lambda: np.zeros(2))
        k: int = 1

        def __post_init__(self):
            self.total = 0.0

        def add(self, v):
            self.points.append(v)
            self.total += v
            self.w[0] += v

    a, b = Track(), Track(k=2)
    for v in x:
        a.add(v)
    b.add(1.0)
    Track.k = 50
    return a.points, a.w, a.total, b.points, b.w, replace(b, k=4).k, Track().k, f"{Point(x[0])}"


def frozen_inside(x):
    @dataclass(frozen=True)
    class Fixed:
        x: float

    held = Fixed(x[0])
    held.x = 2.0
    return held.x


def mutable_default(x):
    @dataclass
    class Wrong:
        x: list = []

    return x


def shown_inside(x):
    @dataclass
    class Point:
        x: float
        k: int = 1

    return repr(Point(x[0])), f"{Point(2.0, k=3)}"


def equal_dataclasses(k):
    @dataclass
    class Pair:
        a: int
        b: int = 2

    first, second = Pair(int(k[0])), Pair(int(k[1]), 3)
    unseen = Point(1, int(k[0]), "a") == Point(1, int(k[0]))
    return first == second, first != Pair(int(k[0])), unseen, first == Point(1, 2)


@pytest.mark.parametrize(
    "f", [attributes_of_classes, arrays_of_a_class, dataclasses_inside, frozen_inside, mutable_default, shown_inside],
    ids=lambda f: f.__name__,
)
def test_attributes_of_classes_and_dataclasses(f: Any) -> None:
    agree(f, X)
    agree(f, X[:2])


def test_dataclasses_are_equal_by_their_fields() -> None:
    for k in ([1, 2], [2, 2], [1, 1]):
        agree(equal_dataclasses, np.array(k))


REFUSED = {
    "an object of a class of the function": returned, "this statement in a class": of_a_loop,
    "derives of ValueError": derived_of_an_error,
}  # fmt: skip


@pytest.mark.parametrize("reason", REFUSED)
def test_refused(reason: str) -> None:
    with pytest.raises(UnsupportedError, match=reason):
        tracebuf.bufferize(REFUSED[reason])(X)
