"""The text of a program as Python: what it reads like, and that every program of the collection has one."""

from __future__ import annotations

import ast
from typing import Any

import numpy as np
import pytest

import tracebuf
from tests.programs.textbook import matrix_power_by_squaring
from tests.support.agreement import agree
from tests.support.corpus import PROGRAMS
from tests.support.params import one_in
from tracebuf.backend.numba.style.format import fitted
from tracebuf.backend.numba.style.render import shown
from tracebuf.options import Options
from tracebuf.testing import ladder


def smoothed(u: np.ndarray, v: np.ndarray, dt: float) -> np.ndarray:
    inner = u[1:-1]
    v[1:-1] += dt * inner
    inner[:] = (u[:-2] + u[2:]) / 2 + v[1:-1]
    return inner


def row_sums(a: np.ndarray, limit: int) -> np.ndarray:
    found = np.zeros(len(a))
    for k in range(limit):
        found += a[:, k] * (a > 0).sum(axis=1)
    return found


def test_a_text_reads_like_the_function() -> None:
    text = tracebuf.bufferize(smoothed).lower(np.ones(9), np.ones(9), 0.1).as_text("numba")
    assert "def smoothed(u, v, dt):" in text and "tracebuf" not in text
    assert "# line 24: v[1:-1] += dt * inner" in text
    assert "u_part[...] = " in text and "for i in range(" in text
    assert max(map(len, text.splitlines())) <= 120


def test_names_are_the_users() -> None:
    text = tracebuf.bufferize(row_sums).lower(np.ones((4, 5)), 3).as_text("numba")
    assert "for k in range(limit):" in text and "found = np.zeros(n_a)" in text


@pytest.mark.parametrize("name", one_in(4, sorted(PROGRAMS)))
@pytest.mark.cases(3)
def test_every_program_has_a_text_that_runs(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """By plain Python, without the rung of native code."""
    monkeypatch.setattr(ladder, "python_module", ladder.module_of)
    monkeypatch.setattr(ladder, "native", lambda *args: None)
    function, arguments = PROGRAMS[name]
    random = np.random.default_rng(1)
    args = arguments(lambda *shape: random.random(shape), 6)
    ladder.climb(function, args, strategies=(Options(),), tolerance=1e-9)


def shifted(a: np.ndarray, n: np.ndarray) -> np.ndarray:
    return np.left_shift(a, n)


def test_counts_of_shifts_are_compared_without_a_sign(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ladder, "python_module", ladder.module_of)
    monkeypatch.setattr(ladder, "native", lambda *args: None)
    for dtype in (np.int8, np.int64, np.uint16):
        ladder.climb(shifted, (np.array([1, 3, 7], dtype), np.array([2, 0, 100], dtype)), strategies=(Options(),))


def asserted(a: np.ndarray) -> float:
    if not np.logical_not(a[-2]) <= 2:
        raise ValueError("no")
    return float(a.sum())


def test_a_comparison_within_another_is_not_turned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ladder, "python_module", ladder.module_of)
    monkeypatch.setattr(ladder, "native", lambda *args: None)
    ladder.climb(asserted, (np.arange(4.0),), strategies=(Options(),))


def power(x: float, n: int) -> float:
    if n == 0:
        return 1.0
    half = power(x, n // 2)
    return half * half if n % 2 == 0 else half * half * x


def test_functions_that_call_themselves(monkeypatch: pytest.MonkeyPatch) -> None:
    """What has no name gets none of another argument."""
    monkeypatch.setattr(ladder, "python_module", ladder.module_of)
    monkeypatch.setattr(ladder, "native", lambda *args: None)
    ladder.climb(power, (1.5, 11), strategies=(Options(),))


def perhaps_more(c: np.ndarray, more: bool) -> tuple[np.ndarray, float]:
    h = c[1:]
    if c[0, 0] > 1:
        h = c[1:] + 1
    return h[:2].sum(axis=1), c[1:].mean()


def test_a_size_has_no_name_of_a_branch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ladder, "python_module", ladder.module_of)
    monkeypatch.setattr(ladder, "native", lambda *args: None)
    for first in (0.0, 2.0):
        ladder.climb(perhaps_more, (np.full((5, 2), first), True), strategies=(Options(),))


def mirrored(a: np.ndarray) -> None:
    a[::-1, 1] = 2 - a[:, 1]


def test_a_variable_of_one_branch_is_not_read_in_another(monkeypatch: pytest.MonkeyPatch) -> None:
    """A number that got a name where one branch uses it is written out again in the other."""
    monkeypatch.setattr(ladder, "python_module", ladder.module_of)
    monkeypatch.setattr(ladder, "native", lambda *args: None)
    ladder.climb(mirrored, (np.arange(10, dtype=np.uint8).reshape(5, 2),))


def test_loops_assign_to_what_they_began_with() -> None:
    text = tracebuf.bufferize(matrix_power_by_squaring).lower(np.eye(3), 5).as_text("numba")
    lines = [line.strip() for line in text.splitlines()]
    assert {"while k > 0:", "result_1 = result @ base", "base = base @ base", "k //= 2"} <= set(lines), text
    assert len([line for line in lines if line.startswith(("result", "base"))]) == 7, text


def with_slices(a: np.ndarray) -> np.ndarray:
    b = np.sort(a)
    c = np.sort(b[1:] - b[:-1])
    return np.sort(c[1:] - c[:-1])


def test_views_are_deleted_with_their_array() -> None:
    """A view would keep the array's memory."""
    text = tracebuf.bufferize(with_slices).lower(np.arange(9.0)).as_text("numba")
    deleted = [line.split()[1:] for line in text.splitlines() if line.strip().startswith("del ")]
    assert any(len(names) == 3 for names in deleted), text


