"""Ownership-based deallocation: a `bufferization.dealloc` ends each block, with conditions and retained values.

A block owns the buffers that it allocates and those that its ops with regions hand over; it frees what it owns and does
not pass on. Ownership is an i1 beside each memref that leaves a region (an extra iter_arg and result of a loop, an
extra result of scf.if); a loop takes over an initial value, with its owner's flag, where only the loop uses it from
there on, and so does an scf.if (handover.py). Other initial values are passed with false, and no function argument is
ever owned. The function itself is private with dynamic ownership (rule B3): a result may be an argument's buffer,
nothing is cloned, and the caller tells by the base pointer. A function that it calls gives its results to the caller.

In structured control flow the ownership lattice (uninitialized < unique i1 < unknown) never joins: a memref has one
block, and where two flows meet the i1 of the merged value is an SSA value of its own. So a memref is either unowned in
a block or has one flag. MLIR counterpart: OwnershipBasedBufferDeallocation.cpp; no unstructured branches, no calls.
"""

from __future__ import annotations

from tracebuf.deallocate.facts import CHOICES, GIVING_OPS, Flags, Origins, Sharing
from tracebuf.deallocate.handover import handed_over, handed_to_branches
from tracebuf.errors import UnsupportedError
from tracebuf.ir.core import Block, Effect, Op, Use, Value, is_buffer
from tracebuf.ir.func import Func
from tracebuf.ir.types import I1, MemRefType
from tracebuf.ir.unknown import UnknownOp
from tracebuf.ops.arrays import bufferization, linalg
from tracebuf.ops.control import scf
from tracebuf.ops.control.func import Call, TracedCall
from tracebuf.ops.memory import memref
from tracebuf.ops.scalars.arith import constant_flag

FOLLOWED = (*GIVING_OPS, *memref.VIEW_OPS, memref.GetGlobal, *CHOICES)
"""Ops whose results are buffers of their own, another value's, or nobody's to free."""


def insert_deallocs(func: Func) -> None:
    """Inserts deallocs into every block of a memref program. Raises UnsupportedError, before anything is changed, for a
    program in which it could not tell who owns a buffer: with branches between blocks, frees, calls, unknown ops."""
    for op in func.walk():
        reason = why_not(op)
        if reason:
            raise UnsupportedError(f"{op.name}: {reason}: no frees are inserted", location=op.loc)
    if func.attrs.get("called"):
        _own_results(func)
    _free_at_end(func.block, {}, Flags(func), Origins())


def _own_results(func: Func) -> None:
    """Clones the results of a function that another one calls where they may be buffers that it does not make, or one
    buffer: the caller owns each."""
    end, kept = func.block.terminator, list[Value]()
    for use in end.uses:
        if isinstance(use.value.type, MemRefType):
            _own_on_each_path(use)
    origins = Origins()
    for use in end.uses:
        if isinstance(use.value.type, MemRefType):
            if all(origins.sharing(use.value, v) is Sharing.NO for v in kept):
                kept.append(use.value)
            else:
                _clone(use)


def _own_on_each_path(use: Use) -> None:
    """Clones what leaves a block where it may be a buffer that the function does not make: in the branches of an `if`
    that gives it for this use alone, those that need it."""
    if all(isinstance(v.defining_op, GIVING_OPS) for v in Origins().of(use.value)):
        return
    op = use.value.defining_op
    if isinstance(op, scf.If) and len(use.value.uses) == 1:
        for block in op.branches:
            _own_on_each_path(block.terminator.uses[use.value.index])
    else:
        _clone(use)


def _clone(use: Use) -> None:
    block = use.op.block
    assert isinstance(block, Block)
    clone = bufferization.Clone.of(use.value, use.op.loc)
    block.insert(block.op_index(use.op), clone)
    use.set(clone.result)


def why_not(op: Op) -> str:
    """Why ownership cannot be followed through an op; the empty string where it can."""
    if op.successors:
        return "branches between blocks pass buffers on in ways that are not followed"
    if (effects := op.effects()) and any(effect is Effect.FREE for effect, _ in effects):
        return "the program frees already"
    if isinstance(op, UnknownOp | Call) and not isinstance(op, TracedCall):  # whose buffers are the caller's
        return "what it does with buffers is not known"
    flow = isinstance(op, scf.For | scf.While | scf.If | linalg.DestinationOp)
    if op.regions and (not flow or any(len(r.blocks) != 1 for r in op.regions)):
        return "buffers are not followed through its regions"
    if any(map(is_buffer, op.results)) and not (flow or isinstance(op, FOLLOWED)):
        return "it is not known who owns the buffer that it gives"
    return ""


