"""What a call takes of memory, as formulas of the sizes of its arguments: `memory_of` of a memref program.

The program is run on sizes instead of arrays. Where it decides by what is not known, both ways are gone, each with
the flags that it sets, so that a free under a flag is seen as what it is; what they need is the greatest of all. A
loop is run until it comes back to what it began an iteration with, up to names of buffers: so what it needs at once
is that of all its iterations, and what it allocates is that of one, as many times as it runs. Of a size that only the
data decide a bound may be known (bounds.py); else it has a name of its own in the formulas, as has how often a loop
runs. Counts what `Counters` of backend/runtime/arena.py counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field, replace

from tracebuf.explain.bounds import Bound, counted_by, greatest_of, is_within, iterations, lower, upper
from tracebuf.explain.rounds import rounds_of
from tracebuf.frozen import frozen, plain
from tracebuf.ir.core import Block, Op, Value
from tracebuf.ir.dims import (
    Dim,
    Expr,
    Max,
    Min,
    Sym,
    add,
    dim_max,
    dim_min,
    evaluate,
    floordiv,
    mul,
    neg,
    product,
    sub,
    substitute,
    symbols,
    terms_of,
)  # fmt: skip
from tracebuf.ir.func import Func
from tracebuf.ir.types import I1, INDEX, MemRefType, ScalarType
from tracebuf.location import Location
from tracebuf.ops.arrays import bufferization
from tracebuf.ops.control import scf
from tracebuf.ops.control.checks import Check
from tracebuf.ops.memory import memref
from tracebuf.ops.memory.arena import Extent, Plan, Roaming, at_most, lines_exactly
from tracebuf.ops.scalars import arith
from tracebuf.process.display import displayed
from tracebuf.running.lines import GAPS, LINE, SMALL, rounded

MOST_PATHS = 512
"""How many ways through a program are gone."""


@frozen(slots=False)
@displayed
class Formula:
    """A number of bytes as a formula of the sizes: as text, and called with the sizes by name as a number.

    `exact` is False where paths of the program may take less, or a block of rows does: then it is an upper bound.
    `decided` says what the names are that no size of an argument has: of sizes that the data decide, and of how often
    loops run that these end. `unknown` says why there is no formula; then a call raises ValueError.

    >>> import numpy as np, tracebuf
    >>> peak = tracebuf.bufferize(lambda a: a + 1).lower(np.ones((3, 4))).memory().peak
    >>> str(peak), peak({"a.0": 100, "a.1": 10})
    ('8*a.0*a.1', 8000)
    """

    size: Dim = 0
    exact: bool = True
    unknown: str = ""
    decided: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        if self.unknown:
            return f"unknown: {self.unknown}"
        return str(self.size) if self.exact else f"at most {self.size}"

    @property
    def sizes(self) -> tuple[str, ...]:
        """The names of the sizes that it needs."""
        return tuple(s.name for s in sorted(symbols(self.size), key=lambda s: s.serial))

    def __call__(self, sizes: Mapping[str, int]) -> int:
        """The number of bytes with these sizes: of the program's arguments and what is `decided`, by the names in the
        formula.

        Raises ValueError where there is no formula, KeyError for a size that is missing.
        """
        if self.unknown:
            raise ValueError(f"not known: {self.unknown}")
        return evaluate(self.size, {s: sizes[s.name] for s in symbols(self.size)})


@frozen(slots=False)
@displayed
class MemoryUse:
    """What one call takes: `peak`, the most bytes that are alive at once; `allocated` and `copied` bytes in all;
    `arena`, what is kept from call to call for temporaries (in whole lines of 64 bytes for each). Results count;
    arguments and what called functions allocate by themselves do not.

    A loop is taken to run at least twice: one that runs less may take less.
    """

    peak: Formula
    allocated: Formula
    copied: Formula
    arena: Formula

    def __str__(self) -> str:
        formulas = {"peak": self.peak, "allocated": self.allocated, "copied": self.copied, "arena": self.arena}
        names = dict(row for formula in formulas.values() for row in formula.decided)
        width = max(9, *map(len, names)) + 1 if names else 10
        return "\n".join(f"{name:<{width}}{row}" for name, row in [*formulas.items(), *names.items()])


def memory_of(func: Func) -> MemoryUse:
    """The formulas of a memref program with frees and places (after assign-storage)."""
    return Paths(func).use()


class Unknown(Exception):
    """There is no formula, and why."""


@frozen(slots=False, checked=True)
class Amount:
    """Bytes, or why they are not known; of how many, at most."""

    size: Dim = 0
    unknown: str = ""
    exact: bool = True

    def plus(self, other: Amount) -> Amount:
        return Amount(add(self.size, other.size), self.unknown or other.unknown, self.exact and other.exact)

    def minus(self, other: Amount) -> Amount:
        return self.plus(replace(other, size=neg(other.size)))


def most(amounts: Iterable[Amount]) -> Amount:
    """The greatest; as exact as all of them where they are one."""
    found = list(dict.fromkeys(amounts))
    unknown = next((a.unknown for a in found if a.unknown), "")
    sizes = list(dict.fromkeys(a.size for a in found))
    kept = [a for k, a in enumerate(sizes) if not any(
        at_most(a, b) and (i < k or not at_most(b, a)) for i, b in enumerate(sizes) if i != k)]  # fmt: skip
    return Amount(dim_max(*kept), unknown, all(a.exact for a in found))


def at_most_roams(peak: Amount, roaming: Roaming) -> Amount:
    """Of the block in which buffers roam: what is in use at once in whole lines, and gaps (`_make_room` of
    backend/runtime/arena.py)."""
    used = add(peak.size, LINE * roaming.turns)
    return replace(peak, size=dim_max(add(used, floordiv(used, GAPS)), SMALL), exact=False)


@plain(eq=True)
class Path:
    """One way through the program so far. A buffer is given by its number in `made`."""

    env: dict[Value, object] = field(default_factory=dict)
    """What is known of a value: a size, a flag; of a memref ("made", number of the buffer) or ("given", argument)."""
    made: dict[int, tuple[Amount, bool]] = field(default_factory=dict)
    """By number the size of each buffer, and whether it is alive."""
    live: Amount = Amount()
    peak: Amount = Amount()
    allocated: Amount = Amount()
    copied: Amount = Amount()
    next: int = 0

    def fork(self) -> Path:
        return replace(self, env=dict(self.env), made=dict(self.made))


class Paths:
    def __init__(self, func: Func) -> None:
        self.func = func
        self.plan: Plan = func.attrs.get("arena", Plan())
        self.names: dict[Value, list[Sym]] = {}
        for s, v in func.symbols.items():
            self.names.setdefault(v, []).append(s)
        self.given = {s for a in func.args if isinstance(a.type, MemRefType) for d in a.type.shape for s in symbols(d)}
        self.given |= {s for s, v in func.symbols.items() if v.owner is func.block}
        self.blocks: dict[int, list[Amount]] = {}
        """By block of the arena what each phase needs."""
        self.ranges: list[Range] = []
        """Of the loops around."""
        self.bounds: dict[Sym, Bound] = {}
        """Of numbers that are not known."""
        self.bounded: dict[tuple[object, Bound], Sym] = {}
        self.decided: dict[Value | Op, Sym] = {}
        """The names of numbers that the data decide: sizes, and how often loops run."""
        self.meanings: dict[Sym, str] = {}

    def use(self) -> MemoryUse:
        start = Path()
        for k, arg in enumerate(self.func.args):
            if isinstance(arg.type, MemRefType):
                start.env[arg] = ("given", k)
            elif isinstance(arg.type, ScalarType) and (arg.type is INDEX or arg.type.is_integer):
                start.env[arg] = (self.names.get(arg) or [Sym(arg.name, "arg")])[0].expr
        try:
            ends = [path for path, _ in self.run(self.func.block, [start])]
        except Unknown as why:
            nothing = Formula(unknown=str(why))
            return MemoryUse(nothing, nothing, nothing, nothing)
        one = len(ends) == 1
        smaller = self.func.attrs.get("at_most", False)

        def of(amounts: Iterable[Amount]) -> Formula:
            found = list(dict.fromkeys(amounts))
            total = most(found)
            return self.formula(replace(total, exact=total.exact and (one or len(found) == 1)))

        def no_more(found: Formula) -> Formula:
            return replace(found, exact=found.exact and not smaller)

        held = Amount()
        for phases in self.blocks.values():
            held = held.plus(most(phases))
        if self.plan.roaming is not None:
            held = held.plus(most(at_most_roams(p.peak, self.plan.roaming) for p in ends))
        return MemoryUse(
            no_more(of(p.peak for p in ends)),
            no_more(of(p.allocated for p in ends)),
            of(p.copied for p in ends),
            no_more(self.formula(replace(held, exact=held.exact and one))),
        )

    def formula(self, amount: Amount) -> Formula:
        named = sorted(symbols(amount.size) & self.meanings.keys(), key=lambda s: s.serial)
        return Formula(amount.size, amount.exact, amount.unknown, tuple((s.name, self.meanings[s]) for s in named))

    # -- ops
    def run(self, block: Block, paths: list[Path]) -> list[tuple[Path, list[object]]]:
        """The ways through a block, each with what its terminator is given."""
        for op in block.ops[:-1]:
            after: list[Path] = []
            for path in paths:
                for phase in self.plan.phases.get(op, ()):
                    need = self.extent(phase.total, path, op).plus(self.extent(phase.above, path, op))
                    found = self.blocks.setdefault(0 if phase.floats else phase.block, [])
                    found += [] if need in found else [need]
                after += self.step(op, path)
            if len(after) > MOST_PATHS:
                raise Unknown(f"line {op.loc.line}: too many ways lead there")
            paths = after
        return [(p, [p.env.get(v) for v in block.terminator.operands]) for p in paths]

    def step(self, op: Op, path: Path) -> list[Path]:
        if isinstance(op, scf.If):
            return self.branch(op, path)
        if isinstance(op, scf.For):
            return self.loop(op, path)
        if isinstance(op, scf.While):
            return self.rounds(op, path)
        if isinstance(op, memref.Alloca):
            self.make(op, path, Amount())
            path.made[path.next - 1] = (Amount(), False)
        elif isinstance(op, memref.Alloc | bufferization.Clone):
            size = self.bytes_of(op.result, path, op)
            self.make(op, path, size)
            if isinstance(op, bufferization.Clone):
                path.copied = path.copied.plus(size)
        elif isinstance(op, memref.Dealloc):
            self.free(op, path)
        elif isinstance(op, memref.Copy) and op.attrs.get("reason") != "store":
            path.copied = path.copied.plus(self.bytes_of(op.operand(0), path, op))
        elif len(op.results) == 1:
            if (found := self.value(op, path)) is not None:
                path.env[op.result] = found
            else:
                path.env.pop(op.result, None)
        return [path]

    def make(self, op: Op, path: Path, size: Amount) -> None:
        path.env[op.result] = ("made", path.next)
        path.made[path.next] = (size, True)
        path.next += 1
        path.live = path.live.plus(size)
        path.allocated = path.allocated.plus(size)
        path.peak = most([path.peak, path.live])

    def free(self, op: memref.Dealloc, path: Path) -> None:
        buffer = path.env.get(memref.base_of(op.operand(0)))
        if not isinstance(buffer, tuple) or buffer[0] != "made":
            raise Unknown(f"line {op.loc.line}: which array dies there depends on the data")
        size, alive = path.made[buffer[1]]
        if alive:
            path.made[buffer[1]] = (size, False)
            path.live = path.live.minus(size)

    def bytes_of(self, value: Value, path: Path, op: Op) -> Amount:
        return self.amount(value.memref_type.byte_size, path, op)

    def amount(self, size: Dim, path: Path, op: Op) -> Amount:
        """A size by those of the arguments, or a bound of it; where the data decide it, by a name of its own."""
        env, unknown = dict[Sym, Dim](), dict[Sym, Bound]()
        for s in symbols(size) - self.given:
            found = path.env.get(self.func.symbols[s]) if s in self.func.symbols else None
            if number_like(found):
                env[s] = found  # type: ignore[assignment]
            else:
                unknown[s] = Bound(least(s))
        total = self.within(substitute(size, env), unknown)
        if total is not None:
            return total
        for s in symbols(size) & self.func.symbols.keys() - self.given:
            known = env.pop(s, None)
            most = None if known is None else upper(known, self.bounds)
            at = self.func.symbols[s]
            if most is None and self.is_once(at):
                env[s] = self.name(at, "found", op.loc)
            else:
                unknown[s] = Bound(least(s), self.name(at, "found", op.loc) if most is None else most)
        total = self.within(substitute(size, env), unknown)
        if total is not None:
            return total
        s = min(symbols(size) - self.given, key=lambda s: s.serial)
        return Amount(0, f"line {op.loc.line}: the size {s} depends on the data, or changes in a loop")

    def within(self, size: Dim, unknown: dict[Sym, Bound]) -> Amount | None:
        """A size, or what it is at most; None where that is not seen."""
        inside = {s: b for s, b in (unknown | self.bounds).items() if s in symbols(size)}
        if not inside:
            return Amount(size)
        greatest = upper(size, inside)
        return None if greatest is None else Amount(greatest, exact=False)

    def name(self, key: Value | Op, word: str, loc: Location) -> Expr:
        """The name of a number that the data decide."""
        loc = key.owner.loc if isinstance(key, Value) and isinstance(key.owner, Op) else loc
        if (found := self.decided.get(key)) is None:
            name = f"{word}_{loc.line}"
            same = sum(s.name.startswith(name) for s in self.meanings)
            found = self.decided[key] = Sym(f"{name}{chr(ord('a') + same)}" if same else name, "opaque", 0)
            what = f"how often the loop of line {loc.line} runs"
            if isinstance(key, Value):
                what = f"a number that line {loc.line} finds in the data" + ("" if self.is_once(key) else ", at most")
            self.meanings[found] = what
        return found.expr

    def is_once(self, value: Value) -> bool:
        """Whether a value is no other one in each iteration of a loop."""
        return (value.owner if isinstance(value.owner, Block) else value.owner.block) is self.func.block

    def extent(self, extent: Extent, path: Path, op: Op) -> Amount:
        """An extent in bytes."""
        sums = []
        for s in extent.sums:
            total = Amount()
            for size, count in s:
                found = self.amount(size, path, op)
                for counted in reversed(self.ranges):
                    found = at_most_in(found, counted, f"line {op.loc.line}: {CHANGE}")
                total = total.plus(replace(found, size=mul(in_lines(found.size), count)))
            sums.append(total)
        return most(sums)

    # -- numbers and flags
    def value(self, op: Op, path: Path) -> object:
        """What is known of the result of an op without regions."""
        result = op.result
        if isinstance(result.type, MemRefType):
            return path.env.get(op.operand(0)) if isinstance(op, memref.VIEW_OPS) else None
        args = [path.env.get(v) for v in op.operands]
        if isinstance(op, arith.Constant):
            value = op.attrs["value"]
            return value if isinstance(value, bool | int) else None
        if isinstance(op, memref.Dim) and (dim := memref.dimension(op)) is not None:
            n = self.amount(op.operand(0).memref_type.shape[dim], path, op)
            if n.unknown:
                return None
            return n.size if n.exact else self.number_of(op, Bound(0, n.size))
        if isinstance(op, memref.Load):
            return self.count(op, path)
        if isinstance(op, arith.Select) and args[0] is None and number_like(args[1]) and number_like(args[2]):
            return args[1] if args[1] == args[2] else self.either(op, args[1:])  # type: ignore[arg-type]
        if isinstance(op, bufferization.SameBase):
            return same(*args)
        if result.type is I1:
            return flag(op, args)
        return number(op, args)

    # -- numbers that are not known, between bounds
    def number_of(self, key: object, bound: Bound) -> Expr | None:
        """A symbol for a number that the data decide, one for each of these keys and bounds."""
        if bound == Bound():
            return None
        if (found := self.bounded.get((key, bound))) is None:
            found = self.bounded[key, bound] = Sym("bounded", "opaque")
            self.bounds[found] = bound
        return found.expr

    def count(self, op: memref.Load, path: Path) -> Expr | None:
        """How many elements of a mask are true."""
        if op.operand(0).memref_type.rank or (counts := counted_by(op.operand(0))) is None:
            return None
        sizes = [self.amount(d, path, op) for d in iterations(counts) or ()]
        if not sizes or any(a.unknown for a in sizes):
            return None
        return self.number_of(counts, Bound(0, product(a.size for a in sizes)))

    def either(self, op: Op, values: Sequence[Dim]) -> Expr | None:
        """One of two numbers."""
        smallest, greatest = ([bound(v, self.bounds) for v in values] for bound in (lower, upper))
        natural = any(least(s) == 0 for s in self.names.get(op.result, ()))
        natural = natural or all(n is not None and at_most(0, n) for n in smallest)
        known = [n for n in greatest if n is not None]
        hi = greatest_of(known) if len(known) == len(greatest) else None
        return self.number_of(op, Bound(0 if natural else None, hi))

    def fits(self, value: object, carried: object) -> bool:
        """Whether a number is within the bounds of the one that a loop carries."""
        bound = self.bound_of(carried)
        if bound is None or not number_like(value):
            return False
        least, greatest = lower(value, self.bounds), upper(value, self.bounds)  # type: ignore[arg-type]
        above = bound.lo is None or (least is not None and at_most(bound.lo, least))
        return above and (bound.hi is None or (greatest is not None and is_within(greatest, bound.hi)))

    def again(self, value: object, carried: object) -> object:
        """What is known of a value with which the next iteration begins."""
        if value == carried or not number_like(carried):
            return value
        return carried if self.fits(value, carried) else None

    def bound_of(self, value: object) -> Bound | None:
        (s,) = symbols(value) if isinstance(value, Expr) and len(symbols(value)) == 1 else (None,)
        return self.bounds.get(s) if s is not None and value == s.expr else None

    def counters(self, op: Op) -> list[Sym]:
        """The symbols of what a loop counts."""
        return self.names.get(op.body.args[0], []) if isinstance(op, scf.For) else []

    def widened(self, key: tuple[Op, int], carried: Dim, values: Sequence[object]) -> Expr | None:
        """For a number that a loop changes: one that is natural, or at most the initial one and that after the first
        iteration, if that is so."""
        bound = self.bound_of(carried)
        if bound is None or (key, bound) not in self.bounded:
            least = lower(carried, self.bounds)
            natural = least is not None and at_most(0, least)
            most = [upper(v, self.bounds) if number_like(v) else None for v in (carried, *values)]  # type: ignore[arg-type]
            known = [m for m in most if m is not None]
            after = greatest_of(known) if len(known) == len(most) else 0
            steady = isinstance(after, Expr) and symbols(after).isdisjoint(self.counters(key[0]))
            hi = after if steady else most[0]
            return self.number_of(key, Bound(0 if natural else None, hi))
        sides = [Bound(lo=bound.lo), Bound(hi=bound.hi)]
        kept = [s for s in sides if s != Bound() and all(self._is_within(v, s) for v in values)]
        return self.number_of(key, kept[0]) if kept and len(kept) < 2 else None

    def _is_within(self, value: object, bound: Bound) -> bool:
        return self.fits(value, self.number_of("side", bound))

    # -- control flow
    def branch(self, op: scf.If, path: Path) -> list[Path]:
        condition = path.env.get(op.operand(0))
        ways = [0 if condition else 1] if isinstance(condition, bool) else [0, 1]
        if len(ways) > 1 and takes_no_memory(op):
            return [path]
        found = []
        for way in ways:
            mine = path.fork() if len(ways) > 1 else path
            if len(ways) > 1:
                mine.env[op.operand(0)] = way == 0
            block = op.branches[way]
            for end, values in self.run(block, [mine]):
                for inner in block.ops:  # nobody asks for these again
                    for r in inner.results:
                        end.env.pop(r, None)
                if len(ways) > 1 and len(op.operand(0).uses) == 1:
                    end.env.pop(op.operand(0), None)
                end.env.update(zip(op.results, values, strict=True))
                found.append(end)
        return merged(found) if len(found) > 1 else found

    def loop(self, op: scf.For, path: Path) -> list[Path]:
        first, end, step = (path.env.get(v) for v in op.operands[:3])
        names, counted = self.counters(op), None
        if number_like(first) and number_like(end) and isinstance(step, int) and step > 0:
            trips = floordiv(add(sub(end, first), step - 1), step)  # type: ignore[arg-type]
            trips = trips if at_most(0, trips) else dim_max(trips, 0)
            if symbols(trips).isdisjoint(self.bounds) and symbols(first).isdisjoint(self.bounds):  # type: ignore[arg-type]
                counted = Range(tuple(names), first, step, trips)  # type: ignore[arg-type]

        def body(start: Path, carried: Sequence[object]) -> list[tuple[Path, list[object]]]:
            start.env.update(zip(op.body.args[1:], carried, strict=True))
            start.env[op.body.args[0]] = names[0].expr if names else None
            return self.run(op.body, [start])

        inits = [path.env.get(v) for v in op.operands[3:]]
        if counted is not None:
            self.ranges.append(counted)
        try:
            return self.rounds_of(op, path, inits, body, counted)
        finally:
            if counted is not None:
                self.ranges.pop()

    def rounds(self, op: scf.While, path: Path) -> list[Path]:
        def body(start: Path, carried: Sequence[object]) -> list[tuple[Path, list[object]]]:
            start.env.update(zip(op.before.args, carried, strict=True))
            found = []
            for mid, (_, *passed) in self.run(op.before, [start]):
                out = mid.fork()
                out.env.update(zip(op.results, passed, strict=True))
                leaving.append(out)
                mid.env.update(zip(op.after.args, passed, strict=True))
                found += self.run(op.after, [mid])
            return found

        leaving: list[Path] = []
        inits = [path.env.get(v) for v in op.operands]
        ends = self.rounds_of(op, path, inits, body, None, self.most_rounds(op, path, inits))
        spent = most([p.allocated for p in ends]), most([p.copied for p in ends])
        peak = most([p.peak for p in (*ends, *leaving)])
        peak = peak if peak == path.peak else replace(peak, exact=False)
        return merged([replace(p, allocated=spent[0], copied=spent[1], peak=peak) for p in leaving])

    def most_rounds(self, op: scf.While, path: Path, inits: Sequence[object]) -> Dim | None:
        """How often the loop's condition is looked at, at most."""
        found = rounds_of(op)
        if found is None:
            return None
        first, end = inits[found.number], self.computed(found.end, path)
        if not number_like(first) or not number_like(end):
            return None
        times = floordiv(add(sub(end, first), found.step - 1 + found.equal), found.step)  # type: ignore[arg-type]
        return add(dim_max(times, 0), 1) if symbols(times).isdisjoint(self.bounds) else None

    def computed(self, value: Value, path: Path) -> object:
        """What is known of a number, also where the op that gives it comes later."""
        op = value.defining_op
        if value in path.env or op is None:
            return path.env.get(value)
        if isinstance(op, arith.Constant):
            return self.value(op, path)
        return number(op, [self.computed(v, path) for v in op.operands])

    def rounds_of(
        self,
        op: scf.Loop,
        path: Path,
        inits: Sequence[object],
        body: Callable[[Path, Sequence[object]], list[tuple[Path, list[object]]]],
        counted: Range | None,
        rounds: Dim | None = None,
    ) -> list[Path]:
        """The ways through a loop: from each state that an iteration may begin with, one iteration. `rounds`: how many
        there are at most."""
        carried = self.steady(op, path, inits, body)
        why = f"line {op.loc.line}: {CHANGE}"
        work, seen, ends = [(path.fork(), carried)], set[object](), [(path, carried)]
        each: list[tuple[Amount, Amount]] = []
        peaks: list[Amount] = [path.peak]
        while work:
            start, values = work.pop()
            key = state(start, values, path.next)
            if key in seen:
                continue
            seen.add(key)
            if len(seen) > MOST_PATHS:
                raise Unknown(f"line {op.loc.line}: too many ways lead through the loop")
            before = start.allocated, start.copied
            found = body(start.fork(), values)
            certain = len({end.peak for end, _ in found}) == 1
            for end, new in found:
                new = [self.again(v, c) for v, c in zip(new, carried)]
                peaks.append(end.peak if certain else replace(end.peak, exact=False))
                each.append((end.allocated.minus(before[0]), end.copied.minus(before[1])))
                end.env = {**path.env, **{v: e for v, e in end.env.items() if v in path.env}}
                work.append((end, new))
                ends.append((end, new))
        several = len(set(each)) > 1
        spent = [replace(most(a), exact=most(a).exact and not several) for a in zip(*each)] or [Amount(), Amount()]
        if counted is None and rounds is None and any(a.size != 0 for a in spent):
            rounds = self.name(op, "rounds", op.loc)
            rounds = add(rounds, 1) if isinstance(op, scf.While) else rounds
        if counted is None and rounds is not None:
            totals = [replace(a, size=mul(rounds, a.size), exact=a.size == 0 and a.exact) for a in spent]
        else:
            totals = [summed(a, counted, why) for a in spent]
        peak = at_most_in(most(peaks), counted, why)
        if counted is None and peak != path.peak:
            peak = replace(peak, exact=False)
        left = []
        for end, values in ends:
            end = replace(
                end.fork(),
                peak=peak,
                allocated=path.allocated.plus(totals[0]),
                copied=path.copied.plus(totals[1]),
            )
            if isinstance(op, scf.For):
                end.env.update(zip(op.results, values, strict=True))
            left.append(end)
        return merged(left[1:] or left)

    def steady(
        self,
        op: Op,
        path: Path,
        inits: Sequence[object],
        body: Callable[[Path, Sequence[object]], list[tuple[Path, list[object]]]],
    ) -> list[object]:
        """The initial values, but of numbers that change what is known of them in each iteration."""
        carried = list(inits)
        while True:
            found = body(path.fork(), carried)
            moved: dict[int, list[object]] = {}
            for _, new in found:
                for k, (a, b) in enumerate(zip(carried, new)):
                    if number_like(a) and a != b and not self.fits(b, a):
                        moved.setdefault(k, []).append(b)
            if not moved:
                return carried
            for k, values in moved.items():
                carried[k] = self.widened((op, k), carried[k], values)  # type: ignore[arg-type]


