"""Arrays put together: concatenate, stack, block, tile, repeat, pad.

May import: the rooms up to arrays, and functions/reductions and functions/indices.
"""
