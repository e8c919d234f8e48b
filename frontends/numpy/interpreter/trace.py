"""`trace`: a Python function and the arguments of one call become one tensor-level Func with guards and a plan of its
results."""

from __future__ import annotations

import ast
import types
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import fields
from functools import partial
from typing import Any

import numpy as np

from tracebuf.errors import TracebufError, UnsupportedError
from tracebuf.frontends.numpy.arrays.held import HeldArrays
from tracebuf.frontends.numpy.arrays.memmaps import Maps
from tracebuf.frontends.numpy.call.arguments import (
    ArrayKey,
    ContainerNumber,
    Leaf,
    RunOriginal,
    ScalarKey,
    StaticKey,
    is_generator,
    is_text_key,
)
from tracebuf.frontends.numpy.call.call import Call
from tracebuf.frontends.numpy.call.captures import Hidden
from tracebuf.frontends.numpy.call.conditions import Conditions
from tracebuf.frontends.numpy.call.containers import made_of
from tracebuf.frontends.numpy.call.flatten import Tree
from tracebuf.frontends.numpy.call.outputs import arranged as as_given
from tracebuf.frontends.numpy.call.results import CallPlan
from tracebuf.frontends.numpy.interpreter import talk
from tracebuf.frontends.numpy.interpreter.interpreter import Interpreter
from tracebuf.frontends.numpy.interpreter.lists import growing, keyed, labels, references
from tracebuf.frontends.numpy.numbers.lattice import containers_in, leaves
from tracebuf.frontends.numpy.numbers.longlongs import is_longlong
from tracebuf.frontends.numpy.paths.cycles import cycles_refused
from tracebuf.frontends.numpy.paths.identity import container_identity, objects
from tracebuf.frontends.numpy.paths.loops.report import Loops
from tracebuf.frontends.numpy.paths.outputs import store_results
from tracebuf.frontends.numpy.paths.results import Results
from tracebuf.frontends.numpy.record.arguments import ArgumentMaker
from tracebuf.frontends.numpy.record.by_identity import ByIdentity, counted, distinct
from tracebuf.frontends.numpy.record.callees import Buffer, Drawer
from tracebuf.frontends.numpy.record.cond import ends
from tracebuf.frontends.numpy.record.growing import Effort, Growth, Regrow, Sized
from tracebuf.frontends.numpy.record.heap import Heap, Record
from tracebuf.frontends.numpy.record.raises import DeadEnd, Raises, by_signal, internal_error, left_as_found, noting
from tracebuf.frontends.numpy.record.recorder import Recorder
from tracebuf.frontends.numpy.record.regions import TOO_MUCH
from tracebuf.frontends.numpy.record.registry import late_handler
from tracebuf.frontends.numpy.record.values import ArrayRef
from tracebuf.frontends.numpy.source.binding import parameters_of
from tracebuf.frontends.numpy.source.source import heading
from tracebuf.frozen import frozen
from tracebuf.ir.core import Value
from tracebuf.ir.dims import Expr, Sym, sym, symbols
from tracebuf.ir.func import Donation, Func
from tracebuf.ir.types import TensorType
from tracebuf.location import Location
from tracebuf.ops.arrays import bufferization
from tracebuf.ops.control import func
from tracebuf.running.handed import Handed


@frozen(slots=False)
class Traced(CallPlan):
    """The result of tracing: how the program is called, and the tensor program, which the passes take over."""

    func: Func
    loops: Loops = Loops()
    lists_grow: bool = False
    """Whether there are lists whose length only the run time knows."""
    masks: int = 0
    """How many masks are made of numbers whose places are looked for, which eager does without (rule S2)."""
    order_is_open: bool = False
    """Whether arrays are joined whose order of axes hangs on a size that only the run time knows: whether a mask leaves
    no row, one or more. It is that of more than one (rule C1)."""

    @property
    def call_plan(self) -> CallPlan:
        """How the program is called, alone."""
        return CallPlan(*(getattr(self, part.name) for part in fields(CallPlan)))


def arranged(
    tree: Tree | None, leaves: Sequence[Any], containers: Sequence[Any], paths: Sequence[Hidden], heap: Heap,
    list_paths: ByIdentity[Any, Hidden],
) -> list[Any]:  # fmt: skip
    """The arguments of a call in a trace: containers of the traced values of their leaves. `paths` say how each
    argument is fetched, `list_paths` then how each list is."""
    if tree is None:
        return list(leaves)
    rest, originals, made = iter(leaves), iter(enumerate(containers)), dict[int, Any]()

    def build(node: Any, path: Hidden) -> Any:
        if node is None:
            return next(rest)
        if isinstance(node, int):
            return made[node]
        (n, container), (kind, _, nodes) = next(originals), node
        new: Any = [] if kind is list else {} if kind is dict else None
        if isinstance(container, (list, dict)):
            made[n] = new
            list_paths[new] = path
        elif not isinstance(container, tuple):
            made[n] = new = Record(kind, container, path)
        steps = list(container) if kind is dict else range(len(nodes))
        items = [build(i, path.item(key)) for i, key in zip(nodes, steps)]
        if kind is list:
            new.extend(items)
        elif kind is dict:
            new.update(zip(container, items))
        elif isinstance(container, tuple):
            made[n] = new = made_of(kind, items)
        heap.given(new, ContainerNumber(n))
        return new

    return [build(node, path) for node, path in zip(tree, paths)]


