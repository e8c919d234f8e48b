"""What tracing writes: ops into regions, and what is known on the way.

A `Storage` is one array object, an `ArrayRef` a reference to it through views; the `Recorder` appends ops, holds each
storage's current SSA value per region, and answers questions about sizes by proof, guard or run-time check. The `Heap`
tells lists, dicts and objects apart. Nothing here knows NumPy's functions, dtype promotion or Python's syntax.
May import: source.
"""
