"""Memref programs, built by hand, as native code: values against NumPy over dtypes, strides and sizes; what is called
how.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from tests.support.agreement import agree
from tests.support.arrays import floats
from tests.support.params import one_in, slow_but
from tests.support.random_programs import random_func
from tests.support.threads import at_once
from tracebuf import bufferize, mlir, pipeline
from tracebuf.backend.llvm.emit import emit_kernel
from tracebuf.backend.llvm.loops import CHAINS
from tracebuf.backend.runtime.compiled import kernel_of
from tracebuf.backend.runtime.kernel import Kernel
from tracebuf.errors import InternalError
from tracebuf.interpret import memref as interpret
from tracebuf.ir.core import Block, Builder, Op, Value
from tracebuf.ir.dims import Dim, Sym, sym, symbols
from tracebuf.ir.func import Func
from tracebuf.ir.printer import print_func
from tracebuf.ir.slices import Slice
from tracebuf.ir.types import F32, F64, I1, I64, INDEX, MemRefType, ScalarType, Type, row_major, scalar_type
from tracebuf.location import UNKNOWN as L
from tracebuf.ops.arrays import bufferization, linalg
from tracebuf.ops.control import checks, scf
from tracebuf.ops.control import func as fn
from tracebuf.ops.memory import memref
from tracebuf.ops.scalars import arith
from tracebuf.optimize.buffers.assign_storage import assign_storage
from tracebuf.options import Options
from tracebuf.testing.ladder import climb

SIZES = [0, 1, 7, 513, 5000]
N, M, K = (sym(Sym(n, "dim")) for n in "nmk")
Body = Callable[[Builder, Sequence[Value]], Sequence[Value]]


def known(shape: tuple[Dim, ...], element: ScalarType = F64) -> MemRefType:
    return MemRefType(shape, element, row_major(shape), 0)


def unknown(shape: tuple[Dim, ...], element: ScalarType = F64) -> MemRefType:
    return MemRefType(shape, element, (None,) * len(shape), None)


class Program:
    """A memref function being written; `run` compiles it once."""

    def __init__(self, *types: Type) -> None:
        self.func = Func("program", types)
        self.b = Builder(self.func.block, L)
        self.args = self.func.args
        self.kernel: Kernel | None = None

    def add(self, op: Any) -> Value:
        self.b.add(op)
        result: Value = op.results[0] if op.results else op
        return result

    def index(self, value: int) -> Value:
        return self.add(arith.Constant.of(value, INDEX, L))

    def constant(self, value: float, element: ScalarType = F64) -> Value:
        return self.add(arith.Constant.of(value, element, L))

    def alloc(
        self, like: Value, dims: Sequence[int] | None = None, element: ScalarType | None = None, **attrs: Any
    ) -> Value:
        """A buffer with the sizes of some dimensions of `like`."""
        type_ = like.memref_type
        dims = range(type_.rank) if dims is None else dims
        sizes = [self.add(memref.Dim.of(like, d, L)) for d in dims]
        shape = tuple(type_.shape[d] for d in dims)
        op = memref.Alloc.of(shape, element or type_.element, sizes, tuple(range(len(shape))), "test", L)
        op.attrs.update(attrs)
        return self.add(op)

    def generic(
        self,
        ins: Sequence[Value],
        outs: Sequence[Value],
        maps: Sequence[tuple[int | None, ...]],
        iterators: str,
        body: Body,
    ) -> None:
        names = [{"p": "parallel", "r": "reduction"}[i] for i in iterators]
        block = Block([linalg.element_type(v.type) for v in (*ins, *outs)])
        builder = Builder(block, L)
        builder.add(linalg.Yield.of(body(builder, block.args), L))
        affine = [linalg.AffineMap(len(names), m) for m in maps]
        self.add(linalg.Generic.of(ins, outs, affine, names, block, L)).verify()  # type: ignore[attr-defined]

    def map(self, ins: Sequence[Value], out: Value, body: Body) -> None:
        """An elementwise op."""
        rank = out.memref_type.rank
        maps = [tuple(range(rank)) if isinstance(v.type, MemRefType) else () for v in (*ins, out)]
        self.generic(ins, [out], maps, "p" * rank, body)

    def result(self, *values: Value, places: bool = False) -> Program:
        """Ends it; with `places`, its buffers are where assign-storage puts them."""
        self.add(fn.Return.of(values, L))
        if places:
            assign_storage(self.func)
        self.kernel = kernel_of(self.func, "program")
        return self

    def __call__(self, *args: Any) -> list[Any]:
        assert self.kernel is not None
        return self.kernel.run(args)


def one(op: type[arith.BinaryOp]) -> Body:
    return lambda b, v: [b.add(op.of(v[0], v[1], L)).result]


def chain(b: Builder, v: Sequence[Value]) -> list[Value]:
    """exp(x * y + x) * y - x."""
    t = b.add(arith.AddF.of(b.add(arith.MulF.of(v[0], v[1], L)).result, v[0], L)).result
    e = b.add(arith.Ufunc.of("exp", "d->d", [t], F64, L)).result
    return [b.add(arith.SubF.of(b.add(arith.MulF.of(e, v[1], L)).result, v[0], L)).result]


def layouts(n: int, dtype: Any, rng: np.random.Generator) -> list[np.ndarray]:
    """Arrays of n elements: contiguous, every second, reversed, every third from behind, one element repeated."""
    data = (rng.random(3 * n + 1) * 100 - 50).astype(dtype)
    repeated = np.broadcast_to(data[:1], (n,))
    return [data[:n].copy(), data[: 2 * n : 2], data[:n][::-1], data[: 3 * n : 3][::-1], repeated]


@pytest.mark.parametrize(
    ("dtype", "op", "ufunc"),
    [
        ("f8", arith.AddF, np.add), ("f4", arith.MulF, np.multiply), ("f8", arith.MaximumF, np.maximum),
        ("i8", arith.MulI, np.multiply), ("i8", arith.MinSI, np.minimum), ("?", arith.XorI, np.not_equal),
    ],
)  # fmt: skip
def test_elementwise_over_sizes_and_strides(dtype: str, op: type[arith.BinaryOp], ufunc: np.ufunc) -> None:
    element = scalar_type(np.dtype(dtype))
    p = Program(unknown((N,), element), unknown((N,), element))
    out = p.alloc(p.args[0])
    p.map(p.args, out, one(op))
    p.result(out)
    rng = np.random.default_rng(1)
    for n in SIZES:
        for a in layouts(n, dtype, rng):
            for b in layouts(n, dtype, rng)[:2]:
                (result,) = p(a, b)
                np.testing.assert_array_equal(result, ufunc(a, b), strict=True)


def test_a_chain_with_a_numpy_loop_is_bit_identical() -> None:
    """Rule C2: the fused chain gives what NumPy gives op by op, for any stride, since calls always see contiguous
    blocks.
    """
    p = Program(unknown((N,)), unknown((N,)))
    out = p.alloc(p.args[0])
    p.map(p.args, out, chain)
    p.result(out)
    rng = np.random.default_rng(2)
    for n in SIZES:
        for a in layouts(n, "f8", rng):
            x, y = a / 100, np.ascontiguousarray(a[::-1]) / 50
            view = np.empty(2 * n)[::2]
            view[:] = x
            expected = np.exp(x * y + x) * y - x
            for x_ in (x, view):
                np.testing.assert_array_equal(p(x_, y)[0], expected, strict=True)


def test_calls_into_the_out_itself_predicates_scalars_and_stages() -> None:
    p = Program(known((N, M)), F64)
    a, s = p.args
    out, flags = p.alloc(a), p.alloc(a, element=I1)
    p.map([a], flags, lambda b, v: [b.add(arith.Ufunc.of("isfinite", "d->?", [v[0]], I1, L)).result])

    def powers(b: Builder, v: Sequence[Value]) -> list[Value]:
        outside = b.add(arith.Ufunc.of("sqrt", "d->d", [v[1]], F64, L)).result
        first = b.add(arith.Ufunc.of("power", "dd->d", [v[0], outside], F64, L)).result
        second = b.add(arith.Ufunc.of("log", "d->d", [b.add(arith.AddF.of(first, v[0], L)).result], F64, L)).result
        return [b.add(arith.Ufunc.of("arctan2", "dd->d", [second, first], F64, L)).result]

    p.map([a, s], out, powers)
    p.map([a], a, lambda b, v: [b.add(arith.Ufunc.of("exp", "d->d", [v[0]], F64, L)).result])
    p.result(out, flags)
    x = np.random.default_rng(3).random((37, 61))
    x[3, 5] = np.inf
    before = x.copy()
    result, finite = p(x, 5.0)
    with np.errstate(all="ignore"):
        t = np.power(before, np.sqrt(5.0))
        np.testing.assert_array_equal(result, np.arctan2(np.log(t + before), t))
        np.testing.assert_array_equal(x, np.exp(before))
    np.testing.assert_array_equal(finite, np.isfinite(before), strict=True)


def reduction(type_: MemRefType, kept: tuple[int, ...], op: Any, init: float, body: Body | None = None) -> Program:
    p = Program(type_)
    element = type_.element
    out = p.alloc(p.args[0], kept)
    p.add(linalg.Fill.of(p.constant(init, element), out, L))
    iterators = "".join("p" if d in kept else "r" for d in range(type_.rank))

    def fold(b: Builder, v: Sequence[Value]) -> list[Value]:
        new = body(b, v[:1])[0] if body else v[0]
        return [b.add(op.of(v[-1], new, L)).result]

    p.generic([p.args[0]], [out], [tuple(range(type_.rank)), kept], iterators, fold)
    return p.result(out)


@pytest.mark.parametrize(
    ("dtype", "op", "init", "ufunc"),
    one_in(3, [
        ("f8", arith.AddF, 0.0, np.add), ("f4", arith.AddF, 0.0, np.add), ("f8", arith.MulF, 1.0, np.multiply),
        ("f8", arith.MaximumF, -np.inf, np.maximum), ("f4", arith.MinimumF, np.inf, np.minimum),
        ("f8", arith.MaxNumF, np.nan, np.fmax), ("f4", arith.MinNumF, np.nan, np.fmin),
        ("i8", arith.AddI, 0, np.add), ("i8", arith.MaxSI, -(2**63), np.maximum),
        ("?", arith.OrI, False, np.logical_or), ("?", arith.AndI, True, np.logical_and),
    ], rows=True),
)  # fmt: skip
@pytest.mark.parametrize("kept", slow_but([(1,)], [(), (0,), (1,)]))
def test_reductions(dtype: str, op: Any, init: float, ufunc: np.ufunc, kept: tuple[int, ...]) -> None:
    element = scalar_type(np.dtype(dtype))
    programs = [reduction(t((N, M), element), kept, op, init) for t in (known, unknown)]
    rng = np.random.default_rng(4)
    for n, m in [(1, 1), (0, 7), (7, 0), (7, 513), (513, 7), (3, 5000)]:
        a = (rng.random((n, m)) * 2 - 0.5 if dtype[0] == "f" else rng.integers(-9, 9, (n, m))).astype(dtype)
        expected = ufunc.reduce(a, axis=tuple(d for d in (0, 1) if d not in kept), dtype=dtype, initial=init)
        wide = np.zeros((2 * n, 3 * m), dtype)
        wide[::2, ::3] = a
        for p, x in [
            (programs[0], a),
            (programs[1], a),
            (programs[1], wide[::2, ::3]),
            (programs[1], np.asfortranarray(a)),
        ]:
            (result,) = p(x)
            if op in (arith.AddF, arith.MulF):
                np.testing.assert_allclose(
                    result, expected, rtol=1e-5 if dtype == "f4" else 1e-12, atol=1e-3 if dtype == "f4" else 1e-11
                )
            else:
                np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize("dtype", slow_but(["f8"], ["f2", "f4", "f8"]))
@pytest.mark.parametrize(("op", "ufunc"), [(arith.MaxNumF, np.fmax), (arith.MinNumF, np.fmin)])
@pytest.mark.slow
def test_fmax_skips_nan_in_any_order(dtype: str, op: Any, ufunc: np.ufunc) -> None:
    """C2: NaN stands only where there is nothing else, wherever vectors and their remainder meet it."""
    element = scalar_type(np.dtype(dtype))
    for kept in [(), (0,), (1,)]:
        p = reduction(unknown((N, M), element), kept, op, np.nan)
        axes = tuple(d for d in (0, 1) if d not in kept)
        for n, m in [(1, 1), (3, 77), (200, 9)]:
            numbers = np.random.default_rng(n).normal(size=(n, m)).astype(dtype)
            for part in (0, 0.01, 0.9, 0.999, 1):
                a = np.where(np.random.default_rng(m).random((n, m)) < part, np.nan, numbers).astype(dtype)
                np.testing.assert_array_equal(p(a)[0], ufunc.reduce(a, axis=axes))
            a = np.where(numbers < 0, -np.inf, np.nan).astype(dtype)
            np.testing.assert_array_equal(p(a)[0], ufunc.reduce(a, axis=axes))


@pytest.mark.slow
def test_maximum_propagates_nan_and_a_sum_does_not_stagnate() -> None:
    p = reduction(known((N,)), (), arith.MaximumF, -np.inf)
    a = np.arange(1000.0)
    a[517] = np.nan
    assert np.isnan(p(a)[0]) and p(np.arange(1000.0))[0] == 999
    ones = np.ones(2**25, np.float32)
    assert reduction(known((N,), F32), (), arith.AddF, 0.0)(ones)[0] == 2**25  # rule C2


@pytest.mark.parametrize("make", one_in(4, [known, unknown]))
@pytest.mark.slow
def test_sums_are_as_exact_as_numpys(make: Any) -> None:
    from math import fsum

    p = reduction(make((N,), F32), (), arith.AddF, 0.0)
    rng = np.random.default_rng(5)
    worst, numpys = 0.0, 0.0
    for n in [100, 1000, 31_000, 1_000_000]:
        for step in (1, 3):
            a = rng.random(n * step).astype(np.float32)[:: step if make is unknown else 1]
            exact = fsum(a.astype(float))
            worst = max(worst, abs(float(p(a)[0]) - exact) / exact)
            numpys = max(numpys, abs(float(a.sum()) - exact) / exact)
    assert worst <= 2 * numpys + 1e-7


@pytest.mark.slow
def test_a_reduction_with_a_chain_and_a_numpy_loop_in_one_pass() -> None:
    def body(b: Builder, v: Sequence[Value]) -> list[Value]:
        e = b.add(arith.Ufunc.of("exp", "d->d", [b.add(arith.NegF.of(v[0], L)).result], F64, L)).result
        return [b.add(arith.MulF.of(e, v[0], L)).result]

    for kept in ((), (0,), (1,)):
        p = reduction(unknown((N, M)), kept, arith.AddF, 0.0, body)
        for shape in [(5, 700), (700, 5), (0, 3), (1, 1)]:
            x = np.random.default_rng(6).random(shape)
            expected = (np.exp(-x) * x).sum(axis=tuple(d for d in (0, 1) if d not in kept))
            np.testing.assert_allclose(p(x)[0], expected, rtol=1e-13)
            np.testing.assert_allclose(p(np.asfortranarray(x))[0], expected, rtol=1e-13)


def test_folding_in_order_where_the_body_has_no_plain_form() -> None:
    """A position of the maximum: two outs that depend on one another; and a fold by a NumPy loop."""
    p = Program(unknown((N,)))
    best, where = p.alloc(p.args[0], ()), p.alloc(p.args[0], (), I64)
    folded = p.alloc(p.args[0], ())
    p.add(linalg.Fill.of(p.constant(-np.inf), best, L))
    p.add(linalg.Fill.of(p.constant(-1, I64), where, L))
    p.add(linalg.Fill.of(p.constant(0.0), folded, L))
    count = p.alloc(p.args[0], (0,), I64)
    i = Block([INDEX])
    inner = Builder(i, L)
    number = inner.add(arith.IndexCast.of(i.args[0], I64, L)).result
    inner.add(memref.Store.of(number, count, [i.args[0]], L))
    inner.add(scf.Yield.of([], L))
    p.add(scf.For.of([p.index(0), p.add(memref.Dim.of(p.args[0], 0, L)), p.index(1)], [], i, L))

    def body(b: Builder, v: Sequence[Value]) -> list[Value]:
        more = b.add(arith.CmpF.of("ogt", v[0], v[2], L)).result
        return [b.add(arith.Select.of(more, x, y, L)).result for x, y in ((v[0], v[2]), (v[1], v[3]))]

    p.generic([p.args[0], count], [best, where], [(0,), (0,), (), ()], "r", body)
    hypot: Body = lambda b, v: [b.add(arith.Ufunc.of("hypot", "dd->d", [v[1], v[0]], F64, L)).result]  # noqa: E731
    p.generic([p.args[0]], [folded], [(0,), ()], "r", hypot)
    p.result(best, where, folded)
    x = np.random.default_rng(7).random(1000)
    top, at, length = p(x)
    assert (top, at) == (x.max(), x.argmax()) and length == np.hypot.reduce(x)


def test_broadcasts_transposes_and_views() -> None:
    """out[::-1] = a.T + row + s, over layouts; the view's type is known, the arguments' strides are not."""
    p = Program(unknown((N, M)), known((1, M)), F64)
    a, row, s = p.args
    out = p.alloc(a, (1, 0))
    n, m = (p.add(memref.Dim.of(a, d, L)) for d in (0, 1))
    last = p.add(arith.SubI.of(m, p.index(1), L))
    view = p.add(memref.Subview.of(out, Slice((last, 0), (m, n), (-1, 1), (0, 1)), (M, N), L))

    def body(b: Builder, v: Sequence[Value]) -> list[Value]:
        return [b.add(arith.AddF.of(b.add(arith.AddF.of(v[0], v[1], L)).result, v[2], L)).result]

    p.generic([a, row, s], [view], [(1, 0), (None, 0), (), (0, 1)], "pp", body)
    p.result(out, view)
    for shape in [(3, 5), (1, 1), (0, 4), (4, 0), (70, 90)]:
        x, r = np.random.default_rng(8).random(shape), np.random.default_rng(9).random((1, shape[1]))
        for y in (x, np.asfortranarray(x), x[::-1, ::-1]):
            whole, seen = p(y, r, 2.5)
            np.testing.assert_array_equal(whole, (y.T + r[0][:, None] + 2.5)[::-1])
            np.testing.assert_array_equal(seen, whole[::-1])
            assert not whole.size or np.shares_memory(whole, seen)


@pytest.mark.parametrize("dtype", slow_but(("f8",), ["f8", "f4", "i8", "?"]))
@pytest.mark.parametrize("kind", one_in(8, ["mm", "mv", "vm", "dot"]))
def test_products_into_views(dtype: str, kind: str) -> None:
    element = scalar_type(np.dtype(dtype))
    shapes = {
        "mm": ((N, K), (K, M), (N, M)),
        "mv": ((N, K), (K,), (N,)),
        "vm": ((K,), (K, M), (M,)),
        "dot": ((K,), (K,), ()),
    }
    p = Program(*(unknown(s, element) for s in shapes[kind]))
    a, b, c = p.args
    p.add(linalg.Contraction.of(a, b, c, L))
    fresh = Program(*(unknown(s, element) for s in shapes[kind][:2]))
    place = {"mm": (0, 1), "mv": (0, None), "vm": (None, 1), "dot": (None, None)}[kind]
    sizes = [fresh.add(memref.Dim.of(fresh.args[k], d, L)) for k, d in enumerate(place) if d is not None]
    order = tuple(range(len(sizes)))
    out = fresh.add(memref.Alloc.of(shapes[kind][2], element, sizes, order, "test", L))
    fresh.add(linalg.Fill.of(fresh.constant(0, element), out, L))
    fresh.add(linalg.Contraction.of(fresh.args[0], fresh.args[1], out, L))
    p.result()
    fresh.result(out)
    rng = np.random.default_rng(10)
    values = {"n": 0, "k": 0, "m": 0}
    for values["n"], values["k"], values["m"] in [
        (3, 4, 5),
        (1, 1, 1),
        (17, 1, 6),
        (1, 9, 1),
        (4, 0, 5),
        (0, 3, 2),
        (40, 50, 60),
    ]:
        dims = [tuple(values[str(d)] for d in s) for s in shapes[kind]]
        x, y, z = (np.asarray(rng.random(d) * 4).astype(dtype) for d in dims)
        product = np.matmul(x, y)
        for change in (np.copy, np.asfortranarray, spread, backwards):
            for target in (spread(z), z.copy(order="F")):
                p(change(x), change(y), target)
                np.testing.assert_allclose(target, np.add(z, product), rtol=1e-5)
            np.testing.assert_allclose(fresh(change(x), change(y))[0], product, rtol=1e-5)


def backwards(a: np.ndarray) -> np.ndarray:
    """The same elements, stored from the last to the first along the last axis."""
    return a[..., ::-1].copy()[..., ::-1]


def spread(a: np.ndarray) -> np.ndarray:
    """The same elements in the middle of a larger array, every second row."""
    if not a.ndim:
        return a.copy()
    room = np.zeros([2 * n + 3 if d == 0 else n + 3 for d, n in enumerate(a.shape)], a.dtype)
    view = room[tuple(slice(1, 1 + 2 * n, 2) if d == 0 else slice(1, 1 + n) for d, n in enumerate(a.shape))]
    view[...] = a
    return view


def test_scipy_is_asked_only_for_float_products() -> None:
    p = Program(known((N, N), I64), known((N, N), I64), known((N, N), I64))
    a, b, c = p.args
    p.add(linalg.Contraction.of(a, b, c, L))
    assert p.result().kernel is not None
    assert "blas" not in [what for what, *_ in p.kernel.image.imports.values()]  # type: ignore[union-attr]


def test_products_of_a_kind_are_one_function() -> None:
    """Three products called BLAS at three places, each with loops that stand in, and took LLVM three times as long."""
    p = Program(*[known((N, N))] * 4)
    a, b, c, d = p.args
    for left, right, out in [(a, b, c), (c, b, d), (d, a, c)]:
        p.add(linalg.Contraction.of(left, right, out, L))
    kernel = p.result().kernel
    assert kernel is not None
    text = kernel.library.text
    assert text.count("define i64 @d_linalg_matmul") == 1
    assert text.count("call void @blas_dgemm") == 2, "of whole operands, and of blocks"


def test_a_loop_that_rotates_buffers_frees_each_once() -> None:
    """u, v swap their buffers; each iteration makes a new array and frees the one it replaces."""
    p = Program(known((N,)), INDEX)
    a, count = p.args
    free = MemRefType((N,), F64, (None,), None)
    u, v = p.alloc(a), p.alloc(a)
    p.add(memref.Copy.of(a, u, "test", L))
    p.add(linalg.Fill.of(p.constant(1.0), v, L))
    u, v = (p.add(memref.Cast.of(x, free, L)) for x in (u, v))
    body = Block([INDEX, free, free])
    inner, (_, x, y) = p.b, body.args
    p.b = Builder(body, L)
    new = p.alloc(x)
    p.map([x, y], new, one(arith.AddF))
    p.add(memref.Dealloc.of(x, L))
    p.add(scf.Yield.of([y, p.add(memref.Cast.of(new, free, L))], L))
    p.b = inner
    loop = p.b.add(scf.For.of([p.index(0), count, p.index(1)], [u, v], body, L))
    p.add(memref.Dealloc.of(loop.results[1], L))
    p.result(loop.results[0])
    x0 = np.arange(700.0)
    for steps in (0, 1, 6):
        expected, other = x0, np.ones(700)
        for _ in range(steps):
            expected, other = other, expected + other
        results, counters = p.kernel.run_counted([x0, steps])  # type: ignore[union-attr]
        np.testing.assert_array_equal(results[0], expected)
        size = x0.nbytes
        assert (counters.allocations, counters.live_bytes) == (2 + steps, size)
        assert (counters.peak_bytes, counters.copies, counters.copied_bytes) == (size * (2 + (steps > 0)), 1, size)


def test_the_arena_is_reused_grows_and_is_not_shared_by_threads() -> None:
    p = Program(known((N,)), F64)
    a, s = p.args
    first, second, out = (p.alloc(a) for _ in range(3))
    p.map([a, s], first, one(arith.MulF))
    p.map([first, s], second, one(arith.AddF))
    p.add(memref.Dealloc.of(first, L))
    p.map([second, a], out, one(arith.SubF))
    p.add(memref.Dealloc.of(second, L))
    p.result(out, places=True)
    kernel = p.kernel
    assert kernel is not None
    for n in (0, 3, 1000, 10, 5000):
        x = np.arange(float(n))
        (result,), counters = kernel.run_counted([x, 3.0])
        np.testing.assert_array_equal(result, x * 3 + 3 - x)
        counted = (counters.allocations, counters.peak_bytes, counters.live_bytes)
        assert counted == (3 if n else 0, 3 * x.nbytes, x.nbytes)

    def work(k: int) -> None:
        x = np.arange(50_000.0) + k
        for _ in range(30):
            np.testing.assert_array_equal(kernel.run([x, float(k)])[0], x * k + k - x)

    at_once(work, 3)


class OwnError(Exception):
    """A class of the user's."""


