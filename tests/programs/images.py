"""Small image pipelines: edges, medians, histograms, resizing by gathers, labels, seams."""

import numpy as np

from .registry import program


def image(random, n):
    return random.integers(0, 256, (n, n + 2)).astype(np.uint8)


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
