"""`try` and `with`: bodies whose exceptions tracing foresees, and contexts that compiled code need not enter.

A body that certainly raises while it is traced, before anything that only the run time decides, continues in the
handler, as in Python. One in which a check may fail at run time, with an exception that a handler would catch, is
refused: compiled code ends at a failed check.
"""

from __future__ import annotations

import ast
import contextlib
import sys
import types
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn

import numpy as np

from tracebuf.errors import TracebufError, UnsupportedError
from tracebuf.frontends.numpy.call import progress
from tracebuf.frontends.numpy.call.arguments import RunOriginal
from tracebuf.frontends.numpy.call.talk import Filter, Talk
from tracebuf.frontends.numpy.functions.host.calls import record
from tracebuf.frontends.numpy.interpreter.evaluator import Evaluator, pushed
from tracebuf.frontends.numpy.interpreter.texts import number_value
from tracebuf.frontends.numpy.numbers.lattice import GO_ON, JUMP, RETURN
from tracebuf.frontends.numpy.paths.branches import trace_if
from tracebuf.frontends.numpy.paths.landing import land, raise_on, raised_names, surely_raised
from tracebuf.frontends.numpy.record import refusals
from tracebuf.frontends.numpy.record.callees import Caught, Generator, Progress
from tracebuf.frontends.numpy.record.conditions import either
from tracebuf.frontends.numpy.record.heap import Record
from tracebuf.frontends.numpy.record.raises import DeadEnd, Raises, ask, is_tracers
from tracebuf.frontends.numpy.record.regions import LIMITS, RAISED, Kept, Site
from tracebuf.frontends.numpy.record.values import Env, PyBool, PyInt
from tracebuf.frontends.numpy.source.binding import parameters_of
from tracebuf.frontends.numpy.source.contexts import steps_of
from tracebuf.frontends.numpy.source.liveness import leaves_by, loaded, stored
from tracebuf.frontends.numpy.source.locks import dotted, held_for
from tracebuf.frontends.numpy.source.source import read_source
from tracebuf.frozen import plain
from tracebuf.ir.core import Block, Op
from tracebuf.location import Location
from tracebuf.ops.arrays.host import HostCall
from tracebuf.ops.control import checks
from tracebuf.running.host import Attempt, HostFunction, raise_kept
from tracebuf.running.raised import make_error, raised

JUMPS = (ast.Return, ast.Break, ast.Continue)
"""Statements that leave a block."""
LASTING = ("ignore", "error", "always")
"""Actions of filters that do not depend on what was warned of before."""
FILTER = {"category": Warning, "lineno": 0, "append": False}
"""Parameters of `warnings.simplefilter` after the action, and of `catch_warnings`: their defaults."""
Kinds = tuple[type[BaseException], ...]
Error = tuple[BaseException, Location] | None
"""An exception and where it was raised; None where none was."""
Handler = tuple[Kinds, Raises | None, ast.ExceptHandler]
"""The classes that a handler catches, and what is raised where they cannot be found."""
TRACERS = frozenset([JUMP, RETURN])
BY_GENERATOR = contextlib.contextmanager(lambda: None).__code__  # type: ignore[arg-type, return-value]
"""The code of what `contextlib.contextmanager` makes of a function."""
ENTERED: dict[Any, tuple[str, ...]] = {np.errstate: ("raise", "call", "print", "log"), np.printoptions: (),
                                       warnings.catch_warnings: (), contextlib.nullcontext: ()}  # fmt: skip
"""By context that does not change what compiled code does: the words among its arguments that would."""


