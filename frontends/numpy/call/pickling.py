"""How a bufferized function is pickled: as its function would be.

By reference where its name in its module leads to it, so that options need no pickle. A pickler that takes functions
by value (cloudpickle: those of `__main__`, of notebooks, of modules registered with it) is handed one that it can take:
the *anchor*, a copy of the function that carries the options, and that is found by name where functions are.
"""

from __future__ import annotations

import sys
from functools import reduce
from types import FunctionType
from typing import Any

from tracebuf.options import Options

ANCHOR = "_anchor"
"""The attribute of a bufferized function that is its anchor."""


def named(module: str | None, qualname: str) -> Any:
    """What a qualified name in a module leads to; None where it leads nowhere."""
    try:
        return reduce(getattr, qualname.split("."), sys.modules[module or ""])
    except (KeyError, AttributeError):
        return None


def anchor_of(function: FunctionType, options: Options) -> FunctionType:
    """A copy of the function, named as the attribute of the bufferized one."""
    f = function
    made = FunctionType(f.__code__, f.__globals__, f.__name__, f.__defaults__, f.__closure__)
    made.__kwdefaults__, made.__doc__, made.__module__ = f.__kwdefaults__, f.__doc__, f.__module__
    made.__annotations__ = f.__annotations__
    made.__dict__.update(f.__dict__, __tracebuf_options__=options)
    made.__qualname__ = f"{f.__qualname__}.{ANCHOR}"
    return made


def from_anchor(anchor: FunctionType) -> tuple[FunctionType, Options]:
    """The function and the options of an anchor that was pickled by value."""
    options: Options = anchor.__dict__.pop("__tracebuf_options__")
    anchor.__qualname__ = anchor.__qualname__.removesuffix(f".{ANCHOR}")
    return anchor, options
