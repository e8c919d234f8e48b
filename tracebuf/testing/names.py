"""The names of the support table: NumPy's public names, Python's builtins, `math`, arrays' methods and attributes, as
texts.

A name is written as a user writes it: `np.linalg.norm`, `np.add.reduce`, `ndarray.sum`, `math.sin`, `abs`.
"""

from __future__ import annotations

import builtins
import cmath
import inspect
import math
import types
from functools import cache
from typing import Any

import numpy as np

__all__ = ["UFUNC_METHODS", "aliases", "handler", "object_of", "public", "section"]

UFUNC_METHODS = ("at", "reduce", "accumulate", "outer", "reduceat")
"""The first of every ufunc, the others of those of two operands and one result."""
_SPACES: dict[str, Any] = {
    "np.": np, "np.linalg.": np.linalg, "np.fft.": np.fft, "np.lib.stride_tricks.": np.lib.stride_tricks,
    "math.": math, "cmath.": cmath, "": builtins,
}  # fmt: skip


def _names(space: Any) -> list[str]:
    """Functions and types; not modules, constants, exceptions and what begins with an underscore."""
    found = []
    for name in dir(space):
        value = None if name.startswith("_") else getattr(space, name)
        failure = isinstance(value, type) and issubclass(value, BaseException)
        if callable(value) and not isinstance(value, types.ModuleType) and not failure:
            found.append(name)
    return found


@cache
def _everything() -> tuple[dict[str, Any], dict[str, tuple[str, ...]]]:
    """Objects by the first of their names, and their other names."""
    objects: dict[str, Any] = {}
    aliases: dict[str, tuple[str, ...]] = {}
    name_of: dict[int, str] = {}
    for prefix, space in _SPACES.items():
        names = _names(space)
        for name in sorted(names, key=lambda n: (getattr(getattr(space, n), "__name__", n) != n, n)):
            value = getattr(space, name)
            first_name = name_of.setdefault(id(value), prefix + name)
            if first_name == prefix + name:
                objects[first_name] = value
            elif first_name.startswith("np."):
                aliases[first_name] = (*aliases.get(first_name, ()), prefix + name)
    for name, value in list(objects.items()):
        if isinstance(value, np.ufunc) and value.signature is None:
            several = value.nin == 2 and value.nout == 1
            objects |= {f"{name}.{m}": getattr(value, m) for m in (UFUNC_METHODS if several else UFUNC_METHODS[:1])}
    for name in dir(np.ndarray):
        if not name.startswith("_"):
            objects[f"ndarray.{name}"] = getattr(np.ndarray, name)
    return objects, aliases


def public() -> list[str]:
    """Every name, in the order of the sections."""
    return list(_everything()[0])


def object_of(name: str) -> Any:
    return _everything()[0][name]


def aliases(name: str) -> tuple[str, ...]:
    return _everything()[1].get(name, ())


def section(name: str) -> str:
    """The part of the table that a name belongs to."""
    value = object_of(name)
    if name.startswith("ndarray."):
        return "Array methods" if callable(value) else "Array attributes"
    if name.startswith("np.") and isinstance(getattr(value, "__self__", None), np.ufunc):
        return "Methods of ufuncs"
    if isinstance(value, np.ufunc):
        return "Ufuncs"
    if name.startswith("np.") and isinstance(value, type):
        return "NumPy's types"
    prefix = name.rpartition(".")[0]
    return {"np": "NumPy's functions", "": "Builtins"}.get(prefix, prefix)


def handler(name: str) -> Any:
    """What the tracer calls for a function or method, or None; attributes have no handler."""
    from tracebuf.frontends.numpy.functions import table
    from tracebuf.frontends.numpy.record.registry import METHODS

    if name.startswith("ndarray."):
        return METHODS.get(name.removeprefix("ndarray."))
    return table.handler_of(object_of(name)) or table.formula_of(object_of(name))


def parameters(name: str) -> list[inspect.Parameter]:
    """The parameters of a name as NumPy documents them, a method's without `self`."""
    try:
        found = list(inspect.signature(object_of(name)).parameters.values())
    except (ValueError, TypeError):
        return []
    return found[1:] if found and found[0].name == "self" else found
