"""The close of a loop: the op is recorded with its loop-carried values, and names are bound to its results."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from tracebuf.frontends.numpy.numbers.lattice import (
    BREAK,
    JUMP,
    Maybe,
    from_values,
    is_container,
    rebuild,
    same_value,
    structure,
    to_values,
    without_maybes,
    zeros,
)
from tracebuf.frontends.numpy.numbers.python_ints import as_int_value
from tracebuf.frontends.numpy.paths.identity import (
    container_identity,
    identity,
    in_place_of,
    last_object,
    objects,
    one_object,
    one_of_known,
    select_truth,
    truth_value,
    with_identity,
)
from tracebuf.frontends.numpy.paths.joins import one_or_other, plain, references
from tracebuf.frontends.numpy.paths.leaving import Finish, Leaving, parameters
from tracebuf.frontends.numpy.paths.loops.alternatives import from_alternatives, to_alternatives
from tracebuf.frontends.numpy.paths.loops.compare import LoopComparison
from tracebuf.frontends.numpy.paths.loops.objects import Carried, carried_containers
from tracebuf.frontends.numpy.paths.loops.owned import OwnedGroup, Slot
from tracebuf.frontends.numpy.paths.loops.plan import OWNED, WHICH, ArrayCarry, CarriedStorage, Item, goes_on
from tracebuf.frontends.numpy.paths.loops.report import LoopReport, carried_by
from tracebuf.frontends.numpy.record.by_identity import PairsByIdentity, distinct
from tracebuf.frontends.numpy.record.callees import Untold, text_of_loop
from tracebuf.frontends.numpy.record.cond import Cond, ends
from tracebuf.frontends.numpy.record.heap import items_of, with_items
from tracebuf.frontends.numpy.record.sizes import USUAL
from tracebuf.frontends.numpy.record.values import (
    ArrayRef,
    GuardedRef,
    Kind,
    PyBool,
    PyInt,
    Scalar,
    Storage,
    kind_of,
    storages_of,
    whole,
)
from tracebuf.ir.core import Block, Value
from tracebuf.ir.dims import Dim, Sym, add, dim_max, mod, mul, sub, substitute, sym
from tracebuf.ir.types import I1, INDEX, TensorType
from tracebuf.ops.control import scf
from tracebuf.ops.scalars import arith


class LoopClose(LoopComparison):
    """An attempt that is recorded: the class between `LoopComparison` and `Loop`."""

    def close(self) -> LoopReport:
        """Records the loop; names and storages take its results."""
        r = self.r
        self.carried = Carried(r, self.block, self.frame)
        self.last = LastIteration(self)
        self.watch()
        self.identities_after()
        self.unwatch()
        self.arrays_of_one_object()
        self.containers_after()
        finishes = [] if self.spec.exits else self.bound_inside()
        self.objects.carry(self.carried)
        self.close_items()
        self.close_storages()
        self.close_owned()
        for storage, phi in list(self.frame.phis.items()):
            outside = r.value(storage)
            if self.frame.values[storage] is phi:
                self.steady[phi] = outside
            else:
                self.carried[phi] = (outside, self.frame.values[storage], partial(r.set_value, storage))
        self.drop_steady()
        carried = {p: (i, self.steady.get(last, last), done) for p, (i, last, done) in self.carried.items()}
        results = self.record(carried)
        for phi, result in results.items():
            carried[phi][2](result)
        self.close_names()
        for finish in finishes:
            finish()
        self.carried_containers.close()
        stored = [storage for storage, phi in self.frame.phis.items() if phi in results]
        return LoopReport(r.loc, tuple(carried_by(self.items, stored, results, self.called)), self.plan.mends)

    def note_held(self) -> None:
        """Notes which storages those at the head stand for: those of before the loop, and of the iteration before."""
        if self.r.held is None:
            return
        backs = {i.path: i.back for i in self.items}
        heads = [(c.inner, [c.entry, self.yielded(c)]) for c in self.storages.values()]
        for group in self.groups:
            entries = [*(s.entry for s in group.slots.values()), *(e for e, _ in group.owners.values()), *group.outer]
            held = [*entries, *(backs[p] for p in (*group.slots, *group.owners))]
            sources = [s for x in held for s in storages_of(x)]
            heads += [(slot.inner, sources) for slot in group.slots.values()]
        self.r.held.note_heads(self.r, heads)

    def identities_after(self) -> None:
        """Notes which objects the names hold after the loop whose identity an iteration decides."""
        names = [x for n, x in self.after.items() if n in self.spec.after and n not in self.entry_values]
        bound = distinct(o for x in references(names) for o in objects(x))
        for i in self.items:
            found = identity(i.back) if plain(i.back) and plain(i.head) and i.back is not i.head else None
            wanted = self.plan.other_objects and not i.known or i.path[0] in self.plan.first_bound_inside
            wanted = wanted or any(o in bound or o in self.references_before() for o in ends(found))
            if isinstance(found, Cond) and wanted:
                self.moved[i.head, i.back] = self.last.identity(str(i.path[0]), found)

    def arrays_of_one_object(self) -> None:
        """Notes which names hold one array object after the loop, of those whose objects are asked for."""
        asked = [i for i in self.items if i.another is not None]
        self.objects.ends.update((i.another, identity(i.back)) for i in asked)
        live = [i for i in asked if i.path[0] in self.spec.after or not str(i.path[0]).isidentifier()]
        found = PairsByIdentity(((i.entry, i.back), i) for i in live)  # names of one object at both ends stay so
        for (_, j), (key, i) in itertools.combinations(found.items(), 2):  # each with those before it, in order
            with self.r.inside(self.frame):
                last = one_object(self.r, identity(i.back), identity(j.back))
            first = one_object(self.r, identity(i.entry), identity(j.entry))
            if not (first is False and last is False):
                self.one_as.setdefault(key, []).append((list[Value](), j))
                self.carried.flag(first, last, self.one_as[key][-1][0].append)

    def containers_after(self) -> None:
        """Notes which objects the names' containers are after the loop."""
        pairs: list[tuple[Any, Any]] = []
        for name, like in self.entry_values.items():
            before, back = (x.value if isinstance(x, Maybe) else x for x in (like, self.after.get(name)))
            if structure(before) == structure(back):
                self.objects.note_ends(name, back)
                if name in self.spec.after or not name.isidentifier():
                    pairs += zip(carried_containers(before), carried_containers(back))
        for a, b in pairs:
            if (a, b) not in self.container_objects:
                both = container_identity(self.r, a), container_identity(self.r, b)
                self.container_objects[a, b] = self.objects.after(self.carried, *both)

    def watch(self) -> None:
        """Carries whether names still hold the objects that they held before the loop, where something else holds them
        too, or what an iteration gives them."""
        r = self.r
        for i in self.items:
            for flag, found in i.known:
                if flag not in self.carried:
                    with r.inside(self.frame):
                        still = one_object(r, identity(i.back), found)
                    first, take = one_object(r, identity(i.entry), found), partial(self.entry_flags.__setitem__, flag)
                    self.carried.flag(first, still, take, flag)
        for i in self.items:
            key = i.entry, i.back
            if i.known or i.how in (WHICH, OWNED) or i.back is i.head:
                continue
            if key in self.unchanged_flags or not (plain(i.entry) and (self.observed(i) or self.takes_known(i))):
                continue
            phi = self.block.add_arg(I1)

            with r.inside(self.frame):
                last = select_truth(r, phi, one_object(r, identity(i.back), identity(i.head)), False)
            self.carried.flag(True, last, partial(self.unchanged_flags.__setitem__, key), phi)

    def close_items(self) -> None:
        """Adds the carried numbers: initial value, yielded value, and what takes the result."""
        r = self.r
        for item in self.items:
            if not item.phis or item.how is OWNED:
                continue
            if item.kinds:
                self.close_alternatives(item)
                continue
            if item.is_text:
                self.close_text(item)
                continue
            if item.kind is None:
                init, last = self.which_value(item.entry), self.inner(partial(self.which_value, item.back))
                self.carried[item.phis[0]] = (init, last, partial(self.found_which, item))
                continue
            inits = to_values(r, item.entry, item.kind)
            if same_value(item.back, item.head):
                self.steady.update(zip(item.phis, inits))
                item.found = item.entry
                continue
            with r.inside(self.frame):
                lasts = to_values(r, item.back, item.kind)
            self.carried.add(item.phis, inits, lasts, self.found_number(item))

    def close_text(self, item: Item) -> None:
        """Adds a text that iterations add to, or an object of a library's."""
        init = self.number_of_kept(item.entry)
        last = self.inner(lambda: self.number_of_kept(item.back))

        def done(values: list[Value]) -> None:
            number = PyInt(self.r.symbol(values[0], "text"))
            of_object = isinstance(item.entry, Untold)
            item.found = replace(item.entry, number=number) if of_object else text_of_loop(number)

        self.carried.add(item.phis, [init], [last], done)

    def number_of_kept(self, x: Any) -> Value:
        """The number of a text or an object among those that are kept."""
        return self.r.index((x.number if isinstance(x, Untold) else self.r.keep_text(x)).expr)

    def close_alternatives(self, item: Item) -> None:
        """Adds what is None or a number, or of several types."""
        inits, kinds = to_alternatives(self.r, item.entry, item.kinds), item.kinds
        with self.r.inside(self.frame):
            lasts = to_alternatives(self.r, item.back, kinds)

        def done(values: list[Value]) -> None:
            item.found = from_alternatives(self.r, values, kinds, str(item.path[0]))

        self.carried.add(item.phis, inits, lasts, done)

    def found_number(self, item: Item) -> Callable[[list[Value]], None]:
        """The function that takes the results of a carried number."""
        kept = self.kind_afterwards(item)

        def done(values: list[Value]) -> None:
            if kept is None:
                item.found = item.entry
                return
            counted = self.counted(item)
            if counted is not None:
                item.found = as_int_value(counted)
                return
            item.found = from_values(self.r, values, kept, str(item.path[0]))
            direction = self.directions.get(item.path, 0)
            if isinstance(item.found, PyInt) and direction and item.path[0] != JUMP:
                start = item.entry.expr if isinstance(item.entry, PyInt) else int(item.entry)
                self.r.facts.assume_nonneg(mul(direction, sub(item.found.expr, start)))

        return done

    def counted(self, item: Item) -> Dim | None:
        """An int after the loop to which each iteration adds one known number, by the number of iterations; None for
        any other."""
        rng, head, back = self.spec.rng, item.head, item.back
        if self.spec.exits or rng is None or self.rotation or item.path[0] == JUMP:
            return None
        if not (isinstance(head, PyInt) and isinstance(back, PyInt) and isinstance(item.entry, (int, PyInt))):
            return None
        step = self.r.facts.canon(sub(back.expr, head.expr))
        if not isinstance(step, int):
            return None
        trips = self.r.facts.canon(rng.trips())
        if not self.r.facts.nonneg(trips):
            trips = dim_max(0, trips)
        start = item.entry.expr if isinstance(item.entry, PyInt) else int(item.entry)
        return add(start, mul(step, trips)) if self.r.in_scope(trips) else None

    def kind_afterwards(self, item: Item) -> Kind | None:
        """The kind of a carried number after the loop: certainly NumPy's if the loop certainly runs (proved or guarded,
        rule S9) and its last value is NumPy's; None if the loop certainly does not run, so that the number stays as it
        is.
        """
        kind, last = item.kind, kind_of(item.back)
        assert kind is not None
        if self.spec.rng is None or not kind.python or last is None or self.spec.exits:
            return kind
        if last.name != "np" or last.python:
            return kind
        runs = self.r.ask_nonneg(add(self.spec.rng.trips(), -1))
        return None if runs is False else Kind("np", kind.element) if runs else kind

    def which_value(self, ref: ArrayRef) -> Value:
        """The number of the candidate that a reference refers to."""
        if isinstance(ref, GuardedRef):
            a, b = (self.which_value(arm) for arm in ref.arms)
            return self.r.emit(arith.Select.of(ref.condition, a, b))
        return self.r.index(next(k for k, c in enumerate(self.candidates) if c.same_object(ref)))

    def found_which(self, item: Item, value: Value) -> None:
        """Takes the result which says which candidate a name holds."""
        which = self.r.symbol(value, f"which {item.path[0]}", 0, len(self.candidates) - 1)
        item.found = self.one_of(which, self.candidates, numbers=self.choices_of(item.entry))

    # -- arrays that names hold in turn
    def close_owned(self) -> None:
        """Adds the arrays that names own, their sizes, and which array each name holds."""
        for group in self.groups:
            items = {i.path: i for i in self.items}
            before = group.holder({p: s.entry for p, s in group.slots.items()}, [e for e, _ in group.owners.values()])
            after = group.holder({p: items[p].back for p in group.slots}, [items[p].back for p in group.owners])
            inits = before.values()
            with self.r.inside(self.frame):
                lasts = after.values()
            for slot, init, last in zip(group.slots.values(), inits, lasts):
                for value, a, b in zip((*items[slot.path].phis, *slot.sizes, slot.phi), init, last, strict=True):
                    self.carried[value] = (a, b, slot.after.append)

    def found_owned(self, group: OwnedGroup) -> None:
        """Binds the names of a group after the loop, once the results stand in `after`."""
        items = {i.path: i for i in self.items}
        slots = [self.owned_after(s, items[s.path].phis[0]) for s in group.slots.values()]
        refs = group.candidates([items[p].found for p in group.owners], [ref for ref, _ in slots])
        for (path, slot), (_, which) in zip(group.slots.items(), slots):
            number = self.r.symbol(which, f"which {path[0]}", 0, len(refs) - 1)
            items[path].found = self.one_of(number, refs, slot.entry.shape)

    def owned_after(self, slot: Slot, phi: Value) -> tuple[ArrayRef, Value]:
        """The array that a name owns after the loop, and the number of the array that it holds."""
        results = {self.block.args.index(v): v for v in (phi, *slot.sizes, slot.phi)}
        ordered = dict(zip((results[k] for k in sorted(results)), slot.after, strict=True))
        own = slot.entry.shape if slot.always else [self.r.symbol(ordered[v], "size", 0, USUAL) for v in slot.sizes]
        shape = tuple(own)
        value = ordered[slot.phi]
        value.type = TensorType(tuple(self.r.facts.canon(d) for d in shape), slot.inner.element)
        slot.inner.shape = shape
        self.outer.values[slot.inner] = value
        self.outer.locals.add(slot.inner)
        return ArrayRef(slot.inner), ordered[phi]

    def close_storages(self) -> None:
        """Adds the storages carried by value, their sizes, and the parts of views."""
        r = self.r
        inits: dict[Value, Dim] = {}
        for c in self.storages.values():
            inits |= {v: d for v, d in zip(c.sizes, c.entry.shape) if v is not None}
        for i in self.items:
            inits |= {v: d for v, d in zip(i.parts, parameters(i.entry.view)) if v is not None} if i.parts else {}
        for value, last in dict(self.size_yields()).items():
            init = r.index(inits[value])
            self.carried[value] = (init, self.inner(partial(r.index, last)), partial(self.phi_inits.__setitem__, value))
        for c in self.storages.values():
            last_value = self.inner(partial(r.value, self.yielded(c)))
            self.carried[c.phi] = (r.value(c.entry), last_value, partial(self.found_storage, c))

    def size_after(self, phi: Value | None, before: Dim, lo: int | None = 0) -> Dim:
        """A size after the loop; or an offset, which may be negative for an empty view."""
        return before if phi is None else self.size_symbol(self.phi_inits[phi], lo)

    def found_storage(self, c: CarriedStorage, value: Value) -> None:
        """The function that takes the result of a storage carried by value."""
        shape = tuple(self.size_after(v, d) for v, d in zip(c.sizes, c.entry.shape))
        value.type = TensorType(tuple(self.r.facts.canon(d) for d in shape), c.entry.element)
        c.inner.shape = shape
        self.outer.values[c.inner] = value
        self.outer.locals.add(c.inner)

    def record(self, carried: dict[Value, tuple[Value, Value, Any]]) -> dict[Value, Value]:
        """Records the op; its result for each carried argument."""
        r, rng = self.r, self.spec.rng
        if self.counter is not None:
            k = next(s for s, v in r.func.symbols.items() if v is self.counter)
            last = self.inner(lambda: r.index(add(sym(k), 1)))
            carried[self.counter] = (r.index(0), last, lambda value: None)
        if not self.spec.exits:
            assert rng is not None
            order = self.block.args[1:]
            self.block.append(scf.Yield.of([carried[p][1] for p in order], r.loc))
            start, stop, step = rng.bounds()
            bounds = [start, stop, step * max(len(self.rotation) - 1, 1)]
            inits = [carried[p][0] for p in order]
            op: scf.For | scf.While = r.add(scf.For.of([r.index(b) for b in bounds], inits, self.block))
        else:
            order = self.block.args
            further = self.inner(self.another_follows)
            lasts = [carried[p][1] for p in order]
            self.block.append(scf.Condition.of([further, *lasts], r.loc))
            passed = self.hand_on(order)
            passed.append(scf.Yield.of(passed.args, r.loc))
            types = [p.type for p in order]
            op = r.add(scf.While.of([carried[p][0] for p in order], self.block, passed, types=types))
        return dict(zip(order, op.results))

    def hand_on(self, order: Sequence[Value]) -> Block:
        """The second region of an scf.while, which passes its arguments on."""
        symbols, block = self.r.func.symbols, Block()
        own: dict[Sym, Dim] = {}
        for p in order:
            arg = block.add_arg(p.type)
            if isinstance(p.type, TensorType):
                arg.type = TensorType(tuple(substitute(d, own) for d in p.type.shape), p.type.element)
            else:
                own |= {s: self.r.symbol(arg, s.name, s.lo, s.hi) for s, v in list(symbols.items()) if v is p}
        return block

    def another_follows(self) -> Value:
        """The condition of the scf.while: whether another iteration follows."""
        further = False if self.dead else goes_on(self.r, self.after, BREAK)
        return truth_value(self.r, further)

    def close_names(self) -> None:
        """Binds the carried names to their values after the loop."""
        made: PairsByIdentity[ArrayRef] = PairsByIdentity()
        for item in self.items:
            if isinstance(item.entry, ArrayRef) and item.how not in (WHICH, OWNED):
                one = item.head, item.back  # names of one array object stay names of one
                item.found = made[one] = made[one] if one in made else self.array_after(item)
            elif not item.phis:
                item.found = item.entry
        for group in self.groups:
            self.found_owned(group)
        containers: PairsByIdentity[Any] = PairsByIdentity()
        for name, like in self.entry_values.items():
            founds = iter([i.found for i in self.items if i.path[0] == name])
            flag = next(founds) if isinstance(like, Maybe) else True
            before, back = (x.value if isinstance(x, Maybe) else x for x in (like, self.after.get(name)))
            value = rebuild(before, founds)
            if structure(before) == structure(back):
                value = self.container_after(before, back, value, containers)
            else:
                self.r.heap.merge_all(before, self.r)
            found = value if flag is True else Maybe(flag, value, otherwise=like.otherwise)
            self.env[name] = without_maybes(found) if name in self.plan.maybes else found
        for name in self.spec.assigned:
            if name not in self.spec.head:
                self.env.pop(name, None)
        if self.rotation:
            self.bind_rotated()

    def container_after(self, before: Any, back: Any, made: Any, known: PairsByIdentity[Any]) -> Any:
        """A container after the loop, and those in it: names of one container, before the loop and at the end of each
        iteration, stay names of one; one that the loop leaves as it is stays itself."""
        if not is_container(before):
            return made
        if before is back and self.r.heap.outlives(back, self.r):
            return back
        if (before, back) not in known:
            for x in (before, back):
                self.r.heap.merge(x, self.r)
            inside = zip(items_of(before), items_of(back), items_of(made), strict=True)
            parts = [self.container_after(a, b, c, known) for a, b, c in inside]
            found = known[before, back] = with_items(made, parts)
            if (before, back) in self.container_objects:
                self.r.heap.origins[found] = self.container_objects[before, back]()
        return known[before, back]

    def array_after(self, item: Item) -> ArrayRef:
        """The array of a name after the loop, where it is of one storage: the same object if no iteration replaced
        it."""
        if item.back is item.head and not (isinstance(item.how, ArrayCarry) and item.how.by_value):
            return item.entry  # type: ignore[no-any-return]
        key = item.entry, item.back
        if key not in self.arrays:
            self.arrays[key] = self.replaced(item)
        return self.arrays[key]

    def replaced(self, item: Item) -> ArrayRef:
        """A new array object for a name whose array the loop may have replaced; its `origin` says which object it
        is."""
        how, head = item.how, item.head
        made: ArrayRef
        if how is None and not plain(item.entry):
            return item.entry  # type: ignore[no-any-return]
        if how is None:
            made = ArrayRef(head.storage, head.view, head.read_only)
        elif not item.parts:
            made = ArrayRef(head.storage, whole(head.storage.shape), head.read_only)
        else:
            n = len(head.view.offsets)
            before = parameters(item.entry.view)
            parts = [self.size_after(v, d, None if k < n else 0) for k, (v, d) in enumerate(zip(item.parts, before))]
            view = replace(head.view, offsets=tuple(parts[:n]), sizes=tuple(parts[n:]))
            made = ArrayRef(head.storage, view, head.read_only)
        moved = item.back if isinstance(identity(item.back), Cond) else identity(item.back)
        moved = identity(item.entry) if item.back is head else moved
        if (head, item.back) in self.moved:
            moved = self.moved[head, item.back]()
        if item.known:
            outer = [(self.entry_flags[flag], o) for flag, o in item.known]
            same = self.one_as.get((item.entry, item.back), ())
            others = [(flag[0], self.other_object(i)) for flag, i in same]
            return with_identity(made, one_of_known([*outer, *others], moved))
        flag = self.unchanged_flags.get((item.entry, item.back))
        if flag is not None:  # a last iteration that kept what an earlier one bound
            earlier = in_place_of(head, ArrayRef(made.storage, made.view), moved)
            moved = Cond(flag, identity(item.entry), earlier)
        made.origin = moved
        return made

    def other_object(self, item: Item) -> Any:
        """What an array is after the loop where it is none of those of before the loop."""
        found = identity(self.array_after(item))
        return found if (item.head, item.back) in self.moved else last_object(found)

    def bind_rotated(self) -> None:
        """Binds names that rotate arrays, by the number of iterations, which a guard makes known if entry values decide
        it."""
        r, rng = self.r, self.spec.rng
        assert rng is not None
        cycle = len(self.rotation) - 1
        trips = rng.trips()
        runs = r.ask_nonneg(trips)
        rest = mod(trips if runs else dim_max(trips, 0), cycle)
        if r.entry_only(rest):
            self.env |= self.rotation[r.static_int(rest, "the number of iterations")]
            return
        for name in self.rotation[0]:
            made = self.rotation[0][name]
            for k in range(1, cycle):
                made = one_or_other(r, r.compare("eq", rest, k), self.rotation[k][name], made)
            self.env[name] = made

    # -- names first bound inside an scf.for
    def bound_inside(self) -> list[Callable[[], None]]:
        """Binds names first bound in the body and used after the loop to their last values, if the loop runs."""
        r, finishes = self.r, []
        for name in self.spec.assigned:
            if name in self.entry_values or name not in self.spec.after or name not in self.after or self.dead:
                continue
            assert self.spec.rng is not None
            trips = self.spec.rng.trips()
            runs = r.ask_nonneg(add(trips, -1))
            if runs is False:
                continue
            x = self.after[name]
            bound = x.bound if isinstance(x, Maybe) else True
            value = self.last.value(name, x.value if isinstance(x, Maybe) else x)
            flag = self.last.value(name, bound)
            ran = True if runs else PyBool(r.compare("sge", trips, 1))
            finishes.append(self.binder(name, value, flag, ran))
        return finishes

    def binder(self, name: str, value: Callable[[], Any], flag: Callable[[], Any], ran: Any) -> Callable[[], None]:
        def bind() -> None:
            bound = flag() if flag() is not True else ran
            self.env[name] = value() if bound is True else Maybe(bound, value())

        return bind


