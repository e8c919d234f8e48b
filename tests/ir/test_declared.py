"""check_op: the declared facts of every op on tensors hold on real memory, and wrong ones are found."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.support.params import one_in
from tracebuf.backend.runtime.compiled import kernel_of
from tracebuf.frontends.mlir import read_all
from tracebuf.ir.clone import clone_op
from tracebuf.ir.core import Alias, Block, Builder, Facts, Interpreter, Op, Use, Value
from tracebuf.ir.func import Func, Module
from tracebuf.ir.slices import Slice
from tracebuf.ir.types import C128, F64, I1, I64, INDEX, MemRefType, TensorType, Type
from tracebuf.location import UNKNOWN, Location
from tracebuf.ops.arrays import bufferization, host, linalg, pick, recast, scatter, tensor, windows
from tracebuf.ops.arrays.linalg import AffineMap, identity_map
from tracebuf.ops.control import scf
from tracebuf.ops.control.func import Return
from tracebuf.ops.scalars import arith
from tracebuf.running.host import HostFunction
from tracebuf.testing.declared import FactError, check_op

Example = tuple[Any, ...]


def vector(n: int, start: float = 1.0) -> np.ndarray:
    return np.arange(start, start + n)


def matrix(n: int, m: int, start: float = 1.0) -> np.ndarray:
    return np.arange(start, start + n * m).reshape(n, m)


# -- one builder for each op on tensors


def sliced(offset: Any, size: int, stride: int = 1) -> Slice:
    return Slice((offset,), (size,), (stride,), (0,))


def extract(source: Value, *offset: Value) -> Op:
    return tensor.ExtractSlice.of(source, sliced(*offset or (2,), 3), TensorType((3,), F64), UNKNOWN)


def host_call(a: Value, b: Value, new: Value, both: Value, unread: Value) -> Op:
    """Two inputs; a new array, one that is read and written, one that is only written."""

    def run(ins: Sequence[Any], outs: Sequence[np.ndarray]) -> None:
        outs[0][...] = ins[0] + ins[1].sum(axis=0)
        outs[1][...] = 2 * outs[1] + ins[0]
        outs[2][...] = 3

    return host.HostCall.of(HostFunction("run", run), [a, b], [new, both, unread], [0, 2], UNKNOWN)


def reverse(source: Value) -> Op:
    n = source.tensor_type.shape[0]
    assert isinstance(n, int)
    return tensor.ExtractSlice.of(source, sliced(n - 1, n, -1), source.tensor_type, UNKNOWN)


def insert(source: Value, dest: Value, *offset: Value) -> Op:
    n = source.tensor_type.shape[0]
    assert isinstance(n, int)
    return tensor.InsertSlice.of(source, dest, sliced(*offset or (0,), n), UNKNOWN)


def insert_backwards(source: Value, dest: Value) -> Op:
    n = source.tensor_type.shape[0]
    assert isinstance(n, int)
    return tensor.InsertSlice.of(source, dest, sliced(n - 1, n, -1), UNKNOWN)


def generic(
    maps: Sequence[tuple[int, ...]], body: Callable[..., Any], iterators: str = "p"
) -> Callable[[Value, Value], Op]:
    """A generic of one input and one out: `body(element, out)` is an op class applied to some of them."""

    def build(a: Value, out: Value) -> Op:
        block = Block([F64, F64])
        op = Builder(block).add(body(*block.args))
        Builder(block).add(linalg.Yield.of([op.result], UNKNOWN))
        names = ["parallel" if c == "p" else "reduction" for c in iterators]
        return linalg.Generic.of([a], [out], [AffineMap(len(names), m) for m in maps], names, block, UNKNOWN)

    return build


def negate(element: Value, out: Value) -> Op:
    return arith.NegF.of(element, UNKNOWN)


def accumulate(element: Value, out: Value) -> Op:
    return arith.AddF.of(out, element, UNKNOWN)


def filled(block: Block, tensor_value: Value) -> Value:
    """The whole value overwritten with 2."""
    two = Builder(block).add(arith.Constant.of(2.0, F64, UNKNOWN))
    return Builder(block).add(linalg.Fill.of(two.result, tensor_value, UNKNOWN)).result


def negated(block: Block, tensor_value: Value) -> Value:
    body = Block([F64, F64])
    op = Builder(body).add(arith.NegF.of(body.args[0], UNKNOWN))
    Builder(body).add(linalg.Yield.of([op.result], UNKNOWN))
    maps = [identity_map(1)] * 2
    made = linalg.Generic.of([tensor_value], [tensor_value], maps, ["parallel"], body, UNKNOWN)
    return Builder(block).add(made).result


def loop(run: Callable[[Block, Value], Value]) -> Callable[..., Op]:
    def build(lower: Value, upper: Value, step: Value, init: Value) -> Op:
        body = Block([INDEX, init.type])
        Builder(body).add(scf.Yield.of([run(body, body.args[1])], UNKNOWN))
        return scf.For.of([lower, upper, step], [init], body, UNKNOWN)

    return build


def swapping(lower: Value, upper: Value, step: Value, a: Value, b: Value) -> Op:
    body = Block([INDEX, a.type, b.type])
    Builder(body).add(scf.Yield.of([body.args[2], body.args[1]], UNKNOWN))
    return scf.For.of([lower, upper, step], [a, b], body, UNKNOWN)


def rounds(run: Callable[[Block, Value], Value]) -> Callable[..., Op]:
    def build(count: Value, step: Value, end: Value, init: Value) -> Op:
        before, after = Block([INDEX, init.type]), Block([INDEX, init.type])
        start = Builder(before)
        more = start.add(arith.CmpI.of("slt", before.args[0], end, UNKNOWN))
        changed = run(before, before.args[1])
        start.add(scf.Condition.of([more.result, before.args[0], changed], UNKNOWN))
        moved = Builder(after).add(arith.AddI.of(after.args[0], step, UNKNOWN))
        Builder(after).add(scf.Yield.of([moved.result, after.args[1]], UNKNOWN))
        return scf.While.of([count, init], before, after, UNKNOWN)

    return build


def choose(condition: Value, a: Value, b: Value) -> Op:
    then, orelse = Block(), Block()
    Builder(then).add(scf.Yield.of([a], UNKNOWN))
    Builder(orelse).add(scf.Yield.of([b], UNKNOWN))
    return scf.If.of(condition, [a.type], then, orelse, UNKNOWN)


def collapse(source: Value) -> Op:
    return tensor.CollapseShape.of(source, [(0, 1)], TensorType((6,), F64), UNKNOWN)


def expand(source: Value) -> Op:
    return tensor.ExpandShape.of(source, [(0, 1)], [2, 3], TensorType((2, 3), F64), UNKNOWN)


def contraction(negative: bool) -> Callable[..., Op]:
    return lambda a, b, out: linalg.Contraction.of(a, b, out, UNKNOWN, negative)


def scatter_first(values: Value, dest: Value) -> Op:
    """dest[k] = values[k] for the positive values, in turn."""
    block = Block([F64, dest.type, INDEX])
    value, _, step = block.args
    block.append(zero := arith.Constant.of(0.0, F64, UNKNOWN))
    block.append(positive := arith.CmpF.of("ogt", value, zero.result, UNKNOWN))
    block.append(linalg.Yield.of([positive.result, positive.result, value, step], UNKNOWN))
    return scatter.Scatter.into([values], dest, [linalg.identity_map(1)], block, UNKNOWN)


INTO_MATRIX = matrix(2, 3), matrix(3, 4), np.ones((2, 4))
CASES: dict[str, tuple[Any, list[Example]]] = {
    "tensor.empty": (lambda: tensor.Empty.of(TensorType((3,), F64), [3], UNKNOWN), [()]),
    "tensor.extract_slice": (extract, [(vector(6),), (vector(7), 0), (vector(20)[::2], 1)]),
    "tracebuf.extract_view": (reverse, [(vector(5),), (vector(10)[::2],)]),
    "tensor.insert_slice": (insert, [(vector(3), vector(6)), (vector(4), vector(9), 2)]),
    "tensor.insert_slice of all": (insert, [(vector(4), vector(4, 9.0))]),
    "tracebuf.insert_view": (insert_backwards, [(vector(3), vector(6)), (vector(4), vector(8)[::2])]),
    "tensor.cast": (lambda a: tensor.Cast.of(a, a.tensor_type, UNKNOWN), [(vector(4),), (matrix(2, 3).T,)]),
    "tensor.collapse_shape": (collapse, [(matrix(2, 3),)]),
    "tensor.expand_shape": (expand, [(vector(6),), (vector(12)[::2],)]),
    "tracebuf.extract_diagonal": (lambda a: tensor.ExtractDiagonal.of(a, (0, 1), UNKNOWN), [(matrix(3, 3),)]),
    "tracebuf.recast of complex numbers": (lambda a: recast.Recast.of(a, F64, UNKNOWN), [(vector(4) * 1j,)]),
    "tracebuf.recast of pairs": (lambda a: recast.Recast.of(a, C128, UNKNOWN), [(matrix(3, 2),)]),
    "tracebuf.recast": (lambda a: recast.Recast.of(a, I64, UNKNOWN), [(vector(4),), (vector(10)[::2],)]),
    "tracebuf.extract_windows": (
        lambda a, n: windows.ExtractWindows.of(a, n, 0, (4, 3), UNKNOWN), [(vector(6), 3), (vector(12)[::2], 3)],
    ),
    "tracebuf.pick": (
        lambda n, *xs: pick.Pick.of(n, xs, xs[0].type, UNKNOWN),
        [(1, vector(4), vector(4)), (0, vector(4), vector(8)[::2], vector(4)), (0, vector(4))],
    ),
    "tensor.extract": (lambda a, i: tensor.Extract.of(a, [i], UNKNOWN), [(vector(4), 2)]),
    "tensor.insert": (lambda x, a, i: tensor.Insert.of(x, a, [i], UNKNOWN), [(np.float64(7.0), vector(4), 2)]),
    "tensor.dim": (lambda a: tensor.Dim.of(a, 1, UNKNOWN), [(matrix(2, 3),)]),
    "linalg.generic": (generic([(0,), (0,)], negate), [(vector(5), vector(5)), (vector(10)[::2], vector(5)[::-1])]),
    "linalg.generic transposed": (generic([(0, 1), (1, 0)], negate, "pp"), [(matrix(2, 3), matrix(3, 2))]),
    "linalg.generic that reduces": (generic([(0, 1), (0,)], accumulate, "pr"), [(matrix(2, 3), vector(2))]),
    "tracebuf.host_call": (host_call, [(vector(4), matrix(2, 4), vector(4), vector(4)[::-1], vector(3))]),
    "tracebuf.scatter": (scatter_first, [(vector(3), vector(6)), (vector(4), vector(10)[::2])]),
    "linalg.fill": (linalg.Fill, [(np.float64(3.0), vector(5)), (np.float64(3.0), matrix(4, 4)[::2, ::2])]),
    "linalg.matmul": (contraction(False), [INTO_MATRIX]),
    "linalg.matvec": (contraction(False), [(matrix(2, 3), vector(3), vector(2))]),
    "linalg.vecmat": (contraction(False), [(vector(2), matrix(2, 3), vector(3))]),
    "linalg.dot": (contraction(False), [(vector(3), vector(3), np.array(2.0))]),
    "tracebuf.dotc": (
        lambda *v: linalg.Contraction.of(*v, conjugated=True), [(1j * vector(3), vector(3) + 0j, np.array(2j))],
    ),
    "tracebuf.matmul_sub": (contraction(True), [INTO_MATRIX]),
    "tracebuf.matvec_sub": (contraction(True), [(matrix(2, 3), vector(3), vector(2))]),
    "tracebuf.vecmat_sub": (contraction(True), [(vector(2), matrix(2, 3), vector(3))]),
    "scf.for": (loop(negated), [(0, 3, 1, vector(4)), (0, 0, 1, vector(4))]),
    "scf.for over what it fills": (loop(filled), [(0, 2, 1, vector(4)), (0, 0, 1, vector(4))]),
    "scf.for that swaps": (swapping, [(0, 3, 1, vector(4), vector(4, 9.0)), (0, 0, 1, vector(4), vector(4, 9.0))]),
    "scf.while": (rounds(negated), [(0, 1, 3, vector(4)), (0, 1, 0, vector(4))]),
    "scf.if": (choose, [(True, vector(3), vector(3, 7.0)), (False, vector(3), vector(3, 7.0))]),
    "bufferization.materialize_in_destination": (
        bufferization.MaterializeInDestination, [(vector(3), vector(3, 7.0)), (vector(6)[::2], vector(3))]
    ),
}  # fmt: skip


INTERPRETED = {"transfer_read", "transfer_copy"}
"""Ops without a native form."""


def text_case(module: Module) -> tuple[Callable[..., Op], Example]:
    """The op before the return of a module's only function, and data for its arguments."""
    (func,) = module.funcs
    *before, op, _ = func.block.ops

    def build(*values: Value) -> Op:
        block, mapping = values[0].block, dict(zip(func.args, values, strict=True))
        for earlier in before:
            clone_op(earlier, mapping, lambda new: (block.append(new), new)[1])
        return clone_op(op, mapping, lambda new: new)

    return build, tuple(datum(a.type, 3.0 * k + 1) for k, a in enumerate(func.args))


