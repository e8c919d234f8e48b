"""How deep a recursion may go that compiled code runs in Python's place."""

from __future__ import annotations

import os
import sys

PACKAGE = os.path.dirname(os.path.dirname(__file__)) + os.sep
"""Where the package is: its frames on the stack are none in eager."""


def calls_left(used: int) -> int:
    """How many calls may be nested further in the function that the compiled code stands for, until Python raises
    RecursionError; `used`: as many are."""
    frame = sys._getframe()
    while frame.f_back is not None and frame.f_code.co_filename.startswith(PACKAGE):
        frame = frame.f_back
    depth = used
    while frame is not None:
        depth, frame = depth + 1, frame.f_back  # type: ignore[assignment]
    return sys.getrecursionlimit() - depth
