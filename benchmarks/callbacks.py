"""What decorating a callback brings: SciPy's solvers and optimisers, steps of filters and of simulations.

    python benchmarks/callbacks.py [ROUNDS]

In one process, the undecorated and the bufferized function take turns; the least CPU time of each. The last column is
how many times faster the decorated one is; with a solver, whose time is in both.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from scipy.integrate import odeint, solve_ivp
from scipy.optimize import minimize

from tracebuf import api, bufferize

ROUNDS, STEPS = 7, 1000
GRAVITY, POLE, HALF_LENGTH, TOTAL, TAU = 9.8, 0.1, 0.5, 1.1, 0.02


def lorenz(t: Any, s: Any, sigma: Any, rho: Any, beta: Any) -> Any:
    """A list of three."""
    x, y, z = s
    return [sigma * (y - x), x * (rho - z) - y, x * y - beta * z]


def heat(t: Any, u: Any) -> Any:
    """The heat equation."""
    d = np.zeros_like(u)
    d[1:-1] = 1000 * (u[2:] - 2 * u[1:-1] + u[:-2])
    return d


def lotka_volterra(s: Any, t: Any) -> Any:
    """An array of two."""
    x, y = s
    return np.array([1.5 * x - x * y, x * y - 3.0 * y])


def rosenbrock(x: Any) -> Any:
    """scipy.optimize.rosen."""
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2.0) ** 2.0 + (1 - x[:-1]) ** 2.0)


def rosenbrock_gradient(x: Any) -> Any:
    """scipy.optimize.rosen_der."""
    inner, before, after = x[1:-1], x[:-2], x[2:]
    d = np.zeros_like(x)
    d[1:-1] = 200 * (inner - before**2) - 400 * (after - inner**2) * inner - 2 * (1 - inner)
    d[0] = -400 * x[0] * (x[1] - x[0] ** 2) - 2 * (1 - x[0])
    d[-1] = 200 * (x[-1] - x[-2] ** 2)
    return d


def kalman(x: Any, p: Any, f: Any, q: Any) -> Any:
    """A Kalman filter's predict step."""
    return f @ x, f @ p @ f.T + q


def kalman_update(x: Any, p: Any, h: Any, r: Any, z: Any) -> Any:
    """Its update step."""
    y = z - h @ x
    gain = p @ h.T @ np.linalg.inv(h @ p @ h.T + r)
    return x + gain @ y, (np.eye(len(x)) - gain @ h) @ p


def cart_pole(state: Any, force: Any) -> Any:
    """A step of the classic control problem, as Gym's."""
    x, speed, angle, rate = state
    cosine, sine = np.cos(angle), np.sin(angle)
    push = (force + POLE * HALF_LENGTH * rate**2 * sine) / TOTAL
    turn = (GRAVITY * sine - cosine * push) / (HALF_LENGTH * (4.0 / 3.0 - POLE * cosine**2 / TOTAL))
    pull = push - POLE * HALF_LENGTH * turn * cosine / TOTAL
    return np.array([x + TAU * speed, speed + TAU * pull, angle + TAU * rate, rate + TAU * turn])


def cart_pole_of_floats(x: Any, speed: Any, angle: Any, rate: Any, force: Any) -> Any:
    """The same of Python's floats, as Gym has it."""
    cosine, sine = math.cos(angle), math.sin(angle)
    push = (force + POLE * HALF_LENGTH * rate**2 * sine) / TOTAL
    turn = (GRAVITY * sine - cosine * push) / (HALF_LENGTH * (4.0 / 3.0 - POLE * cosine**2 / TOTAL))
    pull = push - POLE * HALF_LENGTH * turn * cosine / TOTAL
    return x + TAU * speed, speed + TAU * pull, angle + TAU * rate, rate + TAU * turn


def swing_up(f: Any) -> None:
    """An episode on arrays."""
    state = np.array([0.0, 0.0, 0.05, 0.0])
    for k in range(STEPS):
        state = f(state, 10.0 if k % 3 else -10.0)


def swing_up_of_floats(f: Any) -> None:
    """An episode on floats."""
    state = (0.0, 0.0, 0.05, 0.0)
    for k in range(STEPS):
        state = f(*state, 10.0 if k % 3 else -10.0)


def rows() -> Iterator[tuple[str, Callable[..., Any], Callable[[Any], object]]]:
    """Name, callback, what is done with it."""
    x, p, z, h, r = np.ones(4), np.eye(4), np.ones(2), np.eye(2, 4), np.eye(2)
    times, start = np.linspace(0, 10, 200), np.array([10.0, 5.0])
    yield (
        "solve_ivp, Lorenz", lorenz,
        lambda f: solve_ivp(f, (0, 5), [1.0, 1.0, 1.0], args=(10.0, 28.0, 8 / 3), rtol=1e-6),
    )  # fmt: skip
    yield (
        "solve_ivp, heat equation, 200 points", heat,
        lambda f: solve_ivp(f, (0, 0.02), np.sin(np.linspace(0, 3.14, 200))),
    )  # fmt: skip
    yield "odeint, Lotka-Volterra", lotka_volterra, lambda f: odeint(f, start, times)
    for n in (5, 50):
        where = np.full(n, 1.3)
        yield f"BFGS, Rosenbrock, n = {n}", rosenbrock, lambda f, x0=where: minimize(f, x0, method="BFGS")
    yield "its gradient, n = 300", rosenbrock_gradient, lambda f: [f(np.full(300, 1.3)) for _ in range(STEPS)]
    yield "Kalman predict, 4 x 4", kalman, lambda f: [f(x, p, p, p) for _ in range(STEPS)]
    yield "Kalman update, 4 x 4 and 2", kalman_update, lambda f: [f(x, p, h, r, z) for _ in range(STEPS)]
    yield "cart-pole step, an array", cart_pole, swing_up
    yield "cart-pole step, floats", cart_pole_of_floats, swing_up_of_floats


def cost(run: Callable[[Any], object], f: Any) -> float:
    begin = time.process_time()
    run(f)
    return time.process_time() - begin


def main() -> None:
    """The table."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS
    api.NATIVE_AFTER, api.WORTH = 1, 0
    print("| callback | eager, ms | decorated, ms | times faster |\n|---|---|---|---|")
    for name, function, run in rows():
        f = bufferize(function, tier="fast")
        run(f)
        eager, native = zip(*((cost(run, function), cost(run, f)) for _ in range(rounds)))
        print(f"| {name} | {min(eager) * 1e3:.2f} | {min(native) * 1e3:.2f} | {min(eager) / min(native):.2f} |")


if __name__ == "__main__":
    main()
