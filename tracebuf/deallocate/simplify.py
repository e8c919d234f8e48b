"""Simplifies `bufferization.dealloc`: in the usual case one unconditional single free per temporary is left.

Flags that can never be true are folded first (a loop that only passes on what it was given owns nothing), then each
dealloc, inner blocks before outer ones, loses false conditions and retained values that cannot share memory with what
it frees, and falls apart into independent ones. MLIR counterpart: BufferDeallocationSimplification.cpp.

Beyond MLIR: two memrefs in one dealloc can be the same buffer *and both owned* only if they came together, as results
of one op or as arguments of one block, because a buffer has one owner elsewhere; so only those are kept together. And
a memref that is retained hands its ownership to that retained value alone, not to others that may turn out to be the
same: one flag is enough, because the next dealloc asks about every memref in scope.
"""

from __future__ import annotations

from tracebuf.deallocate.facts import Flags, Origins, Sharing, entering, flow_blocks, leaving
from tracebuf.ir.core import Block, Op, Value
from tracebuf.ir.func import Func
from tracebuf.ir.types import I1
from tracebuf.ops.arrays import bufferization
from tracebuf.ops.control import scf
from tracebuf.ops.scalars.arith import constant_flag


def simplify_deallocs(func: Func) -> None:
    """Simplifies every bufferization.dealloc; drops unused flags of loops and branches."""
    origins, flags = Origins(), Flags(func)
    flows = [op for block in flow_blocks(func) for op in block.ops if isinstance(op, (scf.Loop, scf.If))]
    _fold_never_true(flows, origins, flags)
    for op in reversed(flows):
        for region in op.regions:
            _simplify_block(region.block, origins, flags)
        _drop_flags(op, flags, set(func.symbols.values()))
    _simplify_block(func.block, origins, flags)
    if _fold_always_true(flows, flags):
        for op in reversed(flows):
            _drop_flags(op, flags, set(func.symbols.values()))


def _fold_always_true(flows: list[scf.Loop | scf.If], flags: Flags) -> bool:
    """Folds flags that only the true constant flows into, round loops in loops; whether there are any."""
    values = (v for op in flows for v in (*op.results, *(a for r in op.regions for a in r.block.args)))
    found = [v for v in values if v.type is I1 and v.uses and _always_true(v)]
    for value in found:
        value.replace_all_uses(flags.constant(True))
    return bool(found)


def _always_true(flag: Value) -> bool:
    seen, work = {flag}, [flag]
    while work:
        value = work.pop()
        op = value.defining_op
        back = leaving(op, value.index) if isinstance(op, scf.Loop | scf.If) else None if op else entering(value)
        if back is None and constant_flag(value) is not True:
            return False
        work += [v for v in back or () if v not in seen]
        seen.update(back or ())
    return True


def _fold_never_true(flows: list[scf.Loop | scf.If], origins: Origins, flags: Flags) -> None:
    never: set[Value] = set()
    for op in flows:
        for value in (*op.results, *(a for r in op.regions for a in r.block.args)):
            if value.type is I1 and (value in never or _never_true(value, origins, never)):
                value.replace_all_uses(flags.constant(False))


def _never_true(flag: Value, origins: Origins, never: set[Value]) -> bool:
    """Whether no true constant and no i1 of unknown making flows into `flag`; what was visited then joins `never`."""
    seen, work = {flag}, [flag]
    while work:
        value = work.pop()
        back = _flag_sources(value, origins)
        if back is None:
            return False
        work += [v for v in back if v not in seen and v not in never]
        seen.update(back)
    never |= {v for v in seen if v.defining_op is None or v.defining_op.regions}
    return True


def _flag_sources(value: Value, origins: Origins) -> list[Value] | None:
    """The i1 values of which `value` is the disjunction at most; None where it may be true by itself."""
    op = value.defining_op
    if op is None:
        return entering(value)
    if isinstance(op, (scf.Loop, scf.If)):
        return leaving(op, value.index)
    if isinstance(op, bufferization.Dealloc):
        retained = op.retained[value.index]
        pairs = zip(op.memrefs, op.conditions, strict=True)
        return [c for m, c in pairs if origins.sharing(m, retained) is not Sharing.NO]
    return [] if constant_flag(value) is False else None


