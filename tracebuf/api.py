"""`@bufferize`: from a call's arguments to its key, its specialisation, the native call and the results.

A specialisation serves every size of its key: dtypes, ranks, which sizes are 0 or 1, layout classes, writability, which
arguments are one array, and the guards that tracing assumed (rules F3, B2, B4). The key is made in
frontends/numpy/call, guards in frontends/numpy/record/sizes; stages.py runs the pipeline, which is loaded with the
first call that must be compiled.
"""

from __future__ import annotations

import functools
import itertools
import os
import sys
import threading
import time
import warnings
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import dataclass, field, replace
from importlib import import_module
from types import FunctionType, MethodType
from typing import TYPE_CHECKING, Any, Concatenate, Generic, ParamSpec, Protocol, TypeVar, overload

import numpy as np

from tracebuf import stages
from tracebuf.backend.runtime.callable import NATIVE, NativeCallable, by_vectorcall
from tracebuf.errors import ContractError, InternalError, TracebufWarning, UnsupportedError
from tracebuf.frontends.numpy.call.arguments import (
    Key,
    Leaf,
    Position,
    Relations,
    RunOriginal,
    ScalarKey,
    StaticKey,
    check_files,
    disjoint,
    extent,
    is_text_array,
    key_of,
    relations,
    signature,
    text_key,
)
from tracebuf.frontends.numpy.call.call import Call, show_keys
from tracebuf.frontends.numpy.call.captures import Hidden, Misled, NewCapture, values_of
from tracebuf.frontends.numpy.call.conditions import Binding, Conditions, Guard
from tracebuf.frontends.numpy.call.control import Control
from tracebuf.frontends.numpy.call.donations import donated
from tracebuf.frontends.numpy.call.flatten import FlatArguments, Tree, flatten, is_container, is_object, leaf_names
from tracebuf.frontends.numpy.call.outputs import Form, copy_results, destinations, labels
from tracebuf.frontends.numpy.call.pickling import ANCHOR, anchor_of, from_anchor, in_its_file, named, of_class
from tracebuf.frontends.numpy.call.remembered import Remembered
from tracebuf.frontends.numpy.call.results import CallPlan, build_results
from tracebuf.frontends.numpy.call.static import check_names, static_key
from tracebuf.frontends.numpy.call.watched import Outside, Watch, watching
from tracebuf.frontends.numpy.source.binding import bind, names_of, parameters_of
from tracebuf.frozen import cached_property, frozen
from tracebuf.ir.dims import Expr, Sym
from tracebuf.ir.ndarray import address
from tracebuf.options import CONTRACTS, Fallback, Options, current_fallback
from tracebuf.process import log as logger
from tracebuf.process.display import displayed, hide_frames, hides_frames
from tracebuf.process.garbage import Living

if TYPE_CHECKING:
    from tracebuf.backend.runtime.arena import Counters
    from tracebuf.backend.runtime.entries import NativeCalls, OriginalEntry, ProgramEntry
    from tracebuf.backend.runtime.kernel import Kernel, Prepared
    from tracebuf.dask.cut import Cut
    from tracebuf.explain.report import Explanation
    from tracebuf.frontends.numpy.interpreter.trace import Traced
    from tracebuf.frontends.numpy.source.locks import Holding
    from tracebuf.persist.compiled import Compiled
    from tracebuf.persist.programs import Kept
    from tracebuf.persist.saved import Saved
    from tracebuf.pictures.gather import Report
    from tracebuf.stories.story import Stories
    from tracebuf.testing.validation.validation import Validation

T = TypeVar("T")
P = ParamSpec("P")
Q = ParamSpec("Q")
R = TypeVar("R")
S = TypeVar("S")
Named = tuple[str, ...]
"""The names of the arguments that `**kwargs` took."""
MAX_CAPTURES = 256
"""The most arrays that a function may capture; one that captures more (or other ones each time) runs as it is."""

NATIVE_AFTER = 3
"""The call by Python of a program from which on machine code may take its calls."""
WORTH = 300
"""How many calls of such programs Python makes before the machine code for that is compiled, which takes as long as
thousands of them: a process may end before it pays."""
REPORT_SECONDS = 3.0
"""How long a report tries edits for."""
FORWARD = True
"""Whether functions that only move what they get, or ask Python, are run by Python, once machine code would."""

MAX_ORIGINALS = 8
"""For how many ways of overlapping, or types of arguments, machine code calls the original function."""
MANY_REFUSED = 200
"""After how many refused calls, of a function of which nothing was compiled, arguments of such types are not looked at
any more: whatever their sizes and the names from outside are by then."""

VALIDATES = "tracebuf.testing.checks.validate"
"""What `validate` does, which calls bufferized functions itself."""

MAY_WARN = "NumPy may warn, or the call raises"
"""Why the original function has run a call that compiled code has begun, under `warnings="numpy"`."""

_NOTHING = nullcontext()
MAX_RAISING = 16
"""Of how many calls that raise, of arguments with one key, it is remembered that they do."""


@dataclass(eq=False)
@displayed
class Specialization:
    """One compiled program: what it was compiled for, and how often it ran."""

    call: Call
    traced: CallPlan
    made: stages.Bufferized | None
    """The memref program; None of one that came out of the cache on disk, until it is asked for."""
    kernel: Kernel
    guard: Callable[[Sequence[Any]], bool]
    by_python: int = 0
    """How many calls Python has made."""
    texts: dict[str, str] = field(default_factory=dict)
    outside: Outside | None = None
    """The names that it relies on, for such calls."""
    entry: ProgramEntry | None = None
    """For calls by native code."""
    settled: bool = False
    """Whether it is decided that it has an entry, or has none."""

    loaded: bool = False
    """Whether it came out of the cache on disk, without a trace."""
    sizes: Mapping[Sym, Binding] | None = None
    """Where the values of the symbols come from, of a program that was made again; its own are others."""

    @property
    def program(self) -> stages.Bufferized:
        """The memref program that was compiled."""
        if self.made is None:
            raise InternalError("a program out of the cache was not made again before it was looked at")
        return self.made

    @property
    def calls_users(self) -> bool:
        """Whether it calls functions of the user's, which may change what it took."""
        return self.kernel.calls_users

    @cached_property
    def opens_bars(self) -> bool:
        """Whether it has progress bars; those that are left Python closes where a call ends."""
        begins = "call.progress.begin", "call.progress.begin_alone"
        return any(c.function.name.endswith(begins) for c in self.kernel.callbacks)

    @cached_property
    def hands(self) -> bool:
        """Whether it calls methods of objects among its arguments: random generators."""
        return any(isinstance(key, StaticKey) and key.any for key in self.key)

    @property
    def calls(self) -> int:
        return self.by_python + (0 if self.entry is None else self.entry.calls)

    @property
    def key(self) -> tuple[Key, ...]:
        """The parts of the arguments, the buffers of `out=` and the captured arrays that it was compiled for."""
        return self.call.keys

    @property
    def guards(self) -> tuple[str, ...]:
        """The conditions on sizes and int arguments that its calls meet, as text."""
        return self.traced.guard_texts

    @property
    def compile_seconds(self) -> float:
        """The CPU seconds that machine-code generation took."""
        return self.kernel.cpu_seconds

    def fits(self, values: Sequence[Any]) -> bool:
        return self.guard(values) and self.traced.captures_hold()

    def row(self) -> tuple[str, ...]:
        """Of the table of all programs."""
        came = "loaded" if self.loaded else f"{self.compile_seconds * 1e3:.1f} ms"
        return f"({show_keys(self.call)})", ", ".join(self.guards), str(self.calls), came

    def __str__(self) -> str:
        guards = f"; guards {', '.join(self.guards)}" if self.guards else ""
        came = "loaded" if self.loaded else "compiled"
        return f"{came} for ({show_keys(self.call)}){guards}; {self.calls} calls"


@dataclass(eq=False)
class _Original:
    """Why calls run the original function. `refused`: they are outside the language (`fallback="numpy"`); `raises`:
    they raise; else they overlap in memory."""

    reason: str
    refused: bool = field(default=False, kw_only=True)
    raises: type[Exception] | None = field(default=None, kw_only=True)
    note: str | None = field(default=None, kw_only=True)
    """What is added to the exception, by Python: the user's line. Machine code leaves it to the traceback, which has
    the original function's frame."""
    by_python: int = field(default=0, init=False)
    """How many calls Python has made."""
    settled: bool = field(default=False, init=False)
    """Whether it is decided who makes them."""


