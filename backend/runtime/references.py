"""Runs an op's NumPy reference on a kernel's buffers: the other end of `backend.llvm.references`.

The arrays lend the kernel's memory. A host call's function, or the frames of an exception that it raised, may still
hold one afterwards: then that array, and so every view of it, gets the owners of the memory to keep (it is not used
again, and the memory is never freed under it), and a function that has kept one is told so.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tracebuf.backend.layout.abi import scalar_slots
from tracebuf.backend.llvm.hosted import ARRAY_WORDS, Called, Passing
from tracebuf.backend.runtime.callable import NATIVE
from tracebuf.errors import InternalError, note_location
from tracebuf.ir.core import Block, Value
from tracebuf.ir.ndarray import Lent, array_at, leases, still_lent
from tracebuf.ir.types import F64, INDEX, MemRefType, ScalarType
from tracebuf.ops.arrays.host import HostCall, HostFunction, Passed, Run, is_passed, kept_error, read_only
from tracebuf.ops.arrays.linalg import DestinationOp
from tracebuf.ops.memory.memref import ON_STACK, Alloc, Alloca, base_of


class _NoInterpreter:
    """References of ops with regions are for the interpreters."""

    def run_block(self, block: Any, args: Any) -> list[Any]:
        raise InternalError("an op with regions has no reference in native code")

    def operands(self, op: Any) -> list[Any]:
        return self.run_block(op, [])


_DATA, _WORDS = 2, 10
"""In words of a PyArrayObject (numpy/ndarraytypes.h): where its data is, and how many are looked at: the reference
count, class, data, rank, the places of sizes and strides, base, dtype, flags, weak references."""


class Pointed:
    """An array on lent memory, which is pointed at other memory for the next call, where nothing else holds it, a view
    of it, or what it views, and nothing has changed it."""

    __slots__ = ("array", "head", "layout", "lent", "seen", "shape")

    def __init__(self, slots: Sequence[int], dtype: np.dtype, rank: int, read_only: bool) -> None:
        size = dtype.itemsize
        self.layout = slots[1:]
        shape, strides = tuple(slots[1 : 1 + rank]), tuple([n * size for n in slots[1 + rank :]])
        self.array: Any = array_at(slots[0], shape, strides, dtype, read_only)
        self.head = (ctypes.c_ssize_t * _WORDS).from_address(id(self.array))
        self.lent = (ctypes.c_ssize_t * 1).from_address(id(self.array.base))
        self.shape = (ctypes.c_ssize_t * (2 * rank * REUSED)).from_address(self.head[4] or id(self.array))
        self.seen = (self.head[:], self.lent[0], self.shape[:])

    def moves_to(self, slots: Sequence[int]) -> bool:
        """Points it at the memory there; False where sizes or strides differ, by which its flags do."""
        if not REUSED or slots[1:] != self.layout or not isinstance(self.array.base, Lent):
            return False
        self.head[_DATA] = self.seen[0][_DATA] = slots[0]
        return True

    def is_free(self) -> bool:
        return REUSED and self.seen == (self.head[:], self.lent[0], self.shape[:])


REUSED = NATIVE and object.__basicsize__ == 16
"""Whether arrays are laid out, and references counted, so that it can be seen who holds an array."""


class Reference:
    """One op whose NumPy reference a kernel calls back; of one context, so of one call at a time. `address`: of the
    words by which native code calls it, 0 where Python does."""

    __slots__ = (
        "address", "arrays", "made", "may_keep", "n_ins", "none", "op", "run", "scalars", "several", "stack", "type",
        "words",
    )  # fmt: skip

    def __init__(self, op: DestinationOp) -> None:
        self.op = op
        self.may_keep = isinstance(op, HostCall) and op.may_keep
        self.stack = perhaps_on_stack(op)
        self.n_ins, self.none = op.n_ins, [None] * len(op.operands)
        self.run = run_of(op)
        self.arrays: list[tuple[int, slice, int, np.dtype, bool, list[Pointed]]] = []
        """(operand, its slots, rank, dtype, whether it is an input, the array of the last call if there is one)"""
        self.scalars: list[tuple[int, int, ScalarType]] = []
        size = 0
        for k, value in enumerate(op.operands):
            if isinstance(value.type, MemRefType):
                rank, dtype = value.type.rank, value.type.element.dtype
                self.arrays.append((k, slice(size, size + 1 + 2 * rank), rank, dtype, k < op.n_ins, []))
                size += 1 + 2 * rank
            else:
                assert isinstance(value.type, ScalarType)
                self.scalars.append((k, size, value.type))
                size += scalar_slots(value.type)
        self.several: list[tuple[int, Sequence[Any]]] = []
        """The arguments that are tuples or lists of arrays: the word where each goes, and what it is made of."""
        self.made: list[Any] = []
        """Those of the arrays of the last call."""
        self.type = ctypes.c_int64 * size
        self.words = self._direct()
        self.address = 0 if self.words is None else ctypes.addressof(self.words)

    def _direct(self) -> Any:
        """The words `Called`; None where only Python makes the call."""
        direct = self.op.direct if isinstance(self.op, HostCall) else None
        if direct is None or self.may_keep or not REUSED or any(is_given(k, direct.arguments) for k in self.stack):
            return None
        number = {k: i for i, (k, *_) in enumerate(self.arrays)}
        scalars = {k: (at, of) for k, at, of in self.scalars}
        arguments: list[int] = []
        for x in direct.arguments:
            if isinstance(x, tuple | list) and is_passed(x):
                if not all(isinstance(p, Passed) and p.type is None and p.place in number for p in x):
                    return None
                self.several.append((len(arguments) + 1, x))
                arguments += [Passing.OBJECT, 0, 0]
            elif not isinstance(x, Passed):
                arguments += [Passing.OBJECT, id(x), 0]
            elif x.type is None and x.place in number:
                arguments += [Passing.ARRAY, number[x.place], 0]
            else:
                at, of = scalars[x.place]
                if of is INDEX and x.type in (None, int):
                    arguments += [Passing.INT, at, 0]
                elif x.type is float and of is F64:
                    arguments += [Passing.FLOAT, at, 0]
                elif x.type is None:
                    arguments += [Passing.NUMPY, at, id(of.dtype)]
                else:
                    return None
        results: list[int] = []
        outs = self.n_ins + len(direct.places)
        for k, (place, axis) in enumerate(zip(direct.places, direct.bounds, strict=True), self.n_ins):
            if axis:
                return None
            dtype = self.op.operand(k).type.element.dtype  # type: ignore[union-attr]
            results += [
                place,
                number[k],
                id(dtype),
                id(dtype.type),
                dtype.itemsize,
                -1 if axis is None else number[outs],
            ]
            outs += axis is not None
        arrays = [w for _, own, rank, dtype, *_ in self.arrays for w in (0, own.start, rank, _log2(dtype.itemsize))]
        words = (ctypes.c_int64 * (Called.SIZE + len(arrays) + len(arguments) + len(results)))()
        words[Called.SIZE :] = [*arrays, *arguments, *results]
        at = ctypes.addressof(words) + 8 * Called.SIZE
        self.several = [(Called.SIZE + len(arrays) + place, x) for place, x in self.several]
        head = {
            Called.FUNCTION: id(direct.function), Called.NAMES: id(direct.names) if direct.names else 0,
            Called.POSITIONAL: len(direct.arguments) - len(direct.names),
            Called.ARRAYS: len(self.arrays), Called.ARRAY: at,
            Called.ARGUMENTS: len(direct.arguments), Called.ARGUMENT: at + 8 * len(arrays),
            Called.RESULTS: len(direct.places), Called.RESULT: at + 8 * (len(arrays) + len(arguments)),
            Called.KIND: 0 if direct.kind is None else id(direct.kind),
            Called.OWNER: id(self), Called.STORE: id(Reference.store), Called.FAIL: id(Reference.fail),
        }  # fmt: skip
        for word, value in head.items():
            words[word] = value
        return words

    def _show(self, k: int, array: Any) -> None:
        """Lets native code point array number `k` at other memory, or none (None)."""
        if self.words is not None:
            movable = array is not None and isinstance(array.base, Lent)
            self.words[Called.SIZE + ARRAY_WORDS * k] = id(array) if movable else 0
            if self.several:
                self._show_several()

    def _show_several(self) -> None:
        """Makes the tuples and lists of arrays anew; they are asked for where all arrays are there."""
        arrays = {k: last[0].array if last else None for k, *_, last in self.arrays}
        self.made = []
        for word, pattern in self.several:
            kind: Any = type(pattern)
            self.made.append(kind([arrays[p.place] for p in pattern]))
            self.words[word] = id(self.made[-1])

    def forget(self) -> None:
        """Drops the arrays of the last call."""
        for k, (*_, last) in enumerate(self.arrays):
            last.clear()
            self._show(k, None)

    def store(self, result: Any, spec: int, context: Any) -> None:
        """Stores what the function gave in a native call."""
        args = self.operands(spec)
        try:
            self.op.direct.put(result, args[self.n_ins :])  # type: ignore[attr-defined]
        except BaseException as error:
            self._failed(error, args, context._hand_over)
            raise

    def fail(self, error: BaseException, spec: int, context: Any) -> None:
        """Raises what the function has raised in a native call."""
        self._failed(error, self.operands(spec), context._hand_over)
        raise error

    def _failed(self, error: BaseException, args: list[Any], hand_over: Callable[[], object]) -> None:
        """Gives memory up that the frames of an error may hold, and notes where it was raised."""
        self.forget()
        keep([found for lease in leases(args) if (found := lease()) is not None], hand_over)
        if self.op.may_raise:
            note_location(error, self.op.loc)

    def call(self, spec: int, hand_over: Callable[[], object]) -> None:
        """Computes the outs from the inputs; `spec` is the address of the first operand's slots, `hand_over` gives up
        the owners of all memory that the kernel uses."""
        args, n_ins = self.operands(spec), self.n_ins
        apart = copied(args, self.stack, n_ins) if self.stack else []
        try:
            self.run(args[:n_ins], args[n_ins:])
        except BaseException as error:
            apart.clear()
            self._failed(error, args, hand_over)
            raise
        for out, made in apart:
            out[...] = made
        args.clear()
        if self.may_keep and not all(last[0].is_free() for *_, last in self.arrays):
            lent = leases([last[0].array for *_, last in self.arrays])
            self.forget()
            if kept := still_lent(lent):
                keep(kept, hand_over)
                raise note_location(kept_error(str(self.op.attrs["callee"])), self.op.loc)

    def operands(self, at: int) -> list[Any]:
        """The operands on the kernel's memory; inputs are read-only."""
        slots = self.type.from_address(at)[:]
        args: list[Any] = self.none.copy()
        for i, (k, place, rank, dtype, is_input, last) in enumerate(self.arrays):
            own = slots[place]
            if not last or not last[0].moves_to(own):
                last[:] = [Pointed(own, dtype, rank, is_input)]
                self._show(i, last[0].array)
            args[k] = last[0].array
        for k, first, scalar in self.scalars:
            args[k] = slots[first] if scalar is INDEX else scalar_at(at + 8 * first, scalar)
        return args


