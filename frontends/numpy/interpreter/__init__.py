"""The abstract interpreter: walks the function's syntax tree and hands each piece to the room that knows it.

`trace.trace` is the door of the front end; `statements` and `expressions` walk; `callables`, `iterators`, `dicts`,
`records`, `operators`, `texts` are Python's objects; `direct`, `tracers` and `structured` trace functions whose source
cannot be read, by running them.
May import: every room of the front end. Nothing of the front end may import it.
"""