@dataclass(eq=False)
class _Refusal(_Original):
    """A call outside the language (`fallback="numpy"`), or one that raises, as tracing finds: the reason, and the calls
    for which it holds too. Not the exception, which would keep the arguments alive."""

    error: Callable[[], UnsupportedError] | None
    """None: the original function raises its own."""
    under: Conditions
    guard: Callable[[Sequence[Any]], bool]

    @staticmethod
    def of(error: UnsupportedError) -> _Refusal:
        made = functools.partial(UnsupportedError, error.reason, instead=error.instead, location=error.location)
        return _Refusal(str(error), made, error._under, error._under.guard_function(), refused=True)

    @staticmethod
    def raising(error: Exception, under: Conditions) -> _Refusal:
        reason = f"it raises {type(error).__name__} for such arguments"
        note = next(reversed(getattr(error, "__notes__", ())), None)
        return _Refusal(reason, None, under, under.guard_function(), raises=type(error), note=note)

    def fits(self, values: Sequence[Any]) -> bool:
        return self.guard(values) and self.under.captures_hold()


@frozen()
class _Recent:
    """The programs for one signature of arguments and captured values (`hidden`), what was refused of it, and the range
    of memory of each array's elements from its first."""

    hidden: tuple[Hidden, ...]
    group: list[Specialization]
    refusals: list[_Refusal]
    extents: tuple[tuple[int, int] | None, ...]
    prepared: dict[Specialization, Prepared] = field(default_factory=dict)


class _Raises(Control):
    """Tracing has found that a call raises; in an earlier call if there is no error."""

    def __init__(self, error: Exception | None, refusal: _Refusal) -> None:
        self.error, self.refusal = error, refusal


class _MayWarn(Control):
    """A call, under `warnings="numpy"`, for which the original function has to run: NumPy may warn, or it raises."""


class _Saved:
    """What the arguments hold that a program may change, under `warnings="numpy"`."""

    def __init__(self, spec: Specialization, values: Sequence[Any]) -> None:
        if np.geterr()["under"] != "ignore":
            raise _MayWarn
        changed = {*spec.traced.stored, *spec.call.donated}
        self.held = [(x, x.copy(order="K")) for x in (values[i] for i in changed) if isinstance(x, np.ndarray)]

    def restored(self) -> _MayWarn:
        """Gives the arguments back what they held."""
        for x, before in self.held:
            x[...] = before
        return _MayWarn()


@frozen(slots=False)
@displayed
class OriginalCalls:
    """Calls that ran the original function, and why."""

    reason: str
    calls: int

    def row(self) -> tuple[str, ...]:
        """Of the table of all programs."""
        return f"the original function: {self.reason}", "", str(self.calls), ""

    def __str__(self) -> str:
        return f"ran the original function {self.calls} times: {self.reason}"


