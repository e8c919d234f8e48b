"""scf.for that counts in integers: the native code once had a phi of two types."""

from __future__ import annotations

from functools import reduce
from operator import xor

import numpy as np
import pytest

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


SPAN = """
"func.func"() <{function_type = (i64, i64, i64) -> (i64, index), sym_name = "f"}> ({
^bb0(%low: i64, %high: i64, %step: i64):
  %zero = "arith.constant"() <{value = 0 : i64}> : () -> i64
  %c0 = "arith.constant"() <{value = 0 : index}> : () -> index
  %c1 = "arith.constant"() <{value = 1 : index}> : () -> index
  LOW
  %x, %n = "scf.for"(%l, %h, %s, %zero, %c0) ({
  ^bb1(%i: i64, %a: i64, %k: index):
    %b = "arith.xori"(%a, %i) : (i64, i64) -> i64
    %m = "arith.addi"(%k, %c1) : (index, index) -> index
    "scf.yield"(%b, %m) : (i64, index) -> ()
  }) : (i64, i64, i64, i64, index) -> (i64, index)
  "func.return"(%x, %n) : (i64, index) -> ()
}) : () -> ()
"""


@pytest.mark.parametrize(
    ("low", "high", "step"),
    [
        (-(2**63), 2**63 - 1, 2**62), (-(2**63), 2**63 - 1, 2**61 + 3), (-(2**62) - 5, 2**62 + 9, 2**60 + 1),
        (-(2**63), 0, 2**62), (2**63 - 1, -(2**63), 2**62), (-(2**63), 2**63 - 2, 2**63 - 1), (-7, 2**63 - 1, 2**62),
    ],
)  # fmt: skip
def test_loops_longer_than_the_greatest_integer(low: int, high: int, step: int) -> None:
    """Natively they ended after one iteration: the way from the lower to the upper bound was no 64-bit integer."""
    counted = range(low, high, step)
    want = [reduce(xor, counted, 0), len(counted)]
    names = {"l": ("low", low), "h": ("high", high), "s": ("step", step)}
    constant = '%{} = "arith.constant"() <{{value = {} : i64}}> : () -> i64\n'
    constants = "".join(constant.format(n, v) for n, (_, v) in names.items())
    given = "".join(f'%{n} = "arith.ori"(%{a}, %zero) : (i64, i64) -> i64\n' for n, (a, _) in names.items())
    args = [np.int64(v) for v in (low, high, step)]
    for made in (constants, given):
        module = mlir.read(SPAN.replace("LOW", made))
        program = mlir.program(module, "f")
        assert list(mlir.interpret(module, "f", args).results) == want
        assert program.on_values(*args) == want
        assert program.on_memory(*args).results == want
        assert program(*args) == want
