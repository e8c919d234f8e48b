"""Lists of arrays of one axis, each of a length of its own: an item is the number of a list of elements."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.support.agreement import agree, program, refused
from tests.support.params import slow_but, some
from tracebuf import bufferize

GROWN = """
    parts = []
    for k in range(len(v)):
        if v[k] > 4:
            parts.append(v[v < v[k]])
"""
USES = {
    "returned": "parts",
    "lengths": "[len(p) for p in parts], len(parts)",
    "sums": "[p.sum() for p in parts], sum(len(p) for p in parts)",
    "joined": "np.concatenate(parts), np.hstack(parts)",
    "array": "np.array(parts)",
    "item": "parts[len(parts) // 2]",
    "items read": "parts[-1].sum(), parts[0].size, parts[int(v[0])][0]",
    "longest": "max(parts, key=len)",
    "in order": "[p.size for p in sorted(parts, key=len)], [p.size for p in parts[::-1]]",
    "part": "[p.sum() for p in parts[1:3]], len(parts + parts)",
    "pop": "parts.pop().sum(), parts.pop(0).sum(), len(parts)",
    "pairs": "sum(k * p.sum() for k, p in enumerate(parts))",
    "same": "parts[0] is parts[0]",
    "twice": "parts, parts[0]",
    "repeated": "parts * 2",
}


@pytest.mark.parametrize("name", slow_but(("joined",), USES))
@pytest.mark.slow
def test_what_is_done_with_arrays_that_data_select(name: str) -> None:
    f = bufferize(program(f"def f(v):{GROWN}    return {USES[name]}", np=np))
    for v in (np.arange(9.0), np.arange(9, dtype=np.int32)[::-1], np.zeros(3), np.array([7.0])):
        try:
            agree(f, v)
        except AssertionError:
            assert name in ("twice", "repeated", "same", "array")  # which object it is; whether it is of float64
            refused(f, v)


@pytest.mark.slow
def test_one_length_that_only_the_run_time_knows() -> None:
    def f(v):
        parts = []
        for k in range(len(v)):
            parts.append(v[v > -k - 1])
        return np.array(parts), np.vstack(parts), np.stack(parts)

    agree(f, np.arange(5.0))


@pytest.mark.slow
def test_stretches_of_an_argument() -> None:
    def runs(v):
        found = []
        start = 0
        for i in range(1, len(v) + 1):
            if i == len(v) or (v[i] > 5) != (v[i - 1] > 5):
                found.append(v[start:i])
                start = i
        return [r.mean() for r in found], max(len(r) for r in found)

    for v in ([1.0, 7, 8, 2, 3, 9], [1.0], [7.0, 8]):
        agree(runs, np.array(v))


@pytest.mark.slow
def test_neighbours_by_a_run_time_index() -> None:
    def cluster(x, eps):
        near = [np.where(np.abs(x - x[i]) <= eps)[0] for i in range(len(x))]
        labels = np.full(len(x), -1)
        label = 0
        for i in range(len(x)):
            if labels[i] != -1 or len(near[i]) < 2:
                continue
            stack = [i]
            while stack:
                j = stack.pop()
                if labels[j] == -1:
                    labels[j] = label
                    for k in near[j]:
                        if labels[k] == -1:
                            stack.append(k)
            label += 1
        return labels, label

    g = bufferize(cluster)
    for n in (6, 40):
        agree(g, np.random.default_rng(n).random(n) * n, 1.0)


@pytest.mark.slow
def test_groups_by_labels_that_data_have() -> None:
    def f(v, labels):
        groups = [v[labels == g] for g in np.unique(labels)]
        return max(groups, key=len), [len(g) for g in groups]

    agree(f, np.arange(6.0), np.array([1, 0, 1, 4, 1, 0]))


@pytest.mark.slow
def test_an_item_that_is_a_view_is_returned_alone() -> None:
    def f(x, k):
        near = [np.argsort(np.abs(x - v), kind="stable")[1 : k + 1] for v in x]
        degree = np.zeros(len(x), int)
        for found in near:
            degree[found] += 1
        return degree, near[int(np.argmax(degree))]

    def worst(x, labels):
        found = {}
        for g in np.unique(labels):
            rows = np.outer(x[labels == g], x[:2])
            found[int(g)] = {"mean": rows.mean(), "worst": rows[rows[:, 1].argmax()]}
        best = max(found, key=lambda g: found[g]["mean"])
        return best, found[best]["worst"]

    agree(f, np.array([1.0, 5.0, 2.0, 9.0]), 2)
    agree(worst, np.arange(1, 7.0), np.array([1, 0, 1, 4, 1, 0]))

    def two(x, k):
        near = [(x * v)[1 : k + 1] for v in x]
        return near[k], near[int(x[0])]

    def part(x, k):
        near = []
        for _ in range(k):
            near.append(x[1:k])
        return near[int(x[0])]

    def strided(x, k):
        near = [(x * v)[::2] for v in x]
        return near[int(x[0])]

    for f in (two, part, strided):
        try:
            agree(f, np.array([1.0, 5.0, 2.0, 9.0]), 2)
        except AssertionError:
            refused(f, np.array([1.0, 5.0, 2.0, 9.0]), 2)


def test_parts_of_tuples_and_of_objects() -> None:
    class Parts:
        def __init__(self) -> None:
            self.held: list[Any] = []

        def add(self, k, p):
            self.held.append((k, p, k * 0.5))

    def f(v):
        parts = Parts()
        for k in range(5):
            parts.add(k, v[v > k])
        return sum(w * p.sum() for _, p, w in parts.held), parts.held[2][1]

    agree(f, np.arange(8.0))


@pytest.mark.slow
def test_by_the_path_and_in_a_function() -> None:
    def put(out, v, k):
        if v[k] > 5:
            out.append(v[v > 5])
        elif v[k] > 2:
            out.append(v)
        else:
            out.append(np.zeros(3, v.dtype))
        return len(out[-1])

    def f(v):
        out = []
        total = 0
        for k in range(len(v)):
            total += put(out, v, k)
        return total, [p.sum() for p in out]

    for v in ([1.0, 7, 3, 9], [1.0], []):
        agree(f, np.array(v))


@pytest.mark.slow
def test_a_store_that_an_item_would_show_is_refused() -> None:
    def source(v):
        parts = []
        for k in range(len(v)):
            parts.append(v[:k])
        v[0] = 100
        return [p.sum() for p in parts]

    def kept(v):
        x = v[v > 2]
        parts = []
        for _ in range(len(v)):
            parts.append(x)
        x[0] = 100
        return [p.sum() for p in parts]

    def item(v):
        parts = []
        for k in range(len(v)):
            parts.append(v[v > k])
        for p in parts:
            p += 1
        return parts

    for f in (source, kept, item):
        refused(f, np.arange(150.0))
        agree(f, np.arange(5.0))  # one by one


def test_other_dtypes_and_other_axes_of_any_length_are_refused() -> None:
    def dtypes(v):
        parts = []
        for k in range(len(v)):
            parts.append(v[v > 5] if v[k] > 5 else np.flatnonzero(v > 2))
        return [p.sum() for p in parts]

    def axes(v):
        m = np.outer(v, v)
        parts = []
        for k in range(len(v)):
            parts.append(m[:, v > v[k]])
        return [p.sum() for p in parts]

    for f in (dtypes, axes):
        refused(f, np.arange(150.0))


@pytest.mark.slow
def test_a_comprehension_of_many() -> None:
    """One by one they were more operations than are traced."""

    def f(v, k):
        parts = [v[v < x] for x in v]
        return parts[-1], parts[k].sum(), len(parts)

    agree(f, np.arange(150.0), 77)


ROWS = """
    parts, d = [], {}
    for k in np.unique(labels):
        parts.append(x[labels == k])
        d[int(k)] = x[labels == k]
