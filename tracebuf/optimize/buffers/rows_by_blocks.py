"""Ops that go over the same rows run one after the other on each block of rows, which stays in the cache.

    e = np.exp(x - x.max(axis=1, keepdims=True))        for b in range(0, n, BLOCK):  # rows b : b + BLOCK of all of it
    return e / e.sum(axis=1, keepdims=True)       is        m = x.max(...); e = np.exp(x - m); s = e.sum(...); e /= s

So each row is read from memory once, and an array that is made and freed between these ops has a block's size. The rows
may be elements of vectors. Each element takes the same steps in the same order, so the bits are the same.

An op goes over rows if each array that it writes is indexed by one of its parallel loops along the first axis, and by
that loop nowhere else. What it reads is indexed so too, or not at all by that loop: then no op of the block writes it.
MLIR counterpart: tile-and-fuse along one parallel dimension (scf::tileConsumerAndFuseProducersUsingSCF), on buffers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field

from tracebuf.deallocate.facts import flow_blocks
from tracebuf.frozen import plain
from tracebuf.ir.clone import clone_func
from tracebuf.ir.core import Block, Mixed, Op, Value
from tracebuf.ir.dims import Dim, add, dim_max, dim_min, floordiv, product
from tracebuf.ir.func import Func
from tracebuf.ir.slices import Slice
from tracebuf.ir.types import INDEX, MemRefType, unnamed
from tracebuf.ops.arrays import linalg
from tracebuf.ops.arrays.gather import Element
from tracebuf.ops.control import scf
from tracebuf.ops.control.structure import Index
from tracebuf.ops.memory import memref
from tracebuf.ops.scalars import arith
from tracebuf.ops.scalars.division import FloorDivIndex
from tracebuf.optimize.buffers.writer import IndexWriter

BLOCK_BYTES = 2**17
"""Of the rows of a block, of all arrays together."""
LINES = 64
"""Of vectors a block has a multiple of so many elements: whole cache lines of each."""


@plain()
class _Rows:
    """Ops over the same rows, as many as `length` says, with the operands whose rows they see; what goes before the
    loop over blocks, and what is freed behind it. Of each buffer the views whose rows are seen, those that are written,
    and those that are seen as a whole."""

    arguments: Sequence[Value]
    length: Dim
    strict: bool = False
    ops: dict[Op, list[int]] = field(default_factory=dict)
    before: dict[Op, None] = field(default_factory=dict)
    freed: dict[Value, Op] = field(default_factory=dict)
    rows: dict[Value, set[Value]] = field(default_factory=dict)
    written: set[Value] = field(default_factory=set)
    whole: set[Value] = field(default_factory=set)
    idle: list[Value] = field(default_factory=list)
    """What is freed, and whose memory no array that is made later takes."""
    reused: dict[Value, Value] = field(default_factory=dict)
    """Of arrays that are made later those whose memory they take."""
    takes_more: bool = False
    """Whether another array is made later, which would be there at the same time."""

    def takes(self, op: Op) -> bool:
        """Takes in an op that is over these rows, or may go before or behind all of them; False for any other."""
        if (found := _over_rows(op)) is not None:
            return found[0] == self.length and self._takes_rows(op, found[1])
        if isinstance(op, memref.Dealloc):
            self.freed[op.operand(0)] = op
            self.idle.append(op.operand(0))
            return True
        if isinstance(op, memref.Alloc):
            free = not (self.strict and self.freed)
            self._make(op)
        elif isinstance(op, memref.Load):
            free = self._is_apart(op.operand(0)) and memref.base_of(op.operand(0)) not in self.written
        else:
            pure = isinstance(op, arith.ScalarOp) and not isinstance(op, Element) and not op.regions
            free = isinstance(op, memref.Cast | memref.Subview | memref.Dim) or (pure and not op.may_raise)
        if free:
            self.before[op] = None
        return free

    def _make(self, op: memref.Alloc) -> None:
        """An array that is made when others are freed takes the memory of one of them: it is there beside the rest."""
        alike = (v for v in self.idle if v.type == op.result.type and _order_of(v) == _order_of(op.result))
        if (old := next(alike, None)) is not None:
            self.idle.remove(old)
            self.reused[op.result] = old
        elif self.idle:
            self.takes_more = True

    def _takes_rows(self, op: Op, places: list[int]) -> bool:
        n_ins = op.n_ins if isinstance(op, linalg.DestinationOp) else 1
        arrays = {k: v for k, v in enumerate(op.operands) if isinstance(v.type, MemRefType)}
        bases = {k: memref.base_of(v) for k, v in arrays.items()}
        written = self.written | {base for k, base in bases.items() if k >= n_ins}
        whole = self.whole | {base for k, base in bases.items() if k not in places}
        rows = {base: set(self.rows.get(base, ())) for base in bases.values()}
        for k in places:
            rows[bases[k]].add(_rows_of(arrays[k]))
        if not all(map(self._is_apart, arrays.values())):
            return False
        if any(base in written and (base in whole or len(views) > 1) for base, views in rows.items()):
            return False
        self.rows.update(rows)
        self.written, self.whole = written, whole
        self.ops[op] = places
        return True

    def _is_apart(self, buffer: Value) -> bool:
        """Whether a buffer is an array that the function makes, or an argument: certainly another than the others."""
        base = memref.base_of(buffer)
        return isinstance(base.defining_op, memref.Alloc) or base in self.arguments

    @property
    def views(self) -> list[Value]:
        """The arrays whose rows are seen, each once."""
        return list(dict.fromkeys(op.operand(k) for op, places in self.ops.items() for k in places))

    @property
    def local(self) -> dict[Value, None]:
        """The arrays that are freed here, and nothing else sees: of a block's size they are enough."""
        found: dict[Value, None] = {}
        for v, free in self.freed.items():
            op = v.defining_op
            if isinstance(op, memref.Alloc) and op.block is free.block:
                uses = [u for u in v.uses if u.op is not free]
                in_order = op.attrs["order"] == tuple(range(v.memref_type.rank))
                if in_order and uses and all(u.index in self.ops.get(u.op, ()) for u in uses):
                    found[v] = None
        return found

    @property
    def pays(self) -> bool:
        """Whether one of the arrays that have the most axes is seen by two of the ops, and no more memory is in use at
        once than it was."""
        local = self.local
        if self.takes_more or not all(new in local and old in local for new, old in self.reused.items()):
            return False
        rank = max((v.memref_type.rank for v in self.views), default=0)
        uses = [
            base for op, places in self.ops.items() for base in {memref.base_of(op.operand(k)) for k in places}
            if base.memref_type.rank == rank
        ]  # fmt: skip
        return len(uses) > len(set(uses))


