"""Python's builtins, math and cmath on traced numbers and arrays.

abs, round, divmod, sum, int ...: `builtins`; the functions of `math` and `cmath` have files of those names;
sum, min, any ... of an array, which iterate over it: `folds`; isinstance, type and np.float64(x): `types`.
May import: the rooms up to arrays, and functions/reductions, indices, joining, host, products.
"""
