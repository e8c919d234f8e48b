"""What tracing records: ops in regions, and what is known on the way.

A `Storage` is the memory of one array, an `ArrayRef` a reference to it through views (`values`). The `Recorder`
(`recorder`) appends ops, holds each storage's current SSA value per region (`regions`), answers questions about sizes
by proof, guard or run-time check, and makes the guards (`sizes`). The `Heap` (`heap`) tells lists, dicts and objects
apart. `raises` holds what leaves tracing by an exception, `refusals` what to write instead of what cannot be traced;
`judged` asks NumPy about errors and refusals; `registry` holds the tables of handlers; `arguments` are those of the
traced function, `callees` the functions that names hold, `broadcasting`, `conditions` and `scalar_checks` what checks
are made of, `by_identity` is the map by identity, `cond` the value that depends on the path, whatever its sort.
Nothing here knows NumPy's functions, dtype promotion or Python's syntax.
May import: source, call.
"""
