"""Parameters of tests of which a few are representative: the fast tests take those, `make test` all."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

import pytest


def slow_but(quick: Collection[Any], values: Iterable[Any]) -> list[Any]:
    """The values, all but the quick ones marked slow."""
    return [v if v in quick else pytest.param(v, marks=pytest.mark.slow) for v in values]
