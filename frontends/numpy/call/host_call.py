"""`tracebuf.host_call`: a function of the user's, with declarations of what it reads, writes and returns.

Outside of a traced function it runs the function in the same way: on the same kinds of arrays, with the same checks.
How it is traced stands in functions/host/declared.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np

from tracebuf.errors import TracebufError
from tracebuf.frontends.numpy.call.watched import call_watched
from tracebuf.frozen import frozen
from tracebuf.ir.ndarray import address, array_at, leases, still_lent
from tracebuf.running.host import kept_error, read_only

Positions = int | Sequence[int]
"""Positions among the arguments of a host call."""


def host_call(
    fn: Callable[..., Any],
    /,
    *arrays: Any,
    result_shape: Any = None,
    result_dtype: Any = None,
    reads: Positions | None = None,
    writes: Positions = (),
) -> Any:
    """Calls `fn(*arrays)`, in a traced function too, where the call is made each time it is reached: for random
    numbers, files, clocks, printing, and functions of other libraries.

    `fn` is any callable from outside of the traced function. `arrays` are arrays and numbers; what else is passed must
    be known when the function is traced. In compiled code `fn` gets NumPy arrays on the program's own memory (with its
    strides) and Python's or NumPy's numbers, as it does in eager code; it holds the GIL.

    - `result_shape`, `result_dtype`: what `fn` returns. A shape is an int or a tuple of ints, which may be computed; a
      list (or tuple) of shapes stands for as many results, in a tuple, with one dtype or one for each (float64 where
      none is given). A result of shape () is a NumPy number, any other a new array. None: `fn` returns None, or one of
      its arguments, which is dropped.
    - `writes`: the positions among `arrays` of those that `fn` stores to (0, or (0, 2)). The others are read-only.
    - `reads`: the positions of those whose elements it reads; all, where it is not given. An array that is written and
      not read may hold anything when `fn` begins, so `fn` must store to all of it.

    Calls are made in program order, never left out, repeated or merged. Apart from what is declared `fn` must not
    store to arrays that the program sees, and it must not keep those it was given: it keeps copies. Nor may it bind a
    name anew, or change a list, dict or object, that the traced function uses: compiled code took it when it began.

    Raises what `fn` raises; TracebufError where it gives another shape or dtype than is declared, keeps an array, or
    has changed what compiled code took;
    ValueError where an array in `writes` is read-only.

        def draw(n):
            return rng.normal(size=n)

        noise = tracebuf.host_call(draw, n, result_shape=n)
        tracebuf.host_call(print, "residual", r)
    """
    positions = Declared.of(len(arrays), reads, writes)
    shapes, several = shapes_of(result_shape)
    outs = [np.empty(shape, dtype) for shape, dtype in zip(shapes, dtypes_of(result_dtype, len(shapes)), strict=True)]
    for k in positions.writes:
        if not isinstance(arrays[k], np.ndarray):
            raise TypeError(f"host_call: argument {k} is written, so it must be an array")
        if not arrays[k].flags.writeable:
            raise ValueError("assignment destination is read-only")
    given = [lend(x) if isinstance(x, np.ndarray) else x for x in arrays]
    lent = leases(given)
    given = [x if k in positions.writes else read_only(x) for k, x in enumerate(given)]
    deliver(fn(*given), outs, several, name_of(fn), given)
    given.clear()
    if still_lent(lent):
        raise kept_error(name_of(fn))
    results = tuple(out if out.ndim else out[()] for out in outs)
    return results if several else results[0] if results else None


@frozen()
class Declared:
    """Which arguments are read, and which are written, by position."""

    reads: tuple[int, ...]
    writes: tuple[int, ...]

    @staticmethod
    def of(n: int, reads: Positions | None, writes: Positions) -> Declared:
        found = []
        for name, given in (("reads", range(n) if reads is None else reads), ("writes", writes)):
            items = (given,) if isinstance(given, int) else tuple(given)
            for item in items:
                if isinstance(item, bool) or not isinstance(item, int) or not 0 <= item < n:
                    raise TypeError(f"host_call: {name}= has {item!r}, not the position of one of {n} arguments")
            found.append(items)
        return Declared(*found)


def shapes_of(result_shape: Any) -> tuple[list[Any], bool]:
    """The shape of each result, and whether `result_shape` allows several."""
    if result_shape is None:
        return [], False
    several = isinstance(result_shape, (tuple, list)) and any(isinstance(s, (tuple, list)) for s in result_shape)
    return (list(result_shape), True) if several else ([result_shape], False)


def dtypes_of(result_dtype: Any, n: int) -> list[Any]:
    """The dtype of each of `n` results."""
    several = isinstance(result_dtype, (tuple, list))
    given = list(result_dtype) if several else [np.float64 if result_dtype is None else result_dtype] * n
    if len(given) != n:
        raise TypeError(f"host_call: {len(given)} dtypes for {n} results")
    return given


def name_of(fn: Any) -> str:
    name = getattr(fn, "__qualname__", None) or type(fn).__name__
    module = getattr(fn, "__module__", None)
    return f"{module}.{name}" if module else name


def lend(array: np.ndarray) -> np.ndarray:
    """A view that tells whether it, or a view of it, is still in use; it keeps the array alive."""
    shown = array_at(address(array), array.shape, array.strides, array.dtype)
    for found in leases([shown]):
        lease = found()
        assert lease is not None
        lease.owner = array
    return shown


def deliver(result: Any, outs: Sequence[np.ndarray], several: bool, name: str, args: Sequence[Any]) -> None:
    """Stores what the function returned into the new arrays; TracebufError unless it is what was declared. Without a
    declaration it is None, or (as of functions with `out=`) one of the arguments."""
    if not outs:
        if result is not None and not several and not any(result is x for x in args):
            shape, kind = getattr(result, "shape", ()), getattr(result, "dtype", type(result).__name__)
            text = f"host_call: {name} gave a result ({kind}), and none is declared"
            raise TracebufError(f"{text}\nInstead: give result_shape={shape}, or a function that returns None")
        return
    if several and (not isinstance(result, (tuple, list)) or len(result) != len(outs)):
        what = f"{len(result)} results" if isinstance(result, (tuple, list)) else f"a {type(result).__name__}"
        raise TracebufError(f"host_call: {name} gave {what}, declared are {len(outs)} results")
    for x, out in zip(result if several else (result,), outs, strict=True):
        if type(x) is np.ndarray and x.dtype == out.dtype and x.shape == out.shape:
            out[...] = x
            continue
        weak = type(x) in (bool, int, float, complex) and np.result_type(out.dtype, x) == out.dtype
        found = np.asarray(x, out.dtype) if weak else np.asarray(x)
        if found.dtype != out.dtype or found.shape != out.shape:
            given = f"{found.dtype} of shape {found.shape}" if x is not None else "None"
            text = f"{given}, declared is {out.dtype} of shape {out.shape}"
            raise TracebufError(f"host_call: {name} gave {text}\nInstead: give result_shape= and result_dtype=")
        out[...] = found


# -- in compiled code
ArgumentSource = tuple[Literal["in", "out", "int", "float", "complex", "bool", "known"], Any]
"""Where an argument is when the program runs: among the inputs (and as which of Python's numbers), among the outs, or a
known value."""
_CONVERTED: dict[str, Callable[[Any], Any]] = {"int": int, "float": float, "complex": complex, "bool": bool}


@frozen(eq=False)
class DeclaredRun:
    """What runs at a host call: the function on its arguments, in their order; its results, if they are `several` in a
    tuple, go to the first `results` of the outs."""

    function: Callable[..., Any]
    places: tuple[ArgumentSource, ...]
    results: int
    several: bool

    def __call__(self, ins: Sequence[Any], outs: Sequence[np.ndarray]) -> None:
        args: list[Any] = []
        for kind, k in self.places:
            if kind in ("known", "out"):
                args.append(k if kind == "known" else outs[self.results + k])
            else:
                args.append(_CONVERTED[kind](ins[k]) if kind in _CONVERTED else ins[k])
        name = name_of(self.function)
        deliver(call_watched(self.function, name, args), outs[: self.results], self.several, name, args)
