"""Dataclasses that are quick to define: `frozen`, whose objects do not change, and `plain`, whose objects may; and
`cached_property`, what is found once.

`dataclass` compiles each method that it adds, a third of what importing a module takes; most classes of a process are
never compared, shown, or even made. Here a method is compiled when it is first asked for. `dataclass(frozen=True)` also
sees to it at run time that nothing is assigned to a field, which takes twice the time to make an object; here the type
checker does, or both (`checked`). Source: PEP 681 (dataclass_transform).

`functools.cached_property` of Python 3.11 holds one lock for all objects of a class meanwhile, which a child that is
forked then inherits, held for ever; later versions hold none, as here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, Field, FrozenInstanceError, dataclass, field, fields
from reprlib import recursive_repr
from typing import Any, Generic, Self, TypeVar, dataclass_transform, overload

T = TypeVar("T")


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def frozen(*, eq: bool = True, slots: bool = True, checked: bool = False) -> Callable[[type[T]], type[T]]:
    """`dataclass(frozen=True, eq=eq, slots=slots)`, hashable by its fields if `eq`, by identity if not. Assigning to a
    field is an error at run time if `checked`."""

    def decorate(kind: type[T]) -> type[T]:
        made = _with_fields(kind, slots, "_set(self, {0!r}, {1})" if checked else "self.{0} = {1}")
        if eq:
            _add_late(made, "__eq__", _comparison)
            _add_late(made, "__hash__", _hash)
        if checked:
            made.__setattr__, made.__delattr__ = _refuse_to_set, _refuse_to_delete  # type: ignore[method-assign]
            made.__setstate__ = _set_state  # type: ignore[attr-defined]
        return made

    return decorate


@dataclass_transform(eq_default=False, field_specifiers=(field,))
def plain(*, eq: bool = False, slots: bool = False) -> Callable[[type[T]], type[T]]:
    """`dataclass(eq=eq, slots=slots)`."""

    def decorate(kind: type[T]) -> type[T]:
        made = _with_fields(kind, slots, "self.{0} = {1}")
        if eq:
            _add_late(made, "__eq__", _comparison)
            made.__hash__ = None  # type: ignore[assignment]
        return made

    return decorate


def _with_fields(kind: type[T], slots: bool, assign: str) -> type[T]:
    """The class as a dataclass that can be made and shown; `assign` is the text that sets a field."""
    if kind.__doc__ is None:
        kind.__doc__ = kind.__name__  # `dataclass` asks `inspect` for one, which takes as long as all else that it does
    made = dataclass(init=False, eq=False, repr=False, slots=slots)(kind)
    if "__repr__" not in vars(made):
        made.__repr__ = _repr  # type: ignore[method-assign]
    _add_late(made, "__init__", lambda kind: _constructor(kind, assign))
    return made


class _Late:
    """A method that is compiled when it is first asked for, by a call or by its name."""

    __slots__ = ("kind", "make", "name")

    def __init__(self, kind: type[Any], name: str, make: Callable[[type[Any]], Any]) -> None:
        self.kind, self.name, self.make = kind, name, make

    def __get__(self, instance: object | None, owner: type | None = None) -> Any:
        made = self.make(self.kind)
        made.__qualname__, made.__module__ = f"{self.kind.__qualname__}.{self.name}", self.kind.__module__
        setattr(self.kind, self.name, made)
        return made if instance is None else made.__get__(instance, owner)


def _add_late(kind: type[Any], name: str, make: Callable[[type[Any]], Any]) -> None:
    """Adds a method, unless the class defines it."""
    if vars(kind).get(name) is None:
        setattr(kind, name, _Late(kind, name, make))


def _compiled(text: str, known: dict[str, Any]) -> Any:
    """The function that a text defines."""
    names = set(known)
    exec(text, known)
    return next(f for name, f in known.items() if name not in names and name != "__builtins__")


class _Factory:
    """The default of a field that a function makes, as signatures show it."""

    def __repr__(self) -> str:
        return "<factory>"


_FACTORY = _Factory()


def _constructor(kind: type[Any], assign: str) -> Any:
    """`__init__`: each field from its parameter, its default, or what its factory makes."""
    known: dict[str, Any] = {"_set": object.__setattr__, "_FACTORY": _FACTORY}
    parameters, named, lines, of_init = list[str](), list[str](), list[str](), list[Field[Any]]()
    for f in fields(kind):
        default, value = "", f.name
        if f.default_factory is not MISSING:
            known[f"_make_{f.name}"] = f.default_factory
            made = f"_make_{f.name}()"
            default, value = " = _FACTORY", f"{made} if {f.name} is _FACTORY else {f.name}" if f.init else made
        elif f.default is not MISSING:
            known[f"_default_{f.name}"] = f.default
            default, value = f" = _default_{f.name}", f.name if f.init else f"_default_{f.name}"
        if f.init:
            (named if f.kw_only else parameters).append(f.name + default)
            of_init.append(f)
        if f.init or default:
            lines.append(assign.format(f.name, value))
    if hasattr(kind, "__post_init__"):
        lines.append("self.__post_init__()")
    names = ", ".join(["self", *parameters, *(["*", *named] if named else [])])
    made = _compiled(f"def __init__({names}):\n" + "".join(f"    {line}\n" for line in lines or ["pass"]), known)
    made.__annotations__ = {**{f.name: f.type for f in of_init}, "return": None}
    return made


def _tuples(kind: type[Any]) -> tuple[str, str]:
    """The text of the tuples of what is compared, of oneself and of another object."""
    compared = [f.name for f in fields(kind) if f.compare]
    mine, others = (f"({''.join(f'{of}.{name}, ' for name in compared)})" for of in ("self", "other"))
    return mine, others


def _comparison(kind: type[Any]) -> Any:
    mine, others = _tuples(kind)
    same = f"{mine} == {others} if other.__class__ is self.__class__ else NotImplemented"
    return _compiled(f"def __eq__(self, other):\n    return {same}", {})


def _hash(kind: type[Any]) -> Any:
    return _compiled(f"def __hash__(self):\n    return hash({_tuples(kind)[0]})", {})


def _refuse_to_set(self: Any, name: str, value: Any) -> None:
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_to_delete(self: Any, name: str) -> None:
    raise FrozenInstanceError(f"cannot delete field {name!r}")


def _set_state(self: Any, state: Any) -> None:
    """What pickle and copy set of an object that nothing is assigned to."""
    for part in state if isinstance(state, tuple) else (state,):
        for name, value in (part or {}).items():
            object.__setattr__(self, name, value)


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
