"""The cost model: what it says of small programs, and that it says what the interpreter measures."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.support.ir_programs import PROGRAMS, Maker
from tests.support.params import one_in, slow_but
from tests.support.random_programs import STRATEGIES, random_args, random_func
from tracebuf.analysis.cost.cost import Assumptions, Cost, CostModel
from tracebuf.analysis.one_shot.dataflow import Dataflow
from tracebuf.analysis.one_shot.one_shot import one_shot
from tracebuf.bufferize.rewrite import bufferize
from tracebuf.interpret import memref as memref_interpreter
from tracebuf.interpret.memory import Memory, MemRef
from tracebuf.ir.func import Func
from tracebuf.ir.types import F64, I1
from tracebuf.ops.memory import memref

N = 16
BYTES = 8 * N


def cost(f: Func, *, strategy: str = "one-shot", **assumed: float) -> Cost:
    return CostModel(Dataflow(f), Assumptions(**assumed)).cost(STRATEGIES[strategy](f))  # type: ignore[arg-type]


def writable(m: Maker) -> Maker:
    for attrs in m.func.arg_attrs:
        attrs["bufferization.writable"] = True
    return m


# -- what it says ----------------------------------------------------------------------------------------------------


def test_a_copy_reads_and_writes_and_an_allocation_is_its_bytes() -> None:
    m = Maker("f", a=(N,), x=F64)
    f = m.done(m.insert(m.args[1], m.args[0], 0))
    found = cost(f)
    assert [item.kind for item in found.items] == ["allocation", "copy"] and found.bytes == 3 * BYTES
    assert all(item.because is f.block.ops[-2].uses[1] for item in found.items)


def test_contents_that_nobody_reads_are_not_copied() -> None:
    m = Maker("f", a=(N,), x=F64)
    assert cost(m.done(m.fill(m.args[1], m.args[0]))).bytes == BYTES


def test_where_only_an_alias_is_made_the_part_is_copied() -> None:
    m = writable(Maker("f", a=(N,)))
    (a,) = m.args
    f = m.done(m.store(m.view(a, (0, 8, 1)), a, (4, 8, 1)))
    assert cost(f).bytes == 8 * 8 * (1 + 2 + 2)  # the old part kept, and the store itself


def test_a_part_computed_in_place_is_stored_for_nothing() -> None:
    m = writable(Maker("f", a=(N,), x=F64))
    a, x = m.args
    assert cost(m.done(m.store(m.fill(x, m.view(a, (2, 4, 1))), a, (2, 4, 1)))).bytes == 0


def test_a_new_array_that_nobody_uses_is_not_made() -> None:
    m = Maker("f", x=F64)
    f = m.done(m.fill(m.args[0], m.empty(N)))
    assert cost(f).bytes == BYTES
    assert cost(f, strategy="copy-before-write").bytes == BYTES


def loop_with_copies(upper: int | str) -> Func:
    """Each iteration needs the old values: a[0] = x, in a copy of an argument that is only read."""
    m = Maker("f", a=(N,), b=(N,), k=(2 if isinstance(upper, int) else upper,), x=F64)
    a, b, _, x = writable(m).args

    def body(i: Any, b: Any) -> list[Any]:
        return [m.insert(m.extract(m.insert(x, a, i), 0), b, i)]

    return m.done(*m.loop(0, upper if isinstance(upper, int) else m.dim(upper), [b], body), a)


def test_known_iterations_count_exactly_and_others_as_assumed() -> None:
    assert cost(loop_with_copies(4)).bytes == 4 * 3 * BYTES
    assert cost(loop_with_copies("n")).bytes == 10 * 3 * BYTES
    assert cost(loop_with_copies("n"), trips=7).bytes == 7 * 3 * BYTES


def test_what_a_loop_may_not_hand_on_is_copied_in_each_iteration() -> None:
    m = writable(Maker("f", a=(N,), b=(N,)))
    f = m.done(*m.loop(0, 4, m.args, lambda i, a, b: [b, a]))
    model = CostModel(Dataflow(f))
    assert model.cost(one_shot(f)).bytes == 0
    assert model.cost(one_shot(f, compat="mlir")).bytes == 4 * 2 * 3 * BYTES


def test_branches_count_by_half() -> None:
    m = writable(Maker("f", a=(N,), x=F64, p=I1))
    a, x, p = m.args
    (new,) = m.branch(p, lambda: [m.insert(x, a, 0)], lambda: [a], [a.type])
    f = m.done(new, a)
    assert cost(f).bytes == 1.5 * BYTES and cost(f, then=1.0).bytes == 3 * BYTES and cost(f, then=0.0).bytes == 0


def test_sizes_are_assumed() -> None:
    m = Maker("f", a=("n",), x=F64)
    f = m.done(m.insert(m.args[1], m.args[0], 0))
    assert cost(f).bytes == 3 * 8 * 100 and cost(f, size=7).bytes == 3 * 8 * 7


def test_more_on_one_way_is_more_though_it_is_not_in_sum() -> None:
    """Two copies in one branch may run where one in each may not."""
    m = writable(Maker("f", a=(N,), x=F64, p=I1))
    a, x, p = m.args
    m.branch(p, lambda: [m.insert(x, a, 0)], lambda: [m.insert(x, a, 1)], [a.type])
    f = m.done(a)
    model = CostModel(Dataflow(f))
    each, none = model.cost(STRATEGIES["copy-before-write"](f)), Cost((), 0)
    half = len(each.items) // 2
    assert each.items[0].block is not each.items[half].block
    one_way = Cost((*each.items[:half], *each.items[:half]), each.bytes)
    assert model.exceeds(each, none) and not model.exceeds(none, each) and not model.exceeds(each, each)
    assert model.exceeds(one_way, each) and model.exceeds(each, one_way)


# -- what is measured ------------------------------------------------------------------------------------------------


@pytest.fixture
def moved(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The bytes of every copy, the program's own stores included; nothing frees yet at this stage."""
    found: list[int] = []
    copy = Memory.copy

    def counted(self: Memory, source: MemRef, target: MemRef, is_counted: bool) -> None:
        found.append(source.array.nbytes)
        copy(self, source, target, is_counted)

    monkeypatch.setattr(Memory, "copy", counted)
    monkeypatch.setattr(Memory, "check_leaks", lambda self, refs: None)
    return found