def rows_by_blocks(func: Func) -> None:
    """Puts a loop over blocks around each such sequence of ops; nothing changes where threads share the nests, or what
    runs is a block already. The attribute `before_blocks` keeps the program that it was, whose `at_most` says whether
    arrays have become smaller."""
    if func.attrs.get("parallel"):
        return
    before: Func | None = None
    for block in list(flow_blocks(func)):
        if _is_swept(block):
            continue
        ops, made, k = list(block.ops), list[Op](), 0
        smaller: set[Op] = set()
        while k < len(ops):
            found, end = _sequence(ops, k, func.block.args)
            if found is None:
                made += ops[k:end]
            else:
                before = before or clone_func(func)[0]
                smaller.update(v.defining_op for v in found.local if v.defining_op is not None)
                before.attrs["at_most"] = bool(smaller) or before.attrs.get("at_most", False)
                made += _in_blocks(found)
            k = end
        if made != ops:
            block.replace_ops([op for op in made if op not in smaller])
        for op in smaller:
            op.drop_uses()
    if before is not None:
        func.attrs["before_blocks"] = before


# -- which ops


def _is_swept(block: Block) -> bool:
    """Whether a block is in a loop over blocks (sweep_by_blocks.py)."""
    op = block.parent_op
    while op is not None and not op.attrs.get("swept"):
        op = op.parent_op
    return op is not None


