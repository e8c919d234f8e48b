"""Plain NumPy programs, one per idiom, in the style of those who write them: a module for each family.

None of them knows of tracebuf. tests/programs/test_families.py runs each on every rung of the ladder.
"""

from . import (  # noqa: F401
    bits,
    buffers,
    containers,
    estimates,
    factorizations,
    geometry,
    handlers,
    images,
    language,
    masks,
    networks,
    particles,
    records,
    sparse,
    spectra,
    stencils,
    sweeps,
    tables,
    textbook,
    whiles,
    windows,
)
from .registry import PROGRAMS, Program

__all__ = ["PROGRAMS", "Program"]
