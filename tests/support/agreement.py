"""Judge of the language tests: a NumPy function run eagerly and bufferized, on clones, must be one (rule C1).

Compared are type, dtype, shape, values (bit by bit, or within `ulp`), the order of strides, effects on arguments,
identity of results with arguments and with each other, shared memory, and the class of an exception.
"""

from __future__ import annotations

import itertools
import linecache
import os
import textwrap
import warnings
from collections.abc import Callable, Sequence
from functools import lru_cache
from types import FunctionType
from typing import Any

import numpy as np

import tracebuf
from tracebuf.measure import clone_arguments

_numbers = itertools.count()


def program(source: str, **names: Any) -> FunctionType:
    """The function that a source text defines; inspect can read it back."""
    file = f"<program {next(_numbers)}>"
    text = textwrap.dedent(source).strip() + "\n"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    space: dict[str, Any] = {"np": np, **names}
    exec(compile(text, file, "exec"), space)
    found = [v for k, v in space.items() if isinstance(v, FunctionType) and v.__code__.co_filename == file]
    return found[-1]


def agree(f: Callable[..., Any], *args: Any, ulp: float = 0, **kwargs: Any) -> Any:
    """Calls `f` (bufferized, or made so) and its original on clones and compares everything; the eager result."""
    g = f if isinstance(f, tracebuf.BufferizedFunction) else bufferized(f, os.environ["TRACEBUF_TIER"])
    a1, k1 = clone_arguments(args, kwargs)
    a2, k2 = clone_arguments(args, kwargs)
    with warnings.catch_warnings(record=True) as found, np.errstate(all="warn"):
        warnings.simplefilter("always")
        want, expected = outcome(g.__wrapped__, a1, k1)
    strict = not found
    with warnings.catch_warnings(), np.errstate(all="raise" if strict else "ignore"):
        warnings.simplefilter("error" if strict else "ignore")
        warnings.simplefilter("ignore", tracebuf.TracebufWarning)
        got, raised = outcome(g, a2, k2)
    if expected is not None or raised is not None:
        if type(raised) is not type(expected):
            raise AssertionError(f"eager raises {expected!r}, bufferized {raised!r}") from (raised or expected)
        return expected
    same(got, want, ulp, "result")
    same_memory((*a2, *k2.values()), got, (*a1, *k1.values()), want)
    for i, (x, y) in enumerate(zip((*a2, *k2.values()), (*a1, *k1.values()))):
        same(x, y, ulp, f"argument {i}")
    return want


@lru_cache(maxsize=8)
def bufferized(f: FunctionType, tier: str) -> tracebuf.BufferizedFunction:
    """A function for all calls that a test makes of it: other sizes run the same program where its guards hold."""
    return tracebuf.bufferize(verify=True, max_specializations=10_000)(f)


def outcome(f: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]) -> tuple[Any, Exception | None]:
    try:
        return f(*args, **kwargs), None
    except Exception as error:
        return None, error


def same(x: Any, y: Any, ulp: float, where: str) -> None:
    """x (bufferized) is y (eager) in type, dtype, shape, values and order of strides."""
    made_twice = type(x).__module__ == type(y).__module__ == "example" and type(x).__name__ == type(y).__name__
    assert type(x) is type(y) or made_twice, f"{where}: {x!r} ({type(x)}) is not {y!r} ({type(y)})"
    if isinstance(y, (tuple, list)):
        assert len(x) == len(y), where
        for i, (p, q) in enumerate(zip(x, y)):
            same(p, q, ulp, f"{where}[{i}]")
    elif isinstance(y, dict) or is_object(y):
        mine, theirs = (v if isinstance(v, dict) else vars(v) for v in (x, y))
        assert list(mine) == list(theirs), f"{where}: keys {list(mine)}, eager {list(theirs)}"
        for key in theirs:
            same(mine[key], theirs[key], ulp, f"{where}[{key!r}]")
    elif isinstance(y, (np.ndarray, np.generic)):
        assert x.dtype == y.dtype, f"{where}: dtype {x.dtype}, eager {y.dtype}"
        assert x.shape == y.shape, f"{where}: shape {x.shape}, eager {y.shape}"
        if isinstance(y, np.ndarray):
            assert strides(x) == strides(y), f"{where}: strides {x.strides}, eager {y.strides}"
        assert close(np.asarray(x), np.asarray(y), ulp), f"{where}:\n{x!r}\neager:\n{y!r}"
    elif isinstance(y, (np.random.Generator, np.random.RandomState)):
        mine, theirs = (g.bit_generator.state if isinstance(g, np.random.Generator) else g.get_state() for g in (x, y))
        same(mine, theirs, 0, f"{where}: state")
    elif isinstance(y, (float, complex)):
        assert close(np.asarray(x), np.asarray(y), ulp), f"{where}: {x!r}, eager {y!r}"
    else:
        assert x == y, f"{where}: {x!r}, eager {y!r}"


