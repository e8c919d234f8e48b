"""One call of a function, drawn at random: its text, and its arguments in every dtype and memory layout.

A draw asks one thing of its source: to pick one of some items. So the same calls come from Hypothesis, which makes
failing ones smaller, and from a seed. Values of arguments are no part of a call: they are made of its description and
the number of a round, so that one compilation serves several.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tracebuf.frozen import frozen
from tracebuf.ir.types import SUPPORTED_DTYPES
from tracebuf.testing.arrays import LAYOUTS, Layout, laid_out

__all__ = ["COMPLEX", "FLOATS", "INTEGERS", "NUMBERS", "Array", "Call", "Drawn", "Hole", "Number", "Pick", "texts_of"]

Pick = Callable[[Sequence[Any]], Any]
_ORDER = "float64 int64 float32 bool complex128 int32 uint8 float16 int8 uint64 complex64 int16 uint16 uint32".split()
NUMBERS = tuple(d for d in _ORDER if np.dtype(d) in SUPPORTED_DTYPES)
"""Every supported dtype; those that many programs use come first, and are drawn more often."""
FLOATS, INTEGERS, COMPLEX = (tuple(d for d in NUMBERS if np.dtype(d).kind in kinds) for kinds in ("f", "iu", "c"))
SIZES = (3, 2, 4, 1, 0, 5, 3, 2)
SHAPES = ((3,), (2, 3), (4,), (3, 3), (5, 2), (), (1,), (0,), (2, 1), (0, 3), (3, 0), (2, 3, 2), (1, 2, 1), (9,), (17,))

# -- values

_SPECIAL = (float("nan"), float("inf"), float("-inf"), -0.0, 0.0, 1e30, -1e30, 1e-30, 0.1, 2.5, -2.5, 1.0, -1.0, 3.0)


def _real(rng: random.Random, dtype: np.dtype, pool: str, special: bool) -> Any:
    """A number; "sums" are of small magnitude, so that rounding errors of other orders of adding stay small."""
    if dtype.kind == "b":
        return rng.random() < 0.5
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        if pool == "index":
            return rng.choice((0, 1, 2, 0, 1, -1)) if dtype.kind == "i" else rng.choice((0, 1, 2))
        if special and pool == "any":
            return rng.choice((info.min, info.max, info.max - 1, info.max // 2, 0, 1, 2, 3, 7))
        return rng.randint(1 if pool == "positive" else 0 if dtype.kind == "u" else -4, 5)
    if pool == "index":
        return float(rng.choice((0, 1, 2)))
    if pool == "positive":
        return rng.choice((0.5, 1.0, 2.0, 0.25, 3.0, 1.5))
    if special:
        items = _SPECIAL if pool == "any" else (float("nan"), float("inf"), -0.0, 0.0, 0.5, 2.0, -1.0, 3.0, 1.5, -2.0)
        return rng.choice(items)
    return rng.choice((rng.randint(-4, 5), rng.randint(-4, 5) / 2, rng.uniform(-3, 3)))


def values(dtype: str, shape: tuple[int, ...], pool: str, seed: int, tame: bool) -> np.ndarray[Any, np.dtype[Any]]:
    """An array in C order: of plain values in round 0 or where `tame`, of special ones in half of the others.

    Pools: "any"; "sums", "positive" and "index" (see `_real`); "sorted" along the last axis; "regular" and "spd",
    matrices far from singular, the latter symmetric and positive.
    """
    kind = np.dtype(dtype)
    rng = random.Random(f"{dtype} {shape} {pool} {seed}")
    special = bool(seed) and not tame and rng.random() < 0.5
    inner = "sums" if pool in ("sorted", "regular", "spd") else pool
    if inner != pool:
        special = False
    real = [_real(rng, kind, inner, special) for _ in range(int(np.prod(shape, dtype=int)))]
    if kind.kind == "c":
        real = [complex(x, _real(rng, kind, inner, special)) for x in real]
    with np.errstate(over="ignore"):  # 1e30 is an infinity of float16
        array = np.array(real, kind).reshape(shape)
    if pool == "sorted":
        array = np.sort(array, axis=-1)
    elif pool in ("regular", "spd") and array.ndim >= 2 and shape[-1] == shape[-2]:
        if pool == "spd":
            array = array @ np.conj(np.swapaxes(array, -1, -2))
        array = (array + np.eye(shape[-1]) * 12 * max(1, shape[-1])).astype(kind)
    return array


@frozen(slots=False)
class Array:
    """An array argument."""

    dtype: str
    shape: tuple[int, ...]
    layout: Layout = "C"
    pool: str = "any"
    writable: bool = True

    def value(self, seed: int, tame: bool) -> np.ndarray[Any, np.dtype[Any]]:
        made = values(self.dtype, self.shape, self.pool, seed, tame)
        made = laid_out(made, self.layout) if self.shape else made
        made.flags.writeable = self.writable and self.layout != "repeated"
        return made


@frozen(slots=False)
class Number:
    """A scalar argument: of a Python type, or of NumPy's with that name."""

    kind: str
    items: tuple[Any, ...]

    def value(self, seed: int, tame: bool) -> Any:
        item = random.Random(f"{self.kind} {self.items} {seed}").choice(self.items)
        python = {"int": int, "float": float, "bool": bool, "complex": complex}
        return python.get(self.kind, np.dtype(self.kind).type)(item)


