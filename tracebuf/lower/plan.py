"""From a structured op on memrefs to its loop nest, as plain data; the emitter follows it and decides nothing else.

What is decided here, from types alone (strides are sizes' expressions, constants, or unknown): the order of the loops,
which of them are one loop because every operand is contiguous across them, how a body with calls of NumPy's own loops
is cut into stages over blocks that stay in the L1 cache, and how a reduction is folded.

- Order: as NumPy sorts its iterator's axes, by falling strides; the outs decide first, for a reduction the inputs.
- Blocks: a `tracebuf.ufunc` works on many elements at once, so its operands are computed to stack buffers before it and
  its result is read from one after it. Scalar ops stand in the latest stage that can hold them: fewest buffers.
- Folding: where the innermost loops are the reduction's, float sums are pairwise over blocks (the error grows with the
  logarithm of the count, rule C2), everything else folds in order or in any order. Where a parallel loop is innermost,
  the out's row is loaded, combined and stored, once for each step of the reduction, as NumPy does.

MLIR counterpart: the linalg-to-loops lowering and the affine passes behind it (loop permutation, collapsing, tiling by
one).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import reduce

from tracebuf.frozen import frozen
from tracebuf.ir.core import Block, Op, Value
from tracebuf.ir.dims import Dim, add, evaluate, mul, symbols
from tracebuf.ir.types import MemRefType, ScalarType, Type
from tracebuf.ops.arrays import linalg as la
from tracebuf.ops.memory.memref import Copy
from tracebuf.ops.scalars import arith, complex

BLOCK = 512
"""Elements in a block: measured best between 256 and 512 for buffers of doubles."""
MAX_TWICE = 64
"""Bodies of more ops are emitted once, without a copy for unit strides."""
_TYPICAL = 1000

PAIRWISE, ANY_ORDER, IN_ORDER = "pairwise", "any order", "in order"
_FOLDS: dict[type[Op], str] = {arith.AddF: PAIRWISE, complex.Add: PAIRWISE, **dict.fromkeys(la.ANY_ORDER, ANY_ORDER)}


@frozen(slots=False)
class Loop:
    """One loop over the dimensions `dims` (outermost first), which every operand crosses contiguously."""

    dims: tuple[int, ...]
    size: Dim
    reduction: bool


@frozen(slots=False)
class Operand:
    """An operand in memory: its stride in each loop in elements (None: known at run time only)."""

    index: int
    element: ScalarType
    strides: tuple[Dim | None, ...]
    read: bool
    written: bool

    @property
    def inner(self) -> Dim | None:
        return self.strides[-1]


@frozen(slots=False)
class Fold:
    """An out that does not vary in the innermost loop: `op` combines it with `element`; both None for folding in
    order.
    """

    out: int
    how: str
    op: Op | None
    element: Value | None


@frozen(slots=False)
class Stage:
    """One pass over a block: scalar ops, values left in stack buffers, then calls of NumPy's loops on whole blocks."""

    scalars: tuple[Op, ...]
    kept: tuple[Value, ...]
    calls: tuple[arith.Ufunc, ...]


