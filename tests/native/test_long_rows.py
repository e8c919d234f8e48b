"""NumPy's functions, methods, operators and stores on rows that are longer than what native code takes at once: blocks,
vectors and words, up to 64 bools among them (backend/llvm/loops). Sweeps over dtypes and layouts have short rows."""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np
import pytest

from tests.support.agreement import program
from tests.support.params import one_in
from tracebuf import TracebufError, bufferize

SHAPES = ((3, 300), (300, 3), (70, 65), (1, 64), (2, 5000))
LENGTHS = (63, 64, 65, 129, 300, 5000)
DTYPES = "?bBhHilQefdFD"
LAYOUTS = ("C", "F", "stepped", "backwards")
EXPRESSIONS = {
    "biufc": """
        np.cumsum(a, axis=1); np.cumsum(a, axis=0); np.cumsum(a); np.cumprod(a, axis=1); np.cumsum(v); np.cumprod(v);
        np.cumsum(v[::-1]); np.cumsum(a.T, axis=1); np.sum(a); a.sum(axis=0); a.sum(axis=1);
        a.sum(axis=1, keepdims=True); v.sum(); np.prod(a, axis=1); np.prod(v); v[::2].sum(); a[:, ::2].sum(axis=1);
        a[::-1].sum(axis=0); a.mean(); a.mean(axis=0); a.mean(axis=1); a.var(axis=1); a.std(); np.var(v);
        np.average(v); a.max(); a.max(axis=0); a.max(axis=1); a.min(axis=0); a.argmax(axis=1); a.argmin(axis=0);
        v.argmax(); v.argmin(); np.ptp(v); np.ptp(a, axis=1); np.any(a); np.all(a); np.any(a, axis=0);
        np.all(a, axis=1); np.any(m, axis=1); np.all(m, axis=0); m.sum(); m.sum(axis=0); m.sum(axis=1);
        np.count_nonzero(m); np.count_nonzero(a); np.count_nonzero(m, axis=1); np.count_nonzero(a, axis=0);
        m.sum(), v.sum(); m.mean(); m.mean(axis=0); (m & m[::-1]).sum(axis=1); (~m).sum(); m.sum() + (~m).sum();
        np.cumsum(m); np.cumsum(m, axis=0); np.cumsum(m, axis=1); np.cumsum(~m, axis=1); np.cumprod(m);
        np.cumsum(m, dtype=np.int32); np.cumsum(m, dtype=np.float64); np.add.accumulate(m.ravel());
        np.logical_or.accumulate(m, axis=1); np.logical_and.accumulate(m, axis=0); np.maximum.accumulate(a, axis=1);
        np.minimum.accumulate(v); np.logical_xor.reduce(m, axis=1); np.bitwise_or.reduce(m, axis=0);
        np.maximum.reduce(a); np.add.reduce(a, axis=(0, 1)); np.multiply.reduce(v); np.add.reduceat(v, [0, 5, 60]);
        np.add.outer(v[:9], v); np.nonzero(m); np.flatnonzero(m); np.argwhere(m); a[m]; v[v != 0];
        np.where(m, a, a[::-1]); np.where(m); np.extract(m, a); np.compress(m[0], a, axis=1); np.flatnonzero(a);
        np.nonzero(v); np.sort(v); np.sort(a, axis=0); np.sort(a, axis=1); np.argsort(v, kind='stable');
        np.argsort(a, axis=1, kind='stable'); np.partition(v, 5)[5]; np.unique(v); np.median(v); np.median(a, axis=0);
        np.median(a, axis=1); np.searchsorted(np.sort(v), v); np.isin(v, v[:5]); np.bincount(k);
        np.bincount(k, minlength=99); np.bincount(k, weights=np.arange(len(k)) * 1.5); np.histogram(k, bins=7)[0];
        np.take(v, k % len(v)); v[k % len(v)]; a[:, k % 3];
        np.take_along_axis(a, np.argsort(a, axis=1, kind='stable'), axis=1); np.diff(a, axis=0); np.diff(a, n=2);
        np.convolve(v, v[:5]); np.correlate(v, v[:5]);
        np.interp(np.linspace(-1, 3, 333), np.arange(20.), np.arange(20.) ** 2); np.roll(v, 7); np.roll(a, 3, axis=1);
        np.flip(a, axis=1); np.rot90(a); np.repeat(v, 3); np.repeat(a, 2, axis=1); np.tile(v, 2); np.pad(v, 5);
        np.pad(a, 2, mode='edge'); np.pad(v, 4, mode='reflect'); np.concatenate([v, v[::-1]]);
        np.stack([v, v], axis=1); np.hstack([a, a]); np.vstack([a, a[:1]]); np.insert(v, 5, v[0]); np.delete(v, 70);
        np.append(v, v[:3]); np.kron(v[:5], v[:70]); np.outer(v, v[:9]); np.triu(a); np.tril(a, -1); np.diag(v[:70]);
        np.diagonal(a); np.trace(a); v @ v; a @ v[:a.shape[1]]; a @ a.T; np.dot(v, v); np.inner(a, a); np.vdot(v, v);
        np.einsum('ij,ij->i', a, a); np.einsum('ij->j', a); np.tensordot(a, a, axes=([1], [1])); np.abs(a);
        np.square(a); a + a; a * a; a ** 2; np.sqrt(a); np.exp(a); np.log1p(np.abs(a)); np.sin(a); np.round(a, 1);
        np.isfinite(a); np.maximum(a, a[::-1]); np.minimum(v, v[::-1]); np.fmax(a, a[::-1]); a == a[::-1];
        a < a[::-1]; np.logical_and(a, a[::-1]); np.logical_not(a); np.equal(v, v[::-1]); np.array_equal(v, v);
        np.allclose(v, v); np.isclose(v, v[::-1]); np.conj(a); a.real; a.imag; np.angle(a); np.nan_to_num(a);
        np.power(np.abs(v), 3); np.float_power(np.abs(v), 0.5); np.packbits(m); np.packbits(m, axis=1);
        np.unpackbits(np.packbits(m)); a.astype(bool); a.astype(np.int8); a.astype(np.float32);
        a.astype(np.complex128); v.astype(np.int64); v.astype(np.uint8); m.astype(a.dtype); m * a; a * m + v[:1];
        m.astype(int).sum(); a.astype(np.float64).sum(axis=1); v.astype(np.float16); a.ravel(); a.ravel('F');
        a.reshape(-1); a.T.copy(); np.ascontiguousarray(a.T); v.copy()[::-1]; np.asfortranarray(a);
        np.full_like(a, 1); np.zeros_like(a) + a; np.meshgrid(v[:70], v[:66])[0]; np.nansum(a, axis=1);
        np.nanmean(a, axis=0); np.nanstd(v); np.nancumsum(v); np.linalg.norm(v); np.linalg.norm(a, axis=1);
        np.cumulative_sum(v); np.unique(v, return_counts=True); np.unique(v, return_inverse=True)[1];
        np.setdiff1d(v, v[:4]); np.union1d(v, v[:9]); np.intersect1d(v, v[4:40]); np.lexsort((v, v[::-1]));
        np.argpartition(v, 3)[3] * 0; np.apply_along_axis(np.sum, 1, a); np.fft.fft(v); np.polyval([1, 2, 3], v);
        np.vander(v[:9], 4); np.sum(a, axis=1, where=m); np.add(a, a, where=m, out=np.zeros_like(a));
        np.cumsum(a, axis=1, out=np.empty_like(np.cumsum(a, axis=1))); np.choose(k % 2, [k, -k]);
        np.select([m, ~m], [a, a * 2]); np.copyto(np.zeros_like(a), a, where=m); np.putmask(a, m, 1);
        np.place(a, m, [1, 0]); np.put(a, k, 1); a[m] = 1; a[:, 1:] = a[:, :-1]; a[1:] = a[:-1]; a[::-1] = a;
        a += a[::-1]; a *= m; v[::-1] = v; v[k % len(v)] = 1; np.add.at(v, k % len(v), 1);
        np.maximum.at(v, k % len(v), v[0]); a.sort(axis=1); v.sort(); a.fill(1); a[...] = np.cumsum(a, axis=1);
        m[...] = np.cumsum(m, axis=1); a[:, 0] = a.sum(axis=1); v[:] = np.cumsum(v); np.cumsum(a, axis=0, out=a);
        np.cumsum(v, out=v); a[a != 0] *= 1; np.fill_diagonal(a, 1); a[:, ::2] = a[:, 1::2][:, :1];
        np.copyto(a, 1, where=m); np.putmask(a, m, [1, 0]); v[v == v[0]] = 0; m ^= m[::-1];
        np.logical_or(m, m[::-1], out=m);
    """,
    "biuf": """
        (a > 0).sum(); np.clip(a, 0, 1); np.floor(a); np.hypot(a, a); np.arctan2(a, a + 1); np.nanmax(a, axis=1);
        np.nanargmax(v); np.max(a, axis=1, where=m, initial=0);
    """,
    "iufc": """
        np.subtract.outer(v, v[:3]); np.diff(v); np.ediff1d(v); np.cross(a[:, :3], a[:, :3]); np.sign(a); -a; a - a;
        a / a; v[1:] += v[:-1]; np.negative(v, out=v);
    """,
    "iuf": """
        np.percentile(v, 30); np.quantile(a, 0.25, axis=1); np.digitize(v, np.sort(v[:7])); a // a; a % a;
        np.where(a > 0, a, -a);
    """,
    "fc": """
        np.gradient(v); np.isnan(a);
    """,
    "if": """
        np.trapezoid(v);
    """,
    "f": """
        np.signbit(a); np.heaviside(a, 0.5);
    """,
    "biu": """
        np.bitwise_and(a, a[::-1]); np.invert(a);
    """,
    "iu": """
        np.left_shift(np.abs(v), 1); np.gcd(v, v[::-1]); np.bitwise_count(v);
    """,
}
"""By the kinds of the dtypes that they are for: of a of two axes and v of one, the mask m and the indices k; or what
stores to these."""
CASES = [(dtype, x.strip()) for kinds, text in EXPRESSIONS.items() for x in text.split(";") if x.strip()
         for dtype in DTYPES if np.dtype(dtype).kind in kinds]  # fmt: skip


