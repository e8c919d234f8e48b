"""From structured ops on buffers to loop nests: the order of loops, blocks for NumPy's own inner loops, how sums fold.

`plan` describes a nest as plain data, which the back end follows.
May import: deallocate and below. Knows nothing of LLVM.
"""
