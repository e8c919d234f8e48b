"""Clean-up: constants, sizes and elements that are known, views of everything, unused results, dead ops.

One forward walk folds each op by the rules of its class, and one backward walk drops what is not used, until nothing
changes. Does not merge ops (cse.py) or replace one storage by another; a view of everything is replaced by its source,
but not where it is returned (`a[:]` is not `a`, rule C1). MLIR counterpart: -canonicalize, as far as these ops are
concerned.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tracebuf.ir.core import Block, Op, Value, dominates
from tracebuf.ir.dims import Sym, symbols
from tracebuf.ir.effects import only_makes_results
from tracebuf.ir.func import Func
from tracebuf.ir.types import ELEMENTS, I1, INDEX, ScalarType
from tracebuf.ops.arrays import linalg, tensor
from tracebuf.ops.arrays.recast import Recast
from tracebuf.ops.control import scf
from tracebuf.ops.memory.memref import dimension
from tracebuf.ops.scalars import arith
from tracebuf.optimize.tensors.eliminate_empty_tensors import continued, continues

_EXACT = frozenset(e for e in (*ELEMENTS.values(), INDEX) if not e.is_float and not e.is_complex)
MAX_ROUNDS = 8
"""An upper bound: a round that changes something makes the program smaller, and two or three are usual."""


def canonicalize(func: Func) -> None:
    """Folds and removes until nothing changes. Effects (checks, materialisations, returns) stay, in their order."""
    for _ in range(MAX_ROUNDS):
        folder = _Folder(func)
        for block in func.body.blocks:
            folder.run(block)
        func.forget_unused_symbols("opaque")
        pinned = set(func.symbols.values())
        removed = [remove_dead(block, pinned) for block in func.body.blocks]
        if not (any(removed) or folder.changed):
            break
        func.forget_lost_symbols()


# -- dead ops


def remove_dead(block: Block, pinned: set[Value]) -> bool:
    """Drops ops that only make results which nobody uses, last first; the values in `pinned` (those that hold a size
    symbol) stay."""
    kept: list[Op] = []
    changed = False
    for op in reversed(block.ops):
        if op.is_unused(pinned) and only_makes_results(op):
            discard(op)
            changed = True
            continue
        if op.regions and not isinstance(op, linalg.Generic):
            for region in op.regions:
                for inner in region.blocks:
                    changed |= remove_dead(inner, pinned)
        kept.append(op)
    if len(kept) != len(block.ops):
        block.replace_ops(kept[::-1])
    return changed


def discard(op: Op) -> None:
    """Takes the op, and all inside it, out of the use lists; the caller takes it out of its block."""
    for inner in op.walk():
        inner.drop_uses()
    op.drop_uses()
    op.block = None


# -- folding


class _Folder:
    """One forward walk: `fold` gives an op's results from elsewhere, or None; new ops go before it."""

    def __init__(self, func: Func) -> None:
        self.func = func
        self.changed = False
        self.out: list[Op] = []
        self.named: dict[Value, list[Sym]] = {}
        """The size symbols that a value holds."""
        for symbol, value in func.symbols.items():
            self.named.setdefault(value, []).append(symbol)

    def run(self, block: Block) -> None:
        outer, self.out = self.out, []
        for op in block.ops:
            if op.regions and not isinstance(op, linalg.Generic):
                for region in op.regions:
                    for inner in region.blocks:
                        self.run(inner)
            found = self.fold(op)
            if found is None:
                self.out.append(op)
                continue
            self.changed = True
            for old, new in zip(op.results, found, strict=True):
                self.replace(old, new)
            discard(op)
        block.replace_ops(self.out)
        self.out = outer

    def fold(self, op: Op) -> Sequence[Value] | None:
        for rule in _rules_of(op.__class__):
            if (found := rule(self, op)) is not None:
                return found
        return None

    def replace(self, old: Value, new: Value) -> None:
        """Replaces `old` by `new`, also as the value of a size symbol."""
        old.replace_all_uses(new)
        if named := self.named.pop(old, None):
            self.func.symbols.update(dict.fromkeys(named, new))
            self.named.setdefault(new, []).extend(named)

    def holds_symbol(self, value: Value) -> bool:
        return value in self.named

    def constant(self, value: int, like: Value, at: Op) -> Value:
        assert isinstance(like.type, ScalarType)
        return self.before(at, arith.Constant.of(value, like.type, at.loc)).result

    def before(self, at: Op, op: Op) -> Op:
        """A new op before the one that is folded, in its block already: rules ask where a value is defined."""
        op.block = at.block
        self.out.append(op)
        return op


