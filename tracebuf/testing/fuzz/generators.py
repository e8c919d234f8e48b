"""Random programs of generator functions, and of loops over them within one another and over expressions of them.

Eager NumPy and every rung of the ladder. Names of loops are drawn from few, so that inner loops meet those around.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

from tracebuf.testing.programs import FOOTER, HEADER, Program

__all__ = ["generate"]

DEFINITIONS = (
    "for i in range(n):\n    yield {i}", "for x in v[:n]:\n    yield x * 2",
    "for i, x in enumerate(v):\n    yield x + i", "i = 0\nwhile i < n:\n    yield {i}\n    i += 1 + i % 2",
    "for i in range(n):\n    if {test}:\n        yield {i}", "yield v[0]\nyield n\nyield v[-1]",
    "for i in range(n):\n    if {test}:\n        yield {i}\n    else:\n        yield -1",
    "s = 0.0\nfor i in range(n):\n    s += v[i % len(v)]\n    yield s",
    "for x in v[:n]:\n    if x > 3:\n        return\n    yield x", "for i in range(n):\n    yield i\nyield -2",
    "for i in range(n):\n    for j in range(i):\n        yield v[i % len(v)] * j",
    "i, x = 0, 1.0\nwhile x < 20:\n    yield x\n    x = x * 2 + v[i % len(v)] % 2\n    i += 1",
)  # fmt: skip
OF_OTHERS = (
    "yield from {g}(v, n)", "for x in {g}(v, n):\n    yield x * 2",
    "for x in {g}(v, 3):\n    if x > 1:\n        yield x", "for i in range(2):\n    yield from {g}(v, i + 1)",
    "for x in {g}(v, 2):\n    for y in {g}(v, 2):\n        yield x - y", "yield 0.5\nyield from {g}(v[::-1], n)",
)  # fmt: skip
ITEMS = ("i", "i * 0.5", "v[i % len(v)]", "i - 1")
TESTS = ("i % 2", "v[i % len(v)] > 1", "i > 1")
LOOPS = (
    "for {x} in {g}({a}, {n}):", "for {x} in {g}({a}, {n}):", "for {x} in {g}({a}, {n}):",
    "for j, {x} in enumerate({g}({a}, {n})):", "for {x}, j in zip({g}({a}, {n}), w):",
    "for j, {x} in zip(w, {g}({a}, {n})):", "for {x} in list({g}({a}, {n})):", "for {x} in range({n}):",
    "for {x} in (y * 2 for y in {g}({a}, {n})):", "for {x} in {a}:", "for {x} in [y + 1 for y in {g}({a}, {n})]:",
)  # fmt: skip
STATEMENTS = (
    "t += {value}", "t = t * 0.5 + {value}", "u = {value}", "seen.append({value})", "t += sum({g}({a}, {n}))",
    "{a}[{n} % 4] += {value}", "t += max({g}({a}, {n}), default=0.0)", "t += len(list({g}({a}, {n})))",
    "u = sum(y for y in {g}({a}, {n}) if y > {value})", "t += sum([y * 2 for y in {g}({a}, {n})])",
    "t += any(y > {value} for y in {g}({a}, {n}))", "t += next({g}({a}, {n}), 0.5)", "seen.extend({g}({a}, 2))",
)  # fmt: skip
HEADS = ("if {value} > {other}:", "if t > 1:", "if flag[0]:", "for k in range(n):", "if v[0] < w[1]:")
RESULTS = ("t, u", "t, len(seen)", "v, w, t", "t, sum(seen)", "v + t, u")


def generate(draw: random.Random) -> Program:
    """A program over the vectors v and w, and its arguments."""
    names = [f"gives{k}" for k in range(draw.randint(1, 3))]

    def define(known: Sequence[str]) -> str:
        form = draw.choice(OF_OTHERS if known and draw.random() < 0.5 else DEFINITIONS)
        text = form.format(g=draw.choice(known or names), i=draw.choice(ITEMS), test=draw.choice(TESTS))
        return f"def {names[len(known)]}(v, n):\n    " + text.replace("\n", "\n    ")

    def filled(form: str, bound: Sequence[str], name: str = "") -> str:
        value, other = draw.choices(("t", "u", "1.5", "n", *bound, *bound), k=2)
        number = draw.choice(("2", "3", "n", "n", "len(v)"))
        return form.format(g=draw.choice(names), a=draw.choice("vw"), n=number, x=name, value=value, other=other)

    def block(depth: int, bound: Sequence[str], loops: int) -> list[str]:
        lines: list[str] = []
        for _ in range(draw.randint(1, 2)):
            kind = draw.random()
            if depth < 3 and kind < 0.45:
                name = draw.choice("pqr")
                inner = block(depth + 1, [*bound, name], loops + 1)
                lines += [filled(draw.choice(LOOPS), bound, name), *("    " + line for line in inner)]
            elif depth < 3 and kind < 0.6:
                head = draw.choice(HEADS)
                inner = block(depth + 1, bound, loops + head.startswith("for"))
                lines += [filled(head, bound), *("    " + line for line in inner)]
            elif loops and kind < 0.68:
                lines += [filled("if {value} > {other}:", bound), "    " + draw.choice(("break", "continue"))]
            else:
                lines.append(filled(draw.choice(STATEMENTS), bound))
        return lines

    text = [HEADER, "TOLERANCE = 0.0", "DONATED = ()", *(define(names[:k]) for k in range(len(names)))]
    lines = ["t, u, seen = 0.0, 1.0, []", *block(0, (), 0), f"return {draw.choice(RESULTS)}"]
    text.append("def program(v, w, flag, n):\n    " + "\n    ".join(lines))
    for name, size, seed in (("arguments", 4, 0), ("arguments_again", 5, 5)):
        made = [f'array("float64", ({size},), {seed + k}, "C")' for k in range(2)]
        text.append(f'def {name}():\n    return {", ".join(made)}, array("bool", (2,), {seed}, "C"), {2 + seed % 3}')
    return Program("\n\n\n".join(text) + "\n" + FOOTER)
