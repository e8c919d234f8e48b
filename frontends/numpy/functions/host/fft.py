"""np.fft: transforms as host calls (pocketfft), and fftfreq as a loop; the others are NumPy's
own code (functions/formulas/as_written)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np

from tracebuf.frontends.numpy.arrays.axes import axis_of
from tracebuf.frontends.numpy.arrays.creation import indexed
from tracebuf.frontends.numpy.arrays.indexing import as_int, as_strict_int
from tracebuf.frontends.numpy.arrays.new_arrays import filled
from tracebuf.frontends.numpy.functions.host.calls import (
    Fresh,
    Given,
    HostEntry,
    Parts,
    Shape,
    Shapes,
    dims,
    in_type,
    moved,
    record,
    result_in_type,
)
from tracebuf.frontends.numpy.functions.host.kinds import has_known_place
from tracebuf.frontends.numpy.numbers.bodies import Body
from tracebuf.frontends.numpy.numbers.operands import scalar_value, supported, weak_type
from tracebuf.frontends.numpy.numbers.rules import apply_rule
from tracebuf.frontends.numpy.numbers.scalars import binary
from tracebuf.frontends.numpy.record.raises import Raises
from tracebuf.frontends.numpy.record.recorder import Recorder
from tracebuf.frontends.numpy.record.refusals import name_of
from tracebuf.frontends.numpy.record.registry import HANDLERS, traces
from tracebuf.frontends.numpy.record.values import ArrayRef, NpScalar, PyBool
from tracebuf.ir.core import Value
from tracebuf.ir.dims import Dim, add, floordiv, mul, sub
from tracebuf.ir.types import scalar_type
from tracebuf.ops.scalars import arith
from tracebuf.running.host import ByLoop, CoreLoop, HostFunction
from tracebuf.running.ufuncs import generalised

Size = Callable[[Dim], Dim]


def whole(n: Dim) -> Dim:
    return n


def half(n: Dim) -> Dim:
    """The number of terms in the transform of n real numbers."""
    return add(floordiv(n, 2), 1)


def double(n: Dim) -> Dim:
    """The number of real numbers that n terms stand for by default."""
    return mul(2, sub(n, 1))


def size_of(r: Recorder, given: Any, default: Dim) -> Dim:
    """The value of `n`, which has to be at least 1."""
    if given is None:
        n = default
    else:
        found = as_strict_int(r, given)
        if found is None:
            raise Raises(TypeError(f"'{name_of(given)}' object cannot be interpreted as an integer"))
        n = found
    r.require_nonneg(sub(n, 1), "ValueError", "Invalid number of FFT data points ({}) specified.", [n])
    return r.facts.canon(n)


def along(points: Size, terms: Size) -> Shapes:
    """Shapes for a transform of one axis: `points` is the default of `n`, `terms` the size of a transform of n."""

    def shapes(r: Recorder, given: Given) -> Sequence[Shape]:
        shape = list(dims(given["a"]))
        axis = axis_of(r, given.get("axis", -1), len(shape), bools=True)
        shape[axis] = terms(size_of(r, given.get("n"), points(shape[axis])))
        return [sure(r, given["a"], shape)]

    return shapes


def over(points: Size, terms: Size, default: tuple[int, ...] | None = None) -> Shapes:
    """Shapes for a transform of several axes, the last of which has a real transform's sizes."""

    def shapes(r: Recorder, given: Given) -> Sequence[Shape]:
        shape = list(dims(given["a"]))
        sizes, axes = given.get("s"), given.get("axes", default)
        if sizes is not None and not isinstance(sizes, (tuple, list)):
            raise r.refuse("`s` that is no tuple", "s=(n, m)")
        if axes is None:
            axes = range(-len(sizes), 0) if sizes is not None else range(len(shape))
        found = [axis_of(r, axis, len(shape), bools=True) for axis in axes]
        if sizes is not None and len(sizes) != len(found):
            raise Raises(ValueError("Shape and axes have different lengths."))
        last = len(found) - 1
        default_sizes = [points(shape[axis]) if k == last else shape[axis] for k, axis in enumerate(found)]
        order = range(len(found)) if points is double else range(last, -1, -1)  # as NumPy does one after another
        for k in order:
            n = size_of(r, None if sizes is None or sizes[k] == -1 else sizes[k], default_sizes[k])
            shape[found[k]] = terms(n) if k == last else n
        return [sure(r, given["a"], shape, len(found))]

    return shapes