@frozen(slots=False)
class Nest:
    """The loops of one structured op, outermost first."""

    spec: la.Spec
    loops: tuple[Loop, ...]
    operands: tuple[Operand, ...]
    invariant: tuple[Op, ...]
    """Body ops that need no element: computed before the loops."""
    stages: tuple[Stage, ...]
    folds: tuple[Fold, ...]
    fold_loops: int
    """How many of the innermost loops the folds run over."""
    unit_test: tuple[int, ...]
    """Operands whose innermost stride is compared with 1 at run time, to choose the copy of the loop made for that."""
    rare: bool = False
    """Rarely run: code that is short and quick to compile, rather than fast."""

    def as_rare(self) -> Nest:
        folds = tuple(Fold(f.out, IN_ORDER, None, None) for f in self.folds)
        return replace(self, unit_test=(), folds=folds, rare=True)

    @property
    def blocked(self) -> bool:
        return len(self.stages) > 1 or any(f.how == PAIRWISE for f in self.folds)

    def __str__(self) -> str:
        lines = [self.spec.name + (f" blocks of {BLOCK}" if self.blocked else "")]
        for depth, loop in enumerate(self.loops):
            kind = "reduce" if loop.reduction else "for"
            strides = ", ".join(
                f"%{o.index}: {'?' if o.strides[depth] is None else o.strides[depth]}" for o in self.operands
            )
            dims = "*".join(f"d{d}" for d in loop.dims) or "once"
            lines.append("  " * (depth + 1) + f"{kind} {dims} < {loop.size}   strides {strides}")
        indent = "  " * (len(self.loops) + 1)
        if self.unit_test:
            lines.append(indent + f"unit strides of {', '.join(f'%{k}' for k in self.unit_test)}? chosen at run time")
        for stage in self.stages:
            text = [op.name for op in stage.scalars] + [f"{op.attrs['ufunc']}[block]" for op in stage.calls]
            lines.append(indent + "stage: " + (", ".join(text) or "move"))
        for fold in self.folds:
            lines.append(indent + f"fold %{fold.out} {fold.how}" + (f" by {fold.op.name}" if fold.op else ""))
        return "\n".join(lines)


def plan(spec: la.Spec) -> Nest:
    """The loop nest of a structured op."""
    if spec.scatters:
        return _in_turn(spec)
    touched = [k for k, map_ in enumerate(spec.maps) if not map_.whole and (k >= spec.n_ins or spec.body.args[k].uses)]
    strides = {k: _loop_strides(t, spec.maps[k]) for k in touched if isinstance(t := spec.types[k], MemRefType)}
    sizes = [spec.types[k].shape[axis] for k, axis in spec.sizes()]  # type: ignore[union-attr]
    loops = _collapse(_order(spec, sizes, strides), spec, sizes, strides)
    operands = tuple(_operand(spec, k, loops, s) for k, s in strides.items())
    fold_loops, folds = _folds(spec, loops)
    invariant, stages = _stages(spec, folds)
    unknown = tuple(o.index for o in operands if not isinstance(o.inner, int))
    small = len(spec.body.ops) <= MAX_TWICE
    return Nest(spec, loops, operands, invariant, stages, folds, fold_loops, unknown if small else ())


def _in_turn(spec: la.Spec) -> Nest:
    """The loops of a scatter, in order and sequential."""
    sizes = [spec.types[k].shape[axis] for k, axis in spec.sizes()]  # type: ignore[union-attr]
    loops = tuple(Loop((d,), n, False) for d, n in enumerate(sizes)) or (Loop((), 1, False),)
    read = [k for k in range(spec.n_ins) if not spec.maps[k].whole and spec.body.args[k].uses]
    strides = {k: _loop_strides(t, spec.maps[k]) for k in read if isinstance(t := spec.types[k], MemRefType)}
    operands = tuple(_operand(spec, k, loops, s) for k, s in strides.items())
    constants = tuple(op for op in spec.body.ops if isinstance(op, arith.Constant))
    steps = tuple(op for op in spec.body.ops[:-1] if op not in constants)
    return Nest(spec, loops, operands, constants, (Stage(steps, (), ()),), (), 0, ())


def spec_of(op: Op, types: Sequence[Type]) -> la.Spec | None:
    """A structured op or a memref.copy with operands of these types, as loops; None if only its reference computes it.
    """
    if isinstance(op, Copy):
        element, out = la.element_type(types[1]), la.identity_map(types[1].rank)  # type: ignore[union-attr]
        body = Block([element, element])
        body.append(la.Yield.of([body.args[0]], op.loc))
        return la.Spec(op.name, tuple(types), (out, out), ("parallel",) * out.n_dims, 1, body)
    return op.spec(types) if isinstance(op, la.DestinationOp) else None


