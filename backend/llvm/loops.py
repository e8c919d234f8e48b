"""A `lower.plan.Nest` as LLVM text: the loops, blocks with calls of NumPy's inner loops, folds.

The text follows the plan. A row is one run of the innermost loop; what does not vary in it is loaded before it. Where
the plan asks for a test of unit strides, the row is written twice. A body without calls is one loop over the row, else
the row is cut into blocks, and each stage is one loop over the block, then the calls; rows that are not longer than
`SHORT` are put into blocks several at a time. Loads of one iteration stand before its stores, and every out of a block
is written in the last stage, so an out may be exactly an input's buffer.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field, replace
from math import prod
from types import MappingProxyType
from typing import NamedTuple

from tracebuf.backend.layout import abi
from tracebuf.backend.llvm.code import Access, Code, OpenLoop
from tracebuf.backend.llvm.folds import FoldState
from tracebuf.backend.llvm.polls import Polls, cost
from tracebuf.backend.llvm.scalars import ELEMENT_SLOT, Scalars, memory_type
from tracebuf.frozen import frozen
from tracebuf.ir.core import Op, Value
from tracebuf.ir.emitter import components, join_components, llvm_type
from tracebuf.ir.types import I1, I64, MemRefType, ScalarType
from tracebuf.lower.plan import BLOCK, IN_ORDER, Nest, Operand, Stage
from tracebuf.ops.arrays.gather import CheckedIndex, Element, SortedPlace
from tracebuf.ops.arrays.linalg import Index
from tracebuf.ops.scalars import arith, casts

TINY = 16
"""LLVM's TinyTripCountVectorThreshold."""
CHEAP = 4
"""A strided loop of so few ops gains nothing from gathered vectors, which take twice the time to compile."""

GATHERED = 12
"""Bodies of more ops gain from vectors though their elements are gathered, which takes longer than to load each; so do
folds, whose sums side by side wait for memory longer."""
SHORT = 24
"""Elements of a row, up to which several are one block: a call of NumPy's loop costs as much as some ten elements."""
CHAINS = 8
"""Sums that a strided fold of few ops takes side by side, as NumPy's: an addition takes as long as four are apart. LLVM
makes them for a stride of 1 alone, for which it tests a stride that it does not know."""
FEW = 24
"""Elements of a row, up to which a fold takes them one by one."""
FIRST_PART = 64
"""Elements of a fold of bools after which it is asked whether it is decided."""
DEAR = 64
"""The units of an element's body from which on one pass over large operands takes much longer than memory does."""


FLAGS = 64
"""So many bools are compared and counted at a time."""
REGISTERS = 8
"""For so many pointers of rows there are registers; of more, LLVM finds out which are a constant apart."""


def _lookup_of(nest: Nest) -> SortedPlace | None:
    """The op that looks the innermost index up in rising bounds, as np.repeat by counts does, if there is one."""
    if nest.folds or nest.spec.ordered or nest.spec.scatters:
        return None
    for op in nest.spec.body.ops:
        if isinstance(op, SortedPlace) and op.attrs.get("rising") and op.attrs["right"]:
            looked_up, cast = op.operand(1), op.operand(1).defining_op
            index = cast.operand(0).defining_op if isinstance(cast, arith.IndexCast) else None
            if isinstance(index, Index) and nest.loops[-1].dims == (index.dim,) and looked_up.type is I64:
                return op
    return None


class Running(NamedTuple):
    """A fold in order by a loop of NumPy's: its call, the element it takes, and, where running results are stored, the
    out that they go to, and whether the first element stands for itself."""

    call: arith.Ufunc
    item: Value
    out: int | None
    begins: bool


def _running_of(nest: Nest) -> Running | None:
    """What `ufunc.accumulate` and `reduce` come to, for a ufunc that has no other form than NumPy's loop."""
    spec, body = nest.spec, nest.spec.body
    if len(nest.folds) != 1 or nest.folds[0].how != IN_ORDER or nest.blocked or spec.ordered or spec.scatters:
        return None
    total, yielded = body.args[nest.folds[0].out], body.terminator.operands
    new = yielded[0].defining_op
    begins = isinstance(new, arith.Select)
    call = new.operand(2).defining_op if isinstance(new, arith.Select) else new
    if not isinstance(call, arith.Ufunc) or len(call.uses) != 2 or call.operand(0) is not total or len(total.uses) > 1:
        return None
    item, others = call.operand(1), [k for k in range(spec.n_ins, len(spec.types)) if body.args[k] is not total]
    if len(set(yielded)) > 1 or len(call.result.uses) != (1 if begins else len(yielded)) or item.type is not total.type:
        return None
    if not others:
        return Running(call, item, None, False) if not begins and item in body.args else None
    if len(others) > 1 or body.args[others[0]].uses or body.args[others[0]].type is not total.type:
        return None
    if isinstance(new, arith.Select) and not (new.operand(1) is item and _is_first(new.operand(0), nest)):
        return None
    return Running(call, item, others[0], begins)


def computing(*values: Value) -> set[Op]:
    """The ops of the body that these values are computed by."""
    ops: set[Op] = set()
    work = [v.defining_op for v in values]
    while work:
        op = work.pop()
        if op is not None and op not in ops:
            ops.add(op)
            work += [v.defining_op for v in op.operands]
    return ops


def _is_first(condition: Value, nest: Nest) -> bool:
    """Whether a condition is that the innermost index is 0."""
    test = condition.defining_op
    if not isinstance(test, arith.CmpI) or test.attrs.get("predicate") != "eq":
        return False
    cast, zero = (v.defining_op for v in test.operands)
    index = cast.operand(0).defining_op if isinstance(cast, arith.IndexCast) else None
    known = isinstance(zero, arith.Constant) and zero.attrs["value"] == 0
    return known and isinstance(index, Index) and nest.loops[-1].dims == (index.dim,)


def _is_short(count: str) -> bool:
    return count.isdigit() and int(count) < TINY


@frozen()
class Buffer:
    """A memref as LLVM values: base pointer, pointer to element 0, sizes, strides; `type`: what is known of them."""

    type: MemRefType
    base: str
    pointer: str
    sizes: tuple[str, ...]
    strides: tuple[str, ...]
    roots: frozenset[int] = frozenset()
    """The storages it may be part of: alias scopes."""
    nbytes: str = "0"


class Scopes(dict[int, str]):
    """The alias scope of each storage; `near`: the storages that it may share bytes with, itself too."""

    def __init__(self, scopes: Mapping[int, str], near: Mapping[int, frozenset[int]]) -> None:
        super().__init__(scopes)
        self.near = near
        self.accesses: dict[frozenset[int], Access] = {}
        """What has been asked (`access_to`), by the storages."""


def access_to(code: Code, buffer: Buffer, scopes: Scopes) -> Access:
    """Alias metadata of an access: the storages it may touch, and those it cannot."""
    if len(scopes) < 2 or not buffer.roots:
        return Access()
    if (known := scopes.accesses.get(buffer.roots)) is not None:
        return known
    mine = ", ".join(scopes[r] for r in sorted(buffer.roots))
    near = frozenset[int]().union(*(scopes.near[r] for r in buffer.roots))
    others = ", ".join(scopes[r] for r in sorted(scopes.keys() - near))
    text = f", !alias.scope {code.metadata(mine)}"
    found = Access(text + (f", !noalias {code.metadata(others)}" if others else ""))
    scopes.accesses[buffer.roots] = found
    return found


