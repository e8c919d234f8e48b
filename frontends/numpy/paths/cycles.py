"""Containers that hold themselves, which no walk over containers gets to the end of.

Found when a walk has not come to its end, so that stores cost nothing; before a region is left, because that restores
what containers held before it. An argument that holds itself is refused before anything is traced (call/flatten).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tracebuf.frontends.numpy.numbers.lattice import parts
from tracebuf.frontends.numpy.record.by_identity import ByIdentity
from tracebuf.frontends.numpy.record.recorder import Recorder


class cycles_refused:
    """A context that refuses what recurses without end because a container was put into itself."""

    __slots__ = ("r",)

    def __init__(self, r: Recorder) -> None:
        self.r = r

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, *error: object) -> None:
        if kind is not None and issubclass(kind, RecursionError) and holds_itself(self.r.heap.known):
            refusal = self.r.refuse("a list, dict or object is put into itself", "keep its index, or a copy of it")
            raise refusal from None


def holds_itself(containers: Iterable[Any]) -> bool:
    """Whether one of the containers is among its own items, at any depth, on any path."""
    done: ByIdentity[Any, bool] = ByIdentity()

    def closes(x: Any) -> bool:
        if x not in done:
            done[x] = True  # as long as its items are looked at
            done[x] = any(closes(part) for part in parts(x) or ())
        return done[x]

    return any(closes(x) for x in list(containers))
