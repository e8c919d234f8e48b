"""What a `for` loop iterates over: ranges and arrays of any length, and `enumerate`, `zip` and `reversed` of them.

An iterable whose length is only known at run time is a `Range` or `Items`; tuples and lists become lists, and their
loops are unrolled, as those over items that are computed one after another are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import count, islice, takewhile
from typing import Any

from tracebuf.errors import UnsupportedError
from tracebuf.frontends.numpy.arrays.indexing import as_int, normalise, read_item, slice_range
from tracebuf.frontends.numpy.arrays.reshape import FlatIterator
from tracebuf.frontends.numpy.numbers.scalars import as_int_value, binary
from tracebuf.frontends.numpy.record.callees import SetOfOne
from tracebuf.frontends.numpy.record.conditions import both
from tracebuf.frontends.numpy.record.heap import DictView, Record
from tracebuf.frontends.numpy.record.raises import Raises
from tracebuf.frontends.numpy.record.recorder import Recorder
from tracebuf.frontends.numpy.record.refusals import name_of
from tracebuf.frontends.numpy.record.regions import Frame
from tracebuf.frontends.numpy.record.values import ArrayRef, PyBool, Scalar
from tracebuf.frozen import frozen, plain
from tracebuf.ir.dims import Dim, add, dim_max, dim_min, floordiv, mul, neg, sub
from tracebuf.location import Location
from tracebuf.ops.scalars import arith, division

UNROLLED = 512
"""The most items that a loop is unrolled for where its length is part of the key."""
ENDLESS = 2**62
"""The number of items of what never ends, or nearly: itertools.count, itertools.repeat."""


def is_endless(n: Dim) -> bool:
    """Whether a number of items stands for no end."""
    return isinstance(n, int) and n > 2**40


@frozen()
class Range:
    """range(start, stop, step). A step that is only known at run time is given with the number of iterations."""

    start: Dim
    stop: Dim
    step: Dim
    count: Dim | None = None

    @property
    def rising(self) -> bool:
        """Whether scf.for can count the range as it stands."""
        return isinstance(self.step, int) and self.step > 0

    def trips(self) -> Dim:
        """The number of iterations, if it is positive."""
        if self.count is not None:
            return self.count
        assert isinstance(self.step, int)
        span = sub(self.stop, self.start) if self.step > 0 else sub(self.start, self.stop)
        return span if abs(self.step) == 1 else floordiv(add(span, abs(self.step) - 1), abs(self.step))

    def bounds(self) -> tuple[Dim, Dim, int]:
        """The bounds of the scf.for: start, stop and step, or the iterations where the range counts down."""
        if self.rising:
            assert isinstance(self.step, int)
            return self.start, self.stop, self.step
        return 0, self.trips(), 1

    def rest(self) -> Range:
        """The range without its first int."""
        return Range(
            add(self.start, self.step), self.stop, self.step, None if self.count is None else add(self.count, -1)
        )

    def backwards(self) -> Range:
        """A range of its ints in reverse order."""
        last = add(self.start, mul(self.step, add(self.trips(), -1)))
        return Range(last, sub(self.start, self.step), neg(self.step), self.count)


@frozen(eq=False)
class Items:
    """`count` items, each made from its index; `held`: the values that they are made of; `acts`: whether making one may
    do more than that."""

    count: Dim
    get: Callable[[Dim], Any]
    held: Sequence[Any] = ()
    watched: Watched | None = None
    acts: bool = False


@frozen(eq=False)
class Watched:
    """The dict `of` that a loop goes through, whose items its body may change: `get` reads the item of then; `check`
    raises what Python does where there are more items or less, if the loop goes on. Of lists, that may get more items
    too: `more` says whether there is an item k now; `check` traces again, where they change, with such a loop."""

    of: Any
    get: Callable[[Dim], Any]
    check: Callable[[bool | PyBool], None]
    more: Callable[[Dim], bool | PyBool] | None = None
    lists: tuple[Record, ...] = ()
    """These lists."""


class LiveItems(list[Any]):
    """The items of a list or dict, which the body of a loop over it may change: as a list, those that are there now;
    `at(k)` gives item k when its turn comes, as Python's iterators do, or nothing where the loop is over."""

    __slots__ = ("at",)

    def __init__(self, at: Callable[[int], tuple[Any, ...]]) -> None:
        super().__init__()
        while one := at(len(self)):
            self.append(one[0])
        self.at = at

    @staticmethod
    def of_dict(r: Recorder, of: dict[Any, Any], sort: str) -> LiveItems:
        """The keys, values or items of a dict, whose size may not change meanwhile (RuntimeError); nor may its keys, of
        which CPython meets some."""
        keys, met = list(of), iter(of)

        def at(k: int) -> tuple[Any, ...]:
            nonlocal met
            if len(of) != len(keys):
                raise Raises(RuntimeError("dictionary changed size during iteration"))
            met = iter(of) if k == 0 else met
            if list(of) != keys or key_is_back(met):
                raise r.refuse("the keys of a dict change in a loop over it", "loop over a copy: for k in list(d)")
            if k == len(keys):
                return ()
            return (keys[k] if sort == "keys" else of[keys[k]] if sort == "values" else (keys[k], of[keys[k]]),)

        return LiveItems(at)


