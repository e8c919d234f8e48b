"""Functions of scalars: arith, complex, casts, math; the bodies of loops are made of them.

May import: ops/memory and below.
"""
