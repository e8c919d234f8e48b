"""Entries of programs, and the tables of functions: the data that the code of `backend.llvm.entries` runs on.

What a program takes and gives is said by `Plan`, in terms of arguments by number; `ProgramEntry` lays it out in words,
with the kernel's context, which native calls and calls by Python use in turns. `NativeCalls` is what a bufferized
function has of them. Neither memory nor machine code that a call may be in is given back before the function dies.
"""

from __future__ import annotations

import ctypes
import importlib
import operator
import sys
import weakref
from collections.abc import Callable, Sequence
from functools import cache
from types import NoneType, SimpleNamespace
from typing import Any

import numpy as np

from tracebuf.backend.layout import abi
from tracebuf.backend.layout import entry_words as words
from tracebuf.backend.layout.abi import ArgNumber, Frame
from tracebuf.backend.layout.entry_words import (
    FAILURE_ROOM,
    Descriptor,
    Entry,
    Given,
    Kind,
    Layout,
    Result,
    Source,
    Table,
    Walk,
)
from tracebuf.backend.llvm.entries.dispatch import entries_text
from tracebuf.backend.llvm.jit import Library, compile_module
from tracebuf.backend.runtime.arena import Context
from tracebuf.backend.runtime.callable import NATIVE, NativeCallable, point_at
from tracebuf.backend.runtime.entry import runtime_address
from tracebuf.backend.runtime.failures import raising
from tracebuf.backend.runtime.kernel import Kernel
from tracebuf.frozen import frozen
from tracebuf.ir.ndarray import address
from tracebuf.ir.types import MemRefType, ScalarType

LONG, LONG_PRODUCTS = 2**14, 2**10
"""Elements of the array arguments, from which on a call does not keep the GIL; the latter of programs that call BLAS,
which does not poll. Shorter ones keep it until they poll."""
_ALIGNED, _WRITEABLE, _C, _F = 0x100, 0x400, 1, 2
_NEW_FROM_DESCR, _SCALAR, _ARRAY_TYPE, _SET_BASE, _COPY_INTO, _NEW_COPY, _RESIZE = 94, 60, 2, 282, 50, 85, 80
"""Slots of NumPy's `_ARRAY_API`."""
_DTYPES = tuple(ScalarType(name).dtype for name in abi.ELEMENT_CODES)


@frozen()
class ArrayArgument:
    """An exact ndarray; `dims` are the classes of its sizes (0, 1, 2: more, `REPEATED`), `order` its axes outermost
    first. `loose`: it is only read, and may share memory with others of that sort."""

    dtype: np.dtype
    dims: tuple[int, ...]
    order: tuple[int, ...]
    layout: int
    writable: bool
    loose: bool


@frozen()
class NumberArgument:
    """A float, complex, bool, int of Python's, or a NumPy scalar: its exact class."""

    type: type


@frozen(eq=False)
class ObjectArgument:
    """This very object; or one of its class that equals it, if it is an int, str, bytes, float, range, slice or a
    tuple of these."""

    value: Any


@frozen()
class SameArgument:
    """The array that argument `index` is."""

    index: int


@frozen()
class TwinArgument:
    """Another array object that is the same view as argument `index`, and none of `others`."""

    index: int
    writable: bool
    others: tuple[int, ...]


@frozen()
class ClassArgument:
    """Any object of exactly this class, which functions that the program calls get."""

    type: type


Argument = ArrayArgument | NumberArgument | ObjectArgument | SameArgument | TwinArgument | ClassArgument
Factor = tuple[int, int | None, bool] | int
"""Argument, axis (None: the int itself), whether its stride there is meant; or the number of a part."""
Term = tuple[int, tuple[Factor, ...]]
"""A coefficient, and factors."""


UNBOUND = object()
"""The value from outside of a name that a class and its bases do not have."""


@frozen(eq=False)
class Plan:
    """What a program takes, assumes and gives.

    `arguments`: of each leaf; `taken_as`: which of the kernel's arguments each is. `guards`: what is said of a sum of
    terms, or which part it computes of two of them, for those that follow. `outside`: a source, where (an object, or a
    pair), a name, the value. `result`: steps, of the kernel's results by number; `noted` of its parts are noted.
    `walk`: how the values of a call are taken apart, None where they are the arguments. `named`, `out`: the names in
    `**kwargs`, and whether there is a buffer.
    """

    arguments: tuple[Argument, ...]
    taken_as: tuple[ArgNumber, ...]
    guards: tuple[tuple[int, tuple[tuple[Term, ...], ...]], ...]
    outside: tuple[tuple[int, Any, str, Any], ...]
    result: tuple[tuple[Any, ...], ...]
    noted: int = 0
    walk: Steps | None = None
    named: tuple[str, ...] = ()
    out: bool = False


