"""Values, uses, ops, blocks, regions, and what an op may ask of the layers above it. MLIR counterpart:
mlir/IR/{Value,Operation,Block,Region}.h.

An op class stands for one kind of op and holds everything that is known of it: its structure, its NumPy reference, its
effects on memory, its bufferization facts, its rewrite to memrefs (see `tracebuf.ops`). The facts have conservative
defaults here, as in MLIR's interfaces: an op that says nothing may do anything to memory, reads and writes all its
tensors, and aliases everything.
`Facts`, `Rewriter` and `Interpreter` are protocols: an op holds its own rewrite and reference without importing the
layers that run them. `Form` is its text.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import field, replace
from enum import Enum
from typing import Any, ClassVar, Protocol, Self, TypeVar

from tracebuf.errors import InternalError, TracebufError, UnsupportedError
from tracebuf.frozen import frozen, plain
from tracebuf.ir.attributes import Attr, all_encoded, decoded, dynamic_integers
from tracebuf.ir.dims import Expr
from tracebuf.ir.types import (
    INDEX,
    TENSORS,
    MemRefType,
    ShapedType,
    TensorType,
    Type,
    UnrankedMemRefType,
    UnrankedTensorType,
    row_major,
    same_type,
    unnamed,
)
from tracebuf.location import UNKNOWN, Location


class Value:
    """An SSA value: the result of an op, or an argument of a block."""

    __slots__ = ("index", "name", "owner", "type", "uses")

    def __init__(self, type: Type, owner: Op | Block, index: int, name: str = "") -> None:
        self.type, self.owner, self.index, self.name = type, owner, index, name
        self.uses: dict[Use, None] = {}

    @property
    def defining_op(self) -> Op | None:
        return self.owner if isinstance(self.owner, Op) else None

    @property
    def block(self) -> Block:
        """The block that the value is defined in."""
        owner = self.owner
        if isinstance(owner, Block):
            return owner
        if owner.block is None:
            raise InternalError(f"{owner.name} is in no block")
        return owner.block

    @property
    def is_tensor(self) -> bool:
        return isinstance(self.type, TENSORS)

    @property
    def tensor_type(self) -> TensorType:
        assert isinstance(self.type, TensorType), self.type
        return self.type

    @property
    def memref_type(self) -> MemRefType:
        assert isinstance(self.type, MemRefType), self.type
        return self.type

    def replace_all_uses(self, other: Value, unless: Op | None = None) -> None:
        for use in list(self.uses):
            if use.op is not unless:
                use.set(other)

    def __repr__(self) -> str:
        return f"%{self.name or '?'}: {self.type}"


class Use:
    """One operand slot of one op (MLIR: OpOperand)."""

    __slots__ = ("index", "op", "value")

    def __init__(self, op: Op, index: int, value: Value) -> None:
        self.op, self.index, self.value = op, index, value
        value.uses[self] = None

    def set(self, value: Value) -> None:
        del self.value.uses[self]
        self.value = value
        value.uses[self] = None

    def __repr__(self) -> str:
        return f"{self.op.name}#{self.index}"


class Relation(Enum):
    """How an aliasing result relates to the operand: the same buffer, or some part of it (MLIR: BufferRelation)."""

    EQUIVALENT = "equivalent"
    UNKNOWN = "unknown"


@frozen()
class Alias:
    """`value` may share the buffer of an operand; `definite` is false where it is one of several candidates."""

    value: Value
    relation: Relation = Relation.EQUIVALENT
    definite: bool = True


class Effect(Enum):
    """What an op does to memory (MLIR: MemoryEffects)."""

    READ = "read"
    WRITE = "write"
    ALLOCATE = "allocate"
    FREE = "free"


@frozen()
class Flow:
    """A way through an op with regions: from its beginning (`end` is None), or from the `end` of a region, to a region
    or, where `target` is None, out of the op. The operands `passed` become the values `received`."""

    end: Op | None
    target: Region | None
    passed: Sequence[Use]
    received: Sequence[Value]


Effects = tuple[tuple[Effect, Value | None], ...]
"""Each effect with the operand or result that has it; None: something that no value stands for."""


class Facts(Protocol):
    """What an op may ask of the analysis while it states its own facts."""

    def is_value_read(self, value: Value) -> bool:
        """Whether some use of `value`, followed through aliases, reads its contents."""
        ...

    def are_equivalent(self, a: Value, b: Value) -> bool:
        """Whether both are known to be the same buffer."""
        ...

    @property
    def as_mlir(self) -> bool:
        """Whether the facts are asked for as MLIR 22 states them, where it is more cautious than need be, or less."""
        ...


class Op:
    """An operation. Subclasses set `name` and state facts; `registry` maps names to classes."""

    __slots__ = ("attrs", "block", "loc", "regions", "results", "successors", "uses")
    name: ClassVar[str] = ""
    registry: ClassVar[dict[str, type[Op]]] = {}
    terminator: ClassVar[bool] = False
    bufferizable: ClassVar[bool] = True
    """Whether it states facts of its own (MLIR: has a BufferizableOpInterface); else nothing is known of its tensors.
    """
    repetitive: ClassVar[bool] = False
    """The regions may run many times."""
    levels: ClassVar[frozenset[str]] = frozenset()
    """Where it may stand ("tensor", "memref", "body" of a structured op), beside where the verifier's table lets it."""
    takes: ClassVar[str] = "any*"
    """The kinds of its operands (see `ir.verifier`)."""
    gives: ClassVar[str] = "any*"
    """The kinds of its results."""
    region_ends: ClassVar[tuple[str, ...]] = ()
    """The terminator of each region ("" where there is none)."""
    branching: ClassVar[bool] = False
    """Whether its regions may have several blocks, which branch to one another."""

    def __init_subclass__(cls) -> None:
        if cls.__dict__.get("name"):
            Op.registry[cls.name] = cls

    def __init__(
        self,
        operands: Iterable[Value],
        result_types: Iterable[Type],
        loc: Location,
        attrs: dict[str, Any] | None = None,
        regions: Sequence[Region] = (),
        successors: Sequence[Block] = (),
    ) -> None:
        self.uses: list[Use] = []
        for v in operands:
            self.uses.append(Use(self, len(self.uses), v))
        self.results: list[Value] = []
        for t in result_types:
            self.results.append(Value(t, self, len(self.results)))
        self.loc = loc
        self.attrs: dict[str, Any] = {} if attrs is None else attrs
        self.block: Block | None = None
        self.regions = [*regions]
        for region in regions:
            region.op = self
        self.successors = tuple(successors)
        """The blocks that control may go to (cf.br, cf.cond_br)."""

    # -- text
    @classmethod
    def from_form(cls, form: Form) -> Op:
        """The op of a generic form; FormError where that does not fit. The default keeps operands, types and
        attributes; a class with an encoding of its own takes what it knows out of `form.attrs` and keeps the rest."""
        attrs = form.decoded() if cls.name.startswith("tracebuf.") else form.attrs
        return cls.rebuilt(form.operands, form.result_types, form.loc, attrs, form.regions, form.successors)

    @classmethod
    def rebuilt(
        cls,
        operands: Iterable[Value],
        result_types: Iterable[Type],
        loc: Location,
        attrs: Mapping[str, Any],
        regions: Sequence[Region] = (),
        successors: Sequence[Block] = (),
    ) -> Self:
        """An op of this class put together from its parts, whatever its constructor asks for."""
        op = object.__new__(cls)
        Op.__init__(op, operands, result_types, loc, dict(attrs), regions, successors)
        return op

    def to_form(self) -> Form:
        """The op in generic form, from which `from_form` makes an equal op. The default gives all attributes that have
        a text."""
        return self.form_with(all_encoded(self.attrs))

    def form_with(self, attrs: dict[str, Attr]) -> Form:
        """The op's generic form with these attributes, and those kept verbatim."""
        shown = attrs | {k: v for k, v in self.attrs.items() if isinstance(v, Attr)}
        types = [r.type for r in self.results]
        return Form(self.name, self.operands, types, shown, self.regions, list(self.successors), self.loc)

    @property
    def may_raise(self) -> bool:
        """Whether an exception of `evaluate` is the program's own; such an op stays although its results are unused."""
        return False

    @property
    def may_not_end(self) -> bool:
        """Whether the op may run for ever; such an op stays although its results are unused."""
        return False

    # -- effects (MLIR: MemoryEffectOpInterface)
    def effects(self) -> Effects | None:
        """What the op does to memory, beside what the ops in its regions do; None where that is unknown, as by default.
        `ir.effects` has the questions of passes: what may be removed, merged or moved."""
        return None

    # -- structure
    @property
    def operands(self) -> list[Value]:
        return [u.value for u in self.uses]

    def operand(self, index: int) -> Value:
        return self.uses[index].value

    @property
    def result(self) -> Value:
        return self.results[0]

    def is_unused(self, kept: Collection[Value] = ()) -> bool:
        """Whether nothing uses a result, and none is among `kept`."""
        for result in self.results:
            if result.uses or result in kept:
                return False
        return True

    def set_operands(self, values: Sequence[Value]) -> None:
        self.drop_uses()
        self.uses = [Use(self, i, v) for i, v in enumerate(values)]

    def drop_uses(self) -> None:
        for use in self.uses:
            del use.value.uses[use]
        self.uses = []

    def erase(self) -> None:
        """Removes the op (and its regions) from its block; its results must be unused."""
        if any(r.uses for r in self.results):
            raise InternalError(f"{self.name} is erased while in use")
        for region in self.regions:
            for block in region.blocks:
                for op in reversed(list(block.ops)):
                    for r in op.results:
                        r.uses.clear()
                    op.erase()
        self.drop_uses()
        if self.block is not None:
            self.block.remove(self)

    def forget(self) -> None:
        """Drops the uses of an op that never became part of a function, and of those in its regions."""
        for op in self.walk():
            op.drop_uses()
        self.drop_uses()

    @property
    def parent_op(self) -> Op | None:
        return self.block.region.op if self.block is not None else None

    def walk(self) -> Iterator[Op]:
        """Every op in the regions, pre-order (an op before what is inside it)."""
        return _walk(self.regions)

    def tensor_uses(self) -> list[Use]:
        return [u for u in self.uses if isinstance(u.value.type, TENSORS)]

    # -- meaning
    def verify(self) -> None:
        """Raises InternalError where the op is not well-formed."""

    def evaluate(self, interpreter: Interpreter, args: list[Any]) -> list[Any]:
        """The NumPy reference: result values from operand values (arrays, NumPy scalars, Python ints for index)."""
        raise NotImplementedError(f"{self.name} has no reference")

    @property
    def is_repetitive(self) -> bool:
        """Whether the regions may run many times (MLIR: isRepetitiveRegion)."""
        return self.repetitive

    @property
    def is_parallel(self) -> bool:
        """Whether the runs of the regions may be at the same time (MLIR: isParallelRegion)."""
        return False

    # -- control flow (MLIR: RegionBranchOpInterface)
    def flows(self) -> Sequence[Flow] | None:
        """The ways that control takes through the regions, with the values that go along; None, as by default, where
        the regions only run, or nothing is known of them."""
        return None

    # -- bufferization facts (MLIR: BufferizableOpInterface), with its conservative defaults
    def bufferizes_to_memory_read(self, use: Use, facts: Facts) -> bool:
        return True

    def bufferizes_to_memory_write(self, use: Use, facts: Facts) -> bool:
        return True

    def aliasing_values(self, use: Use) -> list[Alias]:
        """The results (or block arguments) that may share the operand's buffer if it is used in place."""
        near = [*self.results, *(a for region in self.regions for block in region.blocks[:1] for a in block.args)]
        return [Alias(v, Relation.UNKNOWN, definite=False) for v in near if v.is_tensor]

    def aliasing_uses(self, value: Value) -> list[tuple[Use, Relation, bool]]:
        """The operands whose buffer `value` (a result, or an argument of a region's block) may share."""
        found = []
        for use in self.tensor_uses():
            found += [(use, a.relation, a.definite) for a in self.aliasing_values(use) if a.value is value]
        return found

    def inserts(self) -> tuple[Use, Use] | None:
        """(source, destination) if the op puts the one into the other, or a part (MLIR: SubsetInsertionOpInterface)."""
        return None

    def must_bufferize_in_place(self, use: Use) -> bool:
        """Whether the operand may not be copied; by default where its rank is unknown."""
        return isinstance(use.value.type, UnrankedTensorType)

    def bufferizes_to_allocation(self, value: Value) -> bool:
        """The result is a new buffer of its own."""
        return False

    def defines_contents(self, value: Value) -> bool:
        """False where the result's elements are undefined (`tensor.empty`): a read of it never conflicts."""
        return True

    def is_writable(self, value: Value) -> bool:
        return True

    def elementwise_access(self, a: Use, b: Use) -> bool:
        """Whether the op has finished with element i of one operand before it accesses element i of the other (MLIR:
        bufferizesToElementwiseAccess)."""
        return False

    def is_not_conflicting(self, read: Use, write: Use, facts: Facts) -> bool:
        """Whether this read and this write do not conflict for a reason of the op's own (the subset rules of
        insert_slice)."""
        return False

    def bufferize(self, rewriter: Rewriter) -> None:
        """Emits the memref form. The default carries over an op without tensors; UnsupportedError for others."""
        if any(v.is_tensor for v in (*self.operands, *self.results)):
            text = "derive it from DestinationOp, or write its `bufferize`"
            raise UnsupportedError(f"{self.name} has no memref form", instead=text, location=self.loc)
        rewriter.clone(self)

    shown: ClassVar[Callable[[Op], str]] = staticmethod(lambda op: op.name)
    """The op as text: set by the printer."""

    def __repr__(self) -> str:
        return Op.shown(self)


