"""Right-hand sides of ordinary differential equations, decorated: scipy.integrate.solve_ivp and odeint call them.

    python examples/orbit.py [--bodies N] [--time T]

The solver is Python; what a decorated callback saves is its own share: many small operations on small arrays.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.integrate import odeint, solve_ivp

import tracebuf

Array = np.ndarray[Any, np.dtype[np.float64]]


def gravity(t: float, state: Array, mass: Array) -> Array:
    """Positions and velocities of bodies in a plane, which attract one another."""
    n = len(mass)
    x, v = state[: 2 * n].reshape(n, 2), state[2 * n :].reshape(n, 2)
    apart = x[None, :, :] - x[:, None, :]
    near = (apart**2).sum(axis=2) + 0.01
    pull = (mass[None, :, None] * apart / (near * np.sqrt(near))[:, :, None]).sum(axis=1)
    change = np.empty_like(state)
    change[: 2 * n] = v.ravel()
    change[2 * n :] = pull.ravel()
    return change


def swing(state: Array, t: float, damping: float) -> list[Any]:
    """A pendulum."""
    angle, speed = state
    return [speed, -damping * speed - 9.81 * np.sin(angle)]


def main(argv: Sequence[str] | None = None) -> None:
    """Both, decorated and not."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bodies", type=int, default=6)
    parser.add_argument("--time", type=float, default=3.0)
    given = parser.parse_args(argv)
    rng, times, ends = np.random.default_rng(0), [], []
    start, mass = rng.normal(size=4 * given.bodies), rng.random(given.bodies) + 0.5
    for f in (gravity, tracebuf.bufferize(gravity)):
        solve_ivp(f, (0, given.time), start, args=(mass,))  # compiles
        begin = time.perf_counter()
        ends.append(solve_ivp(f, (0, given.time), start, args=(mass,), rtol=1e-8, atol=1e-10).y[:, -1])
        times.append(time.perf_counter() - begin)
    assert np.allclose(*ends, rtol=1e-3, atol=1e-4)
    print(f"{given.bodies} bodies: Python {times[0] * 1e3:.0f} ms, decorated {times[1] * 1e3:.0f} ms")
    moments = np.linspace(0, given.time, 50)
    paths = [odeint(f, [2.0, 0.0], moments, args=(0.2,)) for f in (swing, tracebuf.bufferize(swing))]
    assert np.allclose(*paths, rtol=1e-6, atol=1e-9)
    print(f"pendulum: at {paths[1][-1, 0]:.4f} after {given.time:g} s")


if __name__ == "__main__":
    main()
