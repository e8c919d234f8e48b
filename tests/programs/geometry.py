"""Geometry and graphics: quaternions, rays, noise by gathers, polygons, splines."""

import numpy as np

from .registry import program


@program(lambda random, n: (random.normal(size=(n, 4)), random.normal(size=(n, 3))))
def rotate_by_quaternions(q, v):
    q = q / np.linalg.norm(q, axis=1, keepdims=True)
    w, u = q[:, :1], q[:, 1:]
    t = 2 * np.cross(u, v)
    rotated = v + w * t + np.cross(u, t)
    matrices = np.empty((len(q), 3, 3))
    w, x, y, z = q.T
    matrices[:, 0, 0], matrices[:, 0, 1], matrices[:, 0, 2] = (
        1 - 2 * (y * y + z * z),
        2 * (x * y - z * w),
        2 * (x * z + y * w),
    )
    matrices[:, 1, 0], matrices[:, 1, 1], matrices[:, 1, 2] = (
        2 * (x * y + z * w),
        1 - 2 * (x * x + z * z),
        2 * (y * z - x * w),
    )
    matrices[:, 2, 0], matrices[:, 2, 1], matrices[:, 2, 2] = (
        2 * (x * z - y * w),
        2 * (y * z + x * w),
        1 - 2 * (x * x + y * y),
    )
    return rotated, np.abs(np.einsum("nij,nj->ni", matrices, v) - rotated).max()


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


@program(lambda random, n: (np.sort(random.random(n)), random.random(n), random.random(7)))
def natural_cubic_spline(x, y, at):
    n = len(x)
    h = np.diff(x)
    a = np.eye(n)
    rhs = np.zeros(n)
    for i in range(1, n - 1):
        a[i, i - 1], a[i, i], a[i, i + 1] = h[i - 1], 2 * (h[i - 1] + h[i]), h[i]
        rhs[i] = 6 * ((y[i + 1] - y[i]) / h[i] - (y[i] - y[i - 1]) / h[i - 1])
    m = np.linalg.solve(a, rhs)
    k = np.clip(np.searchsorted(x, at) - 1, 0, n - 2)
    left, right = x[k + 1] - at, at - x[k]
    value = (m[k] * left**3 + m[k + 1] * right**3) / (6 * h[k])
    value += (y[k] / h[k] - m[k] * h[k] / 6) * left + (y[k + 1] / h[k] - m[k + 1] * h[k] / 6) * right
    return value


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


@program(lambda random, n: (random.random((2 * n, 3)), 0.3))
def bounding_volume_counts(points, size):
    cell = np.floor(points / size).astype(np.int64)
    cell -= cell.min(axis=0)
    shape = cell.max(axis=0) + 1
    key = (cell[:, 0] * shape[1] + cell[:, 1]) * shape[2] + cell[:, 2]
    unique, counts = np.unique(key, return_counts=True)
    return unique, counts, unique[counts.argmax()]
