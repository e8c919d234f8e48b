"""What native code stands on at run time: the kernel that is called, the arena, BLAS, references, NumPy's memory hook.

`kernel.Kernel` compiles a memref program on first use and calls it with NumPy arrays.
May import: llvm, lower, ir, ops and below.
"""
