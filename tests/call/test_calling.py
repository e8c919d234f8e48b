"""Parameters of every kind, of the function itself and of those it calls: variadic, keyword-only, positional-only,
with defaults (rules C1, X1)."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.support.agreement import agree
from tests.support.params import one_in
from tracebuf import bufferize

A = np.arange(6.0).reshape(2, 3)
B = np.arange(3.0)


def scaled(a, **options):
    return a * options["factor"] + options["shift"]


def test_named_arguments_of_any_number() -> None:
    f = bufferize(verify=True)(scaled)
    agree(f, A, factor=2.0, shift=B)
    agree(f, A, shift=B + 1, factor=3.0)
    agree(f, A, factor=2.5, shift=B)
    agree(f, a=A, factor=A, shift=1)
    assert [s.calls for s in f.specializations()] == [2, 1, 1]  # the order is what a dict shows
    for bad in ({}, {"factor": 2.0}, {"factor": 1, "shift": np.zeros(7)}):
        agree(f, A, **bad)
    assert "float64[n, n], float, float64[n]" in str(f.specializations())


@pytest.mark.slow
def test_stored_to_and_one_array_twice() -> None:
    def f(*given, **named):
        given[0][...] += named["b"]
        return named["b"], given

    agree(f, A, b=B)
    agree(f, A, b=A)
    agree(f, A, A, b=A)
    x = A.copy()
    result = bufferize(f)(x, b=x)
    assert result[0] is x and result[1][0] is x and np.array_equal(x, 2 * A)


def rest(a, *more, factor=2.0, **named):
    for x in more:
        a = a + x
    return a * factor, len(more), named["k"] if more else None


@pytest.mark.parametrize(
    "args, named", [((A,), {}), ((A, B, 1, A), {"k": B}), ((A, B), {"k": 3, "factor": 1}), ((), {"a": A}), ((), {})]
)
def test_all_kinds_at_once(args: tuple[Any, ...], named: dict[str, Any]) -> None:
    agree(rest, *args, **named)


def test_a_name_that_a_positional_parameter_has() -> None:
    agree(lambda a, /, **named: a + named["a"], A, a=B)
    agree(lambda a, **named: a, A, a=B)
    agree(lambda a, /: a, a=A)
    agree(lambda *, a: a, A)
    agree(lambda *, a: a, a=A)


def test_out_is_the_function_s_own_where_it_takes_names() -> None:
    def f(a, **named):
        named["out"][...] = a
        return named["out"]

    out = np.zeros((2, 3))
    assert bufferize(f)(A, out=out) is out and np.array_equal(out, A)


def helper(a, b=1.0, *more, scale=2.0, **named):
    return a * scale + b + sum(more), named["k"] if "k" in named else None


CALLS: list[Callable[..., Any]] = [
    lambda a, b: helper(a),
    lambda a, b: helper(a, b, 1, a),
    lambda a, b: helper(a, scale=b),
    lambda a, b: helper(*(a, b), k=b),
    lambda a, b: helper(*[a], *(b, 2.0), scale=3),
    lambda a, b: helper(b=b, a=a, k=3),
    lambda a, b: helper(a, a=b),
    lambda a, b: helper(k=b),
    lambda a, b: functools.partial(helper, scale=b, k=a)(a, scale=3.0),
    lambda a, b: functools.partial(functools.partial(helper, a), b)(1, 2, k=1),
    lambda a, b: functools.partial(helper, k=b)(a, 2.0, b),
    lambda a, b: a.sum(*(0,), keepdims=True),
    lambda a, b: np.sum(*(a,), axis=0),
]


@pytest.mark.parametrize("f", one_in(10, CALLS))
def test_calls(f: Callable[..., Any]) -> None:
    agree(f, A, B)


def forward(a, *args, **named):
    return helper(a, *args, **named)


def again(*args, **named):
    return forward(*args, **named, scale=0.5)


@pytest.mark.slow
def test_handed_on() -> None:
    for f in (forward, again, bufferize(forward)):
        agree(f, A)
        agree(f, A, B, 2.0)
        agree(f, A, B, k=B)
        agree(f, A, b=B)
        agree(f, A, scale=3.0)


@pytest.mark.slow
def test_named_arguments_of_numpy_s_functions() -> None:
    def f(a, **options):
        return np.sum(a, **options), a.mean(**options)

    agree(f, A, axis=(0, 1))
    agree(f, A, axis=None, keepdims=True)
    agree(f, A, nonsense=True)


@pytest.mark.slow
def test_inner_functions_of_all_kinds() -> None:
    def f(a, b):
        def inner(x, /, y, *more, z=b, **named):
            return x + y + z + named["w"] + len(more)

        return inner(a, b, w=1), inner(a, y=b, w=2, z=0), inner(a, 1.0, b, b, w=b)

    agree(f, A, B)
    for call in ("inner(x=a)", "inner(a, a, a)", "inner(a, k=1)", "inner()", "inner(a, **{'b': 1}, b=2)"):
        space: dict[str, Any] = {}
        exec(f"def f(a):\n    inner = lambda x, /, b=1: x + b\n    return {call}", space)
    agree(lambda a: (lambda x, /: x)(x=a), A)
    agree(lambda a: (lambda x, y: x)(a), A)
    agree(lambda a: (lambda x, **k: x + k["b"])(a, b=2), A)
    agree(lambda a: (lambda *x, k=a: x[0] + k)(a), A)


def test_what_is_no_mapping_is_refused_as_python_does() -> None:
    agree(lambda a: np.sum(a, **a), A)
    agree(lambda a: np.sum(a, **(1, 2)), A)
    agree(lambda a: np.sum(a, **None), A)


def nothing(a):
    a += 1


@pytest.mark.slow
def test_functions_that_return_nothing() -> None:
    def bare(a):
        a[...] = 2
        return

    def in_a_tuple(a):
        return None, a, (None, [None, 1])

    def by_size(a):
        if len(a) > 2:
            return a
        return None

    for f in (nothing, bare, in_a_tuple, by_size, lambda a: None, lambda a: nothing(a)):
        agree(f, A)
        agree(f, B)


@pytest.mark.slow
def test_nothing_on_one_path_only() -> None:
    def first_above(a, limit):
        for i in range(len(a)):
            if a[i] > limit:
                return i, a[i:]
        return None

    def falls_off(a):
        if a.sum() > 2:
            return a * 2

    for limit in (-1.0, 1.0, 7.0):
        agree(first_above, B, limit)
    agree(falls_off, B)
    agree(falls_off, B * 0)
    agree(lambda a: (None if a.sum() > 2 else a, 1), B)
    agree(lambda a: (None if a.sum() > 2 else a.sum(), 1), B)


@pytest.mark.slow
def test_nothing_that_is_used_raises_on_its_path() -> None:
    def f(a):
        b = None
        if a.sum() > 2:
            b = a
        return np.sin(b)

    agree(f, B)
    assert isinstance(agree(lambda a: f(a) + 1, B * 0), TypeError)


def test_nothing_of_a_path_can_be_tested() -> None:
    def f(a):
        best = None
        for x in a:
            if best is None or x > best:
                best = x
        return best

    for a in (B, B[:1], B[:0], -B):
        agree(f, a)
