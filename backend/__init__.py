"""Back ends: what turns loop nests over buffers into machine code, and what that code needs while it runs.

They know the IR and the loop nests of `tracebuf.lower` and nothing of where the program came from. Rooms, in order:
objects and layout, llvm, runtime. May import: lower, and ops, ir, options, running, errors, location, frozen, process,
cache.
"""

if __name__ == "backend":
    raise ImportError("import tracebuf.backend, not backend")
