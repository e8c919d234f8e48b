"""The text of a function: its syntax tree (`source`), liveness of its names (`liveness`), `match` rewritten to tests
(`matching`).

Pure syntax: nothing here knows of values, arrays or recording. `read_source` finds the tree of a function,
`make_source` makes a `Source` of it; the interpreter asks `Source` for nodes and `Liveness` for the names that may
still be read after a statement.
May import: nothing of the front end.
"""
