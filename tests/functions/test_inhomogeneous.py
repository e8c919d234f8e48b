"""Lists that are no array: NumPy's text says after how many axes they differ, and which shape was found."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tracebuf
from tests.support.agreement import agree

EYE = np.eye(4)


def pair(a: Any, b: Any) -> Any:
    return np.array([a, b])


def nested(a: Any, b: Any) -> Any:
    return np.array([[1, 2], [a, 3], b], dtype=float)


def uneven(a: Any, b: Any) -> Any:
    return np.array([[a, b], [a]])


def caught(a: Any, b: Any) -> Any:
    try:
        return np.array([a, b])
    except ValueError as error:
        return str(error)


def operand(a: Any, b: Any) -> Any:
    return np.add(a, (b, 1))


@pytest.mark.parametrize("f", [pair, nested, uneven, caught, operand], ids=lambda f: f.__name__)
@pytest.mark.parametrize(
    "args", [(EYE, EYE), (EYE, EYE[:2]), (EYE, EYE[:, :3]), (EYE, EYE[0]), (EYE[0], 3.0), (1.5, (1, 2)), (1.5, 2.0)],
    ids=["alike", "rows", "columns", "ndim", "number", "tuple", "numbers"],
)  # fmt: skip
def test_the_detected_shape_is_told(f: Any, args: tuple[Any, ...]) -> None:
    agree(f, *args)
    assert text_of(tracebuf.bufferize(f), *args) == text_of(f, *args)


def text_of(f: Any, *args: Any) -> str:
    """What the exception of a call says."""
    try:
        f(*args)
    except ValueError as error:
        return str(error)
    return ""


def rows(n: Any) -> Any:
    out = []
    for i in range(n):
        out.append([1.0] * (i + 1))
    return np.array(out)


@pytest.mark.parametrize("n", [1, 3])
@pytest.mark.slow
def test_the_detected_shape_of_lists_of_run_time_length(n: int) -> None:
    agree(rows, n)
    assert text_of(tracebuf.bufferize(rows), n) == text_of(rows, n)