def trace(
    function: types.FunctionType, call: Call, raises: Callable[[Conditions], None] | None = None, early: bool = False,
    warns: bool = False, sized: bool = False,
) -> Traced:  # fmt: skip
    """Traces one call: again where that shows that lists grow whose length only the run time knows (record/growing).
    `sized`: first with lists of run-time length where ints or sizes of the call say how long they are. The rest as
    `trace_once`.
    """
    effort = Effort()
    known = Growth(False if sized else None, effort)
    with left_as_found():
        if not sized:
            try:
                return trace_as_lists_grow(function, call, known, raises, early, warns)
            except Sized:
                known.sized = False
                known.begin()
        try:
            return trace_as_lists_grow(function, call, Growth(True, effort), raises, early, warns)
        except Sized:
            pass
        except UnsupportedError:
            if effort.is_spent:
                raise
        return trace_as_lists_grow(function, call, known, raises, early, warns)


def trace_as_lists_grow(
    function: types.FunctionType, call: Call, growth: Growth, raises: Callable[[Conditions], None] | None,
    early: bool, warns: bool,
) -> Traced:  # fmt: skip
    """As `trace_once`, again with each list that is found to grow."""
    why: tuple[str, str, Location | None] = ("", "", None)
    of_any: UnsupportedError | None = None
    while True:
        kept = growth.effort.kept
        if growth.sized and growth.holds_arrays and not growth.holds_ragged:
            raise Sized  # items that are known take no copies
        try:
            if not warns:
                return trace_once(function, call, growth, raises, early, warns)
            with noting() as errors:
                traced = trace_once(function, call, growth, raises, early, warns)
            if errors:
                found = RunOriginal(f'warnings="numpy": {errors[0]} in what is known while tracing')
                found.under = traced
                raise found
            return traced
        except UnsupportedError as refusal:
            growth.effort.discard(kept)
            if growth.effort.is_spent:
                raise of_any or refusal from None
            if growth.sized is None and refusal.reason == TOO_MUCH[0]:
                raise Sized from None
            first = not growth.rolled and not growth.known
            if not growth.begin():
                if growth.return_after_loops() or growth.list_groups():
                    of_any = of_any or refusal
                    continue
                if growth.hurried or growth.holds_ragged:  # again, one by one, or with arrays of known sizes only
                    lengths = growth.any_lengths and not growth.holds_ragged
                    of_any = refusal if growth.holds_ragged else of_any
                    patient, growth = growth.hurried, Growth(growth.sized, growth.effort)
                    growth.patient, growth.any_lengths = patient, lengths
                    continue
                if growth.take_as_rows() or growth.assume_items():
                    of_any = of_any or refusal
                    continue
                if of_any is not None:
                    raise of_any from None
                if growth.known or not growth.rolled:
                    raise
                made = UnsupportedError(why[0], instead=why[1], location=why[2])  # no loop makes its lists
                made._under = refusal._under
                raise made from None
            why = (refusal.reason, refusal.instead, refusal.location) if first else why
        except Sized:
            growth.effort.discard(kept)
            raise
        except Regrow:
            growth.effort.discard(kept)
            growth.begin()


