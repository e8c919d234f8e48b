"""Halos, margins and what depends on the place, as `f.cut` says them, beside what twenty functions do: arguments are
changed one element at a time, and made the same all along an axis."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.dask import test_places
from tests.support.params import one_in
from tests.support.perturb import check_cut, check_margins
from tracebuf import bufferize
from tracebuf.errors import UnsupportedError

pytest.importorskip("dask.array")

from tracebuf.dask.calls import planned


def box(u):
    out = np.zeros_like(u)
    for i in range(-1, 2):
        for j in range(-1, 2):
            out[1:-1, 1:-1] += u[1 + i : u.shape[0] - 1 + i, 1 + j : u.shape[1] - 1 + j]
    return out / 9


def sobel(u):
    p = np.pad(u, 1, mode="reflect")
    gx = p[:-2, 2:] + 2 * p[1:-1, 2:] + p[2:, 2:] - p[:-2, :-2] - 2 * p[1:-1, :-2] - p[2:, :-2]
    gy = p[2:, :-2] + 2 * p[2:, 1:-1] + p[2:, 2:] - p[:-2, :-2] - 2 * p[:-2, 1:-1] - p[:-2, 2:]
    return np.hypot(gx, gy), np.arctan2(gy, gx)


def life(g):
    n = np.zeros(g.shape, np.int32)
    n[1:-1, 1:-1] = g[:-2, :-2].astype(np.int32) + g[:-2, 1:-1] + g[:-2, 2:] + g[1:-1, :-2]
    n[1:-1, 1:-1] += g[1:-1, 2:].astype(np.int32) + g[2:, :-2] + g[2:, 1:-1] + g[2:, 2:]
    return ((n == 3) | ((g == 1) & (n == 2))).astype(np.uint8)


def dilated(m, n):
    for _ in range(n):
        q = m.copy()
        q[1:] |= m[:-1]
        q[:-1] |= m[1:]
        m = q
    return m


def no_flow(u, n):
    for _ in range(n):
        v = u.copy()
        v[1:-1] += 0.1 * (u[2:] - 2 * u[1:-1] + u[:-2])
        v[0] = v[1]
        v[-1] = v[-2]
        u[:] = v


def robin(u, n):
    for _ in range(n):
        u[1:-1] += 0.2 * (u[2:] - 2 * u[1:-1] + u[:-2])
        u[0] = (4 * u[1] - u[2]) / 3
        u[-1] = (4 * u[-2] - u[-3]) / 3
    return u.max()


def upwind(q, v, dt):
    dq = np.where(v[1:-1] > 0, q[1:-1] - q[:-2], q[2:] - q[1:-1])
    q[1:-1] -= dt * v[1:-1] * dq


def lax_wendroff(q, nu, n):
    for _ in range(n):
        half = 0.5 * (q[1:] + q[:-1]) - 0.5 * nu * (q[1:] - q[:-1])
        q[1:-1] -= nu * (half[1:] - half[:-1])
    return q


def weighted(f):
    a = (2 * f[:-4] - 7 * f[1:-3] + 11 * f[2:-2]) / 6
    c = (2 * f[2:-2] + 5 * f[3:-1] - f[4:]) / 6
    w = 1 / (1e-1 + (f[:-4] - f[2:-2]) ** 2)
    return (w * a + c) / (w + 1)


def shallow(h, u, v, dt, n):
    for _ in range(n):
        u[1:, :] -= dt * (h[1:, :] - h[:-1, :])
        v[:, 1:] -= dt * (h[:, 1:] - h[:, :-1])
        h[:-1, :-1] -= dt * (u[1:, :-1] - u[:-1, :-1] + v[:-1, 1:] - v[:-1, :-1])


def reaction(u, v, n):
    for _ in range(n):
        near = np.roll(u, 1, 0) + np.roll(u, -1, 0) + np.roll(u, 1, 1) + np.roll(u, -1, 1) - 4 * u
        r = u * v * v
        u += 0.16 * near - r
        v += r - 0.1 * v
    return u, v


def leapfrog(u0, u1, n):
    for _ in range(n):
        u2 = np.zeros_like(u1)
        u2[1:-1] = 2 * u1[1:-1] - u0[1:-1] + 0.3 * (u1[2:] - 2 * u1[1:-1] + u1[:-2])
        u0, u1 = u1, u2
    return u1


def staged(u):
    def rate(u):
        r = np.zeros_like(u)
        r[1:-1] = 0.5 * (u[2:] - u[:-2])
        return r

    k1 = rate(u)
    k2 = rate(u + 0.5 * k1)
    return u + 0.1 * (k1 + 2 * k2 + rate(u + k2))


def momentum(p, w):
    return (p[w:] - p[:-w]) / p[:-w]


def slopes(u):
    gx, gy = np.gradient(u)
    return np.sqrt(gx**2 + gy**2)


def highest(x):
    return np.lib.stride_tricks.sliding_window_view(x, 4).max(axis=1)


def diffused(u, n):
    for _ in range(n):
        up, down = np.zeros_like(u), np.zeros_like(u)
        up[1:] = u[:-1] - u[1:]
        down[:-1] = u[1:] - u[:-1]
        u = u + 0.1 * (np.exp(-(up**2)) * up + np.exp(-(down**2)) * down)
    return u


def even_and_odd(u, n):
    for t in range(n):
        if t % 2 == 0:
            u[1:] += 0.1 * u[:-1]
        else:
            u[:-1] += 0.1 * u[1:]


def scores(q, k):
    s = q @ k.T
    s = np.exp(s - s.max(axis=1, keepdims=True))
    return s / s.sum(axis=1, keepdims=True)


def driven(e, h, n):
    for t in range(n):
        h += 0.5 * (e[1:] - e[:-1])
        e[1:-1] += 0.5 * (h[1:] - h[:-1])
        e[0] = np.sin(0.3 * t)


def of(*shapes: tuple[int, ...]) -> list[np.ndarray]:
    rng = np.random.default_rng(5)
    return [rng.random(s) + 0.1 for s in shapes]


LINE, ROWS = of((34,), (19, 16))
CASES: dict[str, tuple[Callable[..., Any], list[Any]]] = {
    f.__name__: (f, args)
    for f, args in (
        (box, [ROWS]), (sobel, [ROWS]), (life, [(ROWS > 0.6).astype(np.uint8)]), (dilated, [LINE > 0.9, 3]),
        (no_flow, [LINE, 3]), (robin, [LINE, 3]), (upwind, [LINE, LINE - 0.5, 0.1]), (lax_wendroff, [LINE, 0.4, 3]),
        (weighted, [LINE]), (shallow, [*of(*[(19, 16)] * 3), 0.1, 3]), (reaction, [*of((19, 16), (19, 16)), 2]),
        (leapfrog, [*of((34,), (34,)), 3]), (staged, [LINE]), (momentum, [LINE, 4]), (slopes, [ROWS]),
        (highest, [LINE]), (diffused, [LINE, 3]), (even_and_odd, [LINE, 3]), (scores, of((19, 5), (16, 5))),
        (driven, [*of((35,), (34,)), 3]),
    )
}  # fmt: skip


@pytest.mark.parametrize("name", one_in(4, CASES))
def test_a_halo_is_what_is_read(name: str) -> None:
    f, args = CASES[name]
    check_cut(bufferize(f), copy.deepcopy(args))


@pytest.mark.parametrize("name", one_in(2, CASES))
def test_between_the_margins_places_are_alike(name: str) -> None:
    f, args = CASES[name]
    check_margins(bufferize(f), copy.deepcopy(args))


def by_turns(u):
    i, j = np.arange(u.shape[0])[:, None], np.arange(u.shape[1])[None, :]
    return np.where((i + j) % 2 == 0, u, 0)


PLACED = {f.__name__: f for f in (*test_places.FUNCTIONS, by_turns) if f is not test_places.firsts}  # which is short


@pytest.mark.parametrize("name", one_in(3, PLACED))
def test_places_are_said_where_chunks_are_told_them(name: str) -> None:
    """Where `distribute` cuts an axis, so does `f.cut`, which says that parts have to know where they begin."""
    import dask.array as da

    f = bufferize(PLACED[name])
    x = test_places.given(PLACED[name])
    found = f.cut(x)
    (axes,) = found.arguments.values()
    for k, axis in enumerate(axes):
        chunks = tuple(7 if k == n else -1 for n in range(x.ndim))
        assert planned(f, (da.from_array(x, chunks=chunks),), {}, None, None).grids
        assert axis.kind != "whole", axis
    assert any(a.by_place and str(a).endswith(", by place") and a.to_dict()["by_place"] for a in axes)
    check_cut(f, [x], rims=False)


def test_what_is_read_backwards_has_no_parts() -> None:
    with pytest.raises(UnsupportedError, match="a step of -1"):
        bufferize(lambda x: x[::-1] * 2).cut(LINE)
    found = bufferize(lambda x: x[:, ::-1] * 2).cut(ROWS)
    assert [a.kind for a in found.results["result"]] == ["independent", "whole"]
