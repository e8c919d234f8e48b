"""Lists in the interpreter: those whose length only the run time knows, and loops over many alike items.

`growing`: how lists of run-time length (record/growing) are made, changed and read; `items`: what their columns hold of
an item; `deques`: those of another class; `order`: how they are sorted; `arrays`: NumPy's functions with them; `calls`:
Python's, and the door to all.
`cursors`: iterators over what is known by places, from which items are taken here and there.
`tables`: the caller's lists of lists, which NumPy makes arrays of.
`labels`: arrays of text as arrays of ints.
`loops`: loops over lists and tuples of alike items as one loop.
May import: what the interpreter may, and its evaluator and prelude.
"""
