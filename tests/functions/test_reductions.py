"""Reductions, running totals, indices of extremes and ufunc methods against eager NumPy (rules C1, C2, N5, Z4)."""

from __future__ import annotations

import itertools
import warnings
from typing import Any

import numpy as np
import pytest

from tests.support.agreement import agree, program, refused
from tests.support.arrays import LAYOUTS, floats
from tests.support.forms import UNUSUAL, check_forms, expression, judge, split
from tests.support.params import one_in, slow_but
from tracebuf import bufferize, measure
from tracebuf.testing.ladder import climb

RNG = np.random.default_rng(7)
F8 = RNG.uniform(0.5, 2, (5, 7))
ARRAYS: dict[str, np.ndarray] = {
    "float64": F8, "float32": F8.astype(np.float32), "int64": RNG.integers(-3, 4, (5, 7)), "bool": F8 > 1,
    "columns": F8.T, "strided": F8[::2, ::-1], "vector": F8[0], "ints": np.arange(6), "empty": np.zeros((0, 3)),
    "no columns": np.zeros((3, 0)), "number": np.array(2.5), "three": RNG.uniform(0.5, 2, (2, 3, 4)).transpose(2, 0, 1),
}  # fmt: skip
CORE = ("np.sum", "np.prod", "np.max", "np.std", "np.argmax", "np.count_nonzero")
OTHERS = (
    "np.any", "np.all", "np.min", "np.mean", "np.var", "np.ptp", "np.argmin", "np.nansum", "np.nanmax", "np.nanmean",
    "np.linalg.norm",
)  # fmt: skip
CASES = [(f, a) for f in CORE for a in ARRAYS] + [(f, a) for f in OTHERS for a in ("float32", "int64", "bool", "empty")]
OPTIONS = ("", "axis=0", "axis=-1", "axis=0, keepdims=True", "keepdims=True", "axis=(0, 1)", "axis=2")


@pytest.mark.parametrize("function, name", one_in(60, CASES, rows=True))
def test_c1_reductions_over_any_axes(function: str, name: str) -> None:
    """Rules C1, Z4: value, dtype, shape, order of strides, Python type and exception of every form."""
    together, raising = [], []
    for options in OPTIONS:
        if function == "np.linalg.norm" and "keepdims" in options and ARRAYS[name].ndim == 2:
            continue
        text = f"{function}(a{', ' if options else ''}{options})"
        try:
            with np.errstate(all="ignore"), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                eval(text, {"np": np, "a": ARRAYS[name]})
            together.append(text)
        except (ValueError, TypeError):
            raising.append(text)
    expression(f"[{', '.join(together)}]", {"a": ARRAYS[name]}, ulp=100)
    for text in raising if function in ("np.max", "np.sum", "np.std", "np.argmax") else raising[:1]:
        expression(text, {"a": ARRAYS[name]}, ulp=100)


