"""Arguments as source that can be pasted: arrays with their layout, their overlaps, and whether they are read-only.

An array is written in the first of some forms that gives an equal one: as it is, in Fortran's order, reversed, as a
part of a buffer. Not written are the elements of a buffer that no array has, where one form can do without.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

__all__ = ["statements", "text_of"]

Array = np.ndarray[Any, np.dtype[Any]]
PLAIN = ("float64", "int64", "bool", "complex128")
"""The dtypes that `np.array` makes of Python's numbers."""


def statements(names: Sequence[str], values: Sequence[Any]) -> list[str]:
    """Assignments that make the values."""
    lines: list[str] = []
    done: dict[int, str] = {}
    memories: list[tuple[Array, str]] = []
    for name, x in zip(names, values, strict=True):
        if isinstance(x, np.ndarray) and id(x) in done:
            lines.append(f"{name} = {done[id(x)]}")
            continue
        others = [y for y in values if y is not x and isinstance(y, np.ndarray)]
        if isinstance(x, np.ndarray) and any(np.may_share_memory(x, y) for y in others):
            lines += part_of_memory(name, x, memories)
        elif isinstance(x, np.ndarray):
            lines.append(f"{name} = {array_text(x)}")
        else:
            lines.append(f"{name} = {text_of(x)}")
        if isinstance(x, np.ndarray):
            done[id(x)] = name
            if not x.flags.writeable and "broadcast_to" not in lines[-1]:
                lines.append(f"{name}.flags.writeable = False")
    return lines


def part_of_memory(name: str, x: Array, memories: list[tuple[Array, str]]) -> list[str]:
    """An array that shares memory with another one, as a part of a buffer that has a name."""
    root = root_of(x)
    found = next((n for r, n in memories if r is root), None)
    lines = []
    if found is None:
        found = "memory" if not memories else f"memory{len(memories)}"
        memories.append((root, found))
        flat = root.ravel(order="K")
        lines.append(f"{found} = {values_text(flat)}")
    return [*lines, f"{name} = {within(found, x, root)}"]


def within(memory: str, x: Array, root: Array) -> str:
    """A part of a buffer, by its place."""
    offset = x.__array_interface__["data"][0] - np.lib.array_utils.byte_bounds(root)[0]
    return f'np.ndarray({x.shape}, "{x.dtype}", {memory}, offset={offset}, strides={x.strides})'


def root_of(x: Array) -> Array:
    while isinstance(x.base, np.ndarray):
        x = x.base
    return x


def array_text(x: Array) -> str:
    """An expression of an equal array."""
    for text in forms(x):
        made = eval(text, {"np": np, "complex": complex})
        if made.strides == x.strides or (not x.size and made.flags.c_contiguous == x.flags.c_contiguous):
            return text
    return within(values_text(memory_of(x)), x, root_of(x))


def memory_of(x: Array) -> Array:
    """The elements of the buffer that an array is a part of."""
    root = root_of(x)
    return root.ravel(order="K") if root.flags.forc else root.copy().ravel(order="K")


def forms(x: Array) -> Iterator[str]:
    plain = values_text(x)
    yield plain
    if x.ndim > 1:
        yield f"np.asfortranarray({plain})"
        yield f"np.moveaxis({values_text(np.moveaxis(x, -1, 0))}, 0, -1)"
    if any(s < 0 for s in x.strides):
        turn = tuple(slice(None, None, -1 if s < 0 else None) for s in x.strides)
        index = ", ".join("::-1" if s < 0 else ":" for s in x.strides)
        yield f"{values_text(x[turn])}[{index}]"
    if x.ndim and x.strides[0] == 0 and len(x):
        yield f"np.broadcast_to({values_text(x[:1])}, {x.shape})"


def values_text(x: Array) -> str:
    """An array in C order."""
    if not x.size:
        return f'np.empty({x.shape}, "{x.dtype}")'
    dtype = "" if str(x.dtype) in PLAIN else f', "{x.dtype}"'
    return f"np.array({text_of(x.tolist())}{dtype})"


def text_of(x: Any) -> str:
    """An expression of a number, or of a container of such; what `repr` gives for anything else."""
    if isinstance(x, np.generic):
        return f"np.{type(x).__name__}({text_of(x.item())})"
    if isinstance(x, np.ndarray):
        return array_text(x)
    if isinstance(x, bool):
        return repr(x)
    if isinstance(x, float) and not math.isfinite(x):
        return "np.nan" if math.isnan(x) else "np.inf" if x > 0 else "-np.inf"
    if isinstance(x, complex):
        return f"complex({text_of(x.real)}, {text_of(x.imag)})"
    if type(x) in (list, tuple):
        inner = ", ".join(map(text_of, x)) + ("," if type(x) is tuple and len(x) == 1 else "")
        return f"[{inner}]" if type(x) is list else f"({inner})"
    if type(x) is dict:
        return "{" + ", ".join(f"{text_of(k)}: {text_of(v)}" for k, v in x.items()) + "}"
    return repr(x)
