"""How values from outside of a function are looked up again, where one can say how: names of modules and closures."""

from __future__ import annotations

import builtins
import sys
import types
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tracebuf.frontends.numpy.source.liveness import GLOBALS

Place = (
    tuple[dict[str, Any], str]
    | tuple[tuple[dict[str, Any], dict[str, Any]], str]
    | tuple[types.CellType, str]
    | tuple[type, str]
)
"""A dict, a dict and the one for what it has not, a cell of a closure, or a class and its bases; and the name there."""


NOTHING = object()
"""What is found where there is nothing."""


class Globals:
    """An object whose attributes are the names of a module, for functions that bind some of them."""


_GLOBALS: dict[int, Globals] = {}
"""By the id of a module's names, which its object holds."""


def globals_of(names: dict[str, Any]) -> Globals:
    """The object whose attributes are these names: always the same."""
    made = Globals()
    made.__dict__ = names
    return _GLOBALS.setdefault(id(names), made)


class Lookup:
    """Fetches a value; `place` is where it comes from, None where that cannot be said."""

    __slots__ = ()

    def __call__(self) -> Any:
        raise NotImplementedError

    def place(self) -> Place | None:
        return None

    def held(self, value: Any) -> Any:
        """What is at that place, while this fetches `value`."""
        return value


class FreeName(Lookup):
    """A name that a function does not bind: of a closure's cell, a global, or a builtin."""

    __slots__ = ("cells", "name", "names")

    def __init__(self, cells: Mapping[str, types.CellType], names: dict[str, Any], name: str) -> None:
        self.cells, self.names, self.name = cells, names, name

    def __call__(self) -> Any:
        if self.name in self.cells:
            return self.cells[self.name].cell_contents
        if self.name == GLOBALS:
            return globals_of(self.names)
        return self.names[self.name] if self.name in self.names else vars(builtins)[self.name]

    def place(self) -> Place | None:
        if self.name in self.cells:
            return self.cells[self.name], self.name
        if self.name == GLOBALS:
            return None
        return ((self.names, vars(builtins)), self.name) if type(self.names) is dict else None


class Attribute(Lookup):
    """An attribute of a module or another object."""

    __slots__ = ("name", "x")

    def __init__(self, x: Any, name: str) -> None:
        self.x, self.name = x, name

    def __call__(self) -> Any:
        return getattr(self.x, self.name)

    def place(self) -> Place | None:
        """The dict of a plain module, where it has the name itself."""
        found = (
            type(self.x) is types.ModuleType and self.name in vars(self.x) and not hasattr(types.ModuleType, self.name)
        )
        return (vars(self.x), self.name) if found else None


class Called(Lookup):
    """What a function of `functools.lru_cache` gives for these arguments, which it keeps."""

    __slots__ = ("args", "function", "named")

    def __init__(self, function: Callable[..., Any], args: Sequence[Any], named: Mapping[str, Any]) -> None:
        self.function, self.args, self.named = function, tuple(args), dict(named)

    def __call__(self) -> Any:
        return self.function(*self.args, **self.named)


class ItemsOf(Lookup):
    """What a set holds that another look-up fetches: one frozenset while it is the same."""

    __slots__ = ("lookup", "seen")

    def __init__(self, lookup: Callable[[], Any]) -> None:
        self.lookup = lookup
        self.seen: frozenset[Any] | None = None

    def __call__(self) -> Any:
        found = self.lookup()
        now = frozenset(found) if type(found) is set else found
        if self.seen is None:
            self.seen = now
        return self.seen if type(now) is frozenset and now == self.seen else now


class Loaded(Lookup):
    """A module that is imported by now, NOTHING where none has that name."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __call__(self) -> Any:
        return sys.modules.get(self.name, NOTHING)


class Absent(Lookup):
    """What another look-up fetches, NOTHING while it fails: a program may rely on that."""

    __slots__ = ("lookup",)

    def __init__(self, lookup: Lookup) -> None:
        self.lookup = lookup

    def __call__(self) -> Any:
        try:
            return self.lookup()
        except (LookupError, AttributeError, NameError, ValueError):
            return NOTHING


class OfClass(Lookup):
    """What a class or its bases hold; the function in a staticmethod or classmethod."""

    __slots__ = ("kind", "name")

    def __init__(self, kind: type, name: str) -> None:
        self.kind, self.name = kind, name

    def __call__(self) -> Any:
        found = self.held(None)
        return found.__func__ if isinstance(found, (staticmethod, classmethod)) else found

    def place(self) -> Place | None:
        return self.kind, self.name

    def held(self, value: Any) -> Any:
        """What is there, as it is; NOTHING where there is nothing."""
        for c in self.kind.__mro__:
            if self.name in (own := vars(c)):
                return own[self.name]
        return NOTHING
