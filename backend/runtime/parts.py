"""Where the machine code of a program comes from: the objects that it is linked of, as they lie in the cache on disk.

A library may take functions from others, which came with other programs (`pool`): what a later process needs is all of
them, each after those that it takes functions from.
"""

from __future__ import annotations

import time
import weakref
from collections.abc import Callable, Mapping, Sequence

from tracebuf import cache
from tracebuf.backend.llvm.jit import CompiledObject, Library, SpeedLevel, link_object
from tracebuf.backend.runtime.pool import Pool
from tracebuf.frozen import frozen

Imports = Mapping[str, tuple[str, ...]]
"""External symbols by kind, as in `KernelText`."""


@frozen(slots=False)
class Origin:
    """One object: its key in the cache on disk, what it imports, and the functions in it that other programs may take
    (`shared`)."""

    name: str
    key: bytes
    level: SpeedLevel
    imports: Imports
    shared: tuple[str, ...]


@frozen(slots=False)
class Part(Origin):
    """An object of a program, with the functions that it takes from others, by the number of the part that has them."""

    taken: Mapping[str, int]


@frozen(slots=False)
class Linked(Origin):
    """An object in memory, with the libraries that it takes functions from, which this keeps alive."""

    lenders: Mapping[str, Library]


_origins: weakref.WeakKeyDictionary[Library, Linked] = weakref.WeakKeyDictionary()


def note(library: Library, origin: Linked) -> None:
    """Says where a library comes from."""
    _origins[library] = origin


def origin_of(library: Library) -> Linked:
    return _origins[library]


def kept_parts(library: Library) -> tuple[Part, ...]:
    """The objects of a library, which are in the cache on disk from then on, its own last."""
    numbers: dict[Library, int] = {}
    found: list[Part] = []

    def visit(one: Library) -> int:
        if one not in numbers:
            o = _origins[one]
            taken = {s: visit(lender) for s, lender in o.lenders.items()}
            if cache.load(o.key, count=False) is None:  # compiled before there was this cache, dropped since, damaged
                cache.store(o.key, one.object.to_bytes())
            numbers[one] = len(found)
            found.append(Part(o.name, o.key, o.level, o.imports, o.shared, taken))
        return numbers[one]

    visit(library)
    return tuple(found)


def has_parts(library: Library) -> bool:
    """Whether the objects of a library are in the cache on disk."""
    return all(cache.load(key, count=False) is not None for key in objects_of(library))


def objects_of(library: Library) -> dict[bytes, Library]:
    """By their keys: a library, and those that it takes functions from."""
    found: dict[bytes, Library] = {}
    pending = [library]
    while pending:
        one = pending.pop()
        if (key := _origins[one].key) not in found:
            found[key] = one
            pending += _origins[one].lenders.values()
    return found


def linked(
    parts: Sequence[Part],
    pool: Pool,
    address: Callable[[tuple[str, ...]], int],
    load_object: Callable[[bytes], bytes | None] = cache.load,
) -> Library | None:
    """The library of the last of some parts, None where one is not there (any more); of the others, what this
    process has already serves. `address`: of an import; `load_object`: by its key."""
    made: dict[int, Library] = {}

    def load(k: int) -> Library | None:
        if k in made:
            return made[k]
        part = parts[k]
        found = {s: pool.lenders((s,)).get(s) or load(n) for s, n in part.taken.items()}
        lenders = {s: library for s, library in found.items() if library is not None}
        data = load_object(part.key)
        if data is None or len(lenders) < len(found):
            return None
        imports = {s: address(what) for s, what in part.imports.items()}
        imports |= {s: library.address(s) for s, library in lenders.items()}
        start = time.thread_time()
        compiled = CompiledObject.of_bytes(data, time.thread_time() - start)
        made[k] = library = link_object(compiled, "", part.name, imports, speed_level=part.level)
        note(library, Linked(part.name, part.key, part.level, part.imports, part.shared, lenders))
        pool.lend(library, part.shared)
        return library

    return load(len(parts) - 1)