@by_vectorcall
class BufferizedFunction(NativeCallable):
    """A NumPy function, compiled at the first call with each key of arguments: dtypes, ranks, layouts, sizes 0 and 1.
    `__wrapped__` is the original function, `options` are those it was bufferized with."""

    __slots__ = ("__dict__", "__weakref__", "_native")
    __tracebuf__ = True

    def __init__(self, function: FunctionType, options: Options) -> None:
        functools.update_wrapper(self, function)
        self.__wrapped__: FunctionType = function
        self.options = options
        parameters = parameters_of(function.__code__)
        self._star, self._stars, self._names = parameters.star, parameters.stars, parameters.single
        self._positional = len((*parameters.first, *parameters.plain))
        self._all_positional = len(parameters.all) == self._positional
        self.takes_out = "out" not in parameters.all and self._stars is None
        self._static = tuple(Position(i) for i, name in enumerate(self._names) if name in options.static_argnames)
        self._warns = options.warnings is not None
        self._hidden: tuple[Hidden, ...] = ()
        self._compiled: dict[tuple[Any, ...], list[Specialization]] = {}
        self._recent: dict[tuple[Any, ...], _Recent] = {}
        self._last: Remembered[tuple[tuple[Named, Form], _Recent]] | None = None
        self._refusals: dict[tuple[Any, ...], list[_Refusal]] = {}
        self._awaited: dict[tuple[Any, ...], tuple[Hidden, tuple[Hidden, ...]]] = {}
        """By calls without them: the captured arrays that a refused trace of such a call has met."""
        self._overlapping: dict[tuple[Any, ...], _Original] = {}
        """By signature and places of the arrays: why the original function runs."""
        self._untaken: dict[str, _Original] = {}
        """By reason the refusals of arguments that have no key."""
        self._offers: list[Callable[[Call], Kept | None]] = []
        """Programs out of files (`tracebuf.load`), each for the calls that it serves."""
        self._originals: Counter[str] = Counter()
        self._native_originals: list[tuple[str, OriginalEntry]] = []
        """Why it runs in calls that machine code takes."""
        self._lock = threading.RLock()
        self._may_lock = bool(function.__code__.co_exceptiontable)
        """Whether the function may take a lock by `with` (source/locks): it has a `with` or a `try`."""
        self._locked_as: frozenset[str] | None = None
        """The names of the lock that calls hold, if one has held any."""
        self._native: NativeCalls | None = None
        """The programs that machine code calls."""
        _functions.add(self)

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        return self if instance is None else BufferizedMethod(self, instance)

    @property
    def _numba_type_(self) -> Any:
        """What Numba asks for, where code that it compiles calls the function: its type there."""
        from numba import typeof

        return typeof(self._callee)

    @cached_property
    def _callee(self) -> Any:
        with stages.importing():
            from tracebuf.njit.extension import callee_of
        return callee_of(self)

    def __repr__(self) -> str:
        return f"<bufferized {self.__wrapped__.__qualname__}>"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The function's result, as eager NumPy gives it: values, dtypes, shapes, changed arguments, shared memory.

        Args: the function's own; and `out=`, unless it has a parameter of that name: an array to compute into, or
        a tuple of arrays and None for several results, with the results' shapes and dtypes they convert to
        (`same_kind`).

        Raises UnsupportedError where the function or an argument is outside the language (with `fallback="numpy"` the
        original function runs instead), DonationError for a donation that cannot be used, else what eager raises.

        >>> bufferize(lambda a, b: a + 2 * b)(np.ones(3), np.arange(3.0))
        array([1., 3., 5.])
        """
        __tracebackhide__ = True  # of notebooks
        try:
            return self._called(args, kwargs)
        except Exception as error:
            if not (self.options.verify or isinstance(error, InternalError)):
                hide_frames(error, self.__wrapped__, BufferizedFunction._eager.__code__)
            raise

    def _called(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The result of a call by Python, which holds the lock that the function takes."""
        call = self._holding(args, kwargs) if self._may_lock else None
        if call is None:
            return self._called_now(args, kwargs)
        if self._locked_as is not None and call.names != self._locked_as:
            return self._eager(*args, **kwargs)
        with call:
            return self._called_now(args, kwargs)

    def _holding(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Holding | None:
        """The context of a call that holds the lock which the function takes; None where it takes none."""
        with stages.importing():
            from tracebuf.frontends.numpy.source import locks
        if not locks.takes_locks(self.__wrapped__):
            self._may_lock = False
            return None
        call = locks.holding(self.__wrapped__, args, kwargs)
        if call.lock is not None and self._locked_as is None:
            self._locked_as = call.names
        return call

    def _called_now(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The result of a call by Python."""
        hidden = self._hidden
        given, form = self._values(args, kwargs, hidden)
        if self._overlapping and (overlap := self._overlap(given, form)) is not None:
            self._count_original(overlap, given, form)
            return self.eager(*args, **kwargs)
        raises, traced = None, False
        try:
            known, values, containers = self._known(given, form)
            if known is not None and known.hidden is hidden:
                for spec in known.group:
                    if spec.fits(values):
                        if not spec.calls_users:
                            return self._run(spec, values, containers, known)
                        with self._watched(spec, values, args, kwargs):
                            return self._run(spec, values, containers, known)
                for refusal in known.refusals:
                    runs = refusal.error is None or self._fallback() == "numpy"
                    if runs and refusal.reason in self._originals and refusal.fits(values):
                        self._count_original(refusal, given, form)
                        return self._raising(refusal, args, kwargs)
            found = self._specialization(args, kwargs, raising=True)
            if found is not None:
                with self._watched(found[0], found[1], args, kwargs):
                    return self._run(*found)
        except UnsupportedError as error:
            if not self._falls_back(error):
                self._note_programs(error)
                raise error.with_traceback(None)  # noqa: B904 (the text says where; our own frames say nothing more)
            reason = str(error)
            why = error._noted or self._untaken.setdefault(reason, _Original(reason, refused=True))
            self._make_original_native(why, given, form)
        except _Raises as said:
            raises, traced = said.refusal, said.error is not None
        except _MayWarn:
            self._originals[MAY_WARN] += 1
        if raises is None:
            return self.eager(*args, **kwargs)
        if not traced:
            self._count_original(raises, given, form)
        return self._raising(raises, args, kwargs, traced)

    def __reduce_ex__(self, protocol: Any) -> Any:
        """Pickled as its function would be: by its name in its module where that leads to it, else by its function,
        wherever the pickler can take that, and its options. Programs are not pickled."""
        f = self.__wrapped__
        if (found := named(f.__module__, f.__qualname__)) is self or of_class(found) is self:
            if protocol >= 4:
                return _anchored, (self._anchor,)  # before 4 an anchor has no name
            owner, _, name = f.__qualname__.rpartition(".")
            return f.__qualname__ if found is self else (_method_of, (named(f.__module__, owner), name))
        return _remade, (f, self.options, f.__code__.co_filename)

    @cached_property
    def _anchor(self) -> FunctionType:
        """What stands for the function in a pickle (call/pickling)."""
        return anchor_of(self.__wrapped__, self.options)

    def __deepcopy__(self, memo: dict[int, Any]) -> BufferizedFunction:
        return self

    def __copy__(self) -> BufferizedFunction:
        return self

    def _raising(self, why: _Refusal, args: tuple[Any, ...], kwargs: dict[str, Any], traced: bool = False) -> Any:
        """What the original function gives, or raises, with a note: what it changes before that stays changed, as in
        eager NumPy. Where the verifier runs, InternalError if that is not what tracing found of this very call
        (`traced`)."""
        checked = traced and self.options.verify and not why.under.captures
        raised: Exception | None = None
        try:
            result = self.eager(*args, **kwargs)
        except Exception as error:
            if why.note is not None and why.note not in getattr(error, "__notes__", ()):
                error.add_note(why.note)
            if not checked or type(error) is why.raises:
                raise
            raised = error
        if checked:
            raise InternalError(f"tracing found that {why.reason}; it does not") from raised
        return result

    def eager(self, *args: Any, **kwargs: Any) -> Any:
        """The result of a call by NumPy alone, `out=` included."""
        if self._locked_as is not None:
            with stages.importing():
                from tracebuf.frontends.numpy.source import locks
            with locks.Without(self.__wrapped__):
                return self._eager(*args, **kwargs)
        return self._eager(*args, **kwargs)

    def _eager(self, *args: Any, **kwargs: Any) -> Any:
        """What `eager` gives, where the call holds no lock."""
        if not self.takes_out or "out" not in kwargs:
            return self.__wrapped__(*args, **kwargs)
        form, buffers = destinations(kwargs.pop("out"))
        return copy_results(self.__wrapped__(*args, **kwargs), form, buffers)

    def _run(
        self, spec: Specialization, values: Sequence[Any], containers: Sequence[Any], known: _Recent | None = None
    ) -> Any:
        """A native call; the frame is prepared once per known signature."""
        if not spec.kernel.keeps:
            return self._run_once(spec, values, containers, known)
        from tracebuf.running.kept import keeping

        with keeping():
            return self._run_once(spec, values, containers, known)

    def _run_once(
        self, spec: Specialization, values: Sequence[Any], containers: Sequence[Any], known: _Recent | None
    ) -> Any:
        saved = None if self.options.warnings is None else _Saved(spec, values)
        spec.by_python += 1
        if not spec.settled and spec.by_python >= NATIVE_AFTER:
            self._make_native(spec)
        args = [values[i] for i in spec.traced.arguments]
        prepared = None if known is None else known.prepared.get(spec)
        if known is not None and prepared is None:
            prepared = known.prepared[spec] = spec.kernel.prepare(args)
        try:
            with _handing(spec, values):
                raw = spec.kernel.run(args, prepared)
        except UnsupportedError as refusal:
            refusal._stored = bool(spec.traced.stored) or spec.calls_users or spec.kernel.draws
            raise
        except Exception:
            if saved is None:
                raise
            spec.by_python -= 1
            raise saved.restored() from None
        return build_results(spec.traced.plan, raw, values, containers, spec.traced.writes)

    def _make_native(self, spec: Specialization, at_once: bool = False) -> None:
        """Lets machine code take calls of a program, where it can, once that is worth it."""
        alone = spec.opens_bars or spec.kernel.keeps or self._locked_as is not None or self.options.warnings is not None
        if not NATIVE or alone:
            spec.settled = True
        elif spec.kernel.refuses and self._fallback() == "numpy":
            spec.settled = True
        elif (at_once or next(_waited) >= WORTH) and self._lock.acquire(blocking=at_once):
            try:
                if not spec.settled and spec in self._compiled.get(spec.call.group, ()):
                    self._add_entry(spec)
            finally:
                self._lock.release()

    def _add_entry(self, spec: Specialization) -> None:
        with stages.importing():
            from tracebuf.native_calls import calls_of, entry_of, plan_of
        spec.settled = True
        if (plan := plan_of(spec.call, spec.traced, spec.kernel)) is not None:
            spec.entry = entry_of(plan, spec.traced, spec.kernel)
            if spec.calls_users:
                spec.entry.context.watch = functools.partial(watched, spec, None)
            if self._native is None:
                self._native = calls_of(self, BufferizedFunction.__call__, self.__wrapped__)
            self._native.add(spec.entry)
            callbacks = spec.kernel.callbacks
            called = callbacks[0].function if len(callbacks) == 1 else None
            direct = None if called is None or called.loop is not None else called.direct
            if self._loses(spec.call, None if direct is None else direct.function):
                self._native.forward()

    def _loses(self, call: Call, hosted: Any = None) -> bool:
        """Whether compiled code is expected to lose: the function only moves what it gets, or asks Python, or NumPy for
        what compiled code would have it do too (`hosted`)."""
        if self.options.donate or self.options.donate_optional or call.named or call.out or not FORWARD:
            return False
        with stages.importing():
            from tracebuf.frontends.numpy.source import moves
            from tracebuf.native_calls import kinds_in
        classes, numbers = [*kinds_in(call.tree or ())], all(isinstance(k, ScalarKey) for k in call.keys)
        code, names = self.__wrapped__.__code__, self.__wrapped__.__globals__
        return moves.only_moves(moves.Call(code, names, classes, numbers, bool(self._hidden), hosted))

    def _count_original(self, why: _Original, values: tuple[Any, ...], form: tuple[Named, Form]) -> None:
        self._originals[why.reason] += 1
        self._make_original_native(why, values, form)

    def _make_original_native(self, why: _Original, values: tuple[Any, ...], form: tuple[Named, Form]) -> None:
        """Lets machine code call the original function: for arguments that overlap like these, or that have these sizes
        and raise; or, of a function of which nothing could be compiled in many calls, for arguments of these types."""
        if self._locked_as is not None:
            return
        why.by_python += 1
        if why.refused and self.options.fallback is None and not self._librarys:
            return  # the setting may change
        if why.settled or why.by_python < (MANY_REFUSED if why.refused else NATIVE_AFTER):
            return
        bare = form == ((), None) and not (self._hidden if why.refused else self._static)
        apart = self._star is not None and len(self._names) > self._positional  # what `*args` takes comes last
        if not NATIVE or not bare or apart or len(self._native_originals) >= MAX_ORIGINALS:
            why.settled = True
        elif why.refused and any(self._compiled.values()):
            why.settled = True
        elif next(_waited) >= WORTH and self._lock.acquire(blocking=False):
            try:
                if not why.settled:
                    self._add_original(why, values)
            finally:
                self._lock.release()

    def _add_original(self, why: _Original, values: tuple[Any, ...]) -> None:
        with stages.importing():
            from tracebuf.native_calls import calls_of, original_of
        hidden = self._hidden
        given = values[: len(values) - len(hidden)]
        if any(h.value(given) is not x for h, x in zip(hidden, values[len(given) :], strict=True)):
            return  # they are captured now, and were not when the call began
        why.settled = True
        call = None if why.refused else self._call(values, ((), None), hidden)
        by_name = self._names[self._positional :]
        under = why.under if isinstance(why, _Refusal) and why.error is None else None
        entry = original_of(self.__wrapped__, values, by_name, call, under)
        if entry is not None:
            if self._native is None:
                self._native = calls_of(self, BufferizedFunction.__call__, self.__wrapped__)
            self._native.add(entry)
            self._native_originals.append((why.reason, entry))
            if under is not None and call is not None and self._loses(call):
                self._native.forward()

    def ctypes(self, *args: Any) -> Any:
        """A ctypes function whose machine code C may call, for arguments like these: numbers are passed by value, an
        array as a pointer to its elements in C order followed by its sizes; the result is a number, or nothing.

        A failed call gives NaN (0 where that cannot be), with the exception pending (docs/calling.md). What the
        function captures is what it is now. Raises UnsupportedError where only Python can call the program.

        >>> area = bufferize(lambda x, y: x * y).ctypes(1.0, 1.0)
        >>> area.restype, area.argtypes, area(3.0, 4.0)
        (<class 'ctypes.c_double'>, (<class 'ctypes.c_double'>, <class 'ctypes.c_double'>), 12.0)
        """
        with stages.importing():
            from tracebuf import c_calls
        return c_calls.c_callable(self, args, c_calls.natural(args))

    def low_level_callable(self, signature: str, *args: Any) -> Any:
        """A scipy.LowLevelCallable with one of the signatures that SciPy's functions take, for arguments like these.

        `double (double)` and `double (int, double *)`: integrate.quad and nquad, the numbers are the parameters, or one
        array if `args` is one. `int (double *, intptr_t, double *, void *)`: ndimage.generic_filter, of the buffer as
        an array. `int (intptr_t *, double *, int, int, void *)`: ndimage.geometric_transform, of the output's
        coordinates as an array; the results are those of the input. Args and errors: those of `ctypes`; ValueError for
        another signature, ImportError without SciPy.
        """
        with stages.importing():
            from tracebuf import c_calls
        from scipy import LowLevelCallable

        args = args or c_calls.examples(signature)
        function = c_calls.c_callable(self, args, c_calls.of_signature(signature, args))
        return LowLevelCallable(function, signature=c_calls.canonical(signature))

    def _check_alone(self) -> None:
        """Raises UnsupportedError where a program must not be called without the function."""
        if self.options.warnings is not None:
            reason = 'a program of a function with warnings="numpy", which may need the function itself'
            raise UnsupportedError(reason, instead="call the function, or bufferize it without warnings=")

    def _for_c(self, args: tuple[Any, ...]) -> Specialization | None:
        """The program for these arguments, with its entry if it has one; None where the original function runs."""
        self._check_alone()
        if self._locked_as is not None:
            raise UnsupportedError("C calls a function that takes a lock", instead="take the lock around the caller")
        found = self._specialization(args, {}, count=False)
        if found is None or not NATIVE:
            return None
        with self._lock:
            if found[0].entry is None and not found[0].kernel.calls_functions:
                self._add_entry(found[0])
        return found[0]

    def _for_c_values(self, args: tuple[Any, ...]) -> Sequence[Any]:
        """The arguments, with the captured arrays behind them."""
        return flatten(self._values(args, {})[0], self._static).values

    def _watched(
        self, spec: Specialization, values: Sequence[Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> AbstractContextManager[None]:
        """The context of a native call, in which functions of the user's are watched."""
        if not spec.calls_users:
            return nullcontext()
        hidden = tuple(h.unless_made() for h in spec.call.hidden)

        def fetch() -> FlatArguments:
            return flatten(self._values(args, dict(kwargs), hidden)[0], self._static)

        changing = bool(hidden) or spec.call.tree is not None
        return watched(spec, fetch if changing else None, values)

    def _note_programs(self, refusal: UnsupportedError) -> None:
        """Adds to a refusal that what was compiled for other calls takes them as before."""
        if (programs := sum(map(len, list(self._compiled.values())))) and not refusal._stored:
            what = "1 program is compiled for other calls, and takes them" if programs == 1 else ""
            what = what or f"{programs} programs are compiled for other calls, and take them"
            refusal.add_note(f'{what} as before; with fallback="numpy" calls like this one run as they are, in NumPy')

    @cached_property
    def _librarys(self) -> bool:
        """Whether it is a library's, as SciPy's are, which nobody rewrites."""
        with stages.importing():
            from tracebuf.process.libraries import is_librarys
        return is_librarys(self.__wrapped__)

    def _fallback(self) -> Fallback:
        """What happens to a refused call now. Functions of libraries run as they are, unless something else is said."""
        return current_fallback(self.options.fallback, "numpy" if self._librarys else "error")

    def _falls_back(self, refusal: UnsupportedError) -> bool:
        """Whether the original function is to run instead; it warns once for each reason."""
        if refusal._stored or self._fallback() != "numpy":
            return False
        reason = str(refusal)
        if reason not in self._originals and not self._librarys:
            text = f"{self.__wrapped__.__qualname__} runs as it is, in NumPy:\n{reason}"
            warnings.warn(TracebufWarning(text), stacklevel=caller_level())
        self._originals[reason] += 1
        return True

    def call_counted(self, *args: Any, **kwargs: Any) -> tuple[Any, Counters | None]:
        """The result of a call, and what the compiled code allocated and copied (None where the original function ran).
        Args and errors: those of a call."""
        call = self._holding(args, kwargs) if self._may_lock else None
        if call is None:
            return self._counted(args, kwargs)
        with call:
            return self._counted(args, kwargs)

    def _counted(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Counters | None]:
        """What `call_counted` gives."""
        try:
            found = self._specialization(args, kwargs)
        except UnsupportedError as refusal:
            if not self._falls_back(refusal):
                raise
            found = None
        if found is None:
            return self.eager(*args, **kwargs), None
        spec, values, containers = found
        saved = None
        try:
            saved = None if self.options.warnings is None else _Saved(spec, values)
            spec.by_python += 1
            with self._watched(spec, values, args, kwargs), _handing(spec, values):
                raw, counters = spec.kernel.run_counted([values[i] for i in spec.traced.arguments])
        except _MayWarn:
            return self.eager(*args, **kwargs), None
        except Exception:
            if saved is None:
                raise
            spec.by_python -= 1
            saved.restored()
            return self.eager(*args, **kwargs), None
        return build_results(spec.traced.plan, raw, values, containers, spec.traced.writes), counters

    def trace(self, *args: Any, **kwargs: Any) -> tuple[Call, Traced]:
        """The call that these arguments and the captured arrays make, and its tensor program as recorded; nothing is
        run or changed. Args and errors: those of a call; `tracebuf.spec` may stand for arguments."""
        with stages.examples(args, kwargs) as (args, kwargs, _):
            try:
                return self._traced(args, kwargs)
            except RunOriginal as reason:
                raise original_runs(str(reason)) from None

    def _traced(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Call, Traced]:
        """What `trace` gives; RunOriginal where the original function runs."""

        def traced(call: Call) -> tuple[Call, Traced]:
            return call, stages.trace(self.__wrapped__, call, None, False, self._warns, self._is_sized(call))

        return self._complete(args, kwargs, traced)

    def _is_sized(self, call: Call) -> bool:
        """Whether there are programs for such calls that only serve other sizes or ints."""
        others = (s for s in self._compiled.get(call.group, ()) if any(g.kind == "zero" for g in s.traced.guards))
        return any(not spec.fits(call.values) for spec in others)

    @hides_frames(UnsupportedError)
    def lower(self, *args: Any, **kwargs: Any) -> stages.Lowered:
        """The program for these arguments at every stage; nothing is run or changed. Args and errors: those of a call;
        `tracebuf.spec` may stand for arguments; also UnsupportedError where these arguments run the original function.

        >>> "linalg.generic" in bufferize(lambda a: a + 1).lower(np.ones(3)).as_text("tensor")
        True
        """

        def prepare(lowered: stages.Lowered) -> Compiled:
            with stages.importing():
                from tracebuf.persist.compiled import Compiled
            return Compiled(self, self._program_for(args, kwargs), as_text=lowered.as_text)

        return stages.lowered(self.trace(*args, **kwargs)[1], self.options, prepare)

    def _program_for(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Specialization:
        """The program for these arguments, compiled if it has not been, with its fast code."""
        self._check_alone()
        with stages.examples(args, kwargs) as (args, kwargs, _):
            found = self._specialization(args, kwargs, count=False)
        if found is None:
            raise original_runs("see specializations()")
        found[0].kernel.code.wait()
        return found[0]

    def _call_of(self, args: tuple[Any, ...], kwargs: dict[str, Any], hidden: tuple[Hidden, ...]) -> Call:
        """The call that these arguments and captured values make. RunOriginal where the original function runs."""
        if [h.place for h in hidden] == [h.place for h in self._hidden]:
            hidden = self._hidden
        values, form = self._values(args, kwargs, hidden)
        return self._call(values, form, hidden)

    def _adopt(self, call: Call, file: Saved) -> Specialization:
        """A program out of a file, for calls like this one, which has it from now on unless it captures other arrays
        than the programs that are here."""
        with self._lock:
            programs = self._compiled.get(call.group, ())
            if (found := next((s for s in programs if s.kernel is file.kernel), None)) is not None:
                return found
            spec = self._loaded(call, file.take())
            if not any(self._compiled.values()):
                self._keep_captures(call)
            if call.hidden is self._hidden:
                self._compiled.setdefault(call.group, []).insert(0, spec)
            return spec

    @hides_frames(UnsupportedError)
    def explain(self, *args: Any, **kwargs: Any) -> Explanation:
        """Every allocation, copy and host call of the program for these arguments, with line, bytes and reason.

        Args and errors: those of a call; the program is compiled if it has not been, and not run. Where `tracebuf.spec`
        stands for arguments, bytes are formulas. Also UnsupportedError where these arguments run the original function.

        >>> print(bufferize(lambda a: np.negative(a, out=a)).explain(np.ones(3)))
        <lambda>: no allocations, no copies
        """
        with stages.importing():
            from tracebuf.explain.report import explain
        with stages.examples(args, kwargs) as (args, kwargs, named):
            found = self._specialization(args, kwargs, count=False)
            if found is None:
                raise original_runs("see specializations()")
            spec, values, _ = found
            if spec.made is None:
                traced = self._traced(args, kwargs)[1]
                spec.made, spec.sizes = stages.bufferized(traced, self.options), traced.bindings
        env = {} if named is not None else {s: b.value(values) for s, b in (spec.sizes or spec.traced.bindings).items()}
        return explain(spec.program.told, env)

    @hides_frames(UnsupportedError)
    def cut(self, *args: Any, **kwargs: Any) -> Cut:
        """How a call with these arguments may be cut into parts: of each argument, result and argument that is stored
        to, by axis: independent, with a halo, reduced, or whole, with the line and the access that decides
        (docs/dask.md). Nothing is run; `tracebuf.spec` may stand for arguments.

        Returns a `Cut`: as text a table, by `to_dict()` data. Raises what `lower` raises; UnsupportedError with the
        reason where no axis may be cut.

        >>> found = bufferize(lambda a: a[2:] - 2 * a[1:-1] + a[:-2]).cut(np.ones(9))
        >>> str(found.arguments["a"][0])
        'halo (1, 1)'
        """
        with stages.importing():
            from tracebuf.dask.cut import cut
        try:
            return cut(self, args, kwargs)
        except RunOriginal as reason:
            raise original_runs(str(reason)) from None

    @hides_frames(UnsupportedError)
    def stories(self, *args: Any, **kwargs: Any) -> Stories:
        """The story of each allocation and copy that is left for these arguments: the lines that write, read and
        define, what it takes and how often, the rule that decided, and the edit of the source that would remove it,
        with what it saves (or why none does); and by line what eager NumPy allocates that is gone.

        Edits are found by trying: the edited function is traced and bufferized again, must compute the same, and both
        run on copies of the arguments. A function that calls others than NumPy's and SciPy's is not run.

        Args and errors: those of `explain`. Returns `Stories`: as text, by `show()` in colours, by `to_dict()` as data;
        each has an `edit` whose `apply()` gives the file's text with it.

        >>> print(bufferize(lambda a: np.negative(a, out=a)).stories(np.ones(3)))
        <lambda>: no allocations, no copies left
        """
        with stages.importing():
            from tracebuf.stories.story import stories
        try:
            return stories(self, args, kwargs)
        except RunOriginal as reason:
            raise original_runs(str(reason)) from None

    @hides_frames(UnsupportedError)
    def report(self, path: str | os.PathLike[str] | None, /, *args: Any, **kwargs: Any) -> Report:
        """Writes a report of one call as an HTML file that needs nothing else: the source with what each line takes
        and saves, conflicts drawn on it, lifetimes of buffers, the program at each stage, other decisions.

        Args:
            path: where to; None writes nothing.
            args, kwargs: those of a call.

        Returns the `Report`: `save(path)`, `html`, `data`, and `figure()` of matplotlib. Raises what `stories` raises,
        OSError where the file cannot be written. Source: docs/explain.md.

        >>> "cumsum" in bufferize(lambda a: np.cumsum(a).max()).report(None, np.ones(9)).html
        True
        """
        with stages.importing():
            from tracebuf.pictures.gather import report
            from tracebuf.process.progress import shown
        try:
            with shown("report"):
                made = report(self, args, kwargs, REPORT_SECONDS)
        except RunOriginal as reason:
            raise original_runs(str(reason)) from None
        if path is not None:
            made.save(path)
        return made

    @hides_frames(UnsupportedError)
    def validate(self, *args: Any, **kwargs: Any) -> Validation:
        """Runs a call eagerly, by both interpreters and natively, and compares all that the contract names: values,
        dtypes, shapes, strides, effects on arguments, shared memory, identity, exceptions.

        Args and errors: those of a call. Each run is on copies of the arguments, which stay as they are; the function
        is run five times or more, so effects other than on arrays, containers and random generators (a file that is
        written, a captured object that changes) happen as often. Floats may differ by 1e-9 of the largest magnitude of
        their array, by 1e-5 where single precision is involved (rule C2).

        Returns a report, whose text is the table of the runs; where one differs (`ok` is False) it names the first
        stage that does, the op, its line, and both values. Source: docs/testing.md.

        >>> bufferize(lambda a: a[1:] + 1).validate(np.ones(3)).ok
        True
        """
        with stages.importing():
            found = import_module(VALIDATES)
        return found.validate(self, args, kwargs)  # type: ignore[no-any-return]

    def captured(self, *args: Any, **kwargs: Any) -> list[np.ndarray]:
        """The arrays from outside that a call with these arguments may read or store to, as they are now.

        Args and errors: those of a call; the program is compiled if it has not been, and not run.

        >>> table = np.ones(2)
        >>> bufferize(lambda a: a + table).captured(np.zeros(2))[0] is table
        True
        """
        self._specialization(args, kwargs, count=False)
        values = self._values(args, kwargs)[0]
        return [x for x in flatten(values[len(values) - len(self._hidden) :]).values if isinstance(x, np.ndarray)]

    def specializations(self) -> Specializations:
        """What was compiled, for which key and guards, and how often it ran; calls that ran the original, and why.

        >>> double = bufferize(lambda a: 2 * a)
        >>> for n in (3, 5): _ = double(np.ones(n))
        >>> print(double.specializations())
        compiled for (float64[n]); 2 calls
        """
        groups, originals = list(self._compiled.values()), self._originals.copy()  # at once: others may compile
        for reason, entry in list(self._native_originals):
            originals[reason] += entry.calls
        if self._native is not None and self._native.forwarded:
            originals["it only moves what it gets, or asks Python or NumPy"] = self._native.forwarded
        compiled = [s for group in groups for s in list(group)]
        return Specializations((*compiled, *(OriginalCalls(r, n) for r, n in originals.items() if n)))

    def release(self) -> None:
        """Gives back the memory that the compiled programs keep from one call to the next (arenas). The programs stay.

        >>> f = bufferize(lambda a: np.cumsum(a)[::-1] * a)
        >>> _ = f(np.ones(1000))
        >>> f.release()
        """
        self._last = None
        for group in list(self._compiled.values()):
            for spec in list(group):
                spec.kernel.release()

    def wait(self) -> None:
        """Waits until the fast code of each compiled program is made, and runs (`Options.tier`), and what lets machine
        code take its calls, without Python, which is else made after some hundred calls.

        >>> f = bufferize(lambda a: np.cumsum(a)[::-1] * a)
        >>> _ = f(np.ones(1000))
        >>> f.wait()
        """
        for group in list(self._compiled.values()):
            for spec in list(group):
                spec.kernel.code.wait()
                if not spec.settled:
                    self._make_native(spec, at_once=True)

    # -- from arguments to a specialisation
    def _values(
        self, args: tuple[Any, ...], kwargs: dict[str, Any], captured: tuple[Hidden, ...] | None = None
    ) -> tuple[tuple[Any, ...], tuple[Named, Form]]:
        """The values of a call (bound parameters, those that `*args` and `**kwargs` took, buffers of `out=`, captured
        arrays: those of the programs, if no others are named), with the names in `**kwargs` and the form of `out`."""
        hidden = self._hidden if captured is None else captured
        if self.takes_out and "out" in kwargs:
            out, buffers = destinations(kwargs["out"])
            values, named = self._bind(args, {k: v for k, v in kwargs.items() if k != "out"})
            values = (*values, *buffers)
        else:
            out, (values, named) = None, self._bind(args, kwargs)
        return (*values, *values_of(hidden, values)) if hidden else values, (named, out)

    def _bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], Named]:
        if not kwargs and len(args) == len(self._names) and self._all_positional:
            return args, ()
        bound = bind(self.__wrapped__, args, kwargs)
        extra = () if self._star is None else bound.pop(self._star)
        named = {} if self._stars is None else bound.pop(self._stars)
        return (*bound.values(), *extra, *named.values()), names_of(named)

    def _known(
        self, values: tuple[Any, ...], form: tuple[Named, Form]
    ) -> tuple[_Recent | None, Sequence[Any], tuple[Any, ...]]:
        """The programs for a call whose keys need not be made; its leaves and its containers."""
        given = self._quick_key(values)
        if given is not None or self._static:
            known = None if given is None else self._recent.get((given, form))
            return known if known is not None and disjoint(values, known.extents) else None, values, ()
        last = self._last
        if last is not None and (leaves := last.again(values)) is not None and last.found[0] == form:
            known = last.found[1]
            return known if last.disjoint(leaves, known.extents) else None, leaves, last.containers
        flat = self._flat(values)
        given = None if flat.tree is None else self._quick_key(flat.values, flat.tree)
        known = None if given is None else self._recent.get((given, form))
        if known is None or not disjoint(flat.values, known.extents):
            return None, flat.values, flat.containers
        if not any(map(is_container, values[: len(values) - len(self._hidden)])):
            self._last = Remembered.of(values, flat, (form, known))
        return known, flat.values, flat.containers

    def _quick_key(self, values: Sequence[Any], tree: Tree | None = None) -> tuple[Any, ...] | None:
        """A hashable value that determines the keys of a call and is quick to make; None where only `_call` can
        tell."""
        if not self._static or tree is not None:
            given = None if self._static else signature(values)
            return given if given is None or tree is None else (*given, tree)
        plain, static = list(values), [static_key(self._names[i], values[i]) for i in self._static]
        for i in self._static:
            plain[i] = None
        given = signature(plain)
        return None if given is None else (*given, *static)

    def _flat(self, values: Sequence[Any], static: tuple[Position, ...] = ()) -> FlatArguments:
        """The leaves of the arguments and their containers; the error names the function's line."""
        try:
            return flatten(values, static)
        except UnsupportedError as refusal:
            raise located(refusal, self.__wrapped__) from None

    def _call(self, values: tuple[Any, ...], form: tuple[Named, Form], hidden: tuple[Hidden, ...]) -> Call:
        (named, out), buffers = form, labels(form[1])
        extra = len(values) - len(self._names) - len(named) - len(buffers) - len(hidden)
        many = (*(f"{self._star}[{i}]" for i in range(extra)), *(f"{self._stars}[{n!r}]" for n in named))
        names = (*self._names, *many, *buffers, *(h.label for h in hidden))
        flat = self._flat(values, self._static)
        tops, names, static = names, leaf_names(names, flat), {flat.starts[i] for i in self._static}
        made = enumerate(zip(names, flat.values, strict=True))
        out_at = range(len(values) - len(hidden) - len(buffers), len(values) - len(hidden))
        alone = enumerate(zip(flat.starts, values))
        texts = {i: text_key(x) for p, (i, x) in alone if p not in out_at and is_text_array(x)}
        try:
            keys = tuple(
                static_key(n, v) if i in static else key_of(n, v) if (text := texts.get(Leaf(i))) is None else text
                for i, (n, v) in made
            )
        except UnsupportedError as refusal:
            raise located(refusal, self.__wrapped__) from None
        check_files(names, flat.values)
        related = relations(flat.values)
        given = donated(self.__wrapped__, self.options, names, keys, related)
        return Call(
            names=names, values=flat.values, keys=keys, related=related, donated=given, extra=extra, named=named,
            out=out, hidden=hidden, tops=tops, starts=flat.starts, tree=flat.tree, containers=flat.containers,
        )  # fmt: skip

    def _complete(self, args: tuple[Any, ...], kwargs: dict[str, Any], use: Callable[[Call], T]) -> T:
        """The result of `use` for the call; each captured array that its tracing meets is added to the call, which then
        begins again."""
        met: dict[Any, Hidden] = {}
        presumed, misled = False, frozenset[frozenset[Any]]()
        for _ in range(MAX_CAPTURES):
            hidden = self._hidden
            known = {h.place for h in hidden}
            if more := [h for h in met.values() if h.place not in known]:
                hidden = (*hidden, *more)
            values, form = self._values(args, kwargs, hidden)
            call = self._call(values, form, hidden)
            try:
                return use(replace(call, presumed=presumed, misled=misled) if presumed or misled else call)
            except Misled:
                misled |= {frozenset(h.place for h in hidden)}
                presumed = False
                met.clear()
            except NewCapture as new:
                presumed = presumed or new.presumed
                for one in (new.hidden, *new.more):
                    met.setdefault(one.place, one)
            except ContractError as error:
                with stages.importing():
                    from tracebuf.stories.broken import with_stories
                raise with_stories(self, error, args, kwargs) from None
        raise RunOriginal(f"it captures more than {MAX_CAPTURES} arrays, or other ones each time")

    def _keep_captures(self, call: Call) -> None:
        """Makes the captured arrays of a program an argument of every call; programs without them are dropped, for no
        call would find them."""
        if call.hidden is not self._hidden:
            self._hidden, self._last = call.hidden, None
            if self._native is not None:
                self._native.clear()
            for programs in (self._compiled, self._recent, self._refusals, self._awaited, self._overlapping):
                programs.clear()

    def _specialization(
        self, args: tuple[Any, ...], kwargs: dict[str, Any], count: bool = True, raising: bool = False
    ) -> tuple[Specialization, Sequence[Any], Sequence[Any]] | None:
        """The program for a call, compiled if need be, with the call's leaves and containers; None where the original
        function must run. What tracing finds to be raised is raised, or (`raising`) `_Raises`."""
        if sys.meta_path is None:  # Python shuts down: nothing can be imported any more, which keys and tracing need
            if count:
                self._originals["Python is shutting down"] += 1
            return None
        try:
            return self._complete(
                args, kwargs, lambda call: (self._fitting(call, raising), call.values, call.containers)
            )
        except RunOriginal as reason:
            if count:
                if str(reason) not in self._originals:
                    logger.warning("%s runs the original function: %s", self.__wrapped__.__qualname__, reason)
                self._originals[str(reason)] += 1
            return None
        except _Raises as said:
            if raising or said.error is None:
                raise
            error = said.error
        raise error

    def _fitting(self, call: Call, raising: bool) -> Specialization:
        spec = self._find(call, raising)
        self._remember_call(call)
        if (reason := call.overlap(spec.traced.stored)) is not None:
            if (places := self._places(call.values, (call.named, call.out), call.tree)) is not None:
                if len(self._overlapping) >= 256:
                    self._overlapping.clear()
                self._overlapping[places] = _Original(reason)
            raise RunOriginal(reason)
        return spec

    def _remember_call(self, call: Call) -> None:
        if not call.related.shared and (given := self._quick_key(call.values, call.tree)) is not None:
            self._remember(given, call)

    def _overlap(self, values: Sequence[Any], form: tuple[Named, Form]) -> _Original | None:
        """Why the original function ran in an earlier call whose arrays overlap as these do."""
        places = self._places(values, form)
        if places is None and not self._static:
            try:
                flat = flatten(values)
            except UnsupportedError:
                return None
            places = None if flat.tree is None else self._places(flat.values, form, flat.tree)
        return None if places is None else self._overlapping.get(places)

    def _places(
        self, values: Sequence[Any], form: tuple[Named, Form], tree: Tree | None = None
    ) -> tuple[Any, ...] | None:
        """A signature, and where the arrays are beside the first one: how they overlap."""
        given = self._quick_key(values, tree)
        arrays = [address(x) for x in values if isinstance(x, np.ndarray)]
        return None if given is None else (given, form, *(a - arrays[0] for a in arrays))

    def _remember(self, given: tuple[Any, ...], call: Call) -> None:
        """Notes which programs serve arguments of this signature whose memory is disjoint, so that their keys need not
        be made again."""
        distinct = tuple(map(Leaf, range(len(call.values))))
        no_aliases = Relations(distinct, distinct, ())
        free = donated(self.__wrapped__, self.options, call.names, call.keys, no_aliases)
        group = replace(call, related=no_aliases, donated=free).group
        extents = tuple(extent(x) if isinstance(x, np.ndarray) else None for x in call.values)
        with self._lock:
            if call.hidden is not self._hidden:
                return
            if len(self._recent) >= 256:
                self._recent.clear()
                self._last = None
            programs, refusals = self._compiled.setdefault(group, []), self._refusals.setdefault(group, [])
            self._recent[given, (call.named, call.out)] = _Recent(call.hidden, programs, refusals, extents)

    def _find(self, call: Call, raising: bool) -> Specialization:
        """The program for a call, compiled if need be. `raising`: whether it will do to know that the call raises."""
        for spec in self._compiled.get(call.group, ()):
            if spec.fits(call.values):
                return spec
        with numbas_lock(), self._lock:
            for spec in self._compiled.get(call.group, ()):
                if spec.fits(call.values):
                    return spec
            if call.hidden[: len(self._hidden)] != self._hidden:
                raise NewCapture(self._hidden[-1])  # another thread met it just now: begin again with it
            if call.group in self._awaited:
                raise NewCapture(*self._awaited[call.group])
            for refusal in self._refusals.get(call.group, ()):
                if (refusal.error is not None or raising) and refusal.fits(call.values):
                    if refusal.error is None:
                        raise _Raises(None, refusal)
                    error = refusal.error()
                    error._noted = refusal
                    raise error
            raised: list[Conditions] = []
            began = time.perf_counter()
            try:
                kept = self._kept(call)
                if kept is None and call.presumed:
                    raise Misled
                spec = kept or self._compile(call, raised.append, early=raising)
            except RunOriginal as reason:
                if reason.under is not None:
                    self._refuse(call, _Refusal(str(reason), None, reason.under, reason.under.guard_function()))
                raise
            except UnsupportedError as error:
                if error._under is not None and self._fallback() == "numpy":
                    self._refuse(call, _Refusal.of(error))
                raise
            except Exception as error:
                if not raised:
                    raise
                refusal = _Refusal.raising(error, *raised)
                self._refuse(call, refusal)
                raise _Raises(error, refusal) from None
            logger.compiled(self.__wrapped__.__qualname__, time.perf_counter() - began)
            self._keep_captures(call)
            self._compiled.setdefault(call.group, []).insert(0, spec)
            return spec

    def _refuse(self, call: Call, refusal: _Refusal) -> None:
        """Remembers for which calls nothing needs to be traced again."""
        refusals = self._refusals.setdefault(call.group, [])
        if refusal.error is None:
            self._originals[refusal.reason] += 0  # so that it is looked at
            if any(r.error is None and r.fits(call.values) for r in refusals):
                return
            if sum(r.error is None for r in refusals) >= MAX_RAISING:
                refusals.remove(next(r for r in reversed(refusals) if r.error is None))
        refusals.insert(0, refusal)
        if more := call.hidden[len(self._hidden) :]:
            self._awaited[call.without(len(more)).group] = more[0], more[1:]
        elif not call.related.shared and (given := self._quick_key(call.values, call.tree)) is not None:
            self._remember(given, call)

    def _kept(self, call: Call) -> Specialization | None:
        """The program for a call that an earlier process compiled."""
        found = next((k for offer in self._offers if (k := offer(call)) is not None), None)
        found = found or stages.kept(self.__wrapped__, self.options, call)
        return None if found is None else self._loaded(call, found)

    def _loaded(self, call: Call, found: Kept) -> Specialization:
        logger.info("loaded %s for (%s)", self.__wrapped__.__qualname__, show_keys(call))
        bare = replace(call, values=(), containers=())
        return Specialization(bare, found.plan, None, found.kernel, found.plan.guard_function(), loaded=True)

    def _compile(self, call: Call, raises: Callable[[Conditions], None], early: bool) -> Specialization:
        made = sum(map(len, self._compiled.values()))
        made += sum(r.error is not None for group in self._refusals.values() for r in group)
        if made >= self.options.max_specializations:
            raise RunOriginal(
                f"compiled {made} times, the limit (max_specializations); is a size or an int part of the key?"
            )
        traced = stages.trace(self.__wrapped__, call, raises, early, self._warns, self._is_sized(call))
        return self._specialize(call, traced, stages.bufferized(traced, self.options))

    def _specialize(self, call: Call, traced: Traced, program: stages.Bufferized) -> Specialization:
        """What serves calls like this one: their program, compiled. Raises ContractError."""
        plan = self._under_contract(call, traced, program)
        kernel = program.compile(self.__wrapped__.__name__, self.options.tier, self.options.backend)
        logger.info("compiled %s for (%s)", self.__wrapped__.__qualname__, show_keys(call))
        stages.keep(self.__wrapped__, self.options, call, plan, kernel)
        return Specialization(replace(call, values=(), containers=()), plan, program, kernel, plan.guard_function())

    def _under_contract(self, call: Call, traced: Traced, program: stages.Bufferized) -> CallPlan:
        """How the program is called: for sizes for which the contracts hold."""
        if not any(getattr(self.options, name) not in (None, ()) for name in CONTRACTS):
            return traced.call_plan
        with stages.importing():
            from tracebuf.explain.contracts import check
            from tracebuf.frontends.numpy.source.own_sizes import sizes_named
        sizes = {s: b.value(call.values) for s, b in traced.bindings.items()}
        named = dict(zip(call.names, call.values))
        stored = frozenset(call.names[i] for i in traced.stored)
        own = sizes_named(self.__wrapped__) if isinstance(self.options.max_bytes, str) else {}
        more = check(program.told, self.options, stored, sizes, named, own)
        guards = *traced.guards, *(Guard("nonneg", size) for size in more if isinstance(size, Expr))
        return replace(traced.call_plan, guards=guards)


def _anchored(anchor: FunctionType) -> BufferizedFunction:
    """The bufferized function of an anchor out of a pickle."""
    found = named(anchor.__module__, anchor.__qualname__.removesuffix(f".{ANCHOR}"))
    found = of_class(found) or found
    if isinstance(found, BufferizedFunction) and found._anchor == anchor:
        return found
    return BufferizedFunction(*from_anchor(anchor))


def _method_of(owner: type, name: str) -> BufferizedFunction:
    """The bufferized function of a class's method that is bound to it."""
    found: BufferizedFunction = of_class(getattr(owner, name))
    return found


def _remade(function: FunctionType, options: Options, file: str) -> BufferizedFunction:
    """The bufferized function of one out of a pickle, and of the file that it was read from."""
    return BufferizedFunction(in_its_file(function, file), options)


def release() -> None:
    """Gives back the memory that all compiled programs keep from one call to the next: `release` of each function."""
    if (kernels := sys.modules.get("tracebuf.backend.runtime.kernel")) is not None:
        kernels.release()
    for function in _functions.all():
        function._last = None


def wait() -> None:
    """Waits until the fast code of all compiled programs is made: `wait` of each function."""
    if (tiers := sys.modules.get("tracebuf.backend.runtime.tiers")) is not None:
        tiers.wait()


_waited = itertools.count()
"""How many calls of programs without an entry Python has made."""
_functions = Living[BufferizedFunction]()
"""All that are alive."""


def _after_fork() -> None:
    """In the child: a thread that was compiling is no more, and would hold its function's lock for ever."""
    for function in _functions.all():
        function._lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


@by_vectorcall
class BufferizedMethod(NativeCallable):
    """A bufferized method bound to its object; `explain`, `lower` and the other methods take the other arguments."""

    __slots__ = ("__dict__", "__weakref__", "_native_words")
    __tracebuf_bound__ = True

    def __init__(self, function: BufferizedFunction, instance: object) -> None:
        self.__func__, self.__self__ = function, instance

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self.__func__._native is not None:  # this call and those that follow
            from tracebuf.backend.runtime.entries import bind_natively

            self._native_words = bind_natively(self, self.__func__, self.__self__)
        return self.__func__(self.__self__, *args, **kwargs)

    def report(self, path: str | os.PathLike[str] | None, /, *args: Any, **kwargs: Any) -> Report:
        """`BufferizedFunction.report` of the method, for these arguments beside its object."""
        return self.__func__.report(path, self.__self__, *args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        if (name.startswith("__") and name not in _OF_FUNCTIONS) or name == "_numba_type_":
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        found = getattr(self.__func__, name)
        return MethodType(found, self.__self__) if name == "__wrapped__" or name in _OF_CALLS else found

    def __reduce__(self) -> Any:
        return BufferizedMethod, (self.__func__, self.__self__)

    def __eq__(self, other: object) -> bool:
        mine = isinstance(other, BufferizedMethod) and self.__func__ is other.__func__
        return mine and self.__self__ is other.__self__  # type: ignore[attr-defined]

    def __hash__(self) -> int:
        return hash((id(self.__func__), id(self.__self__)))

    def __repr__(self) -> str:
        return f"<bufferized {self.__func__.__wrapped__.__qualname__} of {self.__self__!r}>"


def of_numba(f: Any) -> str:
    """What to do with a function that Numba has compiled."""
    if not type(f).__module__.startswith("numba."):
        return ""
    return (
        ", which Numba compiles: bufferize the function that it is made of, f.py_func (f.__wrapped__ of a ufunc), or "
        "leave it as it is and call it from a bufferized function; and @njit code calls bufferized ones"
    )


_OF_FUNCTIONS = (*functools.WRAPPER_ASSIGNMENTS, "__wrapped__", "__defaults__", "__kwdefaults__", "__code__")
"""What a method has of its function, of the names with two underscores."""
_OF_CALLS = (
    "call_counted", "captured", "ctypes", "eager", "explain", "low_level_callable", "lower", "stories", "trace",
    "validate",
)  # fmt: skip
"""Methods that take the arguments of a call."""


def watched(spec: Specialization, fetch: Callable[[], FlatArguments] | None, values: Sequence[Any]) -> watching:
    """In what a call with these values is made, of a program that calls functions of the user's."""
    if spec.outside is None:
        spec.outside = Outside(spec.traced.captures)
    return watching(Watch(values, spec.call.names, fetch, spec.outside))


def _handing(spec: Specialization, values: Sequence[Any]) -> AbstractContextManager[Any]:
    """In what a call with these values is made, of a program that hands some of them to what it calls, or that has
    progress bars, of which those that are left are closed where it ends."""
    if spec.opens_bars:
        from tracebuf.frontends.numpy.call.progress import closing

        around = ExitStack()
        around.enter_context(closing())
        if spec.hands:
            around.enter_context(handing_of(values))
        return around
    return handing_of(values) if spec.hands else _NOTHING


def handing_of(values: Sequence[Any]) -> AbstractContextManager[None]:
    from tracebuf.running.handed import handing

    return handing(values)


def numbas_lock() -> AbstractContextManager[Any]:
    """Numba's lock, which is taken before a function's, where Numba's code calls bufferized functions: Numba holds it
    while it asks for their programs, and tracing asks Numba for functions."""
    used = "tracebuf.njit.extension" in sys.modules
    return sys.modules["numba.core.compiler_lock"].global_compiler_lock if used else _NOTHING


def caller_level() -> int:
    """The stack level of the user's call, for a warning by the function that asks."""
    frame, level = sys._getframe(1), 1
    while frame.f_code.co_filename == __file__ and frame.f_back is not None:
        frame, level = frame.f_back, level + 1
    return level


def located(refusal: UnsupportedError, function: FunctionType) -> UnsupportedError:
    """The refusal of an argument, with the line of the function that it was given to."""
    from tracebuf.frontends.numpy.source.source import heading

    if refusal.location is not None:
        return refusal
    return UnsupportedError(refusal.reason, instead=refusal.instead, location=heading(function))


def original_runs(reason: str) -> UnsupportedError:
    return UnsupportedError(f"these arguments run the original function: {reason}", instead="call it, or use copies")


@displayed
class Specializations(tuple[Specialization | OriginalCalls, ...]):
    """The programs of a function, and the calls that ran the original one; readable as text."""

    __slots__ = ()

    def __new__(cls, items: Sequence[Specialization | OriginalCalls]) -> Specializations:
        return super().__new__(cls, items)

    @property
    def native_share(self) -> float:
        """The share of all calls that compiled programs took, from 0 to 1; 1 where there were none."""
        native, every = self._counts()
        return native / every if every else 1.0

    def _counts(self) -> tuple[int, int]:
        """How many calls compiled programs took, of how many."""
        calls = [(s.calls, isinstance(s, Specialization)) for s in self]
        return sum(n for n, native in calls if native), sum(n for n, _ in calls)

    def rows(self) -> list[tuple[str, ...]]:
        """The table, its head first."""
        return [("program", "guards", "calls", "compiled in"), *(item.row() for item in self)]

    def __str__(self) -> str:
        if not self:
            return "nothing was compiled yet"
        native, every = self._counts()
        share = [] if native == every else [f"{native} of {every} calls ran natively ({100 * native / every:.0f} %)"]
        return "\n".join([*map(str, self), *share])


if TYPE_CHECKING:

    class Bufferized(BufferizedFunction, Generic[P, R]):
        """A bufferized function as type checkers see it: with the parameters and the result of the function's own."""

        @overload
        def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R: ...
        @overload
        def __call__(self, *args: Any, out: Any, **kwargs: Any) -> Any: ...
        def __call__(self, *args: Any, **kwargs: Any) -> Any: ...

        @overload
        def __get__(self, instance: None, owner: type | None = None) -> Bufferized[P, R]: ...
        @overload
        def __get__(
            self: Bufferized[Concatenate[S, Q], R], instance: S, owner: type | None = None
        ) -> BoundBufferized[Q, R]: ...
        def __get__(self, instance: object, owner: type | None = None) -> Any: ...

    class BoundBufferized(BufferizedMethod, Generic[P, R]):
        """A bufferized method of an object as type checkers see it."""

        @overload
        def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R: ...
        @overload
        def __call__(self, *args: Any, out: Any, **kwargs: Any) -> Any: ...
        def __call__(self, *args: Any, **kwargs: Any) -> Any: ...

    class Decorator(Protocol):
        """What `bufferize` with options alone gives."""

        def __call__(self, function: Callable[P, R], /) -> Bufferized[P, R]: ...


@overload
def bufferize(function: MethodType, /) -> BufferizedMethod: ...  # type: ignore[overload-overlap]
@overload
def bufferize(function: Callable[P, R], /) -> Bufferized[P, R]: ...
@overload
def bufferize(**options: Any) -> Decorator: ...
def bufferize(function: Callable[..., Any] | None = None, /, **options: Any) -> Any:
    """Compiles a NumPy function, at its first call: `@bufferize`, `@bufferize(donate="a")`, `bufferize(f)`.

    Args:
        function: a Python function or method, or an object whose class has `__call__`; a bufferized one is bufferized
            again, with these options. Of a staticmethod, classmethod, functools.partial or partialmethod what it holds
            is bufferized.
        options: the fields of `tracebuf.Options`; the frequent ones are `fallback="numpy"`, `static_argnames=`,
            `donate=` and `strategy=`.

    Raises TypeError for what is not a Python function and for an unknown option, ValueError for an option's value that
    is not allowed, or names no parameter.

    >>> @bufferize
    ... def scale(a, factor):
    ...     a *= factor
    ...     return a.sum()
    >>> scale(np.ones(4), 0.5)
    np.float64(2.0)
    """
    __tracebackhide__ = True
    chosen = Options(**options)

    def decorate(f: Callable[..., Any]) -> Any:
        __tracebackhide__ = True
        if isinstance(f, (MethodType, BufferizedMethod)):  # of an object
            return BufferizedMethod(decorate(f.__func__), f.__self__)
        if isinstance(f, (staticmethod, classmethod)):
            return type(f)(decorate(f.__func__))
        if type(f) is functools.partial or isinstance(f, functools.partialmethod):
            return type(f)(decorate(f.func), *f.args, **f.keywords)
        if isinstance(f, BufferizedFunction):
            f = f.__wrapped__
        called = next((vars(c)["__call__"] for c in type(f).__mro__ if "__call__" in vars(c)), None)
        if isinstance(called, FunctionType) and is_object(f):
            return BufferizedMethod(decorate(called), f)
        if not isinstance(f, FunctionType):
            raise TypeError(f"bufferize takes a Python function, not a {type(f).__name__}{of_numba(f)}")
        try:
            check_names(f, chosen)
        except ValueError as error:
            hide_frames(error, f, BufferizedFunction._eager.__code__)
            raise
        return BufferizedFunction(f, chosen)

    return decorate if function is None else decorate(function)
