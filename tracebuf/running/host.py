"""Functions of Python's that compiled code calls (`tracebuf.host_call` of ops/arrays/host.py), as data: what is called,
on which operands, and where the result goes. A later process reads them from the cache on disk.

A run (`Run`) is one of the records here that can be called, where it is to be kept; any function of the same arguments
does where it is not.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Any, NoReturn

import numpy as np

from tracebuf.errors import TracebufError
from tracebuf.frozen import frozen
from tracebuf.running.handed import Handed
from tracebuf.running.ufuncs import core_dims, generalised

Run = Callable[[Sequence[Any], Sequence[np.ndarray]], None]
"""Computes the outs in place from the inputs (arrays, NumPy scalars, ints)."""


@frozen(eq=False)
class Attempt:
    """A call within a `try`: one more out, at `place`, gets the number of the first of these classes that the function
    raises, from 1 on, or 0. The exception itself is kept until the next one, under the name `kept`."""

    run: Run
    kinds: tuple[type[BaseException], ...]
    place: int
    kept: str

    def __call__(self, ins: Sequence[Any], outs: Sequence[np.ndarray]) -> None:
        status = outs[self.place]
        status[...] = 0
        said = vars(_SAID)
        said.pop("what", None)
        try:
            self.run(ins, [*outs[: self.place], *outs[self.place + 1 :]])
        except self.kinds as error:
            if isinstance(error, TracebufError):
                raise
            if (what := said.pop("what", None)) is not None and what[0] == id(error):
                raise TracebufError(what[1]) from error
            vars(_KEPT)[self.kept] = without_frames(error)
            status[...] = 1 + next(k for k, kind in enumerate(self.kinds) if isinstance(error, kind))


_KEPT = threading.local()
"""The exceptions that calls within a `try` have raised."""
_SAID = threading.local()
"""Why the code that goes on after the last exception would be wrong, and the exception's id."""


def end_if_caught(error: BaseException, why: str) -> None:
    """Has a `try` of compiled code not go on after an exception, which is on its way: it raises TracebufError."""
    _SAID.what = id(error), why


def without_frames(error: BaseException) -> BaseException:
    """An exception that keeps no frame alive, and so no array of the program: neither do those before it in its chain
    (`raise ... from`, or in a handler)."""
    todo, known = [error], {id(error)}
    while todo:
        found = todo.pop().with_traceback(None)
        for x in (found.__cause__, found.__context__):
            if x is not None and id(x) not in known:
                known.add(id(x))
                todo.append(x)
    return error


def raise_kept(kept: str) -> NoReturn:
    """Raises an exception again that was caught."""
    raise vars(_KEPT).pop(kept)


def text_kept(kept: str, quoted: bool, *number: object) -> str:
    """The text of an exception that was caught, as `str` shows it or (`quoted`) as `repr` does."""
    return (repr if quoted else str)(vars(_KEPT)[kept])


# -- loops in the function's place
ROW = 512
"""Elements of a row, up to which native code copies it to be sorted or searched."""


@frozen()
class CoreLoop:
    """The inner loop of a generalised ufunc of NumPy's, which native code calls by pointer: it computes the outs from
    the inputs, of the types of `types` ("dd->d"), bit for bit as the function does, which is called in its place where
    there is much to compute (its own cost does not matter then) and where the loop sets a status flag: an error or a
    warning, which the function says. `quiet`: the function looks at no flag but `invalid`. `odd`: the ufunc that takes
    its place where the first core dimension is odd. `widens`: the first input has real numbers, which are made complex
    where the result goes, and the loop works in place. `error`: the words of the LinAlgError that the function raises
    where the loop sets `invalid`, if it does nothing else then."""

    module: str
    ufunc: str
    types: str
    signature: str
    quiet: bool
    odd: str = ""
    widens: bool = False
    error: str = ""

    @property
    def cores(self) -> tuple[tuple[str, ...], ...]:
        return core_dims(self.signature)


