"""Nests that Numba's threads share (`parallel=True`): the same bits as by one thread, from any caller, counted by how
many were shared, not by time."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.support.agreement import same
from tests.support.params import one_in
from tests.support.threads import at_once
from tracebuf import bufferize
from tracebuf.backend.runtime import threads
from tracebuf.measure import clone_arguments

RNG = np.random.default_rng(0)
N = 70_001


@pytest.fixture(autouse=True)
def _all_sizes() -> Iterator[None]:
    """Nests of any size are shared, so that small arrays show what large ones do."""
    with threads.shared_from(1, line=1):
        yield


def chain(a: Any, b: Any) -> Any:
    return np.sqrt(a * b + 1.5) * (a - b) / (b + 2)


def in_place(a: Any, b: Any) -> Any:
    a *= b
    a[1:-1] += 2
    return a


def waves(u: Any, v: Any) -> Any:
    for _ in range(3):
        v[1:-1, 1:-1] += 0.1 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4 * u[1:-1, 1:-1])
        u += 0.1 * v
    return u


def rows(a: Any) -> Any:
    e = np.exp(a - a.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def gathered(a: Any, i: Any) -> Any:
    return a[i] * 2 + np.arange(len(i))


def places(a: Any) -> Any:
    return a + np.arange(a.shape[0])[:, None] * np.arange(a.shape[1])


def calls(a: Any) -> Any:
    return np.exp(np.sin(a)) + np.where(a > 0.5, np.cbrt(a), a)


def each_row(a: Any, out: Any) -> None:
    for i in range(a.shape[0]):
        out[i] = a[i] / a[i].sum()


def each_place(a: Any, out: Any) -> None:
    for i in range(1, a.shape[0] - 1):
        for j in range(1, a.shape[1] - 1):
            out[i, j] = (a[i - 1, j] + a[i + 1, j] + a[i, j - 1] + a[i, j + 1]) / 4


def filtered(x: Any, y: Any) -> None:
    for i in range(x.shape[0]):
        s = 0.0
        for j in range(x.shape[1]):
            s = 0.9 * s + x[i, j]
            y[i, j] = s * x[i, -1] if s > 5 else s


def each_column(a: Any) -> Any:
    out = np.zeros(a.shape[1])
    for j in range(a.shape[1]):
        out[j] = np.sqrt(a[:, j].max()) + out[j]
        a[2, j] += 1
    return out


def escaped(c: Any, most: int) -> Any:
    out = np.zeros(c.shape, np.int64)
    for i in range(c.shape[0]):
        z = 0j
        n = 0
        while n < most and abs(z) < 2:
            z = z * z + c[i]
            n += 1
        out[i] = n
    return out


def looked_up(a: Any, i: Any) -> Any:
    out = np.zeros(len(i))
    for k in range(len(i)):
        out[k] = a[i[k]] * 2
    return out


def before(a: Any) -> None:
    for i in range(1, a.shape[0]):
        a[i] += a[i - 1]


def places_of_two(a: Any) -> None:
    for i in range(a.shape[0] - 1):
        a[i, 0] = a[i, 1] + 1
        a[i + 1, 1] = a[i, 0] * 0.5


def swapped(a: Any) -> None:
    for i in range(a.shape[0]):
        a[i, :] = a[:, i] + 1


def one_place(a: Any, out: Any) -> None:
    for i in range(a.shape[0]):
        out[0] = a[i, 0] * 2 + out[0]


def by_number(a: Any, i: Any, out: Any) -> None:
    for k in range(a.shape[0]):
        out[i[k]] = a[k]


PROGRAMS: dict[str, tuple[Callable[..., Any], list[Any]]] = {
    "chain": (chain, [RNG.random(N), RNG.random(N)]),
    "chain, float32": (chain, [RNG.random(N, np.float32), RNG.random(N, np.float32)]),
    "chain, strided": (chain, [RNG.random(2 * N)[::2], RNG.random(N)[::-1]]),
    "chain, rows and columns": (chain, [RNG.random((300, 200)), RNG.random((200, 300)).T]),
    "in place": (in_place, [RNG.random(N), RNG.random(N)]),
    "waves": (waves, [RNG.random((150, 170)), RNG.random((150, 170))]),
    "rows": (rows, [RNG.random((400, 130))]),
    "gathered": (gathered, [RNG.random(1000), RNG.integers(-1000, 1000, N)]),
    "places": (places, [RNG.random((200, 300))]),
    "calls": (calls, [RNG.random(N)]),
    "calls of complex numbers": (lambda a: np.exp(a) * a, [RNG.random(N) + 1j]),
    "sums of rows": (lambda a: a.sum(axis=1), [RNG.random((2000, 40))]),
    "sums of columns": (lambda a: a.sum(axis=0), [RNG.random((9, 20_000))]),
    "sums of a cube": (lambda a: (a * 2).sum(axis=1), [RNG.random((50, 30, 60))]),
    "sum": (lambda a: a.sum(), [RNG.random(N)]),
    "sum of products": (lambda a, b: ((a - b) ** 2).sum() + a.sum(), [RNG.random(N), RNG.random(N)]),
    "sum of complex numbers": (lambda a: (a * 1j).sum(), [RNG.random(N)]),
    "sum, strided": (lambda a: a.sum(), [RNG.random(2 * N)[::2]]),
    "sum of an inner part": (lambda a: a[1:-1, 1:-1].sum(), [RNG.random((300, 700))]),
    "mean, float32": (lambda a: a.mean(), [RNG.random(N, np.float32)]),
    "sum of integers": (lambda a: a.sum(), [RNG.integers(-99, 99, N)]),
    "product of integers": (lambda a: a.prod(initial=3), [RNG.integers(1, 3, N)]),
    "extremes": (lambda a: (a.min(), a.max()), [RNG.random(N)]),
    "extremes of columns": (lambda a: a[:, ::-1].max(), [RNG.integers(0, 10**9, (300, 301))]),
    "extremes and NaN": (lambda a: (np.nanmin(a), a.max()), [np.where(RNG.random(N) > 0.9, np.nan, RNG.random(N))]),
    "counts": (lambda a: np.count_nonzero(a > 0.5), [RNG.random(N)]),
    "sum and initial": (lambda a: np.sum(a, initial=1e17), [RNG.random(N)]),
    "three channels": (lambda a: a[:, ::-1] * 0.5, [RNG.random((3, N))]),
    "bools": (lambda a: (a > 0.5) & (a < 0.7), [RNG.random(N)]),
    "integers": (lambda a: (a * 3) % 1000 - a // 7, [RNG.integers(-9, 9999, N)]),
    "outer": (lambda a, b: np.add.outer(a, b) * 2, [RNG.random(200), RNG.random(300)]),
    "each row": (each_row, [RNG.random((300, 200)), np.zeros((300, 200))]),
    "each place": (each_place, [RNG.random((300, 200)), np.zeros((300, 200))]),
    "filtered": (filtered, [RNG.random((300, 100)), np.zeros((300, 100))]),
    "filtered, by columns": (filtered, [RNG.random((300, 400)).T, np.zeros((300, 400)).T]),
    "each column": (each_column, [RNG.random((100, 300))]),
    "escaped": (escaped, [RNG.random(3000) * 2 - 1.5 + 0.3j, 100]),
    "looked up": (looked_up, [RNG.random(1000), RNG.integers(-1000, 1000, 9000)]),
    "running sums": (lambda a: np.cumsum(a, axis=1), [RNG.random((3000, 20))]),
    "copy": (lambda a: a.copy(), [RNG.random(N)]),
    "copy into": (lambda a, b: np.copyto(b, a), [RNG.random((300, 200)), RNG.random((300, 200))]),
    "fill": (lambda a: np.full(a.shape, 3.5), [RNG.random(N)]),
}


WHOLE: dict[str, tuple[Callable[..., Any], list[Any]]] = {
    "largest places": (lambda a: a.argmax(axis=1), [RNG.random((3000, 20))]),
    "integer powers, which may raise": (lambda a: a**a, [RNG.integers(0, 5, N)]),
    "ever": (lambda a: (a > 2).any(), [RNG.random(N)]),
    "products in order": (lambda a: np.prod(a), [RNG.random(N)]),
    "three blocks a row": (lambda a: a[:, 1:].sum(), [RNG.random((50, 1500))]),
    "Python's functions": (lambda a, x: a + math.gamma(x), [RNG.random(3), 2.5]),
}
"""What is not shared."""


def serial_and_parallel(f: Callable[..., Any], args: list[Any], **options: Any) -> int:
    """Compares values and arguments of the two; how many nests were shared."""
    one, several = (bufferize(parallel=parallel, **options)(f) for parallel in (False, True))
    (a, _), (b, _) = clone_arguments(tuple(args), {}), clone_arguments(tuple(args), {})
    before = threads.shared_nests()
    want = one(*a)
    assert threads.shared_nests() == before
    same(several(*b), want, 0, "result")
    for k, (x, y) in enumerate(zip(b, a, strict=True)):
        same(x, y, 0, f"argument {k}")
    return threads.shared_nests() - before


@pytest.mark.parametrize("name", one_in(3, PROGRAMS))
@pytest.mark.cases(3)
def test_the_bits_are_those_of_one_thread(name: str) -> None:
    f, args = PROGRAMS[name]
    assert serial_and_parallel(f, args) > 0


@pytest.mark.parametrize("name", WHOLE)
def test_what_is_not_shared_is_right_too(name: str) -> None:
    serial_and_parallel(*WHOLE[name])


LOOPS: dict[str, tuple[Callable[..., Any], list[Any]]] = {
    "before": (before, [RNG.random((500, 20))]),
    "places of two": (places_of_two, [RNG.random((2000, 3))]),
    "swapped": (swapped, [RNG.random((200, 200))]),
    "one place": (one_place, [RNG.random((3000, 2)), np.zeros(3)]),
    "by number": (by_number, [RNG.random(3000), RNG.integers(0, 3000, 3000), np.zeros(3000)]),
}


SHARED_LOOPS = ("each row", "each place", "filtered", "each column", "escaped", "looked up", "running sums")


@pytest.mark.parametrize("name", SHARED_LOOPS)
def test_loops_of_the_program_that_are_shared(name: str) -> None:
    f, args = PROGRAMS[name]
    assert "threads share the loop" in bufferize(f, parallel=True).lower(*args).as_text("loops")


@pytest.mark.parametrize("name", LOOPS)
def test_loops_whose_iterations_depend_on_one_another_are_not_shared(name: str) -> None:
    f, args = LOOPS[name]
    serial_and_parallel(f, args)
    assert "threads share the loop" not in bufferize(f, parallel=True).lower(*args).as_text("loops")


@pytest.mark.parametrize("tier", ["quick", "auto"])
@pytest.mark.cases(2)
def test_in_other_tiers(tier: str) -> None:
    f, args = PROGRAMS["waves"]
    assert serial_and_parallel(f, args, tier=tier) == 6
    f, args = PROGRAMS["filtered"]
    assert serial_and_parallel(f, args, tier=tier) == 1
    f, args = PROGRAMS["each row"]
    assert serial_and_parallel(f, args, tier=tier) == 1


@pytest.mark.slow
def test_small_nests_are_not_shared() -> None:
    with threads.shared_from(threads.LEAST):
        for n in (1, 10, 1000, 10_000, 100_000):
            assert serial_and_parallel(chain, [RNG.random(n), RNG.random(n)]) == 0
        assert serial_and_parallel(calls, [RNG.random(200_000)]) > 0


def test_no_elements() -> None:
    for shape in ((0,), (0, 5), (5, 0)):
        assert serial_and_parallel(chain, [np.ones(shape), np.ones(shape)]) == 0


def test_each_size_and_border() -> None:
    f = bufferize(parallel=True)(chain)
    sums = bufferize(parallel=True)(lambda a, b: (a - b).sum()), bufferize(lambda a, b: (a - b).sum())
    for n in (511, 512, 513, 1024, 512 * 37, 512 * 64, 512 * 64 + 1, 512 * 1000 + 77):
        a, b = RNG.random((2, n))
        assert sums[0](a, b) == sums[1](a, b), n
    for n in (*range(1, 70), 127, 128, 129, 1023, 1024, 1025, 5000):
        a, b = RNG.random((2, n))
        assert np.array_equal(f(a, b), chain(a, b)), n


def test_many_calls_by_machine_code() -> None:
    f = bufferize(parallel=True)(chain)
    a, b = RNG.random((2, N))
    want, before = chain(a, b), threads.shared_nests()
    for _ in range(20):
        assert np.array_equal(f(a, b), want)
    assert threads.shared_nests() - before == 20


def test_an_index_out_of_bounds_in_any_piece() -> None:
    f, (a, i) = bufferize(parallel=True)(gathered), PROGRAMS["gathered"][1]
    for k in (0, N // 2, N - 1):
        wrong = i.copy()
        wrong[k] = 1000
        with pytest.raises(IndexError, match="1000"):
            gathered(a, wrong)
        with pytest.raises(IndexError):
            f(a, wrong)
        assert np.array_equal(f(a, i), gathered(a, i))


def test_the_first_check_that_fails_raises() -> None:
    """Its message has its values, though later iterations fail too, in other pieces."""
    f, (a, i) = bufferize(parallel=True)(looked_up), PROGRAMS["looked up"][1]
    assert np.array_equal(f(a, i), looked_up(a, i))
    for k in (0, 1, 4000, 8999):
        wrong = i.copy()
        wrong[k:] += 5000 + np.arange(9000 - k)
        with pytest.raises(IndexError) as eager:
            looked_up(a, wrong)
        for _ in range(3):
            before = threads.shared_nests()
            with pytest.raises(IndexError) as ours:
                f(a, wrong)
            assert str(ours.value) == str(eager.value) and threads.shared_nests() > before
        assert np.array_equal(f(a, i), looked_up(a, i))


def test_outs_whose_iterations_may_share_elements_are_one_threads() -> None:
    """Windows that overlap: the last store of each element counts, as in NumPy."""

    def store(w: Any, a: Any) -> None:
        w[...] = a

    f = bufferize(parallel=True)(store)
    for strides in ((8, 8), (0, 8), (8, 0)):
        memory = np.zeros(2000)
        window = np.lib.stride_tricks.as_strided(memory, (500, 400), strides)
        before = threads.shared_nests()
        f(window, RNG.random((500, 400)))
        assert threads.shared_nests() == before


def test_concurrent_callers() -> None:
    """Calls of other threads than the main one are not shared, and right."""
    f = bufferize(parallel=True)(rows)
    data = [RNG.random((300, 50 + k)) for k in range(4)]
    wants = [f(a) for a in data]
    before = threads.shared_nests()

    def work(k: int) -> None:
        for _ in range(20):
            assert np.array_equal(f(data[k]), wants[k])

    at_once(work, 4)
    assert threads.shared_nests() == before


def test_the_loops_say_which_are_shared() -> None:
    a = RNG.random((5, 5))
    text = bufferize(parallel=True)(lambda a: a * 2 + 1).lower(a).as_text("loops")
    assert "threads share loop 0" in text
    assert "threads" not in bufferize(lambda a: a * 2 + 1).lower(a).as_text("loops")


def test_wrong_options() -> None:
    with pytest.raises(TypeError, match="parallel is True or False"):
        bufferize(parallel=2)(chain)
    with pytest.raises(ValueError, match="parallel goes with the back end 'llvm'"):
        bufferize(parallel=True, backend="numba")(chain)


def script(tmp_path: Path, text: str, **environment: str) -> list[str]:
    """The lines that a process prints."""
    (tmp_path / "script.py").write_text(HEAD + text)
    done = subprocess.run(
        [sys.executable, tmp_path / "script.py"], capture_output=True, text=True, timeout=300,
        env={**os.environ, **environment},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


HEAD = """
import os, sys
import numpy as np
from tracebuf import bufferize
from tracebuf.backend.llvm.texts import parallel
from tracebuf.backend.runtime import threads

