"""The results of a call: from traced values to a plan, and from the plan to Python objects (rules C1, B3).

Results have eager's types, and are one object where eager's are. What the function has changed in the caller's lists,
dicts and objects is written into them after the call; if the call raises, nothing is written.
"""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from enum import Enum
from itertools import islice
from types import ModuleType
from typing import Any

import numpy as np

from tracebuf.frontends.numpy.call.arguments import Leaf
from tracebuf.frontends.numpy.call.containers import attributes_of, is_named_tuple
from tracebuf.frontends.numpy.call.results import (
    ALL_POOLED,
    GROUPS,
    POOL,
    POOLED,
    SPREAD,
    SPREAD_PARTS,
    ChosenResult,
    ContainerWrite,
    NewContainer,
    ResultLeaf,
    ResultNumber,
    ResultPlan,
)
from tracebuf.frontends.numpy.call.talk import texts_of
from tracebuf.frontends.numpy.numbers.lattice import Maybe, same_value
from tracebuf.frontends.numpy.numbers.longlongs import check_dtype, check_number
from tracebuf.frontends.numpy.numbers.python_ints import int_expr
from tracebuf.frontends.numpy.paths.identity import container_identity, identity, select_truth
from tracebuf.frontends.numpy.paths.joins import plain
from tracebuf.frontends.numpy.paths.leaving import deep_parameters
from tracebuf.frontends.numpy.paths.outputs import check_known_origin
from tracebuf.frontends.numpy.record import refusals
from tracebuf.frontends.numpy.record.by_identity import ByIdentity, PairsByIdentity
from tracebuf.frontends.numpy.record.callees import Buffer, Made, NestedFunction, Text, Untold
from tracebuf.frontends.numpy.record.cond import Cond, ends
from tracebuf.frontends.numpy.record.growing import (
    Dicts,
    Elements,
    Form,
    Lists,
    OneOf,
    Ragged,
    Several,
    Texts,
    Unfilled,
    arrays_of,
    axes_of,
    filled,
    form_in,
    is_growing,
    is_inner,
    is_keyed,
    is_row,
    moved_to,
    python_of,
    row_type,
)
from tracebuf.frontends.numpy.record.heap import Heap, Record, contents, is_generator, is_groups, is_label, is_of_class
from tracebuf.frontends.numpy.record.recorder import Recorder
from tracebuf.frontends.numpy.record.sizes import USUAL
from tracebuf.frontends.numpy.record.slices import SliceOf
from tracebuf.frontends.numpy.record.values import (
    EITHER,
    NUMBERS,
    ArrayRef,
    GuardedRef,
    NpScalar,
    PyBool,
    PyInt,
    Scalar,
    Storage,
)
from tracebuf.ir.core import Value

ArmPath = tuple[tuple[Value, int], ...]
"""The path to an arm: conditions, and which arm of each."""


