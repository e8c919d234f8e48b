"""Which programs machine code may call without Python, and what it checks before: a specialisation as the `Plan` of an
entry (backend/runtime/entries.py).

The rules are those of frontends/numpy/call/arguments.py and paths/results.py; what is not one of them yet has no plan,
and Python takes its calls.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from tracebuf.backend.llvm.entries import Layout, Result, Source, Walk
from tracebuf.backend.runtime.callable import NativeCallable
from tracebuf.backend.runtime.entries import (
    Argument,
    ArrayArgument,
    NativeCalls,
    NumberArgument,
    ObjectArgument,
    Plan,
    ProgramEntry,
    SameArgument,
    Signature,
    Steps,
    Term,
    supported,
)
from tracebuf.frontends.numpy.call.arguments import ArrayKey, Binding, Key, ScalarKey, StaticKey, is_static
from tracebuf.frontends.numpy.call.captures import Hidden, own_attribute_of
from tracebuf.frontends.numpy.call.flatten import Tree
from tracebuf.frontends.numpy.call.lookups import Lookup
from tracebuf.frontends.numpy.interpreter.trace import itself
from tracebuf.frontends.numpy.paths.results import NewContainer, ResultLeaf, build_results
from tracebuf.frontends.numpy.source.binding import parameters_of
from tracebuf.ir.dims import Expr, Sym
from tracebuf.ir.types import C128, F64, I1, INDEX, MemRefType, ScalarType, Type

if TYPE_CHECKING:
    from types import FunctionType

    from tracebuf.backend.runtime.kernel import Kernel
    from tracebuf.frontends.numpy.interpreter.trace import Call, Conditions, Traced

_LAYOUTS = {"dense": Layout.DENSE, "unit": Layout.UNIT, "strided": Layout.STRIDED}
_PYTHON: dict[str, type] = {"float": float, "complex": complex, "bool": bool, "int": int}
_GUARDS = {"nonneg": 0, "zero": 1, "nonzero": 2}


class _NoPlan(Exception):
    """The program has something that only Python checks."""


def entry_of(plan: Plan, traced: Traced, kernel: Kernel) -> ProgramEntry:
    """A program's entry, in the kernel's own context."""
    result, writes = traced.plan, traced.writes

    def build(raw: list[Any], values: Sequence[Any], containers: Sequence[Any]) -> Any:
        return build_results(result, raw, values, containers, writes)

    return ProgramEntry(kernel, plan, build)


def calls_of(target: NativeCallable, python: Any, function: FunctionType) -> NativeCalls:
    """The native calls of a function, none yet; `python` takes the calls that no entry does."""
    p = parameters_of(function.__code__)
    return NativeCalls(target, python, function, Signature(p.single, len(p.first) + len(p.plain), len(p.first)))


def plan_of(call: Call, traced: Traced, kernel: Kernel, calls_users: bool) -> Plan | None:
    """The plan of a program, which may call functions of the user's; None where Python has to take all its calls."""
    taken = list(traced.arguments)
    odd = call.out or call.named or call.donated or len(set(taken)) != len(taken)
    if calls_users and (call.tree is not None or call.hidden):
        return None  # what holds the values may change
    if odd or kernel.calls_back or kernel.guarded or not supported():
        return None
    slots = [taken.index(i) if i in taken else -1 for i in range(len(call.keys))]
    try:
        types = [kernel.frame.args[slot] if slot >= 0 else None for slot in slots]
        arguments = tuple(_argument(i, key, call, types[i]) for i, key in enumerate(call.keys))
        guards = tuple((_GUARDS[g.kind], _terms(g.expr, traced.bindings, slots)) for g in traced.guards)
        result = ((Result.PYTHON,),) if traced.writes else _result(traced.plan, kernel.frame.results)
        return Plan(arguments, tuple(slots), guards, _outside(traced), result, walk_of(call))
    except _NoPlan:
        return None


def _argument(i: int, key: Key, call: Call, type_: Type | None) -> Argument:
    """What argument `i` must be; `type_` is that of the kernel's argument, if it is one."""
    if isinstance(key, ArrayKey):
        if call.related.same[i] != i:
            if call.related.objects[i] == i:
                raise _NoPlan
            return SameArgument(call.related.objects[i])
        if key.repeated or not isinstance(type_, MemRefType):
            raise _NoPlan
        return ArrayArgument(np.dtype(key.dtype), key.dims, key.order, _LAYOUTS[key.layout], key.writable)
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
    if type_ is not None:
        raise _NoPlan
    return ObjectArgument(_object_of(key))


def _object_of(key: StaticKey) -> Any:
    """An object of which all calls with it have the key."""
    x = key.value
    if isinstance(x, tuple) and len(x) == 2 and x[0] is key.type:
        x = x[1]  # of a static argument (static.exact)
    if type(x) is key.type and (x is None or x is Ellipsis or type(x) in (bool, int, bytes) or is_static(x)):
        return x
    raise _NoPlan


def _terms(e: Expr, bindings: Mapping[Sym, Binding], slots: Sequence[int]) -> tuple[Term, ...]:
    """A guard's polynomial as terms of arguments."""
    terms = []
    for monomial, coefficient in e.terms.items():
        factors = []
        for atom in monomial:
            binding = bindings.get(atom) if isinstance(atom, Sym) else None
            if binding is None or slots[binding.index] < 0:
                raise _NoPlan
            factors.append((binding.index, binding.axis, binding.stride))
        if abs(coefficient) >= 2**62:
            raise _NoPlan
        terms.append((coefficient, tuple(factors)))
    return tuple(terms)


