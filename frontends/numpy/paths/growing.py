"""Lists that a loop appends to and the function returns: their items are the rows of one array, made before the loop.

While the loop is traced, a stand-in (`Growing`) takes the list's place, of which nothing is asked but `append`. What is
appended, an array that the iteration has made, or a tuple of such, is stored to a row, and from there on its reference
is one to that row. A name that ends each iteration as what was appended begins the next one as the row before
(`Growth.rowed`). What does not fit is refused, and the loop unrolled.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tracebuf.frontends.numpy.paths.joins import plain, references
from tracebuf.frontends.numpy.record.by_identity import ByIdentity
from tracebuf.frontends.numpy.record.callees import NestedFunction
from tracebuf.frontends.numpy.record.heap import Record, items_of
from tracebuf.frontends.numpy.record.recorder import Recorder
from tracebuf.frontends.numpy.record.values import ArrayRef, Env, Storage, storages_of
from tracebuf.ir.dims import Dim


class Growing:
    """Stands for a list in the loop that appends to it."""

    __slots__ = ("growth", "number")

    def __init__(self, growth: Growth, number: int) -> None:
        self.growth, self.number = growth, number

    def append(self, value: Any) -> None:
        self.growth.append(self.number, value)


Form = Storage | tuple[Any, ...]
"""Of what is appended at one place: the array whose rows it becomes, or a tuple of such."""
Where = tuple[int, ...]
"""The number of a list, a place among what an iteration appends to it, and places in tuples."""


class Growth:
    """What one attempt at a loop of `count` iterations makes of the lists that it appends to."""

    def __init__(self, r: Recorder, count: int, lists: int) -> None:
        self.r, self.count, self.outer, self.inside = r, count, r.frame, r.frame
        self.forms: list[list[Form]] = [[] for _ in range(lists)]
        """By list, then by place in an iteration."""
        self.full = False
        self.place: Dim = 0
        self.last: list[list[Any]] = []
        self.left: set[Storage] = set()

    @property
    def tables(self) -> list[Storage]:
        """The arrays of which the items are rows."""

        def of(form: Form) -> list[Storage]:
            return [form] if isinstance(form, Storage) else [s for part in form for s in of(part)]

        return [s for forms in self.forms for form in forms for s in of(form)]

    def begin(self, place: Dim) -> None:
        """An iteration begins."""
        self.inside, self.place, self.last, self.left = self.r.frame, place, [[] for _ in self.forms], set()

    def append(self, number: int, value: Any) -> None:
        """Appends to a list."""
        forms, last = self.forms[number], self.last[number]
        if self.r.frame is not self.inside:
            raise self.r.refuse("a list gets items in some iterations only")
        if len(last) == len(forms):
            if self.full:
                raise self.r.refuse("a list gets more items in some iterations than in others")
            forms.append(self._form(value))
        self._take(forms[len(last)], value)
        last.append(value)

    def _form(self, value: Any) -> Form:
        """The form of a value, with arrays for its rows, made before the loop."""
        if type(value) is tuple and value:
            return tuple(map(self._form, value))
        if not self._is_new(value):
            raise self.r.refuse("a list gets other items than new arrays")
        r, like = self.r, value.storage
        with r.inside(self.outer):
            if not all(r.in_scope(r.facts.canon(d)) for d in like.shape):
                raise r.refuse("a list gets arrays of sizes that an iteration decides")
            shape, order = (self.count, *like.shape), (0, *(1 + k for k in like.order))
            return r.new_storage(like.element, shape, order, r.empty(like.element, shape, order))

    def _is_new(self, value: Any) -> bool:
        if not plain(value) or not value.is_whole or value.read_only:
            return False
        return value.storage in self.inside.locals and value.storage.arg is None and not value.storage.picked

    def _take(self, form: Form, value: Any) -> None:
        r = self.r
        if isinstance(form, tuple):
            if type(value) is not tuple or len(value) != len(form):
                raise r.refuse("a list gets items of several forms")
            for part, x in zip(form, value):
                self._take(part, x)
            return
        if not self._is_new(value) or value.element is not form.element or value.ndim + 1 != len(form.shape):
            raise r.refuse("a list gets arrays of several forms")
        same_order = tuple(1 + k for k in value.storage.order) == form.order[1:]
        if not same_order or not all(r.facts.equal(a, b) for a, b in zip(value.shape, form.shape[1:])):
            raise r.refuse("a list gets arrays of several forms")
        row = ArrayRef(form).at({0: self.place})
        r.store(row, r.read(value))
        self.left.add(value.storage)
        value.storage, value.view = row.storage, row.view

    def end(self, env: Env) -> None:
        """An iteration ends: as many items as in the first one, and nothing holds them but by what was appended."""
        if any(len(a) != len(b) for a, b in zip(self.forms, self.last)):
            raise self.r.refuse("a list gets fewer items in some iterations than in others")
        self.full = True
        journal = self.r.heap.journals.get(self.inside, ByIdentity())
        held = [*env.values(), *(x for x, _ in journal.items())]
        if any(s in self.left for x in references(held) for s in storages_of(x)):
            raise self.r.refuse("a view of what a list gets is kept")

    def appended(self, value: Any) -> Where | None:
        """Where the iteration has put this very object."""

        def find(x: Any) -> Where | None:
            if x is value:
                return ()
            parts = enumerate(x) if isinstance(x, (tuple, list)) else ()
            return next(((p, *rest) for p, y in parts if (rest := find(y)) is not None), None)

        return find(self.last)

    def row(self, where: Where, k: Dim) -> Any:
        """What iteration k has appended there."""
        form: Any = self.forms
        for p in where:
            form = form[p]
        return self._row(form, k)

    def _row(self, form: Form, k: Dim) -> Any:
        return ArrayRef(form).at({0: k}) if isinstance(form, Storage) else tuple(self._row(part, k) for part in form)

    def rows(self, number: int, iterations: int) -> list[Any]:
        """What the first iterations have appended to a list."""
        return [self._row(form, k) for k in range(iterations) for form in self.forms[number]]

    def ending(self, x: Sequence[Any], where: Where) -> Any:
        """Of a list that has the rows, what the last iteration has put there."""
        number, place, *parts = where
        found = x[place - len(self.forms[number])]
        for p in parts:
            found = found[p]
        return found


def hidden(r: Recorder, env: Env, lists: Sequence[list[Any]]) -> bool:
    """Whether nothing but names of this scope leads to some lists of the function's own."""
    if any(isinstance(x, NestedFunction) for x in env.values()):
        return False
    for x in lists:
        known = r.heap.find(x)
        if known is None or r.heap.number(x) is not None or known.home is not r.frame or x in r.heap.merged:
            return False
    around = [*env.values(), *r.outer_values(), *(known.of for known in r.heap.known.values())]
    inner = [y for x in around if isinstance(x, (tuple, list, dict, Record)) for y in all_in(x)]
    return not any(y is x for y in inner for x in lists)


def all_in(x: Any) -> list[Any]:
    """The values in a container, and those in containers among them."""
    found: list[Any] = []
    work, seen = [x], {id(x)}
    while work:
        for y in items_of(work.pop()):
            found.append(y)
            if isinstance(y, (tuple, list, dict, Record)) and id(y) not in seen:
                seen.add(id(y))
                work.append(y)
    return found
