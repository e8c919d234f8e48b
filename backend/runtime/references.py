"""Runs a function of Python's on a kernel's buffers: the other end of `call_reference` of `backend.llvm.host_calls`.

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
from tracebuf.backend.layout.called_words import ARRAY_WORDS, GIVEN, Called, Passing
from tracebuf.backend.runtime.callable import NATIVE
from tracebuf.backend.runtime.callback import Callback
from tracebuf.errors import note_location
from tracebuf.ir.ndarray import Lent, address, array_at, leases, still_lent
from tracebuf.ir.types import F64, INDEX, ScalarType
from tracebuf.running.handed import Handed
from tracebuf.running.host import Passed, Put, is_passed, kept_error
from tracebuf.running.lines import ON_STACK

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
    """One function that a kernel calls back; of one context, so of one call at a time. `address`: of the words by which
    native code calls it, 0 where Python does."""

    __slots__ = (
        "address", "arrays", "called", "direct", "gives", "made", "hands", "may_keep", "n_ins", "none", "number", "run",
        "scalars", "several", "stack", "type", "words",
    )  # fmt: skip

    def __init__(self, called: Callback) -> None:
        self.called = called
        self.may_keep, self.direct = called.function.may_keep, called.function.direct
        self.stack = called.on_stack
        self.hands = self.direct is not None and any(isinstance(x, Handed) for x in self.direct.arguments)
        """Whether the function gets an object of the call's."""
        self.n_ins, self.none = called.n_ins, [None] * len(called.operands)
        self.gives = frozenset(called.gives)
        self.run = called.function.run
        self.arrays: list[tuple[int, slice, int, np.dtype, bool, list[Pointed]]] = []
        """(operand, its slots, rank, dtype, whether it is an input, the array of the last call if there is one)"""
        self.scalars: list[tuple[int, int, ScalarType]] = []
        size = 0
        for k, (element, rank) in enumerate(called.operands):
            if rank is not None:
                self.arrays.append((k, slice(size, size + 1 + 2 * rank), rank, element.dtype, k < called.n_ins, []))
                size += 1 + 2 * rank
            else:
                self.scalars.append((k, size, element))
                size += scalar_slots(element)
        self.several: list[tuple[int, Sequence[Any]]] = []
        """The arguments that are tuples or lists of arrays: the word where each goes, and what it is made of."""
        self.made: list[Any] = []
        """Those of the arrays of the last call."""
        self.type = ctypes.c_int64 * size
        self.words = self._direct()
        self.number = self._is_number()
        self.address = 0 if self.words is None else ctypes.addressof(self.words)

    def _direct(self) -> Any:
        """The words `Called`; None where only Python makes the call."""
        direct = self.direct
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
            elif isinstance(x, Handed):
                arguments += [Passing.VALUE, x.leaf, 0]
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
        alone = direct.put.number if isinstance(direct.put, Put) else None
        for k, (place, axis) in enumerate(zip(direct.places, direct.bounds, strict=True), self.n_ins):
            if axis:
                return None
            dtype = self.called.operands[k][0].dtype
            results += [
                place,
                number[k],
                id(dtype),
                id(float if alone is float and dtype == F64.dtype else dtype.type),  # their values are at one place
                dtype.itemsize,
                -1 if axis is None else number[outs],
            ]
            outs += axis is not None
        arrays = [
            w
            for k, own, rank, dtype, *_ in self.arrays
            for w in (0, own.start, rank, _log2(dtype.itemsize) + (GIVEN if k in self.gives else 0))
        ]
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

    def _is_number(self) -> bool:
        """Whether it makes one float of numbers and objects: then Python needs no arrays to call it."""
        direct = self.direct
        if self.words is None or direct is None or not isinstance(direct.put, Put) or direct.put.number is not float:
            return False
        alone = len(self.arrays) == 1 and self.arrays[0][2:4] == (0, F64.dtype)
        return alone and all(of is F64 or of is INDEX for *_, of in self.scalars)

    def _float(self, spec: int) -> None:
        """Stores the float that the function gives."""
        assert self.direct is not None
        operands: list[Any] = [*self.none]
        for k, at, of in self.scalars:
            operands[k] = (ctypes.c_double if of is F64 else ctypes.c_int64).from_address(spec + 8 * at).value
        result = self.direct.result(operands)
        out = self.type.from_address(spec)[self.arrays[0][1].start]
        ctypes.c_double.from_address(out).value = result

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
        assert self.direct is not None
        try:
            if self.gives:
                self.give(result, spec, args, context.take)
            else:
                self.direct.put(result, args[self.n_ins :])
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
        if self.called.may_raise:
            note_location(error, self.called.location)

    def call(self, spec: int, hand_over: Callable[[], object], take: Callable[[np.ndarray], None]) -> None:
        """Computes the outs from the inputs; `spec` is the address of the first operand's slots, `hand_over` gives up
        the owners of all memory that the kernel uses, `take` takes over an array."""
        if self.number and self.arrays[0][-1]:  # native code needs the array of the last call
            try:
                return self._float(spec)
            except BaseException as error:
                self._failed(error, [], hand_over)
                raise
        args, n_ins = self.operands(spec), self.n_ins
        if self.gives and self.direct is not None:
            try:
                self.give(self.direct.result(args), spec, args, take)
            except BaseException as error:
                self._failed(error, args, hand_over)
                raise
            return
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
                raise note_location(kept_error(self.called.function.name), self.called.location)

    def give(self, result: Any, spec: int, args: list[Any], take: Callable[[np.ndarray], None]) -> None:
        """Gives the arrays of a result to the outs that have no memory yet, or others where these are not as they have
        to be, and stores the rest."""
        direct, made = self.direct, []
        assert direct is not None
        several = direct.kind is not None
        items = list(result) if several else [result]
        slots = self.type.from_address(spec)
        rest = len(self.called.operands) - self.n_ins > len(self.gives)
        for k, place, rank, dtype, *_ in self.arrays:
            if k not in self.gives or args[k] is not None:
                continue
            first, *own = slots[place]
            x = items[direct.places[k - self.n_ins]]
            owner = owner_of(x, own[:rank], own[rank:], dtype)
            if owner is None:
                axes = sorted(range(rank), key=lambda d: -own[rank + d])
                owner, rest = np.empty([own[d] for d in axes], dtype), True
                x = owner.transpose(sorted(range(rank), key=axes.__getitem__))
            made.append((place.start, owner))
            args[k] = x
        if rest:
            direct.put(result, args[self.n_ins :])
        for at, owner in made:
            take(owner)
            slots[at] = address(owner)

    def operands(self, at: int) -> list[Any]:
        """The operands on the kernel's memory; inputs are read-only."""
        slots = self.type.from_address(at)[:]
        args: list[Any] = self.none.copy()
        for i, (k, place, rank, dtype, is_input, last) in enumerate(self.arrays):
            own = slots[place]
            if k in self.gives and not own[0]:
                continue
            if not last or not last[0].moves_to(own):
                last[:] = [Pointed(own, dtype, rank, is_input)]
                self._show(i, last[0].array)
            args[k] = last[0].array
        for k, first, scalar in self.scalars:
            args[k] = slots[first] if scalar is INDEX else scalar_at(at + 8 * first, scalar)
        return args