class Block:
    """A list of ops with arguments; `op_index` gives an op's index, renumbered when the list changed."""

    __slots__ = ("_order", "args", "ops", "region")

    def __init__(self, arg_types: Iterable[Type] = ()) -> None:
        self.args = [Value(t, self, i) for i, t in enumerate(arg_types)]
        self.ops: list[Op] = []
        self.region: Region = None  # type: ignore[assignment]
        self._order: dict[Op, int] | None = None

    @property
    def following(self) -> tuple[Block, ...]:
        """The blocks that control may go to, each once."""
        return tuple(dict.fromkeys(self.ops[-1].successors)) if self.ops else ()

    def add_arg(self, type: Type) -> Value:
        value = Value(type, self, len(self.args))
        self.args.append(value)
        return value

    def drop_arg(self, index: int) -> None:
        del self.args[index]
        for i, arg in enumerate(self.args):
            arg.index = i

    def append(self, op: Op) -> None:
        op.block = self
        self.ops.append(op)
        self._order = None

    def insert(self, index: int, op: Op) -> None:
        op.block = self
        self.ops.insert(index, op)
        self._order = None

    def insert_before(self, anchor: Op, op: Op) -> None:
        self.insert(self.ops.index(anchor), op)

    def remove(self, op: Op) -> None:
        self.ops.remove(op)
        op.block = None
        self._order = None

    def replace_ops(self, ops: list[Op]) -> None:
        """Sets the whole list at once (for passes that insert many ops); an op that is left out is in no block."""
        for op in self.ops:
            if op.block is self:
                op.block = None
        self.ops = ops
        for op in ops:
            op.block = self
        self._order = None

    def op_index(self, op: Op) -> int:
        return self.indices()[op]

    def indices(self) -> dict[Op, int]:
        """The index of each op, to be read only."""
        if self._order is None:
            self._order = dict(zip(self.ops, range(len(self.ops))))
        return self._order

    @property
    def terminator(self) -> Op:
        return self.ops[-1]

    @property
    def parent_op(self) -> Op | None:
        return self.region.op