def test_f3_a_check_raises_any_class_with_values_of_any_type() -> None:
    elements = (INDEX, I64, F64, F32, I1)
    p = Program(I1, *elements)
    with_text, values = p.args[0], p.args[1:]
    never = p.constant(False, I1)
    wanted = p.add(arith.XorI.of(with_text, p.constant(True, I1), L))
    p.add(checks.Check.of(wanted, OwnError, "{} {} {} {} {} {{}}", values, L))
    p.add(checks.Check.of(never, KeyError, None, [], L))
    p.result(p.index(0))
    assert '{exception = "OwnError", message = "{} {} {} {} {} {{}}"}' in print_func(p.func)
    arguments = (3, np.int64(-4), 0.1, np.float32(0.5), True)
    with pytest.raises(OwnError, match=r"^3 -4 0\.1 0\.5 True \{\}$"):
        p(True, *arguments)
    with pytest.raises(KeyError) as caught:
        p(False, *arguments)
    assert caught.value.args == ()


def test_checks_raise_with_values_and_leave_nothing_behind() -> None:
    p = Program(known((N,)), INDEX)
    a, i = p.args
    out = p.alloc(a)
    n = p.add(memref.Dim.of(a, 0, L))
    inside = p.add(arith.CmpI.of("slt", i, n, L))
    p.add(checks.Check.of(inside, "IndexError", "index {} is out of bounds for axis 0 with size {}", [i, n], L))
    x = p.add(memref.Load.of(a, [i], L))
    positive = p.add(arith.CmpF.of("oge", x, p.constant(0.0), L))
    p.add(checks.Check.of(positive, "ValueError", "negative: {}", [x], L))
    p.add(linalg.Fill.of(x, out, L))
    p.result(out, x, i)
    kernel = p.kernel
    assert kernel is not None
    (filled, value, index) = p(np.array([1.0, 4.0]), 1)
    assert filled.tolist() == [4.0, 4.0] and type(value) is np.float64 and type(index) is int
    with pytest.raises(IndexError, match="index 2 is out of bounds for axis 0 with size 2"):
        p(np.zeros(2), 2)
    with pytest.raises(ValueError, match=r"negative: -3\.5"):
        p(np.array([-3.5]), 0)
    assert not kernel._idle[0].owners
    for bad in ([np.zeros(2, "f4"), 0], [np.zeros((2, 2)), 0], [np.zeros(2)], [[1.0], 0], [np.zeros(4)[::2], 0]):
        with pytest.raises(InternalError):
            kernel.run(bad)


