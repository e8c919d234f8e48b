"""Python's syntax trees as text on one line, spaced as formatters of Python do it."""

from __future__ import annotations

import ast

__all__ = ["head_and_value", "shown", "statement"]

_BINARY: dict[type[ast.operator], tuple[str, int]] = {
    ast.BitOr: ("|", 6), ast.BitXor: ("^", 7), ast.BitAnd: ("&", 8), ast.LShift: ("<<", 9), ast.RShift: (">>", 9),
    ast.Add: ("+", 10), ast.Sub: ("-", 10), ast.Mult: ("*", 11), ast.Div: ("/", 11), ast.FloorDiv: ("//", 11),
    ast.Mod: ("%", 11), ast.MatMult: ("@", 11), ast.Pow: ("**", 13),
}  # fmt: skip
"""The sign of an operator, and how tightly it binds."""
_UNARY: dict[type[ast.unaryop], tuple[str, int]] = {
    ast.Not: ("not ", 4), ast.USub: ("-", 12), ast.UAdd: ("+", 12), ast.Invert: ("~", 12),
}  # fmt: skip
_COMPARE: dict[type[ast.cmpop], str] = {
    ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=",
    ast.Is: "is", ast.IsNot: "is not", ast.In: "in", ast.NotIn: "not in",
}  # fmt: skip
_BITS = (ast.BitOr, ast.BitXor, ast.BitAnd, ast.LShift, ast.RShift)
"""Operators that stand in brackets where they are mixed."""
CHOICE, OR, AND, NOT, COMPARE, BIT_OR, SIGN, POWER, ATOM = 1, 2, 3, 4, 5, 6, 12, 13, 14


def quoted(text: str) -> str:
    """A string as a literal, in double quotes where that needs no other escapes."""
    found = repr(text)
    return f'"{found[1:-1]}"' if found[0] == "'" and '"' not in found else found


def shown(node: ast.expr, level: int = 0) -> str:
    """The expression, in brackets where it binds less tightly than `level`."""
    text, own = _shown(node)
    return text if own >= level else f"({text})"


def _shown(node: ast.expr) -> tuple[str, int]:
    match node:
        case ast.Constant(value=value):
            return constant(value), ATOM
        case ast.Name(id=name):
            return name, ATOM
        case ast.Attribute(value=value, attr=attr):
            inner = shown(value, ATOM)
            return f"({inner}).{attr}" if inner.isdecimal() else f"{inner}.{attr}", ATOM
        case ast.Subscript(value=value, slice=index):
            return f"{shown(value, ATOM)}[{_index(index)}]", ATOM
        case ast.Call(func=func):
            return f"{shown(func, ATOM)}({', '.join(p + shown(x, CHOICE) for p, x in arguments(node))})", ATOM
        case ast.BinOp(left=left, op=op, right=right):
            sign, level = _BINARY[type(op)]
            if isinstance(op, ast.Pow):
                space = "" if _is_simple(left) and _is_simple(right) else " "
                return f"{shown(left, level + 1)}{space}{sign}{space}{shown(right, SIGN)}", level
            mixed = any(isinstance(x, ast.BinOp) and type(x.op) in _BITS for x in (left, right))
            if type(op) in _BITS and mixed and not (isinstance(left, ast.BinOp) and type(left.op) is type(op)):
                return f"{shown(left, 10)} {sign} {shown(right, 10)}", level
            return f"{shown(left, level)} {sign} {shown(right, level + 1)}", level
        case ast.UnaryOp(op=op, operand=operand):
            sign, level = _UNARY[type(op)]
            return f"{sign}{shown(operand, level)}", level
        case ast.BoolOp(op=op, values=values):
            word, level = ("and", AND) if isinstance(op, ast.And) else ("or", OR)
            return f" {word} ".join(shown(v, level + 1) for v in values), level
        case ast.Compare(left=left, ops=ops, comparators=others):
            rest = (f" {_COMPARE[type(op)]} {shown(x, BIT_OR)}" for op, x in zip(ops, others, strict=True))
            return shown(left, BIT_OR) + "".join(rest), COMPARE
        case ast.IfExp(test=test, body=body, orelse=orelse):
            return f"{shown(body, OR)} if {shown(test, OR)} else {shown(orelse, CHOICE)}", CHOICE
        case ast.Tuple(elts=items):
            return f"({', '.join(shown(x, CHOICE) for x in items)}{',' if len(items) == 1 else ''})", ATOM
        case ast.List(elts=items):
            return f"[{', '.join(shown(x, CHOICE) for x in items)}]", ATOM
        case ast.Dict(keys=keys, values=values):
            pairs = (f"{shown(k, CHOICE)}: {shown(v, CHOICE)}" for k, v in zip(keys, values, strict=True) if k)
            return f"{{{', '.join(pairs)}}}", ATOM
        case ast.Starred(value=value):
            return f"*{shown(value, BIT_OR)}", ATOM
        case ast.JoinedStr():
            return _joined(node), ATOM
        case ast.Slice():
            return _index(node), ATOM
    return ast.unparse(node), 0


