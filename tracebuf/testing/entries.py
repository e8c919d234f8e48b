"""Both ways into a program compared: `TRACEBUF_CHECK_ENTRY=1` in the environment when tracebuf is imported.

Each call of a program that machine code may call is made twice: by machine code on clones of the arguments, then by
Python on the arguments themselves. Results, changes of arguments and errors must be the same; DisagreementError says
what is not. What machine code refuses is counted (`missed`), for Python takes it anyway.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tracebuf import api
from tracebuf.backend.runtime.callable import NativeCallable, by_vectorcall, point_at
from tracebuf.backend.runtime.entries import NativeCalls, Signature
from tracebuf.measure import clone_arguments

taken = missed = 0
"""How many calls machine code took, and did not."""


class DisagreementError(AssertionError):
    """Machine code and Python made different things of one call."""


class _Missed(Exception):
    """No entry took the call."""


@by_vectorcall
class _Probe(NativeCallable):
    """Something to call a program's entry by."""

    __slots__ = ("__weakref__",)

    def __call__(self, *args: Any) -> Any:
        raise _Missed


def _outcome(run: Callable[[], Any]) -> tuple[Any, Exception | None]:
    try:
        return run(), None
    except _Missed:
        raise
    except Exception as error:
        return None, error


def check(function: api.BufferizedFunction, spec: api.Specialization, values: Sequence[Any], run: Any) -> Any:
    """The result of `run`, which calls the program by Python with these values."""
    global taken, missed
    if not spec.settled:
        function._make_native(spec)
        point_at(function, 0, 0)
    if spec.entry is None or spec.entry.plan.walk is not None:  # its values are taken out of what is not here
        return run()
    clones, _ = clone_arguments(tuple(values), {})
    names = tuple(f"a{i}" for i in range(len(values)))
    probe = _Probe()
    calls = NativeCalls(probe, _Probe.__call__, _outcome, Signature(names, len(names), len(names)))
    calls.add(spec.entry)
    try:
        got, raised = _outcome(lambda: probe(*clones))
    except _Missed:
        missed += 1
        return run()
    finally:
        calls.clear()
    taken += 1
    spec.by_python -= 1  # one call, counted twice
    wanted, expected = _outcome(run)
    if type(raised) is not type(expected) or str(raised) != str(expected):
        raise DisagreementError(f"machine code: {raised!r}; Python: {expected!r}") from (raised or expected)
    for i, (x, y) in enumerate(zip(clones, values, strict=True)):
        same(x, y, f"argument {i}")
    if expected is not None:
        raise expected
    same(got, wanted, "result")
    if (mine := _given(got, clones)) != (its := _given(wanted, values)):
        raise DisagreementError(f"results are the arguments {mine} and {its}")
    return wanted


def _given(result: Any, values: Sequence[Any]) -> list[int]:
    """Which array argument each part of a result is, -1 for none."""
    places = {id(x): i for i, x in enumerate(values) if isinstance(x, np.ndarray)}
    return [places.get(id(x), -1) for x in parts(result)]


def parts(x: Any) -> list[Any]:
    """A value, and the items of containers."""
    items = x.values() if isinstance(x, dict) else x if isinstance(x, (tuple, list)) else ()
    return [x, *(p for item in items for p in parts(item))]


def steps(a: np.ndarray) -> list[int]:
    """An array's strides where there is something to step over."""
    return [s for s, n in zip(a.strides, a.shape) if n > 1 and a.size]


def same(x: Any, y: Any, where: str) -> None:
    """Raises DisagreementError where two values differ in anything that a program may see."""
    if type(x) is not type(y):
        raise DisagreementError(f"{where}: {x!r} and {y!r}")
    if isinstance(x, np.ndarray):
        seen = [(a.dtype, a.shape, steps(a), a.flags.writeable, a.tobytes()) for a in (x, y)]
        if seen[0] != seen[1]:
            raise DisagreementError(f"{where}: {x!r} and {y!r}")
    elif isinstance(x, (tuple, list, dict)):
        if len(x) != len(y) or (isinstance(x, dict) and list(x) != list(y)):
            raise DisagreementError(f"{where}: {x!r} and {y!r}")
        items = (x.values(), y.values()) if isinstance(x, dict) else (x, y)
        for i, (a, b) in enumerate(zip(*items)):
            same(a, b, f"{where}[{i}]")
    elif isinstance(x, (float, complex, np.generic, int, str)) and repr(x) != repr(y):
        raise DisagreementError(f"{where}: {x!r} and {y!r}")


def install() -> None:
    """From now on each call is checked."""
    api.WORTH = 0
    run = api.BufferizedFunction._run

    def both(self: Any, spec: Any, values: Sequence[Any], *rest: Any) -> Any:
        return check(self, spec, values, lambda: run(self, spec, values, *rest))

    api.BufferizedFunction._run = both  # type: ignore[method-assign, assignment]
