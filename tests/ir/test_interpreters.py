"""The two interpreters: what they compute, and every fault of the memory model on the smallest program that has it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.support.ir_programs import PROGRAMS, Maker, Program, array, by_name
from tracebuf.errors import InternalError
from tracebuf.interpret import memref as memref_interpreter
from tracebuf.interpret import tensor as tensor_interpreter
from tracebuf.interpret.memory import MemoryFault
from tracebuf.interpret.memref import Result
from tracebuf.ir.core import Block, Builder, Mixed, Op, Value
from tracebuf.ir.func import Func
from tracebuf.ir.slices import Slice
from tracebuf.ir.types import F64, I1, I64, INDEX, MemRefType, ScalarType, TensorType, Type
from tracebuf.location import Location
from tracebuf.ops.arrays import bufferization, linalg, tensor
from tracebuf.ops.arrays.linalg import AffineMap, identity_map
from tracebuf.ops.control import checks, func, scf
from tracebuf.ops.memory import memref
from tracebuf.ops.scalars import arith
from tracebuf.testing.ladder import climb

LOC = Location("program.py", 7)

# -- values ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.name)
def test_tensor_interpreter_is_eager_numpy(program: Program) -> None:
    args, eager_args = program.arguments(), program.arguments()
    result = tensor_interpreter.run(program.build(), args)
    expected = program.eager(*eager_args)
    expected = () if expected is None else expected if isinstance(expected, tuple) else (expected,)
    assert len(expected) == len(result.results)
    for got, want in zip(result.results, expected):
        np.testing.assert_array_equal(got, want)
    for i, (before, after) in enumerate(zip(program.arguments(), eager_args)):
        np.testing.assert_array_equal(result.arguments.get(i, args[i]), after)
        np.testing.assert_array_equal(args[i], before)


def test_a_check_raises_what_eager_would() -> None:
    with pytest.raises(IndexError, match="index 9 is out of bounds"):
        tensor_interpreter.run(by_name("checked_max").build(), [array(6), 9])


def test_results_are_checked_against_their_declared_sizes() -> None:  # rule N5
    m = Maker("f", a=("n",))
    wrong = tensor.Empty.of(TensorType((m.dim("n"),), F64), [4], m.loc())
    m.builder.add(wrong)
    with pytest.raises(InternalError, match=r"tensor\.empty, line \d+ of program\.py.*shape \(4,\), declared \(5,\)"):
        tensor_interpreter.run(m.done(), [array(5)])


def test_results_are_checked_against_their_declared_dtype() -> None:  # rule N5
    m = Maker("f", a=("n",))
    wrong = tensor.Extract([m.args[0], m.index(0)], [I64], m.loc())
    m.builder.add(wrong)
    with pytest.raises(InternalError, match=r"tensor\.extract.*float64"):
        tensor_interpreter.run(m.done(), [array(5)])


def test_sizes_of_arguments_must_agree() -> None:
    with pytest.raises(InternalError, match="size n is"):
        tensor_interpreter.run(by_name("chain").build(), [array(5), array(6)])


@pytest.mark.slow
def test_a_size_of_an_argument_may_depend_on_a_truth() -> None:
    """It was asked for before the op that makes the truth a number, and had no value."""

    def f(a, b, flag):
        b[2 + flag // 3 :] = a[1:-1]

    climb(f, (array(6), array(6), False))


def test_symbols_keep_their_bounds() -> None:
    with pytest.raises(InternalError, match="n is 1, declared within"):
        tensor_interpreter.run(by_name("chain").build(), [array(1), array(1)])


# -- memory ----------------------------------------------------------------------------------------------------------


class Mem:
    """A memref-level function over vectors of four float64."""

    def __init__(self, *types: Type) -> None:
        vector = MemRefType((4,), F64, (None,), None)
        self.func = Func("f", [vector if t is F64 else t for t in types], LOC)
        self.builder = Builder(self.func.block, LOC)
        self.args = self.func.args

    def add(self, op: Op) -> Value:
        """Adds the op; its first result (an argument of the function where it has none)."""
        return (self.builder.add(op).results or self.args or [op.operand(0)])[0]

    def index(self, i: int) -> Value:
        return self.add(arith.Constant.of(i, INDEX, LOC))

    def true(self, value: bool = True) -> Value:
        return self.add(arith.Constant.of(value, I1, LOC))

    def alloc(self, n: int = 4, kind: Any = memref.Alloc, element: ScalarType = F64) -> Value:
        return self.add(kind.of((n,), element, [n], (0,), "a new array", LOC))

    def zeros(self) -> Value:
        out = self.alloc()
        self.fill(out)
        return out

    def fill(self, out: Value) -> None:
        self.add(linalg.Fill.of(self.add(arith.Constant.of(0.0, F64, LOC)), out, LOC))

    def free(self, buffer: Value) -> None:
        self.add(memref.Dealloc.of(buffer, LOC))

    def copy(self, source: Value, target: Value, reason: str = "store") -> None:
        self.add(memref.Copy.of(source, target, reason, LOC))

    def load(self, buffer: Value, i: int = 0) -> Value:
        return self.add(memref.Load.of(buffer, [self.index(i)], LOC))

    def part(self, base: Value, offset: Mixed, size: int, stride: int = 1) -> Value:
        return self.add(memref.Subview.of(base, Slice((offset,), (size,), (stride,), (0,)), (size,), LOC))

    def generic(
        self,
        ins: list[Value],
        out: Value,
        body: Callable[..., Value],
        maps: list[AffineMap] | None = None,
        iterators: tuple[str, ...] = ("parallel",),
    ) -> None:
        """`body(builder, *block arguments)` gives the yielded value."""
        block = Block([linalg.element_type(v.type) for v in [*ins, out]])
        inner = Builder(block)
        inner.add(linalg.Yield.of([body(inner, *block.args)], LOC))
        self.add(linalg.Generic.of(ins, [out], maps or [identity_map(1)] * (len(ins) + 1), iterators, block, LOC))

    def double(self, source: Value, out: Value) -> None:
        self.generic([source], out, lambda b, x, o: b.add(arith.AddF.of(x, x, LOC)).result)

    def run(self, *args: Any, returns: tuple[Value, ...] = ()) -> Result:
        self.builder.add(func.Return.of(returns, LOC))
        return memref_interpreter.run(self.func, args)


def faults(m: Mem, match: str, *args: Any, returns: tuple[Value, ...] = ()) -> None:
    with pytest.raises(MemoryFault, match=match):
        m.run(*args, returns=returns)


def test_arguments_are_modified_and_results_alias_them() -> None:
    m, a = Mem(F64), array(4)
    m.double(m.args[0], m.args[0])
    result = m.run(a, returns=(m.part(m.args[0], 1, 2, 2),))
    np.testing.assert_array_equal(a, array(4) * 2)
    np.testing.assert_array_equal(result.results[0], a[1:4:2])
    assert np.shares_memory(result.results[0], a)


def test_arguments_that_share_memory_share_a_buffer() -> None:
    base = array(8)
    m = Mem(F64, F64)
    m.fill(m.args[0])
    m.double(m.args[1], m.args[1])
    m.run(base[::2], base[7:3:-1])
    np.testing.assert_array_equal(base, [0, -2.5, 0, -1.5, 0, -1.0, 0, 1.0])
    m = Mem(F64, F64)
    m.double(m.args[0], m.args[1])
    faults(m, "hazard: output 1 overlaps operand 0 in argument memory", base[:4], base[2:6])


def test_counts() -> None:
    m = Mem(F64)
    first = m.zeros()
    m.copy(m.args[0], first, "another value is needed")
    m.copy(first, m.args[0])
    m.free(first)
    m.free(m.add(bufferization.Clone.of(m.args[0], LOC)))
    m.fill(m.alloc(kind=memref.Alloca))
    counts = m.run(array(4)).counts
    assert (counts.allocations, counts.allocated_bytes, counts.peak_bytes) == (2, 64, 32)
    assert (counts.copies, counts.copied_bytes) == (2, 64)


def test_read_of_poison() -> None:
    m = Mem(F64)
    fresh = m.alloc()
    m.double(fresh, m.args[0])
    m.free(fresh)
    faults(m, r"linalg\.generic, line 7 of program\.py: arith\.addf computes with elements that were never", array(4))


def test_read_of_poison_by_a_reduction_or_a_product() -> None:
    m = Mem(F64)
    out = m.add(memref.Alloc.of((), F64, [], (), "a new array", LOC))
    m.fill(out)
    m.add(linalg.Contraction.of(m.args[0], m.alloc(), out, LOC))
    faults(m, "never written", array(4))


def test_scalar_poison_may_be_stored_but_not_used() -> None:
    m = Mem(F64)
    fresh = m.alloc()
    m.add(memref.Store.of(m.load(fresh), m.args[0], [m.index(1)], LOC))
    m.free(fresh)
    result = m.run(array(4), returns=(m.args[0],))
    assert result.written[0] is not None and result.written[0].tolist() == [True, False, True, True]
    m = Mem()
    x = m.load(m.alloc())
    m.add(arith.AddF.of(x, x, LOC))
    faults(m, r"arith\.addf.*never written")
    m = Mem()
    faults(m, "returns a scalar that was never written", returns=(m.load(m.alloc()),))
    m = Mem()
    buffer = m.alloc(element=INDEX)
    m.load(buffer)
    m.add(memref.Store.of(m.index(0), buffer, [m.load(buffer)], LOC))
    faults(m, "never written")


def test_poison_may_be_copied_and_returned() -> None:
    m = Mem()
    fresh, second, third = m.alloc(), m.alloc(), m.alloc()
    m.add(memref.Store.of(m.add(arith.Constant.of(1.0, F64, LOC)), fresh, [m.index(2)], LOC))
    m.copy(fresh, second)
    m.generic([second], third, lambda b, x, o: x)
    m.free(fresh)
    m.free(second)
    (written,) = m.run(returns=(third,)).written
    assert written is not None and written.tolist() == [False, False, True, False]


def test_select_ignores_poison_it_does_not_choose() -> None:
    def choose(b: Builder, c: Value, x: Value, out: Value) -> Value:
        return b.add(arith.Select.of(c, x, out, LOC)).result

    mask = MemRefType((4,), I1, (None,), None)
    m = Mem(mask, F64)
    out = m.alloc()
    m.generic([*m.args], out, choose)
    result = m.run(np.array([True, False, True, True]), array(4), returns=(out,))
    assert result.written[0] is not None and result.written[0].tolist() == [True, False, True, True]
    m = Mem(F64)
    unset = m.alloc(element=I1)
    m.generic([unset, m.args[0]], m.args[0], choose)
    faults(m, r"arith\.select computes", array(4))


def test_out_of_bounds() -> None:
    m = Mem(F64)
    m.load(m.args[0], 4)
    faults(m, r"memref\.load.*out of bounds", array(4))
    m = Mem(F64)
    m.part(m.args[0], m.index(2), 3)
    faults(m, r"memref\.subview.*out of bounds", array(4))
    m = Mem(F64)
    m.add(memref.Store.of(m.load(m.args[0]), m.args[0], [m.index(-1)], LOC))
    faults(m, r"memref\.store.*out of bounds", array(4))
    m = Mem()
    m.add(memref.Alloc.of((-1,), F64, [-1], (0,), "a new array", LOC))
    faults(m, "allocates sizes")


def test_use_after_free() -> None:
    uses: tuple[Callable[[Mem, Value], Any], ...] = (
        lambda m, b: m.load(b),
        lambda m, b: m.fill(b),
        lambda m, b: m.copy(b, m.args[0]),
        lambda m, b: m.copy(m.args[0], b),
        lambda m, b: m.double(b, m.args[0]),
        lambda m, b: m.add(bufferization.Clone.of(b, LOC)),
    )
    for use in uses:
        m = Mem(F64)
        buffer = m.zeros()
        view = m.part(buffer, 0, 4)
        m.free(buffer)
        use(m, view)
        faults(m, r"use after free: the buffer of memref\.alloc, line 7 of program\.py was freed", array(4))
    m = Mem()
    buffer = m.zeros()
    m.free(buffer)
    faults(m, r"func\.return.*use after free", returns=(buffer,))


def test_frees() -> None:
    m = Mem()
    buffer = m.zeros()
    m.free(buffer)
    m.free(m.part(buffer, 1, 2))
    faults(m, "double free")
    m = Mem(F64)
    m.free(m.args[0])
    faults(m, "frees argument memory", array(4))
    m = Mem()
    m.free(m.alloc(kind=memref.Alloca))
    faults(m, "no heap memory")


def test_leak() -> None:
    m = Mem()
    m.zeros()
    faults(m, r"memref\.alloc, line 7 of program\.py: leak")
    m = Mem()
    kept = m.zeros()
    assert m.run(returns=(m.part(kept, 1, 2),)).results[0].tolist() == [0, 0]


def test_a_failed_check_leaks_nothing() -> None:
    m = Mem()
    m.zeros()
    m.add(checks.Check.of(m.true(False), "ValueError", "no", [], LOC))
    with pytest.raises(ValueError, match="no"):
        m.run()


def test_return_of_stack_memory() -> None:
    m = Mem()
    faults(m, "on the stack", returns=(m.alloc(kind=memref.Alloca),))


def test_write_to_read_only() -> None:
    m = Mem(F64)
    m.func.arg_attrs[0]["bufferization.writable"] = False
    m.fill(m.part(m.args[0], 1, 2))
    faults(m, "writes to read-only argument memory", array(4))
    m = Mem(F64)
    m.fill(m.args[0])
    frozen = array(4)
    frozen.flags.writeable = False
    faults(m, "writes to read-only", frozen)


def test_hazards() -> None:
    m = Mem(F64)
    m.double(m.part(m.args[0], 0, 3), m.part(m.args[0], 1, 3))
    faults(m, "hazard", array(4))
    m = Mem(F64)
    m.copy(m.part(m.args[0], 0, 3), m.part(m.args[0], 1, 3))
    faults(m, "hazard: copies between overlapping parts", array(4))
    m = Mem(F64)
    m.double(m.part(m.args[0], 0, 2, 2), m.part(m.args[0], 1, 2, 2))  # interleaved: disjoint
    m.run(array(4))
    square = MemRefType((3, 3), F64, (None, None), None)
    m = Mem(square)
    double = lambda b, x, o: b.add(arith.AddF.of(x, x, LOC)).result  # noqa: E731
    m.generic([m.args[0]], m.args[0], double, [AffineMap(2, (1, 0)), identity_map(2)], ("parallel",) * 2)
    faults(m, "hazard", array(3, 3))
    m = Mem(square)
    view = m.add(memref.Subview.of(m.args[0], Slice((0, 0), (3, 3), (1, 1), (1, 0)), (3, 3), LOC))
    m.generic([view], m.args[0], double, [AffineMap(2, (1, 0)), identity_map(2)], ("parallel",) * 2)
    m.run(array(3, 3))  # transposed twice: the same element at each point


def test_hazard_of_reductions_and_products() -> None:
    square = MemRefType((3, 3), F64, (None, None), None)
    m = Mem(square)
    row = m.add(memref.Subview.of(m.args[0], Slice((0, 0), (1, 3), (1, 1), (1,)), (3,), LOC))
    add = lambda b, x, o: b.add(arith.AddF.of(x, o, LOC)).result  # noqa: E731
    m.generic([m.args[0]], row, add, [identity_map(2), AffineMap(2, (1,))], ("reduction", "parallel"))
    faults(m, "hazard", array(3, 3))
    m = Mem(square, square)
    m.add(linalg.Contraction.of(m.args[0], m.args[1], m.args[0], LOC))
    faults(m, "hazard", array(3, 3), array(3, 3))


def test_types_are_checked() -> None:
    m = Mem(MemRefType((4,), F64, (1,), None))
    with pytest.raises(InternalError, match="has strides"):
        m.run(array(8)[::2])
    m = Mem(F64)
    m.add(memref.Cast.of(m.part(m.args[0], m.index(1), 2), MemRefType((2,), F64, (1,), 0), LOC))
    with pytest.raises(InternalError, match=r"memref\.cast.*has offset 1"):
        m.run(array(4))


def test_conditional_dealloc() -> None:
    """MLIR's definition: frees what is owned, once, and nothing that a retained memref needs; says who owns it."""
    m = Mem(F64)
    a, b = m.zeros(), m.zeros()
    same = m.part(a, 1, 2)
    yes, no = m.true(), m.true(False)
    op = bufferization.Dealloc.of([a, same, b, m.args[0]], [yes, yes, yes, no], [m.part(b, 0, 1), m.args[0]], LOC)
    m.add(op)
    result = m.run(array(4), returns=(b, *op.results))
    assert [bool(x) for x in result.results[1:]] == [True, False]
    m = Mem()
    m.add(bufferization.Dealloc.of([m.zeros()], [m.true(False)], [], LOC))
    faults(m, "leak")