def key_is_back(met: Iterator[Any]) -> bool:
    """Whether the next key of a dict is one that was deleted and set again after its turn (RuntimeError in Python)."""
    try:
        next(met, None)
    except RuntimeError:
        return True
    return False


Iterable = list[Any] | Range | Items | Iterator[Any]
"""What a loop iterates over: known items, a length that is only known at run time, or items that are computed one after
another, each when its turn comes, by one of Python's own iterators."""


def held_by(it: Iterable) -> list[Any]:
    """The values that a loop over it goes on to look at; `LiveItems` look at what their container holds then."""
    if isinstance(it, Items):
        return list(it.held)
    return list(it) if isinstance(it, list) and not isinstance(it, LiveItems) else []


def item_at(items: Sequence[Any] | Iterator[Any], k: int) -> tuple[Any, ...]:
    """The item of a loop's iteration k, as the iterations before it have left it; empty where the loop is over."""
    if isinstance(items, Iterator):
        return tuple(islice(items, 1))
    return items.at(k) if isinstance(items, LiveItems) else tuple(items[k : k + 1])


@plain()
class Steps:
    """An iterator of a `Range` or `Items`: whether there is another item is proved, or assumed by a guard."""

    r: Recorder
    it: Range | Items
    taken: int = 0

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        more = self.r.ask_nonneg(sub(length(self.r, self.it), self.taken + 1))
        if more is None or (more and self.taken == UNROLLED):
            raise too_many(self.r, None if more is None else length(self.r, self.it))
        if not more:
            check_end(self.it)
            raise StopIteration
        self.taken += 1
        return item(self.it, self.taken - 1)

    def rest(self) -> Items:
        """What is left."""
        return Items(sub(length(self.r, self.it), self.taken), lambda i: item(self.it, add(i, self.taken)))


@plain(slots=True)
class OneShotIterator:
    """An iterator: `kind` is the name of its type, `make` gives its items when it is first consumed, with True as items
    that are computed one by one, so that others may take some too.

    Not to be consumed in a loop around which it was made, nor after a branch in which it was consumed.
    """

    kind: str
    make: Callable[[bool], Iterable]
    frame: Frame
    gone: bool = False
    """Whether it is unknown what is left of it."""
    left: Iterator[Any] | None = None
    """What is left of it, once it is consumed."""
    source: Any = None
    """For a generator expression: its node, its scope, its home environment, and its first iterable."""
    place: Location | None = None
    """Where it was made, if it may be an object that says how many items were taken (interpreter/lists/cursors)."""

    def take(self, r: Recorder) -> Iterable:
        """All items that it has not yet given, for one loop over them."""
        if self.left is None:
            self.claim(r)
            it = self.make(False)
            if not isinstance(it, Iterator):
                self.gone = True
                return it
            self.left = it
        if not isinstance(self.left, Steps):
            return self.pull(r)
        self.claim(r)
        self.gone = True
        return self.left.rest()

    def pull(self, r: Recorder, all_of_them: bool = False) -> Iterator[Any]:
        """Its items one by one, as others that consume it leave them; where all will be taken, with their number as
        part of the key."""
        self.claim(r)
        if self.left is None:
            self.left = pulled(r, self.make(True))
        if all_of_them and isinstance(self.left, Steps):
            self.left = each(r, self.left.rest())
        return self.steps(r)

    def steps(self, r: Recorder) -> Iterator[Any]:
        """What is left, one by one."""
        while True:
            self.claim(r)
            if not (one := tuple(islice(self.left or (), 1))):
                self.gone = self.kind == "zip"
                return
            yield one[0]

    def claim(self, r: Recorder) -> None:
        """Notes where the iterator is consumed."""
        inside = list(r.frames())
        around = inside[: inside.index(self.frame)] if self.frame in inside else inside
        left = self.left is not None and self.frame not in inside
        if self.gone or left or any(f.kind == "loop" for f in around):
            self.note_stepped(r)
            reason = f"this {self.kind} may have given out its items before"
            raise r.refuse(reason, "make a list of it before: items = list(...)")
        self.frame = r.frame

    def note_stepped(self, r: Recorder) -> None:
        """Notes that items are taken here and there."""
        if self.place is not None:
            r.growth.found_stepped.add(self.place)

    def exhaust(self) -> None:
        """Notes that it has given all its items; a `zip` takes more of its first iterator when it is asked again."""
        self.gone, self.left = self.kind == "zip", iter(())


