"""Functions whose source cannot be read (made by exec or typed into a REPL): traced by running them on tracers.

The function's own code runs, with globals and closure cells in which everything from outside is a tracer or an
`Outside`, so that its calls are dispatched as in a function that is read. What tracers cannot observe is refused first:
`try`, which would catch while tracing, stores to global names, classes, `is`.
"""

from __future__ import annotations

import builtins
import dis
import types
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

from tracebuf.errors import TracebufError, UnsupportedError
from tracebuf.frontends.numpy.interpreter.evaluator import Evaluator
from tracebuf.frontends.numpy.interpreter.tracers import Namespace, Run, is_own, place_of
from tracebuf.frontends.numpy.record.by_identity import ByIdentity
from tracebuf.frontends.numpy.record.raises import Raises, by_signal, internal_error
from tracebuf.location import Location

REFUSED = {
    "PUSH_EXC_INFO": ("`try` or `with`", "test the condition before; enter contexts around the call"),
    "STORE_GLOBAL": ("a store to a global name", "return the value"),
    "DELETE_GLOBAL": ("a deletion of a global name", "leave it out"),
    "LOAD_BUILD_CLASS": ("a class definition", "define it outside the function"),
    "MATCH_CLASS": ("`match`", "use if and elif"),
    "MATCH_MAPPING": ("`match`", "use if and elif"),
    "MATCH_SEQUENCE": ("`match`", "use if and elif"),
}
"""By name of an instruction: what it is called in a refusal, and what to write instead."""
MAX_DEPTH = 40
"""The most calls of such functions within one another."""


