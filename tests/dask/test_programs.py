"""The programs of the benchmarks: what `f.cut` says of them holds, and on chunks they give what they give on arrays,
or are refused with a reason."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

from benchmarks.programs import load
from tests.support.params import one_in
from tests.support.perturb import check_cut
from tracebuf import bufferize
from tracebuf.dask import distribute
from tracebuf.errors import UnsupportedError

pytestmark = pytest.mark.filterwarnings("ignore::tracebuf.errors.TracebufWarning")
PROGRAMS = load()
UNCUT = {"gather", "bootstrap", "compress", "group_means"}
"""Whose integers are indices, or whose sizes the data decide: these cannot be changed one at a time."""
LONG = {"shallow_water", "channel_flow", "rnn", "mlp", "conv2d", "limited_diffusion", "heat_3d", "fdtd_2d"}


@pytest.mark.parametrize("name", one_in(12, [name for name in PROGRAMS if name not in UNCUT | LONG]))
def test_cuts_hold(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.support.perturb.TRIES", 1)
    monkeypatch.setattr("tests.support.perturb.MOST", 6)
    p = PROGRAMS[name]
    try:
        check_cut(bufferize(p.function), p.init(p.tiny), rims=False)
    except UnsupportedError as refusal:
        assert "cannot be cut along any axis" in str(refusal)


@pytest.mark.parametrize("name", one_in(12, PROGRAMS))
def test_chunks_give_the_same(name: str) -> None:
    da, dask = pytest.importorskip("dask.array"), pytest.importorskip("dask")
    p = PROGRAMS[name]
    args, eager = p.init(p.tiny), p.init(p.tiny)
    expected = p.results(p.function(*eager), eager)
    lazy = [in_two(da, a) if isinstance(a, np.ndarray) and a.ndim else a for a in copy.deepcopy(args)]
    try:
        result = distribute(bufferize(p.function))(*lazy)
    except UnsupportedError as refusal:
        assert refusal.reason
        return
    with dask.config.set(scheduler="synchronous"):
        result, lazy = dask.compute(result, lazy)
    p.check(p.results(result, lazy), expected)


def in_two(da: Any, a: np.ndarray) -> Any:
    return da.from_array(a, chunks=tuple(max(1, -(-n // 2)) for n in a.shape))
