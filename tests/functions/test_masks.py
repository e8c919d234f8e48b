"""Boolean masks as indices, judged by eager NumPy on every rung: reads, stores, sizes that depend on data."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest

import tracebuf
from tests.support.agreement import agree, program
from tests.support.params import one_in, slow_but
from tracebuf import bufferize
from tracebuf.testing import ladder
from tracebuf.testing.ladder import climb

A = np.random.default_rng(7).normal(size=12)
B = np.random.default_rng(8).normal(size=(4, 5))
C = np.random.default_rng(9).normal(size=(3, 2, 4))


def up(source: str, *args: object) -> None:
    """The program on every rung, and compared in all that the contract names."""
    f = program(source)
    agree(f, *args)
    ladder.climb(f, args)


READS = {
    "whole": ("a[a > 0]", A),
    "computed": ("a[np.abs(a) > 0.5] * 2 + 1", A),
    "of a matrix": ("a[a > 0]", B),
    "of a transposed matrix": ("a.T[a.T > 0]", B),
    "in Fortran order": ("a[a > 0]", np.asfortranarray(B)),
    "rows": ("a[a[:, 0] > 0]", B),
    "columns": ("a[:, a[0] > 0]", B),
    "rows of some columns": ("a[a[:, 0] > 0, 1:3]", B),
    "rows of one column": ("a[a[:, 0] > 0, 1]", B),
    "one row": ("a[1, a[0] > 0]", B),
    "reversed": ("a[::-1][a > 0]", A),
    "a new axis": ("a[None, a > 0]", A),
    "the first two axes": ("a[a[:, :, 0] > 0]", C),
    "the last two axes": ("a[:, a[0] > 0]", C),
    "the middle": ("a[:, a[0, :, 0] > 0]", C),
    "in front, between slices": ("a[1, :, a[0, 0] > 0]", C),
    "two masks": ("a[a[:, 0, 0] > -9, :, :][:, a[0, :, 0] > -9]", C),
    "masks of two axes": ("a[a[:, 0] > -9, np.arange(4) % 4]", B),
    "everything": ("a[a > -100]", A),
    "nothing": ("a[a > 100]", A),
    "nothing of a matrix": ("a[a[:, 0] > 100]", B),
    "a sum": ("a[a > 0].sum()", A),
    "an empty array": ("a[a > 0]", A[:0]),
    "one element": ("a[a > 0]", A[:1]),
    "integers": ("a[a % 2 == 0]", np.arange(10)),
    "bools": ("a[~a]", A > 0),
    "a list": ("a[[True, False, True, True, False]]", B.T),
    "nonzero": ("np.nonzero(a > 0)", B),
    "flatnonzero": ("np.flatnonzero(a > 0)", B),
    "argwhere": ("np.argwhere(a > 0)", B),
    "argwhere of a vector": ("np.argwhere(a > 0)", A),
    "where": ("np.where(a > 0)", B),
    "count": ("a[a > 0].size", A),
    "extract": ("np.extract(a > 0, a)", B),
    "compress": ("np.compress(a[0] > 0, a, axis=1)", B),
    "compress of fewer": ("np.compress([True, False, True], a, axis=0)", B),
    "compress, flat": ("np.compress([True, False, True], a)", B),
}
MISFITS = {"a short mask": "a[a[1:] > 0]", "a long mask": "a[np.ones(99, bool)]", "too many axes": "a[a > 0, 0, a > 0]"}


@pytest.mark.parametrize("name", slow_but(list(READS)[:1], READS))
def test_read(name: str) -> None:
    text, array = READS[name]
    up(f"def f(a):\n    return {text}", array)


@pytest.mark.parametrize("name", slow_but(list(MISFITS)[:2], MISFITS))
def test_masks_that_do_not_fit(name: str) -> None:
    agree(program(f"def f(a):\n    return {MISFITS[name]}"), B)


STORES = {
    "a number": ("a[a > 0] = 7", A),
    "a number, of a matrix": ("a[a > 0] = 7", B),
    "rows": ("a[a[:, 0] > 0] = 7", B),
    "columns": ("a[:, a[0] > 0] = 7", B),
    "a row each": ("a[a[:, 0] > 0] = np.arange(5.0)", B),
    "a column each": ("a[:, a[0] > 0] = np.arange(4.0)[:, None]", B),
    "in turn": ("a[a > 0] = np.arange(1.0 * np.count_nonzero(a > 0))", A),
    "rows in turn": ("m = a[:, 0] > 0\n    a[m] = np.ones((np.count_nonzero(m), 5)).cumsum(axis=0)", B),
    "more axes, of size 1": ("a[a[:, 0] > 0] = np.arange(5.0)[None, None]", B),
    "rows in turn, and more axes": (
        "m = a[:, 0] > 0\n    a[m, ...] = np.ones((1, 1, np.count_nonzero(m), 5)).cumsum(axis=2)",
        B,
    ),
    "no rows, and more axes": ("a[a[:, 0] > 100] = a[None, None, 0]", B),
    "of itself": ("m = a > 0\n    a[m] = a[m] * 2 + a[~m].sum()", A),
    "of another": ("m = a > 0\n    b = a * 3\n    a[m] = b[m]", A),
    "backwards": ("m = a > 0\n    a[m] = a[m][::-1]", A),
    "through a view": ("v = a[1:]\n    v[v > 0] = 0", A),
    "through a transposed view": ("v = a.T\n    v[v > 0] = 0", B),
    "an element of another type": ("a[a > 0] = 2.7", np.arange(-3, 4)),
    "in place": ("a[a > 0] += 1.5", A),
    "rows in place": ("a[a[:, 0] > 0] *= 2", B),
    "in place, an array": ("m = a > 0\n    a[m] += a[m][::-1]", A),
    "in place, a power": ("a[a > 0] **= 0.5", A),
    "a mask that is changed later": ("m = a > 0\n    m[:] = False\n    a[m] = 9", A),
    "nothing": ("a[a > 100] = a[a > 100]", A),
    "an array of one": ("a[a > 0] = np.ones(1)", A),
    "empty": ("a[a > 0] = 1", A[:0]),
    "a branch": ("if a[0] > 0:\n        a[a > 0] = 0\n    else:\n        a[a < 0] = 0", A),
    "place": ("np.place(a, a > 0, [1.0, 2.0])", A),
    "putmask": ("np.putmask(a, a > 0, a * 2)", A),
    "putmask, no axis": ("np.putmask(a, a > 0, 2.0)", np.array(3.0)),
    "place, no axis": ("np.place(a, a > 0, 2.0)", np.array(3.0)),
    "place, by a mask of other rows": ("np.place(a, a.T > 0, [7.0, 8.0])", B),
    "putmask, by a mask of other rows": ("np.putmask(a, a.T > 0, a)", B),
    "putmask, by a mask in one row": ("np.putmask(a, a.ravel() > 0, [1.0, 2.0, 3.0])", B),
    "putmask, by a mask of another number of rows": ("np.putmask(a, np.arange(a.size).reshape(2, -1) % 3, 5)", B),
    "copyto": ("np.copyto(a, 5.0, where=a > 0)", A),
}
BAD_STORES = {
    "too few": "a[a > 0] = np.ones(2)",
    "too many": "a[a > 0] = np.ones(30)",
    "too many axes": "a[a > 0] = np.ones((2, 3))",
    "a read-only view": "b = np.broadcast_to(a, (2, 12))\n    b[b > 0] = 1",
}


@pytest.mark.parametrize("name", slow_but([*list(STORES)[:2], "putmask, by a mask of other rows"], STORES))
def test_store(name: str) -> None:
    text, array = STORES[name]
    up(f"def f(a):\n    {text}", array)


@pytest.mark.parametrize("name", slow_but(list(BAD_STORES)[:2], BAD_STORES))
def test_stores_that_do_not_fit(name: str) -> None:
    agree(program(f"def f(a):\n    {BAD_STORES[name]}"), A)


LOOPS = {
    "shrinks until empty": """
        def f(z):
            n = 0
            while z.size:
                z = z[z > z.min()]
                n += 1
            return n""",
    "two that shrink together": """
        def f(z):
            c = z.copy()
            for i in range(4):
                keep = np.abs(z) < 2
                z = z[keep]
                c = c[keep]
                z = z * z + c
            return z, c""",
    "a sieve": """
        def f(z):
            found = np.arange(2, 40)
            for p in range(2, 7):
                found = found[(found % p != 0) | (found == p)]
            return found""",
    "counts": """
        def f(z):
            counts = np.zeros(5, np.int64)
            for i in range(5):
                counts[i] = z[z > i / 4].size
            return counts""",
}


@pytest.mark.slow
@pytest.mark.parametrize("name", slow_but(["two that shrink together"], LOOPS))
def test_sizes_that_depend_on_data(name: str) -> None:
    up(LOOPS[name], A)


def test_a_masked_store_of_a_number_allocates_nothing() -> None:
    import tracebuf

    @tracebuf.bufferize
    def f(a: np.ndarray) -> None:
        a[a > 0] += 1

    report = tracebuf.measure(f, A.copy())
    assert report.native.allocations == 0 and report.native.copies == 0


DATA_SIZES = (
    "np.diff(x[x > 0])", "np.diff(x[x > 9])", "np.diff(np.flatnonzero(x > 0), n=2)", "np.roll(x[x > 0], 1)",
    "np.roll(x[x > 9], -2)", "np.isin(x, np.arange(70.0))", "np.isin(np.arange(9), np.arange(3, 90), invert=True)",
    "np.isin(x, x[x > 2])",
)  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("text", DATA_SIZES)
def test_differences_turns_and_members_of_what_a_mask_leaves(text: str) -> None:
    agree(program(f"def program(x):\n    return {text}"), np.array([3.0, -1, 2, 5, -4]))


OWN = {
    "its own elements": ("b[b] = b[b]", (0, 0)),
    "the contrary": ("b[b] = ~b[b]", (0, 0)),
    "a number": ("b[b] = False", (0, 0)),
    "in a loop": ("for _ in range(n): b[b] = b[b]", (0, 0)),
    "a part": ("b[1:][b[:-1]] = b[1:][b[1:]][0]", (2, 1)),
    "one element of it": ("b[b] = b[:1]", (0, 0)),
}


@pytest.mark.slow
def test_s2_a_mask_that_is_an_expression_and_a_destination_that_is_not_read_cost_nothing() -> None:
    """Counts of masks need no check for memory, which would stand between the mask and its use; the size of what is
    stored to is no reason to copy it."""

    def flipped(v: Any, low: Any, high: Any) -> None:
        v[low | high] *= -1

    def rows(f: Any, wall: Any) -> None:
        f[:, wall] = f[:, wall][::-1]

    a = np.arange(12.0).reshape(3, 4)
    for f, args in ((flipped, (a, a > 9, a < 2)), (rows, (a.reshape(2, 3, 2), a.reshape(3, 4)[:, :2] > 3))):
        agree(f, *args)
        assert tracebuf.measure(bufferize(f), *args, repeat=1).native.allocations <= (f is rows)


@pytest.mark.slow
@pytest.mark.parametrize("name", slow_but(list(OWN)[:1], OWN))
def test_s2_a_mask_that_is_stored_to(name: str) -> None:
    """Step i reads element i before it stores to it; the mask was copied, and copied back."""
    text, expected = OWN[name]
    f = program(f"def f(b, n):\n    {text}")
    for b in (np.arange(12) % 3 > 0, (np.arange(12) % 3 > 0)[::-2], (np.arange(12) % 5 > 0)):
        climb(f, (b, 3), again=[(np.ones(2, bool), 3)])
        native = tracebuf.measure(tracebuf.bufferize(f), b, 3, repeat=1).native
        assert (native.allocations, native.copies) == expected


PLACED_OWN = {
    "all of it": "np.place(a, a > 2, a)",
    "a part": "np.place(a, a > 2, a[1:4])",
    "a later part": "np.place(a, a > 1, a[5:])",
    "backwards": "np.place(a, a > 2, a[::-1])",
    "steps": "np.place(a, a > 2, a[::2])",
    "nothing": "np.place(a, a > 20, a[4:4])",
    "nothing, where something is wanted": "np.place(a, a > 2, a[4:4])",
    "another size": "np.place(a, a[1:] > 2, a)",
    "of another type": "np.place(a, a > 2, a.view(np.int64)[:3])",
    "of what it is a part of": "np.place(a[2:], a[2:] > 2, a[:5])",
    "into steps": "np.place(a[::2], a[::2] > 2, a[::2])",
    "into a matrix": "m = a.reshape(2, 4)\n    np.place(m, m > 2, m[:, 0])\n    np.place(m, m > 2, m[1])",
    "into columns": "m = a.reshape(2, 4).T\n    np.place(m, m > 2, a[:3])",
    "which may not be written": "v = a[1:4]\n    v.flags.writeable = False\n    np.place(a, a > 2, v)",
    "a mask that is the array": "np.place(a, a, [1.0, 2.0])",
    "flags that are values": "b = a > 2\n    np.place(b, a > 2, b)\n    a[:] = b",
    "flags that are a mask": "b = a > 2\n    np.place(b, b, [False, True])\n    a[:] = b",
    "flags that are a later mask": "b = a > 2\n    np.place(b[:-1], b[1:], [False, True])\n    a[:] = b",
    "flags that are an earlier mask": "b = a > 2\n    np.place(b[1:], b[:-1], [False, True, True])\n    a[:] = b",
    "flags that are both": "b = a > 2\n    np.place(b, b, b)\n    a[:] = b",
    "flags that are a mask as they were": "b = a > 2\n    np.place(b, b[::-1], [True, False])\n    a[:] = b",
    "values that do not fit": "b = a > 2\n    np.place(b, b, a)",
    "one of two": "v = a[1:3] if a[0] > 0 else a[5:7]\n    np.place(a, a > 2, v)",
    "in a loop": "for k in range(3): np.place(a, a > k, a[k:k + 3])",
}


@pytest.mark.parametrize("name", slow_but(["a part", "flags that are both"], PLACED_OWN))
def test_s2_values_placed_that_are_memory_of_the_array(name: str) -> None:
    """NumPy reads what it has just written, of values and of the mask, where it copies neither."""
    f = program(f"def f(a):\n    {PLACED_OWN[name]}\n    return a")
    for a in (np.arange(8.0), np.array([3.0, 0, 5, 1, 7, 2, 4, 6])):
        agree(f, a)
    if name not in ("nothing, where something is wanted", "another size", "values that do not fit"):
        climb(f, (np.arange(8.0),))
        counts = tracebuf.measure(bufferize(f), np.arange(8.0), repeat=1)
        assert counts.native.allocations <= counts.eager.allocations


def masked_by_itself(b, n):
    for _ in range(n):
        b[b > n] = b


def test_s2_an_array_stored_to_itself_where_a_mask_holds() -> None:
    """NumPy copies it in each iteration; it was copied back even after none."""
    b = np.array([5.0, 7, 9])
    climb(masked_by_itself, (b, 3), again=[(b, 0), (np.ones(3), 4)])
    assert tracebuf.measure(tracebuf.bufferize(masked_by_itself), b, 0, repeat=1).native.copies == 0


@pytest.mark.slow
def test_s2_a_mask_of_two_axes_that_is_stored_to() -> None:
    f = program("def f(b):\n    b[b] = b[b]\n    b.T[b.T] = ~b[b]")
    climb(f, (np.arange(12).reshape(3, 4) % 3 > 0,))


EMPTY = (
    "a[m] = 0", "return a[m]", "a[m] += 1", "a[m[:, 0]] = 3", "a[m] = np.zeros(0)", "a[m] = np.zeros(2)",
    "return a[m[:, :3]]", "return a[m[:, 0], 1]", "return a[:, m[:, 0]]", "a[:, m[:, 0]] *= 2", "return a[:0][m]",
)  # fmt: skip


@pytest.mark.parametrize("text", slow_but(EMPTY[:2], EMPTY))
@pytest.mark.slow
def test_c2_a_mask_of_size_0_fits_every_axis(text: str) -> None:
    """NumPy does not compare its size with the axis's; here it raised IndexError."""
    agree(program(f"def f(a, m):\n    {text}"), np.arange(24.0).reshape(4, 6), np.zeros((0, 6), bool))


