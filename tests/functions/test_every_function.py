"""Calls of every function of the support table, drawn by `tracebuf.testing.functions`, against eager (rule C1)."""

from __future__ import annotations

import os
import random
import sys

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from tests.support.agreement import agree, program, refused
from tests.support.forms import UNUSUAL
from tracebuf.frontends.numpy.functions import table as known
from tracebuf.frontends.numpy.record.registry import FORMULAS
from tracebuf.testing import functions, names
from tracebuf.testing.drawn import Array, Call
from tracebuf.testing.functions import apart, calls, close, drawn, judge, known_names, picker, run
from tracebuf.testing.specs import spec_of


def test_every_known_function_can_be_drawn() -> None:
    """A function that is new in the tracer's tables is drawn by the names of its parameters."""
    for name in known_names():
        drawn(name, picker(random.Random(0)))


PARTS = 12


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_a_few_calls_of_every_function(part: int) -> None:
    """Rule C1 for each function of the table; `python -m tracebuf.testing.functions` runs as many as one likes."""
    failed = []
    for name in known_names()[part::PARTS]:
        failed += run(name, seed=0, seconds=60, most=3).failures.values()
    assert not failed, "\n".join(failed)


def test_every_key_of_the_tables_has_a_name() -> None:
    named = {id(names.object_of(n)) for n in names.public()}
    roots = [(f, (getattr(f, "__module__", None) or "numpy").partition(".")[0]) for f in known.HANDLERS]
    own = [f for f, root in roots if root in {"numpy", *sys.stdlib_module_names}]  # other packages add theirs
    assert not [f for f in own if id(f) not in named]
    public = [m for m in known.METHODS if not m.startswith("__")]  # special methods are no names
    assert not [m for m in public if f"ndarray.{m}" not in names.public()]


def test_a_function_is_known_in_one_way() -> None:
    assert not [f for f in FORMULAS if f in known.HANDLERS]


def test_draws_repeat() -> None:
    first, second = (drawn("np.sum", picker(random.Random(3))) for _ in range(2))
    assert str(first) == str(second) and "np.sum" in first.text
    for x, y in zip(first.arguments(1), second.arguments(1)):
        np.testing.assert_array_equal(x, y)


@pytest.mark.slow
@settings(max_examples=10, suppress_health_check=list(HealthCheck), deadline=None)
@given(calls("np.add"))
def test_calls_are_a_strategy(call: Call) -> None:
    assert judge(call).kind != "failed", f"{judge(call).what}\n{call}"


@pytest.mark.slow
def test_a_wrong_value_and_a_wrong_dtype_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    call = Call("np.sum", ("return np.sum(a, axis=0)",), {"a": Array("float64", (3, 2), "F", "sums")})
    assert judge(call).kind == "ok"
    right = known.HANDLERS[np.sum]
    monkeypatch.setitem(known.HANDLERS, np.sum, lambda r, a, axis: right(r, a, axis, initial=0.25))
    assert "became" in judge(call).what
    monkeypatch.setitem(known.HANDLERS, np.sum, lambda r, a, axis: right(r, a, axis, dtype=np.float32))
    assert "float32" in judge(call).what
    assert run("np.sum", 1, 20, most=12).counts["failed"]


def test_a_crash_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    def crash(*_: object) -> None:
        functions._current("the call under way")
        os._exit(3)

    monkeypatch.setattr(functions, "run", crash)
    assert "the call under way" in apart("np.sum", 0, 1.0, 1).failures["crash"]


def test_tolerances_are_of_the_family() -> None:
    assert [spec_of(n).near for n in ("np.reshape", "np.sin", "np.sum", "ndarray.mean")] == [
        "exact", "loops", "sums", "sums",
    ]  # fmt: skip
    x = np.array([1.0, np.nan, -0.0])
    assert close(x, x.copy(), 0) and not close(x, abs(x), 0) and not close(x, x + 1e-9, -4.0)
    assert close(x, x + 1e-9, 1e-8) and not close(x, np.array([1, np.inf, 0]), 1e-8)


def test_parameters_that_only_numpy_has_are_refused_by_name() -> None:
    error = refused(program("def f(a):\n    return np.clip(a, 0, 1, casting='safe')"), UNUSUAL["a"])
    assert "casting=" in str(error)
    agree(program("def f(a):\n    return np.flip(a, 0, sideways=True)"), UNUSUAL["a"])
    agree(program("def f(a):\n    return a.copy(1, 2)"), UNUSUAL["a"])
