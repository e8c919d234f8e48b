"""What stands for the arguments of a library's function where its results are found out: arrays and numbers of the same
types, of several sizes, filled in several ways."""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from math import prod
from typing import Any, NamedTuple, cast

import numpy as np

from tracebuf.frontends.numpy.call.arguments import is_sparse_class
from tracebuf.frontends.numpy.functions.host.callbacks import Callback, values_in
from tracebuf.frontends.numpy.functions.host.kinds import order_of
from tracebuf.frontends.numpy.record.callees import Recipe, Untold
from tracebuf.frontends.numpy.record.recorder import Recorder
from tracebuf.frontends.numpy.record.refusals import name_of
from tracebuf.frontends.numpy.record.values import ArrayRef, NpScalar, PyComplex, PyFloat, PyInt, Scalar, stand_in
from tracebuf.ir.dims import Dim, evaluate, symbols

SIZES = ((12, 9), (90, 70))
"""The least sizes of stand-ins: of short ones, and, where the function raises for these, of others."""
LONG = ((3,), (40, 130, 400, 1500), (40, 130), (40,))
"""By number of axes: the least sizes of long stand-ins, of which the last one tells that takes no time."""
SHORT, SHORTEST = 8, 4
"""Sizes up to these become part of the key: up to SHORT where the function raises for others."""
LARGEST = 4096
"""The most elements of a stand-in that has its operand's sizes."""


def dims_in(x: Any) -> Iterator[Dim]:
    """The sizes and ints of an argument, and the lengths of its lists."""
    if isinstance(x, (tuple, list)):
        for item in x:
            yield from dims_in(item)
        yield len(x)
        return
    for item in values_in(x):
        if isinstance(item, ArrayRef):
            yield from item.shape
        elif isinstance(item, PyInt) or type(item) is int:
            yield item.expr if isinstance(item, PyInt) else item


def arrays_in(x: Any) -> list[ArrayRef]:
    """The arrays in an argument."""
    return [item for item in values_in(x) if isinstance(item, ArrayRef)]


class StandIns:
    """The stand-ins of one call: symbols have the sizes in `env`, and large known sizes those in `small`."""

    def __init__(self, r: Recorder, given: Sequence[Any], how: Filling, least: int) -> None:
        self.r, self.how, self.arrays, self.objects = r, how, list[np.ndarray](), dict[Recipe, Any]()
        step = least // 3 + 1
        dims = [r.facts.canon(d) for x in given for d in dims_in(x)]
        found = sorted({s for d in dims for s in symbols(d)}, key=lambda s: s.serial)
        self.env = {s: least + step * k for k, s in enumerate(found)}
        known = {d for x in arrays_in(tuple(given)) for d in x.shape if isinstance(d, int)}
        self.small = {d: least + step * (len(found) + k) for k, d in enumerate(sorted(d for d in known if d > SHORT))}

    def number(self, e: Dim) -> int:
        return evaluate(self.r.facts.canon(e), self.env)

    def of(self, x: Any) -> Any:
        """What stands for an argument."""
        if isinstance(x, ArrayRef):
            return self.array(x)
        if isinstance(x, PyInt):
            return self.number(x.expr)
        if isinstance(x, (PyFloat, PyComplex)):
            return type(stand_in(x))(self.how.real)
        if isinstance(x, NpScalar):
            return x.element.dtype.type(self.how.real if x.element.dtype.kind in "fc" else 1)
        if isinstance(x, Scalar):
            return stand_in(x)
        if isinstance(x, Callback):
            return x.text.made([self.of(item) for item in x.values])
        if isinstance(x, Untold):
            if x.recipe is None:
                raise self.r.refuse(f"a {name_of(x)} as an argument", "use its arrays and numbers")
            return self.object(x.recipe)
        if type(x) is dict:
            return {key: self.of(item) for key, item in x.items()}
        return type(x)(map(self.of, x)) if type(x) in (tuple, list) else x

    def array(self, x: ArrayRef) -> np.ndarray:
        shape = [max(0, self.number(d)) for d in x.shape]
        if prod(shape) > LARGEST:
            shape = [self.small.get(n, n) for n in shape]
        axes = order_of(x)
        fill: Any = self.how.fill
        if fill is varied and x.dtype.kind in "fc":  # where a distance to another array is 0, less may be computed
            fill = partial(varied, seed=len(self.arrays))
        dense = fill(tuple(shape[axis] for axis in axes), x.dtype)
        self.arrays.append(dense.transpose(np.argsort(axes)) if x.ndim else dense)
        return self.arrays[-1]

    def object(self, recipe: Recipe) -> Any:
        """An object that is made in the same way; one where it is met twice."""
        if recipe not in self.objects:
            made = self.objects[recipe] = self.called(recipe.function, recipe.args, recipe.names)
            for name, args, names in recipe.then:
                self.called(getattr(made, name), args, names)
        return self.objects[recipe]

    def called(self, function: Any, args: Sequence[Any], names: tuple[str, ...]) -> Any:
        """What a function gives for stand-ins."""
        given = [self.of(x) for x in args]
        positional = len(given) - len(names)
        return given_to(function, given[:positional], dict(zip(names, given[positional:])))


