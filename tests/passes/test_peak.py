"""The most memory that is alive at once, beside eager NumPy's: temporaries, and arrays that loops replace (rule S2).

Counted as `tracebuf.measure` does, on arrays so large that numbers do not matter.
"""

from __future__ import annotations

import contextlib
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.support.agreement import agree, program
from tests.support.params import one_in, slow_but
from tracebuf import bufferize, measure
from tracebuf.errors import UnsupportedError
from tracebuf.testing.fuzz import peaks as random_loops
from tracebuf.testing.programs import loaded

N = 65536
"""NumPy computes in its operand's buffer only from 256 KiB on."""


def peaks(f: Callable[..., Any], *args: Any) -> tuple[int, int]:
    """The peaks of eager and native, in arrays of N doubles, after both agreed."""
    agree(f, *args, ulp=4)
    counts = measure(bufferize(f), *args, repeat=1)
    return round(counts.eager.peak_bytes / (8 * N)), round(counts.native.peak_bytes / (8 * N))


def array() -> np.ndarray[Any, Any]:
    return np.random.default_rng(0).random(N)


def test_m2_sums_of_arrays_that_must_be_made() -> None:
    """One loop over all four rolls kept all four alive."""

    def f(a: Any) -> Any:
        return np.roll(a, 1) + np.roll(a, -1) + np.roll(a, 2) + np.roll(a, -2) - 4 * a

    eager, native = peaks(f, array())
    assert native == 2 <= eager


@pytest.mark.slow
def test_arrays_that_stand_already_are_summed_in_one_loop() -> None:
    def f(a: Any) -> Any:
        x, y, z = np.roll(a, 1), np.roll(a, -1), np.roll(a, 2)
        return x + y + z

    eager, native = peaks(f, array())
    assert native == 3 <= eager
    text = bufferize(f).lower(array()).as_text("memref")
    assert text.count("linalg.generic") == 1


def replaced(v: Any, n: Any) -> Any:
    for _ in range(n):
        v = np.roll(v, 1)
        v = v / v[0]
    return v


def updated(v: Any, n: Any) -> Any:
    for _ in range(n):
        v = np.roll(v, 1)
        v /= v[0]
    return v


def two_names(v: Any, n: Any) -> Any:
    w = v
    for _ in range(n):
        w = np.roll(v, 1)
        v = w / w[0]
    return v, w


def read_afterwards(v: Any, n: Any) -> Any:
    for _ in range(n):
        w = np.roll(v, 1)
        v = w / w[0]
    return np.roll(v, 1)[:3] + v[:3]


def while_it_lasts(v: Any, n: Any) -> Any:
    while n > 0 and v[0] < 1e9:
        v = np.roll(v, 1) + v
        n -= 1
    return v


def never_read(v: Any, n: Any) -> Any:
    last = v
    for i in range(n):
        last = np.roll(v, i)
    return last


def exchanged(v: Any, n: Any) -> Any:
    w = np.roll(v, 1)
    for _ in range(n):
        v, w = w, np.roll(v, 1) + w * 0.25
    return v + w


def replaced_on_one_path(v: Any, n: Any) -> Any:
    w = v * 2
    for _ in range(n):
        v = np.roll(v, 1)
        w = np.cumsum(v)
        if v[0] > w[0] / 2:
            v = w + 1
    return v, w


LOOPS = (exchanged, replaced_on_one_path, replaced, updated, two_names, read_afterwards, while_it_lasts, never_read)


@pytest.mark.parametrize("f", slow_but((replaced, replaced_on_one_path), LOOPS))
def test_m4_loops_that_replace_arrays(f: Callable[..., Any]) -> None:
    """The array that such a loop began with, or the one before the last, was alive until the function's end."""
    eager, native = peaks(f, array(), 7)
    assert native <= eager


def takes_over(v: Any, n: Any) -> Any:
    v = v + 1
    w = v
    for _ in range(n):
        if w[0] > 1.5:
            w = v
        v = np.roll(v, 1)
    return w


def takes_over_an_argument(v: Any, n: Any) -> Any:
    w = v
    v = v + 1
    for _ in range(n):
        if w[0] > 0.5:
            w = v
        v = np.roll(v, 1)
    return w


def takes_over_before_a_quotient(v: Any, n: Any) -> Any:
    w = v * 2
    for _ in range(n):
        if w[0] > 0.5:
            w = v
        w = w / 1
    return w


def updated_on_either_side(v: Any, n: Any) -> Any:
    w = v
    v = v * 0.5
    for _ in range(n):
        w += v
        if w[0] > 1:
            w = np.roll(v, 3)
        w += v
    return w


def takes_over_at_first(v: Any, n: Any) -> Any:
    w = v.copy()
    for _ in range(n):
        if w[0] > 0.5:
            w = v
        v = np.roll(v, 1)
    return w


def is_replaced_before_the_loop(v: Any, n: Any) -> Any:
    v = v + 1
    w = v
    for _ in range(n):
        if w[0] > v[0]:
            w = v + 1
        w *= 0.3
        v = np.roll(v, 1)
    return w


TAKEN = (takes_over, takes_over_an_argument, takes_over_before_a_quotient, updated_on_either_side)
TAKEN_ONCE = ((takes_over_at_first, 1), (is_replaced_before_the_loop, 5))


