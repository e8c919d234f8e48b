"""Copy stories: they name the right lines, and the edit that one suggests, made in the source as text, gives equal
results and saves exactly what was promised."""

from __future__ import annotations

import importlib.util
import json
import linecache
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.support import story_functions
from tests.support.params import one_in
from tracebuf import bufferize, spec
from tracebuf.measure import clone_arguments

U, V, W, A = (np.random.default_rng(k).random(s) for k, s in enumerate((12, 12, 12, (5, 12))))
M, X = np.random.default_rng(5).random((5, 5)) + 5 * np.eye(5), np.random.default_rng(6).random(5)
CASES: list[tuple[str, tuple[Any, ...], str | None]] = [
    ("saved_for_later", (U, V), "move"),
    ("before_and_after", (U,), None),
    ("smoothed", (U,), None),
    ("fresh", (U,), "donate"),
    ("gathered_then_cleared", (U, np.array([1, 3, 4])), "compute before"),
    ("exchanged", (A, 1, 2), None),
    ("copied_twice", (U,), "leave out a copy"),
    ("masked_rows", (U, 5), "allocate once"),
    ("normalised_rows", (A,), "leave out a copy"),
    ("normalised_copies", (A,), "leave out a copy"),
    ("reversed_in_place", (U,), None),
    ("product_in_place", (M, X), None),
    ("summed_late", (U, V), "move"),
    ("softmax", (U,), "donate"),
    ("rotated", (U, V, W), None),
    ("steps", (U, V), None),
    ("sorted_ends", (U,), None),
    ("running", (U,), "donate"),
    ("grown", (U,), None),
    ("transposed", (A,), None),
    ("kept_argument", (U,), "donate"),
    ("both_halves", (U, V), "move"),
    ("difference_kept", (U, V), "move"),
    ("stepped", (U, 3), "allocate once"),
    ("energy", (U, V), "compute before"),
    ("swapped", (U, V), None),
    ("nothing_left", (U, V), ""),
    ("solved", (M, X), None),
    ("defensive", (U, V), ""),
    ("scaled_rows", (A, X), "allocate once"),
    ("lagged", (U, 3), "allocate once"),
    ("two_parts", (U, 5), "compute before"),
    ("several_lines", (U, V), "move"),
    ("on_one_line", (U, V), "move"),
    ("behind_a_head", (U, V, 1), "move"),
    ("moved_together", (U, V), "move"),
    ("written_then_read", (U, V), "move"),
    ("summed_each_time", (U, 3), "allocate once"),
    ("multiplied_each_time", (M, X, 3), "allocate once"),
    ("smoothed_often", (U, 3), "allocate once"),
    ("doubly_buffered", (U, 3), "take turns"),
    ("written_in_a_branch", (U, V), None),
    ("written_in_a_branch_of_a_loop", (U, V, 3), None),
]
"""Each function's arguments and the kind of edit that removes what is marked; None where nothing does, "" where there
is nothing left."""


def marked(f: Any, mark: str) -> int | None:
    """The first line of a function with this letter in its comment."""
    file, first = f.__wrapped__.__code__.co_filename, f.__wrapped__.__code__.co_firstlineno
    for n in range(first, first + 20):
        line = linecache.getline(file, n)
        if n > first + 2 and line.startswith("@"):
            return None
        if mark in line.partition("#")[2].split() and "is above" not in line:
            return n
    return None


def from_text(text: str, where: Path, name: str) -> Any:
    """A function of a module that has this text."""
    where.write_text(text)
    spec = importlib.util.spec_from_file_location(where.stem, where)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return getattr(module, name)


def total(counters: Any) -> int:
    return int(counters.allocated_bytes + counters.copied_bytes)


@pytest.mark.parametrize(("name", "args", "kind"), one_in(12, CASES, rows=True))
@pytest.mark.cases(4)
def test_stories(name: str, args: tuple[Any, ...], kind: str | None, tmp_path: Path) -> None:
    f = getattr(story_functions, name)
    told = f.stories(*args)
    json.dumps(told.to_dict())
    assert f.__name__ in str(told) and f.__name__ in told._repr_html_()
    if kind == "":
        assert not told.stories
        return
    story = next(s for s in told if s.line == marked(f, "A"))
    for place, mark in ((story.written, "W"), (story.read, "R")):
        line = marked(f, mark)
        assert line is None or (place is not None and place.line == line), str(told)
    assert (story.edit.kind if story.edit is not None else None) == kind, str(told)
    assert (story.proof is None) == (story.edit is not None)
    for s in told:
        if s.edit is not None:
            check_edit(f, args, s.edit, tmp_path / f"edited_{name}_{s.line}.py")


