"""What else holds values than containers: bound methods, partials, functions with defaults, texts, ranges and flat
iterators. Each is a leaf where paths meet and in loops, and is made anew around what a region leaves behind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from tracebuf.frontends.numpy.arrays.reshape import FlatIterator
from tracebuf.frontends.numpy.numbers.scalars import as_int_value
from tracebuf.frontends.numpy.paths.iteration import Range
from tracebuf.frontends.numpy.record.callees import Made, Method, NestedFunction, Partial, Text, Untold
from tracebuf.frontends.numpy.record.values import PyInt


def held_by(x: Any) -> Sequence[Any]:
    """The values that such a leaf holds; none for any other value."""
    if isinstance(x, (Method, FlatIterator)):
        return (x.ref,)
    if isinstance(x, Partial):
        return (x.func, *x.args, *x.keywords.values())
    if isinstance(x, NestedFunction):
        return tuple(x.defaults.values())
    if isinstance(x, Text):
        return [part.value for part in x.open]
    if isinstance(x, Made):
        return (*x.args, *x.kwargs.values())
    if isinstance(x, Untold):
        return (x.number,)
    if isinstance(x, Range):
        bounds = (x.start, x.stop, x.step, *(() if x.count is None else (x.count,)))
        return tuple(map(as_int_value, bounds))
    return ()


def holding(x: Any, values: Sequence[Any]) -> Any:
    """Such a leaf with other values."""
    if isinstance(x, Method):
        return replace(x, ref=values[0])
    if isinstance(x, FlatIterator):
        return FlatIterator(x.r, values[0])
    if isinstance(x, Partial):
        n = 1 + len(x.args)
        return Partial(values[0], tuple(values[1:n]), dict(zip(x.keywords, values[n:])))
    if isinstance(x, NestedFunction):
        return replace(x, defaults=dict(zip(x.defaults, values)))
    if isinstance(x, Text):
        rest = iter(values)
        return Text(tuple(p if isinstance(p, str) else replace(p, value=next(rest)) for p in x.parts))
    if isinstance(x, Made):
        n = len(x.args)
        return Made(x.function, tuple(values[:n]), dict(zip(x.kwargs, values[n:])))
    if isinstance(x, Untold):
        return replace(x, number=values[0])
    assert isinstance(x, Range)
    return Range(*(v.expr if isinstance(v, PyInt) else v for v in values))
