"""Linear algebra by products and by loops over rows and columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from benchmarks.programs.registry import C, program

if TYPE_CHECKING:
    import jax
    import jax.numpy as jnp
    from jax import lax


def random(*shape):
    return np.random.default_rng(0).random(shape)


# -- rank-2 update, then products with the matrix and its transpose
def gemver(alpha, beta, A, u1, v1, u2, v2, w, x, y, z):
    A += np.outer(u1, v1) + np.outer(u2, v2)
    x += beta * y @ A + z
    w += alpha * A @ x


def gemver_init(n):
    vectors = random(8, n)
    return (1.5, 1.2, random(n, n), *vectors)


def gemver_loops(alpha, beta, A, u1, v1, u2, v2, w, x, y, z):
    n = A.shape[0]
    for j in range(n):
        x[j] += z[j]
    for i in range(n):
        for j in range(n):
            A[i, j] += u1[i] * v1[j] + u2[i] * v2[j]
            x[j] += beta * y[i] * A[i, j]
    for i in range(n):
        s = 0.0
        for j in range(n):
            s += A[i, j] * x[j]
        w[i] += alpha * s


def gemver_jax(alpha, beta, A, u1, v1, u2, v2, w, x, y, z):
    A = A + jnp.outer(u1, v1) + jnp.outer(u2, v2)
    x = x + beta * y @ A + z
    return A, w + alpha * A @ x, x


program(
    gemver, gemver_init, (120, 2500), stores="A w x", loops=gemver_loops, jax=gemver_jax,
    reason="A is swept for its update and again for each of two products, which are BLAS's, to the bit",
)  # fmt: skip


# -- a matrix times a vector, its transpose times another
def bicg(A, p, r):
    return r @ A, A @ p


def bicg_init(n):
    return random(n, n), *random(2, n)


def bicg_loops(A, p, r):
    n, m = A.shape
    s, q = np.zeros(m), np.zeros(n)
    for i in range(n):
        t = 0.0
        for j in range(m):
            s[j] += r[i] * A[i, j]
            t += A[i, j] * p[j]
        q[i] = t
    return s, q


program(
    bicg, bicg_init, (120, 3000), loops=bicg_loops, jax=bicg, pythran=True,
    reason="each of two products is BLAS's, to the bit, and reads the matrix from memory",
)  # fmt: skip


def atax(A, x):
    return (A @ x) @ A


def atax_init(n):
    return random(n, n), random(n)


def atax_loops(A, x):
    n, m = A.shape
    y = np.zeros(m)
    for i in range(n):
        t = 0.0
        for j in range(m):
            t += A[i, j] * x[j]
        for j in range(m):
            y[j] += t * A[i, j]
    return y


program(
    atax, atax_init, (120, 3000), loops=atax_loops, jax=atax,
    reason="each of two products is BLAS's, to the bit, and reads the matrix from memory",
)  # fmt: skip


def gesummv(alpha, beta, A, B, x):
    return alpha * A @ x + beta * B @ x


def gesummv_init(n):
    return 1.5, 1.2, *random(2, n, n), random(n)


def gesummv_loops(alpha, beta, A, B, x):
    n = A.shape[0]
    y = np.empty(n)
    for i in range(n):
        s = t = 0.0
        for j in range(n):
            s += A[i, j] * x[j]
            t += B[i, j] * x[j]
        y[i] = alpha * s + beta * t
    return y


program(
    gesummv, gesummv_init, (100, 2000), loops=gesummv_loops, jax=gesummv,
    reason="rows of `alpha * A` are made for BLAS, a few at a time, NumPy's bits; loops sum A's and scale the sums",
)  # fmt: skip


# -- triangles of products, row by row
def syrk(alpha, beta, C, A):
    for i in range(A.shape[0]):
        C[i, : i + 1] *= beta
        for k in range(A.shape[1]):
            C[i, : i + 1] += alpha * A[i, k] * A[: i + 1, k]


def syrk_init(n):
    return 1.5, 1.2, random(n, n), random(n, n)


def syrk_loops(alpha, beta, C, A):
    for i in range(A.shape[0]):
        for j in range(i + 1):
            s = 0.0
            for k in range(A.shape[1]):
                s += A[i, k] * A[j, k]
            C[i, j] = beta * C[i, j] + alpha * s


def syrk_jax(alpha, beta, C, A):
    return jnp.where(jnp.tri(len(C), dtype=bool), beta * C + alpha * A @ A.T, C)


program(
    syrk, syrk_init, (60, 300), stores="C", loops=syrk_loops, jax=syrk_jax,
    reason="each element adds its products in the order of the loop, one by one; others sum in vectors, or by blocks",
)  # fmt: skip


def trmm(alpha, A, B):
    for i in range(B.shape[0]):
        for j in range(B.shape[1]):
            B[i, j] += np.dot(A[i + 1 :, i], B[i + 1 :, j])
    B *= alpha


def trmm_init(n):
    return 1.5, random(n, n), random(n, n)


def trmm_loops(alpha, A, B):
    n, m = B.shape
    for i in range(n):
        for k in range(i + 1, n):
            for j in range(m):
                B[i, j] += A[k, i] * B[k, j]
        for j in range(m):
            B[i, j] *= alpha


def trmm_jax(alpha, A, B):
    return alpha * (B + jnp.tril(A, -1).T @ B)


TRMM_C = """
void trmm(double alpha, const double *restrict A, long na, long ma, double *restrict B, long n, long m) {
  for (long i = 0; i < n; i++) {
    for (long k = i + 1; k < n; k++)
      for (long j = 0; j < m; j++) B[i * m + j] += A[k * ma + i] * B[k * m + j];
    for (long j = 0; j < m; j++) B[i * m + j] *= alpha;
  }
}
"""
program(
    trmm, trmm_init, (60, 300), stores="B", loops=trmm_loops, jax=trmm_jax, c=C(TRMM_C),
    reason="each element is BLAS's dot of strided columns, to the bit; loops interchanged walk along rows",
)  # fmt: skip


# -- factorizations in place
def cholesky(A):
    for i in range(A.shape[0]):
        for j in range(i):
            A[i, j] -= A[i, :j] @ A[j, :j]
            A[i, j] /= A[j, j]
        A[i, i] = np.sqrt(A[i, i] - A[i, :i] @ A[i, :i])


def definite(n):
    a = random(n, n)
    return (a @ a.T + n * np.eye(n),)


def cholesky_loops(A):
    for i in range(A.shape[0]):
        for j in range(i):
            s = A[i, j]
            for k in range(j):
                s -= A[i, k] * A[j, k]
            A[i, j] = s / A[j, j]
        s = A[i, i]
        for k in range(i):
            s -= A[i, k] * A[i, k]
        A[i, i] = np.sqrt(s)


def cholesky_jax(A):
    return jnp.tril(jnp.linalg.cholesky(A)) + jnp.triu(A, 1)


program(
    cholesky, definite, (60, 400), stores="A", loops=cholesky_loops, jax=cholesky_jax,
    reason="a call for each short dot of rows; JAX has LAPACK's blocks",
)  # fmt: skip


def lu(A):
    n = A.shape[0]
    for k in range(n - 1):
        A[k + 1 :, k] /= A[k, k]
        A[k + 1 :, k + 1 :] -= np.outer(A[k + 1 :, k], A[k, k + 1 :])


def lu_loops(A):
    n = A.shape[0]
    for k in range(n - 1):
        for i in range(k + 1, n):
            f = A[i, k] / A[k, k]
            A[i, k] = f
            for j in range(k + 1, n):
                A[i, j] -= f * A[k, j]


def lu_jax(A):
    rows = jnp.arange(len(A))

    def step(k, A):
        column = jnp.where(rows > k, A[:, k] / A[k, k], 0.0)
        A = A.at[:, k].set(jnp.where(rows > k, column, A[:, k]))
        return A - jnp.outer(column, jnp.where(rows > k, A[k], 0.0))

    return lax.fori_loop(0, len(A) - 1, step, A)


LU_C = """
void lu(double *A, long n, long m) {
  for (long k = 0; k < n - 1; k++)
    for (long i = k + 1; i < n; i++) {
      double f = A[i * n + k] /= A[k * n + k];
      for (long j = k + 1; j < n; j++) A[i * n + j] -= f * A[k * n + j];
    }
}
"""
program(lu, definite, (80, 600), stores="A", loops=lu_loops, jax=lu_jax, c=C(LU_C))


def triangular_solve(L, b):
    x = np.empty_like(b)
    for i in range(b.shape[0]):
        x[i] = (b[i] - L[i, :i] @ x[:i]) / L[i, i]
    return x


def triangular_solve_init(n):
    return np.tril(random(n, n)) + n * np.eye(n), random(n)


def triangular_solve_loops(L, b):
    x = np.empty_like(b)
    for i in range(b.shape[0]):
        s = b[i]
        for j in range(i):
            s -= L[i, j] * x[j]
        x[i] = s / L[i, i]
    return x


def triangular_solve_jax(L, b):
    return jax.scipy.linalg.solve_triangular(L, b, lower=True)


program(
    triangular_solve, triangular_solve_init, (100, 2500), loops=triangular_solve_loops, jax=triangular_solve_jax,
    reason="a call for each short dot",
)  # fmt: skip


# -- statistics of columns
def covariance(data):
    centred = data - data.mean(axis=0)
    m = data.shape[1]
    cov = np.zeros((m, m))
    for i in range(m):
        cov[i:, i] = cov[i, i:] = centred[:, i] @ centred[:, i:] / (data.shape[0] - 1)
    return cov


def samples(n):
    return (random(2 * n, n),)


def covariance_loops(data):
    n, m = data.shape
    centred, mean = np.empty((n, m)), np.zeros(m)
    for i in range(n):
        for j in range(m):
            mean[j] += data[i, j]
    for i in range(n):
        for j in range(m):
            centred[i, j] = data[i, j] - mean[j] / n
    cov = np.zeros((m, m))
    for i in range(m):
        for k in range(n):
            v = centred[k, i]
            for j in range(i, m):
                cov[i, j] += v * centred[k, j]
        for j in range(i, m):
            cov[i, j] /= n - 1
            cov[j, i] = cov[i, j]
    return cov


def covariance_jax(data):
    centred = data - data.mean(axis=0)
    return centred.T @ centred / (data.shape[0] - 1)


program(
    covariance, samples, (40, 400), loops=covariance_loops, jax=covariance_jax,
    reason="each column is copied from strides for a product; JAX makes one product of all",
)  # fmt: skip


def correlation(data):
    mean, std = data.mean(axis=0), data.std(axis=0)
    std[std <= 0.1] = 1.0
    scaled = (data - mean) / (np.sqrt(data.shape[0]) * std)
    return scaled.T @ scaled


def correlation_jax(data):
    mean, std = data.mean(axis=0), data.std(axis=0)
    scaled = (data - mean) / (np.sqrt(data.shape[0]) * jnp.where(std <= 0.1, 1.0, std))
    return scaled.T @ scaled


program(correlation, samples, (40, 400), jax=correlation_jax)
