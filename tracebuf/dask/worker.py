"""What runs on a worker: one stage of a call on one chunk, by the compiled program.

A stage travels as text (MLIR, which pickles as it is) and is compiled once in a process; machine code comes from the
cache on disk where another process has compiled it. The stage sees its arrays as windows: a chunk with what it needs of
its neighbours, put together here out of their parts; what it gives is trimmed to the chunk itself.
"""

from __future__ import annotations

import math
import pickle
import sys
import threading
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tracebuf import mlir
from tracebuf.frozen import frozen
from tracebuf.ops.arrays.host import HostCall

SLACK = 1.1
"""A chunk stays in its window where that takes so much memory at most; else it is copied out of it."""
Bounds = tuple[tuple[int, int], ...]
"""Of each axis, where a part begins and ends."""

_programs: dict[tuple[str, bytes], mlir.Program] = {}
_lock = threading.Lock()


SHARE = 8
"""Which part of a worker's memory is kept for the next arrays whatever else it has: fresh memory takes as long as
copying into it. Twice as much where that and what is in use together are no more."""
KEPT = 128 << 20
"""How much is kept outside of a worker that has a limit."""
SMALL = 1 << 17
"""Up to how many bytes malloc has memory without the system."""
HUGE = 2 << 20
"""What the system gives at once where it may: the size of a large page, of which an array's memory is whole ones."""
_kept: dict[int, np.ndarray] = {}
"""By identity, the oldest first. Finalizers, which run anywhere, change it: one step at a time, without a lock."""
_lent: dict[int, int] = {}
"""By identity how many bytes what is in use has."""


def limit() -> int:
    """How many bytes this process keeps."""
    if "distributed.worker" in sys.modules:
        from distributed import get_worker

        try:
            return int(get_worker().memory_manager.memory_limit or SHARE * KEPT) // SHARE
        except ValueError:
            pass  # no worker
    return KEPT


class _Held(np.ndarray):
    """What all views of a window lead back to."""


