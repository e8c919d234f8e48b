"""Front ends: what turns a user's program into tensor SSA. One package for each language read.

They know the IR and its ops and nothing of what happens to them later. May import: ir, ops and below, cache; no
analysis, no memory, no back end, and not one another.
"""

if __name__ == "frontends":
    raise ImportError("import tracebuf.frontends, not frontends")
