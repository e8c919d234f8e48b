"""Loops: what they carry is discovered by tracing the body (rule S10).

`trace.trace_loop` is the door. An attempt starts from a `plan`; its `head` gives each storage and name an optimistic
phi; `compare` holds the values at the end of the body against it and mends the plan; `close` records the `scf.for` or
`scf.while`; `containers` carries the contents of lists, dicts and objects, `owned` arrays that names hold in
turn, `objects` which container or array object a name holds.
May import: what paths may, and the files of paths.
"""
