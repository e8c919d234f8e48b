"""`bufferize(backend="numba")`: calls whose loops Numba has compiled, held against eager NumPy."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tracebuf
from tests.support.arrays import floats
from tests.support.corpus import PROGRAMS
from tests.support.params import slow_but
from tracebuf.options import Options
from tracebuf.testing import ladder

pytest.importorskip("numba")


def alike(function: Any, *calls: Any, tolerance: float = 1e-9) -> Any:
    """Calls of the function by this back end, with eager NumPy's results and effects; the bufferized function."""
    f = tracebuf.bufferize(backend="numba")(function)
    eager = ladder.copy_first(function)
    rules = ladder.Rules(ladder.tolerance_of(tolerance, calls, ladder.source_of(function)))
    for args in calls:
        expected = ladder.call(eager, args)
        for _ in range(2):  # the second one is prepared
            ladder.compare(expected, ladder.call(f, args), rules, "numba", function.__name__)
    return f


def stepped(u: np.ndarray, v: np.ndarray, dt: float) -> Any:
    inner = v[1:-1]
    inner += dt * (u[2:] - u[:-2])
    for k in range(1, len(u)):
        u[k] += u[k - 1] * 0.5
    if u[0] > 100:
        raise ValueError(f"too large: {u[0]}")
    return inner, u, np.exp(v).sum(), int(len(u) * 3)


@pytest.mark.slow
def test_results_effects_aliasing_and_exceptions() -> None:
    small, wide = (np.arange(5.0), np.ones(5), 0.1), (np.arange(9.0), np.ones(9), 0.25)
    f = alike(stepped, small, wide, (np.full(5, 200.0), np.ones(5), 0.1), (np.arange(10.0)[::2], np.ones(5), 1.0))
    assert {s.kernel.confined for s in f.specializations()} == {'Numba compiles it (backend="numba")'}
    u = np.arange(5.0)
    result = f(u, np.ones(5), 0.1)
    assert result[1] is u and isinstance(result[3], int) and isinstance(result[2], np.float64)


def test_many_calls_stay_with_it_and_warn_as_compiled_code_does(monkeypatch: pytest.MonkeyPatch) -> None:
    f = tracebuf.bufferize(backend="numba")(lambda a: np.log(a) / a + np.sort(a))
    with warnings.catch_warnings(), np.errstate(all="raise"):
        warnings.simplefilter("error")
        for _ in range(400):
            f(np.array([0.0, -1.0, 2.0]))
        assert np.geterr()["divide"] == "raise"
    f.wait()
    f.release()
    (spec,) = f.specializations()
    assert spec.calls == 400 and spec.entry is None


def test_the_option(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="backend must be one of llvm, numba, not 'gcc'"):
        tracebuf.bufferize(backend="gcc")
    with tracebuf.options(backend="numba"):
        f = tracebuf.bufferize(lambda a: a * 2)
    assert f.options == Options(backend="numba") != Options()
    np.testing.assert_array_equal(f(np.ones(3)), [2, 2, 2])
    with pytest.raises(tracebuf.UnsupportedError, match='backend="numba"'):
        f.lower(np.ones(3)).compile().save(tmp_path / "f.tracebuf")
    assert "no copies" in str(f.explain(np.ones(3)))
    shown = tracebuf.bufferize(backend="numba")(lambda a: f"{a[0]:.2f}")
    with pytest.raises(tracebuf.UnsupportedError, match="which may keep what it gets"):
        shown(np.ones(3))


@pytest.mark.slow
def test_calls_are_counted() -> None:
    """What the program allocates and copies, as of the other back end; the call has its effects once."""

    def f(a: np.ndarray, n: int) -> np.ndarray:
        a += 1
        return np.concatenate([a[:n] * 2, a])

    mine, other = np.arange(5.0), np.arange(5.0)
    result, counters = tracebuf.bufferize(backend="numba")(f).call_counted(mine, 2)
    want, counted = tracebuf.bufferize(f).call_counted(other, 2)
    np.testing.assert_array_equal(result, want)
    np.testing.assert_array_equal(mine, np.arange(1.0, 6.0))
    assert counters == counted and counters.allocations == 1


def test_exceptions_have_the_line() -> None:
    def f(a: np.ndarray, k: float) -> np.ndarray:
        for i in range(len(a)):
            if a[i] > k:
                raise ValueError("too large")
        return np.linalg.inv(a.reshape(2, 2))

    for given, line in ((np.arange(4.0), 'raise ValueError("too large")'), (np.zeros(4), "np.linalg.inv")):
        notes = []
        for g in (tracebuf.bufferize(backend="numba")(f), tracebuf.bufferize(f)):
            with pytest.raises((ValueError, np.linalg.LinAlgError)) as error:
                g(given, 2.0)
            notes.append(error.value.__notes__)
        assert notes[0] == notes[1] and line in notes[0][0]


@pytest.mark.parametrize("name", slow_but(("gemver",), sorted(PROGRAMS)))
@pytest.mark.slow
def test_programs(name: str) -> None:
    function, arguments = PROGRAMS[name]
    random = np.random.default_rng(1)
    alike(function, arguments(lambda *shape: random.random(shape), 6))


@pytest.mark.slow
def test_an_element_that_is_an_array_of_its_own_and_bits_of_one_that_is_read() -> None:
    """Numba compiles neither `a[0, k, ...][None]` nor `a[i].view(...)`."""

    def last(a: Any, h: Any, m: int) -> Any:
        row = a.reshape(1, -1)
        while m > 0:
            h[2:3] = np.abs(row[:, -1])
            m -= 1
        return h[0]

    def fewest(h: Any, n: int) -> Any:
        h[:] = np.bincount(np.array([1, 0]) % n).min()

    alike(last, (floats(1, 5), floats(4), 2), (floats(2, 3), floats(4), 2))
    alike(fewest, (floats(4), 4))


def test_a_loop_whose_end_is_an_empty_if() -> None:
    def f(a, b):
        if a[0] == a[0]:
            t = 1
        while 2 and a.sum() and (t is b):
            pass

    ladder.climb(f, (np.arange(1, 2), np.ones(1)))


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_extremes_of_zeros_of_either_sign(dtype: str) -> None:
    """Of equal numbers NumPy gives the second, of halves the first."""

    def f(a, b):
        return np.minimum(a, b), np.maximum(a, b)

    a, b = np.meshgrid(*[np.array([0.0, -0.0, 1, -1, np.inf, np.nan], dtype)] * 2)
    ladder.climb(f, (a, b))
