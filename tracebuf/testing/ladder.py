"""The ladder: one program on eager NumPy, the tensor interpreter, the memref interpreter, as Python (`backend.numba`),
and as native code, all with equal results.

Why: a difference is caught at the first rung that has it, which says where the bug is: in tracing (tensor, raw), in a
tensor pass (tensor, optimised), in an analysis, the rewrite or the frees (memref, by strategy), or in code generation
(Python, native). Compared are values, dtypes, shapes, the order and signs of strides, Python types, identity, what the
arguments hold afterwards, what shares memory with what, and the class of an exception (rules C1 to C3). Native
allocations and copies must not exceed eager's allocations (rule S2). A further call with other sizes goes through the
same compiled function.

Not compared: times; the number of eager's copies, which cannot be observed. Rule C4 says that a slice store copies its
source first where they overlap, so the eager side is the program with each such source copied (`copy_first`).
"""

from __future__ import annotations

import ast
import inspect
import itertools
import math
import re
import textwrap
import types
import warnings
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field, replace
from functools import partial, partialmethod
from typing import Any
from unittest import mock

import numpy as np

from tracebuf import pipeline
from tracebuf.api import BufferizedFunction, Specialization, bufferize
from tracebuf.backend.numba.module import Module, module_of
from tracebuf.errors import InternalError, TracebufError, UnsupportedError
from tracebuf.frontends.numpy.call.arguments import RunOriginal, StaticKey
from tracebuf.frontends.numpy.call.call import Call
from tracebuf.frontends.numpy.call.captures import WHOLE, Hidden, values_of
from tracebuf.frontends.numpy.call.conditions import Conditions
from tracebuf.frontends.numpy.call.flatten import is_object
from tracebuf.frontends.numpy.call.results import ChosenResult, NewContainer, build_results
from tracebuf.frontends.numpy.interpreter.trace import Traced
from tracebuf.frozen import frozen
from tracebuf.interpret import memref, tensor
from tracebuf.ir.clone import clone_func
from tracebuf.ir.func import Func
from tracebuf.measure import attributes_of, clone_arguments, kept_in_place, restored
from tracebuf.ops.arrays.host import HostCall
from tracebuf.ops.scalars import casts
from tracebuf.options import Options, Tier
from tracebuf.running.host import HostFunction
from tracebuf.stages import Bufferized
from tracebuf.testing import guard

__all__ = ["STRATEGIES", "Mismatch", "climb", "copy_first"]

Array = np.ndarray[Any, np.dtype[Any]]

STRATEGIES: tuple[Options, ...] = (
    Options(verify=True),
    Options(heuristic="top-down"),
    Options(heuristic="bottom-up-from-terminators"),
    Options(heuristic="insert-slice-first"),
    Options(heuristic="fuzzer", seed=1),
    Options(heuristic="fuzzer", seed=2),
    Options(strategy="optimal"),
    Options(strategy="copy-before-write"),
)
TIER: Tier = "fast"
"""The tier of the native rung's code. The repository's tests have half of the ladders end in the quick one's."""


class Mismatch(AssertionError):
    """A rung that differs from eager NumPy. Attributes: `rung`, `what` differs, the program's `source`; of a value that
    differs its `place` (of `places`) and the two `values`, eager's first."""

    place: int | str | None = None
    values: tuple[Any, Any] | None = None

    def __init__(self, rung: str, what: str, source: str) -> None:
        self.rung, self.what, self.source = rung, what, source
        super().__init__(f"{rung}: {what}\n{source}")


@frozen(slots=False)
class Outcome:
    """What a call did: its result or the error it raised, and the arguments afterwards."""

    args: Sequence[Any]
    result: Any = None
    error: Exception | None = None
    beyond: bool = False
    """NumPy has converted a float beyond an integer's range."""
    variants: tuple[Outcome, ...] = ()
    """What the traced program does, and what it does where floats beyond a uint32 become other ones."""


@frozen(slots=False)
class Rules:
    """How strictly outcomes are compared."""

    tolerance: float
    sharing: bool = True
    order_is_open: Callable[[], bool] = lambda: False
    """Whether the order of axes may be another (`Traced.order_is_open`)."""
    stored: frozenset[int] | None = field(default=None)
    """Arguments that may be stored to, unspecified after a raise (rule C3); None: not known, so all may be."""
    donated: frozenset[int] = frozenset()
    """Arguments whose contents afterwards, and what shares their memory, are not compared."""
    least: float = 1.0
    """The least magnitude that the tolerance is relative to."""


