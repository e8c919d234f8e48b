"""Small functions at tensor level, built by hand as the NumPy front end would build them, with arguments and meaning.

`PROGRAMS` lists them; `by_name` gives one. They are shared by the tests of the printer, the interpreters, the analysis
and the passes after it, so that those need no front end. `Maker` is the small builder they are written with.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from tracebuf.ir.core import Block, Builder, Mixed, Value
from tracebuf.ir.dims import Dim, Expr, Sym, add, mul, product, sub, symbols, terms_of
from tracebuf.ir.func import Func
from tracebuf.ir.slices import Slice
from tracebuf.ir.types import F64, I64, INDEX, ScalarType, ShapedType, TensorType, Type, row_major
from tracebuf.location import Location
from tracebuf.ops.arrays import bufferization, host, linalg, pick, tensor, windows
from tracebuf.ops.arrays.linalg import AffineMap, identity_map
from tracebuf.ops.control import checks, func, scf
from tracebuf.ops.scalars import arith, casts
from tracebuf.running.host import HostFunction

Part = tuple[Mixed | Dim, Mixed | Dim, Mixed | Dim]
"""(offset, size, stride) of one base dimension."""
Body = Callable[..., Sequence[Value]]


@dataclass(frozen=True)
class Program:
    """`build()` makes a new Func; `arguments()` new arguments; `eager` runs on arrays and may modify them."""

    name: str
    build: Callable[[], Func]
    arguments: Callable[[], list[Any]]
    eager: Callable[..., Any]
    in_place: bool = True
    """A good analysis needs no copy (and allocates only what eager's fresh results need)."""


class Maker:
    """Builds one function. Shapes are given as ints and names of size symbols: `Maker("f", u=("n", "m"), x=F64)`."""

    def __init__(self, name: str, **args: tuple[int | str, ...] | ScalarType) -> None:
        self.syms: dict[str, Sym] = {}
        types: list[Type] = []
        for spec in args.values():
            if isinstance(spec, tuple):
                shape = tuple(d if isinstance(d, int) else self.dim(d) for d in spec)
                types.append(TensorType(shape, F64))
            else:
                types.append(spec)
        self.func = Func(name, types, self.loc(0))
        self.builder = Builder(self.func.block)
        self.line = 0
        self.scopes: list[dict[Dim | float, Value]] = [{}]
        for value, arg_name, attrs in zip(self.func.args, args, self.func.arg_attrs):
            value.name = arg_name
            if isinstance(value.type, TensorType):
                attrs.update({"strides": row_major(value.type.shape), "bufferization.writable": False})
                for i, d in enumerate(value.type.shape):
                    if isinstance(d, Expr):
                        self.bind(d, value, i)
        self.args = self.func.args

    def dim(self, name: str) -> Expr:
        return self.syms.setdefault(name, Sym(name, "dim")).expr

    def bind(self, d: Expr, value: Value, axis: int) -> None:
        s = next(iter(symbols(d)))
        if s not in self.func.symbols:
            self.func.symbols[s] = self.scopes[0][d] = self.add(tensor.Dim.of(value, axis, self.loc()))

    def loc(self, line: int | None = None) -> Location:
        if line is None:
            self.line = line = getattr(self, "line", 0) + 1
        return Location("program.py", line, 4, 20, "f")

    def add(self, op: Any) -> Value:
        """Adds the op; its first result."""
        return self.builder.add(op).results[0]  # type: ignore[no-any-return]

    # -- scalars and sizes
    def const(self, value: float, element: ScalarType = F64) -> Value:
        return self.add(arith.Constant.of(value, element, self.loc()))

    def index(self, d: Mixed | Dim) -> Value:
        """A size expression (a polynomial) as a value of type index; equal ones are one value where scopes allow."""
        if isinstance(d, Value):
            return d
        for scope in self.scopes:
            if d in scope:
                return scope[d]
        total: Value | None = None
        for monomial, coefficient in terms_of(d).items() or [((), 0)]:
            term = self.const(coefficient, INDEX) if coefficient != 1 or not monomial else None
            for atom in monomial:
                assert isinstance(atom, Sym)
                value = self.func.symbols[atom]
                term = value if term is None else self.add(arith.MulI.of(term, value, self.loc()))
            assert term is not None
            total = term if total is None else self.add(arith.AddI.of(total, term, self.loc()))
        assert total is not None
        self.scopes[-1][d] = total
        return total

    def mixed(self, d: Mixed | Dim) -> Mixed:
        return d if isinstance(d, int) else self.index(d)

    # -- tensors
    def empty(self, *shape: Dim, element: ScalarType = F64) -> Value:
        return self.add(tensor.Empty.of(TensorType(shape, element), [self.mixed(d) for d in shape], self.loc()))

    def zeros(self, *shape: Dim, value: float = 0.0) -> Value:
        return self.fill(value, self.empty(*shape))

    def fill(self, value: float | Value, out: Value) -> Value:
        return self.add(linalg.Fill.of(value if isinstance(value, Value) else self.const(value), out, self.loc()))

    def geometry(self, parts: Sequence[Part], dims: Sequence[int | None] | None) -> Slice:
        offsets, sizes, strides = (tuple(self.mixed(p[k]) for p in parts) for k in range(3))
        return Slice(offsets, sizes, strides, tuple(range(len(parts))) if dims is None else tuple(dims))

    def view(self, base: Value, *parts: Part, dims: Sequence[int | None] | None = None) -> Value:
        kept = tuple(range(len(parts))) if dims is None else tuple(dims)
        shape = tuple(1 if d is None else size_of(parts[d][1]) for d in kept)
        type_ = TensorType(shape, base.tensor_type.element)
        return self.add(tensor.ExtractSlice.of(base, self.geometry(parts, dims), type_, self.loc()))

    def store(self, value: Value, base: Value, *parts: Part, dims: Sequence[int | None] | None = None) -> Value:
        return self.add(tensor.InsertSlice.of(value, base, self.geometry(parts, dims), self.loc()))

    def collapse(self, base: Value, *groups: tuple[int, ...]) -> Value:
        shape = tuple(product(base.tensor_type.shape[a] for a in group) for group in groups)
        type_ = TensorType(shape, base.tensor_type.element)
        return self.add(tensor.CollapseShape.of(base, groups, type_, self.loc()))

    def expand(self, base: Value, groups: Sequence[tuple[int, ...]], *shape: Dim) -> Value:
        type_, sizes = TensorType(shape, base.tensor_type.element), [self.mixed(d) for d in shape]
        return self.add(tensor.ExpandShape.of(base, groups, sizes, type_, self.loc()))

    def whole(self, base: Value) -> list[Part]:
        return [(0, d, 1) for d in base.tensor_type.shape]

    def ew(self, kind: Any, *ins: Value, out: Value | None = None) -> Value:
        """One scalar op over whole arrays (or scalars), into `out` or a fresh array; ranks broadcast as in NumPy."""
        shaped = [v.type for v in ins if isinstance(v.type, ShapedType)]
        big = max(shaped, key=lambda t: t.rank)
        out = self.empty(*big.shape) if out is None else out
        maps = []
        for v in [*ins, out]:
            rank = v.type.rank if isinstance(v.type, ShapedType) else 0
            maps.append(AffineMap(big.rank, tuple(range(big.rank - rank, big.rank))))
        body = Block([F64] * (len(ins) + 1))
        inner = Builder(body)
        op = inner.add(kind.of(*body.args[:-1], self.loc()))
        inner.add(linalg.Yield.of([op.result], self.loc()))
        return self.add(linalg.Generic.of(ins, [out], maps, ["parallel"] * big.rank, body, self.loc()))

    def reduce(self, kind: Any, value: Value, axes: Sequence[int], init: float) -> Value:
        shape = value.tensor_type.shape
        kept = tuple(d for d in range(len(shape)) if d not in axes)
        out = self.fill(init, self.empty(*(shape[d] for d in kept)))
        body = Block([F64, F64])
        inner = Builder(body)
        op = inner.add(kind.of(*body.args, self.loc()))
        inner.add(linalg.Yield.of([op.result], self.loc()))
        iterators = ["reduction" if d in axes else "parallel" for d in range(len(shape))]
        maps = [identity_map(len(shape)), AffineMap(len(shape), kept)]
        return self.add(linalg.Generic.of([value], [out], maps, iterators, body, self.loc()))

    def extract(self, base: Value, *indices: Mixed | Dim) -> Value:
        return self.add(tensor.Extract.of(base, [self.index(i) for i in indices], self.loc()))

    def insert(self, scalar: Value, base: Value, *indices: Mixed | Dim) -> Value:
        return self.add(tensor.Insert.of(scalar, base, [self.index(i) for i in indices], self.loc()))

    # -- control flow
    def nested(
        self, block: Block, run: Callable[[], Sequence[Value]], end: type[scf.Yield | scf.Condition] = scf.Yield
    ) -> None:
        outer, self.builder = self.builder, Builder(block)
        self.scopes.append({})
        self.builder.add(end.of(run(), self.loc()))
        self.scopes.pop()
        self.builder = outer

    def loop(
        self, lower: Mixed | Dim, upper: Mixed | Dim, inits: Sequence[Value], run: Body, iv: str = "i"
    ) -> list[Value]:
        """`run(i: Expr, *carried)` gives what the body yields; `i` works as a size expression."""
        bounds = [self.index(lower), self.index(upper), self.index(1)]
        body = Block([INDEX, *(v.type for v in inits)])
        s = Sym(iv, "iv")
        body.args[0].name, self.func.symbols[s] = iv, body.args[0]
        self.nested(body, lambda: run(s.expr, *body.args[1:]))
        return self.builder.add(scf.For.of(bounds, inits, body, self.loc())).results

    def rounds(self, inits: Sequence[Value], before: Body, after: Body | None = None) -> list[Value]:
        """scf.while: `before(*carried)` gives the condition and what is forwarded, `after(*forwarded)` what goes back
        (as it comes, if not given)."""
        first = Block([v.type for v in inits])
        self.nested(first, lambda: before(*first.args), scf.Condition)
        last = Block([v.type for v in first.terminator.operands[1:]])
        self.nested(last, lambda: after(*last.args) if after else last.args)
        return self.builder.add(scf.While.of(inits, first, last, self.loc())).results

    def branch(self, condition: Value, then: Body, orelse: Body, types: Sequence[Type]) -> list[Value]:
        blocks = Block(), Block()
        self.nested(blocks[0], then)
        self.nested(blocks[1], orelse)
        return self.builder.add(scf.If.of(condition, types, *blocks, self.loc())).results

    def done(self, *results: Value, stored: dict[int, Value] | None = None) -> Func:
        """Ends the function; `stored` gives the final value of each argument that was stored to."""
        final: dict[Value, Value] = {}
        for i, value in (stored or {}).items():
            self.func.arg_attrs[i]["bufferization.writable"] = True
            final[value] = self.add(bufferization.MaterializeInDestination.of(value, self.args[i], self.loc()))
        self.builder.add(func.Return.of([final.get(r, r) for r in results], self.loc()))
        return self.func


def size_of(d: Mixed | Dim) -> Dim:
    assert not isinstance(d, Value), "give sizes as expressions"
    return d


def array(*shape: int) -> np.ndarray:
    """Distinct small numbers, exact in every sum here."""
    return np.arange(float(np.prod(shape))).reshape(shape) * 0.5 - 3.0


# -- the programs ----------------------------------------------------------------------------------------------------


def chain() -> Func:
    """return u * 2 + v"""
    m = Maker("chain", u=("n",), v=("n",))
    u, v = m.args
    return m.done(m.ew(arith.AddF, m.ew(arith.MulF, u, m.const(2.0)), v))


def stencil() -> Func:
    """v[1:-1] += u[:-2] + u[2:]"""
    m = Maker("stencil", u=("n",), v=("n",))
    u, v = m.args
    inner = sub(m.dim("n"), 2)
    both = m.ew(arith.AddF, m.view(u, (0, inner, 1)), m.view(u, (2, inner, 1)))
    new = m.ew(arith.AddF, m.view(v, (1, inner, 1)), both)
    return m.done(stored={1: m.store(new, v, (1, inner, 1))})


def augmented() -> Func:
    """u += dt * v"""
    m = Maker("augmented", u=("n", "k"), v=("n", "k"), dt=F64)
    u, v, dt = m.args
    new = m.ew(arith.AddF, u, m.ew(arith.MulF, dt, v))
    return m.done(stored={0: m.store(new, u, *m.whole(u))})


def shift() -> Func:
    """a[1:] = a[:-1] (needs a copy: source and target overlap)"""
    m = Maker("shift", a=("n",))
    (a,) = m.args
    less = sub(m.dim("n"), 1)
    return m.done(stored={0: m.store(m.view(a, (0, less, 1)), a, (1, less, 1))})


def reversed_self() -> Func:
    """a[:] = a[::-1] (needs a copy)"""
    m = Maker("reversed_self", a=("n",))
    (a,) = m.args
    n = m.dim("n")
    return m.done(stored={0: m.store(m.view(a, (sub(n, 1), n, -1)), a, (0, n, 1))})


def transposed() -> Func:
    """a.T[...] = b + 1 (a view store through a transpose)"""
    m = Maker("transposed", a=("n", "k"), b=("k", "n"))
    a, b = m.args
    new = m.ew(arith.AddF, b, m.const(1.0))
    return m.done(stored={0: m.store(new, a, *m.whole(a), dims=(1, 0))})


def recurrence() -> Func:
    """for i in range(1, n): a[i] = a[i - 1] + x"""
    m = Maker("recurrence", a=("n",), x=F64)
    a, x = m.args

    def body(i: Expr, a: Value) -> list[Value]:
        return [m.insert(m.add(arith.AddF.of(m.extract(a, sub(i, 1)), x, m.loc())), a, i)]

    return m.done(stored={0: m.loop(1, m.dim("n"), [a], body)[0]})


def nested() -> Func:
    """for i in range(n): for j in range(i): a[i] += b[j, i] * a[j] (rows of a, slices that depend on both)"""
    m = Maker("nested", a=("n", "k"), b=("n", "n"))
    a, b = m.args
    k = m.dim("k")

    def outer(i: Expr, a: Value) -> list[Value]:
        def inner(j: Expr, a: Value) -> list[Value]:
            row_j = m.view(a, (j, 1, 1), (0, k, 1), dims=(1,))
            row_i = m.view(a, (i, 1, 1), (0, k, 1), dims=(1,))
            new = m.ew(arith.AddF, row_i, m.ew(arith.MulF, row_j, m.extract(b, j, i)))
            return [m.store(new, a, (i, 1, 1), (0, k, 1), dims=(1,))]

        return m.loop(0, i, [a], inner, "j")

    return m.done(stored={0: m.loop(0, m.dim("n"), [a], outer)[0]})


def one_branch() -> Func:
    """if x > 0: a[0] = x; return a[-1] + x"""
    m = Maker("one_branch", a=("n",), x=F64)
    a, x = m.args
    condition = m.add(arith.CmpF.of("ogt", x, m.const(0.0), m.loc()))
    last = sub(m.dim("n"), 1)
    (new,) = m.branch(condition, lambda: [m.insert(x, a, 0)], lambda: [a], [a.type])
    return m.done(m.add(arith.AddF.of(m.extract(new, last), x, m.loc())), stored={0: new})


def axis_sum() -> Func:
    """return a.sum(axis=0)"""
    m = Maker("axis_sum", a=("n", "k"))
    return m.done(m.reduce(arith.AddF, m.args[0], [0], 0.0))


def centred() -> Func:
    """s = a.sum(); a -= s; return s"""
    m = Maker("centred", a=("n", "k"))
    (a,) = m.args
    s = m.extract(m.reduce(arith.AddF, a, [0, 1], 0.0))
    return m.done(s, stored={0: m.store(m.ew(arith.SubF, a, s), a, *m.whole(a))})


def matmul_block() -> Func:
    """c[1:, 1:] = a @ b"""
    m = Maker("matmul_block", a=("n", "k"), b=("k", "p"), c=("q", "r"))
    a, b, c = m.args
    n, p = m.dim("n"), m.dim("p")
    new = m.add(linalg.Contraction.of(a, b, m.zeros(n, p), m.loc()))
    return m.done(stored={2: m.store(new, c, (1, n, 1), (1, p, 1))})


def fresh_in_loop() -> Func:
    """z = zeros(n); for i in range(n): z[i] = a[i] * 2; return z"""
    m = Maker("fresh_in_loop", a=("n",))
    (a,) = m.args
    n = m.dim("n")

    def body(i: Expr, z: Value) -> list[Value]:
        return [m.insert(m.add(arith.MulF.of(m.extract(a, i), m.const(2.0), m.loc())), z, i)]

    return m.done(m.loop(0, n, [m.zeros(n)], body)[0])


def rotating() -> Func:
    """p, q = zeros(n), ones(n); for i in range(k): p, q = q, p + q; return q, p (a swap of private storages)"""
    m = Maker("rotating", a=("n",), k=INDEX)
    a, k = m.args
    n = m.dim("n")

    def body(i: Expr, p: Value, q: Value) -> list[Value]:
        return [q, m.ew(arith.AddF, p, q)]

    p, q = m.loop(0, k, [m.zeros(n), m.zeros(n, value=1.0)], body)
    return m.done(q, p)


def checked_max() -> Func:
    """a[i] (IndexError where out of range), then return a.max() after a[i] = 9"""
    m = Maker("checked_max", a=("n",), i=INDEX)
    a, i = m.args
    fits = m.add(arith.CmpI.of("slt", i, m.index(m.dim("n")), m.loc()))
    m.builder.add(checks.Check.of(fits, "IndexError", "index {0} is out of bounds", [i], m.loc()))
    new = m.insert(m.const(9.0), a, i)
    return m.done(m.extract(m.reduce(arith.MaximumF, new, [0], -np.inf)), stored={0: new})


def view_result() -> Func:
    """a += 1; b = zeros(2 * n); b[::2] = a; return b[1:], a[1:] (views as results)"""
    m = Maker("view_result", a=("n",))
    (a,) = m.args
    n = m.dim("n")
    new = m.store(m.ew(arith.AddF, a, m.const(1.0)), a, (0, n, 1))
    b = m.store(new, m.zeros(mul(n, 2)), (0, n, 2))
    final = m.add(bufferization.MaterializeInDestination.of(new, a, m.loc()))
    m.func.arg_attrs[0]["bufferization.writable"] = True
    less = sub(n, 1)
    return m.done(m.view(b, (1, add(n, less), 1)), m.view(final, (1, less, 1)))


# -- what NumPy does -------------------------------------------------------------------------------------------------


def eager_stencil(u: np.ndarray, v: np.ndarray) -> None:
    v[1:-1] += u[:-2] + u[2:]


def eager_augmented(u: np.ndarray, v: np.ndarray, dt: float) -> None:
    u += dt * v


def eager_shift(a: np.ndarray) -> None:
    a[1:] = a[:-1].copy()


def eager_reversed(a: np.ndarray) -> None:
    a[:] = a[::-1].copy()


def eager_transposed(a: np.ndarray, b: np.ndarray) -> None:
    a.T[...] = b + 1


def eager_recurrence(a: np.ndarray, x: float) -> None:
    for i in range(1, len(a)):
        a[i] = a[i - 1] + x


def eager_nested(a: np.ndarray, b: np.ndarray) -> None:
    for i in range(a.shape[0]):
        for j in range(i):
            a[i] += b[j, i] * a[j]


def regrouped() -> Func:
    """a.reshape(-1)[1:-1] *= a.reshape(-1)[1:-1]"""
    m = Maker("regrouped", a=("n", "m"))
    (a,) = m.args
    n, k = a.tensor_type.shape
    flat = m.collapse(a, (0, 1))
    part: Part = (1, sub(mul(n, k), 2), 1)
    inner = m.view(flat, part)
    stored = m.expand(m.store(m.ew(arith.MulF, inner, inner), flat, part), [(0, 1)], n, k)
    return m.done(stored={0: stored})


def diagonal() -> Func:
    """b = a.diagonal() * 2, of a square array of 3 planes"""
    m = Maker("diagonal", a=(3, "n", "n"))
    found = m.add(tensor.ExtractDiagonal.of(m.args[0], (1, 2), m.loc()))
    return m.done(m.ew(arith.AddF, found, found))


def runs() -> Func:
    """b = windows of 3 elements of a, doubled"""
    m = Maker("runs", a=(2, "n"))
    shape = (2, add(m.dim("n"), -2), 3)
    found = m.add(windows.ExtractWindows.of(m.args[0], m.index(3), 1, shape, m.loc()))
    return m.done(m.ew(arith.AddF, found, found))


def picked() -> Func:
    """for x in (a, b, a): c[1:] = x[1:] - c[:-1]; c += x"""
    m = Maker("picked", a=("n",), b=("n",), c=("n",))
    a, b, c = m.args
    n = m.dim("n")

    def body(i: Expr, c: Value) -> list[Value]:
        x = m.add(pick.Pick.of(m.index(i), [a, b, a], a.type, m.loc()))
        new = m.ew(arith.SubF, m.view(x, (1, add(n, -1), 1)), m.view(c, (0, add(n, -1), 1)))
        return [m.ew(arith.AddF, m.store(new, c, (1, add(n, -1), 1)), x)]

    return m.done(stored={2: m.loop(0, 3, [c], body)[0]})


def eager_picked(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> None:
    for x in (a, b, a):
        c[1:] = x[1:] - c[:-1]
        c += x


def eager_regrouped(a: np.ndarray) -> None:
    a.reshape(-1)[1:-1] *= a.reshape(-1)[1:-1]


def eager_one_branch(a: np.ndarray, x: float) -> float:
    if x > 0:
        a[0] = x
    return float(a[-1] + x)


def eager_centred(a: np.ndarray) -> float:
    s = a.sum()
    a -= s
    return float(s)


def eager_matmul(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> None:
    c[1:, 1:] = a @ b


def eager_rotating(a: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    p, q = np.zeros(len(a)), np.ones(len(a))
    for _ in range(k):
        p, q = q, p + q
    return q, p


def eager_max(a: np.ndarray, i: int) -> float:
    a[i] = 9
    return float(a.max())


def eager_view(a: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    a += 1
    b = np.zeros(2 * len(a))
    b[::2] = a
    return b[1:], a[1:]


def placed() -> Func:
    """a *= np.arange(k), made where it is used (loop indices in a fused body)"""
    m = Maker("placed", a=("n", "k"))
    (a,) = m.args
    out = m.empty(m.dim("n"), m.dim("k"))
    body = Block([F64])
    inner = Builder(body)
    place = inner.add(linalg.Index.of(1, m.loc())).result
    number = inner.add(casts.SIToFP.of(inner.add(arith.IndexCast.of(place, I64, m.loc())).result, F64, m.loc()))
    inner.add(linalg.Yield.of([number.result], m.loc()))
    steps = m.add(linalg.Generic.of([], [out], [identity_map(2)], ["parallel"] * 2, body, m.loc()))
    return m.done(stored={0: m.store(m.ew(arith.MulF, a, steps), a, *m.whole(a))})


def running() -> Func:
    """return np.cumsum(a): one op of two results, of which the first does not vary in the loop"""
    m = Maker("running", a=("n",))
    (a,) = m.args
    body = Block([F64] * 3)
    inner = Builder(body)
    total = inner.add(arith.AddF.of(body.args[1], body.args[0], m.loc())).result
    inner.add(linalg.Yield.of([total, total], m.loc()))
    maps = [identity_map(1), AffineMap(1, ()), identity_map(1)]
    outs = [m.fill(-0.0, m.empty()), m.empty(m.dim("n"))]
    return m.done(m.builder.add(linalg.Generic.of([a], outs, maps, ["reduction"], body, m.loc())).results[1])


def host_calls() -> Func:
    """b = np.cumsum(a); a.sort(); return b + a"""
    m = Maker("host_calls", a=("n",))
    (a,) = m.args
    b = m.add(host.HostCall.of(CUMSUM, [a], [m.empty(m.dim("n"))], [0], m.loc()))
    ordered = m.add(host.HostCall.of(SORT, [], [a], [], m.loc()))
    return m.done(m.ew(arith.AddF, b, ordered), stored={0: ordered})


CUMSUM = HostFunction("numpy.cumsum", lambda ins, outs: np.copyto(outs[0], np.cumsum(ins[0])))
SORT = HostFunction("numpy.ndarray.sort", lambda ins, outs: outs[0].sort())


def eager_host_calls(a: np.ndarray) -> np.ndarray:
    b = np.cumsum(a)
    a.sort()
    found: np.ndarray = b + a
    return found


def eager_placed(a: np.ndarray) -> None:
    a *= np.arange(a.shape[1])


PROGRAMS = [
    Program("chain", chain, lambda: [array(7), array(7)], lambda u, v: u * 2 + v),
    Program("stencil", stencil, lambda: [array(7), array(7)], eager_stencil),
    Program("augmented", augmented, lambda: [array(3, 4), array(3, 4), 0.25], eager_augmented),
    Program("shift", shift, lambda: [array(7)], eager_shift, in_place=False),
    Program("reversed_self", reversed_self, lambda: [array(7)], eager_reversed, in_place=False),
    Program("transposed", transposed, lambda: [array(3, 4), array(4, 3)], eager_transposed),
    Program("recurrence", recurrence, lambda: [array(7), 0.5], eager_recurrence),
    Program("nested", nested, lambda: [array(4, 3), array(4, 4)], eager_nested),
    Program("one_branch", one_branch, lambda: [array(5), 2.0], eager_one_branch),
    Program("axis_sum", axis_sum, lambda: [array(3, 4)], lambda a: a.sum(axis=0)),
    Program("centred", centred, lambda: [array(3, 4)], eager_centred),
    Program("matmul_block", matmul_block, lambda: [array(2, 3), array(3, 4), array(3, 5)], eager_matmul),
    Program("fresh_in_loop", fresh_in_loop, lambda: [array(6)], lambda a: a * 2),
    Program("rotating", rotating, lambda: [array(4), 5], eager_rotating),
    Program("checked_max", checked_max, lambda: [array(6), 2], eager_max),
    Program("placed", placed, lambda: [array(3, 4)], eager_placed),
    Program("running", running, lambda: [array(6)], np.cumsum),
    Program("host_calls", host_calls, lambda: [-array(6)], eager_host_calls),
    Program("view_result", view_result, lambda: [array(4)], eager_view),
    Program("regrouped", regrouped, lambda: [array(3, 4)], eager_regrouped),
    Program("runs", runs, lambda: [array(2, 6)], lambda a: sliding_window_view(a, 3, 1) * 2),
    Program("picked", picked, lambda: [array(6), -array(6), array(6) + 1], eager_picked, in_place=False),
    Program("diagonal", diagonal, lambda: [array(3, 4, 4)], lambda a: a.diagonal(0, 1, 2) * 2),
]


def by_name(name: str) -> Program:
    return next(p for p in PROGRAMS if p.name == name)
