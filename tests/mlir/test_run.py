"""Programs of MLIR text, run: on values, on memory and natively."""

from __future__ import annotations

import random
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.mlir import memrefs as buffers
from tests.mlir import test_memrefs
from tests.support.params import one_in, slow_but
from tracebuf import mlir, opt
from tracebuf.errors import TracebufError, UnsupportedError
from tracebuf.ir.printer import print_module
from tracebuf.passes import PASSES

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


@pytest.mark.parametrize("seed", slow_but([2], range(12)))
@pytest.mark.slow
def test_functions_of_buffers_run_in_each_way(seed: int) -> None:
    """They were refused, though all that they need ran."""
    text = buffers.program(random.Random(seed), loops=seed % 2 == 0)
    f = mlir.program(mlir.read(text), "f")
    for drawn, results, left in test_memrefs.expected(text):
        for run in (f, lambda *args: f.on_memory(*args).results, f.on_values):
            args = test_memrefs.arguments(drawn)
            for got, wanted in zip([*run(*args), *args[5:]], [*results, *left], strict=True):
                np.testing.assert_array_equal(got, wanted)


LAYOUTS = """
"func.func"() <{function_type = (memref<?x4xf64>, memref<?xf64, strided<[?], offset: ?>>) -> (), sym_name = "f"}> ({
^bb0(%a: memref<?x4xf64>, %b: memref<?xf64, strided<[?], offset: ?>>):
  "func.return"() : () -> ()
}) : () -> ()
"""


def test_buffers_have_the_strides_that_their_types_ask_for() -> None:
    f, any_strides = mlir.program(mlir.read(LAYOUTS)), np.ones(9)[::-2]
    for fits in (np.ones((3, 4)), np.ones((0, 4))[:, ::-1], np.ones((6, 4))[2:3], np.ones((6, 4))[::6]):
        assert f(fits, any_strides) == []
    for other in (np.ones((6, 4))[::2], np.ones((4, 3)).T, np.ones((3, 8))[:, ::2]):
        with pytest.raises(ValueError, match="not an array of strides"):
            f(other, any_strides)


@pytest.mark.parametrize("name", one_in(6, PASSES))
def test_passes_run_from_python_and_leave_the_module(name: str) -> None:
    options = "=dialects=tensor" if name == "partial-bufferize" else ""
    text = buffers.program(random.Random(1), loops=False)
    module = mlir.read(text)
    before = print_module(module)
    with suppress(UnsupportedError):
        after = mlir.run_passes(module, name + options)
        assert print_module(after) == opt.run(opt.parse(["-", f"-{name}{options}"]), text, "<text>")
    assert print_module(module) == before


def test_passes_from_python_are_checked() -> None:
    module = mlir.read(LAYOUTS)
    with pytest.raises(opt.UsageError, match="unknown flag -buffer-hosting"):
        mlir.run_passes(module, "buffer-hosting")
    with pytest.raises(opt.UsageError, match="max-rank"):
        mlir.run_passes(module, "-promote-buffers-to-stack=max-rank=2")