def memory(shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """An array of undefined contents, whose memory is kept for the next one of its size when nobody has it any more."""
    n_bytes = math.prod(shape) * dtype.itemsize
    if n_bytes < SMALL:
        return np.empty(shape, dtype)
    fits = (k for k, m in reversed(_kept.copy().items()) if m.nbytes >= n_bytes >= m.nbytes * 0.9)
    found = _kept.pop(next(fits, 0), None)
    raw = fresh(n_bytes) if found is None else found
    most = limit()
    _lent[id(raw)] = raw.nbytes
    drop(most)
    held = raw.view(_Held)
    weakref.finalize(held, give_back, raw, most).atexit = False
    return held[:n_bytes].view(np.ndarray).view(dtype).reshape(shape)


def fresh(n_bytes: int) -> np.ndarray:
    """Memory from the system: much of it in whole large pages, for at both ends of others it gives 4 KB at a time."""
    if n_bytes < 8 * HUGE:
        return np.empty(n_bytes, np.uint8)
    whole = -(-n_bytes // HUGE) * HUGE
    raw = np.empty(whole + HUGE, np.uint8)
    begin = -raw.ctypes.data % HUGE
    return raw[begin : begin + whole]


def give_back(raw: np.ndarray, most: int) -> None:
    """Keeps an array's memory for the next ones."""
    _lent.pop(id(raw), None)
    _kept[id(raw)] = raw
    drop(most)


def drop(most: int) -> None:
    """Gives memory back to the system, the oldest first, so that there is no more than is to be kept."""
    while _kept and sum(m.nbytes for m in list(_kept.values())) > max(most, 2 * most - sum(list(_lent.values()))):
        _kept.pop(next(iter(list(_kept)), 0), None)


class Reused:
    """Memory for the arrays that a program makes for one tile, used again for the next one: workers of dask give what
    is freed back to the system at once, which would then fill it with zeros for each tile."""

    def __init__(self) -> None:
        self.blocks: list[np.ndarray] = []
        self.taken = 0

    def begin(self) -> None:
        """A tile begins: nobody has the arrays of the last one any more."""
        self.taken = 0

    def make(self, shape: Sequence[int], dtype: np.dtype) -> np.ndarray:
        n_bytes = math.prod(shape) * dtype.itemsize
        if self.taken == len(self.blocks):
            self.blocks.append(np.empty(0, np.uint8))
        if self.blocks[self.taken].nbytes < n_bytes:
            self.blocks[self.taken] = memory((n_bytes,), np.dtype(np.uint8))
        self.taken += 1
        return self.blocks[self.taken - 1][:n_bytes].view(dtype).reshape(shape)


@frozen(slots=False)
class StageProgram:
    """A stage as it is sent: its name and text, the dtypes of its outputs, and the loops of NumPy's that it calls,
    pickled, in order. In MLIR integers have no sign: arrays of unsigned ones are looked at as others."""

    name: str
    text: str
    dtypes: tuple[np.dtype, ...]
    callees: bytes = b""

    def program(self) -> mlir.Program:
        """The program, compiled once in a process."""
        with _lock:
            key = self.text, self.callees
            if key not in _programs:
                module = mlir.read(self.text)
                if self.callees:
                    calls = [op for f in module.funcs for op in f.walk() if isinstance(op, HostCall)]
                    for op, callee in zip(calls, pickle.loads(self.callees), strict=True):
                        op.attrs["callee"] = callee
                made = mlir.program(module, self.name)
                made.kernel  # noqa: B018
                _programs[key] = made
            return _programs[key]


@frozen(slots=False)
class Unread:
    """Stands for an array of which a call reads no element, but perhaps its shape and dtype."""

    shape: tuple[int, ...]
    dtype: np.dtype

    def array(self) -> np.ndarray:
        """One of that shape, which takes no memory."""
        return np.broadcast_to(np.zeros((), self.dtype), self.shape)


@frozen(slots=False)
class InFile:
    """A part of an array in a file (`files.Mapped`), which is read where it is used: nobody sends it, and no task does
    nothing else."""

    source: Any
    bounds: Bounds

    def array(self) -> np.ndarray:
        """The part itself, not copied."""
        return np.asarray(self.source.opened()[tuple(slice(a, b) for a, b in self.bounds)])


@frozen(slots=False)
class FunctionProgram:
    """A whole call as a stage: the function itself. `inputs`: which of its arguments each input is, `constants` the
    others; `outputs`: which result each output is (by number), or the argument that holds it (-1 - number)."""

    function: Any
    inputs: tuple[int, ...]
    constants: tuple[Any, ...]
    names: tuple[str, ...]
    stored: tuple[int, ...]
    outputs: tuple[int, ...]
    owned: tuple[bool, ...]

    def program(self) -> Callable[..., list[Any]]:
        def call(*given: Any) -> list[Any]:
            args = [x.array() if isinstance(x, Unread) else x for x in self.constants]
            for k, (place, x) in enumerate(zip(self.inputs, given)):
                args[place] = x.copy() if place in self.stored and not self.owned[k] else x
            n = len(args) - len(self.names)
            result = self.function(*args[:n], **dict(zip(self.names, args[n:])))
            results = flat(result)
            return [results[k] if k >= 0 else args[-1 - k] for k in self.outputs]

        return call


def flat(result: Any) -> list[Any]:
    """The arrays and numbers of a result."""
    if isinstance(result, dict):
        result = tuple(result.values())
    return [y for x in result for y in flat(x)] if isinstance(result, (list, tuple)) else [result]


@frozen(slots=False)
class Window:
    """How an array's window is put together: its shape, and where each part goes; None for one part that is the
    window. A part is one of the blocks that are passed, in order, or one of the parts of a neighbour: its `rims` say
    the number of the neighbour and which of its parts. Blocks that are all that a stage gives hold it as `item`."""

    shape: tuple[int, ...]
    parts: tuple[Bounds, ...] | None
    rims: tuple[tuple[int, int] | None, ...] = ()
    item: int | None = None

    def pieces(
        self, blocks: Sequence[np.ndarray], neighbours: Sequence[Sequence[np.ndarray]]
    ) -> list[tuple[Bounds, np.ndarray]]:
        """What it is put together out of: where each part goes."""
        if self.item is not None:
            blocks = [b[self.item] for b in blocks]
        blocks = [b.array() if isinstance(b, InFile) else b for b in blocks]
        if self.parts is None:
            return [(tuple((0, n) for n in self.shape), np.asarray(blocks[0]))]
        whole = iter(blocks)
        parts = [next(whole) if r is None else neighbours[r[0]][r[1]] for r in self.rims]
        return list(zip(self.parts, parts))

    def build(self, blocks: Sequence[np.ndarray], neighbours: Sequence[Sequence[np.ndarray]]) -> np.ndarray:
        pieces = self.pieces(blocks, neighbours)
        if self.parts is None:
            return pieces[0][1]
        made = memory(self.shape, pieces[0][1].dtype)
        for bounds, part in pieces:
            made[tuple(slice(a, b) for a, b in bounds)] = part
        return made


@frozen(slots=False)
class Tile:
    """A part of a chunk's window, from `begin` to `end` along one symbol: its sizes and numbers, and of each output
    what of it is the chunk's own, and where that goes (None: it is combined with the others')."""

    begin: int
    end: int
    numbers: tuple[int, ...]
    parts: tuple[tuple[int, int, int] | None, ...]


@frozen(slots=False)
class Tiling:
    """A chunk in tiles: of each input the axis that is in tiles, and by how much it is longer; which inputs the program
    may store to; of each output its axis and length along it, or the ufunc by which it is combined."""

    axes: tuple[tuple[int, int] | None, ...]
    owned: tuple[bool, ...]
    outputs: tuple[tuple[int, int] | str, ...]
    tiles: tuple[Tile, ...]


@frozen(slots=False)
class Job:
    """One chunk of one stage: the windows of its array inputs (None: a number), sizes and numbers by position, and of
    each output what is the chunk's own (None: all of it)."""

    windows: tuple[Window | None, ...]
    numbers: tuple[int, ...]
    trims: tuple[Bounds | None, ...]
    tiling: Tiling | None = None


def run(
    stage: StageProgram | FunctionProgram, job: Job, inputs: Sequence[Any], neighbours: Sequence[Sequence[np.ndarray]]
) -> list[Any]:
    """The outputs of a stage for one chunk. Nothing that it is passed is changed: what the program stores to is in
    windows of its own."""
    if job.tiling is not None and isinstance(stage, StageProgram):
        return in_tiles(stage, job, job.tiling, inputs, neighbours)
    args: list[Any] = []
    for window, given in zip(job.windows, inputs):
        args.append(given if window is None else window.build(given, neighbours))
    separate(args)
    if isinstance(stage, StageProgram):
        args = [signless(a) for a in args]
    outputs = stage.program()(*args, *job.numbers)
    if isinstance(stage, StageProgram):
        outputs = [of_dtype(x, d) for x, d in zip(outputs, stage.dtypes, strict=True)]
    outputs = [x.copy() if any(is_part(x, a) for a in args) else x for x in outputs]
    del args
    found = []
    for k, trim in enumerate(job.trims):
        out = outputs[k]
        outputs[k] = None
        if trim is not None:
            part = out[tuple(slice(a, b) for a, b in trim)]
            out = part if out.nbytes <= part.nbytes * SLACK else part.copy()
        found.append(out)
    return found


def is_part(x: Any, a: Any) -> bool:
    """Whether a result is memory of an argument that is only read, as files are."""
    both = isinstance(x, np.ndarray) and isinstance(a, np.ndarray)
    return both and not a.flags.writeable and np.may_share_memory(x, a)


def separate(args: list[Any]) -> None:
    """Copies arguments that share memory with others: a program takes them for different arrays."""
    for k, a in enumerate(args):
        if isinstance(a, np.ndarray):
            if any(b is a or np.may_share_memory(a, b) for b in args[:k] if isinstance(b, np.ndarray)):
                args[k] = a.copy()


def in_tiles(
    stage: StageProgram, job: Job, tiling: Tiling, inputs: Sequence[Any], neighbours: Sequence[Sequence[np.ndarray]]
) -> list[Any]:
    """`run`, tile by tile: beside its outputs it takes the memory of one tile."""
    program = stage.program()
    sources = [None if w is None else w.pieces(x, neighbours) for w, x in zip(job.windows, inputs)]
    longest = max(t.end - t.begin for t in tiling.tiles)
    scratch: dict[int, np.ndarray] = {}
    found: list[Any] = [None] * len(tiling.outputs)
    reused = Reused()
    for tile in tiling.tiles:
        reused.begin()
        args: list[Any] = []
        for k, (window, source) in enumerate(zip(job.windows, sources)):
            if window is None or source is None:
                args.append(inputs[k])
                continue
            if not window.shape:
                made = window.build(inputs[k], neighbours)
                args.append(made.copy() if tiling.owned[k] else made)
                continue
            axis, delta = tiling.axes[k] or (0, window.shape[0] - longest)
            begin, end = (tile.begin, tile.end + delta) if tiling.axes[k] is not None else (0, window.shape[0])
            if len(source) == 1 and not tiling.owned[k]:
                args.append(source[0][1][(slice(None),) * axis + (slice(begin, end),)])
                continue
            shape = (*window.shape[:axis], end - begin, *window.shape[axis + 1 :])
            if k not in scratch:
                most = math.prod(shape) // max(end - begin, 1) * (longest + delta)
                scratch[k] = memory((most,), source[0][1].dtype)
            made = scratch[k][: math.prod(shape)].reshape(shape)
            fill(made, source, axis, begin)
            args.append(made)
        separate(args)
        outputs = program(*map(signless, args), *tile.numbers, make=reused.make)
        for k, (out, dtype, trim, part) in enumerate(zip(outputs, stage.dtypes, job.trims, tile.parts, strict=True)):
            way, out = tiling.outputs[k], of_dtype(out, dtype)
            inside = [slice(a, b) for a, b in trim or ()]
            if isinstance(way, str):
                out = out[tuple(inside)].copy() if isinstance(out, np.ndarray) else out
                found[k] = out if found[k] is None else getattr(np, way)(found[k], out)
                continue
            assert part is not None and trim is not None
            a, b, place = part
            if found[k] is None:
                shape = tuple(b - a for a, b in trim)
                found[k] = memory((*shape[: way[0]], way[1], *shape[way[0] + 1 :]), dtype)
            inside[way[0]] = slice(a, b)
            found[k][(slice(None),) * way[0] + (slice(place, place + b - a),)] = out[tuple(inside)]
        del outputs, out
    return found


def fill(made: np.ndarray, source: Sequence[tuple[Bounds, np.ndarray]], axis: int, begin: int) -> None:
    """Puts together a part of a window that begins at `begin` along an axis."""
    end = begin + made.shape[axis]
    for bounds, part in source:
        low, high = max(bounds[axis][0], begin), min(bounds[axis][1], end)
        if low < high:
            into = [slice(a, b) for a, b in bounds]
            into[axis] = slice(low - begin, high - begin)
            made[tuple(into)] = part[(slice(None),) * axis + (slice(low - bounds[axis][0], high - bounds[axis][0]),)]


def signless(a: Any) -> Any:
    if isinstance(a, (np.ndarray, np.generic)) and a.dtype.kind == "u":
        return a.view(f"i{a.dtype.itemsize}")
    return a


def of_dtype(x: Any, dtype: np.dtype) -> Any:
    """A result with its sign."""
    if isinstance(x, (np.ndarray, np.generic)):
        return x.view(dtype) if x.dtype != dtype and dtype.kind == "u" else x
    return dtype.type(x)


def rim(parts: Sequence[tuple[int, int | None, Bounds]], *blocks: Any) -> list[np.ndarray]:
    """What the neighbours of a chunk need of it: parts of its blocks (the number of the block, the item where it is all
    that a stage gives, and where). Nothing else of it is sent."""
    found = []
    for k, item, bounds in parts:
        block = blocks[k] if item is None else blocks[k][item]
        found.append(block[tuple(slice(a, b) for a, b in bounds)].copy())
    return found


def run_and_rim(
    stage: StageProgram | FunctionProgram, job: Job, inputs: Sequence[Any], neighbours: Sequence[Sequence[np.ndarray]],
    wanted: Sequence[tuple[int, Bounds]],
) -> list[Any]:  # fmt: skip
    """The outputs of a stage for one chunk, and then what its neighbours need of inputs of these numbers."""
    windows = {k: w for k, w in enumerate(job.windows) if w is not None}
    blocks = {k: windows[k].build(inputs[k], neighbours) for k, _ in wanted}
    rims = [blocks[k][tuple(slice(a, b) for a, b in bounds)].copy() for k, bounds in wanted]
    return [*run(stage, job, inputs, neighbours), *rims]


def after(given: Sequence[Any], n: int) -> Sequence[Any]:
    """What is behind the first n."""
    return given[n:]


def checked(given: Any, checks: Sequence[Any], item: int | None = None) -> Any:
    """A result, or an item of what a stage gives, after what the function raises might have been."""
    return given if item is None else given[item]


def pick(outputs: Sequence[Any], numbers: Sequence[int]) -> list[Any]:
    """Some of what a stage gives."""
    return [outputs[k] for k in numbers]


def combine(ufuncs: Sequence[str], numbers: Sequence[int], parts: Sequence[Sequence[Any]]) -> list[Any]:
    """Items of what parts give, each combined by the ufunc of its reduction."""
    found = []
    for ufunc, k in zip(ufuncs, numbers):
        f, total = getattr(np, ufunc), parts[0][k]
        for p in parts[1:]:
            total = f(total, p[k])
        found.append(total)
    return found
