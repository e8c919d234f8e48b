"""Passes on tensor programs: fewer ops, fewer temporaries, reads before the writes that would make them copies.

One pass a file, under the pass's name. May import: analysis, bufferize, deallocate and below; not buffers, not mlir.
"""
