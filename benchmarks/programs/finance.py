"""Prices of options: by formula, by a tree, by paths."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from benchmarks.programs.registry import C, program

if TYPE_CHECKING:
    import jax.numpy as jnp
    import numexpr as ne
    from jax import lax


# -- Black-Scholes, with a polynomial for the normal distribution
def normal_cdf(x):
    k = 1.0 / (1.0 + 0.2316419 * np.abs(x))
    poly = k * (0.31938153 + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429))))
    upper = 1.0 - np.exp(-0.5 * x * x) / np.sqrt(2 * np.pi) * poly
    return np.where(x < 0, 1.0 - upper, upper)


def black_scholes(price, strike, years, rate, vol):
    d1 = (np.log(price / strike) + (rate + 0.5 * vol * vol) * years) / (vol * np.sqrt(years))
    d2 = d1 - vol * np.sqrt(years)
    present = strike * np.exp(-rate * years)
    call = price * normal_cdf(d1) - present * normal_cdf(d2)
    return call, call - price + present


def options(n):
    r = np.random.default_rng(0)
    return 10 + 40 * r.random(n), 10 + 40 * r.random(n), 0.25 + 2 * r.random(n), 0.03, 0.3


def cdf_of_one(x):
    k = 1.0 / (1.0 + 0.2316419 * abs(x))
    poly = k * (0.31938153 + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429))))
    upper = 1.0 - np.exp(-0.5 * x * x) / np.sqrt(2 * np.pi) * poly
    return 1.0 - upper if x < 0 else upper


def black_scholes_loops(price, strike, years, rate, vol):
    call, put = np.empty_like(price), np.empty_like(price)
    for i in range(len(price)):
        s, k, t = price[i], strike[i], years[i]
        d1 = (np.log(s / k) + (rate + 0.5 * vol * vol) * t) / (vol * np.sqrt(t))
        present = k * np.exp(-rate * t)
        call[i] = s * cdf_of_one(d1) - present * cdf_of_one(d1 - vol * np.sqrt(t))
        put[i] = call[i] - s + present
    return call, put


def cdf_ne(x):
    k = ne.evaluate("1.0 / (1.0 + 0.2316419 * abs(x))", {"x": x})
    poly = "k * (0.31938153 + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429))))"
    upper = ne.evaluate(f"1.0 - exp(-0.5 * x * x) / 2.5066282746310002 * ({poly})", {"x": x, "k": k})
    return ne.evaluate("where(x < 0, 1.0 - upper, upper)", {"x": x, "upper": upper})


def black_scholes_ne(price, strike, years, rate, vol):
    d1 = ne.evaluate("(log(price / strike) + (rate + 0.5 * vol * vol) * years) / (vol * sqrt(years))")
    names = {"price": price, "present": ne.evaluate("strike * exp(-rate * years)")}
    names |= {"n1": cdf_ne(d1), "n2": cdf_ne(ne.evaluate("d1 - vol * sqrt(years)"))}
    names["call"] = ne.evaluate("price * n1 - present * n2", names)
    return names["call"], ne.evaluate("call - price + present", names)


program(
    black_scholes, options, (4_000, 500_000), loops=black_scholes_loops, jax=black_scholes, numexpr=black_scholes_ne,
    reason="np.exp and np.log to NumPy's bits; JAX's are polynomials in vectors",
)  # fmt: skip


# -- an American put on a binomial tree
def binomial_tree(price, strike, rate, vol, years, steps):
    dt = years / steps
    up = np.exp(vol * np.sqrt(dt))
    p = (np.exp(rate * dt) - 1 / up) / (up - 1 / up)
    discount = np.exp(-rate * dt)
    prices = price * up ** np.arange(-steps, steps + 1, 2.0)
    values = np.maximum(strike - prices, 0.0)
    for n in range(steps, 0, -1):
        prices = prices[1:] / up
        values = discount * (p * values[1:] + (1 - p) * values[:-1])
        values = np.maximum(values, strike - prices)
    return values[0]


def binomial_tree_init(n):
    return 100.0, 105.0, 0.03, 0.3, 1.0, n


def binomial_tree_loops(price, strike, rate, vol, years, steps):
    dt = years / steps
    up = np.exp(vol * np.sqrt(dt))
    p = (np.exp(rate * dt) - 1 / up) / (up - 1 / up)
    discount = np.exp(-rate * dt)
    prices, values = np.empty(steps + 1), np.empty(steps + 1)
    for i in range(steps + 1):
        prices[i] = price * up ** (2.0 * i - steps)
        values[i] = max(strike - prices[i], 0.0)
    for n in range(steps, 0, -1):
        for i in range(n):
            prices[i] = prices[i + 1] / up
            values[i] = max(discount * (p * values[i + 1] + (1 - p) * values[i]), strike - prices[i])
    return values[0]


BINOMIAL_TREE_C = """
#include <math.h>
#include <stdlib.h>
double binomial_tree(double price, double strike, double rate, double vol, double years, long steps) {
  double dt = years / steps, up = exp(vol * sqrt(dt)), p = (exp(rate * dt) - 1 / up) / (up - 1 / up);
  double discount = exp(-rate * dt), *s = malloc((steps + 1) * 16), *v = s + steps + 1;
  for (long i = 0; i <= steps; i++) s[i] = price * pow(up, 2.0 * i - steps), v[i] = fmax(strike - s[i], 0);
  for (long n = steps; n > 0; n--)
    for (long i = 0; i < n; i++) {
      double x, y;
      s[i] = s[i + 1] / up;
      x = discount * (p * v[i + 1] + (1 - p) * v[i]), y = strike - s[i];
      v[i] = x > y ? x : y;
    }
  double found = v[0];
  free(s);
  return found;
}
"""
program(
    binomial_tree, binomial_tree_init, (200, 3000), loops=binomial_tree_loops, pythran=True,
    c=C(BINOMIAL_TREE_C, returns="double"),
    reason="arrays shrink in the loop: two sweeps a step, each into a new array, where loops update both in place",
)  # fmt: skip


# -- an Asian option by paths, from given draws
def monte_carlo(draws, price, strike, rate, vol, years):
    steps = draws.shape[0]
    dt = years / steps
    s = np.full(draws.shape[1], price)
    total = np.zeros(draws.shape[1])
    for t in range(steps):
        s = s * np.exp((rate - 0.5 * vol**2) * dt + vol * np.sqrt(dt) * draws[t])
        total += s
    payoff = np.maximum(total / steps - strike, 0.0) * np.exp(-rate * years)
    return payoff.mean(), payoff.std() / np.sqrt(len(payoff))


def monte_carlo_init(n):
    return np.random.default_rng(0).standard_normal((16, n)), 100.0, 105.0, 0.03, 0.3, 1.0


def monte_carlo_loops(draws, price, strike, rate, vol, years):
    steps, n = draws.shape
    dt = years / steps
    first, second = 0.0, 0.0
    for i in range(n):
        s, total = price, 0.0
        for t in range(steps):
            s *= np.exp((rate - 0.5 * vol**2) * dt + vol * np.sqrt(dt) * draws[t, i])
            total += s
        payoff = max(total / steps - strike, 0.0) * np.exp(-rate * years)
        first += payoff
        second += payoff * payoff
    mean = first / n
    return mean, np.sqrt(second / n - mean * mean) / np.sqrt(n)


def monte_carlo_jax(draws, price, strike, rate, vol, years):
    steps, n = draws.shape
    dt = years / steps

    def step(state, z):
        s, total = state
        s = s * jnp.exp((rate - 0.5 * vol**2) * dt + vol * jnp.sqrt(dt) * z)
        return (s, total + s), None

    total = lax.scan(step, (jnp.full(n, price), jnp.zeros(n)), draws)[0][1]
    payoff = jnp.maximum(total / steps - strike, 0.0) * jnp.exp(-rate * years)
    return payoff.mean(), payoff.std() / jnp.sqrt(n)


program(
    monte_carlo, monte_carlo_init, (1_000, 100_000), loops=monte_carlo_loops, pythran=True, jax=monte_carlo_jax,
    reason="np.exp to NumPy's bits; JAX's is a polynomial in vectors. Each step sweeps over all paths",
)  # fmt: skip


# -- the mean, spread and deepest fall of a portfolio's value
def drawdown(returns, weights):
    value = np.cumprod(1.0 + returns @ weights)
    peak = np.maximum.accumulate(value)
    change = value[1:] / value[:-1] - 1.0
    return ((peak - value) / peak).max(), change.mean(), change.std()


def drawdown_init(n):
    return 0.01 * np.random.default_rng(0).standard_normal((n, 8)), np.full(8, 0.125)


def drawdown_loops(returns, weights):
    n, m = returns.shape
    value, peak, fall, first, second = 1.0, 0.0, 0.0, 0.0, 0.0
    for i in range(n):
        s = 0.0
        for j in range(m):
            s += returns[i, j] * weights[j]
        value *= 1.0 + s
        peak = max(peak, value)
        fall = max(fall, (peak - value) / peak)
        if i:
            first += s
            second += s * s
    mean = first / (n - 1)
    return fall, mean, np.sqrt(second / (n - 1) - mean * mean)


def drawdown_jax(returns, weights):
    value = jnp.cumprod(1.0 + returns @ weights)
    peak = lax.cummax(value)
    change = value[1:] / value[:-1] - 1.0
    return ((peak - value) / peak).max(), change.mean(), change.std()


program(
    drawdown, drawdown_init, (1_000, 300_000), loops=drawdown_loops, jax=drawdown_jax,
    reason="running products, running extremes and their quotients are stored as whole arrays",
)  # fmt: skip
