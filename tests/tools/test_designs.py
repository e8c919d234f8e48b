"""`tracebuf.designs`: what the designs of bufferization allocate and copy for one function."""

from __future__ import annotations

import numpy as np
import pytest

from tracebuf import bufferize, designs


def step(u, v, dt):
    lap = u[:-2] + u[2:] - 2 * u[1:-1]
    v[1:-1] += dt * lap
    u += dt * v
    return u.max()


@pytest.mark.slow
def test_each_design_has_its_counts() -> None:
    """The order of the designs is that of the documents: each is meant to be better than the one before."""
    u, v = np.random.default_rng(0).random((2, 300))
    before = u.copy()
    found = designs.compare(bufferize(step), u, v, 0.1)
    assert (u == before).all()
    names = ["eager NumPy", "always copy", "copies removed", "MLIR's pipeline", "tracebuf"]
    assert list(found.designs) == names
    counts = [found.designs[name] for name in names[1:]]
    assert counts[0].copies >= counts[1].copies >= counts[2].copies >= counts[3].copies == 0  # type: ignore[operator]
    assert counts[0].peak_bytes >= counts[1].peak_bytes >= counts[2].peak_bytes > counts[3].peak_bytes == 0
    copied = [c.copied_bytes or 0 for c in counts]
    assert copied[0] >= copied[1] > copied[2] > copied[3] == 0
    assert str(found).splitlines()[-1].split() == ["tracebuf", "0", "0", "0", "0", "0"]


def test_only_bufferized_functions_are_compared() -> None:
    with pytest.raises(TypeError, match="compare wants a bufferized function"):
        designs.compare(step, np.ones(3))  # type: ignore[arg-type]
