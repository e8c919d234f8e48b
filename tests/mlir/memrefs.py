"""Random programs of buffers in MLIR's generic form: allocations anywhere, branches, loops of branches, structured
loops, selects, views, calls, buffers as arguments of blocks. None frees; all end.

`f(c0, c1, c2, c3, n, a, b, log)` returns up to two buffers. Every buffer has the type memref<4xi64>; what is read is
added to `log`, so that what a program reads can be told from its arguments afterwards. Where callees may return their
arguments, nothing but `log` and new buffers is stored to: deallocation puts clones there.
"""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass, field

BUFFER = "memref<4xi64>"
VIEW = "memref<2xi64, strided<[1], offset: 1>>"
ARGS = (*(("i1", f"%c{k}") for k in range(4)), ("index", "%n"), *((BUFFER, f"%{w}") for w in ("a", "b", "log")))
FLAGS = tuple(f"%c{k}" for k in range(4))

CALLEES = {
    "fresh": (
        '%r = "memref.alloc"() <{operandSegmentSizes = array<i32: 0, 0>}> : () -> ' + BUFFER + "\n"
        f'"memref.copy"(%x, %r) : ({BUFFER}, {BUFFER}) -> ()'
    ),
    "meeting": (
        '"cf.cond_br"(%c)[^p, ^q] <{operandSegmentSizes = array<i32: 1, 0, 0>}> : (i1) -> ()\n^p:\n'
        f'%m = "memref.alloc"() <{{operandSegmentSizes = array<i32: 0, 0>}}> : () -> {BUFFER}\n'
        f'"memref.copy"(%y, %m) : ({BUFFER}, {BUFFER}) -> ()\n"cf.br"(%m)[^q2] : ({BUFFER}) -> ()\n^q:\n'
        f'"cf.br"(%x)[^q2] : ({BUFFER}) -> ()\n^q2(%r: {BUFFER}):'
    ),
    "either": f'%r = "arith.select"(%c, %x, %y) : (i1, {BUFFER}, {BUFFER}) -> {BUFFER}',
    "sometimes": (
        f'%r = "scf.if"(%c) ({{\n%m = "memref.alloc"() <{{operandSegmentSizes = array<i32: 0, 0>}}> : () -> {BUFFER}\n'
        f'"memref.copy"(%y, %m) : ({BUFFER}, {BUFFER}) -> ()\n"scf.yield"(%m) : ({BUFFER}) -> ()\n}}, {{\n'
        f'"scf.yield"(%x) : ({BUFFER}) -> ()\n}}) : (i1) -> {BUFFER}'
    ),
}


