"""References, views and stores: what NumPy does to arrays and their views (rules S1-S6, B1-B4, N2, C4)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tracebuf
from tests.support.agreement import agree, program, refused
from tests.support.arrays import floats, vector
from tests.support.params import one_in, slow_but
from tracebuf import bufferize

Program = Callable[..., Any]




# -- S1: a name holds a reference; a view is written through, and sees what is written
def s1_view_written_through(a):
    v = a[1:]
    v[0] = 10
    a[2] = 20
    return v[1], v


def s1_view_of_view(a):
    v = a[1:-1]
    w = v[::-1]
    w[0] = 9
    v[0] += w[1]
    return w.sum()


def s1_bounds_are_fixed_when_made(a):
    k = 2
    v = a[k:]
    k = 4
    v[0] = 7
    return v, k


def s1_augmented_name_is_the_array(a):
    b = a
    b += 1
    b = b + 1
    b += 1
    return b


def s1_rebinding_keeps_the_old_array(a):
    b = a
    a = a * 2
    b[0] = 5
    return a


def s1_copy_is_apart(a):
    b = a.copy()
    b[0] = 5
    a[1] = 6
    return b, a


def s1_np_copy_keeps_k_order(a):
    b = np.copy(a.T)
    b[0] = 5
    return b


def s1_store_through_transposed_view(a):
    a.T[1:, 0] = 9
    t = a.T
    t[0, 1] = -1
    t[1] += t[2]
    return t


def s1_new_axes(a):
    c = a[:, None]
    c[2, 0] = 8
    r = a[None, 1:]
    r += 1
    return c + r


def s1_zero_d_view_sees_later_stores(a):
    v = a[..., 0]
    a[0] = 4
    return v + 1, v


def s1_zero_d_view_is_stored_to(a):
    v = a[1, ...]
    v[...] = 3
    v += 2
    return v


def n2_an_element_is_a_number(a):
    s = a[0]
    s += 1
    return s, a[0]


def n2_an_element_does_not_change_later(a):
    s = a[0]
    a[0] = 9
    return s + a[0]


def s1_swap_through_copies(a):
    t = a[0].copy() if False else a[0] + 0
    a[0] = a[1]
    a[1] = t


def s1_rows_by_tuple_unpacking(a):
    x, y = a[0], a[1]
    x[0] = 5
    y += x
    return x


# -- C4: source and target overlap: as if the source were copied first
def c4_shift_right(a):
    a[1:] = a[:-1]


def c4_shift_left(a):
    a[:-1] = a[1:]


def c4_reverse(a):
    a[:] = a[::-1]


def c4_reverse_in_place_add(a):
    a += a[::-1]


def c4_shifted_add(a):
    a[1:] += a[:-1]


def c4_shifted_chain(a):
    a[1:-1] = 0.5 * (a[:-2] + a[2:])


def c4_row_into_rows(a):
    a[:] = a[1]


def c4_row_added_to_rows(a):
    a += a[0]


def c4_column_added(a):
    a -= a[:, 1:2]


def c4_transposed_square(a):
    b = a[:4, :4]
    b += b.T


def c4_transposed_store(a):
    b = a[:4, :4]
    b[:] = b.T


def c4_two_views_of_one_array(a):
    x, y = a[:3], a[2:5]
    x[:] = y * 2
    y[:] = x + 1
    return x, y


# -- S3: identity is not value
def s3_two_arrays(a):
    return np.zeros(3), np.zeros(3)


def s3_copies_are_two(a):
    b = a.copy()
    c = a.copy()
    return b, c


def s3_one_array_twice(a):
    b = a + 1
    return b, b, b[1:], (b,)


def s3_argument_is_returned(a):
    return a


def s3_argument_in_a_tuple(a):
    return [a, (a, a[1:])]


def s3_view_of_whole_is_another_object(a):
    return a[:], a


def s3_values_equal_identity_not(a):
    b = a + 1
    c = a + 1
    b[0] = 5
    return b, c


def s3_a_copy_of_the_argument_is_not_the_argument(a):
    return a.copy(), a + 0, +a


# -- S4: a store between reading and using
def s4_temporary_before_a_store(a):
    t = a + 1
    a[0] = 5
    return t * 2


def s4_temporary_of_a_view(a):
    t = a[1:] * 2
    a[1:] = 0
    a[:-1] += t
    return t


def s4_product_kept_over_stores(a):
    t = a * a
    a += 1
    u = a * a
    a += t
    return u - t


# -- S6: axes in K-order
def s6_transposed_sum(a):
    return a.T + 1, a + a.T.T, a.T.copy(), np.copy(a.T)


def s6_like(a):
    e = np.empty_like(a.T)
    e[...] = 2
    return np.zeros_like(a.T), np.ones_like(a), e


def s6_mixed(a):
    return a[:4, :4] + a[:4, :4].T, a[:4, :4].T + a[:4, :4]


def s6_reductions(a):
    return a.T.sum(axis=0), a.T.max(axis=1, keepdims=True), (a.T + a.T).sum(axis=1)


ONE = [
    s1_view_written_through, s1_view_of_view, s1_bounds_are_fixed_when_made, s1_augmented_name_is_the_array,
    s1_rebinding_keeps_the_old_array, s1_copy_is_apart, s1_zero_d_view_sees_later_stores, n2_an_element_is_a_number,
    n2_an_element_does_not_change_later, s1_new_axes, c4_shift_right, c4_shift_left, c4_reverse,
    c4_reverse_in_place_add, c4_shifted_add, c4_shifted_chain, c4_two_views_of_one_array, s3_two_arrays,
    s3_copies_are_two, s3_one_array_twice, s3_argument_is_returned, s3_argument_in_a_tuple,
    s3_view_of_whole_is_another_object, s3_values_equal_identity_not, s3_a_copy_of_the_argument_is_not_the_argument,
    s4_temporary_before_a_store, s4_temporary_of_a_view, s4_product_kept_over_stores,
]  # fmt: skip
TWO = [
    s1_np_copy_keeps_k_order, s1_store_through_transposed_view, s1_swap_through_copies, s1_rows_by_tuple_unpacking,
    c4_row_into_rows, c4_row_added_to_rows, c4_column_added, c4_transposed_square, c4_transposed_store,
    s6_transposed_sum, s6_like, s6_mixed, s6_reductions, s1_copy_is_apart, s4_temporary_before_a_store,
    c4_reverse, c4_shift_left, s3_view_of_whole_is_another_object, s3_argument_is_returned,
]  # fmt: skip
LAYOUTS_1: list[Callable[[np.ndarray], np.ndarray]] = [
    lambda a: a, lambda a: np.repeat(a, 2)[::2], lambda a: a[::-1].copy()[::-1], lambda a: a.astype(np.float32),
    lambda a: a.astype(np.int64), lambda a: np.stack([a, a])[1],
]  # fmt: skip
LAYOUTS_2: list[Callable[[np.ndarray], np.ndarray]] = [
    lambda a: a, np.asfortranarray, lambda a: a[::-1, ::-1].copy()[::-1, ::-1], lambda a: np.pad(a, 2)[2:-2, 2:-2],
    lambda a: np.repeat(a, 2, axis=1)[:, ::2], lambda a: a.T.copy().T, lambda a: a.astype(np.int64),
]  # fmt: skip


@pytest.mark.parametrize("layout", slow_but((1,), range(len(LAYOUTS_1))))
@pytest.mark.parametrize("f", one_in(12, ONE), ids=lambda f: f.__name__)
def test_vectors(f: Program, layout: int) -> None:
    g = tracebuf.bufferize(verify=True)(f)
    for n in (7, 12):
        agree(g, LAYOUTS_1[layout](vector(n)))
    assert len(g.specializations()) == 1


@pytest.mark.slow
@pytest.mark.parametrize("layout", range(len(LAYOUTS_2)))
@pytest.mark.parametrize("f", TWO, ids=lambda f: f.__name__)
def test_matrices(f: Program, layout: int) -> None:
    g = tracebuf.bufferize(verify=True)(f)
    for m, n in ((4, 5), (6, 9)):
        agree(g, LAYOUTS_2[layout](floats(m, n)))
    assert len(g.specializations()) == 1


@pytest.mark.slow
@pytest.mark.parametrize("f", [f for f in ONE if "zero_d" not in f.__name__], ids=lambda f: f.__name__)
def test_small_vectors(f: Program) -> None:
    g = tracebuf.bufferize(verify=True)(f)
    for n in (0, 1, 2, 3, 4, 5):
        agree(g, vector(n))


@pytest.mark.slow
@pytest.mark.parametrize("f", TWO, ids=lambda f: f.__name__)
def test_small_matrices(f: Program) -> None:
    g = tracebuf.bufferize(verify=True, max_specializations=60)(f)
    for m in (0, 1, 2, 5):
        for n in (0, 1, 2, 3):
            agree(g, floats(m, n))


def c4_copy_first(c, start, stop, step, first, last, stride):
    c[start:stop:step] = c[first:last:stride]


@pytest.mark.slow
def test_c4_a_slice_store_copies_its_source_first() -> None:
    """Where source and target overlap with unlike steps NumPy itself errs; the documented answer is the copy's."""
    rng = np.random.default_rng(0)
    bounds, steps = (None, 0, 1, 2, 5, 6, 7), (1, 2, 3, -1, -2)
    for _ in range(60):
        target, source = (slice(*(rng.choice(np.array(k, object)) for k in (bounds, bounds, steps))) for _ in range(2))
        a, want = np.arange(7.0), np.arange(7.0)
        f = tracebuf.bufferize(c4_copy_first)
        arguments = (target.start, target.stop, target.step, source.start, source.stop, source.step)
        try:
            want[target] = want[source].copy()
        except ValueError:
            with pytest.raises(ValueError):
                f(a, *arguments)
            continue
        f(a, *arguments)
        assert (a == want).all(), (target, source)


