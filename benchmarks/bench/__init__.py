"""`make bench`: the programs of benchmarks/programs beside NumPy, Numba, JAX, numexpr, Pythran and C, on one core."""
