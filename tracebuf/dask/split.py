"""A tensor program in stages: what can be done chunk by chunk before all chunks of something are needed.

A reduction along an axis that is cut ends a stage: its parts are combined, and what needs them is of a later stage. A
loop whose iterations read of their neighbours is a stage of its own, of which a few iterations are run at a time. Ops
that take no elements (constants, sizes, new arrays) are in each stage that needs them, slices in that of their user.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field

from tracebuf.dask.flow import Flow, shape_of
from tracebuf.dask.program import Program, is_inside
from tracebuf.dask.rules import NAMES, folding
from tracebuf.errors import UnsupportedError
from tracebuf.frozen import plain
from tracebuf.ir.clone import clone_op
from tracebuf.ir.core import Mixed, Op, Use, Value, happens_in
from tracebuf.ir.dims import Dim, Sym, constant_part, sub, symbols
from tracebuf.ir.func import Func
from tracebuf.ir.print_generic import print_generic
from tracebuf.ir.slices import Slice
from tracebuf.ir.types import INDEX, ShapedType, TensorType, unnamed
from tracebuf.location import UNKNOWN, Location
from tracebuf.ops.arrays import bufferization, linalg, tensor
from tracebuf.ops.arrays.host import HostCall
from tracebuf.ops.control import scf
from tracebuf.ops.control.cf import Assert
from tracebuf.ops.control.checks import Check
from tracebuf.ops.control.func import Return
from tracebuf.ops.scalars import arith
from tracebuf.running.host import HostFunction

NUMERIC = (arith.IndexCast, arith.CmpI)
"""Ops that take an index as a number: of the whole arrays' sizes."""


@plain()
class Fold:
    """A reduction whose parts are combined: the op, its result's number, the ufunc, the loops that are cut, with their
    symbols."""

    op: linalg.Generic
    number: int
    ufunc: str
    loops: tuple[tuple[int, Sym], ...]


@plain()
class Stage:
    """Some of a program's ops in order, what they take and what they give to others. `loop`: the one op, which is a
    loop that is run a few iterations at a time."""

    number: int
    ops: list[Op] = field(default_factory=list)
    inputs: list[Value] = field(default_factory=list)
    outputs: list[Value] = field(default_factory=list)
    folds: list[Fold] = field(default_factory=list)
    loop: scf.For | None = None

    @property
    def stops(self) -> bool:
        """Whether the user's function raises in it, for some elements."""
        return any(map(is_check, self.ops))


def symbol_of(d: Dim) -> Sym | None:
    """The one symbol that a size is, but for a constant."""
    found = symbols(d)
    if len(found) != 1:
        return None
    (s,) = found
    return s if isinstance(sub(d, s.expr), int) else None


def delta_of(d: Dim) -> int:
    return constant_part(d)


def uses_of(op: Op) -> list[Value]:
    """All values that an op uses, also in its regions, that are defined outside of these."""
    inside = {r for o in op.walk() for r in o.results}
    for o in (op, *op.walk()):
        for region in o.regions:
            inside |= {a for b in region.blocks for a in b.args}
    values = list(op.operands)
    for o in op.walk():
        values += o.operands
    return [v for v in dict.fromkeys(values) if v not in inside]


def is_cheap(op: Op, flow: Flow) -> bool:
    """Whether an op takes no elements, so that each stage may have it."""
    if isinstance(op, (arith.Constant, tensor.Empty, tensor.Dim)):
        return True
    if isinstance(op, linalg.Fill):
        source = op.operand(0).defining_op
        return isinstance(source, arith.Constant) and isinstance(op.operand(1).defining_op, tensor.Empty)
    return bool(op.results) and all(r.type is INDEX and flow.given(r) is not None for r in op.results)


