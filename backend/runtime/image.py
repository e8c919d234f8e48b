"""A compiled program as data: all that `Kernel` needs to run it beside its machine code. No ops and no values, so that
a later process can read it from the cache on disk.
"""

from __future__ import annotations

from collections.abc import Mapping

from tracebuf.backend.layout.abi import ArgNumber, Frame
from tracebuf.frozen import frozen
from tracebuf.ir.types import MemRefType, ScalarType
from tracebuf.location import Location
from tracebuf.running.raised import Message, Raised


@frozen(slots=False)
class Failure:
    """What a failed check raises: an exception with its message, of values of these types (`make_error`), and where."""

    exception: Raised
    message: Message
    types: tuple[ScalarType, ...]
    location: Location


@frozen(slots=False)
class Result:
    """How to make one result: its type, first slot, and the argument whose memory it is (None: asked at run time)."""

    type: MemRefType | ScalarType
    at: int
    argument: ArgNumber | None


@frozen(slots=False)
class Image:
    """A compiled program, but for what its checks raise (`Failure`), which is looked at when one fails."""

    name: str
    frame: Frame
    imports: Mapping[str, tuple[str, ...]]
    """External symbols, as in `KernelText`."""
    results: tuple[Result, ...]
    arena: tuple[int, int, tuple[int, ...], tuple[int, int] | None]
    """Its slots, blocks, idle and roaming ones."""
    refuses: bool
    """Whether one of its checks stands for what is outside the language."""
    brief: bool
    """Whether it takes no time: it has no loops, and calls nothing."""
