"""Functions store what they would return into buffers of their callers.

Each memref result of a private function becomes one more argument, into which what was returned is copied; callers
allocate it. Options as MLIR has them: `modify-public-functions`, `hoist-static-allocs` and `hoist-dynamic-allocs` (the
callee's allocation itself moves to the callers, without a copy, where all returns give that one), `add-result-attr`.
A result that is an argument's buffer becomes a copy of it. MLIR counterpart: -buffer-results-to-out-params, which
crashes where functions return in several places.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tracebuf.errors import UnsupportedError
from tracebuf.frozen import frozen
from tracebuf.ir.attributes import Attr
from tracebuf.ir.core import Op, Value
from tracebuf.ir.func import Func, Module
from tracebuf.ir.types import MemRefType, Type, row_major, same_type, unnamed
from tracebuf.ops.control.func import Call, Return
from tracebuf.ops.memory import memref


@frozen()
class Options:
    add_result_attr: bool = False
    hoist_static_allocs: bool = False
    hoist_dynamic_allocs: bool = False
    modify_public_functions: bool = False


@frozen()
class Out:
    """A result that becomes an argument: its number, its type, and of which arguments its sizes are."""

    number: int
    type: MemRefType
    sizes: tuple[int, ...] | None


def buffer_results_to_out_params(module: Module, options: Options) -> None:
    """Changes functions and the calls of them; UnsupportedError where a result's layout or size stands in the way."""
    changed: dict[str, list[Out]] = {}
    for func in module.funcs:
        if options.modify_public_functions or is_private(func):
            outs = outs_of(func, options)
            if outs:
                changed[func.name] = outs
    for func in module.funcs:
        if func.name in changed:
            _change(func, changed[func.name], options)
    for func in module.funcs:
        for op in [o for o in func.walk() if isinstance(o, Call) and o.callee in changed]:
            _call(op, changed[op.callee])


def is_private(func: Func) -> bool:
    found = func.attrs.get("sym_visibility")
    return isinstance(found, Attr) and found.value == "private"


def outs_of(func: Func, options: Options) -> list[Out]:
    """The memref results of a function."""
    found = []
    for k, type_ in enumerate(func.result_types):
        if isinstance(type_, MemRefType):
            plain = forget_sizes(type_)
            fully_dynamic = type_.offset is None and not type_.layout and all(s is None for s in type_.strides)
            if not type_.is_identity and not fully_dynamic:
                raise UnsupportedError("cannot create out param for result with unsupported layout", location=func.loc)
            alloc = _returned_alloc(func, k)
            sizes = None if alloc is None else _argument_sizes(func, alloc)
            found.append(Out(k, plain, sizes if options.hoist_dynamic_allocs else None))
    return found


def forget_sizes(type_: MemRefType) -> MemRefType:
    """The type with sizes that no value of the function stands for."""
    shape = tuple(n if isinstance(n, int) else unnamed() for n in type_.shape)
    return replace(type_, shape=shape, strides=row_major(shape) if type_.is_identity else type_.strides)


def _returns(func: Func) -> list[Op]:
    return [b.terminator for b in func.body.blocks if b.ops and isinstance(b.terminator, Return)]


def _returned_alloc(func: Func, k: int) -> Op | None:
    """The allocation in the function's first block that every return gives as result `k`, and no other."""
    values = {end.operand(k) for end in _returns(func)}
    op = next(iter(values)).defining_op if len(values) == 1 else None
    if type(op) is not memref.Alloc or op.block is not func.block:
        return None
    twice = any(u.index != k for u in op.result.uses if isinstance(u.op, Return))
    return None if twice else op


def _argument_sizes(func: Func, alloc: Op) -> tuple[int, ...] | None:
    """The arguments that are the allocation's sizes; None where one is no argument."""
    sizes = alloc.operands
    return tuple(v.index for v in sizes) if all(v in func.args for v in sizes) else None


def _change(func: Func, outs: Sequence[Out], options: Options) -> None:
    gone = {out.number for out in outs}
    types = [t for k, t in enumerate(func.result_types) if k not in gone]
    external = func.external
    for out in outs:
        arg = func.block.add_arg(out.type)
        attrs = {"bufferize.result": Attr("unit", True)} if options.add_result_attr else {}
        func.arg_attrs.append(attrs)
        if not external:
            _fill(func, out, arg, options)
    for end in _returns(func):
        end.set_operands([v for k, v in enumerate(end.operands) if k not in gone])
    func.results = tuple(types)
    func.result_attrs = [a for k, a in enumerate(func.result_attrs) if k not in gone]


def _fill(func: Func, out: Out, arg: Value, options: Options) -> None:
    """The result is in the argument when the function returns."""
    alloc = _returned_alloc(func, out.number)
    if alloc is not None and same_type(alloc.result.type, arg.type):
        static = not alloc.operands
        if (static and options.hoist_static_allocs) or (not static and out.sizes is not None):
            alloc.result.replace_all_uses(arg)
            func.symbols = {s: v for s, v in func.symbols.items() if v is not alloc.result}
            alloc.erase()
            return
    for end in _returns(func):
        assert end.block is not None
        end.block.insert_before(end, memref.Copy([end.operand(out.number), arg], [], end.loc))


def _call(op: Op, outs: Sequence[Out]) -> None:
    block = op.block
    assert block is not None and isinstance(op, Call)
    args = op.operands
    for out in outs:
        buffer = _allocate(op, out)
        args.append(buffer)
        result = op.results[out.number]
        result.replace_all_uses(_as(buffer, result.type, op))
    op.set_operands(args)
    gone = {out.number for out in outs}
    op.results = [r for k, r in enumerate(op.results) if k not in gone]
    for k, result in enumerate(op.results):
        result.index = k


def _allocate(op: Op, out: Out) -> Value:
    """The caller's buffer for a result, under the type of the argument."""
    type_, block = out.type, op.block
    dynamic = [k for k, n in enumerate(type_.shape) if not isinstance(n, int)]
    if dynamic and out.sizes is None:
        raise UnsupportedError("cannot create out param for dynamically shaped result", location=op.loc)
    values = iter([op.operand(k) for k in out.sizes or ()])
    sizes = [n if isinstance(n, int) else next(values) for n in type_.shape]
    alloc = memref.Alloc.of(type_.shape, type_.element, sizes, tuple(range(type_.rank)), "", op.loc)
    assert block is not None
    block.insert_before(op, alloc)
    return _as(alloc.result, type_, op)


def _as(value: Value, type_: Type, op: Op) -> Value:
    """The value before `op` under another type."""
    if same_type(value.type, type_):
        return value
    cast = memref.Cast.of(value, type_, op.loc)
    assert op.block is not None
    op.block.insert_before(op, cast)
    return cast.result
