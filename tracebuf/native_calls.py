"""Which programs machine code may call without Python, and what it checks before: a specialisation as the `Plan` of an
entry (backend/runtime/entries.py).

The rules are those of frontends/numpy/call (arguments.py, results.py); what is not one of them yet has no plan,
and Python takes its calls.
"""

from __future__ import annotations

import ast
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from enum import Enum
from functools import partial
from typing import TYPE_CHECKING, Any, TypeGuard

import numpy as np

from tracebuf.backend.layout.abi import NO_ARGUMENT, ArgNumber
from tracebuf.backend.layout.entry_words import GUARD_ROOM, REPEATED, Guarded, Layout, Result, Source, Walk
from tracebuf.backend.runtime.callable import NativeCallable
from tracebuf.backend.runtime.entries import (
    UNBOUND,
    Argument,
    ArrayArgument,
    ClassArgument,
    Factor,
    NativeCalls,
    NumberArgument,
    ObjectArgument,
    OriginalEntry,
    Plan,
    ProgramEntry,
    SameArgument,
    Signature,
    Steps,
    Term,
    TwinArgument,
    supported,
)
from tracebuf.frontends.numpy.call.arguments import ArrayKey, Key, Leaf, ScalarKey, StaticKey, is_static, is_text_key
from tracebuf.frontends.numpy.call.captures import (
    ABSENT,
    attribute_of,
    default_of,
    item_of,
    itself,
    own_attribute_of,
)
from tracebuf.frontends.numpy.call.lookups import NOTHING, Attribute, Lookup
from tracebuf.frontends.numpy.call.results import (
    GROUPS,
    SPREAD,
    CallPlan,
    ContainerWrite,
    NewContainer,
    ResultLeaf,
    build_results,
)
from tracebuf.frontends.numpy.source.binding import parameters_of
from tracebuf.ir.dims import Atom, Dim, FloorDiv, Max, Min, Sym, terms_of
from tracebuf.ir.types import C128, F64, I1, MemRefType, ScalarType, Type

if TYPE_CHECKING:
    from types import FunctionType

    from tracebuf.backend.runtime.kernel import Kernel
    from tracebuf.frontends.numpy.call.call import Call
    from tracebuf.frontends.numpy.call.conditions import Conditions

_LAYOUTS = {"dense": Layout.DENSE, "unit": Layout.UNIT, "strided": Layout.STRIDED}
_PYTHON: dict[str, type] = {"float": float, "complex": complex, "bool": bool, "int": int}
_GUARDS = {"nonneg": Guarded.NONNEG, "zero": Guarded.ZERO, "nonzero": Guarded.NONZERO}


class _NoPlan(Exception):
    """The program has something that only Python checks."""


def entry_of(plan: Plan, traced: CallPlan, kernel: Kernel) -> ProgramEntry:
    """A program's entry, in the kernel's own context."""
    result, writes = traced.plan, traced.writes

    def build(raw: list[Any], values: Sequence[Any], containers: Sequence[Any]) -> Any:
        return build_results(result, raw, values, containers, writes)

    return ProgramEntry(kernel, plan, build)


def original_of(
    function: FunctionType, values: Sequence[Any], by_name: tuple[str, ...], call: Call | None, under: Conditions | None
) -> OriginalEntry | None:
    """The entry of calls that run the original function: for arrays that overlap as those of `call` do, or for its
    sizes and ints, and the values from outside that hold `under` which it raises; or, where there is no call, for
    values of these classes, dtypes and ranks. None where only Python can tell which calls these are."""
    if not supported():
        return None
    if call is None:
        return OriginalEntry(function, values, by_name, anywhere=True)
    try:
        names, others = ((), ()) if under is None else _outside(under)
        walk = walk_of(call, others)
        return OriginalEntry(function, call.values, by_name, sized=under is not None, outside=names, walk=walk)
    except _NoPlan:
        return None


def calls_of(target: NativeCallable, python: Any, function: FunctionType) -> NativeCalls:
    """The native calls of a function, none yet; `python` takes the calls that no entry does."""
    p = parameters_of(function.__code__)
    out = "out" not in p.all and p.stars is None
    signature = Signature(
        p.single, len(p.first) + len(p.plain), len(p.first), p.star is not None, p.stars is not None, out
    )
    return NativeCalls(target, python, function, signature)