def _walk(regions: Sequence[Region]) -> Iterator[Op]:
    """Every op in the regions, pre-order, in constant time each; a block's ops are those that it has when it is met."""
    work = [_ops_of(regions)]
    while work:
        for op in work[-1]:
            yield op
            if op.regions:
                work.append(_ops_of(op.regions))
                break
        else:
            work.pop()


def _ops_of(regions: Sequence[Region]) -> Iterator[Op]:
    if len(regions) == 1 and len(regions[0].blocks) == 1:
        return iter(list(regions[0].blocks[0].ops))
    return _ops_of_several(regions)


def _ops_of_several(regions: Sequence[Region]) -> Iterator[Op]:
    for region in regions:
        for block in region.blocks:
            yield from list(block.ops)



class Region:
    """Blocks owned by an op. Structured control flow has one block a region."""

    __slots__ = ("blocks", "op")

    def __init__(self, *blocks: Block) -> None:
        self.op: Op | None = None
        self.blocks = list(blocks)
        for block in blocks:
            block.region = self

    @property
    def block(self) -> Block:
        return self.blocks[0]

    def walk(self) -> Iterator[Op]:
        return _walk([self])

    def in_order(self) -> list[Block]:
        """The reachable blocks in reverse post-order: each before those it goes to, but for loops."""
        found: list[Block] = []
        seen = {self.block}
        work = [(self.block, iter(self.block.following))]
        while work:
            block, rest = work[-1]
            following = next((b for b in rest if b not in seen), None)
            if following is None:
                found.append(block)
                work.pop()
            else:
                seen.add(following)
                work.append((following, iter(following.following)))
        return found[::-1]


