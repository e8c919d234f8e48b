"""Products of stacks of matrices, np.inner, np.outer, np.vdot (rules C1, C2, S2, S6)."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

from tests.support.agreement import agree, program, refused
from tests.support.arrays import LAYOUTS
from tests.support.forms import expression, judge, split
from tests.support.params import one_in, slow_but
from tracebuf import bufferize, measure
from tracebuf.backend.llvm import blas_calls
from tracebuf.measure import clone_arguments
from tracebuf.testing.ladder import climb

RNG = np.random.default_rng(3)
VALUES = {
    "a": RNG.uniform(0.5, 1, (2, 3, 4)), "b": RNG.uniform(0.5, 1, (2, 4, 5)), "m": RNG.uniform(0.5, 1, (4, 6)),
    "v": RNG.uniform(0.5, 1, 4), "w": RNG.uniform(0.5, 1, 3), "one": RNG.uniform(0.5, 1, (1, 4, 5)),
    "four": RNG.uniform(0.5, 1, (2, 3, 4, 5)).transpose(1, 0, 2, 3), "five": RNG.uniform(0.5, 1, (3, 2, 5, 3)),
    "i": RNG.integers(-3, 4, (2, 3, 4)), "k": RNG.integers(-3, 4, (4, 2)), "f": np.ones((2, 4, 5), np.float32),
    "bools": RNG.random((2, 3, 4)) > 0.5, "c": np.zeros((2, 3, 5)), "x": RNG.uniform(0.5, 1, (3, 4)),
    "empty": np.zeros((0, 3, 4)),
}  # fmt: skip
FORMS = """
a @ b|a @ m|x @ b|a @ v|v @ b|a @ one|four @ five|four @ m[:, :3]|i @ k|bools @ k|bools @ bools[:, 0]|a @ f|i @ b
empty @ m|a @ a|a @ w|four @ b|np.matmul(a, b, out=c)|np.dot(a, m)|np.dot(a, v)|np.dot(v, b)|np.dot(a, b)|np.dot(x, b)
np.dot(four, five)|np.dot(i, k)|np.dot(a, b, out=c)|a.dot(m)|np.dot(a, w)|np.dot(2, v)
four.transpose(2, 3, 0, 1) @ np.ones((2, 7))
np.dot(a, [1, 2, 3, 4])|np.dot([1, 2.5, 2], w)|np.inner([1, 2, 3, 4], v)|v.dot([1, 2, 3, 4])|np.vdot([1, 2, 3], w)
np.inner(v, v)|np.inner(a, v)|np.inner(x, m)|np.inner(x, x)|np.inner(a, x)|np.inner(v, 2)|np.inner(2, 3)|np.inner(v, w)
np.outer(v, w)|np.outer(v, 2)|np.outer(i[0, 0], w)|np.outer(v, w, out=np.zeros((4, 3)))|np.vdot(v, v)|np.vdot(v, w)
a[:, ::-1] @ b[..., ::2]|a[:, None] @ b|a[:1] @ b
"""


@pytest.mark.parametrize("text", one_in(18, split(FORMS)))
def test_c1_products_of_more_axes(text: str) -> None:
    """Rules C1, S6: values, dtypes, order of strides and exceptions of products."""
    expression(text, VALUES, ulp=100)


@pytest.mark.slow
def test_s2_stacks_on_every_rung() -> None:
    """Rule S2: nothing but the product is allocated."""
    for text in ("a @ b", "a @ m", "np.dot(x, b)", "a @ v", "a @ one"):
        names = [n for n in VALUES if n in text.split() or f"({n}," in text or f" {n})" in text]
        climb(program(f"def f({', '.join(names)}):\n    return {text}"), [VALUES[n] for n in names], tolerance=1e-13)


@pytest.mark.slow
def test_stacks_of_other_types_are_converted_once() -> None:
    """They were converted matrix by matrix, in memory of their own each."""
    for text in ("a @ f", "i @ b", "np.inner(i, v)", "np.dot(i, b)", "np.inner(np.arange(4), f.transpose(0, 2, 1))"):
        names = [n for n in VALUES if n in re.findall("[a-z]+", text)]
        climb(program(f"def f({', '.join(names)}):\n    return {text}"), [VALUES[n] for n in names], tolerance=1e-13)


def test_what_is_refused() -> None:
    for text in ("np.matmul(a, a, axes=[(0, 1)])",):
        refused(program(f"def f(a):\n    return {text}"), VALUES["a"])


@pytest.mark.slow
def test_outer_product_of_slices_as_long_as_the_loop_says() -> None:
    """Rule S7: whether ravel of a column is a view was asked, though nothing depends on it here."""

    def program(a):
        for k in range(a.shape[0] - 1):
            a[k + 1 :, k + 1 :] -= np.outer(a[k + 1 :, k], a[k, k + 1 :]) / np.vdot(a[k:, k], a[k, k:])
        return a

    climb(program, (RNG.uniform(1, 2, (5, 5)),), again=[(RNG.uniform(1, 2, (8, 8)),)], tolerance=1e-12)


@pytest.mark.slow
def test_running_total_and_repeat_of_slices_as_long_as_the_loop_says() -> None:
    """The same for np.cumsum, np.repeat and np.concatenate without an axis."""

    def program(a):
        for k in range(a.shape[0] - 1):
            a[k, k:] = np.cumsum(a[k:, k])
            s = np.concatenate((a[k:, k], a[k, 1:]), axis=None)
            a[:, k] += s.sum() + np.repeat(a[k:, k], 2).max()
        return a

    climb(program, (RNG.uniform(1, 2, (5, 5)),), again=[(RNG.uniform(1, 2, (8, 8)),)], tolerance=1e-12)


@pytest.mark.slow
def test_dot_into_a_part_of_an_array_or_one_of_two() -> None:
    """Rules C1, S8: np.dot's `out` must be C-contiguous, which a row is and a column is not."""

    def row(a, x, c):
        np.dot(a, x, out=c[1])
        return np.dot(x, a, out=c[0])

    def column(a, x, c):
        return np.dot(a, x, out=c[:, 1])

    def swapped(a, x, n):
        y = np.zeros_like(x)
        for _ in range(n):
            np.dot(a, x, out=y)
            y /= np.sqrt(y @ y)
            x, y = y, x
        return x

    a, x = RNG.uniform(1, 2, (4, 4)), RNG.uniform(1, 2, 4)
    for f, third in ((row, np.zeros((4, 4))), (column, np.zeros((4, 4))), (swapped, 3)):
        climb(f, (a, x, third), tolerance=1e-12)
    with pytest.raises(ValueError, match="C-Array"):
        bufferize(column)(a, x, np.zeros((4, 4)))


