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
from types import MethodType
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
    texts: dict[str, Any] = vars(kind).get("__annotations__", {})
    plain = bool(texts) and not any(word in str(text) for text in texts.values() for word in _MARKS)
    if plain:
        kind.__annotations__ = dict.fromkeys(texts, object)
    made: Any = dataclass(init=False, eq=False, repr=False, slots=slots)(kind)
    if plain:
        made.__annotations__ = texts
        for name, text in texts.items():
            made.__dataclass_fields__[name].type = text
    if "__repr__" not in vars(made):
        made.__repr__ = _repr
    _add_late(made, "__init__", lambda kind: _constructor(kind, assign), _plain_constructor)
    found: type[T] = made
    return found


_MARKS = ("ClassVar", "InitVar", "KW_ONLY")
"""What `dataclass` looks for in the text of each annotation, which takes a third of its time."""
FEW = 8
"""How many objects of a class are made before its constructor is compiled, which takes as long as that many."""


class _Late:
    """A method that is compiled when it is first asked for, by a call or by its name. What `plain` gives, if it does,
    is called for the first objects instead."""

    __slots__ = ("kind", "left", "make", "name", "plain")

    def __init__(
        self,
        kind: type[Any],
        name: str,
        make: Callable[[type[Any]], Any],
        plain: Callable[[type[Any]], Callable[..., Any] | None] | None,
    ) -> None:
        self.kind, self.name, self.make, self.plain, self.left = kind, name, make, plain, FEW

    def __get__(self, instance: object | None, owner: type | None = None) -> Any:
        if self.plain is not None and instance is not None and self.left > 0:
            self.left -= 1
            if (found := self.plain(self.kind)) is not None:
                return MethodType(found, instance)
        made = self.make(self.kind)
        made.__qualname__, made.__module__ = f"{self.kind.__qualname__}.{self.name}", self.kind.__module__
        setattr(self.kind, self.name, made)
        return made if instance is None else made.__get__(instance, owner)


def _add_late(
    kind: type[Any],
    name: str,
    make: Callable[[type[Any]], Any],
    plain: Callable[[type[Any]], Callable[..., Any] | None] | None = None,
) -> None:
    """Adds a method, unless the class defines it."""
    if vars(kind).get(name) is None:
        setattr(kind, name, _Late(kind, name, make, plain))


def _compiled(text: str, known: dict[str, Any]) -> Any:
    """The function that a text defines.

    Compiled first: a text given to `exec`, by whichever thread, makes CPython forget that the main program ended by a
    KeyboardInterrupt, and the process returns 1 for it instead of the signal's number.
    """
    names = set(known)
    exec(compile(text, "<frozen>", "exec"), known)
    return next(f for name, f in known.items() if name not in names and name != "__builtins__")


class _Factory:
    """The default of a field that a function makes, as signatures show it."""

    def __repr__(self) -> str:
        return "<factory>"


_FACTORY = _Factory()


def _plain_constructor(kind: type[Any]) -> Callable[..., None] | None:
    """What `__init__` does where each field has a parameter, in its order; None where it does more. For arguments that
    it does not take `__init__` is asked."""
    own = fields(kind)
    if hasattr(kind, "__post_init__") or not all(f.init and not f.kw_only for f in own):
        return None
    names = [f.name for f in own]

    def init(self: Any, *args: Any, **kwargs: Any) -> None:
        given = dict(zip(names, args))
        left = [f for f in own[len(args) :] if f.name not in kwargs]
        fits = len(args) + len(kwargs) + len(left) == len(given | kwargs) + len(left) == len(own)
        if not fits or any(f.default is MISSING and f.default_factory is MISSING for f in left):
            kind.__init__(self, *args, **kwargs)
            return
        for f in left:
            given[f.name] = f.default if f.default_factory is MISSING else f.default_factory()
        for name, value in (given | kwargs).items():
            object.__setattr__(self, name, value)

    return init


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
