"""What users assert of their own functions: memory (`assert_memory`), agreement with NumPy (`assert_matches_numpy`,
`validate`).

Each runs the function for real, on copies of the arguments. Hypothesis is needed for `assert_matches_numpy` only.
May import: strategies, validation, and what stands beside these in `tracebuf.testing`.
"""
