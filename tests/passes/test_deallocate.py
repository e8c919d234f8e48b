"""Deallocation: ownership (MLIR behaviours 51 to 59), simplification, lowering, frees at the last use.

Each program is judged after every pass: no leak, no double free, no use after free, nothing of the caller's freed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from tests.support.memref_programs import Fault, Maker, N, buffer_type, random_program, run
from tests.support.params import slow_but
from tracebuf.deallocate.facts import Origins, Sharing
from tracebuf.deallocate.lower import lower_deallocs
from tracebuf.deallocate.ownership import insert_deallocs
from tracebuf.deallocate.simplify import simplify_deallocs
from tracebuf.errors import UnsupportedError
from tracebuf.frontends.mlir import read
from tracebuf.interpret import memref as interpret
from tracebuf.ir.clone import clone_func
from tracebuf.ir.func import Func
from tracebuf.ir.types import I1, INDEX
from tracebuf.location import UNKNOWN
from tracebuf.ops.arrays import bufferization
from tracebuf.ops.control import scf
from tracebuf.ops.memory import memref
from tracebuf.optimize.buffers.assign_storage import assign_storage
from tracebuf.optimize.buffers.fold_memref import fold_memref
from tracebuf.optimize.buffers.shorten_liveness import shorten_liveness

BUFFER = buffer_type(N)
FULL = (insert_deallocs, simplify_deallocs, lower_deallocs, shorten_liveness, fold_memref, assign_storage)
ORDERS: tuple[Sequence[Callable[[Func], None]], ...] = (
    FULL,
    (fold_memref, *FULL),
    (insert_deallocs, lower_deallocs, fold_memref, shorten_liveness, assign_storage),
)


def names(f: Func, *wanted: str) -> list[str]:
    return [op.name for op in f.walk() if op.name in wanted]


def check_structure(f: Func) -> None:
    for op in f.walk():
        op.verify()
        assert op.block is not None and op in op.block.ops
        assert all(u.op is op and u.index == i and u in u.value.uses for i, u in enumerate(op.uses))
        assert all(r.owner is op and r.index == i for i, r in enumerate(op.results))
        assert all(u.op.block is not None for r in op.results for u in r.uses)


def hold(f: Func, runs: Sequence[Sequence[Any]]) -> list[Func]:
    """Every order of passes keeps what `f` computes and leaves no misuse of memory; the final programs."""
    want = [run(f, *args, leaks=True)[0] for args in runs]
    final = []
    for order in ORDERS:
        g, _ = clone_func(f)
        freed = False
        for step in order:
            step(g)
            freed |= step is insert_deallocs
            check_structure(g)
            assert [run(g, *args, leaks=not freed)[0] for args in runs] == want, step.__name__
        final.append(g)
    return final


def test_a_temporary_is_freed_once_and_unconditionally() -> None:
    m = Maker(BUFFER)
    t, result = m.alloc(), m.alloc()
    m.copy(m.args[0], t)
    m.copy(t, result)
    f = m.done(result)
    hold(f, [(4, None)])
    for step in FULL[:3]:
        step(f)
    assert names(f, "memref.dealloc", "scf.if", "tracebuf.same_base") == ["memref.dealloc"]
    assert f.block.ops[-2].name == "memref.dealloc" and f.block.ops[-2].operand(0) is t


def test_a_returned_argument_is_neither_freed_nor_cloned() -> None:
    m = Maker(BUFFER)
    hold(m.done(m.args[0], m.view(m.args[0])), [(4, None)])


def test_two_results_that_view_one_allocation() -> None:
    m = Maker()
    t = m.alloc()
    hold(m.done(m.view(t), m.view(t), t), [(4,)])


def pingpong(m: Maker, init: Any, trips: Any) -> list[Any]:
    """Each iteration yields a fresh buffer computed from the last one (copy before write)."""

    def body(i: Any, old: Any) -> list[Any]:
        new = m.alloc()
        m.copy(old, new)
        m.write(new)
        return [new]

    return m.loop(trips, [init], body)


def test_a_loop_frees_the_previous_iterations_buffer_but_not_the_argument() -> None:
    m = Maker(BUFFER, INDEX)
    f = m.done(*pingpong(m, m.args[0], m.args[1]))
    runs = [(4, None, trips) for trips in (0, 1, 2, 5)]
    for g in hold(f, runs)[:2]:
        (loop,) = [op for op in g.walk() if isinstance(op, scf.For)]
        assert [r.type for r in loop.results] == [BUFFER, I1]
        assert names(g, "tracebuf.same_base") == []
        assert run(g, 4, None, 5)[1].peak == 2


def test_a_loop_that_starts_from_a_temporary_frees_it() -> None:
    m = Maker(INDEX)
    f = m.done(*pingpong(m, m.alloc(), m.args[0]))
    hold(f, [(4, trips) for trips in (0, 1, 3)])


def test_a_loop_takes_over_a_temporary_that_it_begins_with() -> None:
    """It was held until the function's end: three buffers, and a flag for each iteration."""
    m = Maker(INDEX)
    f = m.done(*pingpong(m, m.alloc(), m.args[0]))
    for g in hold(f, [(4, trips) for trips in (0, 1, 3)])[:2]:
        assert names(g, "scf.if", "tracebuf.same_base") == []
        assert run(g, 4, 5)[1].peak == 2


