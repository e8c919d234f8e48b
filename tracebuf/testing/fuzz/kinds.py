"""The kinds of programs that the fuzzer draws, by name, and which is drawn how often.

A program is the text of a module; what a kind needs beside that is a name in it (THREADS, EXPECTED), so that a failing
program is a file that runs on its own.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping

from tracebuf.testing import programs
from tracebuf.testing.fuzz import (
    calls,
    exits,
    generators,
    labels,
    libraries,
    lists,
    objects,
    peaks,
    talk,
    threads,
    untyped,
)
from tracebuf.testing.programs import Program

__all__ = ["KINDS", "WEIGHTS", "generate", "parsed"]

KINDS: dict[str, Callable[[random.Random], Program]] = {
    "arrays": programs.generate,
    "objects": objects.generate,
    "calls": calls.generate,
    "threads": threads.generate,
    "exits": exits.generate,
    "peaks": peaks.generate,
    "lists": lists.generate,
    "generators": generators.generate,
    "labels": labels.generate,
    "libraries": libraries.generate,
    "talk": talk.generate,
    "untyped": untyped.generate,
}
WEIGHTS: dict[str, float] = {
    "arrays": 10, "objects": 10, "calls": 2, "threads": 1, "exits": 0.1, "peaks": 0.5, "lists": 2,
    "generators": 1, "labels": 1, "libraries": 2, "talk": 2, "untyped": 4,
}  # fmt: skip
"""How often each kind is drawn; a program of `exits` takes a process of its own, so a second or more."""


def generate(seed: str, weights: Mapping[str, float]) -> Program:
    """The program of a seed: its kind by the weights, then drawn from that seed alone."""
    kind = random.Random(f"{seed} kind").choices(list(weights), list(weights.values()))[0]
    return KINDS[kind](random.Random(seed))


def parsed(text: str) -> dict[str, float]:
    """Weights from text: "objects" alone, "arrays=1,objects=4". ValueError where it is something else."""
    found: dict[str, float] = {}
    for part in text.split(","):
        name, _, weight = part.strip().partition("=")
        if name not in KINDS:
            raise ValueError(f"{name!r} is none of {', '.join(KINDS)}")
        found[name] = float(weight or 1)
    if not any(found.values()):
        raise ValueError("all weights are 0")
    return found