"""
USES_OF_ROWS = {
    "returned": "parts",
    "dict": "d",
    "means": "[p.mean(axis=0) for p in parts], np.array([p.mean(axis=0) for p in parts])",
    "joined": "np.concatenate(parts), np.vstack(parts), len(parts)",
    "item": "parts[len(parts) // 2]",
    "read": "parts[-1].sum(), parts[0].shape, [p[0].copy() for p in parts]",
    "longest": "max(parts, key=len)",
    "values": "[p.sum() for p in d.values()], sorted((k, len(p)) for k, p in d.items())",
}


@pytest.mark.parametrize("name", slow_but(("joined",), USES_OF_ROWS))
@pytest.mark.slow
def test_rows_that_data_select(name: str) -> None:
    f = bufferize(program(f"def f(x, labels):{ROWS}    return {USES_OF_ROWS[name]}", np=np))
    labels = np.array([0, 1, 2, 1, 0, 3, 2])
    for x in some(3, (np.arange(14.0).reshape(7, 2), np.arange(42, dtype=np.int32).reshape(7, 2, 3), np.ones((7, 0)))):
        agree(f, x, labels)
        agree(f, x[:1], labels[:1])


@pytest.mark.slow
def test_segments_of_rows() -> None:
    def f(x, t):
        segments, start = [], 0
        for i in range(1, len(t)):
            if t[i] - t[i - 1] > 1:
                segments.append(x[start:i])
                start = i
        segments.append(x[start:])
        return [s.sum(axis=0) for s in segments if len(s) > 1], np.vstack(segments)

    for t in ([0, 1, 2, 4, 5, 9], [0], [1, 3, 5]):
        agree(f, np.arange(2.0 * len(t)).reshape(-1, 2), np.array(t))


def gaps(x):
    return np.split(x, np.where(np.abs(np.diff(x)) > 1)[0] + 1)


@pytest.mark.slow
def test_splits_at_places_that_data_select() -> None:
    def means(x):
        parts = gaps(x)
        return [p.mean() for p in parts], max(len(p) for p in parts)

    def of_rows(x):
        y = x.reshape(-1, 2)
        return [p.sum(axis=0) for p in np.array_split(y, np.flatnonzero(y[:, 0] > 0))]

    for x in ([0.0, 0.5, 3, 3.5, 3.75, 9], [1.0, 1.5], [-1.0, 5]):
        agree(means, np.array(x))
        agree(of_rows, np.array(x))