def check_edit(f: Any, args: tuple[Any, ...], edit: Any, where: Path) -> None:
    """The text of the edit compiles to a function that does the same, with exactly the saving that was promised."""
    edited = from_text(edit.apply(), where, f.__name__)
    (one, _), (two, _), (three, _) = (clone_arguments(args, {}) for _ in range(3))
    expected, (before, old), (after, new) = f.eager(*one), f.call_counted(*two), edited.call_counted(*three)
    np.testing.assert_allclose(after, expected) if expected is not None else None
    np.testing.assert_allclose(before, expected) if expected is not None else None
    for x, y in zip(one, three):
        if not edit.options and isinstance(x, np.ndarray):
            np.testing.assert_allclose(x, y, rtol=1e-12)
    assert total(old) - total(new) == edit.saves > 0
    assert (old.allocations - new.allocations, old.copies - new.copies) == (edit.allocations, edit.copies)
    assert eval(edit.formula.replace(".", "_"), sizes(f, args)) == edit.saves if edit.formula else True


def sizes(f: Any, args: tuple[Any, ...]) -> dict[str, Any]:
    """The names in formulas."""
    names = f.__wrapped__.__code__.co_varnames
    arrays = [(n, x) for n, x in zip(names, args) if isinstance(x, np.ndarray)]
    found = {f"{n}_{k}": size for n, x in arrays for k, size in enumerate(x.shape)}
    return {**dict(zip(names, args)), **found}


def test_what_a_story_says() -> None:
    u, v = np.ones(100), np.ones(100)
    told = story_functions.saved_for_later.stories(u, v)
    first = marked(story_functions.saved_for_later, "A")
    assert first is not None
    (story,) = told
    assert (story.bytes, story.size, story.times, story.lines) == (800, "8*len(u)", 1, (first, first + 1, first + 2))
    assert story.edit is not None and story.edit.saves == 800 and story.edit.formula == "8*len(u)"
    assert f"move line {first + 2} (`v += w`) before line {first + 1} (`u *= 2`)" in str(told)
    np.testing.assert_array_equal(u, 1)
    assert story.to_dict()["edit"]["changes"][0]["after"] == ["    v += w  # R"]
    assert repr(told.saved[0]) == f"line {first}: 1 array, 800 B, of which 800 B are left"


@pytest.mark.slow
def test_what_an_edit_saves_is_simplified() -> None:
    u, v = np.ones(100), np.ones(100)
    story = story_functions.saved_before_a_loop.stories(u, v, 3)[0]
    assert story.edit is not None and story.edit.formula == "8*len(u)"


def test_loops_say_how_often() -> None:
    (story,) = story_functions.normalised_rows.stories(A)
    assert (story.times, story.how_often, story.bytes) == (5, "max(a.0, 0)", 96)
    story = story_functions.masked_rows.stories(U, 4)[1]
    assert (story.times, story.how_often) == (4, "max(n, 0)")
    assert story.edit is not None and story.edit.formula == "8*len(u)*max(n, 0) - 8*len(u)"


def test_what_is_saved_is_what_eager_allocates() -> None:
    """All that eager allocates is by some line."""

    def chain(u: Any, v: Any) -> Any:
        a = u + v
        b = a * a
        return b - v

    told = bufferize(chain).stories(np.ones(1000), np.ones(1000))
    assert [(s.allocations, s.bytes, s.saved_bytes) for s in told.saved] == [(1, 8000, 8000)] * 2 + [(1, 8000, 0)]
    assert "saved beside NumPy: 15.6 KiB in a call" in str(told) and repr(told.saved[0]) in str(told)


def test_a_function_that_calls_others_is_not_run_again() -> None:
    called = []

    def talks(u: Any) -> Any:
        print(called.append(1))
        return u * 2

    told = bufferize(talks).stories(np.ones(4))
    assert not called and told[0].edit is None and "trials would call" in str(told)


def test_stories_of_methods_specs_and_contracts() -> None:
    class Field:
        def __init__(self) -> None:
            self.u, self.v = np.ones(9), np.ones(9)

        @bufferize(max_allocations=0)
        def step(self, k: float) -> None:
            old = self.u.copy()
            self.u *= k
            self.v += old

    field = Field()
    (story,) = field.step.stories(2.0)
    assert story.edit is not None and story.edit.kind == "move" and "share no memory" in str(story)
    assert field.u[0] == 1
    (story,) = story_functions.saved_for_later.stories(spec("f8[n]"), spec("f8[n]"))
    assert story.bytes is None and "saves 8*len(u) bytes in a call" in str(story)


def helped(a: Any, b: Any) -> None:
    t = a.copy()
    a *= 2
    b += t