def climb(
    function: Callable[..., Any],
    args: Sequence[Any],
    *,
    alike: Sequence[Sequence[Any]] = (),
    again: Sequence[Sequence[Any]] = (),
    strategies: Sequence[Options] = STRATEGIES,
    tolerance: float = 0.0,
    donate: Sequence[str] = (),
    quick: bool = False,
    interpreted: bool = True,
) -> BufferizedFunction:
    """Checks a function on every rung of the ladder against eager NumPy.

    Args:
        function: a Python function whose source can be read.
        args: the arguments; each rung gets clones of them.
        alike: further tuples of arguments with the same types and sizes, for every rung.
        again: further tuples of arguments (other sizes), for the compiled function only.
        strategies: the ways to bufferize that the memref interpreter tries.
        tolerance: 0 for equal bits (NaN equals NaN); else the largest difference relative to the largest magnitude, for
            programs in float64 alone (those with float32 in them get 10 000 times more).
        donate: names of parameters that may be overwritten.
        quick: whether the quick tier's code is a rung too, beside the fast one's.
        interpreted: whether the interpreters are rungs too; they take a hundred times as long as eager.

    Returns the bufferized function, so that the compiled program can be inspected. Raises Mismatch, naming the rung,
    where one differs or fails with an InternalError or an unexpected error; UnsupportedError where the program is
    outside the language.

    >>> def shifted(a):
    ...     a[1:] = a[:-1]
    ...     return a.sum()
    >>> climb(shifted, (np.arange(4.0),), again=[(np.arange(9.0),)])
    <bufferized shifted>
    """
    assert isinstance(function, types.FunctionType)
    source = source_of(function)
    args = with_defaults(function, args)
    alike, again = ([with_defaults(function, values) for values in calls] for calls in (alike, again))
    f = bufferize(donate_optional=donate, tier="fast" if quick else TIER)(function)
    assert isinstance(f, BufferizedFunction)
    traced = traced_call(f, args, source)
    captured = captured_arrays(traced[0]) if isinstance(traced, tuple) else []
    named = [x for x in arrays_named(function) if not any(x is y for y in captured)]  # met by other calls, perhaps
    reference, of_others = (reference_of(function, arrays) for arrays in (captured, [*captured, *named]))
    alike = [(*values, *captured) for values in [args, *alike]]
    again = [(*values, *captured, *named) for values in again]
    args = alike[0]
    parts = parts_of_calls(f, args, traced[0].hidden if isinstance(traced, tuple) else ())
    tolerance = tolerance_of(tolerance, (*alike, *again), source)
    eager = [(values, with_variants(call(reference, values), traced, values, parts)) for values in alike]
    base = Rules(tolerance, donated=frozenset(f._names.index(name) for name in donate))
    base = replace(base, order_is_open=partial(is_order_open, f, args[: len(args) - len(captured)]))
    stored, program = interpreters(traced, eager, parts, strategies, base, source) if interpreted else (None, None)
    for values, expected in (*eager, *((values, call(of_others, values)) for values in again)):
        held = len(captured) if any(values is x for x in alike) else len(captured) + len(named)
        with rung("native" if values is args else "native, again", source) as name:
            # another call may run another specialisation, which may store to other arguments
            rules = replace(base, stored=stored if values is args else None)
            if expected.beyond and not expected.variants:
                anew = traced_call(f, values[: len(values) - held], source)
                expected = with_variants(expected, anew, values, parts)
            if values is not args:
                rules = replace(rules, order_is_open=partial(is_order_open, f, values[: len(values) - held]))
            with compiling(f, traced, program if values is args else None, strategies):
                native(f, values, held, expected, rules, name, source)
            if quick and values is args:
                plainly = bufferize(donate_optional=donate, tier="quick")(function)
                with rung("native, quick", source) as name, compiling(plainly, traced, program, strategies):
                    native(plainly, values, len(captured), expected, rules, name, source)
    return f


def is_order_open(f: BufferizedFunction, args: Sequence[Any]) -> bool:
    """Whether a call's program may give an array in another order of axes than eager's (rule C1)."""
    traced = traced_call(f, args, "")
    return isinstance(traced, tuple) and traced[1].order_is_open


def tolerance_of(tolerance: float, calls: Sequence[Sequence[Any]], source: str) -> float:
    """The tolerance of a program with these arguments: larger where there are floats of 32 bits."""
    single = any(getattr(x, "dtype", None) in (np.float32, np.complex64) for values in calls for x in values)
    return tolerance * 10_000 if single or "float32" in source or "complex64" in source else tolerance


def with_defaults(function: types.FunctionType, args: Sequence[Any]) -> tuple[Any, ...]:
    """The arguments, and the defaults of parameters that are not given."""
    defaults, missing = function.__defaults__ or (), function.__code__.co_argcount - len(args)
    return (*args, *defaults[len(defaults) - missing :]) if missing > 0 else tuple(args)


@contextmanager
def rung(name: str, source: str) -> Iterator[str]:
    """Raises any error inside as a Mismatch that names the rung; refusals pass through."""
    try:
        yield name
    except (UnsupportedError, Mismatch):
        raise
    except Exception as error:
        raise Mismatch(name, f"{type(error).__name__}: {error}", source) from error


