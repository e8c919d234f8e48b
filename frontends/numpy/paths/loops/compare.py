"""The comparison of a loop's end with its head: where they disagree, the plan is mended (rules S8, S9, S11)."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import reduce
from typing import Any

from tracebuf.frontends.numpy.numbers.lattice import (
    JUMP,
    RETURN,
    Maybe,
    as_maybe,
    carried_parts,
    check_one_type,
    from_values,
    is_number,
    parts_of,
    path_dependent,
    rebuild,
    same_value,
    stands_by,
    structure,
    unify,
    unify_values,
    with_maybes,
    zeros,
)
from tracebuf.frontends.numpy.numbers.python_ints import is_exactly
from tracebuf.frontends.numpy.paths.identity import identity, objects, without_identity
from tracebuf.frontends.numpy.paths.joins import MISSING, pairable, plain, references
from tracebuf.frontends.numpy.paths.leaving import deep_parameters, parameters
from tracebuf.frontends.numpy.paths.loops.containers import check_changes
from tracebuf.frontends.numpy.paths.loops.head import LoopHead
from tracebuf.frontends.numpy.paths.loops.plan import (
    OWNED,
    WHICH,
    ArrayCarry,
    CarriedStorage,
    Item,
    Path,
    similar,
    without_left_paths,
)
from tracebuf.frontends.numpy.record.by_identity import ByIdentity, distinct
from tracebuf.frontends.numpy.record.callees import are_objects_of_one_class, is_text
from tracebuf.frontends.numpy.record.cond import Cond, conditions, ends
from tracebuf.frontends.numpy.record.growing import form_in, is_growing, is_list
from tracebuf.frontends.numpy.record.heap import Fixed
from tracebuf.frontends.numpy.record.recorder import Recorder
from tracebuf.frontends.numpy.record.regions import Frame
from tracebuf.frontends.numpy.record.values import (
    BOOL,
    INT,
    ArrayRef,
    GuardedRef,
    Kind,
    Kinds,
    PyInt,
    Storage,
    kind_of,
    kinds_of,
    of_one_form,
    words_of,
)
from tracebuf.ir.core import Region, Value
from tracebuf.ir.dims import Dim, mul, sub
from tracebuf.ops.arrays import linalg, tensor
from tracebuf.ops.control import scf

PARTS = tensor.SliceOp | tensor.Cast | tensor.Regrouping
"""Ops that select or place elements."""
LeafMaker = Callable[[Recorder], Any]
"""How to make a placeholder for one leaf."""
Template = Callable[[Recorder, dict[LeafMaker, Any]], Any]
"""How to make a placeholder for a name."""


class LoopComparison(LoopHead):
    """An attempt whose end is compared with its head."""

    def note_end_values(self) -> None:
        """Notes the value of each leaf at the end of the body."""
        if not self.dead:
            check_changes(self.r, self.frame)
        for name, like in self.entry_values.items():
            items = [i for i in self.items if i.path[0] == name]
            got = self.after.get(name, MISSING)
            if name in self.plan.maybes and got is not MISSING:
                got = with_maybes(self.r, got, like)
                self.after = {**self.after, name: got}
            maybe = isinstance(like, Maybe)
            value = got.value if isinstance(got, Maybe) else got
            wanted = like.value if maybe else like
            if got is MISSING or structure(value) != structure(wanted) or (isinstance(got, Maybe) and not maybe):
                self.peel(name, "is bound to something else after an iteration")
                self.note_lists(wanted, value)
                continue
            flags = [got.bound if isinstance(got, Maybe) else True] if maybe else []
            for item, leaf in zip(items, [*flags, *parts_of(value)]):
                item.back = leaf

    def note_lists(self, *values: Any) -> None:
        """Notes that a name holds lists of several lengths, or of several kinds by the path: they are to be lists whose
        length the run time knows."""
        values = tuple(end for x in values for end in (ends(x) if type(x) is Cond else [x]))
        if not all(map(is_list, values)):
            return
        for x in values:
            known = self.r.heap.find(x)
            label = self.r.heap.stand_ins.get(x) if known is None else known.label
            if type(x) is list:
                self.r.growth.note(label, [item for one in values if type(one) is list for item in one])
                for other in values:
                    if is_growing(other):
                        self.r.growth.note_form(label, form_in(other))

    def compare(self) -> None:
        """Compares the end of the body with its head, and mends the plan."""
        self.note_end_values()
        self.note_first_bound_inside()
        if RETURN in self.plan.first_bound_inside and RETURN not in self.entry_values:
            return  # the arrays of the result are compared with those of names once it is carried, too
        for item in self.items:
            if (is_text(item.head) and is_text(item.back)) or are_objects_of_one_class(item.head, item.back):
                self.compare_text(item)
            elif self.is_of_alternatives(item):
                self.compare_alternatives(item)
            elif item.kind is not None:
                self.compare_number(item)
            elif not isinstance(item.entry, ArrayRef) and not same_value(item.head, item.back):
                self.compare_other(item)
        arrays = [i for i in self.items if isinstance(i.entry, ArrayRef)]
        for item in arrays:
            if not isinstance(item.back, ArrayRef):
                self.peel(item.path[0], "is no array after an iteration")
        if not self.peel_for:
            self.compare_arrays(arrays)

    def compare_other(self, item: Item) -> None:
        """Compares a leaf that is neither number nor array, and differs from the head: a container that is another one
        in each iteration is planned so, for anything else the first iteration is peeled."""
        name = str(item.path[0])
        ours = isinstance(item.head, Fixed) and self.r.heap.number(item.head.of) is None
        carried = self.carried_containers
        if ours and name in carried.containers and name not in carried.rebound_containers:  # of any of its items
            more = self.plan.rebound_containers | {name}
            self.mend(name, "is another container in each iteration", rebound_containers=more)
        elif item.path[0] in self.entry_values and (like := self.with_none(item)) is not None:
            self.plan_maybe(item, like, "is None at first")
        else:
            self.peel(name, "is another object after an iteration")

    def plan_maybe(self, item: Item, like: Any, why: str) -> None:
        """Plans a name that holds an array or container, or what stands by, by the path; `like`: it with `Maybe`s."""
        name = str(item.path[0])
        self.plan = self.plan.forgetting(name)
        makers, first = ByIdentity[Any, LeafMaker](), int(isinstance(like, Maybe))
        arrays = arrays_first_bound_inside(self.r, name, like, self.frame, first)
        make = template(self.r, name, like, self.frame, makers, bool(first))
        self.mend(name, why, maybes={name: make}, arrays=arrays)

    def with_number(self, item: Item) -> Maybe | None:
        """A name that is a number before the loop, and then an array or still that number by the path, as a `Maybe`;
        None for any other."""
        name = item.path[0]
        if name not in self.entry_values or self.entry_values[name] is not item.entry or not stands_by(item.entry):
            return None
        back = self.after[name]
        sides = back.arms if type(back) is Cond else ()
        there = [x for x in sides if isinstance(x, ArrayRef)]
        if len(there) != 1 or not any(same_value(x, item.head) or same_value(x, item.entry) for x in sides):
            return None
        return Maybe(True, there[0], otherwise=item.entry)

    def maybes(self, entry: Any, back: Any) -> Any:
        """The end of an iteration, with what may be None there and was before as a `Maybe`; in tuples arrays only."""
        if type(entry) is tuple and type(back) is tuple and len(entry) == len(back):
            return tuple(map(self.maybes, entry, back))
        if isinstance(entry, Maybe):
            return entry
        found = as_maybe(self.r, back) if entry is None or type(entry) is Cond else None
        return back if found is None else as_maybe(self.r, entry) or found

    def with_none(self, item: Item) -> Any:
        """`maybes` of a leaf's name, where the leaf is an array or container, or None, by the path; None for any other,
        and where one is left that is of several types."""
        if (item.entry is not None and as_maybe(self.r, item.entry) is None) or as_maybe(self.r, item.back) is None:
            return None
        like = self.maybes(self.entry_values[item.path[0]], self.after[item.path[0]])
        several = any(type(x) is Cond and kinds_of(x) is None for x in parts_of(like))
        return None if several else like

    def compare_text(self, item: Item) -> None:
        """Compares a text or an object of a library's: one that an iteration makes another is carried as its number
        among those that are kept."""
        if not item.is_text and not same_value(item.head, item.back):
            what = "text" if is_text(item.head) else "object"
            self.mend(item.path[0], f"is another {what} in each iteration", texts=self.plan.texts | {item.path})

    def is_of_alternatives(self, item: Item) -> bool:
        """Whether a leaf is None or a number, or of several types, depending on the path."""
        several = item.kinds or type(item.entry) is Cond or type(item.back) is Cond
        several = several or (item.back is None and item.kind is not None)
        return bool(several) and None not in (kinds_of(item.entry), kinds_of(item.back))

    def compare_alternatives(self, item: Item) -> None:
        """Compares a leaf that is None or a number, or of several types: there may be more of them."""
        kinds = tuple(dict.fromkeys((*item.kinds, *(kinds_of(item.entry) or ()), *(kinds_of(item.back) or ()))))
        if not item.kinds and (kind := self.of_one_kind(item, kinds)) is not None:
            self.mend(item.path[0], f"may be {kind.words} after an iteration", numbers={item.path: kind})
            return
        if kinds != item.kinds:
            self.mend(item.path[0], f"is {words_of(kinds)}, depending on the path", alternatives={item.path: kinds})

    def of_one_kind(self, item: Item, kinds: Kinds) -> Kind | None:
        """The kind of NumPy's that all of a leaf's widen to, if it holds what is a Python float: only what the head is
        was not known to be held."""
        found = reduce(unify, kinds)
        if found is None or found.python != "float":
            return None
        held = (same_value(x, item.head) or is_exactly(self.r, x, found.element) for x in ends(item.back))
        return found if is_exactly(self.r, item.entry, found.element) and all(held) else None

    def compare_number(self, item: Item) -> None:
        """Compares a number: its kind may have to be widened."""
        joined, direction = unify(item.kind, kind_of(item.back)), self.directions.get(item.path)
        if joined is not None and unify_values(self.r, item.entry, item.back) is None:
            self.compare_alternatives(item)
        elif joined is None and (like := self.with_number(item)) is not None:
            self.plan_maybe(item, like, f"is {item.entry!r} at first")
        elif joined is None:
            self.peel(item.path[0], "is no number after an iteration, or of a type that does not go with the first")
        elif joined != item.kind:
            self.mend(item.path[0], f"may be {joined.words} after an iteration", numbers={item.path: joined})
        elif item.kind is INT and item.path[0] != JUMP and direction:
            start = item.entry.expr if isinstance(item.entry, PyInt) else int(item.entry)
            last = item.back.expr if isinstance(item.back, PyInt) else int(item.back)
            if not self.r.facts.nonneg(mul(direction, sub(last, start))):
                falls = direction == 1 and self.r.facts.nonneg(sub(start, last))
                why = "falls, and does not rise" if falls else "neither rises nor falls"
                self.mend(item.path[0], why, directions={item.path: -1 if falls else 0})

    def compare_arrays(self, arrays: Sequence[Item]) -> None:
        """Finds the arrays that differ from the head, and decides how to carry each."""
        moved: list[Item] = []
        for item in arrays:
            if item.how is OWNED:
                group = self.group_of(item.entry)
                held = None if group is None else self.holdable(item, group.heads, arrays)
                if held is None:
                    self.peel(item.path[0], "holds an array that no name of the loop owns")
                elif held:
                    more = (*self.plan.may_be_held, *held)
                    self.mend(item.path[0], "may hold another array of before the loop", may_be_held=more)
            elif item.how is WHICH:
                choices = [self.candidates[k] for k in self.choices_of(item.entry)]
                if not all(any(a.same_object(c) for c in choices) for a in ends(item.back)):
                    self.peel(item.path[0], "holds an array that was not there before the loop")
                    rest = {p: how for p, how in self.plan.arrays.items() if p != item.path}
                    self.plan = replace(self.plan, arrays=rest)  # it may be like the others after the first iteration
            elif isinstance(item.how, ArrayCarry) and item.how.by_value:
                moved.append(item)
            elif plain(item.head) and plain(item.back) and item.head.storage is item.back.storage:
                self.compare_view(item)
            elif not item.head.same_object(item.back):
                moved.append(item)
        if moved and not self.peel_for:
            self.compare_moved(arrays, moved)
        if not self.peel_for and not self.retry:
            self.compare_sizes()

    def compare_view(self, item: Item) -> None:
        """Compares an array of the same storage: another view of it carries its changing parts."""
        if not pairable(item.head, item.back):
            self.peel(item.path[0], "is a view of another kind after an iteration")
            return
        pairs = list(zip(parameters(item.head.view), parameters(item.back.view)))
        known = item.how.parts if isinstance(item.how, ArrayCarry) else (False,) * len(pairs)
        parts = tuple(k or not self.r.facts.equal(a, b) for k, (a, b) in zip(known, pairs))
        if parts != known:
            view = {item.path: ArrayCarry(False, (), parts)}
            self.mend(item.path[0], "becomes another part of its memory", arrays=view)
        elif (places := self.outer_objects(item)) or (not item.known and self.is_asked_for(item)):
            asked = {item.path: (*self.plan.other_objects.get(item.path, ()), *places)}
            self.mend(item.path[0], "may be another array object, which matters", other_objects=asked)
        elif item.known:
            others = [i for i in self.items if i.known is item.known]
            if any(identity(i.back) is not identity(item.back) for i in others):
                apart = self.plan.apart | {i.path for i in others}
                self.mend(item.path[0], "does not stay one object with another name", apart=apart)

    def is_asked_for(self, item: Item) -> bool:
        """Whether it matters in an iteration which object a leaf held at its head: `is` asks, another name takes it, or
        the iteration may keep it."""
        if identity(item.back) is identity(item.head):
            return False
        if self.may_keep(item):
            return True
        if self.meet is None:
            self.meet = self.meeting()
        if item.path in self.meet:
            return True
        if not self.observed(item):
            return False
        return self.is_taken(item) or any(o in self.r.compared for o in objects(item.head))

    def may_keep(self, item: Item) -> bool:
        """Whether the path decides if an iteration keeps the object of a leaf or gives it one of before the loop, which
        it then holds after iterations that keep it."""
        found = identity(item.back)
        if not isinstance(found, Cond):
            return False
        head, lasts = distinct(objects(item.head)), distinct(ends(found))
        kept = [o for o in lasts if o in head]
        others = [o for o in lasts if o not in kept or item.head is item.entry]  # it may have been given what it held
        return bool(kept) and any(o in self.references_before() for o in others)

    def takes_known(self, item: Item) -> bool:
        """Whether an iteration may give a leaf another object of before the loop."""
        head = distinct(objects(item.head))
        return any(o not in head and o in self.references_before() for o in objects(item.back))

    def is_taken(self, item: Item) -> bool:
        """Whether an iteration gives another name the object that a leaf held at its head."""
        taken = [i.back for i in self.items if i is not item]
        taken += [x for n, x in self.after.items() if n in self.spec.assigned and n not in self.entry_values]
        taking = {id(o) for x in references(taken) for o in objects(x)}
        return any(id(o) in taking for o in objects(item.head))

    def meeting(self) -> set[Path]:
        """The leaves that after some iteration may be one object with another leaf, and are not always."""
        moving = [i for i in self.items if self.replaces_object(i)]
        heads = [distinct(objects(i.head)) for i in moving]
        # the objects at the end of each leaf, with the leaves at whose heads they stood
        lasts = [[(x, [k for k, h in enumerate(heads) if x in h]) for x in objects(i.back)] for i in moving]
        meet = {(k, m) for k, a in enumerate(heads) for m, b in enumerate(heads) if any(x in b for x in a)}
        known = -1
        while known != len(meet):
            known = len(meet)
            for k, m in itertools.combinations(range(len(moving)), 2):
                pairs = itertools.product(lasts[k], lasts[m])
                if any(x is y or not meet.isdisjoint(itertools.product(at, on)) for (x, at), (y, on) in pairs):
                    meet |= {(k, m), (m, k)}
        both = ((moving[k], moving[m]) for k, m in meet)
        return {a.path for a, b in both if a.back is not b.back or a.entry is not b.entry}

    def replaces_object(self, item: Item) -> bool:
        """Whether an iteration may give a leaf another view of the storage that it stays with."""
        if not (plain(item.entry) and plain(item.head) and plain(item.back)) or self.is_by_value(item):
            return False
        return item.head.storage is item.back.storage and identity(item.back) is not identity(item.head)

    def outer_objects(self, item: Item) -> tuple[Path, ...]:
        """The places before the loop of objects that a leaf may hold at the end, by the path or for another name to
        take in the next iteration, and that its head does not know yet."""
        found = identity(item.back)
        if not isinstance(found, Cond) and (found is identity(item.head) or not self.is_taken(item)):
            return ()
        known = distinct(o for x in (identity(item.entry), identity(item.head)) for o in ends(x))
        places = (self.place_before(o) for o in distinct(ends(found)) if o not in known)
        old = self.plan.other_objects.get(item.path, ())
        return tuple(p for p in places if p is not None and p not in old)

    def place_before(self, found: Any) -> Path | None:
        """Where an array object stood before the loop, if only on some paths."""
        for name, x in self.env.items():
            for k, leaf in enumerate(carried_parts(x)):
                if plain(leaf) and any(o is found for o in objects(leaf)):
                    return name, k
        return None

    def compare_moved(self, arrays: Sequence[Item], moved: Sequence[Item]) -> None:
        """Compares arrays whose storage is another one than at the head (rules S8, S9)."""
        fresh = self.frame.locals | {i.head.storage for i in moved if plain(i.head)}
        fixed = self.anchored()
        pairs = {(i.head.storage, i.back.storage) for i in arrays if plain(i.head) and plain(i.back)}

        def becomes(i: Item) -> bool:
            """Whether the name may carry its storage by value, once the storage at the head is private."""
            return plain(i.head) and plain(i.back) and i.back.storage in fresh and similar(i.head, i.back)

        def replaced(i: Item) -> bool:
            """Whether each iteration gives the name another array, so that after the first it has one of its own. Items
            of containers are left: after a first iteration they may be one container or another."""
            named = isinstance(self.env.get(str(i.path[0])), ArrayRef)
            return named and becomes(replace(i, back=without_left_paths(i.back, self.r.heap)))

        def movable(i: Item) -> bool:
            if not becomes(i):
                return False
            s, t = i.head.storage, i.back.storage
            one_to_one = all((x is s) == (y is t) for x, y in pairs)
            return one_to_one and s.arg is None and not {s, t} & fixed

        if all(map(movable, moved)):
            for item in moved:
                self.carry_by_value(item, arrays)
            return
        there = {a.storage for i in moved if not movable(i) for x in (i.head, i.back) for a in ends(x)}
        by_itself = [movable(i) and not {i.head.storage, i.back.storage} & there for i in moved]
        alone, exchanged = ([i for i, own in zip(moved, by_itself) if own is wanted] for wanted in (True, False))
        choices: list[ArrayRef] = []
        for i in exchanged:
            choices += [a for a in ends(i.head) if not any(a.same_object(c) for c in choices)]
        places: list[Path | None] = []
        for a in (a for i in exchanged for a in ends(i.back)):
            if not any(a.same_object(c) for c in choices):
                choices.append(a)
                places.append(self.place_of(a))
        if None not in places and all(self.compatible(choices[0], c) for c in choices):
            taken = (*self.plan.may_take_others, *(p for p in places if p))
            for item in exchanged:
                self.mend(item.path[0], "is another of the arrays of before the loop", arrays={item.path: WHICH})
            for item in alone:
                self.carry_by_value(item, arrays)
            self.plan = replace(self.plan, may_take_others=taken)
            return
        alike = [[i for i in moved if self.alike(i.entry, m.entry)] for m in moved]
        groups = [g for g, m in zip(alike, moved) if g and g[0] is m]
        owned = sum(map(len, groups)) == len(moved) and not (self.plan.may_peel and all(map(replaced, moved)))
        if owned and all(all(map(movable, g)) or self.may_own(g, arrays) for g in groups):
            for group in groups:
                if all(map(movable, group)):
                    for item in group:
                        self.carry_by_value(item, arrays)
                else:
                    self.plan_owned(group, arrays)
            return
        self.peel(moved[0].path[0], "is another array after an iteration")
        new = [i for i in moved if becomes(i) and i.path not in self.plan.arrays]
        carried = {i.path: ArrayCarry(True, *self.changes(i)) for i in new}
        self.plan = replace(self.plan, arrays={**self.plan.arrays, **carried})

    def owners(self, group: Sequence[Item], arrays: Sequence[Item]) -> list[Item]:
        """The items that hold another array of their own at the end of each iteration."""
        owners: list[Item] = []
        for i in group:
            fresh = plain(i.back) and i.back.storage in self.frame.locals and self.fresh_whole(i.back, arrays)
            if fresh and plain(i.head) and i.head.is_whole and all(i.back is not o.back for o in owners):
                owners.append(i)
        return owners

    def may_own(self, group: Sequence[Item], arrays: Sequence[Item]) -> bool:
        """Whether names hold arrays of the loop in turn (owned.py)."""
        fixed, owners = self.anchored(), self.owners(group, arrays)
        if any(i.entry.storage.arg is not None or {i.head.storage, i.back.storage} & fixed for i in owners):
            return False
        heads = [a for i in group for a in ends(i.head)]
        return all(self.holdable(i, heads, arrays) is not None for i in group if i not in owners)

    def plan_owned(self, group: Sequence[Item], arrays: Sequence[Item]) -> None:
        """Plans that names hold arrays of the loop in turn."""
        owners = self.owners(group, arrays)
        others = [i for i in group if i not in owners]
        heads, outer = [a for i in group for a in ends(i.head)], list[Path]()
        for i in others:
            outer += self.holdable(i, heads, arrays) or ()
        for i in owners:
            sizes, parts = (False,) * len(i.head.storage.shape), (False,) * len(parameters(i.head.view))
            value = {i.path: ArrayCarry(True, sizes, parts)}
            self.mend(i.path[0], "gets an array of its own in each iteration", arrays=value)
        for i in others:
            self.mend(i.path[0], "holds arrays of the loop's in turn", arrays={i.path: OWNED})
        self.plan, self.retry = replace(self.plan, may_be_held=(*self.plan.may_be_held, *outer)), True

    def fresh_whole(self, ref: ArrayRef, arrays: Sequence[Item]) -> bool:
        """Whether a storage that an iteration has made is known to carried names as this one array object only."""
        refs = [a for i in arrays if isinstance(i.back, ArrayRef) for a in ends(i.back) if a.storage is ref.storage]
        return ref.is_whole and not ref.read_only and all(a is ref for a in refs)

    def holdable(self, item: Item, heads: Sequence[ArrayRef], arrays: Sequence[Item]) -> tuple[Path, ...] | None:
        """Where the arrays of before the loop stand that an item carried as `OWNED` holds at the end, besides those at
        the head; None where it holds something else that no name can own."""
        if not isinstance(item.back, ArrayRef) or not self.alike(item.entry, item.back):
            return None
        fixed, outer = self.anchored(), list[Path]()
        for a in ends(item.back):
            if any(a.same_object(h) for h in heads):
                continue
            if a.storage in self.frame.locals and a.storage not in fixed and self.fresh_whole(a, arrays):
                continue
            place = self.place_of(a)
            if place is None:
                return None
            outer.append(place)
        return tuple(outer)

    def place_of(self, ref: ArrayRef) -> Path | None:
        """The name that holds an array both before the loop and inside it."""
        for name, x in self.env.items():
            for k, leaf in enumerate(carried_parts(x)):
                if isinstance(leaf, ArrayRef) and leaf.same_object(ref) and name not in self.entry_values:
                    return name, k
        return None

    def compatible(self, a: ArrayRef, b: ArrayRef) -> bool:
        """Whether one name may hold either array."""
        return of_one_form(a, b) and all(self.r.ask_equal(x, y) is True for x, y in zip(a.shape, b.shape))

    def carry_by_value(self, item: Item, arrays: Sequence[Item]) -> None:
        """Plans an item's storage to be carried by value, or checks that it is carried as it should be."""
        sizes, parts = self.changes(item)
        for other in arrays:
            if plain(other.head) and other.head.storage is item.head.storage:
                mine = parts if other is item else self.changes(other)[1]
                wanted = ArrayCarry(True, sizes, mine)
                if other.how is not OWNED and other.how != wanted:
                    self.mend(other.path[0], "is a new array in each iteration", arrays={other.path: wanted})

    def changes(self, item: Item) -> tuple[tuple[bool, ...], tuple[bool, ...]]:
        """Which sizes of the storage, and which parts of the view, differ from the head."""
        known = item.how if isinstance(item.how, ArrayCarry) else None
        head, back = item.head, item.back

        def differ(a: Sequence[Dim], b: Sequence[Dim], was: Sequence[bool]) -> tuple[bool, ...]:
            was = was or (False,) * len(a)
            return tuple(w or not self.r.facts.equal(x, y) for x, y, w in zip(a, b, was))

        sizes = differ(head.storage.shape, back.storage.shape, known.sizes if known else ())
        if head.is_whole and back.is_whole:
            return sizes, (False,) * len(parameters(head.view))
        return sizes, differ(parameters(head.view), parameters(back.view), known.parts if known else ())

    def compare_sizes(self) -> None:
        """Checks that sizes which share an int at the head are yielded alike."""
        yielded: dict[Value, set[Dim]] = {}
        for value, d in self.size_yields():
            yielded.setdefault(value, set()).add(self.r.facts.canon(d))
        if any(len(v) > 1 for v in yielded.values()):
            self.mend("", "sizes that begin equal do not stay equal", sizes_diverge=True)

    def yielded(self, c: CarriedStorage) -> Storage:
        """The storage that replaces a carried one at the end of the body."""
        return next((i.back.storage for i in self.items if plain(i.head) and i.head.storage is c.inner), c.inner)

    def check_pays(self) -> None:
        """Raises UnsupportedError where iterations that are traced one by one are better: what is an int there, or a
        condition, is carried; or what an iteration does to an array's elements becomes one loop with what the next
        does."""
        r = self.r
        if self.spec.exits:  # these would stand inside of one another
            return
        for item in self.items:
            if item.phis and (item.kind in (None, INT, BOOL) and not same_value(item.back, item.head)):
                raise r.refuse(f"`{item.path[0]}` is known where the loop is unrolled")
        sizes = [v for c in self.storages.values() for v in c.sizes] + [v for i in self.items for v in i.parts]
        if self.groups or any(v is not None for v in sizes) or self.plan.containers:
            raise r.refuse("sizes are known where the loop is unrolled")
        if any(isinstance(op, scf.If | scf.While) for op in Region(self.block).walk()):
            raise r.refuse("conditions may be known where the loop is unrolled")
        carried = {c.phi: self.frame.values.get(self.yielded(c)) for c in self.storages.values()}
        carried |= {phi: self.frame.values[s] for s, phi in self.frame.phis.items()}
        if any(last is not None and last is not phi and is_elementwise(last, phi) for phi, last in carried.items()):
            raise r.refuse("what iterations do to an array becomes one loop where they are unrolled")

    def size_yields(self) -> list[tuple[Value, Dim]]:
        """The values that the carried sizes and offsets take at the end of the body."""
        found: list[tuple[Value, Dim]] = []
        for c in self.storages.values():
            found += [(v, d) for v, d in zip(c.sizes, self.yielded(c).shape) if v is not None]
        for i in self.items:
            if i.parts:
                found += [(v, d) for v, d in zip(i.parts, parameters(i.back.view)) if v is not None]
        return found

    def note_first_bound_inside(self) -> None:
        """Plans to carry names that are first bound inside, where the loop may be left early, or where an iteration
        reads what the one before it bound."""
        makers: ByIdentity[Any, LeafMaker] = ByIdentity()
        for name in (*self.spec.assigned, RETURN):
            wanted = name in self.spec.head or name == RETURN
            if not wanted or name in self.entry_values or name not in self.after:
                continue
            partly = isinstance(self.after[name], Maybe)  # an iteration may leave what an earlier one bound
            if self.spec.exits or partly or name in self.r.unbound:
                arrays = arrays_first_bound_inside(self.r, name, self.after[name], self.frame)
                first = {name: template(self.r, name, self.after[name], self.frame, makers)}
                free = dict.fromkeys(self.unbounded_ints(name), 0)
                self.mend(name, "is first bound in the loop", first_bound_inside=first, arrays=arrays, directions=free)

    def unbounded_ints(self, name: str) -> list[Path]:
        """The ints of a name first bound inside that would not be seen to rise from their placeholder, 0: where the
        loop may be left, they are joined with what they were before."""
        x = self.after[name]
        leaves = enumerate(parts_of(x.value if isinstance(x, Maybe) else x), 0 if name == RETURN else 1)
        ints = ((k, leaf.expr if isinstance(leaf, PyInt) else leaf) for k, leaf in leaves if kind_of(leaf) is INT)
        return [(name, k) for k, e in ints if self.spec.exits or not self.r.facts.nonneg(e)]