def fold_of(op: Op, cut: frozenset[Sym]) -> list[Fold] | None:
    """The folds of a reduction over axes that are cut, one for each result; None for another op. Raises Uncut where
    parts cannot be combined."""
    if not isinstance(op, linalg.DestinationOp) or not op.results:
        return None
    spec = op.spec([v.type for v in op.operands])
    if spec is None or spec.all_parallel:
        return None
    loops: dict[int, Sym] = {}
    for use in op.uses:
        map_ = spec.maps[use.index]
        if map_.whole or not isinstance(use.value.type, ShapedType):
            continue
        for k, d in enumerate(map_.results):
            if d is not None and spec.iterators[d] == "reduction" and (s := symbol_of(shape_of(use.value)[k])) in cut:
                loops[d] = s
    if not loops:
        return None
    found = []
    for out in op.out_uses:
        if isinstance(op, linalg.Generic):
            combined = folding(op, out)
            name = NAMES.get(type(combined[0])) if combined is not None and not spec.ordered else None
        else:
            name = "add" if isinstance(op, linalg.Contraction) and not op.negative else None
        if name is None or any(d in spec.maps[out.index].results for d in loops) or not may_begin(out.value, name):
            raise Uncut(set(loops.values()), op.loc, "what is reduced cannot be combined from parts")
        found.append(Fold(op, out.index - op.n_ins, name, tuple(loops.items())))  # type: ignore[arg-type]
    return found


IDEMPOTENT = ("maximum", "minimum", "fmax", "fmin", "bitwise_or", "bitwise_and")
"""What may be given one element several times."""


def may_begin(v: Value, ufunc: str) -> bool:
    """Whether each part of a reduction may begin with what the reduction begins with: what changes nothing, or nothing
    when it comes again."""
    return ufunc in IDEMPOTENT or is_neutral(v, ufunc)


def is_neutral(v: Value, ufunc: str) -> bool:
    """Whether a reduction begins with what changes nothing."""
    op = v.defining_op
    source = op.operand(0).defining_op if isinstance(op, linalg.Fill) else None
    if not isinstance(source, arith.Constant):
        return False
    value = source.attrs["value"]
    if ufunc == "add":
        return bool(value == 0)
    if ufunc == "multiply":
        return bool(value == 1)
    return ufunc == "bitwise_xor" and bool(value == 0)


class Uncut(Exception):
    """Axes of these sizes cannot be cut."""

    def __init__(self, syms: set[Sym], loc: Location, reason: str) -> None:
        self.syms, self.loc, self.reason = syms, loc, reason
        super().__init__(reason)


def stages_of(program: Program, cut: frozenset[Sym]) -> list[Stage]:
    """The stages of a program whose axes of these symbols are cut. Raises Uncut for axes that are not to be."""
    flow, func = program.flow, program.func
    check_axes(func, cut)
    levels: dict[Value, int] = dict.fromkeys(func.args, 0)
    home: dict[Op, int] = {}
    alone: dict[Op, bool] = {}
    folds: dict[Op, list[Fold]] = {}
    for op in func.block.ops:
        if op is func.block.terminator or isinstance(op, bufferization.MaterializeInDestination):
            continue
        if is_cheap(op, flow):
            levels.update(dict.fromkeys(op.results, 0))
            continue
        level = max((levels.get(v, 0) for v in uses_of(op)), default=0)
        after = level
        if isinstance(op, scf.For) and exchanges(op, flow, cut):
            alone[op] = True
            after = level + 1
        elif (found := fold_of(op, cut)) is not None:
            folds[op] = found
            after = level + 1
        home[op] = level
        levels.update(dict.fromkeys(op.results, after))
        check_numbers(op, flow, cut)
    wanted = {*program.returned, *program.stored.values()}
    for op in reversed(list(home)):
        if isinstance(op, tensor.ExtractSlice) and op.result not in wanted:
            users = {happens_in(u.op, func.block) for u in op.result.uses}
            home[op] = min((home[o] for o in users if o in home), default=home[op])
    stages: list[Stage] = []
    for level in sorted({*home.values(), 0}):
        mine = [op for op, n in home.items() if n == level and op not in alone]
        for ops in checks_first(mine, cut):
            stage = Stage(len(stages), ops)
            stage.folds = [f for op in ops for f in folds.get(op, ())]
            stages.append(stage)
        for op, n in home.items():
            if n == level and op in alone:
                assert isinstance(op, scf.For)
                stages.append(Stage(len(stages), [op], loop=op))
    for k, stage in enumerate(stages):
        made = {r for op in stage.ops for r in op.results}
        needed = dict.fromkeys(v for op in stage.ops for v in needs(op, flow) if v not in made)
        stage.inputs = [v for v in needed if not (v.defining_op is not None and is_cheap(v.defining_op, flow))]
        later = {v for s in stages if s is not stage for op in s.ops for v in needs(op, flow)}
        stage.outputs = [r for op in stage.ops for r in op.results if r in later or r in wanted]
        if stage.loop is not None:
            stage.outputs = list(stage.loop.results)
        stage.number = k
    return [s for s in stages if s.outputs or s.stops]