@frozen()
class Row:
    """One run of the innermost loop, or one block of it: pointers and strides (LLVM values) of each operand, what is
    fixed, the indices of the loops around it, and where a block begins; of several rows that are one block, where in
    the block each begins.
    """

    pointers: dict[int, str]
    strides: dict[int, str]
    values: dict[Value, str]
    vectorize: bool = True
    indices: dict[int, str] = field(default_factory=dict)
    start: str = "0"
    within: str = ""
    several: str = ""
    """Whether there are several rows in the block."""


@frozen()
class Rows:
    """The rows of a block: how many, the strides between them, which is the first."""

    count: str
    strides: dict[int, str]
    start: str


class Around(NamedTuple):
    """What is around a nest: where it is written, and the values that its body may name; `first`: of outs that sums go
    to the literals that they begin with, where these are not stored before."""

    code: Code
    polls: Polls
    values: Mapping[Value, str]
    scopes: Scopes
    first: Mapping[int, str] = MappingProxyType({})


class Piece(NamedTuple):
    """The loops of a nest, whole or one piece of them: their sizes, by loop each operand's stride, whether (as an i1)
    the innermost strides are 1 that are tested, and the first index of each loop, 0 unless given."""

    sizes: Sequence[str]
    strides: Sequence[dict[int, str]]
    unit: str
    starts: Sequence[str] = ()


class Part(NamedTuple):
    """The iterations of the loop at a depth from `lo` to `hi` (LLVM values)."""

    depth: int
    lo: str
    hi: str


