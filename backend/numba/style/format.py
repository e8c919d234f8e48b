"""Lines of Python as a formatter leaves them: what is too long is broken, one item on each line.

A broken call or display ends with a comma, so that formatters leave it broken whatever their lines may hold.
"""

from __future__ import annotations

import ast

from tracebuf.backend.numba.style.render import arguments, head_and_value, shown

WIDTH = 88
LONG = 120
"""Characters of a line from which on a string is divided: formatters join the parts that fit a line of theirs."""
_SUM, _PRODUCT = (ast.Add, ast.Sub), (ast.Mult, ast.Div, ast.FloorDiv, ast.Mod)


def fitted(line: str) -> list[str]:
    """A line of Python (a statement, or the head of a block) as lines of at most `WIDTH` characters, where it can be
    broken so."""
    if len(line) <= WIDTH:
        return [line]
    text = line.lstrip()
    indent = line[: len(line) - len(text)]
    if text.startswith("#"):
        kept = line[: max(WIDTH - 4, len(indent) + len("# line 1"))].rstrip()  # where there is no room, too
        return [f"{kept} ..."]
    if text.startswith("def "):
        return _items(indent, text[: text.index("(") + 1], text[text.index("(") + 1 : -2].split(", "), "):")
    if text.startswith(("except ", "else:", '"""')):
        return [line]
    try:
        s = ast.parse(text + " pass" if text.endswith(":") else text).body[0]
    except SyntaxError:  # a part of a statement
        return [line]
    head, value, tail = head_and_value(s)
    if isinstance(s, ast.Delete):
        return _deleted(indent, s)
    return [line] if value is None else _top(indent, head, value, tail)


def _items(indent: str, opening: str, items: list[str], closing: str) -> list[str]:
    return [indent + opening, *(f"{indent}    {x}," for x in items), indent + closing]


def _deleted(indent: str, s: ast.Delete) -> list[str]:
    lines = [f"{indent}del"]
    for x in map(shown, s.targets):
        if len(lines[-1]) + len(x) + 2 > WIDTH and not lines[-1].endswith("del"):
            lines.append(f"{indent}del")
        lines[-1] += f" {x}" if lines[-1].endswith("del") else f", {x}"
    return lines


def _top(indent: str, head: str, value: ast.expr, tail: str) -> list[str]:
    """A value that is no item: in brackets of its own where it has none to break at."""
    if len(indent + head + shown(value) + tail) <= WIDTH:
        return [indent + head + shown(value) + tail]
    if _bracket(value) is not None:
        return _broken(indent, head, value, tail)
    if isinstance(value, ast.UnaryOp) and isinstance(value.op, ast.Not) and _bracket(value.operand) is not None:
        return _broken(indent, f"{head}not ", value.operand, tail)
    if isinstance(value, ast.Constant | ast.JoinedStr):
        return [indent + head + shown(value) + tail]
    return [f"{indent}{head}(", *_broken(indent + "    ", "", value, ""), f"{indent}){tail}"]


def _bracket(value: ast.expr) -> ast.expr | None:
    """The call or display that an expression begins with, at whose items it is broken."""
    match value:
        case ast.Call(args=[], keywords=[]) | ast.Tuple(elts=[]) | ast.List(elts=[]):
            return None
        case ast.Call(func=ast.Attribute(value=inner)) if len(shown(value.func)) > 40:
            return _bracket(inner)
        case ast.Call() | ast.Tuple() | ast.List() | ast.Dict():
            return value
        case ast.Attribute(value=inner) | ast.Subscript(value=inner) if (found := _bracket(inner)) is not None:
            return found
        case ast.Subscript(slice=ast.Tuple(elts=[_, _, *_])):
            return value
    return None


