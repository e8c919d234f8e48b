"""Averages, differences, integrals and functions that leave out NaN, against eager NumPy (rules C1, Z4)."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.agreement import program
from tests.support.forms import UNUSUAL, VALUES, check_forms, expression
from tests.support.params import one_in, slow_but
from tracebuf import bufferize
from tracebuf.testing.ladder import climb

FORMS = {
    "ptp": """
np.ptp(a)|np.ptp(a, axis=0)|np.ptp(a, 1, keepdims=True)|np.ptp(e)|np.ptp(u8)|np.ptp(bb)|a.ptp()|np.ptp(a, axis=(0, 1))
np.ptp(N)|np.ptp([1,5,2])
""",
    "average": """
np.average(a)|np.average(a, axis=0)|np.average(a, weights=b)|np.average(a, axis=1, weights=v[:5])
np.average(a, axis=0, weights=w[:4])|np.average(v, weights=w, returned=True)|np.average(v, returned=True)
np.average(v, weights=iv)|np.average(iv, weights=iv)|np.average(a, axis=1, weights=v)|np.average(a, weights=v)
np.average(v, weights=[1, 2, 3, 4, 5, 6])|np.average(v, weights=v*0)|np.average(sq, axis=(0, 1), weights=abs(a[:3]))
np.average(a, axis=1, keepdims=True)|np.average(f, axis=0)|np.average(a, 0, w[:4], True)|np.average(iv)|np.average(h)
np.average(e)|np.average(f, weights=f)|np.average(a, axis=-1, weights=v[:5], keepdims=True)
np.average(sq, axis=(1,2), weights=abs(sq[0]))|np.average([1,2,3])|np.average(bb)|np.average(h,axis=0)
""",
    "running": """
np.cumprod(v)|np.cumprod(a, axis=0)|np.cumsum(a, axis=1, dtype=np.float32)|a.cumsum()|a.cumprod(0)|np.nancumsum(N)
np.nancumsum(N, axis=0)|np.nancumprod(N, axis=1)|np.nancumsum(iv)|np.cumsum(bb)|np.cumsum([1, 2, 3])
np.cumulative_sum(v)|np.cumulative_sum(a, axis=0)|np.cumulative_sum(v, include_initial=True)|np.cumulative_prod(v)
np.cumulative_sum(a)|np.cumulative_prod(a, axis=1, include_initial=True)|np.cumsum(v, out=np.empty(6))|np.cumsum(x)
np.nancumsum(fn, axis=1)
""",
    "diff": """
np.diff(v, prepend=0)|np.diff(v, append=x)|np.diff(v, prepend=w[:2])|np.diff(a, axis=0, prepend=0)
np.diff(a, axis=0, append=v[None, :5])|np.diff(v, n=2, prepend=0.0, append=1.0)|np.diff(a, n=2, axis=0)
np.diff(iv, prepend=0)|np.diff(v, 10)|np.diff([1, 4, 9])|np.diff(v, prepend=[1, 2])|np.diff(z0)|np.diff(v, -1)
np.diff(u8)|np.diff(a, axis=2)
""",
    "ediff1d": """
np.ediff1d(v)|np.ediff1d(a)|np.ediff1d(v, to_begin=0)|np.ediff1d(v, to_end=[1, 2])|np.ediff1d(v, to_end=w, to_begin=x)
np.ediff1d(e)|np.ediff1d(iv, to_begin=1)|np.ediff1d(iv, to_begin=1.5)|np.ediff1d(o)
""",
    "count_nonzero": """
np.count_nonzero(a)|np.count_nonzero(a, axis=0)|np.count_nonzero(a > 0, axis=1, keepdims=True)|np.count_nonzero(i)
np.count_nonzero(x)|np.count_nonzero(e)|np.count_nonzero([0, 1, 2])|np.count_nonzero(a, keepdims=True)
np.count_nonzero(a, axis=(0, 1))
""",
    "nan": """
np.nansum(N)|np.nansum(N, axis=0)|np.nansum(N, axis=1, keepdims=True)|np.nansum(N, dtype=np.float32)|np.nansum(iv)
np.nanprod(N)|np.nanprod(N, axis=0)|np.nanmax(N)|np.nanmax(N, axis=0)|np.nanmax(N, axis=1)|np.nanmin(N)
np.nanmin(N, axis=1)|np.nanmax(anan)|np.nanmax(e)|np.nanmax(iv)|np.nanmean(N)|np.nanmean(N, axis=0)
np.nanmean(N, axis=1)|np.nanmean(iv)|np.nanmean(anan)|np.nanmean(N, dtype=np.float32)|np.nanmean(fn, axis=0)
np.nanmean(N, where=N > 0)|np.nanmean(e)|np.nanmean(N, out=np.empty(()))|np.nansum(N, where=N>0)
np.nansum(N, initial=3.0)
""",
    "nanvar": """