def least(s: Sym) -> Dim | None:
    return 0 if s.lo is not None and s.lo >= 0 else None


def number_like(value: object) -> bool:
    return isinstance(value, int | Expr) and not isinstance(value, bool)


def in_lines(size: Dim) -> Dim:
    """Bytes in whole lines."""
    if isinstance(size, int):
        return rounded(size)
    return size if lines_exactly(size) else mul(floordiv(add(size, LINE - 1), LINE), LINE)


CHANGE = "sizes change in the loop"


@frozen(slots=False)
class Range:
    """What the variable of a loop counts: from `first`, by `step`, so many times."""

    variables: tuple[Sym, ...]
    first: Dim
    step: int
    trips: Dim

    def at(self, size: Dim, number: Dim) -> Dim:
        """A size in the iteration of that number."""
        now = add(self.first, mul(number, self.step))
        return substitute(size, dict.fromkeys(self.variables, now))

    def bends_up(self, size: Dim) -> bool:
        """Whether a size is greatest in the first or the last iteration, as far as is seen: it is convex."""
        for mono, c in terms_of(size).items():
            inside = [a for a in mono if not a.symbols.isdisjoint(self.variables)]
            if not inside or len(inside) == 1 and isinstance(inside[0], Sym):
                continue
            (atom, *more) = inside
            if all(isinstance(a, Sym) for a in inside) and c > 0:
                continue
            kind = Max if c > 0 else Min
            straight = isinstance(atom, kind) and all(self.bends_up(x) and self.bends_up(neg(x)) for x in atom.args)
            if more or not straight:
                return False
        return True


