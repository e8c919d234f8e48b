"""A place where Numba's code calls a bufferized function: the result's type, the programs, and calls by Python.

What a call gives, of a type in Numba's terms, is found with arrays that stand for the arguments: their program is
compiled at once. Programs for other sizes (0, 1) and strides are made when a call first needs them, which Python makes.
Names from outside of the function are what they were when its program was made, as for Numba's own functions.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Sequence
from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np
from numba.core import types
from numba.core.runtime import _nrt_python
from numba.np import numpy_support
from numpy.lib.array_utils import byte_bounds

from tracebuf.backend.layout import abi
from tracebuf.backend.layout.abi import Frame
from tracebuf.backend.layout.entry_words import REPEATED, Layout
from tracebuf.backend.llvm.entries.jit_entries import (
    DATA_OF_OWNER,
    LANES,
    MAX_THUNKS,
    ArgumentOut,
    ArrayIn,
    ArrayOut,
    ChosenOut,
    ConstantOut,
    EqualIn,
    FixedIn,
    Lane,
    NumberIn,
    NumberOut,
    Out,
    Site,
    Thunk,
    dispatch_text,
    thunk_text,
)
from tracebuf.backend.llvm.jit import Library, compile_module
from tracebuf.backend.runtime.entries import ArrayArgument, NumberArgument, ObjectArgument, Plan, slot_of
from tracebuf.errors import InternalError, TracebufError, UnsupportedError
from tracebuf.frontends.numpy.call.results import ChosenResult, NewContainer, ResultLeaf
from tracebuf.frozen import frozen
from tracebuf.ir.ndarray import address, array_at
from tracebuf.ir.types import MemRefType, ScalarType
from tracebuf.native_calls import plan_of
from tracebuf.running.handed import Handed
from tracebuf.running.host import Direct

SIZES = (3, 4, 2, 5, 16, 1024)
"""The sizes of arrays that stand for arguments, which are tried in turn."""
MOST = 2**21
"""The most elements of such an array."""
CALLED = ("loop", "data", "blas", "core", "core data", "sort", "sort array", "extreme", "extreme array", "status",
          "runtime", "builtin", "jitted", "roaming")  # fmt: skip
"""What programs may import that are called without the GIL."""
_RESULTS = {"int": types.int64, "float": types.float64, "bool": types.boolean, "complex": types.complex128}
_PYTHON = {types.int64: int, types.float64: float, types.boolean: bool, types.complex128: complex}


@cache
def shared() -> Library:
    """The machine code that all sites share."""
    helpers = _nrt_python.c_helpers
    imports = {"nrt_allocate": helpers["MemInfo_alloc_aligned"], "nrt_release": helpers["MemInfo_release"]}
    return compile_module(dispatch_text(), "jit_entries", imports, speed_level=2).pin()


def words_of(type_: Any) -> int:
    """How many words an argument, or a number or array of a result, has."""
    if isinstance(type_, types.Array):
        return 2 + 2 * int(type_.ndim)
    return 1 + int(type_ == types.complex128)


@frozen()
class Given:
    """A parameter: its type in Numba's terms; its first word, or (-1) the constant that it is."""

    type: Any
    word: int
    constant: Any = None

    @property
    def dtype(self) -> np.dtype:
        of = self.type.dtype if isinstance(self.type, types.Array) else self.type
        found: np.dtype = numpy_support.as_dtype(of)
        return found


_alive: list[CallSite] = []
"""All of them: compiled callers have their addresses, and may live longer than the functions that they call, as theirs
are no names any more."""


