"""Real workers: the bits of the function, under a limit of memory, with workers that die."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.dask.functions import CASES
from tracebuf import bufferize
from tracebuf.dask import Mapped, distribute

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    """Two processes, each with a limit of memory."""
    cluster = distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, memory_limit="600MB", dashboard_address=None, resources={"memory": 6e8}
    )
    with cluster, distributed.Client(cluster) as made:
        yield made


def waves(n: int, chunks: int) -> tuple[Any, Any, np.ndarray, np.ndarray]:
    u = np.random.default_rng(1).random((n, n))
    v = np.zeros((n, n))
    return da.from_array(u, chunks=chunks), da.from_array(v, chunks=chunks), u.copy(), v.copy()


def test_workers_give_the_bits_of_the_function(client: Any) -> None:
    for name, args in (("wave", (0.1,)), ("heat", (9,))):
        f = CASES[name][0]
        x, y, u, v = waves(600, 160)
        lazy, eager = ((x, y), (u, v)) if name == "wave" else ((x,), (u,))
        found, expected = distribute(bufferize(f))(*lazy, *args), bufferize(f)(*eager, *args)
        for a, b in zip(lazy, eager):
            np.testing.assert_array_equal(a.compute(), b)
        assert found is None or found.compute() == expected


def test_what_is_larger_than_the_workers_memory(client: Any) -> None:
    """1.6 GB in chunks of 8 MB, on two workers of 600 MB."""

    def energy(u: np.ndarray) -> Any:
        d = u[1:] - u[:-1]
        return (d * d).sum(), u.max()

    x = da.random.default_rng(0).random((200_000, 1_000), chunks=(1_000, 1_000))
    with dask.config.set({"optimization.fuse.active": False}):
        total, most = da.compute(*distribute(energy, resource="memory")(x))
    assert total == pytest.approx(199_999_000 / 6, rel=1e-3) and 0.9999 < most < 1


def test_files_are_read_and_stored_to_by_workers(client: Any, tmp_path: Path) -> None:
    """All processes see one file; nothing of it is sent."""
    f = bufferize(CASES["laplace"][0])
    source, target = (
        np.lib.format.open_memmap(tmp_path / name, "w+", np.float64, (900, 800)) for name in ("in.npy", "out.npy")
    )
    source[:] = np.random.default_rng(0).random(source.shape)
    source.flush()
    da.store(distribute(f)(da.from_array(Mapped(source), chunks=200)), Mapped(target))
    np.testing.assert_array_equal(target, f(np.array(source)))


def test_what_tiles_give_takes_no_new_memory_each(client: Any) -> None:
    """Workers give freed memory back at once: to fault it in again for each tile would take longer than the work."""

    def faults() -> int:
        import resource

        return resource.getrusage(resource.RUSAGE_SELF).ru_minflt

    x = client.persist(da.ones((2_000, 2_000), chunks=1_000))
    distributed.wait(x)
    f = bufferize(CASES["laplace"][0])
    for _ in range(3):
        before = sum(client.run(faults).values())
        y = client.persist(distribute(f)(x))
        distributed.wait(y)
        taken = sum(client.run(faults).values()) - before
        del y
    assert taken < x.nbytes / 4096 / 2, taken


def test_a_worker_that_dies_in_the_middle(client: Any) -> None:
    """Its tasks are done again; what a function stores to is never seen half done."""
    f = CASES["heat"][0]
    x, _, u, _ = waves(1_200, 200)
    before = x + 0
    distribute(bufferize(f), steps=2)(x, 80)
    pid = next(iter(client.run(os.getpid).values()))
    future = client.compute(x)
    time.sleep(0.3)
    assert not future.done()
    os.kill(pid, signal.SIGKILL)
    start = u.copy()
    bufferize(f)(u, 80)
    np.testing.assert_array_equal(future.result(timeout=120), u)
    assert pid not in client.run(os.getpid).values()
    np.testing.assert_array_equal(before.compute(), start)
