"""strategy="optimal": no decisions cost less (tried one by one on small programs), and the certificate shows it."""

from __future__ import annotations

import itertools
import random
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.support.ir_programs import PROGRAMS, Maker, Program
from tests.support.params import amount, one_in, slow_but
from tests.support.random_programs import random_args, random_func
from tests.support.rules import double, finish, maker
from tracebuf import bufferize, mlir
from tracebuf.analysis.cost.certificate import Node
from tracebuf.analysis.cost.choose import analyze
from tracebuf.analysis.cost.cost import CostModel
from tracebuf.analysis.cost.optimal import Optimal, optimal, rotations
from tracebuf.analysis.cost.problem import Assigned, components
from tracebuf.analysis.cost.several_orders import ORDERS
from tracebuf.analysis.one_shot.one_shot import one_shot, undecided
from tracebuf.bufferize.rewrite import bufferize as rewrite
from tracebuf.errors import InternalError
from tracebuf.interpret import memref as memref_interpreter
from tracebuf.interpret import tensor as tensor_interpreter
from tracebuf.interpret.memory import Memory
from tracebuf.ir.core import Value
from tracebuf.ir.func import Func
from tracebuf.ir.types import F64
from tracebuf.options import Options
from tracebuf.pipeline import to_memref

N = 16