def added(*parts: np.ndarray, start: float) -> np.ndarray:
    for p in parts:
        start = start + p
    return start


def taking_turns(a: np.ndarray, n: int) -> np.ndarray:
    one = a
    two = added(a, a, start=a[n % 3, -1])
    k = 0
    while k < 3:
        made = np.empty_like(a, dtype=np.uint16)
        one, two = two, one
        for _ in (made, two):
            for _ in range(two.shape[1], k - 1, -1):
                two = two + 1
                a[np.arange(a.shape[0])[::-1]] + a[np.arange(a.shape[0])[::-1]]
        k += 1
    return np.zeros((one.shape[0], a.shape[0]))


@pytest.mark.slow
def test_no_name_is_deleted_twice() -> None:
    """A name was deleted before the `break` of a loop, and again after the loop."""
    ladder.climb(taking_turns, (np.ones((2, 2)), 0), strategies=(Options(),))


def test_remainders_are_written_as_such() -> None:
    text = tracebuf.bufferize(lambda a, n: a[n % 3]).lower(np.arange(4.0), 5).as_text("numba")
    assert "n % 3" in text, text


def reversed_parts(b: np.ndarray) -> None:
    turned = b[::-1]
    for i in range(b[0]):  # noqa: B007 (read below)
        known = turned
    part = known[:i:-2]
    part[::-1] = turned[4:]


def test_a_reversed_part_of_no_elements_has_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """It begins before the array, and an end of -1 is not NumPy's -1."""
    monkeypatch.setattr(ladder, "python_module", ladder.module_of)
    monkeypatch.setattr(ladder, "native", lambda *args: None)
    ladder.climb(reversed_parts, (np.array([5, 2], np.uint8),))


def clamped(a: np.ndarray, low: float) -> Any:
    best, found, kind = a[0], 0, 0
    for i in range(len(a)):
        if a[i] != a[i]:
            found += 1
        best = a[i] if a[i] < best else best
        if best < low:
            best = low
        kind = 1 if i > 2 else 2
    return best, found, kind, np.argmin(a)


def test_steps_that_are_made_plainer_keep_the_values(monkeypatch: pytest.MonkeyPatch) -> None:
    """Choices as `min` and `max`, numbers compared with themselves, checks that repeat: also of NaN."""
    monkeypatch.setattr(ladder, "native", lambda *args: None)
    for a in ([3.0, 1.0, np.nan, 2.0], [np.nan, 1.0, -1.0, 0.0]):
        ladder.climb(clamped, (np.array(a), 0.5))
        agree(clamped, np.array(a), 0.5)
    text = tracebuf.bufferize(clamped).lower(np.ones(4), 0.5).as_text("numba")
    assert "np.isnan(" in text and "else a[" not in text, text


def test_lines_that_are_too_long_are_broken_at_their_items() -> None:
    text = "x = some_function(" + ", ".join(f"argument_{k}" for k in range(9)) + ")"
    lines = fitted("    " + text)
    assert lines[0] == "    x = some_function(" and lines[-2:] == ["        argument_8,", "    )"]
    long = fitted('    raise ValueError("' + "word " * 30 + '")')
    assert all(len(line) <= 88 for line in long) and eval("(" + "".join(long[1:-1]) + ")")[0] == "word " * 30
    assert fitted("    # " + "w" * 100)[0].endswith(" ...")
    assert fitted(" " * 96 + "# line 14: x = y")[0].startswith(" " * 96 + "# line")  # deeper than a line is long


def power_of_none(x: float) -> Any:
    return np.reciprocal((0 * x) ** 2)


def test_what_stands_for_the_c_library_gives_numbers_of_pythons(monkeypatch: pytest.MonkeyPatch) -> None:
    """1.0 by such a 0.0 raised ZeroDivisionError."""
    monkeypatch.setattr(ladder, "python_module", ladder.module_of)
    monkeypatch.setattr(ladder, "native", lambda *args: None)
    ladder.climb(power_of_none, (2.0,), strategies=(Options(),))


def swapped_once(a, b):
    """The test of a loop is read after it."""
    k = 0
    while k < 1:
        t = b.reshape(-1)
        k += 1
    u = b
    for x in (t, u):
        if not x.sum():
            b, t = t, b
        both = [t, a]
    return both, 1


@pytest.mark.slow
def test_a_test_that_is_read_after_its_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ladder, "NUMBA", 1)
    ladder.climb(swapped_once, (np.ones(4), np.zeros(4)), strategies=(Options(),))


@pytest.mark.parametrize("depth", range(20, 30))
def test_lines_that_are_deeper_than_they_may_be_long(depth: int) -> None:
    for line in ("del x_50, x_51", "raise ValueError('no ' 'one')", "a[x_50, x_51] = not (x_50 < x_51 or x_51 < x_50)"):
        lines = [f"{'    ' * k}if True:" for k in range(depth)] + fitted("    " * depth + line)
        whole, plain = (ast.parse(text) for text in ("\n".join(lines), line))
        deepest = [n for n in ast.walk(whole) if isinstance(n, ast.If)][-1].body
        names = [shown(t) for s in deepest if isinstance(s, ast.Delete) for t in s.targets]
        assert names == ["x_50", "x_51"] if names else ast.dump(deepest[0]) == ast.dump(plain.body[0])


def test_the_least_int_has_no_opposite() -> None:
    """`x + -2**63` was written `x - 2**63`, which is no int64: OverflowError in Python, a float with Numba."""

    def f(a):
        b = np.int64(2**62)
        return a + np.int64(-(2**63)), np.int64(-(2**63)) + a, a[0] - np.int64(-(2**63)), a + b + b, a - b - b - b

    ladder.climb(f, (np.arange(-3, 4),))
