"""np.convolve, np.correlate (rules C1, C2, Z1, Z4)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.support.agreement import agree, close, program
from tests.support.forms import check_forms, expression
from tests.support.params import slow_but
from tracebuf import bufferize
from tracebuf.testing.ladder import climb

RNG = np.random.default_rng(4)
LONG, SHORT = RNG.uniform(0.5, 1, 50), RNG.uniform(0.5, 1, 7)
VALUES: dict[str, Any] = {
    "a": LONG, "v": SHORT, "w": SHORT[:1], "big": RNG.uniform(0.5, 1, 5000), "i": RNG.integers(-3, 4, 20),
    "k": RNG.integers(-3, 4, 5), "b": RNG.random(9) > 0.5, "f": LONG.astype(np.float32), "h": SHORT.astype(np.float16),
    "z": SHORT + 1j * SHORT[::-1], "e": np.zeros(0), "m": np.ones((2, 2)), "i8": np.array([100, 100, 3], np.int8),
}  # fmt: skip
PAIRS = (
    "a, v|v, a|a, a|a, w|w, w|w, a|big, v|big, a|i, k|b, b|f, f[:4]|h, h[:4]|z, z[:4]|a, z|z[:4], a|a[::2], v[::-1]"
    "|i, v|i8, i8|e, a|a, e|m, a|a, 2.0|2.0, 3.0|a, [1, 2.5]|[2, n], a|a[:7], v|a[:6], v|a[::-1], v[::2]"
).split("|")
MODES = {"convolve": ("", ', "same"', ', mode="valid"'), "correlate": ("", ', "full"', ', mode="same"')}


@pytest.mark.slow
@pytest.mark.parametrize("pair", PAIRS)
def test_c1_every_mode(pair: str) -> None:
    calls = [f"np.{function}({pair}{mode})" for function in MODES for mode in MODES[function]]
    check_forms(calls, 300, {**VALUES, "n": 3}, together=6)


@pytest.mark.slow
def test_a_mode_that_is_the_default_may_be_named() -> None:
    expression('np.convolve(a, v, "full"), np.correlate(a, v, mode="valid")', VALUES, ulp=300)


@pytest.mark.slow
def test_signs_that_cancel() -> None:
    """Rule C2: the error is as small as NumPy's, whatever cancels."""
    a, v = RNG.normal(size=3000), RNG.normal(size=101)
    for mode in ("full", "same", "valid"):
        got = bufferize(program(f"def f(a, v):\n    return np.convolve(a, v, '{mode}')"))(a, v)
        assert np.allclose(got, np.convolve(a, v, mode), rtol=0, atol=1e-12)


@pytest.mark.slow
def test_special_values_reach_what_they_touch() -> None:
    a, v = LONG.copy(), SHORT.copy()
    a[9], v[2] = np.inf, np.nan
    for x, y in ((a, SHORT), (LONG, v), (a, v)):
        agree(program("def f(a, v):\n    return np.convolve(a, v), np.correlate(a, v, 'same')"), x, y, ulp=100)


def test_a_mode_that_is_none_raises() -> None:
    for mode in ("'bar'", "7", "''"):
        agree(program(f"def f(a, v):\n    return np.convolve(a, v, {mode})"), LONG, SHORT)


@pytest.mark.slow
def test_z1_sizes_are_symbolic() -> None:
    """Rule Z1: one program for all sizes of which the same is the longer."""
    f = bufferize(program("def f(a, v):\n    return np.convolve(a, v, 'same')"))
    for n, m in ((50, 7), (3000, 8), (9, 9), (2000, 3)):
        agree(f, RNG.uniform(0.5, 1, n), RNG.uniform(0.5, 1, m), ulp=100)
    assert len(f.specializations()) == 1


@pytest.mark.slow
def test_on_every_rung() -> None:
    """Rule S2: nothing is allocated but results, and the turned kernel that NumPy copies too."""

    def program(a, v):
        smooth = np.convolve(a, v, "same") / v.sum()
        return smooth, np.correlate(a - smooth, v, "full")

    climb(program, (LONG, SHORT), again=[(VALUES["big"], LONG)], tolerance=1e-12)


def split(a, n, mode):
    return np.convolve(a[:n], a[n:], mode), np.correlate(a[:n], 1j * a[n:], mode)


@pytest.mark.parametrize("mode", slow_but(["valid"], ["valid", "same", "full"]))
@pytest.mark.slow
def test_which_is_the_longer_is_found_at_run_time(mode):
    """Which of two arrays is the longer decides what slides."""
    assert close(np.convolve(LONG, SHORT), np.convolve(SHORT, LONG), 0)
    whole = np.arange(-9.0, 40.0)
    for n in (0, 1, len(whole) // 2, len(whole) - 2):
        agree(split, whole, n, mode)


@pytest.mark.slow
def test_which_is_the_longer_changes_in_a_loop():
    def totals(a, n):
        total = 0.0
        for k in range(1, n):
            total += np.convolve(a[:k], a[: n - k]).sum()
        return total

    climb(totals, (LONG, 9), tolerance=1e-12)
