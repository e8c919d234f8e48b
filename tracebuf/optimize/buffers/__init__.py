"""Passes on memref programs: copies folded or ordered, layouts kept, lifetimes shortened, buffers assigned to storage.

One pass a file, under the pass's name. May import: analysis, bufferize, deallocate and below; not tensors, not mlir.
"""