def constant_of(value: Value) -> bool | int | None:
    """The value of an integer, index or bool constant."""
    op = value.defining_op
    if isinstance(op, arith.Constant) and value.type in _EXACT:
        found: bool | int = op.attrs["value"]
        return found
    return None


def fold_integers(folder: _Folder, op: Op) -> Sequence[Value] | None:
    """Arithmetic of integer, index and bool constants is done now, by the op's own reference (integers wrap)."""
    if isinstance(op, (arith.Constant, arith.Ufunc)) or not isinstance(op, arith.ScalarOp):
        return None
    args: list[Any] = []
    for use in op.uses:
        if (known := constant_of(use.value)) is None:
            return None
        args.append(known)
    if op.result.type not in _EXACT:
        return None
    types = [v.type for v in op.operands]
    typed = [arith.convert(a, t) for a, t in zip(args, types) if isinstance(t, ScalarType)]
    (value,) = op.evaluate(_NO_INTERPRETER, typed)
    return [folder.constant(bool(value) if op.element is I1 else int(value), op.result, op)]


def fold_identities(folder: _Folder, op: Op) -> Sequence[Value] | None:
    """x + 0, x - 0, x * 1, max(x, x), min(x, x), x == x, x < x and so on with integers and sizes; a select whose
    answer is known."""
    a, b = op.operand(0), op.operand(1)
    if isinstance(op, arith.CmpI):
        holds = op.attrs["predicate"] in ("eq", "sle", "sge", "ule", "uge")
        return [folder.constant(holds, op.result, op)] if a is b and op.result.type is I1 else None
    if isinstance(op, arith.Select):
        known = constant_of(a)
        if known is not None or b is op.operand(2):
            return [b if known or known is None else op.operand(2)]
        return None
    neutral = 1 if isinstance(op, arith.MulI) else 0
    if isinstance(op, arith.MaxSI | arith.MinSI | arith.MaxUI | arith.MinUI):
        return [a] if a is b else None
    if constant_of(b) == neutral:
        return [a]
    if constant_of(a) == neutral and not isinstance(op, arith.SubI):
        return [b]
    return None


def fold_dim(folder: _Folder, op: Op) -> Sequence[Value] | None:
    """A size that the type knows, or that the op which made the tensor has as an operand, so that it keeps no tensor
    alive."""
    assert isinstance(op, tensor.Dim)
    source, d = op.operand(0), dimension(op)
    if d is None:
        return None
    size = source.tensor_type.shape[d]
    if isinstance(size, int):
        return [folder.constant(size, op.result, op)]
    held = next((folder.func.symbols.get(s) for s in symbols(size) if s.expr == size), None)
    entry = folder.func.block
    if held is not None and held is not op.result and isinstance(held.owner, Op) and held.owner.block is entry:
        return [held] if dominates(held, op) else None
    maker = source.defining_op
    if isinstance(maker, tensor.Empty):
        operand = maker.sizes[d]
        return [operand] if isinstance(operand, Value) else None
    dest = passed_through(source)
    if dest is None:
        return None
    return [folder.before(op, tensor.Dim.of(dest, d, op.loc)).result]


def passed_through(value: Value) -> Value | None:
    """The destination that the value is the next version of (it has its shape)."""
    op = value.defining_op
    if isinstance(op, linalg.DestinationOp):
        return op.operand(op.n_ins + value.index)
    if isinstance(op, tensor.Insert | tensor.InsertSlice):
        return op.operand(1)
    return op.operand(0) if isinstance(op, tensor.Cast) else None


