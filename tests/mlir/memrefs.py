"""Random programs of buffers in MLIR's generic form: allocations anywhere, branches, loops of branches, structured
loops, scf.forall, selects, views, calls, reallocations; buffers, those of dynamic sizes and views as arguments of
blocks. None frees; all end.

`f(c0, c1, c2, c3, n, a, b, log, d, v)` returns up to two buffers. A buffer has four elements, or a size that only the
run knows, of at least two; or it is a view of another one. What is read is added to `log`, so that what a program reads
can be told from its arguments afterwards. Where callees may return their arguments, nothing but `log` and new buffers
is stored to: deallocation puts clones there; so in scf.forall, whose iterations may come in any order.
"""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass, field

BUFFER = "memref<4xi64>"
DYNAMIC = "memref<?xi64>"
VIEW = "memref<?xi64, strided<[1], offset: ?>>"
PART = "memref<2xi64, strided<[1], offset: 1>>"
TYPES = (BUFFER, DYNAMIC, VIEW)
WORDS = {BUFFER: "", DYNAMIC: "_dynamic", VIEW: "_view"}
"""By type what the names of functions on it end with."""
GIVEN = ((BUFFER, "%a"), (BUFFER, "%b"), (BUFFER, "%log"), (DYNAMIC, "%d"), (VIEW, "%v"))
ARGS = (*(("i1", f"%c{k}") for k in range(4)), ("index", "%n"), *GIVEN)
FLAGS = tuple(f"%c{k}" for k in range(4))
NEW = "<{operandSegmentSizes = array<i32: %d, 0>}>"


def made(result: str, source: str, type: str) -> str:
    """Lines that make a buffer like another one."""
    if type == BUFFER:
        lines = [f'{result} = "memref.alloc"() {NEW % 0} : () -> {BUFFER}']
    else:
        dense = result if type == DYNAMIC else f"{result}_dense"
        lines = [
            f'{result}_axis = "arith.constant"() <{{value = 0 : index}}> : () -> index',
            f'{result}_size = "memref.dim"({source}, {result}_axis) : ({type}, index) -> index',
            f'{dense} = "memref.alloc"({result}_size) {NEW % 1} : (index) -> {DYNAMIC}',
        ]
        if type == VIEW:
            lines.append(f'{result} = "memref.cast"({dense}) : ({DYNAMIC}) -> {VIEW}')
    return "\n".join([*lines, f'"memref.copy"({source}, {result}) : ({type}, {type}) -> ()'])


def callees(type: str) -> dict[str, str]:
    """Bodies of functions of a flag `c` and two buffers `x` and `y` that give a buffer `r`."""
    meet = '"cf.cond_br"(%c)[^p, ^q] <{operandSegmentSizes = array<i32: 1, 0, 0>}> : (i1) -> ()'
    return {
        "fresh": made("%r", "%x", type),
        "meeting": (
            f'{meet}\n^p:\n{made("%m", "%y", type)}\n"cf.br"(%m)[^q2] : ({type}) -> ()\n'
            f'^q:\n"cf.br"(%x)[^q2] : ({type}) -> ()\n^q2(%r: {type}):'
        ),
        "either": f'%r = "arith.select"(%c, %x, %y) : (i1, {type}, {type}) -> {type}',
        "sometimes": (
            f'%r = "scf.if"(%c) ({{\n{made("%m", "%y", type)}\n"scf.yield"(%m) : ({type}) -> ()\n}}, {{\n'
            f'"scf.yield"(%x) : ({type}) -> ()\n}}) : (i1) -> {type}'
        ),
    }


