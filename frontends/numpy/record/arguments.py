"""The arguments of a traced function: what the parts of a call's key become."""

from __future__ import annotations

from typing import Any

import numpy as np

from tracebuf.frontends.numpy.call.arguments import MAX_SIZE, SMALL, ArrayKey, Leaf, ScalarKey
from tracebuf.frontends.numpy.call.conditions import Binding
from tracebuf.frontends.numpy.record.recorder import Recorder
from tracebuf.frontends.numpy.record.values import ArrayRef, NpScalar, PyBool, PyComplex, PyFloat, PyInt, Storage
from tracebuf.ir.core import Value
from tracebuf.ir.dims import Dim, Sym, sub, sym, symbols
from tracebuf.ir.func import Func
from tracebuf.ir.types import C128, F64, I1, I64, INDEX, TensorType, Type, row_major, scalar_type, strides_in_order
from tracebuf.location import Location
from tracebuf.ops.arrays import tensor
from tracebuf.ops.scalars import arith, casts


class ArgumentMaker:
    """Makes the arguments of the traced function: SSA arguments, symbols with their bindings and hints, and the traced
    values that the parameters are bound to."""

    def __init__(self, name: str, loc: Location) -> None:
        self.func = Func(name, [], loc)
        self.loc = loc
        self.hints: dict[Sym, int] = {}
        self.bindings: dict[Sym, Binding] = {}
        self.storages: list[tuple[Leaf, Storage]] = []
        self.arguments: list[Leaf] = []
        """The leaf that each SSA argument is."""
        self.pending: list[tuple[Storage, Value]] = []
        self.bools: list[tuple[Sym, Value]] = []
        """The symbols of bools, with their values: they count as ints where ints are wanted."""

    def argument(self, leaf: Leaf, type_: Type, name: str, attrs: dict[str, Any]) -> Value:
        """A new SSA argument for a leaf of the call."""
        value = self.func.block.add_arg(type_)
        value.name = name
        self.func.arg_attrs.append(attrs)
        self.arguments.append(leaf)
        return value

    def symbol(self, name: str, kind: Any, binding: Binding, hint: int, lo: int, hi: int) -> Sym:
        """A new symbol for a size, stride or int of an argument."""
        s = Sym(name, kind, lo, hi)
        self.hints[s], self.bindings[s] = hint, binding
        return s

    def array(self, leaf: Leaf, name: str, key: ArrayKey, x: np.ndarray) -> ArrayRef:
        """The traced value of an array argument."""
        shape: list[Dim] = []
        for axis, (cls, n) in enumerate(zip(key.dims, x.shape)):
            label = f"{name}.{axis}" if x.ndim > 1 else f"len({name})"
            shape.append(cls if cls < 2 else sym(self.symbol(label, "dim", Binding(leaf, axis), n, 2, MAX_SIZE)))
        element = scalar_type(np.dtype(key.dtype))
        storage = Storage(element, shape, key.order, arg=leaf, name=name)
        storage.writable, storage.repeated = key.writable, key.repeated
        strides: tuple[Dim | None, ...]
        if key.layout == "dense":
            strides = row_major(shape) if key.order == tuple(range(len(shape))) else strides_in_order(shape, key.order)
        else:
            inner = next((a for a in reversed(key.order) if shape[a] != 1), -1)
            storage.strides = self.strides(leaf, name, key, x, inner)
            strides = tuple(1 if key.layout == "unit" and a == inner else None for a in range(len(shape)))
        value = self.argument(
            leaf, TensorType(tuple(shape), element), name, {"strides": strides, "bufferization.writable": False}
        )
        self.storages.append((leaf, storage))
        self.pending.append((storage, value))
        return ArrayRef(storage)

    def strides(self, leaf: Leaf, name: str, key: ArrayKey, x: np.ndarray, inner: int) -> tuple[Dim, ...]:
        """The strides of an array that is not dense, as symbols: they become guards where tracing asks for them."""
        found: list[Dim] = []
        for axis, n in enumerate(key.dims):
            if n == 1 or axis in key.repeated:
                found.append(0)
            elif key.layout == "unit" and axis == inner:
                found.append(1)
            else:
                binding = Binding(leaf, axis, stride=True)
                value, label = x.strides[axis] // x.itemsize, f"{name}.strides[{axis}]"
                found.append(sym(self.symbol(label, "arg", binding, value, -MAX_SIZE, MAX_SIZE)))
        return tuple(found)

    def scalar(self, leaf: Leaf, name: str, key: ScalarKey, x: Any) -> Any:
        """The traced value of a number."""
        if key.kind == "int":
            value = self.argument(leaf, INDEX, name, {})
            s = self.symbol(name, "arg", Binding(leaf, None), x, 1 - SMALL, SMALL - 1)
            self.func.symbols[s] = value
            return PyInt(sym(s))
        if key.kind == "float":
            return PyFloat(self.argument(leaf, F64, name, {}))
        if key.kind == "complex":
            return PyComplex(self.argument(leaf, C128, name, {}))
        if key.kind == "bool":
            s = self.symbol(name, "arg", Binding(leaf, None), int(x), 0, 1)
            value = self.argument(leaf, I1, name, {})
            self.bools.append((s, value))
            return PyBool(value, sub(sym(s), 1))
        element = scalar_type(np.dtype(key.kind.removeprefix("np.")))
        return NpScalar(self.argument(leaf, element, name, {}), element)

    def begin(self) -> Recorder:
        """The recorder, with the sizes and the numbers of the arguments recorded."""
        r = Recorder(self.func, self.hints)
        r.at(self.loc)
        r.stride_symbols = frozenset(s for s, b in self.bindings.items() if b.stride)
        for s, value in self.bools:
            self.func.symbols[s] = r.emit(arith.IndexCast.of(r.emit(casts.ExtUI.of(value, I64)), INDEX))
        for storage, value in self.pending:
            r.frame.values[storage] = value
            for axis, d in enumerate(storage.shape):
                if not isinstance(d, int):
                    (s,) = symbols(d)
                    self.func.symbols[s] = r.emit(tensor.Dim.of(value, axis, self.loc))
        return r
