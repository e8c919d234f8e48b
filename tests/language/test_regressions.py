"""Bugs that were found by fuzzing, each as the smallest program that showed it, climbed by the whole ladder."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.support.agreement import agree, refused
from tracebuf import bufferize
from tracebuf.testing.ladder import climb

pytestmark = pytest.mark.slow

Array = np.ndarray[Any, np.dtype[Any]]


def floats(*shape: int) -> Array:
    return np.arange(float(np.prod(shape, dtype=int))).reshape(shape) - 3


def test_sum_over_an_axis_of_size_zero() -> None:
    """The reference of linalg.generic transposed a reduction that did not happen."""

    def program(a):
        return a[:, 2:].sum(axis=1), a[:0].sum(axis=0, keepdims=True)

    climb(program, (floats(7, 1),), again=[(floats(4, 5),)])


def test_a_loop_that_is_folded_away_takes_its_symbol_along() -> None:
    """fold-memref dropped an empty loop; the function still named its induction variable."""

    def program(b):
        for _i in range(1):
            b[:] = 1
        b[:] = 1

    climb(program, (floats(4),))


@pytest.mark.parametrize("value", [np.nan, np.inf, 1e30, -2.5])
def test_a_float_scalar_stored_into_ints(value: float) -> None:
    """NumPy's floats raise like Python's where they have no int; a 0-d array does not."""

    def element(a, b):
        b[1] = a[0]

    def slices(a, b):
        b[1:] = a[0]
        b[...] = a[1] * 1

    def array(a, b):
        b[1:] = a[:1].sum()
        b[0] = a[0, ...]

    for program in (element, slices, array):
        climb(program, (np.array([value, 2.0]), np.zeros(3, np.int64)))


def test_strides_of_an_argument_whose_sizes_are_guarded_equal() -> None:
    """The strides kept a symbol that the sizes no longer spelled."""

    def program(a, b):
        return a <= b

    climb(program, (floats(4, 3), floats(3)), again=[(floats(3, 3), floats(3))])


def test_vectors_copied_onto_themselves_need_no_temporary() -> None:
    """NumPy copies in one direction without a temporary; so do we (rule S2), in an order that is right (rule C4)."""

    def shifts(b, n, m):
        b[1:] = b[:-1]
        b[:-1] = b[1:]
        b[n : n + 2] = b[m : m + 2]
        b[4::-1] = b[5:0:-1]

    def steps(b, n):
        b[::2] = b[n : n + 4]
        b[2:6] = b[::2]
        b[1::3] = b[:5:2]
        b[-2::-2] = b[-n : -n - 3 : -1]

    def cross(b, n):
        b[2] = b[:, n]
        b[:, 1] = b[n, ::-1]
        b[-1, ::-1] = b[:, 2]

    for n in range(3):
        for m in range(4):
            climb(shifts, (floats(7), n, m), again=[(floats(9), m, n)])
        climb(steps, (floats(7), n + 1))
        climb(cross, (floats(4, 4), n))
        climb(cross, (floats(4, 4).T[::-1], n), strategies=[])


def test_copies_of_a_repeated_array_put_the_repeated_axis_innermost() -> None:
    """astype, np.copy and zeros_like sort axes by stride, ufuncs do not: they differ for strides of 0."""

    def program(a):
        return (
            a.astype(np.float32),
            np.copy(a),
            np.zeros_like(a),
            a.copy(),
            a + 1,
            a[:, None].astype(np.int64),
            np.copy(a.T),
        )

    climb(program, (np.broadcast_to(floats(4), (3, 4)),), again=[(np.broadcast_to(floats(3, 1), (3, 5)),)])
    climb(program, (np.broadcast_to(floats(4, 1, 2), (3, 4, 3, 2)).transpose(0, 2, 1, 3),))


def test_an_unused_choice_takes_its_symbol_along() -> None:
    """fold-memref dropped a result of scf.if that the function still named as a size."""

    def program(a, n):
        b = a[2 if a[1] else -1]
        t = n if a[0] else 3
        return np.zeros(t), b

    climb(program, (np.array([False, True, True]), 4), again=[(np.array([True, True, False]), 4)])


def test_a_loop_that_does_not_run_leaves_what_it_was_given() -> None:
    """A copy for scf.for came without contents where the body only overwrites, though no iteration may come."""

    def program(a, b, n):
        for i in range(n):
            b[...] = i
        for i in range(a[0]):
            b[:] = i
        return b + 1

    for n in (0, 2):
        for k in (0, 1):
            climb(program, (np.array([k]), floats(3), n))


def test_one_element_stored_onto_itself() -> None:
    """A slice of one element kept its step, so it was not seen to be the array itself."""

    def program(a):
        a[::3] = a
        a[::-1] = a[::2]

    climb(program, (floats(1),))


def test_slices_that_turn_out_not_to_overlap_need_no_temporary() -> None:
    """NumPy looks at the addresses: no temporary for parts that are apart or the same, so none here (rule S2)."""

    def neighbours(a):
        a[1:] += a[:-1]
        a[1:-1] = a[2:]
        a[::2] *= a[1:2]

    def parts(a, n, m):
        a[n:] = a[: 4 - n]
        a[:, n] *= a[:, m]
        a[m::2] += a[n]
        a[n : n + 1, ::-2] = a[m : m + 1, 1::2]

    for shape in ((), (2,)):
        climb(neighbours, (floats(4, *shape),), again=[(floats(n, *shape),) for n in (2, 3, 5)])
    pairs = [(n, m) for n in range(4) for m in range(4)]
    again = [(a, n, m) for n, m in pairs for a in (floats(4, 4), np.asfortranarray(floats(4, 4)))]
    climb(parts, (floats(4, 4), 1, 2), again=again)


def test_a_tuple_cut_by_an_int_argument() -> None:
    """The slice held a traced int, which Python cannot use."""

    def program(a, n):
        return a.sum(axis=(0, 1)[:n]), (a, 1)[-n:]

    climb(program, (floats(2, 3), 1), again=[(floats(2, 3), 2)])


def test_vectors_that_cross_or_have_no_axis() -> None:
    """A row computed into a column meets it in one element; a part may be one element without an axis."""

    def program(a, b, n):
        a[:, 0] = a[n] + 1
        a[n] *= a[:, 1]
        a[:, ::-1][1] -= a[::-1, 2]
        b[None, 0] = np.maximum(b[::3], 0.1)
        b[n : n + 1] += b[:1]

    args = [(floats(4, 4), floats(3), n) for n in range(4)]
    for n in range(3):
        climb(program, args[n], again=args)


def test_an_array_stored_into_itself_turned_round() -> None:
    """`b[::-1] = b` copied the target to keep the source, and then the target back: two copies for NumPy's one."""

    def program(b, c, d):
        b[::-1] = b
        c.T[...] = c
        d[::-1, ::-1] = d
        d[::-1] = d.T

    climb(program, (floats(2), floats(3, 3), floats(4, 4)), again=[(floats(9), floats(2, 2), floats(5, 5))])


