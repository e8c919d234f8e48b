"""The analysis is replaceable: any object that answers `is_in_place` takes part, and cannot change the results."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest

from tests.support.ir_programs import PROGRAMS, Maker, Program
from tests.support.params import one_in
from tests.support.random_programs import random_func
from tracebuf import bufferize as decorator
from tracebuf.analysis.modules.module import analyze_module
from tracebuf.analysis.one_shot.chosen import trusted
from tracebuf.analysis.one_shot.one_shot import one_shot
from tracebuf.bufferize.module import bufferize_module
from tracebuf.bufferize.rewrite import bufferize
from tracebuf.errors import DecisionError
from tracebuf.interpret import memref as memref_interpreter
from tracebuf.interpret import tensor as tensor_interpreter
from tracebuf.ir.core import Use
from tracebuf.ir.func import Func, Module
from tracebuf.ops.control import scf
from tracebuf.ops.control.func import Call
from tracebuf.ops.scalars import arith
from tracebuf.options import OneShotOptions


@dataclass
class Mine:
    """An analysis with one answer, and no base class of ours."""

    answer: Callable[[Use], bool]

    def is_in_place(self, use: Use) -> bool:
        return self.answer(use)


def always(func: Func) -> Mine:
    return Mine(lambda use: True)


def never(func: Func) -> Mine:
    return Mine(lambda use: False)


def only_when_forced(func: Func) -> Mine:
    return Mine(lambda use: use.op.must_bufferize_in_place(use))


def also_copying_in_branches(func: Func) -> Mine:
    return Mine(lambda use: use.op.must_bufferize_in_place(use) and not isinstance(use.op.parent_op, scf.If))


def as_one_shot(func: Func) -> Mine:
    return Mine(one_shot(func).is_in_place)


def blur(a, b):  # type: ignore[no-untyped-def]
    a[1:-1] = a[2:] + a[:-2]
    return a * b


ARGS = np.arange(8.0), np.ones(8)


@pytest.mark.parametrize("strategy", [only_when_forced, as_one_shot])
def test_an_object_with_one_answer_takes_part(strategy: Callable[[Func], Mine]) -> None:
    a, b = (x.copy() for x in ARGS)
    result = decorator(strategy=strategy, verify=True)(blur)(a, b)
    eager = ARGS[0].copy()
    assert np.array_equal(result, blur(eager, ARGS[1])) and np.array_equal(a, eager)


def test_what_is_in_place_but_conflicts_is_refused() -> None:
    def flip(a):  # type: ignore[no-untyped-def]
        a[:] = a[::-1]

    told = r"operand \d of \S+ .line \d+. is in place, but `a\[:\]` .line \d+. reads elements that it also"
    with pytest.raises(DecisionError, match=told):
        decorator(strategy=always)(flip)(ARGS[0].copy())


def test_what_must_be_in_place_and_is_not_is_refused() -> None:
    with pytest.raises(DecisionError, match=r"operand 0 of func.return .line \d+. is out of place, but must be"):
        decorator(strategy=never)(blur)(*ARGS)


def test_what_does_not_answer_is_refused() -> None:
    with pytest.raises(DecisionError, match=re.escape("answers is_in_place(use), which a int does not")):
        decorator(strategy=lambda func: 3)(blur)(*ARGS)
    with pytest.raises(ValueError, match="strategy must be one of"):
        decorator(strategy="mine")(blur)


def test_read_only_buffers_are_refused() -> None:
    m = Maker("f", x=("n",))
    f = m.done(m.ew(arith.NegF, m.args[0], out=m.args[0]))
    with pytest.raises(DecisionError, match=r"operand 1 of linalg.generic .* would store into `x`, which is read-only"):
        bufferize(f, always(f))


def test_trusted_decisions_are_not_tested() -> None:
    m = Maker("f", x=("n",))
    m.done(m.ew(arith.NegF, m.args[0], out=m.args[0]))
    assert [op.name for op in bufferize(m.func, trusted(m.func, always(m.func))).walk()][-1] == "func.return"


def test_why_an_operand_is_copied_is_told() -> None:
    m = Maker("f", x=("n",))
    f = m.done(m.ew(arith.NegF, m.args[0], out=m.args[0]))
    reasons = [op.attrs["reason"] for op in bufferize(f, only_when_forced(f)).walk() if op.name == "memref.alloc"]
    assert reasons == ["the chosen analysis does not let line 4 use the operand in place"]


@pytest.mark.parametrize("program", one_in(6, PROGRAMS), ids=lambda p: p.name)
def test_programs_compute_the_same(program: Program) -> None:
    for strategy in (only_when_forced, also_copying_in_branches, as_one_shot):
        f, args = program.build(), program.arguments()
        expected = tensor_interpreter.run(f, args)
        found = memref_interpreter.run(bufferize(f, strategy(f)), args, may_leak=True)
        for x, y in zip(found.results, expected.results, strict=True):
            np.testing.assert_array_equal(x, y)
        for i, final in expected.arguments.items():
            np.testing.assert_array_equal(args[i], final)


@pytest.mark.slow
def test_what_one_shot_decides_is_legal_in_any_order() -> None:
    for seed in range(40):
        f = random_func(seed)
        for heuristic in ("bottom-up", "top-down", "fuzzer"):
            decided = one_shot(f, heuristic=heuristic, seed=seed)
            assert bufferize(f, Mine(decided.is_in_place)), heuristic


def caller_and_callee() -> Module:
    """`g` overwrites its argument, and `f` reads what it gave to `g`."""
    g = Maker("g", x=("n",))
    g.func.arg_attrs[0]["bufferization.writable"] = True
    g.done(g.ew(arith.NegF, g.args[0], out=g.args[0]))
    f = Maker("f", x=("n",))
    f.func.arg_attrs[0]["bufferization.writable"] = True
    called = f.add(Call.of("g", [f.args[0]], [f.args[0].type], f.loc()))
    f.done(called, f.args[0])
    return Module([g.func, f.func])


@pytest.mark.parametrize("decide", [only_when_forced, as_one_shot, None])
def test_modules_take_an_analysis_of_ones_own(decide: Callable[[Func], Mine] | None) -> None:
    module, options = caller_and_callee(), OneShotOptions(bufferize_function_boundaries=True)
    program = bufferize_module(module, analyze_module(module, options, decide), options)
    copies = {f.name: sum(op.name == "memref.copy" for op in f.walk()) for f in program.funcs}
    assert copies == {"g": 0, "f": 0 if decide is only_when_forced else 1}  # who copies nothing in g reads there only


def test_what_would_change_a_caller_is_refused() -> None:
    module, options = caller_and_callee(), OneShotOptions(bufferize_function_boundaries=True)
    with pytest.raises(DecisionError, match=r"operand 0 of func.call .* is in place, but .* would overwrite"):
        analyze_module(module, options, always)


def random_decisions(f: Func, rng: random.Random) -> Mine:
    """One-Shot's with some operands changed either way."""
    decided = one_shot(f, heuristic=rng.choice(["bottom-up", "top-down", "fuzzer"]), seed=rng.randrange(9))
    fewer, more = rng.choice([(0.0, 0.2), (0.1, 0.1), (0.5, 0.0), (0.05, 0.02), (0.0, 1.0)])
    chosen = set()
    for use in (use for op in f.walk() for use in op.tensor_uses()):
        stays = use.op.must_bufferize_in_place(use) or rng.random() >= fewer
        if stays if decided.is_in_place(use) else rng.random() < more:
            chosen.add(use)
    return Mine(chosen.__contains__)


@pytest.mark.slow
def test_random_decisions_are_refused_or_right() -> None:
    accepted, numbers = 0, np.random.default_rng(0)
    args = [*(numbers.standard_normal(8) for _ in range(3)), numbers.standard_normal((8, 8)), 2.5, True]
    for seed in range(40):
        f, rng = random_func(seed, defined=True, stores=seed % 2 == 1), random.Random(seed)
        with np.errstate(all="ignore"):
            expected = tensor_interpreter.run(f, args)
            for _ in range(3):
                try:
                    program = bufferize(f, random_decisions(f, rng))
                except DecisionError:
                    continue
                accepted += 1
                data = [a.copy() if isinstance(a, np.ndarray) else a for a in args]
                found = memref_interpreter.run(program, data, may_leak=True)
                for x, y in zip(found.results, expected.results, strict=True):
                    np.testing.assert_array_equal(x, y, err_msg=f"seed {seed}")
                for i, final in expected.arguments.items():
                    np.testing.assert_array_equal(data[i], final, err_msg=f"seed {seed}")
    assert 40 < accepted < 110
