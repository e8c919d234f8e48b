"""Ops and models of a package of its own (tests/support/second_package) take part in everything."""

from __future__ import annotations

import ast
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tracebuf
from tests.mlir.oracle import needs_mlir
from tests.support import second_package
from tests.support.agreement import agree
from tests.support.params import one_in
from tests.support.second_package import Evens, Lerp, OneElement, OnlyReads, Ranked, evens, lerp, ranked
from tracebuf.analysis.modules.module import analyze_module
from tracebuf.analysis.one_shot.one_shot import one_shot
from tracebuf.backend.runtime.compiled import kernel_of
from tracebuf.bufferize.module import bufferize_module
from tracebuf.bufferize.rewrite import bufferize
from tracebuf.extend import DestinationOp, MemRefType, Op, external_model
from tracebuf.frontends.mlir import generic, read
from tracebuf.interpret import memref as memref_interpreter
from tracebuf.interpret import tensor as tensor_interpreter
from tracebuf.ir.core import Block, Value
from tracebuf.ir.func import Func, Module
from tracebuf.ir.print_generic import print_generic
from tracebuf.ir.printer import print_module
from tracebuf.ir.types import F64, INDEX, TensorType
from tracebuf.ir.unknown import unknown_op
from tracebuf.ir.verifier import verify
from tracebuf.location import UNKNOWN
from tracebuf.ops.arrays import tensor
from tracebuf.ops.control.func import Return
from tracebuf.ops.scalars import arith
from tracebuf.opt import main as opt
from tracebuf.options import OneShotOptions, Options
from tracebuf.testing import FactError, check_op
from tracebuf.testing.ladder import climb

VECTOR, OTHER = np.arange(1.0, 6.0), np.array([2.0, -1.0, np.inf, 0.5, 9.0])


# -- programs, from the trace to native code


def fresh(x, y):  # type: ignore[no-untyped-def]
    return lerp(x, y, 0.25)


def into_its_argument(x, y):  # type: ignore[no-untyped-def]
    x[:] = lerp(x, y, 0.25)


def between_numpys(x, y):  # type: ignore[no-untyped-def]
    return np.sqrt(lerp(x * x, y * y, 0.5)) - x[::-1]


def old_value_needed(x, y):  # type: ignore[no-untyped-def]
    before = x[1:] - x[:-1]
    x[1:] = lerp(x[1:], y[1:], 0.5)
    return before, x[1:] + before


def in_a_loop(x, y):  # type: ignore[no-untyped-def]
    z = x.copy()
    for _ in range(4):
        z = lerp(z, y, 0.5)
    return z


def on_one_path(x, y):  # type: ignore[no-untyped-def]
    if x[0] > 0:
        z = lerp(x, y, 0.5)
    else:
        z = ranked(x)
    return z * 2.0


def in_order(x, y):  # type: ignore[no-untyped-def]
    smallest = ranked(x + y)[0]
    x[:] = ranked(x[::-1])
    return smallest


def of_a_view(x, y):  # type: ignore[no-untyped-def]
    first = evens(x[:4])
    x[:4] = 0.0
    return first, evens(y[1:5])


PROGRAMS = (fresh, into_its_argument, between_numpys, old_value_needed, in_a_loop, on_one_path, in_order, of_a_view)
EVERY_WAY = (
    Options(),
    Options(heuristic="top-down"),
    Options(strategy="copy-before-write", verify=True),
    Options(strategy=lambda func: one_shot(func, heuristic="fuzzer", seed=3), verify=True),
)


@pytest.mark.parametrize("program", one_in(4, PROGRAMS), ids=lambda f: f.__name__)
def test_programs_climb_the_ladder(program: Callable[..., Any]) -> None:
    climb(program, (VECTOR.copy(), OTHER.copy()), again=[(OTHER.copy(), VECTOR.copy())], strategies=EVERY_WAY)


@pytest.mark.slow
def test_other_dtypes_layouts_and_errors_are_those_of_numpy() -> None:
    square = np.arange(12.0).reshape(3, 4)
    for x, y in ((square, square + 1), (square.T, square.T * 2), (square[:, ::2], square[:, 1::2])):
        agree(fresh, x, y)
    agree(fresh, VECTOR.astype("f4"), OTHER.astype("f4"))
    agree(fresh, VECTOR[:0], OTHER[:0])
    agree(fresh, VECTOR, OTHER[1:])


def test_what_a_handler_does_not_know_is_refused() -> None:
    with pytest.raises(tracebuf.UnsupportedError, match="an array of int64.*\n?.*astype"):
        tracebuf.bufferize(fresh)(np.arange(3), np.arange(3))
    with pytest.raises(tracebuf.UnsupportedError, match="evens of a vector of another size"):
        tracebuf.bufferize(lambda x: evens(x))(VECTOR)


