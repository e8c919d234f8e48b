"""The rewrite from tensors to memrefs. MLIR counterpart: OneShotBufferize's `bufferizeOp` and `resolveConflicts`.

Every op emits its own memref form through the `Rewriter` protocol; this class gives it the buffers. An operand that is
in place has the buffer of its value. Another gets a new buffer, and a copy only if its contents are defined and read;
where the op only makes an alias (a slice), the result is copied and not the operand, because it is smaller
(MLIR behaviour 50). Equal slices of one buffer are one view, so a part that is computed in place is stored onto itself,
which is nothing, but in copy-before-write as MLIR has it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

from tracebuf.analysis.one_shot.base import AnalysisError, Decisions
from tracebuf.analysis.one_shot.chosen import analysis_of
from tracebuf.analysis.one_shot.derived import Analysis
from tracebuf.bufferize.boundary import (
    Order,
    argument_types,
    order_of_regrouped,
    order_of_type,
    order_of_view,
    unknown_type,
)
from tracebuf.bufferize.dense import handed_on, lies_dense
from tracebuf.errors import InternalError, UnsupportedError
from tracebuf.ir.clone import clone_op
from tracebuf.ir.core import Block, Mixed, Op, OpT, Region, Use, Value
from tracebuf.ir.dims import Expr, symbols
from tracebuf.ir.func import Func
from tracebuf.ir.slices import Slice
from tracebuf.ir.types import INDEX, MemRefType, ShapedType, TensorType, Type, UnrankedMemRefType, same_type
from tracebuf.location import Location
from tracebuf.ops.arrays import bufferization, linalg, recast, tensor, windows
from tracebuf.ops.control import scf
from tracebuf.ops.control.forall import InParallel
from tracebuf.ops.memory import memref
from tracebuf.ops.scalars import arith
from tracebuf.options import Layout


def bufferize(func: Func, analysis: Decisions) -> Func:
    """The memref program of a tensor program; `func` is left as it is. The analysis answers `is_in_place`.

    Allocations and copies that the analysis could not avoid carry `reason` (text), `conflict` (why) and `conflicts`,
    which looks for all of them when it is called. Raises DecisionError where the decisions would change the results.
    """
    found = analysis_of(func, analysis)
    return Rewrite(func, found, argument_types(func)).run()


class Rewrite:
    """Implements `ir.core.Rewriter` for one function, whose arguments get these types."""

    def __init__(self, func: Func, analysis: Analysis, arg_types: Sequence[Type]) -> None:
        self.func, self.analysis = func, analysis
        self.unknown_layout: Layout = "fully-dynamic-layout-map"
        self.may_copy = any(tensor.may_copy(op) for op in func.walk())
        self.dense: dict[Value, bool] = {}
        """Of arguments of blocks of the tensor program, whether their buffers are C-contiguous, as far as MLIR infers
        that."""
        self.infers_own_blocks = True
        """Whether that holds for the function's own blocks where they are regrouped."""
        self.opaque: set[Value] = set()
        self._begin(arg_types)

    def _begin(self, arg_types: Sequence[Type]) -> None:
        """Nothing is rewritten yet."""
        self.new = Func(self.func.name, arg_types, self.func.loc)
        self.target = self.new.block
        self.placed: dict[Block, Block] = {self.func.block: self.new.block}
        self.values: dict[Value, Value] = {}
        self.buffers: dict[Value, Value] = {}
        self.orders: dict[Value, Order] = {}
        self.copied_results: dict[Value, Use] = {}
        self.copies: dict[Op, memref.Copy] = {}
        self.scopes: list[dict[Any, Value]] = [{}]
        self.known: dict[Value, bool] = {}
        """`dense` by the new arguments."""

    def run(self) -> Func:
        """The new function. As MLIR, which infers layouts beforehand, it is made twice where arguments of blocks are
        regrouped, or given to who wants a layout: the first one says which lie densely."""
        wants = self.may_copy or any(isinstance(op, bufferization.ToBuffer) for op in self.func.walk())
        if self.analysis.as_mlir and wants:
            own = {a for block in self.func.body.blocks[1:] for a in block.args}
            regions = [r for op in self.func.walk() for r in op.regions]
            inner = [a for a in (*own, *(a for r in regions for b in r.blocks for a in b.args)) if a.is_tensor]
            if inner:
                self._rewrite()
                made = {a: self.buffers[a] for a in inner if a in self.buffers}
                self.dense = {a: lies_dense(b, ranked=True) and not _is_given_slice(a) for a, b in made.items()}
                self.opaque = set() if self.infers_own_blocks else own
                self._begin([a.type for a in self.new.args])
        return self._rewrite()

    def _rewrite(self) -> Func:
        new = self.new
        new.arg_attrs, new.attrs = [dict(a) for a in self.func.arg_attrs], dict(self.func.attrs)
        for old, arg in zip(self.func.args, new.args, strict=True):
            self.bind(old, arg)
            if isinstance(arg.type, MemRefType):
                self.orders[arg] = order_of_type(arg.type)
        for op in self.func.block.ops:
            self.op(op)
        self.blocks(self.func.body, new.body)
        self._drop_unused()
        new.symbols = {s: self.values[v] for s, v in self.func.symbols.items() if v in self.values}
        return new

    def _drop_unused(self) -> None:
        """Drops the new arrays in place of which every op got one of its own (MLIR: EmptyOp, AllocTensorOp)."""
        dropped = set[Op]()
        for op in reversed([o for o in self.func.walk() if isinstance(o, tensor.Empty | bufferization.AllocTensor)]):
            if not any(u.op not in dropped and self._stays(u) for u in op.result.uses):
                self._drop(op)
                if not op.result.uses or all(isinstance(size, int) for size in op.result.tensor_type.shape):
                    dropped.add(op)  # else what it copies is asked for the sizes

    def _drop(self, op: Op) -> None:
        alloc = self.buffers[op.result].defining_op if op.result in self.buffers else None
        if isinstance(alloc, memref.Alloc):
            for use in list(alloc.result.uses):
                if use.op is self.copies.get(op):
                    use.op.erase()
            if not alloc.result.uses:
                alloc.erase()

    def _stays(self, use: Use) -> bool:
        """Whether an operand is used where it is: in place, or to be copied."""
        analysis = self.analysis
        return not analysis.flow.is_known(use.op) or analysis.is_in_place(use) or analysis.needs_contents(use)

    def bind(self, old: Value, new: Value) -> None:
        """Maps `old` to `new` from now on: a buffer or a scalar, or a tensor that an unknown op made."""
        new.name = new.name or old.name
        if old in self.dense:
            self.known[new] = self.dense[old]
        (self.buffers if old.is_tensor and not new.is_tensor else self.values)[old] = new

    @contextmanager
    def inside(self, block: Block) -> Iterator[None]:
        """Appends to another block; ops numbered as equal there are not known outside."""
        outer, self.target = self.target, block
        self.scopes.append({})
        yield
        self.scopes.pop()
        self.target = outer

    # -- ops and scalars
    def add(self, op: OpT) -> OpT:
        self.target.append(op)
        if isinstance(op, memref.Cast) and op.operand(0) in self.orders:
            self.orders[op.result] = self.orders[op.operand(0)]
        if isinstance(op, linalg.DestinationOp):
            for inner in list(op.walk()):
                self._map_inside(inner)
        return op

    def _map_inside(self, op: Op) -> None:
        """Maps what an op in a structured op's body uses from outside: scalars, and elements of tensors."""
        for use in op.uses:
            if use.value in self.values:
                use.set(self.values[use.value])
        if isinstance(op, tensor.Extract) and (buffer := self.buffers.get(op.operand(0))) is not None:
            load = memref.Load.of(buffer, op.operands[1:], op.loc)
            op.result.replace_all_uses(load.result)
            assert op.block is not None
            op.block.insert_before(op, load)
            op.erase()

    def clone(self, op: Op) -> None:
        clone_op(op, self.values, self.add)

    def value(self, value: Value) -> Value:
        return self.values[value]

    def set_value(self, result: Value, value: Value) -> None:
        self.bind(result, value)

    def _mixed(self, sizes: Sequence[Mixed]) -> tuple[Mixed, ...]:
        return tuple(s if isinstance(s, int) else self.values[s] for s in sizes)

    def _numbered(self, key: Any, make: Callable[[], Op]) -> Value:
        """The result of the op that `make` returns, or that of an equal op before it (value numbering by `key`)."""
        for scope in self.scopes:
            if (found := scope.get(key)) is not None:
                return found
        found = self.scopes[-1][key] = self.add(make()).result
        return found

    # -- buffers
    def buffer(self, use: Use) -> Value:
        if isinstance(use.op, bufferization.ToBuffer) and use.value not in self.buffers:
            if self.analysis.is_in_place(use):  # it stays: the tensor is an argument's or an unknown op's
                return self._to_buffer(self.values[use.value], use.op.result.type, use.op.loc)
        found, flow = self._buffer_of(use.value, use.op.loc), self.analysis.flow
        aliases, writes = flow.aliasing_values(use), flow.writes(use)
        if self.analysis.is_in_place(use) or not (writes or aliases):
            return found
        if not writes and len(aliases) == 1:
            result = aliases[0].value
            one = len(result.owner.aliasing_uses(result) if isinstance(result.owner, Op) else ()) == 1
            if one and isinstance(result.type, TensorType):
                self.copied_results[result] = use
                return found
        if isinstance(use.op, tensor.ParallelInsertSlice):
            raise AnalysisError("what an iteration stores would be lost in a copy that MLIR 22 decides on", use.op.loc)
        return self._private(found, use)

    def replace(self, result: Value, buffer: Value) -> None:
        use = self.copied_results.pop(result, None)
        loop = buffer.defining_op
        if isinstance(loop, scf.Loop):
            known = [u.value for u in (loop.passed[buffer.index], *loop.inits[buffer.index :][:1])]
            if (order := next((self.orders[v] for v in known if v in self.orders), None)) is not None:
                self.orders[buffer] = order
        self.bind(result, buffer if use is None else self._private(buffer, use))

    def _private(self, buffer: Value, use: Use) -> Value:
        """A new buffer like `buffer`, because `use` is out of place."""
        conflict = self.analysis.conflict(use)
        reason = str(conflict) if conflict is not None else "the operand is not in place"
        fresh = self._like(buffer, use.op.loc, reason)
        found = [fresh.defining_op]
        if self.analysis.needs_contents(use):
            found.append(self.add(memref.Copy.of(buffer, fresh, reason, use.op.loc)))
        for op in found:
            assert op is not None
            op.attrs |= {"conflict": conflict, "conflicts": partial(self.analysis.conflicts, use)}
        return fresh

    def _like(self, buffer: Value, loc: Location, reason: str) -> Value:
        """A new dense buffer of another's shape and axis order."""
        if isinstance(buffer.type, UnrankedMemRefType):
            raise UnsupportedError("a buffer of unknown rank would be copied", location=loc)
        type_ = buffer.memref_type
        order = self.orders.get(buffer, tuple(range(type_.rank)))
        sizes = self._told(type_, self.sizes(buffer, loc), loc)
        alloc = self.add(memref.Alloc.of(type_.shape, type_.element, sizes, order, reason, loc))
        self.orders[alloc.result] = order
        return alloc.result

    def allocate(self, like: Value, op: Op, reason: str) -> Value:
        type_ = like.tensor_type
        if not isinstance(op, tensor.Empty):
            raise InternalError(f"{op.name} asks for a buffer without saying its sizes")
        order = op.attrs["order"]
        alloc = self.add(memref.Alloc.of(type_.shape, type_.element, self._mixed(op.sizes), order, reason, op.loc))
        if "absent" in op.attrs:
            alloc.attrs["absent"] = True
        self.orders[alloc.result] = order
        return alloc.result

    def new_buffer(self, type: TensorType, sizes: Sequence[Mixed], reason: str, loc: Location) -> Value:
        order = tuple(range(type.rank))
        told = self._told(type, sizes, loc)
        return self.add(memref.Alloc.of(type.shape, type.element, told, order, reason, loc)).result

    def _told(self, type: ShapedType, sizes: Sequence[Mixed], loc: Location) -> list[Mixed]:
        """The sizes as an allocation takes them: a value for each dynamic size of the type."""
        told: list[Mixed] = []
        for declared, size in zip(type.shape, sizes, strict=True):
            if isinstance(declared, int) or not isinstance(size, int):
                told.append(declared if isinstance(declared, int) else size)
            else:
                told.append(self.add(arith.Constant.of(size, INDEX, loc)).result)
        return told

    def as_type(self, buffer: Value, type: Type, loc: Location) -> Value:
        if same_type(buffer.type, type):
            return buffer
        wanted = self.analysis.as_mlir and isinstance(type, MemRefType) and type.is_identity
        if (wanted and lies_dense(buffer, ranked=True, known=self.known)) or memref.cast_is_safe(buffer.type, type):
            return self.add(memref.Cast.of(buffer, type, loc)).result
        assert isinstance(type, MemRefType)
        plain = TensorType(type.shape, type.element)
        fresh = self.new_buffer(plain, self.sizes(buffer, loc), f"the buffer must be a {type}", loc)
        self.add(memref.Copy.of(buffer, fresh, f"the buffer must be a {type}", loc))
        return self.as_type(fresh, type, loc)

    def sizes(self, buffer: Value, loc: Location) -> list[Mixed]:
        """The sizes of a buffer: from the op that made it where it says them, else asked of the buffer."""
        op = buffer.defining_op
        if isinstance(op, memref.Cast):
            return self.sizes(op.operand(0), loc)
        if isinstance(op, memref.Alloc | memref.ExpandShape):
            return op.sizes
        if isinstance(op, memref.Subview):
            s = op.slice
            return [1 if d is None else s.sizes[d] for d in s.dims]
        return [self._size(buffer, d, loc) for d in range(buffer.memref_type.rank)]

    def _size(self, buffer: Value, dim: int, loc: Location) -> Mixed:
        size = buffer.memref_type.shape[dim]
        if isinstance(size, int):
            return size
        if known := self._symbol(size):
            return known
        return self._numbered(("dim", buffer, dim), lambda: memref.Dim.of(buffer, dim, loc))

    def _symbol(self, size: Expr) -> Value | None:
        """The value of a size that is one symbol, read off an argument at entry."""
        for s in symbols(size):
            if s.expr == size and s.kind == "dim" and s in self.func.symbols:
                return self.values.get(self.func.symbols[s])
        return None

    def subview(self, buffer: Value, slice_op: Op) -> Value:
        assert isinstance(slice_op, tensor.SliceOp)
        s = slice_op.slice
        mapped = Slice(self._mixed(s.offsets), self._mixed(s.sizes), self._mixed(s.strides), s.dims)
        view = (slice_op.operand(0) if isinstance(slice_op, tensor.InsertSlice) else slice_op.result).tensor_type
        if mapped.covers(buffer.memref_type, view):
            return buffer
        found = self._numbered(
            ("view", buffer, mapped), lambda: memref.Subview.of(buffer, mapped, view.shape, slice_op.loc)
        )
        if found not in self.orders and (order := self.orders.get(buffer)) is not None:
            self.orders[found] = order_of_view(order, mapped)
        return found

    def regroup(self, buffer: Value, op: Op) -> Value:
        shape, source_op = op.result.tensor_type.shape, buffer.defining_op
        undone = _undoes(op, source_op) and not self.analysis.to_the_letter
        if undone and source_op is not None and source_op.operand(0).memref_type.shape == shape:
            return source_op.operand(0)
        if tensor.may_copy(op) and not memref.runs_on(buffer.memref_type, op.attrs["groups"]):
            dense = tensor.dense_buffer(TensorType(buffer.memref_type.shape, buffer.memref_type.element))
            lies = self.known
            if op.operand(0) in self.opaque:
                self.known = {**lies, buffer: False}
            buffer, self.known = self.as_type(buffer, dense, op.loc), lies
        sizes = self._mixed(op.sizes) if isinstance(op, tensor.ExpandShape) else ()
        grouped = op.attrs["axes"] if isinstance(op, tensor.ExtractDiagonal) else op.attrs.get("groups", ())
        element = op.result.tensor_type.element
        if isinstance(op, windows.ExtractWindows):
            grouped, sizes = op.attrs["axis"], (self.values[op.operand(1)],)

        def make() -> Op:
            if isinstance(op, windows.ExtractWindows):
                return memref.Windows.of(buffer, self.values[op.operand(1)], grouped, shape, op.loc)
            if isinstance(op, recast.Recast):
                return memref.Recast.of(buffer, element, op.loc)
            if isinstance(op, tensor.ExpandShape):
                return memref.ExpandShape.of(buffer, grouped, sizes, shape, op.loc)
            kind = memref.CollapseShape if isinstance(op, tensor.CollapseShape) else memref.Diagonal
            return kind.of(buffer, grouped, shape, op.loc)

        view = self._numbered((type(op), buffer, grouped, sizes, element), make)
        if view not in self.orders and (order := self.orders.get(buffer)) is not None and view.defining_op:
            self.orders[view] = order_of_regrouped(order, view.defining_op)
        return view

    def copy(self, source: Value, target: Value, op: Op, reason: str) -> None:
        if source is not target or self.analysis.to_the_letter:
            self.copies[op] = self.add(memref.Copy.of(source, target, reason, op.loc))

    def equivalent(self, a: Value, b: Value) -> bool:
        return self.analysis.equivalent(a, b) and not self._may_be_copied(a)

    def _may_be_copied(self, value: Value) -> bool:
        """Whether an op that may copy stands between the value and the array that it is a version of."""
        work, seen = [value] if self.may_copy else [], {value}
        while work:
            current = work.pop()
            op = current.owner
            if isinstance(op, Op) and any(tensor.may_copy(o) for o in (op, *(op.walk() if op.repetitive else ()))):
                return True
            near = [use.value for use, _, _ in self.analysis.flow.aliasing_uses(current) if use.value not in seen]
            work += near
            seen.update(near)
        return False

    def _buffer_of(self, value: Value, loc: Location) -> Value:
        """The buffer of a value; a tensor that an unknown op made gets a to_buffer where it is first needed."""
        if (found := self.buffers.get(value)) is not None:
            return found
        made = self.values[value]
        return self._to_buffer(made, unknown_type(made.type, self.unknown_layout), loc)

    def _to_buffer(self, made: Value, type: Type, loc: Location) -> Value:
        return self._numbered(("to_buffer", made, type), lambda: bufferization.ToBuffer.of(made, type, loc))

    def tensor(self, use: Use) -> Value:
        """The operand as a tensor, for an op that takes nothing else; never a copy, since it does not store to a
        tensor (MLIR resolves conflicts of ops that it knows only)."""
        if use.value not in self.buffers:
            return self.values[use.value]
        buffer = self._buffer_of(use.value, use.op.loc)
        return self.add(bufferization.ToTensor.of(buffer, use.value.type, use.op.loc)).result

    def unknown(self, op: Op) -> None:
        """Keeps an op that cannot be rewritten: to_tensor for its operands, to_buffer for its results."""
        operands = [self.tensor(u) if u.value.is_tensor else self.values[u.value] for u in op.uses]
        regions = [Region(*(Block([a.type for a in b.args]) for b in region.blocks)) for region in op.regions]
        for old, new in zip(op.regions, regions, strict=True):
            for block, copy in zip(old.blocks, new.blocks, strict=True):
                self.placed[block] = copy
                for a, b in zip(block.args, copy.args, strict=True):
                    self.bind(a, b)
            for block, copy in zip(old.blocks, new.blocks, strict=True):
                with self.inside(copy):
                    for inner in block.ops:
                        self.unknown(inner) if isinstance(op, InParallel) else self.op(inner)
        if isinstance(op, InParallel) and any(u.value in self.buffers for s in op.stores for u in s.tensor_uses()):
            raise UnsupportedError(f"{op.name} stays as it is (dialect-filter), and stores buffers", location=op.loc)
        targets = [self._kept(b, op) for b in op.successors]
        types = [r.type for r in op.results]
        made = self.add(op.rebuilt(operands, types, op.loc, dict(op.attrs), regions, targets))
        for a, b in zip(op.results, made.results, strict=True):
            self.bind(a, b)

    def _kept(self, block: Block, op: Op) -> Block:
        """The new block for one that an op goes to which stays as it is: with the types that it passes."""
        if block not in self.placed:
            new = self.placed[block] = Block([a.type for a in block.args])
            for old, arg in zip(block.args, new.args, strict=True):
                self.bind(old, arg)
        found = self.placed[block]
        if any(a in self.buffers for a in block.args):
            text = f"{op.name} stays as it is (dialect-filter), and goes where another branch passes buffers"
            raise UnsupportedError(text, location=op.loc)
        return found

    # -- blocks
    def op(self, op: Op) -> None:
        """Emits the memref form of one op."""
        if self.analysis.flow.is_known(op):
            op.bufferize(self)
        else:
            self.unknown(op)

    def successor(self, block: Block) -> Block:
        """The new block for one that is branched to; its buffers may have any layout."""
        if block not in self.placed:
            new = self.placed[block] = Block([scf.carried_type(a) for a in block.args])
            for old, arg in zip(block.args, new.args, strict=True):
                self.bind(old, arg)
        return self.placed[block]

    def blocks(self, old: Region, new: Region) -> None:
        """The blocks of a region after its first, each after one that branches to it."""
        work, seen = [old.blocks[0]], {old.blocks[0]}
        while work:
            for block in work.pop(0).ops[-1].successors:
                if block not in seen:
                    seen.add(block)
                    work.append(block)
                    target = self.successor(block)
                    target.region = new
                    new.blocks.append(target)
                    with self.inside(target):
                        for op in block.ops:
                            self.op(op)

    def body(self, block: Block, arg_types: Sequence[Type], args: Sequence[Value], end: Callable[[], None]) -> Block:
        """The memref form of a block without its terminator, which `end` adds."""
        new = Block(arg_types)
        for old, arg in zip(args, new.args, strict=True):
            self.bind(old, arg)
        Region(new)
        with self.inside(new):
            self._ops(block)
            end()
        return new

    def region(self, old: Region) -> Region:
        """The memref form of a region of branching blocks, without arguments."""
        first = self.placed[old.blocks[0]] = Block()
        new = Region(first)
        with self.inside(first):
            for op in old.blocks[0].ops:
                self.op(op)
        self.blocks(old, new)
        return new

    def call(self, callee: str, args: Sequence[Use], loc: Location) -> tuple[list[Value], Sequence[Type]]:
        """The operands of a call, and the types of its results."""
        raise InternalError(f"a call of {callee} outside of a module")

    def cast(self, use: Use, type_: Type) -> Value:
        """An operand that is passed on, cast to a type of another layout."""
        if not use.value.is_tensor:
            return self.values[use.value]
        buffer = self.buffer(use)
        return buffer if buffer.type == type_ else self.add(memref.Cast.of(buffer, type_, use.op.loc)).result

    def fresh_copy(self, buffer: Value, loc: Location, reason: str) -> Value:
        """A new buffer in C order with the elements of another."""
        type_ = buffer.memref_type
        order, sizes = tuple(range(type_.rank)), self._told(type_, self.sizes(buffer, loc), loc)
        fresh = self.add(memref.Alloc.of(type_.shape, type_.element, sizes, order, reason, loc)).result
        self.add(memref.Copy.of(buffer, fresh, reason, loc))
        return fresh

    # -- control flow
    def block(
        self, block: Block, arg_types: Sequence[Type], args: Sequence[Value | None], yields: Sequence[Use]
    ) -> Block:
        new = Block(arg_types)
        for old, arg in zip(args, new.args, strict=True):
            if old is not None:
                self.bind(old, arg)
                self._carry_order(old, arg)
        Region(new)
        with self.inside(new):
            self._ops(block)
            passed = [self._passed(use) for use in yields]
            end = block.terminator
            if isinstance(end, scf.Condition):
                self.add(scf.Condition.of([self.values[end.operand(0)], *passed], end.loc))
            else:
                self.add(scf.Yield.of(passed, end.loc))
        return new

    def _carry_order(self, old: Value, arg: Value) -> None:
        """Gives loop-carried values the axis order of their initial values."""
        loop = old.owner.parent_op if isinstance(old.owner, Block) else None
        if not old.is_tensor or not isinstance(loop, scf.Loop):
            return
        after = isinstance(loop, scf.While) and old.owner is loop.after
        source = loop.passed[old.index] if after else loop.inits[loop.args.index(old)]
        buffer = self.buffers.get(source.value)
        if buffer in self.orders:
            self.orders[arg] = self.orders[buffer]

    def inline(self, block: Block, args: Sequence[Value]) -> None:
        for old, new in zip(block.args, args, strict=True):
            self.bind(old, new)
        self._ops(block)

    def _ops(self, block: Block) -> None:
        for op in block.ops[:-1]:
            self.op(op)

    def _passed(self, use: Use) -> Value:
        """A value for the next iteration: a buffer that this iteration allocated or hands on, or else a copy."""
        if not use.value.is_tensor:
            return self.values[use.value]
        buffer = self.buffer(use)
        if not self.analysis.hands_on(use):
            reason = "the loop's next iteration needs this value in a buffer of its own"
            source, buffer = buffer, self._like(buffer, use.op.loc, reason)
            self.add(memref.Copy.of(source, buffer, reason, use.op.loc))
        return self._cast(buffer, use)

    def _cast(self, buffer: Value, use: Use) -> Value:
        """The buffer of what control flow passes on, as a type without a layout."""
        type_ = memref.forget_layout(use.value.tensor_type)
        if buffer.type == type_:
            return buffer
        return self.add(memref.Cast.of(buffer, type_, use.op.loc)).result

    def branches(self, op: Op) -> None:
        assert isinstance(op, scf.If)
        blocks, yielded = [], []
        for block in op.branches:
            new = Block()
            Region(new)
            with self.inside(new):
                self._ops(block)
                uses = block.terminator.uses
                yielded.append([self.buffer(u) if u.value.is_tensor else self.values[u.value] for u in uses])
            blocks.append(new)
        kept = [k for k, (a, b) in enumerate(zip(*yielded, strict=True)) if a is not b]
        types = [scf.carried_type(op.results[k]) for k in kept]
        for new, values, old in zip(blocks, yielded, op.branches, strict=True):
            with self.inside(new):
                uses = old.terminator.uses
                passed = [self._cast(values[k], uses[k]) if uses[k].value.is_tensor else values[k] for k in kept]
                self.add(scf.Yield.of(passed, old.terminator.loc))
        made = self.add(scf.If.of(self.values[op.operand(0)], types, blocks[0], blocks[1], op.loc))
        results = iter(made.results)
        for k, result in enumerate(op.results):
            self._join(result, yielded[0][k], yielded[1][k], next(results) if k in kept else None)

    def _join(self, result: Value, then: Value, orelse: Value, passed: Value | None) -> None:
        self.bind(result, then if passed is None else passed)
        if passed is not None and then in self.orders and self.orders[then] == self.orders.get(orelse):
            self.orders[passed] = self.orders[then]


def _is_given_slice(arg: Value) -> bool:
    """Whether an argument of a block is given a slice: even one of everything has another type than the whole has in
    MLIR, and then nothing is known of the layout."""
    return any(isinstance(source.defining_op, tensor.ExtractSlice) for source in handed_on(arg))


def _undoes(op: Op, made: Op | None) -> bool:
    """Whether a regrouping undoes the memref op `made`."""
    if isinstance(op, recast.Recast):
        back = isinstance(made, memref.Recast) and made.operand(0).memref_type.element
        return back == op.result.tensor_type.element
    if isinstance(op, tensor.ExpandShape) == isinstance(made, memref.ExpandShape) or made is None:
        return False
    views = isinstance(op, tensor.Regrouping) and isinstance(made, memref.CollapseShape | memref.ExpandShape)
    return views and op.attrs["groups"] == made.attrs["groups"]
