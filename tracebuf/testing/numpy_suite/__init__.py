"""NumPy's own tests, with what they call traced: `python -m tracebuf.testing.numpy_suite [MODULE ...]`.

`rewrite` changes the syntax tree of a test module so that its calls and operators go through `through`, which runs
NumPy's in a bufferized function, and as they are where that is refused. `plugin` is pytest's side of it, `runs`
compares a run with one that leaves the tests as they are. May import: everything. Needs pytest and Hypothesis.
"""
