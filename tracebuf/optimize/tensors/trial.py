"""Whether a change improved a program: the analysis' decisions before and after, compared by the cost model."""

from __future__ import annotations

from tracebuf.analysis.cost.cost import Cost, CostModel
from tracebuf.analysis.one_shot.derived import Analysis
from tracebuf.analysis.one_shot.one_shot import one_shot
from tracebuf.errors import InternalError
from tracebuf.frozen import frozen
from tracebuf.ir.func import Func


@frozen()
class Trial:
    """The decisions for a program as it is now, and what they cost."""

    analysis: Analysis
    model: CostModel
    cost: Cost

    def is_cheaper(self, before: Trial) -> bool:
        """Whether it costs fewer bytes than `before`, and on no path more allocations or copies."""
        return self.cost < before.cost and not self.model.exceeds(self.cost, before.cost)


def tried(func: Func) -> Trial | None:
    """Analyses the program; None where an operand that must be in place cannot be: the next analysis says why."""
    try:
        analysis = one_shot(func)
    except InternalError:
        return None
    model = CostModel(analysis.flow)
    return Trial(analysis, model, model.cost(analysis))
