"""Host calls: NumPy's own function, or one of the user's, called on the program's arrays.

`calls` records the op `tracebuf.host_call` and checks what the function returns; `kinds` finds out what that is;
`linalg`, `fft` and `sorting` give the shapes of results by function; `extremes` has argmax and argmin; `declared`
traces `tracebuf.host_call`. What a program calls when it runs is data (tracebuf/running/host.py).
May import: the rooms up to arrays, and functions/reductions, indices, joining.
"""