def at_most_in(amount: Amount, counted: Range | None, why: str) -> Amount:
    """The most that an amount is in a loop."""
    if counted is None or symbols(amount.size).isdisjoint(counted.variables):
        return amount
    if not counted.bends_up(amount.size):
        last = add(counted.first, mul(sub(counted.trips, 1), counted.step))
        greatest = upper(amount.size, dict.fromkeys(counted.variables, Bound(counted.first, last)))
        return Amount(0, why) if greatest is None else replace(amount, size=greatest, exact=False)
    ends = (counted.at(amount.size, 0), counted.at(amount.size, sub(counted.trips, 1)))
    return replace(amount, size=most(map(Amount, ends)).size, exact=False)


def summed(amount: Amount, counted: Range | None, why: str) -> Amount:
    """What an amount of each iteration comes to."""
    if amount.unknown or amount.size == 0 or counted is None:
        return amount
    if symbols(amount.size).isdisjoint(counted.variables):
        return replace(amount, size=mul(counted.trips, amount.size))
    first = counted.at(amount.size, 0)
    step = sub(substitute(amount.size, {v: add(v.expr, counted.step) for v in counted.variables}), amount.size)
    if symbols(step).isdisjoint(counted.variables):
        pairs = floordiv(mul(counted.trips, sub(counted.trips, 1)), 2)
        return replace(amount, size=add(mul(counted.trips, first), mul(step, pairs)))
    found = at_most_in(amount, counted, why)
    return replace(found, size=mul(counted.trips, found.size), exact=False)


