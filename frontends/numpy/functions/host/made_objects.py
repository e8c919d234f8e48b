"""Objects of libraries that are made in a traced function: `CubicSpline(x, y)`, `KDTree(points)`, `LinearRegression()`.

The program has their number while it runs; calls of them and of their methods, operators and items, and what their
attributes hold, are host calls. What these give is found out on an object that is made of stand-ins in the same way.
The arrays that attributes hold are copies here. `of.name[...] = x` and `of.name += x` store to the object too; other
stores to them are refused.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np

from tracebuf.frontends.numpy.functions.host import untraced
from tracebuf.frontends.numpy.functions.host.callbacks import computes, library_of, values_in
from tracebuf.frontends.numpy.functions.host.calls import record
from tracebuf.frontends.numpy.record.callees import Untold, UntoldMethod
from tracebuf.frontends.numpy.record.recorder import Recorder
from tracebuf.frontends.numpy.record.refusals import name_of
from tracebuf.frontends.numpy.record.slices import SliceOf
from tracebuf.frontends.numpy.record.values import ArrayRef, GuardedRef, storages_of
from tracebuf.ir.core import Value
from tracebuf.running.host import HostFunction
from tracebuf.running.kept import attribute_of, call_method, item_of, set_elements, set_item
from tracebuf.running.untraced import FormOfConstant, UntracedCall, direct


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
    found = untraced.call(r, attribute_of, [of, name], {}, f"`.{name}` of {told_name(of)}")
    for x in values_in(found):
        for storage in storages_of(x) if isinstance(x, ArrayRef) else ():
            storage.of_object = (of, name)
    return found


def called(r: Recorder, function: Untold | UntoldMethod, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """of.name(...) or of(...), of a library's object."""
    method = UntoldMethod(function, "__call__") if isinstance(function, Untold) else function
    of = method.of
    if of.recipe is None:
        raise r.refuse(f"a call of a {name_of(of)}", "use its arrays and numbers")
    name = f"{told_name(of)}.{method.name}"
    result = untraced.call(r, call_method, [of, method.name, *args], kwargs, name)
    if isinstance(result, Untold) and result.kind is of.kind:  # the object itself, mostly
        recipe = replace(of.recipe, then=[*of.recipe.then])
        result = replace(result, kind=of.kind, recipe=recipe)
        recipe.then.append((method.name, [*args, *kwargs.values()], tuple(kwargs)))
    of.recipe.then.append((method.name, [*args, *kwargs.values()], tuple(kwargs)))
    return result


@contextmanager
def written_back(r: Recorder, x: Any) -> Iterator[bool]:
    """A store into an array that was read as an attribute of an object just before: what it holds then is stored into
    the object's. Whether it is such an array."""
    held = x.storage.of_object if isinstance(x, ArrayRef) and not isinstance(x, GuardedRef) and x.is_whole else None
    if held is None or not isinstance(held[0], Untold):
        yield False
        return
    x.storage.of_object = None
    try:
        yield True
    finally:
        x.storage.of_object = held
    of, name = held
    ins: list[Value] = []
    pattern = tuple([untraced.patterned(r, item, ins) for item in (of, name, x)])
    said = f"a store into `.{name}` of {told_name(of)}"
    made = UntracedCall(set_elements, said, pattern, (), FormOfConstant(type(None), None), "", False)
    record(r, HostFunction(said, direct(made, made, 0, len(ins)), returns=0), ins, [])


def is_object(x: Any) -> bool:
    """Whether a value is an object of a library's, of which is known how it was made."""
    return isinstance(x, Untold) and x.recipe is not None


def operated(r: Recorder, name: str, *operands: Any, in_place: bool = False) -> Any:
    """`a OP b`, `OP a` or a comparison, by the name of the special method; NotImplemented where no operand is such an
    object. An array on the left asks the object, as NumPy does."""
    if not any(map(is_object, operands)):
        return NotImplemented
    name = {"and": "and_", "or": "or_"}.get(name, name)
    function: Callable[..., Any] = getattr(operator, "i" + name.rstrip("_") if in_place else name)
    return untraced.call(r, function, operands, {}, f"the operator {name.rstrip('_')}")


ASKS = (len, abs, float, int, complex)
"""Python's functions that ask an object by its special methods."""


def asked(r: Recorder, function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """A call of one of these or of a function of NumPy's with such an object; NotImplemented for others."""
    if not any(map(is_object, (*args, *kwargs.values()))):
        return NotImplemented
    numpys = isinstance(function, np.ufunc) or (callable(function) and library_of(function) == "numpy")
    if not (numpys and computes(function)) and not any(function is f for f in ASKS):
        return NotImplemented
    return untraced.call(r, function, args, kwargs, f"{'np.' if numpys else ''}{function.__name__}")


def item(r: Recorder, of: Untold, index: Any) -> Any:
    """`of[index]`."""
    return untraced.call(r, item_of, [of, told_index(index)], {}, f"an item of {told_name(of)}")


def store(r: Recorder, of: Untold, index: Any, value: Any) -> None:
    """`of[index] = value`."""
    untraced.call(r, set_item, [of, told_index(index), value], {}, f"a store into {told_name(of)}")


def told_index(index: Any) -> tuple[Any, ...]:
    """An index as `index_of` takes it."""
    if isinstance(index, tuple):
        return ("tuple", *map(told_index, index))
    if isinstance(index, (slice, SliceOf)):
        return ("slice", index.start, index.stop, index.step)
    return ("item", index)


def told_name(of: Untold) -> str:
    """The name of what made an object, or of its class where that was an operator or the like."""
    if of.recipe is None:
        return "an object"
    of_library = library_of(of.recipe.function) not in ("tracebuf", "_operator")
    return untraced.public_name(of.recipe.function if of_library else of.kind)