def template(
    r: Recorder, name: str, x: Any, frame: Frame, makers: ByIdentity[Any, LeafMaker], unbound: bool = True
) -> Template:
    """How to make a placeholder, before the first iteration, for a name that an iteration first binds; it is never
    read. Names that one iteration binds to one object have one placeholder: `makers` and, for one attempt, `made`."""
    value, otherwise = (x.value, x.otherwise) if isinstance(x, Maybe) else (x, None)
    found = list(parts_of(value))
    for leaf in found:
        if leaf not in makers:
            makers[leaf] = leaf_template(r, name, leaf, frame)
    mine = [makers[leaf] for leaf in found]

    def make(r: Recorder, made: dict[LeafMaker, Any]) -> Any:
        for maker in mine:
            if maker not in made:
                made[maker] = maker(r)
        whole = rebuild(value, iter([made[maker] for maker in mine]))
        return whole if name == RETURN or not unbound else Maybe(False, whole, otherwise=otherwise)

    return make


def arrays_first_bound_inside(
    r: Recorder, name: str, x: Any, frame: Frame, first: int = 1
) -> dict[Path, ArrayCarry]:
    """How the arrays of a name that an iteration first binds are carried: whatever is not constant changes."""
    found: dict[Path, ArrayCarry] = {}
    for k, leaf in enumerate(parts_of(x.value if isinstance(x, Maybe) else x), 0 if name == RETURN else first):
        if plain(leaf) and not outlives(r, leaf, frame):
            mine = leaf.storage in frame.locals
            sizes = tuple(not isinstance(d, int) for d in leaf.storage.shape) if mine else ()
            whole_of = mine and leaf.is_whole
            parts = tuple(not isinstance(d, int) and not whole_of for d in parameters(leaf.view))
            found[name, k] = ArrayCarry(mine, sizes, parts)
    return found


