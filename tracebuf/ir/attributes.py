"""MLIR attributes as text with their meaning, as the reader finds them and the printer gives them back.

An op's `attrs` hold tracebuf's own encoding (plain Python values), which the op's class translates, beside `Attr`s,
which are kept verbatim, so that what no class knows is not lost. MLIR counterpart: mlir/IR/BuiltinAttributes.h.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tracebuf.frozen import frozen
from tracebuf.ir.types import ScalarType
from tracebuf.location import quoted

DYNAMIC = -(2**63)
"""MLIR's ShapedType::kDynamic: stands in an attribute for a value that is an operand."""


@frozen(slots=False)
class Attr:
    """`text` is MLIR's (aliases expanded); `value` its meaning in Python where the reader knows it: int, float, bool,
    str, list, dict, a Type, None for `unit`. `inherent`: a property of the op (`<{...}>`), not a remark on it."""

    text: str
    value: Any = None
    inherent: bool = False

    def __str__(self) -> str:
        return self.text


def inherent(text: str, value: Any = None) -> Attr:
    """The attribute as a property of an op (`<{...}>`)."""
    return Attr(text, value, True)


def string(value: str, *, inherent: bool = False) -> Attr:
    return Attr(quoted(value), value, inherent)


def array_of(values: Iterable[Attr], *, inherent: bool = False) -> Attr:
    """`[a, b]`"""
    items = list(values)
    return Attr(f"[{', '.join(a.text for a in items)}]", [a.value for a in items], inherent)


def strings(values: Iterable[str], *, inherent: bool = False) -> Attr:
    """`["a", "b"]`"""
    return array_of((string(v) for v in values), inherent=inherent)


def integers(values: Sequence[int | None], bits: int = 64) -> Attr:
    """`array<i64: 1, 2>`, a property; None stands for a value that is an operand."""
    found = [DYNAMIC if v is None else v for v in values]
    return Attr(f"array<i{bits}: {', '.join(map(str, found))}>" if found else f"array<i{bits}>", found, True)


def dynamic_integers(attr: Any) -> tuple[int | None, ...]:
    """The values of an attribute that `integers` made: None where an operand has the value; ValueError for what is no
    array of integers."""
    if not isinstance(attr, list) or not all(type(v) is int for v in attr):
        raise ValueError(f"an array of integers is expected, not {attr}")
    return tuple(None if v == DYNAMIC else v for v in attr)


def number(value: Any, type: ScalarType) -> Attr:
    """A constant of an element type, a property: `true`, `7 : index`, `1.5 : f32`."""
    if type.name == "i1":
        return inherent("true" if value else "false", bool(value))
    if type.is_complex:
        parts = [number(part, type.component) for part in (value.real, value.imag)]
        return inherent(f"[{', '.join(p.text for p in parts)}]", [p.value for p in parts])
    if type.is_float:
        return inherent(f"{float_text(value, type.bits)} : {type}", value)
    if type.name == "index":
        return inherent(f"{int(value)} : index", value)
    low, high = type.bounds
    value = int(value)
    return inherent(f"{value - 2 * (high // 2 + 1) * (low == 0 and value > high // 2)} : {type}", value)


def float_text(value: float, bits: int) -> str:
    """A float as MLIR reads it back exactly."""
    if value - value != 0:  # NaN or infinite
        return "0x" + struct.pack({16: ">e", 32: ">f", 64: ">d"}[bits], value).hex().upper()
    text = repr(float(value))
    return text if "." in text else text.replace("e", ".0e")


def groups_attr(groups: Iterable[Sequence[int]]) -> Attr:
    """`[[0, 1], [2]]`, a property: groups of axes (MLIR: reassociation)."""
    found = [list(g) for g in groups]
    return inherent(str(found), found)


def segments(*sizes: int) -> Attr:
    """`operandSegmentSizes`"""
    return integers(sizes, 32)


def encoded(value: Any, key: str = "") -> Attr:
    """An attribute of tracebuf's own, a plain Python value, as MLIR's."""
    if isinstance(value, Attr):
        return value
    if isinstance(value, bool):
        return Attr("true" if value else "false", value)
    if isinstance(value, float):
        return Attr(f"{float_text(value, 64)} : f64", value)
    if isinstance(value, int):
        return Attr(f"{value} : i64", value)
    if isinstance(value, tuple | list) and all(v is None or isinstance(v, int) for v in value):
        missing = -1 if key == "dims" else DYNAMIC
        numbers = [missing if v is None else v for v in value]
        return Attr(f"array<i64: {', '.join(map(str, numbers))}>" if numbers else "array<i64>", numbers)
    if isinstance(value, tuple | list):
        return array_of(map(encoded, value))
    named = type(value) if isinstance(value, BaseException) else value
    return string(named.__name__ if isinstance(named, type) else str(value))


def all_encoded(attrs: Mapping[str, Any]) -> dict[str, Attr]:
    """Every attribute as MLIR's, except Python objects: the reasons for a buffer, which `explain` reads."""
    return {k: encoded(v, k) for k, v in attrs.items() if v is not None and k not in ("conflict", "conflicts")}


def decoded(value: Any, key: str = "") -> Any:
    """The Python value of an attribute that `encoded` made, from the meaning of its text."""
    if not isinstance(value, list):
        return value
    missing = -1 if key == "dims" else DYNAMIC
    return tuple(None if type(v) is int and v == missing else decoded(v) for v in value)


def dictionary(attrs: Mapping[str, Attr]) -> str:
    """`{a = 1 : i64, b}`, by name."""
    return f"{{{', '.join(_entry(k, attrs[k]) for k in sorted(attrs))}}}"


def _entry(key: str, value: Attr) -> str:
    name = key if re.fullmatch(r"[A-Za-z_][\w$.]*", key, re.ASCII) else quoted(key)
    return name if value.text == "unit" else f"{name} = {value.text}"
