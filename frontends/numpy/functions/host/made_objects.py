"""Objects of libraries that are made in a traced function: `CubicSpline(x, y)`, `KDTree(points)`, `LinearRegression()`.

The program has their number while it runs; calls of them and of their methods, and what their attributes hold, are host
calls. What these give is found out on an object that is made of stand-ins in the same way.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from tracebuf.frontends.numpy.functions.host import untraced
from tracebuf.frontends.numpy.record.callees import Untold, UntoldMethod
from tracebuf.frontends.numpy.record.recorder import Recorder
from tracebuf.frontends.numpy.record.refusals import name_of
from tracebuf.running.kept import attribute_of, call_method


def make(r: Recorder, kind: type, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """kind(...), of a library's class."""
    return untraced.call(r, kind, args, kwargs, keeps="all")


def attribute(r: Recorder, of: Untold, name: str) -> Any:
    """`of.name` of a library's object: a method, or what it holds."""
    if of.recipe is None:
        raise r.refuse(f"`.{name}` of a {name_of(of)}", "use its arrays and numbers")
    held = getattr(of.kind, name, None)
    if callable(held) and not isinstance(held, type):
        return UntoldMethod(of, name)
    return untraced.call(r, attribute_of, [of, name], {}, f"`.{name}` of {told_name(of)}")


def called(r: Recorder, function: Untold | UntoldMethod, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """of.name(...) or of(...), of a library's object."""
    method = UntoldMethod(function, "__call__") if isinstance(function, Untold) else function
    of = method.of
    if of.recipe is None:
        raise r.refuse(f"a call of a {name_of(of)}", "use its arrays and numbers")
    name = f"{told_name(of)}.{method.name}"
    result = untraced.call(r, call_method, [of, method.name, *args], kwargs, name)
    if isinstance(result, Untold):
        recipe = replace(of.recipe, then=[*of.recipe.then])
        result = replace(result, kind=of.kind, recipe=recipe)
        recipe.then.append((method.name, [*args, *kwargs.values()], tuple(kwargs)))
    of.recipe.then.append((method.name, [*args, *kwargs.values()], tuple(kwargs)))
    return result


def told_name(of: Untold) -> str:
    """The name of what made an object."""
    return "an object" if of.recipe is None else untraced.public_name(of.recipe.function)
