"""NumPy's meaning as SSA: an abstract interpreter over the function's syntax tree, on storages and references.

Rooms, each of which may import those above it and nothing below (`tests/test_house.py`):

    source        the function's text: syntax tree, liveness of names
    call          one call as data: key of the specialisation, containers taken apart, captured arrays, results
    record        ops into regions; storages, references, sizes, guards, containers
    numbers       scalars and elementwise functions: dtypes, promotion, Python's numbers
    arrays        views, elements, reshapes, new arrays
    paths         what holds where paths meet: joins, loops, results       } strangers
    functions     NumPy's functions by subject, and the table of them      } to each other
    interpreter   statements, expressions, calls; `interpreter.trace.trace` is the door

May import: ir, ops and below; not mlir.

Where is ...?

    a[i], a[i] = v          functions/indices/subscripts; then arrays/indexing, or functions/indices/gathers or masks;
                            then record/recorder (`store`, `store_element`)
    x.T, a.reshape(n)       `attribute` of functions/table, `METHODS`; then arrays/shapes, arrays/reshape;
                            the view itself is record/values (`View`)
    a + b, a < b            numbers/scalars (`binary`, `compare`); then numbers/ufuncs (`elementwise`)
    a += b                  `augmented` of interpreter/statements
    np.f(...), a.f(...)     `@traces(np.f, method="f")` stands above each handler, so `grep -rw np.take` finds it;
                            record/registry holds the tables, functions/table looks them up; formulas are in
                            functions/formulas (`@formula(np.f)`)
    np.linalg.f, np.fft.f   functions/host (linalg, fft), where the former are `la.f`; sorting beside them
    abs, len, int, math.f   functions/python
    a ufunc                 functions/ufunc_calls (out=, where=, .reduce); numbers/ufuncs; a line of `RULES` in
                            numbers/rules gives it ops of its own; without one it runs NumPy's inner loop, and fuses
                            and takes `where=` with `out=` all the same
    a @ b                   functions/products/matmul; whether c += a @ b accumulates in place is a pass:
                            tracebuf/optimize/tensors/accumulate_products
    an `if`                 paths/branches (`trace_if`), paths/joins
    x.T if p else x         paths/joins: a `Cond` (record/cond), by `Join.arrays` one reference (`GuardedRef` of
                            record/values) or, of other axes or dtypes, by `Join.value` a `choice` (numbers/lattice);
                            tests/language/test_names.py, test_loop_identity.py
    a loop                  paths/loops/trace (`trace_loop`); what it carries: paths/loops/head and compare, close.
                            Over a list, tuple or dict it is unrolled: paths/iteration (`iterable_of`),
                            interpreter/statements (`unrolled`); over many alike items traced once:
                            interpreter/lists/loops. Names that exchange arrays: paths/loops/owned
    try, with               interpreter/protected; contexts of the user's: source/contexts; what is raised at run time
                            and caught: record/regions, paths/landing, paths/loops/raising
    a call of the user's    interpreter/expressions (`call`), interpreter/interpreter (`call_function`)
    lists, dicts, objects   interpreter/dicts (lists too), records; which is which: record/heap; joined:
                            paths/container_joins
    a list that grows       record/growing, interpreter/lists; tests/language/test_growing_lists.py. Begun again in a
                            loop (`cur = []`): source/own_lists, `begun_again` of interpreter/statements
    tracing has an end      what is traced in vain is counted: `Effort` of record/growing; tests/language/
                            test_honest_errors.py
    parts.append(x[m])      arrays of any length in lists: `Ragged` of record/growing; interpreter/lists/references
                            (`number_of_array`); tests/language/test_ragged_lists.py
    return x, history       of what a loop changes: source/returns; tests/language/test_returned_in_loops.py
    d[f"station {k}"]       interpreter/lists/text_keys; tests/language/test_texts_as_keys.py
    a.flat[i:j] = x         `store_flat` of functions/formulas/sequences; tests/language/test_flat_stores.py
    [0.0] * n               of run-time length (`sized`): record/growing; tests/language/test_lists_by_size.py
    max_bytes="8*n*m"       names of sizes that the function gives: source/own_sizes
    m[i][j] of lists        interpreter/lists/references: lists that are items, in pools
                            (functions/formulas/referred); tests/language/test_lists_in_lists.py
    rows.append({...})      interpreter/lists/rows: dicts in a growing list; tests/language/test_lists_of_dicts.py
    np.nditer               functions/formulas/nditer, a class that is traced; tests/language/test_nditer.py
    lru_cache, decorators   interpreter/callables (`from_cache`, `with_cache`); tests/language/test_decorators.py
    eval(text), callable(x) interpreter/callables (`evaluated`, `is_callable`); tests/language/test_texts.py,
                            tests/language/test_callables.py
    best = None; for ...    a `Maybe` in the loop: `as_maybe` of numbers/lattice; tests/language/test_none_at_first.py
    low = -np.inf; for ...  the same, `stands_by` of numbers/lattice; tests/language/test_numbers_at_first.py
    steps[k] of a tuple     by data: interpreter/lists/picked; tests/language/test_tuples_by_run_time_index.py
    xs[k] of the caller's   by data: the same; tests/language/test_lists_by_run_time_index.py,
                            tests/language/test_callers_lists_in_lists.py
    grid[i][j] of those     interpreter/lists/tables: arrays that NumPy makes when a call begins; the same tests
    best = run; run = []    `handed_over` of interpreter/statements, source/own_lists;
                            tests/language/test_lists_that_change_hands.py
    a `class` statement     interpreter/records (`define_class`); tests/language/test_classes_inside.py
    @decorators, lru_cache  `stmt_FunctionDef` of interpreter/statements; interpreter/callables (`cache_of`)
    heapq; dicts, sets      by run-time keys: interpreter/lists/heaps, interpreter/lists/keyed on a hash table,
                            functions/formulas/hashing; tests/language/test_dicts_by_run_time_keys.py
    a | b, s.pop() of sets  interpreter/lists/sets; tests/language/test_sets_by_run_time_items.py
    next(g) of a generator  its function in steps to the next `yield`: source/steps, interpreter/iterators; others:
                            interpreter/lists/cursors; tests/language/test_generators_in_steps.py
    for x in gen(): ...     its body as a function: interpreter/comprehensions (`over_generator`), source/cells;
                            tests/language/test_generator_functions.py; asked while a loop goes over it, or after an
                            exception: tests/language/test_iterators_in_turn.py
    int(n / 2) as a size    numbers/ratios; tests/language/test_math.py
    a[b], b without axes    functions/indices/subscripts (`read`); tests/language/test_scalar_array_indices.py
    texts that loops make   interpreter/texts; what is asked of them: interpreter/text_questions
    print, logging, tqdm    interpreter/talk, call/talk, call/progress; their text: interpreter/texts
    arrays of text          interpreter/lists/labels, running/labels; as results: `label` of paths/results
    random numbers          functions/host/draws; tests/functions/test_draws.py
    scipy.linalg.solve ...  functions/host/scipys, a row; tests/functions/test_scipys.py
    find_peaks, minimize    what cannot be traced is called as it is: functions/host/untraced, callbacks, made_objects,
                            tracebuf/running/untraced; tests/functions/test_untraced.py
    csr_array(x) @ y        operators, items of objects that are made: functions/host/made_objects; in loops as texts
                            are (paths/loops); tests/functions/test_objects_of_libraries.py
    scipy.sparse, norm.cdf  functions/host/sparse, objects; tests/functions/test_scipy_objects.py,
                            tests/functions/test_sparse_arguments.py
    @njit, @guvectorize     functions/host/jitted, tracebuf/running/jitted; @vectorize: functions/ufunc_calls
    a.flags, a.strides      functions/inspection
    partials, slices ...    of a path or iteration that has ended: paths/holders, record/slices
    SciPy, NumPy's Python   traced as written: `call` of interpreter/expressions, `is_numpys` of
                            interpreter/interpreter; functions/namespaces, numbers/special
    a captured array        met: `capture` of interpreter/interpreter; fetched at each call: `Hidden.value` of
                            call/captures, called by `BufferizedFunction._values` of tracebuf/api.py
    a guard                 made: record/sizes (`ask_nonneg`, `ask_equal`); checked: call/conditions, and there
                            values from outside (`captures_hold`)
    f(..., out=b)           paths/outputs, call/outputs; the caller's side is `BufferizedFunction._values` of
                            tracebuf/api.py
    the key of a call       its parts: call/arguments (`key_of`, `signature`); what finds the program:
                            `Call.group` of call/call
    a refusal               where something is refused (`r.refuse`: grep its words); statements and expressions, and
                            what to write instead: record/refusals; tests/language/golden_errors: each with its page
    an error of the code    record/raises (`Raises`); where it is reached: `reached` of interpreter/statements
    a bug in a handler      caught: `block` of interpreter/statements, interpreter/trace, interpreter/direct;
                            record/raises (`internal_error`) makes it an InternalError with the user's line and the
                            handler
    rule S8, MLIR 29a       docs/semantics.md, docs/mlir-behaviours.md: each with an example and the tests that hold it
"""