def call(function: Callable[..., Any], args: Sequence[Any], kept: Sequence[Array] = ()) -> Outcome:
    """The outcome of a call on clones of the arguments (but for those in `kept`); tracebuf's own errors are not
    outcomes."""
    values, _ = clone_arguments(tuple(args), {}, kept, guard.guarded if guard.wanted() else None)
    with np.errstate(all="ignore", invalid="warn"), warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        try:
            result = function(*values)
            return Outcome(values, result, beyond=any("encountered in cast" in str(w.message) for w in warned))
        except TracebufError:
            raise
        except Exception as error:
            return Outcome(values, error=error)


# -- rungs


Parts = Callable[[Sequence[Any]], tuple[Sequence[Any], Sequence[Any]]]
"""Gives the leaves and the containers of a call's arguments (see `flatten`)."""


def parts_of_calls(f: BufferizedFunction, args: Sequence[Any], hidden: tuple[Hidden, ...]) -> Parts:
    """What tells the leaves of arguments like these from their containers. Captured arrays follow the arguments, but
    not where these are containers: those programs may not have any."""
    asked = any(h.root is not None and h.root != WHOLE for h in hidden)  # of an argument: whose memory it is
    if not asked and not any(is_nested(x) for x in args):
        return lambda values: (values, ())

    def parts(values: Sequence[Any]) -> tuple[Sequence[Any], Sequence[Any]]:
        all_values, form = f._values(tuple(values), {}, hidden)
        call = f._call(all_values, form, hidden)
        return call.values, call.containers

    return parts


def captured_arrays(call: Call) -> list[Any]:
    """The captured arrays that a trace has met; on the ladder they follow the arguments."""
    outside = [h for h in call.hidden if h.root is None or h.root == WHOLE]
    return values_of(outside, call.values)


def arrays_named(function: types.FunctionType, seen: tuple[Any, ...] = ()) -> list[Any]:
    """The arrays among the globals that a function uses, and those of its module that it calls."""
    found: list[Any] = []
    for name in sorted(names_used(function.__code__) & function.__globals__.keys()):
        x = function.__globals__[name]
        x = getattr(x, "__wrapped__", x) if getattr(x, "__tracebuf__", False) else x
        if type(x) is np.ndarray:
            found.append(x)
        elif isinstance(x, types.FunctionType) and x.__module__ == function.__module__ and x not in (function, *seen):
            found += arrays_named(x, (function, *seen))
    return [x for k, x in enumerate(found) if not any(x is y for y in found[:k])]


def reference_of(
    function: types.FunctionType,
    captured: Sequence[Any],
    remade: Callable[[types.FunctionType], types.FunctionType] | None = None,
) -> Callable[..., Any]:
    """The function, remade to copy its sources, on arguments followed by replacements of its captured arrays."""
    remade = remade or copy_first
    if not captured:
        return remade(function)

    def reference(*values: Any) -> Any:
        n = len(values) - len(captured)
        new = {id(x): y for x, y in zip(captured, values[n:])}
        return remade(rebound(function, new, {}))(*values[:n])

    return reference


def traced_call(f: BufferizedFunction, args: Sequence[Any], source: str) -> tuple[Call, Traced] | Exception | None:
    """The call and its traced program, or what tracing raises; None where the original function runs."""
    with rung("trace", source):
        try:
            return f._traced(tuple(args), {})
        except RunOriginal:
            return None
        except TracebufError:
            raise
        except Exception as error:
            return error