def checks_first(ops: list[Op], cut: frozenset[Sym]) -> list[list[Op]]:
    """The ops of a stage in one or two: what the function raises for numbers alone, with what these are computed by, is
    a stage before the rest, so that all results can wait for it."""
    wanted = {op for op in ops if is_check(op)}
    for op in reversed(ops if wanted else ()):
        if any(u.op in wanted or any(is_inside_of(u.op, w) for w in wanted) for r in op.results for u in r.uses):
            wanted.add(op)
    values = [v for op in wanted for o in (op, *op.walk()) for v in (*o.operands, *o.results)]
    if len(wanted) in (0, len(ops)) or any(symbols(n) & cut for v in values for n in shape_of(v)):
        return [ops]
    return [[op for op in ops if op in wanted], [op for op in ops if op not in wanted]]


def is_check(op: Op) -> bool:
    return any(isinstance(o, (Check, Assert)) for o in (op, *op.walk()))


def is_inside_of(op: Op, outer: Op) -> bool:
    """Whether an op is in a region of another one."""
    return any(o is op for o in outer.walk())


def check_axes(func: Func, cut: frozenset[Sym]) -> None:
    """Uncut where two axes of one array have a size of one symbol that is cut: there is one chunk for both."""
    for v in func.values():
        found: set[Sym] = set()
        for size in shape_of(v):
            s = symbol_of(size)
            if s in found:
                op = v.defining_op
                where = op.loc if op is not None else func.loc
                raise Uncut({s}, where, f"two axes of an array are as long as {s.name}")
            if s is not None and s in cut:
                found.add(s)


def needs(op: Op, flow: Flow) -> list[Value]:
    """What an op uses, with what the cheap ops do that it is computed by; indices are sizes, and known otherwise."""
    found: list[Value] = []
    todo = uses_of(op)
    while todo:
        v = todo.pop(0)
        if v.type is INDEX and flow.given(v) is not None:
            continue
        found.append(v)
        if v.defining_op is not None and is_cheap(v.defining_op, flow):
            todo += [o for o in v.defining_op.operands if o not in found]
    return found


def exchanges(op: scf.For, flow: Flow, cut: frozenset[Sym]) -> bool:
    """Whether an iteration of a loop reads neighbours, along an axis that is cut, of what the one before has made."""
    once = flow.once.get(op)
    if once is None:
        return False
    numbers, states = once
    if any(symbols(d) & cut for d in flow.walked.get(op, ())):
        return False
    if any((d := flow.given(v)) is None or symbols(d) & cut for v in op.operands[:3]):
        return False
    shapes = [shape_of(a) for a in op.args]
    for state in states:
        for n, shape in zip(numbers, shapes):
            for reach, size in zip(state.reaches.get(n, ()), shape):
                if symbol_of(size) in cut and any(p.low != 0 or p.high != 0 for p in reach.near):
                    return True
    return False


def check_numbers(op: Op, flow: Flow, cut: frozenset[Sym]) -> None:
    """Uncut where the size of an axis that is cut is taken as a number by an op inside of another one, out of what is
    computed there, or where a loop along such an axis takes its counter for more than places of it: a chunk counts from
    its own beginning."""
    for syms, loc in loops_that_count(op, flow, cut):
        raise Uncut(set(syms), loc, COUNTS)
    for inner in op.walk():
        if isinstance(inner, NUMERIC):
            for v in inner.operands:
                if v.type is INDEX and v.block is not None and is_inside(v, op):
                    size = flow.size(v)
                    if size is not None and symbols(size) & cut:
                        raise Uncut(set(symbols(size) & cut), inner.loc, "a size is computed with inside of a loop")


