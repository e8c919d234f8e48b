"""The tables of what the tracer knows, keyed by the callee itself (rule X1), so that every spelling finds its handler.

A handler is registered beside its definition, and has NumPy's own parameter names after the recorder:

    @traces(np.take, method="take")
    def take(r: Recorder, a: Any, indices: Any, axis: Any = None, out: Any = None, mode: str = "raise") -> Any: ...

A parameter that the handler does not have is taken with NumPy's default only (functions/parameters).
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import _lru_cache_wrapper, partial
from types import BuiltinFunctionType, FunctionType
from typing import Any, Concatenate, ParamSpec, TypeVar

from tracebuf.frontends.numpy.record.each_path import WRITERS, stores
from tracebuf.frontends.numpy.record.recorder import Recorder

Handler = Callable[..., Any]
HandlerT = TypeVar("HandlerT", bound=Handler)
P = ParamSpec("P")
HANDLERS: dict[Any, Handler] = {}
"""By function or class: its handler."""
METHODS: dict[str, Handler] = {}
"""By name of the array method: its handler, whose first argument after the recorder is the array."""
NUMBER_METHODS: dict[str, Handler] = {}
"""By name of a method of traced numbers, where the number's type has it: its handler."""
FORMULAS: dict[Any, Handler] = {}
"""By NumPy's function: the Python function that is traced in its place."""
PRIMITIVES: dict[Any, Handler] = {}
"""By function that means something in a formula only, or that formulas alone call in this way: its handler."""
LATE: dict[tuple[str, str], Handler] = {}
"""By module and name: the handlers of functions of modules that may not be loaded, NumPy's and SciPy's."""
NOTHING = object()


def traces(
    *functions: Any, of: Any = NOTHING, method: str | None = None, number: str | None = None
) -> Callable[[HandlerT], HandlerT]:
    """Decorates the handler of functions, of the array method and of the numbers' method of these names. `of`: what the
    handler takes before the recorder, where several functions share it."""

    def register(handler: HandlerT) -> HandlerT:
        known: Handler = handler
        if of is not NOTHING:
            known = partial(handler, of)
            if handler in WRITERS:
                stores(known)
        for function in functions:
            HANDLERS[function] = known
            if isinstance(inner := getattr(function, "__wrapped__", None), BuiltinFunctionType):  # by NumPy's own code
                PRIMITIVES[inner] = known
        if method is not None:
            METHODS[method] = known
        if number is not None:
            NUMBER_METHODS[number] = known
        return handler

    return register


def traces_late(module: str, name: str) -> Callable[[HandlerT], HandlerT]:
    """As `traces`, for a function of a module of NumPy's that is not loaded before it is asked for."""

    def register(handler: HandlerT) -> HandlerT:
        LATE[module, name] = handler
        return handler

    return register


def late_handler(function: Any) -> Handler | None:
    """The handler of a function of such a module; None if it has none."""
    if not isinstance(function, (FunctionType, _lru_cache_wrapper)) and type(function).__module__ != "uarray":
        return None
    module, name = getattr(function, "__module__", None), getattr(function, "__name__", None)
    if not isinstance(module, str) or not isinstance(name, str):
        return None
    handler = LATE.get((module, name))
    return handler if handler is not None and vars(sys.modules.get(module, sys)).get(name) is function else None


def formula(*functions: Any) -> Callable[[HandlerT], HandlerT]:
    """Decorates the Python function that is traced in the place of NumPy's; without one, in its own place."""

    def register(function: HandlerT) -> HandlerT:
        FORMULAS.update(dict.fromkeys(functions or (function,), function))
        return function

    return register


def primitive(handler: Callable[Concatenate[Recorder, P], Any]) -> Callable[P, Any]:
    """Decorates the handler of a function that formulas call, without the recorder, by the handler's own name."""
    PRIMITIVES[handler] = handler
    return handler  # type: ignore[return-value]