def strides(x: np.ndarray) -> list[int]:
    """The strides that matter: of axes longer than 1, where there are elements."""
    return [s for s, n in zip(x.strides, x.shape) if n > 1] if x.size else []


def close(x: np.ndarray, y: np.ndarray, ulp: float) -> bool:
    """Equal bit by bit (NaNs are one value, the zeros are two), or within `ulp` units in the last place (of the
    magnitude of a complex number)."""
    if y.dtype.kind == "c":
        if close(x.real, y.real, 0) and close(x.imag, y.imag, 0):
            return True
        with np.errstate(all="ignore"):
            known = np.isfinite(x) & np.isfinite(y)
            near = np.abs(x - y) <= ulp * np.spacing(np.maximum(np.abs(x), np.abs(y)))
        same = [known | close_each(getattr(x, p), getattr(y, p)) for p in ("real", "imag")]
        return bool(ulp) and bool(np.all(same[0] & same[1] & (near | ~known)))
    if y.dtype.kind != "f":
        return bool(np.array_equal(x, y))
    both = np.isnan(x) & np.isnan(y)
    exact = (x == y) & (np.signbit(x) == np.signbit(y))
    with np.errstate(all="ignore"):
        near = np.abs(x - y) <= ulp * np.spacing(np.maximum(np.abs(x), np.abs(y))) if ulp else np.zeros(x.shape, bool)
    return bool(np.all(both | exact | near))


def close_each(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Where floats are the same, NaN too."""
    return np.asarray((x == y) | (np.isnan(x) & np.isnan(y)))


def arrays_in(value: Any) -> list[np.ndarray]:
    if isinstance(value, np.ndarray):
        return [value]
    return [a for v in parts_of(value) for a in arrays_in(v)]


def is_object(x: Any) -> bool:
    """An object of a class of the user's."""
    return hasattr(x, "__dict__") and not isinstance(x, (type, FunctionType, np.ndarray, tracebuf.BufferizedFunction))


def parts_of(value: Any) -> list[Any]:
    """The items of a container, the attributes of an object."""
    if isinstance(value, (tuple, list)):
        return list(value)
    return list(value.values() if isinstance(value, dict) else vars(value).values() if is_object(value) else ())


def containers_in(value: Any) -> list[Any]:
    """Lists, dicts and objects, a named tuple and those in it."""
    mine = [value] if isinstance(value, (list, dict)) or is_object(value) else []
    return [*mine, *(c for v in parts_of(value) for c in containers_in(v))]


def same_memory(args1: Sequence[Any], result1: Any, args2: Sequence[Any], result2: Any) -> None:
    """Which results are which arguments, or each other, and which share memory (rules S3, B3)."""
    one, two = (containers_in((list(a), r)) for a, r in ((args1, result1), (args2, result2)))
    for i, j in itertools.combinations(range(len(one)), 2):
        assert (one[i] is one[j]) == (two[i] is two[j]), f"identity of {one[i]!r} and {one[j]!r} differs"
    one, two = ([*arrays_in(list(a)), *arrays_in(r)] for a, r in ((args1, result1), (args2, result2)))
    for i, j in itertools.combinations(range(len(one)), 2):
        assert (one[i] is one[j]) == (two[i] is two[j]), f"identity of arrays {i} and {j} differs"
        shared = np.shares_memory(one[i], one[j]), np.shares_memory(two[i], two[j])
        assert shared[0] == shared[1], f"arrays {i} and {j}: shared memory {shared[0]}, eager {shared[1]}"


def refused(f: Callable[..., Any], *args: Any) -> tracebuf.UnsupportedError:
    """The UnsupportedError that a call raises; it must name a line and say what to write."""
    g = f if isinstance(f, tracebuf.BufferizedFunction) else tracebuf.bufferize(f)
    try:
        result = g(*args)
    except tracebuf.UnsupportedError as error:
        return error
    raise AssertionError(f"not refused: gave {result!r}")