def test_lowered_conditional_dealloc() -> None:
    m = Mem(F64)
    a = m.zeros()
    same = m.add(bufferization.SameBase.of(a, m.args[0], LOC))
    then, orelse = Block(), Block()
    for block in (then, orelse):
        Builder(block).add(scf.Yield.of([], LOC)) if block is then else None
    orelse.append(memref.Dealloc.of(a, LOC))
    orelse.append(scf.Yield.of([], LOC))
    m.builder.add(scf.If.of(same, [], then, orelse, LOC))
    assert m.run(array(4)).results == []


def test_buffers_carried_by_a_loop() -> None:
    """p, q = q, p three times: the buffers rotate, nothing is copied."""
    m = Mem()
    p, q = m.zeros(), m.zeros()
    m.add(memref.Store.of(m.add(arith.Constant.of(5.0, F64, LOC)), p, [m.index(0)], LOC))
    body = Block([INDEX, p.type, q.type])
    body.append(scf.Yield.of([body.args[2], body.args[1]], LOC))
    op = scf.For.of([m.index(0), m.index(3), m.index(1)], [p, q], body, LOC)
    m.builder.add(op)
    m.free(op.results[1])
    (result,) = m.run(returns=(op.results[0],)).results
    assert result.tolist() == [0, 0, 0, 0]