ROWS = {
    "read": "return a[m]",
    "read, reversed": "return a[::-1][m], a[:, ::-1][m]",
    "stored a number": "a[m] = 7",
    "stored rows": "a[m] = a[m] * 2 + a[:1]",
    "stored its own rows": "a[m] = a[::-1][m]",
    "shrinking": "z = a\n    for k in range(3):\n        z = z[z.sum(axis=1) > k]\n    return z",
    "counted": "b = a[m]\n    return b.any(axis=0), b.shape, (b > 0).sum()",
}


@pytest.mark.parametrize("name", slow_but(list(ROWS)[:1], ROWS))
@pytest.mark.slow
def test_rows_as_a_whole(name: str) -> None:
    """Native code asks the mask once a row (ScatterWriter): it took six times as long as NumPy."""
    a = np.random.default_rng(3).normal(size=(6, 40))
    for x in (a, np.asfortranarray(a[:, :7]), a[:, :0], a[:0, :3]):
        up(f"def f(a, m):\n    {ROWS[name]}", x, np.arange(len(x)) % 3 != 1)


def put(a: Any, k: Any) -> None:
    a[k] = 1


EMPTY: dict[str, Callable[[Any, Any], Any]] = {
    "read": lambda a, k: a[k],
    "sum": lambda a, k: a[k].sum(),
    "store": put,
    "add": lambda a, k: np.add.at(a, k, 2),
}