def in_order(r: Recorder, x: set[Any] | frozenset[Any]) -> bool:
    """Whether the order of a set's items is certain: the smallest table of a set has a place for each int below 8."""
    return len(x) < 2 or x in r.ordered_sets or all(type(k) is int and 0 <= k < 8 for k in x)


def iterable_of(r: Recorder, x: Any) -> Iterable | None:
    """What a loop over x iterates over; None for what cannot be iterated over while tracing. TypeError as Python's."""
    if isinstance(x, OneShotIterator):
        return x.take(r)
    if isinstance(x, (Range, Items, LiveItems, Iterator)):
        return x
    if isinstance(x, list):
        return LiveItems(lambda k: tuple(x[k : k + 1]))
    if isinstance(x, dict):
        return LiveItems.of_dict(r, x, "keys")
    if isinstance(x, DictView):
        return LiveItems.of_dict(r, x.of, x.sort)
    if isinstance(x, (tuple, str)) or (isinstance(x, (set, frozenset)) and in_order(r, x)):
        return list(x)
    if isinstance(x, SetOfOne):
        return [x.item]
    if isinstance(x, range):
        return Range(x.start, x.stop, x.step)
    if isinstance(x, ArrayRef):
        if not x.ndim:
            raise Raises(TypeError("iteration over a 0-d array"))
        return Items(x.shape[0], lambda i: read_item(r, x, as_int_value(i)), (x,))
    if isinstance(x, FlatIterator):
        return Items(x.size, x.load, (x.ref,))
    if isinstance(x, Scalar) or x is None or isinstance(x, (bool, int, float, complex)):
        raise Raises(TypeError(f"'{name_of(x)}' object is not iterable"))
    if isinstance(x, Record) and not hasattr(x.kind, "__iter__") and not hasattr(x.kind, "__getitem__"):
        raise Raises(TypeError(f"'{x.kind.__name__}' object is not iterable"))
    return None


def length(r: Recorder, it: list[Any] | Range | Items) -> Dim:
    """The number of items."""
    if isinstance(it, list):
        return len(it)
    if isinstance(it, Items):
        return it.count
    trips = it.trips()
    return trips if r.ask_nonneg(trips) else r.facts.simplify(dim_max(trips, 0))


def item(it: list[Any] | Range | Items, i: Dim) -> Any:
    """The item at an index (of a list, at a known one)."""
    if isinstance(it, Range):
        return as_int_value(add(it.start, mul(it.step, i)))
    if isinstance(it, Items):
        return it.get(i)
    assert isinstance(i, int)
    return it[i]


def pulled(r: Recorder, it: Iterable) -> Iterator[Any]:
    """The items one after another, each as its turn comes."""
    if isinstance(it, list):
        return (one[0] for one in takewhile(bool, (item_at(it, k) for k in count())))
    return it if isinstance(it, Iterator) else Steps(r, it)


def each(r: Recorder, it: Iterable) -> Iterator[Any]:
    """All items one after another, each as its turn comes, where their number is known or may be made part of the
    key."""
    if isinstance(it, (list, Iterator)):
        return pulled(r, it)
    total = r.facts.canon(length(r, it))
    if is_endless(total):
        return Steps(r, it)
    n = total if isinstance(total, int) else None
    if n is None and r.entry_only(total) and not (r.growth.sized and r.in_this_call(total)):
        n = r.static_int(total, "the length of this")
    if n is None or n > UNROLLED:
        raise too_many(r, n)
    return counted(it, n)


