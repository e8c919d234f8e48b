"""Arrays in files, by the name of the file: read, stored to, and never sent."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.dask.functions import CASES
from tracebuf import UnsupportedError, bufferize
from tracebuf.dask import Mapped, distribute

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
Callback = pytest.importorskip("dask.callbacks").Callback

laplace, heat = (bufferize(CASES[name][0]) for name in ("laplace", "heat"))
VIEWS = ("a", "a[3:-5, 2:]", "a[::-1, ::3]", "a.T", "a[::-2].T", "a[7:7]", "a[4]", "a[None, 3:, ::-1]")


@pytest.fixture
def a(tmp_path: Path) -> Any:
    made = np.lib.format.open_memmap(tmp_path / "a.npy", "w+", np.float64, (60, 50))
    made[:] = np.random.default_rng(0).random(made.shape)
    made.flush()
    return np.load(tmp_path / "a.npy", mmap_mode="r+")


@pytest.mark.parametrize("view", VIEWS)
def test_a_view_of_a_file_is_opened_elsewhere(view: str, a: Any) -> None:
    x = eval(view)
    sent = pickle.dumps(Mapped(x))
    assert len(sent) < 1000
    found = pickle.loads(sent)
    assert found.shape == x.shape and found.dtype == x.dtype
    assert found.opened().strides == x.strides or not x.size
    np.testing.assert_array_equal(found[...], x)
    read = found[...]
    while isinstance(read.base, np.ndarray):  # what is mapped would count as a worker's memory
        read = read.base
    assert read.flags.owndata
    np.testing.assert_array_equal(da.from_array(found, chunks=20).compute(), x)


@pytest.mark.parametrize("view", VIEWS)
def test_what_is_stored_is_in_the_file(view: str, a: Any) -> None:
    x = eval(view)
    pickle.loads(pickle.dumps(Mapped(x)))[...] = 7.0
    assert np.all(x == 7.0) and np.count_nonzero(a == 7.0) == x.size


def test_a_stencil_from_file_to_file(a: Any, tmp_path: Path) -> None:
    target = np.lib.format.open_memmap(tmp_path / "b.npy", "w+", np.float64, a.shape)
    da.store(distribute(laplace)(da.from_array(Mapped(a), chunks=20)), Mapped(target))
    np.testing.assert_array_equal(target, laplace(np.array(a)))


def test_an_argument_in_a_file_is_not_sent(a: Any) -> None:
    lazy = distribute(laplace)(a)
    sizes = [len(pickle.dumps(task)) for task in lazy.__dask_graph__().values()]
    assert max(sizes) < a.nbytes / 2
    np.testing.assert_array_equal(lazy.compute(), laplace(np.array(a)))


def test_a_mapped_array_is_an_argument(a: Any) -> None:
    np.testing.assert_array_equal(distribute(laplace)(Mapped(a)).compute(), laplace(np.array(a)))
    with pytest.raises(UnsupportedError, match="is stored to and is no dask array"):
        distribute(heat)(Mapped(a), 3)


def test_what_is_read_only_is_not_stored_to(tmp_path: Path, a: Any) -> None:
    read = np.load(tmp_path / "a.npy", mmap_mode="r")
    with pytest.raises(ValueError, match="read-only"):
        Mapped(read)[0] = 1.0


def test_what_has_no_file_is_refused(tmp_path: Path, a: Any) -> None:
    for x in (np.zeros(3), np.load(tmp_path / "a.npy", mmap_mode="c"), np.array(a), a + 1):
        with pytest.raises(UnsupportedError, match="no array in a file of its own"):
            Mapped(x)


def test_changed_copies_of_a_file_are_sent(tmp_path: Path, a: Any) -> None:
    """What was changed in a mapping of its own (mode "c") is not in the file."""
    private = np.load(tmp_path / "a.npy", mmap_mode="c")
    private[:] = 2.0
    np.testing.assert_array_equal(distribute(laplace)(private).compute(), laplace(np.full((60, 50), 2.0)))


@bufferize
def around(x: Any) -> Any:
    return np.roll(x, 1, axis=0) + np.roll(x, -1, axis=1) + x


@bufferize
def above_mean(x: Any) -> tuple[Any, Any]:
    y = x - x.mean()
    z = y.copy()
    z[1:-1] = y[2:] - y[:-2]
    return z, z.max(axis=0)


@bufferize
def itself(x: Any) -> tuple[Any, Any]:
    return x[2:], x


@pytest.mark.parametrize("f", [laplace, around, above_mean, itself], ids=lambda f: f.__name__)
@pytest.mark.parametrize("view", ["a", "a[3:-5, 2:]", "a[::-1, ::3]", "a.T"])
@pytest.mark.cases(3)
def test_windows_of_what_is_only_read_are_read_where_they_are_needed(f: Any, view: str, a: Any, tmp_path: Path) -> None:
    x = eval(view, {"a": np.load(tmp_path / "a.npy", mmap_mode="r")})
    lazy = distribute(f)(da.from_array(Mapped(x), chunks=(20, 15)))
    ran: list[str] = []
    with Callback(pretask=lambda key, dsk, state: ran.append(str(key))):
        found = dask.compute(lazy, scheduler="sync")[0]
    expected = f(np.array(x))
    for one, other in zip(*((r if isinstance(r, tuple) else (r,)) for r in (found, expected)), strict=True):
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-13)
    if f is not itself:  # whose results are the blocks
        assert not any("array-" in key or "rim" in key for key in ran)


@pytest.mark.parametrize("chunks", [60, 20])
def test_a_chunk_that_is_a_part_of_a_file_outlives_it(chunks: int, a: Any, tmp_path: Path) -> None:
    read = np.load(tmp_path / "a.npy", mmap_mode="r")
    found = distribute(itself)(da.from_array(Mapped(read), chunks=chunks))[0].persist(scheduler="sync")
    expected = np.array(read)[2:]
    a[:] = 5.0
    np.testing.assert_array_equal(found.compute(), expected)
