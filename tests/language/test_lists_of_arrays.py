"""Lists of run-time length whose items are arrays: histories, rows; stores and questions that tell which is which."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tracebuf
from tests.support.agreement import agree, program, refused
from tests.support.params import one_in, slow_but
from tracebuf.errors import UnsupportedError
from tracebuf.testing.ladder import climb

X = np.random.default_rng(3).normal(size=6)
N = 40


def rows(x, n):
    out = []
    for k in range(n):
        out.append(x * k)
    return np.array(out), np.asarray(out, dtype=complex), np.array(out).T


def diffusion(x, n):
    u = x.copy()
    history = [u.copy()]
    for _ in range(n):
        u[1:-1] += 0.1 * (u[:-2] - 2 * u[1:-1] + u[2:])
        history.append(u.copy())
    return np.array(history), u


def carried(x, n):
    history = [x]
    for k in range(n):
        x = x + 0.1 * k
        history.append(x)
    history = np.array(history)
    return history[:, 0], history, x


def appended_first(x, n):
    history, v = [], np.zeros_like(x)
    for _ in range(n):
        history.append(x)
        v = v - x * 0.1
        x = x + 0.1 * v
    return history[-1][0] + len(history), np.array(history)


def stored_before(x, n):
    out = []
    for k in range(n):
        y = x * k
        y[0] = 3
        for j in range(len(y)):
            y[j] += 1
        out.append(y)
    x[0] = 5.0
    return np.array(out)


def joined(x, n):
    a, b = [], []
    for k in range(n):
        a.append(x + k)
        if x[k % len(x)] > 0:
            b.append(np.outer(x, x) * k)
    found = np.stack(a), np.vstack(a), np.concatenate(a), np.hstack(a), np.vstack(b), np.concatenate(b)
    return found, sum(a), sum(b), np.mean(a, axis=0), np.max(b), np.std(np.array(a), axis=0)


def returned(x, n):
    out, others = [], []
    for k in range(n):
        out.append(np.sin(x) * k)
        y = x - k
        others.append(y)
    return out, others, len(out)


def by_itself(x, n):
    out = [x * 1.0]
    while len(out) < n:
        out.append(out[-1] * 0.5 + out[0])
    return out[-1]


def in_tuples(x, n):
    out = []
    for k in range(n):
        out.append((k * 0.1, x * k))
    t, y = out[-1]
    total = 0.0
    for s, z in out:
        total += s * z[0]
    return t, y, total, max(out, key=lambda p: p[0])[0]


def iterated(x, n):
    out = []
    for k in range(n):
        out.append(x * k)
        if len(out) > 5:
            out.pop(0)
    total = np.zeros_like(x)
    for k, y in enumerate(out):
        total += y * k
    norms = [(y * y).sum() for y in out]
    differences = np.array([b[0] for b in out])
    return total, norms, differences, len(out[1:3]), np.array(out[::2])


def several_types(x, n):
    a, b, c = [], [], []
    for k in range(n):
        a.append(np.arange(3) + k)
        b.append(x > k)
        c.append(np.array([k, x[0]]))
    return np.array(a), np.array(b), np.array(c), sum(b), a[3][0]


def views(x, n):
    rows, grid = [], np.outer(x, x)
    for k in range(n):
        rows.append(grid[k % 3])
    return np.array(rows), grid[:, 1] @ rows[-1]


def gradient_descent(x, n):
    w, history, losses = np.zeros_like(x), [], []
    for _ in range(n):
        gradient = 2 * (w - x)
        w = w - 0.1 * gradient
        history.append(w)
        losses.append(((w - x) ** 2).sum())
    return w, np.array(history), losses


def comprehended(x, n):
    return np.array([x * k for k in range(n)])


ARRAYS = (rows, diffusion, carried, appended_first, stored_before, joined, returned, by_itself, in_tuples, iterated,
          several_types, views, gradient_descent)  # fmt: skip


@pytest.mark.parametrize("f", one_in(3, ARRAYS))
@pytest.mark.cases(2)
def test_arrays(f: Any) -> None:
    agree(f, X, N, ulp=8)


@pytest.mark.slow
@pytest.mark.parametrize("f", ARRAYS)
def test_on_every_rung(f: Any) -> None:
    climb(f, (X, N), tolerance=1e-12)


def test_many_comprehended() -> None:
    agree(comprehended, X, 600)


def test_each_array_of_a_returned_list_has_memory_of_its_own() -> None:
    found, _, _ = tracebuf.bufferize(returned)(X, N)
    assert all(y.base is None and y.flags.writeable for y in found)


def none_appended(x, n):
    out = []
    for k in range(n):
        if x[0] > 100:
            out.append(x * k)
    return np.array(out)


def none_stacked(x, n):
    out = []
    for k in range(n):
        if x[0] > 100:
            out.append(x * k)
    return np.stack(out)


def column_of_none(x, n):
    out = []
    for k in range(n):
        if x[0] > 100:
            out.append(x * k)
    return np.array(out)[:, 0]


@pytest.mark.slow
def test_without_items() -> None:
    agree(none_appended, X, N)
    assert isinstance(agree(none_stacked, X, N), ValueError)
    assert isinstance(agree(column_of_none, X, N), IndexError)


STORED = {
    "in the next iteration": "x = x * 1\nfor k in range(n):\n    x += 1\n    out.append(x)\nreturn np.array(out)",
    "after": "for k in range(n):\n    y = x * k\n    out.append(y)\n    y[0] = 3\nreturn sum(out)",
    "after the loop": "for k in range(n):\n    x = x * 2\n    out.append(x)\nx[0] = 1\nreturn np.array(out)",
    "by a view": "for k in range(n):\n    y = x * k\n    z = y[1:]\n    out.append(y)\n    z[0] = 3\nreturn sum(out)",
    "an argument": "for k in range(n):\n    out.append(x[:2])\nx[0] = 1\nreturn np.array(out)",
    "one of two": "for k in range(n):\n    y = x * k\n    z = x + k\n    w = y if x[0] > k else z\n    out.append(w)\n"
    "    z[0] = 3\nreturn np.array(out)",
    "in the list": "for k in range(n):\n    out.append(x * k)\nout[2][0] = 1\nreturn np.array(out)",
    "in a loop over it": "for k in range(n):\n    out.append(x * k)\nfor y in out:\n    y += 1\nreturn sum(out)",
    "where the loop is tested": "x = x * 1\nwhile np.add(x, 1, out=x)[0] < 40:\n    out.append(x)\nreturn sum(out)",
    "one made before": "y = x * 2\nfor k in range(n):\n    y[0] = k\n    out.append(y)\nreturn np.array(out)",
    "another name's": "y = x * 2\nfor k in range(n):\n    out.append(y)\n    y = y * 2\n    z = y\n    z[0] = 1\n"
    "    y = z\n    y[1] = 0\nz += 1\nreturn np.array(out)",
    "out of an inner loop": "for k in range(n):\n    y = x * k\n    for j in range(k):\n        out.append(y)\n"
    "        y = y * 2\n    y += 1\nreturn np.array(out)",
    "where two change places": "x, y = x * 1, x * 2\nfor k in range(n):\n    y[1:] = x[1:] * 2\n    x, y = y, x\n"
    "    out.append(x)\nreturn np.array(out)",
    "after it changed places": "x, y, z = x * 1, x * 2, x * 3\nfor k in range(n):\n    z[0] = k\n    x, y = y, x\n"
    "    z = x.copy()\n    out.append(z)\nreturn np.array(out)",
}


@pytest.mark.parametrize("what", STORED)
def test_a_store_to_what_a_list_holds_is_refused(what: str) -> None:
    lines = ["out = []", *STORED[what].splitlines()]
    f = program("def f(x, n):\n" + "\n".join("    " + line for line in lines))
    found = refused(f, X, N)
    assert "stored to that may be an item" in found.reason, found


EXCHANGED = {
    "an argument": "y = x.copy()\nfor k in range(n):\n    y[1:-1] = x[:-2] + x[2:] * 0.5\n    x, y = y, x\n"
    "    out.append(x.copy())\nreturn np.array(out), x",
    "arrays of its own": "x, y = x * 1, np.zeros_like(x)\nfor k in range(n):\n    y[1:-1] = x[:-2] + x[2:] * 0.5\n"
    "    x, y = y, x\n    if k % 2:\n        out.append(x.copy())\nreturn out",
    "three": "x, y, z = x * 1, x * 0, np.empty_like(x)\nfor k in range(n):\n    z[:] = x - y * 0.5\n"
    "    x, y, z = y, z, x\n    out.append(y.copy())\nreturn np.array(out)",
    "in a dict": "s = {'u': x * 1, 'v': x * 0}\nfor k in range(n):\n    s['v'][1:-1] = s['u'][:-2] * 0.5\n"
    "    s['u'], s['v'] = s['v'], s['u']\n    out.append(s['u'].copy())\nreturn np.array(out), s['u']",
    "in an inner loop": "x = x * 1\nfor k in range(3):\n    y = np.zeros_like(x)\n    for j in range(n):\n"
    "        y[1:] = x[:-1] * 0.5 + j\n        x, y = y, x\n    out.append(x.copy())\nreturn np.array(out)",
    "the last stored to": "y, c = x * 1, x\nfor k in range(n):\n    y[0] = k\n    x, y = y, x * 1\n"
    "    out.append(x.copy())\nc = y\nc[1] = 7\nreturn np.array(out), c",
    "beside numbers": "y = x.copy()\nfor k in range(n):\n    y[1:-1] = x[:-2] + x[2:] * 0.5\n    x, y = y, x\n"
    "    out.append(x.sum())\nreturn np.array(out), x",
}


@pytest.mark.parametrize("what", EXCHANGED)
@pytest.mark.parametrize("n", slow_but([40], [0, 1, 40]))
@pytest.mark.cases(3)
def test_copies_of_arrays_that_change_places(what: str, n: int) -> None:
    f = program("def f(x, n):\n    out = []\n" + "\n".join("    " + line for line in EXCHANGED[what].splitlines()))
    agree(f, X, n, ulp=8)


def list_and_last(x, n):
    out = []
    for _ in range(n):
        x = x * 1.5
        out.append(x)
    return out, x


def one_twice(x, n):
    out = []
    for _ in range(n):
        out.append(x)
    return out


def read_twice(x, n):
    out = []
    for k in range(n):
        out.append(x * k)
    return out[-1], out[3]


def an_argument(x, n):
    out = [x]
    if x[0] < n:
        out.append(x)
    return out[-1]


def asked(x, n):
    out = []
    for k in range(n):
        y = x * k
        out.append(y)
        if out[-1] is y:
            return 1
    return 2


def two_lists(x, n):
    out = []
    for k in range(n):
        out.append(x * k)
    return out, out[1:]


def lists_in_a_list(x, n):
    out = []
    for k in range(n):
        out.append([k, x[0]])
    return out, out[-1]


@pytest.mark.parametrize("f", [list_and_last, one_twice, read_twice, an_argument, asked, two_lists, lists_in_a_list])
def test_which_object_is_which_is_refused(f: Any) -> None:
    assert "may be" in (found := refused(f, X, N)).reason or "may hold" in found.reason


OTHER = {
    "a list of an array": "for k in range(n):\n    out.append(x)\n    out.append(x[0])\nreturn np.array(out)",
    "changes its length in": "for k in range(n):\n    out.append(np.outer(x, x).T.copy(order='F'))\nreturn out",
    "along another axis": "for k in range(n):\n    out.append(x * k)\nreturn np.stack(out, axis=1)",
}


@pytest.mark.parametrize("reason", OTHER)
def test_refused(reason: str) -> None:
    f = program("def f(x, n):\n    out = []\n" + "\n".join("    " + line for line in OTHER[reason].splitlines()))
    with pytest.raises(UnsupportedError, match=reason):
        tracebuf.bufferize(f)(X, N)


def centers_of(x, k, rounds):
    centers = x[:k].copy()
    for _ in range(rounds):
        distances = np.linalg.norm(x[:, None, :] - centers[None, :, :], axis=2)
        labels = distances.argmin(axis=1)
        new = np.array([x[labels == j].mean(axis=0) if np.any(labels == j) else centers[j] for j in range(k)])
        if np.allclose(new, centers):
            break
        centers = new
    return centers, labels


def offspring(pop, seed, generations):
    rng = np.random.default_rng(seed)
    for _ in range(generations):
        new = []
        for _ in range(len(pop)):
            a, b = rng.integers(0, len(pop), 2)
            cut = rng.integers(1, pop.shape[1])
            parent = pop[a] if pop[a].sum() > pop[b].sum() else pop[b]
            child = np.concatenate([parent[:cut], pop[b][cut:]])
            child[rng.random(len(child)) < 0.1] ^= 1
            new.append(child)
        pop = np.array(new)
    return pop


def columns_by_path(x):
    a = x.T[1] if x[0, 0] > 0 else np.cumsum(x[0])
    b = x[0] if x[0, 0] > 0 else np.array([2.0])
    a[0] = 5
    return a, b, a.sum() * b


@pytest.mark.slow
def test_one_array_or_another_by_the_path() -> None:
    """Arrays of one axis are of one form, wherever the axis is in their memory: the means of clusters, some empty."""
    x = np.random.default_rng(4).normal(size=(12, 3))
    for k in (2, 12):
        agree(centers_of, x, k, 4, ulp=4)
    agree(columns_by_path, abs(x[:3]))
    agree(offspring, (x > 0).astype(int), 3, 3)
    agree(columns_by_path, -abs(x[:3]))


def test_iterating_over_a_known_list_of_lists_of_run_time_length() -> None:
    """zip(rows, a) with such lists in `rows` made the tracer call itself without end."""

    def f(a):
        rows = a.tolist()
        return [x[0] + w for x, w in zip(rows, a[0])], [len(x) for _, x in enumerate(rows)], sum(map(len, rows))

    agree(f, np.arange(6.0).reshape(2, 3))
