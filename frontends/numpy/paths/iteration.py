"""What a `for` loop iterates over: ranges and arrays of any length, and `enumerate`, `zip` and `reversed` of them.

An iterable whose length is only known at run time is a `Range` or `Items`; tuples and lists become lists, and their
loops are unrolled.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tracebuf.frontends.numpy.arrays.indexing import as_int, normalise, read_item, slice_range
from tracebuf.frontends.numpy.arrays.reshape import FlatIterator
from tracebuf.frontends.numpy.numbers.scalars import as_int_value, binary
from tracebuf.frontends.numpy.record.heap import DictView, Record
from tracebuf.frontends.numpy.record.raises import Raises
from tracebuf.frontends.numpy.record.recorder import Recorder
from tracebuf.frontends.numpy.record.refusals import name_of
from tracebuf.frontends.numpy.record.regions import Frame
from tracebuf.frontends.numpy.record.values import ArrayRef, Scalar
from tracebuf.frozen import frozen, plain
from tracebuf.ir.dims import Dim, add, dim_max, dim_min, floordiv, mul, neg, sub
from tracebuf.ops.scalars import arith, division

UNROLLED = 512
"""The most items that a loop is unrolled for where its length is part of the key."""


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
    """`count` items, each made from its index; `held`: the values that they are made of."""

    count: Dim
    get: Callable[[Dim], Any]
    held: Sequence[Any] = ()


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
        keys = list(of)

        def at(k: int) -> tuple[Any, ...]:
            if len(of) != len(keys):
                raise Raises(RuntimeError("dictionary changed size during iteration"))
            if k == len(keys):
                return ()
            if list(of) != keys:
                raise r.refuse("the keys of a dict change in a loop over it", "loop over a copy: for k in list(d)")
            return (keys[k] if sort == "keys" else of[keys[k]] if sort == "values" else (keys[k], of[keys[k]]),)

        return LiveItems(at)


Iterable = list[Any] | Range | Items
"""What a loop iterates over: known items, or a length that is only known at run time."""


def held_by(it: Iterable) -> list[Any]:
    """The values that a loop over it goes on to look at; `LiveItems` look at what their container holds then."""
    if isinstance(it, Items):
        return list(it.held)
    return list(it) if isinstance(it, list) and not isinstance(it, LiveItems) else []


def item_at(items: Sequence[Any], k: int) -> tuple[Any, ...]:
    """The item of a loop's iteration k, as the iterations before it have left it; empty where the loop is over."""
    return items.at(k) if isinstance(items, LiveItems) else tuple(items[k : k + 1])


@plain(slots=True)
class OneShotIterator:
    """An iterator: `kind` is the name of its type, `make` gives its items when it is consumed.

    It is consumed once, and not in a loop around which it was made. `left`: what `next` has left of it.
    """

    kind: str
    make: Callable[[], Iterable]
    frame: Frame
    gone: bool = False
    left: list[Any] | None = None
    source: Any = None
    """For a generator expression: its node, its scope, its home environment, and its first iterable."""

    def take(self, r: Recorder) -> Iterable:
        """All items that it has not yet given."""
        self.claim(r)
        return self.make() if self.left is None else self.left

    def claim(self, r: Recorder) -> None:
        """Notes that the iterator is consumed."""
        inside = list(r.frames())
        around = inside[: inside.index(self.frame)] if self.frame in inside else inside
        if self.gone or any(f.kind == "loop" for f in around):
            reason = f"this {self.kind} may have given out its items before"
            raise r.refuse(reason, "make a list of it before: items = list(...)")
        self.gone = True

    def remaining(self, r: Recorder) -> list[Any]:
        """The items that `next` takes from."""
        if self.left is None:
            self.left, self.gone = static_items(r, self.take(r), "this"), False
        if r.frame is not self.frame:
            raise r.refuse("next() in a loop or branch that is traced once", "use a for loop, or an index")
        return self.left


def iterable_of(r: Recorder, x: Any) -> Iterable | None:
    """What a loop over x iterates over; None for what cannot be iterated over while tracing. TypeError as Python's."""
    if isinstance(x, OneShotIterator):
        return x.take(r)
    if isinstance(x, (Range, Items)):
        return x
    if isinstance(x, list):
        return LiveItems(lambda k: tuple(x[k : k + 1]))
    if isinstance(x, dict):
        return LiveItems.of_dict(r, x, "keys")
    if isinstance(x, DictView):
        return LiveItems.of_dict(r, x.of, x.sort)
    if isinstance(x, (tuple, str)):
        return list(x)
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


def length(r: Recorder, it: Iterable) -> Dim:
    """The number of items."""
    if isinstance(it, list):
        return len(it)
    if isinstance(it, Items):
        return it.count
    trips = it.trips()
    return trips if r.ask_nonneg(trips) else r.facts.simplify(dim_max(trips, 0))


def item(it: Iterable, i: Dim) -> Any:
    """The item at an index (of a list, at a known one)."""
    if isinstance(it, Range):
        return as_int_value(add(it.start, mul(it.step, i)))
    if isinstance(it, Items):
        return it.get(i)
    assert isinstance(i, int)
    return it[i]


def static_items(r: Recorder, it: Iterable, what: str) -> list[Any]:
    """All items, where their number is known or may be made part of the key."""
    if isinstance(it, list):
        return list(it)
    count = r.facts.canon(length(r, it))
    n = count if isinstance(count, int) else None
    if n is None and r.entry_only(count):
        n = r.static_int(count, f"the length of {what}")
    if n is None or n > UNROLLED:
        raise r.refuse(
            f"the length of {what} is only known at run time" if n is None else f"{what} has {n} items to unroll",
            "store into an array in a for loop",
        )
    return [item(it, i) for i in range(n)]


def enumerated(r: Recorder, it: Iterable, start: Any = 0) -> Iterable:
    """enumerate(it, start)."""
    if isinstance(it, LiveItems):
        return LiveItems(lambda i: tuple((binary(r, "Add", start, i), x) for x in it.at(i)))
    if isinstance(it, list):
        return [(binary(r, "Add", start, i), x) for i, x in enumerate(it)]
    return Items(length(r, it), lambda i: (binary(r, "Add", start, as_int_value(i)), item(it, i)), held_by(it))


def zipped(r: Recorder, its: Sequence[Iterable]) -> Iterable:
    """zip(*its)."""
    if not its:
        return []
    lists = [it for it in its if isinstance(it, list)]
    if len(lists) == len(its) and any(isinstance(it, LiveItems) for it in its):

        def at(k: int) -> tuple[Any, ...]:
            found = [item_at(it, k) for it in lists]
            return (tuple(one[0] for one in found),) if all(found) else ()

        return LiveItems(at)
    counts = [length(r, it) for it in its]
    known = [n for n, it in zip(counts, its) if isinstance(it, list)]
    if known:
        n = min(c for c in known if isinstance(c, int))
        for c in counts:
            if r.ask_nonneg(sub(c, n)) is not True:
                n = min(n, r.static_int(c, "the length of an item of zip"))
        return [tuple(item(it, i) for it in its) for i in range(n)]
    held = [x for it in its for x in held_by(it)]
    return Items(r.facts.simplify(dim_min(*counts)), lambda i: tuple(item(it, i) for it in its), held)


def reversed_of(r: Recorder, it: Iterable) -> Iterable:
    """reversed(it)."""
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
    return item(x, normalise(r, range_bound(r, index), n, 0))


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