def fold_cast(folder: _Folder, op: Op) -> Sequence[Value] | None:
    """A cast to the type that the value has, or had before another cast."""
    assert isinstance(op, tensor.Cast)
    source = op.operand(0)
    while source.type != op.result.type and isinstance(inner := source.defining_op, tensor.Cast):
        source = inner.operand(0)
    return [source] if source.type == op.result.type else None


def fold_whole_view(folder: _Folder, op: Op) -> Sequence[Value] | None:
    """A view of everything, in place, is its source (except where it is returned: `a[:]` is another array object)."""
    assert isinstance(op, tensor.ExtractSlice)
    whole = op.source.type == op.result.type and op.slice.covers(op.source.tensor_type, op.result.tensor_type)
    if whole:
        for use in [u for u in op.result.uses if not u.op.terminator]:
            use.set(op.source)
            folder.changed = True
    return None


def fold_regrouped_back(folder: _Folder, op: Op) -> Sequence[Value] | None:
    """A tensor that was collapsed and expanded again (or expanded and collapsed) to its shape is itself."""
    assert isinstance(op, tensor.Regrouping)
    before = op.source.defining_op
    if not isinstance(before, tensor.Regrouping):
        return None
    recasts = [isinstance(o, Recast) for o in (op, before)]
    if not all(recasts) and (any(recasts) or type(before) is type(op) or before.attrs["groups"] != op.attrs["groups"]):
        return None
    return [before.source] if before.source.type == op.result.type else None


def puts_back(op: tensor.InsertSlice) -> bool:
    """Whether a slice is stored where it was just read: nothing changes."""
    read = op.source.defining_op
    return isinstance(read, tensor.ExtractSlice) and read.source is op.dest and read.same_subset(op)


def fold_self_store(folder: _Folder, op: Op) -> Sequence[Value] | None:
    """Storing to a slice what was just read there changes nothing; storing over everything what was computed in the
    same storage makes that the next version."""
    assert isinstance(op, tensor.InsertSlice)
    if not op.results:
        return None
    if puts_back(op):
        return [op.dest]
    if isinstance(op.source.defining_op, tensor.ExtractSlice) or not op.overwrites_all():
        return None
    if op.source is op.dest:
        return [op.dest]
    later = continues(op.source, op.dest) or continues_regrouped(op.source, op.dest)
    return [op.source] if later and op.source.type == op.dest.type and len(op.source.uses) == 1 else None


def continues_regrouped(value: Value, dest: Value) -> bool:
    """Whether a value is `dest` after stores through a reshape, which is taken back: `a[:, :k].reshape(-1)[0] = 9`."""
    back = value.defining_op
    if not isinstance(back, tensor.Regrouping) or isinstance(back, Recast):
        return False
    value = back.source
    while (link := continued(value)) is not None:
        value = link.value
    there = value.defining_op
    if not isinstance(there, tensor.Regrouping) or isinstance(there, Recast) or type(there) is type(back):
        return False
    same = there.source is dest or continues_regrouped(dest, there.source)
    return same and there.attrs["groups"] == back.attrs["groups"]


def fold_known_element(folder: _Folder, op: Op) -> Sequence[Value] | None:
    """An element that was just stored at these indices, or any element of a fill."""
    assert isinstance(op, tensor.Extract)
    made = op.operand(0).defining_op
    if isinstance(made, tensor.Insert) and made.operands[2:] == op.operands[1:]:
        return [made.operand(0)]
    return [made.operand(0)] if isinstance(made, linalg.Fill) else None


