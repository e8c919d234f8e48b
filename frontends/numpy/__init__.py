"""NumPy's meaning as SSA: an abstract interpreter over the function's AST, on storages and references (see
`trace.trace`)."""