def test_loops_are_native_and_in_place() -> None:
    f = tracebuf.bufferize(into_its_argument)
    _, counters = f.call_counted(VECTOR.copy(), OTHER.copy())
    assert (counters.allocations, counters.copies) == (0, 0)
    lowered = f.lower(VECTOR.copy(), OTHER.copy())
    assert "second.lerp\n" in lowered.as_text("loops") and '"second.lerp"(' in lowered.as_text("memref")


# -- text

TEXT = """
"builtin.module"() ({
  "func.func"() <{function_type = (tensor<?xf64>, tensor<4xf64>, f64) -> tensor<?xf64>, sym_name = "f"}> ({
  ^bb0(%x: tensor<?xf64>, %y: tensor<4xf64>, %w: f64):
    %0 = "second.lerp"(%x, %x, %w, %x) <{operandSegmentSizes = array<i32: 3, 1>}> {note = "kept"}
      : (tensor<?xf64>, tensor<?xf64>, f64, tensor<?xf64>) -> tensor<?xf64>
    %1 = "second.evens"(%y) {static_size = 2 : i64} : (tensor<4xf64>) -> tensor<2xf64>
    %2 = "second.lerp"(%1, %1, %w, %1) <{operandSegmentSizes = array<i32: 3, 1>}>
      : (tensor<2xf64>, tensor<2xf64>, f64, tensor<2xf64>) -> tensor<2xf64>
    %3 = "second.ranked"(%x, %0) <{operandSegmentSizes = array<i32: 1, 1>}>
      : (tensor<?xf64>, tensor<?xf64>) -> tensor<?xf64>
    "func.return"(%3) : (tensor<?xf64>) -> ()
  }) : () -> ()
}) : () -> ()
"""


def test_text_with_the_ops_is_read_analysed_rewritten_and_run() -> None:
    (f,) = read(TEXT).funcs
    assert [type(op) for op in f.block.ops[:4]] == [Lerp, Evens, Lerp, Ranked]
    assert [dict(op.to_form().attrs)["static_size"].value for op in f.block.ops if isinstance(op, Evens)] == [2]
    assert f.block.ops[0].to_form().attrs["note"].value == "kept"
    analysis = one_shot(f)
    out = [op.name for op in f.walk() for use in op.tensor_uses() if not analysis.is_in_place(use)]
    assert out == ["second.lerp"]  # the first, whose destination is read by second.ranked
    program = bufferize(f, analysis)
    verify(program, "memref")
    x, y = np.array([3.0, 1.0, 2.0]), np.arange(4.0)
    expected = tensor_interpreter.run(f, [x, y, 0.5]).results
    for results in (
        memref_interpreter.run(program, [x.copy(), y.copy(), 0.5], may_leak=True).results,
        kernel_of(program, "f").run([x.copy(), y.copy(), 0.5]),
    ):
        np.testing.assert_array_equal(results[0], expected[0])


def both_levels() -> list[Module]:
    module = read(TEXT)
    return [module, Module([bufferize(f, one_shot(f)) for f in module.funcs])]


def test_text_with_the_ops_comes_back_the_same() -> None:
    for module in both_levels():
        text = print_generic(module)
        assert print_generic(read(text)) == text and text.count('"second.lerp"') == 2


def test_the_command_loads_the_package(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "f.mlir").write_text(TEXT)
    bufferization = "-one-shot-bufferize=bufferize-function-boundaries test-analysis-only"
    command = [str(tmp_path / "f.mlir"), "-load-dialect-plugin=tests.support.second_package", bufferization]
    assert opt(command) == 0
    line = next(line for line in capsys.readouterr().out.splitlines() if '"second.lerp"(%x' in line)
    assert '__inplace_operands_attr__ = ["true", "true", "none", "false"]' in line
    assert opt([command[0], "-load-dialect-plugin=third_package"]) == 1
    assert "No module named 'third_package'" in capsys.readouterr().err


@needs_mlir
def test_mlir_opt_reads_text_with_the_ops() -> None:
    for module in both_levels():
        assert [op.name for op in read(generic(print_module(module))).funcs[0].walk() if op.name[:7] == "second."] == [
            op.name for op in module.funcs[0].walk() if op.name[:7] == "second."
        ]


# -- facts


def test_the_declared_facts_hold() -> None:
    report = check_op(Lerp, [(VECTOR, VECTOR[::-1], np.float64(0.5), VECTOR * 0)])
    for k in (0, 1):
        assert report.verdict(f"operands {k} and 3 may be one buffer, element by element") == "held"
    assert check_op(Ranked, [(VECTOR[::-1], VECTOR)]).verdict("does not read operand 1") == "held"
    report = check_op(lambda x: Evens.of(x, 2, UNKNOWN), [(VECTOR[:4],)])
    assert report.verdict("result 0 is part of operand 0") == report.verdict("does not read operand 0") == "held"


def inserted(x: Value, dest: Value, i: Value) -> tensor.Insert:
    return tensor.Insert.of(x, dest, [i], UNKNOWN)


