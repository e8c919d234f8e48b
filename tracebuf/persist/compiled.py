"""A program that was compiled before it is called: `Compiled`, the result of `f.lower(...).compile()` and of `load`."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from types import FunctionType
from typing import Any, Protocol

from tracebuf.backend.runtime.kernel import Kernel
from tracebuf.errors import TracebufError
from tracebuf.frontends.numpy.call.arguments import RunOriginal
from tracebuf.frontends.numpy.call.call import Call, show_keys
from tracebuf.frontends.numpy.call.captures import Hidden
from tracebuf.frontends.numpy.call.results import CallPlan
from tracebuf.options import Options
from tracebuf.persist import saved
from tracebuf.persist.programs import Kept
from tracebuf.persist.saved import Saved

__all__ = ["Compiled", "load"]


class Program(Protocol):
    """A specialisation."""

    call: Call
    traced: CallPlan
    kernel: Kernel

    @property
    def guard(self) -> Callable[[Sequence[Any]], bool]: ...
    def fits(self, values: Sequence[Any]) -> bool: ...


class Function(Protocol):
    """A bufferized function."""

    __wrapped__: FunctionType
    options: Options
    _offers: list[Callable[[Call], Kept | None]]
    _hidden: tuple[Hidden, ...]

    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...
    def _values(
        self, args: tuple[Any, ...], kwargs: dict[str, Any], captured: tuple[Hidden, ...] | None = None
    ) -> tuple[tuple[Any, ...], Any]: ...
    def _known(self, values: tuple[Any, ...], form: Any) -> tuple[Any, Sequence[Any], tuple[Any, ...]]: ...
    def _call_of(self, args: tuple[Any, ...], kwargs: dict[str, Any], hidden: tuple[Hidden, ...]) -> Call: ...
    def _adopt(self, call: Call, file: Saved) -> Any: ...
    def _remember_call(self, call: Call) -> None: ...
    def _watched(
        self, spec: Any, values: Sequence[Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> AbstractContextManager[None]: ...
    def _run(self, spec: Any, values: Sequence[Any], containers: Sequence[Any], known: Any = None) -> Any: ...


class Compiled:
    """One program of a bufferized function, compiled for arguments of one kind: called as the function is, with such
    arguments alone, it never traces or compiles. `function` is the bufferized function, which has the program too; of a
    method, the object is the first argument. A call costs tens of microseconds, as a function's first calls do.
    Counterpart: jax.stages.Compiled.

    >>> import numpy as np, tracebuf
    >>> double = tracebuf.bufferize(lambda a: 2 * a)
    >>> compiled = double.lower(tracebuf.spec("f8[n]")).compile()
    >>> compiled(np.ones(2))
    array([2., 2.])
    >>> compiled(np.ones(2, dtype=np.float32))
    Traceback (most recent call last):
    TypeError: this program of <lambda> was compiled for (float64[n]), not for (float32[n])
    """

    def __init__(
        self,
        function: Function,
        program: Program | None,
        *,
        as_text: Callable[[str], str] | None = None,
        file: Saved | None = None,
    ) -> None:
        self.function = function
        self._program, self._text, self._file = program, as_text, file
        self._hidden = file.hidden if file is not None else program.call.hidden if program is not None else ()

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The function's result. Raises TypeError for arguments of another kind than the program was compiled for,
        ValueError where sizes or values are others than it was made for, or arrays overlap that are stored to,
        TracebufError where a name from outside has changed, else what a call of the function raises."""
        f = self.function
        program, values, containers, known = self._fitting(args, kwargs)
        with f._watched(program, values, args, kwargs):
            return f._run(program, values, containers, known)

    def _fitting(
        self, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[Program, Sequence[Any], Sequence[Any], Any]:
        """The program, with the leaves and containers of a call that it serves."""
        f, program = self.function, self._program
        if program is not None:
            hidden = f._hidden
            known, values, containers = f._known(*f._values(args, kwargs, hidden))
            served = known is not None and known.hidden is hidden and program in known.group
            if served and program.fits(values):
                return program, values, containers, known
        try:
            call = f._call_of(args, kwargs, self._hidden)
        except RunOriginal as reason:
            raise TypeError(f"{self._named} was compiled for ({self._shown}): {reason}") from None
        self._check_kind(call)
        plan, guard = (program.traced, program.guard) if program is not None else self._of_file
        if not guard(call.values):
            guards = ", ".join(plan.guard_texts)
            raise ValueError(f"{self._named} was compiled for ({self._shown}) with {guards}: these arguments have not")
        if not plan.captures_hold() or not (program or self._file is None or self._file.is_as_it_was(call)):
            raise TracebufError(f"{self._named} is stale: a name from outside that it was made with has changed")
        if (overlap := call.overlap(plan.stored)) is not None:
            raise ValueError(
                f"{self._named} cannot run: {overlap}; call {f.__wrapped__.__name__} itself, or pass copies"
            )
        if program is None:
            assert self._file is not None
            self._program = program = f._adopt(call, self._file)
        f._remember_call(call)
        return program, call.values, call.containers, None

    def _check_kind(self, call: Call) -> None:
        """Raises TypeError where the call is not of the kind that the program is for."""
        if self._program is not None:
            fits = call.group == self._program.call.group
        else:
            fits = self._file is not None and self._file.is_for(call)
        if not fits:
            wanted, given = self._shown, show_keys(call)
            other = "" if given != wanted else ": which of them are one array, or one container, differs"
            raise TypeError(f"{self._named} was compiled for ({wanted}), not for ({given}){other}")

    @property
    def _of_file(self) -> tuple[CallPlan, Callable[[Sequence[Any]], bool]]:
        assert self._file is not None
        return self._file.plan, self._file.guard

    @property
    def _named(self) -> str:
        return f"this program of {self.function.__wrapped__.__qualname__}"

    @property
    def _shown(self) -> str:
        if self._file is not None:
            return self._file.shown
        return "" if self._program is None else show_keys(self._program.call)

    def as_text(self, stage: str = "memref") -> str:
        """The program after a stage, as `Lowered.as_text` gives it. Raises TracebufError for one out of a file, which
        has no texts."""
        if self._text is None:
            raise TracebufError(f"{self._named} came out of a file, without texts; `lower` of the function makes them")
        return self._text(stage)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the program into a file, which `tracebuf.load` reads in another process. Nothing in it is pickled.

        Raises UnsupportedError for a program that cannot be written down: one that calls functions of Python's, or that
        depends on a value which has no name or text; OSError.
        """
        if self._file is not None:
            data = self._file.data
        else:
            assert self._program is not None
            p = self._program
            data = saved.written(self.function, p.call, p.traced, p.kernel, self._shown)
        saved.write(path, data)

    def __str__(self) -> str:
        return f"{self.function.__wrapped__.__qualname__} for ({self._shown})"

    def __repr__(self) -> str:
        return f"<compiled {self}>"


def load(path: str | os.PathLike[str], function: Any = None) -> Compiled:
    """The program that `Compiled.save` wrote. Its function has it from then on: such calls neither trace nor compile.

    Args:
        path: the file. It is machine code, which is run: load what you trust as you trust a program. (A digest tells
            whether it is as it was written, not by whom.)
        function: the bufferized function; by default the one of its name in its module, which is imported.

    Raises TracebufError where the file is damaged, or made by or for something else than what is here: another
    processor, other versions of Python, NumPy, LLVM or tracebuf, other options, another text of the function or of what
    it uses; the message says which. OSError; TypeError for a `function` that is not bufferized.
    """
    data = saved.read(path)
    f = saved.function_of(data, path) if function is None else saved.bufferized(function)
    if f is None:
        raise TypeError(f"load takes a bufferized function, not a {type(function).__name__}")
    file = saved.opened(data, f, path)
    f._offers.append(file.serve)
    return Compiled(f, None, file=file)
