"""Where a nest is written: into the program, or as a function of its own, which other programs share (`shared`).

A function of its own costs some nanoseconds a call and is compiled once a process: so are nests that run once a call,
or once for each block of rows (optimize/buffers/rows_by_blocks.py). Nests inside of other loops, and those of a few
elements, stay where LLVM sees what is around them; not so in the quick tier (backend/runtime/tiers.py), where they are
functions if better code may replace them, or if LLVM chooses the order of their sums, which only its whole pipeline
does as in the fast tier.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from math import prod
from typing import NamedTuple

from tracebuf.backend.layout import abi
from tracebuf.backend.llvm.code import Code
from tracebuf.backend.llvm.folds import FoldState
from tracebuf.backend.llvm.loops import Around, Buffer, NestWriter, Part, Scopes
from tracebuf.backend.llvm.polls import Polls
from tracebuf.backend.llvm.scalars import Scalars
from tracebuf.backend.llvm.scatters import ScatterWriter
from tracebuf.backend.llvm.texts import parallel
from tracebuf.ir.core import Value
from tracebuf.ir.emitter import components, join_components, llvm_type
from tracebuf.ir.func import Func
from tracebuf.ir.types import ScalarType
from tracebuf.lower.plan import BLOCK, IN_ORDER, Nest
from tracebuf.lower.split import Split
from tracebuf.ops.arrays.gather import CheckedIndex
from tracebuf.ops.arrays.linalg import DestinationOp
from tracebuf.ops.control import scf
from tracebuf.ops.memory.memref import Copy

FEW = 64
"""So many elements, known when compiled, are no loop for LLVM, or a short one."""


WIDE = 2**13
"""Of rows that are folded into the out, threads get parts from so many elements on: shorter ones are read slowly."""


class Failed(NamedTuple):
    """An index that was out of bounds if the i1 `flag` says so, of an axis of that size."""

    op: CheckedIndex
    flag: str
    size: str


class Parameters:
    """What a shared function gets: equal values are one parameter, literals stay what they are."""

    def __init__(self) -> None:
        self.given: dict[str, tuple[str, str]] = {}
        """By the value outside: the LLVM type, and the name inside."""

    def of(self, type: str, value: str) -> str:
        """The name inside."""
        if value[0] not in "%@":
            return value
        return self.given.setdefault(value, (type, f"%p{len(self.given)}"))[1]

    @property
    def passed(self) -> list[tuple[str, str]]:
        """The LLVM types and the values outside."""
        return [(t, value) for value, (t, _) in self.given.items()]

    @property
    def named(self) -> list[tuple[str, str]]:
        """The LLVM types and the names inside."""
        return list(self.given.values())

    def of_scalar(self, type: ScalarType, value: str) -> str:
        return join_components([self.of(llvm_type(t), v) for t, v in components(type, value)])

    def of_buffer(self, b: Buffer, roots: Mapping[int, int]) -> Buffer:
        """`roots`: the numbers of the storages inside."""
        pointer = self.of("ptr", b.pointer)
        sizes, strides = (tuple(self.of("i64", n) for n in ns) for ns in (b.sizes, b.strides))
        return Buffer(b.type, pointer, pointer, sizes, strides, frozenset(roots[r] for r in b.roots))


class Outside(dict[Value, str]):
    """The values around a nest, which become parameters when they are asked for."""

    def __init__(self, values: Mapping[Value, str], parameters: Parameters) -> None:
        super().__init__()
        self.values_outside, self.parameters = values, parameters

    def __missing__(self, value: Value) -> str:
        assert isinstance(value.type, ScalarType)
        self[value] = self.parameters.of_scalar(value.type, self.values_outside[value])
        return self[value]


def write_nest(
    nest: Nest, operands: Sequence[Buffer | str], around: Around, *, once: bool, apart: bool = False,
    split: Split | None = None,
) -> list[Failed]:  # fmt: skip
    """Writes a nest; the indices that may have failed. `once`: whether it runs once a call, `apart`: it is to be a
    function anyway; `split`: where threads share it, if it is large."""
    kind = ScatterWriter if nest.spec.scatters else NestWriter
    given = {a: v for a, v in zip(nest.spec.body.args, operands) if isinstance(v, str)}
    checked = [op for op in nest.spec.body.ops if isinstance(op, CheckedIndex)]
    sizes = {op: given.get(op.operand(1)) or around.values.get(op.operand(1)) for op in checked}
    known = [(op, size) for op, size in sizes.items() if size is not None]
    if split is not None and split.folds and _has_twins(nest, operands):
        split = None
    alone = split is not None or once and worth_sharing(nest) or apart and may_stand_apart(nest)
    if alone and len(known) == len(checked):
        flags = _call(nest, operands, around, kind, split)
        return [Failed(op, flags[op], size) for op, size in known]
    writer, code = kind(nest, operands, around), around.code
    writer.write()
    return [
        Failed(op, code.inst(f"load i1, ptr {slot}"), writer.size_of(op)) for op, slot in writer.failures.items()
    ]


def _has_twins(nest: Nest, operands: Sequence[Buffer | str]) -> bool:
    """Whether the out of a fold begins where another operand does."""
    pointers = [b.pointer for b in operands if isinstance(b, Buffer)]
    outs = [operands[f.out] for f in nest.folds]
    return any(isinstance(b, Buffer) and pointers.count(b.pointer) > 1 for b in outs)


def worth_sharing(nest: Nest) -> bool:
    """Whether a nest has loops of more than a few elements."""
    if not nest.loops[-1].dims:
        return False
    known = [lp.size for lp in nest.loops if isinstance(lp.size, int)]
    return len(known) < len(nest.loops) or prod(known) > FEW


def may_stand_apart(nest: Nest) -> bool:
    """Whether a nest inside of loops is a function in the quick tier."""
    return worth_sharing(nest) or any(fold.how != IN_ORDER for fold in nest.folds)


def has_scalar_loops(func: Func) -> bool:
    """Whether a function has loops that may run often, around no loop nest and no call that does their work."""
    loops = [op for op in func.walk() if isinstance(op, scf.For | scf.While)]
    return any(op.successors for op in func.walk()) or any(
        not any(isinstance(op, scf.For | scf.While | DestinationOp | Copy) for op in loop.walk() if op is not loop)
        for loop in loops
    )


def _call(
    nest: Nest, operands: Sequence[Buffer | str], around: Around, kind: type[NestWriter], split: Split | None
) -> dict[CheckedIndex, str]:
    """Calls the nest as a function: `i64 (context, budget left, what it works on, where failures go)`, see `Polls`; one
    that is split gets the first and the last iteration, after the budget."""
    code, inner, parameters = around.code, Code(), Parameters()
    inner_polls = Polls(inner, "%context", "stopped", "%left")
    roots: dict[int, int] = {}
    for b in operands:
        for r in sorted(b.roots) if isinstance(b, Buffer) else ():
            roots.setdefault(r, len(roots))
    inside: list[Buffer | str] = []
    for b, type_ in zip(operands, nest.spec.types, strict=True):
        if isinstance(b, Buffer):
            inside.append(parameters.of_buffer(b, roots))
        else:
            assert isinstance(type_, ScalarType)
            inside.append(parameters.of_scalar(type_, b))
    scopes = _scopes_inside(inner, around.scopes, roots)
    part = None if split is None else Part(split.depth, "%lo", "%hi")
    values = Outside(around.values, parameters)
    writer = kind(nest, inside, Around(inner, inner_polls, values, scopes, around.first), part)
    writer.write()
    slots = {op: (code.fresh_slot("i1"), f"%f{k}") for k, op in enumerate(writer.failures)}
    for op, (_, name) in slots.items():
        inner.do(f"store i1 {inner.inst(f'load i1, ptr {writer.failures[op]}')}, ptr {name}")
    inner_polls.leave()
    bounds = [] if split is None else [("i64", "%lo"), ("i64", "%hi")]
    named = [*bounds, *parameters.named, *(("ptr", name) for _, name in slots.values())]
    symbol = code.share(inner, "nest", [("ptr", "%context"), ("i64", "%left"), *named])
    passed, polls, flags = parameters.passed, around.polls, [("ptr", slot) for slot, _ in slots.values()]
    if split is None:
        polls.resume(code.call("i64", symbol, [*polls.state(), *passed, *flags]))
    else:
        _Split(code, nest, operands, split).write(polls, symbol, passed, flags)
    return {op: code.inst(f"load i1, ptr {slot}") for op, (slot, _) in slots.items()}


def _size(nest: Nest, operands: Sequence[Buffer | str], dim: int) -> str:
    """The size of a loop dimension."""
    k, axis = nest.spec.sizes()[dim]
    buffer = operands[k]
    assert isinstance(buffer, Buffer)
    return buffer.sizes[axis]


class Shared(NamedTuple):
    """What threads are to share: the function's symbol, what it gets beside its context, budget, first and last
    iteration; how many iterations there are, and the bytes that all touch (LLVM values). Pieces are multiples of the
    grain (if it is negative, powers of two of them), and at most `limit` (if it is negative, as many for each
    thread)."""

    symbol: str
    passed: Sequence[tuple[str, str]]
    n: str
    work: str
    grain: int = 1
    limit: int = 2**30


@contextmanager
def shared_by_threads(
    code: Code, polls: Polls, it: Shared, fits: Callable[[], str],
    moved: Callable[[], dict[str, tuple[str, int]]] = dict, join: Callable[[str], None] = lambda piece: None,
    failures: Sequence[tuple[str, str]] = (), fail: Callable[[str, str], None] | None = None,
) -> Iterator[None]:  # fmt: skip
    """Writes that threads run a function for the pieces of a loop, if it touches many bytes and `fits` (which writes an
    i1); in the context, what runs where they do not.

    `moved`: by pointer that the function gets the places, one for each piece, that it gets instead, and the bytes of
    one; `join` makes of them what the function would have stored, and gets the iterations of a piece; `failures`: where
    it says what has failed. `fail`, of a function with checks, writes how the kernel ends with a check of a number,
    whose values are at a place.
    """
    for name, text in parallel.declared().items():
        code.define(name, text)
    code.imports |= {
        "tracebuf_threads": ("threads", "block"), "tracebuf_poll": ("runtime", "poll"),
        "tracebuf_ask": ("runtime", "ask"),
    }  # fmt: skip
    large, pack, whole, going, end = (code.new_label() for _ in range(5))
    least = code.inst(f"load i64, ptr {code.offset('@tracebuf_threads', 'i64', str(parallel.LEAST))}")
    code.branch(code.icmp("sge", it.work, least), large, whole)
    code.place(large)
    code.branch(fits(), pack, whole)
    code.place(pack)
    for _, slot in failures:
        code.do(f"store i1 false, ptr {slot}")
    places = moved()
    words = [(t, places.get(v, (v, 0))[0]) for t, v in (*it.passed, *failures)]
    values = 0 if fail is None else abi.MAX_ERROR_VALUES * abi.ERROR_VALUE
    data = code.slot(f"[{parallel.GIVEN + len(words) + values} x i64]", -2, align=64)
    put = [(parallel.NEST, "ptr", code.address_of(it.symbol)), (parallel.ITERATIONS, "i64", it.n)]
    put += [(parallel.GIVEN + k, t, v) for k, (t, v) in enumerate(words)]
    for k, type_, value in put:
        code.do(f"store {type_} {value}, ptr {code.offset(data, 'i64', str(k))}")
    clock = int(getattr(time, "CLOCK_MONOTONIC", 0))
    outs = {k: places[v][1] for k, (_, v) in enumerate(it.passed) if v in places}
    part = code.share_text("part", *parallel.part_text([t for t, _ in it.passed], len(failures), clock, outs, values))
    share = code.share_text("share", *parallel.share_text(abi.GROW, clock))
    numbers = [("i64", it.work), ("i64", str(it.grain)), ("i64", str(it.limit))]
    left = code.call("i64", share, [*polls.state(), ("ptr", data), ("ptr", code.address_of(part)), *numbers])
    code.branch(code.icmp("eq", left, str(parallel.WHOLE)), whole, going)
    code.place(going)
    if fail is not None:
        failing, right = code.new_label(), code.new_label()
        number = code.sub(left, str(parallel.CHECK))
        code.branch(code.icmp("ult", number, str(parallel.MOST_CHECKS)), failing, right, code.rarely())
        code.place(failing)
        fail(number, code.offset(data, "i64", str(parallel.GIVEN + len(words))))
        code.place(right)
    polls.resume(left)
    join(code.inst(f"load i64, ptr {code.offset(data, 'i64', str(parallel.PIECE))}"))
    code.jump(end)
    code.place(whole)
    yield
    code.jump(end)
    code.place(end)


def are_apart(code: Code, mine: str, n: str, others: Sequence[tuple[str, str]]) -> str:
    """Whether no two iterations of a loop touch one element of a buffer (an i1): its stride there is larger than all
    that the others, each with its size, cover, or theirs are larger than all that it covers in `n` iterations."""
    mine = _magnitude(code, mine)
    others = [(_magnitude(code, stride), size) for stride, size in others]
    if not others:
        return _at_least(code, mine, "1")
    covered = "1"
    for stride, size in others:
        covered = code.add(covered, code.mul(stride, code.sub(size, "1")))
    reach = code.mul(mine, code.sub(n, "1"))
    inside = [_at_least(code, mine, "1"), *(_at_least(code, s, code.add(reach, "1")) for s, _ in others)]
    return code.inst(f"or i1 {_at_least(code, mine, covered)}, {code.every(inside)}")


class _Split:
    """A nest that threads may share."""

    def __init__(self, code: Code, nest: Nest, operands: Sequence[Buffer | str], split: Split) -> None:
        self.code, self.nest, self.operands, self.split = code, nest, operands, split
        self.sizes = [code.product([_size(nest, operands, d) for d in lp.dims]) for lp in nest.loops]
        self.parts: list[tuple[FoldState, str, str]] = []
        """Of each fold its out, and the places of what the pieces come to."""

    def write(
        self, polls: Polls, symbol: str, passed: list[tuple[str, str]], failures: list[tuple[str, str]]
    ) -> None:
        """Calls the nest, or has threads do so. `passed`: what it works on."""
        code, split, n = self.code, self.split, self.sizes[self.split.depth]
        work = code.product([*self.sizes, str(split.cost)])
        grain = -split.grain if split.powers else split.grain
        limit = parallel.MOST_PARTS if split.folds else -1 if split.wide else 2**30
        it = Shared(symbol, passed, n, work, grain, limit)
        fits = self._blocks_fit if split.folds else self._are_apart
        moved = self._begin_parts if split.folds else dict
        with shared_by_threads(code, polls, it, fits, moved, self._join, failures):
            polls.resume(code.call("i64", symbol, [*polls.state(), ("i64", "0"), ("i64", n), *passed, *failures]))

    def _join(self, piece: str) -> None:
        if self.parts:
            full = self.code.inst(f"sdiv i64 {self.sizes[self.split.depth]}, {piece}")
            for fold, out, places in self.parts:
                fold.join(Scalars(self.code), places, full, out)

    def _blocks_fit(self) -> str:
        """Whether as many iterations of the outer loop as there are in a piece are a power of two of blocks (an i1)."""
        if not self.split.powers or len(self.sizes) == 1:
            return "true"
        code = self.code
        blocks = code.inst(f"sdiv i64 {code.add(self.sizes[-1], str(BLOCK - 1))}, {BLOCK}")
        blocks = code.product([*self.sizes[1:-1], blocks])
        bits = code.intrinsic("llvm.ctpop.i64", "i64", [("i64", blocks)])
        return code.icmp("eq", bits, "1")

    def _begin_parts(self) -> dict[str, tuple[str, int]]:
        """Makes places for what the pieces come to; by each out's pointer these places, and the bytes of one."""
        code, moved = self.code, dict[str, tuple[str, int]]()
        for k, f in enumerate(self.nest.folds):
            buffer = self.operands[f.out]
            assert isinstance(buffer, Buffer)
            element = buffer.type.element
            state = FoldState(code, f, element, k)
            places = code.slot(f"[{parallel.MOST_PARTS + 1} x {state.type}]", -3 - k, align=64)
            first = state.identity(buffer.pointer)
            with code.loop(str(parallel.MOST_PARTS + 1), metadata=code.loop_metadata(*code.as_it_stands())) as loop:
                code.store(element, first, code.offset(places, state.type, loop.index))
            moved[buffer.pointer] = places, element.itemsize
            self.parts.append((state, buffer.pointer, places))
        return moved

    def _are_apart(self) -> str:
        """Whether no two iterations of the loop that is split store to one element (an i1)."""
        code, nest, split, known = self.code, self.nest, self.split, []
        for o in (o for o in nest.operands if o.written):
            buffer = self.operands[o.index]
            assert isinstance(buffer, Buffer)
            axes: dict[int, str] = {}
            for axis, d in enumerate(nest.spec.maps[o.index].results):
                for depth in (k for k, lp in enumerate(nest.loops) if d == lp.dims[-1]):
                    axes[depth] = code.add(axes.get(depth, "0"), buffer.strides[axis])
            mine = axes.pop(split.depth)
            known.append(are_apart(code, mine, self.sizes[split.depth], [(s, self.sizes[k]) for k, s in axes.items()]))
        if split.wide:
            known.append(_at_least(code, self.sizes[split.depth], str(WIDE)))
        return code.every(known)


def _magnitude(code: Code, stride: str) -> str:
    if stride.lstrip("-").isdigit():
        return stride.lstrip("-")
    return code.intrinsic("llvm.abs.i64", "i64", [("i64", stride), ("i1", "false")])


def _at_least(code: Code, a: str, b: str) -> str:
    if a.isdigit() and b.isdigit():
        return "true" if int(a) >= int(b) else "false"
    return code.icmp("sge", a, b)


def _scopes_inside(inner: Code, scopes: Scopes, roots: Mapping[int, int]) -> Scopes:
    """The alias scopes of the storages that a nest works on, by their numbers inside."""
    if len(scopes) < 2 or len(roots) < 2:
        return Scopes({}, {})
    domain = inner.metadata("@", distinct=True)
    names = {k: inner.metadata(f"@, {domain}", distinct=True) for k in roots.values()}
    near = {k: frozenset(roots[s] for s in scopes.near[r] if s in roots) for r, k in roots.items()}
    return Scopes(names, near)
