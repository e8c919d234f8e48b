"""Modules of MLIR: functions that call one another, and decisions printed as attributes of their ops.

May import: one_shot, cost, and what these may.
"""
