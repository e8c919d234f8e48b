"""Arrays as wholes: views and elements read and stored to, reshapes, new arrays.

`a[i:j]`, `a[i] = v` with basic indices: `indexing`; `reshape`, transposition and `.T`: `reshape` and `shapes`; `.real`
and `view(dtype)`: `complex_views`; copies and conversions: `new_arrays`; np.zeros, np.arange ...: `creation`.
May import: source, record, call, numbers. Index arrays and masks are functions' business (functions/indices).
"""
