"""max_allocations, max_copies, max_bytes and in_place: programs that break them are refused when they are compiled."""

from __future__ import annotations

import pickle
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tracebuf
from tests.support.params import one_in
from tracebuf import ContractError, bufferize


def scale(u: Any, k: float) -> None:
    u *= k


def smooth(u: Any) -> None:
    u[1:-1] = (u[:-2] + u[1:-1] + u[2:]) / 3


def kept(u: Any) -> Any:
    before = np.empty_like(u)
    before[:] = u
    u += 1
    return before


def doubled(u: Any) -> Any:
    return 2 * u


def grown(u: Any, n: int) -> Any:
    for _ in range(n):
        u = u[::-1] + 1
    return u


def outer(u: Any, v: Any) -> Any:
    return (u[:, None] * v).sum(axis=0) + np.sort(v)


def swapped(u: Any, v: Any) -> None:
    for k in range(len(u)):
        u[k], v[k] = v[k], u[k]


def solved(u: Any, a: Any) -> None:
    u[:] = np.linalg.solve(a, u)


def until(u: Any) -> Any:
    while u.sum() < 1e3:
        u = np.append(u, u.sum())
    return u


U, V, A = np.arange(9.0), np.linspace(1, 2, 9), np.eye(9) + 0.1
HOLD: list[tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]] = [
    (scale, (U, 2.0), {"max_allocations": 0, "max_copies": 0, "max_bytes": 0, "in_place": "u"}),
    (doubled, (U,), {"max_allocations": 1, "max_bytes": "u.nbytes"}),
    (doubled, (U,), {"max_bytes": "8*len(u)"}),
    (doubled, (U,), {"max_bytes": 100}),
    (doubled, (A,), {"max_bytes": "u.itemsize * u.shape[0] * u.shape[1]"}),
    (grown, (U, 3), {"max_bytes": "max(n, 3) * u.nbytes", "max_copies": 0}),
    (kept, (U,), {"in_place": ("u",), "max_allocations": 1}),
    (swapped, (U, V), {"in_place": ("u", "v"), "max_allocations": 0}),
]
BROKEN: list[tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any], str]] = [
    (doubled, (U,), {"max_allocations": 0}, "`max_allocations=0` does not hold: 1 allocation\n"),
    (smooth, (U,), {"max_allocations": 0}, "stores over elements that the value is computed from"),
    (smooth, (U,), {"in_place": "u"}, "`u` is not updated in place"),
    (grown, (U, 3), {"max_allocations": 9}, "(each iteration)"),
    (doubled, (U,), {"max_bytes": 71}, "the peak is 8*len(u) bytes, 72 B in this call, 1 B more than the limit"),
    (doubled, (U,), {"max_bytes": "7*len(u)"}, "9 B more"),
    (doubled, (U,), {"in_place": "u"}, "nothing is stored to it"),
    (scale, (np.float64(3), 2.0), {"in_place": "u"}, "it is no array in this call"),
    (solved, (U, A), {"max_allocations": 0}, "allocation"),
    (until, (U,), {"max_bytes": 1000}, "a number that line"),
    (lambda u: np.linalg.solve(u, u), (A,), {"in_place": "u"}, "nothing is stored to it"),
]


@pytest.mark.parametrize(("f", "args", "contract"), HOLD)
def test_contracts_that_hold(f: Callable[..., Any], args: tuple[Any, ...], contract: dict[str, Any]) -> None:
    given, expected = ([np.copy(x) if isinstance(x, np.ndarray) else x for x in args] for _ in range(2))
    np.testing.assert_array_equal(bufferize(**contract)(f)(*given), f(*expected))
    for x, y in zip(given, expected):
        np.testing.assert_array_equal(x, y)


@pytest.mark.parametrize(("f", "args", "contract", "text"), BROKEN)
def test_contracts_that_are_broken(
    f: Callable[..., Any], args: tuple[Any, ...], contract: dict[str, Any], text: str
) -> None:
    """Nothing has run then, `fallback` does not hide it, and the next call says the same."""
    given = [np.copy(x) if isinstance(x, np.ndarray) else x for x in args]
    g = bufferize(fallback="numpy", **contract)(f)
    for _ in range(2):
        with pytest.raises(ContractError) as caught:
            g(*given)
        assert text in str(caught.value)
        assert caught.value.contract in str(caught.value)
    for x, y in zip(given, args):
        np.testing.assert_array_equal(x, y)


def test_sizes_for_which_a_limit_holds() -> None:
    """Other sizes are compiled, and checked, anew."""
    g = bufferize(max_bytes=1000)(doubled)
    assert g(np.ones(5)).sum() == 10
    assert g(np.ones(100)).sum() == 200
    for _ in range(2):
        with pytest.raises(ContractError, match="1.6 KiB in this call"):
            g(np.ones(200))
        assert g(np.ones(125)).sum() == 250


def test_an_error_has_the_entries_and_is_pickled() -> None:
    with pytest.raises(ContractError) as caught:
        bufferize(max_allocations=0)(smooth)(np.ones(9))
    error = caught.value
    assert [e.kind for e in error.entries] == ["allocation"]
    assert error.location is not None and error.location.function == "smooth"
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


