"""NumPy's meaning as SSA: an abstract interpreter over the function's AST, on storages and references (`trace.trace`).

Where to look, from what is known first to what knows the rest:

    values, frames, recorder         storages, references and traced numbers; where ops go, and what is known of sizes
    arguments, containers, captures, outputs, results
                                     what of a call joins the key; containers and what is from outside; `f(...,
                                     out=buffer)`; what a call gives back and changes
    heap, dicts, records, operators  lists, dicts and objects: which is which, attributes, methods, operators
    ufuncs, broadcasting, conditions dtypes and bodies of elementwise functions, shapes that meet, checks
    indexing, reshape, shapes, diagonals
                                     views and elements, read and stored to
    subscripts, advanced, masks, gathers, picking, sorted_places
                                     indices that are arrays, and NumPy's functions of such: np.take, np.nonzero ...
    complexes, pycomplex, pycmath, parts
                                     complex elements, Python's complex numbers and cmath, .real, .imag and views
    scalars, pyints, weak_ints, powers, exponents, pymath, pybuiltins, pyfolds
                                     Python's own arithmetic and builtins on traced numbers
    reductions, ordered, running, pairs, products, contractions, einsum, convolutions, vectors, covariance, fresh,
    creation, stacking, loops
                                     the rest of NumPy's functions
    formulas, padding                functions that are traced as others: what NumPy itself writes in Python
    callables, iterators, folds_of_iterators, texts
                                     callees that the interpreter answers itself
    functions, parameters, aggregates, ufunc_calls
                                     the tables that find a function by itself; parameters that are not taken
    host_table, host_calls, host_kinds, host_linalg, host_sorting, host_fft, declared_calls
                                     what NumPy's own function computes, or one of the user's
    kinds, identity, choices, joins, box_joins
                                     what names and containers hold where paths meet
    loop_plan, loop_head, loop_judge, loop_close, loop_trace, box_loops, iteration
                                     loops: what they carry is discovered by tracing the body
    source, matching, liveness, objects, comprehensions, expressions, protected, statements, interpreter
                                     the interpreter of the function's syntax tree
    structured, direct, tracers      functions whose source cannot be read
    extension, donations, static     functions of other packages; donated and static arguments
    rewrites                         what to write instead of what is refused
"""
