"""Which offsets and sizes are equal, as MLIR knows it: a slice that is put back where it was taken from is in place."""

from __future__ import annotations

import random

import pytest

from tests.mlir.oracle import ask, generic, needs_mlir, ours
from tests.mlir.sizes import sizes_program
from tracebuf.analysis.modules.module import analyze_module
from tracebuf.frontends.mlir import read
from tracebuf.options import OneShotOptions

DIM = "tensor.dim {}, %c0 : tensor<?xf64>"
VECTOR = "tensor<?xf64>"
CASES: dict[str, tuple[str, str]] = {
    "other": ("", "%n %k"),
    "plus nothing": ("%p = arith.addi %n, %c0 : index", "%n %p"),
    "commuted": ("%p = arith.addi %n, %k : index\n%q = arith.addi %k, %n : index", "%p %q"),
    "twice": ("%p = arith.addi %n, %n : index\n%q = arith.muli %n, %c2 : index", "%p %q"),
    "there and back": ("%p = arith.subi %n, %k : index\n%q = arith.addi %p, %k : index", "%n %q"),
    "product": ("%p = arith.muli %n, %k : index\n%q = arith.muli %n, %k : index", "%p %q"),
    "half": ("%p = arith.floordivsi %n, %c2 : index\n%q = arith.floordivsi %n, %c2 : index", "%p %q"),
    "half of twice": ("%p = arith.muli %n, %c2 : index\n%q = arith.floordivsi %p, %c2 : index", "%n %q"),
    "quotient": ("%p = arith.floordivsi %n, %k : index\n%q = arith.floordivsi %n, %k : index", "%p %q"),
    "truncated": ("%p = arith.divsi %n, %c2 : index\n%q = arith.divsi %n, %c2 : index", "%p %q"),
    "smaller": ("%p = arith.minsi %n, %k : index\n%q = arith.minsi %n, %k : index", "%p %q"),
    "smaller of constants": ("%p = arith.minsi %c0, %c2 : index", "%p %c0"),
    "two constants": ("%p = arith.constant 2 : index", "%p %c2"),
    "constant of index": ("%p = index.constant 2", "%p %c2"),
    "sum of index": ("%p = index.add %n, %c0", "%n %p"),
    "choice of one": ("%p = arith.select %b, %n, %n : index", "%n %p"),
    "choice": ("%p = arith.select %b, %n, %k : index\n%q = arith.select %b, %n, %k : index", "%p %q"),
    "branches": ("%p = scf.if %b -> index { scf.yield %n : index } else { scf.yield %n : index }", "%n %p"),
    "loop": (
        "%p = scf.for %i = %c0 to %k step %c2 iter_args(%a = %n) -> index {\n%s = arith.addi %a, %c0 : index\n"
        "scf.yield %s : index }", "%n %p",
    ),
    "rising": (
        "%p = scf.for %i = %c0 to %k step %c2 iter_args(%a = %n) -> index {\n%s = arith.addi %a, %c2 : index\n"
        "scf.yield %s : index }", "%n %p",
    ),
    "size twice": (f"%p = {DIM.format('%y')}\n%q = {DIM.format('%y')}", "%p %q"),
    "sizes of two": (f"%p = {DIM.format('%y')}\n%q = {DIM.format('%x')}", "%p %q"),
    "size of empty": (f"%e = tensor.empty(%n) : {VECTOR}\n%p = {DIM.format('%e')}", "%n %p"),
    "size of alloc": (f"%e = bufferization.alloc_tensor(%n) : {VECTOR}\n%p = {DIM.format('%e')}", "%n %p"),
    "size of splat": (f"%e = tensor.splat %v[%n] : {VECTOR}\n%p = {DIM.format('%e')}", "%n %p"),
    "size of slice": (
        f"%e = tensor.extract_slice %y[1] [%n] [2] : {VECTOR} to {VECTOR}\n%p = {DIM.format('%e')}", "%n %p",
    ),
    "size of insert": (
        f"%e = tensor.insert %v into %y[%c0] : {VECTOR}\n%p = {DIM.format('%e')}\n%q = {DIM.format('%y')}", "%p %q",
    ),
    "size of fill": (
        f"%e = linalg.fill ins(%v : f64) outs(%y : {VECTOR}) -> {VECTOR}\n%p = {DIM.format('%e')}\n"
        f"%q = {DIM.format('%y')}", "%p %q",
    ),
    "size of cast": (
        f"%s = tensor.empty() : tensor<2xf64>\n%e = tensor.cast %s : tensor<2xf64> to {VECTOR}\n"
        f"%p = {DIM.format('%e')}", "%p %c2",
    ),
    "size of loop": (
        f"%e = scf.for %i = %c0 to %k step %c2 iter_args(%a = %y) -> {VECTOR} {{\n%s = tensor.insert %v into %a[%i] : "
        f"{VECTOR}\nscf.yield %s : {VECTOR} }}\n%p = {DIM.format('%e')}\n%q = {DIM.format('%y')}", "%p %q",
    ),
    "size of choice": (
        f"%e = arith.select %b, %y, %y : {VECTOR}\n%p = {DIM.format('%e')}\n%q = {DIM.format('%y')}", "%p %q",
    ),
    "size of pad": (
        f"%e = tensor.pad %y low[1] high[1] {{\n^bb0(%i: index):\ntensor.yield %v : f64 }} : {VECTOR} to {VECTOR}\n"
        f"%p = {DIM.format('%e')}\n%s = {DIM.format('%y')}\n%q = arith.addi %s, %c2 : index", "%p %q",
    ),
    "size of regrouped": (
        f"%s = tensor.expand_shape %y [[0, 1]] output_shape [%n, 2] : {VECTOR} into tensor<?x2xf64>\n"
        f"%e = tensor.collapse_shape %s [[0, 1]] : tensor<?x2xf64> into {VECTOR}\n%p = {DIM.format('%e')}\n"
        "%q = arith.muli %n, %c2 : index", "%p %q",
    ),
}  # fmt: skip
"""What stands before, and two index values."""
PLACES = ("[%i0] [1] [1]", "[0] [%i0] [1]", "[0] [1] [%i0]")


