"""How the time of something grows with its size: a ratio, no absolute time, so that it holds on a busy machine."""

from __future__ import annotations

import time
from collections.abc import Callable


def growth(prepare: Callable[[int], Callable[[], object]], size: int, rounds: int = 3) -> float:
    """CPU time at 4 * `size` over CPU time at `size`: the least of interleaved rounds. 4 is linear, 16 quadratic."""
    least = {size: float("inf"), 4 * size: float("inf")}
    for _ in range(rounds):
        for n in least:
            run = prepare(n)
            start = time.process_time()
            run()
            least[n] = min(least[n], time.process_time() - start)
    return least[4 * size] / least[size]
