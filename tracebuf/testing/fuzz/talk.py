"""Sequences of calls of one function that talks: print, f-strings and other texts of numbers that only the run time
knows, warnings, messages of exceptions; its arguments are texts and slices too, which are part of the key.

What is printed, and which warnings are given, is compared text by text, with all that `calls` compares.
"""

from __future__ import annotations

import random

from tracebuf.testing.programs import Program

__all__ = ["generate"]

_HEAD = """
import sys
import warnings

import numpy as np

from tracebuf.testing.arrays import array


def say(x, how):
    print(f"{how}={x}")
    return x + 1


"""
_END = """

if __name__ == "__main__":
    from tracebuf.testing.fuzz.calls import check_calls

    check_calls(open(__file__).read())
"""
_STATEMENTS = (
    "print(r)", "print(f'{x:.3f} {n}')", "print('k', n, r[:1], sep=', ', end=';\\n')", "print(f'{x!r:>12}|{x:8.2e}')",
    "print('%5.1f and %s' % (x, how))", "print('{:>8}|{}'.format(x, r.shape))", "text = f'{how}: {x}'", "print(text)",
    "text = text + '!'", "text = text.upper()", "warnings.warn(f'low {x}')", "print(r.dtype, r.ndim, n)",
    "print(*r[:2])", "print(part)", "print(np.round(r, 1), r > x)", "sys.stdout.write(f'{x}\\n')",
    "print(str(x) + how)",
    "print(repr(n), r.max())", "print(f'{r.sum()=}')", "print(f'{n:03d}|{how:>4}|{n % 2 == 0}')", "x = say(x, how)",
    "n = say(n, text)", "print(r.tolist())", "print([x, n], (how, x))", "print(int(x), float(n), bool(x > 1))",
    "print(' '.join([f'{y:.1f}' for y in r[:3]]))", "print(r.mean(), -x, x == n)", "print()",
    "if x > 1:\n    print('high', x)\nelse:\n    print('low')", "if x > 1:\n    text = f'{x:g}'",
    "for k in range(n):\n    print(k, r[k % len(r)])", "for y in r:\n    if y > 0:\n        print(f'{y}', end=' ')",
    "for k in range(n):\n    x = x + k\n    if k % 2:\n        print(f'{k:02d} {x}')",
    "k = 0\nwhile x < 9 and k < 5:\n    x, k = x * 2 + 1, k + 1\n    print(x)",
    "r = r[part]", "r = r + 1", "a[part] = 2", "a[part] += 1", "r = a[part] * 2", "r = r[part][::-1]",
    "if how == 'x':\n    r = r * 2", "if how in ('x', 'y'):\n    print(how)", "x = x * 0.5", "n = n + 1",
    "x = float(x)",
    "x = r.sum()", "r[:1] = 3", "if part is None:\n    r = r.ravel()", "if isinstance(part, slice):\n    r = r * 0.5",
    "if x > 20:\n    raise ValueError(f'{how} {x:.2f} {n}')", "assert x < 40, f'x is {x}'",
    "try:\n    print(r[n])\nexcept IndexError:\n    print('none')", "return r, x", "return text.count('1')",
)  # fmt: skip
_TEXTS = ("'x'", "'y'", "'a text'", "''", "np.str_('x')")
_PARTS = (
    "slice(None)", "slice(1, None)", "slice(None, None, 2)", "slice(None, -1)", "slice(None, None, -1)", "slice(0, 2)",
    "slice(2, 0, -1)", "...", "None", "slice(1, 1)",
)  # fmt: skip
_DTYPES = ("float64",) * 4 + ("int64", "float32", "bool", "int8", "complex128")
_RAISED = "(AttributeError, AssertionError, IndexError, TypeError, ValueError)"


def generate(draw: random.Random) -> Program:
    """A function of an array, a text, a part and an int, and calls of it."""

    def array() -> str:
        shape = draw.choice(("(3,)", "(4,)", "(5,)", "(1,)", "(3,)", "(2, 3)"))
        layout = draw.choice(("C", "C", "reversed"))
        return f'array("{draw.choice(_DTYPES)}", {shape}, {draw.randrange(99)}, "{layout}")'

    def call() -> str:
        given = [draw.choice((array(), array(), "X", "TABLE"))]
        given += [f"how={draw.choice(_TEXTS)}"] if draw.random() < 0.6 else []
        given += [f"part={draw.choice(_PARTS)}"] if draw.random() < 0.6 else []
        given += [f"n={draw.randrange(5)}"] if draw.random() < 0.5 else []
        return f"call({', '.join(given)})"

    body = ["r = a * 1", "x = r.sum()", "text = how", *(draw.choice(_STATEMENTS) for _ in range(draw.randrange(3, 9)))]
    calls = [call() for _ in range(draw.randrange(2, 6))]
    made = [x for _ in range(draw.randrange(4, 12)) for x in [draw.choice(calls)] * draw.choice((1, 1, 1, 4))]
    steps = [f"try:\n    {x}\nexcept {_RAISED}:\n    pass" for x in made]
    parts = [
        f"X = {array()}\nTABLE = {array()}",
        f"def program(a, how='x', part=slice(None), n=2):\n{_indented([*body, 'return r'])}",
        f"def steps(call):\n{_indented(steps)}",
    ]
    return Program(_HEAD.lstrip() + "\n\n\n".join(parts) + "\n" + _END)


def _indented(statements: list[str]) -> str:
    return "\n".join(f"    {line}" for statement in statements for line in statement.split("\n"))
