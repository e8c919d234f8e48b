"""The exceptions that leave tracing: `Control` steers tracing itself, `Raises` carries what the traced code raises.

A handler that finds that NumPy or Python would raise says so by `raise Raises(ValueError(...))` or `Recorder.fail`;
where it asks NumPy or Python on stand-ins, it does so inside `with asking:`. Any other exception from a handler is a
bug in the tracer and becomes an InternalError (`internal_error`).

Control flow, and who catches it: `DeadEnd` (paths/joins, paths/loops, `either` of record/recorder,
interpreter/protected, trace), `Changed` (paths/loops/trace), `NewCapture` and `RunOriginal` (tracebuf/api.py), `Raises`
(interpreter/statements and expressions, trace). None derives from Exception, so that no handler mistakes one for an
error.
"""

from __future__ import annotations

import inspect
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from operator import floordiv, mod, truediv
from traceback import walk_tb
from types import CodeType, FrameType, TracebackType
from typing import Any, TypeVar, cast

import numpy as np

from tracebuf.errors import InternalError, TracebufError, UnsupportedError, render
from tracebuf.frontends.numpy.call.control import Control
from tracebuf.location import Location

T = TypeVar("T")
OWN = __name__.rpartition(".record.")[0]
"""The front end's package."""
KNOWN = "use a constant, or an argument that static_argnames names"


class DeadEnd(Control):
    """The rest of this branch or loop body cannot be reached: a check that always fails was recorded. `error`: where it
    is always reached, what it raises, with the user's line; not with its arguments."""

    def __init__(self, error: BaseException | None = None) -> None:
        self.error = error


class Raises(Control):
    """The traced code raises `error` here: NumPy's or Python's class, with its text.

    `placed`: it has the user's line and is the caller's to raise; else it is recorded where it is reached. `loc`: the
    line that raised, once that is known.
    """

    def __init__(self, error: BaseException, placed: bool = False, loc: Location | None = None) -> None:
        super().__init__(error)
        self.error, self.placed, self.loc = error, placed, loc


def cannot_cast(source: Any, target: Any, rule: str = "safe") -> Raises:
    """NumPy's TypeError for an array that may not be converted."""
    kinds = f"{np.dtype(source)!r} to {np.dtype(target)!r}"
    return Raises(TypeError(f"Cannot cast array data from {kinds} according to the rule '{rule}'"))


class _Asking:
    """`with asking:` what NumPy or Python raises inside, on stand-ins or plain values, is raised by the traced code."""

    __slots__ = ()

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        if isinstance(error, Exception) and not isinstance(error, TracebufError) and by_signal(error) is None:
            raise Raises(error) from None


asking = _Asking()


def by_signal(error: BaseException | None) -> BaseException | None:
    """What the handler of a signal raised, if this error is it or came of it: it can come anywhere in the tracer, and
    has nothing to do with what is traced."""
    handlers = signal_handlers()
    while error is not None:
        trace = error.__traceback__
        while trace is not None:
            if trace.tb_frame.f_code in handlers:
                return error
            trace = trace.tb_next
        error = error.__context__
    return None


_SIGNALS = tuple(signal.valid_signals())  # asked once: each time it makes an object of every signal


def signal_handlers() -> set[CodeType]:
    """The code of the functions that handle signals now."""
    codes: set[CodeType] = set()
    for number in _SIGNALS:
        handler: Any = signal.getsignal(number)
        while isinstance(handler, partial):
            handler = handler.func
        if callable(handler):
            function = handler if hasattr(handler, "__code__") else getattr(handler, "__func__", type(handler).__call__)
            if (code := getattr(function, "__code__", None)) is not None:
                codes.add(code)
    return codes


def is_tracers(x: object) -> bool:
    """Whether an object is of a class of the tracer's own, which NumPy and Python do not know."""
    return type(x).__module__.startswith(OWN)


class _Inside:
    """Matches any text of a warning in the threads that are inside `quiet()`; a filter takes it for a pattern."""

    def __init__(self) -> None:
        self.depths: dict[int, int] = {}

    def match(self, text: str) -> bool:
        return threading.get_ident() in self.depths

    def __reduce__(self) -> str:
        return "_inside"  # some libraries send the filters to their workers


class _Noted(threading.local):
    """The floating-point errors of what this thread computes in `quiet()`; None where nobody asks for them."""

    kinds: list[str] | None = None


_inside, _noted = _Inside(), _Noted()
_FILTER: Any = ("ignore", _inside, Warning, None, 0)