@dataclass
class Writer:
    rng: random.Random
    lines: list[str] = field(default_factory=list)
    count: int = 0
    budget: int = 14
    frozen: bool = False
    called: set[str] = field(default_factory=set)
    depth: int = 0
    nested: int = 0
    loops: bool = True
    calls: bool = True

    def name(self, kind: str = "v") -> str:
        self.count += 1
        return f"%{kind}{self.count}"

    def add(self, line: str) -> None:
        self.lines.append(line)

    def op(self, text: str, kind: str = "v") -> str:
        result = self.name(kind)
        self.add(f"{result} = {text}")
        return result

    def index(self, value: int) -> str:
        return self.op(f'"arith.constant"() <{{value = {value} : index}}> : () -> index', "i")

    def integer(self, value: int) -> str:
        return self.op(f'"arith.constant"() <{{value = {value} : i64}}> : () -> i64', "k")

    def flag(self, buffers: list[str]) -> str:
        """A condition: an argument, or whether an element is even."""
        if self.rng.random() < 0.7:
            return self.rng.choice(FLAGS)
        x = self.load(self.rng.choice(buffers), self.rng.randrange(4))
        one, zero = self.integer(1), self.integer(0)
        low = self.op(f'"arith.andi"({x}, {one}) : (i64, i64) -> i64', "k")
        return self.op(f'"arith.cmpi"({low}, {zero}) <{{predicate = 0 : i64}}> : (i64, i64) -> i1', "p")

    def load(self, buffer: str, at: int) -> str:
        return self.op(f'"memref.load"({buffer}, {self.index(at)}) : ({BUFFER}, index) -> i64', "k")

    def store(self, buffer: str, value: str, at: int) -> None:
        self.add(f'"memref.store"({value}, {buffer}, {self.index(at)}) : (i64, {BUFFER}, index) -> ()')

    def log(self, buffers: list[str]) -> None:
        buffer, at = self.rng.choice(buffers), self.rng.randrange(4)
        x, before = self.load(buffer, at), self.load("%log", at)
        three = self.integer(3)
        more = self.op(f'"arith.muli"({before}, {three}) : (i64, i64) -> i64', "k")
        self.store("%log", self.op(f'"arith.addi"({more}, {x}) : (i64, i64) -> i64', "k"), at)

    # -- statements; `buffers` are those in scope
    def statements(self, buffers: list[str], most: int) -> None:
        for _ in range(self.rng.randint(1, most)):
            self.statement(buffers)

    def statement(self, buffers: list[str]) -> None:
        self.budget -= 1
        kinds = ["new", "new", "write", "log", "select", "view", "cast"]
        if self.budget > 0 and self.depth < 3:
            kinds += ["if_", "if_", "for_", "while_", *["call"] * self.calls]
        getattr(self, self.rng.choice(kinds))(buffers)

    def new(self, buffers: list[str]) -> None:
        kind = "memref.alloca" if self.rng.random() < 0.15 else "memref.alloc"
        made = self.op(f'"{kind}"() <{{operandSegmentSizes = array<i32: 0, 0>}}> : () -> {BUFFER}', "m")
        self.add(f'"memref.copy"({self.rng.choice(buffers)}, {made}) : ({BUFFER}, {BUFFER}) -> ()')
        self.store(made, self.integer(self.rng.randrange(9)), self.rng.randrange(4))
        buffers.append(made)

    def write(self, buffers: list[str]) -> None:
        if self.frozen:
            return self.log(buffers)
        self.store(self.rng.choice(buffers), self.integer(self.rng.randrange(9)), self.rng.randrange(4))

    def select(self, buffers: list[str]) -> None:
        a, b = self.rng.choice(buffers), self.rng.choice(buffers)
        buffers.append(
            self.op(f'"arith.select"({self.flag(buffers)}, {a}, {b}) : (i1, {BUFFER}, {BUFFER}) -> {BUFFER}', "m")
        )

    def view(self, buffers: list[str]) -> None:
        shape = "static_offsets = array<i64: 1>, static_sizes = array<i64: 2>, static_strides = array<i64: 1>"
        part = self.op(
            f'"memref.subview"({self.rng.choice(buffers)}) <{{operandSegmentSizes = array<i32: 1, 0, 0, 0>, {shape}}}>'
            f" : ({BUFFER}) -> {VIEW}"
        )
        at = self.index(self.rng.randrange(2))
        if not self.frozen and self.rng.random() < 0.5:
            self.add(f'"memref.store"({self.integer(7)}, {part}, {at}) : (i64, {VIEW}, index) -> ()')
        else:
            x = self.op(f'"memref.load"({part}, {at}) : ({VIEW}, index) -> i64', "k")
            self.store("%log", x, self.rng.randrange(4))

    def cast(self, buffers: list[str]) -> None:
        there = self.op(f'"memref.cast"({self.rng.choice(buffers)}) : ({BUFFER}) -> memref<?xi64>')
        buffers.append(self.op(f'"memref.cast"({there}) : (memref<?xi64>) -> {BUFFER}', "m"))

    def if_(self, buffers: list[str]) -> None:
        n = self.rng.randint(0, 2)
        condition = self.flag(buffers)
        results = [self.name("m") for _ in range(n)]
        left = f"{', '.join(results)} = " if results else ""
        self.add(f'{left}"scf.if"({condition}) ({{')
        for k in range(2):
            inner = self.inside(buffers)
            self.end("scf.yield", [self.rng.choice(inner) for _ in range(n)])
            self.add("}, {" if k == 0 else f"}}) : (i1) -> {types(n)}")
        buffers += results

    def inside(self, buffers: list[str], args: Iterable[str] = ()) -> list[str]:
        """Statements of a region; the buffers in scope at its end."""
        inner = [*buffers, *args]
        self.depth += 1
        self.statements(inner, 3)
        self.depth -= 1
        return inner

    def end(self, name: str, values: list[str], first: str = "", first_type: str = "") -> None:
        given = [*([first] if first else []), *values]
        kinds = [*([first_type] if first else []), *[BUFFER] * len(values)]
        self.add(f'"{name}"({listed(given)}) : ({listed(kinds)}) -> ()')

    def for_(self, buffers: list[str]) -> None:
        n = self.rng.randint(0, 2)
        bounds = [self.index(0), self.op(self.trips(), "i"), self.index(1)]
        inits = [self.rng.choice(buffers) for _ in range(n)]
        results, args = [self.name("m") for _ in range(n)], [self.name("m") for _ in range(n)]
        left = f"{', '.join(results)} = " if results else ""
        self.add(f'{left}"scf.for"({listed([*bounds, *inits])}) ({{')
        self.add(f"^bb0({self.name('i')}: index{typed(args)}):")
        inner = self.inside(buffers, args)
        self.end("scf.yield", [self.rng.choice([*args, *inner]) for _ in range(n)])
        self.add(f"}}) : (index, index, index{more(n)}) -> {types(n)}")
        buffers += results

    def trips(self) -> str:
        zero = self.index(0)
        return f'"arith.addi"(%n, {zero}) : (index, index) -> index'

    def while_(self, buffers: list[str]) -> None:
        n = self.rng.randint(1, 2)
        start, inits = self.index(0), [self.rng.choice(buffers) for _ in range(n)]
        results, args, after = ([self.name("m") for _ in range(n)] for _ in range(3))
        i, j = self.name("i"), self.name("i")
        self.add(f'{self.name("i")}, {listed(results)} = "scf.while"({listed([start, *inits])}) ({{')
        self.add(f"^bb0({i}: index{typed(args)}):")
        inner = self.inside(buffers, args)
        go = self.op(f'"arith.cmpi"({i}, %n) <{{predicate = 2 : i64}}> : (index, index) -> i1', "p")
        forwarded = [self.rng.choice([*args, *inner]) for _ in range(n)]
        self.add(f'"scf.condition"({listed([go, i, *forwarded])}) : (i1, index{more(n)}) -> ()')
        self.add("}, {")
        self.add(f"^bb0({j}: index{typed(after)}):")
        inner = self.inside(buffers, after)
        one = self.index(1)
        k = self.op(f'"arith.addi"({j}, {one}) : (index, index) -> index', "i")
        self.end("scf.yield", [self.rng.choice([*after, *inner]) for _ in range(n)], k, "index")
        self.add(f"}}) : (index{more(n)}) -> (index{more(n)})")
        buffers += results

    def call(self, buffers: list[str]) -> None:
        callee = self.rng.choice(list(CALLEES) if self.frozen else ["fresh"])
        self.called.add(callee)
        c, x, y = self.flag(buffers), self.rng.choice(buffers), self.rng.choice(buffers)
        text = f'"func.call"({c}, {x}, {y}) <{{callee = @{callee}}}> : (i1, {BUFFER}, {BUFFER}) -> {BUFFER}'
        buffers.append(self.op(text, "m"))

    # -- blocks
    def block(self, label: str, args: list[str]) -> None:
        given = ", ".join(f"{a}: {BUFFER}" for a in args)
        self.add(f"{label}({given}):" if args else f"{label}:")

    def within(self, buffers: list[str], args: Iterable[str] = ()) -> list[str]:
        """Statements of a block, sometimes with blocks that branch after it; the buffers in scope at the end."""
        inner = self.inside(buffers, args)
        if self.nested < 2 and self.rng.random() < 0.25:
            self.nested += 1
            self.flow(inner)
            self.nested -= 1
        return inner

    def flow(self, buffers: list[str]) -> None:
        self.rng.choice([self.diamond, self.loop if self.loops else self.diamond])(buffers)

    def diamond(self, buffers: list[str]) -> None:
        """Two blocks that meet, or one that is left out; sometimes one returns."""
        n, join, sides = self.rng.randint(0, 2), self.name("^b")[1:], [self.name("^b")[1:] for _ in range(2)]
        args = [self.name("m") for _ in range(n)]
        straight = self.rng.random() < 0.3
        condition = self.flag(buffers)
        passed = [self.rng.choice(buffers) for _ in range(n)] if straight else []
        sizes = f"<{{operandSegmentSizes = array<i32: 1, {len(passed)}, 0>}}>"
        first = join if straight else sides[0]
        self.add(
            f'"cf.cond_br"({listed([condition, *passed])})[{first}, {sides[1]}] {sizes} : (i1{more(len(passed))}) -> ()'
        )
        for side in sides[straight:]:
            self.block(side, [])
            inner = self.within(buffers)
            if side is sides[1] and self.rng.random() < 0.15:
                self.give_back(inner)
            else:
                self.branch(join, [self.rng.choice(inner) for _ in range(n)])
        self.block(join, args)
        buffers += args

    def loop(self, buffers: list[str]) -> None:
        """Blocks that branch back, the counter first."""
        n, (head, body, done) = self.rng.randint(0, 2), (self.name("^b")[1:] for _ in range(3))
        args, i, zero = [self.name("m") for _ in range(n)], self.name("i"), self.index(0)
        self.branch(head, [self.rng.choice(buffers) for _ in range(n)], zero)
        self.add(f"{head}({i}: index{typed(args)}):")
        inner = self.inside(buffers, args)
        go = self.op(f'"arith.cmpi"({i}, %n) <{{predicate = 2 : i64}}> : (index, index) -> i1', "p")
        out = self.rng.randint(0, 1)
        results = [self.name("m") for _ in range(out)]
        passed = [self.rng.choice(inner) for _ in range(out)]
        sizes = f"<{{operandSegmentSizes = array<i32: 1, 0, {out}>}}>"
        self.add(f'"cf.cond_br"({listed([go, *passed])})[{body}, {done}] {sizes} : (i1{more(out)}) -> ()')
        self.block(body, [])
        inner = self.within(inner)
        one = self.index(1)
        k = self.op(f'"arith.addi"({i}, {one}) : (index, index) -> index', "i")
        self.branch(head, [self.rng.choice(inner) for _ in range(n)], k)
        self.block(done, results)
        buffers += [*args, *results]

    def branch(self, target: str, values: list[str], first: str = "") -> None:
        given, kinds = [*([first] if first else []), *values], [*(["index"] if first else []), *[BUFFER] * len(values)]
        self.add(f'"cf.br"({listed(given)})[{target}] : ({listed(kinds)}) -> ()')

    def give_back(self, buffers: list[str]) -> None:
        self.end("func.return", [self.rng.choice([*buffers, *buffers[2:]]) for _ in range(self.returned)])

    returned: int = 0


