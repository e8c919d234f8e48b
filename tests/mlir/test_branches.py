"""Blocks that branch to blocks, calls, recursion and given callables run as they stand (`tracebuf.mlir.interpret`)."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from tests.mlir.oracle import needs_mlir
from tracebuf import mlir
from tracebuf.errors import InternalError
from tracebuf.interpret.memory import MemoryFault
from tracebuf.ir.func import Module

pytestmark = needs_mlir

TEXT = """
func.func private @more(memref<4xf64>) -> memref<4xf64>
func.func @sum(%a: memref<4xf64>, %n: index) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant 0.0 : f64
  cf.br ^head(%c0, %z : index, f64)
^head(%i: index, %s: f64):
  %go = arith.cmpi slt, %i, %n : index
  cf.cond_br %go, ^body, ^done(%s : f64)
^body:
  %x = memref.load %a[%i] : memref<4xf64>
  %t = arith.addf %s, %x : f64
  %j = arith.addi %i, %c1 : index
  cf.br ^head(%j, %t : index, f64)
^done(%r: f64):
  return %r : f64
}
func.func @swapped(%a: tensor<2xf64>, %b: tensor<2xf64>, %n: index) -> (tensor<2xf64>, tensor<2xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  cf.br ^head(%c0, %a, %b : index, tensor<2xf64>, tensor<2xf64>)
^head(%i: index, %p: tensor<2xf64>, %q: tensor<2xf64>):
  %j = arith.addi %i, %c1 : index
  %go = arith.cmpi slt, %i, %n : index
  cf.cond_br %go, ^head(%j, %q, %p : index, tensor<2xf64>, tensor<2xf64>), ^done
^done:
  return %p, %q : tensor<2xf64>, tensor<2xf64>
}
func.func @factorial(%n: i64) -> i64 {
  %c1 = arith.constant 1 : i64
  %small = arith.cmpi sle, %n, %c1 : i64
  cf.cond_br %small, ^one, ^more
^one:
  return %c1 : i64
^more:
  %k = arith.subi %n, %c1 : i64
  %f = call @factorial(%k) : (i64) -> i64
  %r = arith.muli %n, %f : i64
  return %r : i64
}
func.func @given(%a: memref<4xf64>, %i: index) -> f64 {
  %b = call @more(%a) : (memref<4xf64>) -> memref<4xf64>
  "test.use"(%b) : (memref<4xf64>) -> ()
  %x = memref.load %b[%i] : memref<4xf64>
  memref.dealloc %b : memref<4xf64>
  return %x : f64
}
func.func @base(%n: index) -> (index, index, index) {
  %c1 = arith.constant 1 : index
  %a = memref.alloc(%n) : memref<?xf64>
  %b = memref.alloc(%n) : memref<?xf64>
  %v = memref.subview %a[1] [%c1] [2] : memref<?xf64> to memref<?xf64, strided<[2], offset: 1>>
  %base, %offset, %size, %stride = memref.extract_strided_metadata %v
    : memref<?xf64, strided<[2], offset: 1>> -> memref<f64>, index, index, index
  %p = memref.extract_aligned_pointer_as_index %a : memref<?xf64> -> index
  %q = memref.extract_aligned_pointer_as_index %base : memref<f64> -> index
  %r = memref.extract_aligned_pointer_as_index %b : memref<?xf64> -> index
  %d = arith.subi %p, %q : index
  %e = arith.cmpi eq, %p, %r : index
  %f = arith.index_cast %e : i1 to index
  %sum = arith.addi %offset, %stride : index
  memref.dealloc %base : memref<f64>
  memref.dealloc %b : memref<?xf64>
  return %d, %f, %sum : index, index, index
}
func.func @grown(%n: index) -> f64 {
  %c0 = arith.constant 0 : index
  %x = arith.constant 3.0 : f64
  %a = memref.alloc(%n) : memref<?xf64>
  memref.store %x, %a[%c0] : memref<?xf64>
  %b = memref.realloc %a : memref<?xf64> to memref<8xf64>
  %y = memref.load %b[%c0] : memref<8xf64>
  memref.dealloc %b : memref<8xf64>
  return %y : f64
}
func.func private @on_the_stack() -> memref<2xf64> {
  %a = memref.alloca() : memref<2xf64>
  return %a : memref<2xf64>
}
func.func @takes_the_stack() {
  %a = call @on_the_stack() : () -> memref<2xf64>
  return
}
func.func @leaks_in_a_loop(%n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  cf.br ^head(%c0 : index)
^head(%i: index):
  %a = memref.alloc() : memref<2xf64>
  %j = arith.addi %i, %c1 : index
  %go = arith.cmpi slt, %j, %n : index
  cf.cond_br %go, ^head(%j : index), ^done
^done:
  memref.dealloc %a : memref<2xf64>
  return
}
"""


@cache
def module() -> Module:
    return mlir.read(mlir.generic(TEXT))


def test_a_loop_of_branches_carries_values() -> None:
    a = np.array([1.0, 2.0, 4.0, 8.0])
    assert [mlir.interpret(module(), "sum", [a, n]).results for n in range(4)] == [[0.0], [1.0], [3.0], [7.0]]


def test_a_loop_of_branches_on_tensors() -> None:
    a, b = np.zeros(2), np.ones(2)
    for n in range(3):
        p, q = mlir.interpret(module(), "swapped", [a, b, n]).results
        assert (p[0], q[0]) == ((0, 1), (1, 0))[n % 2]


def test_recursion_has_a_frame_for_each_call() -> None:
    assert mlir.interpret(module(), "factorial", [np.int64(6)]).results == [720]


def test_declared_functions_and_unknown_ops_may_be_given() -> None:
    def use(b: np.ndarray) -> None:
        b[3] = 7

    given = {"more": lambda a: a + 1, "test.use": use}
    a = np.arange(4.0)
    assert mlir.interpret(module(), "given", [a, 3], given=given).results == [7.0]
    assert mlir.interpret(module(), "given", [a, 2], given=given).results == [3.0]
    with pytest.raises(MemoryFault, match="no heap memory"):
        mlir.interpret(module(), "given", [a, 3], given=given | {"more": lambda a: a[:]})
    with pytest.raises(InternalError, match="@more is only declared"):
        mlir.interpret(module(), "given", [a, 3])


def test_base_buffers_and_addresses() -> None:
    assert mlir.interpret(module(), "base", [5]).results == [0, 0, 3]


def test_realloc_keeps_what_fits() -> None:
    found = mlir.interpret(module(), "grown", [2])
    assert found.results == [3.0] and found.counts.allocations == 2


@pytest.mark.parametrize(
    ("name", "args", "said"),
    [("takes_the_stack", [], "use after free"), ("leaks_in_a_loop", [2], "leak: the buffer of memref.alloc")],
)
def test_faults_in_blocks_and_calls(name: str, args: list[int], said: str) -> None:
    with pytest.raises(MemoryFault, match=said):
        mlir.interpret(module(), name, args)
    if name == "leaks_in_a_loop":
        assert not mlir.interpret(module(), name, [1]).results
