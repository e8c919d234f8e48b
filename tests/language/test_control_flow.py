"""Loops, branches and calls: what Python does (rules F0, F1, F3, F4, Z2, Z3, N1, N2)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tracebuf
from tests.support.agreement import agree, program
from tests.support.arrays import vector
from tests.support.params import one_in
from tracebuf.frontends.numpy.interpreter import trace as interpreter_trace
from tracebuf.testing.ladder import climb

Program = Callable[..., Any]
SCALE = 3.0



# -- loops over one vector
def f1_bounds_are_fixed_once(a):
    n = len(a)
    for i in range(n):
        n = i
        a[i] += n
    return n + 0


def f1_prefix_sum(a):
    for i in range(1, len(a)):
        a[i] += a[i - 1]


def f1_backwards(a):
    for i in range(len(a) - 1, 0, -1):
        a[i] = a[i] - a[i - 1]


def f1_steps(a):
    for i in range(1, len(a), 3):
        a[i] = i
    for i in range(len(a) - 1, -1, -2):
        a[i] *= 2


def f1_nested_triangle(a):
    for i in range(len(a)):
        for j in range(i):
            a[i] += a[j] / (j + 1)


def f1_slices_by_the_loop_variable(a):
    for i in range(1, len(a)):
        a[:i] += a[i]
        a[i:] *= 0.5


def f1_moving_windows(a):
    b = np.zeros_like(a)
    for i in range(len(a)):
        b[i] = a[max(i - 2, 0) : i + 1].sum()
    return b


def f1_windows_of_a_stride(a):
    s = np.float64(0)
    for i in range(1, len(a)):
        s += a[i:].max()
    return s


def z3_negative_index_wraps(a):
    s = np.float64(0)
    for i in range(len(a)):
        if len(a) > 1:
            s = s + a[i - 1] * a[i - 2]
    return s


def z3_negative_loop_variable(a):
    for i in range(-len(a), 0):
        a[i] += i


def f1_view_made_in_the_loop(a):
    for i in range(len(a) - 1):
        v = a[i : i + 2]
        v += v[0]


def f1_view_made_before_the_loop(a):
    v = a[::-1]
    for i in range(len(a)):
        v[i] += a[i]
    return v


def f1_temporary_in_the_loop(a):
    for i in range(3):
        t = a * i
        t += 1
        a += t


def f1_fresh_array_stored_over(a):
    b = np.zeros(len(a))
    for i in range(4):
        b[...] = a + b * i
    return b


def n1_int_accumulator(a):
    s = 0
    for i in range(len(a)):
        s += i
    return s


def n1_int_and_float_accumulators(a):
    s, p, k = 0.0, 1.0, 0
    for i in range(len(a)):
        s += i * 0.5
        p *= 1.5
        k = k + 2 * i
    return s, p, k


def n1_np_accumulator(a):
    s = np.float64(0)
    m = a[0]
    for i in range(len(a)):
        s += a[i]
        if a[i] > m:
            m = a[i]
    return s, m


def n1_float_accumulator_of_elements(a):
    s = 0.0
    for i in range(a.shape[0]):
        s += a[i]
    return a * s


def f4_branch_on_an_element(a):
    for i in range(len(a)):
        if a[i] > 2:
            a[i] = 2
        elif a[i] < 0:
            a[i] *= -1
        else:
            a[i] += 0.25


def f4_branch_on_the_loop_variable(a):
    for i in range(len(a)):
        if i % 2 == 0:
            a[i] = 0
        if i == 0 or i == len(a) - 1:
            a[i] = 9


def f4_branch_on_a_size(a):
    if a.shape[0] > 5:
        return a * 2
    return a + 1


def f4_branch_makes_a_number(a):
    k = 1.5
    if a[0] > 0:
        k = 2.5
    return a * k


def f4_branch_of_views(a):
    if a[0] > a[-1]:
        a[1:] = a[:-1]
    else:
        a[:-1] += a[1:]
    return a


def f4_branch_stores_a_temporary(a):
    t = np.zeros_like(a)
    if a.sum() > 3:
        t += a
    else:
        t[0] = 1
    return t


def f4_nested_branches(a):
    s = 0.0
    for i in range(len(a)):
        if a[i] > 0:
            if i > 2:
                s += 1.0
            else:
                s += 0.5
        else:
            s -= 2.0
    return s


def f1_conditional_expression(a):
    b = np.empty_like(a)
    for i in range(len(a)):
        b[i] = a[i] if a[i] > 0 else -a[i]
    return b


def f1_and_does_not_evaluate_more(a):
    for i in range(len(a)):
        if i > 0 and a[i - 1] > 2:
            a[i] = -1


def f1_or_does_not_evaluate_more(a):
    for i in range(len(a)):
        if i == len(a) - 1 or a[i + 1] > 0:
            a[i] = 0


def f1_chained_comparison(a):
    for i in range(len(a)):
        if 0 < a[i] <= 3:
            a[i] = 10
        if 0 < i < len(a) - 1 and a[i - 1] < a[i + 1]:
            a[i] = 5


def f1_not(a):
    if not a[0] > 1:
        a[0] = 7
    if not (a[1] > 0 and a[2] > 0):
        a[2] = 8


def f1_loop_over_a_tuple(a):
    for k in (1, 2, 3):
        a += k
    for i, w in ((0, 0.5), (2, 0.25)):
        a[i] *= w


def f1_break_and_continue_known_at_trace_time(a):
    for k in (1, 2, 3, 4):
        if k == 2:
            continue
        if k == 4:
            break
        a += k


def f1_dead_store_of_another_kind(a):
    for i in range(len(a)):
        t = a[i]
        t = a[i : i + 1]
        t += 1


def f1_min_max_of_ints(a):
    for i in range(len(a)):
        lo, hi = max(i - 1, 0), min(i + 2, len(a))
        a[i] = a[lo:hi].sum()


def f1_integer_division(a):
    n = len(a)
    h = n // 2
    a[:h] += a[n - h :]
    for i in range(h):
        a[i // 2] += a[(3 * i) % n]


def f1_number_swap_in_loop(a):
    x, y = 0.0, 1.0
    for i in range(len(a)):
        x, y = y, x + y
        a[i] = x
    return x, y


def f1_loop_in_a_branch(a):
    if a[0] > 0:
        for i in range(1, len(a)):
            a[i] = a[i - 1] + 1
    else:
        a[:] = 0


def f1_reduction_as_condition(a):
    for _ in range(3):
        if a.max() > 4:
            a *= 0.5


def f1_sum_of_a_changing_slice(a):
    for i in range(len(a)):
        a[i] = a[i:].sum() - a[:i].sum()


# -- calls
def scaled(x, factor=2.0, *, shift=0.0):
    return x * factor + shift


def in_place(x, k):
    x += k


def two(x):
    return x[0], x[1:]


def f0_calls(a):
    b = scaled(a)
    in_place(b[1:], 3)
    c = scaled(b, shift=1.0, factor=0.5)
    return b, c


def f0_call_stores_into_the_argument(a):
    in_place(a, 1)
    in_place(a[::2], 2)


def f0_call_gives_a_tuple(a):
    x, rest = two(a)
    rest *= x
    return rest


def f0_call_in_a_loop(a):
    for i in range(len(a)):
        in_place(a[i:], i)


def f0_inner_function(a):
    k = 2.0

    def g(x, y=1.0):
        return x * k + y

    k = 3.0
    return g(a), g(a, 5.0)


def f0_lambda(a):
    g = lambda x: x + SCALE  # noqa: E731
    return g(a) * (lambda x, y: x - y)(a, 1)


def f0_function_as_value(a):
    for g in (np.sqrt, np.exp, scaled):
        a = g(np.abs(a) * 0.01)
    return a


def f0_early_return_known_at_trace_time(a):
    if a.ndim == 2:
        return a.T
    if a.dtype == np.float64:
        return a + 1
    return a


LOOPS = [f for name, f in list(globals().items()) if name[:2] in ("f0", "f1", "f4", "n1", "z3")]


@pytest.mark.slow
@pytest.mark.parametrize("f", LOOPS, ids=lambda f: f.__name__)
def test_vectors(f: Program) -> None:
    g = tracebuf.bufferize(verify=True)(f)
    for n in (7, 12):
        agree(g, vector(n, 3))
        agree(g, -vector(n, 3))
    agree(g, vector(14, 3)[::2])
    agree(g, vector(9, 3)[::-1])


@pytest.mark.parametrize("f", one_in(14, LOOPS), ids=lambda f: f.__name__)
def test_small_vectors(f: Program) -> None:
    g = tracebuf.bufferize(verify=True)(f)
    for n in (3, 4, 5, 2, 1, 0):
        agree(g, vector(n, 3))


@pytest.mark.parametrize("entry", [5, 1])
def test_f1_a_condition_that_raises_once_the_body_has_run(entry: int) -> None:
    def search(a, b):
        w = a.shape[0]
        while w > 0 and b[0, 0] <= 2:
            b = w
            w -= 1
        return b

    agree(search, np.ones(3), np.full((2, 2), entry))


def unrolled(a, parts):
    for k in range(len(parts)):
        a += parts[k] * a.sum()
    return a


@pytest.mark.slow
def test_a_program_too_large_for_its_source_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Programs of 20 lines became 50,000 operations, which took many minutes to compile."""
    args = np.ones(3), [np.ones(3)] * 20
    monkeypatch.setattr(interpreter_trace, "MOST_OPS", 100)
    agree(unrolled, *args)
    monkeypatch.setattr(interpreter_trace, "MOST_A_LINE", 20)
    with pytest.raises(tracebuf.UnsupportedError, match=r"lines become \d+ operations.*limits: 100 operations, and 20"):
        tracebuf.bufferize(unrolled)(*args)


