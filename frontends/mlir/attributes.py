"""Attributes, types and locations from tokens. MLIR counterpart: mlir/lib/AsmParser/AttributeParser.cpp.

An attribute is kept as text, with the aliases in it expanded, beside its meaning (see `ir.attributes.Attr`). Aliases
may be defined after their use, as those of locations are, so all of them are found first.
"""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from typing import Any, TypeVar

from tracebuf.frontends.mlir.lexer import ReadError, Tokens
from tracebuf.frontends.mlir.types import BadType, split, type_of
from tracebuf.ir.attributes import Attr, dictionary
from tracebuf.ir.types import ScalarType, TensorType, Type, VectorType
from tracebuf.location import UNKNOWN, Location

T = TypeVar("T")
MAX_DEPTH = 100
"""How deep regions and brackets may stand in one another."""
_OPAQUE = ("affine_map", "affine_set", "strided")
_BUILTIN_TYPE = re.compile(r"[su]?i\d+|b?f\d+|tf32|f\d+E\d+M\d+\w*|index|none")
_ESCAPE = re.compile(rb'\\(?:([0-9A-Fa-f]{2})|([nt"\\]))')
_PLAIN = {b"n": b"\n", b"t": b"\t", b'"': b'"', b"\\": b"\\"}
_FLOAT_BITS = {16: "<e", 32: "<f", 64: "<d"}
_INTEGER = re.compile(r"([su]?)i(\d+)")
_NAME = re.compile(r"(?<![\w$.])[A-Za-z_][\w$.]*", re.ASCII)
_BY_ZERO = re.compile(r"\b(?:floordiv|ceildiv|mod)\s+0\b")
_FILE = re.compile(r'("(?:[^"\\]|\\.)*"):(\d+):(\d+)')


