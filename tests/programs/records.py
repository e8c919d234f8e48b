"""Programs whose state is in dicts, named tuples, dataclasses and objects with methods."""

from collections import namedtuple
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from .registry import program


class Layer(NamedTuple):
    w: Any
    b: Any


def dense(layer, x):
    return x @ layer.w + layer.b


@program(lambda random, n: (random.random((n, 3)), random.random((n, 2)), random.random((3, 5)) - 0.5,
                            random.random((5, 2)) - 0.5, 0.05, 6))  # fmt: skip
def train_a_network_by_named_tuples(x, y, w1, w2, rate, steps):
    layers = {"hidden": Layer(w1, np.zeros(w1.shape[1])), "out": Layer(w2, np.zeros(w2.shape[1]))}
    losses = np.zeros(steps)
    for k in range(steps):
        hidden = np.tanh(dense(layers["hidden"], x))
        error = dense(layers["out"], hidden) - y
        losses[k] = (error**2).mean()
        delta = (error @ layers["out"].w.T) * (1 - hidden**2)
        grads = {"hidden": Layer(x.T @ delta, delta.sum(axis=0)), "out": Layer(hidden.T @ error, error.sum(axis=0))}
        layers = {name: Layer(*(p - rate * g for p, g in zip(layers[name], grads[name]))) for name in layers}
    return losses, layers["hidden"].w, layers["out"]


@program(lambda random, n: (random.random(n), random.random(n) * 2, 0.1, 8))
def adam_with_its_state_in_dicts(start, goal, rate, steps):
    params = {"x": start * 1.0, "shift": 0.0}
    state = {name: {"m": value * 0.0, "v": value * 0.0} for name, value in params.items()}
    for t in range(1, steps + 1):
        error = params["x"] + params["shift"] - goal
        grads = {"x": 2 * error, "shift": 2 * float(error.sum())}
        for name, g in grads.items():
            s = state[name]
            s["m"] = 0.9 * s["m"] + 0.1 * g
            s["v"] = 0.99 * s["v"] + 0.01 * g**2
            step = s["m"] / (1 - 0.9**t) / (np.sqrt(s["v"] / (1 - 0.99**t)) + 1e-8)
            params[name] = params[name] - rate * step
    return params, state["x"]["m"]


class Wave:
    courant = 0.4

    def __init__(self, u):
        self.u = u.copy()
        self.v = np.zeros_like(u)
        self.time = 0.0

    @property
    def energy(self):
        return 0.5 * (self.v**2).sum() + 0.5 * (np.diff(self.u) ** 2).sum()

    def force(self):
        return self.u[2:] - 2 * self.u[1:-1] + self.u[:-2]

    def step(self, dt):
        self.v[1:-1] += dt * self.force()
        self.u += dt * self.v
        self.time += dt
        return self


class Damped(Wave):
    def __init__(self, u, rate):
        super().__init__(u)
        self.rate, self.lost = rate, []

    def step(self, dt):
        before = self.energy
        super().step(dt)
        self.v *= 1 - self.rate * dt
        self.lost = [before - self.energy]
        return self


@program(lambda random, n: (random.random(n + 2), 0.3, 5))
def a_wave_as_an_object(u, rate, steps):
    wave = Damped(u, rate)
    for _ in range(steps):
        wave.step(wave.courant)
    return wave.u, wave.energy, wave.time, wave.lost[0]


Mode = namedtuple("Mode", "heating level count")


@program(lambda random, n: (random.random(n), 0.4, 0.6))
def a_thermostat_as_a_state_machine(inputs, low, high):
    state = Mode(False, 0.5, 0)
    levels = np.zeros(len(inputs))
    for i in range(len(inputs)):
        level = state.level + (0.1 if state.heating else -0.1) * inputs[i]
        state = state._replace(level=level)
        if state.heating and level > high:
            state = Mode(False, level, state.count + 1)
        elif not state.heating and level < low:
            state = state._replace(heating=True)
        levels[i] = state.level
    return levels, state.count, state.heating


@dataclass
class Body:
    x: Any
    v: Any
    mass: float = 1.0
    trace: list[Any] = field(default_factory=list)


def pull(one, other, soft):
    d = other.x - one.x
    return other.mass * d / ((d @ d) + soft) ** 1.5


@program(lambda random, n: (random.random(3), random.random(3), random.random(3), 0.01, n))
def three_bodies_as_dataclasses(a, b, c, dt, steps):
    bodies = [Body(a.copy(), np.zeros(3)), Body(b.copy(), np.zeros(3), 2.0), Body(c.copy(), np.zeros(3), mass=0.5)]
    for _ in range(steps):
        for one in bodies:
            for other in bodies:
                if other is not one:
                    one.v += dt * pull(one, other, 0.1)
        for one in bodies:
            one.x = one.x + dt * one.v
    for one in bodies:
        one.trace.append(one.x.sum())
    return [one.x for one in bodies], {i: one.trace for i, one in enumerate(bodies)}


@dataclass(frozen=True)
class Grid:
    values: Any
    spacing: float = 1.0
    periodic: bool = False

    def slope(self):
        v = self.values
        if self.periodic:
            return (np.roll(v, -1) - np.roll(v, 1)) / (2 * self.spacing)
        return np.gradient(v, self.spacing)

    def refined(self):
        middle = 0.5 * (self.values[1:] + self.values[:-1])
        fine = np.zeros(2 * len(self.values) - 1)
        fine[::2], fine[1::2] = self.values, middle
        return replace(self, values=fine, spacing=self.spacing / 2)


@program(lambda random, n: (random.random(n + 2), 0.5))
def frozen_grids_refined(values, spacing):
    grid = Grid(values, spacing)
    ring = replace(grid, periodic=True)
    fine = grid.refined()
    return grid.slope(), ring.slope(), fine.slope(), fine.spacing, len(fine.values)


@program(lambda random, n: (random.random((n, 4)), random.random(n)))
def statistics_by_name(table, weights):
    names = ("a", "b", "c", "d")
    columns = dict(zip(names, table.T))
    found = {}
    for name, column in columns.items():
        mean = np.average(column, weights=weights)
        found[name] = {"mean": mean, "spread": np.sqrt(((column - mean) ** 2).mean())}
    best = {"name": -1, "spread": -1.0}
    for k, name in enumerate(names):
        if found[name]["spread"] > best["spread"]:
            best["name"], best["spread"] = k, found[name]["spread"]
    return found, best["name"], [found[n]["mean"] for n in sorted(found, reverse=True)]
