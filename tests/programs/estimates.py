"""Statistics and learning: filters, clusters, components, regressions, prices, scores."""

import numpy as np

from .registry import program


def normal(random, *shape):
    return random.normal(size=shape)


@program(lambda random, n: (normal(random, n, 2), 0.1, 0.01, 0.5))
def kalman_filter(measured, dt, process, noise):
    f = np.array([[1, 0, dt, 0], [0, 1, 0, dt], [0, 0, 1, 0], [0, 0, 0, 1]])
    h = np.array([[1.0, 0, 0, 0], [0, 1.0, 0, 0]])
    q, r = process * np.eye(4), noise * np.eye(2)
    x, p = np.zeros(4), np.eye(4)
    states = np.zeros((len(measured), 4))
    for t in range(len(measured)):
        x = f @ x
        p = f @ p @ f.T + q
        s = h @ p @ h.T + r
        gain = p @ h.T @ np.linalg.inv(s)
        x = x + gain @ (measured[t] - h @ x)
        p = (np.eye(4) - gain @ h) @ p
        states[t] = x
    return states, p


@program(lambda random, n: (normal(random, n, 3), normal(random, 3, 3), 3))
def kalman_by_solve(measured, h, steps):
    p = np.eye(3)
    x = np.zeros(3)
    for z in measured:
        s = h @ p @ h.T + np.eye(3)
        gain = np.linalg.solve(s, h @ p).T
        x += gain @ (z - h @ x)
        p -= gain @ h @ p
    return x, np.trace(p)


@program(lambda random, n: (normal(random, 4 * n, 2), 3, 10))
def k_means_by_masks(points, k, rounds):
    centres = points[:k].copy()
    labels = np.zeros(len(points), dtype=int)
    for _ in range(rounds):
        distance = ((points[:, None, :] - centres[None, :, :]) ** 2).sum(axis=2)
        new = distance.argmin(axis=1)
        for j in range(k):
            members = points[new == j]
            if len(members):
                centres[j] = members.mean(axis=0)
        if (new == labels).all():
            break
        labels = new
    return centres, labels, distance.min(axis=1).sum()


@program(lambda random, n: (normal(random, 4 * n, 2), normal(random, 3, 2), 5))
def k_means_by_counts(points, centres, rounds):
    k = centres.shape[0]
    for _ in range(rounds):
        label = np.argmin(np.linalg.norm(points[:, None] - centres, axis=-1), axis=1)
        size = np.maximum(np.bincount(label, minlength=k), 1)
        for d in range(points.shape[1]):
            centres[:, d] = np.bincount(label, weights=points[:, d], minlength=k) / size
    return label


@program(lambda random, n: (normal(random, 3 * n, 4), 2))
def principal_components(x, k):
    centred = x - x.mean(axis=0)
    values, vectors = np.linalg.eigh(centred.T @ centred / (len(x) - 1))
    order = np.argsort(values)[::-1]
    values = values[order]
    basis = vectors[:, order[:k]]
    basis = basis * np.sign(basis[np.abs(basis).argmax(axis=0), np.arange(k)])
    return centred @ basis, values / values.sum()


@program(lambda random, n: (normal(random, n + 4, 4), 2))
def low_rank_by_svd(a, k):
    u, s, vt = np.linalg.svd(a, full_matrices=False)
    approx = (u[:, :k] * s[:k]) @ vt[:k]
    return approx, np.sqrt((s[k:] ** 2).sum()), np.linalg.norm(a - approx)


@program(lambda random, n: (np.sort(random.random(2 * n)), random.random(2 * n), 2))
def polynomial_least_squares(x, y, degree):
    powers = x[:, None] ** np.arange(degree + 1)
    q, r = np.linalg.qr(powers)
    c = np.linalg.solve(r, q.T @ y)
    residual = y - powers @ c
    return c, 1 - residual @ residual / ((y - y.mean()) ** 2).sum()


@program(lambda random, n: (normal(random, 4 * n, 3), random.integers(0, 2, 4 * n), 8))
def logistic_by_newton(x, y, rounds):
    w = np.zeros(x.shape[1])
    for _ in range(rounds):
        p = 1 / (1 + np.exp(-(x @ w)))
        grad = x.T @ (p - y) + 0.1 * w
        hess = (x * (p * (1 - p))[:, None]).T @ x + 0.1 * np.eye(len(w))
        w = w - np.linalg.solve(hess, grad)
    predicted = p > 0.5
    return w, (predicted == y).mean()


