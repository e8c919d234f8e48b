"""Text in a trace: str, f-strings, `%`, format and the methods of str, on known values.

Numbers that only the run time knows may occur in messages of exceptions (`Text`), and nowhere else.
"""

from __future__ import annotations

import ast
import operator
import re
import types
from collections.abc import Sequence
from string import Formatter
from typing import Any

import numpy as np

from tracebuf.errors import UnsupportedError
from tracebuf.frontends.numpy.interpreter.evaluator import Evaluator
from tracebuf.frontends.numpy.record.callees import Text
from tracebuf.frontends.numpy.record.raises import Raises, ask
from tracebuf.frontends.numpy.record.recorder import Recorder
from tracebuf.frontends.numpy.record.values import (
    ArrayRef,
    NpScalar,
    PyBool,
    PyComplex,
    PyFloat,
    PyInt,
    Scalar,
    is_traced,
)

PLAIN = (str, bytes, int, float, complex, bool, type(None), np.generic, np.dtype, slice, type(Ellipsis))
"""Types of values whose text is known while tracing."""
SHOWN = frozenset((str, repr, ascii, format, bin, hex, oct, chr, ord))
"""Builtins that convert between text and numbers."""
PERCENT = re.compile(r"%(?:%|(?P<flags>[-+ 0#]*)(?P<width>\d*)(?P<places>\.\d+)?(?P<kind>[sdifFeEgGr]))")
"""One conversion of a `%` format."""


def escaped(text: str) -> str:
    """Text with its braces doubled, as part of a message."""
    return text.replace("{", "{{").replace("}", "}}")


def text_of(r: Recorder, x: Any) -> Text:
    """A value as a part of a message."""
    if isinstance(x, Text):
        return x
    if isinstance(x, PyInt):
        return Text("{}", [r.index(x.expr)])
    if isinstance(x, (PyFloat, PyComplex, PyBool, NpScalar)):
        return Text("{}", [x.value])
    if isinstance(x, ArrayRef):
        return Text("array(...)", [])
    if isinstance(x, (tuple, list)):
        parts = [text_of(r, i) for i in x]
        ends = "[]" if isinstance(x, list) else ("(", ",)" if len(x) == 1 else ")")
        inside = ", ".join(p.template for p in parts)
        return Text(ends[0] + inside + ends[1], [v for p in parts for v in p.values])
    return Text(escaped(str(x)), [])


def joined_text(parts: Sequence[Text]) -> Text | str:
    """Parts of a text joined: a str, where they are all known."""
    made = Text("".join(p.template for p in parts), [v for p in parts for v in p.values])
    return made if made.values else made.template.format()


def formatted_value(r: Recorder, x: Any, spec: str) -> Text:
    """A value in the format `spec`."""
    if is_traced(x) or isinstance(x, (tuple, list)):
        found = text_of(r, x)
        return Text("{:" + spec + "}", found.values) if spec and found.template == "{}" else found
    return text_of(r, ask(format, x, spec))


