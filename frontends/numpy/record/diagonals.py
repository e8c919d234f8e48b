"""Stores through the diagonal of two axes: place by place, for no slice of an array is its diagonal."""

from __future__ import annotations

from tracebuf.frontends.numpy.record.for_each import at, for_each
from tracebuf.frontends.numpy.record.recorder import Recorder
from tracebuf.frontends.numpy.record.values import ArrayRef, Diagonal, Storage
from tracebuf.ir.core import Value
from tracebuf.ir.dims import Dim


def store_diagonal(r: Recorder, storage: Storage, over: Diagonal, value: Value) -> None:
    """The diagonal of a view becomes `value`, whose last axis runs along it."""
    target, shape = ArrayRef(storage, over.view), over.shape
    new = ArrayRef(r.new_storage(value.tensor_type.element, shape, range(len(shape)), value))

    def one(k: Dim) -> None:
        place, source = at(target, dict.fromkeys(over.axes, k)), at(new, {len(shape) - 1: k})
        if place.ndim:
            r.store(place, r.read(source))
        else:
            r.store_element(place, (), r.load(source, ()))

    for_each(r, 0, shape[-1], one)
