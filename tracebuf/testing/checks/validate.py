"""`f.validate(*args)`: one call up the ladder on the caller's own data, and where it first differs from NumPy.

The call runs eagerly, by the tensor interpreter on the program as traced and after the tensor passes, by the memref
interpreter on the program that is compiled, and natively, each on copies of the arguments with their layouts and
overlaps. Where one differs, the program after each pass since the last that agreed is run too, which names the stage;
`blame` names the op and its line. Compared is what rule C1 says (tracebuf/testing/ladder.py); where NumPy itself gets a
store over overlapping memory wrong, the function with each source copied first is the judge (rule C4).

Random generators that are arguments or that the function's names lead to, and the global ones, begin each run in the
state that they have. What the function prints is not shown. Other effects happen once for each run.
"""

from __future__ import annotations

import copy
import io
import random
import types
import warnings
from collections.abc import Callable, Iterable, Iterator, MutableMapping, Sequence
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout
from typing import Any

import numpy as np

from tracebuf import pipeline
from tracebuf.api import MAY_WARN, BufferizedFunction, Specialization, handing_of
from tracebuf.errors import InternalError, TracebufError, UnsupportedError
from tracebuf.frontends.numpy.call.arguments import RunOriginal
from tracebuf.frontends.numpy.call.call import Call
from tracebuf.frontends.numpy.call.results import build_results
from tracebuf.frontends.numpy.interpreter.trace import Traced
from tracebuf.frozen import frozen, plain
from tracebuf.interpret import Watch, memref, tensor
from tracebuf.ir.clone import clone_func
from tracebuf.ir.func import Func
from tracebuf.measure import attributes_of, clone_arguments, kept_in_place, restored
from tracebuf.optimize.tensors.check_finite import MayWarn
from tracebuf.options import Options
from tracebuf.testing.ladder import (
    Mismatch,
    Outcome,
    Rules,
    compare,
    copy_first,
    names_used,
    place,
    places,
    tolerance_of,
)
from tracebuf.testing.validation.blame import Blame, blamed, blamed_line, last_writer
from tracebuf.testing.validation.validation import Difference, Validation

__all__ = ["validate"]

TOLERANCE = 1e-9
"""How far floats may be from eager's, relative to the largest magnitude of their array; 10 000 times that in programs
with single precision (rule C2: sums, and arrays that are not contiguous)."""


@frozen(slots=False)
class Stage:
    """The program after a pass, or as it was traced; those of the interpreters' rungs are `main`."""

    name: str
    func: Func
    main: bool = False
    may_leak: bool = False
    """Whether the frees are not there yet."""
    tensors: bool = True


def validate(
    f: BufferizedFunction,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    tolerance: float = TOLERANCE,
    known: Known | None = None,
) -> Validation:
    """See `BufferizedFunction.validate`. `known` keeps the programs, for further calls that they serve."""
    try:
        call, traced, stages = programs_of(f, args, kwargs, known)
    except RunOriginal as said:
        return original(f, str(said))
    except UnsupportedError as refusal:
        if f._fallback() == "numpy":
            return original(f, str(refusal))
        raise
    except TracebufError:
        raise
    except Exception as error:
        given = Given(f, args, kwargs, (), (), tolerance)
        return Climb(given, given.eager()).raising(error)
    if (why := call.overlap(traced.stored)) is not None:
        return original(f, why)
    outside = [h for h in call.hidden if h.root is None]
    if traced.writes and any(h.from_object for h in outside):
        reason = "validate runs the function several times: it may not change an object that is no argument"
        raise UnsupportedError(reason, instead="pass the object as an argument, or call the function in a test by hand")
    given = Given(f, args, kwargs, call.hidden, tuple(h.value() for h in outside), tolerance)
    donated = frozenset(call.donated)
    try:
        found = Climb(given, given.eager(), donated).all(traced, stages)
    except MayWarn:
        return original(f, MAY_WARN)
    if not found.ok and (copied := given.with_copies()) is not None:
        again = Climb(given, copied, donated).all(traced, stages)
        if again.ok:
            note = "where a store reads memory that it overwrites, its source was copied first in eager (rule C4)"
            return Validation(again.name, again.rungs, None, (note,))
    return found


