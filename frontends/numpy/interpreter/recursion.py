"""Recursion whose depth only the run time knows: a function that calls itself becomes a function of the program.

It is traced once for a call from outside, as a loop's body is: what its arguments, its result and the arrays that it
stores to are at every depth is found by trying. At first nothing varies, and no call of itself returns; each attempt
mends the plan by what the calls in it give (`Recursion.again`) and by what it returns, until both are as planned. What
it reads of the functions around it becomes further arguments. A recursion that ends by what tracing knows is inlined,
as any call: only where that goes too deep (`note`) is the function traced anew as one of these.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from dataclasses import field, replace
from functools import partial
from typing import Any

from tracebuf.errors import UnsupportedError
from tracebuf.frontends.numpy.arrays.reshape import dense_strides
from tracebuf.frontends.numpy.call.talk import Talk
from tracebuf.frontends.numpy.functions.formulas import prelude
from tracebuf.frontends.numpy.interpreter.evaluator import Evaluator, Scope, pushed
from tracebuf.frontends.numpy.interpreter.lists import threaded
from tracebuf.frontends.numpy.numbers.lattice import (
    from_values,
    is_container,
    is_number,
    parts_of,
    rebuild,
    same_value,
    structure,
    to_values,
    unify,
)
from tracebuf.frontends.numpy.paths.identity import HeadObject
from tracebuf.frontends.numpy.paths.joins import plain as is_plain
from tracebuf.frontends.numpy.paths.leaving import parameters
from tracebuf.frontends.numpy.paths.loops.returned import (
    Argument,
    Around,
    Arrays,
    Fresh,
    Numbers,
    Part,
    Path,
    Place,
    Result,
    geometry,
    index_of,
    is_array,
    order_of,
    with_parameters,
)
from tracebuf.frontends.numpy.paths.loops.trace import kinds_of_names
from tracebuf.frontends.numpy.record.by_identity import ByIdentity
from tracebuf.frontends.numpy.record.cond import Cond, ends
from tracebuf.frontends.numpy.record.conditions import both, negation
from tracebuf.frontends.numpy.record.growing import Regrow, columns, is_growing, is_list
from tracebuf.frontends.numpy.record.heap import Changed, Record, items_of, with_items
from tracebuf.frontends.numpy.record.raises import DeadEnd, is_half_full
from tracebuf.frontends.numpy.record.recorder import Recorder
from tracebuf.frontends.numpy.record.sizes import USUAL
from tracebuf.frontends.numpy.record.values import (
    ArrayRef,
    Env,
    GuardedRef,
    Kind,
    Kinds,
    PyInt,
    Scalar,
    Storage,
    View,
    kind_of,
    kinds_of,
    of_one_form,
    storages_of,
)
from tracebuf.frozen import plain
from tracebuf.ir.core import Block, Region, Value
from tracebuf.ir.dims import Dim, symbols
from tracebuf.ir.func import Func
from tracebuf.ir.types import I1, I64, INDEX, ShapedType, TensorType, strides_in_order
from tracebuf.ops.arrays import bufferization, tensor
from tracebuf.ops.arrays.host import HostCall
from tracebuf.ops.control.func import Return, TracedCall
from tracebuf.ops.scalars import arith
from tracebuf.running.host import HostFunction
from tracebuf.running.recursion import calls_left

MAX_ATTEMPTS = 16
"""How often a function is traced before its recursion is refused."""

UNASKED = 64
"""How deep a recursion goes before Python is asked how deep it may go."""
MAX_NESTED = 40
"""How deep calls may be nested that are inlined."""
MAX_SAME = 3
"""How many calls with the same arguments are inlined, one in another, before the function is one of the program."""
MAX_COUNTED = 48
"""How many calls are inlined, one in another, of a function that numbers known while tracing tell apart (a depth that
is counted), beside what only the run time knows."""
MOST_NESTED = 10**6
"""More than regions are nested."""
MAX_INLINED = 200
"""How many calls are inlined of functions that call themselves and cannot be functions of the program; more would take
minutes to compile."""

Code = tuple[str, int, int]


def code_of(scope: Scope) -> Code:
    """What tells functions apart, from one tracing to the next: where they are written, if they are."""
    node = scope.source.node
    return scope.source.file, getattr(node, "lineno", id(node)), getattr(node, "col_offset", 0)


def parts_in(env: Env) -> Iterator[tuple[Path, Any]]:
    """The parts of arguments."""
    for name, x in env.items():
        for k, leaf in enumerate(parts_of(x)):
            yield (name, k), leaf


Known = dict[Code, "frozenset[Path] | UnsupportedError"]
"""The functions that call themselves, to a depth that only the run time knows: which parts of their arguments are known
to differ; for those that cannot be functions of the program, which are inlined after all, why."""


def note(scopes: Sequence[Scope], scope: Scope, known: Known, inlined: int, counts: dict[Code, int]) -> None:
    """Has the call traced anew where a call is one of a function in itself whose arguments are other values than those
    around it, which only the run time knows, or often the same; or where calls are nested too deep, for the outermost
    such function. `counts`: how many calls there were of each, one in another. Refuses what is inlined after all where
    there are too many such calls."""
    code = code_of(scope)
    around = [s for s in callers(scopes) if s.closure is scope.closure and code_of(s) == code]
    if around and code not in known:
        counts[code] = counts.get(code, 0) + 1
        counted = counts[code] > MAX_COUNTED or is_half_full()
        paths = differing_at_run_time(around[0].given, scope.given, counted)
        if paths or sum(is_same_call(s.given, scope.given) for s in around) >= MAX_SAME:
            known[code] = paths
            raise Regrow
    if isinstance(why := known.get(code), UnsupportedError) and inlined > MAX_INLINED:
        raise again(why)
    if len(scopes) > MAX_NESTED:
        codes = [code_of(s) for s in scopes]
        found = next((c for c in codes if codes.count(c) > 2), None)
        if found is not None and found not in known:
            known[found] = frozenset()
            raise Regrow
        if found is not None and isinstance(why := known[found], UnsupportedError):
            raise again(why)


def callers(scopes: Sequence[Scope]) -> Iterator[Scope]:
    """The functions that a call is in, the innermost first: a loop's body is in the function of the loop, not in the
    generator that gives its items."""
    wanted: Scope | None = None
    for scope in reversed(scopes):
        if wanted is None or scope is wanted:
            yield scope
            wanted = scope.consumer


def is_same_call(old: Env, new: Env) -> bool:
    """Whether the arguments of two calls are the same: the recursion is ended by what the function changes."""
    pairs = [(x, new.get(name)) for name, x in old.items()]
    return old.keys() == new.keys() and all(same_value(x, y) or x is y for x, y in pairs)


def again(why: UnsupportedError) -> UnsupportedError:
    """The same refusal, without its frames, which hold the arguments."""
    return UnsupportedError(why.reason, instead=why.instead, location=why.location)


def differing_at_run_time(old: Env, new: Env, counted: bool) -> frozenset[Path]:
    """The parts of arguments that differ; none if one that does is known while tracing, or all (`counted`: that are
    numbers)."""
    differing, known = set[Path](), set[Path]()
    for name, x in new.items():
        if name not in old or structure(old[name]) != structure(x):
            return frozenset()
        for k, (a, b) in enumerate(zip(parts_of(old[name]), parts_of(x))):
            if same_value(a, b) or is_plain(a) and is_plain(b) and a.same(b):
                continue
            if counted and type(a) is type(b) and type(b) in (int, float):
                known.add((name, k))
                continue
            arrays = isinstance(b, GuardedRef)
            arrays = arrays or is_plain(b) and not all(isinstance(d, int) for d in parameters(b.view))
            if not arrays and not isinstance(b, Scalar) or isinstance(b, PyInt) and isinstance(b.expr, int):
                return frozenset()
            differing.add((name, k))
    return frozenset(differing | known if differing else ())


# -- what is planned
@plain(eq=False)
class Plan:
    """What is known of a function's recursion. `numbers`: the parts of arguments that are other numbers at other
    depths; `views`: those that are other parts of an array, by which offsets and sizes differ; `owned`: those that are
    other arrays; `stored`: the arrays of around it that it stores to, `filled`: the arguments of `owned`."""

    numbers: dict[Path, Kind] = field(default_factory=dict)
    views: dict[Path, tuple[bool, ...]] = field(default_factory=dict)
    owned: dict[Path, None] = field(default_factory=dict)
    read: dict[Path, None] = field(default_factory=dict)
    """Of `owned`, those of which only the elements are given: one array or another, or of other forms."""
    stored: dict[Storage, None] = field(default_factory=dict)
    filled: dict[Path, None] = field(default_factory=dict)
    result: Result | None = None
    """None: no call of itself has returned yet."""
    containers: ByIdentity[Any, threaded.Fields] = field(default_factory=ByIdentity)
    """Those of around it that it changes, of objects the attributes that it sets."""
    after: dict[Path, Numbers | Arrays] = field(default_factory=dict)
    """The parts of these that are others after a call."""
    columns: dict[Path, None] = field(default_factory=dict)
    """The parts of these that are columns of lists, to which nothing else refers."""
    lists: dict[str, None] = field(default_factory=dict)
    """The parameters that are other lists of run-time length at other depths."""
    shares: bool = False
    """Whether a list that is returned may be one that is known elsewhere."""
    peeled: bool = False
    """Whether calls from outside are inlined: the arguments have other types from then on."""
    peeling: bool = False
    """Whether such a call is being traced."""
    unified: bool = False
    """Whether numbers of two types are of one that holds both: a call that is inlined has made another such."""
    form: Any = None
    """What containers held at the call from outside that is inlined for them; `others`: plans for other contents."""
    others: dict[Any, Plan] = field(default_factory=dict)


@plain(eq=False)
class Recursion:
    """One attempt at a function that calls itself."""

    i: Evaluator
    scope: Scope
    plan: Plan
    entry: dict[Path, Any] = field(default_factory=dict)
    heads: dict[Path, Any] = field(default_factory=dict)
    args: dict[Path, list[Value]] = field(default_factory=dict)
    inner: dict[Path, Storage] = field(default_factory=dict)
    """Of `Plan.owned`: the stand-ins of the arrays."""
    contents: dict[Path, Value] = field(default_factory=dict)
    calls: list[tuple[TracedCall, list[Value]]] = field(default_factory=list)
    """The calls of itself, each with the arguments that its operands are for."""
    passed: list[Storage] = field(default_factory=list)
    """The arrays that calls give for those of `Plan.owned`."""
    given: dict[str, Any] = field(default_factory=dict)
    """What the first call is given, but for containers that it changes."""
    shapes: dict[str, Any] = field(default_factory=dict)
    """What each of `Plan.containers` and `Plan.lists` holds before the first call."""
    own_lists: dict[str, Any] = field(default_factory=dict)
    """Of `Plan.lists`: the stand-ins of the lists."""
    returned: ByIdentity[Any, None] = field(default_factory=ByIdentity)
    """The lists that its calls have returned."""
    labels: ByIdentity[Any, Any] = field(default_factory=ByIdentity)
    """Where lists are made that it returns."""
    mended: bool = False

    def __post_init__(self) -> None:
        self.r = self.i.r
        self.block = Block([INDEX, I1])
        self.left, self.asked = self.block.args
        self.around = len(self.i.scopes)
        self.name = f"{self.scope.name}.{len(self.r.callees)}"

    # -- tracing
    def prepare(self) -> None:
        """Records what the first call is given of containers and lists, where it is made."""
        self.given = self.arguments(self.scope.env)
        self.shapes = {name: self.held(x) for name, x in self.containers()}
        self.shapes.update((name, self.given[name]) for name in self.plan.lists)

    def trace(self, run: Callable[[Scope], Any]) -> bool:
        """Records the function's body in a region of its own; whether it is as planned."""
        r, plan = self.r, self.plan
        kept = [(s, dict(s.env)) for s in self.i.scopes]
        result, dead = None, False
        arguments = self.given
        with r.region("loop", self.block) as self.frame:
            try:
                for name, x in self.containers():
                    self.put(x, self.head(name, self.shapes[name]))
                env = {name: self.head(name, arguments[name]) if name in arguments else x
                       for name, x in self.scope.env.items()}  # fmt: skip
                self.own_lists = {name: env[name] for name in plan.lists}
                for storage in plan.stored:
                    r.value(storage)
                self.check_depth()
                with pushed(self.i.recursions, self), r.uncaught():
                    result = run(replace(self.scope, env=env))
            except DeadEnd:
                dead = True
            finally:
                changed = r.heap.leave(self.frame)
            if any(not same_names(s.env, env) for s, env in kept):
                raise self.refuse("changes a name from outside of it")
            if self.note_containers(changed):
                return False
            if not dead:
                result = rebuild(result, map(self.by_object, parts_of(result)))
                result = self.compare_result(result)
                after = self.compare_contents(ByIdentity(changed), self.own_lists)
            self.compare_storages()
            if self.mended:
                return False
            if dead or plan.result is None:
                raise self.refuse("never ends")
            ends = [bufferization.MaterializeInDestination.of(v, a) for a, v in self.stores()]
            finals = [r.emit(op) for op in ends]
            results = plan.result.values(r, result, self.place)
            results += [v for path, part in plan.after.items() for v in part.values(r, after[path], self.place)]
            r.add(Return.of([*finals, *results], r.loc))
        return True

    def head(self, name: str, x: Any) -> Any:
        """A parameter at every depth."""
        leaves = []
        for k, leaf in enumerate(parts_of(x)):
            path = name, k
            self.entry[path] = leaf
            self.heads[path] = self.leaf(path, leaf)
            leaves.append(self.heads[path])
        if not is_container(x) or (name not in self.plan.lists and all(map(operator.is_, leaves, parts_of(x)))):
            return leaves[0] if not is_container(x) else x
        made = rebuild(x, iter(leaves))
        return self.r.heap.own(made, self.r) if name in self.plan.lists else made

    def leaf(self, path: Path, entry: Any) -> Any:
        r, plan = self.r, self.plan
        if path in plan.numbers:
            kind = plan.numbers[path]
            values = self.args[path] = [self.block.add_arg(t) for t in kind.types]
            return from_values(r, values, kind, path[0])
        if path in plan.columns:
            return self.column(path, entry)
        if path not in plan.views:
            return entry
        made, varies = entry, plan.views[path]
        if path in plan.owned:
            read = path in plan.read
            element, rank = (entry.element, entry.ndim) if read else (entry.storage.element, len(entry.storage.shape))
            sizes = [self.block.add_arg(INDEX) for _ in range(rank)]
            shape = [r.symbol(v, "size", 0, USUAL) for v in sizes]
            order = order_of(ends(entry)[0]) if read else entry.storage.order
            inner = self.inner[path] = Storage(element, shape, order, name=ends(entry)[0].storage.name)
            inner.writable = ends(entry)[0].storage.writable
            self.contents[path] = self.block.add_arg(r.tensor_type(shape, element))
            self.frame.values[inner] = self.contents[path]
            self.frame.locals.add(inner)
            self.args[path] = sizes
            if read:
                return self.read(path, inner)
            made = ArrayRef(inner, replace(entry.view), entry.read_only)
        parts = [self.block.add_arg(INDEX) for v in varies if v]
        self.args[path] = [*self.args.get(path, ()), *parts]
        return with_parameters(r, made, varies, parts)

    def column(self, path: Path, entry: ArrayRef) -> ArrayRef:
        """A column of a list, of any length at every depth."""
        r, n = self.r, self.block.add_arg(INDEX)
        shape = [r.symbol(n, "size", 0, USUAL), *entry.shape[1:]]
        inner = self.inner[path] = Storage(entry.element, shape, range(entry.ndim))
        self.contents[path] = self.block.add_arg(r.tensor_type(shape, entry.element))
        self.frame.values[inner] = self.contents[path]
        self.frame.locals.add(inner)
        self.args[path] = [n]
        return ArrayRef(inner)

    def read(self, path: Path, inner: Storage) -> ArrayRef:
        """An argument of which the elements are given: of one axis, with its step."""
        if len(inner.shape) == 1:
            step = self.block.add_arg(INDEX)
            self.args[path] = [*self.args[path], step]
            inner.strides = (self.r.symbol(step, "step", -USUAL, USUAL),)
        return ArrayRef(inner)

    def check_depth(self) -> None:
        """Raises RecursionError where Python would, which is asked once, after the first `UNASKED` calls."""
        r = self.r
        none = r.emit(arith.CmpI.of("slt", self.left, r.constant(1, INDEX)))

        def left(side: int) -> list[Value]:
            if side == 1:
                return [self.left, self.asked]
            name = asking(r, UNASKED + self.around)
            return [r.emit(TracedCall.writing(name, [], [INDEX], (), r.loc)), r.constant(True, I1)]

        self.now_left, self.now_asked = r.either(both(r, none, negation(r, self.asked)), left)
        fits = r.emit(arith.CmpI.of("sgt", self.now_left, r.constant(0, INDEX)))
        r.check(fits, RecursionError, "maximum recursion depth exceeded")

    # -- calls of itself
    def again(self, scope: Scope) -> Any:
        """A call of the function within itself."""
        r, plan = self.r, self.plan
        if r.catching:
            raise self.refuse("is called in a `try`")
        given: dict[Value, Value] = {}
        for name, x in scope.env.items():
            first = self.scope.env[name]
            if threaded.is_mutable(first) and x is first:
                continue
            if self.is_list(name, first, x):
                continue
            if structure(x) != structure(first):
                raise self.refuse(f"gives `{name}` another length, or items of other names, at another depth")
            for k, leaf in enumerate(parts_of(x)):
                if (name, k) not in self.entry:  # of a list that it has changed
                    raise self.refuse(f"gives `{name}` another length at another depth")
                self.compare_or_peel((name, k), leaf, scope)
        held = {name: self.held(x) for name, x in self.containers()}
        for name, x in self.containers():
            self.check_length(x, self.shapes[name], held[name])
            for path, leaf in parts_in({name: held[name]}):
                self.compare(path, leaf)
        if self.mended or plan.result is None:
            raise DeadEnd
        calls = len(self.i.scopes) - self.around
        given[self.left] = r.emit(arith.SubI.of(self.now_left, r.constant(calls, INDEX)))
        given[self.asked] = self.now_asked
        targets: list[tuple[Storage, Value]] = [(s, self.frame.phis[s]) for s in plan.stored]
        arguments = self.arguments(scope.env)
        held.update((name, arguments[name]) for name in plan.lists)
        parts = dict(parts_in({**arguments, **held}))
        for path, leaf in parts.items():
            given |= zip(self.args.get(path, ()), self.operands(path, leaf), strict=True)
            if path in self.contents:
                given[self.contents[path]] = self.elements(path, leaf)
                if path in plan.filled:
                    targets.append((leaf.storage, self.contents[path]))
        given |= {arg: r.value(s) for s, arg in targets}
        self.check_apart(scope)
        types = [given[arg].type for _, arg in targets]
        values = list(given.values())
        written = [list(given).index(arg) for _, arg in targets]
        op = TracedCall.writing(self.name, values, [*types, *self.types], written, r.loc)
        r.add(op)
        self.calls.append((op, list(given)))
        for (storage, _), value in zip(targets, op.results):
            r.set_value(storage, value)
        return self.made(op.results[len(targets) :], held, parts, scope.env)

    @property
    def types(self) -> list[Any]:
        """The types of the results, and of what containers hold then."""
        assert self.plan.result is not None
        return [*self.plan.result.types, *(t for part in self.plan.after.values() for t in part.types)]

    def made(self, values: Sequence[Value], held: dict[str, Any], parts: dict[Path, Any], env: Env) -> Any:
        """What a call returns, after it has changed containers."""
        r, plan = self.r, self.plan
        assert plan.result is not None
        n = len(plan.result.types)
        rest, new = iter(values[n:]), dict(parts)
        for path, part in plan.after.items():
            new[path] = part.made(r, [next(rest) for _ in part.types], parts)
        result = self.as_lists(plan.result.made(r, values[:n], parts))
        changed = {path[0] for path in (*plan.after, *plan.filled)}
        lists = [(name, env[name]) for name in plan.lists if name in changed]
        others = [x for name, x in env.items() if threaded.is_mutable(x) and name not in changed]
        if lists and any(x is y for k, (_, x) in enumerate(lists) for y in [*others, *(y for _, y in lists[:k])]):
            raise self.refuse("changes a list that it is given as two parameters")
        for name, x in (*self.containers(), *lists):
            leaves = [new[path] for path, _ in parts_in({name: held[name]})]
            self.put(x, rebuild(held[name], iter(leaves)))
        if plan.shares:  # one object is known by two names then
            for x in (*(x for _, x in self.containers()), *(env[name] for name in plan.lists)):
                r.heap.merge(x, r)
        return result

    def as_lists(self, result: Any) -> Any:
        """A result, whose lists are objects of the caller's from now on; not to be changed, where they may be known by
        another name."""
        for x in containers(result):
            if threaded.is_mutable(x):
                self.r.heap.own(x, self.r)
                self.returned[x] = None
                if self.plan.shares:
                    self.r.heap.merge(x, self.r)
                    self.r.heap.origins[x] = HeadObject(self.refuse_identity, MOST_NESTED)
        return result

    def refuse_identity(self, x: Any, other: Any) -> bool:
        raise self.refuse("returns a list of which is asked whether it is another one")

    # -- parameters that are lists
    def arguments(self, env: Env) -> dict[str, Any]:
        """What a call is given, but for containers that are threaded; of lists that are others at other depths, the
        contents."""
        found: dict[str, Any] = {}
        for name, x in env.items():
            if name in self.plan.lists:
                held = {n: self.as_column(v) if is_array(v) else v for n, v in x.fields.items()}
                found[name] = Record(x.kind)
                found[name].fields.update(held)
            elif not self.is_threaded(x):
                found[name] = x
        return found

    def is_list(self, name: str, first: Any, x: Any) -> bool:
        """Whether a parameter is planned to be another list at another depth. Notes that it is, where it is; traces
        again where lists of run-time length are not known as such yet."""
        if name in self.plan.lists:
            if is_growing(x) and structure(x) == structure(first):
                for path, leaf in parts_in({name: x}):
                    self.compare(path, leaf)
                return True
            raise self.refuse(f"gives `{name}` another kind of list at another depth")
        if not is_list(first) or not is_list(x):
            return False
        plain = [y for y in (first, x) if type(y) is list]
        growth, heap = self.r.growth, self.r.heap
        if plain and structure(first) != structure(x) and [y for y in plain if growth.note(heap.label(y), y)]:
            raise Regrow
        if plain or structure(first) != structure(x):
            return False
        self.forget_containers()
        self.plan.lists[name], self.mended = None, True
        self.plan.columns.update((path, None) for path, c in parts_in({name: first}) if is_array(c))
        return True

    def forget_containers(self) -> None:
        """Drops what is planned of the parts of containers, and the result."""
        plan = self.plan
        plan.result, plan.after = None, {}
        plan.columns = {p: None for p in plan.columns if p[0] in plan.lists}
        for parts in (plan.numbers, plan.views, plan.owned, plan.read, plan.filled):
            for path in [path for path in parts if path[0].startswith("<")]:
                del parts[path]
        for k, x in enumerate(plan.containers):
            leaves = parts_in({f"<{k}>": threaded.value_of(self.r, x, plan.containers[x])})
            plan.columns.update((p, None) for p, c in leaves if is_growing(x) and is_array(c))

    # -- containers of around it
    def containers(self) -> Iterator[tuple[str, Any]]:
        """Those that it changes, each with a name that no parameter has."""
        return ((f"<{k}>", x) for k, x in enumerate(self.plan.containers))

    def is_threaded(self, x: Any) -> bool:
        """Whether a value is one of those."""
        return threaded.is_mutable(x) and x in self.plan.containers

    def held(self, x: Any) -> Any:
        """What a container holds; of a list of run-time length, columns that are arrays of their own."""
        value = threaded.value_of(self.r, x, self.plan.containers[x])
        if any(v is self.r.heap for v in (value.values() if isinstance(value, dict) else ())):
            raise self.refuse("sets an attribute that an object has not had")
        if not is_growing(x):
            return value
        return {n: self.as_column(v) if is_array(v) else v for n, v in value.items()}

    def as_column(self, x: Any) -> ArrayRef:
        """A column of a list as an array of its own; `copied`, where it is of one type or another by the path."""
        one = x if isinstance(x, ArrayRef) else self.i.call_function(prelude.copied, [x], {})
        return threaded.column_of(self.r, one)

    def put(self, x: Any, value: Any) -> None:
        if not threaded.put(self.r, x, value):
            raise self.refuse("changes a list, dict or object that is also another one")

    def note_containers(self, changed: Sequence[tuple[Any, Any]]) -> bool:
        """Notes which containers the function has changed; whether any is new."""
        plan, news = self.plan, False
        for x, end in changed:
            known = plan.containers.get(x)
            fields = {**(known or {}), **threaded.changed_fields(x, end)}
            if known == fields:
                continue
            plan.containers[x], news = fields, True
            if known is None:
                self.check_length(x, threaded.value_of(self.r, x, ()), threaded.value_of(self.r, x, (), end))
        if news:  # what they hold are other parts then
            self.forget_containers()
            own = [c for x in plan.containers if is_growing(x) for c in columns(x)]
            for storage in (s for c in own if is_array(c) for end in ends(c) for s in storages_of(end)):
                plan.stored.pop(storage, None)
        return news

    def check_length(self, x: Any, a: Any, b: Any) -> None:
        """Refuses a container that has another length or other keys; a list is traced as one of run-time length."""
        if structure(a) == structure(b):
            return
        label = self.r.heap.label(x)
        if type(x) is list and self.r.growth.note(label, [*map(threaded.loose, a), *map(threaded.loose, b)]):
            raise Regrow
        raise self.refuse("changes the length of a list, the keys of a dict or which attributes an object has")

    def compare_contents(self, ends: ByIdentity[Any, Any], own: dict[str, Any]) -> dict[Path, Any]:
        """Mends the plan where containers, or lists of its own that it is given, hold something else after a call than
        planned; the parts of those then."""
        plan, found = self.plan, dict[Path, Any]()
        values = [(n, x, threaded.value_of(self.r, x, plan.containers[x], ends.get(x))) for n, x in self.containers()]
        values += [(name, x, x) for name, x in own.items()]
        for name, x, value in values:
            self.check_length(x, self.shapes[name], value)
            for path, leaf in parts_in({name: value}):
                head, old = self.heads[path], plan.after.get(path)
                if old is None and (leaf is head or same_value(leaf, head)):
                    continue
                if path not in plan.columns:
                    found[path], part = leaf, self.merged(old, leaf)
                else:
                    column = self.as_column(leaf)
                    if column.storage is head.storage:
                        column = threaded.column_copy(self.r, column)
                    arm = old.arms[None] if isinstance(old, Arrays) else None
                    assert not isinstance(arm, (Argument, Part))
                    found[path], made = column, self.merged_fresh(arm, column)
                    part = old if made is arm and old is not None else Arrays({None: made})
                if part is not old:
                    plan.after[path], self.mended = part, True
                    plan.filled.pop(path, None)
        return found

    def compare_or_peel(self, path: Path, leaf: Any, scope: Scope) -> None:
        """`compare`; where the first call's array alone is of a form of its own, the caller's, that call is inlined."""
        try:
            self.compare(path, leaf)
        except UnsupportedError:
            if not isinstance(leaf, ArrayRef) or kinds_of_names(scope.env) == kinds_of_names(self.scope.env):
                raise
            self.peel(path)

    def operands(self, path: Path, leaf: Any) -> list[Value]:
        """What a call gives for the arguments that stand for a part of a parameter."""
        r, plan = self.r, self.plan
        if path in plan.numbers:
            return to_values(r, leaf, plan.numbers[path])
        if path in plan.read:
            steps = [step_of(r, leaf)] if leaf.ndim == 1 else []
            return [*map(r.index, leaf.shape), *steps]
        if path in plan.columns:
            return [r.index(leaf.shape[0])]
        if path not in plan.views:
            return []
        sizes = [r.index(d) for d in leaf.storage.shape] if path in plan.owned else []
        return sizes + [index_of(r, d) for d, v in zip(geometry(leaf.view), plan.views[path]) if v]

    def elements(self, path: Path, leaf: ArrayRef) -> Value:
        """What a call gives for the contents of an array that is another one at another depth."""
        return self.r.read(leaf) if path in self.plan.read else self.r.value(leaf.storage)

    def check_apart(self, scope: Scope) -> None:
        """Refuses a call in which two of the arrays that are other ones at other depths may be one that is stored to,
        or are one object."""
        leaves = [leaf for path, leaf in parts_in(scope.env) if path in self.plan.owned]
        self.refuse_shared(leaves)
        self.passed += [storage for leaf in leaves for storage in storages_of(leaf)]

    def refuse_shared(self, leaves: Sequence[ArrayRef]) -> None:
        """`check_apart` of these arrays."""
        given: Sequence[object] = leaves
        if self.plan.stored or self.plan.filled:
            given = [storage for leaf in leaves for storage in dict.fromkeys(storages_of(leaf))]
        if len({id(x) for x in given}) < len(given):
            raise self.refuse("gives one array for two parameters")

    def compare(self, path: Path, x: Any) -> None:
        """Mends the plan where a part of an argument is not what it is planned to be."""
        plan, entry, head = self.plan, self.entry[path], self.heads[path]
        if path in plan.numbers:
            if kind_of(x) != plan.numbers[path]:
                self.widen(path, plan.numbers[path], kind_of(x))
            return
        if path in plan.columns:
            return
        if path in plan.read:
            self.check_read(path, x)
        elif is_plain(entry) and is_plain(x):
            self.compare_array(path, head, x)
        elif isinstance(entry, ArrayRef) and isinstance(x, ArrayRef) and not same_value(entry, x):
            self.give_elements(path, x)
        elif not same_value(entry, x):
            kind = kind_of(entry)
            if entry is None and is_number(x):  # `hi=None` at first
                return self.peel(path)
            if kind is None or not is_number(entry) or not is_number(x):
                raise self.refuse(f"gives `{path[0]}` another object, or a value of another type, at another depth")
            if kind_of(x) != kind:
                self.widen(path, kind, kind_of(x))
            else:
                plan.numbers[path] = kind
                self.mended = True

    def compare_array(self, path: Path, head: ArrayRef, x: ArrayRef) -> None:
        """`compare` of an array."""
        plan, a, b = self.plan, head.view, x.view
        alike = head.element is x.element and head.storage.element is x.storage.element and a.dims == b.dims
        if a.over is not None or b.over is not None:
            if a == b and head.storage is x.storage and head.read_only == x.read_only:
                return
            alike = False
        steps = [not self.r.facts.equal(p, q) for p, q in zip(a.strides, b.strides)] if alike else []
        pairs = zip(steps, self.entry[path].view.strides, b.strides)
        forward = all(self.r.facts.less(0, d) for differs, *both in pairs if differs for d in both)
        if not alike or not forward or head.read_only != x.read_only:
            return self.give_elements(path, x)
        if head.storage is not x.storage or path in plan.owned:
            if not alike_in_memory(self.entry[path].storage, x.storage):
                return self.give_elements(path, x)
            if path not in plan.owned:
                plan.owned[path] = None
                plan.views[path] = (*[True] * len(parameters(a)), *steps)
                plan.result, self.mended = None, True  # it may be of what the argument was
        self.compare_geometry(path, a, b)

    def give_elements(self, path: Path, x: ArrayRef) -> None:
        """Has the elements of an array given, where it is otherwise another one than planned."""
        self.check_read(path, x)
        self.plan.owned[path] = self.plan.read[path] = None
        self.plan.views[path] = ()
        self.plan.result, self.mended = None, True  # it may be of what the argument was

    def check_read(self, path: Path, x: Any) -> None:
        """Refuses to give the elements of an array as those of one like the first: of one axis, or dense and with its
        axes in the same order."""
        entry = self.entry[path]
        form = f"gives `{path[0]}` an array of another form (dtype, axes, steps) at another depth"
        if not isinstance(x, ArrayRef) or entry.element is not x.element or entry.ndim != x.ndim:
            raise self.refuse(form)
        order = order_of(ends(entry)[0])
        for end in (*ends(entry), *ends(x)):
            known = all(s in self.r.func.symbols for d in end.strides if not isinstance(d, int) for s in symbols(d))
            fits = known if end.ndim == 1 else surely_dense(self.r, end, order)
            if end.read_only or not end.storage.writable or not fits:
                raise self.refuse(form)

    def compare_geometry(self, path: Path, a: View, b: View) -> None:
        """Mends the plan where a part of an array is another one than planned."""
        old = self.plan.views.get(path, (False,) * len(geometry(a)))
        pairs = zip(old, geometry(a), geometry(b), strict=True)
        differ = tuple(o or not self.r.facts.equal(p, q) for o, p, q in pairs)
        if differ != old:
            self.plan.views[path], self.mended = differ, True

    def widen(self, path: Path, kind: Kind, other: Kind | None) -> None:
        """Mends the plan where a number is of another kind than at first: `peel`, or a kind that holds both."""
        both = unify(kind, other) if self.plan.unified else None
        if both is None:
            self.peel(path)
        elif both != self.plan.numbers.get(path):
            self.plan.numbers[path] = both
            self.plan.result, self.mended = None, True

    def peel(self, path: Path) -> None:
        self.plan.peeled = self.mended = True
        if path[0].startswith("<"):
            self.plan.form = form_of_containers(self.r, self.plan, self.shapes)

    # -- what its end shows
    def compare_result(self, x: Any) -> Any:
        """Mends the plan where the result is not as planned; the result, with lists that are no others."""
        plan = self.plan
        x = self.with_own_lists(x)
        if plan.result is not None and structure(plan.result.like) != structure(x):
            if is_list(plan.result.like) and is_list(x):
                plain = [y for y in (plan.result.like, x) if type(y) is list]
                if [y for y in plain if self.r.growth.note(self.labels.get(y), y)]:
                    raise Regrow
            raise self.refuse("returns values of different structure")
        old = [None] * len(list(parts_of(x))) if plan.result is None else plan.result.parts
        parts = [self.merged(part, leaf) for part, leaf in zip(old, parts_of(x))]
        made = [{e.storage for e in ends(leaf) if self.place(e) is None} for leaf in parts_of(x) if is_array(leaf)]
        if sum(map(len, made)) > len(set[Storage]().union(*made)):
            raise self.refuse("returns an array that it makes twice, or with a part of it", "return a copy")
        if plan.result is None or any(a is not b for a, b in zip(parts, old)):
            plan.result, self.mended = Result(x, tuple(parts)), True
        return x

    def with_own_lists(self, x: Any) -> Any:
        """A result, with a copy in the place of a list that is known elsewhere: a parameter, say."""
        found: list[Any] = []

        def own(x: Any) -> Any:
            if isinstance(x, tuple):
                return with_items(x, map(own, items_of(x)))
            if not is_container(x):
                return x
            if not is_list(x) or not (is_growing(x) or type(x) is list):
                raise self.refuse("returns a dict, an object or an item of a list")
            if any(x is y for y in found):
                raise self.refuse("returns a list twice", "return a copy: list(x)")
            found.append(x)
            if type(x) is list and any(map(is_container, x)):
                raise self.refuse("returns a list of lists, dicts or objects")
            joined = x in self.r.heap.joined_in and x not in self.r.heap.origins
            if not joined and all(map(self.is_new, ends(self.r.heap.origins.get(x, x)))) and not self.has_known(x):
                self.labels[x] = self.r.heap.label(x)
                return x
            if not self.plan.shares:
                self.plan.shares = self.mended = True
            if not isinstance(x, Record):
                return [*x]
            columns = [n for n, v in x.fields.items() if is_array(v)]
            made = Record(x.kind)
            made.fields.update(x.fields)
            made.fields.update((n, self.i.call_function(prelude.copied, [x.fields[n]], {})) for n in columns)
            return made

        return own(x)

    def is_new(self, x: Any) -> bool:
        """Whether a list is one that no one knows but this call."""
        known, outer = self.r.heap.known.get(x), self.frame.parent
        while known is not None and outer is not None and outer is not known.home:
            outer = outer.parent
        given = any(x is y for y in self.own_lists.values()) or self.is_threaded(x)
        return known is not None and outer is None and not given and not (self.plan.shares and x in self.returned)

    def has_known(self, x: Any) -> bool:
        """Whether a list has elements in a column of one that is known elsewhere."""
        held = x.fields.values() if isinstance(x, Record) else ()
        return any(self.place(end) is not None for c in held if is_array(c) for end in ends(c))

    def merged(self, part: Numbers | Arrays | None, x: Any) -> Numbers | Arrays:
        """A part of the result, also where it is this; itself where nothing is new."""
        kinds = kinds_of(x)
        if kinds is not None and not isinstance(part, Arrays):
            known = () if part is None else part.kinds
            found = merged_kinds((*known, *kinds))
            return part if part is not None and found == known else Numbers(found)
        if not is_array(x) or isinstance(part, Numbers):
            raise self.refuse("returns values of different types, or objects")
        arms = {} if part is None else part.arms
        new = dict(arms)
        for end in ends(x):
            place = self.place(end)
            new[place] = self.merged_arm(new.get(place), place, end)
        if part is not None and list(arms.values()) == list(new.values()):  # of the same identity
            return part
        if len(new) > 1:  # what stands for it where the result is another has no elements
            new = {k: a.any_size() if isinstance(a, Fresh) else a for k, a in new.items()}
        first, *rest = (arm.like for arm in new.values())
        if not all(of_one_form(first, other) for other in rest):
            raise self.refuse("returns arrays of different dtypes, numbers of axes or orders of axes")
        return Arrays(new)

    def by_object(self, x: Any) -> Any:
        """A part of a result; an array that may be one of several objects which the caller knows as a choice of them,
        and itself."""
        if isinstance(x, GuardedRef):
            return Cond(x.condition, *map(self.by_object, x.arms))
        if not is_plain(x) or x.origin is None or not any(self.is_known(o) for o in ends(x.origin)):
            return x

        def chosen(found: Any) -> Any:
            if isinstance(found, Cond):
                return Cond(found.condition, *map(chosen, found.arms))
            return found if self.is_known(found) else ArrayRef(x.storage, x.view, x.read_only)

        return chosen(x.origin)

    def is_known(self, x: Any) -> bool:
        """Whether the caller knows an array object: an argument, or one that a name of around the function holds."""
        return is_plain(x) and any(x is y for y in (*self.heads.values(), *self.outer))

    @property
    def outer(self) -> list[ArrayRef]:
        """The array objects that names of around the function hold."""
        found = [x for scope in self.i.scopes[: self.around] for x in scope.env.values()]
        return [leaf for x in found for leaf in parts_of(x) if is_plain(leaf)]

    def place(self, x: ArrayRef) -> Place:
        """Which array a result is: a parameter's at this depth, another part of that, one of before the first call, or
        (None) one that is made."""
        path = next((path for path, head in self.heads.items() if x is head), None)
        if path is not None:
            return path
        if any(x is y for y in self.outer):
            return Around(x)
        inner = next((path for path, storage in self.inner.items() if storage is x.storage), None)
        if inner is not None:
            return inner, x.view.dims, x.view.strides
        if x.storage in self.frame.locals:
            return None
        return x.storage, x.view.dims, x.view.strides

    def merged_arm(self, arm: Argument | Part | Fresh | None, place: Place, x: ArrayRef) -> Argument | Part | Fresh:
        """What a result is on a path; itself where nothing is new."""
        if isinstance(place, Around) or place in self.heads:
            return arm or Argument(x, place)
        of_elements = any(x.storage is self.inner.get(path) for path in self.plan.read)
        if of_elements and place is not None and x.view.dims != tuple(range(len(x.storage.shape))):
            raise self.refuse("returns a part with other axes of an argument that is one array or another")
        if x.view.over is not None and place is not None:
            raise self.refuse("returns an array of another shape that is a view of one that it is given")
        if place is None:
            return self.merged_fresh(arm, x)
        if not all(map(self.is_outside, x.view.strides)):
            raise self.refuse("returns a part of an array whose step differs by the depth", "return a copy: .copy()")
        constant = [self.is_outside(d) for d in parameters(x.view)]
        if not isinstance(arm, Part):
            path = place[0] if isinstance(place[0], tuple) else None
            return Part(x, tuple(not c for c in constant), path, of_elements)
        pairs = zip(arm.varies, constant, parameters(arm.like.view), parameters(x.view), strict=True)
        varies = tuple(v or not c or not self.r.facts.equal(p, q) for v, c, p, q in pairs)
        return arm if varies == arm.varies else replace(arm, varies=varies)

    def merged_fresh(self, arm: Argument | Part | Fresh | None, x: ArrayRef) -> Fresh:
        """`merged_arm` of an array that is made."""
        r, order = self.r, order_of(x)
        dense = surely_dense(r, x, order)
        if x.read_only or not x.storage.writable or not dense and x.view.over is not None:
            raise self.refuse("returns a view of an array that it makes", "return a copy of it: .copy()")
        if not isinstance(arm, Fresh):
            arm = Fresh(x, order, ()) if dense else Fresh(x, x.storage.order, (), True)
        elif not dense and not arm.in_parts:
            arm = Fresh(arm.like, arm.like.storage.order, (), True)
        like, other = arm.like, "returns arrays of different dtypes, numbers of axes or orders of axes"
        if arm.in_parts:
            alike = like.view.over is x.view.over is None and like.view.dims == x.view.dims
            if not alike or arm.order != x.storage.order or like.element is not x.element:
                raise self.refuse(other)
        elif like.element is not x.element or arm.order != order:
            raise self.refuse(other)
        old = arm.varies or (False,) * len(arm.dims(x))
        pairs = zip(old, arm.dims(like), arm.dims(x), strict=True)
        varies = tuple(v or not self.is_outside(q) or not r.facts.equal(p, q) for v, p, q in pairs)
        steps = zip(varies[::-1], like.view.strides[::-1], x.view.strides[::-1]) if arm.in_parts else ()
        if not all(r.facts.less(0, d) for differs, *both in steps if differs for d in both):
            raise self.refuse(other)
        return arm if varies == arm.varies else replace(arm, varies=varies)

    def is_outside(self, d: Dim) -> bool:
        """Whether a size or an offset is known where the function is called."""
        outer = self.frame.parent
        assert outer is not None
        with self.r.inside(outer):
            return self.r.in_scope(d)

    def compare_storages(self) -> None:
        """Mends the plan where arrays are stored to that were not known to be."""
        plan = self.plan
        for storage, arg in self.frame.phis.items():
            if self.frame.values[storage] is not arg and storage not in plan.stored:
                plan.stored[storage] = None
                self.mended = True
        for path, arg in self.contents.items():
            if path in plan.after:  # given back as another array
                continue
            if self.frame.values[self.inner[path]] is not arg and path in plan.read:
                raise self.refuse(f"stores to `{path[0]}`, which is one array or another")
            if self.frame.values[self.inner[path]] is not arg and path not in plan.filled:
                plan.filled[path] = None
                self.mended = True

    def stores(self) -> list[tuple[Value, Value]]:
        """The arguments of arrays that are stored to, each with what the array holds at the end."""
        of_around = [(self.frame.phis[s], self.frame.values[s]) for s in self.plan.stored]
        return of_around + [(self.contents[p], self.frame.values[self.inner[p]]) for p in self.plan.filled]

    # -- what it becomes
    def close(self) -> Any:
        """Makes a function of the region, and the call of it; what that returns."""
        r, plan, frame = self.r, self.plan, self.frame
        assert plan.result is not None
        touched = set(frame.phis)
        owned: dict[Path, ArrayRef] = {path: self.entry[path] for path in plan.owned}
        first = [storage for entry in owned.values() for storage in storages_of(entry)]
        outer = {*self.passed, *first} - set(self.inner.values())
        self.refuse_shared([*owned.values()])
        if outer & touched and (plan.stored or plan.filled):
            raise self.refuse("gives one array for two, or one that it also uses by another name")
        given: dict[Value, Value] = {
            self.left: r.constant(UNASKED, INDEX), self.asked: r.constant(False, I1),
        }  # fmt: skip
        for path, entry in self.entry.items():
            given |= zip(self.args.get(path, ()), self.operands(path, entry), strict=True)
            if path in self.contents:
                given[self.contents[path]] = self.elements(path, entry)
        given |= {arg: r.value(storage) for storage, arg in frame.phis.items()}
        func, free = lifted(r.func, self.name, self.block)
        given |= {arg: value for value, arg in free.items() if arg.owner is self.block}
        stored = [arg for arg, _ in self.stores()]
        func.arg_attrs = [{"bufferization.writable": any(arg is s for s in stored)} for arg in func.args]
        order = [func.args.index(arg) for arg in stored]
        for op, args in self.calls:
            own = dict(zip(args, op.operands))  # a loop around it may have replaced some since
            op.set_operands([free.get(v, v) for v in (own.get(arg, arg) for arg in func.args)])
            op.attrs["written"] = tuple(order)
        r.callees.append(func)
        types = [given[arg].type for arg in stored]
        call = TracedCall.writing(self.name, [given[a] for a in func.args], [*types, *self.types], order, r.loc)
        r.add(call)
        targets = [*plan.stored, *(self.entry[p].storage for p in plan.filled)]
        for storage, value in zip(targets, call.results):
            r.set_value(storage, value)
        return self.made(call.results[len(targets) :], self.shapes, self.entry, self.scope.env)

    def refuse(self, what: str, instead: str = "") -> UnsupportedError:
        text = f"the recursion of `{self.scope.name}`, whose depth only the run time knows, {what}"
        return self.r.refuse(text, instead or "use a loop, or numbers and arrays as arguments and results")


