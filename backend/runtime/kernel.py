"""A compiled program as something to call: run through ctypes, results as NumPy objects. `compiled` makes one of a
memref program, `of_parts` of what is in the cache on disk.

The whole native call runs without the GIL (`entry`; call backs take it for their time). Calls may overlap in threads:
one uses the kernel's own context with its arena, the others fresh ones. Arguments are checked against the program's
types before anything runs: a wrong dtype or rank is a bug of the caller's and raises InternalError.
"""

from __future__ import annotations

import ctypes
import struct
import weakref
from collections.abc import Callable, Sequence
from functools import cache as once
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np

from tracebuf import cache
from tracebuf.backend.layout import abi
from tracebuf.backend.llvm.jit import Library, forget_images
from tracebuf.backend.runtime.addresses import address_of
from tracebuf.backend.runtime.arena import Context, Counters, Make
from tracebuf.backend.runtime.code import Code
from tracebuf.backend.runtime.guard import chosen
from tracebuf.backend.runtime.image import Failure, Image, Result
from tracebuf.backend.runtime.parts import Part, linked
from tracebuf.backend.runtime.pool import pool
from tracebuf.errors import InternalError, note_location
from tracebuf.frozen import frozen
from tracebuf.ir.ndarray import address
from tracebuf.ir.types import INDEX, MemRefType, ScalarType
from tracebuf.process.garbage import Living
from tracebuf.process.late import importing
from tracebuf.running.raised import make_error

if TYPE_CHECKING:
    from tracebuf.backend.runtime.callback import Callback

_FORMATS = {
    "i1": "?7x", "i8": "b7x", "i16": "h6x", "i32": "i4x", "i64": "q", "index": "q",
    "ui8": "B7x", "ui16": "H6x", "ui32": "I4x", "ui64": "Q", "f16": "e6x", "f32": "f4x", "f64": "d",
    "complex<f32>": "ff", "complex<f64>": "dd",
}  # fmt: skip


@frozen()
class Parameter:
    """What an array argument must be: sizes and strides (in bytes) that the compiled code takes for constants."""

    type: MemRefType
    dtype: np.dtype
    rank: int
    itemsize: int
    sizes: tuple[tuple[int, int], ...]
    strides: tuple[tuple[int, int], ...]

    @staticmethod
    def of(type_: MemRefType) -> Parameter:
        size = type_.element.itemsize
        sizes = tuple((d, n) for d, n in enumerate(type_.shape) if isinstance(n, int))
        strides = tuple((d, s * size) for d, s in enumerate(type_.strides) if isinstance(s, int))
        return Parameter(type_, type_.element.dtype, type_.rank, size, sizes, strides)

    def fits(self, arg: Any) -> bool:
        """Whether dtype, rank, constant sizes and constant strides agree with the type; the stride of an axis with at
        most one element is not compared."""
        if not isinstance(arg, np.ndarray) or arg.dtype != self.dtype or arg.ndim != self.rank:
            return False
        shape, strides = arg.shape, arg.strides
        for d, n in self.sizes:
            if shape[d] != n:
                return False
        for d, s in self.strides:
            if strides[d] != s and shape[d] > 1 and arg.size:
                return False
        for s in strides:
            if s % self.itemsize:
                return False
        return True


def checked_for(types: Sequence[Any]) -> list[Parameter | None]:
    """What each argument must be; None for scalars."""
    return [Parameter.of(t) if isinstance(t, MemRefType) else None for t in types]


@frozen()
class Prepared:
    """A frame's argument slots with sizes and strides filled in, and the (slot, argument) of the arrays and scalars to
    fill at each call; a complex scalar's is the first of its two slots."""

    values: list[Any]
    arrays: tuple[tuple[int, int], ...]
    scalars: tuple[tuple[int, int], ...]
    complexes: tuple[tuple[int, int], ...] = ()


TOO_BIG = "array is too big; `arr.size * arr.dtype.itemsize` is larger than the maximum possible size."


class Shared(Protocol):
    """A context that native calls use, and calls by Python where it is free."""

    context: Context

    def take(self) -> bool: ...
    def give(self) -> None: ...


T = TypeVar("T", bound=Shared)