def test_memory_that_cannot_be_had_is_a_memory_error() -> None:
    for kind in ("array", "arena"):
        p = Program(INDEX)
        op = memref.Alloc.of((N,), F64, [p.args[0]], (0,), "test", L)
        buffer = p.add(op)
        p.func.symbols = dict.fromkeys(symbols(N), p.args[0])
        p.add(linalg.Fill.of(p.constant(1.0), buffer, L))
        p.result(p.add(memref.Load.of(buffer, [p.index(0)], L)), places=kind == "arena")
        for n in (2**55, 2**61):
            with pytest.raises((MemoryError, ValueError)):
                p(n)
        assert p(3) == [1.0]


def test_identity_views_branches_clones_and_stack() -> None:
    free = unknown((N,))
    p = Program(known((N,)), I1)
    a, c = p.args
    new = p.add(bufferization.Clone.of(a, L))
    arms = []
    for value in (a, new):
        block = Block()
        inner = Builder(block, L)
        inner.add(scf.Yield.of([inner.add(memref.Cast.of(value, free, L)).result], L))
        arms.append(block)
    chosen = p.b.add(scf.If.of(c, [free], arms[0], arms[1], L)).result
    p.map([chosen], chosen, lambda b, v: [b.add(arith.NegF.of(v[0], L)).result])
    stack = p.add(memref.Alloca([], [known((4,))], L, {"static_sizes": (4,), "order": (0,), "reason": "test"}))
    p.add(linalg.Fill.of(p.constant(2.0), stack, L))
    same = p.add(bufferization.SameBase.of(chosen, a, L))
    n = p.add(memref.Dim.of(a, 0, L))
    half = p.add(memref.Subview.of(a, Slice((1,), (p.add(arith.SubI.of(n, p.index(1), L)),), (1,), (0,)), (N - 1,), L))
    p.result(chosen, same, p.add(memref.Load.of(stack, [p.index(3)], L)), half, a)
    for flag in (True, False):
        x = np.arange(5.0)
        (picked, shared, two, tail, itself), counters = p.kernel.run_counted([x, flag])  # type: ignore[union-attr]
        assert itself is x and (picked is x) == flag and bool(shared) == flag and two == 2.0
        assert tail.base is x and tail.tolist() == x[1:].tolist()
        np.testing.assert_array_equal(picked, -np.arange(5.0))
        assert (counters.copies, counters.copied_bytes, counters.allocations) == (1, 40, 1)


