"""Parameters of tests of which a few are representative: the fast tests take those, `make test` all."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

import pytest


def slow_but(quick: Collection[Any], values: Iterable[Any]) -> list[Any]:
    """The values, all but the quick ones marked slow."""
    return [v if v in quick else pytest.param(v, marks=pytest.mark.slow) for v in values]


def one_in(n: int, values: Iterable[Any], *, rows: bool = False) -> list[Any]:
    """The values, the first of every `n` fast and the others marked slow. `rows`: each is a tuple of parameters."""
    listed = [(i % n, v if rows else (v,)) for i, v in enumerate(values)]
    return [pytest.param(*v, marks=pytest.mark.slow if skipped else ()) for skipped, v in listed]
