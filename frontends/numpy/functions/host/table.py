"""The table of host calls: NumPy functions that run as they are, on the program's own arrays. Functions that could fuse
are not among them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tracebuf.frontends.numpy.functions.host import extremes
from tracebuf.frontends.numpy.functions.host import fft as host_fft
from tracebuf.frontends.numpy.functions.host import linalg as host_linalg
from tracebuf.frontends.numpy.functions.host import sorting as host_sorting

FUNCTIONS: dict[Any, Callable[..., Any]] = {
    **host_linalg.FUNCTIONS, **host_sorting.FUNCTIONS, **host_fft.FUNCTIONS, **extremes.FUNCTIONS
}  # fmt: skip
"""By NumPy's function: its handler."""
METHODS: dict[str, Callable[..., Any]] = {**host_sorting.METHODS, **extremes.METHODS}
"""By name of the array method: its handler."""
