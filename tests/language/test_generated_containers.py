"""Generated programs over objects, lists and dicts of arrays: early returns, swaps, branches and loops on data.

What a path has made or changed must be known where the paths meet, at any depth: the program either equals eager NumPy
(tracing verified), or is refused while tracing.
"""

from __future__ import annotations

import dataclasses
import random
from typing import Any

import numpy as np
import pytest

import tracebuf
from tests.support.agreement import agree, program
from tests.support.params import slow_but


class Box:
    def __init__(self, a: Any, b: Any) -> None:
        self.a = a
        self.items = [a, b]


@dataclasses.dataclass
class Pair:
    a: Any
    items: Any


HOLDERS = ("x", "y", "o.a", "o.items[0]", "o.items[1]", "k[0]", "k[1]", "d['p']", "d['q']")


class Writer:
    """Draws the statements of one program: every name is bound when it is used, every loop ends."""

    def __init__(self, seed: int) -> None:
        self.draw = random.Random(seed)
        self.loops = 0

    def test(self) -> str:
        side = self.draw.choice(("x[0]", "y[1]", "o.a[0]", "k[0][0]", "d['p'][1]", "o.items[1][0]"))
        return f"{side} {self.draw.choice('<>')} {self.draw.choice((-5, -1, 0, 1, 2, 50))}"

    def array(self) -> str:
        return self.draw.choice(
            ("x", "y", "o.a", "o.items[0]", "o.items[1]", "k[0]", "k[1]", "d['p']", "d['q']", "x + 1", "y * 2",
             "x.copy()", "x[::-1]")
        )  # fmt: skip

    def place(self, depth: int) -> str:
        """What is assigned to. A list is replaced by another at the top only: of names that hold one list or another,
        depending on the path, it is not known whether they hold the same one."""
        lists = ("k", "o.items") if depth == 0 else ()
        return self.draw.choice((*HOLDERS, *lists))

    def value(self, place: str) -> str:
        if place == "k" or place == "o.items":
            return self.draw.choice(("k", "o.items", "[x, y]", "k[::-1]", "list(k)", "[o.a, k[0]]"))
        return self.array()

    def result(self) -> str:
        return self.draw.choice(
            ("o", "k", "d", "o.items", "(o, k)", "1", "None", "x", "[x, o.a]", "o.a is x", "(k[0] is k[1], d)",
             "(o.items is k, k)")
        )  # fmt: skip

    def swap(self) -> str:
        a, b = self.draw.choice((("o.items[0]", "o.items[1]"), ("k[0]", "k[1]"), ("d['p']", "d['q']"), ("x", "y"),
                                 ("o.a", "k[0]")))  # fmt: skip
        return f"{a}, {b} = {b}, {a}"

    def statement(self, depth: int, in_loop: bool) -> list[str]:
        kinds = ["set", "set", "swap", "swap", "store", "call", "add"]
        if depth < 2 and not self.loops:
            kinds += ["if", "if", "if", "early", "early", "for", "while"]
        elif depth < 3:
            kinds += ["if", "early"]
        if in_loop:
            kinds += ["jump"]
        kind = self.draw.choice(kinds)
        if kind == "set":
            place = self.place(depth)
            return [f"{place} = {self.value(place)}"]
        if kind == "swap":
            return [self.swap()]
        if kind == "store":
            return [f"{self.draw.choice(HOLDERS)}[{self.draw.choice((0, 1))}] = {self.draw.choice((3, 7))}.0"]
        if kind == "add":
            return [f"{self.draw.choice(('o.a', 'k[0]', 'x'))} += 1"]
        if kind == "call":
            return [f"{self.draw.choice(('o.a', 'x', 'y'))} = pick(x, y, o)"]
        if kind == "early":
            return [f"if {self.test()}:", f"    return {self.result()}"]
        if kind == "jump":
            return [f"if {self.test()}:", f"    {self.draw.choice(('break', 'continue'))}"]
        if kind == "if":
            lines = [f"if {self.test()}:", *self.block(depth + 1, in_loop)]
            return lines + (["else:", *self.block(depth + 1, in_loop)] if self.draw.random() < 0.4 else [])
        self.loops += 1
        i = f"i{self.loops}"
        if kind == "for":
            lines = [f"for {i} in range({self.draw.choice(('3', 'n'))}):", *self.block(depth + 1, True)]
        else:
            lines = [f"{i} = 0", f"while {i} < 3 and {self.test()}:", f"    {i} += 1", *self.block(depth + 1, True)]
        return lines + (["else:", *self.block(depth + 1, in_loop)] if self.draw.random() < 0.3 else [])

    def block(self, depth: int, in_loop: bool) -> list[str]:
        lines = [x for _ in range(self.draw.choice((1, 1, 2))) for x in self.statement(depth, in_loop)]
        return ["    " + x for x in lines]

    def function(self) -> str:
        make = self.draw.choice(("Box(x, y)", "Box(y, x)", "Pair(x, [y, x])", "Pair(y, [x, x])"))
        lines = [
            f"o = {make}", f"k = {self.draw.choice(('[x, y]', 'o.items', '[o.a, x + 1]'))}", "d = {'p': y, 'q': k[0]}",
            "def pick(u, v, w):", f"    if u[0] > {self.draw.choice((0, 1))}:", "        return v",
            f"    {self.draw.choice(('w.a = u', 'w.items[0] = v', 'pass'))}", "    return u",
        ]  # fmt: skip
        for _ in range(self.draw.choice((2, 3, 4))):
            lines += self.statement(0, False)
        lines.append(f"return {self.draw.choice(('o', 'k', 'd', '(o, k, d)', '(o, k)'))}")
        return "def f(x, y, n):\n" + "\n".join("    " + x for x in lines)


@pytest.mark.parametrize("seed", slow_but(range(4), range(120)))
def test_programs(seed: int) -> None:
    text = Writer(seed).function()
    f = program(text, Box=Box, Pair=Pair)
    g = tracebuf.bufferize(verify=True)(f)
    rng = np.random.default_rng(seed)
    for values in ((0.0, 1.0, -1.0, 2.0), (2.0, -3.0, 0.0, 1.0), tuple(rng.integers(-2, 3, 4) * 1.0)):
        x, y = np.array(values), np.array(values[::-1]) - 1
        try:
            agree(g, x, y, 4)
        except tracebuf.UnsupportedError:
            continue
        except AssertionError as error:
            if "bufferized UnsupportedError" in str(error):
                continue
            raise AssertionError(text) from error