@pytest.mark.parametrize("dtype", slow_but(["c16"], ["f4", "f8", "c8", "c16"]))
@pytest.mark.slow
def test_complex_dots_are_numpys_to_the_bit_without_an_array(dtype: str) -> None:
    """np.vdot made an array of what it conjugates, which took twice the time of NumPy's."""
    r = np.random.default_rng(0)
    f = bufferize(program("def f(a, b):\n    t = np.ones((), a.dtype)\n    t += np.vdot(b, a)\n"
                          "    return np.vdot(a, b), np.dot(a, b), a @ b, t, np.vdot(a.real, b)"))  # fmt: skip
    for n in (0, 1, 3, 17, 1000):
        a, b = ((r.random(n) - (0.5j if dtype[0] == "c" else 0.5)).astype(dtype) for _ in range(2))
        for args in ((a, b), (a.repeat(3)[::3], b)):
            for found, expected in zip(f(*args), f.__wrapped__(*args), strict=True):
                np.testing.assert_array_equal(found, expected, err_msg=f"{n}")
        climb(f.__wrapped__, (a, b), tolerance=1e-6)
    assert bufferize(lambda a, b: np.vdot(a, b)).call_counted(a, b)[1].allocations == 0


@pytest.mark.parametrize("dtype", slow_but(["f8"], ["f4", "c8", "c16"]))
def test_products_of_one_row_or_column_are_numpys_to_the_bit(dtype: str) -> None:
    """That there is one is known at run time; NumPy has a dot or gemv of it, which do not add up as gemm does."""
    r = np.random.default_rng(0)
    forms = ("a @ x", "y @ a", "a @ x[:, None]", "y[None] @ a", "np.dot(a, x)", "np.dot(a, x[:, None])", "(2 * a) @ x")
    f = bufferize(program(f"def f(a, x, y): return {', '.join(forms)}"))
    for m, n in itertools.product((1, 3, 7, 40), (1, 3, 17, 500)):
        a, x, y = ((r.random(shape) - (0.5j if dtype[0] == "c" else 0.5)).astype(dtype) for shape in ((m, n), n, m))
        steps = a.repeat(2, 0)[::2], x, y.repeat(3)[::3]
        for args in ((a, x, y), (np.asfortranarray(a), x.repeat(2)[::2], y), steps):
            for form, found, expected in zip(forms, f(*args), f.__wrapped__(*args), strict=True):
                np.testing.assert_array_equal(found, expected, err_msg=f"{form} of {m} by {n}")


