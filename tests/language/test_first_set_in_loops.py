"""Attributes and keys that a loop is the first to set: its first iteration is traced by itself."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tests.support.agreement import agree, program, refused
from tests.support.params import one_in
from tracebuf import UnsupportedError, bufferize
from tracebuf.testing.ladder import climb


class Layer:
    def __init__(self, n, m):
        self.w = np.full((n, m), 0.1)
        self.b = np.zeros(m)

    def forward(self, x):
        self.x = x
        self.z = x @ self.w + self.b
        return np.tanh(self.z)

    def backward(self, d, rate):
        dz = d * (1 - np.tanh(self.z) ** 2)
        dx = dz @ self.w.T
        self.w -= rate * self.x.T @ dz
        self.b -= rate * dz.sum(0)
        return dx


class Part:
    pass


def trained(x, y, epochs):
    layers = [Layer(2, 3), Layer(3, 1)]
    losses = []
    for _ in range(epochs):
        out = x
        for layer in layers:
            out = layer.forward(out)
        d = out - y
        losses.append(np.mean(d**2))
        for layer in reversed(layers):
            d = layer.backward(d, 0.1)
    return losses, layers[0].w


def last_and_sum(a, n):
    found = {}
    for i in range(n):
        found["last"] = a[i]
        found["sum"] = found.get("sum", 0.0) + a[i]
    return found["last"], found["sum"], list(found), found


def by_the_path(a, n):
    part = Part()
    for i in range(n):
        part.v = a[i] * 2
        if a[i] > 0.5:
            part.w = i
        else:
            part.w = -i
    return part.v + part.w


def nested(a, n):
    part = Part()
    for i in range(n):
        for j in range(n):
            part.row = a[i] + j
        part.column = part.row * i
    return part.row, part.column


A = np.random.default_rng(2).random(5)


@pytest.mark.parametrize("f", [last_and_sum, by_the_path, nested])
def test_ranges(f: Any) -> None:
    """Whether there is an iteration is a guard."""
    climb(f, (A, 4), again=[(A, 1), (A, 5)])
    for n in (4, 1, 0, -2):
        agree(f, A, n)


@pytest.mark.slow
def test_layers_that_keep_what_they_were_given() -> None:
    x, y = np.random.default_rng(0).random((6, 2)), np.random.default_rng(1).random((6, 1))
    for epochs in (3, 1, 0):
        agree(trained, x, y, epochs, ulp=8)


def test_loops_of_which_only_the_run_knows_whether_they_begin() -> None:
    def f(a):
        part = Part()
        while a[0] < 3:
            part.v = a[0]
            a[0] += 1
        return a

    refused(f, np.zeros(2))


def test_what_was_none_becomes_a_number_that_no_iteration_changes() -> None:
    """The number is carried as an attribute of the object, and found to be steady, while what becomes it is not."""

    def read(x: float, n: int) -> Any:
        s = SimpleNamespace(x=x * 2, last=None)
        for i in range(n):
            if x > i:
                s.last = s.x
        return s.last

    def counted(x: float, n: int) -> Any:
        s, k = SimpleNamespace(x=x, last=None), 0
        while k < n:
            k += 1
            s.last = s.x
        return s

    for n in (0, 1, 3):
        agree(read, 1.5, n)
        climb(counted, (1.5, n))


LEFT_BY = {"at its end": "pass", "by break": "if s > 50:\n                    break", "before": "if i == 1: continue"}


@pytest.mark.parametrize("left", one_in(2, LEFT_BY))
@pytest.mark.parametrize("loop", ["for i in range(n):", "while i < n:"])
@pytest.mark.cases(4)
def test_an_array_of_its_own_or_another_one_first_bound_in_a_loop(loop: str, left: str) -> None:
    """The first iteration binds the argument, those after it a new array, as total variation denoising does."""
    f = program(f"""
        def f(a, n):
            i, s, d = 0, 0.0, np.zeros_like(a)
            {loop}
                if i > 0:
                    out = a + d
                else:
                    out = a
                d = d + out * 0.5
                s += out.sum()
                {'i += 1' if 'while' in loop else 'pass'}
                {LEFT_BY[left]}
            return out, s
    """)
    for n in (1, 2, 5, 0):
        agree(f, np.arange(4.0), n)
    climb(f, (np.arange(4.0), 5), again=[(np.arange(3.0), 1)])


def column_by_column(a, b, least):
    """As conjugate gradients are written in teaching code: columns, each replaced by a copy of the next one."""
    x0, r0, error = np.zeros((np.shape(b)[0], 1)), np.copy(b), 1e9
    while error > least:
        x = x0 + a @ r0
        r = r0 * 0.25
        error = np.maximum(np.linalg.norm(r - r0), np.linalg.norm(x - x0))
        x0, r0 = np.copy(x), np.copy(r)
    return x


def test_columns_that_copies_replace_until_they_hardly_change() -> None:
    """Copies of columns were in another order than sums of them, and the loop was refused."""
    a, b = np.eye(3) + 0.1, np.ones((3, 1))
    for least in (1e-3, 1e10):
        agree(column_by_column, a, b, least)


class Network:
    """As in Nielsen's book: lists of the layers' arrays, which each step replaces."""

    def __init__(self, sizes):
        self.biases = [np.full((y, 1), 0.1 * y) for y in sizes[1:]]
        self.weights = [np.full((y, x), 0.2) for x, y in zip(sizes[:-1], sizes[1:])]

    def step(self, x, y, rate):
        outs = [x]
        for b, w in zip(self.biases, self.weights):
            outs.append(np.tanh(w @ outs[-1] + b))
        d = (outs[-1] - y) * (1 - outs[-1] ** 2)
        by_b, by_w = [np.zeros(b.shape) for b in self.biases], [np.zeros(w.shape) for w in self.weights]
        by_b[-1], by_w[-1] = d, d @ outs[-2].T
        for k in range(2, len(by_b) + 1):
            d = (self.weights[-k + 1].T @ d) * (1 - outs[-k] ** 2)
            by_b[-k], by_w[-k] = d, d @ outs[-k - 1].T
        self.weights = [w - rate * g for w, g in zip(self.weights, by_w)]
        self.biases = [b - rate * g for b, g in zip(self.biases, by_b)]


def test_an_object_of_which_each_iteration_replaces_two_lists() -> None:
    """One was taken to be another list in each iteration, and so the other had to stay."""

    def f(x, y, n):
        net = Network([2, 3, 1])
        for _ in range(n):
            net.step(x, y, 0.5)
        return net.weights, net.biases[0]

    for n in (4, 0):
        agree(f, np.array([[0.5], [1.5]]), np.array([[1.0]]), n)


LEFT_EARLY = {"by break": "break", "by return": "return x, k", "by the test of a while": ""}


@pytest.mark.parametrize("left", LEFT_EARLY)
@pytest.mark.parametrize("first", ["0", "0.0"])
@pytest.mark.cases(3)
def test_a_number_that_becomes_an_array_in_a_loop_that_is_left_early(first: str, left: str) -> None:
    """A momentum begins as 0: on the path that leaves the loop it still is, which the loop goes on without."""
    head = "for k in range(n):" if LEFT_EARLY[left] else "while np.linalg.norm(x) > least:"
    stop = f"if np.linalg.norm(x) < least: {LEFT_EARLY[left]}" if LEFT_EARLY[left] else "k = k + 1"
    f = program(f"""
        def f(x, n, least):
            v, k = {first}, 0
            {head}
                {stop}
                v = 0.9 * v - 0.05 * x
                x = x + v
            return x, k
    """)
    for n, least in ((60, 0.5), (60, 100.0), (0, 0.5), (7, 0.01)):
        agree(f, np.arange(4.0) + 1, n, least if LEFT_EARLY[left] or n else 0.5)


def of_another_type_in_an_inner_loop(a, b):
    s = 0
    for _ in a:
        for _ in range(b[1]):
            b = a.reshape(-1)
        s += b[0]
    return s


@pytest.mark.parametrize("trips", [0, -2, 3])
def test_what_an_inner_loop_may_not_bind_is_not_taken_to_be_bound_in_the_next_iteration(trips: int) -> None:
    """The path on which a loop has no iteration was forgotten in the loop around it (found by fuzzing)."""
    a, b = np.ones((4, 3), bool), np.array([5, trips])
    try:
        found = bufferize(of_another_type_in_an_inner_loop)(a, b)
    except UnsupportedError:
        return
    assert found == of_another_type_in_an_inner_loop(a, b)