def test_plans_are_readable_and_collapse() -> None:
    p = Program(known((N, M)), unknown((N, M)))
    out = p.alloc(p.args[0])
    p.map([p.args[0]], out, lambda b, v: [b.add(arith.Ufunc.of("exp", "d->d", [v[0]], F64, L)).result])
    p.map([p.args[1]], out, lambda b, v: [b.add(arith.NegF.of(v[0], L)).result])
    p.result(out)
    first, second = emit_kernel(p.func, "program").plans
    assert "for d0*d1" in first and "exp[block]" in first
    assert "for d1" in second and "chosen at run time" in second


def test_ops_without_a_native_form_are_named() -> None:
    class Strange(Op):
        __slots__ = ()
        name = "test.strange"

    p = Program()
    p.add(Strange([], [], L))
    with pytest.raises(InternalError, match=r"test\.strange"):
        p.result()


@pytest.mark.parametrize("seed", slow_but(range(6), range(24)))
def test_random_programs_do_what_the_memref_interpreter_does(seed: int) -> None:
    options = Options(strategy="copy-before-write") if seed % 5 == 0 else Options(heuristic="fuzzer", seed=seed)
    tensors = random_func(seed, ops=12, defined=True)
    if seed % 2:
        pipeline.optimize_tensors(tensors, options)
    func = pipeline.to_memref(tensors, options)
    kernel = kernel_of(func, "random")
    rng = np.random.default_rng(seed)
    sizes: dict[Dim, int] = {}
    args: list[Any] = []
    for type_ in (a.type for a in func.args):
        if isinstance(type_, MemRefType):
            shape = [d if isinstance(d, int) else sizes.setdefault(d, 5 + len(sizes)) for d in type_.shape]
            args.append(np.round(rng.random(shape) * 8).astype(type_.element.dtype))
        else:
            args.append(bool(rng.integers(2)) if type_ is I1 else int(rng.integers(0, 4)))
    ours, theirs = ([a.copy() if isinstance(a, np.ndarray) else a for a in args] for _ in range(2))
    expected = interpret.run(func, theirs)
    results, counters = kernel.run_counted(ours)
    for x, y, written in zip(results, expected.results, expected.written, strict=True):
        defined = np.True_ if written is None else written
        np.testing.assert_allclose(np.where(defined, x, 0), np.where(defined, y, 0), rtol=1e-12)
    for x, y in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-12)
    assert (counters.copies, counters.copied_bytes) == (expected.counts.copies, expected.counts.copied_bytes)
    assert counters.allocations <= expected.counts.allocations


