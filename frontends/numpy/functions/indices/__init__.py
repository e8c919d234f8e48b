"""Indices that are arrays: `a[mask]`, `a[rows, cols] = v`, np.take, np.put, np.nonzero, np.searchsorted.

`subscripts` is the door from `a[i]` and `a[i] = v`; it hands basic indices on to arrays/indexing, index arrays to
`gathers`, masks to `masks`. `picking` holds NumPy's functions of indices.
May import: the rooms up to arrays, and functions/reductions.
"""