def no_effects(op: Op) -> Effects:
    """Of an op that does nothing to memory, on tensors or on buffers: `effects = no_effects` in its class."""
    return ()


def reads_buffers(op: Op) -> Effects:
    """Of an op that reads its operands: those that are buffers."""
    return tuple((Effect.READ, v) for v in op.operands if is_buffer(v))


def is_buffer(value: Value) -> bool:
    """Whether the value is a memref."""
    return isinstance(value.type, MemRefType | UnrankedMemRefType)


OpT = TypeVar("OpT", bound=Op)

Mixed = int | Value
"""A size, offset or stride: a constant, or an SSA value of type index (MLIR: OpFoldResult)."""


class FormError(TracebufError):
    """A generic form that does not fit the op's class: the reader adds line and column."""


@plain(eq=True)
class Form:
    """An op in MLIR's generic form: what the reader makes of text, and what the generic printer asks of an op.

    `"name"(operands)[successors] <{properties}> ({regions}) {attributes} : (types) -> (types) loc(...)`; properties
    and attributes are in `attrs`, told apart by `Attr.inherent`.
    """

    name: str
    operands: list[Value]
    result_types: list[Type]
    attrs: dict[str, Attr] = field(default_factory=dict)
    regions: list[Region] = field(default_factory=list)
    successors: list[Block] = field(default_factory=list)
    loc: Location = UNKNOWN
    size: Callable[[Value], Expr] = lambda value: unnamed()
    """The size that a value of type index stands for; equal for the same value."""

    def take(self, name: str, default: Any = ..., kind: type = object) -> Any:
        """The meaning of an attribute, which is removed; FormError where it is missing and has no default, or is of
        another kind."""
        found = self.attrs.pop(name, None)
        if found is not None:
            if not isinstance(found.value, kind):
                raise FormError(f"{self.name}: `{name} = {found}` is no {kind.__name__}")
            return found.value
        if default is ...:
            raise FormError(f"{self.name}: the attribute `{name}` is missing")
        return default

    def decoded(self) -> dict[str, Any]:
        """The attributes of an op of tracebuf's own as the Python values that it was printed from."""
        return {k: a if a.inherent else decoded(a.value, k) for k, a in self.attrs.items()}

    def segments(self, n: int) -> list[list[Value]]:
        """The operands in the `n` groups that `operandSegmentSizes` tells."""
        if (told := self.attrs.get("operandSegmentSizes")) is not None and not told.text.startswith("array<i32"):
            raise FormError(f"{self.name}: operandSegmentSizes are an array<i32>, not {told}")
        sizes: Sequence[int] = self.take("operandSegmentSizes", kind=list)
        if len(sizes) != n or sum(sizes) != len(self.operands) or min(sizes) < 0:
            raise FormError(f"{self.name}: operandSegmentSizes {list(sizes)} do not fit {len(self.operands)} operands")
        rest = iter(self.operands)
        return [[next(rest) for _ in range(size)] for size in sizes]

    def expect(self, operands: int | None = None, results: int | None = None, regions: int | None = None) -> None:
        """FormError unless there are so many operands, results and regions."""
        for what, wanted, found in (
            ("operands", operands, self.operands), ("results", results, self.result_types),
            ("regions", regions, self.regions),
        ):  # fmt: skip
            if wanted is not None and len(found) != wanted:
                raise FormError(f"{self.name}: {len(found)} {what} where {wanted} should be")

    def expect_indices(self, place: int) -> None:
        """FormError unless an index for each dimension follows the operand number `place`."""
        into, rest = self.operands[place].type, self.operands[place + 1 :]
        if not isinstance(into, ShapedType) or len(rest) != into.rank or any(v.type is not INDEX for v in rest):
            raise FormError(f"{self.name}: {len(rest)} operands are no indices of {into}")

    def static(self, name: str, n_dynamic: int) -> tuple[int | None, ...]:
        """The numbers of an attribute, which is removed, with None for each of so many operands."""
        found = dynamic_integers(self.take(name, kind=list))
        if found.count(None) != n_dynamic:
            raise FormError(f"{self.name}: {n_dynamic} operands do not fit `{name}`")
        return found

    def tie(self, result: int, operand: Value) -> None:
        """Gives a result the sizes of an operand."""
        if not same_type(self.result_types[result], operand.type):
            raise FormError(f"{self.name}: {operand.type} gives no {self.result_types[result]}")
        self.result_types[result] = operand.type

    def shaped_result(self) -> ShapedType:
        """The type of the only result, which has a shape."""
        self.expect(results=1)
        type_ = self.result_types[0]
        if not isinstance(type_, ShapedType):
            raise FormError(f"{self.name}: the result is a {type_}")
        return type_

    def own_sizes(self, dynamic: Sequence[Value]) -> tuple[int | None, ...]:
        """The static sizes of the only result, with None for each dynamic one; its type gets the `dynamic` values as
        sizes."""
        shape = self.shaped_result().shape
        static = tuple(d if isinstance(d, int) else None for d in shape)
        if static.count(None) != len(dynamic):
            raise FormError(f"{self.name}: {len(dynamic)} sizes for {self.result_types[0]}")
        rest = iter(dynamic)
        self.resize(0, [next(rest) if d is None else d for d in static])
        return static

    def resize(self, result: int, sizes: Sequence[int | Value | None]) -> None:
        """Replaces the result's sizes that are not constant by these; of None nothing is known."""
        type_ = self.result_types[result]
        if not isinstance(type_, ShapedType) or type_.rank != len(sizes):
            raise FormError(f"{self.name}: {len(sizes)} sizes do not fit {type_}")
        known = tuple(
            d if isinstance(d, int) or s is None or isinstance(s, int) else self.size(s)
            for d, s in zip(type_.shape, sizes)
        )
        dense = isinstance(type_, MemRefType) and type_.is_identity
        more = {"strides": row_major(known)} if dense else {}
        self.result_types[result] = replace(type_, shape=known, **more)  # type: ignore[arg-type]