@pytest.mark.slow
@pytest.mark.parametrize("columns", [2, 3, 8, 17])
def test_llvm_keeps_quiet(columns: int, capfd: pytest.CaptureFixture[str]) -> None:
    """Sums over few elements, their number known, could not become the vector loops that were demanded: LLVM said so on
    stderr."""

    def program(a):
        c = np.zeros((3, columns))
        c[...] = a
        return c.sum(axis=1), c.max(axis=1), (c[0] * c[1]).sum(), c.mean()

    a = floats(3, columns)
    for got, wanted in zip(bufferize(program)(a), program(a), strict=True):
        np.testing.assert_allclose(got, wanted)
    assert capfd.readouterr().err == ""


def test_llvm_says_nothing_on_stderr(capfd: pytest.CaptureFixture[str]) -> None:
    """LLVM remarked that it could not vectorise the maximum of a `where` to the width asked for."""
    a = np.arange(20.0)
    for f in (np.max, np.min):
        assert bufferize(lambda a, f=f: f(a, where=a > 4, initial=7))(a) == f(a, where=a > 4, initial=7)
    assert capfd.readouterr().err == ""


def test_llvm_says_nothing_of_a_maximum_that_a_later_loop_divides_by(capfd: pytest.CaptureFixture[str]) -> None:
    """The later loop was unswitched by the result, whose steps had a freeze then: no reduction, to LLVM."""

    def normalized(v):
        for _ in range(4):
            v = v / np.abs(v).max()
        return v

    v = np.arange(1, 21) * (1 + 2j)
    np.testing.assert_allclose(bufferize(normalized)(v), normalized(v))
    assert capfd.readouterr().err == ""


