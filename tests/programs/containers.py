"""Parameters in dicts, tuples and small classes, as users keep them."""

from dataclasses import dataclass

import numpy as np

from .registry import program


def normal(random, *shape):
    return random.normal(size=shape)


def parameters(random):
    return {"w1": normal(random, 3, 5), "b1": np.zeros(5), "w2": normal(random, 5, 2), "b2": np.zeros(2)}


@program(lambda random, n: (parameters(random), normal(random, n, 3), random.integers(0, 2, n), 0.1, 3))
def train_with_dict(params, x, y, rate, epochs):
    losses = np.zeros(epochs)
    for epoch in range(epochs):
        hidden = np.maximum(x @ params["w1"] + params["b1"], 0)
        logits = hidden @ params["w2"] + params["b2"]
        e = np.exp(logits - logits.max(axis=1, keepdims=True))
        p = e / e.sum(axis=1, keepdims=True)
        losses[epoch] = -np.log(p[np.arange(len(y)), y]).mean()
        p[np.arange(len(y)), y] -= 1
        p /= len(y)
        gradients = {"w2": hidden.T @ p, "b2": p.sum(axis=0)}
        back = (p @ params["w2"].T) * (hidden > 0)
        gradients["w1"] = x.T @ back
        gradients["b1"] = back.sum(axis=0)
        for name in gradients:
            params[name] -= rate * gradients[name]
    return losses


@program(
    lambda random, n: ([normal(random, 3, 4), normal(random, 4, 4), normal(random, 4, 2)], normal(random, n, 3), 0.1)
)
def deep_linear_layers(weights, x, scale):
    activations = [x]
    for w in weights:
        activations.append(np.tanh(scale * activations[-1] @ w))
    norms = [np.sqrt((a**2).sum()) for a in activations]
    return activations[-1], norms


@dataclass
class Body:
    position: np.ndarray
    velocity: np.ndarray
    mass: float

    def kinetic(self):
        return 0.5 * self.mass * (self.velocity**2).sum()

    def drift(self, dt):
        self.position += dt * self.velocity


@program(lambda random, n: (Body(normal(random, 3), normal(random, 3), 2.0), normal(random, n, 3), 0.01))
def pushed_body(body, kicks, dt):
    energy = np.empty(len(kicks))
    for i in range(len(kicks)):
        body.velocity += kicks[i] * dt / body.mass
        body.drift(dt)
        energy[i] = body.kinetic()
    return energy


@program(
    lambda random, n: (
        {"m": {"w": np.zeros(n)}, "v": {"w": np.zeros(n)}, "t": 3},
        {"w": normal(random, n)},
        {"w": normal(random, n)},
    )
)
def adam_step(state, params, grads, rate=0.1, beta1=0.9, beta2=0.99):
    t = state["t"] + 1
    for name, g in grads.items():
        m, v = state["m"][name], state["v"][name]
        m += (1 - beta1) * (g - m)
        v *= beta2
        v += (1 - beta2) * g**2
        params[name] -= rate * (m / (1 - beta1**t)) / (np.sqrt(v / (1 - beta2**t)) + 1e-8)
    return t, params