def outlives(r: Recorder, x: ArrayRef, frame: Frame) -> bool:
    """Whether a reference made in a loop means the same after it."""
    assert frame.parent is not None
    with r.inside(frame.parent):
        return x.storage not in frame.locals and all(r.in_scope(d) for d in parameters(x.view))


def has_value(r: Recorder, storage: Storage) -> bool:
    """Whether a storage has a value in the region being recorded."""
    frame: Frame | None = r.frame
    while frame is not None and storage not in frame.values:
        frame = frame.parent
    return frame is not None


def leaf_template(r: Recorder, name: str, x: Any, frame: Frame) -> LeafMaker:
    """How to make a placeholder for one leaf; UnsupportedError where there is none."""
    if type(x) is Cond and kinds_of(x) is not None:
        x = ends(x)[0]  # what else it may be is planned later
    kind = kind_of(x)
    if kind is not None and is_number(x):
        if kind is INT:
            return lambda r: 0
        return lambda r: from_values(r, zeros(r, kind), kind, name)
    check_one_type(r, x, name=name)
    if not isinstance(x, ArrayRef):
        return lambda r: x
    if isinstance(x, GuardedRef) and all(outlives(r, arm, frame) for arm in ends(x)):
        x = ends(x)[0]
    if isinstance(x, GuardedRef):
        x = next((arm for arm in ends(x) if plain(arm) and arm.storage in frame.locals), x)  # and this
    if not plain(x):
        raise path_dependent(r, name, "one of several arrays inside the loop only")
    view, storage = x.view, x.storage

    def nothing(r: Recorder) -> ArrayRef:
        of, there = storage, has_value(r, storage)
        if storage not in frame.locals and there and all(r.in_scope(d) for d in deep_parameters(view)):
            # the object does not depend on the iteration; or another attempt at a loop around made it
            return x if all(r.is_visible(c) for c in conditions(x.origin)) else without_identity(x)
        if storage in frame.locals or not there:
            value = r.placeholder(storage.element, storage.shape, storage.order)
            of = r.new_storage(storage.element, value.tensor_type.shape, storage.order, value)
            if x.is_whole:
                return ArrayRef(of)
        sizes = tuple(d if isinstance(d, int) else 0 for d in view.sizes)
        return ArrayRef(of, replace(view, offsets=(0,) * len(view.offsets), sizes=sizes))

    return nothing


def is_elementwise(last: Value, first: Value) -> bool:
    """Whether the one array is computed from the other by ops on elements only, which fuse."""
    work, seen = [last], {last}
    while work:
        value = work.pop()
        if value is first:
            return True
        op = value.defining_op
        if isinstance(op, linalg.Generic) and "reduction" in op.iterators:
            continue
        if isinstance(op, linalg.Generic | linalg.Fill | PARTS):
            computed = op.operands[:1] if isinstance(op, tensor.InsertSlice) else op.operands
            new = [v for v in computed if v not in seen and v.is_tensor]
            seen.update(new)
            work += new
    return False