COUNTS = "the counter of the loop is more than a place of the axis"


def loops_that_count(op: Op, flow: Flow, cut: frozenset[Sym]) -> Iterator[tuple[frozenset[Sym], Location]]:
    """The loops of an op along axes of lengths of `cut` that take their counters for more than places, or run another
    way than from a constant to the axis's end but for one: the lengths, and where."""
    for loop in (op, *op.walk()):
        if isinstance(loop, scf.For) and (along := lengths_of(loop, flow) & cut):
            bounds = [flow.size(v) for v in loop.operands[:2]]
            odd = any(d is not None and symbols(d) & along and symbol_of(d) is None for d in bounds)
            user = loop if odd else counted_by(loop, along, flow)
            if user is not None:
                yield along, user.loc


def lengths_of(loop: scf.For, flow: Flow) -> frozenset[Sym]:
    """The sizes that say where a loop begins and ends."""
    found = [flow.size(v) for v in loop.operands[:3]]
    return frozenset(s for d in found if d is not None for s in symbols(d) if s.kind != "iv")


def counted_by(loop: scf.For, along: frozenset[Sym], flow: Flow) -> Op | None:
    """What takes the counter of a loop for another thing than the place, but for a constant, at which it takes a part
    of an axis of these lengths, or stores one; None where nothing does."""
    counter = loop.body.args[0]
    todo, seen = [counter], {counter}
    while todo:
        v = todo.pop()
        for use in v.uses:
            op = use.op
            if isinstance(op, (arith.AddI, arith.SubI)) and op.result.type is INDEX:
                other = op.operand(1 - use.index)
                n = flow.size(other)
                if not isinstance(n, int) or (isinstance(op, arith.SubI) and use.index == 1):
                    return op
                if op.result not in seen:
                    seen.add(op.result)
                    todo.append(op.result)
            elif not is_place(op, use, along):
                return op
    return None


def is_place(op: Op, use: Use, along: frozenset[Sym]) -> bool:
    """Whether a use is the place at which an op takes a part of an axis of these lengths, or stores one."""
    if isinstance(op, (tensor.Extract, tensor.Insert)):
        first = 1 if isinstance(op, tensor.Extract) else 2
        return use.index >= first and symbol_of(shape_of(op.operand(first - 1))[use.index - first]) in along
    if not isinstance(op, tensor.SliceOp) or use.index < op.leading:
        return False
    shape = shape_of(op.operand(op.leading - 1))
    s, v = op.slice, use.value
    if any(n is v for n in (*s.sizes, *s.strides)):
        return False
    return all(symbol_of(n) in along for o, n in zip(s.offsets, shape) if o is v)


@plain()
class Text:
    """A stage as a function: its text; its arguments beside the inputs, in order: sizes that are local, numbers that
    are the whole arrays', for each loop of a fold that is cut, where the chunk's own begins and how long it is, and of
    some symbols where the window begins."""

    name: str
    text: str
    locals: list[Dim]
    globals: list[Dim]
    trims: list[tuple[Op, int]]
    places: list[Sym]
    bounds: bool
    callees: tuple[HostFunction, ...]
    """What its host calls call, in their order: a text has their names."""


