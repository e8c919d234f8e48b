"""Whole programs on complex numbers, in users' style: each climbs the ladder at two sizes from one compilation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.support.arrays import complexes
from tests.support.params import slow_but
from tracebuf.options import Options
from tracebuf.testing.ladder import climb


def mandelbrot(c, rounds):
    """Escape times on shrinking index sets."""
    times = np.zeros(c.shape[0], int)
    index = np.arange(c.shape[0])
    z = np.zeros_like(c)
    for k in range(rounds):
        z = z * z + c
        alive = z.real**2 + z.imag**2 <= 4
        times[index[~alive]] = k + 1
        z, c, index = z[alive], c[alive], index[alive]
    return times


def julia(z, c, rounds):
    """In place, with a mask for those that are still near."""
    count = np.zeros(z.shape)
    for _ in range(rounds):
        near = np.abs(z) < 2
        z[...] = np.where(near, z**2 + c, z)
        count += near
    return count


def newton_fractal(z, rounds):
    """Roots of z**3 = 1 that points run to."""
    for _ in range(rounds):
        z = z - (z**3 - 1) / (3 * z**2)
    roots = np.exp(2j * np.pi * np.arange(3) / 3)
    distance = np.abs(z[:, None] - roots)
    return z, distance.argmin(axis=1)


def fft_by_reshapes(x):
    """Radix 2, decimation in time: the rows of a matrix are combined, two halves into one."""
    n = x.shape[0]
    half = np.exp(-2j * np.pi * np.arange(2)[:, None] * np.arange(2) / 2)
    spectrum = half @ x.reshape(2, -1)
    while spectrum.shape[0] < n:
        even = spectrum[:, : spectrum.shape[1] // 2]
        odd = spectrum[:, spectrum.shape[1] // 2 :]
        turn = np.exp(-1j * np.pi * np.arange(spectrum.shape[0]) / spectrum.shape[0])[:, None]
        spectrum = np.vstack([even + turn * odd, even - turn * odd])
    return spectrum.ravel()


def dft(x):
    """By its definition."""
    k = np.arange(len(x))
    return np.exp(-2j * np.pi * k * k[:, None] / len(x)) @ x


def winding_number(curve, point):
    """How often a closed curve goes around a point."""
    steps = np.roll(curve, -1) - curve
    middle = (np.roll(curve, -1) + curve) / 2
    return (steps / (middle - point)).sum() / 2j / np.pi


def residues(p, centre, radius, n):
    """A contour integral by the trapezoidal rule."""
    total = 0j
    for k in range(n):
        turn = np.exp(2j * np.pi * k / n)
        z = centre + radius * turn
        value = 0j
        for a in p:
            value = value * z + a
        total += radius * turn / value
    return total / n


def contour_projector(a, shift, n):
    """An integral of resolvents around eigenvalues."""
    size = a.shape[0]
    p = np.zeros((size, size), complex)
    for k in range(n):
        z = shift + 2 * np.exp(2j * np.pi * (k + 0.5) / n)
        p += (z - shift) * np.linalg.solve(z * np.eye(size) - a, np.eye(size))
    return p / n


def durand_kerner(p, rounds):
    """All roots of a polynomial at once."""
    n = len(p) - 1
    roots = (0.4 + 0.9j) ** np.arange(n)
    for _ in range(rounds):
        value = np.zeros(n, complex)
        for a in p:
            value = value * roots + a
        gaps = roots[:, None] - roots + np.eye(n)
        roots = roots - value / gaps.prod(axis=1)
    return roots


def crank_nicolson(psi, v, dx, dt):
    """A step of Schroedinger's equation, by Thomas' algorithm."""
    n = psi.shape[0]
    r = 0.5j * dt / dx**2
    main = 1 + 2 * r + 0.5j * dt * v
    rhs = (1 - 2 * r - 0.5j * dt * v) * psi
    rhs[1:] += r * psi[:-1]
    rhs[:-1] += r * psi[1:]
    c = np.zeros(n, complex)
    for i in range(n):
        below = main[i] + r * c[i - 1] if i > 0 else main[i]
        c[i] = -r / below
        rhs[i] = (rhs[i] + r * rhs[i - 1]) / below if i > 0 else rhs[i] / below
    for i in range(n - 2, -1, -1):
        rhs[i] -= c[i] * rhs[i + 1]
    return rhs


def split_step(psi, v, k, dt):
    """Half a step in space, one in frequency, half a step in space."""
    half = np.exp(-0.5j * dt * v)
    psi = half * psi
    psi = np.fft.ifft(np.exp(-0.5j * dt * k**2) * np.fft.fft(psi))
    psi *= half
    return psi, (np.abs(psi) ** 2).sum()


def gate(state, u, qubit):
    """A gate on one qubit of a register, through a view."""
    v = state.reshape(1 << qubit, 2, -1)
    up, down = v[:, 0].copy(), v[:, 1].copy()
    v[:, 0] = u[0, 0] * up + u[0, 1] * down
    v[:, 1] = u[1, 0] * up + u[1, 1] * down
    return state


def response(b, a, w):
    """A filter's magnitude and phase."""
    z = np.exp(-1j * w)
    h = np.zeros_like(z)
    g = np.zeros_like(z)
    for k in range(len(b)):
        h += b[k] * z**k
    for k in range(len(a)):
        g += a[k] * z**k
    h /= g
    return 20 * np.log10(np.abs(h)), np.angle(h)


