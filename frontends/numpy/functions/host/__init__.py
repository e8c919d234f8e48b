"""Host calls: NumPy's own function, or one of the user's, called on the program's arrays.

`calls` records the op `tracebuf.host_call` and checks what the function returns; `kinds` finds out what that is;
`linalg`, `fft`, `sorting` and `histograms` give the shapes of results by function; `extremes` has argmax and argmin;
`declared` traces `tracebuf.host_call`; `draws` has random numbers. SciPy's functions are rows of `scipys`, found by
name without an import of SciPy, `least_squares` is scipy.linalg.lstsq; `sparse` has products of its matrices,
`objects` distributions and interpolants.
Functions of libraries that cannot be traced are called by `untraced`, with functions of the user's (`callbacks`); what
they give is found out by `stand_ins`; `made_objects` are objects of theirs that the program makes.
`jitted` has functions that Numba compiles.
`left_to_numpy` has what formulas leave to NumPy. What a program calls when it runs is data (tracebuf/running/host.py).
May import: the rooms up to arrays, and functions/reductions, indices, joining.
"""
