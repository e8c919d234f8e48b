"""What each program of tests/programs keeps in its arena beside what it needs: `python benchmarks/memory.py [n]`.

For one call with arguments of size n (10), in bytes rounded up to 64 for each buffer, as the arena has them: `live`,
the most that was alive at once of the buffers that live in the arena, by the memref interpreter, which is the least
that any plan needs; `kept`, what the arena holds after the call; and the arrays that the first and the second call
made, without those that they returned. The programs with kept / live above 1.05, or with such arrays, are listed; with
`--word`, those with a name that contains it. Takes a minute and a half.
"""

from __future__ import annotations

import argparse
import gc
import os
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
os.environ["TRACEBUF_CACHE_PROGRAMS"] = "0"  # the programs are looked at

from tests.programs import PROGRAMS, Program
from tracebuf import BufferizedFunction, UnsupportedError, bufferize, cache
from tracebuf.backend.runtime.memory_hook import counting
from tracebuf.interpret import memref as interpreter
from tracebuf.interpret.memory import Memory, MemRef
from tracebuf.ir.core import Op
from tracebuf.measure import clone_arguments
from tracebuf.running.lines import LINE


class ArenaMemory(Memory):
    """Counts what lives in the arena, in whole lines of it."""

    __slots__ = ("live", "most")

    def __init__(self) -> None:
        super().__init__()
        self.live = self.most = 0

    def allocate(
        self, sizes: Sequence[int], order: Sequence[int], dtype: np.dtype, op: Op, kind: str = "heap"
    ) -> MemRef:
        made = super().allocate(sizes, order, dtype, op, kind)
        self.live += lines(op, made.buffer.nbytes)
        self.most = max(self.most, self.live)
        return made

    def free(self, ref: MemRef, op: Op) -> None:
        super().free(ref, op)
        if ref.buffer.made_by is not None:
            self.live -= lines(ref.buffer.made_by, ref.buffer.nbytes)


def lines(op: Op, nbytes: int) -> int:
    return -(-nbytes // LINE) * LINE if op.attrs.get("kind") == "arena" or "roams" in op.attrs else 0


class Row(NamedTuple):
    name: str
    live: int
    kept: int
    first: int
    second: int

    @property
    def gap(self) -> float:
        return self.kept / self.live if self.live else float(self.kept > 0)

    def __str__(self) -> str:
        return f"{self.name:<40}{self.live:>12,}{self.kept:>12,}{self.gap:>8.2f}{self.first:>8}{self.second:>8}"


def row(name: str, function: Callable[..., Any], args: tuple[Any, ...]) -> Row:
    f = bufferize(function, tier="fast")
    arrays = []
    found = f._specialization(clone_arguments(args, {})[0], {}, count=False)
    if found is None:
        raise UnsupportedError("the original function runs")
    spec, values, _ = found
    for _ in range(2):
        given, _ = clone_arguments(args, {})
        with counting() as seen:
            result, counters = f.call_counted(*given)
            gc.collect()
            made = 0 if counters is None else counters.arrays - counters.given
            arrays.append((made, seen.allocations - seen.frees))
        del result, given
    returned = arrays[1][1]
    memory = ArenaMemory()
    interpreter.run(spec.program.func, [values[i] for i in spec.traced.arguments], memory=memory)
    return Row(name, memory.most, held(f), *(max(0, made - returned) for made, _ in arrays))


def held(f: BufferizedFunction) -> int:
    """The bytes of the arenas that a function keeps, without what is spent on alignment."""
    contexts = [c for s in f.specializations() for c in s.kernel._idle]
    return sum(max(b.nbytes - LINE, 0) for c in contexts for b in c.blocks if b is not None)


def rows(n: int, word: str, every: int) -> list[Row]:
    found = []
    for name, entry in list(PROGRAMS.items())[::every]:
        if word not in name:
            continue
        found += tried(name, entry, n)
    return found


def tried(name: str, entry: Program, n: int) -> list[Row]:
    """The program's row; none where it does not take arguments of that size."""
    try:
        begun = time.process_time()
        with np.errstate(all="ignore"):
            found = row(name, entry.function, entry.arguments(np.random.default_rng(n), min(n, entry.most)))
        print(f"{name}: {time.process_time() - begun:.1f} s", file=sys.stderr)
        return [found]
    except Exception as error:
        print(f"{name}: {type(error).__name__}: {str(error).splitlines()[:1]}", file=sys.stderr)
        return []


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("n", nargs="?", type=int, default=10)
    parser.add_argument("--word", default="")
    parser.add_argument("--every", type=int, default=1, help="only every so many programs")
    chosen = parser.parse_args()
    cache.use(None)  # a program from there has no memref program for the interpreter
    found = rows(chosen.n, chosen.word, chosen.every)
    wide = [r for r in found if chosen.word or r.gap > 1.05 or r.second]
    print(f"{'program':<40}{'live':>12}{'kept':>12}{'ratio':>8}{'first':>8}{'second':>8}")
    for r in sorted(wide, key=lambda r: -r.gap):
        print(r)
    above = [r for r in found if r.gap > 1.05]
    print(f"{len(found)} programs, {len(above)} above 5 %; arrays beside results: {sum(r.first for r in found)} in the")
    print(f"first call, {sum(r.second for r in found)} in the second, by {sum(r.second > 0 for r in found)} programs")


if __name__ == "__main__":
    main()
