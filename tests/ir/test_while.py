"""scf.while and tensor.cast: each program on every rung (values, interpreters, native code), and what it copies.

Most loops have the form that the front end gives them: everything in the first region, the second passes on what it is
given. Buffers that go round are handed on, none copied (rule S9); one that is replaced is freed (rule S11).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from tests.mlir.oracle import MLIR_OPT, UNREGISTERED, mlir_opt, needs_mlir
from tests.support.ir_programs import Maker, array
from tracebuf import pipeline
from tracebuf.backend.runtime.arena import Counters
from tracebuf.backend.runtime.compiled import kernel_of
from tracebuf.errors import InternalError
from tracebuf.explain.report import explain
from tracebuf.interpret import memref as on_memory
from tracebuf.interpret import tensor as on_values
from tracebuf.ir.clone import clone_func
from tracebuf.ir.core import Block, Value
from tracebuf.ir.dims import Expr, Sym, sub
from tracebuf.ir.func import Func
from tracebuf.ir.printer import print_module
from tracebuf.ir.slices import Slice
from tracebuf.ir.types import F64, I64, INDEX, ScalarType, TensorType
from tracebuf.ir.verifier import verify
from tracebuf.ops.arrays import tensor
from tracebuf.ops.control import scf
from tracebuf.ops.scalars import arith, casts
from tracebuf.optimize.tensors.canonicalize import canonicalize
from tracebuf.options import Options
from tracebuf.testing.ladder import STRATEGIES

ADD, MUL = arith.AddF, arith.MulF


def copies(args: Sequence[Any]) -> list[Any]:
    return [a.copy() if isinstance(a, np.ndarray) else a for a in args]


def same(got: Sequence[Any], want: Sequence[Any]) -> None:
    for x, y in zip(got, want, strict=True):
        np.testing.assert_array_equal(x, y)


def climb(func: Func, *calls: tuple[Sequence[Any], Sequence[Any]]) -> tuple[Func, list[Counters]]:
    """Runs a tensor program on every rung for each (arguments, what results and then arguments are to be); the memref
    program, and what each native call made."""
    verify(func, "tensor")
    optimised, _ = clone_func(func)
    pipeline.optimize_tensors(optimised, Options(verify=True))
    for program in (func, optimised):
        for args, want in calls:
            done = on_values.run(program, copies(args))
            same([*done.results, *(done.arguments.get(i, a) for i, a in enumerate(args))], want)
        for o in (STRATEGIES[0], STRATEGIES[3], STRATEGIES[-1]):
            chosen = Options(strategy=o.strategy, heuristic=o.heuristic, seed=o.seed, verify=True)
            lowered = pipeline.to_memref(clone_func(program)[0], chosen)
            for args, want in calls:
                mine = copies(args)
                same([*on_memory.run(lowered, mine).results, *mine], want)
    lowered, counters = pipeline.to_memref(optimised, Options(verify=True)), []
    kernel = kernel_of(lowered, "program")
    for args, want in calls:
        mine = copies(args)
        results, counted = kernel.run_counted(mine)
        same([*results, *mine], want)
        counters.append(counted)
    return lowered, counters


def names(f: Func, *wanted: str) -> list[str]:
    return [op.name for op in f.walk() if op.name in wanted]


def loop(
    m: Maker, inits: Sequence[Value], go: Callable[..., Value], body: Callable[..., Sequence[Value]]
) -> list[Value]:
    """while go(*carried): carried = body(*carried)"""

    def before(*carried: Value) -> list[Value]:
        more = go(*carried)
        types = [v.type for v in carried]
        return [more, *m.branch(more, lambda: body(*carried), lambda: list(carried), types)]

    return m.rounds(inits, before)


def below(m: Maker, a: Value, b: Value) -> Value:
    return m.add(arith.CmpI.of("slt", a, b, m.loc()))


def next_(m: Maker, i: Value, step: int = 1) -> Value:
    return m.add(arith.AddI.of(i, m.const(step, INDEX), m.loc()))


def number(m: Maker, i: Value) -> Value:
    """An index as a float."""
    return m.add(casts.SIToFP.of(m.add(arith.IndexCast.of(i, I64, m.loc())), F64, m.loc()))


# -- programs --------------------------------------------------------------------------------------------------------


def test_a_scalar_goes_round() -> None:
    """i = 1; while i < k: i = i * 2 + 1; return i"""
    m = Maker("f", k=INDEX)
    (k,) = m.args
    (i,) = loop(
        m, [m.const(1, INDEX)], lambda i: below(m, i, k), lambda i: [next_(m, m.add(arith.AddI.of(i, i, m.loc())))]
    )
    climb(m.done(i), ([0], [1, 0]), ([1], [1, 1]), ([20], [31, 20]))


def test_s2_an_argument_is_stored_to_in_place() -> None:
    """i = 0; while i < k: a[i] = x; i += 1"""
    m = Maker("f", a=("n",), k=INDEX, x=F64)
    a, k, x = m.args
    final, _ = loop(
        m, [a, m.const(0, INDEX)], lambda a, i: below(m, i, k), lambda a, i: [m.insert(x, a, i), next_(m, i)]
    )
    f = m.done(stored={0: final})
    want = [[*([2.5] * n), *array(5)[n:]] for n in range(6)]
    program, counters = climb(f, *(([array(5), n, 2.5], [want[n], n, 2.5]) for n in (0, 1, 5)))
    assert all((c.allocations, c.copies) == (0, 0) for c in counters)
    assert not names(program, "memref.alloc", "memref.copy", "memref.dealloc")


def fibonacci(steps: int) -> tuple[np.ndarray, np.ndarray]:
    p, q = np.zeros(3), np.ones(3)
    for _ in range(steps):
        p, q = q, p + q
    return p, q


def rotation(m: Maker, step: Callable[[Value, Value], Value]) -> Func:
    """p, q = zeros(n), 1 + a; i = 0; while i < k: p, q = q, step(p, q); i += 1; return p, q"""
    a, k = m.args
    p, q, _ = loop(
        m,
        [m.zeros(m.dim("n")), m.ew(ADD, a, m.const(1.0)), m.const(0, INDEX)],
        lambda p, q, i: below(m, i, k),
        lambda p, q, i: [q, step(p, q), next_(m, i)],
    )
    return m.done(p, q)


@pytest.mark.slow
def test_s9_rotating_buffers_are_handed_on() -> None:
    m = Maker("f", a=("n",), k=INDEX)
    func = rotation(m, lambda p, q: m.ew(ADD, p, q))
    zeros = np.zeros(3)
    calls = [([zeros, k], [*fibonacci(k), zeros, k]) for k in (0, 1, 2, 7)]
    program, counters = climb(func, *calls)
    assert not names(program, "memref.copy")
    assert all((c.allocations, c.copies) == (2, 0) for c in counters)


@pytest.mark.slow
def test_s11_a_fresh_array_enters_a_rotation() -> None:
    """p, q = q, p[::-1] + q, which cannot be computed where p is"""
    m = Maker("f", a=("n",), k=INDEX)
    n = m.dim("n")
    func = rotation(m, lambda p, q: m.ew(ADD, m.view(p, (sub(n, 1), n, -1)), q))

    def eager(a: np.ndarray, steps: int) -> tuple[np.ndarray, np.ndarray]:
        p, q = np.zeros(3), a + 1
        for _ in range(steps):
            p, q = q, p[::-1] + q
        return p, q

    program, counters = climb(func, *(([array(3), k], [*eager(array(3), k), array(3), k]) for k in (0, 1, 2, 7)))
    assert not names(program, "memref.copy")
    assert [(c.allocations, c.copies) for c in counters] == [(2 + k, 0) for k in (0, 1, 2, 7)]
    assert all(c.peak_bytes <= 5 * 24 for c in counters)


def test_s9_a_swap_needs_no_copy() -> None:
    """p, q = zeros(n), ones(n); while i < k: p, q = q, p; p[0] += 1; return p"""
    m = Maker("f", a=("n",), k=INDEX)
    a, k = m.args
    n = m.dim("n")

    def body(p: Value, q: Value, i: Value) -> list[Value]:
        more = m.add(ADD.of(m.extract(q, 0), m.const(1.0), m.loc()))
        return [m.insert(more, q, 0), p, next_(m, i)]

    p, q, _ = loop(m, [m.zeros(n), m.zeros(n, value=5.0), m.const(0, INDEX)], lambda p, q, i: below(m, i, k), body)
    want = {0: ([0, 0], [5, 5]), 1: ([6, 5], [0, 0]), 2: ([1, 0], [6, 5]), 5: ([8, 5], [2, 0])}
    calls = [([array(2), k], [*want[k], array(2), k]) for k in want]
    program, counters = climb(m.done(p, q), *calls)
    assert not names(program, "memref.copy")
    assert all((c.allocations, c.copies) == (2, 0) for c in counters)


@pytest.mark.slow
@pytest.mark.parametrize("reused", [True, False])
def test_s11_a_fresh_array_replaces_the_old_one(reused: bool) -> None:
    """x = a * 1; while x[0] < y: x = x + 1, or x = x[::-1][::-1] + 1; return x"""
    m = Maker("f", a=("n",), y=F64)
    a, y = m.args
    n = m.dim("n")

    def go(x: Value) -> Value:
        return m.add(arith.CmpF.of("olt", m.extract(x, 0), y, m.loc()))

    def body(x: Value) -> list[Value]:
        if not reused:
            x = m.view(m.view(x, (sub(n, 1), n, -1)), (sub(n, 1), n, -1))
        return [m.ew(ADD, x, m.const(1.0))]

    (x,) = loop(m, [m.ew(MUL, a, m.const(1.0))], go, body)
    start, trips = array(4), (0, 1, 4)
    calls = [([start, y], [start + k, start, y]) for y, k in zip((-5.0, -2.5, 1.0), trips)]
    program, counters = climb(m.done(x), *calls)
    assert not names(program, "memref.copy")
    assert [c.allocations for c in counters] == [1 if reused else 1 + k for k in trips]
    assert all(c.peak_bytes <= 3 * 32 for c in counters), "an old buffer is not freed when it is replaced"


@pytest.mark.slow
def test_an_array_that_is_used_afterwards_is_not_computed_into() -> None:
    """x = z = a * 1; while i < k: x = x + 1; return x, z: z must not change, and is not copied."""
    m = Maker("f", a=("n",), k=INDEX)
    a, k = m.args
    z = m.ew(MUL, a, m.const(1.0))
    inits = [z, m.const(0, INDEX)]
    x, _ = loop(m, inits, lambda x, i: below(m, i, k), lambda x, i: [m.ew(ADD, x, m.const(1.0)), next_(m, i)])
    start = array(4)
    climb(m.done(x, z), *(([start, k], [start + k, start, start, k]) for k in (0, 1, 4)))


@pytest.mark.slow
def test_one_array_carried_twice() -> None:
    """p = q = zeros(n) as values: the second carried one needs a buffer of its own."""
    m = Maker("f", a=("n",), k=INDEX)
    a, k = m.args
    z = m.zeros(m.dim("n"))
    p, q, _ = loop(
        m,
        [z, z, m.const(0, INDEX)],
        lambda p, q, i: below(m, i, k),
        lambda p, q, i: [q, m.insert(m.const(3.0), p, 0), next_(m, i)],
    )
    want = {0: ([0, 0], [0, 0]), 1: ([0, 0], [3, 0]), 2: ([3, 0], [3, 0])}
    climb(m.done(p, q), *(([array(2), k], [*want[k], array(2), k]) for k in want))


@pytest.mark.slow
def test_one_value_passed_on_twice() -> None:
    """p, q = q, q; then p is stored to: the two must not become one buffer."""
    m = Maker("f", a=("n",), k=INDEX)
    a, k = m.args
    n = m.dim("n")
    p, q, _ = loop(
        m,
        [m.zeros(n), m.zeros(n, value=1.0), m.const(0, INDEX)],
        lambda p, q, i: below(m, i, k),
        lambda p, q, i: [q, m.insert(m.extract(p, 1), q, 0), next_(m, i)],
    )

    def eager(steps: int) -> tuple[np.ndarray, np.ndarray]:
        p, q = np.zeros(3), np.ones(3)
        for _ in range(steps):
            new = q.copy()
            new[0] = p[1]
            p, q = q, new
        return p, q

    climb(m.done(p, q), *(([array(3), k], [*eager(k), array(3), k]) for k in (0, 1, 2, 3)))


# -- other forms, text -----------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_any_number_and_order_is_forwarded() -> None:
    """Both regions compute; what is forwarded is in another order and number than what is carried."""
    m = Maker("f", a=("n",), k=INDEX)
    a, k = m.args
    n = m.dim("n")

    def before(i: Value, p: Value, q: Value) -> list[Value]:
        return [below(m, i, k), q, m.ew(ADD, p, q), next_(m, i), p]

    def after(q: Value, total: Value, i: Value, p: Value) -> list[Value]:
        return [i, m.insert(m.extract(p, 0), q, 0), total]

    results = m.rounds([m.const(0, INDEX), m.zeros(n, value=1.0), m.zeros(n, value=2.0)], before, after)

    def eager(k: int) -> list[Any]:
        i, p, q = 0, np.ones(3), np.full(3, 2.0)
        while True:
            forwarded = [q, p + q, i + 1, p]
            if not i < k:
                return forwarded
            q, total, i, p = forwarded
            new = q.copy()
            new[0] = p[0]
            p, q = new, total

    climb(m.done(*results), *(([array(3), k], [*eager(k), array(3), k]) for k in (0, 1, 2, 5)))


@pytest.mark.slow
@pytest.mark.parametrize("order", [(0, 1), (1, 0), (0, 0), (1, 1)])
@pytest.mark.parametrize("back", [(0, 1), (1, 0), (0, 0), (1, 1)])
def test_arguments_are_forwarded_and_yielded_in_any_order(order: tuple[int, int], back: tuple[int, int]) -> None:
    m = Maker("f", a=("n",), k=INDEX)
    a, k = m.args
    n = m.dim("n")

    def before(i: Value, p: Value, q: Value) -> list[Value]:
        new = [m.insert(number(m, i), p, 1), q]
        return [below(m, i, k), next_(m, i), *(new[j] for j in order)]

    def after(i: Value, p: Value, q: Value) -> list[Value]:
        new = [m.insert(m.extract(q, 1), p, 0), q]
        return [i, *(new[j] for j in back)]

    results = m.rounds([m.const(0, INDEX), m.zeros(n, value=1.0), m.zeros(n, value=2.0)], before, after)

    def eager(k: int) -> list[Any]:
        i, p, q = 0, [1.0, 1.0, 1.0], [2.0, 2.0, 2.0]
        while True:
            now = [[p[0], float(i), p[2]], q]
            p, q = now[order[0]], now[order[1]]
            if not i < k:
                return [i + 1, p, q]
            i += 1
            now = [[q[1], p[1], p[2]], q]
            p, q = now[back[0]], now[back[1]]

    climb(m.done(*results), *(([array(3), k], [*eager(k), array(3), k]) for k in (0, 1, 2, 5)))


@needs_mlir
def test_mlir_opt_reads_both_levels() -> None:
    m = Maker("f", a=("n",), k=INDEX)
    func = rotation(m, lambda p, q: m.ew(ADD, p, q))
    memory = pipeline.to_memref(clone_func(func)[0], Options())
    assert mlir_reads(func) and mlir_reads(memory)


def mlir_reads(f: Func) -> bool:
    """Whether mlir-opt takes the text (true where it is not there to be asked)."""
    return MLIR_OPT is None or bool(mlir_opt(print_module([f]), UNREGISTERED))


# -- sizes that change -----------------------------------------------------------------------------------------------


def vector(m: Maker, size: Value, name: str) -> TensorType:
    """The type of a vector whose size is an index value."""
    s = Sym(name, "opaque")
    m.func.symbols[s] = size
    return TensorType((s.expr,), F64)


def shorter(m: Maker, z: Value, size: Value) -> list[Value]:
    """z[1:] + 1 and its size."""
    less = next_(m, size, -1)
    type_ = vector(m, less, "less")
    part = m.add(tensor.ExtractSlice.of(z, Slice((1,), (less,), (1,), (0,)), type_, m.loc()))
    new = m.ew(ADD, part, m.const(1.0), out=m.add(tensor.Empty.of(type_, [less], m.loc())))
    return [new, less]


def sized_if(m: Maker, go: Value, then: Callable[[], list[Value]], orelse: Callable[[], list[Value]]) -> list[Value]:
    """An scf.if that gives a vector and its size."""
    blocks = Block(), Block()
    m.nested(blocks[0], then)
    m.nested(blocks[1], orelse)
    element = blocks[0].terminator.operand(0).type
    op = m.builder.add(scf.If.of(go, [element, INDEX], *blocks, m.loc()))
    op.results[0].type = vector(m, op.results[1], "joined")
    return op.results


def sized_args(m: Maker, block: Block, vector_at: int, size_at: int) -> None:
    block.args[vector_at].type = vector(m, block.args[size_at], "inside")


@pytest.mark.slow
def test_z1_a_branch_may_change_a_size() -> None:
    """z = a[1:] + 1 if k > 0 else a; return z + z"""
    m = Maker("f", a=("n",), k=INDEX)
    a, k = m.args
    go = below(m, m.const(0, INDEX), k)
    z, size = sized_if(m, go, lambda: shorter(m, a, m.index(m.dim("n"))), lambda: [a, m.index(m.dim("n"))])
    both = m.ew(ADD, z, z, out=m.add(tensor.Empty.of(z.tensor_type, [size], m.loc())))
    climb(
        m.done(both, size),
        *(([array(5), k], [*w, array(5), k]) for k, w in ((0, (array(5) * 2, 5)), (1, (array(5)[1:] * 2 + 2, 4)))),
    )


@pytest.mark.slow
def test_z1_a_while_loop_may_change_a_size() -> None:
    """z = a + 1; while i < k: z = z[1:] + 1; return z"""
    m = Maker("f", a=("n",), k=INDEX)
    a, k = m.args
    z, size, i = m.ew(ADD, a, m.const(1.0)), m.index(m.dim("n")), m.const(0, INDEX)
    before = Block([z.type, INDEX, INDEX])
    sized_args(m, before, 0, 1)

    def run() -> list[Value]:
        z, size, i = before.args
        go = below(m, i, k)
        return [go, *sized_if(m, go, lambda: shorter(m, z, size), lambda: [z, size]), next_(m, i)]

    m.nested(before, run, scf.Condition)
    after = Block([z.type, INDEX, INDEX])
    sized_args(m, after, 0, 1)
    m.nested(after, lambda: after.args)
    op = m.builder.add(scf.While.of([z, size, i], before, after, m.loc()))
    op.results[0].type = vector(m, op.results[1], "last")
    a0 = array(5)
    calls = [([a0, k], [a0[k:] + 1 + k, 5 - k, a0, k]) for k in (0, 1, 3, 5)]
    program, counters = climb(m.done(*op.results[:2]), *calls)
    assert not names(program, "memref.copy") and counters[-1].peak_bytes <= 3 * 40
    assert mlir_reads(program)


@pytest.mark.slow
def test_z1_a_for_loop_may_change_a_size() -> None:
    """z = a + 1; for i in range(k): z = z[1:] + 1; return z"""
    m = Maker("f", a=("n",), k=INDEX)
    a, k = m.args
    z, size = m.ew(ADD, a, m.const(1.0)), m.index(m.dim("n"))
    body = Block([INDEX, z.type, INDEX])
    sized_args(m, body, 1, 2)
    m.nested(body, lambda: shorter(m, *body.args[1:]))
    bounds = [m.index(0), k, m.index(1)]
    op = m.builder.add(scf.For.of(bounds, [z, size], body, m.loc()))
    op.results[0].type = vector(m, op.results[1], "last")
    a0 = array(5)
    climb(m.done(*op.results), *(([a0, k], [a0[k:] + 1 + k, 5 - k, a0, k]) for k in (0, 1, 3, 5)))


@pytest.mark.slow
def test_z1_a_cast_spells_a_size_otherwise() -> None:
    """b = a (of 4 elements) as a vector of any size, joined with a[1:]; a stays where it is."""
    m = Maker("f", a=(4,), k=INDEX)
    a, k = m.args
    go = below(m, m.const(0, INDEX), k)
    four = m.index(4)

    def known() -> list[Value]:
        return [m.add(tensor.Cast.of(a, vector(m, four, "four"), m.loc())), four]

    z, size = sized_if(m, go, lambda: shorter(m, a, four), known)
    static = m.add(tensor.Cast.of(m.add(tensor.Cast.of(a, vector(m, four, "same"), m.loc())), a.tensor_type, m.loc()))
    more = m.ew(ADD, static, a)
    func = m.done(z, size, more)
    assert mlir_reads(func) and mlir_reads(pipeline.to_memref(clone_func(func)[0], Options()))
    a0 = array(4)
    calls = [([a0, 0], [a0, 4, a0 * 2, a0, 0]), ([a0, 1], [a0[1:] + 1, 3, a0 * 2, a0, 1])]
    program, counters = climb(func, *calls)
    assert [c.copies for c in counters] == [0, 0]


# -- loops that count ------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_s9_a_counting_loop_hands_on_through_branches() -> None:
    """for i in range(k): if i > 0: p, q = q, p + q"""
    m = Maker("f", a=("n",), k=INDEX)
    a, k = m.args
    n = m.dim("n")

    def body(i: Expr, p: Value, q: Value) -> list[Value]:
        go = below(m, m.const(0, INDEX), m.index(i))
        return m.branch(go, lambda: [q, m.ew(ADD, p, q)], lambda: [p, q], [p.type, q.type])

    p, q = m.loop(0, k, [m.zeros(n), m.zeros(n, value=1.0)], body)
    calls = [([array(3), k], [*fibonacci(max(k - 1, 0)), array(3), k]) for k in (0, 1, 2, 5)]
    program, counters = climb(m.done(p, q), *calls)
    assert not names(program, "memref.copy") and [c.copies for c in counters] == [0] * 4
    assert all(c.peak_bytes <= 5 * 24 for c in counters)


@pytest.mark.slow
def test_s9_nested_loops_hand_on() -> None:
    """while i < k: for j in range(2): p, q = q, p + q"""
    m = Maker("f", a=("n",), k=INDEX)
    a, k = m.args
    n = m.dim("n")

    def body(p: Value, q: Value, i: Value) -> list[Value]:
        return [*m.loop(0, 2, [p, q], lambda j, p, q: [q, m.ew(ADD, p, q)]), next_(m, i)]

    inits = [m.zeros(n), m.zeros(n, value=1.0), m.const(0, INDEX)]
    p, q, _ = loop(m, inits, lambda p, q, i: below(m, i, k), body)
    calls = [([array(3), k], [*fibonacci(2 * k), array(3), k]) for k in (0, 1, 3, 6)]
    program, counters = climb(m.done(p, q), *calls)
    assert not names(program, "memref.copy") and counters[-1].peak_bytes == counters[-2].peak_bytes <= 7 * 24


# -- layouts ---------------------------------------------------------------------------------------------------------


def carried_types(program: Func) -> set[str]:
    return {str(r.type) for op in program.walk() if isinstance(op, scf.Loop) for r in op.results if not is_scalar(r)}


def is_scalar(value: Value) -> bool:
    return isinstance(value.type, ScalarType)


def test_buffers_that_go_round_keep_what_is_known_of_their_layout() -> None:
    m = Maker("f", a=("n",), k=INDEX)
    program = pipeline.to_memref(rotation(m, lambda p, q: m.ew(ADD, p, q)), Options(verify=True))
    assert carried_types(program) == {"memref<?xf64>"} and mlir_reads(program)


@pytest.mark.slow
def test_a_layout_that_changes_on_the_way_is_forgotten() -> None:
    """z = zeros((n, n)) in C order; for i in range(k): z = z + 1 into an array in F order"""
    m = Maker("f", a=("n", "n"), k=INDEX)
    a, k = m.args
    z = m.ew(ADD, a, m.const(1.0))

    def body(i: Expr, z: Value) -> list[Value]:
        sizes = [m.index(d) for d in z.tensor_type.shape]
        other = m.add(tensor.Empty.of(z.tensor_type, sizes, m.loc(), (1, 0)))
        return [m.ew(ADD, z, m.const(1.0), out=other)]

    func = m.done(*m.loop(0, k, [z], body))
    program, _ = climb(func, *(([array(3, 3), k], [array(3, 3) + 1 + k, array(3, 3), k]) for k in (0, 1, 2)))
    assert carried_types(program) == {"memref<?x?xf64, strided<[?, ?]>>"} and mlir_reads(program)


# -- clean-up and checks ---------------------------------------------------------------------------------------------


def test_what_goes_round_unchanged_or_unread_is_dropped() -> None:
    """A tensor that stays, a number that stays, and one that only feeds itself."""
    m = Maker("f", a=("n",), k=INDEX, x=F64)
    a, k, x = m.args

    def body(a: Value, x: Value, unread: Value, i: Value) -> list[Value]:
        return [a, x, m.add(ADD.of(unread, x, m.loc())), next_(m, i)]

    inits = [a, x, m.const(0.0), m.const(0, INDEX)]
    same_a, same_x, _, i = loop(m, inits, lambda *c: below(m, c[3], k), body)
    func = m.done(same_a, same_x, i)
    canonicalize(func)
    verify(func, "tensor")
    (op,) = [op for op in func.walk() if isinstance(op, scf.While)]
    assert [r.type for r in op.results] == [INDEX] and func.block.terminator.operands[:2] == [a, x]
    climb(func, *(([array(3), n, 2.5], [array(3), 2.5, n, array(3), n, 2.5]) for n in (0, 2)))


def test_what_another_carried_value_reads_stays() -> None:
    """x, y = y, y + 1; return x"""
    m = Maker("f", k=INDEX)
    (k,) = m.args
    inits = [m.const(0.0), m.const(1.0), m.const(0, INDEX)]
    x, _, _ = loop(
        m,
        inits,
        lambda x, y, i: below(m, i, k),
        lambda x, y, i: [y, m.add(ADD.of(y, m.const(1.0), m.loc())), next_(m, i)],
    )
    climb(m.done(x), *(([n], [float(n), n]) for n in (0, 1, 4)))


def test_a_loop_that_may_not_end_stays() -> None:
    m = Maker("f", k=INDEX)
    (k,) = m.args
    loop(m, [m.const(0, INDEX)], lambda i: below(m, i, k), lambda i: [next_(m, i)])
    program = pipeline.to_memref(m.done(k), Options(verify=True))
    assert names(program, "scf.while") == ["scf.while"]


@pytest.mark.parametrize(
    "change, match",
    [
        (lambda op: op.before.terminator.uses[0].set(op.operand(0)), "condition is not of type i1"),
        (lambda op: op.before.terminator.set_operands(op.before.terminator.operands[:1]), "differ in number"),
        (lambda op: op.after.terminator.set_operands([]), "differ in number"),
        (lambda op: setattr(op.after.args[0], "type", F64), "what it yields is f64"),
    ],
)
def test_the_verifier_knows_what_fits(change: Callable[[scf.While], Any], match: str) -> None:
    m = Maker("f", k=INDEX)
    (k,) = m.args
    i = loop(m, [m.const(0, INDEX)], lambda i: below(m, i, k), lambda i: [next_(m, i)])
    func = m.done(*i)
    (op,) = [op for op in func.walk() if isinstance(op, scf.While)]
    change(op)
    with pytest.raises(InternalError, match=match):
        verify(func, "tensor")


@pytest.mark.slow
def test_explain_knows_that_it_is_a_loop() -> None:
    m = Maker("f", a=("n",), k=INDEX)
    n = m.dim("n")
    func = rotation(m, lambda p, q: m.ew(ADD, m.view(p, (sub(n, 1), n, -1)), q))
    program = pipeline.to_memref(func, Options())
    assert [e.in_loop for e in explain(program, {}).allocations] == [False, False, True]
