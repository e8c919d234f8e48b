"""Differences on grids, step after step."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from benchmarks.programs.registry import C, program

if TYPE_CHECKING:
    import jax.numpy as jnp
    from jax import lax

STEPS = 10


def grids(count, rank, steps=STEPS):
    """Arguments: grids of random numbers and the number of steps."""
    return lambda n: (*np.random.default_rng(0).random((count, *[n] * rank)), steps)


# -- smoothing
def jacobi_1d(A, B, steps):
    for _ in range(steps):
        B[1:-1] = (A[:-2] + A[1:-1] + A[2:]) / 3
        A[1:-1] = (B[:-2] + B[1:-1] + B[2:]) / 3


def jacobi_1d_loops(A, B, steps):
    for _ in range(steps):
        for i in range(1, len(A) - 1):
            B[i] = (A[i - 1] + A[i] + A[i + 1]) / 3
        for i in range(1, len(A) - 1):
            A[i] = (B[i - 1] + B[i] + B[i + 1]) / 3


def jacobi_1d_jax(A, B, steps):
    def step(_, AB):
        A, B = AB
        B = B.at[1:-1].set((A[:-2] + A[1:-1] + A[2:]) / 3)
        return A.at[1:-1].set((B[:-2] + B[1:-1] + B[2:]) / 3), B

    return lax.fori_loop(0, steps, step, (A, B))


program(
    jacobi_1d, grids(2, 1), (8_000, 2_000_000), stores="A B", loops=jacobi_1d_loops, jax=jacobi_1d_jax, pythran=True,
)  # fmt: skip


def jacobi_2d(A, B, steps):
    for _ in range(steps):
        B[1:-1, 1:-1] = 0.2 * (A[1:-1, 1:-1] + A[1:-1, :-2] + A[1:-1, 2:] + A[2:, 1:-1] + A[:-2, 1:-1])
        A[1:-1, 1:-1] = 0.2 * (B[1:-1, 1:-1] + B[1:-1, :-2] + B[1:-1, 2:] + B[2:, 1:-1] + B[:-2, 1:-1])


def jacobi_2d_loops(A, B, steps):
    n, m = A.shape
    for _ in range(steps):
        for i in range(1, n - 1):
            for j in range(1, m - 1):
                B[i, j] = 0.2 * (A[i, j] + A[i, j - 1] + A[i, j + 1] + A[i + 1, j] + A[i - 1, j])
        for i in range(1, n - 1):
            for j in range(1, m - 1):
                A[i, j] = 0.2 * (B[i, j] + B[i, j - 1] + B[i, j + 1] + B[i + 1, j] + B[i - 1, j])


def jacobi_2d_jax(A, B, steps):
    def inner(A):
        return 0.2 * (A[1:-1, 1:-1] + A[1:-1, :-2] + A[1:-1, 2:] + A[2:, 1:-1] + A[:-2, 1:-1])

    def step(_, AB):
        A, B = AB
        B = B.at[1:-1, 1:-1].set(inner(A))
        return A.at[1:-1, 1:-1].set(inner(B)), B

    return lax.fori_loop(0, steps, step, (A, B))


JACOBI_2D_C = """
static void half(const double *restrict A, double *restrict B, long n, long m) {
  for (long i = 1; i < n - 1; i++)
    for (long j = 1; j < m - 1; j++) {
      const double *a = A + i * m + j;
      B[i * m + j] = 0.2 * (a[0] + a[-1] + a[1] + a[m] + a[-m]);
    }
}
void jacobi_2d(double *A, long n, long m, double *B, long nb, long mb, long steps) {
  for (long t = 0; t < steps; t++) half(A, B, n, m), half(B, A, n, m);
}
"""
program(
    jacobi_2d, grids(2, 2), (90, 1400), stores="A B", loops=jacobi_2d_loops, jax=jacobi_2d_jax, pythran=True,
    c=C(JACOBI_2D_C),
)  # fmt: skip


def heat_3d(A, B, steps):
    for _ in range(steps):
        for new, old in ((B, A), (A, B)):
            new[1:-1, 1:-1, 1:-1] = (
                0.125 * (old[2:, 1:-1, 1:-1] - 2.0 * old[1:-1, 1:-1, 1:-1] + old[:-2, 1:-1, 1:-1])
                + 0.125 * (old[1:-1, 2:, 1:-1] - 2.0 * old[1:-1, 1:-1, 1:-1] + old[1:-1, :-2, 1:-1])
                + 0.125 * (old[1:-1, 1:-1, 2:] - 2.0 * old[1:-1, 1:-1, 1:-1] + old[1:-1, 1:-1, :-2])
                + old[1:-1, 1:-1, 1:-1]
            )


def heat_half(new, old):
    n, m, p = old.shape
    for i in range(1, n - 1):
        for j in range(1, m - 1):
            for k in range(1, p - 1):
                c = old[i, j, k]
                new[i, j, k] = (
                    0.125 * (old[i + 1, j, k] - 2.0 * c + old[i - 1, j, k])
                    + 0.125 * (old[i, j + 1, k] - 2.0 * c + old[i, j - 1, k])
                    + 0.125 * (old[i, j, k + 1] - 2.0 * c + old[i, j, k - 1])
                    + c
                )


def heat_3d_loops(A, B, steps):
    for _ in range(steps):
        heat_half(B, A)
        heat_half(A, B)


def heat_3d_jax(A, B, steps):
    def half(new, old):
        c = old[1:-1, 1:-1, 1:-1]
        return new.at[1:-1, 1:-1, 1:-1].set(
            0.125 * (old[2:, 1:-1, 1:-1] - 2.0 * c + old[:-2, 1:-1, 1:-1])
            + 0.125 * (old[1:-1, 2:, 1:-1] - 2.0 * c + old[1:-1, :-2, 1:-1])
            + 0.125 * (old[1:-1, 1:-1, 2:] - 2.0 * c + old[1:-1, 1:-1, :-2])
            + c
        )

    def step(_, AB):
        A, B = AB
        B = half(B, A)
        return half(A, B), B

    return lax.fori_loop(0, steps, step, (A, B))


HEAT_3D_C = """
static void half(double *restrict B, const double *restrict A, long n, long m, long p) {
  for (long i = 1; i < n - 1; i++)
    for (long j = 1; j < m - 1; j++)
      for (long k = 1; k < p - 1; k++) {
        const double *a = A + (i * m + j) * p + k;
        B[(i * m + j) * p + k] = 0.125 * (a[m * p] - 2.0 * a[0] + a[-m * p])
          + 0.125 * (a[p] - 2.0 * a[0] + a[-p]) + 0.125 * (a[1] - 2.0 * a[0] + a[-1]) + a[0];
      }
}
void heat_3d(double *A, long n, long m, long p, double *B, long nb, long mb, long pb, long steps) {
  for (long t = 0; t < steps; t++) half(B, A, n, m, p), half(A, B, n, m, p);
}
"""
program(
    heat_3d, grids(2, 3), (24, 120), tiny=6, stores="A B", loops=heat_3d_loops, jax=heat_3d_jax, c=C(HEAT_3D_C),
)  # fmt: skip


# -- electromagnetic waves: three staggered fields
def fdtd_2d(ex, ey, hz, steps):
    for t in range(steps):
        ey[0, :] = t
        ey[1:, :] -= 0.5 * (hz[1:, :] - hz[:-1, :])
        ex[:, 1:] -= 0.5 * (hz[:, 1:] - hz[:, :-1])
        hz[:-1, :-1] -= 0.7 * (ex[:-1, 1:] - ex[:-1, :-1] + ey[1:, :-1] - ey[:-1, :-1])


def fdtd_2d_loops(ex, ey, hz, steps):
    n, m = hz.shape
    for t in range(steps):
        for j in range(m):
            ey[0, j] = t
        for i in range(1, n):
            for j in range(m):
                ey[i, j] -= 0.5 * (hz[i, j] - hz[i - 1, j])
        for i in range(n):
            for j in range(1, m):
                ex[i, j] -= 0.5 * (hz[i, j] - hz[i, j - 1])
        for i in range(n - 1):
            for j in range(m - 1):
                hz[i, j] -= 0.7 * (ex[i, j + 1] - ex[i, j] + ey[i + 1, j] - ey[i, j])


def fdtd_2d_jax(ex, ey, hz, steps):
    def step(t, fields):
        ex, ey, hz = fields
        ey = ey.at[0, :].set(t)
        ey = ey.at[1:, :].add(-0.5 * (hz[1:, :] - hz[:-1, :]))
        ex = ex.at[:, 1:].add(-0.5 * (hz[:, 1:] - hz[:, :-1]))
        return ex, ey, hz.at[:-1, :-1].add(-0.7 * (ex[:-1, 1:] - ex[:-1, :-1] + ey[1:, :-1] - ey[:-1, :-1]))

    return lax.fori_loop(0, steps, step, (ex, ey, hz))


FDTD_2D_C = """
void fdtd_2d(double *restrict ex, long a, long b, double *restrict ey, long c, long d, double *restrict hz,
             long n, long m, long steps) {
  for (long t = 0; t < steps; t++) {
    for (long j = 0; j < m; j++) ey[j] = t;
    for (long i = 1; i < n; i++)
      for (long j = 0; j < m; j++) ey[i * m + j] -= 0.5 * (hz[i * m + j] - hz[(i - 1) * m + j]);
    for (long i = 0; i < n; i++)
      for (long j = 1; j < m; j++) ex[i * m + j] -= 0.5 * (hz[i * m + j] - hz[i * m + j - 1]);
    for (long i = 0; i < n - 1; i++)
      for (long j = 0; j < m - 1; j++)
        hz[i * m + j] -= 0.7 * (ex[i * m + j + 1] - ex[i * m + j] + ey[(i + 1) * m + j] - ey[i * m + j]);
  }
}
"""
program(
    fdtd_2d, grids(3, 2), (80, 1200), stores="ex ey hz", loops=fdtd_2d_loops, pythran=True, jax=fdtd_2d_jax,
    c=C(FDTD_2D_C),
)  # fmt: skip


# -- Gauss-Seidel: each element from new neighbours
def seidel(A, steps):
    for _ in range(steps):
        for i in range(1, A.shape[0] - 1):
            A[i, 1:-1] += (
                A[i - 1, :-2] + A[i - 1, 1:-1] + A[i - 1, 2:] + A[i, 2:] + A[i + 1, :-2] + A[i + 1, 1:-1] + A[i + 1, 2:]
            )
            for j in range(1, A.shape[1] - 1):
                A[i, j] = (A[i, j] + A[i, j - 1]) / 9.0


def seidel_loops(A, steps):
    n, m = A.shape
    for _ in range(steps):
        for i in range(1, n - 1):
            for j in range(1, m - 1):
                A[i, j] = (
                    A[i - 1, j - 1] + A[i - 1, j] + A[i - 1, j + 1] + A[i, j - 1] + A[i, j] + A[i, j + 1]
                    + A[i + 1, j - 1] + A[i + 1, j] + A[i + 1, j + 1]
                ) / 9.0  # fmt: skip


def seidel_jax(A, steps):
    def row(i, A):
        above, here, below = A[i - 1], A[i], A[i + 1]
        known = above[:-2] + above[1:-1] + above[2:] + here[1:-1] + here[2:] + below[:-2] + below[1:-1] + below[2:]

        def element(left, rest):
            new = (rest + left) / 9.0
            return new, new

        return A.at[i, 1:-1].set(lax.scan(element, here[0], known)[1])

    return lax.fori_loop(0, steps, lambda _, A: lax.fori_loop(1, A.shape[0] - 1, row, A), A)


SEIDEL_C = """
void seidel(double *A, long n, long m, long steps) {
  for (long t = 0; t < steps; t++)
    for (long i = 1; i < n - 1; i++)
      for (long j = 1; j < m - 1; j++) {
        double *a = A + i * m + j;
        a[0] = (a[-m - 1] + a[-m] + a[-m + 1] + a[-1] + a[0] + a[1] + a[m - 1] + a[m] + a[m + 1]) / 9.0;
      }
}
"""
program(
    seidel, grids(1, 2, steps=2), (60, 500), stores="A", loops=seidel_loops, pythran=True, jax=seidel_jax,
    c=C(SEIDEL_C),
)  # fmt: skip


# -- advection with limited slopes (superbee where smooth, upwind elsewhere)
def advection(q, u, dt, steps):
    for _ in range(steps):
        d = q[1:] - q[:-1]
        left, right = d[:-1], d[1:]
        slope = np.where(left * right > 0, np.where(np.abs(left) < np.abs(right), left, right), 0.0)
        flux = u[1:-1] * (q[1:-1] + 0.5 * (1 - dt * u[1:-1]) * slope)
        q[2:-1] -= dt * (flux[1:] - flux[:-1])


def advection_init(n):
    q, u = np.random.default_rng(0).random((2, n))
    return q, u, 0.1, STEPS


def advection_loops(q, u, dt, steps):
    n = len(q)
    flux = np.empty(n)
    for _ in range(steps):
        for i in range(1, n - 1):
            left, right = q[i] - q[i - 1], q[i + 1] - q[i]
            slope = 0.0
            if left * right > 0:
                slope = left if abs(left) < abs(right) else right
            flux[i] = u[i] * (q[i] + 0.5 * (1 - dt * u[i]) * slope)
        for i in range(2, n - 1):
            q[i] -= dt * (flux[i] - flux[i - 1])


def advection_jax(q, u, dt, steps):
    def step(_, q):
        d = q[1:] - q[:-1]
        left, right = d[:-1], d[1:]
        slope = jnp.where(left * right > 0, jnp.where(jnp.abs(left) < jnp.abs(right), left, right), 0.0)
        flux = u[1:-1] * (q[1:-1] + 0.5 * (1 - dt * u[1:-1]) * slope)
        return q.at[2:-1].add(-dt * (flux[1:] - flux[:-1]))

    return lax.fori_loop(0, steps, step, q)


program(
    advection, advection_init, (8_000, 1_000_000), stores="q", loops=advection_loops, pythran=True, jax=advection_jax,
    reason="the flux is stored as a whole array, and differences too",
)  # fmt: skip


# -- vertical diffusion with limits on three-dimensional fields
def limited_diffusion(field, coefficient):
    lap = 4.0 * field[:, 1:-1, 1:-1] - (
        field[:, 2:, 1:-1] + field[:, :-2, 1:-1] + field[:, 1:-1, 2:] + field[:, 1:-1, :-2]
    )
    fx = lap[:, 1:, 1:-1] - lap[:, :-1, 1:-1]
    fx = np.where(fx * (field[:, 2:-1, 2:-2] - field[:, 1:-2, 2:-2]) > 0, 0, fx)
    fy = lap[:, 1:-1, 1:] - lap[:, 1:-1, :-1]
    fy = np.where(fy * (field[:, 2:-2, 2:-1] - field[:, 2:-2, 1:-2]) > 0, 0, fy)
    out = field[:, 2:-2, 2:-2] - coefficient[:, 2:-2, 2:-2] * (
        fx[:, 1:] - fx[:, :-1] + fy[:, :, 1:] - fy[:, :, :-1]
    )
    return out


def limited_diffusion_init(n):
    return tuple(np.random.default_rng(0).random((2, max(n // 8, 2), n, n)))


def limited_diffusion_loops(field, coefficient):
    p, n, m = field.shape
    out = np.empty((p, n - 4, m - 4))
    lap, fx, fy = np.empty((n, m)), np.empty((n, m)), np.empty((n, m))
    for k in range(p):
        for i in range(1, n - 1):
            for j in range(1, m - 1):
                lap[i, j] = 4.0 * field[k, i, j] - (
                    field[k, i + 1, j] + field[k, i - 1, j] + field[k, i, j + 1] + field[k, i, j - 1]
                )
        for i in range(1, n - 2):
            for j in range(2, m - 2):
                f = lap[i + 1, j] - lap[i, j]
                fx[i, j] = 0.0 if f * (field[k, i + 1, j] - field[k, i, j]) > 0 else f
        for i in range(2, n - 2):
            for j in range(1, m - 2):
                f = lap[i, j + 1] - lap[i, j]
                fy[i, j] = 0.0 if f * (field[k, i, j + 1] - field[k, i, j]) > 0 else f
        for i in range(2, n - 2):
            for j in range(2, m - 2):
                flow = fx[i, j] - fx[i - 1, j] + fy[i, j] - fy[i, j - 1]
                out[k, i - 2, j - 2] = field[k, i, j] - coefficient[k, i, j] * flow
    return out


program(
    limited_diffusion, limited_diffusion_init, (48, 256), loops=limited_diffusion_loops, jax=limited_diffusion,
    reason="the Laplacian and both fluxes are stored, for they are read at neighbours",
)  # fmt: skip


# -- one step of the 2-D wave equation
def wave(u, v, dt):
    lap = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4 * u[1:-1, 1:-1]
    v[1:-1, 1:-1] += dt * lap
    u += dt * v
    return u.max()


def wave_init(n):
    return *np.random.default_rng(0).random((2, n, n)), 0.1


def wave_loops(u, v, dt):
    n, m = u.shape
    for i in range(1, n - 1):
        for j in range(1, m - 1):
            v[i, j] += dt * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1] - 4 * u[i, j])
    most = -np.inf
    for i in range(n):
        for j in range(m):
            u[i, j] += dt * v[i, j]
            most = max(most, u[i, j])
    return most


def wave_jax(u, v, dt):
    lap = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4 * u[1:-1, 1:-1]
    v = v.at[1:-1, 1:-1].add(dt * lap)
    u = u + dt * v
    return u.max(), u, v


program(wave, wave_init, (90, 2000), stores="u v", loops=wave_loops, pythran=True, jax=wave_jax)


# -- shallow water (Lax-Friedrichs) on a periodic square
def shallow_water(h, hu, hv, dt, steps):
    for _ in range(steps):
        u, v = hu / h, hv / h
        p = 0.5 * 9.81 * h * h
        fluxes = ((hu, hv), (hu * u + p, hu * v), (hu * v, hv * v + p))
        fresh = []
        for q, (f, g) in zip((h, hu, hv), fluxes):
            mean = 0.25 * (np.roll(q, 1, 0) + np.roll(q, -1, 0) + np.roll(q, 1, 1) + np.roll(q, -1, 1))
            fx = np.roll(f, -1, 0) - np.roll(f, 1, 0)
            gy = np.roll(g, -1, 1) - np.roll(g, 1, 1)
            fresh.append(mean - 0.5 * dt * (fx + gy))
        h, hu, hv = fresh
    return h, hu, hv


def shallow_water_init(n):
    h, hu, hv = np.random.default_rng(0).random((3, n, n))
    return h + 1.0, hu, hv, 0.01, 3


def shallow_water_loops(h, hu, hv, dt, steps):
    n, m = h.shape
    old, new = np.empty((3, n, m)), np.empty((3, n, m))
    old[0], old[1], old[2] = h, hu, hv
    f, g = np.empty((3, n, m)), np.empty((3, n, m))
    for _ in range(steps):
        for i in range(n):
            for j in range(m):
                a, b, c = old[0, i, j], old[1, i, j], old[2, i, j]
                p = 0.5 * 9.81 * a * a
                f[0, i, j], f[1, i, j], f[2, i, j] = b, b * b / a + p, b * c / a
                g[0, i, j], g[1, i, j], g[2, i, j] = c, b * c / a, c * c / a + p
        for q in range(3):
            for i in range(n):
                up, down = i - 1 if i else n - 1, i + 1 if i < n - 1 else 0
                for j in range(m):
                    left, right = j - 1 if j else m - 1, j + 1 if j < m - 1 else 0
                    mean = 0.25 * (old[q, up, j] + old[q, down, j] + old[q, i, left] + old[q, i, right])
                    flow = f[q, down, j] - f[q, up, j] + g[q, i, right] - g[q, i, left]
                    new[q, i, j] = mean - 0.5 * dt * flow
        old, new = new, old
    return old[0].copy(), old[1].copy(), old[2].copy()


program(
    shallow_water, shallow_water_init, (60, 600), loops=shallow_water_loops, jax=shallow_water,
    reason="fluxes and rolled arrays are stored as a whole; roll's two parts are loops of their own",
)  # fmt: skip


# -- channel flow: pressure by sweeps, velocities from it, periodic along x
def pressure_sweeps(p, b, dx, dy, sweeps):
    for _ in range(sweeps):
        pn = p.copy()
        p[1:-1, 1:-1] = (
            (pn[1:-1, 2:] + pn[1:-1, :-2]) * dy**2 + (pn[2:, 1:-1] + pn[:-2, 1:-1]) * dx**2
        ) / (2 * (dx**2 + dy**2)) - dx**2 * dy**2 / (2 * (dx**2 + dy**2)) * b[1:-1, 1:-1]  # fmt: skip
        p[1:-1, 0] = p[1:-1, -2]
        p[1:-1, -1] = p[1:-1, 1]
        p[-1, :] = p[-2, :]
        p[0, :] = p[1, :]


def channel_flow(u, v, p, dt, dx, dy, steps):
    b = np.zeros_like(u)
    for _ in range(steps):
        un, vn = u.copy(), v.copy()
        b[1:-1, 1:-1] = (
            (u[1:-1, 2:] - u[1:-1, :-2]) / (2 * dx) + (v[2:, 1:-1] - v[:-2, 1:-1]) / (2 * dy)
        ) / dt - ((u[1:-1, 2:] - u[1:-1, :-2]) / (2 * dx)) ** 2 - ((v[2:, 1:-1] - v[:-2, 1:-1]) / (2 * dy)) ** 2
        pressure_sweeps(p, b, dx, dy, 8)
        u[1:-1, 1:-1] = (
            un[1:-1, 1:-1]
            - un[1:-1, 1:-1] * dt / dx * (un[1:-1, 1:-1] - un[1:-1, :-2])
            - vn[1:-1, 1:-1] * dt / dy * (un[1:-1, 1:-1] - un[:-2, 1:-1])
            - dt / (2 * dx) * (p[1:-1, 2:] - p[1:-1, :-2])
            + 0.1 * dt / dx**2 * (un[1:-1, 2:] - 2 * un[1:-1, 1:-1] + un[1:-1, :-2])
            + 0.1 * dt / dy**2 * (un[2:, 1:-1] - 2 * un[1:-1, 1:-1] + un[:-2, 1:-1])
            + dt
        )
        v[1:-1, 1:-1] = (
            vn[1:-1, 1:-1]
            - un[1:-1, 1:-1] * dt / dx * (vn[1:-1, 1:-1] - vn[1:-1, :-2])
            - vn[1:-1, 1:-1] * dt / dy * (vn[1:-1, 1:-1] - vn[:-2, 1:-1])
            - dt / (2 * dy) * (p[2:, 1:-1] - p[:-2, 1:-1])
            + 0.1 * dt / dx**2 * (vn[1:-1, 2:] - 2 * vn[1:-1, 1:-1] + vn[1:-1, :-2])
            + 0.1 * dt / dy**2 * (vn[2:, 1:-1] - 2 * vn[1:-1, 1:-1] + vn[:-2, 1:-1])
        )
        u[0, :] = u[-1, :] = v[0, :] = v[-1, :] = 0


def channel_flow_init(n):
    u, v, p = 0.01 * np.random.default_rng(0).random((3, n, n))
    return u, v, p, 1e-3, 0.1, 0.1, 3


def channel_flow_jax(u, v, p, dt, dx, dy, steps):
    def sweep(_, p, b):
        p = p.at[1:-1, 1:-1].set(
            ((p[1:-1, 2:] + p[1:-1, :-2]) * dy**2 + (p[2:, 1:-1] + p[:-2, 1:-1]) * dx**2) / (2 * (dx**2 + dy**2))
            - dx**2 * dy**2 / (2 * (dx**2 + dy**2)) * b[1:-1, 1:-1]
        )
        p = p.at[1:-1, 0].set(p[1:-1, -2])
        p = p.at[1:-1, -1].set(p[1:-1, 1])
        p = p.at[-1, :].set(p[-2, :])
        return p.at[0, :].set(p[1, :])

    def moved(q, u, v, force):
        return q.at[1:-1, 1:-1].set(
            q[1:-1, 1:-1]
            - u[1:-1, 1:-1] * dt / dx * (q[1:-1, 1:-1] - q[1:-1, :-2])
            - v[1:-1, 1:-1] * dt / dy * (q[1:-1, 1:-1] - q[:-2, 1:-1])
            - force
            + 0.1 * dt / dx**2 * (q[1:-1, 2:] - 2 * q[1:-1, 1:-1] + q[1:-1, :-2])
            + 0.1 * dt / dy**2 * (q[2:, 1:-1] - 2 * q[1:-1, 1:-1] + q[:-2, 1:-1])
        )

    def step(_, fields):
        u, v, p = fields
        ux, vy = (u[1:-1, 2:] - u[1:-1, :-2]) / (2 * dx), (v[2:, 1:-1] - v[:-2, 1:-1]) / (2 * dy)
        b = jnp.zeros_like(u).at[1:-1, 1:-1].set((ux + vy) / dt - ux**2 - vy**2)
        p = lax.fori_loop(0, 8, lambda k, p: sweep(k, p, b), p)
        new_u = moved(u, u, v, dt / (2 * dx) * (p[1:-1, 2:] - p[1:-1, :-2]) - dt)
        new_v = moved(v, u, v, dt / (2 * dy) * (p[2:, 1:-1] - p[:-2, 1:-1]))
        new_u, new_v = new_u.at[0, :].set(0).at[-1, :].set(0), new_v.at[0, :].set(0).at[-1, :].set(0)
        return new_u, new_v, p

    return lax.fori_loop(0, steps, step, (u, v, p))


program(channel_flow, channel_flow_init, (60, 500), stores="u v p", jax=channel_flow_jax)
