"""Whether a function is well-formed at its level: structure, use lists, scope, types, and which ops may stand there.

Why: run after every pass in tests, it names the first op that a pass broke. Linear in the ops. Does not check meaning
or memory, as the interpreters do. Counterpart: mlir/lib/IR/Verifier.cpp and a ConversionTarget per level.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from tracebuf.errors import InternalError
from tracebuf.ir.core import Block, Op, Value
from tracebuf.ir.dims import Sym, symbols
from tracebuf.ir.func import Func
from tracebuf.ir.types import I1, INDEX, MemRefType, ShapedType, TensorType, Type

__all__ = ["LEGAL", "Level", "verify", "where"]

Level = Literal["tensor", "memref"]

SCALAR = frozenset({"arith.", "math.", "tracebuf.ufunc", "tracebuf.libm", "tracebuf.overflows"})
PRODUCTS = {"tracebuf.matmul_sub", "tracebuf.matvec_sub", "tracebuf.vecmat_sub"}
BOTH = SCALAR | PRODUCTS | {"linalg.", "scf.", "tracebuf.check", "func.return"}
LEGAL: dict[Level, frozenset[str]] = {
    "tensor": BOTH
    | {"tensor.", "tracebuf.extract_view", "tracebuf.insert_view", "tracebuf.extract_diagonal"}
    | {"bufferization.materialize_in_destination", "bufferization.alloc_tensor", "vector."},
    "memref": BOTH
    | {"memref.", "tracebuf.subview", "tracebuf.diagonal", "tracebuf.same_base"}
    | {"bufferization.dealloc", "bufferization.clone", "vector."},
}
"""Op names, and dialects (ending in a dot), that may stand at each level."""

FOREIGN: dict[Level, type[ShapedType]] = {"tensor": MemRefType, "memref": TensorType}
SLICES = {  # how many operands stand before the dynamic offsets, sizes and strides; which of them is the base
    "tensor.extract_slice": (1, 0), "tracebuf.extract_view": (1, 0), "tensor.insert_slice": (2, 1),
    "tensor.parallel_insert_slice": (2, 1), "tracebuf.insert_view": (2, 1),
    "memref.subview": (1, 0), "tracebuf.subview": (1, 0),
}  # fmt: skip
GEOMETRY = ("static_offsets", "static_sizes", "static_strides")


def where(op: Op | None) -> str:
    """The op's name and the user's line, for messages."""
    if op is None:
        return "func.func"
    place = f", line {op.loc.line} of {op.loc.file}" if op.loc.file else ""
    return f"{op.name}{place}"


def verify(func: Func, level: Level) -> None:
    """Raises InternalError, naming the op and the user's line, for the first thing that is wrong."""
    if len(func.arg_attrs) != len(func.args):
        raise InternalError(f"{func.name}: {len(func.args)} arguments with attributes for {len(func.arg_attrs)}")
    verifier = _Verifier(func, level)
    verifier.block(func.block, None, "func.return")
    for symbol, value in func.symbols.items():
        if value not in verifier.defined:
            raise InternalError(f"{func.name}: the value of size {symbol} is not in the function")
    for value in verifier.defined:
        for use in value.uses:
            if use.op not in verifier.seen or use.index >= len(use.op.uses) or use.op.uses[use.index] is not use:
                raise InternalError(f"{where(use.op)}: use lists are broken: {value!r} counts a use that is gone")


