"""Lists of run-time length that the body of a loop over them changes: Python looks for an item at each turn."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.support.agreement import agree, program, refused
from tests.support.params import one_in

WHOLE = "b = [x for x in v if x > 1]\n"
"""A list whose length the data decide."""
KNOWN = "b = [v[0]]\n"
"""One that has an item when the loop begins."""
WORKS = {
    "the last item appends": KNOWN + "for t in b:\n if v[0] < 1 and len(b) < 3:\n  b.append(1)\n  v[3] = t",
    "items of one type": "b = [0.0]\ns = 0.0\nfor t in b:\n if v[0] < 1 and len(b) < n:\n  b.append(t + 1.0)\n"
    " s += t\nreturn s, b",
    "numbered": KNOWN + "for i, t in enumerate(b):\n if v[0] < 1 and i < n:\n  b.append(i)\n  v[3] = t",
    "numbered from one": WHOLE + "s = 0.0\nfor k, t in enumerate(b, 1):\n if t > 2 and k < 20:\n  b.append(t / 2)\n"
    " s += t * k\nreturn s, len(b)",
    "and then left": "b = [1.0]\nfor t in b:\n if v[0] < 1:\n  b.append(2.0)\n  break\nreturn b",
    "until it is large": "b = [1.0, 2.0]\nfor t in b:\n if t < n:\n  b.append(t * 2)\nreturn b",
    "ints": "b = [k for k in range(n)]\nfor t in b:\n if t > 2:\n  b.append(t // 2)\nreturn b",
    "items go": WHOLE + "for t in b:\n if t > 2:\n  b.pop()\nreturn b",
    "all go": WHOLE + "s = 0.0\nfor t in b:\n if t > 3:\n  b.clear()\n s += t\nelse:\n s += 100\nreturn s",
    "one before goes": "b = [k for k in range(n)]\ns = sum(t for t in b)\nfor t in b:\n if t == 1: b.remove(0)\n"
    " s += t\nreturn s",
    "an item is replaced": WHOLE + "s = 0.0\nfor t in b:\n b[-1] = t + 1\n s += t\nreturn s, b",
    "a queue": "q = [(0, 0.0)]\nseen = 0\nfor i, d in q:\n seen += 1\n if i < n:\n  q.append((i + 1, d + v[i]))\n"
    "  if i % 2:\n   q.append((i + 2, d))\nreturn seen, q[-1]",
    "beside another": WHOLE + "s = 0.0\n"
    "for t, u in zip(b, b[1:]):\n if t > 3:\n  b.append(u)\n s += t * u\nreturn s, b",
    "beside itself": WHOLE + "s = 0.0\n"
    "for t, u in zip(b, b):\n if len(b) < 9:\n  b.append(u)\n s += t * u\nreturn s, b",
    "beside numbers": WHOLE + "s = 0.0\nfor k, t in zip(range(n + 3), b):\n if t > 3:\n  b.append(t)\n s += t * k\n"
    "return s, b",
    "beside known numbers": WHOLE + "k = [1, 2, 3]\ns = 0.0\nfor i, t in zip(k, b):\n if t > 2:\n  b.append(t + i)\n"
    " s += t * i\nreturn s, b, k",
    "beside a list of numbers": WHOLE + "k = [0.5, v[0], 3]\nfor t, x in zip(b, k):\n if len(b) < n: b.append(t * x)\n"
    "return b, k",
    "beside a list that is bound anew": WHOLE + "k = [1, 2]\ns = 0.0\nfor a in v[:2]:\n for i, t in zip(k, b):\n"
    "  s += a * i * t\n  if len(b) < n: b.append(a)\n k[0] += 1\n k.reverse()\nreturn s, k, b",
    "returned from": WHOLE + "for t in b:\n"
    " if t > 3 and len(b) < 12:\n  b += [1.0]\n  if n > 2: return t\nreturn b[-1]",
    "in an outer loop": WHOLE + "for k in range(n):\n for r in b:\n  if len(b) < n + 3:\n   b.append(r)\nreturn b",
    "not at all": WHOLE + "s = 0.0\nfor t in b:\n if n > 100:\n  b.append(t)\n s += t\nreturn s",
    "a copy of it": WHOLE + "for t in list(b):\n if t > 2:\n  b.append(t)\nreturn b",
    "in a comprehension": WHOLE + "return [b.append(t) if len(b) < 9 else t for t in b if t > 0] and b",
    "in one that is kept": WHOLE + "def g(t):\n if len(b) < 9: b.append(t / 2)\n return t + len(b)\n"
    "return [g(t) for t in b if t > 0], b",
    "in the else": WHOLE + "for t in b:\n if t > 90: break\nelse:\n b.append(0.5)\nreturn b",
}
LIMITED = "if u > t and len(b) < 40: b.append(t)\n"
WITHIN = {
    "itself": WHOLE + "s = 0.0\nfor t in b:\n for u in b:\n  s += t * u\n  " + LIMITED + "return b, s",
    "three": WHOLE + "s = 0\nfor t in b:\n for u in b:\n  for w in b:\n   s += 1\n"
    "   if u > t and w < u and len(b) < 9: b.append(t)\nreturn b, s",
    "numbers": WHOLE + "for t in b:\n for u in range(n):\n  " + LIMITED + "return b",
    "a while": WHOLE + "c = []\nfor t in b:\n u = 0\n while u < n:\n  " + LIMITED +
    "  c.append(t)\n  u += 1\nreturn b, c",
    "a list of its items": WHOLE + "for t in b:\n for u in [u for u in b if u > t]:\n  " + LIMITED + "return b",
    "numbered": WHOLE + "for i, t in enumerate(b):\n for j, u in enumerate(b):\n"
    "  if i != j and u > t:\n   b.pop()\n   break\nreturn b",
    "replaced": WHOLE + "s = 0.0\nfor t in b:\n for k in range(n):\n  if k > t: b[-1] = b[-1] + 1\n s += t\n"
    "return b, s",
    "returned from": WHOLE + "for t in b:\n for u in b:\n  if u > t and len(b) < 30:\n   b.append(t)\n   break\n"
    " else:\n  b.append(0.5)\n  if len(b) > 25: return b, t\nreturn b, 0.0",
    "a search": "q = [(0, 0)]\nseen = np.zeros(len(v), bool)\nfor i, d in q:\n for k in range(len(v)):\n"
    "  if not seen[k] and abs(v[i] - v[k]) < 2.5:\n   seen[k] = True\n   q.append((k, d + 1))\n"
    "return q[-1], len(q), seen",
}
"""A loop in the body changes the list."""
REFUSED = {
    "backwards": WHOLE + "s = 0.0\nfor t in reversed(b):\n if t > 3:\n  b.append(1.0)\n s += t\nreturn s",
    "beside a known list": "a = [1, 1]\n" + KNOWN + "for x, t in zip(a, b):\n if v[0] < 1:\n  b.append(x)\n  v[3] = t",
    "beside one that changes": WHOLE + "k = [1, 2, 3]\ns = 0.0\nfor i, t in zip(k, b):\n s += t * i\n"
    " k[2] = 7\nreturn s",
    "beside one that changes by path": WHOLE + "k = [1, 2, 3]\nm = k\ns = 0.0\nfor t, i in zip(b, k):\n s += t * i\n"
    " if t > 2: m[1] = t\nreturn s, k",
    "an iterator's": WHOLE + "it = iter(b)\ns = next(it)\nb.append(77.0)\nfor t in it: s += t\nreturn s",
}


def made(lines: str) -> Any:
    return program("def f(v, n):\n" + "\n".join(" " + line for line in lines.splitlines()))


@pytest.mark.parametrize("what", one_in(3, WORKS))
@pytest.mark.cases(3)
def test_each_turn_looks_at_the_list(what: str) -> None:
    f = made(WORKS[what])
    agree(f, np.arange(7.0), 4)
    if "b[-1]" not in WORKS[what]:
        agree(f, np.array([0.0, 1.5, 3.5, 2.5, 8.0]), 5)


@pytest.mark.parametrize("what", one_in(9, WITHIN))
@pytest.mark.slow
def test_loops_within_one_another(what: str) -> None:
    f = made(WITHIN[what])
    for v in (np.arange(7.0), np.array([3.0, -1.0, 2.0, 5.0]), np.array([1.5]), np.array([1.0, 8.0, 2.0, 7.0, 3.0])):
        agree(f, v, 4)


@pytest.mark.parametrize("what", REFUSED)
def test_where_it_cannot_be_looked_at_the_change_is_refused(what: str) -> None:
    assert "a list changes" in refused(made(REFUSED[what]), np.arange(7.0), 4).reason
