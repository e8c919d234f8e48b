"""Whether what `f.cut` says is so: elements of arguments are changed one at a time, and the outputs that change lie
where the cut says they may; at each rim of a stated halo one does."""

from __future__ import annotations

import copy
import random
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tracebuf.dask.cut import Cut, Pair

TRIES = 3
"""With how many fillings of the arrays a rim is looked for."""

MOST = 48
"""The longest axis of which all places are tried."""


def check_cut(f: Any, args: Sequence[Any], seed: int = 0, rims: bool = True, found: Cut | None = None) -> Cut:
    """The cut of a call, or what is read in one that is `found` otherwise, after it has been checked."""
    found = found or f.cut(*args)
    assert found is not None
    names = list(f.__wrapped__.__code__.co_varnames[: f.__wrapped__.__code__.co_argcount])
    numbers = {n: a for n, a in zip(names, args) if isinstance(a, int)}
    rng = np.random.default_rng(seed)
    seen: dict[tuple[str, str, int], set[int]] = {}
    for attempt in range(TRIES):
        given = [filled(a, rng) if attempt else copy.deepcopy(a) for a in args]
        before = outputs(f.__wrapped__, given, found)
        for n, (name, arg) in enumerate(zip(names, given)):
            if not isinstance(arg, np.ndarray) or arg.dtype.kind not in "fcbiu" or name not in found.arguments:
                continue
            for place in places(arg.shape, attempt):
                changed = [copy.deepcopy(a) for a in given]
                changed[n][place] = other(arg[place], rng)
                after = outputs(f.__wrapped__, changed, found)
                for output, old in before.items():
                    new = after[output]
                    differ = np.argwhere(np.atleast_1d(~same(old, new)))
                    pair = found.pair(output, name)
                    assert pair is not None or len(differ) == 0, f"{output} is said not to read {name}"
                    for at in differ if pair is not None else ():
                        assert pair is not None
                        note(pair, place, tuple(at), arg.shape, numbers, seen)
    for pair in found.pairs if rims else ():
        for k, axis in enumerate(pair.axes):
            if axis.kind == "halo":
                length = args[names.index(pair.argument)].shape[k]
                at_rims = {o for o in (-value(axis.low, numbers), value(axis.high, numbers)) if abs(o) < length}
                offsets = seen.get((pair.output, pair.argument, k), set())
                assert at_rims <= offsets | {0}, f"{pair.output} of {pair.argument}, axis {k}: {axis}, seen {offsets}"
    return found


def check_margins(f: Any, args: Sequence[Any], seed: int = 0) -> Cut:
    """The cut of a call, after it has been checked that between the margins of each axis of an output places are alike:
    of arguments that are the same all along it so is the output."""
    found: Cut = f.cut(*args)
    names = list(f.__wrapped__.__code__.co_varnames[: f.__wrapped__.__code__.co_argcount])
    numbers = {n: a for n, a in zip(names, args) if isinstance(a, int)}
    rng = np.random.default_rng(seed)
    given = [filled(a, rng) for a in args]
    others = {p.output for p in found.pairs if any(a.kind in ("reduced", "whole") for a in p.axes)}
    for group in (found.results, found.stored):
        for output, axes in group.items():
            for k, axis in enumerate(axes):
                if axis.kind == "whole" or axis.by_place or output in others:
                    continue
                alike = [along(found.pair(output, name), k, a) for name, a in zip(names, given)]
                made = np.moveaxis(outputs(f.__wrapped__, alike, found)[output], k, 0)
                low, high = (value(m, numbers) for m in axis.margin)
                inside = made[low : len(made) - high]
                where = f"{output}, axis {k}: margins {low}, {high}"
                for row in inside[1:]:
                    np.testing.assert_allclose(row, inside[0], rtol=1e-9, atol=1e-12, err_msg=where)
    return found


def along(pair: Pair | None, axis: int, a: Any) -> Any:
    """An argument that is the same all along the axes that lie along an output's axis."""
    for k, other_axis in enumerate(pair.along if pair is not None else ()):
        if other_axis == axis:
            a = np.broadcast_to(a.take([0], k), a.shape).copy()
    return a


def note(
    pair: Pair, place: tuple[int, ...], at: tuple[int, ...], shape: tuple[int, ...], numbers: dict[str, int],
    seen: dict[tuple[str, str, int], set[int]],
) -> None:  # fmt: skip
    """Element `at` of the output has changed with element `place` of the argument: that is within the halo."""
    for k, axis in enumerate(pair.axes):
        along = pair.along[k]
        assert axis.access != "not read"
        if axis.kind not in ("independent", "halo") or along is None:
            continue
        low, high = value(axis.low, numbers), value(axis.high, numbers)
        offset = place[k] - (at[along] + pair.begins[k])
        if axis.around:
            turns = [offset + turn * shape[k] for turn in (-1, 0, 1)]
            offset = next((o for o in sorted(turns, key=abs) if -low <= o <= high), offset)
        assert -low <= offset <= high, f"{pair.output} at {at} of {pair.argument} at {place}: axis {k} is {axis}"
        seen.setdefault((pair.output, pair.argument, k), set()).add(offset)


def value(bound: int | str, numbers: dict[str, int]) -> int:
    return bound if isinstance(bound, int) else int(eval(bound, {"max": max, "min": min}, dict(numbers)))


def outputs(f: Callable[..., Any], args: Sequence[Any], found: Cut) -> dict[str, np.ndarray]:
    """What a call gives by the names of the cut."""
    given = [copy.deepcopy(a) for a in args]
    with np.errstate(all="ignore"):
        result = f(*given)
    results = list(flat(result))
    named = {name: np.asarray(r) for name, r in zip(found.results, results)}
    names = f.__code__.co_varnames
    stored = {name: np.asarray(given[names.index(name)]) for name in found.stored}
    return named | stored


def flat(result: Any) -> Any:
    if isinstance(result, (tuple, list)):
        for r in result:
            yield from flat(r)
    elif isinstance(result, dict):
        yield from flat(tuple(result.values()))
    elif result is not None:
        yield result


def same(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    if a.shape != b.shape:
        raise AssertionError("shapes differ")
    return np.asarray((a == b) | ((a != a) & (b != b)))


def places(shape: tuple[int, ...], attempt: int) -> list[tuple[int, ...]]:
    """Elements at the rims, beside them and in the middle."""
    if 0 in shape:
        return []
    draw = random.Random(attempt)
    found = []
    for k, n in enumerate(shape):
        for i in range(n) if n <= MOST else {0, 1, 2, 3, n // 2, n - 3, n - 2, n - 1}:
            found.append(tuple(i if a == k else draw.randrange(m) for a, m in enumerate(shape)))
            found.append(tuple(i if a == k else m // 2 for a, m in enumerate(shape)))
    return list(dict.fromkeys(found))


def filled(a: Any, rng: np.random.Generator) -> Any:
    """An array like another one, of other numbers."""
    if not isinstance(a, np.ndarray):
        return copy.deepcopy(a)
    if a.dtype.kind not in "fc":
        return rng.permutation(a.ravel()).reshape(a.shape)
    new = np.empty_like(a)
    new[...] = rng.permutation(a.ravel()).reshape(a.shape) * rng.uniform(0.5, 1.5, a.shape)
    return new


def other(x: Any, rng: np.random.Generator) -> Any:
    if isinstance(x, np.bool_):
        return not x
    return x ^ x.dtype.type(rng.integers(1, 4)) if x.dtype.kind in "iu" else x + 1 + rng.random()