def test_a_size_of_a_branch_that_is_known_late_not_to_be_taken() -> None:
    """The size symbol of what a mask leaves went on to name a value that was no longer in the function."""

    def program(a, b):
        t1 = np.ones_like(a)
        while np.sum(b[2::-1, :2]) and ~t1:
            b[np.arange(b.shape[0]) > -3] = b[np.arange(b.shape[0]) > -3]

    climb(program, (np.array(True), np.arange(12).reshape(4, 3)))


@pytest.mark.parametrize(
    "body",
    [
        "for k in range(s):\n    t = np.zeros(s)",
        "for k in range(s):\n    t += np.zeros(s).sum()",
        "while t < s:\n    t += np.ones(s).sum()",
        "for k in range(s):\n    t = np.tile(m, s)",
        "for k in range(s):\n    for j in range(2):\n        t = np.zeros(s) + j",
        "if s > 0:\n    t = np.zeros(s)\nfor k in range(s):\n    m = m * 2",
        "for k in range(len(m) - 2):\n    t = np.zeros(len(m) - 2)",
    ],
)
@pytest.mark.parametrize("order", one_in(3, [(2, -1, 0, 1), (-1, 2, 0), (0, 3, -2)]))
@pytest.mark.cases(3)
def test_what_a_loop_or_branch_knows_is_not_known_at_entry(body: str, order: tuple[int, ...]) -> None:
    """A guard that a size is not 1 says more in a loop that runs, where the size is positive, than at the entry."""
    lines = ["t = 0", *body.split("\n"), "return t, m, m[s:], m[:s], max(s, 0), abs(s), s > 1, s >= 0"]
    f = tracebuf.bufferize(program("def f(m, s):\n    " + "\n    ".join(lines)))
    for s in order:
        agree(f, np.arange(3.0), s)
        agree(f, np.arange(2.0), s)