def surely_dense(r: Recorder, x: ArrayRef, order: Sequence[int]) -> bool:
    """Whether an array is known to be dense with its axes in this order, outermost first."""
    pairs = dense_strides(x, [r.facts.canon(n) for n in x.shape], order)
    return all(r.facts.equal(*pair) for pair in pairs)


def step_of(r: Recorder, x: ArrayRef) -> Value:
    """The stride in memory of an array of one axis, in elements."""
    return r.on_either(x, partial(step_of, r)) if isinstance(x, GuardedRef) else index_of(r, x.strides[0])


def alike_in_memory(a: Storage, b: Storage) -> bool:
    """Whether one array may stand for another: dense, in one order of axes, and both may be stored to, or neither."""
    dense = all(s.strides == strides_in_order(s.shape, s.order) and not s.repeated and not s.picked for s in (a, b))
    return dense and a.order == b.order and a.writable == b.writable


def same_names(a: Env, b: Env) -> bool:
    """Whether names are bound to the same objects."""
    return a.keys() == b.keys() and all(a[n] is b[n] for n in a)


def asking(r: Recorder, used: int) -> str:
    """The name of a function that asks Python how many more calls may be nested: not in the function that calls itself,
    whose part of the stack is the smaller without."""
    name = f"calls_left.{used}"
    if all(f.name != name for f in r.callees):
        func = Func(name, (), r.loc)
        function = HostFunction("calls_left", Talk(calls_left, (used,), ()))
        made = func.block.append
        made(empty := tensor.Empty.of(TensorType((), I64), [], r.loc))
        made(call := HostCall.of(function, [], [empty.result], [0], r.loc))
        made(number := tensor.Extract.of(call.result, [], r.loc))
        made(index := arith.IndexCast.of(number.result, INDEX, r.loc))
        made(Return.of([index.result], r.loc))
        r.callees.append(func)
    return name