def drop_carried(folder: _Folder, op: Op) -> Sequence[Value] | None:
    """Replaces loop-carried values of an scf.for that do not change by their initial values; drops unused ones."""
    assert isinstance(op, scf.For)
    yielded = op.body.terminator
    dropped = []
    for k, use in enumerate(op.uses[3:]):
        arg, result = op.body.args[k + 1], op.results[k]
        if yielded.operand(k) is arg:
            folder.replace(arg, use.value)
            yielded.uses[k].set(arg)
            folder.replace(result, use.value)
        read = any(u.op is not yielded or u.index != k for u in arg.uses)
        if not (read or result.uses or folder.holds_symbol(arg) or folder.holds_symbol(result)):
            dropped.append(k)
    if dropped:
        folder.changed = True
        gone = set(dropped)
        yielded.set_operands([v for k, v in enumerate(yielded.operands) if k not in gone])
        op.set_operands([v for k, v in enumerate(op.operands) if k - 3 not in gone])
        for k in reversed(dropped):
            op.body.drop_arg(k + 1)
        _keep_results(op, gone)
    return None


def drop_carried_of_while(folder: _Folder, op: Op) -> Sequence[Value] | None:
    """Replaces loop-carried values of an scf.while that do not change by their initial values; drops unused ones. A
    straight loop stays one: what it begins with, but does not use, is dropped with the result or not at all."""
    assert isinstance(op, scf.While)
    changed = op.fold_steady(folder.replace)
    starts, ends = op.dead(folder.named)
    if op.straight:
        starts = ends = starts & ends
    op.drop(starts, ends)
    folder.changed |= changed or bool(starts or ends)
    return None


def drop_results(folder: _Folder, op: Op) -> Sequence[Value] | None:
    """Replaces results for which both branches yield one value from outside by it; drops unused ones."""
    assert isinstance(op, scf.If)
    ends = [b.terminator for b in op.branches]
    gone = set()
    for k, result in enumerate(op.results):
        a, b = (end.operand(k) for end in ends)
        if a is b:
            folder.replace(result, a)
        if not result.uses and not folder.holds_symbol(result):
            gone.add(k)
    if gone:
        folder.changed = True
        for end in ends:
            end.set_operands([v for k, v in enumerate(end.operands) if k not in gone])
        _keep_results(op, gone)
    return None


def _keep_results(op: Op, gone: set[int]) -> None:
    op.results = [r for k, r in enumerate(op.results) if k not in gone]
    for k, result in enumerate(op.results):
        result.index = k


def take_branch(folder: _Folder, op: Op) -> Sequence[Value] | None:
    """Replaces an `scf.if` of constant condition by the ops of the branch taken."""
    known = constant_of(op.operand(0))
    if known is None:
        return None
    assert isinstance(op, scf.If)
    chosen = op.branches[0 if known else 1]
    results = chosen.terminator.operands
    chosen.terminator.drop_uses()
    for inner in chosen.ops[:-1]:
        folder.before(op, inner)
    chosen.ops = []
    return results


class _NoInterpreter:
    def run_block(self, block: Block, args: Sequence[Any]) -> list[Any]:
        raise NotImplementedError

    def operands(self, op: Op) -> list[Any]:
        raise NotImplementedError


_NO_INTERPRETER = _NoInterpreter()
_Rule = Callable[[_Folder, Op], Sequence[Value] | None]
_RULES: tuple[tuple[Any, _Rule], ...] = (
    (arith.ScalarOp, fold_integers),
    (arith.AddI | arith.SubI | arith.MulI | arith.MaxSI | arith.MinSI | arith.CmpI | arith.Select, fold_identities),
    (tensor.Dim, fold_dim),
    (tensor.ExtractSlice, fold_whole_view),
    (tensor.Regrouping, fold_regrouped_back),
    (tensor.InsertSlice, fold_self_store),
    (tensor.Extract, fold_known_element),
    (tensor.Cast, fold_cast),
    (scf.For, drop_carried),
    (scf.While, drop_carried_of_while),
    (scf.If, take_branch),
    (scf.If, drop_results),
)


_BY_CLASS: dict[type[Op], tuple[_Rule, ...]] = {}


def _rules_of(kind: type[Op]) -> tuple[_Rule, ...]:
    """Those of a class of ops."""
    if (found := _BY_CLASS.get(kind)) is None:
        found = _BY_CLASS[kind] = tuple(rule for classes, rule in _RULES if issubclass(kind, classes))
    return found