def interpreters(
    traced_call: tuple[Call, Traced] | Exception | None,
    eager: Sequence[tuple[Sequence[Any], Outcome]],
    parts: Parts,
    strategies: Sequence[Options],
    rules: Rules,
    source: str,
) -> tuple[frozenset[int] | None, Func | None]:
    """The rungs between eager and native, each for the arguments of all calls in `eager`; the arguments that the
    program may store to (None where unknown), and the memref program of the first strategy."""
    args, first = eager[0]
    with rung("trace", source):
        if traced_call is None:
            return None, None
        if isinstance(traced_call, Exception):
            compare(first, Outcome(args, error=traced_call), rules, "trace", source)
            return None, None
        traced, related = traced_call[1], traced_call[0].related
        if {i for pair in related.shared for i in pair} & {related.same[i] for i in traced.stored}:
            return None, None  # overlapping arguments that are stored to run the original function
    starts = traced_call[0].starts
    stored = frozenset(
        i
        for i, x in enumerate(args)
        if is_nested(x) or related.same[starts[i] if i < len(starts) else i] in traced.stored
    )
    rules = replace(rules, stored=stored)

    def on_values(func: Func, args: Sequence[Any]) -> Outcome:
        return outcome_on_values(traced, func, args, parts)

    def on_memory(func: Func, args: Sequence[Any]) -> Outcome:
        values, _ = clone_arguments(tuple(args), {})
        given, containers = parts(values)
        try:
            done = memref.run(func, [given[i] for i in traced.arguments])
        except TracebufError:
            raise
        except Exception as error:
            return Outcome(values, error=error)
        return Outcome(values, build_results(traced.plan, done.results, given, containers, traced.writes))

    def in_python(module: Module) -> Callable[[Func, Sequence[Any]], Outcome]:
        def run(func: Func, args: Sequence[Any]) -> Outcome:
            values, _ = clone_arguments(tuple(args), {})
            given, containers = parts(values)
            try:
                results = module.run([given[i] for i in traced.arguments])
            except Exception as error:
                return Outcome(values, error=error)
            return Outcome(values, build_results(traced.plan, results, given, containers, traced.writes))

        return run

    def tried(run: Callable[[Func, Sequence[Any]], Outcome], func: Func, name: str, how: Rules) -> None:
        for args, expected in eager:
            try:
                outcome = run(func, args)
            except TracebufError:
                raise
            except Exception as error:
                outcome = Outcome(args, error=error)
            compare(expected, outcome, how, name, source)

    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with rung("tensor, raw", source) as name:
            tried(on_values, traced.func, name, replace(rules, sharing=False))
        with rung("tensor, optimised", source) as name:
            pipeline.optimize_tensors(traced.func, Options(verify=True))
            tried(on_values, traced.func, name, replace(rules, sharing=False))
        met: set[tuple[bool, ...]] = set()
        program: Func | None = None
        for options in strategies:
            with rung(f"memref, {options.strategy}, {options.heuristic}, seed {options.seed}", source) as name:
                func = clone_func(traced.func)[0]
                analysis = pipeline.analyze(func, options)
                decided = (*(analysis.is_in_place(u) for op in func.walk() for u in op.tensor_uses()), analysis.rotates)
                if decided not in met:  # else it is a program that was tried
                    met.add(decided)
                    made = pipeline.decided_to_memref(func, analysis, options)
                    tried(on_memory, made, name, rules)
                    program = program or made
        with rung("Python", source) as name:
            told = None if program is None else pipeline.told(program)
            module = None if told is None else python_module(told)
            if told is not None and module is not None:
                tried(in_python(module), told, name, rules)
        with rung("Numba", source) as name:
            if told is not None and module is not None and by_numba(source, module):
                tried(in_python(module_of(told, compiled=True)), told, name, rules)
    return stored, program


NUMBA = 0
"""One of so many programs is compiled by Numba too, which takes seconds; 0: none. The fuzzer sets it."""


def by_numba(source: str, module: Module) -> bool:
    """Whether a program is one of those that Numba compiles: by its text, and none that is long."""
    return NUMBA > 0 and zlib.crc32(source.encode()) % NUMBA == 0 and len(module.text) < 6000


def python_module(program: Func) -> Module | None:
    """The program as Python; None where it has an op that has no form there."""
    try:
        return module_of(program)
    except UnsupportedError:
        return None


@contextmanager
def compiling(
    f: BufferizedFunction,
    traced_call: tuple[Call, Traced] | Exception | None,
    program: Func | None,
    strategies: Sequence[Options],
) -> Iterator[None]:
    """In which the call that was traced compiles the program which the interpreters have run under the first strategy,
    unless other objects are part of its key: tracing it and all passes once more would make an equal one."""
    options = [replace(by, tier=f.options.tier, verify=f.options.verify) for by in strategies[:1]]
    if program is None or not isinstance(traced_call, tuple) or options != [f.options]:
        yield
        return
    mine, traced = traced_call

    def compile_it(call: Call, raises: Callable[[Conditions], None], early: bool) -> Specialization:
        if call.group != mine.group or any(isinstance(key, StaticKey) for key in call.keys):
            return BufferizedFunction._compile(f, call, raises, early)
        return f._specialize(call, traced, Bufferized(program))

    f._compile = compile_it  # type: ignore[method-assign]
    try:
        yield
    finally:
        del f._compile


def outcome_on_values(traced: Traced, func: Func, args: Sequence[Any], parts: Parts) -> Outcome:
    """What the tensor interpreter makes of the traced program, or of what passes have made of it."""
    values, _ = clone_arguments(tuple(args), {})
    given, containers = parts(values)
    done = tensor.run(func, [given[i] for i in traced.arguments])
    results = build_results(traced.plan, done.results, given, containers, traced.writes)
    for k, final in done.arguments.items():
        given[traced.arguments[k]][...] = final
    return Outcome(values, results)


def with_variants(
    eager: Outcome, traced_call: tuple[Call, Traced] | Exception | None, args: Sequence[Any], parts: Parts
) -> Outcome:
    """Eager's outcome with what a freshly traced program does, where NumPy has converted a float beyond an integer's
    range; without where that is not known, or of another form."""
    if not eager.beyond or not isinstance(traced_call, tuple):
        return eager
    traced = traced_call[1]
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = [eager]
        try:
            found.append(outcome_on_values(traced, traced.func, args, parts))
            for value in BEYOND:
                with mock.patch.object(casts.TruncI, "compute", partialmethod(truncated_to, value)):
                    found.append(outcome_on_values(traced, traced.func, args, parts))
        except Exception:
            return eager
    forms = [[p for p, _ in places(x)] for x in found]
    return replace(eager, variants=tuple(found[1:])) if all(form == forms[0] for form in forms) else eager


