"""Classes that a function defines."""

from __future__ import annotations

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


REFUSED = {
    "an object of a class of the function": returned, "this statement in a class": of_a_loop,
    "derives of ValueError": derived_of_an_error,
}  # fmt: skip


@pytest.mark.parametrize("reason", REFUSED)
def test_refused(reason: str) -> None:
    with pytest.raises(UnsupportedError, match=reason):
        tracebuf.bufferize(REFUSED[reason])(X)
