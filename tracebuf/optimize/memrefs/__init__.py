"""MLIR's passes over memrefs, under MLIR's names, one a file: they take functions as they stand, of blocks that branch
too. May import: analysis, bufferize, deallocate and below; not tensors, not buffers, not mlir.
"""
