"""Empty tensors become parts of what they are stored into: MLIR's -eliminate-empty-tensors, as it does it.

For each subset insertion (`tensor.insert_slice` and others), in the order of MLIR's walk: where the reverse use-def
chain of the source, through versions of one buffer, begins in a `tensor.empty`, that use of it gets the slice of the
destination, extracted where its operands are available, and before the use. Not all of it pays (behaviour 48: a slice
that is written early overlaps what is still read); `empty_tensors` has the pass that asks. MLIR counterpart:
EmptyTensorElimination.cpp.
"""

from __future__ import annotations

from collections.abc import Iterator

from tracebuf.analysis.modules.module import analyze_module
from tracebuf.analysis.one_shot.derived import Analysis
from tracebuf.analysis.one_shot.order import Order, post_order, within
from tracebuf.ir.core import Builder, Op, Relation, Use, Value
from tracebuf.ir.effects import is_effect_free
from tracebuf.ir.func import Module
from tracebuf.ir.slices import Slice
from tracebuf.ir.types import ShapedType, same_type
from tracebuf.ops.arrays import tensor
from tracebuf.ops.arrays.bufferization import MaterializeInDestination, ToTensor
from tracebuf.options import OneShotOptions

ANALYSIS = OneShotOptions(bufferize_function_boundaries=True, allow_return_allocs_from_loops=True)


def eliminate_empty_tensors_as_mlir(module: Module) -> None:
    """Rewrites all functions; the analysis runs once, before anything is changed."""
    for analysis in analyze_module(module, ANALYSIS).funcs.values():
        order = analysis.flow.order
        for op in list(post_order(analysis.flow.func)):
            source = stored(op)
            if source is not None and analysis.is_in_place(source):
                for use in list(uses_of_empty(source, analysis)):
                    _replace(op, use, order)


def stored(op: Op) -> Use | None:
    """The operand that an op stores into a part of another."""
    if isinstance(op, tensor.InsertSlice | MaterializeInDestination) or (op.name == "linalg.copy" and op.results):
        return op.uses[0]
    return None


def uses_of_empty(source: Use, analysis: Analysis) -> Iterator[Use]:
    """The uses of empty tensors at which the chains begin, the first one of each empty tensor.

    A chain continues where the operand's buffer is the value's, and the types are equal or there is a cast.
    """
    work, met, first_uses = [source], set[Value](), dict[Value, Use]()
    while work:
        use = work.pop()
        value = use.value
        if isinstance(value.owner, tensor.Empty):
            earliest = first_uses.setdefault(value, use)
            if analysis.flow.order.place[use.op] < analysis.flow.order.place[earliest.op]:
                first_uses[value] = use
            continue
        if value in met:
            continue
        met.add(value)
        for source_use, relation, _ in analysis.flow.aliasing_uses(value):
            followed = same_type(source_use.value.type, value.type) or isinstance(value.owner, tensor.Cast)
            if relation is Relation.EQUIVALENT and followed:
                work.append(source_use)
    return iter(first_uses.values())


def _replace(op: Op, use: Use, order: Order) -> None:
    """Puts the part of the destination in the place of the empty tensor at one use."""
    empty = use.value.defining_op
    assert empty is not None
    place = insertion_point(empty, use.op, needed(op), order)
    if place is None and moved_before(use.op, needed(op), order):
        place = use.op
    if place is None:
        return
    part = extraction(op, Builder(place.block, empty.loc, before=place))  # type: ignore[arg-type]
    old, new = empty.result.type, part.type
    if not same_type(old, new):
        assert isinstance(old, ShapedType) and isinstance(new, ShapedType)
        if old.element != new.element:
            return
        part = _after(part, tensor.Cast([part], [old], empty.loc))
    elif isinstance(part.owner, tensor.ExtractSlice):
        part.type = old  # the same sizes, which may be told by other symbols
    use.set(part)


def _after(value: Value, op: Op) -> Value:
    block, made = value.block, value.defining_op
    block.insert(0 if made is None else block.op_index(made) + 1, op)
    return op.result


def needed(op: Op) -> list[Value]:
    """What the part of the destination is made from."""
    return op.operands[1:] if isinstance(op, tensor.InsertSlice) else [op.operand(1)]


def extraction(op: Op, builder: Builder) -> Value:
    """The part of the destination that an op stores into."""
    if isinstance(op, tensor.InsertSlice):
        s: Slice = op.slice
        return builder.add(tensor.ExtractSlice.of(op.dest, s, op.source.tensor_type, builder.loc)).result
    dest = op.operand(1)
    if dest.is_tensor:
        return dest
    made = ToTensor.of(dest, op.operand(0).type, builder.loc)
    made.attrs["writable"] = op.attrs["writable"]
    if "restrict" in op.attrs:
        made.attrs["restrict"] = op.attrs.pop("restrict")
    return builder.add(made).result


def insertion_point(empty: Op, user: Op, values: list[Value], order: Order) -> Op | None:
    """The op before which the part is taken out: the empty tensor, or what follows the making of a needed value; the
    first where all needed values are known, and which comes before the user."""
    candidates = [empty, *(following(v) for v in values)]
    for place in candidates:
        if place is not None and all(known_at(v, place, order) for v in values):
            if place is user or precedes(place, user, order):
                return place
    return None


def moved_before(place: Op, values: list[Value], order: Order) -> bool:
    """Moves what makes the values before an op of the same block, with all that it needs; False where that may not be
    (MLIR: moveValueDefinitions)."""
    block, moved = place.block, dict[Op, None]()
    assert block is not None
    work = list(values)
    while work:
        value = work.pop()
        if known_at(value, place, order):
            continue
        maker = value.defining_op
        if maker is None or maker.block is not block or maker is place or not is_effect_free(maker):
            return False
        if maker not in moved:
            moved[maker] = None
            work += (v for op in (maker, *maker.walk()) for v in op.operands if not _is_inside(v, maker))
    for op in sorted(moved, key=block.op_index):
        block.remove(op)
        block.insert_before(place, op)
    return True


def _is_inside(value: Value, op: Op) -> bool:
    region = value.block.region
    while region.op is not None and region.op is not op:
        assert region.op.block is not None
        region = region.op.block.region
    return region.op is op


def following(value: Value) -> Op | None:
    """The op after the one that makes a value; of an argument the first of its block."""
    ops, made = value.block.ops, value.defining_op
    at = 0 if made is None else value.block.op_index(made) + 1
    return ops[at] if at < len(ops) else None


def known_at(value: Value, place: Op, order: Order) -> bool:
    made = value.defining_op
    if made is not None:
        return precedes(made, place, order)
    current: Op | None = place
    while current is not None and current.block is not value.block:
        current = current.parent_op
    return current is not None


def precedes(a: Op, b: Op, order: Order) -> bool:
    """Whether `a` stands before `b`, or before an op around it, on every path (MLIR: properlyDominates)."""
    assert a.block is not None
    anchor = within(b, a.block.region)
    if anchor is None or anchor.block is None:
        return False
    if anchor.block is not a.block:
        return order.dominates(a.block, anchor.block)
    return a.block.op_index(a) < a.block.op_index(anchor)