def trace_once(
    function: types.FunctionType, call: Call, growth: Growth, raises: Callable[[Conditions], None] | None, early: bool,
    warns: bool,
) -> Traced:  # fmt: skip
    """Traces one call, with the lists that are known to grow.

    Raises UnsupportedError where the function is outside the language, NewCapture for an array from outside that is not
    in the call, and what such calls raise: `raises` is told which. `early`: also where it needs the run time to tell
    the exception's arguments, which it has none of then. `warns`: NumPy's warnings are to be given: RunOriginal where
    tracing itself computes what NumPy would warn of.
    """
    entry = ArgumentMaker(function.__name__, heading(function))
    given: list[Any] = []
    related = call.related
    for i, (name, x, key) in enumerate(zip(call.names, call.values, call.keys)):
        leaf = Leaf(i)
        if related.objects[i] != i:
            given.append(given[related.objects[i]])
        elif related.same[i] != i and not is_text_key(key):
            given.append(ArrayRef(given[related.same[i]].storage))  # the same memory by another array object
        elif isinstance(key, ArrayKey):
            given.append(entry.array(leaf, name, key, x))
        else:
            given.append(entry.scalar(leaf, name, key, x) if isinstance(key, ScalarKey) else object_of(call, leaf))
    r = entry.begin()
    r.growth, r.warns = growth, warns
    r.held = HeldArrays() if growth.enter(entry.bindings, r.facts.canon) else None
    mapped = frozenset(Leaf(i) for i, key in enumerate(call.keys) if isinstance(key, ArrayKey) and key.mapped)
    r.maps = Maps(mapped) if mapped else None
    longlong = any(isinstance(key, ArrayKey) and is_longlong(np.dtype(key.dtype)) for key in call.keys)
    r.longlong = "given" if longlong else ""
    r.given = [g for g in given if isinstance(g, ArrayRef)]
    list_paths = ByIdentity[Any, Hidden]()
    tops = arranged(call.tree, given, call.containers, call.paths, r.heap, list_paths)
    r.heap.begin(r.frame)
    own = parameters_of(function.__code__)
    parameters = own.single
    rest, last = len(parameters) + call.extra, len(tops) - len(call.hidden)
    first = rest + len(call.named)
    interpreter = Interpreter(r)
    references.begin(interpreter)
    interpreter.list_paths = list_paths
    interpreter.hidden.update((h.place, g) for h, g in zip(call.hidden, tops[last:]))
    tops = keyed.given(interpreter, growing.given(interpreter, tops))
    tops = labels.given(interpreter, call, tops)
    interpreter.hidden.update((h.place, g) for h, g in zip(call.hidden, tops[last:]))
    for top, path in zip(tops, call.paths):
        if type(top) is ArrayRef:
            top.base, interpreter.paths[top] = top, path
    positional = [g for g, name in zip(tops, parameters) if name not in own.named]
    keyword = {name: g for g, name in zip(tops, parameters) if name in own.named}
    keyword.update(zip(call.named, tops[rest:first]))
    static = [v for v, key in zip(call.values, call.keys) if isinstance(key, StaticKey)]
    interpreter.constants = distinct(constants_in(static))
    try:
        returns = True
        try:
            args = [*positional, *tops[len(parameters) : rest]]
            if late_handler(function) is not None:  # of SciPy's, called as in a traced function
                r.at(heading(function))
                named = {k: x for k, x in keyword.items() if k[:1] != "_"}  # of wrappers of SciPy's
                result = interpreter.call(ast.Pass(), function, args, named)
            else:
                result = interpreter.call_function(function, args, keyword)
            r.at(interpreter.returned_at)
            result = store_results(r, result, as_given(call.out, tops[first:last]))
        except DeadEnd as end:  # no path reaches a return: each raises when it is run
            if early and end.error is not None and not r.doubts:
                raise Raises(end.error, True) from None
            result, returns = None, False
        if r.doubts:
            raise r.doubts[0]
        r.at(interpreter.returned_at)
        with cycles_refused(r):
            return finish(entry, r, interpreter, given, result, returns, call.donated)
    except RunOriginal as reason:
        reason.under = assumed(entry, r, interpreter)
        raise
    except UnsupportedError as refusal:
        refusal._under = assumed(entry, r, interpreter)
        raise
    except Raises as said:
        raised = said.error.with_traceback(None)
        if raises is not None:
            raises(assumed(entry, r, interpreter))
    except TracebufError:
        raise
    except Exception as error:
        if (late := by_signal(error)) is not None:
            raise late  # noqa: B904
        raise internal_error(error, r.loc) from error
    try:
        raise raised
    finally:
        del raised  # a frame of its traceback that names it would keep the arguments


def object_of(call: Call, leaf: Leaf) -> Any:
    """The value of an argument that is neither array nor number: itself, unless the program serves others too."""
    x, key = call.values[leaf], call.keys[leaf]
    if is_generator(x):
        return Drawer(type(x), Handed(leaf))
    if not (isinstance(key, StaticKey) and key.any):
        return x
    top = bisect_right(call.starts, leaf) - 1
    alone = call.tree is None or call.tree[top] is None
    return Buffer(type(x), leaf, x, call.paths[top] if alone else None)


def constants_in(values: Iterable[Any]) -> Iterator[Any]:
    """The values that are part of the key, and their items."""
    for x in values:
        yield x
        if isinstance(x, (tuple, frozenset)):
            yield from constants_in(x)


def assumed(entry: ArgumentMaker, r: Recorder, interpreter: Interpreter) -> Conditions:
    """The conditions assumed so far."""
    taken = tuple(interpreter.taken.values())
    return Conditions(tuple(r.guards), dict(entry.bindings), tuple(interpreter.captures.values()), taken)


