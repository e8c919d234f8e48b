"""Threads that run at the same time."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any


def at_once(work: Callable[[int], Any], count: int) -> None:
    """work(0) to work(count - 1), each in a thread, all begun before one goes on; what one raises is raised here."""
    ready = threading.Barrier(count)

    def run(k: int) -> None:
        ready.wait()
        work(k)

    with ThreadPoolExecutor(count) as pool:
        for done in [pool.submit(run, k) for k in range(count)]:
            done.result()
