"""What tracebuf keeps in attributes or types and MLIR in operands, made explicit for printing: the dimension of `dim`,
the dynamic strides of a permuted allocation, and the cast from the type that MLIR infers for a subview to tracebuf's.
An operand that a body sees as a whole is used in the body from outside, as in MLIR."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tracebuf.ir.clone import clone_func
from tracebuf.ir.core import Op, Value, join_mixed
from tracebuf.ir.func import Func
from tracebuf.ir.types import INDEX, MemRefType


def explicit(func: Func) -> Func:
    """The function, or where needed a copy of it in which all of that is explicit."""
    if not any(_asks_dim(op) or _has_dynamic_strides(op) or inferred(op) or _whole(op) for op in func.walk()):
        return func
    new, _ = clone_func(func)
    rewriter = _Explicit(new)
    for op in list(new.walk()):
        rewriter.rewrite(op)
    return new


class _Explicit:
    def __init__(self, func: Func) -> None:
        self.block = func.block
        self.constants: dict[int, Value] = {}

    def rewrite(self, op: Op) -> None:
        if _asks_dim(op):
            op.set_operands([op.operand(0), self.constant(op.attrs["dim"])])
        elif _has_dynamic_strides(op):
            op.set_operands([*op.operands, *self.strides(op)])
        elif (type_ := inferred(op)) is not None:
            self.cast(op, type_)
        elif whole := _whole(op):
            use_from_outside(op, whole)

    def constant(self, value: int) -> Value:
        if value not in self.constants:
            made = Op.registry["arith.constant"].rebuilt([], [INDEX], self.block.ops[0].loc, {"value": value})
            made.result.name = f"c{value}"
            self.block.insert(len(self.constants), made)
            self.constants[value] = made.result
        return self.constants[value]

    def product(self, a: Value, b: Value, before: Op) -> Value:
        made = Op.registry["arith.muli"].rebuilt([a, b], [INDEX], before.loc, {})
        made.result.name = "stride"
        assert before.block is not None
        before.block.insert_before(before, made)
        return made.result

    def strides(self, op: Op) -> list[Value]:
        """The dynamic strides of an allocation: products of the sizes of the axes inside."""
        sizes, order = join_mixed(op.attrs["static_sizes"], op.operands), op.attrs["order"]
        inside: dict[int, tuple[int, Value | None]] = {}
        static, dynamic = 1, None
        for axis in reversed(order):
            inside[axis] = (static, dynamic)
            size = sizes[axis]
            if axis == order[0]:
                break
            if isinstance(size, int):
                static *= size
            else:
                dynamic = size if dynamic is None else self.product(dynamic, size, op)
        wanted = [inside[d] for d, s in enumerate(op.result.memref_type.strides) if not isinstance(s, int)]
        return [self._times(n, d, op) for n, d in wanted]

    def _times(self, static: int, dynamic: Value | None, op: Op) -> Value:
        if dynamic is None:
            return self.constant(static)
        return dynamic if static == 1 else self.product(dynamic, self.constant(static), op)

    def cast(self, op: Op, type_: MemRefType) -> None:
        """Gives the view MLIR's type, and its users a cast to tracebuf's."""
        declared = op.result.type
        made = Op.registry["memref.cast"].rebuilt([], [declared], op.loc, {})
        op.result.replace_all_uses(made.result)
        made.set_operands([op.result])
        made.result.name, op.result.name, op.result.type = op.result.name, "view", type_
        assert op.block is not None
        op.block.insert(op.block.op_index(op) + 1, made)


def _whole(op: Op) -> list[int]:
    """The inputs that a body sees as a whole."""
    maps = op.attrs.get("maps", ())[: op.attrs.get("n_ins", 0)]
    return [k for k, map_ in enumerate(maps) if map_.whole]


def use_from_outside(op: Op, whole: list[int]) -> None:
    """Takes these inputs out of the op, whose body then uses them from outside."""
    block, maps, operands = op.regions[0].block, op.attrs["maps"], op.operands
    for k in reversed(whole):
        for use in list(block.args[k].uses):
            pick, kind = use.op, "tensor.extract" if operands[k].is_tensor else "memref.load"
            made = Op.registry[kind].rebuilt([operands[k], *pick.operands[1:]], [pick.result.type], pick.loc, {})
            block.insert_before(pick, made)
            pick.result.replace_all_uses(made.result)
            pick.erase()
        block.drop_arg(k)
    kept = [k for k in range(len(operands)) if k not in whole]
    op.attrs["maps"], op.attrs["n_ins"] = tuple(maps[k] for k in kept), op.attrs["n_ins"] - len(whole)
    op.set_operands([operands[k] for k in kept])


def _asks_dim(op: Op) -> bool:
    return op.name in ("tensor.dim", "memref.dim") and len(op.uses) == 1


def _has_dynamic_strides(op: Op) -> bool:
    """Whether an allocation has dynamic strides that are not operands."""
    if op.name not in ("memref.alloc", "memref.alloca") or not isinstance(op.result.type, MemRefType):
        return False
    type_ = op.result.type
    dynamic = [s for s in type_.strides if not isinstance(s, int)]
    return not type_.is_identity and not type_.layout and bool(dynamic) and len(op.uses) == _dynamic_sizes(op.attrs)


def _dynamic_sizes(attrs: dict[str, Any]) -> int:
    static: tuple[int | None, ...] = attrs["static_sizes"]
    return static.count(None)


def inferred(op: Op) -> MemRefType | None:
    """The type that MLIR infers for a subview, where tracebuf's says less."""
    if op.name != "memref.subview":
        return None
    base, declared = op.operand(0).memref_type, op.result.memref_type
    if base.layout or declared.layout:
        return None
    strides = _steps(base, op)
    offset: int | None = base.offset if isinstance(base.offset, int) else None
    for at, stride in zip(op.attrs["static_offsets"], base.strides):
        if at != 0:
            known = offset is not None and at is not None and isinstance(stride, int)
            offset = offset + at * stride if known else None
    found = replace(declared, strides=strides, offset=offset)
    return None if str(found) == str(declared) or declared.is_identity else found


def _steps(base: MemRefType, op: Op) -> tuple[int | None, ...]:
    steps: list[int | None] = []
    for d in op.attrs["dims"]:
        stride, step = base.strides[d], op.attrs["static_strides"][d]
        steps.append(stride * step if isinstance(stride, int) and step is not None else None)
    return tuple(steps)
