"""Where two paths meet: an `if` in which both sides were traced (rules S8, F3).

Storages stored to on a path are joined by value. Names are paired: the same binding on both sides stays; numbers widen
to one kind; two private arrays that nothing else refers to become one storage, carried by value; any other two arrays
become a guarded reference, `cond ? r1 : r2`. Sizes and offsets that differ are carried as ints. `join_branches` is the
door; container_joins does the same for the contents of containers, numbers/lattice knows the kinds of numbers.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from tracebuf.frontends.numpy.numbers.lattice import (
    BREAK,
    GO_ON,
    JUMP,
    RETURN,
    Maybe,
    as_maybe,
    choice,
    from_values,
    is_container,
    leaves,
    parts,
    parts_of,
    same_value,
    shell,
    stands_by,
    structure,
    to_values,
    unify_values,
    without_maybes,
    zero,
    zeros,
)
from tracebuf.frontends.numpy.paths.container_joins import JoinedContainers
from tracebuf.frontends.numpy.paths.holders import held_by, holding
from tracebuf.frontends.numpy.paths.identity import identity
from tracebuf.frontends.numpy.paths.iteration import Range
from tracebuf.frontends.numpy.paths.leaving import Finish, Leaving, is_known, is_visible, once, with_parts
from tracebuf.frontends.numpy.record.by_identity import ByIdentity, PairsByIdentity, distinct
from tracebuf.frontends.numpy.record.callees import are_objects_of_one_class
from tracebuf.frontends.numpy.record.cond import Cond
from tracebuf.frontends.numpy.record.heap import items_of, with_items
from tracebuf.frontends.numpy.record.recorder import Recorder
from tracebuf.frontends.numpy.record.regions import Frame
from tracebuf.frontends.numpy.record.sizes import USUAL
from tracebuf.frontends.numpy.record.values import (
    BOOL,
    ArrayRef,
    Env,
    GuardedRef,
    Kind,
    PyBool,
    PyInt,
    Scalar,
    Storage,
    View,
    of_one_form,
    storages_of,
    whole,
)
from tracebuf.ir.core import Value
from tracebuf.ir.dims import Dim, sub
from tracebuf.ir.types import ScalarType, TensorType
from tracebuf.ops.scalars import arith

MISSING = object()
"""Stands for a name that one side does not bind."""


def join_branches(
    r: Recorder,
    condition: PyBool,
    env: Env,
    frames: Sequence[Frame],
    envs: Sequence[Env | None],
    changed: Sequence[ByIdentity[Any, Any]],
    names: Sequence[str],
    live: frozenset[str],
    unchecked: frozenset[str],
) -> None:
    """Joins two traced branches into `env`, and records their `scf.if`."""
    for name in names:
        if name not in live:
            env.pop(name, None)
    join, joined = Join(r, condition, frames, envs), JoinedContainers(r, envs, changed)
    join.emptied = distinct(x for x, _ in joined.containers.values())
    try:
        join.names(env, [*(n for n in names if n in live), *joined.names], live, unchecked)
    finally:
        joined.restore()
    joined.close(env)
    if None in envs and condition.nonneg is not None:  # the other branch has raised
        r.facts.assume_nonneg(condition.nonneg if envs[1] is None else sub(-1, condition.nonneg), entry=False)


class Join:
    """The join of two traced branches. `outputs` is what the scf.if yields besides storages: how each side makes its
    values, what is done with the results, and the order of axes of an array."""

    def __init__(self, r: Recorder, condition: PyBool, frames: Sequence[Frame], envs: Sequence[Env | None]) -> None:
        self.r, self.condition, self.frames, self.envs = r, condition, frames, envs
        self.outputs: list[tuple[Callable[[int], list[Value]], Callable[..., None], tuple[int, ...]]] = []
        self.sizes: dict[tuple[Any, ...], list[Any]] = {}
        self.joined: dict[tuple[Storage, Storage], Storage] = {}
        self.pairs: set[tuple[Storage, Storage]] = set()
        self.fixed: set[Storage] = set()
        self.uses: ByIdentity[Any, int] = ByIdentity()
        """In how many of the containers made here each container has a part."""
        self.emptied: ByIdentity[Any, None] = ByIdentity()
        """The containers that a branch has changed: their contents are joined by themselves, and not there now."""
        self.arrays_made: PairsByIdentity[Finish | None] = PairsByIdentity()
        self.containers_made: PairsByIdentity[Finish] = PairsByIdentity()
        self.sides = BranchEnd(self, 0), BranchEnd(self, 1)

    # -- names
    def names(self, env: Env, names: Sequence[str], live: frozenset[str], unchecked: frozenset[str]) -> None:
        """Joins the names into `env`."""
        found = {n: [MISSING if e is None else e.get(n, MISSING) for e in self.envs] for n in names}
        chosen = {n: sides if n in unchecked else self.sides_as_maybes(sides) for n, sides in found.items()}
        self.collect(env, chosen, live)
        finishes = {n: self.name(n, sides, n in unchecked) for n, sides in chosen.items()}
        self.close()
        for name, finish in finishes.items():
            if finish is None:
                env.pop(name, None)
            else:
                env[name] = without_maybes(finish()) if chosen[name] is not found[name] else finish()

    def collect(self, env: Env, chosen: dict[str, list[Any]], live: frozenset[str]) -> None:
        """Collects the pairs of storages that live names hold, and the storages that anything else refers to."""
        self.fixed = anchored(self.r, (v for n, v in env.items() if n not in chosen and n in live))
        for a, b in chosen.values():
            a, b = (x.value if isinstance(x, Maybe) else x for x in (a, b))
            matched = [(x, y) for x, y in zip(parts_of(a), parts_of(b)) if plain(x) and plain(y) and pairable(x, y)]
            if (
                a is MISSING
                or b is MISSING
                or structure(a) != structure(b)
                or 2 * len(matched) != len(references((a, b)))
            ):
                self.fixed |= {s for ref in references((a, b)) for s in storages_of(ref)}
            else:
                self.pairs |= {(x.storage, y.storage) for x, y in matched}

    def name(self, name: str, sides: Sequence[Any], unchecked: bool) -> Finish | None:
        """Joins one live name; None where no side binds it."""
        dead = [e is None for e in self.envs]
        if all(s is MISSING for s in sides):
            return None
        bound: list[Any] = [s.bound if isinstance(s, Maybe) else s is not MISSING or d for s, d in zip(sides, dead)]
        values = [s.value if isinstance(s, Maybe) else s for s in sides]
        finish = self.value(name, values[0], values[1])
        if unchecked or all(b is True for b in bound):
            return finish
        flag, leaving = self.number(name, BOOL, bound[0], bound[1]), self.leaving()
        otherwise = next((s.otherwise for s in sides if isinstance(s, Maybe)), None)
        return lambda: Maybe(flag(), finish(), leaving is not None and bound[1 - leaving] is True, otherwise)

    def sides_as_maybes(self, values: list[Any]) -> list[Any]:
        """Two values of which one is None or a number on some paths, and items of tuples, as `Maybe`s."""
        a, b = values
        if type(a) is tuple and type(b) is tuple and len(a) == len(b):
            items = [self.sides_as_maybes([x, y]) for x, y in zip(a, b)]
            return [*map(tuple, zip(*items))] if any(isinstance(x, Maybe) for x, _ in items) else values
        if not any(type(x) is Cond for x in values) or not all(stands_by(x) or x_is_there(x) for x in values):
            return values
        found = list[Any]()
        for frame, x in zip(self.frames, values):
            with self.r.inside(frame):
                found.append(as_maybe(self.r, x))
        if not any(found) or any(f is None and type(x) is Cond for f, x in zip(found, values)):
            return values
        by = [f.otherwise if f else x for f, x in zip(found, values) if f or stands_by(x)]
        if not self.is_of_before(by[0]) or not same_value(by[0], by[-1]):
            return values
        return [
            f or Maybe(not stands_by(x), MISSING if stands_by(x) else x, otherwise=by[0])
            for f, x in zip(found, values)
        ]

    def is_of_before(self, x: Any) -> bool:
        """Whether None or a number is known, or was there before the branches."""
        return not isinstance(x, Scalar) or is_visible(self.r, x)

    # -- values
    def value(self, name: str, a: Any, b: Any) -> Finish:
        """`a` where the condition held, `b` where it did not; one may be MISSING."""
        if isinstance(a, Maybe):
            return self.name(name, [a, b], False) or (lambda: None)
        if a is MISSING or b is MISSING:
            return self.sides[1].value(name, b) if a is MISSING else self.sides[0].value(name, a)
        if (same_value(a, b) and not self.inside(a)) or (a is b and self.r.heap.outlives(a, self.r)):
            if a is b or not is_container(a):
                return lambda: a
        there = a not in self.emptied and b not in self.emptied
        if is_container(a) and there and shell(a) == shell(b) and self.r.heap.number(a) == self.r.heap.number(b):
            if (a, b) not in self.containers_made:
                parts = [self.value(name, x, y) for x, y in zip(items_of(a), items_of(b))]
                self.use(a, b)
                origins = [Leaving.container_object(s, name, x) for s, x in zip(self.sides, (a, b))]

                def made() -> Any:
                    new, (first, second) = self.new_container(a, b, [p() for p in parts]), (o() for o in origins)
                    one = first if first is second else Cond(self.condition.value, first, second)
                    self.r.heap.origins[new], self.r.heap.joined_in[new] = one, self.r.frame
                    return new

                self.containers_made[a, b] = once(made)
            return self.containers_made[a, b]
        if isinstance(a, Range) and isinstance(b, Range) and (a.step, a.count) == (b.step, b.count):
            bounds = [self.value(name, x, y) for x, y in zip(held_by(a), held_by(b))]
            return lambda: holding(a, [d() for d in bounds])
        if are_objects_of_one_class(a, b):
            number = self.value(name, a.number, b.number)
            return lambda: replace(a, number=number())
        kind = unify_values(self.r, a, b)
        if kind is not None:
            return self.number(name, kind, a, b)
        if isinstance(a, ArrayRef) and isinstance(b, ArrayRef):
            joined = self.one_array(name, a, b)
            if joined is not None:
                return joined
        if name != RETURN and isinstance((sides := self.sides_as_maybes([a, b]))[0], Maybe):
            whole = self.value(name, *sides)
            return lambda: without_maybes(whole())
        first, second = (s.value(name, x) for s, x in zip(self.sides, (a, b)))
        leaving = self.leaving()
        return lambda: choice(self.condition.value, first(), second(), leaving)

    def use(self, *sources: Any) -> None:
        """Notes that a container is made of these."""
        for x in distinct(sources):
            self.uses[x] = self.uses.get(x, 0) + 1

    def new_container(self, a: Any, b: Any, items: Sequence[Any]) -> Any:
        """A container that stands for one of each side; it may be changed if both sides made theirs."""
        made, heap = with_items(a, items), self.r.heap
        if isinstance(a, tuple):
            return made
        for x in (a, b):
            heap.merge(x, self.r)
        private = not any(
            heap.find(x) is None or x in heap.merged or heap.outlives(x, self.r) or self.uses[x] > 1 for x in (a, b)
        )
        return heap.own(made, self.r) if private else made

    def number(self, name: str, kind: Kind, a: Any, b: Any) -> Finish:
        """A number joined from both sides; MISSING stands for one that is never read."""
        found: list[Any] = []

        def make(side: int) -> list[Value]:
            x = (a, b)[side]
            return zeros(self.r, kind) if x is MISSING else to_values(self.r, x, kind)

        def done(*values: Value) -> None:
            found.append(from_values(self.r, values, kind, name))
            self.between(found[0], a, b)

        self.outputs.append((make, done, ()))
        return lambda: found[0]

    def between(self, joined: Any, a: Any, b: Any) -> None:
        """Bounds an int joined from two paths by both, where it is known which is the greater."""
        r = self.r
        if not isinstance(joined, PyInt) or MISSING in (a, b):
            return
        x, y = (v.expr if isinstance(v, PyInt) else int(v) for v in (a, b))
        if not (r.in_scope(x) and r.in_scope(y)):
            return
        order = r.facts.decide_nonneg(sub(x, y))
        if order is not None:
            low, high = (y, x) if order else (x, y)
            r.facts.assume_nonneg(sub(joined.expr, low))
            r.facts.assume_nonneg(sub(high, joined.expr))

    def inside(self, x: Any) -> bool:
        """Whether a value consists of anything that belongs to a branch that has ended."""
        for leaf in leaves(x):
            if isinstance(leaf, ArrayRef) and not is_known(self.r, leaf, self.frames):
                return True
            if isinstance(leaf, Scalar) and not is_visible(self.r, leaf):
                return True
            if any(map(self.inside, held_by(leaf))):
                return True
        return False

    def local(self, s: Storage) -> int | None:
        """The side that made a storage; None where neither did."""
        return next((i for i, f in enumerate(self.frames) if s in f.locals), None)

    # -- arrays
    def one_array(self, name: str, a: ArrayRef, b: ArrayRef) -> Finish | None:
        """Two arrays as one reference, the same for all names that hold these two; its `origin` says which object it
        is."""
        if (a, b) not in self.arrays_made:
            joined = self.arrays(name, a, b)
            if joined is not None and plain(a) and plain(b):
                joined = self.with_origin(joined, *(s.identity(name, identity(x)) for s, x in zip(self.sides, (a, b))))
            self.arrays_made[a, b] = None if joined is None else once(joined)
        return self.arrays_made[a, b]

    def with_origin(self, made: Finish, first: Finish, second: Finish) -> Finish:
        """The joined reference, with the identity that either side gives it."""

        def finish() -> ArrayRef:
            ref: ArrayRef = made()
            if plain(ref):
                a, b = first(), second()
                ref.origin = a if a is b else Cond(self.condition.value, a, b)
            return ref

        return finish

    def arrays(self, name: str, a: ArrayRef, b: ArrayRef) -> Finish | None:
        """Two arrays joined: views of one storage, of two that become one, or a guarded reference; None where they
        differ too much."""
        if plain(a) and plain(b) and pairable(a, b):
            if a.storage is b.storage and self.local(a.storage) is None:
                return self.view(a.storage, a, b)
            if self.private(a.storage, b.storage):
                return self.view(self.one_storage(a.storage, b.storage), a, b)
        if not of_one_form(a, b):
            return None
        sizes = [self.size(x, y) for x, y in zip(a.shape, b.shape)]
        arms = [s.value(name, x) for s, x in zip(self.sides, (a, b))]
        leaving = self.leaving()
        return lambda: GuardedRef(self.condition.value, (arms[0](), arms[1]()), [s() for s in sizes], leaving)

    def leaving(self) -> int | None:
        """The side that has left the loop, if one certainly has and the other has not."""
        left = [e is None or (isinstance(j := e.get(JUMP, GO_ON), int) and j >= BREAK) for e in self.envs]
        return left.index(True) if sum(left) == 1 else None

    def private(self, s: Storage, t: Storage) -> bool:
        """Whether two storages may become one: nothing else refers to either, and each is paired with the other
        only."""
        if s.order != t.order or s is t or {s, t} & self.fixed or s.arg is not None or t.arg is not None:
            return False
        if s.of_object or t.of_object:
            return False
        return all((x is s) == (y is t) for x, y in self.pairs)

    def one_storage(self, s: Storage, t: Storage) -> Storage:
        """The storage that two private ones become."""
        made = self.joined.get((s, t))
        if made is None:
            made = self.joined[s, t] = Storage(s.element, s.shape, s.order, name=s.name or t.name)
            self.carry(made, (s, t))
            if self.r.held is not None:
                self.r.held.note_sources(made, (s, t))
        return made

    def carry(self, into: Storage, sources: Sequence[Storage | None]) -> None:
        """Yields the contents of a storage from each side (None: contents that are never read) into a new one."""
        one = next(s for s in sources if s is not None)
        shapes = [one.shape if s is None else s.shape for s in sources]
        sizes = [
            self.size(x, y) if None not in sources else self.size_of(x, 0 if sources[1] is None else 1)
            for x, y in zip(*shapes)
        ]

        def make(side: int) -> list[Value]:
            source = sources[side]
            if source is not None:
                return [self.r.value(source)]
            return [self.r.placeholder(one.element, one.shape, one.order)]

        def done(value: Value) -> None:
            into.shape = tuple(s() for s in sizes)
            value.type = TensorType(tuple(self.r.facts.canon(d) for d in into.shape), into.element)
            self.r.frame.values[into] = value
            self.r.frame.locals.add(into)

        self.outputs.append((make, done, tuple(one.order)))

    def view(self, storage: Storage, a: ArrayRef, b: ArrayRef) -> Finish:
        """A view of one storage whose offsets and sizes may differ."""
        if a.is_whole and b.is_whole:
            return lambda: ArrayRef(storage, whole(storage.shape), a.read_only)
        offsets = [self.size(x, y, None) for x, y in zip(a.view.offsets, b.view.offsets)]
        sizes = [self.size(x, y) for x, y in zip(a.view.sizes, b.view.sizes)]
        return lambda: ArrayRef(storage, with_parts(a.view, offsets, sizes), a.read_only)

    def size(self, a: Dim, b: Dim, lo: int | None = 0) -> Callable[[], Dim]:
        """A size or offset: the one that both sides agree on, else an int that the scf.if yields (one for each pair,
        rule S11)."""
        r = self.r
        if r.in_scope(a) and r.facts.equal(a, b):
            return lambda: a
        if r.in_scope(b) and r.facts.equal(a, b):
            return lambda: b
        return self.output_size((a, b), lambda side: [r.index((a, b)[side])], lo, {0: a, 1: b})

    def size_of(self, a: Dim, side: int, lo: int | None = 0) -> Callable[[], Dim]:
        """A size that only one side knows; 0 on the other."""
        if isinstance(a, int) or (self.envs[1 - side] is None and self.r.in_scope(a)):
            return lambda: a
        return self.output_size((a, "of side", side), lambda at: [self.r.index(a if at == side else 0)], lo, {side: a})

    def output_size(
        self, key: tuple[Any, ...], make: Callable[[int], list[Value]], lo: int | None, sides: Mapping[int, Dim]
    ) -> Callable[[], Dim]:
        """A size that the scf.if yields, as a symbol; one for each key. `sides`: what it is on each side."""
        found = self.sizes.get(key)
        if found is None:
            found = self.sizes[key] = []
            into, r = found, self.r
            known = {side: a for side, a in sides.items() if r.in_scope(a)}

            def done(value: Value) -> None:
                into.append(size := r.symbol(value, "size", lo=lo))
                for side, a in known.items():
                    r.yielded_sizes.setdefault((self.condition.value, side == 0), []).append((size, a))

            self.outputs.append((make, done, ()))
        kept = found
        return lambda: kept[0]

    def close(self) -> None:
        """Records the scf.if and passes its results on."""
        r = self.r
        made: list[list[list[Value]]] = [[], []]
        for side, frame in enumerate(self.frames):
            with r.inside(frame):
                made[side] = [make(side) for make, _, _ in self.outputs] if self.envs[side] is not None else []
        for side in (0, 1):
            if self.envs[side] is None:  # it cannot be reached: anything of the types will do
                orders = [order for _, _, order in self.outputs]
                made[side] = [[self.anything(side, v, o) for v in vs] for vs, o in zip(made[1 - side], orders)]
        results = iter(r.close_if(self.condition.value, self.frames, [[v for vs in m for v in vs] for m in made]))
        for (_, done, _), values in zip(self.outputs, made[0]):
            done(*itertools.islice(results, len(values)))

    def anything(self, side: int, like: Value, order: Sequence[int]) -> Value:
        """A placeholder of the type, and order of axes, of `like`, for the branch whose end cannot be reached."""
        with self.r.inside(self.frames[side]):
            if isinstance(like.type, TensorType):
                return self.r.placeholder(like.type.element, like.type.shape, order)
            assert isinstance(like.type, ScalarType)
            return zero(self.r, like.type)


def x_is_there(x: Any) -> bool:
    """Whether a value is an array, a container, or may be one."""
    return type(x) is Cond or isinstance(x, ArrayRef) or is_container(x)


class BranchEnd(Leaving):
    """The values of one side, which are read only where that side was taken."""

    def __init__(self, join: Join, side: int) -> None:
        super().__init__(join.r, join.frames[side])
        self.join, self.side = join, side
        self.storages: dict[Storage, Storage] = {}

    def number(self, name: str, x: Scalar) -> Finish:
        return self.join.number(name, x.kind, *((x, MISSING) if self.side == 0 else (MISSING, x)))

    def dim(self, d: Dim, lo: int | None = None) -> Callable[[], Dim]:
        return (lambda: d) if self.r.in_scope(d) else self.join.size_of(d, self.side, lo)

    def storage(self, storage: Storage) -> Storage:
        if storage not in self.storages:
            made = Storage(storage.element, storage.shape, storage.order, name=storage.name)
            self.storages[storage], made.writable = made, storage.writable
            if self.r.held is not None:
                self.r.held.note_sources(made, (storage,))
            self.join.carry(made, (storage, None) if self.side == 0 else (None, storage))
        return self.storages[storage]

    def container(self, x: Any, items: Sequence[Any]) -> Any:
        return self.join.new_container(x, x, items)

    def container_object(self, name: str, x: Any) -> Finish:
        self.join.use(x)
        return super().container_object(name, x)


def alike(a: View, b: View) -> bool:
    """Whether two views differ at most in offsets and sizes."""
    return a.strides == b.strides and a.dims == b.dims and a.over == b.over


def pairable(a: ArrayRef, b: ArrayRef) -> bool:
    """Whether two references may become one, given that their storages may."""
    return a.element is b.element and alike(a.view, b.view) and a.read_only == b.read_only


def one_or_other(r: Recorder, condition: Value, a: ArrayRef, b: Any) -> ArrayRef | Cond[Any]:
    """The path-dependent array that is `a` where the condition holds, else `b`; both exist on either path."""
    if type(b) is Cond or not of_one_form(a, b):
        return choice(condition, a, b)

    def size(x: Dim, y: Dim) -> Dim:
        if r.facts.equal(x, y):
            return x
        return r.symbol(r.emit(arith.Select.of(condition, r.index(x), r.index(y))), "size", 0, USUAL)

    return GuardedRef(condition, (a, b), [size(x, y) for x, y in zip(a.shape, b.shape)])


def plain(x: Any) -> bool:
    """Whether a value is a reference to one storage."""
    return isinstance(x, ArrayRef) and not isinstance(x, GuardedRef)


def references(x: Any) -> list[ArrayRef]:
    """The arrays in a value."""
    found: list[ArrayRef] = []
    for leaf in leaves(x):
        if isinstance(leaf, ArrayRef):
            found.append(leaf)
        elif held := held_by(leaf):
            found += references(tuple(held))
    return found


def anchored(r: Recorder, values: Iterable[Any]) -> set[Storage]:
    """The storages that live names, outer functions' names and arguments refer to: they cannot be replaced."""
    found: set[Storage] = set()
    work, seen = [*values, *r.outer_values()], dict[int, Any]()
    while work:
        if seen.setdefault(id(x := work.pop()), seen) is not seen:
            continue  # what depends on the path may hold one value many times
        seen[id(x)] = x
        if isinstance(x, ArrayRef):
            found.update(storages_of(x))
        else:
            work += held_by(x) if (inside := parts(x)) is None else inside
    return found


def bound_value(r: Recorder, name: str, x: Any, free: bool = False) -> Any:
    """The value of a name where it is read: UnboundLocalError on the paths that did not bind it, or, in a function
    inside (`free`), NameError."""
    if not isinstance(x, Maybe):
        return x
    kind = NameError if free else UnboundLocalError
    text = f"cannot access local variable '{name}' where it is not associated with a value"
    if free:
        text = f"cannot access free variable '{name}' where it is not associated with a value in enclosing scope"
    if x.bound is False:
        r.fail(kind, text)
    r.check(x.bound.value, kind, text)
    return x.value
