"""Random whole programs over objects: classes with attributes and methods, lists, dicts, dataclasses and named tuples,
functions inside, early returns on data, swaps, loops with `else`, exceptions, comprehensions, closures, identity.

The same form as `tracebuf.testing.programs`: a module with `program`, `arguments()` and `arguments_again()`. Some of
the arguments are containers, which may hold the other arguments, and which the ladder compares afterwards too.
"""

from __future__ import annotations

import ast
import random
from functools import cache
from typing import Any

from tracebuf.testing.fuzz.object_statements import ObjectStatements
from tracebuf.testing.fuzz.object_values import CLASSES, HELPERS
from tracebuf.testing.fuzz.places import Sight, executed, run
from tracebuf.testing.programs import FOOTER, Program

__all__ = ["generate"]

HEADER = """from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from tracebuf.testing.arrays import array

TOLERANCE = 0.0
DONATED = ()
"""

AROUND = "\n".join([HEADER, *CLASSES.values(), *(f"\n{h}\n" for h in HELPERS.values())])


@cache
def around() -> dict[str, Any]:
    """The names around every program."""
    return executed(AROUND)


def generate(draw: random.Random) -> Program:
    """A program drawn from a source of random numbers."""
    return _Objects(draw).program()


class _Objects(ObjectStatements):
    """Arguments and the whole."""

    def __init__(self, draw: random.Random) -> None:
        super().__init__(draw)
        self.parameters: list[str] = []
        self.made: tuple[list[str], list[str]] = ([], [])

    def program(self) -> Program:
        while True:
            self.arguments()
            if self.look():
                break
            self.parameters, self.made = [], ([], [])
        for _ in range(self.weighted((2, 2), (3, 3), (4, 4), (4, 5), (3, 6), (2, 8))):
            self.statement()
        if not self.ended:
            self.ending()
        return Program(pruned(AROUND + self.text(self.lines) + "\n" + FOOTER))

    def ending(self) -> None:
        """A return that does not raise, if it can be had."""
        mark = len(self.lines)
        for _ in range(6):
            del self.lines[mark:]
            self.emit(f"return {self.result()}")
            seen = self.sight(self.lines)
            if seen is not None and seen.error is None:
                return

    def sight(self, lines: list[str]) -> Sight | None:
        return run(self.text(lines), around())

    def text(self, body: list[str]) -> str:
        """The program with this body, and what makes its arguments."""
        names = ", ".join(self.parameters)
        parts = []
        parts.append("\n" + "\n".join([f"def program({names}):", *(body or ["    pass"])]) + "\n")
        for name, lines in zip(("arguments", "arguments_again"), self.made):
            comma = "," if len(self.parameters) == 1 else ""
            parts.append("\n" + "\n".join([f"def {name}():", *(f"    {x}" for x in lines)]))
            parts.append(f"    return ({names}{comma})\n")
        return "\n".join(parts)

    # -- arguments
    def arguments(self) -> None:
        sizes = [self.weighted((5, 3), (5, 4), (2, 5), (1, 2), (1, 1)) for _ in range(2)]
        rank = 2 if self.chance(8) else 1
        for name in "ab" if self.chance(75) else "abc":
            if name != "a" and self.chance(6):
                self.argument(name, "a", "a")
                continue
            dtype = self.weighted((8, "float64"), (2, "int64"), (1, "float32"))
            layout = self.weighted((9, "C"), (1, "reversed"), (1, "stepped"))
            given = [f'array("{dtype}", {(n,) * rank}, {self.draw.randrange(100)}, "{layout}")' for n in sizes]
            self.argument(name, *given)
        if self.chance(65):
            held = self.holder()
            self.argument("p", held, held)
            if self.chance(25):
                held = self.holder()
                self.argument("q", held, held)
        if self.chance(50):
            self.argument("n", *(self.pick(("0", "1", "2", "3", "4")) for _ in range(2)))
        if self.chance(15):
            self.argument("x", *(self.pick(("0.5", "2.0", "-1.0")) for _ in range(2)))
        if self.chance(20):
            self.argument("flag", *(self.pick(("True", "False")) for _ in range(2)))
        self.draw.shuffle(self.parameters)

    def argument(self, name: str, first: str, second: str) -> None:
        self.parameters.append(name)
        for lines, text in zip(self.made, (first, second)):
            lines.append(f"{name} = {text}")

    def holder(self) -> str:
        """A container of the arrays that are arguments, or of copies of them."""
        a, b = (self.pick(("a", "b", "a + 1", "b[::-1].copy()", "b * 2")) for _ in range(2))
        return self.pick((
            f"Box({a}, {b})", f"Cell({a}, {b})", f"Cell({a}, 2.0, [{b}])", f"Pair({a}, {b})", f"[{a}, {b}]",
            f"({a}, [{b}, 2])", f'{{"k": {a}, "j": {b}}}', f'{{"k": [{a}, {b}], "j": 3}}', f"[Box({a}, {b}), {b}]",
            f"Box({a}, Pair({b}, 1))", f"[{a}, {b}, {a}]", f"Cell(Box({a}, {b}), {b})",
        ))  # fmt: skip


def pruned(text: str) -> str:
    """The module without the classes and helpers that nothing names."""
    tree = ast.parse(text)
    kept = {"program", "arguments", "arguments_again"}
    while True:
        used = [n for n in tree.body if not isinstance(n, ast.ClassDef | ast.FunctionDef) or n.name in kept]
        names = {x.id for n in used for x in ast.walk(n) if isinstance(x, ast.Name)} & {*CLASSES, *HELPERS}
        if names <= kept:
            break
        kept |= names
    lines = text.splitlines()
    for n in reversed(tree.body):
        if n not in used and isinstance(n, ast.ClassDef | ast.FunctionDef):
            first = min([n.lineno, *(d.lineno for d in n.decorator_list)])
            del lines[first - 1 : n.end_lineno]
            while first - 1 < len(lines) and not lines[first - 1].strip():
                del lines[first - 1]
    return "\n".join(lines) + "\n"
