"""Programs as people write them, on every rung of the ladder and with other sizes in the same compiled function."""

from __future__ import annotations

import numpy as np
import pytest

import tracebuf
from tests.support.corpus import PROGRAMS
from tests.support.params import one_in
from tracebuf.options import Options
from tracebuf.testing.ladder import climb

STRATEGIES = (Options(verify=True), Options(heuristic="fuzzer", seed=3), Options(strategy="copy-before-write"))


@pytest.mark.slow
@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name: str) -> None:
    function, arguments = PROGRAMS[name]
    random = np.random.default_rng(0)
    sizes = [arguments(lambda *shape: random.random(shape), n) for n in (6, 9)]
    climb(function, sizes[0], again=sizes[1:], strategies=STRATEGIES, tolerance=1e-9)


@pytest.mark.parametrize(
    "name",
    one_in(4, ["jacobi", "heat", "fdtd", "lu", "cholesky_by_dots", "syrk", "trmm", "bubble_sort", "trapezoids"]),
)
def test_nothing_is_allocated(name: str) -> None:
    function, arguments = PROGRAMS[name]
    random = np.random.default_rng(0)
    args = arguments(lambda *shape: random.random(shape), 8)
    native = tracebuf.measure(tracebuf.bufferize(function), *args, repeat=1).native
    assert native.allocations == native.copies == native.peak_bytes == 0
