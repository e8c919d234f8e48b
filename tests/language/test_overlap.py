"""Stores whose source shares memory with the target: right values, and no temporary where NumPy makes none (rules S2,
C4). Found by fuzzing and by programs in the style of numerical code, each the smallest that showed a difference."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

from tests.support.agreement import agree, program
from tests.support.arrays import floats
from tests.support.params import one_in
from tracebuf import Options, bufferize, measure
from tracebuf.testing.ladder import climb


@pytest.mark.slow
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


def test_one_element_stored_onto_itself() -> None:
    """A slice of one element kept its step, so it was not seen to be the array itself."""

    def program(a):
        a[::3] = a
        a[::-1] = a[::2]

    climb(program, (floats(1),))


@pytest.mark.parametrize(("n", "shape"), one_in(4, product([0, 1, 3], [(3, 3), (1, 1), (1, 3)]), rows=True))
@pytest.mark.slow
def test_a_slice_that_turns_out_to_be_the_array(shape: tuple[int, int], n: int) -> None:
    """`a[n:] = a` fits where n is 0, or the axis has one element: a buffer was made of what was stored."""

    def rows(a, n):
        a[n:] = a

    def half(a, n):
        a[n // 2 :] = a

    def first(a, n):
        a[:n] = a

    def columns(a, n):
        a[:, n:] = a

    def transposed(a, n):
        a.T[n:] = a.T

    def raveled(a, n):
        a.reshape(-1)[n:] = a.reshape(-1)

    def other(a, n):
        a[n::2] = a[::2]

    for f in (rows, half, first, columns, transposed, raveled, other):
        a = np.arange(float(np.prod(shape))).reshape(shape)
        agree(f, a, n)
        try:
            f(a.copy(), n)
        except ValueError:
            continue
        if n == 0 or f is not other:
            assert measure(bufferize(f), a, n).native.allocations == 0, f


def test_one_element_stored_over_itself_and_others() -> None:
    """It was read through a temporary as long as what it is stored over."""

    def program(a):
        for k in range(4):
            a[:k,] = a[1:]

    climb(program, (np.arange(2, dtype=np.uint8),))


@pytest.mark.slow
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


@pytest.mark.slow
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


@pytest.mark.parametrize("store", [
    "a[k] = np.diag(a)", "a[:, k] = np.diag(a)", "a[k, ::-1] = np.diag(a)", "a[k, 1:] = np.diag(a)[1:]",
    "a[k, :-1] = np.diag(a)[1:]", "a[k, 1:] = np.diag(a)[:-1]", "a[k] = np.diag(a[:, ::-1])", "a[k].real = a[:, k]",
    "a[1:, k] = np.diag(a[1:, 1:])", "a[k].real = np.diag(a).real", "a[:, k].imag = np.diag(a).imag",
    "a[k, 1:].real = a[:-1, k].real", "a[k, 1:].real = a[k, :-1].real",
])  # fmt: skip
def test_diagonals_and_parts_of_numbers_stored_along_them(store: str) -> None:
    """Each of them was copied first, where NumPy makes no temporary for vectors."""

    def given(n: int, k: int) -> tuple[np.ndarray, int]:
        numbers = np.arange(float(n * n)).reshape(n, n)
        return (numbers * (1 - 2j) if ".real" in store or ".imag" in store else numbers), k

    f = program(f"import numpy as np\ndef f(a, k):\n    {store}")
    climb(f, given(3, 1), again=[given(3, 0), given(3, 2), given(5, 3)])


@pytest.mark.slow
def test_an_array_stored_into_itself_turned_round() -> None:
    """`b[::-1] = b` copied the target to keep the source, and then the target back: two copies for NumPy's one."""

    def program(b, c, d):
        b[::-1] = b
        c.T[...] = c
        d[::-1, ::-1] = d
        d[::-1] = d.T

    climb(program, (floats(2), floats(3, 3), floats(4, 4)), again=[(floats(9), floats(2, 2), floats(5, 5))])


@pytest.mark.slow
def test_the_index_of_a_single_iteration_is_known() -> None:
    """With a symbol for it, sizes that are equal could not be proved so, and the copy took a temporary (rule S2)."""

    def program(a):
        for i in range(1):
            a[i::2] = a[2:]
        for j in range(3, 2, -1):
            a[j - 3] = j
        return j

    climb(program, (np.zeros(4, bool)[::-1],), again=[(np.ones(8, bool)[::2],)])


