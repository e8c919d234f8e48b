"""Arguments bound to parameters by Python itself, as the code object says: never by `__signature__` or `__wrapped__`,
which a decorator copies or sets, nor by inspect.Signature.bind, which differs from a call in details.

A stub with the function's parameters and defaults is called, and returns what each is bound to.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Mapping, Sequence
from functools import lru_cache
from types import CodeType, FunctionType
from typing import Any

from tracebuf.frozen import frozen


class NamesOfTheirOwn(tuple[str, ...]):
    """Names of arguments, of which some are of subclasses of str: they are others than their equals."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, NamesOfTheirOwn) or not tuple.__eq__(self, other):
            return False
        return all(type(a) is type(b) for a, b in zip(self, other))

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = tuple.__hash__


def names_of(named: Mapping[str, Any]) -> tuple[str, ...]:
    """The names of the arguments that `**kwargs` took, for which a function may ask."""
    return tuple(named) if all(type(name) is str for name in named) else NamesOfTheirOwn(named)


@frozen(slots=False)
class Parameters:
    """A function's parameters by kind: positional only, positional or by keyword, `*args`, by keyword only,
    `**kwargs`."""

    first: tuple[str, ...]
    plain: tuple[str, ...]
    star: str | None
    named: tuple[str, ...]
    stars: str | None

    @property
    def single(self) -> tuple[str, ...]:
        """Those that stand for one argument each, in order."""
        return (*self.first, *self.plain, *self.named)

    @property
    def all(self) -> tuple[str, ...]:
        """All of them, in the order of the code object's names without `*args` and `**kwargs`, then these."""
        return (*self.single, *([self.star] if self.star else []), *([self.stars] if self.stars else []))

    def bind(
        self,
        name: str,
        defaults: tuple[Any, ...] | None,
        named_defaults: dict[str, Any] | None,
        args: Sequence[Any],
        kwargs: Mapping[str, Any],
    ) -> tuple[Any, ...]:
        """What `all` are bound to in a call; TypeError as Python's."""
        stub = FunctionType(_stub(self), {}, name, defaults)
        stub.__kwdefaults__, stub.__qualname__ = named_defaults, name
        found: tuple[Any, ...] = stub(*args, **kwargs)
        return found

    def given(self, count: int, kwargs: Mapping[str, Any]) -> frozenset[str]:
        """The parameters that a call with so many positional arguments binds without their defaults."""
        by_name = {n for n in kwargs if n in self.plain or n in self.named}
        return frozenset((*self.first, *self.plain)[:count]) | by_name


@lru_cache(maxsize=1024)
def parameters_of(code: CodeType) -> Parameters:
    """The parameters of a code object."""
    names, n, first, m = code.co_varnames, code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount
    rest = iter(names[n + m :])
    star = next(rest) if code.co_flags & inspect.CO_VARARGS else None
    stars = next(rest) if code.co_flags & inspect.CO_VARKEYWORDS else None
    return Parameters(names[:first], names[first:n], star, names[n : n + m], stars)


@lru_cache(maxsize=1024)
def parameters_in(node: ast.arguments) -> Parameters:
    """The parameters of a definition."""
    first, plain, named = (tuple(a.arg for a in group) for group in (node.posonlyargs, node.args, node.kwonlyargs))
    star, stars = (None if a is None else a.arg for a in (node.vararg, node.kwarg))
    return Parameters(first, plain, star, named, stars)


def bind(function: FunctionType, args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """The value of each parameter of a function in a call, defaults included; TypeError as Python's."""
    p = parameters_of(function.__code__)
    values = p.bind(function.__qualname__, function.__defaults__, function.__kwdefaults__, args, kwargs)
    return dict(zip(p.all, values))


@lru_cache(maxsize=1024)
def _stub(p: Parameters) -> CodeType:
    """The code of a function with these parameters that returns their values."""
    def arg(name: str | None) -> ast.arg | None:
        return None if name is None else ast.arg(name)

    groups = [[ast.arg(n) for n in names] for names in (p.first, p.plain, p.named)]
    none: list[ast.expr | None] = [None] * len(p.named)
    given = ast.arguments(groups[0], groups[1], arg(p.star), groups[2], none, arg(p.stars), [])
    values = ast.Tuple([ast.Name(n, ast.Load()) for n in p.all], ast.Load())
    made = ast.FunctionDef("stub", given, [ast.Return(values)], [], None)
    code = compile(ast.fix_missing_locations(ast.Module([made], [])), __file__, "exec")
    return next(c for c in code.co_consts if isinstance(c, CodeType))
