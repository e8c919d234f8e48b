"""What native code stands on at run time: the kernel that is called, the arena, BLAS, references, NumPy's memory hook.

`kernel.Kernel` calls a program with NumPy arrays; `compiled` makes one of a memref program, `parts` links what is in
the cache on disk. To run one that was compiled no ops are loaded: what these files need of them is in `running` and
backend/layout.
May import: llvm, lower, ir, ops and below.
"""
