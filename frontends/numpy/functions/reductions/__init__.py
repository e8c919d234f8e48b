"""Reductions and running results: sum, max, argmax, mean, var, cumsum, reduceat, any along axes.

`aggregates` has NumPy's functions and methods with their parameters; `reduce.reduce` is the door: NumPy's pairwise
order for sums, any order where it does not change the result; `ordered` keeps NumPy's order of elements, `running`
gives every intermediate result.
May import: the front end's rooms up to arrays.
"""