class Direct:
    """Runs functions on tracers, within one trace."""

    def __init__(self, interpreter: Evaluator) -> None:
        self.i, self.run, self.depth = interpreter, Run(interpreter), 0

    def call(self, function: types.FunctionType, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        """The result of the function for traced arguments."""
        caller = self.i.r.loc
        if not is_own(function):
            check_code(function.__code__)
            function = self.hooked(function)
        given, named = [self.run.wrap(a) for a in args], {k: self.run.wrap(v) for k, v in kwargs.items()}
        watched = list(containers((function, given, named), ByIdentity()))
        before = [contents(x) for x in watched]
        self.depth += 1
        try:
            if self.depth > MAX_DEPTH:
                raise self.run.refuse(f"calls are nested more than {MAX_DEPTH} deep", "use tracebuf.while_loop")
            result = self.run.unwrap(self.result(function, given, named))
        finally:
            self.depth -= 1
        if any(changed(contents(x), then) for x, then in zip(watched, before)):
            reason = "a list, a dict or a name from outside is changed in a function that is traced once"
            raise self.run.refuse(reason, "return the value")
        self.i.returned_at = self.i.r.loc
        self.i.r.at(caller)
        return result

    def result(self, function: types.FunctionType, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        """The result of the function for tracers; what it raises is raised where it is reached."""
        try:
            return function(*args, **kwargs)
        except Raises as said:
            self.stand_at(said)
            self.i.reached(said)
            raise
        except TracebufError:
            raise
        except Exception as error:
            if (late := by_signal(error)) is not None:
                raise late  # noqa: B904
            self.stand_at(error)
            if not self.is_users(error):
                raise internal_error(error, self.i.r.loc) from error
            users = Raises(error)
            self.i.reached(users)
            try:
                raise users from None
            finally:
                del users  # a frame of its traceback that names it would keep the arguments

    def hooked(self, function: types.FunctionType) -> types.FunctionType:
        """A copy of the function whose globals and cells hold tracers."""
        lookup = self.i.global_lookup(function)
        code = function.__code__
        cells = []
        for name, cell in zip(code.co_freevars, function.__closure__ or ()):
            try:
                cells.append(types.CellType(self.run.wrap(lookup(name))))
            except Raises as said:
                if not isinstance(said.error, NameError):
                    raise
                # nothing is bound to it yet
                cells.append(types.CellType() if is_empty(cell) else cell)
        return types.FunctionType(code, Namespace(self.run, lookup), code.co_name, None, tuple(cells))

    def is_users(self, error: Exception) -> bool:
        """Whether a running function raised it: no frame of tracebuf follows its last one. A special attribute that a
        tracer lacks is asked for by Python, or by the function."""
        ours, trace = False, error.__traceback__
        if trace is not None and trace.tb_next is None:
            return True  # it does not take these arguments
        while trace is not None:
            space = trace.tb_frame.f_globals
            ours = not isinstance(space, Namespace) and (ours or str(space.get("__name__")).startswith("tracebuf."))
            if isinstance(space, Namespace):
                ours = False
            trace = trace.tb_next
        return not ours or error is self.run.lacking

    def stand_at(self, error: BaseException) -> None:
        """Makes the line at which a running function raised the current location."""
        trace = error.__traceback__
        while trace is not None:
            if isinstance(trace.tb_frame.f_globals, Namespace):
                self.i.r.at(place_of(trace.tb_frame.f_code, trace.tb_lasti))
            trace = trace.tb_next


def is_empty(cell: types.CellType) -> bool:
    """Whether nothing is bound to a closure cell."""
    try:
        return cell.cell_contents is None and False
    except ValueError:
        return True


@lru_cache(maxsize=512)
def refusal(code: types.CodeType, outer: frozenset[str]) -> tuple[str, str, Location] | None:
    """The first instruction whose effect tracers cannot observe, in a function or one inside it: reason, rewrite,
    place. `outer` are the names of the functions around it, to which stores would be lost."""
    before, found = None, None
    for i in dis.get_instructions(code):
        if i.opname in REFUSED:
            found = found or REFUSED[i.opname]
        elif i.opname == "IS_OP" and not never_traced(before):
            found = found or ("`is` between values", "compare with ==, or use isinstance")
        elif i.opname in ("STORE_DEREF", "DELETE_DEREF") and i.argval in outer:
            found = found or ("`nonlocal`", "return the value")
        if found is not None and i.positions is not None and i.positions.lineno is not None:
            return *found, place_of(code, i.offset)
        before = i
    inner = (refusal(c, outer) for c in code.co_consts if isinstance(c, types.CodeType))
    return next((f for f in inner if f is not None), None)


def never_traced(i: dis.Instruction | None) -> bool:
    """Whether an instruction loads None, `...` or a class: no number is one of these."""
    if i is None or i.opname.startswith("LOAD_CONST"):
        return i is not None and i.argval in (None, ...)
    return i.opname == "LOAD_GLOBAL" and isinstance(getattr(builtins, str(i.argval), None), type)


def check_code(code: types.CodeType) -> None:
    """Refuses a function whose code does what tracers cannot observe."""
    found = refusal(code, frozenset(code.co_freevars))
    if found is not None:
        reason, instead, place = found
        raise UnsupportedError(f"{reason} in a function whose source cannot be read", instead=instead, location=place)


def containers(x: Any, seen: ByIdentity[Any, None]) -> Iterator[Any]:
    """The lists, dicts, sets and cells that can be reached from a value."""
    if x in seen:
        return
    seen[x] = None
    if isinstance(x, (list, dict, set)) or (isinstance(x, types.CellType) and not is_empty(x)):
        yield x
    if isinstance(x, types.FunctionType):
        parts: Sequence[Any] = [*(x.__closure__ or ()), *(x.__defaults__ or ()), *(x.__kwdefaults__ or {}).values()]
    elif isinstance(x, (tuple, list, dict, set)):
        parts = list(x.values() if isinstance(x, dict) else x)
    elif isinstance(x, types.CellType) and not is_empty(x):
        parts = [x.cell_contents]
    else:
        return
    for part in parts:
        yield from containers(part, seen)


def contents(x: Any) -> list[Any]:
    """The current contents of a container or cell."""
    if isinstance(x, types.CellType):
        return [x.cell_contents]
    return [*x, *x.values()] if isinstance(x, dict) else list(x)


def changed(now: Sequence[Any], then: Sequence[Any]) -> bool:
    """Whether the contents of a container differ from an earlier copy."""
    return len(now) != len(then) or any(a is not b for a, b in zip(now, then))
