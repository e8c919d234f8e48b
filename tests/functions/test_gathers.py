"""Integer arrays as indices, and NumPy's functions of indices, judged by eager NumPy on every rung."""

from __future__ import annotations

import numpy as np
import pytest

import tracebuf
from tests.support.agreement import agree, program
from tests.support.arrays import floats
from tests.support.forms import UNUSUAL, expression
from tests.support.params import one_in, slow_but
from tracebuf import bufferize
from tracebuf.testing import ladder
from tracebuf.testing.ladder import climb

A = np.random.default_rng(7).normal(size=12)
B = np.random.default_rng(8).normal(size=(4, 5))
C = np.random.default_rng(9).normal(size=(3, 2, 4))
I = np.array([2, 0, -1, 2])
J = np.array([[0, 1], [1, -2]])


def up(source: str, *args: object) -> None:
    """The program on every rung, and compared in all that the contract names."""
    f = program(source)
    agree(f, *args)
    ladder.climb(f, args)


READS = {
    "a vector": ("a[i]", A, I),
    "computed": ("a[(i + 1) % 12] * 2 + a[i]", A, I),
    "a table": ("a[i]", A, J),
    "a table in Fortran order": ("a[i]", A, np.asfortranarray(J)),
    "rows": ("a[i]", B, I),
    "columns": ("a[:, i]", B, I),
    "columns of a transposed matrix": ("a.T[:, i]", B, I),
    "rows of a reversed matrix": ("a[::-1, ::2][i]", B, I),
    "rows of some columns": ("a[i, 1:3]", B, I),
    "one row": ("a[1, i]", B, I),
    "one column": ("a[i, -1]", B, I),
    "elements": ("a[i, i]", B, I),
    "elements, broadcast": ("a[i[:, None], i]", B, I),
    "a table of rows": ("a[i]", B, J),
    "apart": ("a[i, :, i]", C, I[:2] * 0),
    "behind": ("a[:, :, i]", C, I),
    "in between": ("a[:, j]", C, J),
    "an int apart": ("a[0, :, i]", C, I),
    "a new axis": ("a[None, i]", B, I),
    "a new axis between": ("a[i, None, i]", B, I),
    "an ellipsis": ("a[..., i]", C, I),
    "a list": ("a[[0, 2, -1]]", B, I),
    "two lists": ("a[[0, 2], [1, 1]]", B, I),
    "an empty list": ("a[[]]", B, I),
    "no index": ("a[i]", B, I[:0]),
    "one index": ("a[i]", B, I[:1]),
    "small integers": ("a[i]", A, I.astype(np.int8)),
    "unsigned": ("a[i]", A, np.array([3, 1], np.uint16)),
    "beside a mask": ("a[a[:, 0] > -9, i]", B, I),
    "ix_": ("a[np.ix_(i, [0, 2])]", B, I),
    "ix_ of a mask": ("a[np.ix_(a[:, 0] > 0, i)]", B, I),
    "a sum": ("a[i].sum()", A, I),
    "a product of rows": ("(a[i] * a[i]).sum(axis=1)", B, I),
    "argsort by hand": ("a[np.argmin(a)] + a[i][0]", A, I),
    "take": ("np.take(a, i)", B, I),
    "take along an axis": ("np.take(a, i, axis=1)", B, I),
    "take a table": ("a.take(i, axis=0)", B, J),
    "take one": ("np.take(a, 2, axis=1), a.take(3)", B, I),
    "take, by bools of several axes": ("np.take(a, a > 0, axis=0)", B, I),
    "take, wrapped": ("np.take(a, i * 7, mode='wrap')", A, I),
    "take, clipped": ("np.take(a, i * 7, axis=0, mode='clip')", B, I),
    "take along": ("np.take_along_axis(a, np.argmax(a, axis=1)[:, None], axis=1)", B, I),
    "take along, flat": ("np.take_along_axis(a, i, axis=None)", B, I),
    "unravel": ("np.unravel_index(np.argmax(a), a.shape)", B, I),
    "unravel some": ("np.unravel_index(np.abs(i), (4, 5))", B, I),
    "through a view": ("a[1:][i[::-1]]", A, I),
    "a broadcast source": ("np.broadcast_to(a, (3, 12))[:, i]", A, I),
    "bools": ("(a > 0)[i]", A, I),
    "columns of a repeated array": ("a[:, i]", np.broadcast_to(B[:1], (3, 4, 5)), I),
    "planes of a repeated array": ("a[i], a[..., i]", np.broadcast_to(B[:, None], (4, 3, 5)), I[:3] % 3),
}
BAD_READS = {
    "too large": ("a[i]", B, np.array([1, 4])),
    "too small": ("a[i]", B, np.array([1, -5])),
    "too large, not used": ("a[i] * 0 if a[i].size > 99 else a", B, np.array([1, 4])),
    "of nothing": ("a[i]", A[:0], I),
    "rows of nothing": ("a[i]", B[:, :0], np.array([9])),
    "no common shape": ("a[i, np.arange(3)]", B, np.array([1, 2])),
    "too many": ("a[i, i, i]", B, I),
    "floats": ("a[i]", B, I * 1.0),
    "take": ("np.take(a, i)", B, np.array([99])),
    "take of nothing": ("np.take(a, i, mode='wrap')", A[:0], I),
    "take with another mode": ("np.take(a, i, mode='none')", A, I),
    "unravel": ("np.unravel_index(i, (2, 2))", A, np.array([4])),
}


