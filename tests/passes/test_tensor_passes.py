"""Programs, traced as the front end traces (rules S1, S2), through the tensor passes; random ones in random order too.

Each pass keeps every value to the bit and every use list whole, and makes nothing worse: the number of fresh arrays and
of operands that the analysis finds out of place falls or stays (rule S4; MLIR's elimination does not keep that,
MLIR behaviour 48).
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from tests.support.ir_programs import PROGRAMS, Maker, Program, array
from tests.support.params import one_in, slow_but
from tracebuf.analysis.one_shot.one_shot import one_shot
from tracebuf.interpret.tensor import run
from tracebuf.ir.core import Value
from tracebuf.ir.dims import sub
from tracebuf.ir.func import Func
from tracebuf.ir.types import F64
from tracebuf.ops.scalars import arith
from tracebuf.optimize.tensors.canonicalize import canonicalize
from tracebuf.optimize.tensors.cse import cse
from tracebuf.pipeline import TENSOR_PASSES, Pass

ADD, MUL = arith.AddF, arith.MulF
PASSES = list(dict.fromkeys(change for _, change in TENSOR_PASSES))
Names = dict[str, Value]


class RandomProgram:
    """Arguments a, b, c of n elements, scalars x, y; statements store to slices, make arrays, loop and branch."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.m = m = Maker("f", a=("n",), b=("n",), c=("n",), x=F64, y=F64)
        self.n, self.k = m.dim("n"), sub(m.dim("n"), 2)
        self.parts = [(0, self.k, 1), (1, self.k, 1), (2, self.k, 1)]
        self.scalars = m.args[3:]
        self.stored: set[str] = set()
        names = dict(zip("abc", m.args[:3]))
        for _ in range(self.random.randrange(2, 8)):
            self.statement(names, "abc", 2)
        fresh = [v for k, v in names.items() if len(k) > 1][:2]
        self.func = m.done(*fresh, stored={"abc".index(s): names[s] for s in sorted(self.stored)})

    def leaf(self, names: Names, short: bool) -> Value:
        m, n = self.m, self.n
        base = names[self.random.choice(list(names))]
        if short:
            part = m.view(base, self.random.choice(self.parts))
            return part if self.random.random() < 0.9 else m.zeros(self.k, value=2.0)
        return self.random.choice(
            [lambda: base, lambda: base, lambda: m.view(base, (sub(n, 1), n, -1)), lambda: m.zeros(n, value=2.0)]
        )()

    def expression(self, names: Names, short: bool, depth: int) -> Value:
        m, choice = self.m, self.random.random()
        if depth == 0 or choice < 0.25:
            return self.leaf(names, short)
        if choice < 0.4:
            scalar = self.random.choice(self.scalars)
            return m.ew(self.random.choice([ADD, MUL]), self.expression(names, short, depth - 1), scalar)
        if choice < 0.5 and not short:
            return m.store(self.expression(names, True, depth - 1), m.zeros(self.n), self.random.choice(self.parts))
        left = self.expression(names, short, depth - 1)
        if choice < 0.6:
            return m.ew(MUL, left, left)
        if choice < 0.66:
            return m.ew(ADD, self.leaf(names, short), m.extract(m.reduce(ADD, left, [0], 0.0)))
        return m.ew(self.random.choice([ADD, MUL]), left, self.expression(names, short, depth - 1))

    def statement(self, names: Names, targets: Sequence[str], depth: int) -> None:
        m, choice, target = self.m, self.random.random(), self.random.choice(targets)
        if choice < 0.3:
            new = m.store(self.expression(names, True, 2), names[target], self.random.choice(self.parts))
        elif choice < 0.5:
            new = m.store(self.expression(names, False, 2), names[target], *m.whole(names[target]))
        elif choice < 0.6:
            new = m.insert(self.random.choice(self.scalars), names[target], self.random.randrange(2))
        elif choice < 0.7 or not depth:
            names[f"t{len(names)}"] = m.ew(ADD, self.expression(names, False, 2), self.scalars[0])
            return
        elif choice < 0.85:
            (new,) = m.loop(0, 2, [names[target]], lambda i, v: self.arm({**names, target: v}, target, depth))
        else:
            positive = m.add(arith.CmpF.of("ogt", self.scalars[0], m.const(0.0), m.loc()))
            arms = [lambda: self.arm(dict(names), target, depth), lambda: [names[target]]]
            (new,) = m.branch(positive, arms[0], self.random.choice(arms), [names[target].type])
        names[target] = new
        self.stored.add(target)

    def arm(self, names: Names, target: str, depth: int) -> list[Value]:
        for _ in range(self.random.randrange(1, 4)):
            self.statement(names, [target], depth - 1)
        return [names[target]]


def cost(func: Func) -> int:
    """Fresh arrays and operands out of place."""
    analysis = one_shot(func)
    out = sum(not analysis.is_in_place(use) for op in func.walk() for use in op.tensor_uses())
    return out + sum(op.name == "tensor.empty" for op in func.walk())


def check_structure(func: Func) -> None:
    for op in func.walk():
        op.verify()
        assert op.block is not None and op.block.op_index(op) >= 0
        assert all(u.index == i and u.op is op and u in u.value.uses for i, u in enumerate(op.uses))


@pytest.mark.parametrize("seed", slow_but(range(5), range(40)))
def test_values_stay_and_nothing_gets_worse(seed: int) -> None:
    program = RandomProgram(seed)
    func = program.func
    args: list[Any] = [*(array(5) / 7 + i for i in range(3)), 0.5 if seed % 2 else -0.5, 0.25]
    shuffled = [program.random.choice(PASSES) for _ in range(5)]
    check(func, args, [*PASSES, cse, canonicalize] if seed % 3 else shuffled)


@pytest.mark.parametrize("program", one_in(8, [p for p in PROGRAMS if p.name != "checked_max"]), ids=lambda p: p.name)
def test_programs_keep_their_values_through_all_passes(program: Program) -> None:
    """In the pipeline's order."""
    check(program.build(), program.arguments(), PASSES)


def check(func: Func, args: Sequence[Any], passes: Sequence[Pass]) -> None:
    """Values and structure after each pass; nothing gets worse."""
    before, price = run(func, args), cost(func)
    for transform in passes:
        transform(func)
        check_structure(func)
        after = run(func, args)
        for a, b in zip(before.results, after.results, strict=True):
            np.testing.assert_array_equal(a, b)
        assert before.arguments.keys() == after.arguments.keys()
        for k, value in before.arguments.items():
            np.testing.assert_array_equal(value, after.arguments[k])
        assert cost(func) <= price, f"{transform.__name__} makes it worse"
        price = cost(func)
