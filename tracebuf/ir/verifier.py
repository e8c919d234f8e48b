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
PRODUCTS = {"tracebuf.dotc", "tracebuf.matmul_sub", "tracebuf.matvec_sub", "tracebuf.vecmat_sub"}
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


class Snapshot:
    """All that `verify` looks at, in a fixed order (`parts`); equal functions have the same objects. `places`: which of
    them decide whether an op is right beside its operands, from and to; none for an op whose regions see what is around
    them. The bodies of structured ops see their arguments alone."""

    __slots__ = ("bodies", "parts", "places")

    def __init__(self, func: Func, bodies: bool) -> None:
        self.places, self.bodies = dict[Op, tuple[int, int]](), bodies
        self.parts: list[Any] = [len(func.arg_attrs)]
        for item in func.symbols.items():
            self.parts += item
        for block in func.body.blocks:
            self._add(block)

    def of(self, op: Op) -> Parts | None:
        place = self.places.get(op)
        return None if place is None else self.parts[place[0] : place[1]]

    def _add(self, block: Block) -> None:
        parts, places = self.parts, self.places
        parts += (block, block.region)
        for arg in block.args:
            parts += (arg, arg.owner, arg.index, arg.type)
            parts += arg.uses
        for op in block.ops:
            uses, attrs = op.uses, op.attrs
            parts += (op, op.block)
            parts += uses
            begin = len(parts)
            for use in uses:
                value = use.value
                parts += (value, value.type)
            parts += attrs
            parts += attrs.values()
            parts += op.successors
            for result in op.results:
                parts.append(result.type)
            if not op.regions:
                places[op] = begin, len(parts)
            else:
                for region in op.regions:
                    parts += (region, region.op)
                    for inner in region.blocks:
                        self._add(inner)
                if self.bodies and op.region_ends == BODY:
                    places[op] = begin, len(parts)
            for result in op.results:
                parts += (result, result.owner, result.index)
                parts += result.uses


def verify(func: Func, level: Level, snapshot: Snapshot | None = None, known: dict[Op, Parts] | None = None) -> None:
    """Raises InternalError, naming the op and the user's line, for the first thing that is wrong. `known`: what the ops
    were made of when they were found right by themselves; it is brought up to date. `snapshot`: the function's, now."""
    if len(func.arg_attrs) != len(func.args):
        raise InternalError(f"{func.name}: {len(func.args)} arguments with attributes for {len(func.arg_attrs)}")
    verifier = _Verifier(func, level, snapshot, {} if known is None else known)
    if level != "any" and len(func.body.blocks) != 1:
        raise InternalError(f"{func.name}: it has {len(func.body.blocks)} blocks")
    verifier.region(func.body, None, "func.return")
    for symbol, value in func.symbols.items():
        if value not in verifier.defined:
            raise InternalError(f"{func.name}: the value of size {symbol} is not in the function")
    if sum([len(value.uses) for value in verifier.defined]) != verifier.operand_count:
        raise InternalError(verifier.stale_use())


class Verified:
    """Verifies a function after each of several passes; for what a pass did not change, once is enough."""

    __slots__ = ("_known", "_level", "_parts")

    def __init__(self, level: Level) -> None:
        self._level, self._parts, self._known = level, list[Any](), dict[Op, Parts]()

    def again(self, func: Func) -> None:
        """`verify`, unless the function is what it was before."""
        now = Snapshot(func, bodies=self._level != "any")
        if not same(now.parts, self._parts):
            verify(func, self._level, now, self._known)
            self._parts = now.parts


def same(a: Parts, b: Parts) -> bool:
    """Whether two things are made of the same objects."""
    return len(a) == len(b) and all(map(is_, a, b))


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
    problem = types_problem(type(op), [u.value.type for u in op.uses], [r.type for r in op.results])
    if not problem and (op.regions or op.region_ends) and op.name in Op.registry:
        problem = structure_problem(op)
    if problem:
        raise InternalError(problem)
    op.verify()
    _types(op)


