"""Algorithms of textbooks: solvers, sorting, searching, filters, images."""

import math

import numpy as np

from .registry import program


@program(lambda random, n: (random.random((n, n)), random.random(n), 1e-8))
def gauss_seidel_solver(A, b, tol):
    n = len(b)
    A = A + n * np.eye(n)
    x = np.zeros(n)
    for it in range(100):
        x_old = x.copy()
        for i in range(n):
            sigma = np.dot(A[i, :i], x[:i]) + np.dot(A[i, i + 1 :], x_old[i + 1 :])
            x[i] = (b[i] - sigma) / A[i, i]
        if np.linalg.norm(x - x_old, np.inf) < tol:
            break
    return x, it


@program(lambda random, n: (random.random((n, n)), random.random(n)))
def bicgstab(A, b):
    n = b.shape[0]
    A = A + n * np.identity(n)
    x = np.zeros_like(b)
    r = b - A @ x
    r0 = r.copy()
    rho = alpha = omega = 1.0
    v = p = np.zeros_like(b)
    k = 0
    while np.linalg.norm(r) > 1e-10 and k < 30:
        rho_new = r0 @ r
        beta = (rho_new / rho) * (alpha / omega)
        p = r + beta * (p - omega * v)
        v = A @ p
        alpha = rho_new / (r0 @ v)
        s = r - alpha * v
        t = A @ s
        omega = (t @ s) / (t @ t)
        x += alpha * p + omega * s
        r = s - omega * t
        rho = rho_new
        k += 1
    return x, k < 30


@program(
    lambda random, n: (np.arange(0, 2 * n + 2, 2), random.integers(0, n, 2 * n), random.random(2 * n), random.random(n))
)
def spmv(A_row, A_col, A_val, x):
    y = np.empty(A_row.size - 1, A_val.dtype)
    for i in range(A_row.size - 1):
        total = 0.0
        for j in range(A_row[i], A_row[i + 1]):
            total += A_val[j] * x[A_col[j]]
        y[i] = total
    return y


@program(lambda random, n: (random.random((n, n)), 3))
def matrix_power_by_squaring(m, k):
    result = np.eye(m.shape[0])
    base = m.copy()
    while k > 0:
        if k & 1:
            result = result @ base
        base = base @ base
        k >>= 1
    return result


@program(lambda random, n: (random.integers(0, 10, 3 * n), 10))
def histogram_and_counting_sort(a, m):
    counts = np.zeros(m, dtype=int)
    for v in a:
        counts[v] += 1
    starts = np.cumsum(counts) - counts
    out = np.empty_like(a)
    for v in a:
        out[starts[v]] = v
        starts[v] += 1
    return counts, out


@program(lambda random, n: (random.random((n, n)) > 0.5, 0, 0))
def flood_fill_by_sweeps(mask, si, sj):
    reached = np.zeros(mask.shape, dtype=bool)
    reached[si, sj] = True
    changed = True
    while changed:
        changed = False
        for i in range(mask.shape[0]):
            for j in range(mask.shape[1]):
                if mask[i, j] and not reached[i, j]:
                    if (
                        (i > 0 and reached[i - 1, j])
                        or (j > 0 and reached[i, j - 1])
                        or (i + 1 < mask.shape[0] and reached[i + 1, j])
                        or (j + 1 < mask.shape[1] and reached[i, j + 1])
                    ):
                        reached[i, j] = True
                        changed = True
    return reached, np.count_nonzero(reached)


@program(lambda random, n: (random.random((n, n)),))
def determinant(a):
    a = a.copy()
    n = a.shape[0]
    det = 1.0
    for k in range(n):
        p = k
        for i in range(k + 1, n):
            if abs(a[i, k]) > abs(a[p, k]):
                p = i
        if a[p, k] == 0:
            return 0.0
        if p != k:
            tmp = a[k, :].copy()
            a[k, :] = a[p, :]
            a[p, :] = tmp
            det = -det
        det *= a[k, k]
        for i in range(k + 1, n):
            f = a[i, k] / a[k, k]
            a[i, k:] -= f * a[k, k:]
    return det