def state(path: Path, carried: Sequence[object], first: int) -> object:
    """What an iteration begins with, up to the numbers of the buffers that the loop has made."""
    order: dict[int, int] = {}
    parts: list[object] = []
    for value in carried:
        if isinstance(value, tuple) and value[0] == "made" and value[1] >= first:
            parts.append(("new", order.setdefault(value[1], len(order)), path.made[value[1]]))
        else:
            parts.append(value)
    others = [made for n, made in path.made.items() if n < first]
    rest = [made for n, made in path.made.items() if n >= first and made[1] and n not in order]
    return (*parts, tuple(others), len(rest), path.live)


def takes_no_memory(op: scf.If) -> bool:
    """Whether no branch of the op takes, frees or copies memory, or gives anything that sizes or later branches may be
    told by: then it is as if it were not there."""
    if any(r.type in (I1, INDEX) or not isinstance(r.type, ScalarType) for r in op.results):
        return False
    ops = [o for block in op.branches for o in block.ops]
    return all(isinstance(o, arith.ScalarOp | scf.Yield | Check) and not o.regions for o in ops)


def merged(paths: list[Path]) -> list[Path]:
    """Paths of which nothing differs but what they took are one, which took the most."""
    found: dict[object, Path] = {}
    for path in paths:
        asked = {x[1] for x in path.env.values() if isinstance(x, tuple) and x[0] == "made"}
        path.made = {n: made for n, made in path.made.items() if made[1] or n in asked}
        numbers = {n: k for k, n in enumerate(path.made)}
        key = (
            tuple((id(v), renumbered(x, numbers)) for v, x in path.env.items() if x is not None),
            tuple(path.made.values()),
            path.live,
        )
        first = found.get(key)
        if first is None:
            found[key] = path
            continue
        found[key] = replace(
            first,
            peak=together(first.peak, path.peak),
            allocated=together(first.allocated, path.allocated),
            copied=together(first.copied, path.copied),
        )
    return list(found.values())


