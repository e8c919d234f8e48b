"""Values as bytes and back: what an entry of the cache on disk holds beside machine code.

A format of its own, so that reading it can make nothing but what is listed here: None, bools, numbers, texts, bytes,
tuples, lists, dicts, dtypes, records (of the classes that a codec is made with), symbolic sizes, what has a name in a
module that is loaded (a class, a function), and what the caller knows a way to. Nothing is imported, called or
unpickled. It is written by `marshal`, which Python reads its own code with: no module is loaded for it, and it takes a
tenth of the time that JSON does.
"""

from __future__ import annotations

import marshal
import sys
import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from typing import Any

import numpy as np

from tracebuf.ir.dims import Expr, FloorDiv, Max, Min, Sym

DEEPEST = 60
"""How deep values may be nested."""

_HOMES = ("numpy", "scipy.special")
"""Where what says no module of its own is looked for."""


class NotEncodable(Exception):
    """A value that cannot be written down."""


class Stale(Exception):
    """What was written down cannot be made (any more)."""


def name_of(x: Any) -> tuple[str, str]:
    """The module and the name in it that lead to a class or a function. Raises NotEncodable where none do."""
    try:
        module, name = getattr(x, "__module__", None), getattr(x, "__qualname__", getattr(x, "__name__", None))
    except Exception as error:  # of a `__getattr__` of the user's
        raise NotEncodable(f"a {type(x).__name__}, which raises {error!r}") from None
    if module is None and isinstance(x, types.MethodDescriptorType):
        module = x.__objclass__.__module__
    if module is None:  # ufuncs, and what C code made: they are looked for where NumPy's user finds them
        homes = [m for m in _HOMES if m in sys.modules]
        module = next((m for m in homes if isinstance(name, str) and getattr(sys.modules[m], name, None) is x), None)
    for found in (name, getattr(x, "__name__", None) if type(x) is types.MethodType else None):  # np.random.normal
        if isinstance(module, str) and isinstance(found, str):
            try:
                if named(module, found) is x:
                    return module, found
            except Stale:
                pass
    raise NotEncodable(f"{x!r} has no name that leads to it")


def named(module: str, name: str) -> Any:
    """What has that name in a module that is loaded. Raises Stale where there is nothing."""
    found: Any = sys.modules.get(module)
    try:
        for part in name.split(".") if found is not None else ():
            found = vars(found)[part]
    except (KeyError, TypeError):
        found = None
    if found is None:
        raise Stale(f"there is no {module}.{name}")
    return found


class Codec:
    """Writes and reads values. `records`: the classes of records, each written by its fields under its name;
    `constants`: objects of which there is one each, by name."""

    def __init__(self, *records: type, constants: Mapping[str, Any]) -> None:
        self.constants = constants
        self.constant_names = {x: name for name, x in constants.items()}
        self.constant_kinds = frozenset(map(type, constants.values()))
        self.records: Mapping[str, type] = {kind.__name__: kind for kind in records}
        self.names: Mapping[type, str] = {kind: name for name, kind in self.records.items()}
        self.fields = {kind: tuple(f.name for f in fields(kind)) for kind in records}

    def encode(self, x: Any, way_to: Callable[[Any], Any] = lambda x: None) -> bytes:
        """The bytes of a value. `way_to`: the way to an object that has no name, as plain data (None where there is
        none). Raises NotEncodable for what is not listed above."""
        writer = _Writer(self, way_to)
        body = marshal.dumps(writer.of(x))
        ordered = sorted(writer.symbols, key=lambda s: s.serial)  # on which the order of terms depends
        symbols = [(s.serial, s.name, s.kind, s.lo, s.hi) for s in ordered]
        return marshal.dumps((symbols, list(writer.named), writer.ways, body))

    def named_in(self, data: bytes) -> list[tuple[str, str]]:
        """The modules and names that what `encode` gave leads to."""
        return [(module, name) for module, name in marshal.loads(data)[1]]

    def decode(self, data: bytes, object_at: Callable[[Any], Any] | None = None) -> Any:
        """The value of what `encode` gave, with symbols of its own; `object_at` goes a way. Raises Stale where a name
        or a way leads nowhere."""
        return self.decoded_later(data, object_at)()

    def decoded_later(self, data: bytes, object_at: Callable[[Any], Any] | None = None) -> Callable[[], Any]:
        """`decode`, but for the names and ways, which are gone now: what makes the value."""
        symbols, names, ways, body = marshal.loads(data)
        objects = [object_at(way) for way in ways] if object_at is not None else []
        reader = _Reader(self, {s[0]: Sym(*s[1:]) for s in symbols}, [named(*name) for name in names], objects)
        return lambda: reader.of(marshal.loads(body))