@pytest.mark.parametrize("f", slow_but(TAKEN[::2], TAKEN))
@pytest.mark.slow
def test_a_name_that_takes_over_anothers_array_frees_its_own(f: Callable[..., Any]) -> None:
    """The array that it held was alive until the iteration's end, beside the ones made until then."""
    eager, native = peaks(f, array() + 1, 7)
    assert native <= eager


@pytest.mark.parametrize(("f", "n"), one_in(2, TAKEN_ONCE, rows=True))
@pytest.mark.slow
def test_a_name_that_takes_over_anothers_array_before_a_loop(f: Callable[..., Any], n: int) -> None:
    """An scf.if that frees on one path stood after the next array was made; what two paths gave a loop, the loop did
    not own."""
    eager, native = peaks(f, np.random.default_rng(5).random(N) * 2, n)
    assert native <= eager


def is_replaced_on_one_path(v: Any, w: Any, n: Any) -> Any:
    for _ in range(n):
        if w[0]:
            w = v + 1
        v = np.cumsum(w)
    return v[0]


def may_be_held_by_the_other_name(v: Any, w: Any, n: Any) -> Any:
    w = v
    for _ in range(n):
        w = np.cumsum(v) * 0.01
        w = np.roll(w, 1)
        if v[0] > w[0]:
            v = w + 1
    return (v * w).sum()


def is_replaced_before_a_sort(v: Any, w: Any, n: Any) -> Any:
    v = v + 1
    w = v
    for _ in range(n):
        if w[0] > v[0]:
            w = v + 1
        v = np.sort(v)
        v += w
    return w


ONE_OF_TWO = (is_replaced_on_one_path, may_be_held_by_the_other_name, is_replaced_before_a_sort)


@pytest.mark.parametrize("f", slow_but((), ONE_OF_TWO))
def test_an_array_that_only_one_path_needs_is_freed_on_the_others(f: Callable[..., Any]) -> None:
    """A branch that read it, or a name that might hold it, kept it alive beside the next array on every path; and what
    an scf.if passed on without owning it, no loop took over."""
    for seed in range(3):
        v, w = np.random.default_rng(seed).standard_normal((2, N))
        eager, native = peaks(f, v, w, 4)
        assert native <= eager


SEEDS = (*range(0, 300, 10), 101, 184, 585, 701, 805, 921, 958, 983, 1457, 1556, 1567)


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
def test_random_loops_that_replace_arrays(seed: int) -> None:
    """The last eleven held up to two arrays more than eager."""
    program = random_loops.generate(random.Random(f"peaks {seed}"))
    with loaded(program) as module:
        with contextlib.suppress(UnsupportedError):
            random_loops.check_peak(module, program.text)


@pytest.mark.slow
def test_what_decides_a_free_is_asked_once() -> None:
    """Each path through the exchanges was asked whether it led to the array that is freed: two more ops for each were
    four times as many, and lists that a loop exchanges compiled for minutes."""

    def conditions(exchanges: int) -> int:
        body = "".join(f"    if a[{k}] > 0: x[0], x[1] = x[1], x[0]\n" for k in range(exchanges))
        f = program(f"def f(a):\n    x = [a + 1, a + 2, a + 3]\n{body}    x[0] = a * 2\n    return x[1].sum()\n")
        return bufferize(f).lower(np.ones(9)).as_text().count("arith.andi")

    assert conditions(8) - conditions(7) == conditions(4) - conditions(3)


def test_constant_quantiles_are_no_array_of_ours() -> None:
    """They were one, beside what NumPy makes of the list."""

    def f(a: Any) -> Any:
        return np.percentile(a, [25, 50, 75])

    agree(f, array())
    counts = measure(bufferize(f), array(), repeat=1)
    assert counts.native.peak_bytes <= counts.eager.peak_bytes


def test_a_block_that_each_call_makes_anew_is_counted_once() -> None:
    """What the first iteration sorts is in a block, which gives way to arrays in the loop."""

    def f(v: Any, w: Any, s: Any, n: Any) -> Any:
        for _ in range(n):
            v = np.sort(v)
            s = np.append(s[:-2], 1)
            v = np.roll(w, 1)
        return v + w

    eager, native = random_loops.peaks(f, (array(), array(), array(), 4))
    assert native <= eager + random_loops.SPARE


def test_what_the_first_round_of_a_loop_makes_on_one_path_goes_before_the_next() -> None:
    """Its free was split by paths: one part was for none, the other came at the end."""

    def f(v: Any, w: Any, s: Any, n: Any) -> Any:
        for _ in range(n):
            if w[0]:
                w = np.roll(v, 1)
            w = w / 1
        return n

    eager, native = random_loops.peaks(f, (array(), array()[:1], 2, 4))
    assert native <= eager + random_loops.SPARE


def test_what_a_name_may_hold_too_goes_before_the_next_where_it_does_not() -> None:
    """It was freed where the path is known that decides whether the other name keeps it: after the next was made."""

    def f(v: Any, w: Any, n: Any) -> Any:
        for _ in range(n):
            w[2:] = v[:-2]
            w = w / w[0]
            w = np.roll(w, 1)
            if v[0]:
                v = w
        return n

    v = np.zeros(array().shape)
    eager, native = random_loops.peaks(f, (v, array(), 4))
    assert native <= eager + random_loops.SPARE
