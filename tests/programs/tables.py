"""Tables filled by scalar loops with branches: dynamic programming, graphs, sieves."""

import numpy as np

from .registry import program


@program(lambda random, n: (random.integers(0, 4, n), random.integers(0, 4, n + 2)))
def edit_distance(s, t):
    m, n = len(s), len(t)
    d = np.zeros((m + 1, n + 1), dtype=np.int64)
    for i in range(m + 1):
        d[i, 0] = i
    for j in range(n + 1):
        d[0, j] = j
    for i in range(1, m + 1):
        for j in range(1, n + 1):
            cost = 0 if s[i - 1] == t[j - 1] else 1
            d[i, j] = min(d[i - 1, j] + 1, d[i, j - 1] + 1, d[i - 1, j - 1] + cost)
    return d[m, n]


@program(lambda random, n: (random.integers(0, 3, n), random.integers(0, 3, n + 1)))
def longest_common_subsequence(a, b):
    m, n = a.size, b.size
    table = np.zeros((m + 1, n + 1), int)
    for i, x in enumerate(a):
        for j, y in enumerate(b):
            if x == y:
                table[i + 1, j + 1] = table[i, j] + 1
            else:
                table[i + 1, j + 1] = max(table[i + 1, j], table[i, j + 1])
    out = np.full(table[m, n], -1)
    i, j, k = m, n, table[m, n] - 1
    while i > 0 and j > 0:
        if a[i - 1] == b[j - 1]:
            out[k] = a[i - 1]
            i, j, k = i - 1, j - 1, k - 1
        elif table[i - 1, j] >= table[i, j - 1]:
            i -= 1
        else:
            j -= 1
    return out


@program(lambda random, n: (random.integers(1, 6, n), random.integers(1, 20, n), 2 * n))
def knapsack(weights, values, capacity):
    best = np.zeros(capacity + 1, dtype=np.int64)
    for w, v in zip(weights, values):
        for c in range(capacity, w - 1, -1):
            candidate = best[c - w] + v
            if candidate > best[c]:
                best[c] = candidate
    return best[capacity]


@program(lambda random, n: (np.where(random.random((n, n)) < 0.4, random.random((n, n)), np.inf),))
def floyd_warshall_with_paths(dist):
    n = dist.shape[0]
    nxt = np.full((n, n), -1)
    for i in range(n):
        dist[i, i] = 0
        for j in range(n):
            if dist[i, j] < np.inf:
                nxt[i, j] = j
    for k in range(n):
        for i in range(n):
            if dist[i, k] == np.inf:
                continue
            for j in range(n):
                through = dist[i, k] + dist[k, j]
                if through < dist[i, j]:
                    dist[i, j] = through
                    nxt[i, j] = nxt[i, k]
    return nxt


@program(lambda random, n: (random.integers(0, 4, n),))
def nussinov(seq):
    n = seq.shape[0]
    table = np.zeros((n, n), np.int32)
    for i in range(n - 1, -1, -1):
        for j in range(i + 1, n):
            if j - 1 >= 0:
                table[i, j] = max(table[i, j], table[i, j - 1])
            if i + 1 < n:
                table[i, j] = max(table[i, j], table[i + 1, j])
            if j - 1 >= 0 and i + 1 < n:
                if i < j - 1:
                    table[i, j] = max(table[i, j], table[i + 1, j - 1] + (seq[i] + seq[j] == 3))
                else:
                    table[i, j] = max(table[i, j], table[i + 1, j - 1])
            for k in range(i + 1, j):
                table[i, j] = max(table[i, j], table[i, k] + table[k + 1, j])
    return table


@program(lambda random, n: (random.integers(0, 4, n), random.integers(0, 4, n + 3), 2, -1, -2))
def smith_waterman(query, target, match, mismatch, gap):
    h = np.zeros((len(query) + 1, len(target) + 1))
    best, where = 0.0, (0, 0)
    for i in range(1, h.shape[0]):
        for j in range(1, h.shape[1]):
            s = match if query[i - 1] == target[j - 1] else mismatch
            h[i, j] = max(0, h[i - 1, j - 1] + s, h[i - 1, j] + gap, h[i, j - 1] + gap)
            if h[i, j] > best:
                best = h[i, j]
                where = (i, j)
    return h, where


@program(lambda random, n: (n,))
def pascal_triangle(n):
    c = np.zeros((n, n), dtype=np.uint64)
    c[:, 0] = 1
    for i in range(1, n):
        for j in range(1, i + 1):
            c[i, j] = c[i - 1, j - 1] + c[i - 1, j]
    return c


@program(lambda random, n: (10 * n,))
def sieve_of_eratosthenes(limit):
    prime = np.ones(limit + 1, dtype=bool)
    prime[:2] = False
    p = 2
    while p * p <= limit:
        if prime[p]:
            prime[p * p :: p] = False
        p += 1
    return prime, prime.sum()


@program(lambda random, n: (random.integers(1, 30, n + 1),))
def matrix_chain(p):
    n = len(p) - 1
    cost = np.zeros((n, n), dtype=np.int64)
    split = np.zeros((n, n), dtype=np.int64)
    for length in range(2, n + 1):
        for i in range(n - length + 1):
            j = i + length - 1
            cost[i, j] = np.iinfo(np.int64).max
            for k in range(i, j):
                q = cost[i, k] + cost[k + 1, j] + p[i] * p[k + 1] * p[j + 1]
                if q < cost[i, j]:
                    cost[i, j] = q
                    split[i, j] = k
    return cost[0, n - 1], split


@program(lambda random, n: (random.random((3, 3)) + 0.1, random.random((3, 4)) + 0.1, random.integers(0, 4, n)))
def viterbi(transition, emission, observed):
    states, steps = transition.shape[0], observed.shape[0]
    score = np.zeros((steps, states))
    back = np.zeros((steps, states), dtype=np.int64)
    score[0] = np.log(emission[:, observed[0]])
    for t in range(1, steps):
        for s in range(states):
            options = score[t - 1] + np.log(transition[:, s])
            back[t, s] = np.argmax(options)
            score[t, s] = options.max() + np.log(emission[s, observed[t]])
    path = np.zeros(steps, dtype=np.int64)
    path[-1] = np.argmax(score[-1])
    for t in range(steps - 2, -1, -1):
        path[t] = back[t + 1, path[t + 1]]
    return path, score[-1].max()


@program(lambda random, n: (random.integers(-9, 10, n),))
def longest_increasing_run(a):
    lengths = np.ones(len(a), dtype=int)
    for i in range(1, len(a)):
        for j in range(i):
            if a[j] < a[i] and lengths[j] + 1 > lengths[i]:
                lengths[i] = lengths[j] + 1
    return lengths.max()


@program(lambda random, n: (random.integers(0, 3, (n, n + 1)) > 0,))
def largest_square(grid):
    size = grid.astype(np.int64)
    for i in range(1, grid.shape[0]):
        for j in range(1, grid.shape[1]):
            if grid[i, j]:
                size[i, j] = 1 + min(size[i - 1, j], size[i, j - 1], size[i - 1, j - 1])
            else:
                size[i, j] = 0
    return size.max() ** 2