def measured(program: Func, args: list[Any], moved: list[int]) -> int:
    """What a run allocates and copies; new arrays that nobody uses are taken out before."""
    for op in list(program.walk()):
        if isinstance(op, memref.Alloc) and not op.result.uses:
            op.erase()
    moved.clear()
    with np.errstate(all="ignore"):
        counts = memref_interpreter.run(program, args).counts
    return counts.allocated_bytes + 2 * sum(moved)


@pytest.mark.slow
@pytest.mark.parametrize("strategy", slow_but(("one-shot",), STRATEGIES))
def test_the_model_says_what_random_programs_do(strategy: str, moved: list[int]) -> None:
    """To the byte, if it is told which branch is taken and how often an scf.while goes round."""
    for seed in range(25):
        f = random_func(seed, ops=6 + seed % 10, defined=True)
        analysis = STRATEGIES[strategy](f)
        for taken in (True, False):
            args = random_args()
            args[5] = taken
            run = measured(bufferize(f, analysis), args, moved)
            said = CostModel(Dataflow(f), Assumptions(trips=3, then=float(taken))).cost(analysis)
            assert said.bytes == run, f"seed {seed}\n{f!r}"


@pytest.mark.parametrize("program", one_in(6, PROGRAMS), ids=lambda p: p.name)
def test_the_model_orders_strategies_as_runs_do(program: Any, moved: list[int]) -> None:
    f = program.build()
    found = []
    for name in STRATEGIES:
        run = measured(bufferize(f, STRATEGIES[name](f)), program.arguments(), moved)
        found.append((cost(f, strategy=name).bytes, run))
    assert [run for _, run in sorted(found)] == sorted(run for _, run in found)