np.nanstd(N)|np.nanstd(N, axis=0)|np.nanstd(N, axis=1, ddof=1)|np.nanvar(N)|np.nanvar(N, axis=0)|np.nanvar(N, ddof=1)
np.nanvar(iv)|np.nanvar(anan)|np.nanvar(fn, axis=0, keepdims=True)|np.nanvar(N, where=N>0)
np.nanvar(N, mean=np.nanmean(N, axis=0, keepdims=True), axis=0)|np.nanstd(iv, axis=0)
np.nanvar(N, axis=0, correction=1)|np.nanvar(N, ddof=100)
""",
    "nanargmax": """
np.nanargmax(N[:3], axis=1)|np.nanargmax(N)|np.nanargmin(N)|np.nanargmin(N[:3], axis=0)|np.nanargmax(N, axis=1)
np.nanargmax(anan)|np.nanargmax(iv)|np.nanargmin(e)|np.nanargmax(N[:3], axis=1, keepdims=True)|np.nanargmax(a, 0)
np.nanargmin(fn[:3])
""",
    "moments": """
np.var(a, mean=np.mean(a))|np.var(a, axis=0, mean=np.mean(a, axis=0, keepdims=True))
np.std(a, axis=1, mean=np.mean(a, axis=1, keepdims=True))|np.var(a, correction=1)|np.std(a, axis=0, correction=1)
np.var(a, ddof=1, correction=1)|np.var(a, where=a > 0)|np.std(a, axis=0, where=bb)|np.mean(a, where=bb)
np.mean(a, axis=1, where=bb)|np.var(a, dtype=np.float32)|np.mean(a, dtype=np.float32)|np.mean(f, dtype=np.float64)
np.mean(i, dtype=np.float32)|np.mean(h)|np.var(h)|np.var(iv)|np.std(bb)|np.var(e)|np.mean(e)|np.std(v, ddof=7)
np.std(v, ddof=x)|np.max(a, initial=0)|np.max(a, where=bb, initial=-1)|np.sum(a, where=bb)|np.sum(a, initial=x)
np.prod(a, axis=0)|np.max(a, axis=(0, 1))|np.sum(u8)|np.sum(u8, dtype=np.uint8)|np.sum(bb)|np.sum([x, y, 1])
np.mean([x, y])|np.max([x, y, n])|np.min((1, 2, 3))|np.sum(a, axis=0, out=np.empty(5))
np.mean(a, axis=0, out=np.empty(5))|np.argmax([1,3,2])|np.any([bb[0,0], False])|np.all(a > 0, axis=1)
np.any(a, axis=0, keepdims=True)|np.all(a, where=bb)|np.std([x,y])|np.sum(x)|np.mean(x)|np.max(x)
np.var(a, mean=np.mean(a), where=bb)
""",
    "gradient": """
np.gradient(v)|np.gradient(v, 2.0)|np.gradient(v, x)|np.gradient(a)|np.gradient(a, 0.1)|np.gradient(a, 0.1, 0.2)
np.gradient(a, axis=0)|np.gradient(a, axis=(0, 1))|np.gradient(a, x, axis=1)|np.gradient(v, sv)|np.gradient(v, iv)
np.gradient(a, sv[:4], sv[:5])|np.gradient(v, edge_order=2)|np.gradient(a, edge_order=2)
np.gradient(v, sv, edge_order=2)|np.gradient(o)|np.gradient(f)|np.gradient(iv)|np.gradient(i)
np.gradient(a, 1.0, sv[:5])|np.gradient(v, 1, 2)|np.gradient(v, sv[:4])|np.gradient(v[:2], edge_order=2)
np.gradient(v[:2])|np.gradient(h)|np.gradient(sq)|np.gradient(a.T)|np.gradient(v, 1)|np.gradient(f[0], 0.5)
np.gradient(u8)|np.gradient(v,edge_order=3)|np.gradient(a, axis=2)|np.gradient(v, [0,1,2,3,4,5])|np.gradient(v,iv*2)
np.gradient(v, v*v)|np.gradient(a, sv[:4], 0.3)
""",
    "trapezoid": """
