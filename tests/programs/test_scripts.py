"""Programs as scripts have them: code that talks, growing lists, containers, settings, SciPy, generators of random
numbers, exceptions, recursion."""

from __future__ import annotations

import copy
import enum
import io
import itertools
import logging
import threading
import types
import warnings
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.integrate as integrate
import scipy.signal as signal
import scipy.special as special

from tests.support.agreement import agree, same
from tracebuf import Options, bufferize
from tracebuf.measure import clone_arguments
from tracebuf.testing.ladder import climb

LOG = logging.getLogger("tests.scripts")
SETTINGS = types.SimpleNamespace(eps=1e-3, rounds=4, verbose=True)
LOCAL = threading.local()
LOCAL.gain = 1.5
X, N = np.linspace(-1.0, 2.0, 7), 5
STRATEGIES = (Options(verify=True), Options(heuristic="fuzzer", seed=1), Options(strategy="copy-before-write"))


class Mode(enum.Enum):
    REFLECT = 1
    WRAP = 2


def training_prints_its_loss(x, n):
    w = np.zeros(len(x))
    for k in range(n):
        error = w - x
        loss = (error * error).mean()
        if k % 2 == 0:
            print(f"step {k:3d}: loss {loss:.4f}")
        w -= 0.3 * error
    print("done", n)
    return w


def warns_where_it_clips(x, n):
    out = x * n
    for k in range(len(out)):
        if out[k] > 4.0:
            warnings.warn(f"clipped {out[k]:.2f} at {k}", RuntimeWarning, stacklevel=2)
            out[k] = 4.0
    return out


def logs_the_largest(x, n):
    best = -np.inf
    for k in range(n):
        if x[k] > best:
            best = x[k]
            LOG.info("new best %s at %d", best, k)
    LOG.debug("n %d", n)
    return best


def checks_itself(x, n):
    q = x / np.sqrt((x * x).sum())
    np.testing.assert_allclose((q * q).sum(), 1.0, rtol=1e-12)
    with np.errstate(divide="ignore", invalid="ignore"):
        r = np.where(x > 0, 1.0 / x, 0.0)
    return q, r * n


def collects_positive(x, n):
    found, where = [], []
    for k in range(len(x)):
        if x[k] > 0.1:
            found.append(x[k] * n)
            where.append(k)
    return np.array(found), np.array(where), len(found)


def sorted_names(x, n):
    parts = {"b": x[:n], "a": x[n:], "c": x}
    sums = [parts[name].sum() for name in sorted(parts)]
    return np.array([v * v for v in reversed(sums)]), max(sums), any(v > 0 for v in sums)


def counts_by_kind(x, n):
    counts = {"low": 0, "high": 0}
    for v in x:
        if v < 0.5:
            counts["low"] += 1
        else:
            counts["high"] += n
    return counts


def padded(x, n, mode=Mode.WRAP):
    if mode is Mode.REFLECT:
        left, right = x[1:3][::-1], x[-3:-1][::-1]
    elif mode is Mode.WRAP:
        left, right = x[-2:], x[:2]
    else:
        raise ValueError(f"unknown mode {mode}")
    return np.concatenate([left, x * n, right])


def module_settings(x, n):
    for k in range(SETTINGS.rounds):
        change = SETTINGS.eps * (x - x.mean())
        x = x - change
        if SETTINGS.verbose:
            print("round", k, float(np.abs(change).max()))
    return x


def thread_local_gain(x, n):
    gain = getattr(LOCAL, "gain", 1.0)
    return x * gain + getattr(LOCAL, "offset", n)


def inspected(x, n):
    if not isinstance(x, np.ndarray) or not hasattr(x, "flags"):
        raise TypeError("an array, please")
    if not x.flags.c_contiguous or x.strides[0] != x.itemsize:
        x = np.ascontiguousarray(x)
    return x[::2] if 7 in x.shape and x.flags.writeable else x[1:]


def binary_entropy(x, n):
    p = special.expit(x)
    h = special.entr(p) + special.entr(1 - p)
    return h.sum() + special.xlogy(p, p).sum(), special.erf(x) * n


def momentum_or_none(x, n):
    velocity = None
    for _ in range(n):
        step = -0.1 * x
        if velocity is None:
            velocity = step.copy()
        else:
            velocity *= 0.9
            velocity += step
        x = x + velocity
    return x


def bisection(x, n):
    lo, hi = 0, 2
    for _ in range(20):
        mid = (lo + hi) / 2
        if mid * mid < n - 3:
            lo = mid
        else:
            hi = mid
    return x + lo, hi


def haar(x, n):
    def split(v):
        if len(v) < 2:
            return v
        m = len(v) // 2 * 2
        return np.concatenate([split((v[:m:2] + v[1:m:2]) / 2), (v[:m:2] - v[1:m:2]) / 2])

    return split(x) * n


