"""`f.lower(...).memory()`: what a call takes of memory, as formulas of the sizes. Over all programs:
tests/programs/test_families.py."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.support.agreement import program
from tests.support.formulas import hold_formulas
from tests.support.params import one_in
from tracebuf import bufferize, measure
from tracebuf.explain.memory import Formula
from tracebuf.running.lines import SMALL

A, B = np.random.default_rng(0).random((2, 40))


def summed(a: Any, b: Any) -> Any:
    return np.cumsum(a)[::-1] + b


def table(a: Any, b: Any) -> Any:
    return np.outer(a, b) + np.outer(b, a).T


def relaxed(v: Any, n: Any) -> Any:
    for _ in range(n):
        v = np.roll(v, 1) / 2 + v
    return v.sum()


def collected(a: Any, n: Any) -> Any:
    total = 0.0
    for _ in range(n):
        total += np.cumsum(a)[::-1].max()
    return total


def triangle(a: Any) -> Any:
    total = 0.0
    for k in range(len(a)):
        total += np.cumsum(a[k:])[::2].sum()
    return total


def one_of_two(a: Any, b: Any) -> Any:
    if a[0] > b[0]:
        return (np.cumsum(a)[::-1] + np.cumsum(b)).sum()
    return a.sum()


def until_small(a: Any) -> Any:
    while a[0] > 0.01:
        a = np.roll(a, 1) / 2
    return a


def selected(a: Any) -> Any:
    return np.cumsum(a[a > 0.5]).sum()


EXACT: list[tuple[Callable[..., Any], tuple[Any, ...], str, str]] = [
    (summed, (A, B), "16*len(a)", "16*len(a)"),
    (relaxed, (A, 6), "16*len(v)", "8*len(v)*max(n - 1, 0) + 8*len(v)"),
    (collected, (A, 5), "8*len(a)", "8*len(a)*max(n, 0)"),
]


@pytest.mark.parametrize("f, args, peak, allocated", EXACT)
def test_formulas_of_straight_programs_and_loops(f: Callable[..., Any], args: Any, peak: str, allocated: str) -> None:
    g = bufferize(f)
    use = g.lower(*args).memory()
    assert (str(use.peak), str(use.allocated), str(use.copied)) == (peak, allocated, "0")
    hold_formulas(g, args)
    hold_formulas(g, tuple(x[:7] if isinstance(x, np.ndarray) else x + 3 for x in args))


@pytest.mark.slow
def test_formulas_are_what_measure_counts() -> None:
    g = bufferize(table)
    for n in (9, 31):
        peak, allocated, *_ = vars(g.lower(A[:n], B[:n]).memory()).values()
        counts, sizes = measure(g, A[:n], B[:n], repeat=1).native, {"len(a)": n, "len(b)": n}
        assert peak.exact and peak.sizes == ("len(a)", "len(b)")
        assert (peak(sizes), allocated(sizes)) == (counts.peak_bytes, counts.allocated_bytes)


@pytest.mark.slow
def test_what_branches_on_data_take_is_an_upper_bound() -> None:
    g = bufferize(one_of_two)
    use = g.lower(A, B).memory()
    assert not use.peak.exact and str(use.peak).startswith("at most ")
    for a, b in ((A, A - 1), (A, A + 1)):
        hold_formulas(g, (a, b))
    assert bufferize(one_of_two).lower(A, B).memory().peak({"len(a)": 40, "len(b)": 40}) > 0


def test_how_often_a_loop_runs_has_a_name() -> None:
    use = hold_formulas(bufferize(until_small), (A,))
    assert use is not None and str(use.peak) == "at most 16*len(a)" and str(use) == USE.format(line=LINE)
    assert use.allocated({"len(a)": 3, f"rounds_{LINE}": 5}) == 8 * 3 * 7
    with pytest.raises(KeyError, match="rounds_"):
        use.allocated({"len(a)": 3})


LINE = until_small.__code__.co_firstlineno + 1
USE = """\
peak      at most 16*len(a)
allocated at most 8*len(a)*rounds_{line} + 16*len(a)
copied    at most 0
arena     at most 0
rounds_{line} how often the loop of line {line} runs"""


def left_early(a: Any, n: Any) -> Any:
    for _ in range(n):
        a = np.roll(a, 1) / 2
        if a[0] < 0.01:
            break
    return a


def counted_too(a: Any, n: Any) -> Any:
    k = 0
    while a[0] > 0.01 and k < 20:
        a = np.roll(a, 1) / 2
        k += 2 if n > 100 else 1
        k = k if a[0] > 0 else k + 1
    return a


def counted_down(a: Any, n: Any) -> Any:
    while a[0] > 0.01 and n > 0:
        a = np.roll(a, 1) / 2
        n -= 1
    return a


@pytest.mark.parametrize("f, known", [(left_early, True), (counted_too, False), (counted_down, False)])
def test_a_loop_that_may_be_left_early_runs_at_most_so_often(f: Callable[..., Any], known: bool) -> None:
    g = bufferize(f)
    use = hold_formulas(g, (A + 1, 7))
    assert use is not None and bool(use.allocated.decided) == (not known) and not use.allocated.exact
    assert not known or str(use.allocated) == "at most 8*max(len(a)*max(n - 1, 0) + 2*len(a), len(a))"
    for n in (0, 1, 60):
        hold_formulas(g, (A[:9] + 1, n))


def of_rows(a: Any, begins: Any) -> Any:
    total = 0.0
    for k in range(len(begins) - 1):
        total += np.cumsum(a[begins[k] : begins[k + 1]])[::-1].max(initial=0.0)
    return total


def shrinking(a: Any) -> Any:
    left = 0
    while a.size > 1 and left < 50:
        a = a[a > a.mean()]
        left += 1
    return left


def shorter(a: Any) -> Any:
    k = 0
    while k < len(a) and a[k] < 0.9:
        a[k:] = np.cumsum(a[k:])[::-1] / 40
        k += 1
    return k


BOUNDED: list[tuple[Callable[..., Any], tuple[Any, ...], str]] = [
    (selected, (A,), "at most 16*len(a)"),
    (of_rows, (A, np.array([0, 30, 7, 90])), "at most 8*len(a)"),
    (shrinking, (A,), "at most 17*len(a)"),
    (shorter, (A,), "at most 8*max(len(a), 0)"),
]


@pytest.mark.parametrize("f, args, peak", one_in(4, BOUNDED, rows=True))
def test_sizes_that_data_decide_may_have_bounds(f: Callable[..., Any], args: Any, peak: str) -> None:
    """A mask selects no more than there is, a slice has no more than the array, a loop's array does not grow again."""
    g = bufferize(f)
    assert str(g.lower(*args).memory().peak) == peak
    hold_formulas(g, args)
    hold_formulas(g, (args[0][:9], *args[1:]))


