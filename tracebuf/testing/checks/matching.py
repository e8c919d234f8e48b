"""`assert_matches_numpy`: drawn calls of a function, each beside eager NumPy on every rung; a failure is shrunk, and
written as source that can be pasted."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tracebuf.api import BufferizedFunction, bufferize
from tracebuf.errors import UnsupportedError
from tracebuf.testing.checks.literals import statements
from tracebuf.testing.checks.validate import TOLERANCE, validate
from tracebuf.testing.validation.validation import Validation

__all__ = ["assert_matches_numpy"]


class _Differs(Exception):
    """An example that differs; `text` is what the caller gets."""

    def __init__(self, text: str) -> None:
        self.text = text
        super().__init__(text)


def assert_matches_numpy(
    fn: Callable[..., Any], *strategies: Any, max_examples: int = 50, tolerance: float = TOLERANCE, **options: Any
) -> None:
    """Draws calls of a function and runs each eagerly, by both interpreters and natively, as `f.validate` does.

    Args:
        fn: a function of NumPy's arrays, or a bufferized one, which is taken with its own options.
        strategies: Hypothesis strategies, one for each positional argument (`tracebuf.testing.strategies.arrays`); what
            is no strategy is passed as it is. One strategy of tuples, for a function with several parameters, draws all
            of them (`overlapping`).
        max_examples: how many calls. They are the same ones each time.
        tolerance: how far floats may be from eager's, relative to the largest magnitude of their array; 0: equal bits.
        options: those of `bufferize`, for a plain function.

    Raises AssertionError where a result, an effect on an argument, shared memory or an exception differs, with the
    smallest arguments that do, as source, and the stage, op and line of `validate`; UnsupportedError where a call is
    refused; TypeError for options of a function that is bufferized already. Source: docs/testing.md.

    >>> from tracebuf.testing import assert_matches_numpy
    >>> from tracebuf.testing.strategies import arrays
    >>> assert_matches_numpy(lambda a: a[::2] + 1, arrays("float64", dims=1), max_examples=5)
    """
    __tracebackhide__ = True
    if isinstance(fn, BufferizedFunction) and options:
        raise TypeError(f"{fn!r} has its own options: pass its function")
    f: Any = fn if isinstance(fn, BufferizedFunction) else bufferize(**options)(fn)
    if not isinstance(f, BufferizedFunction):
        raise TypeError(f"assert_matches_numpy takes a function, not {fn!r}")
    drawn = [s if isinstance(s, st.SearchStrategy) else st.just(s) for s in strategies]
    spread = len(drawn) == 1 and len(f._names) > 1 and isinstance(strategies[0], st.SearchStrategy)

    @settings(
        max_examples=max_examples, derandomize=True, database=None, deadline=None, report_multiple_bugs=False,
        suppress_health_check=[*HealthCheck], print_blob=False,
    )  # fmt: skip
    @given(drawn[0] if spread else st.tuples(*drawn))
    def each(args: Any) -> None:
        args = args if isinstance(args, tuple) else (args,)
        try:
            found = validate(f, args, {}, tolerance)
        except UnsupportedError as refusal:
            refusal.add_note(f"met with these arguments:\n\n{source_of(f, args)}\n")
            raise
        if not found.ok:
            raise _Differs(failure(f, args, found))

    try:
        each()
    except _Differs as differs:
        raise AssertionError(differs.text) from None


def failure(f: BufferizedFunction, args: tuple[Any, ...], found: Validation) -> str:
    """The call as source, and what is different."""
    return f"{f.__wrapped__.__qualname__} does not match NumPy:\n\n{source_of(f, args)}\n\n{found}"


def source_of(f: BufferizedFunction, args: tuple[Any, ...]) -> str:
    """The call as source, indented."""
    code = f.__wrapped__.__code__
    parameters = [*inspect.signature(f.__wrapped__).parameters]
    names = [parameters[k] if k < code.co_argcount else f"x{k}" for k in range(len(args))]
    call = f"{f.__wrapped__.__name__ if f.__wrapped__.__name__.isidentifier() else 'f'}({', '.join(names)})"
    return "\n".join(f"    {line}" for line in [*statements(names, args), call])