class AttributeParser:
    """A cursor (`at`) over tokens, with the parsing that attributes, types and ops share."""

    def __init__(self, tokens: Tokens) -> None:
        self.tokens, self.at, self.depth = tokens, 0, 0
        self.aliases: dict[str, int] = {}
        """Where the definition of each alias begins, behind its `=`."""
        self._known: dict[str, str | None] = {}
        kinds, texts = tokens.kinds, tokens.texts
        for i in range(len(kinds) - 1):
            if texts[i + 1] == "=" and kinds[i] in ("hash", "bang"):
                if texts[i] in self.aliases:
                    raise tokens.error(f"`{texts[i]}` is defined twice", i)
                self.aliases[texts[i]] = i + 2

    # -- tokens
    @property
    def text(self) -> str:
        return self.tokens.texts[self.at]

    @property
    def kind(self) -> str:
        return self.tokens.kinds[self.at]

    def error(self, reason: str, index: int | None = None) -> ReadError:
        return self.tokens.error(reason, self.at if index is None else index)

    def expected(self, what: str) -> ReadError:
        found = {"end": "the text ends", "mark": f"`{self.text}` stands here"}.get(self.kind, f"found `{self.text}`")
        if self.text == '"':
            return self.error("the string is not closed")
        return self.error(f"{what} is expected, but {found}")

    def accept(self, text: str) -> bool:
        """Steps over a mark or a word, if it stands here."""
        if self.tokens.texts[self.at] != text or self.tokens.kinds[self.at] not in ("mark", "id"):
            return False
        self.at += 1
        return True

    def expect(self, text: str) -> None:
        if not self.accept(text):
            raise self.expected(f"`{text}`")

    def take(self, kind: str, what: str) -> str:
        """The text of a token of this kind."""
        if self.kind != kind:
            raise self.expected(what)
        self.at += 1
        return self.tokens.texts[self.at - 1]

    def deeper(self) -> None:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise self.error(f"more than {MAX_DEPTH} brackets or regions stand in one another")

    def listed(self, closing: str, item: Callable[[], T]) -> list[T]:
        """Items between commas up to the closing bracket, which is stepped over."""
        found: list[T] = []
        if self.accept(closing):
            return found
        self.deeper()
        found.append(item())
        while self.accept(","):
            found.append(item())
        self.expect(closing)
        self.depth -= 1
        return found

    # -- aliases and verbatim text
    def span(self, start: int, end: int) -> str:
        """The text of the tokens from `start` to `end` (exclusive), aliases expanded."""
        tokens, parts, at = self.tokens, [], self.tokens.starts[start]
        for i in range(start, end) if self.aliases else ():
            if tokens.texts[i] in self.aliases:
                text = self.alias(i)  # of a location inside another only what is in its brackets
                inner = text[4:-1] if text.startswith("loc(") and tokens.texts[start] == "loc" else text
                parts += [tokens.source[at : tokens.starts[i]], inner]
                at = tokens.starts[i] + len(tokens.texts[i])
        last = tokens.starts[end - 1] + len(tokens.texts[end - 1])
        return "".join(parts) + tokens.source[at:last]

    def alias(self, index: int) -> str:
        """What the alias at a token stands for."""
        name = self.tokens.texts[index]
        if name not in self._known:
            self._known[name] = None
            back, self.at = self.at, self.aliases[name]
            self.deeper()
            self._known[name] = self.type_text() if name[0] == "!" else self.attribute().text
            self.depth -= 1
            self.at = back
        found = self._known[name]
        if found is None:
            raise self.error(f"`{name}` is defined by itself", index)
        return found

    def bracketed(self, start: int) -> str:
        """The text from `start` to the end of the bracket that opens here, which is stepped over."""
        self.at = self.tokens.closing(self.at) + 1
        return self.span(start, self.at)

    # -- types
    def type(self) -> Type:
        return self.type_at(self.at)[1]

    def type_at(self, start: int) -> tuple[str, Type]:
        text = self.type_text()
        try:
            return text, type_of(text)
        except BadType as e:
            raise self.error(str(e), start) from None

    def type_text(self) -> str:
        """The text of the type that stands here."""
        start, text = self.at, self.text
        if self.kind == "bang":
            return self._named_text()
        if self.kind == "mark" and text == "(":
            return self._function_text()
        if self.kind != "id":
            raise self.expected("a type")
        self.at += 1
        if text in ("tensor", "memref", "vector", "tuple", "complex"):
            if self.text != "<":
                raise self.expected("`<`")
            return self.bracketed(start)
        if not _BUILTIN_TYPE.fullmatch(text):
            self.at = start
            raise self.expected("a type")
        return text

    def _named_text(self) -> str:
        """`!alias`, `#alias`, or a dialect's own with what is in its angle brackets."""
        start = self.at
        name, end = self.text, self.tokens.starts[start] + len(self.text)
        self.at += 1
        if name in self.aliases:
            return self.alias(start)
        if self.text == "<" and self.tokens.starts[self.at] == end:
            return self.bracketed(start)
        if "." not in name:
            raise self.error(f"the alias `{name}` is not defined", start)
        return name

    def _function_text(self) -> str:
        inputs, results = self._arrow(self.type_text)
        return f"({', '.join(inputs)}) -> {results[0] if len(results) == 1 else '(' + ', '.join(results) + ')'}"

    def function_types(self) -> tuple[list[Type], list[Type]]:
        """`(types) -> types`"""
        return self._arrow(self.type)

    def _arrow(self, item: Callable[[], T]) -> tuple[list[T], list[T]]:
        self.expect("(")
        inputs = self.listed(")", item)
        self.expect("->")
        return inputs, self.listed(")", item) if self.accept("(") else [item()]

    # -- attributes
    def attribute(self) -> Attr:
        kind, text, start = self.kind, self.text, self.at
        if kind == "mark":
            if text == "[":
                self.at += 1
                items = self.listed("]", self.attribute)
                return Attr(f"[{', '.join(a.text for a in items)}]", [a.value for a in items])
            if text == "{":
                return self._dictionary()
            if text == "-":
                self.at += 1
                return self._number(start)
            if text == "(":
                return self._type_attribute()
        elif kind in ("int", "float", "hex"):
            return self._number(start)
        elif kind == "string":
            self.at += 1
            typed = f" : {self.type_text()}" if self.accept(":") else ""
            return Attr(text + typed, self.string(start))
        elif kind == "symbol":
            return self._symbol()
        elif kind == "hash":
            return self._extended(start)
        elif kind == "id":
            return self._word(start)
        elif kind == "bang":
            return self._type_attribute()
        raise self.expected("an attribute")

    def _type_attribute(self) -> Attr:
        """A type; a function type's value is the pair of its lists of types."""
        start = self.at
        if self.text != "(":
            return Attr(*self.type_at(start))
        text, self.at = self._function_text(), start
        return Attr(text, self.function_types())

    def _dictionary(self) -> Attr:
        entries = self.entries()
        return Attr(dictionary(entries), entries)

    def entries(self) -> dict[str, Attr]:
        """`{key = attribute, unit, ...}`"""
        self.expect("{")
        found: dict[str, Attr] = {}

        def entry() -> None:
            start = self.at
            if self.kind == "string":
                self.at += 1
                key = self.string(start)
            else:
                key = self.take("id", "a name")
            if key in found:
                raise self.error(f"`{key}` is said twice", start)
            found[key] = self.attribute() if self.accept("=") else Attr("unit")

        self.listed("}", entry)
        return found

    def _number(self, start: int) -> Attr:
        kind, text = self.kind, self.text
        if kind not in ("int", "float", "hex"):
            raise self.expected("a number")
        self.at += 1
        negative = self.tokens.texts[start] == "-"
        value: Any = float(text) if kind == "float" else int(text, 0 if kind == "hex" else 10)
        spelled = f"-{text}" if negative else text
        if not self.accept(":"):
            return Attr(spelled, -value if negative else value)
        typed, type_ = self.type_at(self.at)
        if kind == "hex" and isinstance(type_, ScalarType) and type_.is_float:
            value = _from_bits(value, type_.bits)
        elif kind == "int" and isinstance(type_, ScalarType) and type_.is_float:
            raise self.error("a float has a point", start)
        elif isinstance(type_, ScalarType):
            if kind != "float" and (problem := out_of_range(spelled, -value if negative else value, type_)):
                raise self.error(problem, start)
        else:
            raise self.error(f"a number is no {type_}", start)
        return Attr(f"{spelled} : {typed}", -value if negative else value)

    def string(self, index: int) -> str:
        """The value of a string token."""
        quoted = self.tokens.texts[index].encode()[1:-1]
        if b"\\" in quoted:
            quoted = _ESCAPE.sub(lambda m: bytes.fromhex(m[1].decode()) if m[1] else _PLAIN[m[2]], quoted)
        return quoted.decode(errors="surrogateescape")

    def _symbol(self) -> Attr:
        parts = [self.text]
        self.at += 1
        while self.accept("::"):
            parts.append(self.take("symbol", "a symbol"))
        return Attr("::".join(parts), "::".join(p[1:].strip('"') for p in parts))

    def _extended(self, start: int) -> Attr:
        """`#alias`, or a dialect's attribute with its type, if it has one."""
        name = self.text
        if name in self.aliases:
            back = self.at + 1
            text = self.alias(start)
            self.at = self.aliases[name]
            found = self.attribute()
            self.at = back
            return replace(found, text=text)
        text = self._named_text()
        if self.accept(":"):
            text += f" : {self.type_text()}"
        return Attr(text, _enumerator(text))

    def _word(self, start: int) -> Attr:
        word = self.text
        if word in ("true", "false"):
            self.at += 1
            typed = f" : {self.type_text()}" if self.accept(":") else ""
            return Attr(word + typed, word == "true")
        if word == "unit":
            self.at += 1
            return Attr("unit")
        if word == "loc":
            found = self.location()
            return Attr(str(found), found)
        if word == "array":
            return self._array(start)
        if word in _OPAQUE:
            self.at += 1
            if self.text != "<":
                raise self.expected("`<`")
            text = self.bracketed(start)
            if word == "affine_map" and (problem := wrong_map(text)):
                raise self.error(problem, start)
            return Attr(text, text)
        if word in ("dense", "sparse", "dense_resource"):
            return self._elements()
        if word == "distinct":
            self.at += 1
            self.expect("[")
            self.take("int", "a number")
            self.expect("]")
            if self.text == "<":
                self.bracketed(start)
            return Attr(self.span(start, self.at))
        return self._type_attribute()

    def _array(self, start: int) -> Attr:
        self.at += 1
        if self.text != "<":
            raise self.expected("`<`")
        text = self.bracketed(start)
        try:
            return Attr(text, list(_array(text)))
        except ValueError:
            raise self.error(f"`{text}` is no array", start) from None

    def _elements(self) -> Attr:
        """`dense<...> : type`; what the elements are is read off the text where it is asked (see `ir.dense`)."""
        self.at += 1
        if self.text != "<":
            raise self.expected("`<`")
        word, begin, text = self.tokens.texts[self.at - 1], self.at, self.bracketed(self.at - 1)
        end = self.at
        self.expect(":")
        typed, type_ = self.type_at(self.at)
        if word == "dense":
            self._check_dense(begin + 1, end - 1, type_)
        return Attr(f"{text} : {typed}")

    def _check_dense(self, begin: int, end: int, type_: Type) -> None:
        """The elements between two tokens are as many as the type has, and of its kind."""
        sizes = type_.shape if isinstance(type_, (TensorType, VectorType)) else (None,)
        if not isinstance(type_, (TensorType, VectorType)) or not all(isinstance(n, int) for n in sizes):
            raise self.error(f"the elements are those of a tensor of constant sizes, not of {type_}", begin)
        if self.tokens.kinds[begin] == "string":
            return
        after, self.at = self.at, begin
        shape = self._dense_shape(type_.element) if begin < end else (0,)
        if self.at != end:
            raise self.expected("`>`")
        self.at = after
        empty = 0 in shape and 0 in sizes
        if shape and shape != sizes and not empty:
            raise self.error(f"the elements of shape {list(shape)} do not fit {type_}", begin)

    def _dense_shape(self, element: ScalarType) -> tuple[int, ...]:
        """The shape of the elements that stand here, lists in lists."""
        if self.accept("["):
            start = self.at - 1
            shapes = set[tuple[int, ...]]()
            count = len(self.listed("]", lambda: shapes.add(self._dense_shape(element))))
            if len(shapes) > 1:
                raise self.error("the lists of elements differ in length", start)
            return (count, *next(iter(shapes), ()))
        if self.accept("("):
            part = element.name.removeprefix("complex<").removesuffix(">")
            self.listed(")", lambda: self._dense_shape(ScalarType(part)))
            return ()
        negative, start = self.accept("-"), self.at
        kind, text = self.kind, self.text
        self.at += 1
        if kind == "string":
            return ()
        if problem := no_element(kind, f"-{text}" if negative else text, element):
            raise self.error(problem, start)
        return ()

    # -- locations
    def location(self) -> Location:
        """`loc(...)`; of a fused, named or call-site location the first file location in it, beside its text."""
        start = self.at
        self.expect("loc")
        if self.text != "(":
            raise self.expected("`(`")
        end = self.tokens.closing(self.at)
        for name in range(self.at, end):
            if self.tokens.kinds[name] == "hash" and self.tokens.texts[name] not in self.aliases:
                raise self.error(f"the alias `{self.tokens.texts[name]}` is not defined", name)
        return _place(self.bracketed(start))


