"""MLIR attributes as text with their meaning, as the reader finds them and the printer gives them back.

An op's `attrs` hold tracebuf's own encoding (plain Python values), which the op's class translates, beside `Attr`s,
which are kept verbatim: what no class knows is not lost. MLIR counterpart: mlir/IR/BuiltinAttributes.h.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

DYNAMIC = -(2**63)
"""MLIR's ShapedType::kDynamic, where an attribute leaves a place to an operand."""


@dataclass(frozen=True)
class Attr:
    """`text` is MLIR's (aliases expanded); `value` its meaning in Python where the reader knows it: int, float, bool,
    str, list, dict, a Type, None for `unit`. `inherent`: a property of the op (`<{...}>`), not a remark on it."""

    text: str
    value: Any = None
    inherent: bool = False

    def __str__(self) -> str:
        return self.text


def inherent(text: str, value: Any = None) -> Attr:
    """A property of an op."""
    return Attr(text, value, True)


def string(value: str, *, inherent: bool = False) -> Attr:
    return Attr(json.dumps(value, ensure_ascii=False), value, inherent)


def array_of(values: Iterable[Attr], *, inherent: bool = False) -> Attr:
    """`[a, b]`"""
    items = list(values)
    return Attr(f"[{', '.join(a.text for a in items)}]", [a.value for a in items], inherent)


def strings(values: Iterable[str], *, inherent: bool = False) -> Attr:
    """`["a", "b"]`"""
    return array_of((string(v) for v in values), inherent=inherent)


def integers(values: Sequence[int | None], bits: int = 64) -> Attr:
    """`array<i64: 1, 2>`, a property; None is a place that an operand fills."""
    found = [DYNAMIC if v is None else v for v in values]
    return Attr(f"array<i{bits}: {', '.join(map(str, found))}>" if found else f"array<i{bits}>", found, True)


def segments(*sizes: int) -> Attr:
    """`operandSegmentSizes`"""
    return integers(sizes, 32)