@pytest.fixture
def leaky(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing frees yet at this stage."""
    monkeypatch.setattr(Memory, "check_leaks", lambda self, refs: None)


def choices(f: Func) -> list[Any]:
    """The operands that are not bound to be in place."""
    start = undecided(f)
    return [u for op in f.walk() for u in op.tensor_uses() if not start.must_be_in_place(u, branches=False)]


def least_of_all(f: Func) -> float:
    """The least cost among all legal decisions, each looked at, with loops that rotate buffers and without."""
    least, uses = float("inf"), choices(f)
    for start in (undecided(f), undecided(f).without("rotation")):
        model = CostModel(start.flow)
        for which in itertools.product((False, True), repeat=len(uses)):
            out = frozenset(u for u, is_out in zip(uses, which) if is_out)
            replayed = start.again().force_all(branches=False)
            if all(replayed.attempt(u) is None for u in uses if u not in out):
                least = min(least, model.cost(Assigned(start, out)).bytes)
        if not rotations(start):
            break
    return least


def parts_of_versions(m: Maker, a: Value, x: Value, n: int, seed: int) -> list[Value]:
    """Parts of versions of one array, each used after later versions were made; and the last version."""
    rng, parts, ends = random.Random(seed), [], []
    for _ in range(n):
        size = rng.choice([4, 8, 16, 32])
        parts.append(m.view(a, (rng.randrange(0, 65 - size), size, 1)))
        if rng.random() < 0.5:
            a = m.insert(x, a, rng.randrange(64))
        else:
            at = (rng.randrange(0, 57), 8, 1)
            a = m.store(m.fill(x, m.view(a, at)), a, at)
        if rng.random() < 0.6:
            part = rng.choice(parts)
            ends.append(double(m, part, m.empty(*part.tensor_type.shape)))
    return [a, *ends, *rng.sample(parts, n // 3)]


def puzzle(n: int, seed: int, *, copies: int = 1) -> Func:
    m = maker(x=F64, **{f"a{k}": (64,) for k in range(copies)})
    x, *arrays = m.args
    return finish(m, *(v for a in arrays for v in parts_of_versions(m, a, x, n, seed)))


def undecided_operands(found: Optimal) -> int:
    """The operands in cores, less those that conflict alone."""
    return sum(len(set().union(*s.problem.cores) - s.root.out) for s in found.certificate.searches)


# -- least -----------------------------------------------------------------------------------------------------------


def small_programs(first: int, last: int) -> list[Func]:
    funcs = (random_func(seed, ops=2 + seed % 6, defined=True) for seed in range(first, last))
    return [f for f in funcs if len(choices(f)) <= 8]


def same_as_brute_force(f: Func) -> None:
    found = optimal(f)
    assert found.certificate.proved and found.certificate.cost == least_of_all(f), repr(f)
    found.certificate.check()


@pytest.mark.slow
def test_no_decisions_cost_less() -> None:
    for f in small_programs(0, 60):
        same_as_brute_force(f)


@pytest.mark.slow
def test_no_decisions_cost_less_in_many_programs() -> None:
    for f in small_programs(60, amount(160, 700)):
        same_as_brute_force(f)


@pytest.mark.slow
def test_never_dearer_than_an_order_or_a_seed() -> None:
    better = 0
    for seed in range(25):
        f = random_func(seed, ops=6 + seed % 20, defined=True)
        found = optimal(f)
        model = CostModel(found.flow)
        others = [one_shot(f, heuristic=order) for order in ORDERS] + [analyze(f)]
        others += [one_shot(f, heuristic="fuzzer", seed=s) for s in range(8)]
        least = min(model.cost(o).bytes for o in others)
        assert found.certificate.cost <= least and model.cost(found).bytes == found.certificate.cost, f"seed {seed}"
        better += found.certificate.cost < least
        found.certificate.check()
    assert better


def test_a_new_buffer_is_handed_on_where_the_old_one_would_be_copied() -> None:
    """What is made in the place of an outer array is copied at the end of each iteration; made elsewhere it is not."""
    m = maker(a=(N,), b=(N,), x=F64)
    a, b, x = m.args
    f = finish(m, *m.loop(0, 4, [a], lambda i, p: [double(m, m.fill(x, b), b)]))
    model = CostModel(undecided(f).flow)
    assert model.cost(one_shot(f)).bytes == 4 * 3 * 8 * N
    found = optimal(f)
    assert found.certificate.cost == 4 * 8 * N
    assert [c.rule for c in found.certificate.conflicts.values()] == ["dearer"]
    found.certificate.check()


# -- time ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", slow_but((0,), range(4)))
@pytest.mark.slow
def test_forty_undecided_operands(seed: int) -> None:
    found = optimal(puzzle(30, seed), nodes=1000)
    assert undecided_operands(found) >= 39 and found.certificate.proved
    found.certificate.check()


def test_what_does_not_interact_is_solved_apart() -> None:
    one, three = optimal(puzzle(12, 0)).certificate, optimal(puzzle(12, 0, copies=3)).certificate
    assert three.cost == 3 * one.cost and three.nodes == 3 * one.nodes
    assert len(components(undecided(puzzle(12, 0, copies=3)))) > 3


@pytest.mark.slow
def test_a_limit_of_nodes() -> None:
    found = optimal(puzzle(20, 2), nodes=3).certificate
    assert not found.proved and found.lower_bound < optimal(puzzle(20, 2)).certificate.cost <= found.cost
    assert "not proved: at least" in str(found)
    found.check()


@pytest.mark.slow
def test_a_limit_of_attempts(monkeypatch: pytest.MonkeyPatch) -> None:
    """A branch of a large program tries each of its operands, again and again: the nodes were few, and there was no
    end."""
    best = optimal(puzzle(20, 2)).certificate.cost
    monkeypatch.setattr("tracebuf.analysis.cost.optimal.ATTEMPTS", 100)
    found = optimal(puzzle(20, 2)).certificate
    assert not found.proved and found.lower_bound < best <= found.cost
    found.check()


def test_what_is_costed_counts_as_attempts(monkeypatch: pytest.MonkeyPatch) -> None:
    """The cost of a large program took longer than all attempts: the search had no end."""
    monkeypatch.setattr("tracebuf.analysis.cost.problem.Problem._attempt", lambda self, done, use: done.attempt(use))
    monkeypatch.setattr("tracebuf.analysis.cost.optimal.ATTEMPTS", 100)
    assert not optimal(puzzle(20, 2)).certificate.proved


# -- the certificate -------------------------------------------------------------------------------------------------


def test_a_certificate_tells_what_would_go_wrong() -> None:
    m = maker(a=(N,), x=F64)
    a, x = m.args
    f = finish(m, m.insert(x, a, 0), m.extract(a, 0), a)
    found = optimal(f).certificate
    assert (found.cost, found.lower_bound, found.proved) == (3 * 8 * N, 3 * 8 * N, True)
    (conflict,) = found.conflicts.values()
    assert conflict.rule == "read after write" and conflict.definition is a
    assert "cost 384 (bytes under the cost model), proved to be the least" in str(found)
    assert "operand 1 of tensor.insert" in found.as_text()


def test_a_wrong_certificate_is_found_out() -> None:
    f = puzzle(8, 1)
    found = optimal(f).certificate
    with pytest.raises(InternalError, match="cost"):
        replace(found, cost=found.cost - 8).check()
    with pytest.raises(InternalError, match="other decisions"):
        replace(found, conflicts={}).check()
    everything = undecided(f)
    for use in choices(f):
        everything._use_in_place(use)
    with pytest.raises(InternalError, match="not legal"):
        replace(found, analysis=everything).check()
    with pytest.raises(InternalError, match="not searched for"):
        replace(found, searches=()).check()
    (search,) = found.searches
    cheaper = replace(search, root=Node(search.root.out, frozenset()))
    with pytest.raises(InternalError, match="cheaper"):
        replace(found, searches=(cheaper,)).check()
    cut = Node(search.root.out, search.root.kept)
    cut.split(search.root.branch[:1], search.root.core)
    with pytest.raises(InternalError, match="leaves out an operand"):
        replace(found, searches=(replace(search, root=cut),)).check()


# -- what it computes ------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_random_programs_compute_the_same(leaky: None) -> None:
    for seed in range(40):
        f = random_func(seed, ops=6 + seed % 10, defined=True)
        with np.errstate(all="ignore"):
            expected = tensor_interpreter.run(f, random_args()).results
            got = memref_interpreter.run(rewrite(f, optimal(f)), random_args()).results
        for x, y in zip(got, expected, strict=True):
            np.testing.assert_array_equal(x, y, err_msg=f"seed {seed}\n{f!r}")


@pytest.mark.parametrize("program", one_in(6, PROGRAMS), ids=lambda p: p.name)
def test_programs_compute_what_numpy_does(program: Program) -> None:
    args, eager_args = program.arguments(), program.arguments()
    func = to_memref(program.build(), Options(strategy="optimal", verify=True))
    got, expected = memref_interpreter.run(func, args).results, program.eager(*eager_args)
    expected = () if expected is None else expected if isinstance(expected, tuple) else (expected,)
    for x, y in zip([*got, *args], [*expected, *eager_args], strict=True):
        np.testing.assert_array_equal(x, y)


@pytest.mark.slow
def test_numpy_functions() -> None:
    @bufferize(strategy="optimal")
    def f(a: np.ndarray) -> Any:
        b = a * 2
        old = b[:4] + 1
        b[2:6] = b[:4]
        return b, old

    for x, y in zip(f(np.arange(8.0)), f.__wrapped__(np.arange(8.0)), strict=True):
        np.testing.assert_array_equal(x, y)
    told = f.explain(np.arange(8.0))
    assert told.certificate is not None and told.certificate.proved and "proved to be the least" in str(told)
    assert "proved to be the least" in f.lower(np.arange(8.0)).as_text("certificate")
    assert bufferize(f.__wrapped__).explain(np.arange(8.0)).certificate is None


TEXT = """
"builtin.module"() ({
"func.func"() <{function_type = (tensor<8xf64>, f64) -> (tensor<8xf64>, tensor<4xf64>), sym_name = "f"}> ({
^bb0(%a: tensor<8xf64>, %x: f64):
  %part = "tensor.extract_slice"(%a) <{operandSegmentSizes = array<i32: 1, 0, 0, 0>, static_offsets = array<i64: 0>,
    static_sizes = array<i64: 4>, static_strides = array<i64: 1>}> : (tensor<8xf64>) -> tensor<4xf64>
  %new = "linalg.fill"(%x, %part) <{operandSegmentSizes = array<i32: 1, 1>}> ({
  ^bb0(%in: f64, %out: f64):
    "linalg.yield"(%in) : (f64) -> ()
  }) : (f64, tensor<4xf64>) -> tensor<4xf64>
  "func.return"(%a, %new) : (tensor<8xf64>, tensor<4xf64>) -> ()
}) : () -> ()
}) : () -> ()
"""


def test_programs_of_mlir_text() -> None:
    module = mlir.read(TEXT)
    options = replace(mlir.DEFAULT, analysis_heuristic="optimal")
    f = mlir.program(module, "f", options)
    for got in (f(np.arange(8.0), 2.5), f.on_values(np.arange(8.0), 2.5), f.on_memory(np.arange(8.0), 2.5).results):
        np.testing.assert_array_equal(got[0], np.arange(8.0))
        np.testing.assert_array_equal(got[1], np.full(4, 2.5))
    assert f.on_memory(np.arange(8.0), 2.5).counts.copies == 0
    with pytest.raises(ValueError, match="heuristic is one of"):
        mlir.program(mlir.read(TEXT), "f", replace(options, compat="mlir"))
