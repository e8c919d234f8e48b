"""What names hold in a trace besides arrays and numbers: functions, bound methods, messages."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tracebuf.frontends.numpy.record.raises import ask
from tracebuf.frontends.numpy.record.values import ArrayRef, Env
from tracebuf.frontends.numpy.source.binding import parameters_in
from tracebuf.frontends.numpy.source.source import Source
from tracebuf.frozen import frozen


@frozen(slots=False)
class Method:
    """A bound method of a traced array, or (`of_number`) of a number, whose results without axes are numbers."""

    ref: ArrayRef
    name: str
    of_number: bool = False


@frozen(eq=False, slots=False)
class NestedFunction:
    """A function or lambda defined inside a traced function; free names are looked up where it was defined."""

    source: Source
    name: str
    lookup: Callable[[str], Any]
    defaults: dict[str, Any]

    def bind(self, args: Sequence[Any], kwargs: dict[str, Any]) -> Env:
        """Parameters bound to arguments; TypeError as Python's."""
        p = parameters_in(self.source.node.args)
        defaults = tuple(self.defaults[n] for n in (*p.first, *p.plain) if n in self.defaults)
        named = {n: self.defaults[n] for n in p.named if n in self.defaults}
        return dict(zip(p.all, ask(p.bind, self.name, defaults, named, args, kwargs)))


@frozen(eq=False, slots=False)
class Partial:
    """functools.partial of a function and traced arguments."""

    func: Any
    args: tuple[Any, ...]
    keywords: dict[str, Any]


@frozen(eq=False, slots=False)
class Drawer:
    """A random generator, of the class `kind`. `source`: itself, if it is from outside, else where it is when the
    program runs (functions/host/draws)."""

    kind: type
    source: Any


@frozen(eq=False, slots=False)
class Draw:
    """A method of a random generator."""

    of: Drawer
    name: str


@frozen(eq=False, slots=False)
class Text:
    """A text of which parts are known only at run time: a {} for each of `values`. `exact`: it is the text that eager
    has; else something is left out (the elements of an array, an address), and it may only be shown."""

    template: str
    values: list[Any]
    exact: bool = True
