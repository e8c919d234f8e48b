"""Fixtures of the tests of calls."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tracebuf import api
from tracebuf.backend.runtime.callable import by_vectorcall


@pytest.fixture(autouse=True)
def compiled_although_it_moves(monkeypatch: pytest.MonkeyPatch) -> None:
    """Machine code takes the calls of functions that only move what they get, too: the simplest ones to test it on."""
    monkeypatch.setattr(api, "FORWARD", False)


@pytest.fixture
def checked(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """`TRACEBUF_CHECK_ENTRY`, for one test."""
    from tracebuf.testing import entries

    for name in ("NATIVE_AFTER", "WORTH"):
        monkeypatch.setattr(api, name, getattr(api, name))
    monkeypatch.setattr(api.BufferizedFunction, "__call__", api.BufferizedFunction.__call__)
    entries.install()
    yield entries
    monkeypatch.undo()
    by_vectorcall(api.BufferizedFunction)  # which later Pythons take from a class that gets another `__call__`
