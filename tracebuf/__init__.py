"""tracebuf: plain NumPy functions bufferized in place, by MLIR's One-Shot analysis, compiled to native loops.

`bufferize` decorates a function; `measure` compares it with eager NumPy; `TracebufError` is the root of our errors.
"""

from tracebuf import bufferize as _package  # noqa: F401  the package of that name is loaded first, then hidden by the decorator
from tracebuf.api import BufferizedFunction, bufferize
from tracebuf.errors import InternalError, TracebufError, UnsupportedError
from tracebuf.measure import Measurement, measure
from tracebuf.options import Options

__all__ = [
    "BufferizedFunction",
    "InternalError",
    "Measurement",
    "Options",
    "TracebufError",
    "UnsupportedError",
    "bufferize",
    "measure",
]
__version__ = "0.1.0.dev0"
