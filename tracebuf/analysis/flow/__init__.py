"""How control and buffers flow through a function as it stands, blocks that branch included: `blocks` has dominance and
liveness, `views` which memrefs may share memory. May import: errors, options, ir, ops.
"""
