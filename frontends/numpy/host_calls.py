"""How a call of a NumPy function that has no loop form becomes a `tracebuf.host_call`: by its `Entry` in the table.

The result's shape is a rule of the entry. Everything else (dtypes, ranks, order of axes, tuple or not, what is raised
for wrong arguments) NumPy tells itself, in a call on small stand-ins of the operands' dtypes, ranks and orders, cached
by these. What only the elements decide is raised when the program runs, by the function, which gets the very arrays.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from tracebuf.errors import InternalError, UnsupportedError
from tracebuf.frontends.numpy.creation import asarray
from tracebuf.frontends.numpy.fresh import k_order
from tracebuf.frontends.numpy.recorder import Recorder
from tracebuf.frontends.numpy.ufuncs import supported
from tracebuf.frontends.numpy.values import ArrayRef, NpScalar, PyBool, PyFloat, PyInt
from tracebuf.ir.core import Value
from tracebuf.ir.dims import Dim
from tracebuf.ir.types import ScalarType
from tracebuf.ops.host import HostCall, HostFunction

Shape = Sequence[Dim]
Given = Mapping[str, Any]
"""A call's arguments by parameter: arrays are references, sizes `PyInt`s or ints, the rest values known now."""
Shapes = Callable[[Recorder, Given], Sequence[Shape]]
Into = Callable[[dict[str, Any], Sequence[np.ndarray]], None]


@dataclass(frozen=True, eq=False, slots=True)
class Entry:
    """One function of the table.

    `arrays` and `sizes` are the parameters that are passed at run time, as arrays and as ints; `shapes` gives the
    shape of each array in the result; `limits` says in words what is refused; `stand_ins` replaces arguments in the
    call that tells dtypes, where small arrays do not stand for all; `into` computes the results where they go.
    """

    function: Callable[..., Any]
    arrays: tuple[str, ...]
    shapes: Shapes
    sizes: tuple[str, ...] = ()
    limits: str = ""
    stand_ins: Mapping[str, Any] | None = None
    into: Into | None = None
    refuses: Callable[[Recorder, Given], None] | None = None

    @property
    def name(self) -> str:
        return f"{self.function.__module__.removesuffix('._linalg')}.{self.function.__name__}"

    def __call__(self, r: Recorder, *args: Any, **kwargs: Any) -> Any:
        """Records a call."""
        given = self.bind(r, args, kwargs)
        if self.refuses is not None:
            self.refuses(r, given)
        found = self.described(given)
        shapes = self.shapes(r, given)
        fresh = [
            (supported(leaf.dtype, f"the result of {self.name}", r.loc), tuple(shape), leaf.order)
            for leaf, shape in zip(found.leaves, shapes, strict=True)
        ]
        passed = {k: v for k, v in given.items() if isinstance(v, (ArrayRef, PyInt))}
        fixed = {k: v for k, v in given.items() if k not in passed}
        ins = [r.read(v) if isinstance(v, ArrayRef) else r.index(v.expr) for v in passed.values()]
        made = record(r, HostFunction(self.name, self.runner(tuple(passed), fixed)), ins, fresh)
        return found.build([loaded(r, ref, leaf.is_number) for ref, leaf in zip(made, found.leaves)])

    def bind(self, r: Recorder, args: Sequence[Any], kwargs: Given) -> dict[str, Any]:
        """The arguments by parameter, defaults left out; TypeError as Python's."""
        try:
            given = dict(signature(self.function).bind(*args, **kwargs).arguments)
        except TypeError:
            self.function(*[None] * len(args), **dict.fromkeys(kwargs))  # raises the same, in its own words
            raise
        for name, value in given.items():
            if name in self.arrays and value is not None:
                given[name] = asarray(r, value)
            elif name not in self.sizes:
                given[name] = static(r, value, f"`{name}` of {self.name}")
        return given

    def described(self, given: Given) -> Described:
        """What NumPy gives for stand-ins of these arguments; what it raises for them."""
        stand_ins = self.stand_ins or {}
        kinds: dict[str, Any] = {}
        for name, value in given.items():
            if isinstance(value, ArrayRef):
                kinds[name] = Kind(value.dtype, k_order(value))
            else:
                kinds[name] = stand_ins.get(name, 3 if isinstance(value, PyInt) else value)
        try:
            return described(self.function, tuple(kinds.items()))
        except TypeError as error:
            if "unhashable" not in str(error):
                raise
            return described.__wrapped__(self.function, tuple(kinds.items()))

    def runner(self, passed: tuple[str, ...], fixed: Given) -> Callable[[Sequence[Any], Sequence[np.ndarray]], None]:
        """What runs: the function on the operands, its results stored into the outs."""
        function, into = self.function, self.into

        def run(ins: Sequence[Any], outs: Sequence[np.ndarray]) -> None:
            arguments = {**fixed, **dict(zip(passed, ins))}
            if into is not None:
                into(arguments, outs)
            else:
                put(call_by_name(function, arguments), outs, function.__name__)

        return run