def _free_at_end(block: Block, owned: dict[Value, Value], flags: Flags, origins: Origins) -> list[Value]:
    """Frees what `block` owns (memref to i1, extended here); the ownership of each memref its terminator passes."""
    for op in list(block.ops):
        if isinstance(op, GIVING_OPS) and not isinstance(op, memref.Alloca):
            owned.update((v, flags.constant(True)) for v in op.results if isinstance(v.type, MemRefType))
        elif isinstance(op, scf.For):
            owned.update(_loop(op, _entry_flags(op, owned, flags, origins), flags, origins))
        elif isinstance(op, scf.While):
            owned.update(_while(op, _entry_flags(op, owned, flags, origins), flags, origins))
        elif isinstance(op, scf.If):
            given = {base: owned.pop(base) for base in handed_to_branches(op, owned, origins)}
            owned.update(_branches(op, given, flags, origins))
    end = block.terminator
    passed = [v for v in end.operands if isinstance(v.type, MemRefType)]
    retained = list(dict.fromkeys(passed))
    if not owned:
        return [flags.constant(False) for _ in passed]
    dealloc = bufferization.Dealloc.of(list(owned), list(owned.values()), retained, end.loc)
    block.insert(len(block.ops) - 1, dealloc)
    flag = dict(zip(retained, dealloc.results, strict=True))
    return [flag[v] for v in passed]


def _entry_flags(op: scf.Loop, owned: dict[Value, Value], flags: Flags, origins: Origins) -> list[Value]:
    """The flag of each memref among the initial values; what is handed over leaves `owned`."""
    given = handed_over(op, owned, origins)
    found = [u.index for u in op.inits if isinstance(u.value.type, MemRefType)]
    return [owned.pop(given[k]) if k in given else flags.constant(False) for k in found]


def _loop(op: scf.For, entering: list[Value], flags: Flags, origins: Origins) -> dict[Value, Value]:
    """Adds a flag for each memref that the loop carries: to the body's arguments, the yield, and the results."""
    carried = [i for i, r in enumerate(op.results) if isinstance(r.type, MemRefType)]
    inside = {op.body.args[1 + i]: op.body.add_arg(I1) for i in carried}
    for value in entering:
        _add_operand(op, value)
    for value in _free_at_end(op.body, inside, flags, origins):
        _add_operand(op.body.terminator, value)
    return {op.results[i]: _add_result(op) for i in carried}


def _while(op: scf.While, entering: list[Value], flags: Flags, origins: Origins) -> dict[Value, Value]:
    """Adds a flag for each memref that the loop carries, forwards or returns: to the arguments of both regions, what
    ends them, and the results."""
    carried = [a for a in op.before.args if isinstance(a.type, MemRefType)]
    forwarded = [a for a in op.after.args if isinstance(a.type, MemRefType)]
    results = [r for r in op.results if isinstance(r.type, MemRefType)]
    for block, args in ((op.before, carried), (op.after, forwarded)):
        for value in _free_at_end(block, {a: block.add_arg(I1) for a in args}, flags, origins):
            _add_operand(block.terminator, value)
    for value in entering:
        _add_operand(op, value)
    return {r: _add_result(op) for r in results}


def _branches(op: scf.If, given: dict[Value, Value], flags: Flags, origins: Origins) -> dict[Value, Value]:
    """Adds a flag for each memref among the results that a branch may own; each branch owns what is `given`."""
    passed = [_free_at_end(block, dict(given), flags, origins) for block in op.branches]
    found = dict[Value, Value]()
    for result, *ownership in zip([r for r in op.results if isinstance(r.type, MemRefType)], *passed, strict=True):
        if any(constant_flag(flag) is not False for flag in ownership):
            for block, flag in zip(op.branches, ownership, strict=True):
                _add_operand(block.terminator, flag)
            found[result] = _add_result(op)
    return found


def _add_operand(op: Op, value: Value) -> None:
    op.uses.append(Use(op, len(op.uses), value))


def _add_result(op: Op) -> Value:
    value = Value(I1, op, len(op.results))
    op.results.append(value)
    return value
