"""Ops of MLIR text on values, on memory and natively, against NumPy: tensors made of scalars, reshapes, constants,
selects, parallel stores, named linalg ops."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest

from tests.support.params import one_in
from tracebuf import mlir
from tracebuf.errors import DecisionError, UnsupportedError
from tracebuf.ir.func import Module
from tracebuf.options import OneShotOptions

Compat = Literal["mlir"] | None
X = np.arange(1.0, 7.0)
W = np.arange(12.0).reshape(4, 3)
IMAGE = np.arange(144.0).reshape(1, 9, 8, 2)


@cache
def module() -> Module:
    return mlir.read((Path(__file__).parent / "made.mlir").read_text())


def by_distance(x: np.ndarray, n: int) -> list[Any]:
    return [x[None, :n] - x[:n, None], np.array([0, 1, 4])]


def padded(x: np.ndarray, v: float, n: int) -> list[Any]:
    second = np.add.outer(np.arange(len(x) + 1.0), np.arange(5.0))
    second[: len(x), 1:4] = x
    return [np.pad(x, [(1, n), (n, 0)], constant_values=v), second]


def reshaped(x: np.ndarray, s: np.ndarray, v: float, i: int) -> list[Any]:
    found = x.reshape(s).copy()
    found[i, i] = v
    return [found, x]


def stored(x: np.ndarray, i: int, v: float) -> np.ndarray:
    found = x.copy()
    found[i] = v
    return found


def named(x: np.ndarray, y: np.ndarray, v: float) -> list[Any]:
    powers = np.exp(x - x.max(axis=1, keepdims=True))
    return [x.T, np.maximum(1, x.max(axis=1)), x * v, v + x @ y, powers / powers.sum(axis=1, keepdims=True)]


def constants(v: float, i: int) -> list[Any]:
    table = np.array([[1.5, -2], [np.inf, 3]], np.float32)
    table[i, i] = v
    rest = [np.array([1, -128, 127], np.int8), np.array([True, False]), np.full(4, 0.25), np.full(2, 3, np.float32)]
    return [table, *rest]


def convolved(x: np.ndarray, k: np.ndarray, o: np.ndarray) -> list[Any]:
    """Strides 2 and 1, dilations 1 and 2."""
    parts = [
        x[:, i : i + 7 : 2, 2 * j : 2 * j + 4, :] @ k[i, j] for i in range(3) for j in range(3)
    ]  # fmt: skip
    return [o + sum(parts)]


PROGRAMS: dict[str, tuple[tuple[Any, ...], Callable[..., list[Any]]]] = {
    "elements": (
        (1.5, 2.5, 0),
        lambda a, b, i: [np.array([[a, b], [b, a]]), np.array(b), stored(np.array([a, b]), i, b)],
    ),
    "splat": ((2.5, 2, 0), lambda a, n, m: [np.full((n, 3, m), a, np.float32)]),
    "generate": ((X, 4), by_distance),
    "pad": ((W, -1.0, 2), padded),
    "concat": ((W, W[:2] + 50), lambda x, y: [np.concatenate([x, y, x]), np.concatenate([y, y], axis=1)]),
    "reshape": ((X, np.array([3, 2]), 9.0, 1), reshaped),
    "scratch": ((X, 9.0, 2, 3), lambda x, v, i, n: [stored(x, i, v), np.full(n, v), x]),
    "select": ((True, np.arange(8.0), -np.arange(4.0), 9.0, 2), lambda p, x, y, v, i: [stored(x[1::2], i, v), x]),
    "constants": ((7.0, 1), constants),
    "forall": ((np.arange(8.0),), lambda x: [x * x]),
    "gather": ((W.T.copy(), np.array([2, 0, 2]), np.ones((3, 4))), lambda t, r, o: [t[r] + o]),
    "conv": ((IMAGE, np.arange(72.0).reshape(3, 3, 2, 4), np.ones((1, 4, 4, 4))), convolved),
    "stencil": ((X, np.zeros(4), np.array([1.0, -2, 1])), lambda x, o, w: [x[:-2] - 2 * x[1:-1] + x[2:]]),
    "map_that_adds": ((X[:4], X[1:5]), lambda x, y: [x + y]),
    "named": ((W.T.copy(), W + 1, 2.0), named),
}  # fmt: skip


@pytest.mark.parametrize("compat", one_in(4, ["mlir", None]))
@pytest.mark.parametrize("name", one_in(8, PROGRAMS))
def test_on_values_on_memory_and_natively(name: str, compat: Compat) -> None:
    args, expected = PROGRAMS[name]
    options = OneShotOptions(
        bufferize_function_boundaries=True, allow_return_allocs_from_loops=True, compat=compat,
        analysis_heuristic="bottom-up",
    )  # fmt: skip
    program = mlir.program(module(), name, options)

    def fresh() -> list[Any]:
        return [a.copy() if isinstance(a, np.ndarray) else a for a in args]

    wanted = expected(*fresh())
    for run in (program.on_values, lambda *a: program.on_memory(*a).results, program):
        for found, value in zip(run(*fresh()), wanted, strict=True):
            assert np.asarray(found).dtype == np.asarray(value).dtype
            np.testing.assert_allclose(found, value, rtol=1e-14)


def test_the_other_side_of_a_select() -> None:
    program = mlir.program(module(), "select")
    y = -np.arange(4.0)
    for run in (program.on_values, lambda *a: program.on_memory(*a).results, program):
        found, x = run(False, np.arange(8.0), y.copy(), 9.0, 2)
        np.testing.assert_array_equal(found, stored(y, 2, 9.0))
        np.testing.assert_array_equal(x, np.arange(8.0))


def test_a_shape_that_does_not_fit_is_an_error() -> None:
    program = mlir.program(module(), "reshape")
    for shape in ([4, 2], [-3, -2], [6, 0]):
        for run in (program.on_memory, program):
            with pytest.raises(ValueError, match="a reshape to sizes that do not fit"):
                run(X.copy(), np.array(shape), 9.0, 0)


@pytest.mark.slow
def test_what_mlir_decides_wrongly_is_not_run() -> None:
    """MLIR takes it that linalg.map never reads its destination, and that an iteration sees what another one stored."""
    options = OneShotOptions(bufferize_function_boundaries=True, analysis_heuristic="bottom-up")
    with pytest.raises(DecisionError, match="MLIR decides what would change the results"):
        mlir.program(module(), "map_of_the_old", options)
    p = mlir.program(module(), "map_of_the_old")
    for run in (p.on_values, lambda *a: p.on_memory(*a).results, p):
        found, total = run(X[:4].copy(), X[1:5].copy(), 9.0, 0)
        assert found == 9
        np.testing.assert_array_equal(total, X[:4] + X[1:5])
    with pytest.raises(UnsupportedError, match="extract_slice looks at a result of scf.forall that other iterations"):
        mlir.program(module(), "other_place")


def test_a_gather_out_of_bounds_is_an_error() -> None:
    program = mlir.program(module(), "gather")
    for run in (program.on_memory, program):
        with pytest.raises(IndexError):
            run(W.T.copy(), np.array([0, 3, 1]), np.ones((3, 4)))