def sure(r: Recorder, ref: ArrayRef, shape: Shape, steps: int = 1) -> Shape:
    """The shape; UnsupportedError where the order of the result's axes depends on the stride of an axis of size 1,
    which grows (a new axis has stride 0, but not after the first of several steps)."""
    grown = [axis for axis, n in enumerate(ref.shape) if n == 1 and shape[axis] != 1]
    several = len(shape) - list(shape).count(1) > 1
    if several and not all(has_known_place(ref, axis, steps == 1) for axis in grown):
        reason = "an axis of length 1 grows: the order of axes depends on its stride, which is not looked at"
        raise r.refuse(reason, "pass a copy: np.fft.fft(a.copy(), n)")
    return shape


def keeps_sizes(given: Given) -> bool:
    """Whether no size changes on the way, so that the function's own `out=` takes every step."""
    axes, ndim = given.get("axes"), len(dims(given["a"]))
    if not (ndim if axes is None else axes):  # nothing is transformed, and `out=` not looked at
        return False
    axes = axes or ()
    return given.get("s") is None and len({axis % ndim for axis in axes}) == len(axes)


# -- transforms that native code makes

UMATH = "numpy.fft._pocketfft_umath"
SWAPPED = {None: "forward", "backward": "forward", "ortho": "ortho", "forward": "backward"}
"""The norm of the direct transform that has the factor of the inverse one."""


def transform(name: str, inverse: bool = False, odd: str = "") -> Parts:
    """The transform of one axis by the ufunc of that name; `odd`: that of an odd number of points, where it differs."""

    def parts(r: Recorder, given: Given, fresh: Sequence[Fresh]) -> ArrayRef | None:
        a, axis, norm, n = given["a"], given.get("axis", -1), given.get("norm"), given.get("n")
        if not isinstance(a, ArrayRef) or type(axis) is not int or not -a.ndim <= axis < a.ndim or norm not in SWAPPED:
            return None
        ((element, shape, order),) = fresh
        axis %= a.ndim
        chosen, other, points = name, "", shape[axis]
        if odd:
            if n is not None:
                if (known := as_int(r, n)) is None or not isinstance(known, int) and known != a.shape[axis]:
                    return None
                points = known
            else:
                points = a.shape[axis]
            chosen, other = (name, odd) if not isinstance(points, int) else ((name, odd)[points % 2], "")
        factor = factor_of(r, SWAPPED[norm] if inverse else norm, points, a.dtype)
        ufunc = generalised(UMATH, chosen)
        if ufunc is None or factor is None:
            return None
        types = loop_types(ufunc, a.dtype, factor.element.dtype if isinstance(factor, NpScalar) else int, element.dtype)
        if types is None:
            return None
        source, scale, result = (scalar_type(np.dtype(c)) for c in (types[0], types[1], types[-1]))
        widens = source.is_complex and a.dtype.char in "fd" and a.shape[axis] == shape[axis]
        source = a.element if widens else source
        loop = CoreLoop(UMATH, chosen, types, str(ufunc.signature), False, other, widens)
        ins = [r.read(moved(in_type(r, a, source), axis)), scalar_value(r, factor, scale)]
        out = filled(r, shape, result, None, order)
        record(r, HostFunction(f"numpy.fft.{chosen}", ByLoop(loop, None), loop=loop), ins, [], [moved(out, axis)], [0])
        return result_in_type(r, out, element)

    return parts


def factor_of(r: Recorder, norm: str | None, points: Dim, dtype: np.dtype) -> NpScalar | int | None:
    """What the terms are multiplied by, as NumPy computes it: in the precision of the array."""
    if norm in (None, "backward"):
        return 1
    real = np.result_type(dtype.type(0).real, 1.0)
    if real.char not in "fd":
        return None
    element, body = scalar_type(real), Body(r.frame.block, r.loc)
    n = body.cast(r.i64(points), element)
    if norm == "ortho":
        n = apply_rule(np.sqrt, body, [n], (real,) * 2)
    return NpScalar(apply_rule(np.reciprocal, body, [n], (real,) * 2), element)


@cache
def loop_types(ufunc: np.ufunc, source: np.dtype, factor: np.dtype | type, result: np.dtype) -> str | None:
    """The types of the loop that NumPy takes for an array, a factor and a result of these dtypes."""
    try:
        found = ufunc.resolve_dtypes((source, factor, result))
    except (AttributeError, TypeError):
        return None
    types = "".join(d.char for d in found)
    types = f"{types[:2]}->{types[2]}"
    return types if types in ufunc.types and set(types) <= set("fdFD->") else None