def finish(
    entry: ArgumentMaker,
    r: Recorder,
    interpreter: Interpreter,
    given: Sequence[Any],
    result: Any,
    returns: bool,
    donated: Sequence[Leaf],
) -> Traced:
    """Materialises stored arguments, returns the results, and forgets discarded regions. `returns`: some path does."""
    results = Results(r, r.heap, given, partial(talk.keep, interpreter), interpreter.pools)
    results.label_arguments.update(interpreter.label_arguments)
    changes = results.changes()
    if changes and not returns:
        raise RunOriginal("it raises on each path, and changes objects before")
    returned_or_written = leaves((result, *(w.items for w in changes)))
    arrays = distinct(x for leaf in returned_or_written if isinstance(leaf, ArrayRef) for x in ends(leaf))
    results.held = counted(o for x in arrays for o in objects(x))
    held = distinct(x for value in (result, *(w.items for w in changes)) for x in containers_in(value))
    results.held_containers = counted(o for x in held for o in ends(container_identity(r, x)))
    returned = {g.storage for g, _ in results.given if g in results.held}
    stored = []
    for leaf, storage in entry.storages:
        argument = entry.func.args[entry.arguments.index(leaf)]
        attrs, kept = entry.func.arg_attrs[argument.index], leaf not in donated or storage in returned
        if leaf in donated:
            attrs["tracebuf.donated"] = Donation.of(returned=kept, stored=storage.stored)
        if storage.stored:
            stored.append(leaf)
        attrs["bufferization.writable"] = storage.stored or not kept
        final = r.value(storage)
        if storage.stored and kept and final is not argument:
            r.frame.values[storage] = r.emit(bufferization.MaterializeInDestination.of(final, argument))
    if r.maps is not None:
        r.maps.check_identity(r)
    plan = results.leaf(result)
    writes = tuple(map(results.write, changes))
    results.check_identity()
    r.add(func.Return.of(results.values))
    entry.func.callees = called_from(entry.func, r.callees)
    refuse_growth(r, entry.func)
    for f in (entry.func, *entry.func.callees):
        values = [*f.values()]
        canonicalize_equal_sizes(f, r, values)
        f.forget_lost_uses(values)
        f.forget_lost_symbols()
    loops = tuple(sorted(dict.fromkeys(r.loops), key=lambda report: report.location.line))
    under = assumed(entry, r, interpreter)
    return Traced(
        guards=under.guards, bindings=under.bindings, captures=under.captures, taken=under.taken,
        arguments=tuple(entry.arguments), stored=tuple(stored), plan=plan, writes=writes, func=entry.func,
        loops=Loops(loops), lists_grow=r.growth.made, order_is_open=r.order_is_open, masks=len(r.masks),
    )  # fmt: skip


def called_from(f: Func, callees: Sequence[Func]) -> tuple[Func, ...]:
    """Those of the functions that are called, directly or not: attempts that were dropped have made others."""
    found, work = dict[str, Func](), [f] if callees else []
    while work:
        for op in work.pop().walk():
            if isinstance(op, func.TracedCall) and op.callee not in found:
                found[op.callee] = next(c for c in callees if c.name == op.callee)
                work.append(found[op.callee])
    return tuple(found.values())


MOST_OPS, MOST_A_LINE = 16_000, 300
"""A program with more ops than that, and more for each line of the source on average, is refused: the paths and first
iterations of loops that are traced one by one, within one another, have multiplied. Compiling it takes half a minute
and more."""


def refuse_growth(r: Recorder, f: Func) -> None:
    """Raises UnsupportedError where a program is too large for its source."""
    ops = sum(1 for _ in f.walk())
    if ops > MOST_OPS and ops > MOST_A_LINE * (lines := len({(op.loc.file, op.loc.line) for op in f.walk()})):
        text = f"{lines} lines become {ops} operations: paths and iterations that are traced one by one multiply"
        limits = f" (limits: {MOST_OPS} operations, and {MOST_A_LINE} a line)"
        raise r.refuse(text + limits, "keep names to one array or object each within the inner loops")


def canonicalize_equal_sizes(f: Func, r: Recorder, values: Sequence[Value]) -> None:
    """Rewrites types and values so that equal sizes have one expression: guards that came late made sizes equal which
    earlier ops express in two ways."""
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
    for v in values:
        if isinstance(v.type, TensorType) and (shape := tuple(map(r.facts.canon, v.type.shape))) != v.type.shape:
            v.type = TensorType(shape, v.type.element)


def sole_symbol(e: Expr) -> Sym | None:
    """The symbol that an expression consists of; None if it is anything else."""
    found = symbols(e)
    return next(iter(found)) if len(found) == 1 and e == sym(next(iter(found))) else None