def made(r: np.random.Generator, dtype: str, shape: tuple[int, ...], layout: str) -> np.ndarray:
    """An array of small numbers."""
    kind = np.dtype(dtype).kind
    if kind == "b":
        x = r.random(shape) < r.choice([0.5, 0.03, 0.97])
    elif kind in "iu":
        x = r.integers(0 if kind == "u" else -5, 6, shape)
    else:
        x = np.round(r.normal(size=shape) * 2, 2)
        x = x + 1j * np.round(r.normal(size=shape), 2) if kind == "c" else x
    return laid_out(x.astype(dtype), layout)


def laid_out(x: np.ndarray, layout: str) -> np.ndarray:
    """A copy in a layout."""
    if layout in "CF":
        return x.copy(layout)
    if layout == "backwards":
        return x[::-1].copy()[::-1]
    y = np.zeros([2 * n for n in x.shape], x.dtype)[tuple(slice(None, None, 2) for _ in x.shape)]
    y[...] = x
    return y


def arguments(seed: int, dtype: str) -> list[Any]:
    """The same ones for the same seed."""
    r = np.random.default_rng(seed)
    shape, n = SHAPES[r.integers(len(SHAPES))], LENGTHS[r.integers(len(LENGTHS))]
    parts = [(dtype, shape), (dtype, (n,)), ("?", shape)]
    found = [made(r, t, sizes, str(r.choice(LAYOUTS))) for t, sizes in parts]
    return [*found, r.integers(0, 60, 200)]


