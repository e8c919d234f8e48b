"""Objects from outside whose class is not the user's plain Python: thread-locals, dates, named results of Python's own
C code, classes of Enum.

What they hold is read while tracing, as the call would read it, and looked at again at each call: arrays and
containers are fetched, numbers and texts compared by value, other objects by identity. Where reading runs code of the
user's, or gives another object each time, it is refused.
"""

from __future__ import annotations

import ast
import types
from collections.abc import Sequence
from enum import EnumMeta
from typing import Any

from tracebuf.frontends.numpy.call.conditions import same_capture
from tracebuf.frontends.numpy.call.lookups import Attribute
from tracebuf.frontends.numpy.interpreter.evaluator import Evaluator
from tracebuf.frontends.numpy.record import refusals
from tracebuf.frontends.numpy.record.raises import ask, is_tracers
from tracebuf.frontends.numpy.record.values import PyInt

READ_BY_C = (types.MemberDescriptorType, types.GetSetDescriptorType)
"""Descriptors that run no Python."""


def attribute(i: Evaluator, node: ast.AST, base: Any, name: str, value: Any) -> Any:
    """`base.name` of an object that is guarded by its identity; `value` is what it is now."""
    if not runs_python(base, name) and is_steady(base, name, value):
        return i.capture(name, Attribute(base, name), value, base)
    reason = f"`.{name}` of an object ({type(base).__name__}) from outside may change between calls"
    raise i.refuse(node, reason, refusals.of_object(type(base)))


def has_fields(x: Any) -> bool:
    """Whether a tuple is one that C code of Python's gives, with names for its items, as `sys.float_info` is."""
    return type(x).__module__ in ("sys", "time", "os", "posix", "resource") and hasattr(type(x), "n_sequence_fields")


def runs_python(base: Any, name: str) -> bool:
    """Whether reading an attribute may run code in Python: a property's, a descriptor's, or the class's own access."""
    found = {n: vars(c)[n] for c in reversed(type(base).__mro__) for n in ("__getattr__", name) if n in vars(c)}
    access = type(base).__getattribute__
    if "__getattr__" in found or not isinstance(access, types.WrapperDescriptorType):
        return True
    at = found.get(name)
    return at is not None and hasattr(type(at), "__get__") and not isinstance(at, READ_BY_C)


def is_steady(base: Any, name: str, value: Any) -> bool:
    """Whether an attribute gives one object, or one number or text, as long as nothing is stored to it."""
    again = ask(getattr, base, name)
    return again is value or same_capture(again, value)


# -- classes of Enum
def is_enum(x: Any) -> bool:
    """Whether a value is a class of Enum whose members Python finds by itself."""
    return isinstance(x, EnumMeta) and getattr(x._missing_, "__func__", x._missing_).__module__ == "enum"  # type: ignore[attr-defined]


def call(i: Evaluator, node: ast.AST, function: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """`Color(1)`, of a class of Enum with members; NotImplemented for any other call."""
    if not isinstance(function, EnumMeta) or not len(function) or not is_enum(function):
        return NotImplemented
    known = [i.r.static_int(x.expr, f"the value of a {function.__name__}") if isinstance(x, PyInt) else x for x in args]
    if kwargs or any(map(is_tracers, i.flat(known))):
        raise i.refuse(node, f"{function.__name__}(...) of a value that only the run time knows", "use the members")
    return constant(i, ask(function, *known))


def constant(i: Evaluator, x: Any) -> Any:
    """A member of an Enum, which its class holds as long as it lives."""
    i.constants[x] = None
    return x


def items_of(i: Evaluator, x: Any) -> Any:
    """The members of a class of Enum, as a tuple; any other value as it is."""
    if not isinstance(x, EnumMeta):
        return x
    members: list[Any] = list(x)
    return tuple(constant(i, member) for member in members)