@program(lambda random, n: (random.random(n), random.random(n)))
def rk4_system(y0, k):
    def f(t, y):
        d = np.zeros_like(y)
        d[1:] = k[1:] * (y[:-1] - y[1:])
        d[0] = -k[0] * y[0] + math.sin(t)
        return d

    y, t, h = y0, 0.0, 0.05
    ys = [y]
    for _ in range(4):
        k1 = f(t, y)
        k2 = f(t + h / 2, y + h / 2 * k1)
        k3 = f(t + h / 2, y + h / 2 * k2)
        k4 = f(t + h, y + h * k3)
        y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        t += h
        ys.append(y)
    return np.array(ys), t


@program(lambda random, n: (random.random(n), random.random(n)))
def interp(xs, ys):
    xs = np.cumsum(xs)
    q = np.linspace(xs[0], xs[-1], 7)
    out = np.empty(7)
    for k, x in enumerate(q):
        i = 0
        while i < len(xs) - 2 and xs[i + 1] < x:
            i += 1
        w = (x - xs[i]) / (xs[i + 1] - xs[i])
        out[k] = ys[i] * (1 - w) + ys[i + 1] * w
    return out


@program(lambda random, n: (random.integers(0, 255, (n, n, 3), dtype=np.uint8),))
def image_ops(img):
    gray = (0.299 * img[..., 0] + 0.587 * img[..., 1] + 0.114 * img[..., 2]).astype(np.uint8)
    inv = 255 - img
    flipped = img[:, ::-1]
    hist = np.zeros(256, dtype=np.int64)
    for v in gray.flat:
        hist[v] += 1
    cdf = hist.cumsum()
    bright = np.clip(img.astype(np.int16) + 40, 0, 255).astype(np.uint8)
    return gray, inv, flipped.copy(), cdf, bright, (gray > gray.mean()).astype(np.uint8) * 255


@program(lambda random, n: (random.random((3, n)),))
def unpacking_rows(p):
    x, y, z = p
    x += y
    rx, *_ = (x, y, z)
    (a, b), c = (y[0], y[1]), z[-1]
    y[:] = rx * a + b - c
    return x @ y, np.linalg.norm(z)


@program(lambda random, n: (random.random((n, 1)) + 0.1, random.random((n, 3)), random.random((n, 3)), 4, 0.1, 0.01))
def nbody(mass, pos, vel, steps, dt, soft):
    def get_acc(pos, mass, soft):
        x = pos[:, 0:1]
        y = pos[:, 1:2]
        z = pos[:, 2:3]
        dx = x.T - x
        dy = y.T - y
        dz = z.T - z
        inv_r3 = (dx**2 + dy**2 + dz**2 + soft**2) ** (-1.5)
        ax = (dx * inv_r3) @ mass
        ay = (dy * inv_r3) @ mass
        az = (dz * inv_r3) @ mass
        return np.hstack((ax, ay, az))

    vel -= np.mean(mass * vel, axis=0) / np.mean(mass)
    acc = get_acc(pos, mass, soft)
    KE = np.ndarray(steps + 1, dtype=np.float64)
    PE = np.empty(steps + 1)
    PE[0] = 0
    KE[0] = 0.5 * np.sum(np.sum(mass * vel**2))
    t = 0.0
    for i in range(steps):
        vel += acc * dt / 2.0
        pos += vel * dt
        acc = get_acc(pos, mass, soft)
        vel += acc * dt / 2.0
        t += dt
        KE[i + 1] = 0.5 * np.sum(mass * vel**2)
        PE[i + 1] = np.sum(np.triu(pos @ pos.T, 1))
    return KE, PE, t


