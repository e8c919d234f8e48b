"""np.correlate and np.convolve (formulas/products): sums of products with a sliding window.

Where the window is inside of the longer array, results are computed in tiles that stay in the L1 cache: a few taps at a
time, each multiplied by a slice (numpy/_core/src/multiarray/multiarraymodule.c, `_pyarray_correlate`, computes a dot
product for each result). Where it is partly outside, each result is a dot product.
"""

from __future__ import annotations

from functools import reduce
from operator import methodcaller
from typing import Any

import numpy as np

from tracebuf.frontends.numpy.arrays.new_arrays import as_array, copy_of
from tracebuf.frontends.numpy.functions.products.matmul import contract, zeros
from tracebuf.frontends.numpy.numbers.bodies import Body
from tracebuf.frontends.numpy.numbers.generics import build
from tracebuf.frontends.numpy.numbers.operands import supported
from tracebuf.frontends.numpy.numbers.rules import apply_rule
from tracebuf.frontends.numpy.record.raises import Raises, ask
from tracebuf.frontends.numpy.record.recorder import Recorder
from tracebuf.frontends.numpy.record.registry import primitive
from tracebuf.frontends.numpy.record.values import ArrayRef, NpScalar, PyInt
from tracebuf.ir.core import Value
from tracebuf.ir.dims import Dim, add, dim_min, floordiv, mul, sub
from tracebuf.ir.types import F16, F32, ScalarType

TILE = 1024
"""The number of results in a tile."""
TAPS = (4, 2, 1)
"""How many taps are applied at a time, as long as that many are left: a result is loaded and stored once for all of
them."""
ONE = np.ones(1)
MODES = {"valid": 0, "same": 1, "full": 2}
"""By `mode=`: NumPy's number for it."""


@primitive
def convolved(r: Recorder, longer: ArrayRef, shorter: ArrayRef, mode: Any) -> ArrayRef:
    """np.correlate with `shorter` reversed, without conjugation."""
    return slide(r, longer, backwards(shorter), mode)


@primitive
def vector(r: Recorder, x: Any, name: str = "first or second array argument", one: bool = False) -> Any:
    """An argument as a vector that is not empty; with `one`, a number is a vector of one element."""
    ref = as_array(r, x)
    if one and not ref.ndim:
        ref = ref.derive(methodcaller("new_axis", 0))
    if ref.ndim != 1:
        raise Raises(ValueError(f"object {'too deep' if ref.ndim else 'of too small depth'} for desired array"))
    r.require_nonneg(sub(ref.shape[0], 1), "ValueError", f"{name} cannot be empty")
    return ref


@primitive
def at_least_as_long(r: Recorder, a: ArrayRef, b: ArrayRef) -> Any:
    """Whether a vector is at least as long as another; None where only the run tells."""
    return r.ask_nonneg(sub(a.shape[0], b.shape[0]))


def backwards(ref: ArrayRef) -> ArrayRef:
    """The reversed vector, as a view."""
    return ref.derive(methodcaller("narrow", 0, sub(ref.shape[0], 1), -1, ref.shape[0]))


def part(ref: ArrayRef, start: Dim, size: Dim) -> ArrayRef:
    """The view of `size` elements from `start`."""
    return ref.derive(methodcaller("narrow", 0, start, 1, size))


def mode_of(r: Recorder, mode: Any) -> int:
    """The mode as NumPy reads it: a word, by its first letter, or a number."""
    mode = r.static_int(mode.expr, "`mode`") if isinstance(mode, PyInt) else mode
    ask(np.correlate, ONE, ONE, mode)
    return int(mode) if isinstance(mode, int) else next(k for word, k in MODES.items() if str(mode)[:1] == word[0])


def slide(r: Recorder, a: ArrayRef, v: ArrayRef, mode: Any, in_reverse: bool = False) -> ArrayRef:
    """The sums of products of `v` at all offsets along `a`, which is at least as long."""
    kind, (n,), (m,) = mode_of(r, mode), a.shape, v.shape
    left: Dim = (0, floordiv(m, 2), sub(m, 1))[kind]
    right: Dim = (0, sub(sub(m, 1), left), sub(m, 1))[kind]
    inside = add(sub(n, m), 1)
    wanted = supported(np.result_type(a.dtype, v.dtype), "this product", r.loc)
    element = F32 if wanted is F16 else wanted
    shape = (r.facts.canon(add(add(left, inside), right)),)
    result = ArrayRef(r.new_storage(element, shape, (0,), zeros(r, element, shape)))
    out = backwards(result) if in_reverse else result
    a, v = (dense(r, x, element) for x in (a, v))

    def before(k: Dim) -> None:
        size = add(sub(m, left), k)
        edge(r, out.at({0: k}), part(a, 0, size), part(v, sub(left, k), size))

    def behind(k: Dim) -> None:
        size = sub(sub(m, 1), k)
        edge(r, out.at({0: add(add(left, inside), k)}), part(a, add(inside, k), size), part(v, 0, size))

    if kind:
        r.for_each(0, left, before)
    in_tiles(r, part(out, left, inside), a, v)
    if kind:
        r.for_each(0, right, behind)
    return result if element is wanted else copy_of(r, result, wanted, (0,))


correlated: Any = primitive(slide)


def dense(r: Recorder, ref: ArrayRef, element: ScalarType) -> ArrayRef:
    """The array in an element type, contiguous, as BLAS requires. NumPy copies in the same cases."""
    if ref.element is element and ref.strides == (1,):
        return ref
    return copy_of(r, ref, element, (0,))


def edge(r: Recorder, target: ArrayRef, a: ArrayRef, v: ArrayRef) -> None:
    """One result near an end, from as many elements as are inside."""
    r.store(target, contract(r, r.read(a), r.read(v), r.read(target)))


def in_tiles(r: Recorder, out: ArrayRef, a: ArrayRef, v: ArrayRef) -> None:
    """Adds to out[k] the sum over j of a[k + j] * v[j], tile by tile."""
    (n,), (m,), element = out.shape, v.shape, out.element

    def tile(t: Dim) -> None:
        start = mul(t, TILE)
        size = r.facts.simplify(dim_min(TILE, sub(n, start)))
        target = part(out, start, size)

        def taps(first: Dim, count: int) -> None:
            places = [add(first, j) for j in range(count)]
            scalars = [NpScalar(r.load(v, (j,)), element) for j in places]
            slices = [part(a, add(start, j), size) for j in places]
            operands = [target, *(x for pair in zip(slices, scalars) for x in pair)]
            build(r, multiply_add, operands, [element] * len(operands), element, target)

        done: Dim = 0
        for count in TAPS:
            last = mul(floordiv(m, count), count)
            r.for_each(floordiv(done, count), floordiv(m, count), lambda q, c=count: taps(mul(q, c), c))  # type: ignore[misc]
            done = last

    r.for_each(0, floordiv(add(n, TILE - 1), TILE), tile)


def multiply_add(body: Body, args: list[Value]) -> Value:
    """The body args[0] + args[1] * args[2] + args[3] * args[4] ...."""
    loop = (args[0].type.dtype,) * 3  # type: ignore[union-attr]
    terms = [apply_rule(np.multiply, body, list(args[k : k + 2]), loop) for k in range(1, len(args), 2)]
    return reduce(lambda x, y: apply_rule(np.add, body, [x, y], loop), [*terms[1:], args[0]], terms[0])
