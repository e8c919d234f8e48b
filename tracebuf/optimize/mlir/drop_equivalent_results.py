"""Removes results of private functions that are an argument, a buffer or a number, which callers have already. MLIR
counterpart: -drop-equivalent-buffer-results (DropEquivalentBufferResults.cpp, behaviour 47). Functions are treated in
the order in which they stand; a result must be the same argument at every return."""

from __future__ import annotations

from tracebuf.ir.attributes import Attr
from tracebuf.ir.core import Value
from tracebuf.ir.func import Func, Module
from tracebuf.ir.types import same_type
from tracebuf.ops.control.func import Call, Return
from tracebuf.ops.memory import memref


def drop_equivalent_buffer_results(module: Module) -> None:
    """Changes private functions with a body, and the calls of them."""
    for func in module.funcs:
        if not func.external and is_private(func):
            known = results_that_are_arguments(func)
            if known:
                _drop(func, known)
                for caller in module.funcs:
                    for op in [o for o in caller.walk() if isinstance(o, Call) and o.callee == func.name]:
                        _call_without(op, known)


def is_private(func: Func) -> bool:
    """Whether only this module sees the function."""
    found = func.attrs.get("sym_visibility")
    return isinstance(found, Attr) and found.value == "private"


def results_that_are_arguments(func: Func) -> dict[int, int]:
    """The numbers of such results, each with that of the argument."""
    ends = [block.terminator for block in func.body.blocks if isinstance(block.terminator, Return)]
    found = {}
    for k in range(len(func.result_types)):
        values = {_before_casts(end.operand(k)) for end in ends}
        if len(values) == 1:
            value = values.pop()
            if value in func.args:
                found[k] = value.index
    return found


def _before_casts(value: Value) -> Value:
    while isinstance(made := value.defining_op, memref.Cast):
        value = made.operand(0)
    return value


def _drop(func: Func, known: dict[int, int]) -> None:
    types = func.result_types
    for block in func.body.blocks:
        end = block.terminator
        if isinstance(end, Return):
            end.set_operands([v for k, v in enumerate(end.operands) if k not in known])
    func.results = tuple(t for k, t in enumerate(types) if k not in known)
    func.result_attrs = [a for k, a in enumerate(func.result_attrs) if k not in known]


def _call_without(op: Call, known: dict[int, int]) -> None:
    """The call of the changed function; what it gave no longer is the argument, under the type that the result had."""
    block = op.block
    assert block is not None
    at = block.op_index(op) + 1
    for k, argument in known.items():
        value, result = op.operand(argument), op.results[k]
        if not result.uses:
            continue
        if not same_type(value.type, result.type):
            cast = memref.Cast([value], [result.type], op.loc)
            block.insert(at, cast)
            value = cast.result
        result.replace_all_uses(value)
    op.results = [r for k, r in enumerate(op.results) if k not in known]
    for k, result in enumerate(op.results):
        result.index = k