def _drop_flags(op: scf.Loop | scf.If, flags: Flags, pinned: set[Value]) -> None:
    """Folds i1 results that are the same constant on every path, and drops those without a user."""
    if isinstance(op, scf.While):
        op.fold_steady(same=lambda a, b: constant_flag(a) is not None and constant_flag(a) is constant_flag(b))
        op.drop(*op.dead(pinned))
        return
    for i in reversed(range(len(op.results))):
        result = op.results[i]
        if result.type is not I1:
            continue
        if isinstance(op, scf.For):
            init, arg, yielded = op.operand(3 + i), op.body.args[1 + i], op.body.terminator.operand(i)
            known = constant_flag(yielded)
            if known is not None and constant_flag(init) is known:
                arg.replace_all_uses(flags.constant(known))
                result.replace_all_uses(flags.constant(known))
            if not result.uses and all(u.op is op.body.terminator and u.index == i for u in arg.uses):
                op.body.terminator.uses[i].set(init)
                op.drop_carried(i)
        elif isinstance(op, scf.If):
            then, orelse = (constant_flag(b.terminator.operand(i)) for b in op.branches)
            if then is not None and then is orelse:
                result.replace_all_uses(flags.constant(then))
            if not result.uses:
                op.drop_result(i)


def _simplify_block(block: Block, origins: Origins, flags: Flags) -> None:
    if any(isinstance(op, bufferization.Dealloc) for op in block.ops):
        ops: list[Op] = []
        for op in block.ops:
            if isinstance(op, bufferization.Dealloc):
                _simplify(op, ops, origins, flags)
                op.drop_uses()
            else:
                ops.append(op)
        block.replace_ops(ops)


def _simplify(dealloc: bufferization.Dealloc, ops: list[Op], origins: Origins, flags: Flags) -> None:
    """Appends to `ops` the simplified `dealloc`, and replaces its results."""
    owned: dict[Value, list[Value]] = {}
    for m, c in zip(dealloc.memrefs, dealloc.conditions, strict=True):
        if constant_flag(c) is not False:
            owned.setdefault(m, []).append(c)
    conditions = {m: flags.any(cs, ops, dealloc.loc) for m, cs in owned.items()}
    sharing: dict[Value, list[tuple[int, Sharing]]] = {m: [] for m in owned}
    for i, r in enumerate(dealloc.retained):
        for m, near in sharing.items():
            if (s := origins.sharing(m, r)) is not Sharing.NO:
                near.append((i, s))
    parts: list[list[Value]] = [[] for _ in dealloc.results]
    for m, near in sharing.items():
        for i, s in near:
            if s is Sharing.MUST:
                parts[i].append(conditions[m])
    freed = [m for m, near in sharing.items() if all(s is not Sharing.MUST for _, s in near)]
    for group in _groups(freed, {m: [i for i, _ in sharing[m]] for m in freed}, origins):
        retained = sorted({i for m in group for i, _ in sharing[m]})
        kept = [dealloc.retained[i] for i in retained]
        new = bufferization.Dealloc.of(group, [conditions[m] for m in group], kept, dealloc.loc)
        ops.append(new)
        for i, result in zip(retained, new.results, strict=True):
            parts[i].append(result)
    for result, values in zip(dealloc.results, parts, strict=True):
        if result.uses:
            result.replace_all_uses(flags.any(values, ops, dealloc.loc))


def _groups(memrefs: list[Value], near: dict[Value, list[int]], origins: Origins) -> list[list[Value]]:
    """Splits memrefs where no two of different groups share a retained value or may both own one buffer."""
    leader = {m: m for m in memrefs}

    def find(m: Value) -> Value:
        while leader[m] is not m:
            leader[m] = leader[leader[m]]
            m = leader[m]
        return m

    first: dict[int, Value] = {}
    together: dict[Op | Block, list[Value]] = {}
    for m in memrefs:
        for i in near[m]:
            leader[find(m)] = find(first.setdefault(i, m))
        together.setdefault(m.owner, []).append(m)
    for siblings in together.values():
        for k, a in enumerate(siblings):
            for b in siblings[:k]:
                if origins.sharing(a, b) is not Sharing.NO:
                    leader[find(a)] = find(b)
    groups: dict[Value, list[Value]] = {}
    for m in memrefs:
        groups.setdefault(find(m), []).append(m)
    return list(groups.values())