@pytest.mark.parametrize(
    ("name", "shape"), one_in(7, product(EMPTY, [(3,), (1,), (0,), (1, 3), (3, 3), (2, 0)]), rows=True)
)
@pytest.mark.slow
def test_an_empty_mask_of_a_longer_axis(name: str, shape: tuple[int, ...]) -> None:
    """NumPy does not look at a mask's sizes of 0; one whose size is computed was refused with NumPy's IndexError."""
    use = EMPTY[name]

    def known(a):
        return use(a, a[-3:0] > 100)

    def computed(a, m):
        return use(a, m[m])

    a = np.arange(float(np.prod(shape))).reshape(shape)
    if a.ndim == 1:
        agree(known, a)
    for m in ([], [False], [True], [False] * 3, [True] * 3):
        agree(computed, a, np.array(m, bool))


def test_a_mask_of_part_of_an_array() -> None:
    """Sizes that only the run time compares."""

    def f(a, m, n):
        b = a[:n]
        b[m] += 2
        return b[m]

    for m in ([], [False], [True, False], [True] * 4):
        for n in range(4):
            agree(f, np.arange(5.0), np.array(m, bool), n)


def chosen(a, m, v):
    b = a.copy()
    b[m] = v
    b[~m] += 1
    return a[m], a[m].sum(), np.count_nonzero(m), m.sum(), np.flatnonzero(m), b, m.any(), m.mean()


