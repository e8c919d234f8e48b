"""Refusals are manual pages: class, line, caret, reason, what to write instead; and errors that are the user's keep
their class and get his line (rules F2, F3, X1)."""

from __future__ import annotations

import math
import random
import time
from typing import Any

import numpy as np
import pytest
from agreement import agree, program, refused

import tracebuf
from tracebuf import bufferize

ITEMS = [1, 2]
SPACE = {"math": math, "random": random, "time": time, "ITEMS": ITEMS, "NAMES": {"a": 1}}

# (body of f(a, i), line of the caret in the body, text under the caret, part of the reason, part of the rewrite)
REFUSED: list[tuple[str, int, str, str, str]] = [
    ("try:\n    a += 1\nexcept ValueError:\n    pass", 1, "try:", "`try`", "if"),
    ("return {1: a}", 1, "{1: a}", "a dict", "tuple"),
    ("return a[a > 0]", 1, "a[a > 0]", "masks", "np.where"),
    ("a[a > 0] = 3", 1, "a[a > 0]", "masks", "np.where"),
    ("a[a > 0] += 3", 1, "a[a > 0]", "masks", "np.where"),
    ("return a[[1, 2]]", 1, "a[[1, 2]]", "arrays and lists", "for i in range"),
    ("return a[i]", 1, "a[i]", "arrays and lists", "for i in range"),
    ("return a + ITEMS[0]", 1, "ITEMS", "mutable list from outside", "tuple"),
    ("return a + NAMES['a']", 1, "NAMES", "mutable dict from outside", "argument"),
    ("print(a)", 1, "print(a)", "a call of print", "outside"),
    ("return a + np.random.rand(3)", 1, "np.random.rand(3)", "numpy.random.rand", "draw the numbers outside"),
    ("return a + random.random()", 1, "random.random()", "a call of random", "draw the numbers outside"),
    ("return a + time.time()", 1, "time.time()", "a call of time.time", "outside"),
    ("return np.sort(a)", 1, "np.sort(a)", "numpy.sort", "outside"),
    ("return a.tolist()", 1, "a.tolist", "`.tolist`", "outside"),
    ("return a.astype(np.longdouble)", 1, "a.astype(np.longdouble)", "supported are bool, int8 to int64", "float64"),
    ("return np.zeros(3, complex)", 1, "np.zeros(3, complex)", "complex128", "float64"),
    ("return np.where(a > 0)", 1, "np.where(a > 0)", "depends on data", "np.where(c, x, y)"),
    ("global G\nG = a", 1, "global G", "`global`", "return"),
    ("class A:\n    pass\nreturn a", 1, "class A:", "class definition", "outside"),
    ("return (lambda *x: x[0])(a)", 1, "lambda *x: x[0]", "*args", "name the parameters"),
    ("return np.sin(**{'x': a})", 1, "np.sin(**{'x': a})", "**kwargs", "name"),
    ("return a ** i", 1, "a ** i", "", ""),
    ("return (a > 0) // (a > 1)", 1, "(a > 0) // (a > 1)", "", ""),
    ("match a.ndim:\n    case 1:\n        return a", 1, "match a.ndim:", "`match`", "if"),
]  # fmt: skip


@pytest.mark.parametrize(
    "body, line, under, reason, instead", REFUSED, ids=[r[0].replace("\n", "; ")[:40] for r in REFUSED]
)
def test_refusals_say_where_why_and_what_to_write(body: str, line: int, under: str, reason: str, instead: str) -> None:
    f = program("def f(a, i):\n" + "\n".join("    " + text for text in body.split("\n")), **SPACE)
    a, i = np.array([3.0, -1.0, 2.0]), np.array([0, 1, 2])
    if not reason:
        agree(f, a, i)
        return
    error = refused(f, a, i)
    assert reason in error.reason and instead in error.instead and error.instead
    assert error.location is not None and error.location.line == line + 1 and error.location.function == "f"
    text = str(error)
    assert text.startswith(f'File "{f.__code__.co_filename}", line {line + 1}, in f')
    source, carets = text.split("\n")[1:3]
    start, end = carets.index("^"), carets.rindex("^") + 1
    assert source[start:end] == under
    assert isinstance(error, tracebuf.TracebufError)


def test_a_refusal_stores_nothing_and_leaves_no_trace() -> None:
    f = program("""
        def f(a, k):
            a[0] = 100
            if k == 1:
                return np.sort(a)
            for i in range(len(a)):
                if k == 2:
                    print(a[i])
                a[i] += 1
            return a.sum()
        """)
    g = bufferize(verify=True)(f)
    for k in (1, 0, 2, 1, 3, 2, 0):
        a = np.arange(4.0)
        if k in (1, 2):
            refused(g, a, k)
            assert (a == np.arange(4)).all()
        else:
            agree(g, a, k)


