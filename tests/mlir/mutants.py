"""Malformed MLIR text: mutants of valid programs in generic form.

A mutant has an operand, a result, a region, an attribute or a block too few or too many, an op under another's name,
other types or numbers, or a token missing, doubled or in another's place.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from itertools import pairwise

OP = re.compile(
    r'(?P<left>(?:%[\w:]+(?:, %\w+)* = )?)"(?P<name>[\w.]+)"\((?P<operands>[^()]*)\)(?P<props>(?: <\{[^\n]*?\}>)?)'
    r"(?P<attrs>(?: \{[^\n{}]*\})?) : \((?P<types>[^\n]*?)\) -> (?P<results>[^\n]*)"
)
TOKEN = re.compile(r'"[^"\n]*"|[%^#!@][\w$.#-]+|[\w.$-]+|->|\S')
TYPES = (
    "f64", "i32", "i1", "index", "tensor<4xf64>", "tensor<4x4xf64>", "tensor<?xf64>", "tensor<*xf64>", "tensor<f64>",
    "memref<4xf64>", "memref<?x?xf32, strided<[?, 1], offset: ?>>", "vector<4xf64>", "complex<f64>", "none",
)  # fmt: skip


def commas(text: str) -> list[str]:
    """The parts between commas that stand in no bracket."""
    parts, depth, start = [], 0, 0
    for i, c in enumerate(text):
        depth += (c in "<([{") - (c in ">)]}" and text[i - 1 : i] != "-")
        if c == "," and depth == 0:
            parts.append(text[start:i].strip())
            start = i + 1
    return [*parts, text[start:].strip()] if text.strip() else []


def changed(rng: random.Random, items: list[str]) -> tuple[int, list[str]]:
    """One item is removed, doubled or put elsewhere; (the place, the items)."""
    if not items:
        return 0, items
    at = rng.randrange(len(items))
    way = rng.randrange(3)
    if way == 0:
        return at, items[:at] + items[at + 1 :]
    if way == 1:
        return at, items[: at + 1] + items[at:]
    rest = items[:at] + items[at + 1 :]
    to = rng.randrange(len(rest) + 1)
    return at, [*rest[:to], items[at], *rest[to:]]


def mutate_op(rng: random.Random, text: str, names: Sequence[str]) -> str:
    """Changes one op that stands on one line."""
    found = list(OP.finditer(text))
    if not found:
        return text
    m = rng.choice(found)
    part = {k: m[k] for k in m.groupdict()}
    operands, types, props = commas(part["operands"]), commas(part["types"]), part["props"]
    way = rng.randrange(7)
    if way < 2 and len(operands) == len(types):
        pairs = changed(rng, [f"{o}\0{t}" for o, t in zip(operands, types)])[1]
        part["operands"] = ", ".join(p.split("\0")[0] for p in pairs)
        part["types"] = ", ".join(p.split("\0")[1] for p in pairs)
    elif way == 2:
        kinds = commas(part["results"].strip("()"))
        some = changed(rng, kinds)[1] if rng.random() < 0.5 or not kinds else [rng.choice(TYPES), *kinds[1:]]
        part["results"] = f"({', '.join(some)})"
        if len(some) != len(kinds):
            part["left"] = f"%new{m.start()}:{len(some)} = " if some and rng.random() < 0.5 else ""
    elif way == 3:
        part["name"] = rng.choice(names)
    elif way == 4 and props:
        entries = changed(rng, commas(props[3:-2]))[1]
        part["props"] = f" <{{{', '.join(entries)}}}>" if entries else ""
    elif way == 5 and re.search(r"\d+", props):
        number = rng.choice(list(re.finditer(r"-?\d+", props)))
        value = rng.choice(["0", "1", "-1", "2", "7", "-9223372036854775808"])
        part["props"] = props[: number.start()] + value + props[number.end() :]
    else:
        part["types"] = ", ".join([*types[:-1], rng.choice(TYPES)])
    parts = "{left}\"{name}\"({operands}){props}{attrs} : ({types}) -> {results}".format(**part)
    return text[: m.start()] + parts + text[m.end() :]


def mutate_region(rng: random.Random, text: str, names: Sequence[str]) -> str:
    """Empties a region, removes or doubles it, or drops a line of it."""
    opened = [m.start() for m in re.finditer(r"\(\{\n", text)]
    if not opened:
        return text
    start = rng.choice(opened)
    depth, end = 0, len(text)
    for m in re.compile(r"\(\{|\}\)").finditer(text, start):
        depth += 1 if m[0] == "({" else -1
        if depth == 0:
            end = m.end()
            break
    inside = text[start + 2 : end - 2]
    lines = inside.splitlines(keepends=True)
    at = rng.randrange(len(lines)) if lines else 0
    fewer, more = "".join(lines[:at] + lines[at + 1 :]), "".join(lines[: at + 1] + lines[at:])
    twice = f"({{{inside}}}, {{{inside}}})"
    new = rng.choice(["({})", "", twice, "({\n  }, {\n  })", f"({{{fewer}}})", f"({{{more}}})"])
    return text[:start] + new + text[end:]


def mutate_argument(rng: random.Random, text: str, names: Sequence[str]) -> str:
    """Changes the arguments of a block."""
    found = list(re.finditer(r"\^bb\d+\(([^\n]*)\):", text))
    if not found:
        return text
    m = rng.choice(found)
    args = changed(rng, commas(m[1]))[1] if rng.random() < 0.6 else [*commas(m[1])[:-1], f"%new: {rng.choice(TYPES)}"]
    return f"{text[: m.start(1)]}{', '.join(args)}{text[m.end(1) :]}"


def mutate_token(rng: random.Random, text: str, names: Sequence[str]) -> str:
    """Removes, doubles or replaces a token, or exchanges two neighbours."""
    spans = [m.span() for m in TOKEN.finditer(text)]
    i = rng.randrange(len(spans) - 1)
    (a, b), (c, d) = list(pairwise(spans))[i]
    k = rng.randrange(len(spans))
    other = text[spans[k][0] : spans[k][1]]
    new = rng.choice(["", f"{text[a:b]} {text[a:b]}", other, None])
    return f"{text[:a]}{text[c:d]} {text[a:b]}{text[d:]}" if new is None else text[:a] + new + text[b:]


WAYS: tuple[Callable[[random.Random, str, Sequence[str]], str], ...] = (
    mutate_op, mutate_op, mutate_op, mutate_region, mutate_argument, mutate_token,
)  # fmt: skip


def mutant(rng: random.Random, text: str, names: Sequence[str]) -> str:
    """A text with one or two changes; `names`: of the ops that another may be called."""
    for _ in range(rng.choice([1, 1, 1, 2])):
        text = rng.choice(WAYS)(rng, text, names)
    return text