def _broken(indent: str, head: str, value: ast.expr, tail: str) -> list[str]:
    """An expression by its items or terms, where it is too long."""
    flat = indent + head + shown(value) + tail
    if len(flat) <= WIDTH:
        return [flat]
    if (inner := _bracket(value)) is not None:
        text, whole = shown(inner), shown(value)
        assert whole.startswith(text)
        rest = whole[len(text) :] + tail
        opening, pairs, closing = _parts(inner)
        lines = [indent + head + opening]
        for before, x in pairs:
            lines += _broken(indent + "    ", before, x, ",")
        return [*lines, indent + closing + rest]
    if isinstance(value, ast.Constant | ast.JoinedStr) and len(flat) > LONG and not head:
        *strings, last = _strings(shown(value), WIDTH - len(indent) - len(tail))
        return [*(f"{indent}{x}" for x in strings), f"{indent}{last}{tail}"]
    terms = _terms(value)
    if not terms:
        return [flat]
    lines = []
    for k, (sign, x, level) in enumerate(terms):
        end = tail if k == len(terms) - 1 else ""
        lines.append(f"{indent}{head if k == 0 else ''}{sign}{shown(x, level)}{end}")
    return lines


def _strings(text: str, width: int) -> list[str]:
    """A literal of a string as several, each of at most `width` characters, divided between words."""
    begin = text[: 2 if text[0] == "f" else 1]
    if text[len(begin) - 1 :][:3] == "'''" or text[0] not in "f\"'":
        return [text]
    inner, quote = text[len(begin) : -1], begin[-1]
    found, rest = list[str](), inner
    while len(begin) + len(rest) + 1 > width:
        room = rest[: width - len(begin) - 1]
        at = next((k + 1 for k in range(len(room) - 1, 0, -1) if room[k] == " " and _outside(room[:k])), 0)
        if not at:
            break
        found.append(rest[:at])
        rest = rest[at:]
    return [f"{begin if '{' in x or '}' in x else quote}{x}{quote}" for x in [*found, rest]]


def _outside(text: str) -> bool:
    """Whether a part of a formatted string ends outside of its braces."""
    return text.count("{") == text.count("}")


def _parts(value: ast.expr) -> tuple[str, list[tuple[str, ast.expr]], str]:
    """What opens a call or display, its items, each with what stands before it, and what closes it."""
    match value:
        case ast.Call(func=func):
            return f"{shown(func, 14)}(", arguments(value), ")"
        case ast.Subscript(value=inner, slice=ast.Tuple(elts=items)):
            return f"{shown(inner, 14)}[", [("", x) for x in items], "]"
        case ast.Dict(keys=keys, values=values):
            return "{", [(f"{shown(k)}: ", v) for k, v in zip(keys, values, strict=True) if k is not None], "}"
        case ast.Tuple(elts=items):
            return "(", [("", x) for x in items], ")"
        case ast.List(elts=items):
            return "[", [("", x) for x in items], "]"
    raise AssertionError(value)


def _terms(value: ast.expr) -> list[tuple[str, ast.expr, int]]:
    """The terms of a sum, a product or a condition, each with the sign before it."""
    match value:
        case ast.BoolOp(op=op, values=values):
            word = "and " if isinstance(op, ast.And) else "or "
            return [(word if k else "", x, 4 if word == "and " else 3) for k, x in enumerate(values)]
        case ast.IfExp(test=test, body=body, orelse=orelse):
            return [("", body, 2), ("if ", test, 2), ("else ", orelse, 1)]
        case ast.Compare(left=left, ops=[_], comparators=[right]):
            sign = shown(value)[len(shown(left, 6)) :].split()
            word = " ".join(sign[: 2 if sign[0] == "not" or sign[:2] == ["is", "not"] else 1])
            return [("", left, 6), (f"{word} ", right, 6)]
        case ast.BinOp(op=op):
            kind = next((k for k in (_SUM, _PRODUCT) if isinstance(op, k)), (type(op),))
            return _chain(value, kind)
    return []


def _chain(value: ast.expr, kind: tuple[type[ast.operator], ...]) -> list[tuple[str, ast.expr, int]]:
    if not (isinstance(value, ast.BinOp) and isinstance(value.op, kind)):
        return [("", value, 11 if kind is _SUM else 12)]
    left = _chain(value.left, kind)
    plain = ast.BinOp(ast.Name("a"), value.op, ast.Name("a"))
    return [*left, (f"{shown(plain).split()[1]} ", value.right, 11 if kind is _SUM else 12)]
