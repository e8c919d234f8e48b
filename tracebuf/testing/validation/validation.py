"""What `validate` finds, for a caller to look at: the table of rungs, and the first difference."""

from __future__ import annotations

from tracebuf.frozen import frozen
from tracebuf.process.display import displayed
from tracebuf.testing.validation.blame import Blame

__all__ = ["Difference", "Validation"]


@frozen(slots=False)
class Difference:
    """Where a call first differs: the stage, what differs, and the op with its line and values, as far as they are
    known."""

    stage: str
    what: str
    blame: Blame | None = None

    def __str__(self) -> str:
        head = f"first different: {self.stage}\n{self.what}"
        return head if self.blame is None else f"{head}\n{self.blame}"


@frozen(slots=False)
@displayed
class Validation:
    """What `validate` found. As text, the table of rungs, and of a difference its stage, op, line and values."""

    name: str
    rungs: tuple[tuple[str, str], ...]
    """Each rung with "equal", "differs" or "-" (not run)."""
    difference: Difference | None = None
    notes: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        return self.difference is None

    def __str__(self) -> str:
        table = [(self.name, "beside eager NumPy"), *self.rungs]
        width = max(len(name) for name, _ in table)
        head, *rows = (f"{name:<{width}}  {said}" for name, said in table)
        parts = [head, "-" * len(head), *rows, *self.notes]
        return "\n".join(parts if self.difference is None else [*parts, str(self.difference)])
