"""Geometry and graphics: quaternions, rays, noise by gathers, polygons, splines."""

import numpy as np

from .registry import program


@program(lambda random, n: (random.normal(size=(n + 2, 2)),))
def polygon_area_and_centroid(p):
    q = np.roll(p, -1, axis=0)
    cross = p[:, 0] * q[:, 1] - q[:, 0] * p[:, 1]
    area = cross.sum() / 2
    return area, ((p + q) * cross[:, None]).sum(axis=0) / (6 * area)


@program(lambda random, n: (random.random((n, 3)), random.random((n, 3)), 10))
def align_by_kabsch(a, b, rounds):
    ca, cb = a.mean(axis=0), b.mean(axis=0)
    u, s, vt = np.linalg.svd((a - ca).T @ (b - cb))
    d = np.sign(np.linalg.det(u @ vt))
    scale = np.array([1.0, 1.0, d])
    rotation = (u * scale) @ vt
    moved = (a - ca) @ rotation + cb
    return moved, np.sqrt(((moved - b) ** 2).sum(axis=1).mean())