@dataclass(frozen=True, slots=True)
class Kind:
    """What of an array operand decides about results: its dtype, and its axes, outermost first."""

    dtype: np.dtype
    order: tuple[int, ...]

    def stand_in(self) -> np.ndarray:
        """A small array: ones along a vector, the identity in each matrix."""
        n = len(self.order)
        dense = np.empty((3,) * n, self.dtype).transpose(np.argsort(self.order))
        dense[...] = np.eye(3) if n >= 2 else 1
        return dense


@dataclass(frozen=True, slots=True)
class Leaf:
    """One result: an array, or a NumPy number."""

    dtype: np.dtype
    order: tuple[int, ...]
    is_number: bool

    @staticmethod
    def of(x: Any) -> Leaf:
        if not isinstance(x, (np.ndarray, np.generic)):
            raise InternalError(f"a {type(x).__name__} among the results of a host call")
        order = sorted(range(x.ndim), key=lambda axis: -abs(x.strides[axis]))
        return Leaf(x.dtype, tuple(order), isinstance(x, np.generic))


@dataclass(frozen=True, slots=True)
class Described:
    """The results of a function: one, or a tuple (of that type) of some."""

    leaves: tuple[Leaf, ...]
    kind: type[tuple[Any, ...]] | None

    def build(self, values: Sequence[Any]) -> Any:
        if self.kind is None:
            return values[0]
        return tuple(values) if self.kind is tuple else self.kind._make(values)  # type: ignore[attr-defined]


@lru_cache(maxsize=4096)
def described(function: Callable[..., Any], kinds: tuple[tuple[str, Any], ...]) -> Described:
    """What the function gives for operands of these kinds."""
    arguments = {name: kind.stand_in() if isinstance(kind, Kind) else kind for name, kind in kinds}
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        result = call_by_name(function, arguments)
    if isinstance(result, tuple):
        return Described(tuple(map(Leaf.of, result)), type(result))
    return Described((Leaf.of(result),), None)


@lru_cache(maxsize=256)
def signature(function: Callable[..., Any]) -> inspect.Signature:
    return inspect.signature(function)


def call_by_name(function: Callable[..., Any], arguments: Given) -> Any:
    """A call with arguments by parameter, some of which are positional only."""
    bound = signature(function).bind_partial()
    bound.arguments.update({name: arguments[name] for name in bound.signature.parameters if name in arguments})
    return function(*bound.args, **bound.kwargs)


def static(r: Recorder, value: Any, what: str) -> Any:
    """An argument that must be known now: an int of the caller's becomes part of the key."""
    if isinstance(value, PyInt):
        return r.static_int(value.expr, what)
    if isinstance(value, (tuple, list)):
        return type(value)([static(r, v, what) for v in value])
    if isinstance(value, (ArrayRef, NpScalar, PyFloat, PyBool)):
        raise UnsupportedError(f"{what} is only known at run time", location=r.loc, instead="use a constant")
    return value


def put(result: Any, outs: Sequence[np.ndarray], name: str) -> None:
    """Results into the buffers for them, whose shapes they must have."""
    for x, out in zip(result if isinstance(result, tuple) else (result,), outs, strict=True):
        if np.shape(x) != out.shape or np.result_type(x) != out.dtype:
            text = f"{np.result_type(x)} of shape {np.shape(x)} for {out.dtype} of shape {out.shape}"
            raise InternalError(f"numpy's {name} gives {text}")
        out[...] = x


def record(
    r: Recorder,
    function: HostFunction,
    ins: Sequence[Value],
    fresh: Sequence[tuple[ScalarType, Shape, Sequence[int]]],
    written: Sequence[ArrayRef] = (),
    unread: Sequence[int] = (),
) -> list[ArrayRef]:
    """Records the op: new arrays of these elements, shapes and orders; arrays that the call writes where they are, of
    which it does not read those with a number in `unread`."""
    outs = [r.empty(element, shape, order) for element, shape, order in fresh]
    not_read = [*range(len(fresh)), *(len(fresh) + k for k in unread)]
    results = r.add(HostCall.of(function, ins, [*outs, *map(r.read, written)], not_read, r.loc)).results
    for ref, value in zip(written, results[len(fresh) :], strict=True):
        r.store(ref, value)
    return [
        ArrayRef(r.new_storage(element, shape, order, value))
        for (element, shape, order), value in zip(fresh, results)
    ]


def loaded(r: Recorder, ref: ArrayRef, is_number: bool) -> ArrayRef | NpScalar:
    """A result, or the number that it holds."""
    return NpScalar(r.load(ref, ()), ref.element) if is_number else ref
