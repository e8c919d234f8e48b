"""Stories of programs as people write them: the lines that they name, and their edits on inputs of many sizes, empty
ones and loops that do not run among them, as source: equal results, and the saving that was promised."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.support import story_programs, story_science
from tests.support.params import one_in
from tests.support.story_programs import Oscillator
from tests.tools.test_stories import from_text, marked

Given = tuple[Any, ...]
SIZES = [(0, 3), (1, 3), (2, 2), (12, 0), (12, 1), (30, 5)]
"""Of arrays, and of what counts the rounds; the story is told of 12 and 4."""


def r(seed: int, *shape: int) -> Any:
    return np.random.default_rng(seed).random(shape)


def one(k: int, n: int) -> Given:
    return (r(0, k),)


def two(k: int, n: int) -> Given:
    return r(0, k), r(1, k)


def rounds(k: int, n: int) -> Given:
    return r(0, k), n


def definite(k: int) -> Any:
    return r(3, k, k) + (k + 1) * np.eye(k)


CASES: list[tuple[str, Callable[[int, int], Given], str | None]] = [
    ("leapfrog", lambda k, n: (*two(k, n), 0.1), None),
    ("heat", rounds, "take turns"),
    ("red_black", lambda k, n: one(2 * k, n), "leave out a copy"),
    ("relaxed_until", rounds, "allocate once"),
    ("momentum", lambda k, n: (r(0, k), r(1, k), r(2, k), 0.1), None),
    ("heat_from_a_copy", rounds, "take turns"),
    ("laplace", lambda k, n: (r(0, k, k + 1), n), "take turns"),
    ("power_iteration", lambda k, n: (r(0, k, k) + np.eye(k), r(1, k), n), "allocate once"),
    ("drained", lambda k, n: (r(0, k) * n, 0.2), "allocate once"),
    ("filtered_columns", lambda k, n: (r(0, k, 2 * k), n), "leave out a copy"),
    ("centred", one, "donate"),
    ("rank_one", lambda k, n: (r(0, k, k + 1), r(1, k), r(2, k + 1)), None),
    ("pivoted", lambda k, n: (r(0, k, 4), 0, k - 1), None),
    ("horner", lambda k, n: (r(0, k), r(1, n)), None),
    ("prefix_in_place", one, None),
    ("mirrored", lambda k, n: (r(0, k, k + 1),), None),
    ("shifted", one, ""),
    ("normal_equations", lambda k, n: (r(0, k + 1, k), r(1, k + 1)), None),
    ("clipped", lambda k, n: (r(0, k), 0.5), None),
    ("totals", two, "move"),
    ("windows", rounds, "allocate once"),
    ("jackknife", one, None),
    ("scaled_copy", lambda k, n: (r(0, k), np.zeros(k)), None),
    ("early", lambda k, n: (r(0, k) - (n == 1), r(1, k)), "move"),
    ("histogram", lambda k, n: (r(0, k), r(1, n)), None),
    ("gram_schmidt", lambda k, n: (r(0, k, 4),), "allocate once"),
    ("softened", lambda k, n: (*two(k, n), n), "allocate once"),
    ("sorted_then_used", two, None),
    ("masked", one, None),
    ("complex_step", lambda k, n: (r(0, k) + 1j * r(1, k), 0.5 + 0.1j), None),
    ("mixed_precision", two, "move"),
    ("two_loops", rounds, "allocate once"),
    ("heat_and_more", rounds, None),
    ("triangle", lambda k, n: (r(0, k) / (k + 1), n), "allocate once"),
    ("life", lambda k, n: (np.arange(k) % 2, n), "allocate once"),
    ("outer_updates", lambda k, n: (r(0, k, k), min(k, n)), "allocate once"),
    ("common_subsequence", lambda k, n: (np.arange(k) % 3, np.arange(n) % 2), "take turns"),
    ("already_donated", two, None),
    ("leapfrog_steps", lambda k, n: (*two(k, n), 0.1, n), None),
    ("copied_and_summed", two, "compute before"),
    ("rows_exchanged", lambda k, n: (r(0, k, 5), np.arange(k)[::-1].copy()), "allocate once"),
    ("rolling_mean", rounds, "donate"),
    ("drawdown", lambda k, n: (r(0, k) + 1,), None),
    ("sobel", lambda k, n: (r(0, k, k),), None),
    ("kmeans_step", lambda k, n: (r(0, k), r(1, n), n), "allocate once"),
    ("orthogonalized", lambda k, n: (r(0, k, n),), "allocate once"),
    ("gauss", lambda k, n: (r(0, k, k) + 3 * np.eye(k),), "allocate once"),
    ("descent", lambda k, n: (r(0, k, k), r(1, k), r(2, k), 0.01, n), "allocate once"),
    ("velocity_verlet", lambda k, n: (*two(k, n), r(2, k), 0.1), None),
    ("kick_drift", lambda k, n: (*two(k, n), 0.1, n), "allocate once"),
    ("adams_bashforth", lambda k, n: (r(0, k), 0.1, n), "take turns"),
    ("conjugate_gradient", lambda k, n: (definite(k), r(1, k), n), None),
    ("whiten", lambda k, n: (r(0, k, n),), "donate"),
    ("clip_gradient", lambda k, n: (r(0, k) - 0.5, 0.2), None),
    ("shift_register", lambda k, n: (r(0, k), r(1, n)), ""),
    ("permute_rows", lambda k, n: (r(0, k, n), np.arange(k)[::-1].copy()), None),
    ("lu", lambda k, n: (definite(k),), "leave out a copy"),
    ("softmax_rows", lambda k, n: (r(0, k, n),), "donate"),
    ("rotate_phase", lambda k, n: (r(0, k) + 1j * r(1, k), r(2, k) + 0j), None),
    ("digits", lambda k, n: (np.random.default_rng(0).integers(0, 1000, k),), None),
    ("newton_until", lambda k, n: (r(0, k) + 1, 1e-9), "allocate once"),
    ("fixed_point", lambda k, n: (r(0, k), 1e-6), "allocate once"),
    ("sor", lambda k, n: (*two(k, n), 1.1, n), "allocate once"),
    ("add_noise_then_restore", two, None),
    ("swap_halves", one, None),
    ("wave_1d", lambda k, n: (*two(k, n), 0.1, n), "allocate once"),
    ("wave_three", lambda k, n: (*two(k, n), 0.1, n), "donate"),
    ("quantize", lambda k, n: (r(0, k), n + 1), None),
    ("segment_sums", lambda k, n: (r(0, k), np.arange(min(n, k))), "donate"),
    ("early_exit", lambda k, n: (*two(k, n), n - 1.5), "donate"),
    ("residual_history", lambda k, n: (r(0, k, k), r(1, k), r(2, k), n), "allocate once"),
    ("blur_rows", lambda k, n: (r(0, k, n + 1), n), "allocate once"),
    ("entropy", one, "donate"),
    ("relaxed_while", lambda k, n: (r(0, k), 0.01), "take turns"),
    ("stat_then_update", two, "move"),
    ("zscore_inplace", one, "store early"),
    ("rows3way", lambda k, n: (r(0, k, 5), 0, k // 2, k - 1), None),
    ("swap_cols", lambda k, n: (r(0, 5, k), 0, k - 1), None),
    ("eliminated", lambda k, n: (definite(k), r(1, k)), "allocate once"),
    ("richardson", lambda k, n: (r(0, k, k), r(1, k), r(2, k), 0.01, n), "allocate once"),
    ("roll_shift", rounds, "allocate once"),
    ("logistic", lambda k, n: (r(0, k, n + 1), r(1, k), r(2, n + 1), 0.1, n), "allocate once"),
    ("rms_filter", rounds, "donate"),
    ("cumulative_returns", lambda k, n: (r(0, k) + 1,), None),
    ("smoothed", rounds, "take turns"),
    ("matrix_power", lambda k, n: (r(0, k, k), n), "take turns"),
    ("until_it_stays", lambda k, n: (r(0, k, k) / (k + 1), r(1, k), 1e-3), "take turns"),
    ("added_behind", lambda k, n: (r(0, k + 3), 2, n), "allocate once"),
    ("by_doubling", one, "allocate once"),
    ("halves_of_rows", lambda k, n: (r(0, k, n),), "allocate once"),
    ("as_long_as_it_counts", lambda k, n: (0.5, n), None),
    ("symmetric", lambda k, n: (r(0, k, k),), None),
    ("powers_of", lambda k, n: (r(0, k, k), r(1, k), n), "take turns"),
    ("stationary", lambda k, n: (r(0, k, k), r(1, k), n), "allocate once"),
    ("normalised_twice", rounds, "take turns"),
    ("ramps", lambda k, n: (k,), "allocate once"),
    ("heads", one, "allocate once"),
    ("tails", rounds, "allocate once"),
    ("reset", lambda k, n: (r(0, k), np.arange(min(k, n))), "compute before"),
    ("rows_reversed", lambda k, n: (r(0, k, n),), "allocate once"),
    ("folded", one, "allocate once"),
    ("rows_smoothed", lambda k, n: (r(0, k, n),), "allocate once"),
]  # fmt: skip
"""Arguments by the two sizes, and the kind of edit that removes what is marked; None where nothing does, "" where there
is nothing left."""


@pytest.mark.parametrize(("name", "given", "kind"), one_in(16, CASES, rows=True))
@pytest.mark.cases(9)
def test_programs(name: str, given: Callable[[int, int], Given], kind: str | None, tmp_path: Path) -> None:
    f = getattr(story_science if hasattr(story_science, name) else story_programs, name)
    told = f.stories(*given(12, 4))
    if kind == "":
        assert not told.stories
        return
    story = next(s for s in told if s.line == marked(f, "A") and (kind is None or s.edit is not None))
    for place, mark in ((story.written, "W"), (story.read, "R")):
        line = marked(f, mark)
        assert line is None or (place is not None and place.line == line), str(told)
    assert (story.edit.kind if story.edit is not None else None) == kind, str(told)
    for s in told:
        if s.edit is not None:
            edited = from_text(s.edit.apply(), tmp_path / f"{name}_{s.line}_{s.edit.kind[:4]}.py", name)
            assert saved(f, edited, s.edit, given, 12, 4) == s.edit.saves > 0
            for k, n in SIZES:
                counted = saved(f, edited, s.edit, given, k, n)
                if counted is not None and s.edit.formula and holds(s.edit, f, given(k, n)):
                    assert counted == value_of(s.edit.formula, f, given(k, n))


def saved(f: Any, edited: Any, edit: Any, given: Callable[[int, int], Given], k: int, n: int) -> int | None:
    """How many bytes less the edited function takes, whose results are equal; None where both raise the same."""
    sets = [given(k, n) for _ in range(4)]
    calls = (f.eager, sets[0]), (edited.eager, sets[1]), (f.call_counted, sets[2]), (edited.call_counted, sets[3])
    found = [outcome(call, args) for call, args in calls]
    if isinstance(found[0], type):
        assert found == [found[0]] * 4
        return None
    (expected, again, (_, before), (result, after)), lost = found, edited.options.donate_optional
    assert edit.kind == "donate" or lost == f.options.donate_optional
    for x, y, z in [(expected, again, result), *zip(*(kept(f, s, lost) for s in (sets[0], sets[1], sets[3])))]:
        np.testing.assert_allclose(y, x) if x is not None else None
        np.testing.assert_allclose(z, x, rtol=1e-12, atol=1e-12) if x is not None else None
    totals = [c.allocated_bytes + c.copied_bytes for c in (before, after)]
    return int(totals[0] - totals[1])


def outcome(call: Callable[..., Any], args: Given) -> Any:
    try:
        with warnings.catch_warnings(action="ignore"):
            return call(*args)
    except (ValueError, IndexError) as error:
        return type(error)


def kept(f: Any, args: Given, lost: tuple[str, ...]) -> list[Any]:
    """The arguments whose contents the caller may look at."""
    return [x for name, x in zip(f.__wrapped__.__code__.co_varnames, args) if name not in lost]


def holds(edit: Any, f: Any, args: Given) -> bool:
    """Whether these arguments are such as an edit's formula is of."""
    return all(value_of(text, f, args) for text in (edit.condition, edit.axes) if text)