def containers(x: Any) -> Iterator[Any]:
    """The containers of a value."""
    if is_container(x):
        yield x
        if isinstance(x, (tuple, list)):
            for item in x:
                yield from containers(item)


def merged_kinds(kinds: Sequence[Kind | None]) -> Kinds:
    """The kinds of a number that is of one or another of these."""
    found: list[Kind | None] = []
    for kind in dict.fromkeys(kinds):
        for k, other in enumerate(found):
            if kind is not None and other is not None and (both := unify(other, kind)) is not None:
                found[k] = both
                break
        else:
            found.append(kind)
    return tuple(dict.fromkeys(found))


def lifted(around: Func, name: str, block: Block) -> tuple[Func, dict[Value, Value]]:
    """A function of a region, which ends with its return: what it uses of around it becomes further arguments, given as
    a mapping of the values there to them. Constants are made anew."""
    func = Func(name, (), block.ops[0].loc)
    func.body = Region(block)
    ops = [*func.walk()]
    inside = {*func.values()}
    free: dict[Value, Value] = {}

    def own(value: Value) -> Value:
        """The function's own value for one of around it."""
        if value in inside:
            return value
        if value not in free:
            maker = value.defining_op
            if isinstance(maker, arith.Constant):
                made = arith.Constant.rebuilt([], [value.type], maker.loc, maker.attrs)
                block.insert(0, made)
                free[value] = made.result
            else:
                free[value] = block.add_arg(value.type)
            free[value].name = value.name
        return free[value]

    for op in ops:
        for use in op.uses:
            if use.value not in inside:
                use.set(own(use.value))
    used = dict[Any, None]()
    while missing := [s for s in symbols_in(func) if s not in used]:  # arguments may have others
        for s in missing:
            used[s] = None
            if s in around.symbols:
                func.symbols[s] = own(around.symbols[s])
    return func, free