def test_complex_constants() -> None:
    """A complex constant met an assertion."""

    def program(a):
        return np.minimum(a, (-1.5) ** 0.5)

    climb(program, (floats(3),))


def test_another_specialisation_may_store_to_other_arguments() -> None:
    """The ladder took the arguments that the first call's program stores to for those of every call."""

    def program(a, b):
        for _ in range(1):
            b[:] = np.min(a)
        return b[7]

    climb(program, (floats(0, 5), floats(4)), again=[(floats(5, 5), floats(4))])


def test_the_index_of_a_single_iteration_is_known() -> None:
    """With a symbol for it, sizes that are equal could not be proved so, and the copy took a temporary (rule S2)."""

    def program(a):
        for i in range(1):
            a[i::2] = a[2:]
        for j in range(3, 2, -1):
            a[j - 3] = j
        return j

    climb(program, (np.zeros(4, bool)[::-1],), again=[(np.ones(8, bool)[::2],)])


def test_a_loop_that_first_binds_an_array_begins_with_none() -> None:
    """Rules F1, S2: the array of the last iteration, of no elements before the first; nothing of no bytes counts."""

    def program(a):
        for _i in range(1):
            h = a + a
        for _i in range(len(a)):
            t = np.rint(a)
        return h, t, h + t

    climb(program, (floats(3),), again=[(floats(5),)])


def test_a_name_that_an_earlier_iteration_than_the_last_bound() -> None:
    """Rule F1."""

    def program(a):
        for i in range(len(a)):
            if a[i] < 3:
                k, row = i, a[i:]
        return k, row

    climb(program, (np.array([1.0, 2, 3, 4]),), again=[(np.array([3.0, 1, 7]),), (np.array([9.0]),)])


def test_an_array_named_in_a_loop_is_that_array() -> None:
    """Rule C1: identity."""

    def program(a):
        for _x in a:
            v = a
        return v

    climb(program, (floats(3),))


def c1_the_argument_itself_or_a_view_of_all_of_it(a, b):
    if b[0] <= 1:
        a = a[:]
    return a


def test_identity_depends_on_the_path() -> None:
    """Rules C1, S8: found by fuzzing; the view of everything was taken for the argument."""
    for first in (0.0, 5.0):
        agree(c1_the_argument_itself_or_a_view_of_all_of_it, np.ones(3), np.array([first]))


def c1_carried_by_copyto(a, n):
    old, before = np.zeros_like(a), np.zeros_like(a)
    for _i in range(n):
        np.copyto(before, old)
        np.copyto(old, a)
        a[1:] += old[:-1] - before[1:]
    return old, before


