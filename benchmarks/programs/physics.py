"""Particles and forces, counts by distance."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from benchmarks.programs.registry import program

if TYPE_CHECKING:
    import jax.numpy as jnp
    from jax import lax


# -- gravity among all pairs, leapfrog steps
def nbody(pos, vel, mass, dt, steps):
    for _ in range(steps):
        d = pos[None, :, :] - pos[:, None, :]
        inv = ((d**2).sum(axis=2) + 0.01) ** -1.5
        acc = (d * (inv * mass)[:, :, None]).sum(axis=1)
        vel += dt * acc
        pos += dt * vel
    return 0.5 * (mass * (vel**2).sum(axis=1)).sum()


def nbody_init(n):
    r = np.random.default_rng(0)
    return r.random((n, 3)), r.random((n, 3)), r.random(n), 0.01, 2


def nbody_loops(pos, vel, mass, dt, steps):
    n = len(mass)
    for _ in range(steps):
        for i in range(n):
            ax = ay = az = 0.0
            for j in range(n):
                dx, dy, dz = pos[j, 0] - pos[i, 0], pos[j, 1] - pos[i, 1], pos[j, 2] - pos[i, 2]
                r2 = dx * dx + dy * dy + dz * dz + 0.01
                f = mass[j] / (r2 * np.sqrt(r2))
                ax += f * dx
                ay += f * dy
                az += f * dz
            vel[i, 0] += dt * ax
            vel[i, 1] += dt * ay
            vel[i, 2] += dt * az
        for i in range(n):
            for k in range(3):
                pos[i, k] += dt * vel[i, k]
    energy = 0.0
    for i in range(n):
        energy += 0.5 * mass[i] * (vel[i, 0] ** 2 + vel[i, 1] ** 2 + vel[i, 2] ** 2)
    return energy


def nbody_jax(pos, vel, mass, dt, steps):
    def step(_, state):
        pos, vel = state
        d = pos[None, :, :] - pos[:, None, :]
        inv = ((d**2).sum(axis=2) + 0.01) ** -1.5
        vel = vel + dt * (d * (inv * mass)[:, :, None]).sum(axis=1)
        return pos + dt * vel, vel

    pos, vel = lax.fori_loop(0, steps, step, (pos, vel))
    return 0.5 * (mass * (vel**2).sum(axis=1)).sum(), pos, vel


program(
    nbody, nbody_init, (60, 1000), stores="pos vel", loops=nbody_loops, pythran=True, jax=nbody_jax,
    reason="`** -1.5` calls NumPy's pow for each element, NumPy's bits; all differences are stored, rows of 3",
)  # fmt: skip


# -- Lennard-Jones: forces and energy row by row, within a cutoff in a periodic box
def lennard_jones(pos, box, cutoff):
    forces = np.zeros_like(pos)
    energy = 0.0
    for i in range(len(pos) - 1):
        d = pos[i] - pos[i + 1 :]
        d -= box * np.round(d / box)
        r2 = (d * d).sum(axis=1)
        near = r2 < cutoff * cutoff
        inv6 = np.where(near, 1.0 / r2, 0.0) ** 3
        energy += (4.0 * (inv6 * inv6 - inv6)).sum()
        f = (24.0 * (2.0 * inv6 * inv6 - inv6) / r2)[:, None] * d
        forces[i] += f.sum(axis=0)
        forces[i + 1 :] -= f
    return energy, forces


def lattice(n):
    side = int(np.ceil(n ** (1 / 3)))
    grid = np.indices((side,) * 3).reshape(3, -1).T[:n] * 1.2
    return grid + 0.1 * np.random.default_rng(0).random((n, 3)), 1.2 * side, 2.5


def lennard_jones_loops(pos, box, cutoff):
    n = len(pos)
    forces = np.zeros_like(pos)
    energy = 0.0
    for i in range(n):
        for j in range(i + 1, n):
            dx, dy, dz = pos[i, 0] - pos[j, 0], pos[i, 1] - pos[j, 1], pos[i, 2] - pos[j, 2]
            dx -= box * np.round(dx / box)
            dy -= box * np.round(dy / box)
            dz -= box * np.round(dz / box)
            r2 = dx * dx + dy * dy + dz * dz
            if r2 < cutoff * cutoff:
                inv6 = 1.0 / (r2 * r2 * r2)
                energy += 4.0 * (inv6 * inv6 - inv6)
                f = 24.0 * (2.0 * inv6 * inv6 - inv6) / r2
                forces[i, 0] += f * dx
                forces[i, 1] += f * dy
                forces[i, 2] += f * dz
                forces[j, 0] -= f * dx
                forces[j, 1] -= f * dy
                forces[j, 2] -= f * dz
    return energy, forces


def lennard_jones_jax(pos, box, cutoff):
    d = pos[:, None, :] - pos[None, :, :]
    d = d - box * jnp.round(d / box)
    r2 = (d * d).sum(axis=2) + jnp.eye(len(pos))
    near = (r2 < cutoff * cutoff) & ~jnp.eye(len(pos), dtype=bool)
    inv6 = jnp.where(near, 1.0 / r2, 0.0) ** 3
    forces = ((24.0 * (2.0 * inv6 * inv6 - inv6) / r2)[:, :, None] * d).sum(axis=1)
    return 2.0 * (inv6 * inv6 - inv6).sum(), forces


program(
    lennard_jones, lattice, (60, 1000), loops=lennard_jones_loops, jax=lennard_jones_jax,
    reason="`** 3` calls NumPy's pow for each element, NumPy's bits; sums over rows of 3; far pairs are computed too",
)  # fmt: skip


# -- neighbours by cells: each particle meets those of its cell and of the cells around
def cell_energy(pos, cells, width):
    n = len(pos)
    head = np.full((cells, cells), -1)
    after = np.full(n, -1)
    for i in range(n):
        cx, cy = int(pos[i, 0] / width), int(pos[i, 1] / width)
        after[i] = head[cx, cy]
        head[cx, cy] = i
    energy = 0.0
    for i in range(n):
        cx, cy = int(pos[i, 0] / width), int(pos[i, 1] / width)
        for ax in range(max(cx - 1, 0), min(cx + 2, cells)):
            for ay in range(max(cy - 1, 0), min(cy + 2, cells)):
                j = head[ax, ay]
                while j >= 0:
                    if j < i:
                        dx, dy = pos[i, 0] - pos[j, 0], pos[i, 1] - pos[j, 1]
                        r2 = dx * dx + dy * dy
                        if r2 < width * width:
                            energy += (1.0 - r2 / (width * width)) ** 2
                    j = after[j]
    return energy


def cell_energy_init(n):
    cells = max(2, int(np.sqrt(n / 4)))
    return np.random.default_rng(0).random((n, 2)) * 0.999 * cells, cells, 1.0


program(
    cell_energy, cell_energy_init, (200, 8_000), loops=cell_energy, pythran=True,
    reason="numbers are checked before they become ints, indices before they are used; `** 2` is made sure to be pow's",
)  # fmt: skip


# -- mean intensity by distance from the centre
def azimuthal_masks(data, radius, bins):
    most = radius.max()
    out = np.zeros(bins)
    for i in range(bins):
        ring = (radius >= most * i / bins) & (radius < most * (i + 1) / bins)
        out[i] = data[ring].mean()
    return out


def image_with_radius(n):
    r = np.random.default_rng(0)
    y, x = np.indices((n, n)) - (n / 2 + 0.1301)
    return r.random(n * n), np.hypot(x, 1.0071 * y).ravel(), 4 if n < 20 else 20


def azimuthal_masks_loops(data, radius, bins):
    most = radius.max()
    edges = np.array([most * i / bins for i in range(bins + 1)])
    total, count = np.zeros(bins), np.zeros(bins)
    for k in range(len(data)):
        i = min(int(radius[k] / most * bins), bins - 1)
        while radius[k] < edges[i]:
            i -= 1
        while i < bins and radius[k] >= edges[i + 1]:
            i += 1
        if i < bins:
            total[i] += data[k]
            count[i] += 1
    return total / count


def azimuthal_masks_jax(data, radius, bins):
    most = radius.max()
    i = jnp.arange(bins)[:, None]
    ring = (radius >= most * i / bins) & (radius < most * (i + 1) / bins)
    return jnp.where(ring, data, 0).sum(axis=1) / ring.sum(axis=1)


program(
    azimuthal_masks, image_with_radius, (60, 600), loops=azimuthal_masks_loops, pythran=True, jax=azimuthal_masks_jax,
    reason="each ring stores its mask, counts and copies by it, sums the copy; NumPy passes over false by words",
)  # fmt: skip


def azimuthal_histogram(data, radius, bins):
    total = np.histogram(radius, bins, weights=data)[0]
    count = np.histogram(radius, bins)[0]
    return total / count


def azimuthal_histogram_loops(data, radius, bins):
    least, most = radius.min(), radius.max()
    edges = np.linspace(least, most, bins + 1)
    total, count = np.zeros(bins), np.zeros(bins)
    for k in range(len(data)):
        i = min(int((radius[k] - least) / (most - least) * bins), bins - 1)
        if radius[k] < edges[i]:
            i -= 1
        elif i < bins - 1 and radius[k] >= edges[i + 1]:
            i += 1
        total[i] += data[k]
        count[i] += 1
    return total / count


def azimuthal_histogram_jax(data, radius, bins):
    return jnp.histogram(radius, bins, weights=data)[0] / jnp.histogram(radius, bins)[0]


program(
    azimuthal_histogram, image_with_radius, (60, 1000), loops=azimuthal_histogram_loops, jax=azimuthal_histogram_jax,
    reason="two searches for the extremes in the first histogram; sums of weights by chunks, as NumPy adds them",
)  # fmt: skip