def value_of(formula: str, f: Any, args: Given) -> int:
    """A formula with the sizes of these arguments."""
    values: dict[str, int] = {}
    for name, x in zip(f.__wrapped__.__code__.co_varnames, args):
        if isinstance(x, np.ndarray):
            values |= {f"{name}.{k}": size for k, size in enumerate(x.shape)} | {f"len({name})": len(x)}
        elif isinstance(x, int):
            values[name] = x
    for name in sorted(values, key=len, reverse=True):
        formula = re.sub(rf"(?<![\w.]){re.escape(name)}(?![\w.])", str(values[name]), formula)
    return int(eval(formula))


def test_a_method() -> None:
    made = Oscillator(r(0, 9), r(1, 9))
    (story,) = made.kick.stories(0.1)
    first = Oscillator.kick.__wrapped__.__code__.co_firstlineno + 2
    assert (story.line, story.written.line, story.read.line) == (first, first + 1, first + 2)
    assert story.edit is None


@pytest.mark.slow
def test_what_donates_says_so_and_holds_for_views(tmp_path: Path) -> None:
    """`donate=` would raise where the argument has strides, or where a loop does not run."""
    edit = story_programs.centred.stories(r(0, 12))[0].edit
    assert edit is not None and "is lost" in edit.caveat and 'donate_optional="x"' in edit.text
    edited = from_text(edit.apply(), tmp_path / "centred.py", "centred")
    x = r(0, 24)
    np.testing.assert_allclose(edited(x[::2]), story_programs.centred.eager(x[::2]))
    np.testing.assert_array_equal(x, r(0, 24))
    edit = story_programs.already_donated.stories(r(0, 9), r(1, 9))[1].edit
    assert edit is not None and '@bufferize(donate_optional=("v", "u"))' in edit.apply()


