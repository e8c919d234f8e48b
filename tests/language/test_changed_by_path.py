"""A list, dict or object that is one or another, by the path, is changed: the one that it is (rules S8, S3)."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.agreement import agree, program, refused
from tests.support.params import slow_but

BOTH = ([3.0, 1.0, 2.0, 5.0], [1.0, 3.0, 5.0, 2.0], [1.0, 1.0, 1.0, 1.0], [2.0, 2.0, 9.0, 0.0])
"""Values that take either path, in one program."""
TWO = "lo, hi = [1.0, 2.0], [3.0, 4.0]; s = hi if a[0] > 2 else lo; "
FORMS = [
    "lo, hi = [], []\n    for x in a:\n        (hi if x > 2 else lo).append(x)\n    return lo, hi",
    "lo, hi = [], []\n    for x in a:\n        if x > 2:\n            s = hi\n        else:\n            s = lo\n"
    "        s.append(x)\n    return lo, hi",
    "d = {'big': [], 'small': []}\n    for x in a:\n        d['big' if x > 2 else 'small'].append(x)\n    return d",
    "ev, od = [], []\n    for i in range(n):\n        b = ev if a[i % 4] > 2 else od\n        if len(b) < 2:\n"
    "            b.append(i)\n    return ev, od",
    "c, o = {'n': 0}, {'n': 5}\n    for x in a:\n        q = c if x > 2 else o\n        q['n'] += 1\n    return c, o",
    TWO + "s[0] = a[0]; s[1] += a[1]; return lo, hi, s is hi, s",
    TWO + "s.append(a[0]); s.append(s[0]); return lo, hi, s, s is lo",
    TWO + "u = s; s[0] = a[0]; hi[1] = 7.0; return lo, hi, s, u, s is u, u[1]",
    TWO + "s += [a[1]]; return lo, hi, s",
    TWO + "del s[0]; return lo, hi, s",
    TWO + "push = s.append; push(1.0); s.append(2.0); return lo, hi",
    "d = {'x': 1.0} if a[0] > 2 else {'x': 2.0}; k = d.items(); d['x'] = a[0]; return sum(v for _, v in k)",
    TWO + "y = s[0] + s.pop(); s.insert(0, y); return lo, hi, y",
    "lo, hi = [1.0, 2.0], [3.0, 4.0]; y = (hi if a[0] > 2 else lo).pop(); return lo, hi, y",
    TWO + "[s.append(x) for x in a]; return lo, hi",
    TWO + "\n    def push(x):\n        s.append(x)\n    push(a[1])\n    push(a[2])\n    return lo, hi, s",
    TWO + "\n    while s and s[-1] > 1.5:\n        s.pop()\n    return lo, hi, s",
    TWO + "\n    for x in s:\n        s[0] = x * 2\n    return lo, hi, s",
    TWO + "\n    for k in range(3):\n        s[0] += a[k]\n    return lo, hi, s",
    TWO + "\n    if a[1] > 2:\n        s[0] = a[1]\n    return lo, hi, s",
    TWO + "\n    try:\n        s[0] = a[1]\n        if a[2] > 2:\n            raise ValueError\n        s[1] = 5.0\n"
    "    except ValueError:\n        s[1] = 6.0\n    return lo, hi, s",
    "x, y = [1.0], [1.0, 2.0]; s = x if a[0] > 2 else y; s.append(a[0]); return x, y, s",
    "s = [1.0] if a[0] > 2 else [2.0]; s.append(a[0]); return s",
    "d = {'p': Box(1.0), 'q': Box(2.0)}; d['p' if a[0] > 2 else 'q'].x = a[1]\n"
    "    d['p' if a[0] > 2 else 'q'].x += a[2]; return d['p'].x, d['q'].x",
    "p, q = Box(a[0]), Box(a[1]); s = p if a[0] > 2 else q; s.x = 7.0; return p.x, q.x, s.x",
    "p, q = {'x': 1.0}, {'x': 2.0}; s = p if a[0] > 2 else q; s['x'] += a[0]; s['y'] = 3\n"
    "    return p['x'], q['x'], len(q)",
]


class Box:
    def __init__(self, x: float) -> None:
        self.x = x


@pytest.mark.parametrize("form", slow_but(FORMS[::4], FORMS))
def test_the_one_that_it_is_changes(form: str) -> None:
    f = program(f"def f(a, n):\n    {form}", Box=Box)
    for values in BOTH:
        agree(f, np.array(values), 7)


@pytest.mark.parametrize("held", [
    "q = (s, 1); s[0] = a[0]; return q", "q = [s]; s.pop(); return q", "it = iter(s); s[0] = a[1]; return next(it)",
    "g = (v for v in s); s[0] = 9.0; return sum(g)", "p = lo if a[1] > 2 else hi; s[0] = a[0]; p[1] = 9.0; return p, s",
])  # fmt: skip
def test_not_where_more_than_names_hold_it(held: str) -> None:
    refused(program(f"def f(a):\n    {TWO}{held}"), np.array(BOTH[0]))
