"""Calls of single functions that once differed from eager NumPy's (found by tracebuf.testing.functions)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.support.agreement import agree, program, refused

pytestmark = pytest.mark.slow

F4 = np.asfortranarray(np.ones((2, 3, 2), np.float32))
EMPTY = np.zeros((0, 3, 2))
ZERO = np.array(5.0)
COLUMNS = np.asfortranarray(np.arange(6.0).reshape(2, 3))
VALUES: dict[str, Any] = {
    "a": np.arange(6.0).reshape(2, 3), "c": COLUMNS, "v": np.arange(3.0), "z": ZERO, "f": F4, "e": EMPTY, "n": 3,
    "i": np.arange(6).reshape(2, 3), "h": np.arange(3, dtype=np.float32), "u": np.uint8(3), "one": 1,
    "fixed": np.broadcast_to(np.arange(3), (3,)), "out": np.zeros((4, 3)), "shorts": np.zeros(3, np.int16),
    "rep": np.broadcast_to(np.arange(2.0)[:, None], (2, 3)),
}  # fmt: skip


def check(text: str) -> None:
    words = set("".join(c if c.isalnum() or c == "_" else " " for c in text).split())
    names = [n for n in VALUES if n in words]
    agree(program(f"def f({', '.join(names)}):\n    return {text}"), *(VALUES[n] for n in names))


@pytest.mark.parametrize(
    "text",
    [
        "np.concatenate((f, e))",  # an array without elements decides the order of axes: its strides are 0
        "np.concatenate((c, rep))",  # and so does a repeated axis
        "np.concatenate((c, c)), np.concatenate((c, a)), np.concatenate((a, c))",
        "np.concatenate((a, i), out=out), np.stack((v, h), dtype=np.float32), np.concatenate((a, i), dtype=int)",
        "np.concatenate((i, i), dtype=np.int8, casting='unsafe'), np.hstack((h, h), casting='safe')",
        "np.concatenate((a, a), dtype=int, casting='safe')",
        "np.concatenate((a, a), out=v)",
        "np.vstack((v, h), dtype=np.float32)",
        "np.flip(z), np.flip(a, ()), np.flip(a, (0, 1))",
        "np.flip(z, 0)",
        "np.moveaxis(z, 0, 0)",
        "np.unstack(v), np.unstack(a, axis=1)",
        "np.split(z, [1])",
        "np.size(a, 1), np.size(a, (0, 1)), np.size(a, axis=-1)",
        "np.size(z, 0)",
        "np.clip(a, a_min=1)",
        "np.clip(a, 1, 2, min=1)",
        "np.clip(a, min=1), np.clip(a, None, 2), a.clip(1), a.clip(max=2), np.clip(a)",
        "np.float64(a) is a, np.float32(c), np.int64(i), np.bool(c)",
        "np.zeros_like(c, shape=(4, 2)), np.full_like(c, 2, shape=(3, 2)), np.full_like(c, 2, shape=(3,))",
        "np.add(v, 0.5, out=fixed)",  # read-only before the cast
        "np.copyto(fixed, 1e9)",
        "np.arange(0, 4.0, -1, dtype=np.uint32), np.arange(3, 4, -5, dtype=np.uint8)",
        "len(np.arange(u, 1)), np.arange(u, 7)",  # NumPy subtracts in the numbers' own type: 1 - 3 is 254
    ],
)
def test_c1_calls_that_once_differed(text: str) -> None:
    check(text)


@pytest.mark.parametrize(
    "text",
    [
        "(np.add.at(shorts, [0, 0], 1.5), shorts)",  # the result is converted whatever it is
        "(np.bitwise_or.at(shorts, 1, -1), np.arccosh.at(shorts, 0), shorts)",
        "(np.power.at(shorts, [0, 1], -1), shorts)",
        "np.power(e[0:0, 0, 0] > 0, -1)",
        "np.bitwise_and.reduce(fixed, where=fixed > 0)",
        "np.take_along_axis(a, [0, 1])",
        "np.put_along_axis(v, 1, 0.5, 1)",
        "np.compress(z, a)",
        "np.compress(v > 0, z, axis=0), np.compress([False, True], a, axis=0)",
        "np.compress([1, 1, 1, 1, 1], np.zeros((3, 0)), axis=0)",
        "np.compress([1, 1, 1, 1], np.zeros((0, 3)), axis=1)",
        "np.take(z, 0, axis=0), np.take(a, [1, 0], out=h[:2])",
        "np.take(a, [1, 0], out=i[0, :2])",
        "(np.place(shorts, fixed > 0, [1, 2]), np.putmask(v, v > 1, [7.0, 8, 9]), shorts, v)",
        "np.place(shorts, fixed > 0, v)",
        "(np.put(z, 0, [4, 5]), z)",
        "np.put(np.zeros((2, 0)), 1, 2)",
        "np.unravel_index(u, (2, 3)), np.unravel_index(0, ()), np.unravel_index(i.T % 3, (2, 2))[0]",
        "np.unravel_index(1.0, (2, 2))",
        "np.dot(v, v, out=z)",
    ],
)
def test_c1_functions_of_indices(text: str) -> None:
    check(text)


def test_f3_an_earlier_error_wins() -> None:
    """An index is checked before what cannot be done behind it, whatever is known first."""
    for end in ("a[...] = 1", "raise ValueError", "np.zeros(3).reshape(2)"):
        f = program(f"def f(a, b):\n    r = a[b]\n    {end}\n    return r")
        agree(f, np.broadcast_to(np.ones(3), (2, 3)), np.array([2, 0]))


def test_parameters_that_only_numpy_has_are_refused_by_name() -> None:
    error = refused(program("def f(a):\n    return np.tri(3, like=a)"), VALUES["a"])
    assert "like=" in str(error)
    agree(program("def f(a):\n    return np.flip(a, 0, sideways=True)"), VALUES["a"])
    agree(program("def f(a):\n    return a.copy(1, 2)"), VALUES["a"])


@pytest.mark.parametrize(
    "text",
    [
        "np.sum(f, axis=0, where=np.ones((2, 3, 2)) > 0)",  # the mask has a say in the order of axes
        "np.std(c, axis=(), where=np.ones((2, 3)) > 0)",
        "a.std(correction=1)",
        "np.round(np.array([[1 + 2j, -0.0 + 2.55j]]), 1), np.round(i.T), np.round(rep.astype(int))",
        "np.float32(2.25).round(1), np.diff(u, n=0)",
        "np.trapezoid(z)",
        "v[0].item(), v[1].item(0)",
        "v[0].item(-2)",
        "np.trapezoid(a, axis=5)",
        "np.unwrap(z)",
        "np.cov(np.ones((3, 1)) * v[:, None], y=np.ones((1, 3)) > 0, rowvar=False)",
        "np.cov(i, dtype=int)",
        "(np.fill_diagonal(shorts[:, None] + fixed, 2**40))",
        "np.nan_to_num(v, posinf=1j)",
        "np.bincount(np.zeros(0, np.uint64))",
        "np.bitwise_or.reduceat(v, [0, 9])",
        "np.argmax(np.array([1j, np.nan + 1j, 2]))",
        "np.divmod(v, 2, out=(shorts, fixed))",
        "np.left_shift(-1, shorts.astype(np.int8), dtype='uint8')",
    ],
)
def test_c1_statistics_and_rounding(text: str) -> None:
    check(text)
