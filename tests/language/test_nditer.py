"""np.nditer of one array: its elements, their indices, stores to them (rules S3, C1)."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.agreement import agree, program, refused

A = np.arange(6.0).reshape(2, 3) - 2
LOOPS = {
    "elements": "s = 0.0\nfor v in np.nditer(a):\n    s = s * 2 + v\nreturn s, type(s)",
    "stores": "for v in np.nditer(a, op_flags=['readwrite']):\n    v[...] = 2 * v + 1\nreturn a",
    "indices": "it = np.nditer(a, flags=['multi_index'])\ns = 0\nfor v in it:\n    i, j = it.multi_index\n"
    "    s += i * v - j\nreturn s",
    "by hand": "g = np.zeros_like(a)\nit = np.nditer(a, flags=['multi_index'], op_flags=['readwrite'])\n"
    "while not it.finished:\n    ix = it.multi_index\n    old = a[ix]\n    a[ix] = old + 0.5\n    hi = (a ** 2).sum()\n"
    "    a[ix] = old\n    g[ix] = hi - it[0]\n    it.iternext()\nreturn g, it.finished",
    "read only": "for v in np.nditer(a):\n    v[...] = 1\nreturn a",
    "no index": "it = np.nditer(a)\nreturn it.multi_index",
}


@pytest.mark.parametrize("body", LOOPS.values(), ids=list(LOOPS))
def test_loops(body: str) -> None:
    agree(program("def f(a):\n" + "".join(f"    {line}\n" for line in body.splitlines())), A)


def test_empty_arrays_and_other_orders() -> None:
    f = program("def f(a):\n    s = 0.0\n    for v in np.nditer(a):\n        s = s * 2 + v\n    return s")
    agree(f, A[:0])
    agree(f, np.float32([[3]]))
    assert "not in C order" in refused(f, A.T).reason
    g = program("def f(a):\n    for v, w in np.nditer([a, a]):\n        pass")
    assert "one array" in refused(g, A).reason
