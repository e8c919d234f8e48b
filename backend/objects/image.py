"""What is compiled, and where it lies once it is laid into memory."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import numpy as np

from tracebuf.frozen import frozen

__all__ = ["CompiledObject", "Placed", "SpeedLevel"]

SpeedLevel = Literal[0, 1, 2, 3]
"""LLVM's, but for 1: no pass but the one that puts stack slots into registers."""


@frozen()
class CompiledObject:
    """An object image: relocatable, free of addresses, good for any process on the same processor."""

    image: bytes
    symbols: tuple[str, ...]
    """The functions and variables it defines for others."""
    needs: tuple[str, ...]
    """The functions and variables it declares and does not define."""
    cpu_seconds: float
    """CPU time of the compiling thread, or of loading it."""

    def to_bytes(self) -> bytes:
        """The symbols, a line each of those it defines and those it needs; the image."""
        return f"{' '.join(self.symbols)}\n{' '.join(self.needs)}\n".encode() + self.image

    @staticmethod
    def of_bytes(data: bytes, cpu_seconds: float) -> CompiledObject:
        symbols, needs, image = data.split(b"\n", 2)
        return CompiledObject(image, tuple(symbols.decode().split()), tuple(needs.decode().split()), cpu_seconds)


@frozen(eq=False)
class Placed:
    """An image in memory: the addresses of the symbols it defines for others."""

    addresses: Mapping[str, int]
    life: np.ndarray
    """When this dies, the code is unloaded."""
