"""Beyond one memory and one machine: which axes of a call may be cut, and running it on dask arrays by chunks.

    step.cut(u, v, dt)                    # by axis: independent, halo, reduced or whole, with the access that decides
    tracebuf.dask.distribute(step)(u, v, dt)   # the same call on dask arrays

`reach` is the lattice, `rules` what each op reads, `flow` the analysis of a tensor program, `program` what a call's
program is to it, `cut` its answer in words. May import: every room, but not `api`. dask itself is imported when
something is distributed.
"""
