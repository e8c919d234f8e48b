"""The results of a call: from their plan (made by paths/results) to Python objects (rules C1, B3).

Results have eager's types, and are one object where eager's are. What the function has changed in the caller's lists,
dicts and objects is written into them after the call; if the call raises, nothing is written.
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Callable, Sequence
from typing import Any, NewType

import numpy as np

from tracebuf.frontends.numpy.call.arguments import ContainerNumber, Leaf
from tracebuf.frontends.numpy.call.conditions import Conditions
from tracebuf.frontends.numpy.call.containers import blank, made_of
from tracebuf.frozen import frozen, plain

ResultNumber = NewType("ResultNumber", int)
"""The number of a result of the compiled function."""
NO_RESULT = ResultNumber(-1)


@frozen(slots=False)
class ResultLeaf:
    """The plan of one result.

    `kind` is "argument" (the very object that is leaf `index`), "container" (the caller's container of that number),
    "array" or a scalar kind (result `index` of the compiled function), or "const" (`value`). Leaves with one `identity`
    are one object; `read_only` arrays are views that must not be stored to. "items" are those of a list of run-time
    length: the elements of result `index`; `value` holds their kind, and the result with the flags where that depends
    on the item. "rows" are those of one of arrays, "alternatives"
    those of one whose items are of several kinds: `value` holds the results with the flags of all kinds but the last,
    and a name and a result for each. "kept" is the text or object whose
    number is result `index`. "text" is a text out of an array of such (interpreter/lists/labels), whose code is result
    `index`; `value` is the result that has the letters. "text array" is an array of such, whose codes are result
    `index`; `value`: the result with the letters, the dtype, and the leaves of codes, and of arguments, of which it may
    be a view.
    """

    kind: str
    index: Leaf | ContainerNumber | ResultNumber = NO_RESULT
    value: Any = None
    identity: int = -1
    read_only: bool = False


SPREAD = ("*",)
"""The keys of a list, tuple, dict or set whose items are those that its one plan gives."""
SPREAD_PARTS = ("*", "*")
"""The keys of what each item of such a list is, where it consists of parts; its plans give those of all items."""


GROUPS = ("*", "*", "*")
"""The keys of a defaultdict(list) whose lists grow by run-time keys: its plans are those of its parts."""
POOL = ("*", "*", "*", "*")
"""The keys of what makes lists that are items of lists: its plans are those of where each begins, how many items it
has, and all items, if there are any."""
POOLED = ("*", "*", "*", "*", "*")
"""The keys of one such list: its plans are those of its number, and of what makes it."""
ALL_POOLED = ("*", "*", "*", "*", "*", "*")
"""The keys of what the items of a list are that are such lists."""


@frozen(slots=False)
class ChosenResult:
    """The plan of a path-dependent result: `then` where result `index` (an i1) is True, else `orelse` (rule S8)."""

    index: ResultNumber
    then: Any
    orelse: Any


@plain()
class NewContainer:
    """The plan of a new tuple, list, dict or object: its class, the keys of a dict or the names of attributes (a tuple
    has theirs after its items), the items. Plans of one `number`, for different paths, are one object."""

    kind: type
    keys: tuple[Any, ...] | None
    number: int
    items: tuple[Any, ...] = ()


@frozen(slots=False)
class ContainerWrite:
    """The contents of the caller's container of a number after the call: all of them (`whole`), or these items (plans;
    traced values before). With `SPREAD` for keys they are those that one plan gives."""

    number: ContainerNumber
    keys: tuple[Any, ...] | None
    items: tuple[Any, ...]
    whole: bool


ResultPlan = ResultLeaf | ChosenResult | NewContainer
"""How a result is built from those of the compiled function."""


@frozen(slots=False)
class CallPlan(Conditions):
    """How a program is called, where its conditions hold: the leaf that each of its arguments is; the leaves it stores
    to; how results are put together, and what containers hold then."""

    arguments: tuple[Leaf, ...]
    stored: tuple[Leaf, ...]
    plan: ResultPlan
    writes: tuple[ContainerWrite, ...]


def build_results(
    plan: ResultPlan,
    raw: Sequence[Any],
    values: Sequence[Any],
    containers: Sequence[Any] = (),
    writes: Sequence[ContainerWrite] = (),
) -> Any:
    """What the function returns, from the compiled function's results (rule C1: types, identity, shared memory); also
    brings the caller's containers up to date."""
    if isinstance(plan, ResultLeaf) and plan.kind == "const" and not writes:
        return plan.value
    building = _Building(raw, values, containers)
    result = building.build(plan)
    if writes:
        new = [[building.build(i) for i in w.items] for w in writes]
        for write, items in zip(writes, new):
            write_into(containers[write.number], write, items)
    return result


