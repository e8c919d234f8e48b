"""The designs of bufferization that MLIR's documents weigh, side by side on any function: what each makes and copies.

    print(tracebuf.designs.compare(step, u, v, 0.1))

All start from one tensor program (traced, folded, fused), are compiled and run once; only what they do with memory
differs. *Always copy*: no analysis, a copy before every write. *Copies removed*: the same, after which a pass over
buffers removes copies again (the second design of the founding discussion). *MLIR's pipeline*: empty tensors
eliminated, One-Shot with MLIR 22's own decisions (where it refuses, without what we add to its rules), ownership-based
deallocation, as this package has them. *tracebuf*: as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tracebuf import pipeline
from tracebuf.analysis.cost import choose
from tracebuf.analysis.one_shot.base import AnalysisError
from tracebuf.analysis.one_shot.copy_before_write import copy_before_write
from tracebuf.analysis.one_shot.derived import Analysis
from tracebuf.api import BufferizedFunction, BufferizedMethod
from tracebuf.backend.runtime.memory_hook import counting
from tracebuf.bufferize.rewrite import bufferize
from tracebuf.deallocate.lower import lower_deallocs
from tracebuf.deallocate.ownership import insert_deallocs
from tracebuf.deallocate.simplify import simplify_deallocs
from tracebuf.frozen import frozen
from tracebuf.ir.clone import clone_func
from tracebuf.ir.func import Func, Module
from tracebuf.measure import clone_arguments, kept_in_place, restored
from tracebuf.optimize.memrefs.copy_removal import copy_removal
from tracebuf.optimize.mlir.eliminate_empty_tensors import eliminate_empty_tensors_as_mlir
from tracebuf.options import Options
from tracebuf.stages import Bufferized

__all__ = ["Comparison", "Counts", "compare"]


@frozen(slots=False, checked=True)
class Counts:
    """What one design did in a call; of eager NumPy copies cannot be observed."""

    allocations: int
    allocated_bytes: int
    peak_bytes: int
    copies: int | None
    copied_bytes: int | None


@frozen(slots=False, checked=True)
class Comparison:
    """The counts of each design for a call of the function `name`. As text, a table."""

    name: str
    designs: Mapping[str, Counts]

    def __str__(self) -> str:
        rows: list[tuple[str, ...]] = [(self.name, "allocations", "bytes", "copies", "copied bytes", "peak bytes")]
        for name, c in self.designs.items():
            words = (c.allocations, c.allocated_bytes, c.copies, c.copied_bytes, c.peak_bytes)
            rows.append((name, *("-" if n is None else f"{n:,}" for n in words)))
        widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
        rest = ["  ".join(f"{w:>{n}}" for w, n in zip(row[1:], widths[1:])) for row in rows]
        lines = [f"{row[0]:<{widths[0]}}  {more}" for row, more in zip(rows, rest)]
        return "\n".join([lines[0], "-" * len(lines[0]), *lines[1:]])


def compare(f: BufferizedFunction | BufferizedMethod, *args: Any, **kwargs: Any) -> Comparison:
    """Runs a bufferized function on clones of the arguments by every design, and counts.

    Raises TypeError if `f` is not a bufferized function, UnsupportedError where it is not compiled for these arguments,
    and whatever it raises on them.

    >>> import numpy as np, tracebuf
    >>> found = compare(tracebuf.bufferize(lambda a: np.multiply(a, 2, out=a)), np.ones(1000))
    >>> [found.designs[name].allocations for name in ("always copy", "tracebuf")]
    [1, 0]
    """
    if (instance := getattr(f, "__self__", None)) is not None and isinstance(f, BufferizedMethod):
        f, args = f.__func__, (instance, *args)
    if not isinstance(f, BufferizedFunction):
        raise TypeError(f"compare wants a bufferized function, not {f!r}")
    kept = kept_in_place((args, kwargs), f.captured(*args, **kwargs))
    found: dict[str, Counts] = {}
    given, named = clone_arguments(args, kwargs, kept)
    with restored(kept), counting() as seen:
        result = f.eager(*given, **named)
    del result
    found["eager NumPy"] = Counts(seen.allocations, seen.allocated_bytes, seen.peak_bytes, None, None)
    for name, lower in DESIGNS.items():
        found[name] = _run(f, lower, args, kwargs, kept)
    return Comparison(f.__wrapped__.__name__, found)


def _run(f: BufferizedFunction, lower: Callable[[Func, Options], Func], args: Any, kwargs: Any, kept: Any) -> Counts:
    """What a design does; what NumPy allocates beside it (in host calls) counts too."""
    given, named = clone_arguments(args, kwargs, kept)
    call, traced = f.trace(*given, **named)
    kernel = Bufferized(lower(traced.func, f.options)).compile(traced.func.name)
    first, also = clone_arguments(args, kwargs, kept)
    warm, _ = f.trace(*first, **also)
    with restored(kept):
        kernel.run_counted([warm.values[i] for i in traced.arguments])  # takes the arena, which is kept
    values = [call.values[i] for i in traced.arguments]
    with restored(kept), counting() as seen:
        results, c = kernel.run_counted(values)
    del results
    beside = max(0, seen.allocations - c.arrays), max(0, seen.allocated_bytes - c.array_bytes)
    return Counts(
        c.allocations + beside[0], c.allocated_bytes + beside[1], seen.whole_peak_bytes, c.copies, c.copied_bytes
    )


# -- the designs


def _tensors(func: Func) -> None:
    """What all designs but ours begin with."""
    steps = dict(pipeline.TENSOR_PASSES)
    for name in ("canonicalize", "cse", "fuse", "canonicalize-fused"):
        steps[name](func)


def _freed(func: Func, analysis: Analysis) -> Func:
    program = bufferize(func, analysis)
    for step in (insert_deallocs, simplify_deallocs, lower_deallocs):
        step(program)
    return program


def always_copy(func: Func, options: Options) -> Func:
    _tensors(func)
    return _freed(func, copy_before_write(func))


def copies_removed(func: Func, options: Options) -> Func:
    program = always_copy(func, options)
    copy_removal(program)
    return program


def mlirs_pipeline(func: Func, options: Options) -> Func:
    _tensors(func)
    for compat in ("mlir", None):
        tried, _ = clone_func(func)
        try:
            if compat:
                eliminate_empty_tensors_as_mlir(Module([tried]))
            decided = choose.analyze(tried, heuristic="bottom-up", seed=0, compat=compat, improvements=frozenset())
        except AnalysisError:
            continue
        return _freed(tried, decided)
    raise AssertionError("One-Shot's own rules take every program")


def ours(func: Func, options: Options) -> Func:
    pipeline.optimize_tensors(func, options)
    return pipeline.to_memref(func, options)


DESIGNS: dict[str, Callable[[Func, Options], Func]] = {
    "always copy": always_copy,
    "copies removed": copies_removed,
    "MLIR's pipeline": mlirs_pipeline,
    "tracebuf": ours,
}
