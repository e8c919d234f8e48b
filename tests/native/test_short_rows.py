"""Rows of a few elements: folds without vectors or blocks to set up, and extremes that are found one by one."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from tests.support.agreement import agree, program
from tests.support.params import one_in, slow_but
from tracebuf import bufferize
from tracebuf.backend.llvm.host_calls import SHORT_ROW
from tracebuf.backend.llvm.loops import FEW

LENGTHS = (1, 2, 3, 7, 8, 9, FEW - 1, FEW, FEW + 1, 40)
SPECIAL = np.array([np.nan, -np.nan, 0.0, -0.0, np.inf, -np.inf, 1.5, -1.5, 1e-310, -1e-310])
FOLDS = {
    "sum": lambda x, c: x.sum(-1), "products": lambda x, c: (x * c).sum(1), "max": lambda x, c: x.max(1),
    "fmin": lambda x, c: np.fmin.reduce(x, axis=-1), "distances": lambda x, c: ((x[:, None] - c[:7]) ** 2).sum(axis=2),
    "mean": lambda x, c: x.mean(1), "two axes": lambda x, c: (x[:, None] * c).sum((1, 2)),
    "kept": lambda x, c: np.sum(x, axis=1, keepdims=True) * c, "another axis": lambda x, c: (x.T + c.T).sum(0),
    "norms": lambda x, c: np.linalg.norm(x - c, axis=1), "product": lambda x, c: x.prod(1),
    "of bools": lambda x, c: (x > c).sum(1),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("dtype", slow_but("d", "fdDi"))
@pytest.mark.parametrize("name", FOLDS)
@pytest.mark.cases(18)
def test_folds_of_short_rows(name: str, dtype: str) -> None:
    if dtype == "D" and name in ("max", "fmin", "of bools"):
        pytest.skip("complex numbers are compared by two parts")
    f, r = FOLDS[name], np.random.default_rng(0)
    g, rounding = bufferize(f), 1e-5 if dtype == "f" else 1e-12
    for n in LENGTHS:
        x, c = (r.normal(size=(2, 15, 2 * n)) * 9).astype(dtype)
        for k in (slice(n), slice(None, None, -2)):
            np.testing.assert_allclose(g(x[:, k], c[:, k]), f(x[:, k], c[:, k]), rounding, 100 * rounding, strict=True)
    if dtype != "i":
        x[3, ::2], x[4, 1::2] = np.nan, np.inf
        np.testing.assert_allclose(g(x[:, :5], c[:, :5]), f(x[:, :5], c[:, :5]), rounding, 100 * rounding)


@pytest.mark.parametrize("dtype", slow_but("fd", "efdhH?"))
@pytest.mark.parametrize("name", ["argmax", "argmin"])
def test_extremes_of_short_rows(name: str, dtype: str) -> None:
    """The first NaN, else the first of the best; zeros of both signs are equal."""

    def f(x: Any) -> Any:
        return getattr(np, name)(x, axis=-1), getattr(np, name)(x[0])

    g, r = bufferize(f), np.random.default_rng(1)
    for n in (*LENGTHS, SHORT_ROW, SHORT_ROW + 1):
        with np.errstate(all="ignore"):
            x = r.choice(SPECIAL, (200, 2 * n)).astype(dtype)
            y = r.choice(SPECIAL[2:], (200, 2 * n)).astype(dtype)
            z = r.choice(SPECIAL[2:4], (20, 2 * n)).astype(dtype)
        for a in (x, y, z):
            for part in (a[:, :n].copy(), a[:, ::-2]):
                for ours, eager in zip(g(part), f(part), strict=True):
                    np.testing.assert_array_equal(ours, eager, strict=True)


def test_a_short_row_is_one_loop() -> None:
    """Per row there is one test of its length; behind it neither the levels of a pairwise sum nor vectors."""
    text = bufferize(lambda x: x.sum(1)).lower(np.ones((3, 2))).as_text("llvm")
    few = re.search(rf"icmp sle i64 %p\d+, {FEW}\n  br i1 %v\d+, label %(b\d+)", text)
    assert few is not None
    loop = text[text.index(f"\n{few[1]}:") :].partition("store double")[0]
    assert loop.count("fadd reassoc double") == 1


def test_numbers_of_short_rows_are_ranked_without_branches() -> None:
    text = bufferize(lambda x: x.argmin(1)).lower(np.ones((3, 2))).as_text("llvm")
    assert text.count("!unpredictable") == 2


BEGUN = {
    "rows": "x.sum(axis=1)", "a start": "x.sum(axis=-1, initial=2.5)", "means": "x.mean(axis=1, keepdims=True)",
    "all": "x.sum()", "products": "(x * x[0]).sum(1)", "variances": "x.var(axis=1)", "columns": "x.T.sum(axis=0)",
}  # fmt: skip
FILLED = {
    "rows one after another": "x.sum(axis=0)", "extremes": "x.max(axis=1)", "counts": "(x > 0).sum(axis=1)",
    "three axes": "x.reshape(3, -1, 5).sum(axis=(0, 2))",
}  # fmt: skip


@pytest.mark.parametrize("name", one_in(4, [*BEGUN, *FILLED]))
@pytest.mark.slow
def test_sums_begin_where_they_are_stored(name: str) -> None:
    """Each out was filled with zeros, in a sweep of its own, before sums were added."""
    f = bufferize(program(f"def f(x): return {(BEGUN | FILLED)[name]}"))
    r = np.random.default_rng(0)
    for shape in ((6, 10), (15, 5), (3, 1000), (3, 0), (0, 5)):
        x = r.normal(size=shape) + 9
        if x.size or name not in ("extremes", "three axes", "means", "variances"):
            for dtype in "dfD" if name != "extremes" else "df":
                agree(f, x.astype(dtype), ulp=100)
    text = f.lower(np.ones((3, 20))).as_text("loops")
    assert ("linalg.fill" in text) == (name in FILLED), text
