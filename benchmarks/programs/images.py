"""Images: edges, smoothing, thresholds, histograms."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from benchmarks.programs.registry import program

if TYPE_CHECKING:
    import jax.numpy as jnp


def gray(n):
    return (np.random.default_rng(0).random((n, n)),)


# -- edges
def sobel(img):
    gx = (img[:-2, 2:] + 2 * img[1:-1, 2:] + img[2:, 2:]) - (img[:-2, :-2] + 2 * img[1:-1, :-2] + img[2:, :-2])
    gy = (img[2:, :-2] + 2 * img[2:, 1:-1] + img[2:, 2:]) - (img[:-2, :-2] + 2 * img[:-2, 1:-1] + img[:-2, 2:])
    magnitude = np.sqrt(gx * gx + gy * gy)
    return magnitude / magnitude.max()


def sobel_loops(img):
    n, m = img.shape
    out = np.empty((n - 2, m - 2))
    most = 0.0
    for i in range(1, n - 1):
        for j in range(1, m - 1):
            gx = (img[i - 1, j + 1] + 2 * img[i, j + 1] + img[i + 1, j + 1]) - (
                img[i - 1, j - 1] + 2 * img[i, j - 1] + img[i + 1, j - 1]
            )
            gy = (img[i + 1, j - 1] + 2 * img[i + 1, j] + img[i + 1, j + 1]) - (
                img[i - 1, j - 1] + 2 * img[i - 1, j] + img[i - 1, j + 1]
            )
            out[i - 1, j - 1] = np.sqrt(gx * gx + gy * gy)
            most = max(most, out[i - 1, j - 1])
    for i in range(n - 2):
        for j in range(m - 2):
            out[i, j] /= most
    return out


program(sobel, gray, (90, 1500), loops=sobel_loops, pythran=True, jax=sobel)


# -- smoothing that keeps edges
def bilateral(img, radius, sigma):
    padded = np.pad(img, radius, mode="edge")
    n, m = img.shape
    total, weights = np.zeros_like(img), np.zeros_like(img)
    for i in range(2 * radius + 1):
        for j in range(2 * radius + 1):
            near = padded[i : i + n, j : j + m]
            away = (i - radius) ** 2 + (j - radius) ** 2
            w = np.exp(-away / (2.0 * radius**2) - (near - img) ** 2 / (2 * sigma**2))
            total += w * near
            weights += w
    return total / weights


def bilateral_init(n):
    return *gray(n), 2, 0.2


def bilateral_loops(img, radius, sigma):
    n, m = img.shape
    out = np.empty_like(img)
    for i in range(n):
        for j in range(m):
            total = weights = 0.0
            for di in range(-radius, radius + 1):
                for dj in range(-radius, radius + 1):
                    near = img[min(max(i + di, 0), n - 1), min(max(j + dj, 0), m - 1)]
                    away = di * di + dj * dj
                    w = np.exp(-away / (2.0 * radius**2) - (near - img[i, j]) ** 2 / (2 * sigma**2))
                    total += w * near
                    weights += w
            out[i, j] = total / weights
    return out


program(
    bilateral, bilateral_init, (48, 500), loops=bilateral_loops, jax=bilateral,
    reason="np.exp to NumPy's bits; JAX's is a polynomial in vectors",
)  # fmt: skip


# -- a colour photograph to black and white
def threshold(rgb):
    luma = 0.299 * rgb[..., 0] + 0.587 * rgb[..., 1] + 0.114 * rgb[..., 2]
    return np.where(luma > luma.mean(), 255, 0).astype(np.uint8)


def photograph(n):
    return (np.random.default_rng(0).integers(0, 256, (n, n, 3), np.uint8),)


def threshold_loops(rgb):
    n, m, _ = rgb.shape
    luma = np.empty((n, m))
    s = 0.0
    for i in range(n):
        for j in range(m):
            luma[i, j] = 0.299 * rgb[i, j, 0] + 0.587 * rgb[i, j, 1] + 0.114 * rgb[i, j, 2]
            s += luma[i, j]
    out = np.empty((n, m), np.uint8)
    for i in range(n):
        for j in range(m):
            out[i, j] = 255 if luma[i, j] > s / (n * m) else 0
    return out


program(
    threshold, photograph, (90, 1500), loops=threshold_loops, jax=threshold, rounding=1e-4,
    reason="the gray image is stored for its mean, in float64; channels are read in strides of 3 bytes",
)  # fmt: skip


# -- equal shares of all grays
def equalise(img):
    counts = np.bincount(img.ravel(), minlength=256)
    cdf = counts.cumsum()
    first = cdf[cdf > 0].min()
    table = np.round(255.0 * (cdf - first) / (img.size - first)).clip(0, 255).astype(np.uint8)
    return table[img]


def equalise_init(n):
    r = np.random.default_rng(0)
    return (r.normal(120, 30, (n, n)).clip(0, 255).astype(np.uint8),)


def equalise_loops(img):
    n, m = img.shape
    counts = np.zeros(256, np.int64)
    for i in range(n):
        for j in range(m):
            counts[img[i, j]] += 1
    cdf = counts.cumsum()
    k = 0
    while cdf[k] == 0:
        k += 1
    first = cdf[k]
    table = np.empty(256, np.uint8)
    for k in range(256):
        table[k] = min(max(np.round(255.0 * (cdf[k] - first) / (n * m - first)), 0), 255)
    out = np.empty_like(img)
    for i in range(n):
        for j in range(m):
            out[i, j] = table[img[i, j]]
    return out


def equalise_jax(img):
    cdf = jnp.bincount(img.ravel(), length=256).cumsum()
    first = jnp.where(cdf > 0, cdf, img.size).min()
    return jnp.round(255.0 * (cdf - first) / (img.size - first)).clip(0, 255).astype(jnp.uint8)[img]


program(
    equalise, equalise_init, (90, 1500), loops=equalise_loops, jax=equalise_jax,
    reason="the histogram and the lookup go byte by byte, as the loops do; the table takes a dozen small sweeps",
)  # fmt: skip


# -- half the size, by the mean of 2 x 2
def shrink(img):
    n, m = img.shape
    return img.reshape(n // 2, 2, m // 2, 2).mean(axis=(1, 3))


def shrink_loops(img):
    n, m = img.shape
    out = np.empty((n // 2, m // 2))
    for i in range(n // 2):
        for j in range(m // 2):
            above, below = img[2 * i], img[2 * i + 1]
            out[i, j] = 0.25 * (above[2 * j] + above[2 * j + 1] + below[2 * j] + below[2 * j + 1])
    return out


program(shrink, gray, (90, 2000), loops=shrink_loops, jax=shrink)