class Interpreter(Protocol):
    """Runs blocks for ops with regions (tensor or memref level)."""

    def run_block(self, block: Block, args: Sequence[Any]) -> list[Any]:
        """Runs the block with these argument values; the operand values of its terminator."""
        ...

    def operands(self, op: Op) -> list[Any]:
        """The values that an op's operands have now."""
        ...


class Rewriter(Protocol):
    """What an op may ask of the rewrite from the tensor program to the memref program. The rewrite asks the analysis
    only whether an operand is in place."""

    def add(self, op: OpT) -> OpT:
        """Appends an op to the memref program, with its location as given."""
        ...

    def clone(self, op: Op) -> None:
        """Carries over an op without tensors, its operands mapped."""
        ...

    def value(self, value: Value) -> Value:
        """The memref program's counterpart of a scalar."""
        ...

    def buffer(self, use: Use) -> Value:
        """The buffer for a tensor operand: its own if in place, else a new one (with a copy if its contents are
        read)."""
        ...

    def tensor(self, use: Use) -> Value:
        """The operand as a tensor, for what takes nothing else."""
        ...

    def replace(self, result: Value, buffer: Value) -> None:
        """Records the buffer of a tensor result."""
        ...

    def set_value(self, result: Value, value: Value) -> None:
        """Records the memref program's value of a scalar result."""
        ...

    def allocate(self, like: Value, op: Op, reason: str) -> Value:
        """A new buffer of a tensor value's shape."""
        ...

    def new_buffer(self, type: TensorType, sizes: Sequence[Mixed], reason: str, loc: Location) -> Value:
        """A new buffer of a tensor type, its dynamic sizes given as values of the memref program."""
        ...

    def as_type(self, buffer: Value, type: Type, loc: Location) -> Value:
        """The buffer cast to a memref type, or where its layout need not be that one, a new buffer with its elements
        (MLIR: castOrReallocMemRefValue)."""
        ...

    def sizes(self, buffer: Value, loc: Location) -> list[Mixed]:
        """The sizes of a buffer: from the op that made it where it says them, else asked of the buffer."""
        ...

    def inside(self, block: Block) -> AbstractContextManager[None]:
        """Appends to another block of the memref program."""
        ...

    def inline(self, block: Block, args: Sequence[Value]) -> None:
        """The memref form of the ops of a region's block but its terminator, with these scalars for its arguments."""
        ...

    def subview(self, buffer: Value, slice_op: Op) -> Value:
        """The view of `buffer` that a slice op describes; equal views of one buffer are one value."""
        ...

    def regroup(self, buffer: Value, op: Op) -> Value:
        """The view of `buffer` that a collapse_shape, an expand_shape or a diagonal describes, numbered likewise."""
        ...

    def copy(self, source: Value, target: Value, op: Op, reason: str) -> None:
        """Copies elements; nothing where both are the same value."""
        ...

    def block(
        self, block: Block, arg_types: Sequence[Type], args: Sequence[Value | None], yields: Sequence[Use]
    ) -> Block:
        """The memref form of a loop's region: `args[k]` is the tensor program's argument for the new block's argument
        k, `yields` the operands of its terminator. A buffer that may not be handed on is copied into a new one
        (MLIR behaviours 36, 37)."""
        ...

    def body(self, block: Block, arg_types: Sequence[Type], args: Sequence[Value], end: Callable[[], None]) -> Block:
        """The memref form of a block without its terminator, which `end` adds."""
        ...

    def region(self, old: Region) -> Region:
        """The memref form of a region of branching blocks, without arguments."""
        ...

    def successor(self, block: Block) -> Block:
        """The new block for one that is branched to."""
        ...

    def call(self, callee: str, args: Sequence[Use], loc: Location) -> tuple[list[Value], Sequence[Type]]:
        """The operands of a call of the new function of that name, and the types of its results."""
        ...

    def cast(self, use: Use, type_: Type) -> Value:
        """An operand that is passed on: a scalar, or the buffer cast to a type of another layout."""
        ...

    def unknown(self, op: Op) -> None:
        """Keeps an op as it is, with tensors made of its operands' buffers."""
        ...

    def branches(self, op: Op) -> None:
        """The memref form of an scf.if; a result that is the same buffer in both branches is not passed."""
        ...

    def equivalent(self, a: Value, b: Value) -> bool:
        """Whether two tensor values are the same buffer after bufferization."""
        ...