class CallSite:
    """The programs for calls with arguments of these types. It lives as long as the process."""

    def __init__(self, function: Any, given: Sequence[Any]) -> None:
        self.function, self.name = function, function.__wrapped__.__qualname__
        self.given: list[Given] = []
        at = 0
        for of in given:
            self.given.append(parameter(of, at, self.name))
            at += words_of(of) if self.given[-1].word >= 0 else 0
        self.words = at
        self.memory = (ctypes.c_int64 * (Site.THUNKS + MAX_THUNKS))()
        self._python = self.call
        self.memory[Site.PYTHON] = id(self._python)
        self.address = ctypes.addressof(self.memory)
        self._lock = threading.Lock()
        self._made: dict[int, _Program] = {}
        spec, args = self._example()
        self.result = self._result(spec, args)
        self.leaves = list(leaves(self.result))
        self._add(spec, args)
        _alive.append(self)

    # -- what it gives
    def _example(self) -> tuple[Any, list[Any]]:
        """The program for arrays that stand for the arguments, and these."""
        said: BaseException | None = None
        rank = max([x.type.ndim for x in self.given if x.word >= 0 and isinstance(x.type, types.Array)], default=0)
        for size in SIZES:
            if size**rank > MOST:
                continue
            args = [stand_in(x, size) for x in self.given]
            try:
                found = self.function._specialization(tuple(args), {}, count=False)
            except TracebufError:
                raise
            except Exception as error:  # of the function's: for other sizes it may raise none
                said = error
                continue
            if found is None:
                raise UnsupportedError(f"{self.name} runs the original function for such arguments")
            return found[0], args
        raise UnsupportedError(
            f"{self.name} raises for arrays that stand for its arguments ({type(said).__name__}: {said})",
            instead="call it from Python",
        )

    def _result(self, spec: Any, args: Sequence[Any]) -> Any:
        """The type of what a program gives, which is that of all programs of this place."""
        if spec.traced.writes:
            raise UnsupportedError(f"{self.name} changes containers", instead="call it from Python")
        return self._type(spec.traced.plan, self._types_of_results(spec, args))

    def _type(self, plan: Any, types_: Sequence[Any]) -> Any:
        """The type of a part of a result, where the program's results are of these types."""
        if isinstance(plan, NewContainer) and plan.kind is tuple and plan.keys is None:
            return types.BaseTuple.from_types([self._type(item, types_) for item in plan.items])
        if isinstance(plan, ChosenResult):
            then, orelse = (self._type(arm, types_) for arm in (plan.then, plan.orelse))
            if then == orelse:
                return then
        elif isinstance(plan, ResultLeaf):
            if plan.kind == "argument":
                x = self.given[plan.index]
                return x.type if x.word >= 0 else constant_type(x.constant, self.name)
            if plan.kind == "const":
                return constant_type(plan.value, self.name)
            if plan.kind == "array":
                type_ = types_[plan.index]
                dtype = numpy_support.from_dtype(type_.element.dtype)
                return types.Array(dtype, type_.rank, layout_of(type_), readonly=plan.read_only)
            if plan.kind in _RESULTS:
                return _RESULTS[plan.kind]
            if plan.kind == "numpy":
                return numpy_support.from_dtype(types_[plan.index].dtype)
        raise UnsupportedError(
            f"{self.name} gives what Numba's code cannot take", instead="give numbers, arrays, and tuples of these"
        )

    def _types_of_results(self, spec: Any, args: Sequence[Any]) -> Sequence[Any]:
        func = self.function.lower(*args).program if spec.made is None else spec.made.func
        assert func is not None
        from tracebuf.backend.llvm.emit import results_of

        return [value.type for value in results_of(func)]

    # -- programs
    def _add(self, spec: Any, args: Sequence[Any]) -> None:
        """Has machine code take the calls of a program, if it can."""
        with self._lock:
            count = self.memory[Site.COUNT]
            if id(spec) in self._made or count == MAX_THUNKS:
                return
            made = self._made[id(spec)] = _Program(self, spec, args)
            if made.address:
                self.memory[Site.THUNKS + count] = made.address
                self.memory[Site.COUNT] = count + 1

    # -- calls by Python
    def call(self, given: int, out: int) -> None:
        """A call that no program takes: given the addresses of its words, and of those for the result."""
        words = (ctypes.c_int64 * max(self.words, 1)).from_address(given)
        args = [argument_at(x, words, given) for x in self.given]
        arrays = [(x, a) for x, a in zip(self.given, args) if isinstance(a, np.ndarray)]
        try:
            found = self.function._specialization(tuple(args), {}, count=False)
        except Exception:
            found = None  # the call raises it, after what the function does before
        result = self.function(*args)
        if found is not None and id(found[0]) not in self._made:
            if self._same(found[0], args):
                self._add(found[0], args)
            else:
                self._made.setdefault(id(found[0]), _Program.none(found[0]))
        at, copied = 0, dict[int, tuple[int, np.ndarray]]()
        for type_, x in zip(self.leaves, flat(result, self.result, self.name), strict=True):
            self._store(x, type_, arrays, words, copied, out + 8 * at)
            at += words_of(type_)

    def _same(self, spec: Any, args: Sequence[Any]) -> bool:
        try:
            return bool(self._result(spec, args) == self.result)
        except UnsupportedError:
            return False

    def _store(
        self, x: Any, type_: Any, arrays: Sequence[tuple[Given, Any]], words: Any,
        copied: dict[int, tuple[int, np.ndarray]], out: int,
    ) -> None:  # fmt: skip
        """Stores a number or an array of a result into its words. `copied`: by array that owns memory of results, the
        owner of its copy."""
        if not isinstance(type_, types.Array):
            dtype = numpy_support.as_dtype(type_)
            if not fits(x, type_):
                raise self._other(x, type_)
            raw = np.zeros(2, np.int64)
            raw.view(np.uint8)[: dtype.itemsize] = np.frombuffer(np.array(x, dtype).tobytes(), np.uint8)
            (ctypes.c_int64 * words_of(type_)).from_address(out)[:] = raw[: words_of(type_)].tolist()
            return
        dtype = numpy_support.as_dtype(type_.dtype)
        if not isinstance(x, np.ndarray) or x.dtype != dtype or x.ndim != type_.ndim:
            raise self._other(x, type_)
        owner, start = 0, address(x)
        mine = next((g for g, a in arrays if np.may_share_memory(a, x)), None)
        if type_.layout == "C" and not x.flags.c_contiguous or type_.layout == "F" and not x.flags.f_contiguous:
            if mine is not None:
                raise self._other(x, type_)
            x = x.copy(order=type_.layout)
        if mine is not None:
            owner = words[mine.word + 1 + 2 * mine.type.ndim]
            share(owner)
        else:
            whole = root_of(x)
            if whole is None:
                whole = x = x.copy()
            if id(whole) in copied:
                owner = copied[id(whole)][0]
                share(owner)
            else:
                owner = allocate(whole.nbytes)
                copied[id(whole)] = owner, whole
                ctypes.memmove(data_of(owner), address(whole), whole.nbytes)
            start = data_of(owner) + address(x) - address(whole)
        place = (ctypes.c_int64 * words_of(type_)).from_address(out)
        place[:] = [owner, start, *x.shape, *x.strides]

    def _other(self, x: Any, type_: Any) -> TypeError:
        what = f"an array of {x.dtype}, shape {x.shape}" if isinstance(x, np.ndarray) else f"a {type(x).__name__}"
        return TypeError(f"{self.name} gives {what} where Numba's code, which is compiled, takes {type_}")