@frozen()
class SortLoop:
    """NumPy's sort of one row of contiguous elements, which native code calls by pointer for each row along the last
    axis: of the only out, in place, or (`indirect`) of the input, where the out gets the indices. `kind`: NumPy's
    number of the algorithm. Rows that are not contiguous are copied up to `ROW`; of longer ones the function is
    called."""

    dtype: str
    kind: int
    indirect: bool


@frozen()
class MedianLoop:
    """The medians of rows along the last axis of the input, which native code takes from a sorted copy of each row.
    The function is called for long rows, which it need not sort, for a NaN, an infinite sum, and a zero in the middle,
    whose sign hangs on how it is found."""

    dtype: str


@frozen()
class QuantileLoop:
    """Quantiles of rows along the last axis of the input, by linear interpolation, which native code takes from a
    sorted copy of each row; the function is called where it is for medians. `places`: from 0 to 1; `several`: whether
    the out has an axis for them, its first."""

    dtype: str
    places: tuple[float, ...]
    several: bool


@frozen()
class ExtremeLoop:
    """NumPy's search for the index of the largest or least number of a row of contiguous elements, by the `name` of the
    function, which native code calls by pointer for each row along the last axis of the input; rows that are not
    contiguous are copied in blocks."""

    dtype: str
    name: str


@frozen(eq=False, slots=False)
class NativeLoop:
    """Machine code of another compiler's, by its name and address: `i64 f(ptr slots)` of the operands, which
    running/jitted.py makes. `kept` lives as long as it."""

    name: str
    address: int
    kept: Any


Loop = CoreLoop | SortLoop | MedianLoop | QuantileLoop | ExtremeLoop | NativeLoop


# -- arguments
@frozen()
class Passed:
    """An argument that is known when the program runs: its index among the operands, and which of Python's types it has
    (None: the type it arrives with)."""

    place: int
    type: type | None = None


def is_passed(pattern: Any) -> bool:
    """Whether an argument contains anything that is only known when the program runs."""
    return isinstance(pattern, Passed) or (isinstance(pattern, (tuple, list)) and any(map(is_passed, pattern)))


def fill(pattern: Any, operands: Sequence[Any]) -> Any:
    """An argument with the operands in place of each `Passed`, when the program runs."""
    if isinstance(pattern, Handed):
        return pattern.now()
    if isinstance(pattern, Passed):
        return operands[pattern.place] if pattern.type is None else pattern.type(operands[pattern.place])
    return type(pattern)([fill(p, operands) for p in pattern]) if is_passed(pattern) else pattern


# -- results
ARRAYS = (np.ndarray, np.generic)


@frozen(eq=False)
class Put:
    """Stores results of the function `name`, those at `places` if there are several, into their buffers, whose shapes
    they must have; then, for those with an axis in `bounds`, how much of the buffer is used along it."""

    name: str
    places: tuple[int, ...]
    bounds: tuple[int | None, ...]
    number: type | None = None
    """The class of what is no array, if it is not that of the dtype."""

    def __call__(self, result: Any, outs: Sequence[np.ndarray]) -> None:
        counts = iter(outs[len(self.places) :])
        results = result if isinstance(result, tuple) else (result,)
        for k, axis, out in zip(self.places, self.bounds, outs):
            x = results[k] if isinstance(results[k], ARRAYS) else np.asarray(results[k])
            if axis is not None and x.ndim == out.ndim:
                size = x.shape[axis]
                next(counts)[...] = size
                out = out[(*[slice(None)] * axis, slice(size))]
            if x.shape != out.shape or x.dtype != out.dtype:
                given = f"{x.dtype} of shape {x.shape}"
                raise TracebufError(f"{self.name} gives {given} for {out.dtype} of shape {out.shape}")
            out[...] = x


def put_nothing(result: Any, outs: Sequence[np.ndarray]) -> None:
    """What was called has written its outs."""