@frozen(eq=False)
class Steps:
    """The way from the `given` values of a call to arguments and containers, which are given by number.

    Each step: TUPLE, LIST or DICT with object, class, length or keys; OBJECT with object, class; ATTRIBUTE and GET with
    object, name, what stands for none (None: nothing does); ITEM with object, key, None; SAME with object, object;
    OUTSIDE with source, where, name; CONSTANT with 0, object; IS with object (by number), object.
    """

    given: int
    steps: tuple[tuple[Any, ...], ...]
    leaves: tuple[int, ...]
    containers: tuple[int, ...]
    nodes: int


@frozen()
class _Native:
    library: Library
    dispatch: int
    take: Any


@cache
def _native() -> _Native:
    """The machine code, compiled once a process."""
    core = importlib.import_module("numpy._core._multiarray_umath")
    pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
        ("PyCapsule_GetPointer", ctypes.pythonapi)
    )
    api = (ctypes.c_size_t * (_SET_BASE + 1)).from_address(pointer(core._ARRAY_API, None))
    imports = {
        "tracebuf_enter": runtime_address("enter"), "numpy_new": api[_NEW_FROM_DESCR], "numpy_scalar": api[_SCALAR],
        "PyArray_Type": api[_ARRAY_TYPE], "numpy_set_base": api[_SET_BASE],
        "numpy_copy": api[_COPY_INTO], "numpy_copied": api[_NEW_COPY], "numpy_resize": api[_RESIZE],
    }  # fmt: skip
    library = compile_module(entries_text(), "entries", imports, speed_level=1).pin()
    take = ctypes.PYFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)(library.address("take"))
    return _Native(library, library.address("dispatch"), take)


def native_address(name: str) -> int:
    """The address of one of the functions of native calls."""
    return _native().library.address(name)


@cache
def supported() -> bool:
    """Whether calls may be native: of objects that machine code may call, with arrays as `entries` takes them to be."""
    if not NATIVE or not hasattr(ctypes.pythonapi, "_PyType_Lookup"):
        return False
    x = np.ones((3, 5))[::-1, 1:]
    head = (ctypes.c_size_t * 9).from_address(id(x))
    sizes = (ctypes.c_size_t * 2).from_address(head[4])
    strides = (ctypes.c_ssize_t * 2).from_address(head[5])
    rank, flags = head[3] & 0xFFFFFFFF, head[8] & 0xFFFFFFFF
    number = np.float64(0.5)
    return (
        (head[1], head[7], rank) == (id(np.ndarray), id(x.dtype), 2)
        and head[2] == x.__array_interface__["data"][0]
        and (tuple(sizes), tuple(strides)) == (x.shape, x.strides)
        and flags & (_ALIGNED | _WRITEABLE | _C | _F) == _ALIGNED | _WRITEABLE
        and ctypes.c_double.from_address(id(number) + 16).value == 0.5
        and ctypes.c_double.from_address(id(0.25 + 0 * rank) + 16).value == 0.25
    )


@cache
def _versioned() -> bool:
    """Whether dicts have a version (PEP 509; PEP 699 takes it out of CPython 3.14)."""
    d: dict[str, int] = {}
    version = ctypes.c_uint64.from_address(id(d) + 8 * words.VERSION)
    changes: tuple[Callable[[], Any], ...] = (
        lambda: d.update(a=1), lambda: operator.setitem(d, "a", 2), lambda: d.pop("a"), lambda: d.setdefault("b", 3),
        lambda: d.update({"b": 4}), d.clear,
    )  # fmt: skip
    seen = {version.value}
    for change in changes:
        change()
        if version.value in seen:
            return False
        seen.add(version.value)
    return 0 not in seen