@lru_cache(maxsize=4096)
def _place(text: str) -> Location:
    inside = text[4:-1].strip()
    found = _FILE.search(inside)
    if found is None:
        return UNKNOWN if inside == "unknown" else replace(UNKNOWN, text=text)
    column = int(found[3])
    plain = found[0] == inside and column > 0 and "\\" not in inside
    return Location(found[1][1:-1], int(found[2]), max(column - 1, 0), text="" if plain else text)


def _enumerator(text: str) -> str | None:
    """The word of an enumeration's case: `#linalg.iterator_type<parallel>`, `#index<cmp_predicate slt>`."""
    found = re.fullmatch(r"#[\w.$]+<(?:\w+ )?(\w+)>", text, re.ASCII)
    return found[1] if found else None


def out_of_range(text: str, value: int, type: ScalarType) -> str:
    """What is wrong with an int of this type; one without a sign may stand for its bits."""
    width = _INTEGER.fullmatch(type.name)
    if width is None and type.name != "index":
        return ""
    bits = 64 if width is None else int(width[2])
    signed, unsigned = type.name == "index" or type.name[0] == "s", type.name[0] == "u"
    low, high = (0 if unsigned else -(1 << bits >> 1)), (1 << bits >> 1 if signed else 1 << bits)
    return "" if low <= value < high else f"`{text}` is out of the range of {type}"


