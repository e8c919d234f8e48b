"""Sums of products over named axes, the basis of np.einsum and np.tensordot.

A pair of float arrays that contracts like a matrix product goes through BLAS. Axes that are contiguous among themselves
are collapsed; of those that remain, one of each kind becomes the matrices' and the others become loops around the
product, which adds to its destination: nothing is copied. Everything else is one `linalg.generic`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from itertools import permutations, product
from math import prod
from operator import methodcaller

import numpy as np

from tracebuf.frontends.numpy.arrays.new_arrays import copy_of, filled
from tracebuf.frontends.numpy.functions.products.matmul import contract, fill_with_zeros, zeros
from tracebuf.frontends.numpy.numbers.bodies import Body
from tracebuf.frontends.numpy.numbers.rules import apply_rule
from tracebuf.frontends.numpy.record.broadcasting import broadcast_dim
from tracebuf.frontends.numpy.record.recorder import Recorder
from tracebuf.frontends.numpy.record.values import ArrayRef, GuardedRef, NpScalar
from tracebuf.frozen import frozen
from tracebuf.ir.core import Block, Value
from tracebuf.ir.dims import Dim, mul
from tracebuf.ir.types import C64, C128, F16, F32, F64, ScalarType
from tracebuf.ops.arrays import linalg

LEAST = 100
"""The number of multiplications in a matrix product below which a call of BLAS costs more than it saves."""
Sizes = Mapping[str, Dim]
"""The size of each axis name."""


@frozen()
class Labelled:
    """An operand whose axes have names, each once; a number has none."""

    value: ArrayRef | NpScalar
    labels: tuple[str, ...]

    @property
    def array(self) -> ArrayRef:
        assert isinstance(self.value, ArrayRef)
        return self.value

    def ordered(self, labels: Sequence[str]) -> Labelled:
        """The operand with its axes in the order of `labels`."""
        axes = [self.labels.index(x) for x in labels]
        return Labelled(self.array.derive(methodcaller("transpose", axes)), tuple(labels)) if axes else self

    def at(self, places: Mapping[str, Dim], rest: Sequence[str]) -> ArrayRef:
        """The part at the indices `places`, with its axes in the order of `rest`."""
        found = self.array.at({k: places[x] for k, x in enumerate(self.labels) if x in places})
        return Labelled(found, tuple(x for x in self.labels if x not in places)).ordered(rest).array

    def stride(self, label: str) -> Dim:
        return self.array.strides[self.labels.index(label)]

    def merged(self, outer: str, inner: str, size: Dim) -> Labelled:
        """The operand with two axes, which are contiguous among themselves, collapsed into one of this size."""
        if outer not in self.labels:
            return self
        rest = [x for x in self.labels if x != inner]
        k, n = rest.index(outer), len(rest)
        turned = self.ordered([*rest[: k + 1], inner, *rest[k + 1 :]]).array
        old = tuple((k, k + 1) if i == k else (i + (i > k),) for i in range(n))
        shape = (*turned.shape[:k], size, *turned.shape[k + 2 :])
        step = methodcaller("regrouped", shape, old, tuple((i,) for i in range(n)))
        return Labelled(turned.derive(step), tuple(rest))


def label_sizes(r: Recorder, operands: Sequence[Labelled]) -> dict[str, Dim]:
    """The size of each axis name: equal, or 1, in all operands; ValueError otherwise."""
    sizes: dict[str, Dim] = {}
    shapes = [x.array.shape for x in operands if x.labels]
    for x in operands:
        for label, n in zip(x.labels, x.array.shape if x.labels else ()):
            sizes[label] = broadcast_dim(r, sizes.get(label, 1), n, shapes)
    return sizes


def fitted(r: Recorder, x: Labelled, sizes: Sizes) -> Labelled:
    """An operand without those axes of size 1 that other operands repeat; a number where no axis is left."""
    if not isinstance(x.value, ArrayRef):
        return x
    ref, labels = x.value, list(x.labels)
    for k in reversed(range(len(labels))):
        n = ref.shape[k]
        if r.facts.equal(n, sizes[labels[k]]):
            continue
        if n != 1:
            reason = "a product of arrays of which one may be repeated, depending on its size"
            raise r.refuse(reason, "a loop over that axis")
        ref = ref.derive(methodcaller("drop", k))
        del labels[k]
    return Labelled(ref if labels else r.number(ref), tuple(labels))


def sum_of_products(
    r: Recorder, operands: Sequence[Labelled], out: Sequence[str], sizes: Sizes, element: ScalarType,
    order: Sequence[int],
) -> ArrayRef:  # fmt: skip
    """One loop nest over all axis names: the product of the operands, converted to the element type, summed over the
    names that are not in `out`. `order`: the result's axes, outermost first."""
    summed = sorted({label for x in operands for label in x.labels} - set(out))
    loops = [*out, *summed]
    wide = F32 if element is F16 and summed else element
    shape = [sizes[label] for label in out]
    block, values, maps = Block(), list[Value](), list[linalg.AffineMap]()
    for x in operands:
        value = r.read(x.value) if isinstance(x.value, ArrayRef) else x.value.value
        values.append(value)
        maps.append(linalg.AffineMap(len(loops), tuple(loops.index(label) for label in x.labels)))
        block.add_arg(linalg.element_type(value.type))
    before, body = block.add_arg(wide), Body(block, r.loc)
    factors = [body.cast(body.cast(a, element), wide) for a in block.args[: len(values)]]
    total = reduce(lambda a, b: apply_rule(np.multiply, body, [a, b], (wide.dtype,) * 3), factors)
    if summed:
        total = apply_rule(np.add, body, [before, total], (wide.dtype,) * 3)
    elif len(operands) > 1 and not wide.is_integer:  # NumPy adds to zeros here too: no product is -0.0
        total = apply_rule(np.add, body, [total, body.constant(0.0, wide)], (wide.dtype,) * 3)
    block.append(linalg.Yield.of([total], r.loc))
    start = zeros(r, wide, shape, order) if summed else r.empty(wide, shape, order)
    maps.append(linalg.AffineMap(len(loops), tuple(range(len(out)))))
    kinds = ["parallel"] * len(out) + ["reduction"] * len(summed)
    found = r.emit(linalg.Generic.of(values, [start], maps, kinds, block))
    result = ArrayRef(r.new_storage(wide, shape, order, found))
    return result if wide is element else copy_of(r, result, element, order)