@pytest.mark.parametrize(
    ("given", "error", "text"),
    [
        ({"max_allocations": -1}, ValueError, "max_allocations is not negative"),
        ({"max_copies": 1.5}, TypeError, "max_copies is an int, not 1.5"),
        ({"max_copies": True}, TypeError, "max_copies is an int"),
        ({"max_bytes": "8*"}, ValueError, "max_bytes is a number or a formula"),
        ({"max_bytes": b"8"}, TypeError, "max_bytes is an int or a str"),
        ({"in_place": "w"}, ValueError, "in_place names 'w', which is no parameter of doubled"),
    ],
)
def test_what_is_no_contract(given: dict[str, Any], error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        bufferize(**given)(doubled)


def padded(u: Any, w: Any, k: int) -> Any:
    n, m = u.shape
    rest, pairs = len(w) - 1, n * m  # noqa: F841
    deep: int = u.shape[-1] // 2  # noqa: F841
    out = np.zeros((n + 2 * k, m))
    u = u * 1.0
    late = len(u)  # noqa: F841
    if k:
        odd = 3  # noqa: F841
    twice = 1
    for twice in range(2):
        out[0] = twice
    total = u.sum()  # noqa: F841
    out[k : n + k] = u
    return out


@pytest.mark.parametrize(
    "limit", one_in(3, ["8*n*m + 8*(n + 2*k)*m", "8*pairs + 8*m*(n + 2*k)", "16*pairs + 32*deep*k + 16*k*m"])
)
@pytest.mark.slow
def test_sizes_that_the_function_names(limit: str) -> None:
    f = bufferize(max_bytes=limit)(padded)
    for n, m in ((3, 5), (40, 2), (1, 1)):
        np.testing.assert_array_equal(f(np.ones((n, m)), np.ones(3), 2), padded(np.ones((n, m)), np.ones(3), 2))
    with pytest.raises(ContractError, match="more than the limit"):
        bufferize(max_bytes="n*m")(padded)(np.ones((30, 50)), np.ones(3), 2)


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("odd", "'odd' is bound in a loop or a branch"),
        ("twice", "'twice' is bound more than once"),
        ("late", "'late' is of 'u' after that is bound anew"),
        ("total", "'total' is of 'u' after that is bound anew"),
        ("out", "'out' is 'np.zeros((n + 2 * k, m))', which is no size of a parameter"),
        ("what", "'what' is no int among the parameters, nor a size of one that the function names"),
    ],
)
def test_names_that_are_no_sizes(name: str, why: str) -> None:
    with pytest.raises(ValueError, match=f"max_bytes='8\\*{name}': {re.escape(why)}"):
        bufferize(max_bytes=f"8*{name}")(padded)(np.ones((3, 5)), np.ones(3), 2)


@pytest.mark.parametrize("text", ["k", "u", "u.shape", "u.shape[1]", "u.nbytes ** 2", "print()", "len(n)"])
def test_formulas_that_mean_nothing(text: str) -> None:
    with pytest.raises(ValueError, match="max_bytes="):
        bufferize(max_bytes=text)(grown)(np.ones(3), 2)


def test_a_contract_for_a_whole_program() -> None:
    with tracebuf.options(max_copies=0, max_allocations=0):
        g = bufferize(doubled)
    with pytest.raises(ContractError):
        g(np.ones(3))


def saved_for_later(u: Any, v: Any) -> None:
    w = u.copy()
    u *= 2
    v += w


def test_an_error_tells_the_story() -> None:
    """Its lines, what it takes, the rule, and the edit that removes it; at the second call again, without trials."""
    first = saved_for_later.__code__.co_firstlineno
    g, u, v = bufferize(max_allocations=0)(saved_for_later), np.ones(9), np.ones(9)
    for _ in range(2):
        with pytest.raises(ContractError) as caught:
            g(u, v)
        (story,) = caught.value.stories
        assert story.edit is not None and story.edit.saves == 72
        text = str(caught.value)
        assert f"write in line {first + 2}, read in line {first + 3}, definition in line {first + 1}" in text
        assert "(rule: read after write)" in text and "saves 72 B = 8*len(u) in a call" in text
        assert f"edit: move line {first + 3} (`v += w`) before line {first + 2} (`u *= 2`)" in text
        assert text.endswith("Instead: make this edit, or allow it")
        assert str(pickle.loads(pickle.dumps(caught.value))) == text
    assert u[0] == v[0] == 1


def test_a_story_without_an_edit() -> None:
    with pytest.raises(ContractError) as caught:
        bufferize(in_place="u")(smooth)(np.ones(9))
    (story,) = caught.value.stories
    assert story.edit is None and f"edit: none. {story.proof}" in str(caught.value)


def test_stories_of_a_broken_contract_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """No edit is looked for longer than the time there is."""
    from tracebuf.stories import broken

    monkeypatch.setattr(broken, "SECONDS", 0.0)
    with pytest.raises(ContractError) as caught:
        bufferize(max_allocations=0)(saved_for_later)(np.ones(9), np.ones(9))
    assert caught.value.stories[0].edit is None and "write in line" in str(caught.value)
