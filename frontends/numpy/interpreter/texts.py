"""Text in a trace: str, f-strings, `%`, format and the methods of str, on known values.

What only the run time knows may occur in text (`Text`) that is shown: by the calls of `talk`, and in
messages of exceptions.
"""

from __future__ import annotations

import ast
import collections
import dataclasses
import operator
import re
import sys
import types
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from string import Formatter
from typing import Any

import numpy as np

from tracebuf.errors import UnsupportedError
from tracebuf.frontends.numpy.arrays.memmaps import check_shown
from tracebuf.frontends.numpy.arrays.new_arrays import as_it_is
from tracebuf.frontends.numpy.call.containers import is_named_tuple
from tracebuf.frontends.numpy.call.talk import under
from tracebuf.frontends.numpy.functions.formulas import prelude
from tracebuf.frontends.numpy.interpreter import dicts, records
from tracebuf.frontends.numpy.interpreter.evaluator import Evaluator
from tracebuf.frontends.numpy.interpreter.lists import cursors, growing, labels, references
from tracebuf.frontends.numpy.interpreter.lists.cursors import is_cursor
from tracebuf.frontends.numpy.interpreter.lists.text_keys import settled
from tracebuf.frontends.numpy.record import refusals
from tracebuf.frontends.numpy.record.callees import (
    Caught,
    MadeError,
    Part,
    Partial,
    Text,
    Untold,
    made_text,
    shown_label,
)
from tracebuf.frontends.numpy.record.cond import Cond, ends
from tracebuf.frontends.numpy.record.conditions import both
from tracebuf.frontends.numpy.record.growing import is_growing, is_inner, python_of
from tracebuf.frontends.numpy.record.heap import Record, is_label
from tracebuf.frontends.numpy.record.raises import Raises, ask, is_tracers
from tracebuf.frontends.numpy.record.recorder import Recorder
from tracebuf.frontends.numpy.record.regions import Kept
from tracebuf.frontends.numpy.record.scalar_checks import check_origin
from tracebuf.frontends.numpy.record.values import (
    ArrayRef,
    NpScalar,
    PyBool,
    PyComplex,
    PyFloat,
    PyInt,
    Scalar,
    stand_in,
)
from tracebuf.ir.core import Value
from tracebuf.ir.types import I1
from tracebuf.running.host import text_kept
from tracebuf.running.kept import shown
from tracebuf.running.raised import Number, Several, Shown, error_text

PLAIN = (str, bytes, int, float, complex, bool, type(None), np.generic, np.dtype, slice, type(Ellipsis))
"""Types of values whose text is known while tracing."""
SHOWN = frozenset((str, repr, ascii, format, bin, hex, oct, chr, ord))
"""Builtins that convert between text and numbers."""
NUMERALS = (chr, bin, hex, oct)
"""Builtins that make text of an int."""
MOST_PLACES = 200
"""The largest width and precision of a format of which the run time knows them."""
PERCENT = re.compile(r"%(?:%|(?P<flags>[-+ 0#]*)(?P<width>\d*)(?P<places>\.\d+)?(?P<kind>[sdifFeEgGr]))")
"""One conversion of a `%` format."""


def is_known(x: Any) -> bool:
    """Whether the text of a value is known while tracing."""
    return all(map(is_known, x)) if type(x) in (tuple, list) else isinstance(x, PLAIN)