def program(before: str, values: str, place: str) -> str:
    """A part of %x, filled, goes back to where the second value says."""
    first, second = (place.replace("%i0", v) for v in values.split())
    part, other = ("tensor<1xf64>" if "[1] [" in p.partition("]")[2] else VECTOR for p in (first, second))
    return f"""
func.func @f(%x: {VECTOR}, %y: {VECTOR}, %n: index, %k: index, %v: f64, %b: i1) -> {VECTOR} {{
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  {before}
  %part = tensor.extract_slice %x{first} : {VECTOR} to {part}
  %new = linalg.fill ins(%v : f64) outs(%part : {part}) -> {part}
  %whole = tensor.insert_slice %new into %x{second} : {other} into {VECTOR}
  return %whole : {VECTOR}
}}"""


@pytest.mark.slow
@needs_mlir
def test_equal_sizes_as_mlir_knows_them() -> None:
    names = [(name, place) for name in CASES for place in PLACES]
    texts = [program(*CASES[name], place) for name, place in names]
    options = OneShotOptions(bufferize_function_boundaries=True, allow_return_allocs_from_loops=True)
    told = set[bool]()
    for name, text, theirs in zip(names, generic(texts), ask(texts), strict=True):
        assert text is not None and theirs is not None, name
        module = read(text)
        analysis = analyze_module(module, options).funcs["f"]
        fill = [op for op in module.funcs[0].block.ops if op.name == "linalg.fill"][-1]
        part = fill.operand(1).defining_op
        assert part is not None
        answer = [words for op, words in theirs["f"].ops if op == "tensor.extract_slice"][-1]
        told.add(analysis.is_in_place(part.uses[0]))
        assert str(analysis.is_in_place(part.uses[0])).lower() == answer[0], name
    assert len(told) == 2


def in_a_loop(lower: str, upper: str, place: str, size: str) -> str:
    """In a loop with the index %i a part of %x at %i goes back to another place."""
    return f"""
func.func @f(%x: {VECTOR}, %n: index, %v: f64) -> {VECTOR} {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = arith.addi %n, %c1 : index
  %r = scf.for %i = {lower} to {upper} step %c1 iter_args(%a = %x) -> {VECTOR} {{
    %part = tensor.extract_slice %a[%i] [{size}] [1] : {VECTOR} to {VECTOR}
    %new = linalg.fill ins(%v : f64) outs(%part : {VECTOR}) -> {VECTOR}
    %whole = tensor.insert_slice %new into %a[{place}] [{size}] [1] : {VECTOR} into {VECTOR}
    scf.yield %whole : {VECTOR}
  }}
  return %r : {VECTOR}
}}"""


LOOPS = {
    "some rounds": ("%c0", "%n", "%i", "%n"),
    "some rounds, the first": ("%c0", "%n", "%c0", "%n"),
    "one round, the first": ("%c0", "%c1", "%c0", "%n"),
    "one round from n": ("%n", "%m", "%n", "%n"),
    "no round": ("%n", "%n", "%i", "%n"),
    "no round, of that size": ("%n", "%n", "%i", "%i"),
}


@needs_mlir
@pytest.mark.slow
def test_the_index_of_a_loop() -> None:
    texts = [in_a_loop(*case) for case in LOOPS.values()]
    for name, theirs, text in zip(LOOPS, ask(texts), generic(texts), strict=True):
        assert text is not None and theirs is not None and ours(text) == theirs, name


@pytest.mark.slow
@needs_mlir
@pytest.mark.parametrize("seed", [0, *(pytest.param(s, marks=pytest.mark.slow) for s in (1, 2, 3))])
def test_random_sizes(seed: int) -> None:
    texts = [sizes_program(random.Random(f"{seed} {i}")) for i in range(60 if seed == 0 else 120)]
    for theirs, text in zip(ask(texts), generic(texts), strict=True):
        assert text is not None and theirs is not None and ours(text) == theirs, text
