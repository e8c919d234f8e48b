"""The second back end: programs as Python, and compiled by Numba."""