def plan_of(call: Call, traced: CallPlan, kernel: Kernel) -> Plan | None:
    """The plan of a program, which may call functions of the user's; None where Python has to take all its calls."""
    if kernel.calls_users and (call.tree is not None or call.hidden):
        return None  # what holds the values may change
    taken = list(traced.arguments)
    odd = call.out not in (None, True) or len(set(taken)) != len(taken) or any(type(n) is not str for n in call.named)
    if odd or kernel.calls_back or kernel.confined or not supported():
        return None
    numbers = {leaf: ArgNumber(k) for k, leaf in enumerate(taken)}
    taken_as = [numbers.get(leaf, NO_ARGUMENT) for leaf in map(Leaf, range(len(call.keys)))]
    try:
        types = [kernel.frame.args[k] if k >= 0 else None for k in taken_as]
        same = call.related.same
        stored = {same[i] for i in (*traced.stored, *call.donated)}
        arguments = tuple(_argument(i, key, call, types[i], same[i] in stored) for i, key in enumerate(call.keys))
        guards = _Guards(traced, taken_as).found
        result, noted = _result(call, traced, kernel)
        form = tuple(map(sys.intern, call.named)), call.out is True
        names, others = _outside(traced)
        return Plan(arguments, tuple(taken_as), guards, names, result, noted, walk_of(call, others), *form)
    except _NoPlan:
        return None


def _argument(i: int, key: Key, call: Call, type_: Type | None, stored: bool) -> Argument:
    """What argument `i` must be; `type_` is that of the kernel's argument, if it is one, `stored` whether the program
    may store to it."""
    if isinstance(key, ArrayKey):
        if key.mapped:
            raise _NoPlan
        same, objects = call.related.same, call.related.objects
        if objects[i] != i:
            return SameArgument(objects[i])
        if same[i] != i:
            return TwinArgument(same[i], key.writable, tuple(k for k in range(i) if same[k] == same[i]))
        if not isinstance(type_, MemRefType) or (stored and key.repeated):
            raise _NoPlan
        dims = tuple(REPEATED if a in key.repeated else n for a, n in enumerate(key.dims))
        return ArrayArgument(np.dtype(key.dtype), dims, key.order, _LAYOUTS[key.layout], key.writable, not stored)
    if isinstance(key, ScalarKey):
        kind = _PYTHON.get(key.kind) or np.dtype(key.kind.removeprefix("np.")).type
        wanted = {float: F64.name, complex: C128.name, bool: I1.name}.get(kind)
        if not isinstance(type_, ScalarType) or (wanted is not None and type_.name != wanted):
            raise _NoPlan
        if kind is int and type_.name not in ("index", "i64"):
            raise _NoPlan
        if wanted is None and kind is not int and type_.dtype.type is not kind:
            raise _NoPlan
        return NumberArgument(kind)
    if type_ is not None or is_text_key(key):
        raise _NoPlan
    return ClassArgument(key.type) if key.any else ObjectArgument(_object_of(key))


def _object_of(key: StaticKey) -> Any:
    """An object of which all calls with it, or with one of its class that equals it, have the key."""
    x = key.value
    if key.type is tuple and isinstance(x, str):  # of ints, bools and strings
        return ast.literal_eval(x)
    if isinstance(x, tuple) and len(x) == 2 and x[0] is key.type:
        x = x[1]  # of a static argument (static.exact)
        if key.type is float:
            return float(x)  # of its repr
    if key.type in (range, slice):  # by start, stop and step
        return key.type(*x)
    if type(x) is not key.type:
        raise _NoPlan
    if x is None or x is Ellipsis or type(x) in (bool, int, bytes, partial) or isinstance(x, Enum) or is_static(x):
        return x
    raise _NoPlan


