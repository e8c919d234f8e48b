"""Geometry and graphics: quaternions, rays, noise by gathers, polygons, splines."""

import numpy as np

from .registry import program


@program(lambda random, n: (n, n + 2, 40))
def ray_march_a_sphere(height, width, steps):
    y, x = np.meshgrid(np.linspace(-1, 1, height), np.linspace(-1, 1, width), indexing="ij")
    direction = np.stack((x, y, np.ones_like(x)), axis=-1)
    direction /= np.sqrt((direction**2).sum(axis=-1, keepdims=True))
    origin = np.array([0.0, 0.0, -3.0])
    depth = np.zeros((height, width))
    for _ in range(steps):
        p = origin + depth[..., None] * direction
        distance = np.minimum(np.sqrt((p**2).sum(axis=-1)) - 1, np.abs(p[..., 1] + 1.2))
        depth += np.minimum(distance, 0.5)
    hit = depth < 8
    shade = np.zeros_like(depth)
    shade[hit] = 1 / (1 + depth[hit] ** 2)
    return hit, shade


@program(lambda random, n: (random.permutation(16), n, 2.5))
def perlin_noise(permutation, n, frequency):
    table = np.concatenate((permutation, permutation))
    gradients = np.array([[1, 1], [-1, 1], [1, -1], [-1, -1], [1, 0], [-1, 0], [0, 1], [0, -1]])
    line = np.linspace(0, frequency, n, endpoint=False)
    x, y = np.meshgrid(line, line)
    xi, yi = x.astype(int), y.astype(int)
    xf, yf = x - xi, y - yi
    u, v = xf**3 * (xf * (xf * 6 - 15) + 10), yf**3 * (yf * (yf * 6 - 15) + 10)

    def corner(dx, dy):
        g = gradients[table[table[(xi + dx) % 16] + (yi + dy) % 16] % 8]
        return g[..., 0] * (xf - dx) + g[..., 1] * (yf - dy)

    low = corner(0, 0) + u * (corner(1, 0) - corner(0, 0))
    high = corner(0, 1) + u * (corner(1, 1) - corner(0, 1))
    return low + v * (high - low)


@program(lambda random, n: (random.normal(size=(n, 2)), random.normal(size=(3 * n, 2))))
def points_in_polygon(polygon, points):
    inside = np.zeros(len(points), dtype=bool)
    j = len(polygon) - 1
    for i in range(len(polygon)):
        xi, yi = polygon[i]
        xj, yj = polygon[j]
        crosses = (yi > points[:, 1]) != (yj > points[:, 1])
        at = (xj - xi) * (points[:, 1] - yi) / (yj - yi) + xi
        inside[crosses & (points[:, 0] < at)] ^= True
        j = i
    return inside, points[inside]


@program(lambda random, n: (random.normal(size=(n + 2, 2)),))
def polygon_area_and_centroid(p):
    q = np.roll(p, -1, axis=0)
    cross = p[:, 0] * q[:, 1] - q[:, 0] * p[:, 1]
    area = cross.sum() / 2
    return area, ((p + q) * cross[:, None]).sum(axis=0) / (6 * area)


@program(lambda random, n: (random.random((3 * n, 2)),))
def gift_wrapping(points):
    hull = np.zeros(len(points), dtype=int)
    count, current = 0, points[:, 0].argmin()
    while True:
        hull[count] = current
        count += 1
        d = points - points[current]
        candidate = 0 if current else 1
        for i in range(len(points)):
            turn = d[candidate, 0] * d[i, 1] - d[candidate, 1] * d[i, 0]
            if i != current and turn < 0:
                candidate = i
        current = candidate
        if current == hull[0] or count == len(points):
            break
    return hull[:count], points[hull[:count]]


@program(lambda random, n: (random.random((n, 3)), random.random((n, 3)), 10))
def align_by_kabsch(a, b, rounds):
    ca, cb = a.mean(axis=0), b.mean(axis=0)
    u, s, vt = np.linalg.svd((a - ca).T @ (b - cb))
    d = np.sign(np.linalg.det(u @ vt))
    scale = np.array([1.0, 1.0, d])
    rotation = (u * scale) @ vt
    moved = (a - ca) @ rotation + cb
    return moved, np.sqrt(((moved - b) ** 2).sum(axis=1).mean())
