"""Several orders of decisions tried, and the cheapest kept: One-Shot is greedy, so what it decides first is in place.

MLIR's own decisions are among the candidates, as far as they are legal; and no candidate is taken that would run more
allocations and copies than MLIR's on some path through the program. MLIR copies the result of two branches after they
have joined; here only the branch whose value is needed elsewhere may copy it ("branch-copies"). Where the first order
leaves nothing to be saved no other is tried. MLIR takes one order, its user's choice.
"""

from __future__ import annotations

from tracebuf.analysis.cost.cost import Cost, CostModel
from tracebuf.analysis.one_shot.base import AnalysisError
from tracebuf.analysis.one_shot.one_shot import OneShot, ordered, undecided
from tracebuf.errors import InternalError
from tracebuf.ops.control import scf

ORDERS = ("bottom-up", "top-down", "bottom-up-from-terminators", "insert-slice-first")


def several_orders(start: OneShot) -> OneShot:
    """The cheapest of the candidates under the cost model; of equal ones the first, bottom-up before all others. They
    begin as `start`, which is undecided."""
    first = start.run(ORDERS[0])
    model = CostModel(first.flow)
    weighed = [(model.cost(first), first)]
    joins = "branch-copies" in first.improved and copies_after_a_branch(weighed[0][0])
    if not joins and not may_save(first, weighed[0][0]):
        return first
    candidates = [first.again().run(ORDERS[0], branches=False)] if joins else []
    candidates += [first.again().run(order) for order in ORDERS[1:]]
    theirs = as_mlir(first)
    if theirs is not None:
        candidates += followed(first, theirs)
    weighed += [(model.cost(candidate), candidate) for candidate in candidates]
    if theirs is not None:
        limit = model.cost(theirs)
        weighed = [(cost, candidate) for cost, candidate in weighed if not model.exceeds(cost, limit)] or weighed
    return min(weighed, key=lambda pair: pair[0])[1]


def copies_after_a_branch(cost: Cost) -> bool:
    """Whether the result of an scf.if is copied, which one of its branches alone may need."""
    values = {item.because.value for item in cost.items if item.because is not None}
    return any(isinstance(value.owner, scf.If) for value in values)


def as_mlir(ours: OneShot) -> OneShot | None:
    """MLIR's decisions; None for a program that it refuses."""
    flow = ours.flow.mlirs()
    try:
        return undecided(flow.func, "mlir", flow=flow, check_parallel=ours.checks_parallel).run(ORDERS[0])
    except (InternalError, AnalysisError):
        return None


def may_save(analysis: OneShot, cost: Cost) -> bool:
    """Whether other decisions may cost less: an operand is out of place that could be in place alone, or a loop copies
    what it passes on."""
    because = dict.fromkeys(item.because for item in cost.items if item.because is not None)
    if any(use.op.terminator and analysis.is_in_place(use) for use in because):
        return True
    out = [use for use in because if not analysis.is_in_place(use)]
    alone = analysis.again().force_all() if out else analysis
    return any(alone.would_conflict(use) is None for use in out)


def followed(ours: OneShot, theirs: OneShot) -> list[OneShot]:
    """MLIR's decisions as far as they are legal: by MLIR's rules, and by tracebuf's rules with whatever else may be in
    place."""
    flow = ours.flow
    plain = undecided(flow.func, improvements=frozenset(), flow=flow, check_parallel=ours.checks_parallel)
    exact, extended = plain.force_all(), ours.again().force_all()
    uses = [use for op in ordered(flow.func, ORDERS[0]) for use in op.tensor_uses()]
    for use in uses:
        for decisions in (exact, extended):
            if theirs.is_in_place(use) and not decisions.is_in_place(use):
                decisions.decide(use)
    for use in uses:
        if not exact.is_in_place(use) and (conflict := theirs.conflict(use)) is not None:
            exact.leave(use, conflict)
        if not extended.is_in_place(use) and not theirs.is_in_place(use):
            extended.decide(use)
    return [exact, extended]
