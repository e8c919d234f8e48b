"""`strategy="optimal"`: the decisions of least cost under the cost model, by branch and bound, with a certificate.

Decisions are legal if no *core* is in place as a whole: operands that cannot all be. One-Shot itself, told what to put
in place, meets a conflict, and the operands that lead to it are a core. Each branch puts one operand of a core out of
place and commits those before it to be in place. What goes out of place costs at least what it costs by itself, and of
cores without a common operand each costs its cheapest one; where that is not below the best found, the branch ends.
More in place is cheaper, but not where a loop could hand on a new buffer and must copy the old: there both are tried.
Values that can share no buffer are solved separately. MLIR has no counterpart.
"""

from __future__ import annotations

from dataclasses import replace

from tracebuf.analysis.cost.certificate import CLOSE, Certificate, Node, Search, conflicts_alone
from tracebuf.analysis.cost.cost import CostModel
from tracebuf.analysis.cost.problem import Assigned, Effort, Problem, Uses, components
from tracebuf.analysis.cost.several_orders import ORDERS
from tracebuf.analysis.one_shot.base import Conflict
from tracebuf.analysis.one_shot.one_shot import OneShot, ordered, undecided
from tracebuf.ir.func import Func
from tracebuf.ops.control import scf
from tracebuf.options import IMPROVEMENTS, Improvement

NODES = 1_000
"""The most branches visited, for the whole function; then the best so far is taken, not proved."""
ATTEMPTS = 50_000
"""The most operands that the analysis tries to put in place, for one function likewise, with the costs it asks for."""


class Optimal(OneShot):
    """Decisions with their certificate."""

    __slots__ = ("certificate",)
    certificate: Certificate


def optimal(
    func: Func, improvements: frozenset[Improvement] = IMPROVEMENTS, *, nodes: int = NODES, start: OneShot | None = None
) -> Optimal:
    """The cheapest decisions, if they are found within so many nodes; else the best found (`certificate.proved`).

    Where loops may rotate buffers, their results are taken to share them from the start (rule S9), which may cost more
    than it saves; so the search also runs without rotation.
    """
    start = undecided(func, improvements=improvements) if start is None else start
    effort = Effort(ATTEMPTS)
    best = _optimum(start, nodes, effort)
    if not start.rotates or not rotations(start):
        return best
    best, second = sorted((best, _optimum(start.without("rotation"), nodes, effort)), key=lambda o: o.certificate.cost)
    a, b = best.certificate, second.certificate
    least = min(a.lower_bound, b.lower_bound)
    proved = least >= a.cost * (1 - CLOSE)
    best.certificate = replace(a, lower_bound=least, nodes=a.nodes + b.nodes, proved=proved, beside=b)
    return best


def rotations(start: OneShot) -> bool:
    """Whether a loop's result may be in the buffer of another initial value than its own."""
    loops = (op for op in start.flow.func.walk() if isinstance(op, scf.Loop))
    return any(len(near) > 1 for loop in loops for near in start.storages.reached(loop))


def _optimum(start: OneShot, nodes: int, effort: Effort) -> Optimal:
    """The cheapest decisions by the rules of `start`, found within so many nodes or not."""
    model = CostModel(start.flow)
    singles = _singles(start)
    best = min((_out(start.again().run(order)) for order in ORDERS), key=lambda out: model.cost(Assigned(start, out)))
    groups = components(start)
    whole = Problem(start, model, [u for group in groups for u in group], frozenset())
    open_uses = {u for _, savers in whole.costs(singles)[2] for u in savers}
    searches: list[Search] = []
    for group in groups:
        mine = frozenset(group)
        problem = Problem(start, model, group, best - mine, effort)
        if mine.isdisjoint(open_uses) and problem.conflict(singles & mine) is None:
            best -= mine - singles
            continue
        found, out = _search(problem, singles & mine, best & mine, nodes - sum(s.nodes for s in searches))
        searches.append(found)
        best = best - mine | out
    return _decided(start, model, best, tuple(searches))


def _singles(start: OneShot) -> Uses:
    """The operands that conflict alone, whatever is decided."""
    alone = start.again().force_all(branches=False)
    uses = (u for op in ordered(start.flow.func, ORDERS[0]) for u in op.tensor_uses())
    return frozenset(u for u in uses if not alone.is_in_place(u) and conflicts_alone(alone, u))


def _out(analysis: OneShot) -> Uses:
    uses = (u for op in analysis.flow.func.walk() for u in op.tensor_uses())
    return frozenset(u for u in uses if not analysis.is_in_place(u))


def _search(problem: Problem, singles: Uses, best: Uses, limit: int) -> tuple[Search, Uses]:
    """The search in one component, and what is best out of place."""
    root = Node(singles, frozenset())
    _find_cores(problem, root)
    cost, nodes = problem.costs(best)[0], 0
    stack = [(root, problem.least(root.out, root.kept, problem.packing(root.out, root.kept))[0])]
    while stack and nodes < limit and not problem.effort.is_spent:
        node, _ = stack.pop()
        nodes += 1
        node.packed = problem.packing(node.out, node.kept)
        least, left = problem.least(node.out, node.kept, node.packed)
        if least >= cost * (1 - CLOSE):
            continue
        core = _core(problem, node)
        if core is None:
            total, _, parts = problem.costs(node.out)
            if total < cost:
                cost, best = total, node.out
            if least >= cost * (1 - CLOSE):
                continue
        near = {u for _, savers in parts for u in savers} if core is None else core
        branch = tuple(sorted((u for u in problem.uses if u in near - node.kept), key=problem.alone))
        children = node.split(branch, core)
        bounds = [least + left.get(use, 0.0) for use in branch] + [least] * (len(children) - len(branch))
        for use, bound, child in zip(branch, bounds, children, strict=False):
            if bound >= cost * (1 - CLOSE):
                child.packed = tuple(c for c in node.packed if use not in c)
                child.closed = True
        stack += [(child, bound) for child, bound in zip(reversed(children), reversed(bounds)) if not child.closed]
    return Search(problem, root, cost, min((cost, *(bound for _, bound in stack))), nodes), best


def _find_cores(problem: Problem, root: Node) -> None:
    """Cores without a common operand, as many as there are one after another."""
    out = root.out
    while not problem.effort.is_spent and (found := problem.conflict(out)) is not None:
        problem.cores.append(found[0])
        out |= found[0]


def _core(problem: Problem, node: Node) -> Uses | None:
    """A core that is in place as a whole, the fewer operands to choose from the better; None if all is legal."""
    known = problem.violated(node.out)
    if known:
        return min(known, key=lambda core: len(core - node.kept))
    if (found := problem.conflict(node.out)) is None:
        return None
    problem.cores.append(found[0])
    return found[0]


def _decided(start: OneShot, model: CostModel, out: Uses, searches: tuple[Search, ...]) -> Optimal:
    decided = Optimal(start.flow, start.rules, check_parallel=start.checks_parallel)
    decided.force_all(branches=False)
    uses = [u for op in ordered(start.flow.func, ORDERS[0]) for u in op.tensor_uses()]
    for use in uses:
        if use not in out and not decided.is_in_place(use):
            decided.force(use)
    conflicts = {u: decided.conflict(u) or decided.would_conflict(u) or Conflict("dearer", u) for u in uses if u in out}
    for use, conflict in conflicts.items():
        decided.leave(use, conflict)
    cost, gap = model.cost(decided).bytes, sum(s.cost - s.least for s in searches)
    nodes = sum(s.nodes for s in searches)
    decided.certificate = Certificate(cost, cost - gap, nodes, gap <= cost * CLOSE, conflicts, decided, searches)
    return decided
