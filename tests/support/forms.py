"""Expressions over named values, each held against eager NumPy: several in one function, those that raise alone."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from types import FunctionType
from typing import Any

import numpy as np

from tests.support.agreement import agree, program
from tracebuf.measure import clone_arguments

RNG = np.random.default_rng(0)
A = RNG.standard_normal((4, 5))
N = A.copy()
N[1, 2], N[3], N[0, 4] = np.nan, np.nan, np.inf
VALUES: Mapping[str, Any] = {
    "a": A, "b": A * 2, "T": A.T.copy(), "N": N, "nv": N[1].copy(), "i": RNG.integers(-3, 9, (4, 5)), "bb": A > 0,
    "v": RNG.standard_normal(6), "w": RNG.standard_normal(6), "iv": np.arange(6), "sv": np.arange(6.0) ** 2,
    "f": A.astype(np.float32), "h": A.astype(np.float16), "fn": N.astype(np.float32), "odd": A[::2, ::-1],
    "u8": np.arange(12, dtype=np.uint8).reshape(3, 4), "sq": RNG.standard_normal((3, 5, 5)), "e": np.zeros(0),
    "e2": np.zeros((0, 5)), "o": RNG.standard_normal(1), "z0": np.array(2.5), "anan": np.full((2, 3), np.nan),
    "n": 7, "m": 3, "one": 1, "z": 0, "neg": -4, "x": 0.3, "y": 2.75, "s": np.float64(2.5), "s4": np.float32(1.5),
}  # fmt: skip
UNUSUAL: Mapping[str, Any] = {
    "a": np.arange(6.0).reshape(2, 3), "c": np.asfortranarray(np.arange(6.0).reshape(2, 3)), "v": np.arange(3.0),
    "z": np.array(5.0), "f": np.asfortranarray(np.ones((2, 3, 2), np.float32)), "e": np.zeros((0, 3, 2)), "n": 3,
    "i": np.arange(6).reshape(2, 3), "h": np.arange(3, dtype=np.float32), "u": np.uint8(3), "one": 1,
    "fixed": np.broadcast_to(np.arange(3), (3,)), "out": np.zeros((4, 3)), "shorts": np.zeros(3, np.int16),
    "rep": np.broadcast_to(np.arange(2.0)[:, None], (2, 3)),
}  # fmt: skip
"""Fortran order, no elements, no axes, read-only, repeated, narrow."""


def split(texts: str) -> list[str]:
    """The expressions of a text, between bars or on a line."""
    return [t.strip() for line in texts.split("\n") for t in line.split("|") if t.strip()]


def in_fives(items: Sequence[str]) -> list[list[str]]:
    """Five together, which is most of what more in a function would save."""
    return [list(items[k : k + 5]) for k in range(0, len(items), 5)]


def names_in(text: str, values: Mapping[str, Any]) -> list[str]:
    """The names among `values` that an expression reads, its strings left out."""
    words = set(re.findall(r"\w+", re.sub(r"'[^']*'|\"[^\"]*\"", "", text)))
    return [n for n in values if n in words]


def expression(text: str, values: Mapping[str, Any] = VALUES, ulp: float = 0, first: str = "") -> None:
    """One expression, eager and compiled, after the statement `first`."""
    names = names_in(f"{first} {text}", values)
    try:
        agree(function_of(text, ", ".join(names), first), *(values[n] for n in names), ulp=ulp)
    except Exception as error:
        error.add_note(text)
        raise


@lru_cache(maxsize=8)
def function_of(text: str, parameters: str, first: str = "") -> FunctionType:
    """A function that returns an expression: the same one for other values."""
    return program(f"def f({parameters}):\n    {first}\n    return {text}")


def check_forms(
    texts: str | Sequence[str],
    ulp: float = 0,
    values: Mapping[str, Any] = VALUES,
    together: int = 5,
    first: str = "",
) -> None:
    """Many expressions, each after the statement `first`: those that eager NumPy computes in functions of `together`,
    those of which it warns by themselves; the others one by one."""
    groups: dict[str, list[str]] = {}
    for text in split(texts) if isinstance(texts, str) else texts:
        groups.setdefault(eagerly(text, values, first), []).append(text)
    for text in groups.pop("raises", ()):
        expression(text, values, ulp, first)
    for alike in groups.values():
        for k in range(0, len(alike), together):
            several(alike[k : k + together], values, ulp, first)


def several(texts: Sequence[str], values: Mapping[str, Any], ulp: float, first: str) -> None:
    """Expressions in one function; where that fails, one by one, to say which it is."""
    try:
        expression(f"[{', '.join(texts)}]", values, ulp, first)
    except Exception:
        for text in texts:
            expression(text, values, ulp, first)
        raise


def eagerly(text: str, values: Mapping[str, Any], first: str = "") -> str:
    """What eager NumPy does with an expression: "raises", "warns", or nothing of that."""
    _, own = clone_arguments((), {n: values[n] for n in names_in(f"{first} {text}", values)})
    space = {"np": np, **own}
    with warnings.catch_warnings(record=True) as found, np.errstate(all="warn"):
        warnings.simplefilter("always")
        try:
            exec(first, space)
            eval(text, space)
        except Exception:
            return "raises"
    return "warns" if found else ""


def batch(items: list[str], parameters: str) -> Callable[..., Any]:
    """A function that returns all of these expressions."""
    return program(f"def f({parameters}):\n    return (\n        " + ",\n        ".join(items) + ",\n    )")


def judge(expressions: list[str], names: str, *args: Any, ulp: float = 0) -> None:
    """All expressions in one program; those that raise one by one."""
    check_forms(expressions, ulp, dict(zip(names.split(", "), args, strict=True)), together=len(expressions))