A, B = RNG.uniform(-2, 2, (4, 5)), RNG.uniform(-2, 2, (4, 5))
VALUES: dict[str, Any] = {
    "a": A, "b": B, "c": np.zeros((4, 5)), "i": RNG.integers(-3, 4, (4, 5)), "f": A.astype(np.float32), "m": A > 0,
    "row": B[0].copy(), "s": np.zeros(()), "v": np.zeros(5), "w": np.zeros(4), "k": np.zeros(5, np.int64),
    "x": np.array([1.0, np.nan, -2.0, np.nan, 3.0]), "nan": np.full(3, np.nan),
}  # fmt: skip
FORMS = """
np.sum(a, where=m)|np.sum(a, axis=0, where=m)|np.sum(a, axis=0, where=m[0])|np.mean(a, where=m)
np.mean(a, axis=0, where=m)|np.std(a, axis=1, where=m)|np.max(a, where=m)|np.max(a, where=m, initial=-5)
np.max(a, axis=0, where=m, initial=0)|np.max(a, initial=2)|np.max(i, initial=2.5)|np.sum(a, initial=3)
np.sum(i, initial=3)|np.sum(i, initial=2.7)|np.sum(i, dtype=np.float32)|np.sum(a, dtype=np.int64)
np.sum(a, dtype=np.float32, axis=1)|np.prod(a, axis=0, where=m, initial=2)|np.any(a, where=m)
np.all(a > -9, axis=1)|np.mean(a, dtype=np.float32)|np.mean(f, dtype=np.float64)|np.sum(a, where=i)
np.add.reduce(a)|np.add.reduce(a, axis=1)|np.add.reduce(a, axis=None)|np.multiply.reduce(a)
np.maximum.reduce(a, axis=(0, 1))|np.logical_and.reduce(a)|np.logical_or.reduce(m, axis=None)
np.bitwise_or.reduce(i)|np.bitwise_and.reduce(i)|np.logical_xor.reduce(m)|np.fmax.reduce(x)
np.add.accumulate(a)|np.add.accumulate(a, axis=1)|np.maximum.accumulate(a, axis=1)
np.minimum.accumulate(a[:, ::-1])|np.cumsum(a, axis=1)|a.cumsum(1)|a.cumprod(0)|np.cumsum(a.T, axis=1)
np.cumsum(i, axis=0, dtype=np.float32)|np.cumsum(m, axis=0)|np.cumsum(row)|np.cumsum(s)|np.cumprod(row[::-1])
np.multiply.outer(row, w)|np.add.outer(row, 2)|np.add.outer(i[0], row)|np.subtract.outer(2, row)
np.var(a, ddof=1)|np.std(a, axis=0, ddof=1.5)|np.std(a, axis=0, ddof=5)|np.std(a, correction=1)|a.argmax(0)
np.linalg.norm(row)|np.linalg.norm(i)|np.linalg.norm(a, axis=0)|np.linalg.norm(a, 1, axis=0)
np.linalg.norm(a, np.inf, axis=0)|np.linalg.norm(row, np.inf)|np.linalg.norm(a, axis=(0, 1))
np.average(row, weights=v + 1)|np.average(row, weights=v)|np.average(i[0], weights=v + 1)|np.ptp(i, axis=1)
np.sum(a, axis=2)|np.sum(a, axis=(0, 0))|np.sum(s, axis=0)|np.sum(2.5)|np.mean(s, axis=0)|np.any(nan)
np.argmax(x)|np.argmin(x)|np.max(x)|np.nanmax(x)|np.nanmin(x)|np.nansum(x)|np.nanmean(x)|np.nanmax(nan)|np.nansum(nan)
np.argmax(m)|np.argmin(m, axis=1)|np.argmax(i, axis=0, keepdims=True)|np.argmax(a * b)|np.argmin(a[::-1, ::-1])
"""


@pytest.mark.parametrize("text", one_in(15, split(FORMS)))
def test_n5_parameters_of_reductions(text: str) -> None:
    """Rules N5, C1: dtype=, initial=, where=, ddof=, NaN, ufunc methods: NumPy's dtypes, values and exceptions."""
    expression(text, VALUES, ulp=100)


@pytest.mark.slow
def test_c2_running_totals_and_products_are_in_order() -> None:
    """Rule C2: running totals have eager's bits, whatever the axis; a product of a vector too."""
    for text in ("np.cumsum(a, axis=0)", "np.cumsum(a, axis=1)", "np.cumprod(a[0])", "np.prod(a[0])"):
        expression(text, {"a": RNG.standard_normal((9, 300))}, ulp=0)
    climb(program("def f(a):\n    return np.cumsum(a, axis=0), np.cumsum(a[0] * 2)"), (A,))
    zeros = np.array([-0.0, -0.0])
    expression("np.cumsum(a)", {"a": zeros}, ulp=0)
    expression("np.sum(a)", {"a": zeros}, ulp=0)
    expression("np.sum(a, initial=-0.0, where=a < 1)", {"a": zeros}, ulp=0)


