"""Ops with regions and branches: func, scf, cf, forall, run-time checks.

May import: ops/memory and below.
"""
