"""Bufferized functions in what runs functions on chunks: dask itself, futures, joblib, xarray, zarr and files."""

from __future__ import annotations

import pickle
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.dask.functions import CASES
from tracebuf import bufferize
from tracebuf.dask import distribute

da = pytest.importorskip("dask.array")

laplace = bufferize(CASES["laplace"][0])
chain = bufferize(CASES["chain"][0])
heat = bufferize(CASES["heat"][0])


def test_a_file_larger_than_what_is_read_at_a_time(tmp_path: Path) -> None:
    source = np.lib.format.open_memmap(tmp_path / "in.npy", "w+", np.float64, (400, 300))
    source[:] = np.random.default_rng(0).random(source.shape)
    source.flush()
    read = np.load(tmp_path / "in.npy", mmap_mode="r")
    target = np.lib.format.open_memmap(tmp_path / "out.npy", "w+", np.float64, (400, 300))
    da.store(distribute(laplace)(da.from_array(read, chunks=100)), target)
    np.testing.assert_array_equal(target, laplace(np.array(read)))
    np.testing.assert_array_equal(distribute(laplace)(read).compute(), target)


def test_zarr_in_and_out(tmp_path: Path) -> None:
    zarr = pytest.importorskip("zarr")
    source = zarr.open(str(tmp_path / "in.zarr"), mode="w", shape=(60, 50), chunks=(20, 20), dtype="f8")
    source[:] = np.random.default_rng(0).random((60, 50))
    da.to_zarr(distribute(laplace)(da.from_zarr(str(tmp_path / "in.zarr"))), str(tmp_path / "out.zarr"))
    np.testing.assert_array_equal(zarr.open(str(tmp_path / "out.zarr"))[:], laplace(source[:]))


def test_map_blocks_and_map_overlap_of_dasks_own() -> None:
    x, y = np.random.default_rng(0).random((2, 90, 80))
    a, b = da.from_array(x, chunks=30), da.from_array(y, chunks=30)
    found = da.map_blocks(chain, a, b, dtype=x.dtype, meta=np.empty((0, 0)))
    np.testing.assert_array_equal(found.compute(), chain(x, y))
    found = da.map_overlap(laplace, a, depth=1, boundary="none", dtype=x.dtype, meta=np.empty((0, 0)))
    np.testing.assert_array_equal(found.compute(), distribute(laplace)(a).compute())


def test_threads_of_futures() -> None:
    x = np.random.default_rng(0).random((4, 50, 40))
    with ThreadPoolExecutor(2) as pool:
        for found, one in zip(pool.map(laplace, x), x):
            np.testing.assert_array_equal(found, laplace(one))


def test_results_pickle_before_they_are_computed() -> None:
    cloudpickle = pytest.importorskip("cloudpickle")
    u = np.random.default_rng(0).random((40, 40))
    x = da.from_array(u.copy(), chunks=15)
    distribute(heat)(x, 3)
    there = pickle.loads(cloudpickle.dumps(x))
    heat(u, 3)
    np.testing.assert_array_equal(there.compute(), u)


@pytest.mark.slow
def test_joblib() -> None:
    joblib = pytest.importorskip("joblib")
    x = np.random.default_rng(0).random((4, 50, 40))
    found = joblib.Parallel(n_jobs=2)(joblib.delayed(laplace)(one) for one in x)
    for made, one in zip(found, x):
        np.testing.assert_array_equal(made, laplace(one))


def test_xarray() -> None:
    xarray: Any = pytest.importorskip("xarray")
    x, y = np.random.default_rng(0).random((2, 60, 50))
    a, b = (xarray.DataArray(da.from_array(v, chunks=20), dims=("i", "j")) for v in (x, y))
    found = xarray.apply_ufunc(chain, a, b, dask="parallelized", output_dtypes=[x.dtype])
    np.testing.assert_array_equal(found.compute().values, chain(x, y))
    found = xarray.apply_ufunc(distribute(laplace), a, dask="allowed")
    np.testing.assert_array_equal(found.compute().values, laplace(x))

    def doubled(block: Any) -> Any:
        return block.copy(data=chain(block.values, block.values))

    found = xarray.map_blocks(doubled, a, template=a)
    np.testing.assert_array_equal(found.compute().values, chain(x, x))