class _Words:
    """Words in memory that does not move, with what they point to. Parts are laid out before the memory exists."""

    def __init__(self) -> None:
        self.values: list[int] = []
        self.inner: list[tuple[int, int]] = []
        self.kept: list[Any] = []

    def add(self, values: Sequence[int]) -> int:
        """Appends words; the index of the first."""
        self.values.extend(values)
        return len(self.values) - len(values)

    def pointer(self, at: int, to: int) -> None:
        """The word `at` is to be the address of the word `to`."""
        self.inner.append((at, to))

    def of(self, x: Any) -> int:
        """An object's address; it is kept alive."""
        self.kept.append(x)
        return id(x)

    def made(self) -> Any:
        memory = (ctypes.c_int64 * len(self.values))(*self.values)
        start = ctypes.addressof(memory)
        for at, to in self.inner:
            memory[at] = start + 8 * to
        return memory


def _lay_out_walk(w: _Words, walk: Steps) -> None:
    """`Entry.WALK`, and what belongs to it."""
    v = w.values
    v[Entry.GIVEN], v[Entry.NODES], v[Entry.CONTAINERS] = walk.given, walk.nodes, len(walk.containers)
    w.pointer(Entry.LEAVES, w.add([*walk.leaves, *walk.containers]))
    w.pointer(Entry.WALK, w.add([len(walk.steps)]))
    first = w.add([0] * (words.WALK_WORDS * len(walk.steps)))
    for i, (kind, x, *rest) in enumerate(walk.steps):
        at = first + words.WALK_WORDS * i
        v[at], v[at + 1] = kind, x
        if kind == Walk.OUTSIDE:
            where, name = rest
            v[at + 3] = w.of(name)
            _place(w, at + 2, where)
            continue
        if kind == Walk.SAME:
            v[at + 3] = rest[0]
            continue
        v[at + 2] = w.of(rest[0])
        if kind in (Walk.ATTRIBUTE, Walk.GET, Walk.ITEM):
            v[at + 3] = 0 if rest[1] is None else w.of(rest[1])
        elif kind == Walk.DICT:
            v[at + 3] = len(rest[1])
            w.pointer(at + 4, w.add([w.of(k) for k in rest[1]]))
        elif kind in (Walk.TUPLE, Walk.LIST):
            v[at + 3] = rest[1]


def _place(w: _Words, at: int, where: Any) -> None:
    """The word that says where a name is looked up."""
    if isinstance(where, tuple):
        w.pointer(at, w.add([w.of(one) for one in where]))
    else:
        w.values[at] = w.of(where)


def _lay_out_names(w: _Words, outside: Sequence[tuple[int, Any, str, Any]]) -> None:
    """`Entry.NAMES`."""
    in_dicts: list[tuple[int, Any, str, Any]] = []
    others: list[tuple[int, Any, str, Any]] = []
    for name in outside:
        (in_dicts if name[0] in (Source.DICT, Source.DICTS) and _versioned() else others).append(name)
    dicts = {id(d): d for _, where, _, _ in in_dicts for d in (where if isinstance(where, tuple) else (where,))}
    w.pointer(Entry.NAMES, first := w.add([len(outside), len(in_dicts), 0]))
    places = [
        w.add([source, 0, w.of(name), 0 if value is UNBOUND else w.of(value)])
        for source, _, name, value in (*in_dicts, *others)
    ]
    for at, (_, where, _, _) in zip(places, (*in_dicts, *others)):
        _place(w, at + 1, where)
    w.pointer(first + 2, w.add([len(dicts), *(word for d in dicts.values() for word in (w.of(d), 0))]))


def slot_of(plan: Plan, frame: Frame, factor: Factor) -> int:
    """The slot of the frame that a factor of a guard is in, or -1 - k for part k."""
    if isinstance(factor, int):
        return -1 - factor
    argument, axis, stride = factor
    number = plan.taken_as[argument]
    at, type_ = frame.arg_at[number], frame.args[number]
    if axis is None:
        return at
    assert isinstance(type_, MemRefType)
    return at + 1 + axis + (type_.rank if stride else 0)


Build = Callable[[list[Any], Sequence[Any], Sequence[Any]], Any]
"""Makes a call's result of the kernel's results, the arguments and the containers."""


