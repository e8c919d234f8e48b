"""Of what is read only in slices, the slices are computed (optimize/tensors/compute_slices.py)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.support.agreement import agree
from tests.support.params import one_in
from tracebuf import bufferize, measure
from tracebuf.testing.ladder import climb

A, B = np.random.default_rng(0).random((2, 30, 3))
TABLE, WHERE = np.arange(24.0).reshape(8, 3), np.random.default_rng(1).integers(-8, 8, (9, 30))


def differences(a: Any, b: Any) -> Any:
    d = a[:, None] - b
    return np.sqrt(d[..., 0] ** 2 + d[..., 1] ** 2 + d[..., 2] ** 2)


def rows_of_a_chain(a: Any, b: Any) -> Any:
    d = np.abs(a * 2 - b) + 1
    return d[3] * d[5] - d[6]


def gathered(table: Any, where: Any) -> Any:
    g = table[where]
    return g[..., 0] * 2 + g[..., 2]


def counted(a: Any, b: Any) -> Any:
    d = np.arange(3) * a + b[:, ::-1]
    return (d[:, 2] + d[:, 0]).max()


def columns_of_a_transposed(a: Any, b: Any) -> Any:
    d = a.T + b.T
    return d[:, 4] - d[:, 7]


def in_a_loop(a: Any, b: Any) -> Any:
    for _ in range(3):
        d = a + b
        a[:, 0] += d[:, 1] * d[:, 2]
    return a


SLICED: list[tuple[Callable[..., Any], tuple[Any, ...], int]] = [
    (differences, (A, B), 1), (rows_of_a_chain, (A, B), 1), (gathered, (TABLE, WHERE), 1), (counted, (A, B), 0),
    (columns_of_a_transposed, (A, B), 1), (in_a_loop, (A, B), 0),
]  # fmt: skip


@pytest.mark.parametrize("f, args, arrays", SLICED)
def test_no_array_is_made_that_only_slices_are_read_of(f: Any, args: Any, arrays: int) -> None:
    agree(f, *args)
    assert measure(bufferize(f), *args, repeat=1).native.allocations == arrays


@pytest.mark.slow
@pytest.mark.parametrize("f, args", [(f, args) for f, args, _ in SLICED])
def test_every_rung_agrees(f: Any, args: Any) -> None:
    climb(f, args, again=[tuple(x[:7] if x is not TABLE else x for x in args)])


def used_twice(a: Any, b: Any) -> Any:
    d = a - b
    return d[:, 0] + d[:, 1], d[:, 1] * 2


def returned(a: Any, b: Any) -> Any:
    d = a - b
    return d[:, 0], d[:, 1] * 2


def overlapping(a: Any, b: Any) -> Any:
    d = a - b
    return d[:, 0] + d[:, :2].sum(axis=1)


def of_two_axes(a: Any, b: Any) -> Any:
    d = a - b
    return d[2].sum() + d[:, 1].sum()


def stored_between(a: Any, b: Any) -> Any:
    d = a - b
    a[0] = 7
    return d[:, 0] + d[:, 1]


def in_another_block(a: Any, b: Any) -> Any:
    d, s = a - b, 0.0
    for _ in range(4):
        s += (d[:, 0] * 2).sum()
    return s


def powers_of_a_row(a: Any, b: Any) -> Any:
    d = a ** np.array([2, 3, 2.5])
    return d[:, 0] + d[:, 2]


WHOLE = [used_twice, returned, overlapping, of_two_axes, stored_between, in_another_block, powers_of_a_row]


@pytest.mark.parametrize("f", one_in(2, WHOLE))
@pytest.mark.cases(2)
def test_other_arrays_are_made_as_before(f: Any) -> None:
    """Slices would be computed twice, or be more arrays; a power is another one where the exponent is a number."""
    agree(f, A.copy(), B)
    texts = dict.fromkeys(bufferize(f).lower(A.copy(), B).as_text(name) for name in ("cse", "compute-slices"))
    assert len({text.count("linalg.generic") for text in texts}) == 1


def test_an_index_out_of_bounds_is_an_error_still() -> None:
    def f(table: Any, where: Any) -> Any:
        g = table[where]
        return g[0] + g[1]

    bad = WHERE.copy()
    bad[5, 3] = 8
    for f_ in (f, gathered):
        agree(f_, TABLE, bad)
        agree(f_, TABLE, WHERE)
