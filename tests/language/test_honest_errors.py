"""What a handler raises by mistake is InternalError with the user's line; only what the language raises is NumPy's."""

from __future__ import annotations

import ast
import functools
import operator
import pickle
import re
import threading
import warnings
from collections.abc import Callable
from pathlib import Path
from types import FunctionType
from typing import Any, NoReturn

import numpy as np
import pytest

import tracebuf
from tests.support.agreement import agree, program, refused
from tests.support.arrays import floats
from tests.support.params import one_in
from tests.support.second_package import ranked
from tests.support.syntax import tree_of
from tracebuf.backend.llvm import emit
from tracebuf.backend.runtime import compiled
from tracebuf.errors import InternalError, TracebufError, UnsupportedError
from tracebuf.frontends.numpy.arrays import reshape
from tracebuf.frontends.numpy.arrays.reshape import FlatIterator
from tracebuf.frontends.numpy.call.arguments import RunOriginal
from tracebuf.frontends.numpy.call.captures import NewCapture
from tracebuf.frontends.numpy.call.control import Control
from tracebuf.frontends.numpy.functions import extension, table
from tracebuf.frontends.numpy.interpreter import callables, dicts, statements
from tracebuf.frontends.numpy.numbers import rules
from tracebuf.frontends.numpy.paths import branches
from tracebuf.frontends.numpy.paths.iteration import Range
from tracebuf.frontends.numpy.paths.loops import trace as loop_trace
from tracebuf.frontends.numpy.record import growing, regions
from tracebuf.frontends.numpy.record.heap import Changed
from tracebuf.frontends.numpy.record.raises import DeadEnd, Raises, ask, internal_error, quiet
from tracebuf.frontends.numpy.record.recorder import Recorder
from tracebuf.frontends.numpy.record.values import PyInt
from tracebuf.location import UNKNOWN

FAULTS = (KeyError, TypeError, ValueError, AttributeError, IndexError, ZeroDivisionError, RuntimeError, AssertionError,
          OverflowError, NameError, StopIteration)  # fmt: skip
POSITIONS = {
    "in the open": "return {e}",
    "where a statement may raise before": "s = 1 // n\nreturn {e}, s",
    "under an if of data": "b = a\nif a[0] > 5:\n    b = {e}\nreturn b",
    "in an else": "if a[0] < 5:\n    b = a\nelse:\n    b = {e}\nreturn b",
    "in a conditional expression": "return {e} if a[0] > 5 else a",
    "in a loop": "b = a\nfor i in range(n):\n    b = {e}\nreturn b",
    "in a loop over items": "b = a\nfor k in (1, 2):\n    b = {e}\nreturn b",
    "in a while": "b = a\nwhile n > 0:\n    b = {e}\n    n -= 1\nreturn b",
    "in a comprehension": "return [{e} for _ in range(2)]",
    "in a generator": "return sum(({e})[0] for _ in range(2))",
    "in a function inside": "def g(a):\n    return {e}\nreturn g(a)",
    "in a lambda": "return (lambda a: {e})(a)",
    "in a try": "try:\n    b = {e}\nexcept Exception:\n    b = a\nreturn b",
    "in a bare try": "try:\n    b = {e}\nexcept:\n    b = a\nreturn b",
    "in a finally": "try:\n    b = a\nfinally:\n    b = {e}\nreturn b",
    "in a suppress": "b = a\nwith contextlib.suppress(Exception):\n    b = {e}\nreturn b",
    "in an argument": "return np.where(a > 1, {e}, a)",
    "in a store": "a[:] = {e}\nreturn a",
}


def written(position: str, expression: str) -> FunctionType:
    """The function of a position, with the expression in its place."""
    import contextlib

    lines = POSITIONS[position].replace("{e}", expression).split("\n")
    return program("def f(a, n):\n" + "\n".join("    " + line for line in lines), ranked=ranked, contextlib=contextlib)


