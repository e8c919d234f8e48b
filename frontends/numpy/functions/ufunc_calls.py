"""Calls of ufuncs with their optional parameters (`out=`, `where=`, `dtype=` ...), and of their methods
(`np.add.reduce` ...)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tracebuf.frontends.numpy.arrays.axes import axis_of
from tracebuf.frontends.numpy.arrays.new_arrays import array_of, as_array, filled, only, strong
from tracebuf.frontends.numpy.arrays.reshape import order_of
from tracebuf.frontends.numpy.functions.host.jitted import call_elementwise
from tracebuf.frontends.numpy.functions.products.vectors import GENERALISED, generalised, moved_last
from tracebuf.frontends.numpy.functions.reductions.ordered import reduce_any, reduceat
from tracebuf.frontends.numpy.functions.reductions.reduce import NO_VALUE, Fold
from tracebuf.frontends.numpy.functions.reductions.running import accumulate
from tracebuf.frontends.numpy.numbers.operands import is_operand, loop_dtypes, mask_of, out_of, supported, weak_type
from tracebuf.frontends.numpy.numbers.python_complex import scalar_product
from tracebuf.frontends.numpy.numbers.special import OPERANDS, check_special_mask
from tracebuf.frontends.numpy.numbers.two_results import outs_of
from tracebuf.frontends.numpy.numbers.ufuncs import elementwise_all
from tracebuf.frontends.numpy.record import refusals
from tracebuf.frontends.numpy.record.broadcasting import broadcast
from tracebuf.frontends.numpy.record.raises import Raises, ask, call_handler
from tracebuf.frontends.numpy.record.recorder import Recorder
from tracebuf.frontends.numpy.record.values import ArrayRef, is_traced, storages_of
from tracebuf.running import jitted
from tracebuf.running.ufuncs import note_made

CASTINGS = ("no", "equiv", "safe", "same_kind", "unsafe")
"""NumPy's casting rules."""


PARAMETERS = ("sig", "signature", "subok")
"""Parameters of ufuncs that are taken with their defaults only."""
AXES = ("axes", "axis", "keepdims")
"""Such parameters of generalised ufuncs alone."""