def test_a_loop_does_not_take_over_what_is_used_after_it() -> None:
    m = Maker(INDEX, BUFFER)
    t = m.alloc()
    (last,) = pingpong(m, t, m.args[0])
    m.copy(t, m.args[1])
    hold(m.done(last), [(4, trips, None) for trips in (0, 1, 3)])


def test_a_loop_does_not_take_over_what_another_value_owns_too() -> None:
    """Both results of the scf.if are one buffer, and both say that they own it: a double free, when only one of them
    was handed over."""
    m = Maker(I1, INDEX)
    one, other = m.branch(m.args[0], lambda: [m.alloc()] * 2, lambda: [m.alloc(), m.alloc()])
    hold(m.done(*pingpong(m, one, m.args[1])), [(4, flag, trips) for flag in (True, False) for trips in (0, 1, 3)])


def test_a_carried_buffer_is_freed_before_the_next_is_made() -> None:
    """A name that each iteration binds anew without reading it: the flag is known, the free was at the end."""
    m = Maker(BUFFER, INDEX)

    def body(i: Any, old: Any) -> list[Any]:
        new = m.alloc()
        m.copy(m.args[0], new)
        return [new]

    (last,) = m.loop(m.args[1], [m.args[0]], body)
    for g in hold(m.done(last), [(4, None, trips) for trips in (0, 1, 3)])[:2]:
        assert run(g, 4, None, 5)[1].peak == 1


def test_a_loop_result_that_is_not_returned_is_freed_if_the_loop_ran() -> None:
    m = Maker(INDEX, BUFFER)
    (last,) = pingpong(m, m.alloc(), m.args[0])
    m.copy(last, m.args[1])
    for g in hold(m.done(), [(4, trips, None) for trips in (0, 1, 3)])[:2]:
        assert names(g, "tracebuf.same_base") == []


def test_a_loop_that_swaps_owns_nothing() -> None:
    m = Maker(BUFFER, INDEX)
    t = m.alloc()
    a, b = m.loop(m.args[1], [m.args[0], t], lambda i, a, b: [m.copy(a, b), a])
    f = m.done(a)
    for g in hold(f, [(4, None, trips) for trips in (0, 1, 2, 3)])[:2]:
        (loop,) = [op for op in g.walk() if isinstance(op, scf.For)]
        assert all(r.type is not I1 for r in loop.results)


