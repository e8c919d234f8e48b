"""Code that talks: `print`, `warnings.warn`, loggers, `np.testing`, clocks, `sys.stdout`. Each call becomes a host call
with patterns for arguments (call/talk.py): it is made each time that the program comes there, in program order, with
the values of then.

Progress bars around loops are such calls: `tqdm(range(n))` is traced as a loop over what the bar is around; the calls
make the bar, say that the next item's turn has come, and end it (call/progress.py).
"""

from __future__ import annotations

import ast
import logging
import math
import sys
import time
import types
import warnings
from collections.abc import Callable, Sequence
from inspect import signature
from typing import Any

import numpy as np

from tracebuf.frontends.numpy.arrays.indexing import int_of
from tracebuf.frontends.numpy.arrays.memmaps import check_shown
from tracebuf.frontends.numpy.call import progress, talk
from tracebuf.frontends.numpy.call.containers import is_named_tuple
from tracebuf.frontends.numpy.functions.formulas import prelude
from tracebuf.frontends.numpy.functions.host.calls import record
from tracebuf.frontends.numpy.interpreter import texts
from tracebuf.frontends.numpy.interpreter.evaluator import Evaluator
from tracebuf.frontends.numpy.interpreter.protected import LASTING
from tracebuf.frontends.numpy.paths.iteration import Items, OneShotIterator, Range, length
from tracebuf.frontends.numpy.record import refusals
from tracebuf.frontends.numpy.record.callees import Made, Part, Partial, Progress, Text, Untold, shown_label
from tracebuf.frontends.numpy.record.cond import Cond
from tracebuf.frontends.numpy.record.growing import is_growing
from tracebuf.frontends.numpy.record.heap import Record, TextItem, is_label
from tracebuf.frontends.numpy.record.raises import Raises, ask, bind, call_as, is_tracers
from tracebuf.frontends.numpy.record.scalar_checks import check_origin
from tracebuf.frontends.numpy.record.values import (
    NUMBERS,
    PYTHON_TYPES,
    UNSURE_TYPES,
    ArrayRef,
    NpScalar,
    PyBool,
    PyFloat,
    PyInt,
    Scalar,
    is_traced,
)
from tracebuf.frozen import frozen
from tracebuf.ir.core import Value
from tracebuf.ir.types import F64, I1, I64, ScalarType
from tracebuf.running.host import HostFunction, Passed
from tracebuf.running.kept import keep_rope, keep_text, kept, kept_as_it_is

LEVELS = {"debug": logging.DEBUG, "info": logging.INFO, "warning": logging.WARNING, "error": logging.ERROR,
          "critical": logging.CRITICAL}  # fmt: skip
"""By name of a method of loggers, and of a function of `logging`: the level of its records."""
TESTING = frozenset(
    f"assert_{name}"
    for name in ("allclose", "array_equal", "equal", "almost_equal", "array_almost_equal", "array_less", "approx_equal",
                 "array_max_ulp", "", "array_almost_equal_nulp")
)  # fmt: skip
"""The functions of `np.testing` that are called at run time."""
CLOCKS = {time.time: F64, time.perf_counter: F64, time.monotonic: F64, time.process_time: F64, time.thread_time: F64,
          time.time_ns: I64, time.perf_counter_ns: I64, time.monotonic_ns: I64, time.process_time_ns: I64,
          time.thread_time_ns: I64}  # fmt: skip
"""By clock: the dtype of what it gives."""

OF_BARS = (
    "set_description", "set_description_str", "set_postfix", "set_postfix_str", "refresh", "update",
    "close", "clear",
)
"""Methods of a bar whose results nobody uses."""
GO_THROUGH = (enumerate, zip, list, tuple, sum, map, filter, sorted, min, max, any, all, iter, set, np.fromiter)
"""What goes through the items of a bar otherwise than a loop."""
FORM = "for x in tqdm(range(n)), or an array, list or tuple in the place of the range"