def test_helpers_are_not_edited() -> None:
    def calls(u: Any, v: Any) -> None:
        helped(u, v)

    (story,) = bufferize(calls).stories(U, V)
    assert story.edit is None and "another function" in str(story)


def test_one_edit_is_told_as_often_as_it_removes() -> None:
    def lists(u: Any) -> Any:
        xs = [u.copy() for _ in range(3)]
        for x in xs:
            x += 1
        return sum(x.sum() for x in xs)

    assert sum(s.edit is not None for s in bufferize(lists).stories(U)) == 1


def test_colours_are_for_terminals(capsys: pytest.CaptureFixture[str]) -> None:
    story_functions.fresh.stories(U).show()
    assert "\033" not in (text := capsys.readouterr().out) and "donate" in text


def test_the_page_shows_what_is_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    """docs/explain.md: its programs print what it shows."""
    page = (Path(__file__).parents[2] / "docs" / "explain.md").read_text()
    parts = re.findall(r"```(python)?\n(.*?)```", page, flags=re.S)
    names: dict[str, Any] = {"np": np, "bufferize": bufferize}
    for k, ((_, code), (_, shown)) in enumerate(zip(parts[::2], parts[1::2])):
        printed: list[Any] = []
        file = f"<explain {k}>"
        monkeypatch.setitem(linecache.cache, file, (len(code), None, code.splitlines(True), file))
        exec(compile(code, file, "exec"), {**names, "print": printed.append})
        assert "\n".join(map(str, printed)).split("\n\nsaved beside")[0].strip() in shown
        assert shown.strip() in str(printed[0]) or k == 0


def test_checks_stay_where_they_are() -> None:
    """What was checked before the store is not checked after it."""
    (story,) = story_functions.asserted_between.stories(np.ones(100), np.ones(100))
    assert story.edit is None or story.edit.kind != "move" or "v += w" not in story.edit.text


def test_an_edit_that_raises_is_none() -> None:
    assert len(story_functions.kept_in_a_list.stories(np.ones(400))) == 1


def test_methods_have_reports() -> None:
    made = story_functions.Solver(2.0).step.report(None, np.ones(100), np.ones(100))
    assert "u *= self.k" in made.html


def test_statements_of_one_line_move_in_it(tmp_path: Path) -> None:
    (story,) = story_functions.on_one_line.stories(U, V)
    assert story.edit is not None and "move `v += w` before `u *= 2`" in story.edit.text
    assert "w = u.copy(); v += w; u *= 2  # A W R" in story.edit.apply()


@pytest.mark.slow
def test_a_proof_is_one() -> None:
    """Both values are there at once only where what takes the old one whole is computed from the new one."""
    story = story_functions.steps.stories(U, V)[0]
    assert story.proof is not None and "both are there at once in every order of these lines" in story.proof
    for name in ("smoothed", "reversed_in_place", "product_in_place", "exchanged"):
        args = {case[0]: case[1] for case in CASES}[name]
        for story in getattr(story_functions, name).stories(*args):
            assert story.edit is not None or story.proof.startswith("No edit was found ("), story.proof


def test_conditions_do_not_write() -> None:
    (story,) = story_functions.written_in_a_branch.stories(U, V)
    assert "`u *= 2`" in story.reason and story.written.line == marked(story_functions.written_in_a_branch, "W")


def test_what_a_wrapped_function_saves() -> None:
    told = story_functions.wrapped.stories(np.ones(1000), np.ones(1000))
    assert [s.source for s in told.saved] == ["d = u - v", "return np.sqrt((d * d).mean())"]
    assert "return f(*args" not in str(told)
    made = story_functions.wrapped.report(None, np.ones(9), np.ones(9))
    assert "d = u - v" in [line["text"].strip() for line in made.data["source"]]


def test_small_savings_are_not_listed() -> None:
    told = story_functions.mostly_one.stories(np.ones(10_000))
    assert "s = u.max() + u.min()" not in str(told) and "return (u - s) * 2" in str(told)
    assert "saved beside" not in str(story_functions.on_one_line.stories(np.ones(1000), np.ones(1000)))


@pytest.mark.slow
def test_long_expressions(monkeypatch: pytest.MonkeyPatch) -> None:
    """Deeper than Python's own functions on syntax trees go."""
    text, names = story_functions.LONG, dict[str, Any]()
    monkeypatch.setitem(linecache.cache, "<long>", (len(text), None, text.splitlines(True), "<long>"))
    exec(compile(text, "<long>", "exec"), names)
    assert "w = u.copy()" in str(bufferize(names["added"]).stories(np.ones(10), np.ones(10)))
