"""Every ufunc of NumPy on every pair of dtypes: what comes out, or the class of the error (rules N4, N5)."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
import pytest

from tests.support.agreement import agree, outcome, program
from tests.support.arrays import values
from tests.support.forms import batch
from tracebuf import BufferizedFunction, bufferize

UFUNCS = {getattr(np, n): n for n in sorted(dir(np)) if isinstance(getattr(np, n), np.ufunc)}
BINARY = [n for u, n in UFUNCS.items() if u.nin == 2 and u.signature is None]
UNARY = [n for u, n in UFUNCS.items() if u.nin == 1]
CHARS = "?bBhHiIlLefdFD"
NUMBERS = (3, 2.5, True, 1j, np.float32(2), np.int8(1))


def results(name: str, *args: Any) -> tuple[list[np.dtype] | None, Exception | None]:
    """The dtypes of what a ufunc gives, or what it raises."""
    with np.errstate(all="ignore"):
        made, error = outcome(getattr(np, name), args, {})
    if error is not None:
        return None, error
    return [x.dtype for x in (made if isinstance(made, tuple) else (made,))], None


@cache
def returning(text: str) -> BufferizedFunction:
    """A function of two operands, the same one for all dtypes."""
    return bufferize(program(f"def f(a, b):\n    return {text}"))


def operand_pairs(char: str) -> Iterator[tuple[Any, Any]]:
    a = np.ones(2, char)
    yield from ((a, np.ones(2, other)) for other in CHARS)
    yield from ((a, x) for x in NUMBERS)
    yield from ((x, a) for x in NUMBERS)


@pytest.mark.slow
@pytest.mark.parametrize("char", CHARS)
def test_n5_dtypes_of_every_binary_ufunc(char: str) -> None:
    """Beside each other dtype, and numbers on either side: of arrays of ones, by the traced program alone."""
    for pair in operand_pairs(char):
        found = {name: results(name, *pair) for name in BINARY}
        good = {n: d for n, (d, _) in found.items() if d is not None and all(x.char in CHARS for x in d)}
        calls = ", ".join(f"np.{n}(a, b)" for n in good)
        traced = bufferize(program(f"def f(a, b):\n    return ({calls},)")).trace(*pair)[1]
        types = [v.tensor_type.element.dtype for v in traced.func.block.terminator.operands]
        assert types == [d for dtypes in good.values() for d in dtypes], pair
        for name, (_, error) in found.items():
            if error is not None:
                _, raised = outcome(returning(f"np.{name}(a, b)").trace, pair, {})
                assert type(raised) is type(error), (name, pair, raised)


REST = ("arctan2", "hypot", "logaddexp", "logaddexp2", "lcm", "ldexp", "float_power", "divmod")


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ("bool", "int8", "uint16", "int64", "float16", "float32", "float64"))
def test_n4_values_of_the_others(dtype: str) -> None:
    """Those that test_dtypes.py leaves out, bit by bit."""
    a, b = values(dtype), values(dtype, 1)
    items = [f"np.{n}(a)" for n in UNARY if results(n, a)[1] is None]
    items += [f"np.{n}(a, b)" for n in REST if results(n, a, b)[1] is None]
    agree(batch(items, "a, b"), a, b)