def counted(it: Range | Items, n: int) -> Iterator[Any]:
    """The first n items, which are all."""
    for k in range(n):
        yield item(it, k)
    check_end(it)


def check_end(it: Range | Items) -> None:
    """What Python looks for where the items seem to be over: whether there are more now."""
    if isinstance(it, Items) and it.watched is not None:
        it.watched.check(True)


def too_many(r: Recorder, n: Dim | None) -> UnsupportedError:
    """The refusal of items whose number is not known, or too large."""
    r.growth.stuck = True
    reason = "the length of this is only known at run time" if n is None else f"this has {n} items to unroll"
    return r.refuse(reason, "store into an array in a for loop")


def enumerated(r: Recorder, it: Iterable, start: Any = 0) -> Iterable:
    """enumerate(it, start)."""
    if isinstance(it, Iterator):
        return ((binary(r, "Add", start, i), x) for i, x in enumerate(it))
    if isinstance(it, list):
        return LiveItems(lambda i: tuple((binary(r, "Add", start, i), x) for x in item_at(it, i)))
    return together(r, length(r, it), lambda get, i: (binary(r, "Add", start, as_int_value(i)), get(it, i)), [it])


def zipped(r: Recorder, its: Sequence[Iterable], strict: bool = False) -> Iterable:
    """zip(*its, strict=strict)."""
    plain = [it for it in its if not isinstance(it, Iterator)]
    counts = [length(r, it) for it in plain]
    lists = [it for it in plain if isinstance(it, list)]
    if len(plain) < len(its) or (strict and lists and len(set(counts)) > 1):
        return strictly(zip(*(pulled(r, it) for it in its), strict=strict))
    for n in counts[1:] if strict else ():
        r.require_equal(counts[0], n, "ValueError", "zip() arguments have different lengths")
    if len(lists) == len(plain):

        def at(k: int) -> tuple[Any, ...]:
            found = [item_at(it, k) for it in lists]
            return (tuple(one[0] for one in found),) if found and all(found) else ()

        return LiveItems(at)
    if lists:
        least = min(map(len, lists))
        for n in counts:
            if r.ask_nonneg(sub(n, least)) is not True:
                r.static_int(n, "the length of an item of zip")
        return beside_lists(r, plain)
    for k, it in enumerate(plain):
        acts = isinstance(it, Items) and it.acts
        if acts and not all(r.ask_nonneg(sub(n, counts[k])) for n in counts[k + 1 :] if not is_endless(n)):
            reason = "zip of items that calls make, whose second iterable ends first: it makes one more than it gives"
            raise r.refuse(reason, "make a list of them before: list(...)")
    ends = [n for n in counts if not is_endless(n)] or counts
    each_of = [it for it in plain if not isinstance(it, list)]
    return together(r, r.facts.simplify(dim_min(*ends)), lambda get, i: tuple(get(it, i) for it in each_of), each_of)


def below(r: Recorder, k: Dim, n: Dim) -> bool | PyBool:
    """Whether there is an item k of n."""
    return k < n if isinstance(k, int) and isinstance(n, int) else PyBool(r.compare("slt", k, n))


def together(
    r: Recorder, n: Dim, of: Callable[[Callable[[Any, Dim], Any], Dim], Any], its: Sequence[Range | Items]
) -> Items:
    """n items, each made of one of each of these, by what gets it; watched where lists are that may get more."""
    watched = [w for it in its if isinstance(it, Items) and (w := it.watched) is not None and w.more is not None]
    held = [x for it in its for x in held_by(it)]
    lists = tuple(x for w in watched for x in w.lists)
    acts = any(isinstance(it, Items) and it.acts for it in its)
    if not watched:
        return Items(n, lambda i: of(item, i), held, acts=acts)

    def now(it: Range | Items, i: Dim) -> Any:
        return it.watched.get(i) if isinstance(it, Items) and it.watched in watched else item(it, i)

    def check(goes_on: bool | PyBool) -> None:
        for w in watched:
            w.check(goes_on)

    def more(i: Dim) -> bool | PyBool:
        known, unknown = True, []
        for it in its:
            if isinstance(it, Items) and it.watched in watched and it.watched.more is not None:
                found = it.watched.more(i)
            else:
                found = below(r, i, length(r, it))
            if isinstance(found, bool):
                known = known and found
            else:
                unknown.append(found.value)
        return PyBool(both(r, *unknown)) if known and unknown else known

    return Items(n, lambda i: of(item, i), held, Watched(None, lambda i: of(now, i), check, more, lists))