class ProgramEntry:
    """One program's entry. `build` makes the results that native code does not."""

    def __init__(self, kernel: Kernel, plan: Plan, build: Build) -> None:
        self.kernel, self.plan, self._build = kernel, plan, build
        self._taken_by = [k for _, k in sorted((s, i) for i, s in enumerate(plan.taken_as) if s >= 0)]
        native = _native()
        self._take = native.take
        kernel.share(self._over)

    def _over(self, context: Context) -> ProgramEntry:
        """The entry with its words, for native calls in this context."""
        self.context = context
        w = _Words()
        w.add([0] * Entry.SIZE)
        self._lay_out(w, context)
        self.memory, self._kept = w.made(), w.kept
        self.address = ctypes.addressof(self.memory)
        context.slots[abi.ENTRY] = self.address
        return self

    def _lay_out(self, w: _Words, context: Context) -> None:
        plan, frame = self.plan, self.kernel.frame
        v, number = w.values, len(plan.arguments)
        arrays = sum(isinstance(a, ArrayArgument) for a in plan.arguments)
        v[Entry.PATIENCE] = NEVER
        v[Entry.BUSY] = 1  # until Python, which has taken the context, gives it
        v[Entry.ARGUMENTS], v[Entry.ARRAYS], v[Entry.LONG] = number, arrays, self._long()
        v[Entry.GIVEN] = number
        if plan.walk is not None:
            _lay_out_walk(w, plan.walk)
        v[Entry.FRAME], v[Entry.CONTEXT] = ctypes.addressof(context.frame), ctypes.addressof(context.slots)
        w.kept += [context, context.frame, context.slots]
        w.pointer(Entry.DESCRIPTORS, first := w.add([0] * (number * Descriptor.SIZE)))
        for i, argument in enumerate(plan.arguments):
            k = plan.taken_as[i]
            self._describe(w, first + i * Descriptor.SIZE, argument, frame.arg_at[k] if k >= 0 else -1)
        w.pointer(Entry.RANGES, w.add([0] * (4 * arrays)))
        w.pointer(Entry.STACK, w.add([0] * max(len(plan.result) + 1, FAILURE_ROOM)))
        w.pointer(Entry.MADE, w.add([0] * plan.noted))
        v[Entry.MADE_COUNT] = plan.noted
        w.pointer(Entry.DTYPES, w.add([*map(w.of, _DTYPES), *(dtype.itemsize for dtype in _DTYPES)]))
        if plan.guards:
            w.pointer(Entry.GUARDS, w.add([len(plan.guards)]))
            for kind, polynomials in plan.guards:
                w.add([kind])
                for terms in polynomials:
                    w.add([len(terms)])
                    for coefficient, factors in terms:
                        w.add([coefficient, len(factors), *(slot_of(plan, frame, f) for f in factors)])
        if plan.named or plan.out:
            w.pointer(Entry.FORM, w.add([len(plan.named), int(plan.out), *map(w.of, plan.named)]))
        if plan.outside:
            _lay_out_names(w, plan.outside)
        w.pointer(Entry.RESULT, len(v))
        first = w.add([0] * (words.WORDS * (len(plan.result) + 1)))
        for i, step in enumerate((*plan.result, (Result.END,))):
            self._step(w, first + words.WORDS * i, step)
        v[Entry.FINISH], v[Entry.END] = w.of(_Finish(self)), w.of(context.end)

    def _long(self) -> int:
        """Of how many elements a call does not keep the GIL."""
        if self.kernel.image.brief:
            return sys.maxsize
        if not self.kernel.calls_blas:
            return LONG
        sized = any(
            isinstance(a, NumberArgument) and issubclass(a.type, (int, np.integer)) for a in self.plan.arguments
        )
        return 0 if sized else LONG_PRODUCTS

    def _describe(self, w: _Words, d: int, argument: Argument, at: int) -> None:
        v = w.values
        v[d + Descriptor.AT] = at
        if isinstance(argument, ArrayArgument):
            rank, dtype = len(argument.dims), argument.dtype
            v[d + Descriptor.KIND], v[d + Descriptor.EXPECTED] = Kind.ARRAY, w.of(dtype)
            v[d + Descriptor.ITEMSIZE], v[d + Descriptor.SHIFT] = dtype.itemsize, dtype.itemsize.bit_length() - 1
            v[d + Descriptor.RANK], v[d + Descriptor.LAYOUT] = rank, argument.layout
            v[d + Descriptor.LOOSE] = argument.loose
            counted, wanted = _ALIGNED | _WRITEABLE, _ALIGNED | (_WRITEABLE if argument.writable else 0)
            if argument.layout == Layout.DENSE and argument.order == tuple(range(rank)):
                counted, wanted = counted | _C, wanted | _C
            else:
                counted |= _C | _F
                wanted |= _F if argument.layout == Layout.DENSE else 0
            v[d + Descriptor.FLAGS], v[d + Descriptor.WANTED] = counted, wanted
            w.pointer(d + Descriptor.AXES, w.add([*argument.dims, *argument.order]))
        elif isinstance(argument, NumberArgument):
            kinds = {float: Kind.FLOAT, complex: Kind.COMPLEX, bool: Kind.BOOL, int: Kind.INT}
            kind = kinds.get(argument.type, Kind.NUMPY)
            v[d + Descriptor.KIND], v[d + Descriptor.EXPECTED] = kind, w.of(argument.type)
            if kind == Kind.BOOL:
                v[d + Descriptor.ITEMSIZE] = id(True)
            elif kind == Kind.NUMPY:
                v[d + Descriptor.ITEMSIZE] = np.dtype(argument.type).itemsize
        elif isinstance(argument, ClassArgument):
            v[d + Descriptor.KIND], v[d + Descriptor.EXPECTED] = Kind.CLASS, w.of(argument.type)
        elif isinstance(argument, SameArgument):
            v[d + Descriptor.KIND], v[d + Descriptor.EXPECTED] = Kind.SAME, argument.index
        elif isinstance(argument, TwinArgument):
            v[d + Descriptor.KIND], v[d + Descriptor.EXPECTED] = Kind.TWIN, argument.index
            wanted = _ALIGNED | (_WRITEABLE if argument.writable else 0)
            v[d + Descriptor.FLAGS], v[d + Descriptor.WANTED] = _ALIGNED | _WRITEABLE, wanted
            w.pointer(d + Descriptor.AXES, w.add([len(argument.others), *argument.others]))
        else:
            v[d + Descriptor.KIND], v[d + Descriptor.EXPECTED] = Kind.IS, w.of(argument.value)

    def _step(self, w: _Words, at: int, step: tuple[Any, ...]) -> None:
        """The words of one step of the result."""
        kind, *rest = step
        frame, numbers = self.kernel.frame, rest
        if kind == Result.OBJECT:
            numbers = [w.of(rest[0])]
        elif kind == Result.ARRAY:
            index, noted, argument, read_only = rest
            type_ = frame.results[index]
            assert isinstance(type_, MemRefType)
            dtype = type_.element.dtype
            of = (type_.rank, noted, w.of(dtype), dtype.itemsize, argument, read_only)
            numbers = [frame.result_at[index], *of]
        elif kind == Result.NUMPY:
            type_ = frame.results[rest[0]]
            assert isinstance(type_, ScalarType)
            numbers = [frame.result_at[rest[0]], w.of(type_.dtype)]
        elif kind in (Result.FLOAT, Result.INT, Result.BOOL, Result.COMPLEX):
            numbers = [frame.result_at[rest[0]]]
        elif kind == Result.IF:
            numbers = [frame.result_at[rest[0]], rest[1]]
        elif kind == Result.NAMED_TUPLE:
            numbers = [*rest[:2], w.of(rest[2]), w.of(tuple.__new__)]
        elif kind == Result.RECORD:
            length, noted, of_class, names = rest
            simple = of_class is SimpleNamespace
            numbers = [length, noted, 0 if simple else w.of(of_class), w.of(of_class if simple else object.__new__), 0]
            w.pointer(at + 5, w.add([w.of(name) for name in names]))
        elif kind == Result.DICT:
            numbers = [*rest[:2], 0]
            w.pointer(at + 3, w.add([w.of(key) for key in rest[2]]))
        elif kind in (Result.WRITE_DICT, Result.WRITE_OBJECT):
            length, container, first, keys, *whole = rest
            numbers = [length, container, first, 0, *whole]
            w.pointer(at + 4, w.add([w.of(key) for key in keys]))
        w.values[at : at + 1 + len(numbers)] = [kind, *numbers]

    # -- turns
    def take(self) -> bool:
        """Takes the context for a call by Python; False where it is in use."""
        return bool(self._take(self.address))

    def give(self) -> None:
        self.memory[Entry.BUSY] = 0

    @property
    def calls(self) -> int:
        """How many calls it took."""
        return int(self.memory[Entry.CALLS])

    def finish(self, status: int, given: Sequence[Any]) -> Any:
        """The result of a call after its kernel, where native code does not make it; raises the kernel's errors. After
        the arguments come the containers."""
        if status > 0:
            self._learn(status)
        number = len(self.plan.arguments)
        values, containers = given[:number], given[number:]
        context = self.context
        count = self.memory[Entry.FRESH_COUNT]
        for at in (ctypes.c_size_t * (2 * count)).from_address(self.memory[Entry.FRESH])[::2] if count else ():
            array = ctypes.cast(at, ctypes.py_object).value
            context.owners[array.__array_interface__["data"][0]] = array
        try:
            raw = self.kernel.results(status, context, [values[i] for i in self._taken_by])
        finally:
            context.owners.clear()
        return self._build(raw, values, containers)

    def _learn(self, status: int) -> None:
        """Lets native code raise the exception of a failed check from now on, if it can."""
        failures = self.kernel.failures()
        steps = raising(failures[status - 1], self.kernel.frame.error_at)
        if steps is None:
            return
        w = _Words()
        w.add([0] * (words.WORDS * len(steps)))
        for i, (kind, *rest) in enumerate(steps):
            numbers = [x if type(x) is int else 0 if x is None else w.of(x) for x in rest]
            if kind == Result.OBJECT:
                numbers = [w.of(rest[0])]
            w.values[words.WORDS * i : words.WORDS * i + 1 + len(numbers)] = [kind, *numbers]
        memory = w.made()
        if not self.memory[Entry.FAILURES]:
            self._raised = (ctypes.c_int64 * len(failures))()
            self.memory[Entry.FAILURES] = ctypes.addressof(self._raised)
        self._raised[status - 1] = ctypes.addressof(memory)
        self._kept += [memory, w.kept]

    def __del__(self) -> None:
        if (memory := getattr(self, "memory", None)) is not None and memory[Entry.FRESH]:
            ctypes.pythonapi.PyMem_RawFree(ctypes.c_void_p(memory[Entry.FRESH]))
            memory[Entry.FRESH] = memory[Entry.FRESH_ROOM] = 0  # a finalizer that comes later may call the function