class _Verifier:
    """`visible`: the values in scope; `defined`: all that were met; `seen`: the ops."""

    __slots__ = ("by_type", "defined", "entry", "func", "level", "seen", "visible")

    def __init__(self, func: Func, level: Level) -> None:
        self.func, self.level = func, level
        self.visible: set[Value] = set()
        self.defined: dict[Value, None] = {}
        self.seen: set[Op] = set()
        self.by_type: dict[Type, frozenset[Sym]] = {}
        shaped = [a.type for a in func.args if isinstance(a.type, ShapedType)]
        self.entry = {s for t in shaped for d in t.shape for s in symbols(d) if d == s.expr}

    def block(self, block: Block, parent: Op | None, terminator: str) -> None:
        if not block.ops:
            raise InternalError(f"{where(parent)}: a block is empty")
        if block.region is None or block.region.op is not parent:
            raise InternalError(f"{where(parent)}: a block does not know its region, or the region its op")
        self.define(block.args, block, parent)
        for op in block.ops:
            if terminator and (op.name == terminator) != (op is block.ops[-1]):
                raise InternalError(f"{where(op)}: stands in the middle or last; the block ends with {terminator}")
            self.op(op, block, terminator)
        self.visible.difference_update(block.args)
        for op in block.ops:
            self.visible.difference_update(op.results)

    def define(self, values: Sequence[Value], owner: Op | Block, op: Op | None) -> None:
        for i, value in enumerate(values):
            if value.owner is not owner or value.index != i:
                raise InternalError(f"{where(op)}: {value!r} does not know its owner or its place")
            if isinstance(value.type, FOREIGN[self.level]):
                raise InternalError(f"{where(op)}: {value!r} does not stand at the {self.level} level")
        self.visible.update(values)
        self.defined.update(dict.fromkeys(values))
        if self.func.symbols and owner is not self.func.block:
            self.sizes(values, op)

    def sizes(self, values: Sequence[Value], op: Op | None) -> None:
        """Every size symbol of a type has its value in scope (those of arguments are known from the start)."""
        for value in values:
            if isinstance(value.type, ShapedType):
                used = self.by_type.get(value.type)
                if used is None:
                    used = self.by_type[value.type] = frozenset(
                        s for d in value.type.shape for s in symbols(d) if s.kind != "unnamed"
                    )
                for symbol in used - self.entry:
                    if self.func.symbols.get(symbol) not in self.visible:
                        raise InternalError(f"{where(op)}: {value!r}: the size {symbol} is not in scope")

    def op(self, op: Op, block: Block, terminator: str) -> None:
        if op.block is not block or op in self.seen:
            raise InternalError(f"{where(op)}: does not know its block, or stands twice")
        self.seen.add(op)
        inside = terminator == "linalg.yield"
        legal = SCALAR | {"linalg.index", "linalg.yield"} if inside else LEGAL[self.level]
        known = op.name in legal or op.name.split(".")[0] + "." in legal
        if not known and ("body" if inside else self.level) not in op.levels:
            place = "in a linalg body" if inside else f"at the {self.level} level"
            raise InternalError(f"{where(op)}: does not stand {place}")
        self.operands(op, block if inside else None)
        try:
            op.verify()
            _types(op)
        except InternalError as e:
            raise InternalError(f"{where(op)}: {e}") from None
        if len(op.regions) != len(op.region_ends):
            wanted = len(op.region_ends) or "no"
            raise InternalError(f"{where(op)}: should have {wanted} region{'s' * (wanted != 1)}")
        for k, region in enumerate(op.regions):
            if len(region.blocks) != 1:
                raise InternalError(f"{where(op)}: a region has {len(region.blocks)} blocks")
            self.block(region.block, op, op.region_ends[k])
        self.define(op.results, op, op)

    def operands(self, op: Op, body: Block | None) -> None:
        for i, use in enumerate(op.uses):
            value = use.value
            if use.op is not op or use.index != i or use not in value.uses:
                raise InternalError(f"{where(op)}: use lists are broken at operand {i}")
            if value not in self.visible:
                same = not value.defining_op or value.defining_op.block is op.block
                reason = "is used before it is defined" if same and value.defining_op else "is not in scope"
                raise InternalError(f"{where(op)}: operand {i} ({value!r}) {reason}")
            if body is not None and value.block is not body:
                raise InternalError(f"{where(op)}: operand {i} ({value!r}) comes from outside the linalg body")


# -- types -----------------------------------------------------------------------------------------------------------


def fits(a: Type, b: Type) -> bool:
    """One kind, element and rank, and no two constant sizes that differ (symbolic ones may be equal all the same)."""
    if not isinstance(a, ShapedType) or not isinstance(b, ShapedType):
        return a == b
    sizes = all(not (isinstance(m, int) and isinstance(n, int)) or m == n for m, n in zip(a.shape, b.shape))
    return type(a) is type(b) and a.element == b.element and a.rank == b.rank and sizes