def programs_of(
    f: BufferizedFunction, args: tuple[Any, ...], kwargs: dict[str, Any], known: Known | None
) -> tuple[Call, Traced, list[Stage]]:
    """The call that was traced, the program, and its stages. Raises what tracing raises."""
    served = None if known is None else f._specialization(args, kwargs, count=False)
    if known is not None and served is not None and served[0] in known:
        return known[served[0]]
    call, traced = f._traced(args, kwargs)
    made = call, traced, stages_of(traced, f.options)
    if known is not None and served is not None and call.overlap(traced.stored) is None:
        known[served[0]] = made
    return made


def original(f: BufferizedFunction, why: str) -> Validation:
    return Validation(f.__wrapped__.__qualname__, (("the original function runs", "equal"),), None, (why,))


Known = MutableMapping[Specialization, tuple[Call, Traced, list[Stage]]]
"""By compiled program: a call that it served, its trace, and the program at each stage."""


# -- runs
@plain()
class Given:
    """A call, and what each of its runs begins with."""

    f: BufferizedFunction
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    hidden: tuple[Any, ...]
    captured: tuple[Any, ...]
    tolerance: float

    def arrays(self) -> list[np.ndarray]:
        """The captured arrays, those in containers too."""
        return list(arrays_in(self.captured))

    def run(self, function: Callable[..., Any]) -> Outcome:
        """What a function does to copies of the arguments."""
        kept = kept_in_place((self.args, self.kwargs), self.arrays())
        with self.as_it_was(kept), np.errstate(all="ignore", invalid="warn"):
            (args, kwargs), beyond = self.copies(kept), False
            with warnings.catch_warnings(record=True) as warned:
                warnings.simplefilter("always")
                result, error = None, None
                try:
                    result = function(*args, **kwargs)
                except TracebufError:
                    raise
                except Exception as raised:
                    error = raised
                beyond = any("encountered in cast" in str(w.message) for w in warned)
            after = clone_arguments(self.captured, {})[0]
            return Outcome((*args, *kwargs.values(), *after), result, error, beyond)

    def copies(self, kept: Sequence[Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments on memory of their own, generators too."""
        memo: dict[int, Any] = {}

        def fresh(x: Any) -> Any:
            return copy.deepcopy(x, memo) if isinstance(x, GENERATORS) else x

        args, kwargs = clone_arguments(self.args, self.kwargs, kept)
        return tuple(map(fresh, args)), {k: fresh(x) for k, x in kwargs.items()}

    @contextmanager
    def as_it_was(self, kept: Sequence[Any]) -> Iterator[None]:
        """Puts captured arrays and generators back as they were; what is printed is lost."""
        states = [(g, state_of(g)) for g in self.generators()]
        python, numpy = random.getstate(), np.random.get_state()
        with ExitStack() as around:
            around.enter_context(restored(kept))
            around.callback(replaced_by, self.captured, copies_of(self.captured))
            around.enter_context(redirect_stdout(io.StringIO()))
            around.enter_context(redirect_stderr(io.StringIO()))
            try:
                yield
            finally:
                random.setstate(python)
                np.random.set_state(numpy)
                for generator, state in states:
                    set_state(generator, state)

    def generators(self) -> list[Any]:
        """Those that the function's names lead to."""
        function = self.f.__wrapped__
        cells = [c.cell_contents for c in function.__closure__ or () if not is_empty(c)]
        found = [function.__globals__.get(name) for name in names_used(function.__code__)]
        return [x for x in (*found, *cells) if isinstance(x, GENERATORS)]

    def eager(self) -> Outcome:
        with in_numpy():
            return self.run(self.f.eager)

    def with_copies(self) -> Outcome | None:
        """Eager's outcome with each store's source copied first; None where the function cannot be made again."""
        try:
            remade = copy_first(self.f.__wrapped__)
        except Exception:  # its text is not there, or not that of a function alone
            return None
        with in_numpy():
            return self.run(remade)

    def program(self, traced: Traced, stage: Stage, watch: Watch | None = None) -> Outcome:
        """What the program of a stage does, by an interpreter."""

        def interpreted(*args: Any, **kwargs: Any) -> Any:
            values, form = self.f._values(args, kwargs, self.hidden)
            call = self.f._call(values, form, self.hidden)
            given = list(call.values)
            operands = [given[i] for i in traced.arguments]
            with handing_of(given):
                return interpret(operands, given, call)

        def interpret(operands: list[Any], given: list[Any], call: Call) -> Any:
            if stage.tensors:
                done = tensor.run(stage.func, operands, watch=watch)
                results = build_results(traced.plan, done.results, given, call.containers, traced.writes)
                for k, final in done.arguments.items():
                    given[traced.arguments[k]][...] = final
                return results
            ran = memref.run(stage.func, operands, may_leak=stage.may_leak, watch=watch)
            return build_results(traced.plan, ran.results, given, call.containers, traced.writes)

        return self.run(interpreted)


@contextmanager
def in_numpy() -> Iterator[None]:
    """In which the bufferized functions that Python calls run as they are."""
    called: Any = BufferizedFunction._called
    BufferizedFunction._called = lambda f, args, kwargs: f.eager(*args, **kwargs)  # type: ignore[method-assign, assignment]
    try:
        yield
    finally:
        BufferizedFunction._called = called  # type: ignore[method-assign]


GENERATORS = (np.random.Generator, np.random.RandomState, random.Random)


def arrays_in(items: Iterable[Any]) -> Iterator[np.ndarray]:
    """Those among the items, in lists, tuples, dicts and objects too."""
    for x in items:
        if isinstance(x, np.ndarray):
            yield x
        else:
            named = x if isinstance(x, dict) else attributes_of(x)
            yield from arrays_in(x if isinstance(x, list | tuple) else [*named.values()])


def copies_of(containers: Sequence[Any]) -> list[Any]:
    """What lists and dicts hold, those inside of them too; the items themselves are not copied."""
    return [
        [list(x), copies_of(x)] if isinstance(x, list) else [dict(x), copies_of([*x.values()])]
        if isinstance(x, dict) else None
        for x in containers
    ]  # fmt: skip


def replaced_by(containers: Sequence[Any], held: Sequence[Any]) -> None:
    """Gives lists and dicts back what they held."""
    for x, before in zip(containers, held):
        if isinstance(x, list):
            x[:] = before[0]
            replaced_by(x, before[1])
        elif isinstance(x, dict):
            x.clear()
            x.update(before[0])
            replaced_by([*x.values()], before[1])


def state_of(generator: Any) -> Any:
    if isinstance(generator, np.random.Generator):
        return generator.bit_generator.state
    return generator.get_state() if isinstance(generator, np.random.RandomState) else generator.getstate()


def set_state(generator: Any, state: Any) -> None:
    if isinstance(generator, np.random.Generator):
        generator.bit_generator.state = state
    elif isinstance(generator, np.random.RandomState):
        generator.set_state(state)
    else:
        generator.setstate(state)


def is_empty(cell: types.CellType) -> bool:
    try:
        cell.cell_contents  # noqa: B018
    except ValueError:
        return True
    return False


# -- stages
def stages_of(traced: Traced, options: Options) -> list[Stage]:
    """The program as traced, after each pass, and as it is compiled: copies, but for the last."""
    found = [Stage("as traced", clone_func(traced.func)[0], main=True)]
    freed = False

    def observe(name: str, func: Func) -> None:
        nonlocal freed
        freed = freed or name == "lower-deallocs"
        is_last = name == pipeline.MEMREF_PASSES[-1][0]
        kept = func if is_last else clone_func(func)[0]
        said = "bufferized" if name == "bufferize" else f"after {name}"
        found.append(Stage(said, kept, is_last, not freed, name in TENSOR_NAMES))

    pipeline.optimize_tensors(traced.func, options, observe)
    found[-1] = Stage(found[-1].name, found[-1].func, main=True)
    pipeline.to_memref(traced.func, options, observe)
    return found


TENSOR_NAMES = frozenset(name for name, _ in pipeline.TENSOR_PASSES)
RUNGS = ("tensor interpreter, as traced", "tensor interpreter, after the tensor passes",
         "memref interpreter, after the memref passes")  # fmt: skip
NATIVE = "native"


@plain()
class Climb:
    """One way up, beside one outcome of eager NumPy."""

    given: Given
    expected: Outcome
    donated: frozenset[int] = frozenset()

    def all(self, traced: Traced, stages: list[Stage]) -> Validation:
        main = [stage for stage in stages if stage.main]
        last = None
        for k, stage in enumerate(main):
            if self.differs(traced, stage) is not None:
                return self.report(k, self.refined(traced, stages, last, stage))
            last = stage
        outcome = self.given.run(self.given.f)
        if (wrong := self.compared(outcome, NATIVE)) is not None:
            return self.report(len(main), Difference(NATIVE, self.words(wrong), self.writer(traced, main[-1], wrong)))
        return self.report(len(main) + 1, None)

    def raising(self, error: Exception) -> Validation:
        """Of a call that raises while it is traced: it is the original function's error."""
        wrong = self.compared(Outcome(self.expected.args, error=error), "tracing")
        name = self.given.f.__wrapped__.__qualname__
        if wrong is None and (wrong := self.compared(self.given.run(self.given.f), NATIVE)) is None:
            return Validation(name, (("tracing", "equal"), (NATIVE, "equal")))
        rungs = ("tracing", "differs" if wrong.rung == "tracing" else "equal"), (NATIVE, "-")
        return Validation(name, rungs, Difference(wrong.rung, self.words(wrong)))

    def report(self, equal: int, difference: Difference | None) -> Validation:
        names = (*RUNGS, NATIVE)
        said = ["equal"] * equal + ["differs"] * (equal < len(names)) + ["-"] * (len(names) - equal - 1)
        return Validation(self.given.f.__wrapped__.__qualname__, tuple(zip(names, said)), difference)

    def differs(self, traced: Traced, stage: Stage) -> Mismatch | None:
        """How the program of a stage differs, faults of memory and bugs included."""
        try:
            outcome = self.given.program(traced, stage)
        except MayWarn:
            raise
        except TracebufError as error:
            return Mismatch(stage.name, f"{type(error).__name__}: {error}", "")
        return self.compared(outcome, stage.name, sharing=not stage.tensors)

    def compared(self, outcome: Outcome, name: str, sharing: bool = True) -> Mismatch | None:
        given = self.given
        tolerance = tolerance_of(given.tolerance, [self.expected.args], text_of(given.f))
        try:
            compare(self.expected, outcome, Rules(tolerance, sharing, donated=self.donated, least=0.0), name, "")
        except Mismatch as wrong:
            return wrong
        return None

    def refined(self, traced: Traced, stages: list[Stage], last: Stage | None, wrong: Stage) -> Difference:
        """The first of the stages behind the last that agrees, up to one that does not, which differs."""
        after = 0 if last is None else stages.index(last) + 1
        for stage in stages[after : stages.index(wrong) + 1]:
            if (found := self.differs(traced, stage)) is not None:
                return Difference(stage.name, self.words(found), self.blame(traced, last, stage, found))
            last = stage
        raise InternalError(f"validate: {wrong.name} does not differ any more")

    def blame(self, traced: Traced, last: Stage | None, stage: Stage, wrong: Mismatch) -> Blame | None:
        if last is None:
            code = self.given.f.__wrapped__.__code__
            by_line = blamed_line(self.given.eager, code, lambda watch: self.given.program(traced, stage, watch))
            return by_line or self.writer(traced, stage, wrong)
        before, after = last, stage
        return blamed(
            lambda watch: self.given.program(traced, before, watch),
            lambda watch: self.given.program(traced, after, watch),
        ) or self.writer(traced, stage, wrong)

    def writer(self, traced: Traced, stage: Stage, wrong: Mismatch) -> Blame | None:
        """The op that computed the value which differs, as the stage's program has it."""
        if wrong.values is None:
            return None
        index = differing_element(*wrong.values)

        def run(watch: Watch) -> np.ndarray | None:
            """The element that differs, in the memory of this run."""
            left: dict[Any, Any] = dict(places(self.given.program(traced, stage, watch)))
            found = left.get(wrong.place)
            return found[tuple(slice(k, k + 1) for k in index)] if isinstance(found, np.ndarray) and index else None

        return last_writer(run, *wrong.values)

    def words(self, wrong: Mismatch) -> str:
        """What differs: the element with both values, where that is all."""
        if wrong.values is None or not all(isinstance(x, np.ndarray) for x in wrong.values):
            return self.named(wrong.what)
        x, y = wrong.values
        if x.dtype != y.dtype or x.shape != y.shape or not x.ndim:
            return self.named(wrong.what)
        if (index := differing_element(x, y)) is None:
            return self.named(wrong.what)
        bad, at = differing(x, y), ", ".join(map(str, index))
        more = f" ({int(bad.sum())} of {bad.size} elements differ)"
        assert wrong.place is not None
        return self.named(f"{place(wrong.place)}[{at}]: {x[index]!r} in eager NumPy, {y[index]!r} here{more}")

    def named(self, text: str) -> str:
        """With the names of parameters in the place of their numbers."""
        f = self.given.f
        code = f.__wrapped__.__code__
        names = [*code.co_varnames[: code.co_argcount]][: len(self.given.args)]
        names += [f"argument {k}" for k in range(len(names), len(self.given.args))] + [*self.given.kwargs]
        names += [h.label for h in self.given.hidden]
        for k in reversed(range(len(names))):
            text = text.replace(f"argument {k}", names[k])
        return text


def differing_element(x: Any, y: Any) -> tuple[int, ...] | None:
    """The index of the first element that differs, of two arrays of one dtype and shape."""
    if not (isinstance(x, np.ndarray) and isinstance(y, np.ndarray) and x.dtype == y.dtype and x.shape == y.shape):
        return None
    bad = differing(x, y)
    return tuple(int(k) for k in np.unravel_index(int(bad.argmax()), bad.shape)) if x.ndim and bad.any() else None


def differing(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Where two arrays differ, of the most distant elements where many do by rounding alone."""
    with np.errstate(all="ignore"):
        same: np.ndarray = (x == y) | ((x != x) & (y != y))
        if x.dtype.kind in "fc" and not same.all():
            distance = np.abs(x - y)
            finite = distance[np.isfinite(distance)]
            largest = float(np.max(np.abs(x[np.isfinite(x)]), initial=0.0))
            if finite.size and np.isfinite(largest):
                near = np.isfinite(distance) & (distance <= largest * TOLERANCE)
                far: np.ndarray = ~same & ~near
                return far if far.any() else ~same
    different: np.ndarray = np.logical_not(same)
    return different


def text_of(f: BufferizedFunction) -> str:
    """What of a function's text says whether it computes in single precision."""
    names = {*names_used(f.__wrapped__.__code__), *map(str, f.__wrapped__.__code__.co_consts)}
    return " ".join(sorted(names))