def listed(words: Iterable[str]) -> str:
    return ", ".join(words)


def typed(args: Iterable[str]) -> str:
    """More arguments of a block."""
    return "".join(f", {a}: {BUFFER}" for a in args)


def more(n: int) -> str:
    """More types of buffers."""
    return f", {BUFFER}" * n


def types(n: int) -> str:
    return f"({', '.join([BUFFER] * n)})"


def program(rng: random.Random, *, loops: bool = True, calls: bool = True) -> str:
    """One module; `loops`: with loops of branches between blocks; `calls`: functions that are called."""
    w = Writer(rng, frozen=rng.random() < 0.3, loops=loops, calls=calls)
    w.returned = rng.randint(0, 2)
    buffers = ["%a", "%b"]
    for _ in range(rng.randint(1, 4)):
        w.statements(buffers, 3)
        if rng.random() < 0.6:
            w.flow(buffers)
    w.log(buffers)
    w.give_back(buffers)
    inputs = ", ".join(t for t, _ in ARGS)
    parts = [function("f", inputs, types(w.returned), ", ".join(f"{n}: {t}" for t, n in ARGS), "\n".join(w.lines))]
    for callee in sorted(w.called):
        given = f"%c: i1, %x: {BUFFER}, %y: {BUFFER}"
        body = f'{CALLEES[callee]}\n"func.return"(%r) : ({BUFFER}) -> ()'
        parts.append(function(callee, f"i1, {BUFFER}, {BUFFER}", BUFFER, given, body, private=True))
    return '"builtin.module"() ({\n' + "\n".join(parts) + "\n}) : () -> ()\n"


def function(name: str, inputs: str, results: str, args: str, body: str, private: bool = False) -> str:
    words = ', sym_visibility = "private"' if private else ""
    kind = f'function_type = ({inputs}) -> {results}, sym_name = "{name}"{words}'
    return f'"func.func"() <{{{kind}}}> ({{\n^bb0({args}):\n{body}\n}}) : () -> ()'
