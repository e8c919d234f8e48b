"""NumPy's meaning as SSA: an abstract interpreter over the function's syntax tree, on storages and references.

Rooms, each of which may import those above it and nothing below (`tests/test_house.py`):

    source        the function's text: syntax tree, liveness of names
    record        ops into regions; storages, references, sizes, guards, containers
    call          one call's arguments: key of the specialisation, containers taken apart, captured arrays
    numbers       scalars and elementwise functions: dtypes, promotion, Python's numbers
    arrays        views, elements, reshapes, new arrays
    paths         what holds where paths meet: joins, loops, results       } strangers
    functions     NumPy's functions by subject, and the table of them      } to each other
    interpreter   statements, expressions, calls; `interpreter.trace.trace` is the door

Where is ...? `a[i] = v`: functions/indices/subscripts, then arrays/indexing. `a + b`: numbers/scalars, then
numbers/ufuncs. `np.f(...)`: functions/table. An `if`: paths/joins; a loop: paths/loops/trace. A call of a function of
the user's: interpreter/interpreter. What is refused, and what to write instead: record/refusals.
"""
