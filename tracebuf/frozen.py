"""Dataclasses that are quick to define: `frozen`, whose objects do not change, and `plain`, whose objects may; and
`cached_property`, what is found once.

`dataclass` compiles each method that it adds, a third of what importing a module takes; most classes of a process are
never compared, shown, or even made. Here a method is made when it is first asked for, and compiled once for all classes
in which it differs by names alone. `dataclass(frozen=True)` also sees to it at run time that nothing is assigned to a
field, which takes twice the time to make an object; here the type checker does, or both (`checked`). Source: PEP 681
(dataclass_transform).

`functools.cached_property` of Python 3.11 holds one lock for all objects of a class meanwhile, which a child that is
forked then inherits, held for ever; later versions hold none, as here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import MISSING, FrozenInstanceError, dataclass, field, fields
from functools import cache
from reprlib import recursive_repr
from types import CodeType, FunctionType
from typing import Any, Generic, Self, TypeVar, dataclass_transform, overload

T = TypeVar("T")


class Shown:
    """A result that shows itself as its text: at a prompt, and in a notebook, where the text is a table."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        from html import escape

        return f"<pre>{escape(repr(self))}</pre>"


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
    texts: dict[str, Any] = vars(kind).get("__annotations__", {})
    plain = bool(texts) and not any(word in str(text) for text in texts.values() for word in _MARKS)
    if plain:
        kind.__annotations__ = dict.fromkeys(texts, object)
    made: Any = dataclass(init=False, eq=False, repr=False, slots=slots)(kind)
    if plain:
        made.__annotations__ = texts
        for name, text in texts.items():
            made.__dataclass_fields__[name].type = text
    if "__repr__" not in vars(made) and not issubclass(made, Shown):
        made.__repr__ = _repr
    _add_late(made, "__init__", lambda kind: _constructor(kind, assign))
    found: type[T] = made
    return found


_MARKS = ("ClassVar", "InitVar", "KW_ONLY")
"""What `dataclass` looks for in the text of each annotation, which takes a third of its time."""


class _Late:
    """A method that is made when it is first asked for, by a call or by its name."""

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


def _method(form: str, names: Sequence[str], known: dict[str, Any] | None = None) -> Any:
    """The function that a text defines, in which the k-th of the names is `f{k}`."""
    code, named = _compiled(form), {f"f{k}": name for k, name in enumerate(names)}

    def renamed(part: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(named.get(n, n) if isinstance(n, str) else n for n in part)

    own, attributes, texts = renamed(code.co_varnames), renamed(code.co_names), renamed(code.co_consts)
    return FunctionType(code.replace(co_varnames=own, co_names=attributes, co_consts=texts), known or {})


@cache
def _compiled(form: str) -> CodeType:
    """The code of the function that a text defines: methods of one form, as the constructors of all classes with three
    fields, differ in names alone."""
    return next(c for c in compile(form, "<frozen>", "exec").co_consts if isinstance(c, CodeType))


class _Factory:
    """The default of a field that a function makes, as signatures show it."""

    def __repr__(self) -> str:
        return "<factory>"


_FACTORY = _Factory()


def _constructor(kind: type[Any], assign: str) -> Any:
    """`__init__`: each field from its parameter, its default, or what its factory makes."""
    known: dict[str, Any] = {"_set": object.__setattr__, "_FACTORY": _FACTORY}
    parameters, named, lines = list[str](), list[str](), list[str]()
    defaults, named_defaults = list[Any](), dict[str, Any]()
    own = fields(kind)
    for k, f in enumerate(own):
        name = value = f"f{k}"
        default = f.default
        if f.default_factory is not MISSING:
            known[f"_make{k}"], default = f.default_factory, _FACTORY
            value = f"_make{k}() if {name} is _FACTORY else {name}" if f.init else f"_make{k}()"
        elif not f.init:
            known[f"_default{k}"], value = default, f"_default{k}"
        if f.init:
            (named if f.kw_only else parameters).append(name)
            if default is not MISSING and f.kw_only:
                named_defaults[f.name] = default
            elif default is not MISSING:
                defaults.append(default)
        if f.init or default is not MISSING:
            lines.append(assign.format(name, value))
    if hasattr(kind, "__post_init__"):
        lines.append("self.__post_init__()")
    names = ", ".join(["self", *parameters, *(["*", *named] if named else [])])
    form = f"def __init__({names}):\n" + "".join(f"    {line}\n" for line in lines or ["pass"])
    made = _method(form, [f.name for f in own], known)
    made.__defaults__, made.__kwdefaults__ = tuple(defaults) or None, named_defaults or None
    made.__annotations__ = {**{f.name: f.type for f in own if f.init}, "return": None}
    return made


def _tuple(of: str, count: int) -> str:
    """The text of the tuple of what is compared of an object."""
    return f"({''.join(f'{of}.f{k}, ' for k in range(count))})"


def _compared(kind: type[Any]) -> list[str]:
    return [f.name for f in fields(kind) if f.compare]


def _comparison(kind: type[Any]) -> Any:
    names = _compared(kind)
    mine, others = _tuple("self", len(names)), _tuple("other", len(names))
    same = f"{mine} == {others} if other.__class__ is self.__class__ else NotImplemented"
    return _method(f"def __eq__(self, other):\n    return {same}", names)


def _hash(kind: type[Any]) -> Any:
    names = _compared(kind)
    return _method(f"def __hash__(self):\n    return hash({_tuple('self', len(names))})", names)


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