def strictly(it: Iterator[Any]) -> Iterator[Any]:
    """The items of a zip, and what it raises where one of its iterators ends before another."""
    try:
        yield from it
    except ValueError as error:
        if str(error).startswith("zip() argument"):
            raise Raises(error) from None
        raise


def beside_lists(r: Recorder, its: Sequence[list[Any] | Range | Items]) -> Iterator[tuple[Any, ...]]:
    """zip of lists and others: the lists say first where it ends."""
    others = [it for it in its if not isinstance(it, list)]
    for k in count():
        found = {n: item_at(it, k) for n, it in enumerate(its) if isinstance(it, list)}
        if not all(found.values()):
            return
        if ended := [it for it in others if not r.ask_nonneg(sub(length(r, it), k + 1))]:
            check_end(ended[0])
            return
        yield tuple(found[n][0] if n in found else item(it, k) for n, it in enumerate(its))


def reversed_of(r: Recorder, it: Iterable) -> Iterable:
    """reversed(it)."""
    assert not isinstance(it, Iterator)
    if isinstance(it, LiveItems):
        last = len(it) - 1
        return LiveItems(lambda k: it.at(last - k) if k <= last else ())
    if isinstance(it, list):
        return it[::-1]
    if isinstance(it, Range):
        return it.backwards()
    return Items(it.count, lambda i: it.get(sub(sub(it.count, i), 1)), it.held)


def make_range(r: Recorder, args: Sequence[Any]) -> Range:
    """range(...) with traced or plain ints."""
    if not 1 <= len(args) <= 3:
        raise Raises(TypeError(f"range expected at least 1 argument, got {len(args)}"))
    bounds = [range_bound(r, a) for a in args]
    start, stop = (0, bounds[0]) if len(args) == 1 else (bounds[0], bounds[1])
    if len(args) == 3 and not r.entry_only(bounds[2]):
        return stepped_range(r, start, stop, r.facts.canon(bounds[2]))
    step = r.static_int(bounds[2], "the step of a range") if len(args) == 3 else 1
    if step == 0:
        r.fail("ValueError", "range() arg 3 must not be zero")
    return Range(start, stop, step)


def range_item(r: Recorder, x: Range, index: Any) -> Any:
    """range(...)[index]: an int, or a range for a slice."""
    n = length(r, x)
    if isinstance(index, slice):
        place, pace, size = slice_range(r, index, n)
        first, step = add(x.start, mul(x.step, place)), mul(x.step, pace)
        return Range(first, add(first, mul(step, size)), step, None if isinstance(step, int) else size)
    return item(x, normalise(r, range_bound(r, index), n, 0, "range object index out of range"))


def stepped_range(r: Recorder, start: Dim, stop: Dim, step: Dim) -> Range:
    """A range with a step computed at run time; whose sign, too, may only be known there."""
    up, down = (sub(stop, start), step), (sub(start, stop), neg(step))
    if r.ask_nonneg(sub(step, 1)):
        span, size = map(r.index, up)
    elif r.ask_nonneg(sub(-1, step)):
        span, size = map(r.index, down)
    else:
        r.check(r.compare("ne", step, 0), "ValueError", "range() arg 3 must not be zero")
        rising = r.compare("sge", step, 1)
        span, size = (r.emit(arith.Select.of(rising, r.index(a), r.index(b))) for a, b in zip(up, down))
        size = r.emit(arith.MaxSI.of(size, r.index(1)))
    last = r.emit(arith.SubI.of(r.emit(arith.AddI.of(span, size)), r.index(1)))
    count = r.emit(division.FloorDivIndex.of(last, size))
    trips = r.emit(arith.MaxSI.of(count, r.index(0)))
    return Range(start, stop, step, r.symbol(trips, "trips", lo=0))


def range_bound(r: Recorder, x: Any) -> Dim:
    """An int argument of range, as an expression."""
    e = as_int(r, x)
    if e is None:
        raise Raises(TypeError(f"'{name_of(x)}' object cannot be interpreted as an integer"))
    return e
