"""Lists, dicts and objects while a function is traced: which object is which, and what happens to them on which path.

A container is a Python list or dict, an object a `Record`. Traced code changes it in place; in a branch or a loop the
earlier contents are kept in a journal of the region, so that the other branch sees them, and so that the contents can
be joined and carried like the values of names (rules S8, S10, F2). Limitations: the length of a list and the keys of a
dict are known while tracing.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeGuard

import numpy as np

from tracebuf.frontends.numpy.call.arguments import ContainerNumber
from tracebuf.frontends.numpy.call.containers import attributes_of, made_of
from tracebuf.frontends.numpy.call.control import Control
from tracebuf.frontends.numpy.record.by_identity import ByIdentity
from tracebuf.frontends.numpy.record.regions import Frame, Regions
from tracebuf.frozen import frozen, plain
from tracebuf.location import Location


class Record:
    """An object of the user's class: the class and the attributes that were set.

    For an object of the caller's (`actual`) also the path by which it is found at each call, and in `base` the
    attributes that were read from it. Identity is the Python object's.
    """

    __slots__ = ("actual", "base", "fields", "kind", "path")

    def __init__(self, kind: type, actual: Any = None, path: Any = None) -> None:
        self.kind, self.actual, self.path = kind, actual, path
        self.fields: dict[str, Any] = {}
        self.base: dict[str, Any] = {}

    @property
    def known(self) -> dict[str, Any]:
        """The attributes as far as they are known."""
        return {**self.base, **self.fields}


class Groups:
    """The class of the objects that stand for a `defaultdict(list)` by run-time keys (interpreter/lists/groups)."""


@frozen(eq=False)
class GroupRef:
    """A list that is an item of such a dict: its key and number; None where nothing is known of it yet."""

    of: Record
    key: Any
    number: Any


class TextArray:
    """The class of the objects that stand for arrays of text (interpreter/lists/labels): `codes`, an array of ints, and
    `letters`, the table of the texts that these stand for. Each dtype has a class of its own."""

    dtype: np.dtype


class TextItem:
    """The class of those that stand for a text out of such an array: `code`, an int, and `letters`."""


def is_label(x: object) -> TypeGuard[Record]:
    """Whether a value stands for an array of text, or a text out of one."""
    return isinstance(x, Record) and issubclass(x.kind, (TextArray, TextItem))


def is_groups(x: object) -> TypeGuard[Record]:
    """Whether a value stands for such a dict."""
    return isinstance(x, Record) and x.kind is Groups


class RandomMade(random.Random):
    """The class of what stands for a random.Random that the function makes: the state's words, and what `gauss` keeps
    (functions/formulas/twister)."""


class RandomOfModule(random.Random):
    """The class of what stands for the generator of Python's `random` itself."""


def is_generator(x: object) -> TypeGuard[Record]:
    """Whether a value stands for a generator of Python's `random`, which stays in the trace."""
    return isinstance(x, Record) and (x.kind is RandomMade or x.kind is RandomOfModule)


@frozen(eq=False)
class DictView:
    """items(), keys() or values() of a dict (or of what stands for one: interpreter/lists/keyed)."""

    of: Any
    sort: str

    def items(self) -> list[Any]:
        """The items, keys or values that the view gives now."""
        return list(getattr(self.of, self.sort)())


class Changed(Control):
    """A loop changes containers (those with these labels) that it does not carry yet, and has to be traced again."""

    def __init__(self, labels: Iterable[Any]) -> None:
        self.labels = frozenset(labels)


@frozen(eq=False)
class Fixed:
    """A container that stays the same object where other containers are joined and carried item by item."""

    of: Any


@plain(eq=True, slots=True)
class HeapEntry:
    """What the heap knows of a container that may be changed: the region that owns it, the label that identifies it
    when a loop is traced again, the line that changed it last."""

    of: Any
    home: Frame
    label: Any
    changed: Location | None = None
    promises: list[Callable[[], None]] | None = None
    """Checks that are made where the loop is closed that carries it, while the body of such a one is traced."""


