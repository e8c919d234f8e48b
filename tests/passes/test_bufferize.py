"""The rewrite: what it emits on single programs, and that memref programs compute what tensor programs do."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.arrays import floats
from tests.support.ir_programs import PROGRAMS, Maker, Program, by_name
from tests.support.params import one_in
from tests.support.random_programs import STRATEGIES, random_args, random_func
from tracebuf.analysis.one_shot.copy_before_write import copy_before_write
from tracebuf.analysis.one_shot.one_shot import one_shot
from tracebuf.bufferize.rewrite import bufferize
from tracebuf.errors import InternalError
from tracebuf.interpret import memref as memref_interpreter
from tracebuf.interpret import tensor as tensor_interpreter
from tracebuf.interpret.memory import Memory
from tracebuf.ir.core import Op, Value
from tracebuf.ir.dims import Expr
from tracebuf.ir.func import Func
from tracebuf.ir.types import F64, I1, MemRefType, row_major
from tracebuf.ops.memory import memref
from tracebuf.ops.scalars import arith
from tracebuf.testing.ladder import climb


def ops(f: Func, name: str) -> list[Op]:
    return [op for op in f.walk() if op.name == name]


def names(f: Func) -> list[str]:
    return [op.name.split(".")[1] for op in f.walk() if not op.name.startswith(("arith.", "linalg.yield"))]


@pytest.fixture
def leaky(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing frees yet at this stage."""
    monkeypatch.setattr(Memory, "check_leaks", lambda self, refs: None)


# -- what is emitted -------------------------------------------------------------------------------------------------


def test_part_computed_in_place_is_stored_onto_itself() -> None:
    m = Maker("f", a=("n",))
    (a,) = m.args
    part = m.view(a, (2, 4, 1))
    part = m.ew(arith.AddF, part, part, out=part)
    f = m.done(stored={0: m.store(part, a, (2, 4, 1))})
    assert names(bufferize(f, one_shot(f))) == ["dim", "subview", "generic", "return"]


def test_full_slice_is_the_buffer_itself() -> None:
    m = Maker("f", a=("n",), b=("n",))
    a, b = m.args
    f = m.done(stored={1: m.store(m.view(a, *m.whole(a)), b, *m.whole(b))})
    new = bufferize(f, one_shot(f))
    (copy,) = ops(new, "memref.copy")
    assert copy.operands == new.args and copy.attrs["reason"] == "store" and not ops(new, "memref.subview")


def test_slice_out_of_place_copies_the_slice() -> None:
    m = Maker("f", a=("n", 8))
    (a,) = m.args
    n = m.dim("n")
    row = m.view(a, (0, 1, 1), (0, 8, 1), dims=(1,))
    f = m.done(stored={0: m.ew(arith.AddF, a, row, out=a)})
    new = bufferize(f, one_shot(f))
    (alloc,) = ops(new, "memref.alloc")
    assert alloc.result.type == MemRefType((8,), F64, (1,), 0)
    (copy,) = ops(new, "memref.copy")
    conflict = copy.attrs["conflict"]
    assert conflict.read.op.name == "linalg.generic" and "line" in copy.attrs["reason"]
    assert new.args[0].memref_type.strides == row_major((n, 8))


def test_overwritten_contents_are_not_copied() -> None:
    m = Maker("f", a=("n",), x=F64)
    a, x = m.args
    f = m.done(a, m.fill(x, a))
    new = bufferize(f, one_shot(f))
    assert len(ops(new, "memref.alloc")) == 1 and not ops(new, "memref.copy")


def test_private_copy_keeps_the_axis_order() -> None:
    m = Maker("f", x=F64)
    empty = m.empty(3, 4)
    op = empty.defining_op
    assert op is not None
    op.attrs["order"] = (1, 0)
    first = m.fill(m.args[0], empty)
    second = m.insert(m.args[0], first, 0, 0)
    f = m.done(first, second)
    orders = [op.attrs["order"] for op in ops(bufferize(f, one_shot(f)), "memref.alloc")]
    assert orders == [(1, 0), (1, 0)]


