"""What functions read of arrays in chunks beside elements place by place: shapes alone, numbers that are repeated, what
they have stored, arrays of another length."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tracebuf import UnsupportedError, bufferize

da = pytest.importorskip("dask.array")
dask = pytest.importorskip("dask")

from tracebuf.dask import distribute  # noqa: E402


def like(b, c):
    out = np.zeros_like(c)
    out[1:-1] = b[2:] - b[:-2]
    return out


def by_length(b, c):
    return b * len(c), b.sum() / c.size


def unused(b, c):
    t = c + b
    return b[2:-1] * 1.0 if t.ndim else t


def of_its_shape(b, c):
    out = np.empty(c.shape)
    out[1:-1] = b[2:] - b[:-2]
    out[0] = 0
    out[-1] = 0
    return out


def stored_transposed(a, b):
    a *= 2
    return a.T


def stored_part(a, b):
    a *= a.sum()
    return a[1:]


def stored_stencil(a, b):
    a[1:-1] = (a[2:] + a[:-2]) * 0.5
    return a.T


def stored_twice(a, b):
    a -= a.min()
    a /= a.max()
    return a.T


def stored_itself(a, b):
    b += a
    return a, b, b.T.T, b[0:]


def repeated(a, b):
    return np.broadcast_to(-1.0, a.shape) + a


def selected(a, b):
    return np.select([a > 5], [a], -1.0)


def together(a, b):
    return np.broadcast_arrays(a, 1.0)[1] * 1


FUNCTIONS = [
    like, by_length, unused, of_its_shape, stored_transposed, stored_part, stored_stencil, stored_twice, stored_itself,
    repeated, selected, together,
]  # fmt: skip
CHUNKS = [(12, 6), (11, 3), (12, 12), (13, (5, 5, 3))]


def flat(result: Any) -> list[Any]:
    return [y for x in result for y in flat(x)] if isinstance(result, tuple) else [result]


@pytest.mark.parametrize("n, chunks", CHUNKS)
@pytest.mark.parametrize("f", FUNCTIONS)
@pytest.mark.cases(3)
def test_what_is_read_in_chunks(f: Callable[..., Any], n: int, chunks: Any) -> None:
    x, y = np.random.default_rng(n).normal(size=(2, n, 7)) * 10
    lazy = [da.from_array(a.copy(), chunks=(chunks, 4 if n != chunks else 7)) for a in (x, y)]
    results = distribute(bufferize(f))(*lazy)
    found = dask.compute(flat(results), lazy, scheduler="sync")
    for a, b in zip([*found[0], *found[1]], [*flat(f(x, y)), x, y]):
        np.testing.assert_allclose(a, b, rtol=1e-12)


def to_its_length(b, c):
    return b[: c.shape[0]] + c


def beside_a_stencil(b, c):
    n = len(c)
    return b[1:n] * c[: n - 1]


@pytest.mark.parametrize("f", [to_its_length, beside_a_stencil, lambda b, c: b[: len(c)].sum() + c])
def test_one_array_cut_to_the_length_of_another(f: Callable[..., Any]) -> None:
    """A chunk of one does not know which places of the other are beside it: it was given those at the beginning."""
    b, c = np.arange(12.0), np.arange(12.0) + 100
    np.testing.assert_array_equal(distribute(bufferize(f))(*(da.from_array(x, chunks=12) for x in (b, c))), f(b, c))
    with pytest.raises(UnsupportedError, match="along an axis of another size"):
        distribute(bufferize(f))(da.from_array(b, chunks=6), da.from_array(c, chunks=6))


def test_arrays_that_are_not_numpys_are_refused() -> None:
    x = np.arange(12.0)
    masked = da.from_array(np.ma.masked_array(x, x > 5), chunks=4)
    with pytest.raises(UnsupportedError, match="a dask array of MaskedArray"):
        distribute(bufferize(lambda a: a.sum()))(masked)


def parts_of_complex(z):
    z.real -= z.real.mean()
    z.imag *= 2
    return z.sum(), (z * z.conj()).real.mean(axis=0), z.imag[1:] - z.imag[:-1], np.abs(z).max()


@pytest.mark.slow
def test_real_and_imaginary_parts_in_several_stages() -> None:
    """The text of a stage has sizes of `?`, as which both are read."""
    z = np.random.default_rng(3).normal(size=(12, 7, 2)).view(complex)[..., 0]
    lazy = da.from_array(z.copy(), chunks=(5, 4))
    found = dask.compute(*distribute(bufferize(parts_of_complex))(lazy), lazy, scheduler="sync")
    for a, b in zip(found, (*parts_of_complex(z), z)):
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12)


def overwritten(x):
    y = x * 1
    y[2:] = 0.1 * x[2:]
    y[:] = x * 1.5
    return y, x[-3:] * 2


def test_chunks_shorter_than_a_part_that_is_taken_of_them() -> None:
    """Nothing that is read needs neighbours, but the parts have to be in each chunk."""
    x = np.random.default_rng(3).normal(size=26)
    lazy = da.from_array(x, chunks=((5, 2, 7, 1, 5, 1, 5),))
    for a, b in zip(dask.compute(*distribute(bufferize(overwritten))(lazy), scheduler="sync"), overwritten(x)):
        np.testing.assert_array_equal(a, b)
    doubled = distribute(bufferize(lambda x: x * 2))(lazy)
    assert doubled.chunks == lazy.chunks
