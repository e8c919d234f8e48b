"""`assert_memory`: one real call of a function against limits, with the numbers and the lines where it fails."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tracebuf import bufferize
from tracebuf.testing import assert_memory


def smooth(x: Any, rounds: int) -> Any:
    for _ in range(rounds):
        x[1:-1] = (x[:-2] + x[1:-1] + x[2:]) / 3
    return x - x.mean()


def shifted(u: Any) -> None:
    u[0] = 0


TABLE = np.ones(1000)


@bufferize
def counts(u: Any) -> Any:
    TABLE[:] += u
    return u[TABLE > 2]


def test_what_keeps_its_limits_passes_and_is_told() -> None:
    x = np.arange(1000.0)
    used = assert_memory(bufferize(smooth), x, 3, max_allocations=4, max_copies=0, max_peak=16_000)
    assert (used.allocations, used.copies, used.peak_bytes) == (4, 0, 8000)
    assert x.tolist() == list(range(1000)), "the arguments stay"
    assert str(used).splitlines()[2].split() == ["allocations", "4"]
    assert assert_memory(smooth, x, rounds=1, max_allocations=9, max_bytes=48_000).copies is None


def test_captured_arrays_stay_and_sizes_may_depend_on_data() -> None:
    used = assert_memory(counts, np.linspace(0, 2, 1000), max_allocations=2)
    assert used.allocations >= 1 and TABLE.sum() == 1000


def test_a_failure_has_numbers_and_lines() -> None:
    x = np.arange(1000.0)
    with pytest.raises(AssertionError) as error:
        assert_memory(bufferize(smooth), x, 3, max_allocations=1, max_peak=0)
    text = str(error.value)
    assert text.startswith("smooth: 4 allocations, where max_allocations=1; 8,000 bytes at once, where max_peak=0\n")
    assert "x[1:-1] = (x[:-2] + x[1:-1] + x[2:]) / 3" in text and "return x - x.mean()" in text
    careful = bufferize(strategy="copy-before-write")(shifted)
    with pytest.raises(AssertionError, match=r"(?s)2 copies, where max_copies=0.*copied bytes +16,000.*    u\[0\] = 0"):
        assert_memory(careful, x, max_copies=0)


def test_a_plain_function_fails_with_its_lines() -> None:
    with pytest.raises(AssertionError) as error:
        assert_memory(smooth, np.arange(1000.0), 5, max_allocations=10)
    text = str(error.value)
    assert text.startswith("smooth: 29 allocations, where max_allocations=10\n"), text
    assert "25 allocations, 117.0 KiB\n    x[1:-1] = (x[:-2] + x[1:-1] + x[2:]) / 3" in text
    assert "copies                not observable" in text


def test_a_call_of_the_original_says_so() -> None:
    f = bufferize(fallback="numpy")(unknown)
    with pytest.warns(Warning), pytest.raises(AssertionError) as error:
        assert_memory(f, np.ones(100), max_copies=0)
    assert "copies cannot be counted, where max_copies=0" in str(error.value)
    assert "the original function ran, not compiled code: File" in str(error.value)
    assert "return u + id(u)" in str(error.value)


def unknown(u: Any) -> Any:
    return u + id(u)


class Box:
    def __init__(self) -> None:
        self.u = np.ones(50)

    @bufferize
    def grow(self, k: float) -> None:
        self.u = self.u * k


def test_methods_and_wrong_uses() -> None:
    box = Box()
    assert assert_memory(box.grow, 2.0, max_bytes=400).allocations == 1
    assert box.u.sum() == 50
    with pytest.raises(TypeError, match="wants a limit: max_allocations, "):
        assert_memory(shifted, np.ones(3))
    with pytest.raises(TypeError, match="max_copies is for bufferized functions"):
        assert_memory(smooth, np.ones(3), 1, max_copies=0)