def test_branches_on_one_buffer_pass_nothing() -> None:
    f = by_name("one_branch").build()
    (branch,) = ops(bufferize(f, one_shot(f)), "scf.if")
    assert branch.results == []


def test_branches_on_two_buffers_are_cast() -> None:
    m = Maker("f", a=("n",), x=F64, p=I1)
    a, x, p = m.args
    (either,) = m.branch(p, lambda: [m.zeros(m.dim("n"))], lambda: [m.zeros(m.dim("n"), value=1.0)], [a.type])
    f = m.done(either)
    (branch,) = ops(bufferize(f, one_shot(f)), "scf.if")
    assert isinstance(branch.result.type, MemRefType) and branch.result.type.strides == (None,)
    assert len(ops(bufferize(f, one_shot(f)), "memref.cast")) == 2


def test_loop_over_one_buffer_carries_nothing() -> None:
    f = by_name("recurrence").build()
    (loop,) = ops(bufferize(f, one_shot(f)), "scf.for")
    assert loop.results == [] and len(loop.operands) == 3


def test_new_array_of_an_iteration_is_passed_on() -> None:
    m = Maker("f", a=("n",))
    (a,) = m.args
    (u,) = m.loop(0, 4, [m.zeros(m.dim("n"))], lambda i, u: [m.ew(arith.AddF, u, a)])
    f = m.done(u)
    new = bufferize(f, one_shot(f))
    assert len(ops(new, "memref.alloc")) == 2 and not ops(new, "memref.copy")


def test_rotating_buffers_are_not_copied() -> None:
    f = by_name("rotating").build()
    new = bufferize(f, one_shot(f))
    assert len(ops(new, "memref.alloc")) == 3 and not ops(new, "memref.copy")


def test_symbols_name_the_new_values() -> None:
    f = by_name("nested").build()
    new = bufferize(f, one_shot(f))
    assert set(new.symbols) == set(f.symbols)
    inside = {v for op in new.walk() for v in (*op.results, *(a for r in op.regions for a in r.block.args))}
    assert all(v in inside for v in new.symbols.values())


def test_equal_parts_are_one_view_only_where_it_is_seen() -> None:
    m = Maker("f", a=("n",), x=F64, p=I1)
    a, x, p = m.args

    def branch() -> list[Value]:
        return [m.store(m.fill(x, m.view(a, (0, 4, 1))), a, (0, 4, 1))]

    (new,) = m.branch(p, branch, branch, [a.type])
    f = m.done(stored={0: new})
    views = ops(bufferize(f, one_shot(f)), "memref.subview")
    assert [v.parent_op.name for v in views if v.parent_op is not None] == ["scf.if", "scf.if"]


# -- what it computes ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("program", one_in(12, PROGRAMS), ids=lambda p: p.name)
def test_programs_compute_what_numpy_does(program: Program, strategy: str, leaky: None) -> None:
    f = program.build()
    args, eager_args = program.arguments(), program.arguments()
    got = memref_interpreter.run(bufferize(f, STRATEGIES[strategy](f)), args).results
    expected = program.eager(*eager_args)
    expected = () if expected is None else expected if isinstance(expected, tuple) else (expected,)
    for x, y in zip(got, expected, strict=True):
        np.testing.assert_array_equal(x, y)
    for x, y in zip(args, eager_args, strict=True):
        np.testing.assert_array_equal(x, y)


@pytest.mark.slow
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_random_programs_compute_the_same(strategy: str, leaky: None) -> None:
    for seed in range(60):
        f = random_func(seed, ops=6 + seed % 10, defined=True)
        with np.errstate(all="ignore"):
            expected = tensor_interpreter.run(f, random_args()).results
            got = memref_interpreter.run(bufferize(f, STRATEGIES[strategy](f)), random_args()).results
        for x, y in zip(got, expected, strict=True):
            np.testing.assert_array_equal(x, y, err_msg=f"seed {seed}\n{f!r}")


