"""Lists, dicts and objects of around a function that calls itself, which it changes: at every depth the function is
given their contents, as further arguments, and what they hold after it is further results (interpreter/recursion).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tracebuf.frontends.numpy.record.growing import is_growing
from tracebuf.frontends.numpy.record.heap import Fixed, Record, contents, items_of, set_contents, with_items
from tracebuf.frontends.numpy.record.recorder import Recorder
from tracebuf.frontends.numpy.record.values import ArrayRef

Fields = dict[str, None]
"""Of an object: the attributes that are set. Of a list or dict all that it holds counts."""


def is_mutable(x: Any) -> bool:
    """Whether a value is a list, a dict or an object."""
    return isinstance(x, (list, dict, Record))


def value_of(r: Recorder, x: Any, fields: Iterable[str], held: Any = None) -> Any:
    """The contents of a container, now or as given (`held`): a dict of attributes or items, or a tuple; a container in
    it is one leaf."""
    held = contents(x) if held is None else held
    if isinstance(x, Record):
        return {n: fixed(r, held[n] if n in held else r.heap.read(x, n)) for n in fields}
    if isinstance(x, dict):
        return {k: fixed(r, v) for k, v in held.items()}
    return tuple(fixed(r, v) for v in held)


def fixed(r: Recorder, x: Any) -> Any:
    """A value with one leaf for each container in it that may change."""
    if is_mutable(x):
        return r.heap.fix(x)
    return with_items(x, [fixed(r, v) for v in items_of(x)]) if isinstance(x, tuple) else x


def loose(x: Any) -> Any:
    """A value with the containers that those leaves stand for."""
    if isinstance(x, Fixed):
        return x.of
    return with_items(x, map(loose, items_of(x))) if isinstance(x, tuple) else x


def put(r: Recorder, x: Any, value: Any) -> bool:
    """Gives a container these contents; whether it may be changed."""
    if not r.heap.may_change(x, r):
        return False
    if isinstance(x, Record):
        held = value.fields if isinstance(value, Record) else value
        x.fields.update((n, loose(v)) for n, v in held.items())
    else:
        set_contents(x, {k: loose(v) for k, v in value.items()} if isinstance(value, dict) else map(loose, value))
    return True


def changed_fields(x: Any, held: Any) -> Fields:
    """The attributes of an object that are others in `held`; all of a list that stands in one."""
    if not isinstance(x, Record):
        return {}
    if is_growing(x):
        return dict.fromkeys(x.fields)
    before = contents(x)
    return {n: None for n, v in held.items() if n not in before or before[n] is not v}


def column_of(r: Recorder, x: ArrayRef) -> ArrayRef:
    """A column of a list as an array of its own, from its first element on."""
    whole = type(x) is ArrayRef and x.is_whole and x.storage.order == tuple(range(x.ndim)) and not x.read_only
    if whole and x.storage._strides is None and not x.storage.picked:
        return x
    return column_copy(r, x)


def column_copy(r: Recorder, x: ArrayRef) -> ArrayRef:
    """A column as an array that is another object."""
    return ArrayRef(r.new_storage(x.element, x.shape, range(x.ndim), r.read(x)))
