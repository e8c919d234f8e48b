"""Arrays joined from others: concatenate, stack, append, diff, roll, repeat, tile (`stacking`), pad (`padding`).

np.block, np.insert and np.delete are formulas (functions/formulas/joining), np.hstack and its like NumPy's own code.
May import: the rooms up to arrays, and functions/reductions and functions/indices.
"""
