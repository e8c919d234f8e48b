"""What to write instead of what cannot be traced: the second half of every refusal, in one place, by what was met.

Callees are known by the name the user reads (`numpy.cumsum`, `print`); what is not listed gets a general answer.
"""

from __future__ import annotations

import ast

STATEMENTS: dict[type[ast.stmt], tuple[str, str]] = {
    ast.Try: ("`try`", "test the condition before, with an if"),
    ast.With: ("`with`", "enter the context around the call of the bufferized function"),
    ast.Raise: ("`raise`", "check the arguments before the call"),
    ast.Assert: ("`assert`", "check the arguments before the call"),
    ast.Delete: ("`del`", "leave it out: buffers are freed after their last use"),
    ast.Global: ("`global`", "return the value"),
    ast.Nonlocal: ("`nonlocal`", "return the value"),
    ast.ClassDef: ("a class definition", "define it outside the function"),
    ast.Match: ("`match`", "use if and elif"),
    ast.AsyncFor: ("`async for`", "use a plain function"),
    ast.AsyncWith: ("`async with`", "use a plain function"),
    ast.AsyncFunctionDef: ("an async function", "use a plain function"),
}
EXPRESSIONS: dict[type[ast.expr], tuple[str, str]] = {
    ast.ListComp: ("a list comprehension", "store into an array in a for loop, or write the items out"),
    ast.SetComp: ("a set comprehension", "store into an array in a for loop"),
    ast.DictComp: ("a dict comprehension", "use names, or a tuple"),
    ast.GeneratorExp: ("a generator expression", "accumulate in a for loop"),
    ast.Dict: ("a dict", "use names, or a tuple"),
    ast.Set: ("a set", "use a tuple"),
    ast.NamedExpr: ("`:=`", "assign in a statement of its own"),
    ast.JoinedStr: ("an f-string", "make the text outside the function"),
    ast.Await: ("`await`", "use a plain function"),
    ast.Yield: ("`yield`", "use a plain function"),
    ast.YieldFrom: ("`yield from`", "use a plain function"),
}
_OUTSIDE = "compute it outside and pass the result in"
_RANGE = "for i in range(len(a)): ... a[i] ..."
CALLS = {
    "print": "print outside of the function: a traced body is run once, not at each call",
    "enumerate": _RANGE,
    "zip": _RANGE,
    "reversed": "for i in range(len(a) - 1, -1, -1): ... a[i] ...",
    "map": _RANGE,
    "iter": _RANGE,
    "next": _RANGE,
}


def statement(node: ast.stmt) -> tuple[str, str]:
    """Reason and rewrite for a kind of statement."""
    what, instead = STATEMENTS.get(type(node), (f"`{type(node).__name__.lower()}`", "keep to assignments, for and if"))
    return f"{what} is not supported in a traced function", instead


def expression(node: ast.expr) -> tuple[str, str]:
    """Reason and rewrite for a kind of expression."""
    what, instead = EXPRESSIONS.get(type(node), (f"{type(node).__name__}", "use names, operators, calls and indexing"))
    return f"{what} is not supported in a traced function", instead


def call(where: str) -> str:
    """What to write in the place of a call."""
    if where.startswith(("numpy.random", "random.")) or where in ("random", "random.random"):
        return "draw the numbers outside and pass them in: a traced body is run once, not at each call"
    if where.startswith("math."):
        return "multiply, add or compare in a loop"
    if where.startswith("time."):
        return "measure outside: a traced body is run once, not at each call"
    return CALLS.get(where, _OUTSIDE)


def attribute(name: str) -> str:
    """What to write for an attribute or method of an array."""
    known = {
        "clip": "np.clip(a, low, high)",
        "tolist": "return the array, and convert it outside",
    }
    general = "use operators, slices, np.* functions of elements, sum, max, min, mean, dot, copy, astype or .T"
    return known.get(name, general)
