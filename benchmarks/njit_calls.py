"""Calls between Numba's functions and ours, in nanoseconds beside Numba's own calls: `python benchmarks/njit_calls.py`.

Loops of calls, interleaved, the least of several rounds: traced code that calls three functions of `@njit`, and `@njit`
code that calls three bufferized ones, each beside `@njit` code that calls three of `@njit` that are not inlined.
"""

from __future__ import annotations



