"""Recursion whose depth only the run time knows, of functions that return arrays: those that they make, their
arguments, and parts of these."""

from __future__ import annotations

import os
import threading
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tracebuf
from tests.support.params import one_in, slow_but
from tracebuf.testing.ladder import climb

Case = tuple[Callable[..., Any], list[tuple[Any, ...]]]


# -- sorting
def quicksort(a):
    if len(a) <= 1:
        return a
    p = a[len(a) // 2]
    return np.concatenate([quicksort(a[a < p]), a[a == p], quicksort(a[a > p])])


def merge(left, right):
    out = np.empty(len(left) + len(right), left.dtype)
    i = j = 0
    for k in range(len(out)):
        if j >= len(right) or (i < len(left) and left[i] <= right[j]):
            out[k] = left[i]
            i += 1
        else:
            out[k] = right[j]
            j += 1
    return out


def merge_sort(a):
    if len(a) < 2:
        return a
    m = len(a) // 2
    return merge(merge_sort(a[:m]), merge_sort(a[m:]))


def merge_sort_of_copies(a):
    if len(a) < 2:
        return a.copy()
    m = len(a) // 2
    return merge(merge_sort_of_copies(a[:m]), merge_sort_of_copies(a[m:]))


def merge_in_while(a):
    if len(a) > 1:
        m = len(a) // 2
        left, right = merge_in_while(a[:m]), merge_in_while(a[m:])
        i = j = 0
        out = np.empty_like(a)
        while i < len(left) and j < len(right):
            if left[i] <= right[j]:
                out[i + j] = left[i]
                i += 1
            else:
                out[i + j] = right[j]
                j += 1
        out[i + j : len(left) + j] = left[i:]
        out[len(left) + j :] = right[j:]
        return out
    return a


def rows_by_key(a):
    if len(a) <= 1:
        return a
    p, rest = a[0, 0], a[1:]
    k = rest[:, 0]
    return np.concatenate((rows_by_key(rest[k < p]), a[:1], rows_by_key(rest[k >= p])))


def inversions(a):
    """A number and a new array."""
    if len(a) <= 1:
        return 0, a.copy()
    m = len(a) // 2
    n, left = inversions(a[:m])
    k, right = inversions(a[m:])
    return n + k + (left[-1] > right[0]), np.sort(np.concatenate((right, left)))


# -- subdivision
def subdivide(x, y, tol):
    m = (x + y) / 2
    if abs(np.sin(m) - (np.sin(x) + np.sin(y)) / 2) < tol:
        return np.array([x, y])
    left = subdivide(x, m, tol)
    right = subdivide(m, y, tol)
    return np.concatenate((left[:-1], right))


def simplified(points, eps):
    p, q = points[0], points[-1]
    d = np.abs((q[0] - p[0]) * (points[:, 1] - p[1]) - (q[1] - p[1]) * (points[:, 0] - p[0]))
    k = d.argmax()
    if d[k] > eps:
        left, right = simplified(points[: k + 1], eps), simplified(points[k:], eps)
        return np.concatenate((left[:-1], right))
    return np.stack((p, q))


def hull(points, p, q):
    d = (q[0] - p[0]) * (points[:, 1] - p[1]) - (q[1] - p[1]) * (points[:, 0] - p[0])
    out = points[d > 1e-12]
    if len(out) == 0:
        return np.empty((0, 2))
    far = points[np.argmax(d)]
    return np.concatenate((hull(out, p, far), far[None, :], hull(out, far, q)))


def quickhull(points):
    lo, hi = points[points[:, 0].argmin()], points[points[:, 0].argmax()]
    return np.concatenate((lo[None, :], hull(points, lo, hi), hi[None, :], hull(points, hi, lo)))


def koch(p, q, n):
    if n == 0:
        return np.array([p, q])
    d = (q - p) / 3
    a, b = p + d, q - d
    t = a + d * (0.5 + 0.8j)
    return np.concatenate((koch(p, a, n - 1)[:-1], koch(a, t, n - 1)[:-1], koch(t, b, n - 1)[:-1], koch(b, q, n - 1)))


def quadtree(img, tol):
    n = len(img)
    if n == 1 or img.max() - img.min() < tol:
        return np.full_like(img, img.mean())
    m = n // 2
    out = np.empty_like(img)
    out[:m, :m] = quadtree(img[:m, :m], tol)
    out[:m, m:] = quadtree(img[:m, m:], tol)
    out[m:, :m] = quadtree(img[m:, :m], tol)
    out[m:, m:] = quadtree(img[m:, m:], tol)
    return out


# -- transforms and matrices
def fft(x):
    n = len(x)
    if n == 1:
        return x
    even, odd = fft(x[::2]), fft(x[1::2])
    t = np.exp(-2j * np.pi * np.arange(n // 2) / n) * odd
    return np.concatenate((even + t, even - t))


def haar(a):
    if len(a) == 1:
        return a
    return np.concatenate((haar((a[::2] + a[1::2]) / 2), (a[::2] - a[1::2]) / 2))


def matrix_power(a, n):
    if n == 0:
        return np.eye(len(a))
    half = matrix_power(a, n // 2)
    if n % 2:
        return half @ half @ a
    return half @ half


def strassen(a, b):
    n = len(a)
    if n <= 1:
        return a * b
    m = n // 2
    a11, a12, a21, a22 = a[:m, :m], a[:m, m:], a[m:, :m], a[m:, m:]
    b11, b12, b21, b22 = b[:m, :m], b[:m, m:], b[m:, :m], b[m:, m:]
    m1 = strassen(a11 + a22, b11 + b22)
    m2 = strassen(a21 + a22, b11)
    m3 = strassen(a11, b12 - b22)
    m4 = strassen(a22, b21 - b11)
    m5 = strassen(a11 + a12, b22)
    m6 = strassen(a21 - a11, b11 + b12)
    m7 = strassen(a12 - a22, b21 + b22)
    c = np.empty((n, n))
    c[:m, :m] = m1 + m4 - m5 + m7
    c[:m, m:] = m3 + m5
    c[m:, :m] = m2 + m4
    c[m:, m:] = m1 - m2 + m3 + m6
    return c


def integral_image(a):
    n = len(a)
    if n == 1:
        return a.cumsum(axis=1)
    top, low = integral_image(a[: n // 2]), integral_image(a[n // 2 :])
    return np.concatenate((top, low + top[-1]))


def cholesky(a):
    n = len(a)
    if n == 1:
        return np.sqrt(a)
    lower = np.zeros((n, n))
    d = np.sqrt(a[0, 0])
    c = a[1:, 0] / d
    lower[0, 0] = d
    lower[1:, 0] = c
    lower[1:, 1:] = cholesky(a[1:, 1:] - np.outer(c, c))
    return lower


def inverse(a):
    n = len(a)
    if n == 1:
        return 1 / a
    m = n // 2
    p, q, r, s = a[:m, :m], a[:m, m:], a[m:, :m], a[m:, m:]
    i = inverse(p)
    t = inverse(s - r @ i @ q)
    out = np.empty((n, n))
    out[:m, :m] = i + i @ q @ t @ r @ i
    out[:m, m:] = -i @ q @ t
    out[m:, :m] = -t @ r @ i
    out[m:, m:] = t
    return out


def karatsuba(a, b):
    n = len(a)
    if n <= 2:
        return np.convolve(a, b)
    m = n // 2
    low, high = karatsuba(a[:m], b[:m]), karatsuba(a[m:], b[m:])
    mid = karatsuba(a[:m] + a[m:], b[:m] + b[m:]) - low - high
    c = np.zeros(2 * n - 1)
    c[: 2 * m - 1] += low
    c[m : m + 2 * m - 1] += mid
    c[2 * m :] += high
    return c


# -- rows of numbers
def chebyshev(n, x):
    if n == 0:
        return np.ones_like(x)
    if n == 1:
        return x
    return 2 * x * chebyshev(n - 1, x) - chebyshev(n - 2, x)


def hadamard(n):
    if n == 0:
        return np.ones((1, 1))
    h = hadamard(n - 1)
    return np.block([[h, h], [h, -h]])


def pascal(n):
    if n == 0:
        return np.array([1])
    row = pascal(n - 1)
    return np.concatenate((np.array([1]), row[1:] + row[:-1], np.array([1])))


def subset_sums(a):
    if len(a) == 0:
        return np.zeros(1)
    s = subset_sums(a[1:])
    return np.concatenate((s, s + a[0]))


def in_order(keys, left, right, k):
    if k < 0:
        return np.empty(0)
    before, after = in_order(keys, left, right, left[k]), in_order(keys, left, right, right[k])
    return np.concatenate((before, keys[k : k + 1], after))


def permutations(a):
    n = len(a)
    if n <= 1:
        return a.reshape(1, n).copy()
    rest = permutations(a[1:])
    out, r = np.empty((n * rest.shape[0], n), a.dtype), 0
    for i in range(rest.shape[0]):
        for k in range(n):
            out[r, :k] = rest[i, :k]
            out[r, k] = a[0]
            out[r, k + 1 :] = rest[i, k:]
            r += 1
    return out


RNG = np.random.default_rng(3)
POINTS = RNG.random((12, 2))
CURVE = np.stack((np.arange(9.0), RNG.random(9)), 1)
SPD = POINTS[:4] @ POINTS[:4].T + 4 * np.eye(4)
TREE = np.array([1, 3, -1, -1, -1]), np.array([2, 4, -1, -1, -1])
CASES: dict[str, Case] = {
    "quicksort": (quicksort, [(RNG.random(9),), (RNG.random(1),), (RNG.integers(0, 5, 12),)]),
    "merge sort": (merge_sort, [(RNG.random(7),)]),
    "a number and an array": (inversions, [(RNG.random(7),), (RNG.random(1),)]),
    "subdivide": (subdivide, [(0.0, 3.0, 1e-2)]),
    "fft": (fft, [(RNG.random(8) + 0j,)]),
    "power": (matrix_power, [(RNG.random((3, 3)), 5), (RNG.random((3, 3)), 0)]),
}
MORE: dict[str, Case] = {
    "merge sort of copies": (merge_sort_of_copies, [(RNG.random(7),), (RNG.random(1),)]),
    "merge in while": (merge_in_while, [(RNG.random(8),)]),
    "rows by key": (rows_by_key, [(POINTS,)]),
    "simplified": (simplified, [(CURVE, 0.8)]),
    "quickhull": (quickhull, [(POINTS,)]),
    "koch": (koch, [(0j, 1 + 0j, 2)]),
    "quadtree": (quadtree, [(RNG.random((8, 8)), 0.7)]),
    "haar": (haar, [(RNG.random(8),)]),
    "strassen": (strassen, [(RNG.random((4, 4)), RNG.random((4, 4)))]),
    "integral image": (integral_image, [(RNG.random((5, 3)),)]),
    "cholesky": (cholesky, [(SPD,)]),
    "inverse": (inverse, [(SPD,)]),
    "karatsuba": (karatsuba, [(RNG.random(8), RNG.random(8))]),
    "chebyshev": (chebyshev, [(4, RNG.random(3)), (1, RNG.random(3))]),
    "hadamard": (hadamard, [(3,)]),
    "pascal": (pascal, [(5,)]),
    "subset sums": (subset_sums, [(RNG.random(4),)]),
    "in order": (in_order, [(RNG.random(5), *TREE, 0)]),
    "permutations": (permutations, [(np.arange(4),)]),
}


def check(case: Case) -> None:
    """On every rung, without more allocations than eager's; as a function of the program, not inlined."""
    function, calls = case
    for args in calls:
        climb(function, args, tolerance=1e-12)
    assert "tracebuf.call" in tracebuf.bufferize(function).lower(*calls[0]).as_text()


@pytest.mark.parametrize("name", one_in(6, CASES))
@pytest.mark.slow
def test_arrays_that_it_makes(name: str) -> None:
    check(CASES[name])


@pytest.mark.slow
@pytest.mark.parametrize("name", MORE)
def test_more_arrays_that_it_makes(name: str) -> None:
    check(MORE[name])


@pytest.mark.parametrize("dtype", one_in(2, ["f4", "i4", "u1", "c16"]))
@pytest.mark.cases(4)
def test_dtypes(dtype: str) -> None:
    climb(merge_sort_of_copies if dtype == "c16" else quicksort, (np.array([5, 1, 4, 1, 3], dtype),))


# -- what the result is
def given_back(a, n):
    if n == 0:
        return a
    b = a.copy()
    c = given_back(b, n - 1)
    b[0] = 99
    return c


def part_given_back(a, n):
    if n == 0:
        return a
    return part_given_back(a[1:], n - 1)


def is_it(a, n):
    b, c = given_back(a, n), part_given_back(a, n)
    a[-1] = 7
    return b is a, c is a, b, c


def stored_to(a, n):
    b = part_given_back(a, n)
    b[0] = 100.0
    return a


def stored_to_on_a_path(a, p):
    if a[0] > p:
        b = quicksort(a)
    else:
        b = a
    b[0] = 0.0
    return b, a


def part_twice(a, n, p):
    """Views that are made anew, of which `is` tells nothing."""
    a[0] += 1
    if n <= 0:
        return a[1:]
    if a[1] > p:
        return a[1:]
    return part_twice(a, n - 1, p)


def parts_twice(a, n, p):
    b, c = part_twice(a, n, p), part_twice(a, n, p)
    if len(b) > 1:
        b = b[::-1]
    return b, b is a, b is c


def filled_by_itself(a, n):
    """It stores to arrays that it is given, other ones at each depth."""
    if n == 0:
        return np.concatenate((a, a))
    b = filled_by_itself(a[a > 0], n - 1)
    a[-1] = 7
    return b


def one_of_known_values(a, n, p):
    if n == 0 or a[0] > p:
        return np.array([1.0, 2.0, 3.0])
    b = one_of_known_values(a * 2, n - 1, p)
    b += 1
    return b


def layouts_joined(a, n, p):
    """The argument, a part of another array, or an array of its own."""
    if a[0] > p:
        a = a + 1
    if n == 0:
        return a[1:]
    return layouts_joined(a, n - 1, p)


def given_its_result(a, n, p):
    """What it is given is known as one array or another only when it is known to return parts of it."""
    if n <= 0 or len(a) < 4:
        return a[::2]
    r = given_its_result(a * 0.5 + 0.1, n - 1, p)
    if len(r) < 3:
        return a[1:]
    return given_its_result(r, n - 2, p)


def exchanged(a, b, n):
    if n == 0:
        return a, b
    return exchanged(b + 1, a, n - 1)


def from_around(a, n):
    scale = a * 2

    def inner(k):
        if k == 0:
            return scale
        return inner(k - 1) * 1.5 + scale

    out = inner(n)
    return out, scale, out is scale


def constants(n):
    if n == 0:
        return np.array([1.0, 2.0, 3.0])
    b = constants(n - 1)
    b += 1
    return b


def rebound(a, n):
    """A name that some paths bind anew is not the caller's array on those alone."""
    if n % 2:
        a = a[::-1].copy()
    a[0] += n
    if n == 0:
        return a
    b = rebound(a, n - 1)
    return b + a


@pytest.mark.parametrize("n", slow_but([4], [0, 1, 4]))
@pytest.mark.slow
def test_a_result_is_the_array_that_it_is_in_eager(n: int) -> None:
    """The argument itself, a part of it that is stored to, or an array of around."""
    a = np.arange(6.0) + 3
    for f in (given_back, part_given_back, is_it, stored_to, from_around, rebound):
        climb(f, (a, n))
    climb(exchanged, (a, a * 2, n))
    climb(constants, (n,))


@pytest.mark.parametrize("p", slow_but([4.5], [0.0, 4.5, 99.0]))
@pytest.mark.slow
def test_a_result_that_depends_on_the_path(p: float) -> None:
    a = np.arange(6.0) + 3
    climb(filled_by_itself, (a, 2))
    climb(parts_twice, (a, 2, p))
    climb(one_of_known_values, (a, 2, p))
    climb(layouts_joined, (a[1:], 2, p))
    climb(given_its_result, (a, 2, p))


def test_identity_by_one_program() -> None:
    g, x = tracebuf.bufferize(part_given_back), np.arange(5.0)
    assert g(x, 2).base is x and g(x, 0) is x and len(g.specializations()) == 1
    g = tracebuf.bufferize(quicksort)
    assert g(x) is not x and g(x[:1].copy()).base is None and g(y := np.ones(1)) is y


@pytest.mark.slow
def test_a_result_that_is_stored_to_on_a_path() -> None:
    climb(stored_to_on_a_path, (np.array([3.0, 1.0, 2.0]), 0.0))
    climb(stored_to_on_a_path, (np.array([3.0]), 0.0))
    climb(stored_to_on_a_path, (np.array([3.0, 1.0, 2.0]), 5.0))


# -- arrays that are given in other forms
def reversals(n, a):
    """Steps of either sign."""
    if n == 0:
        return a * 1.0
    return reversals(n - 1, a) + 2 * reversals(n - 1, a[::-1])


def sorted_rows(a):
    """A row of an array at first, an array of one axis from then on."""
    out = np.empty_like(a)
    for i in range(len(a)):
        out[i] = quicksort(a[i])
    return out


def total(a):
    if len(a) == 1:
        return a[0]
    m = len(a) // 2
    return total(a[:m]) - total(a[m:])


def total_of_sorted(a):
    """The argument or a new array, in parts."""
    return total(quicksort(a))


def in_itself(a, n):
    if n == 0:
        return a
    return in_itself(in_itself(a + 1, n - 1), n - 1)


def bound_by_path(a, n, p):
    """A part of an array that depends on the path."""
    if a[0] > p:
        a = a * 0.9
    if n == 0:
        return a[1::2]
    return bound_by_path(a, n - 1, p)


def gaps(a, n):
    b = a * 2
    if n == 0:
        return b[1::2]
    c = gaps(b, n - 1)
    c[0] += 1
    return c + b[: len(c)]


def backwards(a, n):
    if n == 0:
        return (a + 1)[::-1]
    return backwards(a, n - 1)


def of_backwards(a, n):
    b = backwards(a, n)
    return b, b.copy(), b[::2], b.reshape(2, -1)


def inner_part(a, n):
    if n == 0:
        return (a * 2)[1:, ::2]
    b = inner_part(a + 1, n - 1)
    b[0] += 1
    return b


def part_or_argument(a, n, p):
    if a[0] > p:
        return a
    if n == 0:
        return (a + 1)[2:]
    return part_or_argument(a + 0.5, n - 1, p)


def stored_part(a, n, p):
    b = bound_by_path(a, n, p)
    b[0] = 44
    return a, b


def halves_of_columns(a):
    if a.shape[1] == 1:
        return a
    m = a.shape[1] // 2
    return np.hstack((halves_of_columns(a[:, m:]), halves_of_columns(a[:, :m].copy()) + 1))


FORMS: dict[str, Case] = {
    "reversals": (reversals, [(3, np.arange(5.0))]),
    "columns": (halves_of_columns, [(RNG.random((2, 5)),)]),
    "by path": (stored_part, [(np.arange(7.0) + 1, n, p) for n in (3, 0) for p in (0.0, 2.5, 8.0)]),
}
MORE_FORMS: dict[str, Case] = {
    "rows": (sorted_rows, [(RNG.random((3, 5)),)]),
    "in parts": (total_of_sorted, [(RNG.random(7),), (RNG.random(1),)]),
}


@pytest.mark.parametrize("name", one_in(2, FORMS))
@pytest.mark.cases(4)
def test_arrays_that_are_given_in_other_forms(name: str) -> None:
    check(FORMS[name])


@pytest.mark.slow
@pytest.mark.parametrize("name", MORE_FORMS)
def test_more_arrays_that_are_given_in_other_forms(name: str) -> None:
    check(MORE_FORMS[name])


@pytest.mark.slow
def test_parts_of_arrays_that_it_makes() -> None:
    check((gaps, [(np.arange(8.0), 2)]))
    check((of_backwards, [(np.arange(8.0), 3)]))
    check((inner_part, [(np.arange(12.0).reshape(3, 4), 2), (np.arange(12.0).reshape(3, 4).T, 2)]))
    check((part_or_argument, [(np.arange(5.0), 3, 0.7), (np.arange(5.0), 3, 9.0), (np.arange(5.0), 3, -1.0)]))


@pytest.mark.parametrize("form", one_in(3, ["backwards", "column", "read only"]))
@pytest.mark.slow
def test_the_first_array_alone_is_of_a_form_of_its_own(form: str) -> None:
    """The first call is inlined; RecursionError comes where it does in Python."""
    a = RNG.random(12)
    x = {"backwards": a[::-2], "column": a.reshape(4, 3)[:, 1], "read only": a[:5].copy()}[form]
    x.flags.writeable = form != "read only"
    check((merge_sort_of_copies, [(x,)]))
    with pytest.raises(RecursionError):
        tracebuf.bufferize(endless)(np.ones(8)[::-2])


@pytest.mark.slow
def test_as_functions_that_numba_compiles() -> None:
    a = RNG.random(30)
    assert tracebuf.bufferize(merge_sort, backend="numba")(a).tolist() == sorted(a.tolist())


def test_results_that_are_given_back_to_it() -> None:
    climb(in_itself, (RNG.random(3), 3))  # inlined
    a = RNG.random(3)
    assert tracebuf.bufferize(in_itself)(a, 12).tolist() == in_itself(a, 12).tolist()


# -- as other programs
def error_deep(a, n):
    if n == 0:
        return a[np.array([len(a) + 3])]
    b = a * 2
    return np.concatenate((b, error_deep(b, n - 1)))


def endless(a):
    if a[0] < 0:
        return a
    return np.concatenate((endless(a + 1), a))


@pytest.mark.slow
def test_what_it_raises_leaves_nothing() -> None:
    """Arrays of all depths are freed: 30 of 8 MB, some hundreds of 80 kB."""
    climb(error_deep, (np.ones(4), 3))
    deep, none = tracebuf.bufferize(error_deep), tracebuf.bufferize(endless)
    calls: list[tuple[Any, tuple[Any, ...], type[Exception]]] = [
        (deep, (np.ones(10**5), 30), IndexError),
        (none, (np.ones(10**4),), RecursionError),
    ]
    for f, args, error in calls:
        for k in range(4):
            if k == 1:
                tracemalloc.start()
            with pytest.raises(error):
                f(*args)
        left = tracemalloc.get_traced_memory()[0]
        tracemalloc.stop()
        assert left < 50_000


def test_threads_and_forks() -> None:
    g, rows = tracebuf.bufferize(quicksort), np.random.default_rng(0).random((4, 300))
    wrong = list[int]()

    def work(k: int) -> None:
        for _ in range(5):
            if g(rows[k]).tolist() != sorted(rows[k].tolist()):
                wrong.append(k)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong
    if hasattr(os, "fork"):
        child = os.fork()
        if not child:
            os._exit(g(rows[0]).tolist() != sorted(rows[0].tolist()))
        assert os.waitpid(child, 0)[1] == 0


# -- refused
def twice(a, n):
    if n == 0:
        b = a + 1
        return b, b[1:]
    return twice(a + 1, n - 1)


def other_dtypes(a, n):
    return a.astype(int) if n == 0 else other_dtypes(a + 1, n - 1) * 0.5


def in_dict(a, n):
    return {"a": a} if n == 0 else in_dict(a + 1, n - 1)


@pytest.mark.parametrize(
    ("function", "reason"),
    [(twice, "makes twice"), (other_dtypes, "different dtypes"), (in_dict, "returns a dict")],
)
def test_refused(function: Callable[..., Any], reason: str) -> None:
    climb(function, (np.ones(3), 3))  # inlined
    with pytest.raises(tracebuf.UnsupportedError, match=reason):
        tracebuf.bufferize(function)(np.ones(3), 90)


def halves(y: np.ndarray, d: int) -> np.ndarray:
    if len(y) <= 1 or d > 3:
        return y[::-1]
    y[0] += d
    return np.concatenate((halves(y[y < y[0]], d + 1), halves(y[1:][y[1:] >= y[0]], d + 1) * 2))


@pytest.mark.slow
def test_recursion_that_is_inlined_too_often_is_refused() -> None:
    """It gives a view or a fresh array, so each call is inlined, up to 31 at once: it took minutes to compile."""

    def often(v: np.ndarray) -> np.ndarray:
        for _ in range(int(v[0])):
            v = v + halves(v, 0).sum()
        for _ in range(int(v[1])):
            v = v - halves(v, 0).sum() - halves(v, 1).sum() * halves(v[1:], 0).sum()
        for _ in range(int(v[2])):
            v = v + halves(v, 0).sum() - halves(v, 1).sum() * halves(v[1:], 0).sum()
        return v * halves(v, 0).sum()

    with pytest.raises(tracebuf.UnsupportedError, match="gives one array for two"):
        tracebuf.bufferize(often)(np.array([1.0, 2.0, 0.0, 5.0]))


def test_the_arrays_of_a_branch_are_not_those_of_another() -> None:
    """The second branch was planned with the first one's arrays, and inlined until it was too deep."""

    def fill(adj, u, seen):
        seen[u] = 1
        for v in range(len(adj)):
            if adj[u, v] and not seen[v]:
                fill(adj, v, seen)

    def reached(adj):
        if adj[0, 1]:
            found = np.zeros(len(adj))
            fill(adj, 0, found)
        else:
            found = np.ones(len(adj)) * 0
            fill(adj, 1, found)
        return found

    adj = np.random.default_rng(0).random((6, 6)) < 0.4
    climb(reached, (adj,), again=[(~adj,)], quick=True)
