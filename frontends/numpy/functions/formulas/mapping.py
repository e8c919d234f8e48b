"""Formulas that apply the caller's functions along axes and to elements (numpy/lib/_shape_base_impl.py and
_function_base_impl.py)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from tracebuf.frontends.numpy.functions.formulas.primitives import dtype_of, fresh_as
from tracebuf.frontends.numpy.record.registry import formula


@formula(np.apply_along_axis)
def apply_along_axis(func1d: Any, axis: Any, arr: Any, *args: Any, **kwargs: Any) -> Any:
    arr = np.asarray(arr)
    axis = normalize_axis_index(axis, arr.ndim)
    lines = np.moveaxis(arr, axis, -1)
    if math.prod(lines.shape[:-1]) == 0:
        raise ValueError("Cannot apply_along_axis when any iteration dimensions are 0")
    first = np.asanyarray(func1d(lines[(0,) * (arr.ndim - 1) + (...,)], *args, **kwargs))
    made = np.zeros(lines.shape[:-1] + first.shape, first.dtype)
    along_each(func1d, lines, made, (), args, kwargs)
    n, k = made.ndim, made.ndim - first.ndim
    order = [*range(axis), *range(k, n), *range(axis, k)]
    return made.transpose(order)


def along_each(func1d: Any, lines: Any, made: Any, place: Any, args: Any, kwargs: Any) -> None:
    """Computes the results for the vectors whose indices begin with `place`."""
    if len(place) == lines.ndim - 1:
        made[place + (...,)] = np.asanyarray(func1d(lines[place + (...,)], *args, **kwargs))
        return
    for k in range(lines.shape[len(place)]):
        along_each(func1d, lines, made, place + (k,), args, kwargs)


@formula()
def vectorized(pyfunc: Any, otypes: Any, cache: Any, excluded: Any, cores: Any, *args: Any, **kwargs: Any) -> Any:
    """np.vectorize(pyfunc, otypes, excluded=excluded, cache=cache)(*args, **kwargs): each element by itself, as a
    Python number. `cores`: the core dimensions of the operands and of the results in a signature."""
    if kwargs or excluded:
        names = [n for n in kwargs if n not in excluded]
        places = [k for k in range(len(args)) if k not in excluded]
        whole, named = args, kwargs

        def function(*given: Any) -> Any:
            positional = [given[places.index(k)] if k in places else whole[k] for k in range(len(whole))]
            by_name = {n: given[len(places) + names.index(n)] if n in names else named[n] for n in named}
            return pyfunc(*positional, **by_name)

        args = (*[args[k] for k in places], *[kwargs[n] for n in names])
    else:
        function = pyfunc
    return of_elements(function, otypes, cache, args) if cores is None else of_cores(function, otypes, cores, args)


def of_elements(pyfunc: Any, otypes: Any, cache: Any, args: Any) -> Any:
    arrays = np.broadcast_arrays(*args)
    sample = None
    if otypes is None:
        if arrays[0].size == 0:
            raise ValueError("cannot call `vectorize` on size 0 inputs unless `otypes` is set")
        sample = pyfunc(*[x[(0,) * x.ndim] for x in arrays])
        kinds = [dtype_of(x) for x in sample] if isinstance(sample, tuple) else [dtype_of(sample)]
    else:
        kinds = [np.dtype(x) for x in otypes]
    made = [fresh_as(arrays, d) for d in kinds]
    if cache and otypes is None:
        put(made, (0,) * made[0].ndim, sample)
        for_each_element(pyfunc, arrays, made, (), True)
    else:
        for_each_element(pyfunc, arrays, made, (), False)
    return tuple(made) if len(made) > 1 else made[0]


def put(made: Any, place: Any, found: Any) -> None:
    """Stores what a function gives for a place."""
    if len(made) == 1:
        made[0][place] = found
    else:
        for k, x in enumerate(found):
            made[k][place] = x


def for_each_element(pyfunc: Any, arrays: Any, made: Any, place: Any, but_first: Any) -> None:
    """Computes the results for the elements whose indices begin with `place`; that of the first may be there."""
    if len(place) == made[0].ndim:
        if not but_first or sum(place) > 0:
            put(made, place, pyfunc(*[x[place].item() for x in arrays]))
        return
    for k in range(made[0].shape[len(place)]):
        for_each_element(pyfunc, arrays, made, place + (k,), but_first)


def of_cores(pyfunc: Any, otypes: Any, cores: Any, args: Any) -> Any:
    """Parts of the operands, by a signature (`_vectorize_call_with_signature`)."""
    inner, outer = cores
    if len(args) != len(inner):
        raise TypeError(f"wrong number of positional arguments: expected {len(inner)}, got {len(args)}")
    args = [np.asarray(x) for x in args]
    sizes: dict[str, Any] = {}
    for x, dims in zip(args, inner):
        note_sizes(sizes, x, dims)
    loop = np.broadcast_shapes(*[x.shape[: x.ndim - len(dims)] for x, dims in zip(args, inner)])
    if math.prod(loop) == 0:
        raise ValueError("cannot call `vectorize` on size 0 inputs unless `otypes` is set")
    arrays = [np.broadcast_to(x, loop + tuple([sizes[d] for d in dims])) for x, dims in zip(args, inner)]
    first = results_of(pyfunc, arrays, (0,) * len(loop), len(outer))
    for x, dims in zip(first, outer):
        note_sizes(sizes, x, dims)
    made = []
    for k, dims in enumerate(outer):
        dtype = dtype_of(first[k]) if otypes is None else np.dtype(otypes[k])
        made.append(np.empty(loop + tuple([sizes[d] for d in dims]), dtype))
        made[k][(0,) * len(loop) + (...,)] = first[k]
    for_each_part(pyfunc, arrays, made, (), len(loop))
    return tuple(made) if len(made) > 1 else made[0]


def note_sizes(sizes: Any, x: Any, dims: Any) -> None:
    """Notes the sizes of core dimensions."""
    if len(dims) > 0:
        if x.ndim < len(dims):
            raise ValueError(
                f"{x.ndim}-dimensional argument does not have enough dimensions for all core dimensions {dims}"
            )
        for dim, size in zip(dims, x.shape[x.ndim - len(dims) :]):
            if dim not in sizes:
                sizes[dim] = size
            elif size != sizes[dim]:
                raise ValueError(f"inconsistent size for core dimension {dim!r}: {size} vs {sizes[dim]}")


def results_of(pyfunc: Any, arrays: Any, place: Any, count: Any) -> Any:
    """What a function gives for the parts at a place, as a tuple."""
    found = pyfunc(*[x[place] for x in arrays])
    number = len(found) if isinstance(found, tuple) else 1
    if number != count:
        raise ValueError(f"wrong number of outputs from pyfunc: expected {count}, got {number}")
    return found if isinstance(found, tuple) and count > 1 else (found,)


def for_each_part(pyfunc: Any, arrays: Any, made: Any, place: Any, depth: Any) -> None:
    """Computes the results for the parts whose indices begin with `place`, but for the first."""
    if len(place) == depth:
        if sum(place) > 0:
            for x, found in zip(made, results_of(pyfunc, arrays, place, len(made))):
                x[place + (...,)] = found
        return
    for k in range(1 if depth == 1 else 0, made[0].shape[len(place)]):
        for_each_part(pyfunc, arrays, made, place + (k,), depth)