def _require(condition: bool, message: str) -> None:
    if not condition:
        raise InternalError(message)


def _types(op: Op) -> None:
    """Checks the types of operands, results and regions of one op against one another."""
    if op.name in SLICES:
        _slice(op, *SLICES[op.name])
    elif op.name == "scf.for":
        inits, results, body = op.operands[3:], op.results, op.regions[0].block
        _require(all(v.type is INDEX for v in op.operands[:3]), "its bounds are not of type index")
        _agree("an initial value", inits, results)
        _agree("a carried value", body.args[1:], results)
        _agree("what it yields", body.terminator.operands if body.ops else [], results)
    elif op.name == "scf.while":
        before, after = (region.block for region in op.regions)
        condition, last = (b.terminator.operands if b.ops else [] for b in (before, after))
        _require(bool(condition) and condition[0].type is I1, "its condition is not of type i1")
        _agree("an initial value", op.operands, before.args)
        _agree("what it yields", last, before.args)
        _agree("what it forwards", condition[1:], after.args)
        _agree("what it forwards", condition[1:], op.results)
    elif op.name == "scf.if":
        for region in op.regions:
            _agree("what it yields", region.block.terminator.operands if region.block.ops else [], op.results)
    elif "n_ins" in op.attrs:
        outs = op.operands[op.attrs["n_ins"] :]
        _agree("a destination", [v for v in outs if v.is_tensor], op.results)
        for region in op.regions:
            body = region.block
            if len(body.args) == len(op.operands):
                _agree("what it yields", body.terminator.operands if body.ops else [], body.args[op.attrs["n_ins"] :])
    elif op.name in ("tensor.cast", "memref.cast"):
        _agree("what it casts", op.operands, op.results)
    elif op.name in ("tensor.insert", "bufferization.materialize_in_destination"):
        _destination(op, op.operand(1))


def _agree(what: str, values: Sequence[Value], results: Sequence[Value]) -> None:
    _require(len(values) == len(results), f"{what} is missing, or one too many: {len(values)} for {len(results)}")
    for value, result in zip(values, results):
        _require(fits(value.type, result.type), f"{what} is {value.type}, its result {result.type}")


def _destination(op: Op, dest: Value) -> None:
    _require(fits(op.result.type, dest.type), "its result has not its destination's type")


def _slice(op: Op, leading: int, base_index: int) -> None:
    base = op.operand(base_index).type
    assert isinstance(base, ShapedType)
    parts: list[tuple[int | None, ...]] = [op.attrs[k] for k in GEOMETRY]
    dims: tuple[int | None, ...] = op.attrs["dims"]
    _require(all(len(p) == base.rank for p in parts), f"its geometry has not the base's rank {base.rank}")
    dynamic = sum(p.count(None) for p in parts)
    _require(len(op.uses) == leading + dynamic, f"{len(op.uses) - leading} dynamic parts for {dynamic} places")
    _require(all(v.type is INDEX for v in op.operands[leading:]), "a dynamic part is not of type index")
    kept = [d for d in dims if d is not None]
    _require(len(set(kept)) == len(kept) and all(0 <= d < base.rank for d in kept), f"its dimensions {dims} are wrong")
    dropped = [parts[1][d] for d in range(base.rank) if d not in kept]
    _require(all(size == 1 for size in dropped), "a dropped dimension has not the size 1")
    if leading == 2 and op.results:
        _destination(op, op.operand(base_index))
    view = op.operand(0).type if leading == 2 else op.result.type
    assert isinstance(view, ShapedType)
    _require(view.rank == len(dims) and view.element == base.element, f"its view is {view}, of {base}")
    for d, n in zip(dims, view.shape):
        size = 1 if d is None else parts[1][d]
        _require(not (isinstance(n, int) and isinstance(size, int)) or n == size, f"size {size} in a view of {n}")