ROWS = """
"builtin.module"() ({
  "func.func"() <{function_type = (tensor<4x8xf64>, tensor<4xf64>) -> tensor<4xf64>, sym_name = "f"}> ({
  ^bb0(%a: tensor<4x8xf64>, %o: tensor<4xf64>):
    %r = "linalg.generic"(%a, %o) <{indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
      iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<reduction>],
      operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%x: f64, %y: f64):
      %s = "arith.addf"(%x, %y) : (f64, f64) -> f64
      "linalg.yield"(%s) : (f64) -> ()
    }) : (tensor<4x8xf64>, tensor<4xf64>) -> tensor<4xf64>
    "func.return"(%r) : (tensor<4xf64>) -> ()
  }) : () -> ()
}) : () -> ()
"""


def test_llvm_says_nothing_of_short_rows_of_any_stride(capfd: pytest.CaptureFixture[str]) -> None:
    """It takes no check of strides in loops that it calls tiny, and said so where a width was asked for."""
    found = mlir.program(mlir.read(ROWS), "f")(np.ones((4, 8)), np.zeros(4))
    np.testing.assert_array_equal(found[0], np.full(4, 8.0))
    assert capfd.readouterr().err == ""


@pytest.mark.slow
def test_more_results_than_are_stored_one_by_one() -> None:
    """They are put into the frame by calls: arrays of several ranks, views of arguments, numbers between them."""

    def f(a):
        return [a + 1] * 2, [a[k % 2 :, 0] for k in range(18)], a.sum(), [a.T * k for k in range(16)], a.reshape(-1)

    climb(f, (np.arange(6.0).reshape(2, 3),), again=[(np.arange(20.0).reshape(4, 5),)], quick=True)


