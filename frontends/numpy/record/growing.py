"""Lists of numbers whose length only the run time knows: what is known of them while tracing.

A list is a list of values while a function is traced, unless a loop that is traced once changes its length, or an index
that only the run time knows picks its items. Then the function is traced again, and where that list is made, an
object takes its place (a `Record` of a class that `growing_class` makes): columns of elements, which are longer than
the list mostly, and a length; branches and loops join and carry them like the attributes of any object.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any, TypeGuard

from tracebuf.errors import UnsupportedError
from tracebuf.frontends.numpy.call.control import Control
from tracebuf.frontends.numpy.record.heap import Record
from tracebuf.frontends.numpy.record.values import ArrayRef, Kind, PyInt, kind_of
from tracebuf.ir.dims import Dim, sub
from tracebuf.ir.facts import SizeFacts
from tracebuf.location import Location

LENGTH = "length"
"""The attribute that holds the length; the columns are the others, by their numbers."""


class GrowingList:
    """The class of the objects that stand for such lists; its subclasses say of which kind the items are."""

    items: Kind


@cache
def growing_class(kind: Kind) -> type[GrowingList]:
    """The class of growing lists of numbers of a kind; its name is for messages."""
    return type("list", (GrowingList,), {"items": kind})


def is_growing(x: object) -> TypeGuard[Record]:
    """Whether a value stands for a list whose length only the run time knows."""
    return isinstance(x, Record) and issubclass(x.kind, GrowingList)


def kind_in(x: Record) -> Kind:
    """The kind of the items of such a list."""
    kind: Kind = x.kind.items  # type: ignore[attr-defined]
    return kind


def columns(x: Record) -> list[Any]:
    """The columns of elements."""
    return [c for name, c in x.fields.items() if name != LENGTH]


def size(x: Record) -> Dim:
    """The length, as a size."""
    n = x.fields[LENGTH]
    return n.expr if isinstance(n, PyInt) else int(n)


def filled(facts: SizeFacts, x: Record) -> list[ArrayRef]:
    """The parts of the columns that hold the items."""
    n, found = size(x), []
    facts.assume_nonneg(n)
    for column in columns(x):
        facts.assume_nonneg(sub(column.shape[0], n))
        found.append(column.derive(lambda view: view.narrow(0, 0, 1, n)))
    return found


class Regrow(Control):
    """A list grows, or holds numbers, otherwise than was known: the function has to be traced again."""


class Growth:
    """What tracings of one call have found: the lists that grow, by where they are made, with the kinds of the numbers
    in them."""

    def __init__(self) -> None:
        self.known: dict[Location, frozenset[Kind]] = {}
        self.found: dict[Location, frozenset[Kind]] = {}
        """What is known from the next tracing on."""
        self.rolled: frozenset[Location] = frozenset()
        """Where lists are made item by item in a loop: of so many items, or of those that data select."""
        self.long: set[Location] = set()
        """Those of the next tracing."""
        self.made = False
        """Whether there is any such list in the program."""
        self.stuck = False
        """Whether the refusal that is on its way says that items are too many, or that data select them."""

        self.untraced: dict[Any, UnsupportedError] = {}
        """The functions of SciPy that are called as they are, and why they cannot be traced."""

    def leave(self, function: Any, refusal: UnsupportedError) -> None:
        """Notes that a function of SciPy's cannot be traced, unless growing lists are why: traces again."""
        news = {label: kinds for label, kinds in self.found.items() if kinds}
        if news != self.known or not self.long <= self.rolled:
            raise refusal
        self.untraced[function] = refusal.with_traceback(None)
        raise Regrow

    def note(self, label: Any, items: Iterable[Any]) -> bool:
        """Notes that the list made at a place grows, and what is in it; whether that is news. Lists of anything but
        numbers are left as they are."""
        kinds = list(map(kind_of, items))
        if not isinstance(label, Location) or None in kinds:
            return False
        old = self.found.get(label, frozenset())
        self.found[label] = old.union(k for k in kinds if k is not None)
        return self.found[label] != old

    def note_long(self, place: Location) -> None:
        """Notes that the list made at a place takes a loop, where a refusal says so."""
        if self.stuck:
            self.long.add(place)
        self.stuck = False

    def begin(self) -> bool:
        """Begins the next tracing; whether it knows anything new."""
        news = {label: kinds for label, kinds in self.found.items() if kinds}
        changed = news != self.known or not self.long <= self.rolled
        self.known, self.rolled, self.stuck = news, self.rolled | self.long, False
        return changed
