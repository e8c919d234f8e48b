"""What is stored under a mask, and computed from what the same mask selects, is computed where it is stored.

In `z[m] = z[m] * z[m] + c[m]` no array is compressed: one loop over the mask reads z and c where m is True, and stores.
Only where the value is element-wise and cheap: a loop over compressed arrays is in vectors, one under a mask is not. As
in eager NumPy nothing is computed where the mask is False, so that it may raise or trap. Nothing moves past a store to
what it reads (rule S4), and of the array that is stored to, only the element itself is read. MLIR has no counterpart.
"""

from __future__ import annotations

from collections.abc import Sequence

from tracebuf.frozen import plain
from tracebuf.ir.clone import clone_op
from tracebuf.ir.core import Block, Op, Value
from tracebuf.ir.func import Func
from tracebuf.ops.arrays import gather, tensor
from tracebuf.ops.arrays.linalg import AffineMap, Generic, Index, identity_map
from tracebuf.ops.arrays.scatter import Scatter
from tracebuf.ops.scalars import arith
from tracebuf.ops.scalars.libm import Libm
from tracebuf.optimize.tensors.fuse import is_elementwise_producer, is_new
from tracebuf.optimize.tensors.versions import Versions

MAX_OPS = 16
"""Most scalar ops of a value that is computed under a mask: beyond that vectors make up for the arrays."""


@plain(eq=True, slots=True)
class _Masked:
    """A store under a mask: of `value`, which is the operand `held` of the op."""

    op: Scatter
    held: int

    @property
    def mask(self) -> Value:
        return self.op.operand(_mask_of(self.op))  # type: ignore[arg-type]

    @property
    def value(self) -> Value:
        return self.op.operand(self.held)


def compute_under_masks(func: Func) -> None:
    """Rewrites every such store, in program order."""
    stores = [made for op in func.walk() if isinstance(op, Scatter) and (made := _masked_store(op)) is not None]
    versions: Versions | None = None
    for store in stores:
        versions = versions or Versions(func)
        makers = _makers(store)
        if makers is None:
            continue
        reads = [op for op in makers if isinstance(op, Scatter)]
        if all(_may_read_late(op, store, versions) and _dies_alone(op, store, makers, versions) for op in reads):
            versions.stands_for(_rewrite(store), store.op)
            for op in reversed(makers):
                _erase_unused(op)


# -- what may be computed there


def _mask_of(op: Scatter) -> int | None:
    """The input that is the mask: the loops are its axes, and each iteration stores and counts where it is True."""
    do, counted = op.body.terminator.operands[:2]
    if do is not counted or do.owner is not op.body or do.index >= op.n_ins:
        return None
    return do.index if op.maps[do.index].is_identity else None


def _masked_store(op: Scatter) -> _Masked | None:
    """The op as `a[mask] = v`, where v has an element for each True of the mask."""
    if not op.results or op.attrs["fills"] or op.looks or _mask_of(op) is None:
        return None
    places = [v.defining_op for v in op.body.terminator.operands[3:]]
    if len(places) != len(op.iterators) or not all(isinstance(p, Index) and p.dim == k for k, p in enumerate(places)):
        return None
    for i in range(op.n_ins):
        reads = [use for use in op.body.args[i].uses if op.maps[i].whole]
        if reads and all(isinstance(u.op, gather.Element) and u.op.operands[1:] == [op.step] for u in reads):
            return _Masked(op, i)
    return None


def _compressed(op: Op | None, store: _Masked) -> Value | None:
    """What `op` compresses by the mask of the store."""
    if not isinstance(op, Scatter) or not op.results or not op.attrs["fills"] or op.block is not store.op.block:
        return None
    at = _mask_of(op)
    _, _, element, *place = op.body.terminator.operands
    if at is None or op.operand(at) is not store.mask or place != [op.step] or element.owner is not op.body:
        return None
    own = element.index
    return op.operand(own) if own < op.n_ins and op.maps[own].is_identity else None


def _makers(store: _Masked) -> list[Op] | None:
    """The ops that make the value, in program order: compressions by the mask and cheap element-wise ops of what they
    leave, which nothing but these and the store reads. None where something else takes part."""
    found: dict[Op, None] = {}
    work, block = [store.value], store.op.block
    while work:
        op = work.pop().defining_op
        if op in found:
            continue
        if op is None:
            return None
        if _compressed(op, store) is None:
            if not isinstance(op, Generic) or op.block is not block or not _is_cheap(op):
                return None
            work += [op.operand(i) for i in range(op.n_ins) if op.maps[i].results]
        found[op] = None
    computed = [op for op in found if not isinstance(op, Scatter)]
    users = {use.op for op in computed for use in op.results[0].uses}
    if not users <= {*computed, store.op} or sum(len(op.regions[0].block.ops) - 1 for op in computed) > MAX_OPS:
        return None
    assert block is not None
    return sorted(found, key=block.op_index)


