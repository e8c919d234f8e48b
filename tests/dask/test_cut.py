"""`f.cut`: what it says of each axis is what the function does."""

from __future__ import annotations

import copy
import warnings
from typing import Any

import numpy as np
import pytest

import tracebuf
from tests.dask.functions import CASES, arrays
from tests.support.params import one_in
from tests.support.perturb import check_cut
from tracebuf import bufferize
from tracebuf.dask.cut import read
from tracebuf.errors import UnsupportedError

ALIKE = {"squared": "two axes", "with_outer": "along axis 1", "backwards": "step of -1"}


@pytest.mark.parametrize("name", one_in(6, CASES))
@pytest.mark.slow
def test_what_lies_outside_of_a_halo_does_not_matter_and_each_rim_does(name: str) -> None:
    f, args = CASES[name][0], copy.deepcopy(CASES[name][1])
    found = check_cut(bufferize(f), args, found=read(bufferize(f), args, {})[0])
    if name not in ALIKE and str(bufferize(f).cut(*args)) != str(found):
        check_cut(bufferize(f), args)


@pytest.mark.parametrize("name", ALIKE)
def test_axes_of_one_length_are_cut_alike_or_not_at_all(name: str) -> None:
    f, args = CASES[name]
    with pytest.raises(UnsupportedError, match=f"cannot be cut along any axis: .*{ALIKE[name]}"):
        bufferize(f).cut(*args)


def row_sums(u):
    s = np.zeros(u.shape[0])
    for i in range(u.shape[0]):
        s[i] = u[i].sum()
    return s


def anomaly(u):
    return u - u[3]


def each_place(x):
    y = np.zeros(len(x))
    for i in range(len(x)):
        y[i] = x[i].max() if x.ndim > 1 else 2 * x[i]
    return y


def places_of_largest(x):
    found = 0
    for _ in range(2):
        x = x + np.roll(x, 1)
        found += x.argmax()
    return found


def source_in_a_loop(x):
    for t in range(2):
        x[1:-1] += 0.2 * (x[2:] - 2 * x[1:-1] + x[:-2])
        x[len(x) // 2] += 0.1 * t


@pytest.mark.parametrize(("f", "shape", "said"), [
    (row_sums, (13, 9), ["independent", "whole"]), (anomaly, (13, 9), ["reduced by maximum, by place", "independent"]),
    (each_place, (19,), ["independent"]), (each_place, (13, 9), ["independent", "whole"]),
    (places_of_largest, (19,), ["reduced by minimum and maximum, by place"]),
    (source_in_a_loop, (29,), ["halo (2, 2), by place"]),
])  # fmt: skip
@pytest.mark.cases(3)
def test_what_is_said_is_what_is_done_on_dask_arrays(f: Any, shape: tuple[int, ...], said: list[str]) -> None:
    da, dask = pytest.importorskip("dask.array"), pytest.importorskip("dask")
    from tracebuf.dask import distribute

    args = arrays(shape)
    found = check_cut(bufferize(f), copy.deepcopy(args)).arguments
    assert [str(a) for a in found[next(iter(found))]] == said
    lazy = da.from_array(args[0].copy(), chunks=5 if len(shape) == 2 else 9)
    with warnings.catch_warnings(record=True) as told, dask.config.set(scheduler="synchronous"):
        warnings.simplefilter("always")
        result = distribute(bufferize(f))(lazy)
        expected = bufferize(f)(args[0])
        np.testing.assert_allclose(lazy, args[0], rtol=1e-13)
        if expected is not None:
            np.testing.assert_allclose(result, expected, rtol=1e-13)
    assert [f"axis {k} of" in str(t.message) for t in told for k, a in enumerate(said) if a == "whole"] == (
        [True] * said.count("whole")
    )


def kinds(name: str) -> dict[str, list[str]]:
    f, args = CASES[name]
    found = bufferize(f).cut(*copy.deepcopy(args))
    return {k: [str(a) for a in axes] for k, axes in found.arguments.items()}


@pytest.mark.slow
def test_kinds_of_axes() -> None:
    assert kinds("chain") == {"a": ["independent"] * 2, "b": ["independent"] * 2}
    assert kinds("columns") == {"a": ["reduced by add", "independent"]}
    assert kinds("largest")["a"] == ["reduced by maximum and minimum"] * 2
    assert kinds("product") == {"a": ["independent", "reduced by add"], "b": ["reduced by add", "independent"]}
    assert kinds("wave") == {"u": ["halo (1, 1), reduced by maximum"] * 2, "v": ["reduced by maximum"] * 2}
    assert kinds("twice") == {"a": ["halo (2, 2)"]}
    assert kinds("one_sided") == {"a": ["halo (0, 3)"]}
    assert kinds("rolled") == {"u": ["halo (1, 1) around the end", "halo (2, 0) around the end"]}
    assert kinds("wave_steps")["u"] == ["halo (T, T)"]
    assert kinds("insulated") == {"u": ["halo (T + 1, T + 1)"]}
    assert kinds("exchanged") == {"a": ["halo (3, 3)"], "b": ["halo (2, 2)"]}  # no formula says it for all T
    assert kinds("to_and_fro") == {"u": ["halo (3, 2)"]}
    assert kinds("lagged") == {"x": ["halo (max(-n, 0), max(n, 0))"]}
    assert kinds("lagged_in_place") == {"x": ["halo (3, 0)"]}
    assert kinds("edged") == {"u": ["halo (1, 1)"] * 2}
    assert kinds("reflected") == {"u": ["halo (2, 2)", "halo (1, 1)"]}
    assert kinds("three_times") == {"u": ["halo (6, 0)"]}


def test_lines_and_accesses_that_decide() -> None:
    f, args = CASES["with_its_transpose"]
    axis = bufferize(f).cut(*args).arguments["x"][0]
    assert axis.kind == "whole" and "along axis 1" in axis.access
    assert axis.line == f.__code__.co_firstlineno + 1


def test_where_nothing_can_be_cut_the_reason_is_raised() -> None:
    @bufferize
    def sums(x: np.ndarray) -> np.ndarray:
        return np.cumsum(x)

    with pytest.raises(UnsupportedError, match="sums cannot be cut along any axis: .*those before it") as error:
        sums.cut(*arrays((9,)))
    where = error.value.location
    assert where is not None and where.line == sums.__wrapped__.__code__.co_firstlineno + 2


def test_specs_stand_for_arguments_and_the_cut_is_data() -> None:
    f = bufferize(CASES["laplace"][0])
    found = f.cut(tracebuf.spec("f8[n,m]")).to_dict()
    axis = found["arguments"]["u"][0]
    assert (axis["kind"], axis["low"], axis["high"]) == ("halo", 1, 1)
    assert found["pairs"][0]["along"] == [0, 1]
    assert found["results"]["result"][0] == {"kind": "independent", "line": 0, "access": "", "margin": [1, 1]}


def test_a_recurrence_in_place_is_no_stencil() -> None:
    @bufferize
    def seidel(u: np.ndarray) -> None:
        for i in range(1, len(u) - 1):
            u[i] = (u[i - 1] + u[i + 1]) / 2

    with pytest.raises(UnsupportedError, match="hangs on the size"):
        seidel.cut(*arrays((9,)))


def test_a_border_after_a_roll_is_stored_by_place() -> None:
    @bufferize
    def held(u: np.ndarray) -> np.ndarray:
        v = np.roll(u, 1)
        v[0] = 0
        return v

    assert str(check_cut(held, arrays((9,))).arguments["u"][0]) == "halo (1, 0) around the end, by place"