class Builder:
    """Writes a stage as a function of its own."""

    def __init__(
        self, program: Program, stage: Stage, cut: frozenset[Sym], owned: frozenset[int],
        around: frozenset[Sym] = frozenset(),
    ) -> None:  # fmt: skip
        """`owned`: the inputs whose windows are the stage's own, to be overwritten; `around`: the symbols along which
        windows go around the end."""
        self.owned, self.around = owned, around
        self.flow, self.stage, self.cut = program.flow, stage, cut
        self.locals: list[Dim] = []
        self.globals: list[Dim] = []
        self.trims: list[tuple[Op, int]] = []
        self.places: list[Sym] = []
        self.name = f"stage_of_{program.name}" if program.name.isidentifier() else "stage"  # alike stages are one text

    def text(self) -> Text:
        """First what indices there are, then the function."""
        stage = self.stage
        for op in stage.ops:
            self.collect(op)
        for fold in stage.folds:
            for d, _ in fold.loops:
                if (fold.op, d) not in self.trims:
                    self.trims.append((fold.op, d))
        bounds = 2 if stage.loop is not None else 0
        n_index = len(self.locals) + len(self.globals) + 2 * len(self.trims) + len(self.places) + bounds
        func = Func(self.name, [v.type for v in stage.inputs] + [INDEX] * n_index)
        for k in range(len(stage.inputs)):
            func.arg_attrs[k]["bufferization.writable"] = k in self.owned
        self.mapping = dict(zip(stage.inputs, func.args))
        rest = func.args[len(stage.inputs) :]
        self.local = dict(zip(self.locals, rest))
        rest = rest[len(self.locals) :]
        self.whole = dict(zip(self.globals, rest))
        rest = rest[len(self.globals) :]
        self.own = {t: (rest[2 * k], rest[2 * k + 1]) for k, t in enumerate(self.trims)}
        rest = rest[2 * len(self.trims) :]
        self.begins = dict(zip(self.places, rest))
        rest = rest[len(self.places) :]
        self.block = func.block
        self.constants: dict[int, Value] = {}
        for op in stage.ops:
            self.add(op)
        if stage.loop is not None:
            loop = self.mapping[stage.loop.results[0]].defining_op
            assert loop is not None
            loop.uses[0].set(rest[0])
            loop.uses[1].set(rest[1])
        func.block.append(Return.of([self.mapping[v] for v in stage.outputs]))
        callees = tuple(op.attrs["callee"] for op in func.walk() if isinstance(op, HostCall))
        text = print_generic(func)
        return Text(self.name, text, self.locals, self.globals, self.trims, self.places, bool(bounds), callees)

    def collect(self, op: Op) -> None:
        for o in (op, *op.walk()):
            for s in self.counted(o).values():
                if s not in self.places:
                    self.places.append(s)
                if s in self.around and s.expr not in self.globals:
                    self.globals.append(s.expr)
            for v in o.operands:
                self.note(v, o)
                todo = [v]
                while todo:
                    made = todo.pop().defining_op
                    if made is not None and v.type is not INDEX and is_cheap(made, self.flow):
                        for x in made.operands:
                            self.note(x, made)
                        todo += [x for x in made.operands if x.type is not INDEX]

    def counted(self, op: Op) -> dict[int, Sym]:
        """The loops along an axis that is cut whose index is a number to an op, with their symbols."""
        if not isinstance(op, linalg.Generic):
            return {}
        read = {o.dim for o in op.body.ops if isinstance(o, linalg.Index)}
        found = {d: symbol_of(size) for d, size in enumerate(op.loop_dims()) if d in read} if read else {}
        return {d: s for d, s in found.items() if s is not None and s in self.cut}

    def note(self, v: Value, op: Op) -> None:
        size = self.flow.given(v) if v.type is INDEX and self.is_outer(v) else None
        if size is None or isinstance(size, int):
            return
        into = self.globals if isinstance(op, NUMERIC) else self.locals
        if size not in into:
            into.append(size)

    def is_outer(self, v: Value) -> bool:
        return not any(is_inside(v, op) for op in self.stage.ops)

    def value(self, v: Value, op: Op) -> Value:
        """What stands for a value in the stage."""
        if v.type is INDEX and self.is_outer(v) and (size := self.flow.given(v)) is not None:
            if isinstance(size, int):
                return self.constant(size)
            return self.whole[size] if isinstance(op, NUMERIC) else self.local[size]
        if v not in self.mapping:
            made = v.defining_op
            if made is None or not is_cheap(made, self.flow):
                raise UnsupportedError(f"{op.name} uses a value that its stage has not")
            self.add(made)
        return self.mapping[v]

    def constant(self, n: int) -> Value:
        if n not in self.constants:
            made = arith.Constant([], [INDEX], UNKNOWN, {"value": n})
            self.block.append(made)
            self.constants[n] = made.result
        return self.constants[n]

    def add(self, op: Op) -> None:
        for o in (op, *op.walk()):
            for v in o.operands:
                if not any(is_inside(v, s) for s in (op,)):
                    self.mapping[v] = self.value(v, o)
        trimmed = {d: self.own[op, d] for o, d in self.trims if o is op}
        made: list[Op] = []

        def keep(new: Op) -> Op:
            made.append(new)
            return new

        clone_op(op, self.mapping, keep)
        new = made[0]
        self.fix_numbers(op, new)
        if trimmed:
            self.trim(new, trimmed)
        for old, fresh in zip((op, *op.walk()), (new, *new.walk())):
            for d, s in self.counted(old).items():
                begin = self.begins[s]
                if old is op and d in trimmed:
                    both = arith.AddI.of(begin, trimmed[d][0])
                    self.block.append(both)
                    begin = both.result
                assert isinstance(fresh, linalg.Generic)
                count_from(fresh, d, begin, self.whole[s.expr] if s in self.around else None)
        self.block.append(new)

    def fix_numbers(self, op: Op, new: Op) -> None:
        """Where an index is used both as a size and as a number, each use gets its own."""
        for old, fresh in zip((op, *op.walk()), (new, *new.walk())):
            for use, now in zip(old.uses, fresh.uses):
                v = use.value
                if v.type is INDEX and self.is_outer(v) and self.flow.given(v) is not None:
                    now.set(self.value(v, old))

    def trim(self, op: Op, own: dict[int, tuple[Value, Value]]) -> None:
        """A reduction over the chunk's own part of its window."""
        assert isinstance(op, linalg.DestinationOp)
        spec = op.spec([v.type for v in op.operands])
        assert spec is not None
        for use in op.in_uses:
            map_ = spec.maps[use.index]
            t = use.value.type
            if not isinstance(t, TensorType) or not any(d in own for d in map_.results if d is not None):
                continue
            offsets: list[Mixed] = []
            sizes: list[Mixed] = []
            shape: list[Dim] = []
            for k, d in enumerate(map_.results):
                if d is not None and d in own:
                    offsets.append(own[d][0])
                    sizes.append(own[d][1])
                    shape.append(unnamed())
                else:
                    n = t.shape[k]
                    offsets.append(0)
                    sizes.append(n if isinstance(n, int) else self.dim(use.value, k))
                    shape.append(n)
            s = Slice(tuple(offsets), tuple(sizes), (1,) * len(shape), tuple(range(len(shape))))
            cut = tensor.ExtractSlice.of(use.value, s, TensorType(tuple(shape), t.element), op.loc)
            self.block.append(cut)
            use.set(cut.result)

    def dim(self, v: Value, k: int) -> Value:
        made = tensor.Dim.of(v, k)
        self.block.append(made)
        return made.result


