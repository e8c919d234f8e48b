"""A memory that notices every misuse: buffers with poison, lifetimes and write protection, and strided views of them.

Every byte of a buffer has a flag, used at the first byte of each element: whether the element was ever written (what
was not is *poison*). A view is two NumPy arrays of one geometry, over the bytes and over the flags, so slicing both
alike is all it takes. Arguments are wrapped where they lie: those that share memory share a `Buffer`.

Limitations: no threads, no simulated addresses. Counterparts: AddressSanitizer and MemorySanitizer, for memref
programs.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.lib.array_utils import byte_bounds
from numpy.lib.stride_tricks import sliding_window_view

from tracebuf.errors import InternalError
from tracebuf.frozen import plain
from tracebuf.ir.core import Op, Value, is_buffer
from tracebuf.ir.ndarray import recast
from tracebuf.ir.slices import apply_slice
from tracebuf.ir.types import ScalarType
from tracebuf.ir.verifier import where
from tracebuf.ops.arrays.tensor import checked_index, poison
from tracebuf.ops.scalars.arith import convert

__all__ = ["POISON", "Buffer", "Counts", "MemRef", "Memory", "MemoryFault"]


class MemoryFault(InternalError):
    """A misuse of memory by a memref program: a bug of tracebuf's. Names the op and the user's line."""

    def __init__(self, message: str, op: Op | None = None) -> None:
        super().__init__(message if op is None else f"{where(op)}: {message}")
        self.message, self.op = message, op


class Poison:
    """A scalar loaded from an element that was never written. It may be stored again; any other use is a fault."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "poison"

    def __bool__(self) -> bool:
        raise MemoryFault("decides by a scalar that was never written")


POISON = Poison()


@plain(eq=True, slots=True)
class Counts:
    """What ran: heap allocations (clones included), their bytes, the most that was live at once; copies other than the
    program's own stores (clones included), and their bytes. The stack counts for nothing."""

    allocations: int = 0
    allocated_bytes: int = 0
    peak_bytes: int = 0
    copies: int = 0
    copied_bytes: int = 0


class Buffer:
    """One piece of memory. `kind`: "argument", "heap" or "stack"; `made_by`: the op that allocated it."""

    __slots__ = ("address", "flags", "freed_by", "id", "kind", "made_by", "nbytes", "overlaid_by")

    def __init__(self, id: int, kind: str, address: int, nbytes: int, written: bool, made_by: Op | None) -> None:
        self.id, self.kind, self.address, self.nbytes, self.made_by = id, kind, address, nbytes, made_by
        self.flags = np.full(nbytes, written)
        self.freed_by: Op | None = None
        self.overlaid_by: Op | None = None
        """The op at which its place in the arena was given to another."""

    def __repr__(self) -> str:
        return f"argument memory #{self.id}" if self.kind == "argument" else f"the buffer of {where(self.made_by)}"