@pytest.mark.slow
@pytest.mark.parametrize("dtypes", [("f8", "f8"), ("f4", "f8"), ("i8", "i8"), ("?", "?"), ("?", "f4"), ("f4", "f4")])
def test_products(dtypes: tuple[str, str]) -> None:
    rng = np.random.default_rng(0)
    shapes = [(), (1,), (3,), (0,), (3, 4), (4, 3), (1, 4), (0, 3)]
    for s, t in itertools.product(shapes, shapes):
        a, b = (np.asarray(rng.random(x) * 9 - 4).astype(d) for x, d in ((s, dtypes[0]), (t, dtypes[1])))
        for layout in ("rows", "columns") if dtypes == ("f8", "f8") and len(s) == 2 else ("rows",):
            judge(["a @ b", "np.dot(a, b)"], "a, b", LAYOUTS[layout](a), b, ulp=64)


@pytest.mark.slow
def test_products_with_numbers() -> None:
    for x in (2, 2.0, True, np.float32(2), np.int64(2), np.True_):
        for dtype in (np.float32, np.int64, np.bool_):
            a = np.asfortranarray(np.ones((3, 4), dtype))
            judge(["np.dot(a, x)", "np.dot(x, a)", "a.dot(x)", "np.dot(x, x)", "a @ x", "x @ x"], "a, x", a, x)


@pytest.mark.parametrize("n", slow_but([3], [0, 1, 2, 3, 4, 7, 64, 300, -1, -2, True]))
@pytest.mark.slow
def test_matrix_power(n: int) -> None:
    """Products in the order of NumPy's, if the exponent is known: a call of the function took longer than NumPy's."""
    r = np.random.default_rng(5)
    f = program(f"def f(m):\n    return np.linalg.matrix_power(m, {n})")
    several = r.random((2, 3, 3)).astype("f4")
    for m in (r.random((4, 4)), several, np.eye(3, dtype=int) * 2, np.ones((2, 3)), np.ones(3)):
        agree(f, m)
    agree(program("def f(m, k):\n    return np.linalg.matrix_power(m, k)"), r.random((3, 3)), n)


@pytest.mark.parametrize("given", slow_but(["(a, b)"], ["[a, b, c]", "[a[0], b, c[:, 0]]", "(a, b, c[:, 0])"]))
def test_multi_dot(given: str) -> None:
    """Traced; the order of three products hangs on the sizes of each call, as NumPy's."""
    r, f = np.random.default_rng(5), bufferize(program(f"def f(a, b, c):\n    return np.linalg.multi_dot({given})"))
    for m, k, n, p in ((2, 9, 3, 4), (9, 2, 4, 3), (3, 3, 3, 3), (5, 1, 7, 2))[: 1 + 3 * ("c" in given)]:
        args = r.random((m, k)), r.random((k, n)), r.random((n, p))
        agree(f, *args, ulp=64)
        assert "host_call" not in f.lower(*args).as_text("memref")
    if "c" in given:
        assert isinstance(agree(f, np.ones((2, 3)), np.ones((3, 4)), np.ones((5, 2))), ValueError)


