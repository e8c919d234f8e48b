"""tracebuf.fori_loop, while_loop and cond: plain Python, and `scf` ops when traced (rules F1, F2, S8-S11)."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

import tracebuf
from tests.support.agreement import agree, program, refused
from tests.support.params import one_in
from tracebuf import bufferize, cond, fori_loop, while_loop


def scaled(k: Any, i: int, v: Any, by: float = 1.0) -> Any:
    return v * k + i * by


SPACE: dict[str, Any] = {
    "fori_loop": fori_loop, "while_loop": while_loop, "cond": cond, "tracebuf": tracebuf, "partial": partial,
    "scaled": scaled, "TRIPLED": partial(scaled, 3.0), "BY": partial(scaled, np.arange(4.0), by=2.0),
}  # fmt: skip

PROGRAMS = {
    "sum": "return fori_loop(0, n, lambda i, s: s + a[i], 0.0)",
    "exchange": "return fori_loop(0, n, lambda i, v: (v[1], v[0] + v[1]), (a, a * 2))",
    "nested values": "return fori_loop(1, n, lambda i, v: [v[0] + 1, (v[1][0], v[1][1] + a)], [0, (1.5, a * 0)])",
    "stores": "def body(i, b):\n    b[i] += i\n    return b\nreturn fori_loop(0, n, body, a)",
    "stores to names around": "def body(i, s):\n    a[i] = s\n    return s + 2\nreturn fori_loop(0, n, body, 1)",
    "while": "return tracebuf.while_loop(lambda v: v[1] < n, lambda v: (v[0] * 0.5, v[1] + 1), (a, 0))",
    "while on data": "return while_loop(lambda x: x.sum() > n, lambda x: x * 0.5, a)",
    "condition": "return cond(a[0] > n, lambda x, y: x + y, lambda x, y: x - y, a, 2.0)",
    "one of two arrays": "b = a + 1\nreturn cond(a.sum() > n, lambda: a, lambda: b)",
    "not evaluated": "return cond(n > 9, lambda: a[n], lambda: a[0])",
    "nests": "return fori_loop(0, n, lambda i, v: fori_loop(0, i, lambda j, w: w + j, v), a)",
    "kinds from one helper": "def go(f, x): return fori_loop(0, n, f, x)\n"
    "return go(lambda i, v: v + i, 0), go(lambda i, v: v + a[i], 0), go(lambda i, v: v * 2, a[0]), "
    "go(lambda i, v: 2, 1)",
    "partial": "return fori_loop(0, n, partial(scaled, a), a), fori_loop(0, n, TRIPLED, 1.0), fori_loop(0, n, BY, a)",
    "partial by name": "return partial(scaled, by=a)(2, 3, n)",
    "bounds": "return fori_loop(n, 0, lambda i, s: s + 1, 5), fori_loop(-n, n, lambda i, s: s + i, 5)",
    "a branch in a body": "def body(i, s):\n    return cond(a[i] > 1, lambda: s + a[i], lambda: s)\n"
    "return fori_loop(0, n, body, 0.0)",
    "assigned again": "x = a * 1\nx = fori_loop(0, n, lambda i, v: v + 1, x)\nx[0] = 7\nreturn x",
}


def made(body: str) -> Any:
    return program("def f(a, n):\n" + "\n".join("    " + line for line in body.split("\n")), **SPACE)


@pytest.mark.parametrize("body", one_in(6, PROGRAMS.values()), ids=PROGRAMS)
def test_f1_traced_as_python_runs_them(body: str) -> None:
    g = bufferize(verify=True)(made(body))
    for n in (3, 0, 2, 4):
        agree(g, np.arange(4.0) + 1, n)


def test_called_plainly_they_are_python() -> None:
    assert fori_loop(0, 4, lambda i, s: s + i, 0) == 6
    assert while_loop(lambda v: v < 100, lambda v: v * 3, 1) == 243
    assert cond(True, lambda x: x, lambda x: -x, 3) == 3 and cond(0, lambda x: x, lambda x: -x, 3) == -3


def test_a_loop_is_one_loop_at_any_length() -> None:
    g = bufferize(made("return fori_loop(0, n, lambda i, x: np.sin(x) + i, a)"))
    for n in (3, 700):
        agree(g, np.arange(5.0), n)
    assert len(g.specializations()) == 1 and g.lower(np.arange(5.0), 3).as_text("tensor").count("scf.for") == 1


@pytest.mark.parametrize(
    "body, line",
    [
        ("b = a\nreturn fori_loop(0, n, lambda i, v: v.tobytes(), a)", 2),
        ("return while_loop(\n    lambda v: v[0] > 0,\n    lambda v: (lambda: id(v))(), a)", 3),
        ("b = a\nb = fori_loop(0, n, lambda i, v: (v, v), a)\nreturn b", 2),
    ],
)
def test_f2_refusals_stand_on_the_callers_line(body: str, line: int) -> None:
    f = made(body)
    error = refused(f, np.arange(4.0), 3)
    assert error.location is not None and error.location.file == f.__code__.co_filename
    assert error.location.line == line + 1 and error.instead


@pytest.mark.parametrize(
    "body, kind",
    [
        ("return fori_loop(0, 1.5, lambda i, v: v, a)", TypeError),
        ("return fori_loop(0, n)", TypeError),
        ("return fori_loop(0, n, lambda v: v, a)", TypeError),
        ("return fori_loop(0, 9, lambda i, v: v + a[i], 0.0)", IndexError),
        ("return cond(a, lambda: 1, lambda: 2)", ValueError),
    ],
)
def test_c1_errors_are_pythons(body: str, kind: type[Exception]) -> None:
    f = made(body)
    assert isinstance(agree(f, np.arange(4.0), 3), kind)
    with pytest.raises(kind) as caught:
        bufferize(f)(np.arange(4.0), 3)
    assert any(f'File "{f.__code__.co_filename}", line 2' in note for note in caught.value.__notes__)


def test_s10_what_a_loop_learnt_with_one_function_is_not_taken_for_another() -> None:
    f = program("""
        def f(a, n):
            def go(step, x):
                for i in range(n):
                    x = step(x, i)
                return x
            return go(lambda x, i: x + a[i], 0), go(lambda x, i: 2, 1), go(lambda x, i: x * 2, 3)
        """)
    for n in (3, 0):
        agree(f, np.arange(4.0), n)


@pytest.mark.slow
def test_c1_true_and_false_are_one_object_each() -> None:
    f = program("""
        def f(p, q, a):
            one = 1 if p is True else 2
            return one, p is not q, a[0] is a[1], p is a[0], p is None, a[0] is None, a[0] is np.True_
        """)
    for p in (True, False):
        for q in (True, False):
            agree(f, p, q, np.array([True, q]))
    assert "==" in refused(program("def f(n, m): return n is m"), 3, 4).instead