PATIENCE = 16
"""After so many calls in a row that raise machine code has the original function make the next, without looking at its
arguments."""
NEVER = 2**62
CONSTANTS = (str, bytes, type, NoneType)
"""What is told apart by value."""


class OriginalEntry:
    """The entry of calls that run the original function: with arrays that overlap in memory like these; or (`sized`)
    with arrays of these sizes and strides, and these ints; or, where they are `anywhere`, with values of these classes,
    dtypes and ranks. The last ones are passed `by_name`. Where there is a `walk`, the values are those that it leads
    to. `outside`: as in `Plan`."""

    def __init__(
        self, function: Any, values: Sequence[Any], by_name: tuple[str, ...], *, anywhere: bool = False,
        sized: bool = False, outside: Sequence[tuple[int, Any, str, Any]] = (), walk: Steps | None = None,
    ) -> None:  # fmt: skip
        w = _Words()
        v = w.values
        w.add([0] * Entry.SIZE)
        v[Entry.GIVEN] = v[Entry.ARGUMENTS] = len(values)
        v[Entry.PATIENCE] = PATIENCE if sized else NEVER
        names = w.of(by_name) if by_name else 0
        given = len(values) if walk is None else walk.given
        w.pointer(Entry.ORIGINAL, w.add([w.of(function), given - len(by_name), names]))
        parts = w.add([0] * (Given.SIZE * len(values)))
        first = next((address(x) for x in values if isinstance(x, np.ndarray)), 0)
        for at, x in zip(range(parts, len(v), Given.SIZE), values):
            if type(x) is np.ndarray:
                v[at + Given.KIND], v[at + Given.EXPECTED], v[at + Given.RANK] = Kind.ARRAY, w.of(x.dtype), x.ndim
                if not anywhere:
                    v[at + Given.AT] = words.ANYWHERE if sized else address(x) - first
                    v[at + Given.FLAGS] = x.flags.num
                    w.pointer(at + Given.SIZES, w.add([*x.shape, *x.strides]))
            elif sized and isinstance(x, (int, np.integer)):
                v[at + Given.KIND], v[at + Given.EXPECTED] = Kind.IS, w.of(x)
            elif isinstance(x, (float, complex, int, np.generic)) or anywhere and not isinstance(x, CONSTANTS):
                kind = Kind.INT if type(x) is int and not anywhere else Kind.NUMPY
                v[at + Given.KIND], v[at + Given.EXPECTED] = kind, w.of(type(x))
            else:
                v[at + Given.KIND], v[at + Given.EXPECTED] = Kind.IS, w.of(x)
        if outside:
            _lay_out_names(w, outside)
        if walk is not None:
            _lay_out_walk(w, walk)
        self.memory, self._kept = w.made(), w.kept
        self.address = ctypes.addressof(self.memory)

    @property
    def calls(self) -> int:
        """How many calls it took."""
        return int(self.memory[Entry.CALLS])


