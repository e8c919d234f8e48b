"""Loops over lists and tuples of many alike items are traced once; those that are not alike, or not better as one loop,
item by item."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tracebuf
from tests.support.agreement import agree, arrays_in, program, refused
from tests.support.params import one_in, slow_but
from tracebuf.testing.ladder import climb

N = 11


def arrays(*shape: int, count: int = N, dtype: Any = float) -> list[np.ndarray]:
    random = np.random.default_rng(3)
    return [random.uniform(-1, 1, shape).astype(dtype) for _ in range(count)]


def picks(f: Callable[..., Any], *args: Any) -> int:
    """How many items a program picks from lists by their number."""
    return tracebuf.bufferize(f).lower(*args).as_text("traced").count('"tracebuf.pick"(')


# -- traced once
def last(xs, h, w, r, b):
    for x in xs:
        h = np.tanh(x @ w + h @ r + b)
    return h


def pairs(layers, x):
    for w, b in layers:
        x = np.maximum(x @ w + b, 0)
    return x


def zipped(ws, bs, x):
    for w, b in zip(ws, bs):
        x = np.maximum(x @ w + b, 0)
    return x


def numbered(ws, out, x):
    for k, w in enumerate(ws):
        x = x @ w
        out[k] = x.sum()
    return x


def backwards(ws, x):
    for w in reversed(ws):
        x = w @ x
    return x


def of_a_dict(ws, x):
    for w in ws.values():
        x = w @ x
    return x


def total(xs):
    s = 0.0
    for x in xs:
        s = s + (x * x).sum()
    return s


def into_rows(xs, out):
    k = 0.0
    for i, x in enumerate(xs):
        out[i, :] = np.exp(x)
        k = k + out[i, 0]
    return k


def nested(ws, vs, x):
    for w in ws:
        for v in vs:
            x = np.tanh(w @ x + v)
        x = w @ x
    return x


def made_inside(x):
    ws = [x * 1.0, x + 2.0, x - 1.0, x * x, x / 3, x - 5, x + 1, x * 0.1, x * 0.2, x * 0.3]
    y = x
    for w in ws:
        y = np.tanh(w @ y)
    return y


def in_a_loop(ws, x, n):
    for _ in range(n):
        for w in ws:
            x = np.tanh(w @ x)
    return x


def by_number(ws, bs, x):
    for k in range(len(ws)):
        w = ws[k]
        x = np.maximum(w @ x + bs[k], 0)
    return x


def by_number_backwards(ws, x):
    for k in range(len(ws) - 1, -1, -2):
        x = ws[k] @ x
    return x


def number_before(xs, y):
    for k in range(len(xs)):
        y = xs[k - 1] @ y
    return y


square, vectors = arrays(4, 4), arrays(4)
ONCE: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "arrays": (last, (arrays(2, 3), np.zeros((2, 4)), arrays(3, 4)[0], square[0], vectors[0])),
    "a carried array of its own": (
        lambda xs, w, r: last(xs, np.zeros((2, 4)), w, r, 1.0), (arrays(2, 3), arrays(3, 4)[0], square[0])),
    "tuples of arrays": (pairs, (list(zip(square, vectors)), np.ones((2, 4)))),
    "zip": (zipped, (square, tuple(vectors), np.ones((2, 4)))),
    "enumerate": (numbered, (square, np.zeros(N), np.ones((2, 4)))),
    "reversed": (backwards, (square, np.ones(4))),
    "a dict's values": (of_a_dict, ({str(k): w for k, w in enumerate(square)}, np.ones(4))),
    "sums": (total, (arrays(3, 2),)),
    "sums of float32": (total, (arrays(3, 2, dtype=np.float32),)),
    "sums of no elements": (total, (arrays(0, 2),)),
    "sums of one element": (total, (arrays(1, 1),)),
    "rows": (into_rows, (arrays(5), np.zeros((N, 5)))),
    "Fortran's order": (total, ([np.asfortranarray(x) for x in arrays(3, 2)],)),
    "strides": (total, ([x[::2, 1:] for x in arrays(6, 4)],)),
    "a list in a list's loop": (nested, (square, vectors, np.ones(4))),
    "made inside": (made_inside, (np.eye(3) / 2,)),
    "by number": (by_number, (square, vectors, np.ones(4))),
    "by number, backwards": (by_number_backwards, (arrays(4, 4, count=19), np.ones(4))),
    "the number before": (number_before, (square, square[0])),
    "in a loop": (in_a_loop, (square, np.ones(4), 3)),
}  # fmt: skip


@pytest.mark.parametrize("name", slow_but(("strides",), ONCE))
def test_a_loop_over_alike_items_is_traced_once(name: str) -> None:
    f, args = ONCE[name]
    assert picks(f, *args)
    agree(f, *args, ulp=200)


@pytest.mark.slow
@pytest.mark.parametrize("name", [n for n in ONCE if n != "a carried array of its own"])
def test_on_every_rung(name: str) -> None:
    f, args = ONCE[name]
    climb(f, args, tolerance=1e-12)


# -- lists that are appended to: their items are arrays of their own
def recurrent(xs, h, w, r, b):
    found = []
    for x in xs:
        h = np.tanh(x @ w + h @ r + b)
        found.append(h)
    return found


def with_its_last(xs, h, w, r):
    found = []
    for x in xs:
        h = np.tanh(x @ w + h @ r)
        found.append(h)
    return found, h


def of_pairs(xs, h, c, w, r):
    found, states = [], []
    for x in xs:
        c = c * 0.5 + x @ w
        h = np.tanh(c) @ r
        found.append((h, c))
        states.append(h + 1)
    return {"found": found, "states": states}


def changed_after(xs, y):
    found = []
    for x in xs:
        y = x * y
        found.append(y)
        y += 1
    return found, y


def changed_in_the_next(xs):
    found = []
    y = np.zeros_like(xs[0])
    for x in xs:
        y += 1
        y = x * y
        found.append(y)
    return found


def without_carrying(xs):
    found = []
    for x in xs:
        found.append(np.exp(x) * x.sum())
    return found


def comprehended(xs):
    return [np.exp(x) * 2 + x.sum() for x in xs]


def comprehended_pairs(xs, ys):
    found = [(x - y, x.T @ y) for x, y in zip(xs, ys)]
    return found, 3


def after_others(xs, y):
    found = [y, y * 2]
    for x in xs:
        y = x @ y
        found.append(y)
    return found


APPENDED: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "carried": (recurrent, ONCE["arrays"][1]),
    "the last one too": (with_its_last, ONCE["arrays"][1][:-1]),
    "pairs, two lists": (of_pairs, (arrays(2, 3), np.zeros((2, 4)), np.zeros((2, 4)), arrays(3, 4)[0], square[0])),
    "changed after": (changed_after, (arrays(5), np.ones(5))),
    "changed in the next iteration": (changed_in_the_next, (arrays(5),)),
    "not carried": (without_carrying, (arrays(5),)),
    "a comprehension": (comprehended, (arrays(3, 4),)),
    "a comprehension of pairs": (comprehended_pairs, (arrays(3, 4), arrays(3, 4))),
    "behind others": (after_others, (square, np.ones(4))),
}


@pytest.mark.parametrize("name", slow_but(("carried",), APPENDED))
@pytest.mark.slow
def test_what_is_appended_owns_its_elements(name: str) -> None:
    f, args = APPENDED[name]
    agree(f, *args, ulp=200)
    assert all(x.base is None for x in arrays_in(tracebuf.bufferize(f)(*args)))


@pytest.mark.slow
@pytest.mark.parametrize("name", APPENDED)
def test_appended_on_every_rung(name: str) -> None:
    f, args = APPENDED[name]
    climb(f, args, tolerance=1e-12)


# -- traced item by item
def stored_to(xs, y):
    for x in xs:
        x += y @ x
    return xs


def another_stored_to(xs, y):
    for x in xs:
        xs[3][0] = y @ x
        y = np.sqrt(np.abs(xs[0] @ x)) * y
    return y


def kept(xs, y):
    for x in xs:
        y = y @ x
        z = x
    return y, z


def part_kept(xs, y):
    for x in xs:
        z = x[:2]
        y = y @ x
    z[0] = 7
    return y


def gathered(xs):
    found = []
    for x in xs:
        found.append(x)
    return found


def asked(xs, y):
    for x in xs:
        y = y @ x
        if x is xs[2]:
            y = y + 1
    return y


def list_changed(xs, y):
    for k, x in enumerate(xs):
        xs[k] = y @ x
    return xs


def list_shrinks(xs, y):
    for x in xs:
        y = y @ x
        if len(xs) > 4:
            xs.pop()
    return y


def by_number_stored_to(xs, y):
    for k in range(len(xs)):
        xs[k] -= y @ xs[k]
    return xs


def by_number_kept(xs, y):
    z = y
    for k in range(len(xs)):
        y = y @ z
        z = xs[k]
    return y


def known_after(xs, y):
    for x in xs:
        y = y @ x
    return y, x


def counted(xs, y):
    k = 0
    for x in xs:
        y = (y @ x)[: 4 - k % 2, :] if k < 1 else y @ x
        k += 1
    return y, k


def fused(xs, y):
    for x in xs:
        y = y + x
    return y


def some_appended(xs):
    found = []
    for x in xs:
        if x.sum() > 0:
            found.append(x * 2)
        else:
            found.append(x * 3)
    return found


def view_appended(xs):
    found = []
    for x in xs:
        y = x * 2
        found.append(y[:2])
        y += 1
    return found


def view_of_appended(xs):
    found = []
    z = None
    for x in xs:
        y = x * 2
        z = y[:2]
        found.append(y)
    z += 1
    return found


def read_again(xs):
    found = [xs[0] * 1]
    for x in xs:
        found.append(found[-1] @ x)
    return found


def joined(xs):
    return np.stack([np.exp(x) * x.sum() for x in xs])


def one_appended_twice(xs):
    found = []
    for x in xs:
        y = x * 2
        found.append(y)
        found.append(y)
    return found


def two_names(xs):
    a = b = []
    for x in xs:
        a.append(x * 2)
        b.append(x * 3)
    return a, b


def in_another(xs):
    found = []
    both = {"found": found}
    for x in xs:
        found.append(x * 2)
        both["found"].append(x * 3)
    return found


def by_a_function(xs):
    found = []

    def add(x):
        found.append(x * 2)

    for x in xs:
        add(x)
    return found


def appended_from_before(xs, y):
    z = y * 2
    found = []
    for x in xs:
        z += x @ x
        found.append(z)
    return found


OTHERWISE: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    f.__name__: (f, args)
    for f, args in [
        (stored_to, (square, square[0])), (another_stored_to, (vectors, np.ones(4))), (kept, (square, square[0])),
        (part_kept, (square, square[0])), (gathered, (vectors,)), (asked, (square, square[0])),
        (list_changed, (square, square[0])), (list_shrinks, (square, square[0])), (known_after, (square, square[0])),
        (counted, (square, square[0])), (fused, (vectors, np.ones(4))), (some_appended, (vectors,)),
        (view_appended, (vectors,)), (view_of_appended, (vectors,)), (read_again, (square,)), (joined, (vectors,)),
        (by_number_stored_to, (square, square[0])),
        (by_number_kept, (square, square[0])),
        (one_appended_twice, (vectors,)), (in_another, (vectors,)),
        (by_a_function, (vectors,)), (appended_from_before, (vectors, np.ones(4))),
    ]
}  # fmt: skip


@pytest.mark.parametrize("name", slow_but(("kept", "fused"), OTHERWISE))
def test_what_one_loop_cannot_do_is_traced_item_by_item(name: str) -> None:
    f, args = OTHERWISE[name]
    assert not picks(f, *args)
    agree(f, *args, ulp=200)


@pytest.mark.slow
@pytest.mark.parametrize("name", OTHERWISE)
def test_items_on_every_rung(name: str) -> None:
    f, args = OTHERWISE[name]
    climb(f, args, tolerance=1e-12)


@pytest.mark.slow
def test_two_names_of_one_list_grow_together() -> None:
    agree(two_names, vectors)
    climb(two_names, (vectors,))


@pytest.mark.slow
def test_items_of_other_sizes_are_another_program() -> None:
    """That they are alike is guarded."""
    f = tracebuf.bufferize(total)
    assert agree(f, arrays(3, 2)) is not None
    agree(f, arrays(4, 5))
    agree(f, [*arrays(3, 2, count=N - 1), np.ones((2, 2))], ulp=4)
    agree(f, [*arrays(3, 2, count=N - 1), np.ones((2, 2), np.float32)], ulp=4)
    with pytest.raises(ValueError, match="matmul"):
        tracebuf.bufferize(last)(*ONCE["arrays"][1][:2], np.ones((4, 4)), *ONCE["arrays"][1][3:])


@pytest.mark.slow
def test_an_array_that_is_in_a_list_twice() -> None:
    xs = arrays(4, 4)
    xs[2] = xs[7]
    agree(backwards, xs, np.ones(4), ulp=200)
    agree(stored_to, xs, xs[0], ulp=200)


class Layer:
    def __init__(self, w: Any, b: Any = 0.0) -> None:
        self.w, self.b = w, b


LISTS_OF_OBJECTS = [
    "for i in range(n):\n    out.append({'w': a * i, 'b': a[i]})\nreturn sum(x['w'].sum() + x['b'] for x in out), out",
    "for i in range(n):\n    out.append(Layer(a[i]))\nfor x in out:\n    x.w += 1\nreturn out[0].w, out[-1].w",
    "for i in range(n):\n    out.append(Layer(a[i:], a[0]))\nfor _ in range(3):\n    for x in out:\n"
    "        x.w = x.w * 2 + x.b\nreturn out[0].w, out[n - 1].w",
    "out = [Layer(a[i]) for i in range(n)]\nfor i in range(n):\n    out[i].b = out[i].w * n\nreturn [x.b for x in out]",
    "for i in range(n):\n    out.append([a[i:], a[:i]])\nreturn out",
    "for i in range(n):\n    for k in range(i):\n        out.append({'x': a[k]})\nreturn len(out), out",
    "for i in range(len(a)):\n    if i % 2 == 0:\n        out.append({'x': a[i]})\nreturn [x['x'] for x in out]",
]


@pytest.mark.parametrize("text", one_in(2, LISTS_OF_OBJECTS))
@pytest.mark.cases(8)
def test_lists_that_get_objects_in_a_loop_of_few_iterations(text: str) -> None:
    """The loop is unrolled; how often it runs is part of the key."""
    f = program("def f(a, n):\n    out = []\n    " + text.replace("\n", "\n    "), Layer=Layer)
    for n in (1, 2, 4):
        agree(f, np.linspace(1, 2, 5), n)


def test_a_list_that_gets_functions_in_a_long_loop_is_refused() -> None:
    text = "def f(a, n):\n    out = []\n    for i in range(n):\n        out.append({})\n    return {}"
    f = program(text.format("lambda i=i: a[0] * i", "[x() for x in out]"))
    assert "a list changes its length" in str(refused(f, np.ones(3), 100))
    agree(program(text.format("dict(x=a[0] * i)", "out")), np.ones(3), 100)


def test_extremes_of_vectors_that_may_be_empty() -> None:
    f = program("def f(a, t):\n    return max(a[a > t]), min(a[a > t]) if t < 2 else 0")
    for t in (0.0, 1.5, 3.0):
        agree(f, np.array([1.0, np.nan, 2.0]), t)


def test_lists_of_numbers_grow_and_are_for_any_number_of_iterations() -> None:
    text = "for i in range(n):\n        out.append(a[i])"
    f = tracebuf.bufferize(program(f"def f(a, n):\n    out = []\n    {text}\n    return np.array(out)"))
    assert [f(np.arange(9.0), n).tolist() for n in (2, 3, 5)] == [[0, 1], [0, 1, 2], [0, 1, 2, 3, 4]]
    assert len(f.specializations()) == 1


SORTED = [
    "sorted((a[1], a[0], a[2]))", "sorted([n, 3, n * 2], reverse=True), sorted([float(a[0]), 1.5])",
    "sorted([(a[0], 1), (a[1], 0), (a[0], 0)])", "sorted([a[0], a[1], a[2]])[1], sorted([a[0], 1])",
    "sorted((a[0], a[1]))[0], sorted([a[0], float('nan')][:1])", "sorted([a[0], a[1]], reverse=n > 1)",
]  # fmt: skip


@pytest.mark.parametrize("e", SORTED)
def test_few_numbers_that_only_the_run_time_knows_are_sorted(e: str) -> None:
    f = program(f"def f(a, n):\n    return {e}")
    agree(f, np.array([3.0, 1.0, 2.0]), 2)
    if e == SORTED[0]:
        agree(f, np.array([np.nan, 1.0, -2.0]), 2)


MADE_ANEW = """
def f(x, rounds):
    roots = []
    for v in x:
        roots.append(v)
    tot = 0.0
    for _ in range(rounds):
        new = []
        for r in roots:
            new.append(r * 0.5)
        {statement}
        roots = new
    return roots, tot
