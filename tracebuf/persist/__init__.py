"""What outlives a process: whole programs, in the cache on disk.

`programs` writes a specialisation down and finds it again; what tracing looked at is said by frontends/numpy/call
(`provenance`), values become text there too (`encoding`), machine code is kept by its text (`tracebuf.cache`). Programs
compiled before they are called (`compiled`) have files of their own (`saved`), or are put into the cache by a command
(`precompile`). Loaded with the first call that is not served yet; the tracer, the passes and LLVM are not. May import:
everything.
"""
