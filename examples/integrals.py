"""Integrands of scipy.integrate.quad as C functions: QUADPACK calls machine code, no Python in between.

    python examples/integrals.py [--repeat N]

`low_level_callable("double (double)")` is the program for a float. With parameters the signature is
`double (int, double *)`: the numbers behind the pointer are the function's arguments.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from scipy.integrate import quad

import tracebuf


def damped(t: float) -> Any:
    """An integrand."""
    return np.exp(-t * t) * np.cos(5 * t)


def beam(x: float, load: float, length: float) -> Any:
    """One with parameters."""
    s = x / length
    return load * s * (1 - s) ** 2 + np.sqrt(1 + s)


def seconds(run: Callable[[], Any], repeat: int) -> float:
    """The least time of a run."""
    times = []
    for _ in range(repeat):
        begin = time.perf_counter()
        run()
        times.append(time.perf_counter() - begin)
    return min(times)


def main(argv: Sequence[str] | None = None) -> None:
    """Both integrals, in Python and in C."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeat", type=int, default=20)
    repeat = parser.parse_args(argv).repeat
    one = tracebuf.bufferize(damped).low_level_callable("double (double)")
    many = tracebuf.bufferize(beam).low_level_callable("double (int, double *)", 1.0, 1.0, 1.0)
    for name, python, native, args in (("damped", damped, one, ()), ("beam", beam, many, (3.0, 2.0))):
        wanted, got = quad(python, 0, 2, args=args), quad(native, 0, 2, args=args)
        assert np.allclose(wanted, got, rtol=1e-12), (wanted, got)
        eager, ours = (seconds(partial(quad, f, 0, 2, args=args), repeat) for f in (python, native))
        print(f"{name}: {got[0]:.12f}; Python's function {eager * 1e6:.0f} us, machine code {ours * 1e6:.0f} us")


if __name__ == "__main__":
    main()
