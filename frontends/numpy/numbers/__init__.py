"""Scalars and elementwise functions: dtypes, promotion, casts, the scalar body of each ufunc; Python's own numbers.

`ufuncs.elementwise` is the door for everything computed element by element; `scalars` holds Python's operators on
traced numbers, `lattice` what a number is where paths meet.
May import: source, record, call. Knows nothing of indexing, shapes or statements.
"""
