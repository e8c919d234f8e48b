"""`tracebuf.dask.distribute`: dask arrays give what arrays give."""

from __future__ import annotations

import copy
import warnings
from functools import lru_cache
from typing import Any

import numpy as np
import pytest

from tests.dask.functions import CASES
from tests.support.params import one_in
from tracebuf import bufferize
from tracebuf.errors import TracebufWarning, UnsupportedError

da = pytest.importorskip("dask.array")
dask = pytest.importorskip("dask")

from tracebuf.dask import distribute, tiles, worker  # noqa: E402

pytestmark = [
    pytest.mark.filterwarnings("ignore::tracebuf.errors.TracebufWarning"), pytest.mark.usefixtures("one_thread"),
]  # fmt: skip
SUMS = {"total", "columns", "rows_mean", "standard", "softmax", "product", "matvec", "gram", "stencil_total", "norm",
        "conjugate", "begun", "ranked"}  # fmt: skip
"""Whose sums are combined from parts."""
REFUSED = {"backwards": "step of -1", "gathered": "indices",
           "squared": "two axes", "with_outer": "two axes"}  # fmt: skip


def larger(a: Any) -> Any:
    """An array three times as long along each axis."""
    if not isinstance(a, np.ndarray) or a.dtype.kind not in "fc":
        return a
    rng = np.random.default_rng(a.size)
    made = rng.random(tuple(3 * n for n in a.shape)) + 0.1
    return made + 1j * made[::-1] if a.dtype.kind == "c" else made


def arguments(name: str) -> list[Any]:
    args = [larger(a) for a in CASES[name][1]]
    if name == "staggered":
        args[0] = np.resize(args[0], len(args[1]) + 1)
    return args


def given(args: list[Any], chunks: Any = 11) -> list[Any]:
    return [da.from_array(a, chunks=chunks) if isinstance(a, np.ndarray) else a for a in copy.deepcopy(args)]


def listed(result: Any) -> list[Any]:
    return [] if result is None else list(result) if isinstance(result, tuple) else [result]


@lru_cache(4)
def bufferized(f: Any) -> Any:
    """One for all calls of a test, which compile once."""
    return bufferize(f)


def agree(f: Any, args: list[Any], close: bool = False, chunks: Any = 11, steps: int | None = None) -> list[Any]:
    """Results and arguments afterwards, on dask arrays, which are compared with those on arrays."""
    eager, lazy = copy.deepcopy(args), given(args, chunks)
    made = bufferized(f)
    expected = listed(made(*eager)) + [a for a in eager if isinstance(a, np.ndarray)]
    found = listed(distribute(made, steps=steps)(*lazy)) + [a for a in lazy if isinstance(a, da.Array)]
    for e, x in zip(expected, found, strict=True):
        assert x.dtype == np.asarray(e).dtype and x.shape == np.shape(e)
        value = x.compute()
        assert np.shape(value) == np.shape(e)
        if close:
            np.testing.assert_allclose(value, e, rtol=1e-13 if np.asarray(e).dtype.itemsize > 4 else 1e-5)
        else:
            np.testing.assert_array_equal(value, e)
    return found


@pytest.mark.parametrize("name", one_in(12, [n for n in CASES if n not in REFUSED]))
@pytest.mark.cases(9)
def test_chunks_give_the_bits_of_the_function(name: str) -> None:
    agree(CASES[name][0], arguments(name), close=name in SUMS)


@pytest.mark.parametrize("name", one_in(6, ["wave", "heat", "driven", "turning", "insulated", "wave_steps"]))
@pytest.mark.parametrize("steps", [1, 2])
def test_steps_between_exchanges_do_not_matter(name: str, steps: int) -> None:
    agree(CASES[name][0], arguments(name), steps=steps)


