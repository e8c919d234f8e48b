"""What an exchange of halos costs beside the work that wider ones repeat."""

from __future__ import annotations

from collections.abc import Sequence

PER_TASK = 1e-3
"""Seconds that a scheduler takes for a task, and a worker to fetch and put together what it needs (docs/dask.md)."""
PER_ELEMENT = 6e-10
"""Seconds that an iteration takes for an element of one array."""
PER_PLACE = 1e-9
"""Seconds that it takes to put an element of a window together."""
MOST = 64


def cost(steps: int, chunk: Sequence[int], width: Sequence[int], arrays: int) -> float:
    """Seconds for one iteration of a chunk, where `steps` are run between exchanges: `chunk` its sizes along the axes
    that are cut, `width` the places that an iteration needs beside it along each."""
    work: float = 0.0
    for done in range(steps):
        cells: float = 1.0
        for n, w in zip(chunk, width):
            cells *= n + w * (steps - done)
        work += cells * arrays * PER_ELEMENT
    parts = float(3 ** sum(1 for w in width if w))
    cells = 1.0
    for n, w in zip(chunk, width):
        cells *= n + w * steps
    return (work + cells * arrays * PER_PLACE + PER_TASK * (1 + (parts - 1) * 0.5)) / steps


def best_steps(chunk: Sequence[int], width: Sequence[int], arrays: int) -> int:
    """How many iterations are run between exchanges of halos."""
    return min(range(1, MOST + 1), key=lambda k: cost(k, chunk, width, max(arrays, 1)))