class Results:
    """Turns what the function returned and changed into returned values and plans."""

    def __init__(
        self, r: Recorder, heap: Heap, given: Sequence[Any], written: Callable[[Any, ArmPath], PyInt],
        pools: Mapping[Any, Record],
    ) -> None:  # fmt: skip
        self.r, self.heap = r, heap
        self.written = written
        """Records that a text is made, where a path is taken; its number among what is kept."""
        self.pools = pools
        """What holds the lists that are items of lists, by the form of their items."""
        self.label_arguments: ByIdentity[Any, Leaf] = ByIdentity()
        """By what stands for an argument that is an array of text: its leaf."""
        self.labels: ByIdentity[Any, tuple[ResultLeaf, list[Storage], ArmPath]] = ByIdentity()
        """By what stands for a text, or an array of text, that is a result: its plan, its memory, the path to it."""
        self.letters: ResultNumber | None = None
        """The result that is the table of all texts."""
        self.pooled: dict[Any, NewContainer] = {}
        """The plans of those."""
        self.given = [(g, Leaf(i)) for i, g in enumerate(given) if isinstance(g, ArrayRef)]
        self.numbers = ByIdentity((g, Leaf(i)) for i, g in enumerate(given) if isinstance(g, Scalar))
        self.values: list[Value] = []
        self.seen: defaultdict[ArmPath, ByIdentity[ArrayRef, ResultLeaf]] = defaultdict(ByIdentity)
        self.made: defaultdict[ArmPath, PairsByIdentity[NewContainer]] = defaultdict(PairsByIdentity)
        self.places: PairsByIdentity[bool | PyBool] = PairsByIdentity()
        """By an array or an identity, and what it may be: where it is that."""
        self.arrays_seen: ByIdentity[ArrayRef, None] = ByIdentity()
        self.arrays_returned: list[Any] = []
        """The lists of run-time length, and dicts, that are returned and hold arrays."""
        self.lists_returned = 0
        """How many lists are, and lists of lists."""
        self.new: ByIdentity[Any, int] = ByIdentity()
        """The new containers, numbered."""
        self.objects: ByIdentity[ArrayRef, int] = ByIdentity()
        """The array objects that results are, numbered: the plan outlives them."""
        self.held: ByIdentity[ArrayRef, int] = ByIdentity()
        """In how many of the results' references an object stands."""
        self.held_containers: ByIdentity[Any, int] = ByIdentity()
        """In how many of the results' containers a container stands."""

    def add(self, value: Value) -> ResultNumber:
        """Adds a value to the results of the compiled function; its number."""
        self.values.append(value)
        return ResultNumber(len(self.values) - 1)

    def leaf(self, x: Any, taken: ArmPath = ()) -> ResultPlan:
        """The plan of one value; on a path, each array is read only where that path is taken (rule S8)."""
        number = self.heap.number(x)
        if number is not None:
            return ResultLeaf("container", number)
        x = moved_to(self.r, x)
        if is_inner(x):
            place = self.new.setdefault(object(), len(self.new))
            pool = self.pool(x.kind.pool)  # type: ignore[attr-defined]
            parts = (self.leaf(x.fields["number"]), pool)
            return NewContainer(row_type(x) if is_row(x) else list, POOLED, place, parts)
        if is_label(x):
            return self.label(x, container_identity(self.r, x), taken)
        if isinstance(x, (tuple, list, dict, Record)) and type(x) is not SliceOf:
            return self.either_container(x, container_identity(self.r, x), taken)
        if isinstance(x, GuardedRef) and any(isinstance(arm, GuardedRef) for arm in x.arms):
            return self.chosen(x, lambda arm, where: self.leaf(arm, (*taken, *where)))
        if isinstance(x, Text) and x.known is not None:
            return ResultLeaf("const", value=x.known)
        if isinstance(x, Text):
            return ResultLeaf("kept", self.add(self.r.i64(self.written(x, taken).expr)))
        if isinstance(x, Cond):
            first, second = (self.leaf(arm, (*taken, (x.condition, k))) for k, arm in enumerate(x.arms))
            return ChosenResult(self.add(x.condition), first, second)
        if isinstance(x, ArrayRef):
            return self.array(x, identity(x), taken)
        if isinstance(x, Scalar):
            return self.scalar(x)
        if isinstance(x, Untold):
            return ResultLeaf("kept", self.add(self.r.i64(x.number.expr)))
        if isinstance(x, Buffer):
            return ResultLeaf("argument", x.leaf)
        check_dtype(self.r, x, "a dtype is returned")
        if isinstance(x, type) and {"__tracebuf_local__", "__tracebuf_local_tuple__"} & vars(x).keys():
            raise self.r.refuse("a class of the function is returned", "return what its objects hold")
        if x is None or isinstance(x, (str, *NUMBERS, np.dtype, type(Ellipsis), type, ModuleType, Enum)):
            return ResultLeaf("const", value=x)
        name = "slice" if type(x) is SliceOf else refusals.name_of(x)
        what = "what is bound on some paths only" if isinstance(x, Maybe) else f"a {name}"
        raise self.r.refuse(
            f"{what} cannot be returned", "return arrays, numbers, and tuples, lists, dicts and objects of them"
        )

    def label(self, x: Record, found: Any, taken: ArmPath) -> ResultPlan:
        """The plan of an array of text, or of a text out of one, that is the object `found`, with the contents of `x`:
        an argument itself, a view of one, or made of its codes when the program has run."""
        if isinstance(found, Cond):
            return self.chosen(found, lambda o, where: self.label(x, o, (*taken, *where)))
        if (leaf := self.label_arguments.get(found)) is not None:
            return ResultLeaf("argument", leaf)
        if not is_label(found) and isinstance(codes := x.fields.get("codes"), ArrayRef):  # out of a loop
            return self.label_of(x, found, identity(codes), taken)
        return self.made_label(x, found, taken)

    def label_of(self, x: Record, found: Any, codes: Any, taken: ArmPath) -> ResultPlan:
        """The plan of an array of text by the array that its codes are: an argument where they are that one's."""
        if isinstance(codes, Cond):
            return self.chosen(codes, lambda o, where: self.label_of(x, found, o, (*taken, *where)))
        for y, leaf in self.label_arguments.items():
            if y.fields["codes"] is codes:
                return ResultLeaf("argument", leaf)
        return self.made_label(x, found, taken)

    def made_label(self, x: Record, found: Any, taken: ArmPath) -> ResultPlan:
        """The plan of what is made of codes, the object `found`, with the contents of `x`."""
        if found not in self.labels:
            parts = [y.fields.get("codes") for y in (x, found) if is_label(y)]
            x = found if self.heap.outlives(found, self.r) else x
            if self.letters is None:
                self.letters = self.add(self.r.read(x.fields["letters"]))
            letters = self.letters
            if (codes := x.fields.get("codes")) is None:
                code = int_expr(x.fields["code"])
                assert code is not None
                number = self.add(self.r.i64(code))
                self.labels[found] = ResultLeaf("text", number, letters), [], taken
            else:
                memory = [end.storage for part in parts for end in ends(part)]
                dtype: np.dtype = x.kind.dtype  # type: ignore[union-attr]
                plan = self.text_array(codes, memory, (letters, dtype.str), taken)
                self.labels[found] = plan, memory, taken
        plan, _, before = self.labels[found]
        if before != taken:
            raise self.r.refuse("a text out of an array is returned twice, depending on the path", "return ints")
        return plan

    def text_array(
        self, codes: ArrayRef, memory: list[Storage], how: tuple[ResultNumber, str], taken: ArmPath
    ) -> ResultLeaf:
        """The plan of an array of text with these codes: a view of an argument, or one that is made."""
        if any(storage in other for storage in memory for _, other, _ in self.labels.values() if storage.arg is None):
            raise self.r.refuse("two views of an array of text are returned", "return copies of it")
        given = [(y.fields["codes"].storage, leaf) for y, leaf in self.label_arguments.items()]
        of = tuple((storage.arg, leaf) for storage, leaf in given if storage in memory)
        number = self.add(self.read_where(codes, taken))
        return ResultLeaf("text array", number, (*how, of), read_only=codes.read_only)

    def chosen(self, x: Any, plan_of: Callable[[Any, ArmPath], ResultPlan]) -> ResultPlan:
        """The plan of an array, or an identity, that is one of several, each planned with the path to it: it is read
        once, under one condition, on however many paths it is that one."""
        plan: ResultPlan | None = None
        for arm in reversed(ends(x)):
            known = self.where(x, arm)
            if isinstance(known, bool):  # on all paths
                return plan_of(arm, ())
            one = plan_of(arm, ((known.value, 0),))
            plan = one if plan is None else ChosenResult(self.add(known.value), one, plan)
        assert plan is not None
        return plan

    def where(self, x: Any, arm: Any) -> bool | PyBool:
        """Where an array, or an identity, is this one that it may be: a condition, or known."""
        if not isinstance(x, Cond):
            return x is arm
        if (x, arm) not in self.places:
            self.places[x, arm] = select_truth(self.r, x.condition, *(self.where(a, arm) for a in x.arms))
        return self.places[x, arm]

    def either_container(self, x: Any, found: Any, taken: ArmPath) -> ResultPlan:
        """The plan of a container that is the object `found`, with the contents of `x`; one that may have been changed
        since paths met is an object of its own."""
        known = any(self.heap.number(o) is not None or self.held_containers.get(o, 0) > 1 for o in ends(found))
        own = self.heap.find(x) is not None or not known
        return self.container(x, x, taken) if own else self.container_object(x, found, taken)

    def container_object(self, x: Any, found: Any, taken: ArmPath) -> ResultPlan:
        """The plan of a container that is the object `found`, with the contents of `x` where it was made on one path,
        with what is known there."""
        if isinstance(found, Cond):
            return self.chosen(found, lambda o, where: self.container_object(x, o, (*taken, *where)))
        if self.heap.number(found) is not None or self.heap.outlives(found, self.r):
            return self.leaf(found, taken)
        return self.container(x, found, taken)

    def container(self, x: Any, found: Any, taken: ArmPath) -> ResultPlan:
        """The plan of a new container, the object `found` with the contents of `x`; one object wherever the same one
        occurs."""
        containers = self.made[taken]
        if (x, found) not in containers:
            if is_generator(x):
                raise self.r.refuse("a generator of Python's `random` is returned or kept", "return its draws")
            if hasattr(type(x), "__tracebuf_local_tuple__"):
                raise self.r.refuse("a named tuple of a class of the function is returned", "return tuple(x)")
            if isinstance(x, Record) and "__tracebuf_local__" in vars(x.kind):
                raise self.r.refuse("an object of a class of the function is returned", "return its attributes")
            if isinstance(x, Record) and x.kind.__module__.startswith("tracebuf.") and hasattr(x.kind, "generator"):
                raise self.r.refuse("an iterator is returned", "return a list of its items")
            if is_groups(x):
                number = self.new.setdefault(found, len(self.new))
                containers[x, found] = NewContainer(defaultdict, GROUPS, number, self.groups(x, taken))
                return containers[x, found]
            if is_growing(x) and python_of(x) not in (list, tuple, dict, set, Counter, defaultdict, OrderedDict):
                raise self.r.refuse(f"a {python_of(x).__name__} is returned", "return list(x)")
            kind, keys, items = (python_of(x), SPREAD, ()) if is_growing(x) else parts_in(x)
            if isinstance(x, tuple) and kind is not tuple and not is_named_tuple(x):
                raise self.r.refuse(f"a {kind.__name__} is returned", "return tuple(x)")
            self.lists_returned += kind is list and not is_growing(x)
            made = containers[x, found] = NewContainer(kind, keys, self.new.setdefault(found, len(self.new)))
            made.items = self.spread(x, taken) if is_growing(x) else tuple(self.leaf(i, taken) for i in items)
        return containers[x, found]

    def groups(self, x: Record, taken: ArmPath) -> tuple[ResultPlan, ...]:
        """The plans of the parts of a defaultdict(list): the items of its dict, and of its lists (lists/groups)."""
        if "held" not in x.fields:
            raise self.r.refuse("a defaultdict(list) is returned to which nothing was appended", "return {}")
        self.lists_returned += 1
        parts = ("numbers", "held", "following", "first", "sizes")
        return tuple(self.items_of(x.fields[part], taken) for part in parts)

    def spread(self, x: Record, taken: ArmPath) -> tuple[ResultPlan, ...]:
        """The plan of the items of a container whose length only the run time knows, and of a defaultdict's default."""
        default = x.kind.default  # type: ignore[attr-defined]
        if isinstance(default, NestedFunction):
            raise self.r.refuse("a defaultdict is returned with its factory, an inner function", "return dict(d)")
        more = () if python_of(x) is not defaultdict else (ResultLeaf("const", value=default),)
        return (self.items_of(x, taken), *more)

    def items_of(self, x: Record, taken: ArmPath = ()) -> ResultPlan:
        """The plan of the items of a list whose length only the run time knows."""
        columns = iter(filled(self.r.facts, x))
        read = (self.add(self.read_where(column, taken)) for column in columns)

        def plan(form: Form) -> ResultPlan:
            if isinstance(form, Several):
                self.lists_returned += form.of is list
                number = self.new.setdefault(object(), len(self.new))
                return NewContainer(form.of, SPREAD_PARTS, number, tuple(map(plan, form.parts)))
            if isinstance(form, (Lists, Dicts)):
                numbers = ResultLeaf("items", index := next(read), ("int", index))
                place = self.new.setdefault(object(), len(self.new))
                pool = self.pool(form.item if isinstance(form, Lists) else form)
                return NewContainer(list, ALL_POOLED, place, (numbers, pool))
            if isinstance(form, Ragged):
                self.arrays_returned.append(x)
                numbers = ResultLeaf("items", index := next(read), ("int", index))
                place = self.new.setdefault(object(), len(self.new))
                return NewContainer(list, ALL_POOLED, place, (numbers, self.pool_of_arrays(form)))
            if isinstance(form, Elements):
                self.arrays_returned.append(x)
                return ResultLeaf("rows", next(read))
            if isinstance(form, Texts):
                held = [self.as_taken(column, taken) for column in islice(columns, len(form.types))]
                made = Made(texts_of, (form.rows, *held), {})
                return ResultLeaf("kept", self.add(self.r.i64(self.written(made, taken).expr)))
            if isinstance(form, OneOf):
                flags = tuple(next(read) for _ in form.kinds[1:])
                kinds = [(k.name, next(read)) if k is not None else ("", -1) for k in form.kinds]
                return ResultLeaf("alternatives", value=(flags, tuple(kinds)))
            check_dtype(self.r, form.element.dtype if form.name == "np" else None, "a list of numbers is returned")
            indices = [next(read) for _ in form.types]
            return ResultLeaf("items", indices[-1], (form.python or form.name, indices[0]))

        return plan(form_in(x))

    def pool(self, item: Form | Unfilled) -> NewContainer:
        """The plan of the lists of items of a form, or of the dicts of one, that are items of lists."""
        if isinstance(item, Dicts) and item not in self.pooled:
            number = self.new.setdefault(object(), len(self.new))
            self.pooled[item] = made = NewContainer(dict, POOL, number)
            keys = ResultLeaf("const", value=item.keys if item.of is dict else None)
            made.items = (keys, self.items_of(self.pools[item].fields["held"], ()))
        if item not in self.pooled:
            fields = self.pools[item].fields
            parts = [fields[name] for name in ("start", "size", "held") if name in fields]
            number = self.new.setdefault(object(), len(self.new))
            self.pooled[item] = NewContainer(list, POOL, number, tuple(self.items_of(part, ()) for part in parts))
        return self.pooled[item]

    def pool_of_arrays(self, form: Ragged) -> NewContainer:
        """The plan of the arrays of any length that are items of lists."""
        if (form, "arrays") not in self.pooled:
            fields = self.pools[form.item].fields
            counts = [self.items_of(fields[name]) for name in ("start", "size")]
            whole = ResultLeaf("rows", self.add(self.read_where(filled(self.r.facts, fields["held"])[0], ())), "whole")
            number = self.new.setdefault(object(), len(self.new))
            self.pooled[form, "arrays"] = NewContainer(np.ndarray, POOL, number, (*counts, whole))
        return self.pooled[form, "arrays"]

    def as_taken(self, x: ArrayRef, taken: ArmPath) -> ArrayRef:
        """An array with the elements of one that is there on a path."""
        value = self.read_where(x, taken)
        return ArrayRef(self.r.new_storage(x.element, value.tensor_type.shape, range(x.ndim), value))

    def check_identity(self) -> None:
        """Refuses results of which one may be an item of a list of run-time length, where another result would tell:
        such lists have copies (arrays/held)."""
        held = self.r.held
        if self.lists_returned > 1 and any(has_lists(form) for form, *_ in self.r.growth.classes):
            raise self.r.refuse("a list is returned that may be an item of another", "append tuples")
        if held is None:
            return
        touched = [x for x in self.arrays_seen if held.is_touched(x, held.held)]
        read = any(held.is_touched(x, held.read) for x in touched)
        several = len({id(end.storage) for x in touched for end in ends(x)}) > 1
        twice = any(
            (a.element, axes_of(a)) in held.viewed | (held.shared_in_dicts if is_keyed(x) else held.shared)
            for x in self.arrays_returned
            for a in arrays_of(form_in(x))
        )
        if twice or (self.arrays_returned and (held.copied or touched)) or (read and (held.shared or several)):
            reason = "an array is returned that may be an item of a list of run-time length, and an argument or"
            reason += " another result too"
            raise self.r.refuse(reason, "return np.array(items), or copies: x.copy()")

    def changes(self) -> list[ContainerWrite]:
        """The plans of what the function has changed in the caller's containers."""
        found = []
        for x, before in self.heap.originals:
            now = contents(x)
            number = self.heap.number(x)
            assert number is not None
            if is_growing(x):
                if self.heap.known[x].changed is not None:
                    found.append(ContainerWrite(number, SPREAD, (x,), True))
                continue
            before = x.base if isinstance(x, Record) else before
            if isinstance(now, tuple):
                if len(now) != len(before) or any(not unchanged(a, b) for a, b in zip(now, before)):
                    found.append(ContainerWrite(number, None, now, True))
                continue
            whole = isinstance(x, dict) and list(before) != list(now)[: len(before)]
            new = [k for k in now if k not in before or is_of_class(x, k)]
            changed = [k for k, v in now.items() if whole or k in new or not unchanged(v, before[k])]
            if changed or whole:
                found.append(ContainerWrite(number, tuple(changed), tuple(now[k] for k in changed), whole))
        return found

    def write(self, w: ContainerWrite) -> ContainerWrite:
        """What is written into a container, with plans of its items."""
        plan = self.items_of if w.keys == SPREAD else self.kept_or_new
        return replace(w, items=tuple(map(plan, w.items)))

    def kept_or_new(self, x: Any) -> ResultPlan:
        """The plan of an item that is written into a container: the caller's own number where it is one."""
        return ResultLeaf("argument", self.numbers[x]) if x in self.numbers else self.leaf(x)

    def array(self, x: ArrayRef, found: Any, taken: ArmPath = ()) -> ResultPlan:
        """The plan of a result that is the object `found`, with the elements of `x`."""
        if isinstance(found, Cond):
            if not any(self.known(o) for o in ends(found)):
                return self.array(x, x, taken)
            return self.chosen(found, lambda o, _: self.array(x, o, taken))
        for g, i in self.given:
            if found is g:
                self.arrays_seen[x] = None
                if self.r.maps is not None:
                    self.r.maps.check_result(self.r, x)
                return ResultLeaf("argument", i)
        if self.r.maps is not None:
            self.r.maps.check_result(self.r, x)
        arrays = self.seen[taken]
        self.arrays_seen[x] = None
        if x not in arrays:
            value = self.read_where(x, taken)
            arrays[x] = ResultLeaf("array", self.add(value), value=x.storage.arg, read_only=x.read_only)
        return replace(arrays[x], identity=self.objects.setdefault(found, len(self.objects)))

    def known(self, found: Any) -> bool:
        """Whether an object is an argument, or another result too."""
        return any(found is g for g, _ in self.given) or self.held.get(found, 0) > 1

    def read_where(self, x: ArrayRef, taken: ArmPath) -> Value:
        """The elements of an array on a path; on any other path a placeholder."""
        r = self.r
        there = plain(x) and x.storage.arg is not None and all(r.entry_only(d) for d in deep_parameters(x.view))
        if not taken or there:  # a view of what is there on any path
            return r.read(x)
        (condition, wanted), more = taken[0], taken[1:]

        def side(k: int) -> list[Value]:
            value = self.read_where(x, more) if k == wanted else r.placeholder(x.element, x.shape, range(x.ndim), False)
            return [*map(r.index, value.tensor_type.shape), value]

        *sizes, value = r.either(condition, side)
        value.type = r.tensor_type([r.symbol(size, "size", 0, USUAL) for size in sizes], x.element)
        return value

    def scalar(self, x: Scalar) -> ResultPlan:
        """The plan of a number."""
        if isinstance(x, PyInt):
            if isinstance(e := self.r.facts.canon(x.expr), int):
                return ResultLeaf("const", value=e)
            return ResultLeaf("int", self.add(self.r.i64(e)))
        if not isinstance(x, NpScalar):
            return ResultLeaf(x.kind.name, self.add(x.value))  # type: ignore[attr-defined]
        check_number(self.r, x, "a number is returned")
        found = ResultLeaf("numpy", self.add(x.value))
        if x.python is None:
            return found
        if x.python.kind == EITHER:
            check_known_origin(self.r, x)
        return ChosenResult(self.add(x.python.flag), replace(found, kind=x.python.kind), found)


def unchanged(now: Any, then: Any) -> bool:
    """Whether an item of a container is still the same object, or the same number."""
    return now is then or (not isinstance(now, (tuple, list, dict, Record)) and same_value(now, then))


def parts_in(x: Any) -> tuple[type, tuple[Any, ...] | None, tuple[Any, ...]]:
    """A container's class, keys and items."""
    if isinstance(x, Record):
        return x.kind, tuple(x.known), tuple(x.known.values())
    if isinstance(x, dict):
        return dict, tuple(x), tuple(x.values())
    more = attributes_of(x)
    return type(x), tuple(more) or None, (*x, *more.values())


def has_lists(form: Form) -> bool:
    """Whether items of a growing list are lists, or hold some."""
    return isinstance(form, Several) and (form.of is list or any(map(has_lists, form.parts)))