def test_an_op_of_another_level_is_refused() -> None:
    m = Mem()
    m.add(tensor.Empty.of(TensorType((2,), F64), [2], LOC))
    with pytest.raises(InternalError, match="not an op of the memref level"):
        m.run()


def test_allocations_lie_in_the_order_asked_for() -> None:
    m = Mem()
    buffer = m.add(memref.Alloc.of((2, 3), F64, [2, 3], (1, 0), "a new array", LOC))
    (result,) = m.run(returns=(buffer,)).results
    assert result.strides == (8, 16)


def test_views_of_rank_zero() -> None:
    m = Maker("f", a=("n",))
    (a,) = m.args
    point = m.view(a, (1, 1, 1), dims=())
    new = m.store(point, m.zeros(m.dim("n")), (2, 1, 1), dims=())
    same = m.store(m.view(point, dims=()), point, dims=())
    result = tensor_interpreter.run(m.done(new, same), [array(4)])
    assert result.results[0].tolist() == [0, 0, -2.5, 0] and result.results[1].shape == ()
    m2, b = Mem(F64), array(4)
    view = m2.add(memref.Subview.of(m2.args[0], Slice((1,), (1,), (1,), ()), (), LOC))
    m2.fill(view)
    m2.run(b)
    assert b.tolist() == [-3.0, 0.0, -2.0, -1.5]