def axis_by_axis(first: Any, then: Any, default: tuple[int, ...] | None = None) -> Parts:
    """The transform of several axes as NumPy makes it, one after another from the last: `first`, then `then` for the
    others; where `first` is the transform to real numbers, it comes last, after the others in order."""
    to_real = first is fft.irfft  # asked now: somebody may replace NumPy's functions later

    def parts(r: Recorder, given: Given, fresh: Sequence[Fresh]) -> Any:
        a, s, axes = given["a"], given.get("s"), given.get("axes", default)
        if not isinstance(a, ArrayRef) or (s is not None and axes is None):
            return None
        axes = range(-a.ndim, 0) if axes is None else axes
        if not axes or not all(type(axis) is int for axis in axes):
            return None
        if s is not None and not all(type(n) is int for n in s):
            return None
        sizes = [None if n == -1 else n for n in s] if s is not None else [None] * len(axes)
        *steps, last = [(then, n, axis) for n, axis in zip(sizes, axes, strict=True)]
        last = (first, *last[1:])
        for function, n, axis in [*steps, last] if to_real else [last, *steps[::-1]]:
            a = HANDLERS[function](r, a, n, axis, given.get("norm"))
        return a

    return parts


fft = np.fft
PARTS: dict[Any, Parts] = {
    fft.fft: transform("fft"), fft.ifft: transform("ifft", inverse=True), fft.irfft: transform("irfft", inverse=True),
    fft.rfft: transform("rfft_n_even", odd="rfft_n_odd"),
    fft.fft2: axis_by_axis(fft.fft, fft.fft, (-2, -1)), fft.fftn: axis_by_axis(fft.fft, fft.fft),
    fft.ifft2: axis_by_axis(fft.ifft, fft.ifft, (-2, -1)), fft.ifftn: axis_by_axis(fft.ifft, fft.ifft),
    fft.rfft2: axis_by_axis(fft.rfft, fft.fft, (-2, -1)), fft.rfftn: axis_by_axis(fft.rfft, fft.fft),
    fft.irfft2: axis_by_axis(fft.irfft, fft.ifft, (-2, -1)), fft.irfftn: axis_by_axis(fft.irfft, fft.ifft),
}  # fmt: skip
"""By NumPy's function: how native code makes it."""
ENTRIES: tuple[HostEntry, ...] = tuple(
    HostEntry(f, ("a",), shapes, ("n", "s"), {"n": None, "s": None}, keeps_sizes, parts=PARTS.get(f))
    for f, shapes in (
        (fft.fft, along(whole, whole)), (fft.ifft, along(whole, whole)), (fft.rfft, along(whole, half)),
        (fft.irfft, along(double, whole)),
        (fft.fft2, over(whole, whole, (-2, -1))), (fft.ifft2, over(whole, whole, (-2, -1))),
        (fft.rfft2, over(whole, half, (-2, -1))), (fft.irfft2, over(double, whole, (-2, -1))),
        (fft.fftn, over(whole, whole)), (fft.ifftn, over(whole, whole)), (fft.rfftn, over(whole, half)),
        (fft.irfftn, over(double, whole)),
    )
)  # fmt: skip
"""The functions that run on the host."""
for entry in ENTRIES:
    traces(entry.function)(entry)


# -- frequencies


def frequencies(r: Recorder, size: Dim, positive: Dim, n: Any, d: Any) -> ArrayRef:
    """i / (n * d) for the first `positive`, then (i - n) / (n * d), as NumPy multiplies by the reciprocal."""
    step = binary(r, "Div", 1.0, binary(r, "Mult", n, d))
    dtype = np.result_type(np.int64, weak_type(step)) if not isinstance(weak_type(step), type) else np.dtype(float)
    element = supported(dtype, "the frequencies", r.loc)
    scalars = [scalar_value(r, step, element), r.i64(positive), r.i64(size)]

    def compute(body: Body, place: list[Value], ends: list[Value]) -> Value:
        factor, first, whole_size = ends
        lower = body.add(arith.CmpI.of("slt", place[0], first))
        wrapped = body.add(arith.SubI.of(place[0], whole_size))
        i = body.add(arith.Select.of(lower, place[0], wrapped))
        return apply_rule(np.multiply, body, [body.cast(i, element), factor], (element.dtype,) * 3)

    return indexed(r, (size,), element, scalars, compute)


@traces(fft.fftfreq)
def fftfreq(r: Recorder, n: Any, d: Any = 1.0) -> ArrayRef:
    size = count_of(r, n)
    return frequencies(r, size, floordiv(add(size, 1), 2), n, d)


@traces(fft.rfftfreq)
def rfftfreq(r: Recorder, n: Any, d: Any = 1.0) -> ArrayRef:
    size = half(count_of(r, n))
    return frequencies(r, size, size, n, d)


def count_of(r: Recorder, n: Any) -> Dim:
    if isinstance(n, (bool, PyBool)):
        raise Raises(TypeError(f"expected a sequence of integers or a single integer, got '{n}'"))
    size = as_int(r, n)
    if size is None:
        raise Raises(ValueError("n should be an integer"))
    r.require_nonneg(size, "ValueError", "negative dimensions are not allowed")
    return size