def test_one_fresh_buffer_carried_twice_is_freed_once() -> None:
    m = Maker(BUFFER, INDEX)

    def body(i: Any, a: Any, b: Any) -> list[Any]:
        new = m.alloc()
        m.copy(a, new)
        m.copy(b, new)
        return [new, new]

    a, b = m.loop(m.args[1], [m.args[0], m.args[0]], body)
    m.copy(a, m.args[0])
    m.copy(b, m.args[0])
    hold(m.done(), [(4, None, trips) for trips in (0, 1, 3)])


def test_a_buffer_of_one_branch_that_is_not_returned() -> None:
    """It is freed under a flag, without comparing addresses."""
    m = Maker(BUFFER, I1)
    a, flag = m.args
    (r,) = m.branch(flag, lambda: [m.alloc()], lambda: [a])
    m.copy(r, a)
    for g in hold(m.done(), [(4, None, True), (4, None, False)])[:2]:
        assert names(g, "tracebuf.same_base") == []


def test_an_if_that_passes_on_an_outer_temporary_or_a_fresh_one() -> None:
    """The temporary is returned on one branch only: on the other it is freed there (handover.py, `handed_to_branches`),
    not at the end."""
    m = Maker(BUFFER, I1)
    a, flag = m.args
    t = m.alloc()
    (r,) = m.branch(flag, lambda: [m.alloc()], lambda: [t])
    m.copy(r, a)
    for g in hold(m.done(r), [(4, None, True), (4, None, False)]):
        assert [op.parent_op is not None for op in g.walk() if op.name == "memref.dealloc"] == [True]


def test_both_branches_fresh_gives_an_unconditional_free() -> None:
    m = Maker(BUFFER, I1)
    (r,) = m.branch(m.args[1], lambda: [m.alloc()], lambda: [m.alloc()])
    m.copy(r, m.args[0])
    f = m.done()
    hold(f, [(4, None, True), (4, None, False)])
    for step in FULL[:3]:
        step(f)
    assert [op.name for op in f.block.ops[-2:]] == ["memref.dealloc", "func.return"]
    assert [len(op.results) for op in f.walk() if isinstance(op, scf.If)] == [1]


def test_a_free_moves_up_to_the_last_use_through_views_and_regions() -> None:
    m = Maker(BUFFER, I1)
    t = m.alloc()
    part = m.view(t)
    u = m.alloc(2)
    (r,) = m.branch(m.args[1], lambda: [m.copy(part, u), t][1:], lambda: [m.args[0]])
    m.copy(r, m.args[0])
    m.write(m.args[0])
    f = m.done()
    hold(f, [(4, None, True), (4, None, False)])
    for step in FULL[:4]:
        step(f)
    ops = [(op.name, op.operand(0) if op.uses else None) for op in f.block.ops]
    assert ops.index(("memref.dealloc", u)) < ops.index(("memref.copy", r)) == ops.index(("memref.dealloc", t)) - 1


def test_a_program_with_frees_is_refused() -> None:
    m = Maker()
    t = m.alloc()
    m.add(memref.Dealloc.of(t, UNKNOWN))
    with pytest.raises(UnsupportedError, match=r"memref.dealloc: the program frees already"):
        insert_deallocs(m.done())


NOT_FOLLOWED = {
    "branches": (
        """
    "cf.cond_br"(%c)[^bb1, ^bb2] <{operandSegmentSizes = array<i32: 1, 0, 0>}> : (i1) -> ()
  ^bb1:
    %a = "memref.alloc"() <{operandSegmentSizes = array<i32: 0, 0>}> : () -> memref<4xf64>
    "cf.br"(%a)[^bb3] : (memref<4xf64>) -> ()
  ^bb2:
    "cf.br"(%m)[^bb3] : (memref<4xf64>) -> ()
  ^bb3(%r: memref<4xf64>):""",
        "cf.cond_br: branches between blocks",
    ),
    "an unknown op with a region": (
        """
    %r = "lab.scope"() ({
      %a = "memref.alloc"() <{operandSegmentSizes = array<i32: 0, 0>}> : () -> memref<4xf64>
      "lab.end"(%a) : (memref<4xf64>) -> ()
    }) : () -> memref<4xf64>""",
        "lab.scope: what it does with buffers is not known",
    ),
    "an unknown op": (
        """
    %r = "lab.view"(%m) : (memref<4xf64>) -> memref<4xf64>""",
        "lab.view: what it does with buffers is not known",
    ),
    "a region that is not followed": (
        """
    %r = "scf.execute_region"() ({
      %a = "memref.alloc"() <{operandSegmentSizes = array<i32: 0, 0>}> : () -> memref<4xf64>
      "scf.yield"(%a) : (memref<4xf64>) -> ()
    }) : () -> memref<4xf64>""",
        "scf.execute_region: buffers are not followed through its regions",
    ),
    "a buffer of unknown ownership": (
        """
    %t = "bufferization.to_tensor"(%m) : (memref<4xf64>) -> tensor<4xf64>
    %r = "bufferization.to_buffer"(%t) : (tensor<4xf64>) -> memref<4xf64>""",
        "bufferization.to_buffer: it is not known who owns the buffer",
    ),
}


