"""Memref programs for the tests of deallocation and storage: a small builder, a judge that runs them, random ones.

The judge (`run`) executes control flow, flags and frees on buffers whose whole contents are one number. It faults on a
use after free, a double free, a free of what is not owned, a leak, and an arena slot that is held twice.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from math import prod
from typing import Any

from tracebuf.interpret.places import Places
from tracebuf.ir.core import Block, Op, OpT, Value
from tracebuf.ir.dims import Sym, evaluate
from tracebuf.ir.func import Func
from tracebuf.ir.slices import Slice
from tracebuf.ir.types import F64, I1, INDEX, MemRefType, Type, row_major
from tracebuf.location import UNKNOWN, Location
from tracebuf.ops.arrays import bufferization, linalg
from tracebuf.ops.control import func, scf
from tracebuf.ops.memory import memref
from tracebuf.ops.memory.arena import Plan
from tracebuf.ops.scalars import arith

LOC = Location("program.py", 7, 4, 9, "f")
SIZE = Sym("n", "dim")
N = SIZE.expr


def buffer_type(*shape: Any) -> MemRefType:
    return MemRefType(shape, F64, row_major(shape), 0)


class Maker:
    """Appends ops to the current block."""

    def __init__(self, *types: Type) -> None:
        self.func = Func("f", [INDEX, *types])
        self.n, *self.args = self.func.args
        self.func.symbols = {SIZE: self.n}
        self.block = self.func.block
        self.stores = 0

    def add(self, op: OpT) -> OpT:
        self.block.append(op)
        return op

    def constant(self, value: Any, type_: Any = INDEX) -> Value:
        return self.add(arith.Constant.of(value, type_, UNKNOWN)).result

    def alloc(self, *shape: Any, write: bool = True) -> Value:
        shape = shape or (N,)
        sizes = [d if isinstance(d, int) else self.n for d in shape]
        op = memref.Alloc.of(shape, F64, sizes, tuple(range(len(shape))), "test", UNKNOWN)
        result = self.add(op).result
        if write:
            self.write(result)
        return result

    def write(self, buffer: Value) -> None:
        self.stores += 1
        self.add(linalg.Fill.of(self.constant(float(self.stores), F64), buffer, UNKNOWN))

    def copy(self, source: Value, target: Value) -> Value:
        """Copies, and gives the target."""
        self.add(memref.Copy.of(source, target, "test", UNKNOWN))
        return target

    def view(self, buffer: Value) -> Value:
        part = Slice((0,), (2,), (1,), (0,))
        return self.add(memref.Subview.of(buffer, part, (2,), UNKNOWN)).result

    def nest(
        self, body: Callable[[], Sequence[Value]], block: Block, end: type[scf.Yield | scf.Condition] = scf.Yield
    ) -> Block:
        outer, self.block = self.block, block
        values = body()
        self.add(end.of(values, UNKNOWN))
        self.block = outer
        return block

    def loop(self, trips: Value, inits: Sequence[Value], body: Callable[..., Sequence[Value]]) -> list[Value]:
        zero, one = self.constant(0), self.constant(1)
        block = Block([INDEX, *(v.type for v in inits)])
        self.nest(lambda: body(*block.args), block)
        return self.add(scf.For.of([zero, trips, one], inits, block, UNKNOWN)).results

    def rounds(
        self,
        trips: Value,
        inits: Sequence[Value],
        before: Callable[..., Sequence[Value]],
        after: Callable[..., Sequence[Value]],
    ) -> list[Value]:
        """scf.while with a counter: `before(i, *carried)` is forwarded, `after(i, *forwarded)` goes back."""
        zero, one = self.constant(0), self.constant(1)
        first = Block([INDEX, *(v.type for v in inits)])

        def start() -> list[Value]:
            i = first.args[0]
            forwarded = before(*first.args)
            go = self.add(arith.CmpI.of("slt", i, trips, UNKNOWN)).result
            return [go, self.add(arith.AddI.of(i, one, UNKNOWN)).result, *forwarded]

        self.nest(start, first, scf.Condition)
        last = Block([v.type for v in first.terminator.operands[1:]])
        self.nest(lambda: [last.args[0], *after(*last.args)], last)
        return self.add(scf.While.of([zero, *inits], first, last, UNKNOWN)).results[1:]

    def branch(
        self, condition: Value, then: Callable[[], Sequence[Value]], orelse: Callable[[], Sequence[Value]]
    ) -> list[Value]:
        blocks = self.nest(then, Block()), self.nest(orelse, Block())
        types = [v.type for v in blocks[0].terminator.operands]
        return self.add(scf.If.of(condition, types, *blocks, UNKNOWN)).results

    def done(self, *results: Value) -> Func:
        self.add(func.Return.of(results, UNKNOWN))
        return self.func


# -- the judge
@dataclass(eq=False)
class Buffer:
    owner: Op | None
    contents: float | None = None
    live: bool = True
    overlaid: bool = False


class Fault(Exception):
    pass


@dataclass
class Judge:
    made: list[Buffer] = field(default_factory=list)
    places: Places[Buffer] | None = None
    heap: int = 0
    peak: int = 0

    def block(self, block: Block, args: Sequence[Any], env: dict[Value, Any]) -> list[Any]:
        env.update(zip(block.args, args, strict=True))
        for op in block.ops:
            values = [env[v] for v in op.operands]
            if op.terminator:
                return values
            env.update(zip(op.results, self.step(op, values, env), strict=True))
        raise Fault("no terminator")

    def step(self, op: Op, values: list[Any], env: dict[Value, Any]) -> Sequence[Any]:
        if self.places is not None:
            self.places.before(op)
        match op:
            case memref.Alloc():
                return [self.allocate(op, values, env)]
            case memref.Dealloc():
                self.free(values[0], op)
            case memref.Copy():
                alive(values[1]).contents = alive(values[0]).contents
            case linalg.Fill():
                alive(values[1]).contents = values[0]
            case memref.Subview() | memref.Cast():
                return [alive(values[0])]
            case bufferization.SameBase():
                if any(isinstance(v, Buffer) and v.overlaid for v in values):
                    raise Fault("compares what has lost its place")
                return [values[0] is values[1]]
            case bufferization.Dealloc():
                return self.dealloc(op, values)
            case scf.If():
                return self.block(op.branches[0 if values[0] else 1], [], env)
            case scf.For():
                carried = values[3:]
                for i in range(*values[:3]):
                    carried = self.block(op.body, [i, *carried], env)
                return carried
            case scf.While():
                carried = values
                while True:
                    go, *forwarded = self.block(op.before, carried, env)
                    if not go:
                        return forwarded
                    carried = self.block(op.after, forwarded, env)
            case arith.ScalarOp():
                return [op.compute(values)]
            case _:
                raise Fault(f"cannot run {op.name}")
        return []

    def allocate(self, op: memref.Alloc, sizes: list[int], env: dict[Value, Any]) -> Buffer:
        buffer = Buffer(op)
        if self.places is not None and op in self.places.plan.places:
            beside = [env[v] for v in self.places.plan.places[op].beside]
            self.places.take(op, buffer, beside, 8 * prod(sizes, start=static_size(op)))
        if not isinstance(op, memref.Alloca):
            self.made.append(buffer)
            self.heap += 1
            self.peak = max(self.peak, self.heap)
        return buffer

    def free(self, buffer: Buffer, op: Op) -> None:
        if buffer.owner is None or isinstance(buffer.owner, memref.Alloca):
            raise Fault("frees what is not on the heap")
        if not buffer.live:
            raise Fault("double free")
        buffer.live = False
        self.heap -= 1

    def dealloc(self, op: bufferization.Dealloc, values: list[Any]) -> list[bool]:
        m = op.attrs["n_memrefs"]
        buffers, conditions, retained = values[:m], values[m : 2 * m], values[2 * m :]
        owned = {b: True for b, c in zip(buffers, conditions, strict=True) if c}
        for buffer in owned:
            if buffer not in retained:
                self.free(buffer, op)
        return [r in owned for r in retained]


def static_size(op: memref.Alloc) -> int:
    return prod(s for s in op.attrs["static_sizes"] if s is not None)


def overlay(buffer: Buffer, op: Op) -> None:
    buffer.overlaid = True


def alive(buffer: Buffer) -> Buffer:
    if buffer.overlaid:
        raise Fault("use after its place was given to another")
    if not buffer.live:
        raise Fault("use after free, or double free")
    return buffer


def run(f: Func, *args: Any, leaks: bool = False) -> tuple[list[Any], Judge]:
    """Runs `f` on scalars and, for memrefs, fresh buffers; contents and identity of its results and arguments."""
    env: dict[Value, Any] = {}
    plan = f.attrs.get("arena", Plan())
    sizes = f.symbols.items()
    judge = Judge(places=Places(plan, lambda d: evaluate(d, {s: env[v] for s, v in sizes if v in env}), overlay))
    pairs = enumerate(zip(f.args, args, strict=True))
    given = [Buffer(None, -float(i)) if isinstance(v.type, MemRefType) else a for i, (v, a) in pairs]
    results = judge.block(f.block, given, env)
    for r in results:
        if isinstance(r, Buffer):
            alive(r)
            if r.owner is not None and r.owner.attrs.get("kind", "array") != "array":
                raise Fault("a temporary is returned")
    if not leaks and any(b.live and b not in results for b in judge.made):
        raise Fault("leak")
    seen = [*results, *given]
    return [(v.contents, seen.index(v)) if isinstance(v, Buffer) else v for v in seen], judge


# -- random programs
def random_program(seed: int) -> tuple[Func, int]:
    """A program with nested loops and branches, and how many i1 arguments follow index n, two memrefs, a trip count."""
    rng = random.Random(seed)
    kind = buffer_type(N) if rng.random() < 0.7 else buffer_type(4)
    n_flags = 3
    m = Maker(kind, kind, INDEX, *[I1] * n_flags)
    a, b, trips, *flags = m.args

    def condition(index: Value | None) -> Value:
        if index is not None and rng.random() < 0.5:
            return m.add(arith.CmpI.of(rng.choice(["eq", "slt", "sge"]), index, m.constant(1), UNKNOWN)).result
        return rng.choice(flags)

    def inner(scope: list[Value], depth: int, index: Value, *carried: Value) -> list[Value]:
        return body([*scope, *carried], depth - 1, index, len(carried))

    def body(scope: list[Value], depth: int, index: Value | None, n_out: int) -> list[Value]:
        scope = list(scope)
        for _ in range(rng.randint(1, 4)):
            pick = rng.random()
            if pick < 0.35:
                scope.append(m.alloc(*kind.shape))
            elif pick < 0.55:
                m.copy(rng.choice(scope), rng.choice(scope))
            elif pick < 0.6:
                scope.append(m.add(memref.Cast.of(rng.choice(scope), kind, UNKNOWN)).result)
            elif pick < 0.8 and depth:
                k = rng.randint(0, 2)
                arm = partial(body, scope, depth - 1, index, k)
                scope += m.branch(condition(index), arm, arm)
            elif depth:
                inits = [rng.choice(scope) for _ in range(rng.randint(0, 3))]
                count = trips if rng.random() < 0.7 else m.constant(rng.randint(0, 2))
                if rng.random() < 0.6:
                    scope += m.loop(count, inits, partial(inner, scope, depth))
                    continue
                n, k, outer = rng.randint(0, 3), len(inits), list(scope)

                def before(index: Value, *carried: Value, n: int = n, outer: list[Value] = outer) -> list[Value]:
                    return body([*outer, *carried], depth - 1, index, n)

                def after(index: Value, *forwarded: Value, k: int = k, outer: list[Value] = outer) -> list[Value]:
                    return body([*outer, *forwarded], depth - 1, index, k)

                scope += m.rounds(count, inits, before, after)
        recent = scope[-4:] if rng.random() < 0.6 else scope
        return [rng.choice(recent) for _ in range(n_out)]

    return m.done(*body([a, b], 3, None, rng.randint(0, 3))), n_flags


def memory_program() -> Func:
    """Every op of the memref level once, with the layouts that MLIR is strict about."""
    n, m = Sym("n", "dim"), Sym("m", "dim")
    strided = MemRefType((n.expr, m.expr), F64, (None, None), None)
    f = Func("memory", [strided, MemRefType((n.expr, m.expr), F64, (m.expr, 1), 0), F64], LOC)
    a, b, x = f.args
    a.name, x.name = "a", "x"

    def add(op: Any) -> Any:
        f.block.append(op)
        return op.results[0] if op.results else None

    size_n, size_m = add(memref.Dim.of(a, 0, LOC)), add(memref.Dim.of(a, 1, LOC))
    f.symbols = {n: size_n, m: size_m}
    one, two = add(arith.Constant.of(1, INDEX, LOC)), add(arith.Constant.of(2, INDEX, LOC))
    three = (n.expr, 3, m.expr)
    add(memref.Dealloc.of(add(memref.Alloc.of(three, F64, [size_n, 3, size_m], (2, 1, 0), "a copy", LOC)), LOC))
    fresh = add(memref.Alloc.of(strided.shape, F64, [size_n, size_m], (1, 0), "a new array", LOC))
    line = add(memref.Alloca.of((4,), F64, [4], (0,), "a new array", LOC))
    add(memref.Subview.of(line, Slice((1,), (2,), (1,), (0,)), (2,), LOC))
    add(memref.Subview.of(line, Slice((0,), (2,), (1,), (0,)), (2,), LOC))
    for base in (a, b):
        for offsets in ((1, 0), (0, 0), (one, 1)):
            add(memref.Subview.of(base, Slice(offsets, (1, size_m), (1, 2), (1,)), (m.expr,), LOC))
    add(memref.Subview.of(b, Slice((0, 0), (size_n, size_m), (1, 1), (1, 0)), (m.expr, n.expr), LOC))
    add(linalg.Fill.of(x, fresh, LOC))
    add(memref.Copy.of(a, fresh, "a copy", LOC))
    add(memref.Store.of(add(memref.Load.of(a, [one, two], LOC)), b, [one, one], LOC))
    add(linalg.Contraction.of(b, b, b, LOC))
    cast = add(memref.Cast.of(fresh, memref.forget_layout(fresh.type), LOC))
    body = Block([INDEX, cast.type])
    body.append(scf.Yield.of([body.args[1]], LOC))
    (kept,) = add_all(f, scf.For.of([one, two, one], [cast], body, LOC))
    yes = add(arith.Constant.of(True, I1, LOC))
    then, orelse = Block(), Block()
    then.append(memref.Dealloc.of(fresh, LOC))
    then.append(scf.Yield.of([], LOC))
    orelse.append(scf.Yield.of([], LOC))
    add(scf.If.of(yes, [], then, orelse, LOC))
    clone = add(bufferization.Clone.of(b, LOC))
    add_all(f, bufferization.Dealloc.of([fresh, clone], [yes, yes], [kept, b], LOC))
    add_all(f, bufferization.Dealloc.of([fresh], [yes], [], LOC))
    add(bufferization.SameBase.of(a, b, LOC))
    add(func.Return.of([clone, x], LOC))
    return f


def add_all(f: Func, op: Op) -> list[Value]:
    f.block.append(op)
    return op.results
