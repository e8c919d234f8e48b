"""`assert_matches_numpy`, and arguments as source."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st

import tracebuf
from tracebuf import bufferize
from tracebuf.ops.scalars import arith
from tracebuf.testing import assert_matches_numpy
from tracebuf.testing.arrays import LAYOUTS, array
from tracebuf.testing.checks.literals import statements
from tracebuf.testing.strategies import arrays, overlapping


def moved(a: Any, k: int) -> Any:
    b = a[::-1] * 2.0
    a[k % 2 :] += 1
    return b, a[-1]


def added(u: Any, v: Any) -> Any:
    u[:] = v * 2 + u
    return v


@pytest.mark.slow
def test_functions_that_match() -> None:
    assert_matches_numpy(moved, arrays("float64", dims=1), st.integers(0, 3), max_examples=5)
    assert_matches_numpy(bufferize(added), overlapping("float64", dims=1), max_examples=5)


@pytest.mark.slow
def test_a_difference_is_shrunk_and_written_as_source(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arith.MulF, "instruction", "fadd")
    with pytest.raises(AssertionError) as error:
        assert_matches_numpy(moved, arrays("float64", dims=1, special=False), st.just(1), max_examples=20)
    text = str(error.value)
    source = "    a = np.array([0.0])\n    k = 1\n    moved(a, k)\n"
    assert text.startswith(f"moved does not match NumPy:\n\n{source}\n"), text
    assert "first different: native\nresult[0][0]: np.float64(0.0) in eager NumPy, np.float64(2.0) here" in text


@pytest.mark.slow
def test_what_is_refused_or_wrongly_asked() -> None:
    with pytest.raises(tracebuf.UnsupportedError, match="a call of id") as error:
        assert_matches_numpy(lambda a: a + id(a), arrays("float64"))
    assert "    a = np.array(0.0)\n    f(a)" in error.value.__notes__[0]
    with pytest.raises(TypeError, match="has its own options"):
        assert_matches_numpy(bufferize(added), overlapping(), strategy="optimal")


def test_source_of_arguments_makes_equal_ones() -> None:
    memory = np.arange(8.0)
    base = np.arange(12, dtype=np.int16).reshape(3, 4)
    cases: list[tuple[Any, ...]] = [
        *((array("float32", shape, 1, layout),) for shape in ((3,), (2, 3), (0, 2)) for layout in LAYOUTS),
        (array("complex128", (2,), 3), np.array([np.nan, np.inf, -np.inf, -0.0]), 1.5, np.float32(2), np.int8(3), True),
        (memory[1:4], memory[3:0:-1], memory[::2]),
        (base[::2, 1:], base.T, [1, (2.0, np.nan)], {"a": None}),
        (memory, memory, np.array(3.0), np.broadcast_to(np.array([2.0]), (2, 3))),
    ]
    for values in cases:
        names = [f"x{k}" for k in range(len(values))]
        space: dict[str, Any] = {"np": np}
        exec("\n".join(statements(names, values)), space)
        made = [space[n] for n in names]
        for x, y in zip(values, made):
            assert type(x) is type(y)
            if isinstance(x, np.ndarray):
                assert (x.dtype, x.shape, x.flags.writeable) == (y.dtype, y.shape, y.flags.writeable)
                assert np.array_equal(x, y, equal_nan=True) and (x.strides == y.strides or not x.size)
        for (x, y), (v, w) in itertools.combinations(zip(values, made), 2):
            assert (x is v) == (y is w) or not isinstance(x, np.ndarray)
            if isinstance(x, np.ndarray) and isinstance(v, np.ndarray):
                assert np.shares_memory(x, v) == np.shares_memory(y, w)
