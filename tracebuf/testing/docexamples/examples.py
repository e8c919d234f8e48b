"""The examples of one function's docstring, run with the function bufferized beside eager.

The function is replaced, wherever it is known by its name, while its examples run; a call then runs as it is, and
bufferized on copies of the arguments, and results and arguments are compared. `plt` is missing, and what an example
raises ends that example only. Calls of what cannot be copied, as methods of random generators, are left out. What
depends on random numbers that the function draws itself is not told from wrong.
"""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import doctest
import functools
import io
import linecache
import sys
import types
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal

import numpy as np

from tracebuf.api import bufferize
from tracebuf.errors import TracebufError, UnsupportedError
from tracebuf.frozen import frozen
from tracebuf.testing.alarm import Alarm, alarm
from tracebuf.testing.ladder import different, leaves

__all__ = ["KINDS", "Call", "Kind", "examples_of", "public_functions", "worst"]

Kind = Literal["wrong", "refused", "slow", "called", "right"]
KINDS: tuple[Kind, ...] = ("wrong", "refused", "slow", "called", "right")
"""The worst first: a function is what the worst of its calls is. `called`: right, but the function ran as it is, as a
library's does that cannot be traced."""
TOLERANCE = 1e-9
Outcome = tuple[bool, Any]
"""Whether a call returned, and what it returned or raised."""


@frozen()
class Call:
    """How one call of a function went. `why`: why it is not traced, or what differs; `where`: file and line."""

    kind: Kind
    why: str = ""
    where: str = ""


def public_functions(module: types.ModuleType) -> Iterator[tuple[str, types.FunctionType]]:
    """The public functions of a module that are written in Python and have examples."""
    for name in getattr(module, "__all__", None) or [n for n in dir(module) if not n.startswith("_")]:
        function = getattr(module, name, None)
        if isinstance(function, types.FunctionType) and ">>>" in (function.__doc__ or ""):
            yield name, function


def examples_of(module: types.ModuleType, name: str, seconds: float = 60.0) -> list[Call]:
    """Runs the examples of one function of a module; how each of its calls went that they make, inside others too.

    A call whose arguments cannot be copied is left out, and so is one inside another.
    """
    function = getattr(module, name)
    calls: list[Call] = []
    beside = _beside(function, calls, seconds)
    names = {"np": np, name: beside, module.__name__.rpartition(".")[2]: module}
    try:
        examples = doctest.DocTestParser().get_examples(function.__doc__ or "", name)
    except ValueError:  # text that is no example
        return calls
    known = [m for m in list(sys.modules.values()) if isinstance(m, types.ModuleType)]
    homes = [m for m in known if m.__dict__.get(name) is function]
    for home in homes:
        setattr(home, name, beside)
    try:
        for k, example in enumerate(examples):
            file = f"<example {k} of {name}>"  # functions in it can be read, as in a notebook's cell
            linecache.cache[file] = len(example.source), None, example.source.splitlines(True), file
            with contextlib.suppress(Exception, Alarm, SystemExit), _quiet(), alarm(4 * seconds):
                exec(compile(example.source, file, "exec"), names)
    finally:
        for home in homes:
            setattr(home, name, function)
    return calls


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def _beside(function: types.FunctionType, calls: list[Call], seconds: float) -> Callable[..., Any]:
    """The function, which also runs bufferized, and notes how that went."""
    traced, bufferized = bufferize(fallback="error")(function), bufferize(function)
    inside = False

    @functools.wraps(function)
    def both(*args: Any, **kwargs: Any) -> Any:
        nonlocal inside
        try:
            mine = None if inside or _draws((args, kwargs)) else copy.deepcopy((args, kwargs))
        except Exception:
            mine = None
        if mine is None:
            return function(*args, **kwargs)
        inside, state = True, np.random.get_state()
        try:
            eager = _outcome(function, args, kwargs)
            calls.append(_judged((traced, bufferized), eager, (args, kwargs), mine, seconds, state))
        finally:
            inside = False
        if not eager[0]:
            raise eager[1]
        return eager[1]

    return both