def datum(type_: Type, start: float) -> Any:
    if type_ == TensorType((2,), INDEX):
        return np.array([2, 3])  # a shape
    if not isinstance(type_, TensorType):
        return True if type_ == I1 else np.float64(start)
    shape = [n for n in type_.shape if isinstance(n, int)]
    numbers = np.arange(start, start + np.prod(shape, dtype=int)).reshape(shape)
    return numbers % 2 == 1 if type_.element == I1 else numbers.astype(type_.element.dtype)


FROM_TEXT = {m.funcs[0].name: m for m in read_all((Path(__file__).parent / "declared_ops.mlir").read_text())}


@pytest.mark.parametrize("name", one_in(6, FROM_TEXT))
def test_declared_facts_of_mlirs_ops_hold(name: str) -> None:
    build, example = text_case(FROM_TEXT[name])
    assert len(check_op(build, [example], native=name not in INTERPRETED).findings) >= 3


@pytest.mark.parametrize("case", one_in(6, CASES))
def test_declared_facts_hold(case: str) -> None:
    build, examples = CASES[case]
    report = check_op(build, examples)
    assert report.op == case.split(" ")[0] and len(report.findings) >= 3


# -- wrong facts are found


class ForgetsItsDestination(linalg.Generic):
    __slots__ = ()

    def reads_out(self, use: Use) -> bool:
        return False