def given_to(function: Any, args: Sequence[Any], named: dict[str, Any]) -> Any:
    """What a function gives for stand-ins. A sparse matrix of indices is another one of that shape: what is done with
    it believes the indices, which stand-ins would be out of."""
    sparse = isinstance(function, type) and is_sparse_class(function)
    if sparse and args and isinstance(args[0], tuple) and isinstance(args[0][0], np.ndarray):
        return sparse_like(function, args, named)
    made = function(*args, **named)
    if is_sparse_class(type(made)) and hasattr(made, "check_format"):
        made.check_format(full_check=True)
    return made


def sparse_like(kind: Any, args: Sequence[Any], named: dict[str, Any]) -> Any:
    """A sparse matrix of the class and shape of one that is made of data and indices."""
    data, *indices = args[0]
    shape = named.get("shape", args[1] if len(args) > 1 else None)
    dtype = named.get("dtype", args[2] if len(args) > 2 else None)
    if shape is None:
        rows = len(indices[-1]) - 1 if len(indices) == 2 else max(map(len, (data, *indices)))
        shape = (rows, rows)
    dense = np.zeros(shape, data.dtype if dtype is None else dtype)
    dense[np.arange(min(shape)), np.arange(min(shape))] = 1
    dense[0, -1:] = 1
    return kind(dense)


@contextlib.contextmanager
def nothing_said() -> Iterator[None]:
    """Nothing is printed by this thread, and the numbers that NumPy's generator draws are not used up."""
    state = np.random.get_state()
    _silence.enter()
    try:
        yield
    finally:
        _silence.leave()
        np.random.set_state(state)


class _Silence:
    """Takes the place of the output while threads call for stand-ins, and drops what these print."""

    def __init__(self) -> None:
        self.output: Any = None
        self.inside: list[int] = []
        self.lock = threading.Lock()

    def enter(self) -> None:
        with self.lock:
            if cast(Any, sys.stdout) is not self:
                self.output, sys.stdout = sys.stdout, cast(Any, self)
            self.inside.append(threading.get_ident())

    def leave(self) -> None:
        with self.lock:
            self.inside.remove(threading.get_ident())
            if not self.inside and cast(Any, sys.stdout) is self:
                sys.stdout = self.output

    def write(self, text: str) -> int:
        found: int = len(text) if threading.get_ident() in self.inside else self.output.write(text)
        return found

    def __getattr__(self, name: str) -> Any:
        return getattr(self.output, name)


_silence = _Silence()


def varied(shape: tuple[int, ...], dtype: np.dtype, seed: int = 0) -> np.ndarray:
    """Numbers in no order, in (0, 1) or 1 to 5; a square matrix is positive definite."""
    parts = np.random.default_rng(seed).random(shape)
    if dtype.kind == "b":
        return np.asarray(parts > 0.4, dtype)
    if dtype.kind in "iu":
        return np.asarray(1 + np.floor(parts * 5), dtype)
    if len(shape) >= 2 and shape[-1] == shape[-2]:
        parts = parts @ np.swapaxes(parts, -1, -2) + np.eye(shape[-1])
    return np.asarray(parts, dtype)


def rising(shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """Rising numbers, in (0, 1] or from 0."""
    n = prod(shape)
    if dtype.kind == "b":
        return np.asarray(np.arange(n) * 2 >= n, dtype).reshape(shape)
    return np.asarray(np.arange(n) if dtype.kind in "iu" else np.arange(1, n + 1) / max(n, 1), dtype).reshape(shape)


def counting(shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """Rising numbers, from 1, one after another."""
    if dtype.kind == "b":
        return rising(shape, dtype)
    return np.asarray(np.arange(1, prod(shape) + 1), dtype).reshape(shape)


def ones(shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    return np.ones(shape, dtype)


def of_both_signs(shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """Numbers in no order around 0."""
    if dtype.kind in "bu":
        return varied(shape, dtype)
    return np.asarray(np.random.default_rng(1).random(shape) * 4 - 2, dtype)


def with_zeros(shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """Some of them are zeros."""
    found = varied(shape, dtype)
    found.reshape(-1)[::3] = 0
    return found


class Filling(NamedTuple):
    """How arrays are filled, and what real numbers are."""

    fill: Callable[[tuple[int, ...], np.dtype], np.ndarray]
    real: float


FILLINGS = (Filling(varied, 0.5), Filling(rising, 0.5), Filling(varied, 2.0), Filling(rising, 2.0), Filling(ones, 1.0),
            Filling(counting, 1.5))  # fmt: skip
OTHERS = (Filling(of_both_signs, 0.5), Filling(varied, 2.0), Filling(with_zeros, 0.5))
"""For these a function gives the same types, or raises; for matrices of low rank, say, it may give others. Sizes may
be others."""
LONGEST = 0.5
"""Seconds of the first calls for stand-ins, beyond which there are no more."""