@pytest.mark.slow
def test_s4_indices_in_bodies_stay_right_when_fused() -> None:
    """Rules S4, C1: indices of extremes of what is computed on the way, in blocks of NumPy's loops too, every rung."""
    f = program("""
        def f(a, b):
            t = np.exp(a[:, 0]) * 2
            return np.argmax(np.sin(a) + b, axis=1), np.argmin(a * b), np.argmax(t), np.argmax(b[:, None, 1:], axis=0)
        """)
    climb(f, (A, B), again=[(B[:2], A[:2])])
    long = RNG.standard_normal((3, 2000))
    expression("np.argmax(np.exp(a), axis=1), np.argmin(np.exp(a))", {"a": long}, ulp=100)


def test_what_is_refused() -> None:
    for text in ("np.subtract.reduce(a, out=np.zeros(5, int))", "np.mean(a, dtype=np.int64)", "np.mean(a, where=2)"):
        refused(program(f"def f(a):\n    return {text}"), A)


@pytest.mark.slow
def test_sum_over_an_axis_of_size_zero() -> None:
    """The reference of linalg.generic transposed a reduction that did not happen (found by fuzzing)."""

    def program(a):
        return a[:, 2:].sum(axis=1), a[:0].sum(axis=0, keepdims=True)

    climb(program, (floats(7, 1),), again=[(floats(4, 5),)])


@pytest.mark.parametrize(
    "text",
    [
        "np.sum(f, axis=0, where=np.ones((2, 3, 2)) > 0)",  # the mask has a say in the order of axes
        "np.std(c, axis=(), where=np.ones((2, 3)) > 0)",
        "a.std(correction=1)",
        "np.argmax(np.array([1j, np.nan + 1j, 2]))",
    ],
)
def test_c1_calls_that_once_differed(text: str) -> None:
    """Found by calls that `tracebuf.testing.functions` drew."""
    expression(text, UNUSUAL)


SEQUENCES = """
np.cumsum(a)|np.cumsum(a.T)|np.cumprod(sq)|np.trace(a)|np.trace(a, 1)|np.trace(i, -1)|np.trace(sq)
np.trace(sq, axis1=1, axis2=2)|a.trace()|np.trace(bb)|np.outer(a, v)|np.outer(a.T, a)|np.vdot(a, a)|np.vdot(a.T, a.T)
sum(v)|sum(iv)|sum(bb[0])|sum(v, 2.5)|sum(v, 1)|sum(iv, 0.5)|sum(e)|sum(f[0])|sum(i[0].astype(np.int8))|sum(v>0)
v.sum().std()|v[0].max()|v[0].any()|s.cumsum()|s.argmax()
"""


@pytest.mark.slow
def test_c1_arrays_as_sequences() -> None:
    """Running totals, traces and outer products of what is ravelled; Python's sum of arrays."""
    check_forms(SEQUENCES, ulp=8)


SHAPES = [(), (1,), (0,), (5,), (20,), (3, 4), (1, 4), (4, 1), (0, 3), (0, 0), (2, 3, 4), (2, 1, 3), (0, 2, 3)]


@pytest.mark.slow
@pytest.mark.parametrize("dtype, layout", [
    (np.float64, "rows"), (np.float64, "columns"), (np.float32, "reversed"), (np.int64, "steps"), (np.bool_, "rows"),
])  # fmt: skip
@pytest.mark.parametrize("kind", ["sum", "max", "min", "mean"])
def test_z4_reductions(kind: str, dtype: Any, layout: str) -> None:
    rng = np.random.default_rng(0)
    for shape in SHAPES if layout == "rows" else SHAPES[5:]:
        a = LAYOUTS[layout](
            np.asarray(rng.random(shape) * 8 - 4 if dtype is not np.bool_ else rng.random(shape) > 0.5).astype(dtype)
        )
        axes = [None, (), *range(-a.ndim, a.ndim)] + ([(0, 1)] if a.ndim > 1 else []) + ([(2, 0)] if a.ndim > 2 else [])
        expressions = [f"a.{kind}(axis={axis}, keepdims={k % 2})" for k, axis in enumerate(axes, shape == (5,))]
        judge([*expressions, f"np.{kind}(a)", f"a.{kind}(axis=7)"], "a", a, ulp=8)


