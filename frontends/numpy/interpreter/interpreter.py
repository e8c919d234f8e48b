"""The abstract interpreter (rule F0): functions, their scopes, their free names and calls.

It runs the function's syntax tree on traced and plain values. Statements are in `statements`, expressions in
`expressions`, joins in paths/joins, loops in paths/loops.
"""

from __future__ import annotations

import ast
import builtins
import inspect
import os
import sys
import types
from collections.abc import Callable, MutableMapping, Sequence
from functools import cache, partial
from typing import Any

import numpy as np

from tracebuf.errors import UnsupportedError
from tracebuf.frontends.numpy.call.arguments import Leaf
from tracebuf.frontends.numpy.call.captures import CapturePlace, Hidden, NewCapture, default_of, outside
from tracebuf.frontends.numpy.call.lookups import NOTHING, Absent, FreeName, ItemsOf
from tracebuf.frontends.numpy.functions.formulas import is_formula
from tracebuf.frontends.numpy.functions.formulas.as_written import WRITTEN
from tracebuf.frontends.numpy.interpreter import records, recursion, talk
from tracebuf.frontends.numpy.interpreter.direct import Direct
from tracebuf.frontends.numpy.interpreter.evaluator import Scope
from tracebuf.frontends.numpy.interpreter.statements import Statements
from tracebuf.frontends.numpy.interpreter.tracers import is_own
from tracebuf.frontends.numpy.numbers.lattice import CONTINUE, LEAVE, RETURN
from tracebuf.frontends.numpy.paths.alike import Picks
from tracebuf.frontends.numpy.paths.branches import trace_if
from tracebuf.frontends.numpy.paths.cycles import cycles_refused
from tracebuf.frontends.numpy.paths.loops.plan import LoopPlan, goes_on, jump_of
from tracebuf.frontends.numpy.record import refusals
from tracebuf.frontends.numpy.record.by_identity import ByIdentity
from tracebuf.frontends.numpy.record.callees import NestedFunction, Progress
from tracebuf.frontends.numpy.record.raises import Raises, ask
from tracebuf.frontends.numpy.record.recorder import Recorder
from tracebuf.frontends.numpy.record.scalar_checks import UnknownOrigin
from tracebuf.frontends.numpy.record.values import ArrayRef, Env, PyBool
from tracebuf.frontends.numpy.source.binding import bind, parameters_of
from tracebuf.frontends.numpy.source.cells import may_yield
from tracebuf.frontends.numpy.source.liveness import GLOBALS
from tracebuf.frontends.numpy.source.returns import after_loops, loops_return
from tracebuf.frontends.numpy.source.source import Source, read_source
from tracebuf.location import Location
from tracebuf.running.labels import Coding

STANDARD = os.path.dirname(os.__file__) + os.sep
"""Where Python's standard library is."""
OTHERS = tuple(STANDARD + name for name in ("site-packages", "dist-packages"))
NUMPY = os.path.dirname(np.__file__) + os.sep
"""Where NumPy is."""


@cache
def is_internal(file: str) -> bool:
    """Whether code belongs to this package, NumPy, SciPy or the standard library: what happens in it is reported at the
    line that called it."""
    return is_fixed(file) or is_standard(file)


def is_fixed(file: str) -> bool:
    """Whether code belongs to this package, NumPy or SciPy, whose globals nobody binds anew."""
    return is_formula(file) or is_numpys(file)


@cache
def is_numpys(file: str) -> bool:
    """Whether code belongs to NumPy or SciPy."""
    scipy = getattr(sys.modules.get("scipy"), "__file__", None)
    return file.startswith(NUMPY) or (scipy is not None and file.startswith(os.path.dirname(scipy) + os.sep))


def is_standard(file: str) -> bool:
    """Whether code belongs to the standard library."""
    return file.startswith(STANDARD) and not file.startswith(OTHERS)


