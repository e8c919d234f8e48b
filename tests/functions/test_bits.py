"""np.packbits and np.unpackbits, as formulas (rules C1, S6)."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.agreement import agree, program, refused
from tests.support.params import one_in
from tracebuf import bufferize

PACKED = ("a", "a, axis=0", "a, axis=1", "a, axis=-1", "a.T, axis=0", "a.T", "a[:, ::2], axis=1", "a > 1, 1",
          "a, axis=2", "a, bitorder='x'", "a, bitorder='little'", "a[0, :0]", "a[0]", "[1, 0, 1]", "3",
          "a * 1.0")  # fmt: skip
UNPACKED = ("a", "a, axis=0", "a.T, axis=0", "a, axis=1, count=5", "a, count=-3", "a, axis=1, count=200",
            "a, axis=0, count=-100", "a[::2, ::3], axis=1, bitorder='little'", "a, count=0", "a, count=1.5", "a[0]",
            "a.astype(int)", "np.packbits(a > 1), count=a.size")  # fmt: skip
CALLS = [*(f"np.packbits({x})" for x in PACKED), *(f"np.unpackbits({x})" for x in UNPACKED)]


@pytest.mark.parametrize("text", one_in(4, CALLS))
@pytest.mark.cases(12)
def test_bits(text: str) -> None:
    f = program(f"def f(a):\n    return {text}")
    empty = [] if "a[0" in text or "count=" in text else [(2, 0)]  # bits beyond none are what memory holds in NumPy
    for shape in ((3, 10), (1, 16), *empty):
        agree(f, np.random.default_rng(0).integers(0, 256, shape).astype(np.uint8))


@pytest.mark.parametrize("text", ["np.packbits(a)", "np.unpackbits(a)"])
def test_only_the_result_is_allocated(text: str) -> None:
    f = bufferize(program(f"def f(a):\n    return {text}"))
    _, counts = f.call_counted(np.ones(1000, np.uint8))
    assert (counts.allocations, counts.copies) == (1, 0)


def test_a_number_has_no_axis() -> None:
    refused(program("def f(a):\n    return np.packbits(a[0], axis=0)"), np.ones(3, np.uint8))
