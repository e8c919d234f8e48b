"""Products: `@`, np.dot, einsum, tensordot, convolve, cross, kron, cov.

`matmul` is the door for matrices and stacks of them (BLAS where it is one), `contractions` for sums of products of any
axes.
May import: the rooms up to arrays, and functions/reductions, indices, joining, host.
"""
