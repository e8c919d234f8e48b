"""Results computed in their destination: the values stay, temporaries go, and each rule refuses what it says."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest

import tracebuf
from tests.support.growth import growth
from tests.support.ir_programs import PROGRAMS, Maker, Program, array
from tests.support.params import one_in
from tracebuf.analysis.one_shot.one_shot import one_shot
from tracebuf.interpret.tensor import run
from tracebuf.ir.core import Op
from tracebuf.ir.dims import sub
from tracebuf.ir.func import Func
from tracebuf.ir.types import F64
from tracebuf.ops.arrays import linalg
from tracebuf.ops.scalars import arith
from tracebuf.optimize.tensors.eliminate_empty_tensors import eliminate_empty_tensors
from tracebuf.optimize.tensors.fuse import fuse
from tracebuf.testing.ladder import climb

ADD, MUL = arith.AddF, arith.MulF


def ops(func: Func, *names: str) -> list[Op]:
    return [op for op in func.walk() if op.name in names]


def empties(func: Func, args: list[Any], *passes: Callable[[Func], None]) -> int:
    """How many empties are left after the passes (the elimination alone if none is given); the values stay."""
    before = run(func, args)
    for transform in passes or (eliminate_empty_tensors,):
        transform(func)
    for op in func.walk():
        op.verify()
        assert op.block is not None and op in op.block.ops
        assert all(v.defining_op is None or v.block.op_index(v.defining_op) >= 0 for v in op.operands)
    after = run(func, args)
    for a, b in zip(before.results, after.results, strict=True):
        np.testing.assert_array_equal(a, b)
    for k, value in before.arguments.items():
        np.testing.assert_array_equal(value, after.arguments[k])
    return len(ops(func, "tensor.empty"))


def out_of_place(func: Func) -> list[str]:
    analysis = one_shot(func)
    return [str(use) for op in func.walk() for use in op.tensor_uses() if not analysis.is_in_place(use)]


LEFT = {
    "chain": 1, "host_calls": 2, "runs": 1, "nested": 1, "axis_sum": 1, "centred": 1, "fresh_in_loop": 1, "rotating": 3,
    "view_result": 1, "diagonal": 1, "running": 2, "picked": 2,
}  # fmt: skip


@pytest.mark.parametrize("program", [p for p in PROGRAMS if p.name != "checked_max"], ids=lambda p: p.name)
def test_values_stay(program: Program) -> None:
    func = program.build()
    before = out_of_place(func)
    assert empties(func, program.arguments(), fuse, eliminate_empty_tensors) == LEFT.get(program.name, 0)
    assert out_of_place(func) == before


def test_an_expression_is_computed_in_its_slice() -> None:
    """x[1:-1] = a + b"""
    m = Maker("f", x=("n",), a=("k",), b=("k",))
    x, a, b = m.args
    new = m.store(m.ew(ADD, a, b), x, (1, m.dim("k"), 1))
    assert empties(m.done(stored={0: new}), [array(7), array(5), array(5)]) == 0
    (op,), (read,) = ops(m.func, "linalg.generic"), ops(m.func, "tensor.extract_slice")
    (store,) = ops(m.func, "tensor.insert_slice")
    assert op.operand(2) is read.result and read.operand(0) is x and store.operands[:2] == [op.result, x]


def test_an_update_of_a_slice_reads_and_writes_one_view() -> None:
    """x[1:-1] += a: the view that is read is the destination"""
    m = Maker("f", x=("n",), a=("k",))
    x, a = m.args
    inner = (1, m.dim("k"), 1)
    new = m.store(m.ew(ADD, m.view(x, inner), a), x, inner)
    assert empties(m.done(stored={0: new}), [array(7), array(5)]) == 0
    (op,), (read,) = ops(m.func, "linalg.generic"), ops(m.func, "tensor.extract_slice")
    assert op.operand(0) is op.operand(2) is read.result


def test_an_update_of_everything_is_the_op_itself() -> None:
    """u += dt * v"""
    m = Maker("f", u=("n",), v=("n",), dt=F64)
    u, v, dt = m.args
    new = m.store(m.ew(ADD, u, m.ew(MUL, dt, v)), u, *m.whole(u))
    assert empties(m.done(stored={0: new}), [array(5), array(5), 2.0], fuse, eliminate_empty_tensors) == 0
    (op,) = ops(m.func, "linalg.generic")
    assert op.operands[-1] is u and not ops(m.func, "tensor.insert_slice")


def test_stores_one_after_another_into_one_destination() -> None:
    """np.concatenate([a + 1, b * 2]), whose destination is made after its parts"""
    m = Maker("f", a=("n",), b=("k",))
    a, b = m.args
    n, k = m.dim("n"), m.dim("k")
    first, second = m.ew(ADD, a, m.const(1.0)), m.ew(MUL, b, m.const(2.0))
    out = m.store(first, m.empty(n + k), (0, n, 1))
    out = m.store(second, out, (n, k, 1))
    assert empties(m.done(out), [array(3), array(4)]) == 1


def test_stores_within_stores() -> None:
    """x[1:] = np.concatenate([a + 1, b * 2])"""
    m = Maker("f", a=("n",), b=("k",), x=("q",))
    a, b, x = m.args
    n, k = m.dim("n"), m.dim("k")
    first, second = m.ew(ADD, a, m.const(1.0)), m.ew(MUL, b, m.const(2.0))
    out = m.store(first, m.empty(n + k), (0, n, 1))
    out = m.store(second, out, (n, k, 1))
    new = m.store(out, x, (1, n + k, 1))
    assert empties(m.done(stored={2: new}), [array(3), array(4), array(8)]) == 0


def test_products_and_their_fills_go_into_the_slice() -> None:
    m = Maker("f", c=("n", "k"), a=("k", "p"), v=("p",))
    c, a, v = m.args
    new = m.add(linalg.Contraction.of(a, v, m.zeros(m.dim("k")), m.loc()))
    stored = m.store(new, c, (1, 1, 1), (0, m.dim("k"), 1), dims=(1,))
    assert empties(m.done(stored={0: stored}), [array(3, 4), array(4, 5), array(5)]) == 0


def test_carried_destinations_in_loops() -> None:
    """for i in range(n): c[i] = a @ b[i]"""
    m = Maker("f", c=("n", "k"), a=("k", "p"), b=("n", "p"))
    c, a, b = m.args
    k, p = m.dim("k"), m.dim("p")

    def body(i: Any, c: Any) -> list[Any]:
        row = m.view(b, (i, 1, 1), (0, p, 1), dims=(1,))
        new = m.add(linalg.Contraction.of(a, row, m.zeros(k), m.loc()))
        return [m.store(new, c, (i, 1, 1), (0, k, 1), dims=(1,))]

    (final,) = m.loop(0, m.dim("n"), [c], body)
    assert empties(m.done(stored={0: final}), [array(3, 4), array(4, 5), array(3, 5)]) == 0


def test_a_fresh_value_materialised_in_an_argument() -> None:
    m = Maker("f", x=("n",), a=("n",))
    assert empties(m.done(stored={0: m.ew(ADD, m.args[0], m.args[1])}), [array(5), array(5)]) == 0


def accumulate(m: Maker, c: Any, b: Any, i: Any, read: bool = False) -> Any:
    """acc = zeros(p); for j in range(q): acc += b[j] (and c[0] if `read`)"""
    p, q = b.tensor_type.shape[1], b.tensor_type.shape[0]

    def body(j: Any, acc: Any) -> list[Any]:
        acc = m.store(m.ew(ADD, acc, m.view(b, (j, 1, 1), (0, p, 1), dims=(1,))), acc, *m.whole(acc))
        return [m.store(m.ew(ADD, acc, m.extract(c, 0, 0)), acc, *m.whole(acc))] if read else [acc]

    return m.loop(0, q, [m.zeros(p)], body, "j")[0]


@pytest.mark.parametrize("read", [False, True])
def test_an_accumulator_is_the_row_that_it_is_stored_to(read: bool) -> None:
    """for i in range(n): acc = zeros(p); for j in range(q): acc += b[j]; c[i] = acc. Not if the loop reads c."""
    m = Maker("f", c=("n", "p"), b=("q", "p"))
    c, b = m.args

    def body(i: Any, c: Any) -> list[Any]:
        return [m.store(accumulate(m, c, b, i, read), c, (i, 1, 1), (0, m.dim("p"), 1), dims=(1,))]

    (final,) = m.loop(0, m.dim("n"), [c], body)
    assert empties(m.done(stored={0: final}), [array(3, 4), array(5, 4)]) == read


def test_reads_apart() -> None:
    """for i in range(1, n): c[i] = a @ c[i - 1]; and c[i] = c[i - 1] + c[i], element-wise"""
    m = Maker("f", c=("n", "k"), a=("k", "k"))
    c, a = m.args
    k = m.dim("k")

    def body(i: Any, c: Any) -> list[Any]:
        last = m.view(c, (sub(i, 1), 1, 1), (0, k, 1), dims=(1,))
        product = m.add(linalg.Contraction.of(a, last, m.zeros(k), m.loc()))
        c = m.store(product, c, (i, 1, 1), (0, k, 1), dims=(1,))
        rows = [m.view(c, (at, 1, 1), (0, k, 1), dims=(1,)) for at in (sub(i, 1), i)]
        return [m.store(m.ew(ADD, *rows), c, (i, 1, 1), (0, k, 1), dims=(1,))]

    (final,) = m.loop(1, m.dim("n"), [c], body)
    assert empties(m.done(stored={0: final}), [array(3, 4) / 7, array(4, 4) / 7]) == 0
    assert out_of_place(m.func) == []


# -- one test a rule, named as the rule


def test_is_stored_only() -> None:
    """t = a + b; x[1:] = t; return t"""
    m = Maker("f", x=("n",), a=("k",), b=("k",))
    x, a, b = m.args
    t = m.ew(ADD, a, b)
    assert empties(m.done(t, stored={0: m.store(t, x, (1, m.dim("k"), 1))}), [array(6), array(5), array(5)]) == 1


def test_is_stored_densely() -> None:
    m = Maker("f", x=("n",), a=("n",))
    x, a = m.args
    new = m.store(m.ew(ADD, a, a), x, (0, m.dim("n"), 0))
    func = m.done(new)
    eliminate_empty_tensors(func)
    assert len(ops(func, "tensor.empty")) == 1


def test_reads_only_its_own_elements() -> None:
    """a[1:-1] = a[:-2] + a[2:]; a[...] = a[::-1] + 1; c[...] = c @ b; each keeps its one temporary"""
    m = Maker("f", a=("n",))
    (a,) = m.args
    less = sub(m.dim("n"), 2)
    new = m.store(m.ew(ADD, m.view(a, (0, less, 1)), m.view(a, (2, less, 1))), a, (1, less, 1))
    assert empties(m.done(stored={0: new}), [array(7)]) == 1
    m = Maker("f", a=("n",))
    (a,) = m.args
    n = m.dim("n")
    new = m.store(m.ew(ADD, m.view(a, (sub(n, 1), n, -1)), m.const(1.0)), a, *m.whole(a))
    assert empties(m.done(stored={0: new}), [array(7)]) == 1
    m = Maker("f", c=("n", "n"), b=("n", "n"))
    c, b = m.args
    product = m.add(linalg.Contraction.of(c, b, m.zeros(m.dim("n"), m.dim("n")), m.loc()))
    assert empties(m.done(stored={0: m.store(product, c, *m.whole(c))}), [array(3, 3), array(3, 3)]) == 1


def test_reads_only_its_own_elements_before_any_write() -> None:
    """t = ones(n); np.add(a, a, out=t); a[...] = t: a link after the first may not read what the first overwrote"""
    m = Maker("f", a=("n",))
    (a,) = m.args
    t = m.fill(1.0, m.empty(m.dim("n")))
    t = m.ew(ADD, a, a, out=t)
    assert empties(m.done(stored={0: m.store(t, a, *m.whole(a))}), [array(7)]) == 1


def test_passes_no_new_version() -> None:
    """t = a + 1; x[0] = a[0] = 5; x[...] = t: the sum may not move past the store to a"""
    m = Maker("f", a=("n",), x=("n",))
    a, x = m.args
    t = m.ew(ADD, a, m.const(1.0))
    a1, x1 = m.insert(m.const(5.0), a, 0), m.insert(m.const(5.0), x, 0)
    assert empties(m.done(stored={0: a1, 1: m.store(t, x1, *m.whole(x))}), [array(5), array(5)]) == 1


def test_passes_stores_to_other_storages() -> None:
    """t = a + 1; x[0] = 5; x[1:] = t: the sum moves behind the first store, where x[1:] is known"""
    m = Maker("f", a=("n",), x=("k",))
    a, x = m.args
    t = m.ew(ADD, a, m.const(1.0))
    x1 = m.insert(m.const(5.0), x, 0)
    assert empties(m.done(stored={1: m.store(t, x1, (1, m.dim("n"), 1))}), [array(5), array(6)]) == 0


def test_a_read_that_a_later_move_would_pass() -> None:
    """t = x + a; y[1:] = t; x[...] = y[:-1] * 2 with y then stored whole: nothing reads the wrong version"""
    m = Maker("f", a=("n",), x=("n",), y=("k",))
    a, x, y = m.args
    n = m.dim("n")
    t = m.ew(ADD, x, a)
    y1 = m.store(t, y, (1, n, 1))
    x1 = m.store(m.ew(MUL, m.view(y1, (0, n, 1)), m.const(2.0)), x, *m.whole(x))
    y2 = m.store(m.ew(ADD, m.view(y1, (1, n, 1)), x1), y1, (0, n, 1))
    assert empties(m.done(stored={1: x1, 2: y2}), [array(5), array(5), array(6)]) == 1


@pytest.mark.slow
def test_elimination_takes_linear_time() -> None:
    def prepare(length: int) -> Callable[[], object]:
        m = Maker("f", a=("n",), x=("n",))
        a, x = m.args
        for _ in range(length):
            x = m.store(m.ew(ADD, a, x), x, *m.whole(x))
        func = m.done(stored={1: x})

        def run() -> None:
            eliminate_empty_tensors(func)
            assert not ops(func, "tensor.empty", "tensor.insert_slice")

        return run

    assert growth(prepare, 100, below=9) < 9


@pytest.mark.slow
def test_a_slice_that_one_move_makes_is_the_destination_of_another() -> None:
    """It was taken for an op in a block: "tensor.extract_slice is in no block"."""

    def joined(data: Any) -> Any:
        low = 1
        for x in data:
            c = 0
            while c < 2:
                low = np.concatenate([np.concatenate([np.ravel(low + x), data]), data])
                c += 1
        return low

    climb(joined, (np.arange(2.0),), again=[(np.arange(1.0),)])


def sums_again(a: Any, n: int) -> Any:
    while n < 5:
        n += 1
        a = np.cumsum(a, axis=0)
    return a


def sums_in_two_loops(a: Any, n: int) -> Any:
    for i in range(n, 3):
        w = 0
        while w < 3 and i == 2:
            w += 1
            a = np.cumsum(a, axis=0)
        a = a[1:-1]
    return a


def stored_to_a_new_array(a: Any, n: int) -> Any:
    while n < 5:
        n += 1
        b = np.empty_like(a)
        b[1:] = a[:-1] + a[1:]
        b[0] = 0
        a = b
    return a


def shifted_on_one_path(a: Any, n: int) -> Any:
    while n < 5:
        n += 1
        b, c = a + 1, a
        if n > 2:
            c = b
        b[1:] = c[:-1] + c[1:]
        a = b
    return a


FROM_ITS_LAST = [(sums_again, 5), (sums_in_two_loops, 3), (stored_to_a_new_array, 5), (shifted_on_one_path, 10)]


@pytest.mark.parametrize(("f", "times"), one_in(3, FROM_ITS_LAST, rows=True))
def test_f1_an_array_that_a_while_loop_makes_from_its_last_one_is_stored_to_directly(
    f: Callable[..., Any], times: int
) -> None:
    """Each row was computed in an array of its own, which was then copied: the array that the loop makes and the one
    that it reads are one array's versions, but those of two iterations. Not so in the last, on one path."""
    g, a = tracebuf.bufferize(verify=True)(f), np.arange(36.0).reshape(6, 6)
    assert tracebuf.measure(g, a, 0, repeat=1).native.allocations <= times
    np.testing.assert_equal(g(a.copy(), 0), f(a.copy(), 0))


