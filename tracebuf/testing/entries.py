"""Both ways into a program compared: `TRACEBUF_CHECK_ENTRY=1` in the environment when tracebuf is imported.

Each call of a function that has programs for machine code is made twice: by machine code on clones of the arguments
(containers and objects are cloned as `measure` does), then by Python on the arguments themselves. Results, changes of
arguments and errors must be the same; DisagreementError says what is not. What machine code refuses is counted
(`missed`), for Python takes it anyway. Not checked: functions that change what they capture, which must not happen
twice; and calls inside of `unchecked`, for what they capture may be bound anew between the two.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from tracebuf import api
from tracebuf.backend.layout.entry_words import Entry
from tracebuf.backend.runtime.callable import NativeCallable, by_vectorcall, point_at
from tracebuf.backend.runtime.entries import NativeCalls
from tracebuf.measure import clone_arguments
from tracebuf.native_calls import kinds_in

taken = missed = 0
"""How many calls machine code took, and did not."""
_unchecked = 0


class DisagreementError(AssertionError):
    """Machine code and Python made different things of one call."""


class _Missed(Exception):
    """No entry took the call."""


@by_vectorcall
class _Probe(NativeCallable):
    """Something to call a program's entry by."""

    __slots__ = ("__weakref__",)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise _Missed


def _outcome(run: Callable[[], Any]) -> tuple[Any, Exception | None]:
    try:
        return run(), None
    except _Missed:
        raise
    except Exception as error:
        return None, error


def check(
    function: api.BufferizedFunction, args: tuple[Any, ...], kwargs: dict[str, Any], run: Callable[[], Any]
) -> Any:
    """The result of `run`, which calls the function by Python with these arguments."""
    global taken, missed
    point_at(function, 0, 0)
    native = function._native
    if native is None or any(map(stores_outside, function.specializations())) or changes_defaults(function):
        return run()
    clones, named = clone_arguments(args, kwargs)
    probe = _Probe()
    calls = NativeCalls(probe, _Probe.__call__, function.__wrapped__, native.signature)
    counts = [(entry, entry.calls) for entry in native.entries]
    for entry, _ in reversed(counts):
        calls.add(entry)
    try:
        got, raised = _outcome(lambda: probe(*clones, **named))
    except _Missed:
        missed += 1
        return run()
    finally:
        calls.clear()
    taken += 1
    for entry, before in counts:  # one call, counted once
        entry.memory[Entry.CALLS] = before
    wanted, expected = _outcome(run)
    if type(raised) is not type(expected) or str(raised) != str(expected):
        raise DisagreementError(f"machine code: {raised!r}; Python: {expected!r}") from (raised or expected)
    same((*clones, *named.values()), (*args, *kwargs.values()), "arguments")
    if expected is not None:
        raise expected
    same(got, wanted, "result")
    if (mine := _given(got, clones, named)) != (its := _given(wanted, args, kwargs)):
        raise DisagreementError(f"results are the arguments {mine} and {its}")
    return wanted


@contextmanager
def unchecked() -> Iterator[None]:
    """Calls are made once meanwhile, in all threads: by machine code where it takes them, as without the check."""
    global _unchecked
    _unchecked += 1
    try:
        yield
    finally:
        _unchecked -= 1


def stores_outside(spec: Any) -> bool:
    """Whether a program changes what it captures, which must not happen twice."""
    if not isinstance(spec, api.Specialization):
        return False
    call = spec.call
    if all(h.root is not None for h in call.hidden):  # attributes of arguments, which are cloned
        return False
    first = call.leaves_before(len(call.hidden))
    given = len(list(kinds_in((call.tree or ())[: -len(call.hidden)])))
    return any(call.related.same[i] >= first for i in spec.traced.stored) or any(
        w.number >= given for w in spec.traced.writes
    )


def changes_defaults(function: api.BufferizedFunction) -> bool:
    """Whether a program may change a default of the function's, which is no clone either."""
    of = function.__wrapped__
    defaults = (*(of.__defaults__ or ()), *(of.__kwdefaults__ or {}).values())
    specs = [s for s in function.specializations() if isinstance(s, api.Specialization)]
    changing = any(s.traced.stored or s.traced.writes for s in specs)
    return changing and not all(isinstance(x, (int, float, complex, str, np.generic, type(None))) for x in defaults)


def _given(result: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[int]:
    """Which array among the arguments each part of a result is, -1 for none."""
    arrays = [x for x in parts([*args, *kwargs.values()]) if isinstance(x, np.ndarray)]
    places = {id(x): i for i, x in reversed(list(enumerate(arrays)))}
    return [places.get(id(x), -1) for x in parts(result)]


def items_in(x: Any) -> dict[Any, Any]:
    """The items of a container, or the attributes of an object of a class of Python's."""
    if isinstance(x, (tuple, list)):
        return dict(enumerate(x))
    if isinstance(x, dict):
        return x
    own = getattr(x, "__dict__", None)
    return own if type(own) is dict and type(x).__flags__ & 1 << 9 and not isinstance(x, type) else {}


def parts(x: Any, within: tuple[int, ...] = ()) -> list[Any]:
    """A value, and what containers hold."""
    if id(x) in within:
        return []
    return [x, *(p for item in items_in(x).values() for p in parts(item, (*within, id(x))))]


def steps(a: np.ndarray) -> list[int]:
    """An array's strides where there is something to step over."""
    return [s for s, n in zip(a.strides, a.shape) if n > 1 and a.size]


def same(x: Any, y: Any, where: str, within: tuple[int, ...] = ()) -> None:
    """Raises DisagreementError where two values differ in anything that a program may see."""
    if x is y or id(x) in within:
        return
    if type(x) is not type(y):
        raise DisagreementError(f"{where}: {x!r} and {y!r}")
    if isinstance(x, np.ndarray):
        seen = [(a.dtype, a.shape, steps(a), a.flags.writeable, a.tobytes()) for a in (x, y)]
        if seen[0] != seen[1]:
            raise DisagreementError(f"{where}: {x!r} and {y!r}")
    elif isinstance(x, (float, complex, np.generic, int, str)):
        if repr(x) != repr(y):
            raise DisagreementError(f"{where}: {x!r} and {y!r}")
    else:
        mine, its = items_in(x), items_in(y)
        if list(mine) != list(its):
            raise DisagreementError(f"{where}: {x!r} and {y!r}")
        for key, item in mine.items():
            same(item, its[key], f"{where}[{key!r}]", (*within, id(x)))


def install() -> None:
    """From now on each call is checked."""
    api.NATIVE_AFTER, api.WORTH = 1, 0
    python = api.BufferizedFunction.__call__

    def both(self: Any, *args: Any, **kwargs: Any) -> Any:
        if _unchecked:
            return python(self, *args, **kwargs)
        try:
            return check(self, args, kwargs, lambda: python(self, *args, **kwargs))
        finally:
            point_at(self, 0, 0)

    api.BufferizedFunction.__call__ = both  # type: ignore[method-assign]