def _sequence(ops: Sequence[Op], start: int, arguments: Sequence[Value]) -> tuple[_Rows | None, int]:
    """The ops over the same rows from here on, None where no loop is made of them, and where they end."""
    if (first := _over_rows(ops[start])) is None:
        return None, start + 1
    end = start + 1
    for strict in (False, True):
        tried, end = _Rows(arguments, first[0], strict), start + 1
        for k in range(start, len(ops)):
            if not tried.takes(ops[k]):
                break
            if ops[k] in tried.ops or isinstance(ops[k], memref.Dealloc):
                end = k + 1
        found = _Rows(arguments, first[0], strict)
        for op in ops[start:end]:
            found.takes(op)
        if found.pays:
            return found, end
    return None, end


def _over_rows(op: Op) -> tuple[Dim, list[int]] | None:
    """How many rows an op goes over, and the operands whose rows it sees; None for any other op."""
    if isinstance(op, linalg.Fill) or (isinstance(op, memref.Copy) and op.attrs.get("reason") == "store"):
        shape = op.operand(1).memref_type.shape if isinstance(op.operand(1).type, MemRefType) else ()
        places = [0, 1] if isinstance(op, memref.Copy) else [1]
    elif type(op) is linalg.Generic and op.n_ins < len(op.operands) and not (op.attrs.get("ordered") or op.may_raise):
        out = op.maps[op.n_ins]
        r = out.results[0] if out.results and not out.whole else None
        if r is None or not all(m.runs for m in op.maps) or op.iterators[r] != "parallel":
            return None
        if any(isinstance(o, Index) and o.dim == r for o in op.walk()):
            return None
        places = [k for k, m in enumerate(op.maps) if r in m.results]
        if any(op.maps[k].results[0] != r or op.maps[k].whole for k in places):
            return None
        if any(k not in places for k in range(op.n_ins, len(op.operands))):
            return None
        shape = op.operand(op.n_ins).memref_type.shape
    else:
        return None
    return (shape[0], places) if shape and not isinstance(shape[0], int) else None


def _order_of(v: Value) -> tuple[int, ...] | None:
    """The order of axes of an array that the function makes."""
    order: tuple[int, ...] | None = None if v.defining_op is None else v.defining_op.attrs.get("order")
    return order


def _rows_of(v: Value) -> Value:
    """The buffer each of whose rows has that row of a view; or the view."""
    while isinstance(op := v.defining_op, memref.Cast | memref.Subview):
        if isinstance(op, memref.Subview):
            s, source = op.slice, op.operand(0).memref_type
            first = s.dims[:1] == (0,) and 0 not in s.dims[1:] and (s.offsets[0], s.strides[0]) == (0, 1)
            if not first or v.memref_type.shape[0] != source.shape[0]:
                return v
        v = op.operand(0)
    return v


# -- in blocks


