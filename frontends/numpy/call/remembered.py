"""The containers from outside that a call captured (a module's table), remembered so that the next call need not look
at their items one by one: while they hold the very same objects, their leaves and keys are what they were.

Arrays among the items may have changed in place (`x.shape = ...`), so the geometry of each is compared. Containers
among the arguments are not remembered, for they would be kept alive.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import is_
from typing import Any, Generic, TypeVar

import numpy as np

from tracebuf.frontends.numpy.call.arguments import extent, is_matrix, signature
from tracebuf.frontends.numpy.call.flatten import FlatArguments, is_container
from tracebuf.frozen import frozen
from tracebuf.ir.ndarray import address

T = TypeVar("T")


def geometry(x: np.ndarray) -> tuple[Any, ...]:
    """What of an array may change while it stays the same object, its elements apart."""
    return address(x), x.shape, x.strides, x.flags.num, x.dtype.num, x.dtype, x.dtype.metadata is None


@frozen(eq=False)
class Remembered(Generic[T]):
    """One call: its containers with what they held, the classes of objects, the leaves in containers, the arrays among
    them with their ranges of memory; the signature of the values that are no containers, with the indices of each as
    value and as leaf; what was `found` for it."""

    tops: tuple[tuple[int, Any], ...]
    contents: tuple[tuple[Any, tuple[Any, ...], tuple[Any, ...]], ...]
    kinds: tuple[tuple[Any, type], ...]
    containers: tuple[Any, ...]
    leaves: tuple[Any, ...]
    arrays: tuple[tuple[np.ndarray, tuple[Any, ...]], ...]
    ranges: tuple[tuple[int, int], ...]
    plain: tuple[tuple[int, int], ...]
    signed: tuple[Any, ...]
    found: T

    @staticmethod
    def of(values: Sequence[Any], flat: FlatArguments, found: T) -> Remembered[T] | None:
        """What to remember of a call with these values (arguments, then captured ones); None where their signature does
        not tell their keys, or what is in containers may change its own."""
        tops = tuple((i, x) for i, x in enumerate(values) if is_container(x))
        plain = tuple((i, flat.starts[i]) for i, x in enumerate(values) if not is_container(x))
        signed = signature([values[i] for i, _ in plain])
        if signed is None or not tops or any(map(is_matrix, flat.values)):  # the shape of a matrix may change
            return None
        alone = {k for _, k in plain}
        held = [x for k, x in enumerate(flat.values) if k not in alone and isinstance(x, np.ndarray)]
        ranges = sorted((address(x) + e[0], address(x) + e[1]) for x in held for e in (extent(x),))
        contents = tuple((c, *held_by(c)) for c in flat.containers if isinstance(c, (list, dict)))
        kinds = tuple((c, type(c)) for c in flat.containers if not isinstance(c, (list, dict, tuple)))
        leaves = tuple(None if k in alone else x for k, x in enumerate(flat.values))
        arrays = tuple((x, geometry(x)) for x in held)
        return Remembered(tops, contents, kinds, flat.containers, leaves, arrays, tuple(ranges), plain, signed, found)

    def again(self, values: Sequence[Any]) -> list[Any] | None:
        """The leaves of a call with these values; None where they, or what the containers hold, are others."""
        if len(values) != len(self.tops) + len(self.plain):  # `*args`
            return None
        for i, x in self.tops:
            if values[i] is not x:
                return None
        for c, keys, items in self.contents:
            if len(c) != len(items):
                return None
            if type(c) is dict:
                if not all(map(is_, c, keys)) or not all(map(is_, c.values(), items)):
                    return None
            elif not all(map(is_, c, items)):
                return None
        for x, kind in self.kinds:
            if type(x) is not kind:
                return None
        for x, was in self.arrays:
            if geometry(x) != was:
                return None
        if signature([values[i] for i, _ in self.plain]) != self.signed:
            return None
        leaves = list(self.leaves)
        for i, k in self.plain:
            leaves[k] = values[i]
        return leaves

    def disjoint(self, leaves: Sequence[Any], extents: Sequence[tuple[int, int] | None]) -> bool:
        """Whether all arrays are pairwise disjoint in memory; `extents` are those of the leaves."""
        own = [(address(leaves[k]) + e[0], address(leaves[k]) + e[1]) for _, k in self.plain if (e := extents[k])]
        ranges = sorted((*self.ranges, *own))
        return all(a[1] <= b[0] for a, b in zip(ranges, ranges[1:]))


def held_by(container: Any) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """The keys and the items of a list or dict."""
    return (tuple(container), tuple(container.values())) if type(container) is dict else ((), tuple(container))