def compare(x: Any, y: Any) -> None:
    """Whether values are NumPy's; floats but for what another order of additions may change."""
    assert type(x) is type(y)
    if isinstance(y, tuple):
        assert len(x) == len(y)
        for one, other in zip(x, y):
            compare(one, other)
    elif not isinstance(y, (np.ndarray, np.generic)):
        assert x == y
    else:
        assert (x.dtype, x.shape) == (y.dtype, y.shape)
        if y.dtype.kind not in "fc":
            np.testing.assert_array_equal(x, y)
            return
        known = np.where(np.isfinite(y), y, 0)
        near = {2: 2e-2, 4: 2e-4, 8: 1e-9}[y.real.dtype.itemsize]
        np.testing.assert_allclose(x, y, near, near * (1 + np.abs(known).max(initial=0)))


def stores(text: str) -> bool:
    """Whether an expression is a statement."""
    try:
        compile(text, "", "eval")
    except SyntaxError:
        return True
    return False


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dtype, text", one_in(100, CASES, rows=True))
def test_long_rows(dtype: str, text: str) -> None:
    f = program(f"def f(a, v, m, k):\n    {'' if stores(text) else 'return '}{text}")
    g = bufferize(f)
    for turn in range(3):
        seed = zlib.crc32(f"{text} {dtype} {turn}".encode())
        given, mine = arguments(seed, dtype), arguments(seed, dtype)
        try:
            with np.errstate(all="ignore"):
                expected = f(*given)
        except Exception as error:
            with pytest.raises(type(error)):
                g.call_counted(*mine)
            continue
        try:
            found = g.call_counted(*mine)[0]
        except TracebufError as refusal:
            pytest.skip(str(refusal))
        compare(found, expected)
        for one, other in zip(mine, given):
            compare(one, other)


@pytest.mark.parametrize("n", [63, 64, 65, 130, 4097])
def test_running_sums_of_bools(n: int) -> None:
    """Bools were counted by 64, and no sum stored for them."""
    f = program("def f(m): return np.cumsum(m), np.cumsum(m, dtype=np.uint8), m.sum(), np.cumsum(m) > 3")
    m = np.random.default_rng(n).random(n) < 0.2
    compare(bufferize(f).call_counted(m)[0], f(m))
