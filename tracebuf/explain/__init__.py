"""Every allocation and copy that is left in a program: its line, its size, and the reason why it is needed.

`report` reads the memref program and the analysis' conflicts; it decides nothing.
May import: analysis, ir, ops and below.
"""
