"""Ops on buffers and their indices: the memref dialect, subset geometry.

May import: errors, options, ir.
"""