def insert_twice(size: int) -> Func:
    """Two inserts into one value: the second needs a buffer of its own."""
    f = Func("f", [TensorType((size,), F64), F64])
    zero = arith.Constant.of(0, INDEX, UNKNOWN)
    ops = [zero, *(inserted(f.args[1], f.args[0], zero.result) for _ in range(2))]
    for op in (*ops, Return.of([ops[1].result, ops[2].result], UNKNOWN)):
        f.block.append(op)
    return f


def copies(f: Func) -> int:
    return sum(op.name == "memref.copy" for op in bufferize(f, one_shot(f)).walk())


def test_a_model_adds_facts_to_an_op_of_tracebufs() -> None:
    examples = [(np.float64(3.0), np.array([7.0]), 0)]
    assert copies(insert_twice(1)) == copies(insert_twice(2)) == 1
    assert check_op(inserted, examples).verdict("reads operand 1") == "not seen"
    with external_model(tensor.Insert, OneElement):
        assert (copies(insert_twice(1)), copies(insert_twice(2))) == (0, 1)
        assert check_op(inserted, examples).verdict("does not read operand 1") == "held"
    assert copies(insert_twice(1)) == 1 and "bufferizes_to_memory_read" not in vars(tensor.Insert)


UNKNOWN_OP = """
"builtin.module"() ({
  "func.func"() <{function_type = (tensor<4xf64>, f64) -> (tensor<4xf64>, f64), sym_name = "f"}> ({
  ^bb0(%x: tensor<4xf64>, %w: f64):
    %0 = "other.norm"(%x) : (tensor<4xf64>) -> f64
    %1 = "second.lerp"(%x, %x, %0, %x) <{operandSegmentSizes = array<i32: 3, 1>}>
      : (tensor<4xf64>, tensor<4xf64>, f64, tensor<4xf64>) -> tensor<4xf64>
    "func.return"(%1, %0) : (tensor<4xf64>, f64) -> ()
  }) : () -> ()
}) : () -> ()
"""


def test_a_model_speaks_for_an_op_without_a_class() -> None:
    options = OneShotOptions(bufferize_function_boundaries=True, allow_unknown_ops=True)

    def rewritten() -> list[str]:
        module = read(UNKNOWN_OP)
        program = bufferize_module(module, analyze_module(module, options), options)
        return [op.name for op in program.func("f").walk() if op.name[:5] != "arith"]

    assert "bufferization.to_tensor" in rewritten()
    with external_model(unknown_op("other.norm"), OnlyReads):
        assert rewritten() == ["other.norm", "second.lerp", "func.return"]


def test_a_wrong_model_is_refuted() -> None:
    class ReadsNothing:
        def bufferizes_to_memory_read(self, use: Any, facts: Any) -> bool:
            return False

    refuted = "does not read operand 1: refuted"
    with external_model(tensor.Insert, ReadsNothing), pytest.raises(FactError, match=refuted):
        check_op(inserted, [(np.float64(3.0), VECTOR, 0)])


def test_a_model_says_only_what_can_be_said() -> None:
    class Misspelt:
        def bufferizes_to_memory_reed(self, use: Any, facts: Any) -> bool:
            return False

    class Renames:
        name = "second.other"

    for model in (Misspelt, Renames):
        with pytest.raises(TypeError, match="is nothing that a model can say of Insert"):
            external_model(tensor.Insert, model)


class Unfinished(Op):
    """Says nothing but its name."""

    __slots__ = ()
    name = "test.unfinished"
    levels = frozenset({"tensor"})


class Unwritten(DestinationOp):
    """Says where it writes, not what."""

    __slots__ = ()
    name = "test.unwritten"


def test_an_op_that_says_too_little_is_refused() -> None:
    f = Func("f", [TensorType((2,), F64)])
    f.block.append(made := Unfinished(f.args, [f.args[0].type], UNKNOWN))
    f.block.append(Return.of([made.result], UNKNOWN))
    assert [a.definite for a in made.aliasing_values(made.uses[0])] == [False]
    with pytest.raises(tracebuf.UnsupportedError, match=r"test.unfinished has no memref form\nInstead: derive it from"):
        bufferize(f, one_shot(f))
    f = Func("f", [MemRefType((2,), F64, (1,), 0)])
    f.block.append(Unwritten(f.args, [], UNKNOWN, {"n_ins": 0}))
    f.block.append(Return.of([], UNKNOWN))
    with pytest.raises(tracebuf.InternalError, match="test.unwritten has neither loops"):
        kernel_of(f, "f")


# -- a package of its own


def test_the_package_uses_the_public_interface_alone() -> None:
    for path in Path(second_package.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("tracebuf"):
                assert node.module == "tracebuf.extend", f"{path.name}:{node.lineno}"


def test_the_package_is_not_tracebufs() -> None:
    assert not second_package.__name__.startswith("tracebuf")
    block = Block([TensorType((2,), F64)])
    assert type(Ranked.of(block.args[0], block.args[0], UNKNOWN)).__module__ == "tests.support.second_package.ops"