@program(
    lambda random, n: (
        50 + 50 * random.random(5 * n),
        50 + 50 * random.random(5 * n),
        0.1 + random.random(5 * n),
        0.05,
        0.2,
    )
)
def black_scholes(spot, strike, years, rate, volatility):
    def cdf(x):
        t = 1 / (1 + 0.2316419 * np.abs(x))
        poly = t * (0.319381530 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))))
        tail = np.exp(-0.5 * x * x) / np.sqrt(2 * np.pi) * poly
        return np.where(x >= 0, 1 - tail, tail)

    root = volatility * np.sqrt(years)
    d1 = (np.log(spot / strike) + (rate + 0.5 * volatility**2) * years) / root
    d2 = d1 - root
    discount = strike * np.exp(-rate * years)
    call = spot * cdf(d1) - discount * cdf(d2)
    put = call - spot + discount
    put[put < 0] = 0
    return call, put


@program(lambda random, n: (100.0, 105.0, 0.03, 0.25, 1.0, 4 * n))
def american_put_on_a_tree(spot, strike, rate, volatility, years, steps):
    dt = years / steps
    up = np.exp(volatility * np.sqrt(dt))
    p = (np.exp(rate * dt) - 1 / up) / (up - 1 / up)
    price = spot * up ** (2.0 * np.arange(steps + 1) - steps)
    value = np.maximum(strike - price, 0)
    for step in range(steps - 1, -1, -1):
        value = np.exp(-rate * dt) * (p * value[1:] + (1 - p) * value[:-1])
        price = price[:-1] * up
        value = np.maximum(value, strike - price[: step + 1])
    return value[0]


@program(lambda random, n: (normal(random, 4 * n, 6), 100.0, 100.0))
def longstaff_schwartz(shocks, spot, strike):
    paths = spot * np.exp(np.cumsum(0.02 * shocks, axis=1))
    cash = np.maximum(strike - paths[:, -1], 0)
    for t in range(paths.shape[1] - 2, -1, -1):
        cash *= 0.99
        x = paths[:, t]
        inside = x < strike
        if inside.sum() > 3:
            basis = np.stack((np.ones(inside.sum()), x[inside] / strike, (x[inside] / strike) ** 2), axis=1)
            gram = basis.T @ basis + 1e-3 * np.eye(3)
            keep = basis @ np.linalg.solve(gram, basis.T @ cash[inside])
            now = strike - x[inside]
            cash[inside] = np.where(now > keep, now, cash[inside])
    return cash.mean()


@program(lambda random, n: (normal(random, 5 * n), 8))
def autocorrelation(x, lags):
    centred = x - np.mean(x)
    out = np.empty(lags)
    for k in range(lags):
        out[k] = np.dot(centred[: len(x) - k], centred[k:])
    return out / out[0]


@program(lambda random, n: (normal(random, 3, 4 * n),))
def summary_of_rows(x):
    return (
        np.cov(x),
        np.corrcoef(x),
        np.percentile(x, [25, 50, 75], axis=1),
        np.median(x),
        np.quantile(x, 0.9),
    )


@program(lambda random, n: (random.random(5 * n), random.integers(0, 2, 5 * n)))
def area_under_roc(score, truth):
    order = np.argsort(-score, kind="stable")
    hits = truth[order]
    tpr = np.cumsum(hits) / max(hits.sum(), 1)
    fpr = np.cumsum(1 - hits) / max((1 - hits).sum(), 1)
    width = np.diff(np.concatenate((np.zeros(1), fpr)))
    return (tpr * width).sum(), score[order][:3]


@program(lambda random, n: (normal(random, 3 * n, 2), normal(random, n, 2), random.integers(0, 3, 3 * n), 3))
def nearest_neighbours(train, test, label, k):
    distance = np.sqrt(((test[:, None] - train[None]) ** 2).sum(axis=-1))
    near = np.argsort(distance, axis=1)[:, :k]
    votes = label[near]
    counts = (votes[:, :, None] == np.arange(3)).sum(axis=1)
    return counts.argmax(axis=1), np.take_along_axis(distance, near, axis=1).mean()


@program(lambda random, n: (random.random(4 * n), random.random(4 * n), n))
def two_dimensional_histogram(x, y, bins):
    i = np.minimum((x * bins).astype(int), bins - 1)
    j = np.minimum((y * bins).astype(int), bins - 1)
    counts = np.bincount(i * bins + j, minlength=bins * bins).reshape(bins, bins)
    p = counts / counts.sum()
    independent = np.outer(p.sum(axis=1), p.sum(axis=0))
    known = p > 0
    return counts, (p[known] * np.log(p[known] / independent[known])).sum()


@program(lambda random, n: (np.sort(random.random(n)), random.random(n), random.random(2 * n)))
def interpolate_by_searching(x, y, at):
    right = np.clip(np.searchsorted(x, at), 1, len(x) - 1)
    left = right - 1
    t = (at - x[left]) / (x[right] - x[left])
    return y[left] * (1 - t) + y[right] * t, np.interp(at, x, y)
