"""Whether a function is well-formed at its level: structure, use lists, dominance, types, which ops may stand there.

Why: run after tracing and after every pass in tests, it names the first op that is wrong. MLIR text may have tensors
beside buffers, blocks that branch and unknown ops: level "any". Linear in the ops (but for blocks that branch). Does
not check meaning or memory, as the interpreters do. Counterpart: mlir/lib/IR/Verifier.cpp and a ConversionTarget per
level.

`takes` and `gives` of an op class list kinds of types, such as "tensor, index*": one for each operand or result, `?`
where it may be missing, `*` where there may be any number. What depends on values, attributes or several types is the
class's own `verify`. MLIR counterpart: the traits and type constraints of ODS; mlir/lib/IR/Dominance.cpp.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from operator import is_
from typing import Any, Literal

from tracebuf.errors import InternalError
from tracebuf.ir.core import Block, Op, Region, Value
from tracebuf.ir.dims import Sym, symbols
from tracebuf.ir.func import Func, Module
from tracebuf.ir.types import (
    I1,
    INDEX,
    MemRefType,
    ScalarType,
    ShapedType,
    TensorType,
    Type,
    UnrankedMemRefType,
    UnrankedTensorType,
    VectorType,
)

__all__ = ["LEGAL", "Level", "first_not_dominated", "types_problem", "verify", "verify_module", "verify_op", "where"]

Level = Literal["tensor", "memref", "any"]

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
"""The types that may not stand at a level."""
SLICES = {  # how many operands stand before the dynamic offsets, sizes and strides; which of them is the base
    "tensor.extract_slice": (1, 0), "tracebuf.extract_view": (1, 0), "tensor.insert_slice": (2, 1),
    "tensor.parallel_insert_slice": (2, 1), "tracebuf.insert_view": (2, 1),
    "memref.subview": (1, 0), "tracebuf.subview": (1, 0),
}  # fmt: skip
BODY = ("linalg.yield",)
GEOMETRY = ("static_offsets", "static_sizes", "static_strides")


def where(op: Op | None) -> str:
    """The op's name and the user's line, for messages."""
    if op is None:
        return "func.func"
    place = f", line {op.loc.line} of {op.loc.file}" if op.loc.file else ""
    return f"{op.name}{place}"


Parts = Sequence[Any]
"""Objects that something is made of, told apart by identity."""


def verify(func: Func, level: Level, known: dict[Op, Parts] | None = None) -> None:
    """Raises InternalError, naming the op and the user's line, for the first thing that is wrong. `known`: what the ops
    were made of when they were found right by themselves; it is brought up to date."""
    if len(func.arg_attrs) != len(func.args):
        raise InternalError(f"{func.name}: {len(func.args)} arguments with attributes for {len(func.arg_attrs)}")
    verifier = _Verifier(func, level, {} if known is None else known)
    if level != "any" and len(func.body.blocks) != 1:
        raise InternalError(f"{func.name}: it has {len(func.body.blocks)} blocks")
    verifier.region(func.body, None, "func.return")
    for symbol, value in func.symbols.items():
        if value not in verifier.defined:
            raise InternalError(f"{func.name}: the value of size {symbol} is not in the function")
    if sum(len(value.uses) for value in verifier.defined) != verifier.operand_count:
        raise InternalError(verifier.stale_use())


class Verified:
    """Verifies a function after each of several passes; for what a pass did not change, once is enough."""

    __slots__ = ("_known", "_level", "_parts")

    def __init__(self, level: Level) -> None:
        self._level, self._parts, self._known = level, list[Any](), dict[Op, Parts]()

    def again(self, func: Func) -> None:
        """`verify`, unless the function is what it was before."""
        parts = _parts(func)
        if not same(parts, self._parts):
            verify(func, self._level, self._known)
            self._parts = parts


def same(a: Parts, b: Parts) -> bool:
    """Whether two things are made of the same objects."""
    return len(a) == len(b) and all(map(is_, a, b))


def _parts(func: Func) -> list[Any]:
    """All that `verify` looks at, in a fixed order; equal functions have the same objects."""
    parts: list[Any] = [len(func.arg_attrs)]
    for item in func.symbols.items():
        parts += item
    for block in func.body.blocks:
        _add_parts(block, parts)
    return parts


def _add_parts(block: Block, parts: list[Any]) -> None:
    parts += (block, block.region)
    for arg in block.args:
        parts += (arg, arg.owner, arg.index, arg.type, *arg.uses)
    for op in block.ops:
        parts += (op, op.block)
        parts += op.uses
        parts += op.operands
        parts += op.attrs
        parts += op.attrs.values()
        parts += op.successors
        for result in op.results:
            parts += (result, result.owner, result.index, result.type, *result.uses)
        for region in op.regions:
            _add_region(region, parts)


def _add_region(region: Region, parts: list[Any]) -> None:
    parts += (region, region.op)
    for inner in region.blocks:
        _add_parts(inner, parts)


def verify_module(module: Module) -> None:
    """`verify` for each function with a body of a module of MLIR text."""
    for item in module.items:
        if isinstance(item, Module):
            verify_module(item)
        elif isinstance(item, Func) and not item.external:
            verify(item, "any")


def verify_op(op: Op) -> None:
    """Raises InternalError where a single op is wrong: the numbers and types of its operands and results, its regions,
    its attributes."""
    problem = types_problem(type(op), [v.type for v in op.operands], [r.type for r in op.results])
    if not problem and op.name in Op.registry:
        problem = structure_problem(op)
    if problem:
        raise InternalError(problem)
    op.verify()
    _types(op)


class _Verifier:
    """`visible`: the values in scope; `defined`: all that were met; `seen`: the ops met, of `operand_count` operands;
    `known`: see `verify`."""

    __slots__ = ("by_type", "defined", "entry", "foreign", "func", "known", "level", "operand_count", "seen", "visible")

    def __init__(self, func: Func, level: Level, known: dict[Op, Parts]) -> None:
        self.func, self.level, self.known = func, level, known
        self.foreign: type[ShapedType] | tuple[()] = () if level == "any" else FOREIGN[level]
        self.operand_count = 0
        self.visible: set[Value] = set()
        self.defined: dict[Value, None] = {}
        self.seen: set[Op] = set()
        self.by_type: dict[Type, frozenset[Sym]] = {}
        shaped = [a.type for a in func.args if isinstance(a.type, ShapedType)]
        self.entry = {s for t in shaped for d in t.shape for s in symbols(d) if d == s.expr}

    def region(self, region: Region, parent: Op | None, terminator: str) -> None:
        """The blocks of a region, each of which sees what is defined in those that dominate it."""
        if len(region.blocks) == 1:
            return self.block(region.block, parent, terminator)
        above = dominators_of(region) if region.blocks else {}
        defined = {b: [*b.args, *(r for op in b.ops for r in op.results)] for b in region.blocks}
        for block in region.blocks:
            seen = [v for other in above[block] if other is not block for v in defined[other]]
            self.visible.update(seen)
            self.block(block, parent, terminator)
            self.visible.difference_update(seen)

    def block(self, block: Block, parent: Op | None, terminator: str) -> None:
        if not block.ops and (terminator or parent is None):
            raise InternalError(f"{where(parent)}: a block is empty")
        if block.region is None or block.region.op is not parent:
            raise InternalError(f"{where(parent)}: a block does not know its region, or the region its op")
        self.define(block.args, block, parent)
        for op in block.ops:
            ends = op.name == terminator or bool(op.successors)
            if terminator and ends != (op is block.ops[-1]):
                raise InternalError(f"{where(op)}: stands in the middle or last; the block ends with {terminator}")
            if op.successors and not block.region.blocks.count(op.successors[0]):
                raise InternalError(f"{where(op)}: goes to a block of another region")
            self.op(op, block, terminator)
        self.visible.difference_update(block.args)
        for op in block.ops:
            self.visible.difference_update(op.results)

    def define(self, values: Sequence[Value], owner: Op | Block, op: Op | None) -> None:
        for i, value in enumerate(values):
            if value.owner is not owner or value.index != i:
                raise InternalError(f"{where(op)}: {value!r} does not know its owner or its place")
            if isinstance(value.type, self.foreign):
                raise InternalError(f"{where(op)}: {value!r} does not stand at the {self.level} level")
            self.defined[value] = None
        self.visible.update(values)
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
        inside = terminator == "linalg.yield" and self.level != "any"
        if self.level != "any" and not may_stand(op.name, op.levels, "body" if inside else self.level):
            place = "in a linalg body" if inside else f"at the {self.level} level"
            raise InternalError(f"{where(op)}: does not stand {place}")
        self.operands(op, block if inside else None)
        parts = self.parts_of(op)
        if parts is None or op not in self.known or not same(parts, self.known[op]):
            try:
                verify_op(op)
            except InternalError as e:
                raise InternalError(f"{where(op)}: {e}") from None
            for k, region in enumerate(op.regions):
                self.region(region, op, op.region_ends[k] if op.name in Op.registry else "")
            if parts is not None:
                self.known[op] = parts
        if op.results:
            self.define(op.results, op, op)

    def parts_of(self, op: Op) -> Parts | None:
        """All that decides whether an op is right beside its operands: it is asked once while that stays as it is. None
        for an op whose regions see what is around them; the bodies of structured ops see their arguments alone."""
        parts: list[Any] = op.operands
        parts += [v.type for v in parts]
        parts += [v.type for v in op.results]
        parts += op.attrs
        parts += op.attrs.values()
        parts += op.successors
        if op.regions:
            if self.level == "any" or op.region_ends != BODY:
                return None
            for region in op.regions:
                _add_region(region, parts)
        return parts

    def operands(self, op: Op, body: Block | None) -> None:
        uses, visible = op.uses, self.visible
        self.operand_count += len(uses)
        for i, use in enumerate(uses):
            value = use.value
            if use.op is not op or use.index != i or use not in value.uses:
                raise InternalError(f"{where(op)}: use lists are broken at operand {i}")
            if value not in visible:
                same = not value.defining_op or value.defining_op.block is op.block
                reason = "is used before it is defined" if same and value.defining_op else "is not in scope"
                raise InternalError(f"{where(op)}: operand {i} ({value!r}) {reason}")
            if body is not None and value.block is not body:
                raise InternalError(f"{where(op)}: operand {i} ({value!r}) comes from outside the linalg body")

    def stale_use(self) -> str:
        """What is wrong where values count more uses than there are operands, each of which its value counts."""
        for value in self.defined:
            for use in value.uses:
                if use.op not in self.seen or use.index >= len(use.op.uses) or use.op.uses[use.index] is not use:
                    return f"{where(use.op)}: use lists are broken: {value!r} counts a use that is gone"
        raise AssertionError("two operands of one use")


@cache
def may_stand(name: str, levels: frozenset[str], place: Literal[Level, "body"]) -> bool:
    """Whether an op may stand at a level, or in the body of a structured op."""
    legal = SCALAR | {"linalg.index", "linalg.yield"} if place == "body" else LEGAL[place]
    return name in legal or name.split(".")[0] + "." in legal or place in levels


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
        kinds = {v.type for v in op.operands[:3]}
        _require(len(kinds) == 1 and isinstance(kinds.pop(), ScalarType), "its bounds are not of one type")
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
        if all(isinstance(v.type, ShapedType) for v in (op.operand(0), op.result)):
            _agree("what it casts", op.operands, op.results)
    elif op.name in ("tensor.insert", "bufferization.materialize_in_destination") and op.results:
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


# -- what an op's class declares: how many operands, results, regions and blocks, and of which kinds of types


Kind = ScalarType | type[Any]
"""A scalar type, or the class of another type."""


def _is(t: Kind, *classes: type[Any]) -> bool:
    return isinstance(t, type) and issubclass(t, classes)


KINDS: dict[str, Callable[[Kind], bool]] = {
    "any": lambda t: True,
    "scalar": lambda t: isinstance(t, ScalarType),
    "index": lambda t: t is INDEX,
    "i1": lambda t: t is I1,
    "vector": lambda t: _is(t, VectorType),
    "shaped": lambda t: _is(t, ShapedType),
    "tensor": lambda t: _is(t, TensorType),
    "tensors": lambda t: _is(t, TensorType, UnrankedTensorType),
    "memref": lambda t: _is(t, MemRefType),
    "memrefs": lambda t: _is(t, MemRefType, UnrankedMemRefType),
}
"""Whether a scalar, or the class of another type, is of a kind; "tensors" and "memrefs" may be unranked."""


@cache
def kinds(declared: str) -> tuple[tuple[str, int, int | None], ...]:
    """Of a declaration: each kind with the least and the greatest number of types (None: any)."""
    found = []
    for word in declared.split(","):
        kind = word.strip()
        if kind:
            many = kind[-1] if kind[-1] in "?*" else ""
            found.append((kind.rstrip("?*"), 0 if many else 1, None if many == "*" else 1))
    return tuple(found)


def are(declared: str, types: Sequence[Type]) -> bool:
    """Whether the types are those declared, in order."""
    return declared == "any*" or _of_kinds(
        declared, tuple([t if isinstance(t, ScalarType) else type(t) for t in types])
    )


@lru_cache(4096)
def _of_kinds(declared: str, types: tuple[Kind, ...]) -> bool:
    """`are`, of all that it looks at."""
    return _are(kinds(declared), types, 0)


def _are(left: Sequence[tuple[str, int, int | None]], types: Sequence[Kind], at: int) -> bool:
    if not left:
        return at == len(types)
    (kind, least, most), rest = left[0], left[1:]
    is_kind, n = KINDS[kind], 0
    limit = len(types) - at if most is None else min(most, len(types) - at)
    while n < limit and is_kind(types[at + n]):
        n += 1
    return any(_are(rest, types, at + k) for k in range(n, least - 1, -1))


def types_problem(kind: type[Op], operands: Sequence[Type], results: Sequence[Type]) -> str:
    """What is wrong with the numbers or kinds of an op's operands and results, or the empty string."""
    for what, declared, types in (("operands", kind.takes, operands), ("results", kind.gives, results)):
        if not are(declared, types):
            return f"its {what} are ({', '.join(map(str, types))}), where ({declared}) should be"
    return ""