def parameter(of: Any, word: int, name: str) -> Given:
    """A parameter of a type."""
    of = types.unliteral(of) if not isinstance(of, types.StringLiteral) else of
    if isinstance(of, types.Omitted):
        return Given(of, -1, of.value)
    if isinstance(of, types.NoneType):
        return Given(of, -1, None)
    if isinstance(of, types.StringLiteral):
        return Given(of, -1, of.literal_value)
    if isinstance(of, (types.Array, types.Number, types.Boolean)):
        try:
            numpy_support.as_dtype(of.dtype if isinstance(of, types.Array) else of)
        except NotImplementedError:
            pass
        else:
            return Given(of, word)
    raise UnsupportedError(f"an argument of type {of} of {name}, in Numba's code", instead="pass arrays and numbers")


def stand_in(x: Given, size: int) -> Any:
    """What stands for an argument."""
    if x.word < 0:
        return x.constant
    if not isinstance(x.type, types.Array):
        return _PYTHON[x.type](1) if x.type in _PYTHON else x.dtype.type(1)
    n = x.type.ndim
    if x.type.layout == "A" and n:
        made = np.ones((size,) * (n - 1) + (2 * size,), x.dtype)[..., ::2]
    else:
        made = np.ones((size,) * n, x.dtype, order=x.type.layout if x.type.layout in ("C", "F") else "C")
    made.flags.writeable = x.type.mutable
    return made


