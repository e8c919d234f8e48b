"""Beyond one memory and one machine: which axes of a call may be cut, and running it on dask arrays by chunks.

    step.cut(u, v, dt)                    # by axis: independent, halo, reduced or whole, with the access that decides
    tracebuf.dask.distribute(step)(u, v, dt)   # the same call on dask arrays

`reach` is the lattice, `rules` what each op reads, `flow` the analysis of a tensor program, `program` what a call's
program is to it, `cut` its answer in words. `rewrites` make of a program one that can be cut, `split` makes stages of
it, `grid` lays out their windows, `tiles` the parts of these that stay in the cache, `graph` builds the tasks that
`worker` runs, `model` says how many steps are run between exchanges, `memory` what a chunk takes, `files` takes arrays
in files to workers; `calls` is the door.
May import: every room, but not `api`. dask itself is imported when something is distributed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tracebuf.dask.calls import distribute
    from tracebuf.dask.files import Mapped
    from tracebuf.dask.memory import suggest_chunks

__all__ = ["Mapped", "distribute", "suggest_chunks"]


def __getattr__(name: str) -> Any:
    if name in __all__:
        from tracebuf.dask import calls, files, memory

        globals()[name] = found = getattr({"distribute": calls, "Mapped": files}.get(name, memory), name)
        return found
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