np.trapezoid(v)|np.trapezoid(v, dx=x)|np.trapezoid(v, sv)|np.trapezoid(v, iv)|np.trapezoid(a)|np.trapezoid(a, axis=0)
np.trapezoid(a, sv[:5])|np.trapezoid(a, sv[:4], axis=0)|np.trapezoid(a, b)|np.trapezoid(f[0])|np.trapezoid(iv)
np.trapezoid(e)|np.trapezoid(o)|np.trapezoid([1, 2, 3])|np.trapezoid(v, dx=2)|np.trapezoid(v, x=[1,2,3,4,5,7])
""",
    "unwrap": """
np.unwrap(v * 10)|np.unwrap(a * 10)|np.unwrap(a * 10, axis=0)|np.unwrap(v * 10, discont=4.0)
np.unwrap(v * 10, period=3.0)|np.unwrap(iv * 5, period=8)|np.unwrap(f * 10)|np.unwrap(e)
""",
    "clip": """
np.clip(a, v[:5], v[:5] + 1)|np.clip(a, -0.5, 0.5)|np.clip(a, None, b)|np.clip(a, b, None)|np.clip(i, 0, 5)
np.clip(a, min=0)|a.clip(0, 1)|a.clip(max=0.5)|np.clip(v, -1, 1, out=np.empty(6))|np.clip(x, 0, 1)
np.clip([1,5], 2, 3)|np.clip(i, 0.5, 5)|np.clip(a, [0,0,0,0,0], 1)
""",
}
ULP = dict.fromkeys(("average", "running", "nan", "nanvar", "moments", "trapezoid", "unwrap"), 100)


@pytest.mark.slow
@pytest.mark.parametrize("group", slow_but(["clip"], FORMS))
def test_c1_forms(group: str) -> None:
    check_forms(FORMS[group], ULP.get(group, 0))


@pytest.mark.slow
def test_z1_on_every_rung_and_at_other_sizes() -> None:
    f = program("""
        def f(a, x):
            gy, gx = np.gradient(a, x[: a.shape[0]], 0.5)
            w = np.isclose(a, a[0]) * 1.0 + x[: a.shape[1]]
            mean, scale = np.average(a, axis=1, weights=w[0], returned=True)
            b = np.where(a > 1, np.nan, a)
            found = np.nanmean(b, axis=0), np.nanvar(b, axis=1), np.nan_to_num(b, nan=x[0])
            area, turned = np.trapezoid(a, x[: a.shape[1]]), np.unwrap(a * 5)
            sums = np.cumulative_sum(a, axis=1, include_initial=True)
            rest = np.allclose(a, a), np.pad(a, 2, "edge"), np.block([[a, a], [a, a]])
            return gy, gx, mean, scale, found, area, turned, sums, rest
        """)
    climb(f, (VALUES["a"], VALUES["sv"]), again=[(VALUES["T"][:, :3], VALUES["sv"] * 2)], tolerance=1e-12)


RESULTS = [
    ("np.allclose(a, b)", 0), ("np.array_equal(a, b)", 0), ("np.nanvar(a)", 0), ("np.nanmean(a)", 0),
    ("np.isclose(a, b)", 1), ("np.nan_to_num(a)", 1), ("np.tril(a)", 1), ("np.block([[a, b], [b, a]])", 1),
    ("np.tile(a, (2, 3))", 1), ("np.select([a > 0.5, b > 0.5], [a, b])", 1), ("np.isin(a, [1, 2])", 1),
    ("np.roll(a, (1, 2), (0, 1))", 1), ("np.average(a, weights=b)", 0), ("np.gradient(a, axis=0)", 1),
]  # fmt: skip


@pytest.mark.parametrize("text, allocations", one_in(8, RESULTS, rows=True))
def test_nothing_is_made_but_the_result(text: str, allocations: int) -> None:
    f = bufferize(program(f"def f(a, b):\n    return {text}"))
    a = np.random.default_rng(1).random((30, 40))
    text = str(f.explain(a, a.copy()))
    count = ("no allocations", "1 allocation")[allocations]
    assert f"{count}, no copies" in text, text


@pytest.mark.parametrize(
    "text",
    [
        "np.round(np.array([[1 + 2j, -0.0 + 2.55j]]), 1), np.round(i.T), np.round(rep.astype(int))",
        "np.float32(2.25).round(1), np.diff(u, n=0)",
        "np.trapezoid(z)",
        "np.trapezoid(a, axis=5)",
        "np.unwrap(z)",
        "np.cov(np.ones((3, 1)) * v[:, None], y=np.ones((1, 3)) > 0, rowvar=False)",
        "np.cov(i, dtype=int)",
    ],
)
def test_c1_calls_that_once_differed(text: str) -> None:
    """Found by calls that `tracebuf.testing.functions` drew."""
    expression(text, UNUSUAL)