class ForgetsItsSource(tensor.InsertSlice):
    __slots__ = ()

    def bufferizes_to_memory_read(self, use: Use, facts: Facts) -> bool:
        return use.index == 1


class HidesItsWrite(tensor.Insert):
    __slots__ = ()

    def bufferizes_to_memory_write(self, use: Use, facts: Facts) -> bool:
        return False


class HidesItsAlias(tensor.ExtractSlice):
    __slots__ = ()

    def aliasing_values(self, use: Use) -> list[Alias]:
        return []


class ClaimsTheWhole(tensor.ExtractSlice):
    __slots__ = ()

    def aliasing_values(self, use: Use) -> list[Alias]:
        return [Alias(self.result)]


class ClaimsToBeNew(tensor.Cast):
    __slots__ = ()

    def bufferizes_to_allocation(self, value: Value) -> bool:
        return True


class ClaimsToBeElementwise(linalg.Generic):
    __slots__ = ()

    def elementwise_access(self, a: Use, b: Use) -> bool:
        return True


class ClaimsContents(tensor.Empty):
    __slots__ = ()

    def defines_contents(self, value: Value) -> bool:
        return True


def as_class(kind: type[Op], build: Callable[..., Op]) -> Callable[..., Op]:
    """The op that `build` makes, as one of another class."""

    def made(*values: Value) -> Op:
        op = build(*values)
        return kind.rebuilt(op.operands, [r.type for r in op.results], op.loc, op.attrs, op.regions)

    return made