def items_of(x: Any) -> list[Any]:
    """The items of a container, in order."""
    if isinstance(x, (Record, dict)):
        return list(x.known.values() if isinstance(x, Record) else x.values())
    return [*x, *attributes_of(x).values()]


def with_items(like: Any, items: Iterable[Any]) -> Any:
    """A container of the kind and keys of `like`, with other items."""
    if isinstance(like, Record):
        made = Record(like.kind)
        made.fields.update(zip(like.fields, items))
        return made
    if isinstance(like, dict):
        return dict(zip(like, items))
    return made_of(type(like), list(items), tuple(attributes_of(like)))


def contents(x: Any) -> Any:
    """The current contents of a container: a tuple for a list, else a dict."""
    return tuple(x) if isinstance(x, list) else dict(x.fields if isinstance(x, Record) else x)


def without_methods(x: Any) -> Any:
    """A value with an object of an empty class of the same name in the place of each object: what Python says of it is
    what it says of an object without special methods."""
    if isinstance(x, Record):
        return type(x.kind.__name__, (), {"__module__": x.kind.__module__, "__qualname__": x.kind.__qualname__})()
    if type(x) in (list, tuple):
        return type(x)(map(without_methods, x))
    return {key: without_methods(item) for key, item in x.items()} if type(x) is dict else x


def is_of_class(x: Any, name: Any) -> bool:
    """Whether an attribute that was set was an attribute of the class until then: from now on the object has its
    own."""
    own = getattr(x.actual, "__dict__", None) if isinstance(x, Record) else None
    return own is not None and name not in own


def set_contents(x: Any, held: Any) -> None:
    """Replaces the contents of a container by `held`."""
    if isinstance(x, list):
        x[:] = held
        return
    inside = x.fields if isinstance(x, Record) else x
    inside.clear()
    inside.update(held)


