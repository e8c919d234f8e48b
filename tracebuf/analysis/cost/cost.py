"""What decisions cost in bytes: the allocations and copies that the rewrite emits for them, times how often they run.

An allocation costs its bytes, a copy twice its bytes (read and written). What only the run time knows is assumed
(`Assumptions`): sizes, how often a loop runs whose bounds are not constants, how often a branch is taken. The model
follows the rewrite: where an operand is not in place there is a new buffer, and a copy if its contents matter; equal
slices of one buffer are one view, whose store onto itself is nothing; a loop copies what it may not hand on; an unused
new array is not allocated. MLIR has no counterpart: its analysis has no costs.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterator, Sequence
from math import inf

from tracebuf.analysis.one_shot.dataflow import Dataflow
from tracebuf.analysis.one_shot.derived import Analysis
from tracebuf.frozen import frozen
from tracebuf.ir.core import Block, Mixed, Op, Region, Relation, Use, Value
from tracebuf.ir.dims import Sym, evaluate, symbols
from tracebuf.ir.types import ShapedType
from tracebuf.ops.arrays import bufferization, tensor
from tracebuf.ops.arrays.windows import ExtractWindows
from tracebuf.ops.control import scf
from tracebuf.ops.control.forall import Forall
from tracebuf.ops.scalars import arith

VIEWS = (tensor.ExtractSlice, tensor.Regrouping, tensor.ExtractDiagonal, ExtractWindows)
"""Ops that make an alias and access no element: out of place, their result is copied and not their operand."""


@frozen()
class Assumptions:
    """Assumed values for what is known at run time only: the iterations of a loop, the size of a dimension, how often
    the first branch of an scf.if is taken (its weight is at most 1, and the other's is the rest)."""

    trips: int = 10
    size: int = 100
    then: float = 0.5


@frozen()
class Item:
    """One allocation or copy that the rewrite emits in `block`. `because`: the operand that is not in place, or that a
    loop yields, or whose elements the op stores; None for a new array that the program asks for, which is `made`."""

    kind: str
    block: Block
    nbytes: float
    because: Use | None = None
    made: Value | None = None

    @property
    def bytes(self) -> float:
        """The bytes of one run: a copy reads and writes them."""
        return self.nbytes if self.kind == "allocation" else 2 * self.nbytes


@frozen()
class Cost:
    """The items of one program under one analysis; `bytes` is their sum, weighted by how often their blocks run."""

    items: tuple[Item, ...]
    bytes: float

    def __lt__(self, other: Cost) -> bool:
        return (self.bytes, len(self.items)) < (other.bytes, len(other.items))


class CostModel:
    """The costs of one function under different analyses."""

    __slots__ = ("_sizes", "assumed", "flow", "runs")

    def __init__(self, flow: Dataflow, assumed: Assumptions = Assumptions()) -> None:
        self.flow, self.assumed = flow, assumed
        self.runs: dict[Block, float] = {}
        """How often each block runs."""
        self._sizes: dict[ShapedType, float] = {}
        self._weigh(flow.func.body, 1.0)

    def cost(self, analysis: Analysis, ops: frozenset[Op] | None = None) -> Cost:
        """What the rewrite would emit if the analysis is asked; for these ops only, if given, with those around."""
        items = tuple(_Walk(self, analysis, ops).items())
        return Cost(items, sum(map(self.weighed, items)))

    def weighed(self, item: Item) -> float:
        """The bytes of an item, as often as it runs."""
        return self.runs[item.block] * item.bytes

    def _weigh(self, region: Region, runs: float) -> None:
        for block in region.blocks:
            again = len(region.blocks) > 1 and in_circle(block)
            self.runs[block] = runs * self.assumed.trips if again else runs
            for op in block.ops:
                for k, inner in enumerate(op.regions):
                    self._weigh(inner, self.runs[block] * self._times(op, k))

    def _times(self, op: Op, region: int) -> float:
        """How often a region of an op runs for each run of the op."""
        if isinstance(op, scf.If):
            return 1 - self.assumed.then if region else self.assumed.then
        if not op.is_repetitive:
            return 1
        known = trips(op)
        found = self.assumed.trips if known is None else known
        return found + 1 if isinstance(op, scf.While) and region == 0 else found

    def nbytes(self, value: Value) -> float:
        """The bytes of a tensor's elements, of one element at the least."""
        type_ = value.type
        if not isinstance(type_, ShapedType):
            return self.assumed.size
        if (known := self._sizes.get(type_)) is None:
            size = type_.byte_size
            guessed = evaluate(size, {s: self._guess(s) for s in symbols(size)}) if symbols(size) else size
            known = self._sizes[type_] = max(float(guessed), 1.0)  # type: ignore[arg-type]
        part = value.defining_op
        if isinstance(part, tensor.ExtractSlice) and 0 not in part.slice.strides:
            return min(known, self.nbytes(part.operand(0)))  # whatever its sizes are assumed to be
        return known

    def _guess(self, symbol: Sym) -> int:
        found = self.assumed.size if symbol.kind in ("dim", "unnamed") else self.assumed.size // 2
        found = max(found, symbol.lo) if symbol.lo is not None else found
        return min(found, symbol.hi) if symbol.hi is not None else found

    def alone(self, use: Use, contents: bool) -> float:
        """What it costs, by itself, that an operand is not in place; `contents`: the copy must hold them."""
        like = use.op.result if isinstance(use.op, VIEWS) else use.value
        return self.runs_of(use) * self.nbytes(like) * (3 if contents else 1)

    def runs_of(self, use: Use) -> float:
        """How often the op of an operand runs."""
        assert use.op.block is not None
        return self.runs[use.op.block]

    def exceeds(self, cost: Cost, other: Cost) -> bool:
        """Whether on some path through the program more allocations and copies may run than with another cost."""
        counts: defaultdict[Block, int] = defaultdict(int)
        for sign, items in ((1, cost.items), (-1, other.items)):
            for item in items:
                counts[item.block] += sign
        return self._excess(self.flow.func.body, counts) > 0

    def _excess(self, region: Region, counts: defaultdict[Block, int]) -> float:
        """The most that may run more in a region; blocks that branch to one another may run any number of times."""
        if len(region.blocks) > 1:
            found = [self._excess_of_block(block, counts) for block in region.blocks]
            return inf if any(n > 0 for n in found) else 0
        return self._excess_of_block(region.block, counts)

    def _excess_of_block(self, block: Block, counts: defaultdict[Block, int]) -> float:
        excess: float = counts[block]
        for op in block.ops:
            inside = [self._excess(region, counts) for region in op.regions]
            if isinstance(op, scf.If):
                excess += max(inside)
            elif not op.is_repetitive:
                excess += sum(inside)
            elif (iterations := trips(op)) is not None:
                excess += iterations * sum(inside)
            elif any(n > 0 for n in inside):
                excess = inf
        return excess


def trips(op: Op) -> int | None:
    """The iterations of a loop whose bounds are constants; None for other loops."""
    if isinstance(op, scf.For):
        found = [constant(v) for v in op.operands[:3]]
        dims = [(found[0], found[1], found[2])]
    elif isinstance(op, Forall):
        dims = [(constant(low), constant(up), constant(step)) for low, up, step in op.bounds]
    else:
        return None
    total = 1
    for lower, upper, step in dims:
        if lower is None or upper is None or step is None:
            return None
        total *= len(range(lower, upper, step)) if step else 0
    return total


def constant(bound: Mixed) -> int | None:
    """The value of a loop's bound, where it is a constant."""
    if isinstance(bound, int):
        return bound
    op = bound.defining_op
    return int(op.attrs["value"]) if isinstance(op, arith.Constant) else None


def in_circle(block: Block) -> bool:
    """Whether branches lead from a block to itself."""
    work, seen = [block], set[Block]()
    while work:
        near = [b for b in work.pop().terminator.successors if b not in seen]
        seen.update(near)
        work += near
    return block in seen


class _Walk:
    """One walk through the program as the rewrite does it, with keys that stand for buffers and views."""

    def __init__(self, model: CostModel, analysis: Analysis, only: frozenset[Op] | None) -> None:
        self._model, self._flow, self._analysis, self._only = model, model.flow, analysis, only
        self._keys: dict[Value, Hashable] = {}
        self._found: list[Item] = []
        self._fresh: dict[Hashable, tuple[int, bool]] = {}
        """New arrays of the program: the index of their item, and whether anything uses the buffer."""
        self._scopes: list[dict[Hashable, Hashable]] = [{}]
        self._block: Block = model.flow.func.block

    def items(self) -> Iterator[Item]:
        for block in self._flow.func.body.blocks:
            self._inside(block, {a: a for a in block.args}, ())
        unused = {place for place, used in self._fresh.values() if not used}
        return (item for place, item in enumerate(self._found) if place not in unused)

    def _emit(self, kind: str, value: Value, because: Use) -> None:
        self._found.append(Item(kind, self._block, self._model.nbytes(value), because))

    def _buffer(self, use: Use) -> Hashable:
        """The buffer that an op gets for an operand; a new one if it is not in place."""
        if self._analysis.is_in_place(use):
            return self._used(self._key(use))
        self._private(use, use.value)
        return use

    def _private(self, use: Use, like: Value) -> None:
        self._emit("allocation", like, use)
        if self._analysis.needs_contents(use):
            self._used(self._key(use))
            self._emit("copy", like, use)

    def _key(self, use: Use) -> Hashable:
        return self._keys.get(use.value, use.value)

    def _used(self, key: Hashable) -> Hashable:
        if key in self._fresh:
            self._fresh[key] = self._fresh[key][0], True
        return key

    def _ops(self, block: Block) -> None:
        for op in block.ops:
            if self._only is not None and op not in self._only:
                continue
            if isinstance(op, scf.Loop):
                self._loop(op)
            elif isinstance(op, scf.If):
                self._branches(op)
            elif not isinstance(op, scf.Yield | scf.Condition):
                self._op(op)

    def _op(self, op: Op) -> None:
        if isinstance(op, VIEWS):
            return self._view(op)
        buffers = {use: self._buffer(use) for use in op.tensor_uses()}
        if (ends := stored(op)) is not None:
            source, dest = ends
            if dest not in buffers or buffers[source] is not self._part(op, buffers[dest]):
                self._emit("copy", source.value, source)
        shared = {a: buffers[u] for a, u in zip(op.shared, op.outs)} if isinstance(op, Forall) else {}
        for region in op.regions:
            for block in region.blocks:
                passed = block.terminator.uses if block.ops and isinstance(block.terminator, scf.Yield) else ()
                self._inside(block, {a: shared.get(a, a) for a in block.args}, passed)
        for result in op.results:
            if result.is_tensor:
                self._keys[result] = self._result(op, result)

    def _result(self, op: Op, result: Value) -> Hashable:
        sources = self._flow.aliasing_uses(result)
        if len(sources) == 1 and sources[0][1] is Relation.EQUIVALENT:
            use = sources[0][0]
            return self._key(use) if self._analysis.is_in_place(use) else use
        if op.bufferizes_to_allocation(result):
            self._found.append(Item("allocation", self._block, self._model.nbytes(result), made=result))
            self._fresh[result] = len(self._found) - 1, False
        return result

    def _view(self, op: Op) -> None:
        """The buffer of an op that only makes an alias: where its operand is not in place the result is copied, not the
        operand."""
        use, result = op.uses[0], op.result
        key = self._part(op, self._key(use))
        if self._analysis.is_in_place(use):
            self._used(self._key(use))
            self._keys[result] = key
        else:
            self._private(use, result)
            self._keys[result] = result

    def _part(self, op: Op, buffer: Hashable) -> Hashable:
        """The view of a buffer that an op makes; equal views of one buffer are one where the scope allows."""
        if isinstance(op, tensor.SliceOp):
            s, insert = op.slice, isinstance(op, tensor.InsertSlice)
            base, view = (op.operand(1), op.operand(0)) if insert else (op.operand(0), op.result)
            if s.covers(base.tensor_type, view.tensor_type):
                return buffer
            key: Hashable = ("view", buffer, s)
        elif isinstance(op, tensor.Regrouping):
            before, after = ((*v.tensor_type.shape, v.tensor_type.element) for v in (op.source, op.result))
            if isinstance(buffer, _Regrouped) and buffer.before == after and buffer.shape == before:
                return buffer.of
            key = ("regroup", buffer, after)
            return self._numbered(key, _Regrouped(buffer, before, after))
        elif isinstance(op, tensor.ExtractDiagonal):
            key = ("diagonal", buffer, op.attrs["axes"])
        elif isinstance(op, ExtractWindows):
            key = ("windows", buffer, op.attrs["axis"], op.operand(1))
        else:
            return buffer
        return self._numbered(key, _View())

    def _numbered(self, key: Hashable, new: Hashable) -> Hashable:
        for scope in self._scopes:
            if key in scope:
                return scope[key]
        self._scopes[-1][key] = new
        return new

    # -- control flow
    def _inside(self, block: Block, args: dict[Value, Hashable], passed: Sequence[Use]) -> list[Hashable]:
        """Walks a block; the buffers of its terminator's operands."""
        outer, self._block = self._block, block
        self._scopes.append({})
        self._keys.update(args)
        self._ops(block)
        found = [self._buffer(use) if use.value.is_tensor else use.value for use in passed]
        self._scopes.pop()
        self._block = outer
        return found

    def _loop(self, op: scf.Loop) -> None:
        fixed = scf.fixed_places(op, self._analysis.equivalent)
        inits = [self._buffer(use) if use.value.is_tensor else use.value for use in op.inits]
        args: dict[Value, Hashable] = {a: inits[k] if k in fixed else a for k, a in enumerate(op.args)}
        self._round(op.regions[0].block, args, op.passed, fixed)
        if isinstance(op, scf.While):
            forwarded: dict[Value, Hashable] = {a: inits[k] if k in fixed else a for k, a in enumerate(op.after.args)}
            self._round(op.after, forwarded, op.yielded, fixed)
        for k, result in enumerate(op.results):
            self._keys[result] = inits[k] if k in fixed else result

    def _round(self, block: Block, args: dict[Value, Hashable], passed: Sequence[Use], fixed: set[int]) -> None:
        """One region of a loop, and the copies of yielded values that it may not hand on."""
        moving = [use for k, use in enumerate(passed) if k not in fixed]
        self._inside(block, args, moving)
        outer, self._block = self._block, block
        for use in moving:
            if use.value.is_tensor and not self._analysis.hands_on(use):
                self._emit("allocation", use.value, use)
                self._emit("copy", use.value, use)
        self._block = outer

    def _branches(self, op: scf.If) -> None:
        then, orelse = (self._inside(b, {}, b.terminator.uses) for b in op.branches)
        for k, result in enumerate(op.results):
            self._keys[result] = then[k] if then[k] is orelse[k] else result


class _View:
    """Stands for a view."""

    __slots__ = ()


@frozen(eq=False)
class _Regrouped:
    """Stands for a view of another shape."""

    of: Hashable
    before: tuple[object, ...]
    shape: tuple[object, ...]


def stored(op: Op) -> tuple[Use, Use] | None:
    """The operand whose elements an op copies into another's buffer, unless they are there already, and that other."""
    if isinstance(op, tensor.InsertSlice | bufferization.MaterializeInDestination) and op.operand(1).is_tensor:
        return op.uses[0], op.uses[1]
    return None