@pytest.mark.parametrize("name", NOT_FOLLOWED)
def test_what_is_not_followed_is_refused(name: str) -> None:
    """There were wrong programs: a use after free, leaks, a result that was freed."""
    body, said = NOT_FOLLOWED[name]
    signature = "function_type = (i1, memref<4xf64>) -> memref<4xf64>"
    head = f'"func.func"() <{{{signature}, sym_name = "f"}}> ({{\n  ^bb0(%c: i1, %m: memref<4xf64>):'
    func = read(f'{head}{body}\n    "func.return"(%r) : (memref<4xf64>) -> ()\n}}) : () -> ()', "a.mlir").funcs[0]
    before = repr(func)
    with pytest.raises(UnsupportedError, match=re.escape(said)) as caught:
        insert_deallocs(func)
    location = caught.value.location
    assert location is not None and location.file == "a.mlir" and location.line in (3, 4)
    assert repr(func) == before


def test_lowering_frees_an_owned_buffer_after_an_unowned_alias() -> None:
    """dealloc (a, a) if (false at run time, true): the second frees it, once."""
    m = Maker(I1, I1)
    t = m.alloc()
    m.add(bufferization.Dealloc.of([t, t], m.args, [], UNKNOWN))
    f = m.done()
    lower_deallocs(f)
    for flags in ((False, True), (True, False), (True, True)):
        run(f, 4, *flags)
    with pytest.raises(Fault, match="leak"):
        run(f, 4, False, False)


@pytest.mark.parametrize("block", slow_but((0,), range(8)))
def test_random_programs(block: int) -> None:
    for seed in range(10 * block, 10 * block + 10):
        f, n_flags = random_program(seed)
        flags = [bool(seed >> k & 1) for k in range(n_flags)]
        for g in hold(f, [(4, None, None, trips, *flags) for trips in (0, 1, 3)]):
            interpret.run(g, [4, np.zeros(4), np.zeros(4), 2, *flags])


@pytest.mark.parametrize("steps", slow_but((len(FULL),), range(1, len(FULL) + 1)))
def test_the_memref_interpreter_agrees(steps: int) -> None:
    for seed in range(80, 90):
        f, n_flags = random_program(seed)
        for step in FULL[:steps]:
            step(f)
        for trips in (0, 1, 3):
            flags = [bool(seed >> k & 1) for k in range(n_flags)]
            interpret.run(f, [4, np.zeros(4), np.zeros(4), trips, *flags])


def test_buffers_that_many_branches_swap() -> None:
    """Whether two of them are apart was asked through all branches one inside another: a RecursionError."""
    m = Maker(I1)
    a, b = first = m.alloc(), m.alloc()
    for _ in range(500):
        a, b = m.branch(m.args[0], lambda p=(b, a): p, lambda p=(a, b): p)  # type: ignore[misc]
    m.copy(a, b)
    m.done()
    assert Origins().sharing(a, b) is Sharing.NO
    assert Origins().sharing(a, first[0]) is Sharing.MAY
