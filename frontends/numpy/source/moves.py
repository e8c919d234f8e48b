"""Functions of which compiled code cannot be faster than Python: they only pass on what they are given (items and
lengths of containers, attributes, captured arrays, tuples of arguments), or call one of Python's own functions of
numbers, or one of NumPy's that compiled code would call too.

By their bytecode: what is not known here is not one of them.
"""

from __future__ import annotations

import builtins
import dis
from collections.abc import Sequence
from types import FunctionType, MemberDescriptorType, ModuleType
from typing import Any

import numpy as np

from tracebuf.running.python_functions import COMPLEX, HOSTED

PASSED = frozenset([
    "RESUME", "NOP", "CACHE", "PUSH_NULL", "COPY_FREE_VARS", "LOAD_FAST", "LOAD_FAST_BORROW", "LOAD_FAST_LOAD_FAST",
    "LOAD_FAST_BORROW_LOAD_FAST_BORROW", "LOAD_CONST", "LOAD_SMALL_INT", "STORE_FAST", "STORE_FAST_STORE_FAST",
    "STORE_FAST_LOAD_FAST", "BUILD_TUPLE", "SWAP", "RETURN_VALUE", "RETURN_CONST", "POP_TOP",
])  # fmt: skip
"""What moves arguments and constants."""
OF_CONTAINERS = frozenset([
    "BUILD_LIST", "BUILD_MAP", "BUILD_CONST_KEY_MAP", "LIST_EXTEND", "LIST_APPEND", "DICT_UPDATE",
    "UNPACK_SEQUENCE", "IS_OP", "BUILD_SLICE",
])  # fmt: skip
"""What moves items."""
CALLS = frozenset(["PRECALL", "KW_NAMES", "CALL", "CALL_KW"])
CONSTANTS = ("LOAD_CONST", "LOAD_SMALL_INT")
SUBSCRIPTS = ("BINARY_SUBSCR", "STORE_SUBSCR", "BINARY_SLICE")
ARGUMENTS = ("LOAD_FAST", "LOAD_FAST_BORROW", "LOAD_FAST_LOAD_FAST", "LOAD_FAST_BORROW_LOAD_FAST_BORROW")
"""What an argument is loaded by, or two of them, the second of which is then on top."""
OPERATORS = 2
"""So many operators beside a call of Python's still take less time than the call."""
METHODS = {"append": 1, "get": 2}
"""Methods of lists and dicts, with how many calls of them take less time than taking the container apart."""


def only_moves(
    function: FunctionType, classes: Sequence[type], numbers: bool, captures: bool = False, hosted_too: Any = None
) -> bool:
    """Whether a function that takes containers and objects of these `classes`, or `numbers` alone, is one that Python
    runs at least as fast; `captures`: it uses values from outside, or attributes; `hosted_too`: the function of NumPy's
    that compiled code calls for it, if it has nothing else to do."""
    objects = [kind for kind in classes if not issubclass(kind, tuple | list | dict)]
    containers = bool(classes) and not objects
    hosted = called = loaded = operators = 0
    items, outside, most, last = False, False, 1, list[dis.Instruction]()
    module: Any = None
    for i in dis.get_instructions(function):
        name = i.opname
        if name in CALLS:
            called += name in ("CALL", "CALL_KW")
        elif name == "LOAD_GLOBAL":
            module = _global(function, i.argval)
            if module is len:
                items, loaded = True, loaded + 1
            elif module is round:
                hosted, loaded = hosted + 1, loaded + 1
            elif type(module) is np.ndarray:
                outside = True
            elif not isinstance(module, ModuleType):
                return False
        elif name in ("LOAD_ATTR", "LOAD_METHOD"):
            found = getattr(module if isinstance(module, ModuleType) else np.ndarray, i.argval, None)
            asked = found is not None and found is hosted_too
            if isinstance(found, ModuleType):
                module = found
                continue
            if isinstance(module, ModuleType):
                if found not in ASKED and not asked:
                    return False
                hosted, module = hosted + 1, None
            elif asked and last and last[-1].opname in ARGUMENTS:
                hosted += 1
            elif _is_held(i, last, objects):
                outside = True
                last.append(i)
                continue
            elif i.argval not in METHODS:
                return False
            else:
                items, most = True, METHODS[i.argval]
            loaded += 1
        elif name == "STORE_ATTR":
            if not _is_held(i, last, objects):
                return False
            outside = True
        elif name in SUBSCRIPTS or (name == "BINARY_OP" and i.argrepr == "[]"):
            if not _constant_item(name, last) and (function.__code__.co_argcount > 1 or not _constant_part(name, last)):
                return False
            items = True
        elif name == "CONTAINS_OP":
            if len(last) < 2 or last[-2].opname not in CONSTANTS or not isinstance(last[-2].argval, str):
                return False
            items = True
        elif name == "BINARY_OP":
            operators += 1
        elif name in OF_CONTAINERS:
            items = True
        elif name not in PASSED:
            return False
        last.append(i)
    if called != loaded or called > most:
        return False
    if hosted:
        return operators <= OPERATORS if numbers else hosted_too is not None and not operators
    if outside or captures:
        return outside and not operators and not items and not called
    several = function.__code__.co_argcount > 1 or any(i.opname == "BUILD_TUPLE" for i in last)
    return not operators and (containers if items else containers or several)


def _is_held(i: dis.Instruction, last: list[dis.Instruction], objects: Sequence[type]) -> bool:
    """Whether what an instruction loads or stores is an attribute that an argument itself holds, as those of its class
    do, and no array has: no code runs for it."""

    def is_plain(kind: Any) -> bool:
        own = getattr(kind, i.argval, None)
        return not hasattr(kind, "__getattr__") and (own is None or type(own) is MemberDescriptorType)

    given = bool(last) and last[-1].opname in ARGUMENTS and not hasattr(np.ndarray, i.argval)
    return given and bool(objects) and i.opname in ("LOAD_ATTR", "STORE_ATTR") and all(map(is_plain, objects))


def _constant_item(name: str, last: list[dis.Instruction]) -> bool:
    """Whether a subscript is a constant int or text."""
    if name == "BINARY_SLICE" or not last or last[-1].opname not in CONSTANTS:
        return False
    return isinstance(last[-1].argval, (int, str))


def _constant_part(name: str, last: list[dis.Instruction]) -> bool:
    """Whether it is a slice of an argument with constant bounds: the argument is a container, where there is one alone
    (what is in a container may be an array, of which compiled code makes a view sooner than Python)."""
    if name == "STORE_SUBSCR":
        return False
    bounds = 2 if name == "BINARY_SLICE" else 1
    if name != "BINARY_SLICE" and last and last[-1].opname == "BUILD_SLICE":
        last, bounds = last[:-1], last[-1].arg or 2
    elif name != "BINARY_SLICE" and not (last and isinstance(last[-1].argval, slice)):
        return False
    loaded = last[-1 - bounds :]
    constant = all(i.opname in CONSTANTS for i in loaded[1:])
    return len(loaded) == bounds + 1 and constant and loaded[0].opname in ARGUMENTS


def _global(function: FunctionType, name: str) -> Any:
    return function.__globals__.get(name, getattr(builtins, name, None))


_KNOWN = {name: f for name, f in HOSTED.items() if not name.startswith("complex_")}
ASKED = frozenset([*_KNOWN.values(), *COMPLEX.values()]) - {pow, round}
"""Python's own functions of numbers, which compiled code calls too."""
