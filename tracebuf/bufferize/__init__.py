"""From tensors to buffers: the rewrite asks an analysis which operands are in place, and emits the memref program.

`rewrite` is for one function, `module` for functions that call one another, `boundary` for what they pass; an op's own
memref form stands in its class. Frees nothing: that is deallocate's.
May import: analysis, ir, ops and below.
"""
