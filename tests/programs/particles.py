"""Particles and lattices: n bodies with masks, Lattice-Boltzmann, Ising, automata, walks with given numbers."""

import numpy as np

from .registry import program


@program(lambda random, n: (random.random((n, 3)), random.random((n, 3)), random.random(n), 0.01, 4))
def nbody_with_masks(position, velocity, mass, dt, steps):
    def acceleration(position):
        d = position[None, :, :] - position[:, None, :]
        r2 = (d**2).sum(axis=-1)
        inverse = np.zeros_like(r2)
        apart = r2 > 0
        inverse[apart] = r2[apart] ** -1.5
        return (d * (inverse * mass)[:, :, None]).sum(axis=1)

    a = acceleration(position)
    energy = np.zeros(steps)
    for step in range(steps):
        velocity += 0.5 * dt * a
        position += dt * velocity
        a = acceleration(position)
        velocity += 0.5 * dt * a
        energy[step] = 0.5 * (mass[:, None] * velocity**2).sum()
    return energy


@program(lambda random, n: (random.random((3 * n, 2)) * 4, random.random((3 * n, 2)) - 0.5, 4.0, 1.0, 3))
def lennard_jones_in_a_box(position, velocity, box, cutoff, steps):
    dt = 1e-4
    potential = 0.0
    for _ in range(steps):
        d = position[:, None] - position[None, :]
        d -= box * np.round(d / box)
        r2 = np.sum(d * d, axis=-1)
        near = (r2 < cutoff**2) & (r2 > 1e-3)
        s = np.zeros(r2.shape)
        s[near] = 1 / r2[near] ** 3
        potential = 2 * np.sum(s**2 - s)
        force = np.zeros_like(s)
        force[near] = 24 * (2 * s[near] ** 2 - s[near]) / r2[near]
        velocity += dt * (force[:, :, None] * d).sum(axis=1)
        position += dt * velocity
        position %= box
    return potential


@program(lambda random, n: (random.random((3 * n, 2)), random.random((3 * n, 2)) - 0.5, 0.1))
def bounce_off_walls(position, velocity, dt):
    position += dt * velocity
    low, high = position < 0, position > 1
    position[low] = -position[low]
    position[high] = 2 - position[high]
    velocity[low | high] *= -1
    return (low | high).any(axis=1).sum()


@program(lambda random, n: (1 + 0.1 * random.random((9, n, n + 3)), random.random((n, n + 3)) < 0.1, 0.6, 3))
def lattice_boltzmann(f, wall, tau, steps):
    cx = np.array([0, 0, 0, 1, 1, 1, -1, -1, -1])
    cy = np.array([0, 1, -1, 0, 1, -1, 0, 1, -1])
    weight = np.array([4 / 9, 1 / 9, 1 / 9, 1 / 9, 1 / 36, 1 / 36, 1 / 9, 1 / 36, 1 / 36])
    opposite = np.array([0, 2, 1, 6, 8, 7, 3, 5, 4])
    for _ in range(steps):
        for i in range(9):
            f[i] = np.roll(np.roll(f[i], cx[i], axis=1), cy[i], axis=0)
        bounced = f[:, wall][opposite]
        rho = f.sum(axis=0)
        ux = (cx[:, None, None] * f).sum(axis=0) / rho
        uy = (cy[:, None, None] * f).sum(axis=0) / rho
        for i in range(9):
            cu = cx[i] * ux + cy[i] * uy
            equal = rho * weight[i] * (1 + 3 * cu + 4.5 * cu**2 - 1.5 * (ux**2 + uy**2))
            f[i] -= (f[i] - equal) / tau
        f[:, wall] = bounced
    ux[wall] = 0
    uy[wall] = 0
    return np.sqrt(ux**2 + uy**2)


@program(lambda random, n: (random.choice([-1, 1], (2 * n, 2 * n)), random.random((6, 2 * n, 2 * n)), 0.44))
def ising_checkerboard(spin, chance, beta):
    rows, cols = spin.shape
    parity = (np.arange(rows)[:, None] + np.arange(cols)) % 2
    magnetization = np.zeros(chance.shape[0])
    for step in range(chance.shape[0]):
        around = np.roll(spin, 1, 0) + np.roll(spin, -1, 0) + np.roll(spin, 1, 1) + np.roll(spin, -1, 1)
        flip = (parity == step % 2) & (chance[step] < np.exp(-2.0 * beta * spin * around))
        spin[flip] *= -1
        magnetization[step] = spin.mean()
    return magnetization


@program(lambda random, n: (random.integers(0, 2, (n, n + 2)), 4))
def life_with_masks(board, generations):
    ages = np.zeros(board.shape, dtype=int)
    for _ in range(generations):
        padded = np.pad(board, 1)
        count = sum(
            padded[1 + i : 1 + i + board.shape[0], 1 + j : 1 + j + board.shape[1]]
            for i in (-1, 0, 1)
            for j in (-1, 0, 1)
            if i or j
        )
        born = (board == 0) & (count == 3)
        dies = (board == 1) & ((count < 2) | (count > 3))
        board[born] = 1
        board[dies] = 0
        ages[board == 1] += 1
        ages[dies] = 0
    return ages


@program(lambda random, n: (4 * n + 1, 2 * n, 110))
def elementary_automaton(width, steps, rule):
    table = (rule >> np.arange(8)) & 1
    history = np.zeros((steps, width), dtype=np.int64)
    history[0, width // 2] = 1
    for t in range(1, steps):
        left, right = np.roll(history[t - 1], 1), np.roll(history[t - 1], -1)
        history[t] = table[4 * left + 2 * history[t - 1] + right]
    return history


@program(lambda random, n: (random.choice(np.array([-1, 1]), (5, 10 * n)), 3))
def walks_and_barriers(steps, barrier):
    walk = np.cumsum(steps, axis=1)
    hit = (np.abs(walk) >= barrier).any(axis=1)
    first = np.argmax(np.abs(walk) >= barrier, axis=1)
    return walk[hit, first[hit]], first[hit].sum(), hit.mean()


@program(lambda random, n: (random.random((n, n)), random.random(5 * n), random.random(5 * n)))
def deposit_and_gather(field, x, y):
    n = field.shape[0]
    i, j = (x * (n - 1)).astype(int), (y * (n - 1)).astype(int)
    fx, fy = x * (n - 1) - i, y * (n - 1) - j
    value = (1 - fx) * (1 - fy) * field[i, j] + fx * (1 - fy) * field[i + 1, j]
    value += (1 - fx) * fy * field[i, j + 1] + fx * fy * field[i + 1, j + 1]
    density = np.zeros_like(field)
    np.add.at(density, (i, j), (1 - fx) * (1 - fy))
    np.add.at(density, (i + 1, j + 1), fx * fy)
    return value, density


@program(lambda random, n: (random.integers(0, 4, (n, n)), 30))
def sandpile(grid, limit):
    grid += 3
    for _ in range(limit):
        unstable = grid >= 4
        if not unstable.any():
            break
        grid[unstable] -= 4
        grid[1:] += unstable[:-1]
        grid[:-1] += unstable[1:]
        grid[:, 1:] += unstable[:, :-1]
        grid[:, :-1] += unstable[:, 1:]
    return grid.sum()