"""


@pytest.mark.parametrize("statement", one_in(3, [
    "tot += max(abs(p) for p in new)", "tot += sum([abs(p) for p in new])", "tot += len({abs(p) for p in new})",
    "tot += max(abs(p - q) for p, q in zip(new, roots))", "tot += sum([p for p in roots for q in new])",
    "tot += sum(map(lambda p: p * 2, new))",
]))  # fmt: skip
def test_a_list_made_anew_in_each_iteration_of_what_a_comprehension_reads(statement: str) -> None:
    """What comprehensions read was live everywhere, so that loops carried it."""
    agree(program(MADE_ANEW.replace("{statement}", statement)), np.arange(1.0, 9.0), 4)
    agree(program(MADE_ANEW.replace("{statement}", statement)), np.arange(1.0, 4.0), 1)


def test_what_a_generator_reads_later() -> None:
    """It is evaluated where it is gone through, with what names hold then."""

    def f(x, n):
        scale, out = 1.0, []
        for k in range(n):
            scaled = (v * scale for v in x)
            scale = scale + k
            out.append(sum(scaled))
        return out, scale

    agree(f, np.arange(4.0), 5)
    agree(f, np.arange(4.0), 0)


@pytest.mark.slow
def test_a_loop_over_many_items_that_is_left_by_the_data_is_refused() -> None:
    """Each item is traced inside of the one before: Python's stack was full, which was an InternalError."""
    f = program("""
        def f(n):
            for v in [*range(400)]:
                if not n:
                    break
            return v
    """)
    assert "may be left early" in refused(f, 1.0).reason


