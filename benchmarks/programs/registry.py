"""What the benchmarks compare: programs as NumPy code, each with what its peers need beside it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]
Function = Callable[..., Any]
SIZES = ("small", "large")


@dataclass(frozen=True)
class C:
    """A program in C: its text, with a function of the program's name.

    It takes the program's arguments in order: an array as pointer and then its sizes as `long`s, a bool or int as
    `long`, a float as `double`; then the array that `out`, called with the arguments, has made, without sizes.
    `returns` is the type of what the function returns ("double", "long"), otherwise the result is what `out` has made.
    """

    text: str
    out: Function | None = None
    returns: str = ""


@dataclass(frozen=True)
class Program:
    """One program and its peers.

    `stores` are the places of the parameters that the function stores to. `jax` is its form with `jnp` and `lax`, which
    returns what the function returns and then what it stored; where the function is pure it may be the function itself:
    `np` is JAX's there. `loops` is the form with explicit loops for Numba, `numexpr` one that calls `ne.evaluate`; both
    take and give what the function does. `tolerance` is relative to the largest number of a result, `rounding` the
    share of ints in which a peer may differ, where rounding decides what is counted. `reason` says why we are behind,
    if we are.
    """

    name: str
    family: str
    function: Function
    init: Callable[[int], tuple[Any, ...]]
    small: int
    large: int
    tiny: int
    stores: tuple[int, ...] = ()
    loops: Function | None = None
    jax: Function | None = None
    numexpr: Function | None = None
    c: C | None = None
    pythran: bool = False
    tolerance: float = 1e-9
    rounding: float = 0.0
    reason: str = ""

    def results(self, returned: Any, args: Sequence[Any]) -> list[Any]:
        """What a call has given: what it returned, one by one, and the arrays that it stored to."""
        return [*flat(returned), *(args[i] for i in self.stores)]

    def check(self, got: Sequence[Any], expected: Sequence[Any], rounding: float = 0.0) -> None:
        """AssertionError where results differ by more than the tolerance; bools and ints must be equal, but for
        the share `rounding` of the elements."""
        assert len(got) == len(expected), f"{len(got)} results for {len(expected)}"
        for x, y in zip(got, expected, strict=True):
            y = np.asarray(y)
            if y.dtype.kind in "bui":
                assert np.shape(x) == y.shape, f"shape {np.shape(x)} for {y.shape}"
                if np.count_nonzero(np.not_equal(x, y)) > rounding * y.size:
                    np.testing.assert_array_equal(x, y)
            else:
                most = float(np.abs(y[np.isfinite(y)]).max(initial=0))
                np.testing.assert_allclose(x, y, rtol=self.tolerance, atol=self.tolerance * most)


def flat(returned: Any) -> list[Any]:
    if returned is None:
        return []
    return [x for r in returned for x in flat(r)] if isinstance(returned, tuple | list) else [returned]


PROGRAMS: dict[str, Program] = {}


def program(
    function: Function, init: Callable[[int], tuple[Any, ...]], sizes: tuple[int, int], *, tiny: int = 12,
    stores: str = "", **peers: Any,
) -> None:  # fmt: skip
    """Registers a function with its arguments by size and its peers; `sizes` are in cache and far out of it."""
    names = list(inspect.signature(function).parameters)
    family = function.__module__.rpartition(".")[2]
    places = tuple(names.index(name) for name in stores.split())
    name = function.__name__
    assert name not in PROGRAMS, name
    PROGRAMS[name] = Program(name, family, function, init, *sizes, tiny, places, **peers)