def symbols_in(func: Func) -> list[Any]:
    """The symbols of the sizes in a function's types."""
    shaped = [v.type for v in func.values() if isinstance(v.type, ShapedType)]
    return list(dict.fromkeys(s for t in shaped for d in t.shape if not isinstance(d, int) for s in symbols(d)))


def first_plan(scope: Scope, differing: frozenset[Path]) -> Plan:
    """What the first attempt begins with: numbers that are known to differ do."""
    kinds = {path: kind_of(leaf) for path, leaf in parts_in(scope.env) if path in differing and is_number(leaf)}
    return Plan({path: kind for path, kind in kinds.items() if kind is not None})


def form_of_containers(r: Recorder, plan: Plan, shapes: Env | None = None) -> Any:
    """The kinds of what the containers of a plan hold, now or as given."""
    values = (threaded.value_of(r, x, fields) for x, fields in plan.containers.items())
    held = {f"<{k}>": x for k, x in enumerate(values)} if shapes is None else shapes
    return kinds_of_names({name: x for name, x in held.items() if name.startswith("<")})


def is_here(r: Recorder, plan: Plan) -> bool:
    """Whether there are the containers and arrays that a plan is of: those of another branch are not."""
    arrays = all(any(s in f.values for f in r.frames()) for s in plan.stored)
    return arrays and all(r.heap.outlives(x, r) for x in plan.containers)