@program(lambda random, n: (random.integers(0, 2, (n, n)).astype(bool),))
def components_by_union_find(grid):
    n, m = grid.shape
    parent = np.arange(n * m)
    for i in range(n):
        for j in range(m):
            if not grid[i, j]:
                continue
            for di, dj in ((0, 1), (1, 0)):
                a, b = i + di, j + dj
                if a < n and b < m and grid[a, b]:
                    x, y = i * m + j, a * m + b
                    while parent[x] != x:
                        x = parent[x]
                    while parent[y] != y:
                        y = parent[y]
                    if x != y:
                        parent[y] = x
    roots = 0
    for k in range(n * m):
        if grid[k // m, k % m] and parent[k] == k:
            roots += 1
    return roots, parent


@program(lambda random, n: (np.zeros((n, n), int), n - 2), most=10)
def queens_count(board, n):
    cols = np.zeros(n, dtype=np.int64)
    count = 0
    row = 0
    cols[0] = -1
    while row >= 0:
        cols[row] += 1
        while cols[row] < n:
            ok = True
            for r in range(row):
                if cols[r] == cols[row] or abs(cols[r] - cols[row]) == row - r:
                    ok = False
                    break
            if ok:
                break
            cols[row] += 1
        if cols[row] < n:
            if row == n - 1:
                count += 1
                if count >= 3:
                    return count
            else:
                row += 1
                cols[row] = -1
        else:
            row -= 1
    return count


@program(lambda random, n: (random.random((n, n)),))
def spiral(a):
    m, n = a.shape
    out = np.empty(m * n)
    top, left, bottom, right = 0, 0, m - 1, n - 1
    k = 0
    while top <= bottom and left <= right:
        for j in range(left, right + 1):
            out[k] = a[top, j]
            k += 1
        top += 1
        for i in range(top, bottom + 1):
            out[k] = a[i, right]
            k += 1
        right -= 1
        if top <= bottom:
            for j in range(right, left - 1, -1):
                out[k] = a[bottom, j]
                k += 1
            bottom -= 1
        if left <= right:
            for i in range(bottom, top - 1, -1):
                out[k] = a[i, left]
                k += 1
            left += 1
    return out


@program(lambda random, n: (random.random(n), random.random(n), 5))
def kalman_1d(z, q, rounds):
    xhat, P = 0.0, 1.0
    out = np.zeros((rounds, len(z)))
    for k in range(rounds):
        for i, measurement in enumerate(z):
            P = P + q[i]
            K = P / (P + 0.1)
            xhat = xhat + K * (measurement - xhat)
            P = (1 - K) * P
            out[k, i] = xhat
    return out, P


@program(lambda random, n: (random.random((n, 2)), random.random((2 * n, 2))))
def hausdorff(a, b):
    worst = 0.0
    for p in a:
        best = np.inf
        for q in b:
            d = math.sqrt((p[0] - q[0]) ** 2 + (p[1] - q[1]) ** 2)
            if d < best:
                best = d
            if best <= worst:
                break
        worst = max(worst, best)
    return worst


@program(lambda random, n: (random.random(4 * n),))
def heap_sort(a):
    n = a.size

    def sift(a, root, end):
        while 2 * root + 1 < end:
            child = 2 * root + 1
            if child + 1 < end and a[child] < a[child + 1]:
                child += 1
            if a[root] >= a[child]:
                return
            a[root], a[child] = a[child], a[root]
            root = child

    for root in range(n // 2 - 1, -1, -1):
        sift(a, root, n)
    for end in range(n - 1, 0, -1):
        a[0], a[end] = a[end], a[0]
        sift(a, 0, end)
    return a


@program(lambda random, n: (random.random((n, n)) * 4 - 2,))
def newton_fractal_real(x0):
    root = np.zeros(x0.shape, dtype=np.int8)
    it = np.zeros_like(x0, dtype=np.uint16)
    for idx in range(x0.size):
        i, j = divmod(idx, x0.shape[1])
        x = float(x0[i, j])
        for k in range(30):
            fx = x**3 - x
            if abs(fx) < 1e-12:
                break
            d = 3 * x * x - 1
            x -= fx / d
        root[i, j] = round(x)
        it[i, j] = k
    return root, it


@program(lambda random, n: (random.random((n, n)), 3))
def lu_blocked(a, nb):
    n = a.shape[0]
    for k in range(0, n, nb):
        e = min(k + nb, n)
        for j in range(k, e):
            a[j + 1 :, j] /= a[j, j] + 2
            a[j + 1 :, j + 1 : e] -= np.outer(a[j + 1 :, j], a[j, j + 1 : e])
        for i in range(k, e):
            a[i, e:] -= a[i, k:i] @ a[k:i, e:]
        a[e:, e:] -= a[e:, k:e] @ a[k:e, e:]
    return a


@program(lambda random, n: (random.random(n), 1e-10))
def simpson_adaptive(c, tol):
    def f(x):
        return math.sin(x) * math.exp(-x) + c[0] * x

    total, a, b = 0.0, 0.0, math.pi
    stack = np.zeros((64, 2))
    stack[0] = a, b
    depth = 1
    while depth:
        depth -= 1
        a, b = stack[depth]
        m = (a + b) / 2
        whole = (b - a) / 6 * (f(a) + 4 * f(m) + f(b))
        left = (m - a) / 6 * (f(a) + 4 * f((a + m) / 2) + f(m))
        right = (b - m) / 6 * (f(m) + 4 * f((m + b) / 2) + f(b))
        if abs(left + right - whole) < 15 * tol or depth > 60:
            total += left + right
        else:
            stack[depth] = a, m
            stack[depth + 1] = m, b
            depth += 2
    return total


@program(lambda random, n: (random.random((n, n, 3)),))
def batched(a):
    n = a.shape[0]
    g = a.swapaxes(1, 2) @ a
    d = np.diagonal(g, axis1=1, axis2=2)
    t = np.zeros((n, 3, 3))
    t[:, range(3)[0], 0] = d[:, 0]
    m = a.max(axis=(0, 1), keepdims=True)
    return g.sum(axis=(1, 2)), d.copy(), (a / m).std(axis=0), a.reshape(n * n, 3).argmax(axis=0), t


@program(lambda random, n: (random.random((n, n)), random.random(n)))
def early_return_in_nested_loops(a, x):
    for i in range(a.shape[0]):
        for j in range(i):
            if a[i, j] > 0.95:
                return i, j, a[i, j]
            a[i, j] = a[j, i]
    return None, None, x[-1]


@program(lambda random, n: (random.random(n), n))
def lists_of_arrays(x, k):
    states = [x, x * 2, x * 3]
    for s in states:
        s += 1
    coefs = [0.5, 0.25, 0.125]
    out = np.zeros_like(x)
    for c, s in zip(coefs, states):
        out += c * s
    states[0] = out
    first, second, third = states
    return out, first is out, second + third, max(map(len, states)) if k < 0 else len(states)


@program(lambda random, n: (random.random((n, n)), random.random((n, n)), 1e-6))
def sor_optimal(u, f, tol):
    n = u.shape[0]
    omega = 2 / (1 + math.sin(math.pi / (n - 1)))
    h = 1 / (n - 1)
    for it in range(500):
        err = 0.0
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                new = (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1] - h * h * f[i, j]) / 4
                diff = omega * (new - u[i, j])
                u[i, j] += diff
                err = max(err, abs(diff))
        if err < tol:
            return it
    return -1


@program(lambda random, n: (random.random(2 ** (n // 3)), 3), sizes=(9, 12))
def multigrid_1d(f, cycles):
    n = f.size
    u = np.zeros(n)
    for c in range(cycles):
        for s in range(2):
            u[1:-1] = 0.5 * (u[:-2] + u[2:] + f[1:-1])
        r = np.zeros(n)
        r[1:-1] = f[1:-1] - (2 * u[1:-1] - u[:-2] - u[2:])
        rc = r[::2].copy()
        e = np.zeros_like(rc)
        for s in range(4):
            e[1:-1] = 0.5 * (e[:-2] + e[2:] + 4 * rc[1:-1])
        u[::2] += e
        u[1:-1:2] += 0.5 * (e[:-1] + e[1:])
    return u, np.abs(f).sum()


@program(lambda random, n: (random.random(2 ** (n // 3)), np.zeros(2 ** (n // 3))), sizes=(9, 12))
def fft_in_place(re, im):
    n = len(re)
    j = 0
    for i in range(1, n):
        bit = n >> 1
        while j & bit:
            j ^= bit
            bit >>= 1
        j ^= bit
        if i < j:
            re[i], re[j] = re[j], re[i]
            im[i], im[j] = im[j], im[i]
    length = 2
    while length <= n:
        ang = -2 * math.pi / length
        half = length // 2
        for i in range(0, n, length):
            for k in range(half):
                c, s = math.cos(ang * k), math.sin(ang * k)
                a, b = i + k, i + k + half
                tr = re[b] * c - im[b] * s
                ti = re[b] * s + im[b] * c
                re[b] = re[a] - tr
                im[b] = im[a] - ti
                re[a] += tr
                im[a] += ti
        length *= 2
    return re, im


@program(lambda random, n: (random.random(2 ** (n // 3)),), sizes=(9, 12))
def walsh_hadamard(a):
    h = 1
    n = len(a)
    while h < n:
        for i in range(0, n, h * 2):
            x = a[i : i + h].copy()
            y = a[i + h : i + 2 * h]
            a[i : i + h] = x + y
            a[i + h : i + 2 * h] = x - y
        h *= 2
    return a / np.sqrt(n)


@program(lambda random, n: (random.random((n, n)), 0.5))
def otsu_threshold(img, guess):
    t = guess
    while True:
        low = high = 0.0
        nl = nh = 0
        for v in img.ravel():
            if v < t:
                low += v
                nl += 1
            else:
                high += v
                nh += 1
        new = 0.5 * (low / max(nl, 1) + high / max(nh, 1))
        if abs(new - t) < 1e-9:
            return new, img > new
        t = new


@program(lambda random, n: (random.random((n, n)), random.random((n, n)), np.zeros((n, n)), 4))
def tiled_matmul(a, b, c, t):
    n = a.shape[0]
    for i0 in range(0, n, t):
        for j0 in range(0, n, t):
            for k0 in range(0, n, t):
                c[i0 : i0 + t, j0 : j0 + t] += a[i0 : i0 + t, k0 : k0 + t] @ b[k0 : k0 + t, j0 : j0 + t]
    return c


@program(lambda random, n: (random.random((n, n)), random.random(n)))
def broadcast_updates(m, v):
    m -= v
    m /= v[:, np.newaxis] + 1
    m *= m.sum(axis=1, keepdims=True)
    m[:, 0] += v
    m[0] = m[-1][::-1]
    m[1:, 1:] -= np.outer(v[1:], v[:-1])
    v[...] = m.mean(0)
    m.T[2] = 7
    return m.T.copy(), v.cumsum()[-1]


@program(lambda random, n: (random.integers(-5, 6, (n, n)).astype(np.int32), random.random(n).astype(np.float32)))
def mixed_dtypes(i32, f32):
    x = i32 * f32
    y = i32 // 2 + i32 % 3
    z = i32 / 2
    i32 += y
    i32[0] = f32[0] * 10
    f32 += 1
    f32 *= 2.5
    b = (i32 > 0) & (x < 1)
    return x, y, z, b.sum(), f32**2, abs(i32).max(), -y, ~b, i32 << 2, np.sign(y)


@program(lambda random, n: (random.random(n), 7))
def nested_ifs(x, k):
    out = np.zeros_like(x)
    for i in range(len(x)):
        v = x[i]
        if v < 0.25:
            w = 0
        elif v < 0.5:
            w = 1
            if i % 2:
                w = 2
                v = -v
        else:
            if v > 0.9:
                break
            w = 3 if k > i else 4
        out[i] = v * w
    else:
        return out, -1
    return out, i


@program(lambda random, n: (random.integers(0, 9, n), random.integers(0, 9, n)))
def big_addition(a, b):
    out = np.zeros(len(a) + 1, dtype=a.dtype)
    carry = 0
    for i in range(len(a) - 1, -1, -1):
        carry, out[i + 1] = divmod(a[i] + b[i] + carry, 10)
    out[0] = carry
    return out if carry else out[1:]
