"""Programs with lists that grow: searches, events, histories, intervals, tables."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.support.agreement import agree
from tests.support.params import one_in
from tracebuf import Options
from tracebuf.testing.ladder import climb

X = np.random.default_rng(7).normal(size=24)
N = 12
STRATEGIES = (Options(verify=True), Options(heuristic="fuzzer", seed=1), Options(strategy="copy-before-write"))
Peak = namedtuple("Peak", "place height width")


def peaks_by_height(x, n):
    found = []
    for k in range(1, len(x) - 1):
        if x[k - 1] < x[k] >= x[k + 1]:
            width = 1
            while k + width < len(x) and x[k + width] > x[k] / 2:
                width += 1
            found.append(Peak(k, x[k], width))
    found.sort(key=lambda p: p.height, reverse=True)
    return found[:n], sum(p.width for p in found), [p.place for p in found]


def shortest_path(x, n):
    """Dijkstra on a grid, with a list as the queue."""
    size = 5
    cost = np.abs(x[: size * size - 1].sum()) + np.arange(size * size).reshape(size, size) * 7 % 5
    best = np.full((size, size), np.inf)
    best[0, 0] = 0.0
    queue = [(0.0, 0, 0)]
    while queue:
        queue.sort()
        d, r, c = queue.pop(0)
        if d > best[r, c]:
            continue
        for dr, dc in ((1, 0), (-1, 0), (0, 1), (0, -1)):
            i, j = r + dr, c + dc
            if 0 <= i < size and 0 <= j < size and d + float(cost[i, j]) < best[i, j]:
                best[i, j] = d + float(cost[i, j])
                queue.append((d + float(cost[i, j]), i, j))
    return best


def flood_filled(x, n):
    image = (np.outer(x[:n], x[:n]) > 0).astype(int)
    labels = np.zeros_like(image)
    count = 0
    for r in range(n):
        for c in range(n):
            if image[r, c] and labels[r, c] == 0:
                count += 1
                labels[r, c] = count
                stack = [(r, c)]
                while stack:
                    i, j = stack.pop()
                    for p, q in ((i + 1, j), (i - 1, j), (i, j + 1), (i, j - 1)):
                        if 0 <= p < n and 0 <= q < n and image[p, q] and labels[p, q] == 0:
                            labels[p, q] = count
                            stack.append((p, q))
    return labels, count


def runs_of_signs(x, n):
    runs = []
    start = 0
    for k in range(1, len(x)):
        if (x[k] > 0) != (x[start] > 0):
            runs.append((start, k - start))
            start = k
    runs.append((start, len(x) - start))
    lengths = np.array([length for _, length in runs])
    return runs, lengths.max(), np.array(runs)


def merged_intervals(x, n):
    spans = []
    for k in range(len(x)):
        spans.append((x[k], x[k] + 0.1 * (k % 3)))
    spans.sort()
    merged = [spans[0]]
    for lo, hi in spans[1:]:
        last = merged[-1]
        if lo <= last[1]:
            merged[-1] = (last[0], hi if hi > last[1] else last[1])
        else:
            merged.append((lo, hi))
    return merged, sum(hi - lo for lo, hi in merged)


def heat_history(x, n):
    u = x.copy()
    history, energies = [u.copy()], []
    for _ in range(n):
        u[1:-1] = u[1:-1] + 0.2 * (u[2:] - 2 * u[1:-1] + u[:-2])
        history.append(u.copy())
        energies.append((u * u).sum())
    return np.array(history), np.array(energies), u


def runge_kutta(x, n):
    def rate(y):
        return -y + 0.1 * np.roll(y, 1)

    y, h = x, 0.05
    ts, ys = [0.0], [x]
    for k in range(n):
        k1 = rate(y)
        k2 = rate(y + h / 2 * k1)
        k3 = rate(y + h / 2 * k2)
        k4 = rate(y + h * k3)
        y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        ts.append((k + 1) * h)
        ys.append(y)
    ts, ys = np.array(ts), np.stack(ys)
    return ts, ys[:, 0], ys[-1] - ys[0]


def power_iterates(x, n):
    a = np.outer(x, x) + np.diag(np.arange(len(x)) + 1.0)
    v, steps = np.ones(len(x)), []
    while len(steps) < n:
        w = a @ v
        v = w / np.sqrt((w * w).sum())
        steps.append((len(steps), v @ (a @ v)))
        if len(steps) > 1 and abs(steps[-1][1] - steps[-2][1]) < 1e-9:
            break
    return v, steps, np.array(steps)[:, 1]


def ring_of_last(x, n):
    last, means = [], []
    for v in x:
        last.append(v)
        if len(last) > 4:
            last.pop(0)
        means.append(sum(last) / len(last))
    return np.array(means), last


def sliding_windows(x, n):
    rows, centres, weights = [], [], np.array([0.1, 0.2, 0.4, 0.2, 0.1])
    for k in range(len(x) - 4):
        window = x[k : k + 5] * weights
        rows.append(window)
        centres.append(k + 2)
    table = np.vstack(rows)
    return table, table.mean(axis=0), sum(rows), centres


def polygon_clipped(x, n):
    points = []
    for k in range(n):
        points.append((np.cos(k), np.sin(k)))
    kept = []
    for k in range(len(points)):
        (x0, y0), (x1, y1) = points[k - 1], points[k]
        if x0 * x1 < 0:
            t = x0 / (x0 - x1)
            kept.append((x0 + t * (x1 - x0), y0 + t * (y1 - y0)))
        if x1 >= 0:
            kept.append((x1, y1))
    corners = np.array(kept)
    area = 0.0
    for (a, b), (c, d) in zip(kept, kept[1:]):
        area += a * d - b * c
    return corners, area / 2


def events_by_time(x, n):
    events = []
    for k, v in enumerate(x):
        events.append((abs(v), k, v > 0))
    total, log = 0.0, []
    for time, k, rises in sorted(events):
        total += time if rises else -time
        log.append([time, total])
        if len(log) >= n:
            break
    return np.array(log), total, max(events)[1], min(events, key=lambda e: e[1])[0]


def bins(x, n):
    counts, members = [0] * 5, []
    for v in x:
        k = min(4, max(0, int(v + 2)))
        counts[k] += 1
        members.append((k, v))
    members.sort(key=lambda m: m[0])
    return counts, [v for k, v in members if k == 2], members[0], members[-1]


def quantiles_by_heap(x, n):
    heap = []
    for v in x:
        heap.append(v)
        k = len(heap) - 1
        while k > 0 and heap[(k - 1) // 2] > heap[k]:
            heap[k], heap[(k - 1) // 2] = heap[(k - 1) // 2], heap[k]
            k = (k - 1) // 2
    return heap, heap[0], heap == sorted(heap), list(reversed(heap))[:n]


PROGRAMS: tuple[Callable[..., Any], ...] = (
    peaks_by_height, shortest_path, flood_filled, runs_of_signs, merged_intervals, heat_history, runge_kutta,
    power_iterates, ring_of_last, sliding_windows, polygon_clipped, events_by_time, bins, quantiles_by_heap,
)  # fmt: skip


@pytest.mark.parametrize("f", one_in(2, PROGRAMS), ids=lambda f: f.__name__)
@pytest.mark.cases(9)
def test_programs_of_lists(f: Callable[..., Any]) -> None:
    agree(f, X, N, ulp=8)


@pytest.mark.slow
@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_programs_of_lists_climb_the_ladder(f: Callable[..., Any]) -> None:
    climb(f, (X, N), strategies=STRATEGIES, tolerance=1e-12)
