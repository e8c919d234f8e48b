"""Loops that functions of NumPy are made of: an `scf.for` whose body is recorded by a Python function."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from tracebuf.frontends.numpy.record.recorder import Recorder
from tracebuf.frontends.numpy.record.values import ArrayRef, Storage, View
from tracebuf.ir.core import Block, Value
from tracebuf.ir.dims import Dim, Sym, sub, sym
from tracebuf.ir.types import INDEX
from tracebuf.ops.control import scf


def for_each(r: Recorder, start: Dim, stop: Dim, body: Callable[[Dim], None]) -> None:
    """Records `body` once, for the indices from `start` to before `stop`; storages it stores to are carried."""
    outer, block = r.frame, Block([INDEX])
    frame = r.push("loop", block)
    index = Sym("k", "iv")
    r.func.symbols[index] = block.args[0]
    r.facts.push_loop(index, start, sub(stop, 1))
    try:
        body(sym(index))
    finally:
        r.facts.pop_loop()
        r.frame = outer
    carried: dict[Storage, Value] = {}
    for storage, phi in frame.phis.items():
        if frame.values[storage] is not phi:
            carried[storage] = phi
            continue
        phi.replace_all_uses(r.value(storage))
        block.drop_arg(block.args.index(phi))
    order = list(carried)
    block.append(scf.Yield.of([frame.values[s] for s in order], r.loc))
    bounds = [r.index(b) for b in (start, stop, 1)]
    results = r.add(scf.For.of(bounds, [r.value(s) for s in order], block, r.loc)).results
    for storage, result in zip(order, results):
        r.set_value(storage, result)


def for_all(r: Recorder, sizes: Sequence[Dim], body: Callable[[Sequence[Dim]], None]) -> None:
    """`body` for all tuples of indices below `sizes`, the last fastest."""

    def nest(places: tuple[Dim, ...]) -> None:
        if len(places) == len(sizes):
            body(places)
        else:
            for_each(r, 0, sizes[len(places)], lambda i: nest((*places, i)))

    nest(())


def at(ref: ArrayRef, places: Mapping[int, Dim]) -> ArrayRef:
    """The part of an array at these indices of some of its axes, which are dropped."""

    def step(view: View) -> View:
        for axis in sorted(places, reverse=True):
            view = view.narrow(axis, places[axis], 1, 1).drop(axis)
        return view

    return ref.derive(step)