LIES: list[tuple[type[Op], Any, Example, str]] = [
    (ForgetsItsDestination, generic([(0, 1), (0,)], accumulate, "pr"), (matrix(2, 3), vector(2)),
     "does not read operand 1"),
    (ForgetsItsSource, insert, (vector(3), vector(6)), "does not read operand 0"),
    (HidesItsWrite, CASES["tensor.insert"][0], (np.float64(7.0), vector(4), 2), "does not write operand 1"),
    (HidesItsAlias, extract, (vector(6),), "result 0 does not alias operand 0"),
    (ClaimsTheWhole, extract, (vector(6),), "result 0 is the buffer of operand 0"),
    (ClaimsToBeNew, CASES["tensor.cast"][0], (vector(4),), "result 0 is new"),
    (ClaimsToBeElementwise, generic([(1, 0), (0, 1)], negate, "pp"), (matrix(3, 3), matrix(3, 3)),
     "operands 0 and 1 may be one buffer, element by element"),
    (ClaimsContents, CASES["tensor.empty"][0], (), "defines the contents of result 0"),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "build", "example", "fact"), LIES, ids=lambda x: getattr(x, "__name__", ""))
def test_wrong_facts_are_refuted(kind: type[Op], build: Any, example: Example, fact: str) -> None:
    with pytest.raises(FactError) as error:
        check_op(as_class(kind, build), [example], native=False)
    report = error.value.report
    assert report.verdict(fact) == "refuted", report
    assert fact in str(error.value) and "example 0, interpreter" in str(error.value)


