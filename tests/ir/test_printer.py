"""The printer's text, judged by mlir-opt where it is installed, and by eye where not. Then the verifier."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.mlir.oracle import UNREGISTERED, mlir_opt, needs_mlir
from tests.support.ir_programs import PROGRAMS, Maker, Program, by_name
from tests.support.memref_programs import memory_program
from tracebuf.errors import InternalError
from tracebuf.ir.core import Block, Op, Use
from tracebuf.ir.func import Func
from tracebuf.ir.printer import print_func, print_module, print_op
from tracebuf.ir.types import F16, F32, F64, I1, I8, I32, I64, INDEX, UI8, UI64, TensorType
from tracebuf.ir.verifier import Verified, verify
from tracebuf.location import Location
from tracebuf.ops.arrays import linalg, pick, tensor
from tracebuf.ops.control import checks, func
from tracebuf.ops.memory import memref
from tracebuf.ops.scalars import arith, casts, integers
from tracebuf.ops.scalars.libm import Libm

LOC = Location("program.py", 7, 4, 9, "f")


def accepts(text: str) -> str:
    return mlir_opt(text, UNREGISTERED)


@needs_mlir
@pytest.mark.slow
def test_mlir_opt_verifies_the_tensor_programs() -> None:
    funcs = [p.build() for p in PROGRAMS]
    accepts(print_module(funcs))
    assert "program.py" in print_module(funcs, locations=True)
    accepts(print_module(funcs, locations=True))


@needs_mlir
def test_mlir_opt_verifies_memory_programs() -> None:
    accepts(print_module([memory_program()]))
    accepts(print_module([memory_program()], locations=True))


@needs_mlir
def test_programs_of_mlirs_own_ops_need_no_unregistered_dialect() -> None:
    mlir_opt(print_module([by_name("nested").build()]))


@needs_mlir
def test_scalars() -> None:
    values: list[tuple[Any, Any]] = [
        (float("nan"), F64), (float("inf"), F32), (-float("inf"), F64), (-0.0, F64), (1e-05, F64), (1e22, F32),
        (0.1, F64), (True, I1), (-(2**63), I64), (7, INDEX), (float("-inf"), F16), (0.0999755859375, F16),
        (-128, I8), (255, UI8), (127, UI8), (2**64 - 1, UI64), (2**63, UI64),
    ]  # fmt: skip
    f = Func("lambda <x>", [F64, I64], LOC)
    for value, element in values:
        f.block.append(arith.Constant.of(value, element, LOC))
    x, i = f.args
    ops: list[Op] = [
        arith.AddF.of(x, x, LOC), arith.MaximumF.of(x, x, LOC), arith.CmpF.of("une", x, x, LOC), arith.NegF.of(x, LOC),
        arith.CmpI.of("slt", i, i, LOC), arith.IndexCast.of(i, INDEX, LOC), casts.TruncF.of(x, F32, LOC),
        arith.AbsI.of(i, LOC), casts.SIToFP.of(i, F64, LOC), casts.FPToSI.of(x, I64, LOC),
        arith.Sqrt.of(x, LOC), arith.CopySign.of(x, x, LOC),
        arith.RoundEven.of(x, LOC), arith.Ufunc.of("exp", "d->d", [x], F64, LOC),
        small := casts.TruncI.of(i, UI8, LOC), casts.Bitcast.of(small.result, I8, LOC),
        casts.ExtUI.of(small.result, I32, LOC), casts.UIToFP.of(small.result, F32, LOC),
        arith.MaxUI.of(small.result, small.result, LOC), arith.MinUI.of(small.result, small.result, LOC),
        casts.FPToUI.of(x, UI64, LOC), half := casts.TruncF.of(x, F16, LOC), casts.ExtF.of(half.result, F32, LOC),
        arith.AddF.of(half.result, half.result, LOC), arith.CmpI.of("ult", small.result, small.result, LOC),
        Libm.of("pow", [x, x], F64, LOC), integers.Overflows.of("mul", i, i, LOC), integers.ShLI.of(i, i, LOC),
        integers.ShRSI.of(i, i, LOC), integers.BitLength.of(i, LOC),
    ]  # fmt: skip
    for op in ops:
        f.block.append(op)
    condition = ops[2].result
    f.block.append(arith.Select.of(condition, x, x, LOC))
    f.block.append(checks.Check.of(condition, "ValueError", 'a "quoted" {0}', [x], LOC))
    f.block.append(func.Return.of([], LOC))
    accepts(print_module([f]))


def test_text_of_a_function() -> None:
    assert print_func(by_name("recurrence").build()) == RECURRENCE


def test_text_of_an_op() -> None:
    f = by_name("reversed_self").build()
    view = next(op for op in f.walk() if op.name == "tracebuf.extract_view")
    assert repr(view).startswith('%0 = "tracebuf.extract_view"(%a, ')
    assert "static_strides = array<i64: -1>" in print_op(view)


RECURRENCE = """\
func.func @recurrence(%a: tensor<?xf64> {bufferization.writable = true}, %x: f64) {
  %c0 = arith.constant 0 : index
  %0 = tensor.dim %a, %c0 : tensor<?xf64>
  %1 = arith.constant 1 : index
  %2 = scf.for %i = %1 to %0 step %1 iter_args(%3 = %a) -> (tensor<?xf64>) {
    %4 = arith.constant -1 : index
    %5 = arith.addi %i, %4 : index
    %6 = tensor.extract %3[%5] : tensor<?xf64>
    %7 = arith.addf %6, %x : f64
    %8 = tensor.insert %7 into %3[%i] : tensor<?xf64>
    scf.yield %8 : tensor<?xf64>
  }
  %9 = bufferization.materialize_in_destination %2 in %a : (tensor<?xf64>, tensor<?xf64>) -> tensor<?xf64>
  return
}"""


# -- the verifier ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.name)
def test_programs_verify(program: Program) -> None:
    verify(program.build(), "tensor")


def test_memory_program_verifies() -> None:
    verify(memory_program(), "memref")


def refused(f: Func, match: str) -> None:
    with pytest.raises(InternalError, match=match):
        verify(f, "tensor")


def broken(name: str, change: Callable[[Func], object], match: str) -> None:
    """The verifier finds it, also where it has seen the function before the change."""
    f = by_name(name).build()
    verified = Verified("tensor")
    verified.again(f)
    verified.again(f)
    change(f)
    refused(f, match)
    with pytest.raises(InternalError, match=match):
        verified.again(f)


def test_verifier_names_op_and_line() -> None:
    def change(f: Func) -> None:
        op = next(op for op in f.walk() if op.name == "linalg.generic")
        op.attrs["maps"] = op.attrs["maps"][:-1]

    broken("chain", change, r"linalg\.generic, line \d+ of program\.py")


def test_verifier_finds_a_use_before_its_definition() -> None:
    def change(f: Func) -> None:
        f.block.replace_ops([f.block.ops[-2], *f.block.ops[:-2], f.block.ops[-1]])

    broken("chain", change, "is used before it is defined")


def test_verifier_finds_a_use_outside_its_scope() -> None:
    def change(f: Func) -> None:
        loop = next(op for op in f.walk() if op.name == "scf.for")
        inner = loop.regions[0].block.ops[0].results[0]
        f.block.terminator.set_operands([inner])

    broken("recurrence", change, "is not in scope")


def test_verifier_finds_broken_use_lists() -> None:
    broken("chain", lambda f: f.args[0].uses.clear(), "use lists")


def test_verifier_finds_a_use_that_no_op_has() -> None:
    broken("chain", lambda f: Use(f.block.ops[-1], 7, f.args[0]), "counts a use that is gone")


def to_an_outer_value(f: Func, body: Block) -> None:
    scalar = next(r for op in f.block.ops for r in op.results if r.type is body.args[0].type)
    body.ops[0].set_operands([scalar] * len(body.ops[0].uses))


@pytest.mark.parametrize(
    ("change", "match"),
    [
        (to_an_outer_value, "comes from outside"),
        (lambda f, body: f.block.terminator.set_operands([body.args[0]]), "is not in scope"),
        (lambda f, body: body.replace_ops(body.ops[1:]), "is not in scope"),
        (lambda f, body: setattr(body.ops[0], "block", f.block), "does not know its block"),
        (lambda f, body: setattr(body.args[0], "type", F32), "F32|f32"),
        (lambda f, body: body.args[0].uses.clear(), "use lists"),
    ],
)
def test_verifier_finds_what_changes_in_a_body(change: Callable[[Func, Block], object], match: str) -> None:
    """Bodies that stay as they are, are looked at once."""

    def in_body(f: Func) -> None:
        change(f, next(op for op in f.walk() if op.name == "linalg.generic").regions[0].block)

    broken("chain", in_body, match)


def test_verifier_finds_what_cannot_be_picked() -> None:
    def change(f: Func) -> None:
        op = next(op for op in f.walk() if isinstance(op, pick.Pick))
        op.set_operands([op.operand(0), op.operand(1), f.block.ops[0].results[0]])

    broken("picked", change, "takes|is not")
    f = by_name("picked").build()
    op = next(op for op in f.walk() if isinstance(op, pick.Pick))
    op.set_operands([op.operand(0)])
    refused(f, "there is no array")


def test_verifier_finds_an_index_of_no_loop() -> None:
    f = by_name("placed").build()
    index = next(op for op in f.walk() if isinstance(op, linalg.Index))
    index.attrs["dim"] = 2
    with pytest.raises(InternalError, match="there is no loop 2"):
        verify(f, "tensor")


def test_verifier_finds_missing_terminators() -> None:
    broken("chain", lambda f: f.block.replace_ops(f.block.ops[:-1]), "ends with")
    broken("recurrence", lambda f: f.block.ops.clear(), "is empty")


def test_verifier_finds_ops_of_another_level() -> None:
    with pytest.raises(InternalError, match=r"tensor\.dim.*does not stand at the memref level"):
        f = Func("f", [], LOC)
        f.block.replace_ops(by_name("chain").build().block.ops)
        verify(f, "memref")
    m = Maker("f", a=("n",))
    m.builder.add(memref.Alloc.of((2,), F64, [2], (0,), "a new array", LOC))
    refused(m.done(), "does not stand at the tensor level")


def test_verifier_finds_types_that_do_not_fit() -> None:
    m = Maker("f", a=("n",))
    small = m.empty(3)
    refused_op = tensor.InsertSlice([small, m.args[0]], [TensorType((4,), F32)], LOC)
    refused_op.attrs.update(static_offsets=(0,), static_sizes=(3,), static_strides=(1,), dims=(0,))
    m.builder.add(refused_op)
    refused(m.done(), "its result has not its destination's type")


def test_integers_are_printed_without_a_sign() -> None:
    """MLIR's integers have none: what is unsigned is printed as the signed number of the same bits."""
    constants = [arith.Constant.of(v, t, LOC) for v, t in ((255, UI8), (127, UI8), (2**64 - 1, UI64), (-128, I8))]
    values = [print_op(c).rpartition("constant ")[2] for c in constants]
    assert values == ["-1 : i8", "127 : i8", "-1 : i64", "-128 : i8"]
    assert print_op(arith.Constant.of(float("inf"), F16, LOC)).endswith("0x7C00 : f16")