def text_of(i: Evaluator, node: ast.AST, x: Any, quoted: bool = False) -> Text:
    """A value as a part of a text: as `str` shows it, or (`quoted`) as `repr` does."""
    conversion, x = "r" if quoted else "", dicts.closed(i, x)
    if isinstance(x, Text):
        return Text((Part(x, "r"),)) if quoted else x
    if type(x) is Cond:
        parts = [joined_text([text_of(i, node, arm, quoted)]) for arm in x.arms]
        return Text((Part(x.like(x.condition, *parts)),))
    if isinstance(x, Scalar):
        return Text((Part(x, "s" if not quoted and is_short(x) else conversion, "", template_of(x, quoted)),))
    if isinstance(x, ArrayRef):
        check_shown(i.r)
    if isinstance(x, ArrayRef) and i.r.printing:
        options = {name: y for given in i.r.printing for name, y in given.items()}
        return made_text(under, [options, repr if quoted else str, as_it_is(i.r, x)])
    if isinstance(x, ArrayRef):
        return Text((Part(as_it_is(i.r, x), conversion),))
    if isinstance(x, Untold):
        return made_text(shown, (x.number, quoted))
    if isinstance(x, MadeError):
        return made_text(shown_error, (x.function, quoted, *x.args))
    if is_cursor(x):
        raise cursors.refused(i, node, "the text of")
    if is_inner(x):
        return text_of(i, node, references.listing(i, node, x), quoted)
    if is_growing(x) and python_of(x) is list:
        return text_of_list(i, node, x)
    if is_label(x):
        if i.r.printing:
            raise labels.refusal(i, node, "an array, or a text out of one, in a context of print options,", x)
        return Text((Part(shown_label(x), conversion),))
    if isinstance(x, Record):
        return text_of_object(i, node, x, quoted)
    if is_named_tuple(x) and not shows_itself(type(x), tuple):
        return called(type(x).__name__, dict(zip(x._fields, x)), i, node)
    if type(x) in (tuple, list):
        ends = "[]" if isinstance(x, list) else ("(", ",)" if len(x) == 1 else ")")
        return listed(ends[0], [text_of(i, node, item, True) for item in x], ends[1])
    if type(x) is dict:
        items = [(text_of(i, node, k, True), text_of(i, node, v, True)) for k, v in x.items()]
        return listed("{", [listed("", pair, "", ": ") for pair in items], "}")
    if isinstance(x, (set, frozenset)) and len(x) > 1:
        raise i.refuse(node, "the text of a set, whose items have no certain order", "use sorted(...) of it")
    if isinstance(x, Caught) and len(x.sites) == 1:
        (site,) = x.sites
        if isinstance(site.message, Kept):
            return made_text(text_kept, [site.message.name, quoted, x.number])
        return made_text(error_text, [site.exception, site.message, quoted, *(x.operands[n] for n in site.operands)])
    if type(x).__module__.startswith("tracebuf."):
        raise i.refuse(node, f"the text of a {refusals.name_of(x)}", "use its parts")
    return Text((ask(repr if quoted else str, x),))


PADDED = ("ljust", "rjust", "center", "zfill")
CHANGED = ("strip", "lstrip", "rstrip", "upper", "lower", "title", "capitalize", "swapcase", "expandtabs", "replace")
"""Methods of str that make a str."""
OF_ARRAYS = (np.array2string, np.array_str, np.array_repr)
"""Functions of NumPy's that make text of an array."""


def method(base: Any, name: str) -> Any:
    """A method of a text; NotImplemented for anything else."""
    known = isinstance(base, Text) and name in (*PADDED, *CHANGED, "join")
    return Partial(getattr(str, name), (base,), {}) if known else NotImplemented


