"""Tasks of dask's own kind, for graphs that dask's fusion leaves as they are meant."""

from __future__ import annotations

from typing import Any

from dask._task_spec import Task


class Taken(Task):
    """Takes one item of several that a task gives. dask fuses a task with the one that it depends on where that has no
    other use, and has then looked at both: so where a taker comes first, the task whose items are taken is not fused
    with its own source any more. Takers are left out of it."""

    __slots__ = ()

    @property
    def block_fusion(self) -> bool:
        return True


def taker(several: bool) -> type[Any]:
    """The class of a task that takes an item, of one or of several."""
    return Taken if several else Task
