"""Signals: transforms, filters, windows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from benchmarks.programs.registry import C, program

if TYPE_CHECKING:
    import jax.numpy as jnp
    from jax import lax


# -- FFT of 2 ** k points: halves combined along reshaped arrays (Stockham)
def fft(x):
    y = x.reshape(1, -1)
    while y.shape[1] > 1:
        half = y.shape[1] // 2
        twiddles = np.exp(-1j * np.pi * np.arange(y.shape[0]) / y.shape[0])[:, None]
        even, odd = y[:, :half], twiddles * y[:, half:]
        y = np.concatenate((even + odd, even - odd))
    return y.ravel()


def tone(k):
    r = np.random.default_rng(0)
    return (r.random(2**k) + 1j * r.random(2**k),)


program(fft, tone, (11, 17), tiny=4, jax=fft)


# -- FIR: a sum of shifted copies
def fir(x, taps):
    n = len(x) - len(taps) + 1
    y = np.zeros(n)
    for k in range(len(taps)):
        y += taps[k] * x[k : k + n]
    return y


def fir_init(n):
    r = np.random.default_rng(0)
    return r.random(n), r.random(min(n, 16))


def fir_loops(x, taps):
    n = len(x) - len(taps) + 1
    y = np.empty(n)
    for i in range(n):
        s = 0.0
        for k in range(len(taps)):
            s += taps[k] * x[i + k]
        y[i] = s
    return y


def fir_jax(x, taps):
    return jnp.convolve(x, taps[::-1], mode="valid")


program(
    fir, fir_init, (10_000, 2_000_000), tiny=30, loops=fir_loops, pythran=True, jax=fir_jax,
    reason="blocks of the result take all taps in cache, not in registers; JAX has a convolution",
)  # fmt: skip


# -- IIR: one second-order section, which no array operation expresses
def iir(x, b0, b1, b2, a1, a2):
    y = np.empty_like(x)
    z1 = z2 = 0.0
    for i in range(len(x)):
        y[i] = b0 * x[i] + z1
        z1 = b1 * x[i] - a1 * y[i] + z2
        z2 = b2 * x[i] - a2 * y[i]
    return y


def iir_init(n):
    return np.random.default_rng(0).random(n), 0.2, 0.4, 0.2, -0.5, 0.3


def iir_jax(x, b0, b1, b2, a1, a2):
    def one(z, v):
        y = b0 * v + z[0]
        return (b1 * v - a1 * y + z[1], b2 * v - a2 * y), y

    return lax.scan(one, (0.0, 0.0), x)[1]


IIR_C = """
void iir(const double *restrict x, long n, double b0, double b1, double b2, double a1, double a2, double *restrict y) {
  double z1 = 0, z2 = 0;
  for (long i = 0; i < n; i++) {
    y[i] = b0 * x[i] + z1;
    z1 = b1 * x[i] - a1 * y[i] + z2;
    z2 = b2 * x[i] - a2 * y[i];
  }
}
"""
program(
    iir, iir_init, (5_000, 500_000), loops=iir, jax=iir_jax, pythran=True,
    c=C(IIR_C, lambda x, *_: np.empty_like(x)),
)  # fmt: skip


# -- the median of each window
def window_median(x):
    return np.median(sliding_window_view(x, 5), axis=1)


def window_median_init(n):
    return (np.random.default_rng(0).random(n),)


def window_median_loops(x):
    y = np.empty(len(x) - 4)
    window = np.empty(5)
    for i in range(len(y)):
        for k in range(5):
            v, j = x[i + k], k
            while j > 0 and window[j - 1] > v:
                window[j] = window[j - 1]
                j -= 1
            window[j] = v
        y[i] = window[2]
    return y


def window_median_jax(x):
    n = len(x) - 4
    return jnp.median(jnp.stack([x[k : k + n] for k in range(5)]), axis=0)


program(
    window_median, window_median_init, (5_000, 300_000), loops=window_median_loops, jax=window_median_jax,
    reason="rows of 5 are compared in vectors; NaN, infinities and zeros are looked for in each",
)  # fmt: skip


# -- power of a signal in frames
def frames_power(x):
    frames = sliding_window_view(x, 64)[::32] * np.hanning(64)
    return (frames * frames).sum(axis=1)


def frames_power_loops(x):
    n = (len(x) - 64) // 32 + 1
    y, w = np.empty(n), np.hanning(64)
    for i in range(n):
        s = 0.0
        for k in range(64):
            v = x[32 * i + k] * w[k]
            s += v * v
        y[i] = s
    return y


def frames_power_jax(x):
    n = (len(x) - 64) // 32 + 1
    frames = x[32 * jnp.arange(n)[:, None] + jnp.arange(64)] * jnp.hanning(64)
    return (frames * frames).sum(axis=1)


program(
    frames_power, window_median_init, (20_000, 3_000_000), tiny=200, loops=frames_power_loops, jax=frames_power_jax,
)  # fmt: skip
