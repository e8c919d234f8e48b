"""What is written in Python and traced like the user's code: iterators, folds, and control flow on values.

Errors are reported at the caller's line. An iterator is a generator expression, so that a loop over it is a loop, and
its items are computed as late as Python's. A fold is a loop over `items`, into which a generator's own loops and tests
are written (`folds`): `sum(x for x in a if x > 0)` becomes a loop with an `if`. `fori_loop`, `while_loop` and `cond`
are what JAX documents, for functions that are traced by running them; where the source can be read a plain `for`,
`while` or `if` does the same.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from tracebuf.frontends.numpy.call import progress
from tracebuf.frontends.numpy.functions.formulas.primitives import check_no_nan, check_room, sort_by_python
from tracebuf.frontends.numpy.record.raises import NO_ITEMS

T = TypeVar("T")
FILE = __file__


# -- numbers
def power_of_ints(a: Any, b: Any) -> Any:
    """a ** b of ints, where only the run time knows the sign of b."""
    return a**b if b >= 0 else float(a) ** b


def squeezed(a: Any, ones: tuple[int, ...], axis: int) -> Any:
    """a.squeeze(), where only the run time knows whether an axis is of size 1, beside those in `ones`."""
    if a.shape[axis] == 1:
        return np.squeeze(a, (*ones, axis))
    return np.squeeze(a, ones) if ones else a


def factorial_of(n: int) -> int:
    """math.factorial(n)."""
    if n < 0:
        raise ValueError("factorial() not defined for negative values")
    made = 1
    for k in range(2, n + 1):
        made *= k
    return made


def perm_of(n: int, k: Any = None) -> int:
    """math.perm(n, k)."""
    if k is None:
        return factorial_of(n)
    if n < 0:
        raise ValueError("n must be a non-negative integer")
    if k < 0:
        raise ValueError("k must be a non-negative integer")
    made = 1
    for j in range(min(k, n + 1)):
        made *= n - j
    return made


def comb_of(n: int, k: int) -> int:
    """math.comb(n, k): no product on the way is larger than the result."""
    if n < 0:
        raise ValueError("n must be a non-negative integer")
    if k < 0:
        raise ValueError("k must be a non-negative integer")
    made = 1 if k <= n else 0
    for j in range(min(k, n - k)):
        common = math.gcd(made, j + 1)
        made = made // common * ((n - j) // ((j + 1) // common))
    return made


# -- iterators
def map_of(f: Any, items: Any) -> Any:
    """map(f, items)."""
    return (f(x) for x in items)


def star_map_of(f: Any, items: Any) -> Any:
    """itertools.starmap(f, items), and map of several iterables."""
    return (f(*xs) for xs in items)


def filter_of(f: Any, items: Any) -> Any:
    """filter(f, items)."""
    return (x for x in items if f(x))


def filter_false_of(f: Any, items: Any) -> Any:
    """itertools.filterfalse(f, items)."""
    return (x for x in items if not f(x))


def compress_of(pairs: Any) -> Any:
    """itertools.compress of items and selectors, side by side."""
    return (x for x, selected in pairs if selected)


def chain_of(iterables: Any) -> Any:
    """itertools.chain.from_iterable(iterables)."""
    return (x for items in iterables for x in items)


def ndenumerate_of(a: Any) -> Any:
    """np.ndenumerate(a)."""
    array = np.asarray(a)
    return ((index, array[index]) for index in np.ndindex(array.shape))


# -- folds
def sum_of(items: Any, total: Any) -> Any:
    """sum(items, total)."""
    for x in items:
        total = total + x
    return total


def any_of(items: Any) -> bool:
    """any(items)."""
    found = False
    for x in items:
        if x:
            found = True
            break
    return found


def all_of(items: Any) -> bool:
    """all(items)."""
    found = True
    for x in items:
        if not x:
            found = False
            break
    return found


def extreme_of(items: Any, beyond: Any, name: str, default: Any) -> Any:
    """min(items) or max(items): the first that no later one is beyond; `default` holds what there is without items."""
    best: Any
    found = False
    for x in items:
        if not found or beyond(x, best):  # noqa: F821
            best = x
            found = True
    if default:
        if not found:
            return default[0]
    elif not found:
        raise ValueError(name + NO_ITEMS)
    return best


def extreme_by_key_of(items: Any, beyond: Any, name: str, default: Any, key: Any) -> Any:
    """min(items, key=key) or max."""
    best: Any
    most: Any
    found = False
    for x in items:
        k = key(x)
        if not found or beyond(k, most):  # noqa: F821
            best, most, found = x, k, True
    if default:
        if not found:
            return default[0]
    elif not found:
        raise ValueError(name + NO_ITEMS)
    return best


def place_of_extreme(items: Any, high: bool, message: str, key: Any) -> int:
    """The place of max(items, key=key) (`high`), or of min."""
    most: Any
    place, n = 0, 0
    for x in items:
        k = key(x)
        if n == 0 or (k > most if high else k < most):  # noqa: F821
            place, most = n, k
        n += 1
    if n == 0:
        raise ValueError(message)
    return place


def next_of(items: Any, default: Any) -> Any:
    """next(items, default)."""
    for x in items:
        return x
    return default


def next_taken(items: Any, default: Any) -> Any:
    """next(items, *default)."""
    for x in items:
        return x
    if default:
        return default[0]
    raise StopIteration


def pairwise_of(items: Any) -> Any:
    """itertools.pairwise of a list that does not change meanwhile."""
    return ((items[k], items[k + 1]) for k in range(len(items) - 1))


def accumulate_of(items: Any, f: Any) -> Any:
    """itertools.accumulate(items, f) of a list."""
    if len(items) > 0:
        total = items[0]
        yield total
        for k in range(1, len(items)):
            total = f(total, items[k])
            yield total


def accumulate_from(items: Any, f: Any, total: Any) -> Any:
    """itertools.accumulate(items, f, initial=total)."""
    yield total
    for x in items:
        total = f(total, x)
        yield total


def plus(a: Any, b: Any) -> Any:
    """a + b."""
    return a + b


def groupby_of(items: Any, key: Any) -> Any:
    """itertools.groupby(items, key) of a list or array."""
    n, start = len(items), 0
    if n > 0:
        last = key(items[0])
        check_no_nan(last)
        now = last
        while start < n:
            stop = start + 1
            while stop < n:
                now = key(items[stop])
                check_no_nan(now)
                if now != last:
                    break
                stop += 1
            yield last, iter(items[start:stop])
            start, last = stop, now


def itself(x: Any) -> Any:
    """x."""
    return x


def first_given(it: Any, default: Any) -> Any:
    """next(it, *default) of a generator function's, of which nothing more is taken."""
    found, there = default[0] if default else None, False
    for x in it:
        found, there = x, True
        break
    if not there and not default:
        raise StopIteration
    return found


