"""Functions that a traced one calls (`tracebuf.call`): their arrays come as buffers of any layout, and those that they
store to are the caller's. MLIR counterpart: FuncBufferizableOpInterfaceImpl.cpp, with
-drop-equivalent-buffer-results."""

from __future__ import annotations

from tracebuf.analysis.one_shot.derived import Analysis
from tracebuf.bufferize.boundary import unknown_type
from tracebuf.bufferize.rewrite import Rewrite
from tracebuf.errors import InternalError
from tracebuf.ir.func import Func
from tracebuf.ir.types import MemRefType
from tracebuf.ops.memory import memref


def bufferize_callee(func: Func, analysis: Analysis) -> Func:
    """The memref program of a function that is called: it returns its scalars, its arrays are stored to in place."""
    new = Rewrite(func, analysis, [unknown_type(a.type, "fully-dynamic-layout-map") for a in func.args]).run()
    end = new.block.terminator
    for value in end.operands:
        if isinstance(value.type, MemRefType) and memref.base_of(value).owner is not new.block:
            raise InternalError(f"{func.name} returns a buffer that is none of its arguments")
    end.set_operands([v for v in end.operands if not isinstance(v.type, MemRefType)])
    return new
