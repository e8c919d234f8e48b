"""Reductions of the same arrays to numbers become one sweep: `a.min()` and `a.max()`, sums of x * y and of x * x.

The later one moves up to the earlier one, where all that it reads is there already: nothing is read later than before
(rule S4), and nothing is kept alive longer. Only floats of one type, folded in any order or pairwise, and only where
one of the two reads nothing that the other does not: of two sweeps over memory one is left. MLIR's counterpart is the
sibling fusion of its affine loops (affine-loop-fusion).
"""

from __future__ import annotations

from tracebuf.ir.clone import clone_op
from tracebuf.ir.core import Block, Op, Value
from tracebuf.ir.func import Func
from tracebuf.ops.arrays import tensor
from tracebuf.ops.arrays.linalg import ANY_ORDER, AffineMap, Fill, Generic, Yield
from tracebuf.ops.scalars import arith

MAX_OPS = 24
"""Most scalar ops of both together."""
MOST = 4
"""Most results of one sweep."""


def merge_reductions(func: Func) -> None:
    """Merges in every block, in program order."""
    blocks = [func.block]
    for op in func.walk():
        if op.regions and not isinstance(op, Generic):
            blocks += [b for region in op.regions for b in region.blocks]
    for block in blocks:
        sweeps: list[Generic] = []
        for op in [o for o in block.ops if isinstance(o, Generic) and _is_reduction(o)]:
            assert isinstance(op, Generic)
            at = next((k for k, first in enumerate(sweeps) if _may_merge(first, op)), None)
            if at is None:
                sweeps.append(op)
            else:
                sweeps[at] = _merged(sweeps[at], op)


def _is_reduction(op: Generic) -> bool:
    """Whether an op folds arrays into one new float, by an op that may take its elements in any order."""
    if type(op) is not Generic or len(op.results) != 1 or set(op.iterators) != {"reduction"}:
        return False
    out, total = op.operand(op.n_ins).defining_op, op.body.args[op.n_ins]
    fold = op.body.terminator.operand(0).defining_op
    fresh = isinstance(out, Fill) and isinstance(out.operand(1).defining_op, tensor.Empty) and len(out.result.uses) == 1
    floats = fresh and op.results[0].tensor_type.element.is_float and not op.results[0].tensor_type.shape
    folds = type(fold) in (arith.AddF, *ANY_ORDER) and [use.op for use in total.uses] == [fold]
    ops = op.body.ops[:-1]
    simple = all(isinstance(o, arith.ScalarOp) and not isinstance(o, arith.Ufunc) and not o.may_raise for o in ops)
    whole = all(m.is_identity or not op.operand(k).is_tensor for k, m in enumerate(op.maps[: op.n_ins]))
    return bool(floats and folds and simple and whole)


def _may_merge(first: Generic, later: Generic) -> bool:
    """Whether the later one reads what is there before the first, and one of them nothing that the other does not."""
    block = first.block
    assert block is not None
    if len(first.iterators) != len(later.iterators) or len(first.results) >= MOST:
        return False
    if first.results[0].type != later.results[0].type or len(first.body.ops) + len(later.body.ops) > MAX_OPS:
        return False
    mine, others = ({v for v in op.operands[: op.n_ins] if v.is_tensor} for op in (first, later))
    if not (mine <= others or others <= mine):
        return False
    fill = later.operand(later.n_ins).defining_op
    assert fill is not None
    reads = [*later.operands[: later.n_ins], fill.operand(0)]
    place = block.op_index(first)
    return all(_is_before(v, block, place) for v in reads)


def _is_before(value: Value, block: Block, place: int) -> bool:
    op = value.defining_op
    return op is None or op.block is not block or block.op_index(op) < place or isinstance(op, arith.Constant)


def _merged(first: Generic, later: Generic) -> Generic:
    """One op at the place of the first, with the results of both."""
    block = first.block
    assert block is not None
    out = later.operand(later.n_ins)
    fill = out.defining_op
    assert isinstance(fill, Fill)
    needed = [v.defining_op for v in (*later.operands[: later.n_ins], *fill.operands)]
    for op in (*needed, fill):
        if op is not None and op.block is block and block.op_index(op) > block.op_index(first):
            _move_before(op, first)
    body, mapping = Block(), dict[Value, Value]()
    args: dict[tuple[Value, AffineMap], Value] = {}
    for op in (first, later):
        for arg, entry in zip(op.body.args, zip(op.operands[: op.n_ins], op.maps)):
            mapping[arg] = args[entry] if entry in args else args.setdefault(entry, body.add_arg(arg.type))
    outs = [*first.operands[first.n_ins :], out]
    for arg in (*first.body.args[first.n_ins :], later.body.args[later.n_ins]):
        mapping[arg] = body.add_arg(arg.type)
    for o in (*first.body.ops[:-1], *later.body.ops[:-1]):
        clone_op(o, mapping, lambda new: (body.append(new), new)[1])  # type: ignore[func-returns-value]
    yields = [*first.body.terminator.operands, later.body.terminator.operand(0)]
    body.append(Yield.of([mapping[v] for v in yields], first.loc))
    maps = [m for _, m in args] + [*first.maps[first.n_ins :], later.maps[later.n_ins]]
    made = Generic.of([v for v, _ in args], outs, maps, first.iterators, body, first.loc)
    made.attrs["fused_locs"] = tuple(loc for op in (first, later) for loc in op.attrs.get("fused_locs", (op.loc,)))
    block.insert_before(first, made)
    for old, new in zip([*first.results, *later.results], made.results, strict=True):
        old.replace_all_uses(new)
    first.erase()
    later.erase()
    return made


def _move_before(op: Op, place: Op) -> None:
    assert op.block is not None
    block = op.block
    block.remove(op)
    block.insert_before(place, op)