@pytest.mark.slow
def test_an_array_made_before_a_loop_says_what_it_takes() -> None:
    told = story_programs.windows.stories(r(0, 12), 4)
    assert "takes an array more where the loop does not run" in str(told)
    assert told[0].edit is not None and value_of(told[0].edit.formula, story_programs.windows, (r(0, 12), 0)) == -96
    edit = story_programs.relaxed_until.stories(r(0, 12), 4)[0].edit
    assert edit is not None and "        u[1:-1] = scratch  # A W R\n" in edit.apply()


@pytest.mark.slow
def test_an_array_made_before_a_loop_picks_no_row() -> None:
    """`np.empty_like(u[k])` raised where the loop does not run, and there is no such row."""
    for name, made in (("rotated", "np.empty(u.shape[1:], u.dtype)"),
                       ("edges_swapped", "np.empty(u[:, 1:-1].shape[1:], u.dtype)")):  # fmt: skip
        edit = getattr(story_programs, name).stories(r(0, 5, 4), 3)[0].edit
        assert edit is not None and f" = {made}\n" in edit.apply()


def test_an_axis_of_one_element_is_no_constant(tmp_path: Path) -> None:
    """`np.empty((m.shape[0], 1), m.dtype)`, for `m` of one column in the call, raised for more."""
    f = story_programs.sums_along
    told = f.stories(r(0, 5, 1), 3)
    for edit in told.edits:
        x, y = r(0, 5, 4), r(0, 5, 4)
        from_text(edit.apply(), tmp_path / f"sums_{edit.kind[:4]}.py", "sums_along").eager(x, 3)
        f.eager(y, 3)
        np.testing.assert_array_equal(x, y)
    assert f.stories(r(0, 5, 4), 3)[0].edit is not None