@pytest.mark.parametrize("step", slow_but([1], [1, 2, -1]))
@pytest.mark.slow
def test_runs_of_a_mask(step):
    """Words of eight bools are skipped where none is set, and 64 are counted at a time."""
    rng = np.random.default_rng(2)
    for n in (0, 1, 7, 8, 9, 63, 64, 65, 130, 700):
        for share in (0.0, 0.02, 0.5, 1.0):
            m = np.repeat(rng.random(n * abs(step)) < share, rng.integers(1, 20))[: n * abs(step)][::step]
            agree(chosen, rng.integers(0, 99, len(m)).astype(float), m, 0.5)


@pytest.mark.slow
def test_the_truth_of_what_a_mask_leaves_is_asked_where_the_run_comes() -> None:
    """One element has a truth; it was taken for an error, so that each call was traced anew, and in a branch it
    raised."""

    def truth(a: Any, c: Any) -> Any:
        if c[0] > 0:
            return 1 if a[c > 0] else 2
        return a[c < 0] or 3

    a = np.array([0.0, 5.0, 0.0])
    for c in ([1.0, -1.0, 0.0], [1.0, 1.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, -1.0, 2.0]):
        climb(truth, (a, np.array(c)), again=[(a[::-1], np.array(c)[::-1])])
    f = bufferize(truth)
    assert f(a, np.array([1.0, -1.0, 0.0])) == 2 and len(f.specializations()) == 1


