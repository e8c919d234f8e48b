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


def callee(name: str, types: str, result: str, args: str, body: str) -> str:
    return f'''
"func.func"() <{{function_type = ({types}) -> {result}, sym_name = "{name}", sym_visibility = "private"}}> ({{
^bb0({args}):
{body}
}}) : () -> ()'''


TWICE_AS_LONG = callee(
    "last", "tensor<?xi32>", "(tensor<?xi32>, i32)", "%a: tensor<?xi32>", """
  %c0 = "arith.constant"() <{value = 0 : index}> : () -> index
  %c2 = "arith.constant"() <{value = 2 : index}> : () -> index
  %d = "tensor.dim"(%a, %c0) : (tensor<?xi32>, index) -> index
  %n = "arith.muli"(%d, %c2) : (index, index) -> index
  %e = "tensor.empty"(%n) : (index) -> tensor<?xi32>
  %z = "arith.constant"() <{value = 1 : i32}> : () -> i32
  %f = "linalg.fill"(%z, %e) <{operandSegmentSizes = array<i32: 1, 1>}> ({
  ^bb1(%in: i32, %out: i32):
    "linalg.yield"(%in) : (i32) -> ()
  }) : (i32, tensor<?xi32>) -> tensor<?xi32>
  %g = "tensor.insert_slice"(%a, %f, %d) <{operandSegmentSizes = array<i32: 1, 1, 0, 1, 0>,
    static_offsets = array<i64: 0>, static_sizes = array<i64: -9223372036854775808>, static_strides = array<i64: 1>}>
    : (tensor<?xi32>, tensor<?xi32>, index) -> tensor<?xi32>
  %x = "tensor.extract"(%f, %d) : (tensor<?xi32>, index) -> i32
  "func.return"(%g, %x) : (tensor<?xi32>, i32) -> ()""",
)  # fmt: skip

EACH_SIZE = f"""
"builtin.module"() ({{
{TWICE_AS_LONG}
"func.func"() <{{sym_name = "main", function_type =
  (tensor<?xi32>, tensor<?xi32>) -> (tensor<?xi32>, tensor<?xi32>, tensor<?xi32>, i32, i32)}}> ({{
^bb0(%a: tensor<?xi32>, %b: tensor<?xi32>):
  %h:2 = "func.call"(%b) <{{callee = @last}}> : (tensor<?xi32>) -> (tensor<?xi32>, i32)
  %q:2 = "func.call"(%a) <{{callee = @last}}> : (tensor<?xi32>) -> (tensor<?xi32>, i32)
  %r:2 = "func.call"(%q#0) <{{callee = @last}}> : (tensor<?xi32>) -> (tensor<?xi32>, i32)
  "func.return"(%h#0, %q#0, %r#0, %h#1, %r#1) : (tensor<?xi32>, tensor<?xi32>, tensor<?xi32>, i32, i32) -> ()
}}) : () -> ()
}}) : () -> ()
"""

FREED = EACH_SIZE.replace("(%h#0, %q#0, %r#0, %h#1, %r#1)", "(%a, %a, %b, %h#1, %q#1)")


@pytest.mark.parametrize("compat", ["mlir", None])
@pytest.mark.parametrize("n", [1, 3, 64, 1000])
def test_a_function_called_with_arrays_of_several_sizes(n: int, compat: Any) -> None:
    """Each call had the sizes of the first: buffers were too small, which crashed or gave wrong numbers."""
    a, b = np.arange(n, dtype=np.int32), np.arange(8, dtype=np.int32) + 5
    twice = lambda x: np.concatenate([x, np.ones_like(x)])  # noqa: E731
    for text, want in ((EACH_SIZE, [twice(b), twice(a), twice(twice(a)), 1, 1]), (FREED, [a, a, b, 1, 1])):
        program = mlir.program(mlir.read(text), "main", replace(mlir.DEFAULT, compat=compat))
        for results in (program.on_values(a, b), program.on_memory(a, b).results, program(a, b)):
            for got, wanted in zip(results, want, strict=True):
                np.testing.assert_array_equal(got, wanted)


SIZE_AS_ARGUMENT = f"""
"builtin.module"() ({{
{callee("mk", "index, i32", "tensor<?xi32>", "%n: index, %v: i32", '''
  %e = "tensor.empty"(%n) : (index) -> tensor<?xi32>
  %f = "linalg.fill"(%v, %e) <{{operandSegmentSizes = array<i32: 1, 1>}}> ({{
  ^bb1(%in: i32, %out: i32):
    "linalg.yield"(%in) : (i32) -> ()
  }}) : (i32, tensor<?xi32>) -> tensor<?xi32>
  "func.return"(%f) : (tensor<?xi32>) -> ()'''.replace("{{", "{").replace("}}", "}"))}
"func.func"() <{{sym_name = "main", function_type =
  (index, i32, i1) -> (tensor<?xi32>, tensor<?xi32>, tensor<?xi32>)}}> ({{
^bb0(%n: index, %v: i32, %c: i1):
  %c5 = "arith.constant"() <{{value = 5 : index}}> : () -> index
  %h = "func.call"(%c5, %v) <{{callee = @mk}}> : (index, i32) -> tensor<?xi32>
  %r = "scf.if"(%c) ({{
    %q = "func.call"(%n, %v) <{{callee = @mk}}> : (index, i32) -> tensor<?xi32>
    "scf.yield"(%q) : (tensor<?xi32>) -> ()
  }}, {{
    "scf.yield"(%h) : (tensor<?xi32>) -> ()
  }}) : (i1) -> tensor<?xi32>
  %m = "arith.addi"(%c5, %c5) : (index, index) -> index
  %s = "func.call"(%m, %v) <{{callee = @mk}}> : (index, i32) -> tensor<?xi32>
  "func.return"(%h, %r, %s) : (tensor<?xi32>, tensor<?xi32>, tensor<?xi32>) -> ()
}}) : () -> ()
}}) : () -> ()
"""


@pytest.mark.parametrize("compat", ["mlir", None])
def test_a_callees_size_is_an_argument(compat: Any) -> None:
    """It was an InternalError. Where the call is not reached, the argument may be negative."""
    program = mlir.program(mlir.read(SIZE_AS_ARGUMENT), "main", replace(mlir.DEFAULT, compat=compat))
    for n, c in ((3, True), (0, True), (-7, False), (40, False)):
        for run in (program, program.on_values, lambda *args: program.on_memory(*args).results):
            sizes = [len(x) for x in run(n, np.int32(4), np.bool_(c)) if (np.asarray(x) == 4).all()]
            assert sizes == [5, n if c else 5, 10]


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