def write_into(x: Any, write: ContainerWrite, items: Sequence[Any]) -> None:
    """Brings a container of the caller's up to date."""
    if isinstance(x, list):
        x[:] = items[0] if write.keys == SPREAD else items
        return
    assert write.keys is not None
    if isinstance(x, dict):
        if write.whole:
            x.clear()
        x.update(items[0] if write.keys == SPREAD else zip(write.keys, items))
        return
    for name, item in zip(write.keys, items):
        object.__setattr__(x, name, item)


_PYTHON: dict[str, Callable[[Any], Any]] = {"int": int, "float": float, "complex": complex, "bool": bool}
"""By kind of a Python number: the function that converts a result to it."""


def as_map(x: np.ndarray) -> np.ndarray:
    """An array on a memmap's memory as NumPy's own view of the memmap is."""
    made = x.view(np.memmap)
    made.__array_finalize__(x.base)
    return made


def spread(kind: type, items: list[Any], default: Any = None) -> Any:
    """A list, tuple, dict or set whose items only the run time knows: pairs of a dict, tuples of a set's keys.
    `default`: a defaultdict's."""
    if kind is list:
        return items
    if kind is OrderedDict:  # which has a list of its own
        return OrderedDict(items)
    if issubclass(kind, dict):
        made: dict[Any, Any] = dict.__new__(kind)
        dict.update(made, items)
        if default is not None:
            made.default_factory = default  # type: ignore[attr-defined]
        return made
    return {key for key, in items} if kind is set else tuple(items)


def grouped(
    numbers: list[Any], items: list[Any], following: list[int], first: list[int], sizes: list[int]
) -> defaultdict[Any, list[Any]]:
    """A defaultdict(list): the numbers of lists by key, and of the lists the items, each with the place of the next."""
    made: defaultdict[Any, list[Any]] = defaultdict(list)
    for key, n in numbers:
        place, found = first[n], made[key]
        for _ in range(sizes[n]):
            found.append(items[place])
            place = following[place]
    return made


def items_in(elements: Any, kind: str, flags: Any, mixed: bool) -> list[Any]:
    """The items of a list of run-time length: NumPy's or Python's numbers, or (`mixed`) Python's where a flag holds."""
    if mixed:
        return [_PYTHON[kind](x.real if kind != "complex" else x) if f else x for x, f in zip(elements, flags)]
    return list(elements) if kind == "np" else elements.tolist()


def alternatives(flags: Sequence[Any], kinds: Sequence[tuple[str, Any]]) -> list[Any]:
    """The items of a list of run-time length that are of several kinds, or None; a flag says which one each is."""
    found = [items_in(elements, name, None, False) if name else None for name, elements in kinds]
    count = len(flags[0]) if flags else len(kinds[0][1])
    which = [next((k for k, flag in enumerate(flags) if flag[i]), len(flags)) for i in range(count)]
    return [None if (held := found[k]) is None else held[i] for i, k in enumerate(which)]


class _Pool:
    """Lists, and arrays of any length, that are items of lists, by number, each made once."""

    __slots__ = ("held", "made", "size", "start")

    def __init__(self, start: list[int], size: list[int], held: Sequence[Any] = ()) -> None:
        self.start, self.size, self.held = start, size, held
        self.made: dict[int, Any] = {}

    def at(self, n: int) -> Any:
        """List number n."""
        if n not in self.made:
            part = self.held[self.start[n] : self.start[n] + self.size[n]]
            self.made[n] = part.copy() if isinstance(part, np.ndarray) else list(part)
        return self.made[n]


class _Rows:
    """Dicts that are items of lists, by number, each made once; without keys, lists of items that are not alike."""

    __slots__ = ("held", "keys", "made")

    def __init__(self, keys: tuple[Any, ...] | None, held: Sequence[Any]) -> None:
        self.keys, self.held = keys, held
        self.made: dict[int, Any] = {}

    def at(self, n: int) -> Any:
        """Dict or list number n."""
        if n not in self.made:
            self.made[n] = list(self.held[n]) if self.keys is None else dict(zip(self.keys, self.held[n]))
        return self.made[n]


