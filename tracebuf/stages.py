"""The stages of a call's program, each a frozen object: Traced -> Bufferized -> Compiled; and their texts, `Lowered`.

What makes them, the tracer, the passes and the back end, is loaded here, when it is first asked for (`importing`): a
process that only imports tracebuf needs nothing of it. Counterpart: JAX's stages (jax.stages).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import FunctionType
from typing import TYPE_CHECKING, Any

from tracebuf import cache
from tracebuf.errors import TracebufError
from tracebuf.frozen import frozen
from tracebuf.options import Backend, Options, Tier
from tracebuf.process.display import aligned, displayed
from tracebuf.process.garbage import full_collections_later
from tracebuf.process.late import importing, lock

if TYPE_CHECKING:
    from tracebuf import pipeline
    from tracebuf.backend.llvm.kernel_text import KernelText
    from tracebuf.backend.runtime.kernel import Kernel
    from tracebuf.explain.memory import MemoryUse
    from tracebuf.frontends.numpy.call.call import Call
    from tracebuf.frontends.numpy.call.conditions import Conditions
    from tracebuf.frontends.numpy.call.results import CallPlan
    from tracebuf.frontends.numpy.interpreter.trace import Traced
    from tracebuf.frontends.numpy.paths.loops.report import Loops
    from tracebuf.ir.func import Func
    from tracebuf.persist.compiled import Compiled
    from tracebuf.persist.programs import Kept

__all__ = ["Bufferized", "Lowered", "bufferized", "importing", "lowered", "trace"]

_waited: list[Any] = []
"""The module of the JIT, if it was loaded before the fork."""


def _before_fork() -> None:
    """Waits for imports, then for LLVM: in this order, for an import may just be loading the JIT."""
    lock.acquire()
    if (before := getattr(jit := sys.modules.get("tracebuf.backend.llvm.jit"), "before_fork", None)) is not None:
        before()
        _waited.append(jit)


def _after_fork() -> None:
    while _waited:
        _waited.pop().after_fork()
    lock.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=_after_fork, after_in_child=_after_fork)


def trace(
    function: FunctionType, call: Call, raises: Callable[[Conditions], None] | None = None, early: bool = False,
    warns: bool = False, sized: bool = False,
) -> Traced:  # fmt: skip
    """The tensor program of one call, as recorded. `raises` is told which calls raise, before an exception of theirs;
    `early`: also where it takes the run time to tell the exception's arguments. `warns`: the program ends where NumPy
    may warn (optimize/tensors/check_finite). `sized`: lists that are as long as ints or sizes of the call say are of
    run-time length, if that can be traced.

    Raises UnsupportedError where the function is outside the language, and the exceptions that restart tracing or run
    the original function (docs/architecture.md).
    """
    with full_collections_later:
        with importing():
            from tracebuf.frontends.numpy.interpreter.trace import trace as run

        traced = run(function, call, raises, early, warns, sized)
        if warns:
            with importing():
                from tracebuf.frontends.numpy.call.arguments import RunOriginal
                from tracebuf.optimize.tensors.check_finite import insert_checks

            if traced.func.callees:
                unseen: Any = "a recursion", traced.func.loc
            else:
                unseen = insert_checks(traced.func)
            if unseen is not None:
                reason = RunOriginal(f'warnings="numpy": {unseen[0]} (line {unseen[1].line}) may warn unseen')
                reason.under = traced
                raise reason
        return traced


@contextmanager
def examples(
    args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Iterator[tuple[tuple[Any, ...], dict[str, Any], Mapping[str, int] | None]]:
    """Arguments with examples in the place of specs, and the sizes that they have by name; None where there are no
    specs. What is raised meanwhile says what the names stood for."""
    if "tracebuf.specs" not in sys.modules:  # where specs are made
        yield args, kwargs, None
        return
    from tracebuf.specs import examples as made

    found, named, sizes = made(args, kwargs)
    try:
        yield found, named, sizes
    except Exception as error:
        if sizes:
            error.add_note(f"(as an example, {', '.join(f'{name} is {n}' for name, n in sizes.items())})")
        raise


def kept(function: FunctionType, options: Options, call: Call) -> Kept | None:
    """The program for a call that an earlier process compiled, if it is in the cache on disk (persist/)."""
    if not cache.keeps_programs():
        return None
    with importing():
        from tracebuf.persist.programs import find
    return find(function, options, call)


def keep(function: FunctionType, options: Options, call: Call, plan: CallPlan, kernel: Kernel) -> None:
    """Keeps a program for later processes, when its fast code is there."""
    if cache.keeps_programs() and not kernel.confined:
        with importing():
            from tracebuf.persist import programs
        programs.keep(function, options, call, plan, kernel)


@frozen(slots=False, checked=True)
class Bufferized:
    """The memref program that is compiled: `func`, with frees and the locations of its buffers."""

    func: Func

    @property
    def told(self) -> Func:
        """The program that users are told of (`told` of pipeline.py)."""
        with importing():
            from tracebuf import pipeline

        return pipeline.told(self.func)

    def as_text(self) -> str:
        with importing():
            from tracebuf.ir.printer import print_func

        return print_func(self.func)

    def compile(self, name: str, tier: Tier = "fast", backend: Backend = "llvm") -> Kernel:
        """Native code (by LLVM) and its calling frame; `name` becomes the symbol's name, if it is a valid one. Of the
        back end "numba": Python, whose loops Numba compiles; raises UnsupportedError for what that does not do."""
        with full_collections_later, honest(self.func):
            with importing():
                from tracebuf.backend.runtime.compiled import kernel_of

            if backend == "numba":
                with importing():
                    from tracebuf.backend.numba.kernel import NumbaKernel

                return NumbaKernel(self.func, lambda: kernel_of(self.func, _symbol(name), self.func.callees, tier))
            return kernel_of(self.func, _symbol(name), self.func.callees, tier)

    def emit(self, name: str) -> KernelText:
        """The LLVM IR that `compile` makes native code of."""
        with full_collections_later, honest(self.func):
            with importing():
                from tracebuf.backend.llvm.emit import emit_kernel

            return emit_kernel(self.func, _symbol(name), self.func.callees)


@contextmanager
def honest(func: Func) -> Iterator[None]:
    """What the back end raises by mistake, as an InternalError: it is no exception of the user's function."""
    try:
        yield
    except (TracebufError, MemoryError, RecursionError):
        raise
    except Exception as error:
        with importing():
            from tracebuf.frontends.numpy.record.raises import by_signal, internal_error
        if (late := by_signal(error)) is not None:
            raise late  # noqa: B904
        raise internal_error(error, func.loc) from error


