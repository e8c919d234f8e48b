"""What native code stands on at run time: the entry from Python, the arena, NumPy's inner loops, BLAS, the memory hook."""
