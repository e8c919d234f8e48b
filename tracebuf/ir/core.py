"""Values, uses, ops, blocks, regions, functions. MLIR counterpart: mlir/IR/{Value,Operation,Block,Region}.h.

An op class stands for one kind of op and holds everything that is known of it: its structure, its NumPy reference, its
bufferization facts, its rewrite to memrefs (see `tracebuf.ops`). The facts have conservative defaults here, as in
MLIR's BufferizableOpInterface: an op that says nothing reads and writes all its tensors, and aliases everything.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self, TypeVar

from tracebuf.errors import InternalError, UnsupportedError
from tracebuf.ir.attributes import Attr, all_encoded
from tracebuf.ir.dims import Sym, symbols
from tracebuf.ir.form import Form
from tracebuf.ir.types import TENSORS, MemRefType, ShapedType, TensorType, Type, UnrankedTensorType
from tracebuf.location import UNKNOWN, Location

if TYPE_CHECKING:
    from tracebuf.ir.protocols import Interpreter, Rewriter


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


@dataclass(frozen=True, slots=True)
class Alias:
    """`value` may share the buffer of an operand; `definite` is false where it is one of several candidates."""

    value: Value
    relation: Relation = Relation.EQUIVALENT
    definite: bool = True


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
    pure: ClassVar[bool] = False
    """No effects: may be removed when unused, and moved (what may be merged is `optimize.cse`'s to say, rule S3)."""
    terminator: ClassVar[bool] = False
    bufferizable: ClassVar[bool] = True
    """Whether it states facts of its own (MLIR: has a BufferizableOpInterface); nothing is known of tensors else."""
    repetitive: ClassVar[bool] = False
    """The regions may run many times."""
    levels: ClassVar[frozenset[str]] = frozenset()
    """Where it may stand ("tensor", "memref", "body" of a structured op), beside where the verifier's table lets it."""
    region_ends: ClassVar[tuple[str, ...]] = ()
    """The terminator of each region ("" where there is none)."""

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
        self.uses = [Use(self, i, v) for i, v in enumerate(operands)]
        self.results = [Value(t, self, i) for i, t in enumerate(result_types)]
        self.loc = loc
        self.attrs: dict[str, Any] = {} if attrs is None else attrs
        self.block: Block | None = None
        self.regions = list(regions)
        for region in self.regions:
            region.op = self
        self.successors = tuple(successors)
        """The blocks that control may go to (cf.br, cf.cond_br)."""

    # -- text
    @classmethod
    def from_form(cls, form: Form) -> Op:
        """The op that a generic form of this name says; FormError where it does not fit. The default keeps all as it
        stands; a class with an encoding of its own takes what it knows out of `form.attrs` and keeps the rest."""
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
        """The inverse of `from_form`. The default gives all attributes, as far as text can say them."""
        return self.form_with(all_encoded(self.attrs))

    def form_with(self, attrs: dict[str, Attr]) -> Form:
        """The op's generic form: these attributes, and what stands in the op verbatim."""
        shown = attrs | {k: v for k, v in self.attrs.items() if isinstance(v, Attr)}
        types = [r.type for r in self.results]
        return Form(self.name, self.operands, types, shown, self.regions, list(self.successors), self.loc)

    @property
    def may_raise(self) -> bool:
        """Whether what its `evaluate` raises is the program's, not a mistake of ours: then it stays, though nobody uses
        its results."""
        return False

    # -- structure
    @property
    def operands(self) -> list[Value]:
        return [u.value for u in self.uses]

    def operand(self, index: int) -> Value:
        return self.uses[index].value

    @property
    def result(self) -> Value:
        return self.results[0]

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
        for region in self.regions:
            yield from region.walk()

    def tensor_uses(self) -> Iterator[Use]:
        return (u for u in self.uses if isinstance(u.value.type, TENSORS))

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

    # -- bufferization facts (MLIR: BufferizableOpInterface), with its conservative defaults
    def bufferizes_to_memory_read(self, use: Use, facts: Facts) -> bool:
        return True

    def bufferizes_to_memory_write(self, use: Use, facts: Facts) -> bool:
        return True

    def aliasing_values(self, use: Use) -> list[Alias]:
        """The results (or block arguments) that may share the operand's buffer if it is used in place."""
        near = [*self.results, *(a for region in self.regions for a in region.block.args)]
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
        """By default where no copy could be made, its rank not being known."""
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
        """Element i of one operand is done with before element i of the other is touched (MLIR:
        bufferizesToElementwiseAccess)."""
        return False

    def is_not_conflicting(self, read: Use, write: Use, facts: Facts) -> bool:
        """The op's own reasons why this pair does not conflict (the subset rules of insert_slice)."""
        return False

    def bufferize(self, rewriter: Rewriter) -> None:
        """Emits the memref form. The default carries over an op without tensors; UnsupportedError for others."""
        if any(v.is_tensor for v in (*self.operands, *self.results)):
            text = "derive it from DestinationOp, or write its `bufferize`"
            raise UnsupportedError(f"{self.name} has no memref form", instead=text, location=self.loc)
        rewriter.clone(self)

    def __repr__(self) -> str:
        from tracebuf.ir.printer import print_op

        return print_op(self)


class Block:
    """A list of ops with arguments; `op_index` gives an op's place, renumbered when the list changed."""

    __slots__ = ("_order", "args", "ops", "region")

    def __init__(self, arg_types: Iterable[Type] = ()) -> None:
        self.args = [Value(t, self, i) for i, t in enumerate(arg_types)]
        self.ops: list[Op] = []
        self.region: Region = None  # type: ignore[assignment]
        self._order: dict[Op, int] | None = None

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
        """Sets the whole list at once (for passes that insert many ops)."""
        self.ops = ops
        for op in ops:
            op.block = self
        self._order = None

    def op_index(self, op: Op) -> int:
        if self._order is None:
            self._order = {o: i for i, o in enumerate(self.ops)}
        return self._order[op]

    @property
    def terminator(self) -> Op:
        return self.ops[-1]

    @property
    def parent_op(self) -> Op | None:
        return self.region.op


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
        for block in self.blocks:
            for op in list(block.ops):
                yield op
                if op.regions:
                    yield from op.walk()


class Donation(Enum):
    """What becomes of an argument that the caller has no more use for."""

    FREE = "nobody sees what it holds in the end"
    SPARED = "the same, and stores to it need not reach the caller"
    STORED = "it is stored to and returned"
    RETURNED = "it is returned as it is"

    @staticmethod
    def of(*, returned: bool, stored: bool) -> Donation:
        if returned:
            return Donation.STORED if stored else Donation.RETURNED
        return Donation.SPARED if stored else Donation.FREE


class Func:
    """A function: `func.func`. `symbols` names the SSA value (index) that holds each size symbol.

    `arg_attrs[i]["bufferization.writable"]` is False for an argument that must not be stored to; `["tracebuf.donated"]`
    is a Donation. `results` are the declared result types (None: what `func.return` returns); an `external` function
    has an empty block.
    """

    __slots__ = ("arg_attrs", "attrs", "body", "loc", "name", "result_attrs", "results", "symbols")

    def __init__(
        self,
        name: str,
        arg_types: Sequence[Type] = (),
        loc: Location = UNKNOWN,
        results: Sequence[Type] | None = None,
    ) -> None:
        self.name, self.loc = name, loc
        self.results = None if results is None else tuple(results)
        self.result_attrs: list[dict[str, Any]] = []
        self.body = Region(Block(arg_types))
        self.arg_attrs: list[dict[str, Any]] = [{} for _ in arg_types]
        self.attrs: dict[str, Any] = {}
        self.symbols: dict[Sym, Value] = {}

    @property
    def block(self) -> Block:
        return self.body.block

    @property
    def external(self) -> bool:
        """Whether it is only declared."""
        return not self.block.ops

    @property
    def result_types(self) -> tuple[Type, ...]:
        if self.results is not None or self.external:
            return self.results or ()
        return tuple(v.type for v in self.block.terminator.operands)

    @property
    def args(self) -> list[Value]:
        return self.block.args

    def walk(self) -> Iterator[Op]:
        return self.body.walk()

    def forget_lost_symbols(self) -> None:
        """Drops symbols whose value stands in a region that is no longer part of the function."""
        blocks = self.blocks()
        home = {s: v.owner if isinstance(v.owner, Block) else v.owner.block for s, v in self.symbols.items()}
        self.symbols = {s: v for s, v in self.symbols.items() if home[s] in blocks}

    def forget_lost_uses(self) -> None:
        """Drops uses by ops in regions that never became part of the function."""
        blocks = self.blocks()
        for value in self.values():
            for use in [u for u in value.uses if u.op.block not in blocks]:
                del value.uses[use]

    def blocks(self) -> set[Block]:
        """Every block of the function."""
        return {self.block}.union(*(region.blocks for op in self.walk() for region in op.regions))

    def forget_unused_symbols(self, kind: str = "") -> None:
        """Drops symbols that no type spells, so that what gives them a value may go; of a kind: unused results."""
        if kind and not any(s.kind == kind for s in self.symbols):
            return
        spelled: set[Sym] = set()
        seen: set[Type] = set()
        for v in self.values():
            if v.type in seen or not isinstance(v.type, ShapedType):
                continue
            seen.add(v.type)
            strides = (*v.type.strides, v.type.offset) if isinstance(v.type, MemRefType) else ()
            for d in (*v.type.shape, *strides):
                spelled |= symbols(d) if d is not None else set()
        for s, v in list(self.symbols.items()):
            if s not in spelled and (not kind or (s.kind == kind and not v.uses and v.defining_op is not None)):
                del self.symbols[s]

    def values(self) -> Iterator[Value]:
        """Every value of the function."""
        yield from self.block.args
        for op in self.walk():
            yield from op.results
            for region in op.regions:
                for block in region.blocks:
                    yield from block.args

    def __repr__(self) -> str:
        from tracebuf.ir.printer import print_func

        return print_func(self)


class Module:
    """`builtin.module`: functions, and what else stands beside them (globals, unknown ops, modules), in order."""

    __slots__ = ("attrs", "items", "loc", "name")

    def __init__(self, items: Iterable[Func | Op | Module] = (), loc: Location = UNKNOWN, name: str = "") -> None:
        self.items, self.loc, self.name = list(items), loc, name
        self.attrs: dict[str, Any] = {}

    @property
    def funcs(self) -> list[Func]:
        return [f for f in self.items if isinstance(f, Func)]

    def func(self, name: str) -> Func:
        """The function of that name; KeyError where there is none."""
        for f in self.funcs:
            if f.name == name:
                return f
        raise KeyError(name)


OpT = TypeVar("OpT", bound=Op)


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


Mixed = int | Value
"""A size, offset or stride: a constant, or an SSA value of type index (MLIR: OpFoldResult)."""


def split_mixed(values: Sequence[Mixed]) -> tuple[tuple[int | None, ...], list[Value]]:
    """(static part with None at each dynamic place, the dynamic values in order)."""
    static = tuple(v if isinstance(v, int) else None for v in values)
    return static, [v for v in values if isinstance(v, Value)]


def join_mixed(static: Sequence[int | None], dynamic: Iterable[Value]) -> list[Mixed]:
    """The inverse of `split_mixed`."""
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