class MemRef:
    """A view: `array` over the buffer's bytes, `written` over its flags. `origin`: the address offsets count from."""

    __slots__ = ("array", "buffer", "origin", "readonly", "written")

    def __init__(self, buffer: Buffer, array: np.ndarray, written: np.ndarray, origin: int, readonly: bool) -> None:
        self.buffer, self.array, self.written = buffer, array, written
        self.origin, self.readonly = origin, readonly

    @property
    def address(self) -> int:
        return address(self.array)

    @property
    def offset(self) -> int:
        """The offset from the base pointer, in elements; 0 where the buffer is too small to have one."""
        if self.buffer.nbytes < self.array.itemsize:
            return 0
        return (self.address - self.origin) // self.array.itemsize

    @property
    def strides(self) -> tuple[int, ...]:
        """The strides, in elements."""
        return tuple(s // self.array.itemsize for s in self.array.strides)

    def view(self, geometry: tuple[Any, Any, Any, Any]) -> MemRef:
        """The part that (offsets, sizes, strides, dims) describe; MemoryFault where it leaves this one."""
        if any(size < 0 for size in geometry[1]):
            raise MemoryFault(f"a view with sizes {geometry[1]}")
        try:
            array, written = apply_slice(self.array, *geometry), apply_slice(self.written, *geometry)
        except InternalError as e:
            raise MemoryFault(str(e)) from None
        return MemRef(self.buffer, array, written, self.origin, self.readonly)

    def base(self) -> MemRef:
        """The buffer that the offset counts from, as a memref of rank 0."""
        if self.buffer.nbytes < self.array.itemsize:
            array = np.zeros((), self.array.dtype)
            return MemRef(self.buffer, array, np.ones((), np.bool_), self.origin, self.readonly)
        return self.reinterpreted(0, (), ())

    def reinterpreted(self, offset: int, sizes: Sequence[int], strides: Sequence[int]) -> MemRef:
        """The base buffer under another geometry, in elements; MemoryFault where that leaves it."""
        dtype, start = self.array.dtype, self.origin - self.buffer.address
        memory = (ctypes.c_char * (self.buffer.nbytes - start)).from_address(self.origin)
        memory.keeps = self.array  # type: ignore[attr-defined]
        steps = [n * dtype.itemsize for n in strides]
        try:
            array = np.ndarray(sizes, dtype, memory, offset * dtype.itemsize, steps)  # type: ignore[arg-type]
        except (TypeError, ValueError) as e:
            raise MemoryFault(f"sizes {tuple(sizes)} with strides {tuple(strides)}: {e}") from None
        return MemRef(self.buffer, array, flag_view(self.buffer, array), self.origin, self.readonly)

    def regrouped(self, shape: Sequence[int]) -> MemRef:
        """The view of its elements in C order under another shape; MemoryFault where the strides do not allow one."""
        try:
            array, written = (np.reshape(a, shape, copy=False) for a in (self.array, self.written))
        except ValueError as e:
            raise MemoryFault(f"strides {self.strides} of shape {self.array.shape}: {e}") from None
        return MemRef(self.buffer, array, written, self.origin, self.readonly)

    def recast(self, dtype: np.dtype) -> MemRef:
        """Its memory as elements of another type."""
        array = recast(self.array, dtype)
        return MemRef(self.buffer, array, flag_view(self.buffer, array), self.origin, self.readonly)

    def diagonal(self, axes: tuple[int, int]) -> MemRef:
        """The diagonal of two axes, as the last axis."""
        if len({self.array.shape[a] for a in axes}) > 1:
            raise MemoryFault(f"the diagonal of axes {axes} of shape {self.array.shape}")
        array, written = (np.diagonal(a, 0, *axes) for a in (self.array, self.written))
        return MemRef(self.buffer, array, written, self.origin, self.readonly)

    def windows(self, size: int, axis: int) -> MemRef:
        """The runs of so many elements along an axis."""
        if not 0 <= size <= self.array.shape[axis] + 1:
            raise MemoryFault(f"windows of {size} along axis {axis} of shape {self.array.shape}")
        array, written = (sliding_window_view(a, size, axis) for a in (self.array, self.written))
        return MemRef(self.buffer, array, written, self.origin, self.readonly)

    def index(self, indices: Sequence[int]) -> tuple[int, ...]:
        try:
            return checked_index(self.array, indices)
        except InternalError as e:
            raise MemoryFault(f"out of bounds: {e}") from None

    @property
    def flags(self) -> list[np.ndarray]:
        """Whether elements are written; of complex numbers each part."""
        if self.array.dtype.kind != "c":
            return [self.written]
        return [self.written, flag_view(self.buffer, self.array.imag)]

    def check_alive(self) -> None:
        if self.buffer.freed_by is not None:
            raise MemoryFault(f"use after free: {self.buffer!r} was freed by {where(self.buffer.freed_by)}")
        self.check_place()

    def check_place(self) -> None:
        """MemoryFault where its place in the arena was given to another."""
        if self.buffer.overlaid_by is not None:
            taken = where(self.buffer.overlaid_by)
            raise MemoryFault(f"{self.buffer!r} is used after its place in the arena was given up at {taken}")

    def check_written(self) -> None:
        """MemoryFault unless the memory may be read and every element was written."""
        self.check_alive()
        if not all(flags.all() for flags in self.flags):
            raise MemoryFault(f"reads elements of {self.buffer!r} that were never written")

    def check_writable(self) -> None:
        self.check_alive()
        if self.readonly:
            raise MemoryFault(f"writes to read-only {self.buffer!r}")

    def load(self, indices: Sequence[int]) -> Any:
        """The element, or POISON."""
        place = self.index(indices)
        self.check_alive()
        return self.array[place] if all(flags[place] for flags in self.flags) else POISON

    def store(self, value: Any, indices: Sequence[int]) -> None:
        place = self.index(indices)
        self.check_writable()
        for flags in self.flags:
            flags[place] = value is not POISON
        if value is not POISON:
            self.array[place] = value

    def write(self, values: np.ndarray, written: Any = True) -> None:
        """Sets every element, and whether each is defined now."""
        self.check_writable()
        self.array[...] = values
        for flags in self.flags:
            flags[...] = written

    def overlaps(self, other: MemRef) -> bool:
        return self.buffer is other.buffer and bool(np.shares_memory(self.array, other.array))


class Memory:
    """The buffers of one run, and their counts."""

    __slots__ = ("buffers", "counts", "live_bytes")

    def __init__(self) -> None:
        self.buffers: list[Buffer] = []
        self.counts = Counts()
        self.live_bytes = 0

    def wrap(self, arrays: Sequence[np.ndarray], readonly: Sequence[bool]) -> list[MemRef]:
        """The arguments in their own memory, which counts as written; arguments that overlap share one `Buffer`."""
        bounds = [byte_bounds(root(a)) for a in arrays]
        spans: list[tuple[int, int, list[int]]] = []
        for i in sorted(range(len(arrays)), key=lambda i: bounds[i]):
            low, high = bounds[i]
            if spans and low < spans[-1][1]:
                first, end, members = spans[-1]
                spans[-1] = (first, max(end, high), [*members, i])
            else:
                spans.append((low, high, [i]))
        owner: dict[int, Buffer] = {}
        for low, high, members in spans:
            owner.update(dict.fromkeys(members, self._buffer("argument", low, high - low, True, None)))
        return [
            MemRef(owner[i], a, flag_view(owner[i], a), address(a), readonly[i] or not a.flags.writeable)
            for i, a in enumerate(arrays)
        ]

    def allocate(
        self, sizes: Sequence[int], order: Sequence[int], dtype: np.dtype, op: Op, kind: str = "heap"
    ) -> MemRef:
        """A buffer of undefined contents whose axes lie in `order`, outermost first."""
        if any(n < 0 for n in sizes):
            raise MemoryFault(f"allocates sizes {tuple(sizes)}")
        array = np.empty([sizes[d] for d in order], dtype).transpose(np.argsort(order))
        array[...] = poison(dtype)
        buffer = self._buffer(kind, address(array), array.nbytes, False, op)
        if kind == "heap":
            counts = self.counts
            self.live_bytes += array.nbytes
            counts.allocations += 1
            counts.allocated_bytes += array.nbytes
            counts.peak_bytes = max(counts.peak_bytes, self.live_bytes)
        return MemRef(buffer, array, flag_view(buffer, array), buffer.address, False)

    def _buffer(self, kind: str, address: int, nbytes: int, written: bool, op: Op | None) -> Buffer:
        buffer = Buffer(len(self.buffers), kind, address, nbytes, written, op)
        self.buffers.append(buffer)
        return buffer

    def free(self, ref: MemRef, op: Op) -> None:
        buffer = ref.buffer
        if buffer.kind != "heap":
            raise MemoryFault(f"frees {buffer!r}, which is no heap memory")
        if buffer.freed_by is not None:
            raise MemoryFault(f"double free: {buffer!r} was freed by {where(buffer.freed_by)}")
        buffer.freed_by = op
        self.live_bytes -= buffer.nbytes

    def copy(self, source: MemRef, target: MemRef, counted: bool) -> None:
        """Elements of source to target, poison included; a fault where they overlap otherwise than identically."""
        if source.array.shape != target.array.shape or source.array.dtype != target.array.dtype:
            raise MemoryFault(f"copies shape {source.array.shape} to {target.array.shape}")
        source.check_alive()
        if source.overlaps(target) and not same_elements(source.array, target.array):
            raise MemoryFault(f"hazard: copies between overlapping parts of {source.buffer!r}")
        target.write(source.array, source.written)
        self.counts.copies += counted
        self.counts.copied_bytes += source.array.nbytes * counted

    def end_stack(self, start: int, op: Op) -> None:
        """Frees the stack buffers that were made since there were `start` buffers: their function has returned."""
        for buffer in self.buffers[start:]:
            if buffer.kind == "stack" and buffer.freed_by is None:
                buffer.freed_by = op

    def given(self, call: Callable[..., Any], op: Op, args: Sequence[Any]) -> list[Any]:
        """Calls a Python callable with arrays for buffers. What it changed counts as written; an array that it gives is
        a view of what it got, or a new buffer."""
        refs = [a for a in args if isinstance(a, MemRef)]
        for ref in refs:
            ref.check_alive()
        before = [ref.array.copy() for ref in refs]
        found = call(*(a.array if isinstance(a, MemRef) else a for a in args))
        for ref, old in zip(refs, before):
            changed = ~same_bytes(ref.array, old)
            if changed.any():
                ref.check_writable()
                for flags in ref.flags:
                    flags |= changed
        if not op.results:
            return []
        results = list(found) if isinstance(found, tuple | list) else [found]
        if len(results) != len(op.results):
            raise InternalError(f"{where(op)}: {len(results)} values are given for {len(op.results)} results")
        return [self._received(r, v, refs, op) for r, v in zip(results, op.results)]

    def _received(self, result: Any, value: Value, refs: Sequence[MemRef], op: Op) -> Any:
        if isinstance(value.type, ScalarType):
            return convert(result, value.type)
        array = np.asarray(result)
        if not is_buffer(value):
            return array.copy()
        for ref in refs:
            if np.shares_memory(array, ref.array):
                return MemRef(ref.buffer, array, flag_view(ref.buffer, array), ref.origin, ref.readonly)
        new = self.allocate(array.shape, range(array.ndim), array.dtype, op)
        new.write(array)
        return new

    def check_leaks(self, returned: Sequence[MemRef]) -> None:
        kept = {r.buffer for r in returned}
        for buffer in self.buffers:
            if buffer.kind == "heap" and buffer.freed_by is None and buffer not in kept:
                raise MemoryFault(f"leak: {buffer!r} is neither freed nor returned", buffer.made_by)


def address(array: np.ndarray) -> int:
    start: int = array.__array_interface__["data"][0]
    return start


def root(array: np.ndarray) -> np.ndarray:
    """The array that owns the memory (or the outermost that NumPy knows of)."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


def flag_view(buffer: Buffer, array: np.ndarray) -> np.ndarray:
    """The flags of the array's elements: of its geometry, in bytes."""
    if array.size == 0:
        return np.ones(array.shape, np.bool_)
    return np.ndarray(array.shape, np.bool_, buffer.flags.data, address(array) - buffer.address, array.strides)


def same_bytes(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """For each element whether both hold the same bits."""
    shape = (a.size, a.itemsize)
    first, second = (np.ascontiguousarray(x).reshape(-1).view(np.uint8).reshape(shape) for x in (a, b))
    return np.asarray((first == second).all(axis=1)).reshape(a.shape)


def same_elements(a: np.ndarray, b: np.ndarray) -> bool:
    """Whether both views have every element at the same address (strides of axes of size 1 do not matter)."""
    same = all(n == 1 or s == t for n, s, t in zip(a.shape, a.strides, b.strides))
    return same and a.shape == b.shape and address(a) == address(b)
