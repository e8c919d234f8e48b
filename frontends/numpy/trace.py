"""trace: a Python function and the arguments of one call become one tensor-level Func with guards and a result plan."""

from __future__ import annotations

import inspect
import types
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tracebuf.errors import UnsupportedError
from tracebuf.frontends.numpy import rewrites
from tracebuf.frontends.numpy.arguments import ArrayKey, Binding, Entry, Key, Relations, ScalarKey
from tracebuf.frontends.numpy.captures import Hidden
from tracebuf.frontends.numpy.identity import Either, identity, objects
from tracebuf.frontends.numpy.interpreter import Interpreter
from tracebuf.frontends.numpy.joins import deep_parameters
from tracebuf.frontends.numpy.kinds import Choice, leaves
from tracebuf.frontends.numpy.loop_plan import arms_of
from tracebuf.frontends.numpy.outputs import Form, arranged, check_one_type, store_results
from tracebuf.frontends.numpy.recorder import DeadEnd, Guard, Recorder
from tracebuf.frontends.numpy.source import heading
from tracebuf.frontends.numpy.values import (
    EITHER,
    NUMBERS,
    ArrayRef,
    GuardedRef,
    NpScalar,
    PyBool,
    PyComplex,
    PyFloat,
    PyInt,
    Scalar,
)
from tracebuf.ir.core import Donation, Func, Op, Value
from tracebuf.ir.dims import Expr, Sym, sym, symbols, to_python
from tracebuf.ir.types import TensorType
from tracebuf.ops import bufferization, func


@dataclass(frozen=True)
class Leaf:
    """One result. kind: "argument" (the very object passed as `index`), "array" or a scalar kind (result `index` of the
    compiled function), "const" (`value`). Leaves with one `identity` are one object; `read_only` arrays are views that
    must not be stored to."""

    kind: str
    index: int = -1
    value: Any = None
    identity: int = -1
    read_only: bool = False


@dataclass(frozen=True)
class Pick:
    """One plan or another: `then` where result `index` (an i1) is True (rule S8)."""

    index: int
    then: Any
    orelse: Any


Plan = Leaf | Pick | tuple[Any, ...] | list[Any]


@dataclass(frozen=True)
class Conditions:
    """What tracing assumed of a call beside its key: guards on sizes and ints, and what names from outside mean."""

    guards: tuple[Guard, ...]
    bindings: Mapping[Sym, Binding]
    captures: tuple[tuple[str, Callable[[], Any], Any], ...]

    def guard_function(self) -> Callable[[Sequence[Any]], bool]:
        """The guards as one compiled predicate over the call's arguments."""
        if not self.guards:
            return lambda args: True

        tests = {"nonneg": ">= 0", "zero": "== 0", "nonzero": "!= 0"}
        exprs = (to_python(g.expr, lambda s: self.bindings[s].source()) for g in self.guards)
        text = " and ".join(f"{e} {tests[g.kind]}" for e, g in zip(exprs, self.guards))
        predicate: Callable[[Sequence[Any]], bool] = eval(f"lambda args: {text}", {})
        return predicate

    def captures_hold(self) -> bool:
        """Whether names from outside still mean what they meant."""
        try:
            return all((now := fetch()) is value or same_capture(now, value) for _, fetch, value in self.captures)
        except (LookupError, AttributeError, ValueError):
            return False


@dataclass(frozen=True)
class Traced(Conditions):
    """What tracing gives, where its conditions hold: the function at tensor level; which call argument each SSA
    argument is; the parameters it stores to; how results are put together."""

    func: Func
    arguments: tuple[int, ...]
    stored: tuple[int, ...]
    plan: Plan


def same_capture(now: Any, then: Any) -> bool:
    if type(now) is not type(then):
        return False
    if isinstance(now, (float, complex, np.generic)):
        return repr(now) == repr(then)  # the zeros are two, NaN is one
    return type(now) in (bool, int, str) and bool(now == then)


@dataclass(frozen=True)
class Call:
    """The arguments of one call: the bound parameters in order, the `extra` arguments of `*args`, those of
    `**kwargs` (`named`), the buffers of `out=`, the captured arrays. `keys` are their parts of the specialisation's
    key, `related` how they lie to each other, `donated` those that the program may overwrite as it likes."""

    names: tuple[str, ...]
    values: tuple[Any, ...]
    keys: tuple[Key, ...]
    related: Relations
    extra: int
    named: tuple[str, ...]
    out: Form
    hidden: tuple[Hidden, ...]
    donated: tuple[int, ...]

    @property
    def group(self) -> tuple[Any, ...]:
        """What all specialisations that may serve the call have in common."""
        return self.keys, self.related.same, self.related.objects, self.named, self.out, self.donated