STRIDED = {
    "sum": lambda x: x.sum(), "mean": lambda x: x.mean(), "of squares": lambda x: (x * x).sum(),
    "max": lambda x: x.max(initial=-9), "nanmin": lambda x: np.fmin.reduce(x, initial=9),
}  # fmt: skip


@pytest.mark.parametrize("dtype", "fd")
@pytest.mark.parametrize("name", STRIDED)
@pytest.mark.cases(3)
def test_folds_with_a_stride_of_all_lengths(name: str, dtype: str) -> None:
    """Eight chains, and what is left over: lengths around eight and around a block, strides of all signs."""
    f, r = STRIDED[name], np.random.default_rng(0)
    g = bufferize(f)
    for n in (1, 7, 8, 9, 17, 511, 513, 520, 1030):
        base = r.normal(size=3 * n).astype(dtype)
        for x in (base[::3], base[::-2][:n], np.broadcast_to(base[:1], (n,))):
            for _ in range(2):
                np.testing.assert_allclose(g(x), f(x), 1e-4 if dtype == "f" else 1e-12, 1e-3 if dtype == "f" else 1e-10)
                if x.flags.writeable:
                    x[n // 2] = np.nan


def test_a_strided_sum_has_eight_chains() -> None:
    """LLVM takes one, in which each addition waits for the last: a third of NumPy's speed."""
    text = bufferize(lambda x: x.sum()).lower(np.zeros((30, 2))[:, 0]).as_text("llvm")
    assert max(block.count("= load double, ptr") for block in text.split("\nb")) == CHAINS


def test_a_strided_copy_takes_two_elements_in_a_round() -> None:
    text = bufferize(lambda x: x.copy()).lower(np.zeros((30, 2))[:, 0]).as_text("llvm")
    assert '!"llvm.loop.unroll.count", i32 2' in text


def larger_of_both(a, b):
    for i in range(len(a)):
        a[i] = max(a[i], b[i])


@pytest.mark.parametrize("store", [
    lambda a, b: np.maximum(a, b, out=a),
    lambda a, b: np.copyto(a, np.where(b > 0.5, a, b)),
    lambda a, b: np.copyto(b, a.reshape(16, -1, order="C").max(0).repeat(16)),
    larger_of_both,
])  # fmt: skip
def test_what_is_stored_over_is_not_known_to_llvm_as_what_was_loaded(store: Any) -> None:
    """Else a select between what is there and another value becomes a store under a mask, which takes three times as
    long on some processors."""
    a, b = np.linspace(-1, 1, 64), np.linspace(1, -1, 64)
    text = bufferize(store).lower(a, b).as_text("llvm")
    assert "freeze double" in text
    agree(store, (a, b))
