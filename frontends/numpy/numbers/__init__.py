"""Scalars and elementwise functions: dtypes, promotion, casts, the scalar body of each ufunc; Python's own numbers.

`ufuncs.elementwise` is the door for everything computed element by element: it asks NumPy for dtypes, takes the body
from `rules` or `complexes`, and `generics` records the op. `scalars.binary` holds Python's operators on traced numbers
(`python_ints`, `ratios`, `python_complex`, `powers`, `exponents`), `weak_ints` what rule N1 checks, `lattice` the kind
of a number where paths meet; `operands` are what goes in, `bodies` where the scalar ops go, `two_results` is
np.divmod ...
May import: source, record, call. Knows nothing of indexing, shapes or statements.
"""
