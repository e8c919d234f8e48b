"""Bufferized functions as callees of code that Numba compiles.

`extension` is what Numba finds: the typing and lowering of a call; `sites` has the programs of each place that calls,
for the types there, and makes the calls that they do not take. Their code is written in `jit_entries` of
backend/llvm/entries. Loaded when Numba asks first. May import: everything; nobody but api imports it.
"""
