"""Maps from objects by identity: equal objects are different keys, and keys need not be hashable."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, MutableMapping
from typing import Any, ClassVar, TypeVar, overload

K = TypeVar("K")
V = TypeVar("V")
D = TypeVar("D")


class ByIdentity(MutableMapping[K, V]):
    """A map whose keys are objects. It keeps them alive, so that no other object gets the id of one."""

    __slots__ = ("_entries",)
    _id: ClassVar[Any] = staticmethod(id)

    def __init__(self, items: Iterable[tuple[K, V]] = ()) -> None:
        self._entries: dict[Any, tuple[K, V]] = {}
        for key, value in items:
            self[key] = value

    def __getitem__(self, key: K) -> V:
        return self._entries[self._id(key)][1]

    def __setitem__(self, key: K, value: V) -> None:
        self._entries[self._id(key)] = key, value

    def __delitem__(self, key: K) -> None:
        del self._entries[self._id(key)]

    def __contains__(self, key: object) -> bool:
        return self._id(key) in self._entries

    def __iter__(self) -> Iterator[K]:
        return (key for key, _ in self._entries.values())

    def __len__(self) -> int:
        return len(self._entries)

    @overload
    def get(self, key: K, /) -> V | None: ...
    @overload
    def get(self, key: K, /, default: D) -> V | D: ...
    def get(self, key: K, /, default: Any = None) -> Any:
        found = self._entries.get(self._id(key))
        return default if found is None else found[1]


class PairsByIdentity(ByIdentity[tuple[Any, Any], V]):
    """A map whose keys are pairs of objects, equal if both objects are the same."""

    __slots__ = ()
    _id = staticmethod(lambda pair: (id(pair[0]), id(pair[1])))


def distinct(objects: Iterable[K]) -> ByIdentity[K, None]:
    """The objects without duplicates, in the order of their first occurrence."""
    return ByIdentity((x, None) for x in objects)


def counted(objects: Iterable[K]) -> ByIdentity[K, int]:
    """How often each object occurs."""
    counts: ByIdentity[K, int] = ByIdentity()
    for x in objects:
        counts[x] = counts.get(x, 0) + 1
    return counts