class _Guards:
    """The guards of a program, behind the parts that they are made of."""

    def __init__(self, traced: CallPlan, taken_as: Sequence[ArgNumber]) -> None:
        self._bindings, self._taken_as = traced.bindings, taken_as
        self.found: tuple[tuple[int, tuple[tuple[Term, ...], ...]], ...] = ()
        self._parts: dict[Any, int] = {}
        for g in traced.guards:
            self._add(_GUARDS[g.kind], self._terms(g.expr))
        if self._parts and len(self.found) > GUARD_ROOM:
            raise _NoPlan

    def _add(self, kind: int, *polynomials: tuple[Term, ...]) -> int:
        self.found = (*self.found, (kind, polynomials))
        return len(self.found) - 1

    def _terms(self, e: Dim) -> tuple[Term, ...]:
        """A polynomial as terms of arguments and parts."""
        terms = []
        for monomial, coefficient in terms_of(e).items():
            if abs(coefficient) >= 2**62:
                raise _NoPlan
            terms.append((coefficient, tuple(map(self._factor, monomial))))
        return tuple(terms)

    def _factor(self, atom: Atom) -> Factor:
        if isinstance(atom, Sym):
            binding = self._bindings.get(atom)
            if binding is None or self._taken_as[binding.leaf] < 0:
                raise _NoPlan
            return binding.leaf, binding.axis, binding.stride
        if atom not in self._parts:
            kind = {Min: Guarded.MIN, Max: Guarded.MAX, FloorDiv: Guarded.FLOORDIV}[type(atom)]
            first, *more = map(self._terms, atom.args)
            for other in more:
                number = self._add(kind, first, other)
                first = ((1, (number,)),)
            self._parts[atom] = number
        return self._parts[atom]


Ways = Sequence[tuple[Callable[[], Any], Any]]
"""Fetches, and what they are to give."""


def _outside(under: Conditions) -> tuple[tuple[tuple[int, Any, str, Any], ...], Ways]:
    """The values from outside: those that are looked up by a name, and where; the others, by how they are fetched."""
    found, others = [], []
    for _, fetch, value in under.captures:
        if isinstance(fetch, Lookup) and (place := fetch.place()) is not None:
            where, name = place
            held = fetch.held(value)
            if isinstance(where, type) and fetch() is not value:
                raise _NoPlan  # it has changed just now
            found.append((_source(where), where, name, UNBOUND if held is NOTHING else held))
        else:
            others.append((fetch, value))
    return tuple(found), others


def walk_of(call: Call, wanted: Ways = ()) -> Steps | None:
    """How containers among the arguments are taken apart, and values from outside are fetched; what `wanted` fetches
    must be the value that is with it. Matrices are asked for their shape and dtype."""
    if call.tree is None and not call.hidden and not wanted and not any(map(_is_of_matrix, call.keys)):
        return None
    return _Walking(call).steps(wanted)


