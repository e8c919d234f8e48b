"""The kinds of a NumPy function's results (dtypes, ranks, order of axes), found by calling it on small stand-ins.

A stand-in has its operand's dtype, rank and order in memory, and its sizes where all sizes are known (the result's
sizes are then known too). Calls are cached by all that stand-ins are made from, including the types of known values.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from math import prod
from typing import Any, TypeVar

import numpy as np

from tracebuf.errors import UnsupportedError
from tracebuf.frontends.numpy.arrays.new_arrays import k_order
from tracebuf.frontends.numpy.arrays.reshape import dense_strides
from tracebuf.frontends.numpy.record.callees import Buffer
from tracebuf.frontends.numpy.record.raises import Raises, ask
from tracebuf.frontends.numpy.record.values import ArrayRef, GuardedRef, NpScalar, PyInt, Scalar, stand_in
from tracebuf.frozen import frozen

T = TypeVar("T")
SMALL = 64
"""The most elements of a stand-in that has its operand's sizes."""


@frozen()
class ArrayKind:
    """The part of an array operand that determines results: its dtype, its axes, outermost first, those of stride 0,
    and its sizes as far as they are known. `fill`: what its stand-in is filled with, if it matters."""

    dtype: np.dtype
    order: tuple[int, ...]
    repeated: tuple[int, ...]
    sizes: tuple[int | None, ...]
    fill: float | None = None

    def stand_in(self, size: int) -> np.ndarray:
        """A small array: ones along a vector, the identity in each matrix; `size` stands for unknown ones."""
        shape = [size if n is None else n for n in self.sizes]
        once = [1 if axis in self.repeated else n for axis, n in enumerate(shape)]
        dense = np.empty([once[axis] for axis in self.order], self.dtype).transpose(np.argsort(self.order))
        if self.fill is not None:
            dense[...] = self.fill
        else:
            dense[...] = np.eye(once[-2], once[-1]) if len(once) >= 2 else 1
        return np.broadcast_to(dense, shape) if self.repeated else dense


@frozen()
class NumberKind:
    """A traced number, only the type of which is known."""

    type: type


@frozen()
class KnownValue:
    """A known value, distinguished from equal values of other types."""

    type: type
    value: Any


@frozen()
class ItemKinds:
    """A tuple or list of kinds."""

    type: type
    items: tuple[Any, ...]


def kind_of(x: Any) -> Any:
    """The kind of an argument."""
    if isinstance(x, ArrayRef):
        repeated = tuple(axis for axis in range(x.ndim) if x.is_repeated(axis) and 0 not in x.shape)
        # a size is negative in code that is not reached
        sizes = tuple(max(n, 0) if isinstance(n, int) else None for n in x.shape)
        if prod(max(n, 1) for n in sizes if n is not None) > SMALL:
            sizes = (None,) * x.ndim
        return ArrayKind(x.dtype, order_of(x), repeated, sizes)
    if isinstance(x, Scalar):
        return NumberKind(type(stand_in(x)))
    if isinstance(x, Buffer):  # a sparse matrix: an empty one of its shape
        return KnownValue(x.kind, x.kind(x.of.shape, dtype=x.of.dtype))
    return ItemKinds(type(x), tuple(map(kind_of, x))) if isinstance(x, (tuple, list)) else KnownValue(type(x), x)


def order_of(ref: ArrayRef) -> tuple[int, ...]:
    """The axes of a new array in K-order, as `k_order` gives them, except that axes of size 1, which may be longer in a
    result, have a position too: their own in memory, new axes innermost. Without elements all strides count as one.
    What is contiguous in Fortran order, and not in C order, gives that order, wherever its axes of size 1 are."""
    axes = tuple(range(ref.ndim))
    if 0 in ref.shape:
        return axes
    if isinstance(ref, GuardedRef) or ref.view.over is not None:
        return k_order(ref)
    if sum(n != 1 for n in ref.shape) > 1 and all(a == b for a, b in dense_strides(ref, ref.shape, axes[::-1])):
        return axes[::-1]
    dims, shape, order = ref.view.dims, ref.storage.shape, ref.storage.order
    ranks, rank = {}, 0
    for k, d in enumerate(order):
        rank += k == 0 or shape[d] != 1  # the stride of what is around an axis of size 1 is the same
        ranks[d] = rank

    def place(axis: int) -> tuple[bool, int, int]:
        d = dims[axis]
        return (True, 0, axis) if d is None or ref.is_repeated(axis) else (False, ranks[d], axis)

    return tuple(sorted(range(ref.ndim), key=place))