# -- pairs that contract like matrices


@frozen()
class ContractedPair:
    """Two operands and what they contract to, with the axis names by kind: in both and the result (`batch`), in both
    but not the result (`summed`), in one and the result (`left`, `right`)."""

    a: Labelled
    b: Labelled
    out: Labelled
    sizes: dict[str, Dim]

    @property
    def batch(self) -> list[str]:
        return [x for x in self.out.labels if x in self.a.labels and x in self.b.labels]

    @property
    def summed(self) -> list[str]:
        return [x for x in self.a.labels if x in self.b.labels and x not in self.out.labels]

    @property
    def left(self) -> list[str]:
        return [x for x in self.a.labels if x not in self.b.labels]

    @property
    def right(self) -> list[str]:
        return [x for x in self.b.labels if x not in self.a.labels]


def is_matrix_product(a: Labelled, b: Labelled, out: Sequence[str], element: ScalarType) -> bool:
    """Whether BLAS can contract the pair: equal float types, an axis to sum over, and each name of a single operand in
    the result."""
    if element not in (F32, F64, C64, C128) or any(isinstance(x.value, GuardedRef | NpScalar) for x in (a, b)):
        return False
    if any(x.array.element is not element for x in (a, b)):
        return False
    alone = {*a.labels} ^ {*b.labels}
    return bool({*a.labels} & {*b.labels} - {*out}) and alone <= {*out} and bool(alone)


def contract_pair(
    r: Recorder, a: Labelled, b: Labelled, out: Sequence[str], sizes: Sizes, element: ScalarType, order: Sequence[int]
) -> ArrayRef | None:
    """The sum of products of a pair by matrix products; None where these would be too small, or their layout does not
    suit BLAS."""
    if not is_matrix_product(a, b, out, element):
        return None
    shape = [sizes[label] for label in out]
    result = filled(r, shape, element, None, order)
    pair = merge_axes(r, ContractedPair(a, b, Labelled(result, tuple(out)), dict(sizes)))
    chosen = choose_axes(r, pair)
    if chosen is None:
        return None
    loops = [x for x in (*pair.out.labels, *pair.summed) if x not in chosen]
    left, right, inner = ([x] if x is not None else [] for x in chosen)
    several = any(x in pair.summed for x in loops)
    if several:
        fill_with_zeros(r, result)

    def one(places: Sequence[Dim]) -> None:
        where = dict(zip(loops, places))
        first, second = r.read(pair.a.at(where, left + inner)), r.read(pair.b.at(where, inner + right))
        target = pair.out.at(where, left + right)
        if not several:
            fill_with_zeros(r, target)
        r.store(target, contract(r, first, second, r.read(target)))

    r.for_all([pair.sizes[x] for x in loops], one)
    return result


def merge_axes(r: Recorder, pair: ContractedPair) -> ContractedPair:
    """The pair with names of one kind collapsed where they are contiguous among themselves in both arrays that have
    them."""
    arrays = (pair.a, pair.b, pair.out)
    for kind in (pair.batch, pair.summed, pair.left, pair.right):
        for p, q in permutations(kind, 2):
            size = pair.sizes[q]
            if all(r.facts.equal(x.stride(p), mul(x.stride(q), size)) for x in arrays if p in x.labels):
                whole = mul(pair.sizes[p], size)
                a, b, out = (x.merged(p, q, whole) for x in arrays)
                return merge_axes(r, ContractedPair(a, b, out, {**pair.sizes, p: whole}))
    return pair


def choose_axes(r: Recorder, pair: ContractedPair) -> tuple[str | None, str | None, str] | None:
    """The axes of the matrices (left, right, summed): the largest such that the rows or columns of each matrix are
    contiguous, as BLAS requires."""

    def fits(x: Labelled, *names: str | None) -> bool:
        return None in names or any(x.stride(name) == 1 for name in names if name is not None)

    def work(names: Sequence[str | None]) -> int:
        return prod(typical(r, pair.sizes[name]) for name in names if name is not None)

    nothing: list[str | None] = [None]
    options = list(product(pair.left or nothing, pair.right or nothing, pair.summed))
    if len(options) == 1 and not pair.batch:
        return options[0]
    good = [(m, n, k) for m, n, k in options if fits(pair.a, m, k) and fits(pair.b, k, n) and fits(pair.out, m, n)]
    best = max(good, key=work, default=None)
    return best if best is not None and work(best) >= LEAST else None


def typical(r: Recorder, size: Dim) -> int:
    """The value of a size in the traced call, for choices that do not change results."""
    value = r.in_this_call(size)
    return 1000 if value is None else value
