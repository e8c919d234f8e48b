"""Fusion of element-wise producers into their one consumer: the temporaries of an expression become registers.

A `linalg.generic` with parallel loops only, whose result one other `linalg.generic` of the same block reads, becomes
part of that op's body; a fill becomes its scalar. Nothing is computed twice, and nothing moves into or out of a loop,
past a store to what it reads, or through a view. Each "may not" is one function. Chains of any length take linear time:
consumers are taken in program order and a producer's body is moved, not copied. MLIR counterpart:
-linalg-fuse-elementwise-ops (ElementwiseOpFusion.cpp), which has no rule S4.
"""

from __future__ import annotations

from collections.abc import Sequence

from tracebuf.analysis.one_shot.base import describe, store_within
from tracebuf.frozen import plain
from tracebuf.ir.core import Block, Op, Value
from tracebuf.ir.func import Func
from tracebuf.ir.types import INDEX
from tracebuf.ops.arrays import tensor
from tracebuf.ops.arrays.linalg import AffineMap, Fill, Generic, Index
from tracebuf.ops.scalars import arith
from tracebuf.optimize.tensors.cse import merge_in_body
from tracebuf.optimize.tensors.eliminate_empty_tensors import continued
from tracebuf.optimize.tensors.versions import Versions

MAX_BODY = 64
"""Most scalar ops in one body: beyond that values no longer stay in registers."""
MAX_OPERANDS = 32
"""Most operands of one op: each tensor is a stream of memory, with its pointers."""


def fuse(func: Func) -> None:
    """Fuses in every block. A fused op has its consumer's place and location; attr `fused_locs`: those of its parts."""
    blocks = [func.block]
    chained = False
    for op in func.walk():
        if isinstance(op, Generic):
            chained = chained or any(isinstance(use.value.owner, Generic) for use in op.in_uses)
        elif op.regions:
            blocks += [b for region in op.regions for b in region.blocks]
    versions = Versions(func) if chained else None
    gone: set[Op] = set()  # of any block: a fill may be taken up by a loop's body
    for block in blocks:
        for consumer in block.ops:
            if isinstance(consumer, Generic) and _fuse_into(consumer, versions, gone):
                merge_in_body(consumer.body)
    for block in {op.block for op in gone if op.block is not None}:
        block.replace_ops([op for op in block.ops if op not in gone])
    for op in gone:
        op.block = None


def _fuse_into(consumer: Generic, versions: Versions | None, gone: set[Op]) -> bool:
    """Takes up producers until none is left that may be fused; `versions`: None where there are fills only."""
    changed = _merge_operands(consumer)
    index = 0
    while index < consumer.n_ins:
        producer = None if consumer.maps[index].whole else consumer.operand(index).defining_op
        if isinstance(producer, Fill) and may_use_scalar(producer, consumer, index):
            _replace_by_scalar(consumer, index, producer)
        elif versions is not None and isinstance(producer, Generic) and may_fuse(producer, consumer, index, versions):
            _inline(consumer, index, producer)
        else:
            index += 1
            continue
        assert producer is not None
        if not producer.result.uses:
            _retire(producer, gone)
        changed, index = True, 0
    return changed


def _retire(op: Op, gone: set[Op]) -> None:
    """Marks an op without uses as gone, and the `tensor.empty` that was made for it."""
    outs = [v.defining_op for v in op.operands]
    op.drop_uses()
    gone.add(op)
    for empty in outs:
        if isinstance(empty, tensor.Empty) and not empty.result.uses and empty.block is op.block:
            empty.drop_uses()
            gone.add(empty)


# -- what may be fused


def may_fuse(producer: Generic, consumer: Generic, index: int, versions: Versions) -> bool:
    """All the rules for operand `index` of the consumer."""
    return (
        producer.block is consumer.block
        and is_elementwise_producer(producer)
        and has_one_consumer(producer, consumer)
        and is_not_repeated(consumer, index)
        and fits_in_registers(producer, consumer)
        and loops_stay_known(consumer, index, producer)
        and keeps_numpy_steps(consumer, producer)
        and (passes_no_new_version(producer, consumer, versions) or note_why(producer, consumer, versions))
        and reads_apart_from_destination(producer, consumer, index, versions)
        and keeps_few_arrays_alive(producer, consumer, versions)
    )


def is_elementwise_producer(producer: Generic) -> bool:
    """No fusion unless the producer makes each element of one fresh result from nothing but its inputs' elements.

    A reduction would be repeated for every element of the consumer, several results have several consumers, and an op
    that reads its destination continues what another op began.
    """
    out = producer.n_ins
    return (
        len(producer.results) == 1
        and producer.all_parallel
        and producer.maps[out].is_identity
        and all(m.runs for m in producer.maps)
        and not producer.body.args[out].uses
    )


