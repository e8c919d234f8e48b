"""The abstract interpreter (rule F0): runs the function's AST on traced and plain values, statement by statement.

Tests known at trace time just run; traced ones become `scf.if`. Expressions are in `expressions`, joins in `control`.
"""

from __future__ import annotations

import ast
import builtins
import inspect
import types
from collections.abc import Callable, MutableMapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from tracebuf.errors import TracebufError, UnsupportedError, note_location
from tracebuf.frontends.numpy import rewrites
from tracebuf.frontends.numpy.captures import Place, default_of, outside
from tracebuf.frontends.numpy.control import Env, Range, trace_for, trace_if
from tracebuf.frontends.numpy.expressions import Expressions, NestedFunction
from tracebuf.frontends.numpy.indexing import store_item
from tracebuf.frontends.numpy.products import inplace_matmul
from tracebuf.frontends.numpy.recorder import DeadEnd, Recorder
from tracebuf.frontends.numpy.reshape import set_shape
from tracebuf.frontends.numpy.scalars import BINARY, binary, power_form, truth
from tracebuf.frontends.numpy.source import Source, read_source
from tracebuf.frontends.numpy.ufuncs import elementwise
from tracebuf.frontends.numpy.values import ArrayRef, is_traced
from tracebuf.ir.location import Location

INPLACE = {name: ufunc for name, (_, ufunc) in BINARY.items()}


class ReturnSignal(Exception):
    """`return` was reached."""

    def __init__(self, value: Any) -> None:
        self.value = value


class BreakSignal(Exception):
    """`break` in an unrolled loop."""


class ContinueSignal(Exception):
    """`continue` in an unrolled loop."""


@dataclass
class Scope:
    """One function being interpreted: its source, where free names are looked up, and its frame on the call stack."""

    source: Source
    lookup: Callable[[str], Any]
    name: str
    env: Env = field(default_factory=dict)