class Heap:
    """The containers of one trace."""

    def __init__(self) -> None:
        self.known: ByIdentity[Any, HeapEntry] = ByIdentity()
        self.numbers: ByIdentity[Any, ContainerNumber] = ByIdentity()
        self.originals: list[tuple[Any, Any]] = []
        self.journals: dict[Frame, ByIdentity[Any, Any]] = {}
        self.taken: ByIdentity[Any, tuple[Frame, Any]] = ByIdentity()
        """Containers of which a change has begun: where, and their contents then."""
        self.fixed: ByIdentity[Any, Fixed] = ByIdentity()
        self.stand_ins: ByIdentity[Any, Any] = ByIdentity()
        self.merged: ByIdentity[Any, None] = ByIdentity()
        """Containers that another may represent from now on: they may not be changed any more."""
        self.origins: ByIdentity[Any, Any] = ByIdentity()
        """Of a container that stands for one or another where paths met: which object it is (paths/identity)."""
        self.joined_in: ByIdentity[Any, Frame] = ByIdentity()
        """Of such a container: the region where they met."""
        self.joins = 0
        self.read: Callable[[Record, str], Any] = lambda x, name: x.known.get(name, self)
        """An attribute of the caller's object as it is at the start; the heap itself where there is none."""

    # -- which is which
    def given(self, x: Any, number: ContainerNumber) -> None:
        """Registers a container of the caller's."""
        self.numbers[x] = number

    def begin(self, frame: Frame) -> None:
        """Notes the contents of the caller's containers before anything is traced."""
        for x, number in self.numbers.items():
            if not isinstance(x, tuple):
                self.known[x] = HeapEntry(x, frame, ("argument", number))
                self.originals.append((x, contents(x)))

    def stand_for(self, made: Any, x: Any) -> None:
        """Notes that `made` is the caller's container in the place of `x`, before anything is traced."""
        number = self.numbers[made] = self.numbers[x]
        self.known[made].label = ("argument", number)
        self.originals = [(made, contents(made)) if one is x else (one, before) for one, before in self.originals]

    def number(self, x: Any) -> ContainerNumber | None:
        """The number of the caller's container that `x` is; None for any other object."""
        return self.numbers.get(x)

    def own(self, x: Any, r: Regions) -> Any:
        """Registers a container that the trace made."""
        self.known[x] = HeapEntry(x, r.frame, r.loc)
        return x

    def find(self, x: Any) -> HeapEntry | None:
        """What is known of a container; None where it may not be changed."""
        return self.known.get(x)

    def label(self, x: Any) -> Any:
        """What identifies a container when it is traced again; None where it may not be changed."""
        known = self.find(x)
        return None if known is None else known.label

    def outlives(self, x: Any, r: Regions) -> bool:
        """Whether a container belongs to the region being recorded, or one around it."""
        known = self.find(x)
        return known is not None and any(known.home is f for f in r.frames())

    def merge(self, x: Any, r: Regions) -> None:
        """Notes that a container is copied where paths meet: it may not be changed any more. Not those in it: each of
        them is copied on its own, or stays the same object."""
        if self.outlives(x, r):
            self.merged[x] = None

    def merge_all(self, x: Any, r: Regions) -> None:
        """Notes that a container, and each one in it, is copied."""
        self.merge(x, r)
        for item in items_of(x) if isinstance(x, (tuple, list, dict, Record)) else ():
            self.merge_all(item, r)

    def fix(self, x: Any) -> Fixed:
        """The one leaf (`Fixed`) that stands for a container."""
        if (found := self.fixed.get(x)) is None:
            found = self.fixed[x] = Fixed(x)
        return found

    def same_object(self, x: Any, made: Any) -> Any:
        """Notes that `made` stands for the object that a container stands for, with what else is known of its items."""
        if made is not x:
            self.origins[made] = self.origins.get(x, x)
        return made

    def with_changed(self, x: Any, change: Callable[[Any], Any]) -> Any:
        """A container with its items changed, which stands for the same object; itself where none changes."""
        items = items_of(x)
        changed = list(map(change, items))
        return x if all(a is b for a, b in zip(items, changed)) else self.same_object(x, with_items(x, changed))

    # -- changes
    def may_change(self, x: Any, r: Regions) -> bool:
        """Whether a container may be changed here; if so, notes that it is."""
        known = self.find(x)
        if x in self.stand_ins:
            raise Changed([self.stand_ins[x]])
        if known is None or x in self.merged or not self.outlives(x, r):
            return False
        known.changed = r.loc
        self.note_change(x, r)
        return True

    def has_changed(self) -> bool:
        """Whether a container of the caller's has been changed."""
        return any(self.known[x].changed is not None for x, _ in self.originals)

    def note_change(self, x: Any, r: Regions) -> None:
        """Keeps the contents of a container that is about to change here, if it belongs to a region around this
        one."""
        if self.known[x].home is not r.frame:
            self.journals.setdefault(r.frame, ByIdentity()).setdefault(x, contents(x))

    def take(self, x: Any, r: Regions) -> None:
        """Notes that the contents are taken out of a container, to be changed and put back (`put_back`)."""
        self.taken[x] = r.frame, contents(x)

    def put_back(self, x: Any, r: Regions) -> None:
        """Notes that other contents are put into a container: where what has changed them may raise what is caught,
        that happens in a region that began in between, and around it the container has the old ones."""
        began, before = self.taken.pop(x, (r.frame, None))
        for frame in itertools.takewhile(lambda f: f is not began, r.frames()):
            self.journals.setdefault(frame, ByIdentity()).setdefault(x, before)

    def leave(self, frame: Frame) -> list[tuple[Any, Any]]:
        """The containers that a region has changed, with their contents at its end; their contents before it are
        restored."""
        found = []
        for x, before in self.journals.pop(frame, ByIdentity()).items():
            found.append((x, contents(x)))
            set_contents(x, before)
        return found

    def labelled(self, labels: Iterable[Any], r: Regions) -> Iterator[Any]:
        """The containers with these labels that regions around the present one have."""
        wanted, around = frozenset(labels), list(r.frames())
        for known in list(self.known.values()):
            if known.label in wanted and any(known.home is f for f in around):
                yield known.of