def owner_of(x: Any, sizes: Sequence[int], strides: Sequence[int], dtype: np.dtype) -> np.ndarray | None:
    """The array whose memory a result has, if it is of these sizes, and strides in elements, and has all of it."""
    if type(x) is not np.ndarray or x.dtype != dtype or x.shape != tuple(sizes):
        return None
    owner = x
    while type(owner.base) is np.ndarray:
        owner = owner.base
    alike = all(n <= 1 or s == size * dtype.itemsize for n, s, size in zip(sizes, x.strides, strides))
    whole = owner.flags.owndata and owner.nbytes == x.nbytes and address(owner) == address(x)
    return owner if whole and x.flags.writeable and x.flags.aligned and (alike or 0 in sizes) else None


def is_given(place: int, pattern: Sequence[Any]) -> bool:
    """Whether the function gets the operand itself."""
    several = (x for x in pattern if isinstance(x, tuple | list))
    return any(isinstance(x, Passed) and x.place == place for x in pattern) or any(is_given(place, x) for x in several)


def copied(args: list[Any], places: Sequence[int], n_ins: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Puts copies in the place of what may be on the stack, for the frames of an error may keep them; the outs, with
    their copies."""
    outs = []
    for k in places:
        if (x := args[k]).nbytes <= ON_STACK:
            args[k] = x.copy(order="K")
            outs += [(x, args[k])] if k >= n_ins else []
    return outs


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
