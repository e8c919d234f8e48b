"""Loops: what they carry is discovered by tracing the body (rule S10).

`trace.trace_loop` is the door. An attempt starts from a `plan`; its `head` gives each name that is assigned a phi, and
the recorder (`_value_in`) each storage at its first touch; `compare` holds the values at the end of the body against
them and mends the plan; `close` drops what came back unchanged and records the `scf.for` or `scf.while`; `containers`
carries the contents of lists, dicts and objects, `owned` arrays that names hold in turn, `objects` which container or
array object a name holds; `alternatives` are names of several types; `report` says of a recorded loop what it carries,
and why. `returned` is what a recursion gives back, which interpreter/recursion discovers in the same way.
May import: what paths may, and the files of paths.
"""
