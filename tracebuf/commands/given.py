"""What a file of a program has for the parts of its arguments: `params["w1"]`, `body.velocity`; and for captured
arrays, which it holds as they are now."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from tracebuf.backend.numba.style.render import quoted, shown
from tracebuf.errors import UnsupportedError
from tracebuf.frontends.numpy.call.arguments import ArrayKey
from tracebuf.frontends.numpy.call.call import Call
from tracebuf.frontends.numpy.call.captures import ABSENT, Hidden
from tracebuf.location import Location

__all__ = ["captured", "constant", "expressions", "has_test", "holders", "is_captured", "tree_tests"]

MOST = 10_000
"""Elements of captured arrays that a file holds at most."""


def expressions(call: Call) -> list[str]:
    """The expression of each leaf."""
    return [normal(name) for name in call.names]


def normal(text: str) -> str:
    """An expression as formatters leave it."""
    return shown(ast.parse(text, mode="eval").body)


def constant(x: Any) -> str:
    """A plain constant as text."""
    return quoted(x) if isinstance(x, str) else repr(x)


def holders(call: Call) -> list[str]:
    """The expression of each container, by its number."""
    return [path for path, _ in _nodes(call)]


def tree_tests(call: Call, loc: Location) -> Iterator[str]:
    """What the program takes for granted of containers."""
    for path, node in _nodes(call):
        kind, keys, items = node
        if kind in (list, tuple):
            yield f"type({path}) is {kind.__name__} and len({path}) == {len(items)}"
        elif kind is dict:
            names = ", ".join(constant(k) for _, k in keys)
            yield f"type({path}) is dict and list({path}) == [{names}]"
        elif isinstance(kind, type):
            yield f'type({path}).__name__ == "{kind.__name__}"'
        else:
            raise UnsupportedError(f"the argument `{path}` cannot be exported", location=loc)


def _nodes(call: Call) -> Iterator[tuple[str, Any]]:
    for top, node in zip(call.tops, call.tree or ()):
        yield from _inner(top, node)


def _inner(path: str, node: Any) -> Iterator[tuple[str, Any]]:
    if node is None:
        return
    if not isinstance(node, tuple):
        raise UnsupportedError(f"`{path}` is a container that is among the arguments twice; no file can hold the call")
    kind, keys, items = node
    yield path, node
    for k, item in enumerate(items):
        place = constant(keys[k][1]) if kind is dict else str(k)
        yield from _inner(f"{path}[{place}]", item)


def has_test(call: Call, k: int) -> bool:
    """Whether something is to be tested of a leaf: not of a method, which the class has."""
    return getattr(call.keys[k], "value", None) is not ABSENT


def is_captured(call: Call, k: int) -> bool:
    """Whether a leaf is no part of an argument."""
    first = len(call.names) - len(call.hidden)
    return k >= first and not is_part(call.hidden[k - first])


def captured(call: Call, stored: Sequence[int], loc: Location) -> Iterator[str]:
    """The definitions of what the function uses and is no parameter's, which are parts of the file. UnsupportedError
    where they cannot be."""
    first = len(call.names) - len(call.hidden)
    for k, h in enumerate(call.hidden, first):
        if is_part(h) or not has_test(call, k):
            continue
        x, key = call.values[k], call.keys[k]
        if not isinstance(key, ArrayKey):
            raise UnsupportedError(f"it uses `{h.label}`, which is no parameter: pass it", location=loc)
        if k in stored:
            raise UnsupportedError(f"it stores to `{h.label}`, which is no parameter: pass it", location=loc)
        if not h.label.isidentifier() or type(x) is not np.ndarray or x.size > MOST or x.dtype.kind not in "biufc":
            raise UnsupportedError(f"it uses `{h.label}`, an array that no file can hold: pass it", location=loc)
        items = repr(x.ravel(order="K").tolist()).replace("nan", "np.nan").replace("inf", "np.inf")
        order = np.argsort([-s for s in x.strides], kind="stable")
        made = f"np.array({items}, np.{x.dtype.name})"
        if x.ndim != 1:
            made += f".reshape({', '.join(str(x.shape[a]) for a in order)})"
        if list(order) != sorted(order):
            made += f".transpose({', '.join(str(list(order).index(a)) for a in range(x.ndim))})"
        yield f"{h.label} = {made}"


def is_part(h: Hidden) -> bool:
    """Whether it is an attribute of an argument, and of one of these."""
    return h.root is not None and all(word.isidentifier() for word in h.label.split("."))
