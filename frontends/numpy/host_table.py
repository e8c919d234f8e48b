"""The table of host calls: NumPy functions that run as they are, on the program's own arrays. Never what fuses."""

from __future__ import annotations

from typing import Any

from tracebuf.frontends.numpy import host_linalg
from tracebuf.frontends.numpy.host_calls import Entry

FUNCTIONS: dict[Any, Entry] = {**host_linalg.FUNCTIONS}