def put_there(result: Any, outs: Sequence[np.ndarray]) -> None:
    """Stores the only result."""
    outs[0][...] = result


def put_converted(result: Any, outs: Sequence[np.ndarray]) -> None:
    """Stores the results, real numbers into complex ones too."""
    for x, out in zip(result if isinstance(result, tuple) else (result,), outs, strict=True):
        out[...] = x


# -- runs
@frozen(eq=False)
class Direct:
    """A call that native code can make itself: a function of Python's, its arguments (each `Passed`, which counts the
    inputs and then the outs, a tuple or list of such arrays, or the same each time), the last ones by `names`. The outs
    get the result, or those at `places` of a result that is a tuple of the class `kind`. Those with an axis in `bounds`
    may be shorter along it; how long they are goes to one more out for each. `put` stores what is of other types and
    shapes, or refuses it."""

    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    names: tuple[str, ...]
    kind: type | None
    places: tuple[int, ...]
    bounds: tuple[int | None, ...]
    put: Callable[[Any, Sequence[np.ndarray]], None]

    def result(self, operands: Sequence[Any]) -> Any:
        """What the function gives for these operands."""
        given = [fill(p, operands) for p in self.arguments]
        positional = len(given) - len(self.names)
        return self.function(*given[:positional], **dict(zip(self.names, given[positional:])))

    def __call__(self, ins: Sequence[Any], outs: Sequence[np.ndarray]) -> None:
        self.put(self.result([*ins, *outs]), outs)


@frozen(eq=False)
class ByLoop:
    """What runs where native code does not call the loop itself: the ufunc, into the results; the function (`call`, if
    it does more than the ufunc) where that gives an error."""

    loop: CoreLoop
    call: Direct | None

    def __call__(self, ins: Sequence[Any], outs: Sequence[np.ndarray]) -> None:
        loop = self.loop
        chosen: Any = generalised(loop.module, loop.odd if loop.odd and ins[0].shape[-1] % 2 else loop.ufunc)
        try:
            with np.errstate(invalid="raise", **_IGNORED) if loop.quiet else nullcontext():
                chosen(*ins, out=tuple(outs), signature=loop.types)
                return
        except (FloatingPointError, ValueError):
            if self.call is None:
                raise
        put_converted(self.call.result(ins), outs)


_IGNORED: dict[str, Any] = dict.fromkeys(("over", "divide", "under"), "ignore")


@frozen(eq=False)
class HostFunction:
    """The called function: `run` calls it. `may_keep`: it is the user's, and may keep a reference to its arguments
    after it has returned. `returns`: the number of outs, the first ones, for which it makes arrays of its own that are
    copied into them. `loop`: what native code calls where it can; the function gets copies then."""

    name: str
    run: Run
    may_keep: bool = False
    returns: int = 0
    loop: Loop | None = None

    @property
    def direct(self) -> Direct | None:
        """The call as native code makes it, if it can."""
        return self.run if isinstance(self.run, Direct) else None

    @property
    def may_refuse(self) -> bool:
        """Whether a call may raise UnsupportedError."""
        return getattr(self._called, "may_refuse", False)

    @property
    def keeps_some(self) -> bool:
        """Whether a call may keep texts or objects by number."""
        return getattr(self._called, "keeps_some", False)

    @property
    def _called(self) -> Any:
        run = getattr(self.run, "run", self.run)
        return getattr(run, "function", run)

    def __str__(self) -> str:
        return self.name


def read_only(arg: Any) -> Any:
    """An array that may not be stored to; numbers as they are."""
    if not isinstance(arg, np.ndarray):
        return arg
    shown = arg.view()
    shown.flags.writeable = False
    return shown


def kept_error(name: str) -> TracebufError:
    text = "keeps an array that it was given, whose memory is used again after the call"
    return TracebufError(f"host_call: {name} {text}\nInstead: keep a copy: x.copy()")