def _symbol(name: str) -> str:
    return name if name.isidentifier() and name.isascii() else "kernel"


def bufferized(traced: Traced, options: Options, observe: pipeline.Observer | None = None) -> Bufferized:
    """Runs the passes on a traced program, whose tensor program becomes theirs: it is changed in place.

    Args:
        traced: the result of `trace`.
        options: which analysis decides, and how.
        observe: called with the name of each pass and the program after it.

    Raises DonationError for a donation that cannot be used, DecisionError for an analysis of the user's that would
    change the results.
    """
    with full_collections_later:
        with importing():
            from tracebuf import pipeline

        pipeline.optimize_tensors(traced.func, options, observe)
        return Bufferized(pipeline.to_memref(traced.func, options, observe))


ALIASES = {"tensor": "canonicalize-again", "memref": "assign-storage"}
"""By short name of a stage: the pass after which it is taken."""


@frozen(slots=False, checked=True)
@displayed
class Lowered:
    """The program of one call at every stage, as text: the result of `f.lower(...)`.

    `texts` maps "traced", each pass by its name, "loops" (the loop nests), "llvm", and under `strategy="optimal"`
    "certificate", to the program after it; `stages` are these names in order.
    """

    texts: Mapping[str, str]
    program: Func | None = None
    """The memref program that is compiled."""
    prepare: Callable[[Lowered], Compiled] | None = None
    """What `compile` does."""
    found_loops: Loops | None = None

    def rows(self) -> list[tuple[str, ...]]:
        """The table of the stages: the lines of each, the arrays that it makes, its copies."""
        rows: list[tuple[str, ...]] = [("stage", "lines", "arrays", "copies")]
        for name, text in self.texts.items():
            made = sum(text.count(op) for op in ("tensor.empty", "memref.alloc("))
            rows.append((name, str(text.count("\n") + 1), str(made), str(text.count("memref.copy"))))
        return rows

    def __repr__(self) -> str:
        return aligned(self.rows())

    @property
    def stages(self) -> tuple[str, ...]:
        return tuple(self.texts)

    def as_text(self, stage: str = "memref") -> str:
        """The program after a stage: a name of `stages`, "tensor" (after the tensor passes), "memref" (as compiled), or
        "numba": the memref program as Python (docs/numba.md).

        Raises ValueError for an unknown stage; UnsupportedError for "numba" where an op has no form in Python.

        >>> import numpy as np, tracebuf
        >>> lowered = tracebuf.bufferize(lambda a: a + 1).lower(np.ones(3))
        >>> lowered.as_text("memref").count("memref.alloc")
        1
        """
        if stage == "numba" and self.program is not None:
            with importing():
                from tracebuf.backend.numba.module import module_of

            return module_of(Bufferized(self.program).told).text
        name = ALIASES.get(stage, stage)
        if name not in self.texts:
            raise ValueError(f"no stage {stage!r}; there are tensor, memref, {', '.join(self.texts)}")
        return self.texts[name]

    def compile(self) -> Compiled:
        """The program, compiled before it is called; the function has it from then on. For later processes it is kept
        in the cache on disk, and `save` of the result puts it into a file.

        Waits for the fast code, whatever `Options.tier`. Raises what a call raises; ValueError if there is no function.

        >>> import numpy as np, tracebuf
        >>> double = tracebuf.bufferize(lambda a: 2 * a)
        >>> print(double.lower(tracebuf.spec("f8[n]")).compile())
        <lambda> for (float64[n])
        """
        if self.prepare is None:
            raise ValueError("there is no function that has this program")
        return self.prepare(self)

    def loops(self) -> Loops:
        """What each loop of the Python source carries from one iteration to the next, and why: as text a paragraph for
        each, else `LoopReport`s of `location`, `carried`, `mends` (what an iteration did that was not expected, such as
        turning an int into a float), `peeled` (iterations traced by themselves before it) and `unrolled` (why it is
        unrolled). The source: docs/architecture.md, paths and loops. Raises ValueError where there is no trace.

        >>> import numpy as np, tracebuf
        >>> def newton(x, rounds):
        ...     step = 0
        ...     for _ in range(rounds):
        ...         step = (step + x * x - 2) / (2 * x)
        ...         x -= step
        ...     return x, step
        >>> print(tracebuf.bufferize(newton).lower(1.0, 9).loops())
        line 3 (from iteration 2 on): carries
            step  a float
            x     a float
            because `step` begins as an int and becomes a float
        """
        if self.found_loops is None:
            raise ValueError("there is no trace")
        return self.found_loops

    def memory(self) -> MemoryUse:
        """What a call takes of memory, as formulas of the sizes of its arguments (no parameters: all of it).

        Returns a `MemoryUse` of four formulas: `peak`, the most bytes that are alive at once, `allocated` and `copied`
        bytes, and `arena`, what is kept for temporaries from call to call. Each is printed as text (`8*a.0*a.1`: sizes
        are named after the argument and the axis, `len(a)` for one axis; integers by their names), and is called
        with sizes by name. It is exact where the program is straight, or its loops run as often as sizes and integers
        say; an upper bound ("at most") where branches on data take less, or large arrays that are needed row by row
        (`Options.tile`); and "unknown", with the reason, where the data decide about sizes. Raises ValueError if a
        formula that is unknown is called, KeyError for a missing size.

        >>> import numpy as np, tracebuf
        >>> def smooth(x, rounds):
        ...     for _ in range(rounds):
        ...         x = (np.roll(x, 1) + np.roll(x, -1)) / 2
        ...     return x.sum()
        >>> memory = tracebuf.bufferize(smooth).lower(np.ones(100), 5).memory()
        >>> print(memory.peak, "|", memory.copied)
        24*len(x) | 0
        >>> memory.peak({"len(x)": 1_000_000})
        24000000
        """
        if self.program is None:
            raise ValueError("there is no program")
        with importing():
            from tracebuf.explain.memory import memory_of

        return memory_of(Bufferized(self.program).told)

    def __str__(self) -> str:
        return self.as_text("memref")


def lowered(traced: Traced, options: Options, prepare: Callable[[Lowered], Compiled] | None = None) -> Lowered:
    """All texts of one call's program. `prepare` is what `compile` of it does. Raises what `bufferized` raises."""
    with importing():
        from tracebuf.ir.printer import print_func

    texts = {"traced": print_func(traced.func)}

    def observe(name: str, func: Func) -> None:
        texts[name] = print_func(func)

    program = bufferized(traced, options, observe)
    emitted = program.emit(traced.func.name)
    texts["loops"] = "\n".join(emitted.plans)
    texts["llvm"] = emitted.write()
    if "certificate" in program.func.attrs:
        texts["certificate"] = program.func.attrs["certificate"].as_text()
    return Lowered(texts, program.func, prepare, traced.loops)