@pytest.mark.slow
def test_a_loop_over_thousands_of_items_is_refused_before_all_are_traced() -> None:
    f = program("""
        def f(a):
            for n in [v * w for v in range(100) for w in range(100)]:
                a = np.array([n])
            return a
    """)
    assert "operations" in refused(f, np.ones(1)).reason


# -- left early, or by a `while`
def broken(x, most):
    s = 0.0
    for i in range(len(x)):
        if x[i][0] > most:
            break
        s += x[i][1]
    return s


def returned(x, most):
    for i in range(len(x)):
        if x[i][0] > most:
            return i
    return -1


def broken_over_items(x, most):
    s = 0.0
    for v in x:
        if v[0] > most:
            break
        s += v[1]
    else:
        s = -s
    return s


def index_after_the_loop(x, most):
    for i in range(len(x)):
        if x[i][0] > most:
            break
    return i, x[3][0] + i


def two_items_in_branches(x, most):
    s = 0.0
    for i in range(len(x)):
        if i + 2 < len(x):
            s += (x[i + 2] * x[i])[0]
        else:
            s -= 1
        if s > 50 * most:
            return s
    return s


def within_each_other(x, most):
    t = 0.0
    for i in range(len(x)):
        for j in range(i):
            d = x[i] - x[j]
            if d[0] > most:
                return t
            t += d[1]
    return t