@pytest.mark.parametrize("name", slow_but(list(READS)[:1], READS))
def test_read(name: str) -> None:
    text, array, index = READS[name]
    up(f"def f(a, i):\n    {'j = i' if 'j' in text else 'pass'}\n    return {text}", array, index)


@pytest.mark.parametrize("name", slow_but(list(BAD_READS)[:2], BAD_READS))
def test_reads_that_raise(name: str) -> None:
    text, array, index = BAD_READS[name]
    agree(program(f"def f(a, i):\n    return {text}"), array, index)


STORES = {
    "a number": ("a[i] = 7", A, I),
    "an array": ("a[i] = np.arange(4.0)", A, I),
    "the last one stays": ("a[i] = np.arange(4.0) + 10", A, np.array([1, 1, 1, 2])),
    "rows": ("a[i] = a[0] * 2", B, I),
    "columns": ("a[:, i] = np.arange(4.0)[:, None]", B, I),
    "elements": ("a[i, i] = -1.0", B, I),
    "a block": ("a[np.ix_(i, i)] = 5", B, I[:2]),
    "of itself": ("a[i] = a[i[::-1]]", A, I),
    "a permutation": ("a[np.arange(12)[::-1]] = a", A, I),
    "added": ("a[i] += 1", A, np.array([1, 1, 2])),
    "rows scaled": ("a[i] *= a[i]", B, I[:3]),
    "through a transposed view": ("a.T[i] = 3", B, I),
    "an element of another type": ("a[i] = 2.7", np.arange(9), I),
    "nothing": ("a[i] = 3", A, I[:0]),
    "beside a mask": ("a[a[:, 0] > -9, i] = 1", B, I),
    "add.at": ("np.add.at(a, i, 1)", A, np.array([1, 1, 2])),
    "add.at into another type": ("np.add.at(a, i, 1.5)", np.arange(12), I),
    "add.at, an array": ("np.add.at(a, i, np.arange(3.0))", A, np.array([1, 1, -2])),
    "add.at, rows": ("np.add.at(a, i, a[0])", B, np.array([1, 1, -2])),
    "add.at, elements": ("np.add.at(a, (i, i), 2.0)", B, np.array([1, 1, -2])),
    "add.at, a slice": ("np.add.at(a, slice(1, 3), 2.0)", A, I),
    "add.at, a mask": ("np.add.at(a, a > 0, 2.0)", A, I),
    "add.at, counts": ("c = np.zeros(5, np.int64)\n    np.add.at(c, i % 5, 1)\n    a[:5] = c", A, I),
    "maximum.at": ("np.maximum.at(a, i, 0.5)", A, I),
    "negative.at": ("np.negative.at(a, i)", A, I),
    "put": ("np.put(a, i, [1.0, 2.0])", B, I),
    "put, wrapped": ("a.put(i * 9, 3.0, mode='wrap')", A, I),
    "put along": ("np.put_along_axis(a, np.argmax(a, axis=1)[:, None], 9.0, axis=1)", B, I),
    "in a loop": ("for k in range(3):\n        a[i] += k", A, I),
    "in a branch": ("if a[0] > 0:\n        a[i] = 0\n    else:\n        a[i] = 1", A, I),
}
BAD_STORES = {
    "too large": ("a[i] = 0", A, np.array([12])),
    "too many values": ("a[i] = np.ones(7)", A, I),
    "too many axes": ("a[i] = np.ones((2, 4))", A, I),
    "read-only": ("b = np.broadcast_to(a, (2, 12))\n    b[i] = 1", A, I * 0),
    "add.at out of bounds": ("np.add.at(a, i, 1)", A, np.array([12])),
    "put out of bounds": ("np.put(a, i, 1)", A, np.array([12])),
}