def no_element(kind: str, text: str, type: ScalarType) -> str:
    """What is wrong with a word among the elements of a constant tensor of this type."""
    integral = type.name == "index" or _INTEGER.fullmatch(type.name) is not None
    if type.is_complex or (not integral and not type.is_float):
        return ""
    if kind == "id":
        return "" if text in ("true", "false") and type.name == "i1" else f"`{text}` is no {type}"
    if kind not in ("int", "hex", "float") or (kind == "float" if integral else kind == "int"):
        return f"`{text}` is no {type}"
    if integral:
        return out_of_range(text, int(text, 16 if kind == "hex" else 10), type)
    return "" if kind == "float" or int(text, 16) < 1 << type.bits else f"`{text}` has more than {type.bits} bits"


def wrong_map(text: str) -> str:
    """What is wrong with the names in an affine map, or the empty string."""
    declared, arrow, results = text.partition("->")
    known = {*_NAME.findall(declared.partition("<")[2]), "floordiv", "ceildiv", "mod", "symbol"}
    for name in _NAME.findall(results):
        if name not in known:
            return f"`{name}` is not declared in {text}"
    return f"{text} has a division by zero" if _BY_ZERO.search(results) else ""


def _from_bits(value: int, bits: int) -> float:
    try:
        found: float = struct.unpack(_FLOAT_BITS[bits], value.to_bytes(bits // 8, "little"))[0]
    except OverflowError:
        return math.nan
    return found


def _boolean(text: str) -> bool:
    if text not in ("true", "false"):
        raise ValueError(text)
    return text == "true"


@lru_cache(maxsize=4096)
def _array(text: str) -> tuple[Any, ...]:
    """The elements of `array<kind: ...>`; ValueError."""
    kind, _, items = text[text.index("<") + 1 : -1].partition(":")
    read = _boolean if kind == "i1" else float if kind[:1] in ("f", "b") else int
    return tuple(map(read, split(items))) if items.strip() else ()