@pytest.mark.slow
def test_c2_a_float32_sum_does_not_stagnate() -> None:
    f = bufferize(program("def f(a): return a.sum(), a.mean()"))
    total, mean = f(np.ones(2**24 + 100, np.float32))
    assert total == 2**24 + 100 and mean == 1


RUNNING = ("np.cumsum(x, 0, out=x)", "np.cumsum(x, 1, out=x)", "np.multiply.accumulate(x[::-1], 1, out=x[::-1])",
           "np.maximum.accumulate(x.T, out=x.T)", "np.cumprod(x[:, 1], out=x[:, 1])")  # fmt: skip


@pytest.mark.parametrize("text", slow_but(RUNNING[:2], RUNNING))
@pytest.mark.slow
def test_s2_running_sums_in_their_own_array(text: str) -> None:
    """A new array was made: element i is read before it is written."""
    f, x = program(f"def f(x):\n    {text}"), np.arange(12.0).reshape(3, 4)
    climb(f, (x,), again=[(x[:1, :2],), (np.asfortranarray(x),)])
    assert measure(bufferize(f), x, repeat=1).native.allocations == 0


def test_a_running_sum_in_its_own_array_allocates_nothing() -> None:
    f, x = program("def f(x):\n    np.cumsum(x, out=x)"), np.arange(5.0)
    agree(f, x)
    assert bufferize(f).call_counted(x)[1].allocations == 0


def test_running_sums_into_other_elements_keep_their_array() -> None:
    f = program("def f(x):\n    np.cumsum(x[:-1], out=x[1:])")
    climb(f, (np.arange(6.0),))


def extremes(a: Any) -> Any:
    return a.argmax(), np.argmin(a), a.argmax(-1), np.argmin(a, axis=0), np.argmax(a, axis=0, keepdims=True)


def test_an_index_in_a_row_that_is_copied_in_blocks() -> None:
    f, x = bufferize(lambda a: a.argmax()), np.tile(np.arange(50.0), 50)[::2]
    for at in (None, 1200, 600, 0):
        if at is not None:
            x[at] = np.nan
        agree(f, x)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", "?bHiQefd")