def _rows_in_block(outer: IndexWriter, n: Value, in_row: Mixed) -> Mixed:
    """How many rows a block has, at least one; all of them if they fit, which takes no division."""
    if isinstance(in_row, int):
        rows = max(BLOCK_BYTES // max(in_row, 1), 1)
        return rows if rows < LINES else rows - rows % LINES
    few, many = IndexWriter([], outer.loc), IndexWriter([], outer.loc)
    all_rows = few.op(arith.MinSI, n, BLOCK_BYTES)  # fewer only where a row has no bytes
    found = few.op(arith.MaxSI, all_rows, 1), many.op(arith.MaxSI, many.op(FloorDivIndex, BLOCK_BYTES, in_row), 1)
    then, otherwise = Block(), Block()
    for block, writer, value in zip((then, otherwise), (few, many), found):
        block.replace_ops([*writer.ops, scf.Yield.of([value], outer.loc)])
    fits = outer.emit(arith.CmpI.of("slt", outer.op(arith.MulI, n, in_row), outer.value(BLOCK_BYTES), outer.loc))
    made = scf.If.of(fits, [INDEX], then, otherwise, outer.loc)
    outer.ops.append(made)
    return made.results[0]


def _bytes_in_row(found: _Rows, outer: IndexWriter) -> tuple[dict[Dim, Mixed], Mixed, Dim]:
    """The sizes of rows by what their types say, and the bytes of a row of all arrays, as a value and by the types."""
    known: dict[Dim, Mixed] = {}
    itemsizes: dict[tuple[Dim, ...], int] = {}  # of all arrays whose rows have that shape
    local = found.local
    for v in found.views:
        origin, shape = v.defining_op if v in local else None, v.memref_type.shape
        for k, axis in enumerate(shape[1:]):
            if isinstance(origin, memref.Alloc):
                known.setdefault(axis, origin.sizes[1 + k])
            elif axis not in known:
                known[axis] = axis if isinstance(axis, int) else outer.emit(memref.Dim.of(v, 1 + k, outer.loc))
        itemsizes[shape[1:]] = itemsizes.get(shape[1:], 0) + v.memref_type.element.itemsize
    in_row: Mixed = 0
    typed: Dim = 0
    for row, itemsize in itemsizes.items():
        size: Mixed = itemsize
        for axis in row:
            size = outer.product(size, known[axis])
        in_row, typed = outer.add(in_row, size), add(typed, product((itemsize, *row)))
    return known, in_row, typed


def _smaller(
    found: _Rows, outer: IndexWriter, n: Value, step: Mixed, in_row: Dim, known: dict[Dim, Mixed]
) -> dict[Value, Value]:
    """Arrays of a block's size in the place of local ones, which are freed instead of these. Where the rows of one have
    a size that is known but those of others do not, it has as many as a block has at most: that takes no division."""
    most = step if isinstance(step, int) else dim_max(1, floordiv(BLOCK_BYTES, dim_max(in_row, 1)))
    made: dict[Value, Value] = {}
    for v in found.local:
        if v in found.reused:
            continue
        op, (_, *row) = v.defining_op, v.memref_type.shape
        assert isinstance(op, memref.Alloc)
        own = product((v.memref_type.element.itemsize, *row))
        rows: tuple[Dim, Mixed] = most, step
        if isinstance(own, int) and not isinstance(in_row, int):
            rows = (max(BLOCK_BYTES // max(own, 1), 1),) * 2
        shape = dim_min(found.length, rows[0]), *row
        sizes = [outer.op(arith.MinSI, n, rows[1]), *(known[d] for d in row)]
        order, reason = op.attrs["order"], op.attrs["reason"]
        made[v] = outer.emit(memref.Alloc.of(shape, v.memref_type.element, sizes, order, reason, op.loc))
        found.freed[v].uses[0].set(made[v])
    for v, old in found.reused.items():
        made[v] = made[old]
    return made


def _in_blocks(found: _Rows) -> list[Op]:
    """The ops in their place: what goes before, the loop over blocks, what is freed behind it."""
    loc, local = next(iter(found.ops)).loc, found.local
    outer = IndexWriter([op for op in found.before if not op.results or op.result not in local], loc)
    known, in_row, typed = _bytes_in_row(found, outer)
    n = outer.emit(memref.Dim.of(next(v for v in found.views if v not in local), 0, loc))
    step = _rows_in_block(outer, n, in_row)
    smaller = _smaller(found, outer, n, step, typed, known)
    step = outer.value(step)
    around = Block([INDEX])
    inner, start, length = IndexWriter([], loc), around.args[0], unnamed()
    count = inner.op(arith.MinSI, inner.sub(n, start), step)
    views: dict[Value, Value] = {}
    for v in found.views:
        rank, base = v.memref_type.rank, smaller.get(v, v)
        offsets: tuple[Mixed, ...] = (0 if v in smaller else start, *[0] * (rank - 1))
        part = Slice(offsets, (count, *(known[d] for d in v.memref_type.shape[1:])), (1,) * rank, tuple(range(rank)))
        views[v] = inner.emit(memref.Subview.of(base, part, (length, *v.memref_type.shape[1:]), loc))
    for op, places in found.ops.items():
        for k in places:
            op.uses[k].set(views[op.operand(k)])
    around.replace_ops([*inner.ops, *found.ops, scf.Yield.of([], loc)])
    loop = scf.For.of([outer.value(0), n, step], [], around, loc)
    loop.attrs["blocks"] = True  # of which each is work enough for a call
    for v in found.reused:
        found.freed.pop(v).drop_uses()
    return [*outer.ops, loop, *found.freed.values()]
