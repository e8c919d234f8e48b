"""Programs with and without `tile`: the ratio of CPU times, in turns in one process; whether bits are the same.

    python -m benchmarks.tile [PROGRAM ...]

Programs that are the same with it are left out.
"""

from __future__ import annotations

import copy
import sys
import time
from typing import Any

import numpy as np

import tracebuf
from benchmarks.programs import load

SECONDS, FEWEST, MOST = 1.2, 3, 60


def several(u: Any, v: Any, c: float) -> None:
    w = np.sqrt(u * u + v * v)
    u += w * c
    v -= np.where(w > 1, w, 0) * c


def cpu(f: Any, args: tuple[Any, ...]) -> float:
    begin = time.process_time()
    f(*args)
    return time.process_time() - begin


def compared(name: str, function: Any, args: tuple[Any, ...]) -> None:
    """One line, where tiles make a difference."""
    tiled, plain = (tracebuf.bufferize(function, tier="fast", tile=tile) for tile in (True, False))
    if tiled.lower(*args).as_text() == plain.lower(*args).as_text():
        return
    one, other = copy.deepcopy(args), copy.deepcopy(args)
    same = str((tiled(*one), one)) == str((plain(*other), other))
    times: list[list[float]] = [[], []]
    while len(times[0]) < FEWEST or (sum(map(sum, times)) < SECONDS and len(times[0]) < MOST):
        for f, found in zip((tiled, plain), times):
            found.append(cpu(f, copy.deepcopy(args)))
    a, b = map(min, times)
    print(f"{name:34}{a * 1e3:11.4f} ms{b * 1e3:11.4f} ms{a / b:7.2f}  {same}", flush=True)


def main() -> None:
    rng = np.random.default_rng(0)
    print(f"{'':34}{'tile=True':>14}{'tile=False':>14}{'ratio':>7}  same")
    for shape in ((10_000,), (4_000_000,), (2_000, 2_000)):
        compared(f"several consumers, {shape}", several, (rng.random(shape), rng.random(shape), 0.1))
    for p in load().values():
        if not sys.argv[1:] or p.name in sys.argv[1:]:
            for size in (p.small, p.large):
                compared(f"{p.name}, {size:,}", p.function, p.init(size))


if __name__ == "__main__":
    main()