@pytest.mark.parametrize("text", ["np.nonzero(a), np.argwhere(b)", "np.flatnonzero(a), np.where(b)", "b[b.nonzero()]"])
@pytest.mark.slow
def test_places_of_numbers_that_are_not_zero(text: str) -> None:
    """By a mask of a byte for each element: the exception of rule S2, which the trace notes."""
    f = climb(program(f"def f(a, b): return {text}"), (np.array([[3, 0, 5, 1]]), np.array([[1.0, 0, np.nan, -0.0]])))
    numbers = np.ones((2, 3))
    assert f.trace(numbers > 0, numbers > 0)[1].masks == 0 < f.trace(numbers, numbers)[1].masks


@pytest.mark.parametrize("shape", [(0, 3), (2, 0), (0, 0), (2, 3)])
def test_what_is_stored_where_an_empty_mask_is_of_another_shape(shape: tuple[int, int]) -> None:
    """An axis without elements fits every axis, and the index is then one of index arrays, whose message it has."""
    f = tracebuf.bufferize(program("def f(a, m, v):\n    a[m] = v"))
    for given in ((2, 3), (3,), (1,), (1, 1), (2,)):
        agree(f, np.ones((2, 3)), np.zeros(shape, bool), np.zeros(given))


@pytest.mark.parametrize("call", ["np.putmask(a, a > 0, {})", "np.place(a, a > 0, {})", "np.put(a, [0, 1], {})"])
@pytest.mark.parametrize("values", ["v[k:]", "v[v > k]", "v[: len(v[v > k])]"])
@pytest.mark.cases(3)
def test_values_of_which_only_the_run_time_knows_that_there_are_none(call: str, values: str) -> None:
    f = tracebuf.bufferize(program(f"def f(a, v, k):\n    {call.format(values)}\n    return a"))
    for k in (0, 3, 1, 5):
        for a in (np.array([4.0, 5.0, 0.0, 1.0]), np.zeros(3)):
            agree(f, a.copy(), np.arange(4.0), k)
    eager = program(f"def f(a, v, k):\n    {call.format(values)}\n    return a")
    climb(eager, (np.array([4.0, 5.0, 0.0]), np.arange(4.0), 2), again=[(np.array([4.0, 0.0]), np.arange(4.0), 0)])


