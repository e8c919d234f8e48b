"""What to write instead of a statement, expression, attribute or callee that is not known.

A handler that refuses an argument says itself what to write, where it calls `r.refuse`. Callees are looked up by the
name that the user reads (`numpy.sort`, `print`); what is not listed gets a general answer.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tracebuf.frontends.numpy.record.callees import Buffer
from tracebuf.frontends.numpy.record.heap import Record
from tracebuf.frontends.numpy.record.values import ArrayRef, Scalar, stand_in

_PLAIN = "use a plain function, and return a tuple or an array"
STATEMENTS: dict[type[ast.stmt], tuple[str, str]] = {
    ast.Try: ("`try` around what may raise at run time", "test for it with an if, or put the try around the call"),
    ast.With: ("`with`", "enter the context around the call"),
    ast.Delete: ("`del` of anything but a name or an item of a list or dict", "leave it out"),
    ast.Global: ("`global` of a name that `:=`, `del` or `import` binds", "bind it by a statement: x = x + 1"),
    ast.Nonlocal: ("`nonlocal` of a name that `:=` or `del` binds", "bind it by a statement: x = x + 1"),
    ast.Match: ("`match`", "use if and elif"),
    ast.AsyncFunctionDef: ("an async function", _PLAIN),
}
"""By class of statement: what it is called in a refusal, and what to write instead."""
EXPRESSIONS: dict[type[ast.expr], tuple[str, str]] = {
}
"""By class of expression: what it is called in a refusal, and what to write instead."""
OUTSIDE = "compute it outside and pass the result in, or tracebuf.host_call(f, a, result_shape=...), where f calls it"
_RANDOM = "tracebuf.host_call(draw, n, result_shape=n), where draw(n) draws them, or pass the numbers in"
_FILES = "tracebuf.host_call(f, a), where f reads or writes the file"
CALLS = {
    **dict.fromkeys(("open", "input", "numpy.load", "numpy.save", "numpy.savetxt", "numpy.loadtxt"), _FILES),
}
"""By a callee's qualified name: what to write instead."""
MODULES = {"random": _RANDOM, "numpy.random": _RANDOM}
"""By the name of a module: what to write instead of a call of any of its functions that `CALLS` does not list."""
ATTRIBUTES = {
    "base": "ask outside who owns the memory, and pass the answer in",
    **dict.fromkeys(("data", "ctypes", "__array_interface__"), "compare arrays by `is`, or ask for addresses outside"),
}
"""By the name of an array's attribute or method: what to write instead."""
CONTAINS = "np.any(a == x) for an array, x == y or x == z for numbers"
ATTRIBUTE_SET = ("an attribute is set in a traced function", "return the value, and set it outside")
"""Reason and rewrite for a store to an attribute."""
FLAT_STORE = ("a store to a.flat by an index that is no array of ints", "np.put(a, places, x)")
"""Reason and rewrite for a store through a flat iterator."""
PARAMETERS = {
    "out": "store the result: out[...] = f(a, b)",
    "where": "np.where(c, f(a), b)",
    "dtype": "convert first: a.astype(dtype)",
    "initial": "combine the result with it afterwards",
    "order": "leave it out, and transpose with .T",
    "mode": "join the parts: np.concatenate((a[:1], a, a[-1:]))",
}
"""By name of a parameter that is not supported: what to write instead of it."""
OF_ARRAYS = "use operators, slices, np.* functions, or a loop over the elements"


_NAMES = {
    "Range": "range", "Items": "result of enumerate, zip or reversed", "OneShotIterator": "iterator",
    "NestedFunction": "function", "FlatIterator": "flat iterator", "Partial": "partial", "Text": "str",
    "Progress": "progress bar", "TextItem": "text out of an array", "Generator": "generator", "Bits": "PCG64",
    "Base": "base of an array", "Memory": "memoryview", "MadeError": "made exception",
    "Untold": "text or object in the result of a library's function", "SetOfOne": "set",
    "Callback": "function", "GroupRef": "list", "Groups": "defaultdict", "RandomMade": "Random",
    "NoneArray": "numpy.ndarray of None", "LoadedModules": "dict",
    "Method": "method", "ContainerMethod": "method", "BoundMethod": "method", "DictView": "view of a dict",
    "Cond": "value of different types, depending on the path",
}  # fmt: skip
"""By the tracer's class of a value: the name of the type that the user knows."""


def name_of(x: object) -> str:
    """The name of a value's type, as the user knows it."""
    if isinstance(x, (ArrayRef, Scalar)):
        kind: type = type(stand_in(x)) if isinstance(x, Scalar) else np.ndarray
        return f"numpy.{kind.__name__}" if isinstance(x, ArrayRef) or kind.__module__ == "numpy" else kind.__name__
    kind = x.kind if isinstance(x, (Record, Buffer)) else type(x)
    if issubclass(kind, np.generic) and kind.__module__ == "numpy":
        return f"numpy.{kind.__name__}"
    return _NAMES.get(kind.__name__, kind.__name__)


def is_function(x: object) -> bool:
    """Whether an object of the tracer's stands for a function."""
    return name_of(x) in ("function", "method", "partial")


def statement(node: ast.stmt) -> tuple[str, str]:
    """The reason and the rewrite for a refused kind of statement."""
    what, instead = STATEMENTS.get(type(node), (f"`{type(node).__name__.lower()}`", "keep to plain statements"))
    return f"{what} is not supported in a traced function", instead


def expression(node: ast.expr) -> tuple[str, str]:
    """The reason and the rewrite for a refused kind of expression."""
    what, instead = EXPRESSIONS.get(type(node), (type(node).__name__, "use names, operators, calls and indexing"))
    return f"{what} is not supported in a traced function", instead


def typed(kind: type) -> str:
    """A class as Python's errors name it: with its module where it is built in."""
    built_in = not kind.__flags__ & 1 << 9 and kind.__module__ != "builtins"
    return f"{kind.__module__}.{kind.__name__}" if built_in else kind.__name__


def without(kind: type, name: str) -> AttributeError:
    """What is raised for an attribute that the objects of a class do not have."""
    return AttributeError(f"'{typed(kind)}' object has no attribute '{name}'")


def call(where: str) -> str:
    """What to write instead of a call, by the callee's qualified name."""
    return CALLS.get(where) or MODULES.get(where.rpartition(".")[0]) or OUTSIDE


def spelled(function: Callable[..., Any], bound: bool = False) -> str:
    """A function of NumPy's or SciPy's as the user writes it: `np.linalg.svd`. `bound`: a method of arrays."""
    module = "np.ndarray" if bound else getattr(function, "__module__", None) or "np"
    public = [part for part in module.replace("numpy", "np", 1).split(".") if part[:1] != "_" and part != "builtins"]
    return ".".join([*public, function.__name__])


def parameters(function: str, names: Sequence[str]) -> tuple[str, str]:
    """The reason and the rewrite for parameters that a function is not traced with, but for one value."""
    given = ", ".join(f"{name}=" for name in names)
    return f"{function} with {given} is not supported", PARAMETERS.get(names[0], f"leave `{names[0]}` out")


def of_object(kind: type) -> str:
    """What to write instead of an attribute of an object from outside."""
    return _RANDOM if kind.__module__.startswith("numpy.random") else "pass the value as an argument"


def attribute(name: str) -> str:
    """What to write instead of an attribute or method of an array."""
    return ATTRIBUTES.get(name, OF_ARRAYS)