def _outside(under: Conditions) -> tuple[tuple[Source, Any, str, Any], ...]:
    """The values from outside, and where they are looked up."""
    found = []
    for _, fetch, value in under.captures:
        place = fetch.place() if isinstance(fetch, Lookup) else None
        if place is None:
            raise _NoPlan
        where, name = place
        found.append((_source(where), where, name, value))
    return tuple(found)


def walk_of(call: Call) -> Steps | None:
    """How containers among the arguments are taken apart, and values from outside are fetched."""
    if call.tree is None and not call.hidden:
        return None
    given = len(call.tops) - len(call.hidden)
    steps: list[tuple[Any, ...]] = []
    leaves: list[int] = []
    containers: list[int] = []
    nodes = given

    def meet(x: int, node: Any) -> None:
        nonlocal nodes
        if node is None:
            leaves.append(x)
            return
        if isinstance(node, int):  # a container that occurs again
            raise _NoPlan
        kind, keys, items = node
        containers.append(x)
        first, nodes = nodes, nodes + len(items)
        if kind is dict:
            steps.append((Walk.DICT, x, kind, tuple(map(_dict_key, keys))))
        elif issubclass(kind, (tuple, list)):
            steps.append((Walk.LIST if kind is list else Walk.TUPLE, x, kind, len(items)))
        else:
            steps.append((Walk.OBJECT, x, kind))
        for i, item in enumerate(items):
            meet(first + i, item)

    tree = call.tree or (None,) * len(call.tops)
    for i in range(given):
        meet(i, tree[i])
    for i, hidden in enumerate(call.hidden, given):
        steps.append(_fetched(hidden, tree))
        nodes += 1
        meet(nodes - 1, tree[i])
    return Steps(given, tuple(steps), tuple(leaves), tuple(containers), nodes)


def _fetched(hidden: Hidden, tree: Tree) -> tuple[Any, ...]:
    """The step that fetches a value from outside, or the attribute of an argument."""
    fetch: Any = hidden.fetch
    if hidden.root is None:
        if hidden.from_object or not isinstance(fetch, Lookup) or (place := fetch.place()) is None:
            raise _NoPlan
        return (Walk.OUTSIDE, _source(place[0]), *place)
    own = isinstance(fetch, partial) and fetch.func is own_attribute_of and not fetch.keywords
    if not own or fetch.args[0] is not itself or tree[hidden.root] is None:
        raise _NoPlan
    return Walk.ATTRIBUTE, hidden.root, fetch.args[1]


def _dict_key(key: Any) -> Any:
    """The key of a dict, of its part of the program's key; what is no string may be another object each time."""
    if not (isinstance(key, tuple) and len(key) == 2 and key[0] is str):
        raise _NoPlan
    return key[1]


def _source(where: Any) -> Source:
    return Source.DICT if isinstance(where, dict) else Source.DICTS if isinstance(where, tuple) else Source.CELL


def _result(plan: Any, results: Sequence[Type]) -> tuple[tuple[Any, ...], ...]:
    """The steps that make the result; `PYTHON` alone where only Python can."""
    steps: list[tuple[Any, ...]] = []
    indices: dict[int, int] = {}
    containers: set[int] = set()

    def leaf(p: ResultLeaf) -> bool:
        if p.kind == "const":
            steps.append((Result.OBJECT, p.value))
            return True
        if p.kind == "argument":
            steps.append((Result.ARGUMENT, p.index))
            return True
        if p.kind == "container":
            return False
        type_ = results[p.index]
        if p.kind == "array":
            steps.append((Result.ARRAY, p.index, p.identity))
            fresh = p.value is None and not p.read_only and isinstance(type_, MemRefType)
            return fresh and indices.setdefault(p.identity, p.index) == p.index
        if not isinstance(type_, ScalarType):
            return False
        if p.kind == "numpy":
            steps.append((Result.NUMPY, p.index))
            return type_ is not INDEX and type_.name != "index"
        kinds = {
            "float": (Result.FLOAT, ("f64",)), "int": (Result.INT, ("i64", "index")), "bool": (Result.BOOL, ("i1",)),
            "complex": (Result.COMPLEX, ("complex<f64>",)),
        }  # fmt: skip
        kind, names = kinds.get(p.kind, (Result.PYTHON, ()))
        steps.append((kind, p.index))
        return type_.name in names

    def build(p: Any) -> bool:
        if isinstance(p, ResultLeaf):
            return leaf(p)
        if not isinstance(p, NewContainer) or p.number in containers:
            return False
        if p.kind is not list and (p.keys is not None or not issubclass(p.kind, tuple)):
            return False
        containers.add(p.number)
        if not all(build(item) for item in p.items):
            return False
        steps.append((Result.LIST if p.kind is list else Result.TUPLE, len(p.items)))
        if p.kind not in (tuple, list):
            steps.append((Result.NAMED, p.kind))
        return True

    return tuple(steps) if build(plan) else ((Result.PYTHON,),)
