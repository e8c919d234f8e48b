"""What native code stands on at run time: entry, arena, NumPy's inner loops, BLAS, the memory hook."""