def pairs(x, n):
    total = 0.0
    for i, j in itertools.combinations(range(4), 2):
        total += abs(x[i] - x[j])
    for i, j in itertools.product(range(2), repeat=2):
        total += x[i] * x[j]
    return total * n


def starred(x, n):
    first, *rest = x[:n], x[n:], x * 2
    *head, last = range(4)
    return first, rest[0].sum() + last, [v + 1 for v in (*rest, first)], head


def copied_state(x, n):
    state = {"w": x, "history": [x * 2]}
    saved = copy.deepcopy(state)
    state["w"] += n
    state["history"].append(x)
    return saved["w"] - state["w"], len(saved["history"]), len(state["history"])


def newton(x, n):
    for k in range(50):
        change = (x * x * x - n) / (3 * x * x + 1)
        x = x - change
        if np.abs(change).max() < 1e-6:
            print(f"converged after {k}")
            break
    else:
        warnings.warn("no convergence", stacklevel=2)
    return x


def smoothed_until_steady(x, n):
    rounds = 0
    while rounds < 4 * n:
        y = x.copy()
        y[1:-1] = (x[:-2] + x[1:-1] + x[2:]) / 3
        change = np.abs(y - x).max()
        x, rounds = y, rounds + 1
        if change < 0.01:
            break
    print("rounds:", rounds, "mean:", f"{x.mean():+.3e}")
    return x, rounds


def report_by_column(x, n):
    table = np.outer(x[:4], x[:3] + n)
    for j, name in enumerate(("low", "mid", "high")):
        column = table[:, j]
        print(f"{name:>6}: {column.min():8.3f} {column.max():8.3f}")
    return {name: table[:, j].sum() for j, name in enumerate(("low", "mid", "high"))}


def peaks(x, n):
    y, found = np.cos(n * x), []
    for k in range(1, len(y) - 1):
        if y[k] > y[k - 1] and y[k] > y[k + 1]:
            found.append(k)
    if not found:
        return np.zeros(0), 0
    return y[np.array(found)], len(found)


def polynomial(x, n):
    coefficients = [1.0 / (k + 1) for k in range(4)]
    value = np.zeros_like(x)
    for c in reversed(coefficients):
        value *= x
        value += c
    slope = sum(k * c * x ** (k - 1) for k, c in enumerate(coefficients) if k)
    return value, slope * n


def blocks_by_zip(x, n):
    starts, stops = zip(*[(0, 2), (2, 5), (5, 7)])
    sums = [x[a:b].sum() for a, b in zip(starts, stops)]
    largest = max(range(len(sums)), key=lambda k: stops[k] - starts[k])
    return np.array(sums), largest, next(k for k in stops if k >= n)


def running_extremes(x, n):
    low = high = x[0]
    out = np.empty((len(x), 2))
    for k, v in enumerate(x):
        low, high = min(low, v), max(high, v)
        out[k] = low, high
    return out, high - low


def checked_input(x, n):
    if x.ndim != 1:
        raise ValueError(f"x has {x.ndim} dimensions")
    if n > 3 and x.min() < 0:
        raise ValueError(f"negative values: {x.min()}")
    return np.log(x)


def chosen_then_written(x, n):
    y = x * 2
    target = x if n > 3 else y
    target[0] = 9.0
    target += 1
    return y, target


def chained_parts(x, n):
    out = np.zeros(len(x))
    for k in itertools.chain(range(2), range(4, 6)):
        out[k] = x[k] * n
    for k, v in zip(itertools.count(2), (0.5, 0.25)):
        out[k] += v
    return out


def dispatched(x, n):
    rules = {"sum": np.sum, "peak": lambda v: np.abs(v).max(), "spread": lambda v: v.max() - v.min()}
    return {name: rule(x) * n for name, rule in rules.items()}


def gamma_table(x, n):
    k = np.arange(n)
    binomials = np.exp(special.gammaln(n) - special.gammaln(k + 1) - special.gammaln(n - k))
    total = np.log(special.exp1(n) + np.exp(x).sum())
    return binomials, np.exp(x - total)


def warned_once_per_sign(x, n):
    warned = False
    for k in range(len(x)):
        if x[k] < 0 and not warned:
            warnings.warn("negative values are mirrored", UserWarning, stacklevel=2)
            warned = True
        x[k] = abs(x[k])
    return x * n, warned


def gcd_by_recursion(x, n):
    def gcd(a, b):
        return a if b == 0 else gcd(b, a % b)

    return x * gcd(12, 18) + n


def memoised_powers(x, n):
    cache = {}
    for k in (1, 2, 1, 3):
        if k not in cache:
            cache[k] = x**k
        cache[k] = cache[k] + 1
    return [cache[k] for k in sorted(cache)], len(cache)


