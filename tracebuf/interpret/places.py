"""The arena of one run as the plan lays it out: which buffer was laid over which."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Generic, TypeVar

from tracebuf.errors import InternalError
from tracebuf.ir.core import Op
from tracebuf.ir.dims import Dim
from tracebuf.ops.memory.arena import Extent, Phase, Plan
from tracebuf.running.lines import rounded

__all__ = ["Places"]

B = TypeVar("B", bound=Hashable)


class Places(Generic[B]):
    """Where the buffers of a run are; `size` gives sizes their values. A buffer that another one was laid over, or
    whose block may have been replaced, is handed to `lose`."""

    __slots__ = ("at", "first", "held", "lose", "plan", "size")

    def __init__(self, plan: Plan, size: Callable[[Dim], int], lose: Callable[[B, Op], None]) -> None:
        self.plan, self.size, self.lose = plan, size, lose
        self.at: dict[B, tuple[int, int, int]] = {}
        """By buffer its block (or slot), its first byte and the one after its last."""
        self.first: dict[Phase, tuple[int, int]] = {}
        """By phase its block, and where it begins there: between others, if it floats."""
        self.held: dict[int, int] = {}
        """The bytes of each block and slot."""

    def extent(self, extent: Extent) -> int:
        return max(sum(rounded(self.size(n)) * count for n, count in s) for s in extent.sums)

    def before(self, op: Op) -> None:
        """Begins the phases that begin there: their blocks may be replaced by larger ones. One that floats takes
        nothing away before its buffers are made."""
        for phase in self.plan.phases.get(op, ()):
            total = self.extent(phase.total)
            block, first = (0, self._gap(phase, total)) if phase.floats else (phase.block, 0)
            if not phase.floats:
                self._clear(block, first, 2**63, op)
            self.held[block] = max(self.held.get(block, 0), first + total)
            self.first[phase] = block, first

    def _gap(self, phase: Phase, total: int) -> int:
        """Where there is the lowest room for a phase that floats."""
        taken = []
        for r in phase.beside:
            start = self.first[r.phase][1]
            first, end = (Extent(), r.phase.total) if r.phase.floats else (r.first, r.end)
            taken.append((start + self.extent(first), start + self.extent(end)))
        return min(
            at for at in (0, *(end for _, end in taken))
            if all(at + total <= first or end <= at for first, end in taken)
        )  # fmt: skip

    def take(self, op: Op, buffer: B, beside: Sequence[B], nbytes: int) -> None:
        """Gives a new buffer its place; InternalError where it has none that is free."""
        place = self.plan.places[op]
        phase: Phase | None = place.phase
        if phase is None:
            self._clear(place.slot, 0, 2**63, op)
            self.held[place.slot] = max(self.held.get(place.slot, 0), rounded(nbytes))
            self.at[buffer] = (place.slot, 0, nbytes)
            return
        length, first = rounded(self.size(place.size)), self.extent(place.offset)
        if nbytes > length or first + length * place.turns > self.extent(phase.total):
            raise InternalError(f"{op.name} of {nbytes} bytes does not fit its place of {length} at {first}")
        block, start = self.first[phase]
        first += start
        used = {self.at[b][1] for b in beside if b in self.at and self.at[b][0] == block}
        free = [k for k in range(place.turns) if not length or first + k * length not in used]
        if not free:
            raise InternalError(f"{op.name}: all of its {place.turns} places are in use")
        first += free[0] * length
        self._clear(block, first, first + length, op)
        self.at[buffer] = (block, first, first + length)

    def _clear(self, block: int, first: int, end: int, op: Op) -> None:
        for buffer, (where, low, high) in list(self.at.items()):
            if where == block and low < end and first < high:
                del self.at[buffer]
                self.lose(buffer, op)
