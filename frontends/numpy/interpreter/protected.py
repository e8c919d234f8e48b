"""`try` and `with`: bodies whose exceptions tracing foresees, and contexts that compiled code need not enter.

A body that certainly raises while it is traced, before anything that only the run time decides, continues in the
handler, as in Python. One in which a check may fail at run time, with an exception that a handler would catch, is
refused: compiled code ends at a failed check.
"""

from __future__ import annotations

import ast
import contextlib
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn

import numpy as np

from tracebuf.errors import TracebufError, UnsupportedError
from tracebuf.frontends.numpy.call.arguments import RunOriginal
from tracebuf.frontends.numpy.call.talk import Filter, Talk
from tracebuf.frontends.numpy.functions.host.calls import record
from tracebuf.frontends.numpy.interpreter.evaluator import Evaluator, pushed
from tracebuf.frontends.numpy.interpreter.texts import number_value
from tracebuf.frontends.numpy.numbers.lattice import GO_ON, JUMP, RETURN
from tracebuf.frontends.numpy.paths.branches import trace_if
from tracebuf.frontends.numpy.paths.landing import land, raise_on, raised_names, surely_raised
from tracebuf.frontends.numpy.record import refusals
from tracebuf.frontends.numpy.record.callees import Caught
from tracebuf.frontends.numpy.record.conditions import either
from tracebuf.frontends.numpy.record.raises import DeadEnd, Raises, ask, is_tracers
from tracebuf.frontends.numpy.record.regions import LIMITS, RAISED, Kept, Site
from tracebuf.frontends.numpy.record.values import Env, PyBool, PyInt
from tracebuf.frontends.numpy.source.liveness import leaves_by, stored
from tracebuf.frontends.numpy.source.locks import dotted, held_for
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
        block, error, live = self.r.frame.block, list[Error](), self.scope.source.live
        before = stops(block)
        every: Kinds = (BaseException,) if calls_something(node.finalbody) else ()
        try:
            with self.r.catch(every, live.after[node]):
                sites = land(self.r, env, lambda e: error.append(self.attempt(node, e)), live.after[node] | TRACERS)
        except DeadEnd:
            raise self.unforeseen(node) from None
        inside, ends = stops(block), may_catch(block, before, (BaseException,))
        kept = {name: env.pop(name) for name in (JUMP, RETURN, *raised_names(sites)) if name in env}
        try:
            self.block(node.finalbody, env)
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
        for entered in node.items:
            call = entered.context_expr
            if self.holds(node, call):
                continue
            if not isinstance(call, ast.Call):
                raise self.refuse(node, *refusals.statement(node))
            function, args = self.expr(call.func, env), self.items(call.args, env)
            self.enter(node, function, args, [(k.arg, self.expr(k.value, env)) for k in call.keywords], suppressed)
            if entered.optional_vars is not None:
                if function is not contextlib.nullcontext or len(args) > 1:
                    raise self.refuse(node, *refusals.statement(node))
                self.assign(entered.optional_vars, args[0] if args else None, env)
        if not suppressed:
            return self.block(node.body, env)
        kinds = tuple(suppressed)
        after = self.scope.source.live.after[node]
        error, sites = self.tried(node, kinds, lambda e: self.block(node.body, e), env, after)
        if sites:
            return self.after_raise(node, [(kinds, None, ast.ExceptHandler(None, None, [ast.Pass()]))], sites, env)
        if error is not None and not isinstance(error[0], kinds):
            self.raise_again(error)
        return None

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


def entered(function: Any, args: Sequence[Any], named: Mapping[Any, Any]) -> None:
    """Enters and leaves a context."""
    with function(*args, **named):
        pass


Group = tuple[ast.ExceptHandler | None, list[Site]]
"""A handler, and what it catches; None: what no handler catches."""


def calls_something(body: Sequence[ast.stmt]) -> bool:
    """Whether statements may have effects that must not be skipped: prints, say."""
    return any(isinstance(n, ast.Call) for statement in body for n in ast.walk(statement))


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


