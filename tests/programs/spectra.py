"""Complex numbers: fractals whose set of points shrinks, Fourier transforms by reshapes, waves, contour integrals."""

import numpy as np

from .registry import program


def complexes(random, *shape):
    return random.normal(size=shape) + 1j * random.normal(size=shape)


@program(lambda random, n: (n, np.exp(2j * np.pi * np.arange(3) / 3), 12))
def newton_fractal(n, roots, steps):
    x = np.linspace(-1, 1, n)
    z = x[:, None] + 1j * x + 1e-3
    for _ in range(steps):
        z -= (z**3 - 1) / (3 * z**2)
    distance = np.abs(z[..., None] - roots)
    return distance.argmin(axis=-1), distance.min(axis=-1) < 1e-6


@program(lambda random, n: (complexes(random, 2**n),), sizes=(3, 5))
def fft_stockham(x):
    n = x.shape[0]
    y = x.reshape(1, n)
    while y.shape[1] > 1:
        half = y.shape[1] // 2
        even, odd = y[:, :half], y[:, half:]
        rows = y.shape[0]
        twiddle = np.exp(-1j * np.pi * np.arange(rows) / rows)[:, None]
        y = np.concatenate((even + twiddle * odd, even - twiddle * odd))
    return y[:, 0]


@program(
    lambda random, n: (complexes(random, 3, n, n), np.exp(2j * np.pi * (np.arange(8) + 0.5) / 8), random.random((n, 2)))
)
def contour_moments(coefficients, points, probe):
    n, m = probe.shape
    first = np.zeros((n, m), dtype=complex)
    second = np.zeros((n, m), dtype=complex)
    for z in points:
        t = np.zeros((n, n), dtype=complex)
        for power in range(coefficients.shape[0]):
            t += z**power * coefficients[power]
        x = np.linalg.solve(t, probe)
        first += z * x
        second += z**2 * x
    return first / len(points), second / len(points)


@program(lambda random, n: (complexes(random, n), 64))
def residues_on_a_circle(poles, samples):
    centre = poles.mean()
    radius = 1.5 * np.abs(poles - centre).max()
    angle = 2 * np.pi * np.arange(samples) / samples
    z = centre + radius * np.exp(1j * angle)
    f = (1 / (z[:, None] - poles)).sum(axis=1)
    dz = 1j * radius * np.exp(1j * angle) * (2 * np.pi / samples)
    integral = (f * dz).sum() / (2j * np.pi)
    return integral.real, round(integral.real)
