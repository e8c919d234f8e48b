"""Functions that take whole rows or matrices (quantiles, `np.linalg`, `np.fft`), along the other axes in chunks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.support.params import one_in
from tests.support.perturb import check_cut
from tracebuf import bufferize

pytest.importorskip("dask")


pytestmark = [pytest.mark.usefixtures("one_thread")]


def percentiles(u):
    p = np.percentile(u, [25, 75], axis=0)
    return (u - p[0]) / (p[1] - p[0]), np.percentile(u, [10, 50, 90], axis=0), np.median(u, axis=0).max()


def quantile(u):
    return np.quantile(u, 0.3, axis=0), u.sum(axis=0)


def solved(a, b):
    x = np.linalg.solve(a, b)
    return x, x - x.mean(axis=0)


def solved_for_one(a, b):
    return np.linalg.solve(a, b[0])


def inverse(a, b):
    return np.linalg.inv(a), np.linalg.det(a), np.linalg.cholesky(a @ a.transpose(0, 2, 1))


def eigenvalues(a, b):
    w, v = np.linalg.eigh(a + a.transpose(0, 2, 1))
    return w, w.max(), v.shape[0] * w


def spectra(u):
    s = np.fft.rfft(u - u.mean(axis=0), axis=0)
    p = (s * s.conj()).real
    return p, p.mean(axis=1), np.abs(np.fft.fft(u, axis=0))


ROWS = np.random.default_rng(3).random((16, 21))
MATRICES = np.random.default_rng(4).random((20, 4, 4)) + 4 * np.eye(4), np.random.default_rng(5).random((20, 4, 2))
FUNCTIONS = {f.__name__: f for f in (percentiles, quantile, solved, solved_for_one, inverse, eigenvalues, spectra)}


@pytest.mark.parametrize("name", one_in(2, FUNCTIONS))
@pytest.mark.cases(4)
def test_rows_in_chunks(name: str, recwarn: pytest.WarningsRecorder) -> None:
    f = FUNCTIONS[name]
    args = [ROWS.copy()] if f.__code__.co_argcount == 1 else [a.copy() for a in MATRICES]
    if f is solved_for_one:
        args[1] = args[1][:1]
    for n in (8, 6):
        chunks = (-1, n) if len(args) == 1 else [(n, -1, -1), (n if args[1].shape[0] > 1 else 1, -1, -1)]
        agree_in(f, args, chunks)
    assert not recwarn.list


def agree_in(f: Any, args: list[np.ndarray], chunks: Any) -> None:
    from dask import array as da

    from tracebuf.dask import distribute

    each = chunks if isinstance(chunks, list) else [chunks]
    lazy = [da.from_array(a, chunks=c) for a, c in zip(args, each)]
    found, want = distribute(bufferize(f))(*lazy), f(*args)
    for x, y in zip(*((r if isinstance(r, tuple) else (r,)) for r in (found, want))):
        np.testing.assert_allclose(x.compute(), y, rtol=1e-12, atol=1e-12)


def test_cuts_of_rows() -> None:
    found = check_cut(bufferize(percentiles), [ROWS])
    assert [a.kind for a in found.results["result 1"]] == ["independent"] * 2
    found = check_cut(bufferize(solved), list(MATRICES))
    assert [a.kind for a in found.arguments["a"]] == ["reduced", "whole", "whole"]
    assert found.arguments["a"][1].access == "numpy.linalg.solve takes whole matrices and rows"
