"""One-Shot by the name of a heuristic: MLIR's, "insert-slice-first", "auto" (several orders) or "optimal"."""

from __future__ import annotations

from tracebuf.analysis.cost.several_orders import ORDERS, several_orders
from tracebuf.analysis.one_shot.dataflow import Dataflow
from tracebuf.analysis.one_shot.one_shot import OneShot, undecided
from tracebuf.ir.func import Func
from tracebuf.options import IMPROVEMENTS, Improvement
from tracebuf.process.late import importing


def analyze(
    func: Func,
    *,
    heuristic: str = "auto",
    seed: int = 0,
    compat: str | None = None,
    improvements: frozenset[Improvement] = IMPROVEMENTS,
    flow: Dataflow | None = None,
    check_parallel: bool = True,
) -> OneShot:
    """Decides for every tensor operand. "auto" tries several orders where that is among the improvements, and is
    bottom-up else; ValueError for an unknown name, and for "optimal" as MLIR decides, which knows no costs."""
    start = undecided(func, compat, improvements, flow=flow, check_parallel=check_parallel)
    if heuristic == "optimal" and compat is None:
        with importing():
            from tracebuf.analysis.cost.optimal import optimal

        return optimal(func, start=start)
    if heuristic == "auto" and compat is None and "several-orders" in improvements:
        return several_orders(start)
    return start.run(ORDERS[0] if heuristic == "auto" else heuristic, seed)
