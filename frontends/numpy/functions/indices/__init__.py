"""Indices that are arrays: `a[mask]`, `a[rows, cols] = v`, np.take, np.put, np.nonzero, np.searchsorted.

`subscripts` is the door from `a[i]` and `a[i] = v`; it hands basic indices on to arrays/indexing, index arrays to
`gathers` (their geometry: `index_arrays`), masks to `masks`. `picking` holds NumPy's functions of indices,
`sorted_indices` np.searchsorted, np.bincount and np.repeat.
May import: the rooms up to arrays, and functions/reductions.
"""