@frozen(slots=False)
class Call:
    """A program of one call: its lines, and what it takes."""

    name: str
    body: tuple[str, ...]
    values: dict[str, Array | Number]

    @property
    def text(self) -> str:
        return "\n".join([f"def f({', '.join(self.values)}):", *(f"    {line}" for line in self.body)]) + "\n"

    def arguments(self, seed: int) -> list[Any]:
        """The values of a round. No infinities where uint32 is involved: what NumPy converts one to depends on its
        position."""
        tame = "uint32" in str(self)
        return [v.value(seed, tame) for v in self.values.values()]

    def __str__(self) -> str:
        return self.text + "".join(f"# {name}: {value}\n" for name, value in self.values.items())


# -- drawing


@dataclass
class Drawn:
    """What has been drawn of a call so far. `main` is its first array, which others are made to go with."""

    pick: Pick
    dtypes: Sequence[str] = NUMBERS
    shapes: Sequence[tuple[int, ...]] = SHAPES
    pool: str = "any"
    values: dict[str, Array | Number] = field(default_factory=dict)
    main: Array | None = None
    main_name: str = ""

    def one_in(self, n: int) -> bool:
        return bool(self.pick(range(n)) == n - 1)

    def _named(self, value: Array | Number) -> str:
        taken = [n for n in "abcdefghijklm" if n not in self.values]
        self.values[taken[0]] = value
        return taken[0]

    def dtype(self, dtypes: Sequence[str] | None = None) -> str:
        """One of the dtypes: an early one in half of the draws."""
        items = self.dtypes if dtypes is None else dtypes
        return str(self.pick([*items[:3], *items] if len(items) > 3 else items))

    def array(
        self, shape: tuple[int, ...] | None = None, dtypes: Sequence[str] | None = None, pool: str | None = None
    ) -> str:
        """The name of a new array argument."""
        shape = tuple(self.pick(self.shapes)) if shape is None else shape
        layout: Layout = self.pick(("C", "C", *LAYOUTS)) if shape else "C"
        made = Array(self.dtype(dtypes), shape, layout, pool or self.pool, not self.one_in(8))
        name = self._named(made)
        if self.main is None:
            self.main, self.main_name = made, name
        return name

    def number(self, kind: str, items: Sequence[Any]) -> str:
        """The name of a new scalar argument, or a literal."""
        if kind in ("int", "float") and self.one_in(2):
            return repr({"int": int, "float": float}[kind](self.pick(items)))
        return self._named(Number(kind, tuple(items)))

    @property
    def shape(self) -> tuple[int, ...]:
        return () if self.main is None else self.main.shape

    @property
    def ndim(self) -> int:
        return len(self.shape)

    def axis(self) -> int:
        """An axis of the main array, counted from either end; now and then one that it has not."""
        n = self.ndim
        return int(self.pick([*range(n), *range(-1, -n - 1, -1), *range(n), n] if n else [0, -1, 0]))

    def fitting(self, shape: tuple[int, ...] | None = None) -> tuple[int, ...]:
        """A shape that broadcasts to another one."""
        shape = self.shape if shape is None else shape
        kept = shape[self.pick([0, 0, *range(len(shape) + 1)]) :]
        return tuple(1 if self.one_in(6) else n for n in kept)


Hole = Callable[[Drawn], str]


def texts_of(text: str) -> Hole:
    """A hole that is filled with one of the texts between bars."""
    items = text.split("|")
    return lambda d: str(d.pick(items))