# (body of f(a, b, n), exception) raised where it stands, with the user's line in a note
RAISED: list[tuple[str, type[Exception]]] = [
    ("return a[9]", IndexError), ("a[n] = 1", IndexError), ("return a[1, 2]", IndexError),
    ("return a['x']", IndexError),
    ("return a + b", ValueError), ("a[:] = b", ValueError), ("a += b", ValueError), ("return a @ b", ValueError),
    ("return np.dot(a, b)", ValueError), ("return a[::n - 5]", ValueError), ("return np.zeros(-n)", ValueError),
    ("return a[3:3].max()", ValueError), ("return a.sum(axis=2)", np.exceptions.AxisError),
    ("return a + None", TypeError),
    ("return a.nosuch", AttributeError), ("return np.nosuch", AttributeError), ("return nosuch", NameError),
    ("return n // (n - 5)", ZeroDivisionError), ("return 1.0 / (n - 5)", ZeroDivisionError), ("x, y = a[0]", TypeError),
    ("x, y = a, b, n", ValueError), ("return np.sin(a, b, n, n)", TypeError), ("return np.zeros()", TypeError),
    ("return (lambda x: x)(a, b)", TypeError), ("a &= 3", TypeError), ("b = a.astype(int)\n    b += 0.5", TypeError),
    ("if a:\n        return a", ValueError), ("return c\n    c = 1", UnboundLocalError),
    ("return 'abc'[n]", IndexError),
    ("for i in range(n):\n        a[i] = i", IndexError), ("for i in range(0.5):\n        pass", TypeError),
    ("for i in range(0, 5, n - 5):\n        pass", ValueError), ("return (a.astype(int) ** -1)", ValueError),
    ("s = 0.0\n    for i in range(len(a)):\n        s += b[i]\n    return s", IndexError), ("return -'x'", TypeError),
    ("if a[0] == 0:\n        b[n] = 1", IndexError), ("return a[n] if a[0] == 0 else a[0]", IndexError),
]  # fmt: skip


@pytest.mark.parametrize("body, kind", RAISED, ids=[r[0].replace("\n", ";")[:40] for r in RAISED])
def test_what_python_and_numpy_raise(body: str, kind: type[Exception]) -> None:
    f = bufferize(program(f"def f(a, b, n):\n    {body}"))
    a, b = np.arange(4.0), np.arange(3.0)
    for _ in range(2):
        error = agree(f, a, b, 5)
        assert isinstance(error, kind)
        with pytest.raises(kind) as caught:
            f(a.copy(), b.copy(), 5)
        assert any(f'File "{f.__wrapped__.__code__.co_filename}", line ' in note for note in caught.value.__notes__)


def test_c3_an_earlier_error_wins() -> None:
    f = bufferize(program("def f(a, b, n):\n    x = a[n]\n    return a + b + x"))
    assert isinstance(agree(f, np.arange(3.0), np.arange(4.0), 9), IndexError)
    assert isinstance(agree(f, np.arange(3.0), np.arange(4.0), 1), ValueError)
    agree(f, np.arange(3.0), np.arange(3.0), 1)


def test_errors_are_not_hidden_by_a_loop_that_does_not_run() -> None:
    f = bufferize(
        program("""
        def f(a, n):
            for i in range(n):
                a[i + 3] = 1
            return a
        """)
    )
    for n in (0, 1, 2, 0):
        agree(f, np.arange(4.0), n)


def test_messages_are_numpys() -> None:
    for body in ("a[7]", "a + b", "a @ b", "a.T[1, 2]", "np.dot(a, b)", "a[0] + b[-9]", "np.zeros(3)[n]"):
        f = program(f"def f(a, b, n): return {body}")
        args: tuple[Any, ...] = (np.arange(4.0), np.arange(3.0), 5)
        with pytest.raises(Exception) as eager:
            f(*args)
        with pytest.raises(Exception) as ours:
            bufferize(f)(*args)
        assert str(ours.value) == str(eager.value)


def test_carets_count_characters() -> None:
    f = program('def f(a):\n    größe = "äöü"; return np.sort(a)  # ünïcode')
    text = str(refused(f, np.arange(3.0)))
    source, carets = text.split("\n")[1:3]
    assert source[carets.index("^") : carets.rindex("^") + 1] == "np.sort(a)"


@pytest.mark.parametrize(
    "source", ["def f(*a, **k): return a[0]", "def f(a, **k): return a", "def f(*, a=1, **k): return a"]
)
def test_variadic_functions_are_refused(source: str) -> None:
    g = bufferize(program(source))
    error = refused(g, np.arange(3.0)) if "*," not in source else refused(g)
    assert "name the parameters" in error.instead and error.location is not None


def test_keyword_only_parameters_stay_keyword_only() -> None:
    g = bufferize(program("def f(a, *, c=1.0): return a + c"))
    agree(g, np.arange(3.0), 2.0)  # TypeError
    agree(g, np.arange(3.0), c=2.0)


@pytest.mark.parametrize("make", [lambda: eval("lambda a: a + 1"), lambda: (lambda a: a, lambda a: a + 1)[1]])
def test_functions_without_a_readable_source_are_refused(make: Any) -> None:
    assert "def" in refused(make(), np.arange(3.0)).instead or "file" in refused(make(), np.arange(3.0)).instead