def next_asked(it: Any, default: Any) -> Any:
    """next(it, *default) of an object of the user's."""
    if not default:
        return it.__next__()
    try:
        found = it.__next__()
    except StopIteration:
        found = default[0]
    return found


def reduce_of(items: Any, total: Any, f: Any) -> Any:
    """functools.reduce(f, items, total)."""
    for x in items:
        total = f(total, x)
    return total


def reduce_first_of(items: Any, f: Any) -> Any:
    """functools.reduce(f, items)."""
    total: Any
    found = False
    for x in items:
        total, found = f(total, x) if found else x, True  # noqa: F821
    if not found:
        raise TypeError("reduce() of empty iterable with no initial value")
    return total


def prod_of(items: Any, total: Any) -> Any:
    """math.prod(items, start=total)."""
    for x in items:
        total = total * x
    return total


def cached(memo: Any, most: Any, f: Any, *key: Any) -> Any:
    """f(*key) of functools.lru_cache, of which no result is given up."""
    if key not in memo:
        found = f(*key)
        check_room(len(memo), most)
        memo[key] = found
    return memo[key]


# -- lists whose length only the run time knows
def list_of(items: Any, made: Any) -> None:
    """list(items)."""
    for x in items:
        made.append(x)


def set_of(items: Any, made: Any) -> None:
    """set(items)."""
    for x in items:
        made.add(x)


def stretches(made: Any, a: Any, places: Any) -> None:
    """np.array_split(a, places), where only the run time knows how many places there are."""
    start = 0
    for stop in places:
        made.append(a[start:stop])
        start = stop
    made.append(a[start:])


def dict_of_keys(keys: Any, value: Any = None) -> Any:
    """dict.fromkeys(keys, value)."""
    return {key: value for key in keys}  # noqa: C420


def dict_of_dict(d: Any) -> Any:
    """dict(d)."""
    return {key: value for key, value in d.items()}  # noqa: C416