BEYOND = (0, 2**31, 2**32 - 1, 0x5A5A5A5A)
"""What a float that is beyond a uint32 may become."""
TRUNCATED = casts.TruncI.compute


def truncated_to(op: casts.TruncI, value: int, args: Sequence[Any]) -> Any:
    """`compute` of the op that follows a conversion of floats on the way to a uint32: another one where these are
    beyond its range."""
    found = TRUNCATED(op, args)
    if not isinstance(op.operand(0).defining_op, casts.FPToSI) or op.element.bits != 32:
        return found
    beyond = (np.asarray(args[0]) < 0) | (np.asarray(args[0]) >= 2**32)
    changed = np.where(beyond, np.uint32(value).view(found.dtype), found)
    return changed if isinstance(found, np.ndarray) else changed[()]


def native(
    f: BufferizedFunction, args: Sequence[Any], captured: int, eager: Outcome, rules: Rules, name: str, source: str
) -> None:
    """The compiled function against eager, and what both allocated (rule S2); the last `captured` arguments are the
    captured arrays, which stay where they are.

    A path-dependent result may cost an array that stands for those not taken, as may an array of constant sizes that
    only a loop or a branch makes: sizes of 1 are constant, so it is the specialisation of this call that says how many.
    argmax along an axis takes a further buffer, for the values; programs with it are not counted.
    """
    counts: list[Any] = []
    n = len(args) - captured
    kept = kept_in_place(args[:n], [x for x in args[n:] if x is not None])

    def counted(*values: Any) -> Any:
        result, counters = f.call_counted(*values[:n])
        counts.append(counters)
        return result

    original = call(reference_of(f.__wrapped__, args[n:], lambda function: function), args)
    with restored(kept):
        outcome = call(counted, args, kept)
        # where the original function runs, nobody copies its overlapping sources (rules B4, C4)
        compare(original if counts == [None] else eager, outcome, rules, name, source)
    if not counts or counts[0] is None:
        return
    with restored(kept):
        allowed = eager_allocations(f.__wrapped__, args[:n], kept)
    if "argm" in source and re.search(r"arg(max|min)\([^()]*[,=\d]", source):
        return
    more = counts[0].allocations - allowed
    if more > 0:
        traced = traced_call(f, args[:n], source)
        if isinstance(traced, tuple):
            more -= spare_allocations(traced[1])
            if traced[1].lists_grow:  # their memory is Python's in eager
                return
            if keeps_texts(traced[1].func):
                more = 0
    if more > 0 or counts[0].copies > allowed:
        raise Mismatch(name + ", counts", f"eager makes {allowed} allocations, native {counts[0]}", source)


def spare_allocations(traced: Traced) -> int:
    """The allocations beyond eager's that path-dependent results and containers may cost (see `native`)."""
    plans = [traced.plan, *(item for w in traced.writes for item in w.items)]
    return sum(map(choices, plans)) + placeholders(traced.func) + traced.masks


def keeps_texts(func: Func) -> bool:
    """Whether texts are handed on by number, each of which a host call gives in an array of one element."""
    called = [op.callee for op in func.walk() if isinstance(op, HostCall)]
    return any(isinstance(c, HostFunction) and c.name.startswith("tracebuf.running.kept.") for c in called)


def placeholders(func: Func) -> int:
    """Arrays of constant sizes that stand for what a path has not made."""
    empty = (op for op in func.walk() if op.name == "tensor.empty" and not op.operands)
    return sum(all(use.op.name.startswith("scf.") for use in op.results[0].uses) for op in empty)


def choices(plan: Any) -> int:
    """The path-dependent results."""
    if isinstance(plan, ChosenResult):
        return 1 + choices(plan.then) + choices(plan.orelse)
    return sum(map(choices, plan.items)) if isinstance(plan, NewContainer) else 0


def eager_allocations(function: Callable[..., Any], args: Sequence[Any], kept: Sequence[Array] = ()) -> int:
    """Data allocations of a call by NumPy itself."""
    from tracebuf.backend.runtime.memory_hook import counting

    values, _ = clone_arguments(tuple(args), {}, kept)
    with np.errstate(all="ignore"), warnings.catch_warnings(), counting() as seen:
        warnings.simplefilter("ignore")
        kept = function(*values)
    del kept
    return seen.allocations


# -- comparing