def together(a: Amount, b: Amount) -> Amount:
    return a if a == b else replace(most([a, b]), exact=False)


def renumbered(value: object, numbers: Mapping[int, int]) -> object:
    if isinstance(value, tuple) and value[0] == "made":
        return ("made", numbers[value[1]])
    return (type(value), value)


def same(a: object, b: object) -> bool | None:
    """Whether two memrefs have one base."""
    if not isinstance(a, tuple) or not isinstance(b, tuple):
        return None
    if a == b:
        return True
    return None if a[0] == b[0] == "given" else False


def flag(op: Op, args: Sequence[object]) -> bool | None:
    """A flag of flags, or a comparison of sizes whose difference is known."""
    a, b = (*args, None, None)[:2]
    if isinstance(op, arith.AndI | arith.OrI):
        absorbing = isinstance(op, arith.OrI)
        if a is absorbing or b is absorbing:
            return absorbing
        return (not absorbing) if isinstance(a, bool) and isinstance(b, bool) else None
    if isinstance(op, arith.XorI):
        return a != b if isinstance(a, bool) and isinstance(b, bool) else None
    if isinstance(op, arith.CmpI) and number_like(a) and number_like(b):
        more = sub(a, b)  # type: ignore[arg-type]
        if isinstance(more, int):
            decide = COMPARISONS.get(op.attrs["predicate"])
            return None if decide is None else decide(more)
    return None


