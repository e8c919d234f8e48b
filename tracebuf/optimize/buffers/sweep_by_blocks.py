"""A loop whose body sweeps over vectors, element by element, runs block by block: each block stays in the L1 cache.

    for k in range(len(h)):                     for b in range(0, n, BLOCK):
        y += h[k] * x[k : k + n]        is          for k in range(len(h)):
                                                        y[b : b + BLOCK] += h[k] * x[k + b : k + b + BLOCK]

Each element takes the same steps in the same order, so the bits are the same. Where the vectors are no longer than a
block nothing changes; where they are larger than the cache, each is read from memory once, and not once a step.

No block unless each op of the body is one of these: it computes numbers; it loads from, or views, what the loop does
not store to; or it is element-wise over vectors of one length, and what it stores to is used in the loop as that very
vector only, at the element that is stored. Checks of what the loop does not change may stand before all stores: they
fail in the first iteration or never. What is the same in each iteration goes before the loop; a view only if the loop
runs at all, since it may be of elements that its array does not have otherwise. MLIR counterpart: loop tiling with an
interchange (affine-loop-tile), which asks a dependence analysis.
"""

from __future__ import annotations

from tracebuf.deallocate.facts import flow_blocks
from tracebuf.frozen import plain
from tracebuf.ir.core import Block, Op, Value
from tracebuf.ir.dims import Dim
from tracebuf.ir.func import Func
from tracebuf.ir.slices import Slice
from tracebuf.ir.types import INDEX, MemRefType, unnamed
from tracebuf.ops.arrays import linalg
from tracebuf.ops.arrays.gather import Element
from tracebuf.ops.control import scf
from tracebuf.ops.control.checks import Check
from tracebuf.ops.memory import memref
from tracebuf.ops.memory.indexing import constant_index
from tracebuf.ops.scalars import arith
from tracebuf.optimize.buffers.writer import IndexWriter

BLOCK_BYTES = 2**15
"""Of all vectors of a block together."""
FEWEST, MOST = 256, 4096
"""Elements of a block."""


@plain(eq=True, slots=True)
class _Sweeps:
    """A loop that may run in blocks: the function's arguments, the ops that are the same in each iteration, the length
    of the vectors, those that are stored to by the buffer that they are part of, and for each op that sweeps the
    operands that are vectors."""

    loop: scf.For
    arguments: list[Value]
    fixed: dict[Op, None]
    length: Dim
    stored: dict[Value, Value]
    swept: dict[Op, list[int]]

    def is_fixed(self, value: Value) -> bool:
        return _is_fixed(value, self.loop, self.fixed)

    @property
    def block(self) -> int:
        """How many elements a block has."""
        vectors = {op.operand(k) for op, places in self.swept.items() for k in places}
        room = BLOCK_BYTES // sum(v.memref_type.element.itemsize for v in vectors)
        return max(FEWEST, min(MOST, 1 << max(room.bit_length() - 1, 0)))


def sweep_by_blocks(func: Func) -> None:
    """Puts a loop over blocks around each such loop."""
    for block in list(flow_blocks(func)):
        found = [f for op in block.ops if isinstance(op, scf.For) and (f := _sweeps(op, func.block.args)) is not None]
        if found:
            made: dict[Op, list[Op]] = {f.loop: _in_blocks(f) for f in found}
            block.replace_ops([o for op in block.ops for o in made.get(op, [op])])


# -- which loops


def _sweeps(loop: scf.For, arguments: list[Value]) -> _Sweeps | None:
    if loop.results:
        return None
    fixed, checked = dict[Op, None](), False
    for op in loop.body.ops[:-1]:
        checked |= isinstance(op, Check)  # that a view after it is within its array, say
        same = isinstance(op, memref.Cast | arith.ScalarOp) or (isinstance(op, memref.Subview) and not checked)
        if same and not isinstance(op, Element) and all(_is_fixed(v, loop, fixed) for v in op.operands):
            fixed[op] = None
    swept = {op: places for op in loop.body.ops if (places := _swept(op)) is not None}
    targets = {op.operand(len(op.operands) - 1) for op in swept}
    stored = {memref.base_of(v): v for v in targets}
    lengths = {v.memref_type.shape[0] for v in targets}
    if len(lengths) != 1 or len(stored) != len(targets) or not all(_is_fixed(v, loop, fixed) for v in targets):
        return None
    length = lengths.pop()
    if isinstance(length, int):
        return None
    found = _Sweeps(loop, arguments, fixed, length, stored, swept)
    return found if all(op in fixed or _may_be_blocked(op, found) for op in loop.body.ops[:-1]) else None