# -- order and collapsing ---------------------------------------------------------------------------------------------


def _loop_strides(type_: MemRefType, map_: la.AffineMap) -> list[Dim | None]:
    """An operand's stride in each loop dimension; a dimension it does not have is stride 0."""
    strides: list[Dim | None] = [0] * map_.n_dims
    for stride, d in zip(type_.strides, map_.results, strict=True):
        if d is not None:
            before = strides[d]
            strides[d] = None if stride is None or before is None else add(before, stride)
    return strides


def magnitude(stride: Dim | None) -> int:
    """The magnitude of a stride for comparisons: symbols count as large; 0 where there is no stride or none is known.
    """
    if stride is None or isinstance(stride, int):
        return abs(stride or 0)
    typical = {s: max(s.lo or 0, _TYPICAL + i) for i, s in enumerate(sorted(symbols(stride), key=hash))}
    try:
        return abs(evaluate(stride, typical))
    except ZeroDivisionError:
        return 0


def _order(spec: la.Spec, sizes: Sequence[Dim], strides: dict[int, list[Dim | None]]) -> list[int]:
    """Loop dimensions outermost first, without those of size 1, by insertion: the first operand that tells decides."""
    outs_first = "reduction" not in spec.iterators
    operands = sorted(strides, key=lambda k: ((k < spec.n_ins) == outs_first, k))
    size_of = {k: [magnitude(s) for s in strides[k]] for k in operands}

    def inside(a: int, b: int) -> bool:
        """Whether dimension a belongs inside of dimension b."""
        for k in operands:
            x, y = size_of[k][a], size_of[k][b]
            if x and y and x != y:
                return x < y
        return a > b

    order: list[int] = []
    for d in (d for d in range(len(sizes)) if sizes[d] != 1):
        place = len(order)
        while place and not inside(d, order[place - 1]):
            place -= 1
        order.insert(place, d)
    return order


def _collapse(
    order: list[int], spec: la.Spec, sizes: Sequence[Dim], strides: dict[int, list[Dim | None]]
) -> tuple[Loop, ...]:
    """Loops in that order, neighbours made one where every operand's outer stride is its inner stride times the inner
    size.
    """
    groups: list[list[int]] = []
    for d in order:
        if groups and _contiguous(groups[-1][-1], d, spec, sizes, strides):
            groups[-1].append(d)
        else:
            groups.append([d])
    if not groups:
        return (Loop((), 1, False),)
    return tuple(
        Loop(tuple(g), reduce(mul, (sizes[d] for d in g)), spec.iterators[g[0]] == "reduction") for g in groups
    )


def _contiguous(
    outer: int, inner: int, spec: la.Spec, sizes: Sequence[Dim], strides: dict[int, list[Dim | None]]
) -> bool:
    if spec.iterators[outer] != spec.iterators[inner] or not spec.indexed.isdisjoint((outer, inner)):
        return False
    for k, s in strides.items():
        a, b = s[outer], s[inner]
        if a is None or b is None or a != mul(b, sizes[inner]):
            return False
        if k >= spec.n_ins and (outer in spec.maps[k].results) != (inner in spec.maps[k].results):
            return False
    return True


def _operand(spec: la.Spec, k: int, loops: tuple[Loop, ...], strides: list[Dim | None]) -> Operand:
    type_ = spec.types[k]
    assert isinstance(type_, MemRefType)
    per_loop = tuple(strides[loop.dims[-1]] if loop.dims else 0 for loop in loops)
    return Operand(k, type_.element, per_loop, bool(spec.body.args[k].uses), k >= spec.n_ins)


# -- reductions -------------------------------------------------------------------------------------------------------