class _Verifier:
    """`visible`: the values in scope; `defined`: all that were met; `seen`: the ops met, of `operand_count` operands;
    `snapshot` and `known`: see `verify`; `stands`: the names of ops that may stand, in bodies or not."""

    __slots__ = (
        "defined", "entry", "foreign", "func", "known", "level", "needs", "operand_count", "seen", "snapshot", "stands",
        "visible",
    )  # fmt: skip

    def __init__(self, func: Func, level: Level, snapshot: Snapshot | None, known: dict[Op, Parts]) -> None:
        self.func, self.level, self.snapshot, self.known = func, level, snapshot, known
        self.foreign: type[ShapedType] | tuple[()] = () if level == "any" else FOREIGN[level]
        self.operand_count = 0
        self.visible: set[Value] = set()
        self.defined: dict[Value, None] = {}
        self.seen: set[Op] = set()
        self.stands: tuple[set[str], set[str]] = set(), set()
        self.needs: dict[int, tuple[ShapedType, Sequence[Sym]]] = {}
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
        ops, home = block.ops, block.region
        if not ops and (terminator or parent is None):
            raise InternalError(f"{where(parent)}: a block is empty")
        if home is None or home.op is not parent:
            raise InternalError(f"{where(parent)}: a block does not know its region, or the region its op")
        self.define(block.args, block, parent)
        inside = terminator == "linalg.yield" and self.level != "any"
        last = ops[-1] if ops else None
        for op in ops:
            ends = op.name == terminator or bool(op.successors)
            unknown = op is last and self.level == "any" and op.name not in Op.registry
            if terminator and ends != (op is last) and not unknown:
                raise InternalError(f"{where(op)}: stands in the middle or last; the block ends with {terminator}")
            if op.successors and not home.blocks.count(op.successors[0]):
                raise InternalError(f"{where(op)}: goes to a block of another region")
            if op.block is not block or op in self.seen:
                raise InternalError(f"{where(op)}: does not know its block, or stands twice")
            self.seen.add(op)
            if op.name not in self.stands[inside]:
                self.stand(op, inside)
            if op.uses:
                self.operands(op, block if inside else None)
            self.by_itself(op)
            if op.results:
                self.define(op.results, op, op)
        self.visible.difference_update(block.args, *[op.results for op in ops if op.results])

    def define(self, values: Sequence[Value], owner: Op | Block, op: Op | None) -> None:
        """Every size symbol of a type has its value in scope (those of arguments are known from the start)."""
        sized = bool(self.func.symbols) and owner is not self.func.block
        for i, value in enumerate(values):
            type_ = value.type
            if value.owner is not owner or value.index != i:
                raise InternalError(f"{where(op)}: {value!r} does not know its owner or its place")
            if isinstance(type_, self.foreign):
                raise InternalError(f"{where(op)}: {value!r} does not stand at the {self.level} level")
            self.defined[value] = None
            self.visible.add(value)
        if sized:
            for value in values:
                if isinstance(value.type, ShapedType):
                    for symbol in self.needed(value.type):
                        if self.func.symbols.get(symbol) not in self.visible:
                            raise InternalError(f"{where(op)}: {value!r}: the size {symbol} is not in scope")

    def needed(self, type_: ShapedType) -> Sequence[Sym]:
        """The symbols whose values a type needs."""
        if id(type_) not in self.needs:
            used = {s for d in type_.shape for s in symbols(d) if s.kind != "unnamed"}
            self.needs[id(type_)] = type_, tuple(used - self.entry)
        return self.needs[id(type_)][1]

    def stand(self, op: Op, inside: bool) -> None:
        if self.level != "any" and not may_stand(op.name, op.levels, "body" if inside else self.level):
            place = "in a linalg body" if inside else f"at the {self.level} level"
            raise InternalError(f"{where(op)}: does not stand {place}")
        self.stands[inside].add(op.name)

    def by_itself(self, op: Op) -> None:
        """Whether an op is right beside its operands: asked once while all that decides it stays as it is."""
        parts = None if self.snapshot is None else self.snapshot.of(op)
        if parts is not None and op in self.known and same(parts, self.known[op]):
            return
        try:
            verify_op(op)
        except InternalError as e:
            raise InternalError(f"{where(op)}: {e}") from None
        for k, region in enumerate(op.regions):
            self.region(region, op, op.region_ends[k] if op.name in Op.registry else "")
        if parts is not None:
            self.known[op] = parts

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
    if type(a) is not type(b) or a.element != b.element or a.rank != b.rank:
        return False
    return all(not (isinstance(m, int) and isinstance(n, int)) or m == n for m, n in zip(a.shape, b.shape))


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
    if len(values) != len(results):
        raise InternalError(f"{what} is missing, or one too many: {len(values)} for {len(results)}")
    for value, result in zip(values, results):
        if value.type is not result.type and not fits(value.type, result.type):
            raise InternalError(f"{what} is {value.type}, its result {result.type}")


def _destination(op: Op, dest: Value) -> None:
    _require(fits(op.result.type, dest.type), "its result has not its destination's type")


def _slice(op: Op, leading: int, base_index: int) -> None:
    uses, base = op.uses, op.operand(base_index).type
    assert isinstance(base, ShapedType)
    rank = base.rank
    offsets, sizes, strides = parts = [op.attrs[k] for k in GEOMETRY]
    dims: tuple[int | None, ...] = op.attrs["dims"]
    if not len(offsets) == len(sizes) == len(strides) == rank:
        raise InternalError(f"its geometry has not the base's rank {rank}")
    dynamic = sum([p.count(None) for p in parts])
    if len(uses) != leading + dynamic:
        raise InternalError(f"{len(uses) - leading} dynamic parts for {dynamic} places")
    for use in uses[leading:]:
        _require(use.value.type is INDEX, "a dynamic part is not of type index")
    kept = {d for d in dims if d is not None}
    if len(kept) != len(dims) - dims.count(None) or not kept <= set(range(rank)):
        raise InternalError(f"its dimensions {dims} are wrong")
    for d, n in enumerate(sizes):
        _require(n == 1 or d in kept, "a dropped dimension has not the size 1")
    if leading == 2 and op.results:
        _destination(op, op.operand(base_index))
    view = op.operand(0).type if leading == 2 else op.result.type
    assert isinstance(view, ShapedType)
    if view.rank != len(dims) or view.element != base.element:
        raise InternalError(f"its view is {view}, of {base}")
    for dim, length in zip(dims, view.shape):
        size = 1 if dim is None else sizes[dim]
        if isinstance(length, int) and isinstance(size, int) and length != size:
            raise InternalError(f"size {size} in a view of {length}")


# -- what an op's class declares: how many operands, results, regions and blocks, and of which kinds of types


Kind = str | type[Any]
"""Of a scalar type "index", "i1" or "scalar"; the class of another type."""
_SCALARS = {id(INDEX): "index", id(I1): "i1"}


def _is(t: Kind, *classes: type[Any]) -> bool:
    return isinstance(t, type) and issubclass(t, classes)


KINDS: dict[str, Callable[[Kind], bool]] = {
    "any": lambda t: True,
    "scalar": lambda t: isinstance(t, str),
    "index": lambda t: t == "index",
    "i1": lambda t: t == "i1",
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
    if not types or declared == "any*":
        return declared in ("", "any*") or _of_kinds(declared, ())
    found = [_SCALARS.get(id(t), "scalar") if type(t) is ScalarType else type(t) for t in types]
    return _of_kinds(declared, tuple(found))


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
