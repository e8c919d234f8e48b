"""The head of a loop: each number and array that the loop may change becomes a value of its own there (rule S10)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from tracebuf.frontends.numpy.numbers.lattice import (
    GO_ON,
    JUMP,
    RETURN,
    Maybe,
    carried_parts,
    containers_in,
    from_values,
    is_number,
    rebuild,
    without_maybes,
)
from tracebuf.frontends.numpy.paths.identity import identity, objects, one_of_known, with_identity
from tracebuf.frontends.numpy.paths.joins import anchored, plain, references
from tracebuf.frontends.numpy.paths.leaving import parameters
from tracebuf.frontends.numpy.paths.loops.alternatives import from_alternatives
from tracebuf.frontends.numpy.paths.loops.containers import CarriedContainers, stand_in
from tracebuf.frontends.numpy.paths.loops.objects import ContainerObjects
from tracebuf.frontends.numpy.paths.loops.owned import OwnedGroup, Slot, order_of
from tracebuf.frontends.numpy.paths.loops.plan import (
    OWNED,
    WHICH,
    ArrayCarry,
    CarriedStorage,
    Item,
    LoopPlan,
    LoopSpec,
    OneOfCandidates,
    Path,
)
from tracebuf.frontends.numpy.record.by_identity import ByIdentity, PairsByIdentity, counted, distinct
from tracebuf.frontends.numpy.record.callees import Untold, is_text, text_of_loop
from tracebuf.frontends.numpy.record.cond import ends
from tracebuf.frontends.numpy.record.recorder import Recorder
from tracebuf.frontends.numpy.record.regions import Frame
from tracebuf.frontends.numpy.record.sizes import USUAL
from tracebuf.frontends.numpy.record.values import (
    ArrayRef,
    Env,
    GuardedRef,
    PyInt,
    Storage,
    kind_of,
    kinds_of,
    ranks_of,
    storages_of,
    types_of,
)
from tracebuf.ir.core import Block, Value
from tracebuf.ir.dims import Dim, mul, sub
from tracebuf.ir.types import I1, INDEX, TensorType


class LoopHead:
    """One attempt at a loop: its region, and the values of its names at the head."""

    def __init__(self, r: Recorder, spec: LoopSpec, env: Env, plan: LoopPlan, containers: CarriedContainers) -> None:
        self.r, self.spec, self.env, self.plan, self.carried_containers = r, spec, env, plan, containers
        self.outer = r.frame
        self.mark, self.reported, self.noted = r.mark, len(r.loops), r.held and r.held.mark()
        self.block = Block() if spec.exits else Block([INDEX])
        self.frame: Frame = r.frame
        self.items: list[Item] = []
        self.storages: dict[Storage, CarriedStorage] = {}
        self.shared_sizes: dict[Any, Value] = {}
        self.phi_inits: dict[Value, Value] = {}
        self.candidates: list[ArrayRef] = []
        self.private_storages: set[Storage] = set()
        self.heads_by_array: dict[ArrayCarry, ByIdentity[ArrayRef, Item]] = {}
        self.entry_values: dict[str, Any] = {}
        self.reference_counts: ByIdentity[ArrayRef, int] | None = None
        self.after: Env = {}
        self.dead = False
        self.rotation: list[Env] = []
        self.counter: Value | None = None
        self.container_objects: PairsByIdentity[Callable[[], Any]] = PairsByIdentity()
        self.steady: dict[Value, Value] = {}
        self.arrays: PairsByIdentity[ArrayRef] = PairsByIdentity()
        self.unchanged_flags: PairsByIdentity[Value] = PairsByIdentity()
        self.groups: list[OwnedGroup] = []
        self.entry_flags: dict[Value, Value] = {}
        self.meet: set[Path] | None = None
        self.one_as: PairsByIdentity[list[tuple[list[Value], Item]]] = PairsByIdentity()
        self.moved: PairsByIdentity[Callable[[], Any]] = PairsByIdentity()
        self.watching: list[ArrayRef] = []
        self.objects = ContainerObjects(r, self.block, env, spec.after)
        self.directions: dict[Path, int] = {}
        """Of the ints at the head, those that are assumed to rise (1) or fall (-1)."""
        self.retry = False
        """Whether the plan was mended, so that the loop has to be traced again."""
        self.peel_for = ""
        """The name because of which the first iteration has to be traced by itself."""

    def mend(self, name: Any, why: str, **changes: Any) -> None:
        """Mends the plan for the next attempt."""
        self.plan, self.retry = self.plan.mended(self.called(name), why, **changes), True

    def peel(self, name: Any, why: str) -> None:
        """Has the first iteration traced by itself."""
        self.plan, self.peel_for = self.plan.mended(self.called(name), why), self.peel_for or str(name)

    def called(self, name: Any) -> str:
        """A name as the user knows it; the contents of a container have that of a container which holds them."""
        held = self.carried_containers.containers.get(name)
        if held is None:
            return {RETURN: "the result", JUMP: ""}.get(name, f"`{name}`")
        known = {**self.env, **self.carried_containers.bound}
        holders = [n for n, x in known.items() if n.isidentifier() and any(c is held for c in containers_in(x))]
        return f"an item of `{holders[0]}`" if holders else "an item"

    # -- the head
    def enter(self, given: Env) -> Env:
        """The names at the head, each that the loop assigns with a phi."""
        spec = self.spec
        dead = [n for n in spec.assigned if n not in spec.head and n not in self.plan.first_bound_inside]
        given = {n: x for n, x in given.items() if n not in dead}
        inside = dict(given)
        self.candidates = self.arrays_to_choose_from(given)
        names = [n for n in dict.fromkeys((*spec.assigned, *self.plan.first_bound_inside)) if n in given]
        self.forget_misfits(names, given)
        self.private_storages = self.private(given, names)
        self.owned_groups(given, names)
        for name in names:
            head = self.name(name, given[name])
            inside[name] = without_maybes(head) if name in self.plan.maybes else head
        if spec.exits:
            self.name(JUMP, GO_ON)
            inside[JUMP] = GO_ON
        heads = distinct(i.head for i in self.items if self.observed(i))
        self.watching = [x for x in heads if x not in self.r.watched]
        self.r.watched.update((x, None) for x in self.watching)
        return inside

    def forget_misfits(self, names: Sequence[str], given: Env) -> None:
        """Drops what was learnt about arrays where names held arrays of other ranks or orders then, before the first
        iteration for instance."""
        arrays = dict(self.plan.arrays)
        for name in names:
            for k, leaf in enumerate(carried_parts(given[name])):
                how = arrays.get((name, k))
                other_rank = plain(leaf) and isinstance(how, ArrayCarry) and not how.fits(leaf)
                if other_rank or (how is OWNED and isinstance(leaf, ArrayRef) and not self.alike(leaf, leaf)):
                    del arrays[name, k]
        self.plan = replace(self.plan, arrays=arrays)

    def observed(self, item: Item) -> bool:
        """Whether something other than its name refers to the array object that a name held before the loop, in this
        loop or the one around it."""
        if not plain(item.entry):
            return False
        counts = self.references_before()
        return item.entry in self.r.watched or any(
            counts.get(o, 0) > 1 for o in (item.entry, *objects(item.entry))
        )

    def references_before(self) -> ByIdentity[ArrayRef, int]:
        """How many references there were before the loop to each array object, in this loop and the one around it."""
        if self.reference_counts is None:
            refs = [*references((*self.env.values(), *self.r.outer_values()))]
            stood_for = (o for x in refs for o in objects(x) if o is not x)
            asked = (self.held_before(p) for places in self.plan.other_objects.values() for p in places)
            asked_for = (o for x in asked if x is not None for o in objects(x))
            self.reference_counts = counted((*self.r.given, *refs, *stood_for, *asked_for))
        return self.reference_counts

    def private(self, given: Env, names: Sequence[str]) -> set[Storage]:
        """The storages planned to be carried by value that nothing but names with such a plan refers to (rule S8)."""
        live = self.spec.head | self.spec.after
        fixed = anchored(self.r, (x for n, x in given.items() if n not in names and n in live))
        planned: set[Storage] = set()
        owned: list[ArrayRef] = []
        for name in names:
            x = given[name]
            for k, leaf in enumerate(carried_parts(x)):
                how = self.plan.arrays.get((name, k))
                if plain(leaf) and isinstance(how, ArrayCarry) and how.by_value:
                    planned.add(leaf.storage)
                elif isinstance(leaf, ArrayRef) and how is OWNED:
                    owned += ends(leaf)
                elif isinstance(leaf, ArrayRef):
                    fixed |= set(storages_of(leaf))
        planned |= {arm.storage for arm in owned}
        for arm in owned:  # one that a view, or another object, shares with is not owned by a name
            leaves_of = [x for n in names for leaf in carried_parts(given[n]) for x in references(leaf)]
            others = [x for leaf in leaves_of for x in ends(leaf) if x.storage is arm.storage]
            if not arm.is_whole or any(x is not arm for x in others) or self.is_watched(arm):
                fixed.add(arm.storage)
        return {s for s in planned - fixed if s.arg is None}

    def is_watched(self, ref: ArrayRef) -> bool:
        """Whether it is compared later which object a reference stood for."""
        return any(o in self.r.watched for o in (ref, *objects(ref)))

    # -- arrays that names hold in turn
    def owned_groups(self, given: Env, names: Sequence[str]) -> None:
        """Makes the groups of the names that are carried as `OWNED`, and what they may hold."""
        leaves = [((n, k), leaf) for n in names for k, leaf in enumerate(carried_parts(given[n]))]
        planned = [(p, x) for p, x in leaves if self.plan.arrays.get(p) is OWNED and isinstance(x, ArrayRef)]
        for _, entry in planned:
            if self.group_of(entry) is None:
                self.groups.append(OwnedGroup(self.r, entry))
        for path, x in leaves if planned else ():
            how, group = self.plan.arrays.get(path), self.group_of(x)
            if group is None or not (plain(x) and isinstance(how, ArrayCarry) and how.by_value and x.is_whole):
                continue
            if x.storage in self.private_storages and not any(how.sizes) and not any(how.parts):
                if all(x is not entry for entry, _ in group.owners.values()):
                    group.owners[path] = x, self.one_head(path, x, how).head
        outer = [carried_parts(self.env[n])[k] for n, k in self.plan.may_be_held if n in self.env]
        for path, entry in planned:
            group = self.group_of(entry)
            assert group is not None
            group.slots[path] = self.slot(path, entry)
            entries = [x for x, _ in group.owners.values()]
            for arm in (*ends(entry), *(a for x in outer if self.group_of(x) is group for a in ends(x))):
                shared = arm.storage not in self.private_storages
                if shared and not any(arm.same_object(c) for c in (*entries, *group.outer)):
                    group.outer.append(arm)
        for group in self.groups:
            for slot in group.slots.values() if len(group.heads) == 1 else ():
                slot.always_own()

    def group_of(self, x: Any) -> OwnedGroup | None:
        """The group of arrays that are like an array, if there is one."""
        return next((g for g in self.groups if isinstance(x, ArrayRef) and self.alike(g.like, x)), None)

    def alike(self, a: ArrayRef, b: ArrayRef) -> bool:
        """Whether a name may hold either array: of the same element type, order of axes and shape."""
        if a.element is not b.element or a.ndim != b.ndim or a.read_only != b.read_only:
            return False
        orders = {ranks_of(arm) for x in (a, b) for arm in ends(x)}
        return len(orders) == 1 and all(self.r.facts.equal(x, y) for x, y in zip(a.shape, b.shape))

    def slot(self, path: Path, entry: ArrayRef) -> Slot:
        """The storage that a name owns at the head; its sizes are 0 where the name owns none. What the name holds
        before the loop may be a view."""
        sizes = [self.block.add_arg(INDEX) for _ in entry.shape]
        shape = [self.r.symbol(v, "size", 0, USUAL) for v in sizes]
        inner = Storage(entry.element, shape, order_of(entry), name=ends(entry)[0].storage.name)
        phi = self.block.add_arg(TensorType(tuple(shape), entry.element))
        self.frame.values[inner] = phi
        self.frame.locals.add(inner)
        return Slot(path, entry, inner, phi, sizes, ArrayRef(inner))

    def name(self, name: str, x: Any) -> Any:
        """One carried name at the head."""
        self.entry_values[name] = x
        value = x.value if isinstance(x, Maybe) else x
        first = len(self.items)
        for k, leaf in enumerate(carried_parts(x)):  # a leaf may be the same object as one before it
            self.items.append(self.with_object(self.item((name, k), leaf)))
        heads = iter([i.head for i in self.items[first:]])
        flag = [next(heads)] if isinstance(x, Maybe) else []
        made = rebuild(value, heads)
        stand_in(self.r, value, made)
        self.objects.at_head(name, value, made)
        return Maybe(flag[0], made, otherwise=x.otherwise) if flag else made

    def item(self, path: Path, entry: Any) -> Item:
        """One leaf of a carried name at the head."""
        kinds, now = self.plan.alternatives.get(path, ()), kinds_of(entry)
        if now is not None and {*now} <= {*kinds}:
            phis = [self.block.add_arg(element) for element in types_of(kinds)]
            return Item(path, entry, from_alternatives(self.r, phis, kinds, str(path[0])), kinds=kinds, phis=phis)
        if path in self.plan.texts and is_text(entry):
            phi = self.block.add_arg(INDEX)
            number = PyInt(self.r.symbol(phi, "text"))
            return Item(path, entry, text_of_loop(number), phis=[phi], is_text=True)
        if path in self.plan.texts and isinstance(entry, Untold):
            phi = self.block.add_arg(INDEX)
            number = PyInt(self.r.symbol(phi, "object"))
            return Item(path, entry, replace(entry, number=number), phis=[phi], is_text=True)
        kind = self.plan.numbers.get(path) or kind_of(entry)
        if is_number(entry) and kind is not None:
            phis = [self.block.add_arg(element) for element in kind.types]
            head = from_values(self.r, phis, kind, str(path[0]))
            self.assume_direction(path, entry, head)
            return Item(path, entry, head, kind, phis=phis)
        how = self.plan.arrays.get(path)
        guarded = isinstance(entry, GuardedRef) and how not in (WHICH, OWNED)
        if not isinstance(entry, ArrayRef) or how is None or guarded:
            return Item(path, entry, entry)
        if isinstance(how, ArrayCarry) and how.by_value and entry.storage not in self.private_storages:
            return Item(path, entry, entry)
        if isinstance(how, ArrayCarry):
            same = next((i for i in self.items if i.entry is entry and i.how == how), None)
            if same is not None:  # names of one array object stay names of one
                return replace(same, path=path)
        if isinstance(how, OneOfCandidates):
            phi = self.block.add_arg(INDEX)
            which = self.r.symbol(phi, f"which {path[0]}", 0, len(self.candidates) - 1)
            found = self.one_of(which, self.candidates, numbers=self.choices_of(entry))
            return Item(path, entry, found, how=how, phis=[phi])
        if how is OWNED:
            group = self.group_of(entry)
            assert group is not None
            phi = self.block.add_arg(INDEX)
            which = self.r.symbol(phi, f"which {path[0]}", 0, len(group.heads) - 1)
            return Item(path, entry, self.one_of(which, group.heads, entry.shape), how=how, phis=[phi])
        assert isinstance(how, ArrayCarry)
        return replace(self.one_head(path, entry, how), path=path)

    def one_head(self, path: Path, entry: ArrayRef, how: ArrayCarry) -> Item:
        """An array at the head; names of one array object stay names of one."""
        same_how = self.heads_by_array.setdefault(how, ByIdentity())
        if entry not in same_how:
            same_how[entry] = self.array(path, entry, how)
        return same_how[entry]

    def with_object(self, item: Item) -> Item:
        """A leaf whose object other iterations replace: at the head it carries whether it is still the one of before
        the loop, or which other one of then."""
        places = self.plan.other_objects.get(item.path)
        if places is None or not plain(item.head) or self.is_by_value(item):
            return item
        for other in self.items:
            same = other.known and other.entry is item.entry and other.how == item.how
            if same and self.plan.other_objects.get(other.path) == places:
                if not {other.path, item.path} & self.plan.apart:
                    return replace(other, path=item.path)  # names of one array object stay names of one
        head = ArrayRef(item.head.storage, item.head.view, item.head.read_only)
        before = (x for x in (item.entry, *map(self.held_before, places)) if x is not None)
        outer = distinct(o for x in before for o in objects(x))
        known = tuple((self.block.add_arg(I1), found) for found in outer)
        another = self.objects.array_at_head(identity(item.entry))
        return replace(item, head=with_identity(head, one_of_known(known, another)), known=known, another=another)

    def held_before(self, place: Path) -> ArrayRef | None:
        """The array that stands at a place before the loop."""
        parts = carried_parts(self.env[place[0]]) if place[0] in self.env else []
        found = parts[place[1]] if place[1] < len(parts) else None
        return found if plain(found) else None

    def is_by_value(self, item: Item) -> bool:
        """Whether the loop carries the array of a leaf by value."""
        return isinstance(item.how, ArrayCarry) and item.how.by_value

    def assume_direction(self, path: Path, entry: Any, head: Any) -> None:
        """Assumes that an int rises (most do) until an iteration shows otherwise."""
        direction = self.directions[path] = self.plan.directions.get(path, 1)
        if isinstance(head, PyInt) and direction:
            start = entry.expr if isinstance(entry, PyInt) else int(entry)
            self.r.facts.assume_nonneg(mul(direction, sub(head.expr, start)))

    def array(self, path: Path, entry: ArrayRef, how: ArrayCarry) -> Item:
        """An array at the head: a view, whose changing parts are ints, of its storage or of a stand-in for it."""
        view, storage = entry.view, entry.storage
        if how.by_value:
            storage = self.carried_storage(entry.storage, how).inner
            if entry.is_whole and not any(how.parts):
                return Item(path, entry, ArrayRef(storage, read_only=entry.read_only), how=how)
        values = [self.part(p) if vary else None for p, vary in zip(parameters(view), how.parts)]
        made = [d if v is None else self.size_symbol(v) for d, v in zip(parameters(view), values)]
        n = len(view.offsets)
        head = ArrayRef(storage, replace(view, offsets=tuple(made[:n]), sizes=tuple(made[n:])), entry.read_only)
        return Item(path, entry, head, how=how, parts=tuple(values))

    def carried_storage(self, entry: Storage, how: ArrayCarry) -> CarriedStorage:
        """The stand-in for a storage that each iteration may replace."""
        found = self.storages.get(entry)
        if found is None:
            values = [self.part(d) if vary else None for d, vary in zip(entry.shape, how.sizes)]
            shape = [d if v is None else self.size_symbol(v, 0) for d, v in zip(entry.shape, values)]
            inner = Storage(entry.element, shape, entry.order, name=entry.name)
            phi = self.block.add_arg(TensorType(tuple(self.r.facts.canon(d) for d in shape), entry.element))
            found = self.storages[entry] = CarriedStorage(entry, inner, phi, values)
            self.frame.values[inner] = phi
            self.frame.locals.add(inner)
        return found

    def part(self, start: Dim) -> Value:
        """A size or offset carried as an int; those that begin equal share one until they differ (rule S11)."""
        key = object() if self.plan.sizes_diverge else self.r.facts.canon(start)
        if key not in self.shared_sizes:
            self.shared_sizes[key] = self.block.add_arg(INDEX)
        return self.shared_sizes[key]

    def size_symbol(self, value: Value, lo: int | None = None) -> Dim:
        """The symbol of a carried size."""
        made = self.r.index_symbols.get(value)
        if made is None:
            made = self.r.index_symbols[value] = self.r.symbol(value, "size", lo=lo)
        return made

    def arrays_to_choose_from(self, given: Env) -> list[ArrayRef]:
        """The arrays that names planned as `WHICH` hold before the loop."""
        found: list[ArrayRef] = []
        for path in (*(p for p, how in self.plan.arrays.items() if how is WHICH), *self.plan.may_take_others):
            if path[0] in given:
                parts = carried_parts(given[path[0]])
                ref = parts[path[1]] if path[1] < len(parts) else None  # it held something of another form then
                for arm in ends(ref) if isinstance(ref, ArrayRef) else ():
                    if not any(arm.same_object(f) for f in found):
                        found.append(arm)
        return found

    def choices_of(self, entry: ArrayRef) -> list[int]:
        """The numbers of the candidates that are of the element type and number of axes of what a name holds."""
        alike = (c.element is entry.element and c.ndim == entry.ndim for c in self.candidates)
        return [k for k, it_is in enumerate(alike) if it_is]

    def one_of(
        self, which: Dim, refs: Sequence[ArrayRef], shape: Sequence[Dim] | None = None,
        numbers: Sequence[int] | None = None,
    ) -> ArrayRef:  # fmt: skip
        """The candidate array that a number selects, of those with these numbers; all are of the shape, or the first
        one's."""
        *others, last = range(len(refs)) if numbers is None else numbers
        made = refs[last]
        for k in reversed(others):
            sizes = refs[k].shape if shape is None else shape
            made = GuardedRef(self.r.compare("eq", which, k), (refs[k], made), sizes)
        return made

    def discard(self) -> None:
        """Drops what the attempt recorded."""
        self.unwatch()
        self.r.forget(self.mark)
        if self.r.held is not None:
            self.r.held.forget(self.noted)
        del self.r.loops[self.reported :]

    def unwatch(self) -> None:
        """After the loop nothing is compared with the objects at its head."""
        for x in self.watching:
            del self.r.watched[x]
        self.watching = []

    def inner(self, make: Callable[[], Value]) -> Value:
        """A value recorded at the end of the body."""
        with self.r.inside(self.frame):
            return make()

    def drop_steady(self) -> None:
        """Replaces the carried arguments that do not change by their initial values, once all that may use them is
        recorded."""
        if not self.steady:
            return
        symbols = self.r.func.symbols
        symbols.update([(s, self.steady[v]) for s, v in symbols.items() if v in self.steady])
        for phi, init in self.steady.items():
            phi.replace_all_uses(init)
            self.block.drop_arg(self.block.args.index(phi))

    def anchored(self) -> set[Storage]:
        """Storages that names refer to which the loop does not carry."""
        live = self.spec.head | self.spec.after
        names = set(self.entry_values)
        values = [v for n, v in self.after.items() if n not in names and n in live]
        return anchored(self.r, values)
