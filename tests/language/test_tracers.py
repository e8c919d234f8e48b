"""Functions whose source cannot be read are traced by running them on tracers (rules X1, F0, F2, F4, B5, S8)."""

from __future__ import annotations

import functools
import importlib
import math
import random
import sys
import textwrap
import time
from pathlib import Path
from types import FunctionType
from typing import Any

import numpy as np
import pytest

import tracebuf
from tests.support.agreement import agree, program, refused
from tests.support.params import one_in
from tracebuf import bufferize, cond, fori_loop, while_loop


def smooth(x: Any, k: Any) -> Any:
    for i in range(1, len(x) - 1):
        x[i] = (x[i - 1] + x[i + 1]) / k
    return x


LOST_HELPER: dict[str, Any] = {}
exec("def twice(x, by=2):\n    x *= by\n    return x", LOST_HELPER)


def lost(source: str, **names: Any) -> FunctionType:
    """The function `f` that a text defines, as exec makes it: nobody can read its source."""
    space: dict[str, Any] = {
        "np": np, "math": math, "tracebuf": tracebuf, "fori_loop": fori_loop, "while_loop": while_loop, "cond": cond,
        "random": random, "time": time, "functools": functools, "smooth": smooth, "twice": LOST_HELPER["twice"],
        "K": 3, "TABLE": (1.0, 2.0, 3.0, 4.0, 5.0), **names,
    }  # fmt: skip
    exec(textwrap.dedent(source), space)
    found = space["f"]
    assert isinstance(found, FunctionType)
    return found


def body(text: str) -> FunctionType:
    return lost("def f(a, n):\n" + "\n".join("    " + line for line in text.split("\n")))


