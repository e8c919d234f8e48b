"""scf.for that counts in integers: the native code once had a phi of two types."""

from __future__ import annotations

import numpy as np

from tracebuf import mlir

COUNTS = """
"builtin.module"() ({
  "func.func"() <{function_type = (tensor<8xf64>, i32, i32) -> tensor<8xf64>, sym_name = "f"}> ({
  ^bb0(%arg0: tensor<8xf64>, %arg1: i32, %arg2: i32):
    %0 = "arith.constant"() <{value = 1 : i32}> : () -> i32
    %1 = "arith.constant"() <{value = 0 : index}> : () -> index
    %2 = "scf.for"(%arg1, %arg2, %0, %arg0) ({
    ^bb0(%arg3: i32, %arg4: tensor<8xf64>):
      %3 = "arith.sitofp"(%arg3) : (i32) -> f64
      %4 = "tensor.insert"(%3, %arg4, %1) : (f64, tensor<8xf64>, index) -> tensor<8xf64>
      "scf.yield"(%4) : (tensor<8xf64>) -> ()
    }) : (i32, i32, i32, tensor<8xf64>) -> tensor<8xf64>
    "func.return"(%2) : (tensor<8xf64>) -> ()
  }) : () -> ()
}) : () -> ()
"""


def test_loops_count_in_integers() -> None:
    f = mlir.program(mlir.read(COUNTS), "f")
    for low, high in ((0, 3), (-2, 3), (-3, -1), (2, 2)):
        (found,) = f(np.zeros(8), np.int32(low), np.int32(high))
        assert found[0] == (high - 1 if low < high else 0)


def test_loops_that_compare_as_unsigned() -> None:
    """They ran as signed: the attribute was lost."""
    text = COUNTS.replace("%arg0) ({", "%arg0) <{unsignedCmp}> ({")
    assert "unsignedCmp" in text
    f = mlir.program(mlir.read(text), "f")
    for low, high, last in ((0, 3, 2), (-2, 3, 0), (-3, -1, -2), (2, 2, 0)):
        (found,) = f(np.zeros(8), np.int32(low), np.int32(high))
        assert found[0] == last
