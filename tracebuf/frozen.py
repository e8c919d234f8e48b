"""Classes whose objects do not change: `frozen`, a frozen dataclass, and `cached_property`, what is found once.

`dataclass(frozen=True)` sees to it at run time that nothing is assigned to a field, which takes twice the time to
define a class, a quarter of what `import tracebuf` takes, and twice the time to make an object; here the type checker
does. Source: PEP 681 (dataclass_transform). `functools.cached_property` of Python 3.11 holds one lock for all objects
of a class meanwhile, which a child that is forked then inherits, held for ever; later versions hold none, as here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Generic, Self, TypeVar, dataclass_transform, overload

T = TypeVar("T")


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def frozen(*, eq: bool = True, slots: bool = True) -> Callable[[type[T]], type[T]]:
    """`dataclass(frozen=True, eq=eq, slots=slots)`, hashable by its fields if `eq`, by identity if not."""
    return dataclass(eq=eq, slots=slots, unsafe_hash=eq)


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