class Protected(Evaluator):
    """Mixin: `try` and `with`."""

    # -- try
    def stmt_Try(self, node: ast.Try, env: Env) -> None:
        if node.finalbody and leaves_by(node.finalbody, *JUMPS):
            raise self.refuse(node.finalbody[0], "a jump out of `finally`", "jump behind the `try`")
        if not node.finalbody:
            return self.raise_again(self.attempt(node, env))
        every: Kinds = (BaseException,) if has_effects(node.finalbody) else ()
        return self.finished(node, lambda e: self.attempt(node, e), lambda e: self.block(node.finalbody, e), every, env)

    def finished(
        self, node: ast.Try | ast.With, run: Callable[[Env], Error], final: Callable[[Env], None], every: Kinds,
        env: Env,
    ) -> None:  # fmt: skip
        """Traces a body and what follows it in any case: after exceptions of the classes in `every` too."""
        block, error, live = self.r.frame.block, list[Error](), self.scope.source.live
        before, read = stops(block), live.after[node]
        if isinstance(node, ast.Try) and not calls_something(node.finalbody):
            read &= {name for s in node.finalbody for name in loaded(s)}  # what was raised leaves the function then
        try:
            with self.r.catch(every, read):
                sites = land(self.r, env, lambda e: error.append(run(e)), live.after[node] | TRACERS)
        except DeadEnd:
            raise self.unforeseen(node) from None
        inside, ends = stops(block), may_catch(block, before, (BaseException,))
        kept = {name: env.pop(name) for name in (JUMP, RETURN, *raised_names(sites)) if name in env}
        try:
            final(env)
        finally:
            if ends and len(stops(block)) > len(inside):  # one exception may replace another
                raise self.unforeseen(node) from None
        raised = kept.pop(RAISED, 0)
        operands = {n: kept.pop(n) for s in sites for n in s.operands if n in kept}
        env.update(kept)
        if not (isinstance(raised, int) and raised == 0):
            self.raise_if(Caught(raised, sites, operands))
            if surely_raised(self.r, raised):
                raise DeadEnd
        self.raise_again(error[0] if error else None)

    def attempt(self, node: ast.Try, env: Env) -> Error:
        """Traces the body with its handlers, and `else`; the exception that is raised in the end for certain."""
        handlers = [(*self.kinds_of(h, env), h) for h in node.handlers]
        every = tuple(k for kinds, _, _ in handlers for k in kinds)
        live = self.scope.source.live.caught[node]
        with pushed(self.trying, node):
            error, sites = self.tried(node, every, lambda e: self.block(node.body, e), env, live)
        if error is None:
            if node.orelse and leaves_by(node.body, *JUMPS):
                raise self.refuse(node.orelse[0], "`else` of a `try` that may be left before", "write it into the body")
            if sites:
                self.after_raise(node, handlers, sites, env)
                return None
            return self.tried(node, (), lambda e: self.block(node.orelse, e), env, live)[0]
        caught = ((wrong, h) for kinds, wrong, h in handlers if isinstance(error[0], kinds))
        wrong, handler = next(caught, (None, None))
        if handler is None:
            return error
        if wrong is not None and handler.type is not None:
            return wrong.error, self.at(handler.type)
        return self.tried(node, (), lambda e: self.handle(handler, error[0], error[0], e), env, live)[0]

    def handle(self, handler: ast.ExceptHandler, caught: BaseException | Caught, error: Any, env: Env) -> None:
        """Traces a handler that has caught an exception, which the name holds as `error`."""
        if handler.name:
            env[handler.name] = error
        try:
            with pushed(self.handling, (caught, error)), self.r.unbound_if_raised(handler.name):
                self.block(handler.body, env)
        finally:
            if handler.name:
                env.pop(handler.name, None)

    # -- what was raised at run time
    def after_raise(
        self, node: ast.Try | ast.With, handlers: Sequence[Handler], sites: frozenset[Site], env: Env
    ) -> None:
        """What follows a body that may have raised at run time: `else`, or the handler of what was raised."""
        number, groups = env.pop(RAISED), list[Group]()
        for site in sorted(sites, key=lambda s: s.number):
            wrong, handler = next(((w, h) for kinds, w, h in handlers if issubclass(site.kind, kinds)), (None, None))
            if wrong is not None and handler is not None and handler.type is not None:
                raise self.refuse(handler.type, "a handler of something that is no exception", "except ValueError:")
            one = next((g for h, g in groups if h is handler), None)
            if one is not None and (handler is None or not asks_which(handler)):
                one.append(site)
            else:
                groups.append((handler, [site]))

        def handled(inner: Env) -> None:
            inner[JUMP] = GO_ON
            self.handle_one(node, groups, number, inner)

        if surely_raised(self.r, number):
            handled(env)
        else:
            body = node.orelse if isinstance(node, ast.Try) else []
            self.by_number(node, [*body, *(h for _, _, h in handlers)], number, 0, [self.branch(body), handled], env)
        for name in raised_names(sites):
            env.pop(name, None)

    def handle_one(self, node: ast.Try | ast.With, groups: Sequence[Group], number: int | PyInt, env: Env) -> None:
        """Traces the handlers of the groups of sites, of which one has raised."""
        (handler, sites), rest = groups[0], groups[1:]

        def this(inner: Env) -> None:
            caught = Caught(number, frozenset(sites), {n: inner[n] for s in sites for n in s.operands})
            if handler is None:
                self.raise_caught(caught)
            with self.scope.inside(inner):
                self.handle(handler, caught, self.exception_of(handler, caught), inner)

        if not rest:
            return this(env)
        names = [h for h, _ in groups if h is not None]
        others = lambda inner: self.handle_one(node, rest, number, inner)  # noqa: E731
        return self.by_number(node, names, number, [s.number for s in sites], [this, others], env)

    def by_number(
        self, node: ast.Try | ast.With, parts: Sequence[ast.AST], number: Any, wanted: int | list[int],
        arms: Sequence[Callable[[Env], None]], env: Env,
    ) -> None:  # fmt: skip
        """Traces one of two ways on from a body that may have raised: by whether the number is one of those wanted.
        `parts`: what is traced."""
        r, numbers = self.r, wanted if isinstance(wanted, list) else [wanted]
        found = either(r, *(r.compare("eq", number.expr, n) for n in numbers))
        names, after = (*stored(parts), JUMP, RETURN), self.scope.source.live.after[node] | self.jump_targets()
        trace_if(r, PyBool(found), env, arms, names, after, frozenset([RETURN]))

    def exception_of(self, handler: ast.ExceptHandler, caught: Caught) -> Any:
        """The exception object that a handler has caught, if it is known; else what stands for it."""
        if len(caught.sites) > 1 or not asks_which(handler):
            return caught
        (site,) = caught.sites
        known = not site.types and not isinstance(site.message, Kept)
        return ask(make_error, site.exception, site.message, ()) if known else caught

    def raise_caught(self, caught: Caught) -> NoReturn:
        """Raises again what a handler has caught, or no handler has."""
        self.raise_if(caught)
        raise DeadEnd

    def raise_if(self, caught: Caught) -> None:
        """Raises again what may have been caught."""
        r, number = self.r, caught.number
        further = frozenset(s for s in caught.sites if r.is_caught(s.kind))
        for site in sorted(caught.sites - further, key=lambda s: s.number):
            values = [number_value(r, caught.operands[n]) for n in site.operands]
            with r.at(site.loc):
                if isinstance(site.message, Kept):
                    self.raise_kept(caught, site)
                elif isinstance(number, int):
                    r.fail(site.exception, site.message, values)
                else:
                    other = r.compare("ne", number.expr, site.number)
                    r.check(other, site.exception, site.message, values)
        if further:
            raise_on(r, {RAISED: number, **caught.operands}, further)

    def raise_kept(self, caught: Caught, site: Site) -> None:
        """Raises an exception again that a host call has raised."""
        assert isinstance(site.message, Kept)
        function = HostFunction("raise", Talk(raise_kept, (site.message.name,), ()))

        def again(env: Env) -> None:
            record(self.r, function, [], [])

        if isinstance(caught.number, int):
            return again({})
        one = PyBool(self.r.compare("eq", caught.number.expr, site.number))
        trace_if(self.r, one, {}, [again, lambda env: None], (), frozenset())
        return None

    def raise_again(self, error: Error) -> None:
        """Raises an exception that no handler caught, where it is reached."""
        if error is not None:
            self.r.at(error[1])
            self.r.fail(error[0])

    def kinds_of(self, handler: ast.ExceptHandler, env: Env) -> tuple[Kinds, Raises | None]:
        """The classes that a handler catches; where they cannot be found, every class, and what is raised then."""
        try:
            found = BaseException if handler.type is None else self.expr(handler.type, env)
            kinds = found if isinstance(found, tuple) else (found,)
            if not all(isinstance(k, type) and issubclass(k, BaseException) for k in kinds):
                raise Raises(TypeError("catching classes that do not inherit from BaseException is not allowed"))
        except Raises as said:
            return (BaseException,), said
        return kinds, None

    def tried(
        self, node: ast.AST, kinds: Kinds, run: Callable[[Env], None], env: Env, live: frozenset[str]
    ) -> tuple[Error, frozenset[Site]]:
        """The exception that a body certainly raises, and where; what else it may raise of these classes at run time is
        in RAISED of `env`: of these sites. Refuses a body that may raise them where no handler is reached."""
        r, frame = self.r, self.r.frame
        before = stops(frame.block)
        found: Error = None
        sites: frozenset[Site] = frozenset()
        try:
            with pushed(r.surely, lambda: r.frame is frame and len(stops(frame.block)) == len(before)):
                if kinds:
                    with r.catch(kinds, live):
                        sites = land(r, env, run, live | TRACERS)
                else:
                    run(env)
        except DeadEnd:
            if may_catch(frame.block, before, kinds):
                raise self.unforeseen(node) from None
            raise
        except Raises as said:
            found = said.error.with_traceback(None), said.loc or r.loc  # a traceback holds what was traced
        if found is None and may_catch(frame.block, before, kinds):
            raise self.unforeseen(node)
        return found, sites

    def unforeseen(self, node: ast.AST) -> UnsupportedError:
        """The refusal of a body that may raise at run time."""
        return self.refuse(node, *refusals.statement(ast.Try([], [], [], [])))

    # -- with
    def stmt_With(self, node: ast.With, env: Env) -> None:
        """Contexts that compiled code need not enter, and `contextlib.suppress`."""
        outer, options, settings = len(self.r.filters), len(self.r.printing), self.r.errstates
        locked = len(self.r.locked)
        try:
            self.with_contexts(node, env)
        finally:
            del self.r.filters[outer:], self.r.printing[options:], self.r.locked[locked:]
            self.r.errstates = settings

    def with_contexts(self, node: ast.With, env: Env) -> None:
        """Enters the contexts, and traces the body."""
        suppressed: list[type[BaseException]] = []
        body: Callable[[Env], None] = lambda e: self.block(node.body, e)  # noqa: E731
        for k, entered in enumerate(node.items):
            call = entered.context_expr
            if isinstance(call, ast.Name) and isinstance(bar := env.get(call.id), Progress):
                body = self.in_bar(node, k, call, bar)
                break
            if (manager := self.manager_held(call, env)) is not None:
                body = self.in_manager(node, k, manager)
                break
            if self.holds(node, call):
                continue
            if not isinstance(call, ast.Call):
                raise self.refuse(node, *refusals.statement(node))
            function = self.expr(call.func, env)
            if progress.bar_of(function) is not None:
                body = self.in_bar(node, k, call, self.expr(call, env))
                break
            args = self.items(call.args, env)
            named = [(k.arg, self.expr(k.value, env)) for k in call.keywords]
            if is_users(function) and all(name for name, _ in named):
                if (manager := self.managing(node, call, function, args, dict(named))) is not None:
                    body = self.in_manager(node, k, manager)
                    break
            self.enter(node, function, args, named, suppressed)
            if entered.optional_vars is not None:
                if function is not contextlib.nullcontext or len(args) > 1:
                    raise self.refuse(node, *refusals.statement(node))
                self.assign(entered.optional_vars, args[0] if args else None, env)
        if not suppressed:
            return body(env)
        kinds = tuple(suppressed)
        after = self.scope.source.live.after[node]
        error, sites = self.tried(node, kinds, body, env, after)
        if sites:
            return self.after_raise(node, [(kinds, None, ast.ExceptHandler(None, None, [ast.Pass()]))], sites, env)
        if error is not None and not isinstance(error[0], kinds):
            self.raise_again(error)
        return None

    # -- the user's own contexts
    def manager_held(self, x: ast.expr, env: Env) -> Manager | None:
        """What `with` enters of an object that a name holds."""
        found = env.get(x.id) if isinstance(x, ast.Name) else None
        return self.manager_of(x, found) if isinstance(found, Record) and is_users(found.kind) else None

    def managing(
        self, node: ast.With, call: ast.Call, function: Any, args: list[Any], named: dict[Any, Any]
    ) -> Manager | None:
        """What `with` enters of a call: of a class with `__enter__`, or of a generator function."""
        if isinstance(function, type):
            return self.manager_of(call, self.call(call, function, args, named))
        self.at(call)
        made = self.call(call, function.__wrapped__, args, named)
        steps = None if not isinstance(made, Generator) or made.scope is None else steps_of(made.scope.source.node)
        if steps is None:
            return None
        made.done = True
        return self.manager_by_steps(made.scope, *steps)

    def in_bar(self, node: ast.With, k: int, call: ast.expr, bar: Progress) -> Callable[[Env], None]:
        """What traces the body of a `with` whose k-th context is a progress bar, which it closes. Where nothing here
        catches what is raised, the bars that are left are closed at the end of the call."""

        def final(env: Env) -> None:
            self.call(call, progress.tell, [bar, "close"], {})

        if self.r.catching:
            return self.in_manager(node, k, Manager(lambda: bar, [(final, True)], []))
        run = self.in_manager(node, k, Manager(lambda: bar, [], []))

        def closed(env: Env) -> None:
            run(env)
            final(env)

        return closed

    def manager_of(self, node: ast.AST, x: Any) -> Manager:
        """What `with` enters of an object."""
        leave = getattr(type_of(x), "__exit__", None)
        if not isinstance(leave, types.FunctionType):
            raise self.refuse(node, f"`with` of a {refusals.name_of(x)}", "make it before, and end it where it is done")
        source = read_source(leave.__code__, leave.__code__.co_filename, leave.__code__.co_firstlineno)
        given = parameters_of(leave.__code__).all[1:]
        asks = source is None or not {*given}.isdisjoint(loaded(source.node))

        def final(env: Env) -> None:
            found = self.call(node, self.attribute(node, x, "__exit__"), [None, None, None], {})
            if not asks and found is not None and found is not False:
                raise self.refuse(node, "`__exit__` that gives anything but None or False", "contextlib.suppress")

        enter = lambda: self.call(node, self.attribute(node, x, "__enter__"), [], {})  # noqa: E731
        return Manager(enter, [(final, None if asks else True)], [x])

    def manager_by_steps(
        self, scope: Any, before: Sequence[ast.stmt], given: ast.Yield, ends: Sequence[Any]
    ) -> Manager:
        """What `with` enters of a generator function (source/contexts)."""

        def enter() -> Any:
            with self.within(scope):
                for s in before:
                    if isinstance(s, ast.With) and not s.body:
                        self.enter_all(s, scope.env)
                    else:
                        self.block([s], scope.env)
                return None if given.value is None else self.expr(given.value, scope.env)

        def ended(body: Sequence[ast.stmt]) -> Callable[[Env], None]:
            def final(env: Env) -> None:
                with self.within(scope):
                    self.block(body, scope.env)

            return final

        return Manager(enter, [(ended(body), always) for body, always in ends], scope.env)

    def enter_all(self, node: ast.With, env: Env) -> None:
        """Enters contexts that compiled code need not enter, until the statement around ends."""
        for entered in node.items:
            call = entered.context_expr
            function = self.expr(call.func, env) if isinstance(call, ast.Call) else None
            if function not in ENTERED or entered.optional_vars is not None or not isinstance(call, ast.Call):
                raise self.refuse(node, *refusals.statement(node))
            named = [(k.arg, self.expr(k.value, env)) for k in call.keywords]
            self.enter(node, function, self.items(call.args, env), named, [])

    def in_manager(self, node: ast.With, k: int, manager: Manager) -> Callable[[Env], None]:
        """What traces the body of a `with` whose k-th context is the user's."""
        target, live = node.items[k].optional_vars, self.scope.source.live
        rest = ast.copy_location(ast.With(node.items[k + 1 :], node.body), node)
        live.after[rest] = live.after[node]

        def inside(env: Env) -> None:
            if target is not None:
                self.assign(target, value[0], env)
            if rest.items:
                self.stmt_With(rest, env)
            else:
                self.block(node.body, env)

        def wrapped(run: Callable[[Env], None], final: Callable[[Env], None], always: Any) -> Callable[[Env], None]:
            def ended(env: Env) -> None:
                if always is None:
                    self.unless_raised(node, run, final, env)
                elif not always:  # an exception skips it, a jump does not
                    run(env)
                    final(env)
                else:
                    body = lambda e: self.tried(node, (), run, e, live.after[node])[0]  # noqa: E731
                    self.finished(node, body, final, (BaseException,), env)

            return ended

        value = list[Any]()
        run: Callable[[Env], None] = inside
        for final, always in manager.ends:
            run = wrapped(run, final, always)

        def whole(env: Env) -> None:
            value.append(manager.enter())
            held = [*manager.held.values()] if isinstance(manager.held, dict) else manager.held
            with self.scope.holding([*held, value[0]]):
                run(env)

        return whole

    def unless_raised(
        self, node: ast.With, run: Callable[[Env], None], final: Callable[[Env], None], env: Env
    ) -> None:
        """Traces a body that must not raise, and what leaves its context."""
        block, error = self.r.frame.block, list[Error]()
        before = stops(block)
        try:
            error.append(self.tried(node, (), run, env, self.scope.source.live.after[node])[0])
        except DeadEnd:
            error.append(None)
        if error[0] is not None or may_catch(block, before, (BaseException,)):
            reason = "`with` of an `__exit__` that looks at exceptions, around what may raise"
            raise self.refuse(node, reason, "try: ... except ValueError: ...")
        final(env)

    def holds(self, node: ast.With, lock: ast.expr) -> bool:
        """Whether an operand of `with` is a lock that the call holds (source/locks)."""
        names = dotted(lock)
        if names is None:
            return False
        call, text = held_for(self.scope.source) if len(self.scopes) == 1 else None, ".".join(names)
        if call is None or text not in call.names:
            reason = "`with` of a lock that not each call takes, of a second one, or of what is no lock"
            raise self.refuse(node, reason, "take one lock where the function begins, or around its calls")
        if self.r.locked and not call.reentrant:
            raise self.refuse(node, "a lock is taken that is held already", "use a threading.RLock")
        self.r.locked.append(text)
        return True

    def enter(
        self, node: ast.With, function: Any, args: Sequence[Any], named: Sequence[tuple[str | None, Any]],
        suppressed: list[type[BaseException]],
    ) -> None:  # fmt: skip
        """Refuses a context that would have to be entered; raises what making it raises."""
        if function is contextlib.suppress and all(isinstance(k, type) for k in args):
            suppressed += args
            return
        words = ENTERED.get(function) if isinstance(function, (type, type(np.printoptions))) else None
        if words is None:
            raise self.refuse(node, *refusals.statement(node))
        if function is np.errstate and self.r.warns and any(x != "ignore" for x in (*args, *(x for _, x in named))):
            raise RunOriginal('warnings="numpy": np.errstate that asks for more than "ignore"')
        if not any(is_tracers(x) for x in (*args, *(x for _, x in named))) and all(name for name, _ in named):
            ask(entered, function, args, dict(named))
        if function is np.printoptions:
            if any(is_tracers(x) for _, x in named) or any(name in ("legacy", "formatter") for name, _ in named):
                raise self.refuse(node, "`np.printoptions` that only the run time knows", "enter it around the call")
            self.r.printing.append({str(name): x for name, x in named})
        self.r.errstates += function is np.errstate
        if function is warnings.catch_warnings:
            self.r.filters.append((self.r.frame, self.first_filters(node, args, dict(named))))
        if bad := [x for x in (*args, *(x for _, x in named)) if isinstance(x, str) and x in words]:
            reason = f'np.errstate with "{bad[0]}": compiled code does not look at floating-point errors'
            raise self.refuse(node, reason, "test for it: if not np.isfinite(x).all()")


    def first_filters(self, node: ast.With, args: Sequence[Any], named: dict[Any, Any]) -> list[Filter]:
        """What `catch_warnings(...)` itself sets."""
        if args or named.pop("record", False) or named.pop("module", None) is not None:
            raise self.refuse(node, "`catch_warnings` that records, or of a module", "enter it around the call")
        action = named.pop("action", None)
        if action is None:
            return []
        if action not in LASTING or (action == "error" and issubclass(RuntimeWarning, named.get("category", Warning))):
            raise self.refuse(node, f'`catch_warnings` with "{action}"', "enter it around the call")
        return [Filter(warnings.simplefilter, (action, *(named.get(k, d) for k, d in FILTER.items())))]


