"""Calls of ufuncs with their optional parameters, and of their methods (`np.add.reduce`, `np.multiply.outer` ...)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tracebuf.errors import UnsupportedError
from tracebuf.frontends.numpy import rewrites
from tracebuf.frontends.numpy.fresh import as_array, only
from tracebuf.frontends.numpy.products import matmul
from tracebuf.frontends.numpy.pycomplex import scalar_product
from tracebuf.frontends.numpy.recorder import Recorder
from tracebuf.frontends.numpy.reductions import NO_VALUE, axis_of, reduce
from tracebuf.frontends.numpy.running import accumulate
from tracebuf.frontends.numpy.ufuncs import elementwise, is_operand, loop_dtypes, mask_of, out_of, weak_type
from tracebuf.frontends.numpy.values import ArrayRef, is_traced, storages_of


def call_ufunc(r: Recorder, ufunc: np.ufunc, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """`ufunc(*args, out=, where=, dtype=)`; other parameters only with what they are by default."""
    out = kwargs.get("out")
    given = [*args, *(out if isinstance(out, tuple) else (out,)), kwargs.get("where")]
    if not any(is_traced(a) for a in given):
        return ufunc(*args, **kwargs)
    if not ufunc.nin <= len(args) <= ufunc.nargs:
        takes = f"takes from {ufunc.nin} to {ufunc.nargs} positional arguments but {len(args)} were given"
        raise TypeError(f"{ufunc.__name__}() {takes}")
    rest = {k: v for k, v in kwargs.items() if k not in ("out", "where", "dtype")}
    known = {"casting": "same_kind", "order": "K", "subok": True}
    only(r, f"np.{ufunc.__name__}", **{k: (v, known.get(k)) for k, v in rest.items()})
    if len(args) > ufunc.nin and out is not None:
        raise TypeError("cannot specify 'out' as both a positional and keyword argument")
    for x in args[: ufunc.nin]:
        if not is_operand(x):
            reason = f"a {rewrites.name_of(x)} as an operand of np.{ufunc.__name__}"
            raise UnsupportedError(reason, location=r.loc, instead="use arrays: np.array(x)")
    into = out_of(r, args[ufunc.nin] if len(args) > ufunc.nin else out)
    mask = mask_of(r, kwargs.get("where", True))
    wanted = None if kwargs.get("dtype") is None else np.dtype(kwargs["dtype"])
    if ufunc is np.matmul:
        only(r, "np.matmul", where=(mask, None), dtype=(wanted, None))
        return matmul(r, args[0], args[1], "matmul", into)
    if ufunc is np.square and into is None and not isinstance(args[0], ArrayRef):  # of scalars it is not fused
        made = scalar_product(r, args[0], args[0])
        if made is not None:
            return made
    if mask is not None and (into is None or ufunc is np.power):
        reason = "`where=` without `out=` leaves elements undefined" if into is None else "np.power with `where=`"
        raise UnsupportedError(reason, location=r.loc, instead="np.where(c, f(a), b)")
    if mask is not None and into is not None:
        check_masked_overlap(r, ufunc, [*args[: ufunc.nin], mask], into)
    return elementwise(r, ufunc, list(args[: ufunc.nin]), into, mask, wanted, called=True)


def check_masked_overlap(r: Recorder, ufunc: np.ufunc, read: Sequence[Any], out: ArrayRef) -> None:
    """Refuses `where=` into an `out=` that the operands overlap, if the result is converted: NumPy then converts the
    elements that are not selected too (seen in NumPy 2.4.6)."""
    other = [x for x in read if isinstance(x, ArrayRef) and not x.same(out)]
    shared = any(s in storages_of(out) for x in other for s in storages_of(x))
    if shared and loop_dtypes(ufunc, tuple(weak_type(x) for x in read[: ufunc.nin]), None)[-1] != out.dtype:
        raise UnsupportedError(
            f"np.{ufunc.__name__} with `where=` converts its result into an array that it also reads",
            location=r.loc,
            instead="read a copy: f(a.copy(), out=a, where=c)",
        )


def call_method(r: Recorder, ufunc: np.ufunc, name: str, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """`ufunc.reduce`, `ufunc.accumulate` and `ufunc.outer`."""
    if name not in METHODS or ufunc.signature is not None:
        what = f"np.{ufunc.__name__}.{name} is not supported"
        raise UnsupportedError(what, location=r.loc, instead="a for loop over the elements")
    return METHODS[name](r, ufunc, *args, **kwargs)


def method_reduce(
    r: Recorder,
    ufunc: np.ufunc,
    array: Any,
    axis: Any = 0,
    dtype: Any = None,
    out: Any = None,
    keepdims: Any = False,
    initial: Any = NO_VALUE,
    where: Any = True,
) -> Any:
    return reduce(r, ufunc, as_array(r, array), axis, dtype, out_of(r, out), keepdims, initial, where)


def method_accumulate(
    r: Recorder, ufunc: np.ufunc, array: Any, axis: Any = 0, dtype: Any = None, out: Any = None
) -> Any:
    ref = as_array(r, array)
    if not ref.ndim:
        raise TypeError("cannot accumulate on a scalar")
    return accumulate(r, ufunc, ref, axis_of(r, axis, ref.ndim), dtype, out_of(r, out))


def method_outer(r: Recorder, ufunc: np.ufunc, a: Any, b: Any, **kwargs: Any) -> Any:
    """ufunc of each element of `a` with each of `b`."""
    if isinstance(b, ArrayRef):
        a = as_array(r, a)
        for _ in range(b.ndim):
            a = a.derive(lambda view: view.new_axis(len(view.dims)))
    return call_ufunc(r, ufunc, [a, b], kwargs)


METHODS: dict[str, Callable[..., Any]] = {
    "reduce": method_reduce, "accumulate": method_accumulate, "outer": method_outer
}  # fmt: skip
