"""Bugs that were found by programs written for the purpose, in the style of numerical code, each as the smallest that
showed it."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

from tests.support.agreement import agree, refused
from tests.support.agreement import program as source
from tracebuf import UnsupportedError, bufferize
from tracebuf.testing.ladder import climb

pytestmark = pytest.mark.slow

Array = np.ndarray[Any, np.dtype[Any]]


def floats(*shape: int) -> Array:
    return np.arange(float(np.prod(shape, dtype=int))).reshape(shape) - 3


def test_a_function_whose_every_path_raises() -> None:
    """The tracer's own signal for code that cannot be reached left the function."""

    def program(a, b):
        if a[0] > 0:
            b[0] = b[7]
        else:
            b[1] = b[8]
        return b

    with pytest.raises(IndexError, match="index 8 is out of bounds"):
        bufferize(program)(floats(3), floats(3))


def test_an_error_that_is_certain_waits_for_earlier_ones() -> None:
    """Rule F3: an index that is always out of range was raised while tracing, before an error that comes first."""

    def program(a, b):
        s = 0.0
        for i in range(b.shape[0]):
            s += a[:, i, :0].max()
        return a[0, 0, 0] + s

    with pytest.raises(ValueError, match="zero-size array"):
        bufferize(program)(np.zeros((0, 2, 2)), np.zeros(2))


def test_counting_what_is_true() -> None:
    """A count that begins as a Python int and adds NumPy bools was refused, though int64 comes out either way."""

    def program(a, n):
        count, bad = 0, 0
        for i in range(n):
            count += a[i] > 0
            bad += ~(a[i] > 0)
        return a * count, count + a[0] > 1.0, bad / a[1]

    f = bufferize(program)
    for n in (3, 0, 4):
        for got, wanted in zip(f(floats(5), n), program(floats(5), n), strict=True):
            assert type(got) is type(wanted) and np.array_equal(got, wanted)


def test_the_larger_of_a_python_number_and_numpys() -> None:
    """`worst = max(worst, x[i])`, the test of convergence in many programs, was refused."""

    def program(a, c):
        worst, least, most = 0.0, c, 0
        for i in range(a.shape[0]):
            worst = max(worst, abs(a[i]))
            least = min(c, worst, least)
            most = max(most, int(a[i] > 0) * i, 1)
        if worst > 2:
            a /= worst
        a[0] = max(0, a[1]) + least * most
        return max(a[0], a[1]), min(c, 2.5), max(c, 3.0)

    f = bufferize(program)
    for given in (floats(7), floats(2), np.array([np.nan, -1.0, 0.5])):
        eager = given.copy()
        wanted, got = program(eager, 1.5), f(given, 1.5)
        assert np.array_equal(given, eager, equal_nan=True)
        assert [type(x) for x in got] == [type(x) for x in wanted] and np.array_equal(got, wanted, equal_nan=True)


@pytest.mark.parametrize("axes", [3, 9])
def test_an_error_that_names_many_sizes(axes: int) -> None:
    """More sizes than a kernel's error could carry made an IndexError of the message's own."""

    def program(a, b, n):
        for i in range(1, n):
            a[..., i:] = b[..., i:]

    shape = (*range(2, 2 + axes - 1), 4)
    f = bufferize(program)
    f(np.zeros(shape), np.zeros(shape), 3)
    with pytest.raises(ValueError, match="could not broadcast input array from shape"):
        f(np.zeros(shape), np.zeros((2, *shape[:-1], 9)[-axes:]), 3)
    with pytest.raises(ValueError, match="could not broadcast input array from shape"):
        f(np.zeros(shape), np.zeros((*shape[:-1], 9)), 3)


def test_a_temporary_of_no_bytes_is_none() -> None:
    """Rule S2: NumPy stores an empty slice without a temporary, and the arena's slot for it counted as one."""

    def program(a):
        a[:-2, 1:] = a[1:-1, :-1]
        return a

    f = bufferize(program)
    for rows, wanted in ((5, 1), (2, 0), (3, 1)):
        _, counters = f.call_counted(floats(rows, 4))
        assert counters is not None and max(counters.allocations, counters.copies) <= wanted


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


def test_powers_of_python_numbers_that_are_floats_for_sure() -> None:
    """`beta ** t` and `2.0 ** -alpha` (Adam, Deriche's filter) were refused as perhaps complex."""

    def program(beta, t, alpha):
        return 1.0 - beta**t, 2.0 ** (-alpha), 10**alpha, beta**-2, beta**2, beta**3.0

    f = bufferize(program)
    inf = float("inf")
    bases = (0.9, -2.5, 0.0, 0.0, 1e200, 2.0, inf, -inf, 1.0, -1.5)
    whole = (5, -3, 2, -1, 3, 1, 2, -1, 4, 10**9 + 1)
    exponents = (0.25, 1.5, 0.0, 1.0, 1.0, 1e5, 0.5, inf, -inf, 0.5)
    for beta, t, alpha in zip(bases, whole, exponents, strict=True):
        try:
            wanted = program(beta, t, alpha)
        except (ZeroDivisionError, OverflowError) as error:
            with pytest.raises(type(error)):
                f(beta, t, alpha)
        else:
            got = f(beta, t, alpha)
            assert got == wanted and [type(x) for x in got] == [type(x) for x in wanted]