def trace(function: types.FunctionType, call: Call) -> Traced:
    """Traces one call; UnsupportedError where the language ends, NewCapture for an array from outside that is not in
    the call."""
    entry = Entry(function.__name__, heading(function))
    given: list[Any] = []
    related = call.related
    for i, (name, x, key) in enumerate(zip(call.names, call.values, call.keys)):
        if related.objects[i] != i:
            given.append(given[related.objects[i]])
        elif related.same[i] != i:
            given.append(ArrayRef(given[related.same[i]].storage))  # the same memory by another array object
        elif isinstance(key, ArrayKey):
            given.append(entry.array(i, name, key, x))
        else:
            given.append(entry.scalar(i, name, key, x) if isinstance(key, ScalarKey) else x)
    r = entry.begin()
    r.given = [g for g in given if isinstance(g, ArrayRef)]
    signature = inspect.signature(function, follow_wrapped=False)
    many = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    parameters = [p for p in signature.parameters.values() if p.kind not in many]
    rest, last = len(parameters) + call.extra, len(given) - len(call.hidden)
    first = rest + len(call.named)
    positional = [g for g, p in zip(given, parameters) if p.kind is not inspect.Parameter.KEYWORD_ONLY]
    keyword = {p.name: g for g, p in zip(given, parameters) if p.kind is inspect.Parameter.KEYWORD_ONLY}
    keyword.update(zip(call.named, given[rest:first]))
    interpreter = Interpreter(r, {h.place: g for h, g in zip(call.hidden, given[last:])})
    try:
        try:
            result = interpreter.call_function(function, [*positional, *given[len(parameters) : rest]], keyword)
            r.loc = interpreter.returned_at
            result = store_results(r, result, arranged(call.out, given[first:last]))
        except DeadEnd:  # no path reaches a return: each raises when it is run
            result = None
        if r.doubts:
            raise r.doubts[0]
        r.loc = interpreter.returned_at
        return finish(entry, r, interpreter, given, result, call.donated)
    except UnsupportedError as refusal:
        refusal.under = assumed(entry, r, interpreter)
        raise


def assumed(entry: Entry, r: Recorder, interpreter: Interpreter) -> Conditions:
    """What was assumed until now."""
    return Conditions(tuple(r.guards), dict(entry.bindings), tuple(interpreter.captures.values()))


def finish(
    entry: Entry, r: Recorder, interpreter: Interpreter, given: Sequence[Any], result: Any, donated: Sequence[int]
) -> Traced:
    """Materialises stored arguments, returns the results, and forgets discarded regions."""
    results = Results(r, given)
    arrays = {id(x): x for leaf in leaves(result) if isinstance(leaf, ArrayRef) for x in arms_of(leaf)}
    results.held.update(i for x in arrays.values() for i in {id(o) for o in objects(identity(x))})
    returned = {id(g.storage) for g, _ in results.given if results.held[id(g)]}
    stored = []
    for index, storage in entry.storages:
        argument = next(a for a, i in zip(entry.func.args, entry.arguments) if i == index)
        attrs, kept = entry.func.arg_attrs[argument.index], index not in donated or id(storage) in returned
        if index in donated:
            attrs["tracebuf.donated"] = Donation.of(returned=kept, stored=storage.stored)
        if storage.stored:
            stored.append(index)
        attrs["bufferization.writable"] = storage.stored or not kept
        final = r.value(storage)
        if storage.stored and kept and final is not argument:
            r.frame.values[storage] = r.add(bufferization.MaterializeInDestination.of(final, argument, r.loc)).result
    plan = results.leaf(result)
    r.add(func.Return.of(results.values, r.loc))
    spell_equal_sizes_alike(entry.func, r)
    entry.func.forget_lost_uses()
    entry.func.forget_lost_symbols()
    held = assumed(entry, r, interpreter)
    return Traced(
        held.guards, held.bindings, held.captures, entry.func, tuple(entry.arguments), tuple(stored), plan
    )


def spell_equal_sizes_alike(f: Func, r: Recorder) -> None:
    """Guards that came late made sizes equal that ops before spell in two ways: types and values get one spelling."""
    if not any(g.kind == "zero" for g in r.guards):
        return
    for s, value in list(f.symbols.items()):
        same = r.facts.canon(sym(s))
        if isinstance(same, Expr) and same != sym(s) and (t := sole_symbol(same)) is not None and t in f.symbols:
            value.replace_all_uses(f.symbols[t])
            f.symbols[s] = f.symbols[t]
    for attrs in f.arg_attrs:
        if "strides" in attrs:
            attrs["strides"] = tuple(None if d is None else r.facts.canon(d) for d in attrs["strides"])
    values = [*f.args, *(v for op in f.walk() for v in results_and_arguments(op))]
    for v in values:
        if isinstance(v.type, TensorType) and any(isinstance(d, Expr) for d in v.type.shape):
            v.type = TensorType(tuple(r.facts.canon(d) for d in v.type.shape), v.type.element)


def sole_symbol(e: Expr) -> Sym | None:
    """The symbol that an expression is, if it is nothing else."""
    found = symbols(e)
    return next(iter(found)) if len(found) == 1 and e == sym(next(iter(found))) else None