def call(i: Evaluator, node: ast.AST, function: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
    """The result of a call that talks, or the progress bar that a call makes; NotImplemented for other callees."""
    if not talks(function):
        return make_bar(i, node, function, args, kwargs)
    if is_assertion(function):
        return say(i, node, function, args, kwargs)
    if (element := CLOCKS.get(function)) is not None and not args and not kwargs:
        return say(i, node, function, [], {}, element)
    return call_as(function, HANDLERS[function], (i, node), args, kwargs) if function in HANDLERS else NotImplemented


def talks(function: Any) -> bool:
    """Whether a callee talks."""
    if is_tracers(function) or not callable(function) or type(function).__hash__ is None:
        return False
    return function in HANDLERS or function in CLOCKS or is_assertion(function)


def is_assertion(function: Any) -> bool:
    """Whether a callee is one of NumPy's in `np.testing`, which takes long to import, and is where it is called."""
    if not isinstance(function, types.FunctionType) or function.__name__ not in TESTING:
        return False
    there = getattr(sys.modules.get("numpy.testing"), function.__name__, None)
    return there is function and (function.__module__ or "").startswith("numpy.testing")


def attribute(base: Any, name: str) -> Any:
    """A method of a logger, a bar or one of Python's streams, or such a stream; NotImplemented for anything else."""
    if base is sys and name in ("stdout", "stderr"):
        return talk.Stream(name)
    if isinstance(base, talk.Stream) and name in ("write", "flush"):
        return Partial(talk.write_to if name == "write" else talk.flush, (base,), {})
    if type(base) in (logging.Logger, logging.RootLogger) and name not in vars(base):
        found = getattr(logging.Logger, name, None)
        if found in HANDLERS:
            return Partial(found, (base,), {})
    known = isinstance(base, Progress) and name in OF_BARS
    return Partial(progress.tell, (base, name), {}) if known else NotImplemented


# -- what is recorded
def say(
    i: Evaluator, node: ast.AST, function: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any],
    element: ScalarType | None = None,
) -> Any:  # fmt: skip
    """Records a call on the values of its arguments; its result is None, or a number of Python's of an element type."""
    ins: list[Value] = []
    given = tuple(value(i, node, x, ins) for x in (*args, *kwargs.values()))
    module, name = function.__module__, function.__qualname__
    where = name if module in (None, "builtins") else f"{module}.{name}"
    run = talk.Talk(function, given, tuple(kwargs))
    made = record(i.r, HostFunction(where, run, may_keep=True), ins, [] if element is None else [(element, (), ())])
    if element is None:
        return None
    found = i.r.load(made[0], ())
    return PyFloat(found) if element is F64 else PyBool(found) if element is I1 else PyInt(int_of(i.r, found))


def keep(i: Evaluator, text: Text, taken: Sequence[tuple[Value, int]]) -> PyInt:
    """Records that a text is made and kept, if a path is taken; its number. It is a result of the function."""
    chosen: Any = text
    for condition, k in reversed(taken):
        chosen = Cond(condition, *((chosen, None) if k == 0 else (None, chosen)))
    number: PyInt = say(i, ast.Pass(), keep_text, [chosen], {}, I64)
    return number


@frozen(eq=False)
class OfLoop:
    """A text that a loop adds to, as an argument."""

    text: Any


def keep_of_loop(i: Evaluator, text: Any) -> PyInt:
    """Records that a text is kept which a loop adds to: in parts, of which one is the text of before."""
    number: PyInt = say(i, ast.Pass(), keep_rope, [OfLoop(text)], {}, I64)
    return number


def value(i: Evaluator, node: ast.AST, x: Any, ins: list[Value]) -> Any:
    """The pattern of an argument, whose operands are appended to `ins`."""
    if isinstance(x, Scalar):
        return number(i, x, ins)
    if type(x) is Cond:
        ins.append(x.condition)
        return talk.Chosen(len(ins) - 1, tuple(value(i, node, arm, ins) for arm in x.arms))
    if isinstance(x, ArrayRef):
        check_shown(i.r)
        ins.append(i.r.read(x))
        return Passed(len(ins) - 1)
    if isinstance(x, OfLoop):
        return roped(i, node, x.text, ins)
    if isinstance(x, Text):
        return talk.Written(tuple(p if isinstance(p, str) else part(i, node, p, ins) for p in x.parts))
    if type(x) in (tuple, list):
        return type(x)([value(i, node, item, ins) for item in x])
    if type(x) is dict:
        return talk.Mapped(tuple((value(i, node, k, ins), value(i, node, v, ins)) for k, v in x.items()))
    if is_label(x) and x.kind is TextItem:
        x = shown_label(x)
    if isinstance(x, Untold) and x.recipe is None:
        x = Made(kept, (x.number,), {})
    if isinstance(x, Made):
        given = tuple(value(i, node, v, ins) for v in (*x.args, *x.kwargs.values()))
        return talk.Applied(x.function, given, tuple(x.kwargs))
    if isinstance(x, talk.OldSetting):
        return talk.OldSetting(value(i, node, x.number, ins), x.place)
    if isinstance(x, (talk.Stream, talk.Place, talk.Rows)):
        return x
    if is_tracers(x) or is_named_tuple(x) or isinstance(x, (set, frozenset, bytearray)):
        raise i.refuse(node, f"a {refusals.name_of(x)} is passed to a function that is not traced", "pass its parts")
    return x


