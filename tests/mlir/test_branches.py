"""Blocks that branch to blocks, calls, recursion and given callables run as they stand (`tracebuf.mlir.interpret`), and
natively (`tracebuf.mlir.program`)."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
import pytest

from tests.mlir.oracle import needs_mlir
from tests.support.params import one_in
from tracebuf import mlir
from tracebuf.errors import UnsupportedError
from tracebuf.interpret.memory import MemoryFault
from tracebuf.ir.func import Module

pytestmark = needs_mlir

TEXT = """
func.func private @more(memref<4xf64>) -> memref<4xf64>
func.func private @longer(tensor<?xf64>, f64) -> (tensor<?xf64>, f64)
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
func.func @down(%t: tensor<?xf64>, %n: index) -> tensor<?xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %end = arith.cmpi eq, %n, %c0 : index
  cf.cond_br %end, ^one, ^more
^one:
  return %t : tensor<?xf64>
^more:
  %k = arith.subi %n, %c1 : index
  %x = tensor.extract %t[%k] : tensor<?xf64>
  %y = arith.addf %x, %x : f64
  %u = tensor.insert %y into %t[%k] : tensor<?xf64>
  %f = call @down(%u, %k) : (tensor<?xf64>, index) -> tensor<?xf64>
  %z = tensor.insert %x into %f[%c0] : tensor<?xf64>
  return %z : tensor<?xf64>
}
func.func @uses(%t: tensor<?xf64>, %n: f64) -> (tensor<?xf64>, f64) {
  %u, %x = call @longer(%t, %n) : (tensor<?xf64>, f64) -> (tensor<?xf64>, f64)
  %c0 = arith.constant 0 : index
  %z = tensor.insert %x into %u[%c0] : tensor<?xf64>
  return %z, %n : tensor<?xf64>, f64
}
func.func @loops(%t: tensor<?xf64>, %n: index) -> tensor<?xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %o = arith.constant 1.0 : f64
  cf.br ^head(%c0, %t : index, tensor<?xf64>)
^head(%i: index, %p: tensor<?xf64>):
  %go = arith.cmpi slt, %i, %n : index
  cf.cond_br %go, ^body, ^done
^body:
  %u, %x = func.call @longer(%p, %o) : (tensor<?xf64>, f64) -> (tensor<?xf64>, f64)
  %j = arith.addi %i, %c1 : index
  cf.br ^head(%j, %u : index, tensor<?xf64>)
^done:
  return %p : tensor<?xf64>
}
func.func @par(%t: tensor<?xf64>, %n: index) -> tensor<?xf64> {
  %c0 = arith.constant 0 : index
  cf.br ^b(%c0 : index)
^b(%z: index):
  %o = arith.constant 1.0 : f64
  %r = scf.forall (%i) in (%n) shared_outs(%s = %t) -> tensor<?xf64> {
    %e = tensor.extract_slice %s[%i] [1] [1] : tensor<?xf64> to tensor<1xf64>
    %f = tensor.insert %o into %e[%z] : tensor<1xf64>
    scf.forall.in_parallel { tensor.parallel_insert_slice %f into %s[%i] [1] [1] : tensor<1xf64> into tensor<?xf64> }
  }
  return %r : tensor<?xf64>
}
func.func @checked(%n: index) -> index {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %some = arith.cmpi ne, %n, %c0 : index
  cf.assert %some, "{none} left"
  %k = arith.subi %n, %c1 : index
  %r = func.call @checked(%k) : (index) -> index
  return %r : index
}
func.func @rows(%n: index) -> index {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %none = memref.alloca() : memref<2xindex>
  memref.store %c0, %none[%c0] : memref<2xindex>
  cf.br ^head(%c0, %none : index, memref<2xindex>)
^head(%i: index, %last: memref<2xindex>):
  %new = memref.alloca() : memref<2xindex>
  %x = memref.load %last[%c0] : memref<2xindex>
  %y = arith.addi %x, %i : index
  memref.store %y, %new[%c0] : memref<2xindex>
  %j = arith.addi %i, %c1 : index
  %go = arith.cmpi slt, %j, %n : index
  cf.cond_br %go, ^head(%j, %new : index, memref<2xindex>), ^done
^done:
  %r = memref.load %new[%c0] : memref<2xindex>
  %before = memref.load %last[%c0] : memref<2xindex>
  %d = arith.subi %r, %before : index
  return %d : index
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


@pytest.mark.slow
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
    with pytest.raises(UnsupportedError, match="@more is only declared"):
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


GIVEN = {"longer": lambda t, n: (np.append(t, 2 * n), n + 1)}
RUN: dict[str, list[object]] = {
    "swapped": [np.zeros(2), np.ones(2), 3],
    "factorial": [np.int64(6)],
    "down": [np.arange(5.0), 4],
    "uses": [np.arange(3.0), 2.0],
    "loops": [np.arange(3.0), 3],
    "par": [np.arange(3.0), 2],
    "rows": [5],
}


@pytest.mark.parametrize("name", one_in(2, RUN))
def test_branches_recursion_and_what_is_given_run_natively(name: str) -> None:
    """As in both interpreters, and with as many allocations."""
    program = mlir.program(module(), name, given=GIVEN)

    def given() -> list[object]:
        return [np.array(a) if isinstance(a, np.ndarray) else a for a in RUN[name]]

    values, memory, (native, counters) = (
        run(*given()) for run in (program.on_values, program.on_memory, program.counted)
    )
    for expected, a, b in zip(values, memory.results, native, strict=True):
        np.testing.assert_array_equal(a, expected)
        np.testing.assert_array_equal(b, expected)
    assert counters.allocations == memory.counts.allocations
    assert counters.live_bytes == sum(r.nbytes for r in native if isinstance(r, np.ndarray) and counters.arrays)


def test_a_recursion_that_does_not_end() -> None:
    program = mlir.program(module(), "factorial")
    with pytest.raises(RecursionError, match="maximum recursion depth exceeded"):
        program(np.int64(10**9))
    assert program(np.int64(5)) == [120]


def test_what_a_callee_raises() -> None:
    with pytest.raises(AssertionError, match="{none} left"):
        mlir.program(module(), "checked")(7)


def test_what_is_not_given_is_not_run() -> None:
    with pytest.raises(UnsupportedError, match="@longer is only declared"):
        mlir.program(module(), "loops")


@pytest.mark.parametrize("wrong", [lambda t, n: t, lambda t, n: (t.astype(int), n), lambda t, n: (t[:, None], n)])
def test_what_is_given_has_to_fit_the_declaration(wrong: Callable[..., object]) -> None:
    with pytest.raises(TypeError, match="@longer is declared"):
        mlir.program(module(), "uses", given={"longer": wrong})(np.ones(3), 1.0)


def test_a_program_with_an_unknown_op_is_refused_where_it_is_run() -> None:
    """It was an internal error: the op had no reference."""
    text = """"func.func"() <{function_type = (index) -> index, sym_name = "f"}> ({
^bb0(%a: index):
  %0 = "other.op"(%a) : (index) -> index
  "func.return"(%0) : (index) -> ()
}) : () -> ()"""
    with pytest.raises(UnsupportedError, match=r"other\.op is not known here") as caught:
        mlir.interpret(mlir.read(text), "f", [3])
    assert caught.value.location is not None and caught.value.location.line == 3
    assert mlir.interpret(mlir.read(text), "f", [3], given={"other.op": lambda a: a + 1}).results == [4]
