"""The bufferization analyses: which tensor operands are used in place, and why the others are not.

`one_shot` decides as MLIR's One-Shot does; `copy_before_write` decides without looking. The rewrite takes any object
that answers `is_in_place` (`Decisions`), and derives the rest (`Analysis`). Rooms, in order: one_shot, cost, modules;
beside them flow. May import: ir, ops and below. Changes no program.
"""
