"""Programs that compute between host calls: filters, fits, spectra, contour integrals, sets, statistics."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tracebuf
from tests.support.agreement import agree
from tests.support.params import slow_but

RNG = np.random.default_rng(0)


def kalman(z, f, h, q, r, x, p):
    out = np.empty((len(z), len(x)))
    for k in range(len(z)):
        x = f @ x
        p = f @ p @ f.T + q
        s = h @ p @ h.T + r
        gain = p @ h.T @ np.linalg.inv(s)
        x = x + gain @ (z[k] - h @ x)
        p = (np.eye(len(x)) - gain @ h) @ p
        out[k] = x
    return out, p


def principal_components(x, k):
    x = x - x.mean(axis=0)
    c = x.T @ x / (len(x) - 1)
    w, v = np.linalg.eigh(c)
    order = np.argsort(w)[::-1]
    v = v[:, order[:k]]
    return x @ v, w[order], np.linalg.eigh(c).eigenvalues


def contour_integral(a, b, m):
    s = np.zeros(len(b), complex)
    for j in range(m):
        z = np.exp(2j * np.pi * (j + 0.5) / m)
        s += z * np.linalg.solve(z * np.eye(len(b)) - a, b)
    return s / m


def spectrum(x, rate):
    terms = np.fft.rfft(x * np.hanning(len(x)))
    f = np.fft.rfftfreq(len(x), 1 / rate)
    power = abs(terms) ** 2
    return f[np.argmax(power)], power, np.sort(power)[-3:], f[power > power.mean()]


def filtered(image, radius):
    terms = np.fft.fftshift(np.fft.fft2(image))
    m, n = image.shape
    y, x = np.ogrid[:m, :n]
    terms[(y - m // 2) ** 2 + (x - n // 2) ** 2 > radius**2] = 0
    return np.fft.ifft2(np.fft.ifftshift(terms)).real


def frequent(x):
    values, counts = np.unique(x, return_counts=True)
    big = values[counts > 1]
    while len(big) > 2:
        big = big[1:]
    return big, np.median(values), values[np.argsort(-counts, kind="stable")]


def trimmed(x):
    low, high = np.percentile(x, [10, 90])
    return x[(x > low) & (x < high)].mean(), np.clip(x, low, high), np.histogram(x, 5, range=(low, high))[0]


def newton(x, n):
    for _ in range(n):
        jacobian = np.array([[2 * x[0], 1.0], [1.0, 2 * x[1]]])
        r = np.array([x[0] ** 2 + x[1] - 3, x[0] + x[1] ** 2 - 5])
        dx = np.linalg.solve(jacobian, -r)
        x = x + dx
        if np.linalg.norm(dx) < 1e-10:
            break
    return x


def fit(x, y, d):
    a = np.vander(x, d + 1)
    c, residual, rank, singular = np.linalg.lstsq(a, y, rcond=None)
    return c, residual, rank, singular, a @ c - y, np.polyfit(x, y, d)


def inverse_iteration(a, n):
    v = np.ones(len(a))
    for _ in range(n):
        v[:] = np.linalg.solve(a, v)
        v /= np.linalg.norm(v)
    return v @ a @ v, v


PROGRAMS: list[tuple[Callable[..., Any], Callable[[int], tuple[Any, ...]]]] = [
    (kalman, lambda n: (RNG.normal(size=(2 * n, 2)), np.eye(n) + 0.1 * np.eye(n, k=1), np.eye(2, n), 0.01 * np.eye(n),
                        0.1 * np.eye(2), np.zeros(n), np.eye(n))),
    (principal_components, lambda n: (RNG.normal(size=(8 * n, n)), 2)),
    (contour_integral, lambda n: (0.3 / n * RNG.normal(size=(n, n)), RNG.normal(size=n) + 0j, 8)),
    (spectrum, lambda n: (RNG.normal(size=16 * n), 100.0)),
    (filtered, lambda n: (RNG.normal(size=(4 * n, 3 * n)), 2 * n)),
    (frequent, lambda n: (RNG.integers(0, 2 * n, 12 * n),)),
    (trimmed, lambda n: (RNG.normal(size=20 * n),)),
    (newton, lambda n: (np.ones(2) * n, 30)),
    (fit, lambda n: (np.linspace(0, 1, 5 * n), RNG.normal(size=5 * n), 3)),
    (inverse_iteration, lambda n: (RNG.random((n, n)) + n * np.eye(n), 9)),
]  # fmt: skip


@pytest.mark.parametrize("k", slow_but((2, 7), range(len(PROGRAMS))))
def test_programs(k: int) -> None:
    f, arguments = PROGRAMS[k]
    g = tracebuf.bufferize(verify=True)(f)
    for n in (4, 7):
        agree(g, *arguments(n), ulp=1e7)
    assert len(g.specializations()) == 1
