"""A second back end: the memref program as a module of Python, of explicit loops over preallocated arrays.

`module` puts it together, `function` walks a program's ops and `nests` writes the loops of structured ones; `scalars`
has the expression of each scalar op, `views` those of parts of arrays, `helpers` the functions that a text may need.
`style` makes the lines of a function those of a person. Plain Python runs the text, and Numba compiles it; it has no
import of tracebuf. Independent of `backend.llvm` on purpose: each is held against the other. `kernel` has calls run it
(`backend="numba"`), and alone needs what kernels are. May import: runtime, and lower, ir, ops and what these do.
"""