threads._block[parallel.REPAY] = 0  # on a busy machine too

def f(a):
    return np.sin(a + 1) * a

g = bufferize(parallel=True)(f)
a = np.random.default_rng(0).random(1_000_000)

def shared():
    before = threads.shared_nests()
    assert np.array_equal(g(a), f(a))
    return threads.shared_nests() - before
"""


@pytest.mark.slow
@pytest.mark.parametrize("layer", ["omp", "workqueue"])
def test_the_layer_that_the_environment_names(tmp_path: Path, layer: str) -> None:
    text = "print(shared())\nfrom numba import threading_layer, set_num_threads\nprint(threading_layer())\n"
    text += "set_num_threads(1)\nprint(shared())"
    found = script(tmp_path, text, NUMBA_THREADING_LAYER=layer, NUMBA_NUM_THREADS="2")
    assert found == ["1", layer, "0"]


@pytest.mark.slow
def test_numba_is_loaded_when_threads_are_used(tmp_path: Path) -> None:
    text = "g(a[:1000])\nprint('numba' in sys.modules)\ng(a)\nprint('numba' in sys.modules)"
    assert script(tmp_path, text, NUMBA_NUM_THREADS="2") == ["False", "True"]


@pytest.mark.slow
def test_a_layer_that_is_not_there(tmp_path: Path) -> None:
    text = "try:\n    g(a)\nexcept ValueError as e:\n    print('unknown' in str(e))"
    assert script(tmp_path, text, NUMBA_THREADING_LAYER="threads of gold") == ["True"]


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
@pytest.mark.parametrize("layer", ["omp", "workqueue"])
def test_a_child_of_a_fork_is_right_by_itself(tmp_path: Path, layer: str) -> None:
    text = """