def test_a_temporary_of_no_bytes_is_none() -> None:
    """Rule S2: NumPy stores an empty slice without a temporary, and the arena's slot for it counted as one."""

    def program(a):
        a[:-2, 1:] = a[1:-1, :-1]
        return a

    f = bufferize(program)
    for rows, wanted in ((5, 1), (2, 0), (3, 1)):
        _, counters = f.call_counted(floats(rows, 4))
        assert counters is not None and max(counters.allocations, counters.copies) <= wanted


@pytest.mark.slow
def test_the_transpose_of_one_element_is_the_array() -> None:
    """Rule S2: NumPy copies a (1, 1) array onto its transpose without a temporary."""

    def program(a):
        a[...] = a.T
        a += a.T
        a[:1, -1:] -= a.T[-1:, :1] * 2
        return a

    f = bufferize(program)
    for given in (floats(1, 1), floats(3, 3)):
        eager = program(given.copy())
        result, counters = f.call_counted(given)
        assert counters is not None and np.array_equal(result, eager) and result is given
        assert given.size > 1 or (counters.allocations, counters.copies) == (0, 0)


@pytest.mark.slow
def test_rows_exchanged_by_one_assignment() -> None:
    """A copy was made where it is stored, past the op that overwrites what it copies."""

    def program(a):
        a[0], a[-1] = a[-1].copy(), a[0].copy()
        return a

    def shifted(a, n):
        t = a[:n] + 1
        a[n - 1] = 0.0
        a[1 : n + 1] = t
        return a

    f, g = bufferize(verify=True)(program), bufferize(verify=True)(shifted)
    for rows in (3, 1, 6):
        assert np.array_equal(f(floats(rows, 2)), program(floats(rows, 2)))
        assert np.array_equal(g(floats(rows + 1, 2), rows), shifted(floats(rows + 1, 2), rows))


def test_overlap_that_no_run_time_test_rules_out() -> None:
    """Ops written for a test that was given up kept their operands in use."""

    def program(a):
        a[:, ::-1] += a[:]
        return a

    assert np.array_equal(bufferize(verify=True)(program)(floats(4, 4)), program(floats(4, 4)))


@pytest.mark.slow
@pytest.mark.parametrize("shape", [(40,), (9, 40), (33, 2)])
def test_an_update_that_reads_ahead_of_what_it_writes(shape: tuple[int, ...]) -> None:
    """Rule S2: NumPy runs `a[:-1] += a[1:]` in place, and where the diagonal is all that a row and a column share."""

    def program(a):
        a[:-1] += a[1:]
        a[::-1][:-3] -= a[::-1][3:]
        return a

    def crossing(a):
        a[0] += a[:, 0]
        return a

    cases = [(program, floats(*shape)), (program, floats(*shape[::-1]).T)]
    if shape == (9, 40):
        cases.append((crossing, floats(9, 9)))
    for function, given in cases:
        eager = function(given.copy())
        result, counters = bufferize(function).call_counted(given)
        assert np.array_equal(result, eager)
        assert counters is not None and (counters.allocations, counters.copies) == (0, 0)


def test_updates_by_new_axes_and_crossing_vectors() -> None:
    """Vectors with new axes beside them have no axis of their own to read ahead along."""

    def program(a):
        a[0, None, 0] += a[None, 1, 0]
        a[None, 0] -= a[:, None, 0].T
        a[1, 1:] += a[1:, 1]
        a[1:, 1] -= a[2, :-1]
        return a

    assert np.array_equal(bufferize(verify=True)(program)(floats(5, 5)), program(floats(5, 5)))


@pytest.mark.parametrize(("p", "q"), one_in(4, [(1, 2), (2, 1), (1, 1), (-1, -2)], rows=True))
@pytest.mark.slow
def test_a_vector_copied_onto_itself_whose_length_is_known_at_run_time(p: int, q: int) -> None:
    """Rule S2: one that may be a single element, stored to all, was copied through a temporary."""

    def f(a, i, j, k, n):
        v = a[1:]
        v[i:j:p] = v[k:n:q]

    bufferized = bufferize(verify=True)(f)
    picks = np.random.default_rng(0).integers(0, 9, (20, 4)).tolist()
    for i, j, k, n in picks:
        a, b = floats(12), floats(12)
        source = a[1:][k:n:q].copy()
        if source.size in (1, a[1:][i:j:p].size):
            a[1:][i:j:p] = source
            _, counters = bufferized.call_counted(b, i, j, k, n)
            assert np.array_equal(a, b) and counters is not None and counters.allocations == 0


