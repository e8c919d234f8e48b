"""What running a program needs of what its ops mean: the exceptions of checks, NumPy's ufuncs, functions that only
Python computes, host calls, the lines of the arena. A process that runs a program out of the cache loads this and none
of the ops.

May import: process, frozen, location, errors.
"""
