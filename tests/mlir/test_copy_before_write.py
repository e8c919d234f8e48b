"""`-one-shot-bufferize=copy-before-write` allocates and copies what MLIR 22 does, op by op, before any clean-up."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from functools import cache

import pytest

from tests.mlir.expected import CLEAN, expected
from tests.mlir.oracle import BOUNDARIES, binary, generic, may_crash, mlir_opt, needs_mlir, run_mlir
from tests.mlir.regions import program
from tests.mlir.test_opt import run
from tests.support.params import slow_but
from tracebuf.errors import TracebufError

GENERIC = "-mlir-print-op-generic"
TO_ALLOC = "-empty-tensor-to-alloc-tensor"
OTHERWISE = {
    "returns_of_two_tensors": "MLIR's folds merge two blocks; then it bufferizes one of a cond_br's operands only, and "
    "refuses what it made",
    "execute_region_of_two_yields": "MLIR crashes where a region that is executed has two yields",
}
"""The programs of the corpus on which we do something else, with the reason; we take both."""
Counts = tuple[int, int, int]


def counted(text: str | None) -> Counts | None:
    """Allocations and copies of a module in generic form; None if it was refused."""
    if text is None:
        return None
    alloc, copy, linalg = (text.count(f'"{name}"(') for name in ("memref.alloc", "memref.copy", "linalg.copy"))
    return alloc, copy, linalg


def ours(text: str, flags: Sequence[str]) -> Counts | None:
    try:
        return counted(run(text, *flags, GENERIC))
    except TracebufError:
        return None


def differing(texts: Mapping[str, str], *flags: str) -> dict[str, tuple[Counts | None, Counts | None]]:
    """(MLIR's counts, ours) of the programs on which they are not the same."""
    theirs = map(counted, run_mlir(list(texts.values()), *flags, GENERIC))
    found = {name: (t, ours(text, flags)) for (name, text), t in zip(texts.items(), theirs, strict=True)}
    return {name: (a, b) for name, (a, b) in found.items() if a != b}


def bufferize(words: str = BOUNDARIES) -> str:
    return f"-one-shot-bufferize={words} allow-unknown-ops copy-before-write"


@needs_mlir
@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "before", "after"),
    [(BOUNDARIES, (), ()), (BOUNDARIES, (TO_ALLOC,), CLEAN), ("", (), ()), ("", (TO_ALLOC,), ())],
)
def test_the_corpus(words: str, before: Sequence[str], after: Sequence[str]) -> None:
    texts = {name: "\n".join(known["generic"]) for name, known in expected().items()}
    found = differing(texts, *before, bufferize(words), *after)
    assert {name for name in found if not may_crash(texts[name], bufferize(words))} <= OTHERWISE.keys(), found
    assert not [name for name, (theirs, _) in found.items() if theirs is not None]


@cache
def random_texts() -> dict[str, str]:
    """Random programs in generic form, by their numbers."""
    texts = generic([program(random.Random(f"cbw-{i}")) for i in range(160)])
    return {str(i): text for i, text in enumerate(texts) if text is not None}


@needs_mlir
@pytest.mark.slow
@pytest.mark.parametrize("words", [BOUNDARIES, ""], ids=["boundaries", "inside"])
def test_random_programs(words: str) -> None:
    """All but those that MLIR refuses after it has rewritten them: a call of a function by itself, of which the result
    got a type that the call does not have."""
    found = differing(random_texts(), bufferize(words))
    assert not {name: counts for name, counts in found.items() if counts[0] is not None}