def back_to(outer: int, filters: list[Any]) -> None:
    """This thread is inside of so many `quiet()`; the last of all threads to leave takes the filter out of those that
    were there when it entered."""
    depths, me = _inside.depths, threading.get_ident()
    if outer:
        depths[me] = outer
    else:
        depths.pop(me, None)
    if not depths:
        while _FILTER in filters:
            filters.remove(_FILTER)


@contextmanager
def quiet() -> Iterator[None]:
    """No warnings from this thread, and none of NumPy's floating-point errors.

    `warnings.catch_warnings` is the process's: two threads that leave it in the order in which they entered would leave
    the filters of one of them behind, which ignore everything.
    """
    depths, me, filters = _inside.depths, threading.get_ident(), cast(list[Any], warnings.filters)
    outer = depths.get(me, 0)
    depths[me] = outer + 1
    if filters[:1] != [_FILTER]:
        filters.insert(0, _FILTER)
    try:
        if _noted.kinds is None:
            with np.errstate(all="ignore"):
                yield
        else:
            with np.errstate(all="call", call=lambda kind, _: _noted.kinds.append(kind), under="ignore"):
                yield
    finally:
        back_to(outer, filters)


@contextmanager
def left_as_found() -> Iterator[None]:
    """What `quiet()` sets for this thread is as before, whatever is raised: a RecursionError may come where a context
    has been entered, or is left, and nothing of it has run."""
    outer, kinds = _inside.depths.get(threading.get_ident(), 0), _noted.kinds
    filters = cast(list[Any], warnings.filters)
    with np.errstate():
        try:
            yield
        finally:
            _noted.kinds = kinds
            back_to(outer, filters)


@contextmanager
def noting() -> Iterator[list[str]]:
    """The floating-point errors, as NumPy calls them, of what this thread computes inside of this and of `quiet()`."""
    outer, _noted.kinds = _noted.kinds, []
    try:
        yield _noted.kinds
    finally:
        _noted.kinds = outer


def ask(function: Callable[..., T], /, *args: Any, **kwargs: Any) -> T:
    """The result of a function of NumPy's or Python's; what it raises is raised by the traced code.

    This is the one door to them: objects of the tracer's own are stopped here, so that none gets into a message. What
    needs one to be known is refused. Stand-ins have other elements than the call's arguments: what NumPy would warn of,
    or raise by `np.errstate`, says nothing of the call.
    """
    own = (getattr(function, "__module__", None) or "").startswith(OWN)
    for x in (*args, *kwargs.values()):
        if is_tracers(x) and not own:
            name = getattr(function, "__name__", type(function).__name__)
            raise UnsupportedError(f"a value of the trace where {name} needs a known one", instead=KNOWN)
    with asking, quiet():
        return function(*args, **kwargs)


def hold(method: Callable[..., T], /, *args: Any, **kwargs: Any) -> T:
    """As `ask`, of a method of a list, dict or tuple, which holds traced values as they are."""
    with asking:
        return method(*args, **kwargs)


def bind(signature: inspect.Signature, args: Sequence[Any], kwargs: Mapping[str, Any]) -> inspect.BoundArguments:
    """The arguments of a call by parameter, traced ones too; what Python raises is raised by the traced code."""
    with asking:
        return signature.bind(*args, **kwargs)


def call_handler(handler: Callable[..., T], /, *args: Any, **kwargs: Any) -> T:
    """The result of a handler. If its parameters do not take these arguments, the call's TypeError is Python's; the
    traceback shows it, for no frame of the handler is in it."""
    return call_as(None, handler, (), args, kwargs)


def call_as(
    function: Callable[..., Any] | None, handler: Callable[..., T], own: Sequence[Any], args: Sequence[Any],
    kwargs: Mapping[str, Any],
) -> T:  # fmt: skip
    """As `call_handler`, of arguments `own` of the tracer's and those of a call of Python's `function`, which says
    itself what it does not take."""
    try:
        return handler(*own, *args, **kwargs)
    except TypeError as error:
        if error.__traceback__ is not None and error.__traceback__.tb_next is None:
            if function is not None:
                check_number(function, len(args), kwargs)
            raise Raises(error) from None
        raise


def check_number(function: Callable[..., Any], number: int, names: Iterable[str]) -> None:
    """Raises Python's TypeError for so many arguments, and these by name, that a function does not take."""
    try:
        ask(function, *[None] * number, **dict.fromkeys(names))
    except Raises as said:
        if isinstance(said.error, TypeError) and "argument" in str(said.error).removeprefix("argument of type"):
            raise


DEEP = 8
"""How many statements are around another one in code that is nested deep."""


MOST_IN_PATHS = 200
"""Calls of an error that walk through what values may be, in code where these are nested deep."""


