"""The abstract interpreter: walks the function's syntax tree and hands each node to the room that knows it.

`trace.trace` is the door of the front end. `interpreter` has functions and calls, `statements` and `expressions` walk
the tree, `comprehensions` and `protected` (`try`, `with`) belong to them; `evaluator` is what the other files see of
them. `callables`, `iterators`, `folds`, `dicts`, `records`, `operators`, `array_likes`, `texts` are Python's objects
and builtins. `direct` and `tracers` trace functions whose source cannot be read, by
running them. `lists` are the lists of run-time length, and loops over many alike items.
May import: every room of the front end. Nothing of the front end may import it.
"""
