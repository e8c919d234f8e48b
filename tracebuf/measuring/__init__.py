"""Measuring NumPy code, decorated or not: who allocates, on which line, and what decorating would gain.

`recorder` writes down each allocation of NumPy's with the Python lines that ask for it, `lines` sums them up. `whole`
adds all other memory, which `tally` counts. `places` says whose code a file is. `tracebuf.measure` puts the table
together. Loaded by what measures only. May import: everything.
"""