@pytest.mark.slow
@pytest.mark.parametrize("given", ["[a]", "(a, a[0], a)", "a", "[a, 2.0]", "[a, a, a, a]", "[a[0], a]", "[a, a, a[0]]"])
def test_multi_dot_of_what(given: str) -> None:
    f = program(f"def f(a):\n    return np.linalg.multi_dot({given})")
    for a in (np.arange(9.0).reshape(3, 3), np.arange(9).reshape(3, 3), np.ones((2, 2, 2)), np.ones(3)):
        if given != "a":
            agree(f, a, ulp=64)
    agree(program("def f(a, b):\n    return np.linalg.multi_dot([a, a, a], out=b), b"), np.eye(3), np.ones((3, 3)))


def in_all_ways(a, b, c, v, w):
    """Products of any strides, into any strides, plain and added."""
    made = a @ b, a @ v, w @ a, (a @ b[::-1, ::-1]).sum()
    c[:] = a @ b
    c -= a @ b[:, ::-1]
    w += a @ v[::-1]
    return made


STRIDED: list[Callable[[np.ndarray], np.ndarray]] = [
    lambda a: a, np.asfortranarray, lambda a: a[::-1].copy()[::-1], lambda a: np.repeat(a, 2, -1)[..., ::2],
    lambda a: np.repeat(a, 3, 0).T.copy().T[::3], lambda a: a[::-1, ::-1].copy()[::-1, ::-1],
]  # fmt: skip


@pytest.mark.parametrize("dtype", slow_but(["f8"], ["f4", "c8", "c16"]))
@pytest.mark.parametrize("blocks", [False, *slow_but((), [True])])
def test_products_without_a_unit_stride(dtype: str, blocks: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """BLAS gets copies of what it cannot take, on the stack, or (`blocks`) a part at a time."""
    if blocks:
        monkeypatch.setattr(blas_calls, "SMALL", 128)
        monkeypatch.setattr(blas_calls, "LARGE", 512)
    r = np.random.default_rng(0)
    f = bufferize(in_all_ways, max_specializations=1000)
    pairs = itertools.product(range(6), repeat=2) if blocks else [(3, 4)]
    factor = np.dtype(dtype).type(1 + 1j if dtype[0] == "c" else 1)
    for (i, j), (m, k, n) in itertools.product(pairs, ((17, 30, 13), (1, 40, 2), (0, 3, 2), (2, 0, 3))):
        a, b, c, v, w = ((r.random(s) - 0.5).astype(dtype) * factor for s in ((m, k), (k, n), (m, n), k, m))
        args = STRIDED[i](a), STRIDED[j](b), STRIDED[(i + j) % 6](c), np.repeat(v, 2)[::2], w[::-1].copy()[::-1]
        near(f, *args)
        if not blocks:
            break


def near(f: Callable[..., Any], *args: Any) -> None:
    """The results and arguments of `f` are those of its original but for rounding."""
    (want, mine), (found, theirs) = ([x, copies] for x, copies in map(partial(called, args), (f.__wrapped__, f)))
    for x, y in zip((*want, *mine), (*found, *theirs), strict=True):
        assert x.dtype == y.dtype and x.shape == y.shape
        np.testing.assert_allclose(y, x, rtol=0, atol=float(np.finfo(x.dtype).eps) * 200)


def called(args: tuple[Any, ...], f: Callable[..., Any]) -> tuple[Any, Any]:
    copies = clone_arguments(args, {})[0]
    return f(*copies), copies


@pytest.mark.slow
def test_a_strided_product_allocates_its_result_only() -> None:
    counted = measure(bufferize(lambda a: a[:, ::2] @ a[::-1, ::-2]), np.ones((60, 120)), repeat=1)
    assert counted.native.allocations == 1 and counted.native.copies == 0
    assert counted.native.allocated_bytes <= counted.eager.allocated_bytes
