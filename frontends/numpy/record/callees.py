"""What names hold in a trace besides arrays and numbers: functions, bound methods, messages."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from tracebuf.frontends.numpy.record.raises import bind
from tracebuf.frontends.numpy.record.values import ArrayRef, Env
from tracebuf.frontends.numpy.source.source import Source


@dataclass(frozen=True)
class Method:
    """A bound method of a traced array, or (`of_number`) of a number, whose results without axes are numbers."""

    ref: ArrayRef
    name: str
    of_number: bool = False


@dataclass(frozen=True, eq=False)
class NestedFunction:
    """A function or lambda defined inside a traced function; free names are looked up where it was defined."""

    source: Source
    name: str
    lookup: Callable[[str], Any]
    defaults: dict[str, Any]

    def bind(self, args: Sequence[Any], kwargs: dict[str, Any]) -> Env:
        """Parameters bound to arguments; TypeError as Python's."""
        a = self.source.node.args
        kind = inspect.Parameter
        groups = (a.posonlyargs, kind.POSITIONAL_ONLY), (a.args, kind.POSITIONAL_OR_KEYWORD)
        parameters = [kind(p.arg, k, default=self.defaults.get(p.arg, kind.empty)) for ps, k in groups for p in ps]
        parameters += [kind(a.vararg.arg, kind.VAR_POSITIONAL)] if a.vararg else []
        parameters += [
            kind(p.arg, kind.KEYWORD_ONLY, default=self.defaults.get(p.arg, kind.empty)) for p in a.kwonlyargs
        ]
        parameters += [kind(a.kwarg.arg, kind.VAR_KEYWORD)] if a.kwarg else []
        bound = bind(inspect.Signature(parameters), args, kwargs)
        bound.apply_defaults()
        return dict(bound.arguments)


@dataclass(frozen=True, eq=False)
class Partial:
    """functools.partial of a function and traced arguments."""

    func: Any
    args: tuple[Any, ...]
    keywords: dict[str, Any]


@dataclass(frozen=True, eq=False)
class Text:
    """A text of which parts are known only at run time: a {} for each of `values`. `exact`: it is the text that eager
    has; else something is left out (the elements of an array, an address), and it may only be shown."""

    template: str
    values: list[Any]
    exact: bool = True
