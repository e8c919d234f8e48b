"""The certificate of an optimal strategy: the cost, a lower bound, and the search tree that proves it, which can be
checked again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field
from itertools import product

from tracebuf.analysis.cost.cost import CostModel
from tracebuf.analysis.cost.problem import Problem, Uses
from tracebuf.analysis.one_shot.aliases import Classes, read_of
from tracebuf.analysis.one_shot.base import Conflict
from tracebuf.analysis.one_shot.chosen import illegal
from tracebuf.analysis.one_shot.one_shot import OneShot
from tracebuf.errors import InternalError
from tracebuf.frozen import frozen, plain
from tracebuf.ir.core import Use

CLOSE = 1e-9
"""The part of a cost by which sums may be off."""


@plain(eq=True, slots=True)
class Node:
    """Decisions with `out` out of place and `kept` in place. If it has children: in turn, each operand of `branch` goes
    out of place and those before it are kept; unless `branch` is what is left of a `core`, the last child keeps them
    all. If it has none, no such decisions cost less than the best, as the cores in `packed` show."""

    out: Uses
    kept: Uses
    branch: tuple[Use, ...] = ()
    core: Uses | None = None
    packed: tuple[Uses, ...] = ()
    closed: bool = False
    """Not visited: the bound of its parent excludes it."""
    children: list[Node] = field(default_factory=list)

    def split(self, branch: tuple[Use, ...], core: Uses | None) -> list[Node]:
        """Sets the children."""
        self.branch, self.core = branch, core
        self.children = [Node(self.out | {u}, self.kept | set(branch[:i])) for i, u in enumerate(branch)]
        if core is None:
            self.children.append(Node(self.out, self.kept | set(branch)))
        return self.children


@frozen()
class Search:
    """One component's search: the operands that are out of place whatever is decided begin at the root. `least`: a
    bound of the costs (of the whole program, where other components are as they were taken)."""

    problem: Problem
    root: Node
    cost: float
    least: float
    nodes: int


@frozen(slots=False)
class Certificate:
    """`cost` and `lower_bound` in bytes under the cost model: equal where `proved`, else the search ended at its limit
    of nodes. `conflicts`: for each operand out of place, what would go wrong if it were in place beside the others
    (rule "dearer": it would only cost more)."""

    cost: float
    lower_bound: float
    nodes: int
    proved: bool
    conflicts: dict[Use, Conflict]
    analysis: OneShot = field(repr=False)
    searches: tuple[Search, ...] = field(repr=False)
    beside: Certificate | None = field(repr=False, default=None)
    """The certificate of the other search, with loops that rotate buffers or without: no cheaper than this one."""

    def __str__(self) -> str:
        said = "proved to be the least" if self.proved else f"not proved: at least {self.lower_bound:.0f}"
        return f"cost {self.cost:.0f} (bytes under the cost model), {said} ({self.nodes} nodes searched)"

    def as_text(self) -> str:
        """The summary line, and each operand out of place with its conflict."""
        lines = [f"  operand {u.index} of {u.op.name}: {c}" for u, c in self.conflicts.items()]
        return "\n".join([str(self), *lines])

    def check(self) -> None:
        """Checks everything again: that the decisions are legal, pair by pair and without One-Shot's index; what they
        cost; and, where `proved`, that the searches leave nothing out that costs less. Raises InternalError otherwise.
        """
        analysis = self.analysis
        if wrong := [*illegal_pairs(analysis), *illegal(analysis)]:
            raise InternalError(f"the decisions are not legal: {wrong[0]}")
        out = {u for op in analysis.flow.func.walk() for u in op.tensor_uses() if not analysis.is_in_place(u)}
        if out != self.conflicts.keys():
            raise InternalError("the certificate is of other decisions")
        if (cost := CostModel(analysis.flow).cost(analysis).bytes) != self.cost:
            raise InternalError(f"the decisions cost {cost}, not {self.cost}")
        if self.beside is not None:
            self.beside.check()
            if min(self.cost, self.beside.lower_bound) < self.lower_bound:
                raise InternalError("decisions by the other rules may be cheaper")
        if self.proved:
            self._check_rest()
            for search in self.searches:
                check_search(search)

    def _check_rest(self) -> None:
        """Checks what was not searched: only operands that conflict alone are out of place, and no other could save
        anything."""
        analysis, searched = self.analysis, {u for s in self.searches for u in s.problem.uses}
        alone = analysis.again().force_all(branches=False)
        if any(not conflicts_alone(alone, use) for use in self.conflicts if use not in searched):
            raise InternalError("an operand is out of place that was not searched for")
        uses = [u for op in analysis.flow.func.walk() for u in op.tensor_uses()]
        whole = Problem(analysis.again(), CostModel(analysis.flow), uses, frozenset())
        parts = whole.costs(frozenset(self.conflicts))[2]
        if any(not savers <= searched for _, savers in parts):
            raise InternalError("something could be saved that was not searched for")


def conflicts_alone(begun: OneShot, use: Use) -> bool:
    """Whether an operand is out of place though nothing else is in place but what must be."""
    return begun.conflict(use) is not None or begun.would_conflict(use) is not None


def check_search(search: Search) -> None:
    """InternalError unless the search leaves no cheaper decisions."""
    problem, work, seen = search.problem, [search.root], set[Uses]()
    for use in search.root.out:
        if not problem.must_be_out(use):
            _check_core(problem, frozenset((use,)), seen)
    while work:
        node = work.pop()
        if not node.children and node.core is None:
            for core in node.packed:
                _check_core(problem, core, seen)
            if any(core & node.out for core in node.packed) or len(node.packed) > len(set(node.packed)):
                raise InternalError("cores of a bound are out of place, or counted twice")
            if problem.least(node.out, node.kept, node.packed)[0] < search.cost * (1 - CLOSE):
                raise InternalError("a branch may have cheaper decisions")
            continue
        again = Node(node.out, node.kept)
        if node.core is not None:
            _check_core(problem, node.core, seen)
            if node.core - node.kept != set(node.branch):
                raise InternalError("a branch leaves out an operand of its core")
        if [(n.out, n.kept) for n in again.split(node.branch, node.core)] != [(n.out, n.kept) for n in node.children]:
            raise InternalError("a branch leaves out decisions")
        work += node.children


def _check_core(problem: Problem, core: Uses, seen: set[Uses]) -> None:
    if core not in seen and not problem.is_core(core):
        raise InternalError("operands that may all be in place are taken for a core")
    seen.add(core)


def illegal_pairs(analysis: OneShot) -> Iterator[Conflict]:
    """Every read and write in place of buffers that may be one, and every write to a read-only one: the conflicts."""
    flow, classes = analysis.flow, Classes()
    uses = [use for op in flow.func.walk() for use in op.tensor_uses()]
    for use in uses:
        if analysis.is_in_place(use):
            for alias in flow.aliasing_values(use):
                classes.union(use.value, alias.value)
    writes = [use for use in uses if analysis.is_in_place(use) and analysis.writes(use)]
    reads = [read for use in uses if flow.passes_read(use) and (read := read_of(flow, use)) is not None]
    for read, write in product(reads, writes):
        if classes.find(read.use.value) is classes.find(write.value):
            copied = read.use.op is write.op and not analysis.is_in_place(read.use)
            if copied and analysis.must_be_in_place(write):  # what it reads is copied before
                continue
            if (found := analysis.rules.conflict(read, write)) is not None:
                yield found
    read_only = [v for v in {u.value: None for u in uses} if not flow.is_writable(v)]
    for value, write in product(read_only, writes):
        if classes.find(value) is classes.find(write.value) and analysis.may_reach_read_only(write):
            yield Conflict("not writable", write, read_only=value)
