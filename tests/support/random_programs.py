"""Random tensor programs for comparing analyses: slices, generics with mixed maps, fills, elements, scf.for and scf.if.

They need not mean anything: tensors are reused freely, so that every kind of conflict comes up.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tests.support.ir_programs import Maker
from tracebuf.analysis.one_shot.copy_before_write import copy_before_write
from tracebuf.analysis.one_shot.derived import Analysis
from tracebuf.analysis.one_shot.one_shot import one_shot
from tracebuf.ir.core import Block, Builder, Value
from tracebuf.ir.dims import Expr, add
from tracebuf.ir.func import Func
from tracebuf.ir.types import F64, I1, INDEX
from tracebuf.ops.arrays import linalg
from tracebuf.ops.control import func
from tracebuf.ops.scalars import arith

N = 8


def random_func(seed: int, *, ops: int = 10, defined: bool = False, stores: bool = False) -> Func:
    """A function of three vectors and a matrix, some read-only, that returns what is left at the end.

    With `defined` nothing undefined is read, so that it can be run. With `stores` it ends as the front end's functions
    do: the last value of each writable argument goes to the argument, and nothing is returned.
    """
    made = _Random(seed, ops, defined)
    return made.func(stores)


def origin(value: Value) -> Value:
    """The argument (or other value) that a value is a later version of."""
    while (op := value.defining_op) is not None:
        before = [u.value for u in op.tensor_uses() if any(a.value is value for a in op.aliasing_values(u))]
        if len(before) != 1 or before[0].type != value.type or op.name == "tensor.extract_slice":
            break
        value = before[0]
    return value


class _Random:
    def __init__(self, seed: int, ops: int, defined: bool) -> None:
        self.rng, self.defined = random.Random(seed), defined
        self.m = Maker(f"f{seed}", a=(N,), b=(N,), c=(N,), d=(N, N), x=F64, p=I1)
        self.ops, self.ivs = ops, list[Expr]()
        for attrs in self.m.func.arg_attrs:
            attrs["bufferization.writable"] = self.rng.random() < 0.75
        self.tensors: list[list[Value]] = [list(self.m.args[:4])]

    def func(self, stores: bool) -> Func:
        m = self.m
        self.fill_block(self.ops, 0)
        if stores:
            last = {origin(v): v for v in self.tensors[0]}
            writable = [bool(attrs["bufferization.writable"]) for attrs in m.func.arg_attrs]
            return m.done(stored={i: last[a] for i, a in enumerate(m.args[:4]) if writable[i]})
        results = self.rng.sample(self.tensors[0], self.rng.randint(1, 3))
        m.builder.add(func.Return.of(results, m.loc()))
        return m.func

    def pick(self, rank: int | None = None) -> Value:
        found = [v for scope in self.tensors for v in scope if rank is None or v.tensor_type.rank == rank]
        return self.rng.choice(found[-6:] if self.rng.random() < 0.7 else found)

    def sized(self, like: Value) -> Value:
        found = [v for scope in self.tensors for v in scope if v.type == like.type]
        return self.rng.choice(found)

    def fill_block(self, n: int, depth: int) -> None:
        kinds = "view store ew ew_into fill insert swap loop branch rounds empty moving".split()
        weights = [4, 4, 3, 4, 2, 2, 1, 1.2, 1.2, 1.2, 1, 4 if self.ivs else 0]
        for _ in range(n):
            kind = self.rng.choices(kinds, weights)[0]
            flow = kind in ("loop", "branch", "rounds")
            if flow and depth >= 2:
                kind, flow = "store", False
            value = getattr(self, kind)(depth) if flow else getattr(self, kind)()
            if value is not None:
                self.tensors[-1].append(value)

    def offset(self, size: int, part: int) -> int:
        return self.rng.choice([0, size - part, self.rng.randint(0, size - part)])

    def parts(self, base: Value, row: bool) -> tuple[list[tuple[int, int, int]], tuple[int, ...]]:
        (n, *rest) = base.tensor_type.shape
        assert isinstance(n, int)
        if row:
            return [(self.rng.randrange(n), 1, 1), *((0, d, 1) for d in rest)], (1,)  # type: ignore[misc]
        size = self.rng.choice([s for s in (n, n // 2, n - 1) if s > 0])
        return [(self.offset(n, size), size, 1), *((0, d, 1) for d in rest)], tuple(range(1 + len(rest)))  # type: ignore[misc]

    def view(self) -> Value:
        base = self.pick()
        parts, dims = self.parts(base, base.tensor_type.rank == 2 and self.rng.random() < 0.5)
        return self.m.view(base, *parts, dims=dims)

    def store(self) -> Value:
        views = [v for scope in self.tensors for v in scope if v.defining_op is not None]
        source = self.rng.choice(views) if views else self.pick(1)
        for base in self.rng.sample([v for s in self.tensors for v in s], k=len([v for s in self.tensors for v in s])):
            (n, *rest), shape = base.tensor_type.shape, source.tensor_type.shape
            assert isinstance(n, int)
            if list(shape[1:]) == rest and shape[0] <= n:
                size = shape[0]
                assert isinstance(size, int)
                origin = source
                while len(getattr(origin.defining_op, "uses", ())) and self.rng.random() < 0.7:
                    op = origin.defining_op
                    assert op is not None
                    if op.name == "tensor.extract_slice" and len(op.attrs["dims"]) == len(shape):
                        offset = op.attrs["static_offsets"][0]
                        if isinstance(offset, int) and offset + size <= n:
                            return self.m.store(source, base, (offset, size, 1), *((0, d, 1) for d in rest))
                        break
                    outs = [u.value for u in op.uses if u.value.type == source.type]
                    if not outs:
                        break
                    origin = outs[-1]
                offset = self.offset(n, size)
                return self.m.store(source, base, (offset, size, 1), *((0, d, 1) for d in rest))
        return self.m.store(self.m.args[0], self.m.args[1], (0, N, 1))

    def moving(self) -> Value:
        """A slice that moves with the innermost loop: read, or changed and stored back to the same or another place."""
        m, base, i = self.m, self.pick(1), self.ivs[-1]
        if base.tensor_type.shape != (N,):
            base = self.m.args[1]
        at, to = (self.rng.choice([i, i, add(i, 1), 0]) for _ in range(2))
        part = m.view(base, (at, 4, 1))
        if self.rng.random() < 0.3:
            return part
        if self.rng.random() < 0.4:
            part = m.fill(m.args[4], part)
        elif self.rng.random() < 0.7:
            part = m.ew(arith.AddF, part, part, out=part)
        return m.store(part, base, (at if self.rng.random() < 0.6 else to, 4, 1))

    def ew(self) -> Value:
        a = self.pick()
        return self.m.ew(arith.AddF, a, self.sized(a))

    def ew_into(self) -> Value:
        a = self.pick()
        return self.m.ew(arith.MulF, a, self.sized(a), out=self.sized(a))

    def swap(self) -> Value:
        """A generic that reads one operand transposed and accumulates."""
        squares = [v for s in self.tensors for v in s if v.tensor_type.shape == (N, N)]
        a, out = self.rng.choice(squares), self.rng.choice(squares)
        body = Block([F64, F64])
        inner = Builder(body)
        new = inner.add(arith.AddF.of(*body.args, self.m.loc())).result
        inner.add(linalg.Yield.of([new if self.rng.random() < 0.5 else body.args[0]], self.m.loc()))
        maps = [linalg.AffineMap(2, (1, 0)), linalg.identity_map(2)]
        return self.m.add(linalg.Generic.of([a], [out], maps, ["parallel"] * 2, body, self.m.loc()))

    def fill(self) -> Value:
        return self.m.fill(self.m.args[4], self.pick())

    def empty(self) -> Value:
        shape = self.pick().tensor_type.shape
        return self.m.zeros(*shape, value=3.0) if self.defined else self.m.empty(*shape)

    def insert(self) -> Value | None:
        base = self.pick(1)
        if self.rng.random() < 0.5:
            return self.m.insert(self.m.extract(self.pick(1), 0), base, 0)
        return self.m.insert(self.m.args[4], base, 0)

    def inside(self, carried: Sequence[Value], like: Sequence[Value], depth: int) -> list[Value]:
        self.tensors.append(list(carried))
        self.fill_block(self.rng.randint(0, 4), depth + 1)
        near = self.tensors[-1]
        found = []
        for value in like:
            own = [v for v in near if v.type == value.type]
            found.append(self.rng.choice(own) if own and self.rng.random() < 0.9 else self.sized(value))
        self.tensors.pop()
        return found

    def loop(self, depth: int) -> None:
        inits = [self.pick() for _ in range(self.rng.randint(1, 2))]
        m = self.m

        def body(i: Expr, *args: Value) -> list[Value]:
            self.ivs.append(i)
            yielded = self.inside(args, inits, depth)
            self.ivs.pop()
            return yielded

        self.tensors[-1] += m.loop(0, 4, inits, body)

    def rounds(self, depth: int) -> None:
        """An scf.while of three rounds; some only pass on in the second region, as the front end's do."""
        inits = [self.pick() for _ in range(self.rng.randint(1, 2))]
        m, one, three = self.m, self.m.const(1, INDEX), self.m.const(3, INDEX)
        straight = self.rng.random() < 0.5

        def before(i: Value, *args: Value) -> list[Value]:
            more = m.add(arith.CmpI.of("slt", i, three, m.loc()))
            return [more, m.add(arith.AddI.of(i, one, m.loc())), *self.inside(args, inits, depth)]

        def after(i: Value, *args: Value) -> list[Value]:
            return [i, *(args if straight else self.inside(args, inits, depth))]

        self.tensors[-1] += m.rounds([m.const(0, INDEX), *inits], before, after)[1:]

    def branch(self, depth: int) -> None:
        like = [self.pick() for _ in range(self.rng.randint(1, 2))]
        types = [v.type for v in like]
        run = lambda: self.inside([], like, depth)  # noqa: E731
        self.tensors[-1] += self.m.branch(self.m.args[5], run, run, types)


STRATEGIES: dict[str, Callable[[Func], Analysis]] = {
    "one-shot": one_shot,
    "top-down": lambda f: one_shot(f, heuristic="top-down"),
    "from terminators": lambda f: one_shot(f, heuristic="bottom-up-from-terminators"),
    "fuzzer": lambda f: one_shot(f, heuristic="fuzzer", seed=1),
    "another fuzzer": lambda f: one_shot(f, heuristic="fuzzer", seed=2),
    "copy-before-write": copy_before_write,
}


def random_args() -> list[Any]:
    rng = np.random.default_rng(0)
    vectors = [rng.integers(0, 9, 8).astype(float) for _ in range(3)]
    return [*vectors, rng.integers(0, 9, (8, 8)).astype(float), 2.5, True]
