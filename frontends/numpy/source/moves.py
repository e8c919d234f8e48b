"""Functions of which compiled code cannot be faster than Python: they only pass on what they are given (items and
lengths of containers, attributes, captured arrays, tuples of arguments), or call one of Python's own functions of
numbers, or one of NumPy's that compiled code would call too.

By their bytecode: what is not known here is not one of them.
"""

from __future__ import annotations

import builtins
import dis
from collections.abc import Mapping, Sequence
from types import CodeType, MemberDescriptorType, ModuleType
from typing import Any

import numpy as np

from tracebuf.frozen import frozen
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


@frozen()
class Call:
    """A function, by its code and the names of its module, and what its calls are given."""

    code: CodeType
    names: Mapping[str, Any]
    classes: Sequence[type]
    """Of the containers and objects among the arguments."""
    numbers: bool
    """Whether all arguments are numbers."""
    captures: bool = False
    """Whether it uses values from outside, or attributes."""
    hosted: Any = None
    """The function of NumPy's that compiled code calls for it, if it has nothing else to do."""

    @property
    def objects(self) -> list[type]:
        return [kind for kind in self.classes if not issubclass(kind, tuple | list | dict)]


def only_moves(call: Call) -> bool:
    """Whether Python runs a function at least as fast as compiled code."""
    seen = _Seen(call)
    return all(map(seen.takes, dis.get_instructions(call.code))) and seen.is_no_slower()


class _Seen:
    """What has been seen of a function's instructions, one after the other."""

    def __init__(self, call: Call) -> None:
        self.call, self.objects = call, call.objects
        self.last: list[dis.Instruction] = []
        self.module: Any = None
        """What a global name gave, whose attribute is looked at next."""
        self.items = self.outside = False
        self.hosted = self.loaded = self.called = self.operators = 0
        self.most = 1
        """How many calls may be there: each takes time."""

    def takes(self, i: dis.Instruction) -> bool:
        """Whether it may be one of a function that only moves what it is given."""
        name = i.opname
        if name in CALLS:
            self.called += name in ("CALL", "CALL_KW")
        elif name == "LOAD_GLOBAL":
            if not self._takes_global(i):
                return False
        elif name in ("LOAD_ATTR", "LOAD_METHOD"):
            if not self._takes_attribute(i):
                return False
            if isinstance(self.module, ModuleType):
                return True  # a module of a module
        elif name == "STORE_ATTR":
            if not self._is_held(i):
                return False
            self.outside = True
        elif name in SUBSCRIPTS or (name == "BINARY_OP" and i.argrepr == "[]"):
            several = self.call.code.co_argcount > 1
            if not _constant_item(name, self.last) and (several or not _constant_part(name, self.last)):
                return False
            self.items = True
        elif name == "CONTAINS_OP":
            if not self._looks_for_text():
                return False
            self.items = True
        elif name == "BINARY_OP":
            self.operators += 1
        elif name in OF_CONTAINERS:
            self.items = True
        elif name not in PASSED:
            return False
        self.last.append(i)
        return True

    def _takes_global(self, i: dis.Instruction) -> bool:
        """A module, an array, `len` or `round`."""
        self.module = found = self.call.names.get(i.argval, getattr(builtins, i.argval, None))
        if found is len:
            self.items, self.loaded = True, self.loaded + 1
        elif found is round:
            self.hosted, self.loaded = self.hosted + 1, self.loaded + 1
        elif type(found) is np.ndarray:
            self.outside = True
        else:
            return isinstance(found, ModuleType)
        return True

    def _takes_attribute(self, i: dis.Instruction) -> bool:
        """A function of a module, a method, or an attribute that an argument itself holds."""
        of = self.module if isinstance(self.module, ModuleType) else np.ndarray
        found = getattr(of, i.argval, None)
        asked = found is not None and found is self.call.hosted
        if isinstance(found, ModuleType):
            self.module = found
            return True
        if isinstance(self.module, ModuleType):
            if found not in ASKED and not asked:
                return False
            self.hosted, self.module = self.hosted + 1, None
        elif asked and self.last and self.last[-1].opname in ARGUMENTS:
            self.hosted += 1
        elif self._is_held(i):
            self.outside = True
            return True
        elif i.argval in METHODS:
            self.items, self.most = True, METHODS[i.argval]
        else:
            return False
        self.loaded += 1
        return True

    def _is_held(self, i: dis.Instruction) -> bool:
        """Whether what an instruction loads or stores is an attribute that an argument itself holds, as those of its
        class do, and no array has: no code runs for it."""

        def is_plain(kind: Any) -> bool:
            own = getattr(kind, i.argval, None)
            return not hasattr(kind, "__getattr__") and (own is None or type(own) is MemberDescriptorType)

        given = bool(self.last) and self.last[-1].opname in ARGUMENTS and i.opname != "LOAD_METHOD"
        of_objects = bool(self.objects) and not hasattr(np.ndarray, i.argval)
        return given and of_objects and all(map(is_plain, self.objects))

    def _looks_for_text(self) -> bool:
        """Whether it is a constant text that is looked for in a container."""
        last = self.last
        return len(last) >= 2 and last[-2].opname in CONSTANTS and isinstance(last[-2].argval, str)

    def is_no_slower(self) -> bool:
        """Of all instructions, whether Python is no slower."""
        if self.called != self.loaded or self.called > self.most:
            return False
        if self.hosted and self.call.numbers:
            return self.operators <= OPERATORS
        if self.operators:
            return False
        if self.hosted:
            return self.call.hosted is not None
        if self.outside or self.call.captures:
            return self.outside and not self.items and not self.called
        containers = bool(self.call.classes) and not self.objects
        several = self.call.code.co_argcount > 1 or any(i.opname == "BUILD_TUPLE" for i in self.last)
        return containers or (several and not self.items)


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


_KNOWN = {name: f for name, f in HOSTED.items() if not name.startswith("complex_")}
ASKED = frozenset([*_KNOWN.values(), *COMPLEX.values()]) - {pow, round}
"""Python's own functions of numbers, which compiled code calls too."""