class _Walking:
    """The steps of a walk in the making, and what is known by then of the objects that it meets, by their numbers:
    containers with their nodes of the tree, leaves with their keys. Of others nothing is known but where they are."""

    def __init__(self, call: Call) -> None:
        self.call, self.given = call, len(call.tops) - len(call.hidden)
        self.tree = call.tree or (None,) * len(call.tops)
        self.count = self.given
        self.made: list[tuple[Any, ...]] = []
        self.leaves: list[int] = []
        self.containers: list[int] = []
        self.nodes: dict[int, tuple[Any, int]] = {}
        """Of a container: its node, the number of its first item."""
        self.keys: dict[int, Key] = {}
        self.known: dict[Any, int] = {}
        """By the way to it: the number of an object."""

    def steps(self, wanted: Ways) -> Steps:
        for i in range(self.given):
            self.meet(i, self.tree[i])
        for hidden, node in zip(self.call.hidden, self.tree[self.given :]):
            x = self.place(hidden.fetch, hidden.root)
            if not hidden.from_object and self.is_constant(x, ABSENT):
                x = self.constant(None)  # `Hidden.value`
            self.meet(x, node)
        for fetch, value in wanted:
            self.made.append((Walk.IS, self.place(fetch), value))
        return Steps(self.given, tuple(self.made), tuple(self.leaves), tuple(self.containers), self.count)

    def step(self, *step: Any) -> int:
        """Appends a step that meets one object; its number."""
        self.made.append(step)
        self.count += 1
        return self.count - 1

    def constant(self, value: Any) -> int:
        way = "constant", id(value)
        if way not in self.known:
            x = self.known[way] = self.step(Walk.CONSTANT, 0, value)
            if value is None or value is ABSENT:
                self.keys[x] = StaticKey(type(value), value)
        return self.known[way]

    def is_constant(self, x: int, value: Any) -> bool:
        return self.known.get(("constant", id(value))) == x

    def meet(self, x: int, node: Any) -> None:
        """Takes an object apart."""
        if node is None:
            key = self.keys[x] = self.call.keys[len(self.leaves)]
            self.leaves.append(x)
            if _is_of_matrix(key):
                self.meet_matrix(x, key)
            return
        if isinstance(node, int):  # a container that occurs again
            first = self.containers[node]
            if x != first:
                self.made.append((Walk.SAME, x, first))
                self.nodes[x] = self.nodes[first]
            return
        kind, keys, items = node
        self.containers.append(x)
        first, self.count = self.count, self.count + len(items)
        self.nodes[x] = node, first
        if kind is dict:
            self.made.append((Walk.DICT, x, kind, tuple(map(_dict_key, keys))))
        elif issubclass(kind, (tuple, list)):
            self.made.append((Walk.LIST if kind is list else Walk.TUPLE, x, kind, len(items)))
        else:
            self.made.append((Walk.OBJECT, x, kind))
        for i, item in enumerate(items):
            self.meet(first + i, item)

    def meet_matrix(self, x: int, key: StaticKey) -> None:
        """Asks a sparse matrix for what of it is part of the key."""
        shape, dtype = key.value
        self.made.append((Walk.OBJECT, x, key.type))
        self.made.append((Walk.EQUAL, self.step(Walk.GET, x, "shape", None), shape))
        self.made.append((Walk.IS, self.step(Walk.GET, x, "dtype", None), np.dtype(dtype)))

    def place(self, fetch: Any, root: int | None = None) -> int:
        """The number of what a fetch gives, from argument `root` if that is set: ABSENT's where it gives nothing."""
        if fetch is itself and root is not None:
            return root if root < self.given else self.constant(ABSENT)
        way: tuple[Any, ...]
        if isinstance(fetch, Lookup) and (place := fetch.place()) is not None:
            where, name = place
            way = (*map(id, where if isinstance(where, tuple) else (where,)), name)
            if isinstance(where, type) and isinstance(fetch.held(None), (staticmethod, classmethod)):
                raise _NoPlan  # not what is there, but the function in it
            if way not in self.known:
                self.known[way] = self.step(Walk.OUTSIDE, _source(where), where, name)
            return self.known[way]
        if isinstance(fetch, Attribute):
            return self.part(attribute_of, self.constant(fetch.x), fetch.name)
        if not isinstance(fetch, partial) or fetch.keywords or len(fetch.args) != 2:
            raise _NoPlan
        inner, key = fetch.args
        if fetch.func is default_of:
            return self.default(inner, key)
        return self.part(fetch.func, self.place(inner, root), key)

    def default(self, function: FunctionType, name: str) -> int:
        """The default of a function's parameter (`default_of`)."""
        code, f = function.__code__, self.constant(function)
        if name in (function.__kwdefaults__ or {}):
            return self.part(item_of, self.part(attribute_of, f, "__kwdefaults__"), name)
        at = code.co_varnames.index(name) - code.co_argcount
        return self.part(item_of, self.part(attribute_of, f, "__defaults__"), at)

    def part(self, how: Any, x: int, key: Any) -> int:
        """The number of an item or an attribute of an object (`item_of`, `attribute_of`, `own_attribute_of`)."""
        if how not in (item_of, attribute_of, own_attribute_of):
            raise _NoPlan  # an array that is made of an object
        way = how, x, type(key), key
        if way not in self.known:
            if x in self.nodes:
                self.known[way] = self.part_of_container(how, x, key)
            elif x in self.keys:
                if not _has_not(self.keys[x], how, key):
                    raise _NoPlan
                self.known[way] = self.constant(ABSENT)
            elif how in (item_of, attribute_of):
                self.known[way] = self.step(Walk.ITEM if how is item_of else Walk.GET, x, key, None)
            else:
                raise _NoPlan
        return self.known[way]

    def part_of_container(self, how: Any, x: int, key: Any) -> int:
        (kind, keys, items), first = self.nodes[x]
        is_object = not issubclass(kind, (tuple, list, dict))
        if how is item_of and not is_object:
            names = range(len(items)) if keys is None else [*map(_dict_key, keys)]
            if keys is None and (type(key) is not int or key < 0):
                raise _NoPlan
            return first + names.index(key) if key in names else self.constant(ABSENT)
        if how is own_attribute_of and is_object:
            return self.step(Walk.ATTRIBUTE, x, key, ABSENT)
        if how is attribute_of and is_object:
            return self.step(Walk.GET, x, key, ABSENT)
        if how is item_of or kind not in (tuple, list, dict) or hasattr(kind, key):
            raise _NoPlan
        return self.constant(ABSENT)


