"""`tracebuf.host_call` in a traced function: how its declarations become the op. call/host_call.py has the function."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import is_dataclass
from functools import partial
from typing import Any, Literal

from tracebuf.frontends.numpy.arrays.new_arrays import element_of, shape_arg
from tracebuf.frontends.numpy.call.host_call import (
    ArgumentSource,
    Declared,
    DeclaredRun,
    dtypes_of,
    host_call,
    name_of,
    shapes_of,
)
from tracebuf.frontends.numpy.functions.host.calls import number, record
from tracebuf.frontends.numpy.record.raises import Raises, ask
from tracebuf.frontends.numpy.record.recorder import Recorder
from tracebuf.frontends.numpy.record.refusals import name_of as name_of_type
from tracebuf.frontends.numpy.record.registry import traces
from tracebuf.frontends.numpy.record.scalar_checks import check_origin
from tracebuf.frontends.numpy.record.values import ArrayRef, NpScalar, PyInt, Scalar, is_traced, storages_of
from tracebuf.frontends.numpy.source.locks import holds_lock
from tracebuf.ir.core import Value
from tracebuf.running.host import HostFunction


def innermost(fn: Any) -> Any:
    """What a partial calls. A function made by one that is traced by running it has globals of a class of their own."""
    while isinstance(fn, partial):
        fn = fn.func
    return fn


@traces(host_call)
def traced_host_call(
    r: Recorder, fn: Any, *arrays: Any, result_shape: Any = None, result_dtype: Any = None, reads: Any = None,
    writes: Any = (),
) -> Any:  # fmt: skip
    """A call of `host_call` in a traced function."""
    if is_traced(fn) or not callable(fn) or type(getattr(innermost(fn), "__globals__", {})) is not dict:
        instead = "define it outside, and pass what it needs as arguments"
        raise r.refuse("host_call of a function that is made in the traced function", instead)
    if r.makes_generators:
        reason = "a function of the user's is called after a random generator was made, which a call within may replace"
        raise r.refuse(reason, "pass the generator as an argument")
    r.calls_users = True
    if holds_lock() and not r.locked:
        reason = "a function of the user's is called outside of the `with lock`, which the whole call is under"
        raise r.refuse(reason, "call it inside, or take the lock around the call")
    positions = ask(Declared.of, len(arrays), reads, writes)
    shapes, several = shapes_of(result_shape)
    dtypes = [element_of(r, dtype) for dtype in ask(dtypes_of, result_dtype, len(shapes))]
    sizes = [shape_arg(r, shape) for shape in shapes]
    written = written_arrays(r, arrays, positions)
    ins: list[Value] = []
    places: list[ArgumentSource] = []
    for k, x in enumerate(arrays):
        if k in positions.writes:
            places.append(("out", positions.writes.index(k)))
        else:
            kind, value = passed(r, x)
            places.append((kind, value if kind == "known" else len(ins)))
            ins += [value] if isinstance(value, Value) else []
    function = HostFunction(name_of(fn), DeclaredRun(fn, tuple(places), len(shapes), several), may_keep=True)
    fresh = [(element, shape, range(len(shape))) for element, shape in zip(dtypes, sizes, strict=True)]
    unread = [i for i, k in enumerate(positions.writes) if k not in positions.reads]
    made = record(r, function, ins, fresh, written, unread)
    results = tuple(ref if ref.ndim else number(r, ref) for ref in made)
    return results if several else results[0] if results else None


def written_arrays(r: Recorder, arrays: Sequence[Any], positions: Declared) -> list[ArrayRef]:
    """The arrays that are written; refuses other arguments that may alias one of them."""
    for k in positions.writes:
        if not isinstance(arrays[k], ArrayRef):
            raise Raises(TypeError(f"host_call: argument {k} is written, so it must be an array"))
        mine = set(storages_of(arrays[k]))
        for j, other in enumerate(arrays):
            if j != k and isinstance(other, ArrayRef) and not mine.isdisjoint(storages_of(other)):
                raise r.refuse(
                    "an array that a host call writes is passed to it twice, in whole or in part",
                    "pass it once, and take the parts in the function",
                )
        r.check_writable(arrays[k])
    return [arrays[k] for k in positions.writes]


def passed(r: Recorder, x: Any) -> tuple[Literal["in", "int", "float", "complex", "bool", "known"], Any]:
    """How an argument that is only read is passed: as an SSA value, or as a known value."""
    if isinstance(x, ArrayRef):
        return "in", r.read(x)
    if isinstance(x, Scalar):
        check_origin(r, x)
        value = r.index(x.expr) if isinstance(x, PyInt) else x.value  # type: ignore[attr-defined]
        return "in" if isinstance(x, NpScalar) else x.kind.name, value  # type: ignore[return-value]
    if not is_known(x):
        raise r.refuse(f"a {name_of_type(x)} is passed to a host call", "pass arrays and numbers one by one")
    return "known", x


def is_known(x: Any) -> bool:
    """Whether a value is the same each time the call is made: it contains nothing that is traced, or that the trace may
    change."""
    if isinstance(x, tuple):
        return all(map(is_known, x))
    if is_dataclass(x) and not isinstance(x, type):
        return type(x).__module__.partition(".")[0] != "tracebuf" and all(map(is_known, vars(x).values()))
    return not isinstance(x, (list, dict, set)) and not type(x).__module__.startswith("tracebuf.frontends")
