"""Linalg's named ops: what they read, what they compute, and that they become linalg.generic."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest

from tracebuf.errors import UnsupportedError
from tracebuf.interpret import tensor as interpreter
from tracebuf.ir.attributes import Attr, inherent, integers, segments
from tracebuf.ir.core import Block, Form, FormError, Op, Region, Value
from tracebuf.ir.func import Func
from tracebuf.ir.types import F64, I1, TensorType, Type
from tracebuf.location import UNKNOWN
from tracebuf.ops.arrays import linalg, named
from tracebuf.ops.control.func import Return
from tracebuf.ops.scalars import arith
from tracebuf.optimize.mlir.generalize import generalize
from tracebuf.options import Options
from tracebuf.pipeline import to_memref

Body = Callable[[Block], Value]


def product(block: Block) -> Value:
    a, b, out = block.args
    mul = arith.MulF.of(a, b, UNKNOWN)
    add = arith.AddF.of(out, mul.result, UNKNOWN)
    block.append(mul)
    block.append(add)
    return add.result


def combined(kind: type[arith.BinaryOp], *which: int) -> Body:
    def body(block: Block) -> Value:
        op = kind.of(block.args[which[0]], block.args[which[1]], UNKNOWN)
        block.append(op)
        return op.result

    return body


def first(block: Block) -> Value:
    return block.args[0]


def build(
    name: str, types: Sequence[Type], body: Body | None, n_ins: int | None = None, **attrs: Attr
) -> tuple[Func, Op]:
    """A function of tensors (and scalars) with one named op on all of its arguments."""
    func = Func("f", types)
    regions = []
    if body is not None:
        block = Block([t.element if isinstance(t, TensorType) else t for t in types])
        regions.append(Region(block))
        block.append(linalg.Yield.of([body(block)], UNKNOWN))
    if n_ins is not None:
        attrs["operandSegmentSizes"] = segments(n_ins, len(types) - n_ins)
    form = Form(name, func.args, [types[-1]], attrs, regions)
    op = Op.registry[name].from_form(form)
    func.block.append(op)
    func.block.append(Return.of(op.results, UNKNOWN))
    return func, op


def t(*shape: int) -> TensorType:
    return TensorType(shape, F64)


def run(func: Func, *args: np.ndarray | float) -> np.ndarray:
    """The same on the tensor interpreter before and after `generalize`, and through the memref program."""
    before = interpreter.run(func, args).results[0]
    generalize(func)
    assert not any(isinstance(op, named.NamedOp) for op in func.walk())
    after = interpreter.run(func, args).results[0]
    np.testing.assert_array_equal(before, after)
    to_memref(func, Options(verify=True))
    assert isinstance(after, np.ndarray)
    return after


A = np.arange(12.0).reshape(3, 4)


def test_transpose_broadcast_reduce_map() -> None:
    func, _ = build("linalg.transpose", [t(3, 4), t(4, 3)], first, permutation=integers([1, 0]))
    np.testing.assert_array_equal(run(func, A, np.zeros((4, 3))), A.T)
    func, _ = build("linalg.broadcast", [t(4), t(3, 4)], first, dimensions=integers([0]))
    np.testing.assert_array_equal(run(func, A[0], np.zeros((3, 4))), np.broadcast_to(A[0], (3, 4)))
    func, _ = build("linalg.reduce", [t(3, 4), t(3)], combined(arith.AddF, 1, 0), dimensions=integers([1]))
    np.testing.assert_array_equal(run(func, A, np.ones(3)), A.sum(axis=1) + 1)
    func, _ = build("linalg.map", [t(3, 4), t(3, 4), t(3, 4)], combined(arith.SubF, 0, 1))
    np.testing.assert_array_equal(run(func, A, A * A, np.zeros((3, 4))), A - A * A)


def test_a_transposition_of_three_axes_is_no_inverse() -> None:
    x = np.arange(24.0).reshape(2, 3, 4)
    func, _ = build("linalg.transpose", [t(2, 3, 4), t(3, 4, 2)], first, permutation=integers([1, 2, 0]))
    np.testing.assert_array_equal(run(func, x, np.zeros((3, 4, 2))), x.transpose(1, 2, 0))


def test_products() -> None:
    a, b = np.arange(24.0).reshape(2, 3, 4), np.arange(40.0).reshape(2, 4, 5)
    func, op = build("linalg.batch_matmul", [t(2, 3, 4), t(2, 4, 5), t(2, 3, 5)], product, 2)
    np.testing.assert_array_equal(run(func, a, b, np.ones((2, 3, 5))), a @ b + 1)
    transposed = "affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d1, d2)>, affine_map<(d0, d1, d2)"
    maps = inherent(f"[{transposed} -> (d0, d1)>]")
    func, op = build("linalg.contract", [t(3, 4), t(5, 4), t(3, 5)], product, 2, indexing_maps=maps)
    assert isinstance(op, named.NamedOp)
    assert op.to_form().attrs["operandSegmentSizes"].text == "array<i32: 2, 1>"
    c = b.reshape(10, 4)[:5]
    np.testing.assert_array_equal(run(func, a[0], c, np.zeros((3, 5))), a[0] @ c.T)


def test_softmax_does_not_read_its_destination() -> None:
    func, op = build("linalg.softmax", [t(3, 4), t(3, 4)], None, dimension=inherent("1 : i64", 1))
    assert isinstance(op, named.Softmax) and op.reads_in(op.uses[0]) and not op.reads_out(op.uses[1])
    found = interpreter.run(func, [A, np.zeros((3, 4))]).results[0]
    np.testing.assert_allclose(found.sum(axis=1), 1)


def test_reads_follow_the_region() -> None:
    _, op = build("linalg.add", [t(3), t(3), t(3)], combined(arith.AddF, 0, 1), 2)
    assert isinstance(op, named.NamedOp)
    assert [op.reads_in(u) for u in op.uses] == [True, True, False]
    assert op.elementwise_access(op.uses[0], op.uses[2])
    _, op = build("linalg.batch_matmul", [t(2, 3, 4), t(2, 4, 5), t(2, 3, 5)], product, 2)
    assert isinstance(op, named.NamedOp)
    assert op.reads_out(op.uses[2]) and not op.elementwise_access(op.uses[0], op.uses[2])
    _, op = build("linalg.map", [t(3), t(3)], first)
    assert isinstance(op, named.NamedOp) and not op.reads_out(op.uses[1])


def test_windows_without_their_maps_are_not_run() -> None:
    func, op = build("linalg.conv_1d", [t(8), t(3), t(6)], product, 2)
    assert isinstance(op, named.NamedOp) and op.reads_out(op.uses[2])
    generalize(func)
    with pytest.raises(UnsupportedError, match="can be analysed and rewritten, not run"):
        op.generalized()


def test_captured_scalars_become_inputs() -> None:
    func = Func("f", [t(4), t(4), F64])
    block = Block([F64, F64])
    region = Region(block)
    op = arith.AddF.of(block.args[0], func.args[2], UNKNOWN)
    block.append(op)
    block.append(linalg.Yield.of([op.result], UNKNOWN))
    made = Op.registry["linalg.map"].from_form(Form("linalg.map", func.args[:2], [t(4)], {}, [region]))
    func.block.append(made)
    func.block.append(Return.of(made.results, UNKNOWN))
    generalize(func)
    (general,) = func.block.ops[:-1]
    assert isinstance(general, linalg.Generic) and general.n_ins == 2
    assert general.operands == [func.args[0], func.args[2], func.args[1]]
    np.testing.assert_array_equal(interpreter.run(func, [A[0], A[1], 2.5]).results[0], A[0] + 2.5)


def test_what_does_not_fit_is_a_form_error() -> None:
    with pytest.raises(FormError, match="as many inputs as results"):
        build("linalg.reduce", [t(4), t(4), t(4)], first, dimensions=integers([0]))
    with pytest.raises(FormError, match="operandSegmentSizes"):
        build("linalg.add", [t(4), t(4)], first)


def test_maps_are_read_where_they_are_loops_and_zeros() -> None:
    text = "[affine_map<(d0, d1) -> (d1, 0)>, affine_map<() -> ()>]"
    assert named.parse_maps(text) == (linalg.AffineMap(2, (1, None)), linalg.AffineMap(0, ()))
    assert named.parse_maps("[affine_map<(d0, d1) -> (d0 + d1)>]") is None


def tensors(p: bool, a: np.ndarray, b: np.ndarray) -> Func:
    func = Func("f", [I1, t(4), t(4)])
    select = arith.Select.of(*func.args, UNKNOWN)
    func.block.append(select)
    func.block.append(Return.of([select.result], UNKNOWN))
    return func


def test_select_of_tensors() -> None:
    for p in (True, False):
        func = tensors(p, A[0], A[1])
        np.testing.assert_array_equal(interpreter.run(func, [p, A[0], A[1]]).results[0], A[0] if p else A[1])
        program = to_memref(func, Options(verify=True))
        assert [op.name for op in program.walk()][-2:] == ["arith.select", "func.return"]


def test_constant_tensors() -> None:
    func = Func("f", [])
    type_ = TensorType((2, 2), F64)
    value = Attr("dense<[[1.0, 2.5], [-3.0e+00, 0x7FF0000000000000]]> : tensor<2x2xf64>")
    constant = arith.Constant.rebuilt([], [type_], UNKNOWN, {"value": value})
    func.block.append(constant)
    func.block.append(Return.of([constant.result], UNKNOWN))
    np.testing.assert_array_equal(interpreter.run(func, []).results[0], [[1, 2.5], [-3, np.inf]])
    program = to_memref(func, Options(verify=True))
    (got,) = [op for op in program.walk() if op.name == "memref.get_global"]
    assert got.attrs["name"].text == "@__constant_2x2xf64" and got.attrs["dense"].startswith("dense<[[1.0, 2.5]")


@pytest.mark.parametrize(("which", "expected"), [((0, 1), [-99.0, -96.0]), ((1, 0), [97.0, 88.0])])
def test_a_fold_whose_order_matters_is_folded_in_order(which: tuple[int, int], expected: list[float]) -> None:
    """Minus a fold is no fold of minus: x - acc and acc - x, element after element, as the compiled loops do."""
    func, _ = build("linalg.reduce", (t(2, 3), t(2)), combined(arith.SubF, *which), n_ins=1, dimensions=integers([1]))
    assert run(func, np.arange(6.0).reshape(2, 3), np.full(2, 100.0)).tolist() == expected