def has_one_consumer(producer: Op, consumer: Generic) -> bool:
    """No fusion if another op uses the result, or if the consumer writes to it, or reads it through two different maps.

    The work would be done twice; and a result that escapes, or is stored through later, must have its buffer anyway.
    """
    uses = producer.result.uses
    if any(u.op is not consumer or u.index >= consumer.n_ins for u in uses):
        return False
    maps = {consumer.maps[u.index] for u in uses}
    return len(maps) == 1 and all(m.runs for m in consumer.maps) and not any(m.whole for m in maps)


def is_not_repeated(consumer: Generic, index: int) -> bool:
    """No fusion if the consumer reads each element more than once (it broadcasts the producer's result along a loop).

    `np.exp(a)[:, None] * b` computes n exponentials; fused it would compute n * m.
    """
    return _varying(consumer, index) == _real_loops(consumer)


def fits_in_registers(producer: Generic, consumer: Generic) -> bool:
    """No fusion if the body, or the number of operands, grows beyond what loops do well."""
    ops = len(producer.body.ops) + len(consumer.body.ops) - 2
    return ops <= MAX_BODY and producer.n_ins + len(consumer.uses) - 1 <= MAX_OPERANDS


def loops_stay_known(consumer: Generic, index: int, producer: Generic | None) -> bool:
    """No fusion if the operand alone gives the size of a loop: `np.zeros(n).sum()` loops over the zeros."""
    n = len(consumer.iterators)
    maps = [m for i, m in enumerate(consumer.maps) if i != index]
    if producer is not None:
        maps += [m.compose(consumer.maps[index].results, n) for m in producer.maps[: producer.n_ins]]
    return {r for m in maps for r in m.results if r is not None} >= set(range(n))


def keeps_numpy_steps(consumer: Generic, producer: Generic | None) -> bool:
    """No fusion if an operand that varies in eager's loop would not vary in the fused one, where a NumPy loop of two
    operands sees it.

    NumPy computes `x ** e` by other means where the exponent has step 0 than where it is an array of equal values
    (rule N3).
    """
    calls = any(isinstance(op, arith.Ufunc) and len(op.uses) > 1 for op in consumer.body.ops)
    if not calls:
        return True
    return producer is not None and any(_varying(producer, i) == _real_loops(producer) for i in range(producer.n_ins))


def passes_no_new_version(producer: Generic, consumer: Generic, versions: Versions) -> bool:
    """No fusion if between the two a storage that the producer reads gets its next version (rule S4).

    In `t = a + 1; a[0] = 5; return t * 2`, reading `a` after the store would need a copy of the old `a`.
    """
    assert producer.block is not None
    first, last = versions.place(producer), versions.place(consumer)
    reads = [use.value for use in producer.in_uses if use.value.is_tensor]
    return not any(versions.written_between(value, producer.block, first, last) for value in reads)


def note_why(producer: Generic, consumer: Generic, versions: Versions) -> bool:
    """Notes, for explain, which store overwrites what the producer reads before the consumer reads it; False."""
    empty, block = producer.operand(producer.n_ins).defining_op, producer.block
    assert block is not None
    first, last = versions.place(producer), versions.place(consumer)
    reads = [use.value for use in producer.in_uses if use.value.is_tensor]
    places = [(p, v) for v in reads if (p := versions.first_write_between(v, block, first, last)) is not None]
    if isinstance(empty, tensor.Empty) and places:
        place, value = min(places, key=lambda found: found[0])
        store = describe(store_within(block.ops[place], value).loc)
        reason = f"{store} overwrites what the value is computed from before {describe(consumer.loc)} reads it"
        empty.attrs.setdefault("reason", reason)
    return False


def reads_apart_from_destination(producer: Generic, consumer: Generic, index: int, versions: Versions) -> bool:
    """No fusion if the consumer would then read, at other elements, the storage that it writes to.

    The consumer's destination is mostly fresh. Where it is not, an input of the producer may only be that very value,
    read at the element that is written.
    """
    n = len(consumer.iterators)
    for out in consumer.out_uses:
        for use in producer.in_uses:
            if use.value.is_tensor and versions.same_storage(use.value, out.value):
                map_ = producer.maps[use.index].compose(consumer.maps[index].results, n)
                if use.value is not out.value or not (map_.is_identity and consumer.maps[out.index].is_identity):
                    return False
    return True


def keeps_few_arrays_alive(producer: Generic, consumer: Generic, versions: Versions) -> bool:
    """No fusion if two or more arrays that die at the producer would be alive while another one is made.

    In `np.roll(a, 1) + np.roll(a, -1) + np.roll(a, 2)` the first sum takes an array of its two and frees the other
    before the third is made, as in eager NumPy (rule S2).
    """
    block, result = producer.block, producer.result
    assert block is not None
    first, last = versions.place(producer), versions.place(consumer)
    dying = {
        versions.storage(u.value) for u in producer.in_uses
        if u.value.type == result.type and versions.last_use(u.value, block) <= first and is_new(u.value, block)
    }  # fmt: skip
    if len(dying) < 2:
        return True
    between = (op for op in block.ops[first + 1 : last] if isinstance(op, tensor.Empty))
    return not any(op.result.type == result.type and not _is_taken_up(op, consumer) for op in between)