@plain()
class Manager:
    """A context of the user's: what enters it, and what leaves it, innermost first, each with whether it follows an
    exception too; what it refers to."""

    enter: Callable[[], Any]
    ends: list[tuple[Callable[[Env], None], bool | None]]
    """None for one that looks at the exception."""
    held: Any


def type_of(x: Any) -> Any:
    """The class of an object that is traced."""
    return x.kind if isinstance(x, Record) else type(x)


def is_users(function: Any) -> bool:
    """Whether `with` of what this makes enters a context of the user's: a class, or a generator function."""
    module = getattr(function, "__module__", "builtins") or ""  # None of what is made where no module is
    if module.split(".")[0] in (*sys.stdlib_module_names, "numpy"):
        return False
    if isinstance(function, type):
        return all(isinstance(getattr(function, n, None), types.FunctionType) for n in ("__enter__", "__exit__"))
    made_by = getattr(function, "__code__", None)
    return made_by is BY_GENERATOR and isinstance(function.__wrapped__, types.FunctionType)


def entered(function: Any, args: Sequence[Any], named: Mapping[Any, Any]) -> None:
    """Enters and leaves a context."""
    with function(*args, **named):
        pass


Group = tuple[ast.ExceptHandler | None, list[Site]]
"""A handler, and what it catches; None: what no handler catches."""


