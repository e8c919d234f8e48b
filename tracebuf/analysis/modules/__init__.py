"""Modules of MLIR: functions that call one another, and decisions printed as attributes of their ops.

May import: what one_shot and cost may, and these.
"""
