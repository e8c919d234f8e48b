"""Time loops of stencils in one, two and three dimensions: heat, waves, advection, relaxation."""

import numpy as np

from .registry import program


@program(lambda random, n: (random.random(n), 0.1, 5))
def heat_rod(u, r, steps):
    n = len(u)
    for _ in range(steps):
        new = np.empty(n)
        new[0], new[-1] = u[0], u[-1]
        new[1:-1] = u[1:-1] + r * (u[2:] - 2 * u[1:-1] + u[:-2])
        u = new
    return u


@program(lambda random, n: (random.random(n), 0.4, 4))
def wave_string(u, courant, steps):
    c2 = courant**2
    prev = u.copy()
    now = u.copy()
    now[1:-1] = u[1:-1] + 0.5 * c2 * (u[2:] - 2 * u[1:-1] + u[:-2])
    nxt = np.zeros_like(u)
    energy = np.zeros(steps)
    for t in range(steps):
        nxt[1:-1] = 2 * now[1:-1] - prev[1:-1] + c2 * (now[2:] - 2 * now[1:-1] + now[:-2])
        nxt[0] = nxt[-1] = 0.0
        energy[t] = np.sum((nxt - now) ** 2)
        prev, now, nxt = now, nxt, prev
    return now, energy


@program(lambda random, n: (random.random(n), random.random(n) - 0.5, 0.1, 0.2, 4))
def upwind_advection(q, a, dt, dx, steps):
    right = a > 0
    for _ in range(steps):
        backward = np.zeros_like(q)
        forward = np.zeros_like(q)
        backward[1:] = (q[1:] - q[:-1]) / dx
        forward[:-1] = (q[1:] - q[:-1]) / dx
        q = q - dt * a * np.where(right, backward, forward)
    return q


@program(lambda random, n: (random.random(n), 0.3, 3))
def lax_wendroff_periodic(u, c, steps):
    for _ in range(steps):
        up = np.roll(u, -1)
        um = np.roll(u, 1)
        u = u - 0.5 * c * (up - um) + 0.5 * c * c * (up - 2 * u + um)
    return u


@program(lambda random, n: (random.random(n) + 0.5, 0.05, 4))
def burgers_lax_friedrichs(u, ratio, steps):
    for _ in range(steps):
        flux = u**2 / 2
        half = 0.5 * (flux[:-1] + flux[1:]) - 0.5 / ratio * (u[1:] - u[:-1]) * 0.1
        u[1:-1] -= ratio * (half[1:] - half[:-1])
        u[0] = u[-2]
        u[-1] = u[1]


@program(lambda random, n: (random.random((n, n + 2)), 1e-3))
def laplace_until_converged(u, tol):
    iterations = 0
    change = tol + 1
    while change > tol and iterations < 200:
        old = u.copy()
        u[1:-1, 1:-1] = 0.25 * (old[:-2, 1:-1] + old[2:, 1:-1] + old[1:-1, :-2] + old[1:-1, 2:])
        change = np.abs(u - old).max()
        iterations += 1
    return u, iterations, change


@program(lambda random, n: (random.random((n, n + 1)), random.random((n, n + 1)), 1.5, 3))
def red_black_gauss_seidel(u, f, omega, sweeps):
    h2 = 1.0 / (u.shape[0] - 1) ** 2
    for _ in range(sweeps):
        for colour in range(2):
            for i in range(1, u.shape[0] - 1):
                start = 1 + (i + colour) % 2
                around = u[i - 1, start:-1:2] + u[i + 1, start:-1:2] + u[i, start - 1 : -2 : 2] + u[i, start + 1 :: 2]
                u[i, start:-1:2] += omega * (0.25 * (around - h2 * f[i, start:-1:2]) - u[i, start:-1:2])
    return u


@program(lambda random, n: (random.random((n, n)), random.random((n, n)), 4))
def jacobi_ping_pong(a, b, steps):
    src, dst = a, b
    for _ in range(steps):
        dst[1:-1, 1:-1] = 0.25 * (src[:-2, 1:-1] + src[2:, 1:-1] + src[1:-1, :-2] + src[1:-1, 2:])
        src, dst = dst, src
    return src


@program(lambda random, n: (random.random((n, n + 1)) + 1, random.random((n, n + 1)), 0.02, 0.06, 3))
def gray_scott(u, v, feed, kill, steps):
    def laplacian(z):
        return z[:-2, 1:-1] + z[2:, 1:-1] + z[1:-1, :-2] + z[1:-1, 2:] - 4 * z[1:-1, 1:-1]

    for _ in range(steps):
        uc, vc = u[1:-1, 1:-1], v[1:-1, 1:-1]
        reaction = uc * vc * vc
        du = 0.16 * laplacian(u) - reaction + feed * (1 - uc)
        dv = 0.08 * laplacian(v) + reaction - (feed + kill) * vc
        uc += du
        vc += dv
        for z in (u, v):
            z[0, :] = z[1, :]
            z[-1, :] = z[-2, :]
            z[:, 0] = z[:, 1]
            z[:, -1] = z[:, -2]


@program(lambda random, n: (random.random((n, n + 1, n + 2)), 0.1, 3))
def heat_box(u, alpha, steps):
    for _ in range(steps):
        lap = -6.0 * u[1:-1, 1:-1, 1:-1]
        lap += u[2:, 1:-1, 1:-1]
        lap += u[:-2, 1:-1, 1:-1]
        lap += u[1:-1, 2:, 1:-1]
        lap += u[1:-1, :-2, 1:-1]
        lap += u[1:-1, 1:-1, 2:]
        lap += u[1:-1, 1:-1, :-2]
        u[1:-1, 1:-1, 1:-1] += alpha * lap
    return u.mean(axis=(1, 2))


@program(lambda random, n: (random.random((n, n, n)), np.full((n, n, n), 0.3), 4))
def wave_cube(u, speed, steps):
    c2 = speed * speed
    old = u.copy()
    for t in range(steps):
        new = 2 * u - old
        new[1:-1, 1:-1, 1:-1] += c2[1:-1, 1:-1, 1:-1] * (
            u[:-2, 1:-1, 1:-1]
            + u[2:, 1:-1, 1:-1]
            + u[1:-1, :-2, 1:-1]
            + u[1:-1, 2:, 1:-1]
            + u[1:-1, 1:-1, :-2]
            + u[1:-1, 1:-1, 2:]
            - 6 * u[1:-1, 1:-1, 1:-1]
        )
        if t == 0:
            new[2, 2, 2] += 1.0
        old, u = u, new
    return u


@program(lambda random, n: (random.random((n, n + 1)), 3))
def anisotropic_diffusion(img, iterations):
    img = img.astype(np.float64)
    out = img.copy()
    for _ in range(iterations):
        north = np.zeros_like(out)
        south = np.zeros_like(out)
        west = np.zeros_like(out)
        east = np.zeros_like(out)
        north[1:, :] = out[:-1, :] - out[1:, :]
        south[:-1, :] = out[1:, :] - out[:-1, :]
        west[:, 1:] = out[:, :-1] - out[:, 1:]
        east[:, :-1] = out[:, 1:] - out[:, :-1]
        for d in (north, south, west, east):
            d *= np.exp(-((d / 0.3) ** 2))
        out += 0.2 * (north + south + west + east)
    return out
