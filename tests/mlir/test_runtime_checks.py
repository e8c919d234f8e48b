"""What MLIR leaves undefined is an exception: nothing is read or written outside of a buffer."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.support.params import one_in
from tracebuf import mlir
from tracebuf.errors import UnsupportedError
from tracebuf.ops.control.checks import Check

X = np.arange(6.0)


@cache
def program(name: str) -> mlir.Program:
    return mlir.program(mlir.read((Path(__file__).parent / "out_of_bounds.mlir").read_text()), name)


GOOD: list[tuple[str, tuple[Any, ...], Any]] = [
    ("read", (X, 5), 5.0),
    ("store", (np.zeros((4, 2)), 3, 1, 1.0), [[0, 0]] * 3 + [[0, 1]]),
    ("part", (X, 1, 2, 3, 9.0), [0, 9, 2, 3, 9, 5]),
    ("part", (X, 6, 0, 1, 9.0), X),
    ("part", (X, 5, 1, 100, 9.0), [0, 1, 2, 3, 4, 9]),
    ("cast", (np.zeros(8), 2.0), np.full(8, 2.0)),
    ("sum", (X, X + 1), 2 * X + 1),
    ("new", (2, 0, 1.0), np.ones((2, 0))),
    ("new", (2, 3, 1.0), np.ones((2, 3))),
    ("store_part", (X, X[:2] + 9, 2), [9, 10, 2, 3, 4, 5]),
]
BAD: list[tuple[str, tuple[Any, ...], type[Exception]]] = [
    ("read", (X, 6), IndexError),
    ("read", (X, -1), IndexError),
    ("read", (X[:0], 0), IndexError),
    ("store", (np.zeros((4, 2)), 4, 0, 1.0), IndexError),
    ("store", (np.zeros((4, 2)), 0, 2, 1.0), IndexError),
    ("part", (X, 5, 2, 1, 9.0), IndexError),
    ("part", (X, -1, 2, 1, 9.0), IndexError),
    ("part", (X, 0, 3, 3, 9.0), IndexError),
    ("part", (X, 0, -1, 1, 9.0), IndexError),
    ("part", (X, 0, 2, -1, 9.0), IndexError),
    ("part", (X, 0, 3, 2**62, 9.0), IndexError),
    ("cast", (X, 2.0), ValueError),
    ("sum", (X, X[:5].copy()), ValueError),
    ("sum", (X[:5].copy(), X), ValueError),
    ("store_part", (X, X[:2] + 9, 3), ValueError),
    ("store_part", (X, X[:1] + 9, 3), ValueError),  # NumPy would repeat it
    ("product", (np.ones((2, 3)), np.ones((4, 2)), np.ones((2, 2))), ValueError),
    ("product", (np.ones((2, 3)), np.ones((3, 2)), np.ones((1, 2))), ValueError),
    ("product", (np.ones((1, 3)), np.ones((3, 2)), np.ones((2, 2))), ValueError),
    ("new", (-1, 2, 0.0), ValueError),
    ("new", (-3, -2, 0.0), ValueError),
    ("new", (2**40, 2**40, 0.0), MemoryError),
    ("new", (2**50, 2**10, 0.0), MemoryError),
]


def fresh(args: tuple[Any, ...]) -> list[Any]:
    return [a.copy() if isinstance(a, np.ndarray) else a for a in args]


@pytest.mark.parametrize(("name", "args", "expected"), one_in(3, GOOD, rows=True))
def test_what_is_within_bounds(name: str, args: tuple[Any, ...], expected: Any) -> None:
    p = program(name)
    for found in (p.on_memory(*fresh(args)).results, p(*fresh(args))):
        np.testing.assert_array_equal(found[0], expected)


@pytest.mark.parametrize(("name", "args", "kind"), BAD)
def test_what_is_not(name: str, args: tuple[Any, ...], kind: type[Exception]) -> None:
    p = program(name)
    for way in (p.on_values, p.on_memory, p):
        with pytest.raises(kind):
            way(*fresh(args))


def test_what_constants_show_is_not_checked() -> None:
    assert not [op for op in program("known").buffers.walk() if isinstance(op, Check)]


@pytest.mark.parametrize("kind", ["memref", "tensor"])
@pytest.mark.parametrize("dim", [2, -1])
def test_a_dimension_that_is_not_there_has_no_size(kind: str, dim: int) -> None:
    """Constant, it is refused before native code is made; the interpreters come to it."""
    module = mlir.read(DIMENSION.replace("KIND", kind).replace("DIM", str(dim)))
    with pytest.raises(UnsupportedError, match=f"has no dimension {dim}"):
        mlir.program(module)
    with pytest.raises(IndexError, match=f"dimension {dim} of shape"):
        mlir.interpret(module, args=(np.zeros((4, 5), np.int32),))


def test_a_size_below_zero_that_the_call_gives_is_an_index_error() -> None:
    p = mlir.program(mlir.read(SIZED), "f")
    for way in (p, p.on_values, p.on_memory):
        with pytest.raises(IndexError):
            way(np.arange(4.0), -1)


SIZED = """"func.func"() <{function_type = (tensor<?xf64>, index) -> tensor<?xf64>, sym_name = "f"}> ({
^bb0(%a: tensor<?xf64>, %n: index):
  %s = "tensor.extract_slice"(%a, %n) <{operandSegmentSizes = array<i32: 1, 0, 1, 0>, static_offsets = array<i64: 0>,
    static_sizes = array<i64: -9223372036854775808>, static_strides = array<i64: 1>}>
    : (tensor<?xf64>, index) -> tensor<?xf64>
  "func.return"(%s) : (tensor<?xf64>) -> ()
}) : () -> ()"""


DIMENSION = """"func.func"() <{function_type = (KIND<4x?xi32>) -> index, sym_name = "f"}> ({
^bb0(%m: KIND<4x?xi32>):
  %c = "arith.constant"() <{value = DIM : index}> : () -> index
  %d = "KIND.dim"(%m, %c) : (KIND<4x?xi32>, index) -> index
  "func.return"(%d) : (index) -> ()
}) : () -> ()"""
