"""Bugs that were found by programs written for the purpose, in the style of numerical code, each as the smallest that
showed it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tracebuf import bufferize

Array = np.ndarray[Any, np.dtype[Any]]


def floats(*shape: int) -> Array:
    return np.arange(float(np.prod(shape, dtype=int))).reshape(shape) - 3


def test_a_function_whose_every_path_raises() -> None:
    """The tracer's own signal for code that cannot be reached left the function."""

    def program(a, b):
        if a[0] > 0:
            b[0] = b[7]
        else:
            b[1] = b[8]
        return b

    with pytest.raises(IndexError, match="index 8 is out of bounds"):
        bufferize(program)(floats(3), floats(3))


def test_an_error_that_is_certain_waits_for_earlier_ones() -> None:
    """Rule F3: an index that is always out of range was raised while tracing, before an error that comes first."""

    def program(a, b):
        s = 0.0
        for i in range(b.shape[0]):
            s += a[:, i, :0].max()
        return a[0, 0, 0] + s

    with pytest.raises(ValueError, match="zero-size array"):
        bufferize(program)(np.zeros((0, 2, 2)), np.zeros(2))