def made(i: Evaluator, node: ast.AST, function: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
    """The text that a method of a text, `join`, or a function of NumPy's makes of what the run time knows;
    NotImplemented for other callees."""
    name, of = getattr(function, "__name__", ""), getattr(function, "__self__", None)
    if name == "join" and (isinstance(of, str) or function is str.join):
        text, items = (of, *args) if isinstance(of, str) else args
        items = list(i.each(node, items))
        if all(isinstance(x, (str, Text)) for x in (text, *items)):
            return joined_text([text_of(i, node, x) for k, item in enumerate(items) for x in (text, item)[not k :]])
        return NotImplemented
    if isinstance(function, types.MethodDescriptorType) and isinstance(args[0] if args else None, Text):
        known = all(type(x) in (str, int) or (name in PADDED and isinstance(x, PyInt)) for x in args[1:]) and not kwargs
        if name in (*PADDED, *CHANGED) and known:
            ask(function, "", *(0 if isinstance(x, PyInt) else x for x in args[1:]))
            return made_text(function, args)
    if isinstance(of, str) and name in PADDED and any(isinstance(x, PyInt) for x in args) and not kwargs:
        return made(i, node, getattr(str, name), [Text((of,)), *args], {})
    if function in OF_ARRAYS and args and isinstance(args[0], ArrayRef) and not i.r.printing:
        rest = [*args[1:], *kwargs.values()]
        check_shown(i.r)
        if not any(map(is_tracers, i.flat(rest))) and not any(map(callable, i.flat(rest))):
            ask(function, np.zeros((1,) * args[0].ndim, args[0].element.dtype), *args[1:], **kwargs)
            return made_text(function, [as_it_is(i.r, args[0]), *args[1:]], kwargs)
    return NotImplemented


def repeated(i: Evaluator, node: ast.AST, a: Any, b: Any) -> Any:
    """text * n; NotImplemented for anything else."""
    text, number = (a, b) if isinstance(a, (str, Text)) else (b, a)
    if isinstance(text, (str, Text)) and isinstance(number, (int, PyInt)) and not (is_known(text) and is_known(number)):
        return made_text(operator.mul, [text, number])
    return NotImplemented


def template_of(x: Scalar, quoted: bool) -> str:
    """What the message of an exception has for a number; "" where it is Python's or NumPy's, depending on the path."""
    if isinstance(x, NpScalar) and x.python is not None:
        return ""
    if isinstance(x, NpScalar) and quoted and not x.element.is_complex and x.element is not I1:
        return f"np.{x.element.dtype.name}({{!s}})"
    return "" if isinstance(x, NpScalar) and quoted else "{!s}" if is_short(x) else "{}"


def is_short(x: Scalar) -> bool:
    """Whether `str` shows a number by fewer digits than `format` does, which converts it to one of Python's."""
    return isinstance(x, NpScalar) and x.element.dtype.name in ("float16", "float32", "complex64")


def number_value(r: Recorder, x: Scalar | int) -> Value:
    """A number as an SSA value."""
    if isinstance(x, (PyInt, int)):
        return r.index(x.expr if isinstance(x, PyInt) else x)
    return x.value  # type: ignore[attr-defined, no-any-return]


def text_of_list(i: Evaluator, node: ast.AST, x: Record) -> Text:
    """The text of a list whose length only the run time knows."""
    with i.r.at(replace(i.r.loc, text="shown")):  # not where lists of the user's are made
        items = i.own([])
        i.append_all(node, items, i.call_function(prelude.map_of, [repr, growing.iterator(i, x)], {}))
        found = i.call(node, ", ".join, [items], {})
        return listed("[", [found if isinstance(found, Text) else text_of(i, node, found)], "]")


def text_of_object(i: Evaluator, node: ast.AST, x: Record, quoted: bool) -> Text:
    """The text of an object, by the special methods of its class; that of `object` names an address, which is left
    out."""
    kind = x.kind
    owner = next(c for c in kind.__mro__ if "__repr__" in vars(c) or (not quoted and "__str__" in vars(c)))
    name = "__str__" if not quoted and "__str__" in vars(owner) else "__repr__"
    if owner is object:
        return Text((Part(None), f"<{kind.__module__}.{kind.__qualname__} object at ...>"))
    if owner is types.SimpleNamespace:
        if x.actual is not None:
            raise i.refuse(node, "the text of a namespace of the caller's", "write its attributes: f'{x.name}'")
        return called("namespace", x.fields, i, node)
    if is_made_by_dataclass(owner, name):
        if records.is_local(kind) and kind.__qualname__ == kind.__name__:
            raise i.refuse(node, "the text of a dataclass that a function inside defines", "define it outside")
        names = [f.name for f in dataclasses.fields(kind) if f.repr]
        return called(kind.__qualname__, {n: i.attribute(node, x, n) for n in names}, i, node)
    found = i.call(node, records.special(i, node, x, name, f"has no {name}"), [], {})
    kinds = {isinstance(arm, (str, Text)) for arm in ends(found)}
    if len(kinds) > 1:
        raise i.refuse(node, f"whether {name} returns a text depends on the path", "return one on all paths")
    if kinds != {True}:
        raise Raises(TypeError(f"{name} returned non-string (type {refusals.name_of(found)})"))
    return text_of(i, node, found)


def is_made_by_dataclass(owner: type, name: str) -> bool:
    """Whether a special method of a class is the one that `dataclass` made."""
    code = getattr(getattr(vars(owner)[name], "__wrapped__", None), "__code__", None)
    return "__dataclass_params__" in vars(owner) and code is not None and code.co_filename == "<string>"


def shows_itself(kind: type, base: type) -> bool:
    """Whether a class between `kind` and `base` has a text of its own."""
    between = kind.__mro__[: kind.__mro__.index(base)]
    written = [vars(c)[name] for c in between for name in ("__repr__", "__str__") if name in vars(c)]
    return any(f.__code__.co_filename != collections.__file__ for f in written)


def called(name: str, values: Mapping[str, Any], i: Evaluator, node: ast.AST) -> Text:
    """The text `name(key=value, ...)`."""
    parts = [listed(f"{key}=", [text_of(i, node, value, True)], "") for key, value in values.items()]
    return listed(f"{name}(", parts, ")")


def listed(before: str, parts: Sequence[Text], after: str, between: str = ", ") -> Text:
    """Texts one after another, as one."""
    found: list[str | Part] = [before]
    for k, part in enumerate(parts):
        found += [between] * (k > 0) + [*part.parts]
    return Text((*found, after))


def joined_text(parts: Sequence[Text]) -> Text | str:
    """Parts of a text joined: a str, where they are all known."""
    made = listed("", parts, "", "")
    return made if made.known is None else made.known


def with_spec(i: Evaluator, node: ast.AST, x: Any, spec: Text) -> Text:
    """A number in a format of which the run time knows the width or the precision."""
    numbers = [p.value for p in spec.open]
    ints = all(isinstance(n, PyInt) or (isinstance(n, NpScalar) and n.element.is_integer) for n in numbers)
    if not isinstance(x, Scalar) or not ints or any(p.spec or p.conversion for p in spec.open):
        raise i.refuse(node, "a format that depends on values", "write the format out")
    ask(format, stand_in(x), "".join(p if isinstance(p, str) else "1" for p in spec.parts))
    reason = f"a format with a width or precision that is not 0 to {MOST_PLACES}"
    for n in numbers:
        for fits in (i.compared(node, "GtE", n, 0), i.compared(node, "LtE", n, MOST_PLACES)):
            if not isinstance(fits, bool):
                i.r.check(fits.value, UnsupportedError, reason)
    return made_text(format, [x, spec])


def formatted_value(i: Evaluator, node: ast.AST, x: Any, spec: str | Text, conversion: str = "") -> Text:
    """A value in the format `spec`, after the conversion `r`, `s` or `a` if there is one."""
    if is_label(x) and spec and not conversion:
        if labels.is_array(x):
            raise labels.refusal(i, node, "a format of an array", x)
        x = labels.as_text(x)
    if isinstance(spec, Text):
        if conversion:
            raise i.refuse(node, "a format that depends on values", "write the format out")
        return with_spec(i, node, x, spec)
    if conversion or (isinstance(x, Record) and spec == "" and not has_format(x)):
        x = joined_text([text_of(i, node, x, conversion in ("r", "a"))])
        if conversion == "a" and isinstance(x, str):
            x = ascii(x)[1:-1]
    if isinstance(x, Record) and has_format(x):
        found = i.call(node, records.special(i, node, x, "__format__", "has no __format__"), [spec], {})
        return text_of(i, node, found)
    if spec == "" and isinstance(x, Scalar):
        return Text((Part(x, "", "", "" if template_of(x, False) == "" else "{}"),))
    if spec == "":
        return text_of(i, node, x)
    if isinstance(x, Scalar):
        check_origin(i.r, x)
        ask(format, stand_in(x), spec)
        return Text((Part(x, "", spec, "{:" + spec + "}"),))
    if isinstance(x, Record):
        raise Raises(TypeError(f"unsupported format string passed to {x.kind.__name__}.__format__"))
    if isinstance(x, Text):
        ask(format, "", spec)
        return Text((Part(x, "", spec),))
    if isinstance(x, ArrayRef) and not x.ndim:
        ask(format, np.zeros((), x.element.dtype), spec)
        return Text((Part(as_it_is(i.r, x), "", spec),))
    shown = np.empty((1,) * x.ndim) if isinstance(x, ArrayRef) else type(x)() if type(x) in (list, tuple, dict) else x
    return text_of(i, node, ask(format, shown, spec))


def has_format(x: Record) -> bool:
    """Whether the class of an object has a `__format__` of its own."""
    return records.in_class(x.kind.__mro__[:-1], "__format__") is not records.MISSING


def call(i: Evaluator, node: ast.AST, function: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
    """A call of a function or method of text; NotImplemented for other callees."""
    of = getattr(function, "__self__", None) if isinstance(function, types.BuiltinFunctionType) else None
    if function not in SHOWN if isinstance(function, (type, types.BuiltinFunctionType)) else True:
        if not isinstance(of, str):
            return NotImplemented
    if all(map(is_known, [*args, *kwargs.values()])):
        found = ask(function, *args, **kwargs)
        return i.own(found) if isinstance(found, list) else found
    if function in NUMERALS and len(args) == 1 and not kwargs and isinstance(args[0], Scalar):
        return numeral(i, node, function, args[0])
    if (function is str or (function is repr and i.scopes)) and len(args) == 1 and not kwargs:
        return joined_text([text_of(i, node, args[0], function is repr)])
    if function is format and len(args) in (1, 2) and not kwargs and isinstance(args[-1] if args[1:] else "", str):
        return joined_text([formatted_value(i, node, args[0], *args[1:] or [""])])
    if isinstance(of, str) and function.__name__ == "format":
        return formatted(i, node, of, args, kwargs)
    return NotImplemented


def numeral(i: Evaluator, node: ast.AST, function: Any, x: Scalar) -> Text | str:
    """chr, bin, hex or oct of an int."""
    if isinstance(x, (PyBool, PyInt)) or (isinstance(x, NpScalar) and x.element.is_integer and x.python is None):
        whole = x if isinstance(x, PyInt) else i.call(node, int, [x], {})
    else:
        ask(function, stand_in(x))  # raises TypeError
        raise i.refuse(node, f"{function.__name__} of a {refusals.name_of(x)}", "use an int: int(x)")
    if function is chr and isinstance(whole, PyInt):
        within = both(i.r, i.r.compare("sge", whole.expr, 0), i.r.compare("slt", whole.expr, sys.maxunicode + 1))
        i.r.check(within, ValueError, "chr() arg not in range(0x110000)")
    return made_text(function, [whole])


def letter(i: Evaluator, node: ast.AST, base: str, index: PyInt | NpScalar) -> Any:
    """base[index], of an index that only the run time knows; NotImplemented where the arguments tell it, or it is no
    int."""
    if isinstance(index, NpScalar):
        if not index.element.is_integer or index.python is not None:
            return NotImplemented
        index = i.call(node, int, [index], {})
    if not isinstance(index, PyInt) or i.r.entry_only(index.expr):
        return NotImplemented
    n = len(base)
    within = both(i.r, i.r.compare("sge", index.expr, -n), i.r.compare("slt", index.expr, n))
    i.r.check(within, IndexError, "string index out of range")
    return made_text(operator.getitem, [base, index])


def formatted(
    i: Evaluator, node: ast.AST, template: str, args: Sequence[Any], kwargs: dict[str, Any]
) -> Text | str:
    """template.format(*args, **kwargs)."""
    place = 0

    def value(name: str) -> Any:
        nonlocal place
        if name and not name.isdigit():
            return ask(operator.getitem, kwargs, name)
        at = int(name) if name else place
        if at >= len(args):
            raise Raises(IndexError(f"Replacement index {at} out of range for positional args tuple"))
        place += 1
        return args[at]

    parts = []
    for before, name, spec, conversion in pieces(i, template):
        parts.append(Text((before,)))
        if name is None:
            continue
        x, own = value(name), []
        for text, inner, *more in pieces(i, spec or ""):
            if any(more):
                raise refused(i.r, "this format of what only the run time knows")
            own += [Text((text,)), *([] if inner is None else [text_of(i, node, value(inner))])]
        parts.append(formatted_value(i, node, x, settled(i.r, joined_text(own)), conversion or ""))
    return joined_text(parts)


def pieces(i: Evaluator, template: str) -> list[tuple[str, str | None, str | None, str | None]]:
    """What string.Formatter finds in a template; what names attributes or items is refused."""
    found: list[tuple[str, str | None, str | None, str | None]] = ask(list, Formatter().parse(template))
    if not all(name is None or name == "" or name.isidentifier() or name.isdigit() for _, name, _, _ in found):
        raise refused(i.r, "this format of what only the run time knows")
    return found


def percent(i: Evaluator, node: ast.AST, template: str, values: Any) -> Text | str:
    """`template % values`."""
    given = list(values) if isinstance(values, tuple) else [values]
    if all(map(is_known, given)):
        return ask(operator.mod, template, values)  # type: ignore[no-any-return]
    if len(PERCENT.findall(template)) != template.count("%") - template.count("%%"):
        raise refused(i.r, "this format of what only the run time knows")
    parts, end = [], 0
    for m in PERCENT.finditer(template):
        parts.append(Text((template[end : m.start()],)))
        end = m.end()
        if m.group() == "%%":
            parts.append(Text(("%",)))
            continue
        if not given:
            raise Raises(TypeError("not enough arguments for format string"))
        parts.append(percent_part(i, node, m, given.pop(0)))
    if given and not is_mapping(values):
        raise Raises(TypeError("not all arguments converted during string formatting"))
    return joined_text([*parts, Text((template[end:],))])


def is_mapping(x: Any) -> bool:
    """Whether `%` takes a value for a mapping (PyMapping_Check), of which it need not use anything: arrays, NumPy's
    numbers and lists too."""
    if isinstance(x, (tuple, Text)):
        return False
    if is_label(x):
        return labels.is_array(x)
    if isinstance(x, Record):
        kind = python_of(x) if is_growing(x) else x.kind
        return hasattr(kind, "__getitem__")
    return isinstance(x, ArrayRef) or hasattr(stand_in(x) if isinstance(x, Scalar) else x, "__getitem__")


def percent_part(i: Evaluator, node: ast.AST, m: re.Match[str], x: Any) -> Text:
    """The text of one conversion of a `%` format."""
    kind, flags, places = m["kind"], m["flags"], m["places"] or ""
    if type(x) is Cond and all(isinstance(end, (Scalar, *PLAIN)) for end in ends(x)):
        return Text((Part(x.map(lambda arm: joined_text([percent_part(i, node, m, arm)]))),))
    if isinstance(x, PLAIN):
        return text_of(i, node, ask(operator.mod, m.group(), (x,)))
    if kind in "sr":
        found = joined_text([text_of(i, node, x, kind == "r")])
        if isinstance(found, str):
            return text_of(i, node, ask(operator.mod, m.group().replace("r", "s"), (found,)))
        align = "<" if "-" in flags else ">"
        spec = m["width"] and align + m["width"]
        return Text((Part(found, "", spec + places),)) if spec or places else found
    if not isinstance(x, Scalar):
        if isinstance(x, (Text, list, tuple, dict)):
            ask(operator.mod, m.group(), ("" if isinstance(x, Text) else type(x)(),))
        raise refused(i.r, "a format of numbers, of what is no number")
    if isinstance(x, PyComplex):
        ask(operator.mod, m.group(), (0j,))  # which raises TypeError
    if isinstance(x, NpScalar) and (x.element.is_complex or x.element is I1):  # NumPy discards the imaginary part
        raise refused(i.r, f"a {x.element.dtype} in a `%` format of numbers")
    whole = isinstance(x, (PyInt, PyBool)) or (isinstance(x, NpScalar) and x.element.is_integer)
    if kind in "di" and not whole or "-" in flags or "#" in flags:
        raise refused(i.r, "this format of what only the run time knows")
    spec = flags + m["width"] + places + ("d" if kind == "i" else kind)
    return formatted_value(i, node, x, "" if spec == "d" and not isinstance(x, PyBool) else spec)


def refused(r: Recorder, reason: str) -> UnsupportedError:
    """The refusal of text whose numbers only the run time knows."""
    return r.refuse(reason, "an f-string, in a message")


def has_plain_constructor(kind: type[BaseException]) -> bool:
    """Whether an exception's constructor keeps what it is given, and does no more: Python's, and NumPy's AxisError."""
    own = next(c for c in kind.__mro__ if "__init__" in vars(c))
    return own.__module__ == "builtins" or own is np.exceptions.AxisError


def is_new_error(function: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> bool:
    """Whether a call makes an exception of what only the run time knows."""
    known = not isinstance(function, type) or not issubclass(function, Exception) or kwargs or not args
    return not known and has_plain_constructor(function) and any(map(is_tracers, args))


def shown_error(kind: type[Exception], quoted: bool, *args: Any) -> str:
    """The text of an exception that is made of arguments."""
    return repr(kind(*args)) if quoted else str(kind(*args))


def exception_attribute(i: Evaluator, node: ast.AST, x: Caught | MadeError, name: str) -> Any:
    """An attribute of an exception that was raised at run time, or was made and not raised: its arguments."""
    if isinstance(x, MadeError):
        if not hasattr(x.function(), name):
            raise Raises(AttributeError(f"'{x.function.__name__}' object has no attribute '{name}'"))
        if name != "args":
            raise i.refuse(node, f"`.{name}` of an exception with values that only the run time knows", "use its args")
        return x.args
    site = next(iter(x.sites))
    if name == "args" and len(x.sites) == 1 and type(site.message) is str:
        return (text_of(i, node, x),)
    if name == "args" and len(x.sites) == 1 and type(site.message) is tuple:
        rest = iter([x.operands[n] for n in site.operands])
        with suppress(TypeError):
            return tuple(traced_argument(part, rest) for part in site.message)
    raise i.refuse(node, f"`.{name}` of an exception that only the run time raises", "catch classes of your own")


def traced_argument(part: object, rest: Iterator[Any]) -> Any:
    """An argument of an exception, as the program has it. Raises TypeError where it has a text in it."""
    if isinstance(part, Shown):
        raise TypeError
    if isinstance(part, Several):
        made = [traced_argument(p, rest) for p in part.parts]
        return dict(zip(made[::2], made[1::2])) if part.kind is dict else part.kind(made)
    return as_kind(part.kind, next(rest)) if isinstance(part, Number) else part


def as_kind(kind: type, x: PyInt | NpScalar) -> Scalar:
    """The operand of a message as the number of Python's or NumPy's that it was."""
    if isinstance(x, NpScalar) and kind in (float, complex, bool):
        return {float: PyFloat, complex: PyComplex, bool: PyBool}[kind](x.value)
    return x


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
    makes_text = makes_text or holds_it(function)
    if isinstance(function, (type, types.BuiltinFunctionType)) and not makes_text:
        check_known(r, *args)


def holds_it(function: Any) -> bool:
    """Whether a callee is a class of objects that is written in Python, whose `__init__` is traced (a dataclass)."""
    plain: Any = object.__new__
    of_objects = type(function) is type and function.__new__ is plain
    return of_objects and isinstance(function.__init__, types.FunctionType)


def added(i: Evaluator, node: ast.AST, a: Any, b: Any) -> Text | str:
    """a + b, where at least one is a Text."""
    if not all(isinstance(x, (str, Text)) for x in (a, b)):
        check_known(i.r, a, b)
    return joined_text([text_of(i, node, a), text_of(i, node, b)])