def frames_of(name: str) -> int:
    """How many calls of a function of the tracer's are running now, one in another."""
    frame, found = sys._getframe(), 0
    while frame.f_back is not None:
        frame = frame.f_back
        found += frame.f_code.co_qualname == name
    return found


def statements_around() -> int:
    """How many statements of the user's are being traced now, one in another."""
    return frames_of("Statements.block")


UNROLLED = 32
"""A loop whose iterations are nested has so many of them at least, where it is what fills the stack."""
ROOM = 500
"""Calls that tracing may need room for on Python's stack."""


def calls_around() -> int:
    """How many calls are on Python's stack below the one that is traced."""
    frame, found, depth = sys._getframe(), 0, 0
    while frame.f_back is not None:
        frame, depth = frame.f_back, depth + 1
        if (frame.f_globals.get("__name__") or "").startswith("tracebuf."):
            found = depth
    return depth - found


def is_half_full() -> bool:
    """Whether half of the calls that Python's stack takes are running."""
    frame: FrameType | None = sys._getframe()
    for _ in range(sys.getrecursionlimit() // 2):
        if frame is None:
            return False
        frame = frame.f_back
    return True


def in_paths(error: Exception) -> int:
    """How many calls of an error are walks through what values may be by the path."""
    return sum("frontends.numpy.paths." in (f.f_globals.get("__name__") or "") for f, _ in walk_tb(error.__traceback__))


def came_of(error: BaseException | None, kind: type[BaseException]) -> bool:
    """Whether an error is one of a class, or was raised while one was handled."""
    while error is not None and not isinstance(error, kind):
        error = error.__context__
    return error is not None


def internal_error(error: Exception, loc: Location) -> TracebufError:
    """A bug of the tracer as an error, with the user's line, the function that raised, and the handler that was
    running; a refusal, where code is nested deeper than Python's stack is for who traces it."""
    if came_of(error, RecursionError) and (n := frames_of("Statements.unrolled")) > UNROLLED:
        reason = f"a loop over more than {n} items is traced item by item, each inside of the one before, since it may"
        return UnsupportedError(f"{reason} be left early", instead="loop over an array or a range", location=loc)
    if came_of(error, RecursionError) and (statements_around() > DEEP or came_of(error, UnsupportedError)):
        reason = "calls, loops and conditions are nested too deep to be traced, in a recursion perhaps"
        return UnsupportedError(reason, instead="use a loop, with an array as the stack", location=loc)
    if came_of(error, RecursionError) and (n := calls_around()) > (limit := sys.getrecursionlimit()) - ROOM:
        reason = f"Python's stack has no room to trace this: {n} of {limit} calls (sys.getrecursionlimit()) are running"
        rewrite = "call it once before, where fewer are running, or raise the limit"
        return UnsupportedError(reason, instead=rewrite, location=loc)
    if came_of(error, RecursionError) and in_paths(error) > MOST_IN_PATHS:
        reason = "what a value may be depends on too many paths, one in another"
        return UnsupportedError(reason, instead="keep such values in an array, or make the loops shorter", location=loc)
    trace, place, handler = error.__traceback__, "", ""
    while trace is not None:
        frame = trace.tb_frame
        module = frame.f_globals.get("__name__") or ""
        if frame.f_code is call_as.__code__:
            handler = name_of(frame.f_locals["handler"])
        elif module.partition(".")[0] not in ("numpy", *sys.stdlib_module_names):
            place = f"{module}.{frame.f_code.co_qualname}"
        trace = trace.tb_next
    of = "" if handler in ("", place) else f", of the handler {handler}"
    text = f"a bug of tracebuf: {type(error).__name__} in {place}{of} ({error})"
    return InternalError(render(text, "report it, please, with this line and its arguments' shapes and dtypes", loc))


def name_of(handler: Callable[..., Any]) -> str:
    """The module and name of a function, or of the class of a callable object."""
    handler = handler.func if isinstance(handler, partial) else handler
    of = handler if hasattr(handler, "__qualname__") else type(handler)
    return f"{of.__module__}.{of.__qualname__}"


def said(function: Callable[..., Any], *args: Any) -> str:
    """The message of what a call raises, in the words of this version of Python."""
    try:
        function(*args)
    except (ValueError, ZeroDivisionError) as error:
        return str(error)
    raise AssertionError("it raises nothing")


NO_ITEMS = said(max, ()).removeprefix("max")
"""What min and max say of nothing, after their name."""
BY_ZERO = {
    (name, kind): said(operation, kind(1), kind(0))
    for name, operation in {"Div": truediv, "FloorDiv": floordiv, "Mod": mod, "DivMod": divmod}.items()
    for kind in (int, float)
}
"""By operator and type: what Python says of a division by zero."""