# -- S1: numbers stored together, each converted by itself
TUPLES: tuple[tuple[type, Any], ...] = (
    (np.float64, (1, 2.5, True)), (np.float32, (1e-9, np.float64(0.1), 3)), (np.int64, (1.9, -2.9, np.float32(3.5))),
    (np.uint8, (1, np.int64(300), np.float64(258.5))), (np.int8, (1, 300, 3)), (np.bool_, (0.0, np.nan, 5)),
    (np.int64, (1, np.nan, 2)), (np.int32, (1, np.int64(2**40), 2)), (np.float64, (1, 2)), (np.float64, (4,)),
)  # fmt: skip


@pytest.mark.parametrize(("dtype", "values"), one_in(6, TUPLES, rows=True))
def test_s1_a_tuple_of_numbers_is_stored(dtype: type, values: tuple[Any, ...]) -> None:
    def program(a, x, y):
        a[1] = values
        a[2:, ::-1] = [*values]
        a[0] = x, y, x
        a[:, 1:] = a[0, 0], y
        return a

    agree(program, np.zeros((4, 3), dtype), 1.5, 2)


@pytest.mark.parametrize("shape", [(2, 3), (0, 2), (3, 1), (2,), (1,), (3, 0)])
def test_s1_a_tuple_that_does_not_fit(shape: tuple[int, ...]) -> None:
    def program(a, x):
        a[...] = x, 2.0
        a[0] = 3.0, x
        return a

    agree(program, np.zeros(shape), 1.5)