def dict_of(items: Any, made: Any) -> None:
    """dict(items)."""
    for x in items:
        made[x[0]] = x[1]


def counts_of(items: Any, made: Any) -> None:
    """Counter(items)."""
    for x in items:
        made[x] += 1


def sums_of(items: Any, made: Any) -> None:
    """Counter.update of counts."""
    for x in items:
        made[x[0]] = x[1] + made[x[0]]


def with_room(column: Any, n: int) -> Any:
    """The n elements of a list, with room for one more: in the same memory while there is some."""
    if n == column.shape[0]:
        more = np.empty((2 * n + (16 if column.ndim == 1 else 4), *column.shape[1:]), column.dtype)
        more[:n] = column
        column = more
    return column


def appended_last(column: Any, n: int, x: Any, most: int) -> Any:
    """The elements of a deque and one more; without the first if there are `most`."""
    if n == most:
        column[: n - 1] = column[1:n]
        n = n - 1
    if n == column.shape[0]:
        more = np.empty((2 * n + (16 if column.ndim == 1 else 4), *column.shape[1:]), column.dtype)
        more[:n] = column
        column = more
    column[n] = x
    return column


def at_most(n: int, most: int) -> int:
    """The number of items of a deque."""
    if n > most:
        n = most
    return n


def replaced(column: Any, k: int, x: Any) -> None:
    """Puts another item at place k."""
    column[k] = x


def without(column: Any, n: int, k: int) -> Any:
    """The elements of a list without number k."""
    column[k : n - 1] = column[k + 1 : n]
    return column


def inserted(column: Any, n: int, k: int, x: Any) -> Any:
    """The elements of a list with one more before number k; there is room for it."""
    column[k + 1 : n + 1] = column[k:n]
    column[k] = x
    return column


def place_among(n: int, k: int) -> int:
    """The start or stop of a slice of n items, or before which `insert` puts one, as a place among them."""
    if k < 0:
        k = k + n
    if k < 0:
        k = 0
    if k > n:
        k = n
    return k


def spliced(column: Any, n: int, start: int, stop: int, more: Any, m: int) -> Any:
    """The n elements of a list with m others in the place of those from `start` to `stop`."""
    total = n - (stop - start) + m
    if total > column.shape[0]:
        longer = np.empty((2 * total, *column.shape[1:]), column.dtype)
        longer[:n] = column[:n]
        column = longer
    if total != n:
        column[start + m : total] = column[stop:n]
    column[start : start + m] = more[:m]
    return column


def rotated(column: Any, n: int, by: int) -> Any:
    """The n elements of a deque with the last `by` in front of the others."""
    if n > 1:
        k = n - by % n
        if k < n:
            column[:n] = np.concatenate((column[k:n], column[:k]))
    return column


def place_in_order(items: Any, x: Any, lo: Any, hi: Any, key: Any, left: bool) -> Any:
    """bisect.bisect_left (`left`) or bisect_right."""
    if lo < 0:
        raise ValueError("lo must be non-negative")
    if hi is None:
        hi = len(items)
    while lo < hi:
        middle = (lo + hi) // 2
        y = items[middle]
        if key is not None:
            y = key(y)
        before = y < x if left else not x < y
        if before:
            lo = middle + 1
        else:
            hi = middle
    return lo


def count_of(items: Any, x: Any) -> int:
    """items.count(x)."""
    found = 0
    for y in items:
        if y == x:
            found += 1
    return found


def first_place_of(items: Any, x: Any) -> int:
    """The number of the first item that equals x; -1 if there is none."""
    found = -1
    for k in range(len(items)):
        if items[k] == x:
            found = k
            break
    return found


def place_to_remove(items: Any, x: Any, message: str) -> int:
    """The number of the item that `remove` takes."""
    k = first_place_of(items, x)
    if k < 0:
        raise ValueError(message)
    return k


def place_of_item(items: Any, x: Any) -> int:
    """The number of the item that `index` of a list gives."""
    k = first_place_of(items, x)
    if k < 0:
        raise ValueError(f"{x!r} is not in list")
    return k


def ordered(items: Any, reverse: bool, signed: bool) -> None:
    """Sorts items, equal ones in their order (0.0 and -0.0 too); `signed`: floats, among which may be NaN."""
    if signed and np.any(np.isnan(items)):
        sort_by_python(items, reverse)
    elif reverse and signed:
        items[:] = -np.sort(-items, kind="stable")
    elif reverse:
        items[:] = np.sort(items)[::-1]
    else:
        items[:] = np.sort(items, kind="stable")