print(shared(), flush=True)
for _ in range(3):
    child = os.fork()
    if child == 0:
        os._exit(10 + shared())
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
print(shared())
"""
    found = script(tmp_path, text, NUMBA_THREADING_LAYER=layer, NUMBA_NUM_THREADS="2")
    assert found == ["1", "10", "10", "10", "1"]


SINES = "np.sin(" * 40 + "a" + ")" * 40
INTERRUPTED = f"""
import signal

def long(a):
    a[...] = {SINES}

class Late(Exception):
    pass

def handler(*_):
    raise Late

h = bufferize(parallel=True, tier="fast")(long)
h(a[:1000].copy())
many = np.tile(a, 8)
h(many[:200_000].copy())
signal.signal(signal.SIGALRM, handler)
signal.setitimer(signal.ITIMER_REAL, 0.05)
try:
    h(many)
except Late:
    done = np.count_nonzero(many != np.tile(a, 8))
    print("late", 0 < done < many.size, shared())
"""


@pytest.mark.slow
def test_a_signal_ends_a_nest_that_is_shared(tmp_path: Path) -> None:
    """The caller looks for signals between its pieces; the others take no more. The next call is as any."""
    assert script(tmp_path, INTERRUPTED, NUMBA_THREADING_LAYER="omp", NUMBA_NUM_THREADS="2") == ["late True 1"]


WORKERS = """
def work(k):
    assert np.array_equal(g(a + k), f(a + k))
    return threads.shared_nests()

