"""Passes that make the program do less: clean-up, fusion and destinations on tensors; folding and reuse on buffers.

Four rooms that do not know one another: tensors, buffers, mlir, memrefs. `tracebuf/pipeline.py` has the order of the
passes. May import: analysis, bufferize, deallocate and below.
"""
