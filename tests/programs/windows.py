"""Sliding windows: box filters, pooling, local statistics, integral images."""

import numpy as np

from .registry import program


@program(lambda random, n: (random.random((n + 2, n + 3)), 1))
def box_filter(img, r):
    out = np.zeros_like(img)
    h, w = img.shape
    for i in range(h):
        for j in range(w):
            top, bottom = max(i - r, 0), min(i + r + 1, h)
            left, right = max(j - r, 0), min(j + r + 1, w)
            out[i, j] = img[top:bottom, left:right].mean()
    return out


@program(lambda random, n: (random.random((2, n + 2, n + 4, 3)), 2, 2))
def max_pool(x, size, stride):
    batch, h, w, channels = x.shape
    oh, ow = (h - size) // stride + 1, (w - size) // stride + 1
    out = np.empty((batch, oh, ow, channels), dtype=x.dtype)
    for i in range(oh):
        for j in range(ow):
            window = x[:, i * stride : i * stride + size, j * stride : j * stride + size, :]
            out[:, i, j, :] = np.max(window, axis=(1, 2))
    return out


@program(lambda random, n: (random.random((n + 3, n + 5)), 3))
def local_variance(img, k):
    rows, cols = img.shape[0] - k + 1, img.shape[1] - k + 1
    mean = np.zeros((rows, cols))
    var = np.zeros((rows, cols))
    for di in range(k):
        for dj in range(k):
            patch = img[di : di + rows, dj : dj + cols]
            mean += patch
            var += patch * patch
    mean /= k * k
    return mean, var / (k * k) - mean**2


@program(lambda random, n: (random.integers(0, 256, (n, n + 1), dtype=np.uint8), 3))
def integral_image(img, k):
    table = np.zeros((img.shape[0] + 1, img.shape[1] + 1), dtype=np.int64)
    table[1:, 1:] = img.cumsum(axis=0, dtype=np.int64).cumsum(axis=1)
    sums = table[k:, k:] - table[:-k, k:] - table[k:, :-k] + table[:-k, :-k]
    return sums / k**2


@program(lambda random, n: (random.random((n + 2, n + 2)), random.random((3, 3))))
def correlate2d(image, kernel):
    kh, kw = kernel.shape
    out = np.zeros((image.shape[0] - kh + 1, image.shape[1] - kw + 1))
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = (image[i : i + kh, j : j + kw] * kernel[::-1, ::-1]).sum(axis=(0, 1))
    return out


@program(lambda random, n: (random.random(3 * n), 4))
def moving_statistics(x, window):
    n = x.shape[0] - window + 1
    mean, low, high = np.empty(n), np.empty(n), np.empty(n)
    for i in range(n):
        w = x[i : i + window]
        mean[i] = w.mean()
        low[i], high[i] = w.min(), w.max()
    return mean, high - low


@program(lambda random, n: (random.integers(0, 50, 2 * n), 5))
def best_window(values, k):
    total = values[:k].sum()
    best, start = total, 0
    for i in range(k, len(values)):
        total += values[i] - values[i - k]
        if total > best:
            best, start = total, i - k + 1
    return best, start, values[start : start + k]


@program(lambda random, n: (random.random((n + 4, n + 3)),))
def median_of_three_rows(img):
    a, b, c = img[:-2], img[1:-1], img[2:]
    return np.maximum(np.minimum(a, b), np.minimum(np.maximum(a, b), c))


@program(lambda random, n: (random.random((n, n, 3)), 2))
def mosaic(image, block):
    h = image.shape[0] // block * block
    w = image.shape[1] // block * block
    out = image[:h, :w].copy()
    for top in range(0, h, block):
        for left in range(0, w, block):
            tile = out[top : top + block, left : left + block]
            tile[...] = tile.mean(axis=(0, 1), keepdims=True)
    return out


@program(lambda random, n: (random.random((n + 2, n + 2)) > 0.4, 1))
def erode_and_dilate(mask, r):
    eroded = np.ones_like(mask)
    h, w = mask.shape
    for i in range(h):
        for j in range(w):
            eroded[i, j] = mask[max(0, i - r) : i + r + 1, max(0, j - r) : j + r + 1].all()
    opened = np.zeros_like(mask)
    for i in range(h):
        for j in range(w):
            opened[i, j] = np.any(eroded[max(0, i - r) : i + r + 1, max(0, j - r) : j + r + 1], axis=(0, 1))
    return opened, int(opened.sum())