@pytest.mark.slow
def test_random_programs_store_the_same(leaky: None) -> None:
    """Those that join two arguments in an scf.if, which no NumPy source does, are refused."""
    refused = 0
    for seed in range(120):
        f = random_func(seed, ops=6 + seed % 10, defined=True, stores=True)
        args, eager = random_args(), random_args()
        with np.errstate(all="ignore"):
            expected = tensor_interpreter.run(f, eager).arguments
            try:
                program = bufferize(f, one_shot(f))
            except InternalError:
                refused += 1
                continue
            memref_interpreter.run(program, args)
        for i in range(4):
            np.testing.assert_array_equal(args[i], expected.get(i, eager[i]), err_msg=f"seed {seed}\n{f!r}")
    assert refused < 12


def test_copy_before_write_never_copies_less() -> None:
    for program in PROGRAMS:
        f = program.build()
        ours, theirs = (bufferize(f, analyse(f)) for analyse in (one_shot, copy_before_write))
        assert len(ops(ours, "memref.alloc")) <= len(ops(theirs, "memref.alloc")), program.name
        assert len(ops(ours, "memref.copy")) <= len(ops(theirs, "memref.copy")), program.name


def test_the_tensor_program_is_left_as_it_is() -> None:
    for program in PROGRAMS:
        f = program.build()
        before = repr(f)
        bufferize(f, one_shot(f))
        uses = {id(u) for v in f.args for u in v.uses}
        assert repr(f) == before
        assert uses <= {id(u) for op in f.walk() for u in op.uses}


def test_results_that_are_views_of_arguments_share_their_memory(leaky: None) -> None:
    program = by_name("view_result")
    f = program.build()
    args = program.arguments()
    result = memref_interpreter.run(bufferize(f, one_shot(f)), args)
    assert np.shares_memory(result.results[1], args[0]) and not np.shares_memory(result.results[0], args[0])


def test_views_of_the_memref_program_have_strides() -> None:
    f = by_name("transposed").build()
    new = bufferize(f, one_shot(f))
    views = [op for op in new.walk() if isinstance(op, memref.Subview)]
    n, k = new.args[0].memref_type.shape
    assert [v.result.memref_type.strides for v in views] == [(1, k)]
    assert n != k


def flattened(m: Maker, a: Value) -> Value:
    """a.reshape(-1) as MLIR has it: nobody has made sure that it is a view."""
    flat = m.collapse(a, (0, 1))
    assert flat.defining_op is not None
    del flat.defining_op.attrs["viewable"]
    return flat


def test_reshape_of_what_may_have_gaps_is_a_copy(leaky: None) -> None:
    """And a loop that changes the copy carries the copy on."""
    m = Maker("f", a=(4, 4), x=F64)
    a, x = m.args
    m.func.arg_attrs[0].clear()

    def body(i: Expr, a: Value) -> list[Value]:
        return [m.expand(m.insert(x, flattened(m, a), i), [(0, 1)], 4, 4)]

    f = m.done(*m.loop(0, 3, [a], body))
    start = np.arange(32.0).reshape(4, 8)[:, ::2]
    expected = tensor_interpreter.run(f, [start.copy(), 2.5]).results
    for strategy in STRATEGIES.values():
        new = bufferize(f, strategy(f))
        assert ops(new, "memref.copy")
        np.testing.assert_array_equal(memref_interpreter.run(new, [start.copy(), 2.5]).results, expected)


def test_reshape_of_a_new_array_is_a_view() -> None:
    m = Maker("f")
    f = m.done(flattened(m, m.zeros(4, 4)))
    assert not ops(bufferize(f, one_shot(f)), "memref.copy")


@pytest.mark.slow
def test_a_loop_that_does_not_run_leaves_what_it_was_given() -> None:
    """A copy for scf.for came without contents where the body only overwrites, though no iteration may come."""

    def program(a, b, n):
        for i in range(n):
            b[...] = i
        for i in range(a[0]):
            b[:] = i
        return b + 1

    for n in (0, 2):
        for k in (0, 1):
            climb(program, (np.array([k]), floats(3), n))