class NestWriter:
    """Writes one nest. `operands[k]` is a Buffer, or the value of a scalar operand."""

    def __init__(
        self, nest: Nest, operands: Sequence[Buffer | str], around: Around, part: Part | None = None
    ) -> None:
        """`part`: of one loop only some iterations."""
        code, self.part = around.code, part
        self.code, self.polls, self.nest, self.scopes = code, around.polls, nest, around.scopes
        self.scalars = Scalars(code)
        spec = nest.spec
        self.units = sum(map(cost, spec.body.ops))
        self.buffers = {k: b for k, b in enumerate(operands) if isinstance(b, Buffer)}
        self.values = {a: v for a, v in zip(spec.body.args, operands) if isinstance(v, str)}
        self.outer = around.values
        self.memory = {spec.body.args[o.index]: o for o in nest.operands}
        self.blocks: dict[Value, str] = {}
        self.elements = {o.index: memory_type(o.element) for o in nest.operands}
        self.stored = [o for o in nest.operands if o.written]
        self.failures: dict[CheckedIndex, str] = {}
        """For each op that raises after the loops, the slot that says whether it will."""
        self.within = frozenset[CheckedIndex]()
        """Those of them that are known to be within bounds where the text is written."""
        self.polled = 0, "0"
        """How many loops are around a poll in each iteration (0: none), and the units between two of them."""
        self.lookup, self.running = _lookup_of(nest), _running_of(nest)
        self.fold_of = {
            f.out: FoldState(code, f, self._element(f.out), k, around.first.get(f.out, ""))
            for k, f in enumerate(nest.folds)
        }

    def _element(self, k: int) -> ScalarType:
        type_ = self.nest.spec.types[k]
        assert isinstance(type_, MemRefType)
        return type_.element

    def write(self) -> None:
        for op in self.nest.spec.body.ops:
            if isinstance(op, CheckedIndex):
                self.failures[op] = self.code.fresh_slot("i1")
                self.code.do(f"store i1 false, ptr {self.failures[op]}")
        for op in self.nest.invariant:
            assert isinstance(op, arith.ScalarOp)
            self.values[op.result] = op.emit(self.scalars, [self._outer(v) for v in op.operands])
        where = self.nest.spec.sizes()
        sizes = [
            self.code.product([self.buffers[where[d][0]].sizes[where[d][1]] for d in lp.dims]) for lp in self.nest.loops
        ]
        strides = [{o.index: self._stride(o, depth) for o in self.nest.operands} for depth in range(len(sizes))]
        unit = [self.code.icmp("eq", strides[-1][k], "1") for k in self.nest.unit_test if strides[-1][k] != "1"]
        pointers = {o.index: self.buffers[o.index].pointer for o in self.nest.operands}
        starts: list[str] = []
        if self.part is not None:
            depth, lo, hi = self.part
            pointers = self._advance(pointers, strides[depth], lo)
            sizes[depth] = self.code.sub(hi, lo)
            if self.nest.loops[depth].dims[-1] in self.nest.spec.indexed:
                starts = ["0"] * len(sizes)
                starts[depth] = lo
        self._pieces(Piece(sizes, strides, self.code.every(unit), starts), pointers)

    def _pieces(self, whole: Piece, pointers: dict[int, str]) -> None:
        """The nest, its outer loops cut into pieces of about a budget of work, in the order of its iterations, with a
        poll after each.
        All of it is around the nest: a nest of short rows runs as if it were not there."""
        polls, code, sizes = self.polls, self.code, whole.sizes
        if self.nest.blocked or not self.nest.loops[-1].dims:
            self._loops(whole, pointers)
            return
        if all(n.isdigit() for n in sizes) and prod(map(int, sizes)) * self.units <= polls.chunk(self.units):
            self._loops(whole, pointers)
            polls.spend(str(prod(map(int, sizes)) * self.units))
            return
        levels = self._levels_to_cut()
        if not levels:
            self._loops(whole, pointers)
            polls.spend(code.product([*sizes, str(self.units)]))
            return
        inside = code.product([*sizes[levels:], str(self.units)])
        if self.nest.rare and levels < len(sizes):  # slow, and to be compiled soon
            self.polled = levels, inside
            self._loops(whole, pointers)
            return
        chunks = self._chunks(sizes[:levels], inside)

        def cut(inner: list[str], pointers: dict[int, str], starts: list[str]) -> None:
            depth = len(inner)
            if depth == levels:
                rest = sizes[levels:]
                begin = [*starts, *["0"] * len(rest)]
                if whole.starts:
                    begin = [code.add(a, b) for a, b in zip(whole.starts, begin, strict=True)]
                part = whole._replace(sizes=[*inner, *rest], starts=begin)
                self._loops(part, pointers)
                polls.poll(code.product([*inner, inside]))
                return
            with code.loop(sizes[depth], step=chunks[depth]) as loop:
                left = code.least(code.sub(sizes[depth], loop.index), chunks[depth])
                cut([*inner, left], self._advance(pointers, whole.strides[depth], loop.index), [*starts, loop.index])

        cut([], pointers, [])

    def _levels_to_cut(self) -> int:
        """How many of the outer loops are cut. One pass of cheap elements over the inner loops that an operand covers
        takes no longer than memory does, and is left whole: a loop more around it costs LLVM a tenth of its time."""
        depth = len(self.nest.loops)
        if self.units >= DEAR:
            return depth
        covers = (all(o.strides[k] != 0 for k in range(d, depth)) for d in range(depth) for o in self.nest.operands)
        count = len(self.nest.operands)
        return next((k // count for k, covered in enumerate(covers) if covered), depth)

    def _chunks(self, sizes: Sequence[str], inside: str) -> list[str]:
        """How many iterations of each loop are one piece: all, or if that is too much work, as many as fit into the
        budget of those loops that do not fit whole, and one of the loops around these. `inside`: the units of one
        iteration of the innermost of them."""
        code = self.code
        most = str(self.polls.chunk(max(int(inside), 1))) if inside.isdigit() else code.greatest(
            code.inst(f"sdiv i64 {abi.BUDGET}, {code.greatest(inside, '1')}"), "1"
        )  # fmt: skip
        if len(sizes) == 1:
            return [most]
        divide, ready, before = code.new_label(), code.new_label(), code.label
        code.branch(code.icmp("sgt", code.product(sizes), most), divide, ready, code.rarely())
        code.place(divide)
        found, inner = [most], "1"
        for n in reversed(sizes[1:]):
            inner = code.mul(inner, n)
            fit = code.inst(f"sdiv i64 {most}, {code.greatest(inner, '1')}")
            found.insert(0, code.greatest(fit, "1"))
        code.jump(ready)
        code.place(ready)
        return [code.inst(f"phi i64 [ {n}, %{before} ], [ {c}, %{divide} ]") for n, c in zip(sizes, found, strict=True)]

    def size_of(self, op: CheckedIndex) -> str:
        """The size of the axis that an index is checked against."""
        return self._outer(op.operand(1))

    def _outer(self, value: Value) -> str:
        return self.values[value] if value in self.values else self.outer[value]

    def _stride(self, operand: Operand, depth: int) -> str:
        known, loop = operand.strides[depth], self.nest.loops[depth]
        if isinstance(known, int):
            return str(known)
        map_, buffer = self.nest.spec.maps[operand.index], self.buffers[operand.index]
        total = "0"
        for axis, d in enumerate(map_.results):
            if d == loop.dims[-1]:
                total = self.code.add(total, buffer.strides[axis])
        return total

    def _loops(self, piece: Piece, pointers: dict[int, str], indices: dict[int, str] | None = None) -> None:
        """The loops inside of those that have `indices`, with the folds around those that they run over."""
        indices, count = indices or {}, len(piece.sizes)
        depth = len(indices)
        folding = depth == count - self.nest.fold_loops and self.nest.folds
        if folding and self._may_fold_few(piece, depth):
            code, few, many, end = self.code, *(self.code.new_label() for _ in range(3))
            code.branch(code.icmp("sle", piece.sizes[-1], str(FEW)), few, many)
            code.place(few)
            self._fold_few(piece, pointers, indices)
            code.jump(end)
            code.place(many)
            self._loops_of(piece, pointers, indices, folding=True)
            code.jump(end)
            code.place(end)
        else:
            self._loops_of(piece, pointers, indices, bool(folding))

    def _may_fold_few(self, piece: Piece, depth: int) -> bool:
        """Whether the folds are of rows that may be short: many of them, of a length that only the run time knows."""
        nest = self.nest
        if not 0 < depth == len(piece.sizes) - 1 or piece.sizes[-1].isdigit() or nest.rare:
            return False
        simple = len(nest.stages) == 1 and not nest.stages[0].calls and not self.failures and not nest.spec.ordered
        floats = all(s.fold.how != IN_ORDER and s.element.component.is_float for s in self.fold_of.values())
        return simple and floats and len(self.stored) == len(nest.folds)

    def _fold_few(self, piece: Piece, pointers: dict[int, str], indices: dict[int, str]) -> None:
        """The fold of a row of a few elements, one by one into its out: no vectors, blocks or levels to set up."""
        code, states = self.code, list(self.fold_of.values())
        start = piece.starts[-1] if piece.starts else "0"
        row = Row(pointers, piece.strides[-1], dict(self.values), False, indices, start)
        row = replace(row, values=self._fixed(row))
        carried = [part for k, s in self.fold_of.items() for part in s.start_of_few(pointers[k], self._access(k))]
        with code.loop(piece.sizes[-1], carried=carried, metadata=code.loop_metadata(*code.as_it_stands())) as loop:
            self._iteration(self.nest.stages[0], row, loop, True, (), "", states)
        ends = list(loop.carried)
        for k, s in self.fold_of.items():
            s.finish_few(s.take(ends), pointers[k], self._access(k))
        if self.nest.blocked:
            self.polls.poll(code.mul(piece.sizes[-1], str(self.units)))

    def _loops_of(self, piece: Piece, pointers: dict[int, str], indices: dict[int, str], folding: bool) -> None:
        count = len(piece.sizes)
        depth = len(indices)
        if folding:
            for k, state in self.fold_of.items():
                state.begin(pointers[k], self._access(k))
        if depth == count - 2 and not piece.starts and self._packs():
            self._rows(piece, pointers, indices)
        else:
            self._loop_or_row(piece, pointers, indices)
        if folding:
            for k, state in self.fold_of.items():
                state.finish(pointers[k], self._access(k))

    def _loop_or_row(self, piece: Piece, pointers: dict[int, str], indices: dict[int, str]) -> None:
        sizes, strides, starts, depth = piece.sizes, piece.strides, piece.starts, len(indices)
        if depth == len(sizes) - 1:
            start = starts[-1] if starts else "0"
            self._row(sizes[-1], Row(pointers, strides[-1], {}, not self.nest.rare, indices, start), piece.unit)
        else:
            dim = self.nest.loops[depth].dims[-1]
            with self.code.loop(sizes[depth]) as loop:
                inside = self._advance(pointers, strides[depth], loop.index)
                index = self.code.add(starts[depth], loop.index) if starts else loop.index
                self._loops(piece, inside, {**indices, dim: index})
                if depth + 1 == self.polled[0]:
                    self.polls.poll(self.polled[1])

    def _advance(self, pointers: dict[int, str], strides: dict[int, str], index: str) -> dict[int, str]:
        code = self.code
        return {k: code.offset(p, self.elements[k], code.mul(index, strides[k])) for k, p in pointers.items()}

    def _access(self, k: int, group: str = "") -> Access:
        return replace(access_to(self.code, self.buffers[k], self.scopes), group=group)

    # -- a row
    def _row(self, count: str, row: Row, unit: str) -> None:
        if unit == "true":
            self._row_version(count, replace(row, strides={k: self._unit(k, s) for k, s in row.strides.items()}))
            return
        code, yes, no, end = self.code, self.code.new_label(), self.code.new_label(), self.code.new_label()
        code.branch(unit, yes, no)
        code.place(yes)
        self._row_version(count, replace(row, strides={k: self._unit(k, s) for k, s in row.strides.items()}))
        code.jump(end)
        code.place(no)
        self._row_version(count, replace(row, vectorize=len(self.nest.spec.body.ops) > CHEAP))
        code.jump(end)
        code.place(end)

    def _unit(self, k: int, stride: str) -> str:
        return "1" if k in self.nest.unit_test else stride

    def _row_version(self, count: str, row: Row) -> None:
        """The row with these strides: fixed operands loaded, then one loop, or blocks."""
        if count == "0" and not self.nest.folds:
            return  # NumPy's loop of np.power raises before it counts
        code = self.code
        row = replace(row, values=self._fixed(replace(row, values=self.values)))
        if not self.nest.loops[-1].dims:
            self._once(row)
        elif not self.nest.blocked and not _is_short(count) and (end := self._decided_by()) is not None:
            self._until(end, row, count)
        elif not self.nest.blocked:
            self._stage(self.nest.stages[0], row, count, last=True)
        elif count.isdigit() and int(count) <= BLOCK:
            self._block(count, row)
        else:
            with code.loop(count, step=str(BLOCK)) as loop:
                left = code.least(code.sub(count, loop.index), str(BLOCK))
                inside = self._advance(row.pointers, row.strides, loop.index)
                self._block(left, replace(row, pointers=inside, start=code.add(row.start, loop.index)))

    def _decided_by(self) -> str | None:
        """The value that ends the only fold, of bools, if nothing is done but to fold."""
        folds = list(self.fold_of.values())
        if len(folds) != 1 or len(self.stored) != 1 or self.failures or self.nest.rare or folds[0].element is not I1:
            return None
        op = folds[0].fold.op
        return "true" if isinstance(op, arith.OrI) else "false" if isinstance(op, arith.AndI) else None

    def _until(self, end: str, row: Row, count: str) -> None:
        """A fold of bools, of which NumPy too looks at no more when it is decided: by parts, each larger than the one
        before."""
        code, (state,) = self.code, self.fold_of.values()
        with code.rounds([("i64", "0"), ("i64", str(FIRST_PART))]) as parts:
            here, size = parts.carried
            some, on = code.new_label(), code.new_label()
            code.branch(code.icmp("slt", here, count), some, parts.end)
            code.place(some)
            left = code.least(code.sub(count, here), size)
            inside = self._advance(row.pointers, row.strides, here)
            self._stage(
                self.nest.stages[0], replace(row, pointers=inside, start=code.add(row.start, here)), left, last=True
            )
            going = code.icmp("ne", code.load(I1, state.total), end, "i1")
            code.branch(going, on, parts.end)
            code.place(on)
            parts.next += [code.add(here, left), code.mul(size, "8")]

    def _fixed(self, row: Row) -> dict[Value, str]:
        """The row's values, with those of operands that do not vary in it."""
        found, args = dict(row.values), self.nest.spec.body.args
        for o in self.nest.operands:
            if o.read and not o.written and row.strides[o.index] == "0" and args[o.index] not in found:
                found[args[o.index]] = self.code.load(o.element, row.pointers[o.index], self._access(o.index))
        return found

    def _once(self, row: Row) -> None:
        """A nest without loops: one element, every op in its own order."""
        body = self.nest.spec.body
        values = dict(row.values)
        for op in body.ops[:-1]:
            if op.result not in values:
                values[op.result] = self._compute(op, row, "0", values, "")
        self._store_outs(row, "0", values, "")

    def _block(self, count: str, row: Row, rows: Rows | None = None) -> None:
        """A block of a row, or several rows of `count` elements, and a poll. Calls work on memory itself where
        elements follow one another in it."""
        total = self.code.mul(rows.count, count) if rows else count
        direct = self._direct_call(row)
        to = self._in_place(self.stored[0], row) if direct else "false"
        for stage in self.nest.stages:
            last = stage is self.nest.stages[-1]
            called = [v for call in stage.calls for v in call.operands if v in self.memory and v not in row.values]
            places = {v: self._in_place(self.memory[v], row) for v in called}
            needed = self._needed(stage, row, [to] if last else list(places.values()))
            if needed != "false":
                with self._where(needed):
                    self._stage_of(stage, row, count, last, [v for v in places if places[v] != "true"], rows)
            pointers = {
                v: memory if place == "true" else self._either(needed, self._buffer(v), memory)
                for v, place in places.items()
                for memory in (row.pointers[self.memory[v].index],)
            }
            for call in stage.calls:
                out = self._buffer(call.result) if call is not direct or to != "true" else ""
                if call is direct:
                    memory = row.pointers[self.stored[0].index]
                    out = memory if to == "true" else self._either(row.several, out, memory)
                self._call(call, row, total, out, pointers)
        self.polls.poll(self.code.mul(total, str(self.units)))

    def _needed(self, stage: Stage, row: Row, in_place: Sequence[str]) -> str:
        """Whether a stage has anything to do but calls, where memory takes the place of these blocks."""
        if stage.kept or "false" in in_place:
            return "true"
        return row.several if any(place != "true" for place in in_place) else "false"

    def _stage_of(
        self, stage: Stage, row: Row, count: str, last: bool, gathered: Sequence[Value], rows: Rows | None
    ) -> None:
        if rows is None:
            self._stage(stage, row, count, last, gathered)
            return
        code = self.code
        with code.loop(rows.count, metadata=code.loop_metadata(*code.as_it_stands())) as each:
            dim = self.nest.loops[-2].dims[-1]
            pointers = self._advance(row.pointers, rows.strides, each.index)
            indices = {**row.indices, dim: code.add(rows.start, each.index)}
            one = replace(row, pointers=pointers, indices=indices, within=code.mul(each.index, count))
            one = replace(one, values=self._fixed(one))
            self._stage(stage, one, count, last, gathered)

    def _in_place(self, o: Operand, row: Row) -> str:
        """Whether a call may work on an operand's memory: its elements follow one another."""
        if row.strides[o.index] != "1":
            return "false"
        if not row.within or o.strides[-2] == self.nest.loops[-1].size:
            return "true"
        return {"true": "false", "false": "true"}.get(row.several, "at run time")

    def _direct_call(self, row: Row) -> arith.Ufunc | None:
        """The call whose result may go straight to the out's memory: the last thing done, into one contiguous unread
        out.
        """
        calls = [c for stage in self.nest.stages for c in stage.calls]
        if not calls or self.nest.stages[-1].scalars or len(self.stored) != 1 or self.nest.folds:
            return None
        out, yielded = self.stored[0], self.nest.spec.body.terminator.operand(0)
        fits = self._in_place(out, row) != "false" and not out.read
        return calls[-1] if fits and yielded is calls[-1].result and len(yielded.uses) == 1 else None

    # -- several rows in a block
    def _packs(self) -> bool:
        """Whether several rows may be one block. Not where a call gets one element for a row, which NumPy's loop may
        compute with in another way than with as many equal ones."""
        nest = self.nest
        if not nest.blocked or nest.folds or nest.rare or nest.spec.ordered or any(lp.reduction for lp in nest.loops):
            return False
        if isinstance(n := nest.loops[-1].size, int) and n > SHORT:
            return False
        called = [self.memory[v] for s in nest.stages for c in s.calls for v in c.operands if v in self.memory]
        return all(o.strides[-1] != 0 or o.strides[-2] == 0 for o in called)

    def _rows(self, piece: Piece, pointers: dict[int, str], indices: dict[int, str]) -> None:
        """The last two loops in blocks: a part of one row, or several rows that are short."""
        if piece.unit == "true":
            self._rows_version(piece, pointers, indices)
            return
        code, yes, no, end = self.code, self.code.new_label(), self.code.new_label(), self.code.new_label()
        code.branch(piece.unit, yes, no)
        code.place(yes)
        known = [*piece.strides[:-1], {k: self._unit(k, s) for k, s in piece.strides[-1].items()}]
        self._rows_version(piece._replace(strides=known), pointers, indices)
        code.jump(end)
        code.place(no)
        self._rows_version(piece, pointers, indices, vectorize=len(self.nest.spec.body.ops) > CHEAP)
        code.jump(end)
        code.place(end)

    def _rows_version(
        self, piece: Piece, pointers: dict[int, str], indices: dict[int, str], vectorize: bool = True
    ) -> None:
        code, (rows, n), (outer, inner) = self.code, piece.sizes[-2:], piece.strides[-2:]
        args = self.nest.spec.body.args
        fixed = dict(self.values)
        for o in self.nest.operands:
            if o.read and not o.written and outer[o.index] == inner[o.index] == "0":
                fixed[args[o.index]] = code.load(o.element, pointers[o.index], self._access(o.index))
        known = n.isdigit()
        several = ("true" if int(n) <= SHORT else "false") if known else code.icmp("sle", n, str(SHORT))
        fit = str(BLOCK // max(int(n), 1)) if known else code.inst(f"sdiv i64 {BLOCK}, {code.greatest(n, '1')}")
        at_once = {"true": fit, "false": "1"}.get(several) or code.select(several, "i64", fit, "1")

        def write(row: str, column: str, length: str) -> None:
            count = code.least(code.sub(rows, row), at_once)
            inside = self._advance(self._advance(pointers, outer, row), inner, column)
            block = Row(inside, inner, fixed, vectorize, indices, column, "0", several)
            self._block(length, block, Rows(count, outer, row))

        if known and int(n) <= BLOCK:
            with code.loop(rows, step=at_once) as loop:
                write(loop.index, "0", n)
            return
        # One loop over all blocks: LLVM takes longer for one in another.
        down, across = (
            code.inst(f"sdiv i64 {code.add(size, code.sub(step, '1'))}, {step}")
            for size, step in ((rows, at_once), (n, str(BLOCK)))
        )
        with code.loop(code.mul(down, across), carried=[("i64", "0")] * 2) as loop:
            row, column = loop.carried
            write(row, column, code.least(code.sub(n, column), str(BLOCK)))
            further = code.add(column, str(BLOCK))
            same = code.icmp("slt", further, n)
            loop.next += [
                code.select(same, "i64", row, code.add(row, at_once)), code.select(same, "i64", further, "0"),
            ]  # fmt: skip

    def _either(self, condition: str, a: str, b: str) -> str:
        """One of two pointers."""
        return {"true": a, "false": b}.get(condition) or self.code.select(condition, "ptr", a, b)

    @contextmanager
    def _where(self, condition: str) -> Iterator[None]:
        """The instructions of a case."""
        if condition == "true":
            yield
            return
        yes, end = self.code.new_label(), self.code.new_label()
        self.code.branch(condition, yes, end)
        self.code.place(yes)
        yield
        self.code.jump(end)
        self.code.place(end)

    # -- stages
    def _stage(self, stage: Stage, row: Row, count: str, last: bool, gathered: Sequence[Value] = ()) -> None:
        """One loop over the row or block."""
        if self.lookup is not None and self.lookup in stage.scalars:
            self._runs(self.lookup, stage, row, count, last, gathered)
            return
        if self.running is not None:
            self._run_on(self.running, stage, row, count)
            return
        if not gathered and (checked := self._checked_first(stage, row, count)):
            self._by_checked_blocks(checked, stage, row, count, last)
            return
        self._loop_over(stage, row, count, last, gathered)

    def _checked_first(self, stage: Stage, row: Row, count: str) -> list[CheckedIndex]:
        """The checked indices that all follow from elements of the row that stay as they are until they are used."""
        if not row.vectorize or _is_short(count) or self.nest.spec.ordered and not self.nest.spec.scatters:
            return []
        found = [op for op in stage.scalars if isinstance(op, CheckedIndex)]
        return found if all(self._varies_alone(op, row) for op in found) else []

    def _varies_alone(self, op: CheckedIndex, row: Row) -> bool:
        """Whether an index is computed, cheaply, of elements of the row that lie side by side and of nothing stored."""
        ops = computing(op.operand(0))
        if any(isinstance(o, CheckedIndex | SortedPlace | Element | arith.Ufunc) or o.may_raise for o in ops):
            return False
        read = {v for o in ops for v in o.operands} | {op.operand(0)}
        places = [self.memory[v] for v in read if v in self.memory and v not in row.values]
        beside = all(row.strides[o.index] == "1" and not o.written for o in places)
        return bool(places) and beside and self._stay(places) and op.operand(1) not in self.memory

    def _stay(self, places: Sequence[Operand]) -> bool:
        """Whether operands have the same elements until their iteration has come."""
        return True

    def _by_checked_blocks(
        self, checked: Sequence[CheckedIndex], stage: Stage, row: Row, count: str, last: bool
    ) -> None:
        """Block by block, of which all indices are compared first, in vectors: where they are what NumPy takes as they
        are, as nearly always, a loop without checks; else one that counts from the end and notes failures."""
        code = self.code
        if self.nest.blocked or count.isdigit() and int(count) <= BLOCK:
            self._checked_block(checked, stage, row, count, last)
            return
        with code.loop(count, step=str(BLOCK), metadata=code.loop_metadata(*code.as_it_stands())) as loop:
            left = code.least(code.sub(count, loop.index), str(BLOCK))
            inside = self._advance(row.pointers, row.strides, loop.index)
            one = replace(row, pointers=inside, start=code.add(row.start, loop.index))
            self._checked_block(checked, stage, one, left, last)

    def _checked_block(
        self, checked: Sequence[CheckedIndex], stage: Stage, row: Row, count: str, last: bool
    ) -> None:
        code, ops = self.code, computing(*(op.operand(0) for op in checked))
        group, back = code.parallel_group(short=True)
        with code.loop(count, carried=[("i64", "0")], metadata=back) as loop:
            values, outside = dict(row.values), loop.carried[0]
            for op in stage.scalars:
                if op in ops and op.result not in values:
                    values[op.result] = self._compute(op, row, loop.index, values, group)
            for one in checked:
                index, size = (self._read(v, row, loop.index, values, group) for v in one.operands)
                more = code.inst(f"zext i1 {code.icmp('uge', index, size)} to i64")
                outside = code.inst(f"or i64 {outside}, {more}")
            loop.next = [outside]
        within, other, end = code.new_label(), code.new_label(), code.new_label()
        row = replace(row, vectorize=bool(self.fold_of) or len(stage.scalars) > GATHERED)
        code.branch(code.icmp("ne", loop.carried[0], "0"), other, within, code.rarely())
        code.place(within)
        self.within = frozenset(checked)
        self._loop_over(stage, row, count, last)
        self.within = frozenset()
        code.jump(end)
        code.place(other)
        self._loop_over(stage, replace(row, vectorize=False), count, last)
        code.jump(end)
        code.place(end)

    def _loop_over(self, stage: Stage, row: Row, count: str, last: bool, gathered: Sequence[Value] = ()) -> None:
        code = self.code
        group, back = "", ""
        states = list(self.fold_of.values()) if last else []
        if not self.nest.spec.ordered:
            vectorize = row.vectorize and not any(s.fold.how == IN_ORDER for s in states)
            group, back = code.parallel_group(vectorize, self.nest.blocked, twice=not (states or self.nest.rare))
            if row.indices and len(set(row.pointers.values())) <= REGISTERS:
                row = replace(row, pointers={k: code.opaque(p) for k, p in row.pointers.items()})
        side_by_side = states and not row.vectorize and not _is_short(count) and all(s.in_chains for s in states)
        if side_by_side:
            back = code.loop_metadata(*code.as_it_stands())
        elif any(s.fold.how != IN_ORDER and s.element.component.is_float for s in states):
            back = self._wide(group, count) or back
        carried, done = [part for s in states for part in s.start()], "0"
        if (flags := self._counted(stage, row, states)) is not None and not gathered:
            done = code.inst(f"and i64 {count}, {-FLAGS}")
            with code.loop(done, step=str(FLAGS), carried=carried) as loop:
                loop.next = [code.add(loop.carried[0], self._number_of(flags, row, loop.index))]
            carried = [("i64", loop.carried[0])]
        if side_by_side:
            done, rounds = code.inst(f"and i64 {count}, {-CHAINS}"), code.loop_metadata(*code.as_it_stands())
            chains, ready, before = code.new_label(), code.new_label(), code.label
            code.branch(code.icmp("eq", done, "0"), ready, chains)  # rows of a few elements take the second loop alone
            code.place(chains)
            with code.loop(done, step=str(CHAINS), carried=carried * CHAINS, metadata=rounds) as loop:
                for k in range(CHAINS):
                    mine = loop.carried[k * len(carried) : (k + 1) * len(carried)]
                    one = OpenLoop(code.add(loop.index, str(k)), mine, "")
                    self._iteration(stage, row, one, last, gathered, group, states)
                    loop.next += one.next
            joined, after = self._joined(states, list(loop.carried)), code.label
            code.jump(ready)
            code.place(ready)
            carried = [
                (t, code.inst(f"phi {t} [ {start}, %{before} ], [ {end}, %{after} ]"))
                for (t, start), (_, end) in zip(carried, joined, strict=True)
            ]
        with code.loop(code.sub(count, done), carried=carried, metadata=back) as loop:
            one = loop if done == "0" else OpenLoop(code.add(loop.index, done), loop.carried, "")
            self._iteration(stage, row, one, last, gathered, group, states)
            loop.next = one.next
        ends = list(loop.carried)
        for state in states:
            state.end_of_row(state.take(ends))

    def _counted(self, stage: Stage, row: Row, states: Sequence[FoldState]) -> Operand | None:
        """The bools of which a fold counts those that are set, if they are all that it reads and lie side by side."""
        if len(states) != 1 or states[0].element is not I64 or len(stage.scalars) != 2 or self.nest.blocked:
            return None
        total = self.nest.spec.body.args[states[0].fold.out]
        ends = self.nest.spec.body.terminator
        sum_ = ends.operand(0).defining_op
        if not isinstance(sum_, arith.AddI) or total not in sum_.operands or len(ends.operands) > 1:
            return None  # of a running sum each total is stored
        one = next((v.defining_op for v in sum_.operands if v is not total), None)
        flags = self.memory.get(one.operand(0)) if isinstance(one, casts.ExtUI) else None
        return flags if flags is not None and flags.element is I1 and row.strides[flags.index] == "1" else None

    def _number_of(self, flags: Operand, row: Row, index: str) -> str:
        """How many of `FLAGS` bools from an index on are set."""
        code, bits = self.code, f"i{FLAGS}"
        some = code.inst(f"load <{FLAGS} x i8>, ptr {self._element_at(flags, row, index)}, align 1")
        known = code.inst(f"icmp ne <{FLAGS} x i8> {some}, zeroinitializer")
        mask = code.inst(f"bitcast <{FLAGS} x i1> {known} to {bits}")
        return code.intrinsic(f"llvm.ctpop.{bits}", bits, [(bits, mask)])

    def _runs(
        self, lookup: SortedPlace, stage: Stage, row: Row, count: str, last: bool, gathered: Sequence[Value]
    ) -> None:
        """A loop over the runs of indices whose place is the same: up to the next bound. Each is a loop that searches
        nothing."""
        code, bounds = self.code, self.nest.spec.body.args.index(lookup.operand(0))
        group, back = code.parallel_group(row.vectorize, short=True)
        with code.rounds([("i64", "0"), ("i64", self._bisect(lookup, row.start))]) as runs:
            here, place = runs.carried
            begin, bounded, run = (code.new_label() for _ in range(3))
            code.branch(code.icmp("slt", here, count), begin, runs.end)
            code.place(begin)
            code.branch(code.icmp("slt", place, self.buffers[bounds].sizes[0]), bounded, run)
            code.place(bounded)
            bound = self._pick(bounds, [place], "")
            nearer = code.least(code.sub(bound, row.start), count)
            code.jump(run)
            code.place(run)
            end = code.inst(f"phi i64 [ {count}, %{begin} ], [ {nearer}, %{bounded} ]")
            same = replace(row, values=self._all_along(stage, row, {lookup.result: place}))
            with code.loop(end, start=here, metadata=back) as loop:
                self._iteration(stage, same, loop, last, gathered, group, [])
            runs.next += [end, code.add(place, "1")]

    def _all_along(self, stage: Stage, row: Row, found: dict[Value, str]) -> dict[Value, str]:
        """The row's values, with those that follow from values that are the same all along a run."""
        values, inside = {**row.values, **found}, set(self.nest.spec.body.ops)

        def is_known(v: Value) -> bool:
            return v in values or (v not in self.memory and v.defining_op not in inside)

        for op in stage.scalars:
            varies = isinstance(op, Index) or not all(map(is_known, op.operands))
            if op.result not in values and not varies:
                values[op.result] = self._compute(op, row, "0", values, "")
        return values

    def _run_on(self, run: Running, stage: Stage, row: Row, count: str) -> None:
        """A fold by one call of NumPy's loop, as NumPy makes it: of the results and the elements one place further."""
        code, total = self.code, self.fold_of[self.nest.folds[0].out].total
        some, end = code.new_label(), code.new_label()
        code.branch(code.icmp("sgt", count, "0"), some, end)
        code.place(some)
        if run.out is None:
            pointer, step = self._from(self.memory[run.item], row)
            self._call_numpy(run.call, [(total, "0"), (pointer, step), (total, "0")], count)
        else:
            made = next(o for o in self.stored if o.index == run.out)
            if run.item not in self.memory:
                self._items(run.item, made, stage, row, count)
            taken = self.memory.get(run.item, made)
            self._begin(run, taken, made, row)
            first, (items, step) = row.pointers[made.index], self._from(taken, row, "1")
            results, width = self._from(made, row, "1")
            with self._where(code.icmp("sgt", count, "1")):  # NumPy's loop of np.power raises before it counts
                self._call_numpy(run.call, [(first, width), (items, step), (results, width)], code.sub(count, "1"))
            last, _ = self._from(made, row, code.sub(count, "1"))
            code.store(made.element, code.load(made.element, last, self._access(made.index)), total)
        code.jump(end)
        code.place(end)

    def _begin(self, run: Running, taken: Operand, made: Operand, row: Row) -> None:
        """The first result of a row, or of a part of one."""
        code, total = self.code, self.fold_of[self.nest.folds[0].out].total
        (item, _), (result, _) = self._from(taken, row), self._from(made, row)
        if run.begins:
            alone = "true" if row.start == "0" else code.icmp("eq", row.start, "0")
            with self._where(alone):
                code.store(made.element, code.load(made.element, item, self._access(taken.index)), result)
            if alone == "true":
                return
            with self._where(code.inst(f"xor i1 {alone}, true")):
                self._call_numpy(run.call, [(total, "0"), (item, "0"), (result, "0")], "1")
        else:
            self._call_numpy(run.call, [(total, "0"), (item, "0"), (result, "0")], "1")

    def _from(self, o: Operand, row: Row, place: str = "0") -> tuple[str, str]:
        """The pointer to an element of a row, and the step to the next, in bytes."""
        stride = row.strides[o.index]
        pointer = self.code.offset(row.pointers[o.index], self.elements[o.index], self.code.mul(place, stride))
        return pointer, self.code.mul(stride, str(o.element.itemsize))

    def _call_numpy(self, call: arith.Ufunc, operands: Sequence[tuple[str, str]], count: str) -> None:
        self.scalars.call_numpy(call.function, call.attrs["types"], operands, count)

    def _items(self, item: Value, made: Operand, stage: Stage, row: Row, count: str) -> None:
        """The elements that a fold takes, each where its result will be."""
        code, ops = self.code, computing(item)
        group, back = code.parallel_group(row.vectorize)
        with code.loop(count, metadata=back) as loop:
            values = dict(row.values)
            for op in stage.scalars:
                if op in ops and op.result not in values:
                    values[op.result] = self._compute(op, row, loop.index, values, group)
            found = self._read(item, row, loop.index, values, group)
            code.store(made.element, found, self._element_at(made, row, loop.index), self._access(made.index, group))

    def _joined(self, states: Sequence[FoldState], ends: list[str]) -> list[tuple[str, str]]:
        """What the chains of each fold come to: neighbours are combined, as NumPy does."""
        chains = [[s.take(ends) for s in states] for _ in range(CHAINS)]
        found: list[tuple[str, str]] = []
        for k, state in enumerate(states):
            values = [chain[k] for chain in chains]
            while len(values) > 1:
                pairs = zip(values[::2], values[1::2], strict=True)
                values = [state.combine(self.scalars, a, b) for a, b in pairs]
            found += state.typed(values[0])
        return found

    def _wide(self, group: str, count: str) -> str:
        """Loop metadata for a float fold: for sums a width, so that their error does not depend on LLVM's cost model.
        None ("") for a known count that fills no vector or that LLVM calls tiny (it takes no check of strides then),
        and for the maximum of a `where`, of which LLVM makes a condition on the step: it would say on stderr that it
        cannot keep to the width. Extremes alone get none, for their steps may turn into what is no reduction to LLVM (a
        freeze, where a later loop is unswitched by the result)."""
        code = self.code
        size = max(s.element.component.itemsize for s in self.fold_of.values())
        short = count.isdigit() and int(count) < max(64 // size, TINY)
        if short or any(s.may_be_conditional for s in self.fold_of.values()):
            return ""
        parallel = code.metadata(f'!"llvm.loop.parallel_accesses", {group.rpartition(" ")[2]}')
        sums = any(s.pairwise for s in self.fold_of.values())
        width = [code.metadata(f'!"llvm.loop.vectorize.width", i32 {64 // size}')] if sums else []
        # a maximum's step takes longer than a sum's; what several folds carry has to stay in registers
        chains = (4 if sums else 8) // len(self.fold_of)
        count = code.metadata(f'!"llvm.loop.interleave.count", i32 {max(chains, 2)}')
        return code.loop_metadata(parallel, *width, count)

    def _iteration(
        self,
        stage: Stage,
        row: Row,
        loop: OpenLoop,
        last: bool,
        gathered: Sequence[Value],
        group: str,
        states: list[FoldState],
    ) -> None:
        values = dict(row.values)
        args, index = self.nest.spec.body.args, loop.index
        carried = list(loop.carried)
        for state in states:
            values[args[state.fold.out]] = state.take(carried)
        folding = {s.fold.op for s in states}
        kept = set(filter(None, map(self._kept_mostly, states)))
        for op in stage.scalars:
            if op in kept:
                values[op.result] = self._by_branch(op, row, index, values, group)
            elif op not in folding and op.result not in values:
                values[op.result] = self._compute(op, row, index, values, group)
        for v in dict.fromkeys((*stage.kept, *gathered)):
            place = self._at(v, self._in_block(row, index))
            self.code.store(self._scalar(v), self._read(v, row, index, values, group), place, group)
        if last:
            for state in states:
                element = state.fold.element
                if state.fold.how == IN_ORDER or element is None:
                    yielded = self.nest.spec.body.terminator.operand(state.fold.out - self.nest.spec.n_ins)
                    value = self._read(yielded, row, index, values, group)
                else:
                    new = self._read(element, row, index, values, group)
                    value = state.combine(self.scalars, values[args[state.fold.out]], new)
                loop.next += [v for _, v in components(state.element, value)]
            self._store_outs(row, index, values, group)

    def _kept_mostly(self, state: FoldState) -> Op | None:
        """The choice of a running extreme of complex numbers, which is hardly ever the new one."""
        body = self.nest.spec.body
        op = body.terminator.operand(state.fold.out - self.nest.spec.n_ins).defining_op
        chooses = state.fold.how == IN_ORDER and state.element.is_complex and isinstance(op, arith.Select)
        return op if chooses and op is not None and op.operand(1) is body.args[state.fold.out] else None

    def _by_branch(self, op: Op, row: Row, index: str, values: dict[Value, str], group: str) -> str:
        """A choice that is mostly the first value, by a branch: what decides it is not waited for."""
        code, element = self.code, self._scalar(op.result)
        holds, a, b = (self._read(v, row, index, values, group) for v in op.operands)
        kept, other, end = code.new_label(), code.new_label(), code.new_label()
        code.branch(code.inst(f"xor i1 {holds}, true"), other, kept, code.rarely())
        for label in (kept, other):
            code.place(label)
            code.jump(end)
        code.place(end)
        type_ = llvm_type(element.component)
        parts = zip(components(element, a), components(element, b), strict=True)
        return join_components([
            code.inst(f"phi {type_} [ {x}, %{kept} ], [ {y}, %{other} ]") for (_, x), (_, y) in parts
        ])

    def _compute(self, op: Op, row: Row, index: str, values: dict[Value, str], group: str) -> str:
        """One op of the body, at an index of the row or block."""
        if isinstance(op, Index):
            inner = op.dim in self.nest.loops[-1].dims
            return self.code.add(row.start, index) if inner else row.indices.get(op.dim, "0")
        if isinstance(op, Element):
            indices = [self._read(v, row, index, values, group) for v in op.operands[1:]]
            return self._pick(self.nest.spec.body.args.index(op.operand(0)), indices, group)
        if isinstance(op, SortedPlace):
            return self._bisect(op, self._read(op.operand(1), row, index, values, group))
        operands = [self._read(v, row, index, values, group) for v in op.operands]
        if isinstance(op, CheckedIndex):
            return operands[0] if op in self.within else self._place(op, *operands)
        assert isinstance(op, arith.ScalarOp)
        return op.emit(self.scalars, operands)

    def _pick(self, k: int, indices: Sequence[str], group: str) -> str:
        """An element of an operand that the body sees as a whole."""
        element = self.buffers[k].type.element
        return self.code.load(element, self.address(k, indices), self._access(k, group))

    def address(self, k: int, indices: Sequence[str]) -> str:
        """The pointer to an element of an operand that the body sees as a whole."""
        buffer, moved = self.buffers[k], "0"
        for i, stride in zip(indices, buffer.strides, strict=True):
            moved = self.code.add(moved, self.code.mul(i, stride))
        return self.code.offset(buffer.pointer, memory_type(buffer.type.element), moved)

    def _bisect(self, op: SortedPlace, value: str) -> str:
        """How many elements the value is behind, by bisection without a branch. Where values rise, one to the next, the
        four elements around the last place are tried first, and then the first and the last of all."""
        code, k = self.code, self.nest.spec.body.args.index(op.operand(0))
        size = self.buffers[k].sizes[0]
        if not op.attrs.get("rising", False):
            return self._halved(op, value)
        last_one = code.fresh_slot("i64")
        code.entry.append(f"  store i64 1, ptr {last_one}")
        near, stays, moves, close, far, beside, search, end = (code.new_label() for _ in range(8))
        code.branch(code.icmp("sgt", size, "4"), near, search)
        code.place(near)
        # that of other bounds, around a loop, may be behind these
        here = code.least(code.inst(f"load i64, ptr {last_one}"), code.sub(size, "3"))
        behind = [self._is_behind(op, value, code.add(here, str(j))) for j in (-1, 0)]
        left = code.inst(f"or i1 {code.inst(f'xor i1 {behind[0]}, true')}, {behind[1]}")
        code.branch(left, moves, stays, code.rarely())
        code.place(stays)
        code.jump(end)
        code.place(moves)
        behind += [self._is_behind(op, value, code.add(here, str(j))) for j in (1, 2)]
        code.branch(code.inst(f"select i1 {behind[1]}, i1 {behind[3]}, i1 true"), far, close)
        code.place(close)
        next_one = code.add(here, code.select(behind[2], "i64", "2", "1"))
        code.jump(end)
        code.place(far)
        above, below = (self._is_behind(op, value, at) for at in (code.sub(size, "1"), "0"))
        outside = code.inst(f"or i1 {above}, {code.inst(f'xor i1 {below}, true')}")
        code.branch(self._and_a_number(op, value, outside), beside, search)
        code.place(beside)
        side = code.select(above, "i64", size, "0")
        code.jump(end)
        code.place(search)
        place = self._halved(op, value)
        after = code.label
        code.jump(end)
        code.place(end)
        ways = (here, stays), (next_one, close), (side, beside), (place, after)
        found = code.inst(f"phi i64 {', '.join(f'[ {v}, %{label} ]' for v, label in ways)}")
        code.do(f"store i64 {code.greatest(found, '1')}, ptr {last_one}")
        return found

    def _and_a_number(self, op: SortedPlace, value: str, holds: str) -> str:
        """A condition, and that the value is not NaN, which is behind every number."""
        element = self.buffers[self.nest.spec.body.args.index(op.operand(0))].type.element
        if not element.is_float:
            return holds
        number = self.code.inst(f"fcmp ord {llvm_type(element)} {value}, {value}")
        return self.code.inst(f"and i1 {number}, {holds}")

    def _halved(self, op: SortedPlace, value: str) -> str:
        """The bisection: as many rounds for each value, of which the processor need not foretell anything. NaN, which
        is behind every number, and behind NaN where equal ones are before it, is looked for apart."""
        code, k = self.code, self.nest.spec.body.args.index(op.operand(0))
        element, size = self.buffers[k].type.element, self.buffers[k].sizes[0]
        if not element.is_float:
            return self._rounds(op, value, nan=False)
        nan = code.inst(f"fcmp uno {llvm_type(element)} {value}, {value}")
        if op.attrs["right"]:
            return code.select(nan, "i64", size, self._rounds(op, value, nan=False))
        found, number, other, end = code.fresh_slot("i64"), code.new_label(), code.new_label(), code.new_label()
        code.branch(nan, other, number, code.rarely())
        for label in (number, other):
            code.place(label)
            code.do(f"store i64 {self._rounds(op, value, nan=label == other)}, ptr {found}")
            code.jump(end)
        code.place(end)
        return code.inst(f"load i64, ptr {found}")

    def _rounds(self, op: SortedPlace, value: str, nan: bool) -> str:
        """The bisection for a number, or for NaN."""
        code = self.code
        size = self.buffers[self.nest.spec.body.args.index(op.operand(0))].sizes[0]
        with code.rounds([("i64", "0"), ("i64", size)]) as rounds:
            first, count = rounds.carried
            halve = code.new_label()
            code.branch(code.icmp("sgt", count, "1"), halve, rounds.end)
            code.place(halve)
            half = code.inst(f"lshr i64 {count}, 1")
            later = code.add(first, half)
            behind = self._is_behind(op, value, code.sub(later, "1"), nan)
            rounds.next += [code.either_way(behind, "i64", later, first), code.sub(count, half)]
        last, end, before = code.new_label(), code.new_label(), code.label
        code.branch(code.icmp("sgt", size, "0"), last, end)
        code.place(last)
        one = code.add(first, code.inst(f"zext i1 {self._is_behind(op, value, first, nan)} to i64"))
        code.jump(end)
        code.place(end)
        return code.inst(f"phi i64 [ 0, %{before} ], [ {one}, %{last} ]")

    def _is_behind(self, op: SortedPlace, value: str, place: str, nan: bool = False) -> str:
        """Whether the value, a number or NaN before its equals, is behind the element there, as NumPy sorts: NaN
        last."""
        code, k = self.code, self.nest.spec.body.args.index(op.operand(0))
        element, right = self.buffers[k].type.element, op.attrs["right"]
        found, type_ = code.load(element, self.address(k, [place]), self._access(k)), llvm_type(element)
        if nan:
            return code.inst(f"fcmp ord {type_} {found}, {found}")
        if element.is_float:
            return code.inst(f"fcmp {'oge' if right else 'ogt'} {type_} {value}, {found}")
        sign = "u" if element.is_unsigned else "s"
        return code.icmp(f"{sign}{'ge' if right else 'gt'}", value, found, type_)

    def _place(self, op: CheckedIndex, index: str, size: str) -> str:
        """The index wrapped; 0, and a note that the op fails, where it is out of bounds."""
        code = self.code
        negative = code.icmp("slt", index, "0")
        wrapped = code.select(negative, "i64", code.add(index, size), index)
        outside = code.icmp("uge", wrapped, size)
        slot = self.failures[op]
        failed = code.inst(f"load i1, ptr {slot}")
        code.do(f"store i1 {code.inst(f'or i1 {failed}, {outside}')}, ptr {slot}")
        return code.select(outside, "i64", "0", wrapped)

    def _store_outs(self, row: Row, index: str, values: dict[Value, str], group: str) -> None:
        spec = self.nest.spec
        outs = [o for o in self.stored if o.index not in self.fold_of]
        new = [self._read(spec.body.terminator.operand(o.index - spec.n_ins), row, index, values, group) for o in outs]
        for o, value in zip(outs, new, strict=True):
            self.code.store(o.element, value, self._element_at(o, row, index), self._access(o.index, group))

    def _read(self, value: Value, row: Row, index: str, values: dict[Value, str], group: str) -> str:
        """A value of this iteration: computed here, loaded from an operand, left in a block by an earlier stage, or
        from outside.
        """
        if value not in values:
            if value in self.memory:
                o = self.memory[value]
                load = self.code.load_stored_over if self._is_stored_over(o) else self.code.load
                values[value] = load(o.element, self._element_at(o, row, index), self._access(o.index, group))
            elif value in self.blocks:
                place = self._at(value, self._in_block(row, index))
                values[value] = self.code.load(self._scalar(value), place, group)
            else:
                return self.outer[value]
        return values[value]

    def _is_stored_over(self, o: Operand) -> bool:
        """Whether the elements of an operand are stored anew where they are loaded."""
        pointer = self.buffers[o.index].pointer
        return any(self.buffers[s.index].pointer == pointer for s in self.stored if s.index not in self.fold_of)

    def _element_at(self, o: Operand, row: Row, index: str) -> str:
        stride = self.code.mul(index, row.strides[o.index])
        return self.code.offset(row.pointers[o.index], self.elements[o.index], stride)

    # -- blocks
    def _scalar(self, value: Value) -> ScalarType:
        assert isinstance(value.type, ScalarType)
        return value.type

    def _bytes(self, value: Value) -> str:
        return str(self._scalar(value).itemsize)

    def _buffer(self, value: Value) -> str:
        """The stack buffer of a value (every nest of the function shares them)."""
        if value not in self.blocks:
            type_ = f"[{BLOCK} x {memory_type(self._scalar(value))}]"
            self.blocks[value] = self.code.slot(type_, len(self.blocks), align=64)
        return self.blocks[value]

    def _in_block(self, row: Row, index: str) -> str:
        return self.code.add(row.within, index) if row.within else index

    def _at(self, value: Value, index: str) -> str:
        return self.code.offset(self._buffer(value), memory_type(self._scalar(value)), index)

    def _call(self, call: arith.Ufunc, row: Row, count: str, out: str, places: dict[Value, str]) -> None:
        """NumPy's loop; `places` of the operands that are in memory, or were gathered from it."""
        operands = []
        for k, v in enumerate(call.operands):
            if v in places:
                operands.append((places[v], self._bytes(v)))
            elif v in self.blocks and v not in row.values:  # the block may be that of the version without repeated ones
                operands.append((self.blocks[v], self._bytes(v)))
            else:
                slot = self.code.slot(ELEMENT_SLOT, k)
                self.code.store(self._scalar(v), row.values[v] if v in row.values else self.outer[v], slot)
                operands.append((slot, "0"))
        operands.append((out, self._bytes(call.result)))
        self.scalars.call_loop(call.function, call.attrs["types"], operands, count)