def escaped(z: Any, c: Any, n: Any) -> Any:
    for _ in range(n):
        z = z * z + c
        c = c[z < 4]
        z = z[z < 4]
    return z.sum()


@pytest.mark.parametrize("n", [40, pytest.param(30_000, marks=pytest.mark.slow)])
def test_the_block_of_arrays_that_shrink_has_a_bound(n: int) -> None:
    """It is no larger than what is in use at once, but for gaps."""
    g = bufferize(escaped)
    z, c = np.random.default_rng(1).random((2, n)) * 2
    use = hold_formulas(g, (z, c, 6))
    assert use is not None and not use.arena.exact and use.arena.sizes == ("len(z)",)
    assert use.arena({"len(z)": n}) <= max(SMALL, 1.25 * use.peak({"len(z)": n}) + 400)


def counts(k: Any) -> Any:
    return np.cumsum(np.bincount(k)[::-1]).sum()


def counts_in_turn(k: Any, n: Any) -> Any:
    total = 0
    for i in range(n):
        total += np.cumsum(np.bincount(k[i:])[::-1]).sum()
    return total


def test_numbers_that_data_decide_have_names() -> None:
    """They are exact where they are found once, else the greatest of all."""
    once = hold_formulas(bufferize(counts), (np.array([3, 1]),))
    assert once is not None and once.peak.exact and not once.peak.unknown
    ((name, what),) = once.peak.decided
    assert what == f"a number that line {counts.__code__.co_firstlineno + 1} finds in the data"
    assert once.peak({name: 99}) == 1600
    each = hold_formulas(bufferize(counts_in_turn), (np.array([3, 9, 1, 40, 5]), 5))
    assert each is not None and not each.peak.exact and [what for _, what in each.peak.decided][0].endswith(", at most")


def from_nothing(a: Any, n: Any) -> Any:
    last = a[:0]
    while a[0] > 0.01:
        last = np.roll(a, 1)
        a = last / 2
    return last


def halves(a: Any) -> Any:
    while len(a) > 1:
        half = len(a) // 2
        a = np.cumsum(a[:half]) + a[half : 2 * half]
    return a


@pytest.mark.parametrize("f, args", [(from_nothing, (A, 3)), (halves, (A,))])
def test_sizes_that_loops_change_are_bounded_or_named(f: Callable[..., Any], args: Any) -> None:
    use = hold_formulas(bufferize(f), args)
    assert use is not None and not use.peak.unknown and not use.allocated.unknown


def test_sizes_that_change_in_a_loop_are_summed() -> None:
    g = bufferize(triangle)
    use = hold_formulas(g, (A,))
    assert use is not None and not use.peak.unknown and not use.allocated.unknown
    hold_formulas(g, (A[:9],))


def test_a_size_that_is_missing_is_named() -> None:
    with pytest.raises(KeyError, match=r"len\(a\)"):
        bufferize(summed).lower(A, B).memory().peak({"len(b)": 3})


def test_the_arena_in_whole_lines() -> None:
    use = bufferize(relaxed).lower(A, 6).memory()
    assert use.arena({"len(v)": 40, "n": 6}) == 2 * 320 and use.arena({"len(v)": 41, "n": 6}) == 2 * 384
    assert str(use).splitlines()[0] == "peak      16*len(v)"


def test_a_formula_is_a_value() -> None:
    assert Formula(8) == Formula(8) and str(Formula(8, exact=False)) == "at most 8" and Formula(8)({}) == 8


def test_the_peak_that_the_readme_gives() -> None:
    """It gave one that a better plan had made untrue."""
    text = (Path(__file__).parents[2] / "README.md").read_text()
    body = text[text.index("def smooth(x, rounds):") :].partition("\n\n")[0]
    peak = bufferize(program(body)).lower(np.ones(100), 10).memory().peak
    assert f"its `peak` is `{peak}`" in text
