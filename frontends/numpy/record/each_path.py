"""Stores through path-dependent arrays (`x = a if c else b; x += a`), and of what they hold, recorded for each array
that they may be (rules S2, S8).

Each path then reads and writes plain arrays and is in place wherever eager NumPy is. Recorded once for all paths, the
operands would be joined before and the result stored after, through a temporary. Where there would be many paths, that
is what happens.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, TypeVar
from weakref import WeakSet

from tracebuf.frontends.numpy.record.cond import count_paths, narrow
from tracebuf.frontends.numpy.record.raises import Raises
from tracebuf.frontends.numpy.record.recorder import Recorder
from tracebuf.frontends.numpy.record.values import ArrayRef, GuardedRef, storages_of
from tracebuf.ir.core import Value

HandlerT = TypeVar("HandlerT", bound=Callable[..., Any])
MOST_PATHS = 16
"""The most paths that an operation is recorded for."""
WRITERS: WeakSet[Callable[..., Any]] = WeakSet()
"""The handlers that store to their first argument."""


def stores(handler: HandlerT) -> HandlerT:
    """Decorates the handler of a function that stores to its first argument."""
    WRITERS.add(handler)
    return handler


def guards(written: Sequence[Any], read: Sequence[Any]) -> list[GuardedRef]:
    """The path-dependent references on which it depends whether an operation is in place."""
    targets = [x for x in written if isinstance(x, ArrayRef)]
    stored = {s for x in targets for s in storages_of(x)}
    found = [x for x in targets if isinstance(x, GuardedRef)]
    return found + [x for x in read if isinstance(x, GuardedRef) and not stored.isdisjoint(storages_of(x))]


def on_each_path(
    r: Recorder, written: Sequence[Any], read: Sequence[Any], run: Callable[[list[Any], list[Any]], object]
) -> bool:
    """Records `run(written, read)` in branches of an `scf.if` for each condition, with the arrays that the references
    are on that path; False, and nothing recorded, if none is path-dependent or the paths are too many."""
    if not any(isinstance(x, GuardedRef) for x in (*written, *read)):
        return False
    if not 1 < count_paths(guards(written, read), MOST_PATHS) <= MOST_PATHS:
        return False
    record(r, list(written), list(read), run)
    return True


def record(r: Recorder, written: list[Any], read: list[Any], run: Callable[[list[Any], list[Any]], object]) -> None:
    found = guards(written, read)
    if not found:
        run(written, read)
        return
    condition = found[0].condition
    by = [x for x in (*written, *read) if isinstance(x, GuardedRef) and x.condition is condition]
    joined = [sizes for x in by for sizes in x.joined]

    def side(k: int) -> list[Value]:
        for size, *on in joined:
            r.facts.assume_equal(size, on[k], entry=False)
        try:
            to, of = ([in_sizes(r, narrow(x, condition, k)) for x in refs] for refs in (written, read))
            record(r, to, of, run)
        except Raises as said:
            if said.placed:
                raise
            r.fail(said.error)
        return []

    r.either(condition, side)


def in_sizes(r: Recorder, x: Any) -> Any:
    """An array with its view in terms of the sizes on this path."""
    if not isinstance(x, ArrayRef) or isinstance(x, GuardedRef):
        return x
    offsets, strides, sizes = (
        tuple(map(r.facts.canon, part)) for part in (x.view.offsets, x.view.strides, x.view.sizes)
    )
    view = replace(x.view, offsets=offsets, strides=strides, sizes=sizes)
    return ArrayRef(x.storage, view, x.read_only)
