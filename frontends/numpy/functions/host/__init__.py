"""Host calls: what NumPy's own function computes on the program's arrays, or a function of the user's.

`calls` records the op `tracebuf.host_call` and checks what comes back; `linalg`, `fft` and `sorting` say for each
function what its results are; `declared` is `tracebuf.host_call`; `table` has them all.
May import: the rooms up to arrays, and functions/reductions, indices, joining.
"""