WORK = {
    "operators": "return a + 1, 2 - a, a ** 2, 2.0 ** a, -a, abs(a), a // 2, a % n, a @ a, divmod(a, 2)[1], ~(a > 2)",
    "comparisons": "return a < 2, 2 <= a, a == n, a != n, (a > 1) & (a < 3), n < 9, n == 3",
    "ints": "return n + 1, 7 // n, 7 % n, n * n, -n, n << 2, n & 1, n | 8, n / 2, n ** 2, 2.5 * n, pow(n, 2), ~n",
    "views": "b = a[1:]\nc = b[::-1]\nc[0] = 9\nb += 1\nreturn b, c, a[..., 0], a[None], a[-1], a[n - 2:]",
    "in place": "a += 1\na[1:3] *= 2\na[0] -= n\nb = a\nb /= 2\nreturn a",
    "in place of a number": "s = a[0]\nt = s\ns += 1\nn *= 2\nreturn s, t, n",
    "attributes": "return a.shape, a.ndim, a.size, a.dtype, a.T, a.itemsize, a[0].dtype, len(a)",
    "methods": "return a.sum(), a.max(axis=0), a.copy(), a.astype(np.float32), a.reshape(2, -1), a.mean(), a.dot(a)",
    "a shape set": "b = a * 1\nb.shape = (2, -1)\nreturn b",
    "creation": "z = np.zeros(n)\nz[0] = 1\n"
    "return z, np.ones((n, 2)), np.empty_like(a).size, np.arange(n), np.full(3, n)",
    "arrays of numbers": "return np.array([n, n]), np.array([a[0], 1.0]), np.stack([a, a]), np.asarray(a), np.array(a)",
    "calls that pass no protocol": "return isinstance(a, np.ndarray), isinstance(n, int), isinstance(a[0], float), "
    "float(n), int(a[0]), bool(n), np.int32(n), np.float32(a[0]), np.float64(n), round(a[0], 1), str(n is None)",
    "classes": "return type(n) is int, type(a[0]) is np.float64 if False else 1, a.dtype == np.float64, "
    "np.float64 == a.dtype, a.dtype == float, a.dtype == np.float32, a.dtype.type(3)",
    "math": "return math.sin(n), math.sqrt(a[1]), math.pi * n, math.floor(a[0] + 0.5)",
    "ufuncs": "return np.sin(a), np.add(a, 1, out=a), np.maximum(a, n), np.add.reduce(a), np.multiply.outer(a, a)",
    "numbers of NumPy": "s = np.float64(3)\nreturn s * a, s - a[0], s ** a[1], s < a, s * n, s // a[0]",
    "functions of NumPy": "return np.where(a > 2, a, 0), np.clip(a, 1, 2), np.concatenate([a, a]), np.dot(a, "
    "a), np.sum(a)",
    "unrolled": "t = 0.0\nfor i in range(3):\n    t += a[i] * TABLE[i]\nreturn t",
    "enumerate and zip": "t = 0\nfor i, (p, q) in enumerate(zip([a, a * 2], (1, 2))):\n    t = t + p.sum() * q + i\n"
    "for p in reversed([1, 2]):\n    t = t * p\nreturn t",
    "comprehensions": "return [x * 2 for x in (a, n)], sum(a[i] for i in range(2)), {1: a}[1], max(a[0], a[1])",
    "dicts": "d = {'k': a}\nd['j'] = a + 1\nreturn d['j'], d.get('k'), len(d)",
    "limits of types": "return np.finfo(np.float64).eps * a, np.iinfo(np.int32).max + n, np.finfo(a.dtype).max",
    "dtypes": "return a.dtype == 'f8', a.dtype != int, np.dtype('f4') == np.float32, np.zeros(n, 'f4').dtype.kind",
    "weak and strong": "s = np.float32(2)\nreturn s * a, s * n, n * s, s + a[0], s == n, s % a[1], np.int8(100) - a[0]",
    "a method kept": "total = a.sum\na += 1\nreturn total()",
    "functions by condition": "if n == 3:\n    def k(x): return x + 1\nelse:\n    def k(x): return x - 1\nreturn k(a)",
    "lists": "l = [a, n]\nl.append(a * 2)\nl[0] = 1\nreturn l[2], l[0], l[n - 2] if False else l, tuple(l)",
    "unpacking": "p, q, r, s = a\n(t, *u), v = a.shape + (n,), n\nreturn p + q, t, u, v",
    "tuples by an int": "return TABLE[n], (1, 2, 3, 4, 5)[n - 2:n]",
    "branches on what a guard knows": "if n > 2 and a.shape[0] > 3:\n    return a * 2\nwhile n < 3:\n    n += 1\n"
    "return n if not n else a",
    "inner functions": "def g(x, by=n):\n    def h(y): return y * by + K\n    return h(x)\nreturn g(a), g(2, by=a), "
    "(lambda x: x + n)(1)",
    "nonlocal inside": "k = 0\ndef g():\n    nonlocal k\n    k += n\ng()\ng()\nreturn k",
    "functions that can be read": "return smooth(a, 2.0), smooth(a[::-1].copy(), n)",
    "functions that cannot": "return twice(a), twice(n), twice(a[1:], by=3)",
    "imports": "import math as m\nfrom math import cos\nimport numpy\nreturn m.sin(n), cos(n), numpy.exp(a)",
    "asserts": "assert n > 0, 'n'\nreturn a",
    "fori_loop": "def step(i, v):\n    x, s = v\n    x[i] += s\n    return x, s + a[i]\n"
    "return fori_loop(0, n, step, (a, 0.5))",
    "fori_loop of fresh arrays": "b = np.ones(3)\nb = fori_loop(0, n, lambda i, v: v + i, b)\nc = b\n"
    "b[0] = 9\nreturn b, c",
    "nests": "return fori_loop(0, n, lambda i, v: fori_loop(0, i, lambda j, w: w + j, v), a)",
    "while_loop": "return while_loop(lambda v: v[0].sum() > 1, lambda v: (v[0] * 0.5, v[1] + 1), (a, 0))",
    "cond": "b = a + 1\nreturn cond(a[0] > 1, lambda: a, lambda: b), cond(n > 9, lambda x: x[n], lambda x: x[0], a)",
    "cond with stores": "def put(x):\n    a[0] = x\n    return x\nreturn cond(a.sum() > 7, put, lambda x: -x, 3.0), a",
    "module functions": "return tracebuf.fori_loop(0, n, functools.partial(lambda k, i, v: v * k + i, 2.0), a)",
    "an index error": "return a[9]",
    "a broadcast error": "return a + np.zeros(n + 7)",
    "a type error": "return a + None",
    "an attribute error": "return a.nosuch", "a name error": "return nosuch", "zero division": "return 1 / (n - n)",
    "raises": "if n < 9:\n    raise KeyError('x')",
    "asserts not": "assert n > 9, 'x'",
    "truth of an array": "return 1 if a else 2",
    "an error in a loop": "return fori_loop(0, 9, lambda i, s: s + a[i], 0.0)", "calls a number": "return n(3)",
    "an error where it is not reached": "return cond(a[0] > 99, lambda: a[99], lambda: a[0])",
    "recursion": "def g(x): return x if len(x) < 2 else g(x[1:])\nreturn g(a)",
    "recursion without end": "def g(x): return g(x)\nreturn g(a)",
    "an unknown axis": "return a.sum(axis=3)", "unpacks too much": "p, q = a",
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("text", WORK.values(), ids=WORK)
def test_x1_run_on_tracers_they_agree_with_eager(text: str) -> None:
    g = bufferize(verify=True)(body(text))
    for n in (3, 2, 4):
        agree(g, np.arange(4.0) + 1, n)
    ran = [s for s in g.specializations() if isinstance(s, tracebuf.api.OriginalCalls)]
    assert all(s.reason.startswith("it raises ") for s in ran)


# (body of f(a, n), line in the body, part of the reason, part of the rewrite)
TRAPS = {
    "1 if a[0] > 0 else 2": (1, "run time", "tracebuf.cond"),
    "a[0] > 0 and 3": (1, "run time", "tracebuf.cond"),
    "not a[0]": (1, "run time", "np.where"),
    "1 < a[0] < 3": (1, "run time", "np.where"),
    "a[0] in (1.0, 2.0)": (1, "run time", "cond"),
    "1.0 in a": (1, "what the array holds", "np."),
    "{a[0]: 1}": (1, "a key", "np."),
    "f'{n}'": (1, "a text", "np."),
    "'%s' % n": (1, "a text", "np."),
    "'%f' % a[0]": (1, "a float", "float()"),
    "'{}'.format(a)": (1, "a text", "np."),
    "[x for x in a]": (1, "iterating", "fori_loop"),
    "[*a]": (1, "iterating", "fori_loop"),
    "[i for i in range(n)]": (1, "range of a traced value", "fori_loop"),
    "[i for i in range(1000)]": (1, "1000 iterations", "fori_loop"),
    "list(enumerate(a))": (1, "enumerate of a traced", "fori_loop"),
    "[1, 2][int(a[0])]": (1, "int", "constant"),
    "a.dtype.type(a[0])": (1, "the elements of an array", "float()"),
    "a is n": (1, "`is`", "isinstance"),
    "(a[0] > 0) is True": (1, "`is`", "=="),
    "random.getstate()[0] * a": (1, "random", "draw"),
    "repr(n)": (1, "repr", "outside"),
    "hash(n)": (1, "hash", "outside"),
    "1 if cond(a[0] > 1, lambda: 0, lambda: 2.5) else 2": (1, "different types", "one type"),
    "fori_loop(0, n, lambda i, v: [v[0] + 1], [a])": (1, "a list is carried", "tuple"),
}


@pytest.mark.parametrize("text", TRAPS, ids=str)
def test_x1_what_python_decides_is_refused_with_the_users_line(text: str) -> None:
    line, reason, instead = TRAPS[text]
    error = refused(body("return " + text), np.arange(4.0) + 1, 3)
    assert reason in error.reason and instead in error.instead
    assert error.location is not None and error.location.file == "<string>" and error.location.line == line + 1


STATEMENTS = {
    "try:\n    return a[9]\nexcept IndexError:\n    return a": (3, "`try`"),
    "with np.errstate(all='ignore'):\n    a += 1\nreturn a": (1, "`try` or `with`"),
    "global G\nG = 1\nreturn a": (2, "global"),
    "class A: pass\nreturn a": (1, "class"),
    "while a[0] < 10:\n    a += 1\nreturn a": (1, "run time"),
    "for x in a:\n    n += x\nreturn n": (1, "iterating"),
    "del a[0]": (1, "a list"),
    "a.flags = 1": (1, "setting"),
    "np.e = 1": (1, "setting"),
    "i = 0\nwhile i < n * 100000:\n    i += 1\nreturn i": (2, "unrolled"),
    "l = []\ndef step(i, v):\n    l.append(i)\n    return v\nreturn fori_loop(0, n, step, a), l": (5, "a list, a dict"),
    "k = 0\ndef step(i, v):\n    nonlocal k\n    k += 1\n    return v\nreturn fori_loop(0, n, step, a), k": (6, "name"),
    "def step(i, v):\n    step.x = i\n    return v\nfori_loop(0, n, step, a)\nreturn step.x": (4, "outside of the"),
}


@pytest.mark.parametrize("text", one_in(8, STATEMENTS), ids=str)
def test_f2_effects_and_unseen_control_flow_are_refused(text: str) -> None:
    line, reason = STATEMENTS[text]
    error = refused(body(text), np.arange(4.0), 3)
    assert reason in error.reason and error.instead
    assert error.location is not None and error.location.line == line + 1


@pytest.mark.slow
def test_b5_captured_numbers_are_guards_and_arrays_are_hidden_arguments() -> None:
    f = lost("def f(a): return a * K + TABLE[0] + BIAS", BIAS=np.arange(3.0))
    g, space = bufferize(verify=True)(f), f.__globals__
    agree(g, np.ones(3))
    for name, value in (("K", 4), ("K", 4.0), ("TABLE", (7.0,)), ("BIAS", np.arange(3.0) * 2), ("K", np.ones(3))):
        space[name] = value
        agree(g, np.ones(3))
    space["BIAS"][1] = 99
    agree(g, np.ones(3))
    space["np"] = np
    space["K"] = [1, 2]
    assert "list of the caller" in refused(g, np.ones(3)).reason


def test_b5_closures_and_stores_to_captured_arrays() -> None:
    make = lost("""
        def f(table, k):
            def inner(a):
                table[0] += k
                return a * table
            return inner
        """)
    table = np.arange(3.0)
    inner = make(table, 2)
    g = bufferize(verify=True)(inner)
    for _ in range(2):
        got = g(np.ones(3))
        assert (got == table).all()
    assert table[0] == 4


def test_b5_an_object_from_outside_is_refused() -> None:
    class Box:
        value = 3

    error = refused(lost("def f(a): return a * BOX.value", BOX=Box()), np.ones(3))
    assert "from outside" in error.reason and "argument" in error.instead


def test_x1_functions_that_ran_often_before_are_traced_too() -> None:
    """The interpreter of CPython specialises look-ups of globals in code that ran: not for our namespaces."""
    f = lost("def f(a):\n    def g(x): return np.sin(x) * K\n    return g(a) + np.cos(K)")
    for _ in range(100):
        f(np.ones(3))
    agree(f, np.ones(3))
    for _ in range(100):
        f(np.ones(3))


def test_f0_functions_that_can_be_read_call_ones_that_cannot() -> None:
    f = program(
        """
        def f(a, n):
            for i in range(n):
                twice(a[i:], by=i)
            if a[0] > 1:
                a = twice(a)
            return a, twice(n)
        """,
        twice=LOST_HELPER["twice"],
    )
    for n in (3, 0, 4):
        agree(f, np.arange(4.0) + 1, n)


def test_f2_a_helper_that_changes_a_list_is_refused() -> None:
    helper: dict[str, Any] = {}
    exec("def put(l, x):\n    l[0] = x\n    return x", helper)
    f = program("def f(a):\n    l = [0, 1]\n    put(l, a[0])\n    return l", put=helper["put"])
    assert "changed" in refused(f, np.ones(3)).reason


@pytest.mark.slow
def test_f0_lambdas_that_cannot_be_told_apart() -> None:
    f, g = (lambda a: a + 1, lambda a: a * 3)
    agree(f, np.ones(3))
    agree(g, np.ones(3))
    agree(eval("lambda a, k: (a - k) @ a"), np.arange(3.0), 2)


def test_s8_names_of_one_array_stay_one() -> None:
    f = body("b = a\nc = [a, b]\nb += 1\nfor x in c:\n    x *= 2\nv = a[:2]\nw = v\nreturn a, b, c[0], v, w")
    agree(f, np.arange(4.0), 3)


@pytest.mark.slow
def test_s8_arrays_that_running_functions_hold_are_not_written_by_loops() -> None:
    for text in (
        "b = np.ones(4)\nkept = b\nb = fori_loop(0, n, lambda i, v: v * 2, b)\nreturn b, kept",
        "b = np.ones(4)\nx, y = fori_loop(0, n, lambda i, v: (v[1] + 1, v[0]), (b, a))\nreturn x, y, b",
        "b = np.ones(4)\nkept = [b]\nc = cond(a[0] > n, lambda: b + 1, lambda: b)\nc[0] = 7\nreturn c, kept[0]",
    ):
        g = bufferize(verify=True)(body(text))
        for n in (3, 0, 2):
            agree(g, np.arange(4.0) + 1, n)


def test_one_program_serves_all_sizes() -> None:
    g = bufferize(body("return fori_loop(0, n, lambda i, v: np.sin(v) + a[i], a * 2)"))
    for n in (3, 40, 300):
        agree(g, np.arange(float(n)), n)
    assert len(g.specializations()) == 1


def test_out_and_the_key_work_as_for_other_functions() -> None:
    g = bufferize(verify=True)(body("return a * n"))
    out = np.zeros(4, np.float32)
    assert g(np.arange(4.0, dtype=np.float32), 2, out=out) is out and out[3] == 6
    agree(g, np.arange(4), 2)
    agree(g, np.arange(6.0).reshape(2, 3).T, 2.5)
    assert "scf" not in g.lower(np.arange(4.0), 2).as_text("tensor")


def test_errors_carry_the_users_line() -> None:
    f = body("b = a * 2\nreturn (b +\n    a[n:])")
    with pytest.raises(ValueError) as caught:
        bufferize(f)(np.arange(4.0), 2)
    assert any('File "<string>", line 3, in f' in note for note in caught.value.__notes__)
    error = refused(body("b = 1\nreturn a.tobytes()"), np.arange(3.0), 2)
    assert error.location is not None and (error.location.line, error.location.column) == (3, 11)


@pytest.mark.parametrize("reloaded", [False, True])
def test_a_file_that_is_edited_after_its_import(
    reloaded: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What runs is the code that was imported, whose text is not there any more."""
    file = tmp_path / "edited_example.py"
    text = "def f(x):\n    return x * 2\n"
    file.write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    try:
        module = importlib.import_module("edited_example")
        file.write_text(text.replace("2", "3"))
        if reloaded:
            importlib.reload(module)
    finally:
        del sys.modules["edited_example"]
    x = np.arange(3.0)
    np.testing.assert_array_equal(tracebuf.bufferize(module.f)(x), x * (3 if reloaded else 2))
