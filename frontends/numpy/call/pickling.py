"""How a bufferized function is pickled: as its function would be.

By reference where its name in its module leads to it, so that options need no pickle. A pickler that takes functions
by value (cloudpickle: those of `__main__`, of notebooks, of modules registered with it) is handed one that it can take:
the *anchor*, a copy of the function that carries the options, and that is found by name where functions are. Some give
all that they take by value one file name (cloudpickle since 3.1.3), under which no source can be read: the file of the
function goes along.
"""

from __future__ import annotations

import sys
from functools import reduce
from types import CodeType, FunctionType
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


def of_class(found: Any) -> Any:
    """The function of a method that is bound to a class (`classmethod`); None of anything else."""
    return found.__func__ if isinstance(getattr(found, "__self__", None), type) and hasattr(found, "__func__") else None


def anchor_of(function: FunctionType, options: Options) -> FunctionType:
    """A copy of the function, named as the attribute of the bufferized one."""
    f = function
    made = FunctionType(f.__code__, f.__globals__, f.__name__, f.__defaults__, f.__closure__)
    made.__kwdefaults__, made.__doc__, made.__module__ = f.__kwdefaults__, f.__doc__, f.__module__
    made.__annotations__ = f.__annotations__
    made.__dict__.update(f.__dict__, __tracebuf_options__=options, __tracebuf_file__=f.__code__.co_filename)
    made.__qualname__ = f"{f.__qualname__}.{ANCHOR}"
    return made


def from_anchor(anchor: FunctionType) -> tuple[FunctionType, Options]:
    """The function and the options of an anchor that was pickled by value."""
    options: Options = anchor.__dict__.pop("__tracebuf_options__")
    anchor.__qualname__ = anchor.__qualname__.removesuffix(f".{ANCHOR}")
    return in_its_file(anchor, anchor.__dict__.pop("__tracebuf_file__", anchor.__code__.co_filename)), options


def in_its_file(function: FunctionType, file: str) -> FunctionType:
    """A function out of a pickle, and those of its module that it may call, with the name of their file again."""
    lost = function.__code__.co_filename
    if lost != file:
        for f in (function, *function.__globals__.values()):
            if isinstance(f, FunctionType) and f.__module__ == function.__module__ and f.__code__.co_filename == lost:
                f.__code__ = code_in(f.__code__, file)
    return function


def code_in(code: CodeType, file: str) -> CodeType:
    """A code object, and those inside it, with another file name."""
    inner = tuple(code_in(c, file) if isinstance(c, CodeType) else c for c in code.co_consts)
    return code.replace(co_filename=file, co_consts=inner)