def call(i: Evaluator, node: ast.AST, function: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
    """A call of a function or method of text; NotImplemented for other callees."""
    of = getattr(function, "__self__", None) if isinstance(function, types.BuiltinFunctionType) else None
    if function not in SHOWN if isinstance(function, (type, types.BuiltinFunctionType)) else True:
        if not isinstance(of, str):
            return NotImplemented
    given = i.flat([*args, *kwargs.values()])
    if all(isinstance(x, PLAIN) for x in given):
        found = ask(function, *args, **kwargs)
        return i.own(found) if isinstance(found, list) else found
    if function is str and len(args) == 1 and not isinstance(args[0], ArrayRef):
        return joined_text([text_of(i.r, args[0])])
    if isinstance(of, str) and function.__name__ == "format":
        return formatted(i.r, of, args, kwargs)
    return NotImplemented


def formatted(r: Recorder, template: str, args: Sequence[Any], kwargs: dict[str, Any]) -> Text | str:
    """template.format(*args, **kwargs)."""
    parts, place = [], 0
    pieces: list[tuple[str, str | None, str | None, str | None]] = ask(list, Formatter().parse(template))
    for before, name, spec, conversion in pieces:
        parts.append(Text(escaped(before), []))
        if name is None:
            continue
        if (spec and "{" in spec) or conversion or not (name == "" or name.isidentifier() or name.isdigit()):
            raise refused(r, "this format of numbers that only the run time knows")
        if name and not name.isdigit():
            parts.append(formatted_value(r, ask(operator.getitem, kwargs, name), spec or ""))
        else:
            at = int(name) if name else place
            if at >= len(args):
                raise Raises(IndexError(f"Replacement index {at} out of range for positional args tuple"))
            parts.append(formatted_value(r, args[at], spec or ""))
            place += 1
    return joined_text(parts)


def percent(r: Recorder, template: str, values: Any) -> Text | str:
    """`template % values`."""
    given = list(values) if isinstance(values, tuple) else [values]
    if not any(isinstance(x, (Scalar, Text)) for x in given):
        return ask(operator.mod, template, values)  # type: ignore[no-any-return]
    if len(PERCENT.findall(template)) != template.count("%") - template.count("%%"):
        raise refused(r, "this format of numbers that only the run time knows")
    parts, end = [], 0
    for m in PERCENT.finditer(template):
        parts.append(Text(escaped(template[end : m.start()]), []))
        end = m.end()
        if m.group() == "%%":
            parts.append(Text("%", []))
            continue
        if not given:
            raise Raises(TypeError("not enough arguments for format string"))
        parts.append(percent_part(r, m, given.pop(0)))
    if given:
        raise Raises(TypeError("not all arguments converted during string formatting"))
    return joined_text([*parts, Text(escaped(template[end:]), [])])


def percent_part(r: Recorder, m: re.Match[str], x: Any) -> Text:
    """The text of one conversion of a `%` format."""
    kind, flags, places = m["kind"], m["flags"], m["places"] or ""
    if not isinstance(x, (Scalar, Text)):
        return text_of(r, ask(operator.mod, m.group(), (x,)))
    whole = isinstance(x, (PyInt, PyBool)) or (isinstance(x, NpScalar) and x.element.is_integer)
    if kind in "di" and not whole or kind in "sr" and (flags or m["width"] or places) or "-" in flags or "#" in flags:
        raise refused(r, "this format of numbers that only the run time knows")
    spec = "" if kind in "sr" else flags + m["width"] + places + ("d" if kind == "i" else kind)
    return formatted_value(r, x, "" if spec == "d" else spec)


def refused(r: Recorder, reason: str) -> UnsupportedError:
    """The refusal of text whose numbers only the run time knows."""
    return r.refuse(reason, "an f-string, in a message")


def check_known(r: Recorder, *values: Any) -> None:
    """Refuses text with numbers that only the run time knows, where its characters would be needed."""
    if any(isinstance(x, Text) for x in values):
        reason = "text with numbers that only the run time knows is looked at"
        raise r.refuse(reason, "compare the numbers; such text may be a message")


def check_handed(r: Recorder, function: Any, args: Sequence[Any]) -> None:
    """Refuses text with numbers that only the run time knows as an argument of a builtin, except those that make text
    of it."""
    makes_text = function is str or isinstance(getattr(function, "__self__", None), str)
    makes_text = makes_text or (isinstance(function, type) and issubclass(function, BaseException))
    if isinstance(function, (type, types.BuiltinFunctionType)) and not makes_text:
        check_known(r, *args)


def added(r: Recorder, a: Any, b: Any) -> Text | str:
    """a + b, where at least one is a Text."""
    if not all(isinstance(x, (str, Text)) for x in (a, b)):
        check_known(r, a, b)
    return joined_text([text_of(r, a), text_of(r, b)])
