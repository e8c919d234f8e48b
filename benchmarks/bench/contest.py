"""One contest: all contestants of a program at one size, in turns, on the same arrays, each call timed by itself."""

from __future__ import annotations

import statistics
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from benchmarks.bench.peers import OURS, Call, Peer
from benchmarks.programs.registry import Array, Program, flat

ROUND_SECONDS, MOST_CALLS = 0.03, 200
CONTESTANT_SECONDS = 2.0
"""After so long a contestant sits out the rounds that remain, if it has had two."""


@dataclass(frozen=True)
class Times:
    """Seconds of a call."""

    cpu: tuple[float, ...]
    wall: tuple[float, ...]

    @property
    def least(self) -> float:
        return min(self.cpu)

    def summary(self) -> dict[str, float]:
        return {
            "cpu_min": min(self.cpu), "cpu_median": statistics.median(self.cpu),
            "wall_min": min(self.wall), "wall_median": statistics.median(self.wall), "calls": len(self.cpu),
        }  # fmt: skip


@dataclass
class Row:
    """What one contest found. `failed` has a line for each peer that does not compile the program, `wrong` for each
    whose results are not NumPy's."""

    program: Program
    size: str
    times: dict[str, Times] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)
    wrong: dict[str, str] = field(default_factory=dict)
    missing: set[str] = field(default_factory=set)

    def ratio(self, name: str) -> float | None:
        """The contestant's time over ours: above 1, tracebuf is faster."""
        if OURS not in self.times or name not in self.times:
            return None
        return self.times[name].least / self.times[OURS].least

    def best(self, without: Sequence[str] = ()) -> str | None:
        """The fastest of NumPy and the peers. C stands apart: it is what could be, not what one would use instead."""
        others = [name for name in self.times if name not in (OURS, "C", *without)]
        return min(others, key=lambda name: self.times[name].least) if others else None


def contest(p: Program, size: str, peers: Mapping[str, Peer], rounds: int) -> Row:
    """Compiles and checks every contestant, then times them in turns, and checks them once more."""
    row, arena = Row(p, size), Arena(p, p.init(getattr(p, size)))
    calls = ready(row, arena, peers)
    taken: dict[str, list[tuple[float, float]]] = {name: [] for name in calls}
    often = {name: calls_of_a_round(arena, call) for name, call in calls.items()}
    spent = dict.fromkeys(calls, 0.0)
    for turn in range(rounds):
        for name, call in calls.items():
            if turn >= 2 and spent[name] > CONTESTANT_SECONDS:
                continue
            for _ in range(often[name]):
                taken[name].append(arena.timed(call))
                spent[name] += taken[name][-1][1]
    for name, call in calls.items():
        try:
            arena.check(name, arena.results(call))
            cpu, wall = zip(*taken[name], strict=True)
            row.times[name] = Times(cpu, wall)
        except AssertionError as error:
            row.wrong[name] = brief(error)
    return row


def ready(row: Row, arena: Arena, peers: Mapping[str, Peer]) -> dict[str, Call]:
    """The calls of those contestants that are installed, compile the program and give NumPy's results."""
    calls: dict[str, Call] = {}
    for name, peer in peers.items():
        try:
            arena.restore()
            if (call := peer(row.program, arena.args)) is None:
                continue
            got = arena.results(call)  # compiles
        except ImportError:
            row.missing.add(name)
            continue
        except Exception as error:  # a peer may fail in any way
            row.failed[name] = brief(error)
            continue
        try:
            arena.check(name, got)
            calls[name] = call
        except AssertionError as error:
            row.wrong[name] = brief(error)
    return calls


def calls_of_a_round(arena: Arena, call: Call) -> int:
    return max(1, min(MOST_CALLS, int(ROUND_SECONDS / max(arena.timed(call)[1], 1e-7))))


class Arena:
    """The arguments that all contestants share, and what NumPy makes of them."""

    def __init__(self, p: Program, args: Sequence[Any]) -> None:
        self.program, self.args = p, tuple(args)
        self.first: dict[int, Array] = {i: args[i].copy() for i in p.stores}
        self.expected = [np.array(x) for x in p.results(p.function(*self.args), self.args)]

    def restore(self) -> None:
        """Undoes what a call has stored."""
        for i, a in self.first.items():
            np.copyto(self.args[i], a)

    def timed(self, call: Call) -> tuple[float, float]:
        """CPU and wall seconds of one call; its result is freed outside of them."""
        self.restore()
        cpu, wall = time.process_time(), time.perf_counter()
        result = call()
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        del result
        return cpu, wall

    def results(self, call: Call) -> list[Any]:
        """What one call gives. A functional peer returns what others store."""
        self.restore()
        got = flat(call())
        return got if len(got) == len(self.expected) else [*got, *(self.args[i] for i in self.first)]

    def check(self, name: str, got: Sequence[Any]) -> None:
        """AssertionError where these are not NumPy's results."""
        self.program.check(got, self.expected, 0.0 if name == OURS else self.program.rounding)


def brief(error: BaseException) -> str:
    """The error's first line that says something."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {' '.join(lines[:4])[:300]}"
