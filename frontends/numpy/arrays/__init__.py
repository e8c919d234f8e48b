"""Arrays as wholes: views and elements read and stored to, reshapes, new arrays.

`a[i:j]` and `a[i] = v` with basic indices: `indexing`; reshape and ravel: `reshape`; `.T`, transposition and all other
views by axes: `shapes`; `.real`, `.imag` and `view(dtype)`: `complex_views`; copies and conversions: `new_arrays`;
np.zeros, np.arange ...: `creation`; arrays in growing lists: `held`; the parameters `axis` and `keepdims`: `axes`.
May import: source, record, call, numbers. Index arrays and masks are in functions/indices.
"""
