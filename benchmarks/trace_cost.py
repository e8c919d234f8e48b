"""Cost of tracing and of the analysis for straight-line and looped programs of about 100 and 1000 array operations.

Run with `python benchmarks/trace_cost.py`. CPU time, least of three; ops are those recorded, scalar bodies included.
"""

from __future__ import annotations

import linecache
import time
from types import FunctionType

import numpy as np

import tracebuf
from tracebuf import pipeline
from tracebuf.process.garbage import full_collections_later

STATEMENTS = (
    "a[{k}:-1] += b[{k}:-1] * 0.5",
    "c = a[1:-1] + b[2:]",
    "b[1:-1] -= c * a[:-2]",
    "a[...] = np.sqrt(a * a + 1.0)",
)


def make(operations: int, looped: bool) -> FunctionType:
    """A function with so many array operations, in a `for` loop or not."""
    lines = [s.format(k=k % 3 + 1) for k in range(operations // 10) for s in STATEMENTS]
    head = ["def f(a, b):", *(["    for i in range(3):"] if looped else [])]
    indent = "        " if looped else "    "
    text = "\n".join([*head, *(indent + line for line in lines), "    return a"]) + "\n"
    file = f"<{operations} operations, looped: {looped}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    space = {"np": np}
    exec(compile(text, file, "exec"), space)
    return space["f"]  # type: ignore[return-value]


def cost(f: FunctionType) -> tuple[float, float, float, int]:
    """CPU seconds of tracing, of the tensor passes and of the analysis, and the ops recorded."""
    best: tuple[float, float, float, int] | None = None
    for _ in range(3):
        g = tracebuf.bufferize(f)
        with full_collections_later:  # as in a call that compiles
            start = time.process_time()
            _, traced = g.trace(np.ones(50), np.ones(50))
            done = time.process_time()
            ops = sum(1 for _ in traced.func.walk())
            pipeline.optimize_tensors(traced.func, g.options)
            optimized = time.process_time()
            pipeline.analyze(traced.func, g.options)
            row = (done - start, optimized - done, time.process_time() - optimized, ops)
        best = row if best is None or row[0] < best[0] else best
    assert best is not None
    return best


def main() -> None:
    print("operations  looped   ops  trace us/op  trace ms  passes ms  analysis ms")
    for looped in (False, True):
        for operations in (100, 1000):
            trace, passes, analysis, ops = cost(make(operations, looped))
            times = f"{trace / ops * 1e6:11.1f}  {trace * 1e3:8.1f}  {passes * 1e3:9.1f}  {analysis * 1e3:11.1f}"
            print(f"{operations:10}  {looped!s:>6}  {ops:4}  {times}")


if __name__ == "__main__":
    main()
