"""What a region leaves behind when it ends, one side of an `if` or the last iteration of a loop, as it is known around
it (rules S8, S10).

Numbers, sizes and elements that the region made are yielded by its op, each kind of region in its own way; references,
conditional values and containers are made anew around them. Each is made once, so that names of one object stay names
of one.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

from tracebuf.frontends.numpy.numbers.lattice import is_container, path_dependent
from tracebuf.frontends.numpy.paths.holders import held_by, holding
from tracebuf.frontends.numpy.paths.identity import container_identity, identity, with_identity
from tracebuf.frontends.numpy.record.by_identity import ByIdentity
from tracebuf.frontends.numpy.record.cond import Cond, conditions
from tracebuf.frontends.numpy.record.heap import items_of
from tracebuf.frontends.numpy.record.recorder import Recorder
from tracebuf.frontends.numpy.record.regions import Frame
from tracebuf.frontends.numpy.record.values import (
    ArrayRef,
    Diagonal,
    GuardedRef,
    Over,
    PyBool,
    PyInt,
    Recast,
    Regrouping,
    Scalar,
    Storage,
    View,
    Windows,
    whole,
)
from tracebuf.ir.dims import Dim
from tracebuf.ops.memory.memref import recast_shape

Finish = Callable[[], Any]
"""Makes a value, once the op of the region is recorded."""


class Leaving(ABC):
    """The values of a region (`frame`) that ends, asked for in the region around it."""

    def __init__(self, r: Recorder, frame: Frame) -> None:
        self.r, self.frame = r, frame
        self.made: ByIdentity[Any, Finish] = ByIdentity()

    @abstractmethod
    def number(self, name: str, x: Scalar) -> Finish:
        """A number that the region made."""

    @abstractmethod
    def dim(self, d: Dim, lo: int | None = None) -> Callable[[], Dim]:
        """A size or offset, which is at least `lo`."""

    @abstractmethod
    def storage(self, storage: Storage) -> Storage:
        """What stands for a storage that the region made; its shape is known once the op is recorded."""

    @abstractmethod
    def container(self, x: Any, items: Sequence[Any]) -> Any:
        """What stands for a container that the region made."""

    def container_object(self, name: str, x: Any) -> Finish:
        """Which object a container is."""
        return self.identity(name, container_identity(self.r, x))

    def value(self, name: str, x: Any) -> Finish:
        """Any value."""
        heap = self.r.heap
        if isinstance(x, Scalar):
            return (lambda: x) if is_visible(self.r, x) else self.number(name, x)
        new = is_container(x) and heap.number(x) is None and not heap.outlives(x, self.r)
        holds = bool(held_by(x))
        if not (new or holds or isinstance(x, (Cond, ArrayRef))):
            return lambda: x
        if x not in self.made:
            make = self.new_container if new else self.cond if isinstance(x, Cond) else self.array
            if holds:
                make = self.holder
            self.made[x] = once(make(name, x))
        return self.made[x]

    def new_container(self, name: str, x: Any) -> Finish:
        """A container that the region made."""
        parts, found = [self.value(name, i) for i in items_of(x)], self.container_object(name, x)

        def made() -> Any:
            new = self.container(x, [part() for part in parts])
            self.r.heap.origins[new] = found()
            return new

        return made

    def holder(self, name: str, x: Any) -> Finish:
        """What holds values, and is no container."""
        before = held_by(x)
        parts = [self.value(name, v) for v in before]

        def made() -> Any:
            after = [part() for part in parts]
            return x if all(a is b for a, b in zip(before, after)) else holding(x, after)

        return made

    def cond(self, name: str, x: Cond[Any], part: Callable[[str, Any], Finish] | None = None) -> Finish:
        """What depends on the path; `part` makes its arms. An array of those that are known around is what it was."""
        if part is None and isinstance(x, GuardedRef) and is_known(self.r, x, [self.frame]):
            return lambda: x
        flag, *arms = [self.value(name, PyBool(x.condition)), *((part or self.value)(name, arm) for arm in x.arms)]
        if not isinstance(x, GuardedRef):
            return lambda: x.like(flag().value, *(arm() for arm in arms))
        sizes = [self.dim(d, 0) for d in x.sizes]
        return lambda: GuardedRef(flag().value, (arms[0](), arms[1]()), [s() for s in sizes], x.leaving)

    def identity(self, name: str, found: Any) -> Finish:
        """Which object something is."""
        if not isinstance(found, Cond):
            return lambda: found
        if found not in self.made:
            self.r.growth.effort.note_part()
            self.made[found] = once(self.cond(name, found, self.identity))
        return self.made[found]

    def array(self, name: str, x: ArrayRef) -> Finish:
        """A reference to one array."""
        if is_known(self.r, x, [self.frame]):
            return lambda: x
        over = x.view.over
        apart = over is not None and not in_scope(self.r, (*over.shape, *deep_parameters(over.view)))
        found, local = self.identity(name, identity(x)), x.storage in self.frame.locals
        storage = self.storage(x.storage) if local else x.storage
        if local and x.is_whole:
            return lambda: with_identity(ArrayRef(storage, whole(storage.shape), x.read_only), found())
        offsets, sizes = [self.dim(d) for d in x.view.offsets], [self.dim(d, 0) for d in x.view.sizes]
        view = self.view_of_view(name, x) if apart else lambda: with_parts(x.view, offsets, sizes)
        return lambda: with_identity(ArrayRef(storage, view(), x.read_only), found())

    def view_of_view(self, name: str, x: ArrayRef) -> Callable[[], View]:
        """A view of a view whose sizes, or offsets, the region knows: each is one number, wherever it is met."""
        dims: dict[Dim, Callable[[], Dim]] = {}

        def dim(d: Dim) -> Dim:
            return dims[d]()

        def note(view: View) -> None:
            if not in_scope(self.r, view.strides):
                raise path_dependent(self.r, name, "an array under another shape, with strides known there only")
            for d in (*view.offsets, *view.sizes, *(() if view.over is None else numbers_of(view.over))):
                dims.setdefault(d, self.dim(d, None if d in view.offsets else 0))
            if view.over is not None:
                note(view.over.view)

        def made(view: View) -> View:
            over = view.over and made_over(view.over)
            return replace(view, offsets=tuple(map(dim, view.offsets)), sizes=tuple(map(dim, view.sizes)), over=over)

        def made_over(over: Over) -> Over:
            inner = made(over.view)
            if isinstance(over, Diagonal):
                return Diagonal(inner, over.axes)
            if isinstance(over, Windows):
                return Windows(inner, over.axis, dim(over.size))
            if isinstance(over, Recast):
                shape = recast_shape(inner.sizes, over.view.element(x.storage), over.element)
                return Recast(inner, over.element, shape)
            return Regrouping(inner, tuple(map(dim, over.shape)), over.old, over.new)

        note(x.view)
        return lambda: made(x.view)


def numbers_of(over: Over) -> tuple[Dim, ...]:
    """The sizes that belong to what a view is based on, beside those of the view in it."""
    return over.shape if isinstance(over, Regrouping) else (over.size,) if isinstance(over, Windows) else ()


def in_scope(r: Recorder, parts: Iterable[Dim]) -> bool:
    """Whether sizes are known in the region being recorded."""
    return all(r.in_scope(d) for d in parts)


def is_known(r: Recorder, ref: ArrayRef, ended: Sequence[Frame]) -> bool:
    """Whether a reference refers to something that exists outside of regions that have ended, with parameters known
    there."""
    if isinstance(ref, GuardedRef):
        known = r.is_visible(ref.condition) and in_scope(r, ref.sizes)
        return known and all(is_known(r, arm, ended) for arm in ref.arms)
    there = all(map(r.is_visible, conditions(ref.origin))) and not any(ref.storage in f.locals for f in ended)
    return there and in_scope(r, deep_parameters(ref.view))


def is_visible(r: Recorder, x: Scalar) -> bool:
    """Whether a number is known in the region being recorded."""
    return r.in_scope(x.expr) if isinstance(x, PyInt) else r.is_visible(x.value)  # type: ignore[attr-defined]


def parameters(view: View) -> tuple[Dim, ...]:
    """The sizes and offsets that were fixed when a view was made."""
    return (*view.offsets, *view.sizes)


def deep_parameters(view: View) -> tuple[Dim, ...]:
    """The sizes and offsets that were fixed when a view, and the views it is based on, were made."""
    over = view.over
    return parameters(view) if over is None else (*parameters(view), *over.shape, *deep_parameters(over.view))


def with_parts(view: View, offsets: Sequence[Callable[[], Dim]], sizes: Sequence[Callable[[], Dim]]) -> View:
    """A view with other offsets and sizes."""
    return replace(view, offsets=tuple(o() for o in offsets), sizes=tuple(s() for s in sizes))


def once(make: Finish) -> Finish:
    """A function that calls `make` the first time, and returns that object each time."""
    found: list[Any] = []

    def get() -> Any:
        if not found:
            found.append(make())
        return found[0]

    return get