def joukowski(circle, c):
    """The flow around an aerofoil."""
    z = circle + c**2 / circle
    velocity = (1 - 1 / circle**2) / (1 - c**2 / circle**2)
    return z.real.max() - z.real.min(), 1 - np.abs(velocity) ** 2


def lattice_sum(z, n):
    """A sum over a lattice, row by row."""
    total = 1 / z**2
    for i in range(-n, n + 1):
        for j in range(-n, n + 1):
            if i != 0 or j != 0:
                w = i + 1j * j
                total += 1 / (z - w) ** 2 - 1 / w**2
    return total


def power_iteration(a, x, rounds):
    """The dominant eigenvalue of a Hermitian matrix."""
    h = a + a.conj().T
    value = 0.0
    for _ in range(rounds):
        y = h @ x
        value = np.vdot(x, y).real / np.vdot(x, x).real
        x = y / np.sqrt((np.abs(y) ** 2).sum())
    return value, np.abs(x)


def analytic_signal(x):
    """The envelope by Hilbert's transform."""
    n = x.shape[0]
    spectrum = np.fft.fft(x)
    spectrum[1 : (n + 1) // 2] *= 2
    spectrum[n // 2 + 1 :] = 0
    return np.abs(np.fft.ifft(spectrum))


def swap_parts(z):
    """Parts as views, changed in place."""
    kept = z.real.copy()
    z.real = z.imag
    z.imag = -kept
    z.real[::2] += 1
    return z.view(np.float64).reshape(-1, 2).sum(axis=0)


def hermitian_rank_one(a, v, alpha):
    """a += alpha v v^H, and what is real stays real."""
    a += alpha * np.outer(v, v.conj())
    np.fill_diagonal(a.imag, 0)
    return a


rng = np.random.default_rng(4)
CASES: dict[Callable[..., Any], tuple[Any, Any]] = {
    mandelbrot: ((complexes(20), 12), (complexes(33, seed=1), 12)),
    julia: ((complexes((5, 6)), -0.4 + 0.6j, 6), (complexes((8, 3)), 0.285 + 0.01j, 6)),
    newton_fractal: ((complexes(7), 5), (complexes(12), 5)),
    fft_by_reshapes: ((complexes(16),), (complexes(32),)),
    dft: ((complexes(6),), (rng.standard_normal(9) + 0j,)),
    winding_number: ((np.exp(2j * np.pi * np.arange(40) / 40), 0.2j), (3 * np.exp(-1j * np.arange(63) / 10), 1 + 0j)),
    residues: ((complexes(4), 0.1 + 0j, 1.5, 16), (complexes(5), 0j, 1.0, 20)),
    contour_projector: ((complexes((4, 4)), 0.5 + 0j, 5), (complexes((6, 6)), 1j, 5)),
    durand_kerner: ((complexes(5), 8), (complexes(7), 8)),
    crank_nicolson: (
        (complexes(9), rng.standard_normal(9), 0.1, 0.01), (complexes(14), rng.standard_normal(14), 0.2, 0.01),
    ),
    split_step: (
        (complexes(8), rng.standard_normal(8), np.arange(8.0), 0.1), (complexes(12), np.ones(12), np.ones(12), 0.2),
    ),
    gate: ((complexes(8), complexes((2, 2)), 1), (complexes(16), complexes((2, 2)), 1)),
    response: ((np.arange(3.0), np.ones(2), np.linspace(0.1, 3, 7)), (np.ones(4), np.arange(1.0, 4), np.ones(5))),
    joukowski: ((1.1 * np.exp(1j * np.arange(9)), 0.9), (1.2 * np.exp(1j * np.arange(13)), 0.8)),
    lattice_sum: ((complexes(5), 2), (complexes(8), 2)),
    power_iteration: ((complexes((4, 4)), complexes(4), 6), (complexes((7, 7)), complexes(7), 6)),
    analytic_signal: ((rng.standard_normal(9),), (rng.standard_normal(16),)),
    swap_parts: ((complexes(6),), (complexes(9),)),
    hermitian_rank_one: ((complexes((4, 4)), complexes(4), 2.0), (complexes((6, 6)), complexes(6), 0.5)),
}


@pytest.mark.parametrize("program", slow_but([julia, gate], CASES), ids=lambda f: f.__name__)
def test_program(program: Callable[..., Any]) -> None:
    first, second = CASES[program]
    climb(program, first, again=[second], strategies=(Options(verify=True), Options(strategy="copy-before-write")),
          tolerance=1e-9)  # fmt: skip
