"""The equality of tuples, lists and dicts with items that only the run time knows: eager's answer, or a refusal.

Python compares items by their `__eq__`; the tracer's own objects (values of one type or another by the path, objects,
dicts of traced values) have none that says anything. Whatever compares items is tried: operators, `in`, and methods.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import tracebuf
from tests.support.agreement import agree, program
from tests.support.params import one_in


@dataclass
class Pair:
    x: Any
    y: Any = 1


class Box:
    def __init__(self, x: Any) -> None:
        self.x = x


BY_PATH = [
    "q == [0]", "[0] == q", "q != [0]", "q[:] == [0]", "(*q,) == (0,)", "q + [1] == [0, 1]", "[[q]] == [[[0]]]",
    "q in [[0]]", "[0] in t", "('x', 0) in d.items()", "[o.x] == [0]", "t == ([0], 1)", "q == t[0]", "q < [1]",
    "q.count(0)", "q.index(0)", "q.remove(0)", "(q * 2).count(0)", "t.count([0])", "t.index([0])", "[q[0]].count(0)",
    "(q[0], 1).index(1)", "[d] == [{'x': 0}]", "[d].count({'x': 0})", "(d, 1) == ({'x': 0}, 1)", "d == {'x': 0}",
    "q is t[0]", "[q].count(q)", "len(q)", "q[0] == 0", "q.pop() == 0",
]  # fmt: skip
OBJECTS = [
    "[Pair(1)] == [Pair(1)]", "(Pair(1), 2) == (Pair(1), 2)", "[(Pair(1),)].count((Pair(1),))",
    "(Pair(1),) in [(Pair(1),)]", "[[Pair(1)]].index([Pair(1)])", "[Pair(a)] == [Pair(a)]",
    "[{'x': Pair(1)}] == [{'x': Pair(1)}]", "[Box(1)] == [Box(1)]", "(lambda e: [e] == [e])(Pair(1))",
    "[{'y': a.sum()}] == [{'y': 1.0}]", "{'y': a.sum()} in [{'y': 1.0}]", "{'y': a.sum()} == {'y': 1.0}",
    "[a.sum(), 1] == [1.0, 1]", "[a.sum()] == [None]", "[a] == [a]", "{'x': (0,)} == {'x': (0,)}",
]  # fmt: skip
COMPILED = {"q is t[0]", "(lambda e: [e] == [e])(Pair(1))", "[a.sum(), 1] == [1.0, 1]"}
"""What is not refused."""
FIRST = """
    q, d, o, t = [b], {'x': b}, Box(b), ([b], 1)
    if a[0] > 0:
        q[0] = d['x'] = o.x = t[0][0] = 0
"""


def agrees_or_is_refused(text: str, first: str = "") -> None:
    f = program(f"def f(a, b):\n{first}    return {text}\n", Pair=Pair, Box=Box)
    for a in (np.ones(1), np.zeros(1)):
        for b in (np.zeros(1), np.ones(1)):
            try:
                agree(f, a, b)
            except AssertionError as error:
                if text in COMPILED or not isinstance(error.__cause__, tracebuf.UnsupportedError):
                    raise


@pytest.mark.parametrize("text", one_in(3, BY_PATH))
def test_items_of_one_type_or_another_by_the_path(text: str) -> None:
    """`[x].count(0)` was 0 where the path had bound x to 0; == was False, and < a TypeError."""
    agrees_or_is_refused(text, FIRST)


@pytest.mark.parametrize("text", one_in(3, OBJECTS))
def test_objects_and_dicts_as_items(text: str) -> None:
    """Two objects of a dataclass with equal fields were different in a list."""
    agrees_or_is_refused(text)


class Plain:
    def __init__(self, x: Any) -> None:
        self.x = x

    def __add__(self, other: Any) -> Any:
        return self if other == 0 else Plain(self.x + other.x)

    __radd__ = __add__


class Odd:
    def __eq__(self, other: Any) -> Any:
        return other is None or other == "s"

    __hash__ = None  # type: ignore[assignment]


@pytest.mark.parametrize(
    "text",
    [
        "o == 3, 3 == o, o != 1.5, o == None, None != o, o == 's', {} == n, n != {1: 2}, o == n, o == True",
        "e == None, None == e, e == 's', e == 't', e != 's', e == 3, e != None",
        "sum([Plain(a), Plain(2 * a), Plain(a + 1)]).x", "sum((Plain(a),), Plain(a)).x",
        "sum(Plain(a) for _ in range(3)).x",
        "sum([Plain(a), 1])", "sum([Odd()])",
    ],
)  # fmt: skip
def test_objects_beside_numbers_texts_and_none(text: str) -> None:
    """None and texts were unequal to an object of any class. sum(objects) adds them one after another."""
    source = f"def f(a, n):\n    o, e = Plain(a), Odd()\n    return {text}"
    agree(program(source, Plain=Plain, Odd=Odd), np.arange(3.0), 3)