class Interpreter(Expressions):
    """Runs a function on traced arguments. `captures` collects (name, how to fetch it again, value) for the guards."""

    def __init__(self, recorder: Recorder, hidden: MutableMapping[Place, Any] | None = None) -> None:
        self.r = recorder
        self.hidden = {} if hidden is None else hidden
        self.captures: dict[tuple[str, int], tuple[str, Callable[[], Any], Any]] = {}
        self.scopes: list[Scope] = []
        self.returned_at = recorder.loc

    # -- calls
    def call_function(self, function: types.FunctionType, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        """Inlines a Python function."""
        code = function.__code__
        if code.co_flags & (inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR):
            raise UnsupportedError(
                "generators and coroutines cannot be traced", location=self.r.loc, instead="use a plain function"
            )
        source = read_source(code, code.co_filename, code.co_firstlineno)
        bound = inspect.signature(function, follow_wrapped=False).bind(*args, **kwargs)
        given = set(bound.arguments)
        bound.apply_defaults()
        if code.co_flags & inspect.CO_VARKEYWORDS:
            raise UnsupportedError("**kwargs is not supported yet", location=self.r.loc, instead="name the parameters")
        for name, default in bound.arguments.items():
            nothing = type(default) is tuple and not default  # what `*args` is without any
            if name not in given and isinstance(default, (list, dict, set, tuple, np.ndarray)) and not nothing:
                fetch = partial(default_of, function, name)
                bound.arguments[name] = self.capture(name, fetch, default, function)
        return self.run_scope(Scope(source, self.global_lookup(function), function.__name__, dict(bound.arguments)))

    def global_lookup(self, function: types.FunctionType) -> Callable[[str], Any]:
        """Free names of a function: closure cells, globals, builtins; what is found becomes a guard."""
        cells = dict(zip(function.__code__.co_freevars, function.__closure__ or ()))
        names = function.__globals__

        def fetch(name: str) -> Any:
            if name in cells:
                return cells[name].cell_contents
            return names[name] if name in names else getattr(builtins, name)

        def lookup(name: str) -> Any:
            try:
                value = fetch(name)
            except (KeyError, ValueError, AttributeError):
                raise NameError(f"name '{name}' is not defined") from None
            return self.capture(name, lambda: fetch(name), value, cells.get(name, names))

        return lookup

    def capture(self, name: str, fetch: Callable[[], Any], value: Any, place: object) -> Any:
        """A value from outside: arrays are hidden arguments; scalars, functions, modules and tuples are guarded by
        identity; mutable ones are refused (rule B5)."""
        seen = outside(name, (name, id(place)), fetch, value, self.hidden, self.r.loc)
        if not isinstance(value, np.ndarray):
            self.captures.setdefault((name, id(place)), (name, fetch, value))
        return seen

    def call_nested(self, function: NestedFunction, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        """Calls a function defined inside a traced one."""
        return self.run_scope(Scope(function.source, function.lookup, function.name, function.bind(args, kwargs)))

    def run_scope(self, scope: Scope) -> Any:
        """Runs a function's body in a scope of its own; what it returns."""
        if len(self.scopes) > 40:
            raise UnsupportedError(
                "calls are nested more than 40 deep (recursion cannot be traced)",
                location=self.r.loc,
                instead="use a loop",
            )
        caller = self.r.loc
        self.scopes.append(scope)
        depth = self.r.frame
        try:
            node = scope.source.node
            if isinstance(node, ast.Lambda):
                return self.expr(node.body, scope.env)
            self.block(node.body, scope.env)
            return None
        except ReturnSignal as signal:
            self.returned_at = self.r.loc
            if self.r.frame is not depth:
                raise UnsupportedError(
                    "`return` under a condition, or in a loop, that is only known at run time",
                    location=self.r.loc,
                    instead="assign, and return at the end",
                ) from None
            return signal.value
        finally:
            self.scopes.pop()
            self.r.loc = caller

    @property
    def scope(self) -> Scope:
        return self.scopes[-1]

    def at(self, node: ast.AST) -> Location:
        """Makes a node the current place in the user's source."""
        s = self.scope.source
        line, column = getattr(node, "lineno", 1), getattr(node, "col_offset", 0)
        end = getattr(node, "end_col_offset", 0) or 0
        if getattr(node, "end_lineno", None) != getattr(node, "lineno", None):
            end = 10**6
        self.r.loc = Location(s.file, line, column, end, self.scope.name)
        return self.r.loc

    def refuse(self, node: ast.AST, reason: str, instead: str = "") -> UnsupportedError:
        return UnsupportedError(reason, instead=instead, location=self.at(node))

    # -- statements
    def block(self, body: Sequence[ast.stmt], env: Env) -> None:
        for statement in body:
            method = getattr(self, f"stmt_{type(statement).__name__}", None)
            if method is None:
                raise self.refuse(statement, *rewrites.statement(statement))
            self.at(statement)
            try:
                method(statement, env)
            except (TracebufError, DeadEnd, ReturnSignal, BreakSignal, ContinueSignal):
                raise
            except Exception as error:
                self.user_error(error)

    def user_error(self, error: Exception) -> None:
        """An exception NumPy or Python raises for this code: raised at once where it is always reached, else
        refused."""
        if getattr(error, "__notes__", None):
            raise error
        if self.r.conditional:
            text = f"this raises {type(error).__name__} when it is reached: {error}"
            raise UnsupportedError(
                text, location=self.r.loc, instead="move it out of the loop or branch, or mend it"
            ) from error
        raise note_location(error, self.r.loc)

    def stmt_Pass(self, node: ast.Pass, env: Env) -> None:
        pass

    def stmt_Expr(self, node: ast.Expr, env: Env) -> None:
        if not isinstance(node.value, ast.Constant):
            self.expr(node.value, env)

    def stmt_Return(self, node: ast.Return, env: Env) -> None:
        value = None if node.value is None else self.expr(node.value, env)
        self.at(node)
        raise ReturnSignal(value)

    def stmt_Assign(self, node: ast.Assign, env: Env) -> None:
        value = self.expr(node.value, env)
        for target in node.targets:
            self.assign(target, value, env)

    def stmt_AnnAssign(self, node: ast.AnnAssign, env: Env) -> None:
        if node.value is not None:
            self.assign(node.target, self.expr(node.value, env), env)

    def assign(self, target: ast.expr, value: Any, env: Env) -> None:
        """Binds a name, unpacks, or stores into an array."""
        if isinstance(target, ast.Name):
            env[target.id] = value
        elif isinstance(target, (ast.Tuple, ast.List)):
            self.unpack(target, value, env)
        elif isinstance(target, ast.Subscript):
            base, index = self.expr(target.value, env), self.expr(target.slice, env)
            self.at(target)
            if not isinstance(base, ArrayRef):
                raise self.refuse(target, f"storing into a {type(base).__name__} while tracing", "store into an array")
            store_item(self.r, base, index, self.storable(target, value))
        elif isinstance(target, ast.Attribute) and target.attr == "shape":
            base = self.expr(target.value, env)
            self.at(target)
            if not isinstance(base, ArrayRef):
                raise self.refuse(target, f"setting an attribute of a {type(base).__name__}", "bind a name")
            set_shape(self.r, base, value)
        else:
            raise self.refuse(
                target, "this target of an assignment is not supported", "assign to a name or to an array's elements"
            )

    def storable(self, node: ast.AST, value: Any) -> Any:
        """A value that may be stored into elements."""
        if is_traced(value) or isinstance(value, (bool, int, float, np.generic)):
            return value
        raise self.refuse(
            node, f"a {type(value).__name__} cannot be stored into an array while tracing", "store numbers or arrays"
        )

    def unpack(self, target: ast.Tuple | ast.List, value: Any, env: Env) -> None:
        if any(isinstance(e, ast.Starred) for e in target.elts):
            raise self.refuse(target, "starred unpacking is not supported yet", "name each part")
        items = self.iterate_static(target, value)
        if len(items) != len(target.elts):
            few = len(items) < len(target.elts)
            got = f"not enough values to unpack (expected {len(target.elts)}, got {len(items)})"
            raise ValueError(got if few else f"too many values to unpack (expected {len(target.elts)})")
        for element, item in zip(target.elts, items):
            self.assign(element, item, env)

    def stmt_AugAssign(self, node: ast.AugAssign, env: Env) -> None:
        name = type(node.op).__name__
        target = node.target
        if isinstance(target, ast.Name):
            old = self.load_name(target.id, env, target)
            right = self.expr(node.value, env)
            self.at(node)
            env[target.id] = self.augmented(name, old, right)
        elif isinstance(target, ast.Subscript):
            base, index = self.expr(target.value, env), self.expr(target.slice, env)
            self.at(target)
            old = self.subscript(target, base, index)
            right = self.expr(node.value, env)
            self.at(node)
            new = self.augmented(name, old, right)
            if not isinstance(old, ArrayRef):
                if not isinstance(base, ArrayRef):
                    raise self.refuse(
                        node, f"storing into a {type(base).__name__} while tracing", "store into an array"
                    )
                store_item(self.r, base, index, new)
        else:
            raise self.refuse(node, "this target of an augmented assignment is not supported")

    def augmented(self, name: str, old: Any, right: Any) -> Any:
        """`old OP= right`: in place for arrays."""
        if not isinstance(old, ArrayRef):
            return binary(self.r, name, old, right)
        if name == "MatMult":
            return inplace_matmul(self.r, old, right)
        if not (is_traced(right) or isinstance(right, (bool, int, float, np.generic))):
            return binary(self.r, name, old, right)
        self.r.check_writable(old)
        ufunc, operands = INPLACE[name], [old, right]
        if name == "Pow":
            ufunc, operands = power_form(self.r, old, right)
        elementwise(self.r, ufunc, operands, into=old)
        return old

    def stmt_If(self, node: ast.If, env: Env) -> None:
        condition = truth(self.r, self.expr(node.test, env))
        if isinstance(condition, bool):
            return self.block(node.body if condition else node.orelse, env)
        self.at(node.test)
        known = self.entry_condition(condition)
        if known is not None:
            return self.block(node.body if known else node.orelse, env)
        live = self.scope.source.live
        branches = [self.branch(node.body), self.branch(node.orelse)]
        trace_if(self.r, condition, env, branches, live.assigned[node], live.after[node])

    def branch(self, body: Sequence[ast.stmt]) -> Callable[[Env], None]:
        def run(env: Env) -> None:
            outside, self.scope.env = self.scope.env, env  # what inner functions see while this runs
            try:
                self.block(body, env)
            except ReturnSignal:
                raise UnsupportedError(
                    "`return` under a condition, or in a loop, that is only known at run time",
                    location=self.r.loc,
                    instead="assign the result, and return at the end",
                ) from None
            except (BreakSignal, ContinueSignal):
                raise UnsupportedError(
                    "`break` or `continue` under a condition that is only known at run time",
                    location=self.r.loc,
                    instead="guard the rest of the body with an if",
                ) from None
            finally:
                self.scope.env = outside

        return run

    def stmt_For(self, node: ast.For, env: Env) -> None:
        iterable = self.expr(node.iter, env)
        self.at(node)
        if isinstance(iterable, Range):
            if node.orelse:
                raise self.refuse(node, "`else` on a loop is not supported yet", "put the code behind the loop")
            if not isinstance(node.target, ast.Name):
                raise self.refuse(node.target, "a range yields one int at a time", "loop over one name")
            live = self.scope.source.live
            trace_for(
                self.r,
                iterable,
                env,
                node.target.id,
                self.branch(node.body),
                live.assigned[node],
                live.head[node],
                live.after[node],
            )
            return
        for item in self.iterate_static(node.iter, iterable):
            self.assign(node.target, item, env)
            try:
                self.block(node.body, env)
            except ContinueSignal:
                continue
            except BreakSignal:
                return
        self.block(node.orelse, env)

    def stmt_Break(self, node: ast.Break, env: Env) -> None:
        raise BreakSignal

    def stmt_Continue(self, node: ast.Continue, env: Env) -> None:
        raise ContinueSignal

    def stmt_FunctionDef(self, node: ast.FunctionDef, env: Env) -> None:
        if node.decorator_list:
            raise self.refuse(node, "decorators on inner functions are not supported yet", "leave it out")
        env[node.name] = self.make_nested(node, node.name, env)

    def stmt_While(self, node: ast.While, env: Env) -> None:
        raise self.refuse(node, "`while` loops are not supported yet", "use `for i in range(...)`")

    def stmt_Import(self, node: ast.Import | ast.ImportFrom, env: Env) -> None:
        raise self.refuse(node, "imports inside a traced function", "import at the top of the module")

    stmt_ImportFrom = stmt_Import