def calls_something(body: Sequence[ast.stmt]) -> bool:
    """Whether statements call."""
    return any(isinstance(n, ast.Call) for statement in body for n in ast.walk(statement))


def has_effects(body: Sequence[ast.stmt]) -> bool:
    """Whether statements may have effects that must not be skipped: prints, say, or stores to what others see."""
    places = (n for s in body for n in ast.walk(s) if isinstance(n, (ast.Subscript, ast.Attribute)))
    return calls_something(body) or any(not isinstance(n.ctx, ast.Load) for n in places)


def asks_which(handler: ast.ExceptHandler) -> bool:
    """Whether a handler does more with the exception than raise it again, or another one from it."""
    inside = [n for b in handler.body for n in ast.walk(b)]
    raised_again = {id(x) for n in inside if isinstance(n, ast.Raise) for x in (n.exc, n.cause)}
    names = [n for n in inside if isinstance(n, ast.Name) and n.id == handler.name]
    return any(id(n) not in raised_again for n in names)


def stops(block: Block) -> list[Op]:
    """The ops in a region that may raise at run time."""
    return [x for op in block.ops for x in (op, *op.walk()) if checks.may_stop(x)]


def may_catch(block: Block, before: Sequence[Op], kinds: Kinds) -> bool:
    """Whether an op recorded since `before` may raise, at run time, an exception of one of these classes."""
    known = set(before)
    return any(raises(op, kinds) for op in stops(block) if op not in known)


def raises(op: Op, kinds: Kinds) -> bool:
    """Whether an op may raise an exception of these classes."""
    if not isinstance(op, checks.Check):
        attempt = op.callee.run if isinstance(op, HostCall) and not isinstance(op.callee, str) else None
        return not (isinstance(attempt, Attempt) and {*kinds} <= {*attempt.kinds}) and bool(kinds)
    if op.attrs["message"] in LIMITS:
        return False
    kind = raised(op.attrs["exception"])
    kind = kind if isinstance(kind, type) else type(kind)
    return not issubclass(kind, TracebufError) and issubclass(kind, kinds)


