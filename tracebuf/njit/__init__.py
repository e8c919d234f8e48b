"""Bufferized functions as callees of code that Numba compiles.

`extension` is what Numba finds: the typing and lowering of a call; `sites` has the programs of each place that calls,
for the types there, and makes the calls that they do not take. Their code is written in backend/llvm/entries/jit_entries.
Numba is imported when it asks first. May import: everything; nobody imports it but api, when Numba asks.
"""