def test_reduction_into_memory_that_was_never_filled() -> None:
    m = Mem(F64)
    out = m.add(memref.Alloc.of((), F64, [], (), "a new array", LOC))
    add = lambda b, x, o: b.add(arith.AddF.of(x, o, LOC)).result  # noqa: E731
    m.generic([m.args[0]], out, add, [identity_map(1), AffineMap(1, ())], ("reduction",))
    faults(m, r"linalg\.generic.*never written", array(4))


def test_outputs_that_overlap_each_other() -> None:
    m = Mem(F64)
    block = Block([F64, F64])
    block.append(linalg.Yield.of([*block.args], LOC))
    low, high = m.part(m.args[0], 0, 3), m.part(m.args[0], 1, 3)
    m.add(linalg.Generic.of([], [low, high], [identity_map(1)] * 2, ("parallel",), block, LOC))
    faults(m, "hazard", array(4))


def test_poison_chooses_no_branch() -> None:
    m = Mem()
    condition = m.load(m.alloc(element=I1))
    then, orelse = Block(), Block()
    for block in (then, orelse):
        block.append(scf.Yield.of([], LOC))
    m.builder.add(scf.If.of(condition, [], then, orelse, LOC))
    faults(m, r"scf\.if.*never written")


def test_overlapping_reads_are_no_hazard() -> None:
    m, base = Mem(F64, F64), array(8)
    out = m.alloc()
    m.generic([*m.args], out, lambda b, x, y, o: b.add(arith.AddF.of(x, y, LOC)).result)
    result = m.run(base[:4], base[2:6], returns=(out,)).results[0]
    np.testing.assert_array_equal(result, base[:4] + base[2:6])
