"""Products: `@`, np.dot, einsum, tensordot, convolve, cross, kron, cov.

`matmul` is the door for matrices and stacks of them (BLAS where possible), `contractions` for sums of products over any
axes, `vectors` for generalised ufuncs of vectors; `convolutions` is what it says. That `c += a @ b`
accumulates in place is decided by the pass optimize/tensors/accumulate_products.
May import: the rooms up to arrays, and functions/reductions, indices, joining, host.
"""