def order_of(columns: Any, reverse: bool) -> Any:
    """The numbers of items in their order: by the first column, then by the next; equal ones as they are."""
    order = np.arange(len(columns[0]))
    for column in columns[::-1]:
        found = column[order]
        if reverse:
            order = order[len(order) - 1 - np.argsort(found[::-1], kind="stable")[::-1]]
        else:
            order = order[np.argsort(found, kind="stable")]
    return order


def extreme_tuple(items: Any, columns: Any, n: int, high: bool, message: str, default: Any = ()) -> Any:
    """min(items) or max(items) of tuples, whose parts are in columns; `default` holds what there is without items."""
    if n == 0:
        if default:
            return default[0]
        raise ValueError(message)
    best = 0
    for k in range(1, n):
        for column in columns:
            if column[k] != column[best]:
                if (column[k] > column[best]) == high:
                    best = k
                break
    return items[best]


def extreme_of_few(items: Any, high: bool) -> Any:
    """min(items) or max(items) of a known number of tuples."""
    best = items[0]
    for item in items[1:]:
        if is_beyond(item, best, high):
            best = item
    return best


def is_beyond(a: Any, b: Any, high: bool) -> Any:
    """a > b (`high`) or a < b of tuples of one length."""
    for x, y in zip(a, b):
        check_no_nan(x)
        check_no_nan(y)
        if x != y:
            return (x > y) == high
    return False


def in_order(a: Any, b: Any, by: Any) -> Any:
    """Whether a tuple or list is `by` (<, <= ...) another: by the first items that differ, else by the lengths."""
    for x, y in zip(a, b):
        if x != y:
            if x != x and y != y:
                check_no_nan(x)
            return by(x, y)
    return by(len(a), len(b))


def taken(column: Any, order: Any) -> Any:
    """The elements of a list in another order."""
    return column[order]