def _swept(op: Op) -> list[int] | None:
    """The operands of an element-wise op on vectors that are vectors; None for any other op."""
    if isinstance(op, memref.Copy):
        vectors = [0, 1]
    elif isinstance(op, linalg.Fill):
        vectors = [1]
    elif type(op) is linalg.Generic and op.all_parallel and len(op.iterators) == 1 and op.n_ins == len(op.operands) - 1:
        vectors = [k for k, m in enumerate(op.maps) if m.is_identity]
        others = [op.operand(k) for k in range(len(op.maps)) if k not in vectors]
        plain_body = all(isinstance(o, arith.ScalarOp) and not o.may_raise for o in op.body.ops[:-1])
        if op.n_ins not in vectors or op.attrs.get("ordered") or not plain_body or any(map(_is_memref, others)):
            return None
    else:
        return None
    return vectors if all(op.operand(k).memref_type.rank == 1 for k in vectors) else None


def _may_be_blocked(op: Op, found: _Sweeps) -> bool:
    if (places := found.swept.get(op)) is not None:
        vectors = [op.operand(k) for k in places]
        return all(v.memref_type.shape[0] == found.length and _is_apart(v, found) for v in vectors)
    if isinstance(op, Check):
        before = found.loop.body.ops[: found.loop.body.op_index(op)]
        return all(map(found.is_fixed, op.operands)) and not any(o in found.swept for o in before)
    if isinstance(op, memref.Load):
        return _is_apart(op.operand(0), found) and memref.base_of(op.operand(0)) not in found.stored
    if isinstance(op, memref.Subview | memref.Cast | memref.Dim):
        return memref.base_of(op.operand(0)) not in found.stored
    return isinstance(op, arith.ScalarOp) and not op.regions and not any(map(_is_memref, op.operands))


def _is_apart(buffer: Value, found: _Sweeps) -> bool:
    """Whether a buffer is one that is stored to, as it is stored to, or certainly another one: an array that the
    function makes, or an argument's."""
    base = memref.base_of(buffer)
    if base in found.stored:
        return found.stored[base] is buffer
    return isinstance(base.defining_op, memref.Alloc) or base in found.arguments


def _is_fixed(value: Value, loop: scf.For, fixed: dict[Op, None]) -> bool:
    """Whether a value is the same in each iteration: from outside, or computed by one of the ops that are."""
    op = value.defining_op
    return op in fixed or op.block is not loop.body if op is not None else value.owner is not loop.body


def _is_memref(value: Value) -> bool:
    return isinstance(value.type, MemRefType)


# -- in blocks


def _in_blocks(found: _Sweeps) -> list[Op]:
    """The ops in the loop's place, which is put into a loop over blocks."""
    loop, loc, size = found.loop, found.loop.loc, found.block
    before, outer, around = IndexWriter(list(found.fixed), loc), IndexWriter([], loc), Block([INDEX])
    n = whole = before.emit(memref.Dim.of(next(iter(found.stored.values())), 0, loc))
    if any(isinstance(op, Check) for op in loop.body.ops):
        n = before.op(arith.MaxSI, n, 1)  # they are made where the vectors are empty too
    start = around.args[0]
    count = outer.op(arith.MinSI, outer.sub(whole, start), size)
    length, views, body = unnamed(), dict[Value, Value](), list[Op]()

    def view(v: Value) -> Value:
        if v not in views:
            part = Slice((start,), (count,), (1,), (0,))
            made = memref.Subview.of(v, part, (length,), loc)
            (outer.ops if found.is_fixed(v) else body).append(made)
            views[v] = made.result
        return views[v]

    for op in (o for o in loop.body.ops if o not in found.fixed):
        for k in found.swept.get(op, ()):
            op.uses[k].set(view(op.operand(k)))
        body.append(op)
    loop.body.replace_ops(body)
    around.replace_ops([*outer.ops, loop, scf.Yield.of([], loc)])
    bounds = [before.value(0), n, before.value(size)]
    made = scf.For.of(bounds, [], around, loc)
    made.attrs["swept"] = True
    ops = [*before.ops, made]
    return _if_run(loop, ops) if any(isinstance(op, memref.Subview) for op in found.fixed) else ops


def _if_run(loop: scf.For, ops: list[Op]) -> list[Op]:
    """The ops, where the loop has an iteration."""
    lower, upper = (x if (n := constant_index(x)) is None else n for x in loop.operands[:2])
    asked = IndexWriter([], loop.loc)
    runs = asked.test("slt", lower, upper)
    if isinstance(runs, bool):
        return ops
    then, orelse = Block(), Block()
    then.replace_ops([*ops, scf.Yield.of([], loop.loc)])
    orelse.append(scf.Yield.of([], loop.loc))
    return [*asked.ops, scf.If.of(runs, [], then, orelse, loop.loc)]
