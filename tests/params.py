"""Parameters of tests of which a few are representative: the fast tests take those, `make test` all."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

import pytest


def slow_but(quick: Collection[Any], values: Iterable[Any]) -> list[Any]:
    """The values, or tuples of values, all but the quick ones marked slow."""
    return [v if v in quick else pytest.param(*_tuple(v), marks=pytest.mark.slow) for v in values]


def _tuple(value: Any) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else (value,)