class Kernel:
    """A compiled function: `frame` is how it is called, `code` its machine code."""

    def __init__(
        self,
        image: Image,
        code: Code,
        failures: Callable[[], Sequence[Failure]],
        callbacks: Sequence[Callback] = (),
    ) -> None:
        """`failures`: what its checks raise. `callbacks`: the functions of Python's that it calls."""
        self.image, self.code, self.failures = image, code, once(failures)
        self.notes_callbacks(callbacks)
        self.name, self.frame = image.name, image.frame
        self.calls_blas = any(what[0] in ("blas", "core", "sort", "extreme") for what in image.imports.values())
        self._alone = all(kind not in ("runtime", "roaming") for kind, *_ in image.imports.values())
        self.address = self.library.address(self.name)
        self._enter = self._entered()
        """Runs the kernel without the GIL; one that never calls back needs nothing but ctypes."""
        self._arguments = struct.Struct("=" + "".join(_argument_format(t) for t in self.frame.args))
        self._parameters = checked_for(self.frame.args)
        self._results = image.results
        self._idle = [self._context()]
        """The context that no call uses, if there is one; none where native calls have it."""
        self.shared: Shared | None = None
        """The context of native calls, if there are any."""
        _kernels.add(self)
        self._await_code()

    def notes_callbacks(self, callbacks: Sequence[Callback]) -> None:
        """Keeps the functions of Python's that it calls, and what they are."""
        self.callbacks = callbacks
        self.calls_functions = bool(callbacks)
        self.calls_back = not all(c.hosted for c in callbacks)
        """Whether references of ops are among them."""
        self.calls_users = any(c.function.may_keep for c in callbacks)
        """Whether functions of the user's are, whose effects are unknown."""
        self.draws = any(c.function.name.startswith("numpy.random.") for c in callbacks)
        """Whether random numbers are drawn."""
        self.keeps = any(c.function.keeps_some for c in callbacks)
        """Whether texts or objects are kept while a call runs."""
        self._may_refuse = any(c.function.may_refuse for c in callbacks)

    @classmethod
    def of_parts(
        cls,
        image: Image,
        parts: Sequence[Part],
        failures: Callable[[], Sequence[Failure]],
        callbacks: Sequence[Callback],
        load: Callable[[bytes], bytes | None] = cache.load,
    ) -> Kernel | None:
        """The kernel of an image, whose objects `load` gives by their keys; None where it does not."""
        library = linked(parts, pool, address_of, load)
        return None if library is None else cls(image, Code(library), failures, callbacks)

    @property
    def refuses(self) -> bool:
        """Whether one of its checks, or of what it calls, stands for what is outside the language."""
        return self.image.refuses or self._may_refuse

    @property
    def library(self) -> Library:
        """What runs now."""
        return self.code.library

    @property
    def cpu_seconds(self) -> float:
        """Of compilation, so far."""
        return self.code.cpu_seconds

    def _entered(self) -> Callable[[int], int]:
        if self._alone:
            return ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)(self.address)
        with importing():
            from tracebuf.backend.runtime.entry import enter
        entered: Callable[[int], int] = enter()
        return entered

    def _await_code(self) -> None:
        """Has better code called as soon as it is there."""
        me = weakref.ref(self)

        def switched() -> None:
            if (kernel := me()) is not None:
                kernel.address = kernel.library.address(kernel.name)
                kernel._enter = kernel._entered()
                if kernel.shared is not None:
                    kernel.shared.context.slots[abi.KERNEL] = kernel.address

        def busy() -> bool:
            kernel = me()
            return kernel is not None and not kernel._idle and kernel.shared is None

        self.code.switched, self.code.busy = switched, busy
        self.code.improve_later()

    def release(self) -> None:
        """Gives back the memory that is kept for the next call."""
        self._idle.clear()
        if self.shared is not None and self.shared.take():
            self.shared.context.forget_blocks()
            self.shared.give()

    @property
    def result_arguments(self) -> list[int | None]:
        """The argument whose memory each result is, where that is known."""
        return [r.argument for r in self._results]

    @property
    def confined(self) -> str:
        """Why it stays in this process, called by Python alone: not on disk, no native calls. Else the empty string."""
        return "its buffers have guard pages (TRACEBUF_GUARD)" if chosen() is not None else ""

    def share(self, make: Callable[[Context], T]) -> T:
        """Gives the kernel's context to native calls: `make` says how they and calls by Python take turns."""
        context = self._taken()
        shared = make(context)
        self.shared = shared
        context.slots[abi.KERNEL] = self.address
        shared.give()
        return shared

    def _taken(self) -> Context:
        """A context for one call."""
        if self.shared is not None:
            return self.shared.context if self.shared.take() else self._context()
        try:
            context = self._idle.pop()
        except IndexError:
            return self._context()
        context.slots[abi.KERNEL] = self.address
        return context

    def _give_back(self, context: Context) -> None:
        if self.shared is not None:
            if context is self.shared.context:
                self.shared.give()
        elif not self._idle:
            self._idle.append(context)

    def _context(self) -> Context:
        if not self.callbacks:
            return Context(self.address, self.image.arena, self.frame.size)
        with importing():
            from tracebuf.backend.runtime.references import Reference
        return Context(self.address, self.image.arena, self.frame.size, list(map(Reference, self.callbacks)))

    def run(self, args: Sequence[Any], prepared: Prepared | None = None, *, make: Make = np.empty) -> list[Any]:
        """The function's results: ndarrays, NumPy scalars, Python ints for index values.

        `prepared` is what `prepare` gave for arguments of the same dtypes, shapes and strides. `make` makes arrays of
        undefined contents, of a shape and dtype, for the results. Raises what a failed
        check stands for, with the user's line; MemoryError; InternalError for arguments that do not fit.
        """
        return self._run(args, prepared or self.prepare(args), counted=False, make=make)[0]

    def run_counted(self, args: Sequence[Any]) -> tuple[list[Any], Counters]:
        """The results, and what the call allocated and copied."""
        results, counters = self._run(args, self.prepare(args), counted=True)
        assert counters is not None
        return results, counters

    def _run(
        self, args: Sequence[Any], prepared: Prepared, counted: bool, make: Make = np.empty
    ) -> tuple[list[Any], Counters | None]:
        values = prepared.values.copy()
        for slot, k in prepared.arrays:
            values[slot] = address(args[k])
        for slot, k in prepared.scalars:
            values[slot] = args[k]
        for slot, k in prepared.complexes:
            values[slot : slot + 2] = args[k].real, args[k].imag
        packed = self._arguments.pack(*values)
        context = self._taken()
        try:
            context.begin(args, counted, make)
            frame = ctypes.addressof(context.frame)
            ctypes.memmove(frame + 8, packed, len(packed))
            status = self._enter(frame)
            results = self.results(status, context, args)
            return results, context.counters() if counted else None
        except ctypes.ArgumentError as error:
            if "RecursionError" not in str(error):  # what a host call raises
                raise
            raise RecursionError("maximum recursion depth exceeded") from None  # in ctypes, which renames it
        finally:
            context.end()
            self._give_back(context)

    # -- arguments
    def prepare(self, args: Sequence[Any]) -> Prepared:
        """Checks arguments and fills the part of the frame that does not depend on addresses and scalar values."""
        if len(args) != len(self._parameters):
            raise InternalError(f"{self.name} takes {len(self._parameters)} arguments, not {len(args)}")
        values: list[Any] = []
        arrays: list[tuple[int, int]] = []
        scalars: list[tuple[int, int]] = []
        complexes: list[tuple[int, int]] = []
        for k, (arg, parameter) in enumerate(zip(args, self._parameters)):
            type_ = self.frame.args[k]
            paired = isinstance(type_, ScalarType) and type_.is_complex
            (complexes if paired else scalars if parameter is None else arrays).append((len(values), k))
            values += [0, 0] if paired else [0]
            if parameter is None:
                continue
            if not parameter.fits(arg):
                raise unfit(self.name, parameter, arg)
            values += arg.shape
            size = parameter.itemsize
            values += [s // size for s in arg.strides]
        return Prepared(values, tuple(arrays), tuple(scalars), tuple(complexes))

    # -- results
    def results(self, status: int, context: Context, args: Sequence[Any]) -> list[Any]:
        """The results in the frame after a call; raises what its status stands for."""
        if status:
            raise self._error(status, context)
        return [self._result(r, context, args) for r in self._results]

    def _error(self, status: int, context: Context) -> BaseException:
        if status == abi.STOPPED:
            return ValueError(TOO_BIG)  # of more bytes than 64 bits count; else an exception was pending
        failure = self.failures()[status - 1]
        at = self.frame.error_at
        kept = failure.types[: abi.MAX_ERROR_VALUES]
        values = [_scalar(context, at + abi.ERROR_VALUE * k, t) for k, t in enumerate(kept)]
        values += ["?"] * (len(failure.types) - len(kept))
        return note_location(make_error(failure.exception, failure.message, values), failure.location)

    def _result(self, result: Result, context: Context, args: Sequence[Any]) -> Any:
        type_, at = result.type, result.at
        if isinstance(type_, ScalarType):
            return _scalar(context, at, type_)
        n, size = type_.rank, type_.element.itemsize
        base, pointer, *dims = context.frame[at : at + 2 + 2 * n]
        if base == context.frame[0]:
            return None  # absent: another path has it
        shape, strides = tuple(dims[:n]), tuple(s * size for s in dims[n:])
        if result.argument is None and base in context.owners:
            return _view(context.owners[base], base, pointer, shape, strides, type_.element.dtype)
        k = self._argument_at(base, context) if result.argument is None else result.argument
        return _view(args[k], context.frame[self.frame.arg_at[k]], pointer, shape, strides, type_.element.dtype)

    def _argument_at(self, base: int, context: Context) -> int:
        """The argument whose element 0 is at `base`."""
        memrefs = [k for k, t in enumerate(self.frame.args) if isinstance(t, MemRefType)]
        return next(k for k in memrefs if context.frame[self.frame.arg_at[k]] == base)


_kernels = Living[Kernel]()


def release() -> None:
    """Gives back the memory that all kernels keep, and the object images kept for kernels to come."""
    forget_images()
    pool.clear()
    for kernel in _kernels.all():
        kernel.release()


def _argument_format(type_: Any) -> str:
    return f"{1 + 2 * type_.rank}q" if isinstance(type_, MemRefType) else _FORMATS[type_.name]


def _scalar(context: Context, at: int, type_: ScalarType) -> Any:
    """The scalar in a slot: a NumPy scalar, a Python int for index."""
    if type_ is INDEX:
        return context.frame[at]
    return np.frombuffer(memoryview(context.frame), type_.dtype, 1, 8 * at)[0]


class _Memory:
    """An array's memory under another geometry, for arrays that do not export their buffer; keeps the array alive."""

    def __init__(
        self, owner: np.ndarray, pointer: int, shape: tuple[int, ...], strides: tuple[int, ...], dtype: np.dtype
    ) -> None:
        self.owner = owner
        data = (pointer, not owner.flags.writeable)
        self.__array_interface__ = {
            "data": data, "shape": shape, "strides": strides, "typestr": dtype.str, "version": 3,
        }  # fmt: skip


def _view(
    owner: np.ndarray, start: int, pointer: int, shape: tuple[int, ...], strides: tuple[int, ...], dtype: np.dtype
) -> np.ndarray:
    """The array itself (its data is at `start`) where the geometry is its own, else a view of it."""
    same = pointer == start and shape == owner.shape and _same_steps(shape, strides, owner.strides)
    if same and dtype == owner.dtype:
        return owner
    whole = owner if owner.flags.c_contiguous or not isinstance(owner.base, np.ndarray) else owner.base
    if whole.flags.c_contiguous:
        offset = pointer - whole.__array_interface__["data"][0]
        try:
            view: np.ndarray = np.ndarray(shape, dtype, whole, offset, strides)
        except ValueError:  # the memory lies outside of what this array lends
            return np.asarray(_Memory(owner, pointer, shape, strides, dtype))
        if not owner.flags.writeable:
            view.flags.writeable = False
        if view.flags.writeable or not owner.flags.writeable:
            return view  # else what owner is a view of has become read-only, and owner has not
    return np.asarray(_Memory(owner, pointer, shape, strides, dtype))


def _same_steps(shape: tuple[int, ...], a: tuple[int, ...], b: tuple[int, ...]) -> bool:
    """Whether strides agree wherever there is more than one element to step over."""
    return a == b or 0 in shape or all(n <= 1 or s == t for n, s, t in zip(shape, a, b))


def unfit(name: str, parameter: Parameter, arg: Any) -> InternalError:
    """What an argument raises that is not of the type that a program was compiled for."""
    return InternalError(f"{name} was compiled for {parameter.type}, not {_describe(arg)}")


def _describe(arg: Any) -> str:
    if isinstance(arg, np.ndarray):
        return f"an array of {arg.dtype}, shape {arg.shape}, strides {arg.strides}"
    return f"a {type(arg).__name__}"


__all__ = ["Counters", "Kernel"]