@pytest.fixture
def small_tiles(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Tiles of a few rows; how many each chunk had."""
    monkeypatch.setattr(tiles, "WASTE", 1)
    monkeypatch.setattr(tiles, "LEAST", 2)
    counts: list[int] = []
    run = worker.in_tiles

    def counted(stage: Any, job: Any, tiling: Any, *rest: Any) -> Any:
        counts.append(len(tiling.tiles))
        return run(stage, job, tiling, *rest)

    monkeypatch.setattr(worker, "in_tiles", counted)
    return counts


TILED = dict.fromkeys(["upwind", "staggered", "insulated", "driven", "one_sided", "twice"], 40)
TILED |= dict.fromkeys(["laplace", "wave", "heat", "blurred", "rolled", "stencil_total", "turning"], 300)
TILED |= {"volume": 5_000, "padded_2d": 600}
"""How many bytes tiles have."""


@pytest.mark.parametrize("name", one_in(5, TILED))
@pytest.mark.cases(3)
def test_tiles_give_the_bits_of_the_function(
    name: str, small_tiles: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tiles, "BYTES", TILED[name])
    agree(CASES[name][0], arguments(name), close=name in SUMS)
    assert max(small_tiles) > 1


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_cut_is_refused_with_the_reason(name: str) -> None:
    with pytest.raises(UnsupportedError, match=f"(?s)cannot be cut as its arguments are: .*{REFUSED[name]}"):
        distribute(bufferize(CASES[name][0]))(*given(arguments(name), 5))


@pytest.mark.parametrize("name", REFUSED)
def test_of_one_chunk_everything_runs(name: str) -> None:
    agree(CASES[name][0], arguments(name), chunks=-1)


def test_chunks_stay_as_they_are_where_they_can() -> None:
    f, args = CASES["laplace"]
    found = agree(f, [larger(args[0])], chunks=(10, 21))[0]
    assert found.chunks == ((10, 10, 13), (21, 21)) or found.chunks == ((10, 10, 10, 3), (21, 21))


def test_windows_are_put_together_once_and_no_chunk_is_changed() -> None:
    def bump(u: np.ndarray) -> None:
        u[1:-1] += u[2:] + u[:-2]

    source = np.arange(40.0)
    x = da.from_array(source, chunks=10)
    before = x + 0
    distribute(bump)(x)
    np.testing.assert_array_equal(before.compute(), np.arange(40.0))
    np.testing.assert_array_equal(source, np.arange(40.0))
    bump(source)
    np.testing.assert_array_equal(x.compute(), source)


def test_a_chunk_that_is_its_own_window_is_not_changed() -> None:
    """The first chunk of a stencil that looks one way needs nothing of others."""
    f = CASES["upwind"][0]
    source = np.random.default_rng(1).random(40)
    x = da.from_array(source.copy(), chunks=10).persist()
    before = x.copy()
    distribute(bufferize(f))(x, 0.3)
    expected = source.copy()
    f(expected, 0.3)
    for _ in range(2):
        np.testing.assert_array_equal(x.compute(), expected)
    np.testing.assert_array_equal(before.compute(), source)


def test_a_stored_argument_that_is_no_dask_array_is_refused() -> None:
    def double(u: np.ndarray) -> None:
        u *= 2

    with pytest.raises(UnsupportedError, match="u is stored to and is no dask array"):
        distribute(double)(np.ones(4))


def test_sizes_that_the_data_decide_are_refused() -> None:
    def selected(x: np.ndarray) -> Any:
        return x[x > 0.5]

    with pytest.raises(UnsupportedError, match="cannot be cut|whose size the data decide"):
        distribute(selected)(da.ones(40, chunks=10))
    with pytest.raises(UnsupportedError, match="whose size the data decide"):
        distribute(selected)(da.ones(40, chunks=40))


@pytest.mark.slow
def test_tiles_of_a_stencil_with_a_number_out_of_an_array(
    small_tiles: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What an earlier stage gives has no axes, or none that is in tiles."""

    def levelled(x: np.ndarray, w: np.ndarray) -> Any:
        top, rows = x.max(), x.max(axis=0)
        return (x[2:, 1:] - x[:-2, :-1]) / top + rows[1:] * w[1:]

    monkeypatch.setattr(tiles, "BYTES", 300)
    agree(levelled, [np.random.default_rng(1).random((40, 30)), np.arange(30.0)])
    assert max(small_tiles) > 1


def test_what_is_rechunked_is_told_with_the_line_that_decides() -> None:
    f, args = CASES["sorted_rows"]
    x = da.from_array(args[0], chunks=(4, 5))
    with pytest.warns(TracebufWarning) as told:
        found, other = distribute(bufferize(f))(x)
    (text,) = [str(w.message) for w in told]
    assert "axis 1 of x (3 chunks) is rechunked to one chunk, since numpy.ndarray.sort takes whole rows" in text
    assert f"line {f.__code__.co_firstlineno + 1}" in text and told[0].filename == __file__
    assert found.numblocks == other.numblocks == (3, 1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        distribute(bufferize(f))(da.from_array(args[0], chunks=(4, -1)))


def test_large_arrays_are_traced_as_small_ones() -> None:
    """Nothing is allocated until something is computed."""

    def scaled(x: np.ndarray, y: np.ndarray) -> Any:
        return (x[1:] - x[:-1]) * y

    x = da.ones((10**6, 10**6), chunks=(10**5, 10**5))
    y = da.ones((10**6 - 1, 10**6), chunks=(10**5, 10**5))
    found = distribute(scaled)(x, y)
    assert found.shape == y.shape and found.numblocks == (10, 10)


def test_numbers_of_several_kinds() -> None:
    def mixed(x: np.ndarray, k: int, flag: bool, name: str) -> Any:
        return (x * k if flag else x), x.shape[0], {"a": x + 1}["a"], name

    x = np.arange(12.0)
    y, n, z, name = distribute(mixed)(da.from_array(x, chunks=5), 3, True, "v")
    np.testing.assert_array_equal(y.compute(), x * 3)
    np.testing.assert_array_equal(z.compute(), x + 1)
    assert (n, name) == (12, "v")


@pytest.mark.parametrize("dtype", ["f4", "i4", "i8", "u1", "?"])
@pytest.mark.cases(3)
def test_dtypes(dtype: str) -> None:
    def several(x: np.ndarray) -> Any:
        return x[1:] + x[:-1], x.max(), x.min()

    x = (np.random.default_rng(1).random(41) * 2).astype(dtype)
    agree(several, [x])


@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_short_axes(n: int) -> None:
    def smooth(u: np.ndarray) -> Any:
        out = u.copy()
        out[1:-1] = u[2:] + u[:-2]
        return out, u.sum()

    agree(smooth, [np.arange(float(n))], chunks=2)


def test_uneven_chunks_and_one_array_twice() -> None:
    def f(x: np.ndarray, y: np.ndarray) -> Any:
        return x[2:] * y[:-2]

    x = np.random.default_rng(1).random(50)
    a = da.from_array(x, chunks=((3, 17, 1, 20, 9),))
    np.testing.assert_array_equal(distribute(f)(a, a).compute(), f(x, x))
    b = da.from_array(x, chunks=7)
    np.testing.assert_array_equal(distribute(f)(a, b).compute(), f(x, x))


def less_mean_and_spread(x: np.ndarray) -> tuple[Any, ...]:
    """A stage that reduces, one that needs neighbours of the same array, and another of its results."""
    level = x - x.mean()
    smooth = (level[:-2] + level[1:-1] + level[2:]) / 3
    return smooth, smooth.sum(), smooth.max(), (smooth * smooth).sum(keepdims=True)


@pytest.mark.slow
def test_what_chunks_take_few_tasks_for() -> None:
    """Tasks cost as much as the work on a small chunk: a stage that only reduces takes of its chunk what neighbours
    need, and what a stage reduces is combined together."""
    x = np.random.default_rng(0).random((60, 20))
    lazy = da.from_array(x, chunks=(10, 10))
    found = distribute(bufferize(less_mean_and_spread))(lazy)
    for a, b in zip(dask.compute(*found), less_mean_and_spread(x)):
        np.testing.assert_allclose(a, b, rtol=1e-12)
    names = [key[0] if isinstance(key, tuple) else key for key in found[0].__dask_graph__()]
    assert not [n for n in names if n.startswith("rim-")]
    assert len([n for n in names if "stage_of" in str(n)]) <= 3 * 12 + 20


def test_neighbours_are_taken_once_by_each_stage() -> None:
    """Two stages that need neighbours of one array after a reduction of it."""

    def f(x: np.ndarray) -> Any:
        y = x[1:] - x[:-1] * x.mean()
        return y, x[2:] + x[:-2] / y.sum()

    x = np.random.default_rng(0).random(64)
    for a, b in zip(dask.compute(*distribute(bufferize(f))(da.from_array(x, chunks=9))), f(x)):
        np.testing.assert_allclose(a, b, rtol=1e-12)


def test_no_iterations_between_exchanges_are_refused() -> None:
    with pytest.raises(ValueError, match="steps=0"):
        distribute(CASES["heat"][0], steps=0)


def test_what_dask_forgets_of_resources_is_said() -> None:
    f, args = CASES["heat"]
    with pytest.warns(TracebufWarning, match="optimization.fuse.active"):
        distribute(f, resource="memory")(*given(list(args)))
    with dask.config.set({"optimization.fuse.active": False}), warnings.catch_warnings():
        warnings.simplefilter("error")
        distribute(f, resource="memory")(*given(list(args)))


def test_what_a_step_calls_for_its_effect_is_refused_beside_reductions() -> None:
    def told(a: Any) -> Any:
        s = a.max()
        print("the largest is known")
        return a - s

    with pytest.raises(UnsupportedError, match="one cannot be sent to workers: it calls print"):
        distribute(told)(*given([np.ones((30, 30))]))


def test_a_source_is_fused_with_the_stage_that_reads_it() -> None:
    """Of a stage several of whose items are taken; dask alone leaves it a task of its own."""

    @bufferize
    def f(x: Any) -> Any:
        y = np.sqrt(x)
        return y, y.sum(), y - y.mean()

    from dask.callbacks import Callback

    ran: list[str] = []
    x = da.random.default_rng(0).random((40, 40), chunks=20)
    with Callback(pretask=lambda key, dsk, state: ran.append(str(key))):
        dask.compute(*distribute(f)(x))
    assert not any("'random-" in key and "stage" not in key for key in ran), ran