def _is_of_matrix(key: Key) -> TypeGuard[StaticKey]:
    """Whether a key is that of a sparse matrix: its class, shape and dtype."""
    return isinstance(key, StaticKey) and key.any and key.value is not None and not is_text_key(key)


def _has_not(key: Key, how: Any, name: Any) -> bool:
    """Whether what has this key has no such part, whichever object it is."""
    if isinstance(key, ArrayKey):
        return how is not item_of and not hasattr(np.ndarray, name)
    if isinstance(key, ScalarKey):
        kind = _PYTHON.get(key.kind) or np.dtype(key.kind.removeprefix("np.")).type
        return how is item_of or not hasattr(kind, name)
    return (key.value is None or key.value is ABSENT) and (how is item_of or not hasattr(key.value, name))


def _dict_key(key: Any) -> Any:
    """The key of a dict, of its part of the program's key (`flatten.dict_key`)."""
    if not isinstance(key, tuple):
        raise _NoPlan
    if len(key) == 2 and isinstance(key[0], type):
        if key[0] in (str, int, bool, type(None), bytes) or isinstance(key[1], Enum):
            return key[1]
        raise _NoPlan
    return tuple(map(_dict_key, key))


def _source(where: Any) -> int:
    if isinstance(where, type):
        return Source.CLASS
    return Source.DICT if isinstance(where, dict) else Source.DICTS if isinstance(where, tuple) else Source.CELL


class _NoSteps(Exception):
    """Only Python makes the result."""


_NUMBERS: dict[str, tuple[int, tuple[str, ...]]] = {
    "float": (Result.FLOAT, ("f64",)), "int": (Result.INT, ("i64", "index")), "bool": (Result.BOOL, ("i1",)),
    "complex": (Result.COMPLEX, ("complex<f64>",)),
}  # fmt: skip


def _result(call: Call, traced: CallPlan, kernel: Kernel) -> tuple[tuple[tuple[Any, ...], ...], int]:
    """The steps that make the result, and how many of its parts are noted; `PYTHON` alone where only Python can."""
    try:
        made = _Steps(call, traced, kernel)
    except _NoSteps:
        return ((Result.PYTHON,),), 0
    return tuple(made.steps), len(made.noted)


def kinds_in(nodes: Sequence[Any]) -> Iterator[type]:
    """The classes of containers in the order of their numbers."""
    for node in nodes:
        if node is not None and not isinstance(node, int):
            yield node[0]
            yield from kinds_in(node[2])


