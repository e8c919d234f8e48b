"""What the tests on dask share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest


@pytest.fixture
def one_thread() -> Iterator[None]:
    """Tasks run in this thread, one after the other."""
    import dask

    with dask.config.set(scheduler="synchronous"):
        yield