class Builder:
    """Appends ops at the end of a block (or before an op), each with the current location."""

    __slots__ = ("before", "block", "loc")

    def __init__(self, block: Block, loc: Location = UNKNOWN, before: Op | None = None) -> None:
        self.block, self.loc, self.before = block, loc, before

    def add(self, op: OpT) -> OpT:
        if self.before is None:
            self.block.append(op)
        else:
            self.block.insert_before(self.before, op)
        return op


def split_mixed(values: Sequence[Mixed]) -> tuple[tuple[int | None, ...], list[Value]]:
    """(the constants, with None for each dynamic value; the dynamic values in order)."""
    static = [v if isinstance(v, int) else None for v in values]
    return tuple(static), [v for v in values if not isinstance(v, int)] if None in static else []


def join_mixed(static: Sequence[int | None], dynamic: Iterable[Value]) -> list[Mixed]:
    """The constants and values that `split_mixed` separated, in order."""
    rest = iter(dynamic)
    return [next(rest) if s is None else s for s in static]


def happens_in(op: Op, block: Block) -> Op | None:
    """The ancestor of `op` (or itself) that stands in `block`, or None."""
    current: Op | None = op
    while current is not None and current.block is not block:
        current = current.parent_op
    return current


def dominates(value: Value, op: Op) -> bool:
    """Whether `value` is defined before `op` (single-block regions)."""
    anchor = happens_in(op, value.block)
    if anchor is None:
        return False
    definition = value.defining_op
    return definition is None or value.block.op_index(definition) < value.block.op_index(anchor)
