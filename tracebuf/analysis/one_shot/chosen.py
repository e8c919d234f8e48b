"""The user's own analysis: any object that answers `is_in_place`, made into an `Analysis` once its answers are legal.

They are legal if One-Shot, told to put these operands in place, meets no conflict; the order does not matter, as each
read and write of buffers that come together is tested once. Says nothing about how good they are. MLIR has no
counterpart: there a wrong AnalysisState gives a wrong program.
"""

from __future__ import annotations

from typing import Any

from tracebuf.analysis.one_shot.base import Conflict
from tracebuf.analysis.one_shot.dataflow import Dataflow
from tracebuf.analysis.one_shot.derived import Analysis
from tracebuf.analysis.one_shot.one_shot import OneShot, undecided
from tracebuf.analysis.one_shot.order import post_order
from tracebuf.errors import DecisionError, InternalError
from tracebuf.ir.core import Use
from tracebuf.ir.func import Func
from tracebuf.options import IMPROVEMENTS


class Chosen(Analysis):
    """The user's decisions, asked once each. `conflict(use)`, if there is one, gives the conflict of an operand."""

    __slots__ = ("_decisions", "_in_place")

    def __init__(self, flow: Dataflow, decisions: Any, *, rotates: bool = True) -> None:
        super().__init__(flow, rotates=rotates)
        if not callable(getattr(decisions, "is_in_place", None)):
            raise DecisionError(f"an analysis answers is_in_place(use), which a {type(decisions).__name__} does not")
        self._decisions = decisions
        uses = (use for op in flow.func.walk() for use in op.tensor_uses())
        self._in_place = {use for use in uses if decisions.is_in_place(use)}

    def is_in_place(self, use: Use) -> bool:
        return use in self._in_place

    def conflict(self, use: Use) -> Conflict | None:
        if use in self._in_place:
            return None
        told = getattr(self._decisions, "conflict", None)
        found = told(use) if told is not None else None
        return found if isinstance(found, Conflict) else Conflict("chosen", use)


def analysis_of(func: Func, decisions: Any, flow: Dataflow | None = None, *, rotates: bool = True) -> Analysis:
    """The analysis for any object that answers `is_in_place(use)`, asked for each tensor operand of `func`; `flow` has
    the facts, where they are more than those of the ops. `rotates`: the decisions are checked against loops that hand
    buffers on where they can, else against loops that copy.

    Raises DecisionError where that is not so, where an operand that must be in place is not, and where one is in place
    that conflicts: with all such operands. An `Analysis` is taken as it is.
    """
    if isinstance(decisions, Analysis):
        return decisions
    found = Chosen(flow or Dataflow(func), decisions, rotates=rotates)
    if wrong := illegal(found):
        raise DecisionError(f"{type(decisions).__name__} decides what would change the results:\n" + "\n".join(wrong))
    return found


def trusted(func: Func, decisions: Any) -> Analysis:
    """The analysis for any object that answers `is_in_place(use)`, without the test of legality: where the decisions
    are wrong, so are the results."""
    return Chosen(Dataflow(func), decisions)


def illegal(analysis: Analysis) -> list[str]:
    """What is wrong with the decisions, an operand a line."""
    flow = analysis.flow
    found: list[str] = []
    improved = IMPROVEMENTS if analysis.rotates else IMPROVEMENTS - {"rotation"}
    replayed = analysis.again() if isinstance(analysis, OneShot) else undecided(flow.func, None, improved, flow=flow)
    try:
        replayed.force_all(branches=False)
    except InternalError as e:
        return [str(e)]
    for op in post_order(flow.func):
        for use in op.tensor_uses():
            if not analysis.is_in_place(use):
                if replayed.must_be_in_place(use, branches=False):
                    found.append(f"{place(use)} is out of place, but must be in place")
            elif replayed.is_in_place(use):
                continue
            elif (conflict := replayed.conflict(use) or replayed.attempt(use)) is not None:
                found.append(f"{place(use)} is in place, but {conflict}")
    return found


def place(use: Use) -> str:
    """The operand and the user's line."""
    line = f" (line {use.op.loc.line})" if use.op.loc.line else ""
    return f"operand {use.index} of {use.op.name}{line}"
