"""Random tensor programs as MLIR text: modules that are valid by construction, of whatever bufferization has rules for.

They need not mean anything: tensors are reused freely, so that every kind of conflict comes up. Ops with regions, calls
and whole modules are in `regions`.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

SIZES = (8, 4, 6)


@dataclass(frozen=True)
class Tensor:
    """A tensor type; None is a size that is not known, and `shape` is None where the rank is not."""

    shape: tuple[int | None, ...]
    elem: str

    @property
    def rank(self) -> int:
        return len(self.shape)

    def __str__(self) -> str:
        return f"tensor<{''.join(f'{spelled(d)}x' for d in self.shape)}{self.elem}>"


Type = Tensor | str


@dataclass(frozen=True)
class Value:
    name: str
    type: Type

    @property
    def tensor(self) -> Tensor:
        assert isinstance(self.type, Tensor)
        return self.type


@dataclass(frozen=True)
class Slice:
    """Where a slice lies: offsets, sizes and strides as text, of tensors of shape `base`, and the slice's shape."""

    base: tuple[int | None, ...]
    text: str
    shape: tuple[int | None, ...]


@dataclass
class Scope:
    """What a block adds to what may be named."""

    values: list[Value] = field(default_factory=list)
    slices: list[Slice] = field(default_factory=list)
    carried: bool = False
    """The values are block arguments of a loop: picked more often."""


@dataclass(frozen=True)
class Signature:
    name: str
    args: tuple[Type, ...]
    results: tuple[Type, ...]


def spelled(size: int | None) -> str:
    return "?" if size is None else str(size)


def types(values: Sequence[Value]) -> str:
    return ", ".join(str(v.type) for v in values)


def names(values: Sequence[Value]) -> str:
    return ", ".join(v.name for v in values)


def affine(loops: int, dims: Sequence[int]) -> str:
    return f"affine_map<({', '.join(f'd{i}' for i in range(loops))}) -> ({', '.join(f'd{d}' for d in dims)})>"


