"""A program that Numba compiles, as something to call: what `backend="numba"` has in the place of machine code by LLVM.

Python calls it, in this process alone: it is not kept in the cache on disk, and no native call takes it.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from contextvars import ContextVar
from typing import Any

import numpy as np

from tracebuf.backend.numba.module import Module, as_given, module_of
from tracebuf.backend.runtime.arena import Counters, Make
from tracebuf.backend.runtime.callback import Callback
from tracebuf.backend.runtime.code import Code
from tracebuf.backend.runtime.kernel import Kernel, Prepared, checked_for, unfit
from tracebuf.errors import InternalError, UnsupportedError, note_location
from tracebuf.ir.func import Func
from tracebuf.ops.arrays.host import HostCall
from tracebuf.running.host import HostFunction, read_only

_outside: ContextVar[Any] = ContextVar("_outside")
"""NumPy's error state around the call that runs."""
_PREPARED = Prepared([], (), ())


class NumbaKernel(Kernel):
    """A kernel whose code is a module of Python with its loops compiled by Numba, when they first run."""

    def __init__(self, func: Func, other: Callable[[], Kernel]) -> None:
        """`other` makes the kernel of another back end for the program, which counts. Raises UnsupportedError for what
        this back end does not do, and where Numba is not installed."""
        try:
            import numba  # noqa: F401
        except ImportError as error:
            reason = f'backend="numba" needs Numba: {error}'
            raise UnsupportedError(reason, location=func.loc, instead="python -m pip install numba") from None
        self.name, self.code, self.shared, self._idle = func.name, Code(), None, []
        self.notes_callbacks([_callback_of(op) for op in _host_calls(func)])
        self._other = other
        self._counted: Kernel | None = None
        self.module: Module = module_of(func, compiled=True)
        self._checked = checked_for(self.module.takes)
        objects = {name: _called(x) if name.startswith("call_") else x for name, x in self.module.objects.items()}
        self._function = self.module.load(objects)

    @property
    def confined(self) -> str:
        return 'Numba compiles it (backend="numba")'

    @property
    def refuses(self) -> bool:
        return True

    @property
    def cpu_seconds(self) -> float:
        return 0.0

    def prepare(self, args: Sequence[Any]) -> Prepared:
        """Checks arguments; there is nothing to keep."""
        if len(args) != len(self._checked):
            raise InternalError(f"{self.name} takes {len(self._checked)} arguments, not {len(args)}")
        for arg, parameter in zip(args, self._checked):
            if parameter is not None and not parameter.fits(arg):
                raise unfit(self.name, parameter, arg)
        return _PREPARED

    def run(self, args: Sequence[Any], prepared: Prepared | None = None, *, make: Make = np.empty) -> list[Any]:
        """The results; args and errors are those of a native kernel's. Arrays are of Numba's making: `make` is not
        asked."""
        if prepared is None:
            self.prepare(args)
        module = self.module
        given = [as_given(t, x) for t, x in zip(module.takes, args)]
        token = _outside.set(np.geterr())
        try:
            with np.errstate(all="ignore"):
                found = self._function(*given)
        except Exception as error:
            if type(error).__module__.startswith("numba."):
                raise InternalError(f"Numba does not compile {self.name}: {error}") from error
            note_location(error, module.place_of(error))
            raise
        finally:
            _outside.reset(token)
        return module.results(found)

    def run_counted(self, args: Sequence[Any]) -> tuple[list[Any], Counters]:
        """The results, and what the program allocates and copies. That is counted while the other back end's code of
        the same program runs, on copies of the arguments: Numba does not say it."""
        if self._counted is None:
            self._counted = self._other()
        known: dict[int, Any] = {}
        _, counters = self._counted.run_counted([copy.deepcopy(x, known) for x in args])
        return self.run(args), counters


def _host_calls(func: Func) -> Iterator[HostCall]:
    for f in (*func.callees, func):
        yield from (op for op in f.walk() if isinstance(op, HostCall))


def _callback_of(op: HostCall) -> Callback:
    """Refuses functions that may keep the memory that they get (the user's), which native code alone looks at."""
    if not isinstance(op.callee, HostFunction) or op.callee.may_keep:
        raise UnsupportedError(
            f'backend="numba": a call of {op.callee}, which may keep what it gets (a function of yours, a text)',
            location=op.loc,
            instead="leave out backend=",
        )
    return Callback(op.callee, op.n_ins, (), (), op.may_raise, True, op.loc)


def _called(run: Callable[..., Any]) -> Callable[..., Any]:
    """A function from outside, which gets its inputs to read, under the caller's error state."""

    def called(ins: Sequence[Any], outs: Sequence[Any]) -> None:
        with np.errstate(**_outside.get()):
            run([read_only(x) for x in ins], outs)

    return called