def test_copyto_stores_in_place() -> None:
    """Rules C1, S8: np.copyto is a store into an array that already is; a name, a view or a literal as the source."""

    def views(d, s):
        np.copyto(d[1:], d[:-1])
        np.copyto(dst=d[:1], src=[7])
        np.copyto(d, s, where=d > 2)

    climb(c1_carried_by_copyto, (floats(5), 3), again=[(floats(7), 1)])
    climb(views, (floats(6), floats(1)), again=[(floats(4), floats(1))])


SOURCES = (True, 3, 300, -1, 1.5, np.int64(300), np.uint8(3), np.float32(2.5), np.bool_(True), np.full(3, 7), floats())


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint8", "int64", "float32"])
def test_copyto_converts_within_a_kind(dtype: str) -> None:
    """Rules C1, N1: TypeError beyond the kind, OverflowError for Python's ints; NumPy's numbers wrap."""

    def store(d, s):
        np.copyto(d, s)

    for source in SOURCES:
        agree(store, np.zeros(3, dtype), source)
    agree(store, np.zeros(3, dtype), np.zeros((2, 3), dtype))


def test_copyto_with_a_mask() -> None:
    """Rule C1: a mask may be broadcast into the array, and not beyond it; a number is none."""

    def store(d, s, m):
        np.copyto(d, s, where=m)

    some = np.array([True, False, True])
    for mask in (some, some[None], np.array([1, 0, 1]), some[:1], some[:2], False):
        for target in (np.zeros(3), np.zeros((2, 3)), np.zeros(1)):
            agree(store, target, floats(3) if target.size > 1 else floats(1), mask)
    refused(store, np.zeros(3), floats(3), 1)


def test_ndarray_is_empty_by_another_name() -> None:
    """Rule C1: np.ndarray(shape, dtype), which is a type, may be called."""

    def program(n):
        a, b = np.ndarray(n), np.ndarray((2, n), dtype=np.int16)
        a[:], b[...] = 1, 2
        return a, b, isinstance(a, np.ndarray)

    climb(program, (3,), again=[(5,)])
    agree(program, -1)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, np.int8, np.bool_])
def test_linspace_of_a_dtype(dtype: type) -> None:
    """Rule C1: ints are rounded down, not towards zero."""

    def program(a, b, n):
        return np.linspace(a, b, n, dtype=dtype), np.linspace(a, b, n, endpoint=False, dtype=dtype)

    climb(program, (-5.5, 7.0, 4), again=[(-1.0, 1.0, 9), (2.0, 2.0, 3)])


def test_a_part_of_an_array_that_another_path_does_not_make_is_not_read_there() -> None:
    """Rule S8: an element of what one path made, as a result, beside a number on the other."""

    def program(b):
        v = b[1]
        if v[0] > 1:
            t = np.zeros_like(v)
        else:
            return 1
        return t[1, ...]

    def both(b):
        if b[0, 0] > 1:
            t = b + 1
        else:
            return 1, None
        return t[1], t[2, ..., 1]

    climb(program, (floats(4, 2),), again=[(floats(3, 2) + 5,)])
    climb(both, (floats(4, 2),), again=[(floats(3, 2) + 5,)])


def test_one_array_that_is_a_result_on_one_path_and_on_every_path() -> None:
    """Rules S8, C1: it is read on every path, and is one object where it is two results."""

    def program(a, c):
        b = c * a
        x = a if c[0] > 0 else b
        y = b if c[0] > 0 else a
        return x, b, y

    climb(program, (floats(4), floats(4)), again=[(floats(5) + 7, floats(5) + 7)])


@pytest.mark.parametrize("dtype", [np.uint64, np.uint8])
def test_an_int_that_only_a_numpy_number_does_not_take(dtype: type) -> None:
    """Rule N1: where the number may be Python's, nothing is out of bounds for sure."""

    def program(a):
        return -1 - min(a[0], 3)

    refused(program, np.array([5], dtype))


def c1_shapes_compared(a, b):
    assert a.shape[:1] == b.shape[:1], "as many rows"
    if a.shape != b.shape[::-1] and a.shape == b.shape:
        a = a + b
    same = a.shape == b.shape, list(a.shape) == list(b.shape), a.shape == list(b.shape), (a.shape, 1) == (b.shape, True)
    return a, same, a.shape == (3, 4), a.shape in ((4, 5), b.shape), (3, 4) not in [a.shape], a.shape == None  # noqa: E711


def test_shapes_are_compared_item_by_item() -> None:
    """Rule C1: == and `in` of tuples with sizes among their items were decided by which objects these are."""
    f = bufferize(verify=True)(c1_shapes_compared)
    for m, n, k in ((3, 4, 4), (4, 5, 5), (4, 4, 4), (3, 5, 6), (3, 1, 7), (0, 3, 3)):
        agree(f, np.ones((m, n)), np.ones((m, k)))
    agree(f, np.ones((3, 4)), np.ones((4, 4)))