def call_ufunc(r: Recorder, ufunc: np.ufunc, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """`ufunc(*args, out=, where=, dtype=, casting=, order=)`; other parameters only with their defaults."""
    out, name = kwargs.get("out"), ufunc.__name__
    given = [*args, *(out if isinstance(out, tuple) else (out,)), kwargs.get("where")]
    if not any(is_traced(a) or isinstance(a, (list, tuple)) for a in given):
        return ask(ufunc, *args, **kwargs)
    if not ufunc.nin <= len(args) <= ufunc.nargs:
        takes = f"takes from {ufunc.nin} to {ufunc.nargs} positional arguments but {len(args)} "
        takes += "was given" if len(args) == 1 else "were given"
        raise Raises(TypeError(f"{name}() {takes}"))
    rest = {k: v for k, v in kwargs.items() if k not in ("out", "where", "dtype", "casting", "order")}
    core = ufunc.signature is not None
    strange = [k for k in rest if k not in (*PARAMETERS, *(AXES if core else ()))]
    if strange or (core and "where" in kwargs):
        raise Raises(TypeError(f"{name}() got an unexpected keyword argument '{(*strange, 'where')[0]}'"))
    if nothing := [k for k, v in rest.items() if v is None and k != "subok"]:
        raise Raises(TypeError(f"{name}() takes no None for {nothing[0]}"))
    layout = order_of(kwargs.get("order", "K"), "CFAK")
    only(r, f"np.{name}", order=("A" if layout == "A" else "K", "K"))
    along = rest.pop("axis", None) if ufunc is np.vecdot and "axes" not in rest else None
    only(r, f"np.{name}", **{k: (v, {"subok": True}.get(k)) for k, v in rest.items()})
    if len(args) > ufunc.nin and out is not None:
        raise Raises(TypeError("cannot specify 'out' as both a positional and keyword argument"))
    operands = [operand_of(r, x, name) for x in args[: ufunc.nin]]
    given_outs = args[ufunc.nin :]
    outs = outs_of(ufunc, given_outs, out) if ufunc.nout == 2 else [out_of(r, given_outs[0] if given_outs else out)]
    for x in outs:  # before anything else is looked at
        if x is not None:
            r.check_writable(x, "output array")
    mask = mask_of(r, kwargs.get("where", True))
    casting, wanted = kwargs.get("casting", "same_kind"), kwargs.get("dtype")
    if casting not in CASTINGS:
        raise Raises(ValueError(f"casting must be one of {', '.join(map(repr, CASTINGS))} (got {casting!r})"))
    wanted = None if wanted is None else ask(np.dtype, wanted)
    if along is not None:
        operands = moved_last(r, operands, along)
    if ufunc in GENERALISED:
        only(r, f"np.{name}", where=(mask, None), order=(layout, "K"))
        return generalised(r, ufunc, operands, outs[0], wanted, casting)
    if layout != "K" and mask is None:
        outs = laid_out(r, ufunc, operands, outs, wanted, casting, layout)
    if ufunc.nout == 2 and all(outs) and any(s in storages_of(outs[1]) for s in storages_of(outs[0])):  # type: ignore[arg-type]
        raise r.refuse(f"both results of np.{name} in one array", "use two")
    if ufunc is np.square and outs[0] is None and not isinstance(operands[0], ArrayRef):  # of scalars it is not fused
        made = scalar_product(r, operands[0], operands[0])
        if made is not None:
            return made
    check_special_mask(r, ufunc, mask)
    check_mask(r, ufunc, operands, mask, outs)
    results = elementwise_all(r, ufunc, operands, outs, mask, wanted, casting, called=True)
    return results[0] if ufunc.nout == 1 else tuple(results)


def call_vectorized(
    r: Recorder, function: Any, args: Sequence[Any], kwargs: dict[str, Any], outer: bool = False
) -> Any:
    """A call of a ufunc that `numba.vectorize` has made, or of its `outer`: of its loops, one of which is compiled
    where none fits."""
    ufunc, name = function.ufunc, function.__name__
    if ufunc.nargs > OPERANDS:
        raise r.refuse(f"{name}, which takes {ufunc.nin} operands", f"a function of at most {OPERANDS - ufunc.nout}")
    if len(args) >= ufunc.nin and kwargs.get("dtype") is None:
        kinds = tuple([weak_type(operand_of(r, x, name)) for x in args[: ufunc.nin]])
        try:
            loop_dtypes(ufunc, kinds)
        except Raises as said:
            if function._frozen or not isinstance(said.error, TypeError):
                raise
            ask(jitted.compile_loop, function, [np.dtype(k) for k in kinds])
            loop_dtypes.cache_clear()
    if jitted.may_raise(function):
        if outer:
            raise r.refuse(f"{name}.outer, a function of numba.vectorize that may raise", "f(a[:, None], b)")
        return call_elementwise(r, function, [operand_of(r, x, name) for x in args], kwargs)
    note_made(ufunc, name)
    return call_method(r, ufunc, "outer", args, kwargs) if outer else call_ufunc(r, ufunc, args, kwargs)


def laid_out(
    r: Recorder, ufunc: np.ufunc, operands: Sequence[Any], outs: list[ArrayRef | None], wanted: np.dtype | None,
    casting: Any, layout: str,
) -> list[ArrayRef | None]:  # fmt: skip
    """New arrays in C order ("C") or Fortran order ("F") for the results that have no `out=`."""
    shape = broadcast(r, [x.shape for x in (*operands, *outs) if isinstance(x, ArrayRef)])
    if not shape:
        return outs
    dtypes = loop_dtypes(ufunc, tuple(weak_type(x) for x in operands), wanted, casting)[ufunc.nin :]
    order = range(len(shape)) if layout == "C" else range(len(shape))[::-1]
    elements = [supported(d, f"np.{ufunc.__name__} of these operands", r.loc) for d in dtypes]
    return [filled(r, shape, t, None, order) if x is None else x for x, t in zip(outs, elements)]


def operand_of(r: Recorder, x: Any, name: str) -> Any:
    """An operand as it is; a list or tuple as an array."""
    if isinstance(x, (list, tuple)):
        return array_of(r, x, None)
    if not is_operand(x):
        raise r.refuse(f"a {refusals.name_of(x)} as an operand of np.{name}", "use arrays: np.array(x)")
    return x


def check_mask(
    r: Recorder, ufunc: np.ufunc, operands: Sequence[Any], mask: Any, outs: Sequence[ArrayRef | None]
) -> None:
    """Refuses `where=` where eager leaves elements undefined, or converts elements that it does not compute."""
    if mask is None:
        return
    if None in outs:
        raise r.refuse("`where=` without `out=` leaves elements undefined", "np.where(c, f(a), b)")
    for out in outs:
        if out is not None:
            check_masked_overlap(r, ufunc, [*operands, mask], out)


def check_masked_overlap(r: Recorder, ufunc: np.ufunc, read: Sequence[Any], out: ArrayRef) -> None:
    """Refuses `where=` into an `out=` that may alias the operands, if the result is converted: NumPy then also converts
    the elements that are not selected (seen in NumPy 2.4.6)."""
    other = [x for x in read if isinstance(x, ArrayRef) and not x.same(out)]
    shared = any(s in storages_of(out) for x in other for s in storages_of(x))
    results = loop_dtypes(ufunc, tuple(weak_type(x) for x in read[: ufunc.nin]), None)[ufunc.nin :]
    if shared and any(d != out.dtype for d in results):
        raise r.refuse(
            f"np.{ufunc.__name__} with `where=` converts its result into an array that it also reads",
            "read a copy: f(a.copy(), out=a, where=c)",
        )


def call_method(r: Recorder, ufunc: np.ufunc, name: str, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """`ufunc.reduce`, `ufunc.accumulate`, `ufunc.reduceat` or `ufunc.outer`; raises NumPy's errors where a ufunc has
    none."""
    if name not in METHODS:
        raise r.refuse(f"np.{ufunc.__name__}.{name} is not supported", "a for loop over the elements")
    if ufunc.signature is not None:
        raise Raises(RuntimeError("Reduction is not defined on ufunc's with signatures"))
    if ufunc.nin != 2:
        raise Raises(ValueError(f"{'outer product' if name == 'outer' else name} only supported for binary functions"))
    if ufunc.nout != 1 and name != "outer":
        raise Raises(ValueError(f"{name} only supported for functions returning a single value"))
    return call_handler(METHODS[name], r, ufunc, *args, **kwargs)


def writable_out(r: Recorder, out: Any) -> ArrayRef | None:
    """The `out=` of a method, checked before dtypes are."""
    into = out_of(r, out)
    if into is not None:
        r.check_writable(into)
    return into


def method_reduce(
    r: Recorder, ufunc: np.ufunc, array: Any, axis: Any = 0, dtype: Any = None, out: Any = None,
    keepdims: Any = False, initial: Any = NO_VALUE, where: Any = True,
) -> Any:  # fmt: skip
    """ufunc.reduce(...)."""
    ref = as_array(r, operand_of(r, array, ufunc.__name__))
    return reduce_any(r, ufunc, ref, Fold(axis, dtype, writable_out(r, out), keepdims, initial, where))


def method_accumulate(
    r: Recorder, ufunc: np.ufunc, array: Any, axis: Any = 0, dtype: Any = None, out: Any = None
) -> Any:
    """ufunc.accumulate(...)."""
    ref = as_array(r, operand_of(r, array, ufunc.__name__))
    if not ref.ndim:
        raise Raises(TypeError("cannot accumulate on a scalar"))
    return accumulate(r, ufunc, ref, axis_of(r, axis, ref.ndim), dtype, writable_out(r, out))


def method_reduceat(
    r: Recorder, ufunc: np.ufunc, array: Any, indices: Any, axis: Any = 0, dtype: Any = None, out: Any = None
) -> Any:
    """ufunc.reduceat(...)."""
    ref = as_array(r, operand_of(r, array, ufunc.__name__))
    places = array_of(r, indices, np.intp) if isinstance(indices, (list, tuple)) else as_array(r, indices)
    if not ref.ndim:
        raise Raises(TypeError("cannot reduceat on a scalar"))
    return reduceat(r, ufunc, ref, places, axis_of(r, axis, ref.ndim), dtype, writable_out(r, out))


def method_outer(r: Recorder, ufunc: np.ufunc, a: Any, b: Any, **kwargs: Any) -> Any:
    """ufunc.outer: the ufunc of each element of `a` with each of `b`."""
    a, b = (strong(r, operand_of(r, x, ufunc.__name__)) for x in (a, b))
    if isinstance(b, ArrayRef) and b.ndim:
        a = as_array(r, a)
        for _ in range(b.ndim):
            a = a.derive(lambda view: view.new_axis(len(view.dims)))
    return call_ufunc(r, ufunc, [a, b], kwargs)


METHODS: dict[str, Callable[..., Any]] = {
    "reduce": method_reduce, "accumulate": method_accumulate, "reduceat": method_reduceat, "outer": method_outer
}  # fmt: skip
"""By name of the ufunc method: its handler, whose first argument after the recorder is the ufunc."""