@dataclass
class Writer:
    rng: random.Random
    lines: list[str] = field(default_factory=list)
    count: int = 0
    budget: int = 14
    frozen: bool = False
    quiet: bool = False
    """Whether nothing is added to `log`: in scf.forall."""
    called: set[tuple[str, str]] = field(default_factory=set)
    depth: int = 0
    nested: int = 0
    loops: bool = True
    calls: bool = True
    returned: list[str] = field(default_factory=list)
    """The types of what the function returns."""
    type: dict[str, str] = field(default_factory=lambda: {name: kind for kind, name in GIVEN})
    """Of each buffer."""

    def name(self, kind: str = "v") -> str:
        self.count += 1
        return f"%{kind}{self.count}"

    def names(self, types: Iterable[str]) -> list[str]:
        """New names for buffers of these types."""
        found = []
        for kind in types:
            found.append(self.name("m"))
            self.type[found[-1]] = kind
        return found

    def add(self, line: str) -> None:
        self.lines.append(line)

    def op(self, text: str, kind: str = "v") -> str:
        result = self.name(kind)
        self.add(f"{result} = {text}")
        return result

    def buffer(self, text: str, type: str) -> str:
        """An op that gives a buffer."""
        made = self.op(f"{text} -> {type}", "m")
        self.type[made] = type
        return made

    def pick(self, buffers: Iterable[str], type: str) -> str:
        """A buffer of a type; there is always one."""
        return self.rng.choice([b for b in buffers if self.type[b] == type])

    def some_types(self, least: int, most: int) -> list[str]:
        return [self.rng.choice((BUFFER, *TYPES)) for _ in range(self.rng.randint(least, most))]

    def typed(self, values: Iterable[str]) -> str:
        """More arguments of a block."""
        return "".join(f", {v}: {self.type[v]}" for v in values)

    def index(self, value: int) -> str:
        return self.op(f'"arith.constant"() <{{value = {value} : index}}> : () -> index', "i")

    def integer(self, value: int) -> str:
        return self.op(f'"arith.constant"() <{{value = {value} : i64}}> : () -> i64', "k")

    def flag(self, buffers: list[str]) -> str:
        """A condition: an argument, or whether an element is even."""
        if self.rng.random() < 0.7:
            return self.rng.choice(FLAGS)
        x = self.element(self.rng.choice(buffers))
        one, zero = self.integer(1), self.integer(0)
        low = self.op(f'"arith.andi"({x}, {one}) : (i64, i64) -> i64', "k")
        return self.op(f'"arith.cmpi"({low}, {zero}) <{{predicate = 0 : i64}}> : (i64, i64) -> i1', "p")

    def somewhere(self, buffer: str) -> int:
        """An index that every buffer of the type has."""
        return self.rng.randrange(4 if self.type[buffer] == BUFFER else 2)

    def element(self, buffer: str) -> str:
        return self.load(buffer, self.somewhere(buffer))

    def load(self, buffer: str, at: int) -> str:
        return self.op(f'"memref.load"({buffer}, {self.index(at)}) : ({self.type[buffer]}, index) -> i64', "k")

    def store(self, buffer: str, value: str, at: int) -> None:
        self.add(f'"memref.store"({value}, {buffer}, {self.index(at)}) : (i64, {self.type[buffer]}, index) -> ()')

    def log(self, buffers: list[str]) -> None:
        buffer = self.rng.choice(buffers)
        at = self.somewhere(buffer)
        x = self.load(buffer, at)
        if not self.quiet:
            before = self.load("%log", at)
            more = self.op(f'"arith.muli"({before}, {self.integer(3)}) : (i64, i64) -> i64', "k")
            self.store("%log", self.op(f'"arith.addi"({more}, {x}) : (i64, i64) -> i64', "k"), at)

    # -- statements; `buffers` are those in scope
    def statements(self, buffers: list[str], most: int) -> None:
        for _ in range(self.rng.randint(1, most)):
            self.statement(buffers)

    def statement(self, buffers: list[str]) -> None:
        self.budget -= 1
        kinds = ["new", "new", "write", "log", "select", "view", "part", "cast", "realloc"]
        if self.budget > 0 and self.depth < 3:
            kinds += ["if_", "if_", "for_", "while_", *["call"] * self.calls]
            kinds += [] if self.quiet else ["forall", *["growing"] * (self.rng.random() < 0.5)]
        getattr(self, self.rng.choice(kinds))(buffers)

    def new(self, buffers: list[str]) -> None:
        kind = "memref.alloca" if self.rng.random() < 0.15 else "memref.alloc"
        if self.rng.random() < 0.3:
            made, source = self.dynamic(kind, self.size(buffers)), ""
            self.fill(made, self.index(0))
        else:
            source = self.rng.choice(buffers)
            if (type_ := self.type[source]) == BUFFER:
                made = self.buffer(f'"{kind}"() {NEW % 0} : ()', BUFFER)
            else:
                made = self.dynamic(kind, self.dim(source))
            self.add(f'"memref.copy"({source}, {made}) : ({type_}, {self.type[made]}) -> ()')
        self.store(made, self.integer(self.rng.randrange(9)), self.somewhere(made))
        buffers.append(made)

    def dynamic(self, kind: str, size: str) -> str:
        return self.buffer(f'"{kind}"({size}) {NEW % 1} : (index)', DYNAMIC)

    def dim(self, buffer: str) -> str:
        return self.op(f'"memref.dim"({buffer}, {self.index(0)}) : ({self.type[buffer]}, index) -> index', "i")

    def size(self, buffers: list[str]) -> str:
        """At least two."""
        way = self.rng.randrange(3)
        if way == 0:
            return self.index(self.rng.randint(2, 5))
        if way == 1:
            return self.op(f'"arith.addi"(%n, {self.index(2)}) : (index, index) -> index', "i")
        return self.dim(self.rng.choice(buffers))

    def fill(self, buffer: str, first: str) -> None:
        """Stores to all elements from one on."""
        i, value, type_ = self.name("i"), self.integer(self.rng.randrange(9)), self.type[buffer]
        self.add(f'"scf.for"({listed([first, self.dim(buffer), self.index(1)])}) ({{')
        self.add(f"^bb0({i}: index):")
        self.add(f'"memref.store"({value}, {buffer}, {i}) : (i64, {type_}, index) -> ()\n"scf.yield"() : () -> ()')
        self.add("}) : (index, index, index) -> ()")

    def realloc(self, buffers: list[str]) -> None:
        """A new buffer, sometimes written, then with another size, in one branch perhaps only."""
        old = self.dynamic("memref.alloc", self.size(buffers))
        self.fill(old, self.index(0))
        if self.rng.random() < 0.5:
            self.log([old])
        if self.rng.random() < 0.5:
            buffers.append(self.resized(old, self.size(buffers)))
            return
        (result,) = self.names([DYNAMIC])
        self.add(f'{result} = "scf.if"({self.flag([*buffers, old])}) ({{')
        self.end("scf.yield", [self.resized(old, self.size(buffers))])
        self.add("}, {")
        self.end("scf.yield", [old])
        self.add(f"}}) : (i1) -> {DYNAMIC}")
        buffers.append(result)

    def resized(self, old: str, size: str) -> str:
        """What is not old is filled. The old buffer is dead from then on."""
        before = self.dim(old)
        made = self.buffer(f'"memref.realloc"({old}, {size}) : ({DYNAMIC}, index)', DYNAMIC)
        self.fill(made, before)
        return made

    def growing(self, buffers: list[str]) -> None:
        """A loop that carries a buffer of its own, which gets another size in each iteration."""
        old = self.dynamic("memref.alloc", self.size(buffers))
        self.fill(old, self.index(0))
        result, arg = self.names([DYNAMIC, DYNAMIC])
        self.add(f'{result} = "scf.for"({listed([self.index(0), self.trips(), self.index(1), old])}) ({{')
        self.add(f"^bb0({self.name('i')}: index{self.typed([arg])}):")
        if self.rng.random() < 0.5:
            self.log([arg])
        inner = self.inside(buffers)
        self.end("scf.yield", [self.resized(arg, self.size(inner))])
        self.add(f"}}) : (index, index, index, {DYNAMIC}) -> {DYNAMIC}")
        buffers.append(result)

    def write(self, buffers: list[str]) -> None:
        if self.frozen:
            return self.log(buffers)
        buffer = self.rng.choice(buffers)
        self.store(buffer, self.integer(self.rng.randrange(9)), self.somewhere(buffer))

    def select(self, buffers: list[str]) -> None:
        a = self.rng.choice(buffers)
        type_ = self.type[a]
        b = self.pick(buffers, type_)
        buffers.append(self.buffer(f'"arith.select"({self.flag(buffers)}, {a}, {b}) : (i1, {type_}, {type_})', type_))

    def view(self, buffers: list[str]) -> None:
        shape = "static_offsets = array<i64: 1>, static_sizes = array<i64: 2>, static_strides = array<i64: 1>"
        part = self.op(
            f'"memref.subview"({self.pick(buffers, BUFFER)})'
            f" <{{operandSegmentSizes = array<i32: 1, 0, 0, 0>, {shape}}}> : ({BUFFER}) -> {PART}"
        )
        at = self.index(self.rng.randrange(2))
        if not self.frozen and self.rng.random() < 0.5:
            self.add(f'"memref.store"({self.integer(7)}, {part}, {at}) : (i64, {PART}, index) -> ()')
        else:
            x = self.op(f'"memref.load"({part}, {at}) : ({PART}, index) -> i64', "k")
            if not self.quiet:
                self.store("%log", x, self.rng.randrange(4))

    def part(self, buffers: list[str]) -> None:
        """The last two elements or all but the first, as a view that goes on; or a whole buffer as one."""
        source = self.rng.choice(buffers)
        type_ = self.type[source]
        if self.rng.random() < 0.3:
            if type_ != VIEW:
                buffers.append(self.buffer(f'"memref.cast"({source}) : ({type_})', VIEW))
            return
        two, any_ = self.index(2), -(2**63)
        offset = self.op(f'"arith.subi"({self.dim(source)}, {two}) : (index, index) -> index', "i")
        static = (
            f"static_offsets = array<i64: {any_}>, static_sizes = array<i64: {any_}>, static_strides = array<i64: 1>"
        )
        buffers.append(
            self.buffer(
                f'"memref.subview"({source}, {offset}, {two})'
                f" <{{operandSegmentSizes = array<i32: 1, 1, 1, 0>, {static}}}> : ({type_}, index, index)",
                VIEW,
            )
        )

    def cast(self, buffers: list[str]) -> None:
        there = self.buffer(f'"memref.cast"({self.pick(buffers, BUFFER)}) : ({BUFFER})', DYNAMIC)
        if self.rng.random() < 0.5:
            buffers.append(there)
        else:
            buffers.append(self.buffer(f'"memref.cast"({there}) : ({DYNAMIC})', BUFFER))

    def if_(self, buffers: list[str]) -> None:
        types = self.some_types(0, 2)
        condition = self.flag(buffers)
        results = self.names(types)
        left = f"{', '.join(results)} = " if results else ""
        self.add(f'{left}"scf.if"({condition}) ({{')
        for k in range(2):
            inner = self.inside(buffers)
            self.end("scf.yield", [self.pick(inner, t) for t in types])
            self.add("}, {" if k == 0 else f"}}) : (i1) -> ({listed(types)})")
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
        kinds = [*([first_type] if first else []), *(self.type[v] for v in values)]
        self.add(f'"{name}"({listed(given)}) : ({listed(kinds)}) -> ()')

    def for_(self, buffers: list[str]) -> None:
        types = self.some_types(0, 2)
        bounds = [self.index(0), self.trips(), self.index(1)]
        inits = [self.pick(buffers, t) for t in types]
        results, args = self.names(types), self.names(types)
        left = f"{', '.join(results)} = " if results else ""
        self.add(f'{left}"scf.for"({listed([*bounds, *inits])}) ({{')
        self.add(f"^bb0({self.name('i')}: index{self.typed(args)}):")
        inner = self.inside(buffers, args)
        self.end("scf.yield", [self.pick([*args, *inner], t) for t in types])
        self.add(f"}}) : ({listed(['index'] * 3 + types)}) -> ({listed(types)})")
        buffers += results

    def trips(self) -> str:
        zero = self.index(0)
        return self.op(f'"arith.addi"(%n, {zero}) : (index, index) -> index', "i")

    def forall(self, buffers: list[str]) -> None:
        """Iterations that store to buffers of their own, and to an element of `log` each."""
        i, sizes = self.name("i"), "staticLowerBound = array<i64: 0>, staticStep = array<i64: 1>"
        constant = self.rng.random() < 0.5
        bound, type_ = ("", "") if constant else (self.trips(), "index")
        segments = f"operandSegmentSizes = array<i32: 0, {int(not constant)}, 0, 0>"
        upper = f"staticUpperBound = array<i64: {2 if constant else -(2**63)}>"
        self.add(f'"scf.forall"({bound}) <{{{segments}, {sizes}, {upper}}}> ({{')
        self.add(f"^bb0({i}: index):")
        frozen, self.frozen, self.quiet = self.frozen, True, True
        inner = self.inside(buffers)
        x = self.element(self.rng.choice(inner))
        self.frozen, self.quiet = frozen, False
        self.add(f'"memref.store"({x}, %log, {i}) : (i64, {BUFFER}, index) -> ()')
        self.add('"scf.forall.in_parallel"() ({\n^bb0:\n}) : () -> ()')
        self.add(f"}}) : ({type_}) -> ()")

    def while_(self, buffers: list[str]) -> None:
        types = self.some_types(1, 2)
        start, inits = self.index(0), [self.pick(buffers, t) for t in types]
        results, args, after = (self.names(types) for _ in range(3))
        i, j, kinds = self.name("i"), self.name("i"), listed(["index", *types])
        self.add(f'{self.name("i")}, {listed(results)} = "scf.while"({listed([start, *inits])}) ({{')
        self.add(f"^bb0({i}: index{self.typed(args)}):")
        inner = self.inside(buffers, args)
        go = self.op(f'"arith.cmpi"({i}, %n) <{{predicate = 2 : i64}}> : (index, index) -> i1', "p")
        forwarded = [self.pick([*args, *inner], t) for t in types]
        self.add(f'"scf.condition"({listed([go, i, *forwarded])}) : (i1, {kinds}) -> ()')
        self.add("}, {")
        self.add(f"^bb0({j}: index{self.typed(after)}):")
        inner = self.inside(buffers, after)
        one = self.index(1)
        k = self.op(f'"arith.addi"({j}, {one}) : (index, index) -> index', "i")
        self.end("scf.yield", [self.pick([*after, *inner], t) for t in types], k, "index")
        self.add(f"}}) : ({kinds}) -> ({kinds})")
        buffers += results

    def call(self, buffers: list[str]) -> None:
        x = self.rng.choice(buffers)
        type_ = self.type[x]
        callee = self.rng.choice(list(callees(type_)) if self.frozen else ["fresh"])
        self.called.add((callee, type_))
        c, y = self.flag(buffers), self.pick(buffers, type_)
        text = f'"func.call"({c}, {x}, {y}) <{{callee = @{callee}{WORDS[type_]}}}> : (i1, {type_}, {type_})'
        buffers.append(self.buffer(text, type_))

    # -- blocks
    def block(self, label: str, args: list[str]) -> None:
        given = self.typed(args)[2:]
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
        types, join, sides = self.some_types(0, 2), self.name("^b")[1:], [self.name("^b")[1:] for _ in range(2)]
        args = self.names(types)
        straight = self.rng.random() < 0.3
        condition = self.flag(buffers)
        passed = [self.pick(buffers, t) for t in types] if straight else []
        sizes = f"<{{operandSegmentSizes = array<i32: 1, {len(passed)}, 0>}}>"
        first = join if straight else sides[0]
        kinds = listed(["i1", *(self.type[v] for v in passed)])
        self.add(f'"cf.cond_br"({listed([condition, *passed])})[{first}, {sides[1]}] {sizes} : ({kinds}) -> ()')
        for side in sides[straight:]:
            self.block(side, [])
            inner = self.within(buffers)
            if side is sides[1] and self.rng.random() < 0.15:
                self.give_back(inner)
            else:
                self.branch(join, [self.pick(inner, t) for t in types])
        self.block(join, args)
        buffers += args

    def loop(self, buffers: list[str]) -> None:
        """Blocks that branch back, the counter first."""
        types, (head, body, done) = self.some_types(0, 2), (self.name("^b")[1:] for _ in range(3))
        args, i, zero = self.names(types), self.name("i"), self.index(0)
        self.branch(head, [self.pick(buffers, t) for t in types], zero)
        self.add(f"{head}({i}: index{self.typed(args)}):")
        inner = self.inside(buffers, args)
        go = self.op(f'"arith.cmpi"({i}, %n) <{{predicate = 2 : i64}}> : (index, index) -> i1', "p")
        out = self.some_types(0, 1)
        results = self.names(out)
        passed = [self.pick(inner, t) for t in out]
        sizes = f"<{{operandSegmentSizes = array<i32: 1, 0, {len(out)}>}}>"
        self.add(f'"cf.cond_br"({listed([go, *passed])})[{body}, {done}] {sizes} : ({listed(["i1", *out])}) -> ()')
        self.block(body, [])
        inner = self.within(inner)
        one = self.index(1)
        k = self.op(f'"arith.addi"({i}, {one}) : (index, index) -> index', "i")
        self.branch(head, [self.pick(inner, t) for t in types], k)
        self.block(done, results)
        buffers += [*args, *results]

    def branch(self, target: str, values: list[str], first: str = "") -> None:
        given = [*([first] if first else []), *values]
        kinds = [*(["index"] if first else []), *(self.type[v] for v in values)]
        self.add(f'"cf.br"({listed(given)})[{target}] : ({listed(kinds)}) -> ()')

    def give_back(self, buffers: list[str]) -> None:
        self.end("func.return", [self.pick([*buffers, *buffers[4:]], t) for t in self.returned])