COMPARISONS: dict[str, Callable[[int], bool]] = {
    "eq": lambda n: n == 0, "ne": lambda n: n != 0, "slt": lambda n: n < 0, "sle": lambda n: n <= 0,
    "sgt": lambda n: n > 0, "sge": lambda n: n >= 0,
}  # fmt: skip
NUMBERS: dict[str, Callable[[Dim, Dim], Dim]] = {
    "arith.addi": add, "arith.subi": sub, "arith.muli": mul, "arith.maxsi": dim_max, "arith.minsi": dim_min,
}  # fmt: skip


def number(op: Op, args: Sequence[object]) -> Dim | None:
    """An integer by those that it is computed from."""
    if op.name == "arith.index_cast" and number_like(args[0]):
        return args[0]  # type: ignore[return-value]
    if isinstance(op, arith.Select) and isinstance(args[0], bool):
        chosen = args[1] if args[0] else args[2]
        return chosen if number_like(chosen) else None  # type: ignore[return-value]
    if len(args) == 2 and all(map(number_like, args)):
        if op.name in NUMBERS:
            return NUMBERS[op.name](*args)  # type: ignore[arg-type]
        if op.name in ("arith.floordivsi", "arith.divui") and args[1] != 0:
            return floordiv(*args)  # type: ignore[arg-type]
    return None
