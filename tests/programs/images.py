"""Small image pipelines: edges, medians, histograms, resizing by gathers, labels, seams."""

import numpy as np

from .registry import program


def image(random, n):
    return random.integers(0, 256, (n, n + 2)).astype(np.uint8)


@program(lambda random, n: (image(random, n + 2), 100.0))
def sobel_and_threshold(img, limit):
    a = img.astype(float)
    gx = a[:-2, 2:] + 2 * a[1:-1, 2:] + a[2:, 2:] - a[:-2, :-2] - 2 * a[1:-1, :-2] - a[2:, :-2]
    gy = a[2:, :-2] + 2 * a[2:, 1:-1] + a[2:, 2:] - a[:-2, :-2] - 2 * a[:-2, 1:-1] - a[:-2, 2:]
    magnitude = np.hypot(gx, gy)
    edges = np.zeros_like(img)
    edges[1:-1, 1:-1][magnitude > limit] = 255
    return edges, np.arctan2(gy, gx)


@program(lambda random, n: (image(random, n),))
def median_by_stacking(img):
    padded = np.pad(img, 1, mode="edge")
    rows, cols = img.shape
    shifted = [padded[i : i + rows, j : j + cols] for i in range(3) for j in range(3)]
    return np.median(np.stack(shifted), axis=0).astype(img.dtype)


@program(lambda random, n: (image(random, n),))
def equalize_histogram(img):
    counts = np.bincount(img.ravel(), minlength=256)
    cdf = counts.cumsum()
    low = cdf[cdf > 0][0]
    table = np.round((cdf - low) / (img.size - low) * 255)
    table = np.clip(table, 0, 255).astype(np.uint8)
    return table[img]


@program(lambda random, n: (random.random((n, n + 1)), 2 * n, n + 3))
def resize_bilinear(img, height, width):
    y = np.linspace(0, img.shape[0] - 1, height)
    x = np.linspace(0, img.shape[1] - 1, width)
    y0, x0 = np.floor(y).astype(int), np.floor(x).astype(int)
    y1, x1 = np.minimum(y0 + 1, img.shape[0] - 1), np.minimum(x0 + 1, img.shape[1] - 1)
    fy, fx = (y - y0)[:, None], x - x0
    top = img[y0][:, x0] * (1 - fx) + img[y0][:, x1] * fx
    bottom = img[y1][:, x0] * (1 - fx) + img[y1][:, x1] * fx
    return top * (1 - fy) + bottom * fy


@program(lambda random, n: (random.random((n, n)), 0.6))
def rotate_nearest(img, angle):
    n, m = img.shape
    i, j = np.indices((n, m))
    y, x = i - (n - 1) / 2, j - (m - 1) / 2
    source_i = np.rint(np.cos(angle) * y - np.sin(angle) * x + (n - 1) / 2).astype(int)
    source_j = np.rint(np.sin(angle) * y + np.cos(angle) * x + (m - 1) / 2).astype(int)
    inside = (source_i >= 0) & (source_i < n) & (source_j >= 0) & (source_j < m)
    out = np.zeros_like(img)
    out[inside] = img[source_i[inside], source_j[inside]]
    return out


@program(lambda random, n: (random.random((n, n + 2)),))
def carve_a_seam(energy):
    rows, cols = energy.shape
    cost = energy.copy()
    for i in range(1, rows):
        left = np.concatenate((np.array([np.inf]), cost[i - 1, :-1]))
        right = np.concatenate((cost[i - 1, 1:], np.array([np.inf])))
        cost[i] += np.minimum(np.minimum(left, right), cost[i - 1])
    seam = np.zeros(rows, dtype=int)
    seam[-1] = cost[-1].argmin()
    for i in range(rows - 2, -1, -1):
        low = max(seam[i + 1] - 1, 0)
        high = min(seam[i + 1] + 2, cols)
        seam[i] = low + cost[i, low:high].argmin()
    keep = np.ones((rows, cols), dtype=bool)
    keep[np.arange(rows), seam] = False
    return energy[keep].reshape(rows, cols - 1), seam


@program(lambda random, n: (random.random((2 * n, 2 * n)), random.random((2 * n, 2 * n)), n))
def azimuthal_integration(data, radius, bins):
    counts, edges = np.histogram(radius, bins)
    sums, _ = np.histogram(radius, bins, weights=data)
    profile = np.zeros(bins)
    filled = counts > 0
    profile[filled] = sums[filled] / counts[filled]
    return profile, edges


@program(lambda random, n: (random.random((2 * n, 2 * n)), n))
def radial_profile(data, bins):
    n = data.shape[0]
    y, x = np.ogrid[:n, :n]
    r = np.hypot(x - n / 2, y - n / 2)
    which = np.minimum((r / r.max() * bins).astype(int), bins - 1).ravel()
    total = np.bincount(which, weights=data.ravel(), minlength=bins)
    return total / np.maximum(np.bincount(which, minlength=bins), 1)


@program(
    lambda random, n: (
        random.random((n, n, 3)),
        np.array([[0.299, 0.587, 0.114], [-0.169, -0.331, 0.5], [0.5, -0.419, -0.081]]),
    )
)
def colours_and_back(rgb, matrix):
    ycc = rgb @ matrix.T
    grey = np.stack([ycc[..., 0]] * 3, axis=-1)
    back = ycc @ np.linalg.inv(matrix).T
    hue = np.full(rgb.shape[:2], -1.0)
    top, low = rgb.max(axis=-1), rgb.min(axis=-1)
    red = (rgb[..., 0] == top) & (top > low)
    hue[red] = (rgb[red, 1] - rgb[red, 2]) / (top - low)[red]
    return grey, np.abs(back - rgb).max(), hue


@program(lambda random, n: (random.integers(0, 2, (n + 2, n + 2)).astype(bool), 2))
def open_by_structuring_element(img, rounds):
    for _ in range(rounds):
        img[1:-1, 1:-1] = img[1:-1, 1:-1] & img[:-2, 1:-1] & img[2:, 1:-1] & img[1:-1, :-2] & img[1:-1, 2:]
    ys, xs = np.where(img)
    if ys.size == 0:
        return None
    return ys.min(), ys.max(), xs.mean()


@program(lambda random, n: (random.random((2 * n, 2 * n)), 0.2, 3))
def srad(img, lam, rounds):
    for _ in range(rounds):
        q0 = img.var() / img.mean() ** 2
        north = np.vstack((img[:1], img[:-1])) - img
        south = np.vstack((img[1:], img[-1:])) - img
        west = np.hstack((img[:, :1], img[:, :-1])) - img
        east = np.hstack((img[:, 1:], img[:, -1:])) - img
        g2 = (north**2 + south**2 + west**2 + east**2) / img**2
        lap = (north + south + west + east) / img
        q = (0.5 * g2 - lap**2 / 16) / (1 + 0.25 * lap) ** 2
        c = np.clip(1 / (1 + (q - q0) / (q0 * (1 + q0))), 0, 1)
        c_south = np.vstack((c[1:], c[-1:]))
        c_east = np.hstack((c[:, 1:], c[:, -1:]))
        img = img + lam / 4 * (c_south * south + c * north + c_east * east + c * west)
    return img