def compare(eager: Outcome, other: Outcome, rules: Rules, name: str, source: str) -> None:
    """Raises Mismatch where two outcomes differ. Not in elements that hang on a float which became a uint32 that it is
    beyond: what NumPy gives there hangs on strides and sizes (rule N4); in none where it is not known which these
    are."""
    unknown = eager.beyond and not eager.variants
    if unknown and ("uint32" in source or any(getattr(x, "dtype", None) == np.uint32 for _, x in places(eager))):
        rules = replace(rules, tolerance=math.inf)
    variants = eager.variants or (eager,)

    def differ(what: str, at: int | str | None = None, values: tuple[Any, Any] | None = None) -> None:
        found = Mismatch(name, what, source)
        found.place, found.values = at, values
        raise found

    if is_out_of_memory(eager.error) and other.error is not None and not isinstance(other.error, InternalError):
        return
    if (eager.error is None) != (other.error is None) or type(eager.error) is not type(other.error):
        error = other.error or eager.error
        text = f"eager {outcome_text(eager)}, this rung {outcome_text(other)}"
        raise Mismatch(name, text, source) from error
    for i, (x, y, *known) in enumerate(zip(eager.args, other.args, *(v.args for v in variants))):
        unspecified = eager.error is not None and (rules.stored is None or i in rules.stored)
        if isinstance(x, np.ndarray) and i not in rules.donated and not unspecified:
            if wrong := different(x, settled(x, y, known), rules.tolerance, rules.least):
                differ(f"argument {i} afterwards: {wrong}", i, (x, y))
    if eager.error is not None:
        return
    theirs, ours = places(eager), places(other)
    for (p, _), (q, _) in itertools.zip_longest(theirs, ours, fillvalue=("nothing", None)):
        if p != q:
            differ(f"results are of another form: {place(p)} in eager's {shown(eager)}, {place(q)} in {shown(other)}")
    for (p, x), (_, y), *known in zip(theirs, ours, *map(places, variants)):
        if not isinstance(p, int):
            wrong = different(x, settled(x, y, [v for _, v in known]), rules.tolerance, rules.least)
            if wrong := wrong or (different_layout(x, y, rules) if rules.sharing else ""):
                differ(f"{place(p)}: {wrong}", p, (x, y))
    if wrong := different_sharing(theirs, ours, rules):
        differ(wrong)


def is_out_of_memory(error: Exception | None) -> bool:
    """Whether NumPy asked for more memory than this machine has: with more of it, eager would have gone on to another
    error, which a rung that knows it before the array is made may raise."""
    return isinstance(error, MemoryError) and str(error).startswith("Unable to allocate ")


def outcome_text(outcome: Outcome) -> str:
    if outcome.error is None:
        return f"returns {outcome.result!r}"
    return f"raises {type(outcome.error).__name__}: {outcome.error}"


def shown(outcome: Outcome) -> str:
    """The result, and the containers among the arguments, without the addresses of objects."""
    held = [x for x in outcome.args if is_nested(x)]
    return re.sub(r" at 0x[0-9a-f]+", "", f"{outcome.result!r}" + (f", containers {held!r}" if held else ""))


def is_nested(x: Any) -> bool:
    return isinstance(x, tuple | list | dict) or is_object(x)


def places(outcome: Outcome) -> list[tuple[int | str, Any]]:
    """What a call left, one by one: the arguments, by number, or by path where they are containers; the results, by
    path. A list, dict or object that occurs again is the path where it stood first."""
    seen: dict[int, str] = {}
    found: list[tuple[int | str, Any]] = []
    for i, x in enumerate(outcome.args):
        found += leaves(x, f"argument {i}", seen) if is_nested(x) else [(i, x)]
    return [*found, *leaves(outcome.result, "", seen)]


def leaves(result: Any, path: str = "", seen: dict[int, str] | None = None) -> Iterator[tuple[str, Any]]:
    """The results one by one with their paths; containers count by their type, and by their identity if those `seen`
    are asked for."""
    if seen is not None and is_nested(result) and not isinstance(result, tuple):
        if (first := seen.setdefault(id(result), path)) != path:
            yield f"{path} is {place(first)}", None
            return
    if isinstance(result, tuple | list):
        yield f"{path}:{type(result).__name__}{len(result)}", None
        for i, item in enumerate(result):
            yield from leaves(item, f"{path}[{i}]", seen)
    elif isinstance(result, dict):
        yield f"{path}:{type(result).__name__}{list(result)}", None
        for key, item in result.items():
            yield from leaves(item, f"{path}[{key!r}]", seen)
    elif is_object(result):
        items = attributes_of(result)
        yield f"{path}:{type(result).__name__}{list(items)}", None
        for key, item in items.items():
            yield from leaves(item, f"{path}.{key}", seen)
    else:
        yield path, result


def settled(x: Any, y: Any, variants: Sequence[Any]) -> Any:
    """The leaf `y`, with the elements of `x` where variants of them differ."""
    if len(variants) < 2 or not isinstance(x, np.ndarray | np.generic | bool | int | float | complex):
        return y
    a, b, one, *others = map(np.asarray, (x, y, *variants))
    if a.dtype != b.dtype or any(v.shape != a.shape for v in (b, one, *others)) or type(x) is not type(y):
        return y
    same = np.logical_and.reduce([(one == v) | ((one != one) & (v != v)) for v in others])
    if same.all():
        return y
    return np.where(same, b, a) if isinstance(x, np.ndarray) else x