def roped(i: Evaluator, node: ast.AST, x: Any, ins: list[Value]) -> Any:
    """The pattern of a text that a loop adds to."""
    if isinstance(x, str):
        return x
    if type(x) is Cond:
        ins.append(x.condition)
        return talk.Chosen(len(ins) - 1, tuple(roped(i, node, arm, ins) for arm in x.arms))
    if isinstance(x, Text):
        return talk.Roped(tuple(roped(i, node, p, ins) for p in x.parts))
    made = x.value
    if x.conversion or x.spec or not isinstance(made, (Text, Cond, Made)):
        return part(i, node, x, ins)
    if not isinstance(made, Made):
        return roped(i, node, made, ins)
    if made.function is kept:
        return talk.Applied(kept_as_it_is, (value(i, node, made.args[0], ins),), ())
    return part(i, node, x, ins)


def part(i: Evaluator, node: ast.AST, p: Part, ins: list[Value]) -> talk.Formatted:
    """The pattern of a part of a text."""
    if p.value is None:
        raise i.refuse(node, "the text of an object that names its address", "show its attributes")
    return talk.Formatted(value(i, node, p.value, ins), p.conversion, p.spec)


def number(i: Evaluator, x: Scalar, ins: list[Value]) -> Any:
    """The pattern of a number."""
    ins.append(texts.number_value(i.r, x))
    place = len(ins) - 1
    if isinstance(x, NpScalar) and x.python is not None:
        kinds = UNSURE_TYPES[x.python.kind]
        if len(kinds) > 1:
            check_origin(i.r, x)
        ins.append(x.python.flag)
        return talk.Weak(place, place + 1, kinds[0])
    return Passed(place, PYTHON_TYPES.get(type(x)))


def shown(i: Evaluator, node: ast.AST, x: Any) -> Any:
    """What is passed for an argument that is shown as `str` does: of what the trace made, its text."""
    if type(x) is Cond:
        return x.map(lambda arm: shown(i, node, arm))
    if isinstance(x, ArrayRef) and i.r.printing:
        return texts.text_of(i, node, x)
    if is_traced(x) or isinstance(x, (Text, talk.Stream)):
        return x
    made_here = is_tracers(x) or isinstance(x, (tuple, list, dict, set, frozenset, Record))
    return texts.joined_text([texts.text_of(i, node, x)]) if made_here else x


def place(i: Evaluator, node: ast.AST, level: Any) -> talk.Place:
    """Where a call stands that names its line: its own for the level 1, that of its caller for the level 2 ..."""
    if isinstance(level, PyInt):
        level = i.r.static_int(level.expr, "the stack level")
    line, level = i.r.loc.line, max(1, level)
    for scope in reversed(i.scopes):
        names = scope.names
        if names is None or str(names.get("__name__")).partition(".")[0] == "tracebuf":
            continue  # a function of the tracer's own, which eager does not have
        if level == 1:
            module = str(names.get("__name__"))
            imported = vars(sys.modules[module]) is names if module in sys.modules else False
            return talk.Place(scope.source.file, line, scope.name, module, None if imported else talk.Names(names))
        level -= 1
        line = scope.called.line
    if not i.scopes:
        raise i.refuse(node, "a call that names its line, in a function without source", "define it in a file")
    return talk.Place("", 0, "", "", None, level)