class Sort(linalg.DestinationOp):
    """np.sort, of which only the reference is known."""

    __slots__ = ()
    name = "test.sort"

    @classmethod
    def of(cls, a: Value, out: Value, loc: Location) -> Sort:
        return cls([a, out], [out.type], loc, {"n_ins": 1})

    def reads_out(self, use: Use) -> bool:
        return False

    def evaluate(self, interpreter: Interpreter, args: list[Any]) -> list[Any]:
        return [np.sort(args[0])]


def test_an_op_without_loops_runs_by_its_reference() -> None:
    examples = [(vector(5)[::-1], vector(5)), (vector(12)[::-2], vector(12)[::2]), (vector(0), vector(0))]
    report = check_op(Sort, examples)
    assert report.verdict("does not read operand 1") == report.verdict("reads operand 0") == "held"


def test_what_a_reference_raises_is_raised() -> None:
    class Fails(Sort):
        __slots__ = ()

        def evaluate(self, interpreter: Interpreter, args: list[Any]) -> list[Any]:
            if args[0].flags.writeable or args[0].ndim != 1:
                raise LookupError("not here")
            return super().evaluate(interpreter, args)

    f = Func("f", [MemRefType((3,), F64, (1,), 0)] * 2)
    f.block.append(Fails(f.args, [], UNKNOWN, {"n_ins": 1}))
    f.block.append(Return.of([], UNKNOWN))
    kernel, a, out = kernel_of(f, "f"), np.array([3.0, 1.0, 2.0]), np.zeros(3)
    kernel.run([a, out])
    assert out.tolist() == [1, 2, 3] and a.tolist() == [3, 1, 2]

    def fail(self: Any, interpreter: Interpreter, args: list[Any]) -> list[Any]:
        raise LookupError("not here")

    Fails.evaluate = fail  # type: ignore[method-assign]
    with pytest.raises(LookupError, match="not here"):
        kernel.run([a, out])


def test_an_op_stands_for_its_class() -> None:
    (a, out) = Block([TensorType((4,), F64)] * 2).args
    assert not check_op(generic([(0,), (0,)], negate)(a, out), [(vector(4), vector(4))]).refuted


def test_facts_for_caution_are_not_seen() -> None:
    report = check_op(swapping, [(0, 0, 1, vector(4), vector(4, 9.0))])
    assert report.verdict("writes operand 3") == "not seen" and not report.refuted
    assert "writes operand 3: not seen" in str(report)


# -- every op

FACTS = (
    "bufferizes_to_memory_read", "bufferizes_to_memory_write", "aliasing_values", "aliasing_uses",
    "must_bufferize_in_place", "bufferizes_to_allocation", "defines_contents", "is_writable", "elementwise_access",
    "reads_in", "reads_out",
)  # fmt: skip
ELSEWHERE = {
    **dict.fromkeys(
        ("scf.yield", "scf.condition", "scf.forall.in_parallel", "tensor.parallel_insert_slice", "linalg.yield",
         "tensor.yield", "vector.yield", "func.return", "cf.br", "cf.cond_br"), "stands in an op that is tested"),
    **dict.fromkeys(
        ("tracebuf.subview", "tracebuf.diagonal", "tracebuf.windows", "tracebuf.recast_buffer", "tracebuf.same_base",
         "tracebuf.check", "linalg.index",
         "bufferization.dealloc", "bufferization.clone", "cf.assert"), "has no tensors"),
    **dict.fromkeys(
        ("bufferization.to_tensor", "bufferization.to_buffer", "bufferization.dealloc_tensor", "vector.gather",
         "vector.mask", "arith.index_cast", "arith.index_castui", "index.casts", "index.castu"),
        "no machine runs it: test_facts.py asks mlir-opt-22"),
    "func.call": "its facts are its callee's",
    "tracebuf.call": "its facts are those that tracing found of its callee: tests/language/test_recursion.py",
}  # fmt: skip


def facts_of(kind: type[Op]) -> tuple[Any, ...]:
    return tuple(getattr(kind, name, None) for name in FACTS)


def test_every_fact_of_every_op_is_tested() -> None:
    """Ops that share all that they declare need one example."""
    run = {m.funcs[0].block.ops[-2].name for m in FROM_TEXT.values()}
    tested = {facts_of(Op.registry[name]) for name in run | {case.split(" ")[0] for case in CASES}}
    missing = {
        name: kind.__name__ for name, kind in Op.registry.items()
        if kind.__module__.startswith("tracebuf.ops") and kind.bufferizable and name not in ELSEWHERE
        if not name.startswith("memref.") and facts_of(kind) not in tested
    }  # fmt: skip
    assert not missing, f"give these an example: {missing}"