def arguments(call: ast.Call) -> list[tuple[str, ast.expr]]:
    """The arguments of a call, each with what stands before it."""
    words = [(f"{k.arg}=" if k.arg else "**", k.value) for k in call.keywords]
    return [*(("", a) for a in call.args), *words]


def constant(value: object) -> str:
    match value:
        case str():
            return quoted(value)
        case float():
            return repr(value).replace("e+", "e")
    return "..." if value is ... else repr(value)


def _is_simple(node: ast.expr) -> bool:
    match node:
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return _is_simple(operand)
        case ast.Attribute(value=value):
            return _is_simple(value) and not isinstance(value, ast.Constant)
    return isinstance(node, (ast.Name, ast.Constant))


def _index(node: ast.expr) -> str:
    match node:
        case ast.Tuple(elts=[only]):
            return f"{_index(only)},"
        case ast.Tuple(elts=[_, *_] as items):
            return ", ".join(map(_index, items))
        case ast.Slice(lower=lower, upper=upper, step=step):
            plain = all(x is None or _is_simple(x) and not isinstance(x, ast.Attribute) for x in (lower, upper, step))
            space = "" if plain else " "
            text = f"{shown(lower, OR)}{space}:" if lower else ":"
            for part, more in (upper, step is not None), (step, False):
                text += f"{space}{shown(part, OR)}" if part else ""
                text += f"{space if part else ''}:" if more else ""
            return text
    return shown(node)


def _joined(node: ast.JoinedStr) -> str:
    found = ""
    for part in node.values:
        match part:
            case ast.Constant(value=str(value)):
                found += value.replace("{", "{{").replace("}", "}}").encode("unicode_escape").decode()
            case ast.FormattedValue(value=value, conversion=conversion, format_spec=spec):
                how = f"!{chr(conversion)}" if conversion != -1 else ""
                if isinstance(spec, ast.JoinedStr):
                    how += ":" + "".join(str(c.value) for c in spec.values if isinstance(c, ast.Constant))
                found += f"{{{shown(value)}{how}}}"
    quote = '"' if '"' not in found else "'''"
    return f"f{quote}{found}{quote}"


def statement(s: ast.stmt) -> str:
    """A statement without the blocks in it: its line, or its head."""
    head, value, tail = head_and_value(s)
    return f"{head}{shown(value)}{tail}" if value is not None else f"{head}{tail}"


def head_and_value(s: ast.stmt) -> tuple[str, ast.expr | None, str]:
    """A statement as what stands before its last expression, the expression, and what stands after it."""
    match s:
        case ast.Assign(targets=[target], value=value):
            return f"{_targets(target)} = ", value, ""
        case ast.AugAssign(target=target, op=op, value=value):
            return f"{shown(target)} {_BINARY[type(op)][0]}= ", value, ""
        case ast.Expr(value=value):
            return "", value, ""
        case ast.Return(value=ast.Tuple(elts=[_, _, *_]) as value) if len(text := shown(value)) < 70:
            return f"return {text[1:-1]}", None, ""
        case ast.Return(value=value):
            return "return " if value else "return", value, ""
        case ast.Raise(exc=exc):
            return "raise " if exc else "raise", exc, ""
        case ast.Assert(test=test):
            return "assert ", test, ""
        case ast.If(test=test):
            return "if ", test, ":"
        case ast.While(test=test):
            return "while ", test, ":"
        case ast.For(target=target, iter=iterated):
            return f"for {_targets(target)} in ", iterated, ":"
        case ast.Delete(targets=targets):
            return f"del {', '.join(map(shown, targets))}", None, ""
        case ast.Break():
            return "break", None, ""
        case ast.Pass():
            return "pass", None, ""
    return ast.unparse(s), None, ""


def _targets(target: ast.expr) -> str:
    several = isinstance(target, ast.Tuple) and len(target.elts) > 1
    return shown(target)[1:-1] if several else shown(target)
