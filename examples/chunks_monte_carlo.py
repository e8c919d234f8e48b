"""A distributed Monte Carlo: the price of an option on the mean of a path, from random numbers drawn chunk by chunk.

    python examples/chunks_monte_carlo.py [--paths N] [--days N] [--chunk N] [--out FILE.png]

Paths are independent, days are not: tracebuf finds that out. The mean over paths is combined from chunks, and the
error is computed in a second stage from it.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from image_filter import write_png

import tracebuf
from tracebuf.dask import distribute

Array = np.ndarray[Any, np.dtype[np.float64]]


@tracebuf.bufferize
def price(draws: Array, start: float, strike: float, rate: float, volatility: float) -> tuple[Any, Any, Array]:
    """The price, its standard error, and each path's mean. `draws`: (days, paths), standard normal."""
    days = draws.shape[0]
    dt = 1.0 / days
    value = np.full(draws.shape[1], start)
    total = np.zeros(draws.shape[1])
    for t in range(days):
        value = value * np.exp((rate - volatility**2 / 2) * dt + volatility * np.sqrt(dt) * draws[t])
        total += value
    mean = total / days
    payoff = np.exp(-rate) * np.maximum(mean - strike, 0.0)
    return payoff.mean(), payoff.std() / np.sqrt(payoff.size), mean


def main(argv: Sequence[str] | None = None) -> None:
    import dask
    import dask.array as da

    parser = argparse.ArgumentParser(description="The price of an Asian option.")
    parser.add_argument("--paths", type=int, default=200_000)
    parser.add_argument("--days", type=int, default=50)
    parser.add_argument("--chunk", type=int, default=25_000)
    parser.add_argument("--out", type=Path, default=None)
    args = parser.parse_args(argv)
    spec = tracebuf.spec("f8[days,paths]")
    print(price.cut(spec, 100.0, 100.0, 0.03, 0.2), end="\n\n")
    print(f"{'paths':>10}{'chunks':>8}{'seconds':>9}{'price':>10}{'error':>10}")
    for paths in (args.paths // 16, args.paths // 4, args.paths):
        draws = da.random.default_rng(1).standard_normal((args.days, paths), chunks=(args.days, args.chunk))
        begin = time.perf_counter()
        found, error, mean = dask.compute(*distribute(price)(draws, 100.0, 100.0, 0.03, 0.2))
        seconds = time.perf_counter() - begin
        print(f"{paths:10}{draws.numblocks[1]:8}{seconds:9.2f}{float(found):10.4f}{float(error):10.4f}")
    if args.out is not None:
        counts, _ = np.histogram(mean, bins=200, range=(60, 160))
        picture = np.where(np.arange(120)[:, None] >= 120 - 115 * counts / counts.max(), 60.0, 255.0)
        write_png(args.out, picture)
        print(f"wrote {args.out}")


if __name__ == "__main__":
    main()