class Interpreter(Statements):
    """Runs a function on traced arguments. `captures` collects (name, how to fetch it again, value) for the guards."""

    def __init__(self, recorder: Recorder, hidden: MutableMapping[CapturePlace, Any] | None = None) -> None:
        self.r = recorder
        recorder.keep_text = partial(talk.keep_of_loop, self)
        self.hidden = {} if hidden is None else hidden
        self.captures: dict[tuple[str, int], tuple[str, Callable[[], Any], Any]] = {}
        self.taken: dict[tuple[str, int], tuple[str, Callable[[], Any], Any]] = {}
        self.cached: ByIdentity[Any, set[str]] = ByIdentity()
        self.scopes: list[Scope] = []
        self.inlined = 0
        """How many calls are inlined of functions that call themselves, and cannot be functions of the program."""
        self.nested_calls: dict[recursion.Code, int] = {}
        """How many calls were met of functions in themselves, by function."""
        self.handling: list[tuple[Any, Any]] = []
        self.bars: list[tuple[ast.For, Progress]] = []
        self.ended_bars: ByIdentity[Progress, None] = ByIdentity()
        self.ending: list[Any] = []
        self.trying: list[ast.Try] = []
        self.constants: ByIdentity[Any, None] = ByIdentity()
        self.plans: dict[tuple[Any, ...], LoopPlan] = {}
        self.list_paths: ByIdentity[Any, Hidden] = ByIdentity()
        self.tables: ByIdentity[Any, ArrayRef] = ByIdentity()
        self.rows: ByIdentity[Any, tuple[Any, int]] = ByIdentity()
        self.row_reads: set[ast.AST] = set()
        self.pools: dict[Any, Any] = {}
        self.picking: list[Picks] = []
        self.asking_items: Scope | None = None
        """Where a name or attribute is looked up as the right operand of `in`."""
        self.walking: list[Any] = []
        self.sets: ByIdentity[Any, Location] = ByIdentity()
        self.returned_at = recorder.loc
        self.asked: ByIdentity[Any, None] = ByIdentity()
        self.bodies: dict[ast.AST, tuple[Source, frozenset[str]] | None] = {}
        self.consumed: set[ast.AST] = set()
        self.unread_call: ast.AST | None = None
        self.unread_function: Any = None
        self.coding: Coding | None = None
        self.label_arguments: ByIdentity[Any, Leaf] = ByIdentity()
        self.recursions: list[recursion.Recursion] = []
        self.recursion_plans: dict[Any, recursion.Plan] = {}
        self.direct = Direct(self)
        recorder.outer_values = self.outer_values
        recorder.asked = self.asked_about
        self.paths: ByIdentity[Any, Hidden] = ByIdentity()
        """How the arrays of the caller's are fetched, but for those in containers."""
        recorder.heap.read = lambda x, name: records.read(self, x, name, recorder.heap)

    def is_fixed_here(self) -> bool:
        return bool(self.scopes) and is_fixed(self.scope.source.file)

    def outer_values(self) -> list[Any]:
        """The values that names of the functions around the one being traced hold, statements of all, and those that
        the callers of a function of the program hold."""
        containers = [x for x, _ in self.r.heap.originals]
        held = [v for s in self.scopes for v in s.held]
        given = [x for of in self.recursions for path, x in of.heads.items() if path not in of.plan.columns]
        around = [v for s in self.scopes[:-1] for v in s.env.values()]
        return [*around, *held, *given, *containers, *self.direct.run.live()]

    # -- calls
    def call_function(self, function: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        """Inlines a Python function: by its source, or, where that cannot be read, by running it."""
        if not isinstance(function, types.FunctionType):  # a property's getter, say, that is a builtin
            return self.call(ast.Pass(), function, list(args), kwargs)
        code = function.__code__
        if is_own(function):
            return self.direct.call(function, args, kwargs)
        gives = code.co_flags & (inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR)
        if gives and (gives != inspect.CO_GENERATOR or not self.scopes):
            raise self.r.refuse("generators and coroutines cannot be traced", "return an array or a tuple")
        parameters, bound = parameters_of(code), ask(bind, function, args, kwargs)
        given = parameters.given(len(args), kwargs)
        for name in parameters.single:
            if name not in given and isinstance(default := bound[name], (list, dict, set, tuple, np.ndarray)):
                bound[name] = self.capture(name, partial(default_of, function, name), default, function)
        source = read_source(code, code.co_filename, code.co_firstlineno)
        if source is None and gives:
            raise self.r.refuse("a generator function whose source cannot be read", "return an array or a tuple")
        if source is None:
            named = {**{n: bound[n] for n in parameters.named}, **(bound[parameters.stars] if parameters.stars else {})}
            plain = [bound[n] for n in (*parameters.first, *parameters.plain)]
            return self.direct.call(function, [*plain, *(bound[parameters.star] if parameters.star else ())], named)
        inside = bool(self.scopes) and is_internal(self.scope.source.file)
        called = self.r.loc
        if gives:
            scope = Scope(source, self.global_lookup(function), function.__name__, bound, names=function.__globals__)
            return self.made_generator(scope)
        try:
            names, lookup = function.__globals__, self.global_lookup(function)
            return self.run_scope(Scope(source, lookup, function.__name__, bound, names=names, closure=function))
        except UnsupportedError as error:
            foreign = (is_standard(source.file) or is_numpys(source.file)) and function not in WRITTEN.values()
            if inside or not foreign or error.location != called:
                raise
            where = f"{function.__module__}.{function.__qualname__}"
            raise self.r.refuse(f"a call of {where} cannot be traced: {error.reason}", refusals.call(where)) from None

    def global_lookup(self, function: types.FunctionType) -> Callable[[str], Any]:
        """A look-up of a function's free names: closure cells, globals, builtins; each result becomes a guard."""
        cells = dict(zip(function.__code__.co_freevars, function.__closure__ or ()))
        names = function.__globals__

        if is_fixed(function.__code__.co_filename):
            return lambda name: self.fixed(name, FreeName(cells, names, name), names)

        def lookup(name: str) -> Any:
            place = cells.get(name, names)
            if place is names and (held := self.bound_here(names, name)) is not records.MISSING:
                return held
            fetch = FreeName(cells, names, name)
            if (seen := self.captures.get((name, id(place)))) is not None:
                value = seen[2]  # one value in all of a trace: another thread may bind the name anew meanwhile
                if isinstance(seen[1], ItemsOf) and self.asking_items is not self.scope:
                    value = seen[1].lookup()  # here more is asked of the set
            elif (value := Absent(fetch)()) is NOTHING:
                self.captures[name, id(place)] = (name, Absent(fetch), NOTHING)
            if value is NOTHING:
                raise Raises(NameError(f"name '{name}' is not defined"))
            return self.capture(name, fetch, value, place)

        return lookup

    def bound_here(self, names: dict[str, Any], name: str) -> Any:
        """What a global name that functions of the trace bind holds now; MISSING where they bind it not."""
        module = self.hidden.get((GLOBALS, id(names)))
        if module is None or (GLOBALS, id(names), "attribute", name, "own") not in self.hidden:
            return records.MISSING
        held = records.field(self, module, name, records.MISSING)
        if held is records.MISSING and not hasattr(builtins, name):
            raise Raises(NameError(f"name '{name}' is not defined"))
        return held

    def asked_about(self, x: Any, what: str) -> Any:
        """What the call is asked about an array of the caller's; None where it cannot be."""
        if (path := self.paths.get(x)) is None:
            return None
        hidden = path.asked(what)
        if hidden.place not in self.hidden:
            raise NewCapture(hidden)
        return self.hidden[hidden.place]

    def fixed(self, name: str, fetch: Callable[[], Any], place: object) -> Any:
        """What a name of this package's own is: guarded by nothing; an array is a hidden argument."""
        value = fetch()
        return self.capture(name, fetch, value, place) if isinstance(value, np.ndarray) else value

    def capture(self, name: str, fetch: Callable[[], Any], value: Any, place: object) -> Any:
        """A value from outside: arrays are hidden arguments; scalars, functions, modules and tuples are guarded by
        identity; lists and dicts of arrays are hidden arguments too, other mutable ones are refused (rule B5)."""
        if self.asks_items(value):
            fetch = ItemsOf(fetch)
            value = fetch()
        seen = outside(name, (name, id(place)), fetch, value, self.hidden, self.r.loc)
        if not isinstance(value, np.ndarray) and self.r.heap.number(seen) is None:  # those are fetched anew
            self.captures.setdefault((name, id(place)), (name, fetch, value))
        return seen

    def asks_items(self, x: Any) -> bool:
        """Whether of a set from outside nothing is asked but whether it holds something."""
        asking = self.asking_items is not None and self.asking_items is self.scope
        return asking and type(x) is set and all(type(item) in (str, int) for item in x)

    def call_nested(self, function: NestedFunction, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        """Calls a function defined inside a traced one."""
        bound = function.bind(args, kwargs)
        source, lookup = function.source, function.lookup
        scope = Scope(source, lookup, function.name, bound, names=function.names, closure=lookup)
        return self.made_generator(scope) if may_yield(function.source.node) else self.run_scope(scope)

    def run_scope(self, scope: Scope) -> Any:
        """Runs a function's body in a scope of its own; its result."""
        if (many := scope.source.node.args.kwarg) is not None:
            self.own(scope.env[many.arg])
        if loops_return(scope.source.node):
            self.r.growth.loops_return = True
            if self.r.growth.returns_after_loops:
                scope.source = after_loops(scope.source.node, scope.source.file)
        scope.given = dict(scope.env)
        unread, self.unread_function = self.unread_function, None
        known: recursion.Known = self.r.growth.recursive
        if isinstance(known.get(recursion.code_of(scope)), frozenset):
            return recursion.call(self, scope, self.run_body)
        self.inlined += isinstance(known.get(recursion.code_of(scope)), UnsupportedError)
        recursion.note(self.scopes, scope, known, self.inlined, self.nested_calls)
        if len(self.scopes) > recursion.MAX_NESTED:
            raise self.r.refuse("calls are nested more than 40 deep", "use a loop")
        scope.unread = unread is not None and unread is scope.closure
        return self.run_body(scope)

    def run_body(self, scope: Scope) -> Any:
        """Traces a function's body in a scope of its own; its result."""
        scope.called = self.r.loc
        with self.r.at(self.r.loc), self.within(scope), self.r.of_a_call():
            try:
                node = scope.source.node
                if isinstance(node, ast.Lambda):
                    return self.any_expr(node.body, scope.env)
                self.block(node.body, scope.env)
                with cycles_refused(self.r):
                    return self.returned(scope.env)
            except Raises as said:  # of a lambda, which has no statements to say where
                self.reached(said)
                raise
            except UnknownOrigin as refusal:  # the call is not traced again: the function may have stored
                raise UnsupportedError(refusal.reason, instead=refusal.instead, location=refusal.location) from None
            finally:
                self.returned_at = self.r.loc

    def returned(self, env: Env) -> Any:
        """The result of a function whose statements were traced."""
        ended = jump_of(env)
        if isinstance(ended, int):
            return env[RETURN] if ended == LEAVE else None
        if RETURN not in env:  # what would have returned raises
            return None
        on = goes_on(self.r, env, CONTINUE)  # outside of loops: what has not gone on has returned
        if isinstance(on, PyBool):  # on some paths it ends without a return

            def nothing(inner: Env) -> None:
                inner[RETURN] = None

            trace_if(self.r, on, env, [nothing, lambda e: None], [RETURN], frozenset([RETURN]))
        return env[RETURN]

    def at(self, node: ast.AST) -> Location:
        """Makes a node the current location in the user's source (a node without a line does not change it)."""
        line = getattr(node, "lineno", None)
        if line is None or is_internal(file := (scope := self.scope).source.file):
            return self.r.loc  # the caller's
        column, end, last = node.col_offset, node.end_col_offset or 0, node.end_lineno  # type: ignore[attr-defined]
        if last != line:
            name = node.func if isinstance(node, ast.Call) else node
            if isinstance(name, ast.Attribute) and name.end_lineno is not None and name.end_lineno > line:
                line, column = name.end_lineno, (name.end_col_offset or 0) - len(name.attr.encode())  # as in tracebacks
            end = end if last == line else 10**6
        self.r.loc = Location(file, line, column, end, scope.name)
        return self.r.loc

    def refuse(self, node: ast.AST, reason: str, instead: str = "") -> UnsupportedError:
        return UnsupportedError(reason, instead=instead, location=self.at(node))
