"""One-Shot analysis of one function: for every tensor operand, whether it is used in place, and if not, why.

`one_shot.one_shot` decides as MLIR does; `rules` are the reasons why a read and a write do not conflict, one function
each; `aliases`, `order`, `dataflow`, `storages` and `parts` hold the facts they ask for. May import: errors, options,
ir, ops.
"""
