"""Frees for programs of MLIR text as they stand: blocks that branch, loops of them, calls, regions of any op that says
how control goes through it. One pass a file, under MLIR's name.
May import: the files of deallocate, and below.
"""
