"""Draws the pictures of the gallery and writes docs/gallery.md: the examples, what they draw, what they print.

    PYTHONPATH=. python docs/gallery.py        # wants matplotlib (pip install .[docs])

Times in what the examples print are those of the machine that wrote the page.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from matplotlib import pyplot as plt
from scipy import ndimage
from scipy.integrate import quad, solve_ivp

import tracebuf
from examples import cholesky, image_filter, integrals, local_filter, orbit, wave

matplotlib.use("agg")

DOCS = Path(__file__).parent
EXAMPLES = DOCS.parent / "examples"
INTRODUCTION = """# Gallery

The [examples](../examples) of the repository: what each draws, and what it prints. `docs/gallery.py` writes this page;
times are those of the machine that it ran on.
"""
Draw = Callable[[Any], None]


def draw_wave(figure: Any) -> None:
    """The membrane after some steps."""
    axes = figure.subplots(1, 4)
    u, v = wave.drop(300)
    for ax, steps in zip(axes, (0, 120, 160, 200)):
        wave.wave(u, v, 0.25, steps)
        ax.imshow(u, cmap="RdBu", vmin=-0.25, vmax=0.25)
        ax.set_axis_off()


def draw_image(figure: Any) -> None:
    axes = figure.subplots(1, 2)
    photo = image_filter.photograph(256)
    for ax, image, title in zip(axes, (photo, image_filter.enhance(photo)), ("with noise", "enhance(photo)")):
        ax.imshow(image, cmap="gray", vmin=0, vmax=255)
        ax.set_title(title, fontsize=9)
        ax.set_axis_off()


def draw_cholesky(figure: Any) -> None:
    """What the two ways allocate, by the size of the matrix."""
    axes = figure.subplots(1, 2)
    sizes = [100, 200, 400, 800]
    forms: Any = [("row by row", cholesky.cholesky, ()), ("by blocks", cholesky.cholesky_blocks, (32,))]
    for ax, (title, f, args) in zip(axes, forms):
        measured = [tracebuf.measure(f, cholesky.positive_definite(n), *args, repeat=1) for n in sizes]
        ax.loglog(sizes, [max(m.eager.peak_bytes, 1) for m in measured], "o-", label="eager NumPy")
        ax.loglog(sizes, [max(m.native.peak_bytes, 1) for m in measured], "s-", label="tracebuf")
        ax.set(title=f"{title}: extra bytes at the peak", xlabel="rows (0 bytes are drawn as 1)")
        ax.legend(fontsize=8)


def draw_orbit(figure: Any) -> None:
    rng, n = np.random.default_rng(0), 6
    start, mass = rng.normal(size=4 * n), rng.random(n) + 0.5
    f = tracebuf.bufferize(orbit.gravity)
    y = solve_ivp(f, (0, 3), start, args=(mass,), rtol=1e-8, atol=1e-10, max_step=0.01).y
    ax = figure.subplots()
    for k in range(n):
        ax.plot(y[2 * k], y[2 * k + 1], lw=1)
        ax.plot(y[2 * k, -1], y[2 * k + 1, -1], "ko", ms=3)
    ax.set_aspect("equal")


def draw_local(figure: Any) -> None:
    axes = figure.subplots(1, 2)
    rows, columns = np.mgrid[:60, :60]
    board = ((rows // 6 + columns // 6) % 2).astype(float)
    place = tracebuf.bufferize(local_filter.swirl).low_level_callable("int (intptr_t *, double *, int, int, void *)")
    for ax, image in zip(axes, (board, ndimage.geometric_transform(board, place))):
        ax.imshow(image, cmap="gray")
        ax.set_axis_off()


def draw_integrals(figure: Any) -> None:
    ax = figure.subplots()
    f = tracebuf.bufferize(integrals.damped)
    callable_ = f.low_level_callable("double (double)")
    x = np.linspace(0, 2.5, 200)
    ax.plot(x, [f(t) for t in x], label="exp(-t*t) * cos(5*t)")
    ax.plot(x, [quad(callable_, 0, t)[0] for t in x], label="its integral from 0")
    ax.legend(fontsize=8)


PAGES: list[tuple[str, Any, Draw, list[str], tuple[float, float]]] = [
    ("wave", wave, draw_wave, ["--size", "1000", "--steps", "100"], (8, 2.2)),
    ("image_filter", image_filter, draw_image, ["--size", "256"], (6, 3.2)),
    ("cholesky", cholesky, draw_cholesky, ["--size", "300"], (8, 3)),
    ("orbit", orbit, draw_orbit, [], (5, 4)),
    ("local_filter", local_filter, draw_local, [], (5, 2.6)),
    ("integrals", integrals, draw_integrals, [], (6, 3)),
]
"""By example: its module, what draws, the arguments that it is run with, the picture's size in inches."""


def main() -> None:
    (DOCS / "pictures").mkdir(exist_ok=True)
    parts = [INTRODUCTION]
    for name, module, draw, arguments, size in PAGES:
        figure = plt.figure(figsize=size, layout="constrained")
        draw(figure)
        figure.savefig(DOCS / f"pictures/{name}.png", dpi=90, metadata={"Software": None})
        plt.close(figure)
        first, _, rest = module.__doc__.partition("\n\n")
        command = [sys.executable, str(EXAMPLES / f"{name}.py"), *arguments]
        said = subprocess.run(command, check=True, capture_output=True, text=True, env=os.environ).stdout.rstrip()
        about = "\n\n".join(p for p in rest.split("\n\n") if not p.startswith("    "))
        parts.append(
            f"## {first.rstrip('.')}\n\n![{first}](pictures/{name}.png)\n\n{about.strip()}\n\n"
            f"```\npython examples/{name}.py {' '.join(arguments)}".rstrip() + f"\n```\n\n```text\n{said}\n```\n\n"
            f"[Its source](../examples/{name}.py)\n"
        )
    (DOCS / "gallery.md").write_text("\n".join(parts))


if __name__ == "__main__":
    main()