def count_from(op: linalg.Generic, dim: int, begin: Value, size: Value | None) -> None:
    """Has a body that takes the index of a loop as a number count from the place at which the loop begins; around the
    end of an axis of a size, where that is said."""
    first, body = op.n_ins, op.body
    numbers = [begin] if size is None else [begin, size]
    args = [body.add_arg(INDEX) for _ in numbers]
    body.args[:] = [*body.args[:first], *args, *body.args[first : -len(args)]]
    for k, a in enumerate(body.args):
        a.index = k
    op.attrs["n_ins"] = first + len(args)
    maps = [linalg.AffineMap(len(op.iterators), ())] * len(args)
    op.attrs["maps"] = (*op.maps[:first], *maps, *op.maps[first:])
    op.set_operands([*op.operands[:first], *numbers, *op.operands[first:]])
    for o in list(body.ops):
        if isinstance(o, linalg.Index) and o.dim == dim:
            made: list[Op] = [arith.AddI.of(o.result, args[0])]
            if size is not None:
                place, n = made[0].result, args[1]
                zero = arith.Constant([], [INDEX], UNKNOWN, {"value": 0})
                before, behind = arith.CmpI.of("slt", place, zero.result), arith.CmpI.of("sge", place, n)
                less, more = arith.SubI.of(place, n), arith.AddI.of(place, n)
                low = arith.Select.of(before.result, more.result, place)
                made += [zero, before, behind, less, more, low, arith.Select.of(behind.result, less.result, low.result)]
            o.result.replace_all_uses(made[-1].result, unless=made[0])
            for k, new in enumerate(made):
                body.insert(body.ops.index(o) + 1 + k, new)