def backwards(column: Any, n: int) -> Any:
    """The n elements of a list in reverse order: numbers in place."""
    if column.ndim > 1:
        column[:n] = column[:n][::-1]
        return column
    for k in range(n // 2):
        first, last = column[k], column[n - 1 - k]
        column[k], column[n - 1 - k] = last, first
    return column


def at_least_0(n: int) -> int:
    """How many items there are."""
    if n < 0:
        n = 0
    return n


def repeated(column: Any, n: int, times: int, total: int) -> Any:
    """The n elements of a list `times` times, which are `total`."""
    made = np.empty((total,), column.dtype)
    for j in range(times):
        for k in range(n):
            made[j * n + k] = column[k]
    return made


def are_equal(a: Any, b: Any, n: int, m: int) -> bool:
    """Whether a list of n items equals one of m, whose parts are in columns."""
    same = n == m
    if same:
        for x, y in zip(a, b):
            for k in range(n):
                if x[k] != y[k]:
                    same = False
                    break
    return same


def converted(column: Any, dtype: Any) -> Any:
    """The elements in memory of their own, in another dtype."""
    return column.astype(dtype)


def sum_of_arrays(column: Any, n: int, start: Any) -> Any:
    """sum(items, start) of a list of n arrays."""
    if n == 0:
        return start
    total = start + column[0]
    for k in range(1, n):
        total += column[k]
    return total


def stacked(make: Any, parts: Any, n: int) -> Any:
    """np.stack of a list of n arrays or tuples, whose array is `make(*parts)`."""
    if n == 0:
        raise ValueError("need at least one array to stack")
    return make(*parts)


def joined(make: Any, parts: Any, n: int) -> Any:
    """np.concatenate of such a list."""
    if n == 0:
        raise ValueError("need at least one array to concatenate")
    found = make(*parts)
    return found.reshape((found.shape[0] * found.shape[1], *found.shape[2:]))


def copied(column: Any) -> Any:
    """The elements in memory of their own."""
    return column.copy()


def are_some_of_numpys(flags: Any, n: int) -> Any:
    """Whether some of n numbers are NumPy's, or there are none; flags say which are Python's."""
    return n == 0 or not np.all(flags)


def are_some(flags: Any, n: int) -> Any:
    """Whether some of n flags hold, or there are none."""
    return n == 0 or np.any(flags)


def table_of(columns: Any, dtype: Any) -> Any:
    """np.array of a list of tuples, whose parts are in columns."""
    made = np.empty((len(columns[0]), len(columns)), dtype)
    for k, column in enumerate(columns):
        made[:, k] = column
    return made


def array_of(make: Any, parts: Any, n: int, dtype: Any) -> Any:
    """np.array of a list of n items, which `make(*parts)` is where there are any."""
    if n == 0:
        return np.empty(0, dtype)
    return make(*parts)


def check_fit(items: Any, low: int, high: int, dtype: str) -> None:
    """Raises for the first of a list's ints that an array of the dtype does not hold."""
    for x in items:
        if x < low or x > high:
            raise OverflowError(f"Python integer {x} out of bounds for {dtype}")


def called_with_array(f: Any, before: Any, make: Any, parts: Any, n: int, after: Any, named: Any) -> Any:
    """A call of f with np.array of a list of n items among its arguments."""
    if n == 0:
        return f(*before, np.empty(0), *after, **named)
    return f(*before, make(*parts), *after, **named)


def place_in(n: int, k: int, message: str) -> int:
    """The number of an item by its index."""
    if k < 0:
        k = k + n
    if k < 0 or k >= n:
        raise IndexError(message)
    return k


def getter(x: Any) -> Any:
    """x.__getitem__."""
    return lambda k: x[k]


def picked(items: Any, k: int, j: int = 0) -> Any:
    """Item k of a few, from item j on."""
    if j == len(items) - 1 or k == j:
        return items[j]
    return picked(items, k, j + 1)


def put(items: Any, k: int, value: Any, j: int = 0) -> None:
    """items[k] = value, of a few, from item j on."""
    if k == j:
        items[j] = value
    if j < len(items) - 1:
        put(items, k, value, j + 1)


def place_to_pop(n: int, k: int, message: str) -> int:
    """The number of the item that `pop` takes."""
    if n == 0:
        raise IndexError(message)
    if k < 0:
        k = k + n
    if k < 0 or k >= n:
        raise IndexError("pop index out of range")
    return k


# -- control flow on values
def fori_loop(lower: int, upper: int, body_fun: Callable[[int, T], T], init_val: T) -> T:
    """`body_fun(i, value)` for i from `lower` to before `upper`, each time with the value that it returned before.

    `init_val`, an array, a number or a nesting of tuples of them, is the first value; returns the last.
    Source: https://docs.jax.dev/en/latest/_autosummary/jax.lax.fori_loop.html
    """
    for i in range(lower, upper):
        init_val = body_fun(i, init_val)
    return init_val


def while_loop(cond_fun: Callable[[T], Any], body_fun: Callable[[T], T], init_val: T) -> T:
    """`body_fun(value)` again and again, as long as `cond_fun(value)` holds; returns the last value.

    Source: https://docs.jax.dev/en/latest/_autosummary/jax.lax.while_loop.html
    """
    while cond_fun(init_val):
        init_val = body_fun(init_val)
    return init_val


def cond(pred: Any, true_fun: Callable[..., T], false_fun: Callable[..., T], *operands: Any) -> T:
    """`true_fun(*operands)` if `pred` holds, else `false_fun(*operands)`; the other one is not run.

    Source: https://docs.jax.dev/en/latest/_autosummary/jax.lax.cond.html
    """
    if pred:
        result = true_fun(*operands)
    else:
        result = false_fun(*operands)
    return result


def enumerated(iterable: Any, start: Any = 0) -> Any:
    """enumerate of what a generator function gives."""
    n = operator.index(start)
    for x in iterable:
        yield n, x
        n += 1


def zipped_with(items: Any, other: Any) -> Any:
    """zip of what a generator function gives and what has a length."""
    k, n = 0, len(other)
    for x in items:
        if k >= n:
            break
        yield x, other[k]
        k += 1


def zipped_to(other: Any, items: Any) -> Any:
    """zip of what has a length and what a generator function gives, which is not asked for more."""
    k, n = 0, len(other)
    if n > 0:
        for x in items:
            yield other[k], x
            k += 1
            if k >= n:
                break


def along_bar(bar: Any, over: Any) -> Any:
    """What a progress bar is around, item by item."""
    for x in over:
        progress.advance(bar)
        yield x
    progress.end(bar, True)


def shuffled(x: list[Any], order: np.ndarray) -> None:
    """Puts the items of a list in the order of a shuffled arange."""
    before = list(x)
    for k in range(len(before)):
        x[k] = before[order[k]]