def different(x: Any, y: Any, tolerance: float, least: float = 1.0) -> str:
    """How two leaves differ in type, dtype, shape or values, or the empty string."""
    if type(x) is not type(y):
        return f"{x!r} is a {type(x).__name__}, {y!r} a {type(y).__name__}"
    if not isinstance(x, np.ndarray | np.generic | float | complex):
        return "" if x == y else f"{x!r} became {y!r}"
    a, b = np.asarray(x), np.asarray(y)
    if a.dtype != b.dtype or a.shape != b.shape:
        return f"{a.dtype}{a.shape} became {b.dtype}{b.shape}"
    return "" if same_values(a, b, tolerance, least) else f"{x!r} became {y!r}"


def same_values(a: Array, b: Array, tolerance: float, least: float = 1.0) -> bool:
    if tolerance == math.inf:
        return True  # values are the caller's business
    if a.dtype.kind == "c":
        if tolerance:  # which parts of one that is not finite are infinite or NaN hangs on strides in NumPy itself
            wild = ~np.isfinite(a) & ~np.isfinite(b)
            a, b = np.where(wild, 0, a), np.where(wild, 0, b)
        parts = np.abs([a.real, a.imag])  # rounding is relative to the numbers, not to the smaller of their parts
        least = max(least, float(parts[np.isfinite(parts)].max(initial=0.0)))
        return same_values(a.real, b.real, tolerance, least) and same_values(a.imag, b.imag, tolerance, least)
    if a.dtype.kind != "f":
        return bool((a == b).all())
    same = (a == b) | (np.isnan(a) & np.isnan(b))
    if not tolerance:
        return bool((same & ((np.signbit(a) == np.signbit(b)) | np.isnan(a))).all())
    finite = np.abs(a[np.isfinite(a)])
    scale = max(least, float(finite.max(initial=0.0)))
    with np.errstate(invalid="ignore"):  # of infinities, which are the same or not near
        near = np.abs(a.astype(np.float64) - b) <= scale * tolerance
    return bool((same | near).all())


def different_layout(x: Any, y: Any, rules: Rules) -> str:
    """How two arrays differ in the order and signs of their strides, or in being read-only."""
    if not isinstance(x, np.ndarray):
        return ""
    if x.flags.writeable != y.flags.writeable:
        return f"writeable {x.flags.writeable} became {y.flags.writeable}"
    if axes(x) != axes(y) and not rules.order_is_open():
        return f"shape {x.shape} with strides {x.strides} became {y.strides}"
    return ""


def axes(x: Array) -> list[tuple[int, bool]]:
    """Axes longer than 1, outermost first, each with whether it runs backwards."""
    if not x.size:
        return []
    order = sorted((a for a in range(x.ndim) if x.shape[a] > 1), key=lambda a: -abs(x.strides[a]))
    return [(a, x.strides[a] < 0) for a in order]


def different_sharing(
    theirs: Sequence[tuple[int | str, Any]], ours: Sequence[tuple[int | str, Any]], rules: Rules
) -> str:
    """Where identity or shared memory among arrays of the same places differs; donated arguments may share memory with
    anything. Without `sharing` identity alone is compared."""
    pairs = [(p, x, y) for (p, x), (_, y) in zip(theirs, ours) if isinstance(x, np.ndarray)]
    for n, (p, x, y) in enumerate(pairs):
        for q, v, w in pairs[:n]:
            names = f"{place(q)} and {place(p)}"
            if (x is v) != (y is w):
                return f"{names}: {'one object' if x is v else 'two objects'} in eager only"
            if not x.size or not v.size or any(isinstance(k, int) and k in rules.donated for k in (p, q)):
                continue
            if not rules.sharing:
                continue
            shared = np.shares_memory(x, v)
            if shared != np.shares_memory(y, w):
                return f"{names}: {'shared' if shared else 'separate'} memory in eager only"
            if shared and place(q).startswith("argument") and distance(x, v) != distance(y, w):
                return f"{names}: another part of the memory, or other strides"
    return ""


def place(key: int | str) -> str:
    if isinstance(key, int):
        return f"argument {key}"
    return key if key.startswith("argument") else f"result{key}"


def distance(x: Array, y: Array) -> tuple[Any, ...]:
    steps = tuple(s for s, n in zip(x.strides, x.shape) if n > 1)
    return x.__array_interface__["data"][0] - y.__array_interface__["data"][0], steps


# -- eager NumPy on other captured arrays


