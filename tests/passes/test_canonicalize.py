"""Clean-up and common subexpressions: what goes, and what must stay."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tracebuf
from tests.support.growth import growth
from tests.support.ir_programs import PROGRAMS, Maker, Program, array
from tracebuf.interpret.tensor import run
from tracebuf.ir.dims import sub
from tracebuf.ir.func import Func
from tracebuf.ir.types import F64, I1, I64, INDEX
from tracebuf.ops.arrays import tensor
from tracebuf.ops.control import scf
from tracebuf.ops.control.checks import Check
from tracebuf.ops.scalars import arith
from tracebuf.optimize.tensors.canonicalize import canonicalize
from tracebuf.optimize.tensors.cse import cse

ADD = arith.AddF


def check(func: Func, args: list[Any], *passes: Callable[[Func], None]) -> Counter[str]:
    """Applies the passes (canonicalize if none is given); values stay; the names of the ops that are left."""
    before = run(func, args)
    for transform in passes or (canonicalize,):
        transform(func)
        after = run(func, args)
        for a, b in zip(before.results, after.results, strict=True):
            np.testing.assert_array_equal(a, b)
        for k, value in before.arguments.items():
            np.testing.assert_array_equal(value, after.arguments[k])
    for op in func.walk():
        op.verify()
        assert op.block is not None and op in op.block.ops
        assert all(u.index == i and u in u.value.uses for i, u in enumerate(op.uses))
        assert all(r.index == i and r.owner is op for i, r in enumerate(op.results))
    return Counter(op.name for op in func.walk())


@pytest.mark.parametrize("program", [p for p in PROGRAMS if p.name != "checked_max"], ids=lambda p: p.name)
def test_values_stay_and_nothing_grows(program: Program) -> None:
    func = program.build()
    before = sum(Counter(op.name for op in func.walk()).values())
    assert sum(check(func, program.arguments(), canonicalize, cse, canonicalize).values()) <= before


def test_dead_ops_go_and_effects_stay() -> None:
    m = Maker("f", u=("n",), x=F64)
    u, x = m.args
    m.ew(ADD, u, m.const(1.0))
    m.store(m.zeros(m.dim("n")), u, *m.whole(u))
    positive = m.add(arith.CmpF.of("ogt", x, m.const(0.0), m.loc()))
    m.builder.add(Check.of(positive, "ValueError", "no", [], m.loc()))
    left = check(m.done(x), [array(4), 1.0])
    assert left == {"tensor.dim": 1, "arith.constant": 1, "arith.cmpf": 1, "tracebuf.check": 1, "func.return": 1}
    assert m.func.symbols, "the size of u keeps its name"


def test_dead_loops_go_unless_they_check() -> None:
    def build(checks: bool) -> Maker:
        m = Maker("f", u=("n",), x=F64)
        u, x = m.args

        def body(i: Any, a: Any) -> list[Any]:
            if checks:
                ok = m.add(arith.CmpF.of("ogt", x, m.const(0.0), m.loc()))
                m.builder.add(Check.of(ok, "ValueError", "no", [], m.loc()))
            return [m.insert(x, a, i)]

        m.loop(0, m.dim("n"), [u], body)
        return m

    m = build(False)
    m.func.symbols = {s: v for s, v in m.func.symbols.items() if v.defining_op is not None}
    assert "scf.for" not in check(m.done(m.args[1]), [array(4), 1.0])
    m = build(True)
    assert check(m.done(m.args[1]), [array(4), 1.0])["tracebuf.check"] == 1


def test_integer_constants_fold_and_wrap() -> None:
    m = Maker("f", k=I64)
    two, big = m.const(2, I64), m.const(2**63 - 1, I64)
    wrapped = m.add(arith.AddI.of(big, m.add(arith.MulI.of(two, two, m.loc())), m.loc()))
    least = m.add(arith.MinSI.of(two, m.const(-1, I64), m.loc()))
    less = m.add(arith.CmpI.of("slt", two, big, m.loc()))
    chosen = m.add(arith.Select.of(less, m.args[0], two, m.loc()))
    same = m.add(arith.AddI.of(m.const(0, I64), m.add(arith.MulI.of(chosen, m.const(1, I64), m.loc())), m.loc()))
    left = check(m.done(wrapped, least, less, same), [7])
    assert left == {"arith.constant": 3, "func.return": 1}
    assert run(m.func, [7]).results[0] == -(2**63) + 3 and m.func.block.terminator.operand(3) is m.args[0]


def test_sizes_come_from_types_symbols_and_makers() -> None:
    m = Maker("f", u=("n", 3))
    (u,) = m.args
    n = m.dim("n")
    t = m.ew(ADD, u, m.const(1.0))
    short = m.empty(sub(n, 2))
    filled = m.fill(0.0, short)
    sizes = [m.add(tensor.Dim.of(v, d, m.loc())) for v, d in ((t, 0), (t, 1), (filled, 0))]
    left = check(m.done(*sizes), [array(4, 3)])
    assert left["linalg.generic"] == left["tensor.empty"] == left["linalg.fill"] == 0
    assert left["tensor.dim"] == 1


def test_whole_views_are_their_sources_but_not_when_returned() -> None:
    m = Maker("f", u=("n",))
    (u,) = m.args
    v = m.view(u, *m.whole(u))
    assert check(m.done(m.ew(ADD, v, u), v), [array(4)])["tensor.extract_slice"] == 1
    assert next(op for op in m.func.walk() if op.name == "linalg.generic").operand(0) is u
    m = Maker("f", u=("n",))
    (u,) = m.args
    part = m.view(u, (1, sub(m.dim("n"), 1), 1))
    back = m.view(u, (sub(m.dim("n"), 1), m.dim("n"), -1))
    left = check(m.done(m.extract(part, 0), m.extract(back, 0)), [array(4)])
    assert left["tensor.extract_slice"] == left["tracebuf.extract_view"] == 1


def test_storing_what_was_read_there_is_nothing() -> None:
    m = Maker("f", u=("n",))
    (u,) = m.args
    inner = (1, sub(m.dim("n"), 2), 1)
    new = m.store(m.view(u, inner), u, inner)
    assert check(m.done(stored={0: new}), [array(4)])["tensor.insert_slice"] == 0
    m = Maker("f", u=("n",))
    (u,) = m.args
    new = m.store(m.view(u, *m.whole(u)), u, *m.whole(u))
    assert check(m.done(stored={0: new}), [array(4)])["tensor.insert_slice"] == 0


def test_storing_over_everything_what_was_computed_there() -> None:
    m = Maker("f", u=("n",))
    (u,) = m.args
    new = m.ew(arith.AddF, u, u, out=u)
    stored = m.store(new, u, *m.whole(u))
    assert check(m.done(stored={0: stored}), [array(4)])["tensor.insert_slice"] == 0
    m = Maker("f", u=("n",))
    (u,) = m.args
    new = m.ew(arith.AddF, u, u, out=u)
    stored = m.store(new, u, *m.whole(u))
    assert check(m.done(new, stored={0: stored}), [array(4)])["tensor.insert_slice"] == 1  # two arrays


def test_known_elements() -> None:
    m = Maker("f", u=("n",), x=F64)
    u, x = m.args
    i, j = m.index(0), m.index(1)
    new = m.insert(x, u, i)
    stored, other, filled = m.extract(new, i), m.extract(new, j), m.extract(m.zeros(m.dim("n"), value=2.0), j)
    assert check(m.done(stored, other, filled, stored={0: new}), [array(4), 9.0])["tensor.extract"] == 1


def test_loops_carry_only_what_changes() -> None:
    m = Maker("f", u=("n",), v=("n",), x=F64)
    u, v, x = m.args

    def body(i: Any, a: Any, b: Any, s: Any, unused: Any) -> list[Any]:
        new = m.insert(m.add(ADD.of(m.extract(b, i), s, m.loc())), a, i)
        return [new, b, s, m.const(3.0)]

    r = m.loop(0, m.dim("n"), [u, v, x, x], body)
    check(m.done(r[2], stored={0: r[0]}), [array(4), array(4), 2.0])
    (loop,) = (op for op in m.func.walk() if isinstance(op, scf.For))
    assert len(loop.results) == 1 and len(loop.body.args) == 2 and loop.operand(3) is u


def test_swapped_values_stay_carried() -> None:
    m = Maker("f", u=("n",), v=("n",))
    u, v = m.args
    r = m.loop(0, 3, [u, v], lambda i, a, b: [b, a])
    check(m.done(*r), [array(4), array(4) + 1])
    (loop,) = (op for op in m.func.walk() if isinstance(op, scf.For))
    assert len(loop.results) == 2


def test_branches_give_only_what_differs() -> None:
    m = Maker("f", u=("n",), x=F64, c=I1)
    u, x, c = m.args
    r = m.branch(c, lambda: [m.insert(x, u, 0), x, m.const(1.0)], lambda: [u, x, m.const(2.0)], [u.type, F64, F64])
    check(m.done(r[1], stored={0: r[0]}), [array(4), 2.0, True])
    (branch,) = (op for op in m.func.walk() if isinstance(op, scf.If))
    assert len(branch.results) == 1 and m.func.block.terminator.operand(0) is x


@pytest.mark.parametrize("known", [True, False])
def test_known_conditions_choose_a_branch(known: bool) -> None:
    m = Maker("f", u=("n",), x=F64)
    u, x = m.args
    one = m.const(1, INDEX)
    c = m.add(arith.CmpI.of("eq", one, m.const(1 if known else 2, INDEX), m.loc()))
    (r,) = m.branch(c, lambda: [m.insert(x, u, 0)], lambda: [m.insert(x, u, 1)], [u.type])
    left = check(m.done(stored={0: r}), [array(4), 2.0])
    assert left["scf.if"] == 0 and left["tensor.insert"] == 1


# -- cse


def test_equal_scalars_sizes_views_and_elements_are_one() -> None:
    m = Maker("f", u=("n",), x=F64)
    u, x = m.args
    inner = (1, sub(m.dim("n"), 2), 1)
    views = [m.view(u, inner), m.view(u, inner)]
    sums = [m.add(ADD.of(m.extract(v, 0), x, m.loc())) for v in views]
    left = check(m.done(m.add(arith.MulF.of(*sums, m.loc()))), [array(4), 2.0], cse)
    assert left["tensor.extract_slice"] == left["tensor.extract"] == left["arith.addf"] == 1


def test_two_fresh_arrays_stay_two() -> None:
    """return np.zeros(n), np.zeros(n), u + 1, u + 1 (rule S3)"""
    m = Maker("f", u=("n",))
    (u,) = m.args
    n = m.dim("n")
    one = m.const(1.0)
    results = [m.zeros(n), m.zeros(n), m.ew(ADD, u, one), m.ew(ADD, u, one)]
    left = check(m.done(*results), [array(4)], cse)
    assert left["tensor.empty"] == 4 and left["linalg.fill"] == left["linalg.generic"] == 2


def test_two_versions_of_one_storage_stay_two() -> None:
    m = Maker("f", u=("n",), x=F64)
    u, x = m.args
    i = m.index(0)
    left = check(m.done(m.insert(x, u, i), m.insert(x, u, i)), [array(4), 1.0], cse)
    assert left["tensor.insert"] == 2


def test_constants_merge_only_if_they_are_the_same_to_the_bit() -> None:
    m = Maker("f", x=F64)
    values = [m.const(0.0), m.const(-0.0), m.const(1, I64), m.const(True, I1), m.const(1.0), m.const(0.0)]
    left = check(m.done(*values), [1.0], cse)
    assert left["arith.constant"] == 5
    assert [np.signbit(v) for v in run(m.func, [1.0]).results[:2]] == [False, True]


def test_blocks_see_what_stands_before_them_and_not_each_other() -> None:
    m = Maker("f", x=F64, c=I1)
    x, c = m.args
    outer = m.add(ADD.of(x, x, m.loc()))

    def arm() -> list[Any]:
        return [m.add(arith.MulF.of(m.add(ADD.of(x, x, m.loc())), x, m.loc()))]

    (r,) = m.branch(c, arm, arm, [F64])
    left = check(m.done(r, outer), [2.0, True], cse)
    assert left["arith.addf"] == 1 and left["arith.mulf"] == 2


@pytest.mark.slow
def test_cse_and_canonicalize_take_linear_time() -> None:
    def prepare(length: int) -> Callable[[], object]:
        m = Maker("f", u=("n",))
        t = m.args[0]
        for _ in range(length):
            m.const(1, INDEX)
            t = m.ew(ADD, t, m.const(2.0))
        func = m.done(t)

        def run() -> None:
            cse(func)
            canonicalize(func)
            assert sum(op.name == "arith.constant" for op in func.walk()) == 1

        return run

    assert growth(prepare, 150, below=9) < 9


def a_name_bound_late(a: Any, b: Any, n: int) -> Any:
    i = 0
    while True:
        a[0] = i
        t = None
        i += 1
        if i >= n:
            break
    return t


def arrays_that_take_turns(a: Any, b: Any, n: int) -> Any:
    p, q = a + 1, b + 1
    i = 0
    while True:
        p, q = q, p
        p[0] = i
        t = i
        i += 1
        if i >= n:
            break
    return t, p, q


def an_array_made_late(a: Any, b: Any, n: int) -> Any:
    i = 0
    while True:
        a[0] = i
        t = np.ones(a.shape[0]) + i
        i += 1
        if i >= n:
            break
    return t


@pytest.mark.parametrize("f", [a_name_bound_late, arrays_that_take_turns, an_array_made_late])
@pytest.mark.cases(3)
def test_f1_what_a_while_loop_begins_with_unread_moves_no_array_to_another_place(f: Callable[..., Any]) -> None:
    """Whether `t` is bound is not read before it is stored to: the loop no longer began with it, but ended with it, so
    that each array's result stood elsewhere than its initial value, and each iteration copied each array."""
    g = tracebuf.bufferize(verify=True)(f)
    args, again = (np.ones(5), np.full(5, 7.0), 5), (np.ones(5), np.full(5, 7.0), 5)
    seen = tracebuf.measure(g, *args, repeat=1)
    assert seen.native.copies == 0
    assert seen.native.allocations <= seen.eager.allocations
    np.testing.assert_equal((g(*args), args), (f(*again), again))
