"""A filter of scipy.ndimage that C calls for each pixel: the spread of the inner half of its neighbourhood.

    python examples/local_filter.py [--size N]

`ndimage.generic_filter` gives each neighbourhood as a buffer; `low_level_callable` makes a C function of the program
for one array. An error in it ends the filter with that exception. `ndimage.geometric_transform` asks a C function for
coordinates in the same way.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import ndimage

import tracebuf

Array = np.ndarray[Any, np.dtype[np.float64]]


def spread(values: Array) -> Any:
    """The standard deviation of what lies near the mean."""
    middle = values.mean()
    weights = np.exp(-np.abs(values - middle))
    return np.sqrt((weights * (values - middle) ** 2).sum() / weights.sum())


def swirl(place: Any) -> Any:
    """Where a pixel of the output comes from."""
    y, x = place[0] - 20.0, place[1] - 20.0
    turn = np.exp(-(x * x + y * y) / 200.0)
    return 20.0 + y + turn * x, 20.0 + x - turn * y


def main(argv: Sequence[str] | None = None) -> None:
    """Both, in Python and in C."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, default=60)
    size = parser.parse_args(argv).size
    image = np.random.default_rng(0).random((size, size))
    native = tracebuf.bufferize(spread).low_level_callable("int (double *, intptr_t, double *, void *)")
    times, results = [], []
    for f in (spread, native):
        begin = time.perf_counter()
        results.append(ndimage.generic_filter(image, f, size=5))
        times.append(time.perf_counter() - begin)
    assert np.allclose(*results, rtol=1e-12, atol=0)
    print(f"{size} x {size} pixels: Python's function {times[0] * 1e3:.1f} ms, machine code {times[1] * 1e3:.1f} ms")
    place = tracebuf.bufferize(swirl).low_level_callable("int (intptr_t *, double *, int, int, void *)")
    turned, wanted = ndimage.geometric_transform(image, place), ndimage.geometric_transform(image, swirl)
    assert np.allclose(turned, wanted, rtol=1e-9, atol=1e-12)
    print(f"swirled: mean {turned.mean():.4f}")


if __name__ == "__main__":
    main()