def column_by_its_part(z):
    z[:, 3] = np.imag(z[:, 3])


def all_by_its_part(z):
    z[:] = -z.imag


def added_to_by_its_part(z):
    z += z.real


def rows_by_both_parts(z):
    z[1:3] = z[1:3].real * z[1:3].imag + z[1:3]


def by_the_part_of_other_rows(z):
    z[1:3] = z[0:2].real * z[1:3].imag


def by_a_turned_part(z):
    z[:, 3] = z[:, 3].real[::-1]


BY_PARTS = {
    column_by_its_part: 0, all_by_its_part: 0, added_to_by_its_part: 0, rows_by_both_parts: 0,
    by_the_part_of_other_rows: 1, by_a_turned_part: 1,
}  # fmt: skip


@pytest.mark.parametrize(("dtype", "f"), one_in(4, product(["c8", "c16"], BY_PARTS), rows=True))
@pytest.mark.slow
def test_complex_numbers_replaced_by_what_is_made_of_their_parts(dtype, f) -> None:
    """The real or imaginary part of a number is read where the number is overwritten: it took a buffer."""
    z = (np.arange(30.0) + 1j * np.arange(30.0, 60.0)).reshape(6, 5).astype(dtype)
    climb(f, (z,), again=[(z[:, ::-1],), (z[::2],)])
    assert tracebuf.bufferize(f).call_counted(z.copy())[1].allocations == BY_PARTS[f]
