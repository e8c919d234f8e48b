"""Passes that only MLIR text needs: MLIR's own transformations, and what makes such programs run here.

One pass a file, under the pass's name. May import: analysis, bufferize, deallocate and below; not tensors, not buffers.
"""