def rows_upwards_and_downwards(a, k):
    a[::-1][-k::-1] += a[: k - 2 : -1]


def a_corner_and_its_transpose(a, k):
    a[:k, :k] -= a[:k, :k].T


def columns_and_one_of_them(a, k):
    a[:, k:] -= a[:, ::-1][:, :1]


def a_new_array_and_itself_upside_down(a, k):
    b = a[:k].copy()
    b[0, 0] = 5
    b += b[::-1]
    return b


def an_array_and_all_of_its_rows(a, k):
    a += a[k - 1 :]
    a[1 - k :] -= a


def a_view_of_a_view(a, k):
    np.abs(a, out=a[k : k - 2 : -1][::-1][k - 1 :])


def every_second_and_every_one(a, k):
    v = a.ravel()
    np.negative(v[k::2], out=v[: len(v) // 2])
    v[-k : -k - 3 : -1] += v[-k - 1 : -k - 6 : -2]
    v[: k - len(v) + 1] -= v[-len(v) : 1 - len(v)]


@pytest.mark.parametrize(
    ("f", "k", "shape", "order"),
    one_in(7, [
        (rows_upwards_and_downwards, 3, (3, 3), "C"), (a_corner_and_its_transpose, 1, (3, 3), "C"),
        (columns_and_one_of_them, 1, (4, 2), "F"), (a_new_array_and_itself_upside_down, 1, (4, 3), "C"),
        (an_array_and_all_of_its_rows, 1, (3, 3), "C"), (a_view_of_a_view, 1, (2, 3), "C"),
        (every_second_and_every_one, 1, (4, 4), "C"),
    ], rows=True),
)  # fmt: skip
def test_a_run_time_test_finds_that_numpy_makes_no_temporary(f, k: int, shape: tuple[int, int], order: Any) -> None:
    """Rule S2: NumPy makes no temporary where both are one row, whatever their steps, or where vectors read ahead in
    larger steps; one was made for steps that differ, for another order of axes, and beside a whole array."""
    again = [(np.asarray(floats(5, 5), order=order), n) for n in (1, 2, 5)]
    climb(f, (np.asarray(floats(*shape), order=order), k), again=again, strategies=[Options(verify=True)])


@pytest.mark.slow
@pytest.mark.parametrize("i", [0, 1, 3])
def test_ufuncs_that_numpy_computes_read_ahead(i: int) -> None:
    """Rule S2: a remainder of ints, whose loop is NumPy's own, made a temporary where others do not."""

    def program(a, i):
        a[i] %= a.T[3]
        a[2, i:-1] **= a[2, i + 1 :] % 3

    climb(program, (np.arange(1, 37).reshape(6, 6), i))


@pytest.mark.parametrize("operator", ["<<", ">>", "//", "%", "**", "&", "*"])
@pytest.mark.cases(3)
def test_operators_of_rows_that_turn_out_to_be_apart(operator: str) -> None:
    """A shift, of which there are several ops, made a temporary where others do not."""
    f = program(f"def f(a):\n    b = a[2]\n    b {operator}= a[-2, :1]\n    return a")
    for n in (3, 4, 5):
        climb(f, (np.arange(1, 3 * n + 1).reshape(n, 3),))


@pytest.mark.parametrize("dtype", ["float64", "float16"])
@pytest.mark.parametrize("operator", ["%", "//"])
def test_divisions_of_rows_that_turn_out_to_be_apart(operator: str, dtype: str) -> None:
    """Of floats they are many ops, and made a temporary."""
    f = program(f"def f(a):\n    a[1] {operator}= a[::2, 1]\n    a[:-1, 0] {operator}= a[1:, 0]")
    climb(f, (floats(2, 6).astype(dtype),), quick=True)


@pytest.mark.parametrize("i", one_in(8, [9, 0, 2, 14]))
@pytest.mark.slow
def test_parts_of_an_array_under_two_shapes(i: int) -> None:
    """Rule S2: a row and a part of the ravelled array are apart, or not, as their places tell; a temporary was made in
    either case."""

    def program(c, i):
        flat = c.ravel()
        c[1] |= flat[-2:-3:-1]
        c[0] += flat[-2 : -1 - i : -1].sum()
        c[2] ^= flat[i : i + 4]
        c.T[2:] -= flat[3:1:-1][:, None]

    climb(program, (np.arange(20).reshape(5, 4), i), again=[(np.arange(21).reshape(7, 3), i)])


@pytest.mark.slow
@pytest.mark.parametrize("n", [0, 1, 3])
def test_an_axis_of_one_index_and_a_new_one(n: int) -> None:
    """Rule S2: `a[None, n]` and `a[n : n + 1]` are the same elements; a temporary was made, as their axes differ."""

    def program(a, n):
        a[None, n] *= a[n : n + 1]
        a[None, n, n:4] *= a[n:, n : n + 1].T
        a[None, :-1, 0] -= a[1:, :1].T

    for a in (np.arange(24.0).reshape(4, 6), np.arange(24.0).reshape(6, 4).T):
        climb(program, (a, n))


def test_a_part_is_at_most_as_large_as_the_array() -> None:
    """Of a part whose size only the call knows more was assumed than of the array: the whole array was copied."""

    def program(a, n, m):
        b = a.copy()
        b[:-n:-1] = b[:m]
        return b

    a = floats(9)
    agree(program, a, -4, 4)
    assert measure(bufferize(program), a, -4, 4).native.allocations == 1


OF_EQUAL_SIZES = [
    "b[:i] *= b",
    "b *= b[:i]",
    "b[i:] -= b",
    "b[:i] += b[:j]",
    "b[i:] += b[j:]",
    "b[i : i + 2] *= b[j : j + 2]",
    "b[::-1][:i] *= b[::-1]",
    "np.add(b[:i], 1, out=b)",
    "np.multiply(b[i:], b, out=b)",
    "b[:] = b[:i]",
    "a[:i] *= a",
    "a[:, i:] += a[:, :j]",
    "a[i:] *= a[:, j:]",
    "a[:i, :j] -= a",
    "a += a[:1, :i]",
    "a[i] += b[:j]",
    "a.T[:i] *= a.T",
    "a[i:, 1] *= a[1, j:]",
    "a[i : i + 1] *= a[1:]",
    "b[:i] = b[::2]",
    "a.reshape(-1)[-i:] = a[j : j + 2, 1:]",
    "a[1] *= a.reshape(-1)[i:]",
    "z.real[:] = z.real[:i]",
    "a[j] = a[i : i + 1, j]",
    "a[0, j:] = a.reshape(-1)[: len(b) - j]",
    "b[i::-1] = b[j : j + 2]",
    "a[i::-1, 1:] = a.reshape(-1)[i:j]",
    "a[i::-1, j:] = a[1:, -i:]",
    "b[::2] *= b[i : i + 1]",
    "a[-1, :-1] *= a.reshape(-1)[j + 1 - len(b) :]",
    "b[j : j + 2] *= b[i::-1]",
    "a.reshape(-1)[j : j + 2] *= a[j : j + 2, 0]",
    "a.reshape(-1)[i : i + 2] = a[-2:, i - 1]",
    "a.reshape(-1)[i : i + 2 * len(b) - 1 : 2] = a[:, j]",
    "a[:, j] = a.reshape(-1)[i : i + 5 * len(b) - 4 : 5]",
    "a[:, j] = a.reshape(-1)[i : i + len(b)]",
]


@pytest.mark.slow
@pytest.mark.parametrize("line", OF_EQUAL_SIZES)
def test_sizes_of_the_run_time_that_turn_out_to_be_equal(line: str) -> None:
    """Rule S2: an axis that would be repeated if its size were 1 made a temporary, also where it is the target's own
    (`b[:i] *= b` with i == len(b)). Both indices are known to the run time alone. A check of the target's start after
    the value was computed hid that the temporary is stored once (`b[i::-1]`); a row was not seen to lie on its own
    array as a vector; nor that one index lies between the steps of others, that a part of an array under another shape
    is read ahead, that a part is read backwards from where it is written; nor were columns put in order under another
    shape, by steps that only the run time knows."""
    f = program(f"def f(a, b, z, c):\n    i, j = int(c[0]), int(c[1])\n    {line}")
    for n in (1, 2, 4):
        for i, j in {(0, 0), (0, 1), (0, n - 1), (0, n), (1, 1), (n, 0), (n, 1), (n, n)}:
            args = floats(n, n), floats(n), floats(n) * 1j, np.array([i, j])
            try:
                f(*(x.copy() for x in args))
            except (ValueError, IndexError):
                agree(f, *args)
            else:
                climb(f, args)
