"""How often a loop's body is traced (rule S10): at most three times at each nesting depth, and never exponentially."""

from __future__ import annotations

import ast
from collections import Counter
from typing import Any

import numpy as np
import pytest

from tests.support.agreement import agree, program
from tests.support.params import one_in, slow_but
from tracebuf import bufferize
from tracebuf.frontends.numpy.interpreter.statements import Statements

BODIES = {
    "stable": ("s = 1", "s = s + 1", "s"),
    "widened": ("s = 0.0", "s += a[i0]", "s"),
    "int becomes float": ("s = 1", "s = s * 0.5", "s"),
    "fresh array for an argument": ("x = a", "x = x * 0.5", "x"),
    "swapped": ("u, v = a, a + 1", "v[1:] = u[:-1] + 1\nu, v = v, u", "u"),
    "bound inside": ("pass", "t = a + 1", "t"),
    "left early": ("last = 0", "if a[0] > 100:\n    break\na += 1\nlast = a[0]", "last"),
    "shrinking": ("x = a * 1", "x = x[:-1] + x[1:]", "x"),
    "one of two": ("x, y = a, a + 1", "if a[0] > i0:\n    x = y\nx += 1", "x"),
}


@pytest.mark.parametrize("depth", slow_but((2,), (1, 2, 3)))
@pytest.mark.parametrize("name", one_in(6, BODIES))
def test_bodies_are_traced_at_most_three_times_a_depth(name: str, depth: int, monkeypatch: pytest.MonkeyPatch) -> None:
    before, inner, result = BODIES[name]
    lines = [f"    {before}", *("    " * (k + 1) + f"for i{k} in range(2):" for k in range(depth))]
    innermost = len(lines) + 2  # line 1 is the def
    lines += ["    " * (depth + 1) + line for line in inner.split("\n")]
    f = program("\n".join(["def f(a):", *lines, f"    return {result}"]))
    traced: Counter[int] = Counter()
    block = Statements.block

    def counted(self: Statements, body: list, env: dict) -> None:
        if body:
            traced[body[0].lineno] += 1
        block(self, body, env)

    monkeypatch.setattr(Statements, "block", counted)
    agree(f, np.arange(1.0, 12.0))
    assert 1 <= traced[innermost] <= 3 * depth


def test_what_is_first_bound_inside_is_planned_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """An int first bound inside of a loop that may be left: that nothing says whether it rises takes no third trace."""

    def f(a):
        for i in range(len(a)):
            if a[i] > 4:
                return i
        return -1

    traced: Counter[str] = Counter()
    statement = Statements.stmt_If

    def counted(self: Statements, node: ast.If, *args: Any) -> bool:
        traced[ast.unparse(node.test)] += 1
        return statement(self, node, *args)

    monkeypatch.setattr(Statements, "stmt_If", counted)
    bufferize(f).trace(np.arange(9.0))
    assert traced == {"a[i] > 4": 2}
    agree(f, np.arange(9.0))
    agree(f, np.zeros(3))