if __name__ == "__main__":
    print(work(0))
    found = run()
    print(len(found), max(found) - START)
"""
HOSTS = {
    "loky": "from joblib import Parallel, delayed\nSTART = 0\n"
    "def run(): return Parallel(2, backend='loky')(delayed(work)(k) for k in range(4))",
    "joblib's threads": "from joblib import Parallel, delayed\nSTART = 1\n"
    "def run(): return Parallel(2, backend='threading')(delayed(work)(k) for k in range(4))",
    "dask's threads": "import dask\nSTART = 1\n"
    "def run(): return dask.compute(*[dask.delayed(work)(k) for k in range(4)], scheduler='threads')",
    "dask's processes": "import dask\nSTART = 0\n"
    "def run(): return dask.compute(*[dask.delayed(work)(k) for k in range(4)], scheduler='processes', num_workers=2)",
    "spawn": "import multiprocessing\nSTART = 0\n"
    "def run(): return multiprocessing.get_context('spawn').Pool(2).map(work, range(4))",
    "fork": "import multiprocessing\nSTART = 1\n"
    "def run(): return multiprocessing.get_context('fork').Pool(2).map(work, range(4))",
    "threads": "from concurrent.futures import ThreadPoolExecutor\nSTART = 1\n"
    "def run(): return list(ThreadPoolExecutor(2).map(work, range(4)))",
}


@pytest.mark.slow
@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("layer", ["omp", "workqueue"])
def test_workers_of_others_are_right_and_share_nothing(tmp_path: Path, host: str, layer: str) -> None:
    """Each core has a worker already."""
    for module in ("joblib", "dask"):
        if module in HOSTS[host]:
            pytest.importorskip(module)
    assert script(tmp_path, HOSTS[host] + WORKERS, NUMBA_THREADING_LAYER=layer, NUMBA_NUM_THREADS="2") == ["1", "4 0"]


DISTRIBUTED = """
def work(k):
    assert np.array_equal(g(a + k), f(a + k))
    return threads.shared_nests()

