"""Functions and modules. MLIR counterpart: mlir/Dialect/Func/IR/FuncOps.h, mlir/IR/BuiltinOps.h (ModuleOp)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import Enum
from typing import Any, ClassVar

from tracebuf.ir.core import Block, Op, Region, Value
from tracebuf.ir.dims import Expr, Sym, symbols
from tracebuf.ir.types import MemRefType, ShapedType, Type
from tracebuf.location import UNKNOWN, Location


class Donation(Enum):
    """Whether and how the caller donates an argument's memory to the call."""

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
    has an empty block. `callees` are the functions that a traced one calls (`tracebuf.call`), directly or not.
    """

    __slots__ = ("arg_attrs", "attrs", "body", "callees", "loc", "name", "result_attrs", "results", "symbols")

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
        self.callees: tuple[Func, ...] = ()

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
        home = {s: v.owner if isinstance(v.owner, Block) else v.owner.block for s, v in self.symbols.items()}
        kept = {block: self.holds(block) for block in set(home.values())}
        self.symbols = {s: v for s, v in self.symbols.items() if kept[home[s]]}

    def holds(self, block: Block | None) -> bool:
        """Whether a block is part of the function."""
        while block is not None and block.region is not self.body:
            block = block.region.op.block if block.region is not None and block.region.op is not None else None
        return block is not None

    def forget_lost_uses(self, values: Sequence[Value]) -> None:
        """Drops uses of the function's values by ops in regions that never became part of it."""
        ops = [*self.walk()]
        if sum([len(v.uses) for v in values]) == sum([len(op.uses) for op in ops]):
            return
        blocks = {op.block for op in ops}
        for value in values:
            for use in [u for u in value.uses if u.op.block not in blocks]:
                del value.uses[use]

    def forget_unused_symbols(self, kind: str = "") -> None:
        """Drops symbols that no type uses, so that the ops that define their values may be removed."""
        perhaps = [
            s for s, v in self.symbols.items()
            if not kind or (s.kind == kind and not v.uses and v.defining_op is not None)
        ]  # fmt: skip
        used = self.symbols_of_types() if perhaps else ()
        for s in perhaps:
            if s not in used:
                del self.symbols[s]

    def symbols_of_types(self) -> set[Sym]:
        """The symbols of the sizes, strides and offsets that types have."""
        types: dict[int, Type] = {}
        for v in self.values():
            types[id(v.type)] = v.type
        used: set[Sym] = set()
        for t in types.values():
            if isinstance(t, ShapedType):
                strides = (*t.strides, t.offset) if isinstance(t, MemRefType) else ()
                for d in (*t.shape, *strides):
                    if isinstance(d, Expr):
                        used |= symbols(d)
        return used

    def values(self) -> Iterator[Value]:
        """Every value of the function."""
        found = [v for block in self.body.blocks for v in block.args]
        for op in self.walk():
            found += op.results
            for region in op.regions:
                for block in region.blocks:
                    found += block.args
        return iter(found)

    shown: ClassVar[Callable[[Func], str]] = staticmethod(lambda func: f"func.func @{func.name}")
    """The function as text: set by the printer."""

    def __repr__(self) -> str:
        return Func.shown(self)


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