@pytest.mark.slow
def test_an_array_stored_to_itself_by_a_mask_of_all() -> None:
    """All elements are selected then, or an error says that they are not: nothing is copied."""
    f = program("def f(b):\n    b[b] = b")
    for b in (np.ones(3, bool), np.array([True, False, True]), np.array([True]), np.array([False]), np.zeros(0, bool)):
        climb(f, (b,))
    g = program("def g(a, m):\n    a[m] = a")
    for m in (np.ones(3, bool), np.array([True, False, True]), np.ones(2, bool)):
        climb(g, (np.arange(3.0), m))


@pytest.mark.parametrize(
    "body",
    [
        "return a[c > 1], a[c > 1].shape, a[np.asarray(c > 1)], a[True], a[False], a[bool(c > 1)]",
        "a[c > 1] = 7; a[0][np.asarray(c < 1)] = a[1]; return a", "a[True] = 7; a[False] = 8; return a",
        "a[c > 1] = np.full((2, 3, 4), 2.0); return a", "a[c > 1] += 1; return a", "a[c > 1] *= a[0]; return a",
        "a[True] -= 2; a[c < 1] **= a; return a",
        "out = np.empty(()); out[()] = c; i = (out < 1) | np.isnan(out); out[i] = np.asarray(2.0)[i]; return out, c",
    ],
)  # fmt: skip
@pytest.mark.cases(8)
def test_an_index_that_is_one_bool(body):
    """It is a mask of a new first axis of one element."""
    f = program(f"def f(a, c):\n    {body}")
    a = np.arange(12.0).reshape(3, 4)
    if "full" in body:
        agree(f, a, np.float64(0.5))
        agree(f, a, np.float64(2.5))
        return
    climb(f, (a, np.float64(0.5)), alike=[(a, np.float64(2.5)), (a, np.float64("nan"))])
