"""Calls of NumPy's loops on rows of few elements: several rows are one block (backend/llvm/loops)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.support.agreement import agree
from tests.support.params import slow_but
from tracebuf import bufferize
from tracebuf.backend.llvm.loops import SHORT
from tracebuf.lower.plan import BLOCK


def into_itself(a: Any, b: Any, c: Any) -> Any:
    a[:, :] = np.exp(a * c[: a.shape[1]])
    return a


def chosen(a: Any, b: Any, c: Any) -> Any:
    s = a + c[: a.shape[1]]
    return np.where(s > 1, np.sqrt(np.abs(s)), np.sin(s) - b[: len(a), None])


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "one row for all": lambda a, b, c: np.exp(a - c[: a.shape[1]]),
    "one element for a row": lambda a, b, c: np.abs(b[: len(a), None] * 1j - c[: a.shape[1]]),
    "part of the columns": lambda a, b, c: np.sin(a[:, ::2]),
    "columns from behind": lambda a, b, c: np.cos(a[:, ::-1]) + c[: a.shape[1]],
    "into part of the columns": lambda a, b, c: np.tanh(a[:, 1:], out=a[:, 1:]),
    "into itself": into_itself,
    "stages": lambda a, b, c: np.exp(-(np.sin(a + c[: a.shape[1]]) ** 2)) * a + np.log(np.abs(a) + 2),
    "two operands": lambda a, b, c: np.power(np.abs(a), np.abs(c[: a.shape[1]]) + 0.5),
    "a base for a row": lambda a, b, c: np.power(np.abs(b[: len(a), None]), c[: a.shape[1]]),
    "chosen": chosen,
    "transposed": lambda a, b, c: np.exp(a.T + b[: len(a)]),
    "indices": lambda a, b, c: np.sin(np.indices(a.shape)[0] * 0.5 + np.arange(a.shape[1]) * a),
    "three axes": lambda a, b, c: np.exp(a[:, None, :] + b[:3, None] * c[: a.shape[1]]),
    "float32": lambda a, b, c: np.exp((a + c[: a.shape[1]]).astype(np.float32)),
    "an operand of two calls": lambda a, b, c: np.divmod((c[: a.shape[1]] * 9).astype(int), a),
    "two results": lambda a, b, c: np.modf(a + c[: a.shape[1]]),
}
SIZES = [(300, 3), (0, 3), (3, 0), (1, 1), (2, 1), (BLOCK, 2), (BLOCK + 1, 1), (171, 3), (50, SHORT), (50, SHORT + 1)]
SIZES += [(7, BLOCK), (7, BLOCK + 3), (2, 3 * BLOCK), (1000, 7)]


@pytest.mark.parametrize("name", slow_but(("one row for all", "chosen"), FUNCTIONS))
def test_rows_of_all_lengths(name: str) -> None:
    """One program for all sizes: short rows, rows of a block, longer ones."""
    f, r = FUNCTIONS[name], np.random.default_rng(0)
    g = bufferize(f)
    b, c = r.normal(size=1000), r.normal(size=3 * BLOCK)
    for m, n in SIZES:
        a = r.normal(size=(m, n))
        x, y = a.copy(), a.copy()
        wanted, found = f(x, b, c), g(y, b, c)
        for w, v in zip(*((z,) if isinstance(z, np.ndarray) else z for z in (wanted, found)), strict=True):
            assert (v.dtype, v.shape, v.tobytes()) == (w.dtype, w.shape, w.tobytes()), (m, n)
        assert x.tobytes() == y.tobytes()


@pytest.mark.parametrize("n", [1, 2, 3, SHORT, SHORT + 1, BLOCK])
@pytest.mark.slow
def test_rows_whose_length_is_known(n: int) -> None:
    """As in `np.empty((len(x), 3))`: only one form of the loops is written."""

    def f(x: Any) -> Any:
        out = np.zeros((len(x), n))
        out[:, :] = np.exp(x[:, None] * np.arange(n) / n)
        return out, np.cos(out[:, : max(n - 1, 1)])

    agree(f, np.linspace(-2, 1, 400))