def test_a_range_whose_step_is_a_loop_variable() -> None:
    """The sieve of Eratosthenes was refused: the step of its inner range is the outer loop's variable."""

    def sieve(n):
        s = np.ones(n + 1, dtype=bool)
        s[:2] = False
        for i in range(2, n + 1):
            if s[i] and i * i <= n:
                for j in range(i * i, n + 1, i):
                    s[j] = False
        return s

    def down(a):
        total = 0
        for i in range(1, a.shape[0]):
            for j in range(a.shape[0] - 1, i - 2, -i):
                a[j] += i
                total += j
            for j in range(3, i, 2 * i):
                total -= j
        return total

    f, g = bufferize(verify=True)(sieve), bufferize(verify=True)(down)
    for n in (50, 7, 1, 121):
        assert np.array_equal(f(n), sieve(n))
    for n in (9, 1, 14, 0):
        eager, native = floats(n), floats(n)
        assert g(native) == down(eager) and np.array_equal(native, eager)


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


def test_a_read_only_target_is_seen_before_its_index() -> None:
    """NumPy looks whether it may write before it looks at the index."""

    def program(a):
        a[0, 1] = 9

    given = floats(3)
    given.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        bufferize(program)(given)


def test_a_ufunc_that_is_called_by_its_name_gives_numpys_numbers() -> None:
    """Rule C1: np.sqrt of a number that is Python's or NumPy's, depending on the path, was refused, and np.add gave a
    Python float on the one path."""

    def program(a, b):
        t = a[0] + b if a[0] > 0 else 1.0
        return np.sqrt(t), np.add(t, 1), np.multiply(t, t, out=None), np.maximum(t, a), t

    f = bufferize(program)
    for given in (floats(3) + 5, floats(3)):
        for got, wanted in zip(f(given, 0.5), program(given, 0.5), strict=True):
            assert type(got) is type(wanted) and np.array_equal(got, wanted)


def test_a_value_of_two_types_is_an_operand_path_by_path() -> None:
    """A call with a value of two types fell through to NumPy, which raised its TypeError (rule S8)."""

    def program(a):
        t = a[0] if a[0] > 0 else 1.0
        return np.add(t, 1)

    agree(program, np.arange(3))
    agree(program, np.arange(3) + 1)


def test_ints_that_are_pythons_or_numpys_are_compared() -> None:
    """Rule N1: roots of a union-find, each `i * m + j` or an element, were refused as operands of `!=`; beside a float,
    above 2**53, it makes a difference."""

    def program(parent, i, j):
        x, y = i, j
        while parent[x] != x:
            x = parent[x]
        while parent[y] != y:
            y = parent[y]
        if x != y:
            parent[y] = x
        return x == y, x < 3, y >= x, x

    f = bufferize(program)
    for i, j in ((0, 5), (3, 3), (0, 1)):
        given = np.array([0, 0, 1, 3, 3, 4])
        eager = given.copy()
        wanted, got = program(eager, i, j), f(given, i, j)
        assert [*map(type, got)] == [*map(type, wanted)] and got == wanted and np.array_equal(given, eager)

    def beside(parent, i):
        x = i
        while parent[x] != x:
            x = parent[x]
        return x == 0.5

    with pytest.raises(UnsupportedError, match="makes a difference"):
        bufferize(beside)(np.array([0, 0, 1]), 2)


def test_a_list_that_a_loop_fills_after_its_first_iteration() -> None:
    """Rule S8: the list became another one where the first iteration is traced by itself, and so was refused."""

    def program(y, t):
        found = same = [y]
        for _ in range(3):
            y = y + t
            t += 0.5
            found.append(y)
        return np.array(found), len(same), t

    f = bufferize(program)
    for got, wanted in zip(f(floats(3), 0.0), program(floats(3), 0.0), strict=True):
        assert type(got) is type(wanted) and np.array_equal(got, wanted)