def f1_tuples_of_what_a_loop_computes(a, x):
    hits = 0
    for i in range(len(a)):
        if (i, len(a) - 1 - i) == (1, x):
            hits += 1
        if (i, x) != (x, i):
            hits += 10
    return hits, (a[0] > 1, x) == (True, 2), (a[0], 1) == (1.0, 1)


def test_tuples_of_computed_numbers_are_compared() -> None:
    """Rules C1, F1: at run time where only that knows; a NaN could be an item of both, which is refused."""
    for x in (1, 2):
        agree(f1_tuples_of_what_a_loop_computes, np.arange(4.0), x)
    refused(lambda a: (a[0],) == (a[1],), np.ones(3))
    refused(lambda a: a.shape < (4, 6), np.ones((3, 4)))


def f2_a_shape_as_a_list(a):
    wider = list(a.shape)
    wider[1] += 2
    wider.append(3)
    order = sorted([3, 1, 2])
    order.reverse()
    out = np.zeros(wider)
    out[:, 1:-1, order[0] - 3] = a
    return out


def test_a_list_made_by_a_call_may_be_changed() -> None:
    """Rule F2: list(x) and sorted(x) make lists, as [*x] does."""
    f = bufferize(verify=True)(f2_a_shape_as_a_list)
    agree(f, np.ones((4, 5)))
    agree(f, np.ones((3, 7)))


def test_ranges_slices_and_orders_of_tuples_are_refused() -> None:
    """Rule C1: equal by their bounds in Python; tracers do not know."""
    refused(lambda a: range(len(a)) == range(3), np.ones(3))
    refused(lambda a: slice(len(a)) == slice(3), np.ones(3))
    refused(lambda a: min(a.shape, (2, 2)), np.ones((3, 2)))


def c1_first_row_and_column(a, d):
    m, n = a.shape
    d[:, 0] = range(m + 1)
    d[0] = range(n, -1, -1)
    d[1, 1::2] = range(1, n + 1, 2)
    return d


@pytest.mark.parametrize("dtype", ["int64", "float32", "bool"])
def test_a_range_is_stored(dtype: str) -> None:
    """Rule C1: its ints; into fewer elements ValueError; into narrow integers it is refused (rule N1)."""
    f = bufferize(verify=True)(c1_first_row_and_column)
    for m, n in ((3, 4), (4, 7)):
        agree(f, np.ones((m, n)), np.zeros((m + 1, n + 1), dtype))
    agree(f, np.ones((3, 4)), np.zeros((3, 5), dtype))
    refused(c1_first_row_and_column, np.ones((3, 4)), np.zeros((4, 5), np.int8))


def test_a_store_from_one_of_several_arrays_of_which_one_is_only_read() -> None:
    """Rules S8, B1: the array that is stored to is not the one that is read, whichever the name holds."""

    def program(a, b, c):
        x = a if b[0] > 0 else c
        c[:] = x
        c[1:] += x[1:]

    for n, sign in ((4, 1), (5, -1)):
        agree(program, floats(n), np.array([sign]), floats(n) * 2)


def f1_last_array_of_a_loop_of_known_length(a):
    for i in range(a.shape[0]):
        t = np.zeros_like(a) + i
    a[4:] += t[-1:] / a[:-i]


def s6_pad_of_one_row(b):
    return np.pad(b, 1)


def test_last_arrays_and_padded_rows() -> None:
    """Found by fuzzing: a loop's result of a constant size, carried as one of a symbolic size, was taken apart wrongly;
    axes without a place were compared with others."""
    agree(f1_last_array_of_a_loop_of_known_length, np.arange(1, 11, dtype=np.float32)[::2])
    for shape in ((1, 4), (4, 1), (3, 2), (1, 1), (0, 3)):
        agree(s6_pad_of_one_row, np.ones(shape, bool))


def s9_rank_that_grows_in_the_first_iteration(a):
    a = a + 1
    for _ in range(len(a)):
        a = np.vstack((a,))
    return a


def s6_parts_of_one_row_in_columns(b):
    t = b[2:]
    return np.concatenate((t, t))


def test_ranks_of_first_iterations_and_axes_of_one() -> None:
    """Found by fuzzing: what a first iteration showed of a vector was taken for a matrix (S9); whether an axis is of
    size 1 decides the order of axes (S6)."""
    for n in (2, 6):
        agree(s9_rank_that_grows_in_the_first_iteration, np.arange(float(n)))
    for shape in ((3, 3, 4), (2, 2, 3)):
        agree(s6_parts_of_one_row_in_columns, np.arange(float(np.prod(shape))).reshape(shape).T)