class Writer:
    """Text with names for values, and the choices among what may be named at a place."""

    def __init__(self, rng: random.Random, elem: str) -> None:
        self.rng, self.elem = rng, elem
        self.lines: list[str] = []
        self.scopes: list[Scope] = []
        self.count, self.depth = 0, 1

    # -- text
    def line(self, text: str) -> None:
        self.lines.append("  " * self.depth + text)

    def name(self) -> str:
        self.count += 1
        return f"%v{self.count}"

    def new(self, type: Type) -> Value:
        return Value(self.name(), type)

    def op(self, type: Type, text: str) -> Value:
        """An op with one result, which may be named from now on."""
        result = self.new(type)
        self.line(f"{result.name} = {text}")
        self.scopes[-1].values.append(result)
        return result

    def ops(self, head: str, kinds: Sequence[Type]) -> list[Value]:
        """The results of an op of several, as far as they are tensors or scalars; `head` is its first line."""
        if not kinds:
            self.line(head)
            return []
        name = self.name()
        self.line(f"{name}:{len(kinds)} = {head}")
        return [Value(f"{name}#{i}", kind) for i, kind in enumerate(kinds)]

    @contextmanager
    def block(self, values: Sequence[Value] = (), *, carried: bool = False) -> Iterator[None]:
        self.scopes.append(Scope(list(values), carried=carried))
        self.depth += 1
        yield
        self.depth -= 1
        self.scopes.pop()

    # -- choices
    def chance(self, p: float) -> bool:
        return self.rng.random() < p

    def values(self, fits: Callable[[Value], bool] = lambda v: True) -> list[Value]:
        return [v for scope in self.scopes for v in scope.values if fits(v)]

    def pick(self, fits: Callable[[Value], bool]) -> Value | None:
        """A value that fits, most often one of the last six or what a loop carries."""
        found = self.values(fits)
        if not found:
            return None
        if self.chance(0.25) and (near := [v for s in self.scopes if s.carried for v in s.values if fits(v)]):
            return self.rng.choice(near)
        return self.rng.choice(found[-6:] if self.chance(0.7) else found)

    def tensor(self, *, rank: int | None = None) -> Value:
        found = self.pick(lambda v: isinstance(v.type, Tensor) and (rank is None or v.type.rank == rank))
        return found if found is not None else self.fresh(Tensor((8,) * (rank or 1), self.elem))

    def like(self, type: Type) -> Value:
        """A value of a type; a new one where there is none."""
        found = self.pick(lambda v: v.type == type)
        return found if found is not None else self.fresh(type)

    def fresh(self, type: Type) -> Value:
        if isinstance(type, Tensor):
            sizes = ", ".join(self.index() for d in type.shape if d is None)
            return self.op(type, f"tensor.empty({sizes}) : {type}")
        if type == "i1":
            return self.op("i1", f"arith.cmpi ult, {self.index()}, {self.index()} : index")
        if type.startswith("memref"):
            return self.op(type, f"memref.alloc() : {type}")
        return self.op(type, f"arith.constant {'1.5' if type.startswith('f') else '3'} : {type}")

    def scalar(self) -> str:
        return self.like(self.elem).name

    def index(self) -> str:
        return self.like("index").name

    def condition(self) -> str:
        return self.like("i1").name

    def arith(self, a: str, b: str) -> str:
        """An expression of two scalars."""
        kind = "f" if self.elem.startswith("f") else "i"
        return f"arith.{self.rng.choice(['add', 'mul', 'sub'])}{kind} {a}, {b} : {self.elem}"

    # -- slices
    def a_slice(self, base: Tensor) -> Slice:
        """A slice of a tensor: one that was there before, or a new one."""
        known = [s for scope in self.scopes for s in scope.slices if s.base == base.shape]
        if known and self.chance(0.45):
            return self.rng.choice(known)
        parts = [self.part(d) for d in base.shape]
        kept = [size for _, size, _ in parts if size != 1 or self.chance(0.3)]
        return self.keep(base, parts, tuple(kept))

    def keep(self, base: Tensor, parts: Sequence[tuple[str, int | None, int]], shape: tuple[int | None, ...]) -> Slice:
        sizes = ", ".join(self.index() if size is None else str(size) for _, size, _ in parts)
        text = f"[{', '.join(o for o, _, _ in parts)}] [{sizes}] [{', '.join(str(s) for _, _, s in parts)}]"
        made = Slice(base.shape, text, shape)
        self.scopes[-1].slices.append(made)
        return made

    def part(self, size: int | None) -> tuple[str, int | None, int]:
        """Offset, size and stride in one dimension."""
        if size is None:
            return (self.index() if self.chance(0.5) else self.rng.choice("012")), self.rng.choice([1, 4, None]), 1
        if self.chance(0.3):
            return "0", size, 1
        stride = 2 if self.chance(0.15) and size >= 4 else 1
        if stride == 1 and self.chance(0.15):
            return (self.index() if self.chance(0.5) else "0"), None, 1
        taken = self.rng.choice([s for s in (1, 1, 2, 3, 4, size // 2, size - 1) if 0 < s <= -(-size // stride)])
        return self.offset(size, taken, stride), taken, stride

    def offset(self, size: int, taken: int, stride: int) -> str:
        if self.chance(0.35):
            return self.index()
        last = size - 1 - (taken - 1) * stride
        return str(self.rng.choice([0, last, self.rng.randint(0, last)]))

    def place(self, source: Tensor, base: Tensor) -> Slice | None:
        """A slice of `base` with the shape of `source`; None where it does not fit."""
        known = [s for scope in self.scopes for s in scope.slices if (s.base, s.shape) == (base.shape, source.shape)]
        if known and self.chance(0.75):
            return self.rng.choice(known[-4:])
        dropped = base.rank - source.rank
        if dropped < 0:
            return None
        units = set(self.rng.sample(range(base.rank), dropped))
        rest = iter(source.shape)
        parts = []
        for i, d in enumerate(base.shape):
            taken = 1 if i in units else next(rest)
            if d is None or taken is None:
                parts.append((self.index() if self.chance(0.4) else "0", taken, 1))
            elif taken <= d:
                parts.append((self.offset(d, taken, 1), taken, 1))
            else:
                return None
        return self.keep(base, parts, source.shape)


class Ops(Writer):
    """One method for each kind of op without control flow; some do nothing where nothing fits."""

    # -- slices, elements, shapes
    def extract_slice(self) -> None:
        base = self.tensor()
        if base.tensor.rank:
            at = self.a_slice(base.tensor)
            made = replace(base.tensor, shape=at.shape)
            self.op(made, f"tensor.extract_slice {base.name}{at.text} : {base.type} to {made}")

    def insert_slice(self) -> None:
        source = self.tensor()
        for _ in range(4):
            base = self.tensor()
            if base.tensor.rank and (at := self.place(source.tensor, base.tensor)) is not None:
                text = f"{source.name} into {base.name}{at.text} : {source.type} into {base.type}"
                self.op(base.type, f"tensor.insert_slice {text}")
                return

    def at(self, tensor: Tensor) -> str:
        return f"[{', '.join(self.index() for _ in tensor.shape)}]"

    def extract(self) -> None:
        base = self.tensor()
        self.op(self.elem, f"tensor.extract {base.name}{self.at(base.tensor)} : {base.type}")

    def insert(self) -> None:
        base = self.tensor()
        self.op(base.type, f"tensor.insert {self.scalar()} into {base.name}{self.at(base.tensor)} : {base.type}")

    def select(self) -> None:
        a = self.tensor()
        b = self.like(a.type)
        self.op(a.type, f"arith.select {self.condition()}, {a.name}, {b.name} : {a.type}")

    def cast(self) -> None:
        base = self.tensor()
        shape = tuple(
            (None if self.chance(0.6) else d) if d is not None else self.cast_size() for d in base.tensor.shape
        )
        if shape != base.tensor.shape:
            made = replace(base.tensor, shape=shape)
            self.op(made, f"tensor.cast {base.name} : {base.type} to {made}")

    def cast_size(self) -> int | None:
        return 8 if self.chance(0.4) else None

    def unranked(self) -> None:
        base = self.tensor()
        through = self.new(f"tensor<*x{self.elem}>")
        self.line(f"{through.name} = tensor.cast {base.name} : {base.type} to {through.type}")
        made = base.tensor if self.chance(0.6) else Tensor((None,) * base.tensor.rank, self.elem)
        self.op(made, f"tensor.cast {through.name} : {through.type} to {made}")

    def collapse(self) -> None:
        base = self.tensor(rank=2)
        a, b = base.tensor.shape
        made = Tensor((None if a is None or b is None else a * b,), self.elem)
        self.op(made, f"tensor.collapse_shape {base.name} [[0, 1]] : {base.type} into {made}")

    def expand(self) -> None:
        base = self.tensor(rank=1)
        (d,) = base.tensor.shape
        if d is None:
            shape, output = (None, 2), f"[{self.index()}, 2]"
        elif d % 2 == 0 and d > 2:
            shape, output = (d // 2, 2), f"[{d // 2}, 2]"
        else:
            shape, output = (1, d), f"[1, {d}]"
        made = Tensor(shape, self.elem)
        self.op(made, f"tensor.expand_shape {base.name} [[0, 1]] output_shape {output} : {base.type} into {made}")

    def reshape(self) -> None:
        """To sizes in a tensor, which nobody checks."""
        base = self.tensor(rank=1)
        sizes, made = self.new(Tensor((2,), "index")), Tensor((None, None), self.elem)
        self.line(f"{sizes.name} = tensor.from_elements {self.index()}, {self.index()} : {sizes.type}")
        self.op(made, f"tensor.reshape {base.name}({sizes.name}) : ({base.type}, {sizes.type}) -> {made}")

    def on_tensors(self) -> None:
        """An op of arith on whole tensors, of which bufferization knows nothing."""
        a = self.tensor()
        b = self.like(a.type)
        kind = "f" if self.elem.startswith("f") else "i"
        self.op(a.type, f"arith.add{kind} {a.name}, {b.name} : {a.type}")

    def dim(self) -> None:
        base = self.tensor()
        if base.tensor.rank:
            zero = self.op("index", "arith.constant 0 : index")
            self.op("index", f"tensor.dim {base.name}, {zero.name} : {base.type}")

    def numbers(self) -> None:
        self.op("index", f"arith.{self.rng.choice(['addi', 'subi'])} {self.index()}, {self.index()} : index")
        self.op(self.elem, self.arith(self.scalar(), self.scalar()))

    # -- fresh tensors
    def empty(self) -> None:
        self.fresh(self.tensor().type)

    def alloc_tensor(self) -> None:
        base = self.tensor()
        if self.chance(0.5):
            self.op(base.type, f"bufferization.alloc_tensor() copy({base.name}) : {base.type}")
            return
        sizes = ", ".join(self.index() for d in base.tensor.shape if d is None)
        self.op(base.type, f"bufferization.alloc_tensor({sizes}) : {base.type}")

    def constant(self) -> None:
        shape = tuple(8 if d is None else d for d in self.tensor().tensor.shape)
        made = Tensor(shape, self.elem)
        self.op(made, f"arith.constant dense<{'0.5' if self.elem.startswith('f') else '2'}> : {made}")

    def from_elements(self) -> None:
        n = self.rng.choice([1, 2, 4])
        made = Tensor((n,), self.elem)
        self.op(made, f"tensor.from_elements {', '.join(self.scalar() for _ in range(n))} : {made}")

    def splat(self) -> None:
        made = Tensor((self.rng.choice(SIZES),), self.elem)
        self.op(made, f"tensor.splat {self.scalar()} : {made}")

    def generate(self) -> None:
        base, size = self.tensor(rank=1), self.index()
        made = Tensor((None,), self.elem)
        result, i, x = self.new(made), self.name(), self.name()
        self.line(f"{result.name} = tensor.generate {size} {{")
        self.line(f"^bb0({i}: index):")
        self.line(f"  {x} = tensor.extract {base.name}[{i}] : {base.type}")
        self.line(f"  tensor.yield {x} : {self.elem}")
        self.line(f"}} : {made}")
        self.scopes[-1].values.append(result)

    def pad(self) -> None:
        base, x, i = self.tensor(rank=1), self.scalar(), self.name()
        (d,) = base.tensor.shape
        made = Tensor((None if d is None else d + 2,), self.elem)
        result = self.new(made)
        self.line(f"{result.name} = tensor.pad {base.name} low[1] high[1] {{")
        self.line(f"^bb0({i}: index):")
        self.line(f"  tensor.yield {x} : {self.elem}")
        self.line(f"}} : {base.type} to {made}")
        self.scopes[-1].values.append(result)

    # -- linalg
    def fill(self) -> None:
        out = self.tensor()
        self.op(out.type, f"linalg.fill ins({self.scalar()} : {self.elem}) outs({out.name} : {out.type}) -> {out.type}")

    def named(self) -> None:
        """An element-wise op of linalg on tensors of one type."""
        a = self.tensor()
        b, out = self.like(a.type), self.like(a.type)
        if self.chance(0.3):
            kind = self.rng.choice(["exp", "negf", "abs", "copy"] if self.elem.startswith("f") else ["copy"])
            self.op(a.type, f"linalg.{kind} ins({a.name} : {a.type}) outs({out.name} : {a.type}) -> {a.type}")
            return
        kind = self.rng.choice(["add", "sub", "mul"])
        text = f"ins({a.name}, {b.name} : {a.type}, {b.type}) outs({out.name} : {out.type}) -> {out.type}"
        self.op(a.type, f"linalg.{kind} {text}")

    def map(self) -> None:
        a = self.tensor()
        b, out = self.like(a.type), self.like(a.type)
        result, x, y, o, z = self.new(a.type), *(self.name() for _ in range(4))
        self.line(
            f"{result.name} = linalg.map ins({a.name}, {b.name} : {a.type}, {b.type}) outs({out.name} : {out.type})"
        )
        self.line(f"  ({x}: {self.elem}, {y}: {self.elem}, {o}: {self.elem}) {{")
        self.line(f"    {z} = {self.arith(x, self.rng.choice([y, y, o]))}")
        self.line(f"    linalg.yield {z} : {self.elem}")
        self.line("  }")
        self.scopes[-1].values.append(result)

    def reduce(self) -> None:
        a = self.tensor(rank=2)
        axis = self.rng.randrange(2)
        out = self.like(Tensor((a.tensor.shape[1 - axis],), self.elem))
        kind = "arith.addf" if self.elem.startswith("f") else "arith.addi"
        text = f"ins({a.name} : {a.type}) outs({out.name} : {out.type}) dimensions = [{axis}]"
        self.op(out.type, f"linalg.reduce {{ {kind} }} {text}")

    def matmul(self) -> None:
        a = self.tensor(rank=2)
        (m, k) = a.tensor.shape
        b = self.like(Tensor((k, m), self.elem))
        out = self.like(Tensor((m, m), self.elem))
        text = f"ins({a.name}, {b.name} : {a.type}, {b.type}) outs({out.name} : {out.type}) -> {out.type}"
        self.op(out.type, f"linalg.matmul {text}")

    def transpose(self) -> None:
        a = self.tensor(rank=2)
        (m, n) = a.tensor.shape
        out = self.like(Tensor((n, m), self.elem))
        text = f"ins({a.name} : {a.type}) outs({out.name} : {out.type}) permutation = [1, 0]"
        self.op(out.type, f"linalg.transpose {text}")

    def broadcast(self) -> None:
        a = self.tensor(rank=1)
        out = self.like(Tensor((*a.tensor.shape, 8), self.elem))
        self.op(out.type, f"linalg.broadcast ins({a.name} : {a.type}) outs({out.name} : {out.type}) dimensions = [1]")

    def generic(self) -> None:
        """One or two destinations of one type; inputs through maps of all kinds; the body reads what it likes."""
        out = self.tensor()
        outs = [out, *([self.like(out.type)] if self.chance(0.12) else [])]
        rank = out.tensor.rank
        extra = self.chance(0.2)
        shape: tuple[int | None, ...] = (*out.tensor.shape, *((8,) if extra else ()))
        loops = len(shape)
        dims_of_out = list(range(rank))
        if rank == 2 and self.chance(0.1):
            dims_of_out.reverse()
            shape = (shape[1], shape[0], *shape[2:])
        ins, maps = [], []
        for i in range(self.rng.choice([0, 1, 1, 2])):
            dims = self.map_of(loops, must=i == 0 and extra)
            ins.append(self.like(Tensor(tuple(shape[d] for d in dims), self.elem)))
            maps.append(dims)
        if extra and not ins:
            ins, maps = [self.like(Tensor(shape, self.elem))], [list(range(loops))]
        self.emit_generic(ins, outs, [*maps, *([dims_of_out] * len(outs))], loops, rank)

    def map_of(self, loops: int, *, must: bool) -> list[int]:
        """The loops that an input goes along: all in order, all in another order, some. `must` keeps the last one."""
        dims = list(range(loops))
        if self.chance(0.25):
            self.rng.shuffle(dims)
        if loops and self.chance(0.25):
            dropped = self.rng.randrange(loops - 1 if must else loops) if loops > 1 or not must else None
            dims = [d for d in dims if d != dropped]
        return dims

    def emit_generic(
        self, ins: list[Value], outs: list[Value], maps: list[list[int]], loops: int, parallel: int
    ) -> None:
        kinds = ['"parallel"'] * parallel + ['"reduction"'] * (loops - parallel)
        head = f"indexing_maps = [{', '.join(affine(loops, m) for m in maps)}], iterator_types = [{', '.join(kinds)}]"
        inputs = f" ins({names(ins)} : {types(ins)})" if ins else ""
        seen = self.tensor(rank=1) if self.chance(0.1) else None
        at = self.index()
        scalar = self.scalar()
        text = f"linalg.generic {{{head}}}{inputs} outs({names(outs)} : {types(outs)}) {{"
        results = self.ops(text, [v.type for v in outs])
        args = [Value(self.name(), self.elem) for _ in (*ins, *outs)]
        self.line(f"^bb0({', '.join(f'{a.name}: {a.type}' for a in args)}):")
        with self.block():
            if seen is not None:
                args.append(self.op(self.elem, f"tensor.extract {seen.name}[{at}] : {seen.type}"))
            usable = [a.name for a in args if self.chance(0.75)] or [scalar]
            yielded = []
            for _ in outs:
                yielded.append(self.op(self.elem, self.arith(self.rng.choice(usable), self.rng.choice(usable))))
            self.line(f"linalg.yield {names(yielded)} : {types(yielded)}")
        self.line(f"}} -> {types(outs)}" if len(outs) == 1 else f"}} -> ({types(outs)})")
        self.scopes[-1].values += results

    # -- others
    def transfer_read(self) -> None:
        base, pad = self.tensor(rank=1), self.scalar()
        vector = f"vector<4x{self.elem}>"
        self.op(vector, f"vector.transfer_read {base.name}[{self.index()}], {pad} : {base.type}, {vector}")

    def transfer_all(self) -> None:
        """A whole row or matrix as a vector, read or written at 0 or elsewhere."""
        base = self.tensor()
        shape = base.tensor.shape
        if not shape or None in shape:
            return
        vector = f"vector<{'x'.join(spelled(d) for d in shape)}x{self.elem}>"
        zero = self.op("index", "arith.constant 0 : index").name
        at = ", ".join(zero if self.chance(0.7) else self.index() for _ in shape)
        bounds = f" {{in_bounds = [{', '.join(self.rng.choice(['true', 'true', 'false']) for _ in shape)}]}}"
        if (known := self.pick(lambda v: v.type == vector)) is not None:
            text = f"{known.name}, {base.name}[{at}]{bounds} : {vector}, {base.type}"
            self.op(base.type, f"vector.transfer_write {text}")
            return
        text = f"{base.name}[{at}], {self.scalar()}{bounds} : {base.type}, {vector}"
        self.op(vector, f"vector.transfer_read {text}")

    def transfer_write(self) -> None:
        base = self.tensor(rank=1)
        vector = self.pick(lambda v: v.type == f"vector<4x{self.elem}>")
        if vector is not None:
            at, bounds = self.index(), " {in_bounds = [true]}" if self.chance(0.5) else ""
            text = f"{vector.name}, {base.name}[{at}]{bounds} : {vector.type}, {base.type}"
            self.op(base.type, f"vector.transfer_write {text}")

    def materialize(self) -> None:
        a = self.tensor()
        b = self.like(a.type)
        text = f"{a.name} in {b.name} : ({a.type}, {b.type}) -> {b.type}"
        self.op(b.type, f"bufferization.materialize_in_destination {text}")

    def unknown(self) -> None:
        a = self.tensor()
        if self.chance(0.5):
            self.line(f'"lab.look"({a.name}) : ({a.type}) -> ()')
        else:
            self.op(a.type, f'"lab.make"({a.name}) : ({a.type}) -> {a.type}')

    def to_buffer(self) -> None:
        a = self.tensor(rank=1)
        (d,) = a.tensor.shape
        memref = f"memref<{spelled(d)}x{self.elem}>"
        only = " read_only" if self.chance(0.5) else ""
        buffer = self.op(memref, f"bufferization.to_buffer {a.name}{only} : {a.type} to {memref}")
        if self.chance(0.6):
            self.op(self.elem, f"memref.load {buffer.name}[{self.index()}] : {memref}")

    def to_tensor(self) -> None:
        memref = f"memref<8x{self.elem}>"
        buffer = self.pick(lambda v: v.type == memref)
        if buffer is not None:
            made = Tensor((8,), self.elem)
            words = self.rng.choice(["restrict", "restrict writable"])
            self.op(made, f"bufferization.to_tensor {buffer.name} {words} : {memref} to {made}")
