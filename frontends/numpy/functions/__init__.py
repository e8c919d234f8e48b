"""NumPy's functions: which handler traces a call, and the handlers by subject.

`table` finds the handler of a function or a method, `parameters` binds its arguments; `ufunc_calls` are calls of ufuncs
(`out=`, `where=` ...) and their methods; `whole_arrays` are np.zeros, np.copy, np.where ...; `extension` is for other
packages. Sub-rooms in the order in which they
may import one another: reductions, indices, joining, host, products, python, formulas.
May import: source, record, call, numbers, arrays. A stranger to `paths`.
"""