def results_and_arguments(op: Op) -> list[Value]:
    return [*op.results, *(a for region in op.regions for b in region.blocks for a in b.args)]


Taken = tuple[tuple[Value, int], ...]
"""The path to an arm: conditions, and which arm of each."""


class Results:
    """Turns what the function returned into returned values and a plan."""

    def __init__(self, r: Recorder, given: Sequence[Any]) -> None:
        self.r = r
        self.given = [(g, i) for i, g in enumerate(given) if isinstance(g, ArrayRef)]
        self.values: list[Value] = []
        self.seen: dict[tuple[int, Taken], Leaf] = {}
        self.kept: list[Any] = []
        self.held: Counter[int] = Counter()

    def add(self, value: Value) -> int:
        self.values.append(value)
        return len(self.values) - 1

    def leaf(self, x: Any) -> Plan:
        if isinstance(x, tuple):
            if type(x) is not tuple:
                raise UnsupportedError(
                    "only plain tuples and lists can be returned", location=self.r.loc, instead="return tuple(x)"
                )
            return tuple(self.leaf(i) for i in x)
        if isinstance(x, list):
            return [self.leaf(i) for i in x]
        if isinstance(x, (GuardedRef, Choice)):
            return self.guarded(x, ())
        if isinstance(x, ArrayRef):
            return self.array(x, identity(x))
        if isinstance(x, Scalar):
            return self.scalar(x)
        if x is None or isinstance(x, (str, *NUMBERS, np.dtype, type(Ellipsis), type)):
            return Leaf("const", value=x)
        raise UnsupportedError(
            f"a {rewrites.name_of(x)} cannot be returned",
            location=self.r.loc,
            instead="return arrays, numbers, tuples and lists of them",
        )

    def array(self, x: ArrayRef, found: Any, taken: Taken = ()) -> Plan:
        """A result that is the object `found`, with the elements of `x`."""
        if isinstance(found, Either):
            if not any(self.known(o) for o in objects(found)):
                return self.array(x, x, taken)
            first, second = (self.array(x, o, taken) for o in (found.then, found.orelse))
            return Pick(self.add(found.condition), first, second)
        for g, i in self.given:
            if found is g:
                return Leaf("argument", i)
        key = id(x), taken
        if key not in self.seen:
            self.kept.append((x, found))
            value = self.read_where(x, taken)
            self.seen[key] = Leaf("array", self.add(value), x.storage.arg, id(x), x.read_only)
        return replace(self.seen[key], identity=id(found))

    def known(self, found: Any) -> bool:
        """Whether an object is an argument, or another result too."""
        return any(found is g for g, _ in self.given) or self.held[id(found)] > 1

    def guarded(self, x: Any, taken: Taken) -> Plan:
        """One value or another (rule S8): each array is read only on the path that takes it."""
        if isinstance(x, (GuardedRef, Choice)):
            arms = x.arms if isinstance(x, GuardedRef) else (x.then, x.orelse)
            first, second = (self.guarded(arm, (*taken, (x.condition, k))) for k, arm in enumerate(arms))
            return Pick(self.add(x.condition), first, second)
        if type(x) in (tuple, list):
            return type(x)(self.guarded(i, taken) for i in x)  # type: ignore[no-any-return]
        return self.array(x, identity(x), taken) if isinstance(x, ArrayRef) else self.leaf(x)

    def read_where(self, x: ArrayRef, taken: Taken) -> Value:
        """The elements of an array on a path; on any other nothing that is looked at."""
        r = self.r
        sizes_known = all(r.entry_only(d) for d in deep_parameters(x.view))
        if not taken or (x.storage.arg is not None and sizes_known):  # a view of what is there on any path
            return r.read(x)
        (condition, wanted), more = taken[0], taken[1:]

        def side(k: int) -> list[Value]:
            value = self.read_where(x, more) if k == wanted else r.nothing(x.element, x.shape, range(x.ndim), False)
            return [*map(r.index, value.tensor_type.shape), value]

        *sizes, value = r.either(condition, side)
        value.type = r.tensor_type([r.symbol(size, "size", lo=0) for size in sizes], x.element)
        return value

    def scalar(self, x: Scalar) -> Plan:
        if isinstance(x, PyInt):
            if isinstance(e := self.r.facts.canon(x.expr), int):
                return Leaf("const", value=e)
            return Leaf("int", self.add(self.r.i64(e)))
        if isinstance(x, PyFloat):
            return Leaf("float", self.add(x.value))
        if isinstance(x, PyComplex):
            return Leaf("complex", self.add(x.value))
        if isinstance(x, PyBool):
            return Leaf("bool", self.add(x.value))
        assert isinstance(x, NpScalar)
        if x.python is not None and x.python.kind == EITHER:
            check_one_type(self.r, x)
        found = Leaf("numpy", self.add(x.value))
        return found if x.python is None else Pick(self.add(x.python.flag), replace(found, kind=x.python.kind), found)
