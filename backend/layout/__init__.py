"""What compiled code and its callers agree on, word by word: `abi` has the frame and the context of a kernel,
`entry_words` what calls without Python run on. Who writes the code (llvm) and who runs it (runtime) both read it.

May import: frozen, ir.
"""
