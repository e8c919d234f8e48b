"""Loops: what they carry is discovered by tracing the body (rule S10).

`trace.trace_loop` is the door. An attempt starts from a `plan`, its `head` gives each storage and name an optimistic
phi, `compare` holds what came back against it, `close` records the `scf.for` or `scf.while`.
May import: what paths may, and the files of paths.
"""