def c1_first_row_and_column(a, d):
    m, n = a.shape
    d[:, 0] = range(m + 1)
    d[0] = range(n, -1, -1)
    d[1, 1::2] = range(1, n + 1, 2)
    return d


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["int64", "float32", "bool"])
def test_a_range_is_stored(dtype: str) -> None:
    """Rule C1: its ints; into fewer elements ValueError; into narrow integers it is refused (rule N1)."""
    f = bufferize(verify=True)(c1_first_row_and_column)
    for m, n in ((3, 4), (4, 7)):
        agree(f, np.ones((m, n)), np.zeros((m + 1, n + 1), dtype))
    agree(f, np.ones((3, 4)), np.zeros((3, 5), dtype))
    refused(c1_first_row_and_column, np.ones((3, 4)), np.zeros((4, 5), np.int8))


@pytest.mark.parametrize("loop", ["for i in range(3):", "for i in range(n):", "while a[0] < n:\n        a += 1"])
def test_a_whole_view_taken_in_a_loop_is_an_object_of_its_own(loop: str) -> None:
    """After the loop it was taken for the array itself."""
    f = program(f"def f(a, b, n):\n    {loop}\n        b = a[:]\n    return b, b is a")
    agree(f, np.arange(4.0), np.ones(4), 3)
