"""Complex numbers: fractals whose set of points shrinks, Fourier transforms by reshapes, waves, contour integrals."""

import numpy as np

from .registry import program


def complexes(random, *shape):
    return random.normal(size=shape) + 1j * random.normal(size=shape)


@program(lambda random, n: (-2.0, 0.5, -1.25, 1.25, n, n + 2, 25))
def mandelbrot_by_masks(xmin, xmax, ymin, ymax, width, height, limit):
    x = np.linspace(xmin, xmax, width)
    y = np.linspace(ymin, ymax, height)
    c = x + 1j * y[:, None]
    z = np.zeros_like(c)
    escaped = np.zeros(c.shape, dtype=np.int64)
    for i in range(limit):
        inside = np.abs(z) < 2.0
        z[inside] = z[inside] ** 2 + c[inside]
        escaped[inside] = i
    return escaped, z.real


@program(lambda random, n: (n, n + 1, 30))
def mandelbrot_shrinking(width, height, limit):
    i, j = np.mgrid[0:height, 0:width]
    i, j = i.ravel(), j.ravel()
    c = (-2 + 2.5 * j / width) + 1j * (-1.25 + 2.5 * i / height)
    z = np.zeros(c.shape, dtype=complex)
    count = np.zeros((height, width), dtype=int)
    for k in range(limit):
        if len(z) == 0:
            break
        z = z * z + c
        gone = abs(z) > 2
        count[i[gone], j[gone]] = k + 1
        stay = ~gone
        z, c, i, j = z[stay], c[stay], i[stay], j[stay]
    return count


@program(lambda random, n: (n, -0.4 + 0.6j, 40))
def julia_shrinking(n, c, limit):
    axis = np.linspace(-1.5, 1.5, n)
    z = (axis[None, :] + 1j * axis[:, None]).reshape(-1)
    index = np.arange(z.size)
    steps = np.full(z.size, limit)
    for k in range(limit):
        z = z**2 + c
        out = z.real**2 + z.imag**2 > 4
        steps[index[out]] = k
        z = z[~out]
        index = index[~out]
    return steps.reshape(n, n)


@program(lambda random, n: (n, np.exp(2j * np.pi * np.arange(3) / 3), 12))
def newton_fractal(n, roots, steps):
    x = np.linspace(-1, 1, n)
    z = x[:, None] + 1j * x + 1e-3
    for _ in range(steps):
        z -= (z**3 - 1) / (3 * z**2)
    distance = np.abs(z[..., None] - roots)
    return distance.argmin(axis=-1), distance.min(axis=-1) < 1e-6


@program(lambda random, n: (complexes(random, 2**n),), sizes=(3, 5), most=10)
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


@program(lambda random, n: (complexes(random, n, n + 1),))
def dft_by_matrices(x):
    rows, cols = x.shape
    k, m = np.arange(rows), np.arange(cols)
    left = np.exp(-2j * np.pi * np.outer(k, k) / rows)
    right = np.exp(-2j * np.pi * m[:, None] * m / cols)
    spectrum = left @ x @ right
    back = left.conj() @ spectrum @ right.conj() / (rows * cols)
    return spectrum, np.abs(back - x).max()


@program(lambda random, n: (random.random(2 * n), 0.1, 4))
def low_pass_by_fft(signal, spacing, keep):
    spectrum = np.fft.rfft(signal)
    power = np.abs(spectrum) ** 2
    spectrum[keep:] = 0
    smooth = np.fft.irfft(spectrum, n=signal.size)
    return smooth, power, np.fft.rfftfreq(signal.size, spacing)


@program(lambda random, n: (random.random((2 * n, 2 * n)), 1.0))
def poisson_by_fft(charge, length):
    n = charge.shape[0]
    k = 2 * np.pi * np.fft.fftfreq(n, d=length / n)
    square = k[:, None] ** 2 + k[None, :] ** 2
    square[0, 0] = 1.0
    potential = np.fft.fft2(charge - charge.mean()) / square
    potential[0, 0] = 0.0
    return np.fft.ifft2(potential).real


@program(lambda random, n: (complexes(random, 4 * n), 0.01, 5))
def split_step_schroedinger(psi, dt, steps):
    n = psi.size
    x = np.linspace(-5, 5, n, endpoint=False)
    k = 2 * np.pi * np.fft.fftfreq(n, d=x[1] - x[0])
    kick = np.exp(-0.5j * dt * x**2 / 2)
    drift = np.exp(-0.5j * dt * k**2)
    norm = np.zeros(steps)
    for step in range(steps):
        psi = kick * psi
        psi = np.fft.ifft(drift * np.fft.fft(psi))
        psi *= kick
        norm[step] = np.sum(np.abs(psi) ** 2)
    return psi, norm


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


@program(lambda random, n: (random.random(n + 3) - 0.5, 80))
def roots_by_durand_kerner(coefficients, rounds):
    degree = len(coefficients)
    z = (0.4 + 0.9j) ** np.arange(degree)
    for _ in range(rounds):
        value = np.ones(degree, dtype=complex)
        for c in coefficients:
            value = value * z + c
        gaps = z[:, None] - z
        gaps[np.arange(degree), np.arange(degree)] = 1
        step = value / gaps.prod(axis=1)
        z = z - step
    return np.sort(np.abs(step)) < 1e-6, z.sum(), (-1) ** degree * z.prod()


@program(lambda random, n: (complexes(random, 5 * n), complexes(random, 4)))
def nearest_symbols(received, symbols):
    distance = np.abs(received[:, None] - symbols)
    which = distance.argmin(axis=1)
    decided = symbols[which]
    error = received - decided
    return which, np.sqrt(np.mean(error.real**2 + error.imag**2)), np.angle(decided)