@pytest.mark.parametrize("name", slow_but(list(STORES)[:1], STORES))
def test_store(name: str) -> None:
    text, array, index = STORES[name]
    up(f"def f(a, i):\n    {text}", array, index)


@pytest.mark.parametrize("name", slow_but(list(BAD_STORES)[:2], BAD_STORES))
def test_stores_that_raise(name: str) -> None:
    text, array, index = BAD_STORES[name]
    assert agree(program(f"def f(a, i):\n    {text}"), array, index) is not None


def counts(f: object, *args: object) -> tuple[int, int]:
    native = tracebuf.measure(tracebuf.bufferize(f), *args).native  # type: ignore[arg-type]
    return native.allocations, native.copies


@pytest.mark.slow
def test_a_gather_fuses_with_what_is_around_it() -> None:
    """No array of indices, none of what was picked: one for the result, or none where it is reduced."""

    def around(a, i, w):
        return (a[(i + 1) % 12] * w + 1).sum()

    def rows(x, i, j):
        d = x[i] - x[j]
        return np.sqrt((d * d).sum(axis=1))

    assert counts(around, A, I, np.ones(4)) == (0, 0)
    assert counts(rows, B, I, I[::-1].copy()) == (1, 0)


@pytest.mark.slow
def test_a_scatter_takes_in_what_it_stores() -> None:
    def deposit(a, i, w):
        np.add.at(a, (i + 1) % 12, w * 2)

    assert counts(deposit, A.copy(), I, np.ones(4)) == (0, 0)


OWN = {
    "an index and a value": ("np.add.at(a, a, a)", (1, 0)),
    "an index": ("a[a] = 5", (1, 0)),
    "a value": ("np.subtract.at(a, i, a)", (1, 0)),
    "an index, read and stored to": ("a[a] += 1", (2, 0)),
    "a part as index": ("a[a[1:]] = a[1:]", (1, 1)),
    "put": ("np.put(a, a, 1)", (1, 0)),
}


@pytest.mark.parametrize("name", slow_but(list(OWN)[:2], OWN))
@pytest.mark.slow
def test_s2_an_array_stored_to_at_its_own_elements(name: str) -> None:
    """The array was copied, and copied back, where NumPy copies what it reads."""
    text, expected = OWN[name]
    f, a, i = program(f"def f(a, i):\n    {text}"), np.arange(12)[::-1] % 5, np.arange(12) % 3
    climb(f, (a, i), again=[(np.arange(3), np.arange(3))])
    assert counts(f, a, i) == expected


def own_rows(b, c, n):
    c |= b
    for _ in range(n):
        c[[0, 1]] = c


def test_s2_rows_of_itself_after_a_store() -> None:
    """The array was read as a slice that leaves nothing out; it was copied back even after no iteration."""
    b = np.arange(6).reshape(2, 3)
    climb(own_rows, (b, b * 2, 3), again=[(b, b + 1, 0)])
    assert counts(own_rows, b, b * 2, 0) == (0, 0)


SORTED = np.array([-1.0, 0.5, 0.5, 2.0, np.inf, np.nan])
SEARCHES = {
    "left": "np.searchsorted(a, v)",
    "right": "np.searchsorted(a, v, side='right')",
    "a method": "a.searchsorted(v)",
    "a number": "np.searchsorted(a, 0.5), np.searchsorted(a, 3, 'right')",
    "integers": "np.searchsorted(a, np.array([0, 1, 2]))",
    "a table": "np.searchsorted(a, v.reshape(2, 4) * 0.5)",
    "backwards": "np.searchsorted(a[::-1], v, sorter=np.array([5, 4, 3, 2, 1, 0]))",
    "of nothing": "np.searchsorted(a[:0], v)",
    "nothing": "np.searchsorted(a, v[:0])",
    "used at once": "a[np.searchsorted(a, v) % 3] * 2",
    "halves": "np.searchsorted(a.astype(np.float16), v.astype(np.float16))",
    "of integers": "np.searchsorted(np.array([1, 3, 5]), v)",
}