def is_new(value: Value, block: Block) -> bool:
    """Whether the value is an array that the block made: one that is freed, or stored over, when it dies."""
    while (link := continued(value)) is not None:
        value = link.value
    return isinstance(value.defining_op, tensor.Empty) and value.block is block


def _is_taken_up(empty: tensor.Empty, consumer: Generic) -> bool:
    """Whether the array is nothing but the destination of the consumer, or of an element-wise op that it takes up."""
    makers = [use.op for use in empty.result.uses]
    return all(
        op is consumer or (isinstance(op, Generic) and is_elementwise_producer(op) and has_one_consumer(op, consumer))
        for op in makers
    )


def may_use_scalar(producer: Fill, consumer: Generic, index: int) -> bool:
    """A fill may always become its scalar, if the loops' sizes and NumPy's steps allow: nothing is computed again."""
    return loops_stay_known(consumer, index, None) and keeps_numpy_steps(consumer, None)


def _varying(op: Generic, index: int) -> set[int]:
    """The loops, of a size other than one, along which an operand varies."""
    return {r for r in op.maps[index].results if r is not None} & _real_loops(op)


def _real_loops(op: Generic) -> set[int]:
    return {d for d, size in enumerate(op.loop_dims()) if size != 1}


# -- fusing


@plain(eq=True, slots=True)
class _Input:
    value: Value
    map: AffineMap
    arg: Value


def _inputs(op: Generic) -> list[_Input]:
    return [_Input(u.value, m, a) for u, m, a in zip(op.in_uses, op.maps, op.body.args)]


def _merge_operands(op: Generic) -> bool:
    """Operands that are one value read through one map become one."""
    before = op.n_ins
    _set_inputs(op, _inputs(op))
    return op.n_ins != before


def _inline(consumer: Generic, index: int, producer: Generic) -> None:
    """The producer's body before the consumer's, its inputs in the operand's place."""
    n = len(consumer.iterators)
    inner = consumer.maps[index].results
    inputs, taken = _inputs(consumer), _inputs(producer)
    read = inputs[index].arg
    move_indices(producer, inner)
    body = producer.body.ops
    read.replace_all_uses(body[-1].operand(0))
    body[-1].drop_uses()
    consumer.body.replace_ops(body[:-1] + consumer.body.ops)
    producer.body.ops = []
    for entry in taken:
        entry.map = entry.map.compose(inner, n)
    consumer.attrs["fused_locs"] = (*_locs(producer), *_locs(consumer))
    _set_inputs(consumer, inputs[:index] + taken + inputs[index + 1 :])


def move_indices(producer: Generic, loops: Sequence[int | None], at: int = 0) -> None:
    """The loop indices in a body that goes into another: `loops` are its loops there (None: one of a single step, at
    this index)."""
    ops = []
    for op in producer.body.ops:
        if isinstance(op, Index) and (loop := loops[op.dim]) is not None:
            op.attrs["dim"] = loop
        elif isinstance(op, Index):
            fixed = arith.Constant.of(at, INDEX, op.loc)
            op.result.replace_all_uses(fixed.result)
            op.block, op = None, fixed
        ops.append(op)
    producer.body.replace_ops(ops)


def _locs(op: Op) -> tuple[object, ...]:
    locs: tuple[object, ...] = op.attrs.get("fused_locs", (op.loc,))
    return locs


def _replace_by_scalar(consumer: Generic, index: int, producer: Fill) -> None:
    inputs = _inputs(consumer)
    inputs[index].value, inputs[index].map = producer.operand(0), AffineMap(len(consumer.iterators), ())
    _set_inputs(consumer, inputs)


def _set_inputs(op: Generic, inputs: list[_Input]) -> None:
    """Gives the op these inputs before its outs; equal ones are merged, unread ones dropped unless they size a loop."""
    first: dict[tuple[Value, AffineMap], _Input] = {}
    for entry in inputs:
        same = first.setdefault((entry.value, entry.map), entry)
        if same is not entry:
            entry.arg.replace_all_uses(same.arg)
    kept = [e for e in first.values() if e.arg.uses]
    outs_tell = not any(e.map.whole for e in kept)  # else they may be lost when a consumer takes the op in
    sized = {r for m in [e.map for e in kept] + list(op.maps[op.n_ins :]) * outs_tell for r in m.results}
    if not sized >= set(range(len(op.iterators))):
        kept = list(first.values())
    outs, out_maps, out_args = [u.value for u in op.out_uses], op.maps[op.n_ins :], op.body.args[op.n_ins :]
    op.set_operands([e.value for e in kept] + outs)
    op.body.args = [e.arg for e in kept] + out_args
    for i, arg in enumerate(op.body.args):
        arg.owner, arg.index = op.body, i
    op.attrs["n_ins"], op.attrs["maps"] = len(kept), (*(e.map for e in kept), *out_maps)