def _draws(arguments: Any) -> bool:
    """Whether a method of a random generator is among them: a copy of it draws from the same generator."""
    held = (getattr(x, "__self__", None) for _, x in leaves(arguments) if callable(x))
    return any(isinstance(x, (np.random.Generator, np.random.RandomState)) for x in held)


def _outcome(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Outcome:
    try:
        return True, function(*args, **kwargs)
    except Exception as error:
        return False, error


def _judged(
    bufferized: Sequence[Callable[..., Any]], eager: Outcome, arguments: Any, mine: Any, seconds: float, state: Any
) -> Call:
    """How the bufferized function does beside eager's outcome; `mine`: the copies of the arguments. `bufferized`: where
    the first refuses, the next is called, with NumPy's random numbers in this `state` again."""
    refusal: UnsupportedError | None = None
    for function in bufferized:
        np.random.set_state(state)
        try:
            with alarm(seconds):
                own = _outcome(function, *mine)
        except Alarm:
            return Call("slow")
        if own[0] or not isinstance(own[1], UnsupportedError):
            break
        refusal = own[1]
    why = ("", "")
    if refusal is not None:
        place = refusal.location
        why = refusal.reason, f"{place.file}:{place.line}" if place else ""
        if own[1] is refusal:
            return Call("refused", *why)
    right: Kind = "right" if refusal is None else "called"
    if isinstance(own[1], TracebufError) and not own[0]:  # a bug, or what only the run time has found
        return Call("wrong", str(own[1]))
    if eager[0] != own[0] or not eager[0]:
        agree = eager[0] == own[0] and type(eager[1]) is type(own[1])
        return Call(right, *why) if agree else Call("wrong", f"{eager[1]!r:.150} became {own[1]!r:.150}")
    difference = _difference(eager[1], own[1]) or _difference(arguments, mine)
    return Call("wrong", difference) if difference else Call(right, *why)


def _difference(x: Any, y: Any) -> str:
    """How two values differ, or the empty string."""
    ours, theirs = list(leaves(x)), list(leaves(y))
    if [path for path, _ in ours] != [path for path, _ in theirs]:
        return f"{x!r:.150} became {y!r:.150}"
    return next((text for (_, a), (_, b) in zip(ours, theirs, strict=True) if (text := _of_leaves(a, b))), "")


def _of_leaves(x: Any, y: Any) -> str:
    if isinstance(x, np.ma.MaskedArray) and isinstance(y, np.ma.MaskedArray):
        masks = different(np.ma.getmaskarray(x), np.ma.getmaskarray(y), 0.0)
        return masks or different(x.filled(0), y.filled(0), TOLERANCE)
    if callable(x) and callable(y):  # which copies are not equal to
        return "" if type(x) is type(y) else f"{x!r:.150} became {y!r:.150}"
    if all(getattr(a, "dtype", None) == np.dtype(object) for a in (x, y)):
        return _difference(x.tolist(), y.tolist())
    if type(x) is type(y) and hasattr(x, "tocoo"):  # sparse
        return _difference(*(vars(matrix.tocoo()) for matrix in (x, y)))
    equality: Any = type(x).__eq__
    if type(x) is type(y) and (equality is object.__eq__ or dataclasses.is_dataclass(x)):  # which tell copies apart
        return _difference(vars(x), vars(y)) if hasattr(x, "__dict__") else ""
    narrow = getattr(x, "dtype", None) in (np.float16, np.float32, np.complex64)
    try:
        return different(x, y, 1e-5 if narrow else TOLERANCE)
    except Exception as error:  # of an equality that gives no truth
        return f"not compared: {error!r:.150}"


def worst(calls: Sequence[Call]) -> Call:
    """The call that stands for a function: the first of the worst kind."""
    return min(calls, key=lambda call: KINDS.index(call.kind))