@pytest.mark.slow
def test_a_proof_is_of_the_order_of_lines() -> None:
    """Values of which one may be computed before the other, and those of other iterations, are no proof."""
    for name in ("leapfrog_steps", "velocity_verlet", "gauss", "rotate_phase"):
        case = next(c for c in CASES if c[0] == name)
        told = getattr(story_science, name).stories(*case[1](12, 4))
        assert not any("both are there" in (s.proof or "") for s in told), str(told)
    (story,) = story_science.clip_gradient.stories(r(0, 12), 0.2)
    assert story.proof is not None and "both are there at once in every order of these lines" in story.proof


@pytest.mark.slow
def test_an_edit_for_equal_sizes_says_so() -> None:
    """`result @ a` has as many columns as `a`; an array made before the loop has as many as it has rows."""
    told = story_programs.matrix_power.stories(r(0, 6, 6), 3)
    (edit,) = told.edits
    assert "only where a.shape[0] == a.shape[1]" in edit.caveat and "out=scratch" in edit.text
    assert not story_programs.matrix_power.stories(r(0, 6, 5), 3).edits


@pytest.mark.slow
def test_loops_from_a_constant_are_counted_in_numbers() -> None:
    """One constant may be the size of an array that is absent at first, and where a loop begins."""
    source = story_programs.late.stories(r(0, 9), 4)
    assert {s.how_often for s in source if s.entries[0].in_loop} == {"max(n, 0)"}


