"""Scalar ops that MLIR text has and NumPy programs do not make: exact integers, special floats, reference and native.

Integers are held against Python's own, bits of the operands taken with or without a sign as the op takes them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

import numpy as np
import pytest

import tracebuf.ops.dialects  # noqa: F401 (which fills the registry)
from tests.support.params import one_in
from tracebuf.backend.runtime.compiled import kernel_of
from tracebuf.ir.attributes import Attr
from tracebuf.ir.core import Block, Form, Op
from tracebuf.ir.func import Func
from tracebuf.ir.types import F32, F64, I1, I8, I32, I64, INDEX, MemRefType, ScalarType, row_major
from tracebuf.location import UNKNOWN
from tracebuf.ops.arrays import linalg
from tracebuf.ops.control.func import Return
from tracebuf.ops.scalars import arith

Exact = Callable[..., Any]


def apply(
    name: str, types: Sequence[ScalarType], result: ScalarType, columns: Sequence[np.ndarray], **attrs: Any
) -> np.ndarray:
    """The op on arrays by its reference, once as arrays and once one by one, and natively; all must agree."""
    n = len(columns[0])
    shaped = [MemRefType((n,), t, row_major((n,))) for t in (*types, result)]
    func = Func("f", shaped)
    body = Block([*types, result])
    op = Op.registry[name].from_form(Form(name, body.args[:-1], [result], {k: Attr("", v) for k, v in attrs.items()}))
    body.append(op)
    body.append(linalg.Yield.of([op.result], UNKNOWN))
    maps = [linalg.identity_map(1)] * len(shaped)
    func.block.append(linalg.Generic.of(func.args[:-1], func.args[-1:], maps, ["parallel"], body, UNKNOWN))
    func.block.append(Return.of([], UNKNOWN))
    assert isinstance(op, arith.ScalarOp)
    with np.errstate(all="ignore"):
        found = np.broadcast_to(op.compute(list(columns)), n)
        alone = [op.compute([_item(v) for v in row]) for row in zip(*columns, strict=True)]
    assert not any(isinstance(x, np.ndarray) for x in alone)
    single = np.array(alone, result.dtype)
    out = np.zeros(n, result.dtype)
    kernel_of(func, "f").run([*columns, out])
    np.testing.assert_array_equal(found, single)
    np.testing.assert_array_equal(found, out)
    assert found.dtype == result.dtype
    return out


def _item(value: np.generic) -> Any:
    return value


def grid(values: Sequence[Any], dtype: Any, n: int = 2) -> list[np.ndarray]:
    return [np.array(column, dtype) for column in zip(*product(values, repeat=n), strict=True)]


def trunc_div(a: int, b: int) -> int:
    return 0 if b == 0 else abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def up_div(a: int, b: int) -> int:
    return 0 if b == 0 else -(-a // b)


def rest(a: int, b: int) -> int:
    return 0 if b == 0 else a - b * trunc_div(a, b)


def floor_div(a: int, b: int) -> int:
    return 0 if b == 0 else a // b


INTEGERS: dict[str, tuple[bool, Exact]] = {
    "arith.divsi": (True, trunc_div), "arith.divui": (False, trunc_div), "arith.remsi": (True, rest),
    "arith.remui": (False, rest), "arith.ceildivsi": (True, up_div), "arith.ceildivui": (False, up_div),
    "arith.floordivsi": (True, floor_div), "arith.maxui": (False, max), "arith.minui": (False, min),
    "arith.maxsi": (True, max), "arith.addi": (True, lambda a, b: a + b), "arith.muli": (True, lambda a, b: a * b),
    "index.divs": (True, trunc_div), "index.remu": (False, rest), "index.ceildivs": (True, up_div),
    "index.shl": (True, lambda a, b: a << b), "arith.shrui": (False, lambda a, b: a >> b),
    "index.shrs": (True, lambda a, b: a >> b),
}  # fmt: skip


@pytest.mark.parametrize("name", one_in(4, INTEGERS))
@pytest.mark.parametrize("type_", one_in(6, [I8, I32, I64]), ids=str)
def test_integers_are_exact(name: str, type_: ScalarType) -> None:
    signed, exact = INTEGERS[name]
    low, high = type_.bounds
    shift = "sh" in name
    columns = grid([low, low + 1, -7, -2, -1, 0, 1, 2, 7, high], type_.dtype)
    if shift:
        kept = (columns[1] >= 0) & (columns[1] < type_.bits)
        columns = [c[kept] for c in columns]
    found = apply(name, [type_, type_], type_, columns)
    mask = 2**type_.bits - 1
    for a, b, value in zip(*(c.tolist() for c in columns), found.tolist(), strict=True):
        x, y = (a, b) if signed else (a & mask, b & mask)
        assert value & mask == exact(x, y) & mask, (name, a, b)


def test_an_unsigned_shift_out_of_the_bits_gives_zero() -> None:
    a, b = np.array([-1, 5, 7], np.int32), np.array([31, 32, -1], np.int32)
    assert apply("arith.shrui", [I32, I32], I32, [a, b]).tolist() == [1, 0, 0]


@pytest.mark.parametrize("predicate", "eq ne slt sle sgt sge ult ule ugt uge".split())
@pytest.mark.parametrize("type_", one_in(6, [I1, I8, I64]), ids=str)
def test_comparisons_of_integers(predicate: str, type_: ScalarType) -> None:
    columns = grid([False, True] if type_ is I1 else [type_.bounds[0], -1, 0, 1, type_.bounds[1]], type_.dtype)
    found = apply("arith.cmpi", [type_, type_], I1, columns, predicate=arith.CmpI.predicates.index(predicate))

    def bits(value: int) -> int:
        unsigned = int(value) & (2**type_.bits - 1)
        return unsigned - 2**type_.bits * (unsigned >= 2 ** (type_.bits - 1)) if predicate[0] == "s" else unsigned

    word = predicate if predicate in ("eq", "ne") else predicate[1:]
    for a, b, value in zip(*columns, found, strict=True):
        assert value == getattr(bits(a), f"__{word}__")(bits(b))


PREDICATES = "false oeq ogt oge olt ole one ord ueq ugt uge ult ule une uno true".split()
FLOATS = [-math.inf, -1.5, -0.0, 0.0, 2.5, math.inf, math.nan]


@pytest.mark.parametrize("predicate", one_in(3, PREDICATES))
def test_comparisons_of_floats(predicate: str) -> None:
    columns = grid(FLOATS, np.float64)
    found = apply("arith.cmpf", [F64, F64], I1, columns, predicate=arith.CmpF.predicates.index(predicate))
    for a, b, value in zip(*columns, found, strict=True):
        unordered = math.isnan(a) or math.isnan(b)
        if predicate in ("true", "false", "ord", "uno"):
            expected = {"true": True, "false": False, "ord": not unordered, "uno": unordered}[predicate]
        else:
            expected = predicate[0] == "u" if unordered else getattr(float(a), f"__{predicate[1:]}__")(float(b))
        assert value == expected, (predicate, a, b)


def test_bits_are_added_without_carry() -> None:
    a, b = grid([False, True], np.bool_)
    for name in ("arith.addi", "arith.subi"):
        np.testing.assert_array_equal(apply(name, [I1, I1], I1, [a, b]), a ^ b)


def test_conversions_take_the_same_bits() -> None:
    x = np.array([-1, 0, 5, -(2**31)], np.int32)
    wide = x.astype(np.int64) & 0xFFFFFFFF
    np.testing.assert_array_equal(apply("arith.extui", [I32], I64, [x]), wide)
    np.testing.assert_array_equal(apply("arith.uitofp", [I32], F64, [x]), wide.astype(float))
    f = np.array([1.5, -0.0, math.inf, math.nan], np.float32)
    np.testing.assert_array_equal(apply("arith.bitcast", [F32], I32, [f]), f.view(np.int32))
    np.testing.assert_array_equal(apply("arith.bitcast", [I32], F32, [f.view(np.int32)]), f)
    np.testing.assert_array_equal(apply("arith.fptoui", [F64], I32, [np.array([3.7, 2.0**31, 0.0])]), [3, -(2**31), 0])


def test_index_casts_extend_and_cut() -> None:
    body = Block([I32, INDEX])
    for name, result in (("arith.index_cast", -1), ("arith.index_castui", 2**32 - 1), ("index.castu", 2**32 - 1)):
        op = Op.registry[name].from_form(Form(name, [body.args[0]], [INDEX]))
        assert isinstance(op, arith.ScalarOp) and op.compute([np.int32(-1)]) == result
    op = Op.registry["index.casts"].from_form(Form("index.casts", [body.args[1]], [I32]))
    assert isinstance(op, arith.ScalarOp) and op.compute([2**32 + 5]) == np.int32(5)


@pytest.mark.parametrize("type_", [F32, F64], ids=str)
def test_functions_are_numpys(type_: ScalarType) -> None:
    x = np.array([0.25, 0.5, 0.75, 1.0, math.nan, 0.0], type_.dtype)
    with np.errstate(all="ignore"):
        for name, expected in {"exp": np.exp(x), "tanh": np.tanh(x), "asin": np.arcsin(x), "cbrt": np.cbrt(x)}.items():
            np.testing.assert_array_equal(apply(f"math.{name}", [type_], type_, [x]), expected)
        np.testing.assert_array_equal(apply("math.rsqrt", [type_], type_, [x]), type_.dtype.type(1) / np.sqrt(x))
        np.testing.assert_array_equal(apply("math.powf", [type_, type_], type_, [x, x]), x**x)
    erf = apply("math.erf", [type_], type_, [x])
    np.testing.assert_allclose(erf, [math.erf(v) for v in x], rtol=1e-6)
    fused = apply("math.fma", [type_] * 3, type_, [x, x, -x])
    np.testing.assert_allclose(fused, x * x - x)


def test_rounding_and_tests_of_floats() -> None:
    x = np.array([0.5, -0.5, 1.5, 2.5, 0.49999999999999994, -2.4, math.inf, math.nan, 2.0**53])
    np.testing.assert_array_equal(
        apply("math.round", [F64], F64, [x]), [1, -1, 2, 3, 0, -2, math.inf, math.nan, 2.0**53]
    )
    np.testing.assert_array_equal(apply("math.isnan", [F64], I1, [x]), np.isnan(x))
    np.testing.assert_array_equal(apply("math.isinf", [F64], I1, [x]), np.isinf(x))
    np.testing.assert_array_equal(apply("math.isfinite", [F64], I1, [x]), np.isfinite(x))
    y = np.array([2.0, 3.0, 1.0, 0.7, 1.0, 2.0, 1.0, 1.0, 3.0])
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(apply("arith.remf", [F64, F64], F64, [x, y]), np.fmod(x, y))


@pytest.mark.parametrize("name, type_", [("arith.trunci", I32), ("arith.trunci", I64), ("arith.index_cast", INDEX)])
def test_a_cut_to_one_bit_keeps_the_lowest(name: str, type_: ScalarType) -> None:
    """The reference asked whether the number is zero."""
    numbers = np.array([0, 1, 2, 3, -1, -2, 4], type_.dtype)
    np.testing.assert_array_equal(apply(name, [type_], I1, [numbers]), numbers & 1 == 1)