def argument_at(x: Given, words: Any, start: int) -> Any:
    """An argument that words describe."""
    if x.word < 0:
        return x.constant
    if isinstance(x.type, types.Array):
        n, size = x.type.ndim, x.dtype.itemsize
        shape = tuple(words[x.word + 1 : x.word + 1 + n])
        strides = tuple([s * size for s in words[x.word + 1 + n : x.word + 1 + 2 * n]])
        return array_at(words[x.word], shape, strides, x.dtype, not x.type.mutable)
    value = np.frombuffer(ctypes.string_at(start + 8 * x.word, x.dtype.itemsize), x.dtype)[0]
    return _PYTHON[x.type](value) if x.type in _PYTHON else value


def leaves(type_: Any) -> Any:
    """The types of the numbers and arrays of a result that have words."""
    if isinstance(type_, types.BaseTuple):
        for of in type_:
            yield from leaves(of)
    elif not isinstance(type_, types.NoneType):
        yield type_


def constant_type(x: Any, name: str) -> Any:
    """The type of a constant."""
    if x is None:
        return types.none
    python = {int: types.int64, bool: types.boolean, float: types.float64, complex: types.complex128}
    if type(x) in python and (type(x) is not int or abs(x) < 2**63):
        return python[type(x)]
    raise UnsupportedError(f"{name} gives a constant {type(x).__name__}", instead="give numbers and arrays")


def constant_words(x: Any) -> tuple[int, ...]:
    """The words of a number of Python's."""
    if isinstance(x, int):
        return (int(x),)
    return tuple(np.array([x]).view(np.int64).tolist())


def flat(result: Any, type_: Any, name: str) -> Any:
    """The numbers and arrays of a result that have words."""
    if isinstance(type_, types.BaseTuple):
        if not isinstance(result, tuple) or len(result) != len(type_):
            raise TypeError(f"{name} gives a {type(result).__name__} where Numba's code takes {type_}")
        for x, of in zip(result, type_, strict=True):
            yield from flat(x, of, name)
    elif isinstance(type_, types.NoneType):
        if result is not None:
            raise TypeError(f"{name} gives {result!r} where Numba's code takes {type_}")
    else:
        yield result


def fits(x: Any, type_: Any) -> bool:
    if type_ in _PYTHON:
        return type(x) is _PYTHON[type_] or (isinstance(x, np.generic) and x.dtype == numpy_support.as_dtype(type_))
    return isinstance(x, np.generic) and x.dtype == numpy_support.as_dtype(type_)


def layout_of(type_: MemRefType) -> str:
    """The layout, in Numba's terms, of all arrays of a type."""
    if type_.rank == 0 or type_.is_identity or (type_.rank == 1 and type_.strides == (1,)):
        return "C"
    turned = MemRefType(type_.shape[::-1], type_.element, type_.strides[::-1], type_.offset)
    return "F" if turned.is_identity else "A"


@cache
def _allocate() -> Any:
    at = _nrt_python.c_helpers["MemInfo_alloc_aligned"]
    return ctypes.CFUNCTYPE(ctypes.c_size_t, ctypes.c_size_t, ctypes.c_uint32)(at)


def allocate(nbytes: int) -> int:
    """New memory of Numba's: its owner."""
    if not (owner := _allocate()(max(nbytes, 1), 64)):
        raise MemoryError
    return int(owner)


def data_of(owner: int) -> int:
    """Where an owner's memory is."""
    return ctypes.c_int64.from_address(owner + 8 * DATA_OF_OWNER).value


def root_of(x: np.ndarray) -> np.ndarray | None:
    """The dense array whose memory an array has; None where there is none."""
    root = x
    while isinstance(root.base, np.ndarray):
        root = root.base
    if root.flags.forc and (root.base is None or root is x):
        return root
    return x if x.flags.forc else None


@cache
def _share() -> Any:
    return ctypes.CFUNCTYPE(None, ctypes.c_size_t)(shared().address("share"))


def share(owner: int) -> None:
    """One more reference to an owner."""
    _share()(owner)


