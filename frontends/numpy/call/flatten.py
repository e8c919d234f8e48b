"""Containers as arguments: tuples, lists, dicts, named tuples and objects of arrays and numbers.

The arrays and numbers in them are *leaves*, arguments like any other; what holds them is a *tree*, part of the key. A
container that occurs again is represented by its number, so that one object stays one. Objects are leaves of the tree:
their attributes are fetched where tracing reads them (`captures`).
"""

from __future__ import annotations

import random
import types
from abc import ABCMeta
from collections.abc import Collection, Iterator, Sequence
from enum import Enum
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from tracebuf.errors import UnsupportedError
from tracebuf.frontends.numpy.call.arguments import Leaf, Position, defers, is_static, key_of
from tracebuf.frontends.numpy.call.containers import is_named_tuple
from tracebuf.frontends.numpy.call.lookups import Globals
from tracebuf.frontends.numpy.call.static import exact
from tracebuf.location import Location

MAX_LEAVES = 1000
"""The most arrays and numbers that the containers of one call may hold."""
MAX_DEPTH = 40
"""How deep containers may be nested."""

Tree = tuple[Any, ...]
"""For each argument: None (a leaf), the number of a container met before, or (type, keys, one such for each item)."""
_LEAVES = frozenset((np.ndarray, float, int, bool, complex, str, type(None), np.float64, types.FunctionType))
"""The exact types of most leaves, for a quick test."""
_KEYS = (str, int, bool, float, type(None), bytes)
"""The exact types of the keys that a dict among the arguments may have."""


class FlatArguments(NamedTuple):
    """The arguments of a call without containers: the leaves, the first leaf of each argument, the tree (None
    if there are no containers), and the containers in the order in which they were met."""

    values: tuple[Any, ...]
    starts: tuple[Leaf, ...]
    tree: Tree | None
    containers: tuple[Any, ...]


def is_plain_tuple(x: Any) -> bool:
    """Whether a tuple is one value: of ints, bools and strings only (a shape, axes)."""
    return type(x) is tuple and all(type(i) in (bool, str) or (type(i) is int and abs(i) < 2**64) for i in x)


def is_object(x: Any) -> bool:
    """Whether an object's attributes can be read one by one: its class is written in Python, and does not define
    attribute access itself."""
    kind = type(x)
    return type(kind) in (type, ABCMeta) and has_plain_objects(kind)  # type: ignore[arg-type]


@lru_cache(maxsize=512)
def has_plain_objects(kind: type) -> bool:
    """Whether the attributes of a class's objects can be read one by one: it and its bases are written in Python, and
    none defines `__getattribute__` or `__new__`."""
    if kind in (types.SimpleNamespace, random.Random, Globals):
        return True
    package = kind.__module__.partition(".")[0]
    ours = kind is object or package in ("numpy", "scipy", "numba", "tracebuf", "logging")
    ours = ours or kind.__module__ == "inspect"  # signatures, which nothing changes
    ours = ours or (hasattr(kind, "__array__") and defers(kind))
    if ours or issubclass(kind, (BaseException, Enum, str, int, float, complex, type)):
        return False
    if "__getattribute__" in {n for c in kind.__mro__[:-1] for n in vars(c)} or getattr(kind, "__tracebuf__", False):
        return False
    new = next(vars(c)["__new__"] for c in kind.__mro__ if "__new__" in vars(c))
    plain_new = new is vars(object)["__new__"] or isinstance(new, staticmethod)
    return plain_new and all(is_written_in_python(c) for c in kind.__mro__[:-1])


def is_written_in_python(kind: type) -> bool:
    """Whether a class is of the form that a `class` statement makes, and not built in."""
    heap_type = bool(kind.__flags__ & 1 << 9)
    ours = "__dict__" in vars(kind) or "__slots__" in vars(kind) or kind.__bases__ != (object,)
    return heap_type and ours and isinstance(vars(kind).get("__module__"), str)


def is_container(x: Any) -> bool:
    """Whether an argument is a container."""
    kind = type(x)
    if type(kind) is type and kind in _LEAVES:
        return False
    if kind is list or kind is dict:
        return True
    if isinstance(x, tuple):
        return (kind is tuple and not is_plain_tuple(x)) or is_named_tuple(x)
    return is_object(x)


