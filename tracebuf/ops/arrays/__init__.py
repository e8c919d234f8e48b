"""Ops on whole arrays: tensor, linalg, bufferization, vector, gathers, scatters, host calls.

May import: ops/memory, ops/control, ops/scalars and below.
"""