def listed(words: Iterable[str]) -> str:
    return ", ".join(words)


def program(rng: random.Random, *, loops: bool = True, calls: bool = True) -> str:
    """One module, three of four times a small one; `loops`: with loops of branches between blocks; `calls`: functions
    that are called."""
    rounds, budget = (rng.randint(1, 4), 14) if rng.random() < 0.25 else (1, 3)
    w = Writer(rng, budget=budget, frozen=rng.random() < 0.3, loops=loops, calls=calls)
    w.returned = w.some_types(0, 2)
    buffers = ["%a", "%b", "%d", "%v"]
    for _ in range(rounds):
        w.statements(buffers, 3)
        if rng.random() < 0.6:
            w.flow(buffers)
    w.log(buffers)
    w.give_back(buffers)
    inputs, args = ", ".join(t for t, _ in ARGS), ", ".join(f"{n}: {t}" for t, n in ARGS)
    parts = [function("f", inputs, f"({listed(w.returned)})", args, "\n".join(w.lines))]
    for callee, type_ in sorted(w.called):
        given = f"%c: i1, %x: {type_}, %y: {type_}"
        body = f'{callees(type_)[callee]}\n"func.return"(%r) : ({type_}) -> ()'
        parts.append(function(callee + WORDS[type_], f"i1, {type_}, {type_}", type_, given, body, private=True))
    return '"builtin.module"() ({\n' + "\n".join(parts) + "\n}) : () -> ()\n"


def function(name: str, inputs: str, results: str, args: str, body: str, private: bool = False) -> str:
    words = ', sym_visibility = "private"' if private else ""
    kind = f'function_type = ({inputs}) -> {results}, sym_name = "{name}"{words}'
    return f'"func.func"() <{{{kind}}}> ({{\n^bb0({args}):\n{body}\n}}) : () -> ()'