@pytest.mark.slow
def test_where_no_edit_was_found_the_proof_says_why() -> None:
    told = {name: getattr(story_programs, name).stories(*given)[0].proof or "" for name, given in (
        ("as_long_as_it_counts", (0.5, 4)), ("symmetric", (r(0, 5, 5),)))}  # fmt: skip
    assert all(text.startswith("No edit was found (") for text in told.values())
    assert "nothing before the loop is known to be as large" in told["as_long_as_it_counts"]
    assert "all of whose values are computed before the first is stored" in told["symmetric"]


@pytest.mark.slow
def test_a_formula_says_for_which_counts_it_is() -> None:
    """Where a loop does not run, another program is compiled: its formula was off by an array."""
    told = story_programs.heat.stories(r(0, 12), 4)
    (edit,) = told.edits
    assert (edit.condition, edit.axes) == ("steps >= 1", "len(u) >= 2")
    assert "in a call, for steps >= 1" in str(told) and "two elements or more along each axis" in str(told)


@pytest.mark.slow
def test_what_numpy_takes_more_is_said() -> None:
    """An edit may save in compiled code what it costs in NumPy."""
    told = story_science.adams_bashforth.stories(r(0, 1000), 0.1, 4)
    assert [e.eager_bytes for e in told.edits] == [8000]
    assert "eager NumPy takes 7.8 KiB more in a call with it" in str(told)
    told = story_science.descent.stories(*(r(k, *s) for k, s in enumerate([(50, 50), (50,), (50,)])), 0.01, 4)
    assert len(told.edits) == 2 and all(e.eager_bytes < 0 for e in told.edits) and "eager NumPy" not in str(told)


@pytest.mark.slow
def test_large_ones_first_and_small_ones_counted() -> None:
    def several(u: Any, v: Any) -> Any:
        few = np.cumsum(v)
        half = np.cumsum(u[: len(u) // 2])
        whole = np.cumsum(u)
        return (few[-1] + few.max()) * (half.max() - half.min()) + whole.max() - whole.min()

    from tracebuf import bufferize, measure

    f = bufferize(several)
    u, v = np.ones(2000), np.ones(8)
    for told in (f.explain(u, v), f.stories(u, v)):
        lines = [int(n) for n in re.findall(r"^line (\d+): allocation", str(told), flags=re.M)]
        first = several.__code__.co_firstlineno
        assert lines == [first + 3, first + 2] and "and 1 more below 1 KiB" in str(told)
        assert f"line {first + 1}: allocation of 64 B" in told.text(all=True)
        entries = getattr(told, "entries", told)
        assert len(list(entries)) == 3
    for g in (f, several):
        shown = str(measure(g, u, v))
        assert "below 1 KiB" in shown and "few = np.cumsum" not in shown and "\nlives: how long an array lives" in shown
        assert "few = np.cumsum" in measure(g, u, v).text(all=True)
    assert "python -m tracebuf suggest" in shown


def test_a_value_needed_as_a_whole_names_its_lines() -> None:
    story = story_programs.normal_equations.stories(r(0, 13, 12), r(1, 13))[0]
    assert "is needed as a whole before" in story.reason
    assert (story.defined.line, story.written.line, story.read.line) == (story.line, story.line, story.line + 2)