class _Building:
    """The objects of one call's results.

    Not functions within a function: one that names itself is a cycle, which would keep the memory of arguments and
    results from being freed, and used again, until the collector comes.
    """

    __slots__ = ("arrays", "built", "containers", "raw", "used", "values")

    def __init__(self, raw: Sequence[Any], values: Sequence[Any], containers: Sequence[Any]) -> None:
        self.raw, self.values, self.containers = list(raw), values, containers
        # ids as they are, not ByIdentity: this runs at each call, whose plan and results hold the objects
        self.used: dict[int, int] = {id(v): -1 for v in values}
        self.arrays: dict[int, Any] = {}
        self.built: dict[int, Any] = {}

    def build(self, p: Any) -> Any:
        if isinstance(p, ResultLeaf):
            return self._leaf(p)
        if isinstance(p, ChosenResult):
            return self.build(p.then if self.raw[p.index] else p.orelse)
        if p.number not in self.built:
            self.built[p.number] = self._container(p)
        return self.built[p.number]

    def _container(self, p: NewContainer) -> Any:
        items = [self.build(i) for i in p.items]
        if p.keys == GROUPS:
            return grouped(*items)
        if p.keys == POOL:
            return _Rows(*items) if p.kind is dict else _Pool(*items)
        if p.keys == POOLED:
            return items[1].at(items[0])
        if p.keys == ALL_POOLED:
            return [*map(items[1].at, items[0])]
        if p.keys == SPREAD:
            return spread(p.kind, *items)
        if p.keys == SPREAD_PARTS:
            return [made_of(p.kind, parts) for parts in zip(*items)]
        if p.keys is None:
            return items if p.kind is list else made_of(p.kind, items)
        if issubclass(p.kind, tuple):
            return made_of(p.kind, items, p.keys)
        if issubclass(p.kind, dict):
            held: dict[Any, Any] = dict.__new__(p.kind)  # the class may want other arguments
            dict.update(held, zip(p.keys, items))
            return held
        made: Any = blank(p.kind)
        for name, item in zip(p.keys, items):
            object.__setattr__(made, name, item)
        return made

    def _leaf(self, x: ResultLeaf) -> Any:
        if x.kind == "const":
            return x.value
        if x.kind == "argument":
            return self.values[x.index]
        if x.kind == "container":
            return self.containers[x.index]
        if x.kind == "kept":
            from tracebuf.running.kept import kept

            return kept(int(self.raw[x.index]))
        if x.kind in ("text", "text array"):
            if ~x.index not in self.built:
                self.built[~x.index] = self._text(x)
            return self.built[~x.index]
        if x.kind == "alternatives":
            flags, kinds = x.value
            return alternatives([self.raw[k] for k in flags], [(n, self.raw[k]) for n, k in kinds])
        value = self.raw[x.index]
        if x.kind == "items":
            return items_in(value, x.value[0], self.raw[x.value[1]], x.index != x.value[1])
        if x.kind == "rows":
            return value if x.value else [row.copy() for row in value]
        if x.kind == "array":
            if x.identity not in self.arrays:
                self.arrays[x.identity] = self._array(x, value)
            return self.arrays[x.identity]
        return _PYTHON[x.kind](value.real if x.kind != "complex" else value) if x.kind in _PYTHON else value

    def _text(self, x: ResultLeaf) -> Any:
        """A text out of an array, or an array of text."""
        from tracebuf.running.labels import array_of, item_of, view_of

        if x.kind == "text":
            return item_of(self.raw[x.value], int(self.raw[x.index]))
        letters, dtype, given = x.value
        part = self.raw[x.index]
        of = next((leaves for leaves in given if np.may_share_memory(self.values[leaves[0]], part)), None)
        if of is None:
            made = array_of(self.raw[letters], part, dtype)
        else:
            made = view_of(self.values[of[1]], self.values[of[0]], part)
        if x.read_only:
            made.flags.writeable = False
        return made

    def _array(self, x: ResultLeaf, value: Any) -> Any:
        """The array, or a view of it where eager has another object on the same memory, or a memmap."""
        if type(value.base) is np.memmap and type(value) is np.ndarray and value.size:  # NumPy's empty ones are none
            value = self._becomes(x, as_map(value))
        if self.used.setdefault(id(value), x.identity) != x.identity:
            value = self._becomes(x, value.view())
        if x.read_only and value.flags.writeable:
            value = self._becomes(x, value.view())
            value.flags.writeable = False
        return value

    def _becomes(self, x: ResultLeaf, value: Any) -> Any:
        """Makes `value` the object of a result."""
        self.raw[x.index] = value
        self.used[id(value)] = x.identity
        return value