@pytest.mark.parametrize("name", slow_but(list(SEARCHES)[:1], SEARCHES))
def test_searchsorted(name: str) -> None:
    up(f"def f(a, v):\n    return {SEARCHES[name]}", SORTED, np.array([np.nan, 0.5, -2, 2, np.inf, -np.inf, 1.0, 9]))


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("code", slow_but("d", "defqQbB"))
@pytest.mark.cases(2)
def test_places_in_vectors_of_each_size(code: str, side: str) -> None:
    """Equal elements, infinities and NaN at the ends, a stride that is not 1, and values between all of them."""
    f, kind = program(f"def f(a, v):\n    return np.searchsorted(a, v, '{side}')"), np.dtype(code)
    r = np.random.default_rng(3)
    v = r.integers(0, 12, 40).astype(kind)
    if kind.kind == "f":
        v[:4] = np.nan, np.inf, -np.inf, -0.0
    for n in (0, 1, 2, 3, 4, 5, 8, 9, 31):
        a = np.sort(r.integers(1, 11, n).astype(kind))
        agree(f, a, v)
        agree(f, a.repeat(2)[::2], v[::-1])
        if kind.kind == "f" and n:
            a[-1], a[0] = np.nan, -np.inf
            agree(f, a, v)
            a[n // 2 :] = np.nan
            agree(f, a, np.sort(v))


BAD_SEARCHES = [
    "a.reshape(2, 3), v", "a, v, side='middle'", "a, v, sorter=np.array([0])", "a, v, sorter=a > 0",
    "a, v, sorter=np.arange(6, dtype=np.uint64)",
]  # fmt: skip


@pytest.mark.parametrize("text", BAD_SEARCHES)
def test_searches_that_raise(text: str) -> None:
    assert agree(program(f"def f(a, v):\n    return np.searchsorted({text})"), SORTED, SORTED) is not None


COUNTS = {
    "counts": "np.bincount(x)",
    "at least": "np.bincount(x, minlength=9)",
    "weights": "np.bincount(x, w)",
    "weights of integers": "np.bincount(x, weights=x)",
    "of nothing": "np.bincount(x[:0])",
    "of nothing, at least": "np.bincount(x[:0], minlength=2)",
    "small": "np.bincount(x.astype(np.uint8))",
    "means": "np.bincount(x, w, 6) / np.maximum(np.bincount(x, minlength=6), 1)",
    "in a loop": "sum(np.bincount(x + k, minlength=9)[:9] for k in range(3))",
}


@pytest.mark.parametrize("name", slow_but(list(COUNTS)[:1], COUNTS))
def test_bincount(name: str) -> None:
    up(f"def f(x, w):\n    return {COUNTS[name]}", np.array([3, 1, 1, 0, 5]), np.arange(5.0))


def test_weights_of_none_are_forgotten() -> None:
    """NumPy gives integers then: for slices that are empty at a later call, too."""
    f = program("def f(x, w, n):\n    return np.bincount(x[n:], weights=w[n:], minlength=2)")
    g, x = bufferize(f), np.array([3, 1, 1])
    for n in (1, 3, 2, 5):
        assert repr(g(x, x / 2, n)) == repr(f(x, x / 2, n))


def test_bincount_takes_two_loops() -> None:
    """One finds the largest number and whether one is negative, the other counts, and checks nothing more."""
    text = bufferize(lambda x, w: np.bincount(x, w)).lower(np.array([2, 0, 2]), np.ones(3)).as_text()
    assert text.count("linalg.generic") == text.count("tracebuf.scatter") == 1 and "checked_index" not in text
    for x in ([3, -(2**63)], [-1, 2**62], [7], []):
        agree(program("def f(x):\n    return np.bincount(x, minlength=2)"), np.array(x, np.int64))


@pytest.mark.parametrize("text", ["x - 9", "x * 1.0", "w[:0]", "x, w[1:]", "x.reshape(1, 5)", "x, minlength=-1"])
def test_counts_that_raise(text: str) -> None:
    x = np.array([3, 1, 1, 0, 5])
    assert agree(program(f"def f(x, w):\n    return np.bincount({text})"), x, np.ones(5)) is not None


X = np.array([-1.0, 0.0, 0.5, 1.0, 2.5, 3.0, 9.0, np.nan, np.inf, -np.inf])
XP = np.array([0.0, 1.0, 1.0, 3.0])
INTERPOLATIONS = {
    "plain": "np.interp(x, xp, fp)",
    "beside": "np.interp(x, xp, fp, left=-7, right=7.5)",
    "a number": "np.interp(0.25, xp, fp), np.interp(2, xp, fp)",
    "a table": "np.interp(x.reshape(2, 5), xp, fp)",
    "a period": "np.interp(x, xp, fp, period=2.5)",
    "one point": "np.interp(x, xp[:1], fp[:1])",
    "infinite values": "np.interp(x, xp, np.array([1.0, np.inf, np.inf, -np.inf]))",
    "a point at NaN": "np.interp(x[:7], np.array([np.nan, 1.0]), fp[:2]), np.interp(x, np.array([0, np.nan]), fp[:2])",
    "a point at minus infinity": "np.interp(x, np.array([-np.inf, 1.0, np.inf]), fp[:3])",
    "integers": "np.interp(np.arange(5), np.arange(4), np.array([3, 1, 2, 0]))",
}


@pytest.mark.parametrize("name", slow_but(list(INTERPOLATIONS)[:1], INTERPOLATIONS))
def test_interp(name: str) -> None:
    up(f"def f(x, xp, fp):\n    return {INTERPOLATIONS[name]}", X, XP, np.array([5.0, -1.0, 2.0, 0.1]))


@pytest.mark.parametrize("points", slow_but([2, 9], [2, 3, 4, 5, 6, 7, 9, 30]))
@pytest.mark.cases(2)
def test_interpolations_among_few_and_many_points(points: int) -> None:
    """Rising, falling and random places, more than there are points and fewer, some of them the points themselves."""
    f, r = program("def f(x, xp, fp):\n    return np.interp(x, xp, fp, 7)"), np.random.default_rng(points)
    xp, fp = np.sort(r.integers(0, 2 * points, points) / 4), r.normal(size=points)
    fp[points // 2] = np.inf
    for count in (0, 1, 2, 60):
        x = np.concatenate((r.uniform(-1, points / 2 + 1, count), r.permutation(xp)[: count // 2], [np.nan][:count]))
        for places in (x, np.sort(x), np.sort(x)[::-1], x.repeat(3)[::3]):
            agree(f, places, xp, fp)
            agree(f, places, xp.repeat(2)[::2], fp[::-1])
    agree(f, np.linspace(-1, points, 7 * points), xp, fp)


@pytest.mark.parametrize(
    "text", ["x, xp[:0], fp[:0]", "x, xp, fp[1:]", "x, xp.reshape(2, 2), fp", "x, xp, fp, period=0"]
)
def test_interpolations_that_raise(text: str) -> None:
    assert agree(program(f"def f(x, xp, fp):\n    return np.interp({text})"), X, XP, XP) is not None


EDGES = {
    "rising": [0.0, 0, 1, 2.5, 9],
    "falling": [9, 3, 3, 1, -np.inf],
    "equal": [1.0, 1, 1],
    "one": [1.0],
    "none": [],
    "integers": [0, 1, 1, 3],
    "falling integers": [3, 1, 1, 0],
    "not at the end a number": [0.0, 1, np.nan],
    "rising, then falling": [0.0, 2, 1],
    "falling, then rising": [0.0, 0, -1, 1],
    "not a number, then rising": [np.nan, 0, 1],
    "a table": [[0.0, 1], [2, 3]],
    "complex": [0j, 1],
}


@pytest.mark.slow
@pytest.mark.parametrize("name", slow_but(list(EDGES)[:1], EDGES))
def test_digitize(name: str) -> None:
    """The bins may rise or fall, which the elements tell as NumPy's `_monotonicity` has it."""
    bins = np.array(EDGES[name])
    for right in (False, True):
        f = program(f"def f(x, bins):\n    return np.digitize(x, bins, {right})")
        agree(f, X, bins)
        agree(f, X.reshape(2, 5)[:, ::-1].astype(np.float32), bins)
        agree(f, 1.0, bins)
    agree(program("def f(x, bins):\n    return np.digitize(x, bins)"), np.array([1j]), bins)


CHOICES = {
    "of arrays": "np.choose(i, [a, a * 2, -a])",
    "of numbers": "np.choose(i, (1, 2.5, True))",
    "wrapped": "np.choose(i + 7, [a, 0], mode='wrap')",
    "clipped": "np.choose(i - 1, [a, a + 1], mode='clip')",
    "out of bounds": "np.choose(i + 2, [a, a, a])",
    "one": "np.choose(i * 0, [a])",
}


@pytest.mark.parametrize("name", slow_but(list(CHOICES)[:2], CHOICES))
def test_choose(name: str) -> None:
    f = program(f"def f(a, i):\n    return {CHOICES[name]}")
    agree(f, A[:4], np.array([2, 0, 1, 1]))


def test_choices_that_are_repeated_no_time_are_not_looked_at() -> None:
    f = program("def f(a, i): return np.choose(i, [a, -3])")
    for a in (A[:0], np.zeros((0, 3)), A[:2]):
        agree(f, a, np.array([5]))
    g = program("def f(a, n): return np.choose(np.array([5]), [a[a > n], -3])")
    agree(g, A, 1e9)
    agree(g, A, -1e9)


REPEATS = {
    "flat": "np.repeat(a, i % 3)",
    "along an axis": "np.repeat(a.reshape(2, 2), i[:2] % 3, axis=1), a.reshape(2, 2).repeat(i[1:3] % 4, 0)",
    "by a list": "np.repeat(a, [1, 0, 3, 2])",
    "none": "np.repeat(a, i * 0)",
    "one count": "np.repeat(a, i[:1] + 1)",
    "too few": "np.repeat(a, i[:3] % 2)",
    "negative": "np.repeat(a, i - 9)",
    "floats": "np.repeat(a, a)",
}


@pytest.mark.parametrize("name", slow_but(list(REPEATS)[:1], REPEATS))
def test_repeat_by_counts(name: str) -> None:
    f = program(f"def f(a, i):\n    return {REPEATS[name]}")
    if agree(f, A[:4], np.array([2, 0, 1, 5])) is None:
        ladder.climb(f, (A[:4], np.array([2, 0, 1, 5])))


@pytest.mark.parametrize("index", ["c:, b", ":c, b", "b, c:"])
def test_unsigned_indices_that_wrap_beside_parts_of_unknown_size(index: str) -> None:
    """2**64 - 1 is the last one, as it is elsewhere: bounds that are checked before the loops said that there is none.
    """
    f = bufferize(program(f"def f(a, b, c):\n    a[{index}] += 1\n    return a[{index}]"))
    for last in (2**64 - 1, 2**64 - 2, 1, 2**64 - 7, 7):
        agree(f, B[:2].copy(), np.array([last, 0], np.uint64), 1)


@pytest.mark.slow
def test_a_range_in_an_index_is_the_array_of_its_ints() -> None:
    source = """
    def f(a, labels, rest):
        n = len(labels)
        i = range(n)
        a[i, labels] -= 1
        a[range(0, n, 2), 0] = 5
        a[i, i] += rest
        return a, a[i], a[range(n - 1, -1, -1), labels], a[range(2)], a[:, range(0)], a[range(2), range(2)]
    """
    up(source, B.copy(), np.array([4, 0, 1, 1]), 0.5)
    up(source, B[:3].copy(), np.array([4, 0, 1]), 0.5)


@pytest.mark.slow
def test_tuples_inside_of_an_index() -> None:
    """`a[np.where(m), 1] *= -1`: NumPy makes an array of the inner tuple; IndexError was raised."""

    def program(a, limit):
        out = np.where(a[:, 1] > limit)
        picked = a[out, 0]
        a[out, 1] *= -1
        return picked, a[(0, 1), (1, 0)]

    f = bufferize(program)
    for n, limit in ((3, 0.0), (6, 1.0), (2, 99.0)):
        agree(f, floats(n, 2), limit)
    agree(bufferize(lambda a: a[(0, 9), 1]), floats(3, 2))
    climb(program, (floats(5, 2), 1.0))


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        "np.take_along_axis(a, [0, 1])",
        "np.put_along_axis(v, 1, 0.5, 1)",
        "np.compress(z, a)",
        "np.compress(v > 0, z, axis=0), np.compress([False, True], a, axis=0)",
        "np.compress([1, 1, 1, 1, 1], np.zeros((3, 0)), axis=0)",
        "np.compress([1, 1, 1, 1], np.zeros((0, 3)), axis=1)",
        "np.take(z, 0, axis=0), np.take(a, [1, 0], out=h[:2])",
        "np.take(a, [1, 0], out=i[0, :2])",
        "(np.place(shorts, fixed > 0, [1, 2]), np.putmask(v, v > 1, [7.0, 8, 9]), shorts, v)",
        "np.place(shorts, fixed > 0, v)",
        "(np.put(z, 0, [4, 5]), z)",
        "np.put(np.zeros((2, 0)), 1, 2)",
        "np.unravel_index(u, (2, 3)), np.unravel_index(0, ()), np.unravel_index(i.T % 3, (2, 2))[0]",
        "np.unravel_index(1.0, (2, 2))",
        "np.bincount(np.zeros(0, np.uint64))",
    ],
)
def test_c1_calls_that_once_differed(text: str) -> None:
    """Found by calls that `tracebuf.testing.functions` drew."""
    expression(text, UNUSUAL)


def test_f3_nothing_is_put_into_an_empty_array_whatever_it_is() -> None:
    for places in ("1", "[0, 1]"):
        climb(program(f"def f(a): np.put(a, {places}, -3)"), (np.zeros(0, np.uint8),))


@pytest.mark.parametrize(
    "text",
    one_in(3, ["a[(b[:3] > 0)] = [-3, 2]", "a[:, :, [0]] = [300]", "a[np.arange(3) > 1, 5] = [np.nan, 1]",
               "a[0, 0, ...][...] = [1]", "a[0, 0, ...][...] = [300, 1]", "np.zeros(())[()] = (1,)"]),
)  # fmt: skip
def test_f3_an_index_is_looked_at_before_the_numbers_that_are_stored(text: str) -> None:
    f = program(f"def f(a, b):\n    {text}\n    return a")
    climb(f, (np.zeros((2, 2), np.uint8), np.arange(4)))


@pytest.mark.slow
def test_f3_an_earlier_error_wins() -> None:
    """An index is checked before what cannot be done behind it, whatever is known first."""
    for end in ("a[...] = 1", "raise ValueError", "np.zeros(3).reshape(2)"):
        f = program(f"def f(a, b):\n    r = a[b]\n    {end}\n    return r")
        agree(f, np.broadcast_to(np.ones(3), (2, 3)), np.array([2, 0]))


@pytest.mark.parametrize(
    "text",
    ["a[[0, 1]] = [1, b[0]]", "a[[len(b), 0], ] = (1, b[0])", "a[[True, False, False, True]] = [b[0], 7]",
     "a.reshape(2, 2)[[0, 1], [1, 0]] = [b[0], 9]", "a.reshape(2, 2)[0, [1, 0]] = (b[0], 9)"],
)  # fmt: skip
def test_lists_of_numbers_are_stored_by_lists_of_indices(text: str) -> None:
    """As many indices as axes, and yet not one element."""
    agree(program(f"def f(a, b):\n    {text}"), np.arange(4), np.array([5]))


STORED = (
    "a[[0, 2]] = b[0]", "a[[]] = b[0]", "a[a > 1] = b[0]", "a[a > 100] = b[0]", "a[a > 1] = (b[0],)",
    "a[[0, 1]] = [b[0], b[0]]", "np.put(a, [0], b[0])", "np.put(a, [0, 1], [b[0], 1])", "np.place(a, a > 1, b[0])",
    "np.place(a, a > 1, [b[0]])", "np.putmask(a, a > 1, b[0])", "np.put_along_axis(a, np.array([0]), b[0], 0)",
    "a[[0]] = float(b[0])", "a[...] = b[0]", "a[0], a[1] = b[0], b[0]", "return np.array(b[0], a.dtype)",
    "return np.array([b[0]], a.dtype)", "return np.insert(a, 1, b[0])",
)  # fmt: skip


@pytest.mark.parametrize("text", slow_but(STORED[:2], STORED))
@pytest.mark.slow
def test_c2_numbers_that_do_not_fit_are_cast_where_numpy_makes_an_array_of_them(text: str) -> None:
    """A NumPy number that is stored by an index array or a mask was taken for one that is stored into an element, whose
    int() must fit."""
    f = bufferize(verify=True)(program(f"def f(a, b):\n    {text}"))
    for dtype in (np.int8, np.uint8):
        for value in (np.float32(1e30), np.float64("nan"), np.int64(300), np.int64(-1)):
            agree(f, np.arange(4).astype(dtype), np.array([value]))


@pytest.mark.parametrize("text", slow_but(["np.add.at(a, [0, 1], a[None, :2])"], [
    "np.add.at(a, [0, 1], a[None, :2])", "np.minimum.at(a, [0, 1], [[1, 2]])", "a[[0, 1]] = a[None, :2]",
    "np.add.at(a, [0], a[:1])",
]))  # fmt: skip
@pytest.mark.slow
def test_c2_stores_take_leading_axes_of_size_1_but_ufuncs_at_indices_do_not(text: str) -> None:
    agree(program(f"def f(a):\n    {text}"), np.arange(4.0))


@pytest.mark.parametrize("text", [
    "for i in range(n): a[i] = b[::2]", "a[0] = b[b[:, 0] > n]", "a[[0, -1]] = b[None, b[:, 0] > n]",
    "a[a[:, 0] > n] = b[None, ::2]", "for i in range(n): a[a[:, 0] > n] = b[b[:, 0] > n][None]",
    "for i in range(n): a[[0, -1]] = b[::2][:, None]", "for i in range(n): a[:, 0][a[:, 0] > n] = b[b > 5][None]",
])  # fmt: skip
@pytest.mark.cases(3)
def test_c2_surplus_axes_may_turn_out_to_be_of_size_1(text: str) -> None:
    """By sizes of the call, or at run time; in loops that was a ValueError, unless the size was written as 1."""
    f = bufferize(program(f"def f(a, b, n):\n    {text}"))
    for rows in (1, 2, 3):
        a = np.arange(3.0 * rows).reshape(rows, 3)
        for n in (0, 1, 2, 7):
            agree(f, a, 2 * a, n)


def test_interp_takes_no_complex_places() -> None:
    for text in ("np.interp(z, x, x)", "np.interp(x, z, x)", "np.interp(z[0], x, x)", "np.interp(x, x, z)"):
        agree(program(f"def f(x, z): return {text}"), np.arange(3.0), np.arange(3.0) + 1j)


def test_repeats_of_each_row_in_rising_order() -> None:
    """The places of sources are looked for beside the last one: counts of 0, runs of them, axes that begin anew."""
    r = np.random.default_rng(3)
    f, g = bufferize(lambda a, n: np.repeat(a, n, axis=0)), bufferize(lambda a, n: np.repeat(a, n, axis=1))
    for counts in (r.integers(0, 4, 40), np.zeros(40, int), np.eye(40, dtype=int)[7] * 9, np.arange(40) % 2 * 5):
        a = r.random((40, 3))
        agree(f, a, counts)
        agree(g, a.T, counts)
        agree(f, a[:, 0], counts)


@pytest.mark.parametrize("text", [
    "np.repeat(a, n) * b", "np.sin(np.repeat(a, n)) + b", "np.repeat(a, n)[::-1]", "np.repeat(a, n).max(initial=-1.0)",
    "np.repeat(a, n) + np.repeat(a[::-1], n)", "np.repeat(a > 0.5, n), np.repeat(a + 1j, n)",
    "np.cumsum(np.repeat(a, n))", "np.repeat(np.arange(len(a)), n) * np.arange(len(b))",
])  # fmt: skip
@pytest.mark.cases(3)
def test_runs_of_one_source_within_other_work(text: str) -> None:
    """Runs that are longer than the blocks of NumPy's loops, and than the pieces between two polls."""
    r, f = np.random.default_rng(5), bufferize(program(f"def f(a, b, n): return {text}"))
    for counts in ([0, 0, 3, 1000, 0, 1, 0], [70_000, 0, 5, 1], [0, 0], [2, 1]):
        agree(f, r.random(len(counts)), r.random(sum(counts)), np.array(counts))


def test_repeats_in_a_loop_of_fewer_and_fewer_sources() -> None:
    """The last place of one search was where the next began, beyond its bounds: an IndexError."""

    @bufferize(tier="fast")
    def f(a, n, m):
        best = 0.0
        for k in range(len(m)):
            best += np.repeat(a[: m[k]], n[k, : m[k]]).max()
        return best

    n = np.zeros((2, 10), int)
    n[0, 9], n[1] = 1, 100
    for _ in range(3):
        assert f(np.arange(10.0), n, np.array([10, 3])) == 9 + 2


def put_nothing(a: np.ndarray, n: int) -> np.ndarray:
    empty = a[:, :1:-1]
    np.put(empty, np.arange(n), 0.25)
    return empty


def test_nothing_is_put_into_an_empty_array() -> None:
    """NumPy's IndexError is for indices that there are."""
    for n in (0, 2):
        agree(put_nothing, np.ones((3, 2)), n)
        agree(put_nothing, np.ones((3, 1)), n)


@pytest.mark.slow
def test_bincount_of_negative_numbers_raises_on_every_rung() -> None:
    """The largest number without sign is negative where one is: interpreters and Python took the largest with sign."""
    for numbers in ([-2], [3, -1, 4], [0], [2, 5]):
        climb(program("def f(x): return max(np.bincount(x))"), (np.array(numbers, np.int16),))