def summed_by_a_counter(x, most):
    i, s = len(x) - 1, 0.0
    while i >= 0:
        s += x[i].sum()
        if s > 9 * most:
            break
        i -= 1
    return s, i


def found_by_a_counter(x, most):
    i = 0
    while i < len(x) and x[i][0] < most:
        i += 1
    return i


def found_by_bisection(x, most):
    low, high = 0, len(x) - 1
    while low < high:
        middle = (low + high) // 2
        if x[middle][0] < most:
            low = middle + 1
        else:
            high = middle
    return low


def counters_within_each_other(x, most):
    i, t = 0, 0.0
    while i < len(x):
        j = 0
        while j < i:
            t += abs(x[i] - x[j]).max()
            j += 1
        i += 1
    return t


def past_the_end(x, most):
    i, s = 0, 0.0
    while s < 1e6:
        s += x[i][0]
        i += 1
    return s


def negative_numbers(x, most):
    i, s = -1, 0.0
    while i > -2 * most:
        s += x[i][0]
        i -= 1
    return s


def divided_in_a_branch(x, most):
    k, s = int(most) - 4, 0.0
    for i in range(len(x)):
        if k != 0:
            s += x[i][0] / k
        if s > 30 * most:
            break
    return s


PICKED = [
    broken, returned, broken_over_items, index_after_the_loop, two_items_in_branches, within_each_other,
    summed_by_a_counter, found_by_a_counter, found_by_bisection, counters_within_each_other, past_the_end,
    negative_numbers, divided_in_a_branch,
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("f", PICKED)
def test_items_are_picked_in_loops_that_are_left_early(f: Callable[..., Any]) -> None:
    """They met the limit of 32 unrolled iterations, and a `while` took no item by its counter at all."""
    x = [np.array([1.0 * k, 2]) for k in range(40)]
    assert 1 <= picks(f, x, 7.5) <= 8
    climb(f, (x, 7.5), again=[(x, 4.0), (x, 1000.0), (x[:33], 7.5)])


def test_hundreds_of_items_meet_no_limit() -> None:
    x = [np.array([1.0 * k, 2]) for k in range(250)]
    f = tracebuf.bufferize(returned)
    assert (f(x, 100.5), f(x, 1e9)) == (101, -1)


def stored_and_else(x, most):
    n = 0
    for i in range(len(x)):
        x[i][0] = n
    else:
        n += 1
    return n


def stored_left_and_else(x, most):
    s = 0.0
    for i in range(len(x)):
        for j in range(2):
            s += x[j][1]
        x[i][0] = s
        if s > most:
            break
    else:
        s += 100.0
    return s


def kept_and_returned(x, most):
    s, best = 0.0, x[0]
    for i in range(len(x)):
        for j in range(2):
            s += x[j][1]
        best = x[i]
        if s > most:
            break
    else:
        return s + 100, best
    return s


@pytest.mark.parametrize("f", [stored_and_else, stored_left_and_else, kept_and_returned])
@pytest.mark.cases(3)
def test_else_of_loops_that_are_traced_item_by_item_after_all(f: Callable[..., Any]) -> None:
    """It ran twice, and after a `break`."""
    for most in (2.0, 5000.0):
        agree(f, [np.array([1.0 * k, 2 + k]) for k in range(12)], most)
    agree(stored_and_else, [np.zeros(2) for _ in range(36)], 0)


def kept_in_a_branch(x, most):
    best = x[0]
    for i in range(len(x)):
        if x[i][0] > most:
            best = x[i]
            break
    return best


def stored_to_in_a_branch(x, most):
    y, s = x[3], 0.0
    for i in range(len(x)):
        v = x[i]
        if i > most - 5:
            y += 1
        s += v[0]
        if s > 1e6:
            break
    return s


@pytest.mark.parametrize(("f", "what"), [(kept_in_a_branch, "kept"), (stored_to_in_a_branch, "stored to")])
def test_items_that_are_kept_or_stored_to_are_not_picked(f: Callable[..., Any], what: str) -> None:
    x = [np.array([1.0 * k, 2]) for k in range(40)]
    assert f"an item of a list is {what} in a loop over it" in refused(f, x, 7.5).reason
    agree(f, x[:12], 7.5)
