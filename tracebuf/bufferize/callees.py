"""Functions that a traced one calls (`tracebuf.call`): their arrays come as buffers of any layout, and those that they
store to are the caller's. MLIR counterpart: FuncBufferizableOpInterfaceImpl.cpp, with
-drop-equivalent-buffer-results."""

from __future__ import annotations

from tracebuf.analysis.one_shot.derived import Analysis
from tracebuf.bufferize.boundary import unknown_type
from tracebuf.bufferize.rewrite import Rewrite
from tracebuf.errors import InternalError
from tracebuf.ir.func import Func
from tracebuf.ops.memory import memref


def bufferize_callee(func: Func, analysis: Analysis) -> Func:
    """The memref program of a function that is called: its arguments are stored to in place, it returns its scalars
    and the arrays that it makes."""
    new = Rewrite(func, analysis, [unknown_type(a.type, "fully-dynamic-layout-map") for a in func.args]).run()
    end = new.block.terminator
    stored = sum(bool(attrs["bufferization.writable"]) for attrs in func.arg_attrs)
    for value in end.operands[:stored]:
        if memref.base_of(value).owner is not new.block:
            raise InternalError(f"{func.name} stores to a buffer that is none of its arguments")
    end.set_operands(end.operands[stored:])
    new.attrs["called"] = True
    return new