def planted(kind: type[Exception]) -> Callable[..., NoReturn]:
    def broken_handler(first: Any, *args: Any, **kwargs: Any) -> NoReturn:
        raise kind("planted")

    return broken_handler


def check_named(error: InternalError, f: FunctionType, expression: str, kind: type[Exception], *named: str) -> None:
    """The message names the user's file and line, shows the line and the expression, and names the handler."""
    text = str(error)
    (line,) = [k for k, x in enumerate(program_text(f), 1) if expression in x]
    assert re.search(rf'File "{re.escape(f.__code__.co_filename)}", line {line}, in \S+', text), text
    assert expression in text and "^" in text and kind.__name__ in text and "planted" in text, text
    for name in named:
        assert name in text, text
    assert isinstance(error.__cause__, kind)


def program_text(f: FunctionType) -> list[str]:
    import linecache

    return linecache.getlines(f.__code__.co_filename)


@pytest.mark.parametrize("position", one_in(6, POSITIONS))
@pytest.mark.parametrize("kind", one_in(8, FAULTS))
def test_a_fault_of_a_handler_is_internal_everywhere(
    position: str, kind: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    """D2: whatever class it has, wherever it stands, under `fallback` too; nothing of it gets into a program."""
    monkeypatch.setitem(table.HANDLERS, np.flip, planted(kind))
    f = written(position, "np.flip(a)")
    for options in ({}, {"fallback": "numpy"}):
        with pytest.raises(InternalError) as seen:
            tracebuf.bufferize(**options)(f)(np.arange(1.0, 6.0), 3)
        check_named(seen.value, f, "np.flip(a)", kind, "broken_handler")


def of_method(monkeypatch: pytest.MonkeyPatch, broken: Callable[..., NoReturn]) -> str:
    monkeypatch.setitem(table.METHODS, "ravel", broken)
    return "a.ravel()"


def of_rule(monkeypatch: pytest.MonkeyPatch, broken: Callable[..., NoReturn]) -> str:
    monkeypatch.setitem(rules.RULES, np.add, dict.fromkeys("fiubc", broken))
    return "np.add(a, a)"


def of_operator(monkeypatch: pytest.MonkeyPatch, broken: Callable[..., NoReturn]) -> str:
    monkeypatch.setitem(rules.RULES, np.add, dict.fromkeys("fiubc", broken))
    return "(a + a)"


def of_recorder(monkeypatch: pytest.MonkeyPatch, broken: Callable[..., NoReturn]) -> str:
    monkeypatch.setattr(Recorder, "new_storage", broken)
    return "np.zeros(5)"


def deep_inside(monkeypatch: pytest.MonkeyPatch, broken: Callable[..., NoReturn]) -> str:
    monkeypatch.setattr(reshape, "k_order", broken)
    return "np.asarray(a, np.float32)"


def of_python(monkeypatch: pytest.MonkeyPatch, broken: Callable[..., NoReturn]) -> str:
    monkeypatch.setitem(callables.HANDLERS, callable, broken)
    return "(a if callable(np.sum) else a)"


def of_container(monkeypatch: pytest.MonkeyPatch, broken: Callable[..., NoReturn]) -> str:
    monkeypatch.setitem(dicts.DICT, "get", broken)
    return "{'x': a}.get('x')"


def of_formula(monkeypatch: pytest.MonkeyPatch, broken: Callable[..., NoReturn]) -> str:
    """Of a function of NumPy that is traced as Python; the line is the caller's."""
    monkeypatch.setitem(table.HANDLERS, np.sum, broken)
    return "np.nansum(a)"


PLANTED = (of_method, of_rule, of_operator, of_recorder, deep_inside, of_python, of_container, of_formula)


@pytest.mark.parametrize("position", one_in(6, POSITIONS))
@pytest.mark.parametrize("plant", PLANTED)
def test_a_fault_in_any_table_is_internal(
    plant: Callable[..., str], position: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    expression = plant(monkeypatch, planted(KeyError))
    f = written(position, expression)
    with pytest.raises(InternalError) as seen:
        tracebuf.bufferize(fallback="numpy")(f)(np.arange(1.0, 6.0), 3)
    check_named(seen.value, f, expression, KeyError, "broken_handler")


@pytest.mark.parametrize("kind", FAULTS)
def test_a_fault_of_a_handler_of_another_package_is_internal(
    kind: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(table.HANDLERS, ranked, table.HANDLERS[ranked])  # which is put back
    extension.traced_as(ranked)(planted(kind))
    for position in POSITIONS:
        f = written(position, "ranked(a)")
        with pytest.raises(InternalError) as seen:
            tracebuf.bufferize(fallback="numpy")(f)(np.arange(1.0, 6.0), 3)
        check_named(seen.value, f, "ranked(a)", kind, "broken_handler", "second_package.functions.ranked")


@pytest.mark.parametrize("kind", FAULTS)
def test_a_fault_under_a_function_that_is_run_on_tracers_is_internal(
    kind: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(table.HANDLERS, np.flip, planted(kind))
    monkeypatch.setitem(rules.RULES, np.add, dict.fromkeys("fiubc", planted(kind)))
    for e in ("np.flip(a)", "a + a", "[np.flip(a) for _ in range(2)][0]", "(lambda x: np.flip(x))(a)"):
        space: dict[str, Any] = {"np": np}
        exec(f"def f(a):\n    c = a * 1\n    b = {e}\n    return b", space)
        with pytest.raises(InternalError, match=r'(?s)File "<string>", line 3, in .*broken_handler.*planted') as seen:
            tracebuf.bufferize(fallback="numpy")(space["f"])(np.arange(5.0))
        assert isinstance(seen.value.__cause__, kind)


@pytest.mark.parametrize("head", ["if a[0] > 5:", "while n > 0:", "for i in range(n):"])
def test_a_fault_where_paths_meet_is_internal(head: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(branches, "narrow", planted(KeyError))
    monkeypatch.setattr(loop_trace, "attempt", planted(KeyError))
    f = program(f"def f(a, n):\n    {head}\n        a = a + 1\n        n -= 1\n    return a")
    with pytest.raises(InternalError) as seen:
        tracebuf.bufferize(fallback="numpy")(f)(np.arange(5.0), 3)
    assert f'File "{f.__code__.co_filename}", line 2, in f' in str(seen.value)
    assert head in str(seen.value) and "broken_handler" in str(seen.value)


def test_the_handler_is_named_where_the_fault_is_below_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reshape, "k_order", planted(KeyError))
    f = written("in the open", "np.asarray(a, np.float32)")
    with pytest.raises(InternalError) as seen:
        tracebuf.bufferize(f)(np.arange(5.0), 3)
    check_named(seen.value, f, "np.asarray(a, np.float32)", KeyError, "broken_handler",
                "of the handler tracebuf.frontends.numpy.arrays.reshape.as_array_function")  # fmt: skip


def test_a_fault_in_what_is_returned_is_internal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Behind the last statement: results and the certificate of what is stored."""
    from tracebuf.frontends.numpy.interpreter import trace

    monkeypatch.setattr(trace, "store_results", planted(ValueError))
    with pytest.raises(InternalError, match="planted"):
        tracebuf.bufferize(lambda a: a + 1)(np.arange(5.0))


def test_a_handler_that_takes_too_little_is_a_bug_below_and_a_type_error_at_the_call() -> None:
    """Only arguments that a handler itself does not take are the caller's TypeError."""

    def callee(x: Any) -> Any:
        return x

    def handler(t: extension.Tracing, x: Any) -> Any:
        return callee()  # type: ignore[call-arg]

    extension.traced_as(callee)(handler)
    try:
        for body in ("return callee(a)", "if a[0] > 5:\n        a = callee(a)\n    return a"):
            f = program(f"def f(a):\n    {body}", callee=callee)
            with pytest.raises(InternalError, match="handler"):
                tracebuf.bufferize(f)(np.ones(3))
            g = program(f"def f(a):\n    {body.replace('callee(a)', 'callee(a, a)')}", callee=callee)
            agree(g, np.full(3, 9.0))
    finally:
        del table.HANDLERS[callee]


# -- what the language raises

RAISING = {
    "(a + np.zeros(len(a) + 1))": ValueError, "a[len(a)]": IndexError, "{'x': a}['y']": KeyError,
    "np.flip(a, 3)": np.exceptions.AxisError, "(a + 'x')": TypeError, "a.nothing": AttributeError, "(1 // (n - n))":
    ZeroDivisionError, "np.zeros(-n)": ValueError, "nowhere": NameError, "np.zeros()": TypeError,
    "int('x')": ValueError, "[1, 2][5]": IndexError, "len(3)": TypeError, "a.reshape(7)": ValueError,
    "np.dtype('nope')": TypeError, "a.sum(dtype='nope')": TypeError, "np.add(a)": TypeError, "(-'x')": TypeError,
    "a.flip()": AttributeError, "sum(3)": TypeError, "isinstance(a, 3)": TypeError, "a @ np.ones(7)": ValueError,
}  # fmt: skip


@pytest.mark.parametrize("position", one_in(6, POSITIONS))
@pytest.mark.parametrize("expression", one_in(16, RAISING))
def test_what_the_language_raises_stays_numpys(position: str, expression: str) -> None:
    """Raised where eager raises it and as eager's class, or refused; caught where the function catches it."""
    f = written(position, expression)
    for first in (1.0, 9.0):
        with np.errstate(all="ignore"):
            try:
                agree(f, np.array([first, 2.0, 3.0]), 2)
            except UnsupportedError:  # as what a `try` may catch at run time is
                assert position != "in the open"


@pytest.mark.parametrize("kind", ["ValueError", "Exception", "(TypeError, ValueError)"])
def test_the_function_may_catch_what_numpy_raises(kind: str) -> None:
    f = program(f"""
        def f(a, b):
            try:
                c = a + b
            except {kind}:
                c = a
            return c
    """)
    agree(f, np.ones(3), np.ones(3))
    agree(f, np.ones(3), np.ones(4))


@pytest.mark.parametrize(
    "expression", one_in(10, (e for e, kind in RAISING.items() if kind is not AttributeError))
)
def test_what_the_language_raises_in_a_function_run_on_tracers(expression: str) -> None:
    space: dict[str, Any] = {"np": np}
    exec(f"def f(a, n):\n    return {expression}", space)
    agree(space["f"], np.array([1.0, 2.0, 3.0]), 2)


@pytest.mark.parametrize(
    "body",
    [
        "n @= a\nreturn n", "x = a[0]\nx @= a\nreturn x", "if a[0] > 9:\n    n @= a\nreturn n",
        "return functools.partial()", "return functools.partial(5)",
    ],
)  # fmt: skip
def test_odd_operands_and_calls_are_pythons(body: str) -> None:
    """Found by an attack: these were bugs of the tracer's own."""
    lines = "\n".join(f"    {line}" for line in body.splitlines())
    agree(program(f"def f(a, n):\n{lines}", functools=functools), np.array([1.0, 2.0, 3.0]), 2)


@pytest.mark.parametrize(
    "body",
    [
        "functools.reduce(lambda p: p, [a, a])", "tracebuf.fori_loop(0, n, lambda i: i, a)",
        "list(zip([a], [a, a], strict=True))", "a.__sub__(a, [])", "np.sum(**a)",
    ],
)  # fmt: skip
def test_what_python_asks_of_tracers_is_answered_as_it_expects(body: str) -> None:
    """Found by an attack: a call that does not take its arguments, a strict zip, `**x` of what is no mapping."""
    space: dict[str, Any] = {"np": np, "functools": functools, "tracebuf": tracebuf}
    exec(f"def f(a, n):\n    return {body}", space)
    agree(space["f"], np.array([1.0, 2.0, 3.0]), 2)


def test_a_host_function_made_while_running_on_tracers_is_refused() -> None:
    """It would run later, on tracers of a trace that is over."""
    space: dict[str, Any] = {"np": np, "tracebuf": tracebuf}
    exec("def f(a):\n    return tracebuf.host_call(lambda q: np.zeros(3) + missing, a, result_shape=3)", space)
    with pytest.raises(UnsupportedError, match="made in the traced function"):
        tracebuf.bufferize(space["f"])(np.ones(3))


def test_an_error_stands_where_it_is_raised() -> None:
    """In a lambda, and in a function that is called in a `try`: there, not where they are called."""
    in_lambda = program("""
        def f(a):
            g = lambda q: (q +
                q.missing)
            return a + g(a)
    """)
    with pytest.raises(AttributeError) as raised:
        tracebuf.bufferize(in_lambda)(np.ones(3))
    assert "q.missing" in raised.value.__notes__[0]
    in_try = program("""
        def f(a):
            def g(b):
                return int("x")
            try:
                c = g(a)
            finally:
                d = 1
            return c
    """)
    with pytest.raises(ValueError) as told:
        tracebuf.bufferize(in_try)(np.ones(3))
    assert 'int("x")' in told.value.__notes__[0]


def test_a_handler_of_another_package_says_what_is_raised() -> None:
    """`Tracing.fail`: where and when it is reached."""
    agree(program("def f(a):\n    return ranked(a)", ranked=ranked), np.array(2.0))
    late = program("def f(a, b):\n    if b[0] > 5:\n        return ranked(a)\n    return b", ranked=ranked)
    agree(late, np.array(2.0), np.array([9.0]))
    agree(late, np.array(2.0), np.array([1.0]))
    agree(program("def f(a):\n    return ranked(a, a)", ranked=ranked), np.array([2.0]))


# -- control flow of tracing


@pytest.mark.parametrize("kind", [Control, DeadEnd, Raises, Changed, NewCapture, RunOriginal])
def test_control_flow_is_no_exception(kind: type[BaseException]) -> None:
    assert issubclass(kind, Control) and not issubclass(kind, (Exception, TracebufError))


def test_control_flow_never_reaches_the_user() -> None:
    """Where the original function runs, f.trace says so as f.lower does."""
    odd = np.frombuffer(bytearray(41), np.int8)[1:].view(np.float64)
    f = tracebuf.bufferize(lambda a: a + 1)
    for question in (f.trace, f.lower, f.explain):
        with pytest.raises(UnsupportedError, match="run the original function"):
            question(odd)
    assert f.captured(odd) == [] and len(f(odd)) == 5 and f.call_counted(odd)[1] is None


def test_nothing_in_the_front_end_catches_every_exception() -> None:
    """Handlers are called in no `try` that takes what a bug raises: `except Exception` stands only where its exception
    becomes InternalError, around what an object, class or function of the user's answers (its repr, name, subclasses),
    or around a function of NumPy's that is asked what it raises."""
    root = Path(statements.__file__).parents[1]
    found = []
    for path in sorted(root.rglob("*.py")):
        for node in ast.walk(tree_of(path.resolve())):
            if isinstance(node, ast.ExceptHandler):
                caught = "" if node.type is None else ast.unparse(node.type)
                if caught in ("", "Exception", "BaseException") and "internal_error" not in ast.unparse(node):
                    found.append((path.relative_to(root).as_posix(), ast.unparse(node.body[0])))
    asked = ("record/judged.py", "if (late := by_signal(error)) is not None:\n    raise late")
    of_users = [
        ("call/arguments.py", "return f'<{type(x).__name__}>'"),
        ("call/encoding.py", "raise NotEncodable(f'a {type(x).__name__}, which raises {error!r}') from None"),
        (
            "call/provenance.py",
            "raise NotEncodable(f'a class that cannot say what its subclasses are: {error!r}') from None",
        ),
        ("call/watched.py", "from tracebuf.running.host import end_if_caught"),  # and raises it again
    ]
    assert found == [*of_users, asked]


def test_no_object_of_the_tracer_gets_to_numpy() -> None:
    """Whatever is asked of NumPy or Python goes through `ask`, which stops the tracer's own objects: none gets into a
    message."""
    for x in (PyInt(3), FlatIterator.__new__(FlatIterator), Range(0, 3, 1)):
        with pytest.raises(UnsupportedError, match="a value of the trace where add needs a known one"):
            ask(operator.add, x, 1)
    assert ask(operator.add, 1, 2) == 3


def test_what_is_asked_on_stand_ins_does_not_warn() -> None:
    """Their elements are not the call's: under `np.errstate(all="raise")` tracing would raise, and warn otherwise."""
    with np.errstate(all="raise"):
        assert np.isnan(ask(np.sqrt, -1.0)) and np.isinf(ask(operator.truediv, np.float64(1), 0))
        assert tracebuf.bufferize(program("def f(a): return a / np.sqrt(a - 2)"))(np.full(3, 3.0)).tolist() == [3.0] * 3
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert ask(float, np.complex128(2)) == 2.0 and np.isnan(ask(np.mean, np.zeros(0)))
        with pytest.raises(UserWarning):
            warnings.warn("mine", stacklevel=1)


def test_warnings_of_other_threads_are_kept() -> None:
    """What is asked is quiet in its own thread alone, and leaves the filters as they are."""
    inside, done = threading.Event(), threading.Event()

    def wait() -> None:
        inside.set()
        assert done.wait(60)

    thread = threading.Thread(target=ask, args=(wait,))
    thread.start()
    assert inside.wait(60)
    with pytest.warns(RuntimeWarning):
        np.float64(1) / np.float64(0)
    with quiet():
        warnings.warn("not seen", stacklevel=1)
        done.set()
        thread.join()
    with pytest.warns(UserWarning, match="seen"):
        warnings.warn("seen", stacklevel=1)
    with quiet():
        assert pickle.loads(pickle.dumps(warnings.filters)) == warnings.filters
    assert all(kept[1] is None or isinstance(kept[1], (str, re.Pattern)) for kept in warnings.filters)


@pytest.mark.slow
def test_types_in_messages_are_those_that_the_user_knows() -> None:
    """`type(x).__name__` in the text of an error is of a value that stands for the user's: else `name_of(x)`."""
    root = Path(statements.__file__).parents[1]
    found = []
    for path in sorted(root.rglob("*.py")):
        for node in ast.walk(tree_of(path.resolve())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Raises":
                for inner in ast.walk(node):
                    if isinstance(inner, ast.Call) and ast.unparse(inner.func) == "type":
                        what = ast.unparse(inner.args[0])
                        if not what.startswith(("concrete(", "stand_in(")):
                            found.append((path.relative_to(root).as_posix(), what))
    assert not found


OF_DTYPES = "dtype result_type can_cast promote_types finfo iinfo exceptions.AxisError errstate"
OF_NEW_ARRAYS = "empty ones zeros eye empty_like zeros_like array asarray ndarray broadcast_to int64"
AT_THE_CALL = (
    "argsort median moveaxis copyto may_share_memory shares_memory invert prod shape isscalar iterable seterr "
    "printoptions random.default_rng roots poly histogramdd histogram_bin_edges"
)
OF_STAND_INS = "arange floor swapaxes random.get_state random.set_state"


def test_what_is_asked_of_numpy_goes_through_one_door() -> None:
    """Handlers call NumPy's functions by `ask`; themselves only those of dtypes, those that make an example, and those
    of plain values or of the arrays of a call."""
    allowed = set(f"{OF_DTYPES} {OF_NEW_ARRAYS} {AT_THE_CALL}".split())
    root = Path(statements.__file__).parents[1]
    found = set()
    for path in root.rglob("*.py"):
        if path.name == "prelude.py" or (path.parent.name == "formulas" and path.name != "primitives.py"):
            continue  # which are traced
        for node in ast.walk(tree_of(path.resolve())):
            if isinstance(node, ast.Call) and re.fullmatch(r"(np|operator)(\.\w+)+", name := ast.unparse(node.func)):
                found.add((path.relative_to(root).as_posix(), name.partition(".")[2]))
    made = {("functions/host/stand_ins.py", name) for name in OF_STAND_INS.split()}
    beyond = {x for x in found if x[1] not in allowed} - {("record/judged.py", "methodcaller")} - made
    assert not beyond, f"by `ask`: {beyond}"


@pytest.mark.parametrize("fault", [KeyError, AttributeError, RuntimeError])
def test_a_fault_of_the_back_end_is_internal(fault: type[Exception], monkeypatch: pytest.MonkeyPatch) -> None:
    """It looked like an exception of the user's function."""

    def broken(*_: Any, **__: Any) -> NoReturn:
        raise fault("by mistake")

    monkeypatch.setattr(emit, "emit_kernel", broken)
    f = tracebuf.bufferize(lambda a: a + 1)
    with pytest.raises(InternalError, match=f"a bug of tracebuf: {fault.__name__} in"):
        f.lower(np.ones(3)).as_text("llvm")
    monkeypatch.setattr(compiled, "kernel_of", broken)
    with pytest.raises(InternalError, match=f"a bug of tracebuf: {fault.__name__} in"):
        f(np.ones(3))


def many_ways(v, w):
    x, a, b, z, h = v[0], list(v), list(v), v * 2, [w.copy()]
    if x > 0 and len(b) < 9:
        a[-1] = a[0]
        h.append(z)
    for _ in reversed(b[:9]):
        for _ in reversed(b[:9]):
            for _ in list(a[:9]):
                h.append(h[-1] * 0.5)
                h.pop()
            h.append(v.copy())


@pytest.mark.parametrize(("module", "kind"), [("paths.joins", UnsupportedError), ("numbers.rules", InternalError)])
def test_values_of_too_many_paths_are_refused(module: str, kind: type[Exception]) -> None:
    """What walks through what a value may be meets Python's limit of recursion; any other such fault is internal."""
    names: dict[str, Any] = {"__name__": f"tracebuf.frontends.numpy.{module}"}
    exec("def walk(x):\n    return walk(x)", names)
    with pytest.raises(RecursionError) as met:
        names["walk"](0)
    made = internal_error(met.value, UNKNOWN)
    assert type(made) is kind and ("too many paths" in str(made)) is (kind is UnsupportedError)


@pytest.mark.slow
def test_values_of_many_paths() -> None:
    """What walks through what a value may be met Python's limit of recursion."""
    agree(many_ways, np.ones(7), np.ones(7))


def test_tracing_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """Loops that are unrolled in one another may take too many operations to be traced in any time."""
    monkeypatch.setattr(regions, "MOST_RECORDED", 10)
    with pytest.raises(UnsupportedError, match=r"tracing takes more than .* operations"):
        tracebuf.bufferize(lambda a: np.sort(a) * 2 + np.cumsum(a)[::-1].sum() - a.std())(np.ones(12))


@pytest.mark.slow
def test_tracing_has_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """Attempts at loops inside one another multiply: this one was traced for minutes."""
    monkeypatch.setattr(growing, "MOST_LOST", 6000)
    f = program("""
def f(v, w):
    a, b, s = [0.0], list(v), [1]
    for x, t in zip(b[:5], b[1:]):
        a.clear()
        for x in v:
            a = (b + a)[:9]
            for x in v:
                a.extend(w)
                a = (b + a)[:9]
            while s:
                a.append(sum(b))
                x = v[s.pop() % 7]
    b = a
    return np.array(b).sum(), len(a)
""")
    error = refused(f, floats(7), floats(7))
    assert "tracing takes too long" in error.reason and error.location is not None
