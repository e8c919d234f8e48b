"""Random loops that replace, shrink and combine arrays: the most memory alive at once is not above eager NumPy's.

The ladder counts allocations; a loop may keep more of them alive than eager, which frees an array when its last name
goes. The programs are of a few names over large arrays (NumPy computes in a dying operand only from 256 KiB on); they
climb the ladder on small ones. The peak is counted as `tracebuf.measure` does, with `SPARE` bytes for numbers.

Not drawn: loops that are left early, loops that are unrolled because names hold other arrays in each iteration, names
that are exchanged, several branches in one body. There an array that only a path not taken needs may live longer than
in eager NumPy.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

import numpy as np

from tracebuf.api import bufferize
from tracebuf.backend.runtime.memory_hook import counting
from tracebuf.measure import clone_arguments
from tracebuf.testing.ladder import Mismatch
from tracebuf.testing.programs import FOOTER, HEADER, Program

__all__ = ["check_peak", "generate", "peaks"]

LARGE, SMALL = 40_000, 7
SPARE = 4096

STATEMENTS = (
    "{a} = np.roll({a}, 1)",
    "{a} = np.roll({b}, {k})",
    "{a} = {a} / (1 + abs({a}[0]))",
    "{a} = {a} * 0.5 + {b}",
    "{a} = np.roll({a}, {k}) + np.roll({b}, 1) + np.roll({a}, -1)",
    "{a} += {b}",
    "{a}[{k}:] = {b}[:-{k}]",
    "{a} = np.sort({a})",
    "{a} = np.cumsum({b}) * 0.01",
    "{a} = np.where({b} > 0.5, {a}, {b} * 2)",
    "s = s[1:] * 0.5",
    "s = s[s > s[0] * 0.125]",
    "s = np.append(s[:-2], s[0])",
    "if {a}[0] > {b}[0]: {a} = np.roll({b}, {k})",
    "if {a}[0] > {b}[0]: {a} = {b} + 1",
)
RESULTS = ("v", "w", "v, w", "v + w", "np.roll(v, 1) - w", "s.sum(), w", "(v * w).sum()", "w, v, s")


def generate(draw: random.Random) -> Program:
    """A loop over the arrays v, w (of one size) and s (which may shrink), and its arguments."""

    def statement() -> str:
        a, b = draw.sample(["v", "w"], 2)
        return draw.choice(STATEMENTS).format(a=a, b=b, k=draw.randint(1, 3))

    before = [draw.choice(["w = v", "w = v.copy()", "w = np.roll(v, 1)", "w = w * 2", "v = v + 1; w = v", "pass"])]
    body = [statement() for _ in range(draw.randint(1, 4))]
    branches = [k for k, line in enumerate(body) if line.startswith("if ")]
    body = [line for k, line in enumerate(body) if k not in branches[1:]]
    lines = [*before, "for i in range(n):", *("    " + line for line in body), f"return {draw.choice(RESULTS)}"]
    text = [HEADER, "TOLERANCE = 1e-09", "DONATED = ()", "def program(v, w, s, n):\n    " + "\n    ".join(lines)]
    for name, size in (("arguments", SMALL), ("arguments_again", SMALL + 2), ("large", LARGE)):
        made = ", ".join(f'array("float64", ({size},), {seed}, "C")' for seed in range(3))
        text.append(f"def {name}():\n    return {made}, 4")
    return Program("\n\n\n".join(text) + "\n" + FOOTER)


def peaks(function: Callable[..., Any], args: Sequence[Any]) -> tuple[int, int]:
    """The most bytes of arrays that were alive at once in a call, above those before it: in eager, in native."""
    f = bufferize(function)
    found = []
    with np.errstate(all="ignore"):
        f(*clone_arguments(tuple(args), {})[0])  # fills the arena
        for run in (function, f.call_counted):
            values, _ = clone_arguments(tuple(args), {})
            with counting() as seen:
                result = run(*values)
            found.append(seen.whole_peak_bytes)
            del result
    return found[0], found[1]


def check_peak(module: ModuleType, source: str) -> None:
    """Raises Mismatch where the program of a module with large arguments has a higher peak than eager NumPy."""
    eager, native = peaks(module.program, module.large())
    if native > eager + SPARE:
        raise Mismatch("native, counts", f"the peak of eager is {eager:,} bytes, of native {native:,}", source)
