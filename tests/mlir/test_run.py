"""Programs of MLIR text, run: on values, on memory and natively."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tracebuf import mlir
from tracebuf.errors import TracebufError

CONSTANT_OF_A_CALLEE = """
"builtin.module"() ({
  "func.func"() <{function_type = () -> tensor<3xf64>, sym_name = "h", sym_visibility = "private"}> ({
    %0 = "arith.constant"() <{value = dense<[1.0, 2.0, 3.0]> : tensor<3xf64>}> : () -> tensor<3xf64>
    "func.return"(%0) : (tensor<3xf64>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (index) -> tensor<3xf64>, sym_name = "main"}> ({
  ^bb0(%i: index):
    %t = "func.call"() <{callee = @h}> : () -> tensor<3xf64>
    %o = "tensor.extract"(%t, %i) : (tensor<3xf64>, index) -> f64
    %n = "arith.addf"(%o, %o) <{fastmath = #arith.fastmath<none>}> : (f64, f64) -> f64
    %r = "tensor.insert"(%n, %t, %i) : (f64, tensor<3xf64>, index) -> tensor<3xf64>
    "func.return"(%r) : (tensor<3xf64>) -> ()
  }) : () -> ()
}) : () -> ()
"""

TWO_ARGUMENTS = """
"builtin.module"() ({
  "func.func"() <{function_type = (tensor<6xf64>, tensor<6xf64>) -> tensor<6xf64>, sym_name = "f"}> ({
  ^bb0(%a: tensor<6xf64>, %b: tensor<6xf64>):
    "func.return"(%a) : (tensor<6xf64>) -> ()
  }) : () -> ()
}) : () -> ()
"""

PUT_BACK = """
"builtin.module"() ({
  "func.func"() <{arg_attrs = [{bufferization.writable = false}], function_type = (tensor<6xf64>) -> tensor<6xf64>,
                  sym_name = "f"}> ({
  ^bb0(%a: tensor<6xf64>):
    %s = "tensor.extract_slice"(%a) <{operandSegmentSizes = array<i32: 1, 0, 0, 0>, static_offsets = array<i64: 2>,
      static_sizes = array<i64: 3>, static_strides = array<i64: 1>}> : (tensor<6xf64>) -> tensor<3xf64>
    %r = "tensor.insert_slice"(%s, %a) <{operandSegmentSizes = array<i32: 1, 1, 0, 0, 0>,
      static_offsets = array<i64: 2>, static_sizes = array<i64: 3>, static_strides = array<i64: 1>}>
      : (tensor<3xf64>, tensor<6xf64>) -> tensor<6xf64>
    "func.return"(%r) : (tensor<6xf64>) -> ()
  }) : () -> ()
}) : () -> ()
"""

COLUMN = """
"builtin.module"() ({
  "func.func"() <{arg_attrs = [{bufferization.writable = false}], function_type = (tensor<4x8xf64>) -> tensor<4xf64>,
                  sym_name = "f"}> ({
  ^bb0(%a: tensor<4x8xf64>):
    %s = "tensor.extract_slice"(%a) <{operandSegmentSizes = array<i32: 1, 0, 0, 0>, static_offsets = array<i64: 0, 4>,
      static_sizes = array<i64: 4, 1>, static_strides = array<i64: 1, 2>}> : (tensor<4x8xf64>) -> tensor<4x1xf64>
    %r = "tensor.collapse_shape"(%s) <{reassociation = [[0, 1]]}> : (tensor<4x1xf64>) -> tensor<4xf64>
    "func.return"(%r) : (tensor<4xf64>) -> ()
  }) : () -> ()
}) : () -> ()
"""


@pytest.mark.parametrize("compat", ["mlir", None])
def test_a_collapsed_axis_steps_along_the_last_one_that_is_longer_than_1(compat: Any) -> None:
    """It stepped along the last one, as if 4 rows of 1 column lay 2 elements apart."""
    program = mlir.program(mlir.read(COLUMN), options=replace(mlir.DEFAULT, compat=compat))
    a = np.arange(32.0).reshape(4, 8)
    for results in (program.on_values(a), program.on_memory(a).results, program(a)):
        np.testing.assert_array_equal(results[0], a[:, 4])


@pytest.mark.parametrize("compat", ["mlir", None])
def test_a_slice_that_is_put_back_costs_nothing(compat: Any) -> None:
    program = mlir.program(mlir.read(PUT_BACK), options=replace(mlir.DEFAULT, compat=compat))
    found = program.on_memory(np.arange(6.0))
    np.testing.assert_array_equal(found.results[0], np.arange(6.0))
    assert (found.counts.allocations, found.counts.copies) == (0, 0)


@pytest.mark.parametrize("ways", [{}, {"copy_before_write": True}, {"analysis_heuristic": "optimal"}])
def test_a_constant_that_a_callee_returns_is_not_stored_to(ways: dict[str, object]) -> None:
    program = mlir.program(mlir.read(CONSTANT_OF_A_CALLEE), "main", replace(mlir.DEFAULT, **ways))  # type: ignore[arg-type]
    want = np.array([1.0, 4.0, 3.0])
    for _ in range(2):
        for results in (program.on_values(1), program.on_memory(1).results, program(1)):
            np.testing.assert_array_equal(results[0], want)


def test_overlapping_arguments_are_refused() -> None:
    """MLIR behaviour 45: the program takes it that its arguments are apart."""
    program = mlir.program(mlir.read(TWO_ARGUMENTS))
    a = np.arange(12.0)
    np.testing.assert_array_equal(program(a[:6], a[6:])[0], np.arange(6.0))
    for run in (program, program.on_values, program.on_memory):
        with pytest.raises(ValueError, match="share memory"):
            run(a[:6], a[3:9])


def test_mlirs_store_into_a_callees_constant_is_not_run() -> None:
    with pytest.raises(TracebufError, match="read-only"):
        mlir.program(mlir.read(CONSTANT_OF_A_CALLEE), "main", replace(mlir.DEFAULT, compat="mlir"))