def has_known_place(ref: ArrayRef, axis: int, new: bool) -> bool:
    """Whether an axis of size 1 has a known position in memory: an argument's may have any stride; `new` ones are
    known."""
    if isinstance(ref, GuardedRef) or ref.view.over is not None:
        return False
    return new if ref.view.dims[axis] is None else ref.storage.arg is None


def arrays_in(kind: Any) -> list[ArrayKind]:
    """The kinds of the arrays in an argument."""
    if isinstance(kind, ItemKinds):
        return [k for item in kind.items for k in arrays_in(item)]
    return [kind] if isinstance(kind, ArrayKind) else []


def has_sizes(x: Any) -> bool:
    """Whether an argument contains a traced int, which may be a size of the result."""
    if isinstance(x, NpScalar):
        return x.element.is_integer
    return isinstance(x, PyInt) or (isinstance(x, (tuple, list)) and any(map(has_sizes, x)))


def without_sizes(kind: Any, but: int | None = None) -> Any:
    """A kind without its sizes, except those that equal `but`."""
    if isinstance(kind, ItemKinds):
        return replace(kind, items=tuple(without_sizes(k, but) for k in kind.items))
    if not isinstance(kind, ArrayKind):
        return kind
    return replace(kind, sizes=tuple(n if n is not None and n == but else None for n in kind.sizes))


def made(kind: Any, size: int, number: int = 1) -> Any:
    """A stand-in for a kind; numbers in a tuple rise, for bounds have to, from 1, for the number of bins."""
    if isinstance(kind, ItemKinds):
        return kind.type([made(k, size, i + 1) for i, k in enumerate(kind.items)])
    if isinstance(kind, KnownValue):
        return kind.value
    return kind.stand_in(size) if isinstance(kind, ArrayKind) else kind.type(number)


# -- results


@frozen()
class HostResult:
    """One result: a new array, a number (of type `number`), the very array that is an argument, or a known flag."""

    dtype: np.dtype
    shape: tuple[int, ...]
    order: tuple[int, ...]
    number: type | None
    argument: str | None
    flag: bool | None = None

    @property
    def is_new(self) -> bool:
        """Whether a call makes it."""
        return self.argument is None and self.flag is None

    def of_call(self, given: Mapping[str, Any]) -> Any:
        """What it is in a call with these arguments, where it is not new."""
        return self.flag if self.argument is None else given[self.argument]

    @staticmethod
    def of(x: Any, arguments: Mapping[str, Any]) -> HostResult:
        if type(x) is bool:  # an argument, of the functions in the tables
            return HostResult(np.dtype(bool), (), (), None, None, x)
        if not isinstance(x, (np.ndarray, np.generic)) and type(x) not in (int, float):
            raise UnsupportedError(f"a {type(x).__name__} among the results")
        array = np.asarray(x)
        order = sorted(range(array.ndim), key=lambda axis: -abs(array.strides[axis]))
        same = next((k for k, v in arguments.items() if v is x and isinstance(v, np.ndarray)), None)
        return HostResult(array.dtype, array.shape, tuple(order), None if array is x else type(x), same)


@frozen()
class Described:
    """The results of a function: one, or several in a tuple of type `kind`. `exact`: their shapes are the program's."""

    leaves: tuple[HostResult, ...]
    kind: type[tuple[Any, ...]] | None
    exact: bool

    def build(self, values: Sequence[Any]) -> Any:
        if self.kind is None:
            return values[0]
        return tuple(values) if self.kind is tuple else self.kind._make(values)  # type: ignore[attr-defined]