def _is_cheap(op: Generic) -> bool:
    """Whether an op is element-wise on vectors and numbers, with nothing that NumPy or the C library computes."""
    dear = (arith.Ufunc, Libm, gather.Element, gather.CheckedIndex, gather.SortedPlace)
    return (
        not isinstance(op, Scatter)
        and len(op.iterators) == 1
        and is_elementwise_producer(op)
        and all(not m.whole and (m.is_identity or not op.operand(i).is_tensor) for i, m in enumerate(op.maps))
        and all(isinstance(o, arith.ScalarOp) and not isinstance(o, dear) for o in op.body.ops[:-1])
    )


def _may_read_late(op: Scatter, store: _Masked, versions: Versions) -> bool:
    """Not if what is compressed gets its next version before the store (rule S4), or is the array that is stored to at
    other elements."""
    source, block = _compressed(op, store), store.op.block
    assert source is not None and block is not None
    dest = store.op.operand(store.op.n_ins)
    if versions.same_storage(source, dest) and source is not dest:
        return False
    return not versions.written_between(source, block, versions.place(op), versions.place(store.op))


def _dies_alone(op: Scatter, store: _Masked, makers: Sequence[Op], versions: Versions) -> bool:
    """Not if what is compressed is an array that eager NumPy frees then, and others may be made before the store."""
    source, block = _compressed(op, store), store.op.block
    assert source is not None and block is not None
    if versions.last_use(source, block) >= versions.place(store.op) or not is_new(source, block):
        return True
    own = {*makers, *(maker.operands[-1].defining_op for maker in makers)}
    between = [o for o in block.ops[block.op_index(op) + 1 : block.op_index(store.op)] if o not in own]
    views = (tensor.ExtractSlice, tensor.Dim)
    return not any(o.regions or (any(r.is_tensor for r in o.results) and not isinstance(o, views)) for o in between)


# -- computing it there


class _Rewriting:
    """A new body for the store, which computes the value in the place of reading it, with the operands it needs."""

    __slots__ = ("block", "elements", "inputs", "locs", "maps", "store")

    def __init__(self, store: _Masked) -> None:
        self.store, self.block = store, Block()
        self.inputs: list[Value] = []
        self.maps: list[AffineMap] = []
        self.locs: list[object] = []
        self.elements: dict[Value, Value] = {}  # of compressed arrays

    def take(self, value: Value, map_: AffineMap, arg: Value) -> Value:
        """The argument for one more operand."""
        self.inputs.append(value)
        self.maps.append(map_)
        return self.block.add_arg(arg.type)

    def append(self, op: Op) -> Op:
        self.block.append(op)
        return op

    def element(self, value: Value) -> Value:
        """An element of a compressed array."""
        if value not in self.elements:
            op, n = value.defining_op, len(self.store.op.iterators)
            assert isinstance(op, Generic)
            self.locs += op.attrs.get("fused_locs", (op.loc,))
            if (source := _compressed(op, self.store)) is not None:
                arg = op.body.args[op.operands.index(source)]
                self.elements[value] = self.take(source, identity_map(n), arg)
            else:
                self.elements[value] = self.computed(op)
        return self.elements[value]

    def computed(self, op: Generic) -> Value:
        """An element of the op's result: its body, copied."""
        n, inner = len(self.store.op.iterators), dict[Value, Value]()
        for value, map_, arg in zip(op.operands[: op.n_ins], op.maps, op.body.args):
            inner[arg] = self.element(value) if map_.results else self.take(value, AffineMap(n, ()), arg)
        for o in op.body.ops[:-1]:
            clone_op(o, inner, self.append)
        result = op.body.terminator.operand(0)
        return inner.get(result, result)


def _rewrite(store: _Masked) -> Scatter:
    """The store with a body that computes the value, in the place of the one that reads it."""
    old, new, mapping = store.op, _Rewriting(store), dict[Value, Value]()
    args = old.body.args
    for i in range(old.n_ins):
        if i != store.held:
            mapping[args[i]] = new.take(old.operand(i), old.maps[i], args[i])
    element = new.element(store.value)
    for arg in args[old.n_ins :]:
        mapping[arg] = new.block.add_arg(arg.type)
    for op in old.body.ops:
        if isinstance(op, gather.Element) and op.operand(0) is args[store.held]:
            mapping[op.result] = element
        else:
            clone_op(op, mapping, new.append)
    made = Scatter.into(new.inputs, old.operand(old.n_ins), new.maps, new.block, old.loc)
    made.attrs["fused_locs"] = (*new.locs, *old.attrs.get("fused_locs", (old.loc,)))
    assert old.block is not None
    old.block.insert_before(old, made)
    old.result.replace_all_uses(made.result)
    old.erase()
    return made


def _erase_unused(op: Op) -> None:
    """Erases an op whose result nothing reads, and the array that was for it."""
    if op.results[0].uses:
        return
    empty = op.operands[-1].defining_op
    op.erase()
    if isinstance(empty, tensor.Empty) and not empty.result.uses:
        empty.erase()