class _Steps:
    """The steps that make the result and change containers, as `build_results` does."""

    def __init__(self, call: Call, traced: CallPlan, kernel: Kernel) -> None:
        self.results, self.arguments = kernel.frame.results, len(call.keys)
        self.kinds = list(kinds_in(call.tree or ()))
        self.owner = [None if k is None else traced.arguments[k] for k in kernel.result_arguments]
        self.steps: list[tuple[Any, ...]] = []
        self.noted: dict[tuple[str, int], int] = {}
        """Where an array or a container is noted that occurs more than once."""
        times = Counter(self._occurrences([traced.plan, *(i for w in traced.writes for i in w.items)], set()))
        self.single = sum(kind == "array" for kind, _ in times.elements()) == 1
        for one, count in times.items():
            if count > 1:
                self.noted[one] = len(self.noted)
        self.build(traced.plan)
        at = 1
        firsts = []
        for write in traced.writes:
            firsts.append(at)
            at += len(write.items)
            for item in write.items:
                self.build(item)
        for write, first in zip(traced.writes, firsts):
            self.write(write, first)

    def _occurrences(self, plans: Sequence[Any], within: set[int]) -> Iterator[tuple[str, int]]:
        """Each place of an array or a container among plans."""
        for p in plans:
            if isinstance(p, ResultLeaf):
                if p.kind == "array":
                    yield "array", p.identity
            elif isinstance(p, NewContainer):
                if p.number in within:  # one that contains itself
                    raise _NoSteps
                yield "container", p.number
                yield from self._occurrences(p.items, {*within, p.number})
            else:
                yield from self._occurrences((p.then, p.orelse), within)

    def build(self, p: Any) -> None:
        """Appends the steps that put one part on the stack."""
        if isinstance(p, ResultLeaf):
            self.leaf(p)
        elif isinstance(p, NewContainer):
            self.container(p)
        else:
            at = self.placeholder()
            self.build(p.then)
            end = self.placeholder()
            self.steps[at] = (Result.IF, p.index, len(self.steps))
            self.build(p.orelse)
            self.steps[end] = (Result.JUMP, len(self.steps))

    def placeholder(self) -> int:
        """The number of a step that is decided later."""
        self.steps.append((Result.PYTHON,))
        return len(self.steps) - 1

    def leaf(self, p: ResultLeaf) -> None:
        if p.kind == "const":
            self.steps.append((Result.OBJECT, p.value))
        elif p.kind == "argument":
            self.steps.append((Result.ARGUMENT, p.index))
        elif p.kind == "container":
            self.steps.append((Result.ARGUMENT, self.arguments + p.index))
        elif p.kind == "array":
            owner = self.owner[p.index]
            noted = self.noted.get(("array", p.identity), -1)
            read_only = 0 if not p.read_only else 2 if self.single else 1
            self.steps.append((Result.ARRAY, p.index, noted, -1 if owner is None else owner, read_only))
        elif p.kind in ("items", "rows", "alternatives", "kept", "text", "text array"):
            raise _NoSteps
        else:
            self.steps.append((self.number(p.kind, self.results[p.index]), p.index))

    def number(self, kind: str, type_: Type) -> int:
        """The step that makes a number of a slot of this type."""
        if kind == "numpy" and isinstance(type_, ScalarType) and type_.name != "index":
            return Result.NUMPY
        step, names = _NUMBERS.get(kind, (Result.PYTHON, ()))
        if not isinstance(type_, ScalarType) or type_.name not in names:
            raise _NoSteps
        return step

    def container(self, p: NewContainer) -> None:
        derived = issubclass(p.kind, dict) and p.kind is not dict
        if p.keys in (SPREAD, GROUPS) or derived or (issubclass(p.kind, tuple) and p.keys is not None):
            raise _NoSteps
        noted = self.noted.get(("container", p.number), -1)
        at = -1 if noted < 0 else self.placeholder()
        for item in p.items:
            self.build(item)
        n = len(p.items)
        if p.kind is dict:
            self.steps.append((Result.DICT, n, noted, p.keys))
        elif p.kind in (tuple, list):
            self.steps.append((Result.TUPLE if p.kind is tuple else Result.LIST, n, noted))
        elif p.keys is None:
            self.steps.append((Result.NAMED_TUPLE, n, noted, p.kind))
        else:
            self.steps.append((Result.RECORD, n, noted, p.kind, p.keys))
        if at >= 0:
            self.steps[at] = (Result.KNOWN, noted, len(self.steps))

    def write(self, p: ContainerWrite, first: int) -> None:
        """The step that brings a container of the caller's up to date; its items are on the stack."""
        if p.keys == SPREAD:
            raise _NoSteps
        n, container = len(p.items), self.arguments + p.number
        kind = self.kinds[p.number]
        if kind is list:
            self.steps.append((Result.WRITE_LIST, n, container, first))
        elif kind is dict:
            self.steps.append((Result.WRITE_DICT, n, container, first, p.keys, int(p.whole)))
        else:
            self.steps.append((Result.WRITE_OBJECT, n, container, first, p.keys))
