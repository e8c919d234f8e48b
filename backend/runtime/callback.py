"""A function of Python's that a program calls, as data: what `references` runs. Loaded with the first program that has
one.
"""

from __future__ import annotations

from collections.abc import Sequence

from tracebuf.frozen import frozen
from tracebuf.ir.types import ScalarType
from tracebuf.location import Location
from tracebuf.running.host import HostFunction


@frozen(slots=False)
class Callback:
    """A function that is called back by its number: of the first `n_ins` of the operands, and of the outs. Each operand
    is a scalar, or an array of that rank. `on_stack`: the operands that may be on the stack; `may_raise`: an exception
    is said to come from the location; `hosted`: a host call, else the reference of an op; `gives`: the operands that
    have no memory before, but get that of what the function gives."""

    function: HostFunction
    n_ins: int
    operands: Sequence[tuple[ScalarType, int | None]]
    on_stack: Sequence[int]
    may_raise: bool
    hosted: bool
    location: Location
    gives: Sequence[int] = ()