def rebound(
    function: types.FunctionType, new: Mapping[int, Any], made: dict[types.FunctionType, types.FunctionType]
) -> types.FunctionType:
    """The function with other objects (by the identity of the old) in its globals, cells and defaults, in modules'
    attributes, and so for the functions that it calls."""
    if function in made:
        return made[function]

    def swap(x: Any) -> Any:
        inner = x if makes_context(x) else getattr(x, "__wrapped__", x)
        if id(x) in new:
            return new[id(x)]
        if type(x) is tuple:
            return tuple(swap(i) for i in x)
        if makes_context(x):
            return contextmanager(rebound(x.__wrapped__, new, made))
        if isinstance(inner, types.FunctionType) and not (inner.__module__ or "").startswith("numpy"):
            return rebound(inner, new, made)
        if isinstance(x, types.ModuleType) and any(id(v) in new for v in vars(x).values()):
            module = types.ModuleType(x.__name__)
            vars(module).update({k: new.get(id(v), v) for k, v in vars(x).items()})
            return module
        return x

    names = dict(function.__globals__)
    cells = tuple(types.CellType() for _ in function.__closure__ or ())
    copy = types.FunctionType(function.__code__, names, function.__name__, None, cells)
    made[function] = copy
    copy.__defaults__, copy.__kwdefaults__ = swap(function.__defaults__), function.__kwdefaults__
    for name in names_used(function.__code__) & names.keys():
        names[name] = swap(names[name])
    for cell, old in zip(cells, function.__closure__ or ()):
        cell.cell_contents = swap(old.cell_contents)
    return copy


BY_GENERATOR = contextmanager(lambda: None).__code__  # type: ignore[arg-type, return-value]
"""The code of what it makes of a function."""


def makes_context(x: Any) -> bool:
    """Whether a function is what contextlib.contextmanager makes of one."""
    return isinstance(x, types.FunctionType) and x.__code__ is BY_GENERATOR


def names_used(code: types.CodeType) -> set[str]:
    """Names that a code object and those inside it use."""
    return {*code.co_names}.union(*(names_used(c) for c in code.co_consts if isinstance(c, types.CodeType)))


# -- eager NumPy that copies the source of a slice store first


def source_of(function: types.FunctionType) -> str:
    """The function's source, its whole file where that is a generated program."""
    module = inspect.getmodule(function)
    return inspect.getsource(module if module is not None and hasattr(module, "TOLERANCE") else function)


def copy_first(function: types.FunctionType) -> types.FunctionType:
    """The function with `x[i] = e` as `x[i] = copy of e`, and so for the functions of its module that it calls
    (rule C4)."""
    made: dict[types.FunctionType, types.FunctionType] = {}
    return _copy_first(function, made)


def _copy_first(function: types.FunctionType, made: dict[types.FunctionType, types.FunctionType]) -> types.FunctionType:
    if function in made:
        return made[function]
    lines = textwrap.dedent(inspect.getsource(function))
    (node,) = ast.parse(lines).body
    if not isinstance(node, ast.FunctionDef):
        return function
    node.decorator_list = []
    tree = ast.fix_missing_locations(_CopyStores().visit(ast.Module([node], [])))
    names = dict(function.__globals__)
    names |= {n: c.cell_contents for n, c in zip(function.__code__.co_freevars, function.__closure__ or ())}
    names["_store"] = store
    exec(compile(tree, f"<{function.__name__}, sources copied>", "exec"), names)
    new: types.FunctionType = names[node.name]
    new.__defaults__, new.__kwdefaults__ = function.__defaults__, function.__kwdefaults__
    made[function] = made[new] = new
    for name in function.__code__.co_names:
        found: Any = names.get(name)
        if makes_context(found):
            names[name] = contextmanager(_copy_first(found.__wrapped__, made))
            continue
        ours = isinstance(found, types.FunctionType) or getattr(found, "__tracebuf__", False)
        callee = getattr(found, "__wrapped__", found) if ours else found
        if isinstance(callee, types.FunctionType) and callee.__module__ == function.__module__:
            names[name] = _copy_first(callee, made)
    return new


def store(x: Any, into: Any, index: Any) -> None:
    """`into[index] = x`; into an array, x as it was before the store."""
    into[index] = x.copy() if isinstance(x, np.ndarray) and isinstance(into, np.ndarray) else x


class _CopyStores(ast.NodeTransformer):
    def visit_Assign(self, node: ast.Assign) -> ast.stmt:
        self.generic_visit(node)
        if len(node.targets) == 1 and isinstance(target := node.targets[0], ast.Subscript):
            call = ast.Call(ast.Name("_store", ast.Load()), [node.value, target.value, index_of(target.slice)], [])
            return ast.copy_location(ast.Expr(call), node)
        return node


def index_of(e: ast.expr) -> ast.expr:
    """An index as an expression that may stand anywhere."""
    if isinstance(e, ast.Slice):
        bounds = [part or ast.Constant(None) for part in (e.lower, e.upper, e.step)]
        return ast.Call(ast.Name("slice", ast.Load()), bounds, [])
    return ast.Tuple([index_of(x) for x in e.elts], ast.Load()) if isinstance(e, ast.Tuple) else e
