"""Random MLIR programs, continued: ops with regions, calls, blocks, and whole modules. See `programs`.

`program(rng)` makes one module from a source of random choices: a seeded `random.Random`, or Hypothesis' own
(`modules`), which shrinks.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from hypothesis import strategies as st

from tests.mlir.programs import Ops, Signature, Tensor, Type, Value, names, types

WEIGHTS: dict[str, float] = {
    "extract_slice": 5, "insert_slice": 5, "generic": 6, "named": 2, "fill": 2, "map": 0.7, "reduce": 1, "matmul": 0.8,
    "transpose": 0.5, "broadcast": 0.4, "insert": 2, "extract": 2, "select": 0.9, "cast": 1, "unranked": 0.25,
    "collapse": 0.5, "expand": 0.5, "dim": 0.3, "numbers": 0.6, "empty": 1, "alloc_tensor": 0.5, "constant": 0.6,
    "from_elements": 0.3, "splat": 0.2, "generate": 0.25, "pad": 0.3, "transfer_read": 0.5, "transfer_write": 0.6,
    "reshape": 0.2, "on_tensors": 0.15, "transfer_all": 0.6,
    "materialize": 0.3, "unknown": 0.25, "to_buffer": 0.2, "to_tensor": 0.2, "call": 2,
    "branch": 1.3, "loop": 1.6, "rounds": 0.7, "threads": 0.5, "once": 0.3,
}  # fmt: skip
WITH_REGIONS = ("branch", "loop", "rounds", "threads", "once")
ALIASING = frozenset(
    {
        "extract_slice",
        "reshape",
        "on_tensors",
        "select",
        "cast",
        "unranked",
        "collapse",
        "expand",
        "call",
        *WITH_REGIONS,
    }
)
ELEMENTS = ("f64", "f64", "f64", "f32", "i32")


class Functions(Ops):
    """Ops with regions, calls, and functions."""

    def __init__(self, rng: random.Random, elem: str, signatures: Sequence[Signature]) -> None:
        super().__init__(rng, elem)
        self.signatures, self.left = signatures, 0
        self.regions = 0
        self.without: frozenset[str] = frozenset()

    def some_ops(self, n: int) -> None:
        """At most n ops, fewer where the function has enough."""
        for _ in range(n):
            if self.left <= 0:
                return
            kinds = [k for k in WEIGHTS if k not in self.without and (self.regions < 3 or k not in WITH_REGIONS)]
            (kind,) = self.rng.choices(kinds, [WEIGHTS[k] for k in kinds])
            self.left -= 1
            if kind in WITH_REGIONS:
                self.regions += 1
                getattr(self, kind)()
                self.regions -= 1
            else:
                getattr(self, kind)()

    def inside(self, most: int = 5) -> None:
        self.some_ops(self.rng.randint(0, most))

    def giving(self, kinds: Sequence[Type]) -> list[Value]:
        """What a block gives back: most often what it made or was given itself."""
        found = []
        for kind in kinds:
            own = [v for v in self.scopes[-1].values if v.type == kind]
            found.append(self.rng.choice(own) if own and self.chance(0.85) else self.like(kind))
        return found

    def some_values(self, most: int) -> list[Value]:
        found = [self.tensor() for _ in range(self.rng.randint(1, most))]
        return [*found, *([self.like(self.elem)] if self.chance(0.2) else [])]

    def close(self, results: Sequence[Value]) -> None:
        self.line("}")
        self.scopes[-1].values += results

    def region(self, kinds: Sequence[Type]) -> None:
        with self.block():
            self.inside()
            given = self.giving(kinds)
            if given:
                self.line(f"scf.yield {names(given)} : {types(given)}")

    def branch(self) -> None:
        condition = self.condition()
        kinds = [v.type for v in self.some_values(2)] if self.chance(0.85) else []
        arrow = f" -> ({', '.join(map(str, kinds))})" if kinds else ""
        results = self.ops(f"scf.if {condition}{arrow} {{", kinds)
        self.region(kinds)
        if kinds or self.chance(0.5):
            self.line("} else {")
            self.region(kinds)
        self.close(results)

    def once(self) -> None:
        kinds = [v.type for v in self.some_values(1)]
        results = self.ops(f"scf.execute_region -> ({', '.join(map(str, kinds))}) {{", kinds)
        self.region(kinds)
        self.close(results)

    def loop(self) -> None:
        low, high, step = self.index(), self.index(), self.index()
        inits = self.some_values(3) if self.chance(0.9) else []
        iv, args = Value(self.name(), "index"), [Value(self.name(), v.type) for v in inits]
        pairs = ", ".join(f"{a.name} = {v.name}" for a, v in zip(args, inits))
        carry = f" iter_args({pairs}) -> ({types(inits)})" if inits else ""
        results = self.ops(f"scf.for {iv.name} = {low} to {high} step {step}{carry} {{", [v.type for v in inits])
        with self.block([iv, *args], carried=True):
            self.inside()
            given = self.giving([v.type for v in inits])
            if given:
                self.line(f"scf.yield {names(given)} : {types(given)}")
        self.close(results)

    def rounds(self) -> None:
        """scf.while: what its condition hands on is most often what was carried, in the same order."""
        inits = self.some_values(2)
        before = [Value(self.name(), v.type) for v in inits]
        kinds = [v.type for v in inits]
        passed = self.rng.sample(kinds, self.rng.randint(1, len(kinds))) if self.chance(0.15) else kinds
        pairs = ", ".join(f"{a.name} = {v.name}" for a, v in zip(before, inits))
        head = f"scf.while ({pairs}) : ({types(inits)}) -> ({', '.join(map(str, passed))}) {{"
        results = self.ops(head, passed)
        with self.block(before, carried=True):
            self.inside(3)
            given = before if passed is kinds and self.chance(0.6) else self.giving(passed)
            self.line(f"scf.condition({self.condition()}) {names(given)} : {types(given)}")
        after = [Value(self.name(), kind) for kind in passed]
        self.line("} do {")
        self.line(f"^bb0({', '.join(f'{a.name}: {a.type}' for a in after)}):")
        with self.block(after, carried=True):
            self.inside(3)
            given = self.giving(kinds)
            self.line(f"scf.yield {names(given)} : {types(given)}")
        self.close(results)

    def threads(self) -> None:
        """scf.forall: each of its shared tensors is stored to once."""
        outs = [v for v in (self.tensor() for _ in range(self.rng.choice([1, 1, 2]))) if v.tensor.rank]
        if not outs:
            return
        args = [Value(self.name(), v.type) for v in outs]
        ivs = [Value(self.name(), "index") for _ in range(self.rng.choice([1, 1, 1, 2]))]
        pairs = ", ".join(f"{a.name} = {v.name}" for a, v in zip(args, outs))
        bounds = ", ".join(self.rng.choice(["4", "1", self.index()]) for _ in ivs)
        head = f"scf.forall ({names(ivs)}) in ({bounds}) shared_outs({pairs}) -> ({types(outs)}) {{"
        results = self.ops(head, [v.type for v in outs])
        with self.block([*ivs, *args], carried=True):
            self.inside()
            stores = []
            for arg in args:
                for _ in range(3):
                    source = self.tensor()
                    if (at := self.place(source.tensor, arg.tensor)) is not None:
                        text = f"{source.name} into {arg.name}{at.text} : {source.type} into {arg.type}"
                        stores.append(f"  tensor.parallel_insert_slice {text}")
                        break
            for text in ("scf.forall.in_parallel {", *stores, "}"):
                self.line(text)
        self.close(results)

    def call(self) -> None:
        if self.signatures:
            callee = self.rng.choice(self.signatures)
            args = [self.like(kind) for kind in callee.args]
            kinds = ", ".join(map(str, callee.results))
            text = f"func.call @{callee.name}({names(args)}) : ({types(args)}) -> ({kinds})"
            self.scopes[-1].values += self.ops(text, callee.results)

    # -- functions
    def function(self, own: Signature, ops: int) -> list[str]:
        args = [self.new(kind) for kind in own.args]
        self.left = ops
        private = "private " if own.name != "main" else ""
        results = ", ".join(map(str, own.results))
        self.depth = 0
        self.line(f"func.func {private}@{own.name}({', '.join(self.argument(a) for a in args)}) -> ({results}) {{")
        with self.block(args):
            for n in (0, 1, 2):
                self.op("index", f"arith.constant {n} : index")
            self.rng.choices([self.straight, self.diamond, self.cycle], [10, 1, 0.7])[0](own.results)
        self.line("}")
        return self.lines

    def argument(self, arg: Value) -> str:
        read_only = isinstance(arg.type, Tensor) and self.chance(0.15)
        return f"{arg.name}: {arg.type}{' {bufferization.writable = false}' if read_only else ''}"

    def back(self, kinds: Sequence[Type]) -> None:
        given = self.giving(kinds)
        self.line(f"func.return {names(given)} : {types(given)}")

    def straight(self, kinds: Sequence[Type]) -> None:
        self.some_ops(self.left)
        self.back(kinds)

    def diamond(self, kinds: Sequence[Type]) -> None:
        """Two blocks, each of which returns or goes on to a third with some tensors."""
        self.some_ops(self.left // 3)
        join = [self.new(v.type) for v in self.some_values(2)]
        a, b, c = (f"^b{self.name()[2:]}" for _ in range(3))
        self.line(f"cf.cond_br {self.condition()}, {a}, {b}")
        reached = False
        for block in (a, b):
            self.line(f"{block}:")
            with self.block():
                self.some_ops(3)
                if reached and self.chance(0.4):
                    self.back(kinds)
                else:
                    reached = True
                    given = self.giving([v.type for v in join])
                    self.line(f"cf.br {c}({names(given)} : {types(given)})")
        self.line(f"{c}({', '.join(f'{v.name}: {v.type}' for v in join)}):")
        self.scopes[-1].values += join
        self.some_ops(self.left)
        self.back(kinds)

    def cycle(self, kinds: Sequence[Type]) -> None:
        """A loop made of blocks that carries some tensors. MLIR 22 crashes where one of them goes round through an op
        that aliases and does not write."""
        self.some_ops(self.left // 3)
        inits = self.some_values(2)
        carried = [self.new(v.type) for v in inits]
        head, body, out = (f"^b{self.name()[2:]}" for _ in range(3))
        self.line(f"cf.br {head}({names(inits)} : {types(inits)})")
        self.line(f"{head}({', '.join(f'{v.name}: {v.type}' for v in carried)}):")
        self.scopes[-1].values += carried
        self.without = ALIASING
        self.some_ops(2)
        self.line(f"cf.cond_br {self.condition()}, {body}, {out}")
        self.line(f"{body}:")
        with self.block():
            self.some_ops(4)
            given = self.giving([v.type for v in carried])
            self.line(f"cf.br {head}({names(given)} : {types(given)})")
        self.without = frozenset()
        self.line(f"{out}:")
        self.some_ops(self.left)
        self.back(kinds)


def signature(rng: random.Random, name: str, elem: str) -> Signature:
    shapes: list[tuple[int | None, ...]] = [(8,), (8,), (8,), (8, 8), (4, 8), (None,), (None, 8), (4,), (), (2, 4, 8)]
    tensors = [Tensor(rng.choice(shapes), elem) for _ in range(rng.randint(1, 3))]
    memref = [f"memref<8x{elem}>"] if rng.random() < 0.1 else []
    args: tuple[Type, ...] = (*tensors, elem, "i1", "index", *memref)
    return Signature(name, args, tuple(rng.choice(tensors) for _ in range(rng.choice([1, 1, 2]))))


def program(rng: random.Random, ops: int = 16) -> str:
    """A module of one to three functions, `ops` ops each at most, and sometimes one without a body."""
    elem = rng.choice(ELEMENTS)
    own = [signature(rng, name, elem) for name in ("main", "f", "g")[: rng.choices([1, 2, 3], [5, 3, 2])[0]]]
    outside = [signature(rng, "outside", elem)] if rng.random() < 0.1 else []
    texts = []
    for i, s in enumerate(own):
        callees = own if rng.random() < 0.08 else own[i + 1 :]  # with all of them there may be recursion
        n = ops if i == 0 else max(ops // 2, 1)
        texts.append("\n".join(Functions(rng, elem, [*callees, *outside]).function(s, rng.randint(n // 3, n))))
    texts += [
        f"func.func private @{s.name}({', '.join(map(str, s.args))}) -> ({', '.join(map(str, s.results))})"
        for s in outside
    ]
    rng.shuffle(texts)
    return "\n".join(texts) + "\n"


def modules(ops: int = 16) -> st.SearchStrategy[str]:
    """Hypothesis' strategy of the same."""
    make: Callable[[random.Random], str] = lambda rng: program(rng, ops)  # noqa: E731
    return st.randoms(use_true_random=False).map(make)
