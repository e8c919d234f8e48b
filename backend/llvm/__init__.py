"""LLVM, the host of the native code: `emit` writes IR as text, `jit` makes it callable, `compiler` has what
calls LLVM.

`kernel_text` is what it writes; `loops` writes the nests that `tracebuf.lower` plans, `memory` allocations and copies,
`blas_calls` products; `numpy_loops` finds NumPy's own inner loops; `texts` has functions that are whole.
May import: objects, layout, lower, ir, ops and below; not runtime.
"""
