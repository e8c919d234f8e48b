"""Fusion: the values stay, temporaries go, and each rule of tracebuf.optimize.tensors.fuse refuses what it says."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tracebuf
from tests.support.growth import growth
from tests.support.ir_programs import PROGRAMS, Maker, Program, array
from tracebuf.interpret.tensor import run
from tracebuf.ir.core import Block, Builder, Value
from tracebuf.ir.dims import sub
from tracebuf.ir.func import Func
from tracebuf.ir.types import F64
from tracebuf.ops.arrays import linalg
from tracebuf.ops.arrays.linalg import AffineMap, Generic
from tracebuf.ops.control import checks
from tracebuf.ops.scalars import arith
from tracebuf.optimize.tensors.fuse import MAX_BODY, fuse

ADD, MUL = arith.AddF, arith.MulF


def generics(func: Func) -> list[Generic]:
    return [op for op in func.walk() if isinstance(op, Generic)]


def names(func: Func) -> list[str]:
    return [op.name for op in func.walk()]


def check(func: Func, args: list[Any], ops: int, transform: Callable[[Func], None] = fuse) -> list[Generic]:
    """The values before and after are equal, and `ops` generics are left."""
    before = run(func, args)
    transform(func)
    for op in func.walk():
        op.verify()
        assert all(u.index == i and u in u.value.uses for i, u in enumerate(op.uses))
    after = run(func, args)
    for a, b in zip(before.results, after.results, strict=True):
        np.testing.assert_array_equal(a, b)
    assert before.arguments.keys() == after.arguments.keys()
    for k, value in before.arguments.items():
        np.testing.assert_array_equal(value, after.arguments[k])
    left = generics(func)
    assert len(left) == ops, func
    return left


def exp(m: Maker, x: Value) -> Value:
    class Exp(arith.Ufunc):
        @classmethod
        def of(cls, a: Value, loc: Any) -> arith.Ufunc:  # type: ignore[override]
            return arith.Ufunc.of("exp", "d->d", [a], F64, loc)

    return m.ew(Exp, x)


def power(m: Maker, x: Value, e: Value) -> Value:
    class Power(arith.Ufunc):
        @classmethod
        def of(cls, a: Value, b: Value, loc: Any) -> arith.Ufunc:  # type: ignore[override]
            return arith.Ufunc.of("power", "dd->d", [a, b], F64, loc)

    return m.ew(Power, x, e)


@pytest.mark.parametrize("program", [p for p in PROGRAMS if p.name != "checked_max"], ids=lambda p: p.name)
def test_values_stay(program: Program) -> None:
    func = program.build()
    fused = program.name in ("chain", "stencil", "augmented", "nested", "placed")
    check(func, program.arguments(), len(generics(func)) - fused)


def test_an_expression_becomes_one_loop_without_temporaries() -> None:
    m = Maker("f", u=("n",), v=("n",), x=F64)
    u, v, x = m.args
    (op,) = check(m.done(m.ew(ADD, m.ew(MUL, u, x), m.ew(MUL, v, m.ew(ADD, u, v)))), [array(5), array(5), 2.0], 1)
    assert sorted(o.name for o in op.body.ops) == ["arith.addf"] * 2 + ["arith.mulf"] * 2 + ["linalg.yield"]
    assert len(op.uses) == 4 and {*op.operands[:-1]} == {u, v, x}, "each input once"
    assert names(m.func).count("tensor.empty") == 1
    assert len(op.attrs["fused_locs"]) == 4 and op.attrs["fused_locs"][-1] is op.loc


def test_equal_subexpressions_are_computed_once() -> None:
    m = Maker("f", u=("n",), v=("n",))
    u, v = m.args
    (op,) = check(m.done(m.ew(MUL, m.ew(ADD, u, v), m.ew(ADD, u, v))), [array(5), array(5)], 1)
    assert [o.name for o in op.body.ops] == ["arith.addf", "arith.mulf", "linalg.yield"]


def test_a_value_used_twice_by_one_op_is_fused_once() -> None:
    m = Maker("f", u=("n",))
    t = exp(m, m.args[0])
    (op,) = check(m.done(m.ew(MUL, t, t)), [array(5)], 1)
    assert [o.name for o in op.body.ops] == ["tracebuf.ufunc", "arith.mulf", "linalg.yield"]


def test_a_reduction_takes_up_what_it_sums() -> None:
    m = Maker("f", u=("n", "k"), v=("n", "k"))
    (op,) = check(m.done(m.reduce(ADD, m.ew(MUL, *m.args), [0], 0.0)), [array(3, 4), array(3, 4)], 1)
    assert op.iterators == ("reduction", "parallel") and op.combiner(op.out_uses[0]) is not None


def test_a_transposed_read_composes_the_maps() -> None:
    m = Maker("f", u=("n", "k"), v=("k", "n"))
    u, v = m.args
    t = m.ew(ADD, u, m.const(1.0))
    body = Block([F64] * 3)
    inner = Builder(body)
    inner.add(linalg.Yield.of([inner.add(ADD.of(body.args[0], body.args[1], m.loc())).result], m.loc()))
    maps = [AffineMap(2, (1, 0)), AffineMap(2, (0, 1)), AffineMap(2, (0, 1))]
    out = m.empty(m.dim("k"), m.dim("n"))
    r = m.add(Generic.of([t, v], [out], maps, ["parallel"] * 2, body, m.loc()))
    (op,) = check(m.done(r), [array(3, 4), array(4, 3)], 1)
    assert op.maps[0] == AffineMap(2, (1, 0)) and op.operand(0) is u


def test_a_producer_that_broadcasts_its_own_input_is_fused() -> None:
    m = Maker("f", u=("n", "k"), row=("k",))
    u, row = m.args
    (op,) = check(m.done(m.ew(MUL, u, m.ew(ADD, u, row))), [array(3, 4), array(4)], 1)
    assert AffineMap(2, (1,)) in op.maps


def test_fills_become_scalars() -> None:
    m = Maker("f", u=("n",))
    z = m.zeros(m.dim("n"), value=2.0)
    (op,) = check(m.done(m.ew(MUL, m.ew(ADD, z, m.args[0]), z)), [array(5)], 1)
    assert "linalg.fill" not in names(m.func) and names(m.func).count("tensor.empty") == 1
    assert [m_.results for m_ in op.maps] == [(), (0,), (0,)]


# -- one test a rule, named as the rule


def test_is_elementwise_producer() -> None:
    m = Maker("f", u=("n", "k"))
    check(m.done(m.ew(ADD, m.reduce(ADD, m.args[0], [0], 0.0), m.const(1.0))), [array(3, 4)], 2)


def test_has_one_consumer() -> None:
    m = Maker("f", u=("n",))
    t = m.ew(ADD, m.args[0], m.const(1.0))
    check(m.done(m.ew(MUL, t, m.const(2.0)), m.ew(MUL, t, m.const(3.0))), [array(5)], 3)
    m = Maker("f", u=("n",))
    t = m.ew(ADD, m.args[0], m.const(1.0))
    check(m.done(t, m.ew(MUL, t, m.const(2.0))), [array(5)], 2)


def test_has_one_consumer_once_the_other_was_fused() -> None:
    m = Maker("f", u=("n",))
    t = m.ew(ADD, m.args[0], m.const(1.0))
    check(m.done(m.ew(ADD, m.ew(MUL, t, m.const(2.0)), t)), [array(5)], 1)


def test_has_one_consumer_that_does_not_write_to_it() -> None:
    m = Maker("f", u=("n",))
    t = m.ew(ADD, m.args[0], m.const(1.0))
    check(m.done(m.ew(ADD, m.args[0], m.const(2.0), out=t)), [array(5)], 2)


def test_is_not_repeated() -> None:
    m = Maker("f", u=("n", "k"), row=("k",))
    check(m.done(m.ew(MUL, m.args[0], exp(m, m.args[1]))), [array(3, 4), array(4)], 2)
    m = Maker("f", u=(1, "k"), row=("k",))
    check(m.done(m.ew(MUL, m.args[0], exp(m, m.args[1]))), [array(1, 4), array(4)], 1)


def test_fits_in_registers() -> None:
    m = Maker("f", u=("n",))
    t = m.args[0]
    for _ in range(2 * MAX_BODY):
        t = m.ew(ADD, t, m.args[0])
    check(m.done(t), [array(5)], 2)


def test_loops_stay_known() -> None:
    m = Maker("f", u=("n",))
    check(m.done(m.reduce(ADD, m.zeros(m.dim("n"), value=1.0), [0], 0.0)), [array(5)], 1)
    assert names(m.func).count("linalg.fill") == 2


def test_keeps_numpy_steps() -> None:
    """x ** full(n, 0.5) is not x ** 0.5 in NumPy: at -0.0 the one gives 0.0 and the other -0.0 (rule N3)."""
    x = np.array([-0.0, -np.inf, 4.0])
    m = Maker("f", u=("n",))
    (op,) = check(m.done(power(m, m.args[0], m.zeros(m.dim("n"), value=0.5))), [x], 1)
    assert "linalg.fill" in names(m.func) and op.maps[1].results == (0,)
    m = Maker("f", u=("n",), v=("n",))
    check(m.done(power(m, m.args[0], m.ew(ADD, m.args[1], m.const(1.0)))), [x, x], 1)


def test_passes_no_new_version() -> None:
    """t = a + 1; a[0] = 5; return t * 2 (rule S4)"""
    m = Maker("f", a=("n",))
    (a,) = m.args
    t = m.ew(ADD, a, m.const(1.0))
    new = m.insert(m.const(5.0), a, 0)
    check(m.done(m.ew(MUL, t, m.const(2.0)), stored={0: new}), [array(5)], 2)


def test_passes_no_new_version_through_views_and_loops() -> None:
    """t = a[1:] + 1; for i in range(n): a[i] = 5; return t * 2"""
    m = Maker("f", a=("n",))
    (a,) = m.args
    n = m.dim("n")
    t = m.ew(ADD, m.view(a, (1, sub(n, 1), 1)), m.const(1.0))
    (new,) = m.loop(0, n, [a], lambda i, a: [m.insert(m.const(5.0), a, i)])
    check(m.done(m.ew(MUL, t, m.const(2.0)), stored={0: new}), [array(5)], 2)


def test_passes_stores_to_other_storages_and_checks() -> None:
    m = Maker("f", a=("n",), b=("n",), x=F64)
    a, b, x = m.args
    t = m.ew(ADD, a, m.const(1.0))
    new = m.insert(m.const(5.0), b, 0)
    ok = m.add(arith.CmpF.of("ogt", x, m.const(0.0), m.loc()))
    m.builder.add(checks.Check.of(ok, "ValueError", "x must be positive", [], m.loc()))
    check(m.done(m.ew(MUL, t, new), stored={1: new}), [array(5), array(5), 1.0], 1)


def test_reads_apart_from_destination() -> None:
    """np.add(a * 2, b, out=a): at the same element, so fused; through a reversed view of a, not."""
    m = Maker("f", a=("n",), b=("n",))
    a, b = m.args
    new = m.ew(ADD, m.ew(MUL, a, m.const(2.0)), b, out=a)
    check(m.done(stored={0: new}), [array(5), array(5)], 1)
    m = Maker("f", a=("n",), b=("n",))
    a, b = m.args
    n = m.dim("n")
    new = m.ew(ADD, m.ew(MUL, m.view(a, (sub(n, 1), n, -1)), m.const(2.0)), b, out=a)
    check(m.done(stored={0: new}), [array(5), array(5)], 2)


def test_nothing_moves_into_a_loop() -> None:
    m = Maker("f", a=("n",), z=("n",))
    a, z = m.args
    t = exp(m, a)
    (new,) = m.loop(0, 3, [z], lambda i, z: [m.store(m.ew(ADD, z, t), z, *m.whole(z))])
    check(m.done(stored={1: new}), [array(5), array(5)], 2)


def test_blocks_inside_loops_are_fused() -> None:
    m = Maker("f", a=("n",), z=("n",))
    a, z = m.args
    (new,) = m.loop(0, 3, [z], lambda i, z: [m.store(m.ew(ADD, z, m.ew(MUL, a, a)), z, *m.whole(z))])
    check(m.done(stored={1: new}), [array(5), array(5)], 1)


@pytest.mark.slow
def test_fusing_a_chain_takes_linear_time() -> None:
    def prepare(length: int) -> Callable[[], object]:
        m = Maker("f", u=("n",))
        t = m.args[0]
        for _ in range(length):
            t = m.ew(ADD, t, m.args[0])
        func = m.done(t)

        def run() -> None:
            fuse(func)
            assert len(generics(func)) == -(-length // MAX_BODY)

        return run

    assert growth(prepare, 150, below=9) < 9


@pytest.mark.slow
def test_a_fill_taken_up_inside_a_loop_leaves_its_own_block() -> None:
    """Found by fuzzing: the fill's op stayed in the outer block without operands."""

    def program(b):
        t = np.zeros(3, dtype=np.bool_)
        for _ in range(1):
            b[2:] = t

    b = np.ones(5, np.float32)
    tracebuf.bufferize(verify=True)(program)(b)
    assert b.tolist() == [1, 1, 0, 0, 0]
