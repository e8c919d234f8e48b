"""Masks and gathers: elements chosen by a condition or by their numbers, read, stored to, added to."""

import numpy as np

from .registry import program


@program(lambda random, n: (random.normal(size=4 * n),))
def winsorize(x):
    low, high = x.mean() - 1.5 * x.std(), x.mean() + 1.5 * x.std()
    clipped = x.copy()
    clipped[x < low] = low
    clipped[x > high] = high
    return clipped, (x != clipped).sum()


@program(lambda random, n: (np.where(random.random((n, 5)) < 0.3, np.nan, random.random((n, 5))),))
def impute_by_column_means(table):
    missing = np.isnan(table)
    filled = np.where(missing, 0.0, table)
    means = filled.sum(axis=0) / np.maximum((~missing).sum(axis=0), 1)
    for j in range(table.shape[1]):
        filled[missing[:, j], j] = means[j]
    table[missing] = -1.0
    return filled


@program(lambda random, n: (random.random(3 * n), random.random(3 * n), 0.5))
def select_and_summarize(x, weight, cut):
    chosen = x > cut
    values, w = x[chosen], weight[chosen]
    if len(values) == 0:
        return 0.0, 0
    return (values * w).sum() / w.sum(), len(values)


@program(lambda random, n: (random.integers(0, 256, (n, n, 3)).astype(np.uint8), random.integers(0, 256, (256, 3))))
def lookup_table(image, table):
    out = np.empty(image.shape, dtype=np.int64)
    for channel in range(3):
        out[..., channel] = table[image[..., channel], channel]
    return out


@program(lambda random, n: (random.integers(0, n, 4 * n), random.integers(0, 7, 4 * n)))
def last_one_wins(keys, values):
    table = np.full(keys.max() + 1, -1)
    table[keys] = values
    known = np.nonzero(table >= 0)[0]
    return table, known, table[known]


@program(lambda random, n: (random.permutation(n), random.random((n, 3))))
def apply_and_undo_permutation(order, rows):
    moved = rows[order]
    inverse = np.empty_like(order)
    inverse[order] = np.arange(len(order))
    return moved, inverse, np.abs(moved[inverse] - rows).max()


@program(lambda random, n: (random.permutation(2 * n),))
def cycle_lengths(successor):
    seen = np.zeros(successor.size, dtype=bool)
    lengths = np.zeros(successor.size, dtype=np.int64)
    for start in range(successor.size):
        k, i = 0, start
        while not seen[i]:
            seen[i] = True
            i = successor[i]
            k += 1
        lengths[start] = k
    return lengths[lengths > 0], seen.all()


@program(lambda random, n: (random.integers(0, 2 * n, 3 * n), random.integers(0, 2 * n, 3 * n), 2 * n))
def components_by_pointer_jumping(a, b, n):
    label = np.arange(n)
    while True:
        low = np.minimum(label[a], label[b])
        new = label.copy()
        np.minimum.at(new, a, low)
        np.minimum.at(new, b, low)
        new = new[new]
        if (new == label).all():
            break
        label = new
    return label


@program(lambda random, n: (random.random((n, 4)), random.integers(0, 4, n)))
def cross_entropy_by_gathers(logits, labels):
    rows = np.arange(logits.shape[0])
    shifted = logits - logits.max(axis=1, keepdims=True)
    log_probs = shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
    loss = -log_probs[rows, labels].mean()
    grad = np.exp(log_probs)
    grad[rows, labels] -= 1
    return loss, grad / len(labels)


@program(lambda random, n: (random.random((n, 8)), 3))
def rows_where_largest(scores, k):
    winner = scores.argmax(axis=1)
    best = np.take_along_axis(scores, winner[:, None], axis=1)[:, 0]
    scores[np.arange(len(winner)), winner] = -np.inf
    second = scores.max(axis=1)
    sure = best - second > 0.1
    return winner[sure], best[~sure], np.flatnonzero(winner == k)


@program(lambda random, n: (random.random((2 * n, 2 * n)), np.array([0, 2, 3]), np.array([1, 4])))
def submatrix_update(a, rows, cols):
    block = a[np.ix_(rows, cols)]
    a[np.ix_(rows, cols)] = block - block.mean()
    a[rows[:, None], cols] *= 2
    return block.sum(), a.take(cols, axis=1)


@program(lambda random, n: (2 * n, random.integers(0, 3 * n, 5 * n)))
def sieve_by_compress(n, candidates):
    numbers = np.arange(2, n)
    primes = np.ones(n, dtype=bool)
    primes[:2] = False
    while len(numbers) and numbers[0] ** 2 < n:
        p = numbers[0]
        primes[p * p :: p] = False
        numbers = numbers[numbers % p != 0]
    inside = candidates < n
    return np.compress(primes[candidates[inside]], candidates[inside]), primes.sum()


@program(lambda random, n: (random.integers(0, 5, 6 * n),))
def run_lengths_by_flatnonzero(a):
    edges = np.flatnonzero(a[1:] != a[:-1]) + 1
    starts = np.concatenate((np.zeros(1, dtype=np.int64), edges))
    ends = np.concatenate((edges, np.array([len(a)])))
    return a[starts], ends - starts