class _Finish:
    """`ProgramEntry.finish` as native code calls it. It does not keep the entry alive, which keeps it."""

    def __init__(self, entry: ProgramEntry) -> None:
        self.address = id(entry)

    def __call__(self, status: int, *values: Any) -> Any:
        entry: ProgramEntry = ctypes.cast(self.address, ctypes.py_object).value
        return entry.finish(status, values)


@frozen(eq=False)
class Signature:
    """How a function takes its arguments: its parameters' names, how many are positional, how many of them only so;
    whether it has `*args` and `**kwargs`, whether `out=` names a buffer."""

    names: tuple[str, ...]
    positional: int
    unnamed: int
    star: bool = False
    stars: bool = False
    out: bool = False


class NativeCalls:
    """The native calls of one object, `target`: its entries, in a table that the object's own word points to.

    An entry once made lives as long as this does, for a call may be in it.
    """

    def __init__(self, target: NativeCallable, python: Any, function: Any, signature: Signature) -> None:
        self._target, self.signature = weakref.ref(target), signature
        self._head = [0, id(python), id(function), len(signature.names), signature.positional, signature.unnamed]
        names = [*map(id, signature.names), *map(hash, signature.names)]
        self._names = (ctypes.c_int64 * len(names))(*names)
        self._kept: list[Any] = [python, function, signature, out := sys.intern("out")]
        self._forwarded, self._forwards = ctypes.c_int64(), False
        self._tail = [signature.star, signature.stars, id(out) if signature.out else 0]
        self.entries: list[ProgramEntry | OriginalEntry] = []

    def add(self, entry: ProgramEntry | OriginalEntry) -> None:
        """One more entry, tried first."""
        self.entries.insert(0, entry)
        self._point()

    @property
    def forwarded(self) -> int:
        """How many calls the original function made, whatever the arguments."""
        return self._forwarded.value

    def forward(self) -> None:
        """From now on the original function makes all calls without keywords."""
        self._forwards = True
        self._point()

    def rest(self) -> None:
        """Python takes all calls, until `go_on`."""
        if (target := self._target()) is not None:
            point_at(target, 0, 0)

    def go_on(self) -> None:
        """Machine code takes its calls again."""
        if self.entries or self._forwards:
            self._point()

    def clear(self) -> None:
        """From now on Python takes all calls."""
        self._forwards = False
        if (target := self._target()) is not None:
            point_at(target, 0, 0)
        self._kept += self.entries
        self.entries = []

    def __del__(self) -> None:
        self.clear()

    def _point(self) -> None:
        if (target := self._target()) is None:
            return
        addresses = [entry.address for entry in self.entries]
        counted = ctypes.addressof(self._forwarded)
        head = [len(addresses), *self._head[1:], ctypes.addressof(self._names), *self._tail, counted]
        table = (ctypes.c_size_t * (Table.ENTRIES + len(addresses)))(*head, *addresses)
        self._kept.append(table)  # like those before, which a call may be in
        called = _native().library.address("forward") if self._forwards else _native().dispatch
        point_at(target, called, ctypes.addressof(table))


def bind_natively(method: NativeCallable, function: Any, instance: Any) -> Any:
    """Lets machine code take the calls of a bound method; what has to live as long as the method."""
    pair = (ctypes.c_size_t * 2)(id(function), id(instance))
    point_at(method, _native().library.address("bound"), ctypes.addressof(pair))
    return pair, function, instance