@pytest.mark.parametrize("lengths", [(5, 5, 5), (5, 6, 4), (3, 3, 4)])
def test_arrays_that_take_turns_are_of_any_sort(lengths: tuple[int, ...]) -> None:
    """Rules S8, S9: which one a name holds after the loop decides dtype, rank and sizes."""

    def numbers(a, b, c):
        for _i in range(1):
            for _j in range(len(c)):
                b, c, a = c, a, b
                b[0] = 7
        return a, b.sum()

    def others(a, b, c):
        for _i in range(2):
            for _j in range(len(c)):
                b, c, a = c, a, b
                b[0] = 7
        return a

    for program in (numbers, others):
        for second in (np.float64, np.int64):
            for shape in ((lengths[1],), (lengths[1], 1)):
                agree(program, floats(lengths[0]), np.ones(shape, second), floats(lengths[2]) + 3)


def test_a_name_that_only_the_other_side_of_a_choice_reads() -> None:
    """Rule F3: what is not taken raises nothing."""

    def program(a):
        x = 3 if a[0] > 0 else unbound  # noqa: F821
        unbound = x
        return unbound

    agree(program, np.ones(2))
    agree(program, -np.ones(2))


def test_an_index_that_an_iteration_makes_a_float() -> None:
    """Rules N1, F3: the first iteration has an int; that is refused, and raises no IndexError of its own."""

    def program(a):
        k = a.shape[0]
        while a[-k] <= 0:
            k = np.floor(0.5)
        return k

    def part(a):
        k = 1
        if a[0] > 5:
            k = a.sum()
        return a[:k]

    refused(program, np.ones(2))
    refused(part, np.ones(2))


@pytest.mark.parametrize("n", [2, 4, 6])
def test_the_offset_of_an_empty_view_that_a_loop_carries(n: int) -> None:
    """Rule S11: of an array backwards that has come to have no elements it is -1."""

    def program(a, n):
        for _i in range(n):
            a = (1 + a[1:])[::-1]
        return a

    climb(program, (floats(4), n), again=[(floats(5), n - 1)])


@pytest.mark.parametrize("times", [0.0, 2.0])
def test_an_array_that_no_loop_in_a_loop_replaced_is_that_array(times: float) -> None:
    """Rule C1: identity with the argument, through two loops."""

    def counted(a, c, n):
        for _i in range(n):
            for _j in range(int(c[0])):
                a = a[1:-1]
        return a

    def tested(a, c, n):
        for _i in range(n):
            k = 0
            while k < 3 and c[0] > 1:
                a = a[1:-1]
                k += 1
        return a

    for program in (counted, tested):
        for n in (2, 0, 1):
            agree(program, floats(9), np.array([times]), n)


@pytest.mark.parametrize("n", [0, 1, 2])
def test_names_that_exchange_arrays_of_other_ranks(n: int) -> None:
    """Rules S9, S11: what a first iteration showed of a name's array is not taken for that of another rank."""

    def counted(a, n):
        t = -a
        h = t[None]
        a = h
        for _i in range(1):
            for _j in range(n):
                t, h, a = h, a, t
        return a

    def tested(a, n):
        t = -a
        h = t[None]
        a = h
        while n:
            t, h, a = h, a, t
            t[0, ...] = 1
            n -= 1
        return a

    agree(counted, floats(3), n)
    agree(tested, floats(3), n)


def test_a_numpy_number_that_a_loop_replaces_by_pythons() -> None:
    """Rule C1: the type of the last value, where the loop is sure to run too."""

    def program(a, c):
        t = u = np.sum(c)
        for i in range(a.shape[0]):
            t = i
            u = 2.5
        return t, u

    for n in (2, 1, 0):
        agree(program, floats(n), np.ones(2))


def test_the_truth_of_operands_of_different_types() -> None:
    """`while len(x) and x[0] < n` was refused: an int or a NumPy bool, though only the truth of it mattered."""

    def program(a, limit):
        x, total, seen = a[a > 1], 0, 0
        while len(x) and not (x[0] ** 2 > limit or x.size):
            total += 1
        while len(x) and x[0] ** 2 < limit:
            total += x[0]
            x = x[x % x[0] != 0]
            seen += 1 if x.size and (x[0] > 5 or not seen) else 2
        if not (x.size or total):
            raise ValueError("nothing")
        return total, seen, "more" if len(x) and x[-1] else "none"

    f = bufferize(program)
    for n in (20, 3, 40):
        agree(f, np.arange(n), 17)
    agree(f, np.arange(2), 17)
    climb(program, (np.arange(20), 17))


def test_a_roll_by_an_element() -> None:
    """A shift that is computed was refused."""

    def program(a, k):
        out = np.zeros_like(a)
        for i in range(len(k)):
            out += np.roll(np.roll(a, k[i], axis=1), k[-1], axis=0)
        return out, np.roll(a, k[0]), np.roll(a, (k[1], 1), axis=(0, 1))

    f, shifts = bufferize(program), np.array([1, -2, 0, 9, -11])
    for shape in ((4, 5), (1, 3), (0, 2), (7, 1)):
        agree(f, floats(*shape), shifts)
    climb(program, (floats(4, 5), shifts), again=[(floats(2, 3), shifts)])