def structure_problem(op: Op) -> str:
    """What is wrong with an op's regions, their blocks, and what ends these, or the empty string."""
    if len(op.regions) != len(op.region_ends):
        return f"it has {len(op.regions)} regions, where {len(op.region_ends)} should be"
    for region, end in zip(op.regions, op.region_ends):
        if len(region.blocks) != 1 and (not op.branching or not region.blocks):
            return f"a region has {len(region.blocks)} blocks, where {'some' if op.branching else 'one'} should be"
        for block in region.blocks:
            if not end:
                continue
            if not block.ops:
                return "a block is empty: it must end in a terminator"
            last = block.ops[-1]
            if last.name != end and not (op.branching and last.successors):
                return f"a block ends with {last.name}, where {end} should be"
            if any(other.terminator for other in block.ops[:-1]):
                return "an op that ends a block stands in its middle"
    return ""


# -- dominance between blocks


def first_not_dominated(region: Region) -> Op | None:
    """The first op that uses a value whose definition does not dominate it."""
    dominators: dict[Block, set[Block]] = {}
    for op in region.walk():
        for use in op.uses:
            if not _dominates(use.value.block, use.value.defining_op, op, dominators):
                return op
    return None


def _dominates(home: Block, definition: Op | None, op: Op, known: dict[Block, set[Block]]) -> bool:
    at: Op | None = op
    while at is not None and at.block is not None and at.block.region is not home.region:
        at = at.parent_op
    if at is None or at.block is None:
        return False
    if at.block is home:
        return definition is None or home.op_index(definition) < home.op_index(at)
    if home not in known:
        known.update(dominators_of(home.region))
    return home in known[at.block]


def dominators_of(region: Region) -> dict[Block, set[Block]]:
    """The dominators of each block of a region. An unreachable block is dominated by all."""
    every = set(region.blocks)
    before: dict[Block, list[Block]] = {block: [] for block in region.blocks}
    for block in region.blocks:
        for next_ in block.ops[-1].successors if block.ops else ():
            before[next_].append(block)
    found = dict.fromkeys(region.blocks, every)
    found[region.block] = {region.block}
    changed = True
    while changed:
        changed = False
        for block in region.blocks[1:]:
            new = every.intersection(*(found[b] for b in before[block])) | {block}
            if new != found[block]:
                found[block], changed = new, True
    return found
