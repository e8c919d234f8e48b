"""One-Shot analysis: each tensor operand is in place unless that would make a write reach a read-only buffer or a read
see a later write. Greedy, one operand after the other, never revisited.

MLIR counterpart: OneShotAnalysis.cpp. With `compat="mlir"` the decisions are MLIR 22's; by default the rules of `parts`
are added, which know more pairs that do not conflict. Functions that call one another: `module`.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import chain, permutations
from typing import Literal, get_args

from tracebuf.analysis.one_shot.aliases import AliasSet, read_of
from tracebuf.analysis.one_shot.base import AnalysisError, Conflict
from tracebuf.analysis.one_shot.dataflow import Dataflow
from tracebuf.analysis.one_shot.derived import Analysis
from tracebuf.analysis.one_shot.indices import Indices
from tracebuf.analysis.one_shot.order import inner_first, post_order, within
from tracebuf.analysis.one_shot.parts import Parts
from tracebuf.analysis.one_shot.read_only_loops import only_read
from tracebuf.analysis.one_shot.rules import Rules
from tracebuf.analysis.one_shot.storages import Storages
from tracebuf.analysis.one_shot.unsaved import explained
from tracebuf.errors import InternalError
from tracebuf.ir.core import Op, Use, Value
from tracebuf.ir.func import Func
from tracebuf.ir.types import TENSORS, UnrankedTensorType
from tracebuf.ops.arrays import tensor
from tracebuf.ops.control import scf
from tracebuf.options import IMPROVEMENTS, Improvement

Heuristic = Literal["bottom-up", "top-down", "bottom-up-from-terminators", "insert-slice-first", "fuzzer"]
HEURISTICS: tuple[str, ...] = get_args(Heuristic)


_CONSTRAINED = "not bufferizable under the given constraints"


class _Sets(dict[Value, AliasSet]):
    """The alias set of each value, alone until it is asked for."""

    def __init__(self, make: Callable[[Value], AliasSet]) -> None:
        super().__init__()
        self._make = make

    def __missing__(self, value: Value) -> AliasSet:
        found = self[value] = self._make(value)
        return found


class OneShot(Analysis):
    """The decisions for one function."""

    __slots__ = ("_conflicts", "_in_place", "_read_only", "_sets", "checks_parallel", "rules")

    def __init__(self, flow: Dataflow, rules: Rules, *, check_parallel: bool = True) -> None:
        """`check_parallel`: no iteration of a parallel loop stores to what another may store to as well."""
        super().__init__(flow, rules.storages, rotates="rotation" in rules.improved)
        self.rules = rules
        self.checks_parallel = check_parallel and any(flow.order.parallel.values())
        self._in_place: dict[Use, None] = {}
        self._conflicts: dict[Use, Conflict] = {}
        self._read_only: dict[Use, list[Value]] = {}
        self._sets = _Sets(self._singleton)
        if "rotation" in rules.improved:
            self._expect_rotations()

    @property
    def improved(self) -> frozenset[Improvement]:
        """The improvements over MLIR that are made."""
        return self.rules.improved

    # -- answers
    def is_in_place(self, use: Use) -> bool:
        return use in self._in_place

    def in_place(self) -> list[Use]:
        return list(self._in_place)

    def conflict(self, use: Use) -> Conflict | None:
        return self._conflicts.get(use)

    def writes(self, use: Use) -> bool:
        """Beyond MLIR 22, loops that only read what they carry do not write it."""
        if not self.flow.writes(use):
            return False
        return "read-only-loops" not in self.rules.improved or not only_read(self.flow, self.rules.storages, use)

    def conflicts(self, use: Use) -> tuple[Conflict, ...]:
        """Searched for again among all decisions, each with the reason why no rule saved it."""
        if use not in self._conflicts:
            return ()
        found = dict.fromkeys(self._all_conflicts(use))
        return tuple(e for c in found for e in explained(self.rules, c)) or (self._conflicts[use],)

    def out_of_place(self) -> list[Use]:
        return list(self._conflicts)

    def read_only_met(self, use: Use) -> list[Value]:
        """The read-only buffers in the alias set of the operand's value, then those of each of its aliases, when the
        operand was left out of place."""
        return self._read_only.get(use, [])

    def may_alias(self, a: Value, b: Value) -> bool:
        """Whether both values may share memory."""
        return self._sets[a] is self._sets[b]

    # -- deciding
    def _singleton(self, value: Value) -> AliasSet:
        found = AliasSet(value)
        if not self.flow.is_writable(value):
            found.read_only.append(value)
        for use in value.uses:
            if self.flow.passes_read(use):
                found.is_read = True
                if (read := read_of(self.flow, use)) is not None:
                    found.add_read(read)
        return found

    def _expect_rotations(self) -> None:
        """A result of a loop may be in the buffer of another carried value that rotates to it: both are one alias set
        from the start."""
        for op in self.flow.func.walk():
            if isinstance(op, scf.Loop):
                for result, near in zip(op.results, self.rules.storages.reached(op), strict=True):
                    if result.is_tensor and near:
                        self._union(list({id(s): s for s in (self._sets[op.results[k]] for k in near)}.values()))

    def force(self, use: Use) -> None:
        """Marks an operand that must be in place; InternalError where that would change what the program computes (MLIR
        does not look). Where the op itself reads what it overwrites, that is copied."""
        if self.rules.parts is None:
            self._use_in_place(use)
        elif self.attempt(use) is not None:
            for conflict in self._all_conflicts(use):
                if conflict.read is None or conflict.read.op is not use.op or conflict.read is use:
                    raise InternalError(f"{use} must be in place, but {conflict}")
                self.leave(conflict.read, conflict)
            self._use_in_place(use)

    def decide(self, use: Use) -> None:
        """Puts the operand in place, or keeps the reason why not."""
        if use in self._conflicts:
            return
        if (conflict := self.attempt(use)) is not None:
            self._conflicts[use] = conflict
            if conflict.read_only is not None:
                values = [use.value, *(a.value for a in self.flow.aliasing_values(use))]
                self._read_only[use] = [value for v in values for value in self._sets[v].read_only]

    def leave(self, use: Use, conflict: Conflict) -> None:
        """Leaves the operand out of place, for a reason that the caller gives."""
        self._conflicts[use] = conflict

    def again(self) -> OneShot:
        """One-Shot over the same function by the same rules, before its first decision."""
        return OneShot(self.flow, self.rules, check_parallel=self.checks_parallel)

    def without(self, improvement: Improvement) -> OneShot:
        """One-Shot over the same function without this improvement, before its first decision."""
        rules = replace(self.rules, improved=self.rules.improved - {improvement})
        return OneShot(self.flow, rules, check_parallel=self.checks_parallel)

    def run(self, heuristic: str, seed: int = 0, *, branches: bool = True) -> OneShot:
        """Decides all in one order; what must be in place comes first."""
        self.force_all(branches=branches)
        if self.rules.parts is None:
            self._check_forced()
        for op in ordered(self.flow.func, heuristic, seed):
            for use in op.tensor_uses():
                if not self.is_in_place(use):
                    self.decide(use)
        return self

    def force_all(self, *, branches: bool = True) -> OneShot:
        """Puts in place what must be. `branches`: what an scf.if yields as well, as in MLIR; else a branch may copy."""
        for op in post_order(self.flow.func):
            for use in op.tensor_uses():
                if self.must_be_in_place(use, branches=branches):
                    self.force(use)
        return self

    def must_be_in_place(self, use: Use, *, branches: bool = True) -> bool:
        """Whether there is no choice; there is none either for unranked tensors, which cannot be copied. `branches`:
        what an scf.if yields must be in place too."""
        if not branches and isinstance(use.op.parent_op, scf.If):
            return False
        if self.rules.parts is None and isinstance(use.op, tensor.ParallelInsertSlice):
            return False  # MLIR 22 has a choice there, and may lose what is stored
        unranked = isinstance(use.value.type, UnrankedTensorType)
        return self.flow.is_known(use.op) and (unranked or use.op.must_bufferize_in_place(use))

    def _check_forced(self) -> None:
        """AnalysisError where what must be in place conflicts already (MLIR: checkPreBufferizationAssumptions). Test:
        test_what_must_be_in_place_may_conflict."""
        if not any(s.n_writes for s in self._sets.values()):
            return
        for op in post_order(self.flow.func):
            for use in op.tensor_uses() if self.flow.is_known(op) else ():
                sets = self._joint(use)
                reads, writes = [r for s in sets for r in s.reads], [w for s in sets for w in s.writes()]
                shared = self._shared_writes(None, sets) if self.checks_parallel else ()
                if any(self.rules.conflict(r, w) for r in reads for w in writes) or any(shared):
                    raise AnalysisError(f"'{op.name}' op {_CONSTRAINED}: cannot avoid RaW conflict", op.loc)
                if self.is_in_place(use) and writes and any(s.read_only for s in sets):
                    raise AnalysisError(f"'{op.name}' op {_CONSTRAINED}: would write to read-only buffer", op.loc)

    def attempt(self, use: Use) -> Conflict | None:
        """Puts the operand in place if it may be; else the reason why not."""
        sets = self._joint(use)
        conflict = next(self._conflicts_with(use, sets), None)
        if conflict is None:
            self._use_in_place(use, sets)
        return conflict

    def _joint(self, use: Use) -> list[AliasSet]:
        """The alias sets that become one where the operand is in place."""
        sets = [self._sets[use.value]]
        for alias in self.flow.aliasing_values(use):
            if (near := self._sets[alias.value]) not in sets:
                sets.append(near)
        return sets

    def would_conflict(self, use: Use) -> Conflict | None:
        """Why the operand may not be in place, given what is; None if it may."""
        return next(self._all_conflicts(use), None)

    def _all_conflicts(self, use: Use) -> Iterator[Conflict]:
        """Every reason, lazily: the first is found without looking for others."""
        return self._conflicts_with(use, self._joint(use))

    def _conflicts_with(self, use: Use, sets: list[AliasSet]) -> Iterator[Conflict]:
        write = use if self.writes(use) else None
        yield from self._stores_to_read_only(write, sets)
        if self.checks_parallel:
            yield from self._shared_writes(write, sets)
        yield from self._conflicts_of(write, sets)

    def _stores_to_read_only(self, write: Use | None, sets: list[AliasSet]) -> Iterator[Conflict]:
        """Writes where a buffer must not be stored to."""
        read_only = [value for s in sets for value in s.read_only]
        if read_only:
            for w in chain([] if write is None else [write], (w for s in sets for w in s.writes())):
                if self.may_reach_read_only(w):
                    yield from (Conflict("not writable", w, read_only=value) for value in read_only)

    def _shared_writes(self, write: Use | None, sets: list[AliasSet]) -> Iterator[Conflict]:
        """Writes in a parallel region to a buffer from outside of it, unless it is never read (MLIR behaviour 32).
        Test: test_parallel_iterations_have_buffers_of_their_own."""
        if not any(s.is_read for s in sets):
            return
        region = self.flow.order.parallel_region
        for w in chain([] if write is None else [write], (w for s in sets for w in s.writes())):
            for source in self.flow.chain(w, self.flow.defines, leaves=True):
                if region(source) is not region(w.op):
                    yield Conflict("parallel", w, definition=source)

    def may_reach_read_only(self, write: Use) -> bool:
        """Whether a write in an alias set with a read-only buffer may be to such a one: a path may have put a buffer
        that is read and one that is written to under one name (rule S8). MLIR takes it that it is."""
        if self.rules.parts is None:
            return True
        return not all(self.flow.is_writable(root) for root in self.rules.storages.of(write.value))

    def _conflicts_of(self, write: Use | None, sets: list[AliasSet]) -> Iterator[Conflict]:
        """Conflicts between the operand as a write and all reads, and between reads and writes whose alias sets would
        be merged. Those of one set were tested when it was merged."""
        if write is not None:
            for s in sets:
                for read in s.reads_near(self.flow, write):
                    if (found := self.rules.conflict(read, write)) is not None:
                        yield found
        for s, t in permutations(sets, 2):
            if len(s.reads) <= t.n_writes:
                pairs = ((read, w) for read in s.reads for w in t.writes_near(read))
            else:
                pairs = ((read, w) for w in t.writes() for read in s.reads_near(self.flow, w))
            for read, w in pairs:
                if (found := self.rules.conflict(read, w)) is not None:
                    yield found

    def _use_in_place(self, use: Use, sets: list[AliasSet] | None = None) -> None:
        """`sets`: those that become one, if they are known."""
        self._in_place[use] = None
        joint = self._union(self._joint(use) if sets is None else sets)
        if self.writes(use):
            joint.add_write(self.flow, use)

    def _union(self, sets: list[AliasSet]) -> AliasSet:
        joint = max(sets, key=lambda s: len(s.values))
        for other in sets:
            if other is not joint:
                joint.absorb(other)
                self._sets.update(dict.fromkeys(other.values, joint))
        return joint


def undecided(
    func: Func,
    compat: str | None = None,
    improvements: frozenset[Improvement] = IMPROVEMENTS,
    *,
    flow: Dataflow | None = None,
    check_parallel: bool = True,
) -> OneShot:
    """One-Shot before its first decision: nothing is in place."""
    flow = Dataflow(func, as_mlir=compat is not None) if flow is None else flow
    improved = improvements if compat is None else frozenset[Improvement]()
    parts = Parts(flow) if compat is None else None
    rules = Rules(flow, parts, Storages(flow), Indices(func) if parts is None else parts.indices, improved)
    return OneShot(flow, rules, check_parallel=check_parallel)


def one_shot(
    func: Func,
    *,
    heuristic: str = "bottom-up",
    seed: int = 0,
    compat: str | None = None,
    improvements: frozenset[Improvement] = IMPROVEMENTS,
    flow: Dataflow | None = None,
    check_parallel: bool = True,
) -> OneShot:
    """Decides for every tensor operand of `func`, with the facts of `flow` if given.

    `heuristic`: the order of decisions, one of HEURISTICS; `seed` shuffles for "fuzzer". `compat="mlir"` decides as
    MLIR 22, by default with these improvements. Raises ValueError for another heuristic; InternalError where an operand
    that must be in place (the destination of materialize_in_destination) cannot be.
    """
    return undecided(func, compat, improvements, flow=flow, check_parallel=check_parallel).run(heuristic, seed)


def ordered(func: Func, heuristic: str, seed: int = 0) -> list[Op]:
    """The ops with tensor operands in the order in which they are decided (MLIR behaviour 1)."""
    ops = [op for op in post_order(func) if op.tensor_uses()]
    if heuristic == "bottom-up":
        return ops[::-1]
    if heuristic == "top-down":
        return ops
    if heuristic == "fuzzer":
        return fuzzed(func, seed)
    if heuristic == "insert-slice-first":
        first: dict[Op, None] = {op: None for op in ops[::-1] if isinstance(op, tensor.InsertSlice)}
    elif heuristic == "bottom-up-from-terminators":
        first = from_terminators(func)
        ops = [op for op in inner_first(func) if op.tensor_uses()][::-1]
    else:
        raise ValueError(f"heuristic is one of {', '.join(HEURISTICS)}, not {heuristic!r}")
    return [*first, *(op for op in ops[::-1] if op not in first)]


def fuzzed(func: Func, seed: int) -> list[Op]:
    """Shuffles ops as MLIR's fuzzer does, so that a seed gives the same order: each op in turn is swapped with one of
    the rest, drawn by std::mt19937. Ops that make tensors take part, and the function itself if it has any."""
    words, index = [seed & 0xFFFFFFFF], 624
    for i in range(1, index):
        words.append((1812433253 * (words[-1] ^ (words[-1] >> 30)) + i) & 0xFFFFFFFF)
    generator = random.Random()
    generator.setstate((3, (*words, index), None))
    shuffled: list[Op | None] = [op for op in post_order(func) if any(v.is_tensor for v in (*op.operands, *op.results))]
    if any(isinstance(t, TENSORS) for t in (*(a.type for a in func.args), *func.result_types)):
        shuffled.append(None)
    for i in range(len(shuffled) - 1):
        j = i + generator.getrandbits(32) % (len(shuffled) - i)
        shuffled[i], shuffled[j] = shuffled[j], shuffled[i]
    return [op for op in shuffled if op is not None]


def from_terminators(func: Func) -> dict[Op, None]:
    """Ops that terminators' operands come from, each terminator of a region followed back within its region."""
    found: dict[Op, None] = {}
    for terminator in post_order(func):
        leaves = terminator.terminator and not terminator.successors
        if not leaves or terminator in found or terminator.block is None:
            continue
        found[terminator] = None
        values = [v for v in terminator.operands if v.is_tensor]
        while values:
            value = values.pop()
            op = value.defining_op
            if op is None or op in found:
                continue
            found[op] = None
            if within(op, terminator.block.region) is not None:
                values += [use.value for use, _, _ in op.aliasing_uses(value)]
    return found
