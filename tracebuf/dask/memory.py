"""What a chunk takes of a worker's memory, and chunks that fit: from the stages' windows and what they make."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tracebuf.dask.flow import shape_of
from tracebuf.dask.grid import needs_of
from tracebuf.dask.program import Program, program_of
from tracebuf.dask.rewrites.apart import staged
from tracebuf.dask.split import Stage, symbol_of
from tracebuf.errors import UnsupportedError
from tracebuf.ir.core import Value
from tracebuf.ir.dims import Sym, evaluate, symbols
from tracebuf.ir.types import ShapedType
from tracebuf.ops.arrays import tensor

UNITS = {"": 1, "b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12, "kib": 2**10, "mib": 2**20, "gib": 2**30,
         "tib": 2**40}  # fmt: skip
LARGE = 1024
"""Sizes above it are traced as smaller ones."""
CLOSE = 64
"""Sizes that differ by less keep their difference."""
SHARE = 8
"""Which part of a worker's memory the work on one chunk takes at most: the rest holds other chunks, what is sent and
received, and the process itself; dask begins to write to disk at 60 %."""


def bytes_of(text: str | int) -> int:
    """The bytes that "1GB" or a number says; ValueError."""
    if isinstance(text, int):
        return text
    found = re.fullmatch(r"\s*([\d.]+)\s*([A-Za-z]*)\s*", text)
    if found is None or found[2].lower() not in UNITS:
        raise ValueError(f"{text!r} is no amount of memory: '1GB', '500MiB' or a number of bytes")
    return int(float(found[1]) * UNITS[found[2].lower()])


def chunk_bytes(program: Program, stage: Stage, local: Mapping[Sym, int], cut: frozenset[Sym]) -> int:
    """The bytes that a worker holds at most while it computes a chunk of a stage: the blocks that it has got, the
    windows that are put together out of them, and all arrays that the stage makes."""
    halos = needs_of(program, stage, cut, {}, 1 if stage.loop is not None else None).halos
    wide = dict(local)
    for s, h in halos.items():
        wide[s] = local[s] + h.low + h.high
    total = stage_bytes(stage, wide)
    if any(h.low or h.high for h in halos.values()):
        total += sum(value_bytes(v, wide) for v in stage.inputs)
    return total


def stage_bytes(stage: Stage, local: Mapping[Sym, int]) -> int:
    """The bytes of a stage's inputs and of all arrays that it makes, of these sizes."""
    total = sum(value_bytes(v, local) for v in stage.inputs)
    for op in stage.ops:
        for o in (op, *op.walk()):
            for r in o.results:
                if isinstance(r.type, ShapedType) and not isinstance(o, tensor.ExtractSlice):
                    total += value_bytes(r, local) if is_made(r) else 0
    return total


def is_made(v: Value) -> bool:
    """Whether a value has memory of its own, beside what it is stored into."""
    op = v.defining_op
    if op is None:
        return False
    destinations = [u.value for u in op.uses if isinstance(u.value.type, ShapedType) and u.value.type == v.type]
    return not destinations or any(isinstance(d.defining_op, tensor.Empty) for d in destinations)


def value_bytes(v: Value, local: Mapping[Sym, int]) -> int:
    if not isinstance(v.type, ShapedType):
        return 0
    size = v.type.element.itemsize
    for n in shape_of(v):
        if any(s not in local for s in symbols(n)):
            return 0
        size *= max(evaluate(n, local), 0)
    return size


def suggest_chunks(
    f: Any, args: Sequence[Any], memory: str | int = "1GB", threads: int = 1
) -> dict[str, tuple[int, ...]]:
    """The largest chunks of a call's arrays with which the work on one takes an eighth of a worker's memory at most.

    Args:
        f: a bufferized function.
        args: of the call; for an array of float64 its shape will do.
        memory: of one worker, as "1GB" or in bytes.
        threads: of one worker.

    Returns a chunk shape for each array argument by its name. Axes that cannot be cut, or only with halos, are cut
    last: they are as long as they can be. Raises what `f.cut` raises; UnsupportedError where one element along the axes
    that can be cut takes more.

    >>> import tracebuf
    >>> suggest_chunks(tracebuf.bufferize(lambda a, b: a + b), [(10_000, 10_000)] * 2, memory="80MB")
    {'a': (512, 512), 'b': (512, 512)}
    """
    shaped = [np.broadcast_to(np.float64(0), a) if is_shape(a) else a for a in args]
    shapes = [tuple(a.shape) for a in shaped if hasattr(a, "shape")]
    sizes = small_sizes(shapes)
    examples = [np.zeros([sizes[n] for n in a.shape], a.dtype) if hasattr(a, "shape") else a for a in shaped]
    program = program_of(f, tuple(examples), {})
    real = {id(e): a for e, a in zip(examples, shaped)}
    values = [real.get(id(v), v) for v in program.call.values]
    env = {s: b.value(values) for s, b in program.traced.bindings.items()}
    axes = frozenset(s for v in program.func.args for n in shape_of(v) if (s := symbol_of(n)))
    parts = staged(program, env, axes, few=2)
    program, stages, cut = parts.program, parts.stages, parts.cut
    limit = bytes_of(memory) // (SHARE * threads)
    local, halos = dict(env), dict.fromkeys(cut, 0)
    for stage in stages:
        for s, h in needs_of(program, stage, cut, {}, 1 if stage.loop is not None else None).halos.items():
            halos[s] = max(halos[s], h.low + h.high)
    order = sorted(cut, key=lambda s: s.serial)  # of axes alike the first one is cut
    while max((chunk_bytes(program, stage, local, cut) for stage in stages), default=0) > limit:
        longest = max(order, key=lambda s: (local[s] > 1, local[s], -halos[s]), default=None)
        if longest is None or local[longest] <= max(4 * halos[longest], 1):
            raise UnsupportedError(
                f"{program.name} takes more than {limit} bytes whatever its chunks",
                instead="give workers more memory", location=program.func.loc,
            )  # fmt: skip
        local[longest] = power_below(local[longest])
    found = {}
    for v, name in zip(program.func.args, program.names):
        if isinstance(v.type, ShapedType):
            found[name] = tuple(min(max(evaluate(n, local), 1), evaluate(n, env)) for n in shape_of(v))
    return found


def power_below(n: int) -> int:
    """The greatest power of 2 below a number."""
    return 1 << (n - 1).bit_length() - 1 if n > 1 else 1


def is_shape(a: Any) -> bool:
    return isinstance(a, tuple) and all(isinstance(n, int) for n in a)


def small_sizes(shapes: Sequence[tuple[int, ...]]) -> dict[int, int]:
    """A smaller size for each large one: equal for equal ones, and as different where they differ little."""
    found: dict[int, int] = {}
    base = stand = 0
    for n in sorted({n for shape in shapes for n in shape}):
        if n < LARGE:
            found[n] = n
        elif base and n - base < CLOSE:
            found[n] = stand + n - base
        else:
            base, stand = n, (stand or LARGE) + 2 * CLOSE
            found[n] = stand
    return found
