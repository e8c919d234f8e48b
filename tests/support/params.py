"""Parameters of tests of which a few are representative: the fast tests take those, `make test` one in so many of the
others, `make sweeps` all."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable
from typing import Any

import pytest


def amount(few: int, many: int) -> int:
    """How many programs a sweep draws: few where the whole suite is run, many in `make sweeps` and when it is named."""
    return many if os.environ["TRACEBUF_TESTS_SHARE"] == "1" else few


def some(n: int, values: Iterable[Any]) -> list[Any]:
    """One in `n` of the values that a test goes through where the whole suite is run, all of them in `make sweeps` and
    when it is named."""
    return list(values)[:: amount(n, 1)]


def slow_but(quick: Collection[Any], values: Iterable[Any]) -> list[Any]:
    """The values, all but the quick ones marked slow."""
    return [v if v in quick else pytest.param(v, marks=pytest.mark.slow) for v in values]


def one_in(n: int, values: Iterable[Any], *, rows: bool = False) -> list[Any]:
    """The values, the first of every `n` fast and the others marked slow. `rows`: each is a tuple of parameters."""
    listed = [(i % n, v if rows else (v,)) for i, v in enumerate(values)]
    return [pytest.param(*v, marks=pytest.mark.slow if skipped else ()) for skipped, v in listed]