def test_ranges_whose_parts_are_elements() -> None:
    """np.linspace of a computed number of points and np.arange by a computed step were refused."""

    def program(k, x):
        a = np.linspace(x, 2.5, int(k[0]))
        b = np.linspace(0, k[0], k[0], endpoint=False, dtype=np.float32)
        c = np.linspace(x, x, int(k[0]))
        return a, b, c, np.arange(0, 20, k[1]), np.arange(k[0], k[1] * 2, k[1])

    f = bufferize(program)
    for n in (0, 1, 2, 7):
        for step in (1, 3, 50):
            agree(f, np.array([n, step]), 0.5)
    agree(f, np.array([3, 0]), 0.5)
    agree(f, np.array([-1, 2]), 0.5)
    with pytest.raises(UnsupportedError, match="the step of np.arange that is computed from elements is negative"):
        f(np.array([3, -2]), 0.5)
    climb(program, (np.array([4, 3]), 0.5), again=[(np.array([1, 2]), 0.25)])


def test_powers_as_sizes_and_reshapes_that_are_only_read() -> None:
    """Powers of a positive int are positive; a reshape that is an operand may be a view or a copy."""

    def program(x, r, k):
        out = np.zeros_like(x)
        for i in range(k):
            y = np.transpose(x.reshape((r**i, r, r ** (k - i - 1))), (1, 0, 2))
            out += y.reshape((r**k,)) * (i + 1) - np.reshape(y, (len(x),))
        return out

    f = bufferize(program)
    for r, k in ((2, 3), (3, 2), (1, 4), (2, 0)):
        agree(f, floats(r**k), r, k)
    climb(program, (floats(8), 2, 3), again=[(floats(27), 3, 3)])


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


def test_astype_of_a_number() -> None:
    def program(a, out):
        for i in range(len(a)):
            out[a[i].astype(int)] += a[i].astype(np.float32) * 2
        return a[0].astype(bool), a[1].astype("int8"), a.sum().astype(np.int64)

    climb(program, (np.array([2.5, 0.25, 1.75]), np.zeros(4)))



def test_packages_that_are_called_like_numpy() -> None:
    """Functions and classes of a package `numpy_ml` were taken for NumPy's own."""
    space: dict[str, Any] = {"np": np, "__name__": "numpy_ml.layers"}
    exec("class Scale:\n    def __init__(self, k):\n        self.k = k", space)

    def double(a):
        return a * 2

    def program(layer, a):
        return double(a) * layer.k

    double.__module__ = "numpy_ml.layers"
    agree(bufferize(program), space["Scale"](3.0), floats(4))


@pytest.mark.parametrize("name", ["<lambda>", "größe"])
def test_a_function_of_any_name_is_lowered(name: str) -> None:
    def f(a):
        return a + 1

    f.__name__ = name
    g = bufferize(f)
    assert "@kernel" in g.lower(np.ones(3)).as_text("llvm")
    np.testing.assert_array_equal(g(np.ones(3)), 2)



DATA_SIZES = (
    "np.diff(x[x > 0])", "np.diff(x[x > 9])", "np.diff(np.flatnonzero(x > 0), n=2)", "np.roll(x[x > 0], 1)",
    "np.roll(x[x > 9], -2)", "np.isin(x, np.arange(70.0))", "np.isin(np.arange(9), np.arange(3, 90), invert=True)",
    "np.isin(x, x[x > 2])",
)  # fmt: skip


@pytest.mark.parametrize("text", DATA_SIZES)
def test_differences_turns_and_members_of_what_a_mask_leaves(text: str) -> None:
    agree(source(f"def program(x):\n    return {text}"), np.array([3.0, -1, 2, 5, -4]))


def test_bufferized_functions_are_copied_and_pickled_as_functions_are() -> None:
    from tracebuf.testing import programs

    held = bufferize(programs.generate)
    assert copy.deepcopy([held])[0] is held and copy.copy(held) is held
    assert held.__reduce__() == "generate"


def test_numbers_that_are_reshaped_stay_numbers() -> None:
    for text in ("np.transpose(a.sum())", "np.reshape(a.sum(), ())", "np.squeeze(a[0])", "np.moveaxis(a.max(), (), ())",
                 "np.transpose(2.5), np.reshape(3, ())"):  # fmt: skip
        agree(source(f"def program(a):\n    return {text}"), floats(4))


def test_rounding_to_more_digits_than_an_int_of_c() -> None:
    agree(source("def program(a, n):\n    return np.round(a, n)"), np.arange(3), -(2**63))
