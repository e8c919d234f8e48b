"""The elements of `dense<...>`, MLIR's constant tensors, as NumPy arrays. MLIR counterpart: DenseElementsAttr."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

_WORD = re.compile(r"[-+\w.]+")


def dense_array(text: str, shape: Sequence[int], dtype: np.dtype) -> np.ndarray:
    """The array of `dense<1.0> : tensor<4xf32>`; ValueError for what NumPy cannot hold and for a wrong count."""
    if not text.startswith("dense<") or not dtype.isbuiltin:
        raise ValueError(f"not a constant tensor of numbers: {text[:60]}")
    inside = text[len("dense<") : text.rindex(">", 0, _end(text))]
    if inside.startswith('"0x'):
        raw = np.frombuffer(bytes.fromhex(inside.strip('"')[2:]), dtype)
        return np.broadcast_to(raw, shape).copy() if raw.size == 1 else raw.reshape(shape).copy()
    if dtype.kind == "c":
        part = np.empty(0, dtype).real.dtype
        found = np.array([_number(word, part) for word in _WORD.findall(inside)], part).view(dtype)
    else:
        found = np.array([_number(word, dtype) for word in _WORD.findall(inside)], dtype)
    return found.reshape(shape) if "[" in inside or not inside else np.full(shape, found[0], dtype)


def _end(text: str) -> int:
    """Where the attribute ends and its type begins."""
    at = text.rfind("> : ")
    return len(text) if at < 0 else at + 1


def _number(word: str, dtype: np.dtype) -> Any:
    if word in ("true", "false"):
        return word == "true"
    bits = word.removeprefix("-").startswith("0x")
    if dtype.kind == "f":
        unsigned = np.dtype(f"u{dtype.itemsize}")
        return np.array(int(word, 16), unsigned).view(dtype)[()] if bits else float(word)
    value = int(word, 16 if bits else 10)
    return value & (2 ** (8 * dtype.itemsize) - 1) if dtype.kind == "u" else value