def call(i: Evaluator, scope: Scope, run: Callable[[Scope], Any]) -> Any:
    """A call of a function that is known to call itself (`note`); `run` traces its body in a scope."""
    r = i.r
    code = code_of(scope)
    if scope.emit is not None:
        reason = "a generator function that calls itself to a depth that only the run time knows"
        r.growth.recursive[code] = r.refuse(reason, "return a list")
        raise Regrow
    active = i.recursions[-1] if i.recursions else None
    if active is not None and code_of(active.scope) == code and active.scope.closure is scope.closure:
        return active.again(scope)
    key = code, kinds_of_names(scope.env)
    if key in i.recursion_plans and not is_here(r, i.recursion_plans[key]):
        del i.recursion_plans[key]
    plan = i.recursion_plans.setdefault(key, first_plan(scope, r.growth.recursive[code]))
    while plan.form is not None and (form := form_of_containers(r, plan)) != plan.form:
        plan = plan.others.setdefault(form, Plan(dict(plan.numbers), containers=ByIdentity(plan.containers.items())))
    if plan.peeled and plan.peeling and not plan.unified:
        plan.peeled, plan.unified, plan.result = False, True, None
    attempts = 0
    while not plan.peeled:
        recursion = Recursion(i, scope, plan)
        recursion.prepare()
        mark = r.mark
        try:
            if r.catching:
                raise recursion.refuse("is called in a `try`")
            if active is not None:
                raise recursion.refuse(f"is within that of `{active.scope.name}`")
            with r.at(r.loc):
                done = recursion.trace(run)
            if done:
                return recursion.close()
        except UnsupportedError as why:
            if r.growth.has_news:
                raise Regrow from None
            r.growth.recursive[code] = UnsupportedError(why.reason, instead=why.instead, location=why.location)
            raise Regrow from None
        except Changed:
            r.forget(mark)
            raise
        r.forget(mark)
        attempts += 1
        if attempts > MAX_ATTEMPTS:
            r.growth.recursive[code] = recursion.refuse("has arguments or results that no plan fits")
            raise Regrow
    before, plan.peeling = plan.peeling, True
    try:
        return run(scope)
    finally:
        plan.peeling = before
