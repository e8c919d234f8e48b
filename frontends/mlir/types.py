"""Types from their text. MLIR counterpart: mlir/lib/AsmParser/TypeParser.cpp.

Every `?` is a size of its own, so a text with one makes a new type each time; all else is read once.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import lru_cache

from tracebuf.ir.types import (
    ELEMENTS,
    INDEX,
    MemRefType,
    ScalarType,
    ShapedType,
    TensorType,
    Type,
    UnrankedMemRefType,
    UnrankedTensorType,
    VectorType,
    row_major,
    unnamed,
)

_BUILTIN = {e.name: e for e in ELEMENTS.values() if not e.name.startswith("ui")} | {"index": INDEX}
_SHAPED = re.compile(r"(tensor|memref|vector)\s*<(.*)>", re.DOTALL)
_SIZES = re.compile(r"\s*((?:(?:\?|\d+|\[\d+\])\s*x\s*)*)(.*)", re.DOTALL)
_SIZE = re.compile(r"(\[?)(\?|\d+)")
_STRIDED = re.compile(r"strided<\s*\[([-\d?,\s]*)\]\s*(?:,\s*offset\s*:\s*(-?\d+|\?)\s*)?>")
_INTEGER = re.compile(r"[su]?i(\d+)")
_NO_ELEMENT = re.compile(r"\s*(?:memref|tensor|tuple)\s*<|\s*none\s*$|\s*\(")
_SCALAR = re.compile(
    r"(?:[su]?i\d+|b?f16|tf32|f32|f64|f80|f128|f\d+E\d+M\d+\w*|index|none|![\w$.-]+(?:<.*>)?"
    r"|(?:complex|tuple)\s*<.*>|\(.*\)\s*->.*)",
    re.DOTALL,
)


class BadType(Exception):
    """Text that is no type; the parser adds the location."""


def type_of(text: str) -> Type:
    """The type that a text (aliases expanded) says; BadType."""
    type_ = _read(text)
    if not isinstance(type_, ShapedType) or None not in type_.shape:
        return type_
    shape = tuple(unnamed() if d is None else d for d in type_.shape)
    if isinstance(type_, MemRefType) and not type_.strides and not type_.layout:
        return replace(type_, shape=shape, strides=row_major(shape))
    return replace(type_, shape=shape)


@lru_cache(maxsize=4096)
def _read(text: str) -> Type:
    """The type, with None for each `?` in its shape (and then no strides if the layout is the identity)."""
    builtin = _BUILTIN.get(text)
    if builtin is not None:
        return builtin
    shaped = _SHAPED.fullmatch(text)
    if shaped is None:
        return _scalar(text)
    kind, (body, *rest) = shaped[1], split(shaped[2])
    if kind == "vector":
        return _vector(body, rest)
    if body.startswith("*"):
        return _unranked(kind, body, rest)
    match = _SIZES.fullmatch(body)
    assert match is not None
    shape = tuple(None if n == "?" else int(n) for bracket, n in _SIZE.findall(match[1]))
    if any(n is not None and n >= 2**63 for n in shape):
        raise BadType(f"a size in `{text}` is out of range")
    if "[" in match[1]:
        raise BadType("a scalable size stands in vectors only")
    element = _element(match[2])
    if kind == "tensor":
        if _NO_ELEMENT.match(match[2]):
            raise BadType(f"`{match[2].strip()}` is no type of a tensor's elements")
        if len(rest) > 1:
            raise BadType("a tensor type has one encoding")
        return TensorType(shape, element, *rest)  # type: ignore[arg-type]
    return _memref(shape, element, rest)


def _scalar(text: str) -> ScalarType:
    if not _SCALAR.fullmatch(text):
        raise BadType(f"`{text}` is no type" if text else "a type is expected")
    if (integer := _INTEGER.fullmatch(text)) and int(integer[1]) >= 2**24:
        raise BadType(f"`{text}` has too many bits")
    return ScalarType(text, exact=text.startswith("ui"))


def _element(text: str) -> ScalarType:
    found = _read(text.strip())
    return found if isinstance(found, ScalarType) else ScalarType(str(found))


def _vector(body: str, more: list[str]) -> VectorType:
    match = _SIZES.fullmatch(body)
    assert match is not None
    sizes = _SIZE.findall(match[1])
    if more or any(n == "?" for _, n in sizes):
        raise BadType("a vector has constant sizes and an element type")
    if any(int(n) == 0 for _, n in sizes):
        raise BadType("the sizes of a vector are positive")
    scalable = tuple(d for d, (bracket, _) in enumerate(sizes) if bracket)
    return VectorType(tuple(int(n) for _, n in sizes), _element(match[2]), scalable)


def _unranked(kind: str, body: str, more: list[str]) -> Type:
    start, x, element = body.partition("x")
    if start.strip() != "*" or not x or len(more) > (kind == "memref"):
        raise BadType("`*x` and an element type are expected")
    if kind == "tensor":
        return UnrankedTensorType(_element(element))
    return UnrankedMemRefType(_element(element), *more)


def _memref(shape: tuple[int | None, ...], element: ScalarType, rest: list[str]) -> MemRefType:
    layout, space = "", ""
    if rest and rest[0].startswith(("strided", "affine_map")):
        layout, *rest = rest
    if len(rest) > 1:
        raise BadType("a memref type has a layout and a memory space at most")
    space = rest[0] if rest else ""
    if layout.startswith("strided"):
        return _strided(shape, element, layout, space)
    if layout:
        return MemRefType(shape, element, (None,) * len(shape), None, space, layout)  # type: ignore[arg-type]
    strides = () if None in shape else row_major(shape)  # type: ignore[arg-type]
    return MemRefType(shape, element, strides, 0, space)  # type: ignore[arg-type]


def _strided(shape: tuple[int | None, ...], element: ScalarType, layout: str, space: str) -> MemRefType:
    match = _STRIDED.fullmatch(layout)
    if match is None:
        raise BadType(f"`{layout}` is no strided layout")
    numbers = [s.strip() for s in match[1].split(",")] if match[1].strip() else []
    try:
        strides = tuple(None if s == "?" else int(s) for s in numbers)
    except ValueError:
        raise BadType(f"`{layout}` is no strided layout") from None
    offset = None if match[2] == "?" else int(match[2] or 0)
    if len(strides) != len(shape):
        raise BadType(f"{len(strides)} strides for {len(shape)} sizes")
    found = MemRefType(shape, element, strides, offset, space)  # type: ignore[arg-type]
    dense = row_major([unnamed() if n is None else n for n in shape])
    if strides != dense or offset != 0:
        return found
    return replace(found, layout=f"strided<[{', '.join(map(str, strides))}]>")  # MLIR's identity is another type


def split(text: str) -> list[str]:
    """The parts between the commas that stand in no bracket and no string."""
    parts, depth, start, quoted, i = [], 0, 0, False, 0
    while i < len(text):
        c = text[i]
        if quoted:
            i += c == "\\"
            quoted = c != '"'
        elif c == '"':
            quoted = True
        elif c in "<([{":
            depth += 1
        elif c in ")]}" or (c == ">" and text[i - 1 : i] != "-" and text[i + 1 : i + 2] != "="):
            depth -= 1
        elif c == "," and not depth:
            parts.append(text[start:i].strip())
            start = i + 1
        i += 1
    return [*parts, text[start:].strip()]
