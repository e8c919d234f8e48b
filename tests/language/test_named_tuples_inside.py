"""collections.namedtuple in the function: a class that is made anew in each tracing, and stays inside."""

from __future__ import annotations

from collections import namedtuple

import numpy as np
import pytest

from tests.support.agreement import agree, program, refused
from tests.support.params import slow_but

P = "P = namedtuple('P', 'x y'); "
FORMS = [
    P + "p = P(a[0], a * 2); return p.x, p.y, len(p), p[1].sum()",
    P + "p = P(a[0], y=a[1])._replace(x=3.0); return p.x + p.y, p == (3.0, 1.0), P._fields",
    P + "p = P(a[0], 1) if a[1] > 2 else P(a[2], 2); x, y = p; return x * y",
    P + "best = P(-1.0, -1)\n    for i, v in enumerate(a):\n        if v > best.x:\n            best = P(v, i)\n"
    "    return best.x, best.y",
    P + "ps = [P(v, v * v) for v in a]; return max(ps, key=lambda p: p.y).x, sum(p.x for p in ps)",
    P + "ps = []\n    for v in a:\n        if v > 1:\n            ps.append(P(v, 1))\n"
    "    return len(ps), sum(p.x for p in ps)",
    "P = namedtuple('P', ['x', 'y'], defaults=(1.0,)); p = P(a); p.x[0] = 9; return p.y, tuple(p), p._asdict()['y']",
    P + "return f'{P(1, 2)}', repr(P(1, 'u')), isinstance(P(1, 2), tuple), isinstance((1, 2), P)",
    "return namedtuple('P', 'x x')",
    "return namedtuple('P', 'x y')(a[0])",
]  # fmt: skip


@pytest.mark.parametrize("form", slow_but(FORMS[::3], FORMS))
def test_a_class_of_named_tuples(form: str) -> None:
    f = program(f"def f(a):\n    {form}", namedtuple=namedtuple)
    for values in ([3.0, 1.0, 2.0, 5.0], [1.0, 3.0, 5.0, 2.0]):
        agree(f, np.array(values))


@pytest.mark.parametrize("form", [
    "return P(a[0], 1)", "return P", "return [P(1, 2)]", "return {'k': (1, P(a, a))}",
    "return P(a, 1) if a[0] > 2 else P(a, 2)",
])  # fmt: skip
def test_it_stays_inside(form: str) -> None:
    refused(program(f"def f(a):\n    {P}{form}", namedtuple=namedtuple), np.ones(3))


def test_nor_is_it_kept_in_what_the_caller_has() -> None:
    refused(program(f"def f(a, d):\n    {P}d['p'] = P(a[0], 1)", namedtuple=namedtuple), np.ones(3), {"p": 0})
    refused(program(f"def f(a, d):\n    {P}d.append(P(a[0], 1))", namedtuple=namedtuple), np.ones(3), [1])