def test_indices_of_extremes_of_long_and_short_rows(dtype: str) -> None:
    """The first of the best, the first NaN, in rows that are searched in blocks, copied in blocks, or compared one by
    one; of sizes and layouts on both sides of these limits."""
    f = bufferize(extremes)
    for shape in ((1, 1), (3, 8), (9, 3), (40, 17), (2, 1100), (1100, 2), (1030, 20)):
        x = (RNG.random(shape) * 5).astype(dtype)
        wide = np.repeat(np.repeat(x, 2, 0), 2, 1)[::2, ::-2]
        forms = [x, np.asfortranarray(x), wide]
        if np.dtype(dtype).kind == "f":
            with_nans = x.copy()
            with_nans[-1, -1] = with_nans[shape[0] // 2, shape[1] // 2 :] = np.nan
            forms += [with_nans, with_nans[::-1, ::-1]]
        for y in forms:
            agree(f, y)


def test_which_extremes_numpys_search_finds() -> None:
    """NumPy's own for rows that it takes many elements at once of; loops along an axis beside a long dense one, and of
    half precision."""

    def searched(a: np.ndarray, **options: Any) -> bool:
        return "numpy_argmax" in bufferize(lambda a: np.argmax(a, **options)).lower(a).as_text("llvm")

    x = np.ones((40, 30))
    assert searched(x > 0) and searched(x.T, axis=0) and searched(np.ones((30, 4)), axis=0)
    assert not searched(x, axis=0) and not searched(x.astype(np.float16))


@pytest.mark.parametrize("form", slow_but(["np.any(a)"], [
    "np.any(a)", "np.all(~a)", "np.any(a[::2])", "np.any(x > 0)", "np.all(x[::-1] <= 0)", "a.any(axis=0)", "a @ a",
    "a @ ~a", "np.logical_or.reduce(a)", "np.convolve(a, a)", "np.correlate(a, ~a, 'same')", "np.any(a, where=x >= 0)",
]))  # fmt: skip
def test_a_fold_of_bools_ends_where_it_is_decided(form: str) -> None:
    """In whichever part of the array that is, or nowhere."""
    f = program(f"def f(a, x):\n    return {form}")
    for n in (0, 1, 63, 64, 65, 200, 576, 577, 700):
        for places in ([], [0], [63], [64], [n - 1], [575], [576], range(n)):
            a = np.zeros(n, bool)
            a[[p for p in places if 0 <= p < n]] = True
            agree(f, a, a * 2.0 - 0.5)
    rows = np.zeros((5, 300), bool)
    rows[1, 299] = rows[2, 0] = rows[4, 64] = True
    agree(program("def f(a):\n    return a.any(1), a.any(0), a.all(1), (~a).all(), a[:, ::3].any(1), a.any()"), rows)


def test_an_index_out_of_bounds_is_found_behind_what_decides() -> None:
    f = program("def f(a, i):\n    return np.any(a[i])")
    assert isinstance(agree(f, np.ones(300, bool), np.arange(301)), IndexError)


def index_in_rows_of_one(b: np.ndarray) -> np.ndarray:
    return np.argmax(b.reshape(-1)[None], axis=0)


def test_the_only_element_needs_no_extreme() -> None:
    """Along an axis of one element there is no array of extremes beside the result (rule S2)."""
    climb(index_in_rows_of_one, (np.arange(35).reshape(7, 5),))


@pytest.mark.parametrize("form", ["np.all", "np.sum", "np.max", "np.mean", "np.prod"])
def test_reductions_of_arrays_without_elements(form: str) -> None:
    """The order of their axes says nothing of the result's: it is in C order."""
    f = program(f"def f(b):\n v = np.floor_divide(b[3:3], 3)\n return {form}(v, axis=0)")
    agree(f, np.arange(150).reshape(6, 5, 5).T)
    g = program(f"def f(b): return {form}(b, axis=1, keepdims=True)")
    agree(g, np.zeros((4, 0, 5)).T)


@pytest.mark.parametrize("repeated", range(3))
@pytest.mark.parametrize("order", one_in(2, itertools.permutations(range(3))))
@pytest.mark.cases(3)
def test_the_order_of_axes_beside_a_repeated_one(repeated: int, order: tuple[int, ...]) -> None:
    """An axis of stride 0 does not say where it lies in memory: it was taken for the outermost."""
    shape = [1 if k == repeated else 4 for k in range(3)]
    whole = np.arange(16, dtype=np.int16).reshape(shape)
    c = np.broadcast_to(whole, [5 if n == 1 else n for n in shape]).transpose(order)
    for axis in range(3):
        agree(program(f"def f(c): return c.max(axis={axis}), np.sum(c, axis={axis}, keepdims=True)"), c)


@pytest.mark.parametrize("repeated", range(3))
@pytest.mark.parametrize(
    "form", one_in(7, ["count_nonzero", "nansum", "nanprod", "nanmean", "nanvar", "nanmax", "nanmedian"])
)
@pytest.mark.cases(3)
def test_reductions_that_numpy_makes_of_a_copy(form: str, repeated: int) -> None:
    """Copies have a repeated axis innermost, so that the result's axes are in another order."""
    shape = [1 if k == repeated else 4 for k in range(3)]
    whole = np.arange(16.0).reshape(shape)
    for order in ((0, 1, 2), (2, 1, 0), (1, 2, 0)):
        c = np.broadcast_to(whole, [5 if n == 1 else n for n in shape]).transpose(order)
        for axis in range(3):
            agree(program(f"def f(c): return np.{form}(c, axis={axis})"), c)


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
def test_the_first_of_running_products_is_the_element_itself(dtype: Any) -> None:
    """It was multiplied by 1, which makes NaN of the 0 beside an infinity."""
    f = program("def f(a): return np.cumprod(a), np.multiply.accumulate(a), np.cumprod(a, out=a)")
    for first in (complex(np.inf, 0), complex(np.nan, 0), complex(0, -np.inf), complex(-0.0, 0)):
        agree(f, np.array([first, 1, 2], dtype))


@pytest.mark.parametrize("form", ["np.power.reduce(a, where=a != 1, initial=2)", "np.arctan2.reduce(a.astype(int))"])
def test_what_numpy_folds_from_the_other_end_is_refused(form: str) -> None:
    """Of elements that it selects or converts NumPy's loops of these take the last one for the first."""
    refused(program(f"def f(a): return {form}"), np.array([2, 3, 9, -2.0, 1]))


FEW = {
    "the mean of squares of 4": "a.reshape(a.shape[0] // 2, 2, a.shape[1] // 2, 2).mean(axis=(1, 3))",
    "axes in another order": "a.reshape(a.shape[0] // 2, 2, a.shape[1] // 2, 2).sum((3, 1), keepdims=True)",
    "neighbours": "a.reshape(-1, 2).max(axis=1)", "neighbours in columns": "a.T.reshape(-1, 2).sum(axis=-1)",
    "a dtype": "a.reshape(-1, 4).sum(1, dtype=np.float32)", "a start": "a.reshape(-1, 2).min(1, initial=0.25)",
    "rows": "a.reshape(4, -1).prod(axis=0)", "all axes": "a[:2, :2].sum(), a[:2, :4].max()",
    "fmin": "np.fmin.reduce(a.reshape(-1, 4), axis=1)", "any": "(a > 1).reshape(-1, 2).any(axis=1)",
    "deviations": "a.reshape(-1, 4).std(axis=1)", "places": "a.reshape(-1, 4).argmax(axis=1)",
    "into": "np.add.reduce(a.reshape(-1, 4), 1, None, np.empty(a.size // 4))",
    "its own column": "np.sum(a.reshape(-1, 4), axis=1, out=a.reshape(-1, 4)[:, 0])",
    "of a computed array": "(a * 2).reshape(-1, 2).sum(axis=1)",
    "where": "a.reshape(-1, 2).sum(1, where=a[0, :2] > 9)",
    "of none": "a[:0].reshape(-1, 2).sum(1), a[:0].reshape(2, -1).sum(0)",
}  # fmt: skip


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", one_in(9, FEW))
@pytest.mark.slow
def test_c2_axes_of_a_few_known_elements(name: str) -> None:
    f = program(f"def f(a): return {FEW[name]}")
    a = np.random.default_rng(0).normal(size=(8, 12))
    climb(f, (a.copy(),), again=[(a[:4, :4].copy(),)], tolerance=1e-12)
    for x in (a, a.T.copy().T, np.where(a > 1.5, np.nan, a * 0.0), np.arange(96, dtype=np.int16).reshape(8, 12)):
        agree(f, x.copy("K"), ulp=100)
    for dtype in "ef?D":
        agree(f, a.astype(dtype), ulp=100)


def test_sums_of_a_few_known_elements_are_of_their_slices() -> None:
    """One sweep, without a loop over two elements: the division too."""
    f = bufferize(program(f"def f(a): return {FEW['the mean of squares of 4']}"))
    text = f.lower(np.ones((6, 8))).as_text("memref")
    assert text.count("linalg.generic") == 1 and "reduction" not in text and "linalg.fill" not in text
    x = np.random.default_rng(1).random((60, 80))
    assert np.array_equal(f(x), f.__wrapped__(x))