class _Program:
    """The thunk of a program; its address is 0 where Python makes the calls."""

    address = 0

    def __init__(self, site: CallSite, spec: Any, args: Sequence[Any]) -> None:
        self.spec = spec
        self.kept: list[Any] = []
        """The captured arrays."""
        thunk = self._thunk(site, spec, args)
        if thunk is None:
            return
        kernel = spec.kernel
        kernel.code.wait()
        self.library = kernel.library
        self._fail, self._refer = self.fail, self.refer
        lanes = self._lanes(thunk, kernel)
        imports = {name: shared().address(name) for name in ("python", "finish", "share", "answer")}
        imports |= {"lanes": ctypes.addressof(lanes), "fail": id(self._fail), "refer": id(self._refer)}
        imports["kernel"] = self.library.address(kernel.name)
        self.memory = lanes
        self.code = compile_module(thunk_text(thunk), "jit_thunk", imports, speed_level=2)
        self.address = self.code.address("thunk")

    @staticmethod
    def none(spec: Any) -> _Program:
        made = _Program.__new__(_Program)
        made.spec = spec
        return made

    def _thunk(self, site: CallSite, spec: Any, args: Sequence[Any]) -> Thunk | None:
        kernel, call, traced = spec.kernel, spec.call, spec.traced
        image = kernel.image
        if kernel.refuses and site.function._fallback() == "numpy":
            return None
        if not all(getattr(x.type, "aligned", True) for x in site.given):
            return None
        if call.tree is not None or call.donated or site.function._warns:
            return None
        if kernel.calls_users or kernel.draws or kernel.keeps or any(c.gives for c in kernel.callbacks):
            return None
        if any(isinstance(c.function.run, Direct) and any(isinstance(x, Handed) for x in c.function.run.arguments)
               for c in kernel.callbacks):  # fmt: skip
            return None
        if any(what[0] not in CALLED for what in image.imports.values()):
            return None
        plan = plan_of(call, traced, kernel)
        if plan is None or (plan.walk is not None and plan.walk.containers):
            return None
        arguments = self._arguments(site, plan, kernel.frame, args)
        if arguments is None:
            return None
        guards = tuple([
            (kind, tuple([
                tuple([(n, tuple([slot_of(plan, kernel.frame, f) for f in factors])) for n, factors in terms])
                for terms in polynomials
            ]))
            for kind, polynomials in plan.guards
        ])  # fmt: skip
        results = self._results(site, traced.plan, site.result, kernel.frame)
        blocks = image.arena[0]
        table = -1 if image.arena[3] is None else image.arena[3][1]  # their block is never made: they are arrays
        first = Lane.CONTEXT + abi.ARENA + abi.ARENA_SLOT * blocks
        return Thunk(arguments, guards, results, first + kernel.frame.size, first, blocks, table)

    def _arguments(
        self, site: CallSite, plan: Plan, frame: Frame, args: Sequence[Any]
    ) -> tuple[ArrayIn | NumberIn | EqualIn | FixedIn, ...] | None:
        arguments: list[ArrayIn | NumberIn | EqualIn | FixedIn] = []
        more = len(plan.arguments) > len(site.given)
        values = site.function._for_c_values(tuple(args)) if more else ()
        for i in range(len(site.given), len(plan.arguments)):  # what the function captures, as it is now
            fixed = self._fixed(plan.arguments[i], plan.taken_as[i], values[i], frame)
            if fixed is None:
                return None
            arguments += fixed
        for i, (argument, x) in enumerate(zip(plan.arguments, site.given)):
            k = plan.taken_as[i]
            if isinstance(argument, ObjectArgument):
                if x.word >= 0:
                    if x.type not in (types.int64, types.boolean):
                        return None
                    arguments.append(EqualIn(x.word, int(argument.value)))
                continue
            if k < 0:
                return None
            slot = frame.arg_at[k]
            if isinstance(argument, ArrayArgument):
                if REPEATED in argument.dims:
                    return None
                dense = argument.layout == Layout.DENSE
                rows = tuple(range(len(argument.dims)))
                known = dense and argument.order == {"C": rows, "F": rows[::-1]}.get(x.type.layout)
                arguments.append(
                    ArrayIn(x.word, slot, x.dtype.itemsize, argument.dims, argument.order, argument.layout, known,
                            argument.loose)
                )  # fmt: skip
            elif isinstance(argument, NumberArgument):
                arguments.append(NumberIn(x.word, slot, words_of(x.type), argument.type is int))
            else:
                return None
        return tuple(arguments)

    def _fixed(self, argument: Any, number: int, value: Any, frame: Frame) -> list[FixedIn] | None:
        """A captured value; it is kept."""
        if number < 0 or isinstance(argument, ObjectArgument):
            return [] if isinstance(argument, ObjectArgument) else None
        slot, of = frame.arg_at[number], frame.args[number]
        if isinstance(of, ScalarType):
            raw = np.zeros(2, np.int64)
            raw.view(np.uint8)[: of.itemsize] = np.frombuffer(np.array(value, of.dtype).tobytes(), np.uint8)
            return [FixedIn(slot, tuple(raw[: -(-of.itemsize // 8)].tolist()))]
        if not isinstance(argument, ArrayArgument):
            return None
        self.kept.append(value)
        low, high = byte_bounds(value)
        steps = [s // value.itemsize for s in value.strides]
        return [FixedIn(slot, (address(value), *value.shape, *steps), low, high, argument.loose)]

    def _results(self, site: CallSite, plan: Any, type_: Any, frame: Frame, at: int = 0) -> tuple[Out, ...]:
        """What is stored of a result of a type, from a word on."""
        if isinstance(plan, NewContainer):
            found: list[Out] = []
            for item, of in zip(plan.items, type_, strict=True):
                found += self._results(site, item, of, frame, at)
                at += sum(map(words_of, leaves(of)))
            return tuple(found)
        if isinstance(plan, ChosenResult):
            arms = [self._results(site, arm, type_, frame, at) for arm in (plan.then, plan.orelse)]
            return (ChosenOut(frame.result_at[plan.index], *arms),)
        if plan.kind == "const" or (plan.kind == "argument" and site.given[plan.index].word < 0):
            value = plan.value if plan.kind == "const" else site.given[plan.index].constant
            return () if value is None else (ConstantOut(constant_words(value), at),)
        if plan.kind == "argument":
            x = site.given[plan.index]
            array = isinstance(x.type, types.Array)
            size = x.dtype.itemsize if array else words_of(x.type)
            return (ArgumentOut(x.word, x.type.ndim if array else None, size, at),)
        result, slot = frame.results[plan.index], frame.result_at[plan.index]
        if isinstance(result, MemRefType):
            return (ArrayOut(slot, result.rank, result.element.itemsize, at),)
        assert isinstance(result, ScalarType)
        return (NumberOut(slot, -(-result.itemsize // 8), at),)

    def _lanes(self, thunk: Thunk, kernel: Any) -> Any:
        memory = (ctypes.c_int64 * ((LANES if thunk.blocks else 0) * thunk.lane_words + 1))()
        start = ctypes.addressof(memory)
        for k in range(LANES if thunk.blocks else 0):
            context = k * thunk.lane_words + Lane.CONTEXT
            memory[context + abi.HELD] = abi.FOREIGN
            memory[context + abi.ANSWER] = shared().address("answer")
            memory[context + abi.OBJECT] = id(self._refer)
            memory[k * thunk.lane_words + thunk.frame] = start + 8 * context
        self.thunk = thunk
        return memory

    def refer(self, spec: int, number: int) -> None:
        """Calls the function of that number on the operands there."""
        from tracebuf.backend.runtime.references import Reference

        try:
            Reference(self.spec.kernel.callbacks[number]).call(spec, list, _no_memory)
        except BaseException as error:
            raise error.with_traceback(None) from error.__cause__  # without the frames, which have the operands

    def fail(self, status: int, lane: int) -> None:
        """Raises what a kernel's status stands for, unless an exception is pending."""
        if status == abi.STOPPED:
            raise MemoryError("no memory for an array of a bufferized function")
        frame = (ctypes.c_int64 * self.spec.kernel.frame.size).from_address(lane + 8 * self.thunk.frame)
        raise self.spec.kernel._error(status, SimpleNamespace(frame=frame))


def _no_memory(array: np.ndarray) -> None:
    raise InternalError("a function gives memory to a call by Numba's code")