if __name__ == "__main__":
    from distributed import Client, LocalCluster
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
        print(client.gather(client.map(work, range(4))))
"""


@pytest.mark.slow
def test_workers_of_distributed(tmp_path: Path) -> None:
    pytest.importorskip("distributed")
    assert script(tmp_path, DISTRIBUTED, NUMBA_NUM_THREADS="2") == ["[0, 0, 0, 0]"]


NESTED = f"""
import signal

def long(a):
    a[...] = {SINES}

found = []

def handler(*_):
    found.append((shared(), threads._block[parallel.TAKEN]))

h = bufferize(parallel=True, tier="fast")(long)
many = np.tile(a, 6)
want = many.copy()
g(a)
h(want[:4_000_000]), h(want[4_000_000:])
signal.signal(signal.SIGALRM, handler)
signal.setitimer(signal.ITIMER_REAL, 0.05)
h(many)
print(found, np.array_equal(many, want), shared())
"""


@pytest.mark.slow
def test_a_handler_that_calls_while_a_nest_is_shared_shares_nothing(tmp_path: Path) -> None:
    assert script(tmp_path, NESTED, NUMBA_THREADING_LAYER="omp", NUMBA_NUM_THREADS="2") == ["[(0, 1)] True 1"]


COUNTS = """
from numba import set_num_threads

def all_of(a, b):
    s, t = (a * b).sum(), (a[1:] - b[:-1]).max()
    m = a[:999_000].reshape(999, 1000)
    return s, t, (m * 2).sum(), m.sum(axis=1), m.sum(axis=0), np.exp(m - m.max(axis=1, keepdims=True))

one, several = bufferize(all_of), bufferize(parallel=True)(all_of)
b = a[::-1].copy()
want = one(a, b)
with threads.shared_from(1):
    for n in (1, 2, 3, 4, 7):
        set_num_threads(n)
        before = threads.shared_nests()
        for _ in range(5):
            got = several(a, b)
            assert all(np.array_equal(x, y) for x, y in zip(got, want)), n
        assert (threads.shared_nests() > before) == (n > 1)
print("equal")
"""


@pytest.mark.slow
@pytest.mark.parametrize("layer", ["omp", "workqueue"])
def test_the_bits_do_not_depend_on_the_number_of_threads(tmp_path: Path, layer: str) -> None:
    assert script(tmp_path, COUNTS, NUMBA_THREADING_LAYER=layer, NUMBA_NUM_THREADS="7") == ["equal"]
