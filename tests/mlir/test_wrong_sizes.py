"""Programs of MLIR text that leave their memory, or state sizes that are not so, raise; those that do not, run."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tracebuf import mlir

X = np.arange(6.0)
CASES: dict[str, tuple[str, str, list[tuple[Any, ...]], list[tuple[tuple[Any, ...], type[Exception]]]]] = {
    # the function's type; its ops (all but the return of %r); arguments that are fine; others, with what is raised
    "an element": (
        "(tensor<?xf64>, index) -> f64",
        '%r = "tensor.extract"(%0, %1) : (tensor<?xf64>, index) -> f64',
        [(X, 0), (X, 5)],
        [((X, 6), IndexError), ((X, -1), IndexError)],
    ),
    "an element stored": (
        "(tensor<?xf64>, index, f64) -> tensor<?xf64>",
        '%r = "tensor.insert"(%2, %0, %1) : (f64, tensor<?xf64>, index) -> tensor<?xf64>',
        [(X, 3, 1.0)],
        [((X, 2**62, 1.0), IndexError)],
    ),
    "a slice": (
        "(tensor<?xf64>, index, index, index) -> tensor<?xf64>",
        '%r = "tensor.extract_slice"(%0, %1, %2, %3) <{operandSegmentSizes = array<i32: 1, 1, 1, 1>, static_offsets = '
        "array<i64: -9223372036854775808>, static_sizes = array<i64: -9223372036854775808>, static_strides = "
        "array<i64: -9223372036854775808>}> : (tensor<?xf64>, index, index, index) -> tensor<?xf64>",
        [(X, 0, 6, 1), (X, 1, 2, 4), (X, 6, 0, 1), (X, 5, 1, 2**20), (X, 0, 0, 9)],
        [
            ((X, 0, 7, 1), IndexError),
            ((X, 1, 6, 1), IndexError),
            ((X, 2, 3, 2), IndexError),
            ((X, 0, 2, 2**62), IndexError),
            ((X, -1, 1, 1), IndexError),
            ((X, 2**63 - 1, 2, 1), IndexError),
        ],
    ),
    "a cast": (
        "(tensor<?xf64>, tensor<6xf64>) -> tensor<6xf64>",
        '%a = "tensor.cast"(%0) : (tensor<?xf64>) -> tensor<6xf64>\n'
        '%r = "linalg.exp"(%a, %1) <{operandSegmentSizes = array<i32: 1, 1>}> ({\n^bb0(%x: f64, %y: f64):\n'
        '%e = "math.exp"(%x) : (f64) -> f64\n"linalg.yield"(%e) : (f64) -> ()\n'
        "}) : (tensor<6xf64>, tensor<6xf64>) -> tensor<6xf64>",
        [(X, X)],
        [((X[:3], X), ValueError)],
    ),
    "loops": (
        "(tensor<?xf64>, tensor<?xf64>) -> tensor<?xf64>",
        '%r = "linalg.exp"(%0, %1) <{operandSegmentSizes = array<i32: 1, 1>}> ({\n^bb0(%x: f64, %y: f64):\n'
        '%e = "math.exp"(%x) : (f64) -> f64\n"linalg.yield"(%e) : (f64) -> ()\n'
        "}) : (tensor<?xf64>, tensor<?xf64>) -> tensor<?xf64>",
        [(X, X), (X[:0], X[:0])],
        [((X, X[:3]), ValueError), ((X[:3], X), ValueError)],
    ),
    "a store": (
        "(tensor<?xf64>, tensor<?xf64>, index) -> tensor<?xf64>",
        '%r = "tensor.insert_slice"(%0, %1, %2) <{operandSegmentSizes = array<i32: 1, 1, 0, 1, 0>, static_offsets = '
        "array<i64: 0>, static_sizes = array<i64: -9223372036854775808>, static_strides = array<i64: 1>}> : "
        "(tensor<?xf64>, tensor<?xf64>, index) -> tensor<?xf64>",
        [(X[:2], X, 2)],
        [((X[:2], X, 3), ValueError), ((X, X[:2], 6), IndexError)],
    ),
    "a new tensor": (
        "(index, f64) -> tensor<?xf64>",
        '%a = "tensor.empty"(%0) : (index) -> tensor<?xf64>\n'
        '%r = "linalg.fill"(%1, %a) <{operandSegmentSizes = array<i32: 1, 1>}> ({\n^bb0(%x: f64, %y: f64):\n'
        '"linalg.yield"(%x) : (f64) -> ()\n}) : (f64, tensor<?xf64>) -> tensor<?xf64>',
        [(3, 1.0), (0, 1.0)],
        [],
    ),
    "more axes": (
        "(tensor<?xf64>, index, index) -> tensor<?x?xf64>",
        '%r = "tensor.expand_shape"(%0, %1, %2) <{reassociation = [[0, 1]], static_output_shape = '
        "array<i64: -9223372036854775808, -9223372036854775808>}> : (tensor<?xf64>, index, index) -> tensor<?x?xf64>",
        [(X, 2, 3)],
        [((X, 2, 4), ValueError), ((X[:0], 2**32, 2**32), MemoryError)],
    ),
    "a loop": (
        "(tensor<?xf64>, index) -> tensor<?xf64>",
        '%r = "scf.for"(%1, %1, %1, %0) ({\n^bb0(%i: index, %t: tensor<?xf64>):\n"scf.yield"(%t) : '
        "(tensor<?xf64>) -> ()\n}) : (index, index, index, tensor<?xf64>) -> tensor<?xf64>",
        [(X, 1)],
        [],
    ),
}


def program(name: str) -> mlir.Program:
    type_, ops, _, _ = CASES[name]
    arguments, _, result = type_.partition(" -> ")
    names = ", ".join(f"%{k}: {t}" for k, t in enumerate(arguments.strip("()").split(", ")))
    text = (
        f'"builtin.module"() ({{\n"func.func"() <{{function_type = {type_}, sym_name = "f"}}> ({{\n^bb0({names}):\n'
        f"{ops}\n"
        f'"func.return"(%r) : ({result}) -> ()\n}}) : () -> ()\n}}) : () -> ()\n'
    )
    return mlir.program(mlir.read(text), "f")


def copied(args: tuple[Any, ...]) -> list[Any]:
    return [a.copy() if isinstance(a, np.ndarray) else a for a in args]


@pytest.mark.parametrize("name", CASES)
def test_what_is_right_runs(name: str) -> None:
    f = program(name)
    for args in CASES[name][2]:
        (expected,) = f.on_values(*copied(args))
        for results in (f.on_memory(*copied(args)).results, f(*copied(args))):
            np.testing.assert_allclose(results[0], expected, rtol=1e-15)


@pytest.mark.parametrize("name", [name for name in CASES if CASES[name][3]])
def test_what_is_wrong_raises(name: str) -> None:
    f = program(name)
    for args, kind in CASES[name][3]:
        for run in (f.on_memory, f):
            with pytest.raises(kind):
                run(*copied(args))


def test_sizes_less_than_0_are_refused() -> None:
    with pytest.raises(ValueError, match="a tensor of size -1"):
        program("a new tensor")(-1, 1.0)
    with pytest.raises(IndexError, match="a slice leaves"):
        program("a slice")(X.copy(), 0, -1, 1)


@pytest.mark.slow
def test_a_step_of_0_is_refused() -> None:
    with pytest.raises(ValueError, match="a loop whose step is 0"):
        program("a loop")(X.copy(), 0)
