"""Python expressions as text, with how tightly they bind."""

from __future__ import annotations

import re
from dataclasses import replace

from tracebuf.frozen import frozen

CHOICE, OR, AND, NOT, COMPARE, BIT_OR, BIT_XOR, BIT_AND, SHIFT, SUM, PRODUCT, SIGN, ATOM = range(13)
"""How tightly an expression binds, loosest first."""


@frozen(slots=False)
class Expr:
    """An expression. `soft`: its value may be one of Python's own numbers (a literal, say) where NumPy's is meant;
    an operator of two such would follow Python's rules. `reads`: it reads an array, so it may not move past a store."""

    text: str
    level: int = ATOM
    soft: bool = False
    reads: bool = False

    def at(self, level: int) -> str:
        """The text where something binds as tightly as `level`."""
        return self.text if self.level >= level else f"({self.text})"

    def __str__(self) -> str:
        return self.text

    @property
    def is_number(self) -> bool:
        return self.text.lstrip("-").replace(".", "").isdecimal()


LEAST = str(-(2**63))
"""The int64 that has no opposite."""


def number(value: int) -> Expr:
    return Expr(str(value), ATOM if value >= 0 else SIGN, soft=True)


def call(function: str, *args: Expr | str, soft: bool = False) -> Expr:
    reads = any(a.reads for a in args if isinstance(a, Expr))
    return Expr(f"{function}({', '.join(map(str, args))})", soft=soft, reads=reads)


def binary(operator: str, level: int, a: Expr, b: Expr) -> Expr:
    """`a operator b`. Operators of one level are taken from the left, comparisons not at all."""
    left, right = a.at(level + (level == COMPARE)), b.at(level + 1)
    if operator == "+" and b.text.startswith("-") and b.level >= SIGN and b.text != LEAST:
        operator, right = "-", b.text[1:]
    return Expr(f"{left} {operator} {right}", level, a.soft and b.soft, a.reads or b.reads)


def negation(a: Expr) -> Expr:
    if a.text.startswith("not ") and a.level == NOT:
        return replace(a, text=a.text[4:], level=COMPARE)
    if a.level == COMPARE and len(found := re.split(r" ([=!]=) ", a.text)) == 3 and _whole(found[0]):
        return replace(a, text=f"{found[0]} {'!=' if found[1] == '==' else '=='} {found[2]}")
    return Expr(f"not {a.at(NOT)}", NOT, a.soft, a.reads)


def _whole(text: str) -> bool:
    """Whether the brackets of a part of an expression are its own."""
    return all(text.count(a) == text.count(b) for a, b in ("()", "[]"))


def total(a: Expr, b: Expr) -> Expr:
    """The sum of two sizes."""
    if a.text == "0" or b.text == "0":
        return b if a.text == "0" else a
    if a.is_number and b.is_number and "." not in a.text + b.text:
        return number(int(a.text) + int(b.text))
    return binary("+", SUM, b, a) if a.is_number else binary("+", SUM, a, b)


def chosen(condition: Expr, a: Expr, b: Expr) -> Expr:
    text = f"{a.at(OR)} if {condition.at(OR)} else {b.at(CHOICE)}"
    return Expr(text, CHOICE, a.soft or b.soft, a.reads or b.reads or condition.reads)