class _Writer:
    def __init__(self, codec: Codec, way_to: Callable[[Any], Any]) -> None:
        self.codec, self.way_to = codec, way_to
        self.ways: list[Any] = []
        self.symbols: set[Sym] = set()
        self.named: dict[tuple[str, str], int] = {}
        self.depth = 0

    def of(self, x: Any) -> Any:
        if x is None or type(x) in _PLAIN:
            return x
        self.depth += 1
        if self.depth > DEEPEST:
            raise NotEncodable("nested too deep")
        try:
            return self._of(x)
        finally:
            self.depth -= 1

    def _of(self, x: Any) -> Any:
        kind = type(x)
        if kind is tuple:
            return "t", *map(self.of, x)
        if kind is list:
            return "l", *map(self.of, x)
        if kind is dict:
            return "m", *((self.of(k), self.of(v)) for k, v in x.items())
        if kind in self.codec.constant_kinds and (constant := self.codec.constant_names.get(x)) is not None:
            return "k", constant
        if (name := self.codec.names.get(kind)) is not None:
            return "r", name, *(self.of(getattr(x, f)) for f in self.codec.fields[kind])
        if kind is Sym:
            self.symbols.add(x)
            return "s", x.serial
        if kind is Expr:
            return "e", *((c, *map(self.of, monomial)) for monomial, c in x.terms.items())
        if kind in _ATOMS:
            return "a", _ATOMS[kind], *map(self.of, x.args)
        if isinstance(x, np.dtype) and x.metadata is None and x.names is None:
            return "d", x.char if x.isnative and x.kind in "biufc" else x.str  # int64 and longlong are two
        if isinstance(x, np.generic) and x.dtype.kind in "biufc":
            return "g", x.dtype.str, x.tobytes()
        if x is Ellipsis or x is NotImplemented:
            return self._name("builtins", repr(x))
        if not callable(x):
            raise NotEncodable(f"a {kind.__name__}")
        try:
            return self._name(*name_of(x))
        except NotEncodable:
            if (way := self.way_to(x)) is None:
                raise
        self.ways.append(way)
        return "w", len(self.ways) - 1

    def _name(self, module: str, name: str) -> Any:
        return "n", self.named.setdefault((module, name), len(self.named))


class _Reader:
    def __init__(
        self, codec: Codec, symbols: Mapping[int, Sym], named: Sequence[Any], objects: Sequence[Any]
    ) -> None:
        self.codec, self.symbols, self.named, self.objects = codec, symbols, named, objects

    def of(self, x: Any) -> Any:
        if type(x) is not tuple:
            return x
        return getattr(self, f"_{x[0]}")(x[1:])

    def _t(self, items: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple([self.of(i) for i in items])

    def _l(self, items: tuple[Any, ...]) -> list[Any]:
        return [self.of(i) for i in items]

    def _m(self, items: tuple[Any, ...]) -> dict[Any, Any]:
        return {self.of(k): self.of(v) for k, v in items}

    def _r(self, items: tuple[Any, ...]) -> Any:
        kind = self.codec.records[items[0]]
        return kind(*[self.of(i) for i in items[1:]])

    def _k(self, items: tuple[Any, ...]) -> Any:
        return self.codec.constants[items[0]]

    def _s(self, items: tuple[int]) -> Sym:
        return self.symbols[items[0]]

    def _e(self, items: tuple[Any, ...]) -> Expr:
        return Expr({tuple([self.of(a) for a in monomial]): c for c, *monomial in items})

    def _a(self, items: tuple[Any, ...]) -> Any:
        return _MADE[items[0]](tuple([self.of(a) for a in items[1:]]))

    def _d(self, items: tuple[Any, ...]) -> np.dtype:
        made: np.dtype = np.dtype(items[0])
        return made

    def _g(self, items: tuple[Any, ...]) -> Any:
        return np.ndarray((), items[0], items[1])[()]

    def _n(self, items: tuple[int]) -> Any:
        return self.named[items[0]]

    def _w(self, items: tuple[int]) -> Any:
        return self.objects[items[0]]


_PLAIN = frozenset({bool, int, float, complex, str, bytes})
"""Of what `marshal` writes as it is."""
_ATOMS: Mapping[type, str] = {Min: "min", Max: "max", FloorDiv: "floordiv"}
_MADE: Mapping[str, type] = {name: kind for kind, name in _ATOMS.items()}
