"""The programs of first_calls.py, as NumPy code, which tracebuf takes as it is (and Numba where it can), and as people
write them for JAX: arrays are replaced, loops and branches are JAX's own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np


def five(a, b):
    return (a + b) * 2 - a / b + 1


def stencils(u, v, steps):
    for _ in range(steps):
        u[1:-1, 1:-1] += 0.1 * (v[:-2, 1:-1] + v[2:, 1:-1] + v[1:-1, :-2] + v[1:-1, 2:] - 4 * v[1:-1, 1:-1])
        v[1:-1, 1:-1] -= 0.1 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4 * u[1:-1, 1:-1])
    return u


def spectrum(x):
    y = x.reshape(1, x.shape[0])
    while y.shape[1] > 1:
        half, rows = y.shape[1] // 2, y.shape[0]
        even, odd = y[:, :half], y[:, half:]
        twiddle = np.exp(-1j * np.pi * np.arange(rows) / rows)[:, None]
        y = np.concatenate((even + twiddle * odd, even - twiddle * odd))
    return y[:, 0]


def bodies(position, velocity, mass, dt, steps):
    for _ in range(steps):
        d = position[None, :, :] - position[:, None, :]
        r2 = (d**2).sum(axis=-1)
        inverse = np.zeros_like(r2)
        apart = r2 > 0
        inverse[apart] = r2[apart] ** -1.5
        velocity += dt * (d * (inverse * mass)[:, :, None]).sum(axis=1)
        position += dt * velocity
    return 0.5 * (mass[:, None] * velocity**2).sum()


def cavity(u, v, p, steps, dt, dx, dy, rho, nu):
    """Flow in a cavity whose lid moves (L. A. Barba, G. F. Forsyth, CFD Python, step 11)."""
    b = np.zeros_like(p)
    for _ in range(steps):
        un, vn = u.copy(), v.copy()
        ux = (u[1:-1, 2:] - u[1:-1, :-2]) / (2 * dx)
        vy = (v[2:, 1:-1] - v[:-2, 1:-1]) / (2 * dy)
        uy = (u[2:, 1:-1] - u[:-2, 1:-1]) / (2 * dy)
        vx = (v[1:-1, 2:] - v[1:-1, :-2]) / (2 * dx)
        b[1:-1, 1:-1] = rho * ((ux + vy) / dt - ux**2 - 2 * uy * vx - vy**2)
        for _ in range(50):
            pn = p.copy()
            p[1:-1, 1:-1] = (
                (pn[1:-1, 2:] + pn[1:-1, :-2]) * dy**2 + (pn[2:, 1:-1] + pn[:-2, 1:-1]) * dx**2
                - b[1:-1, 1:-1] * dx**2 * dy**2
            ) / (2 * (dx**2 + dy**2))  # fmt: skip
            p[:, -1], p[0, :], p[:, 0], p[-1, :] = p[:, -2], p[1, :], p[:, 1], 0
        u[1:-1, 1:-1] = (
            un[1:-1, 1:-1]
            - un[1:-1, 1:-1] * dt / dx * (un[1:-1, 1:-1] - un[1:-1, :-2])
            - vn[1:-1, 1:-1] * dt / dy * (un[1:-1, 1:-1] - un[:-2, 1:-1])
            - dt / (2 * rho * dx) * (p[1:-1, 2:] - p[1:-1, :-2])
            + nu * dt / dx**2 * (un[1:-1, 2:] - 2 * un[1:-1, 1:-1] + un[1:-1, :-2])
            + nu * dt / dy**2 * (un[2:, 1:-1] - 2 * un[1:-1, 1:-1] + un[:-2, 1:-1])
        )
        v[1:-1, 1:-1] = (
            vn[1:-1, 1:-1]
            - un[1:-1, 1:-1] * dt / dx * (vn[1:-1, 1:-1] - vn[1:-1, :-2])
            - vn[1:-1, 1:-1] * dt / dy * (vn[1:-1, 1:-1] - vn[:-2, 1:-1])
            - dt / (2 * rho * dy) * (p[2:, 1:-1] - p[:-2, 1:-1])
            + nu * dt / dx**2 * (vn[1:-1, 2:] - 2 * vn[1:-1, 1:-1] + vn[1:-1, :-2])
            + nu * dt / dy**2 * (vn[2:, 1:-1] - 2 * vn[1:-1, 1:-1] + vn[:-2, 1:-1])
        )
        u[0, :], u[:, 0], u[:, -1], u[-1, :] = 0, 0, 0, 1
        v[0, :], v[-1, :], v[:, 0], v[:, -1] = 0, 0, 0, 0
    return u, v, p


def recurrent(xs, h, w, r, b):
    found = []
    for x in xs:
        h = np.tanh(x @ w + h @ r + b)
        found.append(h)
    return found


def for_jax(name: str) -> Callable[..., Any]:
    """The program as a jitted function of JAX."""
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)

    def stencils_(u, v, steps):
        def step(_, state):
            u, v = state
            u = u.at[1:-1, 1:-1].add(
                0.1 * (v[:-2, 1:-1] + v[2:, 1:-1] + v[1:-1, :-2] + v[1:-1, 2:] - 4 * v[1:-1, 1:-1])
            )
            v = v.at[1:-1, 1:-1].add(
                -0.1 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4 * u[1:-1, 1:-1])
            )
            return u, v

        return jax.lax.fori_loop(0, steps, step, (u, v))[0]

    def spectrum_(x):
        y = x.reshape(1, x.shape[0])
        while y.shape[1] > 1:
            half, rows = y.shape[1] // 2, y.shape[0]
            even, odd = y[:, :half], y[:, half:]
            twiddle = jnp.exp(-1j * jnp.pi * jnp.arange(rows) / rows)[:, None]
            y = jnp.concatenate((even + twiddle * odd, even - twiddle * odd))
        return y[:, 0]

    def bodies_(position, velocity, mass, dt, steps):
        def step(_, state):
            position, velocity = state
            d = position[None, :, :] - position[:, None, :]
            r2 = (d**2).sum(axis=-1)
            inverse = jnp.where(r2 > 0, jnp.where(r2 > 0, r2, 1) ** -1.5, 0)
            velocity = velocity + dt * (d * (inverse * mass)[:, :, None]).sum(axis=1)
            return position + dt * velocity, velocity

        velocity = jax.lax.fori_loop(0, steps, step, (position, velocity))[1]
        return 0.5 * (mass[:, None] * velocity**2).sum()

    def recurrent_(xs, h, w, r, b):
        found = []
        for x in xs:
            h = jnp.tanh(x @ w + h @ r + b)
            found.append(h)
        return found

    made = {"five": five, "stencils": stencils_, "spectrum": spectrum_, "bodies": bodies_, "recurrent": recurrent_}
    jitted = jax.jit(made[name])
    return lambda *args: jax.block_until_ready(jitted(*args))


def arguments(name: str) -> tuple[Any, ...]:
    """Those of a call: small ones, whose own time does not count."""
    random = np.random.default_rng(0)
    n = 20
    if name == "five":
        return random.random(1000), random.random(1000) + 1
    if name == "stencils":
        return random.random((n, n)), random.random((n, n)), 3
    if name == "spectrum":
        return (random.random(64) + 1j * random.random(64),)
    if name == "bodies":
        return random.random((n, 3)), random.random((n, 3)), random.random(n), 0.01, 3
    if name == "cavity":
        return np.zeros((n, n)), np.zeros((n, n)), np.zeros((n, n)), 2, 0.001, 0.1, 0.1, 1.0, 0.1
    xs = [random.random((4, 8)) for _ in range(25)]
    return xs, np.zeros((4, 16)), random.random((8, 16)), random.random((16, 16)), random.random(16)


PROGRAMS: dict[str, Callable[..., Any]] = {
    f.__name__: f for f in (five, stencils, spectrum, bodies, cavity, recurrent)
}
