"""Python's builtins, math and cmath on traced numbers and arrays: abs, round, divmod, sum, int, math.sqrt ...

May import: the rooms up to arrays, and functions/reductions.
"""