# -- progress bars
def make_bar(i: Evaluator, node: ast.AST, function: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
    """The bar that a call makes; NotImplemented for other callees."""
    if function is progress.tell:
        return tell_bar(i, node, args, kwargs)
    if function in (progress.advance, progress.end):
        return say(i, node, function, [args[0].number, *args[1:]], {})
    kind = progress.bar_of(function)
    if kind is None:
        return NotImplemented
    if kind is not function:
        args = [i.call(node, range, args, {})]
    over, rest = kwargs.pop("iterable", None) if not args else args[0], args[1:]
    if over is None:
        return Progress(None, say(i, node, progress.begin_alone, [kind, *args], kwargs, I64))
    it, once = i.iterable(node, over), isinstance(over, OneShotIterator)
    if not isinstance(it, (list, Range, Items)):
        raise i.refuse(node, "a progress bar around an iterator", FORM)
    count = length(i.r, it)
    number = count if isinstance(count, int) else PyInt(count)
    number_of_it = say(i, node, progress.begin, [kind, not once, number, *rest], kwargs, I64)
    return Progress(it if once else over, number_of_it)


def tell_bar(i: Evaluator, node: ast.AST, args: list[Any], kwargs: dict[str, Any]) -> None:
    """A call of a method of a bar."""
    bar, name, *rest = args
    if not i.r.in_scope(bar.number.expr) or (bar in i.ended_bars and name != "close"):
        raise i.refuse(node, f"`{name}` of a progress bar after its loop", "call it in the loop")
    say(i, node, progress.tell, [bar.number, name, *rest], kwargs)


def begin_loop(i: Evaluator, node: ast.AST, bar: Progress) -> Any:
    """What a loop over a bar iterates over."""
    if bar.over is None or not i.r.in_scope(bar.number.expr) or any(bar is b for _, b in i.bars) or bar in i.ended_bars:
        raise i.refuse(node, "a progress bar that is around nothing, or is made elsewhere", FORM)
    return bar.over


def along(i: Evaluator, node: ast.AST, x: Any) -> Any:
    """A value; a generator of its items in the place of a bar, for what goes through these otherwise than a `for`."""
    if not isinstance(x, Progress):
        return x
    it = i.iterable(node, begin_loop(i, node, x))
    i.ended_bars[x] = None
    return i.call_function(prelude.along_bar, [x, it if isinstance(it, list) else x.over], {})


def advance(i: Evaluator, node: ast.For) -> None:
    """Says that the next item's turn has come in a loop, if it is one over a bar."""
    if i.bars and i.bars[-1][0] is node:
        say(i, node, progress.advance, [i.bars[-1][1].number], {})


def end_loop(i: Evaluator, node: ast.AST, whole: Callable[[], bool | PyBool]) -> None:
    """Ends the bar of a loop, if it is one over a bar; `whole`: whether the loop went through all items."""
    if i.bars and i.bars[-1][0] is node:
        i.ended_bars[i.bars[-1][1]] = None
        say(i, node, progress.end, [i.bars[-1][1].number, whole()], {})


# -- handlers
def print_(i: Evaluator, node: ast.AST, *args: Any, **kwargs: Any) -> None:
    """print(...)."""
    if bad := kwargs.keys() - {"sep", "end", "file", "flush"}:
        raise Raises(TypeError(f"'{min(bad)}' is an invalid keyword argument for print()"))
    say(i, node, print, [shown(i, node, x) for x in args], kwargs)


def warn(
    i: Evaluator, node: ast.AST, message: Any, category: Any = None, stacklevel: Any = 1, source: Any = None
) -> None:
    """warnings.warn(...)."""
    say(i, node, talk.warn_at, [place(i, node, stacklevel), message, category, source], {})


def log(i: Evaluator, node: ast.AST, logger: Any, level: Any, message: Any, *args: Any, **kwargs: Any) -> None:
    """logger.log(...); without a logger, logging.log(...)."""
    stacklevel = kwargs.pop("stacklevel", 1)
    if isinstance(level, PyInt):
        level = i.r.static_int(level.expr, "the level of a record")
    if type(level) is not int or any(kwargs.values()) or not kwargs.keys() <= {"exc_info", "extra", "stack_info"}:
        raise i.refuse(node, "a log call with exc_info=, extra= or stack_info=", "leave them out")
    args = tuple(shown(i, node, x) if isinstance(x, Record) or is_named_tuple(x) else x for x in args)
    at = place(i, node, stacklevel)
    first = [at, level] if logger is None else [at, logger, level]
    say(i, node, talk.log_to_root if logger is None else talk.log_at, [*first, shown(i, node, message), *args], {})


def at_level(level: int, root: bool) -> Callable[..., None]:
    """The handler of a method of loggers, or of a function of `logging` (`root`)."""

    def handler(i: Evaluator, node: ast.AST, *args: Any, **kwargs: Any) -> None:
        logger, *rest = (None, *args) if root else args
        log(i, node, logger, level, *rest, **kwargs)

    return handler


def get_logger(i: Evaluator, node: ast.AST, name: Any = None) -> Any:
    """logging.getLogger(name): there is one logger of a name in a process."""
    texts.check_known(i.r, name)
    found = ask(logging.getLogger, name)
    i.constants[found] = None
    return found


def set_filter(i: Evaluator, node: ast.AST, function: Callable[..., None], *args: Any, **kwargs: Any) -> None:
    """warnings.simplefilter(...) or filterwarnings(...): inside of `with warnings.catch_warnings()`, of the calls that
    stand there; else it is a call like any other."""
    if any(map(is_tracers, i.flat([*args, *kwargs.values()]))):
        raise i.refuse(node, "a filter of warnings that only the run time knows", "use constants")
    bound = bind(signature(function), args, kwargs)
    bound.apply_defaults()
    ask(entered_once, function, bound.args)
    given = bound.arguments
    if given["action"] == "error" and issubclass(RuntimeWarning, given["category"]) and not given.get("message"):
        reason = "a filter that makes errors of RuntimeWarnings: compiled code does not look at floating-point errors"
        raise i.refuse(node, reason, "test for it: if not np.isfinite(x).all(), or name another category")
    if not i.r.filters:
        say(i, node, function, bound.args, {})
        return
    begun, filters = i.r.filters[-1]
    if begun is not i.r.frame:
        raise i.refuse(node, "a filter of warnings that is set on some paths only", "set it where the `with` begins")
    if given["action"] not in LASTING:
        raise i.refuse(node, f'the filter "{given["action"]}" of warnings', 'use "ignore", "always" or "error"')
    filters.append(talk.Filter(function, bound.args))


def set_errors(i: Evaluator, node: ast.AST, **kwargs: Any) -> Any:
    """np.seterr(...): the settings are Python's and NumPy's; compiled code looks at no floating-point errors."""
    if i.r.errstates:
        raise i.refuse(node, "np.seterr or np.geterr inside of `with np.errstate(...)`", "call it outside of it")
    known = {k: x for k, x in kwargs.items() if not isinstance(x, talk.OldSetting)}
    for x in known.values():
        if not (x is None or x in ("ignore", "warn")):
            reason = "np.seterr with anything but ignore and warn: compiled code does not look at floating-point errors"
            raise i.refuse(node, reason, "test for it: if not np.isfinite(x).all()")
    if not all(k in ("all", *talk.ERRORS) for k in kwargs):
        raise i.refuse(node, "np.seterr of something else than errors of floating-point numbers", "leave it out")
    for x in kwargs.values():
        if isinstance(x, talk.OldSetting) and not i.r.in_scope(x.number.expr):
            raise i.refuse(node, "settings that were taken on some paths only", "take them where they are set again")
    number = say(i, node, talk.set_errors, [], kwargs, I64)
    return i.own({name: talk.OldSetting(number, k) for k, name in enumerate(talk.ERRORS)})


def fsum(i: Evaluator, node: ast.AST, x: Any) -> Any:
    """math.fsum(x): Python's own, which rounds once."""
    items = i.flat([x])
    if not any(map(is_tracers, items)):
        return ask(math.fsum, x)
    if is_growing(x) or not all(isinstance(y, (ArrayRef, Scalar, *NUMBERS)) for y in items):
        raise i.refuse(node, "math.fsum of this", "math.fsum of an array, or a list of numbers")
    return say(i, node, math.fsum, [x], {}, F64)


def entered_once(function: Callable[..., None], args: Sequence[Any]) -> None:
    """Sets a filter, and forgets it: what Python raises for it."""
    with warnings.catch_warnings():
        function(*args)


HANDLERS: dict[Any, Callable[..., Any]] = {
    print: print_,
    warnings.warn: warn,
    warnings.simplefilter: lambda i, node, *args, **kwargs: set_filter(i, node, warnings.simplefilter, *args, **kwargs),
    warnings.filterwarnings: lambda i, node, *args, **kwargs: set_filter(
        i, node, warnings.filterwarnings, *args, **kwargs
    ),
    np.seterr: set_errors,
    np.geterr: lambda i, node: set_errors(i, node),
    math.fsum: fsum,
    logging.getLogger: get_logger,
    logging.Logger.log: log,
    logging.log: lambda i, node, *args, **kwargs: log(i, node, None, *args, **kwargs),
    logging.Logger.isEnabledFor: lambda i, node, *args: say(i, node, logging.Logger.isEnabledFor, args, {}, I1),
    **{getattr(logging.Logger, name): at_level(level, False) for name, level in LEVELS.items()},
    **{getattr(logging, name): at_level(level, True) for name, level in LEVELS.items()},
    talk.write_to: lambda i, node, stream, text: say(i, node, talk.write_to, [stream, text], {}, I64),
    talk.flush: lambda i, node, stream: say(i, node, talk.flush, [stream], {}),
    time.sleep: lambda i, node, seconds: say(i, node, time.sleep, [seconds], {}),
}
"""By callee: its handler, whose first arguments are the interpreter and the node."""
