"""What a called function of NumPy's makes for its result takes the place of the buffer that it would be copied into.

NumPy gives an array that nobody else has; one more of that size beside it, and a copy, is what eager NumPy does not
need. So a buffer whose first use is to be such a result is not allocated: the call gives its memory (`given`; of the
call, `gives`), which is an array from then on, freed or returned as any other. Native code makes a buffer, and copies,
where what it is given is not as it should be: a view, of another order of axes, still held by somebody, or shorter than
the buffer (`np.unique`); the buffer is made when the function has returned then, and has given up its own temporaries.

Not for functions of the user's, which may keep what they give, nor where one free may free this buffer or one of the
arena. No MLIR counterpart. Runs before assign-storage, which makes what is given an array.
"""

from __future__ import annotations

from tracebuf.ir.core import Block, Op
from tracebuf.ir.func import Func
from tracebuf.ops.arrays.host import HostCall
from tracebuf.ops.memory import memref
from tracebuf.running.host import HostFunction, Put


def take_results(func: Func) -> None:
    """Sets `given` of allocations, and moves them to the calls, of which it sets `gives`."""
    for op in list(func.walk()):
        if isinstance(op, HostCall) and isinstance(op.callee, HostFunction):
            gives = [k for k in _own_results(op.callee) if k in op.attrs["unread"] and _is_first(op, k)]
            for k in gives:
                alloc = op.operand(op.n_ins + k).owner
                assert isinstance(alloc, memref.Alloc) and op.block is not None
                alloc.attrs["given"] = True
                op.block.remove(alloc)
                op.block.insert_before(op, alloc)
            if gives:
                op.attrs["gives"] = tuple(gives)


def _own_results(callee: HostFunction) -> list[int]:
    """The outs, by number, that get a result of a function."""
    direct = callee.direct
    if direct is None or not isinstance(direct.put, Put) or callee.may_keep or callee.loop is not None:
        return []
    return [*range(len(direct.bounds))]


def _is_first(op: HostCall, k: int) -> bool:
    """Whether an out is a new buffer that nothing uses before, and nothing else in the call."""
    buffer, block = op.operand(op.n_ins + k), op.block
    alloc = buffer.owner
    if type(alloc) is not memref.Alloc or alloc.block is not block or block is None or not buffer.memref_type.rank:
        return False
    users = {_in_block(use.op, block) for use in buffer.uses}
    return sum(v is buffer for v in op.operands) == 1 and min(users, key=block.op_index) is op


def _in_block(op: Op, block: Block) -> Op:
    """The op of a block that an op is, or is in."""
    while op.block is not block:
        parent = op.block.parent_op if op.block is not None else None
        assert parent is not None
        op = parent
    return op
