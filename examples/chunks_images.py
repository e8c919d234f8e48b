"""A stack of photographs, in chunks: background taken off, smoothed, edges found, and what they have in common.

    python examples/chunks_images.py [--images N] [--size N] [--chunk N] [--store FOLDER] [--out FILE.png]

The stack is a file of NumPy's (np.memmap), or with zarr installed a zarr array; so is what is written back. No process
ever holds all of it.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from image_filter import write_png

import tracebuf
from tracebuf.dask import Mapped, distribute

Array = np.ndarray[Any, np.dtype[np.float32]]


@tracebuf.bufferize
def pipeline(stack: Array) -> tuple[Array, Array]:
    """Of each image its mean is taken off, it is smoothed, its gradient is found; and the mean of all gradients."""
    level = stack - stack.mean(axis=(1, 2), keepdims=True)
    smooth = level.copy()
    smooth[:, 1:-1, 1:-1] = (
        level[:, :-2, 1:-1] + level[:, 2:, 1:-1] + level[:, 1:-1, :-2] + level[:, 1:-1, 2:] + 4 * level[:, 1:-1, 1:-1]
    ) / 8
    edges = np.zeros_like(smooth)
    down = smooth[:, 2:, 1:-1] - smooth[:, :-2, 1:-1]
    right = smooth[:, 1:-1, 2:] - smooth[:, 1:-1, :-2]
    edges[:, 1:-1, 1:-1] = np.sqrt(down * down + right * right)
    return edges, edges.mean(axis=0)


def photographs(path: Path, images: int, size: int) -> np.memmap[Any, np.dtype[np.float32]]:
    """A file of images: discs that move, and noise."""
    made = np.lib.format.open_memmap(path, "w+", np.float32, (images, size, size))  # type: ignore[no-untyped-call]
    rng = np.random.default_rng(0)
    i, j = np.mgrid[:size, :size]
    for k in range(images):
        at = size * (0.3 + 0.4 * k / images)
        made[k] = 100 * (np.hypot(i - at, j - size / 2) < size / 5) + rng.normal(50, 3, (size, size))
    made.flush()
    return np.load(path, mmap_mode="r")  # type: ignore[no-any-return]


def main(argv: Sequence[str] | None = None) -> None:
    import dask
    import dask.array as da

    parser = argparse.ArgumentParser(description="An image pipeline over a stack on disk.")
    parser.add_argument("--images", type=int, default=12)
    parser.add_argument("--size", type=int, default=400)
    parser.add_argument("--chunk", type=int, default=200)
    parser.add_argument("--store", type=Path, default=None)
    parser.add_argument("--out", type=Path, default=None)
    args = parser.parse_args(argv)
    with tempfile.TemporaryDirectory() as scratch:
        folder = args.store or Path(scratch)
        stack = photographs(folder / "stack.npy", args.images, args.size)
        print(pipeline.cut(tracebuf.spec("f4[k,n,m]")), end="\n\n")
        start = time.perf_counter()
        edges, mean = distribute(pipeline)(da.from_array(Mapped(stack), chunks=(4, args.chunk, args.chunk)))
        result = np.lib.format.open_memmap(  # type: ignore[no-untyped-call]
            folder / "edges.npy", "w+", np.float32, edges.shape
        )
        stored = da.store(edges, Mapped(result), compute=False, lock=False)
        _, picture = dask.compute(stored, mean)
        seconds = time.perf_counter() - start
        whole, common = pipeline(np.array(stack))
        worst = float(np.abs(whole - result).max())
        print(f"{'images':>8}{'chunks':>14}{'seconds':>10}{'MB read':>10}{'MB written':>12}{'differs by':>12}")
        print(
            f"{args.images:8}{edges.numblocks!s:>14}{seconds:10.2f}{stack.nbytes / 1e6:10.1f}"
            f"{result.nbytes / 1e6:12.1f}{worst:12.1e}"
        )
        assert np.allclose(picture, common, rtol=1e-3, atol=1e-3)
    if args.out is not None:
        write_png(args.out, picture / picture.max() * 255)
        print(f"wrote {args.out}")


if __name__ == "__main__":
    main()