def perhaps_on_stack(op: DestinationOp) -> tuple[int, ...]:
    """The operands that may be on the stack: of functions that native code calls only where NumPy's loop does not do.
    What other functions get never is."""
    if not isinstance(op, HostCall) or op.loop is None:
        return ()
    return tuple(k for k, v in enumerate(op.operands) if isinstance(v.type, MemRefType) and not on_heap(base_of(v)))


def is_given(place: int, pattern: Sequence[Any]) -> bool:
    """Whether the function gets the operand itself."""
    several = (x for x in pattern if isinstance(x, tuple | list))
    return any(isinstance(x, Passed) and x.place == place for x in pattern) or any(is_given(place, x) for x in several)


def on_heap(base: Value) -> bool:
    if isinstance(base.owner, Block):
        return base.owner.region.op is None  # an argument of the program
    return isinstance(base.owner, Alloc) and not isinstance(base.owner, Alloca)


def copied(args: list[Any], places: Sequence[int], n_ins: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Puts copies in the place of what may be on the stack, for the frames of an error may keep them; the outs, with
    their copies."""
    outs = []
    for k in places:
        if (x := args[k]).nbytes <= ON_STACK:
            args[k] = x.copy(order="K")
            outs += [(x, args[k])] if k >= n_ins else []
    return outs


def run_of(op: DestinationOp) -> Run:
    """A host call on the memory itself; else what the reference gives goes there."""
    if isinstance(op, HostCall):
        return op.callee.run if isinstance(op.callee, HostFunction) else lambda ins, outs: op.run([*ins, *outs])

    def run(ins: Sequence[Any], outs: Sequence[np.ndarray]) -> None:
        results = op.evaluate(_NoInterpreter(), [*map(read_only, ins), *map(read_only, outs)])
        for out, result in zip(outs, results, strict=True):
            out[...] = result

    return run


def _log2(size: int) -> int:
    return size.bit_length() - 1


def keep(lent: Sequence[Lent], hand_over: Callable[[], object]) -> None:
    """Lent memory that is still in use stays alive as long as it is."""
    owners = hand_over() if lent else None
    for found in lent:
        found.owner = owners


def scalar_at(at: int, type_: ScalarType) -> Any:
    """The scalar at an address."""
    return np.frombuffer(ctypes.string_at(at, type_.itemsize), type_.dtype)[0]