class LastIteration(Leaving):
    """The values of the last iteration, of names that the loop first binds."""

    def __init__(self, loop: LoopClose) -> None:
        super().__init__(loop.r, loop.frame)
        self.loop, self.carried = loop, loop.carried
        self.storages: dict[Storage, Storage] = {}

    def value(self, name: str, x: Any) -> Finish:
        same = next((i for i in self.loop.items if i.back is x), None) if isinstance(x, ArrayRef) else None
        return super().value(name, x) if same is None else lambda: same.found

    def number(self, name: str, x: Scalar) -> Finish:
        r, kind, found = self.r, x.kind, list[Any]()
        with r.inside(self.frame):
            lasts = to_values(r, x, kind)
        phis = [self.loop.block.add_arg(element) for element in kind.types]
        done = lambda values: found.append(from_values(r, values, kind, name))  # noqa: E731
        self.carried.add(phis, zeros(r, kind), lasts, done)
        return lambda: found[0]

    def dim(self, d: Dim, lo: int | None = None) -> Callable[[], Dim]:
        return (lambda: d) if self.r.in_scope(d) else self.size(d, lo)[1]

    def size(self, d: Dim, lo: int | None) -> tuple[Dim, Callable[[], Dim]]:
        """A size that the loop carries, 0 before the first iteration: at the head, and after the loop."""
        r, found = self.r, list[Dim]()
        phi = self.loop.block.add_arg(INDEX)
        last = self.loop.inner(lambda: r.index(d))
        self.carried[phi] = (r.index(0), last, lambda v: found.append(r.symbol(v, "size", lo)))
        return r.symbol(phi, "size", lo), lambda: found[0]

    def container(self, x: Any, items: Sequence[Any]) -> Any:
        return with_items(x, items)

    def container_object(self, name: str, x: Any) -> Finish:
        return self.loop.objects.after(self.carried, None, container_identity(self.r, x))

    def storage(self, storage: Storage) -> Storage:
        r, loop = self.r, self.loop
        if storage in self.storages:
            return self.storages[storage]
        for c in loop.storages.values():
            if storage is loop.yielded(c):
                return c.inner
        assert loop.spec.rng is not None
        runs = r.ask_nonneg(add(loop.spec.rng.trips(), -1)) is True
        shape = [(d, lambda d=d: d) if isinstance(d, int) else self.size(d, 0) for d in storage.shape]
        made = self.storages[storage] = Storage(storage.element, storage.shape, storage.order, name=storage.name)
        made.writable = storage.writable
        if r.held is not None:
            r.held.note_sources(made, (storage,))
        phi = loop.block.add_arg(TensorType(tuple(r.facts.canon(d) for d, _ in shape), storage.element))
        init = r.placeholder(storage.element, storage.shape, storage.order)

        def done(value: Value) -> None:
            sizes = zip(storage.shape, shape)
            made.shape = tuple(d if runs and r.in_scope(d) else after() for d, (_, after) in sizes)
            value.type = TensorType(tuple(r.facts.canon(d) for d in made.shape), made.element)
            loop.outer.values[made] = value
            loop.outer.locals.add(made)

        self.carried[phi] = (init, loop.inner(lambda: r.value(storage)), done)
        return made
