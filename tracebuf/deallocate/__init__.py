"""Frees by ownership: `ownership` inserts them, `simplify` drops what is decided, `lower` makes branches of the rest.

The rules are MLIR behaviours 51 to 59 (docs/mlir-behaviours.md); `facts` holds what they share. MLIR:
ownership-based-buffer-deallocation.
May import: bufferize and below.
"""