def flatten(values: Sequence[Any], static: Collection[Position] = ()) -> FlatArguments:
    """The leaves and the tree of a call's arguments; the arguments whose positions are in `static` are leaves, whatever
    they are."""
    found = _Flattening()
    starts, nodes = [], []
    for i, x in enumerate(values):
        starts.append(Leaf(len(found.leaves)))
        if i in static:
            found.leaf(x)
        nodes.append(None if i in static else found.node(x, 0))
    tree = tuple(nodes) if found.containers else None
    return FlatArguments(tuple(found.leaves), tuple(starts), tree, tuple(found.containers))


class _Flattening:
    """The state of one `flatten`."""
    def __init__(self) -> None:
        self.leaves: list[Any] = []
        self.containers: list[Any] = []
        self.numbers: dict[int, int] = {}  # by id: at each call, and `containers` holds them
        self.open: set[int] = set()

    def leaf(self, x: Any) -> None:
        self.leaves.append(x)

    def node(self, x: Any, depth: int) -> Any:
        if not is_container(x):
            if depth and len(self.leaves) > MAX_LEAVES:
                reason = f"an argument is a container of more than {MAX_LEAVES} arrays and numbers"
                raise UnsupportedError(reason, instead="pass np.asarray(x)")
            self.leaf(x)
            return None
        number = self.numbers.get(id(x))
        if number is not None:
            if number in self.open:
                reason = f"an argument is a {type(x).__name__} that contains itself"
                raise UnsupportedError(reason, instead="pass its items")
            return number
        if depth > MAX_DEPTH:
            raise UnsupportedError(f"an argument is nested more than {MAX_DEPTH} deep", instead="pass its items")
        self.numbers[id(x)] = len(self.containers)
        self.containers.append(x)
        keys = tuple(map(dict_key, x)) if type(x) is dict else None
        if keys is None and not isinstance(x, (tuple, list)):
            return type(x), None, ()
        self.open.add(number := self.numbers[id(x)])
        items = tuple(self.node(i, depth + 1) for i in (x if keys is None else list(x.values())))
        self.open.discard(number)
        return type(x), keys, items


def dict_key(key: Any) -> Any:
    """A key as a part of the specialisation's key: 1 is not True."""
    if not (type(key) in _KEYS or isinstance(key, Enum) or is_static(key)):
        if type(key) is not tuple:
            reason = f"an argument is a dict with a key of type {type(key).__name__}"
            raise UnsupportedError(reason, instead="use strings, ints or tuples of them as keys")
        return tuple(map(dict_key, key))
    return exact(key)


def leaf_names(names: Sequence[str], flat: FlatArguments) -> tuple[str, ...]:
    """The name of each leaf, as its user writes it: `params['w']`, `state.x`, `pair[0]`."""
    if flat.tree is None:
        return tuple(names)
    found: list[str] = []
    containers = iter(flat.containers)

    def name(label: str, node: Any) -> None:
        if node is None:
            found.append(label)
        elif not isinstance(node, int):
            for key, item in zip(labels_of(next(containers)), node[2]):
                name(label + key, item)

    for label, node in zip(names, flat.tree):
        name(label, node)
    return tuple(found)


def labels_of(x: Any) -> Iterator[str]:
    """The text by which each item of a container is reached: `[0]`, `['w']`, `.x`."""
    if isinstance(x, dict):
        return (f"[{k!r}]" for k in x)
    if is_named_tuple(x):
        return (f".{f}" for f in x._fields)
    return (f"[{i}]" for i in range(len(x))) if isinstance(x, (tuple, list)) else iter(())


def check_items(label: str, x: Any, loc: Location) -> None:
    """Raises UnsupportedError, with a place in the function, for an item that cannot be an argument."""
    try:
        flat = flatten((x,))
        for name, leaf in zip(leaf_names((label,), flat), flat.values):
            key_of(name, leaf)
    except UnsupportedError as error:
        reason = error.reason.replace("argument `", "`").replace("an argument is", f"`{label}` is")
        raise UnsupportedError(reason, instead=error.instead, location=loc) from None
