"""A photograph denoised and sharpened: a bilateral filter, then unsharp masking guided by Sobel edges.

    python examples/image_filter.py [--size N] [--radius R] [--out FILE.png]

The photograph is PyWavelets' `camera`, 512 x 512 (pip install PyWavelets); `--size` takes its middle. Noise is added to
it first. The filters are written in slices whose bounds depend on the loop variables; a neighbour's weight is an `exp`,
which runs through NumPy's own inner loop on blocks that stay in cache.
"""

from __future__ import annotations

import argparse
import struct
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

import tracebuf

Array = np.ndarray[Any, np.dtype[np.float64]]


def bilateral(image: Array, radius: int, distance: float, contrast: float) -> Array:
    """Each pixel the mean of its neighbours, weighted by nearness in place and in brightness. The rim stays."""
    height, width = image.shape
    inner = image[radius : height - radius, radius : width - radius]
    total = np.zeros_like(inner)
    weights = np.zeros_like(inner)
    for y in range(2 * radius + 1):
        for x in range(2 * radius + 1):
            near = image[y : y + height - 2 * radius, x : x + width - 2 * radius]
            away = ((y - radius) ** 2 + (x - radius) ** 2) / (2 * distance**2)
            weight = np.exp(-((near - inner) ** 2) / (2 * contrast**2) - away)
            total += weight * near
            weights += weight
    result = image.copy()
    result[radius : height - radius, radius : width - radius] = total / weights
    return result


def edges(image: Array) -> Array:
    """Sobel's gradient, one pixel smaller on each side."""
    down = image[2:] - image[:-2]
    right = image[:, 2:] - image[:, :-2]
    down = down[:, :-2] + 2 * down[:, 1:-1] + down[:, 2:]
    right = right[:-2] + 2 * right[1:-1] + right[2:]
    return np.sqrt(down**2 + right**2)


def sharpen(image: Array, amount: float) -> Array:
    """Adds what the mean of four neighbours lacks, the more so the stronger the edge."""
    result = image.copy()
    blurred = (image[:-2, 1:-1] + image[2:, 1:-1] + image[1:-1, :-2] + image[1:-1, 2:]) / 4
    detail = image[1:-1, 1:-1] - blurred
    strength = np.minimum(edges(image) / 255, 1)
    result[1:-1, 1:-1] = np.clip(image[1:-1, 1:-1] + amount * strength * detail, 0, 255)
    return result


@tracebuf.bufferize
def enhance(image: Array, radius: int = 3, distance: float = 2.0, contrast: float = 30.0, amount: float = 3.0) -> Array:
    """The denoised and sharpened image, a new array of the same shape; `image` stays."""
    return sharpen(bilateral(image, radius, distance, contrast), amount)


def photograph(size: int, noise: float = 12.0) -> Array:
    """The middle of the photograph, with noise."""
    import pywt.data  # type: ignore[import-untyped]

    photo: Array = pywt.data.camera().astype(np.float64)
    first = (photo.shape[0] - size) // 2
    photo = photo[first : first + size, first : first + size].copy()
    photo += np.random.default_rng(0).normal(0, noise, photo.shape)
    return np.clip(photo, 0, 255)


def write_png(path: Path, image: Array) -> None:
    """A grey 8-bit PNG (the specification's smallest: one IDAT chunk, no filters)."""
    pixels = np.clip(np.rint(image), 0, 255).astype(np.uint8)
    height, width = pixels.shape
    rows = b"".join(b"\0" + row.tobytes() for row in pixels)
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(rows)), (b"IEND", b""))
    body = b"".join(struct.pack(">I", len(d)) + k + d + struct.pack(">I", zlib.crc32(k + d)) for k, d in chunks)
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + body)


def main(argv: Sequence[str] | None = None) -> None:
    """Runs the example; ValueError where eager and compiled results differ."""
    parser = argparse.ArgumentParser(description="denoise and sharpen a photograph")
    parser.add_argument("--size", type=int, default=512, help="pixels on a side, 512 at most")
    parser.add_argument("--radius", type=int, default=3, help="of the bilateral filter")
    parser.add_argument("--out", type=Path, help="write the photograph before and after, side by side, as a PNG")
    options = parser.parse_args(argv)

    photo = photograph(options.size)
    result = enhance(photo, options.radius)
    np.testing.assert_allclose(result, enhance.__wrapped__(photo, options.radius), rtol=1e-12)
    print(f"{options.size} x {options.size} pixels, {2 * options.radius + 1} x {2 * options.radius + 1} neighbours\n")
    print(f"{tracebuf.measure(enhance, photo, options.radius)}\n")
    print(enhance.explain(photo, options.radius))
    if options.out is not None:
        write_png(options.out, np.hstack((photo, result)))
        print(f"\nwritten to {options.out}")


if __name__ == "__main__":
    main()