CHANGED_BEFORE_A_BUFFER_IS_TAKEN = """
func.func @f(%x: tensor<8xf64>, %v: f64, %i: index) -> f64 {
  %w = tensor.insert %v into %x[%i] : tensor<8xf64>
  %b = bufferization.to_buffer %w : tensor<8xf64> to memref<8xf64>
  memref.store %v, %b[%i] : memref<8xf64>
  %e = tensor.extract %x[%i] : tensor<8xf64>
  return %e : f64
}
"""
MATERIALIZED = """
func.func @f(%x: tensor<8xf64>, %d: tensor<8xf64>) -> tensor<8xf64> {
  %r = bufferization.materialize_in_destination %x in %d : (tensor<8xf64>, tensor<8xf64>) -> tensor<8xf64>
  return %r : tensor<8xf64>
}
"""
LOOP_SWAPS = """
func.func @f(%x: tensor<8xf64>, %y: tensor<8xf64>, %p: i1, %v: f64, %i: index) -> (tensor<8xf64>, tensor<8xf64>) {
  %r:2 = scf.while (%a = %x, %b = %y) : (tensor<8xf64>, tensor<8xf64>) -> (tensor<8xf64>, tensor<8xf64>) {
    scf.condition(%p) %b, %a : tensor<8xf64>, tensor<8xf64>
  } do {
  ^bb0(%a: tensor<8xf64>, %b: tensor<8xf64>):
    %w = tensor.insert %v into %a[%i] : tensor<8xf64>
    scf.yield %b, %w : tensor<8xf64>, tensor<8xf64>
  }
  return %r#0, %r#1 : tensor<8xf64>, tensor<8xf64>
}
"""
READING_CALLEE = """
func.func private @g(tensor<8xf64> {bufferization.access = "read"}) -> f64
func.func @f(%x: tensor<8xf64>) -> f64 {
  %e = call @g(%x) : (tensor<8xf64>) -> f64
  return %e : f64
}
"""
LEFT_EMPTY = """
func.func @f(%v: f64) -> tensor<4xf64> {
  %e = tensor.empty() : tensor<4xf64>
  %c = bufferization.alloc_tensor() copy(%e) : tensor<4xf64>
  %f = linalg.fill ins(%v : f64) outs(%c : tensor<4xf64>) -> tensor<4xf64>
  return %f : tensor<4xf64>
}
"""
COPIED_FOR_ITS_SIZE = """
func.func @f(%n: index, %v: f64) -> tensor<?xf64> {
  %e = tensor.empty(%n) : tensor<?xf64>
  %c = bufferization.alloc_tensor() copy(%e) : tensor<?xf64>
  %f = linalg.fill ins(%v : f64) outs(%c : tensor<?xf64>) -> tensor<?xf64>
  return %f : tensor<?xf64>
}
"""
COLLAPSED_AFTER_A_LOOP = """
func.func @f(%x: tensor<4x8xf64>, %n: index, %i: index) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%t = %x) -> tensor<4x8xf64> {
    scf.yield %t : tensor<4x8xf64>
  }
  %s = tensor.collapse_shape %r [[0, 1]] : tensor<4x8xf64> into tensor<32xf64>
  %e = tensor.extract %s[%i] : tensor<32xf64>
  return %e : f64
}
"""
STORED_ONTO_ITSELF = """
func.func @f(%x: tensor<8xf64>) -> tensor<8xf64> {
  %r = scf.forall (%k) in (4) shared_outs(%s = %x) -> (tensor<8xf64>) {
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %s into %s[0] [8] [1] : tensor<8xf64> into tensor<8xf64>
    }
  }
  return %r : tensor<8xf64>
}
"""
DENSE_IN_A_BLOCK = """
func.func @f(%p: i1, %i: index) -> f64 {
  %x = tensor.empty() : tensor<8x8xf64>
  cf.cond_br %p, ^a, ^b(%x : tensor<8x8xf64>)
^a:
  cf.br ^b(%x : tensor<8x8xf64>)
^b(%y: tensor<8x8xf64>):
  %s = tensor.collapse_shape %y [[0, 1]] : tensor<8x8xf64> into tensor<64xf64>
  %e = tensor.extract %s[%i] : tensor<64xf64>
  return %e : f64
}
"""
REGROUPED_AND_BACK = """
func.func @f(%x: tensor<4xf64>, %i: index) -> f64 {
  %y = tensor.expand_shape %x [[0, 1]] output_shape [2, 2] : tensor<4xf64> into tensor<2x2xf64>
  %z = tensor.collapse_shape %y [[0, 1]] : tensor<2x2xf64> into tensor<4xf64>
  %e = tensor.extract %z[%i] : tensor<4xf64>
  return %e : f64
}
"""
UNUSED_WRITE = """
func.func @f(%x: tensor<8xf64>, %v: f64, %i: index) -> tensor<8xf64> {
  %w = tensor.insert %v into %x[%i] : tensor<8xf64>
  return %x : tensor<8xf64>
}
"""
READ_ONLY = """
func.func @f(%x: tensor<8xf64>, %i: index) -> f64 {
  %b = bufferization.to_buffer %x read_only : tensor<8xf64> to memref<8xf64>
  %e = memref.load %b[%i] : memref<8xf64>
  return %e : f64
}
"""
LOOP_IF = """
func.func @l(%arg0: tensor<?xf32>, %v: f32, %ub: index, %pos: index, %cond: i1) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c10 = arith.constant 10 : index
  %r1 = scf.for %iv = %c0 to %ub step %c10 iter_args(%arg1 = %arg0) -> (tensor<?xf32>) {
    %1 = tensor.extract_slice %arg1[%iv][10][1] : tensor<?xf32> to tensor<10xf32>
    %r2 = scf.if %cond -> (tensor<10xf32>) {
      %2 = tensor.insert %v into %1[%pos] : tensor<10xf32>
      scf.yield %2 : tensor<10xf32>
    } else {
      scf.yield %1 : tensor<10xf32>
    }
    %3 = tensor.insert_slice %r2 into %arg1[%iv][10][1] : tensor<10xf32> into tensor<?xf32>
    scf.yield %3 : tensor<?xf32>
  }
  return %r1 : tensor<?xf32>
}
"""
EMPTY = """
func.func @f(%sz : index, %f : f32, %i : index, %j : index) -> f32 {
  %t = tensor.empty(%sz) : tensor<?xf32>
  %1 = tensor.insert %f into %t[%i] : tensor<?xf32>
  %2 = tensor.extract %1[%j] : tensor<?xf32>
  return %2 : f32
}
"""
SMALL: dict[str, tuple[str, Counts]] = {
    "a buffer is taken of what was changed": (CHANGED_BEFORE_A_BUFFER_IS_TAKEN, (1, 1, 0)),
    "a destination is copied": (MATERIALIZED, (1, 1, 0)),
    "a loop passes on what it yields": (LOOP_SWAPS, (3, 3, 0)),
    "nothing is known of a callee": (READING_CALLEE, (1, 1, 0)),
    "nobody is left in an empty tensor": (LEFT_EMPTY, (1, 0, 0)),
    "sizes are asked of what would have been copied": (COPIED_FOR_ITS_SIZE, (2, 0, 0)),
    "a loop carries what is dense": (COLLAPSED_AFTER_A_LOOP, (1, 1, 0)),
    "a store onto itself": (STORED_ONTO_ITSELF, (1, 2, 0)),
    "a block's argument is dense": (DENSE_IN_A_BLOCK, (1, 0, 0)),
    "regrouped and back": (REGROUPED_AND_BACK, (1, 1, 0)),
    "an unused write": (UNUSED_WRITE, (1, 1, 0)),
    "a loop with an if": (LOOP_IF, (3, 4, 0)),
    "an empty tensor": (EMPTY, (2, 1, 0)),
}


