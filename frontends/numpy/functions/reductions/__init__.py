"""Reductions and running results: sum, max, argmax, mean, var, cumsum, reduceat, any along axes.

`reduce.reduce` is the door: NumPy's pairwise order for sums, any order where it cannot be seen; `ordered` keeps NumPy's
order of elements, `running` gives every intermediate result.
May import: the front end's rooms up to arrays.
"""