def arc_length(x, n):
    y = np.sin(n * x)
    slope = np.gradient(y, x)
    speed = np.sqrt(1 + slope * slope)
    length = integrate.trapezoid(speed, x)
    print(f"length {length:.5f}")
    return length, np.cumsum(speed) / n


def tapered_spectrum(x, n):
    taper = signal.windows.hann(len(x), sym=False)
    power = np.abs(np.fft.rfft(x * taper)) ** 2
    top = int(np.argmax(power))
    return power / power.sum(), top, signal.detrend(x, type="constant") * n


def mode_by_number(x, n):
    out = {}
    for mode in Mode:
        scale = 2.0 if mode is Mode.WRAP else 0.5
        out[mode.name] = (x * scale).sum() + mode.value
    try:
        factor = out["CONSTANT"]
    except KeyError:
        factor = n
    return out, factor


def rescue_by_path(x, n):
    limits = (None, 1.0) if n > 3 else (0.0, None)
    low, high = limits
    if low is not None:
        x = np.maximum(x, low)
    if high is not None:
        x = np.minimum(x, high)
    global_max = max(x.max(), 0.5)
    if global_max > 1.0:
        raise ValueError(f"too large: {global_max}")
    return x / global_max


def random_walk(x, n, rng):
    steps = rng.normal(size=len(x))
    for _ in range(n):
        steps += rng.uniform(-1.0, 1.0, size=len(x))
    print(f"{steps.mean():.6f}")
    return x + np.cumsum(steps)


def bootstrap(x, n, rng):
    means = np.empty(n)
    for k in range(n):
        means[k] = x[rng.integers(0, len(x), size=len(x))].mean()
    return means.mean(), means.std()


def mapped_file(x, n):
    x[1:] -= 0.5 * x[:-1]
    return float(x.sum()) * n


PROGRAMS: tuple[Callable[..., Any], ...] = (
    training_prints_its_loss, warns_where_it_clips, logs_the_largest, checks_itself, collects_positive,
    sorted_names, counts_by_kind, padded, thread_local_gain, inspected, binary_entropy, momentum_or_none,
    bisection, haar, pairs, starred, copied_state, newton, smoothed_until_steady, report_by_column, peaks,
    polynomial, blocks_by_zip, running_extremes, checked_input, chosen_then_written, chained_parts,
    dispatched, gamma_table, warned_once_per_sign, gcd_by_recursion, memoised_powers,
    arc_length, tapered_spectrum, mode_by_number, rescue_by_path,
)  # fmt: skip


def said(f: Callable[..., Any], args: Sequence[Any]) -> tuple[str, list[str]]:
    """What a call prints, and the texts of its warnings."""
    out, (args, _) = io.StringIO(), clone_arguments(tuple(args), {})
    with redirect_stdout(out), warnings.catch_warnings(record=True) as found, np.errstate(all="ignore"):
        warnings.simplefilter("always")
        try:
            f(*args)
        except ValueError as error:
            print(error)
    return out.getvalue(), [str(w.message) for w in found]


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
@pytest.mark.cases(18)
def test_scripts_climb_the_ladder(f: Callable[..., Any]) -> None:
    climb(f, (X, N), strategies=STRATEGIES, tolerance=1e-13)
    assert said(bufferize(f), (X, N)) == said(f, (X, N))


@pytest.mark.slow
def test_a_script_obeys_the_settings_of_its_module(monkeypatch: pytest.MonkeyPatch) -> None:
    f = bufferize(module_settings)
    for name, value in (("rounds", 4), ("eps", 0.5), ("rounds", 2), ("verbose", False)):
        monkeypatch.setattr(SETTINGS, name, value)
        agree(f, X, N)
        assert said(f, (X, N)) == said(module_settings, (X, N))


@pytest.mark.parametrize("f", [random_walk, bootstrap], ids=lambda f: f.__name__)
def test_scripts_draw_from_the_generator_that_they_are_given(f: Callable[..., Any]) -> None:
    ours, eager = np.random.default_rng(3), np.random.default_rng(3)
    g = bufferize(f)
    for _ in range(2):
        assert said(g, (X, N, ours)) == said(f, (X, N, eager))
        same(g(X, N, ours), f(X, N, eager), 0, "result")
        same(ours, eager, 0, "generator")


def test_a_script_writes_to_a_mapped_file(tmp_path: Path) -> None:
    held = []
    for name, f in (("ours", bufferize(mapped_file)), ("eager", mapped_file)):
        x = np.memmap(tmp_path / name, np.float64, "w+", shape=X.shape)
        x[:] = X
        held.append((f(x, N), (x.flush(), (tmp_path / name).read_bytes())))
    assert held[0] == held[1]
