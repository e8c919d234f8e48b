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
from typing import Any

import numpy as np

from tracebuf.errors import TracebufError, UnsupportedError
from tracebuf.frontends.numpy.call.arguments import RunOriginal
from tracebuf.frontends.numpy.call.talk import Filter
from tracebuf.frontends.numpy.interpreter.evaluator import Evaluator, pushed
from tracebuf.frontends.numpy.numbers.lattice import JUMP, RETURN
from tracebuf.frontends.numpy.record import refusals
from tracebuf.frontends.numpy.record.raises import DeadEnd, Raises, ask, is_tracers
from tracebuf.frontends.numpy.record.values import Env
from tracebuf.frontends.numpy.source.liveness import leaves_by
from tracebuf.ir.core import Block, Op
from tracebuf.location import Location
from tracebuf.ops.control import checks
from tracebuf.running.raised import raised

JUMPS = (ast.Return, ast.Break, ast.Continue)
"""Statements that leave a block."""
LASTING = ("ignore", "error", "always")
"""Actions of filters that do not depend on what was warned of before."""
FILTER = {"category": Warning, "lineno": 0, "append": False}
"""Parameters of `warnings.simplefilter` after the action, and of `catch_warnings`: their defaults."""
Kinds = tuple[type[BaseException], ...]
Error = tuple[BaseException, Location] | None
"""An exception and where it was raised; None where none was."""
ENTERED: dict[Any, tuple[str, ...]] = {np.errstate: ("raise", "call", "print", "log"), np.printoptions: (),
                                       warnings.catch_warnings: (), contextlib.nullcontext: ()}  # fmt: skip
"""By context that does not change what compiled code does: the words among its arguments that would."""


class Protected(Evaluator):
    """Mixin: `try` and `with`."""

    # -- try
    def stmt_Try(self, node: ast.Try, env: Env) -> None:
        if node.finalbody and leaves_by(node.finalbody, *JUMPS):
            raise self.refuse(node.finalbody[0], "a jump out of `finally`", "jump behind the `try`")
        block = self.r.frame.block
        before = stops(block)
        try:
            error = self.attempt(node, env)
        except DeadEnd:
            if node.finalbody:
                raise self.unforeseen(node) from None
            raise
        inside = stops(block)
        jump = {name: env.pop(name) for name in (JUMP, RETURN) if name in env}
        try:
            self.block(node.finalbody, env)
        finally:
            if len(inside) > len(before) and len(stops(block)) > len(inside):  # one exception may replace another
                raise self.unforeseen(node) from None
        env.update(jump)
        self.raise_again(error)

    def attempt(self, node: ast.Try, env: Env) -> Error:
        """Traces the body with its handlers, and `else`; the exception that is raised in the end."""
        handlers = [(*self.kinds_of(h, env), h) for h in node.handlers]
        every = tuple(k for kinds, _, _ in handlers for k in kinds)
        with pushed(self.trying, node):
            error = self.tried(node, every, lambda: self.block(node.body, env))
        if error is None:
            if node.orelse and leaves_by(node.body, *JUMPS):
                raise self.refuse(node.orelse[0], "`else` of a `try` that may be left before", "write it into the body")
            return self.tried(node, (), lambda: self.block(node.orelse, env))
        caught = ((wrong, h) for kinds, wrong, h in handlers if isinstance(error[0], kinds))
        wrong, handler = next(caught, (None, None))
        if handler is None:
            return error
        if wrong is not None and handler.type is not None:
            return wrong.error, self.at(handler.type)
        if handler.name:
            env[handler.name] = error[0]
        try:
            with pushed(self.handling, error[0]):
                return self.tried(node, (), lambda: self.block(handler.body, env))
        finally:
            if handler.name:
                env.pop(handler.name, None)

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

    def tried(self, node: ast.AST, kinds: Kinds, run: Callable[[], None]) -> Error:
        """The exception that a body certainly raises, and where. Refuses a body that may raise one of these classes at
        run time."""
        r, frame = self.r, self.r.frame
        before = stops(frame.block)
        found: Error = None
        try:
            with pushed(r.surely, lambda: r.frame is frame and len(stops(frame.block)) == len(before)):
                run()
        except DeadEnd:
            if may_catch(frame.block, before, kinds):
                raise self.unforeseen(node) from None
            raise
        except Raises as said:
            found = said.error.with_traceback(None), said.loc or r.loc  # a traceback holds what was traced
        if found is None and may_catch(frame.block, before, kinds):
            raise self.unforeseen(node)
        return found

    def unforeseen(self, node: ast.AST) -> UnsupportedError:
        """The refusal of a body that may raise at run time."""
        return self.refuse(node, *refusals.statement(ast.Try([], [], [], [])))

    # -- with
    def stmt_With(self, node: ast.With, env: Env) -> None:
        """Contexts that compiled code need not enter, and `contextlib.suppress`."""
        outer, options, settings = len(self.r.filters), len(self.r.printing), self.r.errstates
        try:
            self.with_contexts(node, env)
        finally:
            del self.r.filters[outer:], self.r.printing[options:]
            self.r.errstates = settings

    def with_contexts(self, node: ast.With, env: Env) -> None:
        """Enters the contexts, and traces the body."""
        suppressed: list[type[BaseException]] = []
        for entered in node.items:
            call = entered.context_expr
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
        error = self.tried(node, tuple(suppressed), lambda: self.block(node.body, env))
        if error is not None and not isinstance(error[0], tuple(suppressed)):
            self.raise_again(error)

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
        return bool(kinds)
    kind = raised(op.attrs["exception"])
    kind = kind if isinstance(kind, type) else type(kind)
    return not issubclass(kind, TracebufError) and issubclass(kind, kinds)