@needs_mlir
@pytest.mark.parametrize("name", slow_but(["a destination is copied", "an unused write"], SMALL))
def test_small_programs(name: str) -> None:
    text, counts = SMALL[name]
    theirs = binary(text, bufferize(), GENERIC, tries=12)
    assert ours(mlir_opt(text, GENERIC), [bufferize()]) == counts
    if theirs.returncode and may_crash(text, bufferize()):
        pytest.skip("MLIR has crashed twelve times")
    assert not theirs.returncode and counted(theirs.stdout) == counts


@needs_mlir
@pytest.mark.slow
@pytest.mark.parametrize("text", [LOOP_IF, EMPTY, READ_ONLY, DENSE_IN_A_BLOCK])
def test_small_programs_without_boundaries(text: str) -> None:
    assert counted(mlir_opt(text, bufferize(""), GENERIC)) == ours(mlir_opt(text, GENERIC), [bufferize("")])


@needs_mlir
def test_stores_of_everything_and_splats_are_folded_on_the_way_to_alloc_tensor() -> None:
    text = """
    func.func @f(%x: tensor<6xf64>, %y: tensor<6xf64>) -> (tensor<6xf64>, tensor<6xf64>) {
      %z = arith.constant 0.5 : f64
      %s = tensor.splat %z : tensor<6xf64>
      %r = tensor.insert_slice %y into %x[0] [6] [1] : tensor<6xf64> into tensor<6xf64>
      %u = tensor.insert_slice %s into %x[0] [6] [1] : tensor<6xf64> into tensor<6xf64>
      return %r, %s : tensor<6xf64>, tensor<6xf64>
    }"""
    found = run(mlir_opt(text, GENERIC), TO_ALLOC, GENERIC)
    assert "insert_slice" not in found and "splat" not in found and "dense<0.5>" in found.replace("5.000000e-01", "0.5")
    assert mlir_opt(text, TO_ALLOC) == mlir_opt(found)
