"""Classes whose objects do not change: `frozen`, a frozen dataclass, and `cached_property`, what is found once.

`dataclass(frozen=True)` sees to it at run time that nothing is assigned to a field, which takes twice the time to
define a class, a quarter of what `import tracebuf` takes, and twice the time to make an object; here the type checker
does. Source: PEP 681 (dataclass_transform). `functools.cached_property` of Python 3.11 holds one lock for all objects
of a class meanwhile, which a child that is forked then inherits, held for ever; later versions hold none, as here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields
from reprlib import recursive_repr
from typing import Any, Generic, Self, TypeVar, dataclass_transform, overload

T = TypeVar("T")


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def frozen(*, eq: bool = True, slots: bool = True) -> Callable[[type[T]], type[T]]:
    """`dataclass(frozen=True, eq=eq, slots=slots)`, hashable by its fields if `eq`, by identity if not."""

    def decorate(kind: type[T]) -> type[T]:
        made = dataclass(eq=False, repr=False, slots=slots)(kind)
        if "__repr__" not in vars(made):
            made.__repr__ = _repr  # type: ignore[method-assign]
        if eq:
            _compare_by_fields(made)
        return made

    return decorate


def _compare_by_fields(kind: type[Any]) -> None:
    """Adds `__eq__` and `__hash__`, whose code is compiled when one of them is first called: most classes of a process
    are never compared, and compiling takes as long as the rest of the class."""

    def compiled(name: str) -> Any:
        compared = [f.name for f in fields(kind) if f.compare]
        mine, others = (f"({''.join(f'{of}.{name}, ' for name in compared)})" for of in ("self", "other"))
        text = f"""
def __eq__(self, other):
    return {mine} == {others} if other.__class__ is self.__class__ else NotImplemented
def __hash__(self):
    return hash({mine})
"""
        exec(text, made := dict[str, Any]())
        for method in lazy:
            setattr(kind, method, made[method])
        return made[name]

    def __eq__(self: Any, other: object) -> Any:
        return compiled("__eq__")(self, other)

    def __hash__(self: Any) -> int:
        return int(compiled("__hash__")(self))

    lazy = {name: f for name, f in (("__eq__", __eq__), ("__hash__", __hash__)) if vars(kind).get(name) is None}
    for name, f in lazy.items():
        setattr(kind, name, f)


@recursive_repr()
def _repr(self: Any) -> str:
    shown = ", ".join(f"{f.name}={getattr(self, f.name)!r}" for f in fields(self) if f.repr)
    return f"{type(self).__qualname__}({shown})"


class cached_property(Generic[T]):
    """An attribute that a method finds when it is first asked for, and that the object keeps in its `__dict__`."""

    def __init__(self, method: Callable[[Any], T]) -> None:
        self._method = method
        self.__doc__ = method.__doc__

    @overload
    def __get__(self, instance: None, owner: type) -> Self: ...

    @overload
    def __get__(self, instance: object, owner: type) -> T: ...

    def __get__(self, instance: object | None, owner: type) -> Self | T:
        if instance is None:
            return self
        found = instance.__dict__[self._method.__name__] = self._method(instance)
        return found