def _folds(spec: la.Spec, loops: tuple[Loop, ...]) -> tuple[int, tuple[Fold, ...]]:
    """(how many innermost loops are folded over, the outs that fold there)."""

    def varies(k: int, loop: Loop) -> bool:
        return any(d in spec.maps[k].results for d in loop.dims)

    if not loops[-1].reduction:
        return 0, ()
    fixed = [k for k in range(spec.n_ins, len(spec.types)) if not varies(k, loops[-1])]
    count = 1
    while count < len(loops) and loops[-1 - count].reduction and not any(varies(k, loops[-1 - count]) for k in fixed):
        count += 1
    return count, tuple(_fold(spec, k) for k in fixed)


def _fold(spec: la.Spec, out: int) -> Fold:
    """How one out is folded: by its combining op where the body has that form, else in order."""
    arg, yielded = spec.body.args[out], spec.body.terminator.operand(out - spec.n_ins)
    op = yielded.defining_op
    if op is not None and len(arg.uses) == 1 and len(yielded.uses) == 1 and len(op.uses) == 2 and type(op) in _FOLDS:
        others = [v for v in op.operands if v is not arg]
        if len(others) == 1:
            return Fold(out, _FOLDS[type(op)], op, others[0])
    return Fold(out, IN_ORDER, None, None)


# -- stages -----------------------------------------------------------------------------------------------------------


def _stages(spec: la.Spec, folds: tuple[Fold, ...]) -> tuple[tuple[Op, ...], tuple[Stage, ...]]:
    """(ops before the loops, the stages of a block)."""
    ops = spec.body.ops[:-1]
    arg_level = {a: 0 for a, t in zip(spec.body.args, spec.types) if isinstance(t, MemRefType)}
    carried = {spec.body.args[f.out] for f in folds}
    level: dict[Value, int] = dict(arg_level)  # values that vary; the stage where each is there at the earliest
    folded = set(carried)
    invariant, varying = [], []
    for op in ops:
        always = isinstance(op, la.Index) or op.may_raise
        levels = [level[v] for v in op.operands if v in level] or ([0] if always else [])
        if not levels:
            invariant.append(op)
            continue
        varying.append(op)
        if any(v in folded for v in op.operands):
            folded.update(op.results)
        level[op.result] = max(levels) + isinstance(op, arith.Ufunc)
    if any(isinstance(op, arith.Ufunc) and op.result in folded for op in varying):
        return tuple(invariant), (
            Stage(tuple(varying), (), ()),
        )  # calls one by one: each needs what the last step left
    return tuple(invariant), _cut(spec, varying, level)


def _cut(spec: la.Spec, ops: list[Op], level: dict[Value, int]) -> tuple[Stage, ...]:
    """Each call in the stage where its operands are there; each scalar op as late as its users allow."""
    last = max([level[op.result] for op in ops], default=0)
    stage: dict[Op, int] = {}
    need: dict[Value, int] = dict.fromkeys(spec.body.terminator.operands, last)
    for op in reversed(ops):
        here = level[op.result] - 1 if isinstance(op, arith.Ufunc) else need.get(op.result, last)
        stage[op] = here
        for v in op.operands:
            need[v] = min(need.get(v, last), here)
    kept = _kept(spec, ops, stage, last)
    stages = []
    for k in range(last + 1):
        scalars = tuple(op for op in ops if stage[op] == k and not isinstance(op, arith.Ufunc))
        calls = tuple(op for op in ops if stage[op] == k and isinstance(op, arith.Ufunc))
        stages.append(Stage(scalars, tuple(op.result for op in scalars if op.result in kept), calls))
    return tuple(stages)


def _kept(spec: la.Spec, ops: Iterable[Op], stage: dict[Op, int], last: int) -> set[Value]:
    """Values of scalar ops that a call or a later stage reads: these go to stack buffers."""
    kept = set()
    uses = [(v, stage[op], isinstance(op, arith.Ufunc)) for op in ops for v in op.operands]
    uses += [(v, last, False) for v in spec.body.terminator.operands]
    for v, at, in_call in uses:
        definition = v.defining_op
        if definition in stage and not isinstance(definition, arith.Ufunc) and (in_call or stage[definition] < at):
            kept.add(v)
    return kept
