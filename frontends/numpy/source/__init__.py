"""The text of a function: its syntax tree, which names live where, `match` patterns made into tests.

Pure syntax: nothing here knows of values, arrays or recording. `make_source` is the door; the interpreter asks
`Source` for nodes and `liveness` for the names that may still be read behind a statement.
May import: nothing of the front end.
"""