def describe(
    function: Callable[..., Any], given: Mapping[str, Any], instead: Mapping[str, Any], size: int = 3
) -> Described:
    """What the function returns for arguments of these kinds, with those in `instead` replaced (None: an argument that
    is a size), and `size` for unknown sizes; raises what it raises for stand-ins."""
    kinds, exact = kinds_of(given, instead)
    if exact:
        sure = not any(has_sizes(x) for name, x in given.items() if name not in instead)
        return replace(described(function, tuple(kinds.items()), size), exact=sure)
    return first_that_works([partial(described, function, tuple(k.items()), n) for k, n in attempts(kinds, size)])


def takes_out(
    function: Callable[..., Any], given: Mapping[str, Any], instead: Mapping[str, Any], name: str = "out",
    size: int = 3,
) -> bool:  # fmt: skip
    """Whether the function uses `out=`, or what it calls that; some of np.fft have the parameter and ignore it."""
    kinds, exact = kinds_of(given, instead)

    def attempt(kinds: Mapping[str, Any], size: int) -> bool:
        arguments = {name: made(kind, size) for name, kind in kinds.items()}
        out = np.empty_like(ask(call_by_name, function, arguments))
        return ask(call_by_name, function, {**arguments, name: out}) is out

    return first_that_works([partial(attempt, *x) for x in ([(kinds, size)] if exact else attempts(kinds, size))])


def kinds_of(given: Mapping[str, Any], instead: Mapping[str, Any]) -> tuple[dict[str, Any], bool]:
    """The kinds of arguments, and whether all sizes are known."""
    kinds = {name: kind_of(value) for name, value in given.items()}
    for name in given.keys() & instead.keys():
        value, kind = instead[name], kinds[name]
        kinds[name] = replace(kind, fill=value) if isinstance(kind, ArrayKind) else KnownValue(type(value), value)
    resized = any(instead.get(name, ...) is None for name in given)
    return kinds, all(None not in kind.sizes for k in kinds.values() for kind in arrays_in(k)) and not resized


def attempts(kinds: Mapping[str, Any], size: int = 3) -> list[tuple[dict[str, Any], int]]:
    """Stand-ins to try where sizes are not all known: with this size, or 0 where that is known; with it; with 1. With a
    size of the function's own, those that are known stay."""
    nothing = {name: without_sizes(kind, 0) for name, kind in kinds.items()}
    unknown = {name: without_sizes(kind) for name, kind in kinds.items()}
    own = [] if size == 3 else [(dict(kinds), size)]
    return [*own, (nothing, size), (unknown, size), (unknown, 1)]


def first_that_works(tries: Sequence[Callable[[], T]]) -> T:
    """The result of the first call that does not raise, else the error of the last."""
    for attempt in tries[:-1]:
        try:
            return attempt()
        except Raises:
            continue
    return tries[-1]()


def described(function: Callable[..., Any], kinds: tuple[tuple[str, Any], ...], size: int) -> Described:
    """What the function returns for operands of these kinds; cached."""
    try:
        hash(kinds)
    except TypeError:
        return _described.__wrapped__(function, kinds, size)
    return _described(function, kinds, size)


@lru_cache(maxsize=4096)
def _described(function: Callable[..., Any], kinds: tuple[tuple[str, Any], ...], size: int) -> Described:
    arguments = {name: made(kind, size) for name, kind in kinds}
    result = ask(call_by_name, function, arguments)
    if isinstance(result, tuple):
        if type(result) is not tuple and not hasattr(result, "_make"):
            raise UnsupportedError(f"a {type(result).__name__} as the result")
        return Described(tuple(HostResult.of(x, arguments) for x in result), type(result), False)
    return Described((HostResult.of(result, arguments),), None, False)


@lru_cache(maxsize=256)
def signature(function: Callable[..., Any]) -> inspect.Signature:
    return inspect.signature(function)


@lru_cache(maxsize=256)
def positional_of(function: Callable[..., Any]) -> tuple[str, ...]:
    """The parameters that may be passed by position; some must be, though the signature does not say so."""
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return tuple(name for name, p in signature(function).parameters.items() if p.kind in kinds)


def call_by_name(function: Callable[..., Any], arguments: Mapping[str, Any]) -> Any:
    """A call with arguments by parameter, some of which are positional only."""
    bound = signature(function).bind_partial()
    bound.arguments.update({name: arguments[name] for name in bound.signature.parameters if name in arguments})
    return function(*bound.args, **bound.kwargs)
