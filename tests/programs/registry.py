"""Where the programs of this directory stand: each with its arguments at a size, and how often it is compiled."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

Arguments = Callable[[np.random.Generator, int], tuple[Any, ...]]


@dataclass(frozen=True)
class Program:
    """A NumPy function, what it is called with (`arguments(random, n)` for each n of `sizes`), and how often it is
    compiled for all of them: once, unless `why` says what its guards depend on.
    `most`: the greatest n, where the arguments grow fast."""

    function: Callable[..., Any]
    arguments: Arguments
    sizes: tuple[int, ...]
    compiled: int
    why: str
    most: int

    def at(self, n: int, seed: int = 0) -> tuple[Any, ...]:
        """The arguments of size n, or of the greatest size there is."""
        return self.arguments(np.random.default_rng(seed), min(max(n, *self.sizes), self.most))


PROGRAMS: dict[str, Program] = {}


def program(
    arguments: Arguments,
    *,
    sizes: tuple[int, ...] = (6, 9),
    compiled: int = 1,
    why: str = "",
    most: int = 1000,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Registers a function under its name, which no other has."""
    assert compiled == 1 or why

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        name = function.__name__
        assert name not in PROGRAMS, name
        PROGRAMS[name] = Program(function, arguments, sizes, compiled, why, most)
        return function

    return register
